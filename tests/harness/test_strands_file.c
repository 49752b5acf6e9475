// Strands files that anybody may have written, as `report` reads them: what an attribute may be, and
// what a file cannot use to reach outside itself.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/report/strands.h"
#include "tests/support/hdf5_files.h"
#include "tests/support/support.h"

static char path[512];
static ss_error error;

static void set_up(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    error = (ss_error){0};
    snprintf(path, sizeof path, "%s", scratch_path("strands.h5"));
}

// ---- Files

static void put_array(hid_t file, const char *name, hid_t type, int rank, const hsize_t *shape,
                      hid_t creation, const void *values)
{
    const hid_t space = H5Screate_simple(rank, shape, NULL);
    put_typed(file, name, type, space, 0, creation, values);
    H5Sclose(space);
}

// A strand of two vertices that rises by a metre from the first frame to the second.
static hid_t small_strands(void)
{
    static const double X[] = {0, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0, 1}, TIME[] = {0, 0.5};
    const hid_t file = small_file(path);
    put_array(file, "strands/x", H5T_NATIVE_DOUBLE, 3, (const hsize_t[]){2, 2, 3}, H5P_DEFAULT, X);
    put_reals(file, "strands/time", 2, TIME);
    put_int(file, "strands/length", 2);
    put_int(file, "strands/strand", 0);
    return file;
}

static void put_attribute_of(hid_t file, const char *name, hid_t type, hid_t space,
                             const void *values)
{
    const hid_t attribute = H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    CHECK(attribute >= 0 && (values == NULL || H5Awrite(attribute, type, values) >= 0));
    H5Aclose(attribute);
    H5Sclose(space);
}

static hid_t text_of(size_t size)
{
    const hid_t type = H5Tcopy(H5T_C_S1);
    H5Tset_size(type, size);
    return type;
}

static hid_t array_of(hsize_t count)
{
    return H5Screate_simple(1, &count, NULL);
}

// The head of the file, which can be read.
static const char *head_of(hid_t file)
{
    static char head[4096];
    ss_page_strands strands;
    close_file(file);
    CHECK_OK(ss_page_strands_read(path, false, &strands, &error));
    CHECK(strands.head_length < sizeof head);
    memcpy(head, strands.head, strands.head_length);
    head[strands.head_length] = '\0';
    ss_page_strands_free(&strands);
    return head;
}

static void check_head(hid_t file, const char *part)
{
    const char *head = head_of(file);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(head, part), head);
}

static void check_refused(hid_t file, const char *reason)
{
    char sentence[800];
    ss_page_strands strands;
    if (file >= 0) {
        close_file(file);
    }
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_page_strands_read(path, false, &strands, &error));
    snprintf(sentence, sizeof sentence, "%s: %s", path, reason);
    TEST_ASSERT_EQUAL_STRING(sentence, error.text);
    CHECK(strands.head == NULL && strands.body == NULL);
}

// ---- Attributes

static void attributes_of_one_value_are_shown(void)
{
    static const char *const VARIABLE = "of any length";
    const uint64_t seed = UINT64_MAX;
    const double radius = 4e-5;
    const hid_t file = small_strands(), text = text_of(5), variable = text_of(H5T_VARIABLE);
    put_attribute_of(file, "scene", text, H5Screate(H5S_SCALAR), "pony");
    put_attribute_of(file, "model", variable, H5Screate(H5S_SCALAR), &VARIABLE);
    put_attribute_of(file, "seed", H5T_NATIVE_UINT64, array_of(1), &seed);
    put_attribute_of(file, "radius", H5T_NATIVE_DOUBLE, H5Screate(H5S_SCALAR), &radius);
    H5Tclose(text);
    H5Tclose(variable);
    check_head(file,
               "\"scene\":\"pony\",\"model\":\"of any length\",\"scheme\":\"\",\"solver\":\"\","
               "\"units\":\"\",\"seed\":\"18446744073709551615\",\"radius\":\"4e-05\",");
}

// Each of these is larger than a place for one value.
static void attributes_of_more_values_are_left_out(void)
{
    char *many = calloc(1, 60000);
    memset(many, 'A', 60000);
    const hid_t file = small_strands(), text = text_of(2040);
    put_attribute_of(file, "scene", text, array_of(2), many);
    put_attribute_of(file, "model", H5T_NATIVE_INT, H5Screate(H5S_SCALAR), many);
    put_attribute_of(file, "scheme", text, H5Screate(H5S_NULL), NULL);
    put_attribute_of(file, "seed", H5T_NATIVE_UINT64, array_of(7500), many);
    put_attribute_of(file, "radius", H5T_NATIVE_DOUBLE, array_of(7500), many);
    H5Tclose(text);
    free(many);
    check_head(file, "\"scene\":\"\",\"model\":\"\",\"scheme\":\"\",\"solver\":\"\",\"units\":\"\","
                     "\"seed\":\"\",\"radius\":\"\",");
}

