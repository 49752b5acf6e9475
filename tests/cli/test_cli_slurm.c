// scripts/bench-slurm in a private cluster of two nodes, which tests/with-slurm starts around this
// group. SCRIPTS in the environment is the folder of scripts.
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/bench_inputs.h"

#define ARGUMENTS "--solvers mfb+enum,secular,pac --repeat 1"

static char whole[512];   // a plain bench of many: nine rows
static char wrapper[512]; // the program, which notes its process before it begins
static char pid_file[512], exit_file[512];
static char said[OUTPUT_CAPACITY]; // by the last command

// Its exit code; what it says goes to `said`.
__attribute__((format(printf, 1, 2))) static int shell(const char *format, ...)
{
    char command[4000], out[512];
    va_list arguments;
    keep_path(out, "said");
    va_start(arguments, format);
    const int used = vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    snprintf(command + used, sizeof command - (size_t)used, " >'%s' 2>&1", out);
    const int status = system(command);
    snprintf(said, sizeof said, "%s", file_text(out));
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#define SHELL(code, ...) TEST_ASSERT_EQUAL_INT_MESSAGE(code, shell(__VA_ARGS__), said)
#define SLURM            "BENCH_SLURM_POLL=0.2 '%s/bench-slurm' "
#define BENCH            " -- '%s' " ARGUMENTS " --out '%s'"

static void write_wrapper(const char *text)
{
    write_bytes(wrapper, text, strlen(text));
    CHECK(chmod(wrapper, 0755) == 0);
}

static void set_up_cluster(void)
{
    char text[1500];
    if (getenv("WITH_SLURM") == NULL) {
        TEST_IGNORE_MESSAGE("not run by tests/with-slurm");
    }
    set_up();
    if (whole[0] == '\0') {
        keep_path(whole, "whole.db");
        keep_path(wrapper, "wrapper");
        keep_path(pid_file, "pid");
        keep_path(exit_file, "exit");
        SHELL(0, "'%s' bench '%s' " ARGUMENTS " --out '%s'", getenv("STICKSLIP"), many, whole);
    }
    snprintf(text, sizeof text, "#!/bin/sh\necho $$ >'%s'\nexec '%s' \"$@\"\n", pid_file,
             getenv("STICKSLIP"));
    write_wrapper(text);
    unlink(exit_file);
}

static void check_whole(void)
{
    char folder[600];
    ss_record_rows one = read_results(whole), two = read_results(result);
    TEST_ASSERT_EQUAL_size_t(9, one.count);
    check_same_records(&one, &two);
    ss_record_rows_free(&one);
    ss_record_rows_free(&two);
    snprintf(folder, sizeof folder, "%s.shards", result);
    CHECK(access(folder, F_OK) != 0);
}

// ---- A job while it runs

static void pause_briefly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
}

static const char *shard_file(const char *name)
{
    static char path[700];
    snprintf(path, sizeof path, "%s.shards/%s", result, name);
    return path;
}

// One shard, which stops after its first row.
static void stop_in_the_middle(void)
{
    const char *log = shard_file("0.log");
    for (int k = 0; k < 10000 && (access(log, F_OK) != 0 || strstr(file_text(log), "1/9 ") == NULL);
         k++) {
        pause_briefly();
    }
    HOLDS(file_text(log), "1/9 ");
    const pid_t bench = atoi(file_text(pid_file));
    CHECK(bench > 1 && kill(bench, SIGSTOP) == 0);
    CHECK(strstr(file_text(log), "9/9 ") == NULL);
}

static void start_in_the_background(void)
{
    SHELL(0, "(STICKSLIP='%s' " SLURM "1 --time 5" BENCH " >'%s.out' 2>&1; echo $? >'%s') &",
          wrapper, getenv("SCRIPTS"), many, result, exit_file, exit_file);
}

// The exit code of what was started in the background; its words are in `said`.
static int wait_for_its_end(void)
{
    wait_for_bytes(exit_file);
    char out[520];
    snprintf(out, sizeof out, "%s.out", exit_file);
    snprintf(said, sizeof said, "%s", file_text(out));
    return atoi(file_text(exit_file));
}

// ---- Tests

