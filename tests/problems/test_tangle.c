// tests/problems/test_tangle.c -- the tangle's sizes, geometry, loads, certificate and bits.
#include "problems/tangle/tangle.h"

#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_linalg.h>

#include "problems/matrix/delassus.h"
#include "problems/response.h"
#include "tests/support/support.h"
#include "tests/support/turned_chain.h"

// Recorded once; gcc and clang, -O0 to -O3 -march=native, agree on them.
#define GOLDEN_SPACE "38ac4b8beeb2da85bfe3701f896dd717d046e05dca0133131ac1459667b18131"
#define GOLDEN_PLANE "2d24536a6179e14984b663fcd8217d42f964306edc509f7850d1d612c26d1ea4"

static ss_error error;
static ss_tangle_settings settings;
static ss_problem *problem;
static ss_tangle_plan *plan;

static void set_up(void)
{
    settings = ss_tangle_defaults();
    problem = NULL;
    plan = NULL;
}

static void tear_down(void)
{
    ss_problem_free(problem);
    ss_tangle_plan_free(plan);
}

static void make(void)
{
    tear_down();
    CHECK_OK(ss_tangle_new(&settings, &problem, &error));
    CHECK_OK(ss_tangle_plan_new(&settings, &plan, &error));
}

static void sizes_are_as_asked_for(void)
{
    settings.ncontacts = 500;
    settings.ground_share = 0.2;
    make();
    // 100 contacts have one end, 400 have two: 900 ends, 36 rods.
    CHECK(problem->form == SS_GLOBAL && problem->dim == 3 && problem->ncontacts == 500);
    CHECK(problem->ndofs == 36 * 16 && plan->nrods == 36);
    CHECK(problem->M.nrows == 576 && problem->M.ncols == 576);
    CHECK(problem->H.nrows == 576 && problem->H.ncols == 1500);
    int on_ground = 0;
    for (int i = 0; i < 500; i++) {
        on_ground += plan->touches[i].rod[1] == SS_GROUND;
        CHECK(problem->mu[i] == 0.3);
    }
    CHECK(on_ground == 100);
}

static void provenance_tells_how_to_make_it_again(void)
{
    settings.seed = 77;
    make();
    const ss_provenance *from = &problem->provenance;
    TEST_ASSERT_EQUAL_STRING("tangle", from->scene);
    TEST_ASSERT_EQUAL_STRING("SI", from->units);
    TEST_ASSERT_EQUAL_STRING("normal first", from->frame);
    CHECK(from->has_seed && from->seed == 77 && from->step == 0 && from->producer[0] == '\0');
    CHECK(from->time == 0.0 && from->dt == 1e-3);
    TEST_ASSERT_EQUAL_STRING("tangle", problem->title);
    CHECK(strstr(problem->description, "1000 contacts, 25 ends per rod") != NULL);
}

static void random_rates(double *v, int n)
{
    ss_random g = ss_random_seeded(99);
    for (int j = 0; j < n; j++) {
        v[j] = ss_random_normal(&g);
    }
}

// u = H' v against the turned chains seen in the contact's frame.
static void check_velocities(void)
{
    double *v = calloc((size_t)problem->ndofs, sizeof *v);
    double *u = calloc((size_t)problem->H.ncols, sizeof *u);
    random_rates(v, problem->ndofs);
    ss_sparse_add_transposed_product(&problem->H, v, u);
    for (int i = 0; i < plan->ncontacts; i++) {
        const ss_tangle_touch *t = &plan->touches[i];
        double first[3], second[3] = {0.0};
        turned_velocity(&plan->rods[t->rod[0]], t->arclength[0], v + 16 * t->rod[0], first);
        if (t->rod[1] != SS_GROUND) {
            turned_velocity(&plan->rods[t->rod[1]], t->arclength[1], v + 16 * t->rod[1], second);
        }
        for (int k = 0; k < problem->dim; k++) {
            double expected = 0.0;
            for (int m = 0; m < 3; m++) {
                expected += t->frame[k][m] * (first[m] - second[m]);
            }
            CHECK_NEAR(u[problem->dim * i + k], expected, 3.0 * TURNED_ERROR);
        }
    }
    free(u);
    free(v);
}

static void columns_of_h_give_the_relative_velocity_of_the_two_places(void)
{
    const int contacts[] = {1, 12, 25, 37, 200}; // 1, 1, 2, 3 and more rods
    for (int k = 0; k < 10; k++) {
        settings.dim = 2 + k % 2;
        settings.ncontacts = contacts[k / 2];
        settings.ground_share = k < 6 ? 0.0 : 0.25;
        settings.hyperstatic = k == 9;
        make();
        check_velocities();
    }
}

