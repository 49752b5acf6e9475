// tests/problems/test_twofold.c -- sums of products of two doubles against integers of 128 bits.
#include "problems/matrix/long_products.h"

#include "base/random.h"
#include "tests/support/support.h"

__extension__ typedef __int128 integer;

static ss_random g;

static void set_up(void)
{
    g = ss_random_seeded(11);
}

// A whole number below 2^bits, of either sign.
static double whole_number(int bits)
{
    const double size = floor(ss_random_uniform(&g) * ldexp(1.0, bits));
    return ss_random_uniform(&g) < 0.5 ? -size : size;
}

static integer value_of(ss_twofold x)
{
    return (integer)x.high + (integer)x.low;
}

static void a_product_and_its_error_are_exact(void)
{
    for (int trial = 0; trial < 100000; trial++) {
        const double a = whole_number(53), b = whole_number(53), p = a * b;
        CHECK((integer)p + (integer)ss_product_error(a, b, p) == (integer)a * (integer)b);
    }
    CHECK(ss_product_error(3.0, 5.0, 15.0) == 0.0);
    const double third = 1.0 / 3.0; // 1/3 - 2^-54/3
    CHECK(ss_product_error(third, 3.0, third * 3.0) == -0x1p-54);
}

// Products of 90 bits, a sum of 95.
static void a_sum_of_products_is_exact_while_its_bits_suffice(void)
{
    for (int trial = 0; trial < 1000; trial++) {
        ss_twofold sum = {0.0, 0.0};
        integer exact = 0;
        for (int k = 0; k < 30; k++) {
            const double a = whole_number(45), b = whole_number(45);
            ss_twofold_add_product(&sum, a, b);
            exact += (integer)a * (integer)b;
        }
        CHECK(value_of(sum) == exact);
        CHECK(ss_twofold_rounded(sum) == (double)exact);
    }
}

// A sum whose terms cancel: 1 of 2^100 stays.
static void what_terms_leave_when_they_cancel_is_kept(void)
{
    ss_twofold sum = {1.0, 0.0};
    ss_twofold_add_product(&sum, 0x1p50, 0x1p50);
    ss_twofold_add(&sum, -0x1p100);
    CHECK(ss_twofold_rounded(sum) == 1.0);
    ss_twofold_add(&sum, -1.0);
    CHECK(ss_twofold_rounded(sum) == 0.0);
}

static void both_parts_of_a_factor_count(void)
{
    const ss_twofold b = {0x1p60, 3.0};
    ss_twofold sum = {0.0, 0.0};
    ss_twofold_add_twofold(&sum, 5.0, b);
    ss_twofold_add_product(&sum, -5.0, 0x1p60);
    CHECK(ss_twofold_rounded(sum) == 15.0);
}

// Numbers of 100 bits, whose high part is the nearest double.
static ss_twofold any_number(void)
{
    const double high = ldexp(whole_number(52) + 1.0, -52);
    return ss_twofold_sum((ss_twofold){high, 0.0},
                          (ss_twofold){ldexp(whole_number(47), -100), 0.0});
}

static double apart(ss_twofold a, ss_twofold b)
{
    const ss_twofold d = ss_twofold_sum(a, (ss_twofold){-b.high, -b.low});
    return fabs(d.high + d.low);
}

static void sums_products_quotients_and_roots_keep_102_bits(void)
{
    for (int trial = 0; trial < 100000; trial++) {
        const ss_twofold a = any_number(), b = any_number(), ab = ss_twofold_product(a, b);
        const double size = fabs(ab.high);
        CHECK_LE(apart(ss_twofold_sum(ss_twofold_sum(a, b), (ss_twofold){-b.high, -b.low}), a),
                 0x1p-100);
        CHECK_LE(apart(ss_twofold_product(b, a), ab), 0.0);
        if (fabs(b.high) > 0x1p-20 && fabs(a.high) > 0x1p-20) {
            CHECK_LE(apart(ss_twofold_quotient(ab, b), a), 0x1p-101 * fabs(a.high));
            const ss_twofold root = ss_twofold_root(ss_twofold_product(a, a));
            CHECK_LE(apart(root, a.high > 0.0 ? a : (ss_twofold){-a.high, -a.low}),
                     0x1p-101 * fabs(a.high));
        }
        CHECK_LE(fabs(ab.low), 0x1p-53 * size);
        // (1 + a)(1 - a) = 1 - a^2
        const ss_twofold one = {1.0, 0.0}, plus = ss_twofold_sum(one, a);
        const ss_twofold minus = ss_twofold_sum(one, (ss_twofold){-a.high, -a.low});
        const ss_twofold square = ss_twofold_product(a, a);
        CHECK_LE(apart(ss_twofold_sum(ss_twofold_product(plus, minus), square), one), 0x1p-99);
    }
    CHECK(ss_twofold_root((ss_twofold){0.0, 0.0}).high == 0.0);
}

static void run_tests(void)
{
    RUN_TEST(sums_products_quotients_and_roots_keep_102_bits);
    RUN_TEST(a_product_and_its_error_are_exact);
    RUN_TEST(a_sum_of_products_is_exact_while_its_bits_suffice);
    RUN_TEST(what_terms_leave_when_they_cancel_is_kept);
    RUN_TEST(both_parts_of_a_factor_count);
}

const test_group twofold_tests = {.run = run_tests, .set_up = set_up};
