// The scheme ida: the equation of motion of each strand is left to SUNDIALS IDA.
//
// Newton's matrix is J = dF/dy + c dF/dydot. With its slopes of M0 and of the forces of weight and
// motion left out, and with the rate of a small turn, dq = rate(dv)/c,
//
//     (c M0 + C + K/c) dv = r_v - K unrate(r_q)/c,   dq = (r_q + rate(dv))/c
//
// which is the matrix of a step of h = 1/c, times c. It preconditions GMRES, whose products with J
// are differences of F: a step costs a factor of nv numbers, where the dense one has nv + nq, and a
// few F.
#include "strands/band.h"
#include "strands/schemes/phases.h"
#include "strands/schemes/schemes.h"
#include "strands/system.h"

#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_spgmr.h>
#include <sunmatrix/sunmatrix_dense.h>

// ---- The differential equation of a strand

typedef enum ss_ida_jacobian {
    SS_IDA_OWN,   // M0, C and K of the strand as what preconditions GMRES
    SS_IDA_DENSE, // of all numbers of y, by differences, factored whole
} ss_ida_jacobian;

typedef struct ss_ida_settings {
    double rtol;
    int order;    // 1 .. 5, the most
    int jacobian; // ss_ida_jacobian
    int steps;    // of the integrator in one interval, the most
} ss_ida_settings;

// Effort of an interval.
typedef struct ss_ida_effort {
    int iterations, steps; // non-linear ones; steps of the formula
} ss_ida_effort;

// Numbers of the world's size, of which each strand uses its own.
typedef struct ss_ida_room {
    ss_world_state state;
    double *past; // [nv]
} ss_ida_room;

typedef struct ss_ida ss_ida;

// An interval: from the world's state with `gained` more velocity, at order 1, if it begins; else
// it goes on from where the last one ended, which must be that state.
typedef struct ss_ida_interval {
    double h; // s
    bool begins;
    const double *gained; // [nv]; NULL: 0
    const double *held;   // [nv] generalised forces; NULL: 0
    const ss_vec3 *push;  // [npoints] N, at the points of the polyline; NULL: 0
} ss_ida_interval;

#define KRYLOV 10 // vectors of GMRES
// A step of so many s gives M where M0 has no factor, as a straight super-helix has none.
#define BRIEF     1e-6
#define RATE_ATOL 100.0 // of rtol, rad/s; 1 rtol for coordinates

struct ss_ida {
    const ss_world *w;
    int k;
    ss_ida_settings set;
    ss_ida_room room;
    ss_placed at;
    ss_system_scratch *scratch; // of the thread that works
    double c;                   // of the preconditioner
    ss_band M, K;
    double *D, *f, *turn; // [nv]
    SUNContext context;
    void *memory;
    N_Vector y, ydot, atol;
    SUNMatrix J;
    SUNLinearSolver solver;
    long iterations, steps; // counted before this interval
    const double *held;     // of this interval, as the next; NULL: 0
    const ss_vec3 *push;
};

static const ss_strand *strand_of(const ss_ida *a)
{
    return &a->w->strands[a->k];
}

// Whether the equations of strand k are of this kind: nothing held, coordinates that have rates.
// SS_BAD_INPUT with a sentence where they are not.
static ss_status ida_check(const ss_world *w, int k, ss_error *e)
{
    const ss_strand *s = &w->strands[k];
    if (s->size.nheld > 0 || (s->size.nq != s->size.nv && s->model->rate == NULL)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "strands of the model %s %s, which the scheme ida cannot integrate: take "
                       "oriented-strands",
                       s->model->name,
                       s->size.nheld > 0
                           ? "are clamped by holding vertices"
                           : "that are not clamped have frames that are carried along");
    }
    return SS_OK;
}

// -- F

static void rate(const ss_strand *s, const double *q, const double *v, double *qdot)
{
    if (s->model->rate != NULL) {
        s->model->rate(s->self, q, v, qdot);
    } else {
        memcpy(qdot, v, (size_t)s->size.nv * sizeof *v);
    }
}

static void unrate(const ss_strand *s, const double *q, const double *qdot, double *v)
{
    if (s->model->unrate != NULL) {
        s->model->unrate(s->self, q, qdot, v);
    } else {
        memcpy(v, qdot, (size_t)s->size.nv * sizeof *v);
    }
}

