// solvers/sweep/coupling.h -- W as a sweep sees it: what one contact's impulse does to all
// velocities.
//
// Two forms behind one interface (problems/matrix/delassus.h), chosen once:
//
//     explicit      u_i = b_i + sum_j W_ij r_j
//     matrix-free   u_i = w_i + sum_k G_ik z_k,   z_k += G_ik' dr_i
//
// A visit reads a row of blocks in the explicit form, and two ends in the matrix-free form, however
// many contacts a body has. Where all bodies are bands, solvers that only see and push get sparse
// ends (problems/matrix/sparse_ends.h): then z is v, and G is H' to see and (M^-1 H)' to push.
//
// Both keep r; the matrix-free form also keeps z = z0 + G' r, which drifts by rounding and is
// computed afresh now and then. Impulses are stored four numbers a contact, the unused ones zero.
#pragma once

#include "base/lanes.h"
#include "base/team.h"
#include "problems/matrix/delassus.h"
#include "problems/matrix/sparse_ends.h"
#include "solvers/small.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

// ---- Which contacts rest
//
// A contact whose residual |f_i| is small is skipped until the residual could have grown. For an
// impulse that stays, f depends on u alone, and |df| <= L |du| with L = 2 sqrt(1 + mu^2)
// (tests/solvers/test_resting.c). The same holds for the normal part FB(s r_N, u_N), whose
// derivative by u_N is from 0 to 2. u_i = w_i + sum_k G_ik z_k over its ends
// (problems/matrix/delassus.h), and since it was seen, z_k has moved by no more than the length T_k
// of its way:
//
//     |dz_k| = |G_jk' dr_j| <= |G_jk|_F |dr_j|,   T_k = sum of these over the moves             (1)
//     |f_i| <= |f_i|(seen) + L sum_k g_k (T_k - T_k(seen)),   g_k = |G_ik|_F                    (2)
//
// A contact that is open, r_i = 0 and u_N > 0, has f = 0, and its u_N counts as slack:
//
//     |f_i| <= L sum_k g_k (T_k - T_k(seen)) - L u_N(seen),   g_k the norm of G_ik's first row  (3)
//
// In hair most contacts are open, and most of the others rest while a few are still moving.

// The numbers that tell whether a contact rests, side by side.
typedef struct ss_resting_contact {
    int body[2];     // bodies of its ends; nbodies, which never moves, where there is one end only
    double reach[2]; // L g_k
    double residual; // right side of (2) or (3) at T = 0; infinity where it must be visited
} ss_resting_contact;

typedef struct ss_resting_norms {
    double full[2];   // |G_ik|_F
    double normal[2]; // norm of its first row
    double L;
} ss_resting_norms;

typedef struct ss_resting {
    int n, nbodies;
    ss_resting_contact *contact; // [n]
    ss_resting_norms *norms;     // [n]
    double *way;                 // [nbodies + 1] T
} ss_resting;

static inline double ss_resting_gone(const ss_resting *resting, const ss_resting_contact *c)
{
    return c->reach[0] * resting->way[c->body[0]] + c->reach[1] * resting->way[c->body[1]];
}

// Returns whether |f_i| <= most for sure.
static inline bool ss_resting_rests(const ss_resting *resting, int i, double most)
{
    const ss_resting_contact *c = &resting->contact[i];
    return c->residual + ss_resting_gone(resting, c) <= most;
}

// Notes that the impulse of contact i changed by |dr|.
static inline void ss_resting_move(ss_resting *resting, int i, double dr)
{
    ss_resting_contact *c = &resting->contact[i];
    for (int k = 0; k < 2; k++) {
        const double g = resting->norms[i].full[k];
        if (g > 0.0) { // a missing end stands on body nbodies, which threads share
            resting->way[c->body[k]] += g * dr;
        }
    }
    c->residual = INFINITY;
}

// Notes that contact i keeps its impulse, with this |f_i|; open says that it is zero and u_N > 0.
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

// ---- The coupling

typedef enum ss_coupling_form {
    SS_FORM_AUTO,
    SS_FORM_EXPLICIT,
    SS_FORM_MATRIX_FREE,
    SS_FORM_NAIVE,  // explicit, assembled naively: only to measure what that costs
    SS_FORM_SWEEPS, // automatic, for solvers that only see and push: ends may be sparse
} ss_coupling_form;

