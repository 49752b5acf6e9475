// strands/scenes/fur.c -- a ball of fur that turns to and fro, without contacts [HH13].
//
// Short chains of 6 vertices that differ in nothing but where they grow: at points of a spiral that
// covers the ball evenly. The stepper takes them side by side.
#include "strands/scenes/request.h"
#include "strands/scenes/scenes.h"

#define BALL_RADIUS 0.05 // m
#define LENGTH      0.02 // m
#define SEGMENTS    5
#define AMPLITUDE   0.6               // rad
#define PERIOD      0.5               // s
#define TURN        2.399963229728653 // rad: the golden angle

// Place k of n, its tangent away from the ball.
static ss_pose root_of(int k, int n)
{
    const double y = 1.0 - 2.0 * (k + 0.5) / n, across = sqrt(1.0 - y * y);
    const ss_vec3 out = ss_vec(across * cos(TURN * k), y, across * sin(TURN * k));
    const ss_vec3 side = ss_vec(-sin(TURN * k), 0.0, cos(TURN * k));
    return (ss_pose){{{out, side, ss_cross(out, side)}}, ss_scaled(BALL_RADIUS, out)};
}

static ss_status build(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                       ss_error *e)
{
    ss_motion turning = ss_motion_still();
    turning.axis = ss_vec(0.0, 0.0, 1.0);
    turning.angle = (ss_profile){.kind = SS_PROFILE_OSCILLATE, .size = AMPLITUDE, .period = PERIOD};
    const ss_strand_design hair = {
        .length = LENGTH, .material = ss_material_hair(), .nsegments = SEGMENTS};
    const int rods = ss_request_rods(request, ss_scene_fur.rods);
    options->contacts = false;
    int body, number;
    ss_status status = ss_request_check(request, e);
    if (status == SS_OK) {
        status = ss_world_add_body(w, &turning, &body, e);
    }
    for (int k = 0; status == SS_OK && k < rods; k++) {
        const ss_pose root = root_of(k, rods);
        status = ss_world_add_strand(w, request->model, &hair, body, &root, &number, e);
    }
    return status;
}

const ss_scene ss_scene_fur = {
    .name = "fur",
    .model = "tmf:bending=0.3",
    .shows = "fur of 100 000 chains of 6 vertices on a ball that turns, without contacts",
    .reference = "[HH13] Figures 5 and 6",
    .rods = 100000,
    .steps = 250,
    .dt = 0.002,
    .build = build,
};
