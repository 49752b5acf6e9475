// der: how a rod is made from a design, and its entry in the list of models (der.h).
//
// The natural strains are those that the rod's own kernel finds in the natural shape. Mass: half of each
// edge at its ends, an edge having the share of the strand's length that it has of the polyline; the spin
// of th^j is the spin inertia times that length.
#include "strands/models/der/der.h"

#include <stdlib.h>
#include <string.h>

#include "strands/models/polyline.h"
#include "strands/shape.h"

#define LEAST_EDGES  2
#define JOINT_ARRAYS (4 + SS_DER_BENDS + 2 + SS_DER_BENDS)

typedef struct settings {
    int bending, vertices, impulses, stretch;
} settings;

static const settings DEFAULTS = {0, 0, 0, 0};
static const char *const BENDINGS[] = {"averaged", "two-frame", NULL};
static const char *const IMPULSES[] = {"inextensible", "particles", NULL};
static const char *const STRETCHES[] = {"filtered", "gauss-newton", NULL};
static const ss_key KEYS[] = {
    SS_CHOICE_KEY("bending", bending, BENDINGS),
    SS_INTEGER_KEY("vertices", vertices, LEAST_EDGES + 2, 16385),
    SS_CHOICE_KEY("impulses", impulses, IMPULSES),
    SS_CHOICE_KEY("stretch", stretch, STRETCHES),
    {.name = NULL},
};

static void der_free(void *strand)
{
    ss_der *d = strand;
    if (d != NULL) {
        free(d->memory);
        free(d);
    }
}

// Arrays one after another in one piece of memory, of numbers alone.
static bool der_allocate(ss_der *d)
{
    const size_t n = (size_t)d->n, room = (size_t)d->room;
    const size_t count = JOINT_ARRAYS * room + 2 * n + 3 * (3 * n + 2) + (11 * n + 3);
    double *at = d->memory = calloc(count, sizeof *at);
    if (at == NULL) {
        return false;
    }
    double **const arrays[JOINT_ARRAYS] = {
        &d->edge,    &d->inverse_edge, &d->inverse_length, &d->twist,   &d->bend[0],
        &d->bend[1], &d->bend[2],      &d->bend[3],        &d->more[0], &d->more[1],
        &d->more[2], &d->more[3],      &d->more[4],        &d->more[5]};
    for (int k = 0; k < JOINT_ARRAYS; k++, at += room) {
        *arrays[k] = at;
    }
    d->share = at;
    d->theta = at + n;
    d->style = (ss_vec3 *)(at + 2 * n);
    d->home = d->style + n + 1;
    d->director = d->home + n + 1;
    d->scratch = (double *)(d->director + n);
    return true;
}

// x and d1 [n] of a shape. Of vertices as given, the angles of the design are th; d1 is without them.
static void take_shape(const ss_der *d, const ss_strand_design *design, ss_shape which, ss_vec3 *x,
                       ss_mat3 *frames, ss_vec3 *d1, double *theta)
{
    const bool natural = which == SS_SHAPE_NATURAL && design->rest_theta != NULL;
    const double *angles = natural ? design->rest_theta : design->theta;
    const bool own = design->nvertices == d->n + 1 && angles != NULL;
    ss_shape_vertices(design, which, d->n + 1, x);
    ss_shape_frames(design, which, d->n + 1, x, frames);
    for (int j = 0; j < d->n; j++) {
        const ss_mat3 *F = &frames[j];
        theta[j] = own ? angles[j] : 0.0;
        d1[j] = ss_along(ss_scaled(cos(theta[j]), F->c[1]), -sin(theta[j]), F->c[2]);
    }
}

// Strains by their place in `more`.
static void strain_arrays(const ss_der *d, double *strain[2 + SS_DER_BENDS])
{
    double *const all[] = {d->edge, d->twist, d->bend[0], d->bend[1], d->bend[2], d->bend[3]};
    memcpy(strain, all, sizeof all);
}

// The strains of the shape x, d1, theta. False where it folds back or has an edge of no length.
static bool find_strains(ss_der *d, const ss_vec3 *x, const ss_vec3 *d1, const double *theta,
                         double *q)
{
    const ss_pose home = ss_pose_identity();
    ss_der_put(d, &home, x, d1, theta, q);
    ss_der_strains(d, q, d->edge, d->twist, d->bend);
    return isfinite(ss_der_energy(d, q)) && ss_polyline_has_edges(d->n, d->edge, d->length);
}

// d holds the strains of the style, `more` those of the natural shape.
static void keep_strains(ss_der *d)
{
    double *strain[2 + SS_DER_BENDS];
    strain_arrays(d, strain);
    ss_polyline_shares(d->n, d->more[0], d->share);
    for (int k = 0; k < 2 + SS_DER_BENDS; k++) {
        for (int j = 0; j < d->room; j++) {
            const double natural = j < d->n ? d->more[k][j] : 0.0;
            d->more[k][j] = j < d->n ? natural - strain[k][j] : 0.0;
            strain[k][j] = natural;
        }
    }
    ss_polyline_inverses(d->n, d->edge, d->inverse_edge, d->inverse_length);
}

