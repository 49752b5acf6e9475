// The two forms of W that a sweep uses, against the judge's velocities, and the order of the
// visits.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "problems/matrix/sparse_ends.h"
#include "problems/response.h"
#include "solvers/registry.h"
#include "solvers/sweep/coupling.h"
#include "solvers/sweep/order.h"
#include "tests/support/make_problem.h"
#include "tests/support/support.h"

static ss_error error;

static void set_up(void)
{
    error = (ss_error){0};
}

static double *random_values(uint64_t seed, int n)
{
    ss_random g = ss_random_seeded(seed);
    return normal_values(&g, n);
}

// max |u of the coupling - u of the judge| / V after r was set and some contacts were moved.
static double velocity_error(const ss_problem *p, ss_coupling_form form)
{
    const int n = p->dim * p->ncontacts;
    double *r = random_values(3, n), *u = malloc((size_t)n * sizeof *u), worst = 0.0;
    ss_coupling *c;
    ss_response *judge;
    CHECK_OK(ss_coupling_new(p, form, false, NULL, &c, &error));
    CHECK_OK(ss_response_new(p, &judge, &error));
    ss_coupling_set(c, r);
    for (int i = 0; i < p->ncontacts; i += 2) {
        double moved[3] = {0.5, -0.25, p->dim == 3 ? 2.0 : 0.0};
        ss_coupling_move(c, i, moved);
        memcpy(r + p->dim * i, moved, (size_t)p->dim * sizeof *moved);
    }
    ss_response_velocity(judge, r, u, NULL);
    for (int i = 0; i < p->ncontacts; i++) {
        double ui[3];
        ss_coupling_velocity(c, i, ui);
        for (int k = 0; k < p->dim; k++) {
            const double e = fabs(ui[k] - u[p->dim * i + k]) / c->V;
            worst = e <= worst ? worst : e;
        }
        CHECK(p->dim == 3 || ui[2] == 0.0);
    }
    const ss_measures own = ss_coupling_measure(c), facts = ss_response_judge(judge, r, u);
    CHECK_NEAR(own.fb, facts.fb, 1e-11 * facts.fb);
    CHECK_NEAR(own.natural, facts.natural, 1e-11 * facts.natural);
    CHECK_NEAR(c->s, facts.compliance_scale, 1e-13 * c->s);
    CHECK_NEAR(c->V, facts.velocity_scale, 1e-12 * c->V);
    ss_response_free(judge);
    ss_coupling_free(c);
    free(r);
    free(u);
    return worst;
}

// Contacts, strands and vertices of four dofs: some strands have few contacts, some more than dofs, some are long.
static const struct {
    int contacts, strands, vertices;
    bool own; // z is what ends see
} TANGLES[] = {{40, 4, 18, true},
               {40, 4, 21, true},
               {20, 9, 19, true},
               {160, 3, 17, false},
               {9, 3, 131, false}};
#define TANGLE_COUNT (int)(sizeof TANGLES / sizeof TANGLES[0])

static ss_problem *strand_tangle(int k, int dim)
{
    return random_strand_problem((uint64_t)(k + 1), dim, TANGLES[k].contacts, TANGLES[k].strands,
                                 TANGLES[k].vertices);
}

static void forms_of_strands_give_the_velocities_of_the_judge(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        for (int k = 0; k < TANGLE_COUNT; k++) {
            ss_problem *p = strand_tangle(k, dim);
            ss_coupling *c;
            CHECK_OK(ss_coupling_new(p, SS_FORM_SWEEPS, false, NULL, &c, &error));
            CHECK(!c->is_explicit && c->white->sparse != NULL);
            CHECK((c->white->sparse->own[0] >= 0) == TANGLES[k].own);
            ss_coupling_free(c);
            CHECK_LE(velocity_error(p, SS_FORM_SWEEPS), 1e-11);
            CHECK_LE(velocity_error(p, SS_FORM_MATRIX_FREE), 1e-11);
            CHECK_LE(velocity_error(p, SS_FORM_EXPLICIT), 1e-11);
            ss_problem_free(p);
        }
    }
}

