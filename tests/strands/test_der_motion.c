// tests/strands/test_der_motion.c -- rods that move: lengths, energy and frequency, and other models' rods.
#include <stdlib.h>
#include <string.h>

#include "strands/step/step.h"
#include "strands/models/der.h"
#include "tests/support/kirchhoff.h"
#include "tests/support/one_strand.h"
#include "tests/support/strand_run.h"
#include "tests/support/support.h"

#define LENGTH 0.1 // m, free

static ss_error error;

static void set_up(void)
{
    error = (ss_error){0};
}

static double worst_stretch(const run *r)
{
    const ss_der *d = r->w->strands[0].self;
    double most = 0.0;
    for (int j = 0; j < d->n; j++) {
        const ss_vec3 e =
            ss_minus(ss_der_vertex(r->w->now.q, j + 1), ss_der_vertex(r->w->now.q, j));
        most = fmax(most, fabs(ss_length(e) / d->edge[j] - 1.0));
    }
    return most;
}

static const ss_vec3 DOWN = {0.0, -9.81, 0.0};

// ---- Projection

static void projection_keeps_every_length(void)
{
    const char *const models[] = {"der", "der:bending=two-frame,impulses=particles"};
    for (int k = 0; k < 2; k++) {
        run r = level_rod(models[k], "projection", 12, LENGTH, 0.0, DOWN, 2e-4);
        while (r.w->now.time < 0.2) {
            CHECK_OK(ss_stepper_step(r.s, &r.report, &error));
            CHECK_LE(worst_stretch(&r), 1e-6);
        }
        CHECK(tip_of(&r).y < -0.02);
        free_run(&r);
    }
}

// Both are of first order.
static void projection_goes_where_newton_goes(void)
{
    run a = level_rod("der", "projection", 12, LENGTH, 0.0, DOWN, 1e-4);
    run b = level_rod("der", "newton", 12, LENGTH, 0.0, DOWN, 1e-4);
    go_to(&a, 0.15);
    go_to(&b, 0.15);
    const double apart = ss_length(ss_minus(tip_of(&a), tip_of(&b)));
    CHECK_LE(apart, 0.01 * LENGTH);
    free_run(&a);
    free_run(&b);
}

// ---- Energy and frequency

static void a_rod_let_go_keeps_its_energy_to_the_order_of_its_scheme(void)
{
    const double coarse = energy_lost("der", "newton", 16, LENGTH, 1e-3),
                 fine = energy_lost("der", "newton", 16, LENGTH, 5e-4);
    CHECK(fine > 0.0);
    CHECK_NEAR(coarse / fine, 2.0, 0.2);
    const double second = energy_lost("der", "bdf2", 16, LENGTH, 1e-3),
                 finer = energy_lost("der", "bdf2", 16, LENGTH, 5e-4);
    CHECK_NEAR(second / finer, 4.0, 0.3);
    CHECK_LE(second, 0.05 * coarse);
}

// The mean of four periods, between turns of the tip.
static double period(int n)
{
    run r = level_rod("der", "bdf2", n, LENGTH, 0.0, ss_vec(0.0, -1e-3, 0.0), 1e-3);
    double first = 0.0, time = 0.0, before = 0.0, last = 0.0;
    for (int count = 0; count < 9;) {
        CHECK_OK(ss_stepper_step(r.s, &r.report, &error));
        const double y = tip_of(&r).y, speed = y - before;
        if (last * speed < 0.0) {
            time = r.report.time - 1e-3 * (0.5 + speed / (speed - last));
            first = count++ == 0 ? time : first;
        }
        last = speed;
        before = y;
    }
    free_run(&r);
    return 0.25 * (time - first);
}

static void a_rod_swings_with_the_first_frequency(void)
{
    const ss_material hair = ss_material_hair();
    const double known = ss_material_frequency(&hair, LENGTH);
    CHECK_NEAR(1.0 / period(32), known, 0.005 * known);
}

// ---- Iterates

// 0.3 m of damped hair whose natural curvature is not that of its start.
static ss_strand_design unrested(void)
{
    static const double style[5][3] = {{0.0, 8.0, 0.0}, {0.0, 8.0, 0.0}, {0.0, 2.0, 0.0}};
    static const double unrest[5][3] = {
        {0.0, 2.0, -1.0}, {0.0, -2.0, 2.0}, {0.0, 1.0, 3.0}, {0.0, 4.0, 0.0}, {0.0, 2.0, 1.0}};
    return (ss_strand_design){.length = 0.3,
                              .material = ss_material_hair(),
                              .npieces = 5,
                              .style = style,
                              .unrest = unrest,
                              .nsegments = 24};
}

