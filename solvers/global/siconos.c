// solvers/global/siconos.c -- six solvers of Siconos, run in a process of their own
// (solvers/solve_in_child.h).
//
// Siconos solves u = W r + b, (r, u) in C(mu), in space, and stops on a relative error of its own,
//
//     |r - P_K(r - u~)|_2 / max(|b|_2, |r|_2, |u|_2),    u~ = u + mu |u_T| e_N    (1)
//
// which mixes units and says little of our measures. Its answer shall be solved to tol by our
// judge, as all others: it is called with tol, and again from its last answer with a tenth of its
// last tolerance until the judge is satisfied, a limit ends it, or 1e-16 is passed. Iterations and
// seconds are those of all calls; the making of its matrices is their set-up, and the time of our
// judge between two calls is left out. All settings but tolerance and iterations are Siconos' own
// defaults (version 4.4), other than those in the table below. W and b of a problem in global form
// are computed first, which is set-up too.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>

#include "base/assert.h"
#include "base/clock.h"
#include "problems/matrix/delassus.h"
#include "problems/response.h"
#include "solvers/global/global.h"
#include "solvers/limits.h"
#include "solvers/solve_in_child.h"

#define SMALLEST_TOLERANCE 1e-16
#define TIGHTER            0.1

// Siconos' numbers for the solver, the local solver inside it, and a setting of it.
typedef struct variant {
    int solver;
    int local;         // 0: its own
    int place, number; // iparam[place] = number; 0, 0: none
} variant;

typedef struct moment {
    double wall, cpu; // s
} moment;

// Siconos at work on one problem, in the child.
typedef struct siconos_call {
    const ss_task *task;
    const variant *variant;
    ss_limits limits; // within a call the parent keeps the time limit
    ss_shared_solve *shared;
    ss_whitened *white; // global form
    ss_blocks W;
    const double *b; // [3 n]
    ss_response *response;
    double *r, *u;        // [3 n] owned by the call
    double *judged;       // [3 n] velocities, scratch of the judge
    double best;          // ss_measures_error of shared->best
    double own_error;     // (1) of the last call
    int done;             // iterations of the calls that have returned
    moment setup, sweeps; // spent in them
} siconos_call;

static moment now(void)
{
    return (moment){ss_clock_seconds(CLOCK_MONOTONIC), ss_clock_cpu_seconds()};
}

static void add_since(moment *spent, moment begin)
{
    const moment end = now();
    spent->wall += end.wall - begin.wall;
    spent->cpu += end.cpu - begin.cpu;
}

// ---- Siconos' own types

static double *siconos_copy(const double *x, int n)
{
    double *made = malloc((size_t)n * sizeof *made);
    return made != NULL ? memcpy(made, x, (size_t)n * sizeof *x) : NULL;
}

// A zero on the diagonal of W is entered as 1, which take_back_ones undoes: where a column is
// empty, SBM_from_csparse of Siconos 4.4 goes on to the next one and enters a number where W has
// none.
static void enter_block(NumericsMatrix *triplets, int i, int j, const double block[9])
{
    for (int c = 0; c < 9; c++) {
        const bool held = i == j && c % 4 == 0 && block[c] == 0.0;
        if (held || block[c] != 0.0) {
            NM_entry(triplets, 3 * i + c / 3, 3 * j + c % 3, held ? 1.0 : block[c]);
        }
    }
}

static void take_back_ones(const ss_blocks *W, SparseBlockStructuredMatrix *blocks)
{
    for (int i = 0; i < W->n; i++) {
        for (size_t k = W->start[i]; k < W->start[i + 1]; k++) {
            for (int c = 0; W->col[k] == i && c < 9; c += 4) {
                if (W->x[9 * k + (size_t)c] == 0.0) {
                    blocks->block[SBM_diagonal_block_index(blocks, (unsigned)i)][c] = 0.0;
                }
            }
        }
    }
}

// Returns W by blocks of three, as Siconos' Gauss-Seidel likes it best, and in the way in which
// Siconos reads files of FCLIB: a stored zero is no entry.
static NumericsMatrix *matrix_of(const ss_blocks *W)
{
    NumericsMatrix *triplets = NM_create(NM_SPARSE, 3 * W->n, 3 * W->n);
    NM_triplet_alloc(triplets, (CS_INT)(9 * W->start[W->n]));
    for (int i = 0; i < W->n; i++) {
        for (size_t k = W->start[i]; k < W->start[i + 1]; k++) {
            enter_block(triplets, i, W->col[k], &W->x[9 * k]);
        }
    }
    NumericsMatrix *blocks = NM_create(NM_SPARSE_BLOCK, 3 * W->n, 3 * W->n);
    SBM_from_csparse(3, NM_csc(triplets), blocks->matrix1);
    take_back_ones(W, blocks->matrix1);
    NM_free(triplets);
    return blocks;
}

