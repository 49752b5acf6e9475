// problems/matrix/sparse_ends.h -- the third form of W (delassus.h): the ends of contacts on bodies that are bands.
//
// An end has few dofs, those of the vertices beside it, but M^-1 carries its impulse to all of its body. So
//
//     u_i = w_i + sum_k H_ik' v_k,      v_k += Y_ik dr_i,   Y_ik = M_k^-1 H_ik               (1)
//     W_ii = sum_k H_ik' M_k^-1 H_ik,   from the entries of M^-1 within the band (banded.h)
//
// where v takes the place of z. Seeing costs a few products; Y is as large as G (whitened.c) but is made when
// its contact first pushes, and in hair most never do. Where contacts push again and again it is the
// cheaper form, too: what they only see they do not read.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "problems/matrix/delassus.h"

// The dofs of an end, and rows of H there.
typedef struct ss_end_entry {
    double H[4]; // by the components of the contact; 0 behind them
    int dof;     // place in z
} ss_end_entry;

struct ss_sparse_ends {
    int *start;          // [nends + 1] of the end's entries
    ss_end_entry *entry; // [start[nends]] dofs ascending
    double *W;           // [9 nends] H_ik' M_k^-1 H_ik
    ptrdiff_t *place;    // [nends] of Y in `room`; -1 before it is made
    double *room;        // [used] of a capacity for all
    bool *loaded;        // [bodies] scratch of ss_sparse_ends_motion
    size_t used;
};

static inline bool ss_end_pushed(const ss_sparse_ends *ends, int s)
{
    return ends->place[s] >= 0;
}

// Y of end s: dim rows with the body's room. It is made where it is not there yet; two threads may do so
// for two ends.
const double *ss_sparse_ends_response(const ss_whitened *white, int s);

// v of all bodies, in the place of z, from r [stride ncontacts]: M^-1 (f + H r).
void ss_sparse_ends_motion(const ss_whitened *white, const double *r, int stride, double *v);
// H' v of contact i is added to u.
static inline void ss_sparse_ends_see(const ss_whitened *white, int i, const double *v, double u[4])
{
    const ss_sparse_ends *ends = white->sparse;
    const int end = ends->start[white->end_start[i + 1]];
    for (int k = ends->start[white->end_start[i]]; k < end; k++) {
        const ss_end_entry *at = &ends->entry[k];
        for (int c = 0; c < 4; c++) {
            u[c] += at->H[c] * v[at->dof];
        }
    }
}

// ---- For whitened.c

// Whether every body that a contact touches is a band.
bool ss_sparse_ends_possible(const ss_whitened *white);
// After ends and bodies have been placed: z0 becomes M^-1 f.
ss_status ss_sparse_ends_make(const ss_stop *stop, const ss_problem *p, ss_whitened *white,
                              ss_error *e);
void ss_sparse_ends_free(ss_sparse_ends *ends);
