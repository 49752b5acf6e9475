// problems/strands/scenes/ear.c -- an ear that follows a pose, with motion of its own [H06].
//
// The ear stands up from a head that nods. Its pose is upright, then folded forward, and upright again; the
// strength of the springs to it falls to 0 and comes back (posing.h).
#include "problems/strands/posing.h"
#include "problems/strands/scenes/request.h"
#include "problems/strands/scenes/scenes.h"

#define SEGMENTS 12
#define LENGTH   0.24  // m
#define STRENGTH 0.3   // N/m, of each point
#define DAMPING  0.002 // N s/m

typedef struct settings {
    double strength, damping; // of those above
} settings;

static const settings DEFAULTS = {1.0, 1.0};
static const ss_key KEYS[] = {
    SS_REAL_KEY("strength", strength, 0.0, 1000.0),
    SS_REAL_KEY("damping", damping, 0.0, 1000.0),
    {.name = NULL},
};

// An arc from the root upwards that turns by `bend` towards +x in all.
static void make_arc(double bend, ss_vec3 *x)
{
    x[0] = ss_vec(0.0, 0.0, 0.0);
    for (int k = 0; k < SEGMENTS; k++) {
        const double angle = bend * (k + 0.5) / SEGMENTS, l = LENGTH / SEGMENTS;
        x[k + 1] = ss_plus(x[k], ss_vec(l * sin(angle), l * cos(angle), 0.0));
    }
}

static ss_status pose(const settings *set, int number, ss_world *w, ss_error *e)
{
    ss_vec3 upright[SEGMENTS + 1], folded[SEGMENTS + 1];
    make_arc(0.9, upright);
    make_arc(2.0, folded);
    const double s = set->strength * STRENGTH, d = set->damping * DAMPING;
    const ss_posing_key keys[] = {{0.0, s, d, upright},     {0.8, s, d, upright},
                                  {1.1, s, d, folded},      {1.7, s, d, folded},
                                  {1.9, s, d, upright},     {2.3, 0.0, 0.0, upright},
                                  {3.2, 0.0, 0.0, upright}, {3.4, s, d, upright}};
    return ss_world_pose_strand(w, number, (int)(sizeof keys / sizeof keys[0]), keys, e);
}

static ss_status build(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                       ss_error *e)
{
    ss_status status = ss_request_check_one_rod(request, e);
    if (status != SS_OK) {
        return status;
    }
    ss_vec3 x[SEGMENTS + 1];
    make_arc(0.9, x);
    ss_strand_part parts[SEGMENTS];
    for (int k = 0; k < SEGMENTS; k++) {
        parts[k] = (ss_strand_part){1.0, 1.2 - 0.08 * k, 1.0, 1.0, 1.0};
    }
    const ss_strand_design ear = {.material = {.density = 1000.0,
                                               .radius = 0.008,
                                               .ellipticity = 1.0,
                                               .young = 2e5,
                                               .poisson = 0.45,
                                               .relaxation = 0.03,
                                               .stretch = 1.0},
                                  .nvertices = SEGMENTS + 1,
                                  .vertices = x,
                                  .nparts = SEGMENTS,
                                  .parts = parts};
    const ss_pose root = ss_pose_identity();
    ss_motion head = ss_motion_still();
    int body, number;
    head.angle = (ss_profile){.kind = SS_PROFILE_OSCILLATE, .size = 0.25, .period = 0.8};
    head.centre = ss_vec(0.0, -0.2, 0.0);
    w->radius = 0.008;
    options->contacts = false;
    status = ss_world_add_body(w, &head, &body, e);
    if (status == SS_OK) {
        status = ss_world_add_strand(w, request->model, &ear, body, &root, &number, e);
    }
    status = status == SS_OK ? ss_world_settle(w, e) : status;
    return status == SS_OK ? pose(ss_request_settings(request, &DEFAULTS), number, w, e) : status;
}

const ss_scene ss_scene_ear = {
    .name = "ear",
    .model = "oriented-strands",
    .shows = "an ear on a nodding head that follows a pose, is let loose and caught again",
    .reference = "[H06] Figure 6",
    .rods = 1,
    .steps = 480,
    .dt = 1.0 / 120.0,
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .build = build,
};
