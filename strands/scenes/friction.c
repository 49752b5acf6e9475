// strands/scenes/friction.c -- one rod whose friction has a known answer.
//
//     incline  a straight rod on an inclined plane. With slope theta it stays where it is for
//              mu >= tan theta, and otherwise slides down with g (sin theta - mu cos theta)
//     capstan  a strand about a fixed cylinder, pulled at both ends. Without gravity and stiffness
//              it stays where it is as long as the larger pull is at most e^(mu wrap) times the
//              smaller one (Euler 1769, Eytelwein 1808)
//     orbit    the free end of a rod on a ball that turns to and fro [D11]. Once it has reached its
//              periodic orbit, every solver of Coulomb's law gives the same orbit of the free end,
//              and another law gives another. The ball turns about a vertical axis: friction then
//              drags the rod sideways, and its direction goes through all angles
#include "strands/scenes/props.h"

#include <string.h>

// Each scene takes some of these.
typedef struct settings {
    double slope;     // deg
    double wrap;      // deg
    double ratio;     // of the pulls
    double amplitude; // rad
    double period;    // s
} settings;

// ---- incline

#define INCLINE_LENGTH           0.02 // m
#define INCLINE_ROD_RADIUS       2e-4 // m: it bends by less than a rounding of its length
#define INCLINE_COLLISION_RADIUS 2e-4 // m
#define INCLINE_SEGMENTS         4
#define HEADING                  0.6 // rad between the rod and the way down

static const settings INCLINE = {.slope = 30.0};
static const ss_key INCLINE_KEYS[] = {
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
    const ss_pose root = {
        {{tangent, ss_cross(normal, tangent), normal}},
        ss_along(ss_scaled(INCLINE_COLLISION_RADIUS, normal), -0.5 * INCLINE_LENGTH, tangent)};
    ss_strand_design rod = {.length = INCLINE_LENGTH,
                            .material = ss_material_hair(),
                            .nsegments = INCLINE_SEGMENTS,
                            .clamp = SS_CLAMP_NONE};
    rod.material.radius = INCLINE_ROD_RADIUS;
    w->radius = INCLINE_COLLISION_RADIUS;
    w->mu = mu;
    // The rod starts on the plane, up to rounding, and is to be neither pushed off nor left to
    // fall.
    options->gap = SS_GAP_POSITIVE;
    options->margin = 0.2 * INCLINE_COLLISION_RADIUS;
    int number;
    const ss_status status = add_plane(w, &turn, mu, e);
    return status == SS_OK ? ss_world_add_strand(w, model, &rod, 0, &root, &number, e) : status;
}

static ss_status build_incline(const ss_scene_request *request, ss_world *w,
                               ss_step_options *options, ss_error *e)
{
    const settings *set = request->settings;
    return ss_incline_build(set->slope / 180.0 * M_PI, request->mu, request->model, w, options, e);
}

const ss_scene ss_scene_incline = {
    .name = "incline",
    .model = "super-helix:root=free,elements=1",
    .shows = "a straight rod on a slope of 30 degrees: it stays for a friction of 0.5774 and above",
    .reference = "",
    .rods = 1,
    .steps = 250,
    .dt = 0.002,
    .mu = 0.5,
    .mu_obstacle = 0.5,
    SS_SCENE_KEYS(INCLINE_KEYS, INCLINE),
    .build = build_incline,
};

// ---- capstan

#define CYLINDER_RADIUS    0.02 // m
#define CYLINDER_HALF      0.02 // m
#define CAPSTAN_ROD_RADIUS 1e-5 // m: E I / R^2 is 1e-7 N, far below the pulls
// So heavy that waves of tension need several steps for a segment, and so much drag that the strand
// is at rest, or creeps, after some 20 ms: the limit is one of statics.
#define DENSITY                  1e6  // kg/m^3
#define DRAG                     0.03 // kg/(m s)
#define CAPSTAN_COLLISION_RADIUS 1e-4 // m
#define TAIL                     4    // straight pieces at each end
#define PULL                     1e-4 // N

