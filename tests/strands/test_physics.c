// Physics that cannot be faked: what whole scenes do, against answers known by hand.
#include <stdlib.h>
#include <string.h>

#include "strands/scenes/scene.h"
#include "tests/support/brute_contacts.h"
#include "tests/support/scene_run.h"
#include "tests/support/support.h"

#define GRAVITY 9.81 // m/s^2

// ---- The inclined plane

static scene_run *incline(double slope, double mu)
{
    ss_error error;
    scene_run *run = open_empty_run("super-helix:root=free,elements=1", "gs/mfb+enum", 1e-10);
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
        const double expected = 0.04 * GRAVITY * (sin(slopes[k]) - mus[k] * cos(slopes[k]));
        CHECK_NEAR(speed_after(slopes[k], mus[k], 20), expected, 1e-6 * GRAVITY);
    }
}

// ---- The capstan

#define PULL       1e-4 // N
#define REST_STEPS 60

// The speed of the strand along itself after 60 ms, by its root, whose velocity comes first.
static double capstan_speed(double wrap, double mu, double ratio)
{
    ss_error error;
    scene_run *run = open_empty_run("super-helix:root=free,elements=24", "gs/mfb+enum", 1e-5);
    run->scene.options.dt = 1e-3;
    CHECK_OK(ss_capstan_build(wrap, mu, PULL, ratio * PULL, &run->scene.model, run->scene.world,
                              &run->scene.options, &error));
    start_run(run);
    steps_of_run(run, REST_STEPS);
    const double speed = run->scene.world->now.v[0];
    close_run(run);
    return speed;
}

// Drag lets a strand creep with 1 mm/s a percent of pull in excess.
#define CREEP 4e-4 // m/s

static void check_capstan(double wrap, double mu)
{
    const double limit = exp(mu * wrap);
    CHECK_LE(capstan_speed(wrap, mu, 0.98 * limit), CREEP);
    CHECK_LE(CREEP, capstan_speed(wrap, mu, 1.02 * limit));
}

static void a_capstan_holds_up_to_the_exponential_of_friction_and_angle(void)
{
    check_capstan(M_PI, 0.3);
    check_capstan(M_PI / 2.0, 0.5);
}

// ---- Hair

static scene_run *hair(const char *scene, int rods, const char *solver, double tolerance)
{
    const scene_choice choice = {.scene = scene, .rods = rods, .mu = NAN, .seed = 1};
    return open_run(&choice, solver, tolerance);
}

// Contacts take energy out, except for what the solver leaves open and for pushing penetrations out,
// which the option `positive` does not do.
static void contacts_never_give_energy(void)
{
    static const char *const SCENES[] = {"pony", "free-a", "curly"};
    static const int RODS[] = {19, 60, 60};
    for (int k = 0; k < 3; k++) {
        scene_run *run = hair(SCENES[k], RODS[k], "gs/mfb+enum", 1e-5);
        run->scene.options.gap = SS_GAP_POSITIVE;
        start_run(run);
        int met = 0;
        for (int j = 0; j < 15; j++) {
            const ss_step_report *r = step_run(run);
            CHECK_LE(r->dissipation, 1e-4 * r->energy.kinetic);
            met += r->active;
        }
        CHECK(met > 0);
        close_run(run);
    }
}

