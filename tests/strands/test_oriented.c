// tests/strands/test_oriented.c -- the dynamics of trees of links: residual, composite bodies and articulated
// bodies against each other, energies and motions.
#include <stdlib.h>
#include <string.h>

#include "strands/models/oriented.h"
#include "tests/support/random_tree.h"
#include "tests/support/articulated.h"
#include "tests/support/support.h"

#define TRIALS 20
#define N      RANDOM_TREE_LINKS
#define MOST   (3 + 3 * N)

static ss_random g;
static ss_error error;

static void set_up(void)
{
    g = ss_random_seeded(23);
    error = (ss_error){0};
}

typedef void property(const random_tree *t);

static void on_random_trees(property *holds)
{
    for (int trial = 0; trial < TRIALS; trial++) {
        random_tree t = new_random_tree(&g, trial % 2 == 1);
        holds(&t);
        ss_oriented_free(t.tree);
    }
}

static void find_residual(const random_tree *t, const double *wdot, double *rs)
{
    ss_oriented_residual(t->tree, &t->base, t->q, t->w, wdot, t->load, rs);
}

// ---- Residual, composite bodies, articulated bodies

static void articulated_leave_no_residual(const random_tree *t)
{
    const int nv = ss_oriented_nv(t->tree);
    double wdot[MOST], rs[MOST], rest[MOST];
    articulated_motion(t->tree, &t->base, t->q, t->w, t->load, wdot);
    find_residual(t, NULL, rest);
    find_residual(t, wdot, rs);
    CHECK_LE(largest_of(rs, nv), 1e-12 * largest_of(rest, nv));
    CHECK(largest_of(rest, nv) > 1.0);
}

static void the_residual_at_the_accelerations_of_articulated_bodies_is_zero(void)
{
    on_random_trees(articulated_leave_no_residual);
}

static void mass_is_the_slope(const random_tree *t)
{
    const int nv = ss_oriented_nv(t->tree);
    double room[MOST * MOST] = {0.0}, rest[MOST], unit[MOST] = {0.0}, rs[MOST];
    ss_band M = {nv, nv - 1, room};
    ss_oriented_mass(t->tree, t->q, true, &M);
    find_residual(t, NULL, rest);
    const double most = largest_of(room, nv * nv);
    for (int j = 0; j < nv; j++) {
        unit[j] = 1.0;
        find_residual(t, unit, rs);
        unit[j] = 0.0;
        for (int i = 0; i < nv; i++) { // both halves: the slope is symmetric
            const double entry = *ss_band_at(&M, i > j ? i : j, i > j ? j : i);
            CHECK_NEAR(rs[i] - rest[i], entry, 1e-13 * most);
        }
    }
}

static void composite_bodies_are_the_slope_of_the_residual_by_accelerations(void)
{
    on_random_trees(mass_is_the_slope);
}

// A test load on one link.
static void responses_add_up(const random_tree *t)
{
    const int nv = ss_oriented_nv(t->tree), j = ss_random_below(&g, N);
    ss_oriented_load more[N] = {0}, both[N];
    double before[MOST], after[MOST], response[MOST];
    more[j] = (ss_oriented_load){random_vector(&g, 1.0), random_vector(&g, 1.0)};
    for (int i = 0; i < N; i++) {
        both[i].force = ss_plus(t->load[i].force, more[i].force);
        both[i].moment = ss_plus(t->load[i].moment, more[i].moment);
    }
    articulated_motion(t->tree, &t->base, t->q, t->w, both, after);
    articulated_motion(t->tree, &t->base, t->q, t->w, t->load, before);
    articulated_response(t->tree, more, response);
    const double most = largest_of(after, nv);
    for (int k = 0; k < nv; k++) {
        CHECK_NEAR(before[k] + response[k], after[k], 1e-12 * most);
    }
}

static void a_test_load_adds_its_response(void)
{
    on_random_trees(responses_add_up);
}

// ---- Energies

static double kinetic(const ss_oriented *s)
{
    double sum = 0.0;
    for (int j = 0; j < s->n; j++) {
        const ss_oriented_link *l = &s->link[j];
        const ss_oriented_motion *m = &s->motion[j];
        const ss_vec3 v = ss_plus(m->velocity, ss_cross(m->spin, m->centre));
        const double about = ss_dot(m->spin, m->turn.c[1]);
        sum += 0.5 * l->mass * ss_dot(v, v) +
               0.5 * l->across * (ss_dot(m->spin, m->spin) - about * about) +
               0.5 * l->spin * about * about;
    }
    return sum;
}

