// Proofs that a problem has no solution or has one: answers known by hand, and a battery of
// problems that have one by construction.
#include "problems/certificate.h"

#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "problems/response.h"
#include "problems/tangle/tangle.h"
#include "tests/support/make_problem.h"
#include "tests/support/support.h"

#define MOST      12
#define TOLERANCE 1e-8

static ss_problem *problem;
static ss_certificate found;
static ss_error error;

static void set_up(void)
{
    found = (ss_certificate){0};
    error = (ss_error){0};
}

static void tear_down(void)
{
    ss_certificate_free(&found);
    ss_problem_free(problem);
    problem = NULL;
}

// M = I; H [ndofs][dim n] row-major; every contact with the same mu; f = 0.
static void make_global(int dim, int n, int ndofs, const double *H, const double *w, double mu)
{
    const int size = dim * n;
    int row[MOST * 3 * MOST], col[MOST * 3 * MOST], count = 0;
    double x[MOST * 3 * MOST];
    problem = ss_problem_new();
    CHECK(problem != NULL);
    problem->form = SS_GLOBAL;
    problem->dim = dim;
    problem->ncontacts = n;
    problem->ndofs = ndofs;
    problem->mu = malloc((size_t)n * sizeof(double));
    problem->w = malloc((size_t)size * sizeof(double));
    problem->f = calloc((size_t)ndofs, sizeof(double));
    for (int i = 0; i < n; i++) {
        problem->mu[i] = mu;
    }
    memcpy(problem->w, w, (size_t)size * sizeof *w);
    for (int k = 0; k < ndofs * size; k++) {
        if (H[k] != 0.0) {
            row[count] = k / size;
            col[count] = k % size;
            x[count++] = H[k];
        }
    }
    CHECK_OK(ss_sparse_from_triplets(&problem->H, ndofs, size, count, row, col, x, &error));
    for (int j = 0; j < ndofs; j++) {
        row[j] = col[j] = j;
        x[j] = 1.0;
    }
    CHECK_OK(ss_sparse_from_triplets(&problem->M, ndofs, ndofs, ndofs, row, col, x, &error));
}

static void to_local(void)
{
    ss_problem *local;
    CHECK_OK(ss_problem_to_local(problem, &local, &error));
    ss_problem_free(problem);
    problem = local;
}

static ss_existence verdict_at(double tolerance)
{
    ss_certificate_free(&found);
    CHECK_OK(ss_certificate_find(problem, tolerance, true, &found, &error));
    return found.verdict;
}

static ss_existence verdict(void)
{
    return verdict_at(TOLERANCE);
}

// The verdict is one that the two checks confirm, from the problem's own data.
static void check_verdict(ss_existence expected)
{
    CHECK(verdict() == expected);
    double reach = 0.0, margin = -1.0;
    if (expected == SS_EXISTENCE_REFUTED) {
        CHECK_OK(ss_certificate_reach(problem, TOLERANCE, found.lambda, found.low, &reach, &error));
        CHECK_LE(ss_impulse_most(TOLERANCE), reach);
    }
    if (expected == SS_EXISTENCE_PROVED) {
        CHECK_OK(ss_certificate_margin(problem, found.x, &margin, &error));
        CHECK_LE(SS_MARGIN, margin);
    }
    CHECK((found.lambda != NULL) == (expected == SS_EXISTENCE_REFUTED));
    CHECK((found.x != NULL) == (expected == SS_EXISTENCE_PROVED));
}

static void two_fixed_bodies_that_close_have_no_answer(void)
{
    // A contact that no dof moves: H = 0, w_N = -1. Beside it one that is free.
    const double H[] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1};
    const double closing[] = {-1, 0, 0, 0, 0, 0}, opening[] = {1, 0, 0, 0, 0, 0};
    make_global(3, 2, 3, H, closing, 0.5);
    check_verdict(SS_EXISTENCE_REFUTED);
    CHECK(isinf(found.reach));
    CHECK(found.lambda[0] > 0.0 && found.lambda[1] == 0.0);
    to_local();
    check_verdict(SS_EXISTENCE_REFUTED);
    ss_problem_free(problem);
    make_global(3, 2, 3, H, opening, 0.5);
    check_verdict(SS_EXISTENCE_PROVED);
    to_local();
    check_verdict(SS_EXISTENCE_PROVED);
}

