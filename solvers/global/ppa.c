// ppa: the proximal point method for Coulomb's law with an exact proximal step (prox.h).
//
//     outer:  l <- phi(l)      its fixed points are the solutions
//     inner:  semismooth Newton to 0.3 of its first residual
//
// rho, the weight R_i tr(W_ii)/d, grows while the inner steps are few and falls when they fail;
// once it has reached its cap the outer iteration is mixed (mixing.h) in the norm (phi - l) /
// sqrt(p_i), p_i = 1 / (tr W_ii / d). The fixed numbers are measured ones: of the values tried (a
// fixed rho, caps from 1e4 to 1e8, mixing before the cap, inner shares from 0.03 to 0.5, rho
// growing by other factors) these solve most of the dense ponytails, in the fewest steps. phi is
// judged, never l. In dense hair it starts from nothing with interior points (ppa_start.h); elsewhere, from
// impulses, and where those get stuck, with a few sweeps of Gauss and Seidel.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/global/global.h"
#include "solvers/linear/mixing.h"
#include "solvers/global/drive.h"
#include "solvers/global/ppa_start.h"
#include "solvers/global/prox.h"
#include "solvers/sweep/sweep_keys.h"
#include "solvers/registry.h"
#include "solvers/small.h"

#define RHO_CAP       1e6
#define INTERIOR_MOST 100 // steps of interior points,
#define NEAR_MOST     100 // and exact steps after them, which are 1 to 20 mostly,
#define RHO_NEAR      1e3 // from this weight on
#define RHO_AFTER     1.5 // growth at most, once a step has been rejected
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
    ss_sweep_settings sweep; // of the start
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
    ss_method *start_method; // of the first sweeps,
    ss_task start;           // their task
    ss_sweep_settings sweep; // and their settings
    ss_prox *prox;
    ss_ppa_start *inside; // interior points; NULL where there are none, or no more
    int near_from;        // iterations before the exact steps that follow these; 0: they do not
    int swept_from;       // iterations before the sweeps
    bool started;         // with proximal steps
    ss_mixing *mixing;
    double *old_y;    // [prox->size]
    double *f, *root; // [4 n] residual of the outer iteration; [n] 1 / sqrt(p_i)
    double rho, cap, growth;
} ppa_state;

// ---- Weights

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

// ---- One outer step

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

// With sweeps, from the impulses that there are.
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

// The same from the start.
static void begin_again(ppa_state *state, ss_drive *d)
{
    ss_coupling_set(d->c, d->start);
    begin_with_sweeps(state, d);
}

// A step of interior points; where it is the last one, what follows is prepared.
static void ppa_step_inside(ppa_state *state, ss_drive *d)
{
    const ss_ppa_start_state now = ss_ppa_start_step(state->inside, d);
    if (now == SS_PPA_START_GOES_ON && d->iterations < INTERIOR_MOST) {
        return;
    }
    ss_ppa_start_free(state->inside);
    state->inside = NULL;
    if (now == SS_PPA_START_NEAR) {
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

// ---- Making one

// With form=auto the form in which the factor is smaller.
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

// Where 50 sweeps are little of the way: in dense and even hair, to a small error, from nothing.
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
        state->inside = ss_ppa_start_new(state->prox->system, d);
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
    ss_ppa_start_free(state->inside);
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
