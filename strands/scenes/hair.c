// strands/scenes/hair.c -- rows of wisps around a head; see the header.
#include "strands/scenes/hair.h"

#include "strands/scenes/bundle.h"
#include "strands/scenes/head.h"

// A strand stands for its neighbours, too: so many cylinders of this radius have the cross-section
// of a head of hair, some 15 cm^2. Fewer strands are thicker, up to a limit, and more are thinner.
#define FULL_HEAD        1920   // strands
#define COLLISION_RADIUS 0.0005 // m
#define THICKEST         0.0016 // m

#define SCALP   0.0005 // m from the head's ellipsoid to the lowest cylinder
#define LAYER   0.0014 // m between two rows
#define ABOVE   0.0010 // m from the shoulders to the lowest tip
#define SPACING 2.3    // collision radii between neighbours in a wisp
#define JITTER  0.08
#define MARGIN  0.2  // collision radii
#define UNREST  2.0  // 1/m
#define FILLED  0.9  // share of a row's circumference at its roots that wisps take
#define SHORTER 0.98 // a wisp that meets the shoulders is cut to this share repeatedly
#define BENDING 10.0 // 1/m: segments follow this curvature at least, as straight hair bends, too
#define PIECES  5    // as many as the default model has elements

#define FLARE   2.5  // 1/m: outwards, so that tips that start above a shoulder come to lie on it
#define LIFT    0.01 // rad: angles are tried in steps of this
#define SAMPLES 16   // of a curve that another has to pass above

typedef ss_hair_settings settings;

const settings ss_hair_defaults = {.segments = 0};
const ss_key ss_hair_keys[] = {
    SS_INTEGER_KEY("segments", segments, 0, 4096),
    {.name = NULL},
};

typedef struct row {
    int wisps;
    double polar;  // deg, of the roots
    double open;   // deg of azimuth without hair, about the face
    double length; // m, at the ears; straight hair is longer where the head is
    int bent;      // straight hair: pieces of the arc
    double lift;   // curly hair: deg off the way down the scalp
} row;

// From the innermost row to the outermost.
static const row STRAIGHT_ROWS[] = {
    {.wisps = 12, .polar = 78.0, .open = 120.0, .length = 0.26, .bent = 1},
    {.wisps = 12, .polar = 58.0, .open = 90.0, .length = 0.30, .bent = 1},
    {.wisps = 10, .polar = 42.0, .open = 70.0, .length = 0.32, .bent = 2},
    {.wisps = 6, .polar = 25.0, .open = 60.0, .length = 0.34, .bent = 2},
};
#define ROWS 4

static const row CURLY_ROWS[] = {
    {.wisps = 12, .polar = 90.0, .open = 110.0, .length = 0.26, .lift = 17.0},
    {.wisps = 10, .polar = 65.0, .open = 70.0, .length = 0.26, .lift = 17.0},
    {.wisps = 8, .polar = 40.0, .open = 30.0, .length = 0.26, .lift = 17.0},
};
#define CURLY_COUNT 3

#define CURL_RADIUS 0.006 // m, of the helix
#define CURL_PITCH  0.080 // m a turn

// The wisps of a row.
typedef struct layer {
    const row *row;
    ss_bundle wisp;   // of its rods
    double extent[2]; // m, along n1 and n2
} layer;

static double radians(double degrees)
{
    return degrees * M_PI / 180.0;
}

// Wisp k of `row`: evenly over what the face leaves free.
static double wisp_azimuth(const row *r, int k)
{
    const double free = 360.0 - r->open;
    return radians(0.5 * r->open + ((double)k + 0.5) * free / r->wisps);
}

// The centre of a wisp's roots: so far off the scalp that they clear it, in the plane of n1 and n2
// of `turn`.
static ss_vec3 above_scalp(const ss_scalp_place *at, const ss_mat3 *turn, const layer *l,
                           double radius)
{
    const double lowest = l->extent[0] * fabs(ss_dot(turn->c[1], at->normal)) +
                          l->extent[1] * fabs(ss_dot(turn->c[2], at->normal));
    return ss_along(at->x, SCALP + radius + lowest, at->normal);
}

