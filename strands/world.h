// strands/world.h -- strands, obstacles and the bodies that carry them; where all of them are at a
// time.
#pragma once

#include "base/team.h"
#include "strands/contact/obstacle.h"
#include "strands/model.h"
#include "strands/motion.h"
#include "strands/wind.h"

typedef struct ss_strand {
    const ss_strand_model *model;
    void *self; // the model's own; owned
    ss_strand_size size;
    double length; // m, as designed
    ss_material material;
    ss_clamp clamp;
    int body, tip_body;          // carry root and tip, where these are clamped
    int carrier;                 // body that carries q and v: `body`, or 0 of SS_FRAME_WORLD
    ss_pose root;                // in the body's frame
    ss_pose still[2];            // inverse of the poses of both bodies when it was added
    int q, v, point, sample;     // where its numbers begin in the arrays of all strands
    double time_scale, local;    // 1 and 0 unless ss_world_scale_motion has changed them
    int reference;               // the body against which it moves then
    struct ss_posing *posing;    // NULL: it has no pose; owned
    ss_vec3 pull_root, pull_tip; // N: constant forces at the first and last point of the polyline
    ss_strand_design *design;    // as given; owned. NULL where the world keeps none
} ss_strand;

// The part of a world that a step changes.
typedef struct ss_world_state {
    double time; // s
    double *q;   // [nq]
    double *v;   // [nv]
} ss_world_state;

typedef struct ss_world {
    ss_vec3 gravity; // m/s^2
    double drag;     // kg/(m s): force per length and velocity against the air
    double radius;   // m, of collision cylinders
    double mu;       // strand against strand

    bool keeps_designs; // of the strands that are added from now on
    bool settled;       // by ss_world_settle

    int nbodies, nobstacles, nstrands, nwinds; // all owned
    ss_motion *bodies;
    ss_obstacle *obstacles;
    ss_wind *winds; // without one the air rests
    ss_strand *strands;

    int nq, nv, npoints, nsamples; // of all strands
    double *mass, *length;         // [nsamples] of the samples
    ss_wind_place *wind_places;    // [nsamples] likewise, if there are winds; NULL: none yet
    ss_world_state now;
    int unsettled; // strands that ss_world_settle left as they were: their models have no `balance`
} ss_world;

// Makes an empty world with earth's gravity along -y, no drag, radius 55 um and mu 0.3. NULL
// without memory.
ss_world *ss_world_new(void);
void ss_world_free(ss_world *w); // takes NULL and half-built worlds

// Makes arrays as large as those of w->now, which may be exchanged for them; not filled. False
// without memory; free what it was given in every case.
bool ss_world_state_init(ss_world_state *state, const ss_world *w);
void ss_world_state_free(ss_world_state *state);

// Adds a body; *body is its number. Body 0, which never moves, is there from the start. Keys are
// copied and joined.
ss_status ss_world_add_body(ss_world *w, const ss_motion *motion, int *body, ss_error *e);
ss_status ss_world_add_obstacle(ss_world *w, const ss_obstacle *obstacle, ss_error *e);
// Adds a strand, which starts in its style, at rest or with the velocities of its design's
// vertices. *number is its place in strands.
ss_status ss_world_add_strand(ss_world *w, const ss_model_choice *model,
                              const ss_strand_design *design, int body, const ss_pose *root,
                              int *number, ss_error *e);
// Sets the body that carries the clamped tip of a strand; it is that of its root otherwise.
ss_status ss_world_tie_tip(ss_world *w, int strand, int body, ss_error *e);

// Sets every strand's natural shape so that it is at rest where it is now, under gravity and its
// pulls, without contacts ("settled"). Strands of an elastic model without `balance` are left as
// they are and counted; those without elasticity have no natural shape.
ss_status ss_world_settle(ss_world *w, ss_error *e);

