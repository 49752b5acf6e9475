// solvers/linear/block_numeric.h -- a factorisation of fronts and its solution, for one kind of
// number and of CPU (internal).
//
// A template: whoever includes it has defined
//
//     REAL                  float or double
//     LANES                 how many of them a vector of the CPU has
//     VECTORS               vectors in a row of a tile of products
//     TARGET                the attribute of functions for this CPU
//     LESS(a, b, c)         c - a b of vectors
//     NAME(x)               x with a suffix of its own
//     LEAST                 pivots below, and above 1 / LEAST, are singular
//
// It takes REAL, LANES, NAME and LEAST back, so that another may follow.
#define WIDE (VECTORS * LANES)

typedef REAL NAME(lanes) __attribute__((vector_size(LANES * sizeof(REAL)), aligned(sizeof(REAL))));
typedef REAL NAME(eight)
    __attribute__((vector_size(SS_TILE * sizeof(REAL)), aligned(sizeof(REAL))));

// ---- Kernels

// c -= A B of eight rows: A by columns of eight, `inner` of them, the rows of B `stride` apart.
static inline TARGET __attribute__((always_inline)) void NAME(product)(int inner, const REAL *A,
                                                                       const REAL *B, size_t stride,
                                                                       NAME(lanes)
                                                                           c[SS_TILE][VECTORS])
{
    for (int k = 0; k < inner; k++) {
        NAME(lanes) b[VECTORS];
#pragma GCC unroll 2
        for (int j = 0; j < VECTORS; j++) {
            b[j] = *(const NAME(lanes) *)(B + (size_t)k * stride + (size_t)j * LANES);
        }
#pragma GCC unroll 8
        for (int i = 0; i < SS_TILE; i++) {
            const NAME(lanes) a = A[k * SS_TILE + i] - (NAME(lanes)){0};
#pragma GCC unroll 2
            for (int j = 0; j < VECTORS; j++) {
                c[i][j] = LESS(a, b[j], c[i][j]);
            }
        }
    }
}

// C -= L U: tiles of L, strips of U.
static TARGET void NAME(update)(int tiles, int strips, int inner, const REAL *L, const REAL *U,
                                REAL *C, size_t stride)
{
    for (int s = 0; s < strips; s++) {
        const REAL *B = U + (size_t)s * (size_t)inner * WIDE;
        for (int t = 0; t < tiles; t++) {
            const REAL *A = L + (size_t)t * (size_t)inner * SS_TILE;
            REAL *at = C + (size_t)t * SS_TILE * stride + (size_t)s * WIDE;
            NAME(lanes) c[SS_TILE][VECTORS];
#pragma GCC unroll 8
            for (int i = 0; i < SS_TILE; i++) {
#pragma GCC unroll 2
                for (int j = 0; j < VECTORS; j++) {
                    c[i][j] = *(const NAME(lanes) *)(at + (size_t)i * stride + j * LANES);
                }
                __builtin_prefetch(at + (size_t)(i + SS_TILE) * stride);
                __builtin_prefetch(at + (size_t)(i + SS_TILE) * stride + WIDE - 1);
            }
            NAME(product)(inner, A, B, WIDE, c);
#pragma GCC unroll 8
            for (int i = 0; i < SS_TILE; i++) {
#pragma GCC unroll 2
                for (int j = 0; j < VECTORS; j++) {
                    *(NAME(lanes) *)(at + (size_t)i * stride + j * LANES) = c[i][j];
                }
            }
        }
    }
}

// Eight rows of F, b columns, by columns.
static inline TARGET void NAME(turn)(int b, const REAL *F, size_t stride, REAL *tile)
{
    for (int k = 0; k < b; k++) {
        for (int i = 0; i < SS_TILE; i++) {
            tile[k * SS_TILE + i] = F[(size_t)i * stride + (size_t)k];
        }
    }
}

