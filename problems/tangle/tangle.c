// problems/tangle/tangle.c -- the matrices and the loads of a tangle.
//
// With J_0, J_1 the rods' Jacobians at the two places of a contact and F its frame, the contact's
// columns of H are J_0' F' on the first rod and -J_1' F' on the second. The previous step is at
// rest, 0 = H r0 + f0, and the present one has
//
//     f = -H r0 + sum of m J' (a + a_rod) dt,    w = (gap/dt, 0, 0)                           (1)
//
// with one change a of acceleration for all roots and one for each.
#include "problems/tangle/tangle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/matrix/delassus.h"
#include "problems/tangle/tangle_plan.h"
#include "problems/tangle/tangle_tower.h"

#define TIME_STEP 1e-3 // s

// The closed share of contacts, the decade of their r0_N below the weight of a rod over one step
// times LARGEST_IMPULSE, and how near the cone's boundary r0 comes.
#define CLOSED_SHARE    0.7
#define LARGEST_IMPULSE 0.5
#define IMPULSE_DECADE  0.1
#define CONE_SHARE      0.9

// The change of the roots' acceleration in this step, m/s^2: enough for a mix of take-off, stick
// and slide, and little enough for r0 to be near the answer.
#define GRAVITY      9.81
#define COMMON_SHAKE (0.1 * GRAVITY)
#define ROD_SHAKE    (0.1 * GRAVITY)

// Which rods are light does not depend on what else is drawn from the seed.
#define LIGHT_STREAM UINT64_C(0x9e3779b97f4a7c15)

// Gaps over one step, m/s: what the shake closes easily, and what it hardly does.
#define CLOSED_SPEED_LOW  1e-6
#define CLOSED_SPEED_HIGH 1e-4
#define OPEN_SPEED_LOW    1e-3
#define OPEN_SPEED_HIGH   1e-1

// A matrix with room for count entries; on failure A is empty.
static ss_status tangle_reserve(ss_sparse *A, int nrows, int ncols, int count, ss_error *e)
{
    A->nrows = nrows;
    A->ncols = ncols;
    A->start = calloc((size_t)ncols + 1, sizeof *A->start);
    A->row = malloc((size_t)count * sizeof *A->row);
    A->x = malloc((size_t)count * sizeof *A->x);
    if (A->start == NULL || A->row == NULL || A->x == NULL) {
        ss_sparse_free(A);
        return ss_fail_memory(e, "a matrix of a tangle");
    }
    return SS_OK;
}

// Dense blocks on the diagonal, zeros and all: the pattern of M tells the bodies.
static ss_status make_mass(const ss_tangle_plan *plan, double condition, const double *mass,
                           ss_sparse *M, ss_error *e)
{
    const int m = SS_ROD_DOFS, n = m * plan->nrods;
    const ss_status status = tangle_reserve(M, n, n, n * m, e);
    if (status != SS_OK) {
        return status;
    }
    double block[SS_ROD_DOFS][SS_ROD_DOFS];
    int at = 0;
    for (int rod = 0; rod < plan->nrods; rod++) {
        ss_rod_mass(&plan->rods[rod], condition, block);
        for (int j = 0; j < m; j++) {
            for (int i = 0; i < m; i++, at++) {
                M->row[at] = m * rod + i;
                M->x[at] = mass[rod] * block[i][j];
            }
            M->start[m * rod + j + 1] = at;
        }
    }
    return SS_OK;
}

// What a contact has to do with one rod: the rows J of its places there, the second negative.
typedef struct part {
    int rod, reach;
    double J[SS_ROD_DOFS][3];
} part;

// At most two, rods ascending. A rod that touches itself is one part, the difference.
static int contact_parts(const ss_tangle_plan *plan, const ss_tangle_touch *t, part parts[2])
{
    if (t->rod[1] == SS_GROUND) {
        parts[0].rod = t->rod[0];
        parts[0].reach = ss_rod_jacobian(&plan->rods[t->rod[0]], t->arclength[0], parts[0].J);
        return 1;
    }
    const int first = t->rod[0] > t->rod[1]; // which part the first rod is
    for (int end = 0; end < 2; end++) {
        part *p = &parts[end ^ first];
        memset(p->J, 0, sizeof p->J);
        p->rod = t->rod[end];
        p->reach = ss_rod_jacobian(&plan->rods[p->rod], t->arclength[end], p->J);
    }
    for (int j = 0; j < SS_ROD_DOFS; j++) {
        for (int k = 0; k < 3; k++) {
            parts[!first].J[j][k] = -parts[!first].J[j][k];
        }
    }
    if (t->rod[0] != t->rod[1]) {
        return 2;
    }
    for (int j = 0; j < SS_ROD_DOFS; j++) {
        for (int k = 0; k < 3; k++) {
            parts[0].J[j][k] += parts[1].J[j][k];
        }
    }
    parts[0].reach = parts[1].reach > parts[0].reach ? parts[1].reach : parts[0].reach;
    return 1;
}

