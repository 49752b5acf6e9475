// solvers/linear/block_solution.h -- a part of the template block_numeric.h: a solution with the factor
// (internal).

// The numbers of a front's own nodes, from x and to it. How many they are.
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

// And those of the nodes below it.
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
    memset(v + at, 0, SS_STRIP * sizeof *v);
    return at;
}

// v += what the children of front f have left for its nodes, child by child.
static inline void NAME(gather_left)(const ss_block_lu *lu, int f, int *local, REAL *v)
{
    const ss_block_tree *t = &lu->tree;
    if (t->front[f].children > 0) {
        ss_block_localize(lu, f, local);
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

// It writes the numbers of its own nodes, and leaves for those below what is to be added to theirs.
static TARGET void NAME(forward)(const ss_block_lu *lu, int f, const ss_block_worker *w, double *x)
{
    const ss_block_front *front = &lu->tree.front[f];
    REAL *v = w->vector;
    const size_t height = (size_t)front->height;
    memset(v + NAME(gather_own)(lu, front, x, v), 0, (height + SS_STRIP) * sizeof *v);
    NAME(gather_left)(lu, f, w->local, v);
    const REAL *in = (const REAL *)lu->factor + lu->factor_at[f];
    for (int p = 0; p < front->width; p += SS_PANEL) {
        const int b = front->width - p < SS_PANEL ? front->width - p : SS_PANEL;
        const int behind = front->width + front->height - p - b;
        const REAL *L = in + (size_t)ss_rounded(b, SS_TILE) * (size_t)b;
        NAME(subtract_tiles)((behind + SS_TILE - 1) / SS_TILE, b, L, v + p, v + p + b);
        in += ss_panel_numbers(b, behind);
    }
    NAME(scatter_own)(lu, front, v, x);
    memcpy((REAL *)lu->left + lu->left_at[f], v + front->width, height * sizeof *v);
}

// It writes the numbers of its own nodes alone.
static TARGET void NAME(backward)(const ss_block_lu *lu, int f, REAL *v, double *x)
{
    const ss_block_front *front = &lu->tree.front[f];
    const int size = NAME(gather_all)(lu, front, x, v);
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

typedef struct NAME(answer) {
    const ss_block_lu *lu;
    double *x;
} NAME(answer);

static void NAME(forward_part)(void *of, int item, int thread)
{
    const NAME(answer) *a = of;
    const ss_block_part *part = &a->lu->part[item];
    for (int f = part->first; f < part->end; f++) {
        NAME(forward)(a->lu, f, &a->lu->worker[thread], a->x);
    }
}

static void NAME(backward_part)(void *of, int item, int thread)
{
    const NAME(answer) *a = of;
    const ss_block_part *part = &a->lu->part[item];
    for (int f = part->end - 1; f >= part->first; f--) {
        NAME(backward)(a->lu, f, a->lu->worker[thread].vector, a->x);
    }
}

// Forward first the parts, which threads may share, and then the fronts above them; backward the other way
// round.
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
