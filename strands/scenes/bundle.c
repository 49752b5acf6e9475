// strands/scenes/bundle.c -- lattices of rods; see the header.
#include "strands/scenes/bundle.h"

#include <stdlib.h>

typedef struct place {
    double y, z; // m
    double far;  // square of the distance from the centre, in the measure of a flat bundle
    int order;   // in which the lattice was walked, to break ties
} place;

// Places on one circle differ by rounding; they are taken in the order of the walk.
static int compare_places(const void *first, const void *second)
{
    const place *a = first, *b = second;
    if (fabs(a->far - b->far) > 1e-9 * (a->far + b->far)) {
        return a->far < b->far ? -1 : 1;
    }
    return a->order - b->order;
}

static double helix_rate(const ss_bundle *b)
{
    return sqrt(b->twist * b->twist + b->bend * b->bend);
}

static double lattice_pitch(const ss_bundle *b)
{
    return b->twist == 0.0 ? b->spacing : b->spacing * helix_rate(b) / fabs(b->twist);
}

// A disc of n places has the radius sqrt(n sqrt(3) / (2 pi)) pitches, and a place on its rim may be
// most of a pitch farther out.
double ss_bundle_reach(const ss_bundle *b, int axis)
{
    const double wide = axis == 2 ? sqrt(b->flat) : 1.0 / sqrt(b->flat);
    const double disc = sqrt((double)b->rods * sqrt(0.75) / M_PI);
    return b->rods > 1 ? lattice_pitch(b) * (disc * wide + 0.8) : 0.0;
}

// The places nearest to the centre come first. NULL without memory.
static place *lattice_new(const ss_bundle *b)
{
    const double pitch = lattice_pitch(b), row = sqrt(0.75) * pitch;
    const int half_wide = (int)(ss_bundle_reach(b, 2) / pitch) + 2;
    const int half_high = (int)(ss_bundle_reach(b, 1) / row) + 2;
    const size_t room = (size_t)(2 * half_wide + 1) * (size_t)(2 * half_high + 1);
    place *all = malloc(room * sizeof *all);
    int count = 0;
    for (int j = -half_high; all != NULL && j <= half_high; j++) {
        for (int i = -half_wide; i <= half_wide; i++) {
            const double y = (double)j * row, z = ((double)i + (j % 2 != 0 ? 0.5 : 0.0)) * pitch;
            all[count] = (place){y, z, y * y * b->flat + z * z / b->flat, count};
            count++;
        }
    }
    if (all != NULL) {
        qsort(all, (size_t)count, sizeof *all, compare_places);
    }
    return all;
}

ss_status ss_bundle_extent(const ss_bundle *b, double extent[2], ss_error *e)
{
    place *places = lattice_new(b);
    if (places == NULL) {
        return ss_fail_memory(e, "a bundle of rods");
    }
    const double moved = 0.5 * b->jitter * lattice_pitch(b);
    extent[0] = extent[1] = 0.0;
    for (int k = 0; k < b->rods; k++) {
        extent[0] = fmax(extent[0], fabs(places[k].y) + moved);
        extent[1] = fmax(extent[1], fabs(places[k].z) + moved);
    }
    free(places);
    return SS_OK;
}

int ss_bundle_segments(double length, double curvature, double radius)
{
    const double exact = length * sqrt(fabs(curvature) / (4.0 * radius));
    return exact < 1.0 ? 1 : (int)floor(exact) + 1;
}

// A point in a disc. Two rods that each move by half the jitter are nearer by at most all of it.
static void jitter_place(const ss_bundle *b, ss_random *g, place *at)
{
    const double reach = 0.5 * b->jitter * lattice_pitch(b);
    const double radius = reach * sqrt(ss_random_uniform(g));
    const double angle = ss_random_between(g, 0.0, 2.0 * M_PI);
    at->y += radius * cos(angle);
    at->z += radius * sin(angle);
}

typedef struct rod_shape {
    double style[SS_BUNDLE_PIECES][3], unrest[SS_BUNDLE_PIECES][3];
    double length;
    ss_pose root;
} rod_shape;

static void shape_parallel(const ss_bundle *b, const place *at, rod_shape *rod)
{
    rod->length = b->length * (1.0 - at->y * b->bend);
    for (int k = 0; k < b->pieces; k++) {
        const double curvature = k < b->bent ? b->bend : b->tail;
        rod->style[k][2] = curvature / (1.0 - at->y * curvature);
    }
    rod->root.place = ss_along(ss_scaled(at->y, rod->root.turn.c[1]), at->z, rod->root.turn.c[2]);
}

// The axis of the helix is (twist, 0, bend) in the root's frame; n1 and the third direction span
// the plane across it.
static void shape_copy(const ss_bundle *b, const place *at, rod_shape *rod)
{
    rod->length = b->length;
    for (int k = 0; k < b->pieces; k++) {
        rod->style[k][0] = b->twist;
        rod->style[k][2] = b->bend;
    }
    const ss_vec3 across =
        ss_scaled(1.0 / helix_rate(b), ss_vec(-b->bend, 0.0, b->twist)); // axis x n1
    rod->root.place =
        ss_along(ss_scaled(at->y, rod->root.turn.c[1]), at->z, ss_turned(&rod->root.turn, across));
}

// Bending about n1 goes towards -n2, and about n2 towards n1.
static void disturb(const ss_bundle *b, const place *at, ss_random *g, rod_shape *rod)
{
    const double reach = fmax(ss_bundle_reach(b, 1), ss_bundle_reach(b, 2));
    const double gather = b->rods > 1 ? b->gather / reach : 0.0;
    for (int k = 0; k < b->pieces; k++) {
        rod->unrest[k][1] = gather * at->z + b->unrest * ss_random_normal(g);
        rod->unrest[k][2] = -gather * at->y + b->unrest * ss_random_normal(g);
    }
}

static ss_status add_rod(ss_world *w, const ss_model_choice *model, const ss_bundle *b, int body,
                         const ss_pose *root, const place *at, ss_random *g, ss_error *e)
{
    rod_shape rod = {.root = *root};
    if (b->twist == 0.0) {
        shape_parallel(b, at, &rod);
    } else {
        shape_copy(b, at, &rod);
    }
    rod.root.place = ss_plus(rod.root.place, root->place);
    disturb(b, at, g, &rod);
    const ss_strand_design design = {
        .length = rod.length,
        .material = b->material,
        .npieces = b->pieces,
        .style = (const double(*)[3])rod.style,
        .unrest = (const double(*)[3])rod.unrest,
        .nsegments = b->nsegments,
        .clamp = b->clamp,
    };
    int number;
    return ss_world_add_strand(w, model, &design, body, &rod.root, &number, e);
}

static bool fits_its_bend(const ss_bundle *b)
{
    const double curvature = fmax(fabs(b->bend), fabs(b->tail));
    return b->twist != 0.0 || curvature * ss_bundle_reach(b, 1) < 0.9;
}

ss_status ss_bundle_add(ss_world *w, const ss_model_choice *model, const ss_bundle *b, int body,
                        const ss_pose *root, ss_random *g, ss_error *e)
{
    if (!fits_its_bend(b)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "a bundle of %d rods is wider than its bend: use fewer rods", b->rods);
    }
    place *places = lattice_new(b);
    if (places == NULL) {
        return ss_fail_memory(e, "a bundle of rods");
    }
    ss_status status = SS_OK;
    for (int k = 0; k < b->rods && status == SS_OK; k++) {
        jitter_place(b, g, &places[k]);
        status = add_rod(w, model, b, body, root, &places[k], g, e);
    }
    free(places);
    return status;
}
