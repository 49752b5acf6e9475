// tests/strands/test_newton_scheme.c -- the schemes newton and bdf2: what their iterates converge to, and how
// fast.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strands/band.h"
#include "tests/support/one_stepper.h"
#include "tests/support/twisting_chain.h"

static double dt = 1e-4; // of `changes`

static void set_up(void)
{
    toy_stiffness = 1.0;
    toy_chain_damping = 0.0;
    begin_world();
    options.explosion = 0.0;
}

static void again(void)
{
    tear_down();
    set_up();
}

static int curl(const char *spec, double relaxation, double turned)
{
    const double style[5][3] = {
        {1.0, 8.0, -3.0}, {2.0, -5.0, 9.0}, {0.0, 7.0, 4.0}, {1.0, 1.0, 1.0}, {3.0, -9.0, 2.0}};
    ss_strand_design design = {.length = 0.2,
                               .material = ss_material_hair(),
                               .npieces = 5,
                               .style = style,
                               .nsegments = 10};
    design.material.relaxation = relaxation;
    const ss_pose root = pose_at(ss_vec(0.0, 0.0, 0.0), ss_vec(0.0, 0.0, turned));
    ss_model_choice choice;
    int number = -1;
    CHECK_OK(ss_model_parse(spec, &choice, &error));
    CHECK_OK(ss_world_add_strand(world, &choice, &design, 0, &root, &number, &error));
    ss_model_choice_free(&choice);
    return number;
}

// ---- One iterate is the linear scheme

// Two curls and two strands of the example model in a heap, touching.
static void heap(void)
{
    const ss_pose tied = pose_at(ss_vec(-0.1, 0.01, 0.01), ss_vec(0.0, 0.0, 0.0));
    world->radius = 0.01;
    curl("super-helix", 0.01, 0.0);
    curl("super-helix:root=free", 0.01, 0.3);
    tied_strand(world, 0, &tied, 0, SS_CLAMP_BOTH);
    stir(world, 0.05);
}

static void one_iterate_is_the_linear_step(const char *spec)
{
    double *q[2];
    int nq = 0;
    for (int k = 0; k < 2; k++) {
        again();
        heap();
        options.reach = 0.0;
        begin_scheme(k == 0 ? "linear" : spec);
        int contacts = 0;
        for (int i = 0; i < (strncmp(spec, "bdf2", 4) == 0 ? 1 : 10); i++) {
            step();
            contacts += report.contacts;
            CHECK(report.iterates == 1);
        }
        CHECK(contacts > 0);
        nq = world->nq + world->nv;
        q[k] = malloc((size_t)nq * sizeof(double));
        memcpy(q[k], world->now.q, (size_t)world->nq * sizeof(double));
        memcpy(q[k] + world->nq, world->now.v, (size_t)world->nv * sizeof(double));
    }
    CHECK(memcmp(q[0], q[1], (size_t)nq * sizeof(double)) == 0);
    free(q[0]);
    free(q[1]);
}

static void one_iterate_has_the_bits_of_linear(void)
{
    one_iterate_is_the_linear_step("newton:iterations=1");
    one_iterate_is_the_linear_step("bdf2:iterations=1");
}

// ---- Where the iterates go

// The residual of the scheme at the end of a step from `before`, against the size of its parts.
static double residual(const ss_world_state *before, double h)
{
    double worst = 0.0;
    double *ahead = calloc((size_t)world->nv, sizeof *ahead);
    ss_system_scratch *scratch = ss_system_scratch_new(world);
    memcpy(ahead, world->now.v, (size_t)world->nv * sizeof *ahead);
    for (int k = 0; k < world->nstrands; k++) {
        const ss_strand *s = &world->strands[k];
        const int nv = s->size.nv;
        ss_placed at;
        CHECK(ss_placed_init(&at, &s->size));
        ss_strand_place(world, k, &world->now, &at);
        ss_band M = {nv, s->size.half_bandwidth, NULL};
        M.x = calloc((size_t)(nv * (M.half + 1)), sizeof(double));
        double *f = calloc(2 * (size_t)nv, sizeof *f), *Mv = f + nv, largest = 0.0;
        ss_iterate it = ss_iterate_first(&world->now, h);
        it.past = before->v;
        it.ahead = ahead;
        CHECK(ss_strand_system(world, k, &it, &at, scratch, &M, f));
        ss_band_add_product(&M, world->now.v + s->v, Mv);
        for (int j = 0; j < nv; j++) {
            largest = fmax(largest, fabs(Mv[j]));
        }
        for (int j = s->size.nheld > 0 ? 7 : 0; j < nv; j++) {
            worst = fmax(worst, fabs(Mv[j] - f[j]) / largest);
        }
        free(M.x);
        free(f);
        ss_placed_free(&at);
    }
    ss_system_scratch_free(scratch);
    free(ahead);
    return worst;
}

