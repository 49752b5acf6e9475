#include "problems/check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "problems/matrix/mass.h"

// M of public files is unsymmetric by 1e-7 of its largest entry (single precision somewhere on its
// way); more than this is another matrix, not rounding.
#define M_UNSYMMETRY_MAX 1e-5
// Above the rounding of W = H' M^-1 H, below any gyroscopic term.
#define W_UNSYMMETRY_TOLD 1e-12

// Friction from here on limits an answer by eps mu |u_T|: 1e-10 of the velocity scale at 1e6.
#define LARGE_FRICTION 1e6

// ---- The report

void ss_report_free(ss_report *report)
{
    if (report == NULL) {
        return;
    }
    free(report->findings);
    *report = (ss_report){0};
}

void ss_report_add(ss_report *report, ss_severity severity, const char *format, ...)
{
    if (report == NULL) {
        return;
    }
    report->ndefects += severity == SS_DEFECT;
    if (report->count == report->capacity) {
        const int capacity = 2 * report->capacity + 8;
        ss_finding *findings =
            realloc(report->findings, (size_t)capacity * sizeof *report->findings);
        if (findings == NULL) {
            report->out_of_memory = true;
            return;
        }
        report->findings = findings;
        report->capacity = capacity;
    }
    ss_finding *finding = &report->findings[report->count++];
    finding->severity = severity;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->text, sizeof finding->text, format, arguments);
    va_end(arguments);
}

const char *ss_report_first_defect(const ss_report *report)
{
    for (int k = 0; report != NULL && k < report->count; k++) {
        if (report->findings[k].severity == SS_DEFECT) {
            return report->findings[k].text;
        }
    }
    return NULL;
}

// ---- Values

// Returns " (3 such entries)" if there are several, else "".
static const char *count_text(int count, char text[48])
{
    text[0] = '\0';
    if (count > 1) {
        snprintf(text, 48, " (%d such entries)", count);
    }
    return text;
}

// True if all are finite; false with a sentence, which ends with `then`.
static bool is_finite(ss_report *report, ss_severity severity, const char *path, const double *x,
                      int count, const char *then)
{
    int first = -1, wrong = 0;
    for (int k = 0; x != NULL && k < count; k++) {
        if (!isfinite(x[k])) {
            first = wrong == 0 ? k : first;
            wrong++;
        }
    }
    if (wrong > 0) {
        char others[48];
        ss_report_add(report, severity, "%s[%d] is %g%s%s", path, first, x[first],
                      count_text(wrong, others), then);
    }
    return wrong == 0;
}

static void values_check_finite(ss_report *report, const char *path, const double *x, int count)
{
    (void)is_finite(report, SS_DEFECT, path, x, count, "");
}

static void remark_large_friction(ss_report *report, const char *path, const double *mu, int count)
{
    int first = -1, large = 0;
    for (int k = 0; k < count; k++) {
        if (mu[k] >= LARGE_FRICTION && isfinite(mu[k])) {
            first = large == 0 ? k : first;
            large++;
        }
    }
    if (large > 0) {
        char others[48];
        ss_report_add(
            report, SS_REMARK,
            "%s[%d] is %g%s: with friction of %g or more, no tolerance below the rounding "
            "of mu |u_T| can be reached",
            path, first, mu[first], count_text(large, others), LARGE_FRICTION);
    }
}

static void check_friction(ss_report *report, const char *path, const double *mu, int count)
{
    int first = -1, wrong = 0;
    values_check_finite(report, path, mu, count);
    for (int k = 0; k < count; k++) {
        if (mu[k] < 0.0) {
            first = wrong == 0 ? k : first;
            wrong++;
        }
    }
    if (wrong > 0) {
        char others[48];
        ss_report_add(report, SS_DEFECT, "%s[%d] is negative (%g)%s", path, first, mu[first],
                      count_text(wrong, others));
    }
    remark_large_friction(report, path, mu, count);
}

// Reports an entry by row and column: the order of the entries here is not the file's.
static bool check_finite_matrix(ss_report *report, const char *path, const ss_sparse *A)
{
    int wrong = 0, row = -1, col = -1;
    double first = 0.0;
    for (int j = 0; j < A->ncols; j++) {
        for (int k = A->start[j]; k < A->start[j + 1]; k++) {
            if (!isfinite(A->x[k]) && wrong++ == 0) {
                row = A->row[k];
                col = j;
                first = A->x[k];
            }
        }
    }
    if (wrong > 0) {
        char others[48];
        ss_report_add(report, SS_DEFECT, "%s/x is %g at row %d, column %d%s", path, first, row, col,
                      count_text(wrong, others));
    }
    return wrong == 0;
}

