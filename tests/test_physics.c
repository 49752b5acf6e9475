// Physics that cannot be faked: what whole scenes do, against answers known by hand.
#include <stdlib.h>
#include <string.h>

#include "problems/strands/scenes/capstan.h"
#include "problems/strands/scenes/incline.h"
#include "tests/brute_contacts.h"
#include "tests/scene_run.h"
#include "tests/support.h"

#define GRAVITY 9.81 // m/s^2

void setUp(void)
{
}

void tearDown(void)
{
}

// A world that is built by `fill` instead of a scene of the list, ready to run.
typedef struct built {
    ss_model_choice model;
    scene_run *run;
} built;

static built open_built(const char *spec, const char *solver, double tolerance)
{
    ss_error error;
    built b = {.run = calloc(1, sizeof *b.run)};
    CHECK(b.run != NULL);
    CHECK_OK(ss_model_parse(spec, &b.run->scene.model, &error));
    CHECK_OK(ss_method_parse(solver, &b.run->method, &error));
    b.run->scene.world = ss_world_new();
    b.run->scene.options = ss_step_defaults();
    b.run->tolerance = tolerance;
    b.run->max_iterations = 2000;
    return b;
}

// ---- The inclined plane

static scene_run *incline(double slope, double mu)
{
    ss_error error;
    scene_run *run = open_built("super-helix:root=free,elements=1", "gs/mfb+enum", 1e-10).run;
    CHECK_OK(ss_incline_build(slope, mu, &run->scene.model, run->scene.world, &run->scene.options,
                              &error));
    start_run(run);
    return run;
}

// The speed of the root, whose velocity comes first, down the plane.
static double speed_down(const scene_run *run, double slope)
{
    const ss_strand *s = &run->scene.world->strands[0];
    const double *v = run->scene.world->now.v;
    const ss_vec3 velocity = ss_turned(&s->root.turn, ss_vec(v[0], v[1], v[2]));
    return ss_dot(velocity, ss_incline_down(slope));
}

static double speed_after(double slope, double mu, int steps)
{
    scene_run *run = incline(slope, mu);
    steps_of_run(run, steps);
    const double speed = speed_down(run, slope);
    close_run(run);
    return speed;
}

static void a_rod_on_a_slope_sticks_from_tan_theta_on(void)
{
    const double slope = M_PI / 6.0;
    double slides = 0.4, sticks = 0.8;
    while (sticks - slides > 2e-5) {
        const double mu = 0.5 * (slides + sticks);
        // What friction leaves of gravity after 20 steps of 2 ms, for mu 1e-5 below the limit.
        const bool moves = speed_after(slope, mu, 20) > 0.04 * GRAVITY * 1e-5 * cos(slope);
        slides = moves ? mu : slides;
        sticks = moves ? sticks : mu;
    }
    CHECK_NEAR(0.5 * (slides + sticks), tan(slope), 1e-4);
}

static void a_sliding_rod_falls_with_what_friction_leaves(void)
{
    const double slopes[] = {0.3, M_PI / 6.0, 1.0}, mus[] = {0.0, 0.2, 0.5};
    for (int k = 0; k < 3; k++) {
        const double expected =
            0.04 * GRAVITY * (sin(slopes[k]) - mus[k] * cos(slopes[k]));
        CHECK_NEAR(speed_after(slopes[k], mus[k], 20), expected, 1e-6 * GRAVITY);
    }
}

// ---- The capstan

#define PULL 0.001 // N

// How far the tip has moved along the larger pull after 20 ms.
static double capstan_speed(double wrap, double mu, double ratio)
{
    ss_error error;
    scene_run *run = open_built("super-helix:root=free,elements=24", "gs/mfb+enum", 1e-6).run;
    run->scene.options.dt = 1e-3;
    CHECK_OK(ss_capstan_build(wrap, mu, PULL, ratio * PULL, &run->scene.model, run->scene.world,
                              &run->scene.options, &error));
    start_run(run);
    steps_of_run(run, 20);
    const double speed = run->last.max_speed;
    close_run(run);
    return speed;
}

// A strand that slips under an excess pull of 1 % gains far more than this in 20 ms, and one that
// holds has come to rest.
#define HOLDS 0.05 // m/s

static double capstan_threshold(double wrap, double mu)
{
    const double expected = exp(mu * wrap);
    double holds = 0.9 * expected, slips = 1.1 * expected;
    CHECK(capstan_speed(wrap, mu, holds) < HOLDS && capstan_speed(wrap, mu, slips) > HOLDS);
    while (slips - holds > 0.004 * expected) {
        const double ratio = 0.5 * (holds + slips);
        const bool moves = capstan_speed(wrap, mu, ratio) > HOLDS;
        slips = moves ? ratio : slips;
        holds = moves ? holds : ratio;
    }
    return 0.5 * (holds + slips);
}

static void a_capstan_holds_up_to_the_exponential_of_friction_and_angle(void)
{
    CHECK_NEAR(capstan_threshold(M_PI, 0.3) / exp(0.3 * M_PI), 1.0, 0.02);
    CHECK_NEAR(capstan_threshold(M_PI / 2.0, 0.5) / exp(0.25 * M_PI), 1.0, 0.02);
}

// ---- Hair

#define FEW 60 // strands

