// tests/strands/test_thesis_motion.c -- the scheme thesis: what collisions keep, obstacles, and strands side by side.
#include "tests/support/thesis_world.h"

// ---- What a collision keeps

// Two free rods, of which one is thrown at the middle of the other.
static void free_pair(double mu)
{
    world->gravity = ss_vec(0.0, 0.0, 0.0);
    world->mu = mu;
    const ss_vec3 across = {0.0, 0.5 * M_PI, 0.0};
    rod("der", ss_vec(0.0, 0.0, -0.043), ss_vec(0.0, 0.0, 0.0), SS_CLAMP_NONE);
    const int other = rod("der", ss_vec(0.061, 2.4e-3, 0.0), across, SS_CLAMP_NONE);
    throw(other, ss_vec(0.2, -0.4, 0.1));
}

static ss_vec3 momentum(void)
{
    ss_vec3 sum = {0.0, 0.0, 0.0};
    for (int k = 0; k < world->nstrands; k++) {
        const ss_strand *s = &world->strands[k];
        for (int i = 0; i < s->size.nsamples; i++) {
            const double *v = world->now.v + s->v + SS_DER_STRIDE * i;
            sum = ss_along(sum, world->mass[s->sample + i], ss_vec(v[0], v[1], v[2]));
        }
    }
    return sum;
}

static void a_free_pair_keeps_its_momentum(void)
{
    const char *const specs[] = {"thesis:newton=full", "thesis", "thesis:law=rigid",
                                 "thesis:law=repaired"};
    for (int k = 0; k < 4; k++) {
        again();
        free_pair(0.4);
        begin_scheme(specs[k]);
        const ss_vec3 before = momentum();
        int active = 0;
        for (int i = 0; i < 20; i++) {
            step();
            active += report.active;
        }
        CHECK(active > 0);
        CHECK_LE(ss_length(ss_minus(momentum(), before)), 1e-12 * ss_length(before));
    }
}

// H r as forces on the vertices: their sum is 0, and their moment that of r at the two points of the centre lines, arm
// x r: r along the arm, without friction, has none. Returns the largest |moment| / (|arm| |r|).
static double check_moments(double mu)
{
    int found = 0;
    double largest = 0.0;
    again();
    free_pair(mu);
    begin_scheme("thesis:law=repaired,iterations=500");
    for (int i = 0; i < 20; i++) {
        double x[2][30], *Hr;
        for (int k = 0; k < 2; k++) {
            for (int j = 0; j < 30; j++) {
                x[k][j] = world->now.q[world->strands[k].q + SS_DER_STRIDE * (j / 3) + j % 3];
            }
        }
        step();
        const double *r, *v;
        int count;
        const ss_problem *p = ss_stepper_problem(stepper, &r, &v);
        const ss_touch *t = ss_stepper_touches(stepper, &count);
        if (p == NULL || !(r[0] > 0.0)) {
            continue;
        }
        found++;
        CHECK(t->strand_b == 1 && (count == 1 || r[3] == 0.0));
        CHECK_LE(hypot(r[1], r[2]), mu * r[0] * (1.0 + 1e-9));
        Hr = calloc((size_t)p->ndofs, sizeof *Hr);
        ss_sparse_add_product(&p->H, r, Hr);
        ss_vec3 sum = {0.0, 0.0, 0.0}, moment = {0.0, 0.0, 0.0};
        for (int k = 0; k < 2; k++) {
            for (int j = 0; j < 10; j++) {
                const double *I = Hr + 39 * k + SS_DER_STRIDE * j, *at = x[k] + 3 * j;
                const ss_vec3 force = ss_vec(I[0], I[1], I[2]);
                sum = ss_plus(sum, force);
                moment = ss_plus(moment, ss_cross(ss_vec(at[0], at[1], at[2]), force));
            }
        }
        const double *a = x[0] + 3 * t->segment_a;
        const ss_vec3 point = ss_along(ss_scaled(1.0 - t->a, ss_vec(a[0], a[1], a[2])), t->a,
                                       ss_vec(a[3], a[4], a[5]));
        const ss_vec3 arm = ss_minus(point, t->y);
        const ss_vec3 impulse = ss_turned(ss_stepper_frames(stepper), ss_vec(r[0], r[1], r[2]));
        const double size = ss_length(impulse);
        CHECK_LE(ss_length(sum), 1e-12 * size);
        CHECK_LE(ss_length(ss_minus(moment, ss_cross(arm, impulse))), 1e-12 * 0.1 * size);
        // n is that of the time of contact for pairs that only the sweep finds.
        if (t->gap < 0.2 * world->radius) {
            largest = fmax(largest, ss_length(moment) / (ss_length(arm) * size));
        }
        free(Hr);
    }
    CHECK(found > 0);
    return largest;
}

