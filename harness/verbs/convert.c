// stickslip convert: the same problems in another form or another file.
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/save.h"
#include "harness/cli.h"
#include "harness/run.h"

enum { FORM_LOCAL, FORM_GLOBAL, FORM_AS_IT_IS = -1 };

static const char *const FORMS[] = {"local", "global", NULL};

typedef struct settings {
    int form;
    const char *problem;
    int every;
    const char *split;
} settings;

static const ss_option OPTIONS[] = {
    SS_OPT_CHOICE("form", "FORM", form, FORMS, "W and b, or M and H"),
    SS_OPT_PROBLEM,
    SS_OPT_INT("every", "N", every, 1, 1000000, "of a collection the first problem of every N"),
    SS_OPT_PATH("split", "DIR", split, "write each problem to DIR/NAME.h5, instead of OUT"),
    {.name = NULL},
};

static const settings DEFAULTS = {.form = FORM_AS_IT_IS, .every = 1};

static const char VERB[] = "convert";
static const char NEEDS[] = "IN and OUT, or IN and --split DIR";

typedef struct conversion {
    const settings *settings;
    char *in;
    ss_writer *writer; // NULL with --split
    int nproblems;     // written
} conversion;

// DIR/NAME.h5, the name of a single problem being that of its file without folder and ending.
// Freed by the caller; NULL without memory.
static char *split_path(const conversion *c, const char *name)
{
    const char *slash = strrchr(c->in, '/');
    const char *base = slash != NULL ? slash + 1 : c->in;
    const char *dot = strrchr(base, '.');
    const size_t stem = dot != NULL && dot != base ? (size_t)(dot - base) : strlen(base);
    char *path = NULL;
    const int length = name[0] != '\0'
                           ? asprintf(&path, "%s/%s.h5", c->settings->split, name)
                           : asprintf(&path, "%s/%.*s.h5", c->settings->split, (int)stem, base);
    return length < 0 ? NULL : path;
}

// The file that --split makes of a problem must have a name, and must not be the one that is read.
static int examine_target(const conversion *c, const ss_item *item)
{
    if (item->name[0] != '\0' && !ss_store_takes_name(item->name)) {
        ss_complain(VERB,
                    "%s cannot become a file: its name may only have "
                    "letters, digits, '.', '_' and '-'",
                    item->label);
        return SS_EXIT_BAD_INPUT;
    }
    char *path = split_path(c, item->name);
    if (path == NULL) {
        ss_complain(VERB, "not enough memory for a path");
        return SS_EXIT_SYSTEM;
    }
    const bool replaces = ss_same_file(path, c->in);
    if (replaces) {
        ss_complain(VERB,
                    "%s would be written to %s, the file that is read: give --split another folder",
                    item->label, path);
    }
    free(path);
    return replaces ? SS_EXIT_BAD_INPUT : SS_EXIT_OK;
}

// Complains and returns an exit code if the problem cannot be converted.
static int examine(conversion *c, const ss_item *item)
{
    const int code = ss_item_complain(VERB, item);
    if (code != SS_EXIT_OK) {
        return code;
    }
    if (c->settings->form == FORM_GLOBAL && item->problem->form == SS_LOCAL) {
        ss_complain(VERB, "%s is in local form, without M and H: it cannot be made global",
                    item->label);
        return SS_EXIT_BAD_INPUT;
    }
    return c->settings->split != NULL ? examine_target(c, item) : SS_EXIT_OK;
}

static ss_status put(conversion *c, const ss_item *item, const ss_problem *p, ss_error *e)
{
    if (c->writer != NULL) {
        const bool single = c->settings->problem != NULL || item->name[0] == '\0';
        return ss_writer_add(c->writer, single ? NULL : item->name, p, e);
    }
    char *path = split_path(c, item->name);
    if (path == NULL) {
        return ss_fail_memory(e, "a path");
    }
    const ss_status status = ss_store_write(path, p, e);
    free(path);
    return status;
}

static int convert(conversion *c, const ss_item *item)
{
    if (item->problem == NULL) {
        return ss_item_complain(VERB, item);
    }
    ss_error error;
    ss_problem *local = NULL;
    ss_status status = SS_OK;
    if (c->settings->form == FORM_LOCAL) {
        status = ss_problem_to_local(item->problem, &local, &error);
    }
    if (status == SS_OK) {
        status = put(c, item, local != NULL ? local : item->problem, &error);
    }
    if (status != SS_OK) {
        ss_complain(VERB, "%s: %s", item->label, error.text);
    }
    c->nproblems += status == SS_OK;
    ss_problem_free(local);
    return (int)status;
}

