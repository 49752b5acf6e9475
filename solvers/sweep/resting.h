// solvers/sweep/resting.h -- which contacts need no visit: nothing has moved far enough to upset
// them.
//
// A contact whose residual |f_i| is small is skipped until it could have grown. For an impulse that
// stays, f depends on u alone, and |df| <= L |du| with L = 2 sqrt(1 + mu^2) (tests/solvers/test_resting.c).
// The same holds of the normal part FB(s r_N, u_N), whose derivative by u_N is from 0 to 2.
// u_i = w_i + sum_k G_ik z_k over its ends (problems/matrix/delassus.h), and since it was seen, z_k has
// moved by no more than the way T_k that it has gone:
//
//     |dz_k| = |G_jk' dr_j| <= |G_jk|_F |dr_j|,   T_k = sum of these over the moves             (1)
//     |f_i| <= |f_i|(seen) + L sum_k g_k (T_k - T_k(seen)),   g_k = |G_ik|_F                    (2)
//
// A contact that is open, r_i = 0 and u_N > 0, has f = 0, and its u_N counts as slack:
//
//     |f_i| <= L sum_k g_k (T_k - T_k(seen)) - L u_N(seen),   g_k the norm of G_ik's first row  (3)
//
// In hair most contacts are open, and of the others most rest while a few are still moving.
#pragma once

#include <math.h>
#include <stdbool.h>
#include "problems/matrix/delassus.h"

// What is needed to tell whether a contact rests, side by side.
typedef struct ss_resting_contact {
    int body[2];     // of its ends; nbodies, which never moves, where there is one end only
    double reach[2]; // L g_k
    double residual; // the right side of (2) or (3) at T = 0; infinity where it must be visited
} ss_resting_contact;

typedef struct ss_resting_norms {
    double full[2];   // |G_ik|_F
    double normal[2]; // of its first row
    double L;
} ss_resting_norms;

typedef struct ss_resting {
    int n, nbodies;
    ss_resting_contact *contact; // [n]
    ss_resting_norms *norms;     // [n]
    double *way;                 // [nbodies + 1] T
} ss_resting;

// *made is NULL where a contact has more than two ends: then all are visited. `white` is not
// needed afterwards.
ss_status ss_resting_new(const ss_whitened *white, const double *mu, ss_resting **made,
                         ss_error *e);
void ss_resting_free(ss_resting *resting); // takes NULL

// Every contact must be visited: r or z was set from outside.
void ss_resting_forget(ss_resting *resting);
// z became z_new and r [4 n] r_new, not by moves: T follows z, and contacts whose impulse changed
// must be visited.
void ss_resting_leap(ss_resting *resting, const int *body_start, const double *z,
                     const double *z_new, const double *r, const double *r_new);

static inline double ss_resting_gone(const ss_resting *resting, const ss_resting_contact *c)
{
    return c->reach[0] * resting->way[c->body[0]] + c->reach[1] * resting->way[c->body[1]];
}

// |f_i| <= most, for sure.
static inline bool ss_resting_rests(const ss_resting *resting, int i, double most)
{
    const ss_resting_contact *c = &resting->contact[i];
    return c->residual + ss_resting_gone(resting, c) <= most;
}

// The impulse of contact i changed by |dr|.
static inline void ss_resting_move(ss_resting *resting, int i, double dr)
{
    ss_resting_contact *c = &resting->contact[i];
    for (int k = 0; k < 2; k++) {
        const double g = resting->norms[i].full[k];
        if (g > 0.0) { // an end that is not there stands on the one body that threads share
            resting->way[c->body[k]] += g * dr;
        }
    }
    c->residual = INFINITY;
}

// Contact i keeps its impulse, with this |f_i|; open says that it is zero and u_N > 0.
static inline void ss_resting_see(ss_resting *resting, int i, bool open, double u_N,
                                  double residual)
{
    ss_resting_contact *c = &resting->contact[i];
    const ss_resting_norms *g = &resting->norms[i];
    for (int k = 0; k < 2; k++) {
        c->reach[k] = g->L * (open ? g->normal[k] : g->full[k]);
    }
    c->residual = (open ? -g->L * u_N : residual) - ss_resting_gone(resting, c);
}
