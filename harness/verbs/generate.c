// stickslip generate: problems from a seed; its kind `locals` is in generate_locals.c.
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/complain.h"
#include "harness/options.h"
#include "harness/verbs.h"
#include "problems/store/store.h"
#include "problems/tangle/tangle.h"

// A million contacts are 2 GB of problem; more is a slip of the finger.
#define MOST_CONTACTS 1000000
#define MOST_PROBLEMS 1000000

enum { FORM_GLOBAL, FORM_LOCAL, FORM_NOT_GIVEN = -1 };

static const char *const FORMS[] = {"global", "local", NULL};

typedef struct settings {
    ss_tangle_settings tangle;
    int count;
    int form;
    const char *out;
} settings;

#define TANGLE_PLACE(field) (offsetof(settings, tangle) + offsetof(ss_tangle_settings, field))

static const ss_option OPTIONS[] = {
    {.name = "contacts",
     .metavar = "N",
     .help = "contacts",
     .kind = SS_OPTION_INTEGER,
     .place = TANGLE_PLACE(ncontacts),
     .required = true,
     .low = 1,
     .high = MOST_CONTACTS},
    {.name = "out",
     .metavar = "FILE",
     .help = "the file to write",
     .kind = SS_OPTION_TEXT,
     .place = offsetof(settings, out),
     .required = true},
    {.name = "per-rod",
     .metavar = "K",
     .help = "contact ends on a rod, so 2N/K rods, or boxes of a tower",
     .kind = SS_OPTION_INTEGER,
     .place = TANGLE_PLACE(ends_per_rod),
     .low = 1,
     .high = 1000},
    {.name = "mu",
     .metavar = "M",
     .help = "friction coefficient",
     .kind = SS_OPTION_REAL,
     .place = TANGLE_PLACE(mu),
     .low = 0,
     .high = 1000},
    {.name = "seed",
     .metavar = "S",
     .help = "the same seed gives the same bits",
     .kind = SS_OPTION_SEED,
     .place = TANGLE_PLACE(seed)},
    {.name = "cond",
     .metavar = "C",
     .help = "condition of each rod's mass matrix; a tower has none",
     .kind = SS_OPTION_REAL,
     .place = TANGLE_PLACE(condition),
     .low = 10,
     .high = 1e8},
    {.name = "ground",
     .metavar = "SHARE",
     .help = "share of contacts with the ground",
     .kind = SS_OPTION_REAL,
     .place = TANGLE_PLACE(ground_share),
     .low = 0,
     .high = 1},
    {.name = "unsymmetric",
     .metavar = "E",
     .help = "gyroscopic share of W; makes local form",
     .kind = SS_OPTION_REAL,
     .place = TANGLE_PLACE(unsymmetry),
     .low = 0,
     .high = 1},
    {.name = "hyperstatic",
     .help = "contacts in tight bunches: W far from full rank",
     .kind = SS_OPTION_FLAG,
     .place = TANGLE_PLACE(hyperstatic)},
    {.name = "light",
     .metavar = "SHARE:FACTOR",
     .help = "a share of the rods is lighter, by a factor",
     .kind = SS_OPTION_RANGE,
     .place = TANGLE_PLACE(light),
     .low = 0,
     .high = 1e12},
    {.name = "tower",
     .metavar = "RATIO",
     .help = "boxes on each other instead of rods, each so many times as heavy as the one below",
     .kind = SS_OPTION_REAL,
     .place = TANGLE_PLACE(tower),
     .low = 1,
     .high = 1e6},
    {.name = "warm",
     .help = "store the previous step's impulses as a guess",
     .kind = SS_OPTION_FLAG,
     .place = TANGLE_PLACE(warm)},
    {.name = "count",
     .metavar = "C",
     .help = "problems, seeds S, S+1, ...; above 1 the file is a collection",
     .kind = SS_OPTION_INTEGER,
     .place = offsetof(settings, count),
     .low = 1,
     .high = MOST_PROBLEMS},
    {.name = "form",
     .metavar = "FORM",
     .help = "M and H, or W",
     .kind = SS_OPTION_CHOICE,
     .place = offsetof(settings, form),
     .choices = FORMS},
    {.name = "dim",
     .metavar = "D",
     .help = "space or plane",
     .kind = SS_OPTION_INTEGER,
     .place = TANGLE_PLACE(dim),
     .low = 2,
     .high = 3},
    {.name = NULL},
};

static const ss_command COMMAND = {
    .verb = "generate tangle",
    .operands = "",
    .summary = "Makes hair-like problems: a lattice of rods that touch their neighbours.",
    .text = "Every problem made here has a solution. FILE is replaced only when all is made.\n",
    .example = "  stickslip generate tangle --contacts 1000 --per-rod 59 --mu 0.3 --out tail.h5\n",
    .exits = "  0 done, 1 the command line is wrong, 4 the machine is at fault\n",
    .options = OPTIONS,
};

