// problems/strands/step/systems.h -- M v = f of all strands at once, and its factors (internal).
#pragma once

#include "problems/strands/snapshot.h"

typedef struct ss_systems {
    ss_band *M, *L;                // [nstrands] into the two arrays below; L is a factor (band.h)
    double *M_numbers, *L_numbers; // the bands of all strands
    double *D;                     // [nv] scales of the factors
    double *f;                     // [nv]
    double *end, *after;           // [nv] of models that project (model.h)
    double *residual;              // [nv] scratch
    ss_system_scratch *scratch;
} ss_systems;

// Room for a world as it is now. False without memory; free what it was given in every case.
bool ss_systems_init(ss_systems *s, const ss_world *w);
void ss_systems_free(ss_systems *s);

// M, f and the factors for a step h from `state`, where `at` is. False where an M is not positive
// definite.
bool ss_systems_form(ss_systems *s, const ss_world *w, const ss_world_state *state,
                     const ss_snapshot *at, double h, double theta);

// The velocity of strand k at the end of a step in which nothing touches it.
void ss_systems_end(const ss_systems *s, const ss_world *w, int k, double *v);

// v = M^-1 right of strand k (all [nv of the strand]), refined once, so that every row holds to
// rounding.
void ss_systems_solve(const ss_systems *s, const ss_world *w, int k, const double *right,
                      double *v);
