#include "solvers/sweep/block_problem.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "problems/matrix/sparse_ends.h"

// Entries of W_AA; those of one place are added up. Two walks over the rows: the first, without
// room, counts the blocks, the second writes them.
typedef struct block_entries {
    int dim;
    size_t blocks;
    int *row, *col; // NULL in the first walk
    double *x;
} block_entries;

static void write_block(block_entries *entries, int i, int j, const double *W)
{
    const int d = entries->dim;
    size_t at = entries->blocks * (size_t)(d * d);
    for (int k = 0; k < d; k++) {
        for (int l = 0; l < d; l++, at++) {
            entries->row[at] = d * i + k;
            entries->col[at] = d * j + l;
            entries->x[at] = W[k * d + l];
        }
    }
}

static void walk_explicit_row(block_entries *entries, const ss_coupling *c, int i, const int *place)
{
    const size_t block = (size_t)(c->dim * c->dim);
    for (size_t k = c->W.start[i]; k < c->W.start[i + 1]; k++) {
        const int j = c->W.col[k];
        if (place[j] < 0) {
            continue;
        }
        if (entries->x != NULL) {
            write_block(entries, place[i], place[j], c->W.x + k * block);
        }
        entries->blocks++;
    }
}

// G_i G_j' of two ends on one body.
static void block_problem_multiply_ends(const double *Gi, const double *Gj, int dim, int room,
                                        double *W)
{
    for (int k = 0; k < dim; k++) {
        for (int l = 0; l < dim; l++) {
            double sum = 0.0;
            for (int m = 0; m < room; m++) {
                sum += Gi[k * room + m] * Gj[l * room + m];
            }
            W[k * dim + l] = sum;
        }
    }
}

static void walk_matrix_free_row(block_entries *entries, const ss_coupling *c, int i,
                                 const int *place)
{
    const ss_whitened *white = c->white;
    for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
        const int body = white->end_body[s];
        for (int k = white->body_end_start[body]; k < white->body_end_start[body + 1]; k++) {
            const int j = white->body_end_contact[k];
            if (place[j] < 0) {
                continue;
            }
            if (entries->x != NULL) {
                double W[9];
                if (white->sparse != NULL) {
                    ss_sparse_ends_block(white, s, white->body_end[k], W);
                    write_block(entries, place[i], place[j], W);
                    entries->blocks++;
                    continue;
                }
                block_problem_multiply_ends(white->G + white->end_G[s],
                                            white->G + white->end_G[white->body_end[k]], c->dim,
                                            ss_whitened_room(white, body), W);
                write_block(entries, place[i], place[j], W);
            }
            entries->blocks++;
        }
    }
}

static void walk(block_entries *entries, const ss_coupling *c, int k, const int *member, int *place)
{
    entries->blocks = 0;
    for (int m = 0; m < k; m++) {
        place[member[m]] = m;
    }
    for (int m = 0; m < k; m++) {
        if (c->is_explicit) {
            walk_explicit_row(entries, c, member[m], place);
        } else {
            walk_matrix_free_row(entries, c, member[m], place);
        }
    }
    for (int m = 0; m < k; m++) {
        place[member[m]] = -1;
    }
}

// Pairs of ends of members on one body: the next one adds itself and twice those before it.
static double count_pairs(const ss_whitened *white, int k, const int *member, int *place)
{
    double pairs = 0.0;
    for (int m = 0; m < k; m++) {
        for (int s = white->end_start[member[m]]; s < white->end_start[member[m] + 1]; s++) {
            const int before = ++place[white->end_body[s]]; // from -1
            pairs += 1.0 + 2.0 * before;
        }
    }
    for (int m = 0; m < k; m++) {
        for (int s = white->end_start[member[m]]; s < white->end_start[member[m] + 1]; s++) {
            place[white->end_body[s]] = -1;
        }
    }
    return pairs;
}

double ss_block_problem_blocks(const ss_coupling *c, int k, const int *member, int *place)
{
    if (!c->is_explicit) {
        return count_pairs(c->white, k, member, place);
    }
    block_entries entries = {.dim = c->dim};
    walk(&entries, c, k, member, place);
    return (double)entries.blocks;
}

// b = u - W r, in the order of the block.
static void block_problem_find_velocities(const ss_coupling *c, int k, const int *member,
                                          const ss_problem *p)
{
    const int d = c->dim;
    for (int a = 0; a < k; a++) {
        double u[3];
        ss_coupling_velocity(c, member[a], u);
        memcpy(p->b + d * a, u, (size_t)d * sizeof *u);
    }
    for (int col = 0; col < d * k; col++) {
        const double r = c->r[4 * (size_t)member[col / d] + (size_t)(col % d)];
        for (int e = p->W.start[col]; e < p->W.start[col + 1]; e++) {
            p->b[p->W.row[e]] -= p->W.x[e] * r;
        }
    }
}

// False without memory, and for more entries than an int counts.
static bool find_matrix(const ss_coupling *c, int k, const int *member, int *place, ss_problem *p)
{
    block_entries entries = {.dim = c->dim};
    walk(&entries, c, k, member, place);
    const size_t count = entries.blocks * (size_t)(c->dim * c->dim);
    entries.row = malloc(count * sizeof *entries.row);
    entries.col = malloc(count * sizeof *entries.col);
    entries.x = malloc(count * sizeof *entries.x);
    bool ok = entries.row != NULL && entries.col != NULL && entries.x != NULL && count <= INT_MAX;
    if (ok) {
        walk(&entries, c, k, member, place);
        ss_error ignored;
        ok = ss_sparse_from_triplets(&p->W, c->dim * k, c->dim * k, (int)count, entries.row,
                                     entries.col, entries.x, &ignored) == SS_OK;
    }
    free(entries.row);
    free(entries.col);
    free(entries.x);
    return ok;
}

ss_problem *ss_block_problem_new(const ss_coupling *c, int k, const int *member, int *place)
{
    ss_problem *p = ss_problem_new();
    if (p == NULL) {
        return NULL;
    }
    p->form = SS_LOCAL;
    p->dim = c->dim;
    p->ncontacts = k;
    p->mu = malloc((size_t)k * sizeof *p->mu);
    p->b = malloc((size_t)(c->dim * k) * sizeof *p->b);
    if (p->mu == NULL || p->b == NULL || !find_matrix(c, k, member, place, p)) {
        ss_problem_free(p);
        return NULL;
    }
    for (int m = 0; m < k; m++) {
        p->mu[m] = c->mu[member[m]];
    }
    block_problem_find_velocities(c, k, member, p);
    return p;
}
