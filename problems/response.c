#include "problems/response.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/team.h"
#include "problems/matrix/mass.h"
#include "problems/matrix/delassus.h"
#include "problems/matrix/long_products.h"

void ss_response_free(ss_response *response)
{
    if (response == NULL) {
        return;
    }
    ss_mass_free(response->mass);
    free(response->b);
    free(response->compliance);
    free(response->squares);
    free(response->motion);
    free(response->scratch);
    free(response->shares);
    free(response->exact);
    free(response->load);
    free(response->fine);
    free(response->low);
    free(response);
}

// tr(W_ii)/d of a problem in local form.
static void trace_local(const ss_problem *p, double *compliance)
{
    for (int j = 0; j < p->W.ncols; j++) {
        for (int k = p->W.start[j]; k < p->W.start[j + 1]; k++) {
            if (p->W.row[k] == j) {
                compliance[j / p->dim] += p->W.x[k] / p->dim;
            }
        }
    }
}

// ---- Velocities
//
// A solver that has W = H' M^-1 H from a factor of M finds the velocities of another matrix, M + E
// with |E| about eps |M|. A judge with the same factor would find the same velocities, and would
// call an answer solved whose true residual is as large as cond(M) eps times the velocities.
// Iterative refinement with residuals in long double (64 bits of mantissa) removes E:
//
//     rho_0 = f + H r,   d_k = M^-1 rho_k,   rho_k+1 = rho_k - M d_k,   v = sum d_k             (1)
//
// Each pass takes the error of v times about cond(M) eps, until rho, which is known to 2^-64 of
// what it was, lets it go no further: by the digits of a long double beyond those of a double that
// is 2^-11 of d_1, and u = H' v + w is uncertain by
//
//     max_c sum_j |H_jc| (2^-11 |d_1|_j + 2^-64 |v|_j)                                          (2)
//
// Where a condition of 1e10 meets parts a thousand times as light, that is 1e-11 of u, and a
// residual of 6e-11 was seen to be wrong by 4 %. Where (2) is above UNCERTAIN of max |b|, (1) is
// made with rho and v of two doubles, and at once for every r if it is for r = 0. They have 104
// bits, and passes end when the last d_k moves no u by more than UNCERTAIN of max |b|: what is left
// is smaller by another cond(M) eps.
#define REFINEMENTS    2
#define UNCERTAIN      1e-13
#define B_UNCERTAIN    1e-11 // of b, which is but the scale of the measures
#define D1_SHARE       0x1p-11
#define V_SHARE        0x1p-64
#define FINE_UNCERTAIN 1e-16 // where f is to have these digits, for mu = 0
#define FINE_PASSES    8 // of a factor that hardly is one of M; 3 to 5 do for a condition of 1e10

// Sums in local form are right to this share of the sum of the sizes of their terms.
#define LONG_SHARE 0x1p-60
#define FINE_SHARE 0x1p-98

// y += sign A x
static void add_fine_product(const ss_sparse *A, double sign, const double *x, ss_twofold *y)
{
    for (int j = 0; j < A->ncols; j++) {
        const double xj = sign * x[j];
        for (int k = A->start[j]; xj != 0.0 && k < A->start[j + 1]; k++) {
            ss_twofold_add_product(&y[A->row[k]], A->x[k], xj);
        }
    }
}

// So many bodies go through all passes of (1) together, while caches hold their M: it couples no
// others with them.
#define BODIES 8
// For threads, of a number of M in all passes and of a number of H, ns.
#define REFINE_NS   6.0
#define PRODUCT_NS  1.0
#define MOST_RANGES 64

static void solve_bodies(ss_response *response, int first, int end, double *d)
{
    const ss_bodies *layout = ss_mass_layout(response->mass);
    if (response->in_order) {
        ss_mass_solve_bodies(response->mass, first, end, layout->start, d);
    } else { // all
        ss_mass_solve(response->mass, d, response->scratch);
    }
}

// (1) of some bodies from response->load = f + H r; v is in response->exact, and what (2) sums
// with |H_jc| in response->shares; d is scratch.
static void refine_bodies(ss_response *response, int first, int end, double *d)
{
    const ss_problem *p = response->problem;
    const int *start = ss_mass_layout(response->mass)->start, from = start[first], to = start[end];
    long double *v = response->exact, *rho = response->load;
    memset(v + from, 0, (size_t)(to - from) * sizeof *v);
    for (int pass = 0; pass <= REFINEMENTS; pass++) {
        for (int j = from; j < to; j++) {
            d[j] = (double)rho[j];
        }
        solve_bodies(response, first, end, d);
        for (int j = from; j < to; j++) {
            v[j] += d[j];
        }
        if (pass < REFINEMENTS) {
            ss_long_add_columns(&p->M, from, to, -1.0, d, rho);
        }
        for (int j = from; pass == 1 && j < to; j++) {
            response->shares[j] = D1_SHARE * fabs(d[j]) + V_SHARE * fabs((double)v[j]);
        }
    }
}

