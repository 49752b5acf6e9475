// problems/store/write.c -- problems into an HDF5 file, in FCLIB's layout.
//
//     /fclib_local/{spacedim, W, vectors/{mu,q}, info}         b is called q there
//     /fclib_global/{spacedim, M, H, vectors/{mu,f,w}, info}
//     /guesses/{number_of_guesses, 1../{r,u,v}}    /solution/{r,u,v}    /stickslip (attributes)
//
// A matrix is a group {m, n, nz, nzmax, p, i, x}; nz = -1 says "compressed by columns". In a
// collection the same groups stand in /problems/<name>. The file is made in memory by HDF5's core
// driver and saved in one piece. No object carries its time, so that one problem is always the
// same bytes.
//
// Functions that write return false when HDF5 refused; the file in memory is then abandoned.
#include "problems/store/store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/save.h"
#include "problems/matrix/mass.h"
#include "problems/store/h5_write.h"
#include "version.h"

// ---- The sizes of a problem's bodies, in few numbers

// Collects runs of equal sizes. Only the first dof of a body has a size.
static int collect_runs(int ndofs, const int *size, int limit, int *runs)
{
    int nruns = 0;
    for (int j = 0; j < ndofs; j++) {
        if (size[j] == 0) {
            continue;
        }
        if (nruns > 0 && runs[2 * nruns - 2] == size[j]) {
            runs[2 * nruns - 1]++;
        } else if (nruns == limit) {
            return 0;
        } else {
            runs[2 * nruns] = size[j];
            runs[2 * nruns + 1] = 1;
            nruns++;
        }
    }
    return nruns;
}

// Bodies are the connected components of M's pattern, here in the order of their first dofs. Runs
// of equal sizes become pairs (size, count): 30 rods of 16 dofs are the one pair (16, 30).
// runs is [2 limit]; *nruns is 0 where more than `limit` pairs would be needed. Fails without
// memory.
static ss_status body_runs(const ss_sparse *M, int limit, int *runs, int *nruns, ss_error *e)
{
    ss_assert(M->nrows == M->ncols && limit > 0);
    const size_t ndofs = (size_t)M->ncols;
    int *first = calloc(ndofs, sizeof *first);
    int *size = calloc(ndofs, sizeof *size);
    ss_status status = SS_OK;
    if (first != NULL && size != NULL) {
        ss_components(M, first);
        for (size_t j = 0; j < ndofs; j++) {
            size[first[j]]++;
        }
        *nruns = collect_runs(M->ncols, size, limit, runs);
    } else {
        status = ss_fail_memory(e, "the bodies of a problem");
    }
    free(first);
    free(size);
    return status;
}

// ---- The groups of a problem

#define FORMAT_VERSION 1
// body_sizes has at most so many pairs: an attribute holds 64 KiB at most, these take half.
#define BODY_RUNS_MAX 4096

static bool write_matrix(hid_t where, const char *name, const ss_sparse *A)
{
    const int count = ss_sparse_count(A);
    const hid_t group = ss_h5_create_group(where, name);
    const bool ok = group >= 0 && ss_h5_write_int(group, "m", A->nrows) &&
                    ss_h5_write_int(group, "n", A->ncols) && ss_h5_write_int(group, "nz", -1) &&
                    ss_h5_write_int(group, "nzmax", count) &&
                    ss_h5_write_ints(group, "p", (size_t)A->ncols + 1, A->start) &&
                    ss_h5_write_ints(group, "i", (size_t)count, A->row) &&
                    ss_h5_write_doubles(group, "x", (size_t)count, A->x);
    return ss_h5_close_group(group, ok);
}

static size_t components(const ss_problem *p)
{
    return (size_t)p->dim * (size_t)p->ncontacts;
}

static bool write_vectors(hid_t where, const ss_problem *p)
{
    const hid_t group = ss_h5_create_group(where, "vectors");
    bool ok = group >= 0 && ss_h5_write_doubles(group, "mu", (size_t)p->ncontacts, p->mu);
    if (p->form == SS_GLOBAL) {
        ok = ok && ss_h5_write_doubles(group, "f", (size_t)p->ndofs, p->f) &&
             ss_h5_write_doubles(group, "w", components(p), p->w);
    } else {
        ok = ok && ss_h5_write_doubles(group, "q", components(p), p->b);
    }
    return ss_h5_close_group(group, ok);
}

