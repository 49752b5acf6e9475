// solvers/global/splitting.c -- splitting: a local step of all contacts at once, with masses split
// between those that meet in a body. It follows [J20], Algorithm 3, with the impulse that is
// accumulated before it is cut. With u = W r + b,
//
//     r_i <- cut(r_i - m_i u_i),     1/m_i = q n_i |W_ii|                                    (1)
//
// n_i being the number of contacts, i among them, that share a body with i and push or approach:
// r_N > 0 or u_N < 0. Fixed points are Coulomb's whatever m_i > 0 (problems/split_impulse.h). In
// one step r changes at these alone, and for positive semidefinite W
//
//     dr'W dr <= sum over i, j with W_ij != 0 of (dr_i'W_ii dr_i + dr_j'W_jj dr_j)/2
//             <= sum_i n_i |W_ii| |dr_i|^2                                                   (2)
//
// so that with q = 1 (step=masses) each step without friction lowers r'W r/2 + b'r: nothing
// overshoots, as contacts do that do not know of each other. |W_ii| is the largest sum of a row, at
// least the largest eigenvalue. (2) is far from sharp on strands, and q is therefore the ratio of
// its ends in the step before (step=spectral, the default: the step of Barzilai and Borwein), 1 at
// first and where that is not positive. Such steps may run in a cycle; a while in which q falls
// slowly, and steps are short, ends it.
//
// A step is four loops over bodies or contacts, whose items are independent: threads share them,
// and every sum has its own order. doc/formulation.md, "Splitting".
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/team.h"
#include "problems/split_impulse.h"
#include "solvers/global/drive.h"
#include "solvers/global/global.h"
#include "solvers/sweep/sweep.h"

#define JUDGE_EVERY 10    // iterations: an evaluation costs about one
#define CHUNK       64    // contacts or bodies in an item
#define PAYING      50000 // products of W below which waking a thread costs more than it does

// After FREE evaluations without a better answer, HELD ones follow in which q falls to no less than
// a share of HOLD in a step.
#define LEAST 1e-3 // least q
#define FREE  20
#define HELD  5
#define HOLD  0.9

typedef enum steps { STEP_SPECTRAL, STEP_MASSES } steps;
typedef struct settings {
    int form; // ss_coupling_form
    int step; // steps
} settings;

static const settings DEFAULTS = {0};
static const char *const STEP_NAMES[] = {"spectral", "masses", NULL};

static const ss_key KEYS[] = {
    SS_FORM_KEY,
    SS_CHOICE_KEY("step", step, STEP_NAMES,
                  .about =
                      "all masses by the curvature that the last step met, or as they are divided"),
    {.name = NULL},
};

typedef struct splitting_state {
    const ss_coupling *c;
    double *stiff;     // [n] |W_ii|
    double *r, *u;     // [4 n]
    double *before;    // [4 n] r of the last step
    double *resist;    // [n] n_i |W_ii| of the last step; 0 if the contact slept
    double (*ends)[2]; // [items of contacts] left and right end of (2)
    double q;
    double hold;   // least share of q that the next step keeps
    int left;      // evaluations until that changes
    double *z;     // whitened velocities of all bodies; matrix-free form
    bool *awake;   // [n] true if the contact pushes or approaches
    int *count;    // [bodies] number of contacts that do; matrix-free form
    ss_team *team; // borrowed; NULL: one thread
} splitting_state;

static void splitting_release(void *of)
{
    splitting_state *state = of;
    free(state->stiff);
    free(state->r);
    free(state->z);
    free(state->resist);
    free(state->ends);
    free(state->awake);
    free(state->count);
}

// ---- The loops of a step

static int items_of(int count)
{
    return (count + CHUNK - 1) / CHUNK;
}

static int item_end(int item, int count)
{
    return count - item * CHUNK < CHUNK ? count : (item + 1) * CHUNK;
}

