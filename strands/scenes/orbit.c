// strands/scenes/orbit.c -- the free end of a rod on a ball that turns to and fro [D11].
//
// Once it has reached its periodic orbit, every solver of Coulomb's law gives the same orbit of the
// free end, and another law gives another. The ball turns about a vertical axis: friction then
// drags the rod sideways, and its direction goes through all angles.
#include <string.h>

#include "strands/scenes/ball.h"
#include "strands/scenes/request.h"
#include "strands/scenes/scenes.h"

#define BALL_RADIUS      0.05 // m
#define LENGTH           0.2  // m
#define ROD_RADIUS       1e-4 // m: thick enough to spring back within a period
#define COLLISION_RADIUS 5e-4 // m
#define SEGMENTS         40

typedef struct settings {
    double amplitude; // rad
    double period;    // s
} settings;

static const settings DEFAULTS = {.amplitude = 0.5, .period = 1.0};
static const ss_key KEYS[] = {
    SS_REAL_KEY("amplitude", amplitude, 0.0, 10.0),
    SS_REAL_KEY("period", period, 1e-3, 1e3),
    {.name = NULL},
};

static const char *orbit_key_needs(const void *set, const char *key)
{
    const bool still = ((const settings *)set)->amplitude == 0.0;
    return still && strcmp(key, "period") == 0 ? "an amplitude above 0" : NULL;
}

static ss_status build(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                       ss_error *e)
{
    ss_status status = ss_request_check_one_rod(request, e);
    if (status != SS_OK) {
        return status;
    }
    const ss_friction mu = ss_request_friction(request, (ss_friction){1.0, 1.0});
    ss_strand_design rod = {
        .length = LENGTH, .material = ss_material_hair(), .nsegments = SEGMENTS};
    rod.material.radius = ROD_RADIUS;
    ss_pose clamp = ss_pose_identity();
    clamp.place = ss_vec(-0.10, 0.09, 0.0);
    w->radius = COLLISION_RADIUS;
    w->mu = mu.strand;
    options->margin = 0.2 * COLLISION_RADIUS;
    const settings *set = ss_request_settings(request, &DEFAULTS);
    const ss_profile turning = {
        .kind = SS_PROFILE_OSCILLATE, .size = set->amplitude, .period = set->period};
    int number, body;
    status = ss_ball_add(w, BALL_RADIUS, &turning, mu.obstacle, &body, e);
    if (status == SS_OK) {
        status = ss_world_add_strand(w, request->model, &rod, 0, &clamp, &number, e);
    }
    return status;
}

const ss_scene ss_scene_orbit = {
    .name = "orbit",
    .model = "super-helix",
    .shows = "the free end of a rod on a ball that turns to and fro: one orbit for every exact law",
    .reference = "[D11] Figure 7",
    .rods = 1,
    .steps = 3000,
    .dt = 0.002,
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .key_needs = orbit_key_needs,
    .build = build,
};
