// problems/matrix/mass.c -- bodies of a problem, and their factors: dense, banded, diagonal or
// sparse.
#include "problems/matrix/mass.h"

#include "base/assert.h"
#include "base/lanes.h"
#include "base/memory.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/cholmod.h>

// ---- Bodies

static int find_root(int *parent, int j)
{
    while (parent[j] != j) {
        parent[j] = parent[parent[j]];
        j = parent[j];
    }
    return j;
}

// Finds components by union and find. The root of a tree is its smallest dof, so that one ascending
// pass at the end points every dof straight at it.
void ss_components(const ss_sparse *M, int *first)
{
    for (int j = 0; j < M->ncols; j++) {
        first[j] = j;
    }
    for (int j = 0; j < M->ncols; j++) {
        int root = find_root(first, j);
        for (int k = M->start[j]; k < M->start[j + 1]; k++) {
            if (first[M->row[k]] != root) {
                const int other = find_root(first, M->row[k]);
                const int smaller = other < root ? other : root;
                first[root] = first[other] = smaller;
                root = smaller;
            }
        }
    }
    for (int j = 0; j < M->ncols; j++) {
        first[j] = first[first[j]];
    }
}

// Dofs that M couples to no other are grouped by the set of contacts that touch them, by refining
// one class a contact at a time: members of a class that the contact touches move on to a new one.
// same[j] names the class of dof j. Classes are never more than entries of H plus one.
typedef struct classes {
    int count;
    int *made_by;  // contact that made the class, -1 for class 0
    int *split_by; // last contact that split the class
    int *moved_to; // where that contact moved members
} classes;

static void touch(classes *c, int contact, int *same)
{
    if (c->made_by[*same] == contact) {
        return; // another component of this contact has moved the dof already
    }
    if (c->split_by[*same] != contact) {
        c->split_by[*same] = contact;
        c->moved_to[*same] = c->count;
        c->made_by[c->count] = contact;
        c->split_by[c->count] = -1;
        c->count++;
    }
    *same = c->moved_to[*same];
}

static bool allocate_classes(classes *c, const ss_problem *p)
{
    const size_t room = (size_t)ss_sparse_count(&p->H) + 1;
    c->made_by = malloc(room * sizeof *c->made_by);
    c->split_by = malloc(room * sizeof *c->split_by);
    c->moved_to = malloc(room * sizeof *c->moved_to);
    if (c->made_by == NULL || c->split_by == NULL || c->moved_to == NULL) {
        return false;
    }
    c->count = 1;
    c->made_by[0] = c->split_by[0] = -1;
    return true;
}

static void free_classes(classes *c)
{
    free(c->made_by);
    free(c->split_by);
    free(c->moved_to);
}

// Points the single dofs of one class at its smallest; single[j] tells that dof j is a component of
// its own.
static bool join_alike_singles(const ss_problem *p, const bool *single, int *first)
{
    classes c = {0};
    int *same = calloc((size_t)p->ndofs + 1, sizeof *same);
    const bool ok = allocate_classes(&c, p) && same != NULL;
    for (int column = 0; ok && column < p->H.ncols; column++) {
        for (int k = p->H.start[column]; k < p->H.start[column + 1]; k++) {
            if (single[p->H.row[k]]) {
                touch(&c, column / p->dim, &same[p->H.row[k]]);
            }
        }
    }
    if (ok) {
        int *smallest = c.moved_to; // which is no longer needed
        memset(smallest, -1, (size_t)c.count * sizeof *smallest);
        for (int j = 0; j < p->ndofs; j++) {
            // Stores are rare, so that the next dof seldom waits for one.
            if (single[j] && smallest[same[j]] < 0) {
                smallest[same[j]] = j;
            }
            first[j] = single[j] ? smallest[same[j]] : first[j];
        }
    }
    free_classes(&c);
    free(same);
    return ok;
}

// Sets single[j] where no other dof has the same component, and returns whether there is one.
static bool find_singles(const int *first, int ndofs, bool *single)
{
    int others = 0;
    memset(single, 1, (size_t)ndofs * sizeof *single);
    for (int j = 0; j < ndofs; j++) {
        if (first[j] != j) {
            others += single[first[j]] + 1;
            single[first[j]] = single[j] = false;
        }
    }
    return others < ndofs;
}

