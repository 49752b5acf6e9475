// Towers of boxes, and rods that are lighter than others.
#include <stdlib.h>
#include <string.h>

#include "problems/certificate.h"
#include "problems/matrix/mass.h"
#include "tests/support/one_tangle.h"

// Recorded once, like those of test_tangle.c.
#define GOLDEN_TOWER "7c361d0840fa3d3cbbef53fc83b5146bdfdc9f15a7dc53a96232b95b6c5547de"
#define GOLDEN_LIGHT "f598ef77f5f6ac9652ecdf921683cd2cc21e79956cb5b952712f3eb8c28e8512"

static void set_up(void)
{
    begin_tangle();
    settings.ncontacts = 24;
    settings.ends_per_rod = 16;
}

static void refused(const char *name)
{
    ss_problem *none = NULL;
    CHECK(ss_tangle_new(&settings, &none, &error) == SS_BAD_INPUT);
    CHECK(none == NULL);
    CHECK(strstr(error.text, name) != NULL);
}

static double diagonal(int j)
{
    for (int k = problem->M.start[j]; k < problem->M.start[j + 1]; k++) {
        if (problem->M.row[k] == j) {
            return problem->M.x[k];
        }
    }
    return NAN;
}

static void a_tower_has_a_box_of_six_dofs_for_so_many_ends(void)
{
    settings.tower = 10.0;
    make();
    CHECK(problem->form == SS_GLOBAL && problem->ncontacts == 24);
    CHECK(problem->ndofs == 18); // 2 24 / 16 boxes
    for (int j = 0; j < 3; j++) {
        CHECK_NEAR(diagonal(j), 1e-3, 1e-18);
        CHECK_NEAR(diagonal(12 + j), 1e-1, 1e-16);
    }
    settings.dim = 2;
    make();
    CHECK(problem->ndofs == 9 && problem->H.ncols == 48);
    ss_mass *mass;
    CHECK_OK(ss_mass_new(problem, &mass, &error));
    CHECK(ss_mass_bodies(mass) == 3);
    ss_mass_free(mass);
}

// u of v by the definition: the box above minus the box below, at the contact.
static void lifting_the_highest_box_opens_its_contacts_and_no_other(void)
{
    settings.tower = 2.0;
    for (settings.dim = 2; settings.dim <= 3; settings.dim++) {
        make();
        const int dofs = settings.dim == 3 ? 6 : 3, up = settings.dim == 3 ? 2 : 1;
        double v[18] = {0}, u[72] = {0};
        v[2 * dofs + up] = 1.0;
        ss_sparse_add_transposed_product(&problem->H, v, u);
        for (int i = 0; i < 24; i++) {
            CHECK(u[settings.dim * i] == (i >= 16 ? 1.0 : 0.0));
            CHECK(u[settings.dim * i + 1] == 0.0);
        }
    }
}

static void turning_a_box_moves_its_lower_face_backwards(void)
{
    settings.tower = 2.0;
    make();
    double v[18] = {0}, u[72] = {0};
    v[4] = 1.0; // the lowest box, about y: x' = z, z' = -x
    ss_sparse_add_transposed_product(&problem->H, v, u);
    for (int i = 0; i < 8; i++) {
        CHECK_NEAR(u[3 * i + 1], -5e-3, 1e-18); // components: z, x, y
        CHECK(u[3 * i + 2] == 0.0);
        CHECK(u[3 * i] != 0.0 && fabs(u[3 * i]) <= 15e-3);
    }
    for (int i = 8; i < 16; i++) {
        CHECK_NEAR(u[3 * i + 1], -5e-3, 1e-18); // minus the upper face of the box below
    }
}

static void standing_still_proves_that_a_tower_has_an_answer(void)
{
    settings.tower = 100.0;
    settings.mu = 2.0;
    make();
    double *rest = calloc((size_t)problem->ndofs, sizeof *rest), margin;
    CHECK_OK(ss_certificate_margin(problem, rest, &margin, &error));
    CHECK_LE(SS_MARGIN, margin);
    free(rest);
}

