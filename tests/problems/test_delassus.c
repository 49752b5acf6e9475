// W three ways: by blocks, naively a column at a time, and by hand; and the judge's own velocities.
#include <stdlib.h>
#include <string.h>

#include "problems/matrix/delassus.h"
#include "base/random.h"
#include "problems/response.h"
#include "tests/support/make_problem.h"
#include "tests/support/support.h"

static ss_error error;

static void set_up(void)
{
    error = (ss_error){0};
}

static ss_blocks assemble(const ss_problem *p)
{
    ss_whitened *white;
    ss_blocks W;
    CHECK_OK(ss_whitened_new(p, &white, &error));
    CHECK_OK(ss_blocks_assemble(white, NULL, &W, &error));
    ss_whitened_free(white);
    return W;
}

static double *dense_of_blocks(const ss_blocks *W)
{
    const size_t dim = (size_t)W->dim, size = dim * (size_t)W->n;
    double *dense = calloc(size * size, sizeof *dense);
    for (size_t i = 0; i < (size_t)W->n; i++) {
        for (size_t k = W->start[i]; k < W->start[i + 1]; k++) {
            for (size_t r = 0; r < dim; r++) {
                for (size_t c = 0; c < dim; c++) {
                    dense[(dim * i + r) * size + dim * (size_t)W->col[k] + c] =
                        W->x[(k * dim + r) * dim + c];
                }
            }
        }
    }
    return dense;
}

static void blocks_agree_with_the_naive_assembly(const ss_problem *p)
{
    const size_t size = (size_t)p->dim * (size_t)p->ncontacts;
    ss_blocks W = assemble(p);
    double *dense = dense_of_blocks(&W), *naive = malloc(size * size * sizeof *naive);
    CHECK_OK(ss_delassus_naive(p, naive, &error));
    double largest = 0.0, worst = 0.0;
    for (size_t k = 0; k < size * size; k++) {
        largest = fmax(largest, fabs(naive[k]));
        const double difference = fabs(dense[k] - naive[k]);
        worst = worst >= difference ? worst : difference;
    }
    CHECK_LE(worst, 1e-13 * largest);
    for (size_t r = 0; r < size; r++) {
        for (size_t c = 0; c < r; c++) {
            CHECK(dense[r * size + c] == dense[c * size + r]);
        }
    }
    free(dense);
    free(naive);
    ss_blocks_free(&W);
}

// The naive blocks are those of the other assembly, in the same places.
static void naive_blocks_are_the_blocks(const ss_problem *p)
{
    ss_whitened *white = NULL;
    ss_blocks W, naive;
    CHECK_OK(ss_whitened_new(p, &white, &error));
    CHECK_OK(ss_blocks_assemble(white, NULL, &W, &error));
    CHECK_OK(ss_blocks_assemble_naive(NULL, p, white, &naive, &error));
    const size_t size = (size_t)(W.dim * W.dim);
    TEST_ASSERT_EQUAL_INT(W.n, naive.n);
    CHECK(memcmp(W.start, naive.start, ((size_t)W.n + 1) * sizeof *W.start) == 0);
    CHECK(memcmp(W.col, naive.col, W.start[W.n] * sizeof *W.col) == 0);
    double largest = 0.0;
    for (size_t k = 0; k < size * W.start[W.n]; k++) {
        largest = fmax(largest, fabs(W.x[k]));
    }
    for (size_t k = 0; k < size * W.start[W.n]; k++) {
        CHECK_NEAR(naive.x[k], W.x[k], 1e-13 * largest);
    }
    ss_blocks_free(&W);
    ss_blocks_free(&naive);
    ss_whitened_free(white);
}

static void naive_blocks_agree_for_every_kind_of_body(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        for (uint64_t seed = 0; seed < 12; seed++) {
            ss_problem *p =
                random_problem(seed, dim, 1 + 3 * (int)seed, 1 + (int)seed, 1 + (int)seed);
            naive_blocks_are_the_blocks(p);
            ss_problem_free(p);
        }
    }
}