static int examine_and_convert(conversion *c, const ss_item *item)
{
    const int code = examine(c, item);
    return code == SS_EXIT_OK ? convert(c, item) : code;
}

// Does so with each problem that was asked for. --every counts those that were.
static int for_each(conversion *c, int (*act)(conversion *c, const ss_item *item))
{
    int code = SS_EXIT_OK;
    ss_items it = ss_items_of(VERB, 1, &c->in, c->settings->problem);
    int k = 0;
    for (ss_item item; ss_items_next(&it, &item); k++) {
        if (k % c->settings->every == 0) {
            code = ss_larger_code(code, act(c, &item));
        }
    }
    return ss_larger_code(code, ss_items_end(&it));
}

// Writes one file; the writer keeps everything in memory until all is well.
static int convert_to_file(conversion *c, const char *out)
{
    ss_error error;
    if (c->settings->every > 1 && ss_same_file(c->in, out)) {
        ss_complain(VERB, "--every %d would lose problems of %s: give another OUT",
                    c->settings->every, c->in);
        return SS_EXIT_BAD_INPUT;
    }
    int code = ss_items_check_target(VERB, c->in, c->settings->problem, out);
    if (code != SS_EXIT_OK) {
        return code;
    }
    ss_status status = ss_writer_open(out, &c->writer, &error);
    code = (int)status;
    if (status == SS_OK) {
        code = for_each(c, examine_and_convert);
    }
    if (status == SS_OK && code == SS_EXIT_OK) {
        status = ss_writer_commit(c->writer, &error);
    }
    if (status != SS_OK) {
        ss_complain(VERB, "%s", error.text);
        code = (int)status;
    }
    ss_writer_close(c->writer);
    return code;
}

// A file a problem: all are examined before the first is written.
static int convert_to_folder(conversion *c)
{
    const settings *s = c->settings;
    const int code = for_each(c, examine);
    if (code != SS_EXIT_OK) {
        return code;
    }
    ss_error error;
    if (ss_save_folder(s->split, &error) != SS_OK) {
        ss_complain(VERB, "--split %s", error.text);
        return SS_EXIT_SYSTEM;
    }
    return for_each(c, convert);
}

static int run_convert(const void *given, const ss_operands *files)
{
    const settings *s = given;
    if (s->split != NULL && files->count == 2) {
        ss_complain(VERB, "with --split %s there is no OUT: leave out '%s'", s->split,
                    files->text[1]);
        return SS_EXIT_USAGE;
    }
    if (s->problem != NULL && s->every > 1) {
        ss_complain(VERB, "--problem %s takes one problem: leave --every %d out", s->problem,
                    s->every);
        return SS_EXIT_USAGE;
    }
    if (s->split == NULL && files->count == 1) {
        ss_complain(VERB, "needs %s", NEEDS);
        return SS_EXIT_USAGE;
    }
    if (s->split == NULL && strcmp(files->text[1], "-") == 0) {
        ss_complain(VERB, "takes OUT, the name of a file, not '-'");
        return SS_EXIT_USAGE;
    }
    conversion c = {.settings = s, .in = files->text[0]};
    const char *out = s->split != NULL ? s->split : files->text[1];
    const int code = s->split != NULL ? convert_to_folder(&c) : convert_to_file(&c, out);
    if (code == SS_EXIT_OK) {
        ss_complain(VERB, "wrote %s: %d problem%s", out, c.nproblems, ss_plural(c.nproblems));
    }
    return code;
}

const ss_verb ss_verb_convert = {
    .name = VERB,
    .summary = "Rewrites a file in another form, or one problem of many, or a file per problem.",
    .operands = "IN [OUT]",
    .min_operands = 1,
    .max_operands = 2,
    .needs = NEEDS,
    .options = OPTIONS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .text =
        "A collection stays a collection unless --problem takes one problem out of it or --split "
        "writes a file per problem; --every thins it out. "
        "A problem in global form can be made local, W = H' M^-1 H; "
        "the reverse is not possible. OUT may be the same file as IN unless problems or data of "
        "other programs would get lost. In place, --form local replaces M and H by W, and there is "
        "no way back. --split must not overwrite IN. If a problem has a defect, nothing is "
        "written.\n",
    .example = "  stickslip convert hair.h5 hair-local.h5 --form local\n"
               "  stickslip convert calm-1.h5 sixth.h5 --every 6\n",
    .exits = {[SS_EXIT_BAD_INPUT] = "a file is unusable or cannot have that form"},
    .run = run_convert,
};
