#include "harness/simulate/iterates.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/simulate/hold.h"
#include "harness/table.h"

struct ss_iterates {
    char *path;
    FILE *file;
    ss_table *rows;
};

typedef struct row {
    int step, iterate, contacts;
    double change, change_rms, impulse_change, fb, normal;
} row;

static const ss_field FIELDS[] = {
    SS_FIELD(row, step, SS_FIELD_INTEGER, .unit = "1"),
    SS_FIELD(row, iterate, SS_FIELD_INTEGER, .unit = "1"),
    SS_FIELD(row, contacts, SS_FIELD_INTEGER, .unit = "1"),
    SS_FIELD(row, change, SS_FIELD_REAL, .unit = "m/s"),
    SS_FIELD(row, change_rms, SS_FIELD_REAL, .unit = "m/s"),
    SS_FIELD(row, impulse_change, SS_FIELD_REAL, .unit = "N s"),
    SS_FIELD(row, fb, SS_FIELD_REAL, .unit = "1"),
    SS_FIELD(row, normal, SS_FIELD_REAL, .unit = "1"),
    {.name = NULL},
};

static void iterates_free(ss_iterates *a)
{
    ss_table_free(a->rows);
    if (a->file != NULL) {
        fclose(a->file);
    }
    free(a->path);
    free(a);
}

ss_iterates *ss_iterates_open(const char *path, ss_error *e)
{
    ss_iterates *a = calloc(1, sizeof *a);
    if (a == NULL) {
        ss_fail_memory(e, path);
        return NULL;
    }
    a->path = strdup(path);
    ss_status status = a->path != NULL ? ss_hold_open(path, &a->file, e) : ss_fail_memory(e, path);
    if (status == SS_OK) {
        status = ss_hold_empty(a->file, path, e);
    }
    if (status == SS_OK) {
        a->rows = ss_table_of_fields(a->file, SS_FORMAT_CSV, FIELDS);
        status = a->rows != NULL ? SS_OK : ss_fail_memory(e, path);
    }
    if (status != SS_OK) {
        iterates_free(a);
        return NULL;
    }
    return a;
}

void ss_iterates_add(ss_iterates *a, int step, const ss_step_report *report, int contacts,
                     const ss_step_answer *answer)
{
    const row now = {.step = step,
                     .iterate = report->iterates,
                     .contacts = contacts,
                     .change = report->change,
                     .change_rms = report->change_rms,
                     .impulse_change = report->impulse_change,
                     .fb = answer->fb,
                     .normal = answer->normal};
    ss_table_row(a->rows, &now);
}

ss_status ss_iterates_close(ss_iterates *a, ss_error *e)
{
    if (a == NULL) {
        return SS_OK;
    }
    const bool printed = ss_table_finish(a->rows, NULL) == SS_OK; // which frees it
    a->rows = NULL;
    const bool written = fflush(a->file) == 0 && !ferror(a->file) && printed;
    const ss_status status =
        written ? SS_OK : ss_fail(e, SS_SYSTEM, "%s: cannot be written in full", a->path);
    iterates_free(a);
    return status;
}
