// Solver specs: what they mean, and the sentence for each way to get one wrong.
#include <string.h>

#include "solvers/registry.h"
#include "tests/support/support.h"

static ss_error error;

static void set_up(void)
{
    error = (ss_error){0};
}

static ss_method *parse(const char *spec)
{
    ss_method *m = NULL;
    CHECK_OK(ss_method_parse(spec, &m, &error));
    return m;
}

static void a_bare_local_name_means_gauss_seidel(void)
{
    ss_method *m = parse("mfb");
    TEST_ASSERT_EQUAL_STRING("gs", m->global->card.name);
    TEST_ASSERT_EQUAL_STRING("mfb", m->local->card.name);
    CHECK(m->failsafe == NULL);
    TEST_ASSERT_EQUAL_STRING("mfb", m->name);
    ss_method_free(m);
}

static void is_explained(const ss_card *card)
{
    TEST_ASSERT_NOT_NULL_MESSAGE(card->about, card->name);
    TEST_ASSERT_EQUAL_CHAR_MESSAGE('.', card->about[strlen(card->about) - 1], card->name);
    for (const ss_key *key = card->keys; key != NULL && key->name != NULL; key++) {
        char value[80];
        TEST_ASSERT_NOT_NULL_MESSAGE(key->about, key->name);
        // The default is a value that the key takes.
        ss_key_value(key, card->defaults, value, sizeof value);
        char settings[512];
        CHECK(card->settings_size <= sizeof settings);
        memcpy(settings, card->defaults, card->settings_size);
        CHECK_OK(ss_key_set(key, value, settings, &error));
        CHECK(memcmp(settings, card->defaults, card->settings_size) == 0);
    }
}

static void every_solver_and_option_is_explained(void)
{
    for (int k = 0; ss_local_solvers[k] != NULL; k++) {
        is_explained(&ss_local_solvers[k]->card);
    }
    for (int k = 0; ss_global_solvers[k] != NULL; k++) {
        is_explained(&ss_global_solvers[k]->card);
    }
}

static void a_hybrid_has_a_failsafe(void)
{
    ss_method *m = parse("gs/mfb+enum:freeze=off");
    TEST_ASSERT_EQUAL_STRING("enum", m->failsafe->card.name);
    TEST_ASSERT_EQUAL_STRING("gs/mfb+enum", m->name);
    TEST_ASSERT_EQUAL_STRING("gs/mfb+enum:freeze=off", m->spec);
    ss_method_free(m);
}

static void expect_refusal(const char *spec, const char *sentence)
{
    ss_method *m = NULL;
    error = (ss_error){0};
    CHECK(ss_method_parse(spec, &m, &error) == SS_BAD_INPUT);
    CHECK(m == NULL);
    if (strstr(error.text, sentence) == NULL) {
        TEST_FAIL_MESSAGE(error.text);
    }
}

static void unknown_solvers_are_told_with_those_that_exist(void)
{
    expect_refusal("mbf", "unknown solver 'mbf'; there are");
    expect_refusal("mbf", "gs/LOCAL, ");
    expect_refusal("mbf", "mfb");
    expect_refusal("mfb+enmu", "unknown local solver 'enmu'; there are");
    expect_refusal("gauss/mfb", "unknown global solver 'gauss' before '/'; there are gs");
    expect_refusal("gs", "needs a local solver, as in gs/secular");
    // A global solver in the place of a local one is not among those that could stand there.
    expect_refusal("gs/ppa", "'ppa' is no local solver; write ppa alone");
    expect_refusal("mfb+anderson", "'anderson' is no local solver; write anderson/LOCAL");
    expect_refusal("gs/mbf", "unknown local solver 'mbf'");
    CHECK(strstr(error.text, "projection") != NULL && strstr(error.text, "ppa") == NULL);
    expect_refusal("ppa/mfb", "'ppa' takes no local solver; write ppa alone");
    expect_refusal("ppa+enum", "'ppa' takes no fail-safe; write ppa alone");
    expect_refusal("freeze=on", "'freeze=on' is an option without its solver");
}

