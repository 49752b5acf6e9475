// super-helix: a strand of pieces of helix, inextensible by construction [B06].
//
//     E = 1/2 sum_e l_e (GJ (q_0 - q^n_0)^2 + E I1 (q_1 - q^n_1)^2 + E I2 (q_2 - q^n_2)^2)
//
// so that K is constant and diagonal, and C = relaxation K. Rotation of the sections has no
// inertia, but that about a free strand's centre line. Integrals over mass are Gauss quadratures of
//
//     n_G = max(6, ceil(x) + 5)
//
// points an element, x = 1 rad plus the largest angle that an element of the style or the natural
// shape turns through. Clamped hair stays near its style, and the radian is room to leave it: M0
// loses a digit for a few radians more.
#include "strands/models/super_helix/super_helix.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "strands/quaternion.h"
#include "strands/shape.h"

#define PI 3.14159265358979323846

#define DEFAULT_ELEMENTS 5
#define SHARED_ELEMENTS  7
#define SHARED_FIRST     4 // elements that have the first of two twists in common

// rad: an element that turns further is not resolved by any use of it, and would need thousands of
// quadrature points.
#define MOST_TURN 200.0

// rad: room for motion about the style, see above.
#define TURN_ROOM 1.0

// m/s^2: a free strand whose load accelerates it by less is at rest.
#define REST_ACCELERATION 1e-6

typedef enum layout { LAYOUT_FULL, LAYOUT_SHARED } layout;
enum { ROOT_DESIGN, ROOT_CLAMPED, ROOT_FREE };

typedef struct settings {
    int elements; // 0: those of the layout
    int layout;
    int root;
} settings;

static const settings DEFAULTS = {0, LAYOUT_FULL, ROOT_DESIGN};
static const char *const LAYOUTS[] = {"full", "shared", NULL};
static const char *const ROOTS[] = {"design", "clamped", "free", NULL};
static const ss_key KEYS[] = {
    SS_INTEGER_KEY("elements", elements, 1, SS_HELIX_MOST_ELEMENTS),
    SS_CHOICE_KEY("layout", layout, LAYOUTS),
    SS_CHOICE_KEY("root", root, ROOTS),
    {.name = NULL},
};

static void free_strand(void *strand)
{
    ss_helix *helix = strand;
    if (helix != NULL) {
        free(helix->sigma);
        free(helix->gauss_sigma);
        free(helix->gauss_length);
        free(helix);
    }
}

// Numbers the dofs in the order of the elements.
static void number_dofs(ss_helix *helix, bool shared)
{
    int next = helix->nroot, twist = 0;
    for (int e = 0; e < helix->nelements; e++) {
        if (!shared || e == 0 || e == SHARED_FIRST) {
            twist = next++;
        }
        helix->dof[e][0] = twist;
        helix->dof[e][1] = next++;
        helix->dof[e][2] = next++;
        helix->reach[e] = next;
    }
    helix->nv = next;
}

static double *component(ss_vec3 *x, int i)
{
    return i == 0 ? &x->x : i == 1 ? &x->y : &x->z;
}

// Style, natural shape and K of the dofs: sums over the elements that share one, then means.
static void gather_shape(ss_helix *helix, const ss_strand_design *design)
{
    const ss_rigidity r = ss_material_rigidity(&design->material);
    const double bends[3] = {r.twist, r.bend1, r.bend2};
    const int n = helix->nelements;
    double style[SS_HELIX_MOST_ELEMENTS][3], unrest[SS_HELIX_MOST_ELEMENTS][3];
    int elements[SS_HELIX_MOST_DOFS] = {0};
    ss_shape_curvatures(design, !helix->free_root, n, style, unrest);
    for (int e = 0; e < n; e++) {
        for (int i = 0; i < 3; i++) {
            const int k = helix->dof[e][i];
            helix->rigidity[k] += bends[i] * helix->element_length;
            helix->style[k] += style[e][i];
            helix->unrest[k] += unrest[e][i];
            elements[k]++;
        }
    }
    for (int k = helix->nroot; k < helix->nv; k++) {
        helix->style[k] /= elements[k];
        helix->unrest[k] /= elements[k];
        helix->natural[k] = helix->style[k] + helix->unrest[k];
    }
    for (int e = 0; e < n; e++) {
        for (int i = 0; i < 3; i++) {
            *component(&helix->offset[e], i) = style[e][i] - helix->style[helix->dof[e][i]];
        }
    }
}

// The largest angle that an element turns through, in the style or the natural shape.
static double largest_turn(const ss_helix *helix)
{
    double most = 0.0;
    for (int e = 0; e < helix->nelements; e++) {
        const ss_vec3 style =
            ss_plus(helix->offset[e], ss_helix_curvature_rate(helix, helix->style, e));
        const ss_vec3 unrest = ss_helix_curvature_rate(helix, helix->unrest, e);
        const double a = ss_length(style), b = ss_length(ss_plus(style, unrest));
        most = fmax(most, fmax(a, b) * helix->element_length);
    }
    return most;
}

