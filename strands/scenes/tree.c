// strands/scenes/tree.c -- a tree in the wind, one strand that branches [H06].
//
// A trunk of 9 segments; branches leave it from its third vertex on, one after another about it by
// the golden angle, the shorter and the steeper the higher, and each forks into twigs, of which one
// leaves in its middle: 93 segments. Radii shrink from the trunk to the twigs, and the stiffness
// with them. Steady wind and turbulence push twigs more than the trunk.
#include "strands/scenes/growth.h"
#include "strands/scenes/request.h"
#include "strands/scenes/scenes.h"

#define TRUNK    9
#define BRANCHES 7
#define LINKS    3       // of a branch
#define TWIG     3       // of a twig
#define GOLDEN   2.39996 // rad
#define STEP     0.27    // m, of the trunk
#define DRAG     0.4     // kg/(m s): of leaves
#define RADIUS   0.012   // m, of the material: a twig's

typedef struct settings {
    double wind, turbulence; // m/s
} settings;

static const settings DEFAULTS = {6.0, 4.0};
static const ss_key KEYS[] = {
    SS_REAL_KEY("wind", wind, 0.0, 50.0),
    SS_REAL_KEY("turbulence", turbulence, 0.0, 50.0),
    {.name = NULL},
};

// `count` edges from vertex `from` along `way`, which bends up a little at each. The last vertex.
static int grow(ss_growth *g, int from, int count, ss_vec3 way, double radius)
{
    for (int k = 0; k < count; k++) {
        const double r = radius * (1.0 - 0.4 * k / count);
        from = ss_growth_add(g, from, way, (ss_strand_part){1.0, r, 1.0, 1.0, 1.0});
        way.y += 0.02;
    }
    return from;
}

static ss_growth grow_tree(void)
{
    ss_growth g = ss_growth_seed(ss_vec(0.0, 0.0, 0.0));
    grow(&g, 0, TRUNK, ss_vec(0.0, STEP, 0.0), 6.0);
    for (int b = 0; b < BRANCHES; b++) {
        const double angle = GOLDEN * b + 0.4, size = 0.27 - 0.022 * b, twig = 0.75 * size;
        const ss_vec3 out = ss_vec(cos(angle), 0.5 + 0.12 * b, sin(angle));
        const ss_vec3 side = ss_vec(-sin(angle), 0.1, cos(angle));
        const int first = g.n;
        const int end = grow(&g, 3 + b, LINKS, ss_scaled(size, ss_unit(out)), 2.5);
        for (int t = -1; t <= 1; t++) {
            const ss_vec3 way = ss_along(out, t == 0 ? 0.9 : 0.6 * t, side);
            grow(&g, t == 0 ? first + 1 : end, TWIG, ss_scaled(twig, ss_unit(way)), 1.0);
        }
    }
    return g;
}

static ss_status add_winds(const settings *set, uint64_t seed, ss_world *w, ss_error *e)
{
    ss_wind steady = ss_wind_still(SS_WIND_STEADY);
    ss_wind turbulence = ss_wind_still(SS_WIND_TURBULENCE);
    steady.velocity = ss_vec(set->wind, 0.0, 0.0);
    steady.gust = 0.4;
    steady.period = 2.5;
    steady.rise = 1.0;
    steady.root = turbulence.root = 0.2;
    turbulence.velocity = ss_vec(set->turbulence, 0.3 * set->turbulence, set->turbulence);
    turbulence.drift = steady.velocity;
    turbulence.size = 2.0;
    turbulence.period = 1.5;
    turbulence.rise = 1.0;
    turbulence.seed = 1 + (int)(seed % 1000000);
    const ss_status status = ss_world_add_wind(w, &steady, e);
    return status == SS_OK ? ss_world_add_wind(w, &turbulence, e) : status;
}

static ss_status build(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                       ss_error *e)
{
    ss_status status = ss_request_check_one_rod(request, e);
    if (status != SS_OK) {
        return status;
    }
    const ss_growth tree = grow_tree();
    const ss_material wood = ss_growth_material(700.0, RADIUS, 1e8, 0.06);
    int number;
    w->radius = 0.02;
    w->drag = DRAG;
    options->contacts = false;
    status = ss_growth_plant(&tree, &wood, request, 0, w, &number, e);
    return status == SS_OK ? add_winds(ss_request_settings(request, &DEFAULTS), request->seed, w, e)
                           : status;
}

const ss_scene ss_scene_tree = {
    .name = "tree",
    .model = "oriented-strands",
    .shows = "a tree of 93 segments with a stiff trunk, in gusts and turbulence",
    .reference = "[H06] Figure 5",
    .rods = 1,
    .steps = 480,
    .dt = 1.0 / 120.0,
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .build = build,
};
