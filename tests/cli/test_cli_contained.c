// `solve` and `simulate` with solvers that behave as badly as solvers can. The program is this one
// itself, told so by TEST_AS, with these solvers beside those of the registry: the linker sends
// ss_method_parse through here. scripts/attack runs it too:
//     TEST_AS=cli_contained HOSTILE_CALLS=100 test_cli simulate pony --solver segfault
// They answer as secular does, except for contacts whose mu is above 0.9 or, with HOSTILE_CALLS, from
// that call on.
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness/cli.h"
#include "problems/store/store.h"
#include "tests/support/program.h"
#include "tests/support/solving.h"

ss_status __real_ss_method_parse(const char *spec, ss_method **method, ss_error *e);
ss_status __wrap_ss_method_parse(const char *spec, ss_method **method, ss_error *e);

// ---- The solvers

static void segfault(void)
{
    raise(SIGSEGV);
}

static void leave(void)
{
    exit(0);
}

static void spin(void)
{
    static volatile bool ever;
    while (!ever) {
    }
}

static void rest(void)
{
    for (;;) {
        sleep(1000);
    }
}

static bool has_come(const ss_local *p)
{
    static long calls;
    const char *wanted = getenv("HOSTILE_CALLS");
    return p->mu > 0.9 || (wanted != NULL && ++calls >= atol(wanted));
}

static ss_local_info answer(const ss_local *p, const ss_local_goal *goal, double r[3])
{
    const ss_local_solver *good = ss_local_find("secular");
    return good->solve(p, goal, good->card.defaults, r);
}

#define HOSTILE(behave)                                                                            \
    static ss_local_info behave##_solve(const ss_local *p, const ss_local_goal *goal,              \
                                        const void *settings, double r[3])                         \
    {                                                                                              \
        (void)settings;                                                                            \
        if (has_come(p)) {                                                                         \
            behave();                                                                              \
        }                                                                                          \
        return answer(p, goal, r);                                                                 \
    }                                                                                              \
    static const ss_local_solver behave##_entry = {.card = {.name = #behave, .law = SS_EXACT},     \
                                                   .solve = behave##_solve};

HOSTILE(segfault)
HOSTILE(abort)
HOSTILE(leave)
HOSTILE(spin)
HOSTILE(rest)

// A spec [GLOBAL/]NAME[+FAILSAFE] of one of them is parsed with `secular` in its place.
ss_status __wrap_ss_method_parse(const char *spec, ss_method **method, ss_error *e)
{
    static const ss_local_solver *const ALL[] = {&segfault_entry, &abort_entry, &leave_entry,
                                                 &spin_entry, &rest_entry};
    const char *program = getenv("TEST_AS");
    if (program == NULL || strcmp(program, "cli_contained") != 0) {
        return __real_ss_method_parse(spec, method, e);
    }
    const char *slash = strchr(spec, '/');
    const char *name = slash != NULL ? slash + 1 : spec;
    const size_t length = strcspn(name, "+:");
    for (size_t k = 0; k < sizeof ALL / sizeof ALL[0]; k++) {
        if (strlen(ALL[k]->card.name) == length && memcmp(ALL[k]->card.name, name, length) == 0) {
            char standing_in[200];
            snprintf(standing_in, sizeof standing_in, "%.*ssecular%s", (int)(name - spec), spec,
                     name + length);
            const ss_status status = __real_ss_method_parse(standing_in, method, e);
            if (status == SS_OK) {
                (*method)->local = ALL[k];
                strcpy((*method)->spec, spec);
                strcpy((*method)->name, spec);
            }
            return status;
        }
    }
    return __real_ss_method_parse(spec, method, e);
}

static int be_the_program(char **argv)
{
    int argc = 0;
    while (argv[argc] != NULL) {
        argc++;
    }
    return ss_main(argc, argv);
}

// ---- The tests

static char *program_before;
static char file[512]; // problems a, b, c; b is the one that is not answered