// Numbers the bodies by their first dofs and lists the dofs of each in ascending order.
static bool number_bodies(const int *first, ss_bodies *b)
{
    for (int j = 0; j < b->ndofs; j++) {
        b->body_of[j] = first[j] == j ? b->nbodies++ : b->body_of[first[j]];
    }
    b->start = calloc((size_t)b->nbodies + 1, sizeof *b->start);
    if (b->start == NULL) {
        return false;
    }
    // Dofs of a body mostly follow each other, so that `count` is seldom read from memory.
    int body = 0, count = 0;
    for (int j = 0; j < b->ndofs; j++) {
        if (b->body_of[j] != body) {
            body = b->body_of[j];
            count = b->start[body + 1];
        }
        b->place[j] = count++;
        b->start[body + 1] = count;
    }
    for (int k = 0; k < b->nbodies; k++) {
        b->start[k + 1] += b->start[k];
    }
    for (int j = 0; j < b->ndofs; j++) {
        b->dofs[b->start[b->body_of[j]] + b->place[j]] = j;
    }
    return true;
}

ss_status ss_bodies_find(const ss_problem *p, ss_bodies *bodies, ss_error *e)
{
    const size_t n = (size_t)p->ndofs;
    *bodies = (ss_bodies){.ndofs = p->ndofs,
                          .body_of = malloc(n * sizeof *bodies->body_of),
                          .place = malloc(n * sizeof *bodies->place),
                          .dofs = malloc(n * sizeof *bodies->dofs)};
    int *first = malloc(n * sizeof *first);
    bool *single = malloc(n * sizeof *single);
    bool ok = bodies->body_of != NULL && bodies->place != NULL && bodies->dofs != NULL &&
              first != NULL && single != NULL;
    if (ok) {
        ss_components(&p->M, first);
        const bool any = find_singles(first, p->ndofs, single);
        ok = (!any || join_alike_singles(p, single, first)) && number_bodies(first, bodies);
    }
    free(first);
    free(single);
    if (!ok) {
        ss_bodies_free(bodies);
        return ss_fail_memory(e, "the bodies of a problem");
    }
    return SS_OK;
}

void ss_bodies_free(ss_bodies *bodies)
{
    free(bodies->body_of);
    free(bodies->place);
    free(bodies->start);
    free(bodies->dofs);
    *bodies = (ss_bodies){0};
}

// ---- Dense factors, row-major

// Returns whether a pivot is more than its rounding: below that share of its diagonal entry the
// matrix is singular to working precision. At most m subtractions made the pivot. Returns false for
// a NaN.
static inline bool pivot_is_sound(double pivot, int m, double diagonal)
{
    return pivot > m * DBL_EPSILON * diagonal;
}

// Subtracts a * source from target, over k numbers.
static inline void subtract_row(double *restrict target, double a, const double *restrict source,
                                int k)
{
    for (int c = 0; c < k; c++) {
        target[c] -= a * source[c];
    }
}

static inline void divide_row(double *x, double a, int k)
{
    for (int c = 0; c < k; c++) {
        x[c] /= a;
    }
}

// Factors A = U' U in place, upper triangle, a row at a time into all rows below it, so that loops
// run along rows. Returns the failing row, or -1.
static int factor_upper(double *A, int m)
{
    double diagonal[SS_DENSE_BODY];
    for (int k = 0; k < m; k++) {
        diagonal[k] = A[k * m + k];
    }
    for (int k = 0; k < m; k++) {
        double *row = A + k * m;
        if (!pivot_is_sound(row[k], m, diagonal[k])) {
            return k;
        }
        row[k] = sqrt(row[k]);
        divide_row(row + k + 1, row[k], m - k - 1);
        for (int i = k + 1; i < m; i++) {
            subtract_row(A + i * m + i, row[i], row + i, m - i);
        }
    }
    return -1;
}