static int column_height(const ss_tangle_plan *plan, const ss_tangle_touch *t)
{
    const int first = ss_rod_reach(&plan->rods[t->rod[0]], t->arclength[0]);
    if (t->rod[1] == SS_GROUND) {
        return first;
    }
    const int second = ss_rod_reach(&plan->rods[t->rod[1]], t->arclength[1]);
    if (t->rod[0] == t->rod[1]) {
        return first > second ? first : second;
    }
    return first + second;
}

static ss_status make_contacts(const ss_tangle_plan *plan, ss_sparse *H, ss_error *e)
{
    const int dim = plan->dim, n = plan->ncontacts;
    int count = 0;
    for (int i = 0; i < n; i++) {
        count += dim * column_height(plan, &plan->touches[i]);
    }
    const ss_status status = tangle_reserve(H, SS_ROD_DOFS * plan->nrods, dim * n, count, e);
    if (status != SS_OK) {
        return status;
    }
    part parts[2];
    int at = 0;
    for (int column = 0; column < dim * n; column++) {
        const ss_tangle_touch *t = &plan->touches[column / dim];
        const double *axis = t->frame[column % dim];
        const int nparts = contact_parts(plan, t, parts);
        for (int k = 0; k < nparts; k++) {
            for (int j = 0; j < parts[k].reach; j++, at++) {
                const double *J = parts[k].J[j];
                H->row[at] = SS_ROD_DOFS * parts[k].rod + j;
                H->x[at] = axis[0] * J[0] + axis[1] * J[1] + axis[2] * J[2];
            }
        }
        H->start[column + 1] = at;
    }
    return SS_OK;
}

// r0 and w of one contact, each of dim components, both zero at first.
static void draw_contact(ss_random *g, int dim, double mu, double *r0, double *w)
{
    const double weight = SS_ROD_DENSITY * SS_ROD_LENGTH * GRAVITY * TIME_STEP; // N s
    const bool closed = ss_random_uniform(g) < CLOSED_SHARE;
    const double normal = ss_random_log_between(g, IMPULSE_DECADE, 1.0) * LARGEST_IMPULSE * weight;
    const double tangential = CONE_SHARE * mu * normal * ss_random_uniform(g);
    double direction[3];
    ss_random_direction(g, dim - 1, direction);
    if (!closed) {
        w[0] = ss_random_log_between(g, OPEN_SPEED_LOW, OPEN_SPEED_HIGH);
        return;
    }
    w[0] = ss_random_log_between(g, CLOSED_SPEED_LOW, CLOSED_SPEED_HIGH);
    r0[0] = normal;
    for (int k = 1; k < dim; k++) {
        r0[k] = tangential * direction[k - 1];
    }
}

static void draw_shake(ss_random *g, const ss_tangle_plan *plan, const double *mass, double *f)
{
    double common[3], own[3], torque[SS_ROD_DOFS];
    ss_random_direction(g, plan->dim, common);
    for (int rod = 0; rod < plan->nrods; rod++) {
        ss_random_direction(g, plan->dim, own);
        for (int k = 0; k < 3; k++) {
            own[k] = COMMON_SHAKE * common[k] + ROD_SHAKE * own[k];
        }
        ss_rod_weight(&plan->rods[rod], own, torque);
        for (int j = 0; j < SS_ROD_DOFS; j++) {
            f[SS_ROD_DOFS * rod + j] += mass[rod] * (TIME_STEP * torque[j]);
        }
    }
}

// That of the lighter rod.
static double contact_factor(const ss_tangle_touch *t, const double *mass)
{
    const double first = mass[t->rod[0]];
    return t->rod[1] == SS_GROUND ? first : fmin(first, mass[t->rod[1]]);
}