// Looks at a guess or an answer; a remark for each vector that is not finite.
static bool state_is_finite(ss_report *report, const ss_problem *p, const char *group,
                            const ss_state *s, const char *then)
{
    const double *const vectors[] = {s->r, s->u, s->v};
    const int counts[] = {p->dim * p->ncontacts, p->dim * p->ncontacts, p->ndofs};
    bool finite = true;
    for (int k = 0; k < 3; k++) {
        char path[48];
        snprintf(path, sizeof path, "%s/%c", group, "ruv"[k]);
        finite = is_finite(report, SS_REMARK, path, vectors[k], counts[k], then) && finite;
    }
    return finite;
}

// Empties guesses and answers with a number that is not finite: a problem can be solved without.
static void check_states(ss_problem *p, ss_report *report)
{
    for (int k = 0; k < p->nguesses; k++) {
        char group[32];
        snprintf(group, sizeof group, "/guesses/%d", k + 1);
        if (!state_is_finite(report, p, group, &p->guesses[k], "; the guess is left out")) {
            ss_state_free(&p->guesses[k]);
        }
    }
    if (p->has_solution &&
        !state_is_finite(report, p, "/solution", &p->solution, "; the answer is left out")) {
        ss_state_free(&p->solution);
        p->has_solution = false;
        p->claim = ss_claim_unknown();
    }
}

// ---- Matrices

// Returns W_jj, and whether component j moves any other.
static double diagonal_of(const ss_sparse *W, int j, bool *moves_others)
{
    double diagonal = 0.0;
    *moves_others = false;
    for (int k = W->start[j]; k < W->start[j + 1]; k++) {
        if (W->row[k] == j) {
            diagonal += W->x[k];
        } else {
            *moves_others |= W->x[k] != 0.0;
        }
    }
    return diagonal;
}

// A negative entry is an impulse that pulls its own contact closer, a zero beside other entries one
// that moves every contact but its own. No mass does either, but the law can still be posed.
static void remark_strange_diagonal(const ss_problem *p, ss_report *report)
{
    for (int j = 0; j < p->W.ncols; j++) {
        bool moves_others;
        const double diagonal = diagonal_of(&p->W, j, &moves_others);
        if (diagonal < 0.0) {
            ss_report_add(report, SS_REMARK,
                          "/fclib_local/W has a negative diagonal entry (%g in column %d)",
                          diagonal, j);
            return;
        }
        if (diagonal == 0.0 && moves_others) {
            ss_report_add(report, SS_REMARK,
                          "/fclib_local/W has a zero on the diagonal in column %d, which has other "
                          "entries",
                          j);
            return;
        }
    }
}

static ss_status check_W(const ss_problem *p, ss_report *report, ss_error *e)
{
    if (!check_finite_matrix(report, "/fclib_local/W", &p->W)) {
        return SS_OK;
    }
    double unsymmetry;
    if (ss_sparse_find_unsymmetry(&p->W, &unsymmetry, e) != SS_OK) {
        return SS_SYSTEM;
    }
    if (unsymmetry > W_UNSYMMETRY_TOLD) {
        ss_report_add(report, SS_REMARK,
                      "/fclib_local/W is unsymmetric by %.3g %% of its largest entry",
                      100.0 * unsymmetry);
    }
    remark_strange_diagonal(p, report);
    return SS_OK;
}

static bool same_pattern(const ss_sparse *A, const ss_sparse *B)
{
    for (int j = 0; j <= A->ncols; j++) {
        if (A->start[j] != B->start[j]) {
            return false;
        }
    }
    for (int k = 0; k < ss_sparse_count(A); k++) {
        if (A->row[k] != B->row[k]) {
            return false;
        }
    }
    return true;
}

// Puts half of each entry of A as triplets from place `at` on.
static void put_half(const ss_sparse *A, int at, int *row, int *col, double *x)
{
    for (int j = 0; j < A->ncols; j++) {
        for (int k = A->start[j]; k < A->start[j + 1]; k++) {
            row[at + k] = A->row[k];
            col[at + k] = j;
            x[at + k] = 0.5 * A->x[k];
        }
    }
}

