// problems/matrix/sparse_ends.c -- ends of contacts on bands: their entries, and the responses to
// their pushes.
#include "problems/matrix/sparse_ends.h"

#include "base/assert.h"
#include "problems/matrix/mass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Entries

static ss_end_entry *entry_of(ss_sparse_ends *ends, int s, int *count, int dof)
{
    ss_end_entry *first = ends->entry + ends->start[s];
    for (int k = 0; k < *count; k++) {
        if (first[k].dof == dof) {
            return &first[k];
        }
    }
    first[*count] = (ss_end_entry){.dof = dof};
    return &first[(*count)++];
}

static void take_entries(const ss_problem *p, const ss_whitened *white, int i, int s)
{
    const ss_bodies *layout = ss_mass_layout(white->mass);
    ss_sparse_ends *ends = white->sparse;
    const int body = white->end_body[s];
    int count = 0;
    for (int c = 0; c < p->dim; c++) {
        const int column = p->dim * i + c;
        for (int k = p->H.start[column]; k < p->H.start[column + 1]; k++) {
            const int dof = p->H.row[k];
            if (layout->body_of[dof] == body) {
                entry_of(ends, s, &count, layout->place[dof])->H[c] = p->H.x[k];
            }
        }
    }
    ends->start[s + 1] = ends->start[s] + count;
}

// Takes the entries of all ends of a contact whose columns have equal rows, where rows of an end
// follow each other and ends come in their order. Returns false for other contacts.
static bool take_equal_rows(const ss_problem *p, const ss_whitened *white, int i)
{
    const ss_bodies *layout = ss_mass_layout(white->mass);
    const int *start = p->H.start + p->dim * i;
    ss_sparse_ends *ends = white->sparse;
    int s = white->end_start[i], at = ends->start[s];
    if (s == white->end_start[i + 1]) {
        return true; // as it touches nothing
    }
    if (!ss_alike_columns(&p->H, p->dim * i, p->dim)) {
        return false;
    }
    for (int k = start[0]; k < start[1]; k++, at++) {
        const int dof = p->H.row[k], body = layout->body_of[dof];
        if (body != white->end_body[s]) {
            ends->start[++s] = at;
            if (s == white->end_start[i + 1] || body != white->end_body[s]) {
                return false;
            }
        }
        ends->entry[at] = (ss_end_entry){.dof = layout->place[dof]};
        for (int c = 0; c < p->dim; c++) {
            ends->entry[at].H[c] = p->H.x[start[c] + k - start[0]];
        }
    }
    ends->start[s + 1] = at;
    return true;
}

// ---- Motion

// Bodies of at most so many dofs have y for z: v on the way to it fits on the stack.
#define SHORT_BODY 512

static bool has_own_places(const ss_whitened *white, int body)
{
    return white->body_end_start[body + 1] > white->body_end_start[body] &&
           white->sparse->own[white->body_end[white->body_end_start[body]]] >= 0;
}

// Adds H' v of one end to y; v is that of its body.
static void take_velocity(const ss_whitened *white, int s, const double *v, double *y)
{
    const ss_sparse_ends *ends = white->sparse;
    for (int k = ends->start[s]; k < ends->start[s + 1]; k++) {
        for (int c = 0; c < white->dim; c++) {
            y[c] += ends->entry[k].H[c] * v[ends->entry[k].dof];
        }
    }
}

// Adds H r on a body to v as a load, and returns whether there is any: most impulses are zero.
static bool add_impulses(const ss_whitened *white, int body, const double *r, int stride, double *v)
{
    const ss_sparse_ends *ends = white->sparse;
    bool loaded = false;
    for (int e = white->body_end_start[body]; e < white->body_end_start[body + 1]; e++) {
        const double *own = r + (size_t)stride * (size_t)white->body_end_contact[e];
        const double r2 = white->dim == 3 ? own[2] : 0.0;
        if (own[0] == 0.0 && own[1] == 0.0 && r2 == 0.0) {
            continue;
        }
        loaded = true;
        const int s = white->body_end[e];
        for (int k = ends->start[s]; k < ends->start[s + 1]; k++) {
            const ss_end_entry *at = &ends->entry[k];
            v[at->dof] += at->H[0] * own[0] + at->H[1] * own[1] + at->H[2] * r2;
        }
    }
    return loaded;
}

// Loads of bodies of one shape, which are solved together.
typedef struct moving {
    int count, body[SS_BANDED_SEVERAL];
    const ss_banded *L[SS_BANDED_SEVERAL];
    double *v[SS_BANDED_SEVERAL];
    double room[SS_BANDED_SEVERAL][SHORT_BODY]; // v of bodies whose z is not v
} moving;

