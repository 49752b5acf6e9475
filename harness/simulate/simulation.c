
#include "harness/simulate/simulation.h"

#include "base/number.h"
#include "harness/cli.h"
#include "harness/frames/frames.h"
#include "harness/frames/trajectory.h"
#include "harness/quote.h"
#include "harness/results/stats.h"
#include "harness/run.h"
#include "harness/scene_file/scene_file.h"
#include "harness/simulate/outputs.h"
#include "harness/table.h"
#include "problems/matrix/mass.h"
#include "base/clock.h"
#include "base/child.h"
#include "solvers/registry.h"
#include "strands/scenes/scene.h"
#include "strands/spec.h"
#include "strands/step/step.h"

#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- Memory

// Below it a scene is built in a second.
#define LEAST 20000
// Strands of the small scenes.
#define FEW  100
#define MORE 300

static double bytes_in_use(void)
{
    const struct mallinfo2 now = mallinfo2();
    return (double)now.uordblks + (double)now.hblkhd;
}

// The memory of a world with that many strands and of its steps; below 0 if there is no such scene.
static double bytes_of(const ss_scene *scene, ss_scene_request request,
                       const ss_step_options *options, int rods)
{
    const double before = bytes_in_use();
    double bytes = -1.0;
    ss_error ignored;
    ss_step_options own = *options;
    ss_world *w = ss_world_new();
    request.rods = rods;
    if (w != NULL && ss_scene_build(scene, &request, w, &own, &ignored) == SS_OK) {
        own.dt_min = own.dt_min < own.dt ? own.dt_min : own.dt;
        ss_stepper *s = ss_stepper_new(w, &own, (ss_step_solver){0}, &ignored);
        bytes = s != NULL ? bytes_in_use() - before : -1.0;
        ss_stepper_free(s);
    }
    ss_world_free(w);
    return bytes;
}

// Estimates the memory of a scene whose strands take long to build: two smaller ones are built
// first, and the larger one shows what a strand takes, in the world and in its steps. SS_BAD_INPUT
// if all strands, without their contacts, take more than the machine has.
static ss_status simulate_check_size(const ss_scene *scene, const ss_scene_request *request,
                                     const ss_step_options *options, ss_error *e)
{
    const int rods = request->rods > 0 ? request->rods : scene->rods;
    if (rods < LEAST) {
        return SS_OK;
    }
    const double few = bytes_of(scene, *request, options, FEW);
    const double more = bytes_of(scene, *request, options, MORE);
    const double strand = (more - few) / (MORE - FEW);
    const double machine = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    if (few < 0.0 || more < 0.0 || !(strand * rods > machine)) {
        return SS_OK;
    }
    return ss_fail(
        e, SS_BAD_INPUT,
        "%d rods of %.0f kB each take %.0f GB before the first contact, and this machine "
        "has %.0f GB: use fewer than %.0f rods",
        rods, 1e-3 * strand, 1e-9 * strand * rods, 1e-9 * machine, machine / strand);
}

// ---- Specs

// Whether there is a scene of that name, whatever its options.
static bool has_scene(const char *verb, const char *spec)
{
    char name[SS_SPEC_ROOM];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(spec, ":"), spec);
    if (ss_scene_find(name) != NULL) {
        return true;
    }
    ss_suggestion nearest = {.word = name};
    for (int k = 0; ss_scenes[k] != NULL; k++) {
        ss_suggestion_offer(&nearest, ss_scenes[k]->name);
    }
    ss_complain(verb, "unknown scene '%s'%s", name,
                ss_suggestion_hint(&nearest, "", "; 'stickslip scenes' lists them").text);
    return false;
}

// The exit code of a spec that could not be parsed.
static int fail_spec(const char *verb, ss_status status, const char *option, const char *spec,
                     const ss_error *error)
{
    ss_complain(verb, "%s%s: %s", option, spec, error->text);
    return status == SS_BAD_INPUT ? SS_EXIT_USAGE : (int)status;
}

static int parse_scene(const char *verb, const char *scene, ss_simulate_specs *p)
{
    ss_error e;
    if (ss_scene_file_is(scene)) {
        const ss_status status = ss_scene_file_read(scene, &p->file, &e);
        p->scene = &p->file.choice;
        if (status != SS_OK) {
            ss_complain(verb, "%s", e.text);
        }
        return (int)status;
    }
    if (!has_scene(verb, scene)) {
        return SS_EXIT_USAGE;
    }
    const ss_status status = ss_scene_parse(scene, &p->named, &e);
    p->scene = &p->named;
    return status == SS_OK ? SS_EXIT_OK : fail_spec(verb, status, "", scene, &e);
}

