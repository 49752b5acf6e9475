// strands/motion.h -- scripted motions of heads, obstacles and clamps.
//
// A motion turns a body by angle(t) about a fixed axis through a fixed point and then shifts it by
// shift(t) along a fixed direction; both profiles are twice differentiable, so that accelerations
// are those of the positions. Or it goes through poses at given times (motion_keys.c).
#pragma once

#include "base/status.h"
#include "strands/geometry.h"
#include "strands/quaternion.h"

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
// The largest second derivative of a move, or of a steady motion that begins; 0 of the others.
double ss_profile_start(const ss_profile *p);

// Where a body is at one time.
typedef struct ss_motion_key {
    double time;            // s
    ss_vec3 place;          // m
    ss_quat turn;           // of unit length
    ss_vec3 velocity, spin; // of the motion there, by ss_motion_keys_join, as the next two
    ss_vec3 acceleration, spin_rate;
} ss_motion_key;

typedef struct ss_motion {
    int nkeys;           // 0: the profiles rule
    ss_motion_key *keys; // [nkeys] of increasing time
    ss_profile angle;    // rad
    ss_vec3 axis;        // unit
    ss_vec3 centre;      // m
    ss_profile shift;    // m
    ss_vec3 direction;   // unit
} ss_motion;

ss_motion ss_motion_still(void);

// Velocities and accelerations of a motion through n keys, see motion_keys.c.
void ss_motion_keys_join(int n, ss_motion_key *keys);
// Where a body is and how it moves: its pose, and of the point x of the world that it carries
// velocity v = velocity + spin x (x - place) and acceleration a = acceleration + spin_rate x
// (x - place) + spin x (spin x (x - place)).
typedef struct ss_motion_state {
    ss_pose pose;
    ss_vec3 velocity, spin;          // m/s, rad/s
    ss_vec3 acceleration, spin_rate; // m/s^2, rad/s^2
} ss_motion_state;

// SS_BAD_INPUT with a sentence where a motion with joined keys jumps: where its acceleration is above
// SS_MOTION_JUMP, its spin changes faster than SS_MOTION_SPIN_JUMP, or it turns by more than SS_MOTION_TURN between
// two keys, so that either way may be meant.
#define SS_MOTION_JUMP      1e3 // m/s^2
#define SS_MOTION_SPIN_JUMP 3e3 // rad/s^2
#define SS_MOTION_TURN      3.0 // rad
ss_status ss_motion_keys_check(const ss_motion *m, ss_error *e);

void ss_motion_at(const ss_motion *m, double t, ss_motion_state *state);
// The same of a motion that has keys (internal: the function above calls it).
void ss_motion_keys_at(const ss_motion *m, double t, ss_motion_state *state);
