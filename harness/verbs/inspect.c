// stickslip inspect: what a problem is, in a row.
#include <float.h>
#include <lapacke.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli.h"
#include "harness/run.h"
#include "problems/matrix/delassus.h"

// The singular values of a W of this size take about half a second.
#define LARGEST_RANKED 1200

// Characters of a checksum in a table for people.
#define SHORT_SHA 12

static const char VERB[] = "inspect";

static const ss_column COLUMNS[] = {
    {.key = "problem", .kind = SS_COLUMN_TEXT},
    {.key = "form", .kind = SS_COLUMN_TEXT},
    {.key = "contacts", .kind = SS_COLUMN_INTEGER},
    {.key = "dim", .kind = SS_COLUMN_INTEGER},
    {.key = "dofs", .kind = SS_COLUMN_INTEGER},
    {.key = "bodies", .kind = SS_COLUMN_INTEGER},
    {.key = "blocks", .kind = SS_COLUMN_INTEGER},
    {.key = "blocks_per_row", .kind = SS_COLUMN_REAL},
    {.key = "mu_min", .kind = SS_COLUMN_REAL},
    {.key = "mu_max", .kind = SS_COLUMN_REAL},
    {.key = "rank", .kind = SS_COLUMN_INTEGER},
    {.key = "size", .kind = SS_COLUMN_INTEGER},
    {.key = "unsymmetry", .kind = SS_COLUMN_REAL},
    {.key = "guesses", .kind = SS_COLUMN_INTEGER},
    {.key = "solution", .kind = SS_COLUMN_TEXT},
    {.key = "scene", .kind = SS_COLUMN_TEXT},
    {.key = "seed", .kind = SS_COLUMN_INTEGER},
    {.key = "step", .kind = SS_COLUMN_INTEGER},
    {.key = "sha256", .kind = SS_COLUMN_TEXT},
    {.key = NULL},
};

typedef struct facts {
    int bodies;    // -1 in local form
    size_t blocks; // of W
    int rank;      // -1 if it was not computed
    double unsymmetry;
} facts;

// W as a full matrix, by rows: the singular values are those of W' by columns.
static void scatter(const ss_blocks *W, double *full)
{
    const size_t d = (size_t)W->dim;
    const size_t size = d * (size_t)W->n;
    for (size_t i = 0; i < (size_t)W->n; i++) {
        for (size_t k = W->start[i]; k < W->start[i + 1]; k++) {
            for (size_t a = 0; a < d; a++) {
                memcpy(full + (d * i + a) * size + d * (size_t)W->col[k], W->x + (k * d + a) * d,
                       d * sizeof *full);
            }
        }
    }
}

// The number of singular values above size eps sigma_max; -1 if they cannot be had.
static int count_singular_values(double *full, double *sigma, int size)
{
    double unused[1];
    if (!ss_all_finite(full, (size_t)size * (size_t)size)) {
        return -1; // LAPACK would make a number of it
    }
    if (LAPACKE_dgesdd(LAPACK_COL_MAJOR, 'N', size, size, full, size, sigma, unused, 1, unused,
                       1) != 0) {
        return -1;
    }
    int rank = 0;
    for (int k = 0; k < size; k++) {
        rank += sigma[k] > size * DBL_EPSILON * sigma[0];
    }
    return rank;
}

static ss_status rank_of(const ss_blocks *W, int *rank, ss_error *e)
{
    const size_t size = (size_t)W->dim * (size_t)W->n;
    double *full = calloc(size * size, sizeof *full);
    double *sigma = calloc(size, sizeof *sigma);
    ss_status status = SS_OK;
    if (full == NULL || sigma == NULL) {
        status = ss_fail_memory(e, "the singular values of W");
    } else {
        scatter(W, full);
        *rank = count_singular_values(full, sigma, (int)size);
    }
    free(full);
    free(sigma);
    return status;
}

static bool is_ranked(const ss_problem *p)
{
    return (long)p->dim * p->ncontacts <= LARGEST_RANKED;
}

// W of a large problem in global form is not made: its blocks are counted, and it is symmetric.
static ss_status find_global_facts(const ss_problem *p, facts *f, ss_error *e)
{
    ss_whitened *white = NULL;
    ss_blocks W = {0};
    ss_status status = ss_whitened_new(p, &white, e);
    if (status == SS_OK) {
        f->bodies = white->nbodies;
        status = ss_blocks_count(white, &f->blocks, e);
    }
    if (status == SS_OK && is_ranked(p)) {
        status = ss_blocks_assemble(white, NULL, &W, e);
        if (status == SS_OK) {
            status = rank_of(&W, &f->rank, e);
        }
    }
    ss_blocks_free(&W);
    ss_whitened_free(white);
    return status;
}

static ss_status find_local_facts(const ss_problem *p, facts *f, ss_error *e)
{
    ss_blocks W = {0};
    ss_status status = ss_sparse_find_unsymmetry(&p->W, &f->unsymmetry, e);
    if (status == SS_OK) {
        status = ss_blocks_from_sparse(&p->W, p->dim, &W, e);
    }
    if (status == SS_OK) {
        f->blocks = W.start[W.n];
        status = is_ranked(p) ? rank_of(&W, &f->rank, e) : SS_OK;
    }
    ss_blocks_free(&W);
    return status;
}

