#include "problems/response.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "problems/matrix/mass.h"

void ss_response_free(ss_response *response)
{
    if (response == NULL) {
        return;
    }
    ss_mass_free(response->mass);
    free(response->b);
    free(response->compliance);
    free(response->motion);
    free(response->scratch);
    free(response->exact);
    free(response->load);
    free(response->fine);
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

// W_cc = |L^-1 H_c|^2, the sum over bodies of |L_k^-1 H_kc|^2. The columns of a contact are whitened
// together, body by body, and each sum runs in the order of its own column. Of a body that is a band, with
// Z = M_k^-1 within the band, it is H_kc' Z H_kc where H_kc lies within it.
typedef struct squares {
    int *head; // [bodies] the last entry of the contact on a body, -1 without; between contacts -1
    int *next; // [entries of H] the entry before it on the same body, -1 after the first
    int *seen; // [bodies] the last column whose sum has the body's share; -1 before
    double *share; // [bodies, dim] |L_k^-1 H_kc|^2 of the present contact
    double *X;     // [largest body, dim]
    ss_banded *Z;  // [bodies] where they are bands that a contact has met
} squares;

static void squares_free(squares *s, int nbodies)
{
    for (int k = 0; s->Z != NULL && k < nbodies; k++) {
        ss_banded_free(&s->Z[k]);
    }
    free(s->Z);
    free(s->head);
    free(s->next);
    free(s->seen);
    free(s->share);
    free(s->X);
}

static bool squares_new(const ss_response *response, squares *s)
{
    const ss_problem *p = response->problem;
    const size_t nbodies = (size_t)ss_mass_bodies(response->mass), dim = (size_t)p->dim;
    int largest = 0;
    for (int k = 0; k < (int)nbodies; k++) {
        const int m = ss_mass_size(response->mass, k);
        largest = m > largest ? m : largest;
    }
    *s = (squares){.head = malloc((nbodies + 1) * sizeof *s->head),
                   .next = malloc(((size_t)ss_sparse_count(&p->H) + 1) * sizeof *s->next),
                   .seen = malloc((nbodies + 1) * sizeof *s->seen),
                   .share = malloc((nbodies * dim + 1) * sizeof *s->share),
                   .X = malloc(((size_t)largest * dim + 1) * sizeof *s->X),
                   .Z = calloc(nbodies + 1, sizeof *s->Z)};
    if (s->head == NULL || s->next == NULL || s->seen == NULL || s->share == NULL || s->X == NULL ||
        s->Z == NULL) {
        return false;
    }
    for (size_t k = 0; k < nbodies; k++) {
        s->head[k] = s->seen[k] = -1;
    }
    return true;
}

// Z of a body that is a band; NULL of others, and without memory.
static const ss_banded *inverse_of(const ss_response *response, squares *s, int body)
{
    const ss_banded *L = ss_mass_band(response->mass, body);
    ss_banded *Z = &s->Z[body];
    if (L != NULL && Z->n == 0 && ss_banded_init(Z, L->n, L->half)) {
        ss_banded_inverse(L, Z);
    }
    return L != NULL && Z->x != NULL ? Z : NULL;
}

// H_kc' Z H_kc of all columns of contact i; false where H_kc is wider than the band.
static bool banded_shares(const ss_response *response, const squares *s, int i, int body,
                          const ss_banded *Z, double *share)
{
    const ss_sparse *H = &response->problem->H;
    const int dim = response->problem->dim;
    for (int k = s->head[body]; k >= 0; k = s->next[k]) {
        const int row = ss_mass_place(response->mass, H->row[k]);
        int c = 0;
        while (k >= H->start[dim * i + c + 1]) {
            c++;
        }
        for (int l = s->head[body]; l >= H->start[dim * i + c]; l = s->next[l]) {
            const int other = ss_mass_place(response->mass, H->row[l]);
            const int low = row < other ? row : other, high = row < other ? other : row;
            if (high - low > Z->half) {
                return false;
            }
            if (l < H->start[dim * i + c + 1]) {
                share[c] += H->x[k] * *ss_banded_at(Z, high, low) * H->x[l];
            }
        }
    }
    return true;
}

// The shares of one body in the columns of contact i.
static void body_shares(const ss_response *response, squares *s, int i, int body)
{
    double *const shares = s->share + (size_t)body * (size_t)response->problem->dim;
    const ss_banded *Z = inverse_of(response, s, body);
    memset(shares, 0, (size_t)response->problem->dim * sizeof *shares);
    if (Z != NULL && banded_shares(response, s, i, body, Z, shares)) {
        return;
    }
    const ss_sparse *H = &response->problem->H;
    const int dim = response->problem->dim, m = ss_mass_size(response->mass, body);
    double *share = s->share + (size_t)body * (size_t)dim;
    memset(s->X, 0, (size_t)m * (size_t)dim * sizeof *s->X);
    memset(share, 0, (size_t)dim * sizeof *share);
    for (int k = s->head[body]; k >= 0; k = s->next[k]) {
        int c = 0;
        while (k >= H->start[dim * i + c + 1]) {
            c++;
        }
        s->X[ss_mass_place(response->mass, H->row[k]) * dim + c] = H->x[k];
    }
    ss_mass_whiten(response->mass, body, s->X, dim);
    for (int j = 0; j < m; j++) {
        for (int c = 0; c < dim; c++) {
            share[c] += s->X[j * dim + c] * s->X[j * dim + c];
        }
    }
}

static void whiten_contact(const ss_response *response, squares *s, int i)
{
    const ss_sparse *H = &response->problem->H;
    const int first = H->start[response->problem->dim * i];
    const int end = H->start[response->problem->dim * (i + 1)];
    for (int k = first; k < end; k++) {
        const int body = ss_mass_body_of(response->mass, H->row[k]);
        s->next[k] = s->head[body];
        s->head[body] = k;
    }
    for (int k = first; k < end; k++) {
        const int body = ss_mass_body_of(response->mass, H->row[k]);
        if (s->head[body] >= 0) {
            body_shares(response, s, i, body);
            s->head[body] = -1;
        }
    }
}

static double column_square(const ss_response *response, squares *s, int c)
{
    const ss_sparse *H = &response->problem->H;
    const int dim = response->problem->dim;
    double sum = 0.0;
    for (int k = H->start[c]; k < H->start[c + 1]; k++) {
        const int body = ss_mass_body_of(response->mass, H->row[k]);
        if (s->seen[body] != c) {
            s->seen[body] = c;
            sum += s->share[(size_t)body * (size_t)dim + (size_t)(c % dim)];
        }
    }
    return sum;
}

// tr(W_ii)/d in global form.
static bool trace_global(const ss_response *response, double *compliance)
{
    const ss_problem *p = response->problem;
    squares s;
    const bool ok = squares_new(response, &s);
    for (int i = 0; ok && i < p->ncontacts; i++) {
        whiten_contact(response, &s, i);
        for (int c = p->dim * i; c < p->dim * (i + 1); c++) {
            compliance[i] += column_square(response, &s, c) / p->dim;
        }
    }
    squares_free(&s, ss_mass_bodies(response->mass));
    return ok;
}

// ---- Velocities
//
// A solver that has W = H' M^-1 H from a factor of M finds the velocities of another matrix, M + E
// with |E| about eps |M|. A judge with the same factor would find the same velocities, and would
// call an answer solved whose true residual is as large as cond(M) eps times the velocities.
// Iterative refinement with residuals in long double (64 bits of mantissa) removes E:
//
//     rho_0 = f + H r,    d_k = M^-1 rho_k,    rho_k+1 = rho_k - M d_k,    v = sum d_k           (1)
//
// Each pass takes the error of v times about cond(M) eps, until rho, which is known to 2^-64 of what it was,
// lets it go no further: by the digits of a long double beyond those of a double that is 2^-11 of d_1,
// and u = H' v + w is uncertain by
//
//     max_c sum_j |H_jc| (2^-11 |d_1|_j + 2^-64 |v|_j)                                           (2)
//
// Where a condition of 1e10 meets parts a thousand times as light, that is 1e-11 of u, and a residual of 6e-11
// was seen to be wrong by 4 %. Where (2) is above UNCERTAIN of max |b|, (1) is made again with rho
// and v in 113 bits.
#define REFINEMENTS 2
#define UNCERTAIN   1e-13
#define D1_SHARE    0x1p-11
#define V_SHARE     0x1p-64
#define FINE_PASSES 4
#ifdef __SIZEOF_FLOAT128__
__extension__ typedef __float128 fine_real;
#else
typedef long double fine_real; // of 113 bits on the machines that have no other
#endif

// y += sign A x
static void add_exact_product(const ss_sparse *A, double sign, const double *x, long double *y)
{
    for (int j = 0; j < A->ncols; j++) {
        const long double xj = sign * x[j];
        for (int k = A->start[j]; k < A->start[j + 1]; k++) {
            y[A->row[k]] += A->x[k] * xj;
        }
    }
}

static void add_fine_product(const ss_sparse *A, double sign, const double *x, fine_real *y)
{
    for (int j = 0; j < A->ncols; j++) {
        const fine_real xj = sign * x[j];
        for (int k = A->start[j]; k < A->start[j + 1]; k++) {
            y[A->row[k]] += A->x[k] * xj;
        }
    }
}

// max_c sum_j |H_jc| (d_share |d_j| + v_share |v_j|)
static double find_uncertainty(const ss_response *response, const double *d, double d_share,
                               double v_share)
{
    const ss_sparse *H = &response->problem->H;
    double largest = 0.0;
    for (int c = 0; c < H->ncols; c++) {
        double sum = 0.0;
        for (int k = H->start[c]; k < H->start[c + 1]; k++) {
            const int j = H->row[k];
            sum +=
                fabs(H->x[k]) * (d_share * fabs(d[j]) + v_share * fabs((double)response->exact[j]));
        }
        largest = sum > largest ? sum : largest;
    }
    return largest;
}

// (1) from response->load = f + H r; v is in response->exact, d is scratch. (2).
static double refine_motion(ss_response *response, double *d)
{
    const ss_problem *p = response->problem;
    long double *v = response->exact, *rho = response->load;
    double uncertain = 0.0;
    memset(v, 0, (size_t)p->ndofs * sizeof *v);
    for (int pass = 0; pass <= REFINEMENTS; pass++) {
        for (int j = 0; j < p->ndofs; j++) {
            d[j] = (double)rho[j];
        }
        ss_mass_solve(response->mass, d, response->scratch);
        for (int j = 0; j < p->ndofs; j++) {
            v[j] += d[j];
        }
        if (pass < REFINEMENTS) {
            add_exact_product(&p->M, -1.0, d, rho);
        }
        if (pass == 1) {
            uncertain = find_uncertainty(response, d, D1_SHARE, V_SHARE);
        }
    }
    return uncertain;
}

static double largest_of(const double *x, int n)
{
    double largest = 0.0;
    for (int j = 0; j < n; j++) {
        largest = fabs(x[j]) > largest ? fabs(x[j]) : largest;
    }
    return largest;
}

// The same with v and rho in 113 bits, and u of it.
static void refine_finely(ss_response *response, const double *r, double *d, double *u)
{
    const ss_problem *p = response->problem;
    fine_real *rho = response->fine, *v = rho + p->ndofs;
    for (int j = 0; j < p->ndofs; j++) {
        rho[j] = p->f[j];
        v[j] = 0.0;
    }
    add_fine_product(&p->H, 1.0, r, rho);
    for (int pass = 0; pass < FINE_PASSES; pass++) {
        for (int j = 0; j < p->ndofs; j++) {
            d[j] = (double)rho[j];
        }
        ss_mass_solve(response->mass, d, response->scratch);
        for (int j = 0; j < p->ndofs; j++) {
            v[j] += d[j];
        }
        add_fine_product(&p->M, -1.0, d, rho);
    }
    for (int c = 0; c < p->H.ncols; c++) {
        fine_real sum = p->w[c];
        for (int k = p->H.start[c]; k < p->H.start[c + 1]; k++) {
            sum += p->H.x[k] * v[p->H.row[k]];
        }
        u[c] = (double)sum;
    }
    for (int j = 0; j < p->ndofs; j++) {
        response->exact[j] = (long double)v[j];
    }
}

// u = H' v + w, rounded once.
static void contact_velocities(const ss_problem *p, const long double *v, double *u)
{
    for (int c = 0; c < p->H.ncols; c++) {
        long double sum = p->w[c];
        for (int k = p->H.start[c]; k < p->H.start[c + 1]; k++) {
            sum += p->H.x[k] * v[p->H.row[k]];
        }
        u[c] = (double)sum;
    }
}

// u = W r + b, rounded once.
static void local_velocities(const ss_response *response, const double *r, double *u)
{
    const ss_problem *p = response->problem;
    const int size = p->dim * p->ncontacts;
    for (int c = 0; c < size; c++) {
        response->load[c] = p->b[c];
    }
    add_exact_product(&p->W, 1.0, r, response->load);
    for (int c = 0; c < size; c++) {
        u[c] = (double)response->load[c];
    }
}

void ss_response_velocity(ss_response *response, const double *r, double *u, double *v)
{
    const ss_problem *p = response->problem;
    if (p->form == SS_LOCAL) {
        local_velocities(response, r, u);
        return;
    }
    for (int j = 0; j < p->ndofs; j++) {
        response->load[j] = p->f[j];
    }
    add_exact_product(&p->H, 1.0, r, response->load);
    double *motion = v != NULL ? v : response->motion;
    const double uncertain = refine_motion(response, motion);
    contact_velocities(p, response->exact, u);
    const double scale = response->fastest > 0.0 ? response->fastest : largest_of(u, p->H.ncols);
    if (!(uncertain <= UNCERTAIN * scale)) {
        refine_finely(response, r, motion, u);
    }
    for (int j = 0; j < p->ndofs; j++) {
        motion[j] = (double)response->exact[j];
    }
}

ss_measures ss_response_judge(ss_response *response, const double *r, double *u)
{
    const ss_problem *p = response->problem;
    ss_response_velocity(response, r, u, NULL);
    return ss_measure(p->dim, p->ncontacts, response->compliance, response->b, p->mu, r, u);
}

static ss_status prepare_global(ss_response *response, ss_error *e)
{
    const ss_problem *p = response->problem;
    const ss_status status = ss_mass_new(p, &response->mass, e);
    if (status != SS_OK) {
        return status;
    }
    response->motion = malloc((size_t)p->ndofs * sizeof *response->motion);
    response->scratch = malloc((size_t)p->ndofs * sizeof *response->scratch);
    response->exact = malloc((size_t)p->ndofs * sizeof *response->exact);
    response->fine = malloc(2 * (size_t)p->ndofs * sizeof(fine_real));
    if (response->motion == NULL || response->scratch == NULL || response->exact == NULL ||
        response->fine == NULL || !trace_global(response, response->compliance)) {
        return ss_fail_memory(e, "the judge");
    }
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
    ss_response_velocity(response, zero, response->b, NULL);
    response->fastest = largest_of(response->b, p->dim * p->ncontacts);
    free(zero);
    return SS_OK;
}

ss_status ss_response_new(const ss_problem *p, ss_response **response, ss_error *e)
{
    *response = NULL;
    ss_response *made = calloc(1, sizeof *made);
    if (made == NULL) {
        return ss_fail_memory(e, "the judge");
    }
    made->problem = p;
    made->b = malloc((size_t)p->dim * (size_t)p->ncontacts * sizeof *made->b);
    made->compliance = calloc((size_t)p->ncontacts, sizeof *made->compliance);
    const size_t rows = p->form == SS_GLOBAL ? (size_t)p->ndofs : (size_t)(p->dim * p->ncontacts);
    made->load = malloc((rows + 1) * sizeof *made->load);
    ss_status status = made->b != NULL && made->compliance != NULL && made->load != NULL
                           ? SS_OK
                           : ss_fail_memory(e, "the judge");
    if (status == SS_OK && p->form == SS_GLOBAL) {
        status = prepare_global(made, e);
    } else if (status == SS_OK) {
        trace_local(p, made->compliance);
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
