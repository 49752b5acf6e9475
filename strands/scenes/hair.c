// strands/scenes/hair.c -- heads of hair: those of [D11], and one of [H06].
//
// Wisps leave the scalp in rows around the head, each in the plane of its place's normal and the
// vertical. A straight wisp is an arc that lies on the scalp, or on the rows below it, as closely
// as it can without touching, and a tail that bends outwards a little, down to the shoulders or
// past them (props.h). Curly wisps are helices about straight axes that fan out from the head.
// Either way the hair starts apart, in the shape that is natural to it, and falls: it lies on the
// head after a tenth of a second. Strands stand for their neighbours, and are the thicker the fewer
// there are, so that few lie as densely as many.
#include "strands/scenes/props.h"

#include <string.h>

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

// Each scene takes some of these.
typedef struct settings {
    int segments;          // of a strand; 0: as many as its cylinders need to follow its curls
    double time_scale;     // of the motion of the head
    double unrest, gather; // 1/m
    double motion;         // rad the head turns to either side
    double period;         // s
} settings;

typedef struct hair {
    ss_motion head;
    bool curly;
    double open; // deg of azimuth without hair about the face; 0: what leaves the face free
} hair;

typedef struct row {
    int wisps;
    double polar;  // deg, of the roots
    double open;   // deg of azimuth without hair, about the face
    double length; // m, at the ears; straight hair is longer where the head is
    int bent;      // straight hair: pieces of the arc
    double lift;   // curly hair: deg off the way down the scalp
} row;

// The rows are listed from the innermost to the outermost.
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

// The wisps of a row, as they are placed.
typedef struct layer {
    const row *row;
    ss_bundle wisp;   // of its rods
    double extent[2]; // m, along n1 and n2
} layer;

static double radians(double degrees)
{
    return degrees * M_PI / 180.0;
}

// Returns the azimuth of wisp k: evenly over what the face leaves free.
static double wisp_azimuth(const row *r, int k)
{
    const double free = 360.0 - r->open;
    return radians(0.5 * r->open + ((double)k + 0.5) * free / r->wisps);
}

// Returns the centre of a wisp's roots: so far off the scalp that they clear it, in the plane of n1
// and n2 of `turn`.
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

// Returns a point of the tail's curve that runs `out` m outside the centre line, `angle` off the
// vertical. All of these are arcs about one centre.
static double tail_x(const arc *a, double out, double angle)
{
    return a->x + a->radius + 1.0 / FLARE - (1.0 / FLARE - out) * cos(angle);
}

static double tail_y(const arc *a, double out, double angle)
{
    return a->y - (1.0 / FLARE - out) * sin(angle);
}

// True if the arc and its tail pass above a point.
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

// Finds the arc at the least angle off the scalp with which it passes above the head and `count`
// arcs, or a right angle.
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

// True if the tail of the rod at (out, across) in the wisp clears neck and shoulders.
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

// True if the rods at the corners of the wisp clear neck and shoulders.
static bool clears_torso(const ss_world *w, const layer *l, const ss_scalp_place *at, const arc *a)
{
    const double y = l->extent[0], z = l->extent[1];
    return tail_clears(w, at, a, y, z) && tail_clears(w, at, a, y, -z) &&
           tail_clears(w, at, a, -y, z) && tail_clears(w, at, a, -y, -z);
}

// Finds the arc of row `number` at this azimuth, on top of those of the rows before.
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

// Returns how flat the wisps of a row are if they fill its circumference where they are nearest to
// each other.
static double flatness(const row *r, const ss_bundle *b, double radius)
{
    const double half = 0.5 * radians(360.0 - r->open) / r->wisps;
    const double room = FILLED * tan(half) * sin(radians(r->polar)) * SS_HEAD_WIDTH - radius;
    ss_bundle round = *b;
    round.flat = 1.0;
    const double wide = room / ss_bundle_reach(&round, 2);
    return wide > 1.0 ? wide * wide : 1.0;
}

static ss_status make_layer(const hair *h, const row *r, int rods, const ss_world *w, layer *l,
                            ss_error *e)
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
    if (!h->curly) {
        l->wisp.flat = flatness(r, &l->wisp, w->radius);
    }
    return ss_bundle_extent(&l->wisp, l->extent, e);
}

