// strands/scenes/pony.c -- a tight ponytail on a head that turns from side to side.
//
// The strands leave a tie at the back of the head side by side and fall in parallel curves. They
// start at rest, except for natural curvatures: some 2/m at random, without which the bundle moves
// as one body and hardly a contact is active, and up to 4/m towards the middle, as in hair that has
// been tied, without which it opens, and loses half of its contacts.
//
// It is not as bent as a ponytail at its tie, whose curvatures of 22, 22 and 4/m over three eighths
// of its length cannot be had: parallel curves of more than one bend before a straight tail have
// pieces of unequal length, and the elements of a strand are equal (bundle.h). One bend of 22/m
// over the first of five pieces could be had, with 28 segments; over 200 steps of 334 strands it
// leaves 6 % of the steps above the tolerance, for 2 % of the bend here, 5.3/m over three of five.
#include <string.h>

#include "strands/scenes/bundle.h"
#include "strands/scenes/head.h"
#include "strands/scenes/request.h"
#include "strands/scenes/scenes.h"

// With 55 um the bundle would be a millimetre wide.
#define COLLISION_RADIUS 0.0005 // m
// With 2.06 and 0.02 every strand begins in contact with its neighbours, in 31 thousand places.
#define SPACING 2.2 // collision radii
#define JITTER  0.08
#define MARGIN  0.2  // collision radii
#define LENGTH  0.25 // m
#define BEND    -5.3
#define PIECES  5 // as many as the default model has elements
#define BENT    3

typedef struct settings {
    // By default half as many again as chords within half a radius need: fewer contacts would hold
    // the bundle
    int segments;
    double unrest, gather; // 1/m
    double motion;         // rad the head turns to either side
    double period;         // s
} settings;

static const settings DEFAULTS = {
    .segments = 18, .unrest = 2.0, .gather = 4.0, .motion = 0.6, .period = 1.0};
static const ss_key KEYS[] = {
    SS_INTEGER_KEY("segments", segments, 3, 4096), SS_REAL_KEY("unrest", unrest, 0.0, 100.0),
    SS_REAL_KEY("gather", gather, 0.0, 100.0),     SS_REAL_KEY("motion", motion, 0.0, 3.0),
    SS_REAL_KEY("period", period, 0.01, 1000.0),   {.name = NULL},
};

static const char *pony_key_needs(const void *set, const char *key)
{
    const bool still = ((const settings *)set)->motion == 0.0;
    return still && strcmp(key, "period") == 0 ? "a motion above 0" : NULL;
}

#define TIE_POLAR 1.2   // rad from the crown
#define TIE_GAP   0.004 // m from the scalp to the lowest root

// At the back of the head, the tangent turned so that the tail hangs vertically after its bend.
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
    const settings *set = ss_request_settings(request, &DEFAULTS);
    const ss_bundle tail = {
        .rods = ss_request_rods(request, ss_scene_pony.rods),
        .material = ss_material_hair(),
        .length = LENGTH,
        .pieces = PIECES,
        .bent = BENT,
        .bend = BEND,
        .flat = 1.0,
        .spacing = SPACING * COLLISION_RADIUS,
        .jitter = JITTER,
        .unrest = set->unrest,
        .gather = set->gather,
        .nsegments = set->segments,
    };
    ss_random g = ss_random_seeded(request->seed);
    const ss_pose root = tie(ss_bundle_reach(&tail, 1));
    return ss_bundle_add(w, request->model, &tail, body, &root, &g, e);
}

static ss_status build(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                       ss_error *e)
{
    ss_status status = ss_request_check(request, e);
    if (status != SS_OK) {
        return status;
    }
    const ss_friction mu = ss_request_friction(request, (ss_friction){0.3, 0.5});
    w->radius = COLLISION_RADIUS;
    w->mu = mu.strand;
    w->drag = SS_HEAD_DRAG;
    options->margin = MARGIN * COLLISION_RADIUS;
    ss_motion head = ss_motion_still();
    head.axis = ss_vec(0.0, 1.0, 0.0);
    const settings *set = ss_request_settings(request, &DEFAULTS);
    head.angle =
        (ss_profile){.kind = SS_PROFILE_OSCILLATE, .size = set->motion, .period = set->period};
    int body;
    status = ss_head_add(w, &head, mu.obstacle, &body, e);
    if (status == SS_OK) {
        status = add_tail(request, body, w, e);
    }
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
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .key_needs = pony_key_needs,
    .build = build,
};
