#include "tests/support/resting.h"

#include <stdlib.h>
#include <string.h>

#include "strands/band.h"
#include "tests/support/support.h"

#define MOST_STEPS 500
// Steps of less than this share of the strand's length are rounding.
#define SMALL 1e-11

double weighed_energy(one_strand *s, ss_vec3 gravity, const double *q)
{
    const ss_pose root = ss_pose_identity();
    double sum = s->model->energy(s->self, q);
    place_strand(s, &root, q);
    for (int p = 0; p < s->size.nsamples; p++) {
        sum -= s->mass[p] * ss_dot(gravity, s->samples[p].x);
    }
    return sum;
}

void weighed_force(one_strand *s, ss_vec3 gravity, const double *q, double *F)
{
    const ss_pose root = ss_pose_identity();
    memset(F, 0, (size_t)s->size.nv * sizeof *F);
    place_strand(s, &root, q);
    s->model->force(s->self, q, s->rest, F);
    for (int p = 0; p < s->size.nsamples; p++) {
        add_load(&s->samples[p], ss_scaled(s->mass[p], gravity), F);
    }
    for (int k = 0; k < s->size.nheld; k++) {
        F[s->size.held[k]] = 0.0;
    }
}

void free_stiffness(const one_strand *s, const double *q, ss_band *K)
{
    ss_band_clear(K);
    CHECK(s->model->stiffness(s->self, q, SS_STIFFNESS_EXACT, 1.0, K));
    for (int k = 0; k < s->size.nheld; k++) {
        const int j = s->size.held[k];
        for (int i = 0; i < K->n; i++) {
            const int low = i < j ? i : j, high = i < j ? j : i;
            if (high - low <= K->half) {
                *ss_band_at(K, high, low) = i == j ? 1.0 : 0.0;
            }
        }
    }
}

// The step for K + shift diag(K), the least shift from *shift on for which that has a factor.
static void find_step(const one_strand *s, const double *q, const double *F, double *shift,
                      double *v)
{
    ss_band K = new_band(s), L = new_band(s);
    double *D = calloc((size_t)s->size.nv, sizeof *D);
    free_stiffness(s, q, &K);
    for (bool definite = false; !definite; *shift = fmax(1e-9, 10.0 * *shift)) {
        CHECK_LE(*shift, 1e6);
        memcpy(L.x, K.x, (size_t)(K.n * (K.half + 1)) * sizeof *L.x);
        for (int k = 0; k < K.n; k++) {
            *ss_band_at(&L, k, k) += *shift * fabs(*ss_band_at(&K, k, k));
        }
        definite = ss_band_factor(&L, D);
        if (definite) {
            memcpy(v, F, (size_t)K.n * sizeof *v);
            ss_band_solve(&L, D, v);
            break;
        }
    }
    free(K.x);
    free(L.x);
    free(D);
}

static double step_size(const double *size, const double *v, int count)
{
    double most = 0.0;
    for (int k = 0; k < count; k++) {
        most = fmax(most, fabs(v[k]) / size[k]);
    }
    return most;
}

int rest_strand(one_strand *s, ss_vec3 gravity)
{
    const size_t nv = (size_t)s->size.nv;
    double *F = calloc(3 * nv + (size_t)s->size.nq, sizeof *F), *v = F + nv, *sizes = v + nv;
    double *moved = sizes + nv, shift = 0.0, size = INFINITY;
    const int count = s->size.nv;
    int steps = 0;
    for (int k = 0; k < count; k++) {
        sizes[k] = dof_size(s, k);
    }
    for (; size > SMALL; steps++) {
        CHECK_LE(steps, MOST_STEPS);
        const double E = weighed_energy(s, gravity, s->q);
        weighed_force(s, gravity, s->q, F);
        find_step(s, s->q, F, &shift, v);
        double share = fmin(1.0, 0.1 / step_size(sizes, v, count)), down = 0.0;
        for (size_t k = 0; k < nv; k++) {
            down += F[k] * v[k];
        }
        s->model->advance(s->self, s->q, v, share, moved);
        while (!(weighed_energy(s, gravity, moved) <= E - 1e-4 * share * down + 1e-13 * fabs(E)) &&
               share > 1e-8) {
            share *= 0.5;
            s->model->advance(s->self, s->q, v, share, moved);
        }
        size = share * step_size(sizes, v, count);
        memcpy(s->q, moved, (size_t)s->size.nq * sizeof *moved);
        shift = shift <= 1e-9 ? 0.0 : 0.1 * shift;
    }
    free(F);
    return steps;
}

void hang_strand(one_strand *s, ss_vec3 gravity, int doublings)
{
    for (int k = doublings; k >= 0; k--) {
        rest_strand(s, ss_scaled(ldexp(1.0, -k), gravity));
    }
}
