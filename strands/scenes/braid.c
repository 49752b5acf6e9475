// strands/scenes/braid.c -- a bun and the braid that hangs from it, one strand [H06].
//
// The first part is a coil of two turns behind the head, 200 times as stiff as the rest, which
// hangs. The body bobs up and down as one that runs, and the head turns with it. Of the motion of
// the body the forces lose the share `local`.
#include "strands/world.h"
#include "strands/scenes/growth.h"
#include "strands/scenes/head.h"
#include "strands/scenes/request.h"
#include "strands/scenes/scenes.h"

#define BUN     20 // links
#define TURNS   2.0
#define BRAID   24
#define INNER   0.014 // m, radius of the bun where it begins
#define OUTER   0.038
#define LINK    0.016 // m, of the braid
#define STIFFER 200.0
#define THICK   0.006 // m
#define DRAG    0.05  // kg/(m s): a braid is slowed in two thirds of a second

typedef struct settings {
    double local;
} settings;

static const settings DEFAULTS = {0.5};
static const ss_key KEYS[] = {
    SS_REAL_KEY("local", local, 0.0, 1.0),
    {.name = NULL},
};

// A place of the spiral of the bun, in its plane behind the head.
static ss_vec3 on_bun(int k)
{
    const double share = (double)k / BUN, angle = 2.0 * M_PI * TURNS * share;
    const double radius = INNER + (OUTER - INNER) * share;
    return ss_vec(-radius * cos(angle), 0.03 + radius * sin(angle), -0.112 - 0.012 * share);
}

// A spiral outwards, then down.
static ss_growth make(void)
{
    const ss_strand_part stiff = {1.0, 1.0, STIFFER, STIFFER, 1.0},
                         soft = {1.0, 1.0, 1.0, 1.0, 1.0};
    ss_growth g = ss_growth_seed(on_bun(0));
    int from = 0;
    for (int k = 0; k < BUN; k++) {
        from = ss_growth_add(&g, from, ss_minus(on_bun(k + 1), on_bun(k)), stiff);
    }
    for (int k = 0; k < BRAID; k++) {
        const double back = fmax(0.35 - 0.1 * k, 0.05);
        from = ss_growth_add(&g, from, ss_scaled(LINK, ss_unit(ss_vec(0.0, -1.0, -back))), soft);
    }
    return g;
}

static ss_status add_braid(const ss_scene_request *request, int head, int hips, ss_world *w,
                           ss_error *e)
{
    const settings *set = ss_request_settings(request, &DEFAULTS);
    const ss_growth braid = make();
    const ss_material plaited = ss_growth_material(300.0, THICK, 4e5, 0.03);
    int number;
    const ss_status status = ss_growth_plant(&braid, &plaited, request, head, w, &number, e);
    return status == SS_OK && set->local > 0.0
               ? ss_world_scale_motion(w, number, 1.0, set->local, hips, e)
               : status;
}

static ss_status build(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                       ss_error *e)
{
    ss_status status = ss_request_check_one_rod(request, e);
    if (status != SS_OK) {
        return status;
    }
    const ss_friction mu = ss_request_friction(request, (ss_friction){0.3, 0.3});
    ss_motion run = ss_motion_still();
    run.axis = run.direction = ss_vec(0.0, 1.0, 0.0);
    run.shift = (ss_profile){.kind = SS_PROFILE_OSCILLATE, .size = 0.04, .period = 0.36};
    ss_motion turning = run;
    turning.angle = (ss_profile){.kind = SS_PROFILE_OSCILLATE, .size = 0.3, .period = 1.2};
    int hips, head;
    w->radius = THICK;
    w->drag = DRAG;
    w->mu = mu.strand;
    options->margin = 0.2 * THICK;
    status = ss_world_add_body(w, &run, &hips, e);
    status = status == SS_OK ? ss_head_add(w, &turning, mu.obstacle, &head, e) : status;
    return status == SS_OK ? add_braid(request, head, hips, w, e) : status;
}

const ss_scene ss_scene_braid = {
    .name = "braid",
    .model = "oriented-strands",
    .shows = "a stiff bun and a soft braid on a head that bobs and turns",
    .reference = "[H06] Figure 7",
    .rods = 1,
    .steps = 480,
    .dt = 1.0 / 120.0,
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .build = build,
};
