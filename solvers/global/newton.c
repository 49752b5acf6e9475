// solvers/global/newton.c -- newton-mfb, newton-pac, newton-dac: Newton's method on all contacts at
// once ([D11] 7.1, A.2).
//
// Unknowns are X_i = s_i r_i with s_i = tr(W_ii)/d, so that X, u and the function F are velocities:
//
//     F_i(X_i, u_i) = 0 at every contact,    u = W D^-1 X + b,    D = diag(s_i)    (1)
//     J = A + B W D^-1,    A = dF/dX, B = dF/du: blocks of one contact each        (2)
//
// A contact with s_i = 0 has r_i = 0: F_i = X_i there, and its s_i is the judge's s. d solves J d =
// -F by sparse LU, g = J'F is the gradient of phi = |F|^2/2. From the start, until the judge's
// error is at most the tolerance:
//
//     newton-mfb   F of Fischer and Burmeister; X += d, or X -= a g where d.g > -sigma |d||g|
//     newton-pac   F of Alart and Curnier;      X += d
//     newton-dac   the same F;                  X += t d, or X -= t a g where d.g >= 0
//
// and X -= a g in each where J is singular. t is a step of Goldstein and Price on phi
// (solvers/goldstein_price.h). a = |g|^2/|J g|^2 is the least of the linear model along g: g has
// the right units, but a step of its full length ([D11]) is too long by |J|^2, which grows with the
// number of contacts that share a body.
//
// If W is singular (hair, stacks) J may be so at every solution. J counts W_ii + shift s_i I for
// W_ii: other steps, the same solutions. The paper's methods are shift=0,sigma=1e-3, but for a.
// Solved to 1e-8 within 300 steps (2000 for the files) of 10 tangles of 5 to 50 contacts each and
// of four public FCLIB files:
//
//     shift, sigma            loose hair   tight hair   M to 1e6   FCLIB
//     mfb   0,    1e-3            10            1           2         1
//           0,    1e-9            10            8           9         1
//           1e-4, 1e-3            10            2           3         3
//           1e-4, 1e-9            10           10          10         4
//     pac   0                      6            2           -         1
//           1e-4                   7           10           8         4
//     dac   0                      9            2           2         2
//           1e-4                  10            4           5         4
//
// Tight hair by pac: 3 with shift 1e-6, 1 with 1e-2, which makes the last digits slow. The angle of
// a good step with the gradient shrinks with the condition of J: a sigma that is sound for one
// contact is not sound here.
//
// Forms: explicit, for both forms of problems, and matrix-free (newton_system.h (4)) for a problem
// in global form.
#include "solvers/global/newton.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "solvers/contact.h"
#include "solvers/global/drive.h"
#include "solvers/global/global.h"
#include "solvers/goldstein_price.h"
#include "solvers/linear/implicit.h"
#include "solvers/local/fischer_burmeister.h"
#include "solvers/small.h"
#include "solvers/sweep/sweep.h"
#include "solvers/vectors.h"

// ---- The function of Fischer and Burmeister
//
// f of problems/coulomb.h with s = s_i, that is f(x, y) with
//
//     x = diag(mu, 1, 1) X,    y = (u_N + mu |u_T|, mu u_T),    q = (x o x + y o y)^(1/2)
//     A = L_q^-1 (L_q - L_x) diag(mu, 1, 1)                                               (3)
//     B = L_q^-1 (L_q - L_y) [[1, t'], [0, I]] diag(1, mu, mu),    t = u_T/|u_T|
//
// ([D11] A.1 as corrected in doc/formulation.md, "Fischer-Burmeister"), with the elements of the
// generalised Jacobian that solvers/local/fischer_burmeister.h takes on the boundary. At the apex
// x = y = 0 it takes 0, which would make all of J singular: here it is the limit along x = y = e,
// (1 - 1/sqrt 2) I for both factors. mu = 0: F = (FB(X_N, u_N), X_T), FB(a, b) = a + b - |(a, b)|.

// 1 - 1/sqrt 2.
#define APEX_SHARE 0.2928932188134524

static void function_place(double mu, const double X[3], const double u[3], ss_fb_point *at)
{
    const double speed = ss_length2(u[1], u[2]), inverse = speed > 0.0 ? 1.0 / speed : 0.0;
    *at = (ss_fb_point){.x = {mu * X[0], X[1], X[2]},
                        .y = {u[0] + mu * speed, mu * u[1], mu * u[2]},
                        .t = {u[1] * inverse, u[2] * inverse}};
    ss_fb_root(at);
}

