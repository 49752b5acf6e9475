// problems/strands/scenes/lantern.c -- a flower on a rod, heavy at its tip, that twists as it is swung [H06].
//
// A rod that bends over, its tip a flower of petals, which carry most of the mass: a tree of links. The hand turns
// about the vertical and back, and the flower goes on turning by its twist.
#include "problems/strands/scenes/request.h"
#include "problems/strands/scenes/scenes.h"

#define STEM   20
#define PETALS 6
#define EACH   3 // links of a petal
#define MOST   (1 + STEM + PETALS * EACH)

typedef struct flower {
    int n; // vertices
    ss_vec3 x[MOST];
    int parent[MOST];
    ss_strand_part part[MOST - 1]; // of the edge to the next vertex
} flower;

static void add_vertex(flower *f, int from, ss_vec3 x, ss_strand_part part)
{
    f->x[f->n] = x;
    f->parent[f->n] = from;
    f->part[f->n++ - 1] = part;
}

// Half a circle of a rod, then down; petals open downwards from its end.
static void make(flower *f)
{
    const ss_strand_part stem = {1.0, 1.0, 1.0, 1.0, 1.0}, petal = {8.0, 1.0, 4.0, 4.0, 1.0};
    f->n = 1;
    f->parent[0] = -1;
    f->x[0] = ss_vec(0.0, 0.0, 0.0);
    for (int k = 0; k < STEM; k++) {
        const double angle = 0.5 * M_PI - 1.1 * M_PI * fmin((k + 0.5) / (STEM - 6), 0.9);
        const ss_vec3 way = ss_vec(0.015 * cos(angle), 0.015 * sin(angle), 0.0);
        add_vertex(f, k, ss_plus(f->x[k], way), stem);
    }
    for (int p = 0; p < PETALS; p++) {
        const double angle = 2.0 * M_PI * p / PETALS;
        int from = STEM;
        for (int k = 0; k < EACH; k++) {
            const ss_vec3 way = ss_unit(
                ss_vec(cos(angle) * (1.0 - 0.3 * k), -0.7 - 0.5 * k, sin(angle) * (1.0 - 0.3 * k)));
            add_vertex(f, from, ss_along(f->x[from], 0.012, way), petal);
            from = f->n - 1;
        }
    }
}

static ss_status build(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                       ss_error *e)
{
    ss_status status = ss_request_check_one_rod(request, e);
    if (status != SS_OK) {
        return status;
    }
    flower f;
    make(&f);
    const ss_strand_design lantern = {.material = {.density = 600.0,
                                                   .radius = 0.001,
                                                   .ellipticity = 1.0,
                                                   .young = 6e9,
                                                   .poisson = 0.3,
                                                   .relaxation = 0.02,
                                                   .stretch = 1.0},
                                      .nvertices = f.n,
                                      .vertices = f.x,
                                      .parent = f.parent,
                                      .nparts = f.n - 1,
                                      .parts = f.part};
    const ss_pose root = ss_pose_identity();
    ss_motion hand = ss_motion_still();
    int body, number;
    hand.axis = ss_vec(0.0, 1.0, 0.0);
    hand.angle = (ss_profile){.kind = SS_PROFILE_OSCILLATE, .size = 1.0, .period = 1.5};
    w->radius = 0.002;
    options->contacts = false;
    status = ss_world_add_body(w, &hand, &body, e);
    if (status == SS_OK) {
        status = ss_world_add_strand(w, request->model, &lantern, body, &root, &number, e);
    }
    return status == SS_OK ? ss_world_settle(w, e) : status;
}

const ss_scene ss_scene_lantern = {
    .name = "lantern",
    .model = "oriented-strands",
    .shows = "a flower on a rod, heavy at its tip, that twists as the hand turns",
    .reference = "[H06] Figure 1",
    .rods = 1,
    .steps = 360,
    .dt = 1.0 / 120.0,
    .build = build,
};
