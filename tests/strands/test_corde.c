// tests/strands/test_corde.c -- energy, gradient and Hessian of rods with directors against derivatives by
// complex step, and what their directors do.
//
// The oracle is written afresh from doc/strands.md, "CoRdE energies", in complex numbers: the energy of a rod
// of two edges whose vertices are moved by z and whose directors are turned by exp z. Im E(i h e_k)/h is the
// derivative to rounding, and differences of that are second derivatives.
#include <complex.h>
#include <stdlib.h>
#include <string.h>

#include "problems/strands/models/corde.h"
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

static double largest(const double *x, int count)
{
    double most = 0.0;
    for (int k = 0; k < count; k++) {
        most = fmax(most, fabs(x[k]));
    }
    return most;
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
    const double most = largest(size, DOFS);
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
    const double scale = largest(&K[0][0], DOFS * DOFS);
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

static void run_tests(void)
{
    RUN_TEST(force_and_stiffness_are_derivatives_by_complex_step);
}

const test_group corde_tests = {.run = run_tests, .set_up = set_up};
