// strands/models/chain/chain_strand.h -- a strand of the models tmf, pbd and dftl (internal).
//
// Vertices are n equal steps of arclength apart in the style, in the frame of the root; q holds the
// places of those that move and v their velocities. Rest lengths are the chords of the style, spans
// those of the natural shape. An attached root stands in its pose and has no dofs; a free one moves
// like the others. Masses:
//     equal   every vertex that moves has the same: [HH13]'s
//     nodal   half of each of its two segments; that of an attached root moves with the root
// so that the samples are all vertices, or those that move.
#pragma once

#include <stdbool.h>
#include "strands/models/chain/chain.h"
#include "strands/model.h"

typedef struct ss_chain {
    ss_chain_method method;
    ss_chain_shape shape;
    bool inextensible;   // for contacts, too
    int first;           // vertex that q begins with: 0 or 1
    int sampled;         // vertex of the first sample: 0 or 1
    double mean_mass;    // kg: that of w = 1
    ss_vec3 *style;      // [n]
    double *w;           // [n] against 1 / mean_mass; all [SS_CHAIN_NUMBERS n] from here to span
    double *mass, *arc;  // [n] kg, m: of the vertices; those that move add up to the strand
    double *rest, *span; // [n - 1], [n - 2]
    double *scratch;     // [SS_CHAIN_SCRATCH n] of a projection; no state is kept in it
} ss_chain;

#define SS_CHAIN_NUMBERS 5
#define SS_CHAIN_SCRATCH 8

// A hook of model.h.
void ss_chain_project(const void *strand, const double *q, double h, double *v, double *after,
                      ss_band *M);
