// strands/motion.c -- profiles of time and the rigid motions made of them.
//
// With R the turn, c the centre and d = shift x direction a body carries x to R (x - c) + c + d.
// Everything is eased in by s(x) = 10 x^3 - 15 x^4 + 6 x^5, whose first and second derivatives
// vanish at 0 and at 1.
#include "strands/motion.h"

// s and its first two derivatives; 0 before x = 0 and 1 after x = 1.
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

// The integral of s from 0 to x.
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

// In units of size and period.
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

ss_motion ss_motion_still(void)
{
    return (ss_motion){.axis = {0.0, 0.0, 1.0}, .direction = {1.0, 0.0, 0.0}};
}

void ss_motion_at(const ss_motion *m, double t, ss_motion_state *state)
{
    double angle[3], shift[3];
    if (m->nkeys > 0) {
        ss_motion_keys_at(m, t, state);
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
