// strands/scenes/falling.c -- thin hair that falls: the scenes of [J20].
//
// Its scene files have E of 0.8 to 1 GPa, nu 0.36, 1320 kg/m^3 and a radius of 50 um, contacts 55
// um from the centre line, and a stretch stiffness that is multiplied by 0.01 wherever there are
// contacts; viscosity and drag never act. Friction is 0.3 on everything. `stretch` and `looks` are
// options of each scene.
//
//     crossing  a level cantilever along x falls onto a short rod that slopes down sideways, along
//               b = (0, -sin s, cos s), and is clamped at both ends. The section is round: the
//               point of the cantilever that touches is as easily moved down as sideways, so that
//               what stops its fall is vertical and leans by s against the normal of the contact.
//               The cantilever stays for mu >= tan s, and otherwise slides down, the later the
//               larger mu is, until it leaves the lower rod's end
//     pair      a free rod is thrown across another one, clamped at both ends: one contact
//     bundle    one half, level and clamped at one end, falls onto the other, clamped at both
//     cylinder  a level bundle that is clamped at one end falls onto a fixed cylinder
//     ground    an oblique bundle that nothing holds falls onto the ground, and comes to rest
//     tube      a hair that nothing holds falls across a sloping tube. A short one touches it on
//               its top alone: it stays for mu >= tan of the slope s and else slides down with
//               g (sin s - mu cos s). A long one hangs around the tube, presses on it from both
//               sides, and slides more slowly
//     hairball  straight hair on the upper half of a ball that turns once
//
// doc/strands.md, "[J20]".
#include "strands/scenes/props.h"

#define CONTACT 55e-6 // m
#define MU      0.3

// Each scene takes some of these.
typedef struct settings {
    double slope;   // deg
    double fall;    // m, between the hair and what it falls onto at first
    double speed;   // m/s
    double length;  // m
    double stretch; // of the material
    int looks;
    int vertices;
    double unrest; // 1/m
    double share;  // of the circle about the axis
} settings;

#define BASE .stretch = 0.01, .looks = 50

// `looks` is how often a step looks at where it ends for strands that overlap (step.h); 0: contacts
// are those of its beginning, as in [J20].
#define THIN_KEYS                                                                                  \
    SS_REAL_KEY("stretch", stretch, 1e-4, 100.0), SS_INTEGER_KEY("looks", looks, 0, 1000),         \
    {                                                                                              \
        .name = NULL                                                                               \
    }

#define FALLS(table, values)                                                                       \
    .model = "der:bending=two-frame", .dt = 0.001, .mu = MU, .mu_obstacle = MU,                    \
    SS_SCENE_KEYS(table, values)

static ss_material thin_hair(const ss_scene_request *request)
{
    const settings *set = request->settings;
    return (ss_material){.density = 1320.0,
                         .radius = 50e-6,
                         .ellipticity = 1.0,
                         .young = 1e9,
                         .poisson = 0.36,
                         .stretch = set->stretch};
}

// Sets the contacts of a world of such hair. A strand that falls covers many radii in a step:
// contacts are looked for on its way, too.
static void set_contacts(const ss_scene_request *request, ss_world *w, ss_step_options *options)
{
    const settings *set = request->settings;
    w->radius = CONTACT;
    w->mu = request->mu;
    options->continuous = true;
    options->looks = set->looks;
}

// ---- Two rods that cross

// Adds a straight rod from one clamp to the other, n edges along d.
static ss_status add_lower(const ss_scene_request *request, ss_vec3 from, ss_vec3 d, double length,
                           int n, ss_world *w, ss_error *e)
{
    const ss_vec3 side = ss_vec(1.0, 0.0, 0.0);
    const ss_pose root = {{{d, side, ss_cross(d, side)}}, from};
    const ss_strand_design rod = {
        .length = length, .material = thin_hair(request), .nsegments = n, .clamp = SS_CLAMP_BOTH};
    return ss_scene_add_strand(request, &rod, 0, &root, w, e);
}

// ---- crossing

#define UPPER        0.08  // m
#define UPPER_EDGES  20    // 4 mm
#define SPAN_UPPER   0.057 // m, from the clamp to the lower rod
#define LOWER        0.04  // m
#define LOWER_EDGES  8
#define LOWER_BEHIND 0.03 // m of it above the place that is touched

