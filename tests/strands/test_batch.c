// tests/strands/test_batch.c -- strands side by side against the same strands one by one.
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "strands/step/stepper.h"
#include "tests/support/one_strand.h"
#include "tests/support/stepping.h"
#include "tests/support/support.h"

#define STRANDS 37   // no multiple of any number of lanes
#define STEP    2e-3 // s

static ss_error error;
static ss_random g;
static stepping solver;

static void set_up(void)
{
    g = ss_random_seeded(31);
}

// ---- Worlds of chains on a body that turns and shifts

static ss_world *moving_world(double drag)
{
    const ss_motion motion = {
        .angle = {.kind = SS_PROFILE_OSCILLATE, .size = 1.0, .period = 0.3, .start = -0.4},
        .axis = ss_unit(ss_vec(1.0, 2.0, -0.5)),
        .centre = {0.03, 0.0, 0.01},
        .shift = {.kind = SS_PROFILE_OSCILLATE, .size = 0.1, .period = 0.5, .start = -0.6},
        .direction = {0.0, 0.6, 0.8}};
    ss_world *w = ss_world_new();
    int body;
    CHECK(w != NULL);
    CHECK_OK(ss_world_add_body(w, &motion, &body, &error));
    w->drag = drag;
    w->radius = 1e-9;
    return w;
}

// Their roots are 0.2 m apart, in all directions.
static void add_chains(ss_world *w, const char *spec, const ss_strand_design *design, int body,
                       int count)
{
    ss_model_choice choice;
    CHECK_OK(ss_model_parse(spec, &choice, &error));
    ss_random places = ss_random_seeded(7);
    for (int k = 0; k < count; k++) {
        const ss_vec3 turn =
            ss_vec(ss_random_normal(&places), ss_random_normal(&places), ss_random_normal(&places));
        const ss_pose root = {ss_rotation(turn), {0.2 * w->nstrands, 0.1, -0.05}};
        int number;
        CHECK_OK(ss_world_add_strand(w, &choice, design, body, &root, &number, &error));
    }
    ss_model_choice_free(&choice);
}

// 60 mm and 6 vertices, curled.
static ss_strand_design curl(void)
{
    static const double STYLE[2][3] = {{3.0, 12.0, 0.0}, {-2.0, 8.0, 10.0}};
    ss_strand_design design = {
        .length = 0.06, .material = ss_material_hair(), .npieces = 2, .nsegments = 5};
    design.style = STYLE;
    return design;
}

static ss_world *chains(const char *spec, int count)
{
    const ss_strand_design design = curl();
    ss_world *w = moving_world(1e-5);
    add_chains(w, spec, &design, 1, count);
    return w;
}

// Places off by 0.5 mm, and 0.2 m/s.
static void shake(ss_world *w)
{
    for (int j = 0; j < w->nq; j++) {
        w->now.q[j] += 5e-4 * ss_random_normal(&g);
        w->now.v[j] = 0.2 * ss_random_normal(&g);
    }
}

static ss_stepper *stepper(ss_world *w, bool contacts, int threads)
{
    ss_step_options options = ss_step_defaults();
    options.dt = STEP;
    options.contacts = contacts;
    options.threads = threads;
    ss_stepper *s = ss_stepper_new(
        w, &options, (ss_step_solver){.solve = solve_step, .context = &solver}, &error);
    TEST_ASSERT_NOT_NULL_MESSAGE(s, error.text);
    return s;
}

// ---- The same answers

static void check_equal(const double *a, const double *b, int count)
{
    const double size = largest_of(b, count);
    for (int j = 0; j < count; j++) {
        CHECK_NEAR(a[j], b[j], 1e-12 * size);
    }
}

// `to` goes on from where `from` is, so that rounding does not grow from step to step.
static void follow(const ss_world *from, ss_world *to)
{
    to->now.time = from->now.time;
    memcpy(to->now.q, from->now.q, (size_t)from->nq * sizeof(double));
    memcpy(to->now.v, from->now.v, (size_t)from->nv * sizeof(double));
}

static void check_report(const ss_step_report *a, const ss_step_report *b, const ss_world *w)
{
    double weight = 0.0; // J: all of it, falling by 10 m
    for (int p = 0; p < w->nsamples; p++) {
        weight += 10.0 * 9.81 * w->mass[p];
    }
    CHECK(a->time == b->time && a->dt == b->dt && a->rejected == b->rejected);
    CHECK(a->contacts == 0 && b->contacts == 0);
    CHECK_NEAR(a->energy.kinetic, b->energy.kinetic, 1e-12 * b->energy.kinetic);
    CHECK_NEAR(a->energy.potential, b->energy.potential, 1e-12 * weight);
    CHECK_NEAR(a->energy.elastic, b->energy.elastic, 0.0);
    CHECK_NEAR(a->length, b->length, 1e-12 * b->length);
    CHECK_NEAR(a->max_speed, b->max_speed, 1e-12 * b->max_speed);
}

