// The parts of the benchmark: lists of specs, rows on their way, one measurement, what is shown.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/bench/bench.h"
#include "harness/record/machine.h"
#include "tests/support/solving.h"

// ---- Lists of specs

static void splits(const char *list, int count, const char *const *expected)
{
    ss_error error;
    ss_specs specs;
    CHECK_OK(ss_specs_split("bench", list, &specs, &error));
    TEST_ASSERT_EQUAL_INT_MESSAGE(count, specs.count, list);
    for (int k = 0; k < count; k++) {
        TEST_ASSERT_EQUAL_STRING(expected[k], specs.text[k]);
    }
    ss_specs_free(&specs);
}

#define SPLITS(list, ...)                                                                          \
    splits(list, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)),                    \
           (const char *[]){__VA_ARGS__})

static void blanks_semicolons_and_commas_separate_specs(void)
{
    SPLITS("mfb", "mfb");
    SPLITS("mfb enum", "mfb", "enum");
    SPLITS("mfb;enum", "mfb", "enum");
    SPLITS("mfb,enum,gs/pac+enum", "mfb", "enum", "pac+enum");
    SPLITS(" ;mfb , enum,,\n", "mfb", "enum");
}

static void a_comma_before_key_and_value_belongs_to_the_options(void)
{
    SPLITS("mfb,enum:freeze=on,share=0.1,pac", "mfb", "enum:freeze=on,share=0.1", "pac");
    SPLITS("enum:freeze=on,mfb+enum:freeze=paper,skip=3", "enum:freeze=on",
           "mfb+enum:freeze=paper,skip=3");
    SPLITS("enum:freeze=on;mfb,pac", "enum:freeze=on", "mfb", "pac");
    SPLITS("enum:order=random:7,freeze=on,pac", "enum:order=random:7,freeze=on", "pac");
}

static void a_solver_named_twice_is_one(void)
{
    SPLITS("mfb,enum,mfb", "mfb", "enum");
    SPLITS("gs/enum,enum", "enum");
    SPLITS("enum,gs/enum,gs/enum:freeze=on", "enum", "enum:freeze=on");
    // Defaults, the order of the options and the name before a key change nothing.
    SPLITS("enum:order=natural,enum", "enum:order=natural");
    SPLITS("enum:freeze=on,skip=3;enum:gs.skip=3,freeze=on", "enum:freeze=on,skip=3");
    SPLITS("mfb,mfb+enum,anderson/mfb", "mfb", "mfb+enum", "anderson/mfb");
}

static void a_wrong_spec_is_refused_with_its_name(void)
{
    ss_error error;
    ss_specs specs;
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_specs_split("bench", "mfb,nobody", &specs, &error));
    CHECK(strstr(error.text, "nobody: unknown solver 'nobody'") == error.text);
    CHECK(specs.count == 0 && specs.text == NULL);
    // No ':' is open: share=1 is a spec of its own.
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_specs_split("bench", "mfb,share=1", &specs, &error));
    TEST_ASSERT_EQUAL_INT(SS_BAD_INPUT, ss_specs_split("bench", " ,; ", &specs, &error));
    TEST_ASSERT_EQUAL_STRING("the list of solvers is empty; write one, as mfb+enum,enum",
                             error.text);
}

// ---- Rows on their way

static ss_record_row make_row(int points)
{
    ss_record_row row = ss_record_row_blank();
    snprintf(row.status, sizeof row.status, "solved");
    snprintf(row.detail, sizeof row.detail, "a detail");
    row.iterations = 17;
    row.measures.fb = 1.0 / 3.0;
    ss_history *h = &row.history;
    TEST_ASSERT_EQUAL_INT(SS_OK, ss_history_new(points, h, NULL));
    if (points > 0) {
        for (int k = 0; k < points; k++) {
            h->iteration[k] = k;
            h->seconds[k] = 0.1 * k;
            h->fb[k] = 1.0 / (1.0 + k);
            h->normal[k] = 2.0 / (1.0 + k);
        }
    }
    return row;
}

#define MOST_SENT 65536

static char sent[MOST_SENT];

