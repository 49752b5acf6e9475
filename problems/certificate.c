#include "problems/certificate.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <suitesparse/cholmod.h>

#include "problems/certificate_rows.h"
#include "problems/matrix/mass.h"
#include "problems/matrix/long_products.h"
#include "problems/response.h"

// The search as a whole may cost this many operations, and its matrices hold this many numbers.
#define MOST_WORK    4e9
#define MOST_ENTRIES 1e8
#define MOST_STEPS   60
#define LEAST_STEPS  5

// W is taken for symmetric, and for semidefinite where W + this share of its largest
// sum of a row has a Cholesky factor.
#define SYMMETRIC    1e-12
#define SEMIDEFINITE 1e-12

#define DAMPING  1e-10 // of Newton's matrix, whose diagonal is of order 1
#define ARMIJO   1e-4
#define HALVINGS 30
#define INSIDE   1e-3  // delta over the problem's speed |A_Ni|
#define VANISHED 1e-26 // g over the square of the speed: u_N >= 0 to rounding

// The rounding of a smaller product may be no double.
#define LEAST_PRODUCT 0x1p-900

#define PASSES     2.001 // an answer that passes has u_N >= -2 T V to a thousandth of this
#define PULL_SHARE 2.0   // M^-1 z is right to a half

#define HINT     1e6 // of a reach in doubles, from which on (4) is looked at
#define POLISHES 4   // each leaves the rounding of a solve with Newton's matrix of z

// ---- The reach (4)

typedef struct refutation {
    const ss_problem *p;
    double tolerance;
    ss_response *judge;
    ss_twofold *rest; // [m] z = A_N lambda
    double *y;        // [m] M^-1 z, and scratch of as many
    double *h;        // [d n]
} refutation;

static void refutation_free(refutation *k)
{
    ss_response_free(k->judge);
    free(k->rest);
    free(k->y);
    free(k->h);
}

static ss_status refutation_new(const ss_problem *p, double tolerance, refutation *k, ss_error *e)
{
    const size_t size = (size_t)p->dim * (size_t)p->ncontacts;
    const size_t m = p->form == SS_GLOBAL ? (size_t)p->ndofs : size;
    *k = (refutation){.p = p, .tolerance = tolerance};
    const ss_status status = ss_response_new(p, &k->judge, e);
    if (status != SS_OK) {
        return status;
    }
    k->rest = malloc((m + 1) * sizeof *k->rest);
    k->y = malloc(2 * (m + 1) * sizeof *k->y);
    k->h = malloc(size * sizeof *k->h);
    return k->rest != NULL && k->y != NULL && k->h != NULL ? SS_OK
                                                           : ss_fail_memory(e, "a certificate");
}

// Adds a x. Returns false where its rounding vanishes by underflow: a sum that is 0 then would be a
// proof without limits.
static bool add_exactly(ss_twofold *sum, double a, double x)
{
    ss_twofold_add_product(sum, a, x);
    return a == 0.0 || x == 0.0 || fabs(a * x) >= LEAST_PRODUCT;
}

// Finds A_N lambda. Returns false where it is not known.
static bool find_rest(refutation *k, const double *lambda, const double *low)
{
    const ss_problem *p = k->p;
    const bool global = p->form == SS_GLOBAL;
    const ss_sparse *A = global ? &p->H : &p->W;
    bool exact = true;
    memset(k->rest, 0, (size_t)A->nrows * sizeof *k->rest);
    for (int j = 0; j < A->ncols; j += global ? p->dim : 1) {
        for (int at = A->start[j]; at < A->start[j + 1]; at++) {
            const int row = A->row[at], i = (global ? j : row) / p->dim;
            if (global || row % p->dim == 0) { // local form: A = W'
                ss_twofold *sum = &k->rest[global ? row : j];
                exact &= add_exactly(sum, A->x[at], lambda[i]);
                exact &= low == NULL || add_exactly(sum, A->x[at], low[i]);
            }
        }
    }
    return exact;
}

