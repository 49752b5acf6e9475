// The explicit form of delassus.h, equation (2), block by block and, for comparison, naively.
#include "problems/matrix/delassus.h"

#include <stdlib.h>
#include <string.h>

#include "base/lanes.h"
#include "base/memory.h"

// The union of two ascending lists without repetitions, ascending, into out (which is neither of
// them and has room for both); returns its length.
static size_t merge_ascending(const int *a, size_t na, const int *b, size_t nb, int *out)
{
    size_t i = 0, j = 0, n = 0;
    while (i < na && j < nb) {
        const int next = a[i] < b[j] ? a[i] : b[j];
        i += a[i] == next;
        j += b[j] == next;
        out[n++] = next;
    }
    memcpy(out + n, a + i, (na - i) * sizeof *out);
    n += na - i;
    memcpy(out + n, b + j, (nb - j) * sizeof *out);
    return n + (nb - j);
}

// The contacts on the bodies of contact i, merged into out; spare has the same room.
static size_t neighbours(const ss_whitened *white, int i, int *out, int *spare)
{
    size_t count = 0;
    for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
        const int begin = white->body_end_start[white->end_body[s]];
        const int end = white->body_end_start[white->end_body[s] + 1];
        count = merge_ascending(out, count, white->body_end_contact + begin, (size_t)(end - begin),
                                spare);
        memcpy(out, spare, count * sizeof *out);
    }
    return count;
}

// Which contacts share a body, row by row. Where it is stopped, the rows so far. A contact on no
// body has an empty row; it gets its diagonal block, so that every row has one.
static bool find_pattern(const ss_stop *stop, const ss_whitened *white, ss_blocks *W)
{
    const size_t n = (size_t)white->ncontacts;
    size_t most = n;
    for (int s = 0; s < white->nends; s++) {
        const int body = white->end_body[s];
        most += (size_t)(white->body_end_start[body + 1] - white->body_end_start[body]);
    }
    int *spare = malloc(n * sizeof *spare);
    W->start = malloc((n + 1) * sizeof *W->start);
    W->col = ss_large_malloc((most + n) * sizeof *W->col); // the last rows are merged in place
    const bool ok = spare != NULL && W->start != NULL && W->col != NULL;
    if (ok) {
        W->start[0] = 0;
        for (int i = 0; i < white->ncontacts && !ss_stop_asked_at(stop, i); i++) {
            int *row = W->col + W->start[i];
            size_t count = neighbours(white, i, row, spare);
            if (count == 0) {
                row[count++] = i;
            }
            W->start[i + 1] = W->start[i] + count;
        }
    }
    free(spare);
    return ok;
}

ss_status ss_blocks_count(const ss_whitened *white, size_t *count, ss_error *e)
{
    const size_t n = (size_t)white->ncontacts;
    int *row = malloc(2 * n * sizeof *row);
    if (row == NULL) {
        return ss_fail_memory(e, "the blocks of W");
    }
    *count = 0;
    for (int i = 0; i < white->ncontacts; i++) {
        const int first = white->end_start[i], ends = white->end_start[i + 1] - first;
        if (ends == 1) { // no lists to merge
            const int *start = white->body_end_start + white->end_body[first];
            *count += (size_t)(start[1] - start[0]);
        } else {
            *count += ends > 1 ? neighbours(white, i, row, row + n) : 1;
        }
    }
    free(row);
    return SS_OK;
}

// Columns at once: two vectors of the CPU. Every sum runs over the dofs in ascending order whatever
// the width, so the bits do not depend on the CPU.
#define WIDTH (2 * SS_LANES)

// G of the ends on a body side by side and turned over: a dof a row, the components of the contacts
// its columns, padded to WIDTH.
enum { STRIP_ROWS = 3 }; // of a strip, dim of them used

typedef struct panels {
    size_t *start; // [nbodies] of a body's panel in x
    double *x;
    size_t widest; // columns
} panels;

