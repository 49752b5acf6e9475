// What pushes of sparse ends read (sparse_ends.h): Y = M^-1 H of an end, or H' Y of all ends on its body.
#include <math.h>
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
    int lanes; // of X
    int room;  // of a row of a response
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
static void find_columns(const ss_whitened *white, const batch *b, double *X)
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

// Number j of each response of the batch, which stand one behind the other, from the rows x [dim][lanes] of X or y.
static void scatter_floats(const batch *b, int dim, int j, const double *x, float *to)
{
    for (int k = 0; k < b->count; k++) {
        for (int c = 0; c < dim; c++, to += b->room) {
            to[j] = (float)x[3 * k + c];
        }
    }
}

static void scatter_doubles(const batch *b, int dim, int j, const double *x, double *to)
{
    for (int k = 0; k < b->count; k++) {
        for (int c = 0; c < dim; c++, to += b->room) {
            to[j] = x[3 * k + c];
        }
    }
}

static void scatter(const ss_whitened *white, const batch *b, int j, const double *x, ptrdiff_t at)
{
    const ss_sparse_ends *ends = white->sparse;
    if (ends->few_digits) {
        scatter_floats(b, white->dim, j, x, (float *)ends->room + at);
    } else {
        scatter_doubles(b, white->dim, j, x, (double *)ends->room + at);
    }
}

static void store_own(const ss_whitened *white, const batch *b, const double *X, ptrdiff_t at)
{
    const int body = white->end_body[b->end[0]];
    double y[3 * SS_BANDED_LANES];
    for (int e = white->body_end_start[body], j = 0; e < white->body_end_start[body + 1]; e++) {
        see_columns(white, white->body_end[e], b->lanes, X, y);
        for (int c = 0; c < white->dim; c++, j++) {
            scatter(white, b, j, y + c * b->lanes, at);
        }
    }
}

static void store_columns(const ss_whitened *white, const batch *b, const double *X, ptrdiff_t at)
{
    const int size = ss_mass_size(white->mass, white->end_body[b->end[0]]);
    for (int j = 0; j < size; j++) {
        scatter(white, b, j, X + j * b->lanes, at);
    }
}

// Zeros.
static ptrdiff_t take_room(const ss_whitened *white, int s, int count)
{
    ss_sparse_ends *ends = white->sparse;
    const size_t row = (size_t)ss_whitened_room(white, white->end_body[s]);
    const size_t numbers = (size_t)count * (size_t)white->dim * row;
    const size_t at = __atomic_fetch_add(&ends->used, numbers, __ATOMIC_RELAXED);
    const size_t each = ends->few_digits ? sizeof(float) : sizeof(double);
    memset((char *)ends->room + at * each, 0, numbers * each);
    return (ptrdiff_t)at;
}

static void make_batch(const ss_whitened *white, int s)
{
    double X[SS_SHORT_BODY * SS_BANDED_LANES];
    batch b = choose(white, s);
    const int body = white->end_body[s];
    const ptrdiff_t at = take_room(white, s, b.count);
    b.room = ss_whitened_room(white, body);
    find_columns(white, &b, X);
    if (ss_ends_own_places(white, body)) {
        store_own(white, &b, X, at);
    } else {
        store_columns(white, &b, X, at);
    }
    for (int k = 0; k < b.count; k++) {
        white->sparse->place[b.end[k]] = at + (ptrdiff_t)k * white->dim * b.room;
    }
}

static void make_long(const ss_whitened *white, int s)
{
    ss_sparse_ends *ends = white->sparse;
    const ptrdiff_t at = take_room(white, s, 1);
    ss_sparse_ends_column(white, s, (size_t)ss_whitened_room(white, white->end_body[s]),
                          (double *)ends->room + at);
    ends->place[s] = at;
}

static bool is_short(const ss_whitened *white, int body)
{
    return ss_mass_size(white->mass, body) <= SS_SHORT_BODY;
}

static void make_response(const ss_whitened *white, int s)
{
    if (ss_end_pushed(white->sparse, s)) {
        return;
    }
    if (is_short(white, white->end_body[s])) {
        make_batch(white, s);
    } else {
        make_long(white, s);
    }
}