// Returns a bound of h . r for impulses of size one; *forced is one of y . f.
static double find_pull(refutation *k, double *forced)
{
    const ss_problem *p = k->p;
    const bool global = p->form == SS_GLOBAL;
    const int size = p->dim * p->ncontacts, m = global ? p->ndofs : size;
    const double share = global ? PULL_SHARE : 1.0;
    double pull = 0.0;
    *forced = 0.0;
    for (int j = 0; j < m; j++) {
        k->y[j] = ss_twofold_rounded(k->rest[j]);
    }
    memset(k->h, 0, (size_t)size * sizeof *k->h);
    if (global) {
        ss_mass_solve(k->judge->mass, k->y, k->y + m);
        ss_sparse_add_transposed_product(&p->H, k->y, k->h);
    } else {
        memcpy(k->h, k->y, (size_t)size * sizeof *k->h);
    }
    for (int j = 0; global && j < m; j++) {
        *forced += share * fabs(k->y[j] * p->f[j]);
    }
    for (int j = 0; j < size; j++) {
        pull += share * fabs(k->h[j]);
    }
    return pull;
}

static bool is_zero(const ss_twofold *x, int n)
{
    int j = 0;
    while (j < n && x[j].high == 0.0 && x[j].low == 0.0) {
        j++;
    }
    return j == n;
}

static double reach_of(refutation *k, const double *lambda, const double *low)
{
    const ss_problem *p = k->p;
    const ss_scales of = ss_scales_find(p->dim, p->ncontacts, k->judge->compliance, k->judge->b);
    const double *c = p->form == SS_GLOBAL ? p->w : p->b;
    ss_twofold along = {0.0, 0.0};
    double sum = 0.0, forced;
    bool exact = find_rest(k, lambda, low);
    for (int i = 0; exact && i < p->ncontacts; i++) {
        const double cN = c[p->dim * i];
        exact = lambda[i] >= 0.0 && add_exactly(&along, cN, lambda[i]) &&
                (low == NULL || add_exactly(&along, cN, low[i]));
        sum += lambda[i];
    }
    if (!exact) {
        return 0.0;
    }
    const double pull = find_pull(k, &forced);
    const double missing =
        -ss_twofold_rounded(along) - forced - PASSES * k->tolerance * of.velocity * sum;
    const double reach = missing * of.compliance / (pull * of.velocity);
    if (!(missing > 0.0 && isfinite(missing))) {
        return 0.0;
    }
    // No remainder but 0 refutes without limits.
    const bool none = is_zero(k->rest, p->form == SS_GLOBAL ? p->ndofs : p->W.ncols);
    return none ? INFINITY : isfinite(reach) ? reach : 0.0;
}

ss_status ss_certificate_reach(const ss_problem *p, double tolerance, const double *lambda,
                               const double *low, double *reach, ss_error *e)
{
    refutation k;
    const ss_status status = refutation_new(p, tolerance, &k, e);
    *reach = status == SS_OK ? reach_of(&k, lambda, low) : 0.0;
    refutation_free(&k);
    return status;
}

// ---- The minimum of (5)

typedef struct search {
    const ss_problem *problem;
    double tolerance;
    const ss_contact_rows *rows;
    bool cones; // C = K_{1/mu} instead of the half-spaces
    cholmod_common common;
    cholmod_sparse *B; // A times the root of the Hessian of the distances
    cholmod_factor *L; // of B B' + DAMPING
    double *x, *trial; // [m]
    double *grad;      // [m]
    double *lambda;    // [n]
    double *low;       // [n] what polished ones have beyond their doubles
    double (*part)[9]; // [n] the root of a contact's Hessian, a column after the other
    refutation check;  // of lambda; its judge is NULL before it is asked for
    ss_status failed;
    ss_error error;
} search;

