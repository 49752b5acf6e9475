// tests/strands/test_models.c -- what every strand model owes of where it is and what it weighs. Written
// against model.h alone; each test runs on every model, with each value of its options.
#include "strands/model.h"

#include <stdlib.h>
#include <string.h>

#include "strands/band.h"
#include "tests/support/one_strand.h"
#include "tests/support/support.h"
#include "tests/support/twisting_chain.h"

// Difference steps move points by this share of a length of strand.
#define SMALL_SHARE 3e-6

static ss_random g;

static void set_up(void)
{
    g = ss_random_seeded(17);
}

// ---- Sizes and lumps

static void sizes_agree(one_strand *s)
{
    const ss_strand_size z = s->size;
    CHECK(z.nv >= 1 && z.nq >= z.nv && z.half_bandwidth >= 0 && z.half_bandwidth < z.nv);
    CHECK(z.npoints >= 2 && z.nsamples >= 1 && z.width >= 1 && z.width <= z.nv);
    for (int p = 0; p < z.npoints + z.nsamples; p++) {
        const ss_strand_point *at = p < z.npoints ? &s->points[p] : &s->samples[p - z.npoints];
        CHECK(at->count >= 0 && at->count <= z.width);
        for (int j = 0; j < at->count; j++) {
            const int dof = ss_point_dof(at, j);
            CHECK(dof >= 0 && dof < z.nv && (j == 0 || dof > ss_point_dof(at, j - 1)));
        }
    }
}

static void sizes_of_every_model_agree(void)
{
    on_every_model(&g, sizes_agree);
}

static void lumps_add_up(one_strand *s)
{
    const ss_material hair = ss_material_hair();
    const double density = ss_material_rigidity(&hair).line_density;
    double mass = 0.0;
    for (int p = 0; p < s->size.nsamples; p++) {
        CHECK(s->mass[p] > 0.0 && s->length[p] > 0.0);
        mass += s->mass[p];
    }
    CHECK_NEAR(strand_length(s), 0.25, 1e-15);
    CHECK_NEAR(mass, 0.25 * density, 1e-15 * density);
}

static void lumps_of_every_model_add_up(void)
{
    on_every_model(&g, lumps_add_up);
}

// Six vertices that begin nearer to each other than they are at rest, by other factors edge by edge.
static void the_mass_is_that_of_the_natural_shape(void)
{
    static const char *const MODELS[] = {"der", "corde", "lifted-curls", "oriented-strands"};
    ss_vec3 start[6] = {{0}}, rest[6] = {{0}};
    for (int i = 1; i < 6; i++) {
        const ss_vec3 t = ss_unit(ss_vec(1.0, 0.2 * i, 0.1 * i * i));
        rest[i] = ss_along(rest[i - 1], 0.02 + 0.005 * i, t);
        start[i] = ss_along(start[i - 1], (0.02 + 0.005 * i) * (0.6 + 0.05 * i), t);
    }
    const ss_material hair = ss_material_hair();
    const double whole =
        ss_material_rigidity(&hair).line_density * 0.175; // 5 of 0.02 and 15 of 0.005
    for (int k = 0; k < 4; k++) {
        const ss_strand_design design = {
            .material = hair, .nvertices = 6, .vertices = start, .rest = rest};
        one_strand s = new_strand(MODELS[k], &design);
        double mass = 0.0;
        for (int p = 0; p < s.size.nsamples; p++) {
            mass += s.mass[p];
        }
        CHECK_NEAR(mass, whole, 1e-15);
        free_strand(&s);
    }
}

// ---- Kinematics

static void jacobian_is_the_derivative(one_strand *s)
{
    disturb(s, &g);
    const ss_pose root = random_pose(&g);
    for (int k = 0; k < s->size.nv; k++) {
        place_strand(s, &root, s->q);
        const double size = column_size(s, k), h = SMALL_SHARE * dof_size(s, k);
        CHECK_LE(column_error(s, &root, k, h), 2e-7 * size + 1e-15 / h); // size 0: of a twist
    }
}

static void jacobian_of_every_model_is_the_derivative(void)
{
    on_every_model(&g, jacobian_is_the_derivative);
}

// a += scale J(q (+) h v) v
static void add_rates(one_strand *s, const ss_pose *root, double h, double scale, ss_vec3 *a)
{
    double *moved = calloc((size_t)s->size.nq, sizeof *moved);
    s->model->advance(s->self, s->q, s->v, h, moved);
    place_strand(s, root, moved);
    for (int p = 0; p < s->size.nsamples; p++) {
        a[p] = ss_along(a[p], scale, velocity(&s->samples[p], s->v));
    }
    free(moved);
}