int ss_simulate_parse(const char *verb, const char *scene, const ss_simulate_settings *s,
                      ss_simulate_specs *p)
{
    ss_error e;
    const int code = parse_scene(verb, scene, p);
    if (code != SS_EXIT_OK) {
        return code;
    }
    const char *model = s->model != NULL ? s->model : p->scene->scene->model;
    p->scheme_spec = s->scheme != NULL ? s->scheme : s->model == NULL ? p->file.scheme : NULL;
    ss_status status = ss_model_parse(model, &p->model, &e);
    if (status != SS_OK) {
        return fail_spec(verb, status, "--model ", model, &e);
    }
    if (p->scheme_spec != NULL) {
        status = ss_scheme_parse(p->scheme_spec, &p->scheme, &e);
        if (status != SS_OK) {
            return fail_spec(verb, status, "--scheme ", p->scheme_spec, &e);
        }
    }
    status = ss_method_parse(s->solver, &p->method, &e);
    return status == SS_OK ? SS_EXIT_OK : fail_spec(verb, status, "--solver ", s->solver, &e);
}

void ss_simulate_specs_free(ss_simulate_specs *p)
{
    ss_scene_choice_free(&p->named);
    ss_scene_file_free(&p->file);
    ss_model_choice_free(&p->model);
    ss_scheme_choice_free(&p->scheme);
    ss_method_free(p->method);
}

// ---- The row of a run

const ss_column ss_summary_columns[] = {
    {.key = "scene", .kind = SS_COLUMN_TEXT},
    {.key = "model", .kind = SS_COLUMN_TEXT},
    {.key = "solver", .kind = SS_COLUMN_TEXT},
    {.key = "rods", .kind = SS_COLUMN_INTEGER},
    {.key = "mu", .kind = SS_COLUMN_REAL},
    {.key = "status", .kind = SS_COLUMN_TEXT},
    {.key = "steps", .kind = SS_COLUMN_INTEGER},
    {.key = "rejected", .kind = SS_COLUMN_INTEGER},
    {.key = "time", .kind = SS_COLUMN_REAL},
    {.key = "contacts_mean", .kind = SS_COLUMN_REAL},
    {.key = "contacts_max", .kind = SS_COLUMN_INTEGER},
    {.key = "over_tol_percent", .kind = SS_COLUMN_REAL},
    {.key = "max_fb", .kind = SS_COLUMN_REAL},
    {.key = "mean_iterations", .kind = SS_COLUMN_REAL},
    {.key = "gs_seconds", .kind = SS_COLUMN_REAL},
    {.key = "solve_seconds", .kind = SS_COLUMN_REAL},
    {.key = "step_seconds", .kind = SS_COLUMN_REAL},
    {.key = "hit_percent", .kind = SS_COLUMN_REAL},
    {.key = "collide_percent", .kind = SS_COLUMN_REAL},
    {.key = "penetration_max", .kind = SS_COLUMN_REAL},
    {.key = "gamma", .kind = SS_COLUMN_REAL},
    {.key = "bending_hz", .kind = SS_COLUMN_REAL},
    {.key = "remarks", .kind = SS_COLUMN_TEXT},
    {.key = NULL},
};

// A share that is not known where there is no whole.
static double over(double part, double whole)
{
    return whole > 0.0 ? part / whole : NAN;
}

void ss_summary_row(ss_table *rows, const ss_simulation *a, const char *status)
{
    const ss_stats_totals *t = &a->totals;
    char remarks[80];
    ss_physics_remarks(&a->physics, remarks, sizeof remarks);
    ss_table_text(rows, a->run.scene);
    ss_table_text(rows, a->run.model);
    ss_table_text(rows, a->run.solver);
    ss_table_integer(rows, a->run.rods);
    ss_table_real(rows, a->run.mu);
    ss_table_text(rows, status);
    ss_table_integer(rows, t->steps);
    ss_table_integer(rows, t->rejected);
    ss_table_real(rows, t->time);
    ss_table_real(rows, over(t->contacts, t->steps));
    ss_table_integer(rows, t->contacts_max);
    ss_table_real(rows, over(100.0 * t->over, t->solved_steps));
    ss_table_real(rows, t->solved_steps > 0 ? t->fb_max : NAN);
    ss_table_real(rows, over(t->iterations, t->solved_steps));
    ss_table_real(rows, over(t->gs_seconds, t->solved_steps));
    ss_table_real(rows, over(t->solve_seconds, t->solved_steps));
    ss_table_real(rows, over(t->step_seconds, t->steps));
    ss_table_real(rows, over(100.0 * t->hits, t->contacts));
    ss_table_real(rows, over(100.0 * t->collide_seconds, t->step_seconds));
    ss_table_real(rows, t->penetration_max);
    ss_table_real(rows, a->run.gamma);
    ss_table_real(rows, a->run.bending_hz);
    ss_table_text(rows, remarks);
}

