// What HDF5 can say and this program does not believe, and files of which any byte may be wrong.
#include <stdlib.h>

#include "base/random.h"
#include "tests/support/bad_file.h"

// ---- What HDF5 can say and this program does not believe.

static void other_classes_and_ranks_are_refused(void)
{
    hid_t file = small_local(path);
    put_reals(file, "fclib_local/W/n", 1, (const double[]){6});
    expect(file, "/fclib_local/W/n cannot be read: it does not contain integers");
    file = small_local(path);
    put_text(file, "fclib_local/vectors/q", "none");
    expect(file, "/fclib_local/vectors/q cannot be read: it does not contain numbers");
    file = small_local(path);
    const hid_t plane = H5Screate_simple(2, (const hsize_t[]){2, 3}, NULL);
    put_typed(file, "fclib_local/vectors/q", H5T_NATIVE_DOUBLE, plane, 6, H5P_DEFAULT,
              (const double[]){1, 2, 3, 4, 5, 6});
    H5Sclose(plane);
    expect(file, "/fclib_local/vectors/q cannot be read: it has more than one dimension");
    file = small_local(path);
    remove_object(file, "fclib_local/vectors/q");
    put_group(file, "fclib_local/vectors/q");
    expect(file, "/fclib_local/vectors/q cannot be read: libhdf5 cannot open it");
}

static void a_matrix_is_a_group_or_has_two_dimensions(void)
{
    hid_t file = small_local(path);
    put_reals(file, "fclib_local/W", 36, (const double[36]){0});
    expect(file, "/fclib_local/W cannot be read: it is neither a group nor an array with two "
                 "dimensions");
    file = small_local(path);
    const hid_t plane = H5Screate_simple(2, (const hsize_t[]){2, 3}, NULL);
    put_typed(file, "fclib_local/W", H5T_NATIVE_DOUBLE, plane, 6, H5P_DEFAULT,
              (const double[]){1, 2, 3, 4, 5, 6});
    H5Sclose(plane);
    expect(file, "/fclib_local/W is 2 x 3, 2 contacts in 3 dimensions need 6 x 6");
    file = small_local(path);
    put_text(file, "fclib_local/W", "none");
    expect(file, "/fclib_local/W cannot be read: it is neither a group nor an array with two "
                 "dimensions");
}

static void links_into_other_files_are_not_followed(void)
{
    const char *other = scratch_path("other.h5");
    close_file(small_local(other));
    hid_t file = small_local(path);
    remove_object(file, "fclib_local/vectors/q");
    H5Lcreate_external(other, "/fclib_local/vectors/q", file, "fclib_local/vectors/q", H5P_DEFAULT,
                       H5P_DEFAULT);
    expect(file, "/fclib_local/vectors/q cannot be read: it is an external link");
    file = small_local(path);
    remove_object(file, "fclib_local/vectors/q");
    H5Lcreate_external(other, "/", file, "elsewhere", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/elsewhere/fclib_local/vectors/q", file, "fclib_local/vectors/q", H5P_DEFAULT,
                   H5P_DEFAULT);
    expect(file, "/fclib_local/vectors/q cannot be read: libhdf5 cannot open it");
    file = small_file(path);
    H5Lcreate_external(other, "/fclib_local", file, "fclib_local", H5P_DEFAULT, H5P_DEFAULT);
    expect(file, "/fclib_local cannot be read: it is an external link");
}

static void data_outside_the_file_are_not_read(void)
{
    hid_t file = small_local(path);
    const hid_t outside = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(outside, "/etc/passwd", 0, 48);
    put_typed(file, "fclib_local/vectors/q", H5T_NATIVE_DOUBLE, H5S_ALL, 6, outside, NULL);
    H5Pclose(outside);
    expect(file, "/fclib_local/vectors/q cannot be read: its data are stored in another file");
    file = small_local(path);
    const hid_t virtual = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(1, (const hsize_t[]){6}, NULL);
    H5Pset_virtual(virtual, space, "other.h5", "/q", space);
    put_typed(file, "fclib_local/vectors/q", H5T_NATIVE_DOUBLE, space, 6, virtual, NULL);
    H5Pclose(virtual);
    H5Sclose(space);
    expect(file, "/fclib_local/vectors/q cannot be read: it is a virtual dataset");
}

