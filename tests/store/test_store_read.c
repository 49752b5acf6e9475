// Reading what is right: forms, layouts, types, claims.
#include "problems/store/store.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/reading.h"
#include "tests/support/sample.h"

static void read_file(const char *path)
{
    ss_problem_free(problem);
    problem = NULL;
    CHECK_OK(ss_store_read(path, NULL, &problem, &error));
}

static void a_local_problem_is_read(void)
{
    const char *path = scratch_path("local.h5");
    close_file(small_local(path));
    read_file(path);
    CHECK(problem->form == SS_LOCAL && problem->dim == 3 && problem->ncontacts == 2);
    CHECK(problem->mu[0] == 0.3 && problem->mu[1] == 0.7);
    CHECK(problem->b[0] == -1 && problem->b[3] == 2 && problem->b[5] == 1);
    CHECK(problem->W.nrows == 6 && problem->W.ncols == 6 && ss_sparse_count(&problem->W) == 6);
    CHECK(problem->W.row[4] == 4 && problem->W.x[4] == 2.0);
    CHECK(problem->nguesses == 0 && !problem->has_solution && problem->title == NULL);
}

static void a_global_problem_is_read(void)
{
    const char *path = scratch_path("global.h5");
    close_file(small_global(path));
    read_file(path);
    CHECK(problem->form == SS_GLOBAL && problem->ndofs == 6 && problem->ncontacts == 2);
    CHECK(problem->M.x[5] == 2.0 && problem->H.x[5] == 1.0 && problem->H.ncols == 6);
    CHECK(problem->f[3] == 2 && problem->w[3] == 0);
}

static void guesses_solution_and_texts_are_read(void)
{
    const char *path = scratch_path("full.h5");
    const hid_t file = small_global(path);
    put_int(file, "guesses/number_of_guesses", 2);
    put_state(file, "guesses/1", 6, 1.0);
    put_state(file, "guesses/2", 6, 2.0);
    put_state(file, "solution", 6, 3.0);
    put_reals(file, "solution/v", 6, (const double[]){1, 2, 3, 4, 5, 6});
    put_text(file, "fclib_global/info/title", "two bodies");
    close_file(file);
    read_file(path);
    CHECK(problem->nguesses == 2 && problem->guesses[1].u[5] == 2.0);
    CHECK(problem->guesses[0].v == NULL);
    CHECK(problem->has_solution && problem->solution.r[0] == 3.0 && problem->solution.v[5] == 6);
    CHECK(isnan(problem->claim.measures.fb) && problem->claim.measures.worst_contact == -1);
    CHECK(!problem->provenance.has_seed && problem->provenance.step == -1);
    TEST_ASSERT_EQUAL_STRING("two bodies", problem->title);
    CHECK(problem->description == NULL);
}

static void what_is_written_is_read_back(void)
{
    for (int form = SS_LOCAL; form <= SS_GLOBAL; form++) {
        for (int dim = 2; dim <= 3; dim++) {
            const char *path = scratch_path("sample.h5");
            ss_problem *sample = sample_problem((ss_form)form, dim, 5);
            CHECK_OK(ss_store_write(path, sample, &error));
            read_file(path);
            check_same_problem(sample, problem);
            check_same_provenance(&sample->provenance, &problem->provenance);
            check_same_claim(&sample->claim, &problem->claim);
            ss_problem_free(sample);
        }
    }
}

// ---- Layouts. W = [4 1 0 1; 1 5 0 2; 0 0 6 0; 3 0 0 7] with 4 components: two contacts, plane.

static hid_t plane_file(const char *path)
{
    const hid_t file = small_file(path);
    put_int(file, "fclib_local/spacedim", 2);
    put_reals(file, "fclib_local/vectors/mu", 2, (const double[]){0.3, 0.7});
    put_reals(file, "fclib_local/vectors/q", 4, (const double[]){-1, 0.5, 2, 0});
    put_int(file, "fclib_local/W/m", 4);
    put_int(file, "fclib_local/W/n", 4);
    return file;
}

