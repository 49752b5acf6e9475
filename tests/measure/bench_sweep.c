// What a sweep costs: ns per contact and sweep on tangle problems, one thread. Explicit rows are
// set beside the time in which this core can read them at all, measured in the same run.
// bench_sweep CONTACTS ENDS measures one tangle; bench_sweep CONTACTS ENDS SPEC one solver on it.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "problems/matrix/delassus.h"
#include "solvers/registry.h"
#include "tests/measure/bench.h"

// CPU time of a solve.
static double solve_seconds(const ss_problem *p, const ss_method *method, int sweeps)
{
    const ss_task task = {.problem = p,
                          .method = method,
                          .tolerance = 1e-300,
                          .max_iterations = sweeps,
                          .clock = SS_CLOCK_CPU};
    ss_result result;
    ss_error error;
    double *r = calloc((size_t)(p->dim * p->ncontacts), sizeof *r);
    const double begin = ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    bench_check(ss_solve(&task, r, &result, &error), &error);
    const double seconds = ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
    free(r);
    return seconds;
}

#define SWEEPS  40
#define REPEATS 5
// The difference of a long and a short run, the least time of each: what a run costs besides its
// sweeps drops out, and so do the first sweeps, which are not typical.
static double ns_per_contact(const ss_problem *p, const char *spec)
{
    ss_method *method = NULL;
    ss_error error;
    bench_check(ss_method_parse(spec, &method, &error), &error);
    double both = INFINITY, first = INFINITY;
    for (int k = 0; k < REPEATS; k++) {
        both = fmin(both, solve_seconds(p, method, 2 * SWEEPS));
        first = fmin(first, solve_seconds(p, method, SWEEPS));
    }
    ss_method_free(method);
    return 1e9 * (both - first) / SWEEPS / p->ncontacts;
}

// The time to read W once, front to back, in ns a contact.
static double read_limit(const ss_problem *p)
{
    ss_whitened *white = NULL;
    ss_blocks W = {0};
    ss_error error;
    bench_check(ss_whitened_new(p, &white, &error), &error);
    bench_check(ss_blocks_assemble(white, NULL, &W, &error), &error);
    const size_t count = W.start[W.n] * 9;
    double best = 1e300;
    for (int k = 0; k < 5; k++) {
        double sum[8] = {0};
        const double begin = ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
        for (size_t j = 0; j + 8 <= count; j += 8) {
            for (size_t c = 0; c < 8; c++) {
                sum[c] += W.x[j + c];
            }
        }
        const double seconds = ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
        volatile double used =
            sum[0] + sum[1] + sum[2] + sum[3] + sum[4] + sum[5] + sum[6] + sum[7];
        (void)used;
        best = seconds < best ? seconds : best;
    }
    ss_blocks_free(&W);
    ss_whitened_free(white);
    return 1e9 * best / p->ncontacts;
}

// The tasks never end; local answers are as exact as for a tolerance of 1e-8.
#define FORM(form) form ",visit=all,ltol=1e-9"

static void measure(int ncontacts, int ends_per_rod)
{
    ss_problem *p = bench_tangle(ncontacts, ends_per_rod);
    const double secular = ns_per_contact(p, "gs/secular:" FORM("form=matrix-free"));
    const double projection = ns_per_contact(p, "gs/projection:form=matrix-free,visit=all");
    const double explicit_secular = ns_per_contact(p, "gs/secular:" FORM("form=explicit"));
    const double hybrid = ns_per_contact(p, "gs/mfb+enum:" FORM("form=matrix-free"));
    const double limit = read_limit(p);
    printf("%9d %13d %19.0f %22.0f %19.0f %16.0f %11.0f %6.2f\n", ncontacts, ends_per_rod, secular,
           projection, hybrid, explicit_secular, limit, explicit_secular / limit);
    ss_problem_free(p);
}

static void measure_one(int ncontacts, int ends_per_rod, const char *spec)
{
    ss_problem *p = bench_tangle(ncontacts, ends_per_rod);
    printf("%9d %13d %s %.1f\n", ncontacts, ends_per_rod, spec, ns_per_contact(p, spec));
    ss_problem_free(p);
}

int main(int argc, char **argv)
{
    if (argc == 4) {
        measure_one(atoi(argv[1]), atoi(argv[2]), argv[3]);
        return 0;
    }
    printf("ns of CPU time per contact and sweep, one thread\n");
    printf("%9s %13s %19s %22s %19s %16s %11s %6s\n", "contacts", "ends per rod",
           "matrix-free secular", "matrix-free projection", "matrix-free hybrid",
           "explicit secular", "read limit", "ratio");
    if (argc == 3) {
        measure(atoi(argv[1]), atoi(argv[2]));
        return 0;
    }
    const int contacts[] = {1000, 10000, 25000};
    for (int k = 0; k < 3; k++) {
        measure(contacts[k], 25);
        measure(contacts[k], 59);
    }
    return 0;
}
