// ipm: a primal-dual interior point method with De Saxce's shift inside Newton's equations (the
// family of Acary, Armand, Nguyen and Shpakovych 2023; doc/formulation.md, "Interior points").
//
// It solves (1) of ipm_newton.h while t -> 0, by the steps of ipm_step.h. Where a step is short, or det J < 0, the path
// of the solutions has a fold between the last good point and here: from that point on the path is followed
// (ipm_path.h).
#include <math.h>
#include <stdlib.h>

#include "solvers/global/global.h"
#include "solvers/global/drive.h"
#include "solvers/global/ipm_path.h"
#include "solvers/global/ipm_step.h"
#include "solvers/sweep/sweep_keys.h"

#define GOOD_STEP  0.5  // least length of a good step: a path may begin there, and delta falls
#define GOOD_PLAIN 0.3  // the same without correctors
#define SETTLED    1e-5 // error below which short steps are due to rounding, and folds are few
#define LEAST_HARD 1e-9 // error below which delta does not fall again: rounding needs it
#define PASSED     0.1 // past one, at this share of x.y where it began, a path is left for steps down
#define PATH_TRIED 40 // idle steps on a path that correctors have led to, before it begins anew
#define PATH_ROUND 60 // idle steps on a path that may go round: other moves are tried
#define NEAR_JUDGED                                                                                \
    3.0 // times the tolerance, or LEAST_JUDGED: answers with such an estimate are judged
#define LEAST_JUDGED 1e-10 // below it rounding counts, of which the estimate knows nothing
#define BETTER       0.999 // times the least error so far: an answer above it is no better
#define IDLE_FEW     5     // as many, or a multiple, without a better answer: delta grows
#define IDLE_MOST    60    // steps without a better answer before it gives up,
#define IDLE_PATH    300   // and on a path, which may climb far

typedef struct settings {
    int form; // ss_coupling_form
    double delta;
    double memory; // GB
} settings;

static const settings DEFAULTS = {.delta = 1e-8, .memory = SS_MEMORY_DEFAULT};

static const ss_key KEYS[] = {
    SS_FORM_KEY,
    SS_REAL_KEY("delta", delta, 0, SS_IPM_DELTA_MOST,
                .about = "compliance added in each step, over tr(W_ii)/d"),
    SS_MEMORY_KEY,
    {.name = NULL},
};

typedef struct ipm_run {
    ss_interior newton;
    ss_ipm_path path;
    ss_ipm_point good;    // where the last good step began,
    double good_gap;      // x.y there; 0: there is none
    int along;            // steps on the path that is followed
    bool is_plain;        // no correctors
    ss_ipm_point shorter; // a direction before a corrector
    double least;         // estimate so far,
    int idle;             // steps since then
} ipm_run;

static void ipm_release(void *of)
{
    ipm_run *run = of;
    ss_ipm_path_release(&run->path);
    ss_ipm_release(&run->newton);
    free(run->good.q);
    free(run->shorter.q);
}

// x and y on the axis of the cones, q without impulses. The start that is given is ignored, as most of its impulses
// are on the boundary of the cones.
static void ipm_start(ipm_run *run, const ss_drive *d)
{
    ss_interior *state = &run->newton;
    const settings *s = d->settings;
    state->delta = s->delta;
    run->least = INFINITY;
    run->idle = 0;
    run->good_gap = 0.0;
    run->path.t = 0.0;
    ss_ipm_step_start(state, d);
}

// ---- One step

// From the last good point, if there is one.
static bool follow_path(ipm_run *run)
{
    if (!(run->good_gap > 0.0)) {
        return false;
    }
    ss_ipm_copy(&run->newton, run->good, ss_ipm_place(&run->newton));
    ss_ipm_path_begin(&run->path, run->good_gap);
    run->along = 0;
    run->newton.is_short = false; // the sign of det J counts there
    return true;
}

static bool is_settled(const ipm_run *run)
{
    return run->least < SETTLED;
}

static ss_outcome step_down(ipm_run *run, ss_drive *d)
{
    ss_interior *state = &run->newton;
    state->gap = ss_ipm_gap(state, 0.0);
    if (!ss_ipm_factor(state)) {
        return ss_drive_stopped(d);
    }
    if (ss_block_lu_is_negative(state->system->lu) && follow_path(run)) {
        return SS_UNSOLVED;
    }
    double plain;
    const ss_ipm_point shorter = run->is_plain ? (ss_ipm_point){0} : run->shorter;
    const double a = ss_ipm_step_find(state, shorter, 0.0, &plain);
    if (a < SS_IPM_SHORT && is_settled(run) && state->delta < SS_IPM_DELTA_MOST) {
        ss_ipm_soften(state);
        return SS_UNSOLVED;
    }
    if (a < SS_IPM_SHORT && follow_path(run)) {
        return SS_UNSOLVED;
    }
    if (!(a > 0.0) || !isfinite(a)) {
        return ss_drive_stopped(d);
    }
    if (plain >= (run->is_plain ? GOOD_PLAIN : GOOD_STEP)) {
        ss_ipm_copy(state, ss_ipm_place(state), run->good);
        run->good_gap = state->gap;
    }
    if (a >= GOOD_STEP && !state->is_rough && run->least > LEAST_HARD) {
        ss_ipm_harden(state, run->path.least_delta);
    }
    ss_ipm_move(state, a);
    return SS_UNSOLVED;
}