// L = F X by tiles; X [b, wide] is -A_bb^-1.
static TARGET void NAME(scale)(int tiles, int b, const REAL *F, size_t stride, const REAL *X,
                               int wide, REAL *L)
{
    REAL in[SS_PANEL * SS_TILE], out[SS_TILE * SS_PANEL];
    for (int t = 0; t < tiles; t++) {
        NAME(turn)(b, F + (size_t)t * SS_TILE * stride, stride, in);
        for (int at = 0; at < b; at += WIDE) {
            NAME(lanes) c[SS_TILE][VECTORS];
            memset(c, 0, sizeof c);
            NAME(product)(b, in, X + at, (size_t)wide, c);
#pragma GCC unroll 8
            for (int i = 0; i < SS_TILE; i++) {
                memcpy(out + i * SS_PANEL + at, c[i], sizeof c[i]);
            }
        }
        NAME(turn)(b, out, SS_PANEL, L + (size_t)t * SS_TILE * (size_t)b);
    }
}

// A <- A^-1 by Gauss and Jordan with row pivoting, A [m, wide] with zeros behind the m-th column:
// after step k the first k columns hold those of the inverse, up to the order of the columns, which
// the swaps undo at the end. *negative changes where det A < 0.
static TARGET bool NAME(invert)(int m, int wide, REAL *A, bool *negative)
{
    int swaps[SS_PANEL];
    for (int k = 0; k < m; k++) {
        int pivot = k;
        double size = fabs((double)A[k * wide + k]);
        for (int i = k + 1; i < m; i++) {
            const double x = fabs((double)A[i * wide + k]);
            pivot = x > size ? i : pivot;
            size = x > size ? x : size;
        }
        REAL *row = A + k * wide, *other = A + pivot * wide;
        if (!(size > LEAST && size < 1.0 / LEAST)) {
            return false;
        }
        swaps[k] = pivot;
        *negative ^= (pivot != k) != (other[k] < (REAL)0.0);
        const REAL inverse = (REAL)1.0 / other[k];
        for (int j = 0; j < wide; j++) {
            const REAL x = other[j];
            other[j] = row[j];
            row[j] = x * inverse;
        }
        row[k] = inverse;
        for (int r = 0; r < m; r++) {
            REAL *target = A + r * wide;
            const REAL factor = target[k];
            for (int j = 0; r != k && j < wide; j += LANES) {
                NAME(lanes) *to = (NAME(lanes) *)(target + j);
                *to = LESS(factor - (NAME(lanes)){0}, *(const NAME(lanes) *)(row + j), *to);
            }
            target[k] = r != k ? -factor * inverse : inverse;
        }
    }
    for (int k = m - 1; k >= 0; k--) {
        for (int i = 0; swaps[k] != k && i < m; i++) {
            const REAL x = A[i * wide + k];
            A[i * wide + k] = A[i * wide + swaps[k]];
            A[i * wide + swaps[k]] = x;
        }
    }
    return true;
}

// ---- A front

// Whether more may be done: the answer of the last time holds while little has been.
static inline bool NAME(may_go_on)(const ss_block_lu *lu, double more, double *work)
{
    *work += more;
    if (*work < ASK_EVERY) {
        return true;
    }
    *work = 0.0;
    return !ss_stop_asked(lu->stop);
}

static TARGET void NAME(add_entries)(const ss_block_lu *lu, int f, REAL *F, size_t stride)
{
    for (int e = lu->first_entry[f]; e < lu->first_entry[f + 1]; e++) {
        const ss_block_entry *entry = &lu->entry[e];
        const double *from = lu->values + entry->from;
        for (int i = 0; i < entry->rows; i++) {
            REAL *to = F + (size_t)(entry->row + i) * stride + (size_t)entry->col;
            for (int j = 0; j < entry->cols; j++) {
                to[j] += (REAL)from[i * entry->cols + j];
            }
        }
    }
}