// q = y - P_C(y) and columns whose outer products sum up to dq/dy, for C = K_{1/mu}.
static void outside(double mu, const double y[3], double q[3], double columns[9])
{
    memset(columns, 0, 9 * sizeof *columns);
    q[0] = q[1] = q[2] = 0.0;
    const double slip = sqrt(y[1] * y[1] + y[2] * y[2]), h = sqrt(1.0 + mu * mu);
    const double far = (mu * slip - y[0]) / h;
    if (!(far > 0.0)) {
        return;
    }
    if (mu > 0.0 && slip <= -mu * y[0]) { // the apex is nearest
        memcpy(q, y, 3 * sizeof *q);
        columns[0] = columns[4] = columns[8] = 1.0;
        return;
    }
    const double t[2] = {slip > 0.0 ? y[1] / slip : 0.0, slip > 0.0 ? y[2] / slip : 0.0};
    const double turn = slip > 0.0 ? sqrt(mu * far / (h * slip)) : 0.0;
    columns[0] = -1.0 / h;
    for (int k = 0; k < 2; k++) {
        columns[1 + k] = mu * t[k] / h;
        columns[4 + k] = turn * (k == 0 ? -t[1] : t[0]);
    }
    for (int k = 0; k < 3; k++) {
        q[k] = far * columns[k];
    }
}

// g, its gradient, lambda, and what Newton's matrix needs.
static double evaluate(search *s, const double *x)
{
    const ss_contact_rows *rows = s->rows;
    double g = 0.0;
    memset(s->grad, 0, (size_t)rows->m * sizeof *s->grad);
    for (int i = 0; i < rows->n; i++) {
        double u[3] = {0.0, 0.0, 0.0}, q[3];
        const double weight = 1.0 / rows->size[i];
        for (int c = 0; c < (s->cones ? rows->d : 1); c++) {
            u[c] = rows->c[rows->d * i + c];
            for (int k = rows->start[i]; k < rows->start[i + 1]; k++) {
                u[c] += rows->A[rows->d * k + c] * x[rows->row[k]];
            }
        }
        u[0] -= s->cones ? INSIDE * rows->speed * rows->size[i] : 0.0;
        outside(s->cones ? rows->mu[i] : 0.0, u, q, s->part[i]);
        for (int k = 0; k < 9; k++) {
            s->part[i][k] *= weight;
        }
        for (int c = 0; c < rows->d; c++) {
            g += 0.5 * weight * weight * q[c] * q[c];
            q[c] *= weight * weight;
        }
        s->lambda[i] = -q[0];
        for (int k = rows->start[i]; k < rows->start[i + 1]; k++) {
            for (int c = 0; c < rows->d; c++) {
                s->grad[rows->row[k]] += rows->A[rows->d * k + c] * q[c];
            }
        }
    }
    return g;
}

static double square_of(const search *s)
{
    double square = 0.0;
    for (int j = 0; j < s->rows->m; j++) {
        square += s->grad[j] * s->grad[j];
    }
    return square;
}

// B of the present parts; the pattern is that of all rows of a contact in each of its columns.
static void fill_matrix(search *s)
{
    const ss_contact_rows *rows = s->rows;
    const int width = s->cones ? rows->d : 1;
    double *x = s->B->x;
    for (int i = 0; i < rows->n; i++) {
        for (int c = 0; c < width; c++) {
            for (int k = rows->start[i]; k < rows->start[i + 1]; k++) {
                double sum = 0.0;
                for (int j = 0; j < rows->d; j++) {
                    sum += rows->A[rows->d * k + j] * s->part[i][3 * c + j];
                }
                *x++ = sum;
            }
        }
    }
}