// Adds problem k, under a name where it is one of many.
static ss_status add_problem(ss_writer *writer, const settings *s, int k, int digits, ss_error *e)
{
    ss_tangle_settings tangle = s->tangle;
    tangle.seed += (uint64_t)k;
    ss_problem *problem = NULL;
    ss_status status = ss_tangle_new(&tangle, &problem, e);
    if (status == SS_OK && s->form == FORM_LOCAL && problem->form == SS_GLOBAL) {
        ss_problem *local = NULL;
        status = ss_problem_to_local(problem, &local, e);
        ss_problem_free(problem);
        problem = local;
    }
    if (status == SS_OK) {
        char name[32];
        snprintf(name, sizeof name, "tangle-%0*d", digits, k + 1);
        status = ss_writer_add(writer, s->count > 1 ? name : NULL, problem, e);
    }
    ss_problem_free(problem);
    return status;
}

static int digits_of(int count)
{
    char printed[16];
    const int digits = snprintf(printed, sizeof printed, "%d", count);
    return digits > 4 ? digits : 4; // tangle-0001, the least that looks like a series
}

static ss_status write_tangles(const settings *s, ss_error *e)
{
    ss_writer *writer = NULL;
    ss_status status = ss_writer_open(s->out, &writer, e);
    const bool watched = s->count > 1 && isatty(STDERR_FILENO);
    for (int k = 0; k < s->count && status == SS_OK; k++) {
        if (watched) {
            fprintf(stderr, "\rtangle %d of %d", k + 1, s->count);
        }
        status = add_problem(writer, s, k, digits_of(s->count), e);
    }
    if (watched) {
        fputs("\n", stderr);
    }
    if (status == SS_OK) {
        status = ss_writer_commit(writer, e);
    }
    ss_writer_close(writer);
    return status;
}

static int generate_tangle(int argc, char **argv)
{
    settings s = {.tangle = ss_tangle_defaults(), .count = 1, .form = FORM_NOT_GIVEN};
    s.tangle.ncontacts = 0; // to be given
    ss_operands operands;
    int code;
    if (!ss_options_parse(&COMMAND, &s, argc, argv, &operands, &code)) {
        return code;
    }
    if (s.tangle.unsymmetry > 0.0 && s.form == FORM_GLOBAL) {
        ss_complain(COMMAND.verb,
                    "--unsymmetric %g cannot be had with --form global: M is symmetric, and so "
                    "is W = H' M^-1 H",
                    s.tangle.unsymmetry);
        return SS_EXIT_USAGE;
    }
    if (s.tangle.seed > UINT64_MAX - (uint64_t)(s.count - 1)) {
        ss_complain(COMMAND.verb,
                    "--seed %" PRIu64 " leaves no room for --count %d: the last seed is %" PRIu64,
                    s.tangle.seed, s.count, UINT64_MAX);
        return SS_EXIT_USAGE;
    }
    if (s.tangle.tower != 0.0 && s.tangle.condition != ss_tangle_defaults().condition) {
        ss_complain(COMMAND.verb, "--cond %g does nothing with --tower: its boxes are rigid",
                    s.tangle.condition);
    }
    ss_error error;
    ss_status status = ss_tangle_check(&s.tangle, &error);
    if (status == SS_OK) {
        status = write_tangles(&s, &error);
    }
    if (status != SS_OK) {
        ss_complain(COMMAND.verb, "%s", error.text);
        // No file is read here: input that is bad is an option.
        return status == SS_BAD_INPUT ? SS_EXIT_USAGE : (int)status;
    }
    ss_complain(COMMAND.verb, "wrote %s: %d problem%s, %d contact%s%s", s.out, s.count,
                ss_plural(s.count), s.tangle.ncontacts, ss_plural(s.tangle.ncontacts),
                s.count > 1 ? " each" : "");
    return SS_EXIT_OK;
}

static const char KINDS[] = "stickslip generate KIND [options]\n"
                            "\n"
                            "Makes problems from a seed.\n"
                            "\n"
                            "Kinds\n"
                            "  tangle     hair-like problems of any size\n"
                            "  locals     a battery of one-contact problems for a local solver\n"
                            "\n"
                            "Example\n"
                            "  stickslip generate tangle --contacts 1000 --out hair.h5\n"
                            "\n"
                            "'stickslip generate KIND --help' lists the options of a kind.\n"
                            "\n"
                            "Exit codes\n"
                            "  0 done, 1 the command line is wrong, 4 the machine is at fault\n";

int ss_cmd_generate(int argc, char **argv)
{
    if (argc < 2) {
        ss_complain("generate", "generate needs what to make: tangle or locals");
        return SS_EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        fputs(KINDS, stdout);
        return SS_EXIT_OK;
    }
    if (strcmp(argv[1], "tangle") == 0) {
        return generate_tangle(argc - 1, argv + 1);
    }
    if (strcmp(argv[1], "locals") == 0) {
        return ss_cmd_generate_locals(argc - 1, argv + 1);
    }
    ss_suggestion nearest = {.word = argv[1]};
    ss_suggestion_offer(&nearest, "tangle");
    ss_suggestion_offer(&nearest, "locals");
    const char *list = nearest.best == NULL ? "; it makes: tangle, locals" : "";
    ss_complain("generate", "generate cannot make '%s'%s%s", argv[1],
                ss_suggestion_hint(&nearest).text, list);
    return SS_EXIT_USAGE;
}
