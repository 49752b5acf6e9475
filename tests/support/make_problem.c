#include "tests/support/make_problem.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "tests/support/support.h"

// Entries of a matrix while it is being made.
typedef struct entries {
    int count, capacity;
    int *row, *col;
    double *x;
} entries;

static void add(entries *t, int row, int col, double x)
{
    if (t->count == t->capacity) {
        t->capacity = 2 * t->capacity + 64;
        t->row = realloc(t->row, (size_t)t->capacity * sizeof *t->row);
        t->col = realloc(t->col, (size_t)t->capacity * sizeof *t->col);
        t->x = realloc(t->x, (size_t)t->capacity * sizeof *t->x);
    }
    t->row[t->count] = row;
    t->col[t->count] = col;
    t->x[t->count++] = x;
}

static void finish(entries *t, int nrows, int ncols, ss_sparse *A)
{
    ss_error error;
    CHECK_OK(ss_sparse_from_triplets(A, nrows, ncols, t->count, t->row, t->col, t->x, &error));
    free(t->row);
    free(t->col);
    free(t->x);
}

double *normal_values(ss_random *g, int n)
{
    double *x = malloc((size_t)n * sizeof *x);
    for (int k = 0; k < n; k++) {
        x[k] = ss_random_normal(g);
    }
    return x;
}

// The dofs of body k are first[k] + j stride[k]: two bodies share each stretch of dofs, so that the
// dofs of a body are not adjacent.
typedef struct layout {
    int ndofs;
    int *size, *first, *stride;
} layout;

static layout interleave(ss_random *g, int nbodies, int largest, bool fixed)
{
    layout l = {0, calloc((size_t)nbodies, sizeof(int)), calloc((size_t)nbodies, sizeof(int)),
                calloc((size_t)nbodies, sizeof(int))};
    for (int k = 0; k < nbodies; k++) {
        l.size[k] = fixed ? largest : 1 + ss_random_below(g, largest);
    }
    if (nbodies > 1 && !fixed) {
        l.size[0] = largest;
    }
    for (int k = 0; k < nbodies; k += 2) {
        const bool pair = k + 1 < nbodies;
        if (pair) {
            l.size[k + 1] = l.size[k];
            l.first[k + 1] = l.ndofs + 1;
            l.stride[k + 1] = 2;
        }
        l.first[k] = l.ndofs;
        l.stride[k] = pair ? 2 : 1;
        l.ndofs += pair ? 2 * l.size[k] : l.size[k];
    }
    return l;
}

static int dof(const layout *l, int body, int j)
{
    return l->first[body] + j * l->stride[body];
}

// Tridiagonal, diagonally dominant: positive definite, connected, its inverse full.
static void add_mass(ss_random *g, const layout *l, int body, entries *M)
{
    for (int j = 0; j < l->size[body]; j++) {
        add(M, dof(l, body, j), dof(l, body, j), ss_random_between(g, 2.5, 4.0));
        if (j > 0) {
            const double x = ss_random_between(g, -1.0, 1.0);
            add(M, dof(l, body, j), dof(l, body, j - 1), x);
            add(M, dof(l, body, j - 1), dof(l, body, j), x);
        }
    }
}

// One end of a contact: about half the entries of its columns are there, always the first.
static void add_end(ss_random *g, const layout *l, int dim, int contact, int body, bool full,
                    entries *H)
{
    for (int c = 0; c < dim; c++) {
        for (int j = 0; j < l->size[body]; j++) {
            if (full || j == 0 || ss_random_uniform(g) < 0.5) {
                add(H, dof(l, body, j), dim * contact + c, ss_random_normal(g));
            }
        }
    }
}

static ss_problem *frame(ss_random *g, int dim, int ncontacts, int ndofs)
{
    ss_problem *p = ss_problem_new();
    CHECK(p != NULL);
    p->form = SS_GLOBAL;
    p->dim = dim;
    p->ncontacts = ncontacts;
    p->ndofs = ndofs;
    p->f = normal_values(g, ndofs);
    p->w = normal_values(g, dim * ncontacts);
    p->mu = normal_values(g, ncontacts);
    for (int i = 0; i < ncontacts; i++) {
        p->mu[i] = fabs(p->mu[i]);
    }
    return p;
}

