// The program from outside: every verb, what goes to stdout and what to stderr. What becomes of
// files, right and wrong, is in test_cli_files.c. STICKSLIP in the environment is the program's
// path.
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "problems/store/store.h"
#include "tests/support/make_problem.h"
#include "tests/support/program.h"

static char one[512];       // a tangle in global form
static char one_local[512]; // the same in local form
static char many[512];      // a collection of three
static char answered[512];  // a problem with its right answer
static char misjudged[512]; // a wrong answer that claims to be right
static char defective[512]; // mu < 0

static void first_line_is(const char *expected)
{
    standard_out[strcspn(standard_out, "\n")] = '\0';
    TEST_ASSERT_EQUAL_STRING(expected, standard_out);
}

// W = I, b = (-1, 2, 0), mu = 1/2 slides: r = (1, -1/2, 0), u = (0, 3/2, 0).
static void write_claim(const char *path, const double r[3], double mu, double tolerance,
                        double claimed)
{
    ss_error error;
    ss_problem *p = one_contact(3, (const double[]){1, 0, 0, 0, 1, 0, 0, 0, 1},
                                (const double[]){-1.0, 2.0, 0.0}, mu);
    p->has_solution = r != NULL;
    if (r != NULL) {
        p->solution.r = calloc(3, sizeof *p->solution.r);
        memcpy(p->solution.r, r, 3 * sizeof *r);
        p->solution.u = calloc(3, sizeof *p->solution.u);
        p->solution.u[1] = 1.5;
        snprintf(p->claim.solver, sizeof p->claim.solver, "hand");
        p->claim.tolerance = tolerance;
        p->claim.measures.fb = claimed;
    }
    CHECK_OK(ss_store_write(path, p, &error));
    ss_problem_free(p);
}

static void write_by_hand(const char *path, const double r[3], double mu, double claimed)
{
    write_claim(path, r, mu, 1e-8, claimed);
}

static void name_inputs(void)
{
    snprintf(one, sizeof one, "%s", scratch_path("one.h5"));
    snprintf(one_local, sizeof one_local, "%s", scratch_path("one-local.h5"));
    snprintf(many, sizeof many, "%s", scratch_path("many.h5"));
    snprintf(answered, sizeof answered, "%s", scratch_path("answered.h5"));
    snprintf(misjudged, sizeof misjudged, "%s", scratch_path("misjudged.h5"));
    snprintf(defective, sizeof defective, "%s", scratch_path("defective.h5"));
}

static void set_up(void)
{
    if (one[0] != '\0') {
        return;
    }
    name_inputs();
    EXPECT(0, "generate", "tangle", "--contacts", "40", "--seed", "7", "--out", one);
    EXPECT(0, "generate", "tangle", "--contacts", "40", "--seed", "7", "--form", "local", "--out",
           one_local);
    EXPECT(0, "generate", "tangle", "--contacts", "10", "--count", "3", "--warm", "--out", many);
    write_by_hand(answered, (const double[]){1.0, -0.5, 0.0}, 0.5, 0.0);
    write_by_hand(misjudged, (const double[]){0.0, 0.0, 0.0}, 0.5, 1e-12);
    write_by_hand(defective, NULL, -0.5, 0.0);
}

static void without_a_verb_the_usage_is_shown(void)
{
    TEST_ASSERT_EQUAL_INT(1, run_program(NULL, (const char *const[]){NULL}));
    TEST_ASSERT_EQUAL_STRING("", standard_out);
    HOLDS(standard_error, "stickslip VERB");
}

static void every_verb_explains_itself(void)
{
    static const char *const verbs[] = {"solvers", "inspect", "check",
                                        "convert", "verify",  "generate"};
    for (size_t k = 0; k < sizeof verbs / sizeof verbs[0]; k++) {
        EXPECT(0, verbs[k], "--help");
        TEST_ASSERT_EQUAL_STRING("", standard_error);
        HOLDS(standard_out, verbs[k]);
        HOLDS(standard_out, "Example\n  stickslip ");
        HOLDS(standard_out, "Exit codes\n");
        char direct[OUTPUT_CAPACITY];
        memcpy(direct, standard_out, sizeof direct);
        EXPECT(0, "help", verbs[k]);
        TEST_ASSERT_EQUAL_STRING(direct, standard_out);
        EXPECT(0, "--help");
        HOLDS(standard_out, verbs[k]);
    }
    EXPECT(0, "help", "generate", "tangle");
    HOLDS(standard_out, "--contacts N");
    HOLDS(standard_out, "(required)");
    HOLDS(standard_out, "(default 25)");
}

