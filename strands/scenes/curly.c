// strands/scenes/curly.c -- curly hair with the head motion of free-a.
#include "strands/scenes/hair.h"
#include "strands/scenes/scenes.h"

static ss_status build(const ss_scene_request *request, ss_world *world, ss_step_options *options,
                       ss_error *e)
{
    ss_hair hair = {.rods = ss_scene_curly.rods,
                    .friction = {0.3, 0.5},
                    .head = ss_motion_still(),
                    .curly = true};
    hair.head.axis = ss_vec(0.0, 1.0, 0.0);
    hair.head.angle = (ss_profile){.kind = SS_PROFILE_OSCILLATE, .size = 0.8, .period = 0.9};
    return ss_hair_build(&hair, request, world, options, e);
}

const ss_scene ss_scene_curly = {
    .name = "curly",
    .model = "super-helix",
    .shows = "curly hair, 1920 strands, on a head that turns from side to side",
    .reference = "[D11] Table 1, Curly",
    .rods = 1920,
    .steps = 500,
    .dt = 0.002,
    SS_HAIR_OPTIONS,
    .build = build,
};
