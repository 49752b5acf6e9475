// solvers/linear/newton_system.c -- the linear systems (3) and (4) by UMFPACK ([D04]), and products
// with W.
//
// Rows are contiguous here, and columns are in UMFPACK, which is therefore given J' and asked for
// the solution of the transposed system.
#include "solvers/linear/newton_system.h"

#include "base/assert.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/umfpack.h>

// Seconds that UMFPACK takes, measured on tangles of 300 to 20000 contacts and on towers: for the
// analysis of an entry of (3) by AMD, and of (4) by METIS; for a factorisation of an entry, and of
// an operation. The operations that UMFPACK foretells were more than those of the first
// factorisation: by 1.1 to 1.9 for (3), and by 2 to 15 for (4), where they are a bound.
#define ANALYSIS_EXPLICIT    2.0e-8
#define ANALYSIS_MATRIX_FREE 2.0e-7
#define FACTOR_ENTRY         6e-8
#define FACTOR_OPERATION     1e-10
#define SHARE_OF_BOUND       0.5

// Pivots beside the diagonal make more numbers than a symmetric factor has. A number of J is kept
// with its index.
#define MORE_NUMBERS    1.5
#define BYTES_OF_NUMBER (sizeof(double) + sizeof(int))

struct ss_newton_system {
    const ss_coupling *c;
    const double *unit; // [n]
    double scale;       // c in (4), sqrt(1/kg)
    int dofs;           // number of rows of (4) for the dofs; 0 in explicit form
    int rows;
    int *start, *col; // [rows + 1], [start[rows]]: J by rows, columns ascending
    double *x;
    double *right, *answer; // [rows]
    double *scaled;         // [dim n]
    double *z;              // [dofs] in matrix-free form
    int *integers;          // [rows] scratch for UMFPACK
    double *numbers;        // [5 rows] scratch for UMFPACK
    void *symbolic, *numeric;
    double control[UMFPACK_CONTROL];
    double operations, bytes; // estimates for a factorisation, which mostly takes fewer
};

// ---- The matrix

// A row, written from left to right.
typedef struct writer {
    int *col;
    double *x;
} writer;

static inline void newton_system_put(writer *w, int col, double value)
{
    *w->col++ = col;
    *w->x++ = value;
}

static writer newton_system_row_of(const ss_newton_system *s, int row)
{
    return (writer){s->col + s->start[row], s->x + s->start[row]};
}

// Returns row `row` of B times column `col` of the block W, whose columns are `step` numbers apart.
static double product(const double *B, int row, const double *W, int dim, int step, int col)
{
    double sum = B[3 * row] * W[col] + B[3 * row + 1] * W[step + col];
    if (dim == 3) {
        sum += B[3 * row + 2] * W[2 * step + col];
    }
    return sum;
}

// Writes the rows of contact i in (3).
static void write_explicit(const ss_newton_system *s, int i, const ss_newton_block *block,
                           double shift)
{
    const ss_blocks *W = &s->c->W;
    const int dim = s->c->dim;
    for (int a = 0; a < dim; a++) {
        writer w = newton_system_row_of(s, dim * i + a);
        for (size_t k = W->start[i]; k < W->start[i + 1]; k++) {
            const int j = W->col[k];
            const double *x = W->x + (size_t)(dim * dim) * k;
            for (int b = 0; b < dim; b++) {
                double value = product(block->B, a, x, dim, dim, b) / s->unit[j];
                if (i == j) {
                    value += block->A[3 * a + b] + shift * block->B[3 * a + b];
                }
                newton_system_put(&w, dim * j + b, value);
            }
        }
    }
}

// Writes the rows of contact i in (4).
static void write_matrix_free(const ss_newton_system *s, int i, const ss_newton_block *block,
                              double shift)
{
    const ss_whitened *white = s->c->white;
    const int dim = s->c->dim, first = dim * s->c->n;
    for (int a = 0; a < dim; a++) {
        writer w = newton_system_row_of(s, dim * i + a);
        for (int b = 0; b < dim; b++) {
            newton_system_put(&w, dim * i + b, block->A[3 * a + b] + shift * block->B[3 * a + b]);
        }
        for (int end = white->end_start[i]; end < white->end_start[i + 1]; end++) {
            const int body = white->end_body[end], room = ss_whitened_room(white, body);
            const double *G = white->G + white->end_G[end];
            for (int j = 0; j < ss_mass_size(white->mass, body); j++) {
                newton_system_put(&w, first + white->body_start[body] + j,
                                  product(block->B, a, G, dim, room, j) / s->scale);
            }
        }
    }
}

