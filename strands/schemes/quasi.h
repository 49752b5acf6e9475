// strands/schemes/quasi.h -- systems of which the first iterate's stiffness is kept except for that
// of lengths (internal).
//
// Of iterate 0 the matrix without the stiffness of lengths is kept, and every later iterate q*, v*
// of backward Euler takes
//
//     M = M_0 - h^2 K_s(q_0) + h^2 K_s(q*)                M_0 that of iterate 0, K_s the lengths'
//                                                         part of K
//     M (v - v*) = I - g(q*, v*),   g = M0 (v* - v_n) - h F(q*, v*)           [J20] (3.6)
//     f = M v* - g
//
// so that where the iterates end, g = I, is where those of Newton end. A strand whose M has no
// factor takes all of its stiffness anew, and keeps that.
//
// doc/strands.md, "Thesis".
#pragma once

#include "strands/step/systems.h"

typedef struct ss_quasi {
    double *base;    // the bands of all strands, as systems->M_numbers
    double *g;       // [nv] at the last iterate
    double *seconds; // [nstrands] that the last factor of a strand took
} ss_quasi;

// False without memory; free what it was given in every case.
bool ss_quasi_init(ss_quasi *s, const ss_world *w);
void ss_quasi_free(ss_quasi *s);

// Strand k, of which the systems are formed about iterate 0.
void ss_quasi_keep(ss_quasi *s, ss_systems *systems, const ss_world *w, int k, const ss_iterate *it,
                   int thread);
// M of strand k, its factor and g, about an iterate of which it->at holds q* and v*. False where M
// is not positive definite.
bool ss_quasi_renew(ss_quasi *s, ss_systems *systems, const ss_world *w, int k,
                    const ss_iterate *it, const ss_placed *at, int thread);
// v [nv of the strand] = v* + M^-1 (I - g), I [nv of the strand].
void ss_quasi_solve(const ss_quasi *s, ss_systems *systems, const ss_world *w, int k,
                    const double *about, const double *impulses, double *v);
// f of strand k in the systems, of the last iterate v* [nv of the strand].
void ss_quasi_right(const ss_quasi *s, ss_systems *systems, const ss_world *w, int k,
                    const double *about);

// ---- quasi_group

// strands that are alike, side by side through the iterates of quasi.h.
//
// A model may offer it (the entry `group` of its table). The scheme takes it for strands of that
// model that are alike; others go one by one, to the same answers except for rounding.

#define SS_QUASI_LANES 8

// Data that all strands share in a step.
typedef struct ss_quasi_step {
    const ss_world *world;
    const ss_systems *systems; // formed about the start
    const ss_snapshot *here;   // there
    ss_quasi *quasi;           // base is kept; gets g
    double h;
    const double *impulses; // [nv] I
    double *q, *v, *about;  // of the world: q* and v* of the last iterate, and v
    double *change;         // [nstrands] |v - v*| over positions
    void *scratch;          // of the thread, as much as the group asks for
} ss_quasi_step;

typedef struct ss_quasi_group_model {
    // Whether two strands of the model have the same size, clamps and rigidities, and whether this
    // one can be in a group at all.
    bool (*alike)(const void *strand, const void *other);
    // Strands `strand` [count <= SS_QUASI_LANES] of a world. NULL without memory.
    void *(*make)(const ss_world *w, const int *strand, int count);
    void (*free)(void *group);            // takes NULL
    size_t (*scratch)(const void *group); // bytes that the functions below need for themselves

    // q* = q_n; v is that of the first system.
    void (*begin)(void *group, const ss_quasi_step *s);
    // Makes an iterate: v* <- v, q* there, M, and v <- v* + M^-1 (I - g). Returns the bits of the
    // strands whose M has no factor: v and change of these are as before.
    unsigned (*iterate)(void *group, const ss_quasi_step *s);
    // q, about, g and M of the last iterate, for strand number k of the group; systems NULL:
    // without M.
    void (*end)(const void *group, const ss_quasi_step *s, ss_systems *systems, int k);
    // Strand number k goes on by itself until the next `begin`: nothing more is given of it.
    void (*leave)(void *group, int k);
} ss_quasi_group_model;

// ---- quasi_groups

// the strands of a world in groups of alike ones , and
// those that go alone (internal).

// Strands side by side, or one alone.
typedef struct ss_quasi_item {
    const ss_quasi_group_model *model; // NULL: alone
    void *group;                       // owned
    int strand[SS_QUASI_LANES];
    int count;
    unsigned left; // bits of the strands that have left the group in this step
} ss_quasi_item;

typedef struct ss_quasi_groups {
    ss_quasi_item *items; // [count]
    int count;
    char *scratch; // of all threads
    size_t each;   // bytes of one
} ss_quasi_groups;

// Makes groups of all strands, in their order, for so many threads; with `together` false each
// strand is alone. False without memory; the caller frees the groups in every case.
bool ss_quasi_groups_init(ss_quasi_groups *g, const ss_world *w, bool together, int threads);
void ss_quasi_groups_free(ss_quasi_groups *g);
