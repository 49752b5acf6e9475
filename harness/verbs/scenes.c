// stickslip scenes: what can be simulated.
#include <stddef.h>

#include "harness/cli.h"
#include "strands/scenes/scene.h"

static const char VERB[] = "scenes";

typedef struct row {
    ss_scene scene;
    char options[300];
} row;

static const ss_field FIELDS[] = {
    SS_FIELD_AS("name", row, scene.name, SS_FIELD_LINK, .unit = NULL),
    SS_FIELD_AS("model", row, scene.model, SS_FIELD_LINK, .unit = NULL, .rank = SS_RANK_FURTHER),
    SS_FIELD_AS("rods", row, scene.rods, SS_FIELD_INTEGER, .unit = "1", .rank = SS_RANK_USEFUL),
    SS_FIELD_AS("steps", row, scene.steps, SS_FIELD_INTEGER, .unit = "1", .rank = SS_RANK_USEFUL),
    SS_FIELD_AS("dt", row, scene.dt, SS_FIELD_REAL, .unit = "s", .rank = SS_RANK_USEFUL),
    SS_FIELD_AS("shows", row, scene.shows, SS_FIELD_LINK, .unit = NULL),
    SS_FIELD_AS("reference", row, scene.reference, SS_FIELD_LINK, .unit = NULL,
                .rank = SS_RANK_ORIGIN),
    SS_FIELD(row, options, SS_FIELD_TEXT, .unit = NULL, .rank = SS_RANK_FURTHER),
    {.name = NULL},
};

static int run_scenes(const void *settings, const ss_operands *nothing)
{
    (void)nothing;
    const ss_table_settings *s = settings;
    int code;
    ss_table *rows = ss_table_begin_fields(&ss_verb_scenes, &s->style, FIELDS, &code);
    for (int k = 0; rows != NULL && ss_scenes[k] != NULL; k++) {
        row described = {.scene = *ss_scenes[k]};
        ss_keys_describe(described.scene.keys, described.options, sizeof described.options);
        ss_table_row(rows, &described);
    }
    return rows != NULL ? ss_table_end(&ss_verb_scenes, rows, code) : code;
}

const ss_verb ss_verb_scenes = {
    .name = VERB,
    .summary = "Lists the scenes that simulate knows, a row each.",
    .options = ss_table_options,
    .settings_size = sizeof(ss_table_settings),
    .text = "rods, steps and dt (s) are the scene's own, which the options of simulate replace; "
            "reference names the figure or table of a paper that the scene reproduces; options are "
            "those of SCENE:key=value.\n",
    .example = "  stickslip scenes --format csv\n",
    .run = run_scenes,
};
