// What W costs: ns per lower block (one half of a symmetric W, the diagonal included), from M and H
// to the last block, on one core; and the naive assembly beside it ([D11] Figure 6).
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

#include "problems/matrix/delassus.h"
#include "tests/measure/bench.h"

static double least(double a, double b)
{
    return a < b ? a : b;
}

#define REPEATS 7
static void measure_blocks(int ncontacts, int ends_per_rod)
{
    ss_problem *p = bench_tangle(ncontacts, ends_per_rod);
    double whitening = 1e9, assembly = 1e9, lower = 0.0;
    for (int k = 0; k < REPEATS; k++) {
        ss_error error;
        ss_whitened *white = NULL;
        ss_blocks W = {0};
        const double t0 = ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
        bench_check(ss_whitened_new(p, &white, &error), &error);
        const double t1 = ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
        bench_check(ss_blocks_assemble(white, NULL, &W, &error), &error);
        const double t2 = ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
        whitening = least(whitening, t1 - t0);
        assembly = least(assembly, t2 - t1);
        lower = 0.5 * ((double)W.start[W.n] + W.n);
        ss_blocks_free(&W);
        ss_whitened_free(white);
    }
    printf("%9d %13d %12.0f %13.1f %12.1f %19.1f\n", ncontacts, ends_per_rod, lower,
           1e3 * whitening, 1e3 * assembly, 1e9 * (whitening + assembly) / lower);
    ss_problem_free(p);
}

static void measure_naive(int ncontacts)
{
    ss_problem *p = bench_tangle(ncontacts, 25);
    ss_error error;
    const size_t size = (size_t)p->dim * (size_t)ncontacts;
    double *dense = malloc(size * size * sizeof *dense);
    if (dense == NULL) {
        exit(4);
    }
    const double t0 = ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    bench_check(ss_delassus_naive(p, dense, &error), &error);
    const double t1 = ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    ss_whitened *white = NULL;
    ss_blocks W = {0};
    bench_check(ss_whitened_new(p, &white, &error), &error);
    bench_check(ss_blocks_assemble(white, NULL, &W, &error), &error);
    const double t2 = ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    printf("%9d %11.2f %16.2f %7.0f\n", ncontacts, 1e3 * (t1 - t0), 1e3 * (t2 - t1),
           (t1 - t0) / (t2 - t1));
    ss_blocks_free(&W);
    ss_whitened_free(white);
    free(dense);
    ss_problem_free(p);
}

static void measure_all(const char *heading)
{
    printf("%s\n%9s %13s %12s %13s %12s %19s\n", heading, "contacts", "ends per rod",
           "lower blocks", "whitening ms", "assembly ms", "ns per lower block");
    measure_blocks(1000, 25);
    measure_blocks(20000, 25);
    measure_blocks(20000, 59);
    printf("\n");
}

int main(void)
{
    printf("W from M and H, best of %d, CPU time on one core\n\n", REPEATS);
    measure_all("memory fresh from the system each time");
    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    measure_all("memory kept from the time before, as a simulator keeps it from step to step");
    printf("the naive assembly, 25 ends a rod\n");
    printf("%9s %11s %16s %7s\n", "contacts", "naive ms", "block sparse ms", "ratio");
    for (int n = 250; n <= 2000; n *= 2) {
        measure_naive(n);
    }
    return 0;
}
