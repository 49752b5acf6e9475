// One strand and SUNDIALS IDA (ida.h).
//
// Newton's matrix is J = dF/dy + c dF/dydot. With its slopes of M0 and of the forces of weight and motion left
// out, and with the rate of a small turn, dq = rate(dv)/c,
//
//     (c M0 + C + K/c) dv = r_v - K unrate(r_q)/c,   dq = (r_q + rate(dv))/c
//
// which is the matrix of a step of h = 1/c, times c. It preconditions GMRES, whose products with J are
// differences of F: a step costs a factor of nv numbers, where the dense one has nv + nq, and a few F.
#include "strands/schemes/ida.h"

#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunlinsol/sunlinsol_spgmr.h>
#include <sunmatrix/sunmatrix_dense.h>

#include "strands/band.h"

#define KRYLOV    10 // vectors of GMRES
#define BRIEF     1e-6 // s: M of such a step where M0 has no factor, as a straight super-helix has none
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

ss_status ss_ida_check(const ss_world *w, int k, ss_error *e)
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

// ---- F

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

// M0 vdot - F + C v without `held`. A step of 1 s that ends with v and began with v - vdot is short of it by as much.
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

// ---- Newton's matrix

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

// ---- Making one

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

ss_ida *ss_ida_new(const ss_world *w, int k, const ss_ida_settings *set, const ss_ida_room *room)
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
        ss_ida_free(a);
        return NULL;
    }
    a->K = (ss_band){size->nv, size->half_bandwidth, a->M.x + count};
    a->D = a->K.x + count;
    a->f = a->D + nv;
    a->turn = a->f + nv;
    return a;
}

void ss_ida_free(ss_ida *a)
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

// ---- Integrating

// y and ydot of the world's state with `gained` more velocity: vdot = -M0^-1 of what is left at vdot = 0.
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

bool ss_ida_advance(ss_ida *a, const ss_ida_interval *interval, ss_system_scratch *scratch,
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