// ---- The solver of a step

// 1 N s = 1e5 dyn s, 1 m/s = 1e2 cm/s.
#define DYN_SECONDS 1e5
#define CENTIMETRES 1e2

// fb_abs and natural add velocities to impulses. A resting hair contact has some 4e-9 N s, far
// below any velocity in m/s, so that in SI they see the velocities alone; in the units of [D11]
// both are of one size, and its 1e-6 means something.
static void measure_in_cgs(const ss_problem *p, const ss_run *run, ss_step_answer *answer)
{
    const ss_measures m =
        ss_measure_in_units(DYN_SECONDS, CENTIMETRES, p->dim, p->ncontacts, run->response->b, p->mu,
                            run->answer.r, run->answer.u);
    answer->fb_abs = m.fb_abs;
    answer->natural = m.natural;
}

static void tell(const ss_run *run, ss_step_answer *answer)
{
    answer->status = run->status;
    answer->solved = run->verdict.solved;
    answer->fb = run->verdict.measures.fb;
    answer->normal = run->verdict.measures.normal;
}

// Below it a second thread costs more than it saves: it is started for each solve, and the threads
// wait for each other twice a sweep. One thread makes the same visits.
#define CONTACTS_LEAST 1000

static ss_task task_of(const ss_simulate_solver *s, const ss_problem *p)
{
    return (ss_task){
        .problem = p,
        .method = s->method,
        .tolerance = s->tolerance,
        .max_iterations = s->max_iterations,
        .time_limit = s->time_limit,
        .clock = SS_CLOCK_WALL,
        .threads = s->threads > 1 && p->ncontacts < CONTACTS_LEAST ? 1 : s->threads,
        .interrupted = s->interrupted,
    };
}

// FNV-1a over the numbers of M, four in turn: whether it is the M of the factor.
static uint64_t print_of(const ss_problem *p)
{
    const uint64_t prime = 1099511628211u;
    uint64_t print[4] = {14695981039346656037u, 1, 2, 3};
    const int count = ss_sparse_count(&p->M);
    int k = 0;
    for (; k + 4 <= count; k += 4) {
        uint64_t bits[4];
        memcpy(bits, &p->M.x[k], sizeof bits);
        for (int l = 0; l < 4; l++) {
            print[l] = (print[l] ^ bits[l]) * prime;
        }
    }
    for (; k < count; k++) {
        uint64_t bits;
        memcpy(&bits, &p->M.x[k], sizeof bits);
        print[0] = (print[0] ^ bits) * prime;
    }
    for (int l = 1; l < 4; l++) {
        print[0] = (print[0] ^ print[l]) * prime;
    }
    return print[0];
}

void ss_simulate_drop(ss_simulate_solver *s)
{
    ss_mass_free(s->factor);
    s->factor = NULL;
}

ss_status ss_simulate_solve(void *context, const ss_problem *p, double *r, ss_step_answer *answer,
                            ss_error *e)
{
    ss_simulate_solver *s = context;
    ss_task task = task_of(s, p);
    ss_simulate_drop(s);
    task.factor = &s->factor;
    s->solves++;
    const ss_status status = ss_solve(&task, r, &s->result, e);
    s->solves++;
    if (s->factor != NULL) {
        s->factored = print_of(p);
    }
    const ss_result *result = &s->result;
    *answer = (ss_step_answer){
        .status = ss_outcome_name(result->outcome),
        .iterations = result->iterations,
        .left = fmin(result->own_error, s->tolerance),
        .seconds = result->seconds,
        .setup_seconds = result->setup_seconds,
        .sweep_seconds = result->sweep_seconds,
    };
    return status == SS_OK && result->outcome == SS_INTERRUPTED
               ? ss_fail(e, SS_SYSTEM, "interrupted")
               : status;
}

ss_status ss_simulate_judge(void *context, const ss_problem *p, const double *r,
                            ss_step_answer *answer, ss_error *e)
{
    ss_simulate_solver *s = context;
    ss_task task = task_of(s, p);
    if (s->factor != NULL && s->factored != print_of(p)) { // another iterate has another M
        ss_simulate_drop(s);
    }
    task.factor = &s->factor;
    ss_run run = {0};
    const ss_status status = ss_run_judged(&task, r, &s->result, &run, e);
    if (status == SS_OK) {
        tell(&run, answer);
        measure_in_cgs(p, &run, answer);
    }
    ss_run_free(&run);
    ss_simulate_drop(s);
    return status;
}

