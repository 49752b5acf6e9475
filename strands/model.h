// strands/model.h -- what a strand model is; read this before writing one.
//
// A model knows one strand: its coordinates q and velocities v, where they put its centre line, and
// its own forces. Everything else is written once against this table: gravity, drag, inertia,
// scripted roots and clamps (system.h), contacts (contact/), the one-step problem and the time
// steps (step/step.h), their schemes (schemes/scheme.h), and the tests of
// tests/strands/test_models*.c, which run on a new model automatically. The model gives
//     points    vertices of the collision polylines, which ARE the geometry for contacts
//     samples   lumps of mass m_p at x_p, for every integral over mass:
//               M0 = sum m_p J_p' J_p + inertia,  gravity sum m_p J_p' g, and so on
// each with its Jacobian J = dx/dv.
//
// Frames. A model is of one of two kinds:
//     SS_FRAME_ROOT    x = root pose o p(q): a body carries q and v. The clamped root is exact by
//                      construction, or the strand is free in that frame. It has no other clamp.
//     SS_FRAME_WORLD   q and v are of the world. What a clamp holds stays among the dofs and is
//                      listed (`held`); `script` says how it moves, and the steps eliminate it.
//
// Coordinates. q (+) h v is `advance`. nq may exceed nv: q holds what v only changes, such as unit
// quaternions, or the reference frames of a rod. `advance` carries those along from the state that
// it is given. Newton's method advances its iterates from each other, so that frames are
// recommitted at every iterate, and takes velocities from `difference`.
//
// A strand is used by one thread at a time: it may keep scratch, but no state of its motion. Adding
// a model: CONTRIBUTING.md; tests/support/twisting_chain.c is an example.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include "base/keys.h"
#include "base/status.h"
#include "strands/geometry.h"
#include "strands/material.h"
#include "strands/motion.h"

typedef enum ss_clamp { SS_CLAMP_ROOT, SS_CLAMP_TIP, SS_CLAMP_BOTH, SS_CLAMP_NONE } ss_clamp;

static inline bool ss_clamps_root(ss_clamp c)
{
    return c == SS_CLAMP_ROOT || c == SS_CLAMP_BOTH;
}

static inline bool ss_clamps_tip(ss_clamp c)
{
    return c == SS_CLAMP_TIP || c == SS_CLAMP_BOTH;
}

// Factors of what the material gives a part of the strand.
typedef struct ss_strand_part {
    double mass;        // of the line density, beside what the radius makes of it
    double radius;      // of the section
    double bend, twist; // of the rigidities, beside what the radius makes of them
    double relaxation;
} ss_strand_part;

// Design of a strand that a scene asks of a model, in the frame of the root pose. The shape is
// given either by curvatures in the material frame, twist about n0 (the tangent) and bending about
// n1 and n2, constant over each of npieces equal pieces of the length; or by vertices, where
// nvertices > 0. shape.h turns each into the other.
typedef struct ss_strand_design {
    double length; // m; of vertices: not looked at
    ss_material material;
    int npieces; // 0: straight
    // [npieces] 1/m: the shape the strand starts in; its natural shape too unless `balance` is
    // called
    const double (*style)[3];
    const double (*unrest)[3]; // [npieces] 1/m: added to the natural shape only; NULL for none
    int nsegments;             // of the collision polyline, >= 1; of vertices: 0 for their own

    int nvertices;           // 0, or at least 3
    const ss_vec3 *vertices; // [nvertices] m: the shape the strand starts in
    const ss_vec3 *rest;     // [nvertices] m: its natural shape; NULL: vertices
    // [nvertices - 1] rad: angle of the material frame of each edge against the space-parallel one;
    // NULL: 0
    const double *theta;
    const double *rest_theta; // the same of the natural shape; NULL: theta
    const ss_vec3 *velocity;  // [nvertices] m/s, of the start; NULL: at rest. Models need not look
    ss_vec3 director;         // the parallel frame's d1 of the first edge; 0: any
    ss_clamp clamp;

    // For models that can, and check by ss_strand_design_check_varied.
    const int
        *parent; // [nvertices] which each hangs from by its edge, before it; the first has -1.
                 // NULL: the one before. Edge j ends at vertex j + 1
    int nparts;  // of equal numbers of edges, from the first on; of a tree: one an edge. 0: none
    const ss_strand_part *parts; // [nparts]
} ss_strand_design;

typedef struct ss_strand_size {
    int nq, nv;         // numbers in a state and in a velocity
    int half_bandwidth; // of M below its diagonal; nv - 1 where M is full
    int npoints;        // vertices of the polylines, the root first
    int nsamples;
    int width;       // the most dofs that move one point or sample
    bool lumped;     // every sample has three dofs of its own, and J = I
    int nheld;       // dofs that clamps hold
    const int *held; // [nheld] increasing
    // [npoints] of a polyline after the first: at its first point, the point that it branches from;
    // -1 for all others. NULL: there is one polyline
    const int *branch;
} ss_strand_size;

// Whether a polyline after the first begins at this point.
static inline bool ss_is_branch(const ss_strand_size *size, int point)
{
    return size->branch != NULL && size->branch[point] >= 0;
}

