// stickslip simulate: a scene runs, and leaves statistics, pictures and one-step problems.
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/cli.h"
#include "harness/run.h"
#include "harness/scene_file/scene_file.h"
#include "harness/simulate/simulation.h"

// Problems of a dump without --count.
#define DUMP_COUNT 20

typedef ss_simulate_settings settings;

// The tolerance is what [D11] means by its 1e-6 (see the help).
static const settings DEFAULTS = {
    .solver = "mfb+enum",
    .tolerance = 1e-4,
    .max_iterations = 10000,
    .dt = NAN,
    .mu = NAN,
};

static const ss_option OPTIONS[] = {
    SS_OPT_TEXT("model", "SPEC", model,
                "NAME[:key=value,...], the model of the strands (default the scene's)"),
    SS_OPT_TEXT("scheme", "SPEC", scheme,
                "NAME[:key=value,...], the time steps: linear, newton, ... (default the model's)"),
    SS_OPT_INT("rods", "N", rods, 1, 1000000, "strands (default the scene's)"),
    SS_OPT_INT("steps", "N", steps, 1, 1000000000, "accepted steps (default the scene's)"),
    SS_OPT_REAL("until-rest", "V", until_rest, 0, 1e6,
                "end when no point is faster than V m/s; exit code 2 if that never happens"),
    SS_OPT_REAL("dt", "S", dt, 1e-9, 1, "the largest step, in seconds (default the scene's)"),
    SS_OPT_REAL("mu", "M", mu, 0, 100,
                "friction of strand on strand; obstacles keep their ratio (default the scene's)"),
    SS_OPT_SOLVER,
    SS_OPT_TOLERANCE,
    SS_OPT_MAX_ITERATIONS,
    SS_OPT_REAL("time-limit", "S", time_limit, 0, 1e9,
                "wall seconds per solve; 0 for none. With a limit, the bits depend on the machine"),
    SS_OPT_INT("threads", "N", threads, 0, 256,
               "threads that share the strands, and visit stripes of contacts, the same bits for "
               "any N; 0: natural order, one thread"),
    SS_OPT_SEED("seed", "S", seed, "the same seed gives the same bits"),
    SS_OPT_PATH("dump", "FILE.h5", dump,
                "one-step problems of the run, each with the guess that it started from"),
    SS_OPT_INT("count", "N", count, 1, 1000000,
               "problems in the dump (default 20, or as many as steps)"),
    SS_OPT_INT("dump-from", "N", dump_from, 0, 1000000000,
               "no problem of the first N steps is in the dump"),
    SS_OPT_PATH("stats", "FILE.csv", stats,
                "a row per step: contacts, solve, times, energies, tips"),
    SS_OPT_PATH("iterates", "FILE.csv", iterates,
                "a row per iterate of the scheme thesis: its changes and measures"),
    SS_OPT_PATH("frames", "DIR", frames,
                "frame_00000.obj, the strands as polylines, and a PNG, 25 per simulated second"),
    SS_OPT_TEXT("camera", "A,E[,ZOOM]", camera,
                "where the frames are seen from: degrees from the front to the right, degrees "
                "above, and how much closer (default 39,9,1)"),
    SS_OPT_PATH("write", "FILE.json", write,
                "the scene as a file that runs with the same bits; nothing is simulated"),
    SS_OPT_PATH("strands", "FILE.h5", trajectory,
                "where all strands, obstacles and contacts are, 25 frames per simulated second, at "
                "least 100 per run or every step"),
    SS_OPT_TABLE,
    {.name = NULL},
};

static const char VERB[] = "simulate";

// ---- Running

// Says that nothing was solved in a run without a contact; some schemes need no solver.
static void tell_idle(const ss_simulation *a)
{
    const settings *s = a->settings;
    const bool limited = s->max_iterations != DEFAULTS.max_iterations || s->time_limit > 0.0;
    const bool solver = strcmp(s->solver, DEFAULTS.solver) != 0 || limited;
    const bool asked = solver || !isnan(s->mu) || s->tolerance != DEFAULTS.tolerance;
    if (solver && ss_stepper_is_alone(a->stepper)) {
        ss_complain(VERB,
                    "%s: the scheme %s finds impulses without a solver: --solver, --max-iter and "
                    "--time-limit have no effect",
                    a->choices->scene->spec, a->run.scheme);
    } else if (asked && a->totals.steps > 0 && a->totals.contacts_max == 0) {
        ss_complain(VERB,
                    "%s: no step had a contact: --mu and the options of the solver had no effect",
                    a->choices->scene->spec);
    }
}