static ss_status add_wisp(const hair *h, const layer *layers, int number, int k, int rods, int body,
                          const ss_scene_request *request, ss_random *g, ss_world *w, ss_error *e)
{
    const layer *l = &layers[number];
    ss_bundle b = l->wisp;
    ss_pose root;
    b.rods = rods;
    if (h->curly) {
        make_curly(w, l, wisp_azimuth(l->row, k), &b, &root);
    } else {
        make_straight(w, layers, number, wisp_azimuth(l->row, k), &b, &root);
    }
    const settings *set = request->settings;
    const int needed = ss_bundle_segments(b.length, fmax(fabs(b.bend), BENDING), w->radius);
    b.nsegments = set->segments > 0 ? set->segments : needed;
    return ss_bundle_add(w, request->model, &b, body, &root, g, e);
}

// Returns the row with as many of its wisps as are left where nearer to the face there is no hair.
static row open_row(const row *r, double open)
{
    row less = *r;
    if (open > r->open) {
        less.wisps = (int)lround(r->wisps * (360.0 - open) / (360.0 - r->open));
        less.open = open;
    }
    return less;
}

// Finds the rows of this hair. Returns their number of wisps in all.
static int64_t choose_rows(const hair *h, row rows[ROWS], int *count)
{
    const row *all = h->curly ? CURLY_ROWS : STRAIGHT_ROWS;
    int64_t wisps = 0;
    *count = h->curly ? CURLY_COUNT : ROWS;
    for (int j = 0; j < *count; j++) {
        rows[j] = open_row(&all[j], h->open);
        wisps += rows[j].wisps;
    }
    return wisps;
}

// Rods go to wisps as evenly as they can.
static ss_status add_wisps(const hair *h, const ss_scene_request *request, int body, ss_world *w,
                           ss_error *e)
{
    row rows[ROWS];
    layer layers[ROWS];
    int count;
    const int64_t wisps = choose_rows(h, rows, &count);
    const int64_t rods = request->rods;
    int64_t number = 0;
    ss_random g = ss_random_seeded(request->seed);
    ss_status status = SS_OK;
    for (int j = 0; j < count && status == SS_OK; j++) {
        status = make_layer(h, &rows[j], (int)((rods + wisps - 1) / wisps), w, &layers[j], e);
        for (int k = 0; k < rows[j].wisps && status == SS_OK; k++, number++) {
            const int64_t here = rods * (number + 1) / wisps - rods * number / wisps;
            status = add_wisp(h, layers, j, k, (int)here, body, request, &g, w, e);
        }
    }
    return status;
}

// Nothing is settled here: hair that rested above the head would need natural curvatures of 100/m
// to carry its weight, and it buckles. It has the shape it starts in and falls onto the head.
static ss_status build_hair(const hair *h, const ss_scene_request *request, ss_world *w,
                            ss_step_options *options, ss_error *e)
{
    int body;
    w->radius = collision_radius(request->rods);
    w->mu = request->mu;
    w->drag = SS_HEAD_DRAG;
    options->margin = MARGIN * w->radius;
    const ss_status status = ss_head_add(w, &h->head, request->mu_obstacle, &body, e);
    return status == SS_OK ? add_wisps(h, request, body, w, e) : status;
}

// ---- The scenes

#define BASE .time_scale = 1.0

static const settings HAIR = {BASE};
static const ss_key HAIR_KEYS[] = {
    SS_INTEGER_KEY("segments", segments, 0, 4096),
    {.name = NULL},
};

static ss_status build_free_a(const ss_scene_request *request, ss_world *w,
                              ss_step_options *options, ss_error *e)
{
    const hair h = {.head = ss_motion_swaying(ss_vec(0.0, 1.0, 0.0), 0.8, 0.9)};
    return build_hair(&h, request, w, options, e);
}

const ss_scene ss_scene_free_a = {
    .name = "free-a",
    .model = "super-helix",
    .shows = "long hair, 1920 strands, on a head that turns from side to side",
    .reference = "[D11] Table 1, Free/A",
    .rods = 1920,
    .steps = 500,
    .dt = 0.002,
    .mu = 0.3,
    .mu_obstacle = 0.5,
    SS_SCENE_KEYS(HAIR_KEYS, HAIR),
    .build = build_free_a,
};

