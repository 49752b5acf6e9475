// strands/scenes/links.c -- strands of links: scenes of [H06].
//
//     bangs    curly bangs that keep their shape under their weight
//     lantern  a flower on a rod, heavy at its tip, that twists as it is swung
//     tree     a tree in the wind, one strand that branches
//     ear      an ear that follows a pose, with motion of its own
//     braid    a bun and the braid that hangs from it, one strand
#include "strands/scenes/props.h"

// Each scene takes some of these.
typedef struct settings {
    double wind, turbulence;  // m/s
    double strength, damping; // of those of the ear
    double local;
} settings;

// ---- Strands that grow edge by edge, and may branch

#define MOST 128 // vertices

typedef struct growth {
    int n; // vertices
    bool branches;
    ss_vec3 x[MOST];
    int parent[MOST];
    ss_strand_part part[MOST - 1]; // of the edge to the next vertex
} growth;

// Begins with a vertex at `place`.
static growth growth_seed(ss_vec3 place)
{
    growth g = {.n = 1};
    g.x[0] = place;
    g.parent[0] = -1;
    return g;
}

// Adds an edge from vertex `from` along `way`. Returns the number of the vertex at its end.
static int growth_add(growth *g, int from, ss_vec3 way, ss_strand_part part)
{
    g->x[g->n] = ss_plus(g->x[from], way);
    g->parent[g->n] = from;
    g->part[g->n - 1] = part;
    g->branches = g->branches || from != g->n - 1;
    return g->n++;
}

// Returns a material with a round section, without a factor of its stretching.
static ss_material growth_material(double density, double radius, double young, double relaxation)
{
    return (ss_material){.density = density,
                         .radius = radius,
                         .ellipticity = 1.0,
                         .young = young,
                         .poisson = 0.4,
                         .relaxation = relaxation,
                         .stretch = 1.0};
}

// Plants the world's first strand, clamped to the body at vertex 0, or by the first edge where
// nothing branches, and settles the world.
static ss_status growth_plant(const growth *g, const ss_material *material,
                              const ss_scene_request *request, int body, ss_world *w, ss_error *e)
{
    const ss_strand_design design = {.material = *material,
                                     .nvertices = g->n,
                                     .vertices = g->x,
                                     .parent = g->branches ? g->parent : NULL,
                                     .nparts = g->n - 1,
                                     .parts = g->part};
    const ss_pose root = ss_pose_identity();
    const ss_status status = ss_scene_add_strand(request, &design, body, &root, w, e);
    return status == SS_OK ? ss_world_settle(w, e) : status;
}

// ---- bangs
//
// Helices that fall before the forehead, parallel to each other, of 15 links each; their natural
// shapes are those that rest under gravity in the shape that they start in. Each stands for a lock.

#define BANGS_SEGMENTS 15
#define CURL           0.007 // m, radius
#define PITCH          0.03  // m a turn
#define BANGS_TURNS    2.5
#define BANGS_THICK    0.000120 // m
#define POLAR          0.95     // rad from the crown
#define SPREAD         0.75     // rad of azimuth to either side
#define LIFT           0.2      // rad off the way down the scalp
#define ABOVE          0.002    // m from the scalp to the roots
#define COLLISION      0.0011   // m, of 9 locks

// Returns the turn of a root; the curl winds about an axis that falls away from the face, at first
// on its far side.
static ss_mat3 root_turn(double along, double across)
{
    const ss_scalp_place front = ss_head_scalp(POLAR, 0.0);
    const ss_mat3 fall = ss_head_falling(&front, front.fall + LIFT);
    return (ss_mat3){{ss_along(ss_scaled(along, fall.c[0]), -across, fall.c[2]), fall.c[1],
                      ss_along(ss_scaled(across, fall.c[0]), along, fall.c[2])}};
}

