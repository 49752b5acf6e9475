// strands/scenes/falling.c -- bundles of hair that fall onto something, and one hair on a tube
// [J20].
//
//     bundle    one half, level and clamped at one end, falls onto the other, clamped at both
//     cylinder  a level bundle that is clamped at one end falls onto a fixed cylinder
//     ground    an oblique bundle that nothing holds falls onto the ground, and comes to rest
//     tube      a hair that nothing holds falls across a sloping tube. A short one touches it on its top alone:
//               it stays for mu >= tan of the slope s and else slides down with g (sin s - mu cos s). A long one
//               hangs around the tube, presses on it from both sides, and slides more slowly
//
// Neighbours in a bundle are 0.66 mm apart.
#include "strands/scenes/bundle.h"
#include "strands/scenes/thin_hair.h"
#include "strands/scenes/scenes.h"

#define SPACING 12.0 // contact radii
#define JITTER  0.2

typedef struct settings {
    double slope;   // deg
    double fall;    // m
    double length;  // m
    double stretch; // of the material
    int looks;
} settings;

#define LENGTH_KEY(from, to) SS_REAL_KEY("length", length, from, to)
#define FALL_KEY             SS_REAL_KEY("fall", fall, 0.0, 1.0)

static const ss_key BUNDLE_KEYS[] = {
    LENGTH_KEY(0.01, 1.0), FALL_KEY, SS_THIN_STRETCH_KEY, SS_THIN_LOOKS_KEY, {.name = NULL},
};

// `rods` straight ones about n0 of `root`.
static ss_bundle bundle_of(const settings *set, int rods, double length, int segments,
                           ss_clamp clamp)
{
    return (ss_bundle){.rods = rods,
                       .material = ss_thin_hair(set->stretch),
                       .length = length,
                       .pieces = 1,
                       .bent = 1,
                       .flat = 1.0,
                       .spacing = SPACING * SS_THIN_CONTACT,
                       .jitter = JITTER,
                       .nsegments = segments,
                       .clamp = clamp};
}

// m, from the middle of a bundle to its outside.
static double thickness(const ss_bundle *b)
{
    return ss_bundle_reach(b, 1) + SS_THIN_CONTACT;
}

static const ss_vec3 EAST = {1.0, 0.0, 0.0}, UP = {0.0, 1.0, 0.0}, SOUTH = {0.0, 0.0, 1.0};

// n0 is `along`; n1 is up where it can be.
static ss_pose level(ss_vec3 along, ss_vec3 place)
{
    return (ss_pose){{{along, UP, ss_cross(along, UP)}}, place};
}

// ---- bundle

#define SPAN         0.06 // m, of the bundle that is clamped twice
#define SPAN_EDGES   12
#define ACROSS       0.6 // of the length of the other, where it meets that
#define LENGTH_EDGES 24

static const settings BUNDLE_DEFAULTS = {
    .fall = 0.01, .length = 0.1, .stretch = SS_THIN_STRETCH, .looks = SS_THIN_LOOKS};

static ss_status build_bundle(const ss_scene_request *request, ss_world *w,
                              ss_step_options *options, ss_error *e)
{
    const settings *set = ss_request_settings(request, &BUNDLE_DEFAULTS);
    const int rods = ss_request_rods(request, ss_scene_bundle.rods);
    ss_status status = ss_request_check(request, e);
    if (status == SS_OK && rods < 2) {
        status = ss_fail(e, SS_BAD_INPUT, "1 rod: one half of them falls onto the other; give 2");
    }
    if (status != SS_OK) {
        return status;
    }
    double unused;
    ss_thin_contacts(request, set->looks, w, options, &unused);
    ss_random g = ss_random_seeded(request->seed);
    const ss_bundle upper =
        bundle_of(set, rods - rods / 2, set->length, LENGTH_EDGES, SS_CLAMP_ROOT);
    const ss_bundle lower = bundle_of(set, rods / 2, SPAN, SPAN_EDGES, SS_CLAMP_BOTH);
    const double above = set->fall + thickness(&upper) + thickness(&lower);
    const ss_pose high = level(EAST, ss_vec(-ACROSS * set->length, above, 0.0));
    const ss_pose low = level(SOUTH, ss_vec(0.0, 0.0, -0.5 * SPAN));
    status = ss_bundle_add(w, request->model, &upper, 0, &high, &g, e);
    return status == SS_OK ? ss_bundle_add(w, request->model, &lower, 0, &low, &g, e) : status;
}