// A row of `iterates`.
static ss_status simulate_see(void *context, const ss_problem *p, const double *r,
                              const ss_step_report *report, ss_error *e)
{
    const ss_simulate_solver *s = context;
    ss_step_answer answer = {0};
    const ss_status status = ss_simulate_judge(context, p, r, &answer, e);
    if (status == SS_OK) {
        ss_iterates_add(s->iterates, s->step, report, p->ncontacts, &answer);
    }
    return status;
}

// ---- A scene that runs

// Simulated seconds between two frames: a film of 25 pictures per second.
#define FRAME_SECONDS 0.04
// A short run has so many frames in its strands file, or every step; a large one as many as so many
// bytes hold of places, as the file is made in memory.
#define LEAST_FRAMES 100
#define MOST_BYTES   1e9

// -- Opening

static ss_status build_world(ss_simulation *sim, ss_step_options *options, ss_error *e)
{
    const ss_simulate_settings *s = sim->settings;
    const ss_scene_choice *scene = sim->choices->scene;
    const ss_scene_request request = {.rods = s->rods,
                                      .mu = s->mu,
                                      .seed = s->seed,
                                      .model = sim->choices->model,
                                      .settings = scene->settings};
    *options = ss_step_defaults();
    options->dt = isnan(s->dt) ? scene->scene->dt : s->dt;
    options->threads = s->threads;
    options->scheme = sim->choices->scheme;
    const ss_status size = simulate_check_size(scene->scene, &request, options, e);
    if (size != SS_OK) {
        return size;
    }
    sim->world = ss_world_new();
    if (sim->world == NULL) {
        return ss_fail_memory(e, "the world");
    }
    sim->world->keeps_designs = s->write != NULL || s->stats != NULL;
    const ss_status status = ss_scene_build(scene->scene, &request, sim->world, options, e);
    options->dt_min = fmin(options->dt_min, options->dt);
    return status;
}

static ss_status start_steps(ss_simulation *sim, const ss_step_options *options, ss_error *e)
{
    const ss_simulate_settings *s = sim->settings;
    sim->solver = (ss_simulate_solver){.method = sim->choices->method,
                                       .tolerance = s->tolerance,
                                       .max_iterations = s->max_iterations,
                                       .time_limit = s->time_limit,
                                       .threads = s->threads,
                                       .interrupted = &sim->interrupted};
    const ss_step_solver solver = {.solve = ss_simulate_solve,
                                   .judge = ss_simulate_judge,
                                   .see = s->iterates != NULL ? simulate_see : NULL,
                                   .context = &sim->solver};
    const ss_status status = ss_step_options_check(options, e);
    if (status != SS_OK) {
        return status;
    }
    sim->physics = (ss_physics){.ends = options->explosion > 0.0};
    sim->stepper = ss_stepper_new(sim->world, options, solver, e);
    sim->scheme_unfit = sim->stepper == NULL && e->status == SS_BAD_INPUT && s->scheme != NULL;
    return sim->stepper != NULL ? SS_OK : e->status;
}

// Describes the bending of the longest strand; strands without elasticity do not bend.
static void describe_bending(const ss_world *w, ss_stats_run *run)
{
    const ss_strand *longest = &w->strands[0];
    for (int k = 1; k < w->nstrands; k++) {
        longest = w->strands[k].length > longest->length ? &w->strands[k] : longest;
    }
    const bool bends = longest->model->energy != NULL;
    const double g = ss_length(w->gravity);
    run->gamma = bends ? ss_material_gamma(&longest->material, longest->length, g) : NAN;
    run->bending_hz = bends ? ss_material_frequency(&longest->material, longest->length) : NAN;
}

static void describe_run(ss_simulation *sim)
{
    const ss_simulate_settings *s = sim->settings;
    const ss_world *w = sim->world;
    ss_stats_run *run = &sim->run;
    snprintf(run->scene, sizeof run->scene, "%s", sim->choices->scene->spec);
    snprintf(run->model, sizeof run->model, "%s", sim->choices->model->spec);
    snprintf(run->scheme, sizeof run->scheme, "%s", ss_stepper_scheme(sim->stepper));
    snprintf(run->solver, sizeof run->solver, "%s",
             ss_stepper_is_alone(sim->stepper) ? run->scheme : sim->solver.method->spec);
    run->seed = s->seed;
    run->rods = w->nstrands;
    run->mu = w->mu;
    run->mu_obstacle = w->nobstacles > 0 ? w->obstacles[0].mu : NAN;
    run->tol = s->tolerance;
    describe_bending(w, run);
}

// Empties the file, which is open.
static ss_status begin_stats(ss_simulation *sim, ss_error *e)
{
    const char *path = sim->settings->stats;
    const ss_status status = ss_hold_empty(sim->stats_file, path, e);
    if (status != SS_OK) {
        return status;
    }
    sim->stats = ss_table_of_fields(sim->stats_file, SS_FORMAT_CSV, ss_stats_fields);
    return sim->stats != NULL ? SS_OK : ss_fail_memory(e, path);
}

