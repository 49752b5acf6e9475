// What a step of the scene fur costs, [HH13]'s chains of 6 vertices side by side, two times 8
// sweeps of bending and a tridiagonal solve. Time over constraints from 1e3 to 1e6 with the line
// through it, the share of the tridiagonal solves, and steps a second of 100 000 and 200 000
// strands. A step is the stepper's, with all that it reports; the best of several. One thread is
// measured by its processor time, two by wall time.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "strands/scenes/scene.h"
#include "strands/step/step.h"
#include "tests/measure/bench.h"

#define EDGES   5 // of a strand
#define WARM_UP 3
#define SECONDS 0.7 // for a measurement

static const char FUR[] = "tmf:bending=0.3";
// As many sweeps of bending as FUR, and two tridiagonal solves more: what these cost.
static const char MORE_SOLVES[] = "tmf:iterations=4,bending=0.3,sweeps=4";

static ss_world *grow(int count, const char *spec, ss_step_options *options)
{
    const ss_scene *scene = ss_scene_find("fur");
    ss_error error;
    ss_model_choice model;
    bench_check(ss_model_parse(spec, &model, &error), &error);
    const ss_scene_request request = {.rods = count, .mu = NAN, .model = &model};
    ss_world *w = ss_world_new();
    bench_check(w != NULL ? SS_OK : ss_fail_memory(&error, "fur"), &error);
    bench_check(ss_scene_build(scene, &request, w, options, &error), &error);
    ss_model_choice_free(&model);
    options->dt = scene->dt;
    return w;
}

// s a step, the best.
static double measure(int count, int threads, const char *spec)
{
    ss_error error;
    ss_step_options options = ss_step_defaults();
    ss_world *w = grow(count, spec, &options);
    options.threads = threads;
    ss_stepper *s = ss_stepper_new(w, &options, (ss_step_solver){.solve = NULL}, &error);
    bench_check(s != NULL ? SS_OK : error.status, &error);
    const clockid_t clock = threads > 1 ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID;
    const double end = ss_clock_seconds(clock) + SECONDS;
    double best = INFINITY;
    for (int k = 0; k < WARM_UP || ss_clock_seconds(clock) < end; k++) {
        ss_step_report report;
        const double start = ss_clock_seconds(clock);
        bench_check(ss_stepper_step(s, &report, &error), &error);
        const double seconds = ss_clock_seconds(clock) - start;
        best = k >= WARM_UP && seconds < best ? seconds : best;
    }
    ss_stepper_free(s);
    ss_world_free(w);
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
        n[k] = (double)EDGES * strands[k];
        t[k] = measure(strands[k], 1, FUR);
        const double more = measure(strands[k], 1, MORE_SOLVES);
        printf("%11.0f  %11.4f  %17.3f  %19.1f\n", n[k], 1e3 * t[k], 1e9 * t[k] / n[k],
               100.0 * (more - t[k]) / t[k]);
    }
    fit(n, t, 7);
}

static void steps_a_second(int strands)
{
    static const char *const rows[][2] = {{"fur: 2 (8 bending, 1 tridiagonal)", FUR},
                                          {"2 tridiagonal", "tmf"},
                                          {"pbd(2)", "pbd:iterations=2"},
                                          {"dftl", "dftl"}};
    printf("%d strands of %d vertices  ms_1_thread  ms_2_threads  steps_per_second\n", strands,
           EDGES + 1);
    for (int k = 0; k < 4; k++) {
        const double one = measure(strands, 1, rows[k][1]);
        const double two = measure(strands, 2, rows[k][1]);
        printf("%-33s  %11.2f  %12.2f  %16.0f\n", rows[k][0], 1e3 * one, 1e3 * two,
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