// Removes the entries of contact i from H.
static void let_go(ss_problem *p, int i)
{
    ss_sparse *H = &p->H;
    const int begin = H->start[p->dim * i], lost = H->start[p->dim * (i + 1)] - begin;
    const size_t kept = (size_t)(H->start[H->ncols] - begin - lost);
    memmove(H->row + begin, H->row + begin + lost, kept * sizeof *H->row);
    memmove(H->x + begin, H->x + begin + lost, kept * sizeof *H->x);
    for (int c = p->dim * i + 1; c <= H->ncols; c++) {
        H->start[c] = c < p->dim * (i + 1) ? begin : H->start[c] - lost;
    }
}

// With a sanitizer it fails, too, if the last contact writes past the end of an array.
static void contacts_that_touch_nothing_have_the_velocity_w(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        for (int k = 0; k < TANGLE_COUNT; k++) {
            ss_problem *p = strand_tangle(k, dim);
            const int last = p->ncontacts - 1;
            let_go(p, 4);
            let_go(p, last);
            ss_coupling *c;
            double u[3];
            CHECK_OK(ss_coupling_new(p, SS_FORM_SWEEPS, false, NULL, &c, &error));
            CHECK(c->white->sparse != NULL);
            ss_coupling_velocity(c, last, u);
            CHECK(u[0] == p->w[dim * last] && u[1] == p->w[dim * last + 1]);
            ss_coupling_free(c);
            CHECK_LE(velocity_error(p, SS_FORM_SWEEPS), 1e-11);
            CHECK_LE(velocity_error(p, SS_FORM_MATRIX_FREE), 1e-11);
            CHECK_LE(velocity_error(p, SS_FORM_EXPLICIT), 1e-11);
            ss_problem_free(p);
        }
    }
}

// The largest difference of z after contact i of both was moved, over V.
static double push_difference(ss_coupling *one, ss_coupling *other, int i)
{
    const double r[3] = {0.5 + i, -0.25, one->dim == 3 ? 2.0 : 0.0};
    const int end = one->white->body_start[one->white->nbodies];
    double worst = 0.0;
    ss_coupling_move(one, i, r);
    ss_coupling_move(other, i, r);
    for (int j = 0; j < end; j++) {
        const double e = fabs(one->z[j] - other->z[j]) / one->V;
        worst = e <= worst ? worst : e;
    }
    return worst;
}

static void pushes_have_the_same_bits_whatever_is_made_with_them(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        for (int k = 0; k < TANGLE_COUNT; k++) {
            ss_problem *p = strand_tangle(k, dim);
            ss_coupling *one, *other;
            CHECK_OK(ss_coupling_new(p, SS_FORM_SWEEPS, false, NULL, &one, &error));
            CHECK_OK(ss_coupling_new(p, SS_FORM_SWEEPS, false, NULL, &other, &error));
            for (int s = 0; s < other->white->nends; s++) {
                other->white->sparse->wanted[s] = s % 3 != 1;
            }
            for (int i = 0; i < p->ncontacts; i++) {
                CHECK(push_difference(one, other, i) == 0.0);
            }
            ss_coupling_free(one);
            ss_coupling_free(other);
            ss_problem_free(p);
        }
    }
}

// Floats have 24 bits; what is pushed of V is of the size of r W.
static void rounded_responses_leave_little_until_z_comes_from_r(void)
{
    for (int k = 0; k < TANGLE_COUNT; k++) {
        ss_problem *p = strand_tangle(k, 3);
        ss_coupling *exact, *rounded;
        CHECK_OK(ss_coupling_new(p, SS_FORM_SWEEPS, false, NULL, &exact, &error));
        CHECK_OK(ss_coupling_new(p, SS_FORM_SWEEPS, false, NULL, &rounded, &error));
        ss_sparse_ends_round(rounded->white);
        CHECK(rounded->white->sparse->few_digits == (TANGLES[k].vertices < 128));
        double worst = 0.0, most = 0.0;
        for (int i = 0; i < p->ncontacts; i++) {
            worst = fmax(worst, push_difference(exact, rounded, i));
            most = fmax(most, exact->s * fabs(exact->r[4 * i]) / exact->V);
        }
        CHECK_LE(worst, 1e-6 * (1.0 + most) * p->ncontacts);
        CHECK((worst > 0.0) == rounded->white->sparse->few_digits);
        const ss_measures a = ss_coupling_measure(exact), b = ss_coupling_measure(rounded);
        CHECK(a.fb == b.fb);
        ss_coupling_free(exact);
        ss_coupling_free(rounded);
        ss_problem_free(p);
    }
}