// A path that leads nowhere may be another than that from the start, on which correctors have led: then the
// method begins anew without them.
static bool step_along(ipm_run *run, const ss_drive *d)
{
    if (!ss_ipm_path_step(&run->newton, &run->path)) {
        return false;
    }
    run->along++;
    if (run->idle % PATH_ROUND == PATH_ROUND - 1) {
        ss_ipm_path_shorten(&run->path);
    }
    if (is_settled(run) && run->path.t < PASSED * run->good_gap &&
        !ss_block_lu_is_negative(run->newton.system->lu)) {
        run->path.t = 0.0;
        run->good_gap = 0.0;
    } else if (!run->is_plain && run->along > PATH_TRIED && run->idle > PATH_TRIED) {
        run->is_plain = true;
        ipm_start(run, d);
    }
    return true;
}

// Judged where its estimate is near the tolerance, and now and then.
static void look(ipm_run *run, ss_drive *d)
{
    ss_interior *state = &run->newton;
    const double estimate = ss_ipm_estimate(state);
    run->idle++;
    if (estimate < BETTER * run->least) {
        run->idle = 0;
    }
    run->least = fmin(estimate, run->least);
    const double near = fmax(NEAR_JUDGED * d->task->tolerance, LEAST_JUDGED);
    if (estimate > near && run->idle % IDLE_FEW != IDLE_FEW - 1) {
        ss_drive_pass(d, state->r, estimate);
    } else {
        ss_drive_judge(d, state->r);
    }
}

static ss_outcome ipm_step(void *of, ss_drive *d)
{
    ipm_run *run = of;
    ss_interior *state = &run->newton;
    d->iterations++;
    if (run->path.t > 0.0) {
        if (!step_along(run, d)) {
            return ss_drive_stopped(d);
        }
    } else {
        const ss_outcome outcome = step_down(run, d);
        if (outcome != SS_UNSOLVED || run->path.t > 0.0) {
            return outcome;
        }
    }
    look(run, d);
    const int idle = run->idle > d->idle ? run->idle : d->idle;
    if (run->path.t == 0.0 && idle > 0 && idle % IDLE_FEW == 0) {
        ss_ipm_soften(state);
    }
    return idle < (run->path.t > 0.0 ? IDLE_PATH : IDLE_MOST) ? SS_UNSOLVED : SS_STALLED;
}

// ---- Making one

static ss_status ipm_make(void *of, ss_drive *d, ss_error *e)
{
    ipm_run *run = of;
    ss_interior *state = &run->newton;
    const settings *s = d->settings;
    const ss_status status = ss_implicit_new(d->c, s->memory, &d->limits, &state->system, e);
    if (state->system == NULL) {
        d->halted = true;
        return status;
    }
    state->size = state->system->size;
    state->delta = s->delta; // the least of a path
    const bool made = ss_ipm_allocate(state) && ss_ipm_path_allocate(state, &run->path);
    run->good = made ? ss_ipm_point_new(state) : (ss_ipm_point){0};
    run->shorter = made ? ss_ipm_point_new(state) : (ss_ipm_point){0};
    if (run->good.q == NULL || run->shorter.q == NULL) {
        return ss_fail_memory(e, "an interior point method");
    }
    ipm_start(run, d);
    return SS_OK;
}

static const ss_steps STEPS = {.form = offsetof(settings, form),
                               .whole = true,
                               .state_size = sizeof(ipm_run),
                               .make = ipm_make,
                               .step = ipm_step,
                               .release = ipm_release};

const ss_global_solver ss_ipm = {
    .card = {.name = "ipm",
             .law = SS_EXACT,
             .reference = "AANS23",
             .about = "A primal-dual interior point method: predictor and corrector of Mehrotra "
                      "and correctors of Gondzio in the scaling of Nesterov and Todd, one "
                      "factorisation a step, with De Saxce's shift inside Newton's equations. "
                      "Some 15 to 30 steps whatever the mass ratios and the condition: for "
                      "dense hair, hyperstatic problems and towers. If friction is high, it "
                      "follows the path of its answers through folds. It ignores the start that "
                      "it is given.",
             .keys = KEYS,
             .defaults = &DEFAULTS,
             .settings_size = sizeof(settings)},
    .steps = &STEPS,
    .takes_threads = ss_drive_takes_threads,
    .solve = ss_drive_solve,
};
