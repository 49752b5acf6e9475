#include "tests/support.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "problems/status.h"

void check_ordered(double small, double large, const char *text, int line)
{
    if (!(small <= large)) {
        char message[256];
        snprintf(message, sizeof message, "%s: %.17g against %.17g", text, small, large);
        UNITY_TEST_FAIL(line, message);
    }
}

void check_status(int status, const void *error, const char *text, int line)
{
    if (status != SS_OK) {
        const ss_error *e = error;
        char message[900];
        snprintf(message, sizeof message, "%s returned %d: %s", text, status, e->text);
        UNITY_TEST_FAIL(line, message);
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

static void remove_scratch(void)
{
    nftw(scratch_directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

const char *scratch_path(const char *name)
{
    static char paths[8][512];
    static int next;
    if (scratch_directory[0] == '\0') {
        const char *base = getenv("TMPDIR");
        snprintf(scratch_directory, sizeof scratch_directory, "%s/stickslip-test-XXXXXX",
                 base != NULL ? base : "/tmp");
        if (mkdtemp(scratch_directory) == NULL) {
            perror("mkdtemp");
            exit(4);
        }
        atexit(remove_scratch);
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
