// The filters that curl_filter_oracle.h describes.
#include "tests/support/curl_filter_oracle.h"

#include <string.h>

#include "base/spectrum.h"
#include "tests/support/support.h"

void clamp_matrix(int n, double *A)
{
    double value[DOFS];
    const ss_spectrum s = ss_spectrum_of(n, A);
    for (int k = 0; k < n; k++) {
        value[k] = fmax(s.lambda[k], 0.0);
    }
    ss_spectrum_matrix(&s, value, A);
}

// K += R' A R, A [m][m], R [m][DOFS]
static void add_congruent(int m, const double *A, double R[][DOFS], double *K)
{
    for (int a = 0; a < m; a++) {
        for (int b = 0; b < m; b++) {
            add_product(A[a * m + b], R[a], R[b], DOFS, K);
        }
    }
}

// The Hessian of mu/2 (theta - rest)^2 by two vectors, d = mu (theta - rest).
static void angle_hessian(const vector e[2], double mu, double d, double A[36])
{
    for (int k = 0; k < 6; k++) {
        vector by[2], moved[2] = {e[0], e[1]};
        moved[k / 3].x[k % 3] += I * TINY;
        const number theta = angle_between(moved[0], moved[1], by);
        const number moment = d + mu * I * cimag(theta);
        for (int i = 0; i < 6; i++) {
            A[i * 6 + k] = cimag(moment * by[i / 3].x[i % 3]) / TINY;
        }
    }
    for (int i = 0; i < 6; i++) {
        for (int j = 0; j < i; j++) {
            A[i * 6 + j] = A[j * 6 + i] = 0.5 * (A[i * 6 + j] + A[j * 6 + i]);
        }
    }
}

// S (H1)+ S, H1 that of unit vectors; sign < 0: S (H1)- S.
static void clamped_angle_hessian(const vector e[2], double mu, double d, double sign, double A[36])
{
    vector unit[2];
    double whole[36], size[2];
    for (int i = 0; i < 2; i++) {
        size[i] = creal(length(e[i]));
        unit[i] = scaled(1.0 / size[i], e[i]);
    }
    angle_hessian(unit, mu, d, whole);
    memcpy(A, whole, sizeof whole);
    clamp_matrix(6, A);
    for (int k = 0; k < 36; k++) {
        A[k] = sign > 0.0 ? A[k] : whole[k] - A[k];
        A[k] /= size[k / 6 / 3] * size[k % 6 / 3];
    }
}

// Rows of e = x_b - x_a, three of them.
static void edge_rows(int a, int b, double R[][DOFS])
{
    for (int i = 0; i < 3; i++) {
        memset(R[i], 0, sizeof R[i]);
        R[i][3 * b + i] += 1.0;
        R[i][3 * a + i] -= 1.0;
    }
}

static void add_stretch(const curl *r, const vector *x, int j, ss_curl_filter filter, double *K)
{
    const vector e = along(x[j + 1], -1.0, x[j]), t = scaled(1.0 / length(e), e);
    const double ratio = creal(length(e)) / r->l[j];
    const double across = filter == SS_CURL_GAUSS_NEWTON ? 0.0 : fmax(0.0, 1.0 - 1.0 / ratio);
    double R[3][DOFS], A[9];
    edge_rows(j, j + 1, R);
    for (int k = 0; k < 9; k++) {
        const double tt = creal(t.x[k / 3] * t.x[k % 3]);
        A[k] = r->EA / r->l[j] * (tt + across * ((k % 4 == 0 ? 1.0 : 0.0) - tt));
    }
    add_congruent(3, A, R, K);
}

static void add_clamped_bend(const curl *r, const vector *x, int j, double *K)
{
    const vector e[2] = {along(x[j], -1.0, x[j + 1]), along(x[j + 2], -1.0, x[j + 1])};
    double R[6][DOFS], A[36];
    vector by[2];
    const double d = r->mu_b[j] * (creal(angle_between(e[0], e[1], by)) - r->theta[j]);
    clamped_angle_hessian(e, r->mu_b[j], d, 1.0, A);
    edge_rows(j + 1, j, R);
    edge_rows(j + 1, j + 2, R + 3);
    add_congruent(6, A, R, K);
}