static ss_problem *make(uint64_t seed, int dim, int ncontacts, int nbodies, int size, bool diagonal)
{
    ss_random g = ss_random_seeded(seed);
    layout l = interleave(&g, nbodies, size, diagonal);
    ss_problem *p = frame(&g, dim, ncontacts, l.ndofs);
    entries M = {0}, H = {0};
    for (int k = 0; k < nbodies; k++) {
        if (!diagonal) {
            add_mass(&g, &l, k, &M);
        }
        for (int j = 0; diagonal && j < l.size[k]; j++) {
            add(&M, dof(&l, k, j), dof(&l, k, j), ss_random_between(&g, 0.5, 2.0));
        }
    }
    for (int i = 0; i < ncontacts; i++) {
        const int kind = ss_random_below(&g, 4); // 0: ground, 1: itself, else two bodies
        const int a = ss_random_below(&g, nbodies);
        const int b = kind == 1 ? a : ss_random_below(&g, nbodies);
        add_end(&g, &l, dim, i, a, diagonal, &H);
        if (kind != 0) {
            add_end(&g, &l, dim, i, b, diagonal, &H);
        }
    }
    finish(&M, l.ndofs, l.ndofs, &p->M);
    finish(&H, l.ndofs, dim * ncontacts, &p->H);
    free(l.size);
    free(l.first);
    free(l.stride);
    return p;
}

ss_problem *random_problem(uint64_t seed, int dim, int ncontacts, int nbodies, int largest)
{
    return make(seed, dim, ncontacts, nbodies, largest, false);
}

ss_problem *random_diagonal_problem(uint64_t seed, int dim, int ncontacts, int nbodies, int size)
{
    return make(seed, dim, ncontacts, nbodies, size, true);
}

ss_problem *one_contact(int dim, const double *W, const double *b, double mu)
{
    ss_problem *p = ss_problem_new();
    CHECK(p != NULL);
    p->form = SS_LOCAL;
    p->dim = dim;
    p->ncontacts = 1;
    p->mu = malloc(sizeof *p->mu);
    p->b = malloc((size_t)dim * sizeof *p->b);
    p->mu[0] = mu;
    memcpy(p->b, b, (size_t)dim * sizeof *b);
    entries t = {0};
    for (int r = 0; r < dim; r++) {
        for (int c = 0; c < dim; c++) {
            add(&t, r, c, W[r * dim + c]);
        }
    }
    finish(&t, dim, dim, &p->W);
    return p;
}

// ---- Strands

#define STRIDE 4
#define HALF   10

static void add_strand(ss_random *g, int first, int size, entries *M)
{
    for (int j = 0; j < size; j++) {
        add(M, first + j, first + j, ss_random_between(g, 12.0, 15.0));
        for (int i = j + 1; i < size && i <= j + HALF; i++) {
            const double x = ss_random_between(g, -1.0, 1.0);
            add(M, first + i, first + j, x);
            add(M, first + j, first + i, x);
        }
    }
}

static void add_segment(ss_random *g, int dim, int contact, int first, int segment, entries *H)
{
    for (int c = 0; c < dim; c++) {
        for (int k = 0; k < 6; k++) {
            const int at = first + STRIDE * (segment + k / 3) + k % 3;
            add(H, at, dim * contact + c, ss_random_normal(g));
        }
    }
}

ss_problem *random_strand_problem(uint64_t seed, int dim, int ncontacts, int nbodies, int vertices)
{
    ss_random g = ss_random_seeded(seed);
    const int size = STRIDE * vertices;
    ss_problem *p = frame(&g, dim, ncontacts, size * nbodies);
    entries M = {0}, H = {0};
    for (int k = 0; k < nbodies; k++) {
        add_strand(&g, size * k, size, &M);
    }
    for (int i = 0; i < ncontacts; i++) {
        const int kind = ss_random_below(&g, 4), a = ss_random_below(&g, nbodies);
        const int segment = ss_random_below(&g, vertices - 1);
        const int b = kind == 0 ? a : (a + 1) % nbodies;
        add_segment(&g, dim, i, size * a, segment, &H);
        if (kind < 3 && (a != b || kind == 0)) {
            add_segment(&g, dim, i, size * b, ss_random_below(&g, vertices - 1), &H);
        }
    }
    finish(&M, p->ndofs, p->ndofs, &p->M);
    finish(&H, p->ndofs, dim * ncontacts, &p->H);
    return p;
}

ss_problem *squeeze(int dim, double gap, double b0, double b1)
{
    entries W = {0};
    ss_problem *p = ss_problem_new();
    CHECK(p != NULL);
    p->dim = dim;
    p->ncontacts = 2;
    p->mu = calloc(2, sizeof *p->mu);
    p->b = calloc((size_t)(2 * dim), sizeof *p->b);
    CHECK(p->mu != NULL && p->b != NULL);
    p->mu[0] = p->mu[1] = 0.5;
    p->b[0] = b0;
    p->b[dim] = b1;
    for (int k = 0; k < 2 * dim; k++) {
        add(&W, k, k, 1.0);
    }
    add(&W, 0, dim, gap - 1.0);
    add(&W, dim, 0, gap - 1.0);
    finish(&W, 2 * dim, 2 * dim, &p->W);
    return p;
}
