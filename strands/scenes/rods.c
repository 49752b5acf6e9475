// strands/scenes/rods.c -- single rods with known answers: cantilever, release, helix, twist, ring.
//
// Models in the world hold the first edge of a clamped rod, whose free length begins in the middle
// of that edge: there the clamp of these scenes is, at the origin along x, and a rod of n edges has
// those of length L / (n - 1/2), or L / (n - 1) between two clamps. Lifted curls hold two edges,
// and their free length begins behind them. A super-helix begins at the origin.
//
//     cantilever  clamped level, gravity being such that Gamma = w L^3 / EI2: doc/strands.md,
//                 "Reference solutions"
//     release     the same under earth's gravity, without damping: it keeps its energy, of first
//                 order in h
//     helix       a natural helix with its axis downwards, clamped at its top
//     twist       a straight rod between two clamps, of which one turns: torque GJ phi / L, above
//                 8.987 EI / L, too, as an inextensible rod cannot leave its line between clamps
//     ring        both ends in one place: stable to a twist of 2 pi sqrt(3) EI/GJ (Michell)
#include "strands/helix.h"
#include "strands/scenes/props.h"

#include <stdlib.h>
#include <string.h>

#define LENGTH 0.1   // m
#define RADIUS 0.05  // m, of the ring
#define UNEVEN 1e-4  // of a length, by which shapes that are to buckle are off
#define MOST   16385 // vertices

// Every scene takes some of these.
typedef struct settings {
    double gamma;
    double bend1, bend2, twist; // 1/m, natural
    double ellipticity;
    double length, relaxation; // m, s
    double radius, pitch;      // m, of the helix
    double turn, rate;         // rad, rad/s
    double critical;           // of Michell's twist
    int vertices, turns;
} settings;

#define VERTICES(from) SS_INTEGER_KEY("vertices", vertices, from, MOST)

// ---- Rods that are clamped at one end

// Returns how many of the edges or elements, which are equal, the clamp is from where they begin.
static double begin_of(const ss_scene_request *request)
{
    const ss_strand_model *m = request->model->model;
    return m->frame != SS_FRAME_WORLD ? 0.0 : m->clamp_edges > 0.0 ? m->clamp_edges : 0.5;
}

// Adds a natural curve whose clamp has the turn `clamp`.
static ss_status add_curve(const ss_scene_request *request, const settings *set, double length,
                           const double curve[3], const ss_mat3 *clamp, ss_world *w, ss_error *e)
{
    const int n = set->vertices - 1;
    const double style[1][3] = {{curve[0], curve[1], curve[2]}}, before = begin_of(request);
    const double l = length / (n - before);
    const ss_vec3 q = ss_vec(curve[0], curve[1], curve[2]);
    ss_strand_design rod = {.length = n * l,
                            .material = ss_material_hair(),
                            .npieces = 1,
                            .style = style,
                            .nsegments = n};
    rod.material.ellipticity = set->ellipticity;
    rod.material.relaxation = set->relaxation;
    // The frame at the clamp is `clamp`, and the point is the origin.
    const ss_mat3 along = ss_helix_joint_at(q, before * l).turn;
    const ss_mat3 back = {{ss_vec(along.c[0].x, along.c[1].x, along.c[2].x),
                           ss_vec(along.c[0].y, along.c[1].y, along.c[2].y),
                           ss_vec(along.c[0].z, along.c[1].z, along.c[2].z)}};
    ss_pose root = {.turn = ss_mat3_product(clamp, &back)};
    root.place = ss_scaled(-1.0, ss_turned(&root.turn, ss_helix_arc_at(q, before * l).p));
    return ss_scene_add_strand(request, &rod, 0, &root, w, e);
}

static ss_status build_cantilever(const ss_scene_request *request, ss_world *w, ss_error *e)
{
    const settings *set = request->settings;
    const double curve[3] = {set->twist, set->bend1, set->bend2};
    const ss_mat3 level = ss_mat3_identity();
    return add_curve(request, set, set->length, curve, &level, w, e);
}

static const settings CANTILEVER = {
    .gamma = 5.31, .ellipticity = 1.0, .length = LENGTH, .relaxation = 0.05, .vertices = 51};
static const ss_key CANTILEVER_KEYS[] = {
    SS_REAL_KEY("gamma", gamma, 0.0, 1e4),
    VERTICES(4),
    SS_REAL_KEY("length", length, 1e-3, 10.0),
    SS_REAL_KEY("twist", twist, -1e3, 1e3),
    SS_REAL_KEY("bend1", bend1, -1e3, 1e3),
    SS_REAL_KEY("bend2", bend2, -1e3, 1e3),
    SS_REAL_KEY("ellipticity", ellipticity, 0.1, 10.0),
    SS_REAL_KEY("relaxation", relaxation, 0.0, 10.0),
    {.name = NULL},
};