typedef struct refining {
    ss_response *response;
    double *d, *u;
    int nranges;
    double largest[MOST_RANGES];
} refining;

// Groups of BODIES.
static void refine_groups(void *of, int first, int end)
{
    const refining *c = of;
    const int nbodies = ss_mass_bodies(c->response->mass);
    for (int k = BODIES * first; k < BODIES * end && k < nbodies; k += BODIES) {
        refine_bodies(c->response, k, k + BODIES < nbodies ? k + BODIES : nbodies, c->d);
    }
}

static void refine_motion(ss_response *response, double *d)
{
    const int nbodies = ss_mass_bodies(response->mass), groups = (nbodies + BODIES - 1) / BODIES;
    refining c = {.response = response, .d = d};
    if (response->in_order) {
        const double whole = REFINE_NS * ss_sparse_count(&response->problem->M);
        ss_team_divide(response->team, groups, whole / groups, refine_groups, &c);
    } else {
        refine_bodies(response, 0, nbodies, d);
    }
}

static void find_range(void *of, int range, int thread)
{
    refining *c = of;
    const ss_response *response = c->response;
    const ss_problem *p = response->problem;
    const int first = p->dim * ss_team_cut(p->ncontacts, range, c->nranges);
    const int end = p->dim * ss_team_cut(p->ncontacts, range + 1, c->nranges);
    (void)thread;
    c->largest[range] = ss_long_transposed_bounded(&p->H, first, end, response->exact, p->w,
                                                   response->shares, c->u);
}

// u = H' v + w, rounded once; (2).
static double find_velocities(ss_response *response, double *u)
{
    const double whole = PRODUCT_NS * ss_sparse_count(&response->problem->H);
    refining c = {.response = response, .u = u};
    c.nranges = ss_team_pays(response->team, whole) ? MOST_RANGES : 1;
    ss_team_run(response->team, c.nranges, find_range, &c);
    double largest = 0.0;
    for (int k = 0; k < c.nranges; k++) {
        largest = c.largest[k] > largest ? c.largest[k] : largest;
    }
    return largest;
}

static double largest_of(const double *x, int n)
{
    double largest = 0.0;
    for (int j = 0; j < n; j++) {
        largest = fabs(x[j]) > largest ? fabs(x[j]) : largest;
    }
    return largest;
}

static double scale_of(const ss_response *response, const double *u)
{
    return response->fastest > 0.0 ? response->fastest : largest_of(u, response->problem->H.ncols);
}

// Writes x rounded to u, and the rest to low.
static void split_twofold(ss_twofold x, double *u, double *low)
{
    *u = ss_twofold_rounded(x);
    *low = (x.high - *u) + x.low;
}

// u = H' v + w, rounded once.
static void find_fine_velocities(ss_response *response, const ss_twofold *v, double *u)
{
    const ss_problem *p = response->problem;
    for (int c = 0; c < p->H.ncols; c++) {
        ss_twofold sum = {p->w[c], 0.0};
        for (int k = p->H.start[c]; k < p->H.start[c + 1]; k++) {
            ss_twofold_add_twofold(&sum, p->H.x[k], v[p->H.row[k]]);
        }
        split_twofold(sum, &u[c], &response->low[c]);
    }
}

// max_c sum_j |H_jc| |d_j|
static double largest_move(const ss_sparse *H, const double *d)
{
    double largest = 0.0;
    for (int c = 0; c < H->ncols; c++) {
        double sum = 0.0;
        for (int k = H->start[c]; k < H->start[c + 1]; k++) {
            sum += fabs(H->x[k] * d[H->row[k]]);
        }
        largest = sum > largest ? sum : largest;
    }
    return largest;
}

