#include "problems/problem.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "problems/matrix/delassus.h"

// ---- Making and freeing

ss_provenance ss_provenance_unknown(void)
{
    return (ss_provenance){.step = -1, .time = NAN, .dt = NAN};
}

const ss_field ss_claim_fields[] = {
    SS_FIELD(ss_claim, solver, SS_FIELD_TEXT, .unit = NULL),
    SS_FIELD(ss_claim, tolerance, SS_FIELD_REAL, .unit = "1"),
    SS_FIELD(ss_claim, measures, SS_FIELD_PART, .part = ss_measure_fields),
    SS_FIELD(ss_claim, date, SS_FIELD_TEXT, .unit = NULL),
    SS_FIELD(ss_claim, host, SS_FIELD_TEXT, .unit = NULL),
    {.name = NULL},
};

ss_claim ss_claim_unknown(void)
{
    ss_claim claim = {0};
    ss_fields_blank(ss_claim_fields, &claim);
    return claim;
}

ss_problem *ss_problem_new(void)
{
    ss_problem *p = calloc(1, sizeof *p);
    if (p != NULL) {
        p->provenance = ss_provenance_unknown();
        p->claim = ss_claim_unknown();
    }
    return p;
}

void ss_state_free(ss_state *s)
{
    if (s == NULL) {
        return;
    }
    free(s->r);
    free(s->u);
    free(s->v);
    *s = (ss_state){0};
}

void ss_problem_free(ss_problem *p)
{
    if (p == NULL) {
        return;
    }
    free(p->mu);
    ss_sparse_free(&p->W);
    free(p->b);
    ss_sparse_free(&p->M);
    ss_sparse_free(&p->H);
    free(p->f);
    free(p->w);
    for (int k = 0; p->guesses != NULL && k < p->nguesses; k++) {
        ss_state_free(&p->guesses[k]);
    }
    free(p->guesses);
    ss_state_free(&p->solution);
    free(p->title);
    free(p->description);
    free(p->math_info);
    free(p);
}

// ---- Sizes

static ss_status check_array(const double *x, const char *name, ss_error *e)
{
    return x != NULL ? SS_OK : ss_fail(e, SS_BAD_INPUT, "the problem has no %s", name);
}

static ss_status check_matrix(const ss_sparse *A, const char *name, int nrows, int ncols,
                              ss_error *e)
{
    if (A->start == NULL || (ss_sparse_count(A) > 0 && (A->row == NULL || A->x == NULL))) {
        return ss_fail(e, SS_BAD_INPUT, "the problem has no %s", name);
    }
    if (A->nrows != nrows || A->ncols != ncols) {
        return ss_fail(e, SS_BAD_INPUT, "%s is %d x %d instead of %d x %d", name, A->nrows,
                       A->ncols, nrows, ncols);
    }
    return SS_OK;
}

static ss_status check_local(const ss_problem *p, int size, ss_error *e)
{
    const ss_status status = check_matrix(&p->W, "W", size, size, e);
    return status == SS_OK ? check_array(p->b, "b", e) : status;
}

static ss_status check_global(const ss_problem *p, int size, ss_error *e)
{
    if (p->ndofs < 1) {
        return ss_fail(e, SS_BAD_INPUT, "a problem in global form has %d degrees of freedom",
                       p->ndofs);
    }
    ss_status status = check_matrix(&p->M, "M", p->ndofs, p->ndofs, e);
    status = status == SS_OK ? check_matrix(&p->H, "H", p->ndofs, size, e) : status;
    status = status == SS_OK ? check_array(p->f, "f", e) : status;
    return status == SS_OK ? check_array(p->w, "w", e) : status;
}

ss_status ss_problem_check_sizes(const ss_problem *p, ss_error *e)
{
    if (p == NULL) {
        return ss_fail(e, SS_BAD_INPUT, "there is no problem");
    }
    if (p->dim != 2 && p->dim != 3) {
        return ss_fail(e, SS_BAD_INPUT, "a problem has 2 or 3 dimensions, not %d", p->dim);
    }
    if (p->ncontacts < 1 || p->ncontacts > INT_MAX / p->dim) {
        return ss_fail(e, SS_BAD_INPUT, "a problem has 1 to %d contacts, not %d", INT_MAX / p->dim,
                       p->ncontacts);
    }
    if (p->nguesses < 0 || (p->nguesses > 0 && p->guesses == NULL)) {
        return ss_fail(e, SS_BAD_INPUT, "the problem has %d guesses that are not there",
                       p->nguesses);
    }
    const int size = p->dim * p->ncontacts;
    const ss_status status = check_array(p->mu, "mu", e);
    return status != SS_OK        ? status
           : p->form == SS_GLOBAL ? check_global(p, size, e)
                                  : check_local(p, size, e);
}