// The pattern of B and its analysis. False if the search would cost too much or memory is missing.
static bool prepare_matrix(search *s, bool *too_large)
{
    const ss_contact_rows *rows = s->rows;
    const int width = s->cones ? rows->d : 1;
    double products = 0.0;
    for (int i = 0; i < rows->n; i++) {
        const double touched = rows->start[i + 1] - rows->start[i];
        products += width * touched * touched;
    }
    *too_large = products > MOST_ENTRIES || (double)width * rows->start[rows->n] > INT_MAX;
    if (*too_large) {
        return false;
    }
    const size_t count = (size_t)width * (size_t)rows->start[rows->n];
    s->B = cholmod_allocate_sparse((size_t)rows->m, (size_t)width * (size_t)rows->n, count, 1, 1, 0,
                                   CHOLMOD_REAL, &s->common);
    if (s->B == NULL) {
        return false;
    }
    int *start = s->B->p, *row = s->B->i, at = 0;
    for (int i = 0; i < rows->n; i++) {
        const int length = rows->start[i + 1] - rows->start[i];
        for (int c = 0; c < width; c++) {
            start[width * i + c] = at;
            memcpy(row + at, rows->row + rows->start[i], (size_t)length * sizeof *row);
            at += length;
        }
    }
    start[width * rows->n] = at;
    s->L = cholmod_analyze(s->B, &s->common);
    *too_large = s->L != NULL && !(LEAST_STEPS * s->common.fl <= MOST_WORK);
    return s->L != NULL && !*too_large;
}

// trial = x - (B B' + DAMPING)^-1 grad.
static bool certificate_find_step(search *s, double *step)
{
    const size_t m = (size_t)s->rows->m;
    double damping[2] = {DAMPING, 0.0};
    fill_matrix(s);
    if (!cholmod_factorize_p(s->B, damping, NULL, 0, s->L, &s->common) ||
        s->common.status != CHOLMOD_OK) {
        return false;
    }
    cholmod_dense rhs = {
        .nrow = m, .ncol = 1, .nzmax = m, .d = m, .x = s->grad, .xtype = CHOLMOD_REAL};
    cholmod_dense *x = cholmod_solve(CHOLMOD_A, s->L, &rhs, &s->common);
    if (x == NULL) {
        return false;
    }
    for (size_t j = 0; j < m; j++) {
        step[j] = -((const double *)x->x)[j];
    }
    cholmod_free_dense(&x, &s->common);
    return true;
}

// One damped step of Newton from x with value g. False where it does not go down any more.
static bool certificate_advance(search *s, double *step, double *g)
{
    const double square = square_of(s);
    if (!(square > 0.0) || !certificate_find_step(s, step)) {
        return false;
    }
    double slope = 0.0;
    for (int j = 0; j < s->rows->m; j++) {
        slope += s->grad[j] * step[j];
    }
    double t = 1.0;
    for (int k = 0; k < HALVINGS; k++, t *= 0.5) {
        for (int j = 0; j < s->rows->m; j++) {
            s->trial[j] = s->x[j] + t * step[j];
        }
        const double next = evaluate(s, s->trial);
        // At the rounding of g the gradient still tells which of two points is the lower one.
        if (next <= *g + ARMIJO * t * slope || (k == 0 && square_of(s) < 0.25 * square)) {
            memcpy(s->x, s->trial, (size_t)s->rows->m * sizeof *s->x);
            *g = next;
            return true;
        }
    }
    return false;
}

// Adds (A_Ni . step)/|A_Ni|^2 to lambda_i, with B B' step = -A_N lambda. If there is a lambda of
// these contacts with A_N lambda = 0, nothing but the rounding of this is left of A_N lambda.
static bool polish(search *s, double *step)
{
    const ss_contact_rows *rows = s->rows;
    for (int j = 0; j < rows->m; j++) {
        s->grad[j] = ss_twofold_rounded(s->check.rest[j]) / rows->root[j];
    }
    if (!certificate_find_step(s, step)) {
        return false;
    }
    for (int i = 0; i < rows->n; i++) {
        double sum = 0.0;
        for (int k = rows->start[i]; s->lambda[i] > 0.0 && k < rows->start[i + 1]; k++) {
            sum += rows->A[rows->d * k] * step[rows->row[k]];
        }
        const ss_twofold moved =
            ss_twofold_sum((ss_twofold){s->lambda[i], s->low[i]},
                           (ss_twofold){sum / (rows->size[i] * rows->size[i]), 0.0});
        s->lambda[i] = moved.high > 0.0 ? moved.high : 0.0;
        s->low[i] = moved.high > 0.0 ? moved.low : 0.0;
    }
    return true;
}

