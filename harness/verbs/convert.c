// stickslip convert: the same problems in another form or another file.
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/complain.h"
#include "harness/options.h"
#include "harness/verbs.h"
#include "harness/walk.h"
#include "problems/store/save.h"

enum { FORM_LOCAL, FORM_GLOBAL, FORM_AS_IT_IS = -1 };

static const char *const FORMS[] = {"local", "global", NULL};

typedef struct settings {
    int form;
    const char *problem;
    const char *split;
} settings;

static const ss_option OPTIONS[] = {
    {.name = "form",
     .metavar = "FORM",
     .help = "W and b, or M and H",
     .kind = SS_OPTION_CHOICE,
     .place = offsetof(settings, form),
     .choices = FORMS},
    SS_OPTION_PROBLEM(settings),
    {.name = "split",
     .metavar = "DIR",
     .help = "a file a problem, DIR/NAME.h5, in place of OUT",
     .kind = SS_OPTION_TEXT,
     .place = offsetof(settings, split)},
    {.name = NULL},
};

static const ss_command COMMAND = {
    .verb = "convert",
    .operands = "IN [OUT]",
    .summary = "Rewrites a file.",
    .text =
        "A collection stays one unless --problem takes one problem out of it, which becomes a\n"
        "file of its own, or --split makes a file of each. A problem in global form can be\n"
        "made local, W = H' M^-1 H; the way back does not exist. OUT may be IN, but --split must\n"
        "not meet it. Nothing is written where a problem has a defect.\n",
    .example = "  stickslip convert hair.h5 hair-local.h5 --form local\n",
    .exits = "  0 done, 1 the command line is wrong, 3 a file is wrong or cannot have that form,\n"
             "  4 the machine is at fault\n",
    .options = OPTIONS,
    .min_operands = 1,
    .max_operands = 2,
    .needs = "IN and OUT, or IN and --split DIR",
};

typedef struct conversion {
    const settings *settings;
    const char *in;
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

static bool same_file(const char *a, const char *b)
{
    struct stat one, other;
    return stat(a, &one) == 0 && stat(b, &other) == 0 && one.st_dev == other.st_dev &&
           one.st_ino == other.st_ino;
}

// The file that --split makes of a problem must have a name, and must not be the one that is read.
static int examine_target(const conversion *c, const ss_item *item)
{
    if (item->name[0] != '\0' && !ss_store_takes_name(item->name)) {
        ss_complain(COMMAND.verb,
                    "%s cannot become a file: its name has other characters than "
                    "letters, digits, '.', '_' and '-'",
                    item->label);
        return SS_EXIT_BAD_INPUT;
    }
    char *path = split_path(c, item->name);
    if (path == NULL) {
        ss_complain(COMMAND.verb, "not enough memory for a path");
        return SS_EXIT_SYSTEM;
    }
    const bool replaces = same_file(path, c->in);
    if (replaces) {
        ss_complain(COMMAND.verb,
                    "%s would be written to %s, the file that is read: give --split another folder",
                    item->label, path);
    }
    free(path);
    return replaces ? SS_EXIT_BAD_INPUT : SS_EXIT_OK;
}

// Complains and returns an exit code where the problem cannot be converted.
static int examine(const ss_item *item, void *context)
{
    const conversion *c = context;
    const int code = ss_item_complain(COMMAND.verb, item);
    if (code != SS_EXIT_OK) {
        return code;
    }
    if (c->settings->form == FORM_GLOBAL && item->problem->form == SS_LOCAL) {
        ss_complain(COMMAND.verb,
                    "%s is in local form, which holds no M and H: it cannot be made global",
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

static int convert(const ss_item *item, void *context)
{
    conversion *c = context;
    if (item->problem == NULL) {
        return ss_item_complain(COMMAND.verb, item);
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
        ss_complain(COMMAND.verb, "%s: %s", item->label, error.text);
    }
    c->nproblems += status == SS_OK;
    ss_problem_free(local);
    return (int)status;
}

static int examine_and_convert(const ss_item *item, void *context)
{
    const int code = examine(item, context);
    return code == SS_EXIT_OK ? convert(item, context) : code;
}

// One file: a writer keeps everything in memory until all is well.
static int convert_to_file(conversion *c, const char *out)
{
    ss_error error;
    ss_status status = ss_writer_open(out, &c->writer, &error);
    int code = (int)status;
    if (status == SS_OK) {
        code = ss_walk(COMMAND.verb, c->in, c->settings->problem, examine_and_convert, c);
    }
    if (status == SS_OK && code == SS_EXIT_OK) {
        status = ss_writer_commit(c->writer, &error);
    }
    if (status != SS_OK) {
        ss_complain(COMMAND.verb, "%s", error.text);
        code = (int)status;
    }
    ss_writer_close(c->writer);
    return code;
}

// A file a problem: all are examined before the first is written.
static int convert_to_folder(conversion *c)
{
    const settings *s = c->settings;
    const int code = ss_walk(COMMAND.verb, c->in, s->problem, examine, c);
    if (code != SS_EXIT_OK) {
        return code;
    }
    ss_error error;
    if (ss_save_folder(s->split, &error) != SS_OK) {
        ss_complain(COMMAND.verb, "--split %s", error.text);
        return SS_EXIT_SYSTEM;
    }
    return ss_walk(COMMAND.verb, c->in, s->problem, convert, c);
}

int ss_cmd_convert(int argc, char **argv)
{
    settings s = {.form = FORM_AS_IT_IS};
    ss_operands operands;
    int code;
    if (!ss_options_parse(&COMMAND, &s, argc, argv, &operands, &code)) {
        return code;
    }
    if (s.split != NULL && operands.count == 2) {
        ss_complain(COMMAND.verb, "--split writes into %s, and OUT '%s' is one too many", s.split,
                    operands.text[1]);
        return SS_EXIT_USAGE;
    }
    if (s.split == NULL && operands.count == 1) {
        ss_complain(COMMAND.verb, "convert needs %s", COMMAND.needs);
        return SS_EXIT_USAGE;
    }
    conversion c = {.settings = &s, .in = operands.text[0]};
    const char *out = s.split != NULL ? s.split : operands.text[1];
    code = s.split != NULL ? convert_to_folder(&c) : convert_to_file(&c, out);
    if (code == SS_EXIT_OK) {
        ss_complain(COMMAND.verb, "wrote %s: %d problem%s", out, c.nproblems,
                    ss_plural(c.nproblems));
    }
    return code;
}