// Scenes that start at rest do so by a model's natural shape.
static void tell_unsettled(const ss_simulation *a)
{
    const int count = a->world->unsettled;
    if (count > 0) {
        ss_complain(VERB,
                    "%s: %d strand%s of the model %s start%s as bent as the scene says and "
                    "fall%s: the model cannot make that their rest under gravity",
                    a->choices->scene->spec, count, ss_plural(count), a->run.model,
                    count == 1 ? "s" : "", count == 1 ? "s" : "");
    }
}

// Says what the dump holds, before it is closed. A wish that cannot be met is a wrong command line.
static int tell_dump(const ss_simulation *a)
{
    if (a->dump == NULL || ss_dump_failed(a->dump)) {
        return SS_EXIT_OK;
    }
    const char *path = a->settings->dump;
    const int taken = ss_dump_taken(a->dump), count = a->settings->count;
    const int from = a->settings->dump_from, made = a->totals.steps;
    if (taken == 0 && made <= from) {
        ss_complain(VERB,
                    "--dump %s is not written: the run made %d step%s, and --dump-from %d leaves "
                    "these out",
                    path, made, ss_plural(made), from);
    } else if (taken == 0) {
        ss_complain(VERB, "--dump %s is not written: no step from %d to %d had a contact", path,
                    from + 1, made);
    } else if (taken < count) {
        ss_complain(VERB, "%s contains %d problem%s instead of %d", path, taken, ss_plural(taken),
                    count);
    }
    return taken == 0 ? SS_EXIT_USAGE : SS_EXIT_OK;
}

// How a run ended: the word in its row.
static const char *ending(const ss_simulation *a, ss_status status)
{
    const bool all = a->totals.steps == a->steps;
    return status == SS_BAD_INPUT          ? "exploded"
           : status != SS_OK               ? "failed"
           : a->rests                      ? "rests"
           : !all                          ? "interrupted"
           : a->settings->until_rest > 0.0 ? "moves"
                                           : "done";
}

static void tell_interrupt(const ss_simulation *a)
{
    const char *scene = a->choices->scene->spec;
    if (a->phase == SS_PHASE_BUILD) {
        ss_complain(VERB, "%s: interrupted before the first step", scene);
    } else {
        ss_complain(VERB, "%s: interrupted after step %d of %d", scene, a->totals.steps, a->steps);
    }
}

static void tell_ending(const ss_simulation *a, const char *word, const ss_error *error)
{
    const char *scene = a->choices->scene->spec;
    const int steps = a->totals.steps;
    if (strcmp(word, "exploded") == 0 || strcmp(word, "failed") == 0) {
        ss_complain(VERB, "%s: after step %d of %d: %s", scene, steps, a->steps, error->text);
    } else if (strcmp(word, "interrupted") == 0) {
        tell_interrupt(a);
    } else if (strcmp(word, "moves") == 0) {
        ss_complain(VERB,
                    "%s: not at rest after %d steps: the fastest point moves at %.3g m/s, "
                    "--until-rest asks for less than %g; give more --steps",
                    scene, steps, a->speed, a->settings->until_rest);
    }
}

// Says what no motion of the model would do.
static void tell_remarks(const ss_simulation *a)
{
    char text[200];
    for (int k = 0; k < SS_PHYSICS_KINDS; k++) {
        if (ss_physics_remark(&a->physics, (ss_physics_kind)k, text, sizeof text)) {
            ss_complain(VERB, "%s: %s", a->choices->scene->spec, text);
        }
    }
}

static void tell_trajectory(const ss_simulation *a)
{
    if (a->trajectory != NULL && a->totals.steps == 0) {
        ss_complain(VERB, "--strands %s is not written: no step was made", a->settings->trajectory);
    }
}

