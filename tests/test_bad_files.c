// Files that are wrong: each is refused with SS_BAD_INPUT and a sentence that names the dataset.
#include "problems/store.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "problems/random.h"
#include "tests/hdf5_files.h"
#include "tests/support.h"

static ss_report report;
static ss_error error;
static const char *path;

void setUp(void)
{
    error = (ss_error){0};
    path = scratch_path("bad.h5");
}

void tearDown(void)
{
    ss_report_free(&report);
}

// Loads the first problem, which must fail and leave nothing.
static void load_bad(void)
{
    ss_reader *reader = NULL;
    ss_problem *problem = NULL;
    ss_report_free(&report);
    CHECK_OK(ss_reader_open(path, &reader, &error));
    CHECK(ss_reader_load(reader, 0, &problem, &report, &error) == SS_BAD_INPUT);
    CHECK(problem == NULL && error.status == SS_BAD_INPUT);
    ss_reader_close(reader);
}

static bool report_says(const char *text)
{
    for (int k = 0; k < report.count; k++) {
        if (report.findings[k].severity == SS_DEFECT &&
            strcmp(report.findings[k].text, text) == 0) {
            return true;
        }
    }
    return false;
}

// Closes the file; its only defect is `text`.
static void expect(hid_t file, const char *text)
{
    char sentence[700];
    close_file(file);
    load_bad();
    snprintf(sentence, sizeof sentence, "%s: %s", path, text);
    TEST_ASSERT_EQUAL_STRING(sentence, error.text);
    TEST_ASSERT_EQUAL_INT(1, report.ndefects);
}

// The file cannot even be opened.
static void expect_no_reader(const char *file, const char *text)
{
    ss_reader *reader = NULL;
    char sentence[700];
    CHECK(ss_reader_open(file, &reader, &error) == SS_BAD_INPUT);
    CHECK(reader == NULL);
    snprintf(sentence, sizeof sentence, "%s: %s", file, text);
    TEST_ASSERT_EQUAL_STRING(sentence, error.text);
}

static void write_bytes(const char *file, const void *bytes, size_t count)
{
    FILE *out = fopen(file, "wb");
    TEST_ASSERT_NOT_NULL(out);
    CHECK(fwrite(bytes, 1, count, out) == count);
    CHECK(fclose(out) == 0);
}

static size_t read_bytes(const char *file, unsigned char **bytes)
{
    struct stat status;
    CHECK(stat(file, &status) == 0);
    FILE *in = fopen(file, "rb");
    TEST_ASSERT_NOT_NULL(in);
    *bytes = malloc((size_t)status.st_size);
    CHECK(fread(*bytes, 1, (size_t)status.st_size, in) == (size_t)status.st_size);
    fclose(in);
    return (size_t)status.st_size;
}

// ---- What is no file of problems.

static void what_is_no_hdf5_file_is_told(void)
{
    expect_no_reader(scratch_path("absent.h5"), "no such file");
    expect_no_reader("/", "is a directory");
    expect_no_reader("/dev/null", "is not a regular file");
    write_bytes(path, "", 0);
    expect_no_reader(path, "is an empty file");
    write_bytes(path, "spacedim = 3\n", 13);
    expect_no_reader(path, "is not an HDF5 file");
    CHECK(mkfifo(scratch_path("pipe"), 0600) == 0);
    expect_no_reader(scratch_path("pipe"), "is not a regular file");
}

static void a_file_that_may_not_be_read_is_told(void)
{
    if (geteuid() == 0) {
        TEST_IGNORE_MESSAGE("root may read everything");
    }
    close_file(small_local(path));
    CHECK(chmod(path, 0) == 0);
    expect_no_reader(path, "cannot be read: Permission denied");
    CHECK(chmod(path, 0600) == 0);
}

static void a_long_path_is_shown_by_its_end(void)
{
    char directory[600], file[700];
    ss_reader *reader = NULL;
    memset(directory, 'd', sizeof directory);
    directory[sizeof directory - 1] = '\0';
    snprintf(file, sizeof file, "/%s/end.h5", directory);
    CHECK(ss_reader_open(file, &reader, &error) == SS_BAD_INPUT);
    CHECK(strstr(error.text, "ddd/end.h5: ") != NULL);
}

