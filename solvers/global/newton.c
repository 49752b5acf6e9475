// The driver of Newton's methods on all contacts at once; newton_methods.c says which there are.
//
// The iterate whose fb is least is kept and is the answer. None of the methods is certain to
// converge from zero: they end `stalled` after `patience` steps that brought nothing. The clock is
// looked at between two steps, and a step that may end after the limit is not begun. The first is
// taken to last as long as UMFPACK's count of its operations says on a machine as fast as its
// analysis was, the next at least as long as the longest so far. Nothing is allocated between the
// steps but UMFPACK's factor.
#include "solvers/global/newton.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/contact.h"
#include "solvers/global/drive.h"
#include "solvers/goldstein_price.h"
#include "solvers/small.h"
#include "solvers/vectors.h"

// fb cannot fall below about eps s max|r|; this near to it a few steps are all that is tried.
#define FLOOR_FACTOR 16.0
#define FLOOR_STEPS  3

// fb must have fallen to this share for a step to count as progress.
#define PROGRESS 0.9

// Times the longest step so far, what the next may take: the pivots change, and with them the fill.
#define LONGER 2.0

// The analysis may take so many times what is foretold.
#define MARGIN 1.3

// Equations of contacts for each dof above which the matrix-free form has the faster factor: on
// tangles of 2000 contacts 2.3 of them are solved 1.4 times faster in explicit form, 5.5 1.8 times
// slower.
#define CROWDED 3.5

typedef struct run {
    const ss_newton_kind *kind;
    const ss_newton_settings *set;
    ss_coupling *coupling;
    ss_newton_system *system;
    ss_newton_contact *contact; // [n]
    ss_newton_block *block;     // [n] at X
    double *unit;               // [n] s_i
    size_t size;                // dim n
    double *memory;             // what follows, [size] each
    double *X, *u, *F;
    double *d;      // direction
    double *du;     // W D^-1 d
    double *g;      // J'F
    double *r;      // of X
    double *best;   // r of the least fb
    double fb;      // at X
    double best_fb; // at best
    double mark;    // fb that progress is measured from
    int idle;       // steps without progress
    int steps, gradient_steps;
    double foretold;     // s, of a step, before there is one
    double step_seconds; // of the longest step
    const char *late;    // what would have ended after the limit,
    double late_seconds; // and how long it was thought to take
    ss_limits limits;
} run;

static void get3(const run *a, const double *x, int i, double out[3])
{
    const int dim = a->coupling->dim;
    const double *at = x + dim * i;
    out[0] = at[0];
    out[1] = at[1];
    out[2] = dim == 3 ? at[2] : 0.0;
}

static void put3(const run *a, const double x[3], int i, double *out)
{
    const size_t dim = (size_t)a->coupling->dim;
    memcpy(out + dim * (size_t)i, x, dim * sizeof *x);
}

// ---- F and its derivatives

// F at X + t d, u + t du, into `F` where it is not NULL. Returns |F|^2/2.
static double evaluate(const run *a, double t, double *F)
{
    double sum = 0.0;
    for (int i = 0; i < a->coupling->n; i++) {
        double X[3], u[3], d[3], du[3], Fi[3];
        get3(a, a->X, i, X);
        get3(a, a->u, i, u);
        get3(a, a->d, i, d);
        get3(a, a->du, i, du);
        for (int k = 0; k < 3 && t != 0.0; k++) {
            X[k] += t * d[k];
            u[k] += t * du[k];
        }
        if (a->contact[i].rigid) {
            memcpy(Fi, X, sizeof Fi);
        } else {
            a->kind->function->evaluate(&a->contact[i], X, u, Fi);
        }
        sum += ss_dot3(Fi, Fi);
        if (F != NULL) {
            put3(a, Fi, i, F);
        }
    }
    return 0.5 * sum;
}