// Memory in which the process of a run leaves its results to the program.
typedef struct shared_run {
    ss_simulation simulation;
    bool opened;
    char word[16]; // see ending
    int code;
} shared_run;

static int run(shared_run *shared)
{
    ss_simulation *a = &shared->simulation;
    ss_error error;
    tell_unsettled(a);
    const ss_status status = ss_simulation_run(a, &error);
    const char *word = ending(a, status);
    const bool well = strcmp(word, "done") == 0 || strcmp(word, "rests") == 0;
    tell_ending(a, word, &error);
    tell_remarks(a);
    tell_idle(a);
    tell_trajectory(a);
    snprintf(shared->word, sizeof shared->word, "%s", word);
    const int code = status == SS_SYSTEM ? SS_EXIT_SYSTEM : well ? SS_EXIT_OK : SS_EXIT_UNSOLVED;
    return ss_larger_code(code, tell_dump(a));
}

// Bad input of a scene that is given by its name comes from an option; sentences about a file name
// it.
static int complain_of(const ss_simulation *a, ss_status status, const ss_error *error)
{
    const char *spec = a->choices->scene->spec;
    if (a->scheme_unfit) {
        ss_complain(VERB, "--scheme %s: %s", a->choices->scheme->spec, error->text);
        return SS_EXIT_USAGE;
    }
    const bool file = ss_scene_file_is(spec);
    const bool named = file && strncmp(error->text, spec, strlen(spec)) == 0;
    ss_complain(VERB, "%s%s%s", named ? "" : spec, named ? "" : ": ", error->text);
    return status == SS_BAD_INPUT && !file ? SS_EXIT_USAGE : (int)status;
}

// In the child.
static void run_in_child(void *context)
{
    shared_run *shared = context;
    ss_simulation *a = &shared->simulation;
    ss_error error;
    ss_status status = ss_simulation_open(a, &error);
    if (status == SS_OK) {
        shared->opened = true;
        shared->code = run(shared);
    } else {
        shared->code = complain_of(a, status, &error);
    }
    status = ss_simulation_close(a, &error);
    if (status != SS_OK) {
        ss_complain(VERB, "%s", error.text);
        shared->code = ss_larger_code(shared->code, (int)status);
    }
}

// Reports a child that did not come to its end; what it wrote before that is there.
static void tell_death(shared_run *shared, ss_simulation_end end, const char *why)
{
    const ss_simulation *a = &shared->simulation;
    if (isatty(STDERR_FILENO) == 1) { // the line of progress
        fputs("\r\033[K", stderr);
    }
    if (end == SS_SIMULATION_INTERRUPTED) {
        tell_interrupt(a);
    } else {
        ss_complain(VERB, "%s: after step %d of %d: %s", a->choices->scene->spec, a->totals.steps,
                    a->steps, why);
    }
    if (a->settings->dump != NULL && shared->opened) {
        ss_complain(VERB, "--dump %s: %d of %d problems were written before that",
                    a->settings->dump, a->kept, a->settings->count);
    }
    if (a->settings->trajectory != NULL && shared->opened) {
        ss_complain(VERB, "--strands %s is not written", a->settings->trajectory);
    }
    const bool interrupted = end == SS_SIMULATION_INTERRUPTED;
    snprintf(shared->word, sizeof shared->word, "%s",
             interrupted                   ? "interrupted"
             : end == SS_SIMULATION_KILLED ? "failed"
                                           : "crashed");
    shared->code = interrupted ? SS_EXIT_UNSOLVED : SS_EXIT_SYSTEM;
}

static int run_contained(shared_run *shared, ss_table *rows)
{
    ss_simulation_end end;
    char why[300];
    ss_error error;
    ss_interrupt_catch();
    const ss_status status = ss_simulation_contain(run_in_child, shared, &shared->simulation, &end,
                                                   why, sizeof why, &error);
    if (status != SS_OK) {
        ss_complain(VERB, "%s: %s", shared->simulation.choices->scene->spec, error.text);
        ss_table_free(rows);
        return (int)status;
    }
    if (end != SS_SIMULATION_ENDED) {
        tell_death(shared, end, why);
    }
    if (!shared->opened) {
        ss_table_free(rows);
        return shared->code;
    }
    ss_summary_row(rows, &shared->simulation, shared->word);
    return ss_table_end(&ss_verb_simulate, rows, shared->code);
}

