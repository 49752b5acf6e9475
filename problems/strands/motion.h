// problems/strands/motion.h -- scripted motions of heads, obstacles and clamps.
//
// A motion turns a body by angle(t) about a fixed axis through a fixed point and then shifts it by
// shift(t) along a fixed direction; both profiles are twice differentiable, so that accelerations
// are those of the positions.
#pragma once

#include "problems/strands/geometry.h"

typedef enum ss_profile_kind {
    SS_PROFILE_STILL,     // 0
    SS_PROFILE_OSCILLATE, // size sin(2 pi t / period), eased in over the first period
    SS_PROFILE_MOVE,      // from 0 to size between start and start + period, then at rest
    SS_PROFILE_STEADY,    // speed size / period, eased in over the first period
} ss_profile_kind;

typedef struct ss_profile {
    ss_profile_kind kind;
    double size;   // rad or m
    double period; // s
    double start;  // s: 0 before
} ss_profile;

// Value and two derivatives by time.
void ss_profile_at(const ss_profile *p, double t, double value[3]);

typedef struct ss_motion {
    ss_profile angle;  // rad
    ss_vec3 axis;      // unit
    ss_vec3 centre;    // m
    ss_profile shift;  // m
    ss_vec3 direction; // unit
} ss_motion;

ss_motion ss_motion_still(void);

// Where a body is and how it moves: its pose, and of the point x of the world that it carries
// velocity v = velocity + spin x (x - place) and acceleration a = acceleration + spin_rate x
// (x - place) + spin x (spin x (x - place)).
typedef struct ss_motion_state {
    ss_pose pose;
    ss_vec3 velocity, spin;          // m/s, rad/s
    ss_vec3 acceleration, spin_rate; // m/s^2, rad/s^2
} ss_motion_state;

void ss_motion_at(const ss_motion *m, double t, ss_motion_state *state);
