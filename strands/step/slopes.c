// strands/step/slopes.c -- G by differences, and G dv = -g by Gauss' elimination.
#include "strands/step/slopes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "strands/band.h"

// m/s: a difference step has the energy that the strand's mass has at this speed. Its error of the
// order h speed / length is below the change of an iterate that is worth a step.
#define PROBE_SPEED 1e-7

struct ss_slopes {
    ss_world_state at;      // q and v of a probe, in their places among all strands
    double *ahead;          // [nv] likewise
    double *M, *f, *g;      // of the largest strand: band, right-hand side, residual at the iterate
    double *G, *right, *dv; // [nv][nv], [nv], [nv]
    double *unit;           // [nv]
    ss_placed placed;       // of the largest strand
};

// Of all strands whose J changes.
static ss_strand_size largest(const ss_world *w, size_t *band)
{
    ss_strand_size most = {0};
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand_size *z = &w->strands[k].size;
        if (w->strands[k].model->convect == NULL) {
            continue;
        }
        const size_t numbers = (size_t)z->nv * (size_t)(z->half_bandwidth + 1);
        *band = numbers > *band ? numbers : *band;
        most.nv = z->nv > most.nv ? z->nv : most.nv;
        most.npoints = z->npoints > most.npoints ? z->npoints : most.npoints;
        most.nsamples = z->nsamples > most.nsamples ? z->nsamples : most.nsamples;
        most.width = z->width > most.width ? z->width : most.width;
    }
    return most;
}

ss_slopes *ss_slopes_new(const ss_world *w)
{
    size_t band = 0;
    const ss_strand_size most = largest(w, &band);
    const size_t n = (size_t)most.nv;
    ss_slopes *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return NULL;
    }
    const bool state = ss_world_state_init(&s->at, w), placed = ss_placed_init(&s->placed, &most);
    s->ahead = calloc((size_t)w->nv + 1, sizeof *s->ahead);
    s->M = malloc((band + n * n + 5 * n + 1) * sizeof *s->M);
    if (!state || !placed || s->ahead == NULL || s->M == NULL) {
        ss_slopes_free(s);
        return NULL;
    }
    s->G = s->M + band;
    s->f = s->G + n * n;
    s->g = s->f + n;
    s->right = s->g + n;
    s->dv = s->right + n;
    s->unit = s->dv + n;
    return s;
}

void ss_slopes_free(ss_slopes *s)
{
    if (s != NULL) {
        ss_world_state_free(&s->at);
        ss_placed_free(&s->placed);
        free(s->ahead);
        free(s->M);
        free(s);
    }
}

// The same by the model's own residual, which takes linear time (model.h): rs = M0 vdot - F + C v, hence
// g = h share rs - h known with vdot = (v - past)/(h share).
static void own_residual(ss_slopes *s, const ss_world *w, int k, const ss_iterate *it,
                         const ss_surroundings *around, double *g)
{
    const ss_strand *strand = &w->strands[k];
    const double *q = s->at.q + strand->q, *v = s->at.v + strand->v, weight = it->h * it->share;
    for (int j = 0; j < strand->size.nv; j++) {
        s->f[j] = (v[j] - it->past[strand->v + j]) / weight;
    }
    strand->model->residual(strand->self, around, q, v, s->f, g);
    for (int j = 0; j < strand->size.nv; j++) {
        g[j] *= weight;
        g[j] -= it->known != NULL ? it->h * it->known[strand->v + j] : 0.0;
    }
}

// g [nv] of strand k at the probe. False where the model has no K of that kind.
static bool residual(ss_slopes *s, const ss_world *w, int k, const ss_iterate *it,
                     const ss_systems *systems, double *g)
{
    const ss_strand *strand = &w->strands[k];
    const size_t n = (size_t)strand->size.nv;
    ss_band M = {strand->size.nv, strand->size.half_bandwidth, s->M};
    ss_iterate probe = *it;
    probe.at = &s->at;
    probe.ahead = s->ahead;
    ss_strand_place(w, k, &s->at, &s->placed);
    if (!ss_strand_system(w, k, &probe, &s->placed, systems->rooms[0].scratch, &M, s->f)) {
        return false;
    }
    memset(g, 0, n * sizeof *g);
    ss_band_add_product(&M, s->at.v + strand->v, g);
    for (size_t j = 0; j < n; j++) {
        g[j] -= s->f[j];
    }
    return true;
}