static void a_body_between_walls_that_close_has_none(void)
{
    // u_N = v + w_0 at one wall, -v + w_1 at the other: u_N >= 0 needs w_0 + w_1 >= 0.
    const double H[] = {1, 0, 0, -1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1};
    for (int local = 0; local < 2; local++) {
        for (int sign = -1; sign <= 1; sign++) {
            const double w[] = {-2, 0, 0, 2 + 0.5 * sign, 0, 0};
            make_global(3, 2, 3, H, w, 0.3);
            if (local == 1) {
                to_local();
            }
            check_verdict(sign < 0   ? SS_EXISTENCE_REFUTED
                          : sign > 0 ? SS_EXISTENCE_PROVED
                                     : SS_EXISTENCE_UNKNOWN);
            if (sign < 0) {
                CHECK_NEAR(found.lambda[0] / found.lambda[1], 1.0, 1e-9);
            }
            tear_down();
        }
    }
}

static void a_wedge_that_is_pulled_in_has_none(void)
{
    // Normals (+-cos, sin) of 30 degrees and a lid (0, -1): lambda = (1, 1, 1) as 2 sin 30 = 1.
    const double c = sqrt(0.75), s = 0.5;
    const double H[] = {c, -s, -c, s, 0, 1, s, c, s, c, -1, 0};
    const double w[] = {-1, 0, 0.25, 0, 0.5, 0};
    make_global(2, 3, 2, H, w, 0.2);
    check_verdict(SS_EXISTENCE_REFUTED);
    CHECK_NEAR(found.lambda[0] / found.lambda[2], 1.0, 1e-9);
    CHECK_NEAR(found.lambda[1] / found.lambda[2], 1.0, 1e-9);
    problem->w[4] = 0.8; // 0.05 to spare, but mu u_T has no room
    CHECK(verdict() != SS_EXISTENCE_REFUTED);
}

static void a_row_of_bodies_hands_the_squeeze_on(void)
{
    // Five bodies on a line between two walls, six gaps: only their sum counts.
    double H[5 * 12] = {0}, w[12] = {0};
    for (int k = 0; k < 5; k++) {
        H[12 * k + 2 * k] = 1.0;
        H[12 * k + 2 * (k + 1)] = -1.0;
    }
    for (int i = 0; i < 6; i++) {
        w[2 * i] = i == 3 ? -5.1 : 1.0;
    }
    make_global(2, 6, 5, H, w, 0.0);
    check_verdict(SS_EXISTENCE_REFUTED);
    for (int i = 1; i < 6; i++) {
        CHECK_NEAR(found.lambda[i] / found.lambda[0], 1.0, 1e-8);
    }
    problem->w[6] = -4.9;
    check_verdict(SS_EXISTENCE_PROVED);
}

static void a_ray_of_the_cones_is_no_proof(void)
{
    // One dof that moves the normal by 1 and the tangent by 1, w = (-1, -2), mu = 2: on the ray
    // r = (1, -1) of K_2, H r = 0 and w.r > 0; on r = (2, -2) + .. nothing is refuted: v = 1 gives
    // u_N = 0, u_T = -1, which r = (1/2, 1) answers.
    const double H[] = {1, 1}, w[] = {-1, -2};
    make_global(2, 1, 1, H, w, 2.0);
    CHECK(verdict() != SS_EXISTENCE_REFUTED);
    // And w = (-1, 2): w.r = -3 < 0 on the ray (1, -1). v = 1 gives u = (0, 3), and v = 3 gives
    // u = (2, 5), never inside K*; still u_N >= 0 can be had.
    problem->w[1] = 2.0;
    CHECK(verdict() == SS_EXISTENCE_UNKNOWN);
}

static void a_lambda_must_be_what_it_claims(void)
{
    const double H[] = {1, 0, -1, 0, 0, 1, 0, 1}, w[] = {-1, 0, 0.5, 0};
    make_global(2, 2, 2, H, w, 0.3);
    const struct {
        double lambda[2];
        bool proof;
    } claims[] = {
        {{1, 1}, true},  {{2, 2}, true},    {{1, 1 + 1e-6}, false}, {{-1, -1}, false},
        {{0, 0}, false}, {{NAN, 1}, false}, {{1, INFINITY}, false}, {{1, 0}, false},
    };
    for (size_t k = 0; k < sizeof claims / sizeof claims[0]; k++) {
        double reach;
        CHECK_OK(ss_certificate_reach(problem, TOLERANCE, claims[k].lambda, NULL, &reach, &error));
        CHECK((reach >= ss_impulse_most(TOLERANCE)) == claims[k].proof);
    }
}

