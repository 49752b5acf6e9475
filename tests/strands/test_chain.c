// tests/strands/test_chain.c -- the methods of chains against systems written out in full and answers known
// by hand.
#include <string.h>

#include "base/random.h"
#include "tests/support/support.h"

#define LANES 1
#include "strands/models/chain_kernel.h"

#define MOST 64 // vertices

static ss_random g;
static double w[MOST], rest[MOST], span[MOST], y[MOST], share[MOST];
static lane3 p[MOST], edge[MOST];
static const lane_room room = {edge, y, share};
static ss_chain_shape shape;

// n vertices with unit masses and lengths, the first held, level along +x.
static void level(int n)
{
    shape = (ss_chain_shape){n, w, rest, span};
    for (int i = 0; i < n; i++) {
        w[i] = i > 0 ? 1.0 : 0.0;
        rest[i] = 1.0;
        span[i] = 2.0;
        p[i] = (lane3){i, 0.0, 0.0};
    }
}

static void set_up(void)
{
    g = ss_random_seeded(5);
    level(51);
}

// Edges in all directions, lengths off by up to `stretch` of the rest lengths, masses within 4.
static void tangle(int n, double stretch)
{
    level(n);
    for (int i = 0; i < n; i++) {
        w[i] = ss_random_between(&g, 0.5, 2.0);
        rest[i] = ss_random_between(&g, 0.5, 2.0);
    }
    for (int i = 1; i < n; i++) {
        double u[3];
        ss_random_direction(&g, 3, u);
        const double l = rest[i - 1] * (1.0 + ss_random_between(&g, -stretch, stretch));
        p[i] = (lane3){p[i - 1].x + l * u[0], p[i - 1].y + l * u[1], p[i - 1].z + l * u[2]};
    }
}

static double length_of(int i)
{
    const lane3 e = lane3_minus(p[i], p[i + 1]);
    return sqrt(lane3_dot(e, e));
}

// The largest relative error of a length.
static double stretch_of_edges(void)
{
    double most = 0.0;
    for (int i = 0; i + 1 < shape.n; i++) {
        most = fmax(most, fabs(length_of(i) / rest[i] - 1.0));
    }
    return most;
}

static void constrain(ss_chain_kind kind, int iterations)
{
    const ss_chain_method m = {.kind = kind, .iterations = iterations};
    lane_constrain(&m, &shape, &room, p);
}

// ---- The tridiagonal system

static void check_residual(double w_root)
{
    double C[MOST];
    w[0] = w_root;
    lane_edges(&shape, p, &room);
    memcpy(C, y, sizeof C);
    lane_solve(&shape, &room);
    for (int i = 0; i + 1 < shape.n; i++) {
        double sum = (w[i] + w[i + 1]) * y[i];
        sum -= i > 0 ? w[i] * lane3_dot(edge[i - 1], edge[i]) * y[i - 1] : 0.0;
        sum -= i + 2 < shape.n ? w[i + 1] * lane3_dot(edge[i], edge[i + 1]) * y[i + 1] : 0.0;
        CHECK_NEAR(sum, C[i], 1e-12);
    }
}

static void the_tridiagonal_system_is_solved_to_rounding(void)
{
    for (int k = 0; k < 50; k++) {
        tangle(2 + k, 0.3);
        check_residual(0.0);
        check_residual(1.3);
    }
}

static void a_straight_strand_is_mended_at_once(void)
{
    for (int i = 0; i < shape.n; i++) {
        p[i] = (lane3){1.1 * i, 0.0, 0.0};
    }
    check_residual(0.0);
    lane_correct(&shape, &room, p);
    for (int i = 0; i < shape.n; i++) {
        CHECK_NEAR(p[i].x, i, 1e-12);
    }
}

static void a_folded_strand_is_mended_at_once(void)
{
    for (int i = 0; i < shape.n; i++) {
        p[i] = (lane3){i % 2 == 0 ? 0.0 : 1.1, 0.0, 0.0};
    }
    check_residual(0.0);
    lane_correct(&shape, &room, p);
    for (int i = 0; i < shape.n; i++) {
        CHECK_NEAR(p[i].x, i % 2, 1e-12);
    }
}

// Stairs: no edge has a say in its neighbours'.
static void right_angles_uncouple_the_edges(void)
{
    for (int i = 0; i < shape.n; i++) {
        p[i] = (lane3){0.9 * (i / 2), 0.9 * ((i + 1) / 2), 0.0};
    }
    lane_edges(&shape, p, &room);
    lane_solve(&shape, &room);
    for (int i = 0; i + 1 < shape.n; i++) {
        CHECK_NEAR(y[i], i == 0 ? -0.1 : -0.05, 1e-14);
    }
}

static void a_second_solve_squares_the_error(void)
{
    for (int k = 0; k < 200; k++) {
        tangle(20, 0.12);
        w[0] = 0.0;
        double before = stretch_of_edges();
        for (int solve = 0; solve < 3; solve++) {
            constrain(SS_CHAIN_TMF, 1);
            const double after = stretch_of_edges();
            CHECK_LE(after, before <= 0.15 ? 10.0 * before * before + 1e-14 : before);
            before = after;
        }
    }
}

