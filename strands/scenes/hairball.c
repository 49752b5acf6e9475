// strands/scenes/hairball.c -- straight hair on the upper half of a ball that turns once [J20].
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
#include "strands/scenes/ball.h"
#include "strands/scenes/scenes.h"
#include "strands/scenes/thin_hair.h"
#include "base/random.h"

#define BALL    0.05   // m, radius
#define CONTACT 400e-6 // m, radius of contacts
#define LENGTH  0.2    // m
#define PIECES  20
#define LIFT    0.5               // rad between a root's tangent and the ball
#define BEND    18.0              // 1/m, of the start: less than the 20 of the ball
#define GOLDEN  2.399963229728653 // rad
// A whole turn in 4 s.
static const ss_profile TURNING = {
    .kind = SS_PROFILE_MOVE, .size = 6.283185307179586, .period = 4.0, .start = 0.5};

typedef struct settings {
    int vertices;
    double unrest; // 1/m
    double share;  // of the circle about the axis
    double stretch;
    int looks;
} settings;

static const settings DEFAULTS = {.vertices = 12,
                                  .unrest = 6.0,
                                  .share = 1.0,
                                  .stretch = SS_THIN_STRETCH,
                                  .looks = SS_THIN_LOOKS};
static const ss_key KEYS[] = {
    SS_INTEGER_KEY("vertices", vertices, 4, 4096),
    SS_REAL_KEY("unrest", unrest, 0.0, 100.0),
    SS_REAL_KEY("share", share, 0.001, 1.0),
    SS_THIN_STRETCH_KEY,
    SS_THIN_LOOKS_KEY,
    {.name = NULL},
};

// Place k of n on the upper half, or on its share. n0 leaves the ball by LIFT, down the meridian;
// bending about n2 turns n0 towards n1, which is the ball's side.
static ss_pose root_of(int k, int n, double share, double above)
{
    const double up = 1.0 - (k + 0.5) / n, out = sqrt(1.0 - up * up);
    const double turns = GOLDEN * k, angle = share < 1.0 ? share * fmod(turns, 2.0 * M_PI) : turns;
    const double c = cos(angle), s = sin(angle);
    const ss_vec3 normal = ss_vec(out * c, up, out * s);
    const ss_vec3 down = ss_vec(up * c, -out, up * s);
    const ss_vec3 n0 = ss_along(ss_scaled(cos(LIFT), down), sin(LIFT), normal);
    const ss_vec3 n1 = ss_along(ss_scaled(sin(LIFT), down), -cos(LIFT), normal);
    return (ss_pose){{{n0, n1, ss_cross(n0, n1)}}, ss_scaled(BALL + above, normal)};
}

// The curvatures of strand k of n: BEND until it hangs. The natural ones are random alone.
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

static ss_status add_hair(const ss_scene_request *request, const settings *set, int body,
                          ss_world *w, ss_error *e)
{
    const int rods = ss_request_rods(request, ss_scene_hairball.rods);
    ss_random g = ss_random_seeded(request->seed);
    ss_status status = SS_OK;
    for (int k = 0; k < rods && status == SS_OK; k++) {
        double style[PIECES][3], unrest[PIECES][3];
        bend(k, rods, set->unrest, &g, style, unrest);
        const ss_strand_design hair = {.length = LENGTH,
                                       .material = ss_thin_hair(set->stretch),
                                       .npieces = PIECES,
                                       .style = (const double(*)[3])style,
                                       .unrest = (const double(*)[3])unrest,
                                       .nsegments = set->vertices - 1};
        const ss_pose root = root_of(k, rods, set->share, 1.01 * w->radius);
        int number;
        status = ss_world_add_strand(w, request->model, &hair, body, &root, &number, e);
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
    const settings *set = ss_request_settings(request, &DEFAULTS);
    double mu;
    int body;
    ss_thin_contacts(request, set->looks, w, options, &mu);
    w->radius = CONTACT;
    status = ss_ball_add(w, BALL, &TURNING, mu, &body, e);
    return status == SS_OK ? add_hair(request, set, body, w, e) : status;
}

const ss_scene ss_scene_hairball = {
    .name = "hairball",
    .model = "der:bending=two-frame",
    .shows = "straight hair, 1000 strands of 40 free dofs, on the upper half of a ball that turns",
    .reference = "[J20] Table 4-1",
    .rods = 1000,
    .steps = 5000,
    .dt = 0.001,
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .build = build,
};
