// The columns, the rows of a run and its totals; reading finds the columns by name, in any order.
#include "harness/results/stats.h"

#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

// ---- The columns, in the order of the file.

// A file without one of these is not a statistics file; a column that is added later may be
// missing.
enum { NEEDED = 1 };

#define COLUMN_OF(groups_, name_, place_, kind_, unit_)                                            \
    SS_FIELD_AS(name_, ss_stats_line, place_, kind_, .unit = unit_, .groups = groups_)
#define COLUMN(name_, place_, kind_, unit_) COLUMN_OF(NEEDED, name_, place_, kind_, unit_)
#define TEXT(name_, place_)                 COLUMN(name_, place_, SS_FIELD_TEXT, NULL)
#define COUNT(name_, place_)                COLUMN(name_, place_, SS_FIELD_INTEGER, "1")
#define REAL(name_, place_, unit_)          COLUMN(name_, place_, SS_FIELD_REAL, unit_)
#define LATER_TEXT(name_, place_)           COLUMN_OF(0, name_, place_, SS_FIELD_TEXT, NULL)
#define LATER_COUNT(name_, place_)          COLUMN_OF(0, name_, place_, SS_FIELD_INTEGER, "1")
#define LATER_REAL(name_, place_, unit_)    COLUMN_OF(0, name_, place_, SS_FIELD_REAL, unit_)

const ss_field ss_stats_fields[] = {
    TEXT("scene", run.scene),
    TEXT("model", run.model),
    TEXT("solver", run.solver),
    COLUMN("seed", run.seed, SS_FIELD_SEED, NULL),
    COUNT("rods", run.rods),
    REAL("mu", run.mu, "1"),
    REAL("mu_obstacle", run.mu_obstacle, "1"),
    COUNT("step", row.step),
    REAL("time", row.report.time, "s"),
    REAL("dt", row.report.dt, "s"),
    COUNT("rejected", row.report.rejected),
    TEXT("reason", row.reason),
    COUNT("contacts", row.report.contacts),
    COUNT("contacts_obstacle", row.report.contacts_obstacle),
    COUNT("active", row.report.active),
    COUNT("hits", row.report.hits),
    COUNT("iterations", row.report.answer.iterations),
    TEXT("status", row.status),
    REAL("tol", run.tol, "1"),
    REAL("fb", row.report.answer.fb, "1"),
    REAL("fb_abs", row.report.answer.fb_abs, "cm/s"),
    REAL("natural", row.report.answer.natural, "1"),
    REAL("gs_seconds", row.report.answer.sweep_seconds, "s"), // iterations alone
    REAL("solve_seconds", row.report.answer.seconds, "s"),    // with their set-up
    REAL("collide_seconds", row.report.collide_seconds, "s"),
    REAL("assemble_seconds", row.report.assemble_seconds, "s"),
    REAL("step_seconds", row.report.seconds, "s"),
    REAL("kinetic", row.report.energy.kinetic, "J"),
    REAL("elastic", row.report.energy.elastic, "J"),
    REAL("potential", row.report.energy.potential, "J"),
    REAL("max_speed", row.report.max_speed, "m/s"),
    REAL("dispersion", row.dispersion, "m"),
    REAL("stretch_percent", row.stretch_percent, "%"),
    REAL("tip_x", row.tip[0], "m"),
    REAL("tip_y", row.tip[1], "m"),
    REAL("tip_z", row.tip[2], "m"),
    REAL("tip_vx", row.tip_velocity[0], "m/s"),
    REAL("tip_vy", row.tip_velocity[1], "m/s"),
    REAL("tip_vz", row.tip_velocity[2], "m/s"),
    REAL("dissipation", row.report.dissipation, "J"),
    LATER_REAL("gamma", run.gamma, "1"),
    LATER_REAL("bending_hz", run.bending_hz, "Hz"),
    LATER_TEXT("scheme", run.scheme),
    LATER_COUNT("iterates", row.report.iterates),
    LATER_REAL("change", row.report.change, "m/s"),
    LATER_TEXT("stiffness", row.stiffness),
    LATER_COUNT("lifted", row.report.lifted),
    LATER_REAL("tip_gap", row.tip_gap, "m"),
    LATER_REAL("unrest", row.unrest, "m"),
    LATER_REAL("normal", row.report.answer.normal, "1"),
    LATER_REAL("impulse_change", row.report.impulse_change, "N s"),
    LATER_REAL("change_rms", row.report.change_rms, "m/s"),
    LATER_REAL("judge_seconds", row.report.judge_seconds, "s"),
    LATER_REAL("prepare_seconds", row.report.prepare_seconds, "s"),
    LATER_REAL("dynamic_seconds", row.report.dynamic_seconds, "s"),
    LATER_REAL("factor_seconds", row.report.factor_seconds, "s"),
    LATER_REAL("penetration", row.report.penetration, "m"),
    LATER_COUNT("nonlinear_least", row.report.nonlinear_least),
    LATER_REAL("nonlinear_mean", row.report.nonlinear_mean, "1"),
    LATER_COUNT("nonlinear_most", row.report.nonlinear_most),
    LATER_COUNT("formula_steps", row.report.formula_steps),
    {.name = NULL},
};
#define NFIELDS (sizeof ss_stats_fields / sizeof ss_stats_fields[0] - 1)