static const settings CROSSING = {.slope = 25.0, .fall = 0.002, BASE};
static const ss_key CROSSING_KEYS[] = {
    SS_REAL_KEY("slope", slope, 0.0, 80.0),
    SS_REAL_KEY("fall", fall, 0.0, 0.02),
    THIN_KEYS,
};

static ss_status add_upper(const ss_scene_request *request, double above, ss_world *w, ss_error *e)
{
    const ss_strand_design rod = {.length = UPPER,
                                  .material = thin_hair(request),
                                  .nsegments = UPPER_EDGES,
                                  .clamp = SS_CLAMP_ROOT};
    ss_pose root = ss_pose_identity();
    root.place = ss_vec(-SPAN_UPPER, above, 0.0);
    return ss_scene_add_strand(request, &rod, 0, &root, w, e);
}

static ss_status build_crossing(const ss_scene_request *request, ss_world *w,
                                ss_step_options *options, ss_error *e)
{
    const settings *set = request->settings;
    const double slope = set->slope / 180.0 * M_PI;
    const ss_vec3 down = ss_vec(0.0, -sin(slope), cos(slope));
    set_contacts(request, w, options);
    const double apart = 2.0 * w->radius + 1e-9 + set->fall * cos(slope);
    const ss_status status = add_upper(request, apart / cos(slope), w, e);
    return status == SS_OK
               ? add_lower(request, ss_scaled(-LOWER_BEHIND, down), down, LOWER, LOWER_EDGES, w, e)
               : status;
}

const ss_scene ss_scene_crossing = {
    .name = "crossing",
    .shows = "a rod falls across a sloping one: it slides off, later with more friction, or stays",
    .reference = "[J20] Figure 4-8",
    .rods = 2,
    .steps = 500,
    FALLS(CROSSING_KEYS, CROSSING),
    .build = build_crossing,
};

// ---- pair

#define PAIR       0.06 // m
#define PAIR_EDGES 13   // the contact is amid an edge of both
#define PAIR_ABOVE 1e-3 // m
#define PAIR_ANGLE 1.2  // rad between the two
#define PAIR_DRIFT 0.3  // of the speed, level

static const settings THROWN = {.speed = 0.5, BASE};
static const ss_key PAIR_KEYS[] = {
    SS_REAL_KEY("speed", speed, 0.0, 10.0),
    THIN_KEYS,
};

static ss_status add_thrown(const ss_scene_request *request, ss_world *w, ss_error *e)
{
    const settings *set = request->settings;
    const ss_vec3 along = ss_vec(sin(PAIR_ANGLE), 0.0, cos(PAIR_ANGLE));
    const ss_vec3 way = ss_vec(PAIR_DRIFT * set->speed, -set->speed, PAIR_DRIFT * set->speed);
    ss_vec3 x[PAIR_EDGES + 1], v[PAIR_EDGES + 1];
    for (int i = 0; i <= PAIR_EDGES; i++) {
        x[i] = ss_along(ss_vec(0.0, PAIR_ABOVE, 0.0), PAIR * ((double)i / PAIR_EDGES - 0.5), along);
        v[i] = way;
    }
    const ss_strand_design rod = {.material = thin_hair(request),
                                  .nvertices = PAIR_EDGES + 1,
                                  .vertices = x,
                                  .velocity = v,
                                  .clamp = SS_CLAMP_NONE};
    const ss_pose home = ss_pose_identity();
    return ss_scene_add_strand(request, &rod, 0, &home, w, e);
}

static ss_status build_pair(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                            ss_error *e)
{
    const ss_vec3 z = ss_vec(0.0, 0.0, 1.0);
    set_contacts(request, w, options);
    const ss_status status = add_thrown(request, w, e);
    return status == SS_OK
               ? add_lower(request, ss_scaled(-0.5 * PAIR, z), z, PAIR, PAIR_EDGES, w, e)
               : status;
}

const ss_scene ss_scene_pair = {
    .name = "pair",
    .shows = "a free rod thrown across one between two clamps: a single contact",
    .reference = "[J20] Figure 4-11",
    .rods = 2,
    .steps = 60,
    FALLS(PAIR_KEYS, THROWN),
    .build = build_pair,
};

// ---- Bundles and one hair
//
// Neighbours in a bundle are 0.66 mm apart.

#define SPACING 12.0 // contact radii
#define JITTER  0.2

#define LENGTH_KEY SS_REAL_KEY("length", length, 0.01, 1.0)
#define FALL_KEY   SS_REAL_KEY("fall", fall, 0.0, 1.0)

