// Every allocation of the paths from a problem to a table fails once: the k-th, for all k. Each
// comes back as a failure with a sentence, never as a table or a row that says something else.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/bench/bench.h"
#include "harness/results/figures.h"
#include "harness/results/tables.h"
#include "problems/store/store.h"
#include "tests/support/results.h"
#include "tests/support/solving.h"

static ss_error error;
static char problem_file[512], broken_file[512];
// Read once: that reading survives is shown elsewhere.
static ss_problem *problem;
static ss_record_rows results, others;

static void set_up(void)
{
    error = (ss_error){0};
    CHECK_OK(ss_record_rows_read(results_file("results.db"), &results, &error));
    ss_record_row rows[] = {result_row("mfb+enum:freeze=paper", 1),
                            result_row("mfb:freeze=paper", 2)};
    CHECK_OK(ss_record_rows_read(results_file_of("others.db", rows, 2), &others, &error));
    problem = full_rank_tangle(3, 6, 3);
    snprintf(problem_file, sizeof problem_file, "%s", scratch_path("problem.h5"));
    CHECK_OK(ss_store_write(problem_file, problem, &error));
    snprintf(broken_file, sizeof broken_file, "%s", scratch_path("broken.h5"));
    write_bytes(broken_file, "\211HDF\r\n\032\n and no more", 20);
}

static void tear_down(void)
{
    ss_problem_free(problem);
    ss_record_rows_free(&results);
    ss_record_rows_free(&others);
}

// ---- Bench

static const ss_bench_settings SETTINGS = {
    .tolerance = 1e-6, .time_limit = 60.0, .max_iterations = 100, .repeats = 2};

// Sentences that are expected would only hide others.
static int silently(int (*operation)(void))
{
    fflush(stderr);
    const int kept = dup(2), nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, 2);
    const int code = operation();
    dup2(kept, 2);
    close(kept);
    close(nowhere);
    return code;
}

static ss_status told_on_stderr(int code)
{
    return code == 0 ? SS_OK : ss_fail(&error, (ss_status)code, "told on stderr");
}

static int plan_files(void)
{
    char *files[] = {problem_file, broken_file};
    ss_specs specs;
    ss_bench_plan plan;
    if (ss_specs_split("bench", "mfb+enum,enum:freeze=on", &specs, &error) != SS_OK) {
        CHECK(specs.text == NULL && specs.count == 0);
        return (int)SS_SYSTEM;
    }
    int code = ss_bench_plan_begin("test", 2, files, &SETTINGS, &plan);
    const int loaded = ss_bench_plan_load(&plan, &specs, (ss_shard){0});
    code = loaded > code ? loaded : code;
    CHECK(code != 0 || plan.count == 4);
    ss_bench_plan_free(&plan);
    ss_specs_free(&specs);
    return code;
}

static ss_status plan_silently(void)
{
    return told_on_stderr(silently(plan_files));
}

// A whole benchmark of a child that says nothing.
static int run_children(void)
{
    char *files[] = {problem_file};
    const ss_bench_orders orders = {.verb = "test", .program = "/bin/true", .jobs = 1};
    ss_record *record = NULL;
    ss_specs specs;
    ss_bench_plan made;
    unlink(scratch_path("run.db"));
    if (ss_specs_split("bench", "mfb", &specs, &error) != SS_OK) {
        return (int)SS_SYSTEM;
    }
    int code = (int)ss_record_open(scratch_path("run.db"), SS_RECORD_WRITE, &record, &error);
    if (code == 0) {
        code = ss_bench_plan_begin("test", 1, files, &SETTINGS, &made);
        code = code == 0 ? ss_bench_plan_load(&made, &specs, (ss_shard){0}) : code;
        code = code == 0 ? (int)ss_bench_plan_compare(&made, record, &error) : code;
        code = code == 0 ? ss_bench_run(&made, &orders, record) : code;
        ss_bench_plan_free(&made);
    }
    ss_record_close(record);
    ss_specs_free(&specs);
    return code;
}

static ss_status bench_children(void)
{
    return told_on_stderr(silently(run_children));
}

static void benchmarks_survive_every_failing_allocation(void)
{
    FAIL_EACH(plan_silently, NULL);
    FAIL_EACH(bench_children, NULL);
}