static bool write_info(hid_t where, const ss_problem *p)
{
    const hid_t group = ss_h5_create_group(where, "info");
    const bool ok = group >= 0 && ss_h5_write_text(group, "title", p->title) &&
                    ss_h5_write_text(group, "description", p->description) &&
                    ss_h5_write_text(group, "math_info", p->math_info);
    return ss_h5_close_group(group, ok);
}

static bool write_equations(hid_t where, const ss_problem *p)
{
    const bool global = p->form == SS_GLOBAL;
    const hid_t group = ss_h5_create_group(where, global ? "fclib_global" : "fclib_local");
    bool ok = group >= 0 && ss_h5_write_int(group, "spacedim", p->dim);
    if (global) {
        ok = ok && write_matrix(group, "M", &p->M) && write_matrix(group, "H", &p->H);
    } else {
        ok = ok && write_matrix(group, "W", &p->W);
    }
    ok = ok && write_vectors(group, p) && write_info(group, p);
    return ss_h5_close_group(group, ok);
}

static bool write_state(hid_t group, const ss_problem *p, const ss_state *s)
{
    return (s->r == NULL || ss_h5_write_doubles(group, "r", components(p), s->r)) &&
           (s->u == NULL || ss_h5_write_doubles(group, "u", components(p), s->u)) &&
           (s->v == NULL || ss_h5_write_doubles(group, "v", (size_t)p->ndofs, s->v));
}

static bool write_guess(hid_t where, const ss_problem *p, int k)
{
    char name[16];
    snprintf(name, sizeof name, "%d", k + 1);
    const hid_t group = ss_h5_create_group(where, name);
    return ss_h5_close_group(group, group >= 0 && write_state(group, p, &p->guesses[k]));
}

static bool write_guesses(hid_t where, const ss_problem *p)
{
    if (p->nguesses == 0) {
        return true;
    }
    const hid_t group = ss_h5_create_group(where, "guesses");
    bool ok = group >= 0 && ss_h5_write_int(group, "number_of_guesses", p->nguesses);
    for (int k = 0; ok && k < p->nguesses; k++) {
        ok = write_guess(group, p, k);
    }
    return ss_h5_close_group(group, ok);
}

// A number that is not known has no attribute, or is a NaN.
static bool put_field(hid_t group, const ss_field *field, const void *object)
{
    if (field->kind == SS_FIELD_TEXT) {
        return ss_h5_put_text(group, field->name, ss_field_text(field, object));
    }
    if (field->kind == SS_FIELD_REAL) {
        return ss_h5_put_double(group, field->name, ss_field_number(field, object));
    }
    const long long value = ss_field_integer(field, object);
    return value < 0 || ss_h5_put_int(group, field->name, (int)value);
}

static bool put_claim(hid_t group, const ss_claim *claim)
{
    ss_field field;
    bool ok = true;
    for (ss_fields walk = ss_fields_of(ss_claim_fields); ok && ss_fields_next(&walk, &field);) {
        ok = put_field(group, &field, claim);
    }
    return ok;
}

static bool write_solution(hid_t where, const ss_problem *p)
{
    if (!p->has_solution) {
        return true;
    }
    const hid_t group = ss_h5_create_group(where, "solution");
    const bool ok =
        group >= 0 && write_state(group, p, &p->solution) && put_claim(group, &p->claim);
    return ss_h5_close_group(group, ok);
}

// A problem that names no producer is said to come from this program.
static bool put_provenance(hid_t group, const ss_provenance *from)
{
    const bool ours = from->producer[0] == '\0';
    const char *commit = ours && from->commit[0] == '\0' ? SS_COMMIT : from->commit;
    return ss_h5_put_int(group, "format_version", FORMAT_VERSION) &&
           ss_h5_put_text(group, "scene", from->scene) &&
           (!from->has_seed || ss_h5_put_seed(group, "seed", from->seed)) &&
           (from->step < 0 || ss_h5_put_int(group, "step", from->step)) &&
           ss_h5_put_double(group, "time", from->time) && ss_h5_put_double(group, "dt", from->dt) &&
           ss_h5_put_text(group, "units", from->units) &&
           ss_h5_put_text(group, "frame", from->frame) &&
           ss_h5_put_text(group, "producer", ours ? "stickslip " SS_VERSION : from->producer) &&
           ss_h5_put_text(group, "commit", commit);
}