static void find_motions(void *of, int item, int thread)
{
    splitting_state *state = of;
    (void)thread;
    const int end = item_end(item, state->c->white->nbodies);
    for (int body = item * CHUNK; body < end; body++) {
        ss_coupling_gather(state->c, body, state->r, state->z);
    }
}

static void find_velocities(void *of, int item, int thread)
{
    splitting_state *state = of;
    (void)thread;
    const int end = item_end(item, state->c->n);
    double met = 0.0, bound = 0.0;
    for (int i = item * CHUNK; i < end; i++) {
        const double *r = state->r + 4 * (size_t)i, *before = state->before + 4 * (size_t)i;
        double *old = state->u + 4 * (size_t)i, u[3];
        if (state->c->is_explicit) {
            ss_coupling_row(state->c, i, state->r, u);
        } else {
            ss_coupling_see(state->c, i, state->z, u);
        }
        for (int k = 0; k < 3; k++) {
            const double dr = r[k] - before[k];
            met += dr * (u[k] - old[k]);
            bound += state->resist[i] * dr * dr;
            old[k] = u[k];
        }
        state->awake[i] = r[0] > 0.0 || u[0] < 0.0;
    }
    state->ends[item][0] = met;
    state->ends[item][1] = bound;
}

// Returns q of the next step.
static double curvature(const splitting_state *state)
{
    double met = 0.0, bound = 0.0;
    for (int item = 0; item < items_of(state->c->n); item++) {
        met += state->ends[item][0];
        bound += state->ends[item][1];
    }
    return met > 0.0 && bound > 0.0 ? fmax(met / bound, LEAST) : 1.0;
}

static void count_on_bodies(void *of, int item, int thread)
{
    splitting_state *state = of;
    const ss_whitened *white = state->c->white;
    (void)thread;
    const int end = item_end(item, white->nbodies);
    for (int body = item * CHUNK; body < end; body++) {
        state->count[body] = 0;
        for (int s = white->body_end_start[body]; s < white->body_end_start[body + 1]; s++) {
            state->count[body] += state->awake[white->body_end_contact[s]];
        }
    }
}

// Returns the number of contacts awake that share a body with i, which is awake. In matrix-free
// form one that shares two bodies counts twice.
static int neighbours(const splitting_state *state, int i)
{
    const ss_coupling *c = state->c;
    int count = 0;
    if (c->is_explicit) {
        for (size_t k = c->W.start[i]; k < c->W.start[i + 1]; k++) {
            count += state->awake[c->W.col[k]];
        }
        return count > 0 ? count : 1;
    }
    for (int s = c->white->end_start[i]; s < c->white->end_start[i + 1]; s++) {
        count += state->count[c->white->end_body[s]] - 1;
    }
    return count + 1;
}

static void push(void *of, int item, int thread)
{
    splitting_state *state = of;
    (void)thread;
    const int end = item_end(item, state->c->n);
    for (int i = item * CHUNK; i < end; i++) {
        double *r = state->r + 4 * (size_t)i;
        memcpy(state->before + 4 * (size_t)i, r, 4 * sizeof *r);
        state->resist[i] = state->awake[i] ? neighbours(state, i) * state->stiff[i] : 0.0;
        if (state->awake[i]) {
            ss_impulse_repaired(state->c->mu[i], 1.0 / (state->q * state->resist[i]),
                                state->u + 4 * (size_t)i, r);
        }
    }
}

static void run(splitting_state *state, int count, ss_team_work *work)
{
    ss_team_run(state->team, items_of(count), work, state);
}

// Decides after an evaluation whether the next steps are free, or shorter ones that end a cycle.
static void take_turns(splitting_state *state, bool better)
{
    state->left--;
    if (better && state->hold == 0.0) {
        state->left = FREE;
    } else if (state->left == 0) {
        const bool held = state->hold > 0.0;
        state->hold = held ? 0.0 : HOLD;
        state->left = held ? FREE : HELD;
    }
}

