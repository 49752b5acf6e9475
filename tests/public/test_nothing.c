// Every entry of the library with nothing: NULL, an empty problem, one that lacks a part. It refuses with a
// sentence or has nothing to do, and never dies.
#include "tests/support/support.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stickslip.h"
#include "tests/support/make_problem.h"
#include "tests/support/program.h"

static ss_error error;

#define REFUSED(sentence, call)                                                                    \
    do {                                                                                           \
        error = (ss_error){0};                                                                     \
        TEST_ASSERT_EQUAL_INT_MESSAGE(SS_BAD_INPUT, (call), #call);                                \
        HOLDS(error.text, sentence);                                                               \
    } while (0)

static bool is_none(ss_measures m)
{
    return isnan(m.fb) && isnan(m.normal) && m.worst_contact == -1;
}

// ---- What is freed

static void everything_that_is_freed_may_be_null_or_empty(void)
{
    ss_state state = {0};
    ss_sparse matrix = {0};
    ss_report report = {0};
    ss_state_free(NULL);
    ss_state_free(&state);
    ss_state_free(&state);
    ss_sparse_free(NULL);
    ss_sparse_free(&matrix);
    ss_report_free(NULL);
    ss_report_free(&report);
    ss_problem_free(NULL);
    ss_problem_free(ss_problem_new());
    ss_response_free(NULL);
    ss_method_free(NULL);
    ss_reader_close(NULL);
    ss_writer_close(NULL);
}

// ---- Problems

// Each function that takes a problem and can fail.
static void check_refused(const ss_problem *p, const char *sentence)
{
    ss_problem *made = (ss_problem *)&made;
    ss_response *response = (ss_response *)&response;
    ss_writer *writer;
    ss_method *method;
    double r[3] = {7.0, 8.0, 9.0};
    char hex[65] = "x", path[600];
    snprintf(path, sizeof path, "%s", scratch_path("none.h5"));
    REFUSED(sentence, ss_problem_check_sizes(p, &error));
    CHECK(ss_problem_check_sizes(p, NULL) == SS_BAD_INPUT);
    REFUSED(sentence, ss_problem_copy(p, &made, &error));
    CHECK(made == NULL);
    REFUSED(sentence, ss_problem_to_local(p, &made, &error));
    CHECK(made == NULL);
    REFUSED(sentence, ss_response_new(p, &response, &error));
    CHECK(response == NULL);
    ss_problem_sha256(p, hex);
    TEST_ASSERT_EQUAL_STRING("", hex);
    REFUSED(sentence, ss_store_write(path, p, &error));
    CHECK_OK(ss_writer_open(path, &writer, &error));
    REFUSED(sentence, ss_writer_add(writer, "a", p, &error));
    REFUSED("one of its problems could not be added", ss_writer_commit(writer, &error));
    ss_writer_close(writer);
    for (int k = 0; ss_global_solvers[k] != NULL; k++) {
        char spec[80];
        const ss_card *card = &ss_global_solvers[k]->card;
        snprintf(spec, sizeof spec, "%s%s", card->name,
                 ss_global_solvers[k]->takes_local ? "/mfb" : "");
        CHECK_OK(ss_method_parse(spec, &method, &error));
        const ss_task task = {
            .problem = p, .method = method, .tolerance = 1e-6, .max_iterations = 5};
        ss_result result = {.outcome = SS_CONVERGED};
        REFUSED(sentence, ss_solve(&task, r, &result, &error));
        CHECK(result.outcome == SS_UNSOLVED && r[0] == 7.0);
        REFUSED(sentence, ss_solve(&task, r, NULL, &error));
        ss_method_free(method);
    }
}

static void check_values_refused(ss_problem *p, const char *sentence)
{
    ss_report report = {0};
    REFUSED(sentence, ss_check_values(p, NULL, &error));
    REFUSED(sentence, ss_check_values(p, &report, &error));
    TEST_ASSERT_EQUAL_INT(1, report.ndefects);
    HOLDS(ss_report_first_defect(&report), sentence);
    ss_report_free(&report);
    check_refused(p, sentence);
}

static void a_problem_without_contacts_is_refused_everywhere(void)
{
    ss_problem *p = ss_problem_new();
    check_values_refused(NULL, "there is no problem");
    check_values_refused(p, "a problem has 2 or 3 dimensions, not 0");
    for (int form = 0; form < 2; form++) {
        p->form = form == 0 ? SS_LOCAL : SS_GLOBAL;
        p->dim = 3;
        p->ncontacts = 0;
        check_values_refused(p, "contacts, not 0");
        p->ncontacts = -2;
        check_values_refused(p, "contacts, not -2");
        p->ncontacts = INT32_MAX;
        check_values_refused(p, "contacts, not 2147483647");
        p->ncontacts = 1;
        check_values_refused(p, "the problem has no mu");
    }
    ss_problem_free(p);
}

// p without this part, which is put back.
static void check_without(ss_problem *p, void *part, size_t size, const char *sentence)
{
    char *kept = malloc(size);
    memcpy(kept, part, size);
    memset(part, 0, size);
    check_values_refused(p, sentence);
    memcpy(part, kept, size);
    free(kept);
}

static void a_problem_that_lacks_a_part_is_refused_everywhere(void)
{
    ss_problem *p = random_problem(1, 3, 4, 3, 6), *local;
    CHECK_OK(ss_problem_to_local(p, &local, &error));
    check_without(p, &p->mu, sizeof p->mu, "the problem has no mu");
    check_without(p, &p->M, sizeof p->M, "the problem has no M");
    check_without(p, &p->M.x, sizeof p->M.x, "the problem has no M");
    check_without(p, &p->H, sizeof p->H, "the problem has no H");
    check_without(p, &p->H.row, sizeof p->H.row, "the problem has no H");
    check_without(p, &p->H.nrows, sizeof p->H.nrows, "H is 0 x 12 instead of ");
    check_without(p, &p->f, sizeof p->f, "the problem has no f");
    check_without(p, &p->w, sizeof p->w, "the problem has no w");
    check_without(p, &p->ndofs, sizeof p->ndofs, "0 degrees of freedom");
    check_without(local, &local->W, sizeof local->W, "the problem has no W");
    check_without(local, &local->W.ncols, sizeof local->W.ncols, "W is 12 x 0 instead of 12 x 12");
    check_without(local, &local->b, sizeof local->b, "the problem has no b");
    local->nguesses = 2;
    check_values_refused(local, "the problem has 2 guesses that are not there");
    local->nguesses = -1;
    check_values_refused(local, "the problem has -1 guesses that are not there");
    local->nguesses = 0;
    CHECK_OK(ss_problem_check_sizes(p, &error));
    CHECK_OK(ss_check_values(local, NULL, &error));
    ss_problem_free(p);
    ss_problem_free(local);
}

static void an_answer_that_is_not_there_is_not_measured(void)
{
    const double one[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, b[3] = {-1.0, 0.0, 0.0};
    double r[3] = {1.0, 0.0, 0.0}, u[3] = {7.0, 7.0, 7.0};
    ss_problem *p = one_contact(3, one, b, 0.5);
    ss_response *response;
    CHECK_OK(ss_response_new(p, &response, &error));
    CHECK(is_none(ss_response_judge(NULL, r, u)) && is_none(ss_response_judge(response, NULL, u)) &&
          is_none(ss_response_judge(response, r, NULL)));
    ss_response_velocity(NULL, r, u, NULL);
    ss_response_velocity(response, NULL, u, NULL);
    CHECK(u[0] == 7.0);
    CHECK_LE(ss_response_judge(response, r, u).fb, 1e-15);
    CHECK(is_none(ss_measure(3, 0, one, b, one, r, u)) &&
          is_none(ss_measure(0, 1, one, b, one, r, u)));
    CHECK(is_none(ss_measure(3, 1, NULL, b, one, r, u)) &&
          is_none(ss_measure(3, 1, one, NULL, one, r, u)));
    CHECK(is_none(ss_measure(3, 1, one, b, NULL, r, u)) &&
          is_none(ss_measure(3, 1, one, b, one, NULL, u)));
    CHECK(is_none(ss_measure(3, 1, one, b, one, r, NULL)) && is_none(ss_measures_none()));
    CHECK(isnan(ss_measures_error(NULL)) && !ss_measures_pass(NULL, INFINITY));
    const ss_scales scales = ss_scales_find(3, 0, NULL, NULL);
    CHECK(scales.velocity == 1.0 && scales.compliance == 1.0);
    ss_response_free(response);
    ss_problem_free(p);
}

static void an_empty_matrix_is_a_matrix(void)
{
    const ss_sparse none = {0};
    ss_sparse made, back;
    bool symmetric = false;
    double unsymmetry = 1.0, y[1] = {7.0};
    TEST_ASSERT_EQUAL_INT(0, ss_sparse_count(NULL) + ss_sparse_count(&none));
    CHECK_OK(ss_sparse_from_triplets(&made, 0, 0, 0, NULL, NULL, NULL, &error));
    CHECK_OK(ss_sparse_transpose(&made, &back, &error));
    TEST_ASSERT_EQUAL_INT(0, ss_sparse_count(&made) + ss_sparse_count(&back));
    CHECK(ss_sparse_unsymmetry(&made, &back) == 0.0 && ss_sparse_unsymmetry(&none, &none) == 0.0);
    ss_sparse_free(&made);
    ss_sparse_free(&back);
    CHECK_OK(ss_sparse_transpose(&none, &back, &error));
    ss_sparse_free(&back);
    ss_sparse_add_product(&none, NULL, y);
    ss_sparse_add_transposed_product(&none, y, NULL);
    CHECK(y[0] == 7.0);
    CHECK_OK(ss_sparse_find_symmetric(&none, &symmetric, &error));
    CHECK_OK(ss_sparse_find_unsymmetry(&none, &unsymmetry, &error));
    CHECK(symmetric && unsymmetry == 0.0);
    REFUSED("a -1 x 2 matrix cannot be made",
            ss_sparse_from_triplets(&made, -1, 2, 0, NULL, NULL, NULL, &error));
    REFUSED("of -3 entries", ss_sparse_from_triplets(&made, 2, 2, -3, NULL, NULL, NULL, &error));
    REFUSED("of 3 entries that are not there",
            ss_sparse_from_triplets(&made, 2, 2, 3, NULL, NULL, y, &error));
    CHECK(made.start == NULL);
}

// ---- Files

static void a_file_that_is_not_named_is_refused(void)
{
    ss_reader *reader = (ss_reader *)&reader;
    ss_writer *writer = (ss_writer *)&writer;
    ss_problem *p = (ss_problem *)&p;
    char names[9] = "x";
    REFUSED("no file is named", ss_reader_look(NULL, &error));
    REFUSED("no file is named", ss_reader_open(NULL, &reader, &error));
    CHECK(reader == NULL && ss_reader_open(NULL, &reader, NULL) == SS_BAD_INPUT);
    TEST_ASSERT_EQUAL_INT(0, ss_reader_count(NULL));
    TEST_ASSERT_EQUAL_STRING("", ss_reader_name(NULL, 0));
    TEST_ASSERT_EQUAL_INT(-1, ss_reader_find(NULL, "a"));
    REFUSED("there is no problem 0 among 0", ss_reader_load(NULL, 0, &p, NULL, &error));
    CHECK(p == NULL);
    REFUSED("there is no file", ss_reader_foreign(NULL, names, sizeof names, &error));
    TEST_ASSERT_EQUAL_STRING("", names);
    REFUSED("no file is named", ss_store_read(NULL, NULL, &p, &error));
    REFUSED("no file is named", ss_store_write(NULL, NULL, &error));
    REFUSED("no file is named", ss_writer_open(NULL, &writer, &error));
    CHECK(writer == NULL && !ss_store_takes_name(NULL));
    REFUSED("no file is open", ss_writer_add(NULL, "a", NULL, &error));
    REFUSED("no file is open", ss_writer_commit(NULL, &error));
}

static void a_problem_that_a_file_does_not_hold_is_refused(void)
{
    ss_reader *reader;
    ss_problem *p = random_problem(2, 2, 2, 2, 3), *other = (ss_problem *)&other;
    const char *path = scratch_path("one.h5");
    CHECK_OK(ss_store_write(path, p, &error));
    CHECK_OK(ss_reader_open(path, &reader, &error));
    TEST_ASSERT_EQUAL_INT(1, ss_reader_count(reader));
    TEST_ASSERT_EQUAL_INT(-1, ss_reader_find(reader, NULL));
    for (int k = -1; k < 2; k += 2) {
        TEST_ASSERT_EQUAL_STRING("", ss_reader_name(reader, k));
        REFUSED(" among 1", ss_reader_load(reader, k, &other, NULL, &error));
        CHECK(other == NULL && ss_reader_load(reader, k, &other, NULL, NULL) == SS_BAD_INPUT);
    }
    char name = 'x';
    REFUSED("no room for names", ss_reader_foreign(reader, &name, 0, &error));
    CHECK(name == 'x');
    ss_reader_close(reader);
    ss_problem_free(p);
}

// ---- Solvers

static void a_solver_that_is_not_named_is_refused(void)
{
    ss_method *method = (ss_method *)&method;
    const ss_method empty = {.spec = ""};
    CHECK(ss_local_find(NULL) == NULL && ss_global_find(NULL) == NULL);
    REFUSED("the solver is missing", ss_method_parse(NULL, &method, &error));
    CHECK(method == NULL && ss_method_parse("", &method, NULL) == SS_BAD_INPUT);
    CHECK_OK(ss_method_parse("mfb", &method, &error));
    CHECK(!ss_method_same(NULL, method) && !ss_method_same(method, NULL) &&
          !ss_method_same(NULL, NULL));
    CHECK(!ss_method_same(&empty, method) && ss_method_same(method, method));
    CHECK(!ss_method_has_own_rule(NULL) && !ss_method_takes_threads(NULL));
    CHECK(!ss_method_has_own_rule(&empty) && !ss_method_takes_threads(&empty));
    TEST_ASSERT_EQUAL_STRING("", ss_spec_bare(NULL));
    ss_method_free(method);
}

static void a_task_without_a_part_is_refused(void)
{
    const double one[9] = {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, b[3] = {-1.0, 0.0, 0.0};
    double r[3] = {0.0, 0.0, 0.0};
    ss_problem *p = one_contact(3, one, b, 0.5);
    ss_method *method;
    const ss_method empty = {.spec = ""};
    ss_result result;
    CHECK_OK(ss_method_parse("mfb", &method, &error));
    ss_task task = {.problem = p, .method = method, .tolerance = 1e-6, .max_iterations = 9};
    REFUSED("there is no task", ss_solve(NULL, r, &result, &error));
    CHECK(result.outcome == SS_UNSOLVED);
    REFUSED("there is no room for the impulses", ss_solve(&task, NULL, &result, &error));
    CHECK(ss_solve(&task, NULL, NULL, NULL) == SS_BAD_INPUT);
    CHECK_OK(ss_solve(&task, r, NULL, &error));
    CHECK_NEAR(r[0], 1.0, 1e-6);
    task.method = NULL;
    REFUSED("there is no solver", ss_solve(&task, r, &result, &error));
    task.method = &empty;
    REFUSED("there is no solver", ss_solve(&task, r, &result, &error));
    ss_method_free(method);
    ss_problem_free(p);
}

static void a_contact_without_a_part_is_not_covered(void)
{
    const ss_local p = {3, {1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0}, {-1.0, 0.0, 0.0}, 0.5};
    const ss_local_goal goal = {.tolerance = 1e-9};
    ss_local_counters counters = {0};
    double r[3] = {7.0, 8.0, 9.0};
    ss_method *mfb, *newton;
    CHECK_OK(ss_method_parse("mfb", &mfb, &error));
    CHECK_OK(ss_method_parse("newton-mfb", &newton, &error)); // without a local solver
    const ss_local_info infos[] = {ss_contact_solve(NULL, &p, &goal, r, &counters),
                                   ss_contact_solve(newton, &p, &goal, r, &counters),
                                   ss_contact_solve(mfb, NULL, &goal, r, &counters),
                                   ss_contact_solve(mfb, &p, NULL, r, &counters),
                                   ss_contact_solve(mfb, &p, &goal, NULL, &counters)};
    for (size_t k = 0; k < sizeof infos / sizeof infos[0]; k++) {
        CHECK(infos[k].outcome == SS_NOT_COVERED && isnan(infos[k].error));
    }
    CHECK(r[0] == 7.0 && counters.solves == 5 && counters.failures == 5);
    CHECK(ss_contact_solve(mfb, &p, &goal, r, NULL).outcome == SS_CONVERGED);
    CHECK(isnan(ss_local_error(NULL, &goal, r)) && isnan(ss_local_error(&p, NULL, r)) &&
          isnan(ss_local_error(&p, &goal, NULL)));
    ss_local_embed(NULL);
    ss_method_free(mfb);
    ss_method_free(newton);
}

// ---- Options, reports and tables of fields

static void options_that_are_not_there_have_no_text_and_take_no_value(void)
{
    const ss_card *card = &ss_local_find("mfb")->card;
    const ss_key *key = ss_keys_find(card->keys, card->keys[0].name);
    char text[400] = "x";
    CHECK(key != NULL && ss_keys_find(NULL, "a") == NULL && ss_keys_find(card->keys, NULL) == NULL);
    ss_keys_describe(NULL, text, sizeof text);
    TEST_ASSERT_EQUAL_STRING("", text);
    text[0] = 'x';
    ss_key_describe(NULL, text, sizeof text);
    TEST_ASSERT_EQUAL_STRING("", text);
    text[0] = 'x';
    ss_key_value(NULL, card->defaults, text, sizeof text);
    TEST_ASSERT_EQUAL_STRING("", text);
    text[0] = 'x';
    ss_key_value(key, NULL, text, sizeof text);
    TEST_ASSERT_EQUAL_STRING("", text);
    text[0] = 'x';
    ss_card_options(NULL, text, sizeof text);
    TEST_ASSERT_EQUAL_STRING("", text);
    REFUSED("there is no option", ss_key_set(NULL, "1", text, &error));
    REFUSED("there is no value", ss_key_set(key, NULL, text, &error));
    REFUSED("there is no place", ss_key_set(key, "1", NULL, &error));
}

static void reports_and_fields_that_are_not_there_hold_nothing(void)
{
    ss_report empty = {0};
    ss_field field;
    ss_claim claim = ss_claim_unknown();
    ss_report_add(NULL, SS_DEFECT, "%d", 1);
    CHECK(ss_report_first_defect(NULL) == NULL && ss_report_first_defect(&empty) == NULL);
    ss_fields walk = ss_fields_of(NULL);
    CHECK(!ss_fields_next(&walk, &field));
    ss_fields_blank(NULL, NULL);
    walk = ss_fields_of(ss_claim_fields);
    CHECK(ss_fields_next(&walk, &field) && field.kind == SS_FIELD_TEXT);
    ss_field_set_text(&field, &claim, NULL);
    TEST_ASSERT_EQUAL_STRING("", ss_field_text(&field, &claim));
    CHECK(ss_fail(NULL, SS_BAD_INPUT, "%d", 1) == SS_BAD_INPUT);
    CHECK(ss_fail_memory(NULL, "a") == SS_SYSTEM && ss_fail_memory(&error, NULL) == SS_SYSTEM);
    TEST_ASSERT_EQUAL_STRING("not enough memory for this", error.text);
    TEST_ASSERT_EQUAL_STRING("unknown", ss_outcome_name((ss_outcome)-1));
}

// ---- All of them

// Entries that take numbers, arrays of three, or a field of a struct that is there: ss_cone_project,
// ss_coulomb_residual, ss_coulomb_rounding, ss_fischer_burmeister, ss_field_integer, ss_field_number, ss_field_set,
// ss_local_solvers, ss_measure_fields, ss_provenance_unknown.

static bool ends_with(const char *name, const char *ending)
{
    const size_t length = strlen(name), end = strlen(ending);
    return length > end && strcmp(name + length - end, ending) == 0;
}

// The name in a text, not as a part of another one.
static const char *find_name(const char *text, const char *name)
{
    const char *at = text;
    while ((at = strstr(at, name)) != NULL &&
           (isalnum((unsigned char)at[strlen(name)]) || at[strlen(name)] == '_')) {
        at++;
    }
    return at;
}

// A function that becomes public is called here with nothing, or named above.
static void no_entry_is_left_out(void)
{
    char command[900], name[100], source[600], call[120];
    snprintf(command, sizeof command,
             "nm -D --defined-only '%s/libstickslip.so' 2>/dev/null | sed 's/.* //' | grep ^ss_",
             getenv("BUILD"));
    snprintf(source, sizeof source, "%s/tests/public/test_nothing.c", getenv("SOURCE"));
    size_t size;
    char *text = read_bytes(source, &size);
    FILE *names = popen(command, "r");
    int count = 0;
    for (; fscanf(names, "%90s", name) == 1; count++) {
        TEST_ASSERT_NOT_NULL_MESSAGE(find_name(text, name), name);
        snprintf(call, sizeof call, "%s(NULL)", name);
        CHECK(!(ends_with(name, "_free") || ends_with(name, "_close")) ||
              strstr(text, call) != NULL);
    }
    pclose(names);
    free(text);
    if (count == 0) {
        TEST_IGNORE_MESSAGE("the library is static alone");
    }
    CHECK(count > 50);
}

static void run_tests(void)
{
    RUN_TEST(everything_that_is_freed_may_be_null_or_empty);
    RUN_TEST(a_problem_without_contacts_is_refused_everywhere);
    RUN_TEST(a_problem_that_lacks_a_part_is_refused_everywhere);
    RUN_TEST(an_answer_that_is_not_there_is_not_measured);
    RUN_TEST(an_empty_matrix_is_a_matrix);
    RUN_TEST(a_file_that_is_not_named_is_refused);
    RUN_TEST(a_problem_that_a_file_does_not_hold_is_refused);
    RUN_TEST(a_solver_that_is_not_named_is_refused);
    RUN_TEST(a_task_without_a_part_is_refused);
    RUN_TEST(a_contact_without_a_part_is_not_covered);
    RUN_TEST(options_that_are_not_there_have_no_text_and_take_no_value);
    RUN_TEST(reports_and_fields_that_are_not_there_hold_nothing);
    RUN_TEST(no_entry_is_left_out);
}

const test_group nothing_tests = {.run = run_tests};
