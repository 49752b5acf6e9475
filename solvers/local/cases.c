// solvers/local/cases.c -- take-off, stick, slide, and what is left.
//
// b_N >= 0: r = 0 (a sticking answer may hold as well; [D11] and we prefer take-off). G(0) >= 0:
// r = -W^-1 b. Else the finder's slip ratio. An answer whose bound (candidate.h) is within the goal
// is accepted at once. Otherwise it is polished, and where that does not help
//
//     the other of stick and slide    as G(0) is rounding at the boundary of the cone
//     the bracketed root              as the finder's may be a wrong one
//
// are tried in turn; for a singular block, the same on W + shift (tr W/d) I, judged on the block
// itself, then each positive root of its own quartic. f decides. Where nothing passes, the best is
// kept, or r = 0 where a singular block has no answer.
#include "solvers/local/cases.h"

#include <string.h>

#include "solvers/local/quartic.h"

// Of tr W/d, added to the diagonal of a singular block, one after the other. The first alone leaves
// 1 block in 10 000 of rank 1 at 1e-11: rounding over 1e-10 turns r along the cone so far that the
// cone's curvature shows.
static const double REGULARISATIONS[] = {1e-10, 1e-6, 1e-14};

// An answer this near to the law, relative to the largest of |b|, mu |u|, s |r|, cannot be
// improved.
#define ROUNDING_FLOOR 1e-14

// A singular block has no answer where the best |f| is more than this share of |b|. What is between
// this and the goal is an answer that rounding spoils.
#define NO_ANSWER_SHARE 1e-6

// r = 0 is an answer to rounding where b_N is this small, relative to |b|, in scaled problems.
#define LEAST_PRESS 1e-60

// The best answer so far, by f itself.
typedef struct search {
    const ss_local *p;
    const ss_local_goal *goal;
    double r[3];
    double error;
} search;

static bool passes(const search *best)
{
    return best->error <= best->goal->tolerance;
}

static void offer(search *best, const double r[3])
{
    const double error = ss_local_error(best->p, best->goal, r);
    if (error < best->error || (isnan(best->error) && !isnan(error))) {
        memcpy(best->r, r, sizeof best->r);
        best->error = error;
    }
}

static void offer_polished(search *best, const ss_slip *k, ss_candidate *c)
{
    ss_candidate_polish(best->p, k, best->goal, c);
    offer(best, c->r);
}

static double largest_size(const search *best)
{
    double u[3];
    ss_local_velocity(best->p, best->r, u);
    const double s = ss_candidate_scale(best->p, best->goal);
    const double of_u = best->p->mu * ss_norm_inf3(u), of_b = ss_norm_inf3(best->p->b);
    const double of_r = s * ss_norm_inf3(best->r);
    const double larger = of_u > of_b ? of_u : of_b;
    return of_r > larger ? of_r : larger;
}

static ss_local_info cases_finish(const search *best, int steps, double r[3])
{
    memcpy(r, best->r, sizeof best->r);
    return (ss_local_info){.outcome = passes(best) ? SS_CONVERGED : SS_STALLED,
                           .iterations = steps,
                           .error = best->error};
}

static ss_local_info take_off(const ss_local *p, const ss_local_goal *goal, double r[3])
{
    r[0] = r[1] = r[2] = 0.0;
    if (ss_cases_open_rounding(p) <= goal->tolerance) {
        return (ss_local_info){.outcome = SS_CONVERGED, .error = NAN};
    }
    search best = {.p = p, .goal = goal, .error = NAN};
    offer(&best, r);
    return cases_finish(&best, 0, r);
}

// A nonsingular block always has an answer. `first` missed the goal.
static ss_local_info insist(const ss_slip *k, const ss_local_goal *goal, ss_candidate *first,
                            int steps, double r[3])
{
    search best = {.p = k->p, .goal = goal, .error = NAN};
    offer_polished(&best, k, first);
    if (passes(&best) || best.error <= ROUNDING_FLOOR * largest_size(&best)) {
        return cases_finish(&best, steps, r);
    }
    ss_candidate other;
    ss_candidate_stick(k, &other);
    other.slides = !first->slides;
    offer_polished(&best, k, &other);
    if (first->slides && !passes(&best)) {
        int more = 0;
        ss_candidate_slide(k, ss_slip_bracketed(k, 0.0, 0.0, &more), &other);
        offer_polished(&best, k, &other);
        steps += more;
    }
    return cases_finish(&best, steps, r);
}

