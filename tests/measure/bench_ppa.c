// What `ppa` and `ipm` cost on dense ponytails (59 contact ends a rod), cold, by one thread and by two:
// seconds of the wall, the median of some runs in turns. Of `ppa:start=sweeps` to fb 1e-8 the parts, too, each measured
// by itself at the answer, the best of some times, and its share of a step of Newton's; what is left are
// step sizes below 1, refinement, retries in doubles, sweeps and vectors.
//
// On a machine that others use, the second thread gets no core mostly. `bench_ppa busy` counts the CPU
// seconds of the calling thread instead: what it does itself, while the other one does the rest where it can.
// Of whole solves, the median tells roughly what a quiet machine would take.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/global/prox.h"
#include "solvers/registry.h"
#include "tests/measure/bench.h"

#define TOLERANCE 1e-8
#define ORDINARY  1e-6 // of whole solves, the default of the program
#define SWEEPS    50   // of the start of `ppa` without interior points
#define REPEATS   15
#define RUNS      7
#define RHO       1e3 // a weight on the way

static clockid_t the_clock = CLOCK_MONOTONIC;

static double now(void)
{
    return ss_clock_seconds(the_clock);
}

typedef struct run {
    double seconds;
    int iterations;
    bool solved;
} run;

static run solve(const ss_problem *p, const char *spec, double tolerance, int most, int threads,
                 double *r)
{
    ss_method *method = NULL;
    ss_error error;
    ss_result result;
    bench_check(ss_method_parse(spec, &method, &error), &error);
    const ss_task task = {.problem = p,
                          .method = method,
                          .tolerance = tolerance,
                          .max_iterations = most,
                          .threads = threads};
    memset(r, 0, 3 * (size_t)p->ncontacts * sizeof *r);
    const double begin = now();
    bench_check(ss_solve(&task, r, &result, &error), &error);
    const run done = {now() - begin, result.iterations, result.outcome == SS_CONVERGED};
    ss_method_free(method);
    return done;
}

// ---- Whole solves

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void compare(const ss_problem *p, const char *spec)
{
    const size_t size = 3 * (size_t)p->ncontacts;
    double *r[2] = {malloc(size * sizeof **r), malloc(size * sizeof **r)}, took[2][RUNS];
    run last = {0};
    for (int k = 0; k < RUNS; k++) {
        for (int t = 0; t < 2; t++) {
            last = solve(p, spec, ORDINARY, 5000, t + 1, r[t]);
            took[t][k] = last.seconds;
        }
    }
    qsort(took[0], RUNS, sizeof took[0][0], ascending);
    qsort(took[1], RUNS, sizeof took[1][0], ascending);
    const double one = took[0][RUNS / 2], two = took[1][RUNS / 2];
    printf("    %-24s %8.3f ms  %8.3f ms  ratio %5.2f   %s, %d iterations, %s\n", spec, 1e3 * one,
           1e3 * two, one / two, last.solved ? "solved" : "NOT SOLVED", last.iterations,
           memcmp(r[0], r[1], size * sizeof **r) == 0 ? "same bits" : "OTHER BITS");
    free(r[0]);
    free(r[1]);
}

// ---- The parts of ppa

// A step at r, so that J is that of the answer.
static ss_prox *step_at(const ss_problem *p, const double *r, ss_team *team)
{
    ss_coupling *c = NULL;
    ss_prox *prox = NULL;
    ss_error error;
    bench_check(ss_coupling_new(p, SS_FORM_MATRIX_FREE, false, NULL, &c, &error), &error);
    c->team = team;
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
    double residual, assembly, floats, doubles, solution, product, judging;
} parts;

static const parts NONE = {1e300, 1e300, 1e300, 1e300, 1e300, 1e300, 1e300};

static void keep(double *best, double begin)
{
    const double took = now() - begin;
    *best = took < *best ? took : *best;
}

static void measure(ss_prox *prox, parts *a)
{
    ss_block_lu *lu = prox->system->lu;
    double begin = now();
    ss_prox_solve(prox, 0.0, 0); // no step: the residual alone
    keep(&a->residual, begin);
    begin = now();
    ss_implicit_assemble(prox->system);
    keep(&a->assembly, begin);
    begin = now();
    ss_block_lu_factor(lu);
    keep(&a->doubles, begin);
    begin = now();
    ss_block_lu_factor_short(lu);
    keep(&a->floats, begin);
    memcpy(prox->step, prox->F, prox->size * sizeof *prox->step);
    begin = now();
    ss_block_lu_solve(lu, prox->step);
    keep(&a->solution, begin);
    begin = now();
    ss_block_lu_multiply(lu, prox->step, prox->rhs);
    keep(&a->product, begin);
    begin = now();
    ss_coupling_measure(prox->c);
    keep(&a->judging, begin);
}

static void print_part(const char *name, double one, double two, double whole)
{
    printf("    %-24s %8.3f ms  %8.3f ms  ratio %5.2f   %5.1f %%\n", name, 1e3 * one, 1e3 * two,
           one / two, 100.0 * one / whole);
}

static void print_parts(const parts *one, const parts *two, double steps, double whole)
{
    print_part("factor (floats)", one->floats, two->floats, whole / steps);
    print_part("factor (doubles)", one->doubles, two->doubles, whole / steps);
    print_part("assembly", one->assembly, two->assembly, whole / steps);
    print_part("solution", one->solution, two->solution, whole / steps);
    print_part("its check", one->product, two->product, whole / steps);
    print_part("residual", one->residual, two->residual, whole / steps);
    print_part("judging", one->judging, two->judging, whole / steps);
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
    double *r = malloc(3 * (size_t)ncontacts * sizeof *r);
    const run whole = solve(p, "ppa:start=sweeps", TOLERANCE, 5000, 1, r);
    ss_team *team = ss_team_new(2);
    ss_prox *one = step_at(p, r, NULL), *two = step_at(p, r, team);
    parts a = NONE, b = NONE;
    for (int k = 0; k < REPEATS; k++) {
        measure(one, &a);
        measure(two, &b);
    }
    const double steps = whole.iterations - SWEEPS;
    printf("n = %d, mu = %g: %s, %.0f steps, %.3f s; a factor: %.3g multiplications, %.3g MB\n",
           ncontacts, mu, whole.solved ? "solved" : "NOT SOLVED", steps, whole.seconds,
           ss_block_lu_work(one->system->lu), ss_block_lu_bytes(one->system->lu) / 1e6);
    print_parts(&a, &b, steps, whole.seconds);
    ss_prox *const both[] = {one, two};
    for (int k = 0; k < 2; k++) {
        ss_coupling_free(both[k]->c);
        ss_prox_free(both[k]);
    }
    ss_team_free(team);
    compare(p, "ppa");
    compare(p, "ipm");
    ss_problem_free(p);
    free(r);
}

int main(int count, char **argument)
{
    if (count > 1 && strcmp(argument[1], "busy") == 0) {
        the_clock = CLOCK_THREAD_CPUTIME_ID;
    }
    const int counts[] = {300, 1000, 2000, 10000};
    printf("%-28s %11s  %11s\n", "", "one thread", "two");
    for (int k = 0; k < 4; k++) {
        report(counts[k], 0.3);
    }
    return 0;
}
