// tests/strands/test_corde.c -- energy, gradient and Hessian of rods with directors against derivatives by
// complex step, and what their directors do.
//
// The oracle is written afresh from doc/strands.md, "CoRdE energies", in complex numbers: the energy of a rod
// of two edges whose vertices are moved by z and whose directors are turned by exp z. Im E(i h e_k)/h is the
// derivative to rounding, and differences of that are second derivatives.
#include <complex.h>
#include <stdlib.h>
#include <string.h>

#include "strands/models/corde.h"
#include "tests/support/one_strand.h"
#include "tests/support/support.h"

#define DOFS 15

static ss_random g;
static ss_error error;

static void set_up(void)
{
    g = ss_random_seeded(5);
    error = (ss_error){0};
}

typedef double complex number;

typedef struct quaternion {
    number x[4]; // w first
} quaternion;

static quaternion product(quaternion a, quaternion b)
{
    const number *p = a.x, *q = b.x;
    return (quaternion){{p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
                         p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
                         p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
                         p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]}};
}

static quaternion conjugate(quaternion a)
{
    return (quaternion){{a.x[0], -a.x[1], -a.x[2], -a.x[3]}};
}

// p o exp(z/2), by series of |z/2|^2, which has no root.
static quaternion turned_by(const double *p, const number *z)
{
    const number s = 0.25 * (z[0] * z[0] + z[1] * z[1] + z[2] * z[2]);
    number cosine = 0.0, sinc = 0.0, term = 1.0;
    for (int k = 0; k < 12; k++) {
        cosine += term;
        sinc += term / (2 * k + 1);
        term *= -s / ((2 * k + 1) * (2 * k + 2));
    }
    const quaternion by = {{cosine, 0.5 * sinc * z[0], 0.5 * sinc * z[1], 0.5 * sinc * z[2]}};
    return product((quaternion){{p[0], p[1], p[2], p[3]}}, by);
}

// R(p) a
static void turn(quaternion p, const double *a, number *to)
{
    const quaternion x = {{0.0, a[0], a[1], a[2]}};
    const quaternion y = product(product(p, x), conjugate(p));
    for (int k = 0; k < 3; k++) {
        to[k] = y.x[1 + k];
    }
}

// What of its design the energy knows, beside the state.
typedef struct rod {
    one_strand s;
    double edge[2], u[3], parallel, aim[2][3];
    ss_rigidity stiff;
} rod;

static number edge_energy(const rod *r, int j, const number *e, quaternion p)
{
    const double l = r->edge[j];
    const number length = csqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2]);
    number d[3], with = 0.0;
    turn(p, r->aim[j], d);
    for (int k = 0; k < 3; k++) {
        with += e[k] * d[k] / length;
    }
    return 0.5 * r->stiff.stretch * l * (length / l - 1.0) * (length / l - 1.0) +
           r->parallel * l * (1.0 - with);
}