static size_t panel_width(const ss_whitened *white, int body)
{
    const int ends = white->body_end_start[body + 1] - white->body_end_start[body];
    return ((size_t)white->dim * (size_t)ends + WIDTH - 1) / WIDTH * WIDTH;
}

static void fill_panel(const ss_whitened *white, int body, double *panel)
{
    const int dim = white->dim, m = ss_whitened_room(white, body);
    const int begin = white->body_end_start[body], end = white->body_end_start[body + 1];
    const size_t width = panel_width(white, body);
    memset(panel, 0, (size_t)m * width * sizeof *panel);
    for (int s = begin; s < end; s++) {
        const double *G = white->G + white->end_G[white->body_end[s]];
        double *column = panel + dim * (s - begin);
        for (int c = 0; c < dim; c++) {
            for (int j = 0; j < m; j++) {
                column[(size_t)j * width + (size_t)c] = G[c * m + j];
            }
        }
    }
}

static void free_panels(panels *p)
{
    free(p->start);
    free(p->x);
}

static bool make_panels(const ss_whitened *white, panels *p)
{
    size_t entries = 0;
    *p = (panels){.start = malloc(((size_t)white->nbodies + 1) * sizeof *p->start)};
    for (int k = 0; p->start != NULL && k < white->nbodies; k++) {
        const size_t width = panel_width(white, k);
        p->start[k] = entries;
        p->widest = width > p->widest ? width : p->widest;
        entries += (size_t)ss_whitened_room(white, k) * width;
    }
    p->x = ss_large_malloc((entries + 1) * sizeof *p->x);
    for (int k = 0; p->start != NULL && p->x != NULL && k < white->nbodies; k++) {
        fill_panel(white, k, p->x + p->start[k]);
    }
    return p->start != NULL && p->x != NULL;
}

static inline void store_pair(double *to, ss_lanes x0, ss_lanes x1)
{
    *(ss_lanes *)to = x0;
    *(ss_lanes *)(to + SS_LANES) = x1;
}

// strip = left panel: all blocks that one contact makes through one body, dim rows of `width`.
static inline void multiply_strip(int dim, const double *left, const double *panel, int m,
                                  size_t width, double *strip)
{
    for (size_t c = 0; c < width; c += WIDTH) {
        // Six sums that do not wait for each other hide the latency of an addition.
        ss_lanes a0 = {0}, a1 = {0}, b0 = {0}, b1 = {0}, c0 = {0}, c1 = {0};
        for (int j = 0; j < m; j++) {
            const double *g = panel + (size_t)j * width + c;
            const ss_lanes g0 = *(const ss_lanes *)g, g1 = *(const ss_lanes *)(g + SS_LANES);
            a0 += left[j] * g0;
            a1 += left[j] * g1;
            b0 += left[m + j] * g0;
            b1 += left[m + j] * g1;
            if (dim == 3) {
                c0 += left[2 * m + j] * g0;
                c1 += left[2 * m + j] * g1;
            }
        }
        store_pair(strip + c, a0, a1);
        store_pair(strip + width + c, b0, b1);
        if (dim == 3) {
            store_pair(strip + 2 * width + c, c0, c1);
        }
    }
}

// One end of the contact whose row is made: its strip, and the contacts on its body still to come.
typedef struct walk {
    const int *contact; // the next one
    const int *last;    // beyond the last
    const double *at;   // its block in the strip
    size_t width;       // of the strip
} walk;

// Makes the strips of contact i, one after the other in `strips`; returns their number.
static inline int make_strips(const ss_whitened *white, int dim, const double *left,
                              const panels *p, int i, double *strips, walk *walks)
{
    const int count = white->end_start[i + 1] - white->end_start[i];
    for (int k = 0; k < count; k++) {
        const int s = white->end_start[i] + k, body = white->end_body[s];
        const int begin = white->body_end_start[body], end = white->body_end_start[body + 1];
        const size_t width = panel_width(white, body);
        multiply_strip(dim, left + white->end_G[s], p->x + p->start[body],
                       ss_whitened_room(white, body), width, strips);
        walks[k] =
            (walk){white->body_end_contact + begin, white->body_end_contact + end, strips, width};
        strips += STRIP_ROWS * width;
    }
    return count;
}