static void a_margin_is_that_of_the_worst_contact(void)
{
    const double H[] = {1, 0, 1, 0, 0, 1, 0, 1}, w[] = {0, 0, 0, 0};
    make_global(2, 2, 2, H, w, 0.5);
    const double inside[] = {1, 1}, edge[] = {1, 2}, outside[] = {1, 3}, none[] = {NAN, 0};
    double margin;
    CHECK_OK(ss_certificate_margin(problem, inside, &margin, &error));
    CHECK_NEAR(margin, 0.25, 1e-15); // (1 - 1/2) / (1 + 1)
    CHECK_OK(ss_certificate_margin(problem, edge, &margin, &error));
    CHECK(margin == 0.0);
    CHECK_OK(ss_certificate_margin(problem, outside, &margin, &error));
    CHECK(margin < 0.0);
    CHECK_OK(ss_certificate_margin(problem, none, &margin, &error));
    CHECK(!(margin >= SS_MARGIN));
}

// w = -H' v + what is inside K* (or on its boundary, by `depth` 0): v shows that an answer exists.
static void make_solvable(ss_random *g, ss_problem *p, double depth)
{
    double v[3 * MOST * MOST];
    for (int j = 0; j < p->ndofs; j++) {
        v[j] = ss_random_normal(g);
        p->f[j] = 10.0 * ss_random_normal(g);
    }
    const int size = p->dim * p->ncontacts;
    memset(p->w, 0, (size_t)size * sizeof *p->w);
    ss_sparse_add_transposed_product(&p->H, v, p->w);
    for (int i = 0; i < p->ncontacts; i++) {
        double slip = 0.0;
        for (int c = 1; c < p->dim; c++) {
            const double u = ss_random_normal(g);
            slip += u * u;
            p->w[p->dim * i + c] = u - p->w[p->dim * i + c];
        }
        p->w[p->dim * i] = p->mu[i] * sqrt(slip) + depth - p->w[p->dim * i];
    }
}

static void what_has_an_answer_is_never_denied_one(void)
{
    ss_random g = ss_random_seeded(61);
    int proved = 0;
    for (int k = 0; k < 10000; k++) {
        const int n = 1 + ss_random_below(&g, MOST), bodies = 1 + ss_random_below(&g, 4);
        problem = random_problem((uint64_t)k, 2 + k % 2, n, bodies, 1 + ss_random_below(&g, 6));
        for (int i = 0; k % 5 == 0 && i < n; i++) {
            problem->mu[i] = 0.0;
        }
        make_solvable(&g, problem, k % 3 == 0 ? 0.0 : ss_random_log_between(&g, 1e-9, 1.0));
        if (k % 7 == 0) {
            to_local();
        }
        const ss_existence said = verdict();
        CHECK(said != SS_EXISTENCE_REFUTED);
        proved += said == SS_EXISTENCE_PROVED;
        tear_down();
    }
    CHECK(proved > 6000); // those that are not on the boundary, mostly
}

static void random_loads_are_decided_one_way_or_the_other(void)
{
    ss_random g = ss_random_seeded(62);
    int counts[3] = {0};
    for (int k = 0; k < 2000; k++) {
        problem = random_problem((uint64_t)k, 2 + k % 2, 6, 2, 3);
        for (int c = 0; c < problem->dim * 6; c++) {
            problem->w[c] = ss_random_normal(&g);
        }
        for (int i = 0; i < 6; i++) {
            problem->mu[i] = 0.0; // then (1) and (2) leave nothing between them but a boundary
        }
        const ss_existence said = verdict();
        counts[said]++;
        to_local();
        CHECK(verdict() == said);
        tear_down();
    }
    CHECK(counts[SS_EXISTENCE_REFUTED] > 100 && counts[SS_EXISTENCE_PROVED] > 100);
    CHECK_LE(counts[SS_EXISTENCE_UNKNOWN], 2);
}

