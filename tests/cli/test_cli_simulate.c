// `scenes` and `simulate` from outside: rows, exit codes, files, Ctrl-C.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/results/stats.h"
#include "problems/store/store.h"
#include "tests/support/program.h"
#include "tests/support/support.h"

#define STATS_HEADER                                                                               \
    "scene,model,solver,seed,rods,mu,mu_obstacle,step,time,dt,rejected,reason,contacts,"           \
    "contacts_obstacle,active,hits,iterations,status,tol,fb,fb_abs,natural,gs_seconds,"            \
    "solve_seconds,collide_seconds,assemble_seconds,step_seconds,kinetic,elastic,potential,"       \
    "max_speed,dispersion,stretch_percent,tip_x,tip_y,tip_z,tip_vx,tip_vy,tip_vz,"                 \
    "dissipation,gamma,bending_hz,scheme,iterates,change,stiffness,lifted,tip_gap,unrest,normal,"  \
    "impulse_change,change_rms,judge_seconds,prepare_seconds,dynamic_seconds,factor_seconds,"      \
    "penetration,nonlinear_least,nonlinear_mean,nonlinear_most,formula_steps\n"

// ---- Rows

static void scenes_are_listed(void)
{
    EXPECT(0, "scenes", "--format", "csv");
    HOLDS(standard_out, "name,model,rods,steps,dt,shows,reference,options\n");
    static const char *const names[] = {"\nfree-a,", "\nfree-b,", "\npony,",    "\ncurly,",
                                        "\norbit,",  "\nturn,",   "\nincline,", "\ncapstan,",
                                        "\nswing,",  "\nfur,"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        HOLDS(standard_out, names[k]);
    }
    EXPECT(0, "scenes", "--format", "json");
    CHECK(is_json(standard_out));
}

static void a_run_is_one_row(void)
{
    EXPECT(0, "simulate", "pony", "--rods", "7", "--steps", "5", "--mu", "0.25", "--seed", "3",
           "--format", "csv");
    TEST_ASSERT_EQUAL_STRING("", standard_error);
    TEST_ASSERT_EQUAL_STRING("pony", csv_field(standard_out, 1, "scene"));
    TEST_ASSERT_EQUAL_STRING("done", csv_field(standard_out, 1, "status"));
    CHECK(csv_number(standard_out, 1, "rods") == 7.0);
    CHECK(csv_number(standard_out, 1, "steps") == 5.0);
    CHECK(csv_number(standard_out, 1, "mu") == 0.25);
    CHECK(csv_number(standard_out, 1, "contacts_max") > 0.0);
    CHECK_LE(csv_number(standard_out, 1, "over_tol_percent"), 100.0);
    // The tail's strands are 25 cm long, the outermost a little more.
    CHECK_NEAR(csv_number(standard_out, 1, "gamma"), 5.31 * 2.5 * 2.5 * 2.5, 2.0);
    CHECK_NEAR(csv_number(standard_out, 1, "bending_hz"), 2.405 / 2.5 / 2.5, 0.01);
    EXPECT(0, "simulate", "orbit", "--steps", "3", "--format", "json");
    CHECK(is_json(standard_out));
}

static void statistics_have_a_row_a_step(void)
{
    char stats[400];
    snprintf(stats, sizeof stats, "%s", scratch_path("orbit.csv"));
    EXPECT(0, "simulate", "orbit", "--steps", "40", "--stats", stats);
    const char *text = file_text(stats);
    CHECK(strncmp(text, STATS_HEADER, strlen(STATS_HEADER)) == 0);
    TEST_ASSERT_EQUAL_INT(41, count_lines(text));
    CHECK(csv_number(text, 40, "step") == 40.0);
    // Before the rod reaches the ball there is nothing to solve, and its tip is known all the same.
    CHECK(csv_number(text, 1, "contacts") == 0.0);
    TEST_ASSERT_EQUAL_STRING("nan", csv_field(text, 1, "fb"));
    CHECK(isfinite(csv_number(text, 1, "tip_x")));
    CHECK_NEAR(csv_number(text, 40, "stretch_percent"), 0.0, 1.0);
    EXPECT(0, "table", stats, "--kind", "simulation", "--format", "csv");
    HOLDS(standard_out, "scene,rods,mu,mu_obstacle,contacts_mean,");
}

// ---- Files

