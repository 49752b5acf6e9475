// harness/report/records.c -- see records.h.
#include "harness/report/records.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/tables.h"

#define ROW_DIGITS     9
#define HISTORY_DIGITS 6
// The columns that are compared with a tolerance (ss_measures_error).
static const char *const UP[] = {"fb", "normal", NULL};
// Steps of a simulation that a page holds at most.
#define MOST_STEPS 4000

// ---- Histories

static void put_history(ss_page_json *json, const char *key, const ss_record_rows *rows,
                        void (*put)(ss_page_json *json, const ss_history *h, int k))
{
    ss_page_json_key(json, key);
    ss_page_json_begin(json, '[');
    for (size_t row = 0; row < rows->count; row++) {
        const ss_history *h = &rows->rows[row].history;
        for (int k = 0; k < h->count; k++) {
            put(json, h, k);
        }
    }
    ss_page_json_end(json, ']');
}

static void put_iteration(ss_page_json *json, const ss_history *h, int k)
{
    ss_page_json_real(json, h->iteration[k] - (k > 0 ? h->iteration[k - 1] : 0.0), 17);
}

static void put_seconds(ss_page_json *json, const ss_history *h, int k)
{
    ss_page_json_real(json, h->seconds[k], HISTORY_DIGITS);
}

static void put_error(ss_page_json *json, const ss_history *h, int k)
{
    ss_page_json_real_up(json, ss_history_error(h, k), HISTORY_DIGITS);
}

static void put_histories(ss_page_json *json, const ss_record_rows *rows)
{
    long long start = 0;
    ss_page_json_key(json, "history");
    ss_page_json_begin(json, '{');
    ss_page_json_key(json, "start");
    ss_page_json_begin(json, '[');
    for (size_t k = 0; k <= rows->count; k++) {
        ss_page_json_integer(json, start);
        start += k < rows->count ? rows->rows[k].history.count : 0;
    }
    ss_page_json_end(json, ']');
    put_history(json, "iteration", rows, put_iteration);
    put_history(json, "seconds", rows, put_seconds);
    put_history(json, "error", rows, put_error);
    ss_page_json_end(json, '}');
}

// ---- Solvers and notes

static void put_solvers(ss_page_json *json, const ss_trials *t)
{
    ss_page_json_key(json, "solvers");
    ss_page_json_begin(json, '[');
    for (size_t k = 0; k < t->nsolvers; k++) {
        const ss_solver_trials *s = &t->solvers[k];
        ss_page_json_begin(json, '{');
        ss_page_json_key(json, "spec");
        ss_page_json_text(json, s->spec);
        ss_page_json_key(json, "start");
        ss_page_json_text(json, s->start);
        ss_page_json_key(json, "label");
        ss_page_json_text(json, s->label);
        ss_page_json_key(json, "approximate");
        ss_page_json_bool(json, s->approximate);
        ss_page_json_key(json, "sweeps");
        ss_page_json_bool(json, s->gauss_seidel);
        ss_page_json_key(json, "hybrid");
        ss_page_json_bool(json, strchr(s->bare, '+') != NULL);
        ss_page_json_end(json, '}');
    }
    ss_page_json_end(json, ']');
}

// The sentences that stand below a table of these trials, a line each.
static ss_status put_notes(ss_page_json *json, const ss_trials *t, ss_error *e)
{
    ss_table *table = ss_table_new(stdout, SS_FORMAT_TEXT); // it is never printed
    ss_table_circumstances(table, t);
    size_t count;
    char *const *notes = ss_table_notes(table, &count);
    ss_page_json_key(json, "notes");
    ss_page_json_begin(json, '[');
    for (size_t k = 0; k < count; k++) {
        ss_page_json_text(json, notes[k]);
    }
    ss_page_json_end(json, ']');
    const ss_status status = table != NULL ? SS_OK : ss_fail_memory(e, "the notes of the page");
    ss_table_free(table);
    return status;
}

// ---- Records

static double loosest(const ss_record_rows *rows)
{
    double tolerance = 0.0;
    for (size_t k = 0; k < rows->count; k++) {
        tolerance = fmax(tolerance, rows->rows[k].tolerance);
    }
    return tolerance;
}

ss_status ss_page_put_records(ss_page_json *json, const ss_record_rows *rows, double tolerance,
                              bool histories, ss_trials **trials, ss_error *e)
{
    ss_trials *all = NULL;
    const double chosen = isnan(tolerance) ? loosest(rows) : tolerance;
    ss_status status = ss_trials_new(rows, chosen, trials, e);
    if (status == SS_OK) {
        status = ss_trials_new(rows, 1.0, &all, e); // every solver, whatever its tolerance
    }
    if (status == SS_OK) {
        ss_page_json_key(json, "tolerance");
        ss_page_json_real(json, chosen, 17);
        ss_page_json_key(json, "rows");
        ss_page_json_columns(json, ss_record_fields, rows->rows, rows->count, sizeof *rows->rows,
                             ROW_DIGITS, UP);
        put_solvers(json, all);
        status = put_notes(json, *trials, e);
    }
    if (status == SS_OK && histories) {
        put_histories(json, rows);
    }
    ss_trials_free(all);
    return status;
}

// ---- Simulations

ss_status ss_page_put_simulation(ss_page_json *json, const char *file, const ss_stats *stats,
                                 ss_error *e)
{
    const size_t every = (stats->count + MOST_STEPS - 1) / MOST_STEPS;
    const size_t count = (stats->count + every - 1) / every;
    ss_stats_line *lines = calloc(count, sizeof *lines);
    if (lines == NULL) {
        return ss_fail_memory(e, file);
    }
    for (size_t k = 0; k < count; k++) {
        lines[k] = (ss_stats_line){stats->run, stats->rows[k * every]};
    }
    ss_page_json_begin(json, '{');
    ss_page_json_key(json, "file");
    ss_page_json_text(json, file);
    ss_page_json_key(json, "every");
    ss_page_json_integer(json, (long long)every);
    ss_page_json_key(json, "steps");
    ss_page_json_integer(json, (long long)stats->count);
    ss_page_json_key(json, "columns");
    ss_page_json_columns(json, ss_stats_fields, lines, count, sizeof *lines, HISTORY_DIGITS, UP);
    ss_page_json_end(json, '}');
    free(lines);
    return SS_OK;
}