static void no_solver_is_its_own_failsafe(void)
{
    expect_refusal("mfb+mfb", "mfb cannot be its own fail-safe; use mfb");
    expect_refusal("anderson/enum+enum:roots=gsl", "enum cannot be its own fail-safe");
}

static void marks_without_names_are_told_with_what_to_write(void)
{
    expect_refusal("", "the solver is missing; write one, such as mfb+enum");
    expect_refusal(":freeze=on", "the solver is missing");
    expect_refusal("mfb+", "'+' needs a fail-safe after it, as in mfb+enum");
    expect_refusal("+enum", "'+' needs a local solver before it, as in mfb+enum");
    expect_refusal("gs/", "'/' needs a local solver after it, as in gs/mfb");
    expect_refusal("gs/:freeze=on", "'/' needs a local solver after it");
    expect_refusal("/mfb", "'/' needs a global solver before it");
    expect_refusal("mfb+enum+pac", "only one '+' is allowed");
    expect_refusal("gs/gs/mfb", "only one '/' is allowed: write GLOBAL/LOCAL");
    expect_refusal("anderson/anderson/mfb", "only one '/' is allowed");
}

static void a_key_is_set_once(void)
{
    expect_refusal("mfb:steps=1,steps=2", "steps is set twice in 'mfb:steps=1,steps=2'; leave one");
    expect_refusal("mfb+enum:steps=1,mfb.steps=1", "steps is set twice");
    expect_refusal("mfb:freeze=on,freeze=off", "freeze is set twice");
    // One for each of the two solvers that have it.
    ss_method_free(parse("mfb+pac:steps=1,pac.steps=2"));
}

static void options_that_do_nothing_are_refused(void)
{
    expect_refusal("mfb:skip=3",
                   "skip does nothing in 'mfb' without freeze=on, paper or absolute; leave it out");
    expect_refusal("mfb:share=0.1,freeze=off", "share does nothing in 'mfb' without freeze=on");
    expect_refusal("gs/mfb+enum:wake=neighbour", "wake does nothing in 'gs/mfb+enum' without");
    expect_refusal("mfb:freeze=on,visit=all", "visit does nothing in 'mfb' without freeze=off");
    expect_refusal("mfb:form=matrix-free,assembly=naive",
                   "assembly does nothing in 'mfb' without form=explicit");
    expect_refusal("mfb:step=1e-3",
                   "step does nothing in 'mfb' without stop=step or a local solver of another law");
    expect_refusal("4sides+enum:step=1e-3", "step does nothing in '4sides+enum' without");
    expect_refusal("4sides:focus=on",
                   "focus does nothing in '4sides' without a local solver of Coul");
    expect_refusal("mfb:gs.visit=all,freeze=on", "visit does nothing in 'mfb' without freeze=off");
    expect_refusal("mfb:freeze=absolute", "freeze does nothing in 'mfb' without rho=KG");
    expect_refusal("mfb:freeze=absolute,rho=1e-5,share=0.1", "share does nothing in 'mfb' without");
    expect_refusal("mfb:as=printed,rho=0", "rho does nothing in 'mfb' without a value above 0");
    expect_refusal("mfb:stop=squared", "stop does nothing in 'mfb' without rho=KG");
    expect_refusal("mfb:tol=1e-6", "tol does nothing in 'mfb' without stop=squared");
    expect_refusal("4sides:stop=squared",
                   "stop does nothing in '4sides' without a local solver of");
    expect_refusal("mfb:stop=step,focus=on", "focus does nothing in 'mfb' without stop=fb");
    expect_refusal("projection:ltol=1e-3", "ltol does nothing in 'projection' without a local");
    expect_refusal("anderson/projection:ltol=1e-3", "ltol does nothing");
    static const char *const fine[] = {
        "mfb:skip=3,freeze=on",      "mfb:freeze=paper,share=0.1,wake=neighbour",
        "4sides:step=1e-3",          "mfb:visit=all",
        "mfb:assembly=naive",        "anderson/mfb:visit=all",
        "projection+enum:ltol=1e-3",
    };
    for (size_t k = 0; k < sizeof fine / sizeof fine[0]; k++) {
        ss_method_free(parse(fine[k]));
    }
}

