// tests/strands/test_wind.c -- air that moves: what blows where, and what strands feel of it.
#include <stdlib.h>
#include <string.h>

#include "strands/system.h"
#include "tests/support/random_tree.h"
#include "tests/support/strand_run.h"
#include "tests/support/support.h"

static ss_random g;
static ss_error error;

static void set_up(void)
{
    g = ss_random_seeded(37);
    error = (ss_error){0};
}

static const double STRAIGHT[1][3] = {{0.0, 0.0, 0.0}};
static const ss_vec3 NO_WEIGHT = {0.0, 0.0, 0.0};

// A strand along +x from the origin, in air with a drag of 3e-5.
static run in_air(const char *model, int n)
{
    const ss_strand_design design = {.length = 0.2,
                                     .material = ss_material_hair(),
                                     .npieces = 1,
                                     .style = STRAIGHT,
                                     .nsegments = n};
    const ss_pose root = ss_pose_identity();
    run r = new_run(model, "linear", &design, &root, NO_WEIGHT, 2e-3);
    r.w->drag = 3e-5;
    return r;
}

static void add_wind(run *r, ss_wind wind)
{
    CHECK_OK(ss_world_add_wind(r->w, &wind, &error));
}

static ss_wind steady(ss_vec3 velocity)
{
    ss_wind wind = ss_wind_still(SS_WIND_STEADY);
    wind.velocity = velocity;
    return wind;
}

// (v_{n+1} - v_n)/h = k (u - v_{n+1}), k = drag/line density.
static void a_free_strand_takes_the_speed_of_the_wind(void)
{
    run r = in_air("oriented-strands:root=free", 4);
    const ss_vec3 u = ss_vec(0.5, 1.0, -2.0);
    add_wind(&r, steady(u));
    const double k = ss_strand_drag_rate(r.w, 0);
    double left = 1.0;
    for (int i = 0; i < 50; i++) {
        CHECK_OK(ss_stepper_step(r.s, &r.report, &error));
        left /= 1.0 + k * r.report.dt;
    }
    CHECK(left < 0.9);
    // Along the axes of the first link's frame: n2, n0, n1 of the root.
    CHECK_NEAR(u.z * (1.0 - left), r.w->now.v[0], 1e-12);
    CHECK_NEAR(u.x * (1.0 - left), r.w->now.v[1], 1e-12);
    CHECK_NEAR(u.y * (1.0 - left), r.w->now.v[2], 1e-12);
    free_run(&r);
}

static void a_hanging_strand_leans_with_the_wind(void)
{
    const char *const models[] = {"super-helix", "der", "lifted-curls",
                                  "corde",       "tmf", "oriented-strands"};
    for (int k = 0; k < 6; k++) {
        run r = in_air(models[k], 10);
        r.w->gravity = ss_vec(9.81, 0.0, 0.0); // along the strand
        add_wind(&r, steady(ss_vec(0.0, 0.5, 0.0)));
        go_to(&r, 0.05);
        CHECK(tip_of(&r).y > 1e-5 && fabs(tip_of(&r).z) < 1e-9);
        free_run(&r);
    }
}

static void weights_are_by_direction_and_along_the_strand(void)
{
    run r = in_air("oriented-strands", 4);
    ss_wind wind = steady(ss_vec(3.0, 2.0, 0.0));
    wind.along = 0.25;
    wind.across = 2.0;
    wind.root = 0.5;
    wind.tip = 1.5;
    add_wind(&r, wind);
    const ss_vec3 t = ss_vec(1.0, 0.0, 0.0);
    for (int i = 0; i < r.w->nsamples; i++) {
        const double share = 0.125 + 0.25 * (i / 2) + (i % 2 ? 1.0 : -1.0) * 0.125 / sqrt(3.0);
        const ss_vec3 felt = ss_wind_felt(r.w, 1.0, i, ss_vec(0.1, 0.0, 0.0), t);
        CHECK_NEAR((0.5 + share) * 0.25 * 3.0, felt.x, 1e-12);
        CHECK_NEAR((0.5 + share) * 2.0 * 2.0, felt.y, 1e-12);
    }
    free_run(&r);
}