// The text without the columns whose names end in _seconds.
static void drop_times(char *csv)
{
    bool times[64] = {false};
    char *to = csv;
    int column = 0, header = 1;
    for (char *from = csv; *from != '\0';) {
        const size_t length = strcspn(from, ",\n");
        const char end = from[length];
        if (header) {
            times[column] = length > 8 && strncmp(from + length - 8, "_seconds", 8) == 0;
        }
        if (!times[column]) {
            memmove(to, from, length + 1);
            to += length + 1;
        }
        from += length + (end != '\0');
        column = end == '\n' ? 0 : column + 1;
        header = header && end != '\n';
    }
    *to = '\0';
}

// The checksums of the problems in a dump.
static const char *checksums(const char *path)
{
    EXPECT(0, "inspect", path, "--format", "csv");
    return standard_out;
}

static void the_same_seed_gives_the_same_bits(void)
{
    char *rows[2], *sums[2], dump[400], stats[400];
    snprintf(dump, sizeof dump, "%s", scratch_path("same.h5"));
    snprintf(stats, sizeof stats, "%s", scratch_path("same.csv"));
    for (int k = 0; k < 2; k++) {
        EXPECT(0, "simulate", "pony", "--rods", "9", "--steps", "12", "--seed", "4", "--dump", dump,
               "--count", "3", "--stats", stats);
        rows[k] = strdup(file_text(stats));
        drop_times(rows[k]);
        sums[k] = strdup(checksums(dump));
    }
    TEST_ASSERT_EQUAL_STRING(rows[0], rows[1]);
    TEST_ASSERT_EQUAL_STRING(sums[0], sums[1]);
    TEST_ASSERT_EQUAL_INT(4, count_lines(sums[0]));
    EXPECT(0, "simulate", "pony", "--rods", "9", "--steps", "12", "--seed", "5", "--stats", stats);
    char *other = strdup(file_text(stats));
    drop_times(other);
    CHECK(strcmp(rows[0] + strcspn(rows[0], "\n"), other + strcspn(other, "\n")) != 0);
    free(other);
    for (int k = 0; k < 2; k++) {
        free(rows[k]);
        free(sums[k]);
    }
}

// The statistics of a run with that many threads; the caller's to free.
static char *stats_of(const char *scene, const char *rods, const char *threads)
{
    char stats[400];
    snprintf(stats, sizeof stats, "%s", scratch_path("threads.csv"));
    EXPECT(0, "simulate", scene, "--rods", rods, "--steps", "12", "--threads", threads, "--stats",
           stats);
    char *rows = strdup(file_text(stats));
    drop_times(rows);
    return rows;
}

static void check_threads(const char *scene, const char *rods)
{
    char *one = stats_of(scene, rods, "1"), *two = stats_of(scene, rods, "2");
    TEST_ASSERT_EQUAL_STRING(one, two);
    TEST_ASSERT_EQUAL_INT(13, count_lines(one));
    free(one);
    free(two);
}

static void threads_have_no_say_in_the_bits(void)
{
    check_threads("pony", "19");
    check_threads("fur", "1200");
}

static void dumped_problems_are_checked_and_solved_from_their_guess(void)
{
    char dump[400];
    snprintf(dump, sizeof dump, "%s", scratch_path("pony.h5"));
    EXPECT(0, "simulate", "pony", "--rods", "9", "--steps", "10", "--dump", dump, "--count", "2");
    EXPECT(0, "check", dump);
    EXPECT(0, "solve", dump, "--start", "guess", "--tol", "1e-4");
    TEST_ASSERT_EQUAL_STRING("", standard_error); // each holds a guess
    ss_problem *p;
    ss_error error;
    ss_reader *reader;
    CHECK_OK(ss_reader_open(dump, &reader, &error));
    TEST_ASSERT_EQUAL_INT(2, ss_reader_count(reader));
    CHECK_OK(ss_reader_load(reader, 1, &p, NULL, &error));
    TEST_ASSERT_EQUAL_STRING("pony", p->provenance.scene);
    CHECK(p->provenance.dt > 0.0 && p->provenance.time > 0.0 && p->provenance.step > 5);
    CHECK(p->provenance.units[0] != '\0' && p->provenance.frame[0] != '\0');
    HOLDS(p->description, "stickslip simulate pony --model super-helix --rods 9 ");
    ss_problem_free(p);
    ss_reader_close(reader);
}