static ss_status build_free_b(const ss_scene_request *request, ss_world *w,
                              ss_step_options *options, ss_error *e)
{
    hair h = {.head = ss_motion_swaying(ss_vec(1.0, 0.0, 0.0), 0.5, 1.6)};
    h.head.centre = ss_vec(0.0, -0.12, 0.0); // the top of the neck
    return build_hair(&h, request, w, options, e);
}

const ss_scene ss_scene_free_b = {
    .name = "free-b",
    .model = "super-helix",
    .shows = "long hair, 1920 strands, on a head that leans forwards and backwards",
    .reference = "[D11] Table 1, Free/B",
    .rods = 1920,
    .steps = 500,
    .dt = 0.002,
    .mu = 0.2,
    .mu_obstacle = 0.3,
    SS_SCENE_KEYS(HAIR_KEYS, HAIR),
    .build = build_free_b,
};

static ss_status build_curly(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                             ss_error *e)
{
    const hair h = {.head = ss_motion_swaying(ss_vec(0.0, 1.0, 0.0), 0.8, 0.9), .curly = true};
    return build_hair(&h, request, w, options, e);
}

const ss_scene ss_scene_curly = {
    .name = "curly",
    .model = "super-helix",
    .shows = "curly hair, 1920 strands, on a head that turns from side to side",
    .reference = "[D11] Table 1, Curly",
    .rods = 1920,
    .steps = 500,
    .dt = 0.002,
    .mu = 0.3,
    .mu_obstacle = 0.5,
    SS_SCENE_KEYS(HAIR_KEYS, HAIR),
    .build = build_curly,
};

// ---- turn: what friction does to the hair of a head that turns fast
//
// With --mu 0 the strands pass over each other and spread; with friction they move together and
// come to rest sooner. Hair on the back of the head alone: tips on both sides of a face are a head
// apart whatever they do, and would hide half of it. From 0.34 s, when the head rests, to 0.94 s
// the mean distance of two tips is 18 % less than without friction and the kinetic energy 38 %, for
// 150 strands as for 300.

static ss_status build_turn(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                            ss_error *e)
{
    hair h = {.head = ss_motion_still(), .open = 200.0};
    h.head.axis = ss_vec(0.0, 1.0, 0.0);
    h.head.angle = (ss_profile){.kind = SS_PROFILE_MOVE, .size = 1.3, .period = 0.3, .start = 0.02};
    return build_hair(&h, request, w, options, e);
}

const ss_scene ss_scene_turn = {
    .name = "turn",
    .model = "super-helix",
    .shows = "a fast turn of the head; with --mu 0 the hair spreads more and rests later",
    .reference = "[D11] Figure 8",
    .rods = 150,
    .steps = 500,
    .dt = 0.002,
    .mu = 0.3,
    .mu_obstacle = 0.5,
    SS_SCENE_KEYS(HAIR_KEYS, HAIR),
    .build = build_turn,
};

// ---- long-hair: strands of links, with all of their contacts [H06]
//
// The forces of the strands know of time_scale times the motion of the head.

static const settings LONG = {.segments = 22, BASE};
static const ss_key LONG_KEYS[] = {
    SS_INTEGER_KEY("segments", segments, 3, 4096),
    SS_REAL_KEY("time-scale", time_scale, 0.0, 10.0),
    {.name = NULL},
};

static ss_status build_long(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                            ss_error *e)
{
    const settings *set = request->settings;
    const hair h = {.head = ss_motion_swaying(ss_vec(0.0, 1.0, 0.0), 0.6, 1.0)};
    ss_status status = build_hair(&h, request, w, options, e);
    for (int k = 0; status == SS_OK && set->time_scale != 1.0 && k < w->nstrands; k++) {
        status = ss_world_scale_motion(w, k, set->time_scale, 0.0, 0, e);
    }
    return status;
}

const ss_scene ss_scene_long_hair = {
    .name = "long-hair",
    .model = "oriented-strands",
    .shows = "long hair, 190 strands of 22 links, on a head that turns from side to side",
    .reference = "[H06] Figure 9",
    .rods = 190,
    .steps = 288,
    .dt = 1.0 / 144.0,
    .mu = 0.3,
    .mu_obstacle = 0.5,
    SS_SCENE_KEYS(LONG_KEYS, LONG),
    .build = build_long,
};