static void no_line_of_the_last_output_is_wider_than_80(const char *verb)
{
    for (char *line = strtok(standard_out, "\n"); line != NULL; line = strtok(NULL, "\n")) {
        if (strlen(line) > 80) {
            printf("%s --help: %s\n", verb, line);
            TEST_FAIL_MESSAGE("a line of the help is wider than 80 columns");
        }
    }
}

// Of the program, of its verbs, and of the kinds of a verb: the lists say which there are.
static void every_help_fits_into_80_columns(void)
{
    char names[40][16], list[OUTPUT_CAPACITY];
    int count = 0;
    EXPECT(0, "--help");
    memcpy(list, standard_out, sizeof list);
    no_line_of_the_last_output_is_wider_than_80("");
    for (char *at = strstr(list, "\nVerbs\n") + 6; at[1] != '\n'; at = strchr(at + 1, '\n')) {
        if (at[3] != ' ') { // else the line before goes on
            TEST_ASSERT_EQUAL_INT(1, sscanf(at, " %15s", names[count++]));
        }
    }
    TEST_ASSERT_EQUAL_INT(14, count);
    for (int k = 0; k < count; k++) {
        EXPECT(0, names[k], "--help");
        no_line_of_the_last_output_is_wider_than_80(names[k]);
    }
    EXPECT(0, "generate", "tangle", "--help");
    no_line_of_the_last_output_is_wider_than_80("generate tangle");
    EXPECT(0, "generate", "locals", "--help");
    no_line_of_the_last_output_is_wider_than_80("generate locals");
}

static void the_version_tells_what_was_built(void)
{
    EXPECT(0, "--version");
    TEST_ASSERT_EQUAL_INT(5, count_lines(standard_out));
    HOLDS(standard_out, "stickslip ");
    HOLDS(standard_out, "\ncommit    ");
    HOLDS(standard_out, "\ncompiler  ");
    HOLDS(standard_out, "\nflags     ");
    HOLDS(standard_out, "\nprocessor ");
}

static void a_mistyped_word_gets_a_suggestion(void)
{
    EXPECT(1, "inspct");
    TEST_ASSERT_EQUAL_STRING("stickslip: unknown verb 'inspct'; did you mean 'inspect'?\n",
                             standard_error);
    EXPECT(1, "--versoin");
    TEST_ASSERT_EQUAL_STRING("stickslip: unknown option '--versoin'; did you mean '--version'?\n",
                             standard_error);
    EXPECT(1, "xyzzy");
    TEST_ASSERT_EQUAL_STRING(
        "stickslip: unknown verb 'xyzzy'; 'stickslip --help' lists the verbs\n", standard_error);
    EXPECT(1, "help", "chekc");
    HOLDS(standard_error, "did you mean 'check'?");
    EXPECT(1, "inspect", "--fromat=csv", one);
    SAYS("inspect: unknown option '--fromat=csv'; did you mean '--format'?");
    EXPECT(1, "generate", "tangel");
    SAYS("generate: unknown kind 'tangel'; did you mean 'tangle'?");
    EXPECT(1, "generate", "scenes");
    SAYS("generate: unknown kind 'scenes'; 'stickslip generate --help' lists the kinds");
    EXPECT(3, "verify", many, "--problem", "tangle-0020");
    HOLDS(standard_error, "did you mean 'tangle-00");
    EXPECT(3, "verify", one, "--problem", "x");
    HOLDS(standard_error, "one.h5 contains a single unnamed problem; there is no 'x'\n");
    EXPECT(3, "inspect", "");
    SAYS("inspect: '': no such file");
}