typedef struct ss_coupling {
    int dim, n;
    bool is_explicit;
    ss_local *contact;   // [n] W_ii, mu, embedded in space; b is scratch of a visit
    double *r;           // [4 n]
    double *b;           // [dim n] velocity at r = 0
    double *memo;        // [n] ss_local_goal.memo of each contact
    double *compliance;  // [n] tr(W_ii)/dim
    double s, V;         // scales of the judge (problems/coulomb.h)
    ss_blocks W;         // explicit form
    ss_whitened *white;  // matrix-free form
    double *z;           // matrix-free form, as white->body_start places it
    ss_resting *resting; // which contacts rest; NULL if not wanted, or not known
    const double *mu;    // [n] borrowed from the problem
    double *u;           // [dim n] velocities of the last ss_coupling_measure
    double *packed;      // [dim n + n] scratch
    double *sizes;       // scratch of ss_coupling_rounding, as long as z
    ss_team *team;       // helps with all contacts at once; borrowed; NULL for one thread
} ss_coupling;

// Makes a coupling. `room` is as in ss_mass_find. The team, or NULL, helps to make it, and is kept.
// A problem in local form has the explicit form only, and no bounds of residuals; `resting` asks
// for these. They are for sweeps, and cost something at each move. The problem outlives the
// coupling. Returns SS_OK with *coupling NULL where it is stopped.
ss_status ss_coupling_with(const ss_problem *p, ss_mass **room, ss_team *team,
                           ss_coupling_form form, bool resting, const ss_stop *stop,
                           ss_coupling **coupling, ss_error *e);
void ss_coupling_free(ss_coupling *coupling);

// Sets r [dim n] and everything that follows from it.
void ss_coupling_set(ss_coupling *coupling, const double *r);
void ss_coupling_get(const ss_coupling *coupling, double *r);
// Sets r alone, for ss_coupling_measure, or where it is only fetched again.
void ss_coupling_put(ss_coupling *coupling, const double *r);
// Computes z afresh from r; does nothing in explicit form.
void ss_coupling_refresh(ss_coupling *coupling);

// Writes u of contact i at the present r, three components.
void ss_coupling_velocity(const ss_coupling *coupling, int i, double u[3]);
// Returns whether ends are sparse. Then ss_coupling_fetch prefetches the numbers that a move of
// contact i reads, if it has an impulse.
static inline bool ss_coupling_fetches(const ss_coupling *coupling)
{
    return !coupling->is_explicit && coupling->white->sparse != NULL;
}
static inline void ss_coupling_fetch(const ss_coupling *coupling, int i)
{
    if (coupling->r[4 * (size_t)i] != 0.0) {
        ss_sparse_ends_fetch(coupling->white, i);
    }
}
// Sets r_i = r.
void ss_coupling_move(ss_coupling *coupling, int i, const double r[3]);
// Notes that r and z have changed by no move. They were r [4 n] and z before, or NULL where that is
// not known; z is NULL also in explicit form, which has none.
void ss_coupling_leapt(ss_coupling *coupling, const double *r, const double *z);

// The next functions do the same for vectors of the caller.
// Explicit form: u = b_i + sum_j W_ij r_j with r [4 n].
void ss_coupling_row(const ss_coupling *coupling, int i, const double *r, double u[3]);
// Matrix-free form: u = w_i + G_i z, and z += G_i' dr.
void ss_coupling_see(const ss_coupling *coupling, int i, const double *z, double u[3]);
void ss_coupling_push(const ss_coupling *coupling, int i, const double dr[3], double *z);
// Matrix-free form without sparse ends: z = z0 + G' r of one body alone, its contacts in order; and
// z += G' r of all contacts, r [4 n], with the team, a body's contacts in order.
void ss_coupling_gather(const ss_coupling *coupling, int body, const double *r, double *z);
void ss_coupling_push_all(const ss_coupling *coupling, const double *r, double *z);

// Nanoseconds per contact of a loop that sees or pushes, or reads a row: for sharing it among
// threads.
#define SS_COUPLING_NS 25.0

// Returns all measures at the present r, with every velocity computed afresh.
ss_measures ss_coupling_measure(ss_coupling *coupling);
// Returns the same with z as it has become.
ss_measures ss_coupling_measure_present(ss_coupling *coupling);
// Returns what rounding leaves unknown of f at the present r, in m/s: eps (max |s r_i| + max t_i),
// where t_i is the sum of the sizes of all products and terms in u_i, component by component.
double ss_coupling_rounding(const ss_coupling *coupling);

