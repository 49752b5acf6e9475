// strands/scenes/bangs.c -- curly bangs that keep their shape under their weight [H06].
//
// Helices that fall before the forehead, parallel to each other, of 15 links each; their natural
// shapes are those that rest under gravity in the shape that they start in. Each stands for a lock.
#include "strands/scenes/head.h"
#include "strands/scenes/request.h"
#include "strands/scenes/scenes.h"

#define SEGMENTS  15
#define CURL      0.007 // m, radius
#define PITCH     0.03  // m a turn
#define TURNS     2.5
#define THICK     0.000120 // m
#define POLAR     0.95     // rad from the crown
#define SPREAD    0.75     // rad of azimuth to either side
#define LIFT      0.2      // rad off the way down the scalp
#define ABOVE     0.002    // m from the scalp to the roots
#define COLLISION 0.0011   // m, of 9 locks

// The curl winds about an axis that falls away from the face, at first on its far side.
static ss_mat3 root_turn(double along, double across)
{
    const ss_scalp_place front = ss_head_scalp(POLAR, 0.0);
    const ss_mat3 fall = ss_head_falling(&front, front.fall + LIFT);
    return (ss_mat3){{ss_along(ss_scaled(along, fall.c[0]), -across, fall.c[2]), fall.c[1],
                      ss_along(ss_scaled(across, fall.c[0]), along, fall.c[2])}};
}

static ss_status add_locks(const ss_scene_request *request, int rods, int body, ss_world *w,
                           ss_error *e)
{
    const double turn = 2.0 * M_PI * CURL, way = sqrt(PITCH * PITCH + turn * turn);
    const double style[1][3] = {
        {2.0 * M_PI * PITCH / (way * way), 0.0, 2.0 * M_PI * turn / (way * way)}};
    ss_strand_design lock = {.length = TURNS * way,
                             .material = ss_material_hair(),
                             .npieces = 1,
                             .style = style,
                             .nsegments = SEGMENTS};
    lock.material.radius = THICK;
    ss_pose root = {.turn = root_turn(PITCH / way, turn / way)};
    ss_status status = SS_OK;
    for (int k = 0; k < rods && status == SS_OK; k++) {
        const double azimuth = SPREAD * (2.0 * (k + 0.5) / rods - 1.0);
        const ss_scalp_place at = ss_head_scalp(POLAR, azimuth);
        int number;
        root.place = ss_along(at.x, ABOVE, at.normal);
        status = ss_world_add_strand(w, request->model, &lock, body, &root, &number, e);
    }
    return status;
}

static ss_status build(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                       ss_error *e)
{
    ss_status status = ss_request_check(request, e);
    if (status != SS_OK) {
        return status;
    }
    const int rods = ss_request_rods(request, ss_scene_bangs.rods);
    const ss_friction mu = ss_request_friction(request, (ss_friction){0.3, 0.5});
    // Curls of nearby azimuths come nearer to each other than their roots are.
    w->radius = COLLISION * fmin(pow((double)ss_scene_bangs.rods / rods, 1.5), 1.0);
    w->mu = mu.strand;
    w->drag = SS_HEAD_DRAG;
    options->margin = 0.2 * w->radius;
    ss_motion head = ss_motion_still();
    int body;
    head.axis = ss_vec(0.0, 1.0, 0.0);
    head.angle = (ss_profile){.kind = SS_PROFILE_OSCILLATE, .size = 0.5, .period = 1.0};
    status = ss_head_add(w, &head, mu.obstacle, &body, e);
    if (status == SS_OK) {
        status = add_locks(request, rods, body, w, e);
    }
    return status == SS_OK ? ss_world_settle(w, e) : status;
}

const ss_scene ss_scene_bangs = {
    .name = "bangs",
    .model = "oriented-strands",
    .shows = "curly bangs that rest in their shape, on a head that turns from side to side",
    .reference = "[H06] Figure 8",
    .rods = 9,
    .steps = 240,
    .dt = 1.0 / 120.0,
    .build = build,
};
