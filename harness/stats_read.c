// Reads the CSV that ss_stats_print writes: columns by name, in any order.
#include "harness/stats.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// More columns than a file of ours has; those of others may be added.
#define MOST_COLUMNS 128

typedef enum kind { TEXT, COUNT, SEED, REAL } kind;

// Where the cells of a column go.
typedef struct field {
    const char *name;
    kind kind;
    bool of_run;
    size_t place, room; // room: of a text
} field;

#define RUN(name, kind)                                                                            \
    {                                                                                              \
#name, kind, true, offsetof(ss_stats_run, name), sizeof(((ss_stats_run *)0)->name)         \
    }
#define ROW(name, kind)                                                                            \
    {                                                                                              \
#name, kind, false, offsetof(ss_stats_row, name), sizeof(((ss_stats_row *)0)->name)        \
    }
#define PART(name, array, k)                                                                       \
    {                                                                                              \
        name, REAL, false, offsetof(ss_stats_row, array) + (k) * sizeof(double), sizeof(double)    \
    }

static const field FIELDS[] = {
    RUN(scene, TEXT),
    RUN(model, TEXT),
    RUN(solver, TEXT),
    RUN(seed, SEED),
    RUN(rods, COUNT),
    RUN(mu, REAL),
    RUN(mu_obstacle, REAL),
    RUN(tol, REAL),
    ROW(step, COUNT),
    ROW(time, REAL),
    ROW(dt, REAL),
    ROW(rejected, COUNT),
    ROW(reason, TEXT),
    ROW(contacts, COUNT),
    ROW(contacts_obstacle, COUNT),
    ROW(active, COUNT),
    ROW(hits, COUNT),
    ROW(iterations, COUNT),
    ROW(status, TEXT),
    ROW(fb, REAL),
    ROW(fb_abs, REAL),
    ROW(natural, REAL),
    ROW(gs_seconds, REAL),
    ROW(solve_seconds, REAL),
    ROW(collide_seconds, REAL),
    ROW(assemble_seconds, REAL),
    ROW(step_seconds, REAL),
    ROW(kinetic, REAL),
    ROW(elastic, REAL),
    ROW(potential, REAL),
    ROW(max_speed, REAL),
    ROW(dispersion, REAL),
    ROW(stretch_percent, REAL),
    PART("tip_x", tip, 0),
    PART("tip_y", tip, 1),
    PART("tip_z", tip, 2),
    PART("tip_vx", tip_velocity, 0),
    PART("tip_vy", tip_velocity, 1),
    PART("tip_vz", tip_velocity, 2),
    ROW(dissipation, REAL),
};

#define NFIELDS (sizeof FIELDS / sizeof FIELDS[0])

typedef struct reading {
    const char *path;
    int line;
    int column[NFIELDS]; // of each field
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
    for (size_t f = 0; f < NFIELDS; f++) {
        int k = 0;
        while (k < n && strcmp(cells[k], FIELDS[f].name) != 0) {
            k++;
        }
        if (k == n) {
            return ss_fail(e, SS_BAD_INPUT,
                           "%s: there is no column %s; a file of simulate --stats has one", a->path,
                           FIELDS[f].name);
        }
        a->column[f] = k;
    }
    return SS_OK;
}

static bool set_real(const char *cell, double *value)
{
    char *end = NULL;
    *value = strtod(cell, &end);
    return end != cell && *end == '\0';
}

static bool set(const field *f, const char *cell, void *place)
{
    char *end = NULL;
    errno = 0;
    switch (f->kind) {
    case TEXT:
        snprintf(place, f->room, "%s", cell);
        return strlen(cell) < f->room;
    case REAL:
        return set_real(cell, place);
    case SEED:
        *(uint64_t *)place = strtoull(cell, &end, 10);
        return end != cell && *end == '\0' && errno == 0;
    case COUNT:
        break;
    }
    const long value = strtol(cell, &end, 10);
    *(int *)place = (int)value;
    return end != cell && *end == '\0' && value >= 0 && value <= 2147483647;
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
    ss_stats_run run = {0};
    ss_stats_row *row = &stats->rows[stats->count];
    *row = (ss_stats_row){0};
    for (size_t f = 0; f < NFIELDS; f++) {
        const char *cell = cells[a->column[f]];
        char *base = FIELDS[f].of_run ? (char *)&run : (char *)row;
        if (!set(&FIELDS[f], cell, base + FIELDS[f].place)) {
            return ss_fail(e, SS_BAD_INPUT, "%s: line %d holds '%.40s' in column %s", a->path,
                           a->line, cell, FIELDS[f].name);
        }
    }
    if (stats->count > 0 && !same_run(&run, &stats->run)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "%s: line %d belongs to another run than the lines before it; a file holds "
                       "one run",
                       a->path, a->line);
    }
    stats->run = run;
    stats->count++;
    return SS_OK;
}

static ss_status read_lines(reading *a, FILE *in, ss_error *e)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    ss_status status = SS_OK;
    while (status == SS_OK && (length = getline(&line, &room, in)) > 0) {
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
