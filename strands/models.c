// The list of strand models, their specs, and what all of them ask of a design.
#include "strands/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "strands/models.h"
#include "strands/spec.h"

const ss_strand_model *const ss_strand_models[] = {SS_LISTED_STRAND_MODELS, NULL};

const char *const ss_stiffness_names[] = {"exact", "filtered", "gauss-newton", "own", NULL};

// An edge shorter than this share of the mean one has no direction to keep, and two that meet at a
// larger cosine fold back: frames cannot be carried over them.
#define LEAST_EDGE 1e-9
#define FOLD       -0.999999

// More vertices than this are a mistyped number, and their products with counts stay ints.
#define MOST_SEGMENTS 16384
#define MOST_PIECES   65536

// Lengths and rigidities outside leave no room for their products and powers.
#define LEAST_LENGTH   1e-50 // m
#define MOST_LENGTH    1e50
#define LEAST_RIGIDITY 1e-100 // kg/m, N, N m^2, kg m
#define MOST_RIGIDITY  1e100

static bool all_finite(const double (*pieces)[3], int npieces)
{
    bool finite = true;
    for (int k = 0; pieces != NULL && k < npieces; k++) {
        for (int i = 0; i < 3; i++) {
            finite = finite && isfinite(pieces[k][i]);
        }
    }
    return finite;
}

static bool positive(double x)
{
    return isfinite(x) && x > 0.0;
}

static ss_status check_length(double length, ss_error *e)
{
    return length >= LEAST_LENGTH && length <= MOST_LENGTH
               ? SS_OK
               : ss_fail(e, SS_BAD_INPUT, "a strand's length must be from %g m to %g m, not %g m",
                         LEAST_LENGTH, MOST_LENGTH, length);
}

static ss_status check_rigidities(const ss_material *m, ss_error *e)
{
    const ss_rigidity r = ss_material_rigidity(m);
    const struct {
        const char *name, *unit;
        double value;
    } all[] = {{"mass per length", "kg/m", r.line_density},
               {"twisting rigidity", "N m^2", r.twist},
               {"bending rigidity", "N m^2", r.bend1},
               {"bending rigidity", "N m^2", r.bend2},
               {"stretching rigidity", "N", r.stretch},
               {"rotational inertia per length", "kg m", r.spin_inertia}};
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        if (!(all[k].value >= LEAST_RIGIDITY && all[k].value <= MOST_RIGIDITY)) {
            return ss_fail(e, SS_BAD_INPUT,
                           "a strand of the radius %g m has the %s %g %s, which must be from %g to "
                           "%g: check its units",
                           m->radius, all[k].name, all[k].value, all[k].unit, LEAST_RIGIDITY,
                           MOST_RIGIDITY);
        }
    }
    return SS_OK;
}

static ss_status check_material(const ss_material *m, ss_error *e)
{
    if (!positive(m->density) || !positive(m->radius) || !positive(m->ellipticity) ||
        !positive(m->young)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "a strand's density %g, radius %g, ellipticity %g and Young's modulus %g "
                       "must be above 0",
                       m->density, m->radius, m->ellipticity, m->young);
    }
    if (!(m->poisson > -1.0 && m->poisson <= 0.5)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "a strand's Poisson number must be above -1 and at most 0.5, not %g",
                       m->poisson);
    }
    if (!positive(m->stretch)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "the factor of a strand's stretching stiffness must be above 0, not %g",
                       m->stretch);
    }
    if (!(isfinite(m->relaxation) && m->relaxation >= 0.0)) {
        return ss_fail(e, SS_BAD_INPUT, "a strand's relaxation must be 0 s or more, not %g",
                       m->relaxation);
    }
    return check_rigidities(m, e);
}

static ss_status check_curvatures(const ss_strand_design *d, ss_error *e)
{
    const ss_status status = check_length(d->length, e);
    if (status != SS_OK) {
        return status;
    }
    if (d->npieces < 0 || d->npieces > MOST_PIECES || (d->npieces > 0 && d->style == NULL)) {
        return ss_fail(e, SS_BAD_INPUT, "a strand's style has 0 to %d pieces, all given, not %d",
                       MOST_PIECES, d->npieces);
    }
    if (!all_finite(d->style, d->npieces) || !all_finite(d->unrest, d->npieces)) {
        return ss_fail(e, SS_BAD_INPUT, "a curvature of a strand's style or unrest is not finite");
    }
    return SS_OK;
}

static ss_vec3 edge_to(const ss_strand_design *d, const ss_vec3 *x, int i)
{
    return ss_minus(x[i], x[ss_design_before(d, i)]);
}