static bool write_origin(hid_t where, const ss_problem *p, int nruns, const int *runs)
{
    const hid_t group = ss_h5_create_group(where, "stickslip");
    const bool ok = group >= 0 && put_provenance(group, &p->provenance) &&
                    ss_h5_put_pairs(group, "body_sizes", nruns, runs);
    return ss_h5_close_group(group, ok);
}

static ss_status write_problem(const char *path, hid_t where, const ss_problem *p, ss_error *e)
{
    int nruns = 0;
    int *runs = malloc(2 * BODY_RUNS_MAX * sizeof *runs);
    ss_status status = SS_OK;
    if (runs == NULL) {
        status = ss_fail_memory(e, "the bodies of a problem");
    } else if (p->form == SS_GLOBAL) {
        status = body_runs(&p->M, BODY_RUNS_MAX, runs, &nruns, e);
    }
    if (status == SS_OK && !(write_equations(where, p) && write_guesses(where, p) &&
                             write_solution(where, p) && write_origin(where, p, nruns, runs))) {
        status = ss_fail(e, SS_SYSTEM, "cannot build %s in memory", path);
    }
    free(runs);
    return status;
}

// ---- Numbers that cannot be stored

static ss_status check_numbers(const char *path, size_t count, const double *x, ss_error *e)
{
    for (size_t k = 0; x != NULL && k < count; k++) {
        if (!isfinite(x[k])) {
            return ss_fail(e, SS_BAD_INPUT, "%s[%zu] is %g and cannot be stored", path, k, x[k]);
        }
    }
    return SS_OK;
}

static ss_status check_state(const ss_problem *p, const char *group, const ss_state *s, ss_error *e)
{
    const double *const vectors[] = {s->r, s->u, s->v};
    const size_t counts[] = {components(p), components(p), (size_t)p->ndofs};
    ss_status status = SS_OK;
    for (int k = 0; status == SS_OK && k < 3; k++) {
        char path[48];
        snprintf(path, sizeof path, "%s/%c", group, "ruv"[k]);
        status = check_numbers(path, counts[k], vectors[k], e);
    }
    return status;
}

static ss_status check_finite(const ss_problem *p, ss_error *e)
{
    const struct {
        const char *path;
        size_t count;
        const double *x;
    } arrays[] = {
        {"mu", (size_t)p->ncontacts, p->mu},
        {"W/x", (size_t)ss_sparse_count(&p->W), p->W.x},
        {"q", components(p), p->b},
        {"M/x", (size_t)ss_sparse_count(&p->M), p->M.x},
        {"H/x", (size_t)ss_sparse_count(&p->H), p->H.x},
        {"f", (size_t)p->ndofs, p->f},
        {"w", components(p), p->w},
    };
    ss_status status = SS_OK;
    for (size_t k = 0; status == SS_OK && k < sizeof arrays / sizeof arrays[0]; k++) {
        status = check_numbers(arrays[k].path, arrays[k].count, arrays[k].x, e);
    }
    for (int k = 0; status == SS_OK && k < p->nguesses; k++) {
        char group[32];
        snprintf(group, sizeof group, "guesses/%d", k + 1);
        status = check_state(p, group, &p->guesses[k], e);
    }
    if (status == SS_OK && p->has_solution) {
        status = check_state(p, "solution", &p->solution, e);
    }
    return status;
}

// ---- The writer

struct ss_writer {
    char *path;
    hid_t file;
    hid_t problems;   // group /problems of a collection; -1 before its first problem
    bool single;      // holds its one problem at the root
    ss_status failed; // status of the first add that failed; the file in memory is then incomplete
};

ss_status ss_writer_open(const char *path, ss_writer **writer, ss_error *e)
{
    *writer = NULL;
    if (path == NULL) {
        return ss_fail(e, SS_BAD_INPUT, "no file is named");
    }
    const ss_status status = ss_save_try(path, e);
    if (status != SS_OK) {
        return status;
    }
    ss_writer *made = calloc(1, sizeof *made);
    char *kept = malloc(strlen(path) + 1);
    if (made == NULL || kept == NULL) {
        free(made);
        free(kept);
        return ss_fail_memory(e, path);
    }
    const ss_h5_quiet before = ss_h5_begin_quiet();
    char unique[40]; // keeps two writers apart
    snprintf(unique, sizeof unique, "stickslip-%p", (const void *)made);
    *made = (ss_writer){
        .path = strcpy(kept, path), .file = ss_h5_create_in_memory(unique), .problems = -1};
    ss_h5_end_quiet(before);
    if (made->file < 0) {
        ss_writer_close(made);
        return ss_fail(e, SS_SYSTEM, "cannot build %s in memory", path);
    }
    *writer = made;
    return SS_OK;
}

