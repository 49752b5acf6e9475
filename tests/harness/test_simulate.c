// What a simulation leaves behind: dumps, and the measures of its steps.
#include <stdio.h>
#include <string.h>

#include "harness/simulate/outputs.h"
#include "harness/simulate/simulation.h"
#include "problems/response.h"
#include "problems/tangle/tangle.h"
#include "tests/support/make_problem.h"
#include "tests/support/program.h"
#include "tests/support/support.h"

static ss_error error;

// ---- Dumps

static const ss_dump_source SOURCE = {.scene = "pony", .description = "how", .seed = 5};

// Offers `steps` steps with these numbers of active contacts of 10; -1: no contact. The names of
// the problems in the file, each behind a blank.
static const char *dump_after(const char *path, int count, int from, int steps, const int *active)
{
    static char names[400];
    ss_problem *p = random_problem(1, 3, 10, 3, 4);
    ss_dump *a;
    CHECK_OK(ss_dump_open(path, count, from, steps, &SOURCE, &a, &error));
    for (int k = 1; k <= steps; k++) {
        CHECK_OK(ss_dump_offer(a, k, active[k - 1], active[k - 1] >= 0 ? p : NULL, &error));
    }
    CHECK_OK(ss_dump_close(a, &error));
    ss_problem_free(p);
    ss_reader *reader;
    CHECK_OK(ss_reader_open(path, &reader, &error));
    names[0] = '\0';
    for (int k = 0; k < ss_reader_count(reader); k++) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, " %s", ss_reader_name(reader, k));
    }
    ss_reader_close(reader);
    return names;
}

static const char *dump(const char *path, int count, int steps, const int *active)
{
    return dump_after(path, count, 0, steps, active);
}

static void steps_before_the_first_stretch_are_left_out(void)
{
    const int busy[] = {9, 9, 9, 9, 0, 9, 9, 0};
    const char *path = scratch_path("late_start.h5");
    TEST_ASSERT_EQUAL_STRING(" step-4 step-6 step-7", dump_after(path, 3, 3, 8, busy));
    TEST_ASSERT_EQUAL_STRING(" step-6 step-7", dump_after(path, 2, 4, 8, busy));
}

static void a_stretch_gives_its_first_busy_step_else_its_last(void)
{
    const char *path = scratch_path("busy.h5");
    const int first[] = {0, 3, 4, 9, 0, 0, 0, 0, 1, 2}; // 4 of 10 are more than 30 %
    TEST_ASSERT_EQUAL_STRING(" step-03 step-10", dump(path, 2, 10, first));
    const int quiet[] = {0, 0, 0, 0, 0, 0};
    TEST_ASSERT_EQUAL_STRING(" step-2 step-4 step-6", dump(path, 3, 6, quiet));
    const int busy[] = {9, 9, 9, 9, 9, 9};
    TEST_ASSERT_EQUAL_STRING(" step-1 step-3 step-5", dump(path, 3, 6, busy));
}

static void stretches_without_contact_are_made_up_for(void)
{
    const int late[] = {-1, -1, -1, -1, 0, 0, 0, 0};
    TEST_ASSERT_EQUAL_STRING(" step-6 step-8", dump(scratch_path("late.h5"), 2, 8, late));
}

// Busy are more than 3 of 10.
static void a_stretch_that_ends_without_contact_gives_its_best_step(void)
{
    const int early[] = {1, 3, 2, -1, -1, 0, 3, 0, 0, 1};
    const char *path = scratch_path("best.h5");
    TEST_ASSERT_EQUAL_STRING(" step-02 step-10", dump(path, 2, 10, early));
    ss_problem *p = random_problem(1, 3, 10, 3, 4), *stored;
    char expected[65], found[65];
    CHECK_OK(ss_store_read(path, "step-02", &stored, &error)); // was a copy meanwhile
    ss_problem_sha256(p, expected);
    ss_problem_sha256(stored, found);
    TEST_ASSERT_EQUAL_STRING(expected, found);
    TEST_ASSERT_EQUAL_STRING("how", stored->description);
    ss_problem_free(p);
    ss_problem_free(stored);
}

