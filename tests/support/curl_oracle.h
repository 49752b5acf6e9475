// tests/support/curl_oracle.h -- the energy of a curl of four vertices and its gradient, written afresh from
// doc/strands.md, "Lifted Curls", in complex numbers: derivatives by complex step are exact to rounding.
#pragma once

#include <complex.h>

#include "tests/support/one_strand.h"

#define DOFS 12
#define TINY 1e-40 // the complex step

typedef double complex number;

typedef struct vector {
    number x[3];
} vector;

static const vector NONE = {{0.0, 0.0, 0.0}};

static inline vector along(vector a, number k, vector b)
{
    return (vector){{a.x[0] + k * b.x[0], a.x[1] + k * b.x[1], a.x[2] + k * b.x[2]}};
}

static inline vector scaled(number k, vector a)
{
    return along(NONE, k, a);
}

static inline number dot(vector a, vector b)
{
    return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2];
}

static inline vector cross(vector a, vector b)
{
    return (vector){{a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2],
                     a.x[0] * b.x[1] - a.x[1] * b.x[0]}};
}

static inline number length(vector a)
{
    return csqrt(dot(a, a));
}

// A curl of four vertices, and what of its design the energy knows.
typedef struct curl {
    one_strand s;
    double l[3], theta[2], tau, EA, mu_b[2], mu_t;
} curl;

// theta of e0 and e1, with its slopes; tau of four vertices, with its slopes; an angle nearest to 0.
number angle_between(vector e0, vector e1, vector slope[2]);
number torsion_between(const vector x[4], vector slope[4]);
number wrapped(number a);

// The energy at x, and its gradient.
number energy_at(const curl *r, const vector x[4], vector slope[4]);
// The vertices of q, dof k being off by i TINY; k < 0: none.
void vertices_at(const double *q, int k, vector x[4]);
// d2E/dq2 at the curl's q, by complex step; the model's of a kind. By both indices.
void exact_at(const curl *r, double A[DOFS * DOFS]);
void stiffness_at(const curl *r, ss_stiffness kind, double A[DOFS * DOFS]);

// A curl at `start`, whose natural shape is `rest`; soft in stretching, so that all strains count.
curl curl_between(const char *spec, const ss_vec3 *start, const ss_vec3 *rest);
// Of random vertices along x.
void random_vertices(ss_random *g, ss_vec3 x[4]);
// A start that is nearly straight (which = 0), folded at a joint (1), or a torsion of nearly half a turn from
// the natural one (2), by `off` rad; `rest` is bent.
#define BAD_STARTS 3
void bad_vertices(int which, double off, ss_vec3 start[4], ss_vec3 rest[4]);

// To a share of the largest of B.
void check_near(const double *A, const double *B, int count, double share);
// A [n][n] += weight (a b' + b a')/2
void add_product(double weight, const double *a, const double *b, int n, double *A);
