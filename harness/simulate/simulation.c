#include "harness/simulate/simulation.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/interrupt.h"
#include "harness/simulate/simulate_progress.h"

// ---- Opening

static ss_status build_world(ss_simulation *a, const ss_model_choice *model,
                             ss_step_options *options, ss_error *e)
{
    const ss_simulate_settings *s = a->settings;
    const ss_scene_request request = {
        .rods = s->rods, .mu = s->mu, .seed = s->seed, .model = model};
    *options = ss_step_defaults();
    options->dt = isnan(s->dt) ? a->scene->dt : s->dt;
    options->threads = s->threads;
    a->world = ss_world_new();
    if (a->world == NULL) {
        return ss_fail_memory(e, "the world");
    }
    const ss_status status = a->scene->build(&request, a->world, options, e);
    options->dt_min = fmin(options->dt_min, options->dt);
    return status;
}

static ss_status start_steps(ss_simulation *a, const ss_method *method,
                             const ss_step_options *options, ss_error *e)
{
    const ss_simulate_settings *s = a->settings;
    a->solver = (ss_simulate_solver){.method = method,
                                     .tolerance = s->tolerance,
                                     .max_iterations = s->max_iterations,
                                     .time_limit = s->time_limit,
                                     .threads = s->threads};
    const ss_step_solver solver = {.solve = ss_simulate_solve, .context = &a->solver};
    a->stepper = ss_stepper_new(a->world, options, solver, e);
    return a->stepper != NULL ? SS_OK : e->status;
}

// Of the longest strand; strands without elasticity do not bend.
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

static void describe_run(ss_simulation *a, const ss_model_choice *model)
{
    const ss_simulate_settings *s = a->settings;
    const ss_world *w = a->world;
    ss_stats_run *run = &a->run;
    snprintf(run->scene, sizeof run->scene, "%s", a->scene->name);
    snprintf(run->model, sizeof run->model, "%s", model->spec);
    snprintf(run->solver, sizeof run->solver, "%s", a->solver.method->spec);
    run->seed = s->seed;
    run->rods = w->nstrands;
    run->mu = w->mu;
    run->mu_obstacle = w->nobstacles > 0 ? w->obstacles[0].mu : NAN;
    run->tol = s->tolerance;
    describe_bending(w, run);
}

static ss_status open_stats(ss_simulation *a, ss_error *e)
{
    const char *path = a->settings->stats;
    a->stats_file = fopen(path, "we");
    if (a->stats_file == NULL) {
        return ss_fail(e, SS_SYSTEM, "%s: cannot be written: %s", path, strerror(errno));
    }
    a->stats = ss_table_of_fields(a->stats_file, SS_FORMAT_CSV, ss_stats_fields);
    return a->stats != NULL ? SS_OK : ss_fail_memory(e, path);
}

// A number in the fewest digits that give it back.
typedef struct digits {
    char text[32];
} digits;

static digits digits_of(double x)
{
    digits d;
    int count = 6;
    do {
        snprintf(d.text, sizeof d.text, "%.*g", count, x);
    } while (count++ < 17 && strtod(d.text, NULL) != x);
    return d;
}

// The command line that gives these steps again.
static void write_recipe(const ss_simulation *a, double dt, char *text, size_t room)
{
    const ss_simulate_settings *s = a->settings;
    char limit[64] = "", threads[24] = "";
    if (s->time_limit > 0.0) {
        snprintf(limit, sizeof limit, " --time-limit %s", digits_of(s->time_limit).text);
    }
    if (s->threads > 0) { // with threads contacts are visited in another order
        snprintf(threads, sizeof threads, " --threads %d", s->threads);
    }
    snprintf(text, room,
             "stickslip simulate %s --model %s --rods %d --mu %s --dt %s --seed %llu "
             "--steps %d --solver %s --tol %s --max-iter %d%s%s",
             a->scene->name, a->run.model, a->run.rods, digits_of(a->run.mu).text,
             digits_of(dt).text, (unsigned long long)s->seed, a->steps, a->run.solver,
             digits_of(s->tolerance).text, s->max_iterations, limit, threads);
}

static ss_status open_dump(ss_simulation *a, const ss_step_options *options, ss_error *e)
{
    const ss_simulate_settings *s = a->settings;
    char recipe[SS_DUMP_DESCRIPTION];
    write_recipe(a, options->dt, recipe, sizeof recipe);
    const ss_dump_source source = {.scene = a->scene->name, .description = recipe, .seed = s->seed};
    return ss_dump_open(s->dump, s->count, a->steps, &source, &a->dump, e);
}