// The nodes below a child as runs of rows that stay together: where from, where to, how many.
static inline int NAME(list_runs)(const ss_block_lu *lu, int child, int *run)
{
    const ss_block_tree *t = &lu->tree;
    int count = 0, at = 0;
    for (int s = t->front[child].below; s < t->front[child + 1].below; s++) {
        const int k = t->row[s], room = t->room[k];
        if (count > 0 && run[3 * count - 2] + run[3 * count - 1] == lu->local[k]) {
            run[3 * count - 1] += room;
        } else {
            run[3 * count] = at;
            run[3 * count + 1] = lu->local[k];
            run[3 * count + 2] = room;
            count++;
        }
        at += room;
    }
    return count;
}

// What a child has left is added to its parent's front. False where it was stopped, as below.
static TARGET bool NAME(add_left)(const ss_block_lu *lu, int child, const REAL *left, REAL *F,
                                  size_t stride, double *work)
{
    const size_t m = (size_t)lu->tree.front[child].height;
    const int *run = lu->run, count = NAME(list_runs)(lu, child, lu->run);
    for (int a = 0; a < count; a++) {
        for (int i = 0; i < run[3 * a + 2]; i++) {
            if (!NAME(may_go_on)(lu, MOVING * (double)m, work)) {
                return false;
            }
            const REAL *from = left + (size_t)(run[3 * a] + i) * m;
            REAL *to = F + (size_t)(run[3 * a + 1] + i) * stride;
            for (int b = 0; b < count; b++) {
                const REAL *x = from + run[3 * b];
                REAL *y = to + run[3 * b + 1];
                for (int j = 0; j < run[3 * b + 2]; j++) {
                    y[j] += x[j];
                }
            }
        }
    }
    return true;
}

// One panel, its first column being `at`.
static TARGET bool NAME(eliminate)(ss_block_lu *lu, int at, int b, int size, REAL *F, size_t stride,
                                   REAL *out, double *work)
{
    const int behind = size - at - b, tiles = ss_rounded(behind, SS_TILE) / SS_TILE;
    const int strips = (behind + WIDE - 1) / WIDE;
    REAL *own = F + (size_t)at * stride + (size_t)at;
    REAL X[(SS_PANEL + SS_TILE) * SS_PANEL] __attribute__((aligned(64)));
    const int wide = ss_rounded(b, WIDE);
    memset(X, 0, (size_t)(ss_rounded(b, SS_TILE) * wide) * sizeof *X);
    for (int i = 0; i < b; i++) {
        memcpy(X + i * wide, own + (size_t)i * stride, (size_t)b * sizeof *X);
    }
    if (!NAME(invert)(b, wide, X, &lu->negative)) {
        return false;
    }
    for (int i = 0; i < b * wide; i++) {
        X[i] = -X[i];
    }
    for (int i = 0; i < b; i += SS_TILE, out += SS_TILE * b) {
        NAME(turn)(b, X + i * wide, (size_t)wide, out);
    }
    REAL *L = out, *U = out + (size_t)tiles * SS_TILE * (size_t)b;
    NAME(scale)(tiles, b, own + (size_t)b * stride, stride, X, wide, L);
    for (int s = 0; s < strips; s++) {
        for (int k = 0; k < b; k++) {
            memcpy(U + (size_t)(s * b + k) * WIDE,
                   own + (size_t)k * stride + (size_t)b + (size_t)s * WIDE, WIDE * sizeof *U);
        }
    }
    const double of_strip = (double)(behind + 1) * WIDE * b;
    const int at_once = (int)(ASK_EVERY / of_strip) + 1;
    for (int s = 0; s < strips; s += at_once) {
        const int some = strips - s < at_once ? strips - s : at_once;
        if (!NAME(may_go_on)(lu, some * of_strip, work)) {
            return false;
        }
        NAME(update)
        (tiles, some, b, L, U + (size_t)(s * b) * WIDE,
         own + (size_t)b * stride + (size_t)b + (size_t)s * WIDE, stride);
    }
    return true;
}

static bool NAME(clear)(const ss_block_lu *lu, size_t numbers, REAL *F, double *work)
{
    for (size_t k = 0; k < numbers; k += SS_CLEARED) {
        const size_t some = numbers - k < SS_CLEARED ? numbers - k : SS_CLEARED;
        if (!NAME(may_go_on)(lu, MOVING * (double)some, work)) {
            return false;
        }
        memset(F + k, 0, some * sizeof *F);
    }
    return true;
}