static number energy_at(const rod *r, const double *q, const number *z)
{
    const double l = 0.5 * (r->edge[0] + r->edge[1]);
    const double K[3] = {r->stiff.bend1, r->stiff.bend2, r->stiff.twist};
    quaternion p[2];
    number E = 0.0;
    for (int j = 0; j < 2; j++) {
        number e[3];
        p[j] = turned_by(q + 7 * j + 3, z + 6 * j + 3);
        for (int k = 0; k < 3; k++) {
            e[k] = q[7 * j + 7 + k] + z[6 * j + 6 + k] - q[7 * j + k] - z[6 * j + k];
        }
        E += edge_energy(r, j, e, p[j]);
    }
    const quaternion rho = product(conjugate(p[0]), p[1]);
    const double sign = creal(rho.x[0]) < 0.0 ? -1.0 : 1.0;
    for (int k = 0; k < 3; k++) {
        const number u = sign * 2.0 / l * rho.x[1 + k] - r->u[k];
        E += 0.5 * l * K[k] * u * u;
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

static rod random_rod(void)
{
    static ss_vec3 vertices[3];
    for (int i = 0; i < 3; i++) {
        vertices[i] = ss_vec(0.01 * i + 0.003 * ss_random_normal(&g), 0.004 * ss_random_normal(&g),
                             0.004 * ss_random_normal(&g));
    }
    ss_strand_design design = {.material = ss_material_hair(),
                               .nvertices = 3,
                               .vertices = vertices,
                               .clamp = SS_CLAMP_NONE};
    design.material.ellipticity = 1.7;
    design.material.stretch = 1e-5;
    rod r = {.s = new_strand("corde:parallel=0.1", &design),
             .stiff = ss_material_rigidity(&design.material)};
    ss_corde *d = r.s.self;
    r.parallel = d->parallel;
    CHECK_NEAR(r.parallel,
               0.1 * fmax(r.stiff.stretch,
                          1e3 * fmax(r.stiff.bend1, r.stiff.bend2) * 4.0 / (d->length * d->length)),
               1e-12);
    // The natural shape is anything: it is only in the numbers of the strand.
    for (int j = 0; j < 2; j++) {
        ss_vec3 aim = ss_unit(ss_vec(0.3 * ss_random_normal(&g), 0.3 * ss_random_normal(&g), 1.0));
        d->edge[j] = r.edge[j] = 0.01 * ss_random_between(&g, 0.5, 1.5);
        d->inverse_edge[j] = 1.0 / d->edge[j];
        d->aim[0][j] = r.aim[j][0] = aim.x;
        d->aim[1][j] = r.aim[j][1] = aim.y;
        d->aim[2][j] = r.aim[j][2] = aim.z;
    }
    const double l = 0.5 * (r.edge[0] + r.edge[1]);
    d->inverse_length[1] = 1.0 / l;
    for (int k = 0; k < 3; k++) {
        r.u[k] = 50.0 * ss_random_normal(&g);
        d->strain[k][1] = l * r.u[k];
        for (int j = 0; j < 2; j++) { // directors beside their edges
            r.s.v[6 * j + 3 + k] = 0.6 * ss_random_normal(&g);
        }
    }
    r.s.model->advance(r.s.self, r.s.q, r.s.v, 1.0, r.s.q);
    return r;
}

// Lengths in units of an edge, so that rows compare.
static double unit_of(int k)
{
    return k % 6 < 3 ? 0.01 : 1.0;
}

static void check_force(const rod *r)
{
    const double none[DOFS] = {0.0};
    static const number zero[DOFS] = {0.0};
    double F[DOFS] = {0.0}, gradient[DOFS], size[DOFS];
    const double E = creal(energy_at(r, r->s.q, zero));
    CHECK_NEAR(r->s.model->energy(r->s.self, r->s.q), E, 1e-13 * E);
    gradient_at(r, r->s.q, none, gradient);
    r->s.model->force(r->s.self, r->s.q, r->s.rest, F);
    for (int k = 0; k < DOFS; k++) {
        size[k] = gradient[k] * unit_of(k);
    }
    const double most = largest_of(size, DOFS);
    for (int k = 0; k < DOFS; k++) {
        CHECK_NEAR(F[k] * unit_of(k), -size[k], 1e-12 * most);
    }
}

// Differences of fourth order of the complex steps.
static void check_stiffness(const rod *r)
{
    double K[DOFS][DOFS];
    ss_band A = new_band(&r->s);
    for (int k = 0; k < DOFS; k++) {
        static const double WEIGHT[4] = {-1.0, 8.0, -8.0, 1.0}, AT[4] = {2.0, 1.0, -1.0, -2.0};
        const double h = 2e-4 * unit_of(k);
        for (int i = 0; i < DOFS; i++) {
            K[k][i] = 0.0;
        }
        for (int side = 0; side < 4; side++) {
            double step[DOFS] = {0.0}, slope[DOFS];
            step[k] = AT[side] * h;
            gradient_at(r, r->s.q, step, slope);
            for (int i = 0; i < DOFS; i++) {
                K[k][i] += WEIGHT[side] * slope[i] / (12.0 * h) * unit_of(k) * unit_of(i);
            }
        }
    }
    CHECK(r->s.model->stiffness(r->s.self, r->s.q, SS_STIFFNESS_EXACT, 1.0, &A));
    const double scale = largest_of(&K[0][0], DOFS * DOFS);
    for (int j = 0; j < DOFS; j++) {
        for (int i = j; i < DOFS; i++) {
            const double k = i - j <= A.half ? *ss_band_at(&A, i, j) : 0.0;
            CHECK_NEAR(k * unit_of(i) * unit_of(j), K[j][i], 1e-8 * scale);
        }
    }
    free(A.x);
}

static void force_and_stiffness_are_derivatives_by_complex_step(void)
{
    for (int trial = 0; trial < 100; trial++) {
        rod r = random_rod();
        check_force(&r);
        check_stiffness(&r);
        free_strand(&r.s);
    }
}

// ---- Rigid motions

static void energy_does_not_change_in_rigid_motions(void)
{
    const ss_strand_design design = random_design(&g, 7, 30.0);
    one_strand s = new_strand("corde", &design);
    disturb(&s, &g);
    double *moved = calloc((size_t)s.size.nq, sizeof *moved);
    const ss_pose by = random_pose(&g);
    const ss_quat turn_by = ss_quat_of_matrix(&by.turn);
    const int n = s.size.npoints - 1;
    for (int i = 0; i <= n; i++) {
        const ss_vec3 x = ss_pose_point(&by, ss_corde_vertex(s.q, i));
        const double place[3] = {x.x, x.y, x.z};
        memcpy(moved + 7 * i, place, sizeof place);
        if (i < n) {
            ss_quat_write(ss_quat_product(turn_by, ss_corde_turn(s.q, i)), moved + 7 * i + 3);
        }
    }
    const double E = s.model->energy(s.self, s.q);
    CHECK_NEAR(s.model->energy(s.self, moved), E, 1e-12 * E);
    free(moved);
    free_strand(&s);
}

// Torques are in the frames of the directors.
static void forces_of_a_rod_balance(void)
{
    const ss_strand_design design = random_design(&g, 7, 30.0);
    one_strand s = new_strand("corde", &design);
    disturb(&s, &g);
    double *F = calloc((size_t)s.size.nv, sizeof *F), size = 0.0;
    s.model->force(s.self, s.q, s.rest, F);
    ss_vec3 force = {0.0, 0.0, 0.0}, torque = {0.0, 0.0, 0.0};
    const int n = s.size.npoints - 1;
    for (int i = 0; i <= n; i++) {
        const ss_vec3 f = ss_vec(F[6 * i], F[6 * i + 1], F[6 * i + 2]);
        force = ss_plus(force, f);
        torque = ss_plus(torque, ss_cross(ss_corde_vertex(s.q, i), f));
        size += ss_length(f);
        if (i < n) {
            const ss_vec3 own = ss_vec(F[6 * i + 3], F[6 * i + 4], F[6 * i + 5]);
            torque = ss_plus(torque, ss_quat_turned(ss_corde_turn(s.q, i), own));
        }
    }
    CHECK_LE(ss_length(force), 1e-12 * size);
    CHECK_LE(ss_length(torque), 1e-12 * size);
    free(F);
    free_strand(&s);
}

// A body that spins alone keeps its moment: I w' = -w x I w, of an edge with its inertia I.
static void a_spinning_edge_precesses_by_its_gyroscopic_torque(void)
{
    ss_strand_design design = random_design(&g, 1, 0.0);
    design.material.ellipticity = 2.0;
    one_strand s = new_strand("corde", &design);
    double *F = calloc(2 * (size_t)s.size.nv, sizeof *F), *still = F + s.size.nv;
    const ss_vec3 w = {3e3, -2e3, 5e3};
    s.v[3] = w.x;
    s.v[4] = w.y;
    s.v[5] = w.z;
    s.model->force(s.self, s.q, s.v, F);
    s.model->force(s.self, s.q, s.rest, still);
    ss_band M = new_band(&s);
    s.model->inertia(s.self, s.q, &M);
    const ss_vec3 Iw = ss_vec(*ss_band_at(&M, 3, 3) * w.x, *ss_band_at(&M, 4, 4) * w.y,
                              *ss_band_at(&M, 5, 5) * w.z);
    const ss_vec3 torque = ss_scaled(-1.0, ss_cross(w, Iw));
    CHECK_NEAR(F[3] - still[3], torque.x, 1e-12 * ss_length(torque));
    CHECK_NEAR(F[4] - still[4], torque.y, 1e-12 * ss_length(torque));
    CHECK_NEAR(F[5] - still[5], torque.z, 1e-12 * ss_length(torque));
    CHECK_NEAR(Iw.z / w.z, Iw.x / w.x + Iw.y / w.y, 1e-14 * Iw.z / w.z);
    free(M.x);
    free(F);
    free_strand(&s);
}

static void run_tests(void)
{
    RUN_TEST(energy_does_not_change_in_rigid_motions);
    RUN_TEST(forces_of_a_rod_balance);
    RUN_TEST(a_spinning_edge_precesses_by_its_gyroscopic_torque);
    RUN_TEST(force_and_stiffness_are_derivatives_by_complex_step);
}

const test_group corde_tests = {.run = run_tests, .set_up = set_up};
