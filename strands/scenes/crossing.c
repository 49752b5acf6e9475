// strands/scenes/crossing.c -- two rods that cross: one slides off the other, or meets it in one
// point.
//
//     crossing  a level cantilever along x falls onto a short rod that slopes down sideways, along
//               b = (0, -sin s, cos s), and is clamped at both ends. The section is round: the point of the
//               cantilever that touches is as easily moved down as sideways, so that what stops its fall is
//               vertical and leans by s against the normal of the contact. The cantilever stays for mu >= tan s,
//               and otherwise slides down, the later the larger mu is, until it leaves the lower rod's end.
//     pair      a free rod is thrown across another one, clamped at both ends: one contact
//
// The upper rod of `crossing` touches where a propped beam with an overhang c = 0.41 of its span is
// level.
#include "strands/scenes/thin_hair.h"
#include "strands/scenes/scenes.h"

typedef struct settings {
    double slope;   // deg
    double fall;    // m, between the two rods at first
    double speed;   // m/s
    double stretch; // of the material
    int looks;
} settings;

// From one clamp to the other it is straight, n edges along d.
static ss_status add_lower(const ss_scene_request *request, const settings *set, ss_vec3 from,
                           ss_vec3 d, double length, int n, ss_world *w, ss_error *e)
{
    const ss_vec3 side = ss_vec(1.0, 0.0, 0.0);
    const ss_pose root = {{{d, side, ss_cross(d, side)}}, from};
    const ss_strand_design rod = {.length = length,
                                  .material = ss_thin_hair(set->stretch),
                                  .nsegments = n,
                                  .clamp = SS_CLAMP_BOTH};
    int number;
    return ss_world_add_strand(w, request->model, &rod, 0, &root, &number, e);
}

// ---- crossing

#define UPPER        0.08  // m
#define UPPER_EDGES  20    // 4 mm
#define SPAN         0.057 // m, from the clamp to the lower rod
#define LOWER        0.04  // m
#define LOWER_EDGES  8
#define LOWER_BEHIND 0.03 // m of it above the place that is touched

static const settings CROSSING_DEFAULTS = {
    .slope = 25.0, .fall = 0.002, .stretch = SS_THIN_STRETCH, .looks = SS_THIN_LOOKS};
static const ss_key CROSSING_KEYS[] = {
    SS_REAL_KEY("slope", slope, 0.0, 80.0),
    SS_REAL_KEY("fall", fall, 0.0, 0.02),
    SS_THIN_STRETCH_KEY,
    SS_THIN_LOOKS_KEY,
    {.name = NULL},
};

static ss_status add_upper(const ss_scene_request *request, const settings *set, double above,
                           ss_world *w, ss_error *e)
{
    const ss_strand_design rod = {.length = UPPER,
                                  .material = ss_thin_hair(set->stretch),
                                  .nsegments = UPPER_EDGES,
                                  .clamp = SS_CLAMP_ROOT};
    ss_pose root = ss_pose_identity();
    root.place = ss_vec(-SPAN, above, 0.0);
    int number;
    return ss_world_add_strand(w, request->model, &rod, 0, &root, &number, e);
}

static ss_status build_crossing(const ss_scene_request *request, ss_world *w,
                                ss_step_options *options, ss_error *e)
{
    const settings *set = ss_request_settings(request, &CROSSING_DEFAULTS);
    const double slope = set->slope / 180.0 * M_PI;
    const ss_vec3 down = ss_vec(0.0, -sin(slope), cos(slope));
    double unused;
    ss_status status = ss_request_check_two_rods(request, e);
    if (status != SS_OK) {
        return status;
    }
    ss_thin_contacts(request, set->looks, w, options, &unused);
    const double apart = 2.0 * w->radius + 1e-9 + set->fall * cos(slope);
    status = add_upper(request, set, apart / cos(slope), w, e);
    return status == SS_OK ? add_lower(request, set, ss_scaled(-LOWER_BEHIND, down), down, LOWER,
                                       LOWER_EDGES, w, e)
                           : status;
}

// ---- pair

#define PAIR       0.06 // m
#define PAIR_EDGES 13   // the contact is amid an edge of both
#define PAIR_ABOVE 1e-3 // m
#define PAIR_ANGLE 1.2  // rad between the two
#define PAIR_DRIFT 0.3  // of the speed, level

static const settings PAIR_DEFAULTS = {
    .speed = 0.5, .stretch = SS_THIN_STRETCH, .looks = SS_THIN_LOOKS};
static const ss_key PAIR_KEYS[] = {
    SS_REAL_KEY("speed", speed, 0.0, 10.0),
    SS_THIN_STRETCH_KEY,
    SS_THIN_LOOKS_KEY,
    {.name = NULL},
};

static ss_status add_thrown(const ss_scene_request *request, const settings *set, ss_world *w,
                            ss_error *e)
{
    const ss_vec3 along = ss_vec(sin(PAIR_ANGLE), 0.0, cos(PAIR_ANGLE));
    const ss_vec3 way = ss_vec(PAIR_DRIFT * set->speed, -set->speed, PAIR_DRIFT * set->speed);
    ss_vec3 x[PAIR_EDGES + 1], v[PAIR_EDGES + 1];
    for (int i = 0; i <= PAIR_EDGES; i++) {
        x[i] = ss_along(ss_vec(0.0, PAIR_ABOVE, 0.0), PAIR * ((double)i / PAIR_EDGES - 0.5), along);
        v[i] = way;
    }
    const ss_strand_design rod = {.material = ss_thin_hair(set->stretch),
                                  .nvertices = PAIR_EDGES + 1,
                                  .vertices = x,
                                  .velocity = v,
                                  .clamp = SS_CLAMP_NONE};
    const ss_pose home = ss_pose_identity();
    int number;
    return ss_world_add_strand(w, request->model, &rod, 0, &home, &number, e);
}

static ss_status build_pair(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                            ss_error *e)
{
    const settings *set = ss_request_settings(request, &PAIR_DEFAULTS);
    const ss_vec3 z = ss_vec(0.0, 0.0, 1.0);
    double unused;
    ss_status status = ss_request_check_two_rods(request, e);
    if (status != SS_OK) {
        return status;
    }
    ss_thin_contacts(request, set->looks, w, options, &unused);
    status = add_thrown(request, set, w, e);
    return status == SS_OK
               ? add_lower(request, set, ss_scaled(-0.5 * PAIR, z), z, PAIR, PAIR_EDGES, w, e)
               : status;
}

// ---- The scenes

const ss_scene ss_scene_crossing = {
    .name = "crossing",
    .model = "der:bending=two-frame",
    .shows = "a rod falls across a sloping one: it slides off, later with more friction, or stays",
    .reference = "[J20] Figure 4-8",
    .rods = 2,
    .steps = 500,
    .dt = 0.001,
    .keys = CROSSING_KEYS,
    .defaults = &CROSSING_DEFAULTS,
    .settings_size = sizeof(settings),
    .build = build_crossing,
};

const ss_scene ss_scene_pair = {
    .name = "pair",
    .model = "der:bending=two-frame",
    .shows = "a free rod thrown across one between two clamps: a single contact",
    .reference = "[J20] Figure 4-11",
    .rods = 2,
    .steps = 60,
    .dt = 0.001,
    .keys = PAIR_KEYS,
    .defaults = &PAIR_DEFAULTS,
    .settings_size = sizeof(settings),
    .build = build_pair,
};