// What a front leaves, [m][m], for the top of the stack.
static bool NAME(leave)(const ss_block_lu *lu, size_t m, const REAL *F, size_t stride, REAL *top,
                        double *work)
{
    for (size_t i = 0; i < m; i++) {
        if (!NAME(may_go_on)(lu, MOVING * (double)m, work)) {
            return false;
        }
        memcpy(top + i * m, F + i * stride, m * sizeof *F);
    }
    return true;
}

static TARGET bool NAME(factor_front)(ss_block_lu *lu, int f, REAL **top, double *work)
{
    const ss_block_front *front = &lu->tree.front[f];
    const int size = front->width + front->height;
    const size_t stride = ss_front_stride(size), m = (size_t)front->height;
    REAL *F = lu->front;
    if (!NAME(clear)(lu, (size_t)(size + SS_TILE) * stride, F, work)) {
        return false;
    }
    ss_block_localize(lu, f);
    NAME(add_entries)(lu, f, F, stride);
    for (int c = 0, child = f - 1; c < front->children; c++) {
        *top -= (size_t)lu->tree.front[child].height * (size_t)lu->tree.front[child].height;
        if (!NAME(add_left)(lu, child, *top, F, stride, work)) {
            return false;
        }
        child -= lu->tree.front[child].subtree;
    }
    REAL *out = (REAL *)lu->factor + lu->factor_at[f];
    for (int p = 0; p < front->width; p += SS_PANEL) {
        const int b = front->width - p < SS_PANEL ? front->width - p : SS_PANEL;
        const int behind = size - p - b;
        if (!NAME(eliminate)(lu, p, b, size, F, stride, out, work)) {
            return false;
        }
        out += ss_panel_numbers(b, behind);
    }
    const REAL *left = F + (size_t)front->width * (stride + 1);
    *top += m * m;
    return NAME(leave)(lu, m, left, stride, *top - m * m, work);
}

static bool NAME(factor)(ss_block_lu *lu)
{
    REAL *top = lu->stack;
    double work = 0.0;
    lu->negative = false;
    for (int f = 0; f < lu->tree.nfronts; f++) {
        if (!NAME(factor_front)(lu, f, &top, &work)) {
            return false;
        }
    }
    return true;
}

// ---- The solution

// The numbers of a front's nodes, its own and those below, to or from x.
static inline int NAME(gather)(const ss_block_lu *lu, const ss_block_front *front, const double *x,
                               REAL *v)
{
    const ss_block_tree *t = &lu->tree;
    int at = 0;
    for (int k = front->node; k < front[1].node; k++) {
        for (int j = 0; j < t->room[k]; j++) {
            v[at++] = (REAL)x[t->first[k] + (size_t)j];
        }
    }
    for (int s = front->below; s < front[1].below; s++) {
        const int k = t->row[s];
        for (int j = 0; j < t->room[k]; j++) {
            v[at++] = (REAL)x[t->first[k] + (size_t)j];
        }
    }
    memset(v + at, 0, SS_STRIP * sizeof *v);
    return at;
}

static inline int NAME(scatter_own)(const ss_block_lu *lu, const ss_block_front *front,
                                    const REAL *v, double *x)
{
    const ss_block_tree *t = &lu->tree;
    int at = 0;
    for (int k = front->node; k < front[1].node; k++) {
        for (int j = 0; j < t->room[k]; j++) {
            x[t->first[k] + (size_t)j] = (double)v[at++];
        }
    }
    return at;
}

static inline void NAME(scatter_below)(const ss_block_lu *lu, const ss_block_front *front,
                                       const REAL *v, double *x)
{
    const ss_block_tree *t = &lu->tree;
    for (int s = front->below; s < front[1].below; s++) {
        const int k = t->row[s];
        for (int j = 0; j < t->room[k]; j++) {
            x[t->first[k] + (size_t)j] = (double)*v++;
        }
    }
}

