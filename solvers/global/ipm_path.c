#include "solvers/global/ipm_path.h"

#include <math.h>
#include <stdlib.h>

#include "solvers/small.h"
#include "solvers/vectors.h"

#define MOST_FALL     0.95 // of t in a step
#define MOST_GROWTH   3.0
#define HALVINGS      12 // in the search for k,
#define MOST_HALVINGS 50 // and near the path
#define KEPT          0.95 // share of the way to the boundary: with 0.99 fewer paths come to their end
#define SHORT         0.3  // a step below it is made again without the correction of second order,
#define AT_REST       0.01 // and so is one of which the correction leaves no more than this share
#define ROUNDING      0.1  // a step below it is spoilt by rounding: delta grows

// If the path is lost, the method goes back to the last point near it.
#define NEAR     1.0  // |n + k_0 s|^2 of a contact, at most, there
#define LOST     25   // steps since then,
#define STUCK    0.02 // or steps below this
#define STUCK_IN 3    // so often in a row
#define RETURNS  8    // to one point
#define SHORTER  0.4  // moves along the path, after a return or on a round
#define LONGER   1.2  // after each step since
#define CAREFUL  15   // times the returns: steps after the last in which moves begin where
#define CLOSE    2.0  // |n + k_0 s|^2 of each contact is at most this

bool ss_ipm_path_allocate(const ss_interior *state, ss_ipm_path *path)
{
    path->newton = ss_ipm_point_new(state);
    path->along = ss_ipm_point_new(state);
    path->near = ss_ipm_point_new(state);
    path->least_delta = state->delta;
    return path->newton.q != NULL && path->along.q != NULL && path->near.q != NULL;
}

void ss_ipm_path_release(ss_ipm_path *path)
{
    free(path->newton.q);
    free(path->along.q);
    free(path->near.q);
}

void ss_ipm_path_begin(ss_ipm_path *path, double t)
{
    path->t = t;
    path->near_t = 0.0;
    path->reach = 1.0;
    path->returns = path->careful = path->since = path->stuck = 0;
}

static double multiply(const ss_interior *state, double t, ss_ipm_point a, ss_ipm_point b)
{
    double sum = 0.0;
    for (int i = 0; i < state->system->c->n; i++) {
        sum += ss_ipm_part(state, i, a, b);
    }
    return sum / t;
}