static void convection_is_the_change_of_rates(one_strand *s)
{
    const double h = 1e-5; // s; the strand moves by its length in about one
    disturb(s, &g);
    const ss_pose root = random_pose(&g);
    ss_vec3 *difference = calloc((size_t)s->size.nsamples, sizeof *difference);
    ss_vec3 *a = calloc((size_t)s->size.nsamples, sizeof *a);
    add_rates(s, &root, h, 0.5 / h, difference);
    add_rates(s, &root, -h, -0.5 / h, difference);
    if (s->model->convect != NULL) {
        s->model->convect(s->self, &root, s->q, s->v, a);
    }
    double most = 1.0; // m/s^2
    for (int p = 0; p < s->size.nsamples; p++) {
        most = fmax(most, ss_length(a[p]));
    }
    for (int p = 0; p < s->size.nsamples; p++) {
        CHECK_LE(ss_length(ss_minus(difference[p], a[p])), 1e-6 * most);
    }
    free(difference);
    free(a);
}

static void convection_of_every_model_is_the_change_of_rates(void)
{
    on_every_model(&g, convection_is_the_change_of_rates);
}

// Of SS_FRAME_WORLD: where the root is when it starts.
static void starting_elsewhere_moves_the_strand_rigidly(one_strand *s)
{
    const ss_pose home = random_pose(&g), away = random_pose(&g);
    const ss_pose both = ss_pose_product(&away, &home);
    const int n = places(s);
    ss_vec3 *x = calloc((size_t)n, sizeof *x);
    s->model->start(s->self, &home, s->q);
    place_strand(s, &home, s->q);
    for (int p = 0; p < n; p++) {
        x[p] = place_number(s, p)->x;
    }
    s->model->start(s->self, &both, s->q);
    place_strand(s, &both, s->q);
    for (int p = 0; p < n; p++) {
        CHECK_LE(ss_length(ss_minus(place_number(s, p)->x, ss_pose_point(&away, x[p]))), 1e-14);
    }
    free(x);
}

static void moving_the_root_moves_the_strand_rigidly(one_strand *s)
{
    if (s->model->frame == SS_FRAME_WORLD) {
        starting_elsewhere_moves_the_strand_rigidly(s);
        return;
    }
    disturb(s, &g);
    const ss_pose home = ss_pose_identity(), away = random_pose(&g);
    const int n = places(s), nv = s->size.nv;
    ss_vec3 *x = calloc((size_t)(n * (nv + 1)), sizeof *x);
    place_strand(s, &home, s->q);
    for (int p = 0; p < n; p++) {
        x[p * (nv + 1)] = place_number(s, p)->x;
        for (int k = 0; k < nv; k++) {
            x[p * (nv + 1) + 1 + k] = column(place_number(s, p), k);
        }
    }
    place_strand(s, &away, s->q);
    for (int p = 0; p < n; p++) {
        const ss_vec3 there = ss_pose_point(&away, x[p * (nv + 1)]);
        CHECK_LE(ss_length(ss_minus(place_number(s, p)->x, there)), 1e-14);
        for (int k = 0; k < nv; k++) {
            const ss_vec3 turned = ss_turned(&away.turn, x[p * (nv + 1) + 1 + k]);
            const ss_vec3 wrong = ss_minus(column(place_number(s, p), k), turned);
            CHECK_LE(ss_length(wrong), 1e-13 * column_size(s, k));
        }
    }
    free(x);
}

static void moving_the_root_moves_every_model_rigidly(void)
{
    on_every_model(&g, moving_the_root_moves_the_strand_rigidly);
}

static void convection_turns_with_the_root(one_strand *s)
{
    disturb(s, &g);
    const ss_pose home = ss_pose_identity(), away = random_pose(&g);
    const size_t n = (size_t)s->size.nsamples;
    ss_vec3 *a = calloc(2 * n, sizeof *a);
    if (s->model->convect != NULL) {
        s->model->convect(s->self, &home, s->q, s->v, a);
        s->model->convect(s->self, &away, s->q, s->v, a + n);
    }
    for (size_t p = 0; p < n; p++) {
        const ss_vec3 wrong = ss_minus(a[n + p], ss_turned(&away.turn, a[p]));
        CHECK_LE(ss_length(wrong), 1e-13 * (1.0 + ss_length(a[n - 1])));
    }
    free(a);
}

static void convection_of_every_model_turns_with_the_root(void)
{
    on_every_model(&g, convection_turns_with_the_root);
}