static void mistakes_of_the_command_line_end_with_1(void)
{
    EXPECT(1, "inspect");
    SAYS("inspect: needs at least one FILE");
    EXPECT(1, "check");
    EXPECT(1, "convert", one);
    SAYS("convert: needs IN and OUT, or IN and --split DIR");
    EXPECT(1, "convert", "here.h5", "-");
    SAYS("convert: takes OUT, the name of a file, not '-'");
    EXPECT(1, "generate", "tangle", "--contacts", "5", "--out", "-");
    SAYS("generate tangle: --out takes FILE, not '-'");
    EXPECT(1, "convert", one, "x.h5", "--split", "d");
    EXPECT(1, "verify", one, one);
    EXPECT(1, "verify", one, "--tol", "tight");
    SAYS("verify: --tol takes a number from 0 to 1, not 'tight'");
    EXPECT(1, "solvers", "mfb", "pac");
    SAYS("solvers: takes only [NAME], and 'pac' is one too many");
    EXPECT(1, "solvers", "mbf");
    SAYS("solvers: there is no solver 'mbf'; did you mean 'mfb'?");
    EXPECT(1, "solvers", "quadratic");
    SAYS("solvers: there is no solver 'quadratic'; 'stickslip solvers' lists them");
    EXPECT(1, "generate");
    EXPECT(1, "generate", "tangle", "--out", "x.h5");
    SAYS("generate tangle: needs --contacts N");
    EXPECT(1, "generate", "tangle", "--contacts", "-5", "--out", "x.h5");
    SAYS("generate tangle: --contacts takes a whole number from 1 to 1000000, not '-5'");
    EXPECT(1, "generate", "tangle", "--contacts", "5");
    EXPECT(1, "generate", "tangle", "--contacts", "5", "--unsymmetric", "0.1", "--form", "global",
           "--out", "x.h5");
    HOLDS(standard_error, "--form global");
    EXPECT(1, "generate", "tangle", "--contacts", "5", "--seed", "18446744073709551614", "--count",
           "3", "--out", "x.h5");
    SAYS("generate tangle: --seed 18446744073709551614 and --count 3 exceed the last seed, "
         "18446744073709551615");
    TEST_ASSERT_EQUAL_STRING("", standard_out);
}

static void a_solver_is_explained(void)
{
    EXPECT(0, "solvers", "mfb");
    HOLDS(standard_out, "mfb: local solver, Coulomb's law, D11 (REFERENCES.md)\n\nNewton's method");
    HOLDS(standard_out, "\nsteps=0..1e+06  100      Newton steps at most\n");
    EXPECT(0, "solvers", "4sides");
    HOLDS(standard_out, "4sides: local solver, another law,");
    HOLDS(standard_out, "\nIt has no options.\n");
    EXPECT(0, "solvers", "gs", "--format", "csv");
    HOLDS(standard_out, "option,default,meaning\nform=auto|explicit|matrix-free,auto,");
}

static void the_solvers_are_a_table_in_every_format(void)
{
    EXPECT(0, "solvers");
    HOLDS(standard_out, "name");
    EXPECT(0, "solvers", "--format", "json");
    CHECK(is_json(standard_out));
    EXPECT(0, "solvers", "--format", "csv");
    first_line_is("name,kind,law,reference,options");
}

static void generate_says_what_it_wrote_on_stderr(void)
{
    const char *path = scratch_path("told.h5");
    EXPECT(0, "generate", "tangle", "--contacts", "30", "--out", path);
    TEST_ASSERT_EQUAL_STRING("", standard_out);
    HOLDS(standard_error, "told.h5: 1 problem, 30 contacts\n");
}

static void generate_makes_the_forms_asked_for(void)
{
    const char *path = scratch_path("form.h5");
    EXPECT(0, "generate", "tangle", "--contacts", "9", "--dim", "2", "--hyperstatic", "--ground",
           "0.5", "--mu", "0.7", "--cond", "1e4", "--per-rod", "6", "--unsymmetric", "0.1", "--out",
           path);
    EXPECT(0, "inspect", path, "--format", "csv");
    HOLDS(standard_out, "form.h5,local,9,2,nan,nan,");
    EXPECT(0, "inspect", one, one_local, "--format", "csv");
    HOLDS(standard_out, "one.h5,global,40,3,");
    HOLDS(standard_out, "one-local.h5,local,40,3,nan,nan,");
}