int ss_dense_factor(double *A, int m)
{
    ss_assert(m <= SS_DENSE_BODY);
    const int broken = factor_upper(A, m);
    for (int i = 0; broken < 0 && i < m; i++) {
        for (int j = 0; j < i; j++) {
            A[i * m + j] = A[j * m + i];
        }
    }
    return broken;
}

// Whitens columns first .. k - 1 of X.
static inline void whiten_dense_columns(const double *L, int m, double *X, int k, int first)
{
    for (int i = 0; i < m; i++) {
        double *row = X + (size_t)i * (size_t)k + first;
        for (int j = 0; j < i; j++) {
            subtract_row(row, L[i * m + j], X + (size_t)j * (size_t)k + first, k - first);
        }
        divide_row(row, L[i * m + i], k - first);
    }
}

// Numbers of vectors, and of columns, that are whitened at once.
#define VECTORS 4
#define COLUMNS (SS_LANES < 4 ? VECTORS * SS_LANES : 16)

// Whitens `columns` columns from X on, in registers along each row. Every number goes through the
// same operations as above.
static inline void whiten_lanes(const double *L, int m, double *X, int k, int columns)
{
    const int count = columns / SS_LANES;
    for (int i = 0; i < m; i++) {
        double *row = X + (size_t)i * (size_t)k;
        ss_lanes x[VECTORS];
        for (int c = 0; c < count; c++) {
            x[c] = *(const ss_lanes *)(row + c * SS_LANES);
        }
        for (int j = 0; j < i; j++) {
            const double *other = X + (size_t)j * (size_t)k;
            for (int c = 0; c < count; c++) {
                x[c] -= L[i * m + j] * *(const ss_lanes *)(other + c * SS_LANES);
            }
        }
        for (int c = 0; c < count; c++) {
            *(ss_lanes *)(row + c * SS_LANES) = x[c] / L[i * m + i];
        }
    }
}

// A single vector and the three columns of one contact have loops of their own.
void ss_dense_whiten(const double *L, int m, double *X, int k)
{
    if (k == 3) {
        whiten_dense_columns(L, m, X, 3, 0);
        return;
    }
    if (k == 1) {
        whiten_dense_columns(L, m, X, 1, 0);
        return;
    }
    int first = 0;
    for (; first + COLUMNS <= k; first += COLUMNS) {
        whiten_lanes(L, m, X + first, k, COLUMNS);
    }
    for (; first + SS_DENSE_LANES <= k; first += SS_DENSE_LANES) {
        whiten_lanes(L, m, X + first, k, SS_DENSE_LANES);
    }
    if (first < k) {
        whiten_dense_columns(L, m, X, k, first);
    }
}

static inline void unwhiten_dense_columns(const double *L, int m, double *X, int k)
{
    for (int i = m - 1; i >= 0; i--) {
        double *row = X + (size_t)i * (size_t)k;
        divide_row(row, L[i * m + i], k);
        for (int j = 0; j < i; j++) {
            subtract_row(X + (size_t)j * (size_t)k, L[i * m + j], row, k);
        }
    }
}

void ss_dense_unwhiten(const double *L, int m, double *X, int k)
{
    if (k == 1) {
        unwhiten_dense_columns(L, m, X, 1);
    } else {
        unwhiten_dense_columns(L, m, X, k);
    }
}

// Goes through the columns of L, which are the rows of L' above the diagonal, in the order in which
// ss_dense_whiten takes their numbers. A division waits for the one before it in its body; four
// bodies keep the divider busy. Four factors at once are more than a processor prefetches by
// itself.
void ss_dense_solve_four(const double *const L[4], const double *const next[4], int m,
                         double *const X[4])
{
    for (int i = 0; i < m; i++) {
        for (int b = 0; b < 4; b++) {
            const double *row = L[b] + i * m;
            for (int at = 0; at < m; at += 8) {
                __builtin_prefetch(next[b] + i * m + at);
            }
            X[b][i] /= row[i];
            subtract_row(X[b] + i + 1, X[b][i], row + i + 1, m - i - 1);
        }
    }
    for (int i = m - 1; i >= 0; i--) {
        for (int b = 0; b < 4; b++) {
            const double *row = L[b] + i * m;
            X[b][i] /= row[i];
            subtract_row(X[b], X[b][i], row, i);
        }
    }
}