static void assembly_agrees_with_the_naive_one_for_every_kind_of_body(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        for (uint64_t seed = 0; seed < 20; seed++) {
            const int largest = seed % 5 == 0 ? 90 : 1 + (int)seed;
            ss_problem *p = random_problem(seed, dim, 1 + 3 * (int)seed, 1 + (int)seed, largest);
            blocks_agree_with_the_naive_assembly(p);
            ss_problem_free(p);
            p = random_diagonal_problem(seed, dim, 5 + (int)seed, 4, 1 + (int)seed % 7);
            blocks_agree_with_the_naive_assembly(p);
            ss_problem_free(p);
        }
    }
}

// Point masses 2 and 4 in the plane; contact 0 joins them, contact 1 joins the second and the
// ground. v_A - v_B in the frame of the axes.
static ss_problem *two_masses(void)
{
    const int mrow[] = {0, 1, 2, 3};
    const double mx[] = {2.0, 2.0, 4.0, 4.0};
    const int hrow[] = {0, 1, 2, 3, 2, 3}, hcol[] = {0, 1, 0, 1, 2, 3};
    const double hx[] = {1.0, 1.0, -1.0, -1.0, 1.0, 1.0};
    ss_problem *p = ss_problem_new();
    p->form = SS_GLOBAL;
    p->dim = 2;
    p->ncontacts = 2;
    p->ndofs = 4;
    p->mu = calloc(2, sizeof *p->mu);
    p->f = calloc(4, sizeof *p->f);
    p->w = calloc(4, sizeof *p->w);
    p->f[0] = 6.0; // v = (3, 0) of the first mass
    p->w[3] = 0.5;
    CHECK_OK(ss_sparse_from_triplets(&p->M, 4, 4, 4, mrow, mrow, mx, &error));
    CHECK_OK(ss_sparse_from_triplets(&p->H, 4, 4, 6, hrow, hcol, hx, &error));
    return p;
}

static void two_masses_have_the_w_of_the_text_book(void)
{
    ss_problem *p = two_masses(), *local;
    CHECK_OK(ss_problem_to_local(p, &local, &error));
    // W_00 = (1/2 + 1/4) I, W_01 = -1/4 I, W_11 = 1/4 I; b = (3, 0, 0, 0.5).
    const double expected[4][4] = {
        {0.75, 0, -0.25, 0}, {0, 0.75, 0, -0.25}, {-0.25, 0, 0.25, 0}, {0, -0.25, 0, 0.25}};
    for (int c = 0; c < 4; c++) {
        double column[4] = {0}, unit[4] = {0};
        unit[c] = 1.0;
        ss_sparse_add_product(&local->W, unit, column);
        for (int r = 0; r < 4; r++) {
            CHECK_NEAR(column[r], expected[r][c], 1e-15);
        }
    }
    const double b[] = {3.0, 0.0, 0.0, 0.5};
    for (int k = 0; k < 4; k++) {
        CHECK_NEAR(local->b[k], b[k], 1e-15);
    }
    ss_problem_free(local);
    ss_problem_free(p);
}

static void contacts_that_share_no_body_have_no_block(void)
{
    // Bodies 0 .. 9 in a ring of contacts (k, k + 1): three blocks a row.
    const int n = 10;
    int mrow[10], hrow[40], hcol[40];
    double mx[10], hx[40];
    int count = 0;
    for (int k = 0; k < n; k++) {
        mrow[k] = k;
        mx[k] = 1.0 + k;
        for (int c = 0; c < 2; c++) {
            hrow[count] = k;
            hcol[count] = 2 * k + c;
            hx[count++] = 1.0 + c;
            hrow[count] = (k + 1) % n;
            hcol[count] = 2 * k + c;
            hx[count++] = -1.0;
        }
    }
    ss_problem *p = ss_problem_new();
    p->form = SS_GLOBAL;
    p->dim = 2;
    p->ncontacts = p->ndofs = n;
    p->mu = calloc(10, sizeof *p->mu);
    p->f = calloc(10, sizeof *p->f);
    p->w = calloc(20, sizeof *p->w);
    CHECK_OK(ss_sparse_from_triplets(&p->M, n, n, n, mrow, mrow, mx, &error));
    CHECK_OK(ss_sparse_from_triplets(&p->H, n, 2 * n, count, hrow, hcol, hx, &error));
    ss_blocks W = assemble(p);
    CHECK(W.start[10] == 30);
    const int expected[] = {0, 1, 9, 0, 1, 2};
    TEST_ASSERT_EQUAL_INT_ARRAY(expected, W.col, 6);
    ss_blocks_free(&W);
    ss_problem_free(p);
}

