// Lists of solvers, the problems of files, the verdict, and one run of one solver on one problem.
#include "harness/run.h"

#include "base/number.h"
#include "base/team.h"
#include "harness/cli.h"
#include "harness/record/record.h"
#include "harness/table.h"
#include "problems/certificate.h"
#include "problems/matrix/mass.h"
#include "problems/response.h"
#include "problems/store/store.h"
#include "solvers/registry.h"
#include "solvers/solve_in_child.h"

#include <limits.h>
#include <malloc.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- Lists of solvers

#define BLANKS     "; \t\n\r"
#define SEPARATORS "," BLANKS

// Whether what follows a comma goes on with the options before it: key=value, and no ':' in the
// key.
static bool is_option(const char *piece)
{
    const size_t key = strcspn(piece, "=:" SEPARATORS);
    return piece[key] == '=';
}

size_t ss_spec_length(const char *spec)
{
    bool open = false;
    size_t k = 0;
    for (; spec[k] != '\0' && strchr(BLANKS, spec[k]) == NULL; k++) {
        if (spec[k] == ',' && !(open && is_option(spec + k + 1))) {
            break;
        }
        open = open || spec[k] == ':';
    }
    return k;
}

size_t ss_spec_gap(const char *list)
{
    return strspn(list, SEPARATORS);
}

// The place of a solver that does the same; -1 for none.
static int find_same(const ss_specs *specs, const ss_method *method)
{
    for (int k = 0; k < specs->count; k++) {
        if (ss_method_same(specs->method[k], method)) {
            return k;
        }
    }
    return -1;
}

// Takes both over where it succeeds.
static ss_status append_spec(ss_specs *specs, char *text, ss_method *method, ss_error *e)
{
    const size_t room = (size_t)specs->count + 1;
    char **texts = realloc(specs->text, room * sizeof *texts);
    specs->text = texts != NULL ? texts : specs->text;
    ss_method **methods = realloc(specs->method, room * sizeof(ss_method *));
    specs->method = methods != NULL ? methods : specs->method;
    if (texts == NULL || methods == NULL) {
        return ss_fail_memory(e, "the list of solvers");
    }
    specs->text[specs->count] = text;
    specs->method[specs->count++] = method;
    return SS_OK;
}

// spec: as it was given.
static ss_status add(const char *verb, const char *spec, ss_specs *specs, ss_error *e)
{
    ss_method *method = NULL;
    ss_error why;
    ss_status status = ss_method_parse(spec, &method, &why);
    if (status != SS_OK) {
        return ss_fail(e, status, "%.160s: %.400s", spec, why.text);
    }
    const int same = find_same(specs, method);
    char *text = same < 0 ? strdup(ss_spec_bare(spec)) : NULL;
    if (text != NULL) {
        status = append_spec(specs, text, method, e);
    } else if (same < 0) {
        status = ss_fail_memory(e, "the list of solvers");
    } else if (strcmp(specs->method[same]->spec, spec) != 0) {
        ss_complain(verb, "%s is the same solver as %s: it is run once", spec,
                    specs->method[same]->spec);
    }
    if (status != SS_OK || same >= 0) {
        free(text);
        ss_method_free(method);
    }
    return status;
}

ss_status ss_specs_split(const char *verb, const char *list, ss_specs *specs, ss_error *e)
{
    ss_status status = SS_OK;
    *specs = (ss_specs){0};
    for (list += ss_spec_gap(list); status == SS_OK && *list != '\0'; list += ss_spec_gap(list)) {
        const size_t length = ss_spec_length(list);
        char *spec = strndup(list, length);
        status =
            spec != NULL ? add(verb, spec, specs, e) : ss_fail_memory(e, "the list of solvers");
        free(spec);
        list += length;
    }
    if (status == SS_OK && specs->count == 0) {
        status =
            ss_fail(e, SS_BAD_INPUT, "the list of solvers is empty; write one, as mfb+enum,enum");
    }
    if (status != SS_OK) {
        ss_specs_free(specs);
    }
    return status;
}

void ss_specs_free(ss_specs *specs)
{
    for (int k = 0; k < specs->count; k++) {
        free(specs->text[k]);
        ss_method_free(specs->method[k]);
    }
    free(specs->text);
    free(specs->method);
    *specs = (ss_specs){0};
}

