
#include "harness/bench/bench.h"

#include "base/child.h"
#include "base/number.h"
#include "harness/bench/measure.h"
#include "harness/cli.h"
#include "harness/quote.h"
#include "harness/record/machine.h"
#include "harness/run.h"
#include "base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

static int add_operand(ss_bench_plan *plan, const char *operand);

// ---- Cores

// A batch system: set in its jobs; how many cores of this machine the job has.
static const struct {
    const char *name, *job, *cores;
} SYSTEMS[] = {
    {"Slurm", "SLURM_JOB_ID", "SLURM_CPUS_ON_NODE"},
    {"PBS", "PBS_JOBID", "NCPUS"},
};

enum { NSYSTEMS = sizeof SYSTEMS / sizeof SYSTEMS[0] };

ss_cores ss_cores_given(int allowed)
{
    ss_cores cores = {.count = allowed, .allowed = allowed};
    for (int k = 0; k < NSYSTEMS; k++) {
        const char *text = getenv(SYSTEMS[k].cores);
        long given;
        if (getenv(SYSTEMS[k].job) != NULL && text != NULL &&
            ss_number_whole(text, 1, INT_MAX, &given) && given < cores.count) {
            cores.count = (int)given;
            cores.giver = SYSTEMS[k].name;
        }
    }
    return cores;
}

ss_cores ss_cores_here(void)
{
    cpu_set_t mine;
    return ss_cores_given(sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine) : 1);
}

void ss_cores_place(const ss_cores *cores, pid_t child, int k)
{
    cpu_set_t mine, one;
    CPU_ZERO(&one);
    if (cores->giver != NULL || sched_getaffinity(0, sizeof mine, &mine) != 0) {
        return;
    }
    for (size_t core = 0; core < CPU_SETSIZE; core++) {
        if (CPU_ISSET(core, &mine) && k-- == 0) {
            CPU_SET(core, &one);
            sched_setaffinity(child, sizeof one, &one);
        }
    }
}

// The number of runs at a time that were asked for, or fewer; with a sentence on stderr, in the
// name of the verb, if they are fewer or not placed.
static int cores_limit(const ss_cores *cores, const char *verb, int jobs)
{
    const int count = cores->count;
    if (cores->giver != NULL) {
        ss_complain(verb,
                    "%s gives this job %d of the %d cores that it may use and does not say which: "
                    "runs are not bound to cores",
                    cores->giver, count, cores->allowed);
    }
    if (jobs > count) {
        ss_complain(verb, "--jobs %d is more than the %d core%s of this %s: %d run%s at a time",
                    jobs, count, ss_plural(count), cores->giver != NULL ? "job" : "machine", count,
                    ss_plural(count));
    }
    return jobs < count ? jobs : count;
}

// ---- Which rows are missing

static int fail_memory(const ss_bench_plan *plan)
{
    ss_complain(plan->verb, "not enough memory for the list of problems");
    return SS_EXIT_SYSTEM;
}

// -- Which files

// A file without problems says nothing about the solvers, so it is reported and not recorded.
static int add_file(ss_bench_plan *plan, const char *path)
{
    ss_error error;
    const ss_status status = ss_reader_look(path, &error);
    if (status != SS_OK) {
        ss_complain(plan->verb, "%s", error.text);
        return (int)status;
    }
    char **files = realloc(plan->files, ((size_t)plan->nfiles + 1) * sizeof *files);
    plan->files = files != NULL ? files : plan->files;
    char *copy = strdup(path);
    if (files == NULL || copy == NULL) {
        free(copy);
        return fail_memory(plan);
    }
    plan->files[plan->nfiles++] = copy;
    return SS_EXIT_OK;
}

static int is_problem_file(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot != NULL && (strcmp(dot, ".h5") == 0 || strcmp(dot, ".hdf5") == 0);
}

static int add_folder(ss_bench_plan *plan, const char *folder)
{
    struct dirent **entries = NULL;
    const int count = scandir(folder, &entries, is_problem_file, versionsort);
    const size_t length = strlen(folder);
    int code = SS_EXIT_OK;
    if (count <= 0) {
        ss_complain(plan->verb, "%s: %s", folder,
                    count < 0 ? strerror(errno) : "contains no *.h5 and no *.hdf5");
        code = SS_EXIT_BAD_INPUT;
    }
    for (int k = 0; k < count; k++) {
        char *path = NULL;
        const char *slash = length > 0 && folder[length - 1] == '/' ? "" : "/";
        const bool made = asprintf(&path, "%s%s%s", folder, slash, entries[k]->d_name) >= 0;
        code = ss_larger_code(code, made ? add_file(plan, path) : fail_memory(plan));
        free(made ? path : NULL);
        free(entries[k]);
    }
    free(entries);
    return code;
}

