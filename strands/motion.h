// strands/motion.h -- scripted motions of heads, obstacles and clamps.
//
// A motion turns a body by angle(t) about a fixed axis through a fixed point and then shifts it by
// shift(t) along a fixed direction; both profiles are twice differentiable, so that accelerations
// are those of the positions. Or it goes through poses at given times, its keys.
#pragma once

#include "base/status.h"
#include "strands/geometry.h"

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

// Returns the largest second derivative of a move, or of a steady motion that begins; 0 of the
// others.
double ss_profile_start(const ss_profile *p);

// The pose of a body at one time.
typedef struct ss_motion_key {
    double time;            // s
    ss_vec3 place;          // m
    ss_quat turn;           // of unit length
    ss_vec3 velocity, spin; // of the motion there, found by ss_motion_keys_join
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

// The pose of a body and its motion: a point x of the world that it carries has the velocity
// velocity + spin x (x - place) and the acceleration acceleration + spin_rate x (x - place) + spin
// x (spin x (x - place)).
typedef struct ss_motion_state {
    ss_pose pose;
    ss_vec3 velocity, spin;          // m/s, rad/s
    ss_vec3 acceleration, spin_rate; // m/s^2, rad/s^2
} ss_motion_state;

void ss_motion_at(const ss_motion *m, double t, ss_motion_state *state);

// Finds velocities and accelerations of a motion through n keys, whose times increase.
void ss_motion_keys_join(int n, ss_motion_key *keys);
// SS_BAD_INPUT with a sentence where a motion with joined keys jumps: where its acceleration is
// above SS_MOTION_JUMP, its spin changes faster than SS_MOTION_SPIN_JUMP, or it turns by so much
// between two keys that either way may be meant.
#define SS_MOTION_JUMP      1e3 // m/s^2
#define SS_MOTION_SPIN_JUMP 3e3 // rad/s^2
ss_status ss_motion_keys_check(const ss_motion *m, ss_error *e);

// ---- For tests

// Finds a profile's value and two derivatives by time.
void ss_profile_at(const ss_profile *p, double t, double value[3]);