static void the_guess_of_a_tower_carries_it(void)
{
    settings.tower = 3.0;
    settings.warm = true;
    settings.mu = 0.0; // no push
    make();
    double left[18];
    memcpy(left, problem->f, sizeof left);
    ss_sparse_add_product(&problem->H, problem->guesses[0].r, left);
    for (int k = 0; k < 3; k++) {
        CHECK_NEAR(left[6 * k + 2], 0.0, 1e-15);
        CHECK(left[6 * k] == 0.0 && left[6 * k + 1] == 0.0);
    }
}

// Two planks on the ground, two across them, and two across those: 2 + 4 + 4 faces of 4 contacts.
static void make_planks(void)
{
    settings.tower = 4.0;
    settings.planks = 2;
    settings.ncontacts = 40;
    settings.ends_per_rod = 13;
    make();
    CHECK(problem->ndofs == 36);
}

static void planks_of_a_layer_are_alike_and_layers_as_heavy_as_asked_for(void)
{
    make_planks();
    for (int k = 0; k < 6; k++) {
        const double mass = k < 2 ? 1e-3 : k < 4 ? 4e-3 : 16e-3;
        CHECK_NEAR(diagonal(6 * k + 2), mass, 1e-15);
        const int along = k / 2 % 2; // about its length, half-widths 12 and 4 mm
        CHECK_NEAR(diagonal(6 * k + 3 + along), mass * 160e-6 / 3.0, 1e-15);
    }
}

static void lifting_a_plank_opens_the_two_faces_below_it(void)
{
    make_planks();
    double v[36] = {0}, u[120] = {0};
    v[6 * 4 + 2] = 1.0; // the first of the highest layer
    ss_sparse_add_transposed_product(&problem->H, v, u);
    for (int i = 0; i < 40; i++) {
        CHECK(u[3 * i] == (i >= 24 && i < 32 ? 1.0 : 0.0));
        CHECK(u[3 * i + 1] == 0.0 && u[3 * i + 2] == 0.0);
    }
}

static void the_contacts_of_crossing_planks_are_near_the_corners_of_what_they_share(void)
{
    make_planks();
    double v[36] = {0}, u[120] = {0};
    v[6 * 0 + 4] = 1.0; // the first plank of all, along x, turns about y: x' = z, z' = -x
    ss_sparse_add_transposed_product(&problem->H, v, u);
    for (int i = 0; i < 4; i++) {
        CHECK_LE(48e-3, fabs(u[3 * i]));
        CHECK_LE(fabs(u[3 * i]), 60e-3);
        CHECK_NEAR(u[3 * i + 1], -4e-3, 1e-17);
    }
    for (int i = 8; i < 24; i++) { // under the planks across it, at x of -48 and 48 mm
        const double from = fabs(u[3 * i] - (i < 16 ? -48e-3 : 48e-3));
        if ((i - 8) / 4 % 2 == 0) {
            CHECK_LE(9.6e-3 - 1e-15, from);
            CHECK_LE(from, 12e-3 + 1e-15);
        } else {
            CHECK(u[3 * i] == 0.0); // on its neighbour
        }
    }
}

static void lifting_layer_after_layer_proves_that_planks_have_an_answer(void)
{
    make_planks();
    double v[36] = {0}, margin;
    for (int k = 0; k < 6; k++) {
        v[6 * k + 2] = 1.0 + k / 2;
    }
    CHECK_OK(ss_certificate_margin(problem, v, &margin, &error));
    CHECK_LE(SS_MARGIN, margin);
}

static void the_guess_of_planks_carries_each(void)
{
    settings.warm = true;
    settings.mu = 0.0; // no push
    make_planks();
    double left[36];
    memcpy(left, problem->f, sizeof left);
    ss_sparse_add_product(&problem->H, problem->guesses[0].r, left);
    for (int k = 0; k < 6; k++) {
        CHECK_NEAR(left[6 * k + 2], 0.0, 1e-15);
    }
}