// Returns the arguments of one Siconos call. Siconos may modify them, so they are never reused.
static FrictionContactProblem *problem_of(const siconos_call *job)
{
    const int n = job->W.n;
    return frictionContactProblem_new_with_data(3, n, matrix_of(&job->W),
                                                siconos_copy(job->b, 3 * n),
                                                siconos_copy(job->task->problem->mu, n));
}

// Keeps an iterate, should it be the last. Some solvers call it after each iteration.
static void note_iterate(void *context, int size, double *r, double *u, double error, void *unused)
{
    siconos_call *job = context;
    (void)u;
    (void)error;
    (void)unused;
    memcpy(job->shared->latest, r, (size_t)size * sizeof *r);
    job->shared->result.iterations++;
}

static SolverOptions *options_of(siconos_call *job, double tolerance, Callback *callback)
{
    const variant *v = job->variant;
    SolverOptions *options = solver_options_create(v->solver);
    if (v->local != 0) {
        solver_options_update_internal(options, 0, v->local);
    }
    if (v->place != 0) {
        options->iparam[v->place] = v->number;
    }
    *callback = (Callback){.env = job, .collectStatsIteration = note_iterate};
    options->callback = callback;
    options->dparam[SICONOS_DPARAM_TOL] = tolerance;
    options->iparam[SICONOS_IPARAM_MAX_ITER] = job->task->max_iterations - job->done;
    return options;
}

// Calls Siconos from r. True if it says that it has converged; if there was nothing left to do
// for it, only its error says so.
static bool call(siconos_call *job, double tolerance)
{
    Callback callback;
    moment begin = now();
    FrictionContactProblem *problem = problem_of(job);
    SolverOptions *options = options_of(job, tolerance, &callback);
    add_since(&job->setup, begin);
    begin = now();
    const int info = fc3d_driver(problem, job->r, job->u, options);
    add_since(&job->sweeps, begin);
    job->own_error = options->dparam[SICONOS_DPARAM_RESIDU];
    job->done += options->iparam[SICONOS_IPARAM_ITER_DONE];
    job->shared->result.iterations = job->done;
    options->callback = NULL; // it is ours
    solver_options_delete(options);
    frictionContactProblem_free(problem);
    return info == 0 || job->own_error <= tolerance;
}

// ---- Until the judge is satisfied

static bool siconos_judge(siconos_call *job)
{
    const size_t bytes = job->shared->size * sizeof *job->r;
    const ss_measures m = ss_response_judge(job->response, job->r, job->judged);
    const double residual = ss_measures_error(&m);
    memcpy(job->shared->latest, job->r, bytes);
    if (residual < job->best) {
        job->best = residual;
        memcpy(job->shared->best, job->r, bytes);
    }
    return ss_measures_pass(&m, job->task->tolerance);
}

static ss_outcome siconos_iterate(siconos_call *job)
{
    char *why = job->shared->result.why;
    const size_t room = sizeof job->shared->result.why;
    double tolerance = fmax(job->task->tolerance, SMALLEST_TOLERANCE);
    for (; tolerance >= 0.99 * SMALLEST_TOLERANCE; tolerance *= TIGHTER) {
        const ss_outcome limit = ss_limits_test(&job->limits, job->done);
        if (limit != SS_UNSOLVED) {
            return limit;
        }
        const bool converged = call(job, tolerance);
        if (siconos_judge(job)) {
            return SS_CONVERGED;
        }
        if (!converged && job->done < job->task->max_iterations) {
            snprintf(why, room, "Siconos gave up at its own error %.2g", job->own_error);
            return SS_STALLED;
        }
    }
    snprintf(why, room, "Siconos' own error is %.2g, and no tighter tolerance is left to ask for",
             job->own_error);
    return SS_STALLED;
}

// ---- The solver

static ss_status siconos_assemble(siconos_call *job, ss_error *e)
{
    const ss_problem *p = job->task->problem;
    if (p->form == SS_LOCAL) {
        job->b = p->b;
        return ss_blocks_from_sparse(&p->W, 3, &job->W, e);
    }
    const ss_status status = ss_whitened_new(p, &job->white, e);
    if (status == SS_OK) {
        job->b = job->white->b;
    }
    return status == SS_OK ? ss_blocks_assemble(job->white, NULL, &job->W, e) : status;
}