static void frames_are_polylines_and_pictures(void)
{
    if (system("gnuplot --version >/dev/null 2>&1") != 0) {
        TEST_IGNORE_MESSAGE("gnuplot is not installed");
    }
    char folder[400], path[500];
    snprintf(folder, sizeof folder, "%s", scratch_path("frames"));
    EXPECT(0, "simulate", "orbit", "--steps", "10", "--dt", "0.01", "--frames", folder);
    for (int k = 0; k < 3; k++) { // at 0, 40 and 80 ms
        snprintf(path, sizeof path, "%s/frame_%05d.png", folder, k);
        CHECK(access(path, R_OK) == 0);
    }
    CHECK(access(path, R_OK) == 0);
    snprintf(path, sizeof path, "%s/frame_00003.png", folder);
    CHECK(access(path, R_OK) != 0);
    snprintf(path, sizeof path, "rm -r '%s'", folder);
    CHECK(system(path) == 0);
}

static void a_camera_needs_frames_and_angles(void)
{
    EXPECT(1, "simulate", "orbit", "--camera", "30,10");
    SAYS("simulate: --camera 30,10 needs --frames DIR");
    EXPECT(1, "simulate", "orbit", "--frames", scratch_path("none"), "--camera", "30");
    HOLDS(standard_error, "simulate: --camera takes AZIMUTH,ELEVATION[,ZOOM], degrees from");
}

// ---- Mistakes

static void a_wrong_command_line_is_exit_1_with_a_sentence(void)
{
    EXPECT(1, "simulate");
    SAYS("simulate: needs a SCENE");
    EXPECT(1, "simulate", "ponny");
    SAYS("simulate: unknown scene 'ponny'; did you mean 'pony'?");
    EXPECT(1, "simulate", "xxxxxxxxxx");
    SAYS("simulate: unknown scene 'xxxxxxxxxx'; 'stickslip scenes' lists them");
    EXPECT(1, "simulate", "pony", "--count", "3");
    SAYS("simulate: --count 3 needs --dump FILE.h5");
    EXPECT(1, "simulate", "pony", "--steps", "2", "--dump", scratch_path("x.h5"), "--count", "3");
    SAYS("simulate: --count 3 needs at least as many steps; the run has 2");
    EXPECT(1, "simulate", "pony", "--dump", "same", "--stats", "same");
    SAYS("simulate: --dump and --stats cannot both be same");
    EXPECT(1, "simulate", "pony", "--solver", "nothing");
    HOLDS(standard_error, "stickslip simulate: --solver nothing: ");
    EXPECT(1, "simulate", "pony", "--model", "nothing");
    HOLDS(standard_error, "stickslip simulate: --model nothing: ");
    EXPECT(1, "simulate", "pony", "--scheme", "nothing");
    HOLDS(standard_error,
          "--scheme nothing: unknown scheme 'nothing'; there are linear, projection, newton");
    EXPECT(1, "simulate", "pony", "--scheme", "newton:tol=x");
    HOLDS(standard_error, "--scheme newton:tol=x: ");
    EXPECT(1, "simulate", "swing", "--scheme", "newton");
    HOLDS(standard_error, "strands of the model tmf");
    EXPECT(1, "simulate", "orbit:speed=3");
    HOLDS(standard_error, "orbit:speed=3: scene 'orbit' has no option 'speed'; it has amplitude=");
    EXPECT(1, "simulate", "orbit:period=0");
    HOLDS(standard_error, "orbit:period=0: period takes ");
    EXPECT(1, "simulate", "pony:motion=0,period=2");
    HOLDS(standard_error,
          "period does nothing in 'pony:motion=0,period=2' without a motion above 0;");
    EXPECT(1, "simulate", "orbit:amplitude=0,period=2");
    HOLDS(standard_error, "without an amplitude above 0; leave it out");
    EXPECT(1, "simulate", "twist:rate=2,turn=0");
    HOLDS(standard_error, "without a turn other than 0; leave it out");
    EXPECT(1, "simulate", "orbit", "--rods", "2");
    HOLDS(standard_error, "stickslip simulate: orbit: 2 rods");
    EXPECT(1, "simulate", "pony", "--dt", "0");
    HOLDS(standard_error, "--dt takes a number from");
    EXPECT(1, "scenes", "pony");
}

// The file holds what it held.
static void keeps(const char *path, const char *text)
{
    TEST_ASSERT_EQUAL_STRING(text, file_text(path));
}