static void the_rows_are_those_of_a_plain_bench_for_any_number_of_shards(void)
{
    static const char *const COUNTS[] = {"1", "2", "5"}; // of three problems
    for (int k = 0; k < 3; k++) {
        unlink(result);
        SHELL(0, SLURM "%s --time=5" BENCH, getenv("SCRIPTS"), COUNTS[k], many, result);
        HOLDS(said, "9 of 9 rows in ");
        HOLDS(said, "has all 9 rows");
        check_whole();
    }
    size_t before, after;
    char *old = read_bytes(result, &before);
    SHELL(0, SLURM "2" BENCH, getenv("SCRIPTS"), many, result);
    HOLDS(said, "0 of 9 rows are missing");
    CHECK(strstr(said, "job") == NULL);
    char *now = read_bytes(result, &after);
    CHECK(before == after && memcmp(old, now, before) == 0);
    free(old);
    free(now);
}

static void a_damaged_shard_is_made_again(void)
{
    CHECK(mkdir(shard_file(""), 0777) == 0);
    for (int k = 0; k < 2; k++) {
        SHELL(0, "'%s' bench '%s' " ARGUMENTS " --shard %d/2 --out '%s.shards/%d-2'",
              getenv("STICKSLIP"), many, k, result, k);
    }
    CHECK(truncate(shard_file("0-2"), 5000) == 0);
    SHELL(0, SLURM "2" BENCH, getenv("SCRIPTS"), many, result);
    HOLDS(said, "0-2: damaged record");
    HOLDS(said, "0-2 is damaged: its rows are made again");
    HOLDS(said, "6 of 9 rows in 2 shards");
    check_whole();
}

// What slurmd does at the time limit of a job, whose smallest is a minute: SIGTERM, then SIGKILL.
static void a_job_that_is_ended_keeps_its_rows_and_the_same_command_goes_on(void)
{
    start_in_the_background();
    stop_in_the_middle();
    SHELL(0, "scancel $(cat '%s')", shard_file("job"));
    TEST_ASSERT_EQUAL_INT_MESSAGE(2, wait_for_its_end(), said);
    HOLDS(said, "of 9; the same command goes on");
    CHECK(strstr(said, "rows that are missing: 9 of 9") == NULL);
    SHELL(0, SLURM "3" BENCH, getenv("SCRIPTS"), many, result); // with any N
    CHECK(strstr(said, "9 of 9 rows in") == NULL);
    check_whole();
}

static void the_task_of_a_node_that_dies_goes_on_elsewhere(void)
{
    char node[64], tests[600];
    start_in_the_background();
    stop_in_the_middle();
    SHELL(0, "squeue -h -o %%N -j $(cat '%s')", shard_file("job"));
    snprintf(node, sizeof node, "%.*s", (int)strcspn(said, "\n"), said);
    CHECK(node[0] == 'n');
    snprintf(tests, sizeof tests, "%s/../tests/with-slurm", getenv("SCRIPTS"));
    SHELL(0, "'%s' --kill %s", tests, node);
    SHELL(0, "scontrol update nodename=%s state=down reason=dead", node);
    // Slurm waits two minutes before a job goes on, if it has not gone on already.
    shell("scontrol update jobid=$(cat '%s')_0 starttime=now", shard_file("job"));
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, wait_for_its_end(), said);
    check_whole();
    SHELL(0, "'%s' --start %s && scontrol update nodename=%s state=resume", tests, node, node);
}

// As a program that was compiled for another processor; its jobs make no row.
static void two_submissions_without_a_row_are_enough(void)
{
    char text[1500];
    snprintf(text, sizeof text,
             "#!/bin/sh\n[ -z \"$SLURM_JOB_ID\" ] || kill -ILL $$\nexec '%s' \"$@\"\n",
             getenv("STICKSLIP"));
    write_wrapper(text);
    for (int k = 0; k < 3; k++) {
        SHELL(2, "STICKSLIP='%s' " SLURM "1" BENCH, wrapper, getenv("SCRIPTS"), many, result);
        HOLDS(said, "does not run on ");
        HOLDS(said, "-march=native");
        CHECK((strstr(said, "two submissions in a row made no row") != NULL) == (k == 2));
        CHECK((strstr(said, "9 of 9 rows in 1 shards") != NULL) == (k < 2));
    }
    SHELL(0, SLURM "2" BENCH, getenv("SCRIPTS"), many, result); // another job
    check_whole();
}