static void evaluate_fb(const ss_newton_contact *k, const double X[3], const double u[3],
                        double F[3])
{
    if (k->law.mu == 0.0) {
        F[0] = X[0] + u[0] - ss_length2(X[0], u[0]);
        F[1] = X[1];
        F[2] = X[2];
        return;
    }
    ss_fb_point at;
    function_place(k->law.mu, X, u, &at);
    memcpy(F, at.f, sizeof at.f);
}

static void linearise_frictionless(const double X[3], const double u[3], ss_newton_block *block)
{
    const double length = ss_length2(X[0], u[0]);
    *block = (ss_newton_block){.A = {0}};
    block->A[0] = length > 0.0 ? 1.0 - X[0] / length : APEX_SHARE;
    block->B[0] = length > 0.0 ? 1.0 - u[0] / length : APEX_SHARE;
    block->A[4] = block->A[8] = 1.0;
}

// M <- L_root^-1 M.
static void over_root(const ss_fb_jacobian *J, double M[9])
{
    for (int col = 0; col < 3; col++) {
        const double column[3] = {M[col], M[3 + col], M[6 + col]};
        double quotient[3];
        ss_fb_over_root(J, column, quotient);
        for (int row = 0; row < 3; row++) {
            M[3 * row + col] = quotient[row];
        }
    }
}

// Finds A and B of (3). ss_fb_assemble makes the two terms; H stands in the place of its W.
static void linearise_fb(const ss_newton_contact *k, const double X[3], const double u[3],
                         ss_newton_block *block)
{
    const double mu = k->law.mu, zero[3] = {0.0};
    if (mu == 0.0) {
        linearise_frictionless(X, u, block);
        return;
    }
    const ss_fb_block unit = {.mu = mu, .H = {1, 0, 0, 0, mu, 0, 0, 0, mu}};
    ss_fb_point at;
    ss_fb_jacobian J;
    double ex[3], ey[3];
    function_place(mu, X, u, &at);
    ss_fb_differences(&at, &J, ex, ey);
    if (J.root[0] == 0.0) {
        J = (ss_fb_jacobian){.root = {1.0}, .D = 1.0};
        ex[0] = ey[0] = APEX_SHARE;
    }
    ss_fb_assemble(&unit, at.t, ex, zero, block->A);
    ss_fb_assemble(&unit, at.t, zero, ey, block->B);
    over_root(&J, block->A);
    over_root(&J, block->B);
}

const ss_newton_function ss_newton_fischer_burmeister = {evaluate_fb, linearise_fb};

// ---- The function of Alart and Curnier
//
// F of solvers/local/alart_curnier.h, in X and with p of W_ii/s_i. It serves mu = 0 as it is.

static void evaluate_ac(const ss_newton_contact *k, const double X[3], const double u[3],
                        double F[3])
{
    ss_ac_point at;
    ss_ac_evaluate(&k->law, X, u, &at);
    memcpy(F, at.F, sizeof at.F);
}

static void linearise_ac(const ss_newton_contact *k, const double X[3], const double u[3],
                         ss_newton_block *block)
{
    ss_ac_point at;
    ss_ac_evaluate(&k->law, X, u, &at);
    ss_ac_linearise(&k->law, X, &at, block->A, block->B);
}

const ss_newton_function ss_newton_alart_curnier = {evaluate_ac, linearise_ac};

// ---- The state
//
// None of the methods is certain to converge from zero: they end `stalled` after PATIENCE steps
// that brought nothing. The clock is looked at between two steps, and a step that may end after the
// limit is not begun. The first is taken to last as long as UMFPACK's count of its operations says
// on a machine as fast as its analysis was, the next at least as long as the longest so far.
// Nothing is allocated between the steps but UMFPACK's factor.

// Asks of a direction d, with the gradient g, before it is followed.
typedef enum newton_safeguard {
    FREE,  // nothing
    ANGLE, // d.g <= -sigma |d||g|
    SLOPE, // d.g < 0
} newton_safeguard;

typedef struct newton_kind {
    const ss_newton_function *function;
    newton_safeguard safeguard;
    bool searches; // a step of Goldstein and Price
} newton_kind;

typedef struct settings {
    int form; // ss_coupling_form
    double sigma, shift;
    double memory; // GB
} settings;

#define PATIENCE 100 // steps without progress before it is `stalled`

// The residual must have fallen to this share for a step to count as progress.
#define PROGRESS 0.9

// The next step may take so many times the longest so far: the pivots change, and with them the
// fill.
#define LONGER 2.0

#define MARGIN 1.3 // the analysis may take so many times its foretold seconds

