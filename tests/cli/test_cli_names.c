// Names that are commands to shells, gnuplot, terminals and browsers go through every verb, and stay names.
#include <hdf5.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "problems/store/store.h"
#include "tests/support/hdf5_files.h"
#include "tests/support/program.h"
#include "tests/support/support.h"

// Who obeys one of them makes a file PWNED in the folder where it runs; no tag of a page, and nothing that
// moves the cursor of a terminal.
static const char *const NAMES[] = {
    "x\n!touch PWNED\n#",
    "'\"; system('touch PWNED') #`touch PWNED`$(touch PWNED)\\",
    "'`touch PWNED`'\033[31m\r\302\233",
    "|touch PWNED;a,\"b\" &<b onclick=x>%s${x}@a\344_{c}",
};
enum { NNAMES = sizeof NAMES / sizeof NAMES[0] };

static char back[4000]; // where the test began

static void set_up(void)
{
    CHECK(getcwd(back, sizeof back) != NULL && chdir(scratch_path("")) == 0);
}

static void tear_down(void)
{
    CHECK(chdir(back) == 0);
}

static const char *named(const char *name, const char *ending)
{
    static char texts[4][300];
    static int next;
    char *text = texts[next++ % 4];
    snprintf(text, sizeof texts[0], "./%s%s", name, ending);
    return text;
}

static void check_harmless(const char *what)
{
    CHECK(system("test -z \"$(find . -name PWNED)\"") == 0);
    for (const char *c = standard_error; *c != '\0'; c++) {
        const unsigned char byte = (unsigned char)*c;
        TEST_ASSERT_TRUE_MESSAGE((byte >= 0x20 && byte != 0x7f) || byte == '\n', what);
    }
    TEST_ASSERT_NULL_MESSAGE(strchr(standard_error, 0x9b), what);
}

