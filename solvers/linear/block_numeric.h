// solvers/linear/block_numeric.h -- a factorisation of fronts and its solution, for one kind of
// number and of CPU: a template that block_lu.c compiles (internal).
//
// The file that includes it has defined
//
//     REAL                  float or double
//     LANES                 how many of them a vector of the CPU has
//     VECTORS               vectors in a row of a tile of products
//     TARGET                the attribute of functions for this CPU
//     LESS(a, b, c)         c - a b of vectors
//     NAME(x)               x with a suffix of its own
//     LEAST                 pivots below, and above 1 / LEAST, are singular
//
// and what it uses of block_lu.c. It undefines REAL, LANES, NAME and LEAST, so that another may
// follow.
#define WIDE (VECTORS * LANES)

typedef REAL NAME(lanes) __attribute__((vector_size(LANES * sizeof(REAL)), aligned(sizeof(REAL))));
typedef REAL NAME(eight) __attribute__((vector_size(TILE * sizeof(REAL)), aligned(sizeof(REAL))));

// ---- Products of tiles, and the inverse of a panel

// c -= A B of eight rows: A by columns of eight, `inner` of them, the rows of B `stride` apart.
static inline TARGET __attribute__((always_inline)) void
NAME(product)(int inner, const REAL *A, const REAL *B, size_t stride, NAME(lanes) c[TILE][VECTORS])
{
    for (int k = 0; k < inner; k++) {
        NAME(lanes) b[VECTORS];
#pragma GCC unroll 2
        for (int j = 0; j < VECTORS; j++) {
            b[j] = *(const NAME(lanes) *)(B + (size_t)k * stride + (size_t)j * LANES);
        }
#pragma GCC unroll 8
        for (int i = 0; i < TILE; i++) {
            const NAME(lanes) a = A[k * TILE + i] - (NAME(lanes)){0};
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
            const REAL *A = L + (size_t)t * (size_t)inner * TILE;
            REAL *at = C + (size_t)t * TILE * stride + (size_t)s * WIDE;
            const REAL *next = t + 1 < tiles ? at + TILE * stride : C + (size_t)(s + 1) * WIDE;
            NAME(lanes) c[TILE][VECTORS];
#pragma GCC unroll 8
            for (int i = 0; i < TILE; i++) {
#pragma GCC unroll 2
                for (int j = 0; j < VECTORS; j++) {
                    c[i][j] = *(const NAME(lanes) *)(at + (size_t)i * stride + j * LANES);
                }
                __builtin_prefetch(next + (size_t)i * stride);
                __builtin_prefetch(next + (size_t)i * stride + WIDE - 1);
            }
            NAME(product)(inner, A, B, WIDE, c);
#pragma GCC unroll 8
            for (int i = 0; i < TILE; i++) {
#pragma GCC unroll 2
                for (int j = 0; j < VECTORS; j++) {
                    *(NAME(lanes) *)(at + (size_t)i * stride + j * LANES) = c[i][j];
                }
            }
        }
    }
}

// Copies eight rows of F, b columns, by columns.
static inline TARGET void NAME(turn)(int b, const REAL *F, size_t stride, REAL *tile)
{
    for (int k = 0; k < b; k++) {
        for (int i = 0; i < TILE; i++) {
            tile[k * TILE + i] = F[(size_t)i * stride + (size_t)k];
        }
    }
}