static void advancing_by_nothing_changes_nothing(one_strand *s)
{
    disturb(s, &g);
    double *moved = calloc((size_t)s->size.nq, sizeof *moved);
    s->model->advance(s->self, s->q, s->v, 0.0, moved);
    for (int k = 0; k < s->size.nq; k++) {
        CHECK_NEAR(moved[k], s->q[k], 1e-15 * (1.0 + fabs(s->q[k])));
    }
    free(moved);
}

static void advancing_in_place_is_advancing(one_strand *s)
{
    disturb(s, &g);
    double *moved = calloc((size_t)s->size.nq, sizeof *moved);
    s->model->advance(s->self, s->q, s->v, 0.01, moved);
    s->model->advance(s->self, s->q, s->v, 0.01, s->q);
    CHECK(memcmp(moved, s->q, (size_t)s->size.nq * sizeof *moved) == 0);
    free(moved);
}

static void advancing_every_model_in_place_is_advancing(void)
{
    on_every_model(&g, advancing_in_place_is_advancing);
}

// Without `difference` coordinates are linear, and v is a difference of q.
static void difference_is_what_advance_was_given(one_strand *s)
{
    disturb(s, &g);
    const double h = 0.01; // s: turns of a hundredth of a radian
    double *moved = calloc((size_t)s->size.nq, sizeof *moved);
    double *v = calloc((size_t)s->size.nv, sizeof *v);
    s->model->advance(s->self, s->q, s->v, h, moved);
    if (s->model->difference != NULL) {
        s->model->difference(s->self, s->q, moved, h, v);
    } else {
        TEST_ASSERT_EQUAL_INT(s->size.nv, s->size.nq);
    }
    for (int k = 0; k < s->size.nv; k++) {
        v[k] = s->model->difference != NULL ? v[k] : (moved[k] - s->q[k]) / h;
        CHECK_NEAR(v[k], s->v[k], 1e-11 * dof_size(s, k));
    }
    free(moved);
    free(v);
}

static void difference_of_every_model_is_what_advance_was_given(void)
{
    on_every_model(&g, difference_is_what_advance_was_given);
}

// Points whose dofs are all held are where the bodies of the clamps carry them, whatever q was.
static void held_points_follow_their_bodies(one_strand *s)
{
    const ss_pose home = random_pose(&g), moved[2] = {random_pose(&g), random_pose(&g)};
    double *v = calloc((size_t)s->size.nv, sizeof *v);
    ss_vec3 *x = calloc((size_t)s->size.npoints, sizeof *x);
    int held = 0;
    s->model->start(s->self, &home, s->q);
    place_strand(s, &home, s->q);
    for (int p = 0; p < s->size.npoints; p++) {
        x[p] = s->points[p].x;
    }
    s->model->script(s->self, moved, s->q, 0.1, v);
    s->model->advance(s->self, s->q, v, 0.1, s->q);
    place_strand(s, &home, s->q);
    for (int p = 0; p < s->size.npoints; p++) {
        bool all = s->points[p].count > 0;
        for (int j = 0; j < s->points[p].count; j++) {
            all = all && is_held(s, ss_point_dof(&s->points[p], j));
        }
        const ss_pose *body = &moved[p < s->size.npoints / 2 ? 0 : 1];
        const ss_vec3 there = all ? ss_pose_point(body, x[p]) : x[p];
        CHECK_LE(ss_length(ss_minus(s->points[p].x, there)), 1e-13);
        held += all;
    }
    CHECK(held >= 2);
    free(v);
    free(x);
}

static void clamps_of_every_model_in_the_world_hold_it(void)
{
    int found = 0;
    for (int k = -1; k < 0 || ss_strand_models[k] != NULL; k++) {
        const ss_strand_model *m = k < 0 ? &twisting_chain : ss_strand_models[k];
        for (ss_clamp c = SS_CLAMP_ROOT; m->frame == SS_FRAME_WORLD && c <= SS_CLAMP_BOTH; c++) {
            ss_strand_design design = random_design(&g, 7, 30.0);
            design.clamp = c;
            one_strand s = new_strand(m->name, &design);
            held_points_follow_their_bodies(&s);
            free_strand(&s);
            found++;
        }
    }
    CHECK(found >= 3);
}

static void advancing_every_model_by_nothing_changes_nothing(void)
{
    on_every_model(&g, advancing_by_nothing_changes_nothing);
}

// ---- Inertia

