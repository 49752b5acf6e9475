#include "solvers/global/cluster.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

// Entries of W_AA; those of one place are added up.
typedef struct entries {
    int count, room;
    int *row, *col;
    double *x;
} entries;

static void free_entries(entries *a)
{
    free(a->row);
    free(a->col);
    free(a->x);
}

// Room for `more`; false without memory.
static bool reserve(entries *a, int more)
{
    if (a->count + more <= a->room) {
        return true;
    }
    if (a->count > INT_MAX / 2 - more) {
        return false;
    }
    const size_t room = 2 * (size_t)(a->count + more);
    int *row = realloc(a->row, room * sizeof *row);
    a->row = row != NULL ? row : a->row;
    int *col = realloc(a->col, room * sizeof *col);
    a->col = col != NULL ? col : a->col;
    double *x = realloc(a->x, room * sizeof *x);
    a->x = x != NULL ? x : a->x;
    if (row == NULL || col == NULL || x == NULL) {
        return false;
    }
    a->room = (int)room;
    return true;
}

static bool add_block(entries *a, int dim, int i, int j, const double *W)
{
    if (!reserve(a, dim * dim)) {
        return false;
    }
    for (int k = 0; k < dim; k++) {
        for (int l = 0; l < dim; l++, a->count++) {
            a->row[a->count] = dim * i + k;
            a->col[a->count] = dim * j + l;
            a->x[a->count] = W[k * dim + l];
        }
    }
    return true;
}

static bool add_explicit_row(entries *a, const ss_coupling *c, int i, const int *place)
{
    const int d = c->dim;
    for (size_t k = c->W.start[i]; k < c->W.start[i + 1]; k++) {
        const int j = c->W.col[k];
        if (place[j] >= 0 && !add_block(a, d, place[i], place[j], c->W.x + k * (size_t)(d * d))) {
            return false;
        }
    }
    return true;
}

// G_i G_j' of two ends on one body.
static void multiply_ends(const double *Gi, const double *Gj, int dim, int room, double *W)
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

static bool add_matrix_free_row(entries *a, const ss_coupling *c, int i, const int *place)
{
    const ss_whitened *white = c->white;
    for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
        const int body = white->end_body[s];
        for (int k = white->body_end_start[body]; k < white->body_end_start[body + 1]; k++) {
            const int j = white->body_end_contact[k];
            if (place[j] < 0) {
                continue;
            }
            double W[9];
            multiply_ends(white->G + white->end_G[s], white->G + white->end_G[white->body_end[k]],
                          c->dim, ss_whitened_room(white, body), W);
            if (!add_block(a, c->dim, place[i], place[j], W)) {
                return false;
            }
        }
    }
    return true;
}

// b = u - W r, in the order of the cluster.
static void find_velocities(const ss_coupling *c, int k, const int *member, const ss_problem *p)
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

static bool find_matrix(const ss_coupling *c, int k, const int *member, const int *place,
                        ss_problem *p)
{
    entries a = {0};
    bool ok = true;
    for (int m = 0; m < k && ok; m++) {
        ok = c->is_explicit ? add_explicit_row(&a, c, member[m], place)
                            : add_matrix_free_row(&a, c, member[m], place);
    }
    ss_error ignored;
    ok = ok && ss_sparse_from_triplets(&p->W, c->dim * k, c->dim * k, a.count, a.row, a.col, a.x,
                                       &ignored) == SS_OK;
    free_entries(&a);
    return ok;
}

static void mark(int k, const int *member, int *place)
{
    for (int a = 0; a < k; a++) {
        place[member[a]] = a;
    }
}

static void unmark(int k, const int *member, int *place)
{
    for (int a = 0; a < k; a++) {
        place[member[a]] = -1;
    }
}

static int count_row(const ss_coupling *c, int i, const int *place)
{
    int count = 0;
    if (c->is_explicit) {
        for (size_t k = c->W.start[i]; k < c->W.start[i + 1]; k++) {
            count += place[c->W.col[k]] >= 0;
        }
        return count;
    }
    const ss_whitened *white = c->white;
    for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
        const int body = white->end_body[s];
        for (int k = white->body_end_start[body]; k < white->body_end_start[body + 1]; k++) {
            count += place[white->body_end_contact[k]] >= 0;
        }
    }
    return count;
}

double ss_cluster_blocks(const ss_coupling *c, int k, const int *member, int *place)
{
    double count = 0.0;
    mark(k, member, place);
    for (int a = 0; a < k; a++) {
        count += count_row(c, member[a], place);
    }
    unmark(k, member, place);
    return count;
}

ss_problem *ss_cluster_new(const ss_coupling *c, int k, const int *member, int *place)
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
    bool ok = p->mu != NULL && p->b != NULL;
    mark(k, member, place);
    ok = ok && find_matrix(c, k, member, place, p);
    unmark(k, member, place);
    if (!ok) {
        ss_problem_free(p);
        return NULL;
    }
    for (int a = 0; a < k; a++) {
        p->mu[a] = c->mu[member[a]];
    }
    find_velocities(c, k, member, p);
    return p;
}