// Divides lambda by a power of two near its largest number.
static void normalise(search *s)
{
    double largest = 0.0;
    int exponent;
    for (int i = 0; i < s->rows->n; i++) {
        largest = fmax(largest, s->lambda[i]);
    }
    frexp(largest, &exponent);
    for (int i = 0; i < s->rows->n; i++) {
        s->lambda[i] = ldexp(s->lambda[i], -exponent);
        s->low[i] = 0.0;
    }
}

static bool reaches(search *s, ss_certificate *found)
{
    found->reach = fmax(found->reach, reach_of(&s->check, s->lambda, s->low));
    return found->reach >= ss_impulse_most(s->tolerance);
}

// True if the lambda of the point that the search is at refutes. If it is the last one it is
// polished, with `step` as scratch; otherwise `step` is NULL.
static bool refutes(search *s, double *step, ss_certificate *found)
{
    const double hint = ss_contact_rows_reach(s->rows, s->lambda, s->trial);
    if (s->failed != SS_OK || !(hint >= (step != NULL ? 0.0 : HINT))) {
        return false;
    }
    if (s->check.judge == NULL) {
        s->failed = refutation_new(s->problem, s->tolerance, &s->check, &s->error);
    }
    if (s->failed != SS_OK) {
        return false;
    }
    normalise(s);
    bool done = reaches(s, found);
    for (int k = 0; !done && step != NULL && k < POLISHES && polish(s, step); k++) {
        done = reaches(s, found);
    }
    return done;
}

// True if the point that the search is at proves something.
static bool proves(search *s, ss_certificate *found)
{
    if (s->cones) {
        found->margin = ss_contact_rows_margin(s->rows, s->x);
        return found->margin >= SS_MARGIN;
    }
    return refutes(s, NULL, found);
}

static bool minimise(search *s, double *step, ss_certificate *found)
{
    double g = evaluate(s, s->x);
    const double vanished = VANISHED * s->rows->speed * s->rows->speed;
    if (proves(s, found)) {
        return true;
    }
    if (!(g > vanished) || !prepare_matrix(s, &found->too_large)) {
        return false;
    }
    const double affordable = MOST_WORK / (s->common.fl + 1.0);
    const int steps = affordable < MOST_STEPS ? (int)affordable : MOST_STEPS;
    for (int k = 0; k < steps && g > vanished && certificate_advance(s, step, &g); k++) {
        if (proves(s, found)) {
            return true;
        }
    }
    if (s->cones || !(g > vanished)) {
        return false;
    }
    evaluate(s, s->x);
    return refutes(s, step, found);
}

static void keep(search *s, ss_certificate *found)
{
    if (s->cones) {
        for (int j = 0; j < s->rows->m; j++) {
            s->x[j] /= s->rows->root[j];
        }
        found->x = s->x;
        s->x = NULL;
    } else {
        found->lambda = s->lambda;
        found->low = s->low;
        s->lambda = s->low = NULL;
    }
}

static ss_status look_for(const ss_problem *p, double tolerance, const ss_contact_rows *rows,
                          bool cones, ss_certificate *found, bool *proved, ss_error *e)
{
    const size_t m = (size_t)rows->m + 1;
    search s = {.problem = p, .tolerance = tolerance, .rows = rows, .cones = cones};
    cholmod_start(&s.common);
    s.common.print = 0;
    double *step = malloc(m * sizeof *step);
    s.x = calloc(m, sizeof *s.x);
    s.trial = malloc(m * sizeof *s.trial);
    s.grad = malloc(m * sizeof *s.grad);
    s.lambda = malloc((size_t)rows->n * sizeof *s.lambda);
    s.low = calloc((size_t)rows->n, sizeof *s.low);
    s.part = malloc((size_t)rows->n * sizeof *s.part);
    ss_status status = SS_OK;
    if (step == NULL || s.x == NULL || s.trial == NULL || s.grad == NULL || s.lambda == NULL ||
        s.low == NULL || s.part == NULL) {
        status = ss_fail_memory(e, "a certificate");
    } else {
        *proved = minimise(&s, step, found);
        if (s.failed != SS_OK) {
            status = ss_fail(e, s.failed, "%s", s.error.text);
        } else if (s.common.status == CHOLMOD_OUT_OF_MEMORY) {
            status = ss_fail_memory(e, "a certificate");
        }
    }
    if (status == SS_OK && *proved) {
        keep(&s, found);
    }
    refutation_free(&s.check);
    cholmod_free_factor(&s.L, &s.common);
    cholmod_free_sparse(&s.B, &s.common);
    cholmod_finish(&s.common);
    free(step);
    free(s.x);
    free(s.trial);
    free(s.grad);
    free(s.lambda);
    free(s.low);
    free(s.part);
    return status;
}