#define NAMED(code, ...)                                                                           \
    do {                                                                                           \
        EXPECT(code, __VA_ARGS__);                                                                 \
        check_harmless(#__VA_ARGS__);                                                              \
    } while (0)

// What is printed for people has no control character but the ends of lines.
static void check_tables(const char *verb, const char *file, const char *kind)
{
    static const char *const FORMATS[] = {"text", "markdown", "latex", "csv", "json"};
    for (int k = 0; k < 5; k++) {
        if (kind != NULL) {
            NAMED(0, verb, file, "--kind", kind, "--format", FORMATS[k]);
        } else {
            NAMED(0, verb, file, "--format", FORMATS[k]);
        }
        if (k < 3) {
            TEST_ASSERT_NULL(strpbrk(standard_out, "\033\r"));
            TEST_ASSERT_NULL(strchr(standard_out, 0x9b));
        }
        CHECK(k != 4 || is_json(standard_out));
    }
}

static void files_of_problems_may_have_any_name(void)
{
    for (int k = 0; k < NNAMES; k++) {
        const char *file = named(NAMES[k], ".h5");
        NAMED(0, "generate", "tangle", "--contacts", "6", "--per-rod", "3", "--out", file);
        NAMED(0, "check", file);
        check_tables("inspect", file, NULL);
        NAMED(0, "solve", file, "--trace", named(NAMES[k], ".csv"), "--out", file);
        check_tables("verify", file, NULL);
        NAMED(0, "convert", file, named(NAMES[k], ".2.h5"));
    }
}

// In a file of others: a writer of ours takes no such names. Those with control characters are refused.
static void make_collection(const char *name)
{
    hid_t file = small_local("plain.h5");
    close_file(file);
    EXPECT(0, "convert", "plain.h5", "problem.h5");
    file = small_file("named.h5");
    const hid_t from = H5Fopen("problem.h5", H5F_ACC_RDONLY, H5P_DEFAULT);
    put_group(file, "problems");
    char path[300];
    snprintf(path, sizeof path, "problems/%s", name);
    put_group(file, path);
    snprintf(path, sizeof path, "problems/%s/fclib_local", name);
    CHECK(H5Ocopy(from, "fclib_local", file, path, H5P_DEFAULT, H5P_DEFAULT) >= 0);
    snprintf(path, sizeof path, "problems/%s/fclib_local/info", name);
    if (H5Lexists(file, path, H5P_DEFAULT) <= 0) {
        put_group(file, path);
    }
    snprintf(path, sizeof path, "problems/%s/fclib_local/info/title", name);
    put_text(file, path, name);
    CHECK(H5Fclose(from) >= 0);
    close_file(file);
}

// The rows of a record say so, whoever wrote them.
static void rename_rows(const char *name)
{
    sqlite3 *db = NULL;
    sqlite3_stmt *statement = NULL;
    CHECK(sqlite3_open("runs.db", &db) == SQLITE_OK);
    CHECK(sqlite3_prepare_v2(db,
                             "update runs set problem = ?1, detail = ?1, "
                             "solver = case solver when 'mfb' then ?1 else solver end",
                             -1, &statement, NULL) == SQLITE_OK);
    CHECK(sqlite3_bind_text(statement, 1, name, -1, SQLITE_STATIC) == SQLITE_OK);
    CHECK(sqlite3_step(statement) == SQLITE_DONE);
    sqlite3_finalize(statement);
    sqlite3_close(db);
}

static void problems_solvers_and_records_may_have_any_name(void)
{
    static const char *const KINDS[] = {"solvers", "rows"};
    static const char *const FIGURES[] = {"iterations", "convergence"};
    const bool draws = system("gnuplot --version >/dev/null 2>&1") == 0;
    for (int k = 0; k < NNAMES; k++) {
        unlink("runs.db");
        make_collection(NAMES[k]);
        const int refused = RUN("check", "named.h5");
        check_harmless("check");
        CHECK(refused == (strpbrk(NAMES[k], "\n\033") != NULL ? 3 : 0));
        NAMED(0, "bench", refused == 0 ? "named.h5" : "plain.h5", "--solvers", "mfb,enum,mfb+enum",
              "--repeat", "1", "--out", "runs.db");
        rename_rows(NAMES[k]);
        for (int i = 0; i < 2; i++) {
            check_tables("table", "runs.db", KINDS[i]);
        }
        for (int i = 0; draws && i < 2; i++) {
            NAMED(0, "plot", "runs.db", "--figure", FIGURES[i], "--out", "runs.svg");
        }
        const int code = RUN("plot", "runs.db", "--figure", "convergence", "--problem", NAMES[k],
                             "--out", "runs.svg");
        check_harmless("plot --problem");
        CHECK(code == 0 || !draws);
        NAMED(0, "merge", "runs.db", "--out", named(NAMES[k], ".db"));
        NAMED(0, "report", named(NAMES[k], ".db"), "--out", named(NAMES[k], ".html"));
    }
}

static void scenes_and_runs_may_have_any_name(void)
{
    const bool draws = system("gnuplot --version >/dev/null 2>&1") == 0;
    EXPECT(0, "simulate", "pony", "--rods", "2", "--write", "scene.json");
    size_t size;
    char *scene = read_bytes("scene.json", &size);
    for (int k = 0; k < NNAMES; k++) {
        const char *file = named(NAMES[k], ".json");
        write_bytes(file, scene, size);
        NAMED(0, "simulate", file, "--steps", "3", "--stats", "run.csv", "--dump", "dump.h5",
              "--strands", "strands.h5");
        TEST_ASSERT_NULL(strchr(standard_out, '\033'));
        check_tables("table", "run.csv", "simulation");
        NAMED(0, "report", "run.csv", "strands.h5", "--out", "run.html");
        NAMED(0, "simulate", file, "--write", "again.json");
        NAMED(0, "simulate", "again.json", "--steps", "1");
        if (draws) {
            NAMED(0, "simulate", file, "--steps", "1", "--frames", named(NAMES[k], ""));
            NAMED(0, "plot", "run.csv", "run.csv", "--figure", "orbit", "--out", "run.svg");
        }
    }
    free(scene);
}

static ss_problem *first_problem(const char *file)
{
    ss_error error;
    ss_reader *reader;
    ss_problem *p;
    CHECK_OK(ss_reader_open(file, &reader, &error));
    CHECK_OK(ss_reader_load(reader, 0, &p, NULL, &error));
    ss_reader_close(reader);
    return p;
}

static void the_command_that_a_dump_names_repeats_its_run(void)
{
    EXPECT(0, "simulate", "pony", "--rods", "2", "--write", "scene.json");
    size_t size;
    char *scene = read_bytes("scene.json", &size);
    for (int k = 0; k <= NNAMES; k++) {
        char once[65], again[65], script[3000], lengthy[200];
        snprintf(lengthy, sizeof lengthy, "%0180d", 7);
        const char *file = named(k < NNAMES ? NAMES[k] : lengthy, ".json");
        write_bytes(file, scene, size);
        EXPECT(0, "simulate", file, "--steps", "3", "--dump", "once.h5", "--count", "1");
        ss_problem *p = first_problem("once.h5");
        snprintf(script, sizeof script,
                 "stickslip() { \"$STICKSLIP\" \"$@\"; }\n%s --dump again.h5 --count 1\n",
                 p->description);
        ss_problem_sha256(p, once);
        ss_problem_free(p);
        put_scratch("again.sh", script);
        CHECK(system("bash again.sh >/dev/null 2>&1") == 0);
        check_harmless("the description");
        p = first_problem("again.h5");
        ss_problem_sha256(p, again);
        ss_problem_free(p);
        TEST_ASSERT_EQUAL_STRING(once, again);
    }
    free(scene);
}

static void run_tests(void)
{
    RUN_TEST(files_of_problems_may_have_any_name);
    RUN_TEST(problems_solvers_and_records_may_have_any_name);
    RUN_TEST(scenes_and_runs_may_have_any_name);
    RUN_TEST(the_command_that_a_dump_names_repeats_its_run);
}

const test_group cli_names_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