static int add_operand(ss_bench_plan *plan, const char *operand);

// Empty lines and those that begin with # are passed over.
static int add_list(ss_bench_plan *plan, const char *path)
{
    char *line = NULL;
    size_t room = 0;
    int code = SS_EXIT_OK;
    FILE *list = fopen(path, "r");
    if (list == NULL) {
        ss_complain(plan->verb, "@%s: %s", path, strerror(errno));
        return SS_EXIT_BAD_INPUT;
    }
    while (getline(&line, &room, list) >= 0) {
        line[strcspn(line, "\r\n")] = '\0';
        if (line[0] != '\0' && line[0] != '#') {
            code = ss_larger_code(code,
                                  line[0] == '@' ? add_file(plan, line) : add_operand(plan, line));
        }
    }
    free(line);
    fclose(list);
    return code;
}

static int add_operand(ss_bench_plan *plan, const char *operand)
{
    struct stat status;
    if (operand[0] == '@') {
        return add_list(plan, operand + 1);
    }
    return stat(operand, &status) == 0 && S_ISDIR(status.st_mode) ? add_folder(plan, operand)
                                                                  : add_file(plan, operand);
}

// -- Which problems

static void free_problem(ss_bench_problem *p)
{
    free(p->file);
    free(p->name);
    free(p->label);
    free(p->defect);
}

static bool describe(const ss_item *item, ss_bench_problem *p)
{
    *p = (ss_bench_problem){.file = strdup(item->file),
                            .name = strdup(item->name),
                            .label = strdup(item->label),
                            .contacts = -1,
                            .dim = -1};
    bool complete = p->file != NULL && p->name != NULL && p->label != NULL;
    if (item->problem != NULL) {
        p->contacts = item->problem->ncontacts;
        p->dim = item->problem->dim;
        p->has_guess = ss_run_guess(item->problem) != NULL;
        snprintf(p->scene, sizeof p->scene, "%.*s", (int)sizeof p->scene - 1,
                 item->problem->provenance.scene);
        ss_problem_sha256(item->problem, p->sha256);
    } else {
        p->defect = strdup(item->error->text);
        complete = complete && p->defect != NULL;
        char stored[sizeof((ss_record_row *)0)->problem];
        ss_record_put_label(item->label, stored, sizeof stored);
        ss_record_stand_in(stored, p->sha256);
    }
    if (!complete) {
        free_problem(p);
    }
    return complete;
}

static const ss_bench_problem *find_same(const ss_bench_plan *plan, const ss_bench_problem *p)
{
    for (int k = 0; k < plan->nproblems; k++) {
        if (strcmp(plan->problems[k].sha256, p->sha256) == 0) {
            return &plan->problems[k];
        }
    }
    return NULL;
}

static int add_problem(ss_bench_plan *plan, ss_bench_problem p)
{
    const ss_bench_problem *same = find_same(plan, &p);
    if (same != NULL) {
        ss_complain(plan->verb, "%s is the same problem as %s: it is run once", p.label,
                    same->label);
        free_problem(&p);
        return SS_EXIT_OK;
    }
    ss_bench_problem *problems =
        realloc(plan->problems, ((size_t)plan->nproblems + 1) * sizeof *problems);
    if (problems == NULL) {
        free_problem(&p);
        return fail_memory(plan);
    }
    plan->problems = problems;
    plan->problems[plan->nproblems++] = p;
    return SS_EXIT_OK;
}

static int plan_item(ss_bench_plan *plan, const ss_item *item)
{
    if (item->problem == NULL) {
        ss_complain(plan->verb, "%s", item->error->text);
    }
    if (item->problem == NULL && item->error->status == SS_SYSTEM) {
        return SS_EXIT_SYSTEM;
    }
    ss_bench_problem p;
    return describe(item, &p) ? add_problem(plan, p) : fail_memory(plan);
}

// -- Which rows