static void kinetic_energy_is_that_of_the_bodies(const random_tree *t)
{
    const int nv = ss_oriented_nv(t->tree);
    const ss_oriented_base still = {.pose = t->base.pose};
    double room[MOST * MOST] = {0.0}, sum = 0.0;
    ss_band M = {nv, nv - 1, room};
    ss_oriented_mass(t->tree, t->q, true, &M);
    ss_oriented_move(t->tree, &still, t->q, t->w, NULL);
    for (int j = 0; j < nv; j++) {
        for (int i = j; i < nv; i++) {
            sum += (i == j ? 0.5 : 1.0) * *ss_band_at(&M, i, j) * t->w[i] * t->w[j];
        }
    }
    const double bodies = kinetic(t->tree);
    CHECK_NEAR(sum, bodies, 1e-14 * bodies);
}

static void the_mass_matrix_has_the_kinetic_energy_of_the_bodies(void)
{
    on_random_trees(kinetic_energy_is_that_of_the_bodies);
}

static double energy_after(const random_tree *t, const double *wdot, double h)
{
    const ss_oriented *s = t->tree;
    const ss_oriented_base still = {.pose = t->base.pose};
    double q[3 + 4 * N], w[MOST], sum = 0.0;
    advance_random_tree(t, wdot, h, q, w);
    ss_oriented_move(s, &still, q, w, NULL);
    for (int j = 0; j < N; j++) {
        const ss_joint joint =
            ss_joint_at(s->link[j].rest, ss_quat_read(q + ss_oriented_turn_at(s, j)));
        sum += ss_joint_energy(&joint, s->link[j].spring);
        sum += s->link[j].mass * // weight: the base accelerates by -g
               ss_dot(t->base.acceleration, ss_plus(s->motion[j].joint, s->motion[j].centre));
    }
    return sum + kinetic(s);
}

// With wdot anything: w . residual is the change of energy a second, and what the dampers take.
static void power_is_the_change_of_energy(const random_tree *t)
{
    const ss_oriented_base weight = {.pose = t->base.pose, .acceleration = t->base.acceleration};
    const int nv = ss_oriented_nv(t->tree);
    double wdot[MOST] = {0.0}, rs[MOST], power = 0.0, size = 0.0;
    for (int k = 0; k < nv; k++) {
        wdot[k] = ss_random_normal(&g);
    }
    ss_oriented_residual(t->tree, &weight, t->q, t->w, wdot, NULL, rs);
    for (int k = 0; k < nv; k++) {
        power += t->w[k] * rs[k];
        size += fabs(t->w[k] * rs[k]);
    }
    for (int j = 0; j < N; j++) {
        const double *w = t->w + ss_oriented_rate_at(t->tree, j);
        const ss_oriented_link *l = &t->tree->link[j];
        const ss_vec3 damped = ss_joint_damping(l->damping, w);
        power -= damped.x * w[0] + damped.y * w[1] + damped.z * w[2];
    }
    const double h = 1e-4;
    const double near = energy_after(t, wdot, h) - energy_after(t, wdot, -h);
    const double far = energy_after(t, wdot, 2.0 * h) - energy_after(t, wdot, -2.0 * h);
    CHECK_NEAR(power, (8.0 * near - far) / (12.0 * h), 1e-9 * size);
}

static void the_power_of_the_residual_is_the_change_of_energy(void)
{
    on_random_trees(power_is_the_change_of_energy);
}

// ---- One link