// Nodes and weights of Gauss and Legendre on [0, length]: the zeros z of P_n by Newton's method,
// and 2 / ((1 - z^2) P_n'^2).
static void gauss(int n, double length, double *sigma, double *weight)
{
    for (int k = 0; k < n; k++) {
        double z = -cos(PI * (k + 0.75) / (n + 0.5)), slope = 1.0;
        for (int step = 0; step < 8; step++) {
            double before = 0.0, value = 1.0;
            for (int j = 1; j <= n; j++) {
                const double next = ((2.0 * j - 1.0) * z * value - (j - 1.0) * before) / j;
                before = value;
                value = next;
            }
            slope = n * (z * value - before) / (z * z - 1.0);
            z -= value / slope;
        }
        sigma[k] = 0.5 * length * (1.0 + z);
        weight[k] = length / ((1.0 - z * z) * slope * slope);
    }
}

// Points come by arclength.
static void put_point(ss_helix *helix, int k, int element, double sigma)
{
    helix->sigma[k] = sigma;
    for (int e = element; e < helix->nelements; e++) {
        helix->first[e + 1] = k + 1;
    }
}

// Vertex k of the polyline is at k nelements / (npoints - 1) elements from the root; one between
// two elements is the end of the first, which fewer dofs move.
static void put_stations(ss_helix *helix)
{
    const int n = helix->nelements, segments = helix->npoints - 1;
    for (int k = 0; k <= segments; k++) {
        const int e = k > 0 ? (k * n - 1) / segments : 0;
        const double share = (double)(k * n - e * segments) / segments;
        put_point(helix, k, e, share * helix->element_length);
    }
}

// Of a strand that is held up to there: what is held has no station but its end.
static void put_held_stations(ss_helix *helix, double length, double held)
{
    const int segments = helix->npoints - 1, last = helix->nelements - 1;
    for (int k = 0; k <= segments; k++) {
        const double s = fmax(k * length / segments - held, 0.0);
        const int e = s > 0.0 ? (int)ceil(s / helix->element_length) - 1 : 0;
        const int in = e < last ? e : last;
        put_point(helix, k, in, s - in * helix->element_length);
    }
}

static ss_status allocate(ss_helix *helix, ss_error *e)
{
    helix->sigma = calloc((size_t)helix->npoints, sizeof *helix->sigma);
    helix->gauss_sigma = calloc((size_t)helix->ngauss, sizeof *helix->gauss_sigma);
    helix->gauss_length = calloc((size_t)helix->ngauss, sizeof *helix->gauss_length);
    return helix->sigma != NULL && helix->gauss_sigma != NULL && helix->gauss_length != NULL
               ? SS_OK
               : ss_fail_memory(e, "a strand");
}

static void take_material(ss_helix *helix, const ss_material *m)
{
    const ss_rigidity rigidity = ss_material_rigidity(m);
    helix->line_density = rigidity.line_density;
    helix->spin_inertia = rigidity.spin_inertia;
    helix->relaxation = m->relaxation;
}

static ss_status take_settings(ss_helix *helix, const settings *s, ss_clamp clamp, ss_error *e)
{
    const bool shared = s->layout == LAYOUT_SHARED;
    const int own = shared ? SHARED_ELEMENTS : DEFAULT_ELEMENTS;
    helix->nelements = s->elements > 0 ? s->elements : own;
    if (shared && helix->nelements != SHARED_ELEMENTS) {
        return ss_fail(e, SS_BAD_INPUT, "layout=shared has %d elements: leave elements=%d away",
                       SHARED_ELEMENTS, s->elements);
    }
    helix->free_root = s->root == ROOT_DESIGN ? clamp == SS_CLAMP_NONE : s->root == ROOT_FREE;
    helix->nroot = helix->free_root ? SS_HELIX_ROOT_DOFS : 0;
    number_dofs(helix, shared);
    return SS_OK;
}

static ss_status fill_strand(ss_helix *helix, const ss_strand_design *design, const settings *s,
                             ss_error *e)
{
    ss_status status = take_settings(helix, s, design->clamp, e);
    if (status != SS_OK) {
        return status;
    }
    helix->npoints = ss_shape_segments(design) + 1;
    const double length = ss_shape_length(design), held = ss_shape_held(design, !helix->free_root);
    helix->element_length = (length - held) / helix->nelements;
    helix->begins_away = design->nvertices > 0;
    helix->begin = ss_shape_root(design, !helix->free_root);
    take_material(helix, &design->material);
    gather_shape(helix, design);
    const double turn = largest_turn(helix);
    if (!(turn <= MOST_TURN)) {
        return ss_fail(
            e, SS_BAD_INPUT,
            "an element of the strand turns by %.3g rad, more than %g: use more elements", turn,
            MOST_TURN);
    }
    helix->ngauss = (int)fmax(6.0, ceil(turn + TURN_ROOM) + 5.0);
    status = allocate(helix, e);
    if (status == SS_OK) {
        put_stations(helix);
        if (held > 0.0) {
            put_held_stations(helix, length, held);
        }
        gauss(helix->ngauss, helix->element_length, helix->gauss_sigma, helix->gauss_length);
    }
    return status;
}

