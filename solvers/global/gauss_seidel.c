// gs: sweeps (solvers/sweep/sweep.h) until the answer is good enough.
//
// A sweep brings a free estimate of the residual, max |f(s r_i, u_i)| just before the local
// solves, with the judge's s. When it is at most tol V, one evaluation of all measures at rest
// decides (solvers/global/drive.h). A local solver with another law than Coulomb's stops on the
// relative step |dr|/|r| instead ([D11] 7.2), and the judge tells what its answer is worth. stop=step
// has all solvers do so, and stop=squared is [D11]'s test of all contacts after each sweep, and of the
// start; neither calls frozen contacts back, nor ends where nothing moves any more.
//
// as=printed is [D11]'s experiment (doc/formulation.md, "The experiment of [D11]").
//
// focus=on: where a few contacts alone still move, they are solved together
// (solvers/sweep/block_step.h).
#include "solvers/global/global.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/global/drive.h"
#include "solvers/sweep/block_step.h"
#include "solvers/sweep/sweep_keys.h"

// Sweeps between two computations of z from r: rounding adds up in between.
#define REFRESH_SWEEPS 200

// Sweeps from one estimate to the next where a visit is one step of a local solver: there the
// estimate costs as much as the step. focus=on wants every one.
#define ONE_STEP_CHECK 8

// Progress is a best estimate that has become a tenth less. In hair it may take a thousand sweeps
// over a few contacts, which all the others together would slow down.
#define PROGRESS 0.9
#define ROUSE    100

typedef struct settings {
    ss_sweep_settings sweep; // first: its keys are shared
    int stop;                // what ends an exact law: ss_stop_rule
    double step;             // relative step on which an approximate law stops, or stop=step
    double tol;              // of stop=squared, in [D11]'s units
    int focus;               // off, on
} settings;

static const settings DEFAULTS = {.sweep = {.skip = 10, .eps = 1e-5}, .step = 5e-2, .tol = 1e-6};

const char *const ss_form_names[] = {"auto", "explicit", "matrix-free", NULL};
const char *const ss_order_names[] = {"natural", "reverse", "random:", "stripes", NULL};
const char *const ss_visit_names[] = {"needed", "all", NULL};
static const char *const ASSEMBLIES[] = {"blocks", "naive", NULL};
static const char *const FREEZES[] = {"off", "on", "paper", "absolute", NULL};
static const char *const STOPS[] = {"fb", "step", "squared", NULL};
static const char *const FOCI[] = {"off", "on", NULL};
static const char *const WAKES[] = {"time", "neighbour", NULL};

static const ss_key KEYS[] = {
    SS_SWEEP_KEYS,
    SS_CHOICE_KEY("assembly", sweep.assembly, ASSEMBLIES,
                  .about = "how W is computed; naive: the products of whole matrices"),
    SS_CHOICE_KEY(
        "freeze", sweep.freeze, FREEZES,
        .about =
            "contacts that change little are not visited; paper: the rule of [D11] relative to the "
            "largest impulse, absolute: to eps"),
    SS_INTEGER_KEY("skip", sweep.skip, 1, 1e6, .about = "sweeps for which a contact is frozen"),
    SS_REAL_KEY("share", sweep.share, 0, 1, .about = "how little is little; 0: the rule's own"),
    SS_CHOICE_KEY("wake", sweep.wake, WAKES, .about = "what ends the rest of a frozen contact"),
    SS_REAL_KEY("eps", sweep.eps, 0, 1,
                .about = "how little is little for freeze=absolute, in the units of [D11]"),
    SS_REAL_KEY(
        "rho", sweep.rho, 0, 1,
        .about =
            "kg; the unit of f, of Newton's methods and of ltol, eps and tol as in [D11]; 0: own "
            "scales"),
    SS_CHOICE_KEY(
        "stop", stop, STOPS,
        .about =
            "what ends it: the verdict (fb), the relative step, or the largest |f|^2 as in [D11]"),
    SS_REAL_KEY("step", step, 0, 1,
                .about = "relative step on which an approximate law, or stop=step, stops"),
    SS_REAL_KEY("tol", tol, 0, 1, .about = "|f|^2 on which stop=squared stops, in [D11]'s units"),
    SS_CHOICE_KEY("focus", focus, FOCI,
                  .about = "solve the contacts that still move by Newton's method"),
    {.name = NULL},
};