// ---- Rows

ss_stats_row ss_stats_row_of(const ss_step_report *report, int step)
{
    ss_stats_row row = {.step = step,
                        .report = *report,
                        .dispersion = NAN,
                        .stretch_percent = NAN,
                        .tip_gap = NAN,
                        .unrest = NAN,
                        .tip = {NAN, NAN, NAN},
                        .tip_velocity = {NAN, NAN, NAN}};
    if (report->contacts == 0) { // nothing was solved
        row.report.answer =
            (ss_step_answer){.status = "", .fb = NAN, .fb_abs = NAN, .natural = NAN, .normal = NAN};
    }
    snprintf(row.reason, sizeof row.reason, "%s", ss_step_reason_names[report->reason]);
    snprintf(row.stiffness, sizeof row.stiffness, "%s", ss_stiffness_names[report->stiffness]);
    snprintf(row.status, sizeof row.status, "%s", row.report.answer.status);
    return row;
}

void ss_stats_print(ss_table *rows, const ss_stats_run *run, const ss_stats_row *row)
{
    const ss_stats_line line = {*run, *row};
    ss_table_row(rows, &line);
}

// ---- Totals

static double larger(double a, double b)
{
    return b > a || isnan(a) ? b : a;
}

void ss_stats_total(ss_stats_totals *t, const ss_stats_row *row)
{
    const ss_step_answer *answer = &row->report.answer;
    if (t->steps == 0) {
        t->fb_max = t->fb_abs_max = t->penetration_max = NAN;
    }
    t->steps++;
    t->rejected += row->report.rejected;
    t->time = row->report.time;
    t->contacts += row->report.contacts;
    t->hits += row->report.hits;
    t->contacts_max =
        row->report.contacts > t->contacts_max ? row->report.contacts : t->contacts_max;
    t->collide_seconds += row->report.collide_seconds;
    t->step_seconds += row->report.seconds;
    t->penetration_max = larger(t->penetration_max, row->report.penetration);
    if (row->report.contacts == 0) {
        return;
    }
    t->solved_steps++;
    t->iterations += answer->iterations;
    t->over += strcmp(row->status, "solved") != 0;
    t->fb_max = larger(t->fb_max, answer->fb);
    t->fb_abs_max = larger(t->fb_abs_max, answer->fb_abs);
    t->gs_seconds += answer->sweep_seconds;
    t->solve_seconds += answer->seconds;
}

// ---- Reading

// More columns than a file of ours has; those of others may be added.
#define MOST_COLUMNS 128

typedef struct reading {
    const char *path;
    int line;
    int column[NFIELDS]; // of each field; -1: missing from the file
    int ncolumns;
    ss_stats *stats;
    size_t capacity;
} reading;