// The probe is the iterate, moved by `step` in dof j.
static void put_probe(ss_slopes *s, const ss_strand *strand, const ss_iterate *it, int j,
                      double step)
{
    const size_t n = (size_t)strand->size.nv;
    const double *q = it->at->q + strand->q;
    s->at.time = it->at->time;
    memcpy(s->at.v + strand->v, it->at->v + strand->v, n * sizeof(double));
    memcpy(s->ahead + strand->v, it->ahead + strand->v, n * sizeof(double));
    memset(s->unit, 0, n * sizeof *s->unit);
    s->unit[j] = it->way * step;
    strand->model->advance(strand->self, q, s->unit, it->h, s->at.q + strand->q);
    s->at.v[strand->v + j] += step;
    s->ahead[strand->v + j] += it->way * step;
}

// x with A x = b, n equations, by elimination with pivots; A and b are used up. False where A is
// singular to working precision.
static bool solve_dense(int n, double *A, double *b, double *x)
{
    for (int c = 0; c < n; c++) {
        int pivot = c;
        for (int i = c + 1; i < n; i++) {
            pivot = fabs(A[i * n + c]) > fabs(A[pivot * n + c]) ? i : pivot;
        }
        if (!(fabs(A[pivot * n + c]) > 1e-12)) {
            return false;
        }
        for (int j = c; j < n; j++) {
            const double swapped = A[c * n + j];
            A[c * n + j] = A[pivot * n + j];
            A[pivot * n + j] = swapped;
        }
        const double swapped = b[c];
        b[c] = b[pivot];
        b[pivot] = swapped;
        for (int i = c + 1; i < n; i++) {
            const double share = A[i * n + c] / A[c * n + c];
            for (int j = c; j < n; j++) {
                A[i * n + j] -= share * A[c * n + j];
            }
            b[i] -= share * b[c];
        }
    }
    for (int i = n - 1; i >= 0; i--) {
        double sum = b[i];
        for (int j = i + 1; j < n; j++) {
            sum -= A[i * n + j] * x[j];
        }
        x[i] = sum / A[i * n + i];
    }
    return true;
}

static double mass_of(const ss_world *w, const ss_strand *strand)
{
    double mass = 0.0;
    for (int p = 0; p < strand->size.nsamples; p++) {
        mass += w->mass[strand->sample + p];
    }
    return mass;
}

// What is differenced at the probe.
static bool probe_residual(ss_slopes *s, const ss_world *w, int k, const ss_iterate *it,
                           const ss_systems *systems, const ss_surroundings *around, double *g)
{
    if (w->strands[k].model->residual == NULL || w->strands[k].posing != NULL) {
        return residual(s, w, k, it, systems, g);
    }
    own_residual(s, w, k, it, around, g);
    return true;
}

// G in units in which the diagonal of M is 1.
static bool measure(ss_slopes *s, const ss_world *w, int k, const ss_iterate *it,
                    const ss_systems *systems)
{
    const ss_strand *strand = &w->strands[k];
    const int n = systems->M[k].n, *dof = systems->free + strand->v;
    const double *D = systems->D + strand->v, probe = PROBE_SPEED * sqrt(mass_of(w, strand));
    const ss_surroundings around = ss_strand_surroundings(w, k, it->at->time);
    double *base = s->dv;
    put_probe(s, strand, it, 0, 0.0);
    bool known = probe_residual(s, w, k, it, systems, &around, base);
    for (int j = 0; j < n && known; j++) {
        put_probe(s, strand, it, dof[j], probe * D[j]);
        known = probe_residual(s, w, k, it, systems, &around, s->right);
        for (int i = 0; i < n && known; i++) {
            s->G[i * n + j] = D[i] * (s->right[dof[i]] - base[dof[i]]) / probe;
        }
    }
    return known;
}

void ss_slopes_step(ss_slopes *s, const ss_world *w, int k, const ss_iterate *it,
                    const ss_systems *systems, double *v)
{
    const ss_strand *strand = &w->strands[k];
    const int n = systems->M[k].n, *dof = systems->free + strand->v;
    const double *D = systems->D + strand->v;
    ss_iterate about = *it;
    about.kind = systems->kinds[k];
    put_probe(s, strand, it, 0, 0.0);
    const bool known =
        residual(s, w, k, &about, systems, s->g) && measure(s, w, k, &about, systems);
    for (int i = 0; i < n; i++) {
        s->right[i] = -D[i] * s->g[dof[i]];
    }
    if (known && solve_dense(n, s->G, s->right, s->dv)) {
        for (int i = 0; i < n; i++) {
            v[dof[i]] = it->at->v[strand->v + dof[i]] + D[i] * s->dv[i];
        }
    }
}