// ---- Sparse factors, by CHOLMOD
//
// Dofs are eliminated in an order with little fill-in: L L' = M[dofs, dofs] with dofs in that
// order.

// Returns the upper triangle of M[dofs, dofs], or NULL without memory.
static cholmod_sparse *gather_upper(const ss_sparse *M, int m, const int *dofs, const int *place,
                                    cholmod_common *common)
{
    size_t count = 0;
    for (int c = 0; c < m; c++) {
        count += (size_t)(M->start[dofs[c] + 1] - M->start[dofs[c]]);
    }
    cholmod_sparse *A =
        cholmod_allocate_sparse((size_t)m, (size_t)m, count, 1, 1, 1, CHOLMOD_REAL, common);
    if (A == NULL) {
        return NULL;
    }
    int *start = A->p, *row = A->i, filled = 0;
    double *x = A->x;
    for (int c = 0; c < m; c++) {
        start[c] = filled;
        for (int k = M->start[dofs[c]]; k < M->start[dofs[c] + 1]; k++) {
            if (place[M->row[k]] <= c) {
                row[filled] = place[M->row[k]];
                x[filled++] = M->x[k];
            }
        }
    }
    start[m] = filled;
    return A;
}

static bool reorder(int m, const int *order, int *dofs, int *place)
{
    int *old = malloc((size_t)m * sizeof *old);
    if (old == NULL) {
        return false;
    }
    memcpy(old, dofs, (size_t)m * sizeof *old);
    for (int c = 0; c < m; c++) {
        dofs[c] = old[order[c]];
        place[dofs[c]] = c;
    }
    free(old);
    return true;
}

// Copies CHOLMOD's factor. Returns false without memory.
static bool take_factor(int m, cholmod_factor *factor, ss_sparse *L, cholmod_common *common)
{
    cholmod_sparse *columns = cholmod_factor_to_sparse(factor, common);
    if (columns == NULL) {
        return false;
    }
    const size_t count = (size_t)((int *)columns->p)[m];
    *L = (ss_sparse){m, m, malloc(((size_t)m + 1) * sizeof *L->start),
                     malloc(count * sizeof *L->row), malloc(count * sizeof *L->x)};
    const bool ok = L->start != NULL && L->row != NULL && L->x != NULL;
    if (ok) {
        memcpy(L->start, columns->p, ((size_t)m + 1) * sizeof *L->start);
        memcpy(L->row, columns->i, count * sizeof *L->row);
        memcpy(L->x, columns->x, count * sizeof *L->x);
    }
    cholmod_free_sparse(&columns, common);
    return ok;
}

// Returns the dof of the first column without a sound pivot, or -1: CHOLMOD takes any pivot above
// zero, and a NaN. Rows of a sparse factor are short; as many subtractions are assumed as in the
// largest dense one.
static int find_broken_pivot(const ss_sparse *M, const int *dofs, const ss_sparse *L)
{
    for (int c = 0; c < L->ncols; c++) {
        const double root = L->x[L->start[c]];
        for (int k = M->start[dofs[c]]; k < M->start[dofs[c] + 1]; k++) {
            if (M->row[k] == dofs[c] && !pivot_is_sound(root * root, SS_DENSE_BODY, M->x[k])) {
                return dofs[c];
            }
        }
    }
    return -1;
}

