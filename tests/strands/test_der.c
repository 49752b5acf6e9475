// tests/strands/test_der.c -- energy, gradient and Hessian of rods against derivatives by complex step.
//
// The oracle is written afresh from doc/strands.md, "Rod energies", in complex numbers: the energy of a
// rod of two edges at q + z, its frames carried from those of q. Im E(q + i h e_k)/h is the derivative to
// rounding, and differences of that are second derivatives.
#include <complex.h>
#include <stdlib.h>
#include <string.h>

#include "strands/models/der.h"
#include "tests/support/one_strand.h"
#include "tests/support/support.h"

#define DOFS 11

static ss_random g;

static void set_up(void)
{
    g = ss_random_seeded(3);
}

typedef double complex number;

typedef struct vector {
    number x[3];
} vector;

static vector minus(vector a, vector b)
{
    return (vector){{a.x[0] - b.x[0], a.x[1] - b.x[1], a.x[2] - b.x[2]}};
}

static vector along(vector a, number k, vector b)
{
    return (vector){{a.x[0] + k * b.x[0], a.x[1] + k * b.x[1], a.x[2] + k * b.x[2]}};
}

static number dot(vector a, vector b)
{
    return a.x[0] * b.x[0] + a.x[1] * b.x[1] + a.x[2] * b.x[2];
}

static vector cross(vector a, vector b)
{
    return (vector){{a.x[1] * b.x[2] - a.x[2] * b.x[1], a.x[2] * b.x[0] - a.x[0] * b.x[2],
                     a.x[0] * b.x[1] - a.x[1] * b.x[0]}};
}

static vector unit(vector a)
{
    const vector zero = {{0.0, 0.0, 0.0}};
    return along(zero, 1.0 / csqrt(dot(a, a)), a);
}

static vector carried(vector t, vector s, vector a)
{
    const vector b = cross(t, s);
    return along(along(a, 1.0, cross(b, a)), 1.0 / (1.0 + dot(t, s)), cross(b, cross(b, a)));
}

static vector vertex_at(const double *q, const number *z, int i)
{
    vector x;
    for (int k = 0; k < 3; k++) {
        x.x[k] = q[4 * i + k] + z[4 * i + k];
    }
    return x;
}

// A rod of two edges, and what of its design the energy knows.
typedef struct rod {
    one_strand s;
    double edge[2], kappa[2], w[2][2], twist; // natural; w[j]: of edge j
    ss_rigidity stiff;
    bool two_frame;
} rod;

// Strains of the joint, and the lengths, at q + z.
typedef struct strains {
    number length[2], w[2][2], twist;
} strains;

static strains strains_at(const double *q, const number *z)
{
    static const number none[DOFS] = {0.0};
    strains s;
    vector t[2], d1[2], m1[2], m2[2];
    for (int j = 0; j < 2; j++) {
        const vector was = unit(minus(vertex_at(q, none, j + 1), vertex_at(q, none, j)));
        const vector e = minus(vertex_at(q, z, j + 1), vertex_at(q, z, j));
        const double *frame = q + DOFS + 4 * j;
        const vector old = {{frame[0], frame[1], frame[2]}}, zero = {{0.0, 0.0, 0.0}};
        const number theta = q[4 * j + 3] + z[4 * j + 3];
        s.length[j] = csqrt(dot(e, e));
        t[j] = unit(e);
        d1[j] = carried(was, t[j], old);
        const vector d2 = cross(t[j], d1[j]);
        m1[j] = along(along(zero, ccos(theta), d1[j]), csin(theta), d2);
        m2[j] = along(along(zero, -csin(theta), d1[j]), ccos(theta), d2);
    }
    const vector zero = {{0.0, 0.0, 0.0}}, b = cross(t[0], t[1]);
    const vector kb = along(zero, 2.0 / (1.0 + dot(t[0], t[1])), b);
    const vector over = carried(t[0], t[1], d1[0]);
    const number sine = dot(t[1], cross(over, d1[1])), cosine = dot(over, d1[1]);
    for (int j = 0; j < 2; j++) {
        s.w[j][0] = dot(kb, m2[j]);
        s.w[j][1] = -dot(kb, m1[j]);
    }
    // The angle, by the turn that mref counts and by its tangent about the real one.
    const double angle = atan2(creal(sine), creal(cosine)), mref = q[DOFS + 4 + 3];
    const number rest = catan((sine * cos(angle) - cosine * sin(angle)) /
                              (cosine * cos(angle) + sine * sin(angle)));
    s.twist = (q[7] + z[7]) - (q[3] + z[3]) + angle + rest +
              6.283185307179586 * rint((mref - angle) / 6.283185307179586);
    return s;
}