// Whether a run under these limits would say no more than the row.
static bool says_all(const ss_record_row *row, const ss_bench_settings *s)
{
    if (strcmp(row->status, "max_iter") == 0) {
        return row->max_iterations >= s->max_iterations;
    }
    if (strcmp(row->status, "time_limit") == 0) {
        return row->time_limit >= s->time_limit;
    }
    return strcmp(row->status, "interrupted") != 0; // the clock on the wall decides nothing
}

static ss_status find_present(const ss_bench_plan *plan, ss_bench_entry *entry, ss_record *record,
                              ss_error *e)
{
    ss_record_row key = ss_bench_plan_row(plan, entry), row;
    bool found;
    ss_status status = ss_record_find(record, &key, &found, &row, e);
    entry->present = found && (entry->problem->defect != NULL || says_all(&row, &plan->settings));
    if (status == SS_OK && entry->present && entry->problem->defect == NULL) {
        ss_record_stand_in(key.problem, key.problem_sha256);
        status = ss_record_find(record, &key, &found, &row, e);
        entry->present = !found;
    }
    return status;
}

ss_status ss_bench_plan_compare(ss_bench_plan *plan, ss_record *record, ss_error *e)
{
    ss_status status = SS_OK;
    for (int k = 0; status == SS_OK && k < plan->count; k++) {
        ss_bench_entry *entry = &plan->entries[k];
        if (!entry->present) {
            status = find_present(plan, entry, record, e);
            plan->missing -= entry->present;
        }
    }
    return status;
}

static int add_entries(ss_bench_plan *plan, const ss_specs *specs)
{
    const ss_bench_settings *s = &plan->settings;
    const size_t ntolerances = s->ntolerances > 0 ? (size_t)s->ntolerances : 1;
    const size_t nspecs = (size_t)specs->count, each = nspecs * ntolerances;
    const size_t count = (size_t)plan->nproblems * each;
    plan->entries = calloc(count > 0 ? count : 1, sizeof *plan->entries);
    if (plan->entries == NULL) {
        return fail_memory(plan);
    }
    for (size_t k = 0; k < count; k++) {
        plan->entries[k] = (ss_bench_entry){
            .problem = &plan->problems[k / each],
            .spec = specs->text[k % nspecs],
            .tolerance =
                s->ntolerances > 0 ? s->tolerances[k / nspecs % ntolerances] : s->tolerance};
    }
    plan->count = plan->missing = (int)count;
    return SS_EXIT_OK;
}

// Its rows say start "guess", as they were asked for, and what was done in their detail.
static void remark_guesses(const ss_bench_plan *plan)
{
    int without = 0, readable = 0;
    const ss_bench_problem *first = NULL;
    for (int k = 0; k < plan->nproblems; k++) {
        const ss_bench_problem *p = &plan->problems[k];
        readable += p->defect == NULL;
        if (p->defect == NULL && !p->has_guess) {
            without++;
            first = first != NULL ? first : p;
        }
    }
    if (without == 1) {
        ss_complain(plan->verb, "--start guess: %s holds no guess and starts from zero",
                    first->label);
    } else if (without > 1) {
        ss_complain(plan->verb,
                    "--start guess: %d of %d problems hold no guess and start from zero, %s "
                    "the first of them",
                    without, readable, first->label);
    }
}

int ss_bench_plan_begin(const char *verb, int noperands, char *const *operands,
                        const ss_bench_settings *settings, ss_bench_plan *plan)
{
    int code = SS_EXIT_OK;
    *plan = (ss_bench_plan){.verb = verb, .settings = *settings};
    ss_machine_build(plan->build, sizeof plan->build);
    for (int k = 0; k < noperands; k++) {
        code = ss_larger_code(code, add_operand(plan, operands[k]));
    }
    return code;
}

int ss_bench_plan_load(ss_bench_plan *plan, const ss_specs *specs, ss_shard shard)
{
    int code = SS_EXIT_OK;
    ss_items it = ss_items_of(plan->verb, plan->nfiles, plan->files, NULL);
    it.shard = shard;
    for (ss_item item; ss_items_next(&it, &item);) {
        code = ss_larger_code(code, plan_item(plan, &item));
    }
    code = ss_larger_code(code, ss_items_end(&it));
    if (plan->settings.from_guess) {
        remark_guesses(plan);
    }
    return ss_larger_code(code, add_entries(plan, specs));
}

