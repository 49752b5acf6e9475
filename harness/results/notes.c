// Under which conditions the numbers of a table were measured, in sentences.
#include "harness/results/tables.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "harness/complain.h"

// More files than these are counted instead of named.
#define NAMED_FILES 6

// Appends to a list with commas what fits.
__attribute__((format(printf, 3, 4))) static void append(char *list, size_t room,
                                                         const char *format, ...)
{
    va_list arguments;
    size_t used = strlen(list);
    snprintf(list + used, room - used, "%s", used > 0 ? ", " : "");
    used = strlen(list);
    va_start(arguments, format);
    vsnprintf(list + used, room - used, format, arguments);
    va_end(arguments);
}

// Solvers that tell nothing on the way to their answer, such as those of Siconos.
static void note_whole_runs(ss_table *table, const ss_trials *t)
{
    char names[400] = "";
    for (size_t k = 0; k < t->nsolvers; k++) {
        bool told = true;
        for (size_t p = 0; p < t->nproblems; p++) {
            const ss_trial *trial = &t->solvers[k].trials[p];
            told &= trial->row == NULL || !trial->solved ||
                    ss_history_tells_course(&trial->row->history);
        }
        if (!told) {
            append(names, sizeof names, "%s", t->solvers[k].label);
        }
    }
    if (names[0] != '\0') {
        ss_table_note(table,
                      "Only the final answer was recorded, so that whole runs are counted: %s.",
                      names);
    }
}

void ss_table_note_tolerance(ss_table *table, const ss_trials *t)
{
    char tolerance[32];
    ss_table_number(t->tolerance, 3, tolerance);
    ss_table_note(
        table, "Tolerance: max(fb, normal/2) <= %s, dimensionless, computed afresh by the judge.",
        tolerance);
    if (t->from_histories) {
        ss_table_note(
            table,
            "Runs were made to a tighter tolerance; iterations and times are those "
            "until it was %s first, read from their histories, which keep every iteration "
            "up to the fiftieth and then one in a few percent.",
            tolerance);
        note_whole_runs(table, t);
    }
}

// The name of a row's file, without folder and without the problem of a collection.
static int file_of(const ss_record_row *row, const char **name)
{
    const char *slash = strrchr(row->problem, '/');
    *name = slash != NULL ? slash + 1 : row->problem;
    return (int)strcspn(*name, ":");
}

// "" where it is unknown or several.
static const char *common_scene(const ss_trials *t)
{
    const char *scene = t->problems[0]->scene;
    for (size_t k = 1; k < t->nproblems; k++) {
        scene = strcmp(t->problems[k]->scene, scene) == 0 ? scene : "";
    }
    return scene;
}

// " (1 of them could not be read), of 60 to 200 contacts": one that could not be read has none.
static void describe_sizes(const ss_trials *t, char *text, size_t room)
{
    int unread = 0, smallest = INT_MAX, largest = 0;
    for (size_t k = 0; k < t->nproblems; k++) {
        const int contacts = t->problems[k]->contacts;
        unread += contacts <= 0;
        smallest = contacts > 0 && contacts < smallest ? contacts : smallest;
        largest = contacts > largest ? contacts : largest;
    }
    char not_read[60] = "", range[60] = "";
    if (unread > 0) {
        snprintf(not_read, sizeof not_read, " (%d of them could not be read)", unread);
    }
    if (smallest < largest) {
        snprintf(range, sizeof range, ", of %d to %d contacts", smallest, largest);
    } else if (smallest == largest) {
        snprintf(range, sizeof range, ", of %d contact%s", smallest, ss_plural(smallest));
    }
    const char *scene = common_scene(t);
    snprintf(text, room, "%s%s%s%s", not_read, scene[0] != '\0' ? " of the scene " : "", scene,
             range);
}