// Writes the rows of the dofs in (4), which do not change. A place in z beyond the dofs of its body
// has a row of its own, y = 0.
static void write_dofs(const ss_newton_system *s)
{
    const ss_whitened *white = s->c->white;
    const int dim = s->c->dim, first = dim * s->c->n;
    for (int body = 0; body < white->nbodies; body++) {
        const int room = ss_whitened_room(white, body), size = ss_mass_size(white->mass, body);
        for (int j = 0; j < room; j++) {
            const int row = first + white->body_start[body] + j;
            writer w = newton_system_row_of(s, row);
            for (int k = white->body_end_start[body];
                 j < size && k < white->body_end_start[body + 1]; k++) {
                const int i = white->body_end_contact[k];
                const double *G = white->G + white->end_G[white->body_end[k]];
                for (int a = 0; a < dim; a++) {
                    newton_system_put(&w, dim * i + a, -s->scale * G[a * room + j] / s->unit[i]);
                }
            }
            newton_system_put(&w, row, 1.0);
        }
    }
}

static void write_contact(const ss_newton_system *s, int i, const ss_newton_block *block,
                          double shift)
{
    if (s->c->is_explicit) {
        write_explicit(s, i, block, shift);
    } else {
        write_matrix_free(s, i, block, shift);
    }
}

// ---- Its pattern

static size_t length_of_contact(const ss_newton_system *s, int i)
{
    const ss_coupling *c = s->c;
    const size_t dim = (size_t)c->dim;
    if (c->is_explicit) {
        return dim * (c->W.start[i + 1] - c->W.start[i]);
    }
    size_t length = dim;
    for (int end = c->white->end_start[i]; end < c->white->end_start[i + 1]; end++) {
        length += (size_t)ss_mass_size(c->white->mass, c->white->end_body[end]);
    }
    return length;
}

static size_t length_of_dof(const ss_newton_system *s, int body, int j)
{
    const ss_whitened *white = s->c->white;
    const int ends = white->body_end_start[body + 1] - white->body_end_start[body];
    return j < ss_mass_size(white->mass, body) ? (size_t)s->c->dim * (size_t)ends + 1 : 1;
}

static bool newton_system_add_row(ss_newton_system *s, int *row, size_t length)
{
    const size_t end = (size_t)s->start[*row] + length;
    if (end > INT_MAX) {
        return false;
    }
    s->start[++*row] = (int)end;
    return true;
}

// Finds where rows begin. Returns false where there are more entries than UMFPACK's integers count.
static bool place_rows(ss_newton_system *s)
{
    const ss_coupling *c = s->c;
    int row = 0;
    bool fits = true;
    for (int i = 0; i < c->n; i++) {
        for (int a = 0; a < c->dim && fits; a++) {
            fits = newton_system_add_row(s, &row, length_of_contact(s, i));
        }
    }
    for (int body = 0; s->dofs > 0 && body < c->white->nbodies; body++) {
        for (int j = 0; j < ss_whitened_room(c->white, body) && fits; j++) {
            fits = newton_system_add_row(s, &row, length_of_dof(s, body, j));
        }
    }
    return fits;
}

static ss_status fail(ss_error *e)
{
    return ss_fail_memory(e, "the matrix of Newton's method and its factor");
}

// UMFPACK's bounds allow for any pivots, which in (3) are near the diagonal.
static void foretell(ss_newton_system *s, const double *info)
{
    const double entries = s->start[s->rows];
    s->operations = SHARE_OF_BOUND * info[UMFPACK_FLOPS_ESTIMATE];
    s->bytes = info[UMFPACK_PEAK_MEMORY_ESTIMATE] * info[UMFPACK_SIZE_OF_UNIT];
    if (info[UMFPACK_STRATEGY_USED] == UMFPACK_STRATEGY_SYMMETRIC) {
        const double numbers = MORE_NUMBERS * info[UMFPACK_SYMMETRIC_LUNZ];
        s->operations = fmin(s->operations, info[UMFPACK_SYMMETRIC_FLOPS]);
        s->bytes = fmin(s->bytes, numbers * sizeof(double) + entries * BYTES_OF_NUMBER);
    }
}

