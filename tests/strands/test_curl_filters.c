// tests/strands/test_curl_filters.c -- filters of lifted curls against numerical eigenvalues
// (tests/support/curl_filter_oracle.h), and against those that [S23] prints.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "strands/models/curl_forms.h"
#include "base/spectrum.h"
#include "tests/support/curl_filter_oracle.h"
#include "tests/support/support.h"

static ss_random g;

static void set_up(void)
{
    g = ss_random_seeded(5);
}

static const char *const FILTERS[] = {"exact", "split", "text", "gn"}; // ss_curl_filter

static void check_filters(ss_vec3 start[4], ss_vec3 rest[4], double share)
{
    for (int filter = SS_CURL_SPLIT; filter <= SS_CURL_TEXT; filter++) {
        char spec[40];
        snprintf(spec, sizeof spec, "lifted-curls:filter=%s", FILTERS[filter]);
        curl r = curl_between(spec, start, rest);
        double A[DOFS * DOFS], K[DOFS * DOFS] = {0.0}, rest_of[DOFS * DOFS];
        for (int energy = 0; energy < SS_CURL_ENERGIES; energy++) {
            add_filtered(&r, (ss_curl_energy_kind)energy, (ss_curl_filter)filter, K);
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

// All 64 of them.
static void each_energy_has_a_filter_of_its_own(void)
{
    for (int trial = 0; trial < 3 * 64; trial++) {
        ss_vec3 start[4], rest[4];
        random_vertices(&g, start);
        random_vertices(&g, rest);
        const int filter[SS_CURL_ENERGIES] = {trial % 4, trial / 4 % 4, trial / 16 % 4};
        char spec[80];
        snprintf(spec, sizeof spec, "lifted-curls:stretch=%s,bending=%s,torsion=%s,filter=%s",
                 FILTERS[filter[0]], FILTERS[filter[1]], FILTERS[filter[2]], FILTERS[trial / 64]);
        curl r = curl_between(spec, start, rest);
        double A[DOFS * DOFS], K[DOFS * DOFS] = {0.0};
        for (int energy = 0; energy < SS_CURL_ENERGIES; energy++) {
            add_filtered(&r, (ss_curl_energy_kind)energy, (ss_curl_filter)filter[energy], K);
        }
        stiffness_at(&r, SS_STIFFNESS_FILTERED, A);
        check_near(A, K, DOFS * DOFS, 1e-10);
        // Other kinds of stiffness do not ask what the filters are.
        stiffness_at(&r, SS_STIFFNESS_EXACT, A);
        exact_at(&r, K);
        check_near(A, K, DOFS * DOFS, 1e-10);
        free_strand(&r.s);
    }
}

static void one_filter_serves_the_energies_that_have_none_of_their_own(void)
{
    static const char *const SAME[][2] = {
        {"lifted-curls", "lifted-curls:filter=split"},
        {"lifted-curls:filter=gn", "lifted-curls:stretch=gn,bending=gn,torsion=gn"},
        {"lifted-curls:filter=text,torsion=exact",
         "lifted-curls:stretch=text,bending=text,torsion=exact"},
        {"lifted-curls:bending=gn,filter=exact,torsion=filter",
         "lifted-curls:filter=exact,bending=gn"}};
    for (size_t k = 0; k < sizeof SAME / sizeof SAME[0]; k++) {
        ss_vec3 start[4], rest[4];
        double A[2][DOFS * DOFS];
        random_vertices(&g, start);
        random_vertices(&g, rest);
        for (int i = 0; i < 2; i++) {
            curl r = curl_between(SAME[k][i], start, rest);
            stiffness_at(&r, SS_STIFFNESS_FILTERED, A[i]);
            free_strand(&r.s);
        }
        check_near(A[0], A[1], DOFS * DOFS, 0.0);
    }
}

static void gauss_newton_is_a_filter_too(void)
{
    for (int trial = 0; trial < 20; trial++) {
        ss_vec3 start[4], rest[4];
        random_vertices(&g, start);
        random_vertices(&g, rest);
        curl gn = curl_between("lifted-curls:filter=gn", start, rest);
        double A[DOFS * DOFS], B[DOFS * DOFS];
        stiffness_at(&gn, SS_STIFFNESS_FILTERED, A);
        stiffness_at(&gn, SS_STIFFNESS_GAUSS_NEWTON, B);
        check_near(A, B, DOFS * DOFS, 0.0);
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
        put_pair(&K, trial % LANES, A);
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

// ---- Eigenvalues of one energy

static double filtered(double lambda, int filter)
{
    return filter == SS_CURL_EXACT ? lambda : fmax(lambda, 0.0);
}

static curl curl_of_one_energy(ss_curl_energy_kind energy, int filter, const ss_vec3 start[4])
{
    char spec[40];
    ss_vec3 rest[4];
    snprintf(spec, sizeof spec, "lifted-curls:filter=%s", FILTERS[filter]);
    random_vertices(&g, rest);
    curl r = curl_between(spec, start, rest);
    ss_curl *c = r.s.self;
    for (int j = 0; j < 3; j++) { // the joint at vertex 2 alone
        c->number[SS_CURL_STRETCH][j] *= energy == SS_CURL_STRETCHES;
        c->number[SS_CURL_BEND][j] *= energy == SS_CURL_BENDS && j == 2;
        c->number[SS_CURL_TORSION][j] *= energy == SS_CURL_TWISTS;
    }
    return r;
}

// Of the rows R [m][DOFS] of A, which are orthogonal: R A R' has the eigenvalues `want`, in any order.
static void check_eigenvalues(const double *A, int m, double R[][DOFS], double *want)
{
    double part[36] = {0.0};
    for (int a = 0; a < m; a++) {
        for (int b = 0; b < m; b++) {
            for (int i = 0; i < DOFS * DOFS; i++) {
                part[a * m + b] += R[a][i / DOFS] * A[i] * R[b][i % DOFS];
            }
        }
    }
    ss_spectrum s = ss_spectrum_of(m, part);
    qsort(want, (size_t)m, sizeof *want, compare);
    qsort(s.lambda, (size_t)m, sizeof *s.lambda, compare);
    check_near(s.lambda, want, m, 1e-10);
}

// mu_s along it and twice mu_s (1 - 1/I) across, over l: by the place of its end.
static void an_edge_has_the_eigenvalues_that_are_printed(void)
{
    for (int trial = 0; trial < 100; trial++) {
        const int filter = trial % 4;
        ss_vec3 start[4];
        double A[DOFS * DOFS], R[3][DOFS] = {{0.0}};
        random_vertices(&g, start);
        curl r = curl_of_one_energy(SS_CURL_STRETCHES, filter, start);
        stiffness_at(&r, SS_STIFFNESS_FILTERED, A);
        for (int i = 0; i < 3; i++) {
            R[i][9 + i] = 1.0;
        }
        const double ratio = ss_length(ss_minus(start[3], start[2])) / r.l[2], mu = r.EA / r.l[2];
        const double across =
            filter == SS_CURL_GAUSS_NEWTON ? 0.0 : filtered(mu * (1.0 - 1.0 / ratio), filter);
        double want[3] = {mu, across, across};
        check_eigenvalues(A, 3, R, want);
        free_strand(&r.s);
    }
}

// By both ends of it in units of its edges, which are of any length.
static void a_joint_has_the_eigenvalues_that_are_printed(void)
{
    for (int trial = 0; trial < 100; trial++) {
        const int filter = trial % 4;
        ss_vec3 start[4];
        vector x[4], by[2];
        double A[DOFS * DOFS], R[6][DOFS] = {{0.0}};
        random_vertices(&g, start);
        curl r = curl_of_one_energy(SS_CURL_BENDS, filter, start);
        stiffness_at(&r, SS_STIFFNESS_FILTERED, A);
        vertices_at(r.s.q, -1, x);
        const vector e[2] = {along(x[1], -1.0, x[2]), along(x[3], -1.0, x[2])};
        for (int i = 0; i < 6; i++) {
            R[i][i < 3 ? 3 + i : 6 + i] = creal(length(e[i / 3]));
        }
        const double theta = creal(angle_between(e[0], e[1], by)), mu = r.mu_b[1];
        const double d = mu * (theta - r.theta[1]), root = sqrt(mu * mu + d * d);
        double want[6] = {d * (cos(theta) - 1.0) / sin(theta),
                          d * (cos(theta) + 1.0) / sin(theta),
                          mu + root,
                          mu - root,
                          d,
                          -d};
        for (int k = 0; k < 6; k++) {
            want[k] = filtered(want[k], filter);
        }
        if (filter == SS_CURL_GAUSS_NEWTON) {
            memset(want, 0, sizeof want);
            want[0] = 2.0 * mu;
        }
        check_eigenvalues(A, 6, R, want);
        free_strand(&r.s);
    }
}

// Across the middle edge, with arms of one length: those of the angle of two vectors, (b, b) and (b, -b), which
// are along that edge, apart.
static void a_torsion_has_the_eigenvalues_that_are_printed(void)
{
    for (int trial = 0; trial < 100; trial++) {
        const int filter = trial % 4;
        const double arm = ss_random_between(&g, 0.005, 0.02);
        double A[DOFS * DOFS], R[4][DOFS] = {{0.0}};
        ss_vec3 start[4] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}, {0.0, 0.0, 0.011}, {0.0, 0.0, 0.0}};
        for (int i = 0; i < 4; i += 3) {
            const double turn = ss_random_between(&g, -M_PI, M_PI);
            start[i] = ss_vec(arm * cos(turn), arm * sin(turn),
                              start[i == 0 ? 1 : 2].z + ss_random_between(&g, -0.01, 0.01));
        }
        curl r = curl_of_one_energy(SS_CURL_TWISTS, filter, start);
        stiffness_at(&r, SS_STIFFNESS_FILTERED, A);
        vector x[4], by[4];
        vertices_at(r.s.q, -1, x);
        for (int i = 0; i < 4; i++) {
            R[i][i < 2 ? i : 7 + i] = arm;
        }
        const double mu = r.mu_t, d = mu * creal(wrapped(torsion_between(x, by) - r.tau));
        const double root = sqrt(mu * mu + d * d);
        double want[4] = {filtered(mu + root, filter), filtered(mu - root, filter),
                          filtered(d, filter), filtered(-d, filter)};
        if (filter == SS_CURL_GAUSS_NEWTON) {
            memset(want, 0, sizeof want);
            want[0] = 2.0 * mu;
        }
        check_eigenvalues(A, 4, R, want);
        free_strand(&r.s);
    }
}

// ---- The clamp

static void four_by_four_matrices_are_clamped(void)
{
    for (int trial = 0; trial < 10000; trial++) {
        lanes A[4][4], other[4][4];
        double B[LANES][16];
        for (int l = 0; l < LANES; l++) {
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
        for (int k = 0; k < 16; k++) {
            other[k / 4][k % 4] = -A[k % 4][k / 4];
        }
        lanes_clamp_two(A, other);
        for (int l = 0; l < LANES; l++) {
            const double most = largest_of(B[l], 16);
            double plus[16];
            memcpy(plus, B[l], sizeof plus);
            clamp_matrix(4, plus);
            for (int k = 0; k < 16; k++) { // A = A+ - (-A)+
                CHECK_NEAR(A[k / 4][k % 4][l], plus[k], 1e-11 * most);
                CHECK_NEAR(other[k / 4][k % 4][l], plus[k] - B[l][k], 1e-11 * most);
            }
        }
    }
}

static void run_tests(void)
{
    RUN_TEST(filtered_is_the_clamp_by_numerical_eigenvalues);
    RUN_TEST(it_is_where_edges_are_in_line_or_folded_or_turned_round);
    RUN_TEST(the_forms_of_the_torsion_add_up_to_its_hessian);
    RUN_TEST(each_energy_has_a_filter_of_its_own);
    RUN_TEST(one_filter_serves_the_energies_that_have_none_of_their_own);
    RUN_TEST(gauss_newton_is_a_filter_too);
    RUN_TEST(a_joint_of_unit_edges_has_the_eigenvalues_that_are_printed);
    RUN_TEST(an_edge_has_the_eigenvalues_that_are_printed);
    RUN_TEST(a_joint_has_the_eigenvalues_that_are_printed);
    RUN_TEST(a_torsion_has_the_eigenvalues_that_are_printed);
    RUN_TEST(four_by_four_matrices_are_clamped);
}

const test_group curl_filters_tests = {.run = run_tests, .set_up = set_up};
