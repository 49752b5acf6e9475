// Which fronts the threads of a team take by themselves, and which they go through together. Costs are in
// multiplications, of which a thread does some 1e5 in a microsecond.
#include <math.h>
#include <stdlib.h>

#include "solvers/linear/block_front.h"

#define ROUND  2e5 // a round of a team: that it begins, and that all wait for the last
#define WAKING 5e6 // of a thread that sleeps

static double together(const ss_block_front *front, int threads)
{
    const double cost = ss_block_front_cost(front->width, front->height);
    const double serial = ss_block_front_inverting(front->width);
    const int rounds = 1 + (front->width + SS_PANEL - 1) / SS_PANEL;
    return serial + (cost - serial) / threads + ROUND * rounds;
}

bool ss_block_together(const ss_block_lu *lu, int f)
{
    const ss_block_front *front = &lu->tree.front[f];
    return together(front, lu->nworkers) < ss_block_front_cost(front->width, front->height);
}

// While the parts are chosen.
typedef struct sharing {
    ss_block_lu *lu;
    double *sum; // [nfronts + 1] cost of the fronts before each
    int *root;   // [nfronts] of the largest subtrees that are small enough, ascending
    int nroots;
    double *busy; // [nworkers] scratch
} sharing;

static double cost_between(const sharing *s, int first, int end)
{
    return s->sum[end] - s->sum[first];
}

// The largest subtrees that cost at most `most`; what is above them costs so much.
static double find_roots(sharing *s, double most)
{
    const ss_block_tree *t = &s->lu->tree;
    double above = 0.0;
    int count = 0;
    for (int f = t->nfronts - 1; f >= 0;) {
        const int first = f + 1 - t->front[f].subtree;
        if (cost_between(s, first, f + 1) <= most) {
            s->root[count++] = f;
            f = first - 1;
        } else {
            const double alone = cost_between(s, f, f + 1);
            above += fmin(alone, together(&t->front[f], s->lu->nworkers));
            f--;
        }
    }
    for (int k = 0; k < count / 2; k++) {
        const int root = s->root[k];
        s->root[k] = s->root[count - 1 - k];
        s->root[count - 1 - k] = root;
    }
    s->nroots = count;
    return above;
}

// Neighbours are one part while they are small together.
static void join_roots(const sharing *s, double most)
{
    ss_block_lu *lu = s->lu;
    lu->nparts = 0;
    for (int k = 0; k < s->nroots; k++) {
        const int end = s->root[k] + 1, first = end - lu->tree.front[s->root[k]].subtree;
        ss_block_part *last = &lu->part[lu->nparts - (lu->nparts > 0)];
        if (lu->nparts > 0 && last->end == first && cost_between(s, last->first, end) <= most) {
            last->end = end;
        } else {
            lu->part[lu->nparts++] = (ss_block_part){first, end};
        }
    }
}

// How long the parts take, each begun by the first who has time.
static double time_of_parts(const sharing *s)
{
    const int workers = s->lu->nworkers;
    double longest = 0.0;
    for (int k = 0; k < workers; k++) {
        s->busy[k] = 0.0;
    }
    for (int k = 0; k < s->lu->nparts; k++) {
        int first = 0;
        for (int j = 1; j < workers; j++) {
            first = s->busy[j] < s->busy[first] ? j : first;
        }
        s->busy[first] += cost_between(s, s->lu->part[k].first, s->lu->part[k].end);
        longest = fmax(longest, s->busy[first]);
    }
    return longest;
}

static double try_parts(sharing *s, double most)
{
    const double above = find_roots(s, most);
    join_roots(s, most);
    return above + time_of_parts(s) + ROUND;
}

// Small parts are shared evenly, and large ones leave less above them: the best of some sizes.
static void choose_parts(sharing *s)
{
    static const double EACH[] = {1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0};
    ss_block_lu *lu = s->lu;
    const double all = s->sum[lu->tree.nfronts], share = all / lu->nworkers;
    double best = all - WAKING, most = 0.0;
    for (size_t k = 0; k < sizeof EACH / sizeof *EACH; k++) {
        const double time = try_parts(s, share / EACH[k]);
        if (time < best) {
            best = time;
            most = share / EACH[k];
        }
    }
    if (!(most > 0.0)) {
        lu->nparts = 0;
        return;
    }
    try_parts(s, most);
    for (int k = 0; k < s->nroots; k++) {
        const size_t m = (size_t)lu->tree.front[s->root[k]].height;
        lu->kept_at[s->root[k]] = lu->most_kept;
        lu->most_kept += m * m;
    }
}

bool ss_block_share(ss_block_lu *lu)
{
    const size_t n = (size_t)lu->tree.nfronts;
    sharing s = {.lu = lu,
                 .sum = malloc((n + 1) * sizeof *s.sum),
                 .root = malloc((n + 1) * sizeof *s.root),
                 .busy = malloc((size_t)lu->nworkers * sizeof *s.busy)};
    lu->part = malloc((n + 1) * sizeof *lu->part);
    lu->kept_at = malloc((n + 1) * sizeof *lu->kept_at);
    const bool ok = s.sum != NULL && s.root != NULL && s.busy != NULL && lu->part != NULL &&
                    lu->kept_at != NULL;
    if (ok) {
        s.sum[0] = 0.0;
        for (size_t f = 0; f < n; f++) {
            const ss_block_front *front = &lu->tree.front[f];
            s.sum[f + 1] = s.sum[f] + ss_block_front_cost(front->width, front->height);
            lu->kept_at[f] = SS_NOT_KEPT;
        }
        choose_parts(&s);
    }
    free(s.sum);
    free(s.root);
    free(s.busy);
    return ok;
}