static void write_problems(void)
{
    ss_error error;
    ss_writer *writer;
    CHECK_OK(ss_writer_open(file, &writer, &error));
    for (int k = 0; k < 3; k++) {
        const char name[2] = {(char)('a' + k), '\0'};
        ss_problem *p = full_rank_tangle(3, 20, 4 + (uint64_t)k);
        for (int i = 0; i < p->ncontacts; i++) {
            p->mu[i] = k == 1 ? 0.95 : 0.3;
        }
        CHECK_OK(ss_writer_add(writer, name, p, &error));
        ss_problem_free(p);
    }
    CHECK_OK(ss_writer_commit(writer, &error));
    ss_writer_close(writer);
}

static void set_up(void)
{
    program_before = strdup(getenv("STICKSLIP"));
    setenv("STICKSLIP", "/proc/self/exe", 1);
    setenv("TEST_AS", "cli_contained", 1);
    snprintf(file, sizeof file, "%s", scratch_path("contained.h5"));
    if (access(file, F_OK) != 0) {
        write_problems();
    }
}

static void tear_down(void)
{
    setenv("STICKSLIP", program_before, 1);
    unsetenv("TEST_AS");
    unsetenv("HOSTILE_CALLS");
    free(program_before);
}

static void status_is(int row, const char *expected)
{
    TEST_ASSERT_EQUAL_STRING(expected, csv_field(standard_out, row, "status"));
}

static void only_b_is(const char *status)
{
    TEST_ASSERT_EQUAL_INT(4, count_lines(standard_out));
    status_is(1, "solved");
    status_is(2, status);
    status_is(3, "solved");
}

static void says(const char *subject, const char *what)
{
    char line[1000];
    snprintf(line, sizeof line, "stickslip %s: %s\n", subject, what);
    TEST_ASSERT_EQUAL_STRING(line, standard_error);
}

static void solve_says(const char *what)
{
    char subject[600];
    snprintf(subject, sizeof subject, "solve: %s:b", file);
    says(subject, what);
}

static void a_crash_is_a_row_and_the_others_are_solved(void)
{
    EXPECT(4, "solve", file, "--solver", "segfault", "--format", "csv");
    only_b_is("crashed");
    solve_says("segfault died by signal 11 (Segmentation fault)");
    HOLDS(csv_field(standard_out, 2, "detail"), "segfault died by signal 11 (Segmentation fault)");
    EXPECT(4, "solve", file, "--solver", "abort", "--format", "csv");
    solve_says("abort died by signal 6 (Aborted)");
}

static void an_exit_is_no_success(void)
{
    EXPECT(4, "solve", file, "--solver", "leave", "--format", "csv");
    only_b_is("crashed");
    solve_says("leave left its process with exit code 0");
}

static void what_was_solved_is_stored(void)
{
    char out[512];
    snprintf(out, sizeof out, "%s", scratch_path("out.h5"));
    EXPECT(4, "solve", file, "--solver", "segfault", "--out", out);
    EXPECT(2, "verify", out, "--format", "csv");
    TEST_ASSERT_EQUAL_INT(4, count_lines(standard_out));
    CHECK_LE(csv_number(standard_out, 1, "fb"), 1e-6);
    CHECK_LE(csv_number(standard_out, 3, "fb"), 1e-6);
}

// Each takes 2 s more than twice or three times the limit.
static void one_that_ignores_the_time_limit_is_killed(void)
{
    static const char *const SOLVERS[] = {"spin", "rest"};
    for (int k = 0; k < 2; k++) {
        char what[100];
        EXPECT(2, "solve", file, "--solver", SOLVERS[k], "--time-limit", "0.2", "--format", "csv");
        only_b_is("time_limit");
        snprintf(what, sizeof what, "%s did not keep the time limit of 0.2 s and was killed",
                 SOLVERS[k]);
        solve_says(what);
    }
}

