// tests/support/solving.h -- problems for the driver, runs of it, and what the judge says of an answer.
#pragma once

#include <stdlib.h>
#include <string.h>

#include "problems/response.h"
#include "problems/tangle/tangle.h"
#include "solvers/registry.h"
#include "tests/support/support.h"

// A run: what came out of ss_solve, and the judge's measures and velocities of its answer.
typedef struct solved {
    ss_result result;
    ss_measures facts;
    double *r, *u; // [dim ncontacts], owned
} solved;

static inline size_t components(const ss_problem *p)
{
    return (size_t)p->dim * (size_t)p->ncontacts;
}

static inline void free_solved(solved *a)
{
    free(a->r);
    free(a->u);
}

// Velocities and measures of r, from the problem's own data.
static inline ss_measures judge(const ss_problem *p, const double *r, double *u)
{
    ss_error error;
    ss_response *response;
    CHECK_OK(ss_response_new(p, &response, &error));
    const ss_measures m = ss_response_judge(response, r, u);
    ss_response_free(response);
    return m;
}

// Runs the spec on a task whose limits and listener are set; start NULL is zero. Ends the test
// where the run fails.
static inline solved run_task(const char *spec, ss_task task, const double *start)
{
    ss_error error;
    ss_method *method;
    CHECK_OK(ss_method_parse(spec, &method, &error));
    task.method = method;
    const size_t size = components(task.problem);
    solved a = {.r = calloc(size, sizeof(double)), .u = calloc(size, sizeof(double))};
    if (start != NULL) {
        memcpy(a.r, start, size * sizeof *start);
    }
    CHECK_OK(ss_solve(&task, a.r, &a.result, &error));
    a.facts = judge(task.problem, a.r, a.u);
    ss_method_free(method);
    return a;
}

// From zero, with at most `sweeps` sweeps and no other limit.
static inline solved run(const ss_problem *p, const char *spec, double tolerance, int sweeps)
{
    const ss_task task = {
        .problem = p, .tolerance = tolerance, .max_iterations = sweeps, .clock = SS_CLOCK_WALL};
    return run_task(spec, task, NULL);
}

static inline void check_solved_run(const solved *a, double tolerance)
{
    CHECK(a->result.outcome == SS_CONVERGED);
    CHECK_LE(ss_measures_error(&a->facts), tolerance);
    CHECK_NEAR(a->result.own_error, ss_measures_error(&a->facts), 1e-9 * tolerance + 1e-12);
}

// max |x - y| / max |x|.
static inline double relative_difference(const double *x, const double *y, size_t n)
{
    double worst = 0.0, largest = 0.0;
    for (size_t k = 0; k < n; k++) {
        const double here = fabs(x[k] - y[k]);
        worst = here <= worst ? worst : here;
        largest = fabs(x[k]) <= largest ? largest : fabs(x[k]);
    }
    return largest > 0.0 ? worst / largest : worst;
}

static inline ss_problem *tangle_of(const ss_tangle_settings *settings)
{
    ss_error error;
    ss_problem *p;
    CHECK_OK(ss_tangle_new(settings, &p, &error));
    return p;
}

// Loose hair: W far from full rank.
static inline ss_problem *tangle(int dim, int ncontacts, uint64_t seed)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.dim = dim;
    settings.ncontacts = ncontacts;
    settings.seed = seed;
    return tangle_of(&settings);
}

// Two contacts a rod with 16 dofs: W of full rank.
static inline ss_problem *full_rank_tangle(int dim, int ncontacts, uint64_t seed)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.dim = dim;
    settings.ncontacts = ncontacts;
    settings.ends_per_rod = 4;
    settings.ground_share = 0.5;
    settings.seed = seed;
    return tangle_of(&settings);
}

// A local problem of n contacts, W dense and row-major.
static inline ss_problem *dense_problem(int dim, int n, const double *W, const double *b,
                                        const double *mu)
{
    ss_error error;
    ss_problem *p = ss_problem_new();
    CHECK(p != NULL);
    const int size = dim * n;
    p->form = SS_LOCAL;
    p->dim = dim;
    p->ncontacts = n;
    p->mu = malloc((size_t)n * sizeof *p->mu);
    p->b = malloc((size_t)size * sizeof *p->b);
    memcpy(p->mu, mu, (size_t)n * sizeof *mu);
    memcpy(p->b, b, (size_t)size * sizeof *b);
    int *row = malloc((size_t)(size * size) * sizeof *row);
    int *col = malloc((size_t)(size * size) * sizeof *col);
    double *x = malloc((size_t)(size * size) * sizeof *x);
    int count = 0;
    for (int k = 0; k < size * size; k++) {
        if (W[k] != 0.0) {
            row[count] = k / size;
            col[count] = k % size;
            x[count++] = W[k];
        }
    }
    CHECK_OK(ss_sparse_from_triplets(&p->W, size, size, count, row, col, x, &error));
    free(row);
    free(col);
    free(x);
    return p;
}
