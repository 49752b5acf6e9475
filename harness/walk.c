// Opens a file and loads its problems, one in memory at a time.
#include "harness/walk.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/complain.h"
#include "harness/cli.h"

// Tables call a problem FILE:NAME, which is tempting as an operand.
static bool is_label(const char *path, ss_error *error)
{
    const char *colon = strrchr(path, ':');
    char *file = colon != NULL ? strndup(path, (size_t)(colon - path)) : NULL;
    const bool found = file != NULL && access(path, F_OK) != 0 && access(file, R_OK) == 0;
    if (found) {
        ss_fail(error, SS_BAD_INPUT,
                "%.200s: no such file; for a problem of %.200s write --problem %.100s, if the verb "
                "has that option",
                path, file, colon + 1);
    }
    free(file);
    return found;
}

static int visit_failure(const char *path, const ss_error *error, ss_visit visit, void *context)
{
    const ss_report nothing = {0};
    const ss_item item = {.label = path, .name = "", .report = &nothing, .error = error};
    return visit(&item, context);
}

static int visit_one(ss_reader *reader, int k, const char *path, ss_visit visit, void *context)
{
    ss_error error = {.status = SS_OK};
    ss_report report = {0};
    ss_problem *problem = NULL;
    char *label = NULL;
    const char *name = ss_reader_name(reader, k);
    if (asprintf(&label, "%s%s%s", path, name[0] != '\0' ? ":" : "", name) < 0) {
        ss_fail_memory(&error, "a name");
        return visit_failure(path, &error, visit, context);
    }
    if (ss_reader_load(reader, k, &problem, &report, &error) == SS_OK && report.out_of_memory) {
        ss_fail_memory(&error, "the findings");
        ss_problem_free(problem);
        problem = NULL;
    }
    const ss_item item = {label, name, problem, &report, &error};
    const int code = visit(&item, context);
    ss_problem_free(problem);
    ss_report_free(&report);
    free(label);
    return code;
}

static int complain_name(const char *verb, const char *path, const ss_reader *reader,
                         const char *name)
{
    if (ss_reader_count(reader) == 1 && ss_reader_name(reader, 0)[0] == '\0') {
        ss_complain(verb, "%s contains a single unnamed problem; there is no '%s'", path, name);
        return SS_EXIT_BAD_INPUT;
    }
    ss_suggestion nearest = {.word = name};
    for (int k = 0; k < ss_reader_count(reader); k++) {
        ss_suggestion_offer(&nearest, ss_reader_name(reader, k));
    }
    ss_complain(verb, "%s contains no problem named '%s'%s", path, name,
                ss_suggestion_hint(&nearest, "", "").text);
    return SS_EXIT_BAD_INPUT;
}

int ss_walk(const char *verb, const char *path, const char *name, ss_visit visit, void *context)
{
    ss_error error = {.status = SS_OK};
    ss_reader *reader = NULL;
    if (is_label(path, &error) || ss_reader_open(path, &reader, &error) != SS_OK) {
        return visit_failure(path, &error, visit, context);
    }
    int code = SS_EXIT_OK;
    const int chosen = name != NULL ? ss_reader_find(reader, name) : -1;
    if (name != NULL && chosen < 0) {
        code = complain_name(verb, path, reader, name);
    } else if (name != NULL) {
        code = visit_one(reader, chosen, path, visit, context);
    } else {
        for (int k = 0; k < ss_reader_count(reader); k++) {
            code = ss_larger_code(code, visit_one(reader, k, path, visit, context));
        }
    }
    ss_reader_close(reader);
    return code;
}

int ss_item_complain(const char *verb, const ss_item *item)
{
    for (int k = 0; k < item->report->count; k++) {
        const ss_finding *finding = &item->report->findings[k];
        // The first defect is the error's sentence already.
        if (finding->severity == SS_REMARK) {
            ss_complain(verb, "%s: %s", item->label, finding->text);
        }
    }
    if (item->problem != NULL) {
        return SS_EXIT_OK;
    }
    ss_complain(verb, "%s", item->error->text);
    return (int)item->error->status;
}
