// What is written to a file is there, and nothing else is touched.
#include "problems/store/store.h"

#include <hdf5.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/sample.h"
#include "tests/support/support.h"

static void check_same_files(const char *a, const char *b)
{
    size_t na, nb;
    char *x = read_bytes(a, &na), *y = read_bytes(b, &nb);
    TEST_ASSERT_EQUAL_size_t(na, nb);
    TEST_ASSERT_TRUE(memcmp(x, y, na) == 0);
    free(x);
    free(y);
}

static void check_round_trip(const ss_problem *p)
{
    ss_error error = {0};
    const char *path = scratch_path("round_trip.h5");
    CHECK_OK(ss_store_write(path, p, &error));
    ss_problem *back = NULL;
    CHECK_OK(ss_store_read(path, NULL, &back, &error));
    check_same_problem(p, back);
    check_same_provenance(&p->provenance, &back->provenance);
    check_same_claim(&p->claim, &back->claim);
    char before[65], after[65];
    ss_problem_sha256(p, before);
    ss_problem_sha256(back, after);
    TEST_ASSERT_EQUAL_STRING(before, after);
    ss_problem_free(back);
}

// 1 contact: every array is compact. 70 in space: W has 44100 entries, all filtered.
static void what_is_written_is_read_bit_for_bit(void)
{
    static const int contacts[] = {1, 2, 70};
    for (int k = 0; k < 3; k++) {
        for (int dim = 2; dim <= 3; dim++) {
            ss_problem *local = sample_problem(SS_LOCAL, dim, contacts[k]);
            check_round_trip(local);
            ss_problem_free(local);
            ss_problem *global = sample_problem(SS_GLOBAL, dim, contacts[k]);
            check_round_trip(global);
            ss_problem_free(global);
        }
    }
}

// 90 contacts in space: W has 72900 entries, more than a chunk.
static void arrays_of_several_chunks_are_whole(void)
{
    ss_problem *p = sample_problem(SS_LOCAL, 3, 90);
    CHECK(ss_sparse_count(&p->W) > 65536);
    check_round_trip(p);
    ss_problem_free(p);
}

static void a_long_text_is_kept(void)
{
    ss_problem *p = sample_problem(SS_LOCAL, 2, 1);
    const size_t length = 5000;
    free(p->description);
    p->description = malloc(length + 1);
    TEST_ASSERT_NOT_NULL(p->description);
    memset(p->description, 'x', length);
    p->description[length] = '\0';
    check_round_trip(p);
    ss_problem_free(p);
}

static void a_contact_that_touches_nothing_is_kept(void)
{
    ss_problem *p = sample_problem(SS_GLOBAL, 2, 1);
    memset(p->H.start, 0, 3 * sizeof *p->H.start);
    check_round_trip(p);
    ss_problem_free(p);
}

static void what_is_not_known_stays_unknown(void)
{
    ss_problem *p = sample_problem(SS_GLOBAL, 3, 2);
    p->provenance = ss_provenance_unknown();
    strcpy(p->provenance.producer, "someone");
    p->claim = ss_claim_unknown();
    free(p->solution.v);
    p->solution.v = NULL;
    free(p->guesses[1].u);
    p->guesses[1].u = NULL;
    check_round_trip(p);
    ss_problem_free(p);
}

static void a_problem_without_guess_and_answer_has_none(void)
{
    ss_problem *p = sample_problem(SS_LOCAL, 3, 2);
    ss_state_free(&p->guesses[0]);
    ss_state_free(&p->guesses[1]);
    p->nguesses = 0;
    ss_state_free(&p->solution);
    p->has_solution = false;
    p->claim = ss_claim_unknown();
    check_round_trip(p);
    ss_problem_free(p);
}

static void a_problem_without_a_producer_is_ours(void)
{
    ss_error error = {0};
    ss_problem *p = sample_problem(SS_LOCAL, 2, 1), *back = NULL;
    p->provenance = ss_provenance_unknown();
    const char *path = scratch_path("ours.h5");
    CHECK_OK(ss_store_write(path, p, &error));
    CHECK_OK(ss_store_read(path, NULL, &back, &error));
    TEST_ASSERT_EQUAL_INT(0, strncmp(back->provenance.producer, "stickslip ", 10));
    CHECK(back->provenance.commit[0] != '\0');
    ss_problem_free(p);
    ss_problem_free(back);
}