// -- Tolerances

static bool is_among(double value, const double *values, int count)
{
    for (int k = 0; k < count; k++) {
        if (values[k] == value) {
            return true;
        }
    }
    return false;
}

int ss_tolerances_split(const char *verb, const char *list, double tolerances[SS_MOST_TOLERANCES])
{
    int count = 0;
    for (list += ss_spec_gap(list); *list != '\0'; list += ss_spec_gap(list)) {
        char word[40], takes[80];
        const size_t length = strcspn(list, SEPARATORS);
        snprintf(word, sizeof word, "%.*s", (int)length, list);
        list += length;
        double value;
        if (length >= sizeof word || !ss_number_real(word, 0.0, 1.0, &value)) {
            ss_number_describe(false, 0.0, 1.0, takes, sizeof takes);
            ss_complain(verb, "--tol takes %s, or several with commas, not '%s'", takes, word);
            return 0;
        }
        if (is_among(value, tolerances, count)) {
            continue;
        }
        if (count == SS_MOST_TOLERANCES) {
            ss_complain(verb, "--tol takes at most %d numbers", SS_MOST_TOLERANCES);
            return 0;
        }
        tolerances[count++] = value;
    }
    if (count == 0) {
        ss_complain(verb, "--tol is an empty list; write one as 1e-4,1e-8");
    }
    return count;
}

// ---- The verdict
//
// The verdict on one answer, and what is worth saying about it.

__attribute__((format(printf, 2, 3))) static void say(ss_verdict *verdict, const char *format, ...)
{
    size_t used = strlen(verdict->detail);
    if (used > 0) {
        snprintf(verdict->detail + used, sizeof verdict->detail - used, "; ");
        used = strlen(verdict->detail);
    }
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(verdict->detail + used, sizeof verdict->detail - used, format, arguments);
    va_end(arguments);
}

// max |x - y|. A NaN stays.
static double largest_difference(const double *x, const double *y, int n)
{
    double largest = 0.0;
    for (int i = 0; i < n; i++) {
        const double difference = fabs(x[i] - y[i]);
        if (!(difference <= largest)) {
            largest = difference;
        }
        if (isnan(largest)) {
            break;
        }
    }
    return largest;
}

static void explain(ss_verdict *verdict, double claimed, double floor)
{
    const ss_measures *m = &verdict->measures;
    if (!isnan(claimed) && (claimed <= verdict->tolerance) != verdict->solved) {
        say(verdict, "the file claims an error of %.3g, the judge finds %.3g", claimed,
            ss_measures_error(m));
    }
    if (!verdict->solved && m->fb <= verdict->tolerance) {
        say(verdict,
            "fb is within the tolerance but normal/2 is %.3g: contacts push while they separate, "
            "pull, or overlap",
            SS_NORMAL_WEIGHT * m->normal);
    }
    if (!verdict->solved && floor > verdict->tolerance) {
        say(verdict, "the tolerance is below the rounding floor, about %.1g", floor);
    }
}

ss_verdict ss_judge(ss_response *response, const ss_state *answer, double claimed, double tolerance,
                    double *u)
{
    const ss_problem *p = response->problem;
    const int size = p->dim * p->ncontacts;
    ss_verdict verdict = {.tolerance = tolerance, .velocity_error = NAN};
    verdict.measures = ss_response_judge(response, answer->r, u);
    verdict.solved = ss_measures_pass(&verdict.measures, tolerance);
    if (answer->u != NULL) {
        verdict.velocity_error =
            largest_difference(answer->u, u, size) / verdict.measures.velocity_scale;
    }
    explain(
        &verdict, claimed,
        ss_measures_rounding(&verdict.measures, p->dim, p->ncontacts, p->mu, answer->r, u, 0.0));
    return verdict;
}

// ---- The problems of files
//
// Opens files and loads their problems.

ss_items ss_items_of(const char *verb, int count, char *const *paths, const char *chosen)
{
    return (ss_items){.verb = verb, .npaths = count, .paths = paths, .chosen = chosen};
}

static void free_item(ss_items *it)
{
    ss_problem_free(it->problem);
    ss_report_free(&it->report);
    free(it->label);
    it->problem = NULL;
    it->label = NULL;
    it->error = (ss_error){.status = SS_OK};
}

