// The command line of a verb: what is taken, and the sentence where it is not.
#include "tests/support/support.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/cli.h"

static const char *const COLOURS[] = {"red", "green", "blue", NULL};

typedef struct settings {
    bool loud;
    const char *out;
    int contacts;
    uint64_t seed;
    double mu;
    int colour;
    double span[2];
} settings;

static const ss_option OPTIONS[] = {
    SS_OPT_FLAG("loud", loud, "noise"),
    SS_OPT_PATH("out", "FILE", out, "where to"),
    SS_OPT_INT("contacts", "N", contacts, 1, 1000000, "contacts"),
    SS_OPT_SEED("seed", "S", seed, "seed"),
    SS_OPT_REAL("mu", "M", mu, 0, 10, "friction"),
    SS_OPT_CHOICE("colour", "C", colour, COLOURS, "paint"),
    SS_OPT_RANGE("span", "A:B", span, -1, 10, "from here to there"),
    {.name = NULL},
};

static const ss_verb PAINT = {
    .name = "paint",
    .summary = "Paints.",
    .operands = "FILE",
    .max_operands = 2,
    .needs = "a FILE",
    .options = OPTIONS,
    .settings_size = sizeof(settings),
    .example = "  stickslip paint x\n",
};

typedef struct outcome {
    bool parsed;
    int exit_code;
    settings s;
    ss_operands operands;
    char said[1200]; // on stderr
} outcome;

static char *arguments[16];

// Runs the parser with stderr sent to a file. The words end with NULL.
static outcome parse(const ss_verb *verb, const char *const *words)
{
    outcome o = {.s = {.colour = 1, .mu = 0.3, .contacts = 7, .span = {1.0, 2.0}}};
    int argc = 0;
    static char copies[16][80];
    snprintf(copies[0], sizeof copies[0], "%s", verb->name);
    arguments[argc++] = copies[0];
    for (; words[argc - 1] != NULL; argc++) {
        snprintf(copies[argc], sizeof copies[argc], "%s", words[argc - 1]);
        arguments[argc] = copies[argc];
    }
    FILE *file = tmpfile();
    fflush(stderr);
    const int saved = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    o.parsed = ss_options_parse(verb, &o.s, argc, arguments, &o.operands, &o.exit_code);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    o.said[fread(o.said, 1, sizeof o.said - 1, file)] = '\0';
    fclose(file);
    return o;
}

#define PARSE(...) parse(&PAINT, (const char *const[]){__VA_ARGS__, NULL})

#define CHECK_SAYS(outcome_, sentence)                                                             \
    do {                                                                                           \
        const outcome said_ = (outcome_);                                                          \
        CHECK(!said_.parsed);                                                                      \
        TEST_ASSERT_EQUAL_INT(1, said_.exit_code);                                                 \
        TEST_ASSERT_EQUAL_STRING("stickslip paint: " sentence "\n", said_.said);                   \
    } while (0)

static void every_kind_is_set_in_both_spellings(void)
{
    const outcome apart = PARSE("--loud", "--out", "f.h5", "--contacts", "12", "--seed",
                                "18446744073709551615", "--mu", "2.5e-1", "--colour", "blue");
    CHECK(apart.parsed);
    CHECK(apart.s.loud);
    TEST_ASSERT_EQUAL_STRING("f.h5", apart.s.out);
    TEST_ASSERT_EQUAL_INT(12, apart.s.contacts);
    CHECK(apart.s.seed == UINT64_MAX);
    CHECK(apart.s.mu == 0.25);
    TEST_ASSERT_EQUAL_INT(2, apart.s.colour);

    const outcome joined =
        PARSE("--out=a=b", "--contacts=1000000", "--seed=0", "--mu=10", "--colour=red");
    CHECK(joined.parsed);
    TEST_ASSERT_EQUAL_STRING("a=b", joined.s.out);
    TEST_ASSERT_EQUAL_INT(1000000, joined.s.contacts);
    CHECK(joined.s.mu == 10.0);
    TEST_ASSERT_EQUAL_INT(0, joined.s.colour);
}

static void what_is_not_given_keeps_its_default(void)
{
    const outcome o = PARSE("--loud");
    CHECK(o.parsed);
    TEST_ASSERT_EQUAL_INT(7, o.s.contacts);
    CHECK(o.s.mu == 0.3);
    TEST_ASSERT_EQUAL_INT(1, o.s.colour);
    CHECK(o.s.out == NULL);
}

static void the_last_of_a_repeated_option_counts(void)
{
    TEST_ASSERT_EQUAL_INT(3, PARSE("--contacts", "2", "--contacts=3").s.contacts);
}

static void operands_and_options_may_be_mixed(void)
{
    const outcome o = PARSE("a", "--loud", "b");
    CHECK(o.parsed);
    TEST_ASSERT_EQUAL_INT(2, o.operands.count);
    TEST_ASSERT_EQUAL_STRING("a", o.operands.text[0]);
    TEST_ASSERT_EQUAL_STRING("b", o.operands.text[1]);
}