static void a_run_that_ends_early_gives_the_best_of_its_last_stretch(void)
{
    const int all[] = {9, 0, 0, 0, 0, 1, 3, 2, 0, 0};
    const char *path = scratch_path("early.h5");
    ss_problem *p = random_problem(1, 3, 10, 3, 4);
    ss_dump *a;
    CHECK_OK(ss_dump_open(path, 2, 0, 10, &SOURCE, &a, &error));
    for (int k = 1; k <= 8; k++) {
        CHECK_OK(ss_dump_offer(a, k, all[k - 1], p, &error));
    }
    CHECK(ss_dump_taken(a) == 1);
    CHECK_OK(ss_dump_finish(a, &error));
    CHECK(ss_dump_taken(a) == 2 && ss_dump_kept(a) == 2);
    CHECK_OK(ss_dump_close(a, &error));
    ss_problem_free(p);
    CHECK_OK(ss_store_read(path, "step-07", &p, &error));
    ss_problem_free(p);
}

static void a_dump_belongs_to_one_simulation(void)
{
    const char *path = scratch_path("shared.h5");
    ss_problem *p = random_problem(1, 3, 10, 3, 4);
    ss_dump *first, *second;
    CHECK_OK(ss_dump_open(path, 4, 0, 4, &SOURCE, &first, &error));
    CHECK_OK(ss_dump_offer(first, 1, 9, p, &error));
    CHECK(ss_dump_open(path, 4, 0, 4, &SOURCE, &second, &error) == SS_SYSTEM && second == NULL);
    HOLDS(error.text, "shared.h5: another simulation is writing it; name another file");
    CHECK_OK(ss_dump_offer(first, 2, 9, p, &error));
    CHECK_OK(ss_dump_close(first, &error));
    CHECK_OK(ss_dump_open(path, 1, 0, 1, &SOURCE, &second, &error));
    CHECK_OK(ss_dump_close(second, &error)); // without problems: the file is as it was
    ss_problem_free(p);
    CHECK_OK(ss_store_read(path, "step-2", &p, &error));
    ss_problem_free(p);
}

static void a_dump_leaves_alone_what_another_program_wrote(void)
{
    const char *path = scratch_path("foreign.h5");
    ss_problem *p = random_problem(1, 3, 10, 3, 4);
    ss_dump *a;
    CHECK_OK(ss_dump_open(path, 4, 0, 4, &SOURCE, &a, &error));
    write_bytes(path, "theirs", 6);
    CHECK(ss_dump_offer(a, 1, 9, p, &error) == SS_SYSTEM && ss_dump_failed(a));
    HOLDS(error.text, "foreign.h5: another program has written it since the simulation began");
    CHECK_OK(ss_dump_close(a, &error));
    ss_problem_free(p);
    TEST_ASSERT_EQUAL_STRING("theirs", file_text(path));
}

static void a_dump_says_where_its_problems_come_from(void)
{
    const int one[] = {9};
    const char *path = scratch_path("from.h5");
    dump(path, 1, 1, one);
    ss_problem *p;
    CHECK_OK(ss_store_read(path, "step-1", &p, &error));
    const ss_provenance *from = &p->provenance;
    TEST_ASSERT_EQUAL_STRING("pony", from->scene);
    CHECK(from->has_seed && from->seed == 5 && from->step == 1);
    CHECK(strncmp(from->producer, "stickslip ", 10) == 0 && from->commit[0] != '\0');
    TEST_ASSERT_EQUAL_STRING("how", p->description);
    ss_problem_free(p);
}

static void a_dump_is_valid_from_its_first_problem_on(void)
{
    const char *path = scratch_path("killed.h5");
    ss_problem *p = random_problem(1, 3, 10, 3, 4), *read;
    ss_dump *a;
    CHECK_OK(ss_dump_open(path, 4, 0, 4, &SOURCE, &a, &error));
    CHECK_OK(ss_dump_offer(a, 1, 9, p, &error));
    CHECK_OK(ss_store_read(path, "step-1", &read, &error)); // a kill would come here
    ss_problem_free(read);
    CHECK_OK(ss_dump_close(a, &error));
    ss_problem_free(p);
}

static void a_dump_without_problems_leaves_the_disk_as_it_was(void)
{
    ss_dump *a;
    CHECK_OK(ss_dump_open(scratch_path("none.h5"), 1, 0, 2, &SOURCE, &a, &error));
    CHECK_OK(ss_dump_offer(a, 1, 0, NULL, &error));
    CHECK_OK(ss_dump_close(a, &error));
    FILE *file = fopen(scratch_path("none.h5"), "r");
    CHECK(file == NULL);
}