// Splits a line at its commas, in place; quotes around a cell go, and of two inside one. The number
// of cells.
static int split(char *line, char **cells)
{
    int n = 0;
    for (char *at = line; n < MOST_COLUMNS; at++) {
        char *to = at;
        const bool quoted = *at == '"';
        cells[n++] = at;
        at += quoted;
        for (bool inside = quoted; *at != '\0' && (inside || *at != ','); at++) {
            if (quoted && *at == '"' && !(inside && at[1] == '"')) {
                inside = false;
                continue;
            }
            at += quoted && *at == '"';
            *to++ = *at;
        }
        const bool last = *at == '\0';
        *to = '\0';
        if (last) {
            return n;
        }
    }
    return n + 1;
}

static ss_status find_columns(reading *a, char **cells, int n, ss_error *e)
{
    a->ncolumns = n;
    if (n > 0 && strncmp(cells[0], "SQLite format", strlen("SQLite format")) == 0) {
        return ss_fail(e, SS_BAD_INPUT,
                       "%s: is a record of bench, and a file of simulate --stats is needed here",
                       a->path);
    }
    for (size_t f = 0; f < NFIELDS; f++) {
        int k = 0;
        while (k < n && strcmp(cells[k], ss_stats_fields[f].name) != 0) {
            k++;
        }
        if (k == n && ss_stats_fields[f].groups == NEEDED) {
            return ss_fail(e, SS_BAD_INPUT,
                           "%s: there is no column %s; a file of simulate --stats has one", a->path,
                           ss_stats_fields[f].name);
        }
        a->column[f] = k < n ? k : -1;
    }
    return SS_OK;
}

static bool set_real(const ss_field *field, const char *cell, void *line)
{
    const bool known = strcmp(cell, "nan") != 0;
    const bool infinite = strcmp(cell, "inf") == 0 || strcmp(cell, "-inf") == 0;
    double value = !known ? NAN : cell[0] == '-' ? -INFINITY : INFINITY;
    const bool good = !known || infinite || ss_number_real(cell, -DBL_MAX, DBL_MAX, &value);
    ss_field_set(field, line, value);
    return good;
}

static bool set(const ss_field *field, const char *cell, void *line)
{
    long count = 0;
    switch (field->kind) {
    case SS_FIELD_TEXT:
        ss_field_set_text(field, line, cell);
        return strlen(cell) < field->width;
    case SS_FIELD_SEED:
        return ss_number_seed(cell, (uint64_t *)(void *)((char *)line + field->offset));
    case SS_FIELD_REAL:
        return set_real(field, cell, line);
    case SS_FIELD_INTEGER:
    case SS_FIELD_LINK:
    case SS_FIELD_PART:
        break;
    }
    const bool good = ss_number_whole(cell, 0, INT_MAX, &count);
    ss_field_set(field, line, (double)count);
    return good;
}

static bool same_run(const ss_stats_run *a, const ss_stats_run *b)
{
    const bool mu = a->mu == b->mu || (isnan(a->mu) && isnan(b->mu));
    return strcmp(a->scene, b->scene) == 0 && strcmp(a->model, b->model) == 0 &&
           strcmp(a->solver, b->solver) == 0 && a->seed == b->seed && a->rods == b->rods && mu;
}

static bool room_for_one(reading *a)
{
    if (a->stats->count < a->capacity) {
        return true;
    }
    a->capacity = a->capacity == 0 ? 256 : 2 * a->capacity;
    ss_stats_row *rows = realloc(a->stats->rows, a->capacity * sizeof *rows);
    if (rows != NULL) {
        a->stats->rows = rows;
    }
    return rows != NULL;
}