void ss_bench_plan_free(ss_bench_plan *plan)
{
    for (int k = 0; k < plan->nproblems; k++) {
        free_problem(&plan->problems[k]);
    }
    for (int k = 0; k < plan->nfiles; k++) {
        free(plan->files[k]);
    }
    free(plan->files);
    free(plan->problems);
    free(plan->entries);
    *plan = (ss_bench_plan){0};
}

ss_record_row ss_bench_plan_row(const ss_bench_plan *plan, const ss_bench_entry *entry)
{
    const ss_bench_problem *p = entry->problem;
    ss_record_row row = ss_record_row_blank();
    memcpy(row.problem_sha256, p->sha256, sizeof row.problem_sha256);
    snprintf(row.solver, sizeof row.solver, "%s", entry->spec);
    snprintf(row.start, sizeof row.start, "%s", plan->settings.from_guess ? "guess" : "zero");
    memcpy(row.build, plan->build, sizeof row.build);
    row.tolerance = entry->tolerance;
    ss_record_put_label(p->label, row.problem, sizeof row.problem);
    memcpy(row.scene, p->scene, sizeof row.scene);
    row.contacts = p->contacts;
    row.dim = p->dim;
    row.max_iterations = plan->settings.max_iterations;
    row.time_limit = plan->settings.time_limit;
    return row;
}

// ---- Children that make rows

// A child at work.
typedef struct job {
    const ss_bench_entry *entry;
    ss_sleep sleep;
    double load;     // of the machine when it began
    char killed[80]; // why we killed it; "" otherwise
} job;

typedef struct running {
    const ss_bench_plan *plan;
    const ss_bench_orders *orders;
    ss_record *record;
    ss_bar bar;
    ss_machine machine;
    ss_cores cores;
    int njobs;
    ss_child *children; // [njobs], as are the jobs
    job *jobs;
    int next;         // entry
    sigset_t outside; // the signal mask that lets Ctrl-C through
} running;

// -- The bar

#define BAR_WIDTH     20
#define NARROW_WIDTH  40 // columns of a terminal that does not tell
#define LARGEST_WIDTH 200