void ss_sparse_ends_round(const ss_whitened *white)
{
    bool all = true;
    for (int body = 0; body < white->nbodies; body++) {
        const bool touched = white->body_end_start[body + 1] > white->body_end_start[body];
        all = all && (!touched || is_short(white, body));
    }
    white->sparse->few_digits = all;
}

// ---- Using them

typedef float eight_floats __attribute__((vector_size(32), aligned(4)));

static inline eight eight_of(const float *x)
{
    return __builtin_convertvector(*(const eight_floats *)x, eight);
}

// z += Y_0 dr_0 + Y_1 dr_1 + Y_2 dr_2, rows `room` apart.
static void push_floats(const float *Y, int dim, int room, const double dr[3], double *z)
{
    for (int j = 0; j < room; j += EIGHT) {
        eight zj =
            *(const eight *)(z + j) + eight_of(Y + j) * dr[0] + eight_of(Y + room + j) * dr[1];
        if (dim == 3) {
            zj += eight_of(Y + 2 * room + j) * dr[2];
        }
        *(eight *)(z + j) = zj;
    }
}

static void push_doubles(const double *Y, int dim, int room, const double dr[3], double *z)
{
    for (int j = 0; j < room; j += EIGHT) {
        eight zj = *(const eight *)(z + j) + *(const eight *)(Y + j) * dr[0] +
                   *(const eight *)(Y + room + j) * dr[1];
        if (dim == 3) {
            zj += *(const eight *)(Y + 2 * room + j) * dr[2];
        }
        *(eight *)(z + j) = zj;
    }
}

#define CACHE_LINE 64 // bytes

void ss_sparse_ends_fetch(const ss_whitened *white, int i)
{
    const ss_sparse_ends *ends = white->sparse;
    const size_t each = ends->few_digits ? sizeof(float) : sizeof(double);
    for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
        if (!ss_end_pushed(ends, s)) {
            continue;
        }
        const char *Y = (const char *)ends->room + each * (size_t)ends->place[s];
        const int room = ss_whitened_room(white, white->end_body[s]);
        for (size_t at = 0; at < each * (size_t)(white->dim * room); at += CACHE_LINE) {
            __builtin_prefetch(Y + at);
        }
    }
}

void ss_sparse_ends_push(const ss_whitened *white, int s, const double dr[3], double *z)
{
    const ss_sparse_ends *ends = white->sparse;
    const int room = ss_whitened_room(white, white->end_body[s]);
    make_response(white, s);
    if (ends->few_digits) {
        push_floats((const float *)ends->room + ends->place[s], white->dim, room, dr, z);
    } else {
        push_doubles((const double *)ends->room + ends->place[s], white->dim, room, dr, z);
    }
}

// Number j of row c of the response, which has been made.
static inline double response_at(const ss_whitened *white, int s, int c, int j)
{
    const ss_sparse_ends *ends = white->sparse;
    const ptrdiff_t at =
        ends->place[s] + (ptrdiff_t)c * ss_whitened_room(white, white->end_body[s]) + j;
    return ends->few_digits ? (double)((const float *)ends->room)[at]
                            : ((const double *)ends->room)[at];
}

void ss_sparse_ends_add_sizes(const ss_whitened *white, int s, const double *r, double *x)
{
    const int room = ss_whitened_room(white, white->end_body[s]);
    for (int c = 0; c < white->dim && ss_end_pushed(white->sparse, s); c++) {
        for (int j = 0; j < room; j++) {
            x[j] += fabs(response_at(white, s, c, j) * r[c]);
        }
    }
}

void ss_sparse_ends_block(const ss_whitened *white, int i, int j, double *W)
{
    const ss_sparse_ends *ends = white->sparse;
    const int start = white->body_start[white->end_body[i]], dim = white->dim;
    make_response(white, j);
    memset(W, 0, (size_t)(dim * dim) * sizeof *W);
    for (int k = 0; k < dim; k++) {
        for (int l = 0; l < dim && ends->own[i] >= 0; l++) {
            W[k * dim + l] = response_at(white, j, l, ends->own[i] - start + k);
        }
    }
    for (int e = ends->start[i]; e < ends->start[i + 1] && ends->own[i] < 0; e++) {
        const ss_end_entry *at = &ends->entry[e];
        for (int k = 0; k < dim; k++) {
            for (int l = 0; l < dim; l++) {
                W[k * dim + l] += at->H[k] * response_at(white, j, l, at->dof);
            }
        }
    }
}
