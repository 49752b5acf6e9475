// strands/scenes/coils.c -- tight coils [S23].
//
//     coil            a coil that is deformed and let go, without gravity
//     hairball-curly  coils on a ball that is given a twirl
#include "strands/scenes/props.h"
#include "strands/shape.h"

#include <string.h>

#define VERTICES 101
#define RISE     0.001              // m, a vertex
#define ANGLE    1.2566370614359172 // rad, a vertex: 0.4 pi

// Each scene takes some of these.
typedef struct settings {
    double compress, jitter; // 1, mm
    int straighten;
    double cover; // of the ball's surface
    double coil;  // mm, radius
} settings;

// ---- coil
//
// v_0 = (0, 1.1, 0), v_1 = (0, 1, 0), v_{k+2} = (0.5 cos 0.4 pi k, -0.1 k, 0.5 sin 0.4 pi k) cm, k
// = 0 .. 98, three of which stay where they are. The others are, in this order, drawn out along -y
// at their natural lengths with noise of 1 um, multiplied in x, and moved by up to `jitter` in each
// coordinate. Material frames are carried from each edge of the coil to its place by the smallest
// rotation; from edge to edge they turn by half a turn at most.

#define PINS   3
#define RADIUS 0.005 // m, of the coil
#define TURN   6.28318530717958647692
#define NOISE  1e-6 // m, of a straightened coil

static const settings COIL = {.compress = 1.0};
static const char *const NO_YES[] = {"no", "yes", NULL};
static const ss_key COIL_KEYS[] = {
    SS_REAL_KEY("compress", compress, 0.0, 10.0),
    SS_REAL_KEY("jitter", jitter, 0.0, 100.0),
    SS_CHOICE_KEY("straighten", straighten, NO_YES),
    {.name = NULL},
};

static void make_coil(ss_vec3 *x)
{
    x[0] = ss_vec(0.0, 0.011, 0.0);
    x[1] = ss_vec(0.0, 0.010, 0.0);
    for (int k = 0; k + 2 < VERTICES; k++) {
        x[k + 2] = ss_vec(RADIUS * cos(ANGLE * k), -RISE * k, RADIUS * sin(ANGLE * k));
    }
}

// Returns a place within `most` of 0 in each coordinate.
static ss_vec3 random_offset(ss_random *g, double most)
{
    const double x = ss_random_between(g, -most, most), y = ss_random_between(g, -most, most);
    return ss_vec(x, y, ss_random_between(g, -most, most));
}

static void deform(const settings *set, uint64_t seed, const ss_vec3 *rest, ss_vec3 *x)
{
    ss_random g = ss_random_seeded(seed);
    double drawn = 0.0;
    for (int i = 0; i < VERTICES; i++) {
        x[i] = rest[i];
        if (i < PINS) {
            continue;
        }
        drawn += ss_length(ss_minus(rest[i], rest[i - 1]));
        if (set->straighten) {
            x[i] = ss_along(rest[PINS - 1], -drawn, ss_vec(0.0, 1.0, 0.0));
            x[i] = ss_plus(x[i], random_offset(&g, NOISE));
        }
        x[i].x *= set->compress;
        if (set->jitter > 0.0) {
            x[i] = ss_plus(x[i], random_offset(&g, 1e-3 * set->jitter));
        }
    }
}

// Finds theta of the material frames of x, which are those of the coil, carried edge by edge.
static void carry_frames(ss_strand_design *coil, const ss_vec3 *x, double *theta)
{
    ss_mat3 rest[VERTICES - 1], now[VERTICES - 1];
    coil->vertices = x;
    ss_shape_frames(coil, SS_SHAPE_NATURAL, VERTICES, coil->rest, rest);
    ss_shape_frames(coil, SS_SHAPE_START, VERTICES, x, now);
    for (int j = 0; j < VERTICES - 1; j++) {
        const ss_vec3 t = now[j].c[0], m1 = ss_transported(rest[j].c[0], t, rest[j].c[1]);
        const double angle = atan2(ss_dot(m1, now[j].c[2]), ss_dot(m1, now[j].c[1]));
        theta[j] = j > 0 ? angle + TURN * rint((theta[j - 1] - angle) / TURN) : angle;
    }
}

static ss_status build_coil(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                            ss_error *e)
{
    const double rest_theta[VERTICES - 1] = {0.0};
    double theta[VERTICES - 1];
    ss_vec3 rest[VERTICES], x[VERTICES];
    make_coil(rest);
    deform(request->settings, request->seed, rest, x);
    ss_strand_design coil = {.material = {.density = 1300.0,
                                          .radius = 0.001,
                                          .ellipticity = 1.0,
                                          .young = 0.39e9,
                                          .poisson = 0.48,
                                          .stretch = 1.0},
                             .nvertices = VERTICES,
                             .rest = rest};
    carry_frames(&coil, x, theta);
    coil.theta = theta;
    coil.rest_theta = rest_theta;
    const ss_pose home = ss_pose_identity();
    w->gravity = ss_vec(0.0, 0.0, 0.0);
    options->contacts = false;
    // The scene is about whether a step of this size is survived; energy may rise in the first
    // ones.
    options->dt_min = options->dt;
    options->explosion = 0.0;
    return ss_scene_add_strand(request, &coil, 0, &home, w, e);
}