// ---- The solver of a step

// A solve of one M leaves its factor; an answer about another M is judged by its own.
static void the_judge_does_not_take_the_factor_of_another_matrix(void)
{
    ss_tangle_settings tangle = ss_tangle_defaults();
    tangle.ncontacts = 12;
    tangle.ends_per_rod = 4;
    ss_problem *p;
    CHECK_OK(ss_tangle_new(&tangle, &p, &error));
    double r[36] = {0.0};
    ss_method *method;
    CHECK_OK(ss_method_parse("mfb+enum", &method, &error));
    ss_simulate_solver after = {.method = method, .tolerance = 1e-6, .max_iterations = 5000};
    ss_simulate_solver alone = after;
    ss_step_answer with, without;
    CHECK_OK(ss_simulate_solve(&after, p, r, &with, &error));
    CHECK(after.factor != NULL);
    for (int k = 0; k < ss_sparse_count(&p->M); k++) {
        p->M.x[k] *= 4.0;
    }
    CHECK_OK(ss_simulate_judge(&after, p, r, &with, &error));
    CHECK_OK(ss_simulate_judge(&alone, p, r, &without, &error));
    CHECK(with.fb == without.fb);
    CHECK(with.fb > 1e-6);
    ss_simulate_drop(&after);
    ss_simulate_drop(&alone);
    ss_method_free(method);
    ss_problem_free(p);
}

static void measures_of_a_step_are_those_of_the_judge_in_cgs(void)
{
    ss_tangle_settings tangle = ss_tangle_defaults();
    tangle.ncontacts = 12;
    tangle.ends_per_rod = 4;
    ss_problem *p;
    CHECK_OK(ss_tangle_new(&tangle, &p, &error));
    const size_t n = 36;
    double r[36] = {0.0}, u[36], b[36];
    ss_method *method;
    CHECK_OK(ss_method_parse("mfb+enum", &method, &error));
    ss_simulate_solver solver = {.method = method, .tolerance = 1e-3, .max_iterations = 5000};
    ss_step_answer answer;
    CHECK_OK(ss_simulate_solve(&solver, p, r, &answer, &error));
    CHECK(answer.left > 0.0 && answer.left <= 1e-3);
    CHECK_OK(ss_simulate_judge(&solver, p, r, &answer, &error));
    TEST_ASSERT_EQUAL_STRING("solved", answer.status);
    ss_response *judge;
    CHECK_OK(ss_response_new(p, &judge, &error));
    const ss_measures si = ss_response_judge(judge, r, u);
    CHECK_NEAR(answer.fb, si.fb, 1e-12 * si.fb);
    for (size_t k = 0; k < n; k++) {
        r[k] *= 1e5;
        u[k] *= 1e2;
        b[k] = 1e2 * judge->b[k];
    }
    const ss_measures cgs = ss_measure(3, p->ncontacts, judge->compliance, b, p->mu, r, u);
    CHECK_NEAR(answer.fb_abs, cgs.fb_abs, 1e-9 * cgs.fb_abs);
    CHECK_NEAR(answer.natural, cgs.natural, 1e-9 * cgs.natural);
    CHECK(fabs(cgs.fb_abs - si.fb_abs) > 0.1 * cgs.fb_abs); // or nothing was tested
    ss_response_free(judge);
    ss_method_free(method);
    ss_problem_free(p);
}

// ---- A run that explodes

static ss_status build_explosive(const ss_scene_request *request, ss_world *w,
                                 ss_step_options *options, ss_error *e)
{
    const ss_strand_design design = {.length = 0.1, .material = ss_material_hair(), .nsegments = 4};
    const ss_pose root = ss_pose_identity();
    int number;
    options->explosion = 1e-30; // any motion is too much
    w->gravity.y = -1e6;
    return ss_world_add_strand(w, request->model, &design, 0, &root, &number, e);
}

