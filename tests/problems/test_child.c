// A child that crashes, hangs, eats memory, exits or keeps quiet is one ending and nothing else.
// The child is this program once more, told so by TEST_AS: a word on its command line says how it
// behaves. A child that
// is a function is tested by tests/solvers/test_solve_in_child.c.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "tests/support/support.h"

#define MYSELF "/proc/self/exe"

// More than any child here takes, so that a test that waits for its deadline is a failed one.
#define PATIENCE 100.0 // s

static void set_up(void)
{
    setenv("TEST_AS", "child", 1);
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
    if (write(SS_CHILD_FILE, text, strlen(text)) < 0) {
        _exit(99);
    }
}

static void print(void)
{
    printf("out ");
    fflush(stdout);
    fprintf(stderr, "err");
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
    ss_child_limit_memory(UINT64_MAX);
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
        if (write(SS_CHILD_FILE, text, sizeof text) < 0) {
            _exit(99);
        }
    }
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
    char text[200];
    sigset_t blocked;
    struct rlimit core;
    sigprocmask(SIG_SETMASK, NULL, &blocked);
    getrlimit(RLIMIT_CORE, &core);
    snprintf(text, sizeof text, "group %d, blocked %d, dumps %d, extra file %d",
             getpgrp() == getpid(), sigismember(&blocked, SIGINT), core.rlim_cur > 0,
             lseek(SS_CHILD_FILE + 1, 0, SEEK_CUR) >= 0);
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
    } else if (strcmp(how, "print") == 0) {
        print();
    } else if (strcmp(how, "loop") == 0) {
        loop();
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

static ss_child start_from(const char *program, const char *how, ss_child_speech speech)
{
    ss_error error;
    ss_child child = {0};
    char *words[] = {strdup("test"), strdup(how), NULL};
    const ss_child_setup setup = {.program = program, .words = words, .speech = speech};
    CHECK_OK(ss_child_start(&child, &setup, &error));
    free(words[0]);
    free(words[1]);
    return child;
}

static ss_child start(const char *how)
{
    return start_from(MYSELF, how, SS_CHILD_ON_CHANNEL);
}

static void await(ss_child *child)
{
    ss_error error;
    int ended = -2;
    CHECK_OK(ss_child_wait(child, 1, PATIENCE, NULL, &ended, &error));
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
    CHECK(child.ending == SS_ENDED_BY_CODE && child.number == 0 && child.length == 0);
    ss_child_clear(&child);
}

static void what_a_child_says_is_heard(void)
{
    ss_child child = start("say");
    await(&child);
    CHECK(child.ending == SS_ENDED_BY_CODE && child.number == 0);
    check_said(&child, "a word");
    ss_child_clear(&child);
}

static void a_mebibyte_is_heard_to_its_end(void)
{
    ss_child child = start("talk");
    await(&child);
    CHECK(child.ending == SS_ENDED_BY_CODE && child.number == 0 && child.length == 1 << 20);
    CHECK(child.said[0] == 'x' && child.said[child.length - 1] == 'x');
    ss_child_clear(&child);
}

static void too_much_is_cut_off(void)
{
    ss_child child = start("shout");
    await(&child);
    CHECK(child.ending == SS_ENDED_LOUD);
    CHECK_LE(child.length, SS_CHILD_MOST_SAID);
    ss_child_clear(&child);
}

static void a_program_that_is_not_there_is_told(void)
{
    ss_child child = start_from("/nonexistent/program", "say", SS_CHILD_MUTE);
    await(&child);
    CHECK(child.ending == SS_ENDED_BY_CODE && child.number == SS_CHILD_NOT_STARTED);
    ss_child_clear(&child);
}

static void time_that_passes_ends_the_wait_and_no_child(void)
{
    ss_error error;
    ss_child child = start("hang");
    int ended = 0;
    CHECK_OK(ss_child_wait(&child, 1, 0.1, NULL, &ended, &error));
    CHECK(ended == -1 && child.pid != 0);
    ss_child_end(&child);
    CHECK(child.pid == 0 && child.ending == SS_ENDED_BY_SIGNAL && child.number == SIGKILL);
    ss_child_clear(&child);
}

static void memory_without_end_is_refused(void)
{
    ss_child child = start("eat");
    await(&child);
    CHECK(child.ending == SS_ENDED_BY_CODE && child.number == 0);
    check_said(&child, "refused");
    ss_child_clear(&child);
}

// ---- Surroundings

static void a_child_stands_apart(void)
{
    ss_child child = start("surroundings");
    await(&child);
    check_said(&child, "group 1, blocked 0, dumps 0, extra file 0");
    ss_child_clear(&child);
}

static void what_a_program_prints_is_heard_where_that_is_wished(void)
{
    static const ss_child_speech SPEECH[] = {SS_CHILD_MUTE, SS_CHILD_ON_CHANNEL,
                                             SS_CHILD_ON_STREAMS};
    for (int k = 0; k < 3; k++) {
        ss_child child = start_from(MYSELF, "print", SPEECH[k]);
        await(&child);
        CHECK(child.ending == SS_ENDED_BY_CODE && child.number == 0);
        if (SPEECH[k] == SS_CHILD_ON_STREAMS) {
            check_said(&child, "out err");
        } else {
            CHECK(child.length == 0);
        }
        ss_child_clear(&child);
    }
}

static void its_cpu_time_is_told_while_it_runs_and_after(void)
{
    ss_error error;
    ss_child child = start("loop");
    int ended;
    CHECK_OK(ss_child_wait(&child, 1, 0.2, NULL, &ended, &error));
    const double early = ss_child_cpu_seconds(&child);
    CHECK(ended == -1 && early > 0.0 && early <= 0.5);
    ss_child_end(&child);
    CHECK(ss_child_cpu_seconds(&child) >= early);
    ss_child_clear(&child);
}

static void a_grandchild_does_not_outlive_the_run(void)
{
    ss_child child = start("grandchild");
    await(&child);
    CHECK(child.ending == SS_ENDED_BY_CODE && child.number == 0 && child.length > 0 &&
          child.length < 20);
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
    int ended;
    CHECK_OK(ss_child_wait(children, 3, PATIENCE, NULL, &ended, &error));
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
    CHECK_OK(ss_child_wait(&child, 1, PATIENCE, &outside, &ended, &error));
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
    RUN_TEST(time_that_passes_ends_the_wait_and_no_child);
    RUN_TEST(memory_without_end_is_refused);
    RUN_TEST(a_child_stands_apart);
    RUN_TEST(what_a_program_prints_is_heard_where_that_is_wished);
    RUN_TEST(its_cpu_time_is_told_while_it_runs_and_after);
    RUN_TEST(a_grandchild_does_not_outlive_the_run);
    RUN_TEST(the_first_to_end_is_told_first);
    RUN_TEST(a_signal_ends_the_wait_and_no_child);
    RUN_TEST(a_child_that_was_never_started_is_cleared);
}

const test_group child_tests = {
    .run = run_tests, .set_up = set_up, .tear_down = tear_down, .as_program = behave};