static ss_status cantilever(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                            ss_error *e)
{
    const settings *set = request->settings;
    ss_material m = ss_material_hair();
    m.ellipticity = set->ellipticity;
    const ss_rigidity r = ss_material_rigidity(&m);
    const double L = set->length, gravity = set->gamma * r.bend2 / (r.line_density * L * L * L);
    w->gravity = ss_vec(0.0, -gravity, 0.0);
    options->contacts = false;
    return build_cantilever(request, w, e);
}

static const settings RELEASE = {.ellipticity = 1.0, .length = LENGTH, .vertices = 51};
static const ss_key RELEASE_KEYS[] = {
    VERTICES(4),
    SS_REAL_KEY("length", length, 1e-3, 10.0),
    SS_REAL_KEY("relaxation", relaxation, 0.0, 10.0),
    {.name = NULL},
};

static ss_status release(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                         ss_error *e)
{
    options->contacts = false;
    return build_cantilever(request, w, e);
}

// ---- The helix

static const settings HELIX = {.ellipticity = 1.0,
                               .relaxation = 0.05,
                               .radius = 0.01,
                               .pitch = 0.01,
                               .vertices = 101,
                               .turns = 3};
static const ss_key HELIX_KEYS[] = {
    SS_REAL_KEY("radius", radius, 1e-4, 1.0),
    SS_REAL_KEY("pitch", pitch, -1.0, 1.0),
    SS_INTEGER_KEY("turns", turns, 1, 1000),
    VERTICES(4),
    SS_REAL_KEY("ellipticity", ellipticity, 0.1, 10.0),
    SS_REAL_KEY("relaxation", relaxation, 0.0, 10.0),
    {.name = NULL},
};

// The helix has the curvature R / (R^2 + c^2) about n2 and torsion c / (R^2 + c^2), c = pitch / 2
// pi; (torsion, 0, curvature) is the direction of the axis.
static ss_status helix(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                       ss_error *e)
{
    const settings *set = request->settings;
    const double R = set->radius, c = set->pitch / (2.0 * M_PI), square = R * R + c * c;
    const double curve[3] = {c / square, 0.0, R / square}, length = 2.0 * M_PI * sqrt(square);
    const double sine = R / sqrt(square), cosine = c / sqrt(square);
    const ss_vec3 down = ss_vec(0.0, -1.0, 0.0), out = ss_vec(1.0, 0.0, 0.0);
    const ss_vec3 across = ss_cross(out, down);
    const ss_vec3 t = ss_along(ss_scaled(cosine, down), sine, across);
    const ss_mat3 top = {{t, out, ss_cross(t, out)}};
    options->contacts = false;
    return add_curve(request, set, set->turns * length, curve, &top, w, e);
}

// ---- Rods between two clamps

static const settings TWIST = {.ellipticity = 1.0,
                               .length = LENGTH,
                               .relaxation = 0.01,
                               .turn = 9.0,
                               .rate = 3.0,
                               .vertices = 51};
static const ss_key TWIST_KEYS[] = {
    SS_REAL_KEY("turn", turn, -1e3, 1e3),
    SS_REAL_KEY("rate", rate, 1e-3, 1e3),
    VERTICES(5),
    SS_REAL_KEY("length", length, 1e-3, 10.0),
    SS_REAL_KEY("relaxation", relaxation, 0.0, 10.0),
    {.name = NULL},
};

static const char *twist_key_needs(const void *set, const char *key)
{
    const bool still = ((const settings *)set)->turn == 0.0;
    return still && strcmp(key, "rate") == 0 ? "a turn other than 0" : NULL;
}

static ss_status twist(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                       ss_error *e)
{
    const settings *set = request->settings;
    const int n = set->vertices - 1;
    const double l = set->length / (n - 1);
    const double bent[1][3] = {{0.0, 0.0, UNEVEN / set->length}};
    ss_strand_design rod = {.length = n * l,
                            .material = ss_material_hair(),
                            .npieces = 1,
                            .style = bent,
                            .nsegments = n,
                            .clamp = SS_CLAMP_BOTH};
    rod.material.relaxation = set->relaxation;
    ss_pose root = ss_pose_identity();
    root.place.x = -0.5 * l;
    ss_motion turning = ss_motion_still();
    turning.axis = ss_vec(1.0, 0.0, 0.0);
    turning.angle = (ss_profile){
        .kind = SS_PROFILE_MOVE, .size = set->turn, .period = fabs(set->turn) / set->rate + 1e-3};
    w->gravity = ss_vec(0.0, 0.0, 0.0);
    options->contacts = false;
    int body, number;
    ss_status status = ss_world_add_body(w, &turning, &body, e);
    status = status == SS_OK ? ss_world_add_strand(w, request->model, &rod, 0, &root, &number, e)
                             : status;
    return status == SS_OK ? ss_world_tie_tip(w, number, body, e) : status;
}