static ss_status check_polyline(const ss_strand_design *d, const ss_vec3 *x, const char *which,
                                ss_error *e)
{
    const int n = d->nvertices;
    double length = 0.0;
    for (int i = 0; i < n; i++) {
        if (!isfinite(x[i].x) || !isfinite(x[i].y) || !isfinite(x[i].z)) {
            return ss_fail(e, SS_BAD_INPUT, "%s[%d] of a strand is not finite", which, i);
        }
        length += i > 0 ? ss_length(edge_to(d, x, i)) : 0.0;
    }
    const ss_status status = length > 0.0 ? check_length(length, e) : SS_OK;
    if (status != SS_OK) {
        return status;
    }
    for (int i = 1; i < n; i++) {
        const int from = ss_design_before(d, i);
        const ss_vec3 edge = edge_to(d, x, i);
        const double mean = length / (n - 1), own = ss_length(edge);
        if (!(own > 0.0)) {
            return ss_fail(e, SS_BAD_INPUT,
                           "%s[%d] and [%d] of a strand are on one place: move one or leave it out",
                           which, from, i);
        }
        if (!(own > LEAST_EDGE * mean)) {
            return ss_fail(e, SS_BAD_INPUT,
                           "%s[%d] and [%d] of a strand are %g m apart, and its vertices %g m on "
                           "average: move one or leave it out",
                           which, from, i, own, mean);
        }
        if (from > 0 && !(ss_dot(ss_unit(edge), ss_unit(edge_to(d, x, from))) > FOLD)) {
            return ss_fail(e, SS_BAD_INPUT,
                           "a strand folds back on itself at %s[%d]: move it or leave it out",
                           which, from);
        }
    }
    return SS_OK;
}

// How many there are from j to its root; 0 where a loop keeps it from one.
static int steps_to_root(int n, const int *parent, int j)
{
    int steps = 0;
    for (int i = j; i >= 0 && steps <= n; i = parent[i]) {
        steps++;
    }
    return steps <= n ? steps : 0;
}

ss_status ss_check_parents(int n, const int *parent, const char *what, ss_error *e)
{
    for (int j = 0; j < n; j++) {
        if (parent[j] < -1 || parent[j] >= n) {
            return ss_fail(e, SS_BAD_INPUT,
                           "%s %d hangs from %s %d, which does not exist: there are %d", what, j,
                           what, parent[j], n);
        }
    }
    for (int j = 0; j < n; j++) {
        if (parent[j] < j) {
            continue;
        }
        return steps_to_root(n, parent, j) == 0
                   ? ss_fail(e, SS_BAD_INPUT,
                             "%s %d is part of a loop, or hangs from one: a tree has none", what, j)
                   : ss_fail(e, SS_BAD_INPUT,
                             "%s %d comes before %s %d, from which it hangs: exchange them", what,
                             j, what, parent[j]);
    }
    return SS_OK;
}

static ss_status check_tree(const ss_strand_design *d, ss_error *e)
{
    const ss_status status = ss_check_parents(d->nvertices, d->parent, "vertex", e);
    if (status != SS_OK) {
        return status;
    }
    for (int i = 0; i < d->nvertices; i++) {
        if ((d->parent[i] < 0) != (i == 0)) {
            return ss_fail(
                e, SS_BAD_INPUT,
                "vertex %d of a strand has the parent %d; the first vertex has -1, and no "
                "other",
                i, d->parent[i]);
        }
    }
    if (d->velocity != NULL) {
        return ss_fail(e, SS_BAD_INPUT,
                       "a strand that branches begins at rest: leave out velocities");
    }
    return SS_OK;
}

static bool angles_finite(const double *theta, int count)
{
    bool finite = true;
    for (int j = 0; theta != NULL && j < count; j++) {
        finite = finite && isfinite(theta[j]);
    }
    return finite;
}

static bool velocities_finite(const ss_strand_design *d)
{
    bool finite = true;
    for (int i = 0; d->velocity != NULL && i < d->nvertices; i++) {
        finite = finite && isfinite(ss_length(d->velocity[i]));
    }
    return finite;
}

// A director, but none of it is across the first edge.
static bool has_director_along(const ss_strand_design *d)
{
    const ss_vec3 edge = ss_unit(ss_minus(d->vertices[1], d->vertices[0]));
    return ss_length(d->director) > 0.0 &&
           ss_length(ss_cross(edge, d->director)) <= 1e-9 * ss_length(d->director);
}