// ---- The loops of a visit, inline
//
// Callers pass a constant `dim`, so that each dimension has loops of its own. The loops work on
// eight numbers at once, and on the last four of a body that has four more. Sums are added in a
// fixed tree, so the bits do not depend on how wide the CPU's vectors are.

enum { SS_FOUR = 4, SS_EIGHT = 8, SS_FEW = SS_LANES < SS_FOUR ? SS_LANES : SS_FOUR };
typedef double ss_few_lanes __attribute__((vector_size(8 * SS_FEW), aligned(8)));
typedef struct ss_four_lanes {
    ss_few_lanes part[SS_FOUR / SS_FEW];
} ss_four_lanes;
typedef struct ss_eight_lanes {
    ss_lanes part[SS_EIGHT / SS_LANES];
} ss_eight_lanes;

SS_INLINE ss_few_lanes ss_few_at(const double *x)
{
    return *(const ss_few_lanes *)x;
}

SS_INLINE ss_lanes ss_lanes_at(const double *x)
{
    return *(const ss_lanes *)x;
}

SS_INLINE ss_four_lanes ss_four_load(const double *x)
{
    ss_four_lanes y;
    for (int p = 0; p < SS_FOUR / SS_FEW; p++) {
        y.part[p] = ss_few_at(x + p * SS_FEW);
    }
    return y;
}

// Returns sum + x y, number by number.
SS_INLINE ss_four_lanes ss_four_plus(ss_four_lanes sum, const double *x, ss_four_lanes y)
{
    for (int p = 0; p < SS_FOUR / SS_FEW; p++) {
        sum.part[p] += ss_few_at(x + p * SS_FEW) * y.part[p];
    }
    return sum;
}

SS_INLINE double ss_four_sum(ss_four_lanes y)
{
#if SS_LANES >= 4
    return (y.part[0][0] + y.part[0][2]) + (y.part[0][1] + y.part[0][3]);
#else
    const ss_few_lanes both = y.part[0] + y.part[1];
    return both[0] + both[1];
#endif
}

// Returns ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)).
SS_INLINE double ss_eight_sum(ss_eight_lanes y)
{
    ss_four_lanes half[2];
    memcpy(half, &y, sizeof half);
    for (int p = 0; p < SS_FOUR / SS_FEW; p++) {
        half[0].part[p] += half[1].part[p];
    }
    return ss_four_sum(half[0]);
}

// Reads rows of three numbers as four: the fourth belongs to the next row and meets the zero behind
// r_j. W has room behind its last block.
static inline void ss_row_see_3(const ss_coupling *c, int i, const double *r_all, double u[3])
{
    ss_four_lanes u0 = {0}, u1 = {0}, u2 = {0};
    const double *block = c->W.x + 9 * c->W.start[i];
    for (size_t k = c->W.start[i]; k < c->W.start[i + 1]; k++, block += 9) {
        const ss_four_lanes r = ss_four_load(r_all + 4 * (size_t)c->W.col[k]);
        u0 = ss_four_plus(u0, block, r);
        u1 = ss_four_plus(u1, block + 3, r);
        u2 = ss_four_plus(u2, block + 6, r);
    }
    const double *b = c->b + 3 * (size_t)i;
    u[0] = b[0] + ss_four_sum(u0);
    u[1] = b[1] + ss_four_sum(u1);
    u[2] = b[2] + ss_four_sum(u2);
}

static inline void ss_row_see_2(const ss_coupling *c, int i, const double *r_all, double u[3])
{
    const double *b = c->b + 2 * (size_t)i;
    u[0] = b[0];
    u[1] = b[1];
    u[2] = 0.0;
    const double *block = c->W.x + 4 * c->W.start[i];
    for (size_t k = c->W.start[i]; k < c->W.start[i + 1]; k++, block += 4) {
        const double *r = r_all + 4 * (size_t)c->W.col[k];
        u[0] += block[0] * r[0] + block[1] * r[1];
        u[1] += block[2] * r[0] + block[3] * r[1];
    }
}