// What of a torsion the filters name.
typedef struct arms {
    double d, al, be, L;
    ss_vec3 t, z[2], h[2], n[2];
    double de[3][3][DOFS], P[6][DOFS];
    double p[2][DOFS], H[2][DOFS], N[2][DOFS];
} arms;

static ss_vec3 real_of(vector a)
{
    return ss_vec(creal(a.x[0]), creal(a.x[1]), creal(a.x[2]));
}

// row [DOFS] of a.de
static void dot_rows(ss_vec3 a, double de[3][DOFS], double *row)
{
    for (int k = 0; k < DOFS; k++) {
        row[k] = a.x * de[0][k] + a.y * de[1][k] + a.z * de[2][k];
    }
}

static arms arms_of(const curl *r, const vector *x)
{
    arms a;
    vector by[4];
    const ss_vec3 e0 = real_of(along(x[0], -1.0, x[1])), e1 = real_of(along(x[2], -1.0, x[1]));
    const ss_vec3 e2 = real_of(along(x[3], -1.0, x[2]));
    a.d = r->mu_t * creal(wrapped(torsion_between(x, by) - r->tau));
    a.L = ss_length(e1);
    a.t = ss_unit(e1);
    a.al = ss_dot(e0, e1) / ss_dot(e1, e1);
    a.be = ss_dot(e2, e1) / ss_dot(e1, e1);
    a.z[0] = ss_along(e0, -a.al, e1);
    a.z[1] = ss_along(e2, -a.be, e1);
    edge_rows(1, 0, a.de[0]);
    edge_rows(1, 2, a.de[1]);
    edge_rows(2, 3, a.de[2]);
    for (int i = 0; i < 2; i++) {
        a.h[i] = ss_unit(a.z[i]);
        a.n[i] = ss_cross(a.t, a.h[i]);
        dot_rows(a.h[i], a.de[1], a.H[i]);
        dot_rows(a.n[i], a.de[1], a.N[i]);
        for (int c = 0; c < 3; c++) {
            for (int k = 0; k < DOFS; k++) {
                a.P[3 * i + c][k] = a.de[2 * i][c][k] - (i == 0 ? a.al : a.be) * a.de[1][c][k];
            }
        }
        dot_rows(a.t, a.P + 3 * i, a.p[i]);
    }
    return a;
}

// P'H_in P + C, or with both clamped.
void add_split(const curl *r, const vector *x, bool clamps, double *K)
{
    const arms a = arms_of(r, x);
    double in[36] = {0.0}, C[DOFS * DOFS] = {0.0}, grad[6] = {0.0};
    for (int i = 0; i < 2; i++) {
        const double s = 1.0 / ss_length(a.z[i]), sign = i == 0 ? 1.0 : -1.0;
        double h[6] = {0.0}, n[6] = {0.0};
        memcpy(h + 3 * i, &a.h[i], sizeof a.h[i]);
        memcpy(n + 3 * i, &a.n[i], sizeof a.n[i]);
        for (int k = 0; k < 6; k++) {
            grad[k] -= sign * s * n[k];
        }
        add_product(sign * 2.0 * a.d * s * s, h, n, 6, in);
        add_product(sign * 2.0 * a.d * s / a.L, a.p[i], a.N[i], DOFS, C);
        add_product(sign * a.d / (a.L * a.L), a.H[i], a.N[i], DOFS, C);
    }
    add_product(r->mu_t, grad, grad, 6, in);
    if (clamps) {
        clamp_matrix(6, in);
        clamp_matrix(DOFS, C);
    }
    double P[6][DOFS];
    memcpy(P, a.P, sizeof P);
    add_congruent(6, in, P, K);
    for (int k = 0; k < DOFS * DOFS; k++) {
        K[k] += C[k];
    }
}