ss_status ss_newton_system_analyse(ss_newton_system *s, ss_error *e)
{
    double info[UMFPACK_INFO];
    umfpack_di_defaults(s->control);
    // On tangles of 2000 contacts, with 25 and 59 ends a rod, pivots near the diagonal halve the
    // time of (3). In (4) there are zeros wherever a contact sticks, and nested dissection halves
    // it.
    if (s->c->is_explicit) {
        s->control[UMFPACK_STRATEGY] = UMFPACK_STRATEGY_SYMMETRIC;
    } else {
        s->control[UMFPACK_ORDERING] = UMFPACK_ORDERING_METIS;
    }
    const int status = umfpack_di_symbolic(s->rows, s->rows, s->start, s->col, NULL, &s->symbolic,
                                           s->control, info);
    foretell(s, info);
    return status == UMFPACK_OK ? SS_OK : fail(e);
}

static bool allocate_rows(ss_newton_system *s)
{
    const size_t rows = (size_t)s->rows, size = (size_t)s->c->dim * (size_t)s->c->n;
    s->start = calloc(rows + 1, sizeof *s->start);
    s->right = calloc(rows, sizeof *s->right);
    s->answer = malloc(rows * sizeof *s->answer);
    s->scaled = malloc(size * sizeof *s->scaled);
    s->integers = malloc(rows * sizeof *s->integers);
    s->numbers = malloc(5 * rows * sizeof *s->numbers);
    s->z = malloc(((size_t)s->dofs + 1) * sizeof *s->z);
    return s->start != NULL && s->right != NULL && s->answer != NULL && s->scaled != NULL &&
           s->integers != NULL && s->numbers != NULL && s->z != NULL;
}

static ss_status newton_system_build(ss_newton_system *s, const ss_stop *stop, ss_error *e)
{
    if (!allocate_rows(s) || !place_rows(s)) {
        return fail(e);
    }
    const size_t count = (size_t)s->start[s->rows];
    s->col = malloc(count * sizeof *s->col);
    s->x = malloc(count * sizeof *s->x);
    if (s->col == NULL || s->x == NULL) {
        return fail(e);
    }
    const ss_newton_block none = {.A = {0}};
    bool stopped = false;
    for (int i = 0; i < s->c->n && !stopped; i++) {
        write_contact(s, i, &none, 0.0);
        stopped = ss_stop_asked_at(stop, i);
    }
    if (s->dofs > 0 && !stopped) {
        write_dofs(s);
    }
    return SS_OK;
}

ss_status ss_newton_system_new(const ss_coupling *coupling, const double *unit, const ss_stop *stop,
                               ss_newton_system **system, ss_error *e)
{
    *system = NULL;
    ss_newton_system *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return fail(e);
    }
    s->c = coupling;
    s->unit = unit;
    s->scale = sqrt(coupling->s);
    s->dofs = coupling->is_explicit ? 0 : coupling->white->body_start[coupling->white->nbodies];
    s->rows = coupling->dim * coupling->n + s->dofs;
    const ss_status status = newton_system_build(s, stop, e);
    if (status != SS_OK || ss_stop_asked(stop)) {
        ss_newton_system_free(s);
        return status;
    }
    *system = s;
    return SS_OK;
}

void ss_newton_system_free(ss_newton_system *s)
{
    if (s == NULL) {
        return;
    }
    umfpack_di_free_numeric(&s->numeric);
    umfpack_di_free_symbolic(&s->symbolic);
    free(s->start);
    free(s->col);
    free(s->x);
    free(s->right);
    free(s->answer);
    free(s->scaled);
    free(s->z);
    free(s->integers);
    free(s->numbers);
    free(s);
}

double ss_newton_system_analysis(const ss_newton_system *s)
{
    return s->start[s->rows] * (s->c->is_explicit ? ANALYSIS_EXPLICIT : ANALYSIS_MATRIX_FREE);
}

double ss_newton_system_seconds(const ss_newton_system *s)
{
    return s->start[s->rows] * FACTOR_ENTRY + s->operations * FACTOR_OPERATION;
}

double ss_newton_system_bytes(const ss_newton_system *s)
{
    return s->bytes;
}

// ---- Its solution

