// What is installed: programs outside the tree, in plain C17 and in C++, against the headers, the
// library and the pkg-config file as meson installs them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/program.h"
#include "tests/support/support.h"

// Where it is installed, with the prefix.
static char place[600];
static char printed[OUTPUT_CAPACITY];

// Runs the command with sh; the exit code, and both streams in `printed`. In it $PLACE is the
// folder where things are installed, $LIBS what pkg-config says of stickslip.
static int shell(const char *command)
{
    static const char *const LIBS =
        "LIBS=$(PKG_CONFIG_PATH=$PLACE/$LIBDIR/pkgconfig pkg-config "
        "--define-variable=prefix=$PLACE "
        "--cflags --libs stickslip) || exit 9; LIBS=\"$LIBS -Wl,-rpath,$PLACE/$LIBDIR\"; ";
    char all[4000], out[600];
    snprintf(out, sizeof out, "%s", scratch_path("printed"));
    snprintf(all, sizeof all, "{ PLACE='%s'; %s %s\n} >'%s' 2>&1", place, place[0] ? LIBS : "",
             command, out);
    const int status = system(all);
    size_t count;
    char *text = read_bytes(out, &count);
    snprintf(printed, sizeof printed, "%s", text);
    free(text);
    return status;
}

static void runs(const char *command)
{
    const int status = shell(command);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, status, printed);
}

static void set_up(void)
{
    if (place[0] == '\0') {
        char command[1400], folder[600];
        snprintf(folder, sizeof folder, "%s", scratch_path("installed"));
        snprintf(command, sizeof command,
                 "meson install -C \"$BUILD\" --no-rebuild --quiet --tags runtime,devel "
                 "--destdir '%s'",
                 folder);
        runs(command);
        snprintf(place, sizeof place, "%s%s", folder, getenv("PREFIX"));
    }
}

// u = r + b with b = (-1, 2, 0), mu = 1/2: r_N = 1 stops the normal velocity, r_T = -mu r_N slides.
static void says_the_answer(void)
{
    HOLDS(printed, "converged: r = (1, -0.5, 0) N s, fb = ");
    HOLDS(printed, ", solved\n");
    TEST_ASSERT_EQUAL_INT(1, count_lines(printed));
}

static void the_program_is_plain_c17(void)
{
    runs("$CC_COMMAND $SANITIZE -std=c17 -pedantic -Wall -Wextra -Werror -o $PLACE/in_c "
         "$SOURCE/doc/program.c $LIBS && $PLACE/in_c");
    says_the_answer();
}

static void the_program_is_cplusplus_too(void)
{
    if (getenv("CXX_COMMAND") == NULL) {
        TEST_IGNORE_MESSAGE("there is no C++ compiler of the make of the C compiler");
    }
    runs("$CXX_COMMAND $SANITIZE -std=c++17 -pedantic -Wall -Wextra -Werror -o $PLACE/in_cxx "
         "-x c++ $SOURCE/doc/program.c -x none $LIBS && $PLACE/in_cxx");
    says_the_answer();
}

static void a_program_may_have_a_local_solver_of_its_own(void)
{
    const char *tangle = scratch_path("tangle.h5");
    EXPECT(0, "generate", "tangle", "--contacts", "30", "--per-rod", "4", "--mu", "0.3", "--out",
           tangle);
    char command[1200];
    snprintf(command, sizeof command,
             "$CC_COMMAND $SANITIZE -std=c17 -pedantic -Wall -Wextra -Werror "
             "-Wno-missing-field-initializers -o $PLACE/own $SOURCE/tests/public/own_solver.c "
             "$LIBS -lm && $PLACE/own '%s'",
             tangle);
    runs(command);
    TEST_ASSERT_EQUAL_STRING("converged by mine\n", printed);
}

static void what_is_exported_is_declared_in_an_installed_header(void)
{
    if (shell("test -f $PLACE/$LIBDIR/libstickslip.so") != 0) {
        TEST_IGNORE_MESSAGE("the library is static alone");
    }
    runs("nm -D --defined-only $PLACE/$LIBDIR/libstickslip.so | sed -n 's/.* [A-Z] "
         "\\([a-z]\\)/\\1/p' "
         ">$PLACE/names; wc -l <$PLACE/names");
    CHECK(atoi(printed) > 50);
    runs("while read -r name; do grep -rqw \"$name\" $PLACE/include || echo \"$name\"; done "
         "<$PLACE/names");
    TEST_ASSERT_EQUAL_STRING("", printed);
}

static void the_installed_headers_are_those_that_stickslip_h_includes(void)
{
    runs("find $PLACE/include -name '*.h' | sort >$PLACE/there; "
         "$CC_COMMAND -std=c17 -M $PLACE/include/stickslip/stickslip.h -I$PLACE/include/stickslip "
         "| tr ' ' '\\n' | grep \"^$PLACE\" | sort >$PLACE/included; "
         "diff $PLACE/there $PLACE/included && wc -l <$PLACE/there");
    CHECK(atoi(printed) > 10);
}

static void run_tests(void)
{
    RUN_TEST(the_program_is_plain_c17);
    RUN_TEST(the_program_is_cplusplus_too);
    RUN_TEST(a_program_may_have_a_local_solver_of_its_own);
    RUN_TEST(what_is_exported_is_declared_in_an_installed_header);
    RUN_TEST(the_installed_headers_are_those_that_stickslip_h_includes);
}

const test_group installed_tests = {.run = run_tests, .set_up = set_up};