static void contacts_of_frames_are_those_of_all_pairs(void)
{
    scene_run *run = hair("free-a", 60, "gs/mfb+enum", 1e-4);
    start_run(run);
    ss_error error;
    ss_collider *collider = ss_collider_new(NULL);
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

// ---- The orbit of Figure 7

#define PERIOD      500  // steps of 2 ms
#define TRANSIENT   1000 // steps
#define COORDINATES 6

// Place and velocity of the free end through one period.
typedef struct orbit {
    double at[PERIOD][COORDINATES];
} orbit;

static void free_end(const ss_world *w, double at[COORDINATES])
{
    ss_placed placed;
    CHECK(ss_placed_init(&placed, &w->strands[0].size));
    ss_strand_place(w, 0, &w->now, &placed);
    const ss_strand_point *p = &placed.points[w->strands[0].size.npoints - 1];
    const double x[3] = {p->x.x, p->x.y, p->x.z};
    for (int c = 0; c < 3; c++) {
        at[c] = x[c];
        at[3 + c] = 0.0;
        for (int k = 0; k < p->count; k++) {
            at[3 + c] += p->J[c * p->count + k] * w->now.v[p->first + k];
        }
    }
    ss_placed_free(&placed);
}

static void run_orbit(const char *solver, orbit *o)
{
    const scene_choice choice = {.scene = "orbit", .mu = NAN, .seed = 1};
    scene_run *run = open_run(&choice, solver, 1e-8);
    run->solver.max_iterations = 100;
    start_run(run);
    steps_of_run(run, TRANSIENT);
    for (int k = 0; k < PERIOD; k++) {
        step_run(run);
        free_end(run->scene.world, o->at[k]);
    }
    close_run(run);
}

// The sizes of an orbit: in space and in velocity.
static void orbit_sizes(const orbit *o, double size[2])
{
    size[0] = size[1] = 0.0;
    for (int c = 0; c < COORDINATES; c++) {
        double low = INFINITY, high = -INFINITY;
        for (int k = 0; k < PERIOD; k++) {
            low = fmin(low, o->at[k][c]);
            high = fmax(high, o->at[k][c]);
        }
        size[c / 3] = fmax(size[c / 3], high - low);
    }
}

// The farthest that a point of a is from b, as a share of the sizes.
static double farthest(const orbit *a, const orbit *b, const double size[2])
{
    double worst = 0.0;
    for (int j = 0; j < PERIOD; j++) {
        double nearest = INFINITY;
        for (int k = 0; k < PERIOD; k++) {
            double square = 0.0;
            for (int c = 0; c < COORDINATES; c++) {
                const double d = (a->at[j][c] - b->at[k][c]) / size[c / 3];
                square += d * d;
            }
            nearest = square < nearest ? square : nearest;
        }
        worst = nearest <= worst ? worst : nearest;
    }
    return sqrt(worst);
}

static double hausdorff(const orbit *a, const orbit *b, const double size[2])
{
    return fmax(farthest(a, b, size), farthest(b, a, size));
}

static void exact_solvers_share_one_orbit_and_other_laws_leave_it(void)
{
    static const char *const EXACT[] = {"gs/mfb", "gs/dac", "gs/duriez08", "newton-mfb",
                                        "newton-dac"};
    static const char *const OTHER[] = {"gs/4sides", "gs/duriez06"};
    static orbit reference, other;
    double size[2];
    run_orbit("gs/enum", &reference);
    orbit_sizes(&reference, size);
    for (size_t k = 0; k < sizeof EXACT / sizeof *EXACT; k++) {
        run_orbit(EXACT[k], &other);
        CHECK_LE(hausdorff(&reference, &other, size), 0.01);
    }
    for (size_t k = 0; k < sizeof OTHER / sizeof *OTHER; k++) {
        run_orbit(OTHER[k], &other);
        CHECK_LE(0.01, hausdorff(&reference, &other, size));
    }
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

static void run_tests(void)
{
    RUN_TEST(a_rod_on_a_slope_sticks_from_tan_theta_on);
    RUN_TEST(a_sliding_rod_falls_with_what_friction_leaves);
    RUN_TEST(a_capstan_holds_up_to_the_exponential_of_friction_and_angle);
    RUN_TEST(contacts_never_give_energy);
    RUN_TEST(contacts_of_frames_are_those_of_all_pairs);
    RUN_TEST(exact_solvers_share_one_orbit_and_other_laws_leave_it);
    RUN_TEST(turning_the_world_changes_nothing_for_an_exact_law);
    RUN_TEST(turning_the_world_changes_what_four_sides_give);
}

const test_group physics_tests = {.run = run_tests};
