// The steps of Newton's methods on all contacts at once; newton_methods.c says which there are.
//
// None of the methods is certain to converge from zero: they end `stalled` after `patience` steps
// that brought nothing. The clock is looked at between two steps, and a step that may end after the
// limit is not begun. The first is taken to last as long as UMFPACK's count of its operations says on a
// machine as fast as its analysis was, the next at least as long as the longest so far. Nothing is
// allocated between the steps but UMFPACK's factor.
#include "solvers/global/newton.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/contact.h"
#include "solvers/goldstein_price.h"
#include "solvers/small.h"
#include "solvers/vectors.h"

// The residual must have fallen to this share for a step to count as progress.
#define PROGRESS 0.9

// Times the longest step so far, what the next may take: the pivots change, and with them the fill.
#define LONGER 2.0

// The analysis may take so many times what is foretold.
#define MARGIN 1.3

// Equations of contacts for each dof above which the matrix-free form has the faster factor: on
// tangles of 2000 contacts 2.3 of them are solved 1.4 times faster in explicit form, 5.5 1.8 times
// slower.
#define CROWDED 3.5

typedef struct newton_state {
    const ss_newton_kind *kind;
    const ss_newton_settings *set;
    ss_coupling *coupling; // the drive's
    ss_newton_system *system;
    ss_newton_contact *contact; // [n]
    ss_newton_block *block;     // [n] at X
    double *unit;               // [n] s_i
    size_t size;                // dim n
    double *memory;             // what follows, [size] each
    double *X, *u, *F;
    double *d;   // direction
    double *du;  // W D^-1 d
    double *g;   // J'F
    double *r;   // of X
    double mark; // residual that progress is measured from
    int idle;    // steps without progress
    int gradient_steps;
    double foretold;     // s, of a step, before there is one
    double step_seconds; // of the longest step
    bool late;           // the analysis would have ended after the limit
} newton_state;

static void get3(const newton_state *state, const double *x, int i, double out[3])
{
    const int dim = state->coupling->dim;
    const double *at = x + dim * i;
    out[0] = at[0];
    out[1] = at[1];
    out[2] = dim == 3 ? at[2] : 0.0;
}

static void put3(const newton_state *state, const double x[3], int i, double *out)
{
    const size_t dim = (size_t)state->coupling->dim;
    memcpy(out + dim * (size_t)i, x, dim * sizeof *x);
}

// ---- F and its derivatives

// F at X + t d, u + t du, into `F` where it is not NULL. Returns |F|^2/2.
static double newton_evaluate(const newton_state *state, double t, double *F)
{
    double sum = 0.0;
    for (int i = 0; i < state->coupling->n; i++) {
        double X[3], u[3], d[3], du[3], Fi[3];
        get3(state, state->X, i, X);
        get3(state, state->u, i, u);
        get3(state, state->d, i, d);
        get3(state, state->du, i, du);
        for (int k = 0; k < 3 && t != 0.0; k++) {
            X[k] += t * d[k];
            u[k] += t * du[k];
        }
        if (state->contact[i].rigid) {
            memcpy(Fi, X, sizeof Fi);
        } else {
            state->kind->function->evaluate(&state->contact[i], X, u, Fi);
        }
        sum += ss_dot3(Fi, Fi);
        if (F != NULL) {
            put3(state, Fi, i, F);
        }
    }
    return 0.5 * sum;
}