static void a_file_without_problems_is_told(void)
{
    close_file(small_file(path));
    expect_no_reader(path, "holds no /fclib_local, /fclib_global or /problems group");
    hid_t file = small_file(path);
    put_group(file, "problems");
    close_file(file);
    expect_no_reader(path, "/problems is empty");
    file = small_local(path);
    put_group(file, "problems/a");
    close_file(file);
    expect_no_reader(path, "holds both a problem and a collection (/problems)");
}

static void what_is_no_problem_is_named(void)
{
    hid_t file = small_file(path);
    put_int(file, "problems/a", 1);
    expect(file, "problem a: /problems/a is not a group");
    file = small_file(path);
    put_group(file, "problems");
    H5Lcreate_soft("/nowhere", file, "problems/a", H5P_DEFAULT, H5P_DEFAULT);
    expect(file, "problem a: /problems/a is a link that leads nowhere");
    file = small_file(path);
    put_group(file, "problems");
    H5Lcreate_external("other.h5", "/", file, "problems/a", H5P_DEFAULT, H5P_DEFAULT);
    expect(file, "problem a: /problems/a is an external link");
    file = small_file(path);
    put_int(file, "fclib_local", 1);
    expect(file, "/fclib_local cannot be read: it is not a group");
}

static void an_empty_path_is_shown_in_quotes(void)
{
    ss_reader *reader = NULL;
    CHECK(ss_reader_open("", &reader, &error) == SS_BAD_INPUT);
    TEST_ASSERT_EQUAL_STRING("'': no such file", error.text);
}

static void a_truncated_file_is_damaged_wherever_it_is_cut(void)
{
    unsigned char *bytes;
    close_file(small_local(path));
    const size_t size = read_bytes(path, &bytes);
    for (size_t cut = 16; cut < size; cut += 512) {
        write_bytes(path, bytes, cut);
        expect_no_reader(path, "damaged file: libhdf5 cannot open it");
    }
    free(bytes);
}

// ---- What is not supported, or missing.

static void unsupported_problems_are_named(void)
{
    hid_t file = small_file(path);
    put_group(file, "fclib_global_rolling/W");
    expect(file, "rolling friction (/fclib_global_rolling) is not supported yet");
    file = small_local(path);
    put_group(file, "fclib_local_rolling");
    expect(file, "rolling friction (/fclib_local_rolling) is not supported yet");
    file = small_global(path);
    put_group(file, "fclib_global/G");
    expect(file, "equality constraints (/fclib_global/G) are not supported yet");
    file = small_local(path);
    put_group(file, "fclib_local/V");
    expect(file, "equality constraints (/fclib_local/V) are not supported yet");
}

static void a_problem_has_one_form(void)
{
    hid_t file = small_local(path);
    put_group(file, "fclib_global");
    expect(file, "holds /fclib_local and /fclib_global at once; a problem is one of them");
    file = small_file(path);
    put_group(file, "problems/a/info");
    close_file(file);
    load_bad();
    CHECK(report_says("holds no /fclib_local or /fclib_global group"));
}

static void each_missing_dataset_is_named(void)
{
    static const char *const LOCAL[] = {"spacedim", "W/m", "W/n",        "W/nz",     "W/p",
                                        "W/i",      "W/x", "vectors/mu", "vectors/q"};
    for (size_t k = 0; k < sizeof LOCAL / sizeof LOCAL[0]; k++) {
        char dataset[64], text[96];
        const hid_t file = small_local(path);
        snprintf(dataset, sizeof dataset, "fclib_local/%s", LOCAL[k]);
        remove_object(file, dataset);
        snprintf(text, sizeof text, "/%s is missing", dataset);
        expect(file, text);
    }
}