static int end_by(pid_t child, int signal_number)
{
    int status = 0;
    kill(child, signal_number);
    CHECK(waitpid(child, &status, 0) == child);
    TEST_ASSERT_TRUE(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void one_that_ignores_an_interrupt_is_killed(void)
{
    char out[512], err[512];
    snprintf(out, sizeof out, "%s", scratch_path("solve.out"));
    snprintf(err, sizeof err, "%s", scratch_path("solve.err"));
    const char *const words[] = {"stickslip", "solve", file,       "--problem", "b",
                                 "--solver",  "rest",  "--format", "csv",       NULL};
    const pid_t child = start_program(out, err, words);
    nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
    TEST_ASSERT_EQUAL_INT(2, end_by(child, SIGINT));
    HOLDS(file_text(err), "rest ignored the interrupt and was killed");
    TEST_ASSERT_EQUAL_STRING("interrupted", csv_field(file_text(out), 1, "status"));
}

static void a_trace_has_every_iterate(void)
{
    char trace[512];
    snprintf(trace, sizeof trace, "%s", scratch_path("trace.csv"));
    EXPECT(0, "solve", file, "--problem", "a", "--solver", "segfault", "--trace", trace, "--format",
           "csv");
    const int iterations = (int)csv_number(standard_out, 1, "iterations");
    const char *text = file_text(trace);
    TEST_ASSERT_EQUAL_INT(iterations + 2, count_lines(text)); // the header and the start
    for (int k = 0; k <= iterations; k++) {
        CHECK(csv_number(text, k + 1, "iteration") == k);
    }
    CHECK_NEAR(csv_number(text, iterations + 1, "fb"), csv_number(standard_out, 1, "fb"), 0.0);
}

// ---- simulate

static char stats[512], dump[512], strands[512];

// `solver` behaves well for `calls` calls, which bring the run into its steps with contacts.
static void simulate(int code, const char *solver, const char *calls, const char *limit)
{
    snprintf(stats, sizeof stats, "%s", scratch_path("contained.csv"));
    snprintf(dump, sizeof dump, "%s", scratch_path("contained-dump.h5"));
    snprintf(strands, sizeof strands, "%s", scratch_path("contained-strands.h5"));
    unlink(dump);
    setenv("HOSTILE_CALLS", calls, 1);
    unlink(strands);
    EXPECT(code, "simulate", "pony", "--rods", "10", "--steps", "40", "--solver", solver,
           "--strands", strands, "--time-limit", limit, "--stats", stats, "--dump", dump,
           "--format", "csv");
    unsetenv("HOSTILE_CALLS");
}

static void the_steps_before_a_crash_are_kept(void)
{
    simulate(4, "segfault", "2000", "0");
    const int steps = (int)csv_number(standard_out, 1, "steps");
    CHECK(steps > 0 && steps < 40);
    status_is(1, "crashed");
    TEST_ASSERT_EQUAL_INT(steps + 1, count_lines(file_text(stats)));
    CHECK(csv_number(file_text(stats), steps, "step") == steps);
    char what[200];
    snprintf(what, sizeof what, "pony: after step %d of 40: segfault died by signal 11 ", steps);
    HOLDS(standard_error, what);
    HOLDS(standard_error, "problems were written before that\n");
    HOLDS(standard_error, "contained-strands.h5 is not written\n");
    CHECK(access(strands, F_OK) != 0);
    EXPECT(0, "check", dump);
    EXPECT(0, "table", stats, "--kind", "simulation");
}

static void an_exit_is_no_end_of_a_simulation(void)
{
    simulate(4, "leave", "500", "0");
    status_is(1, "crashed");
    HOLDS(standard_error, ": leave left its process with exit code 0\n");
}

static void a_step_that_ignores_the_time_limit_is_killed(void)
{
    simulate(4, "rest", "500", "0.01");
    status_is(1, "failed");
    HOLDS(standard_error, ": rest did not keep the time limit of 0.01 s and was killed\n");
}

static void simulations_without_hostile_calls_are_those_of_the_program(void)
{
    simulate(0, "segfault", "1000000000", "0");
    status_is(1, "done");
    const double fb = csv_number(standard_out, 1, "max_fb");
    unsetenv("TEST_AS");
    setenv("STICKSLIP", program_before, 1);
    EXPECT(0, "simulate", "pony", "--rods", "10", "--steps", "40", "--solver", "secular",
           "--format", "csv");
    CHECK_NEAR(csv_number(standard_out, 1, "max_fb"), fb, 0.0);
}

// timeout(1) does so.
static void a_group_that_is_terminated_ends_in_order(void)
{
    char out[512], err[512];
    snprintf(out, sizeof out, "%s", scratch_path("simulate.out"));
    snprintf(err, sizeof err, "%s", scratch_path("simulate.err"));
    const char *const words[] = {"stickslip", "simulate", "pony", "--rods",
                                 "10",        "--stats",  stats,  NULL};
    snprintf(stats, sizeof stats, "%s", scratch_path("terminated.csv"));
    const pid_t guard = fork();
    if (guard == 0) {
        setpgid(0, 0);
        const pid_t child = start_program(out, err, words);
        wait_for_bytes(stats);
        signal(SIGTERM, SIG_IGN);
        kill(0, SIGTERM);
        int status = 0;
        waitpid(child, &status, 0);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
    }
    int status = 0;
    waitpid(guard, &status, 0);
    TEST_ASSERT_TRUE(WIFEXITED(status));
    TEST_ASSERT_EQUAL_INT(2, WEXITSTATUS(status));
    HOLDS(file_text(err), "pony: interrupted after step ");
    HOLDS(file_text(out), "interrupted");
}

// Interrupts a run of these words that has begun; its exit code is 2.
static const char *interrupted(const char *const *words)
{
    char out[512], err[512];
    snprintf(out, sizeof out, "%s", scratch_path("simulate.out"));
    snprintf(err, sizeof err, "%s", scratch_path("simulate.err"));
    const pid_t child = start_program(out, err, words);
    nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
    TEST_ASSERT_EQUAL_INT(2, end_by(child, SIGINT));
    return file_text(err);
}

static void a_scene_is_not_built_to_its_end_after_an_interrupt(void)
{
    static const char *const WORDS[] = {"stickslip", "simulate", "hairball", "--rods",
                                        "200000",    "--steps",  "1",        NULL};
    HOLDS(interrupted(WORDS), "hairball: interrupted before the first step\n");
}

static void a_step_that_ignores_an_interrupt_is_not_taken(void)
{
    snprintf(stats, sizeof stats, "%s", scratch_path("ignored.csv"));
    const char *const words[] = {"stickslip", "simulate", "pony", "--rods",  "10", "--solver",
                                 "rest",      "--stats",  stats,  "--steps", "40", NULL};
    setenv("HOSTILE_CALLS", "500", 1);
    HOLDS(interrupted(words), "pony: interrupted after step ");
    unsetenv("HOSTILE_CALLS");
    const int rows = count_lines(file_text(stats)) - 1;
    CHECK(rows >= 0 && rows < 40);
}

static void a_scene_larger_than_the_memory_is_refused(void)
{
    if ((double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE) > 100e9) {
        TEST_IGNORE_MESSAGE("this machine has the memory");
    }
    const char *sanitize = getenv("SANITIZE");
    if (sanitize != NULL && sanitize[0] != '\0') {
        TEST_IGNORE_MESSAGE("the sanitizers' malloc does not say how much it has given");
    }
    EXPECT(1, "simulate", "hairball-curly", "--rods", "1000000");
    HOLDS(standard_error, "hairball-curly: 1000000 rods of ");
    HOLDS(standard_error, "use fewer than ");
}

static void run_tests(void)
{
    RUN_TEST(a_scene_is_not_built_to_its_end_after_an_interrupt);
    RUN_TEST(a_step_that_ignores_an_interrupt_is_not_taken);
    RUN_TEST(a_scene_larger_than_the_memory_is_refused);
    RUN_TEST(a_crash_is_a_row_and_the_others_are_solved);
    RUN_TEST(an_exit_is_no_success);
    RUN_TEST(what_was_solved_is_stored);
    RUN_TEST(one_that_ignores_the_time_limit_is_killed);
    RUN_TEST(one_that_ignores_an_interrupt_is_killed);
    RUN_TEST(a_trace_has_every_iterate);
    RUN_TEST(the_steps_before_a_crash_are_kept);
    RUN_TEST(an_exit_is_no_end_of_a_simulation);
    RUN_TEST(a_step_that_ignores_the_time_limit_is_killed);
    RUN_TEST(simulations_without_hostile_calls_are_those_of_the_program);
    RUN_TEST(a_group_that_is_terminated_ends_in_order);
}

const test_group cli_contained_tests = {
    .run = run_tests, .set_up = set_up, .tear_down = tear_down, .as_program = be_the_program};
