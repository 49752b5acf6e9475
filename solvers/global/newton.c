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

typedef struct newton_run {
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
} newton_run;

static void get3(const newton_run *run, const double *x, int i, double out[3])
{
    const int dim = run->coupling->dim;
    const double *at = x + dim * i;
    out[0] = at[0];
    out[1] = at[1];
    out[2] = dim == 3 ? at[2] : 0.0;
}

static void put3(const newton_run *run, const double x[3], int i, double *out)
{
    const size_t dim = (size_t)run->coupling->dim;
    memcpy(out + dim * (size_t)i, x, dim * sizeof *x);
}

// ---- F and its derivatives

// F at X + t d, u + t du, into `F` where it is not NULL. Returns |F|^2/2.
static double newton_evaluate(const newton_run *run, double t, double *F)
{
    double sum = 0.0;
    for (int i = 0; i < run->coupling->n; i++) {
        double X[3], u[3], d[3], du[3], Fi[3];
        get3(run, run->X, i, X);
        get3(run, run->u, i, u);
        get3(run, run->d, i, d);
        get3(run, run->du, i, du);
        for (int k = 0; k < 3 && t != 0.0; k++) {
            X[k] += t * d[k];
            u[k] += t * du[k];
        }
        if (run->contact[i].rigid) {
            memcpy(Fi, X, sizeof Fi);
        } else {
            run->kind->function->evaluate(&run->contact[i], X, u, Fi);
        }
        sum += ss_dot3(Fi, Fi);
        if (F != NULL) {
            put3(run, Fi, i, F);
        }
    }
    return 0.5 * sum;
}