static ss_vec3 blown(const run *r, double time, ss_vec3 x)
{
    return ss_wind_felt(r->w, time, 0, x, ss_vec(1.0, 0.0, 0.0));
}

static void a_wind_comes_up_and_has_gusts(void)
{
    run r = in_air("oriented-strands", 2);
    ss_wind wind = steady(ss_vec(0.0, 2.0, 0.0));
    wind.start = 1.0;
    wind.rise = 0.5;
    wind.gust = 0.25;
    wind.period = 4.0;
    add_wind(&r, wind);
    CHECK(blown(&r, 0.9, NO_WEIGHT).y == 0.0);
    CHECK_NEAR(1.0 * (1.0 + 0.25 * sin(0.125 * M_PI)), blown(&r, 1.25, NO_WEIGHT).y, 1e-12);
    CHECK_NEAR(2.5, blown(&r, 2.0, NO_WEIGHT).y, 1e-12);
    free_run(&r);
}

static ss_wind turbulent(void)
{
    ss_wind wind = ss_wind_still(SS_WIND_TURBULENCE);
    wind.velocity = ss_vec(1.0, 1.0, 1.0);
    wind.drift = ss_vec(0.3, -0.2, 0.1);
    wind.size = 0.5;
    wind.seed = 5;
    return wind;
}

// Over places and times far apart the mean square is that of the three axes together.
static void turbulence_has_its_rms_and_no_sources(void)
{
    run r = in_air("oriented-strands", 2);
    add_wind(&r, turbulent());
    const double h = 1e-4;
    double square = 0.0;
    for (int i = 0; i < 4000; i++) {
        const ss_vec3 x = random_vector(&g, 50.0);
        const double t = ss_random_between(&g, 0.0, 100.0);
        const ss_vec3 u = blown(&r, t, x);
        square += ss_dot(u, u) / 4000.0;
        double sources = 0.0;
        for (int k = 0; k < 3 && i < 20; k++) {
            const ss_vec3 e = ss_vec(k == 0, k == 1, k == 2);
            const ss_vec3 d =
                ss_minus(blown(&r, t, ss_along(x, h, e)), blown(&r, t, ss_along(x, -h, e)));
            sources += ss_dot(d, e) / (2.0 * h);
        }
        CHECK_LE(fabs(sources), 1e-3);
    }
    CHECK_NEAR(3.0, square, 0.2);
    free_run(&r);
}

// The body passes x = 0 at its largest speed.
static void a_wake_follows_its_body(void)
{
    run r = in_air("oriented-strands", 2);
    ss_motion motion = ss_motion_still();
    int body;
    motion.shift = (ss_profile){.kind = SS_PROFILE_STEADY, .size = 2.0, .period = 1.0};
    CHECK_OK(ss_world_add_body(r.w, &motion, &body, &error));
    ss_wind wind = ss_wind_still(SS_WIND_WAKE);
    wind.body = body;
    wind.size = 0.1;
    wind.length = 0.4;
    wind.strength = 0.5;
    add_wind(&r, wind);
    const double x = 2.0 * (3.0 - 0.5); // after 3 s
    CHECK_NEAR(1.0, blown(&r, 3.0, ss_vec(x, 0.0, 0.0)).x, 1e-12);
    CHECK_NEAR(0.5, blown(&r, 3.0, ss_vec(x - 0.4, 0.0, 0.0)).x, 1e-12);
    CHECK_NEAR(exp(-0.5), blown(&r, 3.0, ss_vec(x + 0.1, 0.0, 0.0)).x, 1e-12);
    CHECK_NEAR(exp(-0.5), blown(&r, 3.0, ss_vec(x, 0.06, -0.08)).x, 1e-12);
    CHECK(ss_length(blown(&r, -1.0, ss_vec(x, 0.0, 0.0))) == 0.0);
    free_run(&r);
}

