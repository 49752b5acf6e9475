// solvers/global/ppa.c -- ppa: the proximal point method for Coulomb's law with an exact proximal
// step (prox.h).
//
//     outer:  l <- phi(l)      its fixed points are the solutions
//     inner:  semismooth Newton to 0.3 of its first residual
//
// rho, the weight R_i tr(W_ii)/d, grows while the inner steps are few and falls when they fail;
// once it has reached its cap the outer iteration is mixed (mixing.h) in the norm (phi - l) /
// sqrt(p_i), p_i = 1 / (tr W_ii / d). The fixed numbers are measured ones: of the values tried (a
// fixed rho, caps from 1e4 to 1e8, mixing before the cap, inner shares from 0.03 to 0.5, rho
// growing by other factors) these solve most of the dense ponytails, in the fewest steps. phi is
// judged, never l. In dense hair it starts from zero with interior points; elsewhere, from
// impulses, and where those get stuck, with a few sweeps of Gauss and Seidel.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/global/drive.h"
#include "solvers/global/global.h"
#include "solvers/global/ipm.h"
#include "solvers/global/prox.h"
#include "solvers/linear/mixing.h"
#include "solvers/registry.h"
#include "solvers/small.h"
#include "solvers/sweep/sweep.h"

// ---- Interior points at the start
//
// The equations of ipm.c with C (x - x'), where x' is the impulse before the step, are those of a
// proximal step of weight rho = 1/delta around x'. One step is taken on the path of each. Where
// contacts open, stick or slip anew the exact step of prox.h has kinks, which Newton's method
// passes a few at a time; here all is smooth, and far from the answer far cheaper. Near the answer
// few contacts still change, and exact steps are cheaper.
//
// If the path of the answers has a fold (a step is short even to the centre, or det J < 0), the
// proximal problem of less weight has none: delta grows, and falls again as steps succeed. If delta
// may grow no more, only the contacts of the fold get more compliance. Where friction is high these
// steps may lead nowhere; ppa then begins with sweeps.

typedef struct inside_steps {
    ss_interior newton;
    double *plain;   // [n] compliance without folds
    double *part;    // [n] scratch
    bool by_contact; // compliance grows by contact
    int tries;       // without a step, in a row
    bool is_short;   // factors in floats pay
    double least;    // least estimate so far
    int idle;        // steps since that estimate
} inside_steps;

// Tells what follows a step.
typedef enum inside_end { INSIDE_GOES_ON, INSIDE_NEAR, INSIDE_STUCK } inside_end;

#define LEAST_DELTA  1e-6 // the cap of rho is 1e6, too
#define MOST_DELTA   3e-4 // beyond it only the contacts of a fold get more compliance
#define DELTA_GROWTH 3.0  // least factor by which delta grows at a fold
#define MOST_GROWTH  5.0  // largest factor; with 10, many more steps follow
#define GOOD_STEP    0.5  // compliance decays after a step of at least this length
#define HOPELESS     0.05 // a first direction as short: a centring one is shorter than 0.1 then
#define NEAR         1e-6 // estimate from which on exact steps are cheaper
#define NEAR_JUDGED  3.0  // times the tolerance: answers with such an estimate are judged
#define IDLE_MOST    20   // steps without a better estimate

// The contacts of a fold have a large part of |direction|^2 (ss_ipm_find_parts): at least
// FOLD_SHARE of the largest part, and FOLD_LEAST times x.y.
#define FOLD_SHARE 0.01
#define FOLD_LEAST 4.0

// Factors of their compliance: where a step is refused, at most FOLD_TRIES times in a row, where a
// step shorter than FOLD_STEP is taken, and after a good step. FOLD_MOST is the largest multiple of
// the compliance at the start.
#define FOLD_GROWTH 10.0
#define FOLD_TRIES  2
#define FOLD_MORE   2.0
#define FOLD_STEP   0.3
#define FOLD_DECAY  0.5
#define FOLD_MOST   1e9

static void inside_free(inside_steps *inside)
{
    if (inside != NULL) {
        ss_ipm_release(&inside->newton);
        free(inside->plain);
        free(inside);
    }
}

