// strands/world.h -- strands, obstacles and the bodies that carry them.
#pragma once

#include <stdbool.h>
#include "strands/model.h"
#include "strands/motion.h"
#include "strands/contact/obstacle.h"
#include "strands/wind.h"

typedef struct ss_strand {
    const ss_strand_model *model;
    void *self; // the model's own; owned
    ss_strand_size size;
    double length; // m, as designed
    ss_material material;
    ss_clamp clamp;
    int body, tip_body;          // that carry root and tip, where these are clamped
    int carrier;                 // body that carries q and v: `body`, or 0 of SS_FRAME_WORLD
    ss_pose root;                // in the body's frame
    ss_pose still[2];            // inverse of the poses of both bodies when it was added
    int q, v, point, sample;     // where its numbers begin in the arrays of all strands
    double time_scale, local;    // 1 and 0, and
    int reference;               // the body against which it moves (posing.h)
    struct ss_posing *posing;    // NULL: it has no pose; owned
    ss_vec3 pull_root, pull_tip; // N: constant forces at the first and last point of the polyline
    ss_strand_design *design;    // as given; owned. NULL where the world keeps none
} ss_strand;

// What the world's strands are doing now: the part of it that a step changes.
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
    int unsettled; // strands that ss_world_settle left unchanged, because their model has no `balance`
} ss_world;

// An empty world with earth's gravity along -y, no drag, radius 55 um and mu 0.3. NULL without
// memory.
ss_world *ss_world_new(void);
void ss_world_free(ss_world *w); // takes NULL and half-built worlds

// Arrays as large as those of w->now, which may be exchanged for them; not filled. False without
// memory; free what it was given in every case.
bool ss_world_state_init(ss_world_state *state, const ss_world *w);
void ss_world_state_free(ss_world_state *state);

// Body 0, which never moves, is there from the start. *body is its number. Keys are copied and joined.
ss_status ss_world_add_body(ss_world *w, const ss_motion *motion, int *body, ss_error *e);
ss_status ss_world_add_obstacle(ss_world *w, const ss_obstacle *obstacle, ss_error *e);
// The strand starts in its style, at rest or with the velocities of its design's vertices. *number is
// its place in strands.
ss_status ss_world_add_strand(ss_world *w, const ss_model_choice *model,
                              const ss_strand_design *design, int body, const ss_pose *root,
                              int *number, ss_error *e);
// v of strand k, from the velocities of its design (internal: the function above calls it).
ss_status ss_world_start_velocity(ss_world *w, int k, const ss_strand_design *d, ss_error *e);
// The body that carries the clamped tip of a strand; that of its root otherwise.
ss_status ss_world_tie_tip(ss_world *w, int strand, int body, ss_error *e);

// Every strand's natural shape is set so that it is at rest where it is now, under gravity and its
// pulls, without contacts ("settled"). Strands of an elastic model without `balance` are left as
// they are and counted; those without elasticity have no natural shape.
ss_status ss_world_settle(ss_world *w, ss_error *e);
