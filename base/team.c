// base/team.c -- shares of the work, and the threads that claim items of them.
//
// Each member has a share of the items, a range that every thread may take from: its owner from the
// first item on, and others when they have finished theirs, so that items mostly stay with one
// core.
//
// A share is one word: round, next item, end. A claim exchanges it as a whole, so that a thread
// that slept through a round takes nothing of the next one by mistake. Work and context are read
// after a claim alone, and a round does not end before all its claims are done.
#include "base/team.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

// Looks of a thread for work before it sleeps, and of the caller for the end: some 20 microseconds,
// about the time of waking a thread.
#define SPINS 1000

#define ITEM_BITS  20
#define MOST_ITEMS ((1 << ITEM_BITS) - 1)
#define CACHE_LINE 64

typedef struct member {
    _Alignas(CACHE_LINE) _Atomic uint64_t share;
    ss_team *team;
    int number;
    pthread_t thread; // unused for the caller, who is the first
} member;

struct ss_team {
    int size, started; // numbers of members, and of threads that run beside the caller
    bool tried;        // true once they have been started
    pthread_mutex_t lock;
    pthread_cond_t begun, done;
    _Atomic uint32_t round; // counts up with each piece of work
    _Atomic int asleep;     // number of threads that wait for a round
    _Atomic bool awaited;   // true if the caller sleeps until all is done
    _Atomic bool ended;
    _Atomic int left; // number of items that are not done
    ss_team_work *work;
    void *context;
    member members[];
};

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

// ---- Shares

static uint64_t share_of(uint32_t round, int next, int end)
{
    return (uint64_t)round << 2 * ITEM_BITS | (uint64_t)next << ITEM_BITS | (uint64_t)end;
}

static bool claim(member *m, uint32_t round, int *item)
{
    uint64_t share = atomic_load(&m->share);
    for (;;) {
        const int next = (int)(share >> ITEM_BITS & MOST_ITEMS), end = (int)(share & MOST_ITEMS);
        if (share != share_of(round, next, end) || next >= end) {
            return false;
        }
        if (atomic_compare_exchange_weak(&m->share, &share, share_of(round, next + 1, end))) {
            *item = next;
            return true;
        }
    }
}

static void finish_item(ss_team *team)
{
    if (atomic_fetch_sub(&team->left, 1) == 1 && atomic_load(&team->awaited)) {
        pthread_mutex_lock(&team->lock);
        pthread_cond_signal(&team->done);
        pthread_mutex_unlock(&team->lock);
    }
}

static void take_part(ss_team *team, int number, uint32_t round)
{
    for (int k = 0; k < team->size; k++) {
        member *m = &team->members[(number + k) % team->size];
        int item;
        while (claim(m, round, &item)) {
            team->work(team->context, item, number);
            finish_item(team);
        }
    }
}

// ---- Threads

static uint32_t wait_for_round(ss_team *team, uint32_t seen)
{
    for (int k = 0; k < SPINS; k++) {
        const uint32_t round = atomic_load(&team->round);
        if (round != seen) {
            return round;
        }
        relax();
    }
    pthread_mutex_lock(&team->lock);
    atomic_fetch_add(&team->asleep, 1);
    while (atomic_load(&team->round) == seen) {
        pthread_cond_wait(&team->begun, &team->lock);
    }
    atomic_fetch_sub(&team->asleep, 1);
    pthread_mutex_unlock(&team->lock);
    return atomic_load(&team->round);
}

static void *live(void *of)
{
    const member *m = of;
    ss_team *team = m->team;
    uint32_t round = 0;
    for (;;) {
        round = wait_for_round(team, round);
        if (atomic_load(&team->ended)) {
            return NULL;
        }
        take_part(team, m->number, round);
    }
}

// Starts the threads, which take no signals.
static void team_start(ss_team *team)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = true;
    for (int k = 1; ok && k < team->size; k++) {
        ok = pthread_create(&team->members[k].thread, NULL, live, &team->members[k]) == 0;
        team->started += ok;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    team->tried = true;
}

static void begin_round(ss_team *team)
{
    atomic_fetch_add(&team->round, 1);
    if (atomic_load(&team->asleep) > 0) {
        pthread_mutex_lock(&team->lock);
        pthread_cond_broadcast(&team->begun);
        pthread_mutex_unlock(&team->lock);
    }
}

