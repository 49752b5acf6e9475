#include "harness/gnuplot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/child.h"

const char *ss_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

// What it said before it failed: its first line that is not empty, without blanks before it.
static ss_status explain(const ss_child *child, ss_error *e)
{
    char line[300];
    if (child->ending == SS_ENDED_BY_CODE && child->number == SS_CHILD_NOT_STARTED) {
        return ss_fail(e, SS_SYSTEM,
                       "gnuplot could not be started; figures need it (Debian: gnuplot-nox)");
    }
    snprintf(line, sizeof line, "%.*s", (int)child->length, child->length > 0 ? child->said : "");
    const char *begin = line + strspn(line, " \t\r\n");
    return ss_fail(e, SS_SYSTEM, "gnuplot failed%s%.*s", *begin != '\0' ? ": " : "",
                   (int)strcspn(begin, "\r\n"), begin);
}

static ss_status run_gnuplot(const char *folder, char *script, ss_error *e)
{
    char name[] = "gnuplot";
    char *const words[] = {name, script, NULL};
    const ss_child_setup setup = {
        .program = name, .words = words, .folder = folder, .speech = SS_CHILD_ON_STREAMS};
    ss_child child;
    int ended;
    ss_status status = ss_child_start(&child, &setup, e);
    if (status == SS_OK) {
        status = ss_child_wait(&child, 1, INFINITY, NULL, &ended, e);
    }
    if (status == SS_OK && !(child.ending == SS_ENDED_BY_CODE && child.number == 0)) {
        status = explain(&child, e);
    }
    ss_child_clear(&child);
    return status;
}

ss_status ss_gnuplot(const char *path, ss_error *e)
{
    char *folder = NULL, *script = NULL;
    const int length = (int)(ss_file_name(path) - path);
    if (asprintf(&folder, "%.*s.", length, path) < 0) {
        folder = NULL;
    }
    // "./" keeps a name that starts with a dash from being an option.
    if (asprintf(&script, "./%s", ss_file_name(path)) < 0) {
        script = NULL;
    }
    const ss_status status = folder != NULL && script != NULL ? run_gnuplot(folder, script, e)
                                                              : ss_fail_memory(e, "a file name");
    free(folder);
    free(script);
    return status;
}