// ---- Poses and scaled motions [H06]
//
// Time scale beta and local dynamics gamma: the forces of a strand in the frame of a body know of
// that body's motion beta (motion - gamma motion of a reference body), as a field of velocities and
// accelerations; places and contacts are where the body is. Posing: a spring and a damper from
// every point of the polyline to its place in a pose, which moves with the carrier of the strand,
//
//     F += J'(-strength (x - pose) - damping (xdot - pose rate))
//
// Both are steps of M in full: C gains damping J'J and K strength J'J. Keys are joined by straight
// lines.
//
// doc/strands.md, "Base motion and controls".

typedef struct ss_posing_key {
    double time;     // s
    double strength; // N/m, of each point
    double damping;  // N s/m
    // [npoints] m, in the frame of the carrier; NULL: as in the key before, and in the first as the
    // strand is now
    const ss_vec3 *place;
} ss_posing_key;

struct ss_posing {
    int nkeys, npoints;
    ss_posing_key *keys; // [nkeys] with places of its own
};

// Scales the motion that a strand of SS_FRAME_ROOT knows of. SS_BAD_INPUT with a sentence for other
// models, for numbers that are not finite, and for a share of the motion of the world, body 0.
ss_status ss_world_scale_motion(ss_world *w, int strand, double time_scale, double local,
                                int reference, ss_error *e);
// Poses a strand by keys of increasing time, which are copied. A strand that is posed already is
// posed anew.
ss_status ss_world_pose_strand(ss_world *w, int strand, int nkeys, const ss_posing_key *keys,
                               ss_error *e);

// A posing at one time, which is `share` of the way from one key to the next.
typedef struct ss_posing_at {
    double strength, damping;
    const ss_vec3 *from, *to; // [npoints]
    double share, rate;       // rate: of share, 1/s
} ss_posing_at;

ss_posing_at ss_posing_find(const struct ss_posing *p, double time);

// ---- Where strands are

// A strand's points and samples, with what a step needs to know there. All arrays have the sizes of
// the strand.
typedef struct ss_placed {
    ss_strand_point *points, *samples;
    double time; // s
    ss_motion_state carrier;
    ss_motion_state felt; // the part of its motion that the forces know of
} ss_placed;

// Makes room for a strand of that size. False without memory; free what it was given in every case.
bool ss_placed_init(ss_placed *at, const ss_strand_size *size);
void ss_placed_free(ss_placed *at);

// Finds points and samples of strand k at `state`.
void ss_strand_place(const ss_world *w, int k, const ss_world_state *state, ss_placed *at);

// Returns the pose that `place` and `convect` of its model are given.
ss_pose ss_strand_root(const ss_strand *s, const ss_placed *at);

// Returns the part of its carrier's motion that the forces of a strand know of.
ss_motion_state ss_strand_felt(const ss_strand *s, const ss_motion_state *carrier,
                               const ss_motion_state *reference);

// Returns J v of a point, v of its strand; and F += J' force, F of its strand.
ss_vec3 ss_point_rate(const ss_strand_point *p, const double *v);
void ss_point_push(const ss_strand_point *p, ss_vec3 force, double *F);

// The places of everything in a world at one time.
typedef struct ss_snapshot {
    double time;             // s, of the bodies
    ss_placed all;           // points and samples of all strands, in the order of the world
    ss_vec3 *x;              // [npoints] of these points
    ss_motion_state *bodies; // [nbodies]
    ss_pose *obstacles;      // [nobstacles] in the world
} ss_snapshot;

// Makes room for a world as it is now. False without memory; free what it was given in every case.
bool ss_snapshot_init(ss_snapshot *s, const ss_world *w);
void ss_snapshot_free(ss_snapshot *s);

// Places bodies and obstacles.
void ss_snapshot_script(ss_snapshot *s, const ss_world *w, double time);
// Places strands, shared among the threads of a team; NULL: one. The second places strand k alone.
void ss_snapshot_place(ss_snapshot *s, const ss_world *w, const ss_world_state *state,
                       ss_team *team);
void ss_snapshot_place_strand(ss_snapshot *s, const ss_world *w, const ss_world_state *state,
                              int k);

// Returns the part of strand k.
ss_placed ss_snapshot_strand(const ss_snapshot *s, const ss_world *w, int k);
