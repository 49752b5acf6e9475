#include "problems/response.h"

#include <stdlib.h>
#include <string.h>

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

// |L_k^-1 H_c|^2 on one body, whose entries of column c are `entry`, next[entry] and so on to -1; x
// is scratch.
static double body_share(const ss_response *response, int body, int entry, const int *next,
                         double *x)
{
    const ss_problem *p = response->problem;
    const ss_mass *mass = response->mass;
    const int m = ss_mass_size(mass, body);
    memset(x, 0, (size_t)m * sizeof *x);
    for (int k = entry; k >= 0; k = next[k]) {
        x[ss_mass_place(mass, p->H.row[k])] = p->H.x[k];
    }
    ss_mass_whiten(mass, body, x, 1);
    double sum = 0.0;
    for (int j = 0; j < m; j++) {
        sum += x[j] * x[j];
    }
    return sum;
}

// W_cc = |L^-1 H_c|^2, body by body. The entries of the column are chained by body first: looking
// through the column for each would be quadratic in the bodies of one contact. head[k] is the chain
// of body k, -1 before and after; next is [entries of H].
static double column_square(const ss_response *response, int c, int *head, int *next)
{
    const ss_sparse *H = &response->problem->H;
    double sum = 0.0;
    for (int k = H->start[c]; k < H->start[c + 1]; k++) {
        const int body = ss_mass_body_of(response->mass, H->row[k]);
        next[k] = head[body];
        head[body] = k;
    }
    for (int k = H->start[c]; k < H->start[c + 1]; k++) {
        const int body = ss_mass_body_of(response->mass, H->row[k]);
        if (head[body] >= 0) {
            sum += body_share(response, body, head[body], next, response->scratch);
            head[body] = -1;
        }
    }
    return sum;
}

// tr(W_ii)/d in global form.
static bool trace_global(const ss_response *response, double *compliance)
{
    const ss_problem *p = response->problem;
    const size_t nbodies = (size_t)ss_mass_bodies(response->mass);
    int *head = malloc((nbodies + 1) * sizeof *head);
    int *next = malloc(((size_t)ss_sparse_count(&p->H) + 1) * sizeof *next);
    const bool ok = head != NULL && next != NULL;
    for (size_t k = 0; ok && k < nbodies; k++) {
        head[k] = -1;
    }
    for (int c = 0; ok && c < p->H.ncols; c++) {
        compliance[c / p->dim] += column_square(response, c, head, next) / p->dim;
    }
    free(head);
    free(next);
    return ok;
}

void ss_response_velocity(ss_response *response, const double *r, double *u, double *v)
{
    const ss_problem *p = response->problem;
    const size_t components = (size_t)p->dim * (size_t)p->ncontacts;
    if (p->form == SS_LOCAL) {
        memcpy(u, p->b, components * sizeof *u);
        ss_sparse_add_product(&p->W, r, u);
        return;
    }
    double *motion = v != NULL ? v : response->motion;
    memcpy(motion, p->f, (size_t)p->ndofs * sizeof *motion);
    ss_sparse_add_product(&p->H, r, motion);
    ss_mass_solve(response->mass, motion, response->scratch);
    memcpy(u, p->w, components * sizeof *u);
    ss_sparse_add_transposed_product(&p->H, motion, u);
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
    if (response->motion == NULL || response->scratch == NULL ||
        !trace_global(response, response->compliance)) {
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
    ss_status status =
        made->b != NULL && made->compliance != NULL ? SS_OK : ss_fail_memory(e, "the judge");
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