const ss_scene ss_scene_coil = {
    .name = "coil",
    .model = "lifted-curls",
    .shows = "a tight coil, compressed, jittered or straightened, that springs back",
    .reference = "[S23]",
    .rods = 1,
    .steps = 300,
    .dt = 1.0 / 30.0,
    SS_SCENE_KEYS(COIL_KEYS, COIL),
    .build = build_coil,
};

// ---- hairball-curly
//
// Each wisp is a coil of 101 vertices along the normal of its place, wisps being a spiral of evenly
// spread places over the ball, or over a share of it about the x axis; the ball turns about y by
// half a turn and rests. Wisps stand for all hair: the section of a wisp is that of the talk's 2000
// (its mean from root to tip) divided among those that a whole ball would have. Contacts keep wisps
// a millimetre apart, half of it from 6000 on.

#define BALL    0.1525 // m
#define LEAD    0.001  // m, the first edge
#define STEM    0.003  // m, from there to the first vertex of the coil
#define TALK    2000.0
#define SECTION 5.1667e-6 // m^2: mean of r^2, r from 5 to 1 mm over sqrt 2
#define NEAR    5e-4      // m, radius of contacts
#define MANY    6000.0    // wisps on a ball, from which it is half
// The ball makes half a turn in a second.
static const ss_profile TWIRLING = {
    .kind = SS_PROFILE_MOVE, .size = 3.141592653589793, .period = 1.0, .start = 0.1};

static const settings CURLY = {.cover = 1.0, .coil = 5.0};
static const ss_key CURLY_KEYS[] = {
    SS_REAL_KEY("cover", cover, 1e-3, 1.0),
    SS_REAL_KEY("coil", coil, 0.1, 100.0),
    {.name = NULL},
};

// Makes a wisp along -y, from 0 on.
static void make_wisp(double radius, ss_vec3 *x)
{
    x[0] = ss_vec(0.0, 0.0, 0.0);
    x[1] = ss_vec(0.0, -LEAD, 0.0);
    for (int k = 0; k + 2 < VERTICES; k++) {
        x[k + 2] =
            ss_vec(radius * cos(ANGLE * k), -LEAD - STEM - RISE * k, radius * sin(ANGLE * k));
    }
}

// Returns place k of n, `above` the ball; -y is away from it.
static ss_pose root_of(int k, int n, double cover, double above)
{
    const double x = 1.0 - 2.0 * cover * (k + 0.5) / n, across = sqrt(1.0 - x * x);
    const ss_vec3 out =
        ss_vec(x, across * cos(SS_GOLDEN_ANGLE * k), across * sin(SS_GOLDEN_ANGLE * k));
    const ss_vec3 side = ss_vec(0.0, -sin(SS_GOLDEN_ANGLE * k), cos(SS_GOLDEN_ANGLE * k));
    const ss_vec3 in = ss_scaled(-1.0, out);
    return (ss_pose){{{side, in, ss_cross(side, in)}}, ss_scaled(BALL + above, out)};
}

static ss_status add_wisps(const ss_scene_request *request, int body, ss_world *w, ss_error *e)
{
    const settings *set = request->settings;
    const int wisps = request->rods;
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
        status = ss_scene_add_strand(request, &wisp, body, &home, w, e);
    }
    return status;
}

static ss_status build_curly(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                             ss_error *e)
{
    const settings *set = request->settings;
    w->radius = request->rods / set->cover < MANY ? NEAR : 0.5 * NEAR;
    w->mu = request->mu;
    // A step is a frame, as in the talk: nothing is tried again.
    options->dt_min = options->dt;
    options->reach = 0.0;
    options->explosion = 0.0;
    int body;
    const ss_status status = ss_ball_add(w, BALL, &TWIRLING, request->mu_obstacle, &body, e);
    return status == SS_OK ? add_wisps(request, body, w, e) : status;
}

const ss_scene ss_scene_hairball_curly = {
    .name = "hairball-curly",
    .model = "lifted-curls",
    .shows = "tight coils on a ball that is twirled: few stand apart, many are interlocked",
    .reference = "[S23]",
    .rods = 2000,
    .steps = 60,
    .dt = 1.0 / 30.0,
    .mu = 0.3,
    .mu_obstacle = 0.5,
    SS_SCENE_KEYS(CURLY_KEYS, CURLY),
    .build = build_curly,
};
