// tests/strands/test_curl_filters.c -- filters of lifted curls against numerical eigenvalues.
//
// The oracle has the filters of doc/strands.md, "Lifted Curls", as sums of products of rows by the 12 dofs,
// clamped by Jacobi's method; the Hessian of an angle is by complex step (tests/support/curl_oracle.h).
#include <stdlib.h>
#include <string.h>

#include "problems/strands/models/curl_forms.h"
#include "problems/tangle/spectrum.h"
#include "tests/support/curl_oracle.h"
#include "tests/support/support.h"

static ss_random g;

static void set_up(void)
{
    g = ss_random_seeded(5);
}

static void clamp(int n, double *A)
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
    clamp(6, A);
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

static void add_clamped_stretch(const curl *r, const vector *x, int j, bool gauss_newton, double *K)
{
    const vector e = along(x[j + 1], -1.0, x[j]), t = scaled(1.0 / length(e), e);
    const double ratio = creal(length(e)) / r->l[j];
    const double across = gauss_newton ? 0.0 : fmax(0.0, 1.0 - 1.0 / ratio);
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
static void add_split(const curl *r, const vector *x, bool clamps, double *K)
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
        clamp(6, in);
        clamp(DOFS, C);
    }
    double P[6][DOFS];
    memcpy(P, a.P, sizeof P);
    add_congruent(6, in, P, K);
    for (int k = 0; k < DOFS * DOFS; k++) {
        K[k] += C[k];
    }
}

// P'H_F P - D'H_F D, or with H_F+ and H_F-.
static void add_text(const curl *r, const vector *x, bool clamps, double *K)
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

static void check_filters(ss_vec3 start[4], ss_vec3 rest[4], double share)
{
    static const char *const specs[] = {"lifted-curls:filter=split", "lifted-curls:filter=text"};
    for (int k = 0; k < 2; k++) {
        curl r = curl_between(specs[k], start, rest);
        double A[DOFS * DOFS], K[DOFS * DOFS] = {0.0}, rest_of[DOFS * DOFS];
        vector x[4];
        vertices_at(r.s.q, -1, x);
        for (int j = 0; j < 3; j++) {
            add_clamped_stretch(&r, x, j, false, K);
        }
        for (int j = 0; j < 2; j++) {
            add_clamped_bend(&r, x, j, K);
        }
        if (k == 0) {
            add_split(&r, x, true, K);
        } else {
            add_text(&r, x, true, K);
        }
        stiffness_at(&r, SS_STIFFNESS_FILTERED, A);
        check_near(A, K, DOFS * DOFS, share);
        // No negative eigenvalue, and none of filtered - exact.
        const ss_spectrum s = ss_spectrum_of(DOFS, A);
        CHECK(s.lowest >= -1e-12 * s.highest);
        stiffness_at(&r, SS_STIFFNESS_EXACT, rest_of);
        for (int i = 0; i < DOFS * DOFS; i++) {
            rest_of[i] = A[i] - rest_of[i];
        }
        const ss_spectrum more = ss_spectrum_of(DOFS, rest_of);
        CHECK(more.lowest >= -1e-11 * s.highest);
        free_strand(&r.s);
    }
}

static void filtered_is_the_clamp_by_numerical_eigenvalues(void)
{
    for (int trial = 0; trial < 200; trial++) {
        ss_vec3 start[4], rest[4];
        random_vertices(&g, start);
        random_vertices(&g, rest);
        check_filters(start, rest, 1e-10);
    }
}

static void it_is_where_edges_are_in_line_or_folded_or_turned_round(void)
{
    for (int which = 0; which < BAD_STARTS; which++) {
        for (double off = 0.1; off > 1e-4; off *= 0.1) {
            ss_vec3 start[4], rest[4];
            bad_vertices(which, off, start, rest);
            check_filters(start, rest, 1e-10);
        }
    }
}

// The two ways to say the torsion's Hessian are one.
static void the_forms_of_the_torsion_add_up_to_its_hessian(void)
{
    for (int trial = 0; trial < 100; trial++) {
        ss_vec3 start[4], rest[4];
        random_vertices(&g, start);
        random_vertices(&g, rest);
        curl r = curl_between("lifted-curls", start, rest);
        double K[DOFS * DOFS], one[DOFS * DOFS] = {0.0}, two[DOFS * DOFS] = {0.0};
        vector x[4];
        vertices_at(r.s.q, -1, x);
        r.EA = r.mu_b[0] = r.mu_b[1] = 0.0;
        exact_at(&r, K);
        add_split(&r, x, false, one);
        add_text(&r, x, false, two);
        check_near(one, K, DOFS * DOFS, 1e-11);
        check_near(two, K, DOFS * DOFS, 1e-10);
        free_strand(&r.s);
    }
}

