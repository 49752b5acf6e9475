#include "harness/simulate/size.h"

#include <malloc.h>
#include <stdint.h>
#include <unistd.h>

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
    if (w != NULL && scene->build(&request, w, &own, &ignored) == SS_OK) {
        own.dt_min = own.dt_min < own.dt ? own.dt_min : own.dt;
        ss_stepper *s = ss_stepper_new(w, &own, (ss_step_solver){0}, &ignored);
        bytes = s != NULL ? bytes_in_use() - before : -1.0;
        ss_stepper_free(s);
    }
    ss_world_free(w);
    return bytes;
}

ss_status ss_simulate_check_size(const ss_scene *scene, const ss_scene_request *request,
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