static void finish_plane(hid_t file, int nz, int np, const int *p, int count, const int *i,
                         const double *x, char hex[65])
{
    put_int(file, "fclib_local/W/nz", nz);
    put_int(file, "fclib_local/W/nzmax", count);
    put_ints(file, "fclib_local/W/p", np, p);
    put_ints(file, "fclib_local/W/i", count, i);
    put_reals(file, "fclib_local/W/x", count, x);
    close_file(file);
    read_file(scratch_path("plane.h5"));
    ss_problem_sha256(problem, hex);
}

static void the_three_layouts_are_one_matrix(void)
{
    char columns[65], rows[65], triplets[65], twice[65];
    const char *path = scratch_path("plane.h5");
    finish_plane(plane_file(path), -1, 5, (const int[]){0, 3, 5, 6, 9}, 9,
                 (const int[]){0, 1, 3, 0, 1, 2, 0, 1, 3},
                 (const double[]){4, 1, 3, 1, 5, 6, 1, 2, 7}, columns);
    CHECK(problem->W.x[2] == 3 && problem->W.row[2] == 3);
    finish_plane(plane_file(path), -2, 5, (const int[]){0, 3, 6, 7, 9}, 9,
                 (const int[]){0, 1, 3, 0, 1, 3, 2, 0, 3},
                 (const double[]){4, 1, 1, 1, 5, 2, 6, 3, 7}, rows);
    finish_plane(plane_file(path), 9, 9, (const int[]){3, 0, 1, 0, 0, 1, 2, 3, 3}, 9,
                 (const int[]){3, 3, 0, 0, 1, 1, 2, 0, 1},
                 (const double[]){7, 3, 1, 4, 1, 5, 6, 1, 2}, triplets);
    finish_plane(plane_file(path), 11, 11, (const int[]){3, 0, 1, 0, 0, 1, 2, 3, 3, 0, 1}, 11,
                 (const int[]){3, 3, 0, 0, 1, 1, 2, 0, 1, 3, 1},
                 (const double[]){7, 1, 1, 4, 1, 2, 6, 1, 2, 2, 3}, twice);
    TEST_ASSERT_EQUAL_STRING(columns, rows);
    TEST_ASSERT_EQUAL_STRING(columns, triplets);
    TEST_ASSERT_EQUAL_STRING(columns, twice);
}

// The entries of a matrix, by rows, in place of the group.
static void put_dense(hid_t file, const char *path, hsize_t m, hsize_t n, const double *entries)
{
    const hid_t plane = H5Screate_simple(2, (const hsize_t[]){m, n}, NULL);
    put_typed(file, path, H5T_NATIVE_DOUBLE, plane, (int)(m * n), H5P_DEFAULT, entries);
    H5Sclose(plane);
}

static void a_dense_matrix_is_the_same_problem(void)
{
    char sparse[65], dense[65];
    double entries[72] = {0}; // 6 x 12
    for (int k = 0; k < 6; k++) {
        entries[13 * k] = 1.0;
    }
    entries[11] = -3.0; // row 0, last column
    const char *path = scratch_path("dense.h5");
    hid_t file = small_global(path);
    put_reals(file, "fclib_global/vectors/mu", 4, (const double[]){0.3, 0.7, 0, 1});
    put_reals(file, "fclib_global/vectors/w", 12, (const double[12]){0});
    put_dense(file, "fclib_global/H", 6, 12, entries);
    close_file(file);
    read_file(path);
    CHECK(ss_sparse_count(&problem->H) == 7 && problem->H.ncols == 12);
    CHECK(problem->H.x[5] == 1.0 && problem->H.row[6] == 0 && problem->H.x[6] == -3.0);
    file = small_local(path);
    close_file(file);
    read_file(path);
    ss_problem_sha256(problem, sparse);
    double twice[36] = {0};
    for (int k = 0; k < 6; k++) {
        twice[7 * k] = 2.0;
    }
    file = small_local(path);
    put_dense(file, "fclib_local/W", 6, 6, twice);
    close_file(file);
    read_file(path);
    ss_problem_sha256(problem, dense);
    TEST_ASSERT_EQUAL_STRING(sparse, dense);
}

static void spare_room_at_the_end_is_not_read(void)
{
    char exact[65], spare[65];
    const char *path = scratch_path("plane.h5");
    finish_plane(plane_file(path), -1, 5, (const int[]){0, 1, 2, 3, 4}, 4,
                 (const int[]){0, 1, 2, 3}, (const double[]){4, 5, 6, 7}, exact);
    finish_plane(plane_file(path), 4, 6, (const int[]){0, 1, 2, 3, -9, 88}, 6,
                 (const int[]){0, 1, 2, 3, 55, -1}, (const double[]){4, 5, 6, 7, NAN, 1}, spare);
    TEST_ASSERT_EQUAL_STRING(exact, spare);
}

