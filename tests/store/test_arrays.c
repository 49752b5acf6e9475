// The list of arrays, and the channel between the decoder and its parent.
#include "problems/store/arrays.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/support.h"

static int ends[2]; // 0: the sender's, 1: the receiver's
static ss_arrays arrays;
static const ss_silence PATIENT = {.limit = 5};

static void set_up(void)
{
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    arrays = (ss_arrays){0};
}

static void tear_down(void)
{
    close(ends[0]);
    close(ends[1]);
    ss_arrays_free(&arrays);
}

static void what_is_sent_arrives(void)
{
    const int64_t p[3] = {0, -5, INT64_MAX};
    const double x[2] = {0.1, -0.0};
    CHECK(ss_channel_send(ends[0], "W/x", SS_ARRAY_REALS, 2, x) == 0);
    CHECK(ss_channel_send(ends[0], "W/p", SS_ARRAY_INTEGERS, 3, p) == 0);
    CHECK(ss_channel_send(ends[0], "title", SS_ARRAY_TEXT, 5, "a rod") == 0);
    CHECK(ss_channel_send(ends[0], "guesses", SS_ARRAY_GROUP, 0, NULL) == 0);
    CHECK(ss_channel_send(ends[0], "mu", SS_ARRAY_UNREADABLE, 3, "why") == 0);
    CHECK(ss_channel_send(ends[0], "q", SS_ARRAY_REALS, 0, x) == 0);
    CHECK(ss_channel_send_end(ends[0]) == 0);
    CHECK(ss_channel_receive(ends[1], &PATIENT, &arrays) == SS_HEARD_END);
    CHECK(arrays.count == 6);
    const ss_array *found = ss_arrays_find(&arrays, "W/p");
    CHECK(found != NULL && found->kind == SS_ARRAY_INTEGERS && found->count == 3);
    CHECK(memcmp(found->integers, p, sizeof p) == 0);
    found = ss_arrays_find(&arrays, "W/x");
    CHECK(found != NULL && found->kind == SS_ARRAY_REALS && memcmp(found->reals, x, sizeof x) == 0);
    TEST_ASSERT_EQUAL_STRING("a rod", ss_arrays_find(&arrays, "title")->text);
    TEST_ASSERT_EQUAL_STRING("why", ss_arrays_find(&arrays, "mu")->text);
    CHECK(ss_arrays_find(&arrays, "guesses")->data == NULL);
    CHECK(ss_arrays_find(&arrays, "q")->count == 0);
    CHECK(ss_arrays_find(&arrays, "W") == NULL);
}

static void lists_follow_one_another(void)
{
    ss_channel_send(ends[0], "one", SS_ARRAY_GROUP, 0, NULL);
    ss_channel_send_end(ends[0]);
    ss_channel_send(ends[0], "two", SS_ARRAY_GROUP, 0, NULL);
    ss_channel_send_end(ends[0]);
    CHECK(ss_channel_receive(ends[1], &PATIENT, &arrays) == SS_HEARD_END);
    CHECK(arrays.count == 1 && ss_arrays_find(&arrays, "one") != NULL);
    CHECK(ss_channel_receive(ends[1], &PATIENT, &arrays) == SS_HEARD_END);
    CHECK(arrays.count == 2 && ss_arrays_find(&arrays, "two") != NULL);
}

static void a_sender_that_closes_is_noticed(void)
{
    ss_channel_send(ends[0], "W/x", SS_ARRAY_REALS, 1, (const double[]){1});
    shutdown(ends[0], SHUT_WR);
    CHECK(ss_channel_receive(ends[1], &PATIENT, &arrays) == SS_HEARD_CLOSE);
}

static void half_a_message_is_no_message(void)
{
    const uint32_t half[2] = {SS_ARRAY_REALS, 3};
    CHECK(write(ends[0], half, sizeof half) == (ssize_t)sizeof half);
    shutdown(ends[0], SHUT_WR);
    CHECK(ss_channel_receive(ends[1], &PATIENT, &arrays) == SS_HEARD_CLOSE);
    CHECK(arrays.count == 0);
}