typedef struct newton_state {
    const newton_kind *kind;
    const settings *set;
    ss_coupling *coupling; // the drive's
    ss_newton_system *system;
    ss_newton_contact *contact; // [n]
    ss_newton_block *block;     // [n] at X
    double *unit;               // [n] s_i
    size_t size;                // dim n
    double *memory;             // of the vectors below, [size] each
    double *X, *u, *F;
    double *d;   // direction
    double *du;  // W D^-1 d
    double *g;   // J'F
    double *r;   // impulses of X
    double mark; // residual that progress is measured from
    int idle;    // steps without progress
    int gradient_steps;
    double foretold;     // seconds of a step, before there is one
    double step_seconds; // seconds of the longest step
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

// Finds F at X + t d, u + t du, unless `F` is NULL. Returns |F|^2/2.
static double evaluate(const newton_state *state, double t, double *F)
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

// Adds to y the product of each contact's A (or B, or their transposes) with x.
static void add_product(const newton_state *state, bool is_B, bool transposed, const double *x,
                        double *y)
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

// Finds g = A'F + D^-1 W' B'F; du is scratch.
static void find_gradient(const newton_state *state)
{
    memset(state->du, 0, state->size * sizeof *state->du);
    add_product(state, true, true, state->F, state->du);
    ss_newton_velocity_transposed(state->system, state->du, state->g);
    add_product(state, false, true, state->F, state->g);
}

// ---- A step

// Sets d = -a g and du = W D^-1 d.
static void follow_gradient(newton_state *state)
{
    double *Jg = state->d;
    ss_newton_velocity(state->system, state->g, state->du);
    memset(Jg, 0, state->size * sizeof *Jg);
    add_product(state, false, false, state->g, Jg);
    add_product(state, true, false, state->du, Jg);
    const double length =
        ss_vector_dot(state->size, state->g, state->g) / ss_vector_dot(state->size, Jg, Jg);
    for (size_t k = 0; k < state->size; k++) {
        state->d[k] = -length * state->g[k];
        state->du[k] *= -length;
    }
    state->gradient_steps++;
}

static bool descends(const newton_state *state)
{
    const double slope = ss_vector_dot(state->size, state->d, state->g);
    if (state->kind->safeguard == SLOPE) {
        return slope < 0.0;
    }
    return state->kind->safeguard == FREE ||
           slope <= -state->set->sigma * sqrt(ss_vector_dot(state->size, state->d, state->d)) *
                        sqrt(ss_vector_dot(state->size, state->g, state->g));
}

static ss_status find_direction(newton_state *state, ss_error *e)
{
    linearise(state);
    bool solved;
    const ss_status status = ss_newton_system_solve(state->system, state->block, state->set->shift,
                                                    state->F, state->d, &solved, e);
    if (status != SS_OK) {
        return status;
    }
    find_gradient(state);
    if (!solved || !descends(state)) {
        follow_gradient(state);
    } else if (state->kind->searches) {
        ss_newton_velocity(state->system, state->d, state->du);
    }
    return SS_OK;
}

// Shares of the predicted descent that a step brings: at least the first, and at most the other
// while it may be longer.
#define DESCENT_LEAST 0.1
#define DESCENT_MOST  0.9

static double search_line(const newton_state *state)
{
    const double slope = ss_vector_dot(state->size, state->d, state->g);
    ss_goldstein search =
        ss_goldstein_begin(DESCENT_LEAST, DESCENT_MOST, evaluate(state, 0.0, NULL), slope);
    while (ss_goldstein_goes_on(&search, evaluate(state, search.t, NULL))) {
    }
    return search.t;
}

// Makes a step. *moved is true if X has changed.
static ss_status take_step(newton_state *state, ss_drive *d, bool *moved)
{
    ss_assert(!state->late); // the matrix was analysed
    const double start = ss_limits_elapsed(&d->limits);
    const ss_status status = find_direction(state, &d->error);
    if (status != SS_OK) {
        return status;
    }
    const double t = state->kind->searches ? search_line(state) : 1.0;
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

static void set_impulses(const newton_state *state)
{
    const size_t dim = (size_t)state->coupling->dim;
    for (size_t k = 0; k < state->size; k++) {
        state->r[k] = state->X[k] / state->unit[k / dim];
    }
    ss_coupling_put(state->coupling, state->r);
}

// Finds u and F at X, which has been judged.
static void look(newton_state *state, double residual)
{
    memcpy(state->u, state->coupling->u, state->size * sizeof *state->u);
    evaluate(state, 0.0, state->F);
    state->idle++;
    if (residual <= PROGRESS * state->mark) {
        state->mark = residual;
        state->idle = 0;
    }
}

// True if so many seconds are more than is left.
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
    look(state, d->residual);
    if (state->idle >= PATIENCE || !isfinite(d->residual)) {
        return SS_STALLED;
    }
    const double longest = state->step_seconds;
    const double next = d->iterations > 0 ? fmin(LONGER * longest, fmax(longest, state->foretold))
                                          : state->foretold;
    if (state->late || is_too_late(d, "a factorisation", next)) {
        return SS_TIME_LIMIT;
    }
    bool moved = false;
    d->failed = take_step(state, d, &moved);
    if (d->failed != SS_OK) {
        return SS_UNSOLVED;
    }
    set_impulses(state);
    ss_drive_judge(d, d->c->r);
    return moved ? SS_UNSOLVED : SS_STALLED;
}

// ---- Making one

static void fill_contacts(newton_state *state)
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
        k->law = ss_ac_law_of(p->mu, W, ss_local_second_stiffness(p) / state->unit[i], false);
    }
}

