#include "harness/bench_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/complain.h"
#include "harness/results/machine.h"
#include "harness/run.h"
#include "harness/cli.h"
#include "harness/items.h"

typedef struct planning {
    const char *verb;
    ss_bench_plan *plan;
} planning;

static void free_problem(ss_bench_problem *p)
{
    free(p->file);
    free(p->name);
    free(p->label);
    free(p->defect);
}

static bool describe(const ss_item *item, ss_bench_problem *p)
{
    *p = (ss_bench_problem){.file = strdup(item->file),
                            .name = strdup(item->name),
                            .label = strdup(item->label),
                            .contacts = -1,
                            .dim = -1};
    bool complete = p->file != NULL && p->name != NULL && p->label != NULL;
    if (item->problem != NULL) {
        p->contacts = item->problem->ncontacts;
        p->dim = item->problem->dim;
        p->has_guess = ss_run_guess(item->problem) != NULL;
        snprintf(p->scene, sizeof p->scene, "%.*s", (int)sizeof p->scene - 1,
                 item->problem->provenance.scene);
        ss_problem_sha256(item->problem, p->sha256);
    } else {
        p->defect = strdup(item->error->text);
        complete = complete && p->defect != NULL;
        char stored[sizeof((ss_record_row *)0)->problem];
        ss_record_put_label(item->label, stored, sizeof stored);
        ss_record_stand_in(stored, p->sha256);
    }
    if (!complete) {
        free_problem(p);
    }
    return complete;
}

static const ss_bench_problem *find_same(const ss_bench_plan *plan, const ss_bench_problem *p)
{
    for (int k = 0; k < plan->nproblems; k++) {
        if (strcmp(plan->problems[k].sha256, p->sha256) == 0) {
            return &plan->problems[k];
        }
    }
    return NULL;
}

static int fail_memory(const char *verb)
{
    ss_complain(verb, "not enough memory for the list of problems");
    return SS_EXIT_SYSTEM;
}

static int add_problem(const planning *a, ss_bench_problem p)
{
    ss_bench_plan *plan = a->plan;
    const ss_bench_problem *same = find_same(plan, &p);
    if (same != NULL) {
        ss_complain(a->verb, "%s is the same problem as %s: it is run once", p.label, same->label);
        free_problem(&p);
        return SS_EXIT_OK;
    }
    ss_bench_problem *problems =
        realloc(plan->problems, ((size_t)plan->nproblems + 1) * sizeof *problems);
    if (problems == NULL) {
        free_problem(&p);
        return fail_memory(a->verb);
    }
    plan->problems = problems;
    plan->problems[plan->nproblems++] = p;
    return SS_EXIT_OK;
}

static int plan_item(const planning *a, const ss_item *item)
{
    if (item->problem == NULL) {
        ss_complain(a->verb, "%s", item->error->text);
    }
    if (item->problem == NULL && item->error->status == SS_SYSTEM) {
        return SS_EXIT_SYSTEM;
    }
    ss_bench_problem p;
    return describe(item, &p) ? add_problem(a, p) : fail_memory(a->verb);
}

// Whether a run under these limits would say no more than the row.
static bool says_all(const ss_record_row *row, const ss_bench_settings *s)
{
    if (strcmp(row->status, "max_iter") == 0) {
        return row->max_iterations >= s->max_iterations;
    }
    if (strcmp(row->status, "time_limit") == 0) {
        return row->time_limit >= s->time_limit;
    }
    return strcmp(row->status, "interrupted") != 0; // the clock on the wall decides nothing
}

static ss_status find_present(const ss_bench_plan *plan, ss_bench_entry *entry, ss_record *record,
                              ss_error *e)
{
    ss_record_row key = ss_bench_plan_row(plan, entry), row;
    bool found;
    ss_status status = ss_record_find(record, &key, &found, &row, e);
    entry->present = found && (entry->problem->defect != NULL || says_all(&row, &plan->settings));
    if (status == SS_OK && entry->present && entry->problem->defect == NULL) {
        ss_record_stand_in(key.problem, key.problem_sha256);
        status = ss_record_find(record, &key, &found, &row, e);
        entry->present = !found;
    }
    return status;
}