// mu, f and w, and r0, which is of use to the caller.
static ss_status make_loads(const ss_tangle_settings *s, const ss_tangle_plan *plan,
                            const double *mass, ss_problem *p, double **r0, ss_error *e)
{
    const size_t n = (size_t)p->ncontacts;
    const int dim = p->dim;
    p->mu = calloc(n, sizeof *p->mu);
    p->f = calloc((size_t)p->ndofs, sizeof *p->f);
    p->w = calloc((size_t)dim * n, sizeof *p->w);
    *r0 = calloc((size_t)dim * n, sizeof **r0);
    if (p->mu == NULL || p->f == NULL || p->w == NULL || *r0 == NULL) {
        return ss_fail_memory(e, "the loads of a tangle");
    }
    // Its own stream, so that mu and the loads leave the geometry alone.
    ss_random g = ss_random_seeded(~s->seed);
    for (size_t i = 0; i < n; i++) {
        p->mu[i] = s->mu;
        draw_contact(&g, dim, s->mu, *r0 + (size_t)dim * i, p->w + (size_t)dim * i);
        const double factor = contact_factor(&plan->touches[i], mass);
        for (size_t k = 0; k < (size_t)dim; k++) {
            (*r0)[(size_t)dim * i + k] *= factor;
        }
    }
    ss_sparse_add_product(&p->H, *r0, p->f);
    for (int j = 0; j < p->ndofs; j++) {
        p->f[j] = -p->f[j];
    }
    draw_shake(&g, plan, mass, p->f);
    return SS_OK;
}

static ss_status add_guess(ss_problem *p, double **r0, ss_error *e)
{
    p->guesses = calloc(1, sizeof *p->guesses);
    if (p->guesses == NULL) {
        return ss_fail_memory(e, "a guess");
    }
    p->nguesses = 1;
    p->guesses[0].r = *r0;
    *r0 = NULL;
    return SS_OK;
}

static ss_status tangle_describe(const ss_tangle_settings *s, ss_problem *p, ss_error *e)
{
    char text[400];
    int used;
    if (s->tower != 0.0) {
        used = snprintf(text, sizeof text,
                        "synthetic tower of boxes: dim %d, %d contacts, %d ends per box, mu %.17g, "
                        "seed %llu, each %.17g times as heavy as the one below",
                        s->dim, s->ncontacts, s->ends_per_rod, s->mu, (unsigned long long)s->seed,
                        s->tower);
        if (s->planks != 0) {
            used += snprintf(text + used, sizeof text - (size_t)used, ", %d planks in a layer",
                             s->planks);
        }
    } else {
        used = snprintf(text, sizeof text,
                        "synthetic tangle of rods: dim %d, %d contacts, %d ends per rod, mu %.17g, "
                        "seed %llu, condition %.17g, ground share %.17g, unsymmetry %.17g, %s",
                        s->dim, s->ncontacts, s->ends_per_rod, s->mu, (unsigned long long)s->seed,
                        s->condition, s->ground_share, s->unsymmetry,
                        s->hyperstatic ? "contacts in bunches" : "contacts spread");
    }
    if (s->light[0] > 0.0) {
        snprintf(text + used, sizeof text - (size_t)used, ", a share of %.17g lighter by %.17g",
                 s->light[0], s->light[1]);
    }
    p->title = strdup(s->tower != 0.0 ? "tower" : "tangle");
    p->description = strdup(text);
    if (p->title == NULL || p->description == NULL) {
        return ss_fail_memory(e, "the description of a tangle");
    }
    ss_provenance *from = &p->provenance;
    snprintf(from->scene, sizeof from->scene, "tangle");
    snprintf(from->units, sizeof from->units, "SI");
    snprintf(from->frame, sizeof from->frame, "normal first");
    from->has_seed = true;
    from->seed = s->seed;
    from->step = 0;
    from->time = 0.0;
    from->dt = TIME_STEP;
    return SS_OK;
}

// The factor on the mass of each of n bodies, from a stream of its own. NULL without memory.
static double *draw_masses(const ss_tangle_settings *s, int n)
{
    double *mass = malloc((size_t)n * sizeof *mass);
    ss_random g = ss_random_seeded(s->seed ^ LIGHT_STREAM);
    for (int k = 0; mass != NULL && k < n; k++) {
        mass[k] = ss_random_uniform(&g) < s->light[0] ? 1.0 / s->light[1] : 1.0;
    }
    return mass;
}

