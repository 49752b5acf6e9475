// SHA-256, and the checksum of a problem built on it.
#include "base/sha256.h"
#include "problems/problem.h"

#include <stdio.h>
#include <string.h>

#include "tests/support/sample.h"
#include "tests/support/support.h"

static void finish(ss_sha256 *hash, char hex[65])
{
    uint8_t digest[SS_SHA256_BYTES];
    ss_sha256_final(hash, digest);
    for (int k = 0; k < SS_SHA256_BYTES; k++) {
        snprintf(hex + 2 * k, 3, "%02x", digest[k]);
    }
}

// In pieces of `piece` bytes.
static void check_hash(const char *text, size_t piece, const char *expected)
{
    const size_t length = strlen(text);
    ss_sha256 hash;
    ss_sha256_init(&hash);
    for (size_t k = 0; k < length; k += piece) {
        ss_sha256_update(&hash, text + k, length - k < piece ? length - k : piece);
    }
    char hex[65];
    finish(&hash, hex);
    TEST_ASSERT_EQUAL_STRING(expected, hex);
}

// The examples NIST published for FIPS 180.
static void published_messages_have_their_hashes(void)
{
    check_hash("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    check_hash("abc", 64, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    check_hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 64,
               "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

static void pieces_do_not_matter(void)
{
    for (size_t piece = 1; piece < 60; piece++) {
        check_hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", piece,
                   "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    }
}

static void a_million_letters_have_their_hash(void)
{
    char thousand[1000];
    memset(thousand, 'a', sizeof thousand);
    ss_sha256 hash;
    ss_sha256_init(&hash);
    for (int k = 0; k < 1000; k++) {
        ss_sha256_update(&hash, thousand, sizeof thousand);
    }
    char hex[65];
    finish(&hash, hex);
    TEST_ASSERT_EQUAL_STRING("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0",
                             hex);
}

// The expected values were computed by another program from the words that problem.c lists:
// dim 2, mu = (1/2), W = (2 0; 1 4) by columns with its zero not stored, b = (-1, 0.1).
static void a_local_problem_has_the_hash_of_its_words(void)
{
    int start[] = {0, 2, 3}, row[] = {0, 1, 1};
    double x[] = {2, 1, 4}, b[] = {-1, 0.1}, mu[] = {0.5};
    const ss_problem p = {.form = SS_LOCAL,
                          .dim = 2,
                          .ncontacts = 1,
                          .mu = mu,
                          .W = {.nrows = 2, .ncols = 2, .start = start, .row = row, .x = x},
                          .b = b};
    char hex[65];
    ss_problem_sha256(&p, hex);
    TEST_ASSERT_EQUAL_STRING("95dee3f5cd1dd2f7646c62da51116d41eabe5b4bbd52679393114c2e1b0222f9",
                             hex);
}

// M = (3), H = (1 0), its zero not stored, f = (-0), w = (0, 1), mu = (0).
static void a_global_problem_has_the_hash_of_its_words(void)
{
    int M_start[] = {0, 1}, H_start[] = {0, 1, 1}, row[] = {0};
    double M_x[] = {3}, H_x[] = {1}, f[] = {-0.0}, w[] = {0, 1}, mu[] = {0};
    const ss_problem p = {.form = SS_GLOBAL,
                          .dim = 2,
                          .ncontacts = 1,
                          .ndofs = 1,
                          .mu = mu,
                          .M = {.nrows = 1, .ncols = 1, .start = M_start, .row = row, .x = M_x},
                          .H = {.nrows = 1, .ncols = 2, .start = H_start, .row = row, .x = H_x},
                          .f = f,
                          .w = w};
    char hex[65];
    ss_problem_sha256(&p, hex);
    TEST_ASSERT_EQUAL_STRING("0571bb751261c324c02c409b306f47b6c1694b5f57c9d34cb1cc8135daf65703",
                             hex);
}

// Turns the last bit of one number, compares, and turns it back.
static void check_number_counts(const ss_problem *p, double *number)
{
    char before[65], after[65];
    ss_problem_sha256(p, before);
    const double kept = *number;
    *number = nextafter(kept, 2.0);
    ss_problem_sha256(p, after);
    *number = kept;
    TEST_ASSERT_TRUE(strcmp(before, after) != 0);
}

static void check_numbers_count(const ss_problem *p, double *numbers, int count)
{
    for (int k = 0; k < count; k++) {
        check_number_counts(p, &numbers[k]);
    }
}

static void every_number_counts(void)
{
    ss_problem *p = sample_problem(SS_GLOBAL, 3, 3);
    check_numbers_count(p, p->mu, 3);
    check_numbers_count(p, p->M.x, ss_sparse_count(&p->M));
    check_numbers_count(p, p->H.x, ss_sparse_count(&p->H));
    check_numbers_count(p, p->f, p->ndofs);
    check_numbers_count(p, p->w, 9);
    ss_problem_free(p);
    p = sample_problem(SS_LOCAL, 2, 2);
    check_numbers_count(p, p->mu, 2);
    check_numbers_count(p, p->W.x, 16);
    check_numbers_count(p, p->b, 4);
    ss_problem_free(p);
}

static void the_place_of_an_entry_counts(void)
{
    ss_problem *p = sample_problem(SS_GLOBAL, 2, 2);
    char before[65], after[65];
    ss_problem_sha256(p, before);
    p->H.row[2]++;
    ss_problem_sha256(p, after);
    TEST_ASSERT_TRUE(strcmp(before, after) != 0);
    ss_problem_free(p);
}

static void guesses_answers_and_words_do_not_count(void)
{
    ss_problem *p = sample_problem(SS_GLOBAL, 3, 2);
    char before[65], after[65];
    ss_problem_sha256(p, before);
    p->guesses[0].r[0] += 1.0;
    p->solution.u[0] += 1.0;
    p->title[0] = 'A';
    p->provenance = ss_provenance_unknown();
    p->claim = ss_claim_unknown();
    ss_problem_sha256(p, after);
    TEST_ASSERT_EQUAL_STRING(before, after);
    ss_problem_free(p);
}

static void run_tests(void)
{
    RUN_TEST(published_messages_have_their_hashes);
    RUN_TEST(pieces_do_not_matter);
    RUN_TEST(a_million_letters_have_their_hash);
    RUN_TEST(a_local_problem_has_the_hash_of_its_words);
    RUN_TEST(a_global_problem_has_the_hash_of_its_words);
    RUN_TEST(every_number_counts);
    RUN_TEST(the_place_of_an_entry_counts);
    RUN_TEST(guesses_answers_and_words_do_not_count);
}

const test_group sha256_tests = {.run = run_tests};