bool ss_store_takes_name(const char *name)
{
    static const char LETTERS[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";
    return name != NULL && name[0] != '\0' && name[strspn(name, LETTERS)] == '\0' &&
           strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static ss_status check_name(const ss_writer *writer, const char *name, ss_error *e)
{
    if (writer->single || (name == NULL && writer->problems >= 0)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "%s: a problem without a name must be the only one of its file",
                       writer->path);
    }
    if (name != NULL && !ss_store_takes_name(name)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "%s: \"%s\" cannot name a problem (use letters, digits, '.', '_' and '-')",
                       writer->path, name);
    }
    if (name != NULL && writer->problems >= 0 &&
        H5Lexists(writer->problems, name, H5P_DEFAULT) > 0) {
        return ss_fail(e, SS_BAD_INPUT, "%s: two problems are named \"%s\"", writer->path, name);
    }
    return SS_OK;
}

static ss_status add_to_collection(ss_writer *writer, const char *name, const ss_problem *p,
                                   ss_error *e)
{
    ss_assert(name != NULL && !writer->single);
    if (writer->problems < 0) {
        writer->problems = ss_h5_create_group(writer->file, "problems");
    }
    const hid_t group = writer->problems < 0 ? -1 : ss_h5_create_group(writer->problems, name);
    if (group < 0) {
        return ss_fail(e, SS_SYSTEM, "cannot build %s in memory", writer->path);
    }
    const ss_status status = write_problem(writer->path, group, p, e);
    H5Gclose(group);
    return status;
}

ss_status ss_writer_add(ss_writer *writer, const char *name, const ss_problem *problem, ss_error *e)
{
    if (writer == NULL) {
        return ss_fail(e, SS_BAD_INPUT, "no file is open for the problem");
    }
    const ss_h5_quiet before = ss_h5_begin_quiet();
    ss_status status = check_name(writer, name, e);
    if (status == SS_OK) {
        status = ss_problem_check_sizes(problem, e);
    }
    if (status == SS_OK) {
        status = check_finite(problem, e);
    }
    if (status == SS_OK && name == NULL) {
        writer->single = true;
        status = write_problem(writer->path, writer->file, problem, e);
    } else if (status == SS_OK) {
        status = add_to_collection(writer, name, problem, e);
    }
    ss_h5_end_quiet(before);
    if (writer->failed == SS_OK) {
        writer->failed = status;
    }
    return status;
}

ss_status ss_writer_commit(ss_writer *writer, ss_error *e)
{
    if (writer == NULL) {
        return ss_fail(e, SS_BAD_INPUT, "no file is open to be written");
    }
    if (writer->failed != SS_OK) {
        return ss_fail(e, writer->failed,
                       "%s is not written, because one of its problems could not be added",
                       writer->path);
    }
    if (!writer->single && writer->problems < 0) {
        return ss_fail(e, SS_BAD_INPUT, "%s is not written, because it has no problem",
                       writer->path);
    }
    size_t count = 0;
    const ss_h5_quiet before = ss_h5_begin_quiet();
    void *image = ss_h5_take_image(writer->file, &count);
    ss_h5_end_quiet(before);
    if (image == NULL) {
        return ss_fail(e, SS_SYSTEM, "cannot build %s in memory", writer->path);
    }
    const ss_status status = ss_save(writer->path, image, count, e);
    free(image);
    return status;
}

void ss_writer_close(ss_writer *writer)
{
    if (writer == NULL) {
        return;
    }
    const ss_h5_quiet before = ss_h5_begin_quiet();
    if (writer->problems >= 0) {
        H5Gclose(writer->problems);
    }
    if (writer->file >= 0) {
        H5Fclose(writer->file);
    }
    ss_h5_end_quiet(before);
    free(writer->path);
    free(writer);
}

ss_status ss_store_write(const char *path, const ss_problem *problem, ss_error *e)
{
    ss_writer *writer = NULL;
    ss_status status = ss_writer_open(path, &writer, e);
    if (status == SS_OK) {
        status = ss_writer_add(writer, NULL, problem, e);
    }
    if (status == SS_OK) {
        status = ss_writer_commit(writer, e);
    }
    ss_writer_close(writer);
    return status;
}
