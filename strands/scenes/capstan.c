// strands/scenes/capstan.c -- a strand about a fixed cylinder; see the header.
#include "strands/scenes/capstan.h"

#include "strands/scenes/request.h"
#include "strands/scenes/scenes.h"

#define CYLINDER_RADIUS 0.02 // m
#define CYLINDER_HALF   0.02 // m
#define ROD_RADIUS      1e-5 // m: E I / R^2 is 1e-7 N, far below the pulls
// So heavy that waves of tension need several steps for a segment, and so much drag that the strand
// is at rest, or creeps, after some 20 ms: the limit is one of statics.
#define DENSITY          1e6  // kg/m^3
#define DRAG             0.03 // kg/(m s)
#define COLLISION_RADIUS 1e-4 // m
#define TAIL             4    // straight pieces at each end
#define PULL             1e-4 // N

typedef struct settings {
    double wrap;  // deg
    double ratio; // of the pulls
} settings;

static const settings DEFAULTS = {.wrap = 180.0, .ratio = 2.0};
static const ss_key KEYS[] = {
    SS_REAL_KEY("wrap", wrap, 10.0, 300.0),
    SS_REAL_KEY("ratio", ratio, 1.0, 1e3),
    {.name = NULL},
};

// Segment by segment the chords touch the cylinder in their middles; the vertices are outside.
static double vertex_radius(double turn)
{
    return (CYLINDER_RADIUS + COLLISION_RADIUS) / cos(0.5 * turn);
}

// The strand comes in along +x below the cylinder, whose axis is z, and winds up around it.
static ss_status add_strand(double wrap, const ss_model_choice *model, ss_world *w, int *number,
                            ss_error *e)
{
    const int wrapped = SS_CAPSTAN_PIECES - 2 * TAIL;
    const double turn = wrap / wrapped;
    const double radius = vertex_radius(turn);
    double style[SS_CAPSTAN_PIECES][3] = {{0.0}};
    for (int k = TAIL; k < TAIL + wrapped; k++) {
        style[k][2] = 1.0 / radius;
    }
    ss_strand_design design = {.length = radius * turn * SS_CAPSTAN_PIECES,
                               .material = ss_material_hair(),
                               .npieces = SS_CAPSTAN_PIECES,
                               .style = (const double(*)[3])style,
                               .nsegments = SS_CAPSTAN_PIECES,
                               .clamp = SS_CLAMP_NONE};
    design.material.radius = ROD_RADIUS;
    design.material.density = DENSITY;
    ss_pose root = ss_pose_identity();
    root.place = ss_vec(-radius * turn * TAIL, -radius, 0.0);
    return ss_world_add_strand(w, model, &design, 0, &root, number, e);
}

ss_status ss_capstan_build(double wrap, double mu, double pull_root, double pull_tip,
                           const ss_model_choice *model, ss_world *w, ss_step_options *options,
                           ss_error *e)
{
    const ss_obstacle cylinder = {.kind = SS_OBSTACLE_CYLINDER,
                                  .size = {CYLINDER_RADIUS, CYLINDER_RADIUS, CYLINDER_HALF},
                                  .pose = ss_pose_identity(),
                                  .mu = mu};
    w->gravity = ss_vec(0.0, 0.0, 0.0);
    w->radius = COLLISION_RADIUS;
    w->drag = DRAG;
    w->mu = mu;
    options->margin = 0.1 * COLLISION_RADIUS;
    int number;
    ss_status status = ss_world_add_obstacle(w, &cylinder, e);
    if (status == SS_OK) {
        status = add_strand(wrap, model, w, &number, e);
    }
    if (status == SS_OK) {
        w->strands[number].pull_root = ss_vec(-pull_root, 0.0, 0.0);
        w->strands[number].pull_tip = ss_vec(pull_tip * cos(wrap), pull_tip * sin(wrap), 0.0);
    }
    return status;
}

static ss_status build(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                       ss_error *e)
{
    const ss_status status = ss_request_check_one_rod(request, e);
    const double mu = isnan(request->mu) ? 0.3 : request->mu;
    if (status != SS_OK) {
        return status;
    }
    const settings *set = ss_request_settings(request, &DEFAULTS);
    return ss_capstan_build(set->wrap / 180.0 * M_PI, mu, PULL, set->ratio * PULL, request->model,
                            w, options, e);
}

const ss_scene ss_scene_capstan = {
    .name = "capstan",
    .model = "super-helix:root=free,elements=24",
    .shows =
        "a strand half around a cylinder, one end pulled twice as hard: friction 0.22 holds it",
    .reference = "",
    .rods = 1,
    .steps = 100,
    .dt = 0.001,
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .build = build,
};