static ss_status check_vertices(const ss_strand_design *d, ss_error *e)
{
    const int n = d->nvertices;
    if (n < 3 || n > MOST_SEGMENTS + 1) {
        return ss_fail(e, SS_BAD_INPUT, "a strand has 3 to %d vertices, not %d", MOST_SEGMENTS + 1,
                       n);
    }
    ss_status status = d->parent != NULL ? check_tree(d, e) : SS_OK;
    status = status == SS_OK ? check_polyline(d, d->vertices, "vertices", e) : status;
    if (status == SS_OK && d->rest != NULL) {
        status = check_polyline(d, d->rest, "rest", e);
    }
    if (status == SS_OK &&
        !(angles_finite(d->theta, n - 1) && angles_finite(d->rest_theta, n - 1) &&
          isfinite(ss_length(d->director)))) {
        status = ss_fail(e, SS_BAD_INPUT,
                         "an angle or the director of a strand's material frame is not finite");
    }
    if (status == SS_OK && has_director_along(d)) {
        status =
            ss_fail(e, SS_BAD_INPUT, "the director of a strand has no part across its first edge");
    }
    if (status == SS_OK && !velocities_finite(d)) {
        status = ss_fail(e, SS_BAD_INPUT, "a velocity of a strand's vertices is not finite");
    }
    return status;
}

static ss_status check_parts(const ss_strand_design *d, ss_error *e)
{
    const bool given = d->parts != NULL || d->nparts == 0;
    if (d->nparts < 0 || d->nparts > MOST_PIECES || !given) {
        return ss_fail(e, SS_BAD_INPUT, "a strand has 0 to %d parts, all given, not %d",
                       MOST_PIECES, d->nparts);
    }
    if (d->parent != NULL && d->nparts != 0 && d->nparts != d->nvertices - 1) {
        return ss_fail(e, SS_BAD_INPUT, "a strand that branches has a part per edge, %d, not %d",
                       d->nvertices - 1, d->nparts);
    }
    for (int k = 0; k < d->nparts; k++) {
        const ss_strand_part *p = &d->parts[k];
        if (!positive(p->mass) || !positive(p->radius) || !positive(p->bend) ||
            !positive(p->twist) || !(isfinite(p->relaxation) && p->relaxation >= 0.0)) {
            return ss_fail(
                e, SS_BAD_INPUT,
                "part %d of a strand has the factors %g, %g, %g, %g of mass, radius, bend "
                "and twist and %g of relaxation: the last is 0 or more, the others above 0",
                k, p->mass, p->radius, p->bend, p->twist, p->relaxation);
        }
    }
    return SS_OK;
}

ss_status ss_strand_design_check(const ss_strand_design *d, ss_error *e)
{
    if (d->parent != NULL || d->nparts != 0) {
        return ss_fail(e, SS_BAD_INPUT,
                       "a strand that branches, or varies along its length, is for the model "
                       "oriented-strands alone");
    }
    return ss_strand_design_check_varied(d, e);
}

ss_status ss_strand_design_check_varied(const ss_strand_design *d, ss_error *e)
{
    ss_status status = d->nvertices != 0 ? check_vertices(d, e) : check_curvatures(d, e);
    status = status == SS_OK ? check_parts(d, e) : status;
    if (status != SS_OK) {
        return status;
    }
    const int least = d->nvertices != 0 ? 0 : 1;
    if (d->nsegments < least || d->nsegments > MOST_SEGMENTS) {
        return ss_fail(e, SS_BAD_INPUT, "a strand has %d to %d segments, not %d", least,
                       MOST_SEGMENTS, d->nsegments);
    }
    return check_material(&d->material, e);
}

ss_status ss_strand_design_check_tip(const ss_strand_design *d, const char *model, ss_error *e)
{
    if (ss_clamps_tip(d->clamp)) {
        return ss_fail(e, SS_BAD_INPUT, "a strand of the model %s cannot be clamped at its tip",
                       model);
    }
    return SS_OK;
}

static ss_entry model_entry(int k)
{
    const ss_strand_model *m = ss_strand_models[k];
    return m != NULL ? (ss_entry){m->name, m->keys, m->defaults, m->settings_size, NULL}
                     : (ss_entry){0};
}

ss_status ss_model_parse(const char *spec, ss_model_choice *choice, ss_error *e)
{
    const ss_catalogue models = {"strand model", model_entry};
    int which;
    *choice = (ss_model_choice){0};
    const ss_status status = ss_spec_parse(&models, spec, &which, &choice->settings, e);
    if (status == SS_OK) {
        choice->model = ss_strand_models[which];
        strcpy(choice->spec, spec);
    }
    return status;
}

void ss_model_choice_free(ss_model_choice *choice)
{
    free(choice->settings);
    *choice = (ss_model_choice){0};
}
