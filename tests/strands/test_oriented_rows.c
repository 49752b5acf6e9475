// tests/strands/test_oriented_rows.c -- constraints on accelerations of trees of links, and impacts.
#include <string.h>

#include "tests/support/oriented_rows.h"
#include "tests/support/random_tree.h"
#include "tests/support/articulated.h"
#include "tests/support/support.h"

#define N    RANDOM_TREE_LINKS
#define MOST (3 + 3 * N)
#define ROWS 6

static ss_random g;
static ss_error error;

static void set_up(void)
{
    g = ss_random_seeded(31);
    error = (ss_error){0};
}

static ss_oriented_state state_of(const random_tree *t)
{
    return (ss_oriented_state){t->tree, t->base, ss_vec(0.3, -9.81, 0.1), t->q, t->w, t->load};
}

// Points and joints of all kinds, without bounds.
static void random_rows(ss_oriented_row *rows)
{
    for (int i = 0; i < ROWS; i++) {
        rows[i] = (ss_oriented_row){.link = ss_random_below(&g, N),
                                    .joint = i % 3 == 2,
                                    .at = random_vector(&g, 0.5),
                                    .along = ss_unit(random_vector(&g, 1.0)),
                                    .wanted = ss_random_normal(&g),
                                    .low = -INFINITY,
                                    .high = INFINITY,
                                    .normal = -1};
    }
}

// Speed of a row in the direction of time: along w + h wdot, at q moved likewise.
static double speed_after(const random_tree *t, const ss_oriented_row *row, const double *wdot,
                          double h)
{
    const ss_oriented *s = t->tree;
    double q[3 + 4 * N], w[MOST];
    ss_oriented_base base = t->base;
    base.pose.place =
        ss_along(ss_along(base.pose.place, h, base.velocity), 0.5 * h * h, base.acceleration);
    const ss_vec3 turned = ss_along(ss_scaled(h, base.spin), 0.5 * h * h, base.spin_rate);
    const ss_mat3 by = ss_rotation(turned);
    base.pose.turn = ss_mat3_product(&by, &t->base.pose.turn);
    base.velocity = ss_along(base.velocity, h, base.acceleration);
    base.spin = ss_along(base.spin, h, base.spin_rate);
    advance_random_tree(t, wdot, h, q, w);
    if (row->joint) {
        const double *own = w + ss_oriented_rate_at(s, row->link);
        return ss_dot(row->along, ss_vec(own[0], own[1], own[2]));
    }
    ss_oriented_move(s, &base, q, w, NULL);
    const ss_oriented_motion *m = &s->motion[row->link];
    return ss_dot(row->along,
                  ss_plus(m->velocity, ss_cross(m->spin, ss_turned(&m->turn, row->at))));
}

// The accelerations that K and a0 promise are those that the tree has under the forces.
static void forces_bring_about_what_is_wanted(void)
{
    for (int trial = 0; trial < 20; trial++) {
        random_tree t = new_random_tree(&g, trial % 2 == 1);
        const ss_oriented_state s = state_of(&t);
        ss_oriented_row rows[ROWS];
        ss_oriented_load load[N], all[N];
        double wdot[MOST], a0[ROWS], K[ROWS * ROWS], f[ROWS] = {0.0};
        random_rows(rows);
        ss_oriented_rows_measure(&s, ROWS, rows, wdot, load, a0, K);
        const double most = largest_of(K, ROWS * ROWS);
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < ROWS; j++) {
                CHECK_NEAR(K[i * ROWS + j], K[j * ROWS + i], 1e-12 * most);
            }
            f[i] = ss_random_normal(&g);
        }
        memcpy(all, t.load, sizeof all);
        ss_oriented_rows_apply(t.tree, ROWS, rows, f, all);
        ss_oriented_base base = t.base;
        base.acceleration = ss_minus(base.acceleration, s.gravity);
        articulated_motion(t.tree, &base, t.q, t.w, all, wdot);
        for (int i = 0; i < ROWS; i++) {
            double a = a0[i];
            for (int j = 0; j < ROWS; j++) {
                a += K[i * ROWS + j] * f[j];
            }
            const double h = 1e-5;
            const double slope =
                (speed_after(&t, &rows[i], wdot, h) - speed_after(&t, &rows[i], wdot, -h)) /
                (2.0 * h);
            CHECK_NEAR(a, slope, 1e-6 * (1.0 + fabs(a) + most));
        }
        ss_oriented_free(t.tree);
    }
}

