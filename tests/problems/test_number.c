// Numbers are decimals and the whole text, in a range.
#include "base/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/support.h"

static void decimals_in_the_range_are_taken(void)
{
    double x = 0.0;
    CHECK(ss_number_real("1e-6", 0.0, 1.0, &x) && x == 1e-6);
    CHECK(ss_number_real("+.5", 0.0, 1.0, &x) && x == 0.5);
    CHECK(ss_number_real("0.1E1", 0.0, 1.0, &x) && x == 1.0);
    CHECK(ss_number_real("-3.25", -10.0, 10.0, &x) && x == -3.25);
    CHECK(ss_number_real("-0", 0.0, 1.0, &x) && x == 0.0 && !signbit(x));
    CHECK(ss_number_real("0e-999", 0.0, 1.0, &x) && x == 0.0);
}

static void what_is_no_decimal_or_out_of_range_is_refused_and_sets_nothing(void)
{
    static const char *const bad[] = {"",      " 1",     "1 ",     "0x10", "nan", "inf",
                                      "1e",    "1e400",  "1e-400", "--1",  "1,5", "1.5.",
                                      "2.001", "-0.001", "e5",     "+",    "."};
    double x = 7.0;
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        TEST_ASSERT_FALSE_MESSAGE(ss_number_real(bad[k], 0.0, 2.0, &x), bad[k]);
    }
    CHECK(x == 7.0);
    CHECK(!ss_number_real("1e400", -HUGE_VAL, HUGE_VAL, &x));
    CHECK(!ss_number_real("1", NAN, 2.0, &x) && !ss_number_real("1", 0.0, NAN, &x));
}

static void whole_numbers_have_neither_point_nor_exponent(void)
{
    static const char *const bad[] = {"",   "1.0", "1e3", "0x10", " 5",
                                      "5-", "-",   "11",  "-1",   "99999999999999999999"};
    long n = 7;
    CHECK(ss_number_whole("10", 0, 10, &n) && n == 10);
    CHECK(ss_number_whole("+3", 0, 10, &n) && n == 3);
    CHECK(ss_number_whole("-3", -10, 10, &n) && n == -3);
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        TEST_ASSERT_FALSE_MESSAGE(ss_number_whole(bad[k], 0, 10, &n), bad[k]);
    }
    CHECK(n == -3);
}

static void a_seed_is_any_number_of_64_bits(void)
{
    uint64_t seed = 7;
    CHECK(ss_number_seed("18446744073709551615", &seed) && seed == UINT64_MAX);
    CHECK(!ss_number_seed("18446744073709551616", &seed) && !ss_number_seed("-1", &seed));
    CHECK(!ss_number_seed("", &seed) && !ss_number_seed("0x1", &seed) && seed == UINT64_MAX);
}

static void the_sentence_tells_the_range(void)
{
    char text[80];
    ss_number_describe(true, 1.0, 1000000.0, text, sizeof text);
    TEST_ASSERT_EQUAL_STRING("a whole number from 1 to 1000000", text);
    ss_number_describe(false, 0.0, 1e-3, text, sizeof text);
    TEST_ASSERT_EQUAL_STRING("a number from 0 to 0.001", text);
}

static const char *printed(double value)
{
    static char text[32];
    ss_number_print(value, text);
    return text;
}

static void a_number_is_printed_in_the_fewest_digits_that_give_it_back(void)
{
    TEST_ASSERT_EQUAL_STRING("0.1", printed(0.1));
    TEST_ASSERT_EQUAL_STRING("1e-06", printed(1e-6));
    TEST_ASSERT_EQUAL_STRING("0.30000000000000004", printed(0.1 + 0.2));
    TEST_ASSERT_EQUAL_STRING("0.3333333333333333", printed(1.0 / 3.0));
    TEST_ASSERT_EQUAL_STRING("12345678", printed(12345678.0));
    TEST_ASSERT_EQUAL_STRING("-0", printed(-0.0));
    TEST_ASSERT_EQUAL_STRING("nan", printed(-NAN));
    TEST_ASSERT_EQUAL_STRING("-inf", printed(-INFINITY));
}

static void every_double_survives_its_print(void)
{
    uint64_t bits = 1;
    for (int k = 0; k < 100000; k++) {
        bits = bits * 6364136223846793005u + 1442695040888963407u; // Knuth's generator
        double value, back;
        memcpy(&value, &bits, sizeof value);
        back = strtod(printed(value), NULL);
        CHECK(isnan(value) ? isnan(back) : memcmp(&value, &back, sizeof value) == 0);
    }
}

static void run_tests(void)
{
    RUN_TEST(a_number_is_printed_in_the_fewest_digits_that_give_it_back);
    RUN_TEST(every_double_survives_its_print);
    RUN_TEST(decimals_in_the_range_are_taken);
    RUN_TEST(what_is_no_decimal_or_out_of_range_is_refused_and_sets_nothing);
    RUN_TEST(whole_numbers_have_neither_point_nor_exponent);
    RUN_TEST(a_seed_is_any_number_of_64_bits);
    RUN_TEST(the_sentence_tells_the_range);
}

const test_group number_tests = {.run = run_tests};
