// solvers/sweep/see_push.h -- the loops of coupling.h, inline for those who visit contact after contact.
//
// `dim` is a constant where they are called, so that each dimension has loops of its own. Four numbers
// are worked on at once: sums run in a fixed tree, so the bits do not depend on the CPU's vectors.
#pragma once

#include "solvers/small.h"
#include "solvers/sweep/coupling.h"

// Four numbers, as vectors of the CPU: wider ones are kept in memory by gcc, where sums wait for it.
#if defined(__AVX__)
#define SS_LANES 4
#else
#define SS_LANES 2
#endif
enum { SS_FOUR = 4, SS_PARTS = SS_FOUR / SS_LANES };
typedef double ss_lanes __attribute__((vector_size(8 * SS_LANES), aligned(8)));
typedef struct ss_four {
    ss_lanes part[SS_PARTS];
} ss_four;

SS_INLINE ss_four ss_four_load(const double *x)
{
    ss_four y;
    for (int p = 0; p < SS_PARTS; p++) {
        y.part[p] = *(const ss_lanes *)(x + p * SS_LANES);
    }
    return y;
}

SS_INLINE void ss_four_store(ss_four y, double *x)
{
    for (int p = 0; p < SS_PARTS; p++) {
        *(ss_lanes *)(x + p * SS_LANES) = y.part[p];
    }
}

// sum + x y, number by number.
SS_INLINE ss_four ss_four_plus(ss_four sum, const double *x, ss_four y)
{
    for (int p = 0; p < SS_PARTS; p++) {
        sum.part[p] += *(const ss_lanes *)(x + p * SS_LANES) * y.part[p];
    }
    return sum;
}

// sum + x a.
SS_INLINE ss_four ss_four_along(ss_four sum, const double *x, double a)
{
    for (int p = 0; p < SS_PARTS; p++) {
        sum.part[p] += *(const ss_lanes *)(x + p * SS_LANES) * a;
    }
    return sum;
}

SS_INLINE double ss_four_sum(ss_four y)
{
#if SS_LANES == 4
    return (y.part[0][0] + y.part[0][2]) + (y.part[0][1] + y.part[0][3]);
#else
    const ss_lanes both = y.part[0] + y.part[1];
    return both[0] + both[1];
#endif
}

// Rows of three numbers are read as four: the fourth belongs to what follows and meets the zero
// behind r_j. W has room behind its last block.
static inline void ss_row_see_3(const ss_coupling *c, int i, const double *r_all, double u[3])
{
    ss_four u0 = {0}, u1 = {0}, u2 = {0};
    const double *block = c->W.x + 9 * c->W.start[i];
    for (size_t k = c->W.start[i]; k < c->W.start[i + 1]; k++, block += 9) {
        const ss_four r = ss_four_load(r_all + 4 * (size_t)c->W.col[k]);
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

// u = w_i + sum G z over the ends of contact i, which have a G.
static inline void ss_ends_see(const ss_whitened *white, int dim, int i, const double *z_all,
                               double u[3])
{
    ss_four sum[3] = {0};
    for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
        const int room = ss_whitened_room(white, white->end_body[s]);
        const double *z = z_all + white->body_start[white->end_body[s]];
        const double *G = white->G + white->end_G[s];
        for (int j = 0; j < room; j += SS_FOUR) {
            const ss_four zj = ss_four_load(z + j);
            for (int k = 0; k < dim; k++) {
                sum[k] = ss_four_plus(sum[k], G + k * room + j, zj);
            }
        }
    }
    const double *w = white->w + (size_t)dim * (size_t)i;
    u[0] = w[0] + ss_four_sum(sum[0]);
    u[1] = w[1] + ss_four_sum(sum[1]);
    u[2] = dim == 3 ? w[2] + ss_four_sum(sum[2]) : 0.0;
}

// z of the body of end s += G' dr; G is what an impulse there does to it.
static inline void ss_end_push(const ss_whitened *white, int dim, int s, const double *G,
                               const double dr[3], double *z_all)
{
    const int room = ss_whitened_room(white, white->end_body[s]);
    double *z = z_all + white->body_start[white->end_body[s]];
    const double d0 = dr[0], d1 = dr[1],
                 d2 = dr[2]; // z could be where dr is, for all that is known
    for (int j = 0; j < room; j += SS_FOUR) {
        ss_four zj = ss_four_load(z + j);
        zj = ss_four_along(zj, G + j, d0);
        zj = ss_four_along(zj, G + room + j, d1);
        ss_four_store(dim == 3 ? ss_four_along(zj, G + 2 * room + j, d2) : zj, z + j);
    }
}

// The same for all ends of contact i, which have a G.
static inline void ss_ends_push(const ss_whitened *white, int dim, int i, const double dr[3],
                                double *z_all)
{
    for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
        ss_end_push(white, dim, s, white->G + white->end_G[s], dr, z_all);
    }
}