static void close_file(ss_items *it)
{
    free_item(it);
    ss_reader_close(it->reader);
    it->reader = NULL;
    it->k = it->end = 0;
}

int ss_items_end(ss_items *it)
{
    close_file(it);
    return it->code;
}

// -- A file

// Tables call a problem FILE:NAME, which is tempting as an operand.
static bool is_label(const char *path, ss_error *error)
{
    const char *colon = strrchr(path, ':');
    char *file = colon != NULL ? strndup(path, (size_t)(colon - path)) : NULL;
    const bool found = file != NULL && access(path, F_OK) != 0 && access(file, R_OK) == 0;
    if (found) {
        ss_fail(error, SS_BAD_INPUT,
                "%.200s: no such file; for a problem of %.200s write --problem %.100s, if the verb "
                "has that option",
                path, file, colon + 1);
    }
    free(file);
    return found;
}

static int complain_name(const ss_items *it, const char *path)
{
    if (ss_reader_count(it->reader) == 1 && ss_reader_name(it->reader, 0)[0] == '\0') {
        ss_complain(it->verb, "%s contains a single unnamed problem; there is no '%s'", path,
                    it->chosen);
        return SS_EXIT_BAD_INPUT;
    }
    ss_suggestion nearest = {.word = it->chosen};
    for (int k = 0; k < ss_reader_count(it->reader); k++) {
        ss_suggestion_offer(&nearest, ss_reader_name(it->reader, k));
    }
    ss_complain(it->verb, "%s contains no problem named '%s'%s", path, it->chosen,
                ss_suggestion_hint(&nearest, "", "").text);
    return SS_EXIT_BAD_INPUT;
}

// Opens a file, and sets which of its problems are to come. False: it->error says why not.
static bool open_file(ss_items *it, const char *path)
{
    if (is_label(path, &it->error) || ss_reader_open(path, &it->reader, &it->error) != SS_OK) {
        return false;
    }
    it->end = ss_reader_count(it->reader);
    if (it->chosen != NULL) {
        it->k = ss_reader_find(it->reader, it->chosen);
        it->end = it->k + 1;
    }
    if (it->k < 0) {
        it->code = ss_larger_code(it->code, complain_name(it, path));
        it->k = 0;
    }
    return true;
}

// -- A problem

// Contacts from which the memory that reading has freed goes back to the system, so that the memory
// of the solver does not come on top of it. For a small problem this would take 0.1 ms, 5 % of
// reading.
#define TRIM_CONTACTS 10000

static const char *load(ss_items *it, const char *path)
{
    const char *name = ss_reader_name(it->reader, it->k - 1);
    if (asprintf(&it->label, "%s%s%s", path, name[0] != '\0' ? ":" : "", name) < 0) {
        it->label = NULL;
        ss_fail_memory(&it->error, "a name");
        return "";
    }
    if (ss_reader_load(it->reader, it->k - 1, &it->problem, &it->report, &it->error) == SS_OK &&
        it->report.out_of_memory) {
        ss_fail_memory(&it->error, "the findings");
        ss_problem_free(it->problem);
        it->problem = NULL;
    }
    if (it->problem != NULL && it->problem->ncontacts >= TRIM_CONTACTS) {
        malloc_trim(0);
    }
    return name;
}

// Moves to the next problem, without loading it, or to a file that cannot be opened; *opened is
// false then. False after the last.
static bool advance(ss_items *it, bool *opened)
{
    free_item(it);
    for (*opened = true; *opened && it->k == it->end;) {
        close_file(it);
        if (it->path == it->npaths) {
            return false;
        }
        *opened = open_file(it, it->paths[it->path++]);
    }
    it->k += *opened;
    it->number++;
    return true;
}

static bool is_in_shard(const ss_items *it)
{
    return it->shard.count == 0 || (it->number - 1) % it->shard.count == it->shard.index;
}

bool ss_items_next(ss_items *it, ss_item *item)
{
    bool opened;
    do {
        if (!advance(it, &opened)) {
            return false;
        }
    } while (!is_in_shard(it));
    const char *path = it->paths[it->path - 1];
    const char *name = opened ? load(it, path) : "";
    *item = (ss_item){.file = path,
                      .label = it->label != NULL ? it->label : path,
                      .name = name,
                      .problem = it->problem,
                      .report = &it->report,
                      .error = &it->error};
    return true;
}