static ss_status read_row(reading *a, char **cells, int n, ss_error *e)
{
    ss_stats *stats = a->stats;
    if (n != a->ncolumns) {
        return ss_fail(e, SS_BAD_INPUT, "%s: line %d has %d cells, and the first line names %d",
                       a->path, a->line, n, a->ncolumns);
    }
    if (!room_for_one(a)) {
        return ss_fail_memory(e, a->path);
    }
    ss_stats_line line = {0};
    ss_fields_blank(ss_stats_fields, &line);
    for (size_t f = 0; f < NFIELDS; f++) {
        const char *cell = a->column[f] < 0 ? NULL : cells[a->column[f]];
        if (cell != NULL && !set(&ss_stats_fields[f], cell, &line)) {
            return ss_fail(e, SS_BAD_INPUT, "%s: line %d holds '%.40s' in column %s", a->path,
                           a->line, cell, ss_stats_fields[f].name);
        }
    }
    if (stats->count > 0 && !same_run(&line.run, &stats->run)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "%s: line %d belongs to another run than the lines before it; a file holds "
                       "one run",
                       a->path, a->line);
    }
    stats->run = line.run;
    stats->rows[stats->count++] = line.row;
    return SS_OK;
}

// Reads a line, which goes on behind line ends in quotes. Returns its length, 0 at the end of the
// file, -1 without memory.
static ssize_t read_line(FILE *in, char **line, size_t *room)
{
    bool quoted = false, ended = false;
    size_t length = 0;
    for (int c; !ended && (c = getc_unlocked(in)) != EOF;) {
        if (length + 1 >= *room) {
            char *larger = realloc(*line, 2 * *room + 1024);
            if (larger == NULL) {
                return -1;
            }
            *line = larger;
            *room = 2 * *room + 1024;
        }
        (*line)[length++] = (char)c;
        quoted ^= c == '"';
        ended = c == '\n' && !quoted;
    }
    if (length > 0) {
        (*line)[length] = '\0';
    }
    return (ssize_t)length;
}

static ss_status read_lines(reading *a, FILE *in, ss_error *e)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length = 0;
    ss_status status = SS_OK;
    while (status == SS_OK && (length = read_line(in, &line, &room)) > 0) {
        char *cells[MOST_COLUMNS];
        a->line++;
        if (line[length - 1] != '\n') {
            break; // cut short by a kill
        }
        line[length - 1] = '\0';
        const int n = split(line, cells);
        if (n > MOST_COLUMNS) {
            status = ss_fail(e, SS_BAD_INPUT, "%s: line %d has more than %d cells", a->path,
                             a->line, MOST_COLUMNS);
        } else {
            status = a->line == 1 ? find_columns(a, cells, n, e) : read_row(a, cells, n, e);
        }
    }
    free(line);
    if (status == SS_OK && length < 0) {
        return ss_fail_memory(e, a->path);
    }
    if (status == SS_OK && a->stats->count == 0) {
        status = ss_fail(e, SS_BAD_INPUT, "%s holds no step of a simulation", a->path);
    }
    return status;
}

ss_status ss_stats_read(const char *path, ss_stats *stats, ss_error *e)
{
    *stats = (ss_stats){0};
    FILE *in = fopen(path, "re");
    if (in == NULL) {
        return ss_fail(e, SS_BAD_INPUT, "%s: cannot be read: %s", path, strerror(errno));
    }
    reading a = {.path = path, .stats = stats};
    const ss_status status = read_lines(&a, in, e);
    fclose(in);
    if (status != SS_OK) {
        ss_stats_free(stats);
    }
    return status;
}

void ss_stats_free(ss_stats *stats)
{
    free(stats->rows);
    *stats = (ss_stats){0};
}

ss_status ss_stats_read_all(char *const *paths, size_t count, ss_stats **stats, ss_error *e)
{
    *stats = calloc(count + 1, sizeof **stats);
    ss_status status = *stats != NULL ? SS_OK : ss_fail_memory(e, "the statistics");
    for (size_t k = 0; k < count && status == SS_OK; k++) {
        status = ss_stats_read(paths[k], &(*stats)[k], e);
    }
    if (status != SS_OK) {
        ss_stats_free_all(*stats, count);
        *stats = NULL;
    }
    return status;
}

void ss_stats_free_all(ss_stats *stats, size_t count)
{
    for (size_t k = 0; stats != NULL && k < count; k++) {
        ss_stats_free(&stats[k]);
    }
    free(stats);
}
