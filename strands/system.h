// strands/system.h -- M v = f of one strand: one implicit step without contacts.
//
// A step of size h from (q_n, v_n) to (q, v) solves, with F all forces but damping,
//
//     M0 (v - past) = h [share (F(q, v) - C v) + known],   q = q_n (+) h (way v + offset)
//
// which is linearised about an iterate (q*, v*), q* = q_n (+) h d:
//
//     M = M0 + h share C + h^2 share way K                                         M0, C, K at q*
//     f = M0 past + h share F(q*, v*) + h known + h^2 share K (d - offset)
//
//                     share, way   past       offset           known
//     backward Euler  1            v_n        0                0
//     theta scheme    theta        v_n        (1 - theta) v_n  (1 - theta) (F - C v)(q_n, v_n)
//
//     BDF2            schemes/newton.c
//
// The first iterate is q* = q_n, v* = v_n, d = 0. C = internal damping + (drag / line density) M0,
//
//     F = F_model + sum m J'(g - a_base - (dJ/dt) v) - sum drag l J' (v_base - wind) + pulls
//
// v_base and a_base are velocity and acceleration of a sample that the carrier of the strand moves,
// with v frozen: a_base = A + w' x d + w x (w x d) + 2 w x J v. The carrier of SS_FRAME_WORLD
// rests. A strand that is posed has springs and dampers at its points beside, in F, C and K
// (world.h).
//
// A model that projects (always if it has no elasticity, else if `particles`) makes what its method
// makes of v = M^-1 f; M becomes what impulses of contacts meet (model.h), and f = M v.
#pragma once

#include "strands/world.h"

// Finds what acts on strand k at a time.
ss_surroundings ss_strand_surroundings(const ss_world *w, int k, double time);

// load [nv] of strand k += sum m J' g + pulls: its weight and the constant forces on it
void ss_strand_load(const ss_world *w, int k, const ss_placed *at, double *load);

// Returns the share of M0 that air drag adds to C, 1/s.
double ss_strand_drag_rate(const ss_world *w, int k);

// Makes room for the functions below; one for the whole world. NULL without memory.
typedef struct ss_system_scratch ss_system_scratch;
ss_system_scratch *ss_system_scratch_new(const ss_world *w);
void ss_system_scratch_free(ss_system_scratch *s);

// The iterate and the scheme, as above; arrays are those of all strands.
typedef struct ss_iterate {
    const ss_world_state *at; // q*, v*, and the time of F
    double h, share, way;
    const double *past;  // [nv]
    const double *ahead; // [nv] d - offset; NULL: 0
    const double *known; // [nv] generalised forces; NULL: 0
    ss_stiffness kind;   // of K; OWN for ss_systems_form alone
    bool particles;      // M holds neither C nor K, and every model that can projects
} ss_iterate;

// Returns backward Euler about `at`, which is where the step starts: share = way = 1, K exact.
ss_iterate ss_iterate_first(const ss_world_state *at, double h);

// Forms M (of the strand's size and half bandwidth) and f [nv] of strand k, which is placed at the
// iterate. False, and nothing of use, where the model has no K of this kind.
bool ss_strand_system(const ss_world *w, int k, const ss_iterate *it, const ss_placed *at,
                      ss_system_scratch *scratch, ss_band *M, double *f);
// Finds F - C v of strand k at `state`, where it is placed; F [nv].
void ss_strand_forces(const ss_world *w, int k, const ss_world_state *state, const ss_placed *at,
                      ss_system_scratch *scratch, double *F);
// Finds g [nv] = M0 (v* - past) - h (F(q*, v*) - C v*) of strand k: what is left of a step of
// backward Euler.
void ss_strand_residual(const ss_world *w, int k, const ss_iterate *it, const ss_placed *at,
                        ss_system_scratch *scratch, double *g);
// Returns 1/2 (v* - past)' M0 (v* - past) + h/2 v*'C v* + E(q*) - I'v*, J, E with the weight: g - I
// is its gradient but for the slope of C. impulses [nv] I of the strand. *size becomes the sum of
// the parts' sizes: the rounding of the objective is that of *size.
double ss_strand_objective(const ss_world *w, int k, const ss_iterate *it, const ss_placed *at,
                           const double *impulses, ss_system_scratch *scratch, double *size);
// Projects a strand whose model has `project`, after ss_strand_system: finds M and f as said above,
// `end`, its v, and `after` (both [nv]). Without a definite M nothing is changed.
void ss_strand_project(const ss_world *w, int k, const ss_world_state *state, double h,
                       ss_system_scratch *scratch, ss_band *M, double *f, double *end,
                       double *after);

typedef struct ss_energy {
    double kinetic, elastic, potential; // J; kinetic of the samples' velocity in the world
} ss_energy;
void ss_strand_energy(const ss_world *w, int k, const ss_world_state *state, const ss_placed *at,
                      ss_energy *energy);