// The second time after other files, so that neither the clock nor used memory takes part.
static void one_problem_is_always_the_same_bytes(void)
{
    ss_error error = {0};
    ss_problem *p = sample_problem(SS_GLOBAL, 3, 40), *other = sample_problem(SS_LOCAL, 3, 40);
    CHECK_OK(ss_store_write(scratch_path("first.h5"), p, &error));
    sleep(1);
    CHECK_OK(ss_store_write(scratch_path("other.h5"), other, &error));
    CHECK_OK(ss_store_write(scratch_path("second.h5"), p, &error));
    check_same_files(scratch_path("first.h5"), scratch_path("second.h5"));
    ss_problem_free(p);
    ss_problem_free(other);
}

static void a_collection_keeps_its_problems_apart(void)
{
    static const char *const names[] = {"step-0001", "step-0002", "A_b.c"};
    ss_problem *p[] = {sample_problem(SS_GLOBAL, 3, 2), sample_problem(SS_LOCAL, 2, 3),
                       sample_problem(SS_GLOBAL, 2, 4)};
    const char *path = scratch_path("collection.h5");
    ss_error error = {0};
    ss_writer *writer = NULL;
    CHECK_OK(ss_writer_open(path, &writer, &error));
    for (int k = 0; k < 3; k++) {
        CHECK_OK(ss_writer_add(writer, names[k], p[k], &error));
    }
    CHECK_OK(ss_writer_commit(writer, &error));
    ss_writer_close(writer);
    for (int k = 0; k < 3; k++) {
        ss_problem *back = NULL;
        CHECK_OK(ss_store_read(path, names[k], &back, &error));
        check_same_problem(p[k], back);
        check_same_provenance(&p[k]->provenance, &back->provenance);
        ss_problem_free(back);
        ss_problem_free(p[k]);
    }
}

static void two_writers_do_not_meet(void)
{
    ss_error error = {0};
    ss_problem *a = sample_problem(SS_LOCAL, 2, 2), *b = sample_problem(SS_LOCAL, 3, 2);
    ss_writer *one = NULL, *two = NULL;
    const char *path = scratch_path("shared.h5");
    CHECK_OK(ss_writer_open(path, &one, &error));
    CHECK_OK(ss_writer_open(path, &two, &error));
    CHECK_OK(ss_writer_add(one, NULL, a, &error));
    CHECK_OK(ss_writer_add(two, NULL, b, &error));
    CHECK_OK(ss_writer_commit(one, &error));
    CHECK_OK(ss_store_write(scratch_path("alone.h5"), a, &error));
    check_same_files(path, scratch_path("alone.h5"));
    CHECK_OK(ss_writer_commit(two, &error));
    ss_writer_close(one);
    ss_writer_close(two);
    CHECK_OK(ss_store_write(scratch_path("alone.h5"), b, &error));
    check_same_files(path, scratch_path("alone.h5"));
    ss_problem_free(a);
    ss_problem_free(b);
}

// Adds p once under each name; the last must be refused, and then the file too.
static void check_names_refused(const char *first, const char *last, const char *reason)
{
    ss_problem *p = sample_problem(SS_LOCAL, 2, 1);
    const char *path = scratch_path("refused.h5");
    ss_error error = {0};
    ss_writer *writer = NULL;
    CHECK_OK(ss_writer_open(path, &writer, &error));
    CHECK_OK(ss_writer_add(writer, first, p, &error));
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_writer_add(writer, last, p, &error));
    TEST_ASSERT_NOT_NULL(strstr(error.text, path));
    TEST_ASSERT_NOT_NULL(strstr(error.text, reason));
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_writer_commit(writer, &error));
    TEST_ASSERT_NOT_NULL(strstr(error.text, path));
    ss_writer_close(writer);
    CHECK(access(path, F_OK) != 0);
    ss_problem_free(p);
}