static const settings BUNDLE = {.fall = 0.01, .length = 0.1, BASE};
static const ss_key BUNDLE_KEYS[] = {LENGTH_KEY, FALL_KEY, THIN_KEYS};

// Returns a bundle of `rods` straight rods about n0 of its root.
static ss_bundle bundle_of(const ss_scene_request *request, int rods, double length, int segments,
                           ss_clamp clamp)
{
    return (ss_bundle){.rods = rods,
                       .material = thin_hair(request),
                       .length = length,
                       .pieces = 1,
                       .bent = 1,
                       .flat = 1.0,
                       .spacing = SPACING * CONTACT,
                       .jitter = JITTER,
                       .nsegments = segments,
                       .clamp = clamp};
}

// Returns the way from the middle of a bundle to its outside, m.
static double thickness(const ss_bundle *b)
{
    return ss_bundle_reach(b, 1) + CONTACT;
}

static const ss_vec3 EAST = {1.0, 0.0, 0.0}, UP = {0.0, 1.0, 0.0}, SOUTH = {0.0, 0.0, 1.0};

// Returns a pose whose n0 is `along`, and whose n1 is up where it can be.
static ss_pose level(ss_vec3 along, ss_vec3 place)
{
    return (ss_pose){{{along, UP, ss_cross(along, UP)}}, place};
}

// ---- bundle

#define SPAN         0.06 // m, of the bundle that is clamped twice
#define SPAN_EDGES   12
#define ACROSS       0.6 // of the length of the other, where it meets that
#define LENGTH_EDGES 24

static ss_status build_bundle(const ss_scene_request *request, ss_world *w,
                              ss_step_options *options, ss_error *e)
{
    const settings *set = request->settings;
    const int rods = request->rods;
    if (rods < 2) {
        return ss_fail(e, SS_BAD_INPUT, "1 rod: one half of them falls onto the other; give 2");
    }
    set_contacts(request, w, options);
    ss_random g = ss_random_seeded(request->seed);
    const ss_bundle upper =
        bundle_of(request, rods - rods / 2, set->length, LENGTH_EDGES, SS_CLAMP_ROOT);
    const ss_bundle lower = bundle_of(request, rods / 2, SPAN, SPAN_EDGES, SS_CLAMP_BOTH);
    const double above = set->fall + thickness(&upper) + thickness(&lower);
    const ss_pose high = level(EAST, ss_vec(-ACROSS * set->length, above, 0.0));
    const ss_pose low = level(SOUTH, ss_vec(0.0, 0.0, -0.5 * SPAN));
    const ss_status status = ss_bundle_add(w, request->model, &upper, 0, &high, &g, e);
    return status == SS_OK ? ss_bundle_add(w, request->model, &lower, 0, &low, &g, e) : status;
}

const ss_scene ss_scene_bundle = {
    .name = "bundle",
    .shows = "a bundle clamped at one end falls onto one clamped at both",
    .reference = "[J20] Figure 4-2",
    .rods = 38,
    .steps = 600,
    FALLS(BUNDLE_KEYS, BUNDLE),
    .build = build_bundle,
};

// ---- cylinder

#define CYLINDER_RADIUS 0.01 // m
#define CYLINDER_HALF   0.02 // m

static ss_status build_cylinder(const ss_scene_request *request, ss_world *w,
                                ss_step_options *options, ss_error *e)
{
    const settings *set = request->settings;
    ss_obstacle cylinder = {.kind = SS_OBSTACLE_CYLINDER,
                            .size = {CYLINDER_RADIUS, CYLINDER_RADIUS, CYLINDER_HALF},
                            .pose = ss_pose_identity()};
    set_contacts(request, w, options);
    cylinder.mu = request->mu_obstacle;
    ss_random g = ss_random_seeded(request->seed);
    const ss_bundle hair =
        bundle_of(request, request->rods, set->length, LENGTH_EDGES, SS_CLAMP_ROOT);
    const double above = CYLINDER_RADIUS + set->fall + thickness(&hair);
    const ss_pose root = level(EAST, ss_vec(-0.5 * set->length, above, 0.0));
    const ss_status status = ss_world_add_obstacle(w, &cylinder, e);
    return status == SS_OK ? ss_bundle_add(w, request->model, &hair, 0, &root, &g, e) : status;
}

const ss_scene ss_scene_cylinder = {
    .name = "cylinder",
    .shows = "a bundle clamped at one end falls onto a fixed cylinder",
    .reference = "[J20] Figure 4-3",
    .rods = 37,
    .steps = 600,
    FALLS(BUNDLE_KEYS, BUNDLE),
    .build = build_cylinder,
};

