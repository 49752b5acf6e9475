// tests/strands/test_super_helix.c -- the strand that pieces of helix make: its geometry and mass against
// closed forms, its layouts of dofs, its natural shape and its roots.
#include <stdlib.h>
#include <string.h>

#include "tests/support/one_strand.h"
#include "tests/support/support.h"

static ss_error error;
static ss_random g;

static void set_up(void)
{
    error = (ss_error){0};
    g = ss_random_seeded(5);
}

// ---- The strand

static const char *const SPECS[] = {
    "super-helix",
    "super-helix:root=free",
    "super-helix:layout=shared",
    "super-helix:layout=shared,root=free",
    "super-helix:elements=1",
    "super-helix:elements=32",
};

#define NSPECS (sizeof SPECS / sizeof SPECS[0])

// From straight to curls of 5 mm radius.
static void jacobian_agrees_with_differences_up_to_200_a_metre(void)
{
    for (size_t k = 0; k < NSPECS; k++) {
        for (double size = 0.0; size <= 200.0; size = size > 0.0 ? 10.0 * size : 0.02) {
            const ss_strand_design design = random_design(&g, 7, size);
            one_strand s = new_strand(SPECS[k], &design);
            const ss_pose root = random_pose(&g);
            for (int j = 0; j < s.size.nv; j++) {
                const bool of_root = s.size.nq > s.size.nv && j < 6;
                // Columns of the curvatures are of the size of length x element length.
                CHECK_LE(column_error(&s, &root, j, of_root ? 1e-5 : 1e-3),
                         of_root ? 1e-9 : 1e-7 * 0.25 * 0.05);
            }
            free_strand(&s);
        }
    }
}

// A helix of curvature k, whose tangent makes the angle psi with its axis, has chords of
// h sqrt(cos^2 psi + sin^2 psi (sin(k h/2) / (k h/2))^2).
static double chord(ss_vec3 q, double h)
{
    const double k = ss_length(q), half = 0.5 * k * h;
    const double along = k > 0.0 ? q.x / k : 1.0;
    const double sinc = half > 0.0 ? sin(half) / half : 1.0;
    return h * sqrt(along * along + (1.0 - along * along) * sinc * sinc);
}

static void every_segment_has_the_chord_of_its_helix(void)
{
    ss_strand_design design = random_design(&g, 5, 200.0);
    design.nsegments = 500;
    one_strand s = new_strand("super-helix", &design);
    const ss_pose root = random_pose(&g);
    place_strand(&s, &root, s.q);
    for (int k = 0; k < design.nsegments; k++) {
        const double *q = design.style[k / 100];
        const double known = chord(ss_vec(q[0], q[1], q[2]), 0.0005);
        const double length = ss_length(ss_minus(s.points[k + 1].x, s.points[k].x));
        CHECK_NEAR(length, known, 1e-12 * 0.25);
        CHECK_NEAR(length, known, 2e-12 * known);
    }
    free_strand(&s);
}

static void a_straight_strand_lies_along_the_first_axis(void)
{
    const ss_strand_design design = {.length = 0.1, .material = ss_material_hair(), .nsegments = 4};
    one_strand s = new_strand("super-helix:elements=3", &design);
    const ss_pose root = ss_pose_identity();
    place_strand(&s, &root, s.q);
    for (int k = 0; k <= 4; k++) {
        CHECK_LE(ss_length(ss_minus(s.points[k].x, ss_vec(0.025 * k, 0.0, 0.0))), 1e-16);
    }
    // A vertex on the border of two elements is moved by the dofs of the first alone.
    CHECK(s.points[1].count == 3 && s.points[2].count == 6 && s.points[4].count == 9);
    free_strand(&s);
}

// Bent by pi/2 over its length about n2: a quarter of a circle, upwards.
static void a_bent_strand_is_a_circle(void)
{
    const double bend = 3.14159265358979323846 / 2.0 / 0.1;
    const double style[1][3] = {{0.0, 0.0, bend}};
    const ss_strand_design design = {.length = 0.1,
                                     .material = ss_material_hair(),
                                     .npieces = 1,
                                     .style = style,
                                     .nsegments = 3};
    one_strand s = new_strand("super-helix:elements=7", &design);
    const ss_pose root = ss_pose_identity();
    place_strand(&s, &root, s.q);
    CHECK_LE(ss_length(ss_minus(s.points[3].x, ss_vec(1.0 / bend, 1.0 / bend, 0.0))), 1e-15);
    free_strand(&s);
}