static int silences;

static void count_silence(void *context)
{
    CHECK(context == &silences);
    silences++;
}

// The sender's CPU time counts from there on.
static void silence_ends_the_waiting_and_its_begin_is_told(void)
{
    const ss_silence impatient = {2, count_silence, &silences};
    static const double one = 1.0;
    silences = 0;
    CHECK(ss_channel_send(ends[0], "x", SS_ARRAY_REALS, 1, &one) == 0);
    CHECK(ss_channel_receive(ends[1], &impatient, &arrays) == SS_HEARD_SILENCE);
    CHECK(arrays.count == 1 && silences == 1);
}

// A header as arrays.c lays it out: kind, length of path, count.
static void send_header(uint32_t kind, uint32_t path_length, uint64_t count)
{
    const struct {
        uint32_t kind, path_length;
        uint64_t count;
    } h = {kind, path_length, count};
    CHECK(write(ends[0], &h, sizeof h) == (ssize_t)sizeof h);
}

static void an_invented_length_costs_nothing(void)
{
    send_header(SS_ARRAY_REALS, 1, (uint64_t)1 << 50); // 8 PiB announced, one byte sent
    CHECK(write(ends[0], "xy", 2) == 2);
    shutdown(ends[0], SHUT_WR);
    CHECK(ss_channel_receive(ends[1], &PATIENT, &arrays) == SS_HEARD_CLOSE);
}

static void nonsense_is_refused(void)
{
    static const struct {
        uint32_t kind, path_length;
        uint64_t count;
    } cases[] = {{77, 1, 1},
                 {SS_ARRAY_REALS, 100000, 1},
                 {SS_ARRAY_REALS, 1, UINT64_MAX},
                 {SS_ARRAY_INTEGERS, 1, UINT64_MAX / 8 + 1},
                 {SS_ARRAY_GROUP, 1, 5}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        send_header(cases[k].kind, cases[k].path_length, cases[k].count);
        CHECK(ss_channel_receive(ends[1], &PATIENT, &arrays) == SS_HEARD_NONSENSE);
    }
}

static void lack_of_memory_is_told(void)
{
    CHECK(ss_channel_send_no_memory(ends[0]) == 0);
    CHECK(ss_channel_receive(ends[1], &PATIENT, &arrays) == SS_HEARD_NO_MEMORY);
}

static void sending_to_nobody_fails_without_a_signal(void)
{
    close(ends[1]);
    ends[1] = dup(ends[0]);
    CHECK(ss_channel_send(ends[0], "x", SS_ARRAY_GROUP, 0, NULL) == -1);
}

static void a_record_is_found_among_many(void)
{
    for (int k = 0; k < 300; k++) {
        char path[16];
        snprintf(path, sizeof path, "%d", (k * 7) % 300);
        CHECK(ss_arrays_add(&arrays, path, SS_ARRAY_TEXT, (size_t)k, malloc(1)) == 0);
    }
    ss_arrays_sort(&arrays);
    for (int k = 0; k < 300; k++) {
        char path[16];
        snprintf(path, sizeof path, "%d", (k * 7) % 300);
        const ss_array *found = ss_arrays_find(&arrays, path);
        CHECK(found != NULL && found->count == (size_t)k);
    }
    CHECK(ss_arrays_find(&arrays, "300") == NULL);
}

static void run_tests(void)
{
    RUN_TEST(what_is_sent_arrives);
    RUN_TEST(lists_follow_one_another);
    RUN_TEST(a_sender_that_closes_is_noticed);
    RUN_TEST(half_a_message_is_no_message);
    RUN_TEST(silence_ends_the_waiting_and_its_begin_is_told);
    RUN_TEST(an_invented_length_costs_nothing);
    RUN_TEST(nonsense_is_refused);
    RUN_TEST(lack_of_memory_is_told);
    RUN_TEST(sending_to_nobody_fails_without_a_signal);
    RUN_TEST(a_record_is_found_among_many);
}

const test_group arrays_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
