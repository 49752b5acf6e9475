// strands/posing.h -- what an animator asks of a strand beside its physics [H06].
//
// Time scale beta and local dynamics gamma: the forces of a strand in the frame of a body know of that body's
// motion beta (motion - gamma motion of a reference body), as a field of velocities and accelerations; places
// and contacts are where the body is. Posing: a spring and a damper from every point of the polyline to its
// place in a pose, which moves with the carrier of the strand,
//
//     F += J'(-strength (x - pose) - damping (xdot - pose rate))
//
// Both are steps of M in full: C gains damping J'J and K strength J'J. Keys are joined by straight lines.
//
// doc/strands.md, "Base motion and controls".
#pragma once

#include "strands/world.h"

typedef struct ss_posing_key {
    double time;     // s
    double strength; // N/m, of each point
    double damping;  // N s/m
    const ss_vec3
        *place; // [npoints] m, in the frame of the carrier; NULL: as in the key before, and in the
                // first as the strand is now
} ss_posing_key;

struct ss_posing {
    int nkeys, npoints;
    ss_posing_key *keys; // [nkeys] with places of its own
};

// For models of SS_FRAME_ROOT. SS_BAD_INPUT with a sentence for others, for numbers that are not finite, and
// for a share of the motion of the world, body 0.
ss_status ss_world_scale_motion(ss_world *w, int strand, double time_scale, double local,
                                int reference, ss_error *e);
// Keys of increasing time, copied. A strand that is posed already is posed anew.
ss_status ss_world_pose_strand(ss_world *w, int strand, int nkeys, const ss_posing_key *keys,
                               ss_error *e);

// ---- For steps (internal)

// The motion of its carrier that the forces of a strand know of.
ss_motion_state ss_strand_felt(const ss_strand *s, const ss_motion_state *carrier,
                               const ss_motion_state *reference);

// A posing at one time: `share` of the way from key to key + 1.
typedef struct ss_posing_at {
    double strength, damping;
    const ss_vec3 *from, *to; // [npoints]
    double share, rate;       // rate: of share, 1/s
} ss_posing_at;

ss_posing_at ss_posing_find(const struct ss_posing *p, double time);