// L = F X by tiles; X [b, wide] is -A_bb^-1.
static TARGET void NAME(scale)(int tiles, int b, const REAL *F, size_t stride, const REAL *X,
                               int wide, REAL *L)
{
    REAL in[SS_PANEL * TILE], out[TILE * SS_PANEL];
    for (int t = 0; t < tiles; t++) {
        NAME(turn)(b, F + (size_t)t * TILE * stride, stride, in);
        for (int at = 0; at < b; at += WIDE) {
            NAME(lanes) c[TILE][VECTORS];
            memset(c, 0, sizeof c);
            NAME(product)(b, in, X + at, (size_t)wide, c);
#pragma GCC unroll 8
            for (int i = 0; i < TILE; i++) {
                memcpy(out + i * SS_PANEL + at, c[i], sizeof c[i]);
            }
        }
        NAME(turn)(b, out, SS_PANEL, L + (size_t)t * TILE * (size_t)b);
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

// ---- Whether to go on

// Returns whether `more` multiplications may follow. It asks again only after many of them.
static inline bool NAME(may_go_on)(const ss_block_lu *lu, lu_worker *w, double more)
{
    w->work += more;
    if (w->work < ASK_EVERY) {
        return true;
    }
    w->work = 0.0;
    return !ss_stop_asked(lu->stop);
}

// ---- Making a front: rows first .. end - 1 of it

static TARGET void NAME(add_entries)(const ss_block_lu *lu, int f, int first, int end, REAL *F,
                                     size_t stride)
{
    for (int e = lu->first_entry[f]; e < lu->first_entry[f + 1]; e++) {
        const lu_entry *entry = &lu->entry[e];
        const double *from = lu->values + entry->from;
        const int low = entry->row < first ? first - entry->row : 0;
        const int high = entry->row + entry->rows > end ? end - entry->row : entry->rows;
        for (int i = low; i < high; i++) {
            REAL *to = F + (size_t)(entry->row + i) * stride + (size_t)entry->col;
            for (int j = 0; j < entry->cols; j++) {
                to[j] += (REAL)from[i * entry->cols + j];
            }
        }
    }
}

// Lists the nodes below a child as runs of rows that stay together: where from, where to, how many.
static inline int NAME(list_runs)(const ss_block_lu *lu, int child, const int *local, int *run)
{
    const ss_block_tree *t = &lu->tree;
    int count = 0, at = 0;
    for (int s = t->front[child].below; s < t->front[child + 1].below; s++) {
        const int k = t->row[s], room = t->room[k];
        if (count > 0 && run[3 * count - 2] + run[3 * count - 1] == local[k]) {
            run[3 * count - 1] += room;
        } else {
            run[3 * count] = at;
            run[3 * count + 1] = local[k];
            run[3 * count + 2] = room;
            count++;
        }
        at += room;
    }
    return count;
}

// Adds what a child has left to its parent's front, whose nodes are where `local` says. Returns
// false where it was stopped, as the functions below do.
static TARGET bool NAME(add_left)(const ss_block_lu *lu, lu_worker *w, const int *local, int child,
                                  const REAL *left, int first, int end, REAL *F, size_t stride)
{
    const size_t m = (size_t)lu->tree.front[child].height;
    const int *run = w->run, count = NAME(list_runs)(lu, child, local, w->run);
    for (int a = 0; a < count; a++) {
        const int row = run[3 * a + 1], rows = run[3 * a + 2];
        const int low = row < first ? first - row : 0, high = row + rows > end ? end - row : rows;
        for (int i = low; i < high; i++) {
            if (!NAME(may_go_on)(lu, w, MOVING * (double)m)) {
                return false;
            }
            const REAL *from = left + (size_t)(run[3 * a] + i) * m;
            REAL *to = F + (size_t)(row + i) * stride;
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

// A front in the making, or the elimination of one panel of it, b columns from `at` on.
typedef struct NAME(job) {
    ss_block_lu *lu;
    int f, size;      // number of the front, and of its rows
    REAL *F;          // the front
    size_t stride;    // from row to row of it
    const int *local; // where nodes are in it
    REAL *top;        // top of the stack, where its children's remainders end
    int nitems;       // number of shares of the rows
    int at, b;
    const REAL *X; // [b, wide] -A_bb^-1
    int wide;
    REAL *L, *U; // the panel's place in the factor
    int rows;    // number in an item
} NAME(job);

static bool NAME(make_rows)(const NAME(job) * job, lu_worker *w, int first, int end)
{
    const ss_block_lu *lu = job->lu;
    const ss_block_front *front = &lu->tree.front[job->f];
    for (int i = first; i < end; i++) {
        if (!NAME(may_go_on)(lu, w, MOVING * (double)job->stride)) {
            return false;
        }
        memset(job->F + (size_t)i * job->stride, 0, job->stride * sizeof *job->F);
    }
    NAME(add_entries)(lu, job->f, first, end, job->F, job->stride);
    const REAL *top = job->top;
    for (int c = 0, child = job->f - 1; c < front->children; c++) {
        const size_t m = (size_t)lu->tree.front[child].height;
        const REAL *left = (const REAL *)lu->kept;
        if (lu->team != NULL && lu->kept_at[child] != NOT_KEPT) {
            left += lu->kept_at[child];
        } else {
            top -= m * m;
            left = top;
        }
        if (!NAME(add_left)(lu, w, job->local, child, left, first, end, job->F, job->stride)) {
            return false;
        }
        child -= lu->tree.front[child].subtree;
    }
    return true;
}

static void NAME(make_item)(void *of, int item, int thread)
{
    const NAME(job) *job = of;
    const int rows = job->size + TILE; // kernels read rows behind the last, too
    const int first = ss_team_cut(rows, item, job->nitems);
    const int end = ss_team_cut(rows, item + 1, job->nitems);
    if (!NAME(make_rows)(job, &job->lu->worker[thread], first, end)) {
        atomic_store(&job->lu->failed, true);
    }
}

// ---- One panel

// Computes the part of L of some rows behind the panel, and eliminates the panel from them.
static TARGET void NAME(eliminate_item)(void *of, int item, int thread)
{
    const NAME(job) *job = of;
    ss_block_lu *lu = job->lu;
    const int b = job->b, behind = job->size - job->at - b, left = behind - item * job->rows;
    const int tiles = ((left < job->rows ? left : job->rows) + TILE - 1) / TILE;
    const int strips = (behind + WIDE - 1) / WIDE;
    const size_t row = (size_t)(item * job->rows);
    REAL *F = job->F + ((size_t)(job->at + b) + row) * job->stride + (size_t)job->at;
    REAL *L = job->L + row * (size_t)b;
    NAME(scale)(tiles, b, F, job->stride, job->X, job->wide, L);
    const double of_strip = (double)(tiles + 1) * TILE * WIDE * b;
    const int at_once = (int)(ASK_EVERY / of_strip) + 1;
    for (int s = 0; s < strips; s += at_once) {
        const int some = strips - s < at_once ? strips - s : at_once;
        if (!NAME(may_go_on)(lu, &lu->worker[thread], some * of_strip)) {
            atomic_store(&lu->failed, true);
            return;
        }
        NAME(update)
        (tiles, some, b, L, job->U + (size_t)(s * b) * WIDE, F + b + (size_t)s * WIDE, job->stride);
    }
}

static void NAME(run_items)(ss_team *team, int nitems, ss_team_work *work, NAME(job) * job,
                            int thread)
{
    if (team != NULL) {
        ss_team_run(team, nitems, work, job);
        return;
    }
    for (int item = 0; item < nitems; item++) {
        work(job, item, thread);
    }
}

static TARGET bool NAME(eliminate)(NAME(job) * job, ss_team *team, int thread, REAL *out)
{
    const int at = job->at, b = job->b, behind = job->size - at - b;
    const int tiles = rounded(behind, TILE) / TILE, strips = (behind + WIDE - 1) / WIDE;
    const REAL *own = job->F + (size_t)at * job->stride + (size_t)at;
    REAL X[(SS_PANEL + TILE) * SS_PANEL] __attribute__((aligned(64)));
    const int wide = rounded(b, WIDE);
    memset(X, 0, (size_t)(rounded(b, TILE) * wide) * sizeof *X);
    for (int i = 0; i < b; i++) {
        memcpy(X + i * wide, own + (size_t)i * job->stride, (size_t)b * sizeof *X);
    }
    if (!NAME(invert)(b, wide, X, &job->lu->worker[thread].negative)) {
        return false;
    }
    for (int i = 0; i < b * wide; i++) {
        X[i] = -X[i];
    }
    for (int i = 0; i < b; i += TILE, out += TILE * b) {
        NAME(turn)(b, X + i * wide, (size_t)wide, out);
    }
    job->X = X;
    job->wide = wide;
    job->L = out;
    job->U = out + (size_t)tiles * TILE * (size_t)b;
    for (int s = 0; s < strips; s++) {
        for (int k = 0; k < b; k++) {
            memcpy(job->U + (size_t)(s * b + k) * WIDE,
                   own + (size_t)k * job->stride + (size_t)b + (size_t)s * WIDE,
                   WIDE * sizeof *own);
        }
    }
    job->rows = team == NULL ? behind : shared_rows(behind, ss_team_size(team));
    if (behind > 0) {
        const int nitems = (behind + job->rows - 1) / job->rows;
        NAME(run_items)(team, nitems, NAME(eliminate_item), job, thread);
    }
    return !atomic_load(&job->lu->failed);
}

// ---- A front

// Copies what a front leaves, [m][m], for its parent.
static bool NAME(leave)(const ss_block_lu *lu, lu_worker *w, size_t m, const REAL *F, size_t stride,
                        REAL *left)
{
    for (size_t i = 0; i < m; i++) {
        if (!NAME(may_go_on)(lu, w, MOVING * (double)m)) {
            return false;
        }
        memcpy(left + i * m, F + i * stride, m * sizeof *F);
    }
    return true;
}

// Returns the top of the stack without what the children of front f have left there.
static REAL *NAME(below_children)(const ss_block_lu *lu, int f, REAL *top)
{
    for (int c = 0, child = f - 1; c < lu->tree.front[f].children; c++) {
        if (lu->team == NULL || lu->kept_at[child] == NOT_KEPT) {
            top -= (size_t)lu->tree.front[child].height * (size_t)lu->tree.front[child].height;
        }
        child -= lu->tree.front[child].subtree;
    }
    return top;
}

// Factors front f by the thread of this number, with the team where it is not NULL.
static TARGET bool NAME(factor_front)(ss_block_lu *lu, ss_team *team, int thread, int f, REAL **top)
{
    const ss_block_front *front = &lu->tree.front[f];
    lu_worker *w = &lu->worker[thread];
    const int size = front->width + front->height;
    NAME(job) job = {.lu = lu, .f = f, .size = size, .F = w->front, .top = *top};
    job.stride = front_stride(size);
    job.local = w->local;
    job.nitems = team != NULL ? 2 * ss_team_size(team) : 1;
    localize(lu, f, w->local);
    NAME(run_items)(team, job.nitems, NAME(make_item), &job, thread);
    REAL *out = (REAL *)lu->factor + lu->factor_at[f];
    for (int p = 0; p < front->width; p += SS_PANEL) {
        job.at = p;
        job.b = front->width - p < SS_PANEL ? front->width - p : SS_PANEL;
        if (atomic_load(&lu->failed) || !NAME(eliminate)(&job, team, thread, out)) {
            return false;
        }
        out += panel_numbers(job.b, size - p - job.b);
    }
    const size_t m = (size_t)front->height;
    REAL *left = *top = NAME(below_children)(lu, f, *top);
    if (lu->team != NULL && lu->kept_at[f] != NOT_KEPT) {
        left = (REAL *)lu->kept + lu->kept_at[f];
    } else {
        *top += m * m;
    }
    return NAME(leave)(lu, w, m, job.F + (size_t)front->width * (job.stride + 1), job.stride, left);
}

// ---- All fronts

static void NAME(factor_part)(void *of, int item, int thread)
{
    ss_block_lu *lu = of;
    REAL *top = lu->worker[thread].stack;
    for (int f = lu->part[item].first; f < lu->part[item].end; f++) {
        if (atomic_load(&lu->failed) || !NAME(factor_front)(lu, NULL, thread, f, &top)) {
            atomic_store(&lu->failed, true);
            return;
        }
    }
}

static bool NAME(factor)(ss_block_lu *lu)
{
    for (int k = 0; k < lu->nworkers; k++) {
        lu->worker[k].work = 0.0;
        lu->worker[k].negative = false;
    }
    atomic_store(&lu->failed, false);
    if (lu->team != NULL) {
        ss_team_run(lu->team, lu->nparts, NAME(factor_part), lu);
    }
    REAL *top = lu->worker[0].stack;
    for (int f = 0, part = 0; f < lu->tree.nfronts;) {
        if (part < lu->nparts && f == lu->part[part].first) {
            f = lu->part[part++].end;
            continue;
        }
        ss_team *team = lu->team != NULL && goes_together(lu, f) ? lu->team : NULL;
        if (atomic_load(&lu->failed) || !NAME(factor_front)(lu, team, 0, f++, &top)) {
            return false;
        }
    }
    lu->negative = false;
    for (int k = 0; k < lu->nworkers; k++) {
        lu->negative ^= lu->worker[k].negative;
    }
    return !atomic_load(&lu->failed);
}

// ---- A solution with the factor

// Copies the numbers of a front's own nodes from x, and returns their number; the next copies them
// to x.
static inline int NAME(gather_own)(const ss_block_lu *lu, const ss_block_front *front,
                                   const double *x, REAL *v)
{
    const ss_block_tree *t = &lu->tree;
    int at = 0;
    for (int k = front->node; k < front[1].node; k++) {
        for (int j = 0; j < t->room[k]; j++) {
            v[at++] = (REAL)x[t->first[k] + (size_t)j];
        }
    }
    return at;
}

static inline void NAME(scatter_own)(const ss_block_lu *lu, const ss_block_front *front,
                                     const REAL *v, double *x)
{
    const ss_block_tree *t = &lu->tree;
    int at = 0;
    for (int k = front->node; k < front[1].node; k++) {
        for (int j = 0; j < t->room[k]; j++) {
            x[t->first[k] + (size_t)j] = (double)v[at++];
        }
    }
}

// Copies the numbers of a front's own nodes and of those below it from x, and returns their number.
static inline int NAME(gather_all)(const ss_block_lu *lu, const ss_block_front *front,
                                   const double *x, REAL *v)
{
    const ss_block_tree *t = &lu->tree;
    int at = NAME(gather_own)(lu, front, x, v);
    for (int s = front->below; s < front[1].below; s++) {
        const int k = t->row[s];
        for (int j = 0; j < t->room[k]; j++) {
            v[at++] = (REAL)x[t->first[k] + (size_t)j];
        }
    }
    memset(v + at, 0, STRIP * sizeof *v);
    return at;
}

// Adds to v what the children of front f have left for its nodes, child by child.
static inline void NAME(gather_left)(const ss_block_lu *lu, int f, int *local, REAL *v)
{
    const ss_block_tree *t = &lu->tree;
    if (t->front[f].children > 0) {
        localize(lu, f, local);
    }
    for (int c = 0, child = f - 1; c < t->front[f].children; c++) {
        const REAL *left = (const REAL *)lu->left + lu->left_at[child];
        for (int s = t->front[child].below; s < t->front[child + 1].below; s++) {
            const int room = t->room[t->row[s]];
            REAL *to = v + local[t->row[s]];
            for (int j = 0; j < room; j++) {
                to[j] += left[j];
            }
            left += room;
        }
        child -= t->front[child].subtree;
    }
}

// y -= A v, A by tiles.
static inline TARGET void NAME(subtract_tiles)(int tiles, int b, const REAL *A, const REAL *v,
                                               REAL *y)
{
    for (int t = 0; t < tiles; t++, y += TILE) {
        NAME(eight) sum = *(const NAME(eight) *)y;
        for (int k = 0; k < b; k++, A += TILE) {
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

// Solves with L of a front. It writes the numbers of the front's own nodes, and leaves for those
// below what is to be added to theirs.
static TARGET void NAME(forward)(const ss_block_lu *lu, int f, const lu_worker *w, double *x)
{
    const ss_block_front *front = &lu->tree.front[f];
    REAL *v = w->vector;
    const size_t height = (size_t)front->height;
    memset(v + NAME(gather_own)(lu, front, x, v), 0, (height + STRIP) * sizeof *v);
    NAME(gather_left)(lu, f, w->local, v);
    const REAL *in = (const REAL *)lu->factor + lu->factor_at[f];
    for (int p = 0; p < front->width; p += SS_PANEL) {
        const int b = front->width - p < SS_PANEL ? front->width - p : SS_PANEL;
        const int behind = front->width + front->height - p - b;
        const REAL *L = in + (size_t)rounded(b, TILE) * (size_t)b;
        NAME(subtract_tiles)((behind + TILE - 1) / TILE, b, L, v + p, v + p + b);
        in += panel_numbers(b, behind);
    }
    NAME(scatter_own)(lu, front, v, x);
    memcpy((REAL *)lu->left + lu->left_at[f], v + front->width, height * sizeof *v);
}

// Solves with U of a front. It writes the numbers of the front's own nodes alone.
static TARGET void NAME(backward)(const ss_block_lu *lu, int f, REAL *v, double *x)
{
    const ss_block_front *front = &lu->tree.front[f];
    const int size = NAME(gather_all)(lu, front, x, v);
    const REAL *in = (const REAL *)lu->factor + lu->factor_at[f + 1];
    for (int p = (front->width - 1) / SS_PANEL * SS_PANEL; p >= 0; p -= SS_PANEL) {
        const int b = front->width - p < SS_PANEL ? front->width - p : SS_PANEL;
        const int behind = size - p - b;
        in -= panel_numbers(b, behind);
        const size_t rows = (size_t)(rounded(b, TILE) + rounded(behind, TILE));
        NAME(subtract_strips)
        ((behind + WIDE - 1) / WIDE, b, in + rows * (size_t)b, v + p + b, v + p);
        REAL own[SS_PANEL + TILE] = {0};
        NAME(subtract_tiles)((b + TILE - 1) / TILE, b, in, v + p, own);
        memcpy(v + p, own, (size_t)b * sizeof *v);
    }
    NAME(scatter_own)(lu, front, v, x);
}

typedef struct NAME(answer) {
    const ss_block_lu *lu;
    double *x;
} NAME(answer);

static void NAME(forward_part)(void *of, int item, int thread)
{
    const NAME(answer) *a = of;
    const lu_part *part = &a->lu->part[item];
    for (int f = part->first; f < part->end; f++) {
        NAME(forward)(a->lu, f, &a->lu->worker[thread], a->x);
    }
}

static void NAME(backward_part)(void *of, int item, int thread)
{
    const NAME(answer) *a = of;
    const lu_part *part = &a->lu->part[item];
    for (int f = part->end - 1; f >= part->first; f--) {
        NAME(backward)(a->lu, f, a->lu->worker[thread].vector, a->x);
    }
}

// Solves. Forward the parts come first, which threads may share, and then the fronts above them;
// backward it is the other way round.
static void NAME(solve)(const ss_block_lu *lu, double *x)
{
    const double numbers = (double)lu->factor_at[lu->tree.nfronts];
    ss_team *team = ss_team_pays(lu->team, NUMBER_NS * numbers) ? lu->team : NULL;
    NAME(answer) a = {lu, x};
    ss_team_run(team, lu->nparts, NAME(forward_part), &a);
    for (int f = 0, part = 0; f < lu->tree.nfronts;) {
        if (part < lu->nparts && f == lu->part[part].first) {
            f = lu->part[part++].end;
        } else {
            NAME(forward)(lu, f++, &lu->worker[0], x);
        }
    }
    for (int f = lu->tree.nfronts - 1, part = lu->nparts - 1; f >= 0;) {
        if (part >= 0 && f == lu->part[part].end - 1) {
            f = lu->part[part--].first - 1;
        } else {
            NAME(backward)(lu, f--, lu->worker[0].vector, x);
        }
    }
    ss_team_run(team, lu->nparts, NAME(backward_part), &a);
}

#undef WIDE
#undef REAL
#undef LANES
#undef LEAST
#undef NAME
