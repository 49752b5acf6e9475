#include "solvers/sweep/resting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/matrix/sparse_ends.h"

static double norm(const double *x, int count)
{
    double sum = 0.0;
    for (int k = 0; k < count; k++) {
        sum += x[k] * x[k];
    }
    return sqrt(sum);
}

static bool has_two_ends(const ss_whitened *white)
{
    for (int i = 0; i < white->ncontacts; i++) {
        if (white->end_start[i + 1] - white->end_start[i] > 2) {
            return false;
        }
    }
    return true;
}

// Of end s on a body with `room`: of its first row, and of all.
static void end_norms(const ss_whitened *white, int s, int room, double *normal, double *full)
{
    if (white->sparse != NULL) {
        const double *W = white->sparse->W + 9 * (size_t)s; // G G'
        *normal = sqrt(W[0]);
        *full = sqrt(W[0] + W[4] + W[8]);
        return;
    }
    const double *G = white->G + white->end_G[s];
    *normal = norm(G, room);
    *full = norm(G, white->dim * room);
}

static void take_ends(ss_resting *resting, const ss_whitened *white, const double *mu)
{
    for (int i = 0; i < resting->n; i++) {
        const int begin = white->end_start[i], count = white->end_start[i + 1] - begin;
        ss_resting_norms *g = &resting->norms[i];
        g->L = 2.0 * sqrt(1.0 + mu[i] * mu[i]);
        for (int k = 0; k < 2; k++) {
            const int body = k < count ? white->end_body[begin + k] : resting->nbodies;
            resting->contact[i].body[k] = body;
            resting->contact[i].reach[k] = 0.0;
            g->normal[k] = g->full[k] = 0.0;
            if (k < count) {
                end_norms(white, begin + k, ss_whitened_room(white, body), &g->normal[k],
                          &g->full[k]);
            }
        }
    }
}

ss_status ss_resting_new(const ss_whitened *white, const double *mu, ss_resting **made, ss_error *e)
{
    *made = NULL;
    if (!has_two_ends(white)) {
        return SS_OK;
    }
    ss_resting *resting = calloc(1, sizeof *resting);
    if (resting != NULL) {
        resting->n = white->ncontacts;
        resting->nbodies = white->nbodies;
        resting->contact = malloc(((size_t)resting->n + 1) * sizeof *resting->contact);
        resting->norms = malloc(((size_t)resting->n + 1) * sizeof *resting->norms);
        resting->way = malloc(((size_t)resting->nbodies + 1) * sizeof *resting->way);
    }
    if (resting == NULL || resting->contact == NULL || resting->norms == NULL ||
        resting->way == NULL) {
        ss_resting_free(resting);
        return ss_fail_memory(e, "the rest of the contacts");
    }
    take_ends(resting, white, mu);
    ss_resting_forget(resting);
    *made = resting;
    return SS_OK;
}

void ss_resting_free(ss_resting *resting)
{
    if (resting != NULL) {
        free(resting->contact);
        free(resting->norms);
        free(resting->way);
        free(resting);
    }
}

void ss_resting_forget(ss_resting *resting)
{
    for (int i = 0; i < resting->n; i++) {
        resting->contact[i].residual = INFINITY;
    }
    memset(resting->way, 0, ((size_t)resting->nbodies + 1) * sizeof *resting->way);
}

void ss_resting_leap(ss_resting *resting, const int *body_start, const double *z,
                     const double *z_new, const double *r, const double *r_new)
{
    for (int k = 0; k < resting->nbodies; k++) {
        double sum = 0.0;
        for (int j = body_start[k]; j < body_start[k + 1]; j++) {
            const double d = z_new[j] - z[j];
            sum += d * d;
        }
        resting->way[k] += sqrt(sum);
    }
    for (int i = 0; i < resting->n; i++, r += 4, r_new += 4) {
        if (r[0] != r_new[0] || r[1] != r_new[1] || r[2] != r_new[2]) {
            resting->contact[i].residual = INFINITY;
        }
    }
}
