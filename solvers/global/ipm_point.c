// What is known of the present point, and moves of it: loops over all contacts, which threads share.
//
// Sums and extremes are those of blocks of so many contacts, one after another, whoever finds a block.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solvers/global/ipm_newton.h"
#include "solvers/residual.h"
#include "solvers/small.h"
#include "solvers/vectors.h"

#define BLOCK    512  // contacts
#define LIGHT_NS 5.0  // of a contact that is moved, or whose numbers are summed,
#define ERROR_NS 20.0 // and of one whose error is found

static int count_blocks(int n)
{
    return (n + BLOCK - 1) / BLOCK;
}

static int block_end(const ss_interior *state, int block)
{
    const int n = state->system->c->n, end = (block + 1) * BLOCK;
    return end < n ? end : n;
}

// A loop over the blocks, whose results are parts[0] and so on. How many they are.
static int find_parts(ss_interior *state, double ns, ss_team_range *work, void *context)
{
    const int blocks = count_blocks(state->system->c->n);
    ss_team_divide(state->system->c->team, blocks, ns * BLOCK, work, context);
    return blocks;
}

// ---- Measures

typedef struct trial {
    ss_interior *state;
    double a; // length of a step
} trial;

static void sum_products(void *of, int first, int end)
{
    const trial *t = of;
    const ss_interior *state = t->state;
    for (int b = first; b < end; b++) {
        double sum = 0.0;
        for (size_t k = 4 * BLOCK * (size_t)b; k < 4 * (size_t)block_end(state, b); k++) {
            sum += (state->x[k] + t->a * state->dx[k]) * (state->y[k] + t->a * state->dy[k]);
        }
        state->parts[b] = sum;
    }
}

double ss_ipm_gap(ss_interior *state, double a)
{
    trial t = {state, a};
    const int blocks = find_parts(state, LIGHT_NS, sum_products, &t);
    double sum = 0.0;
    for (int b = 0; b < blocks; b++) {
        sum += state->parts[b];
    }
    return sum / state->system->c->n;
}

static void find_ways(void *of, int first, int end)
{
    const ss_interior *state = of;
    for (int b = first; b < end; b++) {
        double a = 1.0 / SS_IPM_KEPT;
        for (int i = b * BLOCK; i < block_end(state, b); i++) {
            const size_t at = 4 * (size_t)i;
            const bool line = ss_ipm_is_line(state, i);
            a = ss_cone_step(line, state->x + at, state->dx + at, a);
            a = ss_cone_step(line, state->y + at, state->dy + at, a);
        }
        state->parts[b] = a;
    }
}

double ss_ipm_way(ss_interior *state)
{
    const int blocks = find_parts(state, LIGHT_NS, find_ways, state);
    double a = 1.0 / SS_IPM_KEPT;
    for (int b = 0; b < blocks; b++) {
        a = fmin(state->parts[b], a);
    }
    return a;
}

// f of coulomb.h, r being P^-1 x, at the velocity that y would have.
static double find_error(const ss_interior *state, int i, double r[3])
{
    const ss_coupling *c = state->system->c;
    const double *y = state->y + 4 * (size_t)i, mu = c->mu[i];
    ss_ipm_impulse(state, i, state->x + 4 * (size_t)i, r);
    if (ss_ipm_is_line(state, i)) {
        return ss_normal_size(c->s, r[0], y[0]);
    }
    const double u[3] = {mu * (y[0] - ss_length2(y[1], y[2])), y[1], y[2]};
    return fmax(ss_fb_size(mu, c->s, r, u), SS_NORMAL_WEIGHT * ss_normal_size(c->s, r[0], u[0]));
}

static void find_errors(void *of, int first, int end)
{
    const ss_interior *state = of;
    for (int b = first; b < end; b++) {
        double worst = 0.0;
        for (int i = b * BLOCK; i < block_end(state, b); i++) {
            const double error = find_error(state, i, state->r + 4 * (size_t)i);
            worst = error <= worst ? worst : error;
        }
        state->parts[b] = worst;
    }
}

double ss_ipm_estimate(ss_interior *state)
{
    const int blocks = find_parts(state, ERROR_NS, find_errors, state);
    double worst = 0.0;
    for (int b = 0; b < blocks; b++) {
        worst = state->parts[b] <= worst ? worst : state->parts[b];
    }
    return worst / state->system->c->V;
}

double ss_ipm_part(const ss_interior *state, int i, ss_ipm_point a, ss_ipm_point b)
{
    const size_t at = 4 * (size_t)i;
    const ss_scaling *s = &state->scaling[i];
    double p[3], q[3];
    ss_scaling_apply(s, a.x + at, p);
    ss_scaling_apply(s, b.x + at, q);
    const double of_x = ss_dot3(p, q);
    ss_scaling_remove(s, a.y + at, p);
    ss_scaling_remove(s, b.y + at, q);
    return of_x + ss_dot3(p, q);
}

// ---- Moves

static void move_contacts(void *of, int first, int end)
{
    const trial *t = of;
    const ss_interior *state = t->state;
    const size_t from = 4 * (size_t)first, numbers = 4 * (size_t)(end - first);
    ss_vector_add(numbers, t->a, state->dx + from, state->x + from);
    ss_vector_add(numbers, t->a, state->dy + from, state->y + from);
    for (int i = first; i < end; i++) {
        ss_cone_keep(state->x + 4 * (size_t)i);
        ss_cone_keep(state->y + 4 * (size_t)i);
    }
}

void ss_ipm_move(ss_interior *state, double a)
{
    const ss_coupling *c = state->system->c;
    trial t = {state, a};
    ss_vector_add(state->size, a, state->dq, state->q);
    ss_team_divide(c->team, c->n, LIGHT_NS, move_contacts, &t);
}

typedef struct copying {
    ss_ipm_point from, to;
} copying;

static void copy_contacts(void *of, int first, int end)
{
    const copying *two = of;
    const size_t from = 4 * (size_t)first, bytes = 4 * (size_t)(end - first) * sizeof *two->to.x;
    memcpy(two->to.x + from, two->from.x + from, bytes);
    memcpy(two->to.y + from, two->from.y + from, bytes);
}

void ss_ipm_copy(const ss_interior *state, ss_ipm_point from, ss_ipm_point to)
{
    const ss_coupling *c = state->system->c;
    copying two = {from, to};
    memcpy(to.q, from.q, state->size * sizeof *to.q);
    ss_team_divide(c->team, c->n, LIGHT_NS, copy_contacts, &two);
}

// ---- Making one

ss_ipm_point ss_ipm_point_new(const ss_interior *state)
{
    const size_t contacts = 4 * (size_t)state->system->c->n;
    double *q = malloc((state->size + 2 * contacts) * sizeof *q);
    return q == NULL ? (ss_ipm_point){0}
                     : (ss_ipm_point){q, q + state->size, q + state->size + contacts};
}

bool ss_ipm_parts_new(ss_interior *state)
{
    const size_t blocks = (size_t)count_blocks(state->system->c->n);
    state->parts = malloc((blocks + 1) * sizeof *state->parts);
    return state->parts != NULL;
}
