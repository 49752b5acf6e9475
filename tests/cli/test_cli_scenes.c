// `simulate` from outside: schemes, scenes with options, and scenes in files.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "problems/store/store.h"
#include "tests/support/program.h"
#include "tests/support/support.h"

// The slope of 30 degrees holds the rod by a friction of 0.6, and that of 40 does not.
static void a_scene_takes_options(void)
{
    char stats[400];
    snprintf(stats, sizeof stats, "%s", scratch_path("slope.csv"));
    EXPECT(0, "simulate", "incline", "--mu", "0.6", "--steps", "20", "--stats", stats);
    CHECK_LE(csv_number(file_text(stats), 20, "max_speed"), 1e-5);
    EXPECT(0, "simulate", "incline:slope=40", "--mu", "0.6", "--steps", "20", "--stats", stats,
           "--format", "csv");
    CHECK(csv_number(file_text(stats), 20, "max_speed") > 0.01);
    TEST_ASSERT_EQUAL_STRING("incline:slope=40", csv_field(standard_out, 1, "scene"));
}

static void a_scheme_is_named_in_rows_and_dumps(void)
{
    char stats[400], dump[400];
    snprintf(stats, sizeof stats, "%s", scratch_path("newton.csv"));
    snprintf(dump, sizeof dump, "%s", scratch_path("newton.h5"));
    EXPECT(0, "simulate", "pony", "--rods", "7", "--steps", "3", "--stats", stats);
    TEST_ASSERT_EQUAL_STRING("linear", csv_field(file_text(stats), 1, "scheme"));
    CHECK(csv_number(file_text(stats), 1, "iterates") == 1.0);
    EXPECT(0, "simulate", "pony", "--rods", "7", "--steps", "3", "--scheme", "newton:iterations=2",
           "--stats", stats, "--dump", dump, "--count", "1");
    TEST_ASSERT_EQUAL_STRING("newton:iterations=2", csv_field(file_text(stats), 2, "scheme"));
    CHECK(csv_number(file_text(stats), 2, "iterates") == 2.0);
    TEST_ASSERT_EQUAL_STRING("exact", csv_field(file_text(stats), 2, "stiffness"));
    ss_reader *reader = NULL;
    ss_problem *p = NULL;
    ss_error error;
    CHECK_OK(ss_reader_open(dump, &reader, &error));
    CHECK_OK(ss_reader_load(reader, 0, &p, NULL, &error));
    TEST_ASSERT_EQUAL_STRING("scheme newton:iterations=2, iterate 2, K exact", p->math_info);
    HOLDS(p->description, " --scheme newton:iterations=2 ");
    ss_problem_free(p);
    ss_reader_close(reader);
}

static void the_iterates_of_the_thesis_are_rows(void)
{
    char path[400], stats[400];
    snprintf(path, sizeof path, "%s", scratch_path("iterates.csv"));
    snprintf(stats, sizeof stats, "%s", scratch_path("thesis.csv"));
    EXPECT(0, "simulate", "pair", "--steps", "8", "--scheme", "thesis:tol=0,iterations=7",
           "--iterates", path, "--stats", stats);
    const char *rows = file_text(path);
    HOLDS(rows, "step,iterate,contacts,change,change_rms,impulse_change,fb,normal\n");
    const double first = csv_number(rows, 1, "step");
    for (int k = 1; k <= 6; k++) { // of the first step with a contact: iterates 2 to 7
        CHECK(csv_number(rows, k, "step") == first);
        CHECK(csv_number(rows, k, "iterate") == k + 1);
        CHECK(csv_number(rows, k, "contacts") == 1.0);
        CHECK(csv_number(rows, k, "fb") < 2.0);
    }
    CHECK(csv_number(rows, 6, "change") < csv_number(rows, 1, "change"));
    const double fb = csv_number(rows, 6, "fb");
    CHECK_NEAR(csv_number(file_text(stats), (int)first, "fb"), fb, 1e-12 * fb);
    EXPECT(1, "simulate", "pair", "--steps", "2", "--iterates", path);
    HOLDS(standard_error, "--iterates is for the scheme thesis, and these steps are by newton");
    EXPECT(1, "simulate", "pair", "--iterates", path, "--stats", path);
    HOLDS(standard_error, "--iterates cannot both be");
}

static void a_run_that_cannot_begin_leaves_files_as_they_are(void)
{
    char stats[400], scene[400], again[500];
    snprintf(stats, sizeof stats, "%s", scratch_path("kept.csv"));
    snprintf(scene, sizeof scene, "%s", scratch_path("kept.json"));
    snprintf(again, sizeof again, "%.*s/./kept.json", (int)(strrchr(scene, '/') - scene), scene);
    EXPECT(0, "simulate", "pair", "--steps", "3", "--stats", stats);
    EXPECT(1, "simulate", "pair", "--stats", stats, "--iterates", scratch_path("none.csv"));
    CHECK(csv_number(file_text(stats), 3, "step") == 3.0);
    EXPECT(1, "simulate", "pair", "--stats", scratch_path("new.csv"), "--iterates",
           scratch_path("none.csv"));
    CHECK(access(scratch_path("new.csv"), F_OK) != 0);
    EXPECT(0, "simulate", "pair", "--write", scene);
    EXPECT(1, "simulate", scene, "--write", again);
    HOLDS(standard_error, "simulate: the scene and --write cannot both be");
    EXPECT(1, "simulate", scene, "--stats", again);
    HOLDS(standard_error, "simulate: the scene and --stats cannot both be");
    EXPECT(1, "simulate", "pair", "--stats", scene, "--dump", again);
    HOLDS(standard_error, "simulate: --dump and --stats cannot both be");
    EXPECT(0, "simulate", scene, "--steps", "2");
    remove(scene);
    EXPECT(1, "simulate", "pair", "--stats", scene, "--dump", again);
    HOLDS(standard_error, "simulate: --dump and --stats cannot both be");
}