// A number as text, to stand in a list of arguments.
typedef struct number {
    char text[32];
} number;

static number print(double x)
{
    number n;
    ss_number_print(x, n.text);
    return n;
}

static ss_status check_iterates(const ss_simulation *sim, ss_error *e)
{
    const char *scheme = ss_stepper_scheme(sim->stepper);
    const bool thesis = strncmp(scheme, "thesis", strcspn(scheme, ":")) == 0;
    return sim->settings->iterates == NULL || thesis
               ? SS_OK
               : ss_fail(e, SS_BAD_INPUT,
                         "--iterates is for the scheme thesis, and these steps are by %s", scheme);
}

static ss_status open_iterates(ss_simulation *sim, ss_error *e)
{
    sim->solver.iterates = ss_iterates_open(sim->settings->iterates, e);
    return sim->solver.iterates != NULL ? SS_OK : e->status;
}

static void print_option(FILE *out, const char *name, const char *value)
{
    fprintf(out, " --%s ", name);
    ss_quote(out, SS_SHELL, value);
}

// A name that begins with a dash would be an option.
static void print_recipe(FILE *out, const ss_simulation *sim, double dt)
{
    const ss_simulate_settings *s = sim->settings;
    const char *scene = sim->choices->given;
    fputs(scene[0] == '-' ? "stickslip simulate ./" : "stickslip simulate ", out);
    ss_quote(out, SS_SHELL, scene);
    print_option(out, "model", sim->run.model);
    if (sim->choices->scheme != NULL) {
        print_option(out, "scheme", sim->choices->scheme->spec);
    }
    if (!ss_scene_file_is(scene)) { // a file has strands of its own
        fprintf(out, " --rods %d", sim->run.rods);
    }
    fprintf(out, " --mu %s --dt %s --seed %llu --steps %d", print(sim->run.mu).text, print(dt).text,
            (unsigned long long)s->seed, sim->steps);
    print_option(out, "solver", sim->solver.method->spec);
    fprintf(out, " --tol %s --max-iter %d", print(s->tolerance).text, s->max_iterations);
    if (s->time_limit > 0.0) {
        fprintf(out, " --time-limit %s", print(s->time_limit).text);
    }
    if (s->threads > 0) { // with threads contacts are visited in another order
        fprintf(out, " --threads %d", s->threads);
    }
}

// Returns the command line that repeats these steps, for the caller to free; NULL without memory.
static char *recipe_of(const ss_simulation *sim, double dt)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) {
        return NULL;
    }
    print_recipe(out, sim, dt);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    return text;
}

static ss_status open_dump(ss_simulation *sim, const ss_step_options *options, ss_error *e)
{
    const ss_simulate_settings *s = sim->settings;
    char *recipe = recipe_of(sim, options->dt);
    const ss_dump_source source = {
        .scene = sim->choices->scene->spec, .description = recipe, .seed = s->seed};
    const ss_status status = recipe != NULL ? ss_dump_open(s->dump, s->count, s->dump_from,
                                                           sim->steps, &source, &sim->dump, e)
                                            : ss_fail_memory(e, s->dump);
    free(recipe);
    return status;
}

// Simulated seconds between two frames of the strands file.
static double trajectory_pace(const ss_world *w, double seconds)
{
    const double frame = (double)sizeof(double) * (3.0 * w->npoints + 12.0 * w->nobstacles);
    const double most = fmax(1.0, floor(MOST_BYTES / frame));
    return fmax(fmin(FRAME_SECONDS, seconds / LEAST_FRAMES), seconds / most);
}

static ss_status open_trajectory(ss_simulation *sim, const ss_step_options *options, ss_error *e)
{
    const char *path = sim->settings->trajectory;
    char *recipe = recipe_of(sim, options->dt);
    const ss_trajectory_source source = {.scene = sim->run.scene,
                                         .model = sim->run.model,
                                         .scheme = sim->run.scheme,
                                         .solver = sim->run.solver,
                                         .description = recipe,
                                         .seed = sim->settings->seed,
                                         .every =
                                             trajectory_pace(sim->world, sim->steps * options->dt)};
    const ss_status status =
        recipe != NULL ? ss_trajectory_open(path, &source, sim->strands, &sim->trajectory, e)
                       : ss_fail_memory(e, path);
    free(recipe);
    return status;
}