static bool allocate(newton_state *state)
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

// Begins at the impulses of the coupling. One that can change no velocity counts as 0.
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

// Analyses the matrix. A machine that is slower at the analysis, or busy, is as slow at the first
// step.
static ss_status analyse(newton_state *state, const ss_drive *d, ss_error *e)
{
    const double start = ss_limits_elapsed(&d->limits);
    const ss_status status = ss_newton_system_analyse(state->system, e);
    const double took = ss_limits_elapsed(&d->limits) - start;
    const double slower = fmax(took / ss_newton_system_analysis(state->system), 1.0);
    state->foretold = slower * ss_newton_system_seconds(state->system);
    return status;
}

// Refuses a factor that needs too much memory.
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
    if (!allocate(state)) {
        return ss_fail_memory(e, "Newton's method");
    }
    fill_contacts(state);
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

// ---- The methods

static const settings DEFAULTS = {.sigma = 1e-9, .shift = 1e-4, .memory = SS_MEMORY_DEFAULT};

static const ss_key KEYS[] = {
    SS_FORM_KEY,
    SS_REAL_KEY("shift", shift, 0, 1, .about = "what is added to W_ii in the Jacobian, in s_i"),
    SS_MEMORY_KEY,
    {.name = NULL},
};
static const ss_key MFB_KEYS[] = {
    SS_FORM_KEY,
    SS_REAL_KEY("shift", shift, 0, 1, .about = "what is added to W_ii in the Jacobian, in s_i"),
    SS_MEMORY_KEY,
    SS_REAL_KEY("sigma", sigma, 0, 1,
                .about = "least descent of a Newton step; else the gradient is taken"),
    {.name = NULL},
};

static const newton_kind MFB = {&ss_newton_fischer_burmeister, ANGLE, false};
static const newton_kind PAC = {&ss_newton_alart_curnier, FREE, false};
static const newton_kind DAC = {&ss_newton_alart_curnier, SLOPE, true};

#define STEPS(which)                                                                               \
    {                                                                                              \
        .kind = &which, .moves = SS_MOVES_COUPLING, .state_size = sizeof(newton_state),            \
        .make = newton_make, .step = newton_step, .release = newton_release                        \
    }
static const ss_steps MFB_STEPS = STEPS(MFB), PAC_STEPS = STEPS(PAC), DAC_STEPS = STEPS(DAC);

const ss_global_solver ss_newton_mfb = {
    .card = {.name = "newton-mfb",
             .law = SS_EXACT,
             .reference = "D11",
             .about =
                 "Newton's method on the Fischer-Burmeister functions of all contacts at once; "
                 "UMFPACK solves the linear systems. If Newton's direction does not descend "
                 "enough it takes the gradient. For some hundred contacts and good starts: "
                 "from zero it may stall.",
             SS_OPTIONS(MFB_KEYS, DEFAULTS)},
    SS_DRIVEN(MFB_STEPS),
};

const ss_global_solver ss_newton_pac = {
    .card = {.name = "newton-pac",
             .law = SS_EXACT,
             .reference = "AC91 D11",
             .about = "Newton's method with full steps on the Alart-Curnier functions of all "
                      "contacts at once; UMFPACK solves the linear systems. If the Jacobian is "
                      "singular it steps along the gradient. For some hundred contacts and good "
                      "starts: from zero it may stall.",
             SS_OPTIONS(KEYS, DEFAULTS)},
    SS_DRIVEN(PAC_STEPS),
};

const ss_global_solver ss_newton_dac = {
    .card = {.name = "newton-dac",
             .law = SS_EXACT,
             .reference = "AC91 D11",
             .about = "Newton's method on the Alart-Curnier functions of all contacts at once, "
                      "damped by the line search of Goldstein and Price; UMFPACK solves the linear "
                      "systems. If Newton's direction does not descend it takes the gradient. For "
                      "some hundred contacts and good starts: from zero it may stall.",
             SS_OPTIONS(KEYS, DEFAULTS)},
    SS_DRIVEN(DAC_STEPS),
};