// The system is borrowed. NULL without memory.
static inside_steps *inside_new(ss_implicit *system, const ss_drive *d)
{
    inside_steps *inside = calloc(1, sizeof *inside);
    if (inside == NULL) {
        return NULL;
    }
    ss_interior *state = &inside->newton;
    const size_t n = (size_t)d->c->n;
    inside->plain = malloc((2 * n + 1) * sizeof *inside->plain);
    if (!ss_ipm_allocate(state, system) || inside->plain == NULL) {
        inside_free(inside);
        return NULL;
    }
    inside->is_short = state->is_short;
    inside->least = INFINITY;
    state->delta = LEAST_DELTA;
    ss_ipm_start(state, d);
    inside->part = inside->plain + n;
    memcpy(inside->plain, state->compliance, n * sizeof *inside->plain);
    return inside;
}

// Takes weight away: delta grows. If it may grow no more it is least again, and from now on only
// the contacts of folds get more compliance.
static void inside_soften(inside_steps *inside, double growth)
{
    ss_interior *state = &inside->newton;
    inside->by_contact = state->delta >= MOST_DELTA;
    state->delta = inside->by_contact ? LEAST_DELTA : fmin(growth * state->delta, MOST_DELTA);
    state->is_short = inside->is_short;
}

// Gives compliance to the contacts of the fold that the direction meets.
static void inside_soften_fold(inside_steps *inside, double growth)
{
    ss_interior *state = &inside->newton;
    const int n = state->system->c->n;
    double *part = inside->part, largest = 0.0;
    ss_ipm_find_parts(state, part);
    for (int i = 0; i < n; i++) {
        largest = fmax(part[i], largest);
    }
    const double least = fmax(FOLD_LEAST * state->gap, FOLD_SHARE * largest);
    for (int i = 0; i < n; i++) {
        if (part[i] >= least) {
            state->compliance[i] =
                fmin(growth * state->compliance[i], FOLD_MOST * inside->plain[i]);
        }
    }
}

// True if no step is taken, as it would be short or det J < 0: the problem is softened instead.
// Contacts of a fold are softened at most FOLD_TRIES times in a row before a step is taken all the
// same.
static bool inside_refuses(inside_steps *inside, bool folded, double a)
{
    if ((!folded && !(a < SS_IPM_SHORT)) || inside->tries == FOLD_TRIES) {
        inside->tries = 0;
        return false;
    }
    if (inside->by_contact) {
        inside->tries++;
        inside_soften_fold(inside, FOLD_GROWTH);
    } else {
        inside_soften(inside, fmin(fmax(SS_IPM_SHORT / a, DELTA_GROWTH), MOST_GROWTH));
    }
    return true;
}

// Adapts the compliance after a step of length a.
static void inside_adapt(inside_steps *inside, double a)
{
    ss_interior *state = &inside->newton;
    if (inside->by_contact && a < FOLD_STEP) {
        inside_soften_fold(inside, FOLD_MORE);
    }
    if (a < GOOD_STEP) {
        return;
    }
    ss_ipm_harden(state, LEAST_DELTA);
    for (int i = 0; inside->by_contact && i < state->system->c->n; i++) {
        state->compliance[i] = fmax(FOLD_DECAY * state->compliance[i], inside->plain[i]);
    }
}

static inside_end inside_look(inside_steps *inside, ss_drive *d)
{
    ss_interior *state = &inside->newton;
    const double estimate = ss_ipm_estimate(state);
    inside->idle++;
    if (estimate < inside->least) {
        inside->least = estimate;
        inside->idle = 0;
    }
    if (estimate <= NEAR_JUDGED * d->task->tolerance) {
        ss_drive_judge(d, state->r);
    } else {
        ss_drive_pass(d, state->r, estimate);
    }
    return estimate <= NEAR ? INSIDE_NEAR : INSIDE_GOES_ON;
}

