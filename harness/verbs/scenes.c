// stickslip scenes: what can be simulated.
#include <stddef.h>

#include "harness/cli.h"
#include "harness/complain.h"
#include "problems/strands/scenes/scene.h"

static const char VERB[] = "scenes";

static const ss_column COLUMNS[] = {
    {.key = "name", .kind = SS_COLUMN_TEXT},
    {.key = "model", .kind = SS_COLUMN_TEXT},
    {.key = "rods", .kind = SS_COLUMN_INTEGER},
    {.key = "steps", .kind = SS_COLUMN_INTEGER},
    {.key = "dt", .kind = SS_COLUMN_REAL},
    {.key = "shows", .kind = SS_COLUMN_TEXT},
    {.key = "reference", .kind = SS_COLUMN_TEXT},
    {.key = "options", .kind = SS_COLUMN_TEXT},
    {.key = NULL},
};

static int run_scenes(const void *settings, const ss_operands *nothing)
{
    (void)nothing;
    const ss_format_settings *s = settings;
    ss_table *rows = ss_table_of_columns(stdout, (ss_format)s->format, COLUMNS);
    for (int k = 0; rows != NULL && ss_scenes[k] != NULL; k++) {
        const ss_scene *scene = ss_scenes[k];
        char options[300];
        ss_keys_describe(scene->keys, options, sizeof options);
        ss_table_text(rows, scene->name);
        ss_table_text(rows, scene->model);
        ss_table_integer(rows, scene->rods);
        ss_table_integer(rows, scene->steps);
        ss_table_real(rows, scene->dt);
        ss_table_text(rows, scene->shows);
        ss_table_text(rows, scene->reference);
        ss_table_text(rows, options);
    }
    return ss_table_end(&ss_verb_scenes, rows, SS_EXIT_OK);
}

const ss_verb ss_verb_scenes = {
    .name = VERB,
    .summary = "Lists the scenes that simulate knows, a row each.",
    .options = ss_format_options,
    .settings_size = sizeof(ss_format_settings),
    .text = "rods, steps and dt (s) are the scene's own, which the options of simulate replace; "
            "reference names the figure or table of a paper that the scene reproduces; options are "
            "those of SCENE:key=value.\n",
    .example = "  stickslip scenes --format csv\n",
    .run = run_scenes,
};