static void note_problems(ss_table *table, const ss_trials *t)
{
    char names[400] = "", sizes[300];
    int files = 0;
    for (size_t k = 0; k < t->nproblems; k++) {
        const char *name, *before = "";
        const int length = file_of(t->problems[k], &name);
        const int before_length = k > 0 ? file_of(t->problems[k - 1], &before) : -1;
        if (length != before_length || strncmp(name, before, (size_t)length) != 0) {
            append(names, sizeof names, "%.*s", length, name);
            files++;
        }
    }
    if (files > NAMED_FILES) {
        snprintf(names, sizeof names, "%d files", files);
    }
    describe_sizes(t, sizes, sizeof sizes);
    ss_table_note(table, "Problems: %zu%s, from %s.", t->nproblems, sizes, names);
}

// Whether the options of a spec hold this one.
static bool has_option(const char *spec, const char *option)
{
    const char *options = strchr(spec, ':');
    const char *found = options != NULL ? strstr(options, option) : NULL;
    return found != NULL && strchr(":,.", found[-1]) != NULL &&
           strchr(",", found[strlen(option)]) != NULL;
}

static void note_freezing(ss_table *table, const ss_trials *t)
{
    size_t paper = 0, absolute = 0, off = 0;
    for (size_t k = 0; k < t->nsolvers; k++) {
        const char *spec = t->solvers[k].spec;
        paper += has_option(spec, "freeze=paper");
        const bool printed = has_option(spec, "freeze=absolute") || has_option(spec, "as=printed");
        absolute += printed;
        off += !printed && !has_option(spec, "freeze=paper") && !has_option(spec, "freeze=on");
    }
    if (paper == t->nsolvers) {
        ss_table_note(table, "Contacts are frozen as in [D11] (freeze=paper).");
    } else if (absolute == t->nsolvers) {
        ss_table_note(table, "Contacts are frozen as in [D11], below an absolute epsilon "
                             "(freeze=absolute).");
    } else if (off == t->nsolvers) {
        ss_table_note(table, "No contact is frozen.");
    } else {
        ss_table_note(table, "Contacts are frozen in some solvers only, as their specs say.");
    }
}

// Options that the names in the table leave out.
static void note_options(ss_table *table, const ss_trials *t)
{
    char specs[600] = "";
    const char *first = NULL;
    bool common = true;
    for (size_t k = 0; k < t->nsolvers; k++) {
        const char *options = strchr(t->solvers[k].spec, ':');
        first = k == 0 ? options : first;
        common &= options != NULL && first != NULL && strcmp(options, first) == 0;
        if (options != NULL && strchr(t->solvers[k].label, ':') == NULL) {
            append(specs, sizeof specs, "%s", t->solvers[k].spec);
        }
    }
    if (common && strcmp(first, ":freeze=paper") != 0) {
        ss_table_note(table, "Options of all solvers: %s.", first + 1);
    } else if (!common && specs[0] != '\0') {
        ss_table_note(table, "With their options: %s.", specs);
    }
}

// Why a run has no numbers; in the order of the footnote.
static const char *const SILENT[] = {"crashed", "time_limit", "stopped", "bad_input"};

static void list_silent(const ss_trials *t, const ss_solver_trials *solver, char *list, size_t room)
{
    for (size_t s = 0; s < sizeof SILENT / sizeof SILENT[0]; s++) {
        size_t count = 0;
        for (size_t p = 0; p < t->nproblems; p++) {
            const ss_trial *trial = &solver->trials[p];
            count += trial->row != NULL && isnan(trial->seconds) &&
                     strcmp(trial->row->status, SILENT[s]) == 0;
        }
        if (count > 0) {
            append(list, room, "%s %zu %s", solver->label, count, SILENT[s]);
        }
    }
}