static ss_status open_frames(ss_simulation *sim, ss_error *e)
{
    const ss_simulate_settings *s = sim->settings;
    ss_camera camera = SS_CAMERA;
    const ss_status status = s->camera != NULL ? ss_camera_parse(s->camera, &camera, e) : SS_OK;
    return status == SS_OK ? ss_frames_open(s->frames, FRAME_SECONDS, sim->choices->scene->spec,
                                            sim->strands, &camera, &sim->frames, e)
                           : status;
}

static ss_status open_files(ss_simulation *sim, const ss_step_options *options, ss_error *e)
{
    const ss_simulate_settings *s = sim->settings;
    ss_status status = check_iterates(sim, e);
    if (status == SS_OK && (s->stats != NULL || s->frames != NULL || s->trajectory != NULL)) {
        status = ss_strands_new(sim->world, &sim->strands, e);
    }
    if (status == SS_OK && s->dump != NULL) {
        status = open_dump(sim, options, e);
    }
    if (status == SS_OK && s->frames != NULL) {
        status = open_frames(sim, e);
    }
    if (status == SS_OK && s->trajectory != NULL) {
        status = open_trajectory(sim, options, e);
    }
    if (status == SS_OK && s->stats != NULL) {
        status = ss_hold_open(s->stats, &sim->stats_file, e);
    }
    // Files are emptied after all are open, so that a run that cannot begin leaves them as they
    // are.
    if (status == SS_OK && s->iterates != NULL) {
        status = open_iterates(sim, e);
    }
    if (status == SS_OK && s->stats != NULL) {
        status = begin_stats(sim, e);
    }
    return status;
}

ss_status ss_simulation_write(ss_simulation *sim, ss_error *e)
{
    const ss_simulate_settings *s = sim->settings;
    ss_step_options options;
    const ss_status status = build_world(sim, &options, e);
    const ss_scene_run run = {.title = sim->choices->scene->scene->shows,
                              .model = sim->choices->model->spec,
                              .scheme =
                                  sim->choices->scheme != NULL ? sim->choices->scheme->spec : NULL,
                              .steps = sim->steps,
                              .options = &options};
    return status == SS_OK ? ss_scene_file_write(s->write, sim->world, &run, e) : status;
}

ss_status ss_simulation_open(ss_simulation *sim, ss_error *e)
{
    ss_step_options options;
    ss_status status = build_world(sim, &options, e);
    if (status == SS_OK) {
        status = start_steps(sim, &options, e);
    }
    if (status == SS_OK) {
        describe_run(sim);
        status = open_files(sim, &options, e);
    }
    return status;
}

// -- Progress, on stderr: a line that rewrites itself on a terminal, a plain line now and then
// elsewhere

// Seconds between two lines, on a terminal and elsewhere.
#define TERMINAL_PACE 0.1
#define PLAIN_PACE    10.0

typedef struct progress {
    const char *scene; // borrowed
    int steps;
    bool terminal;
    double start, shown; // s: of the run, of the last line
} progress;

static progress progress_start(const char *scene, int steps)
{
    const double now = ss_clock_seconds(CLOCK_MONOTONIC);
    return (progress){.scene = scene,
                      .steps = steps,
                      .terminal = isatty(STDERR_FILENO) == 1,
                      .start = now,
                      .shown = now};
}

static void progress_step(progress *p, int step, const ss_step_report *report)
{
    const double now = ss_clock_seconds(CLOCK_MONOTONIC);
    if (now < p->shown + (p->terminal ? TERMINAL_PACE : PLAIN_PACE)) {
        return;
    }
    p->shown = now;
    const double left = (now - p->start) / step * (p->steps - step);
    fputs(p->terminal ? "\r\033[K" : "", stderr);
    ss_quote(stderr, SS_PLAIN, p->scene);
    fprintf(stderr,
            ": step %d/%d at %.3f s, %d contacts (%d active), %d iterations, %.0f ms, "
            "%.0f s left%s",
            step, p->steps, report->time, report->contacts, report->active,
            report->contacts > 0 ? report->answer.iterations : 0, 1e3 * report->seconds, left,
            p->terminal ? "" : "\n");
}

static void progress_clear(const progress *p)
{
    if (p->terminal) {
        fputs("\r\033[K", stderr);
    }
}

// -- Running

static void put(double to[3], ss_vec3 x)
{
    to[0] = x.x;
    to[1] = x.y;
    to[2] = x.z;
}

// Takes back the part of a row that still found room; no other is written.
static void cut_stats(ss_simulation *sim)
{
    __fpurge(sim->stats_file);
    (void)!ftruncate(fileno(sim->stats_file), (off_t)sim->stats_bytes);
    ss_table_free(sim->stats);
    sim->stats = NULL;
    fclose(sim->stats_file);
    sim->stats_file = NULL;
}

