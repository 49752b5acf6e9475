// strands/scenes/props.c -- what several scenes use.
#include "strands/scenes/props.h"

#include "base/assert.h"

#include <stdlib.h>

ss_motion ss_motion_swaying(ss_vec3 axis, double size, double period)
{
    ss_motion m = ss_motion_still();
    m.axis = axis;
    m.angle = (ss_profile){.kind = SS_PROFILE_OSCILLATE, .size = size, .period = period};
    return m;
}

ss_status ss_scene_add_strand(const ss_scene_request *request, const ss_strand_design *design,
                              int body, const ss_pose *root, ss_world *w, ss_error *e)
{
    int number;
    return ss_world_add_strand(w, request->model, design, body, root, &number, e);
}

// ---- A head, with neck and shoulders

// Semi-axes of an adult's head in m.
#define HEAD_WIDTH  SS_HEAD_WIDTH
#define HEAD_HEIGHT SS_HEAD_HEIGHT
#define HEAD_DEPTH  0.095

#define NECK_RADIUS     0.050 // m
#define NECK_HALF       0.070
#define NECK_DOWN       0.160 // m from the head's centre to the middle of the neck
#define SHOULDER_RADIUS 0.055
#define SHOULDER_HALF   0.110
#define SHOULDER_DOWN   0.275
#define SHOULDER_SLOPE  0.2 // rad, they fall to both sides

// Adds the capsule of this radius along `axis`.
static ss_status add_capsule(ss_world *w, ss_vec3 middle, ss_vec3 axis, double radius, double half,
                             double mu, ss_error *e)
{
    const ss_vec3 z = ss_unit(axis);
    const ss_vec3 x = ss_transported(ss_vec(0.0, 0.0, 1.0), z, ss_vec(1.0, 0.0, 0.0));
    const ss_obstacle capsule = {
        .kind = SS_OBSTACLE_CAPSULE,
        .size = {radius, radius, half},
        .pose = {{{x, ss_cross(z, x), z}}, middle},
        .mu = mu,
    };
    return ss_world_add_obstacle(w, &capsule, e);
}

static ss_status add_torso(ss_world *w, double mu, ss_error *e)
{
    ss_status status = add_capsule(w, ss_vec(0.0, -NECK_DOWN, 0.0), ss_vec(0.0, 1.0, 0.0),
                                   NECK_RADIUS, NECK_HALF, mu, e);
    for (int side = -1; side <= 1 && status == SS_OK; side += 2) {
        const double s = (double)side;
        const ss_vec3 middle = ss_vec(0.8 * s * SHOULDER_HALF, -SHOULDER_DOWN, 0.0);
        const ss_vec3 axis = ss_vec(s * cos(SHOULDER_SLOPE), -sin(SHOULDER_SLOPE), 0.0);
        status = add_capsule(w, middle, axis, SHOULDER_RADIUS, SHOULDER_HALF, mu, e);
    }
    return status;
}

ss_status ss_head_add(ss_world *w, const ss_motion *motion, double mu, int *body, ss_error *e)
{
    ss_status status = ss_world_add_body(w, motion, body, e);
    if (status == SS_OK) {
        const ss_obstacle head = {
            .kind = SS_OBSTACLE_ELLIPSOID,
            .size = {HEAD_WIDTH, HEAD_HEIGHT, HEAD_DEPTH},
            .pose = ss_pose_identity(),
            .body = *body,
            .mu = mu,
        };
        status = ss_world_add_obstacle(w, &head, e);
    }
    return status == SS_OK ? add_torso(w, mu, e) : status;
}

// The equator is (W sin a, 0, D cos a), and its normal (sin a / W, 0, cos a / D) is the horizontal
// part of all normals at this azimuth.
ss_scalp_place ss_head_scalp(double polar, double azimuth)
{
    const ss_vec3 side = ss_vec(sin(azimuth) / HEAD_WIDTH, 0.0, cos(azimuth) / HEAD_DEPTH);
    ss_scalp_place place = {.out = ss_unit(side), .reach = 1.0 / ss_length(side)};
    place.x = ss_vec(sin(polar) * sin(azimuth) * HEAD_WIDTH, cos(polar) * HEAD_HEIGHT,
                     sin(polar) * cos(azimuth) * HEAD_DEPTH);
    place.normal = ss_unit(ss_vec(place.x.x / (HEAD_WIDTH * HEAD_WIDTH),
                                  place.x.y / (HEAD_HEIGHT * HEAD_HEIGHT),
                                  place.x.z / (HEAD_DEPTH * HEAD_DEPTH)));
    place.fall = atan2(cos(polar) * place.reach, sin(polar) * HEAD_HEIGHT);
    return place;
}