static scene_run *hair(const char *scene, const char *solver, double tolerance)
{
    const scene_choice choice = {.scene = scene, .rods = FEW, .mu = NAN, .seed = 1};
    return open_run(&choice, solver, tolerance);
}

// Contacts take energy out, but for what the solver leaves open and for pushing penetrations out,
// which the option `positive` does not do.
static void contacts_never_give_energy(void)
{
    const char *const scenes[] = {"pony", "free-a", "curly"};
    for (int k = 0; k < 3; k++) {
        scene_run *run = hair(scenes[k], "gs/mfb+enum", 1e-6);
        run->scene.options.gap = SS_GAP_POSITIVE;
        start_run(run);
        for (int j = 0; j < 25; j++) {
            const ss_step_report *r = step_run(run);
            CHECK_LE(r->dissipation, 1e-4 * r->energy.kinetic);
        }
        close_run(run);
    }
}

static void contacts_of_frames_are_those_of_all_pairs(void)
{
    scene_run *run = hair("free-a", "gs/mfb+enum", 1e-4);
    start_run(run);
    ss_error error;
    ss_collider *collider = ss_collider_new();
    const ss_world *w = run->scene.world;
    ss_pose poses[8];
    CHECK(collider != NULL && w->nobstacles <= 8);
    for (int j = 0; j < 3; j++) {
        steps_of_run(run, 10);
        for (int o = 0; o < w->nobstacles; o++) {
            ss_motion_state at;
            ss_motion_at(&w->bodies[w->obstacles[o].body], w->now.time, &at);
            poses[o] = ss_pose_product(&at.pose, &w->obstacles[o].pose);
        }
        scene_lines l = lines_of(w, &w->now);
        const ss_touch *touches;
        ss_touch *brute;
        int count;
        CHECK_OK(ss_collide(collider, &l.lines, w->obstacles, poses, w->nobstacles,
                            run->scene.options.margin, &touches, &count, &error));
        const int expected = brute_contacts(&l.lines, w->obstacles, poses, w->nobstacles,
                                            run->scene.options.margin, &brute);
        CHECK(count > 0 && same_contacts(touches, count, brute, expected));
        free(brute);
        free_lines(&l);
    }
    ss_collider_free(collider);
    close_run(run);
}

// ---- Turning the world

static ss_pose turned_pose(const ss_mat3 *R, ss_pose p)
{
    return (ss_pose){ss_mat3_product(R, &p.turn), ss_turned(R, p.place)};
}

static void turn_world(ss_world *w, const ss_mat3 *R)
{
    w->gravity = ss_turned(R, w->gravity);
    for (int k = 0; k < w->nbodies; k++) {
        w->bodies[k].axis = ss_turned(R, w->bodies[k].axis);
        w->bodies[k].centre = ss_turned(R, w->bodies[k].centre);
        w->bodies[k].direction = ss_turned(R, w->bodies[k].direction);
    }
    for (int k = 0; k < w->nobstacles; k++) {
        w->obstacles[k].pose = turned_pose(R, w->obstacles[k].pose);
    }
    for (int k = 0; k < w->nstrands; k++) {
        w->strands[k].root = turned_pose(R, w->strands[k].root);
    }
}

// The largest difference of the tips, in m, between a scene and the same scene in a turned world,
// turned back.
static double turning_changes(const char *scene, const char *solver, double tolerance, int steps)
{
    const ss_mat3 R = ss_rotation(ss_vec(0.7, -0.4, 1.1));
    const scene_choice choice = {.scene = scene, .rods = 0, .mu = NAN, .seed = 1};
    scene_run *plain = open_run(&choice, solver, tolerance);
    scene_run *turned = open_run(&choice, solver, tolerance);
    turn_world(turned->scene.world, &R);
    start_run(plain);
    start_run(turned);
    steps_of_run(plain, steps);
    steps_of_run(turned, steps);
    scene_lines a = lines_of(plain->scene.world, &plain->scene.world->now);
    scene_lines b = lines_of(turned->scene.world, &turned->scene.world->now);
    double worst = 0.0;
    for (int p = 0; p < plain->scene.world->npoints; p++) {
        const double here = ss_length(ss_minus(ss_turned_back(&R, b.x[p]), a.x[p]));
        worst = here <= worst ? worst : here;
    }
    free_lines(&a);
    free_lines(&b);
    close_run(plain);
    close_run(turned);
    return worst;
}

static void turning_the_world_changes_nothing_for_an_exact_law(void)
{
    CHECK_LE(turning_changes("orbit", "gs/mfb+enum", 1e-10, 150), 1e-8);
    CHECK_LE(turning_changes("incline", "gs/enum", 1e-10, 50), 1e-8);
}

static void turning_the_world_changes_what_four_sides_give(void)
{
    CHECK_LE(1e-5, turning_changes("orbit", "gs/4sides", 1e-10, 150));
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(a_rod_on_a_slope_sticks_from_tan_theta_on);
    RUN_TEST(a_sliding_rod_falls_with_what_friction_leaves);
    RUN_TEST(a_capstan_holds_up_to_the_exponential_of_friction_and_angle);
    RUN_TEST(contacts_never_give_energy);
    RUN_TEST(contacts_of_frames_are_those_of_all_pairs);
    RUN_TEST(turning_the_world_changes_nothing_for_an_exact_law);
    RUN_TEST(turning_the_world_changes_what_four_sides_give);
    return UNITY_END();
}