// Four steps of Runge and Kutta in each of `count` steps of h; the time at which w_x turns.
static double half_period(const ss_oriented *s, double h)
{
    const ss_oriented_base base = {.pose = ss_pose_identity(), .acceleration = {0.0, -9.81, 0.0}};
    double angle = 0.01, w[3] = {0.0}, time = 0.0, before;
    do { // of a motion about x: q = exp(angle x / 2), y downwards
        double k[4], a[4];
        for (int i = 0; i < 4; i++) {
            const double share = i == 0 ? 0.0 : i == 3 ? h : 0.5 * h;
            const double at = angle + (i > 0 ? share * k[i - 1] : 0.0);
            const double rate[3] = {w[0] + (i > 0 ? share * a[i - 1] : 0.0), 0.0, 0.0};
            const double q[4] = {cos(0.5 * at), sin(0.5 * at), 0.0, 0.0};
            double wdot[3];
            articulated_motion(s, &base, q, rate, NULL, wdot);
            CHECK_NEAR(wdot[1], 0.0, 1e-12);
            k[i] = rate[0];
            a[i] = wdot[0];
        }
        before = w[0];
        angle += h / 6.0 * (k[0] + 2.0 * k[1] + 2.0 * k[2] + k[3]);
        w[0] += h / 6.0 * (a[0] + 2.0 * a[1] + 2.0 * a[2] + a[3]);
        time += h;
    } while (before == 0.0 || before * w[0] > 0.0);
    return time - h * w[0] / (w[0] - before);
}

// 2 pi sqrt(2 l / (3 g)) (1 + angle^2 / 16)
static void one_link_swings_with_the_period_of_a_physical_pendulum(void)
{
    const double l = 0.3, m = 0.2, pi = 3.14159265358979323846;
    const ss_oriented_link link = {.parent = SS_ORIENTED_BASE,
                                   .length = l,
                                   .mass = m,
                                   .across = m * l * l / 12.0,
                                   .spin = 1e-6,
                                   .rest = {1.0, 0.0, 0.0, 0.0}};
    ss_oriented *s;
    CHECK_OK(ss_oriented_new(1, &link, false, &s, &error));
    const double period = 2.0 * pi * sqrt(2.0 * l / (3.0 * 9.81)) * (1.0 + 1e-4 / 16.0);
    CHECK_NEAR(2.0 * half_period(s, 1e-3), period, 1e-7 * period);
    ss_oriented_free(s);
}

// ---- The spring of a joint

static const ss_vec3 ROUND = {1.3, 0.7, 1.3}, FLAT = {3.1, 0.7, 0.4};

static double energy_turned(ss_vec3 spring, ss_quat rest, ss_quat q, ss_vec3 turn)
{
    const ss_joint joint = ss_joint_at(rest, ss_quat_product(q, ss_quat_exp(turn)));
    return ss_joint_energy(&joint, spring);
}

static double component(ss_vec3 x, int k)
{
    return k == 0 ? x.x : k == 1 ? x.y : x.z;
}

static ss_vec3 along(int k, double h)
{
    return ss_vec(k == 0 ? h : 0.0, k == 1 ? h : 0.0, k == 2 ? h : 0.0);
}

// From four places by `by` and twice `by`, and h times a derivative if `by` is h long.
static double energy_slope(ss_vec3 spring, ss_quat rest, ss_quat q, ss_vec3 by)
{
    const ss_vec3 back = ss_scaled(-1.0, by);
    const double near = energy_turned(spring, rest, q, by) - energy_turned(spring, rest, q, back);
    const double far = energy_turned(spring, rest, q, ss_scaled(2.0, by)) -
                       energy_turned(spring, rest, q, ss_scaled(2.0, back));
    return (8.0 * near - far) / 12.0;
}

static void check_torque(ss_vec3 spring)
{
    for (int trial = 0; trial < 300; trial++) {
        const ss_quat rest = random_turn(&g, 3.0);
        const ss_quat q = ss_quat_product(rest, random_turn(&g, 2.6));
        const ss_joint joint = ss_joint_at(rest, q);
        const ss_vec3 Q = ss_joint_torque(&joint, spring);
        const double size = 1.0 + ss_length(Q), h = 1e-3;
        for (int k = 0; k < 3; k++) {
            CHECK_NEAR(component(Q, k), -energy_slope(spring, rest, q, along(k, h)) / h,
                       1e-11 * size * size * size * size * size);
        }
    }
}

static void the_torque_of_a_joint_is_minus_the_gradient_of_its_energy(void)
{
    check_torque(ROUND);
    check_torque(FLAT);
    check_torque(ss_vec(0.2, 2.0, 9.0));
}

// Twice along one turn, from three places: the diagonal by the axes, the rest by the sums of two.
static double energy_curvature(ss_vec3 spring, ss_quat rest, ss_quat q, ss_vec3 by)
{
    const double middle = energy_turned(spring, rest, q, ss_vec(0.0, 0.0, 0.0));
    double second[2];
    for (int k = 0; k < 2; k++) {
        const ss_vec3 step = ss_scaled(k + 1.0, by);
        second[k] = energy_turned(spring, rest, q, step) +
                    energy_turned(spring, rest, q, ss_scaled(-1.0, step)) - 2.0 * middle;
    }
    return (16.0 * second[0] - second[1]) / 12.0;
}

