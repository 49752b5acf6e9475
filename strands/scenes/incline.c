// strands/scenes/incline.c -- a straight rod on an inclined plane; see the header.
#include "strands/scenes/incline.h"

#include "strands/scenes/request.h"
#include "strands/scenes/scenes.h"

#define LENGTH           0.02 // m
#define ROD_RADIUS       2e-4 // m: it bends by less than a rounding of its length
#define COLLISION_RADIUS 2e-4 // m
#define SEGMENTS         4
#define HEADING          0.6 // rad between the rod and the way down

typedef struct settings {
    double slope; // deg
} settings;

static const settings DEFAULTS = {.slope = 30.0};
static const ss_key KEYS[] = {
    SS_REAL_KEY("slope", slope, 0.0, 89.0),
    {.name = NULL},
};

ss_vec3 ss_incline_down(double slope)
{
    return ss_vec(-cos(slope), -sin(slope), 0.0);
}

static ss_status add_plane(ss_world *w, const ss_mat3 *turn, double mu, ss_error *e)
{
    const ss_obstacle plane = {
        .kind = SS_OBSTACLE_PLANE, .pose = {*turn, {0.0, 0.0, 0.0}}, .mu = mu};
    return ss_world_add_obstacle(w, &plane, e);
}

ss_status ss_incline_build(double slope, double mu, const ss_model_choice *model, ss_world *w,
                           ss_step_options *options, ss_error *e)
{
    const ss_vec3 down = ss_incline_down(slope);
    const ss_vec3 normal = ss_vec(-sin(slope), cos(slope), 0.0);
    const ss_mat3 turn = {{down, ss_cross(normal, down), normal}};
    const ss_vec3 tangent = ss_turned(&turn, ss_vec(cos(HEADING), sin(HEADING), 0.0));
    const ss_pose root = {{{tangent, ss_cross(normal, tangent), normal}},
                          ss_along(ss_scaled(COLLISION_RADIUS, normal), -0.5 * LENGTH, tangent)};
    ss_strand_design rod = {.length = LENGTH,
                            .material = ss_material_hair(),
                            .nsegments = SEGMENTS,
                            .clamp = SS_CLAMP_NONE};
    rod.material.radius = ROD_RADIUS;
    w->radius = COLLISION_RADIUS;
    w->mu = mu;
    // The rod starts on the plane, up to rounding, and is to be neither pushed off nor left to
    // fall.
    options->gap = SS_GAP_POSITIVE;
    options->margin = 0.2 * COLLISION_RADIUS;
    int number;
    const ss_status status = add_plane(w, &turn, mu, e);
    return status == SS_OK ? ss_world_add_strand(w, model, &rod, 0, &root, &number, e) : status;
}

static ss_status build(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                       ss_error *e)
{
    const ss_status status = ss_request_check_one_rod(request, e);
    const double mu = isnan(request->mu) ? 0.5 : request->mu;
    const settings *set = ss_request_settings(request, &DEFAULTS);
    const double slope = set->slope / 180.0 * M_PI;
    return status == SS_OK ? ss_incline_build(slope, mu, request->model, w, options, e) : status;
}

const ss_scene ss_scene_incline = {
    .name = "incline",
    .model = "super-helix:root=free,elements=1",
    .shows = "a straight rod on a slope of 30 degrees: it stays for a friction of 0.5774 and above",
    .reference = "",
    .rods = 1,
    .steps = 250,
    .dt = 0.002,
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .build = build,
};