static void an_explosion_is_a_sentence_and_no_row(void)
{
    static const ss_scene SCENE = {
        .name = "bang", .steps = 5, .dt = 1e-3, .build = build_explosive};
    char path[400];
    snprintf(path, sizeof path, "%s", scratch_path("bang.csv"));
    const ss_simulate_settings settings = {
        .mu = NAN, .dt = NAN, .tolerance = 1e-4, .max_iterations = 10, .stats = path};
    ss_model_choice model;
    ss_method *method;
    CHECK_OK(ss_model_parse("super-helix", &model, &error));
    CHECK_OK(ss_method_parse("mfb+enum", &method, &error));
    const ss_scene_choice scene = {.scene = &SCENE, .spec = "bang"};
    const ss_simulate_choices choices = {
        .given = scene.spec, .scene = &scene, .model = &model, .method = method};
    ss_simulation a = {.choices = &choices, .settings = &settings, .steps = 5};
    CHECK_OK(ss_simulation_open(&a, &error));
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_simulation_run(&a, &error));
    CHECK(strlen(error.text) > 20);
    TEST_ASSERT_EQUAL_INT(0, a.totals.steps);
    CHECK_OK(ss_simulation_close(&a, &error));
    TEST_ASSERT_EQUAL_INT(1, count_lines(file_text(path))); // the header
    ss_method_free(method);
    ss_model_choice_free(&model);
}

// ---- What no motion of a model would do

// A body that rests, or moves during the second of `t`, and a strand of this model, without weight.
static ss_world *world_of(const char *spec, bool moves)
{
    const ss_strand_design design = {.length = 0.1, .material = ss_material_hair(), .nsegments = 4};
    const ss_pose root = ss_pose_identity();
    ss_motion motion = ss_motion_still();
    ss_model_choice model;
    ss_world *w = ss_world_new();
    int body;
    motion.direction = ss_vec(1.0, 0.0, 0.0);
    motion.shift = (ss_profile){.kind = SS_PROFILE_MOVE, .period = 1.0, .start = 1.0};
    CHECK_OK(ss_model_parse(spec, &model, &error));
    motion.shift.size = moves ? 0.1 : 0.0;
    CHECK_OK(ss_world_add_body(w, &motion, &body, &error));
    CHECK_OK(ss_world_add_strand(w, &model, &design, 0, &root, &body, &error));
    ss_model_choice_free(&model);
    return w;
}

// A second of a run, until `time`, from kinetic and elastic energies to others, J.
static ss_step_report second_until(double time, double kinetic, double elastic, double moved,
                                   double left)
{
    return (ss_step_report){.time = time,
                            .dt = 1.0,
                            .before = {.kinetic = kinetic, .elastic = elastic},
                            .energy = {.kinetic = moved, .elastic = left},
                            .penetration = NAN};
}

static bool goes_on(ss_physics *p, const ss_world *w, ss_step_report report)
{
    return ss_physics_see(p, w, &report, &error) == SS_OK;
}

// 2 J could have been kinetic: one that was, and one that the elastic energy has lost.
static void energy_from_nowhere_is_a_remark_and_then_an_explosion(void)
{
    ss_world *w = world_of("der", false);
    ss_physics p = {.ends = true};
    char text[200];
    CHECK(goes_on(&p, w, second_until(1.0, 1.0, 4.0, 2.0, 3.0))); // 1 J released: 2 in play
    CHECK(goes_on(&p, w, second_until(2.0, 2.0, 3.0, 1.0, 3.0))); // 1 J lost: the least is 4 J
    CHECK_LE(p.measures[SS_PHYSICS_GAIN].worst, 0.0);
    CHECK(goes_on(&p, w, second_until(3.0, 1.0, 3.0, 1.5, 3.0)));
    CHECK_NEAR(p.measures[SS_PHYSICS_GAIN].worst, 0.25, 1e-6);
    CHECK(p.measures[SS_PHYSICS_GAIN].over == 1 && p.measures[SS_PHYSICS_GAIN].step == 3);
    CHECK(ss_physics_remark(&p, SS_PHYSICS_GAIN, text, sizeof text));
    TEST_ASSERT_EQUAL_STRING("energy grew without a source by 25 % of what could have been kinetic "
                             "at step 3, and by more than 10 in 1 of 3 steps",
                             text);
    CHECK(!ss_physics_remark(&p, SS_PHYSICS_OVERLAP, text, sizeof text));
    ss_physics_remarks(&p, text, sizeof text);
    TEST_ASSERT_EQUAL_STRING("gain", text);
    CHECK(!goes_on(&p, w, second_until(4.0, 1.5, 3.0, 3.1, 3.0)));
    CHECK(strstr(error.text, "energy grew without a source by 105 %") != NULL);
    p.ends = false;
    CHECK(goes_on(&p, w, second_until(4.0, 1.5, 3.0, 3.1, 3.0)));
    ss_world_free(w);
}

