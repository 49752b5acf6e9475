// What pushes of sparse ends read (sparse_ends.h): Y = M^-1 H of an end, or H' Y of all ends on its body.
#include <string.h>

#include "problems/matrix/sparse_ends.h"

void ss_sparse_ends_column(const ss_whitened *white, int s, size_t length, double *Y)
{
    const ss_sparse_ends *ends = white->sparse;
    const ss_banded *L = ss_mass_band(white->mass, white->end_body[s]);
    int first = L->n;
    memset(Y, 0, (size_t)white->dim * length * sizeof *Y);
    for (int k = ends->start[s]; k < ends->start[s + 1]; k++) {
        const ss_end_entry *entry = &ends->entry[k];
        first = entry->dof < first ? entry->dof : first;
        for (int c = 0; c < white->dim; c++) {
            Y[(size_t)c * length + (size_t)entry->dof] = entry->H[c];
        }
    }
    ss_banded_solve_rows(L, first, white->dim, length, Y);
}

// ---- Several ends at once

// Three columns an end.
#define BATCH (SS_BANDED_LANES / 3)
#define EIGHT 8
typedef double eight __attribute__((vector_size(64), aligned(8)));

typedef struct batch {
    int count, end[BATCH];
    int first; // dof of their ends
    int lanes; // of X
} batch;

// End s and those on its body that are wanted and not there yet, as many as fit.
static batch choose(const ss_whitened *white, int s)
{
    const ss_sparse_ends *ends = white->sparse;
    const int body = white->end_body[s];
    batch b = {.count = 1, .end = {s}};
    for (int e = white->body_end_start[body];
         e < white->body_end_start[body + 1] && b.count < BATCH; e++) {
        const int other = white->body_end[e];
        if (other != s && ends->wanted[other] && !ss_end_pushed(ends, other)) {
            b.end[b.count++] = other;
        }
    }
    b.lanes = (3 * b.count + EIGHT - 1) / EIGHT * EIGHT;
    return b;
}

// X [n][lanes] = M^-1 H, column c of end k in lane 3 k + c.
static void find_columns(const ss_whitened *white, batch *b, double *X)
{
    const ss_sparse_ends *ends = white->sparse;
    const ss_banded *L = ss_mass_band(white->mass, white->end_body[b->end[0]]);
    int first = L->n;
    memset(X, 0, (size_t)b->lanes * (size_t)L->n * sizeof *X);
    for (int k = 0; k < b->count; k++) {
        for (int a = ends->start[b->end[k]]; a < ends->start[b->end[k] + 1]; a++) {
            const ss_end_entry *entry = &ends->entry[a];
            first = entry->dof < first ? entry->dof : first;
            for (int c = 0; c < 3; c++) {
                X[b->lanes * entry->dof + 3 * k + c] = entry->H[c];
            }
        }
    }
    ss_banded_solve_lanes(L, first, b->lanes, X);
}

// y [dim][lanes] = H' X of end s.
static void see_columns(const ss_whitened *white, int s, int lanes, const double *X, double *y)
{
    const ss_sparse_ends *ends = white->sparse;
    for (int g = 0; g < lanes; g += EIGHT) {
        eight sum[3] = {{0}, {0}, {0}};
        for (int k = ends->start[s]; k < ends->start[s + 1]; k++) {
            const ss_end_entry *entry = &ends->entry[k];
            const eight x = *(const eight *)(X + lanes * entry->dof + g);
            for (int c = 0; c < 3; c++) {
                sum[c] += entry->H[c] * x;
            }
        }
        for (int c = 0; c < 3; c++) {
            *(eight *)(y + c * lanes + g) = sum[c];
        }
    }
}

// Responses of the batch, one behind the other: numbers j of their rows from the rows x [lanes].
static void scatter(const ss_whitened *white, const batch *b, int j, const double *x, double *to)
{
    const size_t room = (size_t)ss_whitened_room(white, white->end_body[b->end[0]]);
    for (int k = 0; k < b->count; k++) {
        for (int c = 0; c < white->dim; c++, to += room) {
            to[j] = x[3 * k + c];
        }
    }
}

static void store_own(const ss_whitened *white, const batch *b, const double *X, double *to)
{
    const int body = white->end_body[b->end[0]];
    double y[3 * SS_BANDED_LANES];
    for (int e = white->body_end_start[body], j = 0; e < white->body_end_start[body + 1]; e++) {
        see_columns(white, white->body_end[e], b->lanes, X, y);
        for (int c = 0; c < white->dim; c++, j++) {
            scatter(white, b, j, y + c * b->lanes, to);
        }
    }
}

static void store_columns(const ss_whitened *white, const batch *b, const double *X, double *to)
{
    const int size = ss_mass_size(white->mass, white->end_body[b->end[0]]);
    for (int j = 0; j < size; j++) {
        scatter(white, b, j, X + j * b->lanes, to);
    }
}

static ptrdiff_t take_room(const ss_whitened *white, int s, int count)
{
    const size_t row = (size_t)ss_whitened_room(white, white->end_body[s]);
    const size_t size = (size_t)white->dim * row;
    const size_t at =
        __atomic_fetch_add(&white->sparse->used, (size_t)count * size, __ATOMIC_RELAXED);
    memset(white->sparse->room + at, 0, (size_t)count * size * sizeof *white->sparse->room);
    return (ptrdiff_t)at;
}

static void make_batch(const ss_whitened *white, int s)
{
    ss_sparse_ends *ends = white->sparse;
    double X[SS_SHORT_BODY * SS_BANDED_LANES];
    batch b = choose(white, s);
    const int body = white->end_body[s];
    const ptrdiff_t at = take_room(white, s, b.count);
    find_columns(white, &b, X);
    if (ss_ends_own_places(white, body)) {
        store_own(white, &b, X, ends->room + at);
    } else {
        store_columns(white, &b, X, ends->room + at);
    }
    for (int k = 0; k < b.count; k++) {
        ends->place[b.end[k]] = at + (ptrdiff_t)k * white->dim * ss_whitened_room(white, body);
    }
}

static void make_long(const ss_whitened *white, int s)
{
    ss_sparse_ends *ends = white->sparse;
    const ptrdiff_t at = take_room(white, s, 1);
    ss_sparse_ends_column(white, s, (size_t)ss_whitened_room(white, white->end_body[s]),
                          ends->room + at);
    ends->place[s] = at;
}

const double *ss_sparse_ends_response(const ss_whitened *white, int s)
{
    const ss_sparse_ends *ends = white->sparse;
    if (!ss_end_pushed(ends, s)) {
        if (ss_mass_size(white->mass, white->end_body[s]) <= SS_SHORT_BODY) {
            make_batch(white, s);
        } else {
            make_long(white, s);
        }
    }
    return ends->room + ends->place[s];
}

void ss_sparse_ends_block(const ss_whitened *white, int i, int j, double *W)
{
    const ss_sparse_ends *ends = white->sparse;
    const int body = white->end_body[i], room = ss_whitened_room(white, body), dim = white->dim;
    const double *Y = ss_sparse_ends_response(white, j);
    memset(W, 0, (size_t)(dim * dim) * sizeof *W);
    for (int l = 0; l < dim; l++, Y += room) {
        double y[3] = {0.0};
        if (ends->own[i] >= 0) {
            memcpy(y, Y + ends->own[i] - white->body_start[body], (size_t)dim * sizeof *y);
        } else {
            ss_sparse_ends_take(white, i, Y, y);
        }
        for (int k = 0; k < dim; k++) {
            W[k * dim + l] = y[k];
        }
    }
}