// The point after the last one of the polyline that begins at point `from`.
static inline int ss_line_end(const ss_strand_size *size, int from)
{
    int end = from + 1;
    while (end < size->npoints && !ss_is_branch(size, end)) {
        end++;
    }
    return end;
}

// A point of the strand in the world, and the dofs that move it: first .. first + count - 1, or
// those of a list.
typedef struct ss_strand_point {
    ss_vec3 x; // m
    int first, count;
    const int *dofs; // [count] increasing, the model's own; NULL: a range
    double *J;       // [3][count], row by row; room for 3 width
} ss_strand_point;

static inline int ss_point_dof(const ss_strand_point *p, int j)
{
    return p->dofs != NULL ? p->dofs[j] : p->first + j;
}

// A symmetric band matrix: entry (i, j), i >= j, i - j <= half, is x[(half + 1) j + i - j].
typedef struct ss_band {
    int n, half;
    double *x; // [(half + 1) n]
} ss_band;

static inline double *ss_band_at(const ss_band *A, int i, int j) // i >= j
{
    return &A->x[(A->half + 1) * j + (i - j)];
}

// The kinds of K, in the order in which they are tried where M has no factor: d2E/dq2, which may be
// indefinite; its parts made positive semidefinite; what first derivatives of strains alone give. A
// scheme that is not told begins with that of the model.
typedef enum ss_stiffness {
    SS_STIFFNESS_EXACT,
    SS_STIFFNESS_FILTERED,
    SS_STIFFNESS_GAUSS_NEWTON,
    SS_STIFFNESS_OWN, // for schemes: that of each strand's model
} ss_stiffness;
#define SS_STIFFNESS_KINDS 3
extern const char *const ss_stiffness_names[]; // exact, filtered, gauss-newton, own, NULL

typedef enum ss_frame { SS_FRAME_ROOT, SS_FRAME_WORLD } ss_frame;

// Loads on a strand from outside, for `residual`.
typedef struct ss_surroundings {
    ss_motion_state root; // of the frame of the root; at rest in the world for SS_FRAME_WORLD
    ss_vec3 gravity;      // m/s^2
    double drag;          // 1/s, of the velocity of every part against the air, which rests
    ss_vec3 pull_root, pull_tip;  // N, at the first and last point
    const ss_vec3 *push;          // [npoints] N, at all points; NULL: none
    const struct ss_world *winds; // whose air moves; NULL: it rests
    double time;                  // s
    int sample;                   // the strand's first, in that world
} ss_surroundings;

// A joint that turns by no more than it may: along.v of the three dofs is to be at least `least` at
// the end of a step.
typedef struct ss_joint_limit {
    int dof; // the first
    double along[3];
    double least; // rad/s
} ss_joint_limit;

struct ss_batch_model;
struct ss_quasi_group_model;