static number energy_at(const rod *r, const double *q, const number *z)
{
    const strains s = strains_at(q, z);
    const double lbar = 0.5 * (r->edge[0] + r->edge[1]);
    const double B[2] = {r->stiff.bend2, r->stiff.bend1};
    number E = r->stiff.twist / (2.0 * lbar) * (s.twist - r->twist) * (s.twist - r->twist);
    for (int j = 0; j < 2; j++) {
        const number stretch = s.length[j] / r->edge[j] - 1.0;
        E += 0.5 * r->stiff.stretch * r->edge[j] * stretch * stretch;
    }
    for (int c = 0; c < 2; c++) {
        const number kappa = 0.5 * (s.w[0][c] + s.w[1][c]) - r->kappa[c];
        E += r->two_frame ? 0.0 : B[c] / (2.0 * lbar) * kappa * kappa;
        for (int j = 0; j < 2 && r->two_frame; j++) {
            const number w = s.w[j][c] - r->w[j][c];
            E += B[c] / (4.0 * lbar) * w * w;
        }
    }
    return E;
}

static void gradient_at(const rod *r, const double *q, const double *step, double *gradient)
{
    for (int k = 0; k < DOFS; k++) {
        number z[DOFS];
        for (int i = 0; i < DOFS; i++) {
            z[i] = step[i] + (i == k ? I * 1e-40 : 0.0);
        }
        gradient[k] = cimag(energy_at(r, q, z)) / 1e-40;
    }
}

// ---- Random rods of two edges: soft in stretching, so that all strains count

static rod random_rod(bool two_frame)
{
    static const number none[DOFS] = {0.0};
    static ss_vec3 vertices[3], rest[3];
    static double theta[2], rest_theta[2];
    for (int i = 0; i < 3; i++) {
        vertices[i] = ss_vec(0.01 * i + 0.003 * ss_random_normal(&g), 0.004 * ss_random_normal(&g),
                             0.004 * ss_random_normal(&g));
        rest[i] = ss_vec(0.01 * i, 0.003 * ss_random_normal(&g), 0.003 * ss_random_normal(&g));
    }
    for (int j = 0; j < 2; j++) {
        theta[j] = ss_random_between(&g, -3.0, 3.0);
        rest_theta[j] = ss_random_between(&g, -3.0, 3.0);
    }
    ss_strand_design design = {.material = ss_material_hair(),
                               .nvertices = 3,
                               .vertices = vertices,
                               .rest = rest,
                               .theta = theta,
                               .rest_theta = rest_theta,
                               .director = ss_vec(0.1, 0.2, 1.0),
                               .clamp = SS_CLAMP_NONE};
    design.material.ellipticity = 1.7;
    design.material.stretch = 1e-5;
    rod r = {.s = new_strand(two_frame ? "der:bending=two-frame" : "der", &design),
             .stiff = ss_material_rigidity(&design.material),
             .two_frame = two_frame};
    // The natural strains: those of a rod that starts there, with the first d1 carried there.
    ss_strand_design natural = design;
    const ss_vec3 was = ss_unit(ss_minus(vertices[1], vertices[0]));
    const ss_vec3 across = ss_along(design.director, -ss_dot(design.director, was), was);
    natural.director = ss_transported(was, ss_unit(ss_minus(rest[1], rest[0])), ss_unit(across));
    natural.vertices = rest;
    natural.theta = rest_theta;
    one_strand n = new_strand("der", &natural);
    const strains s = strains_at(n.q, none);
    for (int j = 0; j < 2; j++) {
        r.edge[j] = creal(s.length[j]);
        for (int c = 0; c < 2; c++) {
            r.w[j][c] = creal(s.w[j][c]);
            r.kappa[c] += 0.5 * creal(s.w[j][c]);
        }
    }
    r.twist = creal(s.twist);
    free_strand(&n);
    return r;
}

