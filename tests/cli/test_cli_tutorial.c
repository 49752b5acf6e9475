// The commands of the tutorial, run from the first to the last in an empty folder.
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/program.h"
#include "tests/support/support.h"

static const char SCRIPT[] =
    "mkdir -p \"$PLACE\" && cd \"$PLACE\" && PATH=$(dirname \"$STICKSLIP\"):$PATH && "
    "awk '/^```sh$/ { code = 1; next } /^```/ { code = 0 } code' \"$TUTORIAL\" "
    ">commands && { command -v gnuplot >/dev/null || sed -i '/^stickslip plot/d' commands; } && "
    "sh -e commands >said 2>&1 || { cat said; exit 1; }";

static void the_tutorial_runs_to_its_end(void)
{
    char place[600], tutorial[600];
    size_t size;
    snprintf(place, sizeof place, "%s", scratch_path("tutorial"));
    setenv("PLACE", place, 1);
    snprintf(tutorial, sizeof tutorial, "%s/../doc/tutorial.md", getenv("SCRIPTS"));
    setenv("TUTORIAL", tutorial, 1);
    TEST_ASSERT_EQUAL_INT(0, system(SCRIPT));
    snprintf(place, sizeof place, "%s", scratch_path("tutorial/said"));
    char *said = read_bytes(place, &size);
    HOLDS(said, "answer.h5       300  mfb+enum  1e-6  solved");
    HOLDS(said, "ppa: global solver");
    HOLDS(said, "5 rows made, 0 were there already");
    HOLDS(said, "\n20000   20000      0         0 ");
    free(said);
}

static void run_tests(void)
{
    RUN_TEST(the_tutorial_runs_to_its_end);
}

const test_group cli_tutorial_tests = {.run = run_tests};