// Fills `sent`; its length.
static size_t send_row(const ss_record_row *row)
{
    ss_error error;
    const char *path = scratch_path("row");
    const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0);
    CHECK_OK(ss_bench_send(fd, row, &error));
    const ssize_t length = pread(fd, sent, sizeof sent, 0);
    close(fd);
    CHECK(length > 0 && length < MOST_SENT);
    return (size_t)length;
}

static void a_row_arrives_as_it_was_sent(void)
{
    ss_error error;
    for (int points = 0; points <= SS_HISTORY_MOST; points += SS_HISTORY_MOST) {
        ss_record_row row = make_row(points), arrived;
        CHECK_OK(ss_bench_receive(sent, send_row(&row), &arrived, &error));
        TEST_ASSERT_EQUAL_STRING("solved", arrived.status);
        TEST_ASSERT_EQUAL_STRING("a detail", arrived.detail);
        CHECK(arrived.iterations == 17 && arrived.measures.fb == 1.0 / 3.0 &&
              isnan(arrived.seconds));
        TEST_ASSERT_EQUAL_INT(points, arrived.history.count);
        if (points > 0) {
            const size_t n = (size_t)points;
            const ss_history *a = &row.history, *b = &arrived.history;
            CHECK(memcmp(a->iteration, b->iteration, n * sizeof(double)) == 0);
            CHECK(memcmp(a->seconds, b->seconds, n * sizeof(double)) == 0);
            CHECK(memcmp(a->fb, b->fb, n * sizeof(double)) == 0);
            CHECK(memcmp(a->normal, b->normal, n * sizeof(double)) == 0);
        }
        ss_record_row_free(&row);
        ss_record_row_free(&arrived);
    }
}

static bool refuses(size_t length, ss_record_row *arrived)
{
    ss_error error;
    return ss_bench_receive(sent, length, arrived, &error) == SS_BAD_INPUT;
}

static void a_part_of_a_row_is_none(void)
{
    ss_record_row row = make_row(5), arrived;
    const size_t length = send_row(&row);
    for (size_t part = 0; part < length; part++) {
        CHECK(refuses(part, &arrived));
        CHECK(arrived.history.count == 0 && arrived.history.fb == NULL &&
              isnan(arrived.measures.fb));
    }
    CHECK(refuses(length + 1, &arrived));
    ss_record_row_free(&row);
}

static void what_is_no_row_is_refused(void)
{
    ss_record_row row = make_row(0), arrived;
    const size_t length = send_row(&row);
    sent[0] ^= 1;
    CHECK(refuses(length, &arrived));
    memset(row.detail, 'x', sizeof row.detail); // a text without end
    CHECK(refuses(send_row(&row), &arrived));
}

static void a_row_that_cannot_be_sent_is_told(void)
{
    ss_error error;
    ss_record_row row = make_row(0);
    TEST_ASSERT_EQUAL_INT(SS_SYSTEM, ss_bench_send(-1, &row, &error));
    CHECK(strstr(error.text, "a row cannot be sent") == error.text);
}

// ---- One measurement

static const ss_bench_settings QUICK = {
    .tolerance = 1e-6, .time_limit = 60.0, .max_iterations = 10000, .repeats = 3};

static ss_record_row measure(const ss_problem *p, const char *spec,
                             const ss_bench_settings *settings)
{
    ss_error error;
    ss_method *method;
    ss_record_row row;
    CHECK_OK(ss_method_parse(spec, &method, &error));
    ss_bench_measure(p, method, settings, &row);
    ss_method_free(method);
    return row;
}

static void check_history(const ss_record_row *row)
{
    const ss_history *h = &row->history;
    CHECK(h->count >= 2 && h->count <= SS_HISTORY_MOST);
    for (int k = 0; k < h->count; k++) {
        CHECK(isfinite(h->fb[k]) && h->fb[k] >= 0.0);
        CHECK(isfinite(h->normal[k]) && h->normal[k] >= 0.0);
        CHECK(k == 0 || h->iteration[k] > h->iteration[k - 1]);
        CHECK(k == 0 || h->seconds[k] >= h->seconds[k - 1]);
        CHECK(k > SS_HISTORY_FIRST || h->iteration[k] == k);
    }
    CHECK(row->iterations == h->iteration[h->count - 1]);
    CHECK(row->measures.fb == h->fb[h->count - 1]);
}