static void two_dashes_end_the_options(void)
{
    const outcome o = PARSE("--loud", "--", "--out", "-");
    CHECK(o.parsed);
    TEST_ASSERT_EQUAL_INT(2, o.operands.count);
    TEST_ASSERT_EQUAL_STRING("--out", o.operands.text[0]);
    TEST_ASSERT_EQUAL_STRING("-", o.operands.text[1]);
}

static void a_bad_whole_number_is_named_with_its_range(void)
{
    CHECK_SAYS(PARSE("--contacts", "-5"),
               "--contacts takes a whole number from 1 to 1000000, not '-5'");
    static const char *const bad[] = {"0",   "1000001", "12x", "1e3", " 3",
                                      "3 ",  "",        "0x5", "nan", "99999999999999999999",
                                      "+-3", "1.0"};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        const outcome o = PARSE("--contacts", bad[k]);
        TEST_ASSERT_FALSE_MESSAGE(o.parsed, bad[k]);
        TEST_ASSERT_EQUAL_INT(7, o.s.contacts);
    }
}

static void a_bad_number_is_named_with_its_range(void)
{
    CHECK_SAYS(PARSE("--mu=nan"), "--mu takes a number from 0 to 10, not 'nan'");
    static const char *const bad[] = {"inf", "-0.1", "10.5", "1e999", "0x1p2", "1..2", "1e-400",
                                      "",    " 1",   "1 ",   "e",     "1e",    "1,5"};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        const outcome o = PARSE("--mu", bad[k]);
        TEST_ASSERT_FALSE_MESSAGE(o.parsed, bad[k]);
        CHECK(o.s.mu == 0.3);
    }
}

static void a_range_is_two_numbers_in_order(void)
{
    const outcome o = PARSE("--span", "-1:2.5");
    CHECK(o.parsed);
    CHECK(o.s.span[0] == -1.0 && o.s.span[1] == 2.5);
    CHECK(PARSE("--span=3:3").parsed);
    CHECK_SAYS(PARSE("--span", "2:1"),
               "--span takes A:B, two numbers from -1 to 10, ascending, not '2:1'");
    static const char *const bad[] = {"1", ":", "1:", ":1", "1:2:3", "-2:1", "1:11", "nan:1", ""};
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        const outcome refused = PARSE("--span", bad[k]);
        TEST_ASSERT_FALSE_MESSAGE(refused.parsed, bad[k]);
        CHECK(refused.s.span[0] == 1.0 && refused.s.span[1] == 2.0);
    }
}

static void a_negative_zero_is_zero(void)
{
    const outcome o = PARSE("--mu=-0");
    CHECK(o.parsed && o.s.mu == 0.0 && !signbit(o.s.mu));
}

static void a_blank_candidate_is_not_suggested(void)
{
    ss_suggestion nearest = {.word = "x"};
    ss_suggestion_offer(&nearest, "");
    ss_suggestion_offer(&nearest, " ");
    CHECK(nearest.best == NULL);
    ss_suggestion_offer(&nearest, "y");
    TEST_ASSERT_EQUAL_STRING("y", nearest.best);
}

static void a_bad_seed_is_named_with_its_range(void)
{
    CHECK_SAYS(PARSE("--seed", "18446744073709551616"),
               "--seed takes a whole number from 0 to 18446744073709551615, "
               "not '18446744073709551616'");
    CHECK(!PARSE("--seed=-1").parsed);
    CHECK(!PARSE("--seed=1.5").parsed);
}

static void a_bad_choice_is_named_with_the_choices(void)
{
    CHECK_SAYS(PARSE("--colour", "pink"), "--colour takes red, green or blue, not 'pink'");
}

static void a_missing_value_says_what_is_taken(void)
{
    CHECK_SAYS(PARSE("--contacts"), "--contacts needs a value: a whole number from 1 to 1000000");
    CHECK_SAYS(PARSE("--out", "--loud"), "--out needs a value: FILE");
    CHECK_SAYS(PARSE("--out="), "--out takes FILE, not ''");
    CHECK_SAYS(PARSE("--out", "-"), "--out takes FILE, not '-'");
}

static void a_flag_takes_no_value(void)
{
    CHECK_SAYS(PARSE("--loud=3"), "--loud takes no value, not '3'");
}

static void an_unknown_option_gets_the_nearest_name(void)
{
    CHECK_SAYS(PARSE("--conatcts", "3"), "unknown option '--conatcts'; did you mean '--contacts'?");
    CHECK_SAYS(PARSE("--colr=red"), "unknown option '--colr=red'; did you mean '--colour'?");
    CHECK_SAYS(PARSE("--hlep"), "unknown option '--hlep'; did you mean '--help'?");
    CHECK_SAYS(PARSE("--zzzzzzzz"),
               "unknown option '--zzzzzzzz'; 'stickslip paint --help' lists the options");
    CHECK_SAYS(PARSE("-q"), "unknown option '-q'; 'stickslip paint --help' lists the options");
}