static void give_motion(const ss_whitened *white, int body, const double *v, double *z)
{
    double *own = z + white->body_start[body];
    if (!has_own_places(white, body)) {
        return; // as z is v
    }
    for (int e = white->body_end_start[body]; e < white->body_end_start[body + 1]; e++) {
        take_velocity(white, white->body_end[e], v, own);
        own += white->dim;
    }
}

static void finish_motion(const ss_whitened *white, moving *m, double *z)
{
    ss_banded_solve_several(m->count, m->L, m->v);
    for (int b = 0; b < m->count; b++) {
        give_motion(white, m->body[b], m->v[b], z);
    }
    m->count = 0;
}

static void add_motion(const ss_whitened *white, int body, const double *r, int stride, moving *m,
                       double *z)
{
    const ss_banded *L = ss_mass_band(white->mass, body);
    if (m->count == SS_BANDED_SEVERAL ||
        (m->count > 0 && (L->n != m->L[0]->n || L->half != m->L[0]->half))) {
        finish_motion(white, m, z);
    }
    double *v = z + white->body_start[body];
    if (has_own_places(white, body)) {
        v = m->room[m->count];
        memset(v, 0, (size_t)L->n * sizeof *v);
    }
    if (add_impulses(white, body, r, stride, v)) {
        m->body[m->count] = body;
        m->L[m->count] = L;
        m->v[m->count++] = v;
    }
}

void ss_sparse_ends_motion(const ss_whitened *white, const double *r, int stride, double *z)
{
    moving m = {.count = 0};
    memset(z, 0, (size_t)white->body_start[white->nbodies] * sizeof *z);
    for (int body = 0; body < white->nbodies; body++) {
        if (white->body_end_start[body + 1] > white->body_end_start[body]) {
            add_motion(white, body, r, stride, &m, z);
        }
    }
    finish_motion(white, &m, z);
    for (int j = 0; j < white->body_start[white->nbodies]; j++) {
        z[j] += white->z0[j];
    }
}

// ---- W_ii

// Writes the rows of Y [dim], `length` apart: M^-1 H of one end.
static void find_column_of_end(const ss_whitened *white, int s, size_t length, double *Y)
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

// Returns whether all pairs of dofs of the end are within the band.
static bool is_within(const ss_sparse_ends *ends, int s, int half)
{
    int low = ends->entry[ends->start[s]].dof, high = low;
    for (int k = ends->start[s]; k < ends->start[s + 1]; k++) {
        const int dof = ends->entry[k].dof;
        low = dof < low ? dof : low;
        high = dof > high ? dof : high;
    }
    return high - low <= half;
}

// Adds H_a' t to W.
static void add_outer(const double H[4], const double t[4], double W[9])
{
    for (int c = 0; c < 3; c++) {
        for (int d = 0; d < 3; d++) {
            W[3 * c + d] += H[c] * t[d];
        }
    }
}

// Adds H' M^-1 H of one end to W; Y [dim][n] is scratch.
static void own_block(const ss_whitened *white, int s, const ss_banded *Z, double *Y, double W[9])
{
    const ss_sparse_ends *ends = white->sparse;
    const bool within = is_within(ends, s, Z->half);
    if (!within) {
        find_column_of_end(white, s, (size_t)Z->n, Y);
    }
    for (int a = ends->start[s]; a < ends->start[s + 1]; a++) {
        const ss_end_entry *one = &ends->entry[a];
        const int i = one->dof;
        double t[4] = {0.0};
        for (int b = ends->start[s]; b < ends->start[s + 1] && within; b++) {
            const ss_end_entry *other = &ends->entry[b];
            const int j = other->dof;
            const double z = i >= j ? *ss_banded_at(Z, i, j) : *ss_banded_at(Z, j, i);
            for (int c = 0; c < 4; c++) {
                t[c] += z * other->H[c];
            }
        }
        for (int c = 0; c < white->dim && !within; c++) {
            t[c] = Y[c * Z->n + i];
        }
        add_outer(one->H, t, W);
    }
    for (int c = 0; c < 3; c++) {
        for (int d = 0; d < c; d++) {
            W[3 * c + d] = W[3 * d + c];
        }
    }
}

// Scratch for bodies of one shape.
typedef struct own_room {
    ss_banded Z;
    double *Y;
} own_room;

static void own_room_free(own_room *room)
{
    ss_banded_free(&room->Z);
    free(room->Y);
    *room = (own_room){0};
}

static bool own_room_fit(own_room *room, int dim, const ss_banded *L)
{
    if (room->Z.n == L->n && room->Z.half == L->half) {
        return true;
    }
    own_room_free(room);
    room->Y = malloc((size_t)dim * (size_t)L->n * sizeof *room->Y);
    return ss_banded_init(&room->Z, L->n, L->half) && room->Y != NULL;
}

