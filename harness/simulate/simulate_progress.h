// harness/simulate/simulate_progress.h -- what a simulation does, on stderr: a line that rewrites
// itself on a terminal, a plain line now and then elsewhere.
#pragma once

#include <stdbool.h>
#include "problems/strands/step/step.h"

typedef struct ss_simulate_progress {
    const char *scene; // borrowed
    int steps;
    bool terminal;
    double start, shown; // s: of the run, of the last line
} ss_simulate_progress;

ss_simulate_progress ss_simulate_progress_start(const char *scene, int steps);
void ss_simulate_progress_step(ss_simulate_progress *p, int step, const ss_step_report *report);
// Takes the line off the terminal.
void ss_simulate_progress_clear(const ss_simulate_progress *p);
