// What `ppa` costs on dense ponytails (59 contact ends a rod), cold, to fb 1e-8: CPU seconds of the
// solve and what its parts would cost, each measured once by itself at the answer, times the number
// of Newton's steps. Step sizes below 1, refinement, retries in doubles and the judging are in
// `other`.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/global/prox_step.h"
#include "solvers/registry.h"
#include "tests/measure/bench.h"

#define TOLERANCE 1e-8
#define SWEEPS    50 // of the start, the default of `ppa`
#define REPEATS   5
#define RHO       1e3 // a weight on the way

static double now(void)
{
    return ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

static ss_result solve(const ss_problem *p, const char *spec, int most, double *r, double *took)
{
    ss_method *method = NULL;
    ss_error error;
    ss_result result;
    bench_check(ss_method_parse(spec, &method, &error), &error);
    const ss_task task = {.problem = p,
                          .method = method,
                          .tolerance = TOLERANCE,
                          .max_iterations = most,
                          .clock = SS_CLOCK_CPU};
    const double begin = now();
    bench_check(ss_solve(&task, r, &result, &error), &error);
    *took = now() - begin;
    ss_method_free(method);
    return result;
}

// A step at r, so that J is that of the answer.
static ss_prox *step_at(const ss_problem *p, const double *r)
{
    ss_coupling *c = NULL;
    ss_prox *prox = NULL;
    ss_error error;
    bench_check(ss_coupling_new(p, SS_FORM_MATRIX_FREE, false, NULL, &c, &error), &error);
    ss_coupling_set(c, r);
    bench_check(ss_prox_new(c, 1e3, NULL, &prox, &error), &error);
    for (int i = 0; i < c->n; i++) {
        prox->R[i] = RHO / c->compliance[i];
    }
    ss_prox_start(prox);
    memcpy(prox->l, prox->phi, 4 * (size_t)c->n * sizeof *prox->l);
    ss_prox_solve(prox, 0.0, 1);
    return prox;
}

typedef struct parts {
    double residual, assembly, floats, doubles, solution, product;
} parts;

static void keep(double *best, double begin)
{
    const double took = now() - begin;
    *best = took < *best ? took : *best;
}

static parts measure(ss_prox *prox)
{
    parts a = {1e300, 1e300, 1e300, 1e300, 1e300, 1e300};
    ss_block_lu *lu = prox->system->lu;
    for (int k = 0; k < REPEATS; k++) {
        double begin = now();
        ss_prox_solve(prox, 0.0, 0); // no step: the residual alone
        keep(&a.residual, begin);
        begin = now();
        ss_implicit_factor(prox->system);
        keep(&a.assembly, begin);
        begin = now();
        ss_block_lu_factor(lu);
        keep(&a.doubles, begin);
        begin = now();
        ss_block_lu_factor_short(lu);
        keep(&a.floats, begin);
        memcpy(prox->step, prox->F, prox->size * sizeof *prox->step);
        begin = now();
        ss_block_lu_solve(lu, prox->step);
        keep(&a.solution, begin);
        begin = now();
        ss_block_lu_multiply(lu, prox->step, prox->rhs);
        keep(&a.product, begin);
    }
    a.assembly -= a.doubles;
    return a;
}

static void print_part(const char *name, double seconds, double whole)
{
    printf("    %-24s %8.3f s  %5.1f %%\n", name, seconds, 100.0 * seconds / whole);
}

static void report(int ncontacts, double mu)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = ncontacts;
    settings.ends_per_rod = 59;
    settings.mu = mu;
    ss_error error;
    ss_problem *p = NULL;
    bench_check(ss_tangle_new(&settings, &p, &error), &error);
    double *r = calloc(3 * (size_t)ncontacts, sizeof *r), whole, sweeps;
    solve(p, "ppa", SWEEPS, r, &sweeps);
    memset(r, 0, 3 * (size_t)ncontacts * sizeof *r);
    const ss_result result = solve(p, "ppa", 5000, r, &whole);
    ss_prox *prox = step_at(p, r);
    const parts a = measure(prox);
    const double steps = result.iterations - SWEEPS;
    printf("n = %d, mu = %g: %s, %.0f steps, %.3f s; a factor: %.3g multiplications, %.3g MB\n",
           ncontacts, mu, result.outcome == SS_CONVERGED ? "solved" : "NOT SOLVED", steps, whole,
           ss_block_lu_work(prox->system->lu), ss_block_lu_bytes(prox->system->lu) / 1e6);
    print_part("set-up and sweeps", sweeps, whole);
    print_part("factors (floats)", steps * a.floats, whole);
    print_part("assembly", steps * a.assembly, whole);
    print_part("solution and its check", steps * (a.solution + a.product), whole);
    print_part("residual", steps * a.residual, whole);
    print_part("other",
               whole - sweeps -
                   steps * (a.floats + a.assembly + a.solution + a.product + a.residual),
               whole);
    printf("    a factor in doubles takes %.2f of one in floats\n", a.doubles / a.floats);
    ss_coupling_free(prox->c);
    ss_prox_free(prox);
    ss_problem_free(p);
    free(r);
}

int main(void)
{
    report(2000, 0.3);
    report(10000, 0.3);
    return 0;
}