static ss_status add_locks(const ss_scene_request *request, int body, ss_world *w, ss_error *e)
{
    const int rods = request->rods;
    const double turn = 2.0 * M_PI * CURL, way = sqrt(PITCH * PITCH + turn * turn);
    const double style[1][3] = {
        {2.0 * M_PI * PITCH / (way * way), 0.0, 2.0 * M_PI * turn / (way * way)}};
    ss_strand_design lock = {.length = BANGS_TURNS * way,
                             .material = ss_material_hair(),
                             .npieces = 1,
                             .style = style,
                             .nsegments = BANGS_SEGMENTS};
    lock.material.radius = BANGS_THICK;
    ss_pose root = {.turn = root_turn(PITCH / way, turn / way)};
    ss_status status = SS_OK;
    for (int k = 0; k < rods && status == SS_OK; k++) {
        const double azimuth = SPREAD * (2.0 * (k + 0.5) / rods - 1.0);
        const ss_scalp_place at = ss_head_scalp(POLAR, azimuth);
        root.place = ss_along(at.x, ABOVE, at.normal);
        status = ss_scene_add_strand(request, &lock, body, &root, w, e);
    }
    return status;
}

static ss_status build_bangs(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                             ss_error *e)
{
    // Curls of nearby azimuths come nearer to each other than their roots are.
    w->radius = COLLISION * fmin(pow((double)ss_scene_bangs.rods / request->rods, 1.5), 1.0);
    w->mu = request->mu;
    w->drag = SS_HEAD_DRAG;
    options->margin = 0.2 * w->radius;
    const ss_motion head = ss_motion_swaying(ss_vec(0.0, 1.0, 0.0), 0.5, 1.0);
    int body;
    ss_status status = ss_head_add(w, &head, request->mu_obstacle, &body, e);
    status = status == SS_OK ? add_locks(request, body, w, e) : status;
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
    .mu = 0.3,
    .mu_obstacle = 0.5,
    .build = build_bangs,
};

// ---- lantern
//
// A rod that bends over, its tip a flower of petals, which carry most of the mass: a tree of links.
// The hand turns about the vertical and back, and the flower goes on turning by its twist.

#define STEM         20
#define PETALS       6
#define EACH         3     // links of a petal
#define LANTERN_LINK 0.015 // m, of the stem
#define PETAL        0.022 // m, a link
#define ASIDE        0.68  // rad about the vertical: across the way in which frames are seen

// Makes half a circle of a rod, then down; petals open downwards from its end.
static growth lantern_make(void)
{
    const ss_strand_part stem = {1.0, 1.0, 1.0, 1.0, 1.0}, petal = {12.0, 1.0, 4.0, 4.0, 1.0};
    growth g = growth_seed(ss_vec(0.0, 0.0, 0.0));
    for (int k = 0; k < STEM; k++) {
        const double angle = 0.5 * M_PI - 1.1 * M_PI * fmin((k + 0.5) / (STEM - 6), 0.9);
        const double out = LANTERN_LINK * cos(angle);
        growth_add(&g, k, ss_vec(out * cos(ASIDE), LANTERN_LINK * sin(angle), -out * sin(ASIDE)),
                   stem);
    }
    for (int p = 0; p < PETALS; p++) {
        const double angle = 2.0 * M_PI * p / PETALS;
        int from = STEM;
        for (int k = 0; k < EACH; k++) {
            const double out = 1.0 - 0.3 * k;
            const ss_vec3 way = ss_vec(out * cos(angle), -0.7 - 0.5 * k, out * sin(angle));
            from = growth_add(&g, from, ss_scaled(PETAL, ss_unit(way)), petal);
        }
    }
    return g;
}

static ss_status build_lantern(const ss_scene_request *request, ss_world *w,
                               ss_step_options *options, ss_error *e)
{
    const growth flower = lantern_make();
    const ss_material wood = growth_material(600.0, 0.001, 3e9, 0.02);
    const ss_motion hand = ss_motion_swaying(ss_vec(0.0, 1.0, 0.0), 0.4, 1.2);
    int body;
    w->radius = 0.002;
    options->contacts = false;
    const ss_status status = ss_world_add_body(w, &hand, &body, e);
    return status == SS_OK ? growth_plant(&flower, &wood, request, body, w, e) : status;
}