static ss_status sparse_factor(const ss_sparse *M, int m, int *dofs, int *place, ss_sparse *L,
                               int *broken, ss_error *e)
{
    cholmod_common common;
    cholmod_start(&common);
    common.print = 0;
    common.nmethods = 1; // with one fixed order a problem has one factor
    common.method[0].ordering = CHOLMOD_AMD;
    common.supernodal = CHOLMOD_SIMPLICIAL; // no BLAS: the same bits on every CPU
    common.final_ll = 1;
    cholmod_sparse *A = gather_upper(M, m, dofs, place, &common);
    cholmod_factor *factor = A != NULL ? cholmod_analyze(A, &common) : NULL;
    ss_status status = SS_OK;
    *broken = -1;
    if (factor == NULL || !cholmod_factorize(A, factor, &common) || common.status < CHOLMOD_OK) {
        status = ss_fail_memory(e, "the factor of M");
    } else if (common.status == CHOLMOD_NOT_POSDEF || factor->minor < factor->n) {
        const int *order = factor->Perm; // minor is n where no column broke down
        *broken = dofs[order[factor->minor < factor->n ? factor->minor : factor->n - 1]];
    } else if (!reorder(m, factor->Perm, dofs, place) || !take_factor(m, factor, L, &common)) {
        status = ss_fail_memory(e, "the factor of M");
    } else {
        *broken = find_broken_pivot(M, dofs, L);
    }
    cholmod_free_factor(&factor, &common);
    cholmod_free_sparse(&A, &common);
    cholmod_finish(&common);
    return status;
}

// Returns whether M couples no dof to another one. Such a factor often has many dofs.
static bool is_diagonal(const ss_sparse *L)
{
    return L->start[L->ncols] == L->ncols;
}

static void divide_rows(const ss_sparse *L, double *X, int k)
{
    if (k == 1) {
        for (int j = 0; j < L->ncols; j++) {
            X[j] /= L->x[j];
        }
        return;
    }
    for (int j = 0; j < L->ncols; j++) {
        divide_row(X + (size_t)j * (size_t)k, L->x[j], k);
    }
}

static void sparse_whiten(const ss_sparse *L, double *X, int k)
{
    if (is_diagonal(L)) {
        divide_rows(L, X, k);
        return;
    }
    for (int j = 0; j < L->ncols; j++) {
        double *row = X + (size_t)j * (size_t)k;
        divide_row(row, L->x[L->start[j]], k);
        for (int s = L->start[j] + 1; s < L->start[j + 1]; s++) {
            subtract_row(X + (size_t)L->row[s] * (size_t)k, L->x[s], row, k);
        }
    }
}

static void sparse_unwhiten(const ss_sparse *L, double *X, int k)
{
    if (is_diagonal(L)) {
        divide_rows(L, X, k);
        return;
    }
    for (int j = L->ncols - 1; j >= 0; j--) {
        double *row = X + (size_t)j * (size_t)k;
        for (int s = L->start[j] + 1; s < L->start[j + 1]; s++) {
            subtract_row(row, L->x[s], X + (size_t)L->row[s] * (size_t)k, k);
        }
        divide_row(row, L->x[L->start[j]], k);
    }
}

// ---- The factor of each body

// The factor of one body: dense (row-major, lower triangle), a band, or sparse by columns.
typedef struct factor {
    double *dense;    // [size size] or NULL; in `small` of the mass
    ss_banded band;   // n is 0 where it is no band
    ss_sparse sparse; // used for other bodies
} factor;

struct ss_mass {
    int owners;
    ss_bodies bodies;
    factor *factors; // [bodies.nbodies]
    double *small;   // holds the dense factors, one after the other
    double *needed;  // factors before this one have been forgotten
};

const ss_bodies *ss_mass_layout(const ss_mass *mass)
{
    return &mass->bodies;
}

int ss_mass_bodies(const ss_mass *mass)
{
    return mass->bodies.nbodies;
}

int ss_mass_size(const ss_mass *mass, int body)
{
    return mass->bodies.start[body + 1] - mass->bodies.start[body];
}

const int *ss_mass_dofs(const ss_mass *mass, int body)
{
    return mass->bodies.dofs + mass->bodies.start[body];
}

int ss_mass_body_of(const ss_mass *mass, int dof)
{
    return mass->bodies.body_of[dof];
}

int ss_mass_place(const ss_mass *mass, int dof)
{
    return mass->bodies.place[dof];
}

const ss_banded *ss_mass_band(const ss_mass *mass, int body)
{
    return mass->factors[body].band.n > 0 ? &mass->factors[body].band : NULL;
}

