// corde: how a rod with directors is made from a design, and its entry in the list of models (corde.h).
//
// kappa_p is EA, but at least 1e3 EI/l^2, so that directors follow soft edges too. Mass: half of each edge at
// its ends, an edge having the share of the strand's length that it has of the polyline.
#include "strands/models/corde/corde.h"

#include <stdlib.h>
#include <string.h>

#include "strands/models/polyline.h"
#include "strands/shape.h"

#define LEAST_EDGES    2
#define LEAST_PARALLEL 1e3 // EI/l^2
#define ARRAYS         13

typedef struct settings {
    double parallel;
    int vertices;
} settings;

static const settings DEFAULTS = {.parallel = 1.0};
static const ss_key KEYS[] = {
    SS_INTEGER_KEY("vertices", vertices, LEAST_EDGES + 2, 16385),
    SS_REAL_KEY("parallel", parallel, 0.01, 1e6),
    {.name = NULL},
};

static void corde_free(void *strand)
{
    ss_corde *d = strand;
    if (d != NULL) {
        free(d->memory);
        free(d);
    }
}

// Arrays one after another in one piece of memory, of numbers alone.
static bool corde_allocate(ss_corde *d)
{
    const size_t n = (size_t)d->n, room = (size_t)d->room;
    double *at = d->memory = calloc(ARRAYS * room + n + 2 * 3 * (n + 1) + 4 * n, sizeof *at);
    if (at == NULL) {
        return false;
    }
    double **const arrays[ARRAYS] = {
        &d->edge,      &d->inverse_edge, &d->inverse_length, &d->strain[0], &d->strain[1],
        &d->strain[2], &d->aim[0],       &d->aim[1],         &d->aim[2],    &d->more[0],
        &d->more[1],   &d->more[2],      &d->more[3]};
    for (int k = 0; k < ARRAYS; k++, at += room) {
        *arrays[k] = at;
    }
    d->share = at;
    d->style = (ss_vec3 *)(at + n);
    d->home = d->style + n + 1;
    d->turn = (ss_quat *)(d->home + n + 1);
    return true;
}

// The directors (m1, m2, t) of edges whose frames are (t, m1, m2).
static void take_frames(const ss_corde *d, const ss_mat3 *frames, ss_quat *turn)
{
    for (int j = 0; j < d->n; j++) {
        const ss_mat3 *F = &frames[j];
        const ss_mat3 R = {{F->c[1], F->c[2], F->c[0]}};
        turn[j] = ss_quat_of_matrix(&R);
    }
}

// Lengths and strains of a shape. False where it has an edge of no length or a joint that turns back.
static bool find_strains(const ss_corde *d, const ss_vec3 *x, const ss_quat *turn, double *edge,
                         double *const strain[3])
{
    bool sound = true;
    for (int j = 0; j < d->n; j++) {
        edge[j] = ss_length(ss_minus(x[j + 1], x[j]));
        const ss_quat rho = j > 0 ? ss_quat_product(ss_quat_conjugate(turn[j - 1]), turn[j])
                                  : (ss_quat){1, 0, 0, 0};
        const double twice = rho.w < 0.0 ? -2.0 : 2.0;
        strain[0][j] = twice * rho.x;
        strain[1][j] = twice * rho.y;
        strain[2][j] = twice * rho.z;
        sound = sound && isfinite(rho.w);
    }
    return sound && ss_polyline_has_edges(d->n, edge, d->length);
}

// The natural shape from its strains and those of the style, which are in `more`.
static void keep_strains(ss_corde *d)
{
    double *const natural[4] = {d->edge, d->strain[0], d->strain[1], d->strain[2]};
    ss_polyline_shares(d->n, d->edge, d->share);
    ss_polyline_inverses(d->n, d->edge, d->inverse_edge, d->inverse_length);
    for (int j = 0; j < d->n; j++) {
        for (int k = 0; k < 4; k++) {
            d->more[k][j] = natural[k][j] - d->more[k][j];
        }
        d->aim[2][j] = 1.0;
    }
}

static ss_status corde_fill(ss_corde *d, const ss_strand_design *design, ss_error *e)
{
    ss_mat3 *frames = malloc((size_t)d->n * sizeof *frames);
    if (frames == NULL) {
        return ss_fail_memory(e, "a strand");
    }
    ss_shape_vertices(design, SS_SHAPE_NATURAL, d->n + 1, d->style);
    ss_shape_frames(design, SS_SHAPE_NATURAL, d->n + 1, d->style, frames);
    take_frames(d, frames, d->turn);
    bool sound = find_strains(d, d->style, d->turn, d->edge, d->strain);
    ss_shape_vertices(design, SS_SHAPE_START, d->n + 1, d->style);
    ss_shape_frames(design, SS_SHAPE_START, d->n + 1, d->style, frames);
    take_frames(d, frames, d->turn);
    if (design->nvertices == 0) {
        ss_polyline_take_lengths(d->n, d->edge, d->style);
    }
    sound = find_strains(d, d->style, d->turn, d->more[0], d->more + 1) && sound;
    keep_strains(d);
    free(frames);
    return sound ? SS_OK
                 : ss_fail(e, SS_BAD_INPUT,
                           "a strand of %d vertices closes between two of them: take more vertices",
                           d->n + 1);
}