int ss_item_complain(const char *verb, const ss_item *item)
{
    for (int k = 0; k < item->report->count; k++) {
        const ss_finding *finding = &item->report->findings[k];
        // The first defect is the error's sentence already.
        if (finding->severity == SS_REMARK) {
            ss_complain(verb, "%s: %s", item->label, finding->text);
        }
    }
    if (item->problem != NULL) {
        return SS_EXIT_OK;
    }
    ss_complain(verb, "%s", item->error->text);
    return (int)item->error->status;
}

// -- Writing in place

static bool are_same(const char *a, const char *b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

// The folder of a path, and the name in it.
static const char *split_path(const char *path, char folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    const int length = slash != NULL ? (int)(slash + 1 - path) : 0;
    snprintf(folder, PATH_MAX, "%.*s", length, path);
    return path + length;
}

bool ss_same_file(const char *a, const char *b)
{
    if (a == NULL || b == NULL) {
        return false;
    }
    char first[PATH_MAX], second[PATH_MAX]; // of files that are not there yet
    const char *name = split_path(a, first);
    const bool alike = strcmp(name, split_path(b, second)) == 0;
    return are_same(a, b) || strcmp(a, b) == 0 ||
           (alike && are_same(first[0] != '\0' ? first : ".", second[0] != '\0' ? second : "."));
}

int ss_items_check_target(const char *verb, const char *in, const char *chosen, const char *out)
{
    ss_error error;
    ss_reader *reader = NULL;
    if (!ss_same_file(in, out) || ss_reader_open(in, &reader, &error) != SS_OK) {
        return SS_EXIT_OK; // what cannot be read is reported by who reads it
    }
    char foreign[300];
    int code = (int)ss_reader_foreign(reader, foreign, sizeof foreign, &error);
    const int others = ss_reader_count(reader) - 1;
    if (code != SS_EXIT_OK) {
        ss_complain(verb, "%s", error.text);
    } else if (chosen != NULL && others > 0) {
        ss_complain(verb,
                    "%s contains %d other problem%s, which would be lost: write to another file",
                    in, others, ss_plural(others));
        code = SS_EXIT_BAD_INPUT;
    } else if (foreign[0] != '\0') {
        ss_complain(verb, "%s contains %s, which would be lost: write to another file", in,
                    foreign);
        code = SS_EXIT_BAD_INPUT;
    }
    ss_reader_close(reader);
    return code;
}

// ---- One run

const char *const ss_start_names[] = {"zero", "guess", NULL};

// The judge's word where it is satisfied, else why the solver ended.
static const char *status_of(const ss_run *run)
{
    if (run->verdict.solved) {
        return "solved";
    }
    switch (run->result.outcome) {
    case SS_MAX_ITER:
    case SS_TIME_LIMIT:
    case SS_STALLED:
    case SS_INTERRUPTED:
    case SS_CRASHED:
        return ss_outcome_name(run->result.outcome);
    case SS_UNSOLVED:
    case SS_CONVERGED:
    case SS_STEPPED:
    case SS_NO_SOLUTION:
    case SS_NOT_COVERED:
        break;
    }
    return "stopped";
}

static bool met_a_limit(const ss_result *result)
{
    return result->outcome == SS_MAX_ITER || result->outcome == SS_TIME_LIMIT;
}

static void describe(const ss_task *task, ss_run *run)
{
    const double believed = run->result.own_error;
    const char *separator = run->verdict.detail[0] != '\0' ? "; " : "";
    snprintf(run->detail, sizeof run->detail, "%s", run->verdict.detail);
    if (run->result.outcome == SS_CRASHED) { // whatever the judge says of what it left behind
        snprintf(run->detail, sizeof run->detail, "%s%s%s", run->verdict.detail, separator,
                 run->result.why);
    } else if (!run->verdict.solved && believed <= task->tolerance) {
        snprintf(run->detail, sizeof run->detail,
                 "%s%sthe solver believes an error of %.3g, the judge finds %.3g",
                 run->verdict.detail, separator, believed,
                 ss_measures_error(&run->verdict.measures));
    } else if (!run->verdict.solved && run->result.unanswered > 0) {
        snprintf(run->detail, sizeof run->detail,
                 "%s%s%ld of the last local solves had no answer; fb is worst at contact %d",
                 run->verdict.detail, separator, run->result.unanswered,
                 run->verdict.measures.worst_contact);
    } else if (!run->verdict.solved && run->result.why[0] != '\0') {
        snprintf(run->detail, sizeof run->detail, "%s%s%s", run->verdict.detail, separator,
                 run->result.why);
    } else if (!run->verdict.solved && met_a_limit(&run->result)) {
        const bool automatic = strcmp(task->method->global->card.name, "auto") == 0;
        snprintf(run->detail, sizeof run->detail, "%s%sfb is worst at contact %d%s",
                 run->verdict.detail, separator, run->verdict.measures.worst_contact,
                 automatic ? "" : "; the solver auto may solve it");
    }
}

static bool allocate(const ss_problem *p, const double *start, ss_run *run)
{
    const size_t size = (size_t)p->dim * (size_t)p->ncontacts;
    run->answer.r = calloc(size, sizeof(double));
    run->answer.u = calloc(size, sizeof(double));
    if (p->form == SS_GLOBAL) {
        run->answer.v = calloc((size_t)p->ndofs, sizeof(double));
    }
    const bool ok = run->answer.r != NULL && run->answer.u != NULL &&
                    (p->form == SS_LOCAL || run->answer.v != NULL);
    if (ok && start != NULL) {
        memcpy(run->answer.r, start, size * sizeof *start);
    }
    return ok;
}

static ss_status judge(const ss_task *task, ss_run *run, ss_error *e)
{
    const ss_problem *p = task->problem;
    run->team = task->threads > 1 ? ss_team_new(task->threads) : NULL;
    const ss_status status = ss_response_with(p, task->factor, run->team, &run->response, e);
    if (status == SS_OK) {
        const ss_state impulses = {.r = run->answer.r};
        run->verdict = ss_judge(run->response, &impulses, NAN, task->tolerance, run->answer.u);
    }
    if (status == SS_OK && p->form == SS_GLOBAL) {
        memcpy(run->answer.v, run->response->motion, (size_t)p->ndofs * sizeof(double));
    }
    return status;
}

const double *ss_run_guess(const ss_problem *p)
{
    for (int k = 0; k < p->nguesses; k++) {
        if (p->guesses[k].r != NULL) {
            return p->guesses[k].r;
        }
    }
    return NULL;
}

static ss_status finish(const ss_task *task, ss_status status, ss_run *run, ss_error *e)
{
    if (status == SS_OK) {
        status = judge(task, run, e);
    }
    if (status == SS_OK) {
        run->status = status_of(run);
        describe(task, run);
    } else {
        ss_run_free(run);
    }
    return status;
}

typedef ss_status solve_function(const ss_task *task, double *r, ss_result *result, ss_error *e);

static ss_status run_by(solve_function *solve, const ss_task *task, const double *start,
                        ss_run *run, ss_error *e)
{
    *run = (ss_run){.status = "stopped"};
    ss_mass *factor = NULL; // the judge has it from the solver, if that works here
    ss_task shared = *task;
    shared.factor = task->factor != NULL ? task->factor : &factor;
    ss_status status = allocate(task->problem, start, run) ? SS_OK : ss_fail_memory(e, "an answer");
    if (status == SS_OK) {
        status = solve(&shared, run->answer.r, &run->result, e);
    }
    status = finish(&shared, status, run, e);
    ss_mass_free(factor);
    return status;
}

ss_status ss_run_judged(const ss_task *task, const double *r, const ss_result *result, ss_run *run,
                        ss_error *e)
{
    *run = (ss_run){.status = "stopped", .result = *result};
    const ss_status status =
        allocate(task->problem, r, run) ? SS_OK : ss_fail_memory(e, "an answer");
    return finish(task, status, run, e);
}

ss_status ss_run_task(const ss_task *task, const double *start, ss_run *run, ss_error *e)
{
    return run_by(ss_solve, task, start, run, e);
}

ss_status ss_run_contained(const ss_task *task, const double *start, ss_run *run, ss_error *e)
{
    return run_by(ss_solve_contained, task, start, run, e);
}

__attribute__((format(printf, 3, 4))) static void append_detail(char *detail, size_t room,
                                                                const char *format, ...)
{
    size_t used = strlen(detail);
    used += (size_t)snprintf(detail + used, room - used, "%s", used > 0 ? "; " : "");
    if (used < room) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(detail + used, room - used, format, arguments);
        va_end(arguments);
    }
}

