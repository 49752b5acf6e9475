// stickslip scenes: what can be simulated.
#include <stddef.h>

#include "harness/cli.h"
#include "harness/complain.h"
#include "problems/strands/scenes/scene.h"

static const char VERB[] = "scenes";

static const ss_column COLUMNS[] = {
    {"name", SS_TEXT}, {"model", SS_TEXT}, {"rods", SS_INTEGER},   {"steps", SS_INTEGER},
    {"dt", SS_REAL},   {"shows", SS_TEXT}, {"reference", SS_TEXT}, {.name = NULL},
};

static int run_scenes(const void *settings, const ss_operands *nothing)
{
    (void)nothing;
    const ss_format_settings *s = settings;
    ss_rows *rows = ss_rows_new(stdout, (ss_format)s->format, COLUMNS);
    for (int k = 0; rows != NULL && ss_scenes[k] != NULL; k++) {
        const ss_scene *scene = ss_scenes[k];
        ss_rows_text(rows, scene->name);
        ss_rows_text(rows, scene->model);
        ss_rows_integer(rows, scene->rods);
        ss_rows_integer(rows, scene->steps);
        ss_rows_real(rows, scene->dt);
        ss_rows_text(rows, scene->shows);
        ss_rows_text(rows, scene->reference);
    }
    return ss_rows_print(&ss_verb_scenes, rows, SS_EXIT_OK);
}

const ss_verb ss_verb_scenes = {
    .name = VERB,
    .summary = "Lists the scenes that simulate knows, a row each.",
    .options = ss_format_options,
    .settings_size = sizeof(ss_format_settings),
    .text = "rods, steps and dt (s) are the scene's own, which the options of simulate replace; "
            "reference names the figure or table of a paper that the scene reproduces.\n",
    .example = "  stickslip scenes --format csv\n",
    .run = run_scenes,
};
