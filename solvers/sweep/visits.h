// solvers/sweep/visits.h -- the visits of a sweep, with a local solver inlined.
//
// A visit is a chain: u of the contact, its solution, and its effect on the next contact. Between
// functions numbers pass through memory, which delays the chain. So a quick local solver has a loop
// of its own, which is this one with its `solve` inlined, and the same bits:
//
//     static void my_visits(ss_sweeper *s, int begin, int end, ss_tally *t)
//     {
//         ss_visit_contacts(s, my_solve, begin, end, t);
//     }
#pragma once

#include "solvers/residual.h"
#include "solvers/sweep/sweep.h"

#include <float.h>
#include <math.h>

// Velocities are seen by rows of blocks or by ends, inline, or by the functions of ss_coupling.
typedef enum ss_view { SS_VIEW_ROWS, SS_VIEW_ENDS, SS_VIEW_ANY } ss_view;

typedef ss_local_info ss_local_solve(const ss_local *p, const ss_local_goal *goal,
                                     const void *settings, double r[3]);

// |dr| below this share of |r| is rounding: a solver that finds its start good enough scales it and
// scales it back.
#define SS_SAME_IMPULSE (4.0 * DBL_EPSILON)

// Returns the larger number, or a NaN of either.
static inline double ss_sweep_larger(double a, double b)
{
    return isnan(a) || b <= a ? a : b;
}

SS_INLINE double ss_visit_residual(const ss_sweeper *sweeper, const ss_local *p, const double *r,
                                   const double u[3])
{
    if (r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0 && u[0] >= 0.0) {
        return 0.0; // many are open, where f is 0 exactly
    }
    const double s = sweeper->coupling->s;
    const double normal = ss_normal_size(s, r[0], u[0]);
    if (p->mu > 0.0) {
        return ss_sweep_larger(ss_fb_size(p->mu, s, r, u), SS_NORMAL_WEIGHT * normal);
    }
    return ss_sweep_larger(normal, s * ss_length2(r[1], r[2]));
}

// Returns whether contact i needs no solution now, and notes how long it needs no visit.
SS_INLINE bool ss_visit_rests(ss_sweeper *sweeper, int i, const double r[3], const double u[3],
                              double residual)
{
    const bool open = r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0 && u[0] > 0.0;
    if (!sweeper->lazy ||
        !(open || (sweeper->exact && sweeper->estimates && residual <= sweeper->rest))) {
        return false;
    }
    if (sweeper->coupling->resting != NULL) {
        ss_resting_see(sweeper->coupling->resting, i, open, u[0], residual);
    }
    return true;
}

SS_INLINE void ss_visit_see(const ss_coupling *c, ss_view view, int i, double u[3])
{
    if (view == SS_VIEW_ROWS) {
        ss_row_see_3(c, i, c->r, u);
    } else if (view == SS_VIEW_ENDS) {
        ss_ends_see(c->white, 3, i, c->z, u);
    } else {
        ss_coupling_velocity(c, i, u);
    }
}

SS_INLINE void ss_visit_move(ss_coupling *c, ss_view view, int i, const double r[3])
{
    if (view == SS_VIEW_ANY) {
        ss_coupling_move(c, i, r);
        return;
    }
    double *old = c->r + 4 * (size_t)i;
    const double dr[3] = {r[0] - old[0], r[1] - old[1], r[2] - old[2]};
    if (view == SS_VIEW_ENDS && (dr[0] != 0.0 || dr[1] != 0.0 || dr[2] != 0.0)) {
        ss_ends_push(c->white, 3, i, dr, c->z);
    }
    if (c->resting != NULL) {
        ss_resting_move(c->resting, i, sqrt(ss_dot3(dr, dr)));
    }
    old[0] = r[0];
    old[1] = r[1];
    old[2] = r[2];
}

// Does what ss_contact_solve does for a method without a fail-safe whose local solver is `solve`.
SS_INLINE ss_local_info ss_visit_solve(const ss_method *method, ss_local_solve *solve,
                                       const ss_local *p, const ss_local_goal *goal, double r[3],
                                       ss_local_counters *counters)
{
    if (solve == NULL || p->mu == 0.0 || !(ss_local_own_scale(p) > 0.0)) {
        return ss_contact_solve(method, p, goal, r, counters);
    }
    counters->solves++;
    ss_local_info info = solve(p, goal, method->local_settings, r);
    if (ss_contact_misses_normal(p, goal, &info, r)) {
        info = ss_contact_ask_again(method, p, goal, info.iterations, r, counters);
    }
    counters->failures += info.outcome != SS_CONVERGED && info.outcome != SS_STEPPED;
    return info;
}

// Visits contact i and returns whether its impulse has changed.
SS_INLINE bool ss_visit_one(ss_sweeper *sweeper, ss_local_solve *solve, ss_view view, int i,
                            ss_tally *t)
{
    ss_coupling *c = sweeper->coupling;
    ss_local *p = &c->contact[i];
    const double *at = c->r + 4 * (size_t)i;
    const double old[3] = {at[0], at[1], at[2]};
    double u[3];
    t->visits++;
    ss_visit_see(c, view, i, u);
    const double residual = sweeper->estimates ? ss_visit_residual(sweeper, p, old, u) : 0.0;
    if (ss_visit_rests(sweeper, i, old, u, residual)) {
        t->estimate = ss_sweep_larger(t->estimate, residual);
        return false;
    }
    double r[3] = {old[0], old[1], old[2]};
    for (int k = 0; k < 3; k++) {
        p->b[k] = u[k] - (p->W[3 * k] * r[0] + p->W[3 * k + 1] * r[1] + p->W[3 * k + 2] * r[2]);
    }
    ss_local_goal goal = sweeper->goal;
    goal.memo = &c->memo[i];
    ss_visit_solve(sweeper->task->method, solve, p, &goal, r, &t->counters);
    ss_visit_move(c, view, i, r);
    const double dr[3] = {r[0] - old[0], r[1] - old[1], r[2] - old[2]};
    const double size = ss_norm_inf3(r), step = ss_dot3(dr, dr), square = ss_dot3(r, r);
    t->estimate = ss_sweep_larger(t->estimate, residual);
    t->largest = ss_sweep_larger(t->largest, size);
    t->step += step;
    t->size += square;
    const bool moved = step > SS_SAME_IMPULSE * SS_SAME_IMPULSE * square;
    t->moved += moved;
    if (moved && sweeper->moved_at != NULL) {
        sweeper->moved_at[i] = sweeper->sweeps;
    }
    if (sweeper->rests_until != NULL) {
        ss_sweep_consider_freezing(sweeper, i, residual, dr, r);
    }
    return step != 0.0;
}

