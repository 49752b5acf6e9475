// tests/support/one_strand.h -- a single strand of any model with room for everything that it hands out.
#pragma once

#include "base/random.h"
#include "strands/model.h"

typedef struct one_strand {
    ss_model_choice choice;
    const ss_strand_model *model;
    void *self;
    ss_strand_size size;
    double *q, *v;                     // [nq], [nv]; the style and 0 at first
    double *rest;                      // [nv] of 0
    ss_strand_point *points, *samples; // at the last place_strand
    double *mass, *length;             // [nsamples]
    double *numbers;                   // all of the above; owned
} one_strand;

// 0.25 m of hair, 11 segments, `npieces` <= 16 pieces with random curvatures of the size
// `curvature` (1/m) on all three axes; not to be used after the next call.
ss_strand_design random_design(ss_random *g, int npieces, double curvature);

// Ends the test with the sentence where the strand cannot be made.
one_strand new_strand(const char *spec, const ss_strand_design *design);
void free_strand(one_strand *s);
// No strand of the model can be made of the design, and the sentence has the word.
void check_refused_design(const char *spec, const ss_strand_design *design, const char *word);

// SS_FRAME_WORLD knows no root.
void place_strand(one_strand *s, const ss_pose *root, const double *q);

// All vertices of the polyline, then all samples: how many, and one of them.
int places(const one_strand *s);
const ss_strand_point *place_number(const one_strand *s, int p);

// What of dof k moves the strand by about its length: that over |column k of J|; 1 for a twist, which
// moves nothing.
double dof_size(const one_strand *s, int k);
// Normal times that a second, in every dof.
void random_velocity(const one_strand *s, ss_random *g, double *v);
// The largest |column k of J| over all samples.
double column_size(const one_strand *s, int k);

// Whether a clamp holds the dof.
bool is_held(const one_strand *s, int dof);

// column k of J, J v, F += J' force and M += mass J' J
ss_vec3 column(const ss_strand_point *p, int k);
ss_vec3 velocity(const ss_strand_point *p, const double *v);
void add_load(const ss_strand_point *p, ss_vec3 force, double *F);
// M0 with the model's inertia, dense [nv][nv]; M holds it row by row. Both halves are filled.
void mass_matrix(const one_strand *s, const double *q, double *M);

double strand_length(const one_strand *s);
// q (+) h e_k
void advance_dof(const one_strand *s, int k, double h, double *moved);
// Moves q to where the strand is elsewhere than in its style, gives it a random v, and places it.
void disturb(one_strand *s, ss_random *g);
// The largest difference over all points and samples between column k of J and the central
// difference of positions with step h.
double column_error(one_strand *s, const ss_pose *root, int k, double h);

ss_pose random_pose(ss_random *g);
// Zeros, of the size of the strand's M; the caller frees x.
ss_band new_band(const one_strand *s);

// Runs on a random curl of every model, with defaults and with each value of each option alone,
// placed at a random pose (of SS_FRAME_WORLD: where it starts), and on the example of
// twisting_chain.h. A check that fails there names the spec.
typedef void property(one_strand *s);
void on_every_model(ss_random *g, property *holds);