// The same q with a tenth of the spacing of the quadrature: a strand whose style turns so much that
// it has ten times the points.
static void mass_agrees_with_a_finer_quadrature(void)
{
    for (double size = 0.0; size <= 200.0; size = size > 0.0 ? 10.0 * size : 0.2) {
        const ss_strand_design design = random_design(&g, 5, size);
        one_strand s = new_strand("super-helix", &design);
        const double turn = 10.0 * s.size.nsamples / 5.0 - 7.0;
        const double curl[1][3] = {{0.0, turn / 0.05, 0.0}};
        ss_strand_design finer = design;
        finer.npieces = 1;
        finer.style = curl;
        one_strand fine = new_strand("super-helix", &finer);
        CHECK(fine.size.nsamples >= 9 * s.size.nsamples);
        double M[15 * 15], known[15 * 15];
        const ss_pose root = random_pose(&g);
        place_strand(&s, &root, s.q);
        place_strand(&fine, &root, s.q);
        mass_matrix(&s, s.q, M);
        mass_matrix(&fine, s.q, known);
        for (int k = 0; k < 15 * 15; k++) {
            const double scale = sqrt(known[k / 15 * 16] * known[k % 15 * 16]);
            CHECK_NEAR(M[k], known[k], 1e-10 * scale + 1e-26);
        }
        free_strand(&s);
        free_strand(&fine);
    }
}

static void straight_hair_takes_six_points_an_element_and_curls_more(void)
{
    const ss_strand_design straight = random_design(&g, 0, 0.0);
    one_strand s = new_strand("super-helix", &straight);
    TEST_ASSERT_EQUAL_INT(30, s.size.nsamples);
    free_strand(&s);
    // 0.05 m x 100/m = 5 rad: ceil(5 + 1) + 5
    const double curl[1][3] = {{0.0, 0.0, 100.0}};
    ss_strand_design curly = straight;
    curly.npieces = 1;
    curly.style = curl;
    s = new_strand("super-helix", &curly);
    TEST_ASSERT_EQUAL_INT(55, s.size.nsamples);
    free_strand(&s);
    curly.npieces = 0;
    curly.style = NULL;
    curly.unrest = curl;
    curly.npieces = 1;
    curly.style = (const double[1][3]){{0.0, 0.0, 0.0}};
    s = new_strand("super-helix", &curly);
    TEST_ASSERT_EQUAL_INT(55, s.size.nsamples);
    free_strand(&s);
}

static void elements_take_the_mean_of_the_pieces_over_them(void)
{
    // Two pieces over three elements: the second has half of each.
    const double style[2][3] = {{1.0, 2.0, 3.0}, {3.0, -2.0, 5.0}};
    const ss_strand_design design = {.length = 0.1,
                                     .material = ss_material_hair(),
                                     .npieces = 2,
                                     .style = style,
                                     .nsegments = 3};
    const double known[9] = {1.0, 2.0, 3.0, 2.0, 0.0, 4.0, 3.0, -2.0, 5.0};
    one_strand s = new_strand("super-helix:elements=3", &design);
    for (int k = 0; k < 9; k++) {
        CHECK_NEAR(s.q[k], known[k], 1e-15);
    }
    free_strand(&s);
}

static void energy_of_a_unit_bend_is_known(void)
{
    ss_strand_design straight = random_design(&g, 0, 0.0);
    straight.material.ellipticity = 1.4;
    const ss_rigidity r = ss_material_rigidity(&straight.material);
    one_strand s = new_strand("super-helix", &straight);
    const double known[3] = {r.twist, r.bend1, r.bend2};
    for (int k = 0; k < 15; k++) {
        s.q[k] = 2.0;
        CHECK_NEAR(s.model->energy(s.self, s.q), 0.5 * known[k % 3] * 0.05 * 4.0, 1e-24);
        s.q[k] = 0.0;
    }
    free_strand(&s);
}

