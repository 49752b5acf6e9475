#include "harness/simulate/contained.h"

#include <stdio.h>

#include "harness/interrupt.h"
#include "solvers/patience.h"

// Between two looks at the interrupt and at the time limit.
#define SLICE 0.1 // s

typedef struct watched {
    ss_simulation *simulation;
    void (*work)(void *context);
    void *context;
    ss_child child;
    int solves; // at the last look
    ss_patience patience;
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

static ss_status watch(watched *w, bool *killed, ss_error *e)
{
    int ended = -1;
    ss_status status = SS_OK;
    *killed = false;
    while (status == SS_OK && ended < 0 && !*killed) {
        status = ss_child_wait(&w->child, 1, SLICE, NULL, &ended, e);
        w->simulation->interrupted = ss_interrupted;
        *killed = ended < 0 && loses_patience(w);
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
    bool killed = false;
    ss_status status = ss_child_start(&w.child, &setup, e);
    if (status == SS_OK) {
        status = watch(&w, &killed, e);
    }
    *end = simulation->finished ? SS_SIMULATION_ENDED
           : killed             ? SS_SIMULATION_KILLED
                                : SS_SIMULATION_DIED;
    if (status == SS_OK && *end != SS_SIMULATION_ENDED) {
        describe(&w, *end, why, room);
    }
    return status;
}