static void team_wait_for_end(ss_team *team)
{
    for (int k = 0; k < SPINS && atomic_load(&team->left) > 0; k++) {
        relax();
    }
    if (atomic_load(&team->left) == 0) {
        return;
    }
    pthread_mutex_lock(&team->lock);
    atomic_store(&team->awaited, true);
    while (atomic_load(&team->left) > 0) {
        pthread_cond_wait(&team->done, &team->lock);
    }
    atomic_store(&team->awaited, false);
    pthread_mutex_unlock(&team->lock);
}

void ss_team_run(ss_team *team, int items, ss_team_work *work, void *context)
{
    const bool may_share = team != NULL && team->size > 1 && items > 1 && items <= MOST_ITEMS;
    if (may_share && !team->tried) {
        team_start(team);
    }
    if (!may_share || team->started == 0) {
        for (int item = 0; item < items; item++) {
            work(context, item, 0);
        }
        return;
    }
    const uint32_t round = atomic_load(&team->round) + 1;
    team->work = work;
    team->context = context;
    atomic_store(&team->left, items);
    for (int k = 0; k < team->size; k++) {
        atomic_store(&team->members[k].share, share_of(round, ss_team_cut(items, k, team->size),
                                                       ss_team_cut(items, k + 1, team->size)));
    }
    begin_round(team);
    take_part(team, 0, round);
    team_wait_for_end(team);
}

// ---- Ranges

// Least work, in ns, that pays for starting threads, for waking one, and for sharing with one that
// is awake.
#define PAYS_STARTING 200e3
#define PAYS_WAKING   100e3
#define PAYS_AWAKE    15e3

#define RANGE       5e3 // work of a range, ns: less than the time that a thread waits actively
#define RANGES_MOST 64  // most ranges per thread
#define RANGES_FEW  2   // fewest ranges per thread

bool ss_team_pays(ss_team *team, double nanoseconds)
{
    if (team == NULL || team->size < 2) {
        return false;
    }
    if (!team->tried) {
        return nanoseconds >= PAYS_STARTING;
    }
    const bool awake = team->started > 0 && atomic_load(&team->asleep) == 0;
    return nanoseconds >= (awake ? PAYS_AWAKE : PAYS_WAKING);
}

typedef struct division {
    ss_team_range *work;
    void *context;
    int n, nparts;
} division;

static void do_range(void *of, int item, int thread)
{
    const division *d = of;
    (void)thread;
    d->work(d->context, ss_team_cut(d->n, item, d->nparts), ss_team_cut(d->n, item + 1, d->nparts));
}

void ss_team_divide(ss_team *team, int n, double nanoseconds, ss_team_range *work, void *context)
{
    if (!ss_team_pays(team, nanoseconds * n)) {
        work(context, 0, n);
        return;
    }
    const double wanted = nanoseconds * n / RANGE, most = RANGES_MOST * team->size;
    const int few = RANGES_FEW * team->size, ranges = (int)(wanted < most ? wanted : most);
    const int least = ranges > few ? ranges : few;
    division d = {work, context, n, least < n ? least : n};
    ss_team_run(team, d.nparts, do_range, &d);
}

// ---- Making one

static int team_count_cores(void)
{
    cpu_set_t mine;
    return sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : 1;
}

ss_team *ss_team_new(int threads)
{
    const int cores = team_count_cores(), least = threads < cores ? threads : cores;
    const int size = least > 1 ? least : 1;
    const size_t bytes = sizeof(ss_team) + (size_t)size * sizeof(member);
    ss_team *team = aligned_alloc(CACHE_LINE, (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
    if (team == NULL) {
        return NULL;
    }
    *team = (ss_team){.size = size};
    pthread_mutex_init(&team->lock, NULL);
    pthread_cond_init(&team->begun, NULL);
    pthread_cond_init(&team->done, NULL);
    for (int k = 0; k < size; k++) {
        team->members[k] = (member){.team = team, .number = k};
    }
    return team;
}

int ss_team_size(const ss_team *team)
{
    return team->size;
}

void ss_team_free(ss_team *team)
{
    if (team == NULL) {
        return;
    }
    atomic_store(&team->ended, true);
    begin_round(team);
    for (int k = 1; k <= team->started; k++) {
        pthread_join(team->members[k].thread, NULL);
    }
    pthread_cond_destroy(&team->begun);
    pthread_cond_destroy(&team->done);
    pthread_mutex_destroy(&team->lock);
    free(team);
}
