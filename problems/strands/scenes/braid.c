// problems/strands/scenes/braid.c -- a bun and the braid that hangs from it, one strand [H06].
//
// The first part winds once around behind the head and is 200 times as stiff as the rest, which hangs. The body
// bobs up and down as one that runs, and the head turns with it. Of the motion of the body the forces lose the
// share `local`.
#include "problems/strands/posing.h"
#include "problems/strands/scenes/head.h"
#include "problems/strands/scenes/request.h"
#include "problems/strands/scenes/scenes.h"

#define BUN     12 // links
#define BRAID   24
#define LINKS   (BUN + BRAID)
#define RADIUS  0.035 // m, of the bun
#define LINK    0.016 // m, of the braid
#define STIFFER 200.0
#define THICK   0.006 // m

typedef struct settings {
    double local;
} settings;

static const settings DEFAULTS = {0.5};
static const ss_key KEYS[] = {
    SS_REAL_KEY("local", local, 0.0, 1.0),
    {.name = NULL},
};

// A turn of a rising helix about an axis behind the head, then down.
static void make(ss_vec3 *x)
{
    const ss_vec3 middle = ss_vec(0.0, 0.03, -0.125);
    for (int k = 0; k <= BUN; k++) {
        const double angle = 2.0 * M_PI * k / BUN;
        x[k] = ss_plus(middle, ss_vec(RADIUS * sin(angle), RADIUS * cos(angle), -0.0012 * k));
    }
    for (int k = BUN; k < LINKS; k++) {
        const double fall = fmin(0.25 * (k - BUN + 1), 1.0);
        const ss_vec3 way = ss_unit(ss_vec(1.0 - fall, -fall, -0.3));
        x[k + 1] = ss_along(x[k], LINK, way);
    }
}

static ss_status add_braid(const ss_scene_request *request, int head, int hips, ss_world *w,
                           ss_error *e)
{
    const settings *set = ss_request_settings(request, &DEFAULTS);
    ss_vec3 x[LINKS + 1];
    ss_strand_part parts[LINKS];
    make(x);
    for (int k = 0; k < LINKS; k++) {
        const double stiff = k < BUN ? STIFFER : 1.0;
        parts[k] = (ss_strand_part){1.0, 1.0, stiff, stiff, 1.0};
    }
    const ss_strand_design braid = {.material = {.density = 300.0,
                                                 .radius = THICK,
                                                 .ellipticity = 1.0,
                                                 .young = 4e5,
                                                 .poisson = 0.45,
                                                 .relaxation = 0.03,
                                                 .stretch = 1.0},
                                    .nvertices = LINKS + 1,
                                    .vertices = x,
                                    .nparts = LINKS,
                                    .parts = parts};
    const ss_pose root = ss_pose_identity();
    int number;
    const ss_status status =
        ss_world_add_strand(w, request->model, &braid, head, &root, &number, e);
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
    run.shift = (ss_profile){.kind = SS_PROFILE_OSCILLATE, .size = 0.04, .period = 0.6};
    ss_motion turning = run;
    turning.angle = (ss_profile){.kind = SS_PROFILE_OSCILLATE, .size = 0.3, .period = 1.2};
    int hips, head;
    w->radius = THICK;
    w->mu = mu.strand;
    options->margin = 0.2 * THICK;
    status = ss_world_add_body(w, &run, &hips, e);
    status = status == SS_OK ? ss_head_add(w, &turning, mu.obstacle, &head, e) : status;
    status = status == SS_OK ? add_braid(request, head, hips, w, e) : status;
    return status == SS_OK ? ss_world_settle(w, e) : status;
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