// Does the same with v and rho of two doubles, until a pass moves no u by more than `least` of max
// |b|; v is in `motion`, rounded. Returns what may be left of the error of u: the last move times
// the share that it was of the one before, as each pass shrinks the error so.
static double refine_finely(ss_response *response, const double *r, double least, double *motion,
                            double *u)
{
    const ss_problem *p = response->problem;
    double move = INFINITY, before;
    ss_twofold *rho = response->fine, *v = rho + p->ndofs;
    double *d = motion;
    for (int j = 0; j < p->ndofs; j++) {
        rho[j] = (ss_twofold){p->f[j], 0.0};
        v[j] = (ss_twofold){0.0, 0.0};
    }
    add_fine_product(&p->H, 1.0, r, rho);
    for (int pass = 0; pass < FINE_PASSES; pass++) {
        for (int j = 0; j < p->ndofs; j++) {
            d[j] = ss_twofold_rounded(rho[j]);
        }
        ss_mass_solve(response->mass, d, response->scratch);
        for (int j = 0; j < p->ndofs; j++) {
            ss_twofold_add(&v[j], d[j]);
        }
        find_fine_velocities(response, v, u);
        before = move;
        move = largest_move(&p->H, d);
        if (!(move > least * scale_of(response, u))) {
            break;
        }
        add_fine_product(&p->M, -1.0, d, rho);
    }
    for (int j = 0; j < p->ndofs; j++) {
        motion[j] = ss_twofold_rounded(v[j]);
    }
    return isfinite(before) ? move * (move / before) : move;
}

// Finds u and v in long double. Returns (2), in m/s.
static double refine_coarsely(ss_response *response, const double *r, double *motion, double *u)
{
    const ss_problem *p = response->problem;
    for (int j = 0; j < p->ndofs; j++) {
        response->load[j] = p->f[j];
    }
    ss_long_add_product(&p->H, 1.0, r, response->load);
    refine_motion(response, motion);
    const double uncertain = find_velocities(response, u);
    for (int j = 0; j < p->ndofs; j++) {
        motion[j] = (double)response->exact[j];
    }
    return uncertain;
}

// ---- Velocities in local form: u = W r + b

static double local_size(const ss_response *response, const double *r)
{
    const ss_problem *p = response->problem;
    return response->row_sum * largest_of(r, p->dim * p->ncontacts) + response->fastest;
}

static double local_coarsely(ss_response *response, const double *r, double *u)
{
    const ss_problem *p = response->problem;
    const int size = p->dim * p->ncontacts;
    for (int c = 0; c < size; c++) {
        response->load[c] = p->b[c];
    }
    ss_long_add_product(&p->W, 1.0, r, response->load);
    for (int c = 0; c < size; c++) {
        u[c] = (double)response->load[c];
    }
    return LONG_SHARE * local_size(response, r);
}

static double local_finely(ss_response *response, const double *r, double *u)
{
    const ss_problem *p = response->problem;
    const int size = p->dim * p->ncontacts;
    for (int c = 0; c < size; c++) {
        response->fine[c] = (ss_twofold){p->b[c], 0.0};
    }
    add_fine_product(&p->W, 1.0, r, response->fine);
    for (int c = 0; c < size; c++) {
        split_twofold(response->fine[c], &u[c], &response->low[c]);
    }
    return FINE_SHARE * local_size(response, r);
}

// ---- The judge

// Finds u, with residuals of two doubles only where M needs them. Returns a bound of its error,
// m/s.
static double find_velocity(ss_response *response, const double *r, double *motion, double *u)
{
    if (response->problem->form == SS_LOCAL) {
        return local_coarsely(response, r, u);
    }
    if (!response->finely) {
        const double uncertain = refine_coarsely(response, r, motion, u);
        if (uncertain <= UNCERTAIN * scale_of(response, u)) {
            return uncertain;
        }
    }
    return refine_finely(response, r, UNCERTAIN, motion, u);
}

void ss_response_velocity(ss_response *response, const double *r, double *u, double *v)
{
    if (response != NULL && r != NULL && u != NULL) {
        find_velocity(response, r, v != NULL ? v : response->motion, u);
    }
}

// Finds u + response->low with the digits of two doubles, which f needs the more as it has mu |u_T|
// in it. Returns a bound of its error, m/s.
static double find_finely(ss_response *response, const double *r, double *u)
{
    const ss_problem *p = response->problem;
    if (p->form == SS_LOCAL) {
        return local_finely(response, r, u);
    }
    const double least = FINE_UNCERTAIN / (1.0 + largest_of(p->mu, p->ncontacts));
    return refine_finely(response, r, least, response->motion, u);
}

// The measures are found again with the digits of two doubles where rounding may be more than this
// share of the error. Below it rounding takes or gives less than a thousandth.
#define KNOWN_SHARE 0x1p-12

ss_measures ss_response_judge(ss_response *response, const double *r, double *u)
{
    if (response == NULL || r == NULL || u == NULL) {
        return ss_measures_none();
    }
    const ss_problem *p = response->problem;
    const int d = p->dim, n = p->ncontacts;
    const double uncertain = find_velocity(response, r, response->motion, u);
    const ss_measures m = ss_measure_with(response->team, response->squares, d, n,
                                          response->compliance, response->b, p->mu, r, u, NULL);
    const double rounding = ss_measures_rounding(&m, d, n, p->mu, r, u, uncertain);
    if (!(rounding > KNOWN_SHARE * ss_measures_error(&m))) {
        return m;
    }
    const ss_fine fine = {.low = response->low, .uncertain = find_finely(response, r, u)};
    return ss_measure_with(response->team, response->squares, d, n, response->compliance,
                           response->b, p->mu, r, u, &fine);
}

