// Every allocation of the load, save, assemble and solve paths fails once: the k-th, for all k.
// Each must come back as SS_SYSTEM with a sentence, and leave nothing behind (LeakSanitizer looks).
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "problems/matrix/delassus.h"
#include "problems/response.h"
#include "strands/step/step.h"
#include "problems/store/store.h"
#include "strands/model.h"
#include "problems/tangle/tangle.h"
#include "solvers/registry.h"
#include "tests/support/make_problem.h"
#include "tests/support/stepping.h"
#include "tests/support/support.h"

static ss_error error;
static ss_problem *small_problem;

static void set_up(void)
{
    error = (ss_error){0};
    small_problem = random_problem(7, 3, 6, 3, 8);
    small_problem->nguesses = 1;
    small_problem->guesses = calloc(1, sizeof *small_problem->guesses);
    small_problem->guesses[0].r = calloc(18, sizeof(double));
    small_problem->has_solution = true;
    small_problem->solution.r = calloc(18, sizeof(double));
    small_problem->solution.u = calloc(18, sizeof(double));
    small_problem->title = strcpy(malloc(6), "title");
}

static void tear_down(void)
{
    ss_problem_free(small_problem);
}

static ss_status assemble(void)
{
    ss_problem *local = NULL;
    const ss_status status = ss_problem_to_local(small_problem, &local, &error);
    CHECK((local == NULL) == (status != SS_OK));
    ss_problem_free(local);
    return status;
}

static ss_status assemble_naively(void)
{
    double W[18 * 18];
    return ss_delassus_naive(small_problem, W, &error);
}

static ss_status naive_blocks(void)
{
    ss_whitened *white = NULL;
    ss_blocks W = {0};
    ss_status status = ss_whitened_new(small_problem, &white, &error);
    if (status == SS_OK) {
        status = ss_blocks_assemble_naive(NULL, small_problem, white, &W, &error);
    }
    ss_blocks_free(&W);
    ss_whitened_free(white);
    return status;
}

static ss_status prepare_judge(void)
{
    ss_response *response = NULL;
    const ss_status status = ss_response_new(small_problem, &response, &error);
    CHECK((response == NULL) == (status != SS_OK));
    ss_response_free(response);
    return status;
}

static ss_status regroup(void)
{
    ss_blocks W;
    const ss_status status = ss_blocks_from_sparse(&small_problem->M, 1, &W, &error);
    ss_blocks_free(&W);
    return status;
}

static ss_status save(void)
{
    return ss_store_write(scratch_path("saved.h5"), small_problem, &error);
}

static ss_status load(void)
{
    ss_problem *p = NULL;
    const ss_status status = ss_store_read(scratch_path("kept.h5"), NULL, &p, &error);
    CHECK((p == NULL) == (status != SS_OK));
    ss_problem_free(p);
    return status;
}

static ss_status tangle(void)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = 20;
    settings.warm = true;
    ss_problem *p = NULL;
    const ss_status status = ss_tangle_new(&settings, &p, &error);
    ss_problem_free(p);
    return status;
}

static ss_status tangle_in_local_form(void)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = 20;
    settings.unsymmetry = 0.1;
    ss_problem *p = NULL;
    const ss_status status = ss_tangle_new(&settings, &p, &error);
    ss_problem_free(p);
    return status;
}

// The spec of the next solve; without threads unless it says otherwise.
static const char *spec;
static int threads;

static ss_status solve(void)
{
    ss_method *method = NULL;
    ss_status status = ss_method_parse(spec, &method, &error);
    CHECK((method == NULL) == (status != SS_OK));
    if (status == SS_OK) {
        const ss_task task = {.problem = small_problem,
                              .method = method,
                              .tolerance = 1e-8,
                              .max_iterations = 20,
                              .clock = SS_CLOCK_WALL,
                              .threads = threads};
        double r[18] = {0.0};
        ss_result result;
        status = ss_solve(&task, r, &result, &error);
        CHECK(status == SS_OK || result.outcome == SS_UNSOLVED);
    }
    ss_method_free(method);
    return status;
}

// Uses `spec` too.
static ss_status make_strand(void)
{
    const double style[1][3] = {{1.0, 2.0, 3.0}};
    const ss_strand_design design = {.length = 0.1,
                                     .material = ss_material_hair(),
                                     .npieces = 1,
                                     .style = style,
                                     .nsegments = 3};
    ss_model_choice choice;
    ss_status status = ss_model_parse(spec, &choice, &error);
    if (status == SS_OK) {
        void *strand;
        status = choice.model->make(&design, choice.settings, &strand, &error);
        CHECK((strand == NULL) == (status != SS_OK));
        choice.model->free(strand);
    }
    ss_model_choice_free(&choice);
    return status;
}

// Pushes what it was given to start from, and a little.
static ss_status push(void *context, const ss_problem *p, double *r, ss_step_answer *answer,
                      ss_error *e)
{
    (void)context;
    (void)e;
    r[0] += 1e-12 * p->ncontacts;
    *answer = (ss_step_answer){.status = "pushed"};
    return SS_OK;
}

static bool continuous;