static ss_status make(const ss_strand_design *design, const void *settings_, void **strand,
                      ss_error *e)
{
    *strand = NULL;
    ss_status status = ss_strand_design_check(design, e);
    if (status == SS_OK) {
        status = ss_strand_design_check_tip(design, "super-helix", e);
    }
    if (status != SS_OK) {
        return status;
    }
    ss_helix *helix = calloc(1, sizeof *helix);
    if (helix == NULL) {
        return ss_fail_memory(e, "a strand");
    }
    status = fill_strand(helix, design, settings_, e);
    if (status != SS_OK) {
        free_strand(helix);
        return status;
    }
    *strand = helix;
    return SS_OK;
}

static ss_strand_size size(const void *strand)
{
    const ss_helix *helix = strand;
    return (ss_strand_size){.nq = ss_helix_coordinate(helix, helix->nv),
                            .nv = helix->nv,
                            .half_bandwidth = helix->nv - 1,
                            .npoints = helix->npoints,
                            .nsamples = helix->nelements * helix->ngauss,
                            .width = helix->nv};
}

static void start(void *strand, const ss_pose *root, double *q)
{
    const ss_helix *helix = strand;
    (void)root; // q is of its frame
    if (helix->free_root) {
        q[0] = helix->begin.place.x;
        q[1] = helix->begin.place.y;
        q[2] = helix->begin.place.z;
        ss_quat_write(ss_quat_of_matrix(&helix->begin.turn), q + 3);
    }
    for (int k = helix->nroot; k < helix->nv; k++) {
        q[ss_helix_coordinate(helix, k)] = helix->style[k];
    }
}

static void lumps(const void *strand, double *mass, double *length)
{
    const ss_helix *helix = strand;
    for (int k = 0; k < helix->nelements * helix->ngauss; k++) {
        length[k] = helix->gauss_length[k % helix->ngauss];
        mass[k] = helix->line_density * length[k];
    }
}

// q - q^n of the dof of velocity k; 0 for the root, as its rigidity is.
static double strain(const ss_helix *helix, const double *q, int k)
{
    return q[ss_helix_coordinate(helix, k)] - helix->natural[k];
}

static double energy(const void *strand, const double *q)
{
    const ss_helix *helix = strand;
    double sum = 0.0;
    for (int k = helix->nroot; k < helix->nv; k++) {
        sum += 0.5 * helix->rigidity[k] * strain(helix, q, k) * strain(helix, q, k);
    }
    return sum;
}

static void force(const void *strand, const double *q, const double *v, double *F)
{
    const ss_helix *helix = strand;
    (void)v;
    for (int k = helix->nroot; k < helix->nv; k++) {
        F[k] -= helix->rigidity[k] * strain(helix, q, k);
    }
}

// K is constant.
static void add_rigidity(const ss_helix *helix, double scale, ss_band *A)
{
    for (int k = helix->nroot; k < helix->nv; k++) {
        *ss_band_at(A, k, k) += scale * helix->rigidity[k];
    }
}

static bool stiffness(const void *strand, const double *q, ss_stiffness kind, double scale,
                      ss_band *A)
{
    (void)q;
    if (kind == SS_STIFFNESS_EXACT) {
        add_rigidity(strand, scale, A);
    }
    return kind == SS_STIFFNESS_EXACT;
}

static void damping(const void *strand, const double *q, double scale, ss_band *A)
{
    const ss_helix *helix = strand;
    (void)q;
    add_rigidity(helix, scale * helix->relaxation, A);
}

// Whether a load leaves the root of a free strand where it is.
static bool root_rests(const ss_helix *helix, const double *load)
{
    const double length = helix->nelements * helix->element_length;
    const double force_bound = REST_ACCELERATION * helix->line_density * length;
    bool rests = true;
    for (int k = 0; k < helix->nroot; k++) {
        const double bound = k < 3 ? force_bound : force_bound * length;
        rests = rests && fabs(load[k]) <= bound;
    }
    return rests;
}

static ss_status balance(void *strand, const double *q, const double *load, ss_error *e)
{
    ss_helix *helix = strand;
    if (!root_rests(helix, load)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "a strand with root=free cannot rest under a load that moves its root: "
                       "clamp the root, or let it begin unsettled");
    }
    for (int k = helix->nroot; k < helix->nv; k++) {
        helix->natural[k] =
            q[ss_helix_coordinate(helix, k)] - load[k] / helix->rigidity[k] + helix->unrest[k];
    }
    return SS_OK;
}

const ss_strand_model ss_super_helix = {
    .name = "super-helix",
    .summary = "elements of constant curvature and twist, inextensible, dense mass",
    .reference = "B06",
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .scheme = "linear",
    .frame = SS_FRAME_ROOT,
    .make = make,
    .free = free_strand,
    .size = size,
    .start = start,
    .lumps = lumps,
    .advance = ss_helix_advance,
    .difference = ss_helix_difference,
    .place = ss_helix_place,
    .convect = ss_helix_convect,
    .energy = energy,
    .force = force,
    .stiffness = stiffness,
    .damping = damping,
    .inertia = ss_helix_inertia,
    .balance = balance,
};
