// The reference library reads what we write, and we read what it writes. It ends the program on
// a dataset it misses, so it runs in a child.
#include "problems/store/store.h"

#include <fclib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/sample.h"
#include "tests/support/support.h"

// In the child a failed check of Unity would jump back into the parent's tests.
#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            return false;                                                                          \
        }                                                                                          \
    } while (0)

static void check_in_child(bool (*run)(const char *path, const ss_problem *p), const char *path,
                           const ss_problem *p)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        _exit(run(path, p) ? 0 : 1);
    }
    int status = -1;
    TEST_ASSERT_EQUAL_INT(child, waitpid(child, &status, 0));
    TEST_ASSERT_EQUAL_INT(0, status);
}

static bool same_numbers(const double *a, const double *b, int count)
{
    return a != NULL && memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

static bool same_matrix(const struct fclib_matrix *theirs, const ss_sparse *ours)
{
    const int count = ss_sparse_count(ours);
    REQUIRE(theirs != NULL && theirs->nz == -1 && theirs->nzmax == count);
    REQUIRE(theirs->m == ours->nrows && theirs->n == ours->ncols);
    REQUIRE(memcmp(theirs->p, ours->start, ((size_t)ours->ncols + 1) * sizeof(int)) == 0);
    REQUIRE(memcmp(theirs->i, ours->row, (size_t)count * sizeof(int)) == 0);
    REQUIRE(same_numbers(theirs->x, ours->x, count));
    return true;
}

static bool same_state(const struct fclib_solution *theirs, const ss_state *ours,
                       const ss_problem *p)
{
    REQUIRE(same_numbers(theirs->r, ours->r, p->dim * p->ncontacts));
    REQUIRE(same_numbers(theirs->u, ours->u, p->dim * p->ncontacts));
    REQUIRE(p->form == SS_LOCAL || same_numbers(theirs->v, ours->v, p->ndofs));
    return true;
}

static bool same_guesses_and_solution(const char *path, const ss_problem *p)
{
    int nguesses = 0;
    struct fclib_solution *guesses = fclib_read_guesses(path, &nguesses);
    REQUIRE(nguesses == p->nguesses);
    for (int k = 0; k < nguesses; k++) {
        REQUIRE(same_state(&guesses[k], &p->guesses[k], p));
    }
    struct fclib_solution *solution = fclib_read_solution(path);
    REQUIRE(solution != NULL && same_state(solution, &p->solution, p));
    fclib_delete_solutions(guesses, nguesses);
    fclib_delete_solutions(solution, 1);
    return true;
}

static bool they_read_local(const char *path, const ss_problem *p)
{
    struct fclib_local *read = fclib_read_local(path);
    REQUIRE(read != NULL && read->spacedim == p->dim);
    REQUIRE(same_matrix(read->W, &p->W));
    REQUIRE(same_numbers(read->mu, p->mu, p->ncontacts));
    REQUIRE(same_numbers(read->q, p->b, p->dim * p->ncontacts));
    REQUIRE(strcmp(read->info->title, p->title != NULL ? p->title : "") == 0);
    fclib_delete_local(read);
    return same_guesses_and_solution(path, p);
}

static bool they_read_global(const char *path, const ss_problem *p)
{
    struct fclib_global *read = fclib_read_global(path);
    REQUIRE(read != NULL && read->spacedim == p->dim && read->G == NULL);
    REQUIRE(same_matrix(read->M, &p->M));
    REQUIRE(same_matrix(read->H, &p->H));
    REQUIRE(same_numbers(read->mu, p->mu, p->ncontacts));
    REQUIRE(same_numbers(read->f, p->f, p->ndofs));
    REQUIRE(same_numbers(read->w, p->w, p->dim * p->ncontacts));
    REQUIRE(strcmp(read->info->description, p->description != NULL ? p->description : "") == 0);
    fclib_delete_global(read);
    return same_guesses_and_solution(path, p);
}

static void forget_words(ss_problem *p)
{
    free(p->title);
    free(p->description);
    free(p->math_info);
    p->title = p->description = p->math_info = NULL;
}

// 1 contact: compact arrays; 30: filtered ones.
static void the_reference_library_reads_what_we_write(void)
{
    ss_error error = {0};
    for (int ncontacts = 1; ncontacts <= 30; ncontacts += 29) {
        for (int dim = 2; dim <= 3; dim++) {
            for (int words = 0; words <= 1; words++) {
                ss_problem *local = sample_problem(SS_LOCAL, dim, ncontacts);
                ss_problem *global = sample_problem(SS_GLOBAL, dim, ncontacts);
                if (words == 0) {
                    forget_words(local);
                    forget_words(global);
                }
                const char *path = scratch_path("ours.h5");
                CHECK_OK(ss_store_write(path, local, &error));
                check_in_child(they_read_local, path, local);
                CHECK_OK(ss_store_write(path, global, &error));
                check_in_child(they_read_global, path, global);
                ss_problem_free(local);
                ss_problem_free(global);
            }
        }
    }
}

typedef enum layout { BY_COLUMNS, BY_ROWS, TRIPLETS } layout;

// How the child writes; set before the fork.
static layout written_layout;

// Arrays of ours are lent to the reference library, which only reads them.
static void lend_by_columns(const ss_sparse *A, struct fclib_matrix *lent)
{
    const int count = ss_sparse_count(A);
    *lent = (struct fclib_matrix){.nzmax = count,
                                  .m = A->nrows,
                                  .n = A->ncols,
                                  .p = A->start,
                                  .i = A->row,
                                  .x = A->x,
                                  .nz = -1};
}

// The child ends soon: what is allocated here is not freed.
static bool lend_by_rows(const ss_sparse *A, struct fclib_matrix *lent)
{
    ss_sparse rows;
    REQUIRE(ss_sparse_transpose(A, &rows, NULL) == SS_OK);
    lend_by_columns(&rows, lent);
    lent->m = A->nrows;
    lent->n = A->ncols;
    lent->nz = -2;
    return true;
}

// Its files hold the rows of triplets in i and the columns in p. Last entry first.
static bool lend_triplets(const ss_sparse *A, struct fclib_matrix *lent)
{
    const int count = ss_sparse_count(A);
    int *row = malloc((size_t)count * sizeof *row), *col = malloc((size_t)count * sizeof *col);
    double *x = malloc((size_t)count * sizeof *x);
    REQUIRE(row != NULL && col != NULL && x != NULL);
    int place = count;
    for (int j = 0; j < A->ncols; j++) {
        for (int k = A->start[j]; k < A->start[j + 1]; k++) {
            place--;
            row[place] = A->row[k];
            col[place] = j;
            x[place] = A->x[k];
        }
    }
    *lent = (struct fclib_matrix){
        .nzmax = count, .m = A->nrows, .n = A->ncols, .p = col, .i = row, .x = x, .nz = count};
    return true;
}

static bool lend_matrix(const ss_sparse *A, struct fclib_matrix *lent)
{
    switch (written_layout) {
    case BY_COLUMNS:
        lend_by_columns(A, lent);
        return true;
    case BY_ROWS:
        return lend_by_rows(A, lent);
    case TRIPLETS:
        return lend_triplets(A, lent);
    }
    return false;
}

static bool they_write_states(const char *path, const ss_problem *p)
{
    struct fclib_solution guesses[2],
        solution = {.v = p->solution.v, .u = p->solution.u, .r = p->solution.r};
    for (int k = 0; k < 2; k++) {
        const ss_state *s = &p->guesses[k];
        guesses[k] = (struct fclib_solution){.v = s->v, .u = s->u, .r = s->r};
    }
    REQUIRE(fclib_write_solution(&solution, path) == 1);
    REQUIRE(fclib_write_guesses(2, guesses, path) == 1);
    return true;
}

static bool they_write_local(const char *path, const ss_problem *p)
{
    struct fclib_matrix W;
    struct fclib_info info = {p->title, p->description, p->math_info};
    REQUIRE(lend_matrix(&p->W, &W));
    struct fclib_local written = {
        .W = &W, .mu = p->mu, .q = p->b, .spacedim = p->dim, .info = &info};
    REQUIRE(fclib_write_local(&written, path) == 1);
    return they_write_states(path, p);
}

static bool they_write_global(const char *path, const ss_problem *p)
{
    struct fclib_matrix M, H;
    struct fclib_info info = {p->title, p->description, p->math_info};
    REQUIRE(lend_matrix(&p->M, &M) && lend_matrix(&p->H, &H));
    struct fclib_global written = {
        .M = &M, .H = &H, .mu = p->mu, .f = p->f, .w = p->w, .spacedim = p->dim, .info = &info};
    REQUIRE(fclib_write_global(&written, path) == 1);
    return they_write_states(path, p);
}

static void check_we_read(ss_form form, int dim, layout how)
{
    ss_error error = {0};
    ss_problem *p = sample_problem(form, dim, 5), *read = NULL;
    const char *path = scratch_path("theirs.h5");
    unlink(path); // the reference library adds to a file that is there
    written_layout = how;
    check_in_child(form == SS_LOCAL ? they_write_local : they_write_global, path, p);
    CHECK_OK(ss_store_read(path, NULL, &read, &error));
    check_same_problem(p, read);
    ss_problem_free(read);
    ss_problem_free(p);
}

static void we_read_what_the_reference_library_writes(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        for (int how = BY_COLUMNS; how <= TRIPLETS; how++) {
            check_we_read(SS_LOCAL, dim, (layout)how);
            check_we_read(SS_GLOBAL, dim, (layout)how);
        }
    }
}

static void run_tests(void)
{
    RUN_TEST(the_reference_library_reads_what_we_write);
    RUN_TEST(we_read_what_the_reference_library_writes);
}

const test_group fclib_interop_tests = {.run = run_tests};