static void all_defects_are_told_at_once(void)
{
    const hid_t file = small_global(path);
    remove_object(file, "fclib_global/H");
    remove_object(file, "fclib_global/vectors/w");
    put_int(file, "fclib_global/spacedim", 4);
    close_file(file);
    load_bad();
    CHECK(report_says("/fclib_global/spacedim is 4, it must be 2 or 3"));
    CHECK(report_says("/fclib_global/H/m is missing"));
    CHECK(report_says("/fclib_global/H/x is missing"));
    CHECK(report_says("/fclib_global/vectors/w is missing"));
    TEST_ASSERT_EQUAL_INT(8, report.ndefects);
    CHECK(strstr(error.text, ": /fclib_global/spacedim is 4, it must be 2 or 3 (and 7 more)") !=
          NULL);
}

// ---- Sizes and indices.

static void sizes_must_agree(void)
{
    hid_t file = small_local(path);
    put_int(file, "fclib_local/W/m", 5);
    expect(file, "/fclib_local/W is 5 x 6, 2 contacts in 3 dimensions need 6 x 6");
    file = small_local(path);
    put_int(file, "fclib_local/W/n", -6);
    expect(file, "/fclib_local/W/n is negative (-6)");
    file = small_local(path);
    put_reals(file, "fclib_local/vectors/q", 5, (const double[]){1, 2, 3, 4, 5});
    expect(file, "/fclib_local/vectors/q has 5 entries, it needs 6");
    file = small_local(path);
    put_reals(file, "fclib_local/vectors/mu", 0, NULL);
    expect(file, "/fclib_local/vectors/mu is empty, a problem has at least one contact");
    file = small_global(path);
    put_reals(file, "fclib_global/vectors/w", 7, (const double[]){1, 2, 3, 4, 5, 6, 7});
    expect(file, "/fclib_global/vectors/w has 7 entries, it needs 6");
    file = small_global(path);
    put_int(file, "fclib_global/H/n", 9);
    put_ints(file, "fclib_global/H/p", 10, (const int[]){0, 1, 2, 3, 4, 5, 6, 6, 6, 6});
    expect(file, "/fclib_global/H is 6 x 9, 2 contacts in 3 dimensions need 6 columns "
                 "(and 6 dofs as many rows)");
    file = small_global(path);
    put_int(file, "fclib_global/M/m", 7);
    expect(file, "/fclib_global/M is 7 x 6, the 6 entries of /fclib_global/vectors/f need 6 x 6");
}

static void numbers_must_be_single_and_fit(void)
{
    hid_t file = small_local(path);
    put_ints(file, "fclib_local/spacedim", 2, (const int[]){3, 3});
    expect(file, "/fclib_local/spacedim has 2 entries, it must be one number");
    file = small_local(path);
    put_typed(file, "fclib_local/W/nz", H5T_NATIVE_LONG, H5S_ALL, 1, H5P_DEFAULT,
              (const long[]){5000000000});
    expect(file, "/fclib_local/W/nz is 5000000000, out of range");
    file = small_local(path);
    put_int(file, "fclib_local/W/nz", -7);
    expect(file, "/fclib_local/W/nz is -7, neither -1 (by columns), -2 (by rows) nor a number of "
                 "triplets");
}

static void lengths_must_suffice(void)
{
    hid_t file = small_local(path);
    put_ints(file, "fclib_local/W/p", 5, (const int[]){0, 1, 2, 3, 4});
    expect(file, "/fclib_local/W/p has 5 entries, storage by columns with n = 6 needs 7");
    file = small_local(path);
    put_int(file, "fclib_local/W/nz", -2);
    put_ints(file, "fclib_local/W/p", 8, (const int[]){0, 1, 2, 3, 4, 5, 6, 6});
    expect(file, "/fclib_local/W/p has 8 entries, storage by rows with m = 6 needs 7");
    file = small_local(path);
    put_reals(file, "fclib_local/W/x", 3, (const double[]){1, 2, 3});
    expect(file, "/fclib_local/W/x has 3 entries, p[6] = 6 needs 6");
    file = small_local(path);
    put_int(file, "fclib_local/W/nz", 7);
    close_file(file);
    load_bad();
    CHECK(report_says("/fclib_local/W/i has 6 entries, nz = 7 needs 7"));
    CHECK(report_says("/fclib_local/W/x has 6 entries, nz = 7 needs 7"));
    CHECK(report.ndefects == 2);
}

