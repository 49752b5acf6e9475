// A child that crashes, hangs, eats memory, exits or keeps quiet is one ending and nothing else.
// The child is this program itself, told so by TEST_AS: a word on its command line says how it
// behaves.
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "harness/guard.h"
#include "harness/isolate.h"
#include "tests/support/support.h"

#define MYSELF "/proc/self/exe"

// More than any child here takes, so that a test that waits for its deadline is a failed one.
#define PATIENCE 100.0 // s

static void set_up(void)
{
    setenv("TEST_AS", "isolate", 1);
}

static void tear_down(void)
{
    unsetenv("TEST_AS");
}

// ---- How a child behaves

// A sanitizer would turn the signal into an exit code.
static void die_by(int signal_number)
{
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void say(const char *text)
{
    if (write(SS_CHILD_CHANNEL, text, strlen(text)) < 0) {
        _exit(99);
    }
}

static void loop(void)
{
    for (volatile unsigned k = 0;; k++) {
    }
}

static void sleep_for_long(void)
{
    for (;;) {
        sleep(1000);
    }
}

// Asks for addresses without end, and never touches them.
static void eat(void)
{
    ss_guard_memory();
    size_t eaten = 0;
    while (mmap(NULL, 1UL << 28, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) != MAP_FAILED) {
        eaten += 1UL << 28;
    }
    const size_t half = (size_t)sysconf(_SC_PHYS_PAGES) / 2 * (size_t)sysconf(_SC_PAGESIZE);
    say(errno == ENOMEM && eaten <= half ? "refused" : "wrong");
}

static void talk(size_t length)
{
    char text[1024];
    memset(text, 'x', sizeof text);
    for (size_t k = 0; k < length / sizeof text; k++) {
        if (write(SS_CHILD_CHANNEL, text, sizeof text) < 0) {
            _exit(99);
        }
    }
}

static void guarded(void (*behave)(void), bool pauses)
{
    ss_guard guard;
    ss_guard_arm(&guard, 0.0);
    if (pauses) {
        ss_guard_pause(&guard);
        const struct timespec longer = {.tv_sec = 2, .tv_nsec = 300000000};
        nanosleep(&longer, NULL);
        say("rested");
        ss_guard_resume(&guard);
        ss_guard_disarm();
        return;
    }
    behave();
}

// The grandchild holds the channel open and lives on.
static void leave_a_grandchild(void)
{
    const pid_t pid = fork();
    if (pid == 0) {
        sleep_for_long();
    }
    char text[32];
    snprintf(text, sizeof text, "%d", (int)pid);
    say(text);
}

static void describe_surroundings(void)
{
    cpu_set_t cores;
    char text[200];
    sigset_t blocked;
    struct rlimit core;
    sched_getaffinity(0, sizeof cores, &cores);
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    getrlimit(RLIMIT_CORE, &core);
    snprintf(text, sizeof text, "cores %d, group %d, blocked %d, dumps %d, extra file %d",
             CPU_COUNT(&cores), getpgrp() == getpid(), sigismember(&blocked, SIGINT),
             core.rlim_cur > 0, lseek(SS_CHILD_CHANNEL + 1, 0, SEEK_CUR) >= 0);
    say(text);
}

static int behave(char **argv)
{
    const char *how = argv[1];
    if (strcmp(how, "segfault") == 0) {
        die_by(SIGSEGV);
    } else if (strcmp(how, "abort") == 0) {
        die_by(SIGABRT);
    } else if (strcmp(how, "exit") == 0) {
        _exit(7);
    } else if (strcmp(how, "loop") == 0) {
        guarded(loop, false);
    } else if (strcmp(how, "sleep") == 0) {
        guarded(sleep_for_long, false);
    } else if (strcmp(how, "pause") == 0) {
        guarded(NULL, true);
    } else if (strcmp(how, "hang") == 0) {
        sleep_for_long();
    } else if (strcmp(how, "eat") == 0) {
        eat();
    } else if (strcmp(how, "say") == 0) {
        say("a word");
    } else if (strcmp(how, "talk") == 0) {
        talk(1 << 20);
    } else if (strcmp(how, "shout") == 0) {
        talk(1UL << 26);
    } else if (strcmp(how, "grandchild") == 0) {
        leave_a_grandchild();
    } else if (strcmp(how, "surroundings") == 0) {
        describe_surroundings();
    }
    return 0;
}

// ---- Running one

static ss_child start_from(const char *program, const char *how, int core, double limit)
{
    ss_error error;
    ss_child child = {0};
    char *words[] = {strdup("test"), strdup(how), NULL};
    CHECK_OK(ss_child_start(&child, program, words, core, limit, &error));
    free(words[0]);
    free(words[1]);
    return child;
}

static ss_child start(const char *how)
{
    return start_from(MYSELF, how, -1, PATIENCE);
}

static sigset_t mask_now(void)
{
    sigset_t now;
    sigprocmask(SIG_SETMASK, NULL, &now);
    return now;
}

static void await(ss_child *child)
{
    ss_error error;
    int ended = -2;
    const sigset_t mask = mask_now();
    CHECK_OK(ss_child_wait(child, 1, &mask, &ended, &error));
    TEST_ASSERT_EQUAL_INT(0, ended);
    CHECK(child->pid == 0);
}

static void check_said(const ss_child *child, const char *text)
{
    TEST_ASSERT_EQUAL_size_t(strlen(text), child->length);
    TEST_ASSERT_EQUAL_MEMORY(text, child->said, child->length);
}

static void ends(const char *how, ss_ending ending, int number)
{
    ss_child child = start(how);
    await(&child);
    TEST_ASSERT_EQUAL_INT_MESSAGE(ending, child.ending, how);
    TEST_ASSERT_EQUAL_INT_MESSAGE(number, child.number, how);
    ss_child_clear(&child);
}

// ---- Endings

static void a_crash_is_its_signal(void)
{
    ends("segfault", SS_ENDED_BY_SIGNAL, SIGSEGV);
    ends("abort", SS_ENDED_BY_SIGNAL, SIGABRT);
}

static void an_exit_code_is_told(void)
{
    ends("exit", SS_ENDED_BY_CODE, 7);
}

static void a_child_without_a_word_has_said_nothing(void)
{
    ss_child child = start("quiet");
    await(&child);
    CHECK(child.ending == SS_ENDED && child.length == 0);
    ss_child_clear(&child);
}

static void what_a_child_says_is_heard(void)
{
    ss_child child = start("say");
    await(&child);
    CHECK(child.ending == SS_ENDED);
    check_said(&child, "a word");
    ss_child_clear(&child);
}

static void a_mebibyte_is_heard_to_its_end(void)
{
    ss_child child = start("talk");
    await(&child);
    CHECK(child.ending == SS_ENDED && child.length == 1 << 20);
    CHECK(child.said[0] == 'x' && child.said[child.length - 1] == 'x');
    ss_child_clear(&child);
}

static void too_much_is_cut_off(void)
{
    ss_child child = start("shout");
    await(&child);
    CHECK(child.ending == SS_ENDED_LOUD);
    CHECK_LE(child.length, 1 << 24);
    ss_child_clear(&child);
}

static void a_program_that_is_not_there_is_told(void)
{
    ss_child child = start_from("/nonexistent/program", "say", -1, PATIENCE);
    await(&child);
    CHECK(child.ending == SS_ENDED_BY_CODE && child.number == SS_CHILD_NOT_EXECUTED);
    ss_child_clear(&child);
}

static void a_hang_ends_at_the_deadline(void)
{
    ss_child child = start_from(MYSELF, "hang", -1, 0.3);
    await(&child);
    CHECK(child.ending == SS_ENDED_LATE);
    ss_child_clear(&child);
}

static void memory_without_end_is_refused(void)
{
    ss_child child = start("eat");
    await(&child);
    CHECK(child.ending == SS_ENDED);
    check_said(&child, "refused");
    ss_child_clear(&child);
}

// ---- The guard

static void a_loop_is_ended_by_the_cpu_limit(void)
{
    ss_child child = start("loop");
    await(&child);
    CHECK(child.ending == SS_ENDED_BY_SIGNAL);
    // On a busy machine 2 s of wall time may pass before 2 s of CPU time.
    CHECK(child.number == SIGXCPU || child.number == SIGALRM);
    ss_child_clear(&child);
}

static void a_sleeper_is_ended_by_the_alarm(void)
{
    ends("sleep", SS_ENDED_BY_SIGNAL, SIGALRM);
}

static void a_pause_is_not_counted(void)
{
    ss_child child = start("pause");
    await(&child);
    CHECK(child.ending == SS_ENDED);
    check_said(&child, "rested");
    ss_child_clear(&child);
}

static void the_wall_limit_is_three_limits_and_two_seconds(void)
{
    CHECK_NEAR(ss_guard_wall(1.0), 5.0, 1e-12);
    CHECK_NEAR(ss_guard_wall(0.0), 2.0, 1e-12);
}

// ---- Surroundings

static void a_child_stands_apart(void)
{
    ss_child child = start_from(MYSELF, "surroundings", ss_core_at(0), PATIENCE);
    await(&child);
    check_said(&child, "cores 1, group 1, blocked 0, dumps 0, extra file 0");
    ss_child_clear(&child);
}

static void cores_are_those_of_this_process(void)
{
    CHECK_LE(1, ss_core_count());
    CHECK(ss_core_at(0) >= 0);
    CHECK(ss_core_at(ss_core_count()) == -1);
}

static void a_grandchild_does_not_outlive_the_run(void)
{
    ss_child child = start("grandchild");
    await(&child);
    CHECK(child.ending == SS_ENDED && child.length > 0 && child.length < 20);
    char text[32] = "";
    memcpy(text, child.said, child.length);
    const pid_t grandchild = (pid_t)atoi(text);
    CHECK(grandchild > 1);
    for (int k = 0; k < 500 && kill(grandchild, 0) == 0; k++) { // until init has reaped it
        char path[64], state = 'Z';
        snprintf(path, sizeof path, "/proc/%d/stat", (int)grandchild);
        FILE *file = fopen(path, "r");
        if (file != NULL) {
            CHECK(fscanf(file, "%*d %*s %c", &state) == 1);
            fclose(file);
        }
        if (state == 'Z') {
            ss_child_clear(&child);
            return;
        }
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
    CHECK(kill(grandchild, 0) != 0);
    ss_child_clear(&child);
}

// ---- Several

static void the_first_to_end_is_told_first(void)
{
    ss_error error;
    ss_child children[3] = {start("hang"), start("say"), {0}};
    const sigset_t mask = mask_now();
    int ended;
    CHECK_OK(ss_child_wait(children, 3, &mask, &ended, &error));
    TEST_ASSERT_EQUAL_INT(1, ended);
    CHECK(children[0].pid != 0 && children[1].pid == 0);
    for (int k = 0; k < 3; k++) {
        ss_child_clear(&children[k]);
        CHECK(children[k].pid == 0 && children[k].said == NULL);
    }
}

static void note(int signal_number)
{
    (void)signal_number;
}

static void a_signal_ends_the_wait_and_no_child(void)
{
    ss_error error;
    sigset_t blocked, outside;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    sigprocmask(SIG_BLOCK, &blocked, &outside);
    const struct sigaction action = {.sa_handler = note};
    sigaction(SIGUSR1, &action, NULL);
    ss_child child = start("hang");
    raise(SIGUSR1);
    int ended = 0;
    CHECK_OK(ss_child_wait(&child, 1, &outside, &ended, &error));
    TEST_ASSERT_EQUAL_INT(-1, ended);
    CHECK(child.pid != 0);
    ss_child_clear(&child);
    sigprocmask(SIG_SETMASK, &outside, NULL);
}

static void a_child_that_was_never_started_is_cleared(void)
{
    ss_child child = {0};
    ss_child_clear(&child);
    CHECK(child.pid == 0);
}

static void run_tests(void)
{
    RUN_TEST(a_crash_is_its_signal);
    RUN_TEST(an_exit_code_is_told);
    RUN_TEST(a_child_without_a_word_has_said_nothing);
    RUN_TEST(what_a_child_says_is_heard);
    RUN_TEST(a_mebibyte_is_heard_to_its_end);
    RUN_TEST(too_much_is_cut_off);
    RUN_TEST(a_program_that_is_not_there_is_told);
    RUN_TEST(a_hang_ends_at_the_deadline);
    RUN_TEST(memory_without_end_is_refused);
    RUN_TEST(a_loop_is_ended_by_the_cpu_limit);
    RUN_TEST(a_sleeper_is_ended_by_the_alarm);
    RUN_TEST(a_pause_is_not_counted);
    RUN_TEST(the_wall_limit_is_three_limits_and_two_seconds);
    RUN_TEST(a_child_stands_apart);
    RUN_TEST(cores_are_those_of_this_process);
    RUN_TEST(a_grandchild_does_not_outlive_the_run);
    RUN_TEST(the_first_to_end_is_told_first);
    RUN_TEST(a_signal_ends_the_wait_and_no_child);
    RUN_TEST(a_child_that_was_never_started_is_cleared);
}

const test_group isolate_tests = {
    .run = run_tests, .set_up = set_up, .tear_down = tear_down, .as_program = behave};
