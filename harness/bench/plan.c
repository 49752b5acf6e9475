#include "harness/bench/plan.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/complain.h"
#include "harness/record/machine.h"
#include "harness/run.h"
#include "harness/cli.h"

static int fail_memory(const ss_bench_plan *plan)
{
    ss_complain(plan->verb, "not enough memory for the list of problems");
    return SS_EXIT_SYSTEM;
}

// ---- Which files

// What is no problem file says nothing about the solvers: it is reported and not recorded.
static int add_file(ss_bench_plan *plan, const char *path)
{
    ss_error error;
    const ss_status status = ss_reader_look(path, &error);
    if (status != SS_OK) {
        ss_complain(plan->verb, "%s", error.text);
        return (int)status;
    }
    char **files = realloc(plan->files, ((size_t)plan->nfiles + 1) * sizeof *files);
    plan->files = files != NULL ? files : plan->files;
    char *copy = strdup(path);
    if (files == NULL || copy == NULL) {
        free(copy);
        return fail_memory(plan);
    }
    plan->files[plan->nfiles++] = copy;
    return SS_EXIT_OK;
}

static int is_problem_file(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot != NULL && (strcmp(dot, ".h5") == 0 || strcmp(dot, ".hdf5") == 0);
}

static int add_folder(ss_bench_plan *plan, const char *folder)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, is_problem_file, versionsort);
    const size_t length = strlen(folder);
    int code = SS_EXIT_OK;
    if (count <= 0) {
        ss_complain(plan->verb, "%s: %s", folder,
                    count < 0 ? strerror(errno) : "contains no *.h5 and no *.hdf5");
        code = SS_EXIT_BAD_INPUT;
    }
    for (int k = 0; k < count; k++) {
        char *path = NULL;
        const char *slash = length > 0 && folder[length - 1] == '/' ? "" : "/";
        const bool made = asprintf(&path, "%s%s%s", folder, slash, entries[k]->d_name) >= 0;
        code = ss_larger_code(code, made ? add_file(plan, path) : fail_memory(plan));
        free(made ? path : NULL);
        free(entries[k]);
    }
    free(entries);
    return code;
}

static int add_operand(ss_bench_plan *plan, const char *operand);

// Empty lines and those that begin with # are passed over.
static int add_list(ss_bench_plan *plan, const char *path)
{
    char *line = NULL;
    size_t room = 0;
    int code = SS_EXIT_OK;
    FILE *list = fopen(path, "r");
    if (list == NULL) {
        ss_complain(plan->verb, "@%s: %s", path, strerror(errno));
        return SS_EXIT_BAD_INPUT;
    }
    while (getline(&line, &room, list) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] != '\0' && line[0] != '#') {
            code = ss_larger_code(code,
                                  line[0] == '@' ? add_file(plan, line) : add_operand(plan, line));
        }
    }
    free(line);
    fclose(list);
    return code;
}

static int add_operand(ss_bench_plan *plan, const char *operand)
{
    struct stat status;
    if (operand[0] == '@') {
        return add_list(plan, operand + 1);
    }
    return stat(operand, &status) == 0 && S_ISDIR(status.st_mode) ? add_folder(plan, operand)
                                                                  : add_file(plan, operand);
}

// ---- Which problems

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

static int add_problem(ss_bench_plan *plan, ss_bench_problem p)
{
    const ss_bench_problem *same = find_same(plan, &p);
    if (same != NULL) {
        ss_complain(plan->verb, "%s is the same problem as %s: it is run once", p.label,
                    same->label);
        free_problem(&p);
        return SS_EXIT_OK;
    }
    ss_bench_problem *problems =
        realloc(plan->problems, ((size_t)plan->nproblems + 1) * sizeof *problems);
    if (problems == NULL) {
        free_problem(&p);
        return fail_memory(plan);
    }
    plan->problems = problems;
    plan->problems[plan->nproblems++] = p;
    return SS_EXIT_OK;
}

