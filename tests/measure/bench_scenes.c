// What a step of the hair scenes costs, part by part, and how runs of them end.
//
// Parts: `collide` finds the contacts; `assemble` is M v = f of each strand, contact frames, H and
// w; `set-up` and `sweeps` are the solver's; `rest` is where the strands are, the judge and step
// control.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/scene_run.h"
#include "tests/support/support.h"

#define TOLERANCE 1e-4
#define LIMIT     1000 // iterations

static scene_run *start(const char *scene, int rods)
{
    const scene_choice choice = {.scene = scene, .rods = rods, .mu = NAN, .seed = 1};
    scene_run *run = open_run(&choice, "gs/mfb+enum", TOLERANCE);
    run->solver.max_iterations = LIMIT;
    start_run(run);
    return run;
}

static void print_step(const char *scene, const scene_run *run, double limit)
{
    const ss_step_report *r = &run->last;
    const double solver = r->answer.setup_seconds + r->answer.sweep_seconds;
    const double rest = r->seconds - r->collide_seconds - r->assemble_seconds - solver;
    printf("%-7s %6d %9d %7d %6d %8.1e %8.3f %8.3f %8.3f %8.3f %8.3f %8.3f", scene,
           run->scene.world->nstrands, r->contacts, r->active, r->answer.iterations, r->answer.fb,
           r->collide_seconds, r->assemble_seconds, r->answer.setup_seconds,
           r->answer.sweep_seconds, rest, r->seconds);
    printf(limit > 0.0 ? (r->seconds <= limit ? "  (goal %g s)\n" : "  (goal %g s: missed)\n")
                       : "\n",
           limit);
    fflush(stdout);
}

static void print_heading(void)
{
    printf("%-7s %6s %9s %7s %6s %8s %8s %8s %8s %8s %8s %8s\n", "scene", "rods", "contacts",
           "active", "iter", "fb", "collide", "assemble", "set-up", "sweeps", "rest", "s a step");
}

#define GOOD_STEPS 10

// The step after `before` ones, of which all but the last few are solved less well: its warm start
// is that of a run to the tolerance.
static void measure_step(const char *scene, int rods, int before, double limit)
{
    scene_run *run = start(scene, rods);
    run->solver.max_iterations = 30;
    steps_of_run(run, before - GOOD_STEPS);
    run->solver.max_iterations = LIMIT;
    steps_of_run(run, GOOD_STEPS + 1);
    print_step(scene, run, limit);
    close_run(run);
}

// A run at a tenth of the size: contacts, solver and how many steps did not make it.
static void measure_run(const char *name)
{
    const ss_scene *scene = ss_scene_find(name);
    scene_run *run = start(name, scene->rods > 1 ? scene->rods / 10 : 0);
    int above = 0, rejected = 0, most = 0;
    double contacts = 0.0, active = 0.0, iterations = 0.0, seconds = 0.0;
    const int steps = 500;
    for (int k = 0; k < steps; k++) {
        const ss_step_report *r = step_run(run);
        above += r->contacts > 0 && !r->answer.solved;
        rejected += r->rejected;
        most = r->contacts > most ? r->contacts : most;
        contacts += r->contacts;
        active += r->active;
        iterations += r->answer.iterations;
        seconds += r->seconds;
    }
    printf("%-8s %5d %9.0f %6d %6.2f %6.1f %12.2f %9d %9.4f\n", name, run->scene.world->nstrands,
           contacts / steps, most, active / fmax(contacts, 1.0), iterations / steps,
           100.0 * above / steps, rejected, seconds / steps);
    fflush(stdout);
    close_run(run);
}

static void measure_everything(void)
{
    printf("one step, gs/mfb+enum to fb %g, at most %d iterations\n", TOLERANCE, LIMIT);
    print_heading();
    measure_step("free-a", 0, 200, 1.0);
    measure_step("pony", 0, 60, 1.5);
    measure_step("free-b", 0, 200, 0.0);
    measure_step("curly", 0, 200, 0.0);
    printf("\nagainst the number of rods\n");
    print_heading();
    for (int rods = 240; rods <= 1920; rods *= 2) {
        measure_step("free-a", rods, 50, 0.0);
    }
    printf("\n500 steps at a tenth of the size\n");
    printf("%-8s %5s %9s %6s %6s %6s %12s %9s %9s\n", "scene", "rods", "contacts", "most", "active",
           "iter", "above tol, %", "rejected", "s a step");
    for (int k = 0; ss_scenes[k] != NULL; k++) {
        measure_run(ss_scenes[k]->name);
    }
}

int main(void)
{
    UNITY_BEGIN();
    RUN_TEST(measure_everything);
    return UNITY_END();
}
