// strands/scenes/long_hair.c -- long hair of strands of links, with all of its contacts [H06].
//
// The hair of hair.h with 22 links a strand. The forces of the strands know of time_scale times the
// motion of the head.
#include "strands/world.h"
#include "strands/scenes/hair.h"
#include "strands/scenes/scenes.h"

typedef struct settings {
    ss_hair_settings hair; // first: hair.h reads it
    double time_scale;
} settings;

static const settings DEFAULTS = {{22}, 1.0};
static const ss_key KEYS[] = {
    SS_INTEGER_KEY("segments", hair.segments, 3, 4096),
    SS_REAL_KEY("time-scale", time_scale, 0.0, 10.0),
    {.name = NULL},
};

static ss_status build(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                       ss_error *e)
{
    const settings *set = ss_request_settings(request, &DEFAULTS);
    ss_scene_request own = *request;
    ss_hair hair = {
        .rods = ss_scene_long_hair.rods, .friction = {0.3, 0.5}, .head = ss_motion_still()};
    own.settings = set;
    hair.head.axis = ss_vec(0.0, 1.0, 0.0);
    hair.head.angle = (ss_profile){.kind = SS_PROFILE_OSCILLATE, .size = 0.6, .period = 1.0};
    ss_status status = ss_hair_build(&hair, &own, w, options, e);
    for (int k = 0; status == SS_OK && set->time_scale != 1.0 && k < w->nstrands; k++) {
        status = ss_world_scale_motion(w, k, set->time_scale, 0.0, 0, e);
    }
    return status;
}

const ss_scene ss_scene_long_hair = {
    .name = "long-hair",
    .model = "oriented-strands",
    .shows = "long hair, 190 strands of 22 links, on a head that turns from side to side",
    .reference = "[H06] Figure 9",
    .rods = 190,
    .steps = 288,
    .dt = 1.0 / 144.0,
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .build = build,
};