// A <- (A + A') / 2, in values and pattern.
static ss_status symmetrise(ss_sparse *A, const ss_sparse *transposed, ss_error *e)
{
    const int count = ss_sparse_count(A);
    const size_t room = 2 * (size_t)count + 1;
    int *row = malloc(room * sizeof *row);
    int *col = malloc(room * sizeof *col);
    double *x = malloc(room * sizeof *x);
    ss_sparse mean = {0};
    ss_status status = SS_SYSTEM;
    if (row == NULL || col == NULL || x == NULL || count > INT32_MAX / 2) {
        ss_fail_memory(e, "a symmetric matrix");
    } else {
        put_half(A, 0, row, col, x);
        put_half(transposed, count, row, col, x);
        status = ss_sparse_from_triplets(&mean, A->nrows, A->ncols, 2 * count, row, col, x, e);
    }
    if (status == SS_OK) {
        ss_sparse_free(A);
        *A = mean;
    }
    free(row);
    free(col);
    free(x);
    return status;
}

static ss_status check_symmetry(ss_sparse *M, ss_report *report, ss_error *e)
{
    bool symmetric;
    ss_sparse transposed = {0};
    ss_status status = ss_sparse_find_symmetric(M, &symmetric, e);
    if (status != SS_OK || symmetric) {
        return status;
    }
    status = ss_sparse_transpose(M, &transposed, e);
    if (status != SS_OK) {
        return status;
    }
    const double unsymmetry = ss_sparse_unsymmetry(M, &transposed);
    if (!(unsymmetry <= M_UNSYMMETRY_MAX)) {
        ss_report_add(report, SS_DEFECT,
                      "/fclib_global/M is unsymmetric by %.2g of its largest entry, more than %g",
                      unsymmetry, M_UNSYMMETRY_MAX);
    } else if (unsymmetry > 0.0 || !same_pattern(M, &transposed)) {
        status = symmetrise(M, &transposed, e);
    }
    if (unsymmetry > 0.0 && unsymmetry <= M_UNSYMMETRY_MAX) {
        ss_report_add(report, SS_REMARK,
                      "/fclib_global/M is unsymmetric by %.2g of its largest entry; (M + M')/2 is "
                      "used instead",
                      unsymmetry);
    }
    ss_sparse_free(&transposed);
    return status;
}

static ss_status check_definite(const ss_problem *p, ss_report *report, ss_error *e)
{
    ss_mass *mass = NULL;
    ss_error why;
    const ss_status status = ss_mass_new(p, &mass, &why);
    ss_mass_free(mass);
    if (status == SS_BAD_INPUT) {
        ss_report_add(report, SS_DEFECT, "/fclib_global/%s", why.text);
        return SS_OK;
    }
    return status == SS_OK ? SS_OK : ss_fail(e, status, "%s", why.text);
}

static ss_status check_M(ss_problem *p, ss_report *report, ss_error *e)
{
    const int before = report->ndefects;
    check_finite_matrix(report, "/fclib_global/M", &p->M);
    ss_status status = report->ndefects == before ? check_symmetry(&p->M, report, e) : SS_OK;
    if (status == SS_OK && report->ndefects == before) {
        status = check_definite(p, report, e);
    }
    return status;
}

static ss_status check_values(ss_problem *p, ss_report *report, ss_error *e)
{
    const int before = report->ndefects;
    const int components = p->dim * p->ncontacts;
    ss_status status = SS_OK;
    if (p->form == SS_LOCAL) {
        check_friction(report, "/fclib_local/vectors/mu", p->mu, p->ncontacts);
        values_check_finite(report, "/fclib_local/vectors/q", p->b, components);
        status = check_W(p, report, e);
    } else {
        check_friction(report, "/fclib_global/vectors/mu", p->mu, p->ncontacts);
        values_check_finite(report, "/fclib_global/vectors/f", p->f, p->ndofs);
        values_check_finite(report, "/fclib_global/vectors/w", p->w, components);
        check_finite_matrix(report, "/fclib_global/H", &p->H);
        status = check_M(p, report, e);
    }
    check_states(p, report);
    if (status != SS_OK) {
        return status;
    }
    if (report->out_of_memory) {
        return ss_fail_memory(e, "a report");
    }
    return report->ndefects == before
               ? SS_OK
               : ss_fail(e, SS_BAD_INPUT, "%s", ss_report_first_defect(report));
}

ss_status ss_check_values(ss_problem *p, ss_report *report, ss_error *e)
{
    ss_report own = {0};
    ss_error why;
    ss_status status = ss_problem_check_sizes(p, &why);
    if (status == SS_OK) {
        status = check_values(p, report != NULL ? report : &own, e);
    } else {
        ss_report_add(report, SS_DEFECT, "%s", why.text);
        ss_fail(e, status, "%s", why.text);
    }
    ss_report_free(&own);
    return status;
}