static ss_status write_stats(ss_simulation *sim, double length, ss_stats_row *row, ss_error *e)
{
    const ss_strands *s = sim->strands;
    row->dispersion = ss_strands_dispersion(s);
    row->stretch_percent = ss_strands_stretch_percent(s, length);
    row->tip_gap = ss_strands_tip_gap(s);
    row->unrest = ss_strands_unrest(s);
    put(row->tip, ss_strands_tip(s, 0));
    put(row->tip_velocity, ss_strands_tip_velocity(s, 0));
    ss_stats_print(sim->stats, &sim->run, row);
    // Whole lines reach the disk, whatever ends the run.
    if (fflush(sim->stats_file) == 0) {
        sim->stats_bytes = ftello(sim->stats_file);
        return SS_OK;
    }
    const int error = errno;
    cut_stats(sim);
    return ss_fail(e, SS_SYSTEM, "%s: cannot be written: %s", sim->settings->stats,
                   strerror(error));
}

static ss_status keep_step(ss_simulation *sim, const ss_step_report *report, int step, ss_error *e)
{
    ss_status status = SS_OK;
    ss_stats_row row = ss_stats_row_of(report, step);
    ss_stats_total(&sim->totals, &row);
    const bool frame = sim->frames != NULL && ss_frames_due(sim->frames, report->time);
    const bool kept = sim->trajectory != NULL && ss_trajectory_due(sim->trajectory, report->time);
    if (frame || kept) {
        ss_strands_look(sim->strands);
    } else if (sim->stats != NULL) {
        ss_strands_look_at_tips(sim->strands, ss_stepper_points(sim->stepper));
    }
    if (sim->stats != NULL) {
        status = write_stats(sim, report->length, &row, e);
    }
    if (status == SS_OK && sim->dump != NULL) {
        const double *r, *v;
        const ss_problem *p = ss_stepper_problem(sim->stepper, &r, &v);
        status = ss_dump_offer(sim->dump, step, report->active, p, e);
        sim->kept = ss_dump_kept(sim->dump);
    }
    if (status == SS_OK && kept) {
        status = ss_trajectory_add(sim->trajectory, sim->stepper, e);
    }
    return status == SS_OK && frame ? ss_frames_draw(sim->frames, e) : status;
}

// However the run ended: a run that fails and then cannot write its dump says both.
static ss_status finish_dump(ss_simulation *sim, ss_status status, ss_error *e)
{
    ss_error other;
    if (sim->dump == NULL) {
        return status;
    }
    const ss_status dumped = ss_dump_finish(sim->dump, status == SS_OK ? e : &other);
    sim->kept = ss_dump_kept(sim->dump);
    if (status != SS_OK && dumped != SS_OK) {
        const size_t used = strlen(e->text);
        snprintf(e->text + used, sizeof e->text - used, "; %s", other.text);
    }
    return status == SS_OK ? dumped : status;
}

// Every problem of every step takes and frees as much memory as the one before. glibc gives large
// blocks back at once, and the page faults of taking them again are a tenth of the time of hair. It
// takes no threshold above 32 MB for blocks that it maps: none is mapped.
static void keep_freed_memory(void)
{
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, -1); // never
}

ss_status ss_simulation_run(ss_simulation *sim, ss_error *e)
{
    keep_freed_memory();
    progress shown = progress_start(sim->choices->scene->spec, sim->steps);
    ss_status status = SS_OK;
    if (sim->frames != NULL) { // where the strands start; and without gnuplot nothing does
        status = ss_frames_draw(sim->frames, e);
    }
    const double rest = sim->settings->until_rest;
    sim->phase = SS_PHASE_STEP;
    for (int step = 1; status == SS_OK && step <= sim->steps && !sim->rests && !sim->interrupted;
         step++) {
        ss_step_report report;
        sim->solver.step = step;
        status = ss_stepper_step(sim->stepper, &report, e);
        if (status == SS_SYSTEM && sim->interrupted) { // the solver has ended for that
            status = SS_OK;
        } else if (status == SS_OK) {
            progress_step(&shown, step, &report);
            status = keep_step(sim, &report, step, e);
            status =
                status == SS_OK ? ss_physics_see(&sim->physics, sim->world, &report, e) : status;
            sim->speed = report.max_speed;
            sim->rests = report.max_speed < rest; // never without until_rest
        }
    }
    sim->phase = SS_PHASE_END;
    progress_clear(&shown);
    return finish_dump(sim, status, e);
}

// -- Closing

static ss_status close_stats(ss_simulation *sim, ss_error *e)
{
    if (sim->stats_file == NULL) {
        return SS_OK;
    }
    const bool printed = sim->stats == NULL || ss_table_finish(sim->stats, NULL) == SS_OK;
    const bool failed = ferror(sim->stats_file) != 0;
    return fclose(sim->stats_file) == 0 && printed && !failed
               ? SS_OK
               : ss_fail(e, SS_SYSTEM, "%s: cannot be written in full", sim->settings->stats);
}

