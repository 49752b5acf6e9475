// Rows of velocities and the impulses along them (rows.h).
//
// K x of a row is a sum over its strands: block k holds the rows of strand k, `impulses` their x, so that a visit is
// a product of neighbouring numbers for each strand.
#include "strands/schemes/rows.h"

#include <math.h>
#include <string.h>

#include "strands/band.h"

#define LEAST_STEP 1e-12 // of x: sweeps that change less end
#define LANES      8     // rows that are worked on at once

// The rows of a strand: how many, and where they begin.
typedef struct strand_rows {
    int count;
    size_t block,
        first; // of its K among `blocks`; of its x among `impulses`, and of its ends after all of these
    size_t half; // of its Z in scratch
} strand_rows;

// The ends of its rows.
static const int *own_ends(const ss_rows *r, const ss_world *w, const strand_rows *s)
{
    return (const int *)((const strand_rows *)r->sizes.data + w->nstrands + 1) + s->first;
}

void ss_rows_free(ss_rows *r)
{
    ss_buffer_free(&r->rows);
    ss_buffer_free(&r->ends);
    ss_buffer_free(&r->coefficients);
    ss_buffer_free(&r->sizes);
    ss_buffer_free(&r->blocks);
    ss_buffer_free(&r->impulses);
    ss_buffer_free(&r->scratch);
    ss_rows_clear(r);
}

void ss_rows_clear(ss_rows *r)
{
    r->count = r->nends = 0;
    r->ncoefficients = 0;
}

bool ss_rows_add(ss_rows *r, const ss_row *row)
{
    ss_row *rows = ss_buffer_room(&r->rows, ((size_t)r->count + 1) * sizeof *rows);
    if (rows == NULL) {
        return false;
    }
    rows[r->count] = *row;
    rows[r->count].end[0] = rows[r->count].end[1] = -1;
    r->count++;
    return true;
}

double *ss_rows_add_end(ss_rows *r, int strand, int count)
{
    const size_t n = (size_t)count;
    ss_row_end *ends = ss_buffer_room(&r->ends, ((size_t)r->nends + 1) * sizeof *ends);
    double *x = ss_buffer_room(&r->coefficients, (r->ncoefficients + n + 1) * sizeof *x);
    if (ends == NULL || x == NULL) {
        return NULL;
    }
    int *end = ss_rows_at(r, r->count - 1)->end;
    end[end[0] < 0 ? 0 : 1] = r->nends;
    ends[r->nends++] = (ss_row_end){.strand = strand, .H = r->ncoefficients};
    double *own = x + r->ncoefficients;
    memset(own, 0, n * sizeof *own);
    r->ncoefficients += n;
    return own;
}

static const ss_row_end *end_of(const ss_rows *r, int i, int side)
{
    const int end = ss_rows_at(r, i)->end[side];
    return end < 0 ? NULL : (const ss_row_end *)r->ends.data + end;
}

static const double *coefficients(const ss_rows *r, const ss_row_end *end)
{
    return (const double *)r->coefficients.data + end->H;
}

// Coefficients of the end: up to where the next ones begin.
static int width_of(const ss_rows *r, const ss_row_end *end)
{
    const long next = end - (const ss_row_end *)r->ends.data + 1;
    return (int)((next < r->nends ? end[1].H : r->ncoefficients) - end->H);
}

