// stickslip bench: every solver on every problem, each in a process of its own, into a record.
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "harness/bench/bench.h"
#include "harness/cli.h"
#include "harness/run.h"

typedef struct settings {
    const char *solvers, *out, *base, *shard;
    const char *tolerances;
    double time_limit;
    int max_iterations, repeats, jobs, start;
    bool dry_run;
} settings;

static const settings DEFAULTS = {
    .tolerances = "1e-6",
    .time_limit = 60.0,
    .max_iterations = 10000,
    .repeats = 3,
    .jobs = 1,
};

static const ss_option OPTIONS[] = {
    SS_OPT_TEXT("solvers", "LIST", solvers, "solver specs: 'mfb+enum,enum:freeze=on,share=0.1,pac'",
                .required = true),
    SS_OPT_PATH("out", "RESULTS.db", out, "the record; rows that it contains are not made again",
                .required = true),
    SS_OPT_TEXT("tol", "LIST", tolerances,
                "the largest error that counts as solved, or several: 1e-4,1e-8; numbers from 0 "
                "to 1"),
    SS_OPT_MAX_ITERATIONS,
    SS_OPT_REAL("time-limit", "S", time_limit, 1e-3, 1e6, "CPU seconds per solve"),
    SS_OPT_INT("repeat", "N", repeats, 1, 100000, "timed solves, after one that is not timed"),
    SS_OPT_INT("jobs", "J", jobs, 1, 1000, "runs at a time, each on a core of its own"),
    SS_OPT_START,
    SS_OPT_TEXT(
        "shard", "I/N", shard,
        "only problems number k, from 0 and over all files, with k mod N = I: 0/8, 1/8, ..."),
    SS_OPT_PATH("base", "RECORD", base,
                "rows that it contains are not made again; it is read only, and may be missing"),
    SS_OPT_FLAG("dry-run", dry_run, "print the runs and which are missing; make none"),
    {.name = NULL},
};

static const char VERB[] = "bench";

static const ss_column DRY_COLUMNS[] = {
    {.key = "problem", .kind = SS_COLUMN_TEXT}, {.key = "contacts", .kind = SS_COLUMN_INTEGER},
    {.key = "solver", .kind = SS_COLUMN_TEXT},  {.key = "tol", .kind = SS_COLUMN_REAL},
    {.key = "row", .kind = SS_COLUMN_TEXT},     {.key = NULL},
};

static int print_plan(const ss_bench_plan *plan)
{
    ss_table *rows = ss_table_of_columns(stdout, SS_FORMAT_TEXT, DRY_COLUMNS);
    for (int k = 0; rows != NULL && k < plan->count; k++) {
        const ss_bench_entry *entry = &plan->entries[k];
        ss_table_text(rows, entry->problem->label);
        ss_table_integer(rows, entry->problem->contacts);
        ss_table_text(rows, entry->spec);
        ss_table_real(rows, entry->tolerance);
        ss_table_text(rows, entry->present ? "present" : "missing");
    }
    const int code = ss_table_end(&ss_verb_bench, rows, SS_EXIT_OK);
    ss_complain(VERB, "%d of %d row%s %s missing", plan->missing, plan->count,
                ss_plural(plan->count), plan->missing == 1 ? "is" : "are");
    return code;
}

static bool is_bad_input(ss_record *record, const ss_record_row *key)
{
    bool found;
    ss_record_row row;
    return ss_record_find(record, key, &found, &row, NULL) == SS_OK && found &&
           strcmp(row.status, "bad_input") == 0;
}

// The record that gets the rows, and one that is read beside it; NULL if it is not there.
typedef struct records {
    ss_record *out, *base;
} records;

// 3 where one of the rows in the record is bad input, or stands in for one that could not be read.
static int look_for_bad_input(const ss_bench_plan *plan, ss_record *record)
{
    if (record == NULL) {
        return SS_EXIT_OK;
    }
    for (int k = 0; k < plan->count; k++) {
        const ss_record_row key = ss_bench_plan_row(plan, &plan->entries[k]);
        ss_record_row stand_in = key;
        ss_record_stand_in(key.problem, stand_in.problem_sha256);
        if (is_bad_input(record, &key) || is_bad_input(record, &stand_in)) {
            return SS_EXIT_BAD_INPUT;
        }
    }
    return SS_EXIT_OK;
}

static int run_plan(const settings *s, const ss_bench_plan *plan, const records *r)
{
    const ss_bench_orders orders = {.verb = VERB, .program = "/proc/self/exe", .jobs = s->jobs};
    const char *remark = ss_record_remark(r->out);
    if (remark != NULL) {
        ss_complain(VERB, "%s: %s", s->out, remark);
    }
    const int code = ss_bench_run(plan, &orders, r->out);
    if (code == SS_EXIT_OK) {
        const int present = plan->count - plan->missing;
        ss_complain(VERB, "%s: %d row%s made, %d %s there already", s->out, plan->missing,
                    ss_plural(plan->missing), present, present == 1 ? "was" : "were");
    }
    return code;
}

static ss_status open_to_read(const char *path, ss_record **record, ss_error *e)
{
    const bool exists = path != NULL && access(path, F_OK) == 0;
    return exists ? ss_record_open(path, SS_RECORD_READ, record, e) : SS_OK;
}

// A dry run leaves no file behind.
static ss_status open_records(const settings *s, records *r, ss_error *e)
{
    *r = (records){0};
    const ss_status status = open_to_read(s->base, &r->base, e);
    if (status != SS_OK) {
        return status;
    }
    return s->dry_run ? open_to_read(s->out, &r->out, e)
                      : ss_record_open(s->out, SS_RECORD_WRITE, &r->out, e);
}

