// strands/motion.c -- profiles of time and the rigid motions made of them, and motions through
// given poses.
//
// With R the turn, c the centre and d = shift x direction a body carries x to R (x - c) + c + d.
// Profiles are eased in by s(x) = 10 x^3 - 15 x^4 + 6 x^5, whose first and second derivatives
// vanish at 0 and at 1.
#include "strands/motion.h"

#include "base/assert.h"
#include "strands/helix.h"

#include <stdbool.h>

// ---- Profiles of time

// Finds s and its first two derivatives; 0 before x = 0 and 1 after x = 1.
static void ease(double x, double s[3])
{
    if (x <= 0.0 || x >= 1.0) {
        s[0] = x <= 0.0 ? 0.0 : 1.0;
        s[1] = s[2] = 0.0;
        return;
    }
    const double rest = 1.0 - x;
    s[0] = x * x * x * (10.0 + x * (6.0 * x - 15.0));
    s[1] = 30.0 * x * x * rest * rest;
    s[2] = 60.0 * x * rest * (rest - x);
}

// Returns the integral of s from 0 to x.
static double eased_way(double x)
{
    if (x >= 1.0) {
        return x - 0.5;
    }
    return x <= 0.0 ? 0.0 : x * x * x * x * (2.5 + x * (x - 3.0));
}

static void oscillate(double x, double value[3])
{
    const double turn = 2.0 * M_PI;
    const double wave = sin(turn * x), wave1 = turn * cos(turn * x), wave2 = -turn * turn * wave;
    double s[3];
    ease(x, s);
    value[0] = s[0] * wave;
    value[1] = s[1] * wave + s[0] * wave1;
    value[2] = s[2] * wave + 2.0 * s[1] * wave1 + s[0] * wave2;
}

// Finds a profile in units of size and period.
static void shape_at(ss_profile_kind kind, double x, double value[3])
{
    double s[3];
    value[0] = value[1] = value[2] = 0.0;
    switch (kind) {
    case SS_PROFILE_STILL:
        break;
    case SS_PROFILE_OSCILLATE:
        oscillate(x, value);
        break;
    case SS_PROFILE_MOVE:
        ease(x, value);
        break;
    case SS_PROFILE_STEADY:
        ease(x, s);
        value[0] = eased_way(x);
        value[1] = s[0];
        value[2] = s[1];
        break;
    }
}

void ss_profile_at(const ss_profile *p, double t, double value[3])
{
    if (p->kind == SS_PROFILE_STILL || !(t > p->start)) {
        value[0] = value[1] = value[2] = 0.0;
        return;
    }
    shape_at(p->kind, (t - p->start) / p->period, value);
    value[0] *= p->size;
    value[1] *= p->size / p->period;
    value[2] *= p->size / (p->period * p->period);
}

// The largest |s''| is 10/sqrt 3, and |s'| is 15/8 in the middle.
double ss_profile_start(const ss_profile *p)
{
    const double most = p->kind == SS_PROFILE_MOVE     ? 10.0 / sqrt(3.0)
                        : p->kind == SS_PROFILE_STEADY ? 1.875
                                                       : 0.0;
    return most > 0.0 ? most * fabs(p->size) / (p->period * p->period) : 0.0;
}

// ---- Motions through given poses
//
// Between two keys a place is a quintic of time, and a turn is R_k exp [phi]x with phi a quintic of
// time from 0 to the rotation vector of R_k' R_{k+1}, on the shorter way. At a key between
// intervals of h0 and h1 with the mean rates d0 and d1 they have
//
//     rate (h1 d0 + h0 d1)/(h0 + h1),   second derivative 2 (d1 - d0)/(h0 + h1)
//
// which are those of the parabola through it and its neighbours, so that the motion between two
// keys depends on four. They are 0 both at the first and the last key, before and after which the
// body rests, and where d0 or d1 is 0: a body that rests between two keys does so. Two keys alone
// are an eased move. Accelerations are continuous: models in the frame of a body sum them up over
// its steps. A script that jumps is refused by the accelerations that it asks for: an eased move of
// 1 m within 1/24 s has 3300 m/s^2.
//
// With T(phi) = I + b [phi]x + c [phi]x^2 (helix.h) the spin is R_k T(phi) phi'.

static bool rests(ss_vec3 rate)
{
    return rate.x == 0.0 && rate.y == 0.0 && rate.z == 0.0;
}

// Finds rate and second derivative at a key.
static void join(ss_vec3 d0, ss_vec3 d1, double h0, double h1, ss_vec3 *rate, ss_vec3 *second)
{
    const double k = rests(d0) || rests(d1) ? 0.0 : 1.0 / (h0 + h1);
    *rate = ss_scaled(k, ss_along(ss_scaled(h1, d0), h0, d1));
    *second = ss_scaled(2.0 * k, ss_minus(d1, d0));
}