static void try_regularised(search *best, double share, ss_slip_finder *find, const void *settings,
                            int *steps)
{
    ss_local near = *best->p;
    const double shift = share * ss_local_own_scale(best->p);
    for (int i = 0; i < 9; i += 4) {
        near.W[i] += shift;
    }
    ss_slip k;
    ss_slip_eliminate(&near, &k);
    if (!(k.det > 0.0)) {
        return;
    }
    ss_candidate c;
    ss_candidate_stick(&k, &c);
    offer_polished(best, &k, &c);
    if (!passes(best)) {
        const double none[3] = {0.0};
        const ss_local_goal nothing = {0};
        ss_candidate_slide(&k, find(&k, settings, none, &nothing, steps), &c);
        offer_polished(best, &k, &c);
    }
}

static void try_roots(search *best)
{
    ss_slip k;
    ss_slip_eliminate(best->p, &k);
    double roots[4];
    const ss_quartic quartic = ss_slip_quartic(&k);
    const int n = ss_quartic_roots(&quartic, roots);
    for (int i = 0; i < n && !passes(best); i++) {
        if (roots[i] > 0.0) {
            ss_candidate c;
            ss_candidate_slide(&k, roots[i], &c);
            offer_polished(best, &k, &c);
        }
    }
}

static ss_local_info no_answer(int steps, double r[3])
{
    r[0] = r[1] = r[2] = 0.0;
    return (ss_local_info){.outcome = SS_NO_SOLUTION, .iterations = steps, .error = NAN};
}

static ss_local_info solve_singular(const ss_local *p, const ss_local_goal *goal,
                                    ss_slip_finder *find, const void *settings, double r[3])
{
    if (p->W[0] == 0.0 && p->W[1] == 0.0 && p->W[2] == 0.0) { // u_N = b_N < 0 whatever r is
        return no_answer(0, r);
    }
    search best = {.p = p, .goal = goal, .error = NAN};
    int steps = 0;
    for (int i = 0; i < 3 && !passes(&best); i++) {
        try_regularised(&best, REGULARISATIONS[i], find, settings, &steps);
    }
    if (!passes(&best) && p->W[0] > 0.0) {
        try_roots(&best);
    }
    if (!passes(&best) && !(best.error <= NO_ANSWER_SHARE * ss_norm_inf3(p->b))) {
        return no_answer(steps, r);
    }
    return cases_finish(&best, steps, r);
}

static ss_local_info solve_pressed(const ss_local *p, const ss_local_goal *goal,
                                   ss_slip_finder *find, const void *settings, double r[3])
{
    ss_slip k;
    if (!ss_slip_eliminate(p, &k)) {
        return solve_singular(p, goal, find, settings, r);
    }
    ss_candidate c;
    double u[3];
    int steps = 0;
    if (!ss_cases_try(&k, goal, find, settings, r, &c, u, &steps)) {
        return insist(&k, goal, &c, steps, r);
    }
    return ss_cases_accept(&c, goal, u, steps, r);
}

// The power of two at or below x > 0: division by it is exact.
static double power_of_two(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= UINT64_C(0x7ff0000000000000);
    double power;
    memcpy(&power, &bits, sizeof power);
    return power > 0.0 ? power : 0x1p-1022;
}

// In units in which tr W/d and |b| are of order one.
static ss_local_info solve_scaled(const ss_local *p, const ss_local_goal *goal,
                                  ss_slip_finder *find, const void *settings, double r[3])
{
    const double s = power_of_two(ss_local_own_scale(p)), v = power_of_two(ss_norm_inf3(p->b));
    ss_local scaled = *p;
    double start[3];
    for (int i = 0; i < 9; i++) {
        scaled.W[i] /= s;
    }
    for (int i = 0; i < 3; i++) {
        scaled.b[i] /= v;
        start[i] = r[i] / v * s;
    }
    const ss_local_goal relative = {
        .tolerance = goal->tolerance / v, .scale = goal->scale / s, .fixed = goal->fixed};
    ss_local_info info;
    if (scaled.b[0] > -LEAST_PRESS) {
        scaled.b[0] = 0.0;
        info = take_off(&scaled, &relative, start);
    } else {
        info = solve_pressed(&scaled, &relative, find, settings, start);
    }
    for (int i = 0; i < 3; i++) {
        r[i] = start[i] * v / s;
    }
    return (ss_local_info){
        .outcome = info.outcome, .iterations = info.iterations, .error = info.error * v};
}

ss_local_info ss_cases_solve(const ss_local *p, const ss_local_goal *goal, ss_slip_finder *find,
                             const void *settings, double r[3])
{
    if (p->b[0] >= 0.0) {
        return take_off(p, goal, r);
    }
    return ss_cases_are_moderate(p) ? solve_pressed(p, goal, find, settings, r)
                                    : solve_scaled(p, goal, find, settings, r);
}