// Lengths in units of an edge, so that rows compare.
static double unit_of(int k)
{
    return k % 4 == 3 ? 1.0 : 0.01;
}

static void check_rod(bool two_frame)
{
    rod r = random_rod(two_frame);
    const double none[DOFS] = {0.0};
    static const number zero[DOFS] = {0.0};
    double F[DOFS] = {0.0}, gradient[DOFS], size[DOFS], K[DOFS][DOFS];
    ss_band A = new_band(&r.s);
    const double E = creal(energy_at(&r, r.s.q, zero));
    CHECK_NEAR(r.s.model->energy(r.s.self, r.s.q), E, 1e-13 * E);
    gradient_at(&r, r.s.q, none, gradient);
    r.s.model->force(r.s.self, r.s.q, r.s.rest, F);
    for (int k = 0; k < DOFS; k++) {
        size[k] = gradient[k] * unit_of(k);
    }
    const double most = largest_of(size, DOFS);
    for (int k = 0; k < DOFS; k++) {
        CHECK_NEAR(F[k] * unit_of(k), -size[k], 1e-12 * most);
    }
    for (int k = 0; k < DOFS; k++) {
        double step[DOFS] = {0.0}, ahead[DOFS], behind[DOFS], far[DOFS], back[DOFS];
        const double h = 2e-4 * unit_of(k);
        step[k] = h;
        gradient_at(&r, r.s.q, step, ahead);
        step[k] = -h;
        gradient_at(&r, r.s.q, step, behind);
        step[k] = 2.0 * h;
        gradient_at(&r, r.s.q, step, far);
        step[k] = -2.0 * h;
        gradient_at(&r, r.s.q, step, back);
        for (int i = 0; i < DOFS; i++) {
            K[k][i] = (8.0 * (ahead[i] - behind[i]) - (far[i] - back[i])) / (12.0 * h) *
                      unit_of(k) * unit_of(i);
        }
    }
    CHECK(r.s.model->stiffness(r.s.self, r.s.q, SS_STIFFNESS_EXACT, 1.0, &A));
    const double scale = largest_of(&K[0][0], DOFS * DOFS);
    for (int j = 0; j < DOFS; j++) {
        for (int i = j; i < DOFS; i++) {
            CHECK_NEAR(*ss_band_at(&A, i, j) * unit_of(i) * unit_of(j), K[j][i], 1e-8 * scale);
        }
    }
    free(A.x);
    free_strand(&r.s);
}

static void force_and_stiffness_are_derivatives_by_complex_step(void)
{
    for (int trial = 0; trial < 100; trial++) {
        check_rod(trial % 2 != 0);
    }
}

// ---- Frames

static void check_frames(const one_strand *s)
{
    const ss_der *d = s->self;
    for (int j = 0; j < d->n; j++) {
        const double *frame = ss_der_frame(d, s->q, j);
        const ss_vec3 d1 = ss_vec(frame[0], frame[1], frame[2]);
        const ss_vec3 t = ss_unit(ss_minus(ss_der_vertex(s->q, j + 1), ss_der_vertex(s->q, j)));
        CHECK_NEAR(ss_length(d1), 1.0, 1e-12);
        CHECK_NEAR(ss_dot(d1, t), 0.0, 1e-12);
    }
}