static void what_cannot_be_written_is_told_before_the_first_step(void)
{
    char missing[400], stats[400];
    snprintf(missing, sizeof missing, "%s", scratch_path("missing/x"));
    snprintf(stats, sizeof stats, "%s", scratch_path("kept.csv"));
    FILE *file = fopen(stats, "w");
    fputs("old\n", file);
    fclose(file);
    // More steps than anybody waits for.
    EXPECT(4, "simulate", "pony", "--steps", "1000000", "--stats", missing);
    HOLDS(standard_error, "missing/x: cannot be written");
    EXPECT(4, "simulate", "pony", "--steps", "1000000", "--dump", missing, "--stats", stats);
    HOLDS(standard_error, "missing");
    keeps(stats, "old\n");
    EXPECT(4, "simulate", "pony", "--steps", "1000000", "--frames", missing, "--stats", stats);
    HOLDS(standard_error, "missing/x: the folder cannot be made");
    keeps(stats, "old\n");
    char *path = strdup(getenv("PATH"));
    setenv("PATH", scratch_path(""), 1);
    const int code = RUN("simulate", "orbit", "--steps", "1000000", "--frames", scratch_path("."));
    setenv("PATH", path, 1);
    free(path);
    TEST_ASSERT_EQUAL_INT(4, code);
    HOLDS(standard_error, "gnuplot could not be started");
}

static void an_explosion_is_exit_2_with_a_sentence_and_its_files(void)
{
    char stats[400];
    snprintf(stats, sizeof stats, "%s", scratch_path("bang.csv"));
    // Without friction the strand slips off its cylinder, and the pull goes on without end.
    EXPECT(2, "simulate", "capstan", "--mu", "0", "--dt", "0.1", "--steps", "1000", "--stats",
           stats, "--format", "csv");
    HOLDS(standard_error, "stickslip simulate: capstan: after step ");
    TEST_ASSERT_EQUAL_STRING("exploded", csv_field(standard_out, 1, "status"));
    const int steps = (int)csv_number(standard_out, 1, "steps");
    ss_stats read;
    ss_error error;
    CHECK(steps > 0);
    CHECK_OK(ss_stats_read(stats, &read, &error));
    TEST_ASSERT_EQUAL_INT(steps, read.count);
    for (int k = 0; k < steps; k++) {
        CHECK(isfinite(read.rows[k].tip[0]) && isfinite(read.rows[k].report.energy.kinetic));
    }
    ss_stats_free(&read);
}

// ---- Runs that are no motions of their model

static void a_model_that_fails_is_not_done(void)
{
    EXPECT(2, "simulate", "capstan:wrap=10", "--model", "tmf", "--format", "csv");
    HOLDS(standard_error, "a strand was longer than it was made by");
    TEST_ASSERT_EQUAL_STRING("exploded", csv_field(standard_out, 1, "status"));
    EXPECT(2, "simulate", "release", "--model", "dftl:damping=0", "--format", "csv");
    HOLDS(standard_error, "energy grew without a source by");
    TEST_ASSERT_EQUAL_STRING("exploded", csv_field(standard_out, 1, "status"));
}

static void a_rough_run_is_done_with_remarks(void)
{
    EXPECT(0, "simulate", "swing", "--model", "pbd", "--format", "csv");
    TEST_ASSERT_EQUAL_STRING("done", csv_field(standard_out, 1, "status"));
    TEST_ASSERT_EQUAL_STRING("gain stretch", csv_field(standard_out, 1, "remarks"));
    HOLDS(standard_error, "stickslip simulate: swing: a strand was longer than it was made by 15");
    EXPECT(0, "simulate", "orbit", "--model", "tmf", "--steps", "100", "--format", "csv");
    TEST_ASSERT_EQUAL_STRING("overlap", csv_field(standard_out, 1, "remarks"));
    HOLDS(standard_error, "overlapped by");
}

static void scenes_have_no_remarks(void)
{
    static const char *const SCENES[][3] = {
        {"pony", "8", "20"},    {"turn", "8", "20"},      {"orbit", "1", "50"},
        {"incline", "1", "50"}, {"capstan", "1", "50"},   {"release", "1", "200"},
        {"helix", "1", "50"},   {"twist", "1", "50"},     {"swing", "1", "300"},
        {"coil", "1", "30"},    {"ground", "4", "200"},   {"bundle", "4", "120"},
        {"tube", "1", "150"},   {"hairball", "20", "60"}, {"bangs", "9", "20"},
        {"tree", "1", "20"},    {"ear", "1", "20"},       {"fur", "50", "20"},
    };
    for (size_t k = 0; k < sizeof SCENES / sizeof SCENES[0]; k++) {
        EXPECT(0, "simulate", SCENES[k][0], "--rods", SCENES[k][1], "--steps", SCENES[k][2],
               "--format", "csv");
        TEST_ASSERT_EQUAL_STRING("done", csv_field(standard_out, 1, "status"));
        TEST_ASSERT_EQUAL_STRING("", csv_field(standard_out, 1, "remarks"));
    }
}

