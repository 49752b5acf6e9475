// lifted-curls: how a curl is made from a design, and its entry in the list of models (lifted_curls.h).
//
// The natural strains are those that the curl's own kernel finds in the natural shape. Mass: half of each
// edge at its ends, an edge having the share of the strand's length that it has of the polyline.
#include "strands/models/lifted_curls/lifted_curls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "strands/models/polyline.h"
#include "strands/shape.h"

#define HELD        3 // vertices at a clamp
#define LEAST_EDGES 3

// A natural joint below this sine has no plane: the torsions about both of its edges have no stiffness.
#define LEAST_TORSION 1e-3
// Sine of a joint below which it has no bending force; of a natural shape that is straight, where the formulas
// of a bent one lose half of their digits.
#define LEAST_BENT     1e-8
#define LEAST_STRAIGHT 1e-6

#define AS_ALL 4 // place of "filter" among the choices of one energy

typedef struct settings {
    int vertices, filter;
    double taper;              // radius at the tip over that at the root
    int one[SS_CURL_ENERGIES]; // AS_ALL: that of all
} settings;

static const settings DEFAULTS = {
    .vertices = 0, .filter = SS_CURL_SPLIT, .taper = 1.0, .one = {AS_ALL, AS_ALL, AS_ALL}};
static const char *const FILTERS[] = {"exact", "split", "text", "gn", NULL}; // ss_curl_filter
static const char *const OWN_FILTERS[] = {"exact", "split", "text", "gn", "filter", NULL};
static const ss_key KEYS[] = {
    SS_INTEGER_KEY("vertices", vertices, LEAST_EDGES + 1, 16385),
    SS_CHOICE_KEY("filter", filter, FILTERS),
    SS_REAL_KEY("taper", taper, 0.01, 10.0),
    SS_CHOICE_KEY("stretch", one[SS_CURL_STRETCHES], OWN_FILTERS),
    SS_CHOICE_KEY("bending", one[SS_CURL_BENDS], OWN_FILTERS),
    SS_CHOICE_KEY("torsion", one[SS_CURL_TWISTS], OWN_FILTERS),
    {.name = NULL},
};

static void curl_free(void *strand)
{
    ss_curl *c = strand;
    if (c != NULL) {
        free(c->memory);
        free(c);
    }
}

// Arrays one after another in one piece of memory, of numbers alone.
static bool curl_allocate(ss_curl *c)
{
    const size_t n = (size_t)c->n, room = (size_t)c->room;
    double *at = c->memory = calloc(SS_CURL_NUMBERS * room + 2 * n + 6 * (n + 1), sizeof *at);
    if (at == NULL) {
        return false;
    }
    for (int k = 0; k < SS_CURL_NUMBERS; k++, at += room) {
        c->number[k] = at;
    }
    c->share = at;
    c->load = at + n;
    c->style = (ss_vec3 *)(at + 2 * n);
    c->home = c->style + n + 1;
    return true;
}

// The joint at vertex j: its stiffness times 2/EI, that is 2/lbar except for the last one that a clamp holds.
static double joint_weight(const ss_curl *c, const double *edge, int j)
{
    if (ss_clamps_root(c->clamp) && j == HELD - 1) {
        return 2.0 / (0.5 * edge[j]);
    }
    if (ss_clamps_tip(c->clamp) && j == c->n - HELD + 1) {
        return 2.0 / (0.5 * edge[j - 1]);
    }
    return 2.0 / (0.5 * (edge[j - 1] + edge[j]));
}

// The mean of the square of the radius between two shares of the length, over its mean along the strand.
static double section_between(double taper, double from, double to)
{
    const double a = 1.0 + (taper - 1.0) * from, b = 1.0 + (taper - 1.0) * to;
    return (a * a + a * b + b * b) / (1.0 + taper + taper * taper);
}