static void contact_of_a_body_with_itself_has_one_end(void)
{
    for (uint64_t seed = 60; seed < 70; seed++) {
        ss_problem *p = random_problem(seed, 3, 12, 1, 8);
        ss_whitened *white;
        CHECK_OK(ss_whitened_new(p, &white, &error));
        CHECK(white->nends == 12);
        ss_whitened_free(white);
        ss_problem_free(p);
    }
}

static void contact_that_touches_nothing_has_a_zero_block(void)
{
    ss_problem *p = two_masses();
    for (int k = p->H.start[2]; k < p->H.start[4]; k++) {
        p->H.x[k] = 0.0;
    }
    ss_blocks W = assemble(p);
    double *dense = dense_of_blocks(&W);
    CHECK(dense[2 * 4 + 2] == 0.0 && dense[3 * 4 + 3] == 0.0);
    free(dense);
    ss_blocks_free(&W);
    p->H.start[3] = p->H.start[4] = p->H.start[2]; // no entries at all
    W = assemble(p);
    CHECK(W.start[2] - W.start[1] == 1 && W.col[W.start[1]] == 1);
    ss_blocks_free(&W);
    ss_problem_free(p);
}

// u = G (z0 + G' r) + w and v = L^-T z of the matrix-free form.
static void matrix_free_velocity(const ss_whitened *a, const double *r, double *z, double *u)
{
    memcpy(z, a->z0, (size_t)a->body_start[a->nbodies] * sizeof *z);
    memcpy(u, a->w, (size_t)(a->dim * a->ncontacts) * sizeof *u);
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < a->ncontacts; i++) {
            for (int s = a->end_start[i]; s < a->end_start[i + 1]; s++) {
                const int begin = a->body_start[a->end_body[s]];
                const int m = a->body_start[a->end_body[s] + 1] - begin;
                for (int c = 0; c < a->dim; c++) {
                    const double *G = a->G + a->end_G[s] + c * m;
                    for (int j = 0; j < m; j++) {
                        if (pass == 0) {
                            z[begin + j] += G[j] * r[a->dim * i + c];
                        } else {
                            u[a->dim * i + c] += G[j] * z[begin + j];
                        }
                    }
                }
            }
        }
    }
}

static double *random_impulses(uint64_t seed, int count)
{
    ss_random g = ss_random_seeded(seed);
    return normal_values(&g, count);
}

static double largest_difference(const double *x, const double *y, int count)
{
    double worst = 0.0;
    for (int k = 0; k < count; k++) {
        const double d = fabs(x[k] - y[k]) / (1.0 + fabs(y[k]));
        worst = worst >= d ? worst : d;
    }
    return worst;
}

static void the_three_velocities_agree(void)
{
    // From M and H (the judge), from G (matrix-free), and from W and b (explicit).
    for (uint64_t seed = 80; seed < 90; seed++) {
        ss_problem *p = random_problem(seed, 2 + (int)(seed % 2), 30, 6, seed == 85 ? 80 : 12);
        const int components = p->dim * p->ncontacts;
        double *r = random_impulses(seed, components);
        double *u = malloc((size_t)components * sizeof *u), *z;
        double *other = malloc((size_t)components * sizeof *u);
        ss_response *response;
        ss_whitened *white;
        ss_problem *local;
        CHECK_OK(ss_response_new(p, &response, &error));
        CHECK_OK(ss_whitened_new(p, &white, &error));
        CHECK_OK(ss_problem_to_local(p, &local, &error));
        z = malloc((size_t)white->body_start[white->nbodies] * sizeof *z);
        ss_response_velocity(response, r, u, NULL);
        matrix_free_velocity(white, r, z, other);
        CHECK_LE(largest_difference(other, u, components), 1e-12);
        memcpy(other, local->b, (size_t)components * sizeof *other);
        ss_sparse_add_product(&local->W, r, other);
        CHECK_LE(largest_difference(other, u, components), 1e-12);
        CHECK_LE(largest_difference(response->b, white->b, components), 1e-12);
        ss_problem_free(local);
        ss_whitened_free(white);
        ss_response_free(response);
        ss_problem_free(p);
        free(r);
        free(u);
        free(z);
        free(other);
    }
}