static void a_share_of_the_rods_is_lighter(void)
{
    settings.ncontacts = 2000;
    make();
    ss_problem *plain = problem;
    problem = NULL;
    settings.light[0] = 0.25;
    settings.light[1] = 1024.0; // a power of two: exact
    make();
    int lighter = 0;
    const int rods = problem->ndofs / 16;
    for (int k = 0; k < rods; k++) {
        const int at = 256 * k;
        const bool light = problem->M.x[at] != plain->M.x[at];
        for (int j = 0; j < 256; j++) {
            CHECK(problem->M.x[at + j] == plain->M.x[at + j] / (light ? 1024.0 : 1.0));
        }
        lighter += light;
    }
    CHECK(lighter > rods / 5 && lighter < rods / 3);
    CHECK(memcmp(problem->H.x, plain->H.x, (size_t)ss_sparse_count(&plain->H) * sizeof(double)) ==
          0);
    CHECK(memcmp(problem->w, plain->w, 6000 * sizeof(double)) == 0);
    ss_problem_free(plain);
}

static void check_bits(const char *golden)
{
    char hex[65];
    make();
    ss_problem_sha256(problem, hex);
    TEST_ASSERT_EQUAL_STRING(golden, hex);
}

static void these_bits_are_the_same_everywhere(void)
{
    settings.tower = 10.0;
    settings.light[0] = 0.5;
    settings.light[1] = 10.0;
    check_bits(GOLDEN_TOWER);
    settings.tower = 0.0;
    settings.ncontacts = 200;
    check_bits(GOLDEN_LIGHT);
}

static void what_cannot_be_made_is_named(void)
{
    settings.light[0] = 1.5;
    refused("share of light rods is 1.5");
    settings.light[0] = NAN;
    refused("share of light rods");
    settings.light[0] = 0.5;
    settings.light[1] = 0.5;
    refused("factor of light rods is 0.5");
    settings.light[1] = 2.0;
    settings.tower = 0.5;
    refused("tower is 0.5");
    settings.tower = NAN;
    refused("tower is nan");
    settings.tower = 10.0;
    settings.hyperstatic = true;
    refused("leave out hyperstatic");
    settings.hyperstatic = false;
    settings.unsymmetry = 0.1;
    refused("unsymmetric");
    settings.unsymmetry = 0.0;
    settings.ncontacts = 1000;
    refused("of 125 boxes");
    settings.planks = 4;
    refused("of 31 layers");
    settings.ncontacts = 7;
    settings.planks = 1;
    refused("planks is 1, not 0 or in 2 .. 1000");
    settings.planks = 8;
    refused("8 faces for 7 contacts");
    settings.ncontacts = 24;
    settings.planks = 2;
    settings.dim = 2;
    refused("crosswise");
    settings.dim = 3;
    settings.tower = 0.0;
    refused("planks are the boxes of a tower");
}

static void any_small_number_of_contacts_works(void)
{
    settings.tower = 2.0;
    for (settings.dim = 2; settings.dim <= 3; settings.dim++) {
        for (settings.ncontacts = 1; settings.ncontacts < 40; settings.ncontacts++) {
            make();
            CHECK(problem->H.ncols == settings.dim * settings.ncontacts);
        }
    }
    settings.dim = 3;
    settings.planks = 3;
    for (settings.ncontacts = 3; settings.ncontacts < 40; settings.ncontacts++) {
        make();
        CHECK(problem->ndofs % 18 == 0);
    }
}

static void run_tests(void)
{
    RUN_TEST(a_tower_has_a_box_of_six_dofs_for_so_many_ends);
    RUN_TEST(lifting_the_highest_box_opens_its_contacts_and_no_other);
    RUN_TEST(turning_a_box_moves_its_lower_face_backwards);
    RUN_TEST(standing_still_proves_that_a_tower_has_an_answer);
    RUN_TEST(the_guess_of_a_tower_carries_it);
    RUN_TEST(planks_of_a_layer_are_alike_and_layers_as_heavy_as_asked_for);
    RUN_TEST(lifting_a_plank_opens_the_two_faces_below_it);
    RUN_TEST(the_contacts_of_crossing_planks_are_near_the_corners_of_what_they_share);
    RUN_TEST(lifting_layer_after_layer_proves_that_planks_have_an_answer);
    RUN_TEST(the_guess_of_planks_carries_each);
    RUN_TEST(a_share_of_the_rods_is_lighter);
    RUN_TEST(these_bits_are_the_same_everywhere);
    RUN_TEST(what_cannot_be_made_is_named);
    RUN_TEST(any_small_number_of_contacts_works);
}

const test_group tangle_tower_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