// Copies M's entries of the dofs of one body to A[place of row][place of column].
static void gather_dense(const ss_mass *mass, const ss_sparse *M, int body, double *A)
{
    const int m = ss_mass_size(mass, body);
    const int *dofs = ss_mass_dofs(mass, body);
    for (int c = 0; c < m; c++) {
        for (int k = M->start[dofs[c]]; k < M->start[dofs[c] + 1]; k++) {
            A[mass->bodies.place[M->row[k]] * m + c] = M->x[k];
        }
    }
}

static ss_status fail_indefinite(int dof, ss_error *e)
{
    return ss_fail(e, SS_BAD_INPUT, "M is not positive definite (its factor breaks down at dof %d)",
                   dof);
}

static ss_status factor_small(ss_mass *mass, const ss_sparse *M, int body, ss_error *e)
{
    double *A = mass->factors[body].dense;
    gather_dense(mass, M, body, A);
    const int broken = ss_dense_factor(A, ss_mass_size(mass, body));
    return broken < 0 ? SS_OK : fail_indefinite(ss_mass_dofs(mass, body)[broken], e);
}

// Factors a body of many uncoupled dofs, such as those that no contact touches.
static ss_status factor_diagonal(ss_mass *mass, const ss_sparse *M, int body, ss_error *e)
{
    const int m = ss_mass_size(mass, body);
    const int *dofs = ss_mass_dofs(mass, body);
    ss_sparse *L = &mass->factors[body].sparse;
    *L = (ss_sparse){m, m, malloc(((size_t)m + 1) * sizeof *L->start),
                     malloc((size_t)m * sizeof *L->row), malloc((size_t)m * sizeof *L->x)};
    if (L->start == NULL || L->row == NULL || L->x == NULL) {
        return ss_fail_memory(e, "the factor of M");
    }
    for (int c = 0; c < m; c++) {
        L->start[c] = L->row[c] = c;
        const int k = M->start[dofs[c]];
        L->x[c] = k < M->start[dofs[c] + 1] ? M->x[k] : 0.0;
        if (!(L->x[c] > 0.0)) {
            return fail_indefinite(dofs[c], e);
        }
    }
    L->start[m] = m;
    for (int c = 0; c < m; c++) { // in a loop of its own, by vectors
        L->x[c] = sqrt(L->x[c]);
    }
    return SS_OK;
}

// Returns the largest distance of an entry of the body from the diagonal. Its dofs ascend, and so
// do the rows of a column.
static int half_bandwidth(const ss_mass *mass, const ss_sparse *M, int body)
{
    const int *dofs = ss_mass_dofs(mass, body), m = ss_mass_size(mass, body);
    int half = 0;
    for (int c = 0; c < m; c++) {
        const int end = M->start[dofs[c] + 1];
        const int below = end > M->start[dofs[c]] ? mass->bodies.place[M->row[end - 1]] - c : 0;
        half = below > half ? below : half;
    }
    return half;
}

// Copies column c of the body, from the diagonal on.
static void take_band_column(const ss_mass *mass, const ss_sparse *M, int dof, int c, ss_banded *A)
{
    const int end = M->start[dof + 1];
    int k = M->start[dof];
    while (k < end && M->row[k] < dof) {
        k++;
    }
    if (k == end) {
        return;
    }
    if (M->row[k] == dof && M->row[end - 1] - dof == end - 1 - k &&
        mass->bodies.place[M->row[end - 1]] - c == end - 1 - k) { // there are no holes
        memcpy(ss_banded_at(A, c, c), M->x + k, (size_t)(end - k) * sizeof *M->x);
        return;
    }
    for (; k < end; k++) {
        *ss_banded_at(A, mass->bodies.place[M->row[k]], c) = M->x[k];
    }
}

static ss_status factor_band(ss_mass *mass, const ss_sparse *M, int body, int half, ss_error *e)
{
    const int m = ss_mass_size(mass, body);
    const int *dofs = ss_mass_dofs(mass, body);
    ss_banded *L = &mass->factors[body].band;
    if (!ss_banded_init(L, m, half)) {
        return ss_fail_memory(e, "the factor of M");
    }
    for (int c = 0; c < m; c++) {
        take_band_column(mass, M, dofs[c], c, L);
    }
    const int broken = ss_banded_factor(L, SS_DENSE_BODY);
    return broken < 0 ? SS_OK : fail_indefinite(dofs[broken], e);
}