static void an_unsymmetric_w_is_refuted_by_its_rows(void)
{
    // Row 0 of W is 0, its column is not: u_N = b_N whatever r is.
    const double W[] = {0, 0, 1, 2}, closing[] = {-1, 0}, opening[] = {1, 0};
    problem = one_contact(2, W, closing, 0.5);
    check_verdict(SS_EXISTENCE_REFUTED);
    tear_down();
    problem = one_contact(2, W, opening, 0.5);
    CHECK(verdict() == SS_EXISTENCE_UNKNOWN); // (2) says nothing where W is not symmetric
    tear_down();
    const double indefinite[] = {1, 0, 0, -1};
    problem = one_contact(2, indefinite, opening, 0.5);
    CHECK(verdict() == SS_EXISTENCE_UNKNOWN);
}

// Returns the judge's measures of r, and the largest of r in V/s.
static ss_measures judged(const double *r, double *largest)
{
    double u[6];
    ss_response *judge;
    CHECK_OK(ss_response_new(problem, &judge, &error));
    const ss_measures m = ss_response_judge(judge, r, u);
    ss_response_free(judge);
    *largest = 0.0;
    for (int c = 0; c < 6; c++) {
        *largest = fmax(*largest, fabs(r[c]) * m.compliance_scale / m.velocity_scale);
    }
    return m;
}

static void an_answer_of_any_size_that_passes_is_not_denied(void)
{
    static const double tolerances[] = {1e-12, 1e-8, 1e-6, 1e-4, 1e-2};
    for (int k = 10; k <= 52; k++) {
        problem = squeeze(3, ldexp(1.0, -k), -1.0, -1.0);
        const double r[6] = {ldexp(1.0, k), 0, 0, ldexp(1.0, k), 0, 0}; // u = 0 to the last bit
        double largest;
        const ss_measures m = judged(r, &largest);
        for (int t = 0; t < 5; t++) {
            const bool refuted = verdict_at(tolerances[t]) == SS_EXISTENCE_REFUTED;
            CHECK(ss_measures_pass(&m, tolerances[t]) == !refuted);
            CHECK_LE(found.reach, largest);
            CHECK(k < 20 || found.reach > 0.9 * largest);
        }
        tear_down();
    }
}

static void what_is_refuted_passes_nowhere(void)
{
    ss_random g = ss_random_seeded(63);
    int refuted = 0, passed = 0;
    for (int k = 0; k < 2000; k++) {
        const double gap = ss_random_log_between(&g, 1e-16, 1e-6), b1 = ss_random_normal(&g);
        problem = squeeze(3, gap, -fabs(ss_random_normal(&g)) - 1e-3, b1);
        const double b0 = problem->b[0]; // sticks, if both push
        const double side = 1.0 - gap, det = gap * (1.0 + side);
        const double r[6] = {-(b0 + side * b1) / det, 0, 0, -(b1 + side * b0) / det, 0, 0};
        const double tolerance = ss_random_log_between(&g, 1e-12, 1e-1);
        double largest;
        const ss_measures m = judged(r, &largest);
        const bool denied = verdict_at(tolerance) == SS_EXISTENCE_REFUTED;
        refuted += denied;
        passed += ss_measures_pass(&m, tolerance);
        CHECK(!(denied && ss_measures_pass(&m, tolerance)));
        tear_down();
    }
    CHECK(refuted > 300 && passed > 300);
}

static void what_closes_by_less_than_the_tolerance_is_not_refuted(void)
{
    const double H[] = {1, 0, 0, -1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1};
    const double w[] = {-2, 0, 0, 2 - 1e-6, 0, 0};
    make_global(3, 2, 3, H, w, 0.3);
    CHECK(verdict_at(1e-6) != SS_EXISTENCE_REFUTED);
    CHECK(verdict_at(1e-7) == SS_EXISTENCE_REFUTED);
    to_local();
    CHECK(verdict_at(1e-6) != SS_EXISTENCE_REFUTED);
    CHECK(verdict_at(1e-7) == SS_EXISTENCE_REFUTED);
}