// Add (row k of G) z to sum[k], number by number, for eight numbers of the row; for four, into the
// first half of the sum.
SS_INLINE void ss_see_eight(int dim, const double *G, int room, const double *z,
                            ss_eight_lanes sum[3])
{
    for (int p = 0; p < SS_EIGHT / SS_LANES; p++) {
        const ss_lanes zp = ss_lanes_at(z + p * SS_LANES);
        for (int k = 0; k < dim; k++) {
            sum[k].part[p] += ss_lanes_at(G + k * room + p * SS_LANES) * zp;
        }
    }
}

SS_INLINE void ss_see_four(int dim, const double *G, int room, const double *z,
                           ss_eight_lanes sum[3])
{
    for (int p = 0; p < SS_FOUR / SS_FEW; p++) {
        const ss_few_lanes zp = ss_few_at(z + p * SS_FEW);
        for (int k = 0; k < dim; k++) {
            const ss_few_lanes product = ss_few_at(G + k * room + p * SS_FEW) * zp;
#if SS_LANES == 8
            const ss_few_lanes none = {0};
            sum[k].part[p] += __builtin_shufflevector(product, none, 0, 1, 2, 3, 4, 5, 6, 7);
#else
            sum[k].part[p] += product;
#endif
        }
    }
}

// Writes u = w_i + sum G z over the ends of contact i, which have a G.
static inline void ss_ends_see(const ss_whitened *white, int dim, int i, const double *z_all,
                               double u[3])
{
    ss_eight_lanes sum[3] = {0};
    for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
        const int room = ss_whitened_room(white, white->end_body[s]);
        const double *z = z_all + white->body_start[white->end_body[s]];
        const double *G = white->G + white->end_G[s];
        int j = 0;
        for (; j + SS_EIGHT <= room; j += SS_EIGHT) {
            ss_see_eight(dim, G + j, room, z + j, sum);
        }
        if (j < room) {
            ss_see_four(dim, G + j, room, z + j, sum);
        }
    }
    const double *w = white->w + (size_t)dim * (size_t)i;
    u[2] = 0.0;
    for (int k = 0; k < dim; k++) {
        u[k] = w[k] + ss_eight_sum(sum[k]);
    }
}

// Add G' dr to eight, or to four, numbers of z.
SS_INLINE void ss_push_eight(int dim, const double *G, int room, const double dr[3], double *z)
{
    for (int p = 0; p < SS_EIGHT / SS_LANES; p++) {
        ss_lanes zp = ss_lanes_at(z + p * SS_LANES);
        for (int k = 0; k < dim; k++) {
            zp += ss_lanes_at(G + k * room + p * SS_LANES) * dr[k];
        }
        *(ss_lanes *)(z + p * SS_LANES) = zp;
    }
}

SS_INLINE void ss_push_four(int dim, const double *G, int room, const double dr[3], double *z)
{
    for (int p = 0; p < SS_FOUR / SS_FEW; p++) {
        ss_few_lanes zp = ss_few_at(z + p * SS_FEW);
        for (int k = 0; k < dim; k++) {
            zp += ss_few_at(G + k * room + p * SS_FEW) * dr[k];
        }
        *(ss_few_lanes *)(z + p * SS_FEW) = zp;
    }
}

// Adds G' dr to z of the body of end s, where G tells what an impulse there does to it.
static inline void ss_end_push(const ss_whitened *white, int dim, int s, const double *G,
                               const double dr[3], double *z_all)
{
    const int room = ss_whitened_room(white, white->end_body[s]);
    double *z = z_all + white->body_start[white->end_body[s]];
    const double own[3] = {dr[0], dr[1], dr[2]}; // the compiler must assume that z and dr overlap
    int j = 0;
    for (; j + SS_EIGHT <= room; j += SS_EIGHT) {
        ss_push_eight(dim, G + j, room, own, z + j);
    }
    if (j < room) {
        ss_push_four(dim, G + j, room, own, z + j);
    }
}

// Does so for all ends of contact i, which have a G.
static inline void ss_ends_push(const ss_whitened *white, int dim, int i, const double dr[3],
                                double *z_all)
{
    for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
        ss_end_push(white, dim, s, white->G + white->end_G[s], dr, z_all);
    }
}

// ---- For tests

// Makes a coupling by one thread.
ss_status ss_coupling_new(const ss_problem *p, ss_coupling_form form, bool resting,
                          const ss_stop *stop, ss_coupling **coupling, ss_error *e);