static void a_rod_that_touches_itself_has_one_column_for_both_places(void)
{
    settings.ncontacts = 12;
    make();
    CHECK(problem->ndofs == 16);
    double largest = 0.0;
    for (int j = 0; j < problem->H.ncols; j++) {
        CHECK_LE(problem->H.start[j + 1] - problem->H.start[j], 16);
    }
    for (int k = 0; k < ss_sparse_count(&problem->H); k++) {
        largest = fmax(largest, fabs(problem->H.x[k]));
    }
    CHECK_LE(0.01, largest); // the two places do not cancel
}

static void rows_of_h_ascend_and_stay_on_the_two_rods(void)
{
    settings.ground_share = 0.25;
    make();
    const ss_sparse *H = &problem->H;
    for (int j = 0; j < H->ncols; j++) {
        const ss_tangle_touch *t = &plan->touches[j / 3];
        for (int k = H->start[j]; k < H->start[j + 1]; k++) {
            CHECK(k == H->start[j] || H->row[k - 1] < H->row[k]);
            CHECK(H->row[k] / 16 == t->rod[0] || H->row[k] / 16 == t->rod[1]);
        }
    }
}

static void m_is_symmetric_and_has_one_dense_block_a_rod(void)
{
    settings.ncontacts = 100;
    make();
    const ss_sparse *M = &problem->M;
    CHECK(ss_sparse_count(M) == 16 * problem->ndofs);
    for (int j = 0; j < M->ncols; j++) {
        double block[SS_ROD_DOFS][SS_ROD_DOFS];
        ss_rod_mass(&plan->rods[j / 16], settings.condition, block);
        CHECK(M->start[j + 1] - M->start[j] == 16);
        for (int i = 0; i < 16; i++) {
            CHECK(M->row[M->start[j] + i] == 16 * (j / 16) + i);
            CHECK(M->x[M->start[j] + i] == block[i][j % 16]);
            CHECK(block[i][j % 16] == block[j % 16][i]);
        }
    }
}

static void standing_still_certifies_a_solution(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        settings.dim = dim;
        make();
        for (int k = 0; k < dim * problem->ncontacts; k++) {
            CHECK(k % dim == 0 ? problem->w[k] > 0.0 : problem->w[k] == 0.0);
        }
    }
}

static void the_guess_is_stored_where_it_is_asked_for_and_lies_in_the_cones(void)
{
    make();
    CHECK(problem->nguesses == 0 && !problem->has_solution);
    settings.warm = true;
    for (int dim = 2; dim <= 3; dim++) {
        settings.dim = dim;
        make();
        CHECK(problem->nguesses == 1);
        int closed = 0;
        for (int i = 0; i < problem->ncontacts; i++) {
            const double *r = problem->guesses[0].r + dim * i;
            const double tangential = hypot(r[1], dim == 3 ? r[2] : 0.0);
            CHECK(r[0] > 0.0 || (r[0] == 0.0 && tangential == 0.0));
            CHECK_LE(tangential, 0.9 * 0.3 * r[0] * (1.0 + 1e-14));
            closed += r[0] > 0.0;
        }
        CHECK_NEAR(closed, 700, 75); // five standard deviations
    }
}

static void the_guess_is_far_nearer_to_the_law_than_nothing(void)
{
    settings.warm = true;
    for (int dim = 2; dim <= 3; dim++) {
        settings.dim = dim;
        make();
        ss_response *response;
        CHECK_OK(ss_response_new(problem, &response, &error));
        const size_t n = (size_t)(dim * problem->ncontacts);
        double *zero = calloc(n, sizeof *zero), *u = calloc(n, sizeof *u);
        const double cold = ss_response_judge(response, zero, u).fb;
        const double warm = ss_response_judge(response, problem->guesses[0].r, u).fb;
        CHECK_LE(warm, 0.1 * cold);
        CHECK_LE(1e-4, warm); // and yet there is something to solve
        free(u);
        free(zero);
        ss_response_free(response);
    }
}

static void hash(char hex[65])
{
    make();
    ss_problem_sha256(problem, hex);
}

static void one_seed_gives_one_problem_and_two_give_two(void)
{
    char one[65], same[65], other[65];
    hash(one);
    hash(same);
    settings.seed = 2;
    hash(other);
    TEST_ASSERT_EQUAL_STRING(one, same);
    CHECK(strcmp(one, other) != 0);
}

static void mu_leaves_the_geometry_alone(void)
{
    make();
    ss_problem *rough;
    settings.mu = 0.9;
    CHECK_OK(ss_tangle_new(&settings, &rough, &error));
    const size_t bytes = (size_t)ss_sparse_count(&rough->H) * sizeof(double);
    CHECK(memcmp(rough->H.x, problem->H.x, bytes) == 0);
    CHECK(rough->mu[0] == 0.9 && problem->mu[0] == 0.3);
    ss_problem_free(rough);
}