// A solver says so of the problem, or rests with contacts that it could not answer.
static bool denies_a_solution(const ss_result *result)
{
    return result->outcome == SS_NO_SOLUTION ||
           (result->outcome == SS_STALLED && result->unanswered > 0);
}

// Most solvers do not get to impulses as large as this, in V/s: an end without an answer says
// little.
#define OUT_OF_REACH 1e10

static void tell_unproved(const ss_certificate *found, bool denied, const char **status,
                          char *detail, size_t room)
{
    if (found->verdict == SS_EXISTENCE_PROVED) {
        append_detail(detail, room,
                      "a solution exists: a velocity strictly inside all cones proves it");
        return;
    }
    if (denied || found->reach >= OUT_OF_REACH) {
        *status = "undecided";
        append_detail(detail, room, "%s",
                      found->too_large
                          ? "the problem is too large to look for a proof that it has no solution"
                          : "neither a solution nor its absence could be proved");
    }
    if (found->reach > 0.0) {
        append_detail(detail, room, "any solution has impulses of %.1e V/s or more", found->reach);
    }
}

ss_status ss_run_decide(const ss_task *task, const ss_result *result, const char **status,
                        char *detail, size_t room, ss_error *e)
{
    if (strcmp(*status, "solved") == 0 || result->outcome == SS_INTERRUPTED ||
        result->outcome == SS_CRASHED) {
        return SS_OK;
    }
    const ss_problem *p = task->problem;
    const bool denied = denies_a_solution(result);
    ss_certificate found;
    const ss_status done = ss_certificate_find(p, task->tolerance, denied, &found, e);
    if (done != SS_OK) {
        return done;
    }
    if (found.verdict == SS_EXISTENCE_REFUTED) {
        int worst = 0;
        for (int i = 0; i < p->ncontacts; i++) {
            worst = found.lambda[i] > found.lambda[worst] ? i : worst;
        }
        *status = "no_solution";
        append_detail(detail, room,
                      "no velocity opens all contacts: contact %d, among others, contradicts the "
                      "rest (proved for impulses up to %.1g V/s)",
                      worst, found.reach);
    } else {
        tell_unproved(&found, denied, status, detail, room);
    }
    ss_certificate_free(&found);
    return SS_OK;
}

