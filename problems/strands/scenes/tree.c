// problems/strands/scenes/tree.c -- a tree in the wind, one strand that branches [H06].
//
// A trunk of 10 segments; branches leave it from its fourth vertex on, one after another about it by the golden
// angle, the shorter the higher, and each has two twigs: 76 segments. Radii shrink from the trunk to the twigs,
// and the stiffness with them. Steady wind and turbulence push twigs more than the trunk.
#include "problems/strands/scenes/request.h"
#include "problems/strands/scenes/scenes.h"

#define TRUNK    10
#define BRANCHES 6
#define LINKS    5 // of a branch
#define TWIG     3 // of a twig
#define MOST     (1 + TRUNK + BRANCHES * (LINKS + 2 * TWIG))
#define GOLDEN   2.39996 // rad
#define STEP     0.25    // m, of the trunk
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

typedef struct growth {
    int n; // vertices
    ss_vec3 x[MOST];
    int parent[MOST];
    ss_strand_part part[MOST - 1]; // of the edge to the next vertex
} growth;

// `count` edges from vertex `from` along `way`, which bends up a little at each.
static void grow(growth *g, int from, int count, ss_vec3 way, double radius)
{
    for (int k = 0; k < count; k++) {
        const double r = radius * (1.0 - 0.4 * k / count);
        g->x[g->n] = ss_plus(g->x[from], way);
        g->parent[g->n] = from;
        g->part[g->n - 1] = (ss_strand_part){1.0, r, 1.0, 1.0, 1.0};
        from = g->n++;
        way.y += 0.02;
    }
}

static void grow_tree(growth *g)
{
    g->n = 1;
    g->parent[0] = -1;
    g->x[0] = ss_vec(0.0, 0.0, 0.0);
    grow(g, 0, TRUNK, ss_vec(0.0, STEP, 0.0), 6.0);
    for (int b = 0; b < BRANCHES; b++) {
        const double angle = GOLDEN * b, size = 0.22 - 0.02 * b;
        const ss_vec3 out = ss_vec(cos(angle), 0.35, sin(angle));
        const ss_vec3 side = ss_vec(-sin(angle), 0.2, cos(angle));
        const int first = g->n;
        grow(g, 4 + b, LINKS, ss_scaled(size, ss_unit(out)), 2.5);
        for (int t = -1; t <= 1; t += 2) {
            const ss_vec3 way = ss_along(out, 0.8 * t, side);
            grow(g, first + (t < 0 ? 1 : 3), TWIG, ss_scaled(0.7 * size, ss_unit(way)), 1.0);
        }
    }
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
    growth g;
    grow_tree(&g);
    const ss_strand_design tree = {.material = {.density = 700.0,
                                                .radius = RADIUS,
                                                .ellipticity = 1.0,
                                                .young = 1e8,
                                                .poisson = 0.3,
                                                .relaxation = 0.02,
                                                .stretch = 1.0},
                                   .nvertices = g.n,
                                   .vertices = g.x,
                                   .parent = g.parent,
                                   .nparts = g.n - 1,
                                   .parts = g.part};
    const ss_pose root = ss_pose_identity();
    int number;
    w->radius = 0.02;
    w->drag = DRAG;
    options->contacts = false;
    status = ss_world_add_strand(w, request->model, &tree, 0, &root, &number, e);
    if (status == SS_OK) {
        status = add_winds(ss_request_settings(request, &DEFAULTS), request->seed, w, e);
    }
    return status == SS_OK ? ss_world_settle(w, e) : status;
}

const ss_scene ss_scene_tree = {
    .name = "tree",
    .model = "oriented-strands",
    .shows = "a tree of 76 segments with a stiff trunk, in gusts and turbulence",
    .reference = "[H06] Figure 5",
    .rods = 1,
    .steps = 480,
    .dt = 1.0 / 120.0,
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .build = build,
};