// The strand at (q, v) in the world's arrays, and placed.
static ss_world_state place(ss_ida *a, double t, const double *q, const double *v)
{
    const ss_strand *s = strand_of(a);
    ss_world_state state = a->room.state;
    state.time = t;
    memcpy(state.q + s->q, q, (size_t)s->size.nq * sizeof *q);
    memcpy(state.v + s->v, v, (size_t)s->size.nv * sizeof *v);
    ss_strand_place(a->w, a->k, &state, &a->at);
    return state;
}

// rs -= J'push, where the strand is placed.
static void subtract_pushes(const ss_ida *a, double *rs)
{
    for (int i = 0; i < strand_of(a)->size.npoints; i++) {
        const ss_strand_point *p = &a->at.points[i];
        const double *x = p->J, *y = x + p->count, *z = y + p->count;
        const ss_vec3 f = a->push[i];
        for (int j = 0; j < p->count; j++) {
            rs[ss_point_dof(p, j)] -= x[j] * f.x + y[j] * f.y + z[j] * f.z;
        }
    }
}

// M0 vdot - F + C v without `held`. A step of 1 s that ends with v and began with v - vdot is short
// of it by as much.
static void find_free_residual(ss_ida *a, double t, const double *q, const double *v,
                               const double *vdot, double *rs)
{
    const ss_strand *s = strand_of(a);
    if (s->model->residual != NULL && s->posing == NULL) {
        ss_surroundings around = ss_strand_surroundings(a->w, a->k, t);
        around.push = a->push;
        s->model->residual(s->self, &around, q, v, vdot, rs);
        return;
    }
    const ss_world_state state = place(a, t, q, v);
    ss_iterate it = ss_iterate_first(&state, 1.0);
    for (int j = 0; j < s->size.nv; j++) {
        a->room.past[s->v + j] = v[j] - vdot[j];
    }
    it.past = a->room.past;
    ss_strand_residual(a->w, a->k, &it, &a->at, a->scratch, rs);
    if (a->push != NULL) {
        subtract_pushes(a, rs);
    }
}

static void find_residual(ss_ida *a, double t, const double *q, const double *v, const double *vdot,
                          double *rs)
{
    find_free_residual(a, t, q, v, vdot, rs);
    for (int j = 0; a->held != NULL && j < strand_of(a)->size.nv; j++) {
        rs[j] -= a->held[j];
    }
}

static int residual(realtype t, N_Vector y, N_Vector ydot, N_Vector r, void *own)
{
    ss_ida *a = own;
    const ss_strand *s = strand_of(a);
    const int nv = s->size.nv;
    const double *v = N_VGetArrayPointer(y), *vdot = N_VGetArrayPointer(ydot);
    double *rs = N_VGetArrayPointer(r), sum = 0.0;
    find_residual(a, t, v + nv, v, vdot, rs);
    rate(s, v + nv, v, rs + nv);
    for (int j = nv; j < nv + s->size.nq; j++) {
        rs[j] = vdot[j] - rs[j];
    }
    for (int j = 0; j < nv + s->size.nq; j++) {
        sum += rs[j] - rs[j]; // 0 or NaN
    }
    return sum == 0.0 ? 0 : 1;
}

// -- Newton's matrix

// M of a step of h, factored; its K is the first of its kinds with which it has a factor.
static bool factor(ss_ida *a, const ss_world_state *state, double h)
{
    ss_iterate it = ss_iterate_first(state, h);
    for (int kind = (int)strand_of(a)->model->kind; kind < SS_STIFFNESS_KINDS; kind++) {
        it.kind = (ss_stiffness)kind;
        if (ss_strand_system(a->w, a->k, &it, &a->at, a->scratch, &a->M, a->f) &&
            ss_band_factor(&a->M, a->D)) {
            ss_band_clear(&a->K);
            const ss_strand *s = strand_of(a);
            return s->model->stiffness == NULL ||
                   s->model->stiffness(s->self, state->q + s->q, it.kind, 1.0, &a->K);
        }
    }
    return false;
}

static int prepare(realtype t, N_Vector y, N_Vector ydot, N_Vector r, realtype c, void *own)
{
    ss_ida *a = own;
    const double *v = N_VGetArrayPointer(y);
    (void)ydot;
    (void)r;
    const ss_world_state state = place(a, t, v + strand_of(a)->size.nv, v);
    a->c = c;
    return factor(a, &state, 1.0 / c) ? 0 : 1;
}