// ---- Straight wisps: an arc that ends vertically, and a tail that bends outwards a little
//
// They lie in the plane of `out` and the vertical, in which the head is an ellipse. The arc is as
// near to the scalp as the rows below it allow.

typedef struct arc {
    ss_pose root;
    double length, angle;   // m, rad from the vertical at the root
    double x, y, radius;    // m: centre, along `out` and the vertical, and radius
    double inside, outside; // m: radii of the lowest and highest cylinders' surfaces
    double tail;            // m, its length
} arc;

static arc arc_at(const layer *l, const ss_scalp_place *at, double length, double angle,
                  double radius)
{
    arc a = {.length = length * l->row->bent / PIECES, .angle = angle};
    a.tail = length - a.length;
    a.root.turn = ss_head_falling(at, angle);
    a.root.place = above_scalp(at, &a.root.turn, l, radius);
    a.radius = a.length / angle;
    a.x = ss_dot(a.root.place, at->out) - a.radius * cos(angle);
    a.y = a.root.place.y - a.radius * sin(angle);
    a.inside = a.radius - l->extent[0] - radius;
    a.outside = a.radius + l->extent[0] + radius;
    return a;
}

// A point of the tail's curve that runs `out` m outside the centre line, `angle` off the vertical.
// All of these are arcs about one centre.
static double tail_x(const arc *a, double out, double angle)
{
    return a->x + a->radius + 1.0 / FLARE - (1.0 / FLARE - out) * cos(angle);
}

static double tail_y(const arc *a, double out, double angle)
{
    return a->y - (1.0 / FLARE - out) * sin(angle);
}

// Whether the arc and its tail pass above a point.
static bool is_above(const arc *a, double x, double y, double gap)
{
    const double half = a->radius - a->inside, dy = y - a->y;
    return dy >= 0.0 ? hypot(x - a->x, dy) + gap <= a->inside
                     : 1.0 / FLARE + half + gap <= hypot(x - a->x - a->radius - 1.0 / FLARE, dy);
}

static bool is_above_head(const arc *a, const ss_scalp_place *at, double polar)
{
    bool above = true;
    for (int k = 1; k <= SAMPLES && above; k++) {
        const double p = polar + (0.5 * M_PI - polar) * k / SAMPLES;
        above = is_above(a, at->reach * sin(p), SS_HEAD_HEIGHT * cos(p), 0.0);
    }
    return above;
}

static bool is_above_arc(const arc *a, const arc *below)
{
    const double out = below->outside - below->radius;
    bool above = true;
    for (int k = 0; k <= SAMPLES && above; k++) {
        const double p = below->angle * k / SAMPLES, t = FLARE * below->tail * k / SAMPLES;
        above = is_above(a, below->x + below->outside * cos(p), below->y + below->outside * sin(p),
                         LAYER) &&
                is_above(a, tail_x(below, out, t), tail_y(below, out, t), LAYER);
    }
    return above;
}

// The least angle off the scalp with which the arc passes above the head and `count` arcs, or a
// right angle.
static arc lowest_arc(const layer *l, const ss_scalp_place *at, double length, const arc *below,
                      int count, double radius)
{
    const double polar = radians(l->row->polar);
    double lift = 0.0;
    arc a;
    bool above = false;
    while (!above && lift < 0.5 * M_PI) {
        lift += LIFT;
        a = arc_at(l, at, length, at->fall + lift, radius);
        above = is_above_head(&a, at, polar);
        for (int k = 0; k < count && above; k++) {
            above = is_above_arc(&a, &below[k]);
        }
    }
    return a;
}

// Whether the tail of the rod at (out, across) in the wisp clears neck and shoulders.
static bool tail_clears(const ss_world *w, const ss_scalp_place *at, const arc *a, double out,
                        double across)
{
    const ss_vec3 side = ss_cross(ss_vec(0.0, 1.0, 0.0), at->out);
    const double z = ss_dot(a->root.place, side) + across;
    const double length = a->tail * (1.0 + out / a->radius);
    const double turns = length / (1.0 / FLARE - out);
    ss_vec3 x[SAMPLES + 1];
    bool clear = true;
    for (int k = 0; k <= SAMPLES; k++) {
        const double angle = turns * k / SAMPLES;
        x[k] = ss_along(ss_scaled(tail_x(a, out, angle), at->out), z, side);
        x[k].y = tail_y(a, out, angle);
        for (int o = 1; o < w->nobstacles && k > 0 && clear; o++) {
            ss_obstacle_near near;
            clear = !ss_obstacle_within(&w->obstacles[o], &w->obstacles[o].pose, x[k - 1], x[k],
                                        w->radius + ABOVE, &near);
        }
    }
    return clear;
}

