// What a local solve costs: ns per call of each registered local solver and of one hybrid, on one
// core; from zero, and warm, from a start 1e-3 beside the answer. Random blocks that press on the
// contact (a take-off costs a few ns in every solver); the call is all that is timed.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/tangle/locals.h"
#include "solvers/contact.h"
#include "solvers/registry.h"
#include "tests/measure/bench.h"

#define BLOCKS  4096 // half a megabyte: in the second-level cache
#define REPEATS 9

// Of |b|: what a sweep at fb 1e-6 asks for.
#define TOLERANCE 1e-7

// The start of a warm solve, relative to the answer.
#define WARM_ERROR 1e-3

typedef struct block {
    ss_local p;
    ss_local_goal goal;
    double warm[3];
} block;

static block blocks[BLOCKS];
static double answers[BLOCKS][3];

static ss_method *parse(const char *spec)
{
    ss_method *method = NULL;
    ss_error error;
    if (ss_method_parse(spec, &method, &error) != SS_OK) {
        fprintf(stderr, "bench_locals: %s\n", error.text);
        exit(4);
    }
    return method;
}

// The warm starts come from `reference`, which solves all.
static void draw_blocks(double condition, const ss_method *reference)
{
    ss_random g = ss_random_seeded(1);
    for (int k = 0; k < BLOCKS; k++) {
        block *at = &blocks[k];
        ss_local_answer answer;
        do {
            at->p = ss_local_draw(&g, SS_LOCAL_RANDOM, 3, condition, 1e-3, 10.0, &answer);
        } while (at->p.b[0] >= 0.0);
        const double *b = at->p.b;
        at->goal.tolerance = TOLERANCE * sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2]);
        memset(at->warm, 0, sizeof at->warm);
        reference->local->solve(&at->p, &at->goal, reference->local_settings, at->warm);
        for (int c = 0; c < 3; c++) {
            at->warm[c] *= 1.0 + WARM_ERROR * ss_random_normal(&g);
        }
    }
}

static void start_all(bool warm)
{
    for (int k = 0; k < BLOCKS; k++) {
        for (int c = 0; c < 3; c++) {
            answers[k][c] = warm ? blocks[k].warm[c] : 0.0;
        }
    }
}

// The loop around a solver, without one.
static ss_local_info nothing(const ss_local *p, const ss_local_goal *goal, const void *settings,
                             double r[3])
{
    (void)settings;
    r[0] += p->b[0];
    return (ss_local_info){.outcome = SS_CONVERGED, .error = goal->tolerance};
}

// The least time of all blocks, in ns a call; *solved: how many converged.
static double measure(const ss_method *method, const ss_local_solver *solver, bool warm,
                      int *solved)
{
    double least = 1e9;
    ss_local_counters counters = {0};
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        start_all(warm);
        *solved = 0;
        const double t0 = ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
        if (solver != NULL) {
            const void *settings = method != NULL ? method->local_settings : NULL;
            for (int k = 0; k < BLOCKS; k++) {
                const block *at = &blocks[k];
                *solved +=
                    solver->solve(&at->p, &at->goal, settings, answers[k]).outcome == SS_CONVERGED;
            }
        } else {
            for (int k = 0; k < BLOCKS; k++) {
                const block *at = &blocks[k];
                *solved +=
                    ss_contact_solve(method, &at->p, &at->goal, answers[k], &counters).outcome ==
                    SS_CONVERGED;
            }
        }
        const double seconds = ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - t0;
        least = seconds < least ? seconds : least;
    }
    return 1e9 * least / BLOCKS;
}

static void print_row(const char *name, const ss_method *method, const ss_local_solver *solver)
{
    int warm_solved, cold_solved;
    const double warm = measure(method, solver, true, &warm_solved);
    const double cold = measure(method, solver, false, &cold_solved);
    printf("%-16s %8.1f %8.1f %12.3f %12.3f\n", name, warm, cold, 100.0 * warm_solved / BLOCKS,
           100.0 * cold_solved / BLOCKS);
}

static void measure_all(double condition, const ss_method *reference)
{
    draw_blocks(condition, reference);
    printf("\ncondition to %g, mu 1e-3 .. 10, b_N < 0, tolerance %g |b|\n", condition, TOLERANCE);
    printf("%-16s %8s %8s %12s %12s\n", "solver", "warm ns", "cold ns", "warm conv. %",
           "cold conv. %");
    const ss_local_solver empty = {.card = {.name = "(empty call)"}, .solve = nothing};
    print_row(empty.card.name, NULL, &empty);
    for (int k = 0; ss_local_solvers[k] != NULL; k++) {
        ss_method *method = parse(ss_local_solvers[k]->card.name);
        print_row(method->name, method, method->local);
        ss_method_free(method);
    }
    static const char *const others[] = {"enum:roots=gsl", "mfb+enum", "mfb+secular"};
    for (int k = 0; k < 3; k++) {
        ss_method *method = parse(others[k]);
        print_row(others[k], method, method->failsafe == NULL ? method->local : NULL);
        ss_method_free(method);
    }
}

int main(void)
{
    printf("one contact, ns a call, best of %d, one core\n", REPEATS);
    ss_method *reference = parse("secular");
    measure_all(1e2, reference);
    measure_all(1e6, reference);
    ss_method_free(reference);
    return 0;
}