// A row of a block is moved as FOUR numbers: what a store writes too many, the next store, or the
// next block, writes over. Strips and W have room behind their ends.
#define FOUR 4
typedef double four __attribute__((vector_size(8 * FOUR), aligned(8)));

static inline void fill_row(int dim, walk *walks, int nwalks, const int *cols, size_t ncols,
                            double *row)
{
    for (size_t k = 0; k < ncols; k++) {
        four sum[3] = {{0}, {0}, {0}};
        for (int s = 0; s < nwalks; s++) {
            walk *end = &walks[s];
            if (end->contact < end->last && *end->contact == cols[k]) {
                for (int r = 0; r < dim; r++) {
                    sum[r] += *(const four *)(end->at + (size_t)r * end->width);
                }
                end->contact++;
                end->at += dim;
            }
        }
        for (int r = 0; r < dim; r++) {
            *(four *)(row + r * dim) = sum[r];
        }
        row += dim * dim;
    }
}

static int most_ends(const ss_whitened *white)
{
    int most = 0;
    for (int i = 0; i < white->ncontacts; i++) {
        const int count = white->end_start[i + 1] - white->end_start[i];
        most = count > most ? count : most;
    }
    return most;
}

// Scratch of one row.
typedef struct workspace {
    double *strips; // [most ends][STRIP_ROWS][widest]
    walk *walks;    // [most ends]
} workspace;

static bool make_workspace(const ss_whitened *white, const panels *p, workspace *b)
{
    const size_t most = (size_t)most_ends(white) + 1;
    b->strips = calloc(most * STRIP_ROWS * (p->widest + 1) + FOUR, sizeof *b->strips);
    b->walks = malloc(most * sizeof *b->walks);
    return b->strips != NULL && b->walks != NULL;
}

static inline void fill_rows(const ss_stop *stop, const ss_whitened *white, int dim,
                             const double *left, const panels *p, const workspace *b, ss_blocks *W)
{
    for (int i = 0; i < W->n && !ss_stop_asked_at(stop, i); i++) {
        const int nwalks = make_strips(white, dim, left, p, i, b->strips, b->walks);
        fill_row(dim, b->walks, nwalks, W->col + W->start[i], W->start[i + 1] - W->start[i],
                 W->x + W->start[i] * (size_t)(dim * dim));
    }
}

// Row by row: a product for each end of the contact, then each block once, in order. Both triangles
// are computed: the second costs less than scattering its blocks over rows that have left the
// cache, and W is symmetric to the bit.
ss_status ss_blocks_assemble_until(const ss_stop *stop, const ss_whitened *white,
                                   const double *left, ss_blocks *W, ss_error *e)
{
    *W = (ss_blocks){.dim = white->dim, .n = white->ncontacts};
    panels p = {0};
    workspace b = {0};
    bool ok =
        make_panels(white, &p) && make_workspace(white, &p, &b) && find_pattern(stop, white, W);
    bool stopped = ss_stop_asked(stop);
    if (ok && !stopped) {
        W->x = ss_large_malloc((W->start[W->n] * (size_t)(W->dim * W->dim) + SS_BLOCK_ROOM) *
                               sizeof *W->x);
        ok = W->x != NULL;
    }
    const double *first = left != NULL ? left : white->G;
    if (ok && !stopped && W->dim == 3) { // constants, so that the loops over components unroll
        fill_rows(stop, white, 3, first, &p, &b, W);
    } else if (ok && !stopped) {
        fill_rows(stop, white, 2, first, &p, &b, W);
    }
    stopped = stopped || ss_stop_asked(stop);
    free_panels(&p);
    free(b.strips);
    free(b.walks);
    if (!ok || stopped) {
        ss_blocks_free(W);
    }
    return ok ? SS_OK : ss_fail_memory(e, "the blocks of W");
}