// ---- Both

static double largest_row(const ss_sparse *W)
{
    double largest = 0.0;
    for (int j = 0; j < W->ncols; j++) {
        double sum = 0.0;
        for (int k = W->start[j]; k < W->start[j + 1]; k++) {
            sum += fabs(W->x[k]);
        }
        largest = fmax(largest, sum);
    }
    return largest;
}

// W + SEMIDEFINITE |W| has a Cholesky factor; false where finding out would cost too much.
static bool is_semidefinite(const ss_sparse *W)
{
    cholmod_common common;
    cholmod_start(&common);
    common.print = 0;
    common.final_ll = 1; // L D L' would take negative pivots
    const size_t n = (size_t)W->nrows;
    double shift[2] = {SEMIDEFINITE * largest_row(W), 0.0};
    cholmod_sparse view = {.nrow = n,
                           .ncol = n,
                           .nzmax = (size_t)W->start[n],
                           .p = W->start,
                           .i = W->row,
                           .x = W->x,
                           .stype = -1,
                           .itype = CHOLMOD_INT,
                           .xtype = CHOLMOD_REAL,
                           .sorted = 1,
                           .packed = 1};
    cholmod_factor *L = cholmod_analyze(&view, &common);
    const bool is = L != NULL && common.fl <= MOST_WORK &&
                    cholmod_factorize_p(&view, shift, NULL, 0, L, &common) &&
                    common.status == CHOLMOD_OK;
    cholmod_free_factor(&L, &common);
    cholmod_finish(&common);
    return is;
}

// Whether (2) proves anything of this problem.
static ss_status covers(const ss_problem *p, bool *covered, ss_error *e)
{
    *covered = true;
    if (p->form == SS_GLOBAL) {
        return SS_OK;
    }
    double unsymmetry;
    const ss_status status = ss_sparse_find_unsymmetry(&p->W, &unsymmetry, e);
    if (status == SS_OK) {
        *covered = unsymmetry <= SYMMETRIC && is_semidefinite(&p->W);
    }
    return status;
}

void ss_certificate_free(ss_certificate *certificate)
{
    free(certificate->lambda);
    free(certificate->low);
    free(certificate->x);
    *certificate = (ss_certificate){.margin = -1.0};
}

ss_status ss_certificate_find(const ss_problem *p, double tolerance, bool existence,
                              ss_certificate *certificate, ss_error *e)
{
    *certificate = (ss_certificate){.margin = -1.0};
    ss_contact_rows rows;
    bool covered = false, proved = false;
    ss_status status = ss_contact_rows_new(p, &rows, e);
    if (status == SS_OK && existence) {
        status = covers(p, &covered, e);
    }
    if (status == SS_OK && covered) {
        status = look_for(p, tolerance, &rows, true, certificate, &proved, e);
        certificate->verdict = proved ? SS_EXISTENCE_PROVED : SS_EXISTENCE_UNKNOWN;
    }
    if (status == SS_OK && !proved) {
        status = look_for(p, tolerance, &rows, false, certificate, &proved, e);
        certificate->verdict = proved ? SS_EXISTENCE_REFUTED : SS_EXISTENCE_UNKNOWN;
    }
    ss_contact_rows_free(&rows);
    if (status != SS_OK) {
        ss_certificate_free(certificate);
    }
    return status;
}