// W_ii of the band of M^-1, and bounds of the same sizes as those of G.
static void sparse_ends_have_the_blocks_and_bounds_of_whitened_ones(void)
{
    ss_problem *p = random_strand_problem(9, 3, 60, 5, 20);
    ss_coupling *one, *other;
    CHECK_OK(ss_coupling_new(p, SS_FORM_SWEEPS, true, NULL, &one, &error));
    CHECK_OK(ss_coupling_new(p, SS_FORM_MATRIX_FREE, true, NULL, &other, &error));
    for (int i = 0; i < p->ncontacts; i++) {
        for (int k = 0; k < 9; k++) {
            CHECK_NEAR(one->contact[i].W[k], other->contact[i].W[k], 1e-13 * other->s);
        }
        for (int k = 0; k < 2; k++) {
            const ss_resting_norms *a = &one->resting->norms[i], *b = &other->resting->norms[i];
            CHECK_NEAR(a->full[k], b->full[k], 1e-12 * b->full[k]);
            CHECK_NEAR(a->normal[k], b->normal[k], 1e-12 * b->normal[k]);
        }
    }
    ss_coupling_free(one);
    ss_coupling_free(other);
    ss_problem_free(p);
}

static void all_forms_give_the_velocities_of_the_judge(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        for (uint64_t seed = 1; seed <= 8; seed++) {
            ss_problem *p = random_problem(seed, dim, 25, 6, 1 + 3 * (int)seed), *local;
            CHECK_LE(velocity_error(p, SS_FORM_EXPLICIT), 1e-11);
            CHECK_LE(velocity_error(p, SS_FORM_MATRIX_FREE), 1e-11);
            CHECK_LE(velocity_error(p, SS_FORM_NAIVE), 1e-11);
            CHECK_OK(ss_problem_to_local(p, &local, &error));
            CHECK_LE(velocity_error(local, SS_FORM_AUTO), 1e-11);
            ss_problem_free(local);
            ss_problem_free(p);
        }
    }
}

static void matrix_free_needs_m_and_h(void)
{
    const double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, b[3] = {-1, 0, 0};
    ss_problem *p = one_contact(3, W, b, 0.5);
    ss_coupling *c = NULL;
    CHECK(ss_coupling_new(p, SS_FORM_MATRIX_FREE, false, NULL, &c, &error) == SS_BAD_INPUT);
    CHECK(c == NULL && strstr(error.text, "matrix-free") != NULL);
    ss_problem_free(p);
}

static void the_third_direction_of_the_plane_is_decoupled(void)
{
    const double W[4] = {3, 0.5, 0.5, 1}, b[2] = {-1, 0};
    ss_problem *p = one_contact(2, W, b, 0.5);
    ss_coupling *c;
    CHECK_OK(ss_coupling_new(p, SS_FORM_AUTO, false, NULL, &c, &error));
    const double expected[9] = {3, 0.5, 0, 0.5, 1, 0, 0, 0, 2};
    CHECK(memcmp(c->contact[0].W, expected, sizeof expected) == 0);
    CHECK(c->compliance[0] == 2.0);
    ss_coupling_free(c);
    ss_problem_free(p);
}

static void reverse_order_visits_the_last_contact_first(void)
{
    ss_problem *p = random_problem(4, 3, 5, 3, 6);
    ss_ordered o;
    CHECK_OK(ss_ordered_new(p, SS_REVERSE, 0, &o, &error));
    const int expected[] = {4, 3, 2, 1, 0};
    TEST_ASSERT_EQUAL_INT_ARRAY(expected, o.order, 5);
    CHECK(o.view.mu[0] == p->mu[4] && o.view.w[3] == p->w[9]);
    ss_ordered_free(&o);
    ss_problem_free(p);
}

static void random_order_is_a_permutation_that_the_seed_fixes(void)
{
    ss_problem *p = random_problem(4, 3, 50, 3, 6);
    ss_ordered a, b, c;
    CHECK_OK(ss_ordered_new(p, SS_RANDOM, 7, &a, &error));
    CHECK_OK(ss_ordered_new(p, SS_RANDOM, 7, &b, &error));
    CHECK_OK(ss_ordered_new(p, SS_RANDOM, 8, &c, &error));
    CHECK(memcmp(a.order, b.order, 50 * sizeof *a.order) == 0);
    CHECK(memcmp(a.order, c.order, 50 * sizeof *a.order) != 0);
    int seen[50] = {0};
    for (int k = 0; k < 50; k++) {
        seen[a.order[k]]++;
    }
    for (int k = 0; k < 50; k++) {
        CHECK(seen[k] == 1);
    }
    ss_ordered_free(&a);
    ss_ordered_free(&b);
    ss_ordered_free(&c);
    ss_problem_free(p);
}

