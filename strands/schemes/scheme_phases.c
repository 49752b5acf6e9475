// phases: backward Euler about the start, with contacts in two phases, impacts and forces (phases.h).
#include <stddef.h>

#include "strands/schemes/phases.h"
#include "strands/schemes/schemes.h"

typedef struct settings {
    ss_phases_settings phases;
} settings;

static const settings DEFAULTS = {SS_PHASES_DEFAULTS};
static const ss_key KEYS[] = {SS_PHASES_KEYS(phases), {.name = NULL}};

static const char *key_needs(const void *set, const char *key)
{
    return ss_phases_key_needs(&((const settings *)set)->phases, true, key);
}

static ss_status make(ss_stepper *s, const void *set, void **own, ss_error *e)
{
    ss_phases *p;
    const ss_status status = ss_phases_new(s, &((const settings *)set)->phases, false, &p, e);
    *own = p;
    return status;
}

static void release(void *own)
{
    ss_phases_free(own);
}

static ss_status phases_step(ss_stepper *s, void *own, double h, ss_step_report *report,
                             ss_step_reason *reason, ss_error *e)
{
    const ss_iterate it = ss_iterate_first(&s->world->now, h);
    ss_step_begin(s, h, it.way, NULL);
    if (!ss_step_form(s, &it, &s->here, report)) {
        *reason = SS_STEP_MATRIX;
        return SS_OK;
    }
    ss_status status = ss_step_find_contacts(s, h, report, e);
    if (status == SS_OK) {
        status = ss_phases_answer(own, s, h, report, e);
    }
    if (status != SS_OK) {
        return status;
    }
    ss_step_find_velocities(s);
    ss_step_keep_answer(s);
    ss_step_move(s, h);
    return ss_step_end(s, h, report, reason, e);
}

const ss_scheme ss_scheme_phases = {
    .name = "phases",
    .summary = "one linearised step; contacts by impacts and then forces, no solver",
    .reference = "H06",
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .key_needs = key_needs,
    .alone = true,
    .impacts = true,
    .make = make,
    .free = release,
    .step = phases_step,
};