static void triplets_hold_rows_in_i_and_columns_in_p(void)
{
    char hex[65];
    finish_plane(plane_file(scratch_path("plane.h5")), 1, 1, (const int[]){2}, 1, (const int[]){3},
                 (const double[]){8}, hex);
    CHECK(problem->W.start[2] == 0 && problem->W.start[3] == 1 && problem->W.row[0] == 3);
}

static void a_capacity_below_the_entries_is_remarked(void)
{
    const char *path = scratch_path("local.h5");
    const hid_t file = small_local(path);
    put_int(file, "fclib_local/W/nzmax", 5);
    close_file(file);
    CHECK_OK(ss_reader_open(path, &reader, &error));
    CHECK_OK(ss_reader_load(reader, 0, &problem, &report, &error));
    CHECK(report.count == 1 && report.ndefects == 0);
    TEST_ASSERT_EQUAL_STRING("/fclib_local/W/nzmax is 5, fewer than the 6 entries stored",
                             report.findings[0].text);
}

static void expect_remark(const char *path, const char *text)
{
    CHECK_OK(ss_reader_open(path, &reader, &error));
    CHECK_OK(ss_reader_load(reader, 0, &problem, &report, &error));
    CHECK(report.count == 1 && report.ndefects == 0);
    TEST_ASSERT_EQUAL_STRING(text, report.findings[0].text);
}

static void triplets_that_are_not_read_are_remarked(void)
{
    char hex[65];
    const char *path = scratch_path("plane.h5");
    finish_plane(plane_file(path), 2, 3, (const int[]){0, 1, 2}, 3, (const int[]){0, 1, 2},
                 (const double[]){1, 1, 1}, hex);
    ss_problem_free(problem);
    expect_remark(path, "/fclib_local/W/nz is 2, and the rest of the 3 triplets is not read");
}

static void guesses_that_are_not_read_are_remarked(void)
{
    const char *path = scratch_path("guesses.h5");
    const hid_t file = small_local(path);
    put_int(file, "guesses/number_of_guesses", 1);
    put_state(file, "guesses/1", 6, 1.0);
    put_state(file, "guesses/2", 6, 2.0);
    close_file(file);
    expect_remark(path, "/guesses/number_of_guesses is 1, and /guesses/2 is not read");
    CHECK(problem->nguesses == 1);
}

// ---- Types and spaces.

static void other_number_types_are_converted(void)
{
    const char *path = scratch_path("types.h5");
    const hid_t file = small_local(path);
    put_typed(file, "fclib_local/vectors/mu", H5T_NATIVE_FLOAT, H5S_ALL, 2, H5P_DEFAULT,
              (const float[]){0.25F, 0.5F});
    put_typed(file, "fclib_local/vectors/q", H5T_NATIVE_INT, H5S_ALL, 6, H5P_DEFAULT,
              (const int[]){-1, 0, 1, 2, 3, 4});
    put_typed(file, "fclib_local/W/i", H5T_STD_I64BE, H5S_ALL, 6, H5P_DEFAULT, NULL);
    put_typed(file, "fclib_local/W/p", H5T_NATIVE_LONG, H5S_ALL, 7, H5P_DEFAULT,
              (const long[]){0, 1, 1, 1, 1, 1, 1});
    close_file(file);
    read_file(path);
    CHECK(problem->mu[0] == 0.25 && problem->b[5] == 4.0);
    CHECK(ss_sparse_count(&problem->W) == 1 && problem->W.row[0] == 0);
}

static void a_number_may_be_a_scalar(void)
{
    const char *path = scratch_path("scalar.h5");
    const hid_t file = small_local(path);
    const hid_t scalar = H5Screate(H5S_SCALAR);
    const int three = 3;
    put_typed(file, "fclib_local/spacedim", H5T_NATIVE_INT, scalar, 1, H5P_DEFAULT, &three);
    close_file(file);
    H5Sclose(scalar);
    read_file(path);
    CHECK(problem->dim == 3);
}