// P'H_F P - D'H_F D, or with H_F+ and H_F-.
void add_text(const curl *r, const vector *x, bool clamps, double *K)
{
    const arms a = arms_of(r, x);
    vector by[4];
    const double d = creal(torsion_between(x, by)) < 0.0 ? -a.d : a.d;
    const vector z[2] = {{{a.z[0].x, a.z[0].y, a.z[0].z}}, {{a.z[1].x, a.z[1].y, a.z[1].z}}};
    double plus[36], minus[36], P[6][DOFS], D[6][DOFS];
    clamped_angle_hessian(z, r->mu_t, d, 1.0, plus);
    clamped_angle_hessian(z, r->mu_t, d, -1.0, minus);
    for (int k = 0; k < 36 && !clamps; k++) {
        plus[k] = minus[k] = plus[k] + minus[k];
    }
    // dz_i = -e1 dal: by the difference of z_i(x) and P.
    for (int k = 0; k < DOFS; k++) {
        vector y[4];
        memcpy(y, x, sizeof y);
        y[k / 3].x[k % 3] += I * TINY;
        const vector e1 = along(y[2], -1.0, y[1]);
        const vector e[2] = {along(y[0], -1.0, y[1]), along(y[3], -1.0, y[2])};
        for (int i = 0; i < 6; i++) {
            const number share = dot(e[i / 3], e1) / dot(e1, e1);
            P[i][k] = a.P[i][k];
            D[i][k] = cimag(e[i / 3].x[i % 3] - share * e1.x[i % 3]) / TINY - P[i][k];
        }
    }
    add_congruent(6, plus, P, K);
    for (int k = 0; k < 36; k++) {
        minus[k] = -minus[k];
    }
    add_congruent(6, minus, D, K);
}

// ---- Gauss-Newton: weights times gradient gradient'

static void add_bend_square(const curl *r, const vector *x, int j, double *K)
{
    double row[DOFS] = {0.0};
    vector by[2];
    angle_between(along(x[j], -1.0, x[j + 1]), along(x[j + 2], -1.0, x[j + 1]), by);
    for (int k = 0; k < 3; k++) {
        row[3 * j + k] = creal(by[0].x[k]);
        row[3 * j + 6 + k] = creal(by[1].x[k]);
        row[3 * j + 3 + k] = -row[3 * j + k] - row[3 * j + 6 + k];
    }
    add_product(r->mu_b[j], row, row, DOFS, K);
}

static void add_torsion_square(const curl *r, const vector *x, double *K)
{
    double row[DOFS];
    vector by[4];
    torsion_between(x, by);
    for (int k = 0; k < DOFS; k++) {
        row[k] = creal(by[k / 3].x[k % 3]);
    }
    add_product(r->mu_t, row, row, DOFS, K);
}

// ---- Any filter of any energy

static void add_exact(const curl *r, ss_curl_energy_kind energy, double *K)
{
    curl only = *r;
    double part[DOFS * DOFS];
    only.EA = energy == SS_CURL_STRETCHES ? r->EA : 0.0;
    only.mu_t = energy == SS_CURL_TWISTS ? r->mu_t : 0.0;
    for (int j = 0; j < 2; j++) {
        only.mu_b[j] = energy == SS_CURL_BENDS ? r->mu_b[j] : 0.0;
    }
    exact_at(&only, part);
    for (int k = 0; k < DOFS * DOFS; k++) {
        K[k] += part[k];
    }
}

void add_filtered(const curl *r, ss_curl_energy_kind energy, ss_curl_filter filter, double *K)
{
    vector x[4];
    vertices_at(r->s.q, -1, x);
    if (filter == SS_CURL_EXACT) {
        add_exact(r, energy, K);
    } else if (energy == SS_CURL_STRETCHES) {
        for (int j = 0; j < 3; j++) {
            add_stretch(r, x, j, filter, K);
        }
    } else if (energy == SS_CURL_BENDS) {
        for (int j = 0; j < 2; j++) {
            (filter == SS_CURL_GAUSS_NEWTON ? add_bend_square : add_clamped_bend)(r, x, j, K);
        }
    } else if (filter == SS_CURL_GAUSS_NEWTON) {
        add_torsion_square(r, x, K);
    } else {
        (filter == SS_CURL_TEXT ? add_text : add_split)(r, x, true, K);
    }
}
