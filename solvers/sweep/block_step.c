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
    int *place;         // scratch of block_problem.h
    double *r;          // [dim n]
    double *compliance; // [n] scratch
    double seen;        // the estimate at the last look
    double work;        // of sweeps at the last look
    double spent;       // by block steps
    double mark;        // work of sweeps at the last block step,
    double before;      // and the estimate; NAN once that step has been judged
    double share;       // of the work of sweeps that a block step may cost
};

void ss_block_steps_free(ss_block_steps *steps)
{
    if (steps != NULL) {
        steps->sweeper->moved_at = NULL;
        ss_method_free(steps->method);
        free(steps->moved_at);
        free(steps->member);
        free(steps->place);
        free(steps->r);
        free(steps->compliance);
        free(steps);
    }
}

ss_status ss_block_steps_new(ss_sweeper *sweeper, const ss_limits *limits, ss_block_steps **made,
                             ss_error *e)
{
    *made = NULL;
    ss_block_steps *steps = calloc(1, sizeof *steps);
    if (steps == NULL) {
        return ss_fail_memory(e, "block steps");
    }
    const ss_coupling *c = sweeper->coupling;
    const size_t n = (size_t)c->n, bodies = c->is_explicit ? 0 : (size_t)c->white->nbodies;
    const size_t places = n > bodies ? n : bodies;
    steps->sweeper = sweeper;
    steps->limits = limits;
    steps->moved_at = malloc(n * sizeof *steps->moved_at);
    steps->member = malloc(n * sizeof *steps->member);
    steps->place = malloc(places * sizeof *steps->place);
    steps->r = malloc((size_t)c->dim * n * sizeof *steps->r);
    steps->compliance = malloc(n * sizeof *steps->compliance);
    steps->seen = INFINITY;
    steps->before = NAN;
    steps->share = 1.0;
    ss_status status = steps->moved_at != NULL && steps->member != NULL && steps->place != NULL &&
                               steps->r != NULL && steps->compliance != NULL
                           ? ss_method_parse(SOLVER, &steps->method, e)
                           : ss_fail_memory(e, "block steps");
    if (status != SS_OK) {
        ss_block_steps_free(steps);
        return status;
    }
    memset(steps->moved_at, -1, n * sizeof *steps->moved_at);
    memset(steps->place, -1, places * sizeof *steps->place);
    sweeper->moved_at = steps->moved_at;
    *made = steps;
    return SS_OK;
}

double ss_block_steps_work(const ss_block_steps *steps)
{
    return steps->spent;
}

// ---- Whether

// What a block step over k contacts costs, in visits, each coupled to `row` of them on average,
// itself among them: the problem of the block, some ten steps of Newton's method, and their
// factorisations, which take some (4 row)^2 multiplications for each of 4 k rows, a third of that
// where all are coupled; all the more the larger the block, as factors fill and the start is
// farther from the answer. Fitted to 60 blocks of 6 to 1600 contacts of hair, which took half to
// three times as long.
static double block_step_cost(double k, double row)
{
    const double square = row * row / (1.0 + 2.0 * row / k);
    return 1000.0 + k * (200.0 + 5.0 * row + 0.6 * square) * (1.0 + sqrt(k) / 40.0);
}

static int find_members(ss_block_steps *steps)
{
    const ss_sweeper *s = steps->sweeper;
    int k = 0;
    for (int i = 0; i < s->coupling->n; i++) {
        if (steps->moved_at[i] >= s->sweeps - LOOK) {
            steps->member[k++] = i;
        }
    }
    return k;
}

// ---- The step

// Of the block's problem, whose scales are its own.
static double block_step_find_tolerance(const ss_block_steps *steps, const ss_problem *p)
{
    const ss_coupling *c = steps->sweeper->coupling;
    for (int m = 0; m < p->ncontacts; m++) {
        steps->compliance[m] = c->compliance[steps->member[m]];
    }
    const ss_scales own = ss_scales_find(p->dim, p->ncontacts, steps->compliance, p->b);
    const double wanted = SHARE * steps->sweeper->task->tolerance * c->V / own.velocity *
                          fmin(1.0, own.compliance / c->s);
    return fmin(fmax(wanted, LEAST), MOST);
}

static bool block_step_solve(ss_block_steps *steps, const ss_problem *p)
{
    const ss_task *whole = steps->sweeper->task;
    ss_task task = {.problem = p,
                    .method = steps->method,
                    .tolerance = block_step_find_tolerance(steps, p),
                    .max_iterations = STEPS,
                    .clock = whole->clock,
                    .interrupted = whole->interrupted,
                    .recalled = whole->recalled};
    if (whole->time_limit > 0.0) {
        task.time_limit = fmax(whole->time_limit - ss_limits_elapsed(steps->limits), 1e-9);
    }
    ss_result result;
    ss_error ignored;
    return ss_solve(&task, steps->r, &result, &ignored) == SS_OK && result.outcome == SS_CONVERGED;
}

// False where the block has no answer, or memory is missing: nothing has moved then. An answer that
// is better and not good enough is left out, too: sweeps would upset it again.
static bool take_step(ss_block_steps *steps, int k)
{
    ss_coupling *c = steps->sweeper->coupling;
    const size_t d = (size_t)c->dim;
    ss_problem *p = ss_block_problem_new(c, k, steps->member, steps->place);
    if (p == NULL) {
        return false;
    }
    for (int m = 0; m < k; m++) {
        memcpy(steps->r + d * (size_t)m, c->r + 4 * (size_t)steps->member[m], d * sizeof *steps->r);
    }
    const bool solved = block_step_solve(steps, p);
    for (int m = 0; m < k && solved; m++) {
        double r[3] = {0};
        memcpy(r, steps->r + d * (size_t)m, d * sizeof *r);
        ss_coupling_move(c, steps->member[m], r);
    }
    ss_problem_free(p);
    return solved;
}

// The last block step is judged by the first look behind it.
static void learn(ss_block_steps *steps, double estimate)
{
    if (!isnan(steps->before)) {
        steps->share = estimate <= HELPED * steps->before ? 1.0 : 0.5 * steps->share;
        steps->before = NAN;
    }
}

bool ss_block_steps_try(ss_block_steps *steps)
{
    const ss_sweeper *s = steps->sweeper;
    if (s->sweeps % LOOK != 0) {
        return false;
    }
    const double estimate = s->last.estimate, goal = s->task->tolerance * s->coupling->V;
    const double work = ss_sweep_work((double)s->visits, s->coupling->n, s->sweeps);
    learn(steps, estimate);
    const double left = ss_sweep_work_left(steps->seen, estimate, goal, work - steps->work);
    const double allowed = fmin(left / PAYS, steps->share * (work - steps->mark));
    steps->seen = estimate;
    steps->work = work;
    if (!(estimate > goal) || allowed < block_step_cost(1.0, 1.0)) {
        return false;
    }
    const int k = find_members(steps);
    const double price = block_step_cost(
        k, ss_block_problem_blocks(s->coupling, k, steps->member, steps->place) / k);
    if (!(price <= allowed)) { // NaN if no contact has moved
        return false;
    }
    steps->spent += price;
    steps->mark = work;
    steps->before = estimate;
    return take_step(steps, k);
}