// With contacts, of which there are none, strands go one by one.
static void check_spec(const char *spec)
{
    ss_world *together = chains(spec, STRANDS), *alone = chains(spec, STRANDS);
    ss_stepper *a = stepper(together, false, 2), *b = stepper(alone, true, 0);
    CHECK(a->batch != NULL && b->batch == NULL);
    shake(together);
    for (int step = 0; step < 30; step++) {
        ss_step_report one, other;
        follow(together, alone);
        CHECK_OK(ss_stepper_step(a, &one, &error));
        CHECK_OK(ss_stepper_step(b, &other, &error));
        check_equal(together->now.q, alone->now.q, alone->nq);
        check_equal(together->now.v, alone->now.v, alone->nv);
        CHECK(together->now.time == alone->now.time);
        check_report(&one, &other, alone);
    }
    ss_stepper_free(a);
    ss_stepper_free(b);
    ss_world_free(together);
    ss_world_free(alone);
}

static void chains_go_side_by_side_where_they_go_one_by_one(void)
{
    const char *const specs[] = {"tmf:bending=0.3",
                                 "tmf",
                                 "tmf:iterations=3,bending=0.5,sweeps=2",
                                 "tmf:root=free",
                                 "tmf:mass=nodal",
                                 "tmf:root=free,mass=nodal,bending=0.1",
                                 "tmf:contact=particles",
                                 "pbd:iterations=7",
                                 "pbd:mass=nodal,root=free",
                                 "dftl",
                                 "dftl:mass=nodal,damping=0.5,bending=0.2"};
    for (size_t k = 0; k < sizeof specs / sizeof specs[0]; k++) {
        check_spec(specs[k]);
    }
}

static void strands_that_differ_go_where_they_go_side_by_side(void)
{
    ss_strand_design other = curl();
    other.nsegments = 7;
    ss_world *alike = chains("tmf:bending=0.3", STRANDS),
             *mixed = chains("tmf:bending=0.3", STRANDS);
    add_chains(mixed, "tmf:bending=0.3", &other, 1, 1);
    ss_stepper *a = stepper(alike, false, 1), *b = stepper(mixed, false, 1);
    CHECK(a->batch != NULL && b->batch == NULL);
    shake(alike);
    for (int step = 0; step < 10; step++) {
        ss_step_report report;
        follow(alike, mixed);
        CHECK_OK(ss_stepper_step(a, &report, &error));
        CHECK_OK(ss_stepper_step(b, &report, &error));
        check_equal(alike->now.q, mixed->now.q, alike->nq);
        check_equal(alike->now.v, mixed->now.v, alike->nv);
    }
    ss_stepper_free(a);
    ss_stepper_free(b);
    ss_world_free(alike);
    ss_world_free(mixed);
}

// ---- Who goes side by side

static bool is_side_by_side(ss_world *w)
{
    ss_stepper *s = stepper(w, false, 1);
    const bool batch = s->batch != NULL;
    ss_stepper_free(s);
    ss_world_free(w);
    return batch;
}

static void chains_that_are_alike_go_side_by_side(void)
{
    CHECK(is_side_by_side(chains("tmf", 2)));
    CHECK(is_side_by_side(chains("dftl", 9)));
}

static void strands_that_are_not_alike_go_one_by_one(void)
{
    ss_strand_design design = curl();
    CHECK(!is_side_by_side(chains("tmf", 1)));
    CHECK(!is_side_by_side(chains("super-helix", 3)));
    ss_world *w = chains("tmf", 3);
    add_chains(w, "tmf", &design, 0, 1); // on another body
    CHECK(!is_side_by_side(w));
    w = chains("tmf", 3);
    add_chains(w, "tmf:bending=0.1", &design, 1, 1);
    CHECK(!is_side_by_side(w));
    w = chains("tmf", 3);
    add_chains(w, "pbd:iterations=2", &design, 1, 1);
    CHECK(!is_side_by_side(w));
    w = chains("tmf", 3);
    design.length *= 1.01;
    add_chains(w, "tmf", &design, 1, 1);
    CHECK(!is_side_by_side(w));
    w = chains("tmf", 3);
    w->strands[2].pull_tip.y = 1e-6;
    CHECK(!is_side_by_side(w));
}

// ---- Bits

