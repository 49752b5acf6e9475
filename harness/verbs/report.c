// stickslip report: records, statistics and strands as one page for a browser.
#include <limits.h>
#include <math.h>

#include "harness/cli.h"
#include "harness/run.h"
#include "harness/report/page.h"
#include "harness/results/trials.h"

typedef struct settings {
    const char *out, *title;
    double tolerance; // NaN: the loosest of the records
    bool no_histories, plain;
} settings;

static const ss_option OPTIONS[] = {
    SS_OPT_OPERAND("strands", "FILE.h5", "where strands were, written by simulate --strands"),
    SS_OPT_PATH("out", "REPORT.html", out, "the page", .required = true),
    SS_OPT_REAL("tol", "T", tolerance, 0, 1,
                "the tolerance that the page opens with; without it the loosest of the runs"),
    SS_OPT_TEXT("title", "TEXT", title, "its heading (default \"stickslip report\")"),
    SS_OPT_FLAG("no-histories", no_histories,
                "leave out what happened in each iteration: a smaller page without convergence "
                "curves, which judges a looser tolerance by the final answers"),
    SS_OPT_FLAG("plain", plain,
                "data as readable JSON, for browsers older than 2023 and for other programs"),
    {.name = NULL},
};

static const settings DEFAULTS = {.tolerance = NAN, .title = "stickslip report"};

static const char VERB[] = "report";

// The page must not replace what it is made of.
static bool check(const settings *s, const ss_operands *files)
{
    for (int k = 0; k < files->count; k++) {
        if (ss_same_file(s->out, files->text[k])) {
            ss_complain(VERB, "--out %s is one of the files that the page is made of", s->out);
            return false;
        }
    }
    return true;
}

static int run_report(const void *given, const ss_operands *files)
{
    const settings *s = given;
    if (!check(s, files)) {
        return SS_EXIT_USAGE;
    }
    const ss_page_request request = {.count = files->count,
                                     .paths = files->text,
                                     .out = s->out,
                                     .title = s->title,
                                     .tolerance = s->tolerance,
                                     .no_histories = s->no_histories,
                                     .plain = s->plain};
    ss_error error;
    ss_page_findings findings;
    const ss_status status = ss_page_write(&request, &findings, &error);
    int code = (int)status;
    for (int k = 0; status == SS_OK && k < findings.count; k++) {
        ss_complain(VERB, "%s", findings.errors[k].text);
        code = ss_larger_code(code, (int)findings.errors[k].status);
    }
    ss_complain(VERB, "%s%s", status == SS_OK ? "wrote " : "",
                status == SS_OK ? s->out : error.text);
    ss_page_findings_free(&findings);
    return code;
}

const ss_verb ss_verb_report = {
    .name = VERB,
    .summary = "Writes a page for a browser from records, statistics and strands.",
    .operands = "RECORD|STATS.csv|FILE.h5...",
    .min_operands = 1,
    .max_operands = INT_MAX,
    .needs = "a RECORD of bench, a STATS.csv or a strands file",
    .options = OPTIONS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .text = "The page is one file that opens without a network. Of records it shows performance "
            "profiles at any tolerance, the solvers, every problem with its runs and how they "
            "converged; of simulations their statistics over time and the strands themselves, "
            "which can be turned. The kind of a file is recognised by its content. A file that "
            "cannot be used is reported, on the page too, and the others are shown.\n"
            "A tolerance looser than that of a run is answered from its history.\n",
    .example = "  stickslip report results.db --out results.html\n"
               "  stickslip report pony.csv --strands pony.h5 --out pony.html\n",
    .exits = {[SS_EXIT_BAD_INPUT] = "a file is unusable or contains no runs",
              [SS_EXIT_SYSTEM] =
                  "system error, or the program was built without the chart library"},
    .run = run_report,
};
