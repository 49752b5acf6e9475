#include "solvers/contact.h"

#include <float.h>
#include <math.h>

#include "solvers/residual.h"

void ss_local_embed(ss_local *p)
{
    if (p != NULL && p->dim == 2) {
        p->W[8] = 0.5 * (p->W[0] + p->W[4]);
    }
}

// If rounding of s r is more than this share of |b|, b is lost beside it.
#define LOST_SHARE 1e-6

// Returns |f|_inf. Beside a very large impulse it vanishes in floating point whatever u is (x =
// 1e17 and y = -1 have x + y - q = 0), so its rounding is added there: nothing is known about such
// an answer.
static double size_at(const ss_local *p, double s, const double r[3], const double u[3])
{
    const double size = ss_fb_size(p->mu, s, r, u);
    const double rounding = DBL_EPSILON * s * (p->mu > 1.0 ? p->mu : 1.0) * ss_norm_inf3(r);
    return rounding <= LOST_SHARE * ss_norm_inf3(p->b) ? size : size + rounding;
}

double ss_local_error(const ss_local *p, const ss_local_goal *goal, const double r[3])
{
    double u[3];
    if (p == NULL || goal == NULL || r == NULL) {
        return NAN;
    }
    ss_local_velocity(p, r, u);
    if (goal->fixed) {
        return size_at(p, goal->scale, r, u);
    }
    const double own = size_at(p, ss_local_own_scale(p), r, u);
    if (!(goal->scale > 0.0) || isnan(own)) {
        return own;
    }
    const double shared = size_at(p, goal->scale, r, u);
    return shared <= own ? own : shared;
}

static ss_local_info contact_answer(double r[3], double r_N, ss_outcome outcome)
{
    r[0] = r_N;
    r[1] = r[2] = 0.0;
    return (ss_local_info){.outcome = outcome, .error = NAN};
}

// Solves where W_ii = 0: no r changes u, so u = b must be allowed with r = 0. Nothing is known of
// other blocks with this trace, which an unsymmetric W may have.
static ss_local_info solve_rigid(const ss_local *p, double r[3])
{
    // Row N is 0, and u_N = b_N whatever r is.
    const bool blind = p->W[0] == 0.0 && p->W[1] == 0.0 && p->W[2] == 0.0;
    return contact_answer(r, 0.0,
                          p->b[0] >= 0.0 ? SS_CONVERGED
                          : blind        ? SS_NO_SOLUTION
                                         : SS_STALLED);
}

// Solves where mu = 0 the scalar problem 0 <= r_N, 0 <= W_NN r_N + b_N, one of them zero.
static ss_local_info solve_frictionless(const ss_local *p, double r[3])
{
    if (p->b[0] >= 0.0) {
        return contact_answer(r, 0.0, SS_CONVERGED);
    }
    if (!(p->W[0] > 0.0)) {
        return contact_answer(r, 0.0, SS_NO_SOLUTION);
    }
    const double r_N = -p->b[0] / p->W[0];
    return isfinite(r_N) ? contact_answer(r, r_N, SS_CONVERGED)
                         : (ss_local_info){.outcome = SS_STALLED, .error = NAN};
}

// Calls the fail-safe, from the same start, where the primary answer misses the goal ([D11]
// Algorithm 1). Where that misses too, r = 0 only if there is no admissible answer; near the
// rounding floor the better of the two stays.
static ss_local_info solve_hybrid(const ss_method *method, const ss_local *p,
                                  const ss_local_goal *goal, double r[3],
                                  ss_local_counters *counters)
{
    const double start[3] = {r[0], r[1], r[2]};
    ss_local_info first = method->local->solve(p, goal, method->local_settings, r);
    first.error = isnan(first.error) ? ss_local_error(p, goal, r) : first.error;
    if (first.error <= goal->tolerance) {
        first.outcome = SS_CONVERGED;
        return first;
    }
    counters->failsafe_calls++;
    const double kept[3] = {r[0], r[1], r[2]};
    for (int c = 0; c < 3; c++) {
        r[c] = start[c];
    }
    ss_local_goal same = *goal;
    same.memo = NULL; // as the primary solver owns it
    ss_local_info second = method->failsafe->solve(p, &same, method->failsafe_settings, r);
    if (second.outcome == SS_NO_SOLUTION) {
        return second;
    }
    second.error = isnan(second.error) ? ss_local_error(p, goal, r) : second.error;
    if (!(second.error <= first.error) && !isnan(first.error)) {
        r[0] = kept[0];
        r[1] = kept[1];
        r[2] = kept[2];
        second.error = first.error;
        second.normal_met = first.normal_met;
    }
    second.iterations += first.iterations;
    second.outcome = second.error <= goal->tolerance ? SS_CONVERGED : SS_STALLED;
    return second;
}

static ss_local_info solve_law(const ss_method *method, const ss_local *p,
                               const ss_local_goal *goal, double r[3], ss_local_counters *counters)
{
    return method->failsafe != NULL ? solve_hybrid(method, p, goal, r, counters)
                                    : method->local->solve(p, goal, method->local_settings, r);
}

// Because f contains mu r_N, at small mu a solver is content with |f| while the normal parts are
// far from their law, by up to 1/mu times as much. It is then asked again, from there, for an |f|
// as small as the normal parts need.
#define ASK_AGAIN 4
#define ASK_SHARE 0.1 // share of the |f| that would suffice if both were in proportion
ss_local_info ss_contact_ask_again(const ss_method *method, const ss_local *p,
                                   const ss_local_goal *goal, int iterations, double r[3],
                                   ss_local_counters *counters)
{
    double missed = ss_contact_normal_missed(p, goal, r);
    ss_local_goal closer = *goal;
    ss_local_info info = {.outcome = SS_CONVERGED, .iterations = iterations, .error = NAN};
    for (int k = 0; k < ASK_AGAIN && missed > goal->normal; k++) {
        closer.tolerance *= ASK_SHARE * goal->normal / missed;
        const int before = info.iterations;
        info = solve_law(method, p, &closer, r, counters);
        info.iterations += before;
        missed = ss_contact_normal_missed(p, goal, r);
    }
    if (info.outcome == SS_CONVERGED || info.outcome == SS_STALLED) {
        info.error = ss_local_error(p, goal, r);
        info.outcome =
            missed <= goal->normal && info.error <= goal->tolerance ? SS_CONVERGED : SS_STALLED;
    }
    return info;
}

ss_local_info ss_contact_solve(const ss_method *method, const ss_local *p,
                               const ss_local_goal *goal, double r[3], ss_local_counters *counters)
{
    ss_local_counters own = {0};
    counters = counters != NULL ? counters : &own;
    counters->solves++;
    ss_local_info info = {.outcome = SS_NOT_COVERED, .error = NAN};
    if (method == NULL || method->local == NULL || p == NULL || goal == NULL || r == NULL) {
        counters->failures++;
        return info;
    }
    if (!(ss_local_own_scale(p) > 0.0)) {
        info = solve_rigid(p, r);
    } else if (p->mu == 0.0) {
        info = solve_frictionless(p, r);
    } else {
        info = solve_law(method, p, goal, r, counters);
        if (ss_contact_misses_normal(p, goal, &info, r)) {
            info = ss_contact_ask_again(method, p, goal, info.iterations, r, counters);
        }
    }
    counters->failures += info.outcome != SS_CONVERGED && info.outcome != SS_STEPPED;
    return info;
}
