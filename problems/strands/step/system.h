// problems/strands/step/system.h -- M v = f of one strand: one implicit step without contacts.
//
//     M = M0 + h C + h^2 K,     C = internal damping + (drag / line density) M0
//     f = M0 v_n + h [F_elastic + pulls + sum m J'(g - a_base - (dJ/dt) v_n)
//                     - sum drag l J' v_base]
//
// linearised backward Euler about (q_n, v_n); v is the velocity at the end of the step. v_base and
// a_base are velocity and acceleration of a sample that the scripted root carries, with v_n frozen:
// a_base = A + w' x d + w x (w x d) + 2 w x J v_n. With theta < 1
//
//     M  = M0 + theta h C + theta^2 h^2 K
//     f += (theta - 1) h C v_n - theta (1 - theta) h^2 K v_n          more than above
//     q_{n+1} = q_n (+) h [theta v + (1 - theta) v_n]
//
// Where the model projects, v = M^-1 f becomes what its method makes of it, M what impulses of
// contacts meet (model.h), and f = M v.
#pragma once

#include <stdbool.h>
#include "problems/strands/world.h"

// Where a strand is, and what a step needs to know there. All arrays have the sizes of the strand.
typedef struct ss_placed {
    ss_strand_point *points, *samples;
    ss_motion_state root; // of the body
} ss_placed;

// Room for a strand of that size. False without memory; free what it was given in every case.
bool ss_placed_init(ss_placed *at, const ss_strand_size *size);
void ss_placed_free(ss_placed *at);

// points and samples of strand k at `state`.
void ss_strand_place(const ss_world *w, int k, const ss_world_state *state, ss_placed *at);

// J v of a point, v of its strand.
ss_vec3 ss_point_rate(const ss_strand_point *p, const double *v);

// load [nv] of strand k += sum m J' g + pulls: its weight and the constant forces on it.
void ss_strand_load(const ss_world *w, int k, const ss_placed *at, double *load);

// Room for the function below; one for the whole world. NULL without memory.
typedef struct ss_system_scratch ss_system_scratch;
ss_system_scratch *ss_system_scratch_new(const ss_world *w);
void ss_system_scratch_free(ss_system_scratch *s);

// M (of the strand's size and half bandwidth) and f [nv] of strand k for a step h from `state`. Of
// a model that projects also `end`, its v, and `after` (both [nv]); it takes theta = 1. Without a
// definite M all but M is of no use.
void ss_strand_system(const ss_world *w, int k, const ss_world_state *state, const ss_placed *at,
                      double h, double theta, ss_system_scratch *scratch, ss_band *M, double *f,
                      double *end, double *after);

typedef struct ss_energy {
    double kinetic, elastic, potential; // J; kinetic of the samples' velocity in the world
} ss_energy;
void ss_strand_energy(const ss_world *w, int k, const ss_world_state *state, const ss_placed *at,
                      ss_energy *energy);
