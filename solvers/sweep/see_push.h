// solvers/sweep/see_push.h -- the loops of coupling.h, inline for those who visit contact after contact.
//
// `dim` is a constant where they are called, so that each dimension has loops of its own. They work on eight
// numbers at once, and on the last four of a body that has four more. Sums are added in a fixed tree, so the
// bits do not depend on how wide the CPU's vectors are.
#pragma once

#include <string.h>

#include "base/lanes.h"
#include "solvers/small.h"
#include "solvers/sweep/coupling.h"

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

// sum + x y, number by number.
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

// ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7))
SS_INLINE double ss_eight_sum(ss_eight_lanes y)
{
    ss_four_lanes half[2];
    memcpy(half, &y, sizeof half);
    for (int p = 0; p < SS_FOUR / SS_FEW; p++) {
        half[0].part[p] += half[1].part[p];
    }
    return ss_four_sum(half[0]);
}

// Rows of three numbers are read as four: the fourth belongs to what follows and meets the zero
// behind r_j. W has room behind its last block.
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

// sum[k] += (row k of G) z, number by number, for eight numbers of the row; for four, into the first half of the sum.
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

// u = w_i + sum G z over the ends of contact i, which have a G.
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

// z += G' dr, for eight and for four numbers of z.
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

// z of the body of end s += G' dr; G is what an impulse there does to it.
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

// The same for all ends of contact i, which have a G.
static inline void ss_ends_push(const ss_whitened *white, int dim, int i, const double dr[3],
                                double *z_all)
{
    for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
        ss_end_push(white, dim, s, white->G + white->end_G[s], dr, z_all);
    }
}