static void a_solved_problem_has_all_its_numbers(void)
{
    ss_problem *p = full_rank_tangle(3, 60, 3);
    ss_record_row row = measure(p, "mfb+enum", &QUICK);
    char hash[65];
    ss_problem_sha256(p, hash);
    TEST_ASSERT_EQUAL_STRING("solved", row.status);
    TEST_ASSERT_EQUAL_STRING(hash, row.problem_sha256);
    CHECK(row.contacts == 60 && row.dim == 3 && row.repeats == 3);
    CHECK_LE(row.measures.fb, 1e-6);
    CHECK(row.local_solves >= 60 && row.local_solves <= 60L * row.iterations);
    CHECK(row.seconds > 0.0 && row.seconds <= row.seconds_median);
    CHECK_NEAR(row.seconds, row.setup_seconds + row.sweep_seconds, 1e-9);
    check_history(&row);
    ss_record_row_free(&row);
    ss_problem_free(p);
}

static void the_time_limit_ends_a_run_and_its_repeats(void)
{
    ss_problem *p = tangle(3, 1000, 1);
    ss_bench_settings settings = QUICK;
    settings.tolerance = 1e-15;
    settings.time_limit = 0.2;
    settings.max_iterations = 1000000000;
    ss_record_row row = measure(p, "gs/mfb", &settings);
    TEST_ASSERT_EQUAL_STRING("time_limit", row.status);
    CHECK(row.repeats == 0 && row.seconds == row.seconds_median);
    CHECK(row.cpu_seconds >= 0.2);
    CHECK(isfinite(row.measures.fb) && row.history.count >= 2);
    ss_record_row_free(&row);
    ss_problem_free(p);
}

static void the_limit_of_iterations_ends_a_run_and_its_repeats(void)
{
    ss_problem *p = full_rank_tangle(3, 60, 3);
    ss_bench_settings settings = QUICK;
    settings.max_iterations = 3;
    ss_record_row row = measure(p, "gs/mfb", &settings);
    TEST_ASSERT_EQUAL_STRING("max_iter", row.status);
    CHECK(row.repeats == 0 && row.seconds == row.seconds_median && row.iterations == 3);
    CHECK(isfinite(row.measures.fb) && row.history.count == 4);
    ss_record_row_free(&row);
    ss_problem_free(p);
}

static void a_guess_is_the_start_where_there_is_one(void)
{
    ss_tangle_settings tangle_settings = ss_tangle_defaults();
    tangle_settings.ncontacts = 60;
    tangle_settings.ends_per_rod = 4;
    tangle_settings.warm = true;
    ss_problem *p = tangle_of(&tangle_settings);
    ss_bench_settings settings = QUICK;
    ss_record_row cold = measure(p, "mfb+enum", &settings);
    settings.from_guess = true;
    ss_record_row warm = measure(p, "mfb+enum", &settings);
    CHECK(warm.history.fb[0] < cold.history.fb[0]);
    TEST_ASSERT_EQUAL_STRING("", warm.detail);
    ss_record_row_free(&cold);
    ss_record_row_free(&warm);
    ss_problem_free(p);
    p = full_rank_tangle(3, 20, 3);
    warm = measure(p, "mfb+enum", &settings);
    TEST_ASSERT_EQUAL_STRING("the problem holds no guess: the start is zero", warm.detail);
    ss_record_row_free(&warm);
    ss_problem_free(p);
}

static void a_problem_that_a_solver_refuses_is_bad_input(void)
{
    ss_error error;
    ss_problem *p = full_rank_tangle(3, 20, 3), *local;
    CHECK_OK(ss_problem_to_local(p, &local, &error));
    ss_record_row row = measure(local, "mfb:form=matrix-free", &QUICK);
    TEST_ASSERT_EQUAL_STRING("bad_input", row.status);
    CHECK(strstr(row.detail, "matrix-free needs a problem in global form") != NULL);
    CHECK(isnan(row.measures.fb) && row.iterations == -1 && row.history.count == 0);
    ss_record_row_free(&row);
    ss_problem_free(p);
    ss_problem_free(local);
}