// From the strains of the natural shape.
static void set_numbers(ss_curl *c, const ss_rigidity *rigidity, const double *edge,
                        const double *theta, const double *sine, const double *tau)
{
    for (int j = 0; j < c->room; j++) {
        c->number[SS_CURL_LEAST_SINE][j] = 2.0;
    }
    for (int j = 0; j < c->n; j++) {
        c->number[SS_CURL_INVERSE_EDGE][j] = 1.0 / edge[j];
        c->number[SS_CURL_STRETCH][j] = rigidity->stretch;
    }
    for (int j = 1; j < c->n; j++) {
        const bool straight = sine[j] < LEAST_STRAIGHT;
        c->number[SS_CURL_BEND][j] = 0.5 * rigidity->bend1 * joint_weight(c, edge, j);
        c->number[SS_CURL_THETA][j] = straight ? acos(-1.0) : theta[j];
        c->number[SS_CURL_STRAIGHT][j] = straight;
        c->number[SS_CURL_LEAST_SINE][j] = straight ? LEAST_STRAIGHT : LEAST_BENT;
    }
    for (int j = 2; j < c->n; j++) {
        const bool plane = sine[j - 1] >= LEAST_TORSION && sine[j] >= LEAST_TORSION;
        c->number[SS_CURL_TORSION][j] = plane ? rigidity->twist / edge[j - 1] : 0.0;
        c->number[SS_CURL_TAU][j] = plane ? tau[j] : 0.0;
    }
}

// The mass of edges, and rigidities by their sections: EA by the area, EI and GJ by its square.
static void set_sections(ss_curl *c, double taper)
{
    double from = 0.0;
    for (int j = 0; j < c->n; j++) {
        const double to = from + c->share[j], whole = section_between(taper, from, to);
        const double start = section_between(taper, from, from);
        c->load[j] = whole * c->share[j];
        c->number[SS_CURL_STRETCH][j] *= whole;
        c->number[SS_CURL_BEND][j] *= start * start;
        if (j + 1 < c->n) {
            c->number[SS_CURL_TORSION][j + 1] *= whole * whole;
        }
        from = to;
    }
}

static ss_status curl_fill(ss_curl *c, const ss_strand_design *design, double taper, ss_error *e)
{
    const ss_rigidity rigidity = ss_material_rigidity(&design->material);
    const size_t n = (size_t)c->n, room = (size_t)c->room;
    double *edge = calloc(4 * room, sizeof *edge);
    ss_vec3 *x = malloc((n + 1) * sizeof *x);
    ss_status status = SS_OK;
    if (edge == NULL || x == NULL) {
        status = ss_fail_memory(e, "a strand");
    } else {
        double *theta = edge + room, *sine = theta + room, *tau = sine + room;
        ss_shape_vertices(design, SS_SHAPE_NATURAL, c->n + 1, x);
        ss_curl_strains(c, &x[0].x, edge, theta, sine, tau);
        set_numbers(c, &rigidity, edge, theta, sine, tau);
        bool sound = ss_polyline_has_edges(c->n, edge, c->length);
        ss_polyline_shares(c->n, edge, c->share);
        set_sections(c, taper);
        ss_shape_vertices(design, SS_SHAPE_START, c->n + 1, c->style);
        if (design->nvertices == 0) {
            ss_polyline_take_lengths(c->n, edge, c->style);
        }
        ss_curl_strains(c, &c->style[0].x, edge, theta, sine, tau);
        sound = ss_polyline_has_edges(c->n, edge, c->length) && sound &&
                isfinite(ss_curl_energy(c, &c->style[0].x));
        status = sound ? SS_OK
                       : ss_fail(e, SS_BAD_INPUT,
                                 "a strand of %d vertices closes between two of them: take more "
                                 "vertices",
                                 c->n + 1);
    }
    free(edge);
    free(x);
    return status;
}

static ss_status check_section(const ss_strand_design *design, ss_error *e)
{
    if (design->material.ellipticity != 1.0) {
        return ss_fail(e, SS_BAD_INPUT,
                       "a strand of the model lifted-curls has a round section, not one of "
                       "ellipticity %g; take the model der",
                       design->material.ellipticity);
    }
    return SS_OK;
}