static int precondition(realtype t, N_Vector y, N_Vector ydot, N_Vector r, N_Vector right,
                        N_Vector z, realtype c, realtype delta, void *own)
{
    ss_ida *a = own;
    const ss_strand *s = strand_of(a);
    const int nv = s->size.nv;
    const double *q = N_VGetArrayPointer(y) + nv, *rv = N_VGetArrayPointer(right), *rq = rv + nv;
    double *dv = N_VGetArrayPointer(z), *dq = dv + nv;
    (void)t;
    (void)ydot;
    (void)r;
    (void)c;
    (void)delta;
    unrate(s, q, rq, a->turn);
    for (int j = 0; j < nv; j++) {
        dv[j] = rv[j] / a->c;
        a->turn[j] *= -1.0 / (a->c * a->c);
    }
    ss_band_add_product(&a->K, a->turn, dv);
    ss_band_solve(&a->M, a->D, dv);
    rate(s, q, dv, dq);
    for (int j = 0; j < s->size.nq; j++) {
        dq[j] = (rq[j] + dq[j]) / a->c;
    }
    return 0;
}

// -- Making one

static void be_quiet(int code, const char *module, const char *function, char *message, void *own)
{
    (void)code; // the stepper says why a step was cut
    (void)module;
    (void)function;
    (void)message;
    (void)own;
}

static bool make_vectors(ss_ida *a)
{
    const ss_strand_size *size = &strand_of(a)->size;
    const int n = size->nv + size->nq;
    if (SUNContext_Create(NULL, &a->context) != 0) {
        return false;
    }
    a->y = N_VNew_Serial(n, a->context);
    a->ydot = N_VNew_Serial(n, a->context);
    a->atol = N_VNew_Serial(n, a->context);
    a->memory = IDACreate(a->context);
    if (a->y == NULL || a->ydot == NULL || a->atol == NULL || a->memory == NULL) {
        return false;
    }
    N_VConst(0.0, a->y);
    N_VConst(0.0, a->ydot);
    for (int j = 0; j < n; j++) {
        N_VGetArrayPointer(a->atol)[j] = a->set.rtol * (j < size->nv ? RATE_ATOL : 1.0);
    }
    return true;
}

static bool make_solver(ss_ida *a)
{
    const ss_strand_size *size = &strand_of(a)->size;
    const int n = size->nv + size->nq;
    const bool dense = a->set.jacobian == SS_IDA_DENSE;
    if (!dense) {
        a->solver = SUNLinSol_SPGMR(a->y, SUN_PREC_LEFT, KRYLOV, a->context);
        return a->solver != NULL && IDASetLinearSolver(a->memory, a->solver, NULL) == IDA_SUCCESS &&
               IDASetPreconditioner(a->memory, prepare, precondition) == IDA_SUCCESS;
    }
    a->J = SUNDenseMatrix(n, n, a->context);
    a->solver = a->J != NULL ? SUNLinSol_Dense(a->y, a->J, a->context) : NULL;
    return a->solver != NULL && IDASetLinearSolver(a->memory, a->solver, a->J) == IDA_SUCCESS;
}

static bool make_integrator(ss_ida *a)
{
    return IDASetErrHandlerFn(a->memory, be_quiet, NULL) == IDA_SUCCESS &&
           IDAInit(a->memory, residual, 0.0, a->y, a->ydot) == IDA_SUCCESS &&
           IDASVtolerances(a->memory, a->set.rtol, a->atol) == IDA_SUCCESS &&
           IDASetUserData(a->memory, a) == IDA_SUCCESS &&
           IDASetMaxOrd(a->memory, a->set.order) == IDA_SUCCESS &&
           IDASetMaxNumSteps(a->memory, a->set.steps) == IDA_SUCCESS && make_solver(a);
}

static void free_strand(ss_ida *a)
{
    if (a == NULL) {
        return;
    }
    if (a->memory != NULL) {
        IDAFree(&a->memory);
    }
    if (a->solver != NULL) {
        SUNLinSolFree(a->solver);
    }
    if (a->J != NULL) {
        SUNMatDestroy(a->J);
    }
    N_Vector const vectors[] = {a->y, a->ydot, a->atol};
    for (int i = 0; i < 3; i++) {
        if (vectors[i] != NULL) {
            N_VDestroy(vectors[i]);
        }
    }
    if (a->context != NULL) {
        SUNContext_Free(&a->context);
    }
    ss_placed_free(&a->at);
    free(a->M.x);
    free(a);
}

