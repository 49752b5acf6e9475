// What a step of Newton's method on one elastic rod costs: force and stiffness (assembly), the factor of
// M = M0 + h^2 K, and the solve, by the number of vertices. A curl of hair, the best of many, processor
// time. Arguments: specs of strand models; der, corde and lifted-curls without any.
#include <math.h>
#include <string.h>

#include "strands/band.h"
#include "tests/measure/bench.h"

#define H       1e-3 // s
#define SECONDS 0.3  // for a row

typedef struct rod {
    const ss_strand_model *model;
    void *self;
    ss_strand_size size;
    double *q, *v, *f, *D, *mass, *length;
    ss_band M;
} rod;

static double *numbers(int count)
{
    double *x = calloc((size_t)count, sizeof *x);
    if (x == NULL) {
        exit(4);
    }
    return x;
}

static rod new_rod(const char *spec, int vertices)
{
    const double curl[1][3] = {{10.0, 20.0, 30.0}};
    const ss_strand_design design = {.length = 0.005 * (vertices - 1),
                                     .material = ss_material_hair(),
                                     .npieces = 1,
                                     .style = curl,
                                     .nsegments = vertices - 1};
    ss_error error;
    ss_model_choice choice;
    rod r = {0};
    bench_check(ss_model_parse(spec, &choice, &error), &error);
    r.model = choice.model;
    bench_check(r.model->make(&design, choice.settings, &r.self, &error), &error);
    ss_model_choice_free(&choice);
    r.size = r.model->size(r.self);
    const int nv = r.size.nv, half = r.size.half_bandwidth;
    r.q = numbers(r.size.nq);
    r.v = numbers(nv);
    r.f = numbers(nv);
    r.D = numbers(nv);
    r.mass = numbers(r.size.nsamples);
    r.length = numbers(r.size.nsamples);
    r.M = (ss_band){nv, half, numbers(nv * (half + 1))};
    const ss_pose home = ss_pose_identity();
    r.model->start(r.self, &home, r.q);
    r.model->lumps(r.self, r.mass, r.length);
    return r;
}

static void free_rod(rod *r)
{
    r->model->free(r->self);
    free(r->q);
    free(r->v);
    free(r->f);
    free(r->D);
    free(r->mass);
    free(r->length);
    free(r->M.x);
}

// Samples are lumps of three dofs; the first dof of sample i is where its stride puts it.
static void assemble(rod *r)
{
    const int stride = (r->size.nv - 3) / (r->size.nsamples - 1);
    ss_band_clear(&r->M);
    memset(r->f, 0, (size_t)r->size.nv * sizeof *r->f);
    for (int i = 0; i < r->size.nsamples; i++) {
        for (int k = 0; k < 3; k++) {
            *ss_band_at(&r->M, stride * i + k, stride * i + k) += r->mass[i];
        }
    }
    if (r->model->inertia != NULL) {
        r->model->inertia(r->self, r->q, &r->M);
    }
    r->model->force(r->self, r->q, r->v, r->f);
    r->model->stiffness(r->self, r->q, r->model->kind, H * H, &r->M);
}

static void measure(const char *spec, int vertices)
{
    rod r = new_rod(spec, vertices);
    double best[3] = {INFINITY, INFINITY, INFINITY}, all = INFINITY;
    const double end = ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) + SECONDS;
    while (ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) < end) {
        double at[4];
        at[0] = ss_clock_now();
        assemble(&r);
        at[1] = ss_clock_now();
        const bool definite = ss_band_factor(&r.M, r.D);
        at[2] = ss_clock_now();
        ss_band_solve(&r.M, r.D, r.f);
        at[3] = ss_clock_now();
        if (!definite) {
            fprintf(stderr, "benchmark: M is not definite\n");
            exit(1);
        }
        for (int k = 0; k < 3; k++) {
            best[k] = fmin(best[k], at[k + 1] - at[k]);
        }
        all = fmin(all, at[3] - at[0]);
    }
    printf("%-24s %8d %10.2f %10.2f %10.2f %10.2f %10.3f\n", spec, vertices, 1e6 * best[0],
           1e6 * best[1], 1e6 * best[2], 1e6 * all, 1e6 * all / vertices);
    free_rod(&r);
}

int main(int argc, char **argv)
{
    static const int SIZES[] = {25, 50, 100, 1000, 10000};
    char der[] = "der", corde[] = "corde", curls[] = "lifted-curls";
    char *own[] = {der, corde, curls};
    char **specs = argc > 1 ? argv + 1 : own;
    const int count = argc > 1 ? argc - 1 : 3;
    printf("%-24s %8s %10s %10s %10s %10s %10s\n", "model", "vertices", "assemble", "factor",
           "solve", "all, us", "a vertex");
    for (int k = 0; k < count; k++) {
        for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++) {
            measure(specs[k], SIZES[i]);
        }
    }
    return 0;
}