static bool are_in_order(const ss_bodies *b)
{
    int d = 0;
    while (d < b->ndofs && b->dofs[d] == d) {
        d++;
    }
    return d == b->ndofs;
}

static ss_status prepare_global(ss_response *response, ss_mass **room, ss_error *e)
{
    const ss_problem *p = response->problem;
    const ss_status status = ss_mass_find(p, room, &response->mass, e);
    if (status != SS_OK) {
        return status;
    }
    response->in_order = are_in_order(ss_mass_layout(response->mass));
    response->motion = malloc((size_t)p->ndofs * sizeof *response->motion);
    response->scratch = malloc((size_t)p->ndofs * sizeof *response->scratch);
    response->shares = malloc((size_t)p->ndofs * sizeof *response->shares);
    response->exact = malloc((size_t)p->ndofs * sizeof *response->exact);
    if (response->motion == NULL || response->scratch == NULL || response->shares == NULL ||
        response->exact == NULL ||
        !ss_compliance_find(p, response->mass, response->team, response->compliance)) {
        return ss_fail_memory(e, "the judge");
    }
    return SS_OK;
}

static ss_status prepare_local(ss_response *response, ss_error *e)
{
    const ss_sparse *W = &response->problem->W;
    double *sum = calloc((size_t)W->nrows, sizeof *sum);
    if (sum == NULL) {
        return ss_fail_memory(e, "the judge");
    }
    for (int k = 0; k < W->start[W->ncols]; k++) {
        sum[W->row[k]] += fabs(W->x[k]);
    }
    response->row_sum = largest_of(sum, W->nrows);
    trace_local(response->problem, response->compliance);
    free(sum);
    return SS_OK;
}

// b is the velocity at r = 0.
static ss_status find_free_velocity(ss_response *response, ss_error *e)
{
    const ss_problem *p = response->problem;
    double *zero = calloc((size_t)p->dim * (size_t)p->ncontacts, sizeof *zero);
    if (zero == NULL) {
        return ss_fail_memory(e, "the judge");
    }
    bool enough = false;
    if (p->form == SS_GLOBAL) {
        const double uncertain = refine_coarsely(response, zero, response->motion, response->b);
        const double scale = scale_of(response, response->b);
        response->finely = !(uncertain <= UNCERTAIN * scale);
        enough = uncertain <= B_UNCERTAIN * scale;
    }
    if (!enough) {
        ss_response_velocity(response, zero, response->b, NULL);
    }
    response->fastest = largest_of(response->b, p->dim * p->ncontacts);
    free(zero);
    return SS_OK;
}

ss_status ss_response_new(const ss_problem *p, ss_response **response, ss_error *e)
{
    return ss_response_with(p, NULL, NULL, response, e);
}

ss_status ss_response_with(const ss_problem *p, ss_mass **room, ss_team *team,
                           ss_response **response, ss_error *e)
{
    *response = NULL;
    const ss_status sizes = ss_problem_check_sizes(p, e);
    if (sizes != SS_OK) {
        return sizes;
    }
    ss_response *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return ss_fail_memory(e, "the judge");
    }
    made->problem = p;
    made->team = team;
    made->b = malloc((size_t)p->dim * (size_t)p->ncontacts * sizeof *made->b);
    made->compliance = calloc((size_t)p->ncontacts, sizeof *made->compliance);
    made->squares = malloc((size_t)p->ncontacts * sizeof *made->squares);
    const size_t rows = p->form == SS_GLOBAL ? (size_t)p->ndofs : (size_t)(p->dim * p->ncontacts);
    made->load = malloc((rows + 1) * sizeof *made->load);
    made->fine = malloc(2 * (rows + 1) * sizeof *made->fine);
    made->low = malloc((size_t)p->dim * (size_t)p->ncontacts * sizeof *made->low);
    ss_status status = made->b != NULL && made->compliance != NULL && made->squares != NULL &&
                               made->load != NULL && made->fine != NULL && made->low != NULL
                           ? SS_OK
                           : ss_fail_memory(e, "the judge");
    if (status == SS_OK) {
        status = p->form == SS_GLOBAL ? prepare_global(made, room, e) : prepare_local(made, e);
    }
    if (status == SS_OK) {
        status = find_free_velocity(made, e);
    }
    if (status != SS_OK) {
        ss_response_free(made);
        return status;
    }
    *response = made;
    return SS_OK;
}