// For strand k of a world, which it uses. NULL without memory.
static ss_ida *ida_new(const ss_world *w, int k, const ss_ida_settings *set,
                       const ss_ida_room *room)
{
    const ss_strand_size *size = &w->strands[k].size;
    const size_t nv = (size_t)size->nv, count = nv * (size_t)(size->half_bandwidth + 1);
    ss_ida *a = calloc(1, sizeof *a);
    if (a == NULL) {
        return NULL;
    }
    *a = (ss_ida){.w = w, .k = k, .set = *set, .room = *room};
    a->M = (ss_band){size->nv, size->half_bandwidth,
                     malloc((2 * count + 3 * nv + 1) * sizeof(double))};
    const bool placed = ss_placed_init(&a->at, size);
    if (a->M.x == NULL || !placed || !make_vectors(a) || !make_integrator(a)) {
        free_strand(a);
        return NULL;
    }
    a->K = (ss_band){size->nv, size->half_bandwidth, a->M.x + count};
    a->D = a->K.x + count;
    a->f = a->D + nv;
    a->turn = a->f + nv;
    return a;
}

// -- Integrating

// y and ydot of the world's state with `gained` more velocity: vdot = -M0^-1 of what is left at
// vdot = 0.
static bool start(ss_ida *a, const double *gained)
{
    const ss_strand *s = strand_of(a);
    const ss_world_state *now = &a->w->now;
    const int nv = s->size.nv;
    double *v = N_VGetArrayPointer(a->y), *vdot = N_VGetArrayPointer(a->ydot);
    memcpy(v, now->v + s->v, (size_t)nv * sizeof *v);
    for (int j = 0; gained != NULL && j < nv; j++) {
        v[j] += gained[j];
    }
    memcpy(v + nv, now->q + s->q, (size_t)s->size.nq * sizeof *v);
    memset(vdot, 0, (size_t)nv * sizeof *vdot);
    const ss_world_state state = place(a, now->time, v + nv, v);
    if (!factor(a, &state, 0.0) && !factor(a, &state, BRIEF)) {
        return false;
    }
    find_residual(a, now->time, v + nv, v, vdot, a->f);
    ss_band_solve(&a->M, a->D, a->f);
    for (int j = 0; j < nv; j++) {
        vdot[j] = -a->f[j];
    }
    rate(s, v + nv, v, vdot + nv);
    a->iterations = a->steps = 0;
    return IDAReInit(a->memory, now->time, a->y, a->ydot) == IDA_SUCCESS;
}

static void count(ss_ida *a, ss_ida_effort *effort)
{
    long iterations = 0, steps = 0;
    IDAGetNumNonlinSolvIters(a->memory, &iterations);
    IDAGetNumSteps(a->memory, &steps);
    effort->iterations = (int)(iterations - a->iterations);
    effort->steps = (int)(steps - a->steps);
    a->iterations = iterations;
    a->steps = steps;
}

// q and v of strand k at its end. False if IDA fails.
static bool ida_advance(ss_ida *a, const ss_ida_interval *interval, ss_system_scratch *scratch,
                        double *q, double *v, ss_ida_effort *effort)
{
    const ss_strand *s = strand_of(a);
    double reached = 0.0;
    a->scratch = scratch;
    a->held = interval->held;
    a->push = interval->push;
    *effort = (ss_ida_effort){0};
    if (interval->begins && !start(a, interval->gained)) {
        return false;
    }
    const int flag =
        IDASolve(a->memory, a->w->now.time + interval->h, &reached, a->y, a->ydot, IDA_NORMAL);
    count(a, effort);
    if (flag < 0) {
        return false;
    }
    const double *y = N_VGetArrayPointer(a->y);
    memcpy(v, y, (size_t)s->size.nv * sizeof *v);
    memset(a->turn, 0, (size_t)s->size.nv * sizeof *a->turn);
    s->model->advance(s->self, y + s->size.nv, a->turn, 0.0, q); // of unit length
    return true;
}

// ---- The scheme
//
// ida: the equations of motion as they are, by a formula of variable order and step.
//
// Every strand has an integrator of its own, which goes on from step to step of the world as long
// as nothing else moves it, and interpolates where the world's step ends. Contacts, limits and
// goals are those of `phases.h` before every step of the world, whose impulses r are forces r/h at
// points of the strands all through it, and whose impacts are a jump of the velocity, M0^-1 H p:
// the integrator of a strand that they act on, or acted on in the step before, begins anew.

typedef struct settings {
    ss_ida_settings ida;
    ss_phases_settings phases;
    int contacts; // 0: strands and obstacles pass through each other
} settings;