// Of M = M0 + h C + h^2 K with this kind of K.
static bool has_factor_with(const one_strand *s, double h, ss_stiffness kind)
{
    const int n = s->size.nv, half = s->size.half_bandwidth;
    double *dense = calloc((size_t)(n * n), sizeof *dense), *D = calloc((size_t)n, sizeof *D);
    ss_band M = new_band(s);
    mass_matrix(s, s->q, dense);
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n && i <= j + half; i++) {
            *ss_band_at(&M, i, j) = dense[i * n + j];
        }
    }
    bool has = kind == SS_STIFFNESS_EXACT;
    if (s->model->stiffness != NULL) {
        s->model->damping(s->self, s->q, h, &M);
        has = s->model->stiffness(s->self, s->q, kind, h * h, &M);
    }
    if (s->model->project != NULL) {
        double *v = calloc(2 * (size_t)n, sizeof *v);
        memcpy(v, s->v, (size_t)n * sizeof *v);
        s->model->project(s->self, s->q, h, v, v + n, &M);
        free(v);
    }
    const bool definite = has && ss_band_factor(&M, D);
    free(dense);
    free(D);
    free(M.x);
    return definite;
}

static bool has_factor(const one_strand *s, double h)
{
    bool has = false;
    for (int kind = 0; kind < SS_STIFFNESS_KINDS; kind++) {
        has = has || has_factor_with(s, h, (ss_stiffness)kind);
    }
    return has;
}

static void mass_fits_into_the_band(one_strand *s)
{
    const int n = s->size.nv;
    double *M = calloc((size_t)(n * n), sizeof *M);
    disturb(s, &g);
    mass_matrix(s, s->q, M);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i - s->size.half_bandwidth; j++) {
            CHECK_NEAR(M[i * n + j], 0.0, 0.0);
        }
    }
    free(M);
}

static void mass_of_every_model_fits_into_the_band(void)
{
    on_every_model(&g, mass_fits_into_the_band);
}

static void whole_mass_is_that_of_the_samples(one_strand *s)
{
    if (s->model->mass == NULL) {
        return;
    }
    const int n = s->size.nv;
    double *M = calloc((size_t)(n * n), sizeof *M), most = 0.0;
    ss_band A = new_band(s);
    disturb(s, &g);
    mass_matrix(s, s->q, M);
    s->model->mass(s->self, s->q, &A);
    for (int i = 0; i < n * n; i++) {
        most = fmax(most, fabs(M[i]));
    }
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n && i <= j + A.half; i++) {
            CHECK_NEAR(*ss_band_at(&A, i, j), M[i * n + j], 1e-14 * most);
        }
    }
    free(M);
    free(A.x);
}

static void whole_mass_of_every_model_is_that_of_its_samples(void)
{
    on_every_model(&g, whole_mass_is_that_of_the_samples);
}

static void a_step_of_the_strand_is_definite(one_strand *s)
{
    CHECK(has_factor(s, 1e-3));
    disturb(s, &g);
    CHECK(has_factor(s, 1e-3));
    const ss_strand_design straight = {
        .length = 0.25, .material = ss_material_hair(), .nsegments = 4};
    one_strand t = new_strand(s->choice.spec, &straight);
    const ss_pose root = ss_pose_identity();
    place_strand(&t, &root, t.q);
    CHECK(has_factor(&t, 1e-3));
    free_strand(&t);
}

static void a_step_of_every_model_is_definite(void)
{
    on_every_model(&g, a_step_of_the_strand_is_definite);
}

static void run_tests(void)
{
    RUN_TEST(sizes_of_every_model_agree);
    RUN_TEST(lumps_of_every_model_add_up);
    RUN_TEST(the_mass_is_that_of_the_natural_shape);
    RUN_TEST(jacobian_of_every_model_is_the_derivative);
    RUN_TEST(convection_of_every_model_is_the_change_of_rates);
    RUN_TEST(moving_the_root_moves_every_model_rigidly);
    RUN_TEST(convection_of_every_model_turns_with_the_root);
    RUN_TEST(advancing_every_model_by_nothing_changes_nothing);
    RUN_TEST(advancing_every_model_in_place_is_advancing);
    RUN_TEST(difference_of_every_model_is_what_advance_was_given);
    RUN_TEST(clamps_of_every_model_in_the_world_hold_it);
    RUN_TEST(mass_of_every_model_fits_into_the_band);
    RUN_TEST(whole_mass_of_every_model_is_that_of_its_samples);
    RUN_TEST(a_step_of_every_model_is_definite);
}

const test_group models_tests = {.run = run_tests, .set_up = set_up};