// The job's script names the program and the record: both may have names that are commands.
static void names_in_the_script_of_a_job_are_not_run(void)
{
    static const char FOLDER[] = "$(touch PWNED)`touch PWNED`\";touch PWNED;#";
    char folder[600], program[700], record[700];
    snprintf(folder, sizeof folder, "%s", scratch_path(FOLDER));
    CHECK(mkdir(folder, 0777) == 0);
    snprintf(program, sizeof program, "%s/stickslip", folder);
    snprintf(record, sizeof record, "%s/r.db", folder);
    CHECK(rename(wrapper, program) == 0);
    for (int broken = 1; broken >= 0; broken--) {
        char text[1500];
        snprintf(text, sizeof text,
                 "#!/bin/sh\n[ %d = 0 ] || [ -z \"$SLURM_JOB_ID\" ] || exit 1\nexec '%s' \"$@\"\n",
                 broken, getenv("STICKSLIP"));
        write_bytes(program, text, strlen(text));
        SHELL(broken == 1 ? 2 : 0, "cd '%s' && STICKSLIP='%s' " SLURM "%d" BENCH, scratch_path(""),
              program, getenv("SCRIPTS"), 1 + broken, many, record);
        SHELL(0, "test -z \"$(find '%s' . -name PWNED)\"", scratch_path(""));
    }
    SHELL(1, "cd '%s' && " SLURM "1 -- p.h5 --out 'a\\b.db'", scratch_path(""), getenv("SCRIPTS"));
    HOLDS(said, "takes no backslash");
}

static void mistakes_are_told_before_anything_is_submitted(void)
{
    static const struct {
        int code;
        const char *words, *sentence;
    } MISTAKES[] = {
        {1, "", "N, the number of shards, is needed first"},
        {1, "0 -- p.h5 --solvers enum --out r.db", "N, the number of shards"},
        {1, "2 p.h5 --solvers enum --out r.db", "'--' and the arguments of bench are missing"},
        {1, "2 -- p.h5 --solvers enum", "bench needs --out R"},
        {1, "2 --at-once -- p.h5 --solvers enum --out r.db", "--at-once takes a whole number"},
        {1, "2 --array=0-3 -- p.h5 --solvers enum --out r.db", "--array=0-3 is set by bench-slurm"},
        {1, "2 -- p.h5 --shard 0/2 --solvers enum --out r.db", "--shard is set by bench-slurm"},
        {1, "2 -- p.h5 --solvers nobody --out r.db", "unknown solver 'nobody'"},
        {3, "2 -- /nowhere.h5 --solvers enum --out r.db", "/nowhere.h5: no such file"},
    };
    for (size_t k = 0; k < sizeof MISTAKES / sizeof MISTAKES[0]; k++) {
        SHELL(MISTAKES[k].code, "cd '%s' && " SLURM "%s", scratch_path(""), getenv("SCRIPTS"),
              MISTAKES[k].words);
        HOLDS(said, MISTAKES[k].sentence);
    }
    SHELL(4, SLURM "2 --partition=nowhere" BENCH, getenv("SCRIPTS"), many, result);
    HOLDS(said, "sbatch refuses the job");
    SHELL(3, SLURM "2" BENCH, getenv("SCRIPTS"), many, many);
    HOLDS(said, "a record of runs is an SQLite database");
}

static void run_tests(void)
{
    RUN_TEST(the_rows_are_those_of_a_plain_bench_for_any_number_of_shards);
    RUN_TEST(a_damaged_shard_is_made_again);
    RUN_TEST(a_job_that_is_ended_keeps_its_rows_and_the_same_command_goes_on);
    RUN_TEST(the_task_of_a_node_that_dies_goes_on_elsewhere);
    RUN_TEST(two_submissions_without_a_row_are_enough);
    RUN_TEST(names_in_the_script_of_a_job_are_not_run);
    RUN_TEST(mistakes_are_told_before_anything_is_submitted);
}

const test_group cli_slurm_tests = {.run = run_tests, .set_up = set_up_cluster};
