// tests/fuzz/fuzz_decoded.c -- libFuzzer target: decoded arrays of any kind into the validator.
//
// The bytes are read as a stream of choices. Most problems that come out have sizes that agree, so
// that the deep checks are reached; each size, index and value may be spoilt. Whatever loads is
// used once (product with W or H, factor of M), so that an index that slipped through is seen.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/store/read.h"
#include "problems/matrix/mass.h"
#include "problems/response.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

enum { LENGTH_MAX = 60 };

typedef struct stream {
    const uint8_t *next;
    size_t left;
    ss_arrays arrays;
} stream;

// 0 when the bytes are used up: the plain choice everywhere.
static int draw(stream *s)
{
    if (s->left == 0) {
        return 0;
    }
    s->left--;
    return *s->next++;
}

// True once in 32 draws of random bytes.
static bool spoil(stream *s)
{
    return draw(s) >= 248;
}

static int64_t any_integer(stream *s)
{
    static const int64_t EDGES[] = {0,         -1,        -2,        1,         -3,
                                    INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN, 4294967296};
    const int k = draw(s);
    return k < 128 ? k - 8 : EDGES[k % 10];
}

static double any_real(stream *s)
{
    static const double EDGES[] = {NAN, INFINITY, -1.0, 1e308, -1e308, 5e-324, 1e-300, -0.0};
    const int k = draw(s);
    return k < 8 ? EDGES[k] : (k - 100) / 16.0;
}

static void *allocate(size_t count)
{
    void *data = calloc(count + 1, sizeof(int64_t));
    if (data == NULL) {
        abort();
    }
    return data;
}

static void put(stream *s, const char *form, const char *name, ss_array_kind kind, int count,
                void *data)
{
    char path[96];
    snprintf(path, sizeof path, "%s%s%s", form, form[0] != '\0' ? "/" : "", name);
    static const char TEXT[] = "why";
    if (spoil(s)) {
        free(data);
        return;
    }
    if (spoil(s)) {
        free(data);
        data = allocate(8);
        memcpy(data, TEXT, sizeof TEXT);
        kind = draw(s) % 2 == 0 ? SS_ARRAY_UNREADABLE : SS_ARRAY_TEXT;
        count = (int)strlen(TEXT);
    }
    if (ss_arrays_add(&s->arrays, path, kind, (size_t)count, data) != 0) {
        abort();
    }
}

static void put_integer(stream *s, const char *form, const char *name, int64_t value)
{
    int64_t *data = allocate(1);
    data[0] = spoil(s) ? any_integer(s) : value;
    put(s, form, name, SS_ARRAY_INTEGERS, spoil(s) ? draw(s) % 2 : 1, data);
}

static void put_reals(stream *s, const char *form, const char *name, int count, bool positive)
{
    const int stored = spoil(s) ? draw(s) % LENGTH_MAX : count;
    double *data = allocate((size_t)stored);
    for (int k = 0; k < stored; k++) {
        data[k] = spoil(s) ? any_real(s) : draw(s) / 16.0 - (positive ? 0.0 : 8.0);
    }
    put(s, form, name, SS_ARRAY_REALS, stored, data);
}

// Of a matrix by columns or rows, or as triplets: indices below `limit`, or ascending starts.
static void put_indices(stream *s, const char *form, const char *name, int count, int limit)
{
    const int stored = spoil(s) ? draw(s) % LENGTH_MAX : count;
    int64_t *data = allocate((size_t)stored);
    for (int k = 0; k < stored; k++) {
        data[k] = spoil(s) ? any_integer(s) : draw(s) % (limit > 0 ? limit : 1);
    }
    put(s, form, name, SS_ARRAY_INTEGERS, stored, data);
}

static void put_starts(stream *s, const char *form, const char *name, int outer, int count)
{
    int64_t *data = allocate((size_t)outer + 1);
    for (int k = 0; k <= outer; k++) {
        data[k] = spoil(s) ? any_integer(s) : (int64_t)count * k / (outer > 0 ? outer : 1);
    }
    put(s, form, name, SS_ARRAY_INTEGERS, outer + 1, data);
}

static void put_matrix_of(stream *s, const char *group, int m, int n, int count)
{
    const int nz = draw(s) % 3 - 2 < 0 ? draw(s) % 2 - 2 : count;
    put_integer(s, group, "m", m);
    put_integer(s, group, "n", n);
    put_integer(s, group, "nz", nz);
    put_integer(s, group, "nzmax", count);
    if (nz >= 0) {
        put_indices(s, group, "p", count, n);
    } else {
        put_starts(s, group, "p", nz == -1 ? n : m, count);
    }
    put_indices(s, group, "i", count, nz == -2 ? n : m);
    put_reals(s, group, "x", count, false);
}

