#include "solvers/sweep/block_step.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/sweep/block_problem.h"
#include "solvers/registry.h"

#define LOOK   10    // sweeps from one look at the rate to the next
#define PAYS   3.0   // sweeps must promise to take so many times as long: they grow cheaper
#define HELPED 0.5   // of the estimate must be left, at most
#define STEPS  30    // of Newton's method, at most; most blocks take 3 to 20
#define SHARE  1e-2  // of the tolerance: what a block step leaves,
#define LEAST  1e-13 // at least
#define MOST   0.1   // and at most

// Of the weights 1e2, 1e3 and 1e4 the first needs the fewest steps in the worst case.
#define SOLVER "ppa:sweeps=0,rho=100"

struct ss_block_steps {
    ss_sweeper *sweeper;
    const ss_limits *limits;
    ss_method *method;  // of a block
    int *moved_at;      // [n] see ss_sweeper
    int *member;        // [n]
    int *place;         // [n] scratch of block_problem.h
    double *r;          // [dim n]
    double *compliance; // [n] scratch
    double seen;        // the estimate at the last look
    double work;        // of sweeps at the last look
    double spent;       // by block steps
    double mark;        // work of sweeps at the last block step,
    double before;      // and the estimate; NAN once that step has been judged
    double share;       // of the work of sweeps that a block step may cost
};

void ss_block_steps_free(ss_block_steps *a)
{
    if (a != NULL) {
        a->sweeper->moved_at = NULL;
        ss_method_free(a->method);
        free(a->moved_at);
        free(a->member);
        free(a->place);
        free(a->r);
        free(a->compliance);
        free(a);
    }
}

ss_status ss_block_steps_new(ss_sweeper *sweeper, const ss_limits *limits, ss_block_steps **steps,
                             ss_error *e)
{
    *steps = NULL;
    ss_block_steps *a = calloc(1, sizeof *a);
    if (a == NULL) {
        return ss_fail_memory(e, "block steps");
    }
    const size_t n = (size_t)sweeper->coupling->n;
    a->sweeper = sweeper;
    a->limits = limits;
    a->moved_at = malloc(n * sizeof *a->moved_at);
    a->member = malloc(n * sizeof *a->member);
    a->place = malloc(n * sizeof *a->place);
    a->r = malloc((size_t)sweeper->coupling->dim * n * sizeof *a->r);
    a->compliance = malloc(n * sizeof *a->compliance);
    a->seen = INFINITY;
    a->before = NAN;
    a->share = 1.0;
    ss_status status = a->moved_at != NULL && a->member != NULL && a->place != NULL &&
                               a->r != NULL && a->compliance != NULL
                           ? ss_method_parse(SOLVER, &a->method, e)
                           : ss_fail_memory(e, "block steps");
    if (status != SS_OK) {
        ss_block_steps_free(a);
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        a->moved_at[i] = a->place[i] = -1;
    }
    sweeper->moved_at = a->moved_at;
    *steps = a;
    return SS_OK;
}

double ss_block_steps_work(const ss_block_steps *a)
{
    return a->spent;
}

// ---- Whether

// What a block step over k contacts costs, in visits, each coupled to `row` of them on average,
// itself among them: the problem of the block, some ten steps of Newton's method, and their
// factorisations, which take some (4 row)^2 multiplications for each of 4 k rows, a third of that
// where all are coupled; all the more the larger the block, as factors fill and the start is
// farther from the answer. Fitted to 60 blocks of 6 to 1600 contacts of hair, which took half to
// three times as long.
static double cost(double k, double row)
{
    const double square = row * row / (1.0 + 2.0 * row / k);
    return 1000.0 + k * (200.0 + 5.0 * row + 0.6 * square) * (1.0 + sqrt(k) / 40.0);
}

static int find_members(ss_block_steps *a)
{
    const ss_sweeper *s = a->sweeper;
    int k = 0;
    for (int i = 0; i < s->coupling->n; i++) {
        if (a->moved_at[i] >= s->sweeps - LOOK) {
            a->member[k++] = i;
        }
    }
    return k;
}

// ---- The step

// Of the block's problem, whose scales are its own.
static double find_tolerance(const ss_block_steps *a, const ss_problem *p)
{
    const ss_coupling *c = a->sweeper->coupling;
    for (int m = 0; m < p->ncontacts; m++) {
        a->compliance[m] = c->compliance[a->member[m]];
    }
    const ss_scales own = ss_scales_find(p->dim, p->ncontacts, a->compliance, p->b);
    const double wanted = SHARE * a->sweeper->task->tolerance * c->V / own.velocity *
                          fmin(1.0, own.compliance / c->s);
    return fmin(fmax(wanted, LEAST), MOST);
}

static bool solve(ss_block_steps *a, const ss_problem *p)
{
    const ss_task *whole = a->sweeper->task;
    ss_task task = {.problem = p,
                    .method = a->method,
                    .tolerance = find_tolerance(a, p),
                    .max_iterations = STEPS,
                    .clock = whole->clock,
                    .interrupted = whole->interrupted,
                    .recalled = whole->recalled};
    if (whole->time_limit > 0.0) {
        task.time_limit = fmax(whole->time_limit - ss_limits_elapsed(a->limits), 1e-9);
    }
    ss_result result;
    ss_error ignored;
    return ss_solve(&task, a->r, &result, &ignored) == SS_OK && result.outcome == SS_CONVERGED;
}

// False where the block has no answer, or memory is lacking: nothing has moved then. An answer that
// is better and not good enough is left out, too: sweeps would upset it again.
static bool take_step(ss_block_steps *a, int k)
{
    ss_coupling *c = a->sweeper->coupling;
    const size_t d = (size_t)c->dim;
    ss_problem *p = ss_block_problem_new(c, k, a->member, a->place);
    if (p == NULL) {
        return false;
    }
    for (int m = 0; m < k; m++) {
        memcpy(a->r + d * (size_t)m, c->r + 4 * (size_t)a->member[m], d * sizeof *a->r);
    }
    const bool solved = solve(a, p);
    for (int m = 0; m < k && solved; m++) {
        double r[3] = {0};
        memcpy(r, a->r + d * (size_t)m, d * sizeof *r);
        ss_coupling_move(c, a->member[m], r);
    }
    ss_problem_free(p);
    return solved;
}

// The last block step is judged by the first look behind it.
static void learn(ss_block_steps *a, double estimate)
{
    if (!isnan(a->before)) {
        a->share = estimate <= HELPED * a->before ? 1.0 : 0.5 * a->share;
        a->before = NAN;
    }
}

bool ss_block_steps_try(ss_block_steps *a)
{
    const ss_sweeper *s = a->sweeper;
    if (s->sweeps % LOOK != 0) {
        return false;
    }
    const double estimate = s->last.estimate, goal = s->task->tolerance * s->coupling->V;
    const double work = ss_sweep_work((double)s->visits, s->coupling->n, s->sweeps);
    learn(a, estimate);
    const double left = ss_sweep_work_left(a->seen, estimate, goal, work - a->work);
    const double allowed = fmin(left / PAYS, a->share * (work - a->mark));
    a->seen = estimate;
    a->work = work;
    if (!(estimate > goal) || allowed < cost(1.0, 1.0)) {
        return false;
    }
    const int k = find_members(a);
    const double price = cost(k, ss_block_problem_blocks(s->coupling, k, a->member, a->place) / k);
    if (!(price <= allowed)) { // NaN where nobody has moved
        return false;
    }
    a->spent += price;
    a->mark = work;
    a->before = estimate;
    return take_step(a, k);
}