// Makes one step, which it counts, and judges it if its estimate is near the tolerance.
static inside_end inside_step(inside_steps *inside, ss_drive *d)
{
    ss_interior *state = &inside->newton;
    d->iterations++;
    state->gap = ss_ipm_gap(state, 0.0);
    if (!ss_ipm_factor(state)) {
        return INSIDE_STUCK;
    }
    const bool folded = ss_block_lu_is_negative(state->system->lu);
    if (folded && !inside->by_contact) {
        inside_soften(inside, DELTA_GROWTH);
        return INSIDE_GOES_ON;
    }
    double plain;
    const double a = ss_ipm_find_step(state, true, inside->by_contact ? 0.0 : HOPELESS, &plain);
    if (inside_refuses(inside, folded, a)) {
        return INSIDE_GOES_ON;
    }
    if (!(a > 0.0) || !isfinite(a) || inside->idle >= IDLE_MOST) {
        return INSIDE_STUCK;
    }
    inside_adapt(inside, a);
    ss_ipm_move(state, a);
    return inside_look(inside, d);
}

// ---- The method

#define INTERIOR_MOST 100 // steps of interior points
#define NEAR_MOST     100 // exact steps after interior points, which are 1 to 20 mostly
#define RHO_NEAR      1e3 // weight of the first of these exact steps
#define RHO_CAP       1e6
#define RHO_AFTER     1.5 // most growth once a step has been rejected
#define RHO_BACK      0.25
#define INNER_SHARE   0.3
#define INNER_STEPS   20
#define REJECT        0.3  // of the first residual: an inner loop that failed above it is undone
#define INNER_FLOOR   1e-8 // over the scale of y: an inner loop that failed below it is at rounding
#define RHO_LEAST     1e-12
#define MIXING_CUTOFF 1e-8

typedef enum ppa_start_kind { START_AUTO, START_INTERIOR, START_SWEEPS } ppa_start_kind;
static const char *const STARTS[] = {"auto", "interior", "sweeps", NULL};

typedef struct settings {
    ss_sweep_settings sweep; // its form, and the sweeps of the start
    int start;               // ppa_start_kind
    int sweeps;
    double rho;
    int depth;
    double memory; // GB
} settings;

static const settings DEFAULTS = {
    .sweep = {.skip = 10}, .sweeps = 50, .rho = 10.0, .depth = 10, .memory = SS_MEMORY_DEFAULT};

static const ss_key KEYS[] = {
    SS_CHOICE_KEY("form", sweep.form, ss_form_names, .about = SS_FORM_ABOUT),
    SS_CHOICE_KEY("start", start, STARTS,
                  .about = "what comes before exact steps; interior points ignore the impulses of "
                           "the start; auto: they come in dense hair, if those are zero"),
    SS_INTEGER_KEY("sweeps", sweeps, 0, 1e6, .about = "sweeps of Gauss-Seidel at the start"),
    SS_REAL_KEY("rho", rho, 1e-6, RHO_CAP,
                .about = "first weight of the proximal step after sweeps, over tr(W_ii)/d"),
    SS_INTEGER_KEY("depth", depth, 1, 60, .about = "steps that are mixed"),
    SS_MEMORY_KEY,
    {.name = NULL},
};

typedef struct ppa_state {
    // The first sweeps have a method, a task and settings of their own.
    ss_method *start_method;
    ss_task start;
    ss_sweep_settings sweep;
    ss_prox *prox;
    inside_steps *inside; // interior points; NULL if there are none, or no more
    int near_from;        // iterations before the exact steps that follow these; 0: they do not
    int swept_from;       // iterations before the sweeps
    bool started;         // with proximal steps
    ss_mixing *mixing;
    double *old_y;    // [prox->size]
    double *f, *root; // [4 n] residual of the outer iteration; [n] 1 / sqrt(p_i)
    double rho, cap, growth;
} ppa_state;

static void set_weights(const ppa_state *state, const ss_drive *d)
{
    ss_drive_weights(d, state->prox->R);
    for (int i = 0; i < d->c->n; i++) {
        state->prox->R[i] *= state->rho;
    }
}

static void grow_weights(ppa_state *state, int steps)
{
    const double wanted = steps <= 4 ? 2.0 : steps <= 8 ? 1.5 : steps <= 14 ? 1.2 : 1.0;
    state->rho = fmin(state->rho * fmin(wanted, state->growth), state->cap);
}

