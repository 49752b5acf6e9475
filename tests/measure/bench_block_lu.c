// LU of one matrix I + (positive semidefinite) by blocks and by UMFPACK: ms a factorisation and a
// solve, the pattern analysed before, and their ratio. Rods touch their neighbours in a lattice, 16
// rows each; rigid bodies lie in a heap, 8 rows (6 and padding) each.
#include <math.h>
#include <string.h>
#include <suitesparse/umfpack.h>

#include "base/random.h"
#include "solvers/linear/block_lu.h"
#include "tests/measure/bench.h"

#define REPEATS 5

typedef struct matrix {
    int nodes, room, npairs;
    int (*pairs)[2];
    int size;
    int *start, *row; // by columns, without the padding's zeros
    double *x;
    size_t *place; // of x in the block matrix
    ss_block_lu *lu;
} matrix;

// Node k of a cube touches its neighbours along three axes (a lattice of `width` a side), or in a
// plane along two.
static void draw_pairs(matrix *a, int width, int axes)
{
    a->nodes = axes == 3 ? width * width * width : width * width;
    a->pairs = malloc((size_t)(axes * a->nodes) * sizeof *a->pairs);
    for (int k = 0; k < a->nodes; k++) {
        for (int axis = 0, step = 1; axis < axes; axis++, step *= width) {
            if (k / step % width + 1 < width) {
                a->pairs[a->npairs][0] = k;
                a->pairs[a->npairs++][1] = k + step;
            }
        }
    }
}

static void add_block(matrix *a, ss_random *g, int row_node, int col_node, int col, int *at)
{
    const size_t block = ss_block_lu_place(a->lu, row_node, col_node);
    for (int i = 0; i < a->room; i++, (*at)++) {
        const double own = row_node == col_node && i == col ? 1.0 + a->room : 0.0;
        a->row[*at] = a->room * row_node + i;
        a->x[*at] = own + 0.3 * ss_random_normal(g);
        a->place[*at] = block + (size_t)(i * a->room + col);
    }
}

// Rows ascending within a column.
static void draw_numbers(matrix *a, ss_random *g)
{
    int at = 0;
    for (int node = 0; node < a->nodes; node++) {
        int touched[8], count = 0;
        for (int other = 0; other < a->npairs; other++) {
            if (a->pairs[other][1] == node) {
                touched[count++] = a->pairs[other][0];
            }
        }
        touched[count++] = node;
        for (int other = 0; other < a->npairs; other++) {
            if (a->pairs[other][0] == node) {
                touched[count++] = a->pairs[other][1];
            }
        }
        for (int i = 0; i < count; i++) { // few: by insertion
            for (int j = i; j > 0 && touched[j] < touched[j - 1]; j--) {
                const int swapped = touched[j];
                touched[j] = touched[j - 1];
                touched[j - 1] = swapped;
            }
        }
        for (int col = 0; col < a->room; col++) {
            for (int i = 0; i < count; i++) {
                add_block(a, g, touched[i], node, col, &at);
            }
            a->start[a->room * node + col + 1] = at;
        }
    }
}

static matrix make(int width, int axes, int room)
{
    matrix a = {.room = room};
    ss_random g = ss_random_seeded(17);
    draw_pairs(&a, width, axes);
    a.size = a.nodes * room;
    const size_t count = (size_t)(a.nodes + 2 * a.npairs) * (size_t)(room * room);
    int *rooms = malloc((size_t)a.nodes * sizeof *rooms);
    for (int k = 0; k < a.nodes; k++) {
        rooms[k] = room;
    }
    ss_error error;
    bench_check(
        ss_block_lu_new(a.nodes, rooms, a.npairs, (const int(*)[2])a.pairs, NULL, &a.lu, &error),
        &error);
    free(rooms);
    a.start = calloc((size_t)a.size + 1, sizeof *a.start);
    a.row = malloc(count * sizeof *a.row);
    a.x = malloc(count * sizeof *a.x);
    a.place = malloc(count * sizeof *a.place);
    if (!ss_block_lu_reserve(a.lu, NULL) || a.start == NULL || a.row == NULL || a.x == NULL ||
        a.place == NULL) {
        fprintf(stderr, "benchmark: not enough memory\n");
        exit(4);
    }
    draw_numbers(&a, &g);
    return a;
}

