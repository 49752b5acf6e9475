// What a step of many lifted curls costs by vertex and Newton iteration, contacts aside: assembly (force,
// stiffness, factor) and the whole step, and how much sooner two threads are through. Wisps of hairball-curly
// with 3 iterations a step, the best of many steps, wall time. Argument: how many wisps (400).
#include <string.h>

#include "strands/scenes/scene.h"
#include "tests/measure/bench.h"

#define STEPS      20
#define ITERATIONS 3

typedef struct wisps {
    ss_world *world;
    ss_stepper *stepper;
    double assembly, step; // s, the best
} wisps;

static wisps new_wisps(int count, int threads)
{
    ss_error error;
    ss_model_choice model;
    const ss_scene *scene = ss_scene_find("hairball-curly");
    ss_step_options options = ss_step_defaults();
    wisps w = {.world = ss_world_new(), .assembly = INFINITY, .step = INFINITY};
    bench_check(ss_model_parse(scene->model, &model, &error), &error);
    const ss_scene_request request = {.rods = count, .mu = NAN, .model = &model};
    options.dt = scene->dt;
    options.threads = threads;
    bench_check(ss_scene_build(scene, &request, w.world, &options, &error), &error);
    options.contacts = false;
    w.stepper = ss_stepper_new(w.world, &options, (ss_step_solver){.solve = NULL}, &error);
    bench_check(w.stepper != NULL ? SS_OK : SS_BAD_INPUT, &error);
    ss_model_choice_free(&model);
    return w;
}

static void step(wisps *w)
{
    ss_error error;
    ss_step_report report;
    bench_check(ss_stepper_step(w->stepper, &report, &error), &error);
    w->assembly = fmin(w->assembly, report.assemble_seconds / report.iterates);
    w->step = fmin(w->step, report.seconds / report.iterates);
}

static void print(const char *name, const wisps *w)
{
    const double scale = 1e6 / w->world->npoints;
    printf("%-10s %12.3f %12.3f\n", name, scale * w->assembly, scale * w->step);
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? atoi(argv[1]) : 400;
    wisps one = new_wisps(count, 1), two = new_wisps(count, 2);
    for (int k = 0; k < STEPS; k++) {
        step(&one);
        step(&two);
    }
    const size_t size = (size_t)one.world->nq * sizeof *one.world->now.q;
    const bool same = memcmp(one.world->now.q, two.world->now.q, size) == 0;
    printf("%d wisps of %d vertices; us by vertex and iteration\n%-10s %12s %12s\n", count,
           one.world->npoints / count, "threads", "assembly", "step");
    print("1", &one);
    print("2", &two);
    printf("%-10s %12.2f %12.2f   %s\n", "ratio", one.assembly / two.assembly, one.step / two.step,
           same ? "same bits" : "OTHER BITS");
    ss_stepper_free(one.stepper);
    ss_stepper_free(two.stepper);
    ss_world_free(one.world);
    ss_world_free(two.world);
    return same ? 0 : 1;
}