static ss_status factor_large(ss_mass *mass, const ss_sparse *M, int body, ss_error *e)
{
    int *dofs = mass->bodies.dofs + mass->bodies.start[body], broken;
    const ss_status status = sparse_factor(M, ss_mass_size(mass, body), dofs, mass->bodies.place,
                                           &mass->factors[body].sparse, &broken, e);
    return status == SS_OK && broken >= 0 ? fail_indefinite(broken, e) : status;
}

static bool is_small(const ss_mass *mass, int body)
{
    return ss_mass_size(mass, body) <= SS_DENSE_BODY;
}

// Makes room for the factors of all small bodies, of which there may be many.
static bool place_small(ss_mass *mass)
{
    size_t numbers = 0;
    for (int k = 0; k < mass->bodies.nbodies; k++) {
        const size_t m = (size_t)ss_mass_size(mass, k);
        numbers += is_small(mass, k) ? m * m : 0;
    }
    mass->small = mass->needed = calloc(numbers + 1, sizeof *mass->small);
    numbers = 0;
    for (int k = 0; mass->small != NULL && k < mass->bodies.nbodies; k++) {
        const size_t m = (size_t)ss_mass_size(mass, k);
        if (is_small(mass, k)) {
            mass->factors[k].dense = mass->small + numbers;
            numbers += m * m;
        }
    }
    return mass->small != NULL;
}

static ss_status factor_body(ss_mass *mass, const ss_sparse *M, int body, ss_error *e)
{
    if (is_small(mass, body)) {
        return factor_small(mass, M, body, e);
    }
    const int half = half_bandwidth(mass, M, body);
    return half == 0                  ? factor_diagonal(mass, M, body, e)
           : half <= SS_BANDED_WIDEST ? factor_band(mass, M, body, half, e)
                                      : factor_large(mass, M, body, e);
}

ss_status ss_mass_new(const ss_problem *p, ss_mass **mass, ss_error *e)
{
    *mass = NULL;
    ss_mass *made = calloc(1, sizeof *made);
    ss_assert(p->form == SS_GLOBAL);
    if (made == NULL) {
        return ss_fail_memory(e, "the factor of M");
    }
    made->owners = 1;
    ss_status status = ss_bodies_find(p, &made->bodies, e);
    if (status == SS_OK) {
        made->factors = calloc((size_t)made->bodies.nbodies, sizeof *made->factors);
        status = made->factors != NULL && place_small(made) ? SS_OK
                                                            : ss_fail_memory(e, "the factor of M");
    }
    for (int k = 0; status == SS_OK && k < made->bodies.nbodies; k++) {
        status = factor_body(made, &p->M, k, e);
    }
    if (status != SS_OK) {
        ss_mass_free(made);
        return status;
    }
    *mass = made;
    return SS_OK;
}

void ss_mass_free(ss_mass *mass)
{
    if (mass == NULL || --mass->owners > 0) {
        return;
    }
    for (int k = 0; mass->factors != NULL && k < mass->bodies.nbodies; k++) {
        ss_banded_free(&mass->factors[k].band);
        ss_sparse_free(&mass->factors[k].sparse);
    }
    free(mass->factors);
    free(mass->small);
    ss_bodies_free(&mass->bodies);
    free(mass);
}

ss_mass *ss_mass_share(ss_mass *mass)
{
    ss_assert(mass->owners > 0);
    mass->owners++;
    return mass;
}

#define FORGET_NUMBERS ((ptrdiff_t)1 << 17) // numbers that are forgotten at once

void ss_mass_forget(ss_mass *mass, int body)
{
    ss_assert(0 < body && body <= mass->bodies.nbodies);
    double *last = mass->factors[body - 1].dense;
    if (mass->owners > 1 || last == NULL || last - mass->needed < FORGET_NUMBERS) {
        return;
    }
    ss_large_forget(mass->needed, last);
    mass->needed = last;
}

