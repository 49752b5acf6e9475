// strands/snapshot.h -- where everything in a world is at one time (internal).
#pragma once

#include "base/team.h"
#include "strands/step/system.h"

typedef struct ss_snapshot {
    double time;             // s, of the bodies
    ss_placed all;           // points and samples of all strands, in the order of the world
    ss_vec3 *x;              // [npoints] of these points
    ss_motion_state *bodies; // [nbodies]
    ss_pose *obstacles;      // [nobstacles] in the world
} ss_snapshot;

// Room for a world as it is now. False without memory; free what it was given in every case.
bool ss_snapshot_init(ss_snapshot *s, const ss_world *w);
void ss_snapshot_free(ss_snapshot *s);

void ss_snapshot_script(ss_snapshot *s, const ss_world *w, double time); // bodies and obstacles
// Strands, shared among the threads of a team; NULL: one.
void ss_snapshot_place(ss_snapshot *s, const ss_world *w, const ss_world_state *state,
                       ss_team *team);
// The same of strand k alone.
void ss_snapshot_place_strand(ss_snapshot *s, const ss_world *w, const ss_world_state *state,
                              int k);

// The part of strand k.
ss_placed ss_snapshot_strand(const ss_snapshot *s, const ss_world *w, int k);