// ---- Ctrl-C

static void a_run_ends_with_whole_files_by(int signal_number)
{
    char out[400], err[400], dump[400], stats[400];
    snprintf(out, sizeof out, "%s", scratch_path("interrupted.out"));
    snprintf(err, sizeof err, "%s", scratch_path("interrupted.err"));
    snprintf(dump, sizeof dump, "%s", scratch_path("interrupted.h5"));
    snprintf(stats, sizeof stats, "%s", scratch_path("interrupted.csv"));
    const char *const words[] = {"stickslip", "simulate", "pony",    "--rods", "9",  "--steps",
                                 "1000000",   "--count",  "1000000", "--dump", dump, "--stats",
                                 stats,       "--format", "csv",     NULL};
    const pid_t child = start_program(out, err, words);
    wait_for_bytes(dump); // its first problem
    kill(child, signal_number);
    int status = 0;
    waitpid(child, &status, 0);
    TEST_ASSERT_TRUE(WIFEXITED(status));
    TEST_ASSERT_EQUAL_INT(2, WEXITSTATUS(status));
    HOLDS(file_text(err), "pony: interrupted after step ");
    const char *row = file_text(out);
    TEST_ASSERT_EQUAL_STRING("interrupted", csv_field(row, 1, "status"));
    const int steps = (int)csv_number(row, 1, "steps");
    ss_stats read;
    ss_error error;
    CHECK_OK(ss_stats_read(stats, &read, &error));
    TEST_ASSERT_EQUAL_INT(steps, read.count);
    ss_stats_free(&read);
    EXPECT(0, "check", dump);
    EXPECT(0, "table", stats, "--kind", "simulation");
    remove(dump);
}

static void an_interrupt_or_a_closed_terminal_leaves_whole_files(void)
{
    a_run_ends_with_whole_files_by(SIGINT);
    a_run_ends_with_whole_files_by(SIGHUP);
}

static void a_file_belongs_to_one_simulation(void)
{
    char out[400], err[400], stats[400], dump[400];
    snprintf(out, sizeof out, "%s", scratch_path("first.out"));
    snprintf(err, sizeof err, "%s", scratch_path("first.err"));
    snprintf(stats, sizeof stats, "%s", scratch_path("first.csv"));
    snprintf(dump, sizeof dump, "%s", scratch_path("first.h5"));
    const char *const words[] = {"stickslip", "simulate", "pony",    "--rods", "9",
                                 "--steps",   "1000000",  "--count", "100000", "--dump",
                                 dump,        "--stats",  stats,     NULL};
    const pid_t child = start_program(out, err, words);
    wait_for_bytes(dump); // stats have rows by then
    EXPECT(4, "simulate", "swing", "--steps", "2", "--stats", stats);
    HOLDS(standard_error, "first.csv: another simulation is writing it; name another file");
    EXPECT(4, "simulate", "swing", "--steps", "2", "--dump", dump);
    HOLDS(standard_error, "first.h5: another simulation is writing it; name another file");
    kill(child, SIGINT);
    waitpid(child, NULL, 0);
    ss_stats read;
    ss_error error;
    CHECK_OK(ss_stats_read(stats, &read, &error));
    CHECK(strcmp(read.run.scene, "pony") == 0 && read.rows[0].step == 1);
    ss_stats_free(&read);
    EXPECT(0, "simulate", "swing", "--steps", "2", "--stats", stats);
    EXPECT(0, "simulate", "swing", "--steps", "2", "--stats", "/dev/null");
}

// An interrupted run of a scene without contacts has none to dump; one whose disk fails says how many
// it has written.
static void a_dump_that_is_not_whole_says_why(void)
{
    char out[400], err[400], stats[400], folder[400], away[400], dump[440];
    snprintf(out, sizeof out, "%s", scratch_path("why.out"));
    snprintf(err, sizeof err, "%s", scratch_path("why.err"));
    snprintf(stats, sizeof stats, "%s", scratch_path("why.csv"));
    snprintf(folder, sizeof folder, "%s", scratch_path("disk"));
    snprintf(away, sizeof away, "%s", scratch_path("away"));
    snprintf(dump, sizeof dump, "%s/why.h5", folder);
    CHECK(mkdir(folder, 0777) == 0);
    const char *words[] = {"stickslip", "simulate", "swing", "--steps", "1000000", "--dump",
                           dump,        "--stats",  stats,   "--count", "1000000", NULL};
    int status = 0;
    pid_t child = start_program(out, err, words);
    wait_for_bytes(stats);
    kill(child, SIGINT);
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 2);
    HOLDS(file_text(err), "swing: interrupted after step ");
    HOLDS(file_text(err), "why.h5 is not written: no step from 1 to ");
    words[2] = "pony:motion=0.1"; // its contacts last
    child = start_program(out, err, words);
    wait_for_bytes(dump);
    CHECK(rename(folder, away) == 0);
    waitpid(child, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 4);
    HOLDS(file_text(err), " of 1000000 problems");
    CHECK(strstr(file_text(err), "had a contact") == NULL);
}

