// problems/matrix/delassus.h -- W = H' M^-1 H as the contacts see it.
//
// With M_k = L_k L_k' and G_ik = H_ik' L_k^-T (dim x m_k, one for each end of contact i on body k)
//
//     z = L' v,   z0 = L^-1 f,    z = z0 + G' r,    u = G z + w                              (1)
//     W_ij = sum over bodies k that i and j share of G_ik G_jk',    b = G z0 + w             (2)
//
// (1) is the matrix-free form. Its cost per contact does not depend on how many contacts share a
// body. (2) is the explicit form; a block exists only where two contacts share a body. Both ends of
// a contact on one body are one G, their sum.
#pragma once

#include "base/stop.h"
#include "base/team.h"
#include "problems/matrix/mass.h"
#include "problems/problem.h"

#include <stddef.h>

#define SS_BLOCK_ROOM 4 // numbers after the last block, so that rows of three may be moved as four

// W by blocks, dim x dim each, row-major, full rows, columns ascending.
typedef struct ss_blocks {
    int dim, n;
    size_t *start; // [n + 1]
    int *col;      // [start[n]]
    double *x;     // [dim dim start[n] + SS_BLOCK_ROOM]
} ss_blocks;

// Rows of G and bodies in z are padded with zeros to a multiple of this, so that loops over them
// run in whole vectors.
#define SS_ROOM 4

typedef struct ss_sparse_ends ss_sparse_ends; // sparse_ends.h

// The matrix-free form. An end is one contact on one body; ends are numbered contact by contact.
// The problem outlives it.
typedef struct ss_whitened {
    int dim, ncontacts, nbodies, nends;
    ss_mass *mass; // shared; where nobody else has a share, dense factors have been forgotten

    // [nbodies + 1] body k owns z[body_start[k]] .. z[body_start[k + 1] - 1]: its dofs, and zeros
    // up to a multiple of SS_ROOM.
    int *body_start;
    int *end_start;        // [ncontacts + 1] first end of each contact
    int *end_body;         // [nends] ascending within a contact
    size_t *end_G;         // [nends] start of the end's G in G: dim rows, each with the body's room
    int *body_end_start;   // [nbodies + 1]
    int *body_end;         // [nends] ends on each body, contacts ascending
    int *body_end_contact; // [nends] contacts of body_end
    double *G;
    ss_sparse_ends *sparse; // owned; replaces end_G and G, and z is v; NULL where there is G
    double *z0;             // [body_start[nbodies]] L^-1 f; v at r = 0 where there is no G
    const double *w;        // [dim ncontacts] borrowed from the problem
    double *b;              // [dim ncontacts] G z0 + w
} ss_whitened;

// Returns the places of a body in z, which is the length of a row of G on it.
static inline int ss_whitened_room(const ss_whitened *white, int body)
{
    return white->body_start[body + 1] - white->body_start[body];
}

// Make the matrix-free form of a problem in global form: by one thread; unless it is stopped, with
// room as in ss_mass_find and a team, or NULL, that shares the bodies; and so with sparse ends in
// the place of G, if the bodies of the contacts are bands.
ss_status ss_whitened_new(const ss_problem *p, ss_whitened **white, ss_error *e);
ss_status ss_whitened_until(const ss_stop *stop, const ss_problem *p, ss_mass **room, ss_team *team,
                            ss_whitened **white, ss_error *e);
ss_status ss_whitened_sparse_until(const ss_stop *stop, const ss_problem *p, ss_mass **room,
                                   ss_team *team, ss_whitened **white, ss_error *e);

void ss_whitened_free(ss_whitened *white);

// Counts the blocks of W, without making it.
ss_status ss_blocks_count(const ss_whitened *white, size_t *count, ss_error *e);

// Makes W by (2). Where left is not NULL it takes the place of the first G, laid out like it:
// W_ij = sum of left_ik G_jk'.
ss_status ss_blocks_assemble(const ss_whitened *white, const double *left, ss_blocks *W,
                             ss_error *e);
ss_status ss_blocks_from_sparse(const ss_sparse *A, int dim, ss_blocks *W, ss_error *e);
ss_status ss_blocks_to_sparse(const ss_blocks *W, ss_sparse *A, ss_error *e);
void ss_blocks_free(ss_blocks *W);
// Do the same unless they are stopped; then W->start is NULL.
ss_status ss_blocks_assemble_until(const ss_stop *stop, const ss_whitened *white,
                                   const double *left, ss_blocks *W, ss_error *e);
ss_status ss_blocks_from_sparse_until(const ss_stop *stop, const ss_sparse *A, int dim,
                                      ss_blocks *W, ss_error *e);

// Makes the blocks of (2) from a column of M^-1 H at a time, every pair of contacts by products
// over all dofs: the naive curve of [D11] Figure 6. They are equal to those of ss_blocks_assemble
// except for rounding.
ss_status ss_blocks_assemble_naive(const ss_stop *stop, const ss_problem *p,
                                   const ss_whitened *white, ss_blocks *W, ss_error *e);

// Writes tr(W_ii)/d of each contact into compliance [ncontacts], straight from M and H; p is in
// global form. The team may be NULL. Returns false without memory.
bool ss_compliance_find(const ss_problem *p, const ss_mass *mass, ss_team *team,
                        double *compliance);

// ---- For tests

// Makes W dense, row-major, [dim n] square, in the naive way.
ss_status ss_delassus_naive(const ss_problem *p, double *W, ss_error *e);
