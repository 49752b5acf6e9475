// solvers/linear/block_solution.h -- a part of the template block_numeric.h: a solution with the factor
// (internal).

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
    REAL *v = lu->worker[0].vector;
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

// It writes the numbers of its own nodes alone.
static TARGET void NAME(backward)(const ss_block_lu *lu, int f, REAL *v, double *x)
{
    const ss_block_front *front = &lu->tree.front[f];
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

typedef struct NAME(answer) {
    const ss_block_lu *lu;
    double *x;
} NAME(answer);

static void NAME(backward_part)(void *of, int item, int thread)
{
    const NAME(answer) *a = of;
    const ss_block_part *part = &a->lu->part[item];
    for (int f = part->end - 1; f >= part->first; f--) {
        NAME(backward)(a->lu, f, a->lu->worker[thread].vector, a->x);
    }
}

// The fronts forward, in one order whoever they belong to, as they add to what is above them; backward first
// those above the parts, and then the parts, which threads may share.
static void NAME(solve)(const ss_block_lu *lu, double *x)
{
    for (int f = 0; f < lu->tree.nfronts; f++) {
        NAME(forward)(lu, f, x);
    }
    for (int f = lu->tree.nfronts - 1, part = lu->nparts - 1; f >= 0;) {
        if (part >= 0 && f == lu->part[part].end - 1) {
            f = lu->part[part--].first - 1;
        } else {
            NAME(backward)(lu, f--, lu->worker[0].vector, x);
        }
    }
    NAME(answer) a = {lu, x};
    const double numbers = (double)lu->factor_at[lu->tree.nfronts];
    ss_team *team = ss_team_pays(lu->team, NUMBER_NS * numbers) ? lu->team : NULL;
    ss_team_run(team, lu->nparts, NAME(backward_part), &a);
}