static void judge_finds_the_same_scales_in_both_forms(void)
{
    ss_problem *p = random_problem(91, 3, 25, 5, 14), *local;
    ss_response *global_judge, *local_judge;
    CHECK_OK(ss_problem_to_local(p, &local, &error));
    CHECK_OK(ss_response_new(p, &global_judge, &error));
    CHECK_OK(ss_response_new(local, &local_judge, &error));
    CHECK_LE(largest_difference(global_judge->compliance, local_judge->compliance, 25), 1e-13);
    double *r = random_impulses(91, 75), u[75];
    const ss_measures a = ss_response_judge(global_judge, r, u);
    const ss_measures b = ss_response_judge(local_judge, r, u);
    CHECK_NEAR(a.fb, b.fb, 1e-12 * b.fb);
    CHECK_NEAR(a.natural, b.natural, 1e-12 * b.natural);
    CHECK(a.worst_contact == b.worst_contact);
    free(r);
    ss_response_free(global_judge);
    ss_response_free(local_judge);
    ss_problem_free(local);
    ss_problem_free(p);
}

static void judge_returns_the_dof_velocities(void)
{
    // No impulses: v = M^-1 f = (3, 0, 0, 0).
    ss_problem *p = two_masses();
    ss_response *response;
    CHECK_OK(ss_response_new(p, &response, &error));
    double r[4] = {0}, u[4], v[4];
    ss_response_velocity(response, r, u, v);
    const double expected[] = {3.0, 0.0, 0.0, 0.0};
    CHECK_LE(largest_difference(v, expected, 4), 1e-15);
    ss_response_free(response);
    ss_problem_free(p);
}

static void left_factor_takes_the_place_of_g(void)
{
    // left = 2 G: W doubles.
    ss_problem *p = random_problem(95, 3, 20, 5, 16);
    ss_whitened *white;
    ss_blocks W, twice;
    CHECK_OK(ss_whitened_new(p, &white, &error));
    size_t entries = 0;
    for (int s = 0; s < white->nends; s++) {
        entries += 3 * (size_t)ss_whitened_room(white, white->end_body[s]);
    }
    double *left = malloc(entries * sizeof *left);
    for (size_t k = 0; k < entries; k++) {
        left[k] = 2.0 * white->G[k];
    }
    CHECK_OK(ss_blocks_assemble(white, NULL, &W, &error));
    CHECK_OK(ss_blocks_assemble(white, left, &twice, &error));
    for (size_t k = 0; k < 9 * W.start[W.n]; k++) {
        CHECK(twice.x[k] == 2.0 * W.x[k]);
    }
    free(left);
    ss_blocks_free(&W);
    ss_blocks_free(&twice);
    ss_whitened_free(white);
    ss_problem_free(p);
}

static void blocks_survive_the_way_through_a_matrix(void)
{
    ss_problem *p = random_problem(97, 3, 40, 9, 10);
    ss_blocks W = assemble(p), back;
    ss_sparse A;
    CHECK_OK(ss_blocks_to_sparse(&W, &A, &error));
    CHECK_OK(ss_blocks_from_sparse(&A, 3, &back, &error));
    CHECK(memcmp(W.start, back.start, 41 * sizeof *W.start) == 0);
    CHECK(memcmp(W.col, back.col, W.start[40] * sizeof *W.col) == 0);
    CHECK(memcmp(W.x, back.x, 9 * W.start[40] * sizeof *W.x) == 0);
    ss_sparse_free(&A);
    ss_blocks_free(&W);
    ss_blocks_free(&back);
    ss_problem_free(p);
}

