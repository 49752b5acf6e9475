// Golden bits: sha256 over r after 30 sweeps of a fixed tangle, for every local solver, both forms
// of W and two orders of the visits. They are the same for every compiler, optimisation and
// processor: a change here is a change of some algorithm, and has to be meant. To renew the table:
// `TEST_AS=golden build/tests/test_solvers` prints it.
#include <stdio.h>

#include "base/sha256.h"
#include "tests/support/solving.h"

#define SWEEPS 30

enum { ROUTES = 4 };

static const char *const OPTIONS[ROUTES] = {
    "form=explicit,order=natural", "form=matrix-free,order=natural", "form=explicit,order=stripes",
    "form=matrix-free,order=stripes"};

// One line a local solver; the hashes' first 16 digits, in the order of OPTIONS.
typedef struct golden {
    const char *local;
    const char *hash[ROUTES];
} golden;

static const golden TABLE[] = {
    {"4sides", {"d730850e7a7b7750", "ef7bef9fb354c85c", "95ad34c84c04d7d4", "0afd945ff6935000"}},
    {"duriez06", {"6a4e1575893eca62", "9dea7a6e101f2b46", "abaf4f6b4c27f0ad", "2bfc4c9e9ef6729a"}},
    {"duriez06-sofa",
     {"6b29707feaf4ba6b", "644b9f3b9a3eae48", "66604f0574220615", "ad4661b5cea6f5b3"}},
    {"duriez08", {"8e2e1781467708dd", "b1ebaf05d010ef58", "3117ff4d44e8b6b2", "5e539d411b5cd390"}},
    {"pac", {"5846578d1f9f8705", "fd90306361adf939", "a360d0aa521106ab", "3676b357539dfbca"}},
    {"dac", {"bcc28f8bab40c04e", "0f789e6698e2679f", "8d585e56383af4f0", "4fa32af053fd73d4"}},
    {"mfb", {"623835b40365f9f2", "6a820bbf0e2d4b53", "75158b95b58b6efa", "a6f1cc282d248e7c"}},
    {"enum", {"080b2f4b4c5967a4", "a29165c0c413212b", "261cbdf48802721f", "3e49bc06f1bea52b"}},
    {"secular", {"dd2eeede4bbfef57", "7213f0492b58d2cb", "c5a9a358af3f0e0c", "25d5f20c8360bf08"}},
    {"projection",
     {"61a6c5e75815498d", "a31f6dac574a6a30", "e97091cfea0705de", "c27a07bdb1019271"}},
    {"mfb+enum", {"623835b40365f9f2", "6a820bbf0e2d4b53", "75158b95b58b6efa", "a6f1cc282d248e7c"}},
};

static ss_problem *p;

static void set_up(void)
{
    p = tangle(3, 200, 1);
}

static void tear_down(void)
{
    ss_problem_free(p);
}

static void hash_route(const char *local, int route, char hex[17])
{
    char spec[128];
    snprintf(spec, sizeof spec, "%s:%s", local, OPTIONS[route]);
    solved a = run(p, spec, 1e-300, SWEEPS);
    ss_sha256 hash;
    uint8_t digest[SS_SHA256_BYTES];
    ss_sha256_init(&hash);
    ss_sha256_update(&hash, a.r, components(p) * sizeof *a.r);
    ss_sha256_final(&hash, digest);
    for (int k = 0; k < 8; k++) {
        snprintf(hex + 2 * k, 3, "%02x", digest[k]);
    }
    free_solved(&a);
}

static void the_bits_are_those_recorded(void)
{
    char report[2000] = "";
    for (size_t k = 0; k < sizeof TABLE / sizeof TABLE[0]; k++) {
        for (int route = 0; route < ROUTES; route++) {
            char hex[17];
            hash_route(TABLE[k].local, route, hex);
            const size_t used = strlen(report);
            if (strcmp(hex, TABLE[k].hash[route]) != 0) {
                snprintf(report + used, sizeof report - used, "%s:%s is %s; ", TABLE[k].local,
                         OPTIONS[route], hex);
            }
        }
    }
    if (report[0] != '\0') {
        TEST_FAIL_MESSAGE(report);
    }
}

static void every_local_solver_is_recorded(void)
{
    for (int k = 0; ss_local_solvers[k] != NULL; k++) {
        bool found = false;
        for (size_t j = 0; j < sizeof TABLE / sizeof TABLE[0]; j++) {
            found = found || strcmp(TABLE[j].local, ss_local_solvers[k]->card.name) == 0;
        }
        TEST_ASSERT_TRUE_MESSAGE(found, ss_local_solvers[k]->card.name);
    }
}

static void print_row(const char *local)
{
    printf("{\"%s\", {", local);
    for (int route = 0; route < ROUTES; route++) {
        char hex[17];
        hash_route(local, route, hex);
        printf("%s\"%s\"", route > 0 ? ", " : "", hex);
    }
    printf("}},\n");
}

static int print_table(char **argv)
{
    (void)argv;
    set_up();
    for (int k = 0; ss_local_solvers[k] != NULL; k++) {
        print_row(ss_local_solvers[k]->card.name);
    }
    print_row("mfb+enum");
    tear_down();
    return 0;
}

static void run_tests(void)
{
    RUN_TEST(the_bits_are_those_recorded);
    RUN_TEST(every_local_solver_is_recorded);
}

const test_group golden_tests = {
    .run = run_tests, .set_up = set_up, .tear_down = tear_down, .as_program = print_table};