// Three rows of a goal and a joint's: met by many sweeps.
static void goals_are_met_to_rounding(void)
{
    random_tree t = new_random_tree(&g, false);
    const ss_oriented_state s = state_of(&t);
    ss_oriented_row rows[3];
    ss_oriented_load load[N];
    double wdot[MOST], a0[3], K[9], f[3] = {0.0};
    const ss_vec3 path[3] = {{0.1, 0.2, 0.3}, {1.0, 0.0, 0.0}, {0.0, 2.0, 0.0}};
    TEST_ASSERT_EQUAL_INT(
        3, ss_oriented_goal(&s, N - 1, ss_vec(0.0, 0.3, 0.0), path, 100.0, 20.0, rows));
    ss_oriented_rows_measure(&s, 3, rows, wdot, load, a0, K);
    ss_oriented_rows_solve(3, rows, a0, K, 100000, 1.0, 0.0, f);
    for (int i = 0; i < 3; i++) {
        const double a = a0[i] + K[3 * i] * f[0] + K[3 * i + 1] * f[1] + K[3 * i + 2] * f[2];
        CHECK_NEAR(a, rows[i].wanted, 1e-8 * (1.0 + fabs(rows[i].wanted)));
    }
    ss_oriented_free(t.tree);
}

// ---- A chain of two links

static ss_oriented *two_links(void)
{
    ss_oriented_link link[2];
    for (int j = 0; j < 2; j++) {
        link[j] = (ss_oriented_link){.parent = j - 1,
                                     .joint = ss_vec(0.0, j > 0 ? 0.2 : 0.0, 0.0),
                                     .length = 0.2,
                                     .mass = 0.1,
                                     .across = 0.1 * 0.2 * 0.2 / 12.0,
                                     .spin = 1e-4,
                                     .damping = {1e-3, 1e-3, 1e-3},
                                     .rest = {1.0, 0.0, 0.0, 0.0}};
    }
    ss_oriented *tree;
    CHECK_OK(ss_oriented_new(2, link, false, &tree, &error));
    return tree;
}

static void turn_by(double *q, const double *w, double h)
{
    for (int j = 0; j < 2; j++) {
        const ss_vec3 turn = ss_vec(h * w[3 * j], h * w[3 * j + 1], h * w[3 * j + 2]);
        const ss_quat moved = ss_quat_product(ss_quat_read(q + 4 * j), ss_quat_exp(turn));
        ss_quat_write(ss_quat_unit(moved), q + 4 * j);
    }
}

// Both phases of a step of h, impacts and forces, by symplectic Euler. `rows_of` gives the rows of a state.
typedef int rows_of(const ss_oriented_state *s, double h, ss_oriented_row *rows);

static void step_with(const ss_oriented_state *s, double *q, double *w, double h, rows_of *give)
{
    ss_oriented_row rows[8];
    ss_oriented_load load[2], all[2] = {0};
    double wdot[6], a0[8], K[64], f[8] = {0.0}, p[16];
    ss_oriented_base base = s->base;
    base.acceleration = ss_minus(base.acceleration, s->gravity);
    articulated_motion(s->tree, &base, q, w, NULL, wdot);
    int m = give(s, h, rows);
    ss_oriented_rows_measure(s, m, rows, wdot, load, a0, K);
    ss_oriented_rows_impact(s, m, rows, K, 0.0, 2000, p, wdot, load, w);
    articulated_motion(s->tree, &base, q, w, NULL, wdot);
    m = give(s, h, rows); // of the velocities after the impact
    ss_oriented_rows_measure(s, m, rows, wdot, load, a0, K);
    ss_oriented_rows_solve(m, rows, a0, K, 2000, 1.0, 1e-9, f);
    ss_oriented_rows_apply(s->tree, m, rows, f, all);
    articulated_motion(s->tree, &base, q, w, all, wdot);
    for (int k = 0; k < 6; k++) {
        w[k] += h * wdot[k];
    }
    turn_by(q, w, h);
}

#define LIMIT 0.5

static int limits(const ss_oriented_state *s, double h, ss_oriented_row *rows)
{
    int m = 0;
    for (int j = 0; j < 2; j++) {
        m += ss_oriented_limit(s, j, LIMIT, h, rows + m);
    }
    return m;
}

static double angle_of(const double *q)
{
    return ss_length(ss_quat_log(ss_quat_unit(ss_quat_read(q))));
}

