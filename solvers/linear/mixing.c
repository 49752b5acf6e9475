#include "solvers/linear/mixing.h"

#include "base/assert.h"
#include "solvers/vectors.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MOST 64

struct ss_mixing {
    size_t size, more;
    int depth, count; // most columns, and how many there are
    double cutoff;
    bool started;          // true if f_old, g_old, h_old hold those of the last call
    double *f_old, *g_old; // [size]
    double *h_old;         // [more]
    double *column;        // [size] scratch
    double *storage;
    double *Q[DEPTH_MOST], *dG[DEPTH_MOST]; // [size] each, the oldest first
    double *dH[DEPTH_MOST];                 // [more]
    double R[DEPTH_MOST][DEPTH_MOST];       // R[i][j], i <= j
};

void ss_mixing_free(ss_mixing *mixing)
{
    if (mixing != NULL) {
        free(mixing->storage);
        free(mixing);
    }
}

ss_mixing *ss_mixing_new(size_t size, size_t more, int depth, double cutoff)
{
    ss_mixing *mixing = calloc(1, sizeof *mixing);
    ss_assert(size > 0 && depth > 0);
    if (mixing == NULL) {
        return NULL;
    }
    mixing->size = size;
    mixing->more = more;
    mixing->depth = depth < DEPTH_MOST ? depth : DEPTH_MOST;
    mixing->cutoff = cutoff;
    const size_t columns = (size_t)mixing->depth;
    mixing->storage =
        malloc(((2 * columns + 3) * size + (columns + 1) * more) * sizeof *mixing->storage);
    if (mixing->storage == NULL) {
        ss_mixing_free(mixing);
        return NULL;
    }
    double *next = mixing->storage;
    for (int k = 0; k < mixing->depth; k++, next += 2 * size + more) {
        mixing->Q[k] = next;
        mixing->dG[k] = next + size;
        mixing->dH[k] = next + 2 * size;
    }
    mixing->f_old = next;
    mixing->g_old = next + size;
    mixing->column = next + 2 * size;
    mixing->h_old = next + 3 * size;
    return mixing;
}

void ss_mixing_forget(ss_mixing *mixing)
{
    mixing->count = 0;
    mixing->started = false;
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
static void drop_oldest(ss_mixing *mixing)
{
    const int m = mixing->count;
    for (int k = 0; k + 1 < m; k++) {
        const double x = mixing->R[k][k + 1], y = mixing->R[k + 1][k + 1];
        const double size = hypot(x, y);
        const double c = size > 0.0 ? x / size : 1.0, s = size > 0.0 ? y / size : 0.0;
        for (int j = k + 1; j < m; j++) {
            const double upper = mixing->R[k][j], lower = mixing->R[k + 1][j];
            mixing->R[k][j] = c * upper + s * lower;
            mixing->R[k + 1][j] = c * lower - s * upper;
        }
        rotate_columns(mixing->size, c, s, mixing->Q[k], mixing->Q[k + 1]);
    }
    for (int j = 1; j < m; j++) {
        for (int i = 0; i < j; i++) {
            mixing->R[i][j - 1] = mixing->R[i][j];
        }
    }
    double *const dG = mixing->dG[0], *const dH = mixing->dH[0];
    memmove(&mixing->dG[0], &mixing->dG[1], (size_t)(m - 1) * sizeof *mixing->dG);
    memmove(&mixing->dH[0], &mixing->dH[1], (size_t)(m - 1) * sizeof *mixing->dH);
    mixing->dG[m - 1] = dG;
    mixing->dH[m - 1] = dH;
    mixing->count--;
}

static void mixing_subtract(size_t n, const double *a, const double *b, double *difference)
{
    for (size_t k = 0; k < n; k++) {
        difference[k] = a[k] - b[k];
    }
}

// Adds f - f_old, g - g_old, h - h_old as the newest column.
static void add_newest(ss_mixing *mixing, const double *f, const double *g, const double *h)
{
    const int m = mixing->count;
    double *q = mixing->Q[m];
    mixing_subtract(mixing->size, f, mixing->f_old, q);
    const double before = sqrt(ss_vector_dot(mixing->size, q, q));
    for (int i = 0; i < m; i++) {
        const double along = ss_vector_dot(mixing->size, mixing->Q[i], q);
        ss_vector_add(mixing->size, -along, mixing->Q[i], q);
        mixing->R[i][m] = along;
    }
    const double after = sqrt(ss_vector_dot(mixing->size, q, q));
    if (!(after > mixing->cutoff * before)) {
        return;
    }
    for (size_t k = 0; k < mixing->size; k++) {
        q[k] /= after;
    }
    mixing->R[m][m] = after;
    mixing_subtract(mixing->size, g, mixing->g_old, mixing->dG[m]);
    if (mixing->more > 0) {
        mixing_subtract(mixing->more, h, mixing->h_old, mixing->dH[m]);
    }
    mixing->count++;
}

static void remember(ss_mixing *mixing, const double *f, const double *g, const double *h)
{
    memcpy(mixing->f_old, f, mixing->size * sizeof *f);
    memcpy(mixing->g_old, g, mixing->size * sizeof *g);
    if (mixing->more > 0) {
        memcpy(mixing->h_old, h, mixing->more * sizeof *h);
    }
    mixing->started = true;
}

// Writes gamma = R^-1 Q' f. Each share is taken out of what is left of f, which makes up for the
// orthogonality that Q has lost.
static void mixing_solve(ss_mixing *mixing, const double *f, double gamma[DEPTH_MOST])
{
    memcpy(mixing->column, f, mixing->size * sizeof *f);
    for (int i = 0; i < mixing->count; i++) {
        gamma[i] = ss_vector_dot(mixing->size, mixing->Q[i], mixing->column);
        ss_vector_add(mixing->size, -gamma[i], mixing->Q[i], mixing->column);
    }
    for (int i = mixing->count - 1; i >= 0; i--) {
        for (int j = i + 1; j < mixing->count; j++) {
            gamma[i] -= mixing->R[i][j] * gamma[j];
        }
        gamma[i] = mixing->R[i][i] != 0.0 ? gamma[i] / mixing->R[i][i] : 0.0;
    }
}

void ss_mixing_step(ss_mixing *mixing, const double *f, double *g, double *h)
{
    ss_assert(mixing->more == 0 || h != NULL);
    if (!mixing->started) {
        remember(mixing, f, g, h);
        return;
    }
    if (mixing->count == mixing->depth) {
        drop_oldest(mixing);
    }
    add_newest(mixing, f, g, h);
    remember(mixing, f, g, h);
    double gamma[DEPTH_MOST];
    mixing_solve(mixing, f, gamma);
    for (int k = 0; k < mixing->count; k++) {
        ss_vector_add(mixing->size, -gamma[k], mixing->dG[k], g);
        if (mixing->more > 0) {
            ss_vector_add(mixing->more, -gamma[k], mixing->dH[k], h);
        }
    }
}
