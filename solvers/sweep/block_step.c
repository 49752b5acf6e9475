// solvers/sweep/block_step.c -- the problem of a block, whether to solve it, and its step.
#include "solvers/sweep/block_step.h"

#include "base/assert.h"
#include "problems/matrix/sparse_ends.h"
#include "solvers/registry.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- The problem of a block
//
// With the impulses of all other contacts held, those of a set A see
//
//     u_A = W_AA r_A + b_A,     b_A = u_A - W_AA r_A at the present r                        (1)
//
// which is a problem in local form.

// Entries of W_AA; entries of one place are added up. There are two walks over the rows: the first,
// without room, counts the blocks, the second writes them.
typedef struct block_entries {
    int dim;
    size_t blocks;
    int *row, *col; // NULL in the first walk
    double *x;
} block_entries;

static void write_block(block_entries *entries, int i, int j, const double *W)
{
    const int d = entries->dim;
    size_t at = entries->blocks * (size_t)(d * d);
    for (int k = 0; k < d; k++) {
        for (int l = 0; l < d; l++, at++) {
            entries->row[at] = d * i + k;
            entries->col[at] = d * j + l;
            entries->x[at] = W[k * d + l];
        }
    }
}

static void walk_explicit_row(block_entries *entries, const ss_coupling *c, int i, const int *place)
{
    const size_t block = (size_t)(c->dim * c->dim);
    for (size_t k = c->W.start[i]; k < c->W.start[i + 1]; k++) {
        const int j = c->W.col[k];
        if (place[j] < 0) {
            continue;
        }
        if (entries->x != NULL) {
            write_block(entries, place[i], place[j], c->W.x + k * block);
        }
        entries->blocks++;
    }
}

// Writes W = G_i G_j' of two ends on one body.
static void block_multiply_ends(const double *Gi, const double *Gj, int dim, int room, double *W)
{
    for (int k = 0; k < dim; k++) {
        for (int l = 0; l < dim; l++) {
            double sum = 0.0;
            for (int m = 0; m < room; m++) {
                sum += Gi[k * room + m] * Gj[l * room + m];
            }
            W[k * dim + l] = sum;
        }
    }
}

static void walk_matrix_free_row(block_entries *entries, const ss_coupling *c, int i,
                                 const int *place)
{
    const ss_whitened *white = c->white;
    for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
        const int body = white->end_body[s];
        for (int k = white->body_end_start[body]; k < white->body_end_start[body + 1]; k++) {
            const int j = white->body_end_contact[k];
            if (place[j] < 0) {
                continue;
            }
            if (entries->x != NULL) {
                double W[9];
                if (white->sparse != NULL) {
                    ss_sparse_ends_block(white, s, white->body_end[k], W);
                } else {
                    block_multiply_ends(white->G + white->end_G[s],
                                        white->G + white->end_G[white->body_end[k]], c->dim,
                                        ss_whitened_room(white, body), W);
                }
                write_block(entries, place[i], place[j], W);
            }
            entries->blocks++;
        }
    }
}

static void walk(block_entries *entries, const ss_coupling *c, int k, const int *member, int *place)
{
    entries->blocks = 0;
    for (int m = 0; m < k; m++) {
        place[member[m]] = m;
    }
    for (int m = 0; m < k; m++) {
        if (c->is_explicit) {
            walk_explicit_row(entries, c, member[m], place);
        } else {
            walk_matrix_free_row(entries, c, member[m], place);
        }
    }
    for (int m = 0; m < k; m++) {
        place[member[m]] = -1;
    }
}

// Counts the pairs of ends of members on one body: the next end adds itself and twice those before
// it.
static double count_pairs(const ss_whitened *white, int k, const int *member, int *place)
{
    double pairs = 0.0;
    for (int m = 0; m < k; m++) {
        for (int s = white->end_start[member[m]]; s < white->end_start[member[m] + 1]; s++) {
            const int before = ++place[white->end_body[s]]; // from -1
            pairs += 1.0 + 2.0 * before;
        }
    }
    for (int m = 0; m < k; m++) {
        for (int s = white->end_start[member[m]]; s < white->end_start[member[m] + 1]; s++) {
            place[white->end_body[s]] = -1;
        }
    }
    return pairs;
}

double ss_block_problem_blocks(const ss_coupling *c, int k, const int *member, int *place)
{
    if (!c->is_explicit) {
        return count_pairs(c->white, k, member, place);
    }
    block_entries entries = {.dim = c->dim};
    walk(&entries, c, k, member, place);
    return (double)entries.blocks;
}