static void release(matrix *a)
{
    ss_block_lu_free(a->lu);
    free(a->pairs);
    free(a->start);
    free(a->row);
    free(a->x);
    free(a->place);
}

typedef struct times {
    double factor, solve; // s, the best
} times;

static void keep(double *best, double begin)
{
    const double took = ss_clock_now() - begin;
    *best = took < *best ? took : *best;
}

static void by_blocks(const matrix *a, double *x, times *best)
{
    ss_block_lu_clear(a->lu);
    double *values = ss_block_lu_values(a->lu);
    for (int k = 0; k < a->start[a->size]; k++) {
        values[a->place[k]] = a->x[k];
    }
    double begin = ss_clock_now();
    if (!ss_block_lu_factor(a->lu)) {
        fprintf(stderr, "benchmark: the block matrix is singular\n");
        exit(4);
    }
    keep(&best->factor, begin);
    for (int k = 0; k < a->size; k++) {
        x[k] = 1.0;
    }
    begin = ss_clock_now();
    ss_block_lu_solve(a->lu, x);
    keep(&best->solve, begin);
}

static void by_umfpack(const matrix *a, void *symbolic, double *x, double *ones, times *best)
{
    void *numeric = NULL;
    double control[UMFPACK_CONTROL];
    umfpack_di_defaults(control);
    control[UMFPACK_IRSTEP] = 0; // no refinement, as ours
    double begin = ss_clock_now();
    umfpack_di_numeric(a->start, a->row, a->x, symbolic, &numeric, control, NULL);
    keep(&best->factor, begin);
    begin = ss_clock_now();
    umfpack_di_solve(UMFPACK_A, a->start, a->row, a->x, x, ones, numeric, control, NULL);
    keep(&best->solve, begin);
    umfpack_di_free_numeric(&numeric);
}

static void measure(const char *name, int width, int axes, int room)
{
    matrix a = make(width, axes, room);
    void *symbolic = NULL;
    umfpack_di_symbolic(a.size, a.size, a.start, a.row, a.x, &symbolic, NULL, NULL);
    double *x = malloc((size_t)a.size * sizeof *x), *y = malloc((size_t)a.size * sizeof *y);
    double *ones = malloc((size_t)a.size * sizeof *ones);
    for (int k = 0; k < a.size; k++) {
        ones[k] = 1.0;
    }
    times ours = {1e300, 1e300}, theirs = ours;
    for (int k = 0; k < REPEATS; k++) { // in turns
        by_blocks(&a, x, &ours);
        by_umfpack(&a, symbolic, y, ones, &theirs);
    }
    double apart = 0.0, largest = 0.0;
    for (int k = 0; k < a.size; k++) {
        apart = fmax(apart, fabs(x[k] - y[k]));
        largest = fmax(largest, fabs(y[k]));
    }
    printf("%-16s %6d rows: factor %8.2f ms, UMFPACK %8.2f ms, ratio %5.2f; solve %6.3f and "
           "%6.3f ms, ratio %5.2f; answers apart by %.1g\n",
           name, a.size, 1e3 * ours.factor, 1e3 * theirs.factor, theirs.factor / ours.factor,
           1e3 * ours.solve, 1e3 * theirs.solve, theirs.solve / ours.solve, apart / largest);
    free(x);
    free(y);
    free(ones);
    umfpack_di_free_symbolic(&symbolic);
    release(&a);
}

int main(void)
{
    measure("rods, plane", 18, 2, 16);
    measure("rods, space", 7, 3, 16);
    measure("bodies, plane", 30, 2, 8);
    measure("bodies, space", 9, 3, 8);
    return 0;
}