static void run(ss_world *w, int threads, ss_step_report *report)
{
    ss_stepper *s = stepper(w, false, threads);
    for (int step = 0; step < 5; step++) {
        CHECK_OK(ss_stepper_step(s, report, &error));
    }
    ss_stepper_free(s);
}

static bool same_bits(const double *a, const double *b, int count)
{
    return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

static void threads_have_no_say_in_the_bits(void)
{
    ss_step_report first, report;
    ss_world *one = chains("tmf:bending=0.3", 1301);
    run(one, 0, &first);
    for (int threads = 1; threads <= 3; threads++) {
        ss_world *w = chains("tmf:bending=0.3", 1301);
        run(w, threads, &report);
        CHECK(same_bits(w->now.q, one->now.q, w->nq) && same_bits(w->now.v, one->now.v, w->nv));
        CHECK(report.energy.kinetic == first.energy.kinetic);
        CHECK(report.energy.potential == first.energy.potential);
        CHECK(report.length == first.length && report.max_speed == first.max_speed);
        ss_world_free(w);
    }
    ss_world_free(one);
}

static void a_chain_does_not_know_of_its_neighbours(void)
{
    ss_step_report report;
    ss_world *all = chains("pbd:bending=0.2,iterations=3", STRANDS);
    ss_world *few = chains("pbd:bending=0.2,iterations=3", 3);
    shake(all);
    memcpy(few->now.q, all->now.q, (size_t)few->nq * sizeof(double));
    memcpy(few->now.v, all->now.v, (size_t)few->nv * sizeof(double));
    run(all, 1, &report);
    run(few, 1, &report);
    CHECK(same_bits(few->now.q, all->now.q, few->nq) && same_bits(few->now.v, all->now.v, few->nv));
    ss_world_free(all);
    ss_world_free(few);
}

// ---- Steps that cannot be

// Strand k: vertex 5 would come to where vertex 4 rests in one step of `step`, exactly.
static void collapse(ss_world *w, int k, double step)
{
    double *q = w->now.q + w->strands[k].q, *v = w->now.v + w->strands[k].v;
    for (int j = 12; j < 15; j++) {
        v[j] = (q[j - 3] - q[j]) / step;
        q[j] = q[j - 3] - v[j] * step;
    }
}

// Nothing moves them; steps of 2^-10 s, so that h v is exact.
static ss_world *resting_chains(ss_step_options *options)
{
    const ss_strand_design design = {.length = 0.1, .material = ss_material_hair(), .nsegments = 5};
    ss_world *w = moving_world(0.0);
    w->gravity = ss_vec(0.0, 0.0, 0.0);
    add_chains(w, "tmf", &design, 0, STRANDS);
    *options = ss_step_defaults();
    options->contacts = false;
    options->dt = 0.0009765625;
    options->dt_min = options->dt / 4.0;
    return w;
}

static void a_step_onto_one_place_is_rejected(void)
{
    ss_step_options options;
    ss_step_report report;
    ss_world *w = resting_chains(&options);
    collapse(w, STRANDS - 1, options.dt);
    ss_stepper *s = ss_stepper_new(
        w, &options, (ss_step_solver){.solve = solve_step, .context = &solver}, &error);
    CHECK_OK(ss_stepper_step(s, &report, &error));
    CHECK(report.rejected == 1 && report.reason == SS_STEP_EXPLOSION);
    CHECK_NEAR(report.dt, options.dt / 2.0, 0.0);
    CHECK_NEAR(w->now.time, options.dt / 2.0, 0.0);
    CHECK(isfinite(largest_of(w->now.q, w->nq)) && isfinite(report.energy.kinetic));
    ss_stepper_free(s);
    ss_world_free(w);
}

static void vertices_on_one_place_end_a_run(void)
{
    ss_step_options options;
    ss_step_report report;
    ss_world *w = resting_chains(&options);
    w->now.q[w->strands[9].q + 12] = w->now.q[w->strands[9].q + 9];
    double *before = malloc((size_t)w->nq * sizeof *before);
    memcpy(before, w->now.q, (size_t)w->nq * sizeof *before);
    ss_stepper *s = ss_stepper_new(
        w, &options, (ss_step_solver){.solve = solve_step, .context = &solver}, &error);
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_stepper_step(s, &report, &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "explodes"), error.text);
    CHECK(same_bits(before, w->now.q, w->nq) && w->now.time == 0.0);
    free(before);
    ss_stepper_free(s);
    ss_world_free(w);
}