// Returns the rotation vector from a key to the next, in the frame of the first.
static ss_vec3 way_between(const ss_motion_key *k)
{
    return ss_quat_log(ss_quat_product(ss_quat_conjugate(k[0].turn), k[1].turn));
}

void ss_motion_keys_join(int n, ss_motion_key *keys)
{
    ss_vec3 rate = {0.0, 0.0, 0.0}, turning = rate;
    double before = 0.0;
    for (int k = 0; k < n; k++) {
        ss_vec3 next = {0.0, 0.0, 0.0}, next_turning = next;
        double h = 0.0;
        if (k + 1 < n) {
            h = keys[k + 1].time - keys[k].time;
            ss_assert(h > 0.0);
            next = ss_scaled(1.0 / h, ss_minus(keys[k + 1].place, keys[k].place));
            next_turning = ss_quat_turned(keys[k].turn, ss_scaled(1.0 / h, way_between(&keys[k])));
        }
        join(rate, next, before, h, &keys[k].velocity, &keys[k].acceleration);
        join(turning, next_turning, before, h, &keys[k].spin, &keys[k].spin_rate);
        rate = next;
        turning = next_turning;
        before = h;
    }
}

// Returns T(phi)^-1 x = x - phi x x / 2 + g phi x (phi x x), g = (1 - |phi|/2 cot |phi|/2) /
// |phi|^2.
static ss_vec3 unspun(ss_vec3 phi, ss_vec3 x)
{
    const double half = 0.5 * ss_length(phi);
    const double g = half > 1e-2 ? (1.0 - half * cos(half) / sin(half)) / (4.0 * half * half)
                                 : 1.0 / 12.0 + half * half / 180.0;
    const ss_vec3 once = ss_cross(phi, x);
    return ss_along(ss_along(x, -0.5, once), g, ss_cross(phi, once));
}

// Rates at one end of an interval.
typedef struct end {
    ss_vec3 rate, second;
} end;

// Finds the quintic from 0 to `way` over h between these ends, at the time t: value and
// derivatives.
static void quintic(ss_vec3 way, end from, end to, double h, double t, ss_vec3 value[3])
{
    const double s = t / h;
    const ss_vec3 c1 = ss_scaled(h, from.rate), c2 = ss_scaled(0.5 * h * h, from.second);
    const ss_vec3 D = ss_minus(ss_minus(way, c1), c2);
    const ss_vec3 V = ss_along(ss_along(ss_scaled(h, to.rate), -1.0, c1), -2.0, c2);
    const ss_vec3 A = ss_along(ss_scaled(h * h, to.second), -2.0, c2);
    const ss_vec3 c3 = ss_along(ss_along(ss_scaled(10.0, D), -4.0, V), 0.5, A);
    const ss_vec3 c4 = ss_along(ss_along(ss_scaled(-15.0, D), 7.0, V), -1.0, A);
    const ss_vec3 c5 = ss_along(ss_along(ss_scaled(6.0, D), -3.0, V), 0.5, A);
    const ss_vec3 c[6] = {{0.0, 0.0, 0.0}, c1, c2, c3, c4, c5};
    double power = 1.0;
    value[0] = value[1] = value[2] = c[0];
    for (int k = 1; k <= 5; k++) { // power = s^(k - 2), s^-1 for the first
        power *= k > 2 ? s : 1.0;
        const double first = k == 1 ? 1.0 : power * s;
        value[0] = ss_along(value[0], first * s, c[k]);
        value[1] = ss_along(value[1], k * first / h, c[k]);
        value[2] = ss_along(value[2], k == 1 ? 0.0 : k * (k - 1) * power / (h * h), c[k]);
    }
}

static void rest_at(const ss_motion_key *k, ss_motion_state *state)
{
    *state = (ss_motion_state){.pose = {ss_quat_matrix(k->turn), k->place}};
}

// The same of a motion that has keys (internal: the function above calls it).
static void keys_at(const ss_motion *m, double t, ss_motion_state *state)
{
    const ss_motion_key *k = m->keys, *last = m->keys + m->nkeys - 1;
    if (!(t > k->time) || t >= last->time) {
        rest_at(t >= last->time ? last : k, state);
        return;
    }
    while (k[1].time <= t) {
        k++;
    }
    const double h = k[1].time - k->time, since = t - k->time;
    const ss_mat3 R = ss_quat_matrix(k->turn);
    const ss_vec3 way = way_between(k);
    ss_vec3 place[3], phi[3], spin, rate, more, unused;
    const end from = {ss_turned_back(&R, k->spin), ss_turned_back(&R, k->spin_rate)};
    end to = {unspun(way, ss_turned_back(&R, k[1].spin)), ss_turned_back(&R, k[1].spin_rate)};
    ss_helix_spin_at(way, to.rate, 1.0, &spin,
                     &rate); // the part of the spin's rate that phi' alone gives
    to.second = unspun(way, ss_minus(to.second, rate));
    quintic(ss_minus(k[1].place, k->place), (end){k->velocity, k->acceleration},
            (end){k[1].velocity, k[1].acceleration}, h, since, place);
    quintic(way, from, to, h, since, phi);
    ss_helix_spin_at(phi[0], phi[1], 1.0, &spin, &rate);
    ss_helix_spin_at(phi[0], phi[2], 1.0, &more, &unused);
    const ss_mat3 turned = ss_rotation(phi[0]);
    *state = (ss_motion_state){.pose = {ss_mat3_product(&R, &turned), ss_plus(k->place, place[0])},
                               .velocity = place[1],
                               .spin = ss_turned(&R, spin),
                               .acceleration = place[2],
                               .spin_rate = ss_turned(&R, ss_plus(rate, more))};
}