// Its M is definite but for rounding, and the factor of the solver breaks down where that of the step does not.
static void a_step_is_lifted_until_the_solver_takes_it(void)
{
    char stats[400];
    snprintf(stats, sizeof stats, "%s", scratch_path("lifted.csv"));
    EXPECT(0, "simulate", "pony", "--rods", "5", "--model", "lifted-curls", "--dt", "0.0001",
           "--steps", "8", "--stats", stats);
    double lifted = 0.0;
    for (int k = 1; k <= 8; k++) {
        lifted += csv_number(file_text(stats), k, "lifted");
        CHECK(csv_number(file_text(stats), k, "rejected") == 0.0);
    }
    CHECK(lifted > 0.0);
}

static void a_run_until_rest_ends_there_or_is_exit_2(void)
{
    EXPECT(0, "simulate", "incline", "--mu", "0.6", "--until-rest", "1e-3", "--steps", "40",
           "--format", "csv");
    TEST_ASSERT_EQUAL_STRING("rests", csv_field(standard_out, 1, "status"));
    EXPECT(2, "simulate", "incline", "--mu", "0.1", "--until-rest", "1e-3", "--steps", "40");
    HOLDS(standard_error, "incline: not at rest after 40 steps: the fastest point moves at ");
}

// ---- Scenes in files

static void the_example_of_the_manual_runs(void)
{
    char page[400], path[400];
    snprintf(page, sizeof page, "%s/doc/scene-file.md", getenv("SOURCE"));
    size_t count;
    char *text = read_bytes(page, &count);
    char *begin = strstr(text, "```json\n");
    CHECK(begin != NULL);
    char *end = strstr(begin + 8, "```");
    CHECK(end != NULL);
    *end = '\0';
    snprintf(path, sizeof path, "%s", put_scratch("example.json", begin + 8));
    free(text);
    static const char *const MODELS[] = {"der", "super-helix", "tmf"};
    for (int k = 0; k < 3; k++) {
        EXPECT(0, "simulate", path, "--model", MODELS[k], "--steps", "30", "--format", "csv");
        TEST_ASSERT_EQUAL_STRING("", standard_error);
        CHECK(csv_number(standard_out, 1, "rods") == 2.0);
        CHECK(csv_number(standard_out, 1, "contacts_max") > 0.0);
    }
}

// A natural arc that hangs from a level clamp, of 32 edges.
static void models_agree_where_the_strand_of_a_file_rests(void)
{
    char text[4096], path[400], stats[400];
    size_t n =
        (size_t)snprintf(text, sizeof text,
                         "{\"dt\": 0.01, \"steps\": 500, \"contacts\": false, \"materials\": "
                         "{\"h\": {\"E\": 3.9e9, \"nu\": 0.48, \"rho\": 1320, \"a\": 5e-5, "
                         "\"viscosity\": 3e8}}, \"strands\": [{\"material\": \"h\", "
                         "\"director\": [0, 0, 1], \"vertices\": [");
    for (int i = 0; i <= 32; i++) {
        const double angle = 0.08 * (i - 0.5) / 31.5 / 0.05; // radius 5 cm
        n += (size_t)snprintf(text + n, sizeof text - n, "%s[%.15g, 0, %.15g]", i > 0 ? ", " : "",
                              0.05 * sin(angle), 0.05 * (1.0 - cos(angle)));
    }
    snprintf(text + n, sizeof text - n, "]}]}");
    snprintf(path, sizeof path, "%s", put_scratch("arc.json", text));
    snprintf(stats, sizeof stats, "%s", scratch_path("arc.csv"));
    static const char *const MODELS[] = {"der", "corde", "super-helix:elements=8"};
    double tip[3][3];
    for (int k = 0; k < 3; k++) {
        static const char *const NAMES[] = {"tip_x", "tip_y", "tip_z"};
        EXPECT(0, "simulate", path, "--model", MODELS[k], "--until-rest", "1e-4", "--stats", stats);
        const char *rows = file_text(stats);
        for (int i = 0; i < 3; i++) {
            tip[k][i] = csv_number(rows, count_lines(rows) - 1, NAMES[i]);
        }
        CHECK(tip[k][1] < -0.02);
        CHECK_LE(hypot(hypot(tip[k][0] - tip[0][0], tip[k][1] - tip[0][1]), tip[k][2] - tip[0][2]),
                 0.004 * 0.08);
    }
}

static void run_tests(void)
{
    RUN_TEST(a_scene_takes_options);
    RUN_TEST(a_scheme_is_named_in_rows_and_dumps);
    RUN_TEST(the_iterates_of_the_thesis_are_rows);
    RUN_TEST(a_run_that_cannot_begin_leaves_files_as_they_are);
    RUN_TEST(a_step_is_lifted_until_the_solver_takes_it);
    RUN_TEST(a_run_until_rest_ends_there_or_is_exit_2);
    RUN_TEST(the_example_of_the_manual_runs);
    RUN_TEST(models_agree_where_the_strand_of_a_file_rests);
}

const test_group cli_scenes_tests = {.run = run_tests, .tear_down = remove_scratch};