static void printed_stands_for_options_that_others_stand_over(void)
{
    ss_method *all = parse("duriez08+mfb:as=printed");
    ss_method *each = parse("duriez08+mfb:rho=8e-6,ltol=1e-7,stop=squared,tol=1e-6,freeze=absolute,"
                            "eps=1e-5,skip=10,passes=40,from=sticking");
    CHECK(ss_method_same(all, each));
    ss_method *over = parse("mfb:steps=7,as=printed,skip=3"),
              *same = parse("mfb:as=printed,steps=7,skip=3");
    CHECK(ss_method_same(over, same));
    ss_method_free(all);
    ss_method_free(each);
    ss_method_free(over);
    ss_method_free(same);
    expect_refusal("mfb:as=written", "as takes printed, not 'written'");
    expect_refusal("anderson/mfb:as=printed", "as=printed applies to gs/LOCAL only");
    expect_refusal("mfb:as=printed,as=printed", "'mfb' has no option 'as'");
    expect_refusal("mfb:as=printed,frezee=on", "'mfb' has no option 'frezee'");
}

static void unknown_options_are_told_with_those_that_exist(void)
{
    expect_refusal("mfb:frezee=on",
                   "'mfb' has no option 'frezee'; it has form, order, visit, ltol");
    expect_refusal("mfb:freeze", "'freeze' is not key=value");
    expect_refusal("mfb:freeze=", "'freeze=' is not key=value");
    expect_refusal("mfb:", "'mfb:' has an empty option");
    expect_refusal("mfb:=on", "'=on' is not key=value");
    expect_refusal("mfb:freeze=on,", "'mfb:freeze=on,' has an empty option");
    expect_refusal("mfb+enum:pac.steps=3", "has no option 'pac.steps'");
}

static void wrong_values_are_told_with_what_is_taken(void)
{
    expect_refusal("mfb:freeze=maybe", "freeze takes one of off, on, paper, absolute, not 'maybe'");
    expect_refusal("mfb:order=random", "random:SEED");
    expect_refusal("mfb:order=random:", "order takes one of");
    expect_refusal("mfb:order=random:-1", "order takes one of");
    expect_refusal("mfb:order=random:3x", "order takes one of");
    expect_refusal("mfb:order=random:99999999999999999999999", "order takes one of");
    expect_refusal("mfb:skip=0", "skip takes a whole number from 1 to");
    expect_refusal("mfb:skip=2.5", "skip takes a whole number");
    expect_refusal("mfb:steps=0x10", "steps takes a whole number from");
    expect_refusal("mfb:skip=1e1", "skip takes a whole number");
    expect_refusal("mfb:share=0x.8p0", "share takes a number from 0 to 1");
    expect_refusal("mfb:skip=nan", "skip takes a whole number");
    expect_refusal("mfb:share=1e", "share takes a number from 0 to 1, not '1e'");
    expect_refusal("mfb:share=2", "share takes a number from 0 to 1, not '2'");
}

static void an_endless_spec_is_refused(void)
{
    char spec[1000];
    memset(spec, 'a', sizeof spec);
    spec[sizeof spec - 1] = '\0';
    expect_refusal(spec, "at most");
}

static void options_reach_the_solver_that_is_named(void)
{
    ss_method *a = parse("pac+dac:steps=7");
    ss_method *b = parse("pac+dac");
    const size_t size = a->local->card.settings_size;
    CHECK(memcmp(a->local_settings, b->local_settings, size) != 0);
    CHECK(memcmp(a->failsafe_settings, b->failsafe_settings, size) == 0);
    ss_method_free(a);
    ss_method_free(b);
}

