// strands/models/lifted_curls/curl_lanes.h -- numbers of SS_CURL_LANES stencils side by side (internal).
//
// A lane is worked on alone: its bits do not depend on its neighbours, a NaN in it least of all.
#pragma once

#include <math.h>
#include <string.h>

#include "strands/models/lifted_curls/lifted_curls.h"

#define LANES SS_CURL_LANES
#include "strands/lanes.h"

static inline lane3 lane3_where(lane_mask mask, lane3 a)
{
    const lanes none = {0.0};
    return (lane3){lanes_where(mask, a.x, none), lanes_where(mask, a.y, none),
                   lanes_where(mask, a.z, none)};
}

// ---- Eigenvalues of 4 x 4 matrices, by plane rotations
//
// The rows and columns p and r turn by the angle whose tangent t makes A_pr zero (base/spectrum.c).
// t is needed to a few digits only, and is computed in floats; its cosine, by two steps of Newton's method
// for 1/sqrt(1 + t^2), is that of t to rounding, so that the turn is one. What is left of A_pr is 1e-7 of it.

typedef float few_digits __attribute__((vector_size(4 * LANES), aligned(4)));
typedef int few_mask __attribute__((vector_size(4 * LANES), aligned(4)));

static inline few_digits lanes_few_root(few_digits a)
{
    for (int l = 0; l < LANES; l++) {
        a[l] = sqrtf(a[l]);
    }
    return a;
}

// b where the mask is not set.
static inline few_digits lanes_few_where(few_mask mask, few_digits a, few_digits b)
{
    return (few_digits)(((few_mask)a & mask) | ((few_mask)b & ~mask));
}

typedef struct lanes_turn {
    lanes c, s; // cosine and sine
} lanes_turn;

// Entries of A are 1 at most: smaller ones than floats have turn nothing.
static inline lanes_turn lanes_turn_of(lanes A[4][4], int p, int r)
{
    const few_digits off = __builtin_convertvector(A[p][r] + A[p][r], few_digits);
    const few_digits gap = __builtin_convertvector(A[r][r] - A[p][p], few_digits);
    const few_digits root = lanes_few_root(gap * gap + off * off) + 1e-30F;
    // off / (gap +- root), of the sign that adds up.
    const few_digits below = lanes_few_where(gap < 0.0F, gap - root, gap + root);
    const lanes t = __builtin_convertvector(off / below, lanes);
    const lanes square = 1.0 + t * t;
    lanes c = __builtin_convertvector(
        1.0F / lanes_few_root(__builtin_convertvector(square, few_digits)), lanes);
    c *= 1.5 - 0.5 * square * c * c;
    c *= 1.5 - 0.5 * square * c * c;
    return (lanes_turn){c, t * c};
}

static inline void lanes_turn_by(lanes_turn turn, lanes A[4][4], lanes Q[4][4], int p, int r)
{
    const lanes c = turn.c, s = turn.s, cc = c * c, ss = s * s, cs = c * s;
    const lanes both = A[p][r] + A[p][r];
    const lanes app = cc * A[p][p] - cs * both + ss * A[r][r];
    const lanes arr = ss * A[p][p] + cs * both + cc * A[r][r];
    A[p][r] = A[r][p] = (cc - ss) * A[p][r] + cs * (A[p][p] - A[r][r]);
    A[p][p] = app;
    A[r][r] = arr;
    for (int k = 0; k < 4; k++) {
        const lanes u = Q[p][k], v = Q[r][k];
        Q[p][k] = c * u - s * v;
        Q[r][k] = s * u + c * v;
        if (k != p && k != r) {
            const lanes x = A[p][k], y = A[r][k];
            A[p][k] = A[k][p] = c * x - s * y;
            A[r][k] = A[k][r] = s * x + c * y;
        }
    }
}

// Of 2e6 matrices, random ones and nearly multiples of I, the worst have entries off the diagonal of 0.006,
// 9e-9 and 4e-16 of the largest after 3, 4 and 5 sweeps.
#define SWEEPS 5

// Eigenvalues below this share of the largest are 0.
#define ZERO_SHARE 1e-12

// A matrix whose eigenvalues are found: Q A Q' over `most`, with what is left off its diagonal.
typedef struct lanes_turned {
    lanes A[4][4], Q[4][4], most;
} lanes_turned;

static inline void lanes_turn_begin(lanes A[4][4], lanes_turned *t)
{
    t->most = (lanes){0.0};
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            const lanes size = lanes_absolute(A[i][j]);
            t->most = lanes_where(size > t->most, size, t->most);
            t->Q[i][j] = lanes_all(i == j ? 1.0 : 0.0);
        }
    }
    const lanes unit = 1.0 / lanes_where(t->most > 0.0, t->most, lanes_all(1.0));
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) {
            t->A[i][j] = A[i][j] * unit;
        }
    }
}

// A without its negative eigenvalues.
static inline void lanes_turn_end(const lanes_turned *t, lanes A[4][4])
{
    lanes largest = {0.0}, value[4];
    for (int k = 0; k < 4; k++) {
        const lanes size = lanes_absolute(t->A[k][k]);
        largest = lanes_where(size > largest, size, largest);
    }
    for (int k = 0; k < 4; k++) {
        const lanes own = t->A[k][k];
        value[k] = lanes_where(own > ZERO_SHARE * largest, t->most * own, lanes_all(0.0));
    }
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j <= i; j++) {
            A[i][j] = value[0] * t->Q[0][i] * t->Q[0][j] + value[1] * t->Q[1][i] * t->Q[1][j] +
                      (value[2] * t->Q[2][i] * t->Q[2][j] + value[3] * t->Q[3][i] * t->Q[3][j]);
            A[j][i] = A[i][j];
        }
    }
}

// Rows p, r and those that are left, i and j: neither turn moves what the other is found from.
static inline void lanes_eliminate(lanes_turned *a, lanes_turned *b, int p, int r, int i, int j)
{
    const lanes_turn turn[4] = {lanes_turn_of(a->A, p, r), lanes_turn_of(b->A, p, r),
                                lanes_turn_of(a->A, i, j), lanes_turn_of(b->A, i, j)};
    lanes_turn_by(turn[0], a->A, a->Q, p, r);
    lanes_turn_by(turn[1], b->A, b->Q, p, r);
    lanes_turn_by(turn[2], a->A, a->Q, i, j);
    lanes_turn_by(turn[3], b->A, b->Q, i, j);
}

// Two matrices without their negative eigenvalues: each turn waits for two divisions and two roots, in which
// three others go on.
static inline void lanes_clamp_two(lanes A[4][4], lanes B[4][4])
{
    lanes_turned a, b;
    lanes_turn_begin(A, &a);
    lanes_turn_begin(B, &b);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        lanes_eliminate(&a, &b, 0, 1, 2, 3);
        lanes_eliminate(&a, &b, 0, 2, 1, 3);
        lanes_eliminate(&a, &b, 0, 3, 1, 2);
    }
    lanes_turn_end(&a, A);
    lanes_turn_end(&b, B);
}