static void one_seed_is_one_problem(void)
{
    const char *again = scratch_path("again.h5");
    EXPECT(0, "generate", "tangle", "--contacts", "40", "--seed", "7", "--out", again);
    EXPECT(0, "inspect", one, again, "--format", "csv");
    const char *first = strstr(standard_out, "\n") + 1;
    const char *second = strstr(first, "\n") + 1;
    const char *sha = strrchr(second, ',');
    TEST_ASSERT_EQUAL_INT(66, strlen(sha)); // comma, 64 digits, end of line
    TEST_ASSERT_EQUAL_STRING_LEN(sha, strchr(first, '\n') - 65, 65);
}

static void inspect_has_a_row_a_problem_in_every_format(void)
{
    EXPECT(0, "inspect", one, many);
    TEST_ASSERT_EQUAL_INT(5, count_lines(standard_out));
    TEST_ASSERT_EQUAL_STRING("", standard_error);
    EXPECT(0, "inspect", "--format=json", one, many);
    CHECK(is_json(standard_out));
    HOLDS(standard_out, "many.h5:tangle-0001\"");
    EXPECT(0, "inspect", "--format=csv", one, many);
    TEST_ASSERT_EQUAL_INT(5, count_lines(standard_out));
    HOLDS(standard_out, "many.h5:tangle-0003,global,10,3,");
    first_line_is("problem,form,contacts,dim,dofs,bodies,blocks,blocks_per_row,mu_min,mu_max,rank,"
                  "size,unsymmetry,guesses,solution,scene,seed,step,sha256");
}

static void check_has_a_row_a_finding_and_sums_up(void)
{
    EXPECT(0, "check", one, "--format", "csv");
    HOLDS(standard_out, "one.h5,ok,\n");
    first_line_is("problem,verdict,text");
    TEST_ASSERT_EQUAL_STRING("", standard_error);
    EXPECT(3, "check", one, defective, "missing.h5", "--format", "csv");
    HOLDS(standard_out, "one.h5,ok,\n");
    HOLDS(standard_out, "defective.h5,defect,");
    HOLDS(standard_out, "missing.h5,defect,no such file\n");
    SAYS("check: 2 of 3 problems have defects");
    EXPECT(3, "check", defective, "--format", "json");
    CHECK(is_json(standard_out));
    SAYS("check: 1 of 1 problem has defects");
}

static void all_files_are_processed_and_the_largest_code_wins(void)
{
    EXPECT(3, "inspect", "missing.h5", one, "--format", "csv");
    TEST_ASSERT_EQUAL_INT(2, count_lines(standard_out));
    HOLDS(standard_error, "stickslip inspect: ");
    HOLDS(standard_error, "missing.h5");
}

static void verify_agrees_with_a_right_answer(void)
{
    EXPECT(0, "verify", answered, "--format", "csv");
    HOLDS(standard_out, "answered.h5,1,hand,1e-08,solved,");
    TEST_ASSERT_EQUAL_STRING("", standard_error);
    first_line_is("problem,contacts,solver,tol,status,fb,fb_contact,fb_abs,natural,normal,"
                  "penetration,cone_excess,slip_angle,power,velocity_error,claimed_fb,detail");
    EXPECT(0, "verify", answered);
    EXPECT(0, "verify", answered, "--tol", "1e-3", "--format", "json");
    CHECK(is_json(standard_out));
}

static void verify_contradicts_a_wrong_claim(void)
{
    EXPECT(2, "verify", misjudged, "--format", "csv");
    HOLDS(standard_out, "misjudged.h5,1,hand,1e-08,stopped,");
    HOLDS(standard_out, "the file claims an error of 1e-12, the judge finds ");
}

