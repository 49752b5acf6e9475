// ipm: a primal-dual interior point method with De Saxce's shift inside Newton's equations (the
// family of Acary, Armand, Nguyen and Shpakovych 2023; doc/formulation.md, "Interior points").
//
// It solves (1) of ipm_newton.h while t -> 0. A step is one of Mehrotra's: a first direction with t = 0,
// then one with t, x.y times the third power of the share of it that the first leaves, and with the first
// one's correction of second order. Where a step is short, or det J < 0, the path of the solutions has a fold
// between the last good point and here: from that point on the path is followed (ipm_path.h).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/global/global.h"
#include "solvers/global/drive.h"
#include "solvers/global/ipm_path.h"
#include "solvers/sweep/sweep_keys.h"

#define START_IMPULSE 0.1  // r_N of the start over V / (tr W_ii / d)
#define SHORT_STEP    0.1  // a step below it is made again without correction
#define CENTRED       0.5  // and with this share of x.y; where that is short, too, there is a fold
#define GOOD_STEP     0.3  // a path may be followed from where a step was at least as long
#define ROUGH         1e-5 // share of its residual, of a direction that rounding has spoilt
#define IDLE_FEW      5    // as many, or a multiple, without a better answer: delta grows
#define IDLE_MOST     60   // steps without a better answer before it gives up,
#define IDLE_PATH     300  // and on a path, which may climb far

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
    ss_ipm_point good; // where the last good step began,
    double good_gap;   // x.y there; 0: there is none
} ipm_run;

static void ipm_release(void *of)
{
    ipm_run *run = of;
    ss_ipm_path_release(&run->path);
    ss_ipm_release(&run->newton);
    free(run->good.q);
}

// ---- One step

// Mehrotra's direction, or a centring one where his leads out of the cones at once. The length of the step.
static double find_step(ss_interior *state)
{
    ss_ipm_aim(state, 0.0, false);
    if (!(ss_ipm_direction(state) <= ROUGH)) {
        ss_ipm_soften(state);
    }
    const double after = ss_ipm_gap(state, fmin(ss_ipm_way(state), 1.0)) / state->gap;
    const double share = fmin(fmax(after, 0.0), 1.0);
    ss_ipm_aim(state, share * share * share * state->gap, true);
    ss_ipm_direction(state);
    const double a = SS_IPM_KEPT * ss_ipm_way(state);
    if (a >= SHORT_STEP) {
        return a;
    }
    ss_ipm_aim(state, CENTRED * state->gap, false);
    ss_ipm_direction(state);
    return SS_IPM_KEPT * ss_ipm_way(state);
}

// From the last good point, if there is one.
static bool follow_path(ipm_run *run)
{
    if (run->good_gap > 0.0) {
        ss_ipm_copy(&run->newton, run->good, ss_ipm_place(&run->newton));
        run->path.t = run->good_gap;
    }
    return run->good_gap > 0.0;
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
    const double a = find_step(state);
    if (a < SHORT_STEP && follow_path(run)) {
        return SS_UNSOLVED;
    }
    if (!(a > 0.0) || !isfinite(a)) {
        return SS_STALLED;
    }
    if (a >= GOOD_STEP) {
        ss_ipm_copy(state, ss_ipm_place(state), run->good);
        run->good_gap = state->gap;
    }
    ss_ipm_move(state, a);
    return SS_UNSOLVED;
}

static ss_outcome ipm_step(void *of, ss_drive *d)
{
    ipm_run *run = of;
    ss_interior *state = &run->newton;
    d->iterations++;
    if (run->path.t > 0.0) {
        if (!ss_ipm_path_step(state, &run->path)) {
            return ss_drive_stopped(d);
        }
    } else {
        const ss_outcome outcome = step_down(run, d);
        if (outcome != SS_UNSOLVED || run->path.t > 0.0) {
            return outcome;
        }
    }
    ss_ipm_impulses(state, 0.0);
    ss_drive_judge(d, state->r);
    if (run->path.t == 0.0 && d->idle > 0 && d->idle % IDLE_FEW == 0) {
        ss_ipm_soften(state);
    }
    return d->idle < (run->path.t > 0.0 ? IDLE_PATH : IDLE_MOST) ? SS_UNSOLVED : SS_STALLED;
}

// ---- Making one

// x and y on the axis of the cones, q at no impulse: the start that is handed in has no use, as it
// lies on the boundary of the cones mostly.
static void ipm_start(ss_interior *state, const ss_drive *d)
{
    ss_drive_weights(d, state->compliance);
    ss_ipm_residual(state);
    memcpy(state->q, state->left, state->size * sizeof *state->q);
    for (size_t i = 0; i < (size_t)d->c->n; i++) {
        const double unit =
            ss_ipm_is_line(state, (int)i) ? 1.0 : fmin(3.0 * d->c->mu[i], 1.0); // about P
        state->x[4 * i] = START_IMPULSE * d->c->V * unit * state->compliance[i];
        state->y[4 * i] = d->c->V / unit;
        state->compliance[i] = 1.0 / state->compliance[i];
    }
}

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
    state->delta = s->delta;
    const bool made = ss_ipm_allocate(state) && ss_ipm_path_allocate(state, &run->path);
    run->good = made ? ss_ipm_point_new(state) : (ss_ipm_point){0};
    if (run->good.q == NULL) {
        return ss_fail_memory(e, "an interior point method");
    }
    ipm_start(state, d);
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
                      "in the scaling of Nesterov and Todd, one factorisation a step, with De "
                      "Saxce's shift inside Newton's equations. Some 20 to 30 steps whatever "
                      "the mass ratios and the condition: for dense hair, hyperstatic "
                      "problems and towers. Where friction is high it follows the path of its "
                      "answers through folds. It always starts at the axis of the cones.",
             .keys = KEYS,
             .defaults = &DEFAULTS,
             .settings_size = sizeof(settings)},
    .steps = &STEPS,
    .solve = ss_drive_solve,
};