// ---- Copies, in the same and in local form

// Returns a copy of n values; *ok turns false without memory. NULL stays NULL.
static double *copy_values(const double *x, size_t n, bool *ok)
{
    if (x == NULL) {
        return NULL;
    }
    double *copy = malloc((n + 1) * sizeof *copy);
    if (copy == NULL) {
        *ok = false;
        return NULL;
    }
    memcpy(copy, x, n * sizeof *copy);
    return copy;
}

static char *copy_text(const char *text, bool *ok)
{
    if (text == NULL) {
        return NULL;
    }
    char *copy = malloc(strlen(text) + 1);
    if (copy == NULL) {
        *ok = false;
        return NULL;
    }
    return strcpy(copy, text);
}

// With ndofs 0 the copy is without v, as a problem in local form has no dofs.
static ss_state copy_state(const ss_state *s, size_t n, size_t ndofs, bool *ok)
{
    return (ss_state){.r = copy_values(s->r, n, ok),
                      .u = copy_values(s->u, n, ok),
                      .v = ndofs > 0 ? copy_values(s->v, ndofs, ok) : NULL};
}

// Copies everything but the matrices and the right-hand sides, for a problem in this form.
static ss_problem *copy_frame(const ss_problem *p, ss_form form)
{
    ss_problem *copy = ss_problem_new();
    if (copy == NULL) {
        return NULL;
    }
    bool ok = true;
    const size_t n = (size_t)p->dim * (size_t)p->ncontacts;
    const size_t ndofs = form == SS_GLOBAL ? (size_t)p->ndofs : 0;
    copy->form = form;
    copy->dim = p->dim;
    copy->ncontacts = p->ncontacts;
    copy->ndofs = (int)ndofs;
    copy->mu = copy_values(p->mu, (size_t)p->ncontacts, &ok);
    if (p->nguesses > 0) {
        copy->guesses = calloc((size_t)p->nguesses, sizeof *copy->guesses);
        ok = ok && copy->guesses != NULL;
        copy->nguesses = copy->guesses != NULL ? p->nguesses : 0;
    }
    for (int k = 0; k < copy->nguesses; k++) {
        copy->guesses[k] = copy_state(&p->guesses[k], n, ndofs, &ok);
    }
    copy->has_solution = p->has_solution;
    copy->solution = copy_state(&p->solution, n, ndofs, &ok);
    copy->claim = p->claim;
    copy->provenance = p->provenance;
    copy->title = copy_text(p->title, &ok);
    copy->description = copy_text(p->description, &ok);
    copy->math_info = copy_text(p->math_info, &ok);
    if (!ok) {
        ss_problem_free(copy);
        return NULL;
    }
    return copy;
}

static ss_status copy_sparse(const ss_sparse *A, ss_sparse *copy, ss_error *e)
{
    ss_sparse transposed = {0};
    ss_status status = ss_sparse_transpose(A, &transposed, e);
    if (status == SS_OK) {
        status = ss_sparse_transpose(&transposed, copy, e);
    }
    ss_sparse_free(&transposed);
    return status;
}

static ss_status copy_sides(const ss_problem *p, ss_problem *copy, ss_error *e)
{
    bool ok = true;
    const size_t n = (size_t)p->dim * (size_t)p->ncontacts;
    copy->b = copy_values(p->b, n, &ok);
    copy->f = copy_values(p->f, (size_t)p->ndofs, &ok);
    copy->w = copy_values(p->w, n, &ok);
    if (!ok) {
        return ss_fail_memory(e, "a copy of a problem");
    }
    if (p->form == SS_LOCAL) {
        return copy_sparse(&p->W, &copy->W, e);
    }
    const ss_status status = copy_sparse(&p->M, &copy->M, e);
    return status == SS_OK ? copy_sparse(&p->H, &copy->H, e) : status;
}

ss_status ss_problem_copy(const ss_problem *p, ss_problem **copy, ss_error *e)
{
    *copy = NULL;
    const ss_status sizes = ss_problem_check_sizes(p, e);
    if (sizes != SS_OK) {
        return sizes;
    }
    ss_problem *made = copy_frame(p, p->form);
    if (made == NULL) {
        return ss_fail_memory(e, "a copy of a problem");
    }
    const ss_status status = copy_sides(p, made, e);
    if (status != SS_OK) {
        ss_problem_free(made);
        return status;
    }
    *copy = made;
    return SS_OK;
}

// Checks W and b. M and H may be finite and their W not: H' M^-1 H squares H.
static ss_status check_finite_local(const ss_problem *local, ss_error *e)
{
    for (int j = 0; j < local->W.ncols; j++) {
        if (!isfinite(local->b[j])) {
            return ss_fail(e, SS_BAD_INPUT, "b = H' M^-1 f + w is %g in row %d", local->b[j], j);
        }
        for (int k = local->W.start[j]; k < local->W.start[j + 1]; k++) {
            if (!isfinite(local->W.x[k])) {
                return ss_fail(e, SS_BAD_INPUT, "W = H' M^-1 H is %g at row %d, column %d",
                               local->W.x[k], local->W.row[k], j);
            }
        }
    }
    return SS_OK;
}

