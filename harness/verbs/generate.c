// stickslip generate: problems from a seed; its kind `locals` is in generate_locals.c.
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/cli.h"
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

static const ss_option OPTIONS[] = {
    SS_OPT_INT("contacts", "N", tangle.ncontacts, 1, MOST_CONTACTS, "contacts", .required = true),
    SS_OPT_PATH("out", "FILE", out, "the file to write", .required = true),
    SS_OPT_INT("per-rod", "K", tangle.ends_per_rod, 1, 1000,
               "contact ends per rod, so 2N/K rods, or boxes of a tower"),
    SS_OPT_REAL("mu", "M", tangle.mu, 0, 1000, "friction coefficient"),
    SS_OPT_SEED("seed", "S", tangle.seed, "the same seed gives the same bits"),
    SS_OPT_REAL("cond", "C", tangle.condition, 10, 1e8,
                "condition of each rod's mass matrix; a tower has none"),
    SS_OPT_REAL("ground", "SHARE", tangle.ground_share, 0, 1, "share of contacts with the ground"),
    SS_OPT_REAL("unsymmetric", "E", tangle.unsymmetry, 0, 1,
                "gyroscopic share of W; makes local form"),
    SS_OPT_FLAG("hyperstatic", tangle.hyperstatic,
                "contacts in tight bunches: W far from full rank"),
    SS_OPT_RANGE("light", "SHARE:FACTOR", tangle.light, 0, 1e12,
                 "a share of the rods is lighter, by a factor"),
    SS_OPT_REAL("tower", "RATIO", tangle.tower, 1, 1e6,
                "stacked boxes instead of rods, each RATIO times as heavy as the one below"),
    SS_OPT_INT("planks", "P", tangle.planks, 0, 1000,
               "planks in a layer of the tower, crosswise to those below; 0: single boxes"),
    SS_OPT_FLAG("warm", tangle.warm, "store the previous step's impulses as a guess"),
    SS_OPT_INT("count", "C", count, 1, MOST_PROBLEMS,
               "problems, seeds S, S+1, ...; above 1 the file is a collection"),
    SS_OPT_CHOICE("form", "FORM", form, FORMS, "M and H, or W"),
    SS_OPT_INT("dim", "D", tangle.dim, 2, 3, "space or plane"),
    {.name = NULL},
};

static const settings DEFAULTS = {.tangle = SS_TANGLE_DEFAULTS, .count = 1, .form = FORM_NOT_GIVEN};

static const char VERB[] = "generate tangle";

// Adds problem k, under a name if it is one of many.
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

static int run_tangle(const void *given, const ss_operands *nothing)
{
    (void)nothing;
    const settings *s = given;
    if (s->tangle.unsymmetry > 0.0 && s->form == FORM_GLOBAL) {
        ss_complain(VERB,
                    "--unsymmetric %g excludes --form global: M is symmetric, and so "
                    "is W = H' M^-1 H",
                    s->tangle.unsymmetry);
        return SS_EXIT_USAGE;
    }
    if (s->tangle.seed > UINT64_MAX - (uint64_t)(s->count - 1)) {
        ss_complain(VERB, "--seed %" PRIu64 " and --count %d exceed the last seed, %" PRIu64,
                    s->tangle.seed, s->count, UINT64_MAX);
        return SS_EXIT_USAGE;
    }
    if (s->tangle.tower != 0.0 && s->tangle.condition != DEFAULTS.tangle.condition) {
        ss_complain(VERB, "--cond %g has no effect with --tower: its boxes are rigid",
                    s->tangle.condition);
    }
    ss_error error;
    ss_status status = ss_tangle_check(&s->tangle, &error);
    if (status == SS_OK) {
        status = write_tangles(s, &error);
    }
    if (status != SS_OK) {
        ss_complain(VERB, "%s", error.text);
        // No file is read here: input that is bad is an option.
        return status == SS_BAD_INPUT ? SS_EXIT_USAGE : (int)status;
    }
    ss_complain(VERB, "wrote %s: %d problem%s, %d contact%s%s", s->out, s->count,
                ss_plural(s->count), s->tangle.ncontacts, ss_plural(s->tangle.ncontacts),
                s->count > 1 ? " each" : "");
    return SS_EXIT_OK;
}

static const ss_verb TANGLE = {
    .name = VERB,
    .summary = "Makes hair-like problems: a lattice of rods that touch their neighbours.",
    .options = OPTIONS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .text = "Every problem made here has a solution. FILE is replaced only when all problems are "
            "made.\n",
    .example = "  stickslip generate tangle --contacts 1000 --per-rod 59 --out tail.h5\n",
    .run = run_tangle,
};

static const ss_verb *const KINDS[] = {&TANGLE, &ss_verb_generate_locals, NULL};

const ss_verb ss_verb_generate = {
    .name = "generate",
    .summary = "Makes problems from a seed.",
    .operands = "KIND ...",
    .text = "'stickslip generate KIND --help' lists the options of a kind.\n",
    .example = "  stickslip generate tangle --contacts 1000 --out hair.h5\n",
    .kinds = KINDS,
    .kind = "kind",
};