ss_mat3 ss_head_falling(const ss_scalp_place *at, double angle)
{
    const ss_vec3 up = ss_vec(0.0, 1.0, 0.0);
    const ss_vec3 n0 = ss_along(ss_scaled(sin(angle), at->out), -cos(angle), up);
    const ss_vec3 n1 = ss_along(ss_scaled(cos(angle), at->out), sin(angle), up);
    return (ss_mat3){{n0, n1, ss_cross(n0, n1)}};
}

// ---- A ball

ss_status ss_ball_add(ss_world *w, double radius, const ss_profile *angle, double mu, int *body,
                      ss_error *e)
{
    ss_motion turn = ss_motion_still();
    turn.axis = ss_vec(0.0, 1.0, 0.0);
    turn.angle = *angle;
    ss_obstacle ball = {.kind = SS_OBSTACLE_SPHERE,
                        .size = {radius, radius, radius},
                        .pose = ss_pose_identity(),
                        .mu = mu};
    const ss_status status = ss_world_add_body(w, &turn, body, e);
    ball.body = *body;
    return status == SS_OK ? ss_world_add_obstacle(w, &ball, e) : status;
}

// ---- Bundles

typedef struct place {
    double y, z; // m
    double far;  // square of the distance from the centre, in the measure of a flat bundle
    int order;   // in which the lattice was walked, to break ties
} place;

// Places on one circle differ by rounding; they are taken in the order of the walk.
static int compare_places(const void *first, const void *second)
{
    const place *a = first, *b = second;
    if (fabs(a->far - b->far) > 1e-9 * (a->far + b->far)) {
        return a->far < b->far ? -1 : 1;
    }
    return a->order - b->order;
}

static double helix_rate(const ss_bundle *b)
{
    return sqrt(b->twist * b->twist + b->bend * b->bend);
}

static double lattice_pitch(const ss_bundle *b)
{
    return b->twist == 0.0 ? b->spacing : b->spacing * helix_rate(b) / fabs(b->twist);
}

// A disc of n places has the radius sqrt(n sqrt(3) / (2 pi)) pitches, and a place on its rim may be
// most of a pitch farther out.
double ss_bundle_reach(const ss_bundle *b, int axis)
{
    const double wide = axis == 2 ? sqrt(b->flat) : 1.0 / sqrt(b->flat);
    const double disc = sqrt((double)b->rods * sqrt(0.75) / M_PI);
    return b->rods > 1 ? lattice_pitch(b) * (disc * wide + 0.8) : 0.0;
}

// Makes the lattice; the places nearest to the centre come first. NULL without memory.
static place *lattice_new(const ss_bundle *b)
{
    const double pitch = lattice_pitch(b), row = sqrt(0.75) * pitch;
    const int half_wide = (int)(ss_bundle_reach(b, 2) / pitch) + 2;
    const int half_high = (int)(ss_bundle_reach(b, 1) / row) + 2;
    const size_t room = (size_t)(2 * half_wide + 1) * (size_t)(2 * half_high + 1);
    place *all = malloc(room * sizeof *all);
    int count = 0;
    for (int j = -half_high; all != NULL && j <= half_high; j++) {
        for (int i = -half_wide; i <= half_wide; i++) {
            const double y = (double)j * row, z = ((double)i + (j % 2 != 0 ? 0.5 : 0.0)) * pitch;
            all[count] = (place){y, z, y * y * b->flat + z * z / b->flat, count};
            count++;
        }
    }
    if (all != NULL) {
        qsort(all, (size_t)count, sizeof *all, compare_places);
    }
    return all;
}

ss_status ss_bundle_extent(const ss_bundle *b, double extent[2], ss_error *e)
{
    place *places = lattice_new(b);
    if (places == NULL) {
        return ss_fail_memory(e, "a bundle of rods");
    }
    const double moved = 0.5 * b->jitter * lattice_pitch(b);
    extent[0] = extent[1] = 0.0;
    for (int k = 0; k < b->rods; k++) {
        extent[0] = fmax(extent[0], fabs(places[k].y) + moved);
        extent[1] = fmax(extent[1], fabs(places[k].z) + moved);
    }
    free(places);
    return SS_OK;
}

int ss_bundle_segments(double length, double curvature, double radius)
{
    const double exact = length * sqrt(fabs(curvature) / (4.0 * radius));
    return exact < 1.0 ? 1 : (int)floor(exact) + 1;
}

