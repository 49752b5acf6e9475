// A table of fields says of a struct what its members say.
#include "base/field.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "problems/coulomb.h"
#include "tests/support/support.h"

typedef struct inner {
    double x;
    int n;
} inner;

typedef struct outer {
    char name[8];
    inner first, second;
    long large;
    const char *link;
    uint64_t seed;
} outer;

enum { ODD = 1, EVEN = 2 };

static const ss_field INNER[] = {
    SS_FIELD(inner, x, SS_FIELD_REAL, .unit = "m", .groups = ODD),
    SS_FIELD_AS("count", inner, n, SS_FIELD_INTEGER, .unit = "1", .groups = EVEN | ODD),
    {.name = NULL},
};
static const ss_field OUTER[] = {
    SS_FIELD(outer, name, SS_FIELD_TEXT, .unit = NULL),
    SS_FIELD(outer, first, SS_FIELD_PART, .part = INNER),
    SS_FIELD(outer, large, SS_FIELD_INTEGER, .unit = "1"),
    SS_FIELD(outer, second, SS_FIELD_PART, .part = INNER, .groups = EVEN),
    SS_FIELD(outer, link, SS_FIELD_LINK, .unit = NULL),
    SS_FIELD(outer, seed, SS_FIELD_SEED, .unit = NULL),
    {.name = NULL},
};

static void a_walk_replaces_parts_by_the_fields_of_the_groups_that_are_meant(void)
{
    static const char *const names[] = {"name", "x", "count", "large", "count", "link", "seed"};
    static const size_t offsets[] = {offsetof(outer, name),     offsetof(outer, first.x),
                                     offsetof(outer, first.n),  offsetof(outer, large),
                                     offsetof(outer, second.n), offsetof(outer, link),
                                     offsetof(outer, seed)};
    size_t k = 0;
    ss_field field;
    for (ss_fields walk = ss_fields_of(OUTER); ss_fields_next(&walk, &field); k++) {
        CHECK(k < 7);
        TEST_ASSERT_EQUAL_STRING(names[k], field.name);
        TEST_ASSERT_EQUAL_UINT64(offsets[k], field.offset);
    }
    TEST_ASSERT_EQUAL_UINT64(7, k);
}

static ss_field find(const char *name)
{
    ss_field field;
    for (ss_fields walk = ss_fields_of(OUTER); ss_fields_next(&walk, &field);) {
        if (strcmp(field.name, name) == 0) {
            return field;
        }
    }
    TEST_FAIL_MESSAGE(name);
    return field;
}

static void values_are_those_of_the_members(void)
{
    const outer o = {"seven", {7.5, 3}, {0.0, 0}, 1L << 40, "far", 9};
    const ss_field name = find("name"), x = find("x"), count = find("count"), large = find("large"),
                   link = find("link");
    TEST_ASSERT_EQUAL_STRING("seven", ss_field_text(&name, &o));
    TEST_ASSERT_EQUAL_STRING("far", ss_field_text(&link, &o));
    CHECK(ss_field_number(&x, &o) == 7.5 && ss_field_number(&count, &o) == 3.0);
    CHECK(ss_field_integer(&count, &o) == 3 && ss_field_integer(&large, &o) == 1LL << 40);
}

static void what_is_set_is_there_and_nothing_beside_it(void)
{
    outer o = {"abcdefg", {1.0, 1}, {2.0, 2}, 3, NULL, 4};
    const ss_field name = find("name"), x = find("x"), count = find("count"), large = find("large");
    ss_field_set(&x, &o, 8.5);
    ss_field_set(&count, &o, 9.0);
    ss_field_set(&large, &o, NAN);
    ss_field_set_text(&name, &o, "longer than eight");
    TEST_ASSERT_EQUAL_STRING("longer ", o.name);
    CHECK(o.first.x == 8.5 && o.first.n == 9 && o.large == -1);
    CHECK(o.second.x == 2.0 && o.second.n == 2 && o.link == NULL && o.seed == 4);
    CHECK(isnan(ss_field_number(&large, &o)));
}

static void of_a_blank_struct_nothing_is_known(void)
{
    outer o = {"abcdefg", {1.0, 1}, {2.0, 2}, 3, "b", 4};
    ss_fields_blank(OUTER, &o);
    CHECK(o.name[0] == '\0' && isnan(o.first.x) && o.first.n == -1 && o.large == -1);
    CHECK(o.second.n == -1 && o.link == NULL && o.seed == 0);
    CHECK(o.second.x == 2.0); // of a group that the table does not mean
}

// The struct is doubles and one int: their sizes say how many there are.
static void every_measure_is_in_the_table(void)
{
    size_t bytes = 0;
    ss_field field;
    for (ss_fields walk = ss_fields_of(ss_measure_fields); ss_fields_next(&walk, &field);) {
        bytes += field.width;
        CHECK(field.unit != NULL);
    }
    const size_t padding = sizeof(ss_measures) - offsetof(ss_measures, worst_contact) - sizeof(int);
    TEST_ASSERT_EQUAL_UINT64(sizeof(ss_measures), bytes + padding);
}

static void run_tests(void)
{
    RUN_TEST(a_walk_replaces_parts_by_the_fields_of_the_groups_that_are_meant);
    RUN_TEST(values_are_those_of_the_members);
    RUN_TEST(what_is_set_is_there_and_nothing_beside_it);
    RUN_TEST(of_a_blank_struct_nothing_is_known);
    RUN_TEST(every_measure_is_in_the_table);
}

const test_group field_tests = {.run = run_tests};