static void a_rod_of_curvatures_begins_with_its_natural_lengths(void)
{
    const ss_strand_design design = unrested();
    const ss_pose root = ss_pose_identity();
    run r = new_run("der", "newton", &design, &root, DOWN, 2e-3);
    CHECK_LE(worst_stretch(&r), 1e-14);
    free_run(&r);
}

// Were lengths damped, 19 of 20 iterates would not do.
static void falling_hair_takes_few_iterates_of_exact_stiffness(void)
{
    const ss_strand_design design = unrested();
    const ss_pose root = ss_pose_identity();
    run r = new_run("der", "newton", &design, &root, DOWN, 2e-3);
    for (int i = 0; i < 50; i++) {
        CHECK_OK(ss_stepper_step(r.s, &r.report, &error));
        CHECK(r.report.iterates <= 8 && r.report.stiffness == SS_STIFFNESS_EXACT);
        CHECK(r.report.rejected == 0 && r.report.change <= 1e-8);
    }
    free_run(&r);
}

// ---- Folds

// Thrown at its own clamp, a rod crumples: edges fold back, iterates move apart, matrices are not definite.
// Such tries are rejected, or the last is a sentence, and what the world holds is always finite.
static void a_crumpled_rod_is_rejected_and_never_no_number(void)
{
    static const char *const schemes[] = {"newton", "linear", "projection"};
    int rejected = 0, ended = 0;
    for (int k = 0; k < 3; k++) {
        const ss_strand_design design = {
            .length = LENGTH, .material = ss_material_hair(), .nsegments = 10};
        const ss_pose root = ss_pose_identity();
        run r = new_run_down_to("der", schemes[k], &design, &root, DOWN, 4e-3, 1e-4);
        ss_world *w = r.w;
        for (int i = 2; i <= 10; i++) {
            w->now.v[SS_DER_STRIDE * i] = -10.0 * (i - 1);
        }
        ss_status status = SS_OK;
        for (int i = 0; i < 60 && status == SS_OK; i++) {
            status = ss_stepper_step(r.s, &r.report, &error);
            rejected += r.report.rejected;
            for (int j = 0; j < w->nq; j++) {
                CHECK(isfinite(w->now.q[j]));
            }
        }
        ended += status != SS_OK;
        CHECK(status == SS_OK || (status == SS_BAD_INPUT && strlen(error.text) > 20));
        free_run(&r);
    }
    CHECK(rejected > 0 && ended < 3);
}

// ---- The same strand by another model

// A natural curl that is let go level, its clamp at the origin along x; n edges or elements.
static run curl(const char *model, int n, double dt)
{
    const bool rod = strcmp(model, "der") == 0;
    const double style[1][3] = {{20.0, 10.0, 60.0}}, l = rod ? LENGTH / (n - 0.5) : 0.0;
    const ss_strand_design design = {.length = LENGTH + 0.5 * l,
                                     .material = ss_material_hair(),
                                     .npieces = 1,
                                     .style = style,
                                     .nsegments = n};
    const ss_pose home = ss_pose_identity();
    const ss_pose clamp = kirchhoff_natural(ss_vec(20.0, 10.0, 60.0), 0.5 * l, &home);
    const ss_pose root = kirchhoff_inverse(&clamp);
    char spec[40];
    snprintf(spec, sizeof spec, rod ? "der" : "super-helix:elements=%d", n);
    return new_run(spec, "newton", &design, &root, DOWN, dt);
}

static void a_super_helix_moves_alike(void)
{
    run a = curl("super-helix", 16, 2e-3), b = curl("der", 64, 2e-3);
    for (double t = 0.1; t < 1.05; t += 0.1) {
        go_to(&a, t);
        go_to(&b, t);
        const double apart = ss_length(ss_minus(tip_of(&a), tip_of(&b)));
        CHECK_LE(apart, 0.01 * LENGTH);
    }
    free_run(&a);
    free_run(&b);
}

static void run_tests(void)
{
    RUN_TEST(projection_keeps_every_length);
    RUN_TEST(projection_goes_where_newton_goes);
    RUN_TEST(a_rod_let_go_keeps_its_energy_to_the_order_of_its_scheme);
    RUN_TEST(a_rod_swings_with_the_first_frequency);
    RUN_TEST(a_rod_of_curvatures_begins_with_its_natural_lengths);
    RUN_TEST(falling_hair_takes_few_iterates_of_exact_stiffness);
    RUN_TEST(a_crumpled_rod_is_rejected_and_never_no_number);
    RUN_TEST(a_super_helix_moves_alike);
}

const test_group der_motion_tests = {.run = run_tests, .set_up = set_up};
