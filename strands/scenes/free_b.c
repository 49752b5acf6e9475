// strands/scenes/free_b.c -- long hair on a head that leans forwards and backwards.
#include "strands/scenes/hair.h"
#include "strands/scenes/scenes.h"

static ss_status build(const ss_scene_request *request, ss_world *world, ss_step_options *options,
                       ss_error *e)
{
    ss_hair hair = {
        .rods = ss_scene_free_b.rods, .friction = {0.2, 0.3}, .head = ss_motion_still()};
    hair.head.axis = ss_vec(1.0, 0.0, 0.0);
    hair.head.centre = ss_vec(0.0, -0.12, 0.0); // the top of the neck
    hair.head.angle = (ss_profile){.kind = SS_PROFILE_OSCILLATE, .size = 0.5, .period = 1.6};
    return ss_hair_build(&hair, request, world, options, e);
}

const ss_scene ss_scene_free_b = {
    .name = "free-b",
    .model = "super-helix",
    .shows = "long hair, 1920 strands, on a head that leans forwards and backwards",
    .reference = "[D11] Table 1, Free/B",
    .rods = 1920,
    .steps = 500,
    .dt = 0.002,
    SS_HAIR_OPTIONS,
    .build = build,
};
