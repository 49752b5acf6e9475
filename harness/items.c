// Opens files and loads their problems.
#include "harness/items.h"

#include <limits.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/cli.h"
#include "harness/complain.h"

ss_items ss_items_of(const char *verb, int count, char *const *paths, const char *chosen)
{
    return (ss_items){.verb = verb, .npaths = count, .paths = paths, .chosen = chosen};
}

static void free_item(ss_items *it)
{
    ss_problem_free(it->problem);
    ss_report_free(&it->report);
    free(it->label);
    it->problem = NULL;
    it->label = NULL;
    it->error = (ss_error){.status = SS_OK};
}

static void close_file(ss_items *it)
{
    free_item(it);
    ss_reader_close(it->reader);
    it->reader = NULL;
    it->k = it->end = 0;
}

int ss_items_end(ss_items *it)
{
    close_file(it);
    return it->code;
}

// ---- A file

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

static int complain_name(const ss_items *it, const char *path)
{
    if (ss_reader_count(it->reader) == 1 && ss_reader_name(it->reader, 0)[0] == '\0') {
        ss_complain(it->verb, "%s contains a single unnamed problem; there is no '%s'", path,
                    it->chosen);
        return SS_EXIT_BAD_INPUT;
    }
    ss_suggestion nearest = {.word = it->chosen};
    for (int k = 0; k < ss_reader_count(it->reader); k++) {
        ss_suggestion_offer(&nearest, ss_reader_name(it->reader, k));
    }
    ss_complain(it->verb, "%s contains no problem named '%s'%s", path, it->chosen,
                ss_suggestion_hint(&nearest, "", "").text);
    return SS_EXIT_BAD_INPUT;
}

// Opens a file, and sets which of its problems are to come. False: it->error says why not.
static bool open_file(ss_items *it, const char *path)
{
    if (is_label(path, &it->error) || ss_reader_open(path, &it->reader, &it->error) != SS_OK) {
        return false;
    }
    it->end = ss_reader_count(it->reader);
    if (it->chosen != NULL) {
        it->k = ss_reader_find(it->reader, it->chosen);
        it->end = it->k + 1;
    }
    if (it->k < 0) {
        it->code = ss_larger_code(it->code, complain_name(it, path));
        it->k = 0;
    }
    return true;
}

// ---- A problem

// From this size on what reading has freed goes back to the system, so that the solver's memory does not come on top of
// it. For a small problem this would take 0.1 ms, 5 % of reading.
#define TRIM_CONTACTS 10000

static const char *load(ss_items *it, const char *path)
{
    const char *name = ss_reader_name(it->reader, it->k - 1);
    if (asprintf(&it->label, "%s%s%s", path, name[0] != '\0' ? ":" : "", name) < 0) {
        it->label = NULL;
        ss_fail_memory(&it->error, "a name");
        return "";
    }
    if (ss_reader_load(it->reader, it->k - 1, &it->problem, &it->report, &it->error) == SS_OK &&
        it->report.out_of_memory) {
        ss_fail_memory(&it->error, "the findings");
        ss_problem_free(it->problem);
        it->problem = NULL;
    }
    if (it->problem != NULL && it->problem->ncontacts >= TRIM_CONTACTS) {
        malloc_trim(0);
    }
    return name;
}

// To the next problem, which is not loaded, or to a file that cannot be opened: *opened is false
// then. False after the last.
static bool advance(ss_items *it, bool *opened)
{
    free_item(it);
    for (*opened = true; *opened && it->k == it->end;) {
        close_file(it);
        if (it->path == it->npaths) {
            return false;
        }
        *opened = open_file(it, it->paths[it->path++]);
    }
    it->k += *opened;
    it->number++;
    return true;
}

static bool is_in_shard(const ss_items *it)
{
    return it->shard.count == 0 || (it->number - 1) % it->shard.count == it->shard.index;
}

bool ss_items_next(ss_items *it, ss_item *item)
{
    bool opened;
    do {
        if (!advance(it, &opened)) {
            return false;
        }
    } while (!is_in_shard(it));
    const char *path = it->paths[it->path - 1];
    const char *name = opened ? load(it, path) : "";
    *item = (ss_item){.file = path,
                      .label = it->label != NULL ? it->label : path,
                      .name = name,
                      .problem = it->problem,
                      .report = &it->report,
                      .error = &it->error};
    return true;
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

// ---- Writing in place

static bool are_same(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

// The folder of a path, and the name in it.
static const char *split_path(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    const int length = slash != NULL ? (int)(slash + 1 - path) : 0;
    snprintf(folder, PATH_MAX, "%.*s", length, path);
    return path + length;
}

bool ss_same_file(const char *a, const char *b)
{
    if (a == NULL || b == NULL) {
        return false;
    }
    char first[PATH_MAX], second[PATH_MAX]; // of files that are not there yet
    const char *name = split_path(a, first);
    const bool alike = strcmp(name, split_path(b, second)) == 0;
    return are_same(a, b) || strcmp(a, b) == 0 ||
           (alike && are_same(first[0] != '\0' ? first : ".", second[0] != '\0' ? second : "."));
}

int ss_items_check_target(const char *verb, const char *in, const char *chosen, const char *out)
{
    ss_error error;
    ss_reader *reader = NULL;
    if (!ss_same_file(in, out) || ss_reader_open(in, &reader, &error) != SS_OK) {
        return SS_EXIT_OK; // what cannot be read is reported by who reads it
    }
    char foreign[300];
    int code = (int)ss_reader_foreign(reader, foreign, sizeof foreign, &error);
    const int others = ss_reader_count(reader) - 1;
    if (code != SS_EXIT_OK) {
        ss_complain(verb, "%s", error.text);
    } else if (chosen != NULL && others > 0) {
        ss_complain(verb,
                    "%s contains %d other problem%s, which would be lost: write to another file",
                    in, others, ss_plural(others));
        code = SS_EXIT_BAD_INPUT;
    } else if (foreign[0] != '\0') {
        ss_complain(verb, "%s contains %s, which would be lost: write to another file", in,
                    foreign);
        code = SS_EXIT_BAD_INPUT;
    }
    ss_reader_close(reader);
    return code;
}
