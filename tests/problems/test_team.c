// Threads that share work: every item once, nobody twice at a time, round after round.
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/team.h"
#include "tests/support/support.h"

#define ITEMS 1000

typedef struct counted {
    atomic_int times[ITEMS]; // that each item was done
    atomic_int busy[64];     // calls that a thread is in
    atomic_int clashes;      // two as one thread, or a thread that there is not
    int size, spins;
} counted;

static void count(void *context, int item, int thread)
{
    counted *a = context;
    if (thread < 0 || thread >= a->size || atomic_fetch_add(&a->busy[thread], 1) != 0) {
        atomic_fetch_add(&a->clashes, 1);
    }
    for (volatile int k = 0; k < (item % 7 == 0 ? a->spins : 0); k++) {
    }
    atomic_fetch_add(&a->times[item], 1);
    atomic_fetch_sub(&a->busy[thread], 1);
}

static void check_run(ss_team *team, counted *a, int items)
{
    for (int k = 0; k < ITEMS; k++) {
        atomic_store(&a->times[k], 0);
    }
    ss_team_run(team, items, count, a);
    int wrong = 0;
    for (int k = 0; k < ITEMS; k++) {
        wrong += atomic_load(&a->times[k]) != (k < items);
    }
    TEST_ASSERT_EQUAL_INT(0, wrong);
    TEST_ASSERT_EQUAL_INT(0, atomic_load(&a->clashes));
}

static void every_item_is_done_once(void)
{
    static counted a;
    for (int threads = 1; threads <= 5; threads++) {
        ss_team *team = ss_team_new(threads);
        CHECK(ss_team_size(team) >= 1 && ss_team_size(team) <= threads);
        a.size = ss_team_size(team);
        for (int items = 0; items <= ITEMS; items = 2 * items + 1) {
            a.spins = items;
            check_run(team, &a, items);
        }
        ss_team_free(team);
    }
}

// Pauses of all lengths: threads that look for work, fall asleep, and sleep.
static void rounds_follow_each_other(void)
{
    static counted a;
    ss_team *team = ss_team_new(3);
    a.size = ss_team_size(team);
    a.spins = 200;
    for (int k = 0; k < 2000; k++) {
        check_run(team, &a, 2 + k % 30);
        if (k % 16 == 0) {
            usleep((useconds_t)(k % 300));
        }
    }
    ss_team_free(team);
}

static void without_a_team_the_caller_is_alone(void)
{
    static counted a = {.size = 1};
    check_run(NULL, &a, 10);
    ss_team_free(NULL);
}

static void a_team_without_work_ends(void)
{
    for (int k = 0; k < 100; k++) {
        ss_team *team = ss_team_new(4);
        if (k % 2 == 0) {
            static counted a;
            a.size = ss_team_size(team);
            check_run(team, &a, 8);
        }
        ss_team_free(team);
    }
}

static void count_range(void *context, int first, int end)
{
    atomic_int *times = context;
    for (int k = first; k < end; k++) {
        atomic_fetch_add(&times[k], 1);
    }
}

// Whether they are worth sharing or not.
static void ranges_hold_every_thing_once(void)
{
    static atomic_int times[ITEMS];
    const double each[] = {1e-3, 50.0, 1e4, 1e12};
    ss_team *team = ss_team_new(3);
    CHECK(!ss_team_pays(NULL, 1e9) && !ss_team_pays(team, 100.0));
    for (int n = 0; n <= ITEMS; n = 3 * n + 1) {
        for (int k = 0; k < 8; k++) {
            ss_team_divide(k < 4 ? team : NULL, n, each[k % 4], count_range, times);
        }
        for (int i = 0; i < ITEMS; i++) {
            CHECK(atomic_exchange(&times[i], 0) == (i < n ? 8 : 0));
        }
    }
    ss_team_free(team);
}

static void run_tests(void)
{
    RUN_TEST(every_item_is_done_once);
    RUN_TEST(rounds_follow_each_other);
    RUN_TEST(without_a_team_the_caller_is_alone);
    RUN_TEST(a_team_without_work_ends);
    RUN_TEST(ranges_hold_every_thing_once);
}

const test_group team_tests = {.run = run_tests};