static int simulate(const ss_simulate_choices *choices, const settings *s)
{
    int code;
    ss_table *rows = ss_table_begin(&ss_verb_simulate, &s->style, ss_summary_columns, &code);
    if (rows == NULL) {
        return code;
    }
    shared_run *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        ss_complain(VERB, "out of memory for a run");
        ss_table_free(rows);
        return SS_EXIT_SYSTEM;
    }
    shared->simulation =
        (ss_simulation){.choices = choices,
                        .settings = s,
                        .steps = s->steps > 0 ? s->steps : choices->scene->scene->steps};
    code = run_contained(shared, rows);
    munmap(shared, sizeof *shared);
    return code;
}

static int write_scene(const ss_simulate_choices *choices, const settings *s)
{
    ss_simulation a = {.choices = choices,
                       .settings = s,
                       .steps = s->steps > 0 ? s->steps : choices->scene->scene->steps};
    ss_error error, other;
    const ss_status status = ss_simulation_write(&a, &error);
    const int code = status == SS_OK ? SS_EXIT_OK : complain_of(&a, status, &error);
    ss_simulation_close(&a, &other);
    return code;
}

// ---- The command line

// Refuses options for which --write and a file leave nothing to do.
static bool check_write(const settings *s, const char *scene)
{
    const struct {
        const char *option;
        bool given;
    } runs[] = {{"--dump", s->dump != NULL},          {"--stats", s->stats != NULL},
                {"--iterates", s->iterates != NULL},  {"--frames", s->frames != NULL},
                {"--strands", s->trajectory != NULL}, {"--until-rest", s->until_rest > 0.0}};
    for (size_t k = 0; k < sizeof runs / sizeof runs[0] && s->write != NULL; k++) {
        if (runs[k].given) {
            ss_complain(VERB, "--write simulates nothing: leave %s out", runs[k].option);
            return false;
        }
    }
    if (ss_scene_file_is(scene) && s->rods > 0) {
        ss_complain(VERB, "%s has strands of its own: leave --rods out", scene);
        return false;
    }
    return true;
}

static bool check_camera(const settings *s)
{
    ss_camera camera;
    ss_error error;
    if (s->camera != NULL && s->frames == NULL) {
        ss_complain(VERB, "--camera %s needs --frames DIR", s->camera);
        return false;
    }
    if (s->camera != NULL && ss_camera_parse(s->camera, &camera, &error) != SS_OK) {
        ss_complain(VERB, "%s", error.text);
        return false;
    }
    return true;
}

// No file is written by two options, or over the scene.
static bool check_files(const settings *s, const char *scene)
{
    const struct {
        const char *option, *path;
    } files[] = {{"the scene", ss_scene_file_is(scene) ? scene : NULL},
                 {"--write", s->write},
                 {"--dump", s->dump},
                 {"--stats", s->stats},
                 {"--iterates", s->iterates},
                 {"--strands", s->trajectory}};
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
        for (size_t j = 0; j < k; j++) {
            if (ss_same_file(files[j].path, files[k].path)) {
                ss_complain(VERB, "%s and %s cannot both be %s", files[j].option, files[k].option,
                            files[k].path);
                return false;
            }
        }
    }
    return true;
}

static bool check_steps(settings *s, const ss_scene *scene)
{
    const int steps = s->steps > 0 ? s->steps : scene->steps;
    if (s->count > 0 && s->dump == NULL) {
        ss_complain(VERB, "--count %d needs --dump FILE.h5", s->count);
        return false;
    }
    if (s->dump_from > 0 && s->dump == NULL) {
        ss_complain(VERB, "--dump-from %d needs --dump FILE.h5", s->dump_from);
        return false;
    }
    if (s->dump_from >= steps) {
        ss_complain(VERB, "--dump-from %d leaves no step; the run has %d", s->dump_from, steps);
        return false;
    }
    const int left = steps - s->dump_from;
    if (s->count > left) {
        ss_complain(VERB, "--count %d needs at least as many steps; the %s has %d", s->count,
                    s->dump_from > 0 ? "run after --dump-from" : "run", left);
        return false;
    }
    if (s->count == 0) {
        s->count = left < DUMP_COUNT ? left : DUMP_COUNT;
    }
    return true;
}