ss_status ss_simulation_close(ss_simulation *sim, ss_error *e)
{
    ss_error other;
    const ss_status dumped = ss_dump_close(sim->dump, e);
    const ss_status told = close_stats(sim, dumped == SS_OK ? e : &other);
    const bool well = dumped == SS_OK && told == SS_OK;
    const ss_status kept = ss_trajectory_close(sim->trajectory, well ? e : &other);
    const bool all = well && kept == SS_OK;
    const ss_status seen = ss_iterates_close(sim->solver.iterates, all ? e : &other);
    ss_frames_free(sim->frames);
    ss_strands_free(sim->strands);
    ss_stepper_free(sim->stepper);
    ss_simulate_drop(&sim->solver);
    ss_world_free(sim->world);
    return dumped != SS_OK ? dumped : told != SS_OK ? told : kept != SS_OK ? kept : seen;
}

// ---- The process of a run

// Between two looks at the interrupt and at the time limit.
#define SLICE 0.1 // s
// Time from an interrupt to the end of a step that goes on.
#define GRACE 0.5 // s

typedef struct watched {
    ss_simulation *simulation;
    void (*work)(void *context);
    void *context;
    ss_child child;
    int solves; // at the last look
    ss_patience patience;
    double interrupted; // s, when; 0: not yet
} watched;

static void work_in_child(void *context)
{
    const watched *w = context;
    w->work(w->context);
    w->simulation->finished = true;
}

static bool is_solving(int solves)
{
    return solves % 2 != 0;
}

// Whether the present solve lasts too long. Each has a patience of its own.
static bool loses_patience(watched *w)
{
    const ss_simulate_solver *solver = &w->simulation->solver;
    const int solves = solver->solves;
    if (solves != w->solves) {
        w->solves = solves;
        w->patience = ss_patience_begin(&w->child, solver->time_limit, solver->threads);
    }
    return is_solving(solves) && ss_patience_ends(&w->patience, &w->child);
}

// Whether the simulation is not to be waited for after an interrupt.
static bool gives_up(watched *w)
{
    const ss_simulation *s = w->simulation;
    if (!ss_interrupted) {
        return false;
    }
    const double now = ss_clock_seconds(CLOCK_MONOTONIC);
    w->interrupted = w->interrupted > 0.0 ? w->interrupted : now;
    return s->phase == SS_PHASE_BUILD ||
           (s->phase == SS_PHASE_STEP && s->trajectory == NULL && now > w->interrupted + GRACE);
}

static ss_status watch(watched *w, ss_simulation_end *end, ss_error *e)
{
    int ended = -1;
    ss_status status = SS_OK;
    *end = SS_SIMULATION_DIED;
    while (status == SS_OK && ended < 0 && *end == SS_SIMULATION_DIED) {
        status = ss_child_wait(&w->child, 1, SLICE, NULL, &ended, e);
        w->simulation->interrupted = ss_interrupted;
        if (ended < 0) {
            *end = gives_up(w)         ? SS_SIMULATION_INTERRUPTED
                   : loses_patience(w) ? SS_SIMULATION_KILLED
                                       : SS_SIMULATION_DIED;
        }
    }
    ss_child_end(&w->child);
    return status;
}

static void describe(const watched *w, ss_simulation_end end, char *why, size_t room)
{
    const ss_simulation *s = w->simulation;
    const char *solver = s->choices->method->name;
    char how[80];
    ss_child_describe_end(&w->child, how, sizeof how);
    if (end == SS_SIMULATION_KILLED) {
        snprintf(why, room, "%s did not keep the time limit of %.3g s and was killed", solver,
                 s->solver.time_limit);
    } else {
        snprintf(why, room, "%s %s", is_solving(s->solver.solves) ? solver : "the simulation", how);
    }
}

ss_status ss_simulation_contain(void (*work)(void *context), void *context,
                                ss_simulation *simulation, ss_simulation_end *end, char *why,
                                size_t room, ss_error *e)
{
    watched w = {.simulation = simulation, .work = work, .context = context};
    const ss_child_setup setup = {.work = work_in_child, .context = &w, .keeps_files = true};
    ss_status status = ss_child_start(&w.child, &setup, e);
    if (status == SS_OK) {
        status = watch(&w, end, e);
    }
    *end = simulation->finished ? SS_SIMULATION_ENDED : *end;
    if (status == SS_OK && *end != SS_SIMULATION_ENDED) {
        describe(&w, *end, why, room);
    }
    return status;
}
