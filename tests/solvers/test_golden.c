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
    {"4sides", {"d730850e7a7b7750", "a021d267c906b75a", "95ad34c84c04d7d4", "a6403e0b85804fb7"}},
    {"duriez06", {"6a4e1575893eca62", "796947dbf4ba4aae", "abaf4f6b4c27f0ad", "8743fecbfa9540b0"}},
    {"duriez06-sofa",
     {"6b29707feaf4ba6b", "c7b1b43335a18f25", "66604f0574220615", "dda54e17a796005e"}},
    {"duriez08", {"8e2e1781467708dd", "c26d231ae9dd7e0b", "3117ff4d44e8b6b2", "ed4b9cda69296ae9"}},
    {"pac", {"5846578d1f9f8705", "03377e82046b9ca5", "a360d0aa521106ab", "9ec1f37256dd1a97"}},
    {"dac", {"bcc28f8bab40c04e", "ba0387c3ed8bb8ae", "8d585e56383af4f0", "0513e7b1d2a25b5d"}},
    {"mfb", {"623835b40365f9f2", "67d7d3fc2279c0a2", "75158b95b58b6efa", "71c77454727da9dc"}},
    {"enum", {"080b2f4b4c5967a4", "f0907fc4c00d53ed", "261cbdf48802721f", "c1a9a4016ecb558a"}},
    {"secular", {"ec4635b1a95938f7", "b230da8eca10018c", "a0b145d033e2dce3", "81f19972fb289b97"}},
    {"projection",
     {"61a6c5e75815498d", "7b4ac328427e9a0f", "e97091cfea0705de", "002d1e2d9b00a52d"}},
    {"mfb+enum", {"623835b40365f9f2", "67d7d3fc2279c0a2", "75158b95b58b6efa", "71c77454727da9dc"}},
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
    ss_sha256_init(&hash);
    ss_sha256_update(&hash, a.r, components(p) * sizeof *a.r);
    ss_sha256_hex(&hash, 8, hex);
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