// ---- pony: a tight ponytail
//
// The strands leave a tie at the back of the head side by side and fall in parallel curves. They
// start at rest, except for natural curvatures: some 2/m at random, without which the bundle moves
// as one body and hardly a contact is active, and up to 4/m towards the middle, as in hair that has
// been tied, without which it opens, and loses half of its contacts.
//
// It is not as bent as a ponytail at its tie, whose curvatures of 22, 22 and 4/m over three eighths
// of its length cannot be had: parallel curves of more than one bend before a straight tail have
// pieces of unequal length, and the elements of a strand are equal (props.h). One bend of 22/m
// over the first of five pieces could be had, with 28 segments; over 200 steps of 334 strands it
// leaves 6 % of the steps above the tolerance, for 2 % of the bend here, 5.3/m over three of five.

// With 2.06 and 0.02 every strand begins in contact with its neighbours, in 31 thousand places.
// With a collision radius of 55 um the bundle would be a millimetre wide.
#define PONY_SPACING 2.2  // collision radii
#define LENGTH       0.25 // m
#define BEND         -5.3
#define BENT         3

#define TIE_POLAR 1.2   // rad from the crown
#define TIE_GAP   0.004 // m from the scalp to the lowest root

// There are half as many segments again as chords within half a radius need: fewer contacts would
// hold the bundle.
static const settings PONY = {
    .segments = 18, .unrest = 2.0, .gather = 4.0, .motion = 0.6, .period = 1.0};
static const ss_key PONY_KEYS[] = {
    SS_INTEGER_KEY("segments", segments, 3, 4096), SS_REAL_KEY("unrest", unrest, 0.0, 100.0),
    SS_REAL_KEY("gather", gather, 0.0, 100.0),     SS_REAL_KEY("motion", motion, 0.0, 3.0),
    SS_REAL_KEY("period", period, 0.01, 1000.0),   {.name = NULL},
};

static const char *pony_key_needs(const void *set, const char *key)
{
    const bool still = ((const settings *)set)->motion == 0.0;
    return still && strcmp(key, "period") == 0 ? "a motion above 0" : NULL;
}

// Returns a tie at the back of the head, its tangent turned so that the tail hangs vertically after
// its bend.
static ss_pose tie(double reach)
{
    const ss_scalp_place at = ss_head_scalp(TIE_POLAR, M_PI);
    ss_pose root = {.turn = ss_head_falling(&at, fabs(BEND) * LENGTH * BENT / PIECES)};
    const double tilt = ss_length(ss_cross(root.turn.c[0], at.normal));
    root.place = ss_along(at.x, TIE_GAP + reach * tilt, at.normal);
    return root;
}

static ss_status add_tail(const ss_scene_request *request, int body, ss_world *w, ss_error *e)
{
    const settings *set = request->settings;
    const ss_bundle tail = {
        .rods = request->rods,
        .material = ss_material_hair(),
        .length = LENGTH,
        .pieces = PIECES,
        .bent = BENT,
        .bend = BEND,
        .flat = 1.0,
        .spacing = PONY_SPACING * COLLISION_RADIUS,
        .jitter = JITTER,
        .unrest = set->unrest,
        .gather = set->gather,
        .nsegments = set->segments,
    };
    ss_random g = ss_random_seeded(request->seed);
    const ss_pose root = tie(ss_bundle_reach(&tail, 1));
    return ss_bundle_add(w, request->model, &tail, body, &root, &g, e);
}

static ss_status build_pony(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                            ss_error *e)
{
    const settings *set = request->settings;
    w->radius = COLLISION_RADIUS;
    w->mu = request->mu;
    w->drag = SS_HEAD_DRAG;
    options->margin = MARGIN * COLLISION_RADIUS;
    const ss_motion head = ss_motion_swaying(ss_vec(0.0, 1.0, 0.0), set->motion, set->period);
    int body;
    ss_status status = ss_head_add(w, &head, request->mu_obstacle, &body, e);
    status = status == SS_OK ? add_tail(request, body, w, e) : status;
    return status == SS_OK ? ss_world_settle(w, e) : status;
}

const ss_scene ss_scene_pony = {
    .name = "pony",
    .model = "super-helix",
    .shows = "a tight ponytail, 334 strands, on a head that turns from side to side",
    .reference = "[D11] Table 1, Pony",
    .rods = 334,
    .steps = 500,
    .dt = 0.002,
    .mu = 0.3,
    .mu_obstacle = 0.5,
    SS_SCENE_KEYS(PONY_KEYS, PONY),
    .key_needs = pony_key_needs,
    .build = build_pony,
};