const ss_scene ss_scene_lantern = {
    .name = "lantern",
    .model = "oriented-strands",
    .shows = "a flower on a rod, heavy at its tip, that twists as the hand turns",
    .reference = "[H06] Figure 1",
    .rods = 1,
    .steps = 360,
    .dt = 1.0 / 120.0,
    .build = build_lantern,
};

// ---- tree
//
// A trunk of 9 segments; branches leave it from its third vertex on, one after another about it by
// the golden angle, the shorter and the steeper the higher, and each forks into twigs, of which one
// leaves in its middle: 93 segments. Radii shrink from the trunk to the twigs, and the stiffness
// with them. Steady wind and turbulence push twigs more than the trunk.

#define TRUNK     9
#define BRANCHES  7
#define LINKS     3       // of a branch
#define TWIG      3       // of a twig
#define GOLDEN    2.39996 // rad
#define STEP      0.27    // m, of the trunk
#define TREE_DRAG 0.4     // kg/(m s): of leaves
#define RADIUS    0.012   // m, of the material: a twig's

static const settings TREE_OWN = {.wind = 6.0, .turbulence = 4.0};
static const ss_key TREE_KEYS[] = {
    SS_REAL_KEY("wind", wind, 0.0, 50.0),
    SS_REAL_KEY("turbulence", turbulence, 0.0, 50.0),
    {.name = NULL},
};

// Adds `count` edges from vertex `from` along `way`, which bends up a little at each. Returns the
// last vertex.
static int grow(growth *g, int from, int count, ss_vec3 way, double radius)
{
    for (int k = 0; k < count; k++) {
        const double r = radius * (1.0 - 0.4 * k / count);
        from = growth_add(g, from, way, (ss_strand_part){1.0, r, 1.0, 1.0, 1.0});
        way.y += 0.02;
    }
    return from;
}