static ss_status fill_rods(const ss_tangle_settings *s, const double *mass,
                           const ss_tangle_plan *plan, ss_problem *p, double **r0, ss_error *e)
{
    p->ndofs = SS_ROD_DOFS * plan->nrods;
    ss_status status = make_mass(plan, s->condition, mass, &p->M, e);
    if (status == SS_OK) {
        status = make_contacts(plan, &p->H, e);
    }
    return status == SS_OK ? make_loads(s, plan, mass, p, r0, e) : status;
}

// plan: NULL for a tower.
static ss_status fill_global(const ss_tangle_settings *s, const ss_tangle_plan *plan, ss_problem *p,
                             ss_error *e)
{
    p->form = SS_GLOBAL;
    p->dim = s->dim;
    p->ncontacts = s->ncontacts;
    double *r0 = NULL;
    double *mass = draw_masses(s, plan != NULL ? plan->nrods : ss_tower_boxes(s));
    ss_status status = mass == NULL ? ss_fail_memory(e, "the masses of a tangle") : SS_OK;
    if (status == SS_OK) {
        status =
            plan != NULL ? fill_rods(s, mass, plan, p, &r0, e) : ss_tower_fill(s, mass, p, &r0, e);
    }
    free(mass);
    if (status == SS_OK && s->warm) {
        status = add_guess(p, &r0, e);
    }
    free(r0);
    return status == SS_OK ? tangle_describe(s, p, e) : status;
}

// G (I - E K), laid out like G. NULL without memory.
static double *turned_factors(const ss_whitened *white, double unsymmetry)
{
    size_t count = 0;
    for (int end = 0; end < white->nends; end++) {
        const int k = white->end_body[end];
        count += (size_t)(white->dim * (white->body_start[k + 1] - white->body_start[k]));
    }
    double *turned = malloc(count * sizeof *turned);
    for (size_t j = 0; turned != NULL && j + 1 < count; j += 2) {
        // Rods have an even number of dofs: no pair straddles two rows of G.
        const double *g = white->G + j;
        turned[j] = g[0] + unsymmetry * g[1];
        turned[j + 1] = g[1] - unsymmetry * g[0];
    }
    return turned;
}

// p becomes local with W of tangle.h (1); what only the global form has is freed.
static ss_status tangle_make_local(ss_problem *p, double unsymmetry, ss_error *e)
{
    ss_whitened *white = NULL;
    ss_blocks W = {0};
    ss_status status = ss_whitened_new(p, &white, e);
    if (status != SS_OK) {
        return status;
    }
    double *turned = turned_factors(white, unsymmetry);
    status = turned == NULL ? ss_fail_memory(e, "the unsymmetric part of W")
                            : ss_blocks_assemble(white, turned, &W, e);
    if (status == SS_OK) {
        status = ss_blocks_to_sparse(&W, &p->W, e);
    }
    if (status == SS_OK) {
        p->form = SS_LOCAL;
        p->ndofs = 0;
        p->b = white->b;
        white->b = NULL;
        ss_sparse_free(&p->M);
        ss_sparse_free(&p->H);
        free(p->f);
        free(p->w);
        p->f = p->w = NULL;
    }
    free(turned);
    ss_blocks_free(&W);
    ss_whitened_free(white);
    return status;
}

ss_status ss_tangle_new(const ss_tangle_settings *settings, ss_problem **problem, ss_error *e)
{
    *problem = NULL;
    ss_status status = ss_tangle_check(settings, e);
    if (status != SS_OK) {
        return status;
    }
    ss_tangle_plan *plan = NULL;
    status = settings->tower != 0.0 ? SS_OK : ss_tangle_plan_new(settings, &plan, e);
    if (status != SS_OK) {
        return status;
    }
    ss_problem *p = ss_problem_new();
    status = p == NULL ? ss_fail_memory(e, "a problem") : fill_global(settings, plan, p, e);
    if (status == SS_OK && settings->unsymmetry != 0.0) {
        status = tangle_make_local(p, settings->unsymmetry, e);
    }
    ss_tangle_plan_free(plan);
    if (status != SS_OK) {
        ss_problem_free(p);
        return status;
    }
    *problem = p;
    return SS_OK;
}
