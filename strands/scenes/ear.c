// strands/scenes/ear.c -- an ear that follows a pose, with motion of its own [H06].
//
// The ear is a rib that stands up from a head, with short ribs to both sides that make it wide. The
// head, an ellipsoid, nods. The pose of the ear is upright, then folded forward, and upright again;
// the strength of the springs to it falls to 0 and comes back (world.h).
#include "strands/world.h"
#include "strands/scenes/growth.h"
#include "strands/scenes/request.h"
#include "strands/scenes/scenes.h"

#define SEGMENTS 12 // of the middle rib
#define SIDES    22 // ribs to the sides: two of each vertex but the root and the tip
#define POINTS   (SEGMENTS + 1 + 2 * SIDES)
#define LENGTH   0.24  // m
#define WIDTH    0.045 // m, of half the ear
#define STRENGTH 0.3   // N/m, of each point
#define DAMPING  0.003 // N s/m
#define HEAD_X   0.09  // m, middle of the head
#define HEAD_Y   (-0.0855)

typedef struct settings {
    double strength, damping; // of those above
} settings;

static const settings DEFAULTS = {1.0, 1.0};
static const ss_key KEYS[] = {
    SS_REAL_KEY("strength", strength, 0.0, 1000.0),
    SS_REAL_KEY("damping", damping, 0.0, 1000.0),
    {.name = NULL},
};

// A middle rib from the root upwards that turns by `bend` towards +x in all, and ribs across it
// that are inclined to its tip.
static ss_growth make(double bend)
{
    ss_growth g = ss_growth_seed(ss_vec(0.0, 0.0, 0.0));
    ss_vec3 along[SEGMENTS + 1];
    for (int k = 0; k < SEGMENTS; k++) {
        const double angle = bend * (k + 0.5) / SEGMENTS, l = LENGTH / SEGMENTS;
        along[k] = ss_vec(sin(angle), cos(angle), 0.0);
        ss_growth_add(&g, k, ss_scaled(l, along[k]),
                      (ss_strand_part){1.0, 1.0 - 0.05 * k, 1.0, 1.0, 1.0});
    }
    for (int k = 1; k < SEGMENTS; k++) {
        const double share = (double)k / SEGMENTS, wide = WIDTH * sin(M_PI * pow(share, 0.8));
        for (int side = -1; side <= 1; side += 2) {
            const ss_vec3 way = ss_along(ss_scaled(0.5, along[k]), side, ss_vec(0.0, 0.0, 1.0));
            ss_growth_add(&g, k, ss_scaled(wide, way),
                          (ss_strand_part){1.0, 0.25, 50.0, 50.0, 1.0});
        }
    }
    return g;
}

// The points of its polylines: of the middle rib, and of each other rib its foot and its end.
static void take_points(double bend, ss_vec3 *points)
{
    const ss_growth g = make(bend);
    int n = 0;
    for (int i = 0; i < g.n; i++) {
        if (i > SEGMENTS) {
            points[n++] = g.x[g.parent[i]];
        }
        points[n++] = g.x[i];
    }
}

static ss_status pose(const settings *set, int number, ss_world *w, ss_error *e)
{
    ss_vec3 upright[POINTS], folded[POINTS];
    take_points(0.9, upright);
    take_points(2.0, folded);
    const double s = set->strength * STRENGTH, d = set->damping * DAMPING;
    const ss_posing_key keys[] = {{0.0, s, d, upright},     {0.8, s, d, upright},
                                  {1.1, s, d, folded},      {1.7, s, d, folded},
                                  {1.9, s, d, upright},     {2.3, 0.0, 0.0, upright},
                                  {3.2, 0.0, 0.0, upright}, {3.4, s, d, upright}};
    return ss_world_pose_strand(w, number, (int)(sizeof keys / sizeof keys[0]), keys, e);
}

// Of an animal that looks along x; the ear stands on it.
static ss_status add_head(ss_world *w, int *body, ss_error *e)
{
    ss_motion nod = ss_motion_still();
    nod.angle = (ss_profile){.kind = SS_PROFILE_OSCILLATE, .size = 0.25, .period = 0.8};
    nod.centre = ss_vec(0.0, -0.2, 0.0);
    ss_obstacle skull = {
        .kind = SS_OBSTACLE_ELLIPSOID, .size = {0.18, 0.085, 0.075}, .pose = ss_pose_identity()};
    skull.pose.place = ss_vec(HEAD_X, HEAD_Y, 0.0);
    const ss_status status = ss_world_add_body(w, &nod, body, e);
    skull.body = *body;
    return status == SS_OK ? ss_world_add_obstacle(w, &skull, e) : status;
}

static ss_status build(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                       ss_error *e)
{
    ss_status status = ss_request_check_one_rod(request, e);
    if (status != SS_OK) {
        return status;
    }
    const ss_growth ear = make(0.9);
    const ss_material gristle = ss_growth_material(1000.0, 0.008, 4e5, 0.03);
    int body, number;
    w->radius = 0.011;
    options->contacts = false;
    status = add_head(w, &body, e);
    status =
        status == SS_OK ? ss_growth_plant(&ear, &gristle, request, body, w, &number, e) : status;
    return status == SS_OK ? pose(ss_request_settings(request, &DEFAULTS), number, w, e) : status;
}

const ss_scene ss_scene_ear = {
    .name = "ear",
    .model = "oriented-strands",
    .shows = "an ear on a nodding head that follows a pose, is let loose and caught again",
    .reference = "[H06] Figure 6",
    .rods = 1,
    .steps = 480,
    .dt = 1.0 / 120.0,
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .build = build,
};
