// strands/scenes/chains.c -- chains that keep their lengths by methods of their own [HH13].
//
//     swing  a chain of 51 vertices, held at one end and let go level. Without bending its motion
//            in units of its own depends on G = g h^2 / l alone, for a step h and segments of
//            length l: the length is made for G at the scene's own step, so that --dt changes G.
//            This G fits the stretch of pbd in the paper's Table 1; 1000 steps are two full swings
//     fur    a ball of fur that turns to and fro, without contacts: short chains of 6 vertices that
//            differ in nothing but where they grow, at points of a spiral that covers the ball
//            evenly. The stepper takes them side by side
#include "strands/scenes/props.h"

typedef struct settings {
    int segments;
} settings;

// ---- swing

#define G    0.00818
#define STEP 0.002 // s

static const settings SWING = {.segments = 50};
static const ss_key SWING_KEYS[] = {
    SS_INTEGER_KEY("segments", segments, 3, 4096),
    {.name = NULL},
};

static ss_status build_swing(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                             ss_error *e)
{
    const settings *set = request->settings;
    const ss_strand_design rod = {.length = set->segments * ss_length(w->gravity) * STEP * STEP / G,
                                  .material = ss_material_hair(),
                                  .nsegments = set->segments};
    const ss_pose root = ss_pose_identity();
    options->contacts = false;
    return ss_scene_add_strand(request, &rod, 0, &root, w, e);
}

const ss_scene ss_scene_swing = {
    .name = "swing",
    .model = "tmf",
    .shows = "a chain of 51 vertices that swings down from level: how far it stretches",
    .reference = "[HH13] Table 1, Figures 3 and 4",
    .rods = 1,
    .steps = 1000,
    .dt = STEP,
    SS_SCENE_KEYS(SWING_KEYS, SWING),
    .build = build_swing,
};

// ---- fur

#define BALL     0.05 // m, radius
#define LENGTH   0.02 // m
#define SEGMENTS 5

// Returns place k of n, its tangent away from the ball.
static ss_pose root_of(int k, int n)
{
    const double y = 1.0 - 2.0 * (k + 0.5) / n, across = sqrt(1.0 - y * y);
    const double turn = SS_GOLDEN_ANGLE * k;
    const ss_vec3 out = ss_vec(across * cos(turn), y, across * sin(turn));
    const ss_vec3 side = ss_vec(-sin(turn), 0.0, cos(turn));
    return (ss_pose){{{out, side, ss_cross(out, side)}}, ss_scaled(BALL, out)};
}

static ss_status build_fur(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                           ss_error *e)
{
    const ss_motion turning = ss_motion_swaying(ss_vec(0.0, 0.0, 1.0), 0.6, 0.5);
    const ss_strand_design hair = {
        .length = LENGTH, .material = ss_material_hair(), .nsegments = SEGMENTS};
    options->contacts = false;
    int body;
    ss_status status = ss_world_add_body(w, &turning, &body, e);
    for (int k = 0; status == SS_OK && k < request->rods; k++) {
        const ss_pose root = root_of(k, request->rods);
        status = ss_scene_add_strand(request, &hair, body, &root, w, e);
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
    .build = build_fur,
};