static const settings DEFAULTS = {
    .ida = {1e-6, 5, SS_IDA_OWN, 20000}, .phases = SS_PHASES_DEFAULTS, .contacts = 1};
static const char *const JACOBIANS[] = {"own", "dense", NULL};
static const char *const CONTACTS[] = {"off", "on", NULL};
static const ss_key KEYS[] = {
    SS_REAL_KEY("rtol", ida.rtol, 1e-12, 0.1),
    SS_INTEGER_KEY("order", ida.order, 1, 5),
    SS_CHOICE_KEY("jacobian", ida.jacobian, JACOBIANS),
    SS_INTEGER_KEY("steps", ida.steps, 1, 1000000),
    SS_CHOICE_KEY("contacts", contacts, CONTACTS),
    SS_PHASES_KEYS(phases),
    {.name = NULL},
};

static const char *ida_key_needs(const void *settings_, const char *key)
{
    const settings *set = settings_;
    return ss_phases_key_needs(&set->phases, set->contacts != 0, key);
}

typedef struct scheme {
    int n;
    ss_ida **strands; // [n]
    ss_ida_effort *effort;
    bool *good;            // [n] whether IDA came to the end of the step
    bool *pushed, *before; // [n] whether contacts act on it in this step; in the one before
    ss_phases *phases;
    double *gained, *held; // [nv] by impacts; forces of goals and limits in this step
    ss_vec3 *push;         // [npoints] N, of contacts
    ss_ida_room room;
    ss_world_state last; // where the integrators are
    bool going;
} scheme;

static void ida_free(void *own)
{
    scheme *a = own;
    if (a == NULL) {
        return;
    }
    for (int k = 0; a->strands != NULL && k < a->n; k++) {
        free_strand(a->strands[k]);
    }
    free(a->strands);
    free(a->effort);
    free(a->good);
    free(a->gained);
    free(a->push);
    ss_phases_free(a->phases);
    free(a->room.past);
    ss_world_state_free(&a->room.state);
    ss_world_state_free(&a->last);
    free(a);
}

static bool make_strands(scheme *a, const ss_world *w, const ss_ida_settings *set)
{
    const size_t n = (size_t)w->nstrands;
    a->strands = calloc(n, sizeof(ss_ida *));
    a->effort = calloc(n, sizeof *a->effort);
    a->good = calloc(3 * n, sizeof *a->good);
    a->gained = calloc(2 * (size_t)w->nv + 1, sizeof *a->gained);
    a->push = malloc(((size_t)w->npoints + 1) * sizeof *a->push);
    a->room.past = malloc(((size_t)w->nv + 1) * sizeof *a->room.past);
    const bool state = ss_world_state_init(&a->room.state, w);
    bool ok = ss_world_state_init(&a->last, w) && state && a->strands != NULL &&
              a->effort != NULL && a->good != NULL && a->gained != NULL && a->push != NULL &&
              a->room.past != NULL;
    a->n = w->nstrands;
    a->pushed = a->good + n;
    a->before = a->pushed + n;
    a->held = a->gained + w->nv;
    for (int k = 0; ok && k < w->nstrands; k++) {
        a->strands[k] = ida_new(w, k, set, &a->room);
        ok = a->strands[k] != NULL;
    }
    return ok;
}

static ss_status ida_make(ss_stepper *s, const void *settings_, void **own, ss_error *e)
{
    const settings *set = settings_;
    ss_status status = SS_OK;
    *own = NULL;
    for (int k = 0; status == SS_OK && k < s->world->nstrands; k++) {
        status = ida_check(s->world, k, e);
    }
    if (status != SS_OK) {
        return status;
    }
    scheme *a = calloc(1, sizeof *a);
    *own = a;
    if (a == NULL || !make_strands(a, s->world, &set->ida)) {
        return ss_fail_memory(e, "the scheme of a world");
    }
    s->options.contacts = s->options.contacts && set->contacts != 0;
    return ss_phases_new(s, &set->phases, true, &a->phases, e);
}