// Points that are kept of a run of n iterations, the start and the end among them.
static int count_points(int n)
{
    int points = 2;
    for (int k = ss_history_next(0, n); k < n; k = ss_history_next(k, n)) {
        points++;
    }
    return points;
}

static void a_history_is_thinned(void)
{
    for (int k = 0; k < SS_HISTORY_FIRST; k++) {
        TEST_ASSERT_EQUAL_INT(k + 1, ss_history_next(k, 10000));
    }
    TEST_ASSERT_EQUAL_INT(41, count_points(40));
    TEST_ASSERT_EQUAL_INT(101, count_points(100));
    static const int LONG[] = {1000, 10000, 1000000, 1000000000};
    for (size_t k = 0; k < sizeof LONG / sizeof LONG[0]; k++) {
        CHECK(count_points(LONG[k]) > 120);
        CHECK_LE(count_points(LONG[k]), SS_HISTORY_MOST);
    }
}

// ---- What is shown

static void the_bar_tells_rate_and_time_left(void)
{
    char text[200];
    const ss_bar bar = {.done = 4, .total = 8};
    ss_bar_text(&bar, 2.0, "hair.h5 mfb", 200, text, sizeof text);
    TEST_ASSERT_EQUAL_STRING("[##########----------] 4/8  2/s  0:02 left  hair.h5 mfb", text);
    ss_bar_text(&bar, 8000.0, "a\nb", 200, text, sizeof text);
    TEST_ASSERT_EQUAL_STRING("[##########----------] 4/8  0.0005/s  2:13:20 left  a?b", text);
    ss_bar_text(&bar, 2.0, "hair.h5 mfb", 26, text, sizeof text);
    TEST_ASSERT_EQUAL_STRING("[##########----------] 4/8", text);
    const ss_bar begun = {.total = 8};
    ss_bar_text(&begun, 0.0, "", 200, text, sizeof text);
    TEST_ASSERT_EQUAL_STRING("[--------------------] 0/8  0/s  ? left  ", text);
}

static void the_circumstances_are_told(void)
{
    char date[32], build[64], narrow[24], *end;
    const ss_machine m = ss_machine_describe();
    CHECK(strstr(m.machine, ", ") != NULL && strstr(m.machine, " core") != NULL);
    CHECK(m.host[0] != '\0' && strchr(m.system, ' ') != NULL && m.memory_gb > 0.0);
    ss_machine_date(date, sizeof date);
    CHECK(strlen(date) == 20 && date[10] == 'T' && date[19] == 'Z');
    CHECK(strtol(date, &end, 10) >= 2024 && *end == '-');
    CHECK(ss_machine_load() >= 0.0);
    ss_machine_build(build, sizeof build);
    CHECK(strchr(build, ' ') != NULL);
    ss_machine_build(narrow, sizeof narrow);
    CHECK(strlen(narrow) == sizeof narrow - 1 && narrow[sizeof narrow - 10] == '~');
}

static void run_tests(void)
{
    RUN_TEST(blanks_semicolons_and_commas_separate_specs);
    RUN_TEST(a_comma_before_key_and_value_belongs_to_the_options);
    RUN_TEST(a_solver_named_twice_is_one);
    RUN_TEST(a_wrong_spec_is_refused_with_its_name);
    RUN_TEST(a_row_arrives_as_it_was_sent);
    RUN_TEST(a_part_of_a_row_is_none);
    RUN_TEST(what_is_no_row_is_refused);
    RUN_TEST(a_row_that_cannot_be_sent_is_told);
    RUN_TEST(a_solved_problem_has_all_its_numbers);
    RUN_TEST(the_time_limit_ends_a_run_and_its_repeats);
    RUN_TEST(the_limit_of_iterations_ends_a_run_and_its_repeats);
    RUN_TEST(a_guess_is_the_start_where_there_is_one);
    RUN_TEST(a_problem_that_a_solver_refuses_is_bad_input);
    RUN_TEST(a_history_is_thinned);
    RUN_TEST(the_bar_tells_rate_and_time_left);
    RUN_TEST(the_circumstances_are_told);
}

const test_group bench_tests = {.run = run_tests};