static ss_status find_facts(const ss_problem *p, facts *f, ss_error *e)
{
    *f = (facts){.bodies = -1, .rank = -1};
    return p->form == SS_GLOBAL ? find_global_facts(p, f, e) : find_local_facts(p, f, e);
}

static void integer_or_missing(ss_table *rows, bool known, long long value)
{
    if (known) {
        ss_table_integer(rows, value);
    } else {
        ss_table_missing(rows);
    }
}

static void add_sizes(ss_table *rows, const ss_problem *p, const facts *f)
{
    double low = p->mu[0];
    double high = p->mu[0];
    for (int i = 1; i < p->ncontacts; i++) {
        low = fmin(low, p->mu[i]);
        high = fmax(high, p->mu[i]);
    }
    ss_table_text(rows, p->form == SS_LOCAL ? "local" : "global");
    ss_table_integer(rows, p->ncontacts);
    ss_table_integer(rows, p->dim);
    integer_or_missing(rows, p->form == SS_GLOBAL, p->ndofs);
    integer_or_missing(rows, f->bodies >= 0, f->bodies);
    ss_table_unsigned(rows, f->blocks);
    ss_table_real(rows, (double)f->blocks / p->ncontacts);
    ss_table_real(rows, low);
    ss_table_real(rows, high);
    integer_or_missing(rows, f->rank >= 0, f->rank);
    ss_table_integer(rows, (long long)p->dim * p->ncontacts);
    ss_table_real(rows, f->unsymmetry);
}

// Returns the number of guesses that can be used.
static int count_guesses(const ss_problem *p)
{
    int count = 0;
    for (int k = 0; k < p->nguesses; k++) {
        count += p->guesses[k].r != NULL;
    }
    return count;
}

static void add_origin(ss_table *rows, const ss_problem *p, ss_format format)
{
    const ss_provenance *from = &p->provenance;
    const char *solver = p->claim.solver[0] != '\0' ? p->claim.solver : "unnamed";
    char sha[65];
    ss_problem_sha256(p, sha);
    if (format == SS_FORMAT_TEXT) {
        sha[SHORT_SHA] = '\0';
    }
    ss_table_integer(rows, count_guesses(p));
    ss_table_text(rows, p->has_solution ? solver : NULL);
    ss_table_text(rows, from->scene);
    if (from->has_seed) {
        ss_table_unsigned(rows, from->seed);
    } else {
        ss_table_missing(rows);
    }
    integer_or_missing(rows, from->step >= 0, from->step);
    ss_table_text(rows, sha);
}

static int inspect(ss_table *rows, ss_format format, const ss_item *item)
{
    const int code = ss_item_complain(VERB, item);
    if (code != SS_EXIT_OK) {
        return code;
    }
    facts f;
    ss_error error;
    const ss_status status = find_facts(item->problem, &f, &error);
    if (status != SS_OK) {
        ss_complain(VERB, "%s: %s", item->label, error.text);
        return (int)status;
    }
    ss_table_text(rows, item->label);
    add_sizes(rows, item->problem, &f);
    add_origin(rows, item->problem, format);
    return SS_EXIT_OK;
}

static int run_inspect(const void *settings, const ss_operands *files)
{
    const ss_table_settings *s = settings;
    int code;
    ss_table *rows = ss_table_begin(&ss_verb_inspect, &s->style, COLUMNS, &code);
    if (rows == NULL) {
        return code;
    }
    ss_items it = ss_items_of(VERB, files->count, files->text, NULL);
    for (ss_item item; ss_items_next(&it, &item);) {
        code = ss_larger_code(code, inspect(rows, (ss_format)s->style.format, &item));
    }
    code = ss_larger_code(code, ss_items_end(&it));
    return ss_table_end(&ss_verb_inspect, rows, code);
}

const ss_verb ss_verb_inspect = {
    .name = VERB,
    .summary = "Describes each problem of each file in a row.",
    .operands = "FILE...",
    .min_operands = 1,
    .max_operands = INT_MAX,
    .needs = "at least one FILE",
    .options = ss_table_options,
    .settings_size = sizeof(ss_table_settings),
    .text = "blocks counts the nonzero dim x dim blocks of W; rank is W's, if dim*contacts is at "
            "most 1200: the number of singular values above size * 2.2e-16 * the largest; "
            "unsymmetry is max|W - W'| / max|W|; guesses counts the stored starts; solution names "
            "the solver of a stored answer; sha256 is over sizes and arrays, and does not depend "
            "on the file's layout. The text format omits columns without values and cuts sha256 "
            "to 12 digits.\n",
    .example = "  stickslip inspect hair.h5 --format csv\n",
    .exits = {[SS_EXIT_BAD_INPUT] = "a file is unusable"},
    .run = run_inspect,
};