static void another_order_is_the_same_problem(void)
{
    // Measures of r in the given order equal those of the permuted problem at the permuted r.
    for (int local = 0; local < 2; local++) {
        ss_problem *given = random_problem(9, 3, 30, 5, 8), *p = given;
        if (local) {
            CHECK_OK(ss_problem_to_local(given, &p, &error));
        }
        ss_ordered o;
        CHECK_OK(ss_ordered_new(p, SS_RANDOM, 3, &o, &error));
        double *r = random_values(5, 90), taken[90], back[90], u[90];
        ss_ordered_take(&o, 3, r, taken);
        ss_ordered_give(&o, 3, taken, back);
        CHECK(memcmp(r, back, sizeof back) == 0);
        ss_response *a, *b;
        CHECK_OK(ss_response_new(p, &a, &error));
        CHECK_OK(ss_response_new(&o.view, &b, &error));
        const ss_measures m = ss_response_judge(a, r, u), n = ss_response_judge(b, taken, u);
        CHECK_NEAR(n.fb, m.fb, 1e-12 * m.fb);
        CHECK_NEAR(n.natural, m.natural, 1e-12 * m.natural);
        CHECK(o.order[n.worst_contact] == m.worst_contact);
        ss_response_free(a);
        ss_response_free(b);
        ss_ordered_free(&o);
        free(r);
        if (local) {
            ss_problem_free(p);
        }
        ss_problem_free(given);
    }
}

// ---- Rounding

// Of r, in units of eps.
static double rounding_of(const ss_problem *p, ss_coupling_form form, const double *r)
{
    ss_coupling *c;
    CHECK_OK(ss_coupling_new(p, form, false, NULL, &c, &error));
    ss_coupling_put(c, r);
    const double size = ss_coupling_rounding(c) / DBL_EPSILON;
    ss_coupling_free(c);
    return size;
}

// W = 2 I, b = (-1, 0, 0), r = (3, 0, 0): s |r| = 6, and u_N = -1 + 6 sums up sizes of 7. A mass of
// 4 with f = (-8, 0, 0), w = (1, 0, 0), H = I: s |r| = 3/4; G = I / 2 and z0 = -4, so that
// z = -4 + 3/2 and u_N = 1 + z / 2 sum up sizes of 1 + 11/4, but b = w + G z0 = -1, and W r = 3/4,
// sizes of 7/4.
static void rounding_is_the_size_of_all_that_is_summed_up(void)
{
    const double r[3] = {3.0, 0.0, 0.0};
    ss_problem *local =
        one_contact(3, (double[9]){2, 0, 0, 0, 2, 0, 0, 0, 2}, (double[3]){-1.0, 0.0, 0.0}, 0.5);
    CHECK_NEAR(rounding_of(local, SS_FORM_EXPLICIT, r), 13.0, 1e-14);
    ss_problem_free(local);
    ss_problem *p = ss_problem_new();
    const int places[3] = {0, 1, 2};
    p->form = SS_GLOBAL;
    p->dim = 3;
    p->ncontacts = 1;
    p->ndofs = 3;
    CHECK_OK(ss_sparse_from_triplets(&p->M, 3, 3, 3, places, places, (double[3]){4, 4, 4}, &error));
    CHECK_OK(ss_sparse_from_triplets(&p->H, 3, 3, 3, places, places, (double[3]){1, 1, 1}, &error));
    p->f = calloc(3, sizeof *p->f);
    p->w = calloc(3, sizeof *p->w);
    p->mu = calloc(1, sizeof *p->mu);
    p->f[0] = -8.0;
    p->w[0] = 1.0;
    CHECK_NEAR(rounding_of(p, SS_FORM_MATRIX_FREE, r), 0.75 + 3.75, 1e-14);
    CHECK_NEAR(rounding_of(p, SS_FORM_EXPLICIT, r), 0.75 + 1.75, 1e-14);
    ss_problem_free(p);
}

