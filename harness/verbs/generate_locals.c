// stickslip generate locals: batteries of one-contact problems, and what a local solver makes of
// them.
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/cli.h"
#include "problems/tangle/locals.h"
#include "solvers/contact.h"
#include "solvers/registry.h"
#include "solvers/small.h"
#include "base/clock.h"

// Problems between two looks at the clock, which costs as much as a few solves; they stay in cache.
#define CHUNK 1024

// Tolerance of the reference, relative to |b|; only the size of its answer is used.
#define REFERENCE_TOLERANCE 1e-9

// Beyond the kinds of problems/tangle/locals.h: conditions log-uniform, which A A' seldom has.
#define KIND_SPREAD SS_LOCAL_KINDS

// In the order of ss_local_kind.
static const char *const KINDS[] = {"random",        "take-off",    "stick",        "slide",
                                    "near-boundary", "singular",    "frictionless", "several",
                                    "no-solution",   "unsymmetric", "spread",       NULL};

typedef struct settings {
    int count, dim, kind;
    ss_table_style style;
    uint64_t seed;
    double condition, mu[2], tolerance;
    const char *solver;
} settings;

static const settings DEFAULTS = {
    .dim = 3,
    .kind = SS_LOCAL_RANDOM,
    .seed = 1,
    .condition = 1e6,
    .mu = {1e-3, 10.0},
    .tolerance = 1e-7,
};

static const ss_option OPTIONS[] = {
    SS_OPT_INT("count", "N", count, 1, 2e9, "problems", .required = true),
    SS_OPT_TEXT("solver", "SPEC", solver, "LOCAL[+FAILSAFE][:key=value,...]", .required = true),
    SS_OPT_SEED("seed", "S", seed, "the same seed gives the same bits"),
    SS_OPT_REAL("cond", "C", condition, 2, 1e15, "the largest condition of W"),
    SS_OPT_RANGE("mu", "A:B", mu, 1e-6, 1e6, "friction coefficients, log-uniform"),
    SS_OPT_CHOICE("kind", "KIND", kind, KINDS, "which problems"),
    SS_OPT_INT("dim", "D", dim, 2, 3, "space or plane"),
    SS_OPT_REAL("tol", "T", tolerance, 0, 1, "the largest |f|, relative to max(|b|, |u|, s|r|)"),
    SS_OPT_TABLE,
    {.name = NULL},
};

static const char VERB[] = "generate locals";

static const ss_column COLUMNS[] = {
    {.key = "count", .kind = SS_COLUMN_INTEGER}, {.key = "solved", .kind = SS_COLUMN_INTEGER},
    {.key = "wrong", .kind = SS_COLUMN_INTEGER}, {.key = "unsolved", .kind = SS_COLUMN_INTEGER},
    {.key = "ns", .kind = SS_COLUMN_REAL},       {.key = NULL},
};

typedef struct trial {
    ss_local p;
    bool solvable;
    ss_local_goal goal;
    ss_outcome outcome;
    double r[3];
} trial;

typedef struct battery {
    const settings *settings;
    const ss_method *method, *reference;
    ss_random random;
    trial *trials; // [CHUNK]
    long solved, wrong, unsolved;
    double seconds;
} battery;

// A random frame: rows 0 .. dim - 1 of Q are orthonormal, what lies beyond the plane is zero.
static void draw_frame(ss_random *g, int dim, double Q[3][3])
{
    double *a = Q[0], *b = Q[1], *c = Q[2], other[3] = {0.0};
    memset(Q, 0, 9 * sizeof Q[0][0]);
    ss_random_direction(g, dim, a);
    if (dim == 2) {
        b[0] = -a[1];
        b[1] = a[0];
        return;
    }
    ss_random_direction(g, dim, other);
    const double along = ss_dot3(a, other);
    const double length = sqrt(1.0 - along * along);
    for (int i = 0; i < 3; i++) {
        b[i] = (other[i] - along * a[i]) / length;
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        c[i] = a[j] * b[k] - a[k] * b[j];
    }
}

static ss_local draw_spread(ss_random *g, const settings *s)
{
    ss_local p = {.dim = s->dim};
    double Q[3][3];
    draw_frame(g, s->dim, Q);
    const double condition = ss_random_log_between(g, 1.0, s->condition);
    const double middle = s->dim == 2 ? condition : ss_random_log_between(g, 1.0, condition);
    const double values[3] = {1.0, 1.0 / middle, 1.0 / condition};
    for (int i = 0; i < 9; i++) {
        for (int k = 0; k < s->dim; k++) {
            p.W[i] += values[k] * (Q[k][i / 3] * Q[k][i % 3]);
        }
    }
    for (int i = 0; i < s->dim; i++) {
        p.b[i] = ss_random_normal(g);
    }
    p.mu = ss_random_log_between(g, s->mu[0], s->mu[1]);
    return p;
}

// max(|b|, |u|, s|r|).
static double velocity_scale(const ss_local *p, const double r[3])
{
    double u[3];
    ss_local_velocity(p, r, u);
    const double sizes[] = {sqrt(ss_dot3(p->b, p->b)), sqrt(ss_dot3(u, u)),
                            ss_local_own_scale(p) * sqrt(ss_dot3(r, r))};
    double largest = 0.0;
    for (int i = 0; i < 3; i++) {
        largest = sizes[i] > largest ? sizes[i] : largest;
    }
    return largest;
}

