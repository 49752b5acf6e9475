// What a solve of few contacts costs: us of CPU time for secular, the same with focus=on, and auto, whose
// first member that is. Problems are tangles of a few seeds; to fb 1e-8 from zero.
#include <stdlib.h>
#include <string.h>

#include "solvers/registry.h"
#include "tests/measure/bench.h"

#define SEEDS   4
#define RUNS    40 // in a batch
#define BATCHES 15

static ss_method *parse(const char *spec)
{
    ss_method *method;
    ss_error error;
    bench_check(ss_method_parse(spec, &method, &error), &error);
    return method;
}

// The least mean of a batch, in us.
static double solve_us(const ss_problem *p, const ss_method *method, double *r)
{
    const ss_task task = {.problem = p,
                          .method = method,
                          .tolerance = 1e-8,
                          .max_iterations = 100000,
                          .time_limit = 60.0,
                          .clock = SS_CLOCK_WALL};
    double least = 1e300;
    for (int batch = 0; batch < BATCHES; batch++) {
        const double begin = ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
        for (int run = 0; run < RUNS; run++) {
            ss_result result;
            ss_error error;
            memset(r, 0, (size_t)(p->dim * p->ncontacts) * sizeof *r);
            bench_check(ss_solve(&task, r, &result, &error), &error);
        }
        const double us = 1e6 * (ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin) / RUNS;
        least = us < least ? us : least;
    }
    return least;
}

int main(void)
{
    static const char *const SPECS[] = {"gs/secular", "gs/secular:focus=on", "auto"};
    static const int CONTACTS[] = {1, 2, 5, 10, 20};
    printf("us of CPU time a solve\n%9s %6s %12s %12s %8s %6s\n", "contacts", "seed", "secular",
           "focus=on", "auto", "more");
    for (int k = 0; k < 5; k++) {
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            ss_tangle_settings settings = ss_tangle_defaults();
            settings.ncontacts = CONTACTS[k];
            settings.seed = seed;
            ss_error error;
            ss_problem *p;
            bench_check(ss_tangle_new(&settings, &p, &error), &error);
            double *r = malloc((size_t)(p->dim * p->ncontacts) * sizeof *r), us[3];
            for (int s = 0; s < 3; s++) {
                ss_method *method = parse(SPECS[s]);
                us[s] = solve_us(p, method, r);
                ss_method_free(method);
            }
            printf("%9d %6d %12.2f %12.2f %8.2f %6.2f\n", p->ncontacts, (int)seed, us[0], us[1],
                   us[2], us[2] - us[0]);
            free(r);
            ss_problem_free(p);
        }
    }
    return 0;
}
