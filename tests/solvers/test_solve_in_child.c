// A solve in a process of its own: whatever the work does there is one outcome here, and this
// process is as it was.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "solvers/solve_in_child.h"
#include "base/clock.h"
#include "tests/support/sanitizer.h"
#include "tests/support/solving.h"

static const ss_method METHOD = {.spec = "works", .name = "works"};

static ss_problem *problem;
static double *r; // zero
static ss_result result;
static ss_error error;
static int files_before;

static int count_files(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/fd");
    CHECK(folder != NULL);
    while (readdir(folder) != NULL) {
        count++;
    }
    closedir(folder);
    return count;
}

static void set_up(void)
{
    problem = tangle(3, 12, 4);
    r = calloc(components(problem), sizeof *r);
    result = (ss_result){.own_error = NAN, .seconds = NAN, .cpu_seconds = NAN};
    error = (ss_error){0};
    files_before = count_files();
}

static void tear_down(void)
{
    free(r); // before the checks, which end the function if the test was ignored
    ss_problem_free(problem);
    TEST_ASSERT_EQUAL_INT(files_before, count_files());
    CHECK(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

static ss_task task(void)
{
    return (ss_task){.problem = problem,
                     .method = &METHOD,
                     .tolerance = 1e-6,
                     .max_iterations = 100,
                     .time_limit = 60.0,
                     .clock = SS_CLOCK_WALL};
}

static double fb_of(const double *impulses)
{
    double *u = calloc(components(problem), sizeof *u);
    const double fb = judge(problem, impulses, u).fb;
    free(u);
    return fb;
}

static void check_untouched(void)
{
    for (size_t k = 0; k < components(problem); k++) {
        CHECK(r[k] == 0.0);
    }
}

// Runs it with the limits of `limits`, and tells how long that took.
static double run_aside(ss_child_work *todo, ss_task limits)
{
    const double begin = ss_clock_now();
    CHECK_OK(ss_solve_in_child(&limits, todo, r, &result, &error));
    return ss_clock_now() - begin;
}

static solved solve_here(const ss_problem *p)
{
    return run(p, "secular", 1e-6, 100000);
}

// ---- A work that comes to its end

static void solve_well(const ss_task *given, ss_shared_solve *shared)
{
    solved a = solve_here(given->problem);
    memcpy(shared->best, a.r, shared->size * sizeof *a.r);
    shared->result = a.result;
    free_solved(&a);
}

static void its_answer_and_its_numbers_arrive(void)
{
    run_aside(solve_well, task());
    solved here = solve_here(problem);
    TEST_ASSERT_EQUAL_MEMORY(here.r, r, components(problem) * sizeof *r);
    CHECK(result.outcome == SS_CONVERGED && result.iterations == here.result.iterations);
    CHECK(result.local_solves == here.result.local_solves && result.seconds > 0.0);
    CHECK_NEAR(result.own_error, ss_measures_error(&here.facts), 0.0);
    free_solved(&here);
}

static long count_faults(void)
{
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return used.ru_minflt;
}

// Writes to each KiB of 1 MB, which it takes in 16 blocks, and counts the page faults.
static void take_memory(const ss_task *given, ss_shared_solve *shared)
{
    enum { BLOCKS = 16, SIZE = 1 << 16 };
    char *blocks[BLOCKS];
    const long before = count_faults();
    for (int k = 0; k < BLOCKS; k++) {
        blocks[k] = malloc(SIZE);
        for (int at = 0; blocks[k] != NULL && at < SIZE; at += 1024) {
            blocks[k][at] = 1;
        }
    }
    shared->result.iterations = (int)(count_faults() - before);
    for (int k = 0; k < BLOCKS; k++) {
        free(blocks[k]);
    }
    (void)given;
}

// The blocks lie in some 256 pages. Without ss_memory_ready the child would have to copy or make each of them.
static void its_first_memory_causes_few_page_faults(void)
{
    if (SS_HAS_ASAN) {
        TEST_IGNORE_MESSAGE("malloc of the sanitizer does not reuse freed blocks");
    }
    run_aside(take_memory, task());
    TEST_ASSERT_LESS_THAN(64, result.iterations);
}

static void refuse(const ss_task *given, ss_shared_solve *shared)
{
    (void)given;
    shared->status = ss_fail(&shared->error, SS_BAD_INPUT, "the velocity is no number");
}

static void its_failure_is_told_with_its_sentence(void)
{
    const ss_task limits = task();
    CHECK(ss_solve_in_child(&limits, refuse, r, &result, &error) == SS_BAD_INPUT);
    TEST_ASSERT_EQUAL_STRING("the velocity is no number", error.text);
    check_untouched();
}

static int heard[4], nheard;

static void listen(void *listener, const ss_progress *progress)
{
    (void)listener;
    CHECK(nheard < 4 && progress->r == r);
    heard[nheard++] = progress->iteration;
}

static void the_listener_hears_the_start_and_the_end(void)
{
    ss_task limits = task();
    limits.listen = listen;
    nheard = 0;
    run_aside(solve_well, limits);
    CHECK(nheard == 2 && heard[0] == 0 && heard[1] == result.iterations);
}

// ---- A work that does not

static void abort_at_once(const ss_task *given, ss_shared_solve *shared)
{
    (void)given;
    shared->result.iterations = 7;
    abort();
}

static void an_abort_is_a_crash_with_its_signal(void)
{
    run_aside(abort_at_once, task());
    CHECK(result.outcome == SS_CRASHED && result.iterations == 7);
    TEST_ASSERT_EQUAL_STRING("works died by signal 6 (Aborted)", result.why);
    CHECK(result.seconds >= 0.0 && result.cpu_seconds >= 0.0);
    check_untouched();
}

static void write_nowhere(const ss_task *given, ss_shared_solve *shared)
{
    (void)given;
    (void)shared;
    void *page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *(volatile int *)page = 1;
}

static void a_bad_address_is_a_crash_even_where_this_process_catches_it(void)
{
    void (*before)(int) = signal(SIGSEGV, SIG_IGN);
    run_aside(write_nowhere, task());
    signal(SIGSEGV, before);
    CHECK(result.outcome == SS_CRASHED);
    TEST_ASSERT_EQUAL_STRING("works died by signal 11 (Segmentation fault)", result.why);
}

static const char *left_behind; // a file that only this process' own exit may make
static pid_t this_process;

static void at_exit(void)
{
    if (left_behind != NULL && getpid() != this_process) {
        fclose(fopen(left_behind, "w"));
    }
}

static void exit_early(const ss_task *given, ss_shared_solve *shared)
{
    (void)given;
    (void)shared;
    exit(3);
}

static void an_exit_is_a_crash_and_runs_nothing_of_ours(void)
{
    left_behind = scratch_path("left");
    this_process = getpid();
    CHECK(atexit(at_exit) == 0);
    run_aside(exit_early, task());
    CHECK(result.outcome == SS_CRASHED);
    TEST_ASSERT_EQUAL_STRING("works left its process with exit code 3", result.why);
    CHECK(access(left_behind, F_OK) != 0);
    left_behind = NULL;
}

static void sleep_for_ever(const ss_task *given, ss_shared_solve *shared)
{
    (void)given;
    memcpy(shared->latest, shared->best, shared->size * sizeof *shared->best);
    for (;;) {
        pause();
    }
}

static void one_that_hangs_is_ended_at_the_time_limit(void)
{
    ss_task limits = task();
    limits.time_limit = 0.1;
    CHECK_LE(run_aside(sleep_for_ever, limits), 5.0);
    CHECK(result.outcome == SS_TIME_LIMIT && result.seconds >= 0.1);
    TEST_ASSERT_EQUAL_STRING("", result.why);
}

static void compute_for_ever(const ss_task *given, ss_shared_solve *shared)
{
    (void)given;
    for (;;) {
        (*(volatile int *)&shared->result.iterations)++;
    }
}

static void the_limit_is_of_the_clock_of_the_task(void)
{
    ss_task limits = task();
    limits.time_limit = 0.1;
    limits.clock = SS_CLOCK_CPU;
    CHECK_LE(run_aside(compute_for_ever, limits), 20.0);
    CHECK(result.outcome == SS_TIME_LIMIT && result.iterations > 0);
    CHECK_NEAR(result.cpu_seconds, 0.1, 0.2);
    CHECK(result.cpu_seconds >= 0.1);
}

static volatile sig_atomic_t interrupted;

static void interrupt(int number)
{
    (void)number;
    interrupted = 1;
}

static void an_interrupt_ends_it(void)
{
    ss_task limits = task();
    limits.interrupted = &interrupted;
    interrupted = 0;
    void (*before)(int) = signal(SIGALRM, interrupt);
    alarm(1);
    CHECK_LE(run_aside(sleep_for_ever, limits), 10.0);
    signal(SIGALRM, before);
    CHECK(result.outcome == SS_INTERRUPTED);
    check_untouched();
}

// ---- What it leaves behind

static void solve_and_die(const ss_task *given, ss_shared_solve *shared)
{
    solved a = solve_here(given->problem);
    memcpy(shared->latest, a.r, shared->size * sizeof *a.r);
    abort();
}

static void the_last_iterate_of_one_that_died_is_kept_where_it_is_better(void)
{
    run_aside(solve_and_die, task());
    CHECK(result.outcome == SS_CRASHED);
    CHECK_LE(fb_of(r), 1e-6);
    CHECK_NEAR(result.own_error, fb_of(r), 0.0);
}

static void spoil(const ss_task *given, ss_shared_solve *shared)
{
    (void)given;
    for (size_t k = 0; k < shared->size; k++) {
        shared->best[k] = NAN;
        shared->latest[k] = 1e30;
    }
}

static void a_worse_answer_does_not_replace_the_start(void)
{
    run_aside(spoil, task());
    check_untouched();
    CHECK_NEAR(result.own_error, fb_of(r), 0.0);
}

static void shout(const ss_task *given, ss_shared_solve *shared)
{
    (void)given;
    (void)shared;
    printf("a banner\n");
    fprintf(stderr, "a warning\n");
    fflush(NULL);
    exit(0);
}

static void nothing_that_it_prints_is_seen(void)
{
    const char *path = scratch_path("printed");
    fflush(NULL);
    const int out = dup(STDOUT_FILENO), err = dup(STDERR_FILENO);
    const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    close(file);
    run_aside(shout, task());
    const off_t length = lseek(STDOUT_FILENO, 0, SEEK_END);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    close(out);
    close(err);
    TEST_ASSERT_EQUAL_INT(0, (int)length);
    TEST_ASSERT_EQUAL_STRING("works left its process with exit code 0", result.why);
}

// If the end of a process is ignored its number is gone with it: the parent must watch it before.
#define UNTIL_WATCHED 100000 // us

static void solve_once_watched(const ss_task *given, ss_shared_solve *shared)
{
    usleep(UNTIL_WATCHED);
    solve_well(given, shared);
}

static void abort_once_watched(const ss_task *given, ss_shared_solve *shared)
{
    usleep(UNTIL_WATCHED);
    abort_at_once(given, shared);
}

static void one_whose_end_somebody_else_has_taken_is_told_apart(void)
{
    void (*before)(int) = signal(SIGCHLD, SIG_IGN);
    run_aside(solve_once_watched, task());
    CHECK(result.outcome == SS_CONVERGED);
    result = (ss_result){.own_error = NAN};
    run_aside(abort_once_watched, task());
    signal(SIGCHLD, before);
    CHECK(result.outcome == SS_CRASHED);
    TEST_ASSERT_EQUAL_STRING("works died in its process", result.why);
}

// ---- A parent that dies

static pid_t *worker; // shared; 0: not yet at work

static void sleep_and_tell(const ss_task *given, ss_shared_solve *shared)
{
    *worker = getpid();
    sleep_for_ever(given, shared);
}

static void wait_for(bool alive)
{
    for (int k = 0; k < 500 && (*worker == 0 || (kill(*worker, 0) == 0) != alive); k++) {
        usleep(10000);
    }
}

static void it_dies_with_its_parent(void)
{
    worker = mmap(NULL, sizeof *worker, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    const pid_t parent = fork();
    if (parent == 0) {
        const ss_task limits = task();
        ss_solve_in_child(&limits, sleep_and_tell, r, &result, &error);
        _exit(0);
    }
    wait_for(true);
    CHECK(*worker > 0);
    kill(parent, SIGKILL);
    waitpid(parent, NULL, 0);
    wait_for(false);
    CHECK(kill(*worker, 0) != 0);
    munmap(worker, sizeof *worker);
}

static void run_tests(void)
{
    RUN_TEST(its_answer_and_its_numbers_arrive);
    RUN_TEST(its_first_memory_causes_few_page_faults);
    RUN_TEST(its_failure_is_told_with_its_sentence);
    RUN_TEST(the_listener_hears_the_start_and_the_end);
    RUN_TEST(an_abort_is_a_crash_with_its_signal);
    RUN_TEST(a_bad_address_is_a_crash_even_where_this_process_catches_it);
    RUN_TEST(an_exit_is_a_crash_and_runs_nothing_of_ours);
    RUN_TEST(one_that_hangs_is_ended_at_the_time_limit);
    RUN_TEST(the_limit_is_of_the_clock_of_the_task);
    RUN_TEST(an_interrupt_ends_it);
    RUN_TEST(the_last_iterate_of_one_that_died_is_kept_where_it_is_better);
    RUN_TEST(a_worse_answer_does_not_replace_the_start);
    RUN_TEST(nothing_that_it_prints_is_seen);
    RUN_TEST(one_whose_end_somebody_else_has_taken_is_told_apart);
    RUN_TEST(it_dies_with_its_parent);
}

const test_group solve_in_child_tests = {
    .run = run_tests, .set_up = set_up, .tear_down = tear_down};