static ss_status compare(ss_bench_plan *plan, const records *r, ss_error *e)
{
    ss_status status = r->base != NULL ? ss_bench_plan_compare(plan, r->base, e) : SS_OK;
    if (status == SS_OK && r->out != NULL) {
        status = ss_bench_plan_compare(plan, r->out, e);
    }
    return status;
}

// The records come first: if they cannot be used, no problem need be loaded.
static int bench(const settings *s, const ss_specs *specs, ss_shard shard, ss_bench_plan *plan)
{
    records r;
    ss_error error;
    ss_status status = open_records(s, &r, &error);
    int code = SS_EXIT_OK;
    if (status == SS_OK) {
        code = ss_bench_plan_load(plan, specs, shard);
        status = compare(plan, &r, &error);
    }
    if (status != SS_OK) {
        ss_complain(VERB, "%s", error.text);
        code = ss_larger_code(code, (int)status);
    } else {
        const int done = s->dry_run ? print_plan(plan) : run_plan(s, plan, &r);
        code = ss_larger_code(code, done);
        if (done == SS_EXIT_OK) {
            code = ss_larger_code(code, look_for_bad_input(plan, r.out));
            code = ss_larger_code(code, look_for_bad_input(plan, r.base));
        }
    }
    ss_record_close(r.out);
    ss_record_close(r.base);
    return code;
}

// "I/N" with 0 <= I < N.
static bool parse_shard(const char *text, ss_shard *shard)
{
    long index = 0, count = 0;
    const char *slash = strchr(text, '/');
    char *first = slash != NULL ? strndup(text, (size_t)(slash - text)) : NULL;
    const bool sound = first != NULL && ss_number_whole(slash + 1, 1, INT_MAX, &count) &&
                       ss_number_whole(first, 0, count - 1, &index);
    free(first);
    *shard = (ss_shard){.index = (int)index, .count = (int)count};
    return sound;
}

static int run_bench(const void *given, const ss_operands *operands)
{
    const settings *s = given;
    double tolerances[SS_MOST_TOLERANCES];
    const int ntolerances = ss_tolerances_split(VERB, s->tolerances, tolerances);
    const ss_bench_settings how = {.tolerances = tolerances,
                                   .ntolerances = ntolerances,
                                   .time_limit = s->time_limit,
                                   .max_iterations = s->max_iterations,
                                   .repeats = s->repeats,
                                   .from_guess = s->start == SS_START_GUESS};
    ss_specs specs;
    ss_bench_plan plan;
    ss_error error;
    ss_shard shard = {0};
    if (ntolerances == 0) {
        return SS_EXIT_USAGE;
    }
    if (s->shard != NULL && !parse_shard(s->shard, &shard)) {
        ss_complain(VERB, "--shard takes I/N, whole numbers with 0 <= I < N as 0/8, not '%s'",
                    s->shard);
        return SS_EXIT_USAGE;
    }
    if (!s->dry_run && ss_check_processor(VERB) != SS_EXIT_OK) {
        return SS_EXIT_SYSTEM;
    }
    const ss_status status = ss_specs_split(VERB, s->solvers, &specs, &error);
    if (status != SS_OK) {
        ss_complain(VERB, "--solvers: %s", error.text);
        return status == SS_BAD_INPUT ? SS_EXIT_USAGE : SS_EXIT_SYSTEM;
    }
    int code = ss_bench_plan_begin(VERB, operands->count, operands->text, &how, &plan);
    if (plan.nfiles > 0) {
        code = ss_larger_code(code, bench(s, &specs, shard, &plan));
    }
    ss_bench_plan_free(&plan);
    ss_specs_free(&specs);
    return code;
}

const ss_verb ss_verb_bench = {
    .name = VERB,
    .summary = "Measures every solver on every problem of the files, a row each in a record.",
    .operands = "FILE|FOLDER|@LIST...",
    .min_operands = 1,
    .max_operands = 1000000,
    .needs = "a FILE",
    .options = OPTIONS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .text =
        "A run is a process of its own: one that crashes, hangs or exhausts the memory becomes a "
        "row with status crashed or time_limit and its signal in detail. Each run solves once "
        "untimed, which gives the history of fb and normal, then --repeat times: seconds is the "
        "best and "
        "seconds_median the median. A run that hits a limit is not repeated.\n"
        "LIST: specs separated by blanks, ';' or ','. Inside a spec, \",key=value\" adds another "
        "option. gs/LOCAL is recorded as LOCAL; a solver that is listed in two spellings is run "
        "once.\n"
        "The key of a row is problem, solver, --tol, --start and the build of this program. A run "
        "whose row exists is skipped, whatever its --repeat was. It is made again if it hit a "
        "--time-limit or --max-iter that is larger now, if it was ended because it slept or by "
        "SIGTERM, and if "
        "its problem could not be read but can be now. After Ctrl-C, or a crash of the machine, "
        "all finished rows are kept: the same command continues.\n"
        "For many machines: each runs --shard I/N with a record of its own, of the same FILEs in "
        "the same order, and merge makes one record of them. All solvers of a problem run in one "
        "shard. With --base RECORD a shard does not repeat what was merged before. "
        "scripts/bench-slurm does all of this with Slurm.\n"
        "A folder means its *.h5 and *.hdf5, and @LIST the operands in the lines of the file LIST. "
        "A file that is missing, or is not HDF5, is reported but not recorded.\n",
    .example = "  stickslip bench data/*.h5 --solvers mfb+enum,enum,pac --tol 1e-4 --out r.db\n",
    .exits = {[SS_EXIT_OK] = "every row is written",
              [SS_EXIT_UNSOLVED] = "interrupted: rows are missing",
              [SS_EXIT_BAD_INPUT] = "a row has status bad_input, or an operand was left out"},
    .run = run_bench,
};
