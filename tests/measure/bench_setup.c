// What a solve costs before its first sweep and after its last: the factor of M, the coupling that sweeps
// see, the judge's set-up and one judgement. Arguments are files, each of one problem in global form;
// without any the problems are tangles. The last column is a checksum of what was computed.
#include <inttypes.h>
#include <malloc.h>
#include <string.h>

#include "problems/matrix/mass.h"
#include "problems/response.h"
#include "problems/store/store.h"
#include "solvers/sweep/coupling.h"
#include "tests/measure/bench.h"

#define REPEATS 15

typedef struct parts {
    double factor, coupling, judge, judgement; // s of CPU
    uint64_t sum;
} parts;

static double cpu(void)
{
    return ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
}

static void mix(uint64_t *sum, const double *x, size_t count) // FNV-1a over words
{
    for (size_t k = 0; k < count; k++) {
        uint64_t word;
        memcpy(&word, &x[k], sizeof word);
        *sum = (*sum ^ word) * 0x100000001b3u;
    }
}

static parts measure_once(const ss_problem *p, const double *r, double *u)
{
    ss_error error;
    ss_mass *mass = NULL;
    ss_coupling *c = NULL;
    ss_response *response = NULL;
    parts t = {.sum = 0xcbf29ce484222325u};
    const double t0 = cpu();
    bench_check(ss_mass_new(p, &mass, &error), &error);
    const double t1 = cpu();
    bench_check(ss_coupling_new(p, SS_FORM_SWEEPS, true, NULL, &c, &error), &error);
    ss_coupling_set(c, r);
    const double t2 = cpu();
    bench_check(ss_response_new(p, &response, &error), &error);
    const double t3 = cpu();
    ss_response_judge(response, r, u);
    const double t4 = cpu();
    const size_t n = (size_t)p->dim * (size_t)p->ncontacts;
    mix(&t.sum, c->compliance, (size_t)p->ncontacts);
    mix(&t.sum, c->b, n);
    if (!c->is_explicit) {
        mix(&t.sum, c->z, (size_t)c->white->body_start[c->white->nbodies]);
    }
    mix(&t.sum, response->compliance, (size_t)p->ncontacts);
    mix(&t.sum, response->b, n);
    mix(&t.sum, u, n);
    ss_mass_free(mass);
    ss_coupling_free(c);
    ss_response_free(response);
    t.factor = t1 - t0;
    t.coupling = t2 - t1;
    t.judge = t3 - t2;
    t.judgement = t4 - t3;
    return t;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

static void measure(const char *name, const ss_problem *p)
{
    const size_t n = (size_t)p->dim * (size_t)p->ncontacts;
    double *r = calloc(2 * n + 1, sizeof *r), *u = r + n;
    parts best = {1e9, 1e9, 1e9, 1e9, 0};
    if (p->nguesses > 0) {
        memcpy(r, p->guesses[0].r, n * sizeof *r);
    }
    for (int k = 0; k < REPEATS; k++) {
        const parts t = measure_once(p, r, u);
        best = (parts){least(best.factor, t.factor), least(best.coupling, t.coupling),
                       least(best.judge, t.judge), least(best.judgement, t.judgement), t.sum};
    }
    printf("%-24s %8d %10.2f %12.2f %14.2f %12.2f %18" PRIx64 "\n", name, p->ncontacts,
           1e3 * best.factor, 1e3 * best.coupling, 1e3 * best.judge, 1e3 * best.judgement,
           best.sum);
    free(r);
}

static void measure_tangle(const char *name, int ncontacts, int ends_per_rod)
{
    ss_problem *p = bench_tangle(ncontacts, ends_per_rod);
    measure(name, p);
    ss_problem_free(p);
}

int main(int argc, char **argv)
{
    mallopt(M_MMAP_THRESHOLD,
            1 << 30); // memory is kept from the time before, as simulators keep it
    mallopt(M_TRIM_THRESHOLD, 1 << 30);
    printf("%-24s %8s %10s %12s %14s %12s %18s\n", "problem", "contacts", "factor ms",
           "coupling ms", "judge's set-up", "judgement ms", "bits");
    for (int k = 1; k < argc; k++) {
        ss_error error;
        ss_problem *p = NULL;
        bench_check(ss_store_read(argv[k], NULL, &p, &error), &error);
        measure(argv[k], p);
        ss_problem_free(p);
    }
    if (argc == 1) {
        measure_tangle("loose hair", 3000, 6);
        measure_tangle("hair", 3000, 25);
        measure_tangle("ponytail", 3000, 59);
        measure_tangle("loose hair", 30000, 6);
    }
    return 0;
}
