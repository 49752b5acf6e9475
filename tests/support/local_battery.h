// tests/support/local_battery.h -- batteries of one-contact problems, and how many a local solver solves.
//
// The three of doc/formulation.md, "Batteries": b normal, mu log-uniform, and
//   mild     W = A A', A normal, condition capped at 1e2, mu 0.1 .. 1
//   hard     the same, cap log-uniform to 1e2, mu 1e-3 .. 10, b_N < 0
//   harder   eigenvalues 1, 1/m, 1/c in a random frame, 1 <= m <= c <= 1e6 log-uniform, mu and b
//            as in hard: A A' itself is seldom so ill conditioned
#pragma once

#include <string.h>

#include "problems/tangle/locals.h"
#include "solvers/contact.h"
#include "solvers/small.h"
#include "tests/support/support.h"

typedef enum battery { MILD, HARD, HARDER } battery;

#define BATTERY_SIZE 10000

// Solved means the measure below this share of |b|.
#define BATTERY_TOLERANCE 1e-7

static inline ss_local_goal battery_goal(const ss_local *p)
{
    return (ss_local_goal){.tolerance = BATTERY_TOLERANCE * sqrt(ss_dot3(p->b, p->b))};
}

// Three orthonormal rows, by Gram and Schmidt.
static inline void draw_frame(ss_random *g, double Q[3][3])
{
    for (int i = 0; i < 3; i++) {
        for (int c = 0; c < 3; c++) {
            Q[i][c] = ss_random_normal(g);
        }
        for (int j = 0; j < i; j++) {
            const double along = ss_dot3(Q[i], Q[j]);
            for (int c = 0; c < 3; c++) {
                Q[i][c] -= along * Q[j][c];
            }
        }
        const double length = sqrt(ss_dot3(Q[i], Q[i]));
        for (int c = 0; c < 3; c++) {
            Q[i][c] /= length;
        }
    }
}

static inline ss_local draw_harder(ss_random *g)
{
    ss_local p = {.dim = 3};
    double Q[3][3];
    draw_frame(g, Q);
    const double condition = ss_random_log_between(g, 1.0, 1e6);
    const double middle = ss_random_log_between(g, 1.0, condition);
    const double value[3] = {1.0, 1.0 / middle, 1.0 / condition};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            for (int k = 0; k < 3; k++) {
                p.W[3 * i + j] += value[k] * Q[k][i] * Q[k][j];
            }
        }
        p.b[i] = ss_random_normal(g);
    }
    p.mu = ss_random_log_between(g, 1e-3, 10.0);
    return p;
}

static inline ss_local battery_draw(ss_random *g, battery which)
{
    ss_local_answer unknown;
    if (which == MILD) {
        return ss_local_draw(g, SS_LOCAL_RANDOM, 3, 1e2, 0.1, 1.0, &unknown);
    }
    ss_local p;
    if (which == HARD) {
        const double cap = ss_random_log_between(g, 1.001, 1e2);
        p = ss_local_draw(g, SS_LOCAL_RANDOM, 3, cap, 1e-3, 10.0, &unknown);
    } else {
        p = draw_harder(g);
    }
    p.b[0] = -fabs(p.b[0]);
    return p;
}

// An exact solver that says it converged has; what an approximate one says is of its own law.
static inline void check_claim(const ss_local_solver *solver, const ss_local *p,
                               const ss_local_goal *goal, const double r[3], ss_local_info info)
{
    const double error = ss_local_error(p, goal, r);
    CHECK(isfinite(error));
    if (solver->card.law == SS_EXACT && info.outcome == SS_CONVERGED) {
        CHECK_LE(error, goal->tolerance);
    }
    if (!isnan(info.error)) {
        CHECK_NEAR(info.error, error, 1e-12 * error + goal->tolerance);
    }
}