static void vertices_on_one_place_give_nan(void)
{
    p[7] = p[8];
    constrain(SS_CHAIN_TMF, 1);
    CHECK(isnan(p[1].x) && isnan(p[50].x));
}

// ---- Momentum

static lane3 momentum(const lane3 *x, lane3 *turning)
{
    lane3 sum = {0.0, 0.0, 0.0};
    *turning = sum;
    for (int i = 0; i < shape.n; i++) {
        const lane3 d = lane3_minus(p[i], x[i]);
        sum = lane3_along(sum, 1.0 / w[i], d);
        const lane3 arm = {x[i].y * d.z - x[i].z * d.y, x[i].z * d.x - x[i].x * d.z,
                           x[i].x * d.y - x[i].y * d.x};
        *turning = lane3_along(*turning, 1.0 / w[i], arm);
    }
    return sum;
}

static void check_momentum(const ss_chain_method *m)
{
    lane3 x[MOST], turning;
    memcpy(x, p, sizeof x);
    lane_constrain(m, &shape, &room, p);
    const lane3 sum = momentum(x, &turning);
    CHECK_LE(sqrt(lane3_dot(sum, sum)), 1e-12);
    CHECK(stretch_of_edges() > 0.0 && length_of(3) != rest[3]);
    if (m->iterations == 1 && m->kind == SS_CHAIN_TMF && m->bending == 0.0) {
        CHECK_LE(sqrt(lane3_dot(turning, turning)), 1e-11); // one solve pulls along the edges
    }
}

static void a_free_chain_keeps_its_momentum(void)
{
    const ss_chain_method methods[] = {
        {.kind = SS_CHAIN_TMF, .iterations = 1},
        {.kind = SS_CHAIN_TMF, .iterations = 2, .bending = 0.4, .sweeps = 3},
        {.kind = SS_CHAIN_PBD, .iterations = 7},
    };
    for (int k = 0; k < 3; k++) {
        tangle(30, 0.2);
        check_momentum(&methods[k]);
    }
}

// ---- Answers by hand

static void pbd_shares_a_correction_by_masses(void)
{
    level(3);
    w[1] = 3.0; // against w_2 = 1
    p[1].x = 2.0;
    p[2].x = 5.0;
    constrain(SS_CHAIN_PBD, 1);
    // First p_1 goes back to 1, as the root is held; then of the 3 that the second edge is too
    // long p_1 takes 3/4.
    CHECK_NEAR(p[1].x, 1.0 + 0.75 * 3.0, 1e-15);
    CHECK_NEAR(p[2].x, 5.0 - 0.25 * 3.0, 1e-15);
}

static void bending_straightens_and_can_be_partial(void)
{
    const ss_chain_method m = {.kind = SS_CHAIN_DFTL, .bending = 0.5, .sweeps = 1};
    level(3);
    p[2] = (lane3){0.0, 1.0, 0.0};
    lane_bend(&shape, m.bending, p);
    CHECK_NEAR(p[2].y, 1.5, 1e-15); // half of the way to a span of 2
    p[2] = p[0];                    // no direction: left as it is
    lane_bend(&shape, m.bending, p);
    CHECK_NEAR(p[2].x, 0.0, 0.0);
}

static void a_follower_damps_by_the_correction_behind_it(void)
{
    const ss_chain_method m = {.kind = SS_CHAIN_DFTL, .iterations = 1, .damping = 0.5};
    level(3);
    p[1] = (lane3){0.0, -2.0, 0.0};
    p[2] = (lane3){0.0, -4.0, 0.0};
    constrain(SS_CHAIN_DFTL, 1);
    CHECK_NEAR(p[1].y, -1.0, 1e-15);
    CHECK_NEAR(p[2].y, -2.0, 1e-15);
    lane3 v[3] = {{0.0, 0.0, 0.0}};
    for (int i = 0; i < 3; i++) {
        lane_damp(&m, &shape, &room, 0.1, i, &v[i]);
    }
    CHECK_NEAR(v[0].y, 0.0, 0.0);                // held
    CHECK_NEAR(v[1].y, -0.5 * 2.0 / 0.1, 1e-13); // d_2 = 2 upwards
    CHECK_NEAR(v[2].y, 0.0, 0.0);                // nothing follows
}

static void run_tests(void)
{
    RUN_TEST(the_tridiagonal_system_is_solved_to_rounding);
    RUN_TEST(a_straight_strand_is_mended_at_once);
    RUN_TEST(a_folded_strand_is_mended_at_once);
    RUN_TEST(right_angles_uncouple_the_edges);
    RUN_TEST(a_second_solve_squares_the_error);
    RUN_TEST(vertices_on_one_place_give_nan);
    RUN_TEST(a_free_chain_keeps_its_momentum);
    RUN_TEST(pbd_shares_a_correction_by_masses);
    RUN_TEST(bending_straightens_and_can_be_partial);
    RUN_TEST(a_follower_damps_by_the_correction_behind_it);
}

const test_group chain_tests = {.run = run_tests, .set_up = set_up};