static void linearise(const run *a)
{
    for (int i = 0; i < a->coupling->n; i++) {
        double X[3], u[3];
        get3(a, a->X, i, X);
        get3(a, a->u, i, u);
        if (a->contact[i].rigid) {
            a->block[i] = (ss_newton_block){.A = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
        } else {
            a->kind->function->linearise(&a->contact[i], X, u, &a->block[i]);
        }
    }
}

// y += the product of each contact's A (or B, or their transposes) with x.
static void add_product(const run *a, bool is_B, bool transposed, const double *x, double *y)
{
    for (int i = 0; i < a->coupling->n; i++) {
        const double *M = is_B ? a->block[i].B : a->block[i].A;
        double xi[3], product[3], sum[3];
        get3(a, x, i, xi);
        get3(a, y, i, sum);
        if (transposed) {
            ss_multiply3_transposed(M, xi, product);
        } else {
            ss_multiply3(M, xi, product);
        }
        for (int k = 0; k < 3; k++) {
            sum[k] += product[k];
        }
        put3(a, sum, i, y);
    }
}

// g = A'F + D^-1 W' B'F; du is scratch.
static void find_gradient(const run *a)
{
    memset(a->du, 0, a->size * sizeof *a->du);
    add_product(a, true, true, a->F, a->du);
    ss_newton_velocity_transposed(a->system, a->du, a->g);
    add_product(a, false, true, a->F, a->g);
}

// ---- A step

// d = -a g, du = W D^-1 d.
static void follow_gradient(run *a)
{
    double *Jg = a->d;
    ss_newton_velocity(a->system, a->g, a->du);
    memset(Jg, 0, a->size * sizeof *Jg);
    add_product(a, false, false, a->g, Jg);
    add_product(a, true, false, a->du, Jg);
    const double length = ss_vector_dot(a->size, a->g, a->g) / ss_vector_dot(a->size, Jg, Jg);
    for (size_t k = 0; k < a->size; k++) {
        a->d[k] = -length * a->g[k];
        a->du[k] *= -length;
    }
    a->gradient_steps++;
}

static bool descends(const run *a)
{
    const double slope = ss_vector_dot(a->size, a->d, a->g);
    if (a->kind->safeguard == SS_NEWTON_SLOPE) {
        return slope < 0.0;
    }
    return a->kind->safeguard == SS_NEWTON_FREE ||
           slope <= -a->set->sigma * sqrt(ss_vector_dot(a->size, a->d, a->d)) *
                        sqrt(ss_vector_dot(a->size, a->g, a->g));
}

static ss_status find_direction(run *a, ss_error *e)
{
    linearise(a);
    bool solved;
    const ss_status status =
        ss_newton_system_solve(a->system, a->block, a->set->shift, a->F, a->d, &solved, e);
    if (status != SS_OK) {
        return status;
    }
    find_gradient(a);
    if (!solved || !descends(a)) {
        follow_gradient(a);
    } else if (a->kind->searches) {
        ss_newton_velocity(a->system, a->d, a->du);
    }
    return SS_OK;
}

static double goldstein_price(const run *a)
{
    const double slope = ss_vector_dot(a->size, a->d, a->g);
    ss_goldstein search = ss_goldstein_begin(a->set->m1, a->set->m2, evaluate(a, 0.0, NULL), slope);
    while (ss_goldstein_goes_on(&search, evaluate(a, search.t, NULL))) {
    }
    return search.t;
}

// *moved: X has changed.
static ss_status step(run *a, bool *moved, ss_error *e)
{
    const double start = ss_limits_elapsed(&a->limits);
    const ss_status status = find_direction(a, e);
    if (status != SS_OK) {
        return status;
    }
    const double t = a->kind->searches ? goldstein_price(a) : 1.0;
    *moved = false;
    for (size_t k = 0; k < a->size; k++) {
        const double next = a->X[k] + t * a->d[k];
        *moved = *moved || next != a->X[k];
        a->X[k] = next;
    }
    a->steps++;
    a->step_seconds = fmax(ss_limits_elapsed(&a->limits) - start, a->step_seconds);
    return SS_OK;
}

// ---- Where it is, and whether it goes on

static double largest(const double *x, size_t n)
{
    double most = 0.0;
    for (size_t k = 0; k < n; k++) {
        most = fabs(x[k]) <= most ? most : fabs(x[k]);
    }
    return most;
}

// u, F and fb at X; remembers the best r.
static void look(run *a)
{
    const int dim = a->coupling->dim;
    for (size_t k = 0; k < a->size; k++) {
        a->r[k] = a->X[k] / a->unit[k / (size_t)dim];
    }
    ss_coupling_set(a->coupling, a->r);
    a->fb = ss_coupling_measure(a->coupling).fb;
    memcpy(a->u, a->coupling->u, a->size * sizeof *a->u);
    evaluate(a, 0.0, a->F);
    if (a->fb < a->best_fb) {
        memcpy(a->best, a->r, a->size * sizeof *a->r);
        a->best_fb = a->fb;
    }
    a->idle++;
    if (a->fb <= PROGRESS * a->mark) {
        a->mark = a->fb;
        a->idle = 0;
    }
}

// SS_TIME_LIMIT where so many seconds are more than is left.
static ss_outcome test_time(run *a, const char *what, double seconds)
{
    const double limit = a->limits.task->time_limit;
    if (!(limit > 0.0 && ss_limits_elapsed(&a->limits) + seconds > 1.05 * limit)) {
        return SS_UNSOLVED;
    }
    a->late = what;
    a->late_seconds = seconds;
    return SS_TIME_LIMIT;
}

static ss_outcome test(run *a)
{
    if (a->fb <= a->limits.task->tolerance) {
        return SS_CONVERGED;
    }
    const ss_outcome limit = ss_limits_test(&a->limits, a->steps);
    if (limit != SS_UNSOLVED) {
        return limit;
    }
    const ss_coupling *c = a->coupling;
    const double floor = FLOOR_FACTOR * DBL_EPSILON * c->s * largest(a->r, a->size) / c->V;
    const bool at_floor = a->fb <= floor && a->idle >= FLOOR_STEPS;
    if (at_floor || a->idle >= a->set->patience || !isfinite(a->fb)) {
        return SS_STALLED;
    }
    const double longest = a->step_seconds;
    const double next =
        a->steps > 0 ? fmin(LONGER * longest, fmax(longest, a->foretold)) : a->foretold;
    return test_time(a, "a factorisation", next);
}

static ss_status iterate(run *a, ss_outcome *outcome, ss_error *e)
{
    for (;;) {
        look(a);
        ss_limits_tell(&a->limits,
                       (ss_progress){.iteration = a->steps, .estimate = a->fb, .r = a->r});
        *outcome = test(a);
        if (*outcome != SS_UNSOLVED) {
            return SS_OK;
        }
        bool moved;
        const ss_status status = step(a, &moved, e);
        if (status != SS_OK) {
            return status;
        }
        if (!moved) {
            *outcome = SS_STALLED;
            return SS_OK;
        }
    }
}

// ---- The solver

static void fill_contacts(run *a)
{
    const ss_coupling *c = a->coupling;
    for (int i = 0; i < c->n; i++) {
        const ss_local *p = &c->contact[i];
        ss_newton_contact *k = &a->contact[i];
        k->rigid = !(c->compliance[i] > 0.0);
        a->unit[i] = k->rigid ? c->s : c->compliance[i];
        double W[9];
        for (int j = 0; j < 9; j++) {
            W[j] = p->W[j] / a->unit[i];
        }
        k->law = ss_ac_law_of(p->mu, W, ss_local_second_stiffness(p) / a->unit[i],
                              a->set->jean_moreau == 1);
    }
}

static bool allocate(run *a)
{
    const size_t n = (size_t)a->coupling->n;
    a->size = (size_t)a->coupling->dim * n;
    a->contact = malloc(n * sizeof *a->contact);
    a->block = malloc(n * sizeof *a->block);
    a->unit = malloc(n * sizeof *a->unit);
    double **const vectors[] = {&a->X, &a->u, &a->F, &a->d, &a->du, &a->g, &a->r, &a->best};
    const size_t count = sizeof vectors / sizeof vectors[0];
    a->memory = calloc(count * a->size, sizeof *a->memory);
    for (size_t k = 0; a->memory != NULL && k < count; k++) {
        *vectors[k] = a->memory + k * a->size;
    }
    return a->contact != NULL && a->block != NULL && a->unit != NULL && a->memory != NULL;
}

// An impulse that can change no velocity is none.
static void set_start(run *a, const double *r)
{
    const int dim = a->coupling->dim;
    for (int k = 0; k < (int)a->size; k++) {
        a->best[k] = r[k];
        a->X[k] = a->contact[k / dim].rigid ? 0.0 : r[k] * a->unit[k / dim];
    }
    a->mark = INFINITY;
}

// A machine that is slower at the analysis, or busy, is as slow at the first step.
static ss_status analyse(run *a, ss_error *e)
{
    const double start = ss_limits_elapsed(&a->limits);
    const ss_status status = ss_newton_system_analyse(a->system, e);
    const double took = ss_limits_elapsed(&a->limits) - start;
    const double slower = fmax(took / ss_newton_system_analysis(a->system), 1.0);
    a->foretold = slower * ss_newton_system_seconds(a->system);
    return status;
}

// SS_OK with *outcome where it ends here.
static ss_status prepare(run *a, const double *r, ss_outcome *outcome, ss_error *e)
{
    const ss_stop stop = ss_limits_stopper(&a->limits);
    ss_status status = ss_coupling_new(a->limits.task->problem, (ss_coupling_form)a->set->form,
                                       false, &stop, &a->coupling, e);
    if (status != SS_OK || a->coupling == NULL) {
        *outcome = ss_limits_test(&a->limits, -1);
        return status;
    }
    if (!allocate(a)) {
        return ss_fail_memory(e, "Newton's method");
    }
    fill_contacts(a);
    set_start(a, r);
    status = ss_newton_system_new(a->coupling, a->unit, &stop, &a->system, e);
    if (status != SS_OK || a->system == NULL) {
        *outcome = ss_limits_test(&a->limits, -1);
        return status;
    }
    const double analysis = ss_limits_slowness(&a->limits) * ss_newton_system_analysis(a->system);
    *outcome = test_time(a, "the analysis of its matrix", MARGIN * analysis);
    return *outcome == SS_UNSOLVED ? analyse(a, e) : SS_OK;
}

static void release(run *a)
{
    ss_newton_system_free(a->system);
    ss_coupling_free(a->coupling);
    free(a->contact);
    free(a->block);
    free(a->unit);
    free(a->memory);
}

static void report(const run *a, ss_result *result)
{
    result->iterations = a->steps;
    result->own_error = a->best_fb < INFINITY ? a->best_fb : NAN;
    ss_limits_stop(&a->limits, result);
    if (a->steps == 0 && a->late != NULL) {
        snprintf(result->why, sizeof result->why,
                 "%s may take %.2g s, more than is left of the time limit", a->late,
                 a->late_seconds);
    } else if (a->steps > 0 && result->outcome != SS_CONVERGED) {
        snprintf(result->why, sizeof result->why, "%d of %d steps followed the gradient",
                 a->gradient_steps, a->steps);
    }
}

static bool needs_too_much(const run *a, ss_error *why)
{
    const double needed = ss_newton_system_bytes(a->system) / 1e9;
    if (needed <= a->set->memory) {
        return false;
    }
    ss_fail(why, SS_OK, "its factor may need %.2g GB, more than the %.2g GB of its option memory",
            needed, a->set->memory);
    return true;
}

ss_status ss_newton_solve(const ss_newton_kind *kind, const ss_task *task, double *r,
                          ss_result *result, ss_error *e)
{
    run a = {.kind = kind,
             .set = task->method->global_settings,
             .limits = ss_limits_start(task),
             .best_fb = INFINITY};
    ss_error why = {0};
    ss_outcome outcome = SS_UNSOLVED;
    ss_status status = prepare(&a, r, &outcome, e);
    ss_limits_ready(&a.limits);
    if (status == SS_OK && outcome == SS_UNSOLVED && needs_too_much(&a, &why)) {
        ss_drive_refuse(&a.limits, &why, result);
    } else if (status == SS_OK) {
        if (outcome == SS_UNSOLVED) {
            status = iterate(&a, &outcome, e);
            memcpy(r, a.best, a.size * sizeof *r);
        }
        result->outcome = outcome;
        report(&a, result);
    }
    release(&a);
    return status;
}