// ---- cylinder

#define CYLINDER_RADIUS 0.01 // m
#define CYLINDER_HALF   0.02 // m

static const settings CYLINDER_DEFAULTS = {
    .fall = 0.01, .length = 0.1, .stretch = SS_THIN_STRETCH, .looks = SS_THIN_LOOKS};

static ss_status build_cylinder(const ss_scene_request *request, ss_world *w,
                                ss_step_options *options, ss_error *e)
{
    const settings *set = ss_request_settings(request, &CYLINDER_DEFAULTS);
    ss_status status = ss_request_check(request, e);
    if (status != SS_OK) {
        return status;
    }
    ss_obstacle cylinder = {.kind = SS_OBSTACLE_CYLINDER,
                            .size = {CYLINDER_RADIUS, CYLINDER_RADIUS, CYLINDER_HALF},
                            .pose = ss_pose_identity()};
    ss_thin_contacts(request, set->looks, w, options, &cylinder.mu);
    ss_random g = ss_random_seeded(request->seed);
    const int rods = ss_request_rods(request, ss_scene_cylinder.rods);
    const ss_bundle hair = bundle_of(set, rods, set->length, LENGTH_EDGES, SS_CLAMP_ROOT);
    const double above = CYLINDER_RADIUS + set->fall + thickness(&hair);
    const ss_pose root = level(EAST, ss_vec(-0.5 * set->length, above, 0.0));
    status = ss_world_add_obstacle(w, &cylinder, e);
    return status == SS_OK ? ss_bundle_add(w, request->model, &hair, 0, &root, &g, e) : status;
}

// ---- ground

#define PITCH 0.9 // rad, of a bundle that falls

static const settings GROUND_DEFAULTS = {
    .fall = 0.01, .length = 0.1, .stretch = SS_THIN_STRETCH, .looks = SS_THIN_LOOKS};

static ss_status build_ground(const ss_scene_request *request, ss_world *w,
                              ss_step_options *options, ss_error *e)
{
    const settings *set = ss_request_settings(request, &GROUND_DEFAULTS);
    ss_status status = ss_request_check(request, e);
    if (status != SS_OK) {
        return status;
    }
    // The outward normal of a plane is its z axis.
    ss_obstacle ground = {.kind = SS_OBSTACLE_PLANE,
                          .pose = {{{SOUTH, EAST, UP}}, ss_vec(0.0, 0.0, 0.0)}};
    ss_thin_contacts(request, set->looks, w, options, &ground.mu);
    ss_random g = ss_random_seeded(request->seed);
    const int rods = ss_request_rods(request, ss_scene_ground.rods);
    const ss_bundle hair = bundle_of(set, rods, set->length, LENGTH_EDGES, SS_CLAMP_NONE);
    const ss_vec3 up = ss_vec(cos(PITCH), sin(PITCH), 0.0), n1 = ss_vec(-up.y, up.x, 0.0);
    const ss_pose root = {{{up, n1, ss_cross(up, n1)}},
                          ss_vec(-0.5 * set->length * up.x, set->fall + thickness(&hair), 0.0)};
    status = ss_world_add_obstacle(w, &ground, e);
    return status == SS_OK ? ss_bundle_add(w, request->model, &hair, 0, &root, &g, e) : status;
}

// ---- tube