// Functions that "add" keep what is there. `moved` may be q. NULL where it says so.
typedef struct ss_strand_model {
    const char *name; // [a-z0-9][a-z0-9-]*
    const char *summary;
    const char *reference; // keys in REFERENCES.md
    const ss_key *keys;    // NULL for none
    const void *defaults;  // settings_size bytes; NULL for none
    size_t settings_size;
    const char *scheme; // the spec of its time steps unless another is chosen
    ss_stiffness kind;  // of K, unless another is chosen
    double
        clamp_edges; // of equal ones, before the free length of a clamped strand begins; 0: none of
                     // SS_FRAME_ROOT, and half of one of SS_FRAME_WORLD
    ss_frame frame;

    // A strand of this model. SS_BAD_INPUT with a sentence for a design that it cannot be.
    ss_status (*make)(const ss_strand_design *design, const void *settings, void **strand,
                      ss_error *e);
    void (*free)(void *strand); // takes NULL
    ss_strand_size (*size)(const void *strand);

    // q of the start; of SS_FRAME_WORLD for a root at `root`, which is kept for `script`. Mass and
    // length of each sample, summing up to those of the strand.
    void (*start)(void *strand, const ss_pose *root, double *q);
    void (*lumps)(const void *strand, double *mass, double *length);

    // q (+) h v, and the v for which q0 (+) h v is q1. NULL: v = (q1 - q0) / h.
    void (*advance)(const void *strand, const double *q, const double *v, double h, double *moved);
    void (*difference)(const void *strand, const double *q0, const double *q1, double h, double *v);
    // v of the held dofs becomes the one that carries q in h to where the clamps are then; moved
    // [2] is how the bodies of root and tip clamp have moved since the start: a point that was at x
    // is at moved o x. NULL where nothing is held.
    void (*script)(const void *strand, const ss_pose moved[2], const double *q, double h,
                   double *v);

    // qdot [nq] of v, and the v [nv] that has this qdot, as near as one has. NULL together: they
    // are one, or, where nq and nv differ, q carries along what no qdot says.
    void (*rate)(const void *strand, const double *q, const double *v, double *qdot);
    void (*unrate)(const void *strand, const double *q, const double *qdot, double *v);

    // points [npoints] and samples [nsamples], with their J. `root` is the pose of the root, and
    // the identity for SS_FRAME_WORLD.
    void (*place)(const void *strand, const ss_pose *root, const double *q, ss_strand_point *points,
                  ss_strand_point *samples);
    // a [nsamples]: (dJ/dt) v at each sample for a resting root. NULL where J does not change.
    void (*convect)(const void *strand, const ss_pose *root, const double *q, const double *v,
                    ss_vec3 *a);

    // Energy (J), force, stiffness and damping are NULL together where a strand has no elasticity.
    // F += -dE/dq + what else the model does, such as gyroscopic forces, but no damping. At v = 0
    // it is -dE/dq.
    double (*energy)(const void *strand, const double *q);
    void (*force)(const void *strand, const double *q, const double *v, double *F);
    // A += scale K. False, and A as it was, where the model has no such kind, or where it is the
    // kind before. Every model has SS_STIFFNESS_EXACT.
    bool (*stiffness)(const void *strand, const double *q, ss_stiffness kind, double scale,
                      ss_band *A);
    // A += scale times the part of K, of this kind, that the energy of lengths makes. NULL where
    // the model does not keep it apart.
    void (*lengths)(const void *strand, const double *q, ss_stiffness kind, double scale,
                    ss_band *A);
    // A += scale C, positive semidefinite: the damping forces are -C v.
    void (*damping)(const void *strand, const double *q, double scale, ss_band *A);
    // M += inertia that no sample carries (rotation about the centre line). NULL for none.
    void (*inertia)(const void *strand, const double *q, ss_band *M);
    // M += M0: what the samples and `inertia` add up to. NULL where a model has no faster way.
    void (*mass)(const void *strand, const double *q, ss_band *M);

    // Lists its ball joints that are near `most` rad from their natural shape, for a step of h from
    // q whose velocity is v without these limits; limits [nv]. Returns how many. NULL where a model
    // has no such joints.
    int (*limits)(const void *strand, const double *q, const double *v, double h, double most,
                  ss_joint_limit *limits);

    // rs [nv] = M0 vdot - F + C v, by which vdot is not that of the motion: faster than the sums
    // over the samples, of which it makes use of none, but without poses (world.h). NULL where a
    // model has no such way.
    void (*residual)(const void *strand, const ss_surroundings *around, const double *q,
                     const double *v, const double *vdot, double *rs);

    // For strands whose length a method of their own keeps, else NULL. v [nv], the velocity that M
    // and f alone give, becomes the one that moves q over a step of h by the method; after [nv] is
    // what the method adds to v once q has moved. M, which holds inertia (and drag), gains what
    // makes the impulses of contacts travel along the strand. A model with elasticity projects in
    // the scheme `projection` alone; the others do so always, and only `linear` and `projection`
    // take them.
    void (*project)(const void *strand, const double *q, double h, double *v, double *after,
                    ss_band *M);
    // Moves the natural shape so that the elastic force at q is -load (`unrest` aside): the strand
    // is then at rest at q under that load. NULL where that is no matter of its natural shape.
    ss_status (*balance)(void *strand, const double *q, const double *load, ss_error *e);

    // For models that can step many equal strands side by side where nothing touches them
    // (step/batch.h), else NULL. It changes how long a step takes, and no answer.
    const struct ss_batch_model *batch;
    // The same for strands that touch something, through iterates that keep their first stiffness
    // of bending (schemes/quasi.h), else NULL.
    const struct ss_quasi_group_model *group;
} ss_strand_model;

// Checks what every `make` asks of a design first: finite numbers and sizes that make sense, a
// material that can be, vertices apart; and that it neither branches nor varies along its length.
ss_status ss_strand_design_check(const ss_strand_design *design, ss_error *e);
// The same for models whose strands may branch and vary.
ss_status ss_strand_design_check_varied(const ss_strand_design *design, ss_error *e);
// SS_BAD_INPUT where these are no tree: a parent is -1, of a root, or the number of one before it.
// `what` they are is for the sentence.
ss_status ss_check_parents(int n, const int *parent, const char *what, ss_error *e);
// The vertex at which edge i - 1 of a design begins; it ends at vertex i.
static inline int ss_design_before(const ss_strand_design *d, int i)
{
    return d->parent != NULL ? d->parent[i] : i - 1;
}
// Then, for models that cannot be clamped at their tip.
ss_status ss_strand_design_check_tip(const ss_strand_design *design, const char *model,
                                     ss_error *e);

// A design with arrays of its own, in one piece of memory that the caller frees (design.c).
ss_status ss_strand_design_copy(const ss_strand_design *design, ss_strand_design **copy,
                                ss_error *e);

// The registry, in models.c: a NULL-terminated list; and a spec "NAME[:key=value,...]".
extern const ss_strand_model *const ss_strand_models[];
typedef struct ss_model_choice {
    const ss_strand_model *model;
    void *settings; // owned; NULL where the model has none
    char spec[160]; // as given
} ss_model_choice;
ss_status ss_model_parse(const char *spec, ss_model_choice *choice, ss_error *e);
void ss_model_choice_free(ss_model_choice *choice); // takes an empty one