// Below a minute and above: "0:07", "12:30", "3:00:00".
static void write_duration(double seconds, char *text, size_t room)
{
    const long s = seconds < 1e9 ? (long)(seconds + 0.5) : 1000000000L;
    if (s < 3600) {
        snprintf(text, room, "%ld:%02ld", s / 60, s % 60);
    } else {
        snprintf(text, room, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    }
}

void ss_bar_text(const ss_bar *bar, double seconds, const char *what, int width, char *text,
                 size_t room)
{
    char marks[BAR_WIDTH + 1], left[32] = "?", line[LARGEST_WIDTH + 1];
    const int filled = bar->total > 0 ? (int)((long)BAR_WIDTH * bar->done / bar->total) : BAR_WIDTH;
    for (int k = 0; k < BAR_WIDTH; k++) {
        marks[k] = k < filled ? '#' : '-';
    }
    marks[BAR_WIDTH] = '\0';
    const double rate = seconds > 0.0 ? bar->done / seconds : 0.0;
    if (rate > 0.0) {
        write_duration((bar->total - bar->done) / rate, left, sizeof left);
    }
    snprintf(line, sizeof line, "[%s] %d/%d  %.3g/s  %s left  %s", marks, bar->done, bar->total,
             rate, left, what);
    ss_make_printable(line);
    snprintf(text, room, "%.*s", width > 0 ? width : 0, line);
}

static int terminal_width(void)
{
    struct winsize size;
    const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
    return known ? size.ws_col - 1 : NARROW_WIDTH;
}

static void draw_bar(const ss_bar *bar, const char *what)
{
    char text[LARGEST_WIDTH + 1];
    ss_bar_text(bar, ss_clock_seconds(CLOCK_MONOTONIC) - bar->start, what, terminal_width(), text,
                sizeof text);
    fprintf(stderr, "\r\033[K%s", text);
}

static ss_bar start_bar(int total)
{
    const ss_bar bar = {.total = total,
                        .terminal = isatty(STDERR_FILENO) == 1,
                        .start = ss_clock_seconds(CLOCK_MONOTONIC)};
    if (bar.terminal && total > 0) {
        draw_bar(&bar, "");
    }
    return bar;
}

static void step_bar(ss_bar *bar, char *what)
{
    bar->done++;
    if (bar->terminal) {
        draw_bar(bar, what);
    } else {
        ss_make_printable(what);
        fprintf(stderr, "%d/%d %s\n", bar->done, bar->total, what);
    }
}

// -- Signals

static volatile sig_atomic_t interrupted;

static void note_interrupt(int signal_number)
{
    (void)signal_number;
    interrupted = 1;
}

static const int SIGNALS[] = {SIGINT, SIGTERM, SIGHUP};

enum { NSIGNALS = sizeof SIGNALS / sizeof SIGNALS[0] };

// They are heard while we wait for children, and nowhere else. One that is ignored stays so.
static void catch_signals(running *all, struct sigaction before[NSIGNALS])
{
    sigset_t blocked;
    sigemptyset(&blocked);
    interrupted = 0;
    for (int k = 0; k < NSIGNALS; k++) {
        const struct sigaction action = {.sa_handler = note_interrupt};
        sigaddset(&blocked, SIGNALS[k]);
        sigaction(SIGNALS[k], NULL, &before[k]);
        if (before[k].sa_handler != SIG_IGN) {
            sigaction(SIGNALS[k], &action, NULL);
        }
    }
    sigprocmask(SIG_BLOCK, &blocked, &all->outside);
}

static void release_signals(const running *all, const struct sigaction before[NSIGNALS])
{
    sigprocmask(SIG_SETMASK, &all->outside, NULL);
    for (int k = 0; k < NSIGNALS; k++) {
        sigaction(SIGNALS[k], &before[k], NULL);
    }
}

// -- A child

// More than a command line has.
enum { MOST_WORDS = 16 };

typedef struct command_line {
    int count;
    char *words[MOST_WORDS]; // owned; NULL ends them
    bool complete;           // false: no memory
} command_line;

__attribute__((format(printf, 2, 3))) static void put(command_line *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *word = NULL;
    if (line->count < MOST_WORDS - 1 && vasprintf(&word, format, arguments) >= 0) {
        line->words[line->count++] = word;
    } else {
        line->complete = false;
    }
    va_end(arguments);
}

static void free_words(command_line *line)
{
    for (int k = 0; k < line->count; k++) {
        free(line->words[k]);
    }
}

static command_line write_words(const running *all, const ss_bench_entry *entry)
{
    const ss_bench_settings *s = &all->plan->settings;
    const ss_bench_problem *p = entry->problem;
    command_line line = {.complete = true};
    put(&line, "stickslip");
    put(&line, "%s", SS_RUN_ONE);
    put(&line, "--solver=%s", entry->spec);
    put(&line, "--tol=%.17g", entry->tolerance);
    put(&line, "--time-limit=%.17g", s->time_limit);
    put(&line, "--max-iter=%d", s->max_iterations);
    put(&line, "--repeat=%d", s->repeats);
    put(&line, "--start=%s", s->from_guess ? "guess" : "zero");
    if (p->name[0] != '\0') {
        put(&line, "--problem=%s", p->name);
    }
    put(&line, "--");
    put(&line, "%s", p->file);
    return line;
}

static ss_status start_job(running *all, int k, const ss_bench_entry *entry, ss_error *e)
{
    const ss_bench_settings *s = &all->plan->settings;
    command_line line = write_words(all, entry);
    const ss_child_setup setup = {
        .program = all->orders->program, .words = line.words, .speech = SS_CHILD_ON_CHANNEL};
    all->jobs[k] = (job){.entry = entry, .sleep = ss_sleep_begin(), .load = ss_machine_load()};
    const ss_status status = line.complete ? ss_child_start(&all->children[k], &setup, e)
                                           : ss_fail_memory(e, "a command line");
    free_words(&line);
    if (status == SS_OK) {
        ss_cores_place(&all->cores, all->children[k].pid, k);
        ss_limit_child(all->children[k].pid, s->time_limit, 1 + s->repeats);
    }
    return status;
}

// -- Its row

__attribute__((format(printf, 3, 4))) static void put_status(ss_record_row *row, const char *status,
                                                             const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    snprintf(row->status, sizeof row->status, "%s", status);
    vsnprintf(row->detail, sizeof row->detail, format, arguments);
    va_end(arguments);
}

// A batch system that ends a job sends SIGTERM to all its processes, to a run before its parent.
static bool is_from_outside(int signal_number)
{
    return signal_number == SIGTERM || signal_number == SIGINT || signal_number == SIGHUP;
}

static void describe_ending(const ss_child *child, const job *j, ss_record_row *row)
{
    if (j->killed[0] != '\0') { // the clock on the wall decides nothing: it is run again
        put_status(row, "interrupted", "%s", j->killed);
    } else if (child->ending == SS_ENDED_LOUD) {
        put_status(row, "crashed", "killed: wrote more than %d MB", SS_CHILD_MOST_SAID >> 20);
    } else if (child->ending == SS_ENDED_BY_SIGNAL && child->number == SIGXCPU) {
        put_status(row, "time_limit", "killed: exceeded the time limit");
    } else if (child->ending == SS_ENDED_BY_SIGNAL && is_from_outside(child->number)) {
        put_status(row, "interrupted", "signal %d (%s); bench makes this run again", child->number,
                   strsignal(child->number));
    } else if (child->ending == SS_ENDED_BY_SIGNAL) {
        put_status(row, "crashed", "signal %d (%s)", child->number, strsignal(child->number));
    } else if (child->number != 0) {
        put_status(row, "crashed", "it exited with code %d", child->number);
    } else {
        put_status(row, "crashed", "it ended without a result");
    }
}

// Copies what the child found out into the row, which keeps the key of the plan.
static void take_over(const ss_record_row *key, ss_record_row *row)
{
    const bool same = strcmp(row->problem_sha256, key->problem_sha256) == 0;
    if (!same && strcmp(row->status, "bad_input") != 0) {
        ss_record_row_free(row);
        *row = ss_record_row_blank();
        put_status(row, "bad_input", "the file was changed during the benchmark");
    }
    if (same) {
        memcpy(row->problem_sha256, key->problem_sha256, sizeof row->problem_sha256);
    } else { // it says nothing about the problem that was planned
        ss_record_stand_in(key->problem, row->problem_sha256);
    }
    memcpy(row->solver, key->solver, sizeof row->solver);
    memcpy(row->start, key->start, sizeof row->start);
    memcpy(row->build, key->build, sizeof row->build);
    memcpy(row->problem, key->problem, sizeof row->problem);
    row->tolerance = key->tolerance;
    memcpy(row->scene, key->scene, sizeof row->scene);
    row->contacts = same ? key->contacts : -1;
    row->dim = same ? key->dim : -1;
    row->max_iterations = key->max_iterations;
    row->time_limit = key->time_limit;
}

// A row in any case, but where the fault is not the child's.
static ss_status read_row(const running *all, int k, ss_record_row *row, ss_error *e)
{
    const ss_child *child = &all->children[k];
    const ss_record_row key = ss_bench_plan_row(all->plan, all->jobs[k].entry);
    if (child->ending == SS_ENDED_UNHEARD) {
        return ss_fail_memory(e, "the row of a run");
    }
    if (child->ending == SS_ENDED_BY_CODE && child->number == SS_CHILD_NOT_STARTED) {
        return ss_fail(e, SS_SYSTEM, "%s cannot be executed", all->orders->program);
    }
    ss_status status = SS_BAD_INPUT;
    if (child->ending == SS_ENDED_BY_CODE && child->number == 0) {
        status = ss_bench_receive(child->said, child->length, row, e);
    }
    if (status == SS_OK) {
        take_over(&key, row);
    } else if (status == SS_BAD_INPUT) {
        *row = key;
        describe_ending(child, &all->jobs[k], row);
    }
    return status == SS_SYSTEM ? status : SS_OK;
}

static ss_status add_row(running *all, double load, ss_record_row *row, ss_error *e)
{
    char text[1500], seconds[48] = "", tolerance[32] = "";
    memcpy(row->host, all->machine.host, sizeof row->host);
    memcpy(row->machine, all->machine.machine, sizeof row->machine);
    ss_machine_date(row->date, sizeof row->date);
    row->load = load;
    if (row->iterations >= 0 && isfinite(row->seconds)) {
        snprintf(seconds, sizeof seconds, ", %d iteration%s, %.3g s", row->iterations,
                 ss_plural(row->iterations), row->seconds);
    }
    if (all->plan->settings.ntolerances > 1) {
        snprintf(tolerance, sizeof tolerance, "to %g ", row->tolerance);
    }
    snprintf(text, sizeof text, "%s %s %s%s%s", row->problem, row->solver, tolerance, row->status,
             seconds);
    const ss_status status = ss_record_add(all->record, row, e);
    ss_record_row_free(row);
    if (status == SS_OK) {
        step_bar(&all->bar, text);
    }
    return status;
}

static ss_status add_defect(running *all, const ss_bench_entry *entry, ss_error *e)
{
    ss_record_row row = ss_bench_plan_row(all->plan, entry);
    put_status(&row, "bad_input", "%s", entry->problem->defect);
    return add_row(all, ss_machine_load(), &row, e);
}

// -- The work

// The next missing run, as job k; where none is left, no child is there.
static ss_status start_next(running *all, int k, ss_error *e)
{
    ss_status status = SS_OK;
    while (status == SS_OK && all->next < all->plan->count && all->children[k].pid == 0) {
        const ss_bench_entry *entry = &all->plan->entries[all->next++];
        if (!entry->present && entry->problem->defect != NULL) {
            status = add_defect(all, entry, e);
        } else if (!entry->present) {
            status = start_job(all, k, entry, e);
        }
    }
    return status;
}

static ss_status finish(running *all, int k, ss_error *e)
{
    ss_record_row row;
    ss_status status = read_row(all, k, &row, e);
    ss_child_clear(&all->children[k]);
    if (status == SS_OK) {
        status = add_row(all, all->jobs[k].load, &row, e);
    }
    return status == SS_OK ? start_next(all, k, e) : status;
}

// Ends one that sleeps for too long. Its place, or -1.
static int end_sleeper(running *all)
{
    const double limit = ss_sleep_limit(all->plan->settings.time_limit);
    for (int k = 0; k < all->njobs; k++) {
        if (all->children[k].pid != 0 &&
            ss_sleep_look(&all->jobs[k].sleep, all->children[k].pid) > limit) {
            ss_child_end(&all->children[k]);
            snprintf(all->jobs[k].killed, sizeof all->jobs[k].killed,
                     "killed: slept for %.3g s; bench makes this run again", limit);
            return k;
        }
    }
    return -1;
}

static bool is_busy(const running *all)
{
    bool busy = false;
    for (int k = 0; k < all->njobs; k++) {
        busy = busy || all->children[k].pid != 0;
    }
    return busy;
}

static ss_status work(running *all, ss_error *e)
{
    ss_status status = SS_OK;
    for (int k = 0; status == SS_OK && k < all->njobs; k++) {
        status = start_next(all, k, e);
    }
    while (status == SS_OK && is_busy(all) && !interrupted) {
        int ended;
        status = ss_child_wait(all->children, all->njobs, SS_SLEEP_LOOK, &all->outside, &ended, e);
        while (status == SS_OK && (ended >= 0 || (ended = end_sleeper(all)) >= 0)) {
            status = finish(all, ended, e);
            ended = -1;
        }
    }
    return status;
}

static int conclude(const running *all, ss_status status, const ss_error *error)
{
    if (all->bar.terminal) {
        fputs("\r\033[K", stderr);
    }
    if (status != SS_OK) {
        ss_complain(all->orders->verb, "%s", error->text);
        return SS_EXIT_SYSTEM;
    }
    if (interrupted) {
        ss_complain(all->orders->verb,
                    "interrupted with %d of %d row%s still to be made; the same command goes on",
                    all->bar.total - all->bar.done, all->plan->count, ss_plural(all->plan->count));
        return SS_EXIT_UNSOLVED;
    }
    return SS_EXIT_OK;
}

int ss_bench_run(const ss_bench_plan *plan, const ss_bench_orders *orders, ss_record *record)
{
    running all = {.plan = plan, .orders = orders, .record = record, .cores = ss_cores_here()};
    struct sigaction before[NSIGNALS];
    ss_error error;
    ss_status status = SS_OK;
    all.njobs = cores_limit(&all.cores, orders->verb, orders->jobs);
    all.children = calloc((size_t)all.njobs, sizeof *all.children);
    all.jobs = calloc((size_t)all.njobs, sizeof *all.jobs);
    catch_signals(&all, before);
    if (all.children == NULL || all.jobs == NULL) {
        status = ss_fail_memory(&error, "the runs");
    } else {
        all.machine = ss_machine_describe();
        all.bar = start_bar(plan->missing);
        if (plan->missing > 0) {
            status = ss_record_add_machine(record, &all.machine, &error);
        }
        status = status == SS_OK ? work(&all, &error) : status;
    }
    for (int k = 0; all.children != NULL && k < all.njobs; k++) {
        ss_child_clear(&all.children[k]);
    }
    free(all.children);
    free(all.jobs);
    const int code = conclude(&all, status, &error);
    release_signals(&all, before);
    return code;
}