static void verify_takes_no_tolerance_that_passes_anything(void)
{
    const double stated[] = {1e30, INFINITY, -1.0};
    char path[512];
    snprintf(path, sizeof path, "%s", scratch_path("lenient.h5"));
    for (int k = 0; k < 3; k++) {
        write_claim(path, (const double[]){0.0, 0.0, 0.0}, 0.5, stated[k], NAN);
        EXPECT(2, "verify", path, "--format", "csv");
        HOLDS(standard_out, "lenient.h5,1,hand,1e-06,stopped,");
    }
}

static void verify_refuses_contacts_that_push_while_they_open(void)
{
    // mu = 1e-9 and r = (3, -3e-9, 0) give u = (2, 2, 0) except for rounding: fb hardly sees it.
    char blind[512];
    snprintf(blind, sizeof blind, "%s", scratch_path("blind.h5"));
    write_by_hand(blind, (const double[]){3.0, -3e-9, 0.0}, 1e-9, NAN);
    EXPECT(2, "verify", blind, "--tol", "1e-6", "--format", "csv");
    HOLDS(standard_out,
          ",\"fb is within the tolerance but normal/2 is 0.312: contacts push while they "
          "separate, pull, or overlap\"\n");
    EXPECT(2, "verify", blind, "--tol", "1e-18", "--format", "csv");
    HOLDS(standard_out, ",\"the tolerance is below the rounding floor, about 3e-16\"\n");
}

static void verify_needs_an_answer(void)
{
    EXPECT(3, "verify", one);
    HOLDS(standard_error, "one.h5 contains no answer that can be judged (/solution/r)\n");
    EXPECT(3, "verify", many, "--problem", "tangle-0002");
    HOLDS(standard_error, "many.h5:tangle-0002 contains no answer that can be judged");
    TEST_ASSERT_EQUAL_INT(1, count_lines(standard_error));
}

static void public_files_are_described(void)
{
    const char *folder = fclib_folder();
    if (folder == NULL) {
        TEST_IGNORE_MESSAGE("the FCLIB files are not here");
    }
    // Rank and size of W as the folder's README gives them; every file is in local or global form.
    static const struct {
        const char *name;
        const char *ranks;
    } files[] = {
        {"Capsules-i125-1213.hdf5", ",570,858,"},
        {"LMGC_100_PR_PerioBox-i00361-60-03000.hdf5", ",72,180,"},
        {"Box_Stacks-i0122-82-5.hdf5", ",175,246,"},
        {"Spheres-i099-356-679.hdf5", ",1068,1068,"},
    };
    for (size_t k = 0; k < sizeof files / sizeof files[0]; k++) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s", folder, files[k].name);
        EXPECT(0, "inspect", path, "--format", "csv");
        HOLDS(standard_out, files[k].ranks);
        EXPECT(0, "check", path);
    }
}

static void run_tests(void)
{
    RUN_TEST(without_a_verb_the_usage_is_shown);
    RUN_TEST(every_verb_explains_itself);
    RUN_TEST(every_help_fits_into_80_columns);
    RUN_TEST(the_version_tells_what_was_built);
    RUN_TEST(a_mistyped_word_gets_a_suggestion);
    RUN_TEST(mistakes_of_the_command_line_end_with_1);
    RUN_TEST(a_solver_is_explained);
    RUN_TEST(the_solvers_are_a_table_in_every_format);
    RUN_TEST(generate_says_what_it_wrote_on_stderr);
    RUN_TEST(generate_makes_the_forms_asked_for);
    RUN_TEST(one_seed_is_one_problem);
    RUN_TEST(inspect_has_a_row_a_problem_in_every_format);
    RUN_TEST(check_has_a_row_a_finding_and_sums_up);
    RUN_TEST(all_files_are_processed_and_the_largest_code_wins);
    RUN_TEST(verify_agrees_with_a_right_answer);
    RUN_TEST(verify_contradicts_a_wrong_claim);
    RUN_TEST(verify_takes_no_tolerance_that_passes_anything);
    RUN_TEST(verify_refuses_contacts_that_push_while_they_open);
    RUN_TEST(verify_needs_an_answer);
    RUN_TEST(public_files_are_described);
}

const test_group cli_tests = {.run = run_tests, .set_up = set_up};