static void starts_must_rise_from_zero(void)
{
    hid_t file = small_local(path);
    put_ints(file, "fclib_local/W/p", 7, (const int[]){1, 1, 2, 3, 4, 5, 6});
    expect(file, "/fclib_local/W/p[0] is 1, it must be 0");
    file = small_local(path);
    put_ints(file, "fclib_local/W/p", 7, (const int[]){0, 1, 5, 3, 4, 5, 6});
    expect(file, "/fclib_local/W/p[3] is 3, less than p[2] = 5");
    file = small_local(path);
    put_ints(file, "fclib_local/W/p", 7, (const int[]){0, 1, 2, 3, 4, 5, 2147483647});
    close_file(file);
    load_bad();
    CHECK(report_says("/fclib_local/W/x has 6 entries, p[6] = 2147483647 needs 2147483647"));
}

static void indices_must_be_in_range(void)
{
    hid_t file = small_local(path);
    put_ints(file, "fclib_local/W/i", 6, (const int[]){0, 1, 6, 3, 4, 5});
    expect(file, "/fclib_local/W/i[2] is 6, it must be in 0 .. 5");
    file = small_local(path);
    put_ints(file, "fclib_local/W/i", 6, (const int[]){0, -1, 2, 3, -4, 5});
    expect(file, "/fclib_local/W/i[1] is -1, it must be in 0 .. 5 (2 such entries)");
    file = small_local(path);
    put_int(file, "fclib_local/W/nz", 6);
    put_ints(file, "fclib_local/W/p", 6, (const int[]){0, 1, 2, 3, 4, 99});
    expect(file, "/fclib_local/W/p[5] is 99, it must be in 0 .. 5");
}

static void guesses_must_fit(void)
{
    hid_t file = small_local(path);
    put_int(file, "guesses/number_of_guesses", 2);
    put_state(file, "guesses/1", 6, 0.0);
    expect(file, "/guesses/number_of_guesses is 2, but /guesses/2 is missing");
    file = small_local(path);
    put_int(file, "guesses/number_of_guesses", -1);
    expect(file, "/guesses/number_of_guesses is negative (-1)");
    file = small_local(path);
    put_state(file, "guesses/1", 6, 0.0);
    expect(file, "/guesses/number_of_guesses is missing");
    file = small_local(path);
    put_int(file, "guesses/number_of_guesses", 1);
    put_state(file, "guesses/1", 6, 0.0);
    put_reals(file, "guesses/1/u", 1, (const double[]){0});
    expect(file, "/guesses/1/u has 1 entry, it needs 6");
    file = small_global(path);
    put_state(file, "solution", 5, 0.0);
    close_file(file);
    load_bad();
    CHECK(report_says("/solution/r has 5 entries, it needs 6"));
    file = small_local(path);
    put_state(file, "solution", 6, 0.0);
    remove_object(file, "solution/r");
    expect(file, "/solution/r is missing");
}

static void defects_of_many_guesses_do_not_flood(void)
{
    const hid_t file = small_local(path);
    put_int(file, "guesses/number_of_guesses", 200);
    for (int k = 1; k <= 200; k++) {
        char group[32];
        snprintf(group, sizeof group, "guesses/%d", k);
        put_state(file, group, 1, 0.0);
    }
    close_file(file);
    load_bad();
    CHECK(report.ndefects == 21);
    CHECK(report_says("the guesses after /guesses/10 were not looked at"));
}

// ---- Values.