// Of the rods at the corners of the wisp.
static bool clears_torso(const ss_world *w, const layer *l, const ss_scalp_place *at, const arc *a)
{
    const double y = l->extent[0], z = l->extent[1];
    return tail_clears(w, at, a, y, z) && tail_clears(w, at, a, y, -z) &&
           tail_clears(w, at, a, -y, z) && tail_clears(w, at, a, -y, -z);
}

// The arc of row `number` at this azimuth, on top of those of the rows before.
static arc place_straight(const ss_world *w, const layer *layers, int number, double azimuth)
{
    arc arcs[ROWS];
    for (int j = 0; j <= number; j++) {
        const layer *l = &layers[j];
        const ss_scalp_place at = ss_head_scalp(radians(l->row->polar), azimuth);
        const double shortest = 0.5 * l->row->length;
        double length = l->row->length * at.reach / SS_HEAD_WIDTH;
        arcs[j] = lowest_arc(l, &at, length, arcs, j, w->radius);
        while (!clears_torso(w, l, &at, &arcs[j]) && length > shortest) {
            length *= SHORTER;
            arcs[j] = lowest_arc(l, &at, length, arcs, j, w->radius);
        }
    }
    return arcs[number];
}

static void make_straight(const ss_world *w, const layer *layers, int number, double azimuth,
                          ss_bundle *b, ss_pose *root)
{
    const arc a = place_straight(w, layers, number, azimuth);
    b->length = a.length + a.tail;
    b->bend = -1.0 / a.radius;
    b->bent = layers[number].row->bent;
    b->tail = FLARE;
    *root = a.root;
}

// ---- Curly wisps

// The helix' axis falls straight; the strand winds about it on the far side of the scalp first, so
// that n1, which points to the axis, points up.
static void make_curly(const ss_world *w, const layer *l, double azimuth, ss_bundle *b,
                       ss_pose *root)
{
    const ss_scalp_place at = ss_head_scalp(radians(l->row->polar), azimuth);
    const double turn = 2.0 * M_PI * CURL_RADIUS;
    const double way = sqrt(CURL_PITCH * CURL_PITCH + turn * turn); // m a turn
    b->twist = 2.0 * M_PI * CURL_PITCH / (way * way);
    b->bend = 2.0 * M_PI * turn / (way * way);
    b->length = l->row->length;
    const ss_mat3 fall = ss_head_falling(&at, at.fall + radians(l->row->lift));
    const double along = CURL_PITCH / way, across = turn / way; // of the tangent
    const ss_vec3 axis = fall.c[0], side = fall.c[2];
    root->turn = (ss_mat3){{ss_along(ss_scaled(along, axis), -across, side), fall.c[1],
                            ss_along(ss_scaled(across, axis), along, side)}};
    root->place = above_scalp(&at, &fall, l, w->radius);
}

// ---- Rows

static double collision_radius(int rods)
{
    return fmin(THICKEST, COLLISION_RADIUS * sqrt((double)FULL_HEAD / rods));
}

// So flat that the wisps of a row fill its circumference where they are nearest to each other.
static double flatness(const row *r, const ss_bundle *b, double radius)
{
    const double half = 0.5 * radians(360.0 - r->open) / r->wisps;
    const double room = FILLED * tan(half) * sin(radians(r->polar)) * SS_HEAD_WIDTH - radius;
    ss_bundle round = *b;
    round.flat = 1.0;
    const double wide = room / ss_bundle_reach(&round, 2);
    return wide > 1.0 ? wide * wide : 1.0;
}

