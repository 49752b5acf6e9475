// Under which conditions the numbers of a table were measured, in sentences.
#include "harness/table_kinds.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// The tolerance that stands for the paper's.
#define PAPER_TOLERANCE 1e-4
// More files than these are counted instead of named.
#define NAMED_FILES 6

void ss_table_note_tolerance(ss_table *table, const ss_trials *t)
{
    const bool paper = fabs(t->tolerance - PAPER_TOLERANCE) <= 1e-3 * PAPER_TOLERANCE;
    char tolerance[32];
    ss_table_number(t->tolerance, 3, tolerance);
    ss_table_note(table, "Tolerance: fb <= %s, dimensionless, computed afresh by the judge.%s",
                  tolerance,
                  paper ? " It stands for the 1e-6 of [D11], which is in its internal units and "
                          "means a relative error of 1e-3 to 1e-4 (its footnote 4)."
                        : "");
    if (t->from_histories) {
        ss_table_note(table,
                      "Runs were made to a tighter tolerance; iterations and times are those "
                      "until fb <= %s first, read from their histories, which keep every iteration "
                      "up to the fiftieth and then one in a few percent.",
                      tolerance);
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

static void note_problems(ss_table *table, const ss_trials *t)
{
    char names[400] = "";
    int files = 0, smallest = t->problems[0]->contacts, largest = smallest;
    for (size_t k = 0; k < t->nproblems; k++) {
        const char *name, *before = "";
        const int length = file_of(t->problems[k], &name);
        const int before_length = k > 0 ? file_of(t->problems[k - 1], &before) : -1;
        const int contacts = t->problems[k]->contacts;
        smallest = contacts < smallest ? contacts : smallest;
        largest = contacts > largest ? contacts : largest;
        if (length != before_length || strncmp(name, before, (size_t)length) != 0) {
            const size_t used = strlen(names);
            snprintf(names + used, sizeof names - used, "%s%.*s", files > 0 ? ", " : "", length,
                     name);
            files++;
        }
    }
    if (files > NAMED_FILES) {
        snprintf(names, sizeof names, "%d files", files);
    }
    char range[40];
    if (smallest < largest) {
        snprintf(range, sizeof range, "%d to %d", smallest, largest);
    } else {
        snprintf(range, sizeof range, "%d", smallest);
    }
    const char *scene = common_scene(t);
    ss_table_note(table, "Problems: %zu%s%s, of %s contacts, from %s.", t->nproblems,
                  scene[0] != '\0' ? " of the scene " : "", scene, range, names);
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
    size_t paper = 0, off = 0;
    for (size_t k = 0; k < t->nentrants; k++) {
        const char *spec = t->entrants[k].spec;
        paper += has_option(spec, "freeze=paper");
        off += !has_option(spec, "freeze=paper") && !has_option(spec, "freeze=on");
    }
    if (paper == t->nentrants) {
        ss_table_note(table, "Contacts are frozen as in [D11] (freeze=paper).");
    } else if (off == t->nentrants) {
        ss_table_note(table, "No contact is frozen.");
    } else {
        ss_table_note(table, "Contacts are frozen in some solvers only, as their specs say.");
    }
}

// Entrants that were not run on every problem, and runs without numbers.
static void note_gaps(ss_table *table, const ss_trials *t)
{
    char partial[300] = "", silent[300] = "";
    for (size_t k = 0; k < t->nentrants; k++) {
        const ss_entrant *entrant = &t->entrants[k];
        size_t without = 0;
        for (size_t p = 0; p < t->nproblems; p++) {
            without += entrant->trials[p].row != NULL && isnan(entrant->trials[p].seconds);
        }
        size_t used = strlen(partial);
        if (entrant->runs < t->nproblems && used < sizeof partial) {
            snprintf(partial + used, sizeof partial - used, "%s%s on %zu", used > 0 ? ", " : "",
                     entrant->label, entrant->runs);
        }
        used = strlen(silent);
        if (without > 0 && used < sizeof silent) {
            snprintf(silent + used, sizeof silent - used, "%s%s %zu", used > 0 ? ", " : "",
                     entrant->label, without);
        }
    }
    if (partial[0] != '\0') {
        ss_table_note(table, "Not run on all problems: %s.", partial);
    }
    if (silent[0] != '\0') {
        ss_table_note(table,
                      "Runs that crashed or were killed, which count as unsolved and have no "
                      "part in means: %s.",
                      silent);
    }
}

// At which limits runs ended, where these were the same for all.
static void note_limits(ss_table *table, const ss_trials *t)
{
    const ss_record_row *first = NULL;
    for (size_t k = 0; k < t->nentrants * t->nproblems; k++) {
        const ss_record_row *row = t->entrants[k / t->nproblems].trials[k % t->nproblems].row;
        first = first == NULL ? row : first;
        if (row != NULL && !(row->max_iterations == first->max_iterations &&
                             row->time_limit == first->time_limit)) {
            return;
        }
    }
    ss_table_note(table, "Limits of a run: %d iterations, %g CPU seconds.", first->max_iterations,
                  first->time_limit);
}

// How many runs were timed, and on which processor; that of the first row where they differ.
static void note_machine(ss_table *table, const ss_trials *t)
{
    const char *machine = t->problems[0]->machine;
    int repeats = 0;
    for (size_t k = 0; k < t->nentrants * t->nproblems; k++) {
        const ss_record_row *row = t->entrants[k / t->nproblems].trials[k % t->nproblems].row;
        repeats = row != NULL && row->repeats > repeats ? row->repeats : repeats;
    }
    if (machine[0] != '\0' && repeats > 1) {
        ss_table_note(table, "Times: the best of %d runs, on %s.", repeats, machine);
    } else if (machine[0] != '\0') {
        ss_table_note(table, "Times: on %s.", machine);
    }
}

void ss_table_conditions(ss_table *table, const ss_trials *trials)
{
    ss_table_note_tolerance(table, trials);
    note_problems(table, trials);
    note_limits(table, trials);
    note_freezing(table, trials);
    note_machine(table, trials);
    note_gaps(table, trials);
}
