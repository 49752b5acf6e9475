// strands/scenes/hairball_curly.c -- tight coils on a ball that is given a twirl [S23].
//
// Each wisp is a coil of 101 vertices along the normal of its place, wisps being a spiral of evenly
// spread places over the ball, or over a share of it about the x axis; the ball turns about y by
// half a turn and rests. Wisps stand for all hair: the section of a wisp is that of the talk's 2000
// (its mean from root to tip) divided among those that a whole ball would have. Contacts keep wisps
// a millimetre apart, half of it from 6000 on.
#include "strands/scenes/ball.h"
#include "strands/scenes/request.h"
#include "strands/scenes/scenes.h"

#define VERTICES 101
#define BALL     0.1525             // m
#define RISE     0.001              // m, a vertex
#define ANGLE    1.2566370614359172 // rad, a vertex: 0.4 pi
#define LEAD     0.001              // m, the first edge
#define STEM     0.003              // m, from there to the first vertex of the coil
#define TALK     2000.0
#define SECTION  5.1667e-6         // m^2: mean of r^2, r from 5 to 1 mm over sqrt 2
#define NEAR     5e-4              // m, radius of contacts
#define MANY     6000.0            // wisps on a ball, from which it is half
#define GOLDEN   2.399963229728653 // rad
// Half a turn in a second.
static const ss_profile TWIRLING = {
    .kind = SS_PROFILE_MOVE, .size = 3.141592653589793, .period = 1.0, .start = 0.1};

typedef struct settings {
    int wisps;
    double cover; // of the ball's surface
    double coil;  // mm, radius
} settings;

static const settings DEFAULTS = {.cover = 1.0, .coil = 5.0};
static const ss_key KEYS[] = {
    SS_INTEGER_KEY("wisps", wisps, 1, 1000000),
    SS_REAL_KEY("cover", cover, 1e-3, 1.0),
    SS_REAL_KEY("coil", coil, 0.1, 100.0),
    {.name = NULL},
};

// Along -y, from 0 on.
static void make_wisp(double radius, ss_vec3 *x)
{
    x[0] = ss_vec(0.0, 0.0, 0.0);
    x[1] = ss_vec(0.0, -LEAD, 0.0);
    for (int k = 0; k + 2 < VERTICES; k++) {
        x[k + 2] =
            ss_vec(radius * cos(ANGLE * k), -LEAD - STEM - RISE * k, radius * sin(ANGLE * k));
    }
}

// Place k of n, `above` the ball; -y is away from it.
static ss_pose root_of(int k, int n, double cover, double above)
{
    const double x = 1.0 - 2.0 * cover * (k + 0.5) / n, across = sqrt(1.0 - x * x);
    const ss_vec3 out = ss_vec(x, across * cos(GOLDEN * k), across * sin(GOLDEN * k));
    const ss_vec3 side = ss_vec(0.0, -sin(GOLDEN * k), cos(GOLDEN * k));
    const ss_vec3 in = ss_scaled(-1.0, out);
    return (ss_pose){{{side, in, ss_cross(side, in)}}, ss_scaled(BALL + above, out)};
}

static ss_status add_wisps(const ss_scene_request *request, const settings *set, int wisps,
                           int body, ss_world *w, ss_error *e)
{
    ss_vec3 wisp_at[VERTICES], x[VERTICES];
    const ss_strand_design wisp = {.material = {.density = 65.0,
                                                .radius = sqrt(SECTION * TALK * set->cover / wisps),
                                                .ellipticity = 1.0,
                                                .young = 0.06e9,
                                                .poisson = -0.5, // G = E
                                                .stretch = 1.0},
                                   .nvertices = VERTICES,
                                   .vertices = x};
    ss_status status = SS_OK;
    const ss_pose home = ss_pose_identity();
    make_wisp(1e-3 * set->coil, wisp_at);
    for (int k = 0; k < wisps && status == SS_OK; k++) {
        const ss_pose root = root_of(k, wisps, set->cover, 1.01 * w->radius);
        for (int i = 0; i < VERTICES; i++) {
            x[i] = ss_pose_point(&root, wisp_at[i]);
        }
        int number;
        status = ss_world_add_strand(w, request->model, &wisp, body, &home, &number, e);
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
    const ss_friction mu = ss_request_friction(request, (ss_friction){0.3, 0.5});
    const int own = set->wisps > 0 ? set->wisps : ss_scene_hairball_curly.rods;
    const int wisps = ss_request_rods(request, own);
    w->radius = wisps / set->cover < MANY ? NEAR : 0.5 * NEAR;
    w->mu = mu.strand;
    // A step is a frame, as in the talk: nothing is tried again.
    options->dt_min = options->dt;
    options->reach = 0.0;
    options->explosion = 0.0;
    int body;
    status = ss_ball_add(w, BALL, &TWIRLING, mu.obstacle, &body, e);
    return status == SS_OK ? add_wisps(request, set, wisps, body, w, e) : status;
}

const ss_scene ss_scene_hairball_curly = {
    .name = "hairball-curly",
    .model = "lifted-curls",
    .shows = "tight coils on a ball that is twirled: few stand apart, many are interlocked",
    .reference = "[S23]",
    .rods = 2000,
    .steps = 60,
    .dt = 1.0 / 30.0,
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .build = build,
};