// The impulses of a contact act at centre lines, 2 r_coll from each other: friction turns the pair by arm x r_T.
static void impulses_have_no_sum_and_the_moment_of_the_arm_between_axes(void)
{
    const double mu = 0.4;
    CHECK_LE(check_moments(0.0), 1e-9);
    const double sliding = check_moments(mu);
    CHECK(sliding > 0.1 * mu && sliding <= mu / sqrt(1.0 + mu * mu) * (1.0 + 1e-9));
}

// ---- What iterates do

static void the_measures_of_one_contact_fall(void)
{
    double change[12], impulse[12];
    for (int k = 0; k < 12; k++) {
        char spec[80];
        again();
        rod("der", ss_vec(0.0, 0.0, -0.043), ss_vec(0.0, 0.0, 0.0), SS_CLAMP_BOTH);
        rod("der", ss_vec(0.061, 1.02e-3, 0.0), ss_vec(0.0, 0.5 * M_PI, 0.0), SS_CLAMP_ROOT);
        begin_scheme("thesis:law=repaired");
        steps(20);
        CHECK(report.contacts == 1 && report.active == 1);
        snprintf(spec, sizeof spec, "thesis:law=repaired,tol=0,iterations=%d", k + 3);
        begin_scheme(spec);
        step();
        change[k] = report.change;
        impulse[k] = report.impulse_change;
    }
    for (int k = 1; k < 12; k++) {
        CHECK(change[k] < change[k - 1]);
        CHECK(impulse[k] < impulse[k - 1]);
    }
}

static void obstacles_are_touched_at_vertices(void)
{
    const ss_obstacle floor = {.kind = SS_OBSTACLE_PLANE,
                               .pose =
                                   pose_at(ss_vec(0.0, -1e-3, 0.0), ss_vec(-0.5 * M_PI, 0.0, 0.0)),
                               .mu = 0.5};
    CHECK_OK(ss_world_add_obstacle(world, &floor, &error));
    rod("der", ss_vec(0.0, 0.0, 0.0), ss_vec(0.0, 0.0, 0.0), SS_CLAMP_NONE);
    begin_scheme("thesis:law=repaired,tol=1e-12,iterations=1000");
    steps(40);
    int count;
    const ss_touch *touches = ss_stepper_touches(stepper, &count);
    TEST_ASSERT_EQUAL_INT(10, count);
    double weight = 0.0;
    const double *r, *v;
    ss_stepper_problem(stepper, &r, &v);
    for (int i = 0; i < count; i++) {
        CHECK(touches[i].a == (i == 9 ? 1.0 : 0.0));
        CHECK(touches[i].segment_a == (i == 9 ? 8 : i));
        weight += r[3 * i];
    }
    // It lies there: the floor gives back what gravity takes.
    const double load = ss_length(world->gravity) * options.dt *
                        ss_material_rigidity(&world->strands[0].material).line_density * 0.1;
    CHECK_NEAR(weight, load, 1e-6 * load);
    CHECK_LE(report.max_speed, 1e-6);
}

