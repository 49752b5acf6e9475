// ipm: a primal-dual interior point method with De Saxce's shift inside Newton's equations (the
// family of Acary, Armand, Nguyen and Shpakovych 2023; doc/formulation.md, "Interior points").
//
// It solves (1) of ipm_newton.h while t -> 0. A step is one of Mehrotra's: a first direction with t = 0,
// then one with t, x.y times the third power of the share of it that the first leaves, and with the first
// one's correction of second order. Gondzio's correctors then make it longer. Where a step is short, or
// det J < 0, the path of the solutions has a fold between the last good point and here: from that point on the
// path is followed (ipm_path.h).
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/global/global.h"
#include "solvers/global/drive.h"
#include "solvers/global/ipm_path.h"
#include "solvers/sweep/sweep_keys.h"

#define START_IMPULSE 0.1 // r_N of the start over V / (tr W_ii / d)
#define SHORT_STEP    0.1 // a step below it is made again without correction
#define CENTRED       0.5 // and with this share of x.y; where that is short, too, there is a fold
#define GOOD_STEP     0.5 // a path may be followed from where a step was as long without correctors,
#define GOOD_PLAIN    0.3  // or as this, where there are none. After a good step delta falls again
#define LONG_STEP     0.9  // correctors gain nothing
#define CORRECTORS    2    // most in a step, while each makes it longer
#define GAIN          0.03 // by as much,
#define REACH         0.3  // and looks so much farther
#define SETTLED       1e-5 // below this error short steps are due to rounding, and folds are few:
#define LEAST_HARD    1e-9 // and below this error rounding needs the delta that it has asked for
#define PASSED        0.1 // past one, at this share of x.y where it began, a path is left for steps down
#define PATH_TRIED    40 // idle steps on a path that correctors have led to, before it begins anew
#define NEAR_JUDGED                                                                                \
    3.0 // times the tolerance, or LEAST_JUDGED: answers with such an estimate are judged
#define LEAST_JUDGED 1e-10 // below it rounding counts, of which the estimate knows nothing
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
    memset(state->x, 0, 4 * (size_t)d->c->n * sizeof *state->x);
    memset(state->y, 0, 4 * (size_t)d->c->n * sizeof *state->y);
    ss_drive_weights(d, state->compliance);
    ss_ipm_set_free(state);
    for (size_t i = 0; i < (size_t)d->c->n; i++) {
        const double unit =
            ss_ipm_is_line(state, (int)i) ? 1.0 : fmin(3.0 * d->c->mu[i], 1.0); // about P
        state->x[4 * i] = START_IMPULSE * d->c->V * unit * state->compliance[i];
        state->y[4 * i] = d->c->V / unit;
        state->compliance[i] = 1.0 / state->compliance[i];
    }
}

// ---- One step

static double find_length(const ss_interior *state)
{
    return SS_IPM_KEPT * ss_ipm_way(state);
}

static void soften_rough(ss_interior *state)
{
    if (state->is_rough) {
        ss_ipm_soften(state);
    }
}

// Mehrotra's direction for the t that it finds. The length of the step, NaN where there is no factor.
static double predict(ss_interior *state, double *t)
{
    ss_ipm_aim(state, 0.0, false);
    if (!ss_ipm_direction_roughly(state)) {
        return NAN;
    }
    soften_rough(state);
    const double after = ss_ipm_gap(state, fmin(ss_ipm_way(state), 1.0)) / state->gap;
    const double share = fmin(fmax(after, 0.0), 1.0);
    *t = share * share * share * state->gap;
    ss_ipm_aim(state, *t, true);
    return ss_ipm_direction_again(state) ? find_length(state) : NAN;
}

// The length of the step after Gondzio's correctors, from one of `a` without them.
static double correct(ipm_run *run, double t, double a)
{
    ss_interior *state = &run->newton;
    for (int k = 0; k < CORRECTORS && a < LONG_STEP && !run->is_plain; k++) {
        ss_ipm_copy(state, ss_ipm_change(state), run->shorter);
        if (!ss_ipm_centre(state, fmin(a + REACH, 1.0), t)) {
            return NAN;
        }
        const double longer = find_length(state);
        if (!(longer >= a)) {
            ss_ipm_copy(state, run->shorter, ss_ipm_change(state));
            return a;
        }
        if (longer < a + GAIN) {
            return longer;
        }
        a = longer;
    }
    return a;
}

// The length of the step: with correctors, or of a centring one where that leads out of the cones at once. *plain is
// the length without correctors.
static double find_step(ipm_run *run, double *plain)
{
    ss_interior *state = &run->newton;
    double t = 0.0;
    *plain = predict(state, &t);
    const double a = correct(run, t, *plain);
    if (a >= SHORT_STEP || !isfinite(a)) {
        return a;
    }
    ss_ipm_aim(state, CENTRED * state->gap, false);
    return ss_ipm_direction(state) ? find_length(state) : NAN;
}

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
    const double a = find_step(run, &plain);
    if (a < SHORT_STEP && is_settled(run) && state->delta < SS_IPM_DELTA_MOST) {
        ss_ipm_soften(state);
        return SS_UNSOLVED;
    }
    if (a < SHORT_STEP && follow_path(run)) {
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
    if (estimate < run->least) {
        run->least = estimate;
        run->idle = 0;
    }
    ss_ipm_impulses(state);
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