static void check_stiffness(ss_vec3 spring, double angle, double h)
{
    for (int trial = 0; trial < 100; trial++) {
        const ss_quat rest = random_turn(&g, 3.0);
        const ss_quat q = ss_quat_product(rest, random_turn(&g, angle));
        const ss_joint joint = ss_joint_at(rest, q);
        double K[3][3], most = 0.0;
        ss_joint_stiffness(&joint, spring, K);
        for (int k = 0; k < 9; k++) {
            most = fmax(most, fabs(K[k / 3][k % 3]));
        }
        for (int i = 0; i < 3; i++) {
            for (int j = 0; j <= i; j++) {
                const ss_vec3 by = i == j ? along(i, h) : ss_plus(along(i, h), along(j, h));
                const double known = i == j ? K[i][i] : K[i][i] + K[j][j] + K[i][j] + K[j][i];
                const double found = energy_curvature(spring, rest, q, by) / (h * h);
                CHECK_NEAR(known, found, 1e-7 * most * (1.0 + most));
            }
        }
    }
}

static void the_stiffness_of_a_joint_is_the_second_derivative_of_its_energy(void)
{
    check_stiffness(ROUND, 2.0, 2e-3);
    check_stiffness(FLAT, 2.0, 2e-3);
    check_stiffness(FLAT, 0.1, 2e-3); // where logarithms are series
}

// About the axis of a pure bend K_b(b) tan(theta/2), K_b that of the axes weighed by the squares.
static void a_pure_bend_and_a_pure_twist_have_the_torques_of_the_tangent(void)
{
    const ss_quat none = {1.0, 0.0, 0.0, 0.0};
    const ss_vec3 springs[2] = {ROUND, FLAT};
    for (int k = 0; k < 2; k++) {
        for (double angle = 0.1; angle < 3.0; angle += 0.1) {
            const ss_vec3 s = springs[k];
            const ss_joint bend =
                ss_joint_at(none, ss_quat_exp(ss_vec(0.6 * angle, 0.0, 0.8 * angle)));
            const ss_joint twist = ss_joint_at(none, ss_quat_exp(ss_vec(0.0, angle, 0.0)));
            const ss_joint about_x = ss_joint_at(none, ss_quat_exp(ss_vec(angle, 0.0, 0.0)));
            const ss_vec3 b = ss_joint_torque(&bend, s), t = ss_joint_torque(&twist, s);
            const ss_vec3 x = ss_joint_torque(&about_x, s);
            const double tangent = tan(0.5 * angle), K = 0.36 * s.x + 0.64 * s.z;
            const double close = 1e-12 * (1.0 + tangent * tangent);
            CHECK_NEAR(0.6 * b.x + 0.8 * b.z, -K * tangent, close);
            CHECK_NEAR(x.x, -s.x * tangent, close);
            CHECK_NEAR(x.y, 0.0, close);
            CHECK_NEAR(x.z, 0.0, close);
            CHECK_NEAR(t.y, -s.y * tangent, close);
            CHECK_NEAR(ss_joint_energy(&bend, s), -2.0 * K * log(cos(0.5 * angle)), 1e-13 * K);
            CHECK_NEAR(ss_joint_energy(&twist, s), -2.0 * s.y * log(cos(0.5 * angle)), 1e-13);
        }
    }
}

// Of springs up to 25 : 1 and torques above the weakest.
static void a_rest_shape_by_inverse_dynamics_has_the_torque(void)
{
    const ss_vec3 springs[3] = {ROUND, FLAT, ss_vec(0.2, 1.0, 5.0)};
    for (int trial = 0; trial < 600; trial++) {
        const ss_vec3 spring = springs[trial % 3];
        const ss_quat q = random_turn(&g, 3.0);
        const ss_vec3 Q = random_vector(&g, 1.0);
        ss_quat rest;
        CHECK(ss_joint_rest(q, spring, Q, &rest));
        const ss_joint joint = ss_joint_at(rest, q);
        const double size = 1.0 + ss_dot(Q, Q);
        CHECK_LE(ss_length(ss_minus(ss_joint_torque(&joint, spring), Q)), 1e-13 * size * size);
    }
}