static void ppa_accept(ppa_state *state, const ss_prox_info *info)
{
    ss_prox *p = state->prox;
    const size_t size = 4 * (size_t)p->c->n;
    if (state->rho >= state->cap) {
        for (size_t k = 0; k < size; k++) {
            state->f[k] = state->root[k / 4] * (p->phi[k] - p->l[k]);
        }
        memcpy(p->l, p->phi, size * sizeof *p->l);
        ss_mixing_step(state->mixing, state->f, p->l, p->y);
    } else {
        memcpy(p->l, p->phi, size * sizeof *p->l);
    }
    grow_weights(state, info->steps);
}

static void reject(ppa_state *state)
{
    memcpy(state->prox->y, state->old_y, state->prox->size * sizeof *state->old_y);
    state->rho *= RHO_BACK;
    state->growth = RHO_AFTER;
    ss_mixing_forget(state->mixing);
}

static void ppa_outer_step(ppa_state *state, ss_drive *d)
{
    ss_prox *p = state->prox;
    set_weights(state, d);
    memcpy(state->old_y, p->y, p->size * sizeof *p->y);
    const ss_prox_info info = ss_prox_solve(p, INNER_SHARE, ss_drive_left(d, INNER_STEPS));
    d->iterations += info.steps > 0 ? info.steps : 1;
    ss_drive_judge(d, p->phi);
    const bool failed = !info.reached;
    if (failed && !(info.last <= REJECT * info.first) && !(info.last <= INNER_FLOOR * p->scale)) {
        reject(state);
        return;
    }
    if (failed && info.last <= INNER_FLOOR * p->scale && state->rho > 1.0) {
        state->rho *= RHO_BACK;
        state->cap = state->rho;
    }
    ppa_accept(state, &info);
}

static void start_outer(ppa_state *state, ss_drive *d)
{
    if (d->unjudged) {
        ss_drive_judge(d, d->c->r);
    }
    ss_prox_start(state->prox);
    memcpy(state->prox->l, state->prox->phi, 4 * (size_t)d->c->n * sizeof *state->prox->l);
    state->started = true;
}

// Begins with sweeps from the present impulses.
static void begin_with_sweeps(ppa_state *state, const ss_drive *d)
{
    const settings *s = d->settings;
    ss_mixing_forget(state->mixing);
    state->started = false;
    state->rho = s->rho;
    state->cap = RHO_CAP;
    state->growth = INFINITY;
    state->near_from = 0;
    state->swept_from = d->iterations;
}

// Begins with sweeps from the start.
static void begin_again(ppa_state *state, ss_drive *d)
{
    ss_coupling_set(d->c, d->start);
    begin_with_sweeps(state, d);
}

// Makes a step of interior points. After the last one it prepares what follows.
static void ppa_step_inside(ppa_state *state, ss_drive *d)
{
    const inside_end now = inside_step(state->inside, d);
    if (now == INSIDE_GOES_ON && d->iterations < INTERIOR_MOST) {
        return;
    }
    inside_free(state->inside);
    state->inside = NULL;
    if (now == INSIDE_NEAR) {
        start_outer(state, d);
        state->rho = RHO_NEAR;
        state->near_from = d->iterations;
    } else {
        begin_again(state, d);
    }
}

static ss_outcome ppa_step(void *of, ss_drive *d)
{
    ppa_state *state = of;
    const settings *s = d->settings;
    if (state->inside != NULL) {
        ppa_step_inside(state, d);
        return SS_UNSOLVED;
    }
    if (state->near_from > 0 && d->iterations - state->near_from >= NEAR_MOST) {
        begin_again(state, d);
    }
    const int swept = d->iterations - state->swept_from;
    if (!state->started && swept < s->sweeps && d->still == 0) {
        return ss_drive_sweep(d, swept + 1 == s->sweeps);
    }
    if (!state->started) {
        start_outer(state, d);
    }
    ppa_outer_step(state, d);
    // rho falls for ever where no step can be taken.
    return state->rho > RHO_LEAST ? SS_UNSOLVED : SS_STALLED;
}