static int plan_item(ss_bench_plan *plan, const ss_item *item)
{
    if (item->problem == NULL) {
        ss_complain(plan->verb, "%s", item->error->text);
    }
    if (item->problem == NULL && item->error->status == SS_SYSTEM) {
        return SS_EXIT_SYSTEM;
    }
    ss_bench_problem p;
    return describe(item, &p) ? add_problem(plan, p) : fail_memory(plan);
}

// ---- Which rows

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

ss_status ss_bench_plan_compare(ss_bench_plan *plan, ss_record *record, ss_error *e)
{
    ss_status status = SS_OK;
    for (int k = 0; status == SS_OK && k < plan->count; k++) {
        ss_bench_entry *entry = &plan->entries[k];
        if (!entry->present) {
            status = find_present(plan, entry, record, e);
            plan->missing -= entry->present;
        }
    }
    return status;
}

static int add_entries(ss_bench_plan *plan, const ss_specs *specs)
{
    const ss_bench_settings *s = &plan->settings;
    const size_t ntolerances = s->ntolerances > 0 ? (size_t)s->ntolerances : 1;
    const size_t nspecs = (size_t)specs->count, each = nspecs * ntolerances;
    const size_t count = (size_t)plan->nproblems * each;
    plan->entries = calloc(count > 0 ? count : 1, sizeof *plan->entries);
    if (plan->entries == NULL) {
        return fail_memory(plan);
    }
    for (size_t k = 0; k < count; k++) {
        plan->entries[k] = (ss_bench_entry){
            .problem = &plan->problems[k / each],
            .spec = specs->text[k % nspecs],
            .tolerance =
                s->ntolerances > 0 ? s->tolerances[k / nspecs % ntolerances] : s->tolerance};
    }
    plan->count = plan->missing = (int)count;
    return SS_EXIT_OK;
}

// Its rows say start "guess", as they were asked for, and what was done in their detail.
static void remark_guesses(const ss_bench_plan *plan)
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
        ss_complain(plan->verb, "--start guess: %s holds no guess and starts from zero",
                    first->label);
    } else if (without > 1) {
        ss_complain(plan->verb,
                    "--start guess: %d of %d problems hold no guess and start from zero, %s "
                    "the first of them",
                    without, readable, first->label);
    }
}

int ss_bench_plan_begin(const char *verb, int noperands, char *const *operands,
                        const ss_bench_settings *settings, ss_bench_plan *plan)
{
    int code = SS_EXIT_OK;
    *plan = (ss_bench_plan){.verb = verb, .settings = *settings};
    ss_machine_build(plan->build, sizeof plan->build);
    for (int k = 0; k < noperands; k++) {
        code = ss_larger_code(code, add_operand(plan, operands[k]));
    }
    return code;
}

int ss_bench_plan_load(ss_bench_plan *plan, const ss_specs *specs, ss_shard shard)
{
    int code = SS_EXIT_OK;
    ss_items it = ss_items_of(plan->verb, plan->nfiles, plan->files, NULL);
    it.shard = shard;
    for (ss_item item; ss_items_next(&it, &item);) {
        code = ss_larger_code(code, plan_item(plan, &item));
    }
    code = ss_larger_code(code, ss_items_end(&it));
    if (plan->settings.from_guess) {
        remark_guesses(plan);
    }
    return ss_larger_code(code, add_entries(plan, specs));
}

void ss_bench_plan_free(ss_bench_plan *plan)
{
    for (int k = 0; k < plan->nproblems; k++) {
        free_problem(&plan->problems[k]);
    }
    for (int k = 0; k < plan->nfiles; k++) {
        free(plan->files[k]);
    }
    free(plan->files);
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
    row.tolerance = entry->tolerance;
    ss_record_put_label(p->label, row.problem, sizeof row.problem);
    memcpy(row.scene, p->scene, sizeof row.scene);
    row.contacts = p->contacts;
    row.dim = p->dim;
    row.max_iterations = plan->settings.max_iterations;
    row.time_limit = plan->settings.time_limit;
    return row;
}
