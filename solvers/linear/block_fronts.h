// solvers/linear/block_fronts.h -- a part of the template block_numeric.h: the factorisation, front by
// front (internal).

// Whether more may be done: the answer of the last time holds while little has been.
static inline bool NAME(may_go_on)(const ss_block_lu *lu, ss_block_worker *w, double more)
{
    w->work += more;
    if (w->work < ASK_EVERY) {
        return true;
    }
    w->work = 0.0;
    return !ss_stop_asked(lu->stop);
}

// ---- Making a front: rows from .. end - 1 of it

static TARGET void NAME(add_entries)(const ss_block_lu *lu, int f, int first, int end, REAL *F,
                                     size_t stride)
{
    for (int e = lu->first_entry[f]; e < lu->first_entry[f + 1]; e++) {
        const ss_block_entry *entry = &lu->entry[e];
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

// The nodes below a child as runs of rows that stay together: where from, where to, how many.
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

// What a child has left is added to its parent's front, whose nodes are where `local` says. False where
// it was stopped, as below.
static TARGET bool NAME(add_left)(const ss_block_lu *lu, ss_block_worker *w, const int *local,
                                  int child, const REAL *left, int first, int end, REAL *F,
                                  size_t stride)
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

// A front in the making; or eliminating one panel of it, b columns from `at` on.
typedef struct NAME(job) {
    ss_block_lu *lu;
    int f, size;      // the front, and its rows
    REAL *F;          // it,
    size_t stride;    // from row to row
    const int *local; // where nodes are in it
    REAL *top;        // of the stack: the end of what its children have left there
    int nitems;       // shares of the rows
    int at, b;
    const REAL *X; // [b, wide] -A_bb^-1
    int wide;
    REAL *L, *U; // where the panel goes
    int rows;    // of an item
} NAME(job);

static bool NAME(make_rows)(const NAME(job) * job, ss_block_worker *w, int first, int end)
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
        if (lu->team != NULL && lu->kept_at[child] != SS_NOT_KEPT) {
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
    const int rows = job->size + SS_TILE; // those behind the last are read, too
    const int first = ss_team_cut(rows, item, job->nitems);
    const int end = ss_team_cut(rows, item + 1, job->nitems);
    if (!NAME(make_rows)(job, &job->lu->worker[thread], first, end)) {
        atomic_store(&job->lu->failed, true);
    }
}

// ---- One panel

// Some rows behind the panel: their part of L, and what eliminating the panel does to them.
static TARGET void NAME(eliminate_item)(void *of, int item, int thread)
{
    const NAME(job) *job = of;
    ss_block_lu *lu = job->lu;
    const int b = job->b, behind = job->size - job->at - b, left = behind - item * job->rows;
    const int tiles = ((left < job->rows ? left : job->rows) + SS_TILE - 1) / SS_TILE;
    const int strips = (behind + WIDE - 1) / WIDE;
    const size_t row = (size_t)(item * job->rows);
    REAL *F = job->F + ((size_t)(job->at + b) + row) * job->stride + (size_t)job->at;
    REAL *L = job->L + row * (size_t)b;
    NAME(scale)(tiles, b, F, job->stride, job->X, job->wide, L);
    const double of_strip = (double)(tiles + 1) * SS_TILE * WIDE * b;
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
    const int tiles = ss_rounded(behind, SS_TILE) / SS_TILE, strips = (behind + WIDE - 1) / WIDE;
    const REAL *own = job->F + (size_t)at * job->stride + (size_t)at;
    REAL X[(SS_PANEL + SS_TILE) * SS_PANEL] __attribute__((aligned(64)));
    const int wide = ss_rounded(b, WIDE);
    memset(X, 0, (size_t)(ss_rounded(b, SS_TILE) * wide) * sizeof *X);
    for (int i = 0; i < b; i++) {
        memcpy(X + i * wide, own + (size_t)i * job->stride, (size_t)b * sizeof *X);
    }
    if (!NAME(invert)(b, wide, X, &job->lu->worker[thread].negative)) {
        return false;
    }
    for (int i = 0; i < b * wide; i++) {
        X[i] = -X[i];
    }
    for (int i = 0; i < b; i += SS_TILE, out += SS_TILE * b) {
        NAME(turn)(b, X + i * wide, (size_t)wide, out);
    }
    job->X = X;
    job->wide = wide;
    job->L = out;
    job->U = out + (size_t)tiles * SS_TILE * (size_t)b;
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

// What a front leaves, [m][m], for its parent.
static bool NAME(leave)(const ss_block_lu *lu, ss_block_worker *w, size_t m, const REAL *F,
                        size_t stride, REAL *left)
{
    for (size_t i = 0; i < m; i++) {
        if (!NAME(may_go_on)(lu, w, MOVING * (double)m)) {
            return false;
        }
        memcpy(left + i * m, F + i * stride, m * sizeof *F);
    }
    return true;
}

// The stack without what the children of front f have left there.
static REAL *NAME(below_children)(const ss_block_lu *lu, int f, REAL *top)
{
    for (int c = 0, child = f - 1; c < lu->tree.front[f].children; c++) {
        if (lu->team == NULL || lu->kept_at[child] == SS_NOT_KEPT) {
            top -= (size_t)lu->tree.front[child].height * (size_t)lu->tree.front[child].height;
        }
        child -= lu->tree.front[child].subtree;
    }
    return top;
}

// By the thread of this number, with the team where it is not NULL.
static TARGET bool NAME(factor_front)(ss_block_lu *lu, ss_team *team, int thread, int f, REAL **top)
{
    const ss_block_front *front = &lu->tree.front[f];
    ss_block_worker *w = &lu->worker[thread];
    const int size = front->width + front->height;
    NAME(job) job = {.lu = lu, .f = f, .size = size, .F = w->front, .top = *top};
    job.stride = ss_front_stride(size);
    job.local = w->local;
    job.nitems = team != NULL ? 2 * ss_team_size(team) : 1;
    ss_block_localize(lu, f, w->local);
    NAME(run_items)(team, job.nitems, NAME(make_item), &job, thread);
    REAL *out = (REAL *)lu->factor + lu->factor_at[f];
    for (int p = 0; p < front->width; p += SS_PANEL) {
        job.at = p;
        job.b = front->width - p < SS_PANEL ? front->width - p : SS_PANEL;
        if (atomic_load(&lu->failed) || !NAME(eliminate)(&job, team, thread, out)) {
            return false;
        }
        out += ss_panel_numbers(job.b, size - p - job.b);
    }
    const size_t m = (size_t)front->height;
    REAL *left = *top = NAME(below_children)(lu, f, *top);
    if (lu->team != NULL && lu->kept_at[f] != SS_NOT_KEPT) {
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
        ss_team *team = lu->team != NULL && ss_block_together(lu, f) ? lu->team : NULL;
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