// What the material and the length say.
static void take_material(ss_corde *d, const ss_material *m, double parallel)
{
    const double l = d->length / d->n;
    d->rigidity = ss_material_rigidity(m);
    d->relaxation = m->relaxation;
    d->spin[0] = m->density * d->rigidity.bend1 / m->young;
    d->spin[1] = m->density * d->rigidity.bend2 / m->young;
    d->spin[2] = d->rigidity.spin_inertia;
    d->parallel =
        parallel * fmax(d->rigidity.stretch,
                        LEAST_PARALLEL * fmax(d->rigidity.bend1, d->rigidity.bend2) / (l * l));
}

static ss_status corde_make(const ss_strand_design *design, const void *settings_, void **strand,
                            ss_error *e)
{
    const settings *set = settings_;
    *strand = NULL;
    int n;
    ss_status status =
        ss_polyline_edges("corde", design, set->vertices, LEAST_EDGES, LEAST_EDGES + 1, &n, e);
    if (status != SS_OK) {
        return status;
    }
    ss_corde *d = calloc(1, sizeof *d);
    if (d == NULL) {
        return ss_fail_memory(e, "a strand");
    }
    d->n = n;
    d->room = (n + SS_CORDE_LANES - 1) / SS_CORDE_LANES * SS_CORDE_LANES;
    d->clamp = design->clamp;
    d->length = ss_shape_natural_length(design);
    take_material(d, &design->material, set->parallel);
    if (ss_clamps_root(d->clamp)) {
        ss_polyline_hold(d->held, &d->nheld, 0, SS_CORDE_DOFS + 3);
    }
    if (ss_clamps_tip(d->clamp)) {
        ss_polyline_hold(d->held, &d->nheld, SS_CORDE_DOFS * (n - 1), SS_CORDE_DOFS + 3);
    }
    status = corde_allocate(d) ? corde_fill(d, design, e) : ss_fail_memory(e, "a strand");
    if (status != SS_OK) {
        corde_free(d);
        return status;
    }
    *strand = d;
    return SS_OK;
}

static ss_strand_size corde_size(const void *strand)
{
    const ss_corde *d = strand;
    ss_strand_size size =
        ss_polyline_size(d->n, ss_corde_dofs(d), SS_CORDE_DOFS + 2, d->held, d->nheld);
    size.nq += d->n;
    return size;
}

static void corde_lumps(const void *strand, double *mass, double *length)
{
    const ss_corde *d = strand;
    ss_polyline_lumps(d->n, d->share, d->length, d->rigidity.line_density, mass, length);
}

static void corde_place(const void *strand, const ss_pose *root, const double *q,
                        ss_strand_point *points, ss_strand_point *samples)
{
    const ss_corde *d = strand;
    (void)root; // q is of the world
    ss_polyline_place(d->n, q, SS_CORDE_PLACE, SS_CORDE_DOFS, points, samples);
}

static void corde_inertia(const void *strand, const double *q, ss_band *M)
{
    const ss_corde *d = strand;
    (void)q;
    for (int j = 0; j < d->n; j++) {
        for (int k = 0; k < 3; k++) {
            const int dof = SS_CORDE_DOFS * j + 3 + k;
            *ss_band_at(M, dof, dof) += d->spin[k] * d->share[j] * d->length;
        }
    }
}

const ss_strand_model ss_corde_model = {
    .name = "corde",
    .summary = "elastic rods of vertices and directors (CoRdE), banded mass",
    .reference = "ST07",
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .scheme = "newton",
    .frame = SS_FRAME_WORLD,
    .make = corde_make,
    .free = corde_free,
    .size = corde_size,
    .start = ss_corde_start,
    .lumps = corde_lumps,
    .advance = ss_corde_advance,
    .difference = ss_corde_difference,
    .script = ss_corde_script,
    .place = corde_place,
    .energy = ss_corde_energy,
    .force = ss_corde_force,
    .stiffness = ss_corde_stiffness,
    .damping = ss_corde_damping,
    .inertia = corde_inertia,
    .balance = ss_corde_balance,
};
