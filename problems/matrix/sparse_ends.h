// problems/matrix/sparse_ends.h -- the third form of W (delassus.h): the ends of contacts on bodies
// that are bands.
//
// An end has few dofs, those of the vertices beside it, but M^-1 carries its impulse to all of its
// body. Of v only the velocities matter that the ends see. For the bodies k of contact i
//
//     u_i = w_i + sum_k y_ik,   y_jk += H_jk' Y_ik dr_i  for all j on k,  Y_ik = M_k^-1 H_ik
//     W_ii = sum_k H_ik' M_k^-1 H_ik,   from the entries of M^-1 within the band (banded.h)
//
// where the y of a body take the place of z. A push reads 9 numbers for each end on the body. Where
// there are so many ends that this is more than Y, 3 numbers for each dof, z is v:
//
//     u_i = w_i + sum_k H_ik' v_k,      v_k += Y_ik dr_i
//
// The response that a push reads is made when its contact first pushes, and in hair most never do.
// Responses of contacts that are wanted then and share the body are made with it: M^-1 is what
// costs, and many columns side by side cost little more than one. This form is cheaper than G also
// where contacts push again and again, as a contact that only sees does not read responses.
#pragma once

#include "problems/matrix/delassus.h"

#include <stdbool.h>
#include <stddef.h>

// A dof of an end, and the row of H there.
typedef struct ss_end_entry {
    double H[4]; // by the components of the contact, and 0 behind them
    int dof;     // place among the dofs of the body
} ss_end_entry;

struct ss_sparse_ends {
    int *start;          // [nends + 1] first entry of each end
    ss_end_entry *entry; // [start[nends]]
    int *own;            // [nends] place in z of the end's y; -1 where z of its body is v
    double *W;           // [9 nends] H_ik' M_k^-1 H_ik
    double *still;       // [dim nends] |H_ik|' |v_k| at r = 0, for rounding; 0 where z is v
    ptrdiff_t *place;    // [nends] place of the response in `room`; -1 before it is made
    bool *wanted;        // [nends] true if the end may soon push
    bool few_digits;     // true if responses are floats
    void *room;          // [used]; it has capacity for all
    size_t used;
};

// Returns whether the response of end s has been made.
static inline bool ss_end_pushed(const ss_sparse_ends *ends, int s)
{
    return ends->place[s] >= 0;
}

// Adds the response of end s to dr to z of its body. The response is made where it is not there
// yet; two threads may do so for two bodies.
void ss_sparse_ends_push(const ss_whitened *white, int s, const double dr[3], double *z);
// Prefetches the responses of contact i.
void ss_sparse_ends_fetch(const ss_whitened *white, int i);
// Adds the sizes of the products of a push to x; nothing before its response is made.
void ss_sparse_ends_add_sizes(const ss_whitened *white, int s, const double *r, double *x);
// Makes responses floats if all bodies with contacts are short; called before the first is made.
// Then z is off by 2^-24 of the pushes, until it is computed from r again.
void ss_sparse_ends_round(const ss_whitened *white);
// Writes W [dim dim] between two ends on one body: H_i' Y_j.
void ss_sparse_ends_block(const ss_whitened *white, int i, int j, double *W);

// Writes z of all bodies from r [stride ncontacts], by v = M^-1 (f + H r).
void ss_sparse_ends_motion(const ss_whitened *white, const double *r, int stride, double *z);

// Adds y of contact i to u.
static inline void ss_sparse_ends_see(const ss_whitened *white, int i, const double *z, double u[4])
{
    const ss_sparse_ends *ends = white->sparse;
    for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
        if (ends->own[s] >= 0) {
            const double *y = z + ends->own[s];
            u[0] += y[0];
            u[1] += y[1];
            u[2] += white->dim == 3 ? y[2] : 0.0;
            continue;
        }
        const double *v = z + white->body_start[white->end_body[s]];
        for (int k = ends->start[s]; k < ends->start[s + 1]; k++) {
            const ss_end_entry *at = &ends->entry[k];
            for (int c = 0; c < 4; c++) {
                u[c] += at->H[c] * v[at->dof];
            }
        }
    }
}

// ---- For delassus.c

// Returns whether every body that a contact touches is a band.
bool ss_sparse_ends_possible(const ss_whitened *white);
// Called after ends and bodies have been placed: makes z0 from M^-1 f, and gives bodies their
// places in z.
ss_status ss_sparse_ends_make(const ss_stop *stop, const ss_problem *p, ss_whitened *white,
                              ss_error *e);
void ss_sparse_ends_free(ss_sparse_ends *ends);