// ---- Pictures of runs

static void runs_become_figures(void)
{
    if (system("gnuplot --version >/dev/null 2>&1") != 0) {
        TEST_IGNORE_MESSAGE("gnuplot is not installed");
    }
    char stats[400], picture[400];
    snprintf(stats, sizeof stats, "%s", scratch_path("figure.csv"));
    snprintf(picture, sizeof picture, "%s", scratch_path("figure.svg"));
    EXPECT(0, "simulate", "turn", "--rods", "3", "--steps", "10", "--stats", stats);
    EXPECT(0, "plot", stats, stats, "--figure", "orbit", "--out", picture);
    HOLDS(standard_error, "stickslip plot: wrote ");
    EXPECT(0, "plot", stats, "--figure", "dispersion", "--out", picture);
    CHECK(access(scratch_path("figure.svg.gp"), R_OK) == 0);
    EXPECT(0, "plot", stats, "--figure", "stretch", "--out", picture);
    EXPECT(0, "plot", stats, "--figure", "trajectory", "--out", picture);
    EXPECT(1, "plot", stats, stats, "--figure", "profile", "--out", picture);
    HOLDS(standard_error, "--figure profile takes only one RESULTS");
    EXPECT(1, "plot", stats, "--figure", "orbit", "--tol", "1e-3", "--out", picture);
    EXPECT(3, "plot", scratch_path("figure.svg"), "--figure", "orbit", "--out",
           scratch_path("other.svg"));
    EXPECT(1, "plot", scratch_path("figure.svg"), "--figure", "orbit", "--out", picture);
    HOLDS(standard_error, "figure.svg, which the figure is made of");
    EXPECT(1, "plot", scratch_path("figure.svg.dat"), "--figure", "orbit", "--out", picture);
    HOLDS(standard_error, "figure.svg.dat, which the figure is made of");
    EXPECT(1, "table", stats, "--kind", "simulation", "--tol", "1e-3");
    EXPECT(1, "table", stats, stats);
    HOLDS(standard_error, "--kind solvers takes only one RESULTS");
    EXPECT(3, "table", scratch_path("absent.csv"), "--kind", "simulation");
}

static void help_names_the_defaults(void)
{
    EXPECT(0, "simulate", "--help");
    HOLDS(standard_out, "stands for the 1e-6 of [D11]");
    EXPECT(0, "scenes", "--help");
}

static void run_tests(void)
{
    RUN_TEST(scenes_are_listed);
    RUN_TEST(a_run_is_one_row);
    RUN_TEST(statistics_have_a_row_a_step);
    RUN_TEST(the_same_seed_gives_the_same_bits);
    RUN_TEST(threads_have_no_say_in_the_bits);
    RUN_TEST(dumped_problems_are_checked_and_solved_from_their_guess);
    RUN_TEST(frames_are_polylines_and_pictures);
    RUN_TEST(a_camera_needs_frames_and_angles);
    RUN_TEST(a_wrong_command_line_is_exit_1_with_a_sentence);
    RUN_TEST(what_cannot_be_written_is_told_before_the_first_step);
    RUN_TEST(an_explosion_is_exit_2_with_a_sentence_and_its_files);
    RUN_TEST(a_model_that_fails_is_not_done);
    RUN_TEST(a_rough_run_is_done_with_remarks);
    RUN_TEST(scenes_have_no_remarks);
    RUN_TEST(an_interrupt_or_a_closed_terminal_leaves_whole_files);
    RUN_TEST(a_file_belongs_to_one_simulation);
    RUN_TEST(a_dump_that_is_not_whole_says_why);
    RUN_TEST(runs_become_figures);
    RUN_TEST(help_names_the_defaults);
}

const test_group cli_simulate_tests = {.run = run_tests};