// Wind in the residual of links, sample by sample and link by link.
static void links_feel_in_linear_time_what_their_samples_feel(void)
{
    run r = in_air("oriented-strands", 6);
    const ss_strand *s = &r.w->strands[0];
    const int nv = s->size.nv;
    ss_wind wind = turbulent();
    wind.along = 0.3;
    wind.tip = 2.0;
    double sums[18], rs[18], still[18];
    for (int k = 0; k < nv; k++) {
        r.w->now.v[k] = ss_random_normal(&g);
        still[k] = 0.0;
    }
    s->model->advance(s->self, r.w->now.q, r.w->now.v, 0.1, r.w->now.q);
    add_wind(&r, wind);
    ss_placed at;
    CHECK(ss_placed_init(&at, &s->size));
    ss_strand_place(r.w, 0, &r.w->now, &at);
    ss_system_scratch *scratch = ss_system_scratch_new(r.w);
    ss_strand_forces(r.w, 0, &r.w->now, &at, scratch, sums);
    const ss_surroundings around = ss_strand_surroundings(r.w, 0, r.w->now.time);
    s->model->residual(s->self, &around, r.w->now.q, r.w->now.v, still, rs);
    for (int k = 0; k < nv; k++) {
        CHECK_NEAR(-sums[k], rs[k], 1e-12 * largest_of(sums, nv));
    }
    ss_system_scratch_free(scratch);
    ss_placed_free(&at);
    free_run(&r);
}

static void check_refused(const run *r, ss_wind wind, const char *words)
{
    CHECK(ss_world_add_wind(r->w, &wind, &error) == SS_BAD_INPUT);
    TEST_ASSERT_NOT_NULL(strstr(error.text, words));
}

static void winds_that_cannot_be_are_refused(void)
{
    run r = in_air("oriented-strands", 2);
    check_refused(&r, steady(ss_vec(NAN, 0.0, 0.0)), "no finite number");
    ss_wind wind = ss_wind_still(SS_WIND_WAKE);
    wind.body = 7;
    check_refused(&r, wind, "body 7, which does not exist");
    wind = turbulent();
    wind.size = 0.0;
    check_refused(&r, wind, "the size 0 m");
    wind = steady(NO_WEIGHT);
    wind.rise = -1.0;
    check_refused(&r, wind, "rise below 0");
    wind = steady(NO_WEIGHT);
    double *const weights[] = {&wind.along, &wind.across, &wind.root, &wind.tip, &wind.strength};
    for (int k = 0; k < 5; k++) {
        *weights[k] = -0.5;
        check_refused(&r, wind, "all are 0 or more");
        *weights[k] = 0.0;
    }
    check_refused(&r, ss_wind_still(SS_WIND_WAKE), "wake of the world, which never moves");
    CHECK(r.w->nwinds == 0);
    free_run(&r);
}

static void a_wind_in_a_world_without_drag_is_refused(void)
{
    run r = in_air("oriented-strands", 2);
    r.w->drag = 0.0;
    check_refused(&r, steady(ss_vec(1.0, 0.0, 0.0)), "wind 0 pushes nothing");
    CHECK(r.w->nwinds == 0);
    free_run(&r);
}

static void run_tests(void)
{
    RUN_TEST(a_free_strand_takes_the_speed_of_the_wind);
    RUN_TEST(a_hanging_strand_leans_with_the_wind);
    RUN_TEST(weights_are_by_direction_and_along_the_strand);
    RUN_TEST(a_wind_comes_up_and_has_gusts);
    RUN_TEST(turbulence_has_its_rms_and_no_sources);
    RUN_TEST(a_wake_follows_its_body);
    RUN_TEST(links_feel_in_linear_time_what_their_samples_feel);
    RUN_TEST(winds_that_cannot_be_are_refused);
    RUN_TEST(a_wind_in_a_world_without_drag_is_refused);
}

const test_group wind_tests = {.run = run_tests, .set_up = set_up};