static void the_end_solves_the_implicit_step(void)
{
    const ss_pose root = pose_at(ss_vec(0.0, 0.5, 0.0), ss_vec(0.0, 0.0, 0.0));
    curl("super-helix", 0.0, 0.0);
    curl("super-helix:root=free,elements=3", 0.0, 0.4);
    tied_strand(world, 0, &root, 0, SS_CLAMP_ROOT);
    options.contacts = false;
    stir(world, 0.5);
    begin_scheme("newton:iterations=60,tol=1e-13");
    ss_world_state before;
    CHECK(ss_world_state_init(&before, world));
    for (int i = 0; i < 5; i++) {
        memcpy(before.v, world->now.v, (size_t)world->nv * sizeof *before.v);
        step();
        CHECK_LE(residual(&before, report.dt), 1e-9);
    }
    begin_scheme("linear");
    memcpy(before.v, world->now.v, (size_t)world->nv * sizeof *before.v);
    step();
    CHECK(residual(&before, report.dt) > 1e-6);
    ss_world_state_free(&before);
}

// change[i] after i + 1 iterates of the same step of one strand, which has moved for a while.
static void changes(void (*fill)(void), int count, double *change)
{
    for (int i = 0; i < count; i++) {
        char spec[60];
        again();
        options.contacts = false;
        options.dt = options.dt_min = dt;
        fill();
        begin_scheme("newton");
        for (int k = 0; k < 10; k++) {
            step();
        }
        snprintf(spec, sizeof spec, "newton:iterations=%d,tol=0", i + 1);
        begin_scheme(spec);
        step();
        CHECK(report.iterates == i + 1);
        change[i] = report.change;
    }
}

// Springs of 1.2 kN/m between particles that move at 0.3 m/s, without damping: far from linear.
static void fill_springs(void)
{
    const ss_model_choice choice = {.model = &twisting_chain};
    ss_strand_design design = {.length = 0.2, .material = ss_material_hair(), .nsegments = 8};
    const ss_pose root = ss_pose_identity();
    int number = -1;
    design.material.relaxation = 0.0;
    CHECK_OK(ss_world_add_strand(world, &choice, &design, 0, &root, &number, &error));
    stir(world, 0.3);
}

// Once they are near: the next change is below the square of this one, up to rounding.
static void iterates_converge_quadratically_where_J_is_constant(void)
{
    double change[5];
    changes(fill_springs, 5, change);
    CHECK(change[1] > 1e-4);
    CHECK_LE(change[2], 0.1 * change[1] * change[1]); // in units of 1 m/s
    CHECK_LE(change[3], 1e-12);
}

static void fill_curl(void)
{
    curl("super-helix", 0.01, 0.0);
    stir(world, 0.0);
}

static void iterates_of_a_super_helix_converge_quadratically(void)
{
    const double steps[3] = {8e-3, 4e-3, 2e-3};
    for (int k = 0; k < 3; k++) {
        double change[5];
        dt = steps[k];
        changes(fill_curl, 5, change);
        for (int i = 1; i < 4; i++) {
            CHECK_LE(change[i + 1], 25.0 * change[i] * change[i] + 1e-14); // in units of 1 m/s
        }
        CHECK_LE(change[4], 1e-13);
        CHECK(change[2] > 1e-9); // not by luck at once
    }
    dt = 1e-4;
}

