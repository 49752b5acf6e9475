// The child of a benchmark: the verb run-one measures one solver on one problem, a first run that
// is listened to and repeats that are timed, and writes its row to its parent.
#include "harness/bench/measure.h"

#include "base/child.h"
#include "harness/cli.h"
#include "harness/record/record.h"
#include "harness/run.h"
#include "problems/problem.h"
#include "problems/response.h"
#include "base/clock.h"
#include "solvers/registry.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

// ---- Limits

#define SLEEP_FACTOR 3.0
#define CPU_FACTOR   2.0
#define ALLOWANCE    2.0 // s

// CPU seconds for all but the solves: the problem is loaded, M factored, some 200 iterates judged.
#define PREPARATION 300.0

// Between SIGXCPU and SIGKILL, in s of CPU time.
#define GRACE 5.0

// No limit is longer: it fits into a signed long.
#define LONGEST 1e8 // s

// -- CPU time

static double most_cpu_seconds(double limit)
{
    return fmin(CPU_FACTOR * limit + ALLOWANCE, LONGEST);
}

static void limit_cpu(double seconds)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_CPU, &limit) == 0) {
        const double most =
            limit.rlim_max != RLIM_INFINITY ? (double)limit.rlim_max - GRACE : INFINITY;
        const double wanted = ceil(fmin(seconds, most));
        limit.rlim_cur = isfinite(wanted) ? (rlim_t)fmax(wanted, 0.0) : RLIM_INFINITY;
        setrlimit(RLIMIT_CPU, &limit);
    }
}

void ss_cpu_limit_arm(ss_cpu_limit *limit, double seconds)
{
    limit->deadline = ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) + most_cpu_seconds(seconds);
    limit_cpu(limit->deadline);
}

void ss_cpu_limit_pause(ss_cpu_limit *limit)
{
    limit->then = ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
    limit_cpu(INFINITY);
}

void ss_cpu_limit_resume(ss_cpu_limit *limit)
{
    limit->deadline += ss_clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - limit->then;
    limit_cpu(limit->deadline);
}

void ss_cpu_limit_disarm(void)
{
    limit_cpu(INFINITY);
}

void ss_limit_child(pid_t child, double seconds, int solves)
{
    const double most = fmin(PREPARATION + solves * most_cpu_seconds(seconds), LONGEST);
    struct rlimit limit;
    if (prlimit(child, RLIMIT_CPU, NULL, &limit) == 0 && most + GRACE < (double)limit.rlim_max) {
        limit = (struct rlimit){.rlim_cur = (rlim_t)most, .rlim_max = (rlim_t)(most + GRACE)};
        prlimit(child, RLIMIT_CPU, &limit, NULL);
    }
}

// -- Sleep

typedef struct process {
    char state; // as ps shows it
    int group;
    unsigned long long ticks; // of CPU time
} process;

// False where it has gone. See proc(5): the name, in brackets, may hold anything.
static bool read_process(const char *pid, process *p)
{
    char path[300], line[1024];
    unsigned long long user, system;
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *file = fopen(path, "r");
    const char *rest = NULL;
    if (file != NULL) {
        rest = fgets(line, sizeof line, file) != NULL ? strrchr(line, ')') : NULL;
        fclose(file);
    }
    const bool known =
        rest != NULL && sscanf(rest + 1, " %c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu",
                               &p->state, &p->group, &user, &system) == 4;
    p->ticks = known ? user + system : 0;
    return known;
}

static bool is_asleep(const process *p)
{
    return p->state == 'S' || p->state == 'Z' || p->state == 'X';
}