// Solvers that were not run on every problem, and runs without numbers.
static void note_gaps(ss_table *table, const ss_trials *t)
{
    char partial[300] = "", silent[300] = "";
    for (size_t k = 0; k < t->nsolvers; k++) {
        const ss_solver_trials *solver = &t->solvers[k];
        if (solver->runs < t->nproblems) {
            append(partial, sizeof partial, "%s on %zu", solver->label, solver->runs);
        }
        list_silent(t, solver, silent, sizeof silent);
    }
    if (partial[0] != '\0') {
        ss_table_note(table, "Not run on all problems: %s.", partial);
    }
    if (silent[0] != '\0') {
        ss_table_note(table,
                      "Runs without numbers, which count as unsolved and have no part in means: "
                      "%s.",
                      silent);
    }
}

// At which limits runs ended, where these were the same for all.
static void note_limits(ss_table *table, const ss_trials *t)
{
    const ss_record_row *first = NULL;
    for (size_t k = 0; k < t->nsolvers * t->nproblems; k++) {
        const ss_record_row *row = t->solvers[k / t->nproblems].trials[k % t->nproblems].row;
        first = first == NULL ? row : first;
        if (row != NULL && !(row->max_iterations == first->max_iterations &&
                             row->time_limit == first->time_limit)) {
            return;
        }
    }
    ss_table_note(table, "Limits of a run: %d iteration%s, %g CPU second%s.", first->max_iterations,
                  ss_plural(first->max_iterations), first->time_limit,
                  ss_plural(first->time_limit));
}

// How many runs were timed, and on which processor; that of the first row where they differ.
static void note_machine(ss_table *table, const ss_trials *t)
{
    const char *machine = t->problems[0]->machine;
    char best[40] = "";
    int repeats = 0;
    double load = 0.0;
    for (size_t k = 0; k < t->nsolvers * t->nproblems; k++) {
        const ss_record_row *row = t->solvers[k / t->nproblems].trials[k % t->nproblems].row;
        repeats = row != NULL && row->repeats > repeats ? row->repeats : repeats;
        load = row != NULL ? fmax(load, row->load) : load;
    }
    if (repeats > 1) {
        snprintf(best, sizeof best, ", the best of %d runs", repeats);
    }
    if (machine[0] != '\0') {
        ss_table_note(table, "Times: by the wall clock%s, on %s, load up to %.2g.", best, machine,
                      load);
    }
}

static bool same_machine(const ss_record_row *row, const ss_record_row *other)
{
    return strcmp(row->host, other->host) == 0 && strcmp(row->machine, other->machine) == 0;
}

// Runs that do not quite compare: another program, another machine. Ratios of times are taken within
// a problem: they compare if each problem was run on one machine.
static void note_mixture(ss_table *table, const ss_trials *t)
{
    const ss_record_row *first = NULL;
    bool builds = false, machines = false, apart = false;
    for (size_t p = 0; p < t->nproblems; p++) {
        const ss_record_row *of_problem = NULL;
        for (size_t k = 0; k < t->nsolvers; k++) {
            const ss_record_row *row = t->solvers[k].trials[p].row;
            first = first == NULL ? row : first;
            of_problem = of_problem == NULL ? row : of_problem;
            builds |= row != NULL && strcmp(row->build, first->build) != 0;
            machines |= row != NULL && !same_machine(row, first);
            apart |= row != NULL && !same_machine(row, of_problem);
        }
    }
    if (builds || machines) {
        ss_table_note(table, "Runs were made %s%s%s%s.",
                      builds ? "by several builds of the program" : "",
                      builds && machines ? " and " : "", machines ? "on several machines" : "",
                      machines && !apart ? ", each problem on one machine" : "");
    }
}

void ss_table_conditions(ss_table *table, const ss_trials *trials)
{
    ss_table_note_tolerance(table, trials);
    ss_table_circumstances(table, trials);
}

void ss_table_circumstances(ss_table *table, const ss_trials *trials)
{
    note_problems(table, trials);
    note_limits(table, trials);
    note_freezing(table, trials);
    note_options(table, trials);
    note_machine(table, trials);
    note_mixture(table, trials);
    note_gaps(table, trials);
}