// y -= A v, A by tiles.
static inline TARGET void NAME(subtract_tiles)(int tiles, int b, const REAL *A, const REAL *v,
                                               REAL *y)
{
    for (int t = 0; t < tiles; t++, y += SS_TILE) {
        NAME(eight) sum = *(const NAME(eight) *)y;
        for (int k = 0; k < b; k++, A += SS_TILE) {
            sum -= v[k] * *(const NAME(eight) *)A;
        }
        *(NAME(eight) *)y = sum;
    }
}

// y -= A v, A by strips.
static inline TARGET void NAME(subtract_strips)(int strips, int b, const REAL *A, const REAL *v,
                                                REAL *y)
{
    NAME(lanes) sum[SS_PANEL];
    memset(sum, 0, sizeof sum);
    for (int s = 0; s < strips; s++) {
        for (int k = 0; k < b; k++, A += WIDE) {
            for (int j = 0; j < VECTORS; j++) {
                sum[k] = LESS(*(const NAME(lanes) *)(A + j * LANES),
                              *(const NAME(lanes) *)(v + s * WIDE + j * LANES), sum[k]);
            }
        }
    }
    for (int k = 0; k < b; k++) {
        REAL total = (REAL)0.0;
        for (int j = 0; j < LANES; j++) {
            total += sum[k][j];
        }
        y[k] += total;
    }
}

static TARGET void NAME(forward)(const ss_block_lu *lu, int f, double *x)
{
    const ss_block_front *front = &lu->tree.front[f];
    REAL *v = lu->vector;
    const int size = NAME(gather)(lu, front, x, v);
    const REAL *in = (const REAL *)lu->factor + lu->factor_at[f];
    for (int p = 0; p < front->width; p += SS_PANEL) {
        const int b = front->width - p < SS_PANEL ? front->width - p : SS_PANEL;
        const int behind = size - p - b;
        const REAL *L = in + (size_t)ss_rounded(b, SS_TILE) * (size_t)b;
        NAME(subtract_tiles)((behind + SS_TILE - 1) / SS_TILE, b, L, v + p, v + p + b);
        in += ss_panel_numbers(b, behind);
    }
    NAME(scatter_below)(lu, front, v + NAME(scatter_own)(lu, front, v, x), x);
}

static TARGET void NAME(backward)(const ss_block_lu *lu, int f, double *x)
{
    const ss_block_front *front = &lu->tree.front[f];
    REAL *v = lu->vector;
    const int size = NAME(gather)(lu, front, x, v);
    const REAL *in = (const REAL *)lu->factor + lu->factor_at[f + 1];
    for (int p = (front->width - 1) / SS_PANEL * SS_PANEL; p >= 0; p -= SS_PANEL) {
        const int b = front->width - p < SS_PANEL ? front->width - p : SS_PANEL;
        const int behind = size - p - b;
        in -= ss_panel_numbers(b, behind);
        const size_t rows = (size_t)(ss_rounded(b, SS_TILE) + ss_rounded(behind, SS_TILE));
        NAME(subtract_strips)
        ((behind + WIDE - 1) / WIDE, b, in + rows * (size_t)b, v + p + b, v + p);
        REAL own[SS_PANEL + SS_TILE] = {0};
        NAME(subtract_tiles)((b + SS_TILE - 1) / SS_TILE, b, in, v + p, own);
        memcpy(v + p, own, (size_t)b * sizeof *v);
    }
    NAME(scatter_own)(lu, front, v, x);
}

static void NAME(solve)(const ss_block_lu *lu, double *x)
{
    for (int f = 0; f < lu->tree.nfronts; f++) {
        NAME(forward)(lu, f, x);
    }
    for (int f = lu->tree.nfronts - 1; f >= 0; f--) {
        NAME(backward)(lu, f, x);
    }
}

#undef WIDE
#undef REAL
#undef LANES
#undef LEAST
#undef NAME