// Two chains that cross, settled, and two steps of them.
static ss_status simulate(void)
{
    ss_world *w = ss_world_new();
    ss_stepper *stepper = NULL;
    ss_status status = w != NULL ? SS_OK : ss_fail_memory(&error, "a world");
    for (int k = 0; status == SS_OK && k < 2; k++) {
        const ss_pose root = pose_at(ss_vec(k == 0 ? -0.15 : 0.0, k == 0 ? 0.0 : -0.15, 1e-4 * k),
                                     ss_vec(0.0, 0.0, 0.5 * M_PI * k));
        const ss_model_choice choice = {.model = &toy_chain};
        const ss_strand_design design = {.length = 0.3, .nsegments = 3};
        int number;
        status = ss_world_add_strand(w, &choice, &design, 0, &root, &number, &error);
    }
    if (status == SS_OK) {
        status = ss_world_settle(w, &error);
    }
    if (status == SS_OK) {
        ss_step_options options = ss_step_defaults();
        options.continuous = continuous;
        stepper =
            ss_stepper_new(w, &options, (ss_step_solver){.solve = push, .context = NULL}, &error);
        status = stepper != NULL ? SS_OK : error.status;
    }
    for (int k = 0; status == SS_OK && k < 2; k++) {
        ss_step_report report;
        status = ss_stepper_step(stepper, &report, &error);
        CHECK(status != SS_OK || report.contacts == 1);
        CHECK(status == SS_OK || report.rejected == 0);
    }
    ss_stepper_free(stepper);
    ss_world_free(w);
    return status;
}

static void assembly_survives_every_failing_allocation(void)
{
    FAIL_EACH(assemble, NULL);
    fail_each_allocation("assemble naively", assemble_naively, NULL, &error);
    fail_each_allocation("assemble blocks naively", naive_blocks, NULL, &error);
    FAIL_EACH(regroup, NULL);
    fail_each_allocation("prepare the judge", prepare_judge, NULL, &error);
}

static int files_in_scratch(void)
{
    char folder[512];
    strcpy(folder, scratch_path(""));
    DIR *directory = opendir(folder);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        count += entry->d_name[0] != '.';
    }
    closedir(directory);
    return count;
}

static void saving_survives_every_failing_allocation(void)
{
    CHECK_OK(save());
    const int before = files_in_scratch();
    FAIL_EACH(save, NULL);
    CHECK(files_in_scratch() == before); // no temporary file is left
}

static void loading_survives_every_failing_allocation(void)
{
    CHECK_OK(ss_store_write(scratch_path("kept.h5"), small_problem, &error));
    FAIL_EACH(load, NULL);
    ss_problem *local;
    CHECK_OK(ss_problem_to_local(small_problem, &local, &error));
    CHECK_OK(ss_store_write(scratch_path("kept.h5"), local, &error));
    ss_problem_free(local);
    fail_each_allocation("load local", load, NULL, &error);
}

static void making_strands_survives_every_failing_allocation(void)
{
    for (int k = 0; ss_strand_models[k] != NULL; k++) {
        spec = ss_strand_models[k]->name;
        fail_each_allocation(spec, make_strand, NULL, &error);
    }
}

static void generating_survives_every_failing_allocation(void)
{
    FAIL_EACH(tangle, NULL);
    fail_each_allocation("tangle in local form", tangle_in_local_form, NULL, &error);
}

static void solving_survives_every_failing_allocation(void)
{
    static const char *const specs[] = {
        "mfb+enum:form=explicit",
        "mfb+enum:form=matrix-free,freeze=on",
        "enum:roots=gsl",
        "secular:order=random:3",
        "secular:order=stripes,form=explicit",
        "secular:order=stripes,form=matrix-free,freeze=on,wake=neighbour",
        "newton-mfb:form=explicit",
        "newton-dac:form=matrix-free",
    };
    for (threads = 0; threads <= 2; threads += 2) {
        for (size_t k = 0; k < sizeof specs / sizeof specs[0]; k++) {
            spec = specs[k];
            fail_each_allocation(spec, solve, NULL, &error);
        }
    }
    ss_problem *given = small_problem;
    CHECK_OK(ss_problem_to_local(given, &small_problem, &error));
    threads = 0;
    spec = "secular:order=stripes";
    fail_each_allocation("solve local", solve, NULL, &error);
    spec = "mfb+enum:order=reverse";
    fail_each_allocation("solve local in another order", solve, NULL, &error);
    ss_problem_free(given);
}

static void simulating_survives_every_failing_allocation(void)
{
    toy_stiffness = 1.0;
    for (int k = 0; k < 2; k++) {
        continuous = k == 1;
        fail_each_allocation(continuous ? "simulate continuously" : "simulate", simulate, NULL,
                             &error);
    }
}

static void run_tests(void)
{
    RUN_TEST(assembly_survives_every_failing_allocation);
    RUN_TEST(saving_survives_every_failing_allocation);
    RUN_TEST(loading_survives_every_failing_allocation);
    RUN_TEST(making_strands_survives_every_failing_allocation);
    RUN_TEST(generating_survives_every_failing_allocation);
    RUN_TEST(solving_survives_every_failing_allocation);
    RUN_TEST(simulating_survives_every_failing_allocation);
}

const test_group allocation_tests = {.run = run_tests, .set_up = set_up, .tear_down = tear_down};