static ss_status open_files(ss_simulation *a, const ss_step_options *options, ss_error *e)
{
    const ss_simulate_settings *s = a->settings;
    ss_status status = SS_OK;
    if (s->stats != NULL || s->frames != NULL) {
        status = ss_strands_new(a->world, &a->strands, e);
    }
    if (status == SS_OK && s->dump != NULL) {
        status = open_dump(a, options, e);
    }
    if (status == SS_OK && s->frames != NULL) {
        status =
            ss_frames_open(s->frames, s->frames_every, a->scene->name, a->strands, &a->frames, e);
    }
    if (status == SS_OK && s->stats != NULL) {
        status = open_stats(a, e); // last: it empties the file
    }
    return status;
}

ss_status ss_simulation_open(ss_simulation *a, const ss_model_choice *model,
                             const ss_method *method, ss_error *e)
{
    ss_step_options options;
    ss_status status = build_world(a, model, &options, e);
    if (status == SS_OK) {
        status = start_steps(a, method, &options, e);
    }
    if (status == SS_OK) {
        describe_run(a, model);
        status = open_files(a, &options, e);
    }
    return status;
}

// ---- Running

static void put(double to[3], ss_vec3 x)
{
    to[0] = x.x;
    to[1] = x.y;
    to[2] = x.z;
}

static ss_status write_stats(ss_simulation *a, double length, ss_stats_row *row, ss_error *e)
{
    const ss_strands *s = a->strands;
    row->dispersion = ss_strands_dispersion(s);
    row->stretch_percent = ss_strands_stretch_percent(s, length);
    put(row->tip, ss_strands_tip(s, 0));
    put(row->tip_velocity, ss_strands_tip_velocity(s, 0));
    ss_stats_print(a->stats, &a->run, row);
    // Whole lines reach the disk, whatever ends the run.
    return fflush(a->stats_file) == 0 ? SS_OK
                                      : ss_fail(e, SS_SYSTEM, "%s: cannot be written: %s",
                                                a->settings->stats, strerror(errno));
}

static ss_status keep_step(ss_simulation *a, const ss_step_report *report, int step, ss_error *e)
{
    ss_status status = SS_OK;
    ss_stats_row row = ss_stats_row_of(report, step);
    ss_stats_total(&a->totals, &a->run, &row);
    const bool frame = a->frames != NULL && ss_frames_due(a->frames, report->time);
    if (frame) {
        ss_strands_look(a->strands);
    } else if (a->stats != NULL) {
        ss_strands_look_at_tips(a->strands);
    }
    if (a->stats != NULL) {
        status = write_stats(a, report->length, &row, e);
    }
    if (status == SS_OK && a->dump != NULL) {
        const double *r, *v;
        const ss_problem *p = ss_stepper_problem(a->stepper, &r, &v);
        status = ss_dump_offer(a->dump, step, report->active, p, e);
    }
    return status == SS_OK && frame ? ss_frames_draw(a->frames, e) : status;
}

ss_status ss_simulation_run(ss_simulation *a, ss_error *e)
{
    ss_simulate_progress progress = ss_simulate_progress_start(a->scene->name, a->steps);
    ss_status status = SS_OK;
    if (a->frames != NULL) { // where the strands start; and without gnuplot nothing does
        status = ss_frames_draw(a->frames, e);
    }
    for (int step = 1; status == SS_OK && step <= a->steps && !ss_interrupted; step++) {
        ss_step_report report;
        status = ss_stepper_step(a->stepper, &report, e);
        if (status == SS_OK) {
            ss_simulate_progress_step(&progress, step, &report);
            status = keep_step(a, &report, step, e);
        }
    }
    ss_simulate_progress_clear(&progress);
    return status;
}

// ---- Closing

static ss_status close_stats(ss_simulation *a, ss_error *e)
{
    if (a->stats_file == NULL) {
        return SS_OK;
    }
    const bool printed = a->stats == NULL || ss_table_finish(a->stats, NULL) == SS_OK;
    const bool failed = ferror(a->stats_file) != 0;
    return fclose(a->stats_file) == 0 && printed && !failed
               ? SS_OK
               : ss_fail(e, SS_SYSTEM, "%s: cannot be written in full", a->settings->stats);
}

ss_status ss_simulation_close(ss_simulation *a, ss_error *e)
{
    ss_error other;
    const ss_status dumped = ss_dump_close(a->dump, e);
    const ss_status told = close_stats(a, dumped == SS_OK ? e : &other);
    ss_frames_free(a->frames);
    ss_strands_free(a->strands);
    ss_stepper_free(a->stepper);
    ss_world_free(a->world);
    return dumped != SS_OK ? dumped : told;
}