// ---- Motions

ss_motion ss_motion_still(void)
{
    return (ss_motion){.axis = {0.0, 0.0, 1.0}, .direction = {1.0, 0.0, 0.0}};
}

void ss_motion_at(const ss_motion *m, double t, ss_motion_state *state)
{
    double angle[3], shift[3];
    if (m->nkeys > 0) {
        keys_at(m, t, state);
        return;
    }
    ss_profile_at(&m->angle, t, angle);
    ss_profile_at(&m->shift, t, shift);
    state->pose.turn = ss_rotation(ss_scaled(angle[0], m->axis));
    const ss_vec3 arm = ss_scaled(-1.0, ss_turned(&state->pose.turn, m->centre));
    state->pose.place = ss_along(ss_plus(m->centre, arm), shift[0], m->direction);
    state->spin = ss_scaled(angle[1], m->axis);
    state->spin_rate = ss_scaled(angle[2], m->axis);
    const ss_vec3 turning = ss_cross(state->spin, arm);
    state->velocity = ss_along(turning, shift[1], m->direction);
    state->acceleration =
        ss_along(ss_plus(ss_cross(state->spin_rate, arm), ss_cross(state->spin, turning)), shift[2],
                 m->direction);
}
// ---- Jumps

#define MOST_TURN 3.0 // rad between two keys; beyond it either way may be meant
#define SAMPLES   16  // of an interval

// The accelerations that a motion needs between two keys.
typedef struct need {
    int from;                       // the first of them
    double acceleration, spin_rate; // the largest
    double size;                    // above 1: a jump
} need;

static need need_between(const ss_motion *m, int k)
{
    const double from = m->keys[k].time, h = m->keys[k + 1].time - from;
    need most = {.from = k};
    double sum = 0.0 * h; // 0; NaN where the time between the keys, or its square, is out of range
    for (int i = 0; i < SAMPLES; i++) {
        ss_motion_state at;
        keys_at(m, from + h * (i + 0.5) / SAMPLES, &at);
        most.acceleration = fmax(most.acceleration, ss_length(at.acceleration));
        most.spin_rate = fmax(most.spin_rate, ss_length(at.spin_rate));
        sum +=
            0.0 * (ss_length(at.pose.place) + ss_length(at.acceleration) + ss_length(at.spin_rate));
    }
    most.size = fmax(most.acceleration / SS_MOTION_JUMP, most.spin_rate / SS_MOTION_SPIN_JUMP);
    most.size = sum == 0.0 ? most.size : INFINITY;
    return most;
}

ss_status ss_motion_keys_check(const ss_motion *m, ss_error *e)
{
    const ss_motion_key *keys = m->keys;
    need worst = {0};
    for (int k = 0; k + 1 < m->nkeys; k++) {
        const double turn = ss_length(way_between(&keys[k]));
        const need here = need_between(m, k);
        worst = here.size > worst.size ? here : worst;
        if (turn > MOST_TURN) {
            return ss_fail(
                e, SS_BAD_INPUT,
                "the motion of a body turns by %.3g rad between its keys %d and %d (%g s "
                "and %g s), where either way may be meant; put keys in between",
                turn, k, k + 1, keys[k].time, keys[k + 1].time);
        }
    }
    if (worst.size > 1.0) {
        const ss_motion_key *at = &keys[worst.from];
        if (!isfinite(worst.size)) {
            return ss_fail(
                e, SS_BAD_INPUT,
                "no motion of a body between its keys %d and %d (%g s and %g s) has finite "
                "accelerations; give them other times",
                worst.from, worst.from + 1, at->time, at[1].time);
        }
        return ss_fail(e, SS_BAD_INPUT,
                       "the motion of a body jumps between its keys %d and %d (%g s and %g s): it "
                       "would need %.3g m/s^2 and %.3g rad/s^2, and at most %g and %g are taken; "
                       "give the move more time",
                       worst.from, worst.from + 1, at->time, at[1].time, worst.acceleration,
                       worst.spin_rate, SS_MOTION_JUMP, SS_MOTION_SPIN_JUMP);
    }
    return SS_OK;
}