static void linearise(const newton_state *state)
{
    for (int i = 0; i < state->coupling->n; i++) {
        double X[3], u[3];
        get3(state, state->X, i, X);
        get3(state, state->u, i, u);
        if (state->contact[i].rigid) {
            state->block[i] = (ss_newton_block){.A = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
        } else {
            state->kind->function->linearise(&state->contact[i], X, u, &state->block[i]);
        }
    }
}

// y += the product of each contact's A (or B, or their transposes) with x.
static void newton_add_product(const newton_state *state, bool is_B, bool transposed,
                               const double *x, double *y)
{
    for (int i = 0; i < state->coupling->n; i++) {
        const double *M = is_B ? state->block[i].B : state->block[i].A;
        double xi[3], product[3], sum[3];
        get3(state, x, i, xi);
        get3(state, y, i, sum);
        if (transposed) {
            ss_multiply3_transposed(M, xi, product);
        } else {
            ss_multiply3(M, xi, product);
        }
        for (int k = 0; k < 3; k++) {
            sum[k] += product[k];
        }
        put3(state, sum, i, y);
    }
}

// g = A'F + D^-1 W' B'F; du is scratch.
static void find_gradient(const newton_state *state)
{
    memset(state->du, 0, state->size * sizeof *state->du);
    newton_add_product(state, true, true, state->F, state->du);
    ss_newton_velocity_transposed(state->system, state->du, state->g);
    newton_add_product(state, false, true, state->F, state->g);
}

// ---- A step

// d = -a g, du = W D^-1 d.
static void follow_gradient(newton_state *state)
{
    double *Jg = state->d;
    ss_newton_velocity(state->system, state->g, state->du);
    memset(Jg, 0, state->size * sizeof *Jg);
    newton_add_product(state, false, false, state->g, Jg);
    newton_add_product(state, true, false, state->du, Jg);
    const double length =
        ss_vector_dot(state->size, state->g, state->g) / ss_vector_dot(state->size, Jg, Jg);
    for (size_t k = 0; k < state->size; k++) {
        state->d[k] = -length * state->g[k];
        state->du[k] *= -length;
    }
    state->gradient_steps++;
}

static bool newton_descends(const newton_state *state)
{
    const double slope = ss_vector_dot(state->size, state->d, state->g);
    if (state->kind->safeguard == SS_NEWTON_SLOPE) {
        return slope < 0.0;
    }
    return state->kind->safeguard == SS_NEWTON_FREE ||
           slope <= -state->set->sigma * sqrt(ss_vector_dot(state->size, state->d, state->d)) *
                        sqrt(ss_vector_dot(state->size, state->g, state->g));
}

static ss_status newton_find_direction(newton_state *state, ss_error *e)
{
    linearise(state);
    bool solved;
    const ss_status status = ss_newton_system_solve(state->system, state->block, state->set->shift,
                                                    state->F, state->d, &solved, e);
    if (status != SS_OK) {
        return status;
    }
    find_gradient(state);
    if (!solved || !newton_descends(state)) {
        follow_gradient(state);
    } else if (state->kind->searches) {
        ss_newton_velocity(state->system, state->d, state->du);
    }
    return SS_OK;
}

static double newton_goldstein_price(const newton_state *state)
{
    const double slope = ss_vector_dot(state->size, state->d, state->g);
    ss_goldstein search = ss_goldstein_begin(state->set->m1, state->set->m2,
                                             newton_evaluate(state, 0.0, NULL), slope);
    while (ss_goldstein_goes_on(&search, newton_evaluate(state, search.t, NULL))) {
    }
    return search.t;
}

// *moved: X has changed.
static ss_status newton_take_step(newton_state *state, ss_drive *d, bool *moved)
{
    const double start = ss_limits_elapsed(&d->limits);
    const ss_status status = newton_find_direction(state, &d->error);
    if (status != SS_OK) {
        return status;
    }
    const double t = state->kind->searches ? newton_goldstein_price(state) : 1.0;
    *moved = false;
    for (size_t k = 0; k < state->size; k++) {
        const double next = state->X[k] + t * state->d[k];
        *moved = *moved || next != state->X[k];
        state->X[k] = next;
    }
    d->iterations++;
    state->step_seconds = fmax(ss_limits_elapsed(&d->limits) - start, state->step_seconds);
    snprintf(d->why, sizeof d->why, "%d of %d steps followed the gradient", state->gradient_steps,
             d->iterations);
    return SS_OK;
}

// ---- Where it is, and whether it goes on

static void set_impulses(const newton_state *state)
{
    const size_t dim = (size_t)state->coupling->dim;
    for (size_t k = 0; k < state->size; k++) {
        state->r[k] = state->X[k] / state->unit[k / dim];
    }
    ss_coupling_put(state->coupling, state->r);
}

// u and F at X, which has been judged.
static void newton_look(newton_state *state, double residual)
{
    memcpy(state->u, state->coupling->u, state->size * sizeof *state->u);
    newton_evaluate(state, 0.0, state->F);
    state->idle++;
    if (residual <= PROGRESS * state->mark) {
        state->mark = residual;
        state->idle = 0;
    }
}

// Whether so many seconds are more than is left.
static bool is_too_late(ss_drive *d, const char *what, double seconds)
{
    const double limit = d->task->time_limit;
    if (!(limit > 0.0 && ss_limits_elapsed(&d->limits) + seconds > 1.05 * limit)) {
        return false;
    }
    if (d->iterations == 0) {
        snprintf(d->why, sizeof d->why, "%s may take %.2g s, more than is left of the time limit",
                 what, seconds);
    }
    return true;
}

static ss_outcome newton_step(void *of, ss_drive *d)
{
    newton_state *state = of;
    newton_look(state, d->residual);
    if (state->idle >= state->set->patience || !isfinite(d->residual)) {
        return SS_STALLED;
    }
    const double longest = state->step_seconds;
    const double next = d->iterations > 0 ? fmin(LONGER * longest, fmax(longest, state->foretold))
                                          : state->foretold;
    if (state->late || is_too_late(d, "a factorisation", next)) {
        return SS_TIME_LIMIT;
    }
    bool moved = false;
    d->failed = newton_take_step(state, d, &moved);
    if (d->failed != SS_OK) {
        return SS_UNSOLVED;
    }
    set_impulses(state);
    ss_drive_judge(d, d->c->r);
    return moved ? SS_UNSOLVED : SS_STALLED;
}

// ---- The solver

static void newton_fill_contacts(newton_state *state)
{
    const ss_coupling *c = state->coupling;
    for (int i = 0; i < c->n; i++) {
        const ss_local *p = &c->contact[i];
        ss_newton_contact *k = &state->contact[i];
        k->rigid = !(c->compliance[i] > 0.0);
        state->unit[i] = k->rigid ? c->s : c->compliance[i];
        double W[9];
        for (int j = 0; j < 9; j++) {
            W[j] = p->W[j] / state->unit[i];
        }
        k->law = ss_ac_law_of(p->mu, W, ss_local_second_stiffness(p) / state->unit[i],
                              state->set->jean_moreau == 1);
    }
}

static bool newton_allocate(newton_state *state)
{
    const size_t n = (size_t)state->coupling->n;
    state->size = (size_t)state->coupling->dim * n;
    state->contact = malloc(n * sizeof *state->contact);
    state->block = malloc(n * sizeof *state->block);
    state->unit = malloc(n * sizeof *state->unit);
    double **const vectors[] = {&state->X,  &state->u, &state->F, &state->d,
                                &state->du, &state->g, &state->r};
    const size_t count = sizeof vectors / sizeof vectors[0];
    state->memory = calloc(count * state->size, sizeof *state->memory);
    for (size_t k = 0; state->memory != NULL && k < count; k++) {
        *vectors[k] = state->memory + k * state->size;
    }
    return state->contact != NULL && state->block != NULL && state->unit != NULL &&
           state->memory != NULL;
}

// An impulse that can change no velocity is none.
static void set_start(newton_state *state)
{
    const int dim = state->coupling->dim;
    ss_coupling_get(state->coupling, state->r);
    for (int k = 0; k < (int)state->size; k++) {
        state->X[k] = state->contact[k / dim].rigid ? 0.0 : state->r[k] * state->unit[k / dim];
    }
    state->mark = INFINITY;
    set_impulses(state);
}

// A machine that is slower at the analysis, or busy, is as slow at the first step.
static ss_status analyse(newton_state *state, const ss_drive *d, ss_error *e)
{
    const double start = ss_limits_elapsed(&d->limits);
    const ss_status status = ss_newton_system_analyse(state->system, e);
    const double took = ss_limits_elapsed(&d->limits) - start;
    const double slower = fmax(took / ss_newton_system_analysis(state->system), 1.0);
    state->foretold = slower * ss_newton_system_seconds(state->system);
    return status;
}

// A factor that needs too much memory is refused.
static ss_status check_memory(const newton_state *state, ss_drive *d, ss_error *e)
{
    const double needed = ss_newton_system_bytes(state->system) / 1e9;
    d->halted = needed > state->set->memory;
    if (d->halted) {
        ss_fail(e, SS_OK, "its factor may need %.2g GB, more than the %.2g GB of its option memory",
                needed, state->set->memory);
    }
    return SS_OK;
}

static ss_status newton_make(void *of, ss_drive *d, ss_error *e)
{
    newton_state *state = of;
    state->kind = d->steps->kind;
    state->set = d->settings;
    state->coupling = d->c;
    if (!newton_allocate(state)) {
        return ss_fail_memory(e, "Newton's method");
    }
    newton_fill_contacts(state);
    set_start(state);
    const ss_stop stop = ss_limits_stopper(&d->limits);
    ss_status status = ss_newton_system_new(d->c, state->unit, &stop, &state->system, e);
    if (status != SS_OK || state->system == NULL) {
        d->halted = true;
        return status;
    }
    const double analysis =
        ss_limits_slowness(&d->limits) * ss_newton_system_analysis(state->system);
    state->late = is_too_late(d, "the analysis of its matrix", MARGIN * analysis);
    if (state->late) {
        return SS_OK;
    }
    status = analyse(state, d, e);
    return status == SS_OK ? check_memory(state, d, e) : status;
}

static void newton_release(void *of)
{
    newton_state *state = of;
    ss_newton_system_free(state->system);
    free(state->contact);
    free(state->block);
    free(state->unit);
    free(state->memory);
}

#define STEPS(kth)                                                                                 \
    {                                                                                              \
        .kind = &ss_newton_kinds[kth], .moves = SS_MOVES_COUPLING,                                 \
        .state_size = sizeof(newton_state), .make = newton_make, .step = newton_step,              \
        .release = newton_release                                                                  \
    }

const ss_steps ss_newton_steps[3] = {STEPS(0), STEPS(1), STEPS(2)};