// Moves a place to a point in a disc. Two rods that each move by half the jitter are nearer by at
// most all of it.
static void jitter_place(const ss_bundle *b, ss_random *g, place *at)
{
    const double reach = 0.5 * b->jitter * lattice_pitch(b);
    const double radius = reach * sqrt(ss_random_uniform(g));
    const double angle = ss_random_between(g, 0.0, 2.0 * M_PI);
    at->y += radius * cos(angle);
    at->z += radius * sin(angle);
}

typedef struct rod_shape {
    double style[SS_BUNDLE_PIECES][3], unrest[SS_BUNDLE_PIECES][3];
    double length;
    ss_pose root;
} rod_shape;

static void shape_parallel(const ss_bundle *b, const place *at, rod_shape *rod)
{
    rod->length = b->length * (1.0 - at->y * b->bend);
    for (int k = 0; k < b->pieces; k++) {
        const double curvature = k < b->bent ? b->bend : b->tail;
        rod->style[k][2] = curvature / (1.0 - at->y * curvature);
    }
    rod->root.place = ss_along(ss_scaled(at->y, rod->root.turn.c[1]), at->z, rod->root.turn.c[2]);
}

// The axis of the helix is (twist, 0, bend) in the root's frame; n1 and the third direction span
// the plane across it.
static void shape_copy(const ss_bundle *b, const place *at, rod_shape *rod)
{
    rod->length = b->length;
    for (int k = 0; k < b->pieces; k++) {
        rod->style[k][0] = b->twist;
        rod->style[k][2] = b->bend;
    }
    const ss_vec3 across =
        ss_scaled(1.0 / helix_rate(b), ss_vec(-b->bend, 0.0, b->twist)); // axis x n1
    rod->root.place =
        ss_along(ss_scaled(at->y, rod->root.turn.c[1]), at->z, ss_turned(&rod->root.turn, across));
}

// Finds the natural curvatures; bending about n1 goes towards -n2, and about n2 towards n1.
static void disturb(const ss_bundle *b, const place *at, ss_random *g, rod_shape *rod)
{
    const double reach = fmax(ss_bundle_reach(b, 1), ss_bundle_reach(b, 2));
    const double gather = b->rods > 1 ? b->gather / reach : 0.0;
    for (int k = 0; k < b->pieces; k++) {
        rod->unrest[k][1] = gather * at->z + b->unrest * ss_random_normal(g);
        rod->unrest[k][2] = -gather * at->y + b->unrest * ss_random_normal(g);
    }
}

static ss_status add_rod(ss_world *w, const ss_model_choice *model, const ss_bundle *b, int body,
                         const ss_pose *root, const place *at, ss_random *g, ss_error *e)
{
    rod_shape rod = {.root = *root};
    if (b->twist == 0.0) {
        shape_parallel(b, at, &rod);
    } else {
        shape_copy(b, at, &rod);
    }
    rod.root.place = ss_plus(rod.root.place, root->place);
    disturb(b, at, g, &rod);
    const ss_strand_design design = {
        .length = rod.length,
        .material = b->material,
        .npieces = b->pieces,
        .style = (const double(*)[3])rod.style,
        .unrest = (const double(*)[3])rod.unrest,
        .nsegments = b->nsegments,
        .clamp = b->clamp,
    };
    int number;
    return ss_world_add_strand(w, model, &design, body, &rod.root, &number, e);
}

static bool fits_its_bend(const ss_bundle *b)
{
    const double curvature = fmax(fabs(b->bend), fabs(b->tail));
    return b->twist != 0.0 || curvature * ss_bundle_reach(b, 1) < 0.9;
}

ss_status ss_bundle_add(ss_world *w, const ss_model_choice *model, const ss_bundle *b, int body,
                        const ss_pose *root, ss_random *g, ss_error *e)
{
    ss_assert(b->rods >= 0 && b->pieces >= 1 && b->pieces <= SS_BUNDLE_PIECES);
    if (!fits_its_bend(b)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "a bundle of %d rods is wider than its bend: use fewer rods", b->rods);
    }
    place *places = lattice_new(b);
    if (places == NULL) {
        return ss_fail_memory(e, "a bundle of rods");
    }
    ss_status status = SS_OK;
    for (int k = 0; k < b->rods && status == SS_OK; k++) {
        jitter_place(b, g, &places[k]);
        status = add_rod(w, model, b, body, root, &places[k], g, e);
    }
    free(places);
    return status;
}