static void help_is_asked_before_anything_is_read(void)
{
    const outcome o = PARSE("--contacts", "3", "--zzzzzzzz", "--help");
    CHECK(!o.parsed);
    TEST_ASSERT_EQUAL_INT(0, o.exit_code);
    TEST_ASSERT_EQUAL_INT(7, o.s.contacts); // the default that the help prints
    CHECK(PARSE("--", "--help").parsed);
}

static void too_many_operands_name_the_first_that_is(void)
{
    CHECK_SAYS(PARSE("a", "b", "c"), "takes only FILE, and 'c' is one too many");
    ss_verb none = PAINT;
    none.max_operands = 0;
    CHECK_SAYS(parse(&none, (const char *const[]){"a", NULL}),
               "takes no operand, and 'a' is one too many");
}

static void missing_operands_are_named(void)
{
    ss_verb one = PAINT;
    one.min_operands = 1;
    CHECK_SAYS(parse(&one, (const char *const[]){"--loud", NULL}), "needs a FILE");
}

static void a_missing_required_option_is_named(void)
{
    ss_option options[sizeof OPTIONS / sizeof OPTIONS[0]];
    memcpy(options, OPTIONS, sizeof OPTIONS);
    options[2].required = true;
    ss_verb command = PAINT;
    command.options = options;
    CHECK_SAYS(parse(&command, (const char *const[]){"--loud", NULL}), "needs --contacts N");
    CHECK(parse(&command, (const char *const[]){"--contacts", "3", NULL}).parsed);
}

static void a_suggestion_counts_swapped_letters_once(void)
{
    ss_suggestion s = {.word = "inspcet"};
    ss_suggestion_offer(&s, "check");
    CHECK(s.best == NULL);
    ss_suggestion_offer(&s, "inspect");
    TEST_ASSERT_EQUAL_STRING("inspect", s.best);
    TEST_ASSERT_EQUAL_INT(1, s.distance);
    TEST_ASSERT_EQUAL_STRING("; did you mean 'inspect'?", ss_suggestion_hint(&s, "", "").text);
}

static void a_suggestion_takes_the_nearest(void)
{
    ss_suggestion s = {.word = "formt"};
    ss_suggestion_offer(&s, "form");
    ss_suggestion_offer(&s, "format");
    TEST_ASSERT_EQUAL_INT(1, s.distance);
    ss_suggestion begun = {.word = "gen"};
    ss_suggestion_offer(&begun, "generate");
    TEST_ASSERT_EQUAL_STRING("generate", begun.best);
    ss_suggestion none = {.word = "xyz"};
    ss_suggestion_offer(&none, "inspect");
    TEST_ASSERT_EQUAL_STRING("; see it", ss_suggestion_hint(&none, "--", "; see it").text);
    TEST_ASSERT_EQUAL_STRING("; did you mean '--generate'?",
                             ss_suggestion_hint(&begun, "--", "").text);
}

static void a_suggestion_survives_a_word_of_any_length(void)
{
    char word[4000];
    memset(word, 'a', sizeof word);
    word[sizeof word - 1] = '\0';
    ss_suggestion s = {.word = word};
    ss_suggestion_offer(&s, "inspect");
    CHECK(s.best == NULL);
    ss_suggestion empty = {.word = ""};
    ss_suggestion_offer(&empty, word);
    ss_suggestion_offer(&empty, "inspect");
    CHECK(empty.best == NULL);
}

static void run_tests(void)
{
    RUN_TEST(every_kind_is_set_in_both_spellings);
    RUN_TEST(what_is_not_given_keeps_its_default);
    RUN_TEST(the_last_of_a_repeated_option_counts);
    RUN_TEST(operands_and_options_may_be_mixed);
    RUN_TEST(two_dashes_end_the_options);
    RUN_TEST(a_bad_whole_number_is_named_with_its_range);
    RUN_TEST(a_bad_number_is_named_with_its_range);
    RUN_TEST(a_range_is_two_numbers_in_order);
    RUN_TEST(a_negative_zero_is_zero);
    RUN_TEST(a_blank_candidate_is_not_suggested);
    RUN_TEST(a_bad_seed_is_named_with_its_range);
    RUN_TEST(a_bad_choice_is_named_with_the_choices);
    RUN_TEST(a_missing_value_says_what_is_taken);
    RUN_TEST(a_flag_takes_no_value);
    RUN_TEST(an_unknown_option_gets_the_nearest_name);
    RUN_TEST(help_is_asked_before_anything_is_read);
    RUN_TEST(too_many_operands_name_the_first_that_is);
    RUN_TEST(missing_operands_are_named);
    RUN_TEST(a_missing_required_option_is_named);
    RUN_TEST(a_suggestion_counts_swapped_letters_once);
    RUN_TEST(a_suggestion_takes_the_nearest);
    RUN_TEST(a_suggestion_survives_a_word_of_any_length);
}

const test_group options_tests = {.run = run_tests};
