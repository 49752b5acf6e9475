// strands/schemes/quasi_group.h -- strands that are alike, side by side through the iterates of
// quasi.h.
//
// A model may offer it (the entry `group` of its table). The scheme takes it for strands of that model that
// are alike; others go one by one, to the same answers except for rounding.
#pragma once

#include "strands/schemes/quasi.h"

#define SS_QUASI_LANES 8

// What all strands share in a step.
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
    // Whether two strands of the model have the same size, clamps and rigidities, and whether this one can
    // be in a group at all.
    bool (*alike)(const void *strand, const void *other);
    // Strands `strand` [count <= SS_QUASI_LANES] of a world. NULL without memory.
    void *(*make)(const ss_world *w, const int *strand, int count);
    void (*free)(void *group);            // takes NULL
    size_t (*scratch)(const void *group); // bytes that the functions below need for themselves

    // q* = q_n; v is that of the first system.
    void (*begin)(void *group, const ss_quasi_step *s);
    // One iterate: v* <- v, q* there, M, and v <- v* + M^-1 (I - g). Returns the bits of the strands whose
    // M has no factor: v and change of these are as before.
    unsigned (*iterate)(void *group, const ss_quasi_step *s);
    // q, about, g and M of the last iterate, for strand number k of the group; systems NULL: without M.
    void (*end)(const void *group, const ss_quasi_step *s, ss_systems *systems, int k);
    // Strand number k goes on by itself until the next `begin`: nothing more is given of it.
    void (*leave)(void *group, int k);
} ss_quasi_group_model;