void ss_run_remark_threads(const char *verb, int threads, const ss_method *method)
{
    if (threads > 0 && !ss_method_takes_threads(method)) {
        ss_complain(verb, "--threads %d has no effect on %s, which uses one thread", threads,
                    method->spec);
    }
}

void ss_run_free(ss_run *run)
{
    ss_state_free(&run->answer);
    ss_response_free(run->response);
    ss_team_free(run->team);
    run->response = NULL;
    run->team = NULL;
}

static double percent(long part, long whole)
{
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0.0;
}

void ss_run_describe(const ss_run *run, ss_record_row *row)
{
    const ss_result *result = &run->result;
    snprintf(row->status, sizeof row->status, "%s", run->status);
    snprintf(row->detail, sizeof row->detail, "%s", run->detail);
    snprintf(row->outcome, sizeof row->outcome, "%s", ss_outcome_name(result->outcome));
    row->iterations = result->iterations;
    row->local_solves = result->local_solves;
    row->alt_percent = percent(result->failsafe_calls, result->local_solves);
    row->fail_percent = percent(result->failures, result->local_solves);
    row->seconds = result->seconds;
    row->cpu_seconds = result->cpu_seconds;
    row->setup_seconds = result->setup_seconds;
    row->sweep_seconds = result->sweep_seconds;
    row->measures = run->verdict.measures;
}

bool ss_all_finite(const double *x, size_t count)
{
    bool finite = true;
    for (size_t k = 0; x != NULL && k < count && finite; k++) {
        finite = isfinite(x[k]);
    }
    return finite;
}