static bool find_own_blocks(const ss_stop *stop, const ss_whitened *white)
{
    own_room room = {0};
    bool ok = true;
    for (int body = 0; body < white->nbodies && ok && !ss_stop_asked_at(stop, body); body++) {
        const int begin = white->body_end_start[body], end = white->body_end_start[body + 1];
        if (begin == end) {
            continue;
        }
        const ss_banded *L = ss_mass_band(white->mass, body);
        ok = own_room_fit(&room, white->dim, L);
        if (ok) {
            ss_banded_inverse(L, &room.Z);
        }
        for (int e = begin; e < end && ok; e++) {
            const int s = white->body_end[e];
            own_block(white, s, &room.Z, room.Y, white->sparse->W + 9 * (size_t)s);
        }
    }
    own_room_free(&room);
    return ok;
}

// ---- Responses of several ends at once

#define BATCH (SS_BANDED_LANES / 3) // ends, of three columns each
#define EIGHT 8
typedef double eight __attribute__((vector_size(64), aligned(8)));

typedef struct batch {
    int count, end[BATCH];
    int lanes; // columns of X
    int room;  // length of a row of a response
} batch;

// Chooses end s and other ends on its body that are wanted and not made yet, as many as fit.
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

// Writes X [n][lanes] = M^-1 H, column c of end k in lane 3 k + c.
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

// Writes y [dim][lanes] = H' X of end s.
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

// Stores number j of each response of the batch, which follow each other, from the rows x
// [dim][lanes] of X or y.
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

// Takes room for the responses of `count` ends on the body of end s, filled with zeros.
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
    double X[SHORT_BODY * SS_BANDED_LANES];
    batch b = choose(white, s);
    const int body = white->end_body[s];
    const ptrdiff_t at = take_room(white, s, b.count);
    b.room = ss_whitened_room(white, body);
    find_columns(white, &b, X);
    if (has_own_places(white, body)) {
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
    find_column_of_end(white, s, (size_t)ss_whitened_room(white, white->end_body[s]),
                       (double *)ends->room + at);
    ends->place[s] = at;
}

static bool is_short(const ss_whitened *white, int body)
{
    return ss_mass_size(white->mass, body) <= SHORT_BODY;
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
    ss_assert(white->sparse->used == 0);
    bool all = true;
    for (int body = 0; body < white->nbodies; body++) {
        const bool touched = white->body_end_start[body + 1] > white->body_end_start[body];
        all = all && (!touched || is_short(white, body));
    }
    white->sparse->few_digits = all;
}

// ---- Using the responses

typedef float eight_floats __attribute__((vector_size(32), aligned(4)));

static inline eight eight_of(const float *x)
{
    return __builtin_convertvector(*(const eight_floats *)x, eight);
}

// Adds Y_0 dr_0 + Y_1 dr_1 + Y_2 dr_2 to z; rows are `room` apart.
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

// Returns number j of row c of a response that has been made.
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

// ---- Making them

bool ss_sparse_ends_possible(const ss_whitened *white)
{
    for (int k = 0; k < white->nbodies; k++) {
        const bool touched = white->body_end_start[k + 1] > white->body_end_start[k];
        if (touched && ss_mass_band(white->mass, k) == NULL) {
            return false;
        }
    }
    return true;
}

// Rounds up to the numbers that pushes take at once.
static int padded(int count)
{
    return (count + EIGHT - 1) / EIGHT * EIGHT;
}

// Gives bodies their places in z: y of the ends where these are fewer numbers than v.
static void place_ends(ss_whitened *white)
{
    ss_sparse_ends *ends = white->sparse;
    for (int body = 0; body < white->nbodies; body++) {
        const int begin = white->body_end_start[body], end = white->body_end_start[body + 1];
        const int size = ss_mass_size(white->mass, body), count = white->dim * (end - begin);
        const bool own = count == 0 || (count <= size && size <= SHORT_BODY);
        const int room = padded(own ? count : size);
        white->body_start[body + 1] = white->body_start[body] + room;
        for (int e = begin; e < end; e++) {
            ends->own[white->body_end[e]] =
                own ? white->body_start[body] + white->dim * (e - begin) : -1;
        }
    }
}

static bool allocate_ends(const ss_problem *p, ss_sparse_ends *ends, size_t nends)
{
    const size_t entries = (size_t)ss_sparse_count(&p->H);
    ends->start = malloc((nends + 1) * sizeof *ends->start);
    ends->entry = malloc((entries + 1) * sizeof *ends->entry);
    ends->own = malloc((nends + 1) * sizeof *ends->own);
    ends->W = calloc(9 * nends + 1, sizeof *ends->W);
    ends->still = calloc((size_t)p->dim * nends + 1, sizeof *ends->still);
    ends->place = malloc((nends + 1) * sizeof *ends->place);
    ends->wanted = calloc(nends + 1, sizeof *ends->wanted);
    return ends->start != NULL && ends->entry != NULL && ends->own != NULL && ends->W != NULL &&
           ends->still != NULL && ends->place != NULL && ends->wanted != NULL;
}