static const settings RING = {.relaxation = 0.01, .critical = 1.1, .vertices = 42};
static const ss_key RING_KEYS[] = {
    SS_REAL_KEY("critical", critical, -10.0, 10.0),
    VERTICES(10),
    SS_REAL_KEY("relaxation", relaxation, 0.0, 10.0),
    {.name = NULL},
};

// Makes n - 1 edges around the ring, and the first once more; the natural shape is straight.
static void ring_shape(const settings *set, double twist, ss_vec3 *x, ss_vec3 *rest, double *theta)
{
    const int n = set->vertices - 2;
    const double l = 2.0 * RADIUS * sin(M_PI / n);
    for (int i = 0; i <= n + 1; i++) {
        const double angle = 2.0 * M_PI * i / n;
        const double off = i > 1 && i < n ? UNEVEN * RADIUS * sin(2.0 * angle) : 0.0;
        x[i] = ss_vec(RADIUS * cos(angle), RADIUS * sin(angle), off);
        rest[i] = ss_vec(l * i, 0.0, 0.0);
        theta[i] = twist * i / n;
    }
}

// Adds the ring; `room` has count vertices and count rest vertices, and `theta` as many angles.
static ss_status add_ring(const ss_scene_request *request, const settings *set, ss_vec3 *room,
                          double *theta, ss_world *w, ss_error *e)
{
    const int count = set->vertices;
    ss_material m = ss_material_hair();
    m.relaxation = set->relaxation;
    const ss_rigidity r = ss_material_rigidity(&m);
    const double michell = 2.0 * M_PI * sqrt(3.0) * r.bend1 / r.twist;
    ring_shape(set, set->critical * michell, room, room + count, theta);
    for (int j = 0; j < count; j++) {
        theta[count + j] = 0.0;
    }
    const ss_strand_design rod = {.material = m,
                                  .nvertices = count,
                                  .vertices = room,
                                  .rest = room + count,
                                  .theta = theta,
                                  .rest_theta = theta + count,
                                  .director = ss_vec(0.0, 0.0, 1.0),
                                  .clamp = SS_CLAMP_BOTH};
    const ss_pose home = ss_pose_identity();
    return ss_scene_add_strand(request, &rod, 0, &home, w, e);
}

static ss_status ring(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                      ss_error *e)
{
    const settings *set = request->settings;
    const size_t count = (size_t)set->vertices;
    ss_vec3 *room = malloc(2 * count * sizeof *room);
    double *theta = malloc(2 * count * sizeof *theta);
    w->gravity = ss_vec(0.0, 0.0, 0.0);
    options->contacts = false;
    const ss_status status = room != NULL && theta != NULL
                                 ? add_ring(request, set, room, theta, w, e)
                                 : ss_fail_memory(e, "a ring");
    free(room);
    free(theta);
    return status;
}

// ---- The scenes

#define ONE_ROD .model = "der", .reference = "", .rods = 1

const ss_scene ss_scene_cantilever = {
    .name = "cantilever",
    .shows = "a rod clamped level: the heavy elastica of any Gamma, flat or naturally curved",
    .steps = 5000,
    .dt = 0.002,
    SS_SCENE_KEYS(CANTILEVER_KEYS, CANTILEVER),
    .build = cantilever,
    ONE_ROD,
};

const ss_scene ss_scene_release = {
    .name = "release",
    .shows = "a level cantilever that is let go without damping: what becomes of its energy",
    .steps = 500,
    .dt = 0.001,
    SS_SCENE_KEYS(RELEASE_KEYS, RELEASE),
    .build = release,
    ONE_ROD,
};

const ss_scene ss_scene_helix = {
    .name = "helix",
    .shows = "a natural helix that hangs from its upper end",
    .steps = 5000,
    .dt = 0.002,
    SS_SCENE_KEYS(HELIX_KEYS, HELIX),
    .build = helix,
    ONE_ROD,
};

const ss_scene ss_scene_twist = {
    .name = "twist",
    .shows = "a straight rod twisted at one end: torque GJ phi / L, energy GJ phi^2 / 2 L",
    .steps = 3000,
    .dt = 0.002,
    SS_SCENE_KEYS(TWIST_KEYS, TWIST),
    .key_needs = twist_key_needs,
    .build = twist,
    ONE_ROD,
};

const ss_scene ss_scene_ring = {
    .name = "ring",
    .shows = "a twisted ring: flat below Michell's twist, 2 pi sqrt(3) EI / GJ, and buckled above",
    .reference = "[B08]",
    .steps = 1000,
    .dt = 0.002,
    SS_SCENE_KEYS(RING_KEYS, RING),
    .build = ring,
    .model = "der",
    .rods = 1,
};