// Percent that the judge accepts, from r = 0.
static inline double percent_solved(const ss_local_solver *solver, battery which)
{
    ss_random g = ss_random_seeded(20 + (uint64_t)which);
    int solved = 0;
    for (int k = 0; k < BATTERY_SIZE; k++) {
        const ss_local p = battery_draw(&g, which);
        const ss_local_goal goal = battery_goal(&p);
        double r[3] = {0.0};
        const ss_local_info info = solver->solve(&p, &goal, solver->card.defaults, r);
        check_claim(solver, &p, &goal, r, info);
        solved += ss_local_error(&p, &goal, r) <= goal.tolerance;
    }
    return 100.0 * solved / BATTERY_SIZE;
}

// Percent of `count` draws of a kind that the judge accepts from r = 0; every claim is checked at
// the block's own scale and at another, which may be far from it.
static inline double percent_of_kind(const ss_local_solver *solver, ss_local_kind kind, int dim,
                                     int count)
{
    ss_random g = ss_random_seeded(40 + (uint64_t)kind);
    int solved = 0;
    for (int k = 0; k < count; k++) {
        ss_local_answer answer;
        ss_local p = ss_local_draw(&g, kind, dim, 1e4, 1e-2, 2.0, &answer);
        ss_local_embed(&p);
        ss_local_goal goal = battery_goal(&p);
        goal.scale = k % 2 == 0 ? 0.0 : ss_local_own_scale(&p) * ss_random_log_between(&g, 0.1, 10);
        double r[3] = {0.0};
        const ss_local_info info = solver->solve(&p, &goal, solver->card.defaults, r);
        if (info.outcome == SS_NOT_COVERED) {
            CHECK(r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0);
            continue;
        }
        check_claim(solver, &p, &goal, r, info);
        CHECK(dim == 3 || r[2] == 0.0);
        solved += ss_local_error(&p, &goal, r) <= goal.tolerance;
    }
    return 100.0 * solved / count;
}

// Known by hand: W = I, mu = 1/2, and b of each case of the law.
typedef struct known_contact {
    ss_local p;
    double r[3];
} known_contact;

static const known_contact KNOWN[3] = {
    {{3, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {1.0, 2.0, -1.0}, 0.5}, {0, 0, 0}},       // takes off
    {{3, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {-1.0, 0.2, 0.1}, 0.5}, {1, -0.2, -0.1}}, // sticks
    {{3, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {-1.0, 2.0, 0.0}, 0.5}, {1, -0.5, 0}},    // slides
};

static inline void check_known(const ss_local_solver *solver)
{
    const ss_local_goal goal = {.tolerance = 1e-12};
    for (int k = 0; k < 3; k++) {
        double r[3] = {0.0};
        const ss_local_info info = solver->solve(&KNOWN[k].p, &goal, solver->card.defaults, r);
        CHECK(info.outcome == SS_CONVERGED);
        CHECK_LE(info.error, 1e-12);
        for (int c = 0; c < 3; c++) {
            CHECK_NEAR(r[c], KNOWN[k].r[c], 1e-11);
        }
    }
}

// The contract on what may not be claimed.
static inline void check_nan_never_converges(const ss_local_solver *solver)
{
    const ss_local_goal goal = {.tolerance = 1e9};
    for (int k = 0; k < 3; k++) {
        ss_local p = KNOWN[2].p;
        p.b[k] = NAN;
        double r[3] = {0.0};
        CHECK(solver->solve(&p, &goal, solver->card.defaults, r).outcome != SS_CONVERGED);
    }
}

static inline void check_unsolvable_is_never_claimed(const ss_local_solver *solver)
{
    ss_random g = ss_random_seeded(60);
    for (int k = 0; k < 500; k++) {
        ss_local_answer answer;
        ss_local p = ss_local_draw(&g, SS_LOCAL_NO_SOLUTION, 2 + k % 2, 1e4, 1e-2, 2.0, &answer);
        ss_local_embed(&p);
        const ss_local_goal goal = battery_goal(&p);
        double r[3] = {0.0};
        CHECK(solver->solve(&p, &goal, solver->card.defaults, r).outcome != SS_CONVERGED);
        CHECK(isfinite(r[0]) && isfinite(r[1]) && isfinite(r[2]));
    }
}