static ss_status curl_make(const ss_strand_design *design, const void *settings_, void **strand,
                           ss_error *e)
{
    const settings *set = settings_;
    *strand = NULL;
    int n;
    ss_status status =
        ss_polyline_edges("lifted-curls", design, set->vertices, LEAST_EDGES, 2 * HELD, &n, e);
    status = status == SS_OK ? check_section(design, e) : status;
    if (status != SS_OK) {
        return status;
    }
    ss_curl *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return ss_fail_memory(e, "a strand");
    }
    c->n = n;
    c->room = (n + SS_CURL_LANES - 1) / SS_CURL_LANES * SS_CURL_LANES;
    for (int k = 0; k < SS_CURL_ENERGIES; k++) {
        c->filter[k] = (ss_curl_filter)(set->one[k] == AS_ALL ? set->filter : set->one[k]);
    }
    c->clamp = design->clamp;
    c->line_density = ss_material_rigidity(&design->material).line_density;
    c->relaxation = design->material.relaxation;
    c->length = ss_shape_natural_length(design);
    if (ss_clamps_root(c->clamp)) {
        ss_polyline_hold(c->held, &c->nheld, 0, 3 * HELD);
    }
    c->nroot = c->nheld;
    if (ss_clamps_tip(c->clamp)) {
        ss_polyline_hold(c->held, &c->nheld, 3 * (n + 1 - HELD), 3 * HELD);
    }
    status = curl_allocate(c) ? curl_fill(c, design, set->taper, e) : ss_fail_memory(e, "a strand");
    if (status != SS_OK) {
        curl_free(c);
        return status;
    }
    *strand = c;
    return SS_OK;
}

static ss_strand_size curl_size(const void *strand)
{
    const ss_curl *c = strand;
    return ss_polyline_size(c->n, 3 * (c->n + 1), 11, c->held, c->nheld);
}

static void curl_start(void *strand, const ss_pose *root, double *q)
{
    ss_curl *c = strand;
    for (int i = 0; i <= c->n; i++) {
        c->home[i] = ss_pose_point(root, c->style[i]);
    }
    memcpy(q, c->home, (size_t)(c->n + 1) * sizeof *c->home);
}

static void curl_lumps(const void *strand, double *mass, double *length)
{
    const ss_curl *c = strand;
    ss_polyline_lumps(c->n, c->load, c->length, c->line_density, mass, length);
    ss_polyline_halves(c->n, c->share, c->length, length);
}

static void curl_advance(const void *strand, const double *q, const double *v, double h,
                         double *moved)
{
    const ss_curl *c = strand;
    for (int k = 0; k < 3 * (c->n + 1); k++) {
        moved[k] = q[k] + h * v[k];
    }
}

static void curl_script(const void *strand, const ss_pose moved[2], const double *q, double h,
                        double *v)
{
    const ss_curl *c = strand;
    for (int k = 0; k < c->nheld; k += 3) {
        const int i = c->held[k] / 3;
        const ss_vec3 there = ss_pose_point(&moved[k < c->nroot ? 0 : 1], c->home[i]);
        const ss_vec3 rate = ss_scaled(1.0 / h, ss_minus(there, ss_curl_vertex(q, i)));
        v[3 * i] = rate.x;
        v[3 * i + 1] = rate.y;
        v[3 * i + 2] = rate.z;
    }
}

static void curl_place(const void *strand, const ss_pose *root, const double *q,
                       ss_strand_point *points, ss_strand_point *samples)
{
    const ss_curl *c = strand;
    (void)root; // q is of the world
    ss_polyline_place(c->n, q, 3, 3, points, samples);
}

const ss_strand_model ss_lifted_curls = {
    .name = "lifted-curls",
    .summary = "vertices with angles of bending and torsion, banded mass",
    .reference = "S23",
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .scheme = "newton:iterations=3,growth=0",
    .kind = SS_STIFFNESS_FILTERED,
    .clamp_edges = HELD - 1,
    .frame = SS_FRAME_WORLD,
    .make = curl_make,
    .free = curl_free,
    .size = curl_size,
    .start = curl_start,
    .lumps = curl_lumps,
    .advance = curl_advance,
    .script = curl_script,
    .place = curl_place,
    .energy = ss_curl_energy,
    .force = ss_curl_force,
    .stiffness = ss_curl_stiffness,
    .damping = ss_curl_damping,
};
