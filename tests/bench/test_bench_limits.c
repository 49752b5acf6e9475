// The limits of a run: CPU time counts, sleep counts, the clock on the wall does not.
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "base/child.h"
#include "harness/bench/measure.h"
#include "tests/support/support.h"

// More than any child here takes, so that a test that waits for so long is a failed one.
#define PATIENCE 100.0 // s

// ---- How a child behaves

static void loop(void *unused)
{
    (void)unused;
    for (volatile unsigned k = 0;; k++) {
    }
}

static void sleep_for_long(void *unused)
{
    (void)unused;
    for (;;) {
        sleep(1000);
    }
}

static void loop_with_a_limit(void *unused)
{
    ss_cpu_limit limit;
    ss_cpu_limit_arm(&limit, 0.0);
    loop(unused);
}

// It sleeps, and what it started computes. Its group is its own before it starts that: a parent
// that is slow to see to it would leave the loop behind for ever.
static void delegate(void *unused)
{
    setpgid(0, 0);
    if (fork() == 0) {
        loop(unused);
    }
    sleep_for_long(unused);
}

static double cpu_limit(void)
{
    struct rlimit limit;
    getrlimit(RLIMIT_CPU, &limit);
    return limit.rlim_cur == RLIM_INFINITY ? INFINITY : (double)limit.rlim_cur;
}

// CPU time of its own is below 1 s here, so that the limits in whole seconds are known.
static void set_limits(void *unused)
{
    ss_cpu_limit limit;
    (void)unused;
    ss_cpu_limit_arm(&limit, 10.0);
    bool good = cpu_limit() == 23.0;
    ss_cpu_limit_pause(&limit);
    good = good && cpu_limit() == INFINITY;
    ss_cpu_limit_resume(&limit);
    good = good && cpu_limit() == 23.0;
    ss_limit_child(getpid(), 10.0, 4); // 300 s and four times 22 s
    ss_cpu_limit_disarm();
    good = good && cpu_limit() == 388.0;
    ss_cpu_limit_arm(&limit, 1e9);
    good = good && cpu_limit() == 388.0;
    _exit(good ? 0 : 1);
}

static ss_child start(void (*behave)(void *context))
{
    ss_error error;
    ss_child child = {0};
    const ss_child_setup setup = {.work = behave};
    CHECK_OK(ss_child_start(&child, &setup, &error));
    setpgid(child.pid, child.pid); // as a program has it
    child.leads_group = true;
    return child;
}

static void ends(void (*behave)(void *context), ss_ending ending, int number)
{
    ss_error error;
    ss_child child = start(behave);
    int ended = -1;
    CHECK_OK(ss_child_wait(&child, 1, PATIENCE, NULL, &ended, &error));
    CHECK(ended == 0);
    TEST_ASSERT_EQUAL_INT(ending, child.ending);
    TEST_ASSERT_EQUAL_INT(number, child.number);
    ss_child_clear(&child);
}

// ---- CPU time

static void a_loop_is_ended_by_the_cpu_limit(void)
{
    ends(loop_with_a_limit, SS_ENDED_BY_SIGNAL, SIGXCPU);
}

static void limits_are_twice_the_solvers_and_two_seconds_and_pauses_do_not_count(void)
{
    ends(set_limits, SS_ENDED_BY_CODE, 0);
}

// ---- Sleep

static void wait_a_look(void)
{
    const struct timespec longer = {.tv_sec = 1, .tv_nsec = 20000000};
    nanosleep(&longer, NULL);
}

// On a busy machine it takes a while until one that is to sleep does.
static void only_a_sleeper_sleeps(void)
{
    enum { SLEEPER, LOOPER, STOPPED, DELEGATING, COUNT };
    ss_child children[COUNT] = {start(sleep_for_long), start(loop), start(sleep_for_long),
                                start(delegate)};
    ss_sleep sleep[COUNT];
    double seconds[COUNT] = {0}, others = 0.0;
    for (int k = 0; k < COUNT; k++) {
        sleep[k] = ss_sleep_begin();
    }
    kill(children[STOPPED].pid, SIGSTOP);
    for (int look = 0; look < 30 && !(seconds[SLEEPER] >= 2.0); look++) {
        wait_a_look();
        for (int k = 0; k < COUNT; k++) {
            seconds[k] = ss_sleep_look(&sleep[k], children[k].pid);
        }
        others = fmax(others, fmax(seconds[LOOPER], seconds[STOPPED]));
    }
    for (int k = 0; k < COUNT; k++) {
        ss_child_clear(&children[k]);
    }
    CHECK_NEAR(seconds[SLEEPER], 2.0, 1e-9);
    CHECK(others == 0.0);
    CHECK_LE(seconds[DELEGATING], 1.0); // before its child computes it may be asleep
}

// As when this process was stopped itself.
static void time_without_a_look_does_not_count(void)
{
    ss_child child = start(sleep_for_long);
    ss_sleep sleep = ss_sleep_begin();
    double seconds = 0.0;
    for (int look = 0; look < 30 && seconds == 0.0; look++) {
        wait_a_look();
        wait_a_look();
        seconds = ss_sleep_look(&sleep, child.pid);
    }
    ss_child_clear(&child);
    CHECK_NEAR(seconds, 1.0, 1e-9);
}

static void one_may_sleep_for_three_limits_and_two_seconds(void)
{
    CHECK_NEAR(ss_sleep_limit(1.0), 5.0, 1e-12);
    CHECK_NEAR(ss_sleep_limit(0.0), 2.0, 1e-12);
}

static void run_tests(void)
{
    RUN_TEST(a_loop_is_ended_by_the_cpu_limit);
    RUN_TEST(limits_are_twice_the_solvers_and_two_seconds_and_pauses_do_not_count);
    RUN_TEST(only_a_sleeper_sleeps);
    RUN_TEST(time_without_a_look_does_not_count);
    RUN_TEST(one_may_sleep_for_three_limits_and_two_seconds);
}

const test_group bench_limits_tests = {.run = run_tests};
