// The curl of four vertices that curl_oracle.h describes.
#include "tests/support/curl_oracle.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/support.h"

static number arctangent(number sine, number cosine)
{
    const double a = atan2(creal(sine), creal(cosine));
    return a + catan((sine * cos(a) - cosine * sin(a)) / (cosine * cos(a) + sine * sin(a)));
}

// theta of e0 and e1, with its slopes.
number angle_between(vector e0, vector e1, vector slope[2])
{
    const number l0 = length(e0), l1 = length(e1);
    const vector t0 = scaled(1.0 / l0, e0), t1 = scaled(1.0 / l1, e1);
    const number c = dot(t0, t1), s = length(cross(t0, t1));
    slope[0] = scaled(-1.0 / (l0 * s), along(t1, -c, t0));
    slope[1] = scaled(-1.0 / (l1 * s), along(t0, -c, t1));
    return arctangent(s, c);
}

// tau of the vertices, with its slopes.
number torsion_between(const vector x[4], vector slope[4])
{
    const vector e0 = along(x[0], -1.0, x[1]), e1 = along(x[2], -1.0, x[1]);
    const vector e2 = along(x[3], -1.0, x[2]), t = scaled(1.0 / length(e1), e1);
    const number al = dot(e0, e1) / dot(e1, e1), be = dot(e2, e1) / dot(e1, e1);
    const vector z0 = along(e0, -al, e1), z1 = along(e2, -be, e1);
    slope[0] = scaled(-1.0 / dot(z0, z0), cross(t, z0));
    slope[3] = scaled(1.0 / dot(z1, z1), cross(t, z1));
    slope[1] = along(scaled(al - 1.0, slope[0]), be, slope[3]);
    slope[2] = along(scaled(-al, slope[0]), -1.0 - be, slope[3]);
    return arctangent(dot(cross(z0, z1), t), dot(z0, z1));
}

number wrapped(number a)
{
    return a - 6.283185307179586 * rint(creal(a) / 6.283185307179586);
}

// The energy at x, and its gradient.
number energy_at(const curl *r, const vector x[4], vector slope[4])
{
    number E = 0.0;
    for (int i = 0; i < 4; i++) {
        slope[i] = NONE;
    }
    for (int j = 0; j < 3; j++) {
        const vector e = along(x[j + 1], -1.0, x[j]);
        const number I_s = length(e) / r->l[j];
        E += 0.5 * r->l[j] * r->EA * (I_s - 1.0) * (I_s - 1.0);
        slope[j + 1] = along(slope[j + 1], r->EA * (I_s - 1.0) / length(e), e);
        slope[j] = along(slope[j], -r->EA * (I_s - 1.0) / length(e), e);
    }
    for (int j = 0; j < 2; j++) {
        vector by[2];
        const number d =
            angle_between(along(x[j], -1.0, x[j + 1]), along(x[j + 2], -1.0, x[j + 1]), by) -
            r->theta[j];
        E += 0.5 * r->mu_b[j] * d * d;
        slope[j] = along(slope[j], r->mu_b[j] * d, by[0]);
        slope[j + 2] = along(slope[j + 2], r->mu_b[j] * d, by[1]);
        slope[j + 1] = along(along(slope[j + 1], -r->mu_b[j] * d, by[0]), -r->mu_b[j] * d, by[1]);
    }
    vector by[4];
    const number twist = wrapped(torsion_between(x, by) - r->tau);
    for (int i = 0; i < 4; i++) {
        slope[i] = along(slope[i], r->mu_t * twist, by[i]);
    }
    return E + 0.5 * r->mu_t * twist * twist;
}

// The vertices of q, dof k being off by i TINY.
void vertices_at(const double *q, int k, vector x[4])
{
    for (int j = 0; j < DOFS; j++) {
        x[j / 3].x[j % 3] = q[j] + (j == k ? I * TINY : 0.0);
    }
}

// ---- Curls

