// problems/strands/model.h -- what a strand model is; read this before writing one.
//
// A model knows one strand: its coordinates q and velocities v, where they put its centre line, and
// its elasticity. Everything else is written once against this table: gravity, drag, inertia and
// scripted roots (system.h), contacts (collide.h), identity of contacts (track.h), the one-step
// problem and step control (step.h), and the tests of tests/strands/test_models.c (gradients, invariance,
// definiteness, replay), which run on a new model unasked.
//
// The continuous strand is x(s, t) = root pose o p(s; q). The model gives
//     points    vertices of the collision polyline, which IS the geometry for contacts
//     samples   lumps of mass m_p at x_p, for every integral over mass:
//               M0 = sum m_p J_p' J_p + inertia,  gravity sum m_p J_p' g, and so on
// each with its Jacobian J = dx/dv (rates: xdot = J v where the root rests).
//
// Adding a model: one file that ends with its `const ss_strand_model ss_yours`, one line each in
// models.h and models.c.
#pragma once

#include <stddef.h>
#include "problems/keys.h"
#include "problems/status.h"
#include "problems/strands/geometry.h"
#include "problems/strands/material.h"

// What a scene asks of a model. Curvatures are in the material frame: twist about n0 (the tangent),
// bending about n1 and n2; constant over each of npieces equal pieces of the length.
typedef struct ss_strand_design {
    double length; // m
    ss_material material;
    int npieces;               // 0: straight
    const double (*style)[3];  // [npieces] 1/m: the shape the strand starts in; its natural shape
                               // too unless `balance` is called
    const double (*unrest)[3]; // [npieces] 1/m: added to the natural shape only; NULL for none
    int nsegments;             // of the collision polyline, >= 1
} ss_strand_design;

typedef struct ss_strand_size {
    int nq, nv;         // numbers in a state and in a velocity
    int half_bandwidth; // of M below its diagonal; nv - 1 where M is full
    int npoints;        // vertices of the polyline, the root first
    int nsamples;
    int width; // the most dofs that move one point or sample
} ss_strand_size;

// A point of the strand in the world. Dofs first .. first + count - 1 move it.
typedef struct ss_strand_point {
    ss_vec3 x; // m
    int first, count;
    double *J; // [3][count], row by row; room for 3 width
} ss_strand_point;

// A symmetric band matrix: entry (i, j), i >= j, i - j <= half, is x[(half + 1) j + i - j].
typedef struct ss_band {
    int n, half;
    double *x; // [(half + 1) n]
} ss_band;

static inline double *ss_band_at(const ss_band *A, int i, int j) // i >= j
{
    return &A->x[(A->half + 1) * j + (i - j)];
}

struct ss_batch_model;

typedef struct ss_strand_model {
    const char *name; // [a-z0-9][a-z0-9-]*
    const char *summary;
    const char *reference; // keys in REFERENCES.md
    const ss_key *keys;    // NULL for none
    const void *defaults;  // settings_size bytes; NULL for none
    size_t settings_size;

    // A strand of this model. SS_BAD_INPUT with a sentence for a design that it cannot be.
    ss_status (*make)(const ss_strand_design *design, const void *settings, void **strand,
                      ss_error *e);
    void (*free)(void *strand); // takes NULL
    ss_strand_size (*size)(const void *strand);

    // q of the style; mass and length of each sample, summing up to those of the strand.
    void (*style)(const void *strand, double *q);
    void (*lumps)(const void *strand, double *mass, double *length);
    // q (+) h v
    void (*advance)(const void *strand, const double *q, const double *v, double h, double *moved);

    // points [npoints] and samples [nsamples], with their J, for a root at `root`.
    void (*place)(const void *strand, const ss_pose *root, const double *q, ss_strand_point *points,
                  ss_strand_point *samples);
    // a [nsamples]: (dJ/dt) v at each sample for a resting root. NULL where J does not change.
    void (*convect)(const void *strand, const ss_pose *root, const double *q, const double *v,
                    ss_vec3 *a);

    // The next four, and balance, are NULL together where a strand has no elasticity.
    double (*energy)(const void *strand, const double *q);         // elastic, J
    void (*force)(const void *strand, const double *q, double *F); // F += -dE/dq
    // A += scale K, K symmetric positive semidefinite and equal to d2E/dq2 or close to it;
    // A += scale C, likewise for internal damping.
    void (*stiffness)(const void *strand, const double *q, double scale, ss_band *A);
    void (*damping)(const void *strand, const double *q, double scale, ss_band *A);
    // For strands whose length a method of their own keeps, else NULL. v [nv], the velocity that M
    // and f alone give, becomes the one that moves q over a step of h by the method; after [nv] is
    // what the method adds to v once q has moved. M, which holds inertia (and drag), gains what
    // makes the impulses of contacts travel along the strand.
    void (*project)(const void *strand, const double *q, double h, double *v, double *after,
                    ss_band *M);
    // M += inertia that no sample carries (rotation about the centre line). NULL for none.
    void (*inertia)(const void *strand, const double *q, ss_band *M);

    // Moves the natural shape so that the elastic force at q is -load (`unrest` aside): the strand
    // is then at rest at q under that load.
    ss_status (*balance)(void *strand, const double *q, const double *load, ss_error *e);

    // For models that can step many equal strands side by side where nothing touches them
    // (batch.h), else NULL. It changes how long a step takes, and no answer.
    const struct ss_batch_model *batch;
} ss_strand_model;

// What every `make` asks of a design first: finite numbers and sizes that make sense.
ss_status ss_strand_design_check(const ss_strand_design *design, ss_error *e);

// The registry, in models.c: a NULL-terminated list; and a spec "NAME[:key=value,...]".
extern const ss_strand_model *const ss_strand_models[];
typedef struct ss_model_choice {
    const ss_strand_model *model;
    void *settings; // owned; NULL where the model has none
    char spec[160]; // as given
} ss_model_choice;
ss_status ss_model_parse(const char *spec, ss_model_choice *choice, ss_error *e);
void ss_model_choice_free(ss_model_choice *choice); // takes an empty one
