// strands/scenes/swing.c -- a chain of 51 vertices, held at one end and let go level
// [HH13].
//
// Without bending its motion in units of its own depends on G = g h^2 / l alone, for a step h and
// segments of length l: the length is made for G at the scene's own step, so that --dt changes G.
// This G fits the stretch of pbd in the paper's Table 1; 1000 steps are two full swings.
#include "strands/scenes/request.h"
#include "strands/scenes/scenes.h"

#define G    0.00818
#define STEP 0.002 // s

typedef struct settings {
    int segments;
} settings;

static const settings DEFAULTS = {.segments = 50};
static const ss_key KEYS[] = {
    SS_INTEGER_KEY("segments", segments, 3, 4096),
    {.name = NULL},
};

static ss_status build(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                       ss_error *e)
{
    const ss_status status = ss_request_check_one_rod(request, e);
    if (status != SS_OK) {
        return status;
    }
    const settings *set = ss_request_settings(request, &DEFAULTS);
    const ss_strand_design rod = {.length = set->segments * ss_length(w->gravity) * STEP * STEP / G,
                                  .material = ss_material_hair(),
                                  .nsegments = set->segments};
    const ss_pose root = ss_pose_identity();
    options->contacts = false;
    int number;
    return ss_world_add_strand(w, request->model, &rod, 0, &root, &number, e);
}

const ss_scene ss_scene_swing = {
    .name = "swing",
    .model = "tmf",
    .shows = "a chain of 51 vertices that swings down from level: how far it stretches",
    .reference = "[HH13] Table 1, Figures 3 and 4",
    .rods = 1,
    .steps = 1000,
    .dt = STEP,
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .build = build,
};