// Whether this build has Siconos or not, its names are one name with a slash.
static void the_names_of_siconos_hold_a_slash(void)
{
    if (ss_global_find("siconos/prox") == NULL) {
        expect_refusal("siconos/prox", "siconos/prox: this program was built without Siconos "
                                       "(Debian: libsiconos-numerics-dev)");
        expect_refusal("siconos/nobody:x=1", "siconos/nobody: this program was built without");
        return;
    }
    ss_method *m = parse("siconos/prox");
    CHECK(m->global == ss_global_find("siconos/prox") && m->local == NULL);
    TEST_ASSERT_EQUAL_STRING("siconos/prox", m->name);
    ss_method_free(m);
    expect_refusal("siconos/nobody", "unknown solver 'siconos/nobody'; there are");
    expect_refusal("siconos/nobody", "siconos/nsgs-hybrid");
    expect_refusal("siconos/prox+enum", "'siconos/prox' takes no fail-safe");
    expect_refusal("siconos/prox:x=1", "'siconos/prox' has no option 'x'; it has none");
    expect_refusal("gs/siconos/prox", "'siconos/prox' is no local solver; write siconos/prox al");
    expect_refusal("siconos", "unknown solver 'siconos'");
}

static void every_registered_name_is_well_formed_and_found(void)
{
    for (int k = 0; ss_local_solvers[k] != NULL; k++) {
        const char *name = ss_local_solvers[k]->card.name;
        CHECK(strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name));
        CHECK(name[0] != '-' && name[0] != '\0');
        CHECK(ss_local_find(name) == ss_local_solvers[k]);
        ss_method_free(parse(name));
    }
    CHECK(ss_local_find("nobody") == NULL && ss_global_find("nobody") == NULL);
}

static void every_outcome_has_a_word_of_its_own(void)
{
    for (int k = SS_UNSOLVED; k <= SS_CRASHED; k++) {
        const char *word = ss_outcome_name((ss_outcome)k);
        TEST_ASSERT_NOT_NULL(word);
        for (int j = SS_UNSOLVED; j < k; j++) {
            CHECK(strcmp(word, ss_outcome_name((ss_outcome)j)) != 0);
        }
    }
    TEST_ASSERT_EQUAL_STRING("max_iter", ss_outcome_name(SS_MAX_ITER));
    TEST_ASSERT_EQUAL_STRING("crashed", ss_outcome_name(SS_CRASHED));
    TEST_ASSERT_EQUAL_STRING("unknown", ss_outcome_name((ss_outcome)(SS_CRASHED + 1)));
}

static void run_tests(void)
{
    RUN_TEST(a_bare_local_name_means_gauss_seidel);
    RUN_TEST(every_solver_and_option_is_explained);
    RUN_TEST(a_hybrid_has_a_failsafe);
    RUN_TEST(no_solver_is_its_own_failsafe);
    RUN_TEST(marks_without_names_are_told_with_what_to_write);
    RUN_TEST(a_key_is_set_once);
    RUN_TEST(unknown_solvers_are_told_with_those_that_exist);
    RUN_TEST(options_that_do_nothing_are_refused);
    RUN_TEST(printed_stands_for_options_that_others_stand_over);
    RUN_TEST(unknown_options_are_told_with_those_that_exist);
    RUN_TEST(wrong_values_are_told_with_what_is_taken);
    RUN_TEST(an_endless_spec_is_refused);
    RUN_TEST(options_reach_the_solver_that_is_named);
    RUN_TEST(the_names_of_siconos_hold_a_slash);
    RUN_TEST(every_registered_name_is_well_formed_and_found);
    RUN_TEST(every_outcome_has_a_word_of_its_own);
}

const test_group method_tests = {.run = run_tests, .set_up = set_up};