ss_status ss_mass_find(const ss_problem *p, ss_mass **room, ss_mass **mass, ss_error *e)
{
    if (room != NULL && *room != NULL) {
        *mass = ss_mass_share(*room);
        return SS_OK;
    }
    const ss_status status = ss_mass_new(p, mass, e);
    if (status == SS_OK && room != NULL) {
        *room = ss_mass_share(*mass);
    }
    return status;
}

// ---- Using the factors

int ss_mass_columns(const ss_mass *mass, int body, int count)
{
    const bool dense = mass->factors[body].dense != NULL;
    return dense ? (count + SS_DENSE_LANES - 1) / SS_DENSE_LANES * SS_DENSE_LANES : count;
}

void ss_mass_whiten(const ss_mass *mass, int body, double *X, int k)
{
    const factor *L = &mass->factors[body];
    if (L->dense != NULL) {
        ss_dense_whiten(L->dense, ss_mass_size(mass, body), X, k);
    } else if (L->band.n > 0) {
        ss_banded_whiten(&L->band, X, k);
    } else {
        sparse_whiten(&L->sparse, X, k);
    }
}

void ss_mass_unwhiten(const ss_mass *mass, int body, double *X, int k)
{
    const factor *L = &mass->factors[body];
    if (L->dense != NULL) {
        ss_dense_unwhiten(L->dense, ss_mass_size(mass, body), X, k);
    } else if (L->band.n > 0) {
        ss_banded_unwhiten(&L->band, X, k);
    } else {
        sparse_unwhiten(&L->sparse, X, k);
    }
}

// Returns how many bodies from k on, below `end`, are bands of one shape, at most
// SS_BANDED_SEVERAL.
static int count_alike_bands(const ss_mass *mass, int k, int end)
{
    const ss_banded *first = &mass->factors[k].band;
    int count = 0;
    while (first->n > 0 && count < SS_BANDED_SEVERAL && k + count < end &&
           mass->factors[k + count].band.n == first->n &&
           mass->factors[k + count].band.half == first->half) {
        count++;
    }
    return count;
}

static bool are_four_dense(const ss_mass *mass, int k, int end)
{
    bool same = k + 4 <= end;
    for (int i = 0; same && i < 4; i++) {
        same = mass->factors[k + i].dense != NULL &&
               ss_mass_size(mass, k + i) == ss_mass_size(mass, k);
    }
    return same;
}

void ss_mass_solve_bodies(const ss_mass *mass, int first, int end, const int *start, double *x)
{
    int k = first;
    while (k < end) {
        const factor *f = &mass->factors[k];
        const int bands = count_alike_bands(mass, k, end);
        if (bands > 0) {
            const ss_banded *L[SS_BANDED_SEVERAL];
            double *X[SS_BANDED_SEVERAL];
            for (int b = 0; b < bands; b++) {
                L[b] = &f[b].band;
                X[b] = x + start[k + b];
            }
            ss_banded_solve_several(bands, L, X);
            k += bands;
        } else if (are_four_dense(mass, k, end)) {
            const int m = ss_mass_size(mass, k);
            const factor *g =
                are_four_dense(mass, k + 4, mass->bodies.nbodies) && ss_mass_size(mass, k + 4) == m
                    ? f + 4
                    : f;
            const double *L[4] = {f[0].dense, f[1].dense, f[2].dense, f[3].dense};
            const double *next[4] = {g[0].dense, g[1].dense, g[2].dense, g[3].dense};
            double *X[4] = {x + start[k], x + start[k + 1], x + start[k + 2], x + start[k + 3]};
            ss_dense_solve_four(L, next, m, X);
            k += 4;
        } else {
            ss_mass_whiten(mass, k, x + start[k], 1);
            ss_mass_unwhiten(mass, k, x + start[k], 1);
            k++;
        }
    }
}

void ss_mass_solve(const ss_mass *mass, double *x, double *scratch)
{
    for (int d = 0; d < mass->bodies.ndofs; d++) {
        scratch[d] = x[mass->bodies.dofs[d]];
    }
    ss_mass_solve_bodies(mass, 0, mass->bodies.nbodies, mass->bodies.start, scratch);
    for (int d = 0; d < mass->bodies.ndofs; d++) {
        x[mass->bodies.dofs[d]] = scratch[d];
    }
}