ss_status ss_blocks_assemble(const ss_whitened *white, const double *left, ss_blocks *W,
                             ss_error *e)
{
    return ss_blocks_assemble_until(NULL, white, left, W, e);
}

// Column c of W is H' M^-1 H_c.
static void naive_column(const ss_problem *p, const ss_mass *mass, int c, double *x,
                         double *scratch, double *column)
{
    memset(x, 0, (size_t)p->ndofs * sizeof *x);
    for (int k = p->H.start[c]; k < p->H.start[c + 1]; k++) {
        x[p->H.row[k]] = p->H.x[k];
    }
    ss_mass_solve(mass, x, scratch);
    memset(column, 0, (size_t)p->H.ncols * sizeof *column);
    ss_sparse_add_transposed_product(&p->H, x, column);
}

// Hands every column of W to `keep`, one after the other.
typedef void (*column_keeper)(void *kept, int c, const double *column);

static ss_status each_naive_column(const ss_stop *stop, const ss_problem *p, const ss_mass *mass,
                                   column_keeper keep, void *kept, ss_error *e)
{
    double *x = malloc((size_t)p->ndofs * sizeof *x);
    double *scratch = malloc((size_t)p->ndofs * sizeof *scratch);
    double *column = malloc((size_t)p->H.ncols * sizeof *column);
    const bool ok = x != NULL && scratch != NULL && column != NULL;
    for (int c = 0; ok && c < p->H.ncols && !ss_stop_asked(stop); c++) {
        naive_column(p, mass, c, x, scratch, column);
        keep(kept, c, column);
    }
    free(x);
    free(scratch);
    free(column);
    return ok ? SS_OK : ss_fail_memory(e, "the naive W");
}

typedef struct dense {
    size_t size;
    double *W; // [size][size]
} dense;

static void keep_dense(void *kept, int c, const double *column)
{
    const dense *to = kept;
    for (size_t r = 0; r < to->size; r++) {
        to->W[r * to->size + (size_t)c] = column[r];
    }
}

ss_status ss_delassus_naive(const ss_problem *p, double *W, ss_error *e)
{
    dense to = {(size_t)p->H.ncols, W};
    ss_mass *mass = NULL;
    ss_status status = ss_mass_new(p, &mass, e);
    if (status == SS_OK) {
        status = each_naive_column(NULL, p, mass, keep_dense, &to, e);
    }
    ss_mass_free(mass);
    return status;
}

// W is symmetric: column c is row c, whose blocks lie side by side.
static void keep_blocks(void *kept, int c, const double *column)
{
    const ss_blocks *W = kept;
    const int dim = W->dim, i = c / dim;
    for (size_t k = W->start[i]; k < W->start[i + 1]; k++) {
        memcpy(W->x + k * (size_t)(dim * dim) + (c % dim) * dim, column + dim * W->col[k],
               (size_t)dim * sizeof *column);
    }
}

ss_status ss_blocks_assemble_naive(const ss_stop *stop, const ss_problem *p,
                                   const ss_whitened *white, ss_blocks *W, ss_error *e)
{
    *W = (ss_blocks){.dim = white->dim, .n = white->ncontacts};
    bool ok = find_pattern(stop, white, W), stopped = ss_stop_asked(stop);
    if (ok && !stopped) {
        W->x = ss_large_malloc((W->start[W->n] * (size_t)(W->dim * W->dim) + SS_BLOCK_ROOM) *
                               sizeof *W->x);
        ok = W->x != NULL;
    }
    ss_mass *mass = NULL; // that of `white` may have forgotten its factors
    ss_status status = ok ? ss_mass_new(p, &mass, e) : ss_fail_memory(e, "the blocks of W");
    if (status == SS_OK && !stopped) {
        status = each_naive_column(stop, p, mass, keep_blocks, W, e);
        stopped = ss_stop_asked(stop);
    }
    ss_mass_free(mass);
    if (status != SS_OK || stopped) {
        ss_blocks_free(W);
    }
    return status;
}