static void names_that_are_no_names_are_refused(void)
{
    check_names_refused("good", "", "cannot name");
    check_names_refused("good", ".", "cannot name");
    check_names_refused("good", "..", "cannot name");
    check_names_refused("good", "a/b", "cannot name");
    check_names_refused("good", "a b", "cannot name");
    check_names_refused("good", "\xc3\xa9", "cannot name");
    check_names_refused("same", "same", "\"same\"");
    check_names_refused(NULL, NULL, "only one");
    check_names_refused(NULL, "good", "only one");
    check_names_refused("good", NULL, "only one");
}

// In each array in turn; the old file stays as it was.
static void a_number_that_is_not_finite_is_refused(void)
{
    const char *path = scratch_path("finite.h5");
    for (int form = SS_LOCAL; form <= SS_GLOBAL; form++) {
        ss_problem *p = sample_problem((ss_form)form, 3, 2);
        ss_error error = {0};
        CHECK_OK(ss_store_write(path, p, &error));
        size_t before, after;
        char *bytes = read_bytes(path, &before);
        double *const places[] = {p->mu,         p->W.x,        p->b,         p->M.x,
                                  p->H.x,        p->f,          p->w,         p->guesses[1].u,
                                  p->solution.r, p->solution.u, p->solution.v};
        const char *const names[] = {"mu",         "W/x",        "q",         "M/x",
                                     "H/x",        "f",          "w",         "guesses/2/u",
                                     "solution/r", "solution/u", "solution/v"};
        for (int k = 0; k < 11; k++) {
            if (places[k] != NULL) {
                char sentence[80];
                const double kept = places[k][1];
                places[k][1] = k % 2 == 0 ? NAN : -INFINITY;
                CHECK(ss_store_write(path, p, &error) == SS_BAD_INPUT);
                snprintf(sentence, sizeof sentence, "%s[1] is %s and cannot be stored", names[k],
                         k % 2 == 0 ? "nan" : "-inf");
                TEST_ASSERT_EQUAL_STRING(sentence, error.text);
                places[k][1] = kept;
            }
        }
        char *unchanged = read_bytes(path, &after);
        CHECK(before == after && memcmp(bytes, unchanged, before) == 0);
        free(bytes);
        free(unchanged);
        ss_problem_free(p);
    }
}

static void an_empty_collection_is_refused(void)
{
    ss_error error = {0};
    ss_writer *writer = NULL;
    const char *path = scratch_path("empty.h5");
    CHECK_OK(ss_writer_open(path, &writer, &error));
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_writer_commit(writer, &error));
    TEST_ASSERT_NOT_NULL(strstr(error.text, path));
    ss_writer_close(writer);
    CHECK(access(path, F_OK) != 0);
}

static void closing_without_a_commit_leaves_the_old_file(void)
{
    ss_error error = {0};
    ss_problem *p = sample_problem(SS_LOCAL, 2, 1), *q = sample_problem(SS_LOCAL, 3, 1);
    const char *path = scratch_path("closed.h5");
    CHECK_OK(ss_store_write(path, p, &error));
    CHECK_OK(ss_store_write(scratch_path("copy.h5"), p, &error));
    ss_writer *writer = NULL;
    CHECK_OK(ss_writer_open(path, &writer, &error));
    CHECK_OK(ss_writer_add(writer, NULL, q, &error));
    ss_writer_close(writer);
    ss_writer_close(NULL);
    check_same_files(path, scratch_path("copy.h5"));
    ss_problem_free(p);
    ss_problem_free(q);
}

static void a_full_disk_is_told(void)
{
    ss_problem *p = sample_problem(SS_LOCAL, 2, 1);
    ss_error error = {0};
    TEST_ASSERT_EQUAL_INT(SS_SYSTEM, ss_store_write("/dev/full", p, &error));
    TEST_ASSERT_EQUAL_STRING("cannot write /dev/full: No space left on device", error.text);
    ss_problem_free(p);
}

// In a child: no file may grow beyond 100 bytes.
static int write_with_a_small_limit(const char *path, const ss_problem *p)
{
    const struct rlimit limit = {100, 100};
    signal(SIGXFSZ, SIG_IGN);
    return setrlimit(RLIMIT_FSIZE, &limit) == 0 && ss_store_write(path, p, NULL) == SS_SYSTEM ? 0
                                                                                              : 1;
}

