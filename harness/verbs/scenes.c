// stickslip scenes: what can be simulated.
#include <stddef.h>

#include "harness/complain.h"
#include "harness/options.h"
#include "harness/rows.h"
#include "harness/verbs.h"
#include "problems/strands/scenes/scene.h"

static const ss_command COMMAND = {
    .verb = "scenes",
    .operands = "",
    .summary = "Lists the scenes that simulate knows, a row each.",
    .text = "rods, steps and dt (s) are what a scene takes where the options of simulate say\n"
            "nothing else; reference names the figure or table of a paper that it stands for.\n",
    .example = "  stickslip scenes --format csv\n",
    .exits = "  0 done, 1 the command line is wrong, 4 the machine is at fault\n",
    .options = ss_format_options,
};

static const ss_column COLUMNS[] = {
    {"name", SS_TEXT}, {"model", SS_TEXT}, {"rods", SS_INTEGER},   {"steps", SS_INTEGER},
    {"dt", SS_REAL},   {"shows", SS_TEXT}, {"reference", SS_TEXT}, {.name = NULL},
};

int ss_cmd_scenes(int argc, char **argv)
{
    ss_format_settings s = {.format = SS_FORMAT_TEXT};
    ss_operands operands;
    int code;
    if (!ss_options_parse(&COMMAND, &s, argc, argv, &operands, &code)) {
        return code;
    }
    ss_rows *rows = ss_rows_new(stdout, (ss_format)s.format, COLUMNS);
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
    if (ss_rows_finish(rows) != SS_OK) {
        ss_complain(COMMAND.verb, "not enough memory for the table");
        return SS_EXIT_SYSTEM;
    }
    return SS_EXIT_OK;
}
