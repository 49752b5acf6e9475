// Rods of any model at rest against the heavy elastica and Kirchhoff's rod (rod_errors.h).
#include "tests/support/rod_errors.h"

#include <stdlib.h>
#include <string.h>

#include "strands/geometry.h"
#include "tests/support/kirchhoff.h"
#include "tests/support/resting.h"
#include "tests/support/support.h"

static ss_vec3 vertex(one_strand *s, int i)
{
    const ss_pose root = ss_pose_identity();
    place_strand(s, &root, s->q);
    return s->points[i].x;
}

// The distance of the tip from where the elastica's is, in lengths.
double elastica_error(const char *spec, int n, double gamma, double drop, double reach)
{
    const ss_strand_design design = {
        .length = ROD_LENGTH * n / (n - 0.5), .material = ss_material_hair(), .nsegments = n};
    one_strand s = new_strand(spec, &design);
    const ss_rigidity r = ss_material_rigidity(&design.material);
    const double unit = r.bend2 / (r.line_density * ROD_LENGTH * ROD_LENGTH * ROD_LENGTH);
    hang_strand(&s, ss_vec(0.0, -gamma * unit, 0.0), ilogb(gamma));
    const ss_vec3 known =
        ss_vec(0.5 * ROD_LENGTH / (n - 0.5) + reach * ROD_LENGTH, -drop * ROD_LENGTH, 0.0);
    const double off = ss_length(ss_minus(vertex(&s, n), known));
    free_strand(&s);
    return off / ROD_LENGTH;
}

static ss_material flat_hair(void)
{
    ss_material m = ss_material_hair();
    m.ellipticity = 1.6;
    return m;
}

// A natural helix of two turns that hangs from a level clamp: how far its tip is off, in lengths.
double helix_error(const char *spec, int n)
{
    const double l = ROD_LENGTH / (n - 0.5), style[1][3] = {{60.0, 40.0, 90.0}};
    const ss_strand_design design = {
        .length = n * l, .material = flat_hair(), .npieces = 1, .style = style, .nsegments = n};
    const ss_vec3 gravity = ss_vec(0.0, -9.81, 0.0), natural = ss_vec(60.0, 40.0, 90.0);
    one_strand s = new_strand(spec, &design);
    const ss_pose home = ss_pose_identity();
    kirchhoff k = {.length = ROD_LENGTH,
                   .rigidity = ss_material_rigidity(&design.material),
                   .natural = natural,
                   .root = kirchhoff_natural(natural, 0.5 * l, &home)};
    k.weight = ss_scaled(k.rigidity.line_density, gravity);
    rest_strand(&s, gravity);
    const ss_vec3 tip = vertex(&s, n);
    const ss_vec3 known = kirchhoff_at(&k, 1.0, 4).place;
    free_strand(&s);
    return ss_length(ss_minus(tip, known)) / ROD_LENGTH;
}

// The clamp of the tip goes in `stages` from the pose `from` to `to`, and the weight comes.
static void bring_tip(one_strand *s, const ss_pose *from, const ss_pose *to, ss_vec3 gravity,
                      int stages)
{
    const ss_pose back = kirchhoff_inverse(from);
    const ss_mat3 way = {{ss_turned_back(&from->turn, to->turn.c[0]),
                          ss_turned_back(&from->turn, to->turn.c[1]),
                          ss_turned_back(&from->turn, to->turn.c[2])}};
    const ss_vec3 turn = ss_rotation_vector(&way);
    for (int k = 1; k <= stages; k++) {
        const double part = (double)k / stages;
        const ss_mat3 along = ss_rotation(ss_scaled(part, turn));
        const ss_pose there = {ss_mat3_product(&from->turn, &along),
                               ss_along(from->place, part, ss_minus(to->place, from->place))};
        const ss_pose moved[2] = {ss_pose_identity(), ss_pose_product(&there, &back)};
        memset(s->v, 0, (size_t)s->size.nv * sizeof *s->v);
        s->model->script(s->self, moved, s->q, 1.0, s->v);
        s->model->advance(s->self, s->q, s->v, 1.0, s->q);
        rest_strand(s, ss_scaled(part, gravity));
    }
}

// Flat, naturally bent and twisted, between two clamps that hold its ends elsewhere than is natural:
// how far its middle is off, in lengths.
double between_clamps_error(const char *spec, int n)
{
    const double l = ROD_LENGTH / (n - 1), style[1][3] = {{10.0, 5.0, 8.0}};
    const ss_strand_design design = {.length = n * l,
                                     .material = flat_hair(),
                                     .npieces = 1,
                                     .style = style,
                                     .nsegments = n,
                                     .clamp = SS_CLAMP_BOTH};
    const ss_vec3 gravity = ss_vec(0.0, -9.81, 0.0);
    const ss_pose home = ss_pose_identity();
    kirchhoff k = {.length = ROD_LENGTH,
                   .rigidity = ss_material_rigidity(&design.material),
                   .natural = ss_vec(10.0, 5.0, 8.0),
                   .held = true};
    k.root = kirchhoff_natural(k.natural, 0.5 * l, &home);
    k.weight = ss_scaled(k.rigidity.line_density, gravity);
    const ss_pose from = kirchhoff_natural(k.natural, ROD_LENGTH, &k.root);
    const ss_mat3 turn = ss_rotation(ss_vec(1.0, 0.1, -0.1));
    k.tip.turn = ss_mat3_product(&from.turn, &turn);
    k.tip.place = ss_plus(from.place, ss_vec(-0.004, 0.006, 0.003));
    one_strand s = new_strand(spec, &design);
    bring_tip(&s, &from, &k.tip, gravity, 8);
    const ss_vec3 middle = vertex(&s, n / 2);
    const ss_vec3 known = kirchhoff_at(&k, 0.5, 8).place;
    free_strand(&s);
    return ss_length(ss_minus(middle, known)) / ROD_LENGTH;
}
