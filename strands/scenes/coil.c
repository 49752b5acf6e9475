// strands/scenes/coil.c -- a tight coil that is deformed and let go, without gravity [S23].
//
// v_0 = (0, 1.1, 0), v_1 = (0, 1, 0), v_{k+2} = (0.5 cos 0.4 pi k, -0.1 k, 0.5 sin 0.4 pi k) cm, k
// = 0 .. 98, three of which stay where they are. The others are, in this order, drawn out along -y
// at their natural lengths with noise of 1 um, multiplied in x, and moved by up to `jitter` in each
// coordinate. Material frames are carried from each edge of the coil to its place by the smallest
// rotation; from edge to edge they turn by half a turn at most.
#include "strands/geometry.h"
#include "strands/scenes/request.h"
#include "strands/scenes/scenes.h"
#include "strands/shape.h"
#include "base/random.h"

#define VERTICES 101
#define PINS     3
#define RADIUS   0.005              // m, of the coil
#define RISE     0.001              // m, a vertex
#define ANGLE    1.2566370614359172 // rad, a vertex: 0.4 pi
#define TURN     6.28318530717958647692
#define NOISE    1e-6 // m, of a straightened coil

typedef struct settings {
    double compress, jitter; // 1, mm
    int straighten;
} settings;

static const settings DEFAULTS = {.compress = 1.0};
static const char *const NO_YES[] = {"no", "yes", NULL};
static const ss_key KEYS[] = {
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

// Within `most` of 0 in each coordinate.
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

// theta of the material frames of x, which are those of the coil, carried edge by edge.
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

static ss_status build(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                       ss_error *e)
{
    const ss_status status = ss_request_check_one_rod(request, e);
    if (status != SS_OK) {
        return status;
    }
    const double rest_theta[VERTICES - 1] = {0.0};
    double theta[VERTICES - 1];
    ss_vec3 rest[VERTICES], x[VERTICES];
    make_coil(rest);
    deform(ss_request_settings(request, &DEFAULTS), request->seed, rest, x);
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
    // Whether a step of this size is survived; energy may rise in the first ones.
    options->dt_min = options->dt;
    options->explosion = 0.0;
    int number;
    return ss_world_add_strand(w, request->model, &coil, 0, &home, &number, e);
}

const ss_scene ss_scene_coil = {
    .name = "coil",
    .model = "lifted-curls",
    .shows = "a tight coil, compressed, jittered or straightened, that springs back",
    .reference = "[S23]",
    .rods = 1,
    .steps = 300,
    .dt = 1.0 / 30.0,
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .build = build,
};