static bool is_one_of(const char *key, const char *const *keys)
{
    while (*keys != NULL && strcmp(key, *keys) != 0) {
        keys++;
    }
    return *keys != NULL;
}

// Of the keys of freezing.
static const char *freezing_needs(const settings *s, const char *key)
{
    static const char *const OF_FREEZING[] = {"skip", "wake", NULL};
    static const char *const WITHOUT_FREEZING[] = {"visit", "focus", NULL};
    const bool shares = s->sweep.freeze == SS_FREEZE_ON || s->sweep.freeze == SS_FREEZE_PAPER;
    if (s->sweep.freeze == SS_FREEZE_OFF && is_one_of(key, OF_FREEZING)) {
        return "freeze=on, paper or absolute";
    }
    if (s->sweep.freeze != SS_FREEZE_OFF && is_one_of(key, WITHOUT_FREEZING)) {
        return "freeze=off";
    }
    if (!shares && strcmp(key, "share") == 0) {
        return "freeze=on or freeze=paper";
    }
    return s->sweep.freeze != SS_FREEZE_ABSOLUTE && strcmp(key, "eps") == 0 ? "freeze=absolute"
                                                                            : NULL;
}

// Of the keys that say when it ends.
static const char *stopping_needs(const settings *s, bool exact, const char *key)
{
    if (!exact && strcmp(key, "stop") == 0) {
        return "a local solver of Coulomb's law";
    }
    if (exact && s->stop != SS_STOP_STEP && strcmp(key, "step") == 0) {
        return "stop=step or a local solver of another law than Coulomb's";
    }
    if ((!exact || s->stop != SS_STOP_SQUARED) && strcmp(key, "tol") == 0) {
        return exact ? "stop=squared" : "a local solver of Coulomb's law";
    }
    if (exact && s->stop != SS_STOP_JUDGED && strcmp(key, "focus") == 0) {
        return "stop=fb";
    }
    return !exact && strcmp(key, "focus") == 0 ? "a local solver of Coulomb's law" : NULL;
}

static const char *key_needs(const ss_method *m, const char *key)
{
    const settings *s = m->global_settings;
    const char *needed = freezing_needs(s, key);
    if (needed == NULL) {
        needed = stopping_needs(s, ss_method_is_exact(m), key);
    }
    if (needed != NULL) {
        return needed;
    }
    const bool in_units = s->sweep.freeze == SS_FREEZE_ABSOLUTE && strcmp(key, "freeze") == 0;
    const bool squared = s->stop == SS_STOP_SQUARED && strcmp(key, "stop") == 0;
    if (s->sweep.rho == 0.0 && (in_units || squared)) {
        return "rho=KG, which tells the units of [D11]";
    }
    if (s->sweep.rho == 0.0 && strcmp(key, "rho") == 0 && s->stop == SS_STOP_SQUARED) {
        return "a value above 0";
    }
    if (s->sweep.form == SS_FORM_MATRIX_FREE && strcmp(key, "assembly") == 0) {
        return "form=explicit";
    }
    return ss_sweep_key_needs(m, key);
}

static bool own_rule(const ss_method *m)
{
    return ((const settings *)m->global_settings)->stop != SS_STOP_JUDGED;
}

typedef struct gs_state {
    ss_block_steps *blocks; // NULL: off
    bool stepped;           // a block step came before this sweep
    int check;              // sweeps from one estimate to the next
    double mark;            // the best estimate when there was PROGRESS last,
    int marked;             // and the sweep
    double rest;            // of the sweeper, as it is mostly
} gs_state;

