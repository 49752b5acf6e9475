// strands/models/chain/chain.h -- chains: particles whose distances are kept by a method of
// their own [HH13], [M07], [M12] (internal).
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

#include "strands/geometry.h"

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

// For a strand of the models tmf, pbd and dftl: x [nv] <- (W - W G S^-1 G' W) x with G at q, in
// O(n). What impulses x do to the velocities of a chain that keeps its length exactly; the tests
// compare the M of its steps with it.
void ss_chain_respond(const void *strand, const double *q, double *x);