static growth grow_tree(void)
{
    growth g = growth_seed(ss_vec(0.0, 0.0, 0.0));
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

static ss_status build_tree(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                            ss_error *e)
{
    const growth tree = grow_tree();
    const ss_material wood = growth_material(700.0, RADIUS, 1e8, 0.06);
    w->radius = 0.02;
    w->drag = TREE_DRAG;
    options->contacts = false;
    const ss_status status = growth_plant(&tree, &wood, request, 0, w, e);
    return status == SS_OK ? add_winds(request->settings, request->seed, w, e) : status;
}

const ss_scene ss_scene_tree = {
    .name = "tree",
    .model = "oriented-strands",
    .shows = "a tree of 93 segments with a stiff trunk, in gusts and turbulence",
    .reference = "[H06] Figure 5",
    .rods = 1,
    .steps = 480,
    .dt = 1.0 / 120.0,
    SS_SCENE_KEYS(TREE_KEYS, TREE_OWN),
    .build = build_tree,
};

// ---- ear
//
// The ear is a rib that stands up from a head, with short ribs to both sides that make it wide. The
// head, an ellipsoid, nods. The pose of the ear is upright, then folded forward, and upright again;
// the strength of the springs to it falls to 0 and comes back (world.h).

#define EAR_SEGMENTS 12 // of the middle rib
#define SIDES        22 // ribs to the sides: two of each vertex but the root and the tip
#define POINTS       (EAR_SEGMENTS + 1 + 2 * SIDES)
#define LENGTH       0.24  // m
#define WIDTH        0.045 // m, of half the ear
#define STRENGTH     0.3   // N/m, of each point
#define DAMPING      0.003 // N s/m
#define HEAD_X       0.09  // m, middle of the head
#define HEAD_Y       (-0.0855)

static const settings EAR_OWN = {.strength = 1.0, .damping = 1.0};
static const ss_key EAR_KEYS[] = {
    SS_REAL_KEY("strength", strength, 0.0, 1000.0),
    SS_REAL_KEY("damping", damping, 0.0, 1000.0),
    {.name = NULL},
};

// Makes a middle rib from the root upwards that turns by `bend` towards +x in all, and ribs across
// it that are inclined to its tip.
static growth ear_make(double bend)
{
    growth g = growth_seed(ss_vec(0.0, 0.0, 0.0));
    ss_vec3 along[EAR_SEGMENTS + 1];
    for (int k = 0; k < EAR_SEGMENTS; k++) {
        const double angle = bend * (k + 0.5) / EAR_SEGMENTS, l = LENGTH / EAR_SEGMENTS;
        along[k] = ss_vec(sin(angle), cos(angle), 0.0);
        growth_add(&g, k, ss_scaled(l, along[k]),
                   (ss_strand_part){1.0, 1.0 - 0.05 * k, 1.0, 1.0, 1.0});
    }
    for (int k = 1; k < EAR_SEGMENTS; k++) {
        const double share = (double)k / EAR_SEGMENTS, wide = WIDTH * sin(M_PI * pow(share, 0.8));
        for (int side = -1; side <= 1; side += 2) {
            const ss_vec3 way = ss_along(ss_scaled(0.5, along[k]), side, ss_vec(0.0, 0.0, 1.0));
            growth_add(&g, k, ss_scaled(wide, way), (ss_strand_part){1.0, 0.25, 50.0, 50.0, 1.0});
        }
    }
    return g;
}

// Takes the points of its polylines: those of the middle rib, and of each other rib its foot and
// its end.
static void take_points(double bend, ss_vec3 *points)
{
    const growth g = ear_make(bend);
    int n = 0;
    for (int i = 0; i < g.n; i++) {
        if (i > EAR_SEGMENTS) {
            points[n++] = g.x[g.parent[i]];
        }
        points[n++] = g.x[i];
    }
}

static ss_status pose(const settings *set, ss_world *w, ss_error *e)
{
    ss_vec3 upright[POINTS], folded[POINTS];
    take_points(0.9, upright);
    take_points(2.0, folded);
    const double s = set->strength * STRENGTH, d = set->damping * DAMPING;
    const ss_posing_key keys[] = {{0.0, s, d, upright},     {0.8, s, d, upright},
                                  {1.1, s, d, folded},      {1.7, s, d, folded},
                                  {1.9, s, d, upright},     {2.3, 0.0, 0.0, upright},
                                  {3.2, 0.0, 0.0, upright}, {3.4, s, d, upright}};
    return ss_world_pose_strand(w, 0, (int)(sizeof keys / sizeof keys[0]), keys, e);
}

// Adds the head of an animal that looks along x; the ear stands on it.
static ss_status add_head(ss_world *w, int *body, ss_error *e)
{
    ss_motion nod = ss_motion_swaying(ss_vec(0.0, 0.0, 1.0), 0.25, 0.8);
    nod.centre = ss_vec(0.0, -0.2, 0.0);
    ss_obstacle skull = {
        .kind = SS_OBSTACLE_ELLIPSOID, .size = {0.18, 0.085, 0.075}, .pose = ss_pose_identity()};
    skull.pose.place = ss_vec(HEAD_X, HEAD_Y, 0.0);
    const ss_status status = ss_world_add_body(w, &nod, body, e);
    skull.body = *body;
    return status == SS_OK ? ss_world_add_obstacle(w, &skull, e) : status;
}

static ss_status build_ear(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                           ss_error *e)
{
    const growth ear = ear_make(0.9);
    const ss_material gristle = growth_material(1000.0, 0.008, 4e5, 0.03);
    int body;
    w->radius = 0.011;
    options->contacts = false;
    ss_status status = add_head(w, &body, e);
    status = status == SS_OK ? growth_plant(&ear, &gristle, request, body, w, e) : status;
    return status == SS_OK ? pose(request->settings, w, e) : status;
}

const ss_scene ss_scene_ear = {
    .name = "ear",
    .model = "oriented-strands",
    .shows = "an ear on a nodding head that follows a pose, is let loose and caught again",
    .reference = "[H06] Figure 6",
    .rods = 1,
    .steps = 480,
    .dt = 1.0 / 120.0,
    SS_SCENE_KEYS(EAR_KEYS, EAR_OWN),
    .build = build_ear,
};

// ---- braid
//
// The first part is a coil of two turns behind the head, 200 times as stiff as the rest, which
// hangs. The body bobs up and down as one that runs, and the head turns with it. Of the motion of
// the body the forces lose the share `local`.

#define BUN         20 // links
#define BRAID_TURNS 2.0
#define BRAID       24
#define INNER       0.014 // m, radius of the bun where it begins
#define OUTER       0.038
#define BRAID_LINK  0.016 // m, of the braid
#define STIFFER     200.0
#define BRAID_THICK 0.006 // m
#define BRAID_DRAG  0.05  // kg/(m s): a braid is slowed in two thirds of a second

static const settings BRAID_OWN = {.local = 0.5};
static const ss_key BRAID_KEYS[] = {
    SS_REAL_KEY("local", local, 0.0, 1.0),
    {.name = NULL},
};

// Returns a place of the spiral of the bun, in its plane behind the head.
static ss_vec3 on_bun(int k)
{
    const double share = (double)k / BUN, angle = 2.0 * M_PI * BRAID_TURNS * share;
    const double radius = INNER + (OUTER - INNER) * share;
    return ss_vec(-radius * cos(angle), 0.03 + radius * sin(angle), -0.112 - 0.012 * share);
}

// Makes a spiral outwards, then down.
static growth braid_make(void)
{
    const ss_strand_part stiff = {1.0, 1.0, STIFFER, STIFFER, 1.0},
                         soft = {1.0, 1.0, 1.0, 1.0, 1.0};
    growth g = growth_seed(on_bun(0));
    int from = 0;
    for (int k = 0; k < BUN; k++) {
        from = growth_add(&g, from, ss_minus(on_bun(k + 1), on_bun(k)), stiff);
    }
    for (int k = 0; k < BRAID; k++) {
        const double back = fmax(0.35 - 0.1 * k, 0.05);
        from = growth_add(&g, from, ss_scaled(BRAID_LINK, ss_unit(ss_vec(0.0, -1.0, -back))), soft);
    }
    return g;
}

static ss_status add_braid(const ss_scene_request *request, int head, int hips, ss_world *w,
                           ss_error *e)
{
    const settings *set = request->settings;
    const growth braid = braid_make();
    const ss_material plaited = growth_material(300.0, BRAID_THICK, 4e5, 0.03);
    const ss_status status = growth_plant(&braid, &plaited, request, head, w, e);
    return status == SS_OK && set->local > 0.0
               ? ss_world_scale_motion(w, 0, 1.0, set->local, hips, e)
               : status;
}

static ss_status build_braid(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                             ss_error *e)
{
    ss_motion run = ss_motion_still();
    run.axis = run.direction = ss_vec(0.0, 1.0, 0.0);
    run.shift = (ss_profile){.kind = SS_PROFILE_OSCILLATE, .size = 0.04, .period = 0.36};
    ss_motion turning = run;
    turning.angle = (ss_profile){.kind = SS_PROFILE_OSCILLATE, .size = 0.3, .period = 1.2};
    int hips, head;
    w->radius = BRAID_THICK;
    w->drag = BRAID_DRAG;
    w->mu = request->mu;
    options->margin = 0.2 * BRAID_THICK;
    ss_status status = ss_world_add_body(w, &run, &hips, e);
    status = status == SS_OK ? ss_head_add(w, &turning, request->mu_obstacle, &head, e) : status;
    return status == SS_OK ? add_braid(request, head, hips, w, e) : status;
}

const ss_scene ss_scene_braid = {
    .name = "braid",
    .model = "oriented-strands",
    .shows = "a stiff bun and a soft braid on a head that bobs and turns",
    .reference = "[H06] Figure 7",
    .rods = 1,
    .steps = 480,
    .dt = 1.0 / 120.0,
    .mu = 0.3,
    .mu_obstacle = 0.3,
    SS_SCENE_KEYS(BRAID_KEYS, BRAID_OWN),
    .build = build_braid,
};