static ss_outcome splitting_step(void *of, ss_drive *d)
{
    splitting_state *state = of;
    const ss_coupling *c = state->c;
    if (!c->is_explicit) {
        run(state, c->white->nbodies, find_motions);
    }
    run(state, c->n, find_velocities);
    if (!c->is_explicit) {
        run(state, c->white->nbodies, count_on_bodies);
    }
    const settings *set = d->settings;
    state->q = set->step == STEP_SPECTRAL ? fmax(curvature(state), state->hold * state->q) : 1.0;
    run(state, c->n, push);
    if (++d->iterations % JUDGE_EVERY == 0) {
        ss_drive_judge(d, state->r);
        take_turns(state, d->idle == 0);
    }
    return SS_UNSOLVED;
}

// ---- Making one

// Returns |W_ii|, or a scale in its place where a contact moves nothing.
static double stiffness(const ss_coupling *c, int i)
{
    const double *W = c->contact[i].W;
    double largest = 0.0;
    for (int k = 0; k < c->dim; k++) {
        double sum = 0.0;
        for (int j = 0; j < c->dim; j++) {
            sum += fabs(W[3 * k + j]);
        }
        largest = fmax(largest, sum);
    }
    return largest > 0.0 ? largest : c->s > 0.0 ? c->s : 1.0;
}

// Returns the number of products in W r.
static double products(const ss_coupling *c)
{
    const size_t d = (size_t)c->dim;
    if (c->is_explicit) {
        return (double)(d * d * c->W.start[c->n]);
    }
    double sum = 0.0;
    for (int s = 0; s < c->white->nends; s++) {
        sum += 2.0 * (double)d * ss_whitened_room(c->white, c->white->end_body[s]);
    }
    return sum;
}

static ss_status splitting_make(void *of, ss_drive *d, ss_error *e)
{
    splitting_state *state = of;
    const ss_coupling *c = state->c = d->c;
    const size_t n = (size_t)c->n, bodies = c->is_explicit ? 1 : (size_t)c->white->nbodies;
    state->stiff = malloc(n * sizeof *state->stiff);
    state->r = calloc(12 * n, sizeof *state->r);
    state->resist = calloc(n, sizeof *state->resist);
    state->ends = malloc((size_t)items_of(c->n) * sizeof *state->ends);
    state->z = malloc(ss_drive_room(d) * sizeof *state->z);
    state->awake = malloc(n * sizeof *state->awake);
    state->count = malloc(bodies * sizeof *state->count);
    const bool made = state->stiff != NULL && state->r != NULL && state->z != NULL &&
                      state->resist != NULL && state->ends != NULL && state->awake != NULL &&
                      state->count != NULL;
    if (!made) {
        return ss_fail_memory(e, "a splitting");
    }
    state->team = c->team != NULL && products(c) >= PAYING ? c->team : NULL;
    state->left = FREE;
    state->u = state->r + 4 * n;
    state->before = state->u + 4 * n;
    memcpy(state->r, c->r, 4 * n * sizeof *state->r);
    for (int i = 0; i < c->n; i++) {
        state->stiff[i] = stiffness(c, i);
    }
    return SS_OK;
}

static const ss_steps STEPS = {.moves = SS_MOVES_COUPLING,
                               .whole = true,
                               .state_size = sizeof(splitting_state),
                               .make = splitting_make,
                               .step = splitting_step,
                               .release = splitting_release};

const ss_global_solver ss_splitting = {
    .card = {.name = "splitting",
             .law = SS_EXACT,
             .reference = "J20 BB88",
             .about = "All contacts at once, each by a step of its own whose mass is divided "
                      "among the active contacts of its bodies: the local pass of [J20] on the "
                      "accumulated impulse, with all masses changed by the curvature that the last "
                      "step met. It factors nothing, each iteration costs one product by W, and "
                      "threads share all of it. Large friction makes it slow.",
             SS_OPTIONS(KEYS, DEFAULTS)},
    SS_DRIVEN(STEPS),
    .takes_threads = ss_drive_takes_threads,
};