static ss_status make_layer(const ss_hair *hair, const row *r, int rods, const ss_world *w,
                            layer *l, ss_error *e)
{
    l->row = r;
    l->wisp = (ss_bundle){
        .rods = rods,
        .material = ss_material_hair(),
        .pieces = PIECES,
        .bent = PIECES,
        .flat = 1.0,
        .spacing = SPACING * w->radius,
        .jitter = JITTER,
        .unrest = UNREST,
    };
    if (!hair->curly) {
        l->wisp.flat = flatness(r, &l->wisp, w->radius);
    }
    return ss_bundle_extent(&l->wisp, l->extent, e);
}

static ss_status add_wisp(const ss_hair *hair, const layer *layers, int number, int k, int rods,
                          int body, const ss_scene_request *request, ss_random *g, ss_world *w,
                          ss_error *e)
{
    const layer *l = &layers[number];
    ss_bundle b = l->wisp;
    ss_pose root;
    b.rods = rods;
    if (hair->curly) {
        make_curly(w, l, wisp_azimuth(l->row, k), &b, &root);
    } else {
        make_straight(w, layers, number, wisp_azimuth(l->row, k), &b, &root);
    }
    const ss_hair_settings *set = ss_request_settings(request, &ss_hair_defaults);
    const int needed = ss_bundle_segments(b.length, fmax(fabs(b.bend), BENDING), w->radius);
    b.nsegments = set->segments > 0 ? set->segments : needed;
    return ss_bundle_add(w, request->model, &b, body, &root, g, e);
}

// The row with as many of its wisps as are left where nearer to the face there is no hair.
static row open_row(const row *r, double open)
{
    row less = *r;
    if (open > r->open) {
        less.wisps = (int)lround(r->wisps * (360.0 - open) / (360.0 - r->open));
        less.open = open;
    }
    return less;
}

// The rows of this hair; their number of wisps in all.
static int64_t choose_rows(const ss_hair *hair, row rows[ROWS], int *count)
{
    const row *all = hair->curly ? CURLY_ROWS : STRAIGHT_ROWS;
    int64_t wisps = 0;
    *count = hair->curly ? CURLY_COUNT : ROWS;
    for (int j = 0; j < *count; j++) {
        rows[j] = open_row(&all[j], hair->open);
        wisps += rows[j].wisps;
    }
    return wisps;
}

// Rods go to wisps as evenly as they can.
static ss_status add_wisps(const ss_hair *hair, const ss_scene_request *request, int body,
                           ss_world *w, ss_error *e)
{
    row rows[ROWS];
    layer layers[ROWS];
    int count;
    const int64_t wisps = choose_rows(hair, rows, &count);
    const int64_t rods = ss_request_rods(request, hair->rods);
    int64_t number = 0;
    ss_random g = ss_random_seeded(request->seed);
    ss_status status = SS_OK;
    for (int j = 0; j < count && status == SS_OK; j++) {
        status = make_layer(hair, &rows[j], (int)((rods + wisps - 1) / wisps), w, &layers[j], e);
        for (int k = 0; k < rows[j].wisps && status == SS_OK; k++, number++) {
            const int64_t here = rods * (number + 1) / wisps - rods * number / wisps;
            status = add_wisp(hair, layers, j, k, (int)here, body, request, &g, w, e);
        }
    }
    return status;
}

// Nothing is settled here: hair that rested above the head would need natural curvatures of 100/m
// to carry its weight, and it buckles. It has the shape it starts in and falls onto the head.
ss_status ss_hair_build(const ss_hair *hair, const ss_scene_request *request, ss_world *w,
                        ss_step_options *options, ss_error *e)
{
    int body;
    ss_status status = ss_request_check(request, e);
    if (status != SS_OK) {
        return status;
    }
    const ss_friction mu = ss_request_friction(request, hair->friction);
    w->radius = collision_radius(ss_request_rods(request, hair->rods));
    w->mu = mu.strand;
    w->drag = SS_HEAD_DRAG;
    options->margin = MARGIN * w->radius;
    status = ss_head_add(w, &hair->head, mu.obstacle, &body, e);
    return status == SS_OK ? add_wisps(hair, request, body, w, e) : status;
}