static void damping_is_the_relaxation_times_stiffness(void)
{
    const ss_strand_design straight = random_design(&g, 0, 0.0);
    one_strand s = new_strand("super-helix", &straight);
    ss_band K = new_band(&s), C = new_band(&s);
    s.model->stiffness(s.self, s.q, SS_STIFFNESS_EXACT, 0.01, &K);
    s.model->damping(s.self, s.q, 1.0, &C);
    CHECK(*ss_band_at(&K, 0, 0) > 0.0);
    for (int k = 0; k < 15 * 15; k++) {
        CHECK_NEAR(C.x[k], K.x[k], 1e-15 * K.x[k]);
    }
    free(K.x);
    free(C.x);
    free_strand(&s);
}

// ---- Unrest and balance

static void unrest_is_added_to_the_natural_shape_before_and_after_balance(void)
{
    ss_strand_design design = random_design(&g, 5, 20.0);
    double unrest[5][3];
    for (int k = 0; k < 15; k++) {
        unrest[k / 3][k % 3] = ss_random_normal(&g);
    }
    design.unrest = (const double(*)[3])unrest;
    one_strand s = new_strand("super-helix", &design);
    const ss_rigidity r = ss_material_rigidity(&design.material);
    const double rigidity[3] = {0.05 * r.twist, 0.05 * r.bend1, 0.05 * r.bend2};
    double F[15] = {0}, settled[15] = {0}, load[15];
    s.model->force(s.self, s.q, s.v, F);
    for (int k = 0; k < 15; k++) {
        CHECK_NEAR(F[k], rigidity[k % 3] * unrest[k / 3][k % 3], 1e-22);
        load[k] = 1e-9 * ss_random_normal(&g);
    }
    CHECK_OK(s.model->balance(s.self, s.q, load, &error));
    s.model->force(s.self, s.q, s.v, settled);
    for (int k = 0; k < 15; k++) {
        CHECK_NEAR(settled[k], F[k] - load[k], 1e-22);
    }
    free_strand(&s);
}

// ---- Shared dofs

// Columns of B: which of the 16 dofs is curvature i of element e.
static int shared_dof(int e, int i)
{
    const int first = e < 4 ? 0 : 9;
    return i == 0 ? first : first + 2 * (e < 4 ? e : e - 4) + i;
}

static void shared_dofs_are_sums_of_those_of_seven_elements(void)
{
    const ss_strand_design design = random_design(&g, 7, 30.0);
    one_strand s = new_strand("super-helix:layout=shared", &design);
    one_strand full = new_strand("super-helix:elements=7", &design);
    TEST_ASSERT_EQUAL_INT(16, s.size.nv);
    TEST_ASSERT_EQUAL_INT(full.size.nsamples, s.size.nsamples);
    CHECK_NEAR(s.q[0], (full.q[0] + full.q[3] + full.q[6] + full.q[9]) / 4.0, 1e-14);
    CHECK_NEAR(s.q[9], (full.q[12] + full.q[15] + full.q[18]) / 3.0, 1e-14);
    const ss_pose root = random_pose(&g);
    place_strand(&s, &root, s.q);
    place_strand(&full, &root, full.q);
    for (int p = 0; p < places(&s); p++) {
        // The style is met although its twist differs from element to element.
        const ss_vec3 x = place_number(&full, p)->x;
        CHECK_LE(ss_length(ss_minus(place_number(&s, p)->x, x)), 1e-15);
        ss_vec3 J[16] = {{0.0, 0.0, 0.0}};
        for (int k = 0; k < 21; k++) {
            const int j = shared_dof(k / 3, k % 3);
            J[j] = ss_plus(J[j], column(place_number(&full, p), k));
        }
        for (int j = 0; j < 16; j++) {
            CHECK_LE(ss_length(ss_minus(J[j], column(place_number(&s, p), j))), 1e-16);
        }
    }
    free_strand(&s);
    free_strand(&full);
}

