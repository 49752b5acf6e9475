// problems/matrix/sparse_ends.h -- the third form of W (delassus.h): the ends of contacts on bodies that are bands.
//
// An end has few dofs, those of the vertices beside it, but M^-1 carries its impulse to all of its body. What
// of v matters are the velocities that the ends see: of the bodies k of contact i
//
//     u_i = w_i + sum_k y_ik,     y_jk += H_jk' Y_ik dr_i  of all j on k,   Y_ik = M_k^-1 H_ik   (1)
//     W_ii = sum_k H_ik' M_k^-1 H_ik,   from the entries of M^-1 within the band (banded.h)
//
// where the y of a body take the place of z. A push reads 9 numbers for each end on the body. Where ends are so
// many that this is more than Y, 3 numbers for each dof, z is v:
//
//     u_i = w_i + sum_k H_ik' v_k,      v_k += Y_ik dr_i                                         (2)
//
// What a push reads is made when its contact first pushes, and in hair most never do; contacts that are wanted
// then and share the body are made with it. It is M^-1 that costs: many columns side by side cost little more
// than one. Where contacts push again and again it is the cheaper form than G, too: what they only see they do
// not read.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "problems/matrix/delassus.h"

// The dofs of an end, and rows of H there.
typedef struct ss_end_entry {
    double H[4]; // by the components of the contact; 0 behind them
    int dof;     // among the dofs of the body
} ss_end_entry;

struct ss_sparse_ends {
    int *start;          // [nends + 1] of the end's entries
    ss_end_entry *entry; // [start[nends]]
    int *own;            // [nends] place in z of the end's y; -1 where z of its body is v
    double *W;           // [9 nends] H_ik' M_k^-1 H_ik
    double *still;    // [dim nends] |H_ik|' |v_k| at r = 0, what rounding goes by; 0 where z is v
    ptrdiff_t *place; // [nends] of the response in `room`; -1 before it is made
    bool *wanted;     // [nends] it may soon push
    bool few_digits;  // responses are floats
    void *room;       // [used] of a capacity for all
    size_t used;
};

static inline bool ss_end_pushed(const ss_sparse_ends *ends, int s)
{
    return ends->place[s] >= 0;
}

// z of its body += the response of end s to dr. It is made where it is not there yet; two threads may do so for
// two bodies.
void ss_sparse_ends_push(const ss_whitened *white, int s, const double dr[3], double *z);
// Asks for what contact i will push.
void ss_sparse_ends_fetch(const ss_whitened *white, int i);
// x += the sizes of these products; nothing before it is made.
void ss_sparse_ends_add_sizes(const ss_whitened *white, int s, const double *r, double *x);
// Responses will be floats, if no body is so long that it has no room beside them; before the first is made. Then
// z is off by 2^-24 of what is pushed, until it comes from r again.
void ss_sparse_ends_round(const ss_whitened *white);
// W [dim dim] between two ends on one body: H_i' Y_j.
void ss_sparse_ends_block(const ss_whitened *white, int i, int j, double *W);

// z of all bodies from r [stride ncontacts], by v = M^-1 (f + H r).
void ss_sparse_ends_motion(const ss_whitened *white, const double *r, int stride, double *z);

// y of contact i is added to u.
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

// ---- For whitened.c

// Whether every body that a contact touches is a band.
bool ss_sparse_ends_possible(const ss_whitened *white);
// After ends and bodies have been placed: z0 becomes what M^-1 f gives, and bodies their places in z.
ss_status ss_sparse_ends_make(const ss_stop *stop, const ss_problem *p, ss_whitened *white,
                              ss_error *e);
void ss_sparse_ends_free(ss_sparse_ends *ends);

// ---- Between its files

// Bodies of at most so many dofs have y for z: what is on the way to it fits on the stack.
#define SS_SHORT_BODY 512

static inline bool ss_ends_own_places(const ss_whitened *white, int body)
{
    return white->body_end_start[body + 1] > white->body_end_start[body] &&
           white->sparse->own[white->body_end[white->body_end_start[body]]] >= 0;
}
// y += H' v of one end, v of its body.
void ss_sparse_ends_take(const ss_whitened *white, int s, const double *v, double *y);
// Rows of Y [dim], `length` apart: M^-1 H of one end.
void ss_sparse_ends_column(const ss_whitened *white, int s, size_t length, double *Y);