// What is summed up in another order, or through other products, differs by that, and not by much
// less where there are many.
static void velocities_of_the_two_forms_differ_by_rounding(void)
{
    for (int dim = 2; dim <= 3; dim++) {
        ss_problem *p = random_problem(7, dim, 200, 8, 9);
        double *r = random_values(8, dim * p->ncontacts), most = 0.0;
        ss_coupling *one, *other;
        CHECK_OK(ss_coupling_new(p, SS_FORM_EXPLICIT, false, NULL, &one, &error));
        CHECK_OK(ss_coupling_new(p, SS_FORM_MATRIX_FREE, false, NULL, &other, &error));
        ss_coupling_set(one, r);
        ss_coupling_set(other, r);
        for (int i = 0; i < p->ncontacts; i++) {
            double u[3], v[3];
            ss_coupling_velocity(one, i, u);
            ss_coupling_velocity(other, i, v);
            for (int k = 0; k < dim; k++) {
                most = fmax(most, fabs(u[k] - v[k]));
            }
        }
        CHECK_LE(most, ss_coupling_rounding(other));
        CHECK_LE(0.01 * ss_coupling_rounding(other), most);
        ss_coupling_free(one);
        ss_coupling_free(other);
        free(r);
        ss_problem_free(p);
    }
}

// The factor that a solver leaves serves the next one and the judge, and nothing depends on whose it is.
static void a_factor_is_left_for_others_and_moves_no_bit(void)
{
    static const char *const SPECS[] = {"gs/mfb+enum", "auto", "apgd"};
    for (int k = 0; k < 3; k++) {
        ss_problem *p = random_strand_problem(31, 3, 12, 4, 20);
        ss_method *method = NULL;
        CHECK_OK(ss_method_parse(SPECS[k], &method, &error));
        double r[3][36] = {{0.0}};
        ss_mass *factor = NULL;
        ss_result result;
        for (int run = 0; run < 3; run++) {
            const ss_task task = {.problem = p,
                                  .method = method,
                                  .tolerance = 1e-8,
                                  .max_iterations = 40,
                                  .factor = run == 0 ? NULL : &factor};
            const ss_mass *before = factor;
            CHECK_OK(ss_solve(&task, r[run], &result, &error));
            CHECK(run == 0 ? factor == NULL : factor != NULL);
            CHECK(run < 2 || factor == before);
            CHECK(memcmp(r[run], r[0], sizeof r[0]) == 0);
        }
        ss_response *own, *shared;
        double u[2][36];
        CHECK_OK(ss_response_new(p, &own, &error));
        CHECK_OK(ss_response_with(p, &factor, NULL, &shared, &error));
        ss_response_judge(own, r[0], u[0]);
        ss_response_judge(shared, r[0], u[1]);
        CHECK(memcmp(u[0], u[1], sizeof u[0]) == 0);
        ss_response_free(own);
        ss_response_free(shared);
        ss_mass_free(factor);
        ss_method_free(method);
        ss_problem_free(p);
    }
}

static void run_tests(void)
{
    RUN_TEST(all_forms_give_the_velocities_of_the_judge);
    RUN_TEST(forms_of_strands_give_the_velocities_of_the_judge);
    RUN_TEST(contacts_that_touch_nothing_have_the_velocity_w);
    RUN_TEST(pushes_have_the_same_bits_whatever_is_made_with_them);
    RUN_TEST(rounded_responses_leave_little_until_z_comes_from_r);
    RUN_TEST(sparse_ends_have_the_blocks_and_bounds_of_whitened_ones);
    RUN_TEST(matrix_free_needs_m_and_h);
    RUN_TEST(the_third_direction_of_the_plane_is_decoupled);
    RUN_TEST(reverse_order_visits_the_last_contact_first);
    RUN_TEST(random_order_is_a_permutation_that_the_seed_fixes);
    RUN_TEST(another_order_is_the_same_problem);
    RUN_TEST(rounding_is_the_size_of_all_that_is_summed_up);
    RUN_TEST(velocities_of_the_two_forms_differ_by_rounding);
    RUN_TEST(a_factor_is_left_for_others_and_moves_no_bit);
}

const test_group coupling_tests = {.run = run_tests, .set_up = set_up};
