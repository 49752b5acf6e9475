#include "problems/matrix/mass.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "problems/matrix/bodies.h"
#include "problems/matrix/dense.h"
#include "problems/matrix/sparse_factor.h"

// One body's factor: dense (row-major, lower triangle), a band, or sparse by columns.
typedef struct factor {
    double *dense;    // [size size] or NULL; in `small` of the mass
    ss_banded band;   // n is 0 where it is none
    ss_sparse sparse; // of the others
} factor;

struct ss_mass {
    int owners;
    ss_bodies bodies;
    factor *factors; // [bodies.nbodies]
    double *small;   // the dense factors, one after the other
    double *needed;  // those from here on have not been forgotten
};

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
    mass->owners++;
    return mass;
}

// So many numbers are forgotten at once.
#define FORGET_NUMBERS ((ptrdiff_t)1 << 17)

void ss_mass_forget(ss_mass *mass, int body)
{
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

// A[place of row][place of column] = M's entry, for the dofs of one body.
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

// Many dofs on their own, such as those that no contact touches.
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
    for (int c = 0; c < m; c++) { // many roots at once
        L->x[c] = sqrt(L->x[c]);
    }
    return SS_OK;
}

// ---- Bands

// How far entries of the body are from the diagonal, at most. Its dofs ascend, and so do the rows of a column.
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

// Column c of the body, from the diagonal on.
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
        mass->bodies.place[M->row[end - 1]] - c == end - 1 - k) { // without holes
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

const ss_banded *ss_mass_band(const ss_mass *mass, int body)
{
    return mass->factors[body].band.n > 0 ? &mass->factors[body].band : NULL;
}

// ---- All

static ss_status factor_large(ss_mass *mass, const ss_sparse *M, int body, ss_error *e)
{
    int *dofs = mass->bodies.dofs + mass->bodies.start[body], broken;
    const ss_status status = ss_sparse_factor(M, ss_mass_size(mass, body), dofs, mass->bodies.place,
                                              &mass->factors[body].sparse, &broken, e);
    return status == SS_OK && broken >= 0 ? fail_indefinite(broken, e) : status;
}

static bool is_small(const ss_mass *mass, int body)
{
    return ss_mass_size(mass, body) <= SS_DENSE_BODY;
}

// Room for the factors of all small bodies: there may be many.
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
    return half == 0                ? factor_diagonal(mass, M, body, e)
           : half <= SS_BAND_FACTOR ? factor_band(mass, M, body, half, e)
                                    : factor_large(mass, M, body, e);
}

ss_status ss_mass_new(const ss_problem *p, ss_mass **mass, ss_error *e)
{
    *mass = NULL;
    ss_mass *made = calloc(1, sizeof *made);
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
        ss_sparse_factor_whiten(&L->sparse, X, k);
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
        ss_sparse_factor_unwhiten(&L->sparse, X, k);
    }
}

// How many bodies from k on, below `end`, are bands of one shape, at most SS_BANDED_SEVERAL.
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