// ---- What lies outside the file

static void data_in_another_file_are_not_read(void)
{
    char other[530];
    snprintf(other, sizeof other, "%s-other", path);
    write_bytes(other, "sixteen bytes and eight more", 24);
    hid_t file = small_strands();
    const hid_t outside = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(outside, other, 0, H5F_UNLIMITED);
    put_array(file, "strands/time", H5T_NATIVE_DOUBLE, 1, (const hsize_t[]){2}, outside, NULL);
    check_refused(file, "/strands/time cannot be read: its data are stored in another file");
    file = small_strands();
    put_array(file, "obstacles/kind", H5T_NATIVE_INT, 1, (const hsize_t[]){1}, H5P_DEFAULT,
              (const int[]){0});
    put_array(file, "obstacles/size", H5T_NATIVE_DOUBLE, 2, (const hsize_t[]){1, 3}, outside, NULL);
    check_refused(file, "/obstacles/size cannot be read: its data are stored in another file");
    H5Pclose(outside);
    unlink(other);
}

static void virtual_datasets_are_not_read(void)
{
    const hsize_t shape[] = {2, 2, 3};
    const hid_t file = small_strands();
    const hid_t space = H5Screate_simple(3, shape, NULL), all = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_virtual(all, space, "other.h5", "/x", space);
    put_array(file, "strands/x", H5T_NATIVE_DOUBLE, 3, shape, all, NULL);
    H5Pclose(all);
    H5Sclose(space);
    check_refused(file, "/strands/x cannot be read: it is a virtual dataset");
}

static void links_into_another_file_are_not_followed(void)
{
    char other[512];
    hid_t file = small_strands();
    close_file(file);
    snprintf(other, sizeof other, "%s", scratch_path("linked.h5"));
    CHECK(rename(path, other) == 0);
    file = small_strands();
    remove_object(file, "strands/length");
    H5Lcreate_external(other, "/strands/length", file, "strands/length", H5P_DEFAULT, H5P_DEFAULT);
    check_refused(file, "/strands/length cannot be read: it is an external link");
    file = small_file(path);
    H5Lcreate_external(other, "/strands", file, "strands", H5P_DEFAULT, H5P_DEFAULT);
    check_refused(file, "/strands/x cannot be read: it is an external link");
    file = small_file(path);
    H5Lcreate_external(other, "/", file, "elsewhere", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/elsewhere/strands", file, "strands", H5P_DEFAULT, H5P_DEFAULT);
    check_refused(file, "/strands/x cannot be read: libhdf5 cannot follow its link");
    unlink(other);
}

// ---- Shapes and sizes

static void datasets_that_are_not_what_they_must_be_are_named(void)
{
    hid_t file = small_strands();
    remove_object(file, "strands/time");
    check_refused(file, "/strands/time cannot be read: it is missing");
    file = small_strands();
    put_array(file, "strands/x", H5T_NATIVE_DOUBLE, 2, (const hsize_t[]){2, 6}, H5P_DEFAULT, NULL);
    check_refused(file, "/strands/x cannot be read: it has 2 dimensions, it needs 3");
    file = small_strands();
    put_reals(file, "strands/length", 1, (const double[]){2});
    check_refused(file, "/strands/length cannot be read: it does not contain integers");
    file = small_strands();
    put_reals(file, "strands/time", 3, (const double[]){0, 1, 2});
    check_refused(file, "/strands/time has 3 entries for 2 frames");
    file = small_file(path);
    check_refused(file, "it contains no /strands; simulate --strands makes such files");
}

// A gigabyte that no byte of the file stands for.
static void sizes_without_data_are_not_believed(void)
{
    const hid_t file = small_strands(), fill = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(fill, 3, (const hsize_t[]){1, 1000, 3});
    put_array(file, "strands/x", H5T_NATIVE_DOUBLE, 3, (const hsize_t[]){20, 2000000, 3}, fill,
              NULL);
    H5Pclose(fill);
    check_refused(file, "/strands/x cannot be read: it declares 120000000 elements and stores 0 "
                        "bytes");
}

static void what_is_no_strands_file_is_told(void)
{
    unlink(path);
    check_refused(-1, "no such file");
    write_bytes(path, "\x89HDF\r\n\x1a\nand then nothing", 24);
    check_refused(-1, "damaged file: libhdf5 cannot open it");
}

static void run_tests(void)
{
    RUN_TEST(attributes_of_one_value_are_shown);
    RUN_TEST(attributes_of_more_values_are_left_out);
    RUN_TEST(data_in_another_file_are_not_read);
    RUN_TEST(virtual_datasets_are_not_read);
    RUN_TEST(links_into_another_file_are_not_followed);
    RUN_TEST(datasets_that_are_not_what_they_must_be_are_named);
    RUN_TEST(sizes_without_data_are_not_believed);
    RUN_TEST(what_is_no_strands_file_is_told);
}

const test_group strands_file_tests = {.run = run_tests, .set_up = set_up};