static void linearise(const newton_run *run)
{
    for (int i = 0; i < run->coupling->n; i++) {
        double X[3], u[3];
        get3(run, run->X, i, X);
        get3(run, run->u, i, u);
        if (run->contact[i].rigid) {
            run->block[i] = (ss_newton_block){.A = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
        } else {
            run->kind->function->linearise(&run->contact[i], X, u, &run->block[i]);
        }
    }
}

// y += the product of each contact's A (or B, or their transposes) with x.
static void newton_add_product(const newton_run *run, bool is_B, bool transposed, const double *x,
                               double *y)
{
    for (int i = 0; i < run->coupling->n; i++) {
        const double *M = is_B ? run->block[i].B : run->block[i].A;
        double xi[3], product[3], sum[3];
        get3(run, x, i, xi);
        get3(run, y, i, sum);
        if (transposed) {
            ss_multiply3_transposed(M, xi, product);
        } else {
            ss_multiply3(M, xi, product);
        }
        for (int k = 0; k < 3; k++) {
            sum[k] += product[k];
        }
        put3(run, sum, i, y);
    }
}

// g = A'F + D^-1 W' B'F; du is scratch.
static void find_gradient(const newton_run *run)
{
    memset(run->du, 0, run->size * sizeof *run->du);
    newton_add_product(run, true, true, run->F, run->du);
    ss_newton_velocity_transposed(run->system, run->du, run->g);
    newton_add_product(run, false, true, run->F, run->g);
}

// ---- A step

// d = -a g, du = W D^-1 d.
static void follow_gradient(newton_run *run)
{
    double *Jg = run->d;
    ss_newton_velocity(run->system, run->g, run->du);
    memset(Jg, 0, run->size * sizeof *Jg);
    newton_add_product(run, false, false, run->g, Jg);
    newton_add_product(run, true, false, run->du, Jg);
    const double length =
        ss_vector_dot(run->size, run->g, run->g) / ss_vector_dot(run->size, Jg, Jg);
    for (size_t k = 0; k < run->size; k++) {
        run->d[k] = -length * run->g[k];
        run->du[k] *= -length;
    }
    run->gradient_steps++;
}

static bool newton_descends(const newton_run *run)
{
    const double slope = ss_vector_dot(run->size, run->d, run->g);
    if (run->kind->safeguard == SS_NEWTON_SLOPE) {
        return slope < 0.0;
    }
    return run->kind->safeguard == SS_NEWTON_FREE ||
           slope <= -run->set->sigma * sqrt(ss_vector_dot(run->size, run->d, run->d)) *
                        sqrt(ss_vector_dot(run->size, run->g, run->g));
}

static ss_status newton_find_direction(newton_run *run, ss_error *e)
{
    linearise(run);
    bool solved;
    const ss_status status = ss_newton_system_solve(run->system, run->block, run->set->shift,
                                                    run->F, run->d, &solved, e);
    if (status != SS_OK) {
        return status;
    }
    find_gradient(run);
    if (!solved || !newton_descends(run)) {
        follow_gradient(run);
    } else if (run->kind->searches) {
        ss_newton_velocity(run->system, run->d, run->du);
    }
    return SS_OK;
}

static double newton_goldstein_price(const newton_run *run)
{
    const double slope = ss_vector_dot(run->size, run->d, run->g);
    ss_goldstein search =
        ss_goldstein_begin(run->set->m1, run->set->m2, newton_evaluate(run, 0.0, NULL), slope);
    while (ss_goldstein_goes_on(&search, newton_evaluate(run, search.t, NULL))) {
    }
    return search.t;
}

// *moved: X has changed.
static ss_status newton_take_step(newton_run *run, bool *moved, ss_error *e)
{
    const double start = ss_limits_elapsed(&run->limits);
    const ss_status status = newton_find_direction(run, e);
    if (status != SS_OK) {
        return status;
    }
    const double t = run->kind->searches ? newton_goldstein_price(run) : 1.0;
    *moved = false;
    for (size_t k = 0; k < run->size; k++) {
        const double next = run->X[k] + t * run->d[k];
        *moved = *moved || next != run->X[k];
        run->X[k] = next;
    }
    run->steps++;
    run->step_seconds = fmax(ss_limits_elapsed(&run->limits) - start, run->step_seconds);
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
static void newton_look(newton_run *run)
{
    const int dim = run->coupling->dim;
    for (size_t k = 0; k < run->size; k++) {
        run->r[k] = run->X[k] / run->unit[k / (size_t)dim];
    }
    ss_coupling_set(run->coupling, run->r);
    run->fb = ss_coupling_measure(run->coupling).fb;
    memcpy(run->u, run->coupling->u, run->size * sizeof *run->u);
    newton_evaluate(run, 0.0, run->F);
    if (run->fb < run->best_fb) {
        memcpy(run->best, run->r, run->size * sizeof *run->r);
        run->best_fb = run->fb;
    }
    run->idle++;
    if (run->fb <= PROGRESS * run->mark) {
        run->mark = run->fb;
        run->idle = 0;
    }
}

// SS_TIME_LIMIT where so many seconds are more than is left.
static ss_outcome test_time(newton_run *run, const char *what, double seconds)
{
    const double limit = run->limits.task->time_limit;
    if (!(limit > 0.0 && ss_limits_elapsed(&run->limits) + seconds > 1.05 * limit)) {
        return SS_UNSOLVED;
    }
    run->late = what;
    run->late_seconds = seconds;
    return SS_TIME_LIMIT;
}

static ss_outcome newton_test(newton_run *run)
{
    if (run->fb <= run->limits.task->tolerance) {
        return SS_CONVERGED;
    }
    const ss_outcome limit = ss_limits_test(&run->limits, run->steps);
    if (limit != SS_UNSOLVED) {
        return limit;
    }
    const ss_coupling *c = run->coupling;
    const double floor = FLOOR_FACTOR * DBL_EPSILON * c->s * largest(run->r, run->size) / c->V;
    const bool at_floor = run->fb <= floor && run->idle >= FLOOR_STEPS;
    if (at_floor || run->idle >= run->set->patience || !isfinite(run->fb)) {
        return SS_STALLED;
    }
    const double longest = run->step_seconds;
    const double next =
        run->steps > 0 ? fmin(LONGER * longest, fmax(longest, run->foretold)) : run->foretold;
    return test_time(run, "a factorisation", next);
}

static ss_status newton_iterate(newton_run *run, ss_outcome *outcome, ss_error *e)
{
    for (;;) {
        newton_look(run);
        ss_limits_tell(&run->limits,
                       (ss_progress){.iteration = run->steps, .estimate = run->fb, .r = run->r});
        *outcome = newton_test(run);
        if (*outcome != SS_UNSOLVED) {
            return SS_OK;
        }
        bool moved;
        const ss_status status = newton_take_step(run, &moved, e);
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

static void newton_fill_contacts(newton_run *run)
{
    const ss_coupling *c = run->coupling;
    for (int i = 0; i < c->n; i++) {
        const ss_local *p = &c->contact[i];
        ss_newton_contact *k = &run->contact[i];
        k->rigid = !(c->compliance[i] > 0.0);
        run->unit[i] = k->rigid ? c->s : c->compliance[i];
        double W[9];
        for (int j = 0; j < 9; j++) {
            W[j] = p->W[j] / run->unit[i];
        }
        k->law = ss_ac_law_of(p->mu, W, ss_local_second_stiffness(p) / run->unit[i],
                              run->set->jean_moreau == 1);
    }
}

static bool newton_allocate(newton_run *run)
{
    const size_t n = (size_t)run->coupling->n;
    run->size = (size_t)run->coupling->dim * n;
    run->contact = malloc(n * sizeof *run->contact);
    run->block = malloc(n * sizeof *run->block);
    run->unit = malloc(n * sizeof *run->unit);
    double **const vectors[] = {&run->X,  &run->u, &run->F, &run->d,
                                &run->du, &run->g, &run->r, &run->best};
    const size_t count = sizeof vectors / sizeof vectors[0];
    run->memory = calloc(count * run->size, sizeof *run->memory);
    for (size_t k = 0; run->memory != NULL && k < count; k++) {
        *vectors[k] = run->memory + k * run->size;
    }
    return run->contact != NULL && run->block != NULL && run->unit != NULL && run->memory != NULL;
}

// An impulse that can change no velocity is none.
static void set_start(newton_run *run, const double *r)
{
    const int dim = run->coupling->dim;
    for (int k = 0; k < (int)run->size; k++) {
        run->best[k] = r[k];
        run->X[k] = run->contact[k / dim].rigid ? 0.0 : r[k] * run->unit[k / dim];
    }
    run->mark = INFINITY;
}

// A machine that is slower at the analysis, or busy, is as slow at the first step.
static ss_status analyse(newton_run *run, ss_error *e)
{
    const double start = ss_limits_elapsed(&run->limits);
    const ss_status status = ss_newton_system_analyse(run->system, e);
    const double took = ss_limits_elapsed(&run->limits) - start;
    const double slower = fmax(took / ss_newton_system_analysis(run->system), 1.0);
    run->foretold = slower * ss_newton_system_seconds(run->system);
    return status;
}

// SS_OK with *outcome where it ends here.
static ss_status newton_prepare(newton_run *run, const double *r, ss_outcome *outcome, ss_error *e)
{
    const ss_stop stop = ss_limits_stopper(&run->limits);
    ss_status status = ss_coupling_new(run->limits.task->problem, (ss_coupling_form)run->set->form,
                                       false, &stop, &run->coupling, e);
    if (status != SS_OK || run->coupling == NULL) {
        *outcome = ss_limits_test(&run->limits, -1);
        return status;
    }
    if (!newton_allocate(run)) {
        return ss_fail_memory(e, "Newton's method");
    }
    newton_fill_contacts(run);
    set_start(run, r);
    status = ss_newton_system_new(run->coupling, run->unit, &stop, &run->system, e);
    if (status != SS_OK || run->system == NULL) {
        *outcome = ss_limits_test(&run->limits, -1);
        return status;
    }
    const double analysis =
        ss_limits_slowness(&run->limits) * ss_newton_system_analysis(run->system);
    *outcome = test_time(run, "the analysis of its matrix", MARGIN * analysis);
    return *outcome == SS_UNSOLVED ? analyse(run, e) : SS_OK;
}

static void newton_release(newton_run *run)
{
    ss_newton_system_free(run->system);
    ss_coupling_free(run->coupling);
    free(run->contact);
    free(run->block);
    free(run->unit);
    free(run->memory);
}

static void report(const newton_run *run, ss_result *result)
{
    result->iterations = run->steps;
    result->own_error = run->best_fb < INFINITY ? run->best_fb : NAN;
    ss_limits_stop(&run->limits, result);
    if (run->steps == 0 && run->late != NULL) {
        snprintf(result->why, sizeof result->why,
                 "%s may take %.2g s, more than is left of the time limit", run->late,
                 run->late_seconds);
    } else if (run->steps > 0 && result->outcome != SS_CONVERGED) {
        snprintf(result->why, sizeof result->why, "%d of %d steps followed the gradient",
                 run->gradient_steps, run->steps);
    }
}

static bool needs_too_much(const newton_run *run, ss_error *why)
{
    const double needed = ss_newton_system_bytes(run->system) / 1e9;
    if (needed <= run->set->memory) {
        return false;
    }
    ss_fail(why, SS_OK, "its factor may need %.2g GB, more than the %.2g GB of its option memory",
            needed, run->set->memory);
    return true;
}

ss_status ss_newton_solve(const ss_newton_kind *kind, const ss_task *task, double *r,
                          ss_result *result, ss_error *e)
{
    newton_run run = {.kind = kind,
                      .set = task->method->global_settings,
                      .limits = ss_limits_start(task),
                      .best_fb = INFINITY};
    ss_error why = {0};
    ss_outcome outcome = SS_UNSOLVED;
    ss_status status = newton_prepare(&run, r, &outcome, e);
    ss_limits_ready(&run.limits);
    if (status == SS_OK && outcome == SS_UNSOLVED && needs_too_much(&run, &why)) {
        ss_drive_refuse(&run.limits, &why, result);
    } else if (status == SS_OK) {
        if (outcome == SS_UNSOLVED) {
            status = newton_iterate(&run, &outcome, e);
            memcpy(r, run.best, run.size * sizeof *r);
        }
        result->outcome = outcome;
        report(&run, result);
    }
    newton_release(&run);
    return status;
}
