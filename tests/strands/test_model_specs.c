// tests/strands/test_model_specs.c -- specs of strand models, designs that none can be, and materials.
#include "strands/model.h"

#include <math.h>
#include <string.h>

#include "tests/support/one_strand.h"
#include "tests/support/support.h"

static ss_error error;
static ss_random g;

static void set_up(void)
{
    error = (ss_error){0};
    g = ss_random_seeded(17);
}

// ---- Specs and designs

static void check_refused(const char *spec, const char *word)
{
    ss_model_choice choice;
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_model_parse(spec, &choice, &error));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, word), error.text);
    CHECK(choice.model == NULL && choice.settings == NULL);
}

static void a_wrong_spec_is_refused_with_a_sentence(void)
{
    check_refused("straw", "unknown strand model 'straw'; there are super-helix");
    check_refused("", "unknown strand model ''");
    check_refused("super-helix:length=2", "no option 'length'; it has elements=1..32");
    check_refused("super-helix:elements", "'elements' of strand model");
    check_refused("super-helix:", "'super-helix:' has an empty option");
    check_refused("super-helix:elements=3,", "has an empty option; write key=value after each");
    check_refused("super-helix:elements=", "is not key=value");
    check_refused("super-helix:elements=3,root=free,elements=3", "elements is set twice in ");
    check_refused("super-helix:elements=33", "elements takes a whole number from 1 to 32");
    check_refused("super-helix:elements=5,root=held", "root takes one of design, clamped, free");
    char lengthy[200];
    memset(lengthy, 'x', sizeof lengthy - 1);
    lengthy[sizeof lengthy - 1] = '\0';
    check_refused(lengthy, "at most 159 characters");
}

static void a_spec_is_kept_as_given(void)
{
    ss_model_choice choice;
    CHECK_OK(ss_model_parse("super-helix:elements=8,root=free", &choice, &error));
    TEST_ASSERT_EQUAL_STRING("super-helix:elements=8,root=free", choice.spec);
    TEST_ASSERT_EQUAL_STRING("super-helix", choice.model->name);
    ss_model_choice_free(&choice);
    ss_model_choice_free(&choice);
    CHECK(choice.model == NULL);
}

typedef void spoil(ss_strand_design *design);

static void no_length(ss_strand_design *d)
{
    d->length = 0.0;
}

static void no_segments(ss_strand_design *d)
{
    d->nsegments = 0;
}

static void negative_pieces(ss_strand_design *d)
{
    d->npieces = -1;
}

static void no_style(ss_strand_design *d)
{
    d->style = NULL;
}

static void unfinished_style(ss_strand_design *d)
{
    static const double style[2][3] = {{0.0, 1.0, 2.0}, {0.0, NAN, 0.0}};
    d->style = style;
    d->npieces = 2;
}

static void nan_radius(ss_strand_design *d)
{
    d->material.radius = NAN;
}

static void odd_poisson(ss_strand_design *d)
{
    d->material.poisson = 0.6;
}

static void negative_relaxation(ss_strand_design *d)
{
    d->material.relaxation = -1.0;
}

static void check_spoilt(spoil *change, const char *word)
{
    for (int k = 0; ss_strand_models[k] != NULL; k++) {
        ss_strand_design design = random_design(&g, 7, 30.0);
        change(&design);
        ss_model_choice choice;
        void *rod;
        CHECK_OK(ss_model_parse(ss_strand_models[k]->name, &choice, &error));
        TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT,
                              choice.model->make(&design, choice.settings, &rod, &error));
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(error.text, word), error.text);
        CHECK(rod == NULL);
        choice.model->free(rod);
        ss_model_choice_free(&choice);
    }
}

static void tiny_length(ss_strand_design *d)
{
    d->length = 1e-170;
}

static void tiny_radius(ss_strand_design *d)
{
    d->material.radius = 1e-300;
}

static void huge_radius(ss_strand_design *d)
{
    d->material.radius = 1e160;
}

static void a_wrong_design_is_refused_by_every_model(void)
{
    check_spoilt(no_length, "length must be from 1e-50 m to 1e+50 m, not 0 m");
    check_spoilt(tiny_length, "length must be from 1e-50 m to 1e+50 m, not 1e-170 m");
    check_spoilt(tiny_radius, "radius 1e-300 m has the mass per length 0 kg/m, which must be from");
    check_spoilt(huge_radius, "has the mass per length inf kg/m, which must be from");
    check_spoilt(no_segments, "1 to 16384 segments, not 0");
    check_spoilt(negative_pieces, "pieces");
    check_spoilt(no_style, "pieces");
    check_spoilt(unfinished_style, "not finite");
    check_spoilt(nan_radius, "radius nan");
    check_spoilt(odd_poisson, "Poisson number");
    check_spoilt(negative_relaxation, "relaxation");
}

static void hair_has_the_rigidities_of_the_handbook(void)
{
    const ss_material hair = ss_material_hair();
    const ss_rigidity r = ss_material_rigidity(&hair);
    CHECK_NEAR(r.bend1, 1.9144e-8, 1e-12);
    CHECK_NEAR(r.bend2, r.bend1, 1e-22);
    CHECK_NEAR(r.twist, 1.2935e-8, 1e-12);
    CHECK_NEAR(r.stretch, 30.63, 0.01);
    CHECK_NEAR(r.line_density, 1.0367e-5, 1e-9);
    CHECK_NEAR(r.spin_inertia, 1320.0 * 2.0 * r.bend1 / 3.9e9, 1e-25);
}

static void weight_and_stiffness_of_hair_are_those_of_the_handbook(void)
{
    const ss_material hair = ss_material_hair();
    CHECK_NEAR(ss_material_gamma(&hair, 0.1, 9.81), 5.31, 5e-3);
    CHECK_NEAR(ss_material_gamma(&hair, 0.3, 9.81), 143.0, 0.5);
    CHECK_NEAR(ss_material_frequency(&hair, 0.1), 2.405, 5e-4);
    CHECK_NEAR(ss_material_frequency(&hair, 0.01), 240.5, 5e-2);
}

static void a_flat_section_bends_easily_about_its_long_axis(void)
{
    ss_material flat = ss_material_hair();
    flat.ellipticity = 4.0; // a1 = 2 r, a2 = r / 2
    const ss_rigidity r = ss_material_rigidity(&flat);
    const double r4 = 50e-6 * 50e-6 * 50e-6 * 50e-6, pi = 3.14159265358979323846;
    CHECK_NEAR(r.bend1, 3.9e9 * pi * r4 / 16.0, 1e-20);
    CHECK_NEAR(r.bend2, 3.9e9 * pi * r4, 1e-20);
    CHECK_NEAR(r.twist, 3.9e9 / 2.96 * pi * r4 / 4.25, 1e-20);
}

static void run_tests(void)
{
    RUN_TEST(a_wrong_spec_is_refused_with_a_sentence);
    RUN_TEST(a_spec_is_kept_as_given);
    RUN_TEST(a_wrong_design_is_refused_by_every_model);
    RUN_TEST(hair_has_the_rigidities_of_the_handbook);
    RUN_TEST(weight_and_stiffness_of_hair_are_those_of_the_handbook);
    RUN_TEST(a_flat_section_bends_easily_about_its_long_axis);
}

const test_group model_specs_tests = {.run = run_tests, .set_up = set_up};