#define TUBE_RADIUS 0.005 // m
#define TUBE_HALF   0.15  // m
#define TUBE_BEFORE 0.02  // m of it behind the place where the hair falls

static const settings TUBE_DEFAULTS = {.slope = 25.0,
                                       .fall = 0.005,
                                       .length = 0.06,
                                       .stretch = SS_THIN_STRETCH,
                                       .looks = SS_THIN_LOOKS};
static const ss_key TUBE_KEYS[] = {
    SS_REAL_KEY("slope", slope, 0.0, 80.0),
    LENGTH_KEY(0.01, 1.0),
    FALL_KEY,
    SS_THIN_STRETCH_KEY,
    SS_THIN_LOOKS_KEY,
    {.name = NULL},
};

static ss_status build_tube(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                            ss_error *e)
{
    const settings *set = ss_request_settings(request, &TUBE_DEFAULTS);
    const double slope = set->slope / 180.0 * M_PI;
    ss_status status = ss_request_check_one_rod(request, e);
    if (status != SS_OK) {
        return status;
    }
    const ss_vec3 down = ss_vec(cos(slope), -sin(slope), 0.0);
    ss_obstacle tube = {
        .kind = SS_OBSTACLE_CYLINDER,
        .size = {TUBE_RADIUS, TUBE_RADIUS, TUBE_HALF},
        .pose = {{{SOUTH, ss_cross(down, SOUTH), down}}, ss_scaled(TUBE_HALF - TUBE_BEFORE, down)}};
    ss_thin_contacts(request, set->looks, w, options, &tube.mu);
    const double top = (TUBE_RADIUS + SS_THIN_CONTACT + 1e-9) / cos(slope);
    const ss_strand_design hair = {.length = set->length,
                                   .material = ss_thin_hair(set->stretch),
                                   .nsegments = LENGTH_EDGES,
                                   .clamp = SS_CLAMP_NONE};
    const ss_pose root = level(SOUTH, ss_vec(0.0, top + set->fall, -0.5 * set->length));
    int number;
    status = ss_world_add_obstacle(w, &tube, e);
    return status == SS_OK ? ss_world_add_strand(w, request->model, &hair, 0, &root, &number, e)
                           : status;
}

// ---- The scenes

#define OF_BUNDLES                                                                                 \
    .model = "der:bending=two-frame", .dt = 0.001, .keys = BUNDLE_KEYS,                            \
    .settings_size = sizeof(settings)

const ss_scene ss_scene_bundle = {
    .name = "bundle",
    .shows = "a bundle clamped at one end falls onto one clamped at both",
    .reference = "[J20] Figure 4-2",
    .rods = 38,
    .steps = 600,
    .defaults = &BUNDLE_DEFAULTS,
    .build = build_bundle,
    OF_BUNDLES,
};

const ss_scene ss_scene_cylinder = {
    .name = "cylinder",
    .shows = "a bundle clamped at one end falls onto a fixed cylinder",
    .reference = "[J20] Figure 4-3",
    .rods = 37,
    .steps = 600,
    .defaults = &CYLINDER_DEFAULTS,
    .build = build_cylinder,
    OF_BUNDLES,
};

const ss_scene ss_scene_ground = {
    .name = "ground",
    .shows = "an oblique bundle falls onto the ground and comes to rest",
    .reference = "[J20] Figure 4-4",
    .rods = 37,
    .steps = 1500,
    .defaults = &GROUND_DEFAULTS,
    .build = build_ground,
    OF_BUNDLES,
};

const ss_scene ss_scene_tube = {
    .name = "tube",
    .model = "der:bending=two-frame",
    .shows = "a hair falls across a tube that slopes by 25 degrees: slower with more friction",
    .reference = "[J20] Figure 4-9",
    .rods = 1,
    .steps = 400,
    .dt = 0.001,
    .keys = TUBE_KEYS,
    .defaults = &TUBE_DEFAULTS,
    .settings_size = sizeof(settings),
    .build = build_tube,
};