static void a_column_vector_is_a_vector(void)
{
    const char *path = scratch_path("column.h5");
    const hid_t file = small_local(path);
    const hid_t space = H5Screate_simple(2, (const hsize_t[]){6, 1}, NULL);
    put_typed(file, "fclib_local/vectors/q", H5T_NATIVE_DOUBLE, space, 6, H5P_DEFAULT,
              (const double[]){1, 2, 3, 4, 5, 6});
    close_file(file);
    H5Sclose(space);
    read_file(path);
    CHECK(problem->b[5] == 6.0);
}

static void a_text_of_variable_length_is_read(void)
{
    const char *path = scratch_path("text.h5");
    const hid_t file = small_local(path);
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    const char *text = "r\303\266dor";
    put_typed(file, "fclib_local/info/title", type, H5S_ALL, 1, H5P_DEFAULT, &text);
    close_file(file);
    H5Tclose(type);
    read_file(path);
    TEST_ASSERT_EQUAL_STRING(text, problem->title);
}

static void a_dataset_that_was_never_written_is_zero(void)
{
    const char *path = scratch_path("unwritten.h5");
    const hid_t file = small_local(path);
    put_reals(file, "solution/r", 6, NULL);
    close_file(file);
    read_file(path);
    CHECK(problem->has_solution && problem->solution.r[5] == 0.0 && problem->solution.u == NULL);
}

static void an_unreadable_title_is_a_remark(void)
{
    const char *path = scratch_path("title.h5");
    const hid_t file = small_local(path);
    put_int(file, "fclib_local/info/title", 5);
    close_file(file);
    CHECK_OK(ss_reader_open(path, &reader, &error));
    CHECK_OK(ss_reader_load(reader, 0, &problem, &report, &error));
    CHECK(problem->title == NULL && report.count == 1 && report.ndefects == 0);
    CHECK(strstr(report.findings[0].text, "/fclib_local/info/title cannot be read") != NULL);
}

// ---- Public files.

static void check_public(const char *name, ss_form form, int ncontacts, int ndofs)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", fclib_folder(), name);
    read_file(path);
    CHECK(problem->form == form && problem->dim == 3);
    CHECK(problem->ncontacts == ncontacts && problem->ndofs == ndofs);
}

static void the_public_files_are_read(void)
{
    if (fclib_folder() == NULL) {
        TEST_IGNORE_MESSAGE("the public FCLIB files are not here (STICKSLIP_FCLIB_DATA)");
    }
    check_public("Capsules-i125-1213.hdf5", SS_LOCAL, 286, 0);
    check_public("LMGC_100_PR_PerioBox-i00361-60-03000.hdf5", SS_LOCAL, 60, 0);
    check_public("Spheres-i099-356-679.hdf5", SS_GLOBAL, 356, 12000);
    check_public("Box_Stacks-i0122-82-5.hdf5", SS_GLOBAL, 82, 450);
    TEST_ASSERT_EQUAL_STRING("Box_stacks", problem->title);
    CHECK(problem->nguesses == 1 && problem->has_solution);
}

static void run_tests(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    RUN_TEST(a_local_problem_is_read);
    RUN_TEST(a_global_problem_is_read);
    RUN_TEST(guesses_solution_and_texts_are_read);
    RUN_TEST(what_is_written_is_read_back);
    RUN_TEST(the_three_layouts_are_one_matrix);
    RUN_TEST(a_dense_matrix_is_the_same_problem);
    RUN_TEST(spare_room_at_the_end_is_not_read);
    RUN_TEST(triplets_hold_rows_in_i_and_columns_in_p);
    RUN_TEST(a_capacity_below_the_entries_is_remarked);
    RUN_TEST(triplets_that_are_not_read_are_remarked);
    RUN_TEST(guesses_that_are_not_read_are_remarked);
    RUN_TEST(other_number_types_are_converted);
    RUN_TEST(a_number_may_be_a_scalar);
    RUN_TEST(a_column_vector_is_a_vector);
    RUN_TEST(a_text_of_variable_length_is_read);
    RUN_TEST(a_dataset_that_was_never_written_is_zero);
    RUN_TEST(an_unreadable_title_is_a_remark);
    RUN_TEST(the_public_files_are_read);
}

const test_group store_read_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