// Whether the first step of shaken chains is taken; with `contacts` one by one.
static bool is_taken(const char *spec, double explosion, bool contacts)
{
    ss_step_options options = ss_step_defaults();
    ss_step_report report;
    ss_world *w = chains(spec, STRANDS);
    g = ss_random_seeded(5);
    shake(w);
    options.dt = options.dt_min = STEP;
    options.explosion = explosion;
    options.contacts = contacts;
    ss_stepper *s = ss_stepper_new(
        w, &options, (ss_step_solver){.solve = solve_step, .context = &solver}, &error);
    const bool taken = ss_stepper_step(s, &report, &error) == SS_OK;
    ss_stepper_free(s);
    ss_world_free(w);
    return taken;
}

static void check_explosion(const char *spec)
{
    double low = 1e-6, high = 1e6;
    CHECK(!is_taken(spec, low, false) && is_taken(spec, high, false));
    while (high > (1.0 + 1e-9) * low) {
        const double middle = sqrt(low * high);
        *(is_taken(spec, middle, false) ? &high : &low) = middle;
    }
    CHECK(!is_taken(spec, (1.0 - 1e-9) * low, true) && is_taken(spec, (1.0 + 1e-9) * high, true));
    CHECK(is_taken(spec, 0.0, false)); // never
}

static void an_explosion_is_one_side_by_side_and_one_by_one(void)
{
    check_explosion("tmf");
    check_explosion("dftl:mass=nodal");
    check_explosion("pbd:root=free");
}

static void a_point_may_not_go_further_than_its_strand_is_long(void)
{
    ss_step_options options;
    ss_step_report report;
    ss_world *w = resting_chains(&options);
    double *v = w->now.v + w->strands[20].v;
    v[13] = 2.5 * 0.1 / options.dt; // the tip, across, by 2.5 lengths
    ss_stepper *s = ss_stepper_new(
        w, &options, (ss_step_solver){.solve = solve_step, .context = &solver}, &error);
    CHECK_OK(ss_stepper_step(s, &report, &error));
    CHECK(report.rejected > 0 && report.reason == SS_STEP_EXPLOSION);
    ss_stepper_free(s);
    ss_world_free(w);
}

// ---- The world is the caller's

static void a_world_that_is_moved_between_two_steps_is_stepped_from_there(void)
{
    ss_step_report report;
    ss_world *moved = chains("tmf", STRANDS), *fresh = chains("tmf", STRANDS);
    ss_stepper *s = stepper(moved, false, 1);
    CHECK_OK(ss_stepper_step(s, &report, &error));
    shake(moved);
    follow(moved, fresh);
    CHECK_OK(ss_stepper_step(s, &report, &error));
    ss_stepper_free(s);
    s = stepper(fresh, false, 1);
    CHECK_OK(ss_stepper_step(s, &report, &error));
    ss_stepper_free(s);
    CHECK(same_bits(moved->now.q, fresh->now.q, fresh->nq));
    CHECK(same_bits(moved->now.v, fresh->now.v, fresh->nv));
    ss_world_free(moved);
    ss_world_free(fresh);
}

static void a_world_that_was_stepped_can_grow(void)
{
    ss_step_report report;
    const ss_strand_design design = curl();
    ss_world *w = chains("tmf", STRANDS);
    ss_stepper *s = stepper(w, false, 1);
    CHECK_OK(ss_stepper_step(s, &report, &error)); // q and v are other arrays now
    ss_stepper_free(s);
    add_chains(w, "tmf", &design, 1, STRANDS);
    s = stepper(w, false, 1);
    CHECK_OK(ss_stepper_step(s, &report, &error));
    CHECK(isfinite(largest_of(w->now.q, w->nq)) && report.rejected == 0);
    ss_stepper_free(s);
    ss_world_free(w);
}

static void run_tests(void)
{
    RUN_TEST(chains_go_side_by_side_where_they_go_one_by_one);
    RUN_TEST(strands_that_differ_go_where_they_go_side_by_side);
    RUN_TEST(chains_that_are_alike_go_side_by_side);
    RUN_TEST(strands_that_are_not_alike_go_one_by_one);
    RUN_TEST(threads_have_no_say_in_the_bits);
    RUN_TEST(a_chain_does_not_know_of_its_neighbours);
    RUN_TEST(a_step_onto_one_place_is_rejected);
    RUN_TEST(vertices_on_one_place_end_a_run);
    RUN_TEST(an_explosion_is_one_side_by_side_and_one_by_one);
    RUN_TEST(a_point_may_not_go_further_than_its_strand_is_long);
    RUN_TEST(a_world_that_is_moved_between_two_steps_is_stepped_from_there);
    RUN_TEST(a_world_that_was_stepped_can_grow);
}

const test_group batch_tests = {.run = run_tests, .set_up = set_up};