// The columns of H are opposite to the last bit, along no axis: lambda = (3, 1) to a factor, whose
// remainder in doubles is rounding.
static void walls_along_no_axis_are_refuted_by_a_lambda_of_two_doubles(void)
{
    ss_random g = ss_random_seeded(64);
    for (int k = 0; k < 200; k++) {
        double H[7 * 6] = {0.0};
        const double size = ss_random_log_between(&g, 0.1, 10.0);
        for (int j = 0; j < 7; j++) {
            for (int c = 0; c < 6; c++) {
                H[6 * j + c] = (float)ss_random_normal(&g); // so that three of it are a double
            }
            H[6 * j + 3] = -3.0 * H[6 * j];
        }
        const double w[] = {-size, 0, 0, 3.0 * size * (1.0 - 1e-6), 0, 0};
        make_global(3, 2, 7, H, w, 0.3);
        check_verdict(SS_EXISTENCE_REFUTED);
        tear_down();
    }
}

static void the_units_do_not_matter(void)
{
    const double H[] = {1, 0, 0, -1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1};
    for (int k = -12; k <= 12; k += 6) {
        for (int sign = -1; sign <= 1; sign += 2) {
            const double w[] = {-2, 0, 0, 2 + 0.5 * sign, 0, 0};
            make_global(3, 2, 3, H, w, 0.3);
            for (int j = 0; j < 3; j++) {
                problem->M.x[j] = pow(10.0, k);
                problem->f[j] = 1.0; // v of 10^-k at r = 0, as w
            }
            for (int c = 0; c < 6; c++) {
                problem->w[c] *= pow(10.0, -k);
            }
            const bool refuted = verdict() == SS_EXISTENCE_REFUTED;
            CHECK(refuted == (sign < 0));
            tear_down();
        }
    }
}

static void a_tangle_is_proved_at_rest(void)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = 5000; // v = 0 is the proof: no size is too large for it
    CHECK_OK(ss_tangle_new(&settings, &problem, &error));
    check_verdict(SS_EXISTENCE_PROVED);
}

// W x 1e300: squares in the search overflow or vanish, and the problem has a solution as before.
static void a_quotient_that_is_not_finite_proves_nothing(void)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = 60;
    settings.ground_share = 0.5;
    CHECK_OK(ss_tangle_new(&settings, &problem, &error));
    to_local();
    for (int k = 0; k < ss_sparse_count(&problem->W); k++) {
        problem->W.x[k] *= 1e300;
    }
    CHECK_OK(ss_certificate_find(problem, TOLERANCE, false, &found, &error));
    CHECK(found.verdict != SS_EXISTENCE_REFUTED);
}

static void what_is_too_large_is_said_to_be(void)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = 20000;
    settings.ends_per_rod = 60;
    CHECK_OK(ss_tangle_new(&settings, &problem, &error));
    for (int i = 0; i < problem->ncontacts; i++) {
        problem->w[3 * i] = -1.0;
    }
    CHECK_OK(ss_certificate_find(problem, TOLERANCE, false, &found, &error));
    CHECK(found.too_large);
    CHECK(found.verdict == SS_EXISTENCE_UNKNOWN);
}

static void run_tests(void)
{
    RUN_TEST(two_fixed_bodies_that_close_have_no_answer);
    RUN_TEST(a_body_between_walls_that_close_has_none);
    RUN_TEST(a_wedge_that_is_pulled_in_has_none);
    RUN_TEST(a_row_of_bodies_hands_the_squeeze_on);
    RUN_TEST(a_ray_of_the_cones_is_no_proof);
    RUN_TEST(a_lambda_must_be_what_it_claims);
    RUN_TEST(a_margin_is_that_of_the_worst_contact);
    RUN_TEST(what_has_an_answer_is_never_denied_one);
    RUN_TEST(random_loads_are_decided_one_way_or_the_other);
    RUN_TEST(an_unsymmetric_w_is_refuted_by_its_rows);
    RUN_TEST(an_answer_of_any_size_that_passes_is_not_denied);
    RUN_TEST(what_is_refuted_passes_nowhere);
    RUN_TEST(what_closes_by_less_than_the_tolerance_is_not_refuted);
    RUN_TEST(walls_along_no_axis_are_refuted_by_a_lambda_of_two_doubles);
    RUN_TEST(the_units_do_not_matter);
    RUN_TEST(a_tangle_is_proved_at_rest);
    RUN_TEST(a_quotient_that_is_not_finite_proves_nothing);
    RUN_TEST(what_is_too_large_is_said_to_be);
}

const test_group certificate_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
