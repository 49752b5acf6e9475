#include "solvers/global/ipm_path.h"

#include <math.h>
#include <stdlib.h>

#include "solvers/small.h"
#include "solvers/vectors.h"

#define NEAR        0.25 // |n + k_0 s|^2 over the number of contacts: above it the step only corrects
#define MOST_FALL   0.95 // of t in a step
#define MOST_GROWTH 3.0
#define KEPT        0.95 // share of the way to the boundary: with 0.99 fewer paths come to their end
#define HALVINGS    12   // in the search for k
#define SHORT       0.3  // a step below it is made again without the correction of second order
#define ROUNDING    0.1  // a step below it is spoilt by rounding: delta grows

bool ss_ipm_path_allocate(const ss_interior *state, ss_ipm_path *path)
{
    path->newton = ss_ipm_point_new(state);
    path->along = ss_ipm_point_new(state);
    path->least_delta = state->delta;
    return path->newton.q != NULL && path->along.q != NULL;
}

void ss_ipm_path_release(ss_ipm_path *path)
{
    free(path->newton.q);
    free(path->along.q);
}

// The part of <a, b> without t.
static double multiply(const ss_interior *state, double t, ss_ipm_point a, ss_ipm_point b)
{
    double sum = 0.0;
    for (int i = 0; i < state->system->c->n; i++) {
        const size_t at = 4 * (size_t)i;
        const ss_scaling *s = &state->scaling[i];
        double p[3], q[3];
        ss_scaling_apply(s, a.x + at, p);
        ss_scaling_apply(s, b.x + at, q);
        sum += ss_dot3(p, q);
        ss_scaling_remove(s, a.y + at, p);
        ss_scaling_remove(s, b.y + at, q);
        sum += ss_dot3(p, q);
    }
    return sum / t;
}

// b <- b + factor a.
static void add(const ss_interior *state, double factor, ss_ipm_point a, ss_ipm_point b)
{
    const size_t contacts = 4 * (size_t)state->system->c->n;
    ss_vector_add(state->size, factor, a.q, b.q);
    ss_vector_add(contacts, factor, a.x, b.x);
    ss_vector_add(contacts, factor, a.y, b.y);
}

// The direction becomes n + k s.
static void set_direction(ss_interior *state, const ss_ipm_path *path, double k)
{
    ss_ipm_copy(state, path->newton, ss_ipm_change(state));
    add(state, k, path->along, ss_ipm_change(state));
}

// n and s. Whether rounding has spoilt n.
static bool find_both(ss_interior *state, ss_ipm_path *path)
{
    ss_ipm_aim(state, path->t, false);
    ss_ipm_direction(state);
    const bool is_rough = state->is_rough;
    ss_ipm_copy(state, ss_ipm_change(state), path->newton);
    ss_ipm_aim(state, 2.0 * path->t, false);
    ss_ipm_direction(state);
    ss_ipm_copy(state, ss_ipm_change(state), path->along);
    add(state, -1.0, path->newton, path->along);
    return is_rough;
}

// The largest k <= most with n + (k_0 + sign k) s in the cones, by bisection; 0 where there is none.
static double find_move(ss_interior *state, const ss_ipm_path *path, double k0, double sign,
                        double most)
{
    double low = 0.0, high = most, k = most;
    for (int j = 0; j < HALVINGS && most > 0.0; j++, k = 0.5 * (low + high)) {
        set_direction(state, path, k0 + sign * k);
        if (ss_ipm_way(state) >= 1.0) {
            low = k;
        } else {
            high = k;
        }
        if (low == most) {
            break;
        }
    }
    return low;
}

// The factor of s in (1).
static double find_factor(ss_interior *state, const ss_ipm_path *path)
{
    const double n = state->system->c->n;
    const double both = multiply(state, path->t, path->newton, path->along);
    const double along = multiply(state, path->t, path->along, path->along);
    const double k0 = -both / (along + n);
    const double far =
        multiply(state, path->t, path->newton, path->newton) + k0 * (2.0 * both + k0 * along);
    const bool grows = ss_block_lu_is_negative(state->system->lu);
    const double sign = grows ? 1.0 : -1.0;
    const double most = !(far <= NEAR * n) ? 0.0 : grows ? MOST_GROWTH : fmax(MOST_FALL + k0, 0.0);
    const double k = k0 + sign * find_move(state, path, k0, sign, most);
    return fmax(k, -MOST_FALL);
}

bool ss_ipm_path_step(ss_interior *state, ss_ipm_path *path)
{
    state->gap = path->t;
    if (!ss_ipm_factor(state)) {
        return false;
    }
    const bool is_rough = find_both(state, path);
    const double k = find_factor(state, path);
    set_direction(state, path, k);
    ss_ipm_aim(state, (1.0 + k) * path->t, true);
    ss_ipm_direction(state);
    double a = fmin(1.0, KEPT * ss_ipm_way(state));
    if (a < SHORT) {
        set_direction(state, path, k);
        a = fmin(1.0, KEPT * ss_ipm_way(state));
    }
    if (!(a > 0.0) || !isfinite(a)) {
        return false;
    }
    ss_ipm_move(state, a);
    path->t *= 1.0 + a * k;
    if (a < ROUNDING || is_rough) {
        ss_ipm_soften(state);
    } else {
        ss_ipm_harden(state, path->least_delta);
    }
    return true;
}