static void shared_energy_is_that_of_seven_elements(void)
{
    const ss_strand_design design = random_design(&g, 7, 30.0);
    one_strand s = new_strand("super-helix:layout=shared", &design);
    one_strand full = new_strand("super-helix:elements=7", &design);
    for (int j = 0; j < 16; j++) {
        const double change = ss_random_normal(&g);
        s.q[j] += change;
        for (int k = 0; k < 21; k++) {
            full.q[k] += shared_dof(k / 3, k % 3) == j ? change : 0.0;
        }
    }
    const double E = full.model->energy(full.self, full.q);
    CHECK_NEAR(s.model->energy(s.self, s.q), E, 1e-13 * E);
    free_strand(&s);
    free_strand(&full);
}

// Elements 1-4 want 1 + 1 + 1 + 5 times the stiffness of one, 5-7 3 + 3 + 0 times.
static void shared_unrest_is_its_mean(void)
{
    const double unrest[7][3] = {{1.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {1.0, 0.0, 0.0}, {5.0, 0.0, 0.0},
                                 {3.0, 0.0, 0.0}, {3.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    ss_strand_design design = random_design(&g, 7, 30.0);
    design.unrest = unrest;
    const double stiffness = ss_material_rigidity(&design.material).twist * 0.25 / 7.0;
    one_strand s = new_strand("super-helix:layout=shared", &design);
    double F[16] = {0.0};
    s.model->force(s.self, s.q, s.v, F);
    CHECK_NEAR(F[0], 8.0 * stiffness, 1e-13 * stiffness);
    CHECK_NEAR(F[9], 6.0 * stiffness, 1e-13 * stiffness);
    free_strand(&s);
}

static void check_make_refused(const char *spec, double curvature, const char *word)
{
    const double style[1][3] = {{0.0, curvature, 0.0}};
    ss_strand_design design = random_design(&g, 1, 0.0);
    design.style = style;
    ss_model_choice choice;
    void *rod;
    CHECK_OK(ss_model_parse(spec, &choice, &error));
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, choice.model->make(&design, choice.settings, &rod, &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, word), error.text);
    ss_model_choice_free(&choice);
}

static void what_no_super_helix_can_be_is_refused(void)
{
    check_make_refused("super-helix:layout=shared,elements=9", 0.0, "leave elements=9 away");
    check_make_refused("super-helix", 1e5, "use more elements");
    check_make_refused("super-helix", 1e200, "use more elements");
}

// ---- Free roots

static ss_vec3 momentum(const one_strand *s, const double *v)
{
    ss_vec3 sum = {0.0, 0.0, 0.0};
    for (int p = 0; p < s->size.nsamples; p++) {
        sum = ss_along(sum, s->mass[p], velocity(&s->samples[p], v));
    }
    return sum;
}

static ss_vec3 first_moment(const one_strand *s)
{
    ss_vec3 sum = {0.0, 0.0, 0.0};
    for (int p = 0; p < s->size.nsamples; p++) {
        sum = ss_along(sum, s->mass[p], s->samples[p].x);
    }
    return sum;
}

static void momentum_is_the_change_of_the_first_moment(void)
{
    const double h = 1e-5; // s
    const ss_strand_design design = random_design(&g, 5, 30.0);
    one_strand s = new_strand("super-helix:root=free", &design);
    double *moved = calloc((size_t)s.size.nq, sizeof *moved);
    const ss_pose root = random_pose(&g);
    disturb(&s, &g);
    place_strand(&s, &root, s.q);
    const ss_vec3 P = momentum(&s, s.v);
    s.model->advance(s.self, s.q, s.v, h, moved);
    place_strand(&s, &root, moved);
    const ss_vec3 ahead = first_moment(&s);
    s.model->advance(s.self, s.q, s.v, -h, moved);
    place_strand(&s, &root, moved);
    const ss_vec3 slope = ss_scaled(0.5 / h, ss_minus(ahead, first_moment(&s)));
    CHECK(ss_length(P) > 0.0);
    CHECK_LE(ss_length(ss_minus(slope, P)), 1e-6 * ss_length(P));
    free(moved);
    free_strand(&s);
}

// A straight strand along x: it weighs rho L, and turns about itself with rho (I1 + I2) L.
static void a_free_straight_strand_has_the_inertia_of_a_rod(void)
{
    const ss_strand_design straight = random_design(&g, 0, 0.0);
    const ss_rigidity r = ss_material_rigidity(&straight.material);
    one_strand s = new_strand("super-helix:root=free,elements=1", &straight);
    const ss_pose root = ss_pose_identity();
    place_strand(&s, &root, s.q);
    double M[9 * 9];
    mass_matrix(&s, s.q, M);
    const double L = 0.25, m = r.line_density * L, spin = r.spin_inertia * L;
    const double diagonal[7] = {
        m, m, m, spin, m * L * L / 3.0, m * L * L / 3.0, spin * L * L / 3.0};
    for (int k = 0; k < 7; k++) {
        CHECK_NEAR(M[10 * k], diagonal[k], 1e-13 * diagonal[k]);
    }
    CHECK_NEAR(M[9 * 6 + 3], 0.5 * spin * L, 1e-13 * spin * L);
    CHECK_NEAR(M[9 * 5 + 1], 0.5 * m * L, 1e-13 * m * L);
    free_strand(&s);
}

static void a_free_strand_cannot_rest_under_its_weight(void)
{
    const ss_strand_design design = random_design(&g, 5, 10.0);
    one_strand s = new_strand("super-helix:root=free", &design);
    double load[21] = {0};
    const ss_pose root = ss_pose_identity();
    place_strand(&s, &root, s.q);
    CHECK_OK(s.model->balance(s.self, s.q, load, &error));
    for (int p = 0; p < s.size.nsamples; p++) {
        add_load(&s.samples[p], ss_vec(0.0, -9.81 * s.mass[p], 0.0), load);
    }
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, s.model->balance(s.self, s.q, load, &error));
    TEST_ASSERT_NOT_NULL(strstr(error.text, "root=free"));
    free_strand(&s);
}

// A quarter turn about y of the pose in 1000 steps: the strand's x axis ends along -z.
static void a_free_root_turns_about_the_axes_of_its_pose(void)
{
    const ss_strand_design straight = random_design(&g, 0, 0.0);
    one_strand s = new_strand("super-helix:root=free", &straight);
    s.v[0] = 0.5;
    s.v[4] = 3.14159265358979323846 / 2.0;
    for (int k = 0; k < 1000; k++) {
        s.model->advance(s.self, s.q, s.v, 1e-3, s.q);
    }
    const ss_pose root = ss_pose_identity();
    place_strand(&s, &root, s.q);
    const ss_vec3 tip = s.points[s.size.npoints - 1].x;
    CHECK_LE(ss_length(ss_minus(tip, ss_vec(0.5, 0.0, -0.25))), 1e-13);
    free_strand(&s);
}

static void run_tests(void)
{
    RUN_TEST(jacobian_agrees_with_differences_up_to_200_a_metre);
    RUN_TEST(every_segment_has_the_chord_of_its_helix);
    RUN_TEST(a_straight_strand_lies_along_the_first_axis);
    RUN_TEST(a_bent_strand_is_a_circle);
    RUN_TEST(mass_agrees_with_a_finer_quadrature);
    RUN_TEST(straight_hair_takes_six_points_an_element_and_curls_more);
    RUN_TEST(elements_take_the_mean_of_the_pieces_over_them);
    RUN_TEST(energy_of_a_unit_bend_is_known);
    RUN_TEST(damping_is_the_relaxation_times_stiffness);
    RUN_TEST(unrest_is_added_to_the_natural_shape_before_and_after_balance);
    RUN_TEST(shared_dofs_are_sums_of_those_of_seven_elements);
    RUN_TEST(shared_energy_is_that_of_seven_elements);
    RUN_TEST(shared_unrest_is_its_mean);
    RUN_TEST(what_no_super_helix_can_be_is_refused);
    RUN_TEST(momentum_is_the_change_of_the_first_moment);
    RUN_TEST(a_free_straight_strand_has_the_inertia_of_a_rod);
    RUN_TEST(a_free_strand_cannot_rest_under_its_weight);
    RUN_TEST(a_free_root_turns_about_the_axes_of_its_pose);
}

const test_group super_helix_tests = {.run = run_tests, .set_up = set_up};
