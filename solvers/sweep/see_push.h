// solvers/sweep/see_push.h -- the loops of coupling.h, inline for those who visit contact after contact.
//
// `dim` is a constant where they are called, so that each dimension has loops of its own. Four numbers
// are worked on at once: sums run in a fixed tree, so the bits do not depend on the CPU's vectors.
#pragma once

#include "solvers/sweep/coupling.h"

enum { SS_FOUR = 4 };
typedef double ss_four __attribute__((vector_size(8 * SS_FOUR), aligned(8)));

static inline ss_four ss_four_load(const double *x)
{
    return *(const ss_four *)x;
}

static inline double ss_four_sum(ss_four x)
{
    return (x[0] + x[2]) + (x[1] + x[3]);
}

// Rows of three numbers are read as four: the fourth belongs to what follows and meets the zero
// behind r_j. W has room behind its last block.
static inline void ss_row_see_3(const ss_coupling *c, int i, const double *r_all, double u[3])
{
    ss_four u0 = {0}, u1 = {0}, u2 = {0};
    const double *block = c->W.x + 9 * c->W.start[i];
    for (size_t k = c->W.start[i]; k < c->W.start[i + 1]; k++, block += 9) {
        const ss_four r = ss_four_load(r_all + 4 * (size_t)c->W.col[k]);
        u0 += ss_four_load(block) * r;
        u1 += ss_four_load(block + 3) * r;
        u2 += ss_four_load(block + 6) * r;
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
    ss_four sum[3] = {{0}, {0}, {0}};
    for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
        const int room = ss_whitened_room(white, white->end_body[s]);
        const double *z = z_all + white->body_start[white->end_body[s]];
        const double *G = white->G + white->end_G[s];
        for (int j = 0; j < room; j += SS_FOUR) {
            const ss_four zj = ss_four_load(z + j);
            sum[0] += ss_four_load(G + j) * zj;
            sum[1] += ss_four_load(G + room + j) * zj;
            if (dim == 3) {
                sum[2] += ss_four_load(G + 2 * room + j) * zj;
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
        ss_four zj =
            ss_four_load(z + j) + ss_four_load(G + j) * d0 + ss_four_load(G + room + j) * d1;
        if (dim == 3) {
            zj += ss_four_load(G + 2 * room + j) * d2;
        }
        *(ss_four *)(z + j) = zj;
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