// A deflated dataset of `count` doubles in chunks of `chunk`, one of them stored as given bytes.
static hid_t file_with_chunk(hsize_t count, hsize_t chunk, const void *bytes, size_t nbytes)
{
    const hid_t file = small_local(path);
    const hid_t chunked = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(1, &count, (const hsize_t[]){H5S_UNLIMITED});
    H5Pset_chunk(chunked, 1, &chunk);
    H5Pset_deflate(chunked, 6);
    put_typed(file, "fclib_local/vectors/q", H5T_NATIVE_DOUBLE, space, 0, chunked, NULL);
    const hid_t dataset = H5Dopen2(file, "fclib_local/vectors/q", H5P_DEFAULT);
    const hsize_t first = 0;
    if (nbytes > 0) {
        CHECK(H5Dwrite_chunk(dataset, H5P_DEFAULT, 0, &first, nbytes, bytes) >= 0);
    }
    H5Dclose(dataset);
    H5Sclose(space);
    H5Pclose(chunked);
    return file;
}

static void a_corrupted_chunk_is_refused(void)
{
    expect(file_with_chunk(6, 6, "\x78\x9c no deflate stream", 20),
           "/fclib_local/vectors/q cannot be read: libhdf5 cannot decode it");
}

static void sizes_without_data_are_not_believed(void)
{
    expect(file_with_chunk(1000000000, 1000, "\x78\x9c no deflate stream", 20),
           "/fclib_local/vectors/q cannot be read: it declares 1000000000 elements and stores 20 "
           "bytes");
    expect(file_with_chunk(6, 100000000, "\x78\x9c no deflate stream", 20),
           "/fclib_local/vectors/q cannot be read: it declares 6 elements and stores 20 bytes");
    expect(
        file_with_chunk((hsize_t)1 << 50, 1000, "", 0),
        "/fclib_local/vectors/q cannot be read: it declares 1125899906842624 elements and stores "
        "0 bytes");
}

// 2 GB, of which one chunk of 16 MB was written: the decoder would be given the memory for all.
static void a_sparse_dataset_is_not_read(void)
{
    const size_t stored = 16 << 20;
    char *bytes = calloc(stored, 1);
    const hid_t file = file_with_chunk(1 << 28, 1 << 21, bytes, stored);
    free(bytes);
    expect(file, "/fclib_local/vectors/q cannot be read: it declares 268435456 elements and stores "
                 "16777216 bytes");
}

// 800 MB are not more than a megabyte of deflated data can hold, but more than the decoder gets.
static void memory_is_bounded_by_the_size_of_the_file(void)
{
    const size_t stored = 1 << 20;
    char *bytes = calloc(stored, 1);
    const hid_t file = file_with_chunk(100000000, 100000000, bytes, stored);
    free(bytes);
    close_file(file);
    load_bad();
    CHECK(strstr(error.text, "/fclib_local/vectors/q cannot be read: its 100000000 elements need "
                             "more memory than a file of 1") != NULL);
}

// ---- Anything at all.

static void check_either_way(void)
{
    ss_reader *reader = NULL;
    ss_problem *problem = NULL;
    ss_status status = ss_reader_open(path, &reader, &error);
    if (status == SS_OK) {
        status = ss_reader_load(reader, 0, &problem, NULL, &error);
    }
    TEST_ASSERT_TRUE_MESSAGE(status == SS_OK || status == SS_BAD_INPUT, error.text);
    CHECK((status == SS_OK) == (problem != NULL));
    ss_problem_free(problem);
    ss_reader_close(reader);
}

static void flipped_bytes_are_read_or_refused(void)
{
    size_t size;
    ss_random random = ss_random_seeded(2);
    hid_t file = small_global(path);
    put_int(file, "guesses/number_of_guesses", 1);
    put_state(file, "guesses/1", 6, 0.0);
    put_text(file, "fclib_global/info/title", "flipped");
    close_file(file);
    char *bytes = read_bytes(path, &size);
    for (int k = 0; k < 300; k++) {
        char *wrong = malloc(size);
        TEST_ASSERT_NOT_NULL(wrong);
        memcpy(wrong, bytes, size);
        const int flips = 1 + ss_random_below(&random, 8);
        for (int f = 0; f < flips; f++) {
            char *byte = &wrong[ss_random_below(&random, (int)size)];
            *byte = (char)(*byte ^ (1 + ss_random_below(&random, 255)));
        }
        write_bytes(path, wrong, size);
        check_either_way();
        free(wrong);
    }
    free(bytes);
}

static void run_tests(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    RUN_TEST(other_classes_and_ranks_are_refused);
    RUN_TEST(a_matrix_is_a_group_or_has_two_dimensions);
    RUN_TEST(links_into_other_files_are_not_followed);
    RUN_TEST(data_outside_the_file_are_not_read);
    RUN_TEST(a_corrupted_chunk_is_refused);
    RUN_TEST(sizes_without_data_are_not_believed);
    RUN_TEST(a_sparse_dataset_is_not_read);
    RUN_TEST(memory_is_bounded_by_the_size_of_the_file);
    RUN_TEST(flipped_bytes_are_read_or_refused);
}

const test_group bad_hdf5_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