static void other_filters_are_what_they_say(void)
{
    for (int trial = 0; trial < 20; trial++) {
        ss_vec3 start[4], rest[4];
        random_vertices(&g, start);
        random_vertices(&g, rest);
        curl exact = curl_between("lifted-curls:filter=exact", start, rest);
        curl gn = curl_between("lifted-curls:filter=gn", start, rest);
        double A[DOFS * DOFS], B[DOFS * DOFS], K[DOFS * DOFS] = {0.0};
        vector x[4], by[4];
        stiffness_at(&exact, SS_STIFFNESS_FILTERED, A);
        stiffness_at(&exact, SS_STIFFNESS_EXACT, B);
        check_near(A, B, DOFS * DOFS, 0.0);
        stiffness_at(&gn, SS_STIFFNESS_FILTERED, A);
        stiffness_at(&exact, SS_STIFFNESS_GAUSS_NEWTON, B);
        check_near(A, B, DOFS * DOFS, 0.0);
        // Weights times gradient gradient'.
        vertices_at(gn.s.q, -1, x);
        for (int j = 0; j < 3; j++) {
            add_clamped_stretch(&gn, x, j, true, K);
        }
        for (int j = 0; j < 2; j++) {
            double row[DOFS] = {0.0};
            angle_between(along(x[j], -1.0, x[j + 1]), along(x[j + 2], -1.0, x[j + 1]), by);
            for (int k = 0; k < 3; k++) {
                row[3 * j + k] = creal(by[0].x[k]);
                row[3 * j + 6 + k] = creal(by[1].x[k]);
                row[3 * j + 3 + k] = -row[3 * j + k] - row[3 * j + 6 + k];
            }
            add_product(gn.mu_b[j], row, row, DOFS, K);
        }
        double row[DOFS];
        torsion_between(x, by);
        for (int k = 0; k < DOFS; k++) {
            row[k] = creal(by[k / 3].x[k % 3]);
        }
        add_product(gn.mu_t, row, row, DOFS, K);
        check_near(A, K, DOFS * DOFS, 1e-12);
        free_strand(&exact.s);
        free_strand(&gn.s);
    }
}

// ---- The unit form

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void put_pair(const pair *K, int lane, double A[36])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            A[6 * i + j] = K->first.x[i][j][lane];
            A[6 * (i + 3) + j + 3] = K->second.x[i][j][lane];
            A[6 * i + j + 3] = A[6 * (j + 3) + i] = K->both.x[i][j][lane];
        }
    }
}

static void a_joint_of_unit_edges_has_the_eigenvalues_that_are_printed(void)
{
    for (int trial = 0; trial < 100; trial++) {
        double e[2][3], A[36], printed[6];
        ss_random_direction(&g, 3, e[0]);
        ss_random_direction(&g, 3, e[1]);
        const lane3 t[2] = {{lanes_all(e[0][0]), lanes_all(e[0][1]), lanes_all(e[0][2])},
                            {lanes_all(e[1][0]), lanes_all(e[1][1]), lanes_all(e[1][2])}};
        const lanes one = lanes_all(1.0);
        const angle a = angle_of(t[0], t[1], one, one);
        const double mu = ss_random_between(&g, 0.1, 2.0), d = ss_random_between(&g, -2.0, 2.0);
        const unit_form u = unit_exact(&a, lanes_all(mu), lanes_all(d));
        pair K = {0};
        add_angle(&a, &u, &K);
        put_pair(&K, trial % W, A);
        ss_spectrum s = ss_spectrum_of(6, A);
        const double c = cos(a.theta[0]), sine = sin(a.theta[0]);
        const double root = sqrt(mu * mu + d * d);
        const double values[6] = {
            d * (c - 1.0) / sine, d * (c + 1.0) / sine, mu + root, mu - root, d, -d};
        memcpy(printed, values, sizeof printed);
        qsort(printed, 6, sizeof *printed, compare);
        qsort(s.lambda, 6, sizeof *s.lambda, compare);
        check_near(s.lambda, printed, 6, 1e-12);
        if (d > 0.5) { // the angle alone: mu = 0, d = 1
            const double alone[6] = {(c - 1.0) / sine, (c + 1.0) / sine, 1.0, 1.0, -1.0, -1.0};
            const unit_form v = unit_exact(&a, lanes_all(0.0), one);
            pair J = {0};
            add_angle(&a, &v, &J);
            put_pair(&J, 0, A);
            s = ss_spectrum_of(6, A);
            memcpy(printed, alone, sizeof printed);
            qsort(printed, 6, sizeof *printed, compare);
            qsort(s.lambda, 6, sizeof *s.lambda, compare);
            check_near(s.lambda, printed, 6, 1e-12);
        }
    }
}

static void four_by_four_matrices_are_clamped(void)
{
    for (int trial = 0; trial < 10000; trial++) {
        lanes A[4][4];
        double B[W][16];
        for (int l = 0; l < W; l++) {
            // Entries of very different size, some of them 0, some matrices with equal eigenvalues.
            const double power = trial % 4 == 0 ? 6.0 : 0.0;
            for (int i = 0; i < 4; i++) {
                for (int j = 0; j <= i; j++) {
                    double x =
                        ss_random_normal(&g) * pow(10.0, power * (ss_random_uniform(&g) - 1.0));
                    x = trial % 8 == 1 && ss_random_uniform(&g) < 0.5 ? 0.0 : x;
                    x = trial % 8 == 2 ? (i == j) + 1e-9 * x : x;
                    B[l][4 * i + j] = B[l][4 * j + i] = x;
                    A[i][j][l] = A[j][i][l] = x;
                }
            }
        }
        lanes_clamp(A);
        for (int l = 0; l < W; l++) {
            const double most = largest_of(B[l], 16);
            clamp(4, B[l]);
            for (int k = 0; k < 16; k++) {
                CHECK_NEAR(A[k / 4][k % 4][l], B[l][k], 1e-11 * most);
            }
        }
    }
}

static void run_tests(void)
{
    RUN_TEST(filtered_is_the_clamp_by_numerical_eigenvalues);
    RUN_TEST(it_is_where_edges_are_in_line_or_folded_or_turned_round);
    RUN_TEST(the_forms_of_the_torsion_add_up_to_its_hessian);
    RUN_TEST(other_filters_are_what_they_say);
    RUN_TEST(a_joint_of_unit_edges_has_the_eigenvalues_that_are_printed);
    RUN_TEST(four_by_four_matrices_are_clamped);
}

const test_group curl_filters_tests = {.run = run_tests, .set_up = set_up};