static void values_must_be_finite_and_friction_positive(void)
{
    hid_t file = small_local(path);
    put_reals(file, "fclib_local/vectors/mu", 2, (const double[]){0.3, -0.1});
    expect(file, "/fclib_local/vectors/mu[1] is negative (-0.1)");
    file = small_local(path);
    put_reals(file, "fclib_local/vectors/q", 6, (const double[]){0, 0, NAN, 0, NAN, 0});
    expect(file, "/fclib_local/vectors/q[2] is nan (2 such entries)");
    file = small_global(path);
    put_reals(file, "fclib_global/M/x", 6, (const double[]){2, 2, 2, -2, 2, 2});
    close_file(file);
    load_bad();
    CHECK(strstr(report.findings[0].text, "/fclib_global/M is not positive definite") != NULL);
    CHECK(report.ndefects == 1);
}

// ---- What HDF5 can say and this program does not believe.

static void other_classes_and_ranks_are_refused(void)
{
    hid_t file = small_local(path);
    put_reals(file, "fclib_local/W/n", 1, (const double[]){6});
    expect(file, "/fclib_local/W/n cannot be read: it does not hold integers");
    file = small_local(path);
    put_text(file, "fclib_local/vectors/q", "none");
    expect(file, "/fclib_local/vectors/q cannot be read: it does not hold numbers");
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

// 800 MB are not more than a megabyte of deflated data can hold, but more than the decoder gets.
static void memory_is_bounded_by_the_size_of_the_file(void)
{
    const size_t stored = 1 << 20;
    char *bytes = calloc(stored, 1);
    const hid_t file = file_with_chunk(100000000, 1000, bytes, stored);
    free(bytes);
    close_file(file);
    load_bad();
    CHECK(strstr(error.text,
                 "/fclib_local/vectors/q cannot be read: its 100000000 elements ask for "
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
    unsigned char *bytes;
    ss_random random = ss_random_seeded(2);
    hid_t file = small_global(path);
    put_int(file, "guesses/number_of_guesses", 1);
    put_state(file, "guesses/1", 6, 0.0);
    put_text(file, "fclib_global/info/title", "flipped");
    close_file(file);
    const size_t size = read_bytes(path, &bytes);
    for (int k = 0; k < 300; k++) {
        unsigned char *wrong = malloc(size);
        TEST_ASSERT_NOT_NULL(wrong);
        memcpy(wrong, bytes, size);
        const int flips = 1 + ss_random_below(&random, 8);
        for (int f = 0; f < flips; f++) {
            wrong[ss_random_below(&random, (int)size)] ^=
                (unsigned char)(1 + ss_random_below(&random, 255));
        }
        write_bytes(path, wrong, size);
        check_either_way();
        free(wrong);
    }
    free(bytes);
}

int main(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    UNITY_BEGIN();
    RUN_TEST(what_is_no_hdf5_file_is_told);
    RUN_TEST(a_file_that_may_not_be_read_is_told);
    RUN_TEST(a_long_path_is_shown_by_its_end);
    RUN_TEST(a_file_without_problems_is_told);
    RUN_TEST(what_is_no_problem_is_named);
    RUN_TEST(an_empty_path_is_shown_in_quotes);
    RUN_TEST(a_truncated_file_is_damaged_wherever_it_is_cut);
    RUN_TEST(unsupported_problems_are_named);
    RUN_TEST(a_problem_has_one_form);
    RUN_TEST(each_missing_dataset_is_named);
    RUN_TEST(all_defects_are_told_at_once);
    RUN_TEST(sizes_must_agree);
    RUN_TEST(numbers_must_be_single_and_fit);
    RUN_TEST(lengths_must_suffice);
    RUN_TEST(starts_must_rise_from_zero);
    RUN_TEST(indices_must_be_in_range);
    RUN_TEST(guesses_must_fit);
    RUN_TEST(defects_of_many_guesses_do_not_flood);
    RUN_TEST(values_must_be_finite_and_friction_positive);
    RUN_TEST(other_classes_and_ranks_are_refused);
    RUN_TEST(links_into_other_files_are_not_followed);
    RUN_TEST(data_outside_the_file_are_not_read);
    RUN_TEST(a_corrupted_chunk_is_refused);
    RUN_TEST(sizes_without_data_are_not_believed);
    RUN_TEST(memory_is_bounded_by_the_size_of_the_file);
    RUN_TEST(flipped_bytes_are_read_or_refused);
    return UNITY_END();
}