static void frames_stay_orthonormal_for_a_hundred_thousand_steps(void)
{
    const ss_strand_design design = random_design(&g, 3, 20.0);
    one_strand s = new_strand("der:vertices=5", &design);
    double *start = calloc((size_t)s.size.nq, sizeof *start);
    memcpy(start, s.q, (size_t)s.size.nq * sizeof *start);
    for (int step = 0; step < 100000; step++) {
        // Back and forth about the start, edges turning by some 0.1 rad.
        s.model->difference(s.self, s.q, start, 1.0, s.v);
        for (int k = 0; k < s.size.nv; k++) {
            s.v[k] = 0.1 * s.v[k] + (k % 4 == 3 ? 0.1 : 0.005) * ss_random_normal(&g);
        }
        s.model->advance(s.self, s.q, s.v, 1.0, s.q);
    }
    check_frames(&s);
    free(start);
    free_strand(&s);
}

// A turn of the whole rod about its own axis, in small steps: the reference frames do not turn.
static void twist_is_counted_beyond_full_turns(void)
{
    const ss_strand_design design = {
        .length = 0.1, .material = ss_material_hair(), .nsegments = 8, .clamp = SS_CLAMP_BOTH};
    one_strand s = new_strand("der", &design);
    ss_pose moved[2] = {ss_pose_identity(), ss_pose_identity()};
    const double twist = 30.0;
    for (int step = 1; step <= 20; step++) {
        moved[1].turn = ss_rotation(ss_vec(twist * step / 20.0, 0.0, 0.0));
        memset(s.v, 0, (size_t)s.size.nv * sizeof *s.v);
        s.model->script(s.self, moved, s.q, 0.1, s.v);
        s.model->advance(s.self, s.q, s.v, 0.1, s.q);
    }
    CHECK_NEAR(s.q[4 * 7 + 3] - s.q[3], twist, 1e-12 * twist);
    free_strand(&s);
}

// x turned and moved, with its frames.
static void carry(const one_strand *s, const ss_pose *by, const double *q, double *moved)
{
    const ss_der *d = s->self;
    memcpy(moved, q, (size_t)s->size.nq * sizeof *moved);
    for (int i = 0; i <= d->n; i++) {
        const ss_vec3 x = ss_pose_point(by, ss_der_vertex(q, i));
        moved[4 * i] = x.x;
        moved[4 * i + 1] = x.y;
        moved[4 * i + 2] = x.z;
    }
    for (int j = 0; j < d->n; j++) {
        double *frame = moved + ss_der_dofs(d) + 4 * j;
        const ss_vec3 d1 = ss_turned(&by->turn, ss_vec(frame[0], frame[1], frame[2]));
        frame[0] = d1.x;
        frame[1] = d1.y;
        frame[2] = d1.z;
    }
}

static void energy_does_not_change_in_rigid_motions(void)
{
    const char *const specs[] = {"der", "der:bending=two-frame"};
    for (int k = 0; k < 2; k++) {
        const ss_strand_design design = random_design(&g, 7, 30.0);
        one_strand s = new_strand(specs[k], &design);
        disturb(&s, &g);
        double *moved = calloc((size_t)s.size.nq, sizeof *moved);
        const ss_pose by = random_pose(&g);
        carry(&s, &by, s.q, moved);
        const double E = s.model->energy(s.self, s.q);
        CHECK_NEAR(s.model->energy(s.self, moved), E, 1e-12 * E);
        free(moved);
        free_strand(&s);
    }
}