// x on the diagonal, all positive: M of a problem that loads.
static void put_diagonal(stream *s, const char *group, int n)
{
    int64_t *row = allocate((size_t)n);
    for (int k = 0; k < n; k++) {
        row[k] = spoil(s) ? draw(s) % n : k;
    }
    put_integer(s, group, "m", n);
    put_integer(s, group, "n", n);
    put_integer(s, group, "nz", -1);
    put_starts(s, group, "p", n, n);
    put(s, group, "i", SS_ARRAY_INTEGERS, n, row);
    double *x = allocate((size_t)n);
    for (int k = 0; k < n; k++) {
        x[k] = spoil(s) ? any_real(s) : 1.0 + draw(s);
    }
    put(s, group, "x", SS_ARRAY_REALS, n, x);
}

static void put_state(stream *s, const char *group, int components, int ndofs)
{
    put(s, "", group, SS_ARRAY_GROUP, 0, NULL);
    put_reals(s, group, "r", components, false);
    put_reals(s, group, "u", components, false);
    put_reals(s, group, "v", ndofs, false);
}

static void put_text(stream *s, const char *path)
{
    const int count = draw(s);
    char *text = allocate((size_t)count);
    for (int k = 0; k < count; k++) {
        text[k] = (char)draw(s);
    }
    put(s, "", path, SS_ARRAY_TEXT, count, text);
}

static void put_extras(stream *s, int components, int ndofs)
{
    const int nguesses = draw(s) % 3;
    if (nguesses > 0) {
        put(s, "", "guesses", SS_ARRAY_GROUP, 0, NULL);
        put_integer(s, "guesses", "number_of_guesses", nguesses);
    }
    for (int k = 1; k <= nguesses; k++) {
        char group[32];
        snprintf(group, sizeof group, "guesses/%d", k);
        put_state(s, group, components, ndofs);
    }
    if (draw(s) % 2 == 1) {
        put_state(s, "solution", components, ndofs);
        put_text(s, "solution@solver");
        put_reals(s, "", "solution@fb", 1, false);
        put_integer(s, "", "solution@worst_contact", 0);
        put_integer(s, "", "stickslip@seed", 1);
        put_text(s, "stickslip@scene");
        put_text(s, "fclib_local/info/title");
    }
}

static void put_problem(stream *s)
{
    static const char *const ODD[] = {"fclib_global", "fclib_local", "fclib_local/V", "",
                                      "fclib_global_rolling"};
    const bool global = draw(s) % 2 == 1;
    const char *form = global ? "fclib_global" : "fclib_local";
    const int dim = 2 + draw(s) % 2, ncontacts = 1 + draw(s) % 6, components = dim * ncontacts;
    const int ndofs = global ? 1 + draw(s) % 20 : 0;
    put(s, "", form, SS_ARRAY_GROUP, 0, NULL);
    put_integer(s, form, "spacedim", dim);
    put_reals(s, form, "vectors/mu", ncontacts, true);
    if (global) {
        if (draw(s) % 2 == 0) {
            put_diagonal(s, "fclib_global/M", ndofs);
        } else {
            put_matrix_of(s, "fclib_global/M", ndofs, ndofs, draw(s) % LENGTH_MAX);
        }
        put_matrix_of(s, "fclib_global/H", ndofs, components, draw(s) % LENGTH_MAX);
        put_reals(s, form, "vectors/f", ndofs, false);
        put_reals(s, form, "vectors/w", components, false);
    } else {
        put_matrix_of(s, "fclib_local/W", components, components, draw(s) % LENGTH_MAX);
        put_reals(s, form, "vectors/q", components, false);
    }
    put_extras(s, components, ndofs);
    if (spoil(s)) {
        put(s, "", ODD[draw(s) % 5], draw(s) % 2 == 0 ? SS_ARRAY_GROUP : SS_ARRAY_REALS, 0,
            allocate(1));
    }
}

// What every user of a problem does first.
static void use(const ss_problem *p)
{
    ss_response *response = NULL;
    const size_t components = (size_t)p->dim * (size_t)p->ncontacts;
    double *r = calloc(components, sizeof *r), *u = calloc(components, sizeof *u);
    if (r == NULL || u == NULL || ss_response_new(p, &response, NULL) != SS_OK) {
        abort(); // a problem that loads can be judged
    }
    ss_response_judge(response, r, u);
    ss_response_free(response);
    free(r);
    free(u);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    stream s = {.next = bytes, .left = size};
    ss_report report = {0};
    ss_error error;
    ss_problem *problem = NULL;
    put_problem(&s);
    ss_arrays_sort(&s.arrays);
    const ss_status status = ss_problem_from_arrays(&s.arrays, &report, &problem, &error);
    if (status == SS_OK) {
        use(problem);
    } else if (status != SS_BAD_INPUT || report.ndefects == 0 || problem != NULL) {
        abort();
    }
    ss_problem_free(problem);
    ss_report_free(&report);
    ss_arrays_free(&s.arrays);
    return 0;
}