// The largest part of |direction|^2 that is one contact's.
static double find_largest(const ss_interior *state, double t)
{
    const ss_ipm_point d = ss_ipm_change(state);
    double largest = 0.0;
    for (int i = 0; i < state->system->c->n; i++) {
        const double part = ss_ipm_part(state, i, d, d);
        largest = part <= largest ? largest : part;
    }
    return largest / t;
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

// h for t, with `more` added to all: where the path was lost, no contact is to come to it in one step.
static void aim(ss_interior *state, const ss_ipm_path *path, double t, double more, bool correct)
{
    if (path->careful > 0) {
        ss_ipm_aim_near(state, t, more, correct);
    } else {
        ss_ipm_aim(state, t + more, correct);
    }
}

// n and s. Whether rounding has spoilt n.
static bool find_both(ss_interior *state, ss_ipm_path *path)
{
    aim(state, path, path->t, 0.0, false);
    ss_ipm_direction(state);
    const bool is_rough = state->is_rough;
    ss_ipm_copy(state, ss_ipm_change(state), path->newton);
    aim(state, path, path->t, path->t, false);
    ss_ipm_direction(state);
    ss_ipm_copy(state, ss_ipm_change(state), path->along);
    add(state, -1.0, path->newton, path->along);
    return is_rough;
}

static bool is_inside(bool line, const double x[3], const double dx[3], double k, const double s[3])
{
    const double p[3] = {x[0] + dx[0] + k * s[0], x[1] + dx[1] + k * s[1], x[2] + dx[2] + k * s[2]};
    return p[0] > 0.0 && (line || p[0] * p[0] > p[1] * p[1] + p[2] * p[2]);
}

// Whether a whole step of the direction, n + k_0 s, and k s stays in the cones.
static bool stays(const ss_interior *state, const ss_ipm_path *path, double k)
{
    for (int i = 0; i < state->system->c->n; i++) {
        const size_t at = 4 * (size_t)i;
        const bool line = ss_ipm_is_line(state, i);
        if (!is_inside(line, state->x + at, state->dx + at, k, path->along.x + at) ||
            !is_inside(line, state->y + at, state->dy + at, k, path->along.y + at)) {
            return false;
        }
    }
    return true;
}

// The largest k <= most with n + (k_0 + sign k) s in the cones, by bisection; 0 where there is none. At a fold s is
// unbounded, and a k too small for some halvings may be a long move: near the path it is looked for.
static double find_move(const ss_interior *state, const ss_ipm_path *path, double sign, double most,
                        bool near)
{
    double low = 0.0, high = most, k = most;
    for (int j = 0; low < most && (j < HALVINGS || (near && low == 0.0 && j < MOST_HALVINGS));
         j++) {
        if (stays(state, path, sign * k)) {
            low = k;
        } else {
            high = k;
        }
        k = 0.5 * (low + high);
    }
    return low;
}

// The factor of s in (1). *far is the largest part of |n + k_0 s|^2.
static double find_factor(ss_interior *state, const ss_ipm_path *path, double *far)
{
    const double n = state->system->c->n;
    const double both = multiply(state, path->t, path->newton, path->along);
    const double along = multiply(state, path->t, path->along, path->along);
    const double k0 = -both / (along + n);
    set_direction(state, path, k0);
    *far = find_largest(state, path->t);
    if (path->careful > 0 && !(*far <= CLOSE)) {
        return k0;
    }
    const bool grows = ss_block_lu_is_negative(state->system->lu);
    const double sign = grows ? 1.0 : -1.0;
    const double most = grows ? MOST_GROWTH : fmax(MOST_FALL + k0, 0.0);
    return k0 + sign * path->reach * find_move(state, path, sign, most, *far <= CLOSE);
}

// The direction n + k s with its correction of second order, or without where that is too short. The length of
// the step, which takes at most 0.95 of t away.
//
// The corrected direction is 0 at each point with x o y + T dx o T^-1 dy = t e, where (dx, dy) is the direction
// before the correction. That is no point of the path unless (dx, dy) is 0, too: without it the step leads on.
static double find_step(ss_interior *state, const ss_ipm_path *path, double k, double far)
{
    set_direction(state, path, k);
    if (k >= -MOST_FALL) {
        aim(state, path, (1.0 + k) * path->t, 0.0, true);
        ss_ipm_direction(state);
        const double a = fmin(1.0, KEPT * ss_ipm_way(state));
        if (a >= SHORT && find_largest(state, path->t) >= AT_REST * far) {
            return a;
        }
        set_direction(state, path, k);
    }
    return fmin(fmin(1.0, KEPT * ss_ipm_way(state)), MOST_FALL / fmax(-k, MOST_FALL));
}

// Keeps the point if it is near the path.
static void look(const ss_interior *state, ss_ipm_path *path, double far)
{
    path->since++;
    path->careful -= path->careful > 0;
    if (far <= NEAR) {
        ss_ipm_copy(state, ss_ipm_place(state), path->near);
        path->near_t = path->t;
        path->returns = path->careful > 0 ? path->returns : 0;
        path->since = 0;
    }
}

void ss_ipm_path_shorten(ss_ipm_path *path)
{
    path->reach *= SHORTER;
}

// Whether the path was lost, and the point is again the last near it.
static bool go_back(ss_interior *state, ss_ipm_path *path, double a)
{
    path->stuck = a >= STUCK ? 0 : path->stuck + 1;
    if ((path->stuck < STUCK_IN && path->since <= LOST) || path->near_t == 0.0 ||
        path->returns == RETURNS) {
        return false;
    }
    ss_ipm_copy(state, path->near, ss_ipm_place(state));
    path->t = path->near_t;
    ss_ipm_path_shorten(path);
    path->returns++;
    path->careful = CAREFUL * path->returns;
    path->since = path->stuck = 0;
    return true;
}

bool ss_ipm_path_step(ss_interior *state, ss_ipm_path *path)
{
    state->gap = path->t;
    if (!ss_ipm_factor(state)) {
        return false;
    }
    const bool is_rough = find_both(state, path);
    double far;
    const double k = find_factor(state, path, &far);
    look(state, path, far);
    const double a = find_step(state, path, k, far);
    if (go_back(state, path, a)) {
        return true;
    }
    if (!(a > 0.0) || !isfinite(a)) {
        return false;
    }
    path->reach = fmin(1.0, LONGER * path->reach);
    ss_ipm_move(state, a);
    path->t *= 1.0 + a * k;
    if (a < ROUNDING || is_rough) {
        ss_ipm_soften(state);
    } else {
        ss_ipm_harden(state, path->least_delta);
    }
    return true;
}