static void a_joint_that_is_turned_round_has_no_energy(void)
{
    const ss_quat none = {1.0, 0.0, 0.0, 0.0},
                  round[2] = {{1e-9, 1.0, 0.0, 0.0}, {1e-9, 0.0, 1.0, 0.0}};
    for (int k = 0; k < 4; k++) {
        const ss_joint joint = ss_joint_at(none, round[k % 2]);
        CHECK(isnan(ss_joint_energy(&joint, k < 2 ? ROUND : FLAT)));
        CHECK(isnan(ss_joint_torque(&joint, k < 2 ? ROUND : FLAT).y));
    }
}

// ---- What is no tree

static ss_oriented_link sound_link(int parent)
{
    return (ss_oriented_link){.parent = parent,
                              .length = 1.0,
                              .mass = 1.0,
                              .across = 0.1,
                              .spin = 0.1,
                              .rest = {1.0, 0.0, 0.0, 0.0}};
}

static void check_refused(const ss_oriented_link *links, int n, bool floats, const char *word)
{
    ss_oriented *s;
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_oriented_new(n, links, floats, &s, &error));
    TEST_ASSERT_NULL(s);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, word), error.text);
}

static void what_is_no_tree_is_refused_with_a_sentence(void)
{
    ss_oriented_link link[4];
    for (int j = 0; j < 4; j++) {
        link[j] = sound_link(j - 1);
    }
    check_refused(link, 0, false, "at least 1 link, not 0");
    link[1].parent = 3; // 1 - 3 - 2 - 1
    check_refused(link, 4, false, "link 1 is part of a loop");
    link[1].parent = 1;
    check_refused(link, 4, false, "link 1 is part of a loop");
    link[1].parent = 7;
    check_refused(link, 4, false, "link 1 hangs from link 7, which does not exist");
    link[1].parent = 0;
    link[2].parent = 3;
    link[3].parent = 1;
    check_refused(link, 4, false, "link 2 comes before link 3, from which it hangs");
    link[3].parent = link[2].parent = SS_ORIENTED_BASE;
    check_refused(link, 4, true, "one link at its base, not 3");
}

static void a_link_that_cannot_be_is_refused_with_a_sentence(void)
{
    ss_oriented_link link = sound_link(SS_ORIENTED_BASE);
    link.length = 0.0;
    check_refused(&link, 1, false, "link 0 has the length 0 m and the mass 1 kg");
    link = sound_link(SS_ORIENTED_BASE);
    link.mass = NAN;
    check_refused(&link, 1, false, "the mass nan kg");
    link = sound_link(SS_ORIENTED_BASE);
    link.spin = 0.0;
    check_refused(&link, 1, false, "moments of inertia 0.1 and 0");
    link = sound_link(SS_ORIENTED_BASE);
    link.spring.z = -1.0;
    check_refused(&link, 1, false, "stiffness or damping");
    link = sound_link(SS_ORIENTED_BASE);
    link.rest.w = 0.0;
    check_refused(&link, 1, false, "the rest quaternion of link 0 has the length 0");
}

static void run_tests(void)
{
    RUN_TEST(the_residual_at_the_accelerations_of_articulated_bodies_is_zero);
    RUN_TEST(composite_bodies_are_the_slope_of_the_residual_by_accelerations);
    RUN_TEST(a_test_load_adds_its_response);
    RUN_TEST(the_mass_matrix_has_the_kinetic_energy_of_the_bodies);
    RUN_TEST(the_power_of_the_residual_is_the_change_of_energy);
    RUN_TEST(one_link_swings_with_the_period_of_a_physical_pendulum);
    RUN_TEST(the_torque_of_a_joint_is_minus_the_gradient_of_its_energy);
    RUN_TEST(the_stiffness_of_a_joint_is_the_second_derivative_of_its_energy);
    RUN_TEST(a_pure_bend_and_a_pure_twist_have_the_torques_of_the_tangent);
    RUN_TEST(a_rest_shape_by_inverse_dynamics_has_the_torque);
    RUN_TEST(a_joint_that_is_turned_round_has_no_energy);
    RUN_TEST(what_is_no_tree_is_refused_with_a_sentence);
    RUN_TEST(a_link_that_cannot_be_is_refused_with_a_sentence);
}

const test_group oriented_tests = {.run = run_tests, .set_up = set_up};