void random_vertices(ss_random *g, ss_vec3 x[4])
{
    for (int i = 0; i < 4; i++) {
        x[i] = ss_vec(0.01 * i + 0.0012 * ss_random_normal(g), 0.004 * ss_random_normal(g),
                      0.004 * ss_random_normal(g));
    }
}

// Natural strains of vertices.
static void take_rest(curl *r, const ss_vec3 *rest, const ss_material *m)
{
    const ss_rigidity stiff = ss_material_rigidity(m);
    vector x[4], by[4];
    for (int i = 0; i < 4; i++) {
        x[i] = (vector){{rest[i].x, rest[i].y, rest[i].z}};
    }
    for (int j = 0; j < 3; j++) {
        r->l[j] = creal(length(along(x[j + 1], -1.0, x[j])));
    }
    for (int j = 0; j < 2; j++) {
        r->theta[j] =
            creal(angle_between(along(x[j], -1.0, x[j + 1]), along(x[j + 2], -1.0, x[j + 1]), by));
        r->mu_b[j] = stiff.bend1 / (0.5 * (r->l[j] + r->l[j + 1]));
    }
    r->tau = creal(torsion_between(x, by));
    r->EA = stiff.stretch;
    r->mu_t = stiff.twist / r->l[1];
}

curl curl_between(const char *spec, const ss_vec3 *start, const ss_vec3 *rest)
{
    ss_strand_design design = {
        .material = ss_material_hair(), .nvertices = 4, .vertices = rest, .clamp = SS_CLAMP_NONE};
    design.material.stretch = 1e-5;
    curl r = {.s = new_strand(spec, &design)};
    memcpy(r.s.q, start, 4 * sizeof *start);
    take_rest(&r, rest, &design.material);
    return r;
}

void bad_vertices(int which, double off, ss_vec3 start[4], ss_vec3 rest[4])
{
    static const ss_vec3 BENT[4] = {
        {0.0, 0.0, 0.0}, {0.01, 0.0, 0.0}, {0.014, 0.009, 0.0}, {0.013, 0.012, 0.0095}};
    memcpy(rest, BENT, sizeof BENT);
    memcpy(start, BENT, sizeof BENT);
    if (which == 0) {
        start[2] = ss_vec(0.021, off * 0.011, 0.0);
        start[3] = ss_vec(0.030, 0.0, off * 0.02);
    } else if (which == 1) {
        start[2] = ss_vec(0.002, off * 0.01, 0.0);
        start[3] = ss_vec(0.004, off * 0.01, 0.009);
    } else { // the outer edge turned about the middle one
        const ss_vec3 t = ss_unit(ss_minus(rest[2], rest[1]));
        const ss_mat3 turn = ss_rotation(ss_scaled(M_PI - off, t));
        start[3] = ss_plus(rest[2], ss_turned(&turn, ss_minus(rest[3], rest[2])));
    }
}

void stiffness_at(const curl *r, ss_stiffness kind, double A[DOFS * DOFS])
{
    ss_band K = new_band(&r->s);
    CHECK(r->s.model->stiffness(r->s.self, r->s.q, kind, 1.0, &K));
    for (int j = 0; j < DOFS; j++) {
        for (int i = j; i < DOFS; i++) {
            A[i * DOFS + j] = A[j * DOFS + i] = *ss_band_at(&K, i, j);
        }
    }
    free(K.x);
}

void exact_at(const curl *r, double A[DOFS * DOFS])
{
    for (int k = 0; k < DOFS; k++) {
        vector x[4], slope[4];
        vertices_at(r->s.q, k, x);
        energy_at(r, x, slope);
        for (int i = 0; i < DOFS; i++) {
            A[i * DOFS + k] = cimag(slope[i / 3].x[i % 3]) / TINY;
        }
    }
}

void check_near(const double *A, const double *B, int count, double share)
{
    const double most = largest_of(B, count);
    for (int k = 0; k < count; k++) {
        CHECK_NEAR(A[k], B[k], share * most);
    }
}

void add_product(double weight, const double *a, const double *b, int n, double *A)
{
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            A[i * n + j] += 0.5 * weight * (a[i] * b[j] + a[j] * b[i]);
        }
    }
}