// The torque of the angles is about their edges.
static void forces_of_a_rod_balance(void)
{
    const char *const specs[] = {"der", "der:bending=two-frame"};
    for (int k = 0; k < 2; k++) {
        const ss_strand_design design = random_design(&g, 7, 30.0);
        one_strand s = new_strand(specs[k], &design);
        disturb(&s, &g);
        double *F = calloc((size_t)s.size.nv, sizeof *F), size = 0.0;
        s.model->force(s.self, s.q, s.rest, F);
        ss_vec3 force = {0.0, 0.0, 0.0}, torque = {0.0, 0.0, 0.0};
        const int n = s.size.npoints - 1;
        for (int i = 0; i <= n; i++) {
            const ss_vec3 f = ss_der_vertex(F, i), x = ss_der_vertex(s.q, i);
            force = ss_plus(force, f);
            torque = ss_plus(torque, ss_cross(x, f));
            size += ss_length(f);
            if (i < n) {
                const ss_vec3 t = ss_unit(ss_minus(ss_der_vertex(s.q, i + 1), x));
                torque = ss_along(torque, F[4 * i + 3], t);
            }
        }
        CHECK_LE(ss_length(force), 1e-12 * size);
        CHECK_LE(ss_length(torque), 1e-12 * size);
        free(F);
        free_strand(&s);
    }
}

// ---- What no rod can be

static void shapes_without_frames_are_refused(void)
{
    ss_vec3 x[4] = {{0.0, 0.0, 0.0}, {0.1, 0.0, 0.0}, {0.2, 0.0, 0.0}, {0.3, 0.0, 0.0}};
    ss_strand_design design = {.material = ss_material_hair(), .nvertices = 4, .vertices = x};
    x[2] = x[1];
    check_refused_design("der", &design, "on one place");
    x[2] = x[0];
    check_refused_design("der", &design, "folds back");
    x[2] = ss_vec(NAN, 0.0, 0.0);
    check_refused_design("der", &design, "not finite");
    design.nvertices = 2;
    check_refused_design("der", &design, "3 to");
    // A circle of two edges, and one whose first and second vertex are one.
    const double circle[1][3] = {{0.0, 0.0, 2.0 * M_PI}};
    const ss_strand_design closed = {.length = 2.0,
                                     .material = ss_material_hair(),
                                     .npieces = 1,
                                     .style = circle,
                                     .nsegments = 2};
    check_refused_design("der", &closed, "take more vertices");
    const ss_strand_design one_edge = {
        .length = 1.0, .material = ss_material_hair(), .nsegments = 1};
    check_refused_design("der", &one_edge, "at least 3 vertices");
    ss_strand_design both = one_edge;
    both.nsegments = 2;
    both.clamp = SS_CLAMP_BOTH;
    check_refused_design("der", &both, "at least 4 vertices");
    ss_strand_design soft = one_edge;
    soft.nsegments = 3;
    soft.material.young = 0.0;
    check_refused_design("der", &soft, "Young");
}

// An edge that turns right back makes the energy infinite, which no step takes; frames stay finite.
static void a_rod_that_folds_has_no_energy(void)
{
    const ss_strand_design design = {.length = 0.3, .material = ss_material_hair(), .nsegments = 3};
    one_strand s = new_strand("der", &design);
    memset(s.v, 0, (size_t)s.size.nv * sizeof *s.v);
    s.v[12] = -0.2;
    s.model->advance(s.self, s.q, s.v, 1.0, s.q);
    CHECK(s.model->energy(s.self, s.q) == INFINITY);
    for (int k = 0; k < s.size.nq; k++) {
        CHECK(isfinite(s.q[k]));
    }
    free_strand(&s);
}

static void run_tests(void)
{
    RUN_TEST(force_and_stiffness_are_derivatives_by_complex_step);
    RUN_TEST(frames_stay_orthonormal_for_a_hundred_thousand_steps);
    RUN_TEST(twist_is_counted_beyond_full_turns);
    RUN_TEST(energy_does_not_change_in_rigid_motions);
    RUN_TEST(forces_of_a_rod_balance);
    RUN_TEST(shapes_without_frames_are_refused);
    RUN_TEST(a_rod_that_folds_has_no_energy);
}

const test_group der_tests = {.run = run_tests, .set_up = set_up};