// ---- ground

#define PITCH 0.9 // rad, of a bundle that falls

static ss_status build_ground(const ss_scene_request *request, ss_world *w,
                              ss_step_options *options, ss_error *e)
{
    const settings *set = request->settings;
    // The outward normal of a plane is its z axis.
    ss_obstacle ground = {.kind = SS_OBSTACLE_PLANE,
                          .pose = {{{SOUTH, EAST, UP}}, ss_vec(0.0, 0.0, 0.0)}};
    set_contacts(request, w, options);
    ground.mu = request->mu_obstacle;
    ss_random g = ss_random_seeded(request->seed);
    const ss_bundle hair =
        bundle_of(request, request->rods, set->length, LENGTH_EDGES, SS_CLAMP_NONE);
    const ss_vec3 up = ss_vec(cos(PITCH), sin(PITCH), 0.0), n1 = ss_vec(-up.y, up.x, 0.0);
    const ss_pose root = {{{up, n1, ss_cross(up, n1)}},
                          ss_vec(-0.5 * set->length * up.x, set->fall + thickness(&hair), 0.0)};
    const ss_status status = ss_world_add_obstacle(w, &ground, e);
    return status == SS_OK ? ss_bundle_add(w, request->model, &hair, 0, &root, &g, e) : status;
}

const ss_scene ss_scene_ground = {
    .name = "ground",
    .shows = "an oblique bundle falls onto the ground and comes to rest",
    .reference = "[J20] Figure 4-4",
    .rods = 37,
    .steps = 1500,
    FALLS(BUNDLE_KEYS, BUNDLE),
    .build = build_ground,
};

// ---- tube

#define TUBE_RADIUS 0.005 // m
#define TUBE_HALF   0.15  // m
#define TUBE_BEFORE 0.02  // m of it behind the place where the hair falls

static const settings TUBE = {.slope = 25.0, .fall = 0.005, .length = 0.06, BASE};
static const ss_key TUBE_KEYS[] = {
    SS_REAL_KEY("slope", slope, 0.0, 80.0),
    LENGTH_KEY,
    FALL_KEY,
    THIN_KEYS,
};

static ss_status build_tube(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                            ss_error *e)
{
    const settings *set = request->settings;
    const double slope = set->slope / 180.0 * M_PI;
    const ss_vec3 down = ss_vec(cos(slope), -sin(slope), 0.0);
    ss_obstacle tube = {
        .kind = SS_OBSTACLE_CYLINDER,
        .size = {TUBE_RADIUS, TUBE_RADIUS, TUBE_HALF},
        .pose = {{{SOUTH, ss_cross(down, SOUTH), down}}, ss_scaled(TUBE_HALF - TUBE_BEFORE, down)}};
    set_contacts(request, w, options);
    tube.mu = request->mu_obstacle;
    const double top = (TUBE_RADIUS + CONTACT + 1e-9) / cos(slope);
    const ss_strand_design hair = {.length = set->length,
                                   .material = thin_hair(request),
                                   .nsegments = LENGTH_EDGES,
                                   .clamp = SS_CLAMP_NONE};
    const ss_pose root = level(SOUTH, ss_vec(0.0, top + set->fall, -0.5 * set->length));
    const ss_status status = ss_world_add_obstacle(w, &tube, e);
    return status == SS_OK ? ss_scene_add_strand(request, &hair, 0, &root, w, e) : status;
}

const ss_scene ss_scene_tube = {
    .name = "tube",
    .shows = "a hair falls across a tube that slopes by 25 degrees: slower with more friction",
    .reference = "[J20] Figure 4-9",
    .rods = 1,
    .steps = 400,
    FALLS(TUBE_KEYS, TUBE),
    .build = build_tube,
};

// ---- hairball
//
// Roots are a spiral of evenly spread places. A strand begins along its meridian, bent until it
// hangs, and the nearer its root is to the pole, the farther out it is there, so that none meets
// another. Its natural shape is straight except for random curvatures: in the first tenths of a
// second it falls onto the ball and onto others. [J20] says how many strands, dofs and contacts
// there are, 5500 on average, but no size: contacts are wider than in the other scenes of thin
// hair, 0.8 mm from axis to axis, so that there are as many here when the hair has fallen. Of 12
// vertices, 4 N - 1 = 47 dofs, the clamp holds 7: 40 are free. With share=S roots are on that part
// of the circle about the axis alone, where S times the strands are as crowded, except for the two
// sides.