// Writes b = u - W r, in the order of the block.
static void block_find_velocities(const ss_coupling *c, int k, const int *member,
                                  const ss_problem *p)
{
    const int d = c->dim;
    for (int a = 0; a < k; a++) {
        double u[3];
        ss_coupling_velocity(c, member[a], u);
        memcpy(p->b + d * a, u, (size_t)d * sizeof *u);
    }
    for (int col = 0; col < d * k; col++) {
        const double r = c->r[4 * (size_t)member[col / d] + (size_t)(col % d)];
        for (int e = p->W.start[col]; e < p->W.start[col + 1]; e++) {
            p->b[p->W.row[e]] -= p->W.x[e] * r;
        }
    }
}

// Makes W. Returns false without memory, and for more entries than an int counts.
static bool find_matrix(const ss_coupling *c, int k, const int *member, int *place, ss_problem *p)
{
    block_entries entries = {.dim = c->dim};
    walk(&entries, c, k, member, place);
    const size_t count = entries.blocks * (size_t)(c->dim * c->dim);
    entries.row = malloc(count * sizeof *entries.row);
    entries.col = malloc(count * sizeof *entries.col);
    entries.x = malloc(count * sizeof *entries.x);
    bool ok = entries.row != NULL && entries.col != NULL && entries.x != NULL && count <= INT_MAX;
    if (ok) {
        walk(&entries, c, k, member, place);
        ss_error ignored;
        ok = ss_sparse_from_triplets(&p->W, c->dim * k, c->dim * k, (int)count, entries.row,
                                     entries.col, entries.x, &ignored) == SS_OK;
    }
    free(entries.row);
    free(entries.col);
    free(entries.x);
    return ok;
}

ss_problem *ss_block_problem_new(const ss_coupling *c, int k, const int *member, int *place)
{
    ss_assert(k > 0);
    ss_problem *p = ss_problem_new();
    if (p == NULL) {
        return NULL;
    }
    p->form = SS_LOCAL;
    p->dim = c->dim;
    p->ncontacts = k;
    p->mu = malloc((size_t)k * sizeof *p->mu);
    p->b = malloc((size_t)(c->dim * k) * sizeof *p->b);
    if (p->mu == NULL || p->b == NULL || !find_matrix(c, k, member, place, p)) {
        ss_problem_free(p);
        return NULL;
    }
    for (int m = 0; m < k; m++) {
        p->mu[m] = c->mu[member[m]];
    }
    block_find_velocities(c, k, member, p);
    return p;
}

// ---- Block steps

#define LOOK   10    // sweeps from one look at the rate to the next
#define PAYS   3.0   // sweeps must promise to take so many times as long, as they grow cheaper
#define HELPED 0.5   // a step that leaves more of the estimate has failed
#define STEPS  30    // most steps of Newton's method; most blocks take 3 to 20
#define SHARE  1e-2  // share of the tolerance that a block step leaves
#define LEAST  1e-13 // its least tolerance
#define MOST   0.1   // its largest tolerance

// The weight 1e2 needs fewer steps in the worst case than 1e3 and 1e4.
#define SOLVER "ppa:sweeps=0,rho=100"

struct ss_block_steps {
    ss_sweeper *sweeper;
    const ss_limits *limits;
    ss_method *method;  // solves a block
    int *moved_at;      // [n] see ss_sweeper
    int *member;        // [n]
    int *place;         // scratch of ss_block_problem_new
    double *r;          // [dim n]
    double *compliance; // [n] scratch
    double seen;        // estimate at the last look
    double work;        // work of sweeps at the last look
    double spent;       // work of block steps
    double mark;        // work of sweeps at the last block step
    double before;      // estimate at the last block step; NAN once that step has been judged
    double share;       // share of the work of sweeps that a block step may cost
};

// Returns the cost, in visits, of a block step over k contacts, each coupled to `row` of them on
// average, itself among them: the problem of the block, some ten steps of Newton's method, and
// their factorisations, which take some (4 row)^2 multiplications for each of 4 k rows, or a third
// of that where all are coupled. Larger blocks cost more, as factors fill and the start is farther
// from the answer. The formula is fitted to 60 blocks of 6 to 1600 contacts of hair, which took
// half to three times as long.
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

// Returns the tolerance of the block's problem, which has scales of its own.
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

// Solves a block and moves its impulses. Returns false, and moves nothing, where the block has no
// answer or memory is missing. An answer that is better but not good enough is left out, too:
// sweeps would upset it again.
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

// Judges the last block step at the first look after it.
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
    if (!(price <= allowed)) { // price is NaN if no contact has moved
        return false;
    }
    steps->spent += price;
    steps->mark = work;
    steps->before = estimate;
    return take_step(steps, k);
}

double ss_block_steps_work(const ss_block_steps *steps)
{
    return steps->spent;
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