// ticks: of the whole group.
static bool group_is_asleep(int group, unsigned long long *ticks)
{
    bool asleep = true;
    *ticks = 0;
    DIR *folder = opendir("/proc");
    for (const struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        process p;
        if (isdigit((unsigned char)entry->d_name[0]) && read_process(entry->d_name, &p) &&
            p.group == group) {
            asleep = asleep && is_asleep(&p);
            *ticks += p.ticks;
        }
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return asleep;
}

ss_sleep ss_sleep_begin(void)
{
    return (ss_sleep){.looked = ss_clock_seconds(CLOCK_MONOTONIC)};
}

// The child alone is looked at first: mostly it computes, and to look at all processes takes time.
// What slept at each look and has used less than a tick of CPU time between them did sleep.
double ss_sleep_look(ss_sleep *sleep, pid_t child)
{
    char pid[24];
    process p;
    unsigned long long ticks = 0;
    const double now = ss_clock_seconds(CLOCK_MONOTONIC);
    const double passed = now - sleep->looked;
    if (passed < SS_SLEEP_LOOK) {
        return sleep->seconds;
    }
    snprintf(pid, sizeof pid, "%d", (int)child);
    const bool asleep = read_process(pid, &p) && is_asleep(&p) && group_is_asleep(p.group, &ticks);
    const bool slept = asleep && ticks <= sleep->ticks + 1;
    sleep->seconds = slept ? sleep->seconds + fmin(passed, SS_SLEEP_LOOK) : 0.0;
    sleep->looked = now;
    sleep->ticks = ticks;
    return sleep->seconds;
}

double ss_sleep_limit(double seconds)
{
    return fmin(SLEEP_FACTOR * seconds + ALLOWANCE, LONGEST);
}

// ---- One run

// -- The history: iterations k = 0 .. 50 and then every one that is 1 + a times the last, with a
// such that max_iterations is reached after about 150 of them.

#define LATER_POINTS 150.0

int ss_history_next(int k, int max_iterations)
{
    if (k < SS_HISTORY_FIRST || max_iterations <= SS_HISTORY_FIRST) {
        return k + 1;
    }
    const double ratio = pow((double)max_iterations / SS_HISTORY_FIRST, 1.0 / LATER_POINTS);
    const double next = fmax(ceil(k * ratio), k + 1.0);
    return next < 2e9 ? (int)next : 2000000000;
}

typedef struct recorder {
    ss_history history; // [SS_HISTORY_MOST] each
    ss_response *response;
    double *u; // [dim ncontacts] scratch
    int next;  // iteration that is kept next
    int max_iterations;
    ss_cpu_limit *limit; // paused while the judge works
    // Wall seconds. A process that has set itself a CPU limit sees its CPU clock in steps of some
    // milliseconds (Linux counts by ticks then), too coarse for a history.
    double begin, listening;
} recorder;

static void keep(ss_history *h, int iteration, double seconds, const ss_measures *m)
{
    h->iteration[h->count] = iteration;
    h->seconds[h->count] = seconds;
    h->fb[h->count] = m->fb;
    h->normal[h->count] = m->normal;
    h->count++;
}

static void listen(void *listener, const ss_progress *p)
{
    recorder *rec = listener;
    // The last place is kept for the answer.
    if (p->iteration < rec->next || rec->history.count >= SS_HISTORY_MOST - 1) {
        return;
    }
    const double paused = ss_clock_seconds(CLOCK_MONOTONIC);
    ss_cpu_limit_pause(rec->limit);
    const ss_measures m = ss_response_judge(rec->response, p->r, rec->u);
    keep(&rec->history, p->iteration, paused - rec->begin - rec->listening, &m);
    rec->next = ss_history_next(p->iteration, rec->max_iterations);
    ss_cpu_limit_resume(rec->limit);
    rec->listening += ss_clock_seconds(CLOCK_MONOTONIC) - paused;
}

static ss_status recorder_begin(recorder *rec, ss_task *task, ss_cpu_limit *limit, ss_error *e)
{
    const ss_problem *p = task->problem;
    ss_history *h = &rec->history;
    *rec = (recorder){.limit = limit, .max_iterations = task->max_iterations};
    rec->u = calloc((size_t)p->dim * (size_t)p->ncontacts, sizeof *rec->u);
    ss_status status = ss_history_new(SS_HISTORY_MOST, h, e);
    h->count = 0;
    if (status != SS_OK || rec->u == NULL) {
        return ss_fail_memory(e, "a history");
    }
    task->listen = listen;
    task->listener = rec;
    task->listen_from = &rec->next;
    status = ss_response_new(p, &rec->response, e);
    rec->begin = ss_clock_seconds(CLOCK_MONOTONIC);
    return status;
}

// The last point is the answer's, as judged at the end.
static void recorder_end(recorder *rec, const ss_result *result, const ss_measures *m)
{
    ss_history *h = &rec->history;
    if (h->count > 0 && h->iteration[h->count - 1] == result->iterations) {
        h->count--;
    }
    // The points before it count from a moment earlier than the solver does.
    const double last = h->count > 0 ? h->seconds[h->count - 1] : 0.0;
    keep(h, result->iterations, fmax(result->seconds, last), m);
}

// Takes one that was never begun.
static void recorder_free(recorder *rec)
{
    ss_history_free(&rec->history);
    free(rec->u);
    ss_response_free(rec->response);
    *rec = (recorder){0};
}

// -- One row

typedef struct measuring {
    const ss_bench_settings *settings;
    ss_task task;
    const double *start; // NULL: zero
    ss_cpu_limit limit;
    ss_record_row *row;
    double *seconds; // [repeats] of those that were made
} measuring;

static ss_status solve_under_limit(measuring *m, const ss_task *task, ss_run *run, ss_error *e)
{
    ss_cpu_limit_arm(&m->limit, m->settings->time_limit);
    const ss_status status = ss_run_task(task, m->start, run, e);
    ss_cpu_limit_disarm();
    ss_run_free(run);
    return status;
}

// The history goes to the row.
static ss_status warm_up(measuring *m, ss_run *run, ss_error *e)
{
    recorder listener;
    ss_task task = m->task;
    ss_status status = recorder_begin(&listener, &task, &m->limit, e);
    if (status == SS_OK) {
        status = solve_under_limit(m, &task, run, e);
    }
    if (status == SS_OK) {
        recorder_end(&listener, &run->result, &run->verdict.measures);
        ss_run_describe(run, m->row);
        m->row->history = listener.history;
        listener.history = (ss_history){0};
    }
    recorder_free(&listener);
    return status;
}

static ss_status repeat(measuring *m, ss_error *e)
{
    ss_record_row *row = m->row;
    ss_status status = SS_OK;
    for (int k = 0; status == SS_OK && k < m->settings->repeats; k++) {
        ss_run run;
        status = solve_under_limit(m, &m->task, &run, e);
        if (status == SS_OK) {
            m->seconds[row->repeats++] = run.result.seconds;
            if (row->repeats == 1 || run.result.seconds < row->seconds) {
                ss_run_describe(&run, row);
            }
        }
    }
    return status;
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void take_median(measuring *m)
{
    const int n = m->row->repeats;
    m->row->seconds_median = m->row->seconds;
    if (n > 0) {
        qsort(m->seconds, (size_t)n, sizeof *m->seconds, compare);
        m->row->seconds_median = 0.5 * (m->seconds[(n - 1) / 2] + m->seconds[n / 2]);
    }
}

// After all that is measured. Without the memory for a proof the status stays.
static void decide(measuring *m, const ss_result *result)
{
    const char *status = m->row->status;
    ss_error unused;
    if (ss_run_decide(&m->task, result, &status, m->row->detail, sizeof m->row->detail, &unused) ==
            SS_OK &&
        status != m->row->status) {
        snprintf(m->row->status, sizeof m->row->status, "%s", status);
    }
}

static ss_status measure(measuring *m, ss_error *e)
{
    m->seconds = calloc((size_t)m->settings->repeats, sizeof *m->seconds);
    if (m->seconds == NULL) {
        return ss_fail_memory(e, "the seconds of the repeats");
    }
    ss_run first;
    ss_status status = warm_up(m, &first, e);
    if (status == SS_OK && first.result.outcome != SS_TIME_LIMIT &&
        first.result.outcome != SS_MAX_ITER) {
        status = repeat(m, e);
    }
    take_median(m);
    if (status == SS_OK) {
        decide(m, &first.result);
    }
    return status;
}

static void append(char *text, size_t room, const char *sentence)
{
    const size_t used = strlen(text);
    snprintf(text + used, room - used, "%s%s", used > 0 ? "; " : "", sentence);
}

static ss_task task_of(const ss_problem *p, const ss_method *method, const ss_bench_settings *s)
{
    return (ss_task){.problem = p,
                     .method = method,
                     .tolerance = s->tolerance,
                     .max_iterations = s->max_iterations,
                     .time_limit = s->time_limit,
                     .clock = SS_CLOCK_CPU};
}

static void put_failure(ss_record_row *row, ss_status status, const ss_error *error)
{
    snprintf(row->status, sizeof row->status, "%s",
             status == SS_BAD_INPUT ? "bad_input" : "crashed");
    snprintf(row->detail, sizeof row->detail, "%.*s", (int)sizeof row->detail - 1, error->text);
}

void ss_bench_measure(const ss_problem *p, const ss_method *method,
                      const ss_bench_settings *settings, ss_record_row *row)
{
    measuring m = {.settings = settings, .task = task_of(p, method, settings), .row = row};
    *row = ss_record_row_blank();
    row->contacts = p->ncontacts;
    row->dim = p->dim;
    ss_problem_sha256(p, row->problem_sha256);
    m.start = settings->from_guess ? ss_run_guess(p) : NULL;
    ss_error error;
    const ss_status status = measure(&m, &error);
    free(m.seconds);
    if (status != SS_OK) {
        put_failure(row, status, &error);
    } else if (settings->from_guess && m.start == NULL) {
        append(row->detail, sizeof row->detail, "the problem holds no guess: the start is zero");
    }
}

// -- Its way to the parent

// "ssro": what is not this was not meant.
#define MAGIC 0x7373726fU

typedef struct head {
    uint32_t magic;
    int32_t points;
    ss_record_row row; // its history's pointers are NULL
} head;

static ss_status send_all(int channel, const void *bytes, size_t length, ss_error *e)
{
    const char *rest = bytes;
    while (length > 0) {
        const ssize_t sent = write(channel, rest, length);
        if (sent < 0 && errno != EINTR) {
            return ss_fail(e, SS_SYSTEM, "a row cannot be sent: %s", strerror(errno));
        }
        if (sent > 0) {
            rest += sent;
            length -= (size_t)sent;
        }
    }
    return SS_OK;
}

ss_status ss_bench_send(int channel, const ss_record_row *row, ss_error *e)
{
    const ss_history *h = &row->history;
    head start;
    memset(&start, 0, sizeof start);
    start.magic = MAGIC;
    start.points = h->count;
    start.row = *row;
    start.row.history = (ss_history){0};
    ss_status status = send_all(channel, &start, sizeof start, e);
    if (status == SS_OK && h->count > 0) {
        double *columns[SS_HISTORY_COLUMNS];
        ss_history_columns(h, columns);
        for (int k = 0; status == SS_OK && k < SS_HISTORY_COLUMNS; k++) {
            status = send_all(channel, columns[k], (size_t)h->count * sizeof(double), e);
        }
    }
    return status;
}

static bool is_text(const char *text, size_t room)
{
    return memchr(text, '\0', room) != NULL;
}

static bool is_sound(const head *start, size_t length)
{
    const ss_record_row *r = &start->row;
    const size_t point = SS_HISTORY_COLUMNS * sizeof(double);
    return start->magic == MAGIC && start->points >= 0 && start->points <= SS_HISTORY_MOST &&
           length == sizeof *start + (size_t)start->points * point &&
           is_text(r->problem_sha256, sizeof r->problem_sha256) &&
           is_text(r->status, sizeof r->status) && is_text(r->detail, sizeof r->detail);
}

ss_status ss_bench_receive(const char *bytes, size_t length, ss_record_row *row, ss_error *e)
{
    head start;
    *row = ss_record_row_blank();
    if (length >= sizeof start) {
        memcpy(&start, bytes, sizeof start);
    }
    if (length < sizeof start || !is_sound(&start, length)) {
        return ss_fail(e, SS_BAD_INPUT, "what a run said is not one whole row");
    }
    const ss_status status = ss_history_new(start.points, &start.row.history, e);
    if (status == SS_OK) {
        *row = start.row;
        if (start.points > 0) { // its columns are one piece
            memcpy(row->history.iteration, bytes + sizeof start, length - sizeof start);
        }
    }
    return status;
}

// -- The verb

const char SS_RUN_ONE[] = "run-one";

typedef struct settings {
    const char *problem, *solver;
    ss_bench_settings bench;
    int start;
} settings;

static const settings DEFAULTS = {.solver = "mfb+enum"};

static const ss_option OPTIONS[] = {
    SS_OPT_TEXT("problem", "NAME", problem, ""),
    SS_OPT_TEXT("solver", "SPEC", solver, ""),
    SS_OPT_REAL("tol", "T", bench.tolerance, 0, 1, "", .required = true),
    SS_OPT_REAL("time-limit", "S", bench.time_limit, 0, 1e9, "", .required = true),
    SS_OPT_INT("max-iter", "N", bench.max_iterations, 0, 2e9, "", .required = true),
    SS_OPT_INT("repeat", "N", bench.repeats, 1, 1e6, "", .required = true),
    SS_OPT_START,
    {.name = NULL},
};

static void measure_item(const settings *s, const ss_method *method, const ss_item *item,
                         ss_record_row *row)
{
    if (item->problem != NULL) {
        ss_bench_measure(item->problem, method, &s->bench, row);
    } else {
        put_failure(row, item->error->status, item->error);
    }
}

static int send_row(const ss_record_row *row)
{
    ss_error error;
    const ss_status status = ss_bench_send(SS_CHILD_FILE, row, &error);
    if (status != SS_OK) {
        ss_complain(SS_RUN_ONE, "%s", error.text);
    }
    return (int)status;
}

static int run_run_one(const void *given, const ss_operands *files)
{
    settings s = *(const settings *)given;
    ss_error error;
    ss_method *method = NULL;
    ss_record_row row = ss_record_row_blank();
    ss_child_limit_memory(UINT64_MAX);
    s.bench.from_guess = s.start == SS_START_GUESS;
    if (ss_method_parse(s.solver, &method, &error) != SS_OK) {
        ss_complain(SS_RUN_ONE, "%s: %s", s.solver, error.text);
        return SS_EXIT_USAGE;
    }
    ss_items it = ss_items_of(SS_RUN_ONE, files->count, files->text, s.problem);
    for (ss_item item; ss_items_next(&it, &item);) {
        measure_item(&s, method, &item, &row);
    }
    int code = ss_items_end(&it);
    code = code == SS_EXIT_OK ? send_row(&row) : code;
    ss_record_row_free(&row);
    ss_method_free(method);
    return code;
}

const ss_verb ss_verb_run_one = {
    .name = SS_RUN_ONE,
    .operands = "FILE",
    .min_operands = 1,
    .max_operands = 1,
    .needs = "a FILE",
    .options = OPTIONS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .example = "",
    .run = run_run_one,
};