static bool same(const double *a, const double *b, int count)
{
    return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

// Whether the world is where the integrators are.
static bool goes_on(const scheme *a, const ss_world *w)
{
    return a->going && a->last.time == w->now.time && same(a->last.q, w->now.q, w->nq) &&
           same(a->last.v, w->now.v, w->nv);
}

// -- Contacts

// Takes what acts on strand k from the impulses of the phases.
static void take_impulses(const scheme *a, const ss_stepper *s, int k, double h)
{
    const ss_strand *strand = &s->world->strands[k];
    ss_phases_impulses of;
    a->pushed[k] = ss_phases_act(a->phases, s->world, k, &of);
    for (int j = 0; a->pushed[k] && j < strand->size.nv; j++) {
        a->gained[strand->v + j] = of.gained[j];
        a->held[strand->v + j] = of.extra[j] / h;
    }
    for (int i = 0; a->pushed[k] && i < strand->size.npoints; i++) {
        a->push[strand->point + i] = ss_scaled(1.0 / h, of.pushes[i]);
    }
}

static ss_status find_forces(scheme *a, ss_stepper *s, double h, ss_step_report *report,
                             ss_step_reason *reason, ss_error *e)
{
    const ss_iterate it = ss_iterate_first(&s->world->now, h);
    if (!ss_step_form(s, &it, &s->here, report)) {
        *reason = SS_STEP_MATRIX;
        return SS_OK;
    }
    ss_status status = ss_step_find_contacts(s, h, report, e);
    if (status == SS_OK) {
        status = ss_phases_answer(a->phases, s, h, report, e);
    }
    if (status != SS_OK) {
        return status;
    }
    ss_step_find_velocities(s); // those of the problem, which it is stored with
    ss_step_keep_answer(s);
    for (int k = 0; k < a->n; k++) {
        take_impulses(a, s, k, h);
    }
    return SS_OK;
}

// -- Steps

typedef struct task {
    ss_stepper *s;
    scheme *a;
    double h;
    bool begins;
} task;

static void advance(void *context, int k, int thread)
{
    const task *t = context;
    const scheme *a = t->a;
    const ss_strand *strand = &t->s->world->strands[k];
    const bool pushed = a->pushed[k];
    const ss_ida_interval interval = {.h = t->h,
                                      .begins = t->begins || pushed || a->before[k],
                                      .gained = pushed ? a->gained + strand->v : NULL,
                                      .held = pushed ? a->held + strand->v : NULL,
                                      .push = pushed ? a->push + strand->point : NULL};
    a->good[k] = ida_advance(a->strands[k], &interval, t->s->systems.rooms[thread].scratch,
                             t->s->trial.q + strand->q, t->s->trial.v + strand->v, &a->effort[k]);
}

// Whether all have come through.
static bool sum_up(const scheme *a, ss_step_report *report)
{
    bool good = true;
    double sum = 0.0;
    report->nonlinear_least = a->effort[0].iterations;
    report->nonlinear_most = report->formula_steps = 0;
    for (int k = 0; k < a->n; k++) {
        const int count = a->effort[k].iterations;
        good = good && a->good[k];
        sum += count;
        report->formula_steps += a->effort[k].steps;
        report->nonlinear_least = count < report->nonlinear_least ? count : report->nonlinear_least;
        report->nonlinear_most = count > report->nonlinear_most ? count : report->nonlinear_most;
    }
    report->nonlinear_mean = sum / a->n;
    report->iterates = report->nonlinear_most;
    return good;
}

static ss_status ida_step(ss_stepper *s, void *own, double h, ss_step_report *report,
                          ss_step_reason *reason, ss_error *e)
{
    scheme *a = own;
    const ss_world *w = s->world;
    task t = {s, a, h, !goes_on(a, w)};
    ss_step_begin(s, h, 1.0, NULL);
    memcpy(a->before, a->pushed, (size_t)a->n * sizeof *a->pushed);
    const ss_status status = find_forces(a, s, h, report, reason, e);
    if (status != SS_OK || *reason != SS_STEP_DONE) {
        a->going = false;
        return status;
    }
    ss_systems_each(&s->systems, w->nstrands, advance, &t);
    a->going = sum_up(a, report);
    if (!a->going) {
        *reason = SS_STEP_INTEGRATOR;
        return SS_OK;
    }
    a->last.time = w->now.time + h;
    memcpy(a->last.q, s->trial.q, (size_t)w->nq * sizeof *a->last.q);
    memcpy(a->last.v, s->trial.v, (size_t)w->nv * sizeof *a->last.v);
    return ss_step_end(s, h, report, reason, e);
}

const ss_scheme ss_scheme_ida = {
    .name = "ida",
    .summary = "the equations of motion by SUNDIALS IDA, orders 1 to 5; contacts as in phases",
    .reference = "H06, H05",
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .key_needs = ida_key_needs,
    .alone = true,
    .impacts = true,
    .make = ida_make,
    .free = ida_free,
    .step = ida_step,
};
