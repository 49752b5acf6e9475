#include "solvers/linear/mixing.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/vectors.h"

#define DEPTH_MOST 64

struct ss_mixing {
    size_t size, more;
    int depth, count; // columns there are
    double cutoff;
    bool started;          // f_old, g_old, h_old hold the last call's
    double *f_old, *g_old; // [size]
    double *h_old;         // [more]
    double *column;        // [size] scratch
    double *storage;
    double *Q[DEPTH_MOST], *dG[DEPTH_MOST]; // [size] each, the oldest first
    double *dH[DEPTH_MOST];                 // [more]
    double R[DEPTH_MOST][DEPTH_MOST];       // R[i][j], i <= j
};

void ss_mixing_free(ss_mixing *a)
{
    if (a != NULL) {
        free(a->storage);
        free(a);
    }
}

ss_mixing *ss_mixing_new(size_t size, size_t more, int depth, double cutoff)
{
    ss_mixing *a = calloc(1, sizeof *a);
    if (a == NULL) {
        return NULL;
    }
    a->size = size;
    a->more = more;
    a->depth = depth < DEPTH_MOST ? depth : DEPTH_MOST;
    a->cutoff = cutoff;
    const size_t columns = (size_t)a->depth;
    a->storage = malloc(((2 * columns + 3) * size + (columns + 1) * more) * sizeof *a->storage);
    if (a->storage == NULL) {
        ss_mixing_free(a);
        return NULL;
    }
    double *next = a->storage;
    for (int k = 0; k < a->depth; k++, next += 2 * size + more) {
        a->Q[k] = next;
        a->dG[k] = next + size;
        a->dH[k] = next + 2 * size;
    }
    a->f_old = next;
    a->g_old = next + size;
    a->column = next + 2 * size;
    a->h_old = next + 3 * size;
    return a;
}

void ss_mixing_forget(ss_mixing *a)
{
    a->count = 0;
    a->started = false;
}

static void rotate_columns(size_t n, double c, double s, double *x, double *y)
{
    for (size_t k = 0; k < n; k++) {
        const double xk = x[k], yk = y[k];
        x[k] = c * xk + s * yk;
        y[k] = c * yk - s * xk;
    }
}

// Without its first column R is Hessenberg; plane rotations of rows k, k + 1 make it triangular
// again, and Q follows.
static void drop_oldest(ss_mixing *a)
{
    const int m = a->count;
    for (int k = 0; k + 1 < m; k++) {
        const double x = a->R[k][k + 1], y = a->R[k + 1][k + 1];
        const double size = hypot(x, y);
        const double c = size > 0.0 ? x / size : 1.0, s = size > 0.0 ? y / size : 0.0;
        for (int j = k + 1; j < m; j++) {
            const double upper = a->R[k][j], lower = a->R[k + 1][j];
            a->R[k][j] = c * upper + s * lower;
            a->R[k + 1][j] = c * lower - s * upper;
        }
        rotate_columns(a->size, c, s, a->Q[k], a->Q[k + 1]);
    }
    for (int j = 1; j < m; j++) {
        for (int i = 0; i < j; i++) {
            a->R[i][j - 1] = a->R[i][j];
        }
    }
    double *const dG = a->dG[0], *const dH = a->dH[0];
    memmove(&a->dG[0], &a->dG[1], (size_t)(m - 1) * sizeof *a->dG);
    memmove(&a->dH[0], &a->dH[1], (size_t)(m - 1) * sizeof *a->dH);
    a->dG[m - 1] = dG;
    a->dH[m - 1] = dH;
    a->count--;
}

static void subtract(size_t n, const double *a, const double *b, double *difference)
{
    for (size_t k = 0; k < n; k++) {
        difference[k] = a[k] - b[k];
    }
}

// f - f_old, g - g_old, h - h_old as the newest column.
static void add_newest(ss_mixing *a, const double *f, const double *g, const double *h)
{
    const int m = a->count;
    double *q = a->Q[m];
    subtract(a->size, f, a->f_old, q);
    const double before = sqrt(ss_vector_dot(a->size, q, q));
    for (int i = 0; i < m; i++) {
        const double along = ss_vector_dot(a->size, a->Q[i], q);
        ss_vector_add(a->size, -along, a->Q[i], q);
        a->R[i][m] = along;
    }
    const double after = sqrt(ss_vector_dot(a->size, q, q));
    if (!(after > a->cutoff * before)) {
        return;
    }
    for (size_t k = 0; k < a->size; k++) {
        q[k] /= after;
    }
    a->R[m][m] = after;
    subtract(a->size, g, a->g_old, a->dG[m]);
    if (a->more > 0) {
        subtract(a->more, h, a->h_old, a->dH[m]);
    }
    a->count++;
}

static void remember(ss_mixing *a, const double *f, const double *g, const double *h)
{
    memcpy(a->f_old, f, a->size * sizeof *f);
    memcpy(a->g_old, g, a->size * sizeof *g);
    if (a->more > 0) {
        memcpy(a->h_old, h, a->more * sizeof *h);
    }
    a->started = true;
}

// gamma = R^-1 Q' f; the orthogonality that Q has lost is made up for by taking each share out of
// what is left of f.
static void solve(ss_mixing *a, const double *f, double gamma[DEPTH_MOST])
{
    memcpy(a->column, f, a->size * sizeof *f);
    for (int i = 0; i < a->count; i++) {
        gamma[i] = ss_vector_dot(a->size, a->Q[i], a->column);
        ss_vector_add(a->size, -gamma[i], a->Q[i], a->column);
    }
    for (int i = a->count - 1; i >= 0; i--) {
        for (int j = i + 1; j < a->count; j++) {
            gamma[i] -= a->R[i][j] * gamma[j];
        }
        gamma[i] = a->R[i][i] != 0.0 ? gamma[i] / a->R[i][i] : 0.0;
    }
}

void ss_mixing_step(ss_mixing *a, const double *f, double *g, double *h)
{
    if (!a->started) {
        remember(a, f, g, h);
        return;
    }
    if (a->count == a->depth) {
        drop_oldest(a);
    }
    add_newest(a, f, g, h);
    remember(a, f, g, h);
    double gamma[DEPTH_MOST];
    solve(a, f, gamma);
    for (int k = 0; k < a->count; k++) {
        ss_vector_add(a->size, -gamma[k], a->dG[k], g);
        if (a->more > 0) {
            ss_vector_add(a->more, -gamma[k], a->dH[k], h);
        }
    }
}