static ss_status gs_make(void *of, ss_drive *d, ss_error *e)
{
    gs_state *state = of;
    const settings *s = d->settings;
    const ss_method *m = d->task->method;
    const bool one_step = m->failsafe == NULL && m->local->one_step;
    d->least_step = s->step;
    d->squared = s->tol;
    d->rule = d->rule == SS_STOP_JUDGED ? (ss_stop_rule)s->stop : d->rule;
    state->check = one_step && !s->focus ? ONE_STEP_CHECK : 1;
    state->mark = INFINITY;
    state->rest = d->sweeper->rest;
    return s->focus ? ss_block_steps_new(d->sweeper, &d->limits, &state->blocks, e) : SS_OK;
}

static void gs_release(void *of)
{
    ss_block_steps_free(((gs_state *)of)->blocks);
}

// Freezing by rule `on` needs the residuals of every sweep, whatever the law.
static bool wants_estimate(const gs_state *state, const ss_drive *d)
{
    if (((const settings *)d->settings)->sweep.freeze == SS_FREEZE_ON) {
        return true;
    }
    return d->rule == SS_STOP_JUDGED && d->iterations % state->check == state->check - 1;
}

// Many contacts that rest with a little each can hold the others where they are: without progress
// one sweep of ROUSE visits all.
static void rouse(gs_state *state, ss_sweeper *s)
{
    if (s->estimates && s->last.estimate < PROGRESS * state->mark) {
        state->mark = s->last.estimate;
        state->marked = s->sweeps;
    }
    s->rest = (s->sweeps - state->marked) % ROUSE == ROUSE - 1 ? 0.0 : state->rest;
}

static void step_block(gs_state *state, ss_drive *d)
{
    state->stepped =
        state->blocks != NULL && d->iterations > 0 && ss_block_steps_try(state->blocks);
    d->note = state->stepped ? "after a block step" : NULL;
    if (state->stepped) { // progress is counted afresh
        state->mark = INFINITY;
    }
    d->more_visits = state->blocks != NULL ? (long)ss_block_steps_work(state->blocks) : 0;
}

// By a rule of its own: says so where the spec asked for one.
static ss_outcome gs_end(ss_drive *d)
{
    const settings *s = d->settings;
    if (s->stop != SS_STOP_JUDGED) {
        snprintf(d->why, sizeof d->why, "ended by its own rule, %s",
                 d->rule == SS_STOP_STEP ? "the relative step" : "stop=squared");
    }
    return SS_CONVERGED;
}

static ss_outcome gs_step(void *of, ss_drive *d)
{
    gs_state *state = of;
    if (d->iterations == 0 && d->rule == SS_STOP_SQUARED && ss_drive_meets_squared(d)) {
        return gs_end(d);
    }
    step_block(state, d);
    if (d->iterations % REFRESH_SWEEPS == REFRESH_SWEEPS - 1) {
        ss_coupling_refresh(d->c);
    }
    d->sweeper->estimates = wants_estimate(state, d);
    const ss_outcome outcome = ss_drive_sweep(d, false);
    rouse(state, d->sweeper);
    return outcome == SS_CONVERGED ? gs_end(d) : outcome;
}

static const ss_steps STEPS = {.sweeps = true,
                               .whole = true,
                               .state_size = sizeof(gs_state),
                               .make = gs_make,
                               .step = gs_step,
                               .release = gs_release};

const ss_global_solver ss_gauss_seidel = {
    .card = {.name = "gs",
             .law = SS_EXACT,
             .reference = "D11",
             .about = "Gauss-Seidel: visits the contacts in turn and solves each with the "
                      "newest impulses of the others ([D11], Algorithm 1). It stops when the "
                      "residual of all contacts is small enough and the judge agrees. A spec "
                      "without a global solver means gs; all local solvers run under it.",
             .keys = KEYS,
             .defaults = &DEFAULTS,
             .settings_size = sizeof(settings),
             .printed = "rho=8e-6,ltol=1e-7,stop=squared,tol=1e-6,freeze=absolute,"
                        "eps=1e-5,skip=10"},
    .steps = &STEPS,
    .takes_local = true,
    .key_needs = key_needs,
    .own_rule = own_rule,
    .takes_threads = ss_sweep_takes_threads,
    .solve = ss_drive_solve,
};
