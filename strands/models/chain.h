// strands/models/chain.h -- chains: particles whose distances are kept by a method of their own
// [HH13], [M07], [M12] (internal).
//
// Vertices 0 .. n-1 with inverse masses w_i (0: held), and constraints C_i = |p_i - p_{i+1}| - l_i.
// A step moves the vertices to p = x + h v, corrects p by the method, and takes v = (p - x) / h.
// With n_i = (p_i - p_{i+1}) / |p_i - p_{i+1}|, G the gradient of C (column i holds n_i at vertex i
// and -n_i at i + 1):
//     tmf   S y = C, S = G' W G tridiagonal: C_i =
//             -w_i (n_{i-1}.n_i) y_{i-1} + (w_i + w_{i+1}) y_i - w_{i+1} (n_i.n_{i+1}) y_{i+1}
//           p_i += w_i (n_{i-1} y_{i-1} - n_i y_i), that is p -= W G y
//     pbd   constraint after constraint from the root, each met by its two vertices
//     dftl  vertex i + 1 follows vertex i: p_{i+1} = p_i - l_i n_i. d_i, by how much vertex i was
//           moved, is what damps: v_i = (p_i - x_i) / h - damping d_{i+1} / h.
// Bending keeps the distances |p_i - p_{i+2}|, position-based: `sweeps` sweeps before each of the
// `iterations` of the method, of which each constraint is met by the share `bending`.
//
// doc/strands.md, "Chains".
#pragma once

#include "strands/model.h"
#include "strands/step/batch.h"

typedef enum ss_chain_kind { SS_CHAIN_TMF, SS_CHAIN_PBD, SS_CHAIN_DFTL } ss_chain_kind;

typedef struct ss_chain_method {
    ss_chain_kind kind;
    int iterations;
    double bending; // 0 .. 1; 0: none
    int sweeps;
    double damping; // dftl's, 0 .. 1
} ss_chain_method;

typedef struct ss_chain_shape {
    int n;              // vertices, >= 2
    const double *w;    // [n] inverse masses in any unit; two held vertices are no neighbours
    const double *rest; // [n - 1] m, l_i
    const double *span; // [n - 2] m, of p_i and p_{i+2} at rest
} ss_chain_shape;

// A strand of the models tmf, pbd and dftl.
typedef struct ss_chain {
    ss_chain_method method;
    ss_chain_shape shape;
    bool inextensible;   // impulses of contacts do not stretch it
    int first;           // vertex that q begins with: 0 or 1
    int sampled;         // vertex of the first sample: 0 or 1
    double mean_mass;    // kg: that of w = 1
    ss_vec3 *style;      // [n]
    double *w;           // [n] against 1 / mean_mass; [SS_CHAIN_NUMBERS n] from here to span
    double *mass, *arc;  // [n] kg, m: of the vertices; those that move add up to the strand
    double *rest, *span; // [n - 1], [n - 2]
    double *scratch;     // of a projection; no state is kept in it
} ss_chain;

#define SS_CHAIN_NUMBERS 5

// ---- chain_batch.c

extern const ss_batch_model ss_chain_batch;

// ---- For tests

// x [nv] <- (W - W G S^-1 G' W) x with G at q, in O(n): what impulses x do to the velocities of a
// chain that keeps its length exactly.
void ss_chain_respond(const void *strand, const double *q, double *x);