// Makes the sweeper; with form=auto in the form in which the factor is smaller.
static ss_status ppa_couple(void *of, ss_drive *d, const double *r, const ss_stop *stop,
                            ss_error *e)
{
    ppa_state *state = of;
    const settings *s = d->settings;
    ss_status status = ss_method_parse("secular", &state->start_method, e);
    if (status != SS_OK) {
        return status;
    }
    state->start = *d->task;
    state->start.method = state->start_method;
    state->start.threads = s->sweeps > 0 ? d->task->threads : 0;
    state->sweep = s->sweep;
    const bool open = state->sweep.form == SS_FORM_AUTO && d->task->problem->form == SS_GLOBAL;
    if (open) {
        state->sweep.form = SS_FORM_MATRIX_FREE;
    }
    status = ss_sweeper_new(&state->start, &state->sweep, r, stop, &d->sweeper, e);
    if (d->sweeper != NULL && open && !ss_implicit_prefers_bodies(d->sweeper->coupling->white)) {
        ss_sweeper_free(d->sweeper);
        d->sweeper = NULL;
        state->sweep.form = SS_FORM_EXPLICIT;
        status = ss_sweeper_new(&state->start, &state->sweep, r, stop, &d->sweeper, e);
    }
    return status;
}

// True if 50 sweeps would be little of the way: in dense and even hair, to a small error, from
// zero.
static bool begins_inside(const ss_drive *d)
{
    const settings *s = d->settings;
    const bool begins = d->task->tolerance < SS_IPM_TIGHT && ss_ipm_suits(d->task->problem, d->c) &&
                        ss_all_zero(d->start, (size_t)d->c->dim * (size_t)d->c->n);
    return s->start == START_INTERIOR || (s->start == START_AUTO && begins);
}

static ss_status ppa_make(void *of, ss_drive *d, ss_error *e)
{
    ppa_state *state = of;
    const settings *s = d->settings;
    const size_t n = (size_t)d->c->n;
    const ss_status status = ss_prox_new(d->c, s->memory, &d->limits, &state->prox, e);
    if (state->prox == NULL) {
        d->halted = true;
        return status;
    }
    if (begins_inside(d)) {
        state->inside = inside_new(state->prox->system, d);
        if (state->inside == NULL) {
            return ss_fail_memory(e, "a proximal method");
        }
    }
    state->old_y = malloc((state->prox->size + 1) * sizeof *state->old_y);
    state->f = malloc(4 * n * sizeof *state->f);
    state->root = malloc(n * sizeof *state->root);
    state->mixing = ss_mixing_new(4 * n, state->prox->size, s->depth, MIXING_CUTOFF);
    if (state->old_y == NULL || state->f == NULL || state->root == NULL || state->mixing == NULL) {
        return ss_fail_memory(e, "a proximal method");
    }
    for (size_t i = 0; i < n; i++) {
        state->root[i] = sqrt(d->c->compliance[i]);
    }
    begin_with_sweeps(state, d);
    ss_drive_judge(d, d->c->r);
    return SS_OK;
}

static void ppa_release(void *of)
{
    ppa_state *state = of;
    ss_method_free(state->start_method);
    inside_free(state->inside);
    ss_prox_free(state->prox);
    ss_mixing_free(state->mixing);
    free(state->old_y);
    free(state->f);
    free(state->root);
}

static const ss_steps STEPS = {.moves = SS_MOVES_OWN,
                               .couple = ppa_couple,
                               .state_size = sizeof(ppa_state),
                               .make = ppa_make,
                               .step = ppa_step,
                               .release = ppa_release};

const ss_global_solver ss_ppa = {
    .card = {.name = "ppa",
             .law = SS_EXACT,
             .reference = "R76",
             .about = "The proximal point method with an exact Coulomb step: a semismooth "
                      "Newton method with a block LU solves each step, and the weight grows "
                      "while this is easy. Outer steps are mixed once the weight has reached "
                      "its cap. For dense hair and other problems that take thousands of "
                      "sweeps.",
             SS_OPTIONS(KEYS, DEFAULTS)},
    SS_DRIVEN(STEPS),
    .takes_threads = ss_drive_takes_threads,
};