static int run_simulate(const void *given, const ss_operands *scenes)
{
    settings s = *(const settings *)given;
    ss_simulate_specs p = {0};
    int code = ss_simulate_parse(VERB, scenes->text[0], &s, &p);
    if (code == SS_EXIT_OK &&
        !(check_steps(&s, p.scene->scene) && check_files(&s, scenes->text[0]) &&
          check_write(&s, scenes->text[0]) && check_camera(&s))) {
        code = SS_EXIT_USAGE;
    } else if (code == SS_EXIT_OK) {
        const ss_simulate_choices choices = {.given = scenes->text[0],
                                             .scene = p.scene,
                                             .model = &p.model,
                                             .scheme = p.scheme_spec != NULL ? &p.scheme : NULL,
                                             .method = p.method};
        if (s.write == NULL) {
            ss_run_remark_threads(VERB, s.threads, p.method);
        }
        code = s.write != NULL ? write_scene(&choices, &s) : simulate(&choices, &s);
    }
    ss_simulate_specs_free(&p);
    return code;
}

const ss_verb ss_verb_simulate = {
    .name = VERB,
    .summary = "Runs a scene of strands with contact and friction, and prints a row about it.",
    .operands = "SCENE|FILE.json",
    .min_operands = 1,
    .max_operands = 1,
    .needs = "a SCENE",
    .options = OPTIONS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .text =
        "'stickslip scenes' lists the scenes and their options: SCENE is NAME[:key=value,...]. "
        "FILE.json is a scene of your own (its format: doc/scene-file.md, or man stickslip); "
        "--write makes such a file of a scene. Every step is a one-step problem: the solver starts "
        "from the impulses of the step before, and the judge measures its answer. A step that "
        "fails or moves too far is tried again with half its size; the statistics say why.\n"
        "The default solver is the one of [D11]; --solver auto also solves the steps that it "
        "leaves above the tolerance, 4 % in full-size free hair. The tolerance 1e-4 stands for "
        "the 1e-6 of [D11], which is in its internal units and means a relative error of 1e-3 to "
        "1e-4 (its footnote 4). A step above the tolerance is counted and the run continues.\n"
        "--dump cuts the run, or what --dump-from leaves of it, into stretches. It takes the first "
        "step of each in which more than "
        "30 % of the contacts are active, or else the last, or the best before it if that has no "
        "contact. Dump and statistics are written by one simulation at a time: a second one on the "
        "same file is refused. --stats: fb_abs and natural are "
        "[D11]'s measures in its units, cm and dyn s; dispersion is the mean distance of two tips "
        "(above 2000 strands, of 2000 of them); gamma and bending_hz are those of the longest "
        "strand: its weight against its stiffness, rho S g L^3 / EI, and its first frequency. "
        "Seconds are wall time.\n"
        "--strands writes an HDF5 file that 'report' shows and other programs can read; "
        "man stickslip lists its datasets. It is made in memory and written at the end.\n"
        "Ctrl-C ends the run within a second, or with --strands as soon as that file is written; "
        "the step that it was at is not taken. Statistics and frames of the steps before are "
        "complete, as they and the dump are when a run explodes. The column remarks names what no "
        "motion of the model would do: gain of energy, stretch, overlap. The steps run in a "
        "process of "
        "their own: if a solver "
        "crashes there, or ignores --time-limit, its rows of --stats are complete, and a sentence "
        "says "
        "which problems of --dump are.\n",
    .example = "  stickslip simulate pony --rods 50 --steps 200 --stats pony.csv\n"
               "  stickslip simulate pony --dump pony.h5 --count 306\n",
    .exits = {[SS_EXIT_USAGE] = "wrong command line, or no step has a contact for --dump",
              [SS_EXIT_BAD_INPUT] = "FILE.json has a mistake, which is named",
              [SS_EXIT_UNSOLVED] = "the run exploded, was interrupted or did not come to rest",
              [SS_EXIT_SYSTEM] = "system error, a solver crashed, or gnuplot is missing or failed"},
    .run = run_simulate,
};