static void a_write_that_fails_leaves_the_old_problem(void)
{
    ss_error error = {0};
    ss_problem *p = sample_problem(SS_LOCAL, 2, 1), *q = sample_problem(SS_LOCAL, 3, 1);
    const char *path = scratch_path("kept.h5");
    CHECK_OK(ss_store_write(path, p, &error));
    CHECK_OK(ss_store_write(scratch_path("copy.h5"), p, &error));
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        _exit(write_with_a_small_limit(path, q));
    }
    int status = -1;
    TEST_ASSERT_EQUAL_INT(child, waitpid(child, &status, 0));
    TEST_ASSERT_EQUAL_INT(0, status);
    check_same_files(path, scratch_path("copy.h5"));
    ss_problem_free(p);
    ss_problem_free(q);
}

static herr_t count_report(hid_t stack, void *count)
{
    (void)stack;
    ++*(int *)count;
    return 0;
}

static void the_callers_error_report_is_silent_and_given_back(void)
{
    ss_error error = {0};
    int reports = 0;
    H5E_auto2_t before, after;
    void *data_before, *data_after;
    H5Eget_auto2(H5E_DEFAULT, &before, &data_before);
    H5Eset_auto2(H5E_DEFAULT, count_report, &reports);
    ss_problem *p = sample_problem(SS_GLOBAL, 2, 1);
    CHECK_OK(ss_store_write(scratch_path("silent.h5"), p, &error));
    ss_problem_free(p);
    H5Eget_auto2(H5E_DEFAULT, &after, &data_after);
    H5Eset_auto2(H5E_DEFAULT, before, data_before);
    TEST_ASSERT_EQUAL_INT(0, reports);
    CHECK(after == count_report);
    CHECK(data_after == &reports);
}

// HDF5 objects of this process that are open: files, groups, datasets, types, attributes.
static void nothing_stays_open_in_hdf5(void)
{
    ss_error error = {0};
    ss_problem *p = sample_problem(SS_GLOBAL, 3, 40);
    const ssize_t before = H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL);
    CHECK_OK(ss_store_write(scratch_path("closed.h5"), p, &error));
    TEST_ASSERT_EQUAL_INT(before, H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL));
    ss_problem_free(p);
}