static ss_status siconos_prepare(siconos_call *job, ss_error *e)
{
    const ss_problem *p = job->task->problem;
    const moment begin = now();
    ss_status status = siconos_assemble(job, e);
    add_since(&job->setup, begin);
    if (status == SS_OK) {
        status = ss_response_new(p, &job->response, e);
    }
    job->r = siconos_copy(job->shared->best, 3 * p->ncontacts);
    job->u = calloc(job->shared->size, sizeof *job->u);
    job->judged = calloc(job->shared->size, sizeof *job->judged);
    if (status == SS_OK && (job->r == NULL || job->u == NULL || job->judged == NULL)) {
        status = ss_fail_memory(e, "Siconos");
    }
    return status;
}

static void count(const siconos_call *job, ss_result *result)
{
    result->setup_seconds = job->setup.wall;
    result->sweep_seconds = job->sweeps.wall;
    result->seconds = job->setup.wall + job->sweeps.wall;
    result->cpu_seconds = job->setup.cpu + job->sweeps.cpu;
}

// Works in the child, whose end frees everything.
static void siconos_work(const ss_task *task, ss_shared_solve *shared)
{
    ss_result *result = &shared->result;
    if (task->problem->dim != 3) {
        result->outcome = SS_NOT_COVERED;
        snprintf(result->why, sizeof result->why, "%s solves problems in space only",
                 task->method->name);
        return;
    }
    ss_assert(task->method->global_settings != NULL);
    siconos_call job = {.task = task,
                        .limits = ss_limits_start(task),
                        .variant = task->method->global_settings,
                        .shared = shared,
                        .best = INFINITY,
                        .own_error = NAN};
    shared->status = siconos_prepare(&job, &shared->error);
    if (shared->status == SS_OK) {
        result->outcome = siconos_iterate(&job);
    }
    count(&job, result);
}

static ss_status siconos_solve(const ss_task *task, double *r, ss_result *result, ss_error *e)
{
    return ss_solve_in_child(task, siconos_work, r, result, e);
}

#define ABOUT                                                                                      \
    " It runs in a process of its own with Siconos' defaults, and is called again with a tighter " \
    "tolerance until our judge is satisfied. Its time is that of all calls, without the judge's."
#define ENTRY(key, text, ...)                                                                      \
    {                                                                                              \
        .card = {.name = "siconos/" key,                                                           \
                 .law = SS_EXACT,                                                                  \
                 .reference = "S",                                                                 \
                 .about = "Siconos' " text ABOUT,                                                  \
                 .defaults = &(const variant){__VA_ARGS__},                                        \
                 .settings_size = sizeof(variant)},                                                \
        .solve = siconos_solve                                                                     \
    }

const ss_global_solver ss_siconos_nsgs_hybrid = ENTRY(
    "nsgs-hybrid", "default: Gauss-Seidel over a Newton method that falls back on others.",
    .solver = SICONOS_FRICTION_3D_NSGS, .local = SICONOS_FRICTION_3D_ONECONTACT_NSN_GP_HYBRID);
const ss_global_solver ss_siconos_nsgs_quartic_nu =
    ENTRY("nsgs-quartic-nu", "Gauss-Seidel over the quartic solver with a numerical fallback.",
          .solver = SICONOS_FRICTION_3D_NSGS, .local = SICONOS_FRICTION_3D_ONECONTACT_QUARTIC_NU);
const ss_global_solver ss_siconos_prox = ENTRY(
    "prox", "proximal point method, its most robust solver.", .solver = SICONOS_FRICTION_3D_PROX);
const ss_global_solver ss_siconos_nsn_ac =
    ENTRY("nsn-ac", "global Newton method on the Alart-Curnier function.",
          .solver = SICONOS_FRICTION_3D_NSN_AC);
const ss_global_solver ss_siconos_nsn_fb =
    ENTRY("nsn-fb", "global Newton method on the Fischer-Burmeister function.",
          .solver = SICONOS_FRICTION_3D_NSN_FB);
const ss_global_solver ss_siconos_admm = ENTRY(
    "admm", "alternating directions with a sparse factorisation.",
    .solver = SICONOS_FRICTION_3D_ADMM, .place = SICONOS_FRICTION_3D_ADMM_IPARAM_SPARSE_STORAGE,
    .number = SICONOS_FRICTION_3D_ADMM_FORCED_SPARSE_STORAGE);