static void these_bits_are_the_same_everywhere(void)
{
    char hex[65];
    settings = (ss_tangle_settings){.dim = 3,
                                    .ncontacts = 5000,
                                    .ends_per_rod = 25,
                                    .mu = 0.3,
                                    .seed = 7,
                                    .condition = 1e6,
                                    .ground_share = 0.2};
    hash(hex);
    TEST_ASSERT_EQUAL_STRING(GOLDEN_SPACE, hex);
    settings.dim = 2;
    settings.ends_per_rod = 59;
    settings.mu = 0.6;
    settings.condition = 1e3;
    settings.hyperstatic = true;
    hash(hex);
    TEST_ASSERT_EQUAL_STRING(GOLDEN_PLANE, hex);
}

// Singular values of W above 1e-4 of the largest: how many directions the contacts really have.
static int rank_of_W(void)
{
    const size_t n = (size_t)problem->H.ncols;
    double *W = calloc(n * n, sizeof *W);
    CHECK_OK(ss_delassus_naive(problem, W, &error));
    gsl_matrix_view A = gsl_matrix_view_array(W, n, n);
    gsl_matrix *V = gsl_matrix_alloc(n, n);
    gsl_vector *values = gsl_vector_alloc(n), *space = gsl_vector_alloc(n);
    gsl_linalg_SV_decomp(&A.matrix, V, values, space);
    int rank = 0;
    for (size_t k = 0; k < n; k++) {
        rank += gsl_vector_get(values, k) > 1e-4 * gsl_vector_get(values, 0);
    }
    gsl_vector_free(space);
    gsl_vector_free(values);
    gsl_matrix_free(V);
    free(W);
    return rank;
}

static void hyperstatic_contacts_leave_w_with_less_rank(void)
{
    settings.ncontacts = 60;
    settings.condition = 1e3;
    make();
    const int plain = rank_of_W();
    settings.hyperstatic = true;
    make();
    CHECK(problem->ncontacts == 60 && problem->ndofs == 5 * 16);
    CHECK_LE(rank_of_W(), 0.8 * plain);
}

static void refused(const char *name)
{
    ss_problem *none = problem;
    CHECK(ss_tangle_new(&settings, &none, &error) == SS_BAD_INPUT);
    CHECK(none == NULL && error.status == SS_BAD_INPUT);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, name), error.text);
    settings = ss_tangle_defaults();
}

static void each_setting_is_checked_and_named(void)
{
    settings.dim = 4;
    refused("dim");
    settings.ncontacts = 0;
    refused("ncontacts");
    settings.ncontacts = 10000001;
    refused("ncontacts");
    settings.ends_per_rod = 0;
    refused("ends_per_rod");
    settings.ncontacts = 10000000;
    settings.ends_per_rod = 1;
    refused("ends_per_rod");
    settings.mu = -0.1;
    refused("mu");
    settings.mu = NAN;
    refused("mu");
    settings.mu = INFINITY;
    refused("mu");
    settings.condition = 9.0;
    refused("condition");
    settings.condition = NAN;
    refused("condition");
    settings.condition = 1e9;
    refused("condition");
    settings.ground_share = -0.1;
    refused("ground_share");
    settings.ground_share = 1.1;
    refused("ground_share");
    settings.ground_share = NAN;
    refused("ground_share");
    settings.unsymmetry = INFINITY;
    refused("unsymmetry");
}

static void any_small_number_of_contacts_works(void)
{
    for (int k = 0; k < 160; k++) {
        settings.dim = 2 + k % 2;
        settings.ncontacts = 1 + k / 2;
        settings.ends_per_rod = 1 + k % 7;
        settings.ground_share = k % 5 / 4.0;
        settings.hyperstatic = k % 3 == 0;
        settings.mu = k % 11 == 0 ? 0.0 : 0.3;
        make();
        CHECK(problem->ncontacts == settings.ncontacts);
        CHECK(problem->ndofs == 16 * plan->nrods);
    }
}

static void run_tests(void)
{
    RUN_TEST(sizes_are_as_asked_for);
    RUN_TEST(provenance_tells_how_to_make_it_again);
    RUN_TEST(columns_of_h_give_the_relative_velocity_of_the_two_places);
    RUN_TEST(a_rod_that_touches_itself_has_one_column_for_both_places);
    RUN_TEST(rows_of_h_ascend_and_stay_on_the_two_rods);
    RUN_TEST(m_is_symmetric_and_has_one_dense_block_a_rod);
    RUN_TEST(standing_still_certifies_a_solution);
    RUN_TEST(the_guess_is_stored_where_it_is_asked_for_and_lies_in_the_cones);
    RUN_TEST(the_guess_is_far_nearer_to_the_law_than_nothing);
    RUN_TEST(one_seed_gives_one_problem_and_two_give_two);
    RUN_TEST(mu_leaves_the_geometry_alone);
    RUN_TEST(these_bits_are_the_same_everywhere);
    RUN_TEST(hyperstatic_contacts_leave_w_with_less_rank);
    RUN_TEST(each_setting_is_checked_and_named);
    RUN_TEST(any_small_number_of_contacts_works);
}

const test_group tangle_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