static int read_int(hid_t file, const char *path)
{
    int values[2] = {-99, -99};
    hsize_t size[2] = {0, 0};
    const hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
    const hid_t space = H5Dget_space(dataset);
    TEST_ASSERT_EQUAL_INT_MESSAGE(1, H5Sget_simple_extent_ndims(space), path);
    H5Sget_simple_extent_dims(space, size, NULL);
    TEST_ASSERT_EQUAL_INT_MESSAGE(1, (int)size[0], path);
    H5Dread(dataset, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    H5Sclose(space);
    H5Dclose(dataset);
    return values[0];
}

static bool is_deflated(hid_t file, const char *path)
{
    const hid_t dataset = H5Dopen2(file, path, H5P_DEFAULT);
    const hid_t list = H5Dget_create_plist(dataset);
    TEST_ASSERT_TRUE_MESSAGE(list >= 0, path);
    const bool deflated = H5Pget_layout(list) == H5D_CHUNKED && H5Pget_nfilters(list) == 2;
    H5Pclose(list);
    H5Dclose(dataset);
    return deflated;
}

// 40 contacts in the plane: 41 bodies, 39 of 4 dofs and two of 6, hence 168 dofs.
static void the_layout_is_the_reference_librarys(void)
{
    ss_error error = {0};
    ss_problem *p = sample_problem(SS_GLOBAL, 2, 40);
    CHECK_OK(ss_store_write(scratch_path("layout.h5"), p, &error));
    const hid_t file = H5Fopen(scratch_path("layout.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    CHECK(file >= 0);
    TEST_ASSERT_EQUAL_INT(2, read_int(file, "/fclib_global/spacedim"));
    TEST_ASSERT_EQUAL_INT(168, read_int(file, "/fclib_global/H/m"));
    TEST_ASSERT_EQUAL_INT(80, read_int(file, "/fclib_global/H/n"));
    TEST_ASSERT_EQUAL_INT(-1, read_int(file, "/fclib_global/H/nz"));
    TEST_ASSERT_EQUAL_INT(ss_sparse_count(&p->M), read_int(file, "/fclib_global/M/nzmax"));
    TEST_ASSERT_EQUAL_INT(2, read_int(file, "/guesses/number_of_guesses"));
    CHECK(is_deflated(file, "/fclib_global/M/x"));
    CHECK(is_deflated(file, "/fclib_global/M/i"));
    CHECK(!is_deflated(file, "/fclib_global/vectors/mu")); // 320 bytes
    CHECK(H5Lexists(file, "/guesses/2/v", H5P_DEFAULT) > 0);
    CHECK(H5Lexists(file, "/solution/v", H5P_DEFAULT) > 0);
    H5Fclose(file);
    ss_problem_free(p);
}

static void body_sizes_are_pairs_of_size_and_count(void)
{
    ss_error error = {0};
    ss_problem *p = sample_problem(SS_GLOBAL, 2, 40);
    CHECK_OK(ss_store_write(scratch_path("bodies.h5"), p, &error));
    const hid_t file = H5Fopen(scratch_path("bodies.h5"), H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t attribute =
        H5Aopen_by_name(file, "/stickslip", "body_sizes", H5P_DEFAULT, H5P_DEFAULT);
    const hid_t space = H5Aget_space(attribute);
    TEST_ASSERT_EQUAL_INT(4, (int)H5Sget_simple_extent_npoints(space));
    int pairs[4] = {0};
    H5Aread(attribute, H5T_NATIVE_INT, pairs);
    TEST_ASSERT_EQUAL_INT(4, pairs[0]);
    TEST_ASSERT_EQUAL_INT(39, pairs[1]);
    TEST_ASSERT_EQUAL_INT(6, pairs[2]);
    TEST_ASSERT_EQUAL_INT(2, pairs[3]);
    H5Sclose(space);
    H5Aclose(attribute);
    H5Fclose(file);
    ss_problem_free(p);
}

// Public problems of other programs, read, written and read again.
static void public_files_survive(void)
{
    static const char *const names[] = {"Box_Stacks-i0122-82-5.hdf5", "Capsules-i125-1213.hdf5",
                                        "LMGC_100_PR_PerioBox-i00361-60-03000.hdf5",
                                        "Spheres-i099-356-679.hdf5"};
    if (fclib_folder() == NULL) {
        TEST_IGNORE_MESSAGE("the public FCLIB files are not here (STICKSLIP_FCLIB_DATA)");
    }
    ss_error error = {0};
    for (int k = 0; k < 4; k++) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", fclib_folder(), names[k]);
        ss_problem *p = NULL, *back = NULL;
        CHECK_OK(ss_store_read(path, NULL, &p, &error));
        CHECK_OK(ss_store_write(scratch_path("again.h5"), p, &error));
        CHECK_OK(ss_store_read(scratch_path("again.h5"), NULL, &back, &error));
        check_same_problem(p, back);
        ss_problem_free(p);
        ss_problem_free(back);
    }
}

static void run_tests(void)
{
    RUN_TEST(what_is_written_is_read_bit_for_bit);
    RUN_TEST(arrays_of_several_chunks_are_whole);
    RUN_TEST(a_long_text_is_kept);
    RUN_TEST(a_contact_that_touches_nothing_is_kept);
    RUN_TEST(what_is_not_known_stays_unknown);
    RUN_TEST(a_problem_without_guess_and_answer_has_none);
    RUN_TEST(a_problem_without_a_producer_is_ours);
    RUN_TEST(one_problem_is_always_the_same_bytes);
    RUN_TEST(a_collection_keeps_its_problems_apart);
    RUN_TEST(two_writers_do_not_meet);
    RUN_TEST(names_that_are_no_names_are_refused);
    RUN_TEST(a_number_that_is_not_finite_is_refused);
    RUN_TEST(an_empty_collection_is_refused);
    RUN_TEST(closing_without_a_commit_leaves_the_old_file);
    RUN_TEST(a_full_disk_is_told);
    RUN_TEST(a_write_that_fails_leaves_the_old_problem);
    RUN_TEST(the_callers_error_report_is_silent_and_given_back);
    RUN_TEST(nothing_stays_open_in_hdf5);
    RUN_TEST(the_layout_is_the_reference_librarys);
    RUN_TEST(body_sizes_are_pairs_of_size_and_count);
    RUN_TEST(public_files_survive);
}

const test_group store_write_tests = {.run = run_tests};
