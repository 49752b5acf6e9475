// On which cores runs go: a job of a batch system may have fewer than it may use.
#include <sched.h>
#include <stdlib.h>

#include "harness/bench/bench.h"
#include "tests/support/support.h"

static const char *const NAMES[] = {"SLURM_JOB_ID", "SLURM_CPUS_ON_NODE", "PBS_JOBID", "NCPUS"};

static void forget_jobs(void)
{
    for (int k = 0; k < 4; k++) {
        unsetenv(NAMES[k]);
    }
}

static void outside_of_jobs_all_allowed_cores_count(void)
{
    setenv("SLURM_CPUS_ON_NODE", "1", 1); // as a shell may have kept it
    setenv("NCPUS", "1", 1);
    const ss_cores cores = ss_cores_given(4);
    CHECK(cores.count == 4 && cores.allowed == 4 && cores.giver == NULL);
}

static void a_job_with_fewer_cores_than_it_may_use_is_not_bound(void)
{
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURM_CPUS_ON_NODE", "1", 1);
    const ss_cores cores = ss_cores_given(4);
    CHECK(cores.count == 1 && cores.allowed == 4);
    TEST_ASSERT_EQUAL_STRING("Slurm", cores.giver);
    forget_jobs();
    setenv("PBS_JOBID", "7[1].host", 1);
    setenv("NCPUS", "3", 1);
    TEST_ASSERT_EQUAL_STRING("PBS", ss_cores_given(4).giver);
    CHECK(ss_cores_given(4).count == 3);
}

static void a_job_that_is_bound_to_its_cores_has_them(void)
{
    static const char *const GIVEN[] = {"4", "8", "", "0", "two"};
    setenv("SLURM_JOB_ID", "7", 1);
    for (int k = 0; k < 5; k++) {
        setenv("SLURM_CPUS_ON_NODE", GIVEN[k], 1);
        const ss_cores cores = ss_cores_given(4);
        CHECK(cores.count == 4 && cores.giver == NULL);
    }
}

// The core of the k-th run, placed in this process itself; -1 for several.
static int core_of(const ss_cores *cores, int k)
{
    cpu_set_t before, mine;
    CHECK(sched_getaffinity(0, sizeof before, &before) == 0);
    ss_cores_place(cores, 0, k);
    CHECK(sched_getaffinity(0, sizeof mine, &mine) == 0);
    sched_setaffinity(0, sizeof before, &before);
    int core = -1;
    for (int c = 0; c < CPU_SETSIZE; c++) {
        core = CPU_ISSET((size_t)c, &mine) && CPU_COUNT(&mine) == 1 ? c : core;
    }
    return core;
}

static void runs_have_cores_of_their_own_unless_the_kernel_chooses(void)
{
    const ss_cores cores = ss_cores_here();
    if (cores.count < 2) {
        TEST_IGNORE_MESSAGE("one core");
    }
    CHECK(core_of(&cores, 0) >= 0 && core_of(&cores, 1) > core_of(&cores, 0));
    setenv("SLURM_JOB_ID", "7", 1);
    setenv("SLURM_CPUS_ON_NODE", "1", 1);
    const ss_cores shared = ss_cores_here();
    CHECK(shared.count == 1 && core_of(&shared, 0) == -1);
}

static void run_tests(void)
{
    RUN_TEST(outside_of_jobs_all_allowed_cores_count);
    RUN_TEST(a_job_with_fewer_cores_than_it_may_use_is_not_bound);
    RUN_TEST(a_job_that_is_bound_to_its_cores_has_them);
    RUN_TEST(runs_have_cores_of_their_own_unless_the_kernel_chooses);
}

const test_group cores_tests = {.run = run_tests, .set_up = forget_jobs, .tear_down = forget_jobs};