// What fails in the child is a row, too.
static ss_status measure(void)
{
    ss_method *method = NULL;
    ss_record_row row;
    ss_status status = ss_method_parse("mfb+enum", &method, &error);
    if (status == SS_OK) {
        ss_bench_measure(problem, method, &SETTINGS, &row);
        if (strcmp(row.status, "solved") != 0) {
            CHECK(strcmp(row.status, "crashed") == 0 && strstr(row.detail, "memory") != NULL);
            status = ss_fail(&error, SS_SYSTEM, "%s", row.detail);
        }
        ss_record_row_free(&row);
    }
    ss_method_free(method);
    return status;
}

// On its way through a file instead of a pipe.
static ss_status send_and_receive(void)
{
    static char bytes[1 << 16];
    static ss_record_row arrived;
    ss_record_row row = ss_record_row_blank();
    ss_status status = ss_history_new(3, &row.history, &error);
    for (int k = 0; k < row.history.count; k++) {
        row.history.iteration[k] = k;
        row.history.seconds[k] = row.history.fb[k] = row.history.normal[k] = 1.0;
    }
    const int fd = open(scratch_path("row"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    status = status == SS_OK ? ss_bench_send(fd, &row, &error) : status;
    if (status == SS_OK) {
        const ssize_t length = pread(fd, bytes, sizeof bytes, 0);
        CHECK(length > 0);
        status = ss_bench_receive(bytes, (size_t)length, &arrived, &error);
        CHECK(arrived.history.count == (status == SS_OK ? 3 : 0));
        ss_record_row_free(&arrived);
    }
    close(fd);
    ss_record_row_free(&row);
    return status;
}

static void measurements_survive_every_failing_allocation(void)
{
    FAIL_EACH(measure, NULL);
    FAIL_EACH(send_and_receive, NULL);
}

// ---- Tables and figures

// The stream is there before allocations fail: the C library's own are not ours.
static FILE *page;

static ss_status print(ss_table_make *make, const ss_table_request *request)
{
    rewind(page);
    ss_table *table = ss_table_new(page, SS_FORMAT_TEXT);
    const ss_status status = make(request, table, &error);
    if (status == SS_OK) {
        return ss_table_finish(table, &error);
    }
    ss_table_free(table);
    return status;
}

static ss_status tables(void)
{
    ss_results from = {.record = results};
    ss_status status = ss_trials_new(&results, NAN, &from.trials, &error);
    const ss_table_request request = {.results = &from, .paper = true, .against = "mfb+enum"};
    for (const ss_table_kind *kind = ss_table_kinds; kind->name != NULL; kind++) {
        if (status == SS_OK && kind->needs != SS_NEEDS_RUNS) {
            status = print(kind->make, &request);
        }
    }
    ss_trials_free(from.trials);
    return status;
}

static ss_status comparison(void)
{
    ss_results first = {.path = "a"}, second = {.path = "b"};
    ss_status status = ss_trials_new(&results, NAN, &first.trials, &error);
    status = status == SS_OK ? ss_trials_new(&others, NAN, &second.trials, &error) : status;
    const ss_table_request request = {.results = &first, .other = &second};
    for (const ss_table_kind *kind = ss_table_kinds; kind->name != NULL; kind++) {
        if (status == SS_OK && kind->compare != NULL) {
            status = print(kind->compare, &request);
        }
    }
    ss_trials_free(first.trials);
    ss_trials_free(second.trials);
    return status;
}

static void tables_survive_every_failing_allocation(void)
{
    page = fopen(scratch_path("page"), "w+");
    FAIL_EACH(tables, NULL);
    FAIL_EACH(comparison, NULL);
    fclose(page);
}

static ss_status curves(void)
{
    ss_results from = {.record = results};
    ss_status status = ss_trials_new(&results, NAN, &from.trials, &error);
    const ss_figure_request request = {.results = &from};
    for (const ss_figure_kind *kind = ss_figure_kinds; kind->name != NULL; kind++) {
        if (status == SS_OK && kind->needs != SS_NEEDS_RUNS) {
            ss_figure figure = {0};
            status = kind->make(&request, &figure, &error);
            ss_figure_free(&figure);
        }
    }
    ss_trials_free(from.trials);
    return status;
}

static void figures_survive_every_failing_allocation(void)
{
    FAIL_EACH(curves, NULL);
}

static void run_tests(void)
{
    RUN_TEST(benchmarks_survive_every_failing_allocation);
    RUN_TEST(measurements_survive_every_failing_allocation);
    RUN_TEST(tables_survive_every_failing_allocation);
    RUN_TEST(figures_survive_every_failing_allocation);
}

const test_group bench_allocation_tests = {
    .run = run_tests, .set_up = set_up, .tear_down = tear_down};