static void energy_that_a_moving_body_may_give_is_none_from_nowhere(void)
{
    ss_world *w = world_of("der", true);
    ss_physics p = {.ends = true};
    CHECK(goes_on(&p, w, second_until(1.0, 1.0, 0.0, 1.0, 0.0)));
    CHECK(goes_on(&p, w, second_until(2.0, 1.0, 0.0, 9.0, 9.0)));
    CHECK(goes_on(&p, w, second_until(3.0, 9.0, 9.0, 16.0, 2.0)));
    CHECK(p.measures[SS_PHYSICS_GAIN].worst == 0.0);
    CHECK(goes_on(&p, w, second_until(4.0, 16.0, 2.0, 20.0, 2.0)));
    CHECK_NEAR(p.measures[SS_PHYSICS_GAIN].worst, 4.0 / 16.0, 1e-6);
    ss_world_free(w);
}

// The stretch of elastic strands is a matter of their material.
static void chains_that_are_twice_as_long_have_exploded(void)
{
    ss_world *chain = world_of("tmf", false), *rod = world_of("der", false);
    ss_physics p = {.ends = true}, q = p;
    ss_step_report report = {.stretch = 0.09, .penetration = NAN};
    CHECK(goes_on(&p, chain, report));
    CHECK(p.measures[SS_PHYSICS_STRETCH].over == 0);
    report.stretch = 0.9;
    CHECK(goes_on(&p, chain, report));
    CHECK(p.measures[SS_PHYSICS_STRETCH].over == 1);
    report.stretch = 1.1;
    CHECK(goes_on(&q, rod, report));
    CHECK(q.measures[SS_PHYSICS_STRETCH].over == 1);
    CHECK(!goes_on(&p, chain, report));
    CHECK(strstr(error.text, "longer than it was made by 110 %") != NULL);
    ss_world_free(chain);
    ss_world_free(rod);
}

static void an_overlap_is_a_remark_however_deep(void)
{
    ss_world *w = world_of("tmf", false);
    ss_physics p = {.ends = true};
    ss_step_report report = {.penetration = 0.9 * w->radius};
    CHECK(goes_on(&p, w, report) && p.measures[SS_PHYSICS_OVERLAP].over == 0);
    report.penetration = 50.0 * w->radius;
    CHECK(goes_on(&p, w, report) && p.measures[SS_PHYSICS_OVERLAP].over == 1);
    CHECK_NEAR(p.measures[SS_PHYSICS_OVERLAP].worst, 50.0, 1e-12);
    report.penetration = NAN;
    CHECK(goes_on(&p, w, report) && p.measures[SS_PHYSICS_OVERLAP].over == 1);
    ss_world_free(w);
}

static void run_tests(void)
{
    RUN_TEST(steps_before_the_first_stretch_are_left_out);
    RUN_TEST(a_stretch_gives_its_first_busy_step_else_its_last);
    RUN_TEST(stretches_without_contact_are_made_up_for);
    RUN_TEST(a_stretch_that_ends_without_contact_gives_its_best_step);
    RUN_TEST(a_run_that_ends_early_gives_the_best_of_its_last_stretch);
    RUN_TEST(a_dump_belongs_to_one_simulation);
    RUN_TEST(a_dump_leaves_alone_what_another_program_wrote);
    RUN_TEST(a_dump_says_where_its_problems_come_from);
    RUN_TEST(a_dump_is_valid_from_its_first_problem_on);
    RUN_TEST(a_dump_without_problems_leaves_the_disk_as_it_was);
    RUN_TEST(the_judge_does_not_take_the_factor_of_another_matrix);
    RUN_TEST(measures_of_a_step_are_those_of_the_judge_in_cgs);
    RUN_TEST(an_explosion_is_a_sentence_and_no_row);
    RUN_TEST(energy_from_nowhere_is_a_remark_and_then_an_explosion);
    RUN_TEST(energy_that_a_moving_body_may_give_is_none_from_nowhere);
    RUN_TEST(chains_that_are_twice_as_long_have_exploded);
    RUN_TEST(an_overlap_is_a_remark_however_deep);
}

const test_group simulate_tests = {.run = run_tests};