static ss_status der_fill(ss_der *d, const ss_strand_design *design, ss_error *e)
{
    const size_t n = (size_t)d->n, nq = 8 * n + 3;
    double *q = malloc((nq + n) * sizeof *q), *theta = q + nq;
    ss_vec3 *x = malloc((2 * n + 1) * sizeof *x), *d1 = x + n + 1;
    ss_mat3 *frames = malloc(n * sizeof *frames);
    ss_status status = SS_OK;
    if (q == NULL || x == NULL || frames == NULL) {
        status = ss_fail_memory(e, "a strand");
    } else {
        double *strain[2 + SS_DER_BENDS];
        strain_arrays(d, strain);
        take_shape(d, design, SS_SHAPE_NATURAL, x, frames, d1, theta);
        bool sound = find_strains(d, x, d1, theta, q);
        for (int k = 0; k < 2 + SS_DER_BENDS; k++) {
            memcpy(d->more[k], strain[k], n * sizeof *strain[k]);
        }
        take_shape(d, design, SS_SHAPE_START, d->style, frames, d->director, d->theta);
        if (design->nvertices == 0) {
            ss_polyline_take_lengths(d->n, d->edge, d->style);
        }
        sound = find_strains(d, d->style, d->director, d->theta, q) && sound;
        keep_strains(d);
        status = sound ? SS_OK
                       : ss_fail(e, SS_BAD_INPUT,
                                 "a strand of %d vertices folds back or closes between two of "
                                 "them: take more vertices",
                                 d->n + 1);
    }
    free(q);
    free(x);
    free(frames);
    return status;
}

static ss_status der_make(const ss_strand_design *design, const void *settings_, void **strand,
                          ss_error *e)
{
    const settings *set = settings_;
    *strand = NULL;
    int n;
    ss_status status =
        ss_polyline_edges("der", design, set->vertices, LEAST_EDGES, LEAST_EDGES + 1, &n, e);
    if (status != SS_OK) {
        return status;
    }
    ss_der *d = calloc(1, sizeof *d);
    if (d == NULL) {
        return ss_fail_memory(e, "a strand");
    }
    d->n = n;
    d->room = (n + SS_DER_LANES - 1) / SS_DER_LANES * SS_DER_LANES;
    d->two_frame = set->bending != 0;
    d->inextensible = set->impulses == 0;
    d->plain_stretch = set->stretch != 0;
    d->clamp = design->clamp;
    d->rigidity = ss_material_rigidity(&design->material);
    d->relaxation = design->material.relaxation;
    d->length = ss_shape_natural_length(design);
    if (ss_clamps_root(d->clamp)) {
        ss_polyline_hold(d->held, &d->nheld, 0, SS_DER_STRIDE + 3);
    }
    if (ss_clamps_tip(d->clamp)) {
        ss_polyline_hold(d->held, &d->nheld, SS_DER_STRIDE * (n - 1), SS_DER_STRIDE + 3);
    }
    status = der_allocate(d) ? der_fill(d, design, e) : ss_fail_memory(e, "a strand");
    if (status != SS_OK) {
        der_free(d);
        return status;
    }
    *strand = d;
    return SS_OK;
}

static ss_strand_size der_size(const void *strand)
{
    const ss_der *d = strand;
    ss_strand_size size =
        ss_polyline_size(d->n, ss_der_dofs(d), 2 * SS_DER_STRIDE + 2, d->held, d->nheld);
    size.nq += 4 * d->n;
    return size;
}

static void der_lumps(const void *strand, double *mass, double *length)
{
    const ss_der *d = strand;
    ss_polyline_lumps(d->n, d->share, d->length, d->rigidity.line_density, mass, length);
}

static void der_place(const void *strand, const ss_pose *root, const double *q,
                      ss_strand_point *points, ss_strand_point *samples)
{
    const ss_der *d = strand;
    (void)root; // q is of the world
    ss_polyline_place(d->n, q, SS_DER_STRIDE, SS_DER_STRIDE, points, samples);
}

static void der_inertia(const void *strand, const double *q, ss_band *M)
{
    const ss_der *d = strand;
    (void)q;
    for (int j = 0; j < d->n; j++) {
        const int th = SS_DER_STRIDE * j + 3;
        *ss_band_at(M, th, th) += d->rigidity.spin_inertia * d->share[j] * d->length;
    }
}

const ss_strand_model ss_der_model = {
    .name = "der",
    .summary = "discrete elastic rods: vertices and angles of twist, banded mass",
    .reference = "B08, B10",
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .scheme = "newton",
    .frame = SS_FRAME_WORLD,
    .make = der_make,
    .free = der_free,
    .size = der_size,
    .start = ss_der_start,
    .lumps = der_lumps,
    .advance = ss_der_advance,
    .difference = ss_der_difference,
    .script = ss_der_script,
    .place = der_place,
    .energy = ss_der_energy,
    .force = ss_der_force,
    .stiffness = ss_der_stiffness,
    .lengths = ss_der_lengths,
    .damping = ss_der_damping,
    .inertia = der_inertia,
    .project = ss_der_project,
    .balance = ss_der_balance,
    .group = &ss_der_group,
};