#define BALL   0.05   // m, radius
#define NEAR   400e-6 // m, radius of contacts
#define LENGTH 0.2    // m
#define PIECES 20
#define LIFT   0.5  // rad between a root's tangent and the ball
#define BEND   18.0 // 1/m, of the start: less than the 20 of the ball
// The ball makes a whole turn in 4 s.
static const ss_profile TURNING = {
    .kind = SS_PROFILE_MOVE, .size = 6.283185307179586, .period = 4.0, .start = 0.5};

static const settings HAIRBALL = {.vertices = 12, .unrest = 6.0, .share = 1.0, BASE};
static const ss_key HAIRBALL_KEYS[] = {
    SS_INTEGER_KEY("vertices", vertices, 4, 4096),
    SS_REAL_KEY("unrest", unrest, 0.0, 100.0),
    SS_REAL_KEY("share", share, 0.001, 1.0),
    THIN_KEYS,
};

// Returns place k of n on the upper half, or on its share. n0 leaves the ball by LIFT, down the
// meridian; bending about n2 turns n0 towards n1, which is the ball's side.
static ss_pose root_of(int k, int n, double share, double above)
{
    const double up = 1.0 - (k + 0.5) / n, out = sqrt(1.0 - up * up);
    const double turns = SS_GOLDEN_ANGLE * k,
                 angle = share < 1.0 ? share * fmod(turns, 2.0 * M_PI) : turns;
    const double c = cos(angle), s = sin(angle);
    const ss_vec3 normal = ss_vec(out * c, up, out * s);
    const ss_vec3 down = ss_vec(up * c, -out, up * s);
    const ss_vec3 n0 = ss_along(ss_scaled(cos(LIFT), down), sin(LIFT), normal);
    const ss_vec3 n1 = ss_along(ss_scaled(sin(LIFT), down), -cos(LIFT), normal);
    return (ss_pose){{{n0, n1, ss_cross(n0, n1)}}, ss_scaled(BALL + above, normal)};
}

// Finds the curvatures of strand k of n: BEND until it hangs. The natural ones are random alone.
static void bend(int k, int n, double unrest, ss_random *g, double style[PIECES][3],
                 double change[PIECES][3])
{
    double left = asin(1.0 - (k + 0.5) / n) + LIFT; // rad
    for (int j = 0; j < PIECES; j++) {
        const double piece = LENGTH / PIECES, turned = fmin(left, BEND * piece);
        style[j][0] = style[j][1] = change[j][0] = 0.0;
        style[j][2] = turned / piece;
        change[j][1] = unrest * ss_random_normal(g);
        change[j][2] = unrest * ss_random_normal(g) - style[j][2];
        left -= turned;
    }
}

static ss_status add_hair(const ss_scene_request *request, int body, ss_world *w, ss_error *e)
{
    const settings *set = request->settings;
    const int rods = request->rods;
    ss_random g = ss_random_seeded(request->seed);
    ss_status status = SS_OK;
    for (int k = 0; k < rods && status == SS_OK; k++) {
        double style[PIECES][3], unrest[PIECES][3];
        bend(k, rods, set->unrest, &g, style, unrest);
        const ss_strand_design hair = {.length = LENGTH,
                                       .material = thin_hair(request),
                                       .npieces = PIECES,
                                       .style = (const double(*)[3])style,
                                       .unrest = (const double(*)[3])unrest,
                                       .nsegments = set->vertices - 1};
        const ss_pose root = root_of(k, rods, set->share, 1.01 * w->radius);
        status = ss_scene_add_strand(request, &hair, body, &root, w, e);
    }
    return status;
}

static ss_status build_hairball(const ss_scene_request *request, ss_world *w,
                                ss_step_options *options, ss_error *e)
{
    int body;
    set_contacts(request, w, options);
    w->radius = NEAR;
    const ss_status status = ss_ball_add(w, BALL, &TURNING, request->mu_obstacle, &body, e);
    return status == SS_OK ? add_hair(request, body, w, e) : status;
}

const ss_scene ss_scene_hairball = {
    .name = "hairball",
    .shows = "straight hair, 1000 strands of 40 free dofs, on the upper half of a ball that turns",
    .reference = "[J20] Table 4-1",
    .rods = 1000,
    .steps = 5000,
    FALLS(HAIRBALL_KEYS, HAIRBALL),
    .build = build_hairball,
};
