#include "harness/simulate/contained.h"

#include <stdio.h>

#include "harness/interrupt.h"
#include "solvers/clock.h"
#include "solvers/patience.h"

// Between two looks at the interrupt and at the time limit.
#define SLICE 0.1 // s
// From an interrupt to the end of a step that goes on.
#define GRACE 0.5 // s

typedef struct watched {
    ss_simulation *simulation;
    void (*work)(void *context);
    void *context;
    ss_child child;
    int solves; // at the last look
    ss_patience patience;
    double interrupted; // s, when; 0: not yet
} watched;

static void work_in_child(void *context)
{
    const watched *w = context;
    w->work(w->context);
    w->simulation->finished = true;
}

static bool is_solving(int solves)
{
    return solves % 2 != 0;
}

// Whether the present solve lasts too long. Each has a patience of its own.
static bool loses_patience(watched *w)
{
    const ss_simulate_solver *solver = &w->simulation->solver;
    const int solves = solver->solves;
    if (solves != w->solves) {
        w->solves = solves;
        w->patience = ss_patience_begin(&w->child, solver->time_limit, solver->threads);
    }
    return is_solving(solves) && ss_patience_ends(&w->patience, &w->child);
}

// Whether the simulation is not to be waited for after an interrupt.
static bool gives_up(watched *w)
{
    const ss_simulation *s = w->simulation;
    if (!ss_interrupted) {
        return false;
    }
    const double now = ss_clock_seconds(CLOCK_MONOTONIC);
    w->interrupted = w->interrupted > 0.0 ? w->interrupted : now;
    return s->phase == SS_PHASE_BUILD ||
           (s->phase == SS_PHASE_STEP && s->trajectory == NULL && now > w->interrupted + GRACE);
}

static ss_status watch(watched *w, ss_simulation_end *end, ss_error *e)
{
    int ended = -1;
    ss_status status = SS_OK;
    *end = SS_SIMULATION_DIED;
    while (status == SS_OK && ended < 0 && *end == SS_SIMULATION_DIED) {
        status = ss_child_wait(&w->child, 1, SLICE, NULL, &ended, e);
        w->simulation->interrupted = ss_interrupted;
        if (ended < 0) {
            *end = gives_up(w)         ? SS_SIMULATION_INTERRUPTED
                   : loses_patience(w) ? SS_SIMULATION_KILLED
                                       : SS_SIMULATION_DIED;
        }
    }
    ss_child_end(&w->child);
    return status;
}

static void describe(const watched *w, ss_simulation_end end, char *why, size_t room)
{
    const ss_simulation *s = w->simulation;
    const char *solver = s->choices->method->name;
    char how[80];
    ss_child_describe_end(&w->child, how, sizeof how);
    if (end == SS_SIMULATION_KILLED) {
        snprintf(why, room, "%s did not keep the time limit of %.3g s and was killed", solver,
                 s->solver.time_limit);
    } else {
        snprintf(why, room, "%s %s", is_solving(s->solver.solves) ? solver : "the simulation", how);
    }
}

ss_status ss_simulation_contain(void (*work)(void *context), void *context,
                                ss_simulation *simulation, ss_simulation_end *end, char *why,
                                size_t room, ss_error *e)
{
    watched w = {.simulation = simulation, .work = work, .context = context};
    const ss_child_setup setup = {.work = work_in_child, .context = &w, .keeps_files = true};
    ss_status status = ss_child_start(&w.child, &setup, e);
    if (status == SS_OK) {
        status = watch(&w, end, e);
    }
    *end = simulation->finished ? SS_SIMULATION_ENDED : *end;
    if (status == SS_OK && *end != SS_SIMULATION_ENDED) {
        describe(&w, *end, why, room);
    }
    return status;
}