// A chain that points along y and is pulled along z falls against the limits of both joints, and stays there.
static void joints_stop_at_their_limits(void)
{
    ss_oriented *tree = two_links();
    double q[8] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0}, w[6] = {0.0}, most = 0.0;
    const ss_oriented_state s = {.tree = tree,
                                 .base = {.pose = ss_pose_identity()},
                                 .gravity = ss_vec(0.0, 0.0, 9.81),
                                 .q = q,
                                 .w = w};
    for (int k = 0; k < 2000; k++) {
        step_with(&s, q, w, 1e-3, limits);
        most = fmax(most, fmax(angle_of(q), angle_of(q + 4)));
    }
    CHECK_LE(most, LIMIT + 1e-3);
    CHECK_NEAR(angle_of(q), LIMIT, 1e-3);
    ss_oriented_free(tree);
}

#define TIP_AT 0.2

static int tip_on_ground(const ss_oriented_state *s, double h, ss_oriented_row *rows)
{
    const ss_vec3 at = ss_vec(0.0, TIP_AT, 0.0), up = ss_vec(0.0, 0.0, 1.0);
    const ss_oriented_motion *m = &s->tree->motion[1];
    const double height = ss_plus(m->joint, ss_turned(&m->turn, at)).z + 0.1;
    return height < 1e-4
               ? ss_oriented_contact(s, 1, at, up, -height, 0.2, 0.5, h, ss_vec(0, 1, 0), 0, rows)
               : 0;
}

// Level at first, 0.1 m above a plane: the tip comes to rest on it and is not deeper than it fell in a step.
static void a_tip_rests_on_the_ground(void)
{
    ss_oriented *tree = two_links();
    double q[8] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0}, w[6] = {0.0}, deepest = 0.0;
    const ss_oriented_state s = {.tree = tree,
                                 .base = {.pose = ss_pose_identity()},
                                 .gravity = ss_vec(0.0, 0.0, -9.81),
                                 .q = q,
                                 .w = w};
    double height = 1.0;
    for (int k = 0; k < 8000; k++) {
        step_with(&s, q, w, 1e-3, tip_on_ground);
        ss_oriented_move(tree, &s.base, q, w, NULL);
        const ss_oriented_motion *m = &tree->motion[1];
        height = ss_plus(m->joint, ss_turned(&m->turn, ss_vec(0.0, TIP_AT, 0.0))).z + 0.1;
        deepest = fmin(deepest, height);
    }
    CHECK_LE(-deepest, 3e-3);
    CHECK_NEAR(height, 0.0, 1e-3);
    ss_oriented_free(tree);
}

// One bounce: what comes nearer leaves with the share `restitution` of its speed; what leaves is left alone.
static void impacts_keep_the_share_of_restitution(void)
{
    for (int trial = 0; trial < 20; trial++) {
        random_tree t = new_random_tree(&g, false);
        const ss_oriented_state s = state_of(&t);
        ss_oriented_row rows[2];
        ss_oriented_load load[N];
        double wdot[MOST], a0[2], K[4], p[4], w[MOST], v[2], after[2];
        const double e = ss_random_uniform(&g);
        for (int i = 0; i < 2; i++) {
            rows[i] = (ss_oriented_row){.link = N - 1 - i,
                                        .at = random_vector(&g, 0.5),
                                        .along = ss_unit(random_vector(&g, 1.0)),
                                        .high = INFINITY,
                                        .normal = -1};
            v[i] = speed_after(&t, &rows[i], (double[MOST]){0.0}, 0.0);
        }
        ss_oriented_rows_measure(&s, 2, rows, wdot, load, a0, K);
        memcpy(w, t.w, sizeof w);
        ss_oriented_rows_impact(&s, 2, rows, K, e, 1000, p, wdot, load, w);
        memcpy(t.w, w, sizeof w);
        for (int i = 0; i < 2; i++) {
            after[i] = speed_after(&t, &rows[i], (double[MOST]){0.0}, 0.0);
            CHECK(p[i] >= 0.0 && (v[i] < 0.0 || p[i] == 0.0));
            CHECK(v[i] >= 0.0 || after[i] >= -e * v[i] - 1e-9);
            CHECK(p[i] == 0.0 || fabs(after[i] + e * v[i]) <= 1e-9);
        }
        ss_oriented_free(t.tree);
    }
}

static void run_tests(void)
{
    RUN_TEST(forces_bring_about_what_is_wanted);
    RUN_TEST(goals_are_met_to_rounding);
    RUN_TEST(joints_stop_at_their_limits);
    RUN_TEST(a_tip_rests_on_the_ground);
    RUN_TEST(impacts_keep_the_share_of_restitution);
}

const test_group oriented_rows_tests = {.run = run_tests, .set_up = set_up};
