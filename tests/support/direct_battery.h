// tests/support/direct_battery.h -- what is asked of the solvers that answer a contact directly.
#pragma once

#include <stdint.h>
#include <string.h>

#include "solvers/contact.h"
#include "solvers/local/slip.h"
#include "tests/support/local_battery.h"

// |f|_inf, relative to the largest of |b|, |u|, s |r|: relative to |b| alone is out of reach where
// the condition is 1e6 and so r may be a million times b/s.
#define DIRECT_TOLERANCE 1e-12

static inline double largest_velocity(const ss_local *p, const double r[3])
{
    double u[3];
    ss_local_velocity(p, r, u);
    const double sizes[2] = {ss_norm_inf3(u), ss_local_own_scale(p) * ss_norm_inf3(r)};
    return fmax(sqrt(ss_dot3(p->b, p->b)), fmax(sizes[0], sizes[1]));
}

// One contact from zero; the answer must be right to DIRECT_TOLERANCE of its own size, and said to
// be right wherever it is within the goal.
static inline void check_solved(const ss_local_solver *solver, const void *settings,
                                const ss_local *p, double r[3])
{
    const ss_local_goal goal = {.tolerance = DIRECT_TOLERANCE * sqrt(ss_dot3(p->b, p->b))};
    r[0] = r[1] = r[2] = 0.0;
    const ss_local_info info = solver->solve(p, &goal, settings, r);
    const double error = ss_local_error(p, &goal, r);
    CHECK_LE(error, DIRECT_TOLERANCE * largest_velocity(p, r));
    CHECK((info.outcome == SS_CONVERGED) == (error <= goal.tolerance));
    CHECK(info.outcome == SS_CONVERGED || info.outcome == SS_STALLED);
    CHECK(isnan(info.error) || info.error == error);
    CHECK(p->dim == 3 || r[2] == 0.0);
}

static inline void check_kind(const ss_local_solver *solver, const void *settings,
                              ss_local_kind kind, int count)
{
    ss_random g = ss_random_seeded(70 + (uint64_t)kind);
    for (int k = 0; k < count; k++) {
        ss_local_answer unused;
        ss_local p = ss_local_draw(&g, kind, 2 + k % 2, 1e6, 1e-3, 10.0, &unused);
        ss_local_embed(&p);
        double r[3];
        check_solved(solver, settings, &p, r);
    }
}

// Conditions log-uniform to 1e6, which A A' seldom reaches.
static inline void check_harder(const ss_local_solver *solver, const void *settings, int count)
{
    ss_random g = ss_random_seeded(80);
    for (int k = 0; k < count; k++) {
        const ss_local p = battery_draw(&g, HARDER);
        double r[3];
        check_solved(solver, settings, &p, r);
    }
}

static inline void check_no_solution_is_said(const ss_local_solver *solver, const void *settings)
{
    ss_random g = ss_random_seeded(90);
    for (int k = 0; k < 2000; k++) {
        ss_local_answer unused;
        ss_local p = ss_local_draw(&g, SS_LOCAL_NO_SOLUTION, 2 + k % 2, 1e4, 1e-2, 2.0, &unused);
        ss_local_embed(&p);
        const ss_local_goal goal = battery_goal(&p);
        double r[3] = {1.0, 1.0, 0.0};
        CHECK(solver->solve(&p, &goal, settings, r).outcome == SS_NO_SOLUTION);
        CHECK(r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0);
    }
}

// W = [1 d-1 0; d-1 1 0; 0 0 1] with d = 2^-k sticks by r = (2^e, 2^e, 1) at b = (-2^e d, -2^e d,
// -1).
static inline void check_nearly_singular(const ss_local_solver *solver, const void *settings)
{
    for (int k = 36; k <= 46; k++) {
        for (int e = 10; e <= 50; e++) {
            const double d = ldexp(1.0, -k), most = ldexp(1.0, e);
            const ss_local p = {.dim = 3,
                                .mu = 2.0,
                                .W = {1, d - 1, 0, d - 1, 1, 0, 0, 0, 1},
                                .b = {-most * d, -most * d, -1}};
            const ss_local_goal goal = battery_goal(&p);
            double r[3] = {0.0};
            const ss_local_info info = solver->solve(&p, &goal, settings, r);
            CHECK(info.outcome != SS_NO_SOLUTION);
            if (e <= 30) { // beyond, rounding of W r is more than the goal
                CHECK(info.outcome == SS_CONVERGED);
            }
        }
    }
}

// W = [2 1 0; c 2 0; 0 0 1], mu = 1/2 with the sliding answer r = (2, -1, 0), u = (0, 1, 0):
// W r = (3, 2c - 2, 0).
static inline void check_known_with_coupling(const ss_local_solver *solver, const void *settings)
{
    const double columns[2] = {1.0, -1.0};
    for (int k = 0; k < 2; k++) {
        const double c = columns[k];
        const ss_local p = {3, {2, 1, 0, c, 2, 0, 0, 0, 1}, {-3.0, 3.0 - 2.0 * c, 0.0}, 0.5};
        double r[3];
        check_solved(solver, settings, &p, r);
        CHECK_NEAR(r[0], 2.0, 1e-14);
        CHECK_NEAR(r[1], -1.0, 1e-14);
        CHECK(r[2] == 0.0);
    }
}

static inline void check_known_cases(const ss_local_solver *solver, const void *settings)
{
    for (int k = 0; k < 3; k++) {
        double r[3];
        check_solved(solver, settings, &KNOWN[k].p, r);
        for (int c = 0; c < 3; c++) {
            CHECK_NEAR(r[c], KNOWN[k].r[c], 1e-15);
        }
    }
}

// FNV-1a over the bits of the answers: the same for every compiler, optimisation and processor.
static inline uint64_t hash_of_answers(const ss_local_solver *solver, const void *settings)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    ss_random g = ss_random_seeded(100);
    for (int k = 0; k < 5000; k++) {
        ss_local_answer unused;
        const ss_local_kind kind = k % 5 == 0 ? SS_LOCAL_SINGULAR : SS_LOCAL_RANDOM;
        const ss_local p = ss_local_draw(&g, kind, 3, 1e6, 1e-3, 10.0, &unused);
        const ss_local_goal goal = battery_goal(&p);
        double r[3] = {0.0};
        solver->solve(&p, &goal, settings, r);
        for (int c = 0; c < 3; c++) {
            const double value = r[c] + 0.0; // -0 is 0
            uint64_t bits;
            memcpy(&bits, &value, sizeof bits);
            hash = (hash ^ bits) * UINT64_C(0x100000001b3);
        }
    }
    return hash;
}