static const settings CAPSTAN = {.wrap = 180.0, .ratio = 2.0};
static const ss_key CAPSTAN_KEYS[] = {
    SS_REAL_KEY("wrap", wrap, 10.0, 300.0),
    SS_REAL_KEY("ratio", ratio, 1.0, 1e3),
    {.name = NULL},
};

// Segment by segment the chords touch the cylinder in their middles; the vertices are outside.
static double vertex_radius(double turn)
{
    return (CYLINDER_RADIUS + CAPSTAN_COLLISION_RADIUS) / cos(0.5 * turn);
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
    design.material.radius = CAPSTAN_ROD_RADIUS;
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
    w->radius = CAPSTAN_COLLISION_RADIUS;
    w->drag = DRAG;
    w->mu = mu;
    options->margin = 0.1 * CAPSTAN_COLLISION_RADIUS;
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

static ss_status build_capstan(const ss_scene_request *request, ss_world *w,
                               ss_step_options *options, ss_error *e)
{
    const settings *set = request->settings;
    return ss_capstan_build(set->wrap / 180.0 * M_PI, request->mu, PULL, set->ratio * PULL,
                            request->model, w, options, e);
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
    .mu = 0.3,
    .mu_obstacle = 0.3,
    SS_SCENE_KEYS(CAPSTAN_KEYS, CAPSTAN),
    .build = build_capstan,
};

// ---- orbit

#define BALL_RADIUS            0.05 // m
#define ORBIT_LENGTH           0.2  // m
#define ORBIT_ROD_RADIUS       1e-4 // m: thick enough to spring back within a period
#define ORBIT_COLLISION_RADIUS 5e-4 // m
#define ORBIT_SEGMENTS         40

static const settings ORBIT = {.amplitude = 0.5, .period = 1.0};
static const ss_key ORBIT_KEYS[] = {
    SS_REAL_KEY("amplitude", amplitude, 0.0, 10.0),
    SS_REAL_KEY("period", period, 1e-3, 1e3),
    {.name = NULL},
};

static const char *orbit_key_needs(const void *set, const char *key)
{
    const bool still = ((const settings *)set)->amplitude == 0.0;
    return still && strcmp(key, "period") == 0 ? "an amplitude above 0" : NULL;
}

static ss_status build_orbit(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                             ss_error *e)
{
    const settings *set = request->settings;
    ss_strand_design rod = {
        .length = ORBIT_LENGTH, .material = ss_material_hair(), .nsegments = ORBIT_SEGMENTS};
    rod.material.radius = ORBIT_ROD_RADIUS;
    ss_pose clamp = ss_pose_identity();
    clamp.place = ss_vec(-0.10, 0.09, 0.0);
    w->radius = ORBIT_COLLISION_RADIUS;
    w->mu = request->mu;
    options->margin = 0.2 * ORBIT_COLLISION_RADIUS;
    const ss_profile turning = {
        .kind = SS_PROFILE_OSCILLATE, .size = set->amplitude, .period = set->period};
    int body;
    const ss_status status = ss_ball_add(w, BALL_RADIUS, &turning, request->mu_obstacle, &body, e);
    return status == SS_OK ? ss_scene_add_strand(request, &rod, 0, &clamp, w, e) : status;
}

const ss_scene ss_scene_orbit = {
    .name = "orbit",
    .model = "super-helix",
    .shows = "the free end of a rod on a ball that turns to and fro: one orbit for every exact law",
    .reference = "[D11] Figure 7",
    .rods = 1,
    .steps = 3000,
    .dt = 0.002,
    .mu = 1.0,
    .mu_obstacle = 1.0,
    SS_SCENE_KEYS(ORBIT_KEYS, ORBIT),
    .key_needs = orbit_key_needs,
    .build = build_orbit,
};