// Fills in W and b of a problem in either form.
static ss_status fill_local(const ss_problem *p, ss_problem *local, ss_error *e)
{
    bool ok = true;
    const size_t n = (size_t)p->dim * (size_t)p->ncontacts;
    if (p->form == SS_LOCAL) {
        return copy_sides(p, local, e);
    }
    ss_whitened *white = NULL;
    ss_blocks W = {0};
    ss_status status = ss_whitened_new(p, &white, e);
    if (status == SS_OK) {
        status = ss_blocks_assemble(white, NULL, &W, e);
    }
    if (status == SS_OK) {
        status = ss_blocks_to_sparse(&W, &local->W, e);
    }
    if (status == SS_OK) {
        local->b = copy_values(white->b, n, &ok);
        status =
            ok ? check_finite_local(local, e) : ss_fail_memory(e, "the local form of a problem");
    }
    ss_blocks_free(&W);
    ss_whitened_free(white);
    return status;
}

ss_status ss_problem_to_local(const ss_problem *p, ss_problem **local, ss_error *e)
{
    *local = NULL;
    const ss_status sizes = ss_problem_check_sizes(p, e);
    if (sizes != SS_OK) {
        return sizes;
    }
    ss_problem *copy = copy_frame(p, SS_LOCAL);
    if (copy == NULL) {
        return ss_fail_memory(e, "the local form of a problem");
    }
    const ss_status status = fill_local(p, copy, e);
    if (status != SS_OK) {
        ss_problem_free(copy);
        return status;
    }
    *local = copy;
    return SS_OK;
}

// ---- The checksum that names a problem
//
// SHA-256 over the text "stickslip problem 1\n" and then a row of words of eight bytes, least
// significant first:
//
//     form (0 local, 1 global), dim, ncontacts, ndofs, mu
//     local form:     W.start, W.row, W.x, b
//     global form:    M.start, M.row, M.x, H.start, H.row, H.x, f, w
//
// An integer is a word in two's complement, a number the bits of its IEEE 754 double as they are,
// so that 0 and -0 differ. Sizes come first and `start` tells how many entries follow, so two
// problems cannot give the same words. Neither the layout of a file nor the machine plays a part.

static void put_word(ss_sha256 *hash, uint64_t word)
{
    uint8_t bytes[8];
    for (int k = 0; k < 8; k++) {
        bytes[k] = (uint8_t)(word >> (8 * k));
    }
    ss_sha256_update(hash, bytes, sizeof bytes);
}

static void put_integer(ss_sha256 *hash, int value)
{
    put_word(hash, (uint64_t)(int64_t)value);
}

static void put_integers(ss_sha256 *hash, const int *values, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        put_integer(hash, values[k]);
    }
}

static void put_numbers(ss_sha256 *hash, const double *values, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        uint64_t bits;
        memcpy(&bits, &values[k], sizeof bits);
        put_word(hash, bits);
    }
}

static void put_matrix(ss_sha256 *hash, const ss_sparse *A)
{
    const size_t count = (size_t)ss_sparse_count(A);
    put_integers(hash, A->start, (size_t)A->ncols + 1);
    put_integers(hash, A->row, count);
    put_numbers(hash, A->x, count);
}

void ss_problem_sha256(const ss_problem *p, char hex[65])
{
    static const char HEADER[] = "stickslip problem 1\n";
    hex[0] = '\0';
    if (ss_problem_check_sizes(p, NULL) != SS_OK) {
        return;
    }
    const size_t contacts = (size_t)p->ncontacts;
    const size_t components = (size_t)p->dim * contacts;
    ss_sha256 hash;
    ss_sha256_init(&hash);
    ss_sha256_update(&hash, HEADER, strlen(HEADER));
    put_integer(&hash, p->form == SS_GLOBAL ? 1 : 0);
    put_integer(&hash, p->dim);
    put_integer(&hash, p->ncontacts);
    put_integer(&hash, p->ndofs);
    put_numbers(&hash, p->mu, contacts);
    if (p->form == SS_GLOBAL) {
        put_matrix(&hash, &p->M);
        put_matrix(&hash, &p->H);
        put_numbers(&hash, p->f, (size_t)p->ndofs);
        put_numbers(&hash, p->w, components);
    } else {
        put_matrix(&hash, &p->W);
        put_numbers(&hash, p->b, components);
    }
    ss_sha256_hex(&hash, SS_SHA256_BYTES, hex);
}