static void fill_links(void)
{
    curl("oriented-strands", 0.01, 0.0);
    stir(world, 0.0);
}

// With slopes of the residual in linear time where the steps are those of the sums over samples; that a turn by
// h v is no turn by h v* and then by h (v - v*) leaves a change of the order h |v| of the one before.
static void iterates_of_links_fall_by_a_factor_of_twenty(void)
{
    double change[5];
    dt = 4e-3;
    changes(fill_links, 5, change);
    for (int i = 1; i < 4; i++) {
        CHECK_LE(change[i + 1], 0.05 * change[i]);
    }
    CHECK(change[2] > 1e-9); // not by luck at once
    dt = 1e-4;
}

// A blow on light tips turns them far within a step: half the step then, or a sentence.
static void iterates_that_move_apart_are_rejected(void)
{
    const ss_obstacle floor = {.kind = SS_OBSTACLE_PLANE,
                               .pose =
                                   pose_at(ss_vec(0.0, -0.02, 0.0), ss_vec(-0.5 * M_PI, 0.0, 0.0)),
                               .mu = 0.5};
    CHECK_OK(ss_world_add_obstacle(world, &floor, &error));
    options.reach = 0.0;
    options.dt_min = 1e-5;
    curl("super-helix", 0.01, 0.0);
    begin_scheme("newton");
    int rejected = 0;
    while (world->now.time < 0.15) {
        step();
        rejected += report.reason == SS_STEP_ITERATES;
    }
    CHECK(rejected > 0);
    again();
    CHECK_OK(ss_world_add_obstacle(world, &floor, &error));
    options.dt_min = options.dt;
    options.reach = 0.0;
    curl("super-helix", 0.01, 0.0);
    begin_scheme("newton");
    ss_status status = SS_OK;
    while (status == SS_OK && world->now.time < 0.15) {
        status = ss_stepper_step(stepper, &report, &error);
    }
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, status);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "scheme newton move apart"), error.text);
}

static void a_stop_by_tol_is_when_the_change_is_below(void)
{
    options.contacts = false;
    fill_curl();
    begin_scheme("newton:tol=1e-6");
    for (int i = 0; i < 20; i++) {
        step();
        CHECK(report.change <= 1e-6 && report.iterates > 1 && report.iterates < 20);
    }
    begin_scheme("newton:tol=1e-6,iterations=2");
    step();
    CHECK(report.change > 1e-6 && report.iterates == 2);
}

// Impulses are no better than the solver says: no iterate after that.
static void iterates_end_at_the_error_of_the_solver(void)
{
    int iterates[2];
    for (int k = 0; k < 2; k++) {
        again();
        const ss_pose one = pose_at(ss_vec(-0.1, 0.0, 0.0), ss_vec(0.0, 0.0, 0.0));
        const ss_pose other = pose_at(ss_vec(0.0, -0.1, 0.019), ss_vec(0.0, 0.0, 0.5 * M_PI));
        world->radius = 0.01;
        tied_strand(world, 0, &one, 0, SS_CLAMP_BOTH);
        tied_strand(world, 0, &other, 0, SS_CLAMP_BOTH);
        stir(world, 0.05);
        options.reach = 0.0;
        options.dt = options.dt_min = 1e-4;
        begin_scheme("newton");
        secular.left = k == 0 ? 0.0 : 1e-3;
        step();
        CHECK(report.contacts > 0);
        CHECK_LE(report.change, k == 0 ? 1e-8 : 1e-3);
        iterates[k] = report.iterates;
    }
    CHECK(iterates[1] < iterates[0]);
}

