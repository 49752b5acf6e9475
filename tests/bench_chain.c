// What a step of many chains costs, side by side: [HH13]'s fur, 6 vertices a strand, two times 8
// sweeps of bending and a tridiagonal solve. Time over constraints from 1e3 to 1e6 with the line
// through it, the share of the tridiagonal solves, and steps a second of 100 000 and 200 000
// strands. The best of several steps.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "problems/strands/chain_batch.h"
#include "tests/bench.h"

#define VERTICES 6
#define SEGMENT  0.004 // m
#define STEP     0.002 // s
#define WARM_UP  3
#define SECONDS  0.7 // for a measurement

static const double W[VERTICES] = {0.0, 1.0, 1.0, 1.0, 1.0, 1.0};
static const double REST[VERTICES - 1] = {SEGMENT, SEGMENT, SEGMENT, SEGMENT, SEGMENT};
static const double SPAN[VERTICES - 2] = {2.0 * SEGMENT, 2.0 * SEGMENT, 2.0 * SEGMENT,
                                          2.0 * SEGMENT};
static const ss_chain_shape SHAPE = {VERTICES, W, REST, SPAN};

static const ss_chain_method FUR = {.iterations = 2, .bending = 0.3, .sweeps = 8};
// As many sweeps of bending as FUR, and two tridiagonal solves more: what these cost.
static const ss_chain_method MORE_SOLVES = {.iterations = 4, .bending = 0.3, .sweeps = 4};
static const ss_chain_method SOLVES = {.iterations = 2};
static const ss_chain_method PBD = {.kind = SS_CHAIN_PBD, .iterations = 2};
static const ss_chain_method DFTL = {.kind = SS_CHAIN_DFTL, .iterations = 1, .damping = 0.95};

// Strands that stand in all directions.
static ss_chain_batch *grow(int count, int threads)
{
    ss_error error;
    ss_chain_batch *b;
    bench_check(ss_chain_batch_new(&SHAPE, count, threads, &b, &error), &error);
    for (int k = 0; k < count; k++) {
        ss_vec3 x[VERTICES], v[VERTICES] = {{0.0, 0.0, 0.0}};
        const double y = 1.0 - 2.0 * (k + 0.5) / count, across = sqrt(1.0 - y * y);
        for (int i = 0; i < VERTICES; i++) {
            x[i] = ss_scaled(SEGMENT * i, ss_vec(across * cos(2.4 * k), y, across * sin(2.4 * k)));
        }
        ss_chain_batch_put(b, k, x, v);
    }
    return b;
}

// s a step, the best.
static double measure(int count, int threads, const ss_chain_method *m)
{
    ss_chain_batch *b = grow(count, threads);
    const double end = ss_clock_seconds(CLOCK_MONOTONIC) + SECONDS;
    double best = INFINITY;
    for (int k = 0; k < WARM_UP || ss_clock_seconds(CLOCK_MONOTONIC) < end; k++) {
        const double start = ss_clock_seconds(CLOCK_MONOTONIC);
        ss_chain_batch_step(b, m, ss_vec(0.0, -9.81, 0.0), STEP);
        const double seconds = ss_clock_seconds(CLOCK_MONOTONIC) - start;
        best = k >= WARM_UP && seconds < best ? seconds : best;
    }
    ss_chain_batch_free(b);
    return best;
}

// The line t = a + b n through the points, by least squares, and the share of the variance of t
// that it explains.
static void fit(const double *n, const double *t, int count)
{
    double sn = 0.0, st = 0.0, nn = 0.0, nt = 0.0, tt = 0.0;
    for (int k = 0; k < count; k++) {
        sn += n[k] / count;
        st += t[k] / count;
    }
    for (int k = 0; k < count; k++) {
        nn += (n[k] - sn) * (n[k] - sn);
        nt += (n[k] - sn) * (t[k] - st);
        tt += (t[k] - st) * (t[k] - st);
    }
    printf("line: %.3g ms + %.3g ns a constraint, r^2 %.5f\n\n", 1e3 * (st - sn * nt / nn),
           1e9 * nt / nn, nt * nt / (nn * tt));
}

static void over_constraints(void)
{
    const int strands[] = {200, 632, 2000, 6325, 20000, 63246, 200000};
    double n[7], t[7];
    puts("constraints  ms_per_step  ns_per_constraint  tridiagonal_percent");
    for (int k = 0; k < 7; k++) {
        n[k] = (VERTICES - 1.0) * strands[k];
        t[k] = measure(strands[k], 1, &FUR);
        const double more = measure(strands[k], 1, &MORE_SOLVES);
        printf("%11.0f  %11.4f  %17.3f  %19.1f\n", n[k], 1e3 * t[k], 1e9 * t[k] / n[k],
               100.0 * (more - t[k]) / t[k]);
    }
    fit(n, t, 7);
}

static void steps_a_second(int strands)
{
    static const struct {
        const char *name;
        const ss_chain_method *method;
    } rows[] = {{"fur: 2 (8 bending, 1 tridiagonal)", &FUR},
                {"2 tridiagonal", &SOLVES},
                {"pbd(2)", &PBD},
                {"dftl", &DFTL}};
    printf("%d strands of %d vertices  ms_1_thread  ms_2_threads  steps_per_second\n", strands,
           VERTICES);
    for (int k = 0; k < 4; k++) {
        const double one = measure(strands, 1, rows[k].method);
        const double two = measure(strands, 2, rows[k].method);
        printf("%-33s  %11.2f  %12.2f  %16.0f\n", rows[k].name, 1e3 * one, 1e3 * two,
               1.0 / fmin(one, two));
    }
    puts("");
}

int main(void)
{
    over_constraints();
    steps_a_second(100000);
    steps_a_second(200000);
    return 0;
}