static double product(const double *x, const double *y, int n)
{
    double sum[4] = {0.0};
    int j = 0;
    for (; j + 4 <= n; j += 4) {
        for (int k = 0; k < 4; k++) {
            sum[k] += x[j + k] * y[j + k];
        }
    }
    for (; j < n; j++) {
        sum[0] += x[j] * y[j];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

double ss_rows_velocity(const ss_rows *r, const ss_world *w, int i, const double *v)
{
    double sum = 0.0;
    for (int side = 0; side < 2; side++) {
        const ss_row_end *end = end_of(r, i, side);
        if (end != NULL) {
            sum += product(coefficients(r, end), v + w->strands[end->strand].v, width_of(r, end));
        }
    }
    return sum;
}

void ss_rows_push(const ss_rows *r, const ss_world *w, int i, double x, double *v)
{
    for (int side = 0; side < 2; side++) {
        const ss_row_end *end = end_of(r, i, side);
        for (int j = 0; end != NULL && j < width_of(r, end); j++) {
            v[w->strands[end->strand].v + j] += x * coefficients(r, end)[j];
        }
    }
}

// ---- K

// Room for the blocks, and the place of each end in its own.
static bool place_rows(ss_rows *r, int nstrands)
{
    const size_t n = (size_t)nstrands;
    size_t block = 0, first = 0;
    strand_rows *s =
        ss_buffer_room(&r->sizes, (n + 1) * sizeof *s + (size_t)r->nends * sizeof(int));
    if (s == NULL) {
        return false;
    }
    memset(s, 0, n * sizeof *s);
    ss_row_end *ends = r->ends.data;
    for (int i = 0; i < r->nends; i++) {
        ends[i].local = s[ends[i].strand].count++;
    }
    for (size_t k = 0; k < n; k++) {
        const size_t m = (size_t)s[k].count;
        s[k].block = block;
        s[k].first = first;
        block += m * m;
        first += m;
    }
    int *own = (int *)(s + n + 1);
    for (int i = 0; i < r->nends; i++) {
        own[s[ends[i].strand].first + (size_t)ends[i].local] = i;
    }
    return ss_buffer_room(&r->blocks, (block + 1) * sizeof(double)) != NULL &&
           ss_buffer_room(&r->impulses, (first + 1) * sizeof(double)) != NULL;
}

// Room for Z of all strands.
static double *place_halves(ss_rows *r, int nstrands, ss_factors M)
{
    strand_rows *s = r->sizes.data;
    size_t at = 0;
    for (int k = 0; k < nstrands; k++) {
        s[k].half = at;
        if (s[k].count > 0) {
            at += (size_t)((s[k].count + LANES - 1) / LANES * LANES) * (size_t)M.L[k].n;
        }
    }
    return ss_buffer_room(&r->scratch, (at + 1) * sizeof(double));
}

typedef struct measuring {
    ss_rows *r;
    const ss_world *w;
    ss_factors M;
    double *halves; // of all strands, see `half`
} measuring;

// x <- L^-1 x, of the rows side by side in x [n][LANES].
static void forward(const ss_band *L, double *x)
{
    for (int j = 0; j < L->n; j++) {
        const double *column = ss_band_at(L, j, j);
        double *restrict own = x + LANES * j;
        const int last = L->n - 1 - j < L->half ? L->n - 1 - j : L->half;
        for (int c = 0; c < LANES; c++) {
            own[c] /= column[0];
        }
        for (int i = 1; i <= last; i++) {
            double *restrict below = x + LANES * (j + i);
            for (int c = 0; c < LANES; c++) {
                below[c] -= column[i] * own[c];
            }
        }
    }
}

// Half of the test impulses of strand k, LANES rows after another: Z = L^-1 D H, with which K = Z'Z as
// M = D^-1 L L' D^-1. Rows that are too few for the last LANES are 0.
static void halve(const measuring *m, int k, double *z)
{
    const ss_rows *r = m->r;
    const strand_rows *s = (const strand_rows *)r->sizes.data + k;
    const int *own = own_ends(r, m->w, s), n = m->M.L[k].n;
    const double *D = m->M.D + m->w->strands[k].v;
    for (int first = 0; first < s->count; first += LANES, z += LANES * n) {
        memset(z, 0, LANES * (size_t)n * sizeof *z);
        for (int c = 0; c < LANES && first + c < s->count; c++) {
            const double *H = coefficients(r, (const ss_row_end *)r->ends.data + own[first + c]);
            for (int j = 0; j < n; j++) {
                z[LANES * j + c] = D[j] * H[j];
            }
        }
        forward(&m->M.L[k], z);
    }
}

// The entries of K of LANES rows with as many.
static void multiply(const double *a, const double *b, int n, double K[LANES][LANES])
{
    memset(K, 0, sizeof(double[LANES][LANES]));
    for (int j = 0; j < n; j++, a += LANES, b += LANES) {
        for (int p = 0; p < LANES; p++) {
            for (int q = 0; q < LANES; q++) {
                K[p][q] += a[p] * b[q];
            }
        }
    }
}

static void measure_strand(void *context, int k, int thread)
{
    const measuring *m = context;
    const strand_rows *s = (const strand_rows *)m->r->sizes.data + k;
    double *z = m->halves + s->half, *block = (double *)m->r->blocks.data + s->block;
    const int n = m->M.L[k].n, count = s->count;
    double K[LANES][LANES];
    (void)thread;
    halve(m, k, z);
    for (int i = 0; i < count; i += LANES) {
        for (int j = i; j < count; j += LANES) {
            multiply(z + i * n, z + j * n, n, K);
            for (int p = 0; p < LANES && i + p < count; p++) {
                for (int q = 0; q < LANES && j + q < count; q++) {
                    block[(i + p) * count + j + q] = block[(j + q) * count + i + p] = K[p][q];
                }
            }
        }
    }
}

bool ss_rows_measure(ss_rows *r, const ss_world *w, const ss_systems *systems, ss_factors M)
{
    if (!place_rows(r, w->nstrands)) {
        return false;
    }
    measuring m = {r, w, M, place_halves(r, w->nstrands, M)};
    if (m.halves == NULL) {
        return false;
    }
    ss_systems_each(systems, w->nstrands, measure_strand, &m);
    for (int i = 0; i < r->count; i++) {
        ss_row *row = ss_rows_at(r, i);
        row->diagonal = 0.0;
        for (int side = 0; side < 2; side++) {
            const ss_row_end *end = end_of(r, i, side);
            if (end != NULL) {
                const strand_rows *s = (const strand_rows *)r->sizes.data + end->strand;
                const double *block = (const double *)r->blocks.data + s->block;
                row->diagonal += block[end->local * s->count + end->local];
            }
        }
    }
    return true;
}

// ---- x

// Numbers of a row in the block of one of its strands, and x of the rows there.
static const double *block_row(const ss_rows *r, const ss_row_end *end, double **x, int *count)
{
    const strand_rows *s = (const strand_rows *)r->sizes.data + end->strand;
    *x = (double *)r->impulses.data + s->first;
    *count = s->count;
    return (const double *)r->blocks.data + s->block + (size_t)end->local * (size_t)s->count;
}

static void move(const ss_rows *r, int i, double by)
{
    for (int side = 0; side < 2; side++) {
        const ss_row_end *end = end_of(r, i, side);
        if (end != NULL) {
            double *x;
            int count;
            block_row(r, end, &x, &count);
            x[end->local] += by;
        }
    }
}

static double velocity_under(const ss_rows *r, int i)
{
    double u = ss_rows_at(r, i)->b;
    for (int side = 0; side < 2; side++) {
        const ss_row_end *end = end_of(r, i, side);
        if (end != NULL) {
            double *x;
            int count;
            const double *K = block_row(r, end, &x, &count);
            u += product(K, x, count);
        }
    }
    return u;
}

// Its place between the bounds of row i.
static double clip(const ss_rows *r, const ss_row *row, double x)
{
    const bool bound = row->normal >= 0;
    const double high = bound ? row->mu * ss_rows_at(r, row->normal)->x : row->high;
    return fmin(fmax(x, bound ? 0.0 : row->low), high);
}

// The start: x of all rows within their bounds. Returns the largest K_ii.
static double begin(const ss_rows *r)
{
    const ss_row_end *ends = r->ends.data;
    double largest = 0.0;
    for (int k = 0; k < r->nends; k++) {
        double *x;
        int count;
        block_row(r, &ends[k], &x, &count);
        x[ends[k].local] = 0.0;
    }
    for (int i = 0; i < r->count; i++) {
        ss_row *row = ss_rows_at(r, i);
        row->x = clip(r, row, row->x);
        move(r, i, row->x);
        largest = fmax(largest, row->diagonal);
    }
    return largest;
}

int ss_rows_relax(ss_rows *r, int sweeps, double omega, double eps)
{
    const double all_added = eps * begin(r);
    for (int sweep = 1; sweep <= sweeps; sweep++) {
        double step = 0.0, all = 0.0;
        for (int i = 0; i < r->count; i++) {
            ss_row *row = ss_rows_at(r, i);
            const double added = all_added + row->added, diagonal = row->diagonal + added;
            if (!(diagonal > 0.0)) {
                continue; // nothing that it pushes can move
            }
            const double u = velocity_under(r, i) + added * row->x;
            const double next = clip(r, row, row->x - omega * u / diagonal), by = next - row->x;
            move(r, i, by);
            row->x = next;
            step +=
                by * by * diagonal; // twice the energies, of which rows of all kinds have one unit
            all += next * next * diagonal;
        }
        if (step <= LEAST_STEP * LEAST_STEP * all) {
            return sweep;
        }
    }
    return sweeps;
}
