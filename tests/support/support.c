#include "tests/support/support.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static char about[160];

void checks_are_about(const char *subject)
{
    snprintf(about, sizeof about, "%s", subject);
}

static void fail_check(int line, const char *text, const char *found)
{
    char message[1100];
    snprintf(message, sizeof message, "%s%s%s%s", about, about[0] != '\0' ? ": " : "", text, found);
    UNITY_TEST_FAIL(line, message);
}

void check_true(bool holds, const char *text, int line)
{
    if (!holds) {
        fail_check(line, text, "");
    }
}

void check_ordered(double small, double large, const char *text, int line)
{
    if (!(small <= large)) {
        char found[80];
        snprintf(found, sizeof found, ": %.17g against %.17g", small, large);
        fail_check(line, text, found);
    }
}

void check_within(double actual, double expected, double tolerance, const char *text, int line)
{
    const double apart = fabs(actual - expected);
    if (!(apart <= tolerance)) {
        char found[160];
        snprintf(found, sizeof found, ": %.17g against %.17g, which is %.3g apart, not %.3g",
                 actual, expected, apart, tolerance);
        fail_check(line, text, found);
    }
}

void check_status(int status, const ss_error *error, const char *text, int line)
{
    if (status != SS_OK) {
        char found[900];
        snprintf(found, sizeof found, " returned %d: %s", status, error->text);
        fail_check(line, text, found);
    }
}

static char scratch_directory[128];

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status;
    (void)kind;
    (void)where;
    return remove(path);
}

void remove_scratch(void)
{
    if (scratch_directory[0] != '\0') {
        nftw(scratch_directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
        scratch_directory[0] = '\0';
    }
}

// Files in memory, if there is room for them, need not wait for a disk: records are synced often.
static const char *scratch_base(void)
{
    static const char memory[] = "/dev/shm";
    static const double room = 1e9; // bytes
    const char *base = getenv("TMPDIR");
    if (base != NULL) {
        return base;
    }
    struct statvfs status;
    const bool fits = access(memory, W_OK | X_OK) == 0 && statvfs(memory, &status) == 0 &&
                      (double)status.f_bavail * (double)status.f_frsize >= room;
    return fits ? memory : "/tmp";
}

const char *scratch_path(const char *name)
{
    static char paths[8][512];
    static int next;
    static bool registered;
    if (scratch_directory[0] == '\0') {
        snprintf(scratch_directory, sizeof scratch_directory, "%s/stickslip-test-XXXXXX",
                 scratch_base());
        if (mkdtemp(scratch_directory) == NULL) {
            perror("mkdtemp");
            exit(4);
        }
        if (!registered) {
            atexit(remove_scratch);
            registered = true;
        }
    }
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", scratch_directory, name);
    return path;
}

const char *fclib_folder(void)
{
    const char *folder = getenv("STICKSLIP_FCLIB_DATA");
    return folder != NULL && access(folder, R_OK) == 0 ? folder : NULL;
}

char *read_bytes(const char *path, size_t *count)
{
    FILE *stream = fopen(path, "rb");
    TEST_ASSERT_NOT_NULL_MESSAGE(stream, path);
    TEST_ASSERT_EQUAL_INT(0, fseek(stream, 0, SEEK_END));
    *count = (size_t)ftell(stream);
    rewind(stream);
    char *bytes = malloc(*count + 1);
    TEST_ASSERT_NOT_NULL(bytes);
    TEST_ASSERT_EQUAL_size_t(*count, fread(bytes, 1, *count, stream));
    bytes[*count] = '\0';
    fclose(stream);
    return bytes;
}

void write_bytes(const char *path, const void *bytes, size_t count)
{
    FILE *stream = fopen(path, "wb");
    TEST_ASSERT_NOT_NULL_MESSAGE(stream, path);
    TEST_ASSERT_EQUAL_size_t(count, fwrite(bytes, 1, count, stream));
    TEST_ASSERT_EQUAL_INT(0, fclose(stream));
}

const char *put_scratch(const char *name, const char *text)
{
    const char *path = scratch_path(name);
    write_bytes(path, text, strlen(text));
    return path;
}

double largest_of(const double *x, int count)
{
    double most = 0.0;
    for (int k = 0; k < count; k++) {
        most = fabs(x[k]) <= most || isnan(most) ? most : fabs(x[k]);
    }
    return most;
}