// Prefetches the numbers that a visit to contact i reads: they come from distant memory if many
// contacts between two visits rest.
#define SS_MOST_LINES 40 // lines of 64 bytes that fit into the nearest cache
SS_INLINE void ss_visit_prefetch(const ss_coupling *c, ss_view view, int i)
{
    const char *x = NULL;
    size_t bytes = 0;
    if (view == SS_VIEW_ROWS) {
        x = (const char *)(c->W.x + 9 * c->W.start[i]);
        bytes = 9 * (c->W.start[i + 1] - c->W.start[i]) * sizeof *c->W.x;
    } else if (view == SS_VIEW_ENDS && c->white->end_start[i] < c->white->end_start[i + 1]) {
        const ss_whitened *white = c->white;
        const int last = white->end_start[i + 1] - 1;
        const size_t from = white->end_G[white->end_start[i]];
        const size_t end =
            white->end_G[last] + 3 * (size_t)ss_whitened_room(white, white->end_body[last]);
        x = (const char *)(white->G + from);
        bytes = (end - from) * sizeof *white->G;
    } else if (view == SS_VIEW_ANY && ss_coupling_fetches(c)) {
        ss_coupling_fetch(c, i);
    }
    bytes = bytes < 64 * SS_MOST_LINES ? bytes : 64 * SS_MOST_LINES;
    for (size_t k = 0; k < bytes; k += 64) {
        __builtin_prefetch(x + k);
    }
    __builtin_prefetch(&c->contact[i]);
    __builtin_prefetch((const char *)&c->contact[i] + 64);
    __builtin_prefetch(c->r + 4 * (size_t)i);
}

// Returns the first contact from i on that does not rest now, or `end`, and prefetches its numbers.
SS_INLINE int ss_visit_look_ahead(const ss_sweeper *sweeper, ss_view view, int i, int end)
{
    while (i < end && ss_resting_rests(sweeper->coupling->resting, i, sweeper->rest)) {
        i++;
    }
    if (i < end) {
        ss_visit_prefetch(sweeper->coupling, view, i);
    }
    return i;
}

// Visits where contacts rest. While nothing moves, the next visit is to the contact that was seen
// ahead.
SS_INLINE void ss_visit_needed(ss_sweeper *sweeper, ss_local_solve *solve, ss_view view, int begin,
                               int end, ss_tally *t)
{
    const ss_resting *resting = sweeper->coupling->resting;
    int next = begin;
    bool still = true; // true if nothing has moved since `next` was seen
    for (int i = begin; i < end;) {
        if (ss_resting_rests(resting, i, sweeper->rest)) {
            i++;
            continue;
        }
        if (next <= i) {
            next = ss_visit_look_ahead(sweeper, view, i + 1, end);
            still = true;
        }
        still &= !ss_visit_one(sweeper, solve, view, i, t);
        i = still ? next : i + 1;
    }
}

SS_INLINE void ss_visit_every(ss_sweeper *sweeper, ss_local_solve *solve, ss_view view, int begin,
                              int end, ss_tally *t)
{
    for (int i = begin; i < end; i++) {
        if (sweeper->rests_until != NULL && sweeper->rests_until[i] > sweeper->sweeps) {
            const double size = ss_norm_inf3(sweeper->coupling->r + 4 * (size_t)i);
            t->frozen++;
            t->largest = ss_sweep_larger(t->largest, size);
        } else {
            ss_visit_one(sweeper, solve, view, i, t);
        }
    }
}

SS_INLINE void ss_visit_range(ss_sweeper *sweeper, ss_local_solve *solve, ss_view view, int begin,
                              int end, ss_tally *t)
{
    ss_tally tally = {0};
    if (sweeper->coupling->resting != NULL) {
        ss_visit_needed(sweeper, solve, view, begin, end, &tally);
    } else {
        ss_visit_every(sweeper, solve, view, begin, end, &tally);
    }
    *t = tally;
}

// Visits contacts begin .. end - 1 and writes its findings into *t. `solve`, a constant, is the
// local solver of a method without a fail-safe, or NULL for any method.
SS_INLINE void ss_visit_contacts(ss_sweeper *sweeper, ss_local_solve *solve, int begin, int end,
                                 ss_tally *t)
{
    const ss_coupling *c = sweeper->coupling;
    if (c->dim == 3 && c->is_explicit) {
        ss_visit_range(sweeper, solve, SS_VIEW_ROWS, begin, end, t);
    } else if (c->dim == 3 && c->white->sparse == NULL) {
        ss_visit_range(sweeper, solve, SS_VIEW_ENDS, begin, end, t);
    } else {
        ss_visit_range(sweeper, solve, SS_VIEW_ANY, begin, end, t);
    }
}