static ss_status add_entries(ss_bench_plan *plan, const ss_specs *specs, ss_record *record,
                             ss_error *e)
{
    const size_t most = (size_t)plan->nproblems * (size_t)specs->count;
    ss_status status = SS_OK;
    plan->entries = calloc(most > 0 ? most : 1, sizeof *plan->entries);
    if (plan->entries == NULL) {
        return ss_fail_memory(e, "the list of problems");
    }
    for (size_t k = 0; status == SS_OK && k < most; k++) {
        ss_bench_entry *entry = &plan->entries[plan->count++];
        *entry = (ss_bench_entry){.problem = &plan->problems[k / (size_t)specs->count],
                                  .spec = specs->text[k % (size_t)specs->count]};
        if (record != NULL) {
            status = find_present(plan, entry, record, e);
        }
        plan->missing += !entry->present;
    }
    return status;
}

// Its rows say start "guess", as they were asked for, and what was done in their detail.
static void remark_guesses(const char *verb, const ss_bench_plan *plan)
{
    int without = 0, readable = 0;
    const ss_bench_problem *first = NULL;
    for (int k = 0; k < plan->nproblems; k++) {
        const ss_bench_problem *p = &plan->problems[k];
        readable += p->defect == NULL;
        if (p->defect == NULL && !p->has_guess) {
            without++;
            first = first != NULL ? first : p;
        }
    }
    if (without == 1) {
        ss_complain(verb, "--start guess: %s holds no guess and starts from zero", first->label);
    } else if (without > 1) {
        ss_complain(verb,
                    "--start guess: %d of %d problems hold no guess and start from zero, %s "
                    "the first of them",
                    without, readable, first->label);
    }
}

int ss_bench_plan_make(const char *verb, int nfiles, char *const *files, const ss_specs *specs,
                       const ss_bench_settings *settings, ss_record *record, ss_bench_plan *plan)
{
    *plan = (ss_bench_plan){.settings = *settings};
    ss_machine_build(plan->build, sizeof plan->build);
    int code = SS_EXIT_OK;
    const planning a = {.verb = verb, .plan = plan};
    ss_items it = ss_items_of(verb, nfiles, files, NULL);
    for (ss_item item; ss_items_next(&it, &item);) {
        code = ss_larger_code(code, plan_item(&a, &item));
    }
    code = ss_larger_code(code, ss_items_end(&it));
    if (settings->from_guess) {
        remark_guesses(verb, plan);
    }
    ss_error error;
    const ss_status status = add_entries(plan, specs, record, &error);
    if (status != SS_OK) {
        ss_complain(verb, "%s", error.text);
    }
    return ss_larger_code(code, (int)status);
}

void ss_bench_plan_free(ss_bench_plan *plan)
{
    for (int k = 0; k < plan->nproblems; k++) {
        free_problem(&plan->problems[k]);
    }
    free(plan->problems);
    free(plan->entries);
    *plan = (ss_bench_plan){0};
}

ss_record_row ss_bench_plan_row(const ss_bench_plan *plan, const ss_bench_entry *entry)
{
    const ss_bench_problem *p = entry->problem;
    ss_record_row row = ss_record_row_blank();
    memcpy(row.problem_sha256, p->sha256, sizeof row.problem_sha256);
    snprintf(row.solver, sizeof row.solver, "%s", entry->spec);
    snprintf(row.start, sizeof row.start, "%s", plan->settings.from_guess ? "guess" : "zero");
    memcpy(row.build, plan->build, sizeof row.build);
    row.tolerance = plan->settings.tolerance;
    ss_record_put_label(p->label, row.problem, sizeof row.problem);
    memcpy(row.scene, p->scene, sizeof row.scene);
    row.contacts = p->contacts;
    row.dim = p->dim;
    row.max_iterations = plan->settings.max_iterations;
    row.time_limit = plan->settings.time_limit;
    return row;
}