// Factors J; *solved is false where it is singular.
static ss_status newton_system_factor(ss_newton_system *s, bool *solved, ss_error *e)
{
    umfpack_di_free_numeric(&s->numeric);
    const int status =
        umfpack_di_numeric(s->start, s->col, s->x, s->symbolic, &s->numeric, s->control, NULL);
    *solved = status == UMFPACK_OK;
    return status == UMFPACK_ERROR_out_of_memory ? fail(e) : SS_OK;
}

ss_status ss_newton_system_solve(ss_newton_system *s, const ss_newton_block *blocks, double shift,
                                 const double *F, double *d, bool *solved, ss_error *e)
{
    const int size = s->c->dim * s->c->n;
    ss_assert(s->symbolic != NULL);
    for (int i = 0; i < s->c->n; i++) {
        write_contact(s, i, &blocks[i], shift);
    }
    for (int k = 0; k < size; k++) {
        s->right[k] = -F[k];
    }
    const ss_status status = newton_system_factor(s, solved, e);
    if (status != SS_OK || !*solved) {
        return status;
    }
    *solved = umfpack_di_wsolve(UMFPACK_At, s->start, s->col, s->x, s->answer, s->right, s->numeric,
                                s->control, NULL, s->integers, s->numbers) == UMFPACK_OK;
    for (int k = 0; k < size; k++) {
        d[k] = s->answer[k];
        *solved = *solved && isfinite(d[k]);
    }
    return SS_OK;
}

// ---- Products

// Adds W x to y, or W' x where it is transposed.
static void multiply_blocks(const ss_blocks *W, bool transposed, const double *x, double *y)
{
    const size_t dim = (size_t)W->dim;
    for (size_t i = 0; i < (size_t)W->n; i++) {
        for (size_t k = W->start[i]; k < W->start[i + 1]; k++) {
            const double *block = W->x + dim * dim * k;
            const size_t j = (size_t)W->col[k];
            for (size_t a = 0; a < dim; a++) {
                for (size_t b = 0; b < dim; b++) {
                    if (transposed) {
                        y[dim * j + b] += block[dim * a + b] * x[dim * i + a];
                    } else {
                        y[dim * i + a] += block[dim * a + b] * x[dim * j + b];
                    }
                }
            }
        }
    }
}

// Adds G' x to z, or G z to y.
static void newton_system_multiply_ends(const ss_coupling *c, bool to_bodies, const double *x,
                                        double *z, double *y)
{
    const ss_whitened *white = c->white;
    for (int i = 0; i < c->n; i++) {
        for (int end = white->end_start[i]; end < white->end_start[i + 1]; end++) {
            const int body = white->end_body[end], room = ss_whitened_room(white, body);
            double *at = z + white->body_start[body];
            for (int a = 0; a < c->dim; a++) {
                const double *G = white->G + white->end_G[end] + a * room;
                const int k = c->dim * i + a;
                for (int j = 0; j < room; j++) {
                    if (to_bodies) {
                        at[j] += G[j] * x[k];
                    } else {
                        y[k] += G[j] * at[j];
                    }
                }
            }
        }
    }
}

// Writes y = W x or W' x; G G' is symmetric.
static void newton_system_multiply(ss_newton_system *s, bool transposed, const double *x, double *y)
{
    memset(y, 0, (size_t)(s->c->dim * s->c->n) * sizeof *y);
    if (s->c->is_explicit) {
        multiply_blocks(&s->c->W, transposed, x, y);
        return;
    }
    memset(s->z, 0, (size_t)s->dofs * sizeof *s->z);
    newton_system_multiply_ends(s->c, true, x, s->z, NULL);
    newton_system_multiply_ends(s->c, false, NULL, s->z, y);
}

void ss_newton_velocity(ss_newton_system *s, const double *x, double *y)
{
    const int dim = s->c->dim;
    for (int k = 0; k < dim * s->c->n; k++) {
        s->scaled[k] = x[k] / s->unit[k / dim];
    }
    newton_system_multiply(s, false, s->scaled, y);
}

void ss_newton_velocity_transposed(ss_newton_system *s, const double *x, double *y)
{
    const int dim = s->c->dim;
    newton_system_multiply(s, true, x, y);
    for (int k = 0; k < dim * s->c->n; k++) {
        y[k] /= s->unit[k / dim];
    }
}