static bool allocate(const ss_problem *p, ss_whitened *white)
{
    const size_t components = (size_t)p->dim * (size_t)p->ncontacts;
    ss_sparse_ends *ends = white->sparse = calloc(1, sizeof *ends);
    if (ends == NULL || !allocate_ends(p, ends, (size_t)white->nends)) {
        return false;
    }
    place_ends(white);
    size_t numbers = 0;
    for (int s = 0; s < white->nends; s++) {
        numbers += (size_t)p->dim * (size_t)ss_whitened_room(white, white->end_body[s]);
    }
    white->z0 = calloc((size_t)white->body_start[white->nbodies] + 1, sizeof *white->z0);
    white->b = malloc((components + 1) * sizeof *white->b);
    ends->room = malloc((numbers + 1) * sizeof(double)); // pages come when they are written
    return white->z0 != NULL && white->b != NULL && ends->room != NULL;
}

static void take_still_motion(ss_whitened *white, int body, const double *v)
{
    ss_sparse_ends *ends = white->sparse;
    double *z0 = white->z0 + white->body_start[body];
    if (!has_own_places(white, body)) {
        memcpy(z0, v, (size_t)ss_whitened_room(white, body) * sizeof *z0);
        return;
    }
    for (int e = white->body_end_start[body]; e < white->body_end_start[body + 1]; e++) {
        const int s = white->body_end[e];
        take_velocity(white, s, v, z0);
        z0 += white->dim;
        for (int k = ends->start[s]; k < ends->start[s + 1]; k++) {
            for (int c = 0; c < white->dim; c++) {
                ends->still[white->dim * s + c] +=
                    fabs(ends->entry[k].H[c] * v[ends->entry[k].dof]);
            }
        }
    }
}

static bool find_still_motion(const ss_problem *p, ss_whitened *white)
{
    int *start = malloc(((size_t)white->nbodies + 1) * sizeof *start);
    double *v = calloc((size_t)p->ndofs + EIGHT * (size_t)white->nbodies + 1, sizeof *v);
    const bool ok = start != NULL && v != NULL;
    for (int body = 0, at = 0; ok && body < white->nbodies; body++) {
        const int *dofs = ss_mass_dofs(white->mass, body), size = ss_mass_size(white->mass, body);
        start[body] = at;
        for (int j = 0; j < size; j++) {
            v[at + j] = p->f[dofs[j]];
        }
        start[body + 1] = at += padded(size);
    }
    if (ok) {
        ss_mass_solve_bodies(white->mass, 0, white->nbodies, start, v);
    }
    for (int body = 0; ok && body < white->nbodies; body++) {
        take_still_motion(white, body, v + start[body]);
    }
    free(start);
    free(v);
    return ok;
}

static void find_still_velocities(const ss_problem *p, ss_whitened *white)
{
    for (int i = 0; i < p->ncontacts; i++) {
        double u[4] = {0.0};
        ss_sparse_ends_see(white, i, white->z0, u);
        for (int c = 0; c < p->dim; c++) {
            white->b[p->dim * i + c] = p->w[p->dim * i + c] + u[c];
        }
    }
}

ss_status ss_sparse_ends_make(const ss_stop *stop, const ss_problem *p, ss_whitened *white,
                              ss_error *e)
{
    ss_assert(white->end_start != NULL && white->body_end_start != NULL &&
              white->body_start != NULL);
    if (!allocate(p, white)) {
        return ss_fail_memory(e, "the ends of the contacts");
    }
    white->sparse->start[0] = 0;
    for (int i = 0; i < p->ncontacts; i++) {
        const bool taken = take_equal_rows(p, white, i);
        for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
            if (!taken) {
                take_entries(p, white, i, s);
            }
            white->sparse->place[s] = -1;
        }
    }
    if (!find_still_motion(p, white) || !find_own_blocks(stop, white)) {
        return ss_fail_memory(e, "the ends of the contacts");
    }
    find_still_velocities(p, white);
    return SS_OK;
}

void ss_sparse_ends_free(ss_sparse_ends *ends)
{
    if (ends != NULL) {
        free(ends->start);
        free(ends->entry);
        free(ends->own);
        free(ends->W);
        free(ends->still);
        free(ends->place);
        free(ends->wanted);
        free(ends->room);
        free(ends);
    }
}