// The tip falls at 20 m/s on a rod, and moves 20 times its thickness in a step.
static void a_fast_rod_does_not_pass_through(void)
{
    rod("der", ss_vec(0.0, 0.0, -0.043), ss_vec(0.0, 0.0, 0.0), SS_CLAMP_BOTH);
    const int other =
        rod("der", ss_vec(0.061, 8e-3, 0.0), ss_vec(0.0, 0.5 * M_PI, 0.0), SS_CLAMP_NONE);
    throw(other, ss_vec(0.0, -20.0, 0.0));
    begin_scheme("thesis:law=repaired,iterations=2000");
    step();
    CHECK(report.active > 0);
    const ss_touch *t;
    int count;
    t = ss_stepper_touches(stepper, &count);
    CHECK(count > 0 && t[0].strand_b >= 0);
    const double *below = world->now.q + world->strands[0].q + SS_DER_STRIDE * 5;
    const double *above = world->now.q + world->strands[1].q + SS_DER_STRIDE * 4;
    CHECK(above[1] > below[1]);
}

// ---- Side by side

// v after `count` steps; *active counts contacts, *kind is the last kind of K that a strand took.
static double *mixed_run(bool alone, double stretch, double speed, const char *spec, int count,
                         int *active, ss_stiffness *kind)
{
    again();
    mixed_strands(alone, stretch);
    stir(world, speed);
    begin_scheme(spec);
    *active = 0;
    *kind = SS_STIFFNESS_EXACT;
    for (int i = 0; i < count; i++) {
        const double *r, *v;
        step();
        *active += report.active;
        *kind = report.stiffness > *kind ? report.stiffness : *kind;
        const ss_problem *p = ss_stepper_problem(stepper, &r, &v);
        if (p != NULL) {
            CHECK_LE(replay_error(p, r, v), 1e-14);
        }
    }
    double *end = malloc((size_t)world->nv * sizeof *end);
    memcpy(end, world->now.v, (size_t)world->nv * sizeof *end);
    return end;
}

static void compare_runs(double stretch, double speed, const char *spec, int count, double near,
                         ss_stiffness least)
{
    int active[2];
    ss_stiffness kind[2];
    double *together = mixed_run(false, stretch, speed, spec, count, &active[0], &kind[0]);
    double *alone = mixed_run(true, stretch, speed, spec, count, &active[1], &kind[1]);
    CHECK(active[0] == active[1] && active[0] > 10);
    CHECK(kind[0] == kind[1] && kind[0] >= least);
    const double size = largest_of(alone, world->nv);
    for (int j = 0; j < world->nv; j++) {
        CHECK_NEAR(together[j], alone[j], near * size);
    }
    free(together);
    free(alone);
}

static void strands_side_by_side_go_where_each_goes_alone(void)
{
    compare_runs(0.01, 0.1, "thesis:law=repaired,iterations=100", 10, 1e-9, SS_STIFFNESS_EXACT);
}

// Edges that are pressed together by half in a short step: M of iterates has no factor, and those strands
// leave their group.
static void a_strand_without_a_factor_leaves_its_group(void)
{
    dt = 1e-4;
    compare_runs(0.01, 200.0, "thesis:law=printed,iterations=4", 1, 1e-7, SS_STIFFNESS_FILTERED);
}

static void run_tests(void)
{
    RUN_TEST(a_free_pair_keeps_its_momentum);
    RUN_TEST(impulses_have_no_sum_and_the_moment_of_the_arm_between_axes);
    RUN_TEST(the_measures_of_one_contact_fall);
    RUN_TEST(obstacles_are_touched_at_vertices);
    RUN_TEST(a_fast_rod_does_not_pass_through);
    RUN_TEST(strands_side_by_side_go_where_each_goes_alone);
    RUN_TEST(a_strand_without_a_factor_leaves_its_group);
}

const test_group thesis_motion_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