// The goal is the problem's, the same for every solver: the reference's answer gives its scale.
static void draw(battery *all, trial *t)
{
    const settings *s = all->settings;
    ss_local_answer known = {.solvable = true};
    t->p = s->kind == KIND_SPREAD ? draw_spread(&all->random, s)
                                  : ss_local_draw(&all->random, (ss_local_kind)s->kind, s->dim,
                                                  s->condition, s->mu[0], s->mu[1], &known);
    t->solvable = known.solvable;
    ss_local_embed(&t->p);
    const double nothing[3] = {0.0};
    const ss_local_goal loose = {.tolerance = REFERENCE_TOLERANCE * velocity_scale(&t->p, nothing)};
    ss_local_counters counters = {0};
    memset(t->r, 0, sizeof t->r);
    ss_contact_solve(all->reference, &t->p, &loose, t->r, &counters);
    t->goal = (ss_local_goal){.tolerance = s->tolerance * velocity_scale(&t->p, t->r)};
    memset(t->r, 0, sizeof t->r);
}

static void judge(battery *all, const trial *t)
{
    if (t->outcome != SS_CONVERGED) {
        all->unsolved++;
        return;
    }
    // If several answers hold, that of the solver may be larger than that of the reference.
    const double own = all->settings->tolerance * velocity_scale(&t->p, t->r);
    const double bound = own > t->goal.tolerance ? own : t->goal.tolerance;
    if (t->solvable && ss_local_error(&t->p, &t->goal, t->r) <= bound) {
        all->solved++;
    } else {
        all->wrong++;
    }
}

static void run_chunk(battery *all, int n)
{
    ss_local_counters counters = {0};
    for (int k = 0; k < n; k++) {
        draw(all, &all->trials[k]);
    }
    const double begin = ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    for (int k = 0; k < n; k++) {
        trial *t = &all->trials[k];
        t->outcome = ss_contact_solve(all->method, &t->p, &t->goal, t->r, &counters).outcome;
    }
    all->seconds += ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
    for (int k = 0; k < n; k++) {
        judge(all, &all->trials[k]);
    }
}

static int run_battery(battery *all)
{
    const settings *s = all->settings;
    int code;
    ss_table *rows = ss_table_begin(&ss_verb_generate_locals, &s->style, COLUMNS, &code);
    if (rows == NULL) {
        return code;
    }
    for (int left = s->count; left > 0; left -= CHUNK) {
        run_chunk(all, left < CHUNK ? left : CHUNK);
    }
    ss_table_integer(rows, s->count);
    ss_table_integer(rows, all->solved);
    ss_table_integer(rows, all->wrong);
    ss_table_integer(rows, all->unsolved);
    ss_table_real(rows, 1e9 * all->seconds / s->count);
    return ss_table_end(&ss_verb_generate_locals, rows, code);
}

// Returns the part of a method that a battery has no use for, or NULL.
static const char *find_excess(const ss_method *m)
{
    if (m->local == NULL) {
        return "names no local solver; 'stickslip solvers' lists them";
    }
    if (strcmp(m->global->card.name, "gs") != 0) {
        return "write the local solver without GLOBAL/";
    }
    return memcmp(m->global_settings, m->global->card.defaults, m->global->card.settings_size) != 0
               ? "options of sweeps have no effect here: contacts are solved one at a time"
               : NULL;
}

// SS_EXIT_OK if the spec names a local solver.
static int parse_solver(const char *spec, ss_method **method)
{
    ss_error error;
    const ss_status status = ss_method_parse(spec, method, &error);
    if (status != SS_OK) {
        ss_complain(VERB, "--solver %s: %s", spec, error.text);
        // No file is read here: input that is bad is an option.
        return status == SS_BAD_INPUT ? SS_EXIT_USAGE : (int)status;
    }
    const char *excess = find_excess(*method);
    if (excess != NULL) {
        ss_complain(VERB, "--solver %s: %s", spec, excess);
    }
    return excess == NULL ? SS_EXIT_OK : SS_EXIT_USAGE;
}

static int run_locals(const void *given, const ss_operands *nothing)
{
    (void)nothing;
    const settings *s = given;
    ss_method *method = NULL, *reference = NULL;
    int code = parse_solver(s->solver, &method);
    if (code == SS_EXIT_OK) {
        code = parse_solver("secular", &reference);
    }
    trial *trials = calloc(CHUNK, sizeof *trials);
    if (code == SS_EXIT_OK && trials == NULL) {
        ss_complain(VERB, "not enough memory for %d problems", CHUNK);
        code = SS_EXIT_SYSTEM;
    }
    if (code == SS_EXIT_OK) {
        battery all = {.settings = s,
                       .method = method,
                       .reference = reference,
                       .random = ss_random_seeded(s->seed),
                       .trials = trials};
        code = run_battery(&all);
    }
    free(trials);
    ss_method_free(reference);
    ss_method_free(method);
    return code;
}

const ss_verb ss_verb_generate_locals = {
    .name = VERB,
    .summary =
        "Makes problems of one contact and counts how many a local solver solves from r = 0.",
    .options = OPTIONS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .text =
        "random: W = A A' with A and b normal, the condition of W capped at C. spread: "
        "eigenvalues 1, 1/m, 1/c in a random frame with 1 <= m <= c <= C log-uniform. The other "
        "kinds have answers by construction, or none. An answer is judged by |f|, the "
        "Fischer-Burmeister residual at the contact's own scale s = tr W/d, relative to the "
        "largest of |b|, |u| and s|r|: relative to |b| alone, rounding puts a small tolerance out "
        "of reach where r is large.\n"
        "solved: the solver reports an answer and the judge agrees. wrong: the judge refuses the "
        "reported answer, or the problem has none. unsolved: the solver reports no answer. ns: "
        "CPU time per solve.\n",
    .example = "  stickslip generate locals --count 100000 --solver mfb+enum --mu 0.1:1\n",
    .run = run_locals,
};