static void single_entries_become_blocks_with_a_diagonal(void)
{
    // 2 contacts in the plane; one entry at row 3, column 0: block (1, 0), and two diagonal blocks.
    const int row[] = {3}, col[] = {0};
    const double x[] = {7.0};
    ss_sparse A;
    ss_blocks W;
    CHECK_OK(ss_sparse_from_triplets(&A, 4, 4, 1, row, col, x, &error));
    CHECK_OK(ss_blocks_from_sparse(&A, 2, &W, &error));
    CHECK(W.start[1] == 1 && W.start[2] == 3);
    CHECK(W.col[0] == 0 && W.col[1] == 0 && W.col[2] == 1);
    CHECK(W.x[4 + 2] == 7.0); // block (1, 0), second row, first column
    ss_sparse_free(&A);
    ss_blocks_free(&W);
}

static void local_copy_keeps_what_is_said_of_the_problem(void)
{
    ss_problem *p = random_problem(99, 3, 4, 2, 6), *local, *again;
    p->nguesses = 1;
    p->guesses = calloc(1, sizeof *p->guesses);
    p->guesses[0].r = random_impulses(1, 12);
    p->guesses[0].v = calloc((size_t)p->ndofs, sizeof(double));
    p->provenance.step = 7;
    strcpy(p->provenance.scene, "test");
    p->title = strcpy(malloc(4), "ttl");
    CHECK_OK(ss_problem_to_local(p, &local, &error));
    CHECK(local->nguesses == 1 && local->guesses[0].v == NULL && local->guesses[0].u == NULL);
    CHECK(memcmp(local->guesses[0].r, p->guesses[0].r, 12 * sizeof(double)) == 0);
    CHECK(local->provenance.step == 7 && strcmp(local->provenance.scene, "test") == 0);
    CHECK(strcmp(local->title, "ttl") == 0);
    CHECK_OK(ss_problem_to_local(local, &again, &error));
    CHECK(memcmp(again->b, local->b, 12 * sizeof(double)) == 0);
    CHECK(memcmp(again->W.x, local->W.x, (size_t)ss_sparse_count(&local->W) * 8) == 0);
    ss_problem_free(again);
    ss_problem_free(local);
    ss_problem_free(p);
}

// Enough contacts that bodies are shared.
static void threads_change_no_bit_of_the_matrix_free_form(void)
{
    ss_problem *p = random_problem(41, 3, 4000, 200, 12);
    ss_whitened *alone, *shared;
    CHECK_OK(ss_whitened_new(p, &alone, &error));
    for (int threads = 1; threads <= 2; threads++) {
        ss_team *team = ss_team_new(threads);
        CHECK_OK(ss_whitened_until(NULL, p, NULL, team, &shared, &error));
        const size_t last = (size_t)alone->nends - 1, size = (size_t)(p->dim * p->ncontacts);
        const size_t count =
            alone->end_G[last] + 3 * (size_t)ss_whitened_room(alone, alone->end_body[last]);
        const size_t numbers = (size_t)alone->body_start[alone->nbodies];
        CHECK(memcmp(alone->G, shared->G, count * sizeof *alone->G) == 0);
        CHECK(memcmp(alone->z0, shared->z0, numbers * sizeof *alone->z0) == 0);
        CHECK(memcmp(alone->b, shared->b, size * sizeof *alone->b) == 0);
        ss_whitened_free(shared);
        ss_team_free(team);
    }
    ss_whitened_free(alone);
    ss_problem_free(p);
}

static void run_tests(void)
{
    RUN_TEST(assembly_agrees_with_the_naive_one_for_every_kind_of_body);
    RUN_TEST(naive_blocks_agree_for_every_kind_of_body);
    RUN_TEST(two_masses_have_the_w_of_the_text_book);
    RUN_TEST(contacts_that_share_no_body_have_no_block);
    RUN_TEST(contact_of_a_body_with_itself_has_one_end);
    RUN_TEST(contact_that_touches_nothing_has_a_zero_block);
    RUN_TEST(the_three_velocities_agree);
    RUN_TEST(judge_finds_the_same_scales_in_both_forms);
    RUN_TEST(judge_returns_the_dof_velocities);
    RUN_TEST(left_factor_takes_the_place_of_g);
    RUN_TEST(blocks_survive_the_way_through_a_matrix);
    RUN_TEST(single_entries_become_blocks_with_a_diagonal);
    RUN_TEST(local_copy_keeps_what_is_said_of_the_problem);
    RUN_TEST(threads_change_no_bit_of_the_matrix_free_form);
}

const test_group delassus_tests = {.run = run_tests, .set_up = set_up};
