#include "harness/record/row.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"

#define FIELD(name_, kind_, unit_, rank_)                                                          \
    SS_FIELD(ss_record_row, name_, kind_, .unit = unit_, .rank = rank_)
#define TEXT(name_, rank_)        FIELD(name_, SS_FIELD_TEXT, NULL, rank_)
#define INTEGER(name_, rank_)     FIELD(name_, SS_FIELD_INTEGER, "1", rank_)
#define REAL(name_, unit_, rank_) FIELD(name_, SS_FIELD_REAL, unit_, rank_)
#define BETWEEN(low_, high_)      .low = (low_), .high = (high_)

const ss_field ss_result_fields[] = {
    TEXT(problem, SS_RANK_KEY),
    INTEGER(contacts, SS_RANK_USEFUL),
    TEXT(solver, SS_RANK_KEY),
    SS_FIELD_AS("tol", ss_record_row, tolerance, SS_FIELD_REAL, .unit = "1", BETWEEN(0.0, 1.0),
                .rank = SS_RANK_USEFUL),
    TEXT(status, SS_RANK_KEY),
    INTEGER(iterations, SS_RANK_KEY),
    INTEGER(local_solves, SS_RANK_FURTHER),
    REAL(alt_percent, "%", SS_RANK_FURTHER),
    REAL(fail_percent, "%", SS_RANK_FURTHER),
    REAL(seconds, "s", SS_RANK_KEY),
    REAL(cpu_seconds, "s", SS_RANK_PARTS),
    REAL(setup_seconds, "s", SS_RANK_PARTS),
    REAL(sweep_seconds, "s", SS_RANK_PARTS),
    SS_FIELD(ss_record_row, measures, SS_FIELD_PART, .part = ss_measure_fields,
             .groups = SS_MEASURES_OF_ROWS),
    TEXT(detail, SS_RANK_WHY),
    {.name = NULL},
};

const ss_field ss_record_fields[] = {
    {.name = "result", .kind = SS_FIELD_PART, .part = ss_result_fields},
    TEXT(problem_sha256, SS_RANK_ORIGIN),
    TEXT(start, SS_RANK_ORIGIN),
    TEXT(build, SS_RANK_ORIGIN),
    TEXT(scene, SS_RANK_ORIGIN),
    INTEGER(dim, SS_RANK_ORIGIN),
    SS_FIELD(ss_record_row, max_iterations, SS_FIELD_INTEGER, .unit = "1", BETWEEN(0.0, INT_MAX),
             .rank = SS_RANK_ORIGIN),
    SS_FIELD(ss_record_row, time_limit, SS_FIELD_REAL, .unit = "s", BETWEEN(0.0, 1e9),
             .rank = SS_RANK_ORIGIN),
    REAL(seconds_median, "s", SS_RANK_ORIGIN),
    INTEGER(repeats, SS_RANK_ORIGIN),
    REAL(load, "1", SS_RANK_ORIGIN),
    TEXT(host, SS_RANK_ORIGIN),
    TEXT(machine, SS_RANK_ORIGIN),
    TEXT(date, SS_RANK_ORIGIN),
    TEXT(outcome, SS_RANK_ORIGIN),
    {.name = NULL},
};

ss_record_row ss_record_row_blank(void)
{
    ss_record_row row = {0};
    ss_fields_blank(ss_record_fields, &row);
    row.measures = ss_measures_none();
    row.repeats = 0;
    return row;
}

void ss_record_put_label(const char *label, char *text, size_t room)
{
    const size_t length = strlen(label);
    snprintf(text, room, "%s", length < room ? label : label + length - (room - 1));
}

void ss_record_stand_in(const char *label, char sha256[65])
{
    ss_sha256 hash;
    ss_sha256_init(&hash);
    ss_sha256_update(&hash, label, strlen(label));
    ss_sha256_hex(&hash, SS_SHA256_BYTES, sha256);
}

ss_status ss_record_check(const ss_record_row *row, ss_error *e)
{
    ss_field field;
    for (ss_fields walk = ss_fields_of(ss_record_fields); ss_fields_next(&walk, &field);) {
        if (field.low == field.high) {
            continue;
        }
        const double value = field.kind == SS_FIELD_INTEGER ? (double)ss_field_integer(&field, row)
                                                            : ss_field_number(&field, row);
        if (!(value >= field.low && value <= field.high)) {
            return ss_fail(e, SS_BAD_INPUT,
                           "%s of %s by %s is %g, and must be from %g to %g; make the run anew in "
                           "another record",
                           field.name, row->problem, row->solver, value, field.low, field.high);
        }
    }
    return SS_OK;
}

// ---- The history.

ss_status ss_history_new(int count, ss_history *history, ss_error *e)
{
    *history = (ss_history){0};
    if (count == 0) {
        return SS_OK;
    }
    const size_t n = (size_t)count;
    double *room = malloc(SS_HISTORY_COLUMNS * n * sizeof *room);
    if (room == NULL) {
        return ss_fail_memory(e, "the history of a run");
    }
    *history = (ss_history){.count = count,
                            .iteration = room,
                            .seconds = room + n,
                            .fb = room + 2 * n,
                            .normal = room + 3 * n};
    return SS_OK;
}

void ss_history_columns(const ss_history *history, double *columns[SS_HISTORY_COLUMNS])
{
    columns[0] = history->iteration;
    columns[1] = history->seconds;
    columns[2] = history->fb;
    columns[3] = history->normal;
}

double ss_history_error(const ss_history *history, int k)
{
    const ss_measures m = {.fb = history->fb[k], .normal = history->normal[k]};
    return ss_measures_error(&m);
}

void ss_history_free(ss_history *history)
{
    free(history->iteration);
    *history = (ss_history){0};
}

void ss_record_row_free(ss_record_row *row)
{
    if (row != NULL) {
        ss_history_free(&row->history);
    }
}
