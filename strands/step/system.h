// strands/step/system.h -- M v = f of one strand: one implicit step without contacts.
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
//     BDF2            scheme_newton.c
//
// The first iterate is q* = q_n, v* = v_n, d = 0. C = internal damping + (drag / line density) M0,
//
//     F = F_model + sum m J'(g - a_base - (dJ/dt) v) - sum drag l J' (v_base - wind) + pulls
//
// v_base and a_base are velocity and acceleration of a sample that the carrier of the strand moves,
// with v frozen: a_base = A + w' x d + w x (w x d) + 2 w x J v. The carrier of SS_FRAME_WORLD rests. A strand
// that is posed has springs and dampers at its points beside, in F, C and K (posing.h).
//
// Where a model projects (always if it has no elasticity, else if `particles`), v = M^-1 f becomes what its
// method makes of it, M what impulses of contacts meet (model.h), and f = M v.
#pragma once

#include <stdbool.h>
#include "strands/world.h"

// Where a strand is, and what a step needs to know there. All arrays have the sizes of the strand.
typedef struct ss_placed {
    ss_strand_point *points, *samples;
    double time; // s
    ss_motion_state carrier;
    ss_motion_state felt; // what of its motion the forces know of (posing.h)
} ss_placed;

// Room for a strand of that size. False without memory; free what it was given in every case.
bool ss_placed_init(ss_placed *at, const ss_strand_size *size);
void ss_placed_free(ss_placed *at);

// points and samples of strand k at `state`.
void ss_strand_place(const ss_world *w, int k, const ss_world_state *state, ss_placed *at);

// What `place` and `convect` of its model are given.
ss_pose ss_strand_root(const ss_strand *s, const ss_placed *at);

// J v of a point, v of its strand.
ss_vec3 ss_point_rate(const ss_strand_point *p, const double *v);

// What acts on strand k at a time.
ss_surroundings ss_strand_surroundings(const ss_world *w, int k, double time);

// load [nv] of strand k += sum m J' g + pulls: its weight and the constant forces on it.
void ss_strand_load(const ss_world *w, int k, const ss_placed *at, double *load);

// The share of M0 that air drag adds to C, 1/s.
double ss_strand_drag_rate(const ss_world *w, int k);

// Room for the functions below; one for the whole world. NULL without memory.
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

// Backward Euler about `at`, which is where the step starts: share = way = 1, K exact.
ss_iterate ss_iterate_first(const ss_world_state *at, double h);

// M (of the strand's size and half bandwidth) and f [nv] of strand k, which is placed at the
// iterate. False, and nothing of use, where the model has no K of this kind.
bool ss_strand_system(const ss_world *w, int k, const ss_iterate *it, const ss_placed *at,
                      ss_system_scratch *scratch, ss_band *M, double *f);
// F - C v of strand k at `state`, where it is placed, into F [nv].
void ss_strand_forces(const ss_world *w, int k, const ss_world_state *state, const ss_placed *at,
                      ss_system_scratch *scratch, double *F);
// g [nv] = M0 (v* - past) - h (F(q*, v*) - C v*) of strand k: what is left of a step of backward Euler.
void ss_strand_residual(const ss_world *w, int k, const ss_iterate *it, const ss_placed *at,
                        ss_system_scratch *scratch, double *g);
// 1/2 (v* - past)' M0 (v* - past) + h/2 v*'C v* + E(q*) - I'v*, J, E with the weight: g - I is its gradient but
// for the slope of C. impulses [nv] I of the strand. *size: the sum of the parts' sizes, of which it has the
// rounding.
double ss_strand_objective(const ss_world *w, int k, const ss_iterate *it, const ss_placed *at,
                           const double *impulses, ss_system_scratch *scratch, double *size);
// Of a model that projects, after ss_strand_system: M and f as said above, `end`, its v, and `after`
// (both [nv]). Without a definite M nothing is changed.
void ss_strand_project(const ss_world *w, int k, const ss_world_state *state, double h,
                       ss_system_scratch *scratch, ss_band *M, double *f, double *end,
                       double *after);

typedef struct ss_energy {
    double kinetic, elastic, potential; // J; kinetic of the samples' velocity in the world
} ss_energy;
void ss_strand_energy(const ss_world *w, int k, const ss_world_state *state, const ss_placed *at,
                      ss_energy *energy);