// Strands are shared by threads.
static void the_number_of_threads_changes_no_bit(void)
{
    double *q[2] = {NULL, NULL};
    int nq = 0;
    for (int k = 0; k < 2; k++) {
        again();
        crowd(world, 1.0);
        nq = world->nq;
        options.threads = 1 + 2 * k;
        options.alone = 0;
        options.reach = 0.0;
        begin_scheme("linear");
        steps(3);
        CHECK(report.contacts > 0);
        q[k] = malloc((size_t)nq * sizeof *q[k]);
        memcpy(q[k], world->now.q, (size_t)nq * sizeof *q[k]);
    }
    CHECK(memcmp(q[0], q[1], (size_t)nq * sizeof *q[0]) == 0);
    for (int k = 0; k < 2; k++) {
        again();
        heap();
        nq = world->nq;
        options.threads = 1 + 2 * k;
        options.alone = 0;
        options.reach = 0.0;
        begin_scheme("newton:iterations=4,tol=0");
        steps(3);
        q[k] = realloc(q[k], (size_t)nq * sizeof *q[k]);
        memcpy(q[k], world->now.q, (size_t)nq * sizeof *q[k]);
    }
    CHECK(memcmp(q[0], q[1], (size_t)nq * sizeof *q[0]) == 0);
    free(q[0]);
    free(q[1]);
}

// ---- Kinds of stiffness

// Of springs that are shortened by a tenth, K has an eigenvalue of -0.1 k, above m / h^2.
static void a_factor_that_fails_asks_for_the_next_kind(void)
{
    fill_springs();
    options.contacts = false;
    for (int i = 2; i < 9; i++) {
        world->now.q[4 * i] -= 0.1 * 0.025 * (i - 1);
    }
    begin_scheme("newton:iterations=3");
    step();
    CHECK(report.stiffness == SS_STIFFNESS_FILTERED && report.rejected == 0);
    again();
    fill_springs();
    options.contacts = false;
    begin_scheme("linear:stiffness=gauss-newton");
    step();
    CHECK(report.stiffness == SS_STIFFNESS_GAUSS_NEWTON);
}

// The answer of the last problem is a replay of its own M and f.
static void the_problem_is_that_of_the_last_iterate(void)
{
    heap();
    options.reach = 0.0;
    begin_scheme("newton:iterations=4,tol=0");
    for (int i = 0; i < 5; i++) {
        step();
        const double *r, *v;
        const ss_problem *p = ss_stepper_problem(stepper, &r, &v);
        CHECK(p != NULL && report.iterates == 4);
        double *rest = calloc((size_t)p->ndofs, sizeof *rest), largest = 0.0;
        ss_sparse_add_product(&p->M, v, rest);
        for (int j = 0; j < p->ndofs; j++) {
            largest = fmax(largest, fabs(rest[j]));
            rest[j] -= p->f[j];
        }
        double *Hr = calloc((size_t)p->ndofs, sizeof *Hr);
        ss_sparse_add_product(&p->H, r, Hr);
        for (int j = 0; j < p->ndofs; j++) {
            CHECK_NEAR(rest[j], Hr[j], 1e-12 * largest);
        }
        free(rest);
        free(Hr);
    }
    CHECK(secular.calls == 20);
}

static void a_model_that_projects_is_refused(void)
{
    ss_scheme_choice scheme;
    curl("tmf", 0.0, 0.0);
    CHECK_OK(ss_scheme_parse("newton", &scheme, &error));
    options.scheme = &scheme;
    stepper = ss_stepper_new(world, &options,
                             (ss_step_solver){.solve = solve_step, .context = &secular}, &error);
    ss_scheme_choice_free(&scheme);
    CHECK(stepper == NULL);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, "model tmf"), error.text);
}

static void run_tests(void)
{
    RUN_TEST(one_iterate_has_the_bits_of_linear);
    RUN_TEST(the_end_solves_the_implicit_step);
    RUN_TEST(iterates_converge_quadratically_where_J_is_constant);
    RUN_TEST(iterates_of_a_super_helix_converge_quadratically);
    RUN_TEST(iterates_of_links_fall_by_a_factor_of_twenty);
    RUN_TEST(iterates_that_move_apart_are_rejected);
    RUN_TEST(a_stop_by_tol_is_when_the_change_is_below);
    RUN_TEST(iterates_end_at_the_error_of_the_solver);
    RUN_TEST(the_number_of_threads_changes_no_bit);
    RUN_TEST(a_factor_that_fails_asks_for_the_next_kind);
    RUN_TEST(the_problem_is_that_of_the_last_iterate);
    RUN_TEST(a_model_that_projects_is_refused);
}

const test_group newton_scheme_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
