// The list of strand models, their specs, and what all of them ask of a design.
#include "problems/strands/model.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "problems/strands/models.h"

// Add a line, nothing else.
const ss_strand_model *const ss_strand_models[] = {
    &ss_super_helix, &ss_chain_tmf, &ss_chain_pbd, &ss_chain_dftl, NULL,
};

// More vertices than this are a mistyped number, and their products with counts stay ints.
#define MOST_SEGMENTS 4096
#define MOST_PIECES   65536

static bool all_finite(const double (*pieces)[3], int npieces)
{
    bool finite = true;
    for (int k = 0; pieces != NULL && k < npieces; k++) {
        for (int i = 0; i < 3; i++) {
            finite = finite && isfinite(pieces[k][i]);
        }
    }
    return finite;
}

static bool positive(double x)
{
    return isfinite(x) && x > 0.0;
}

static ss_status check_material(const ss_material *m, ss_error *e)
{
    if (!positive(m->density) || !positive(m->radius) || !positive(m->ellipticity) ||
        !positive(m->young)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "a strand's density %g, radius %g, ellipticity %g and Young's modulus %g "
                       "must be above 0",
                       m->density, m->radius, m->ellipticity, m->young);
    }
    if (!(m->poisson > -1.0 && m->poisson <= 0.5)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "a strand's Poisson number must be above -1 and at most 0.5, not %g",
                       m->poisson);
    }
    if (!(isfinite(m->relaxation) && m->relaxation >= 0.0)) {
        return ss_fail(e, SS_BAD_INPUT, "a strand's relaxation must be 0 s or more, not %g",
                       m->relaxation);
    }
    return SS_OK;
}

ss_status ss_strand_design_check(const ss_strand_design *d, ss_error *e)
{
    if (!positive(d->length)) {
        return ss_fail(e, SS_BAD_INPUT, "a strand's length must be above 0 m, not %g", d->length);
    }
    if (d->nsegments < 1 || d->nsegments > MOST_SEGMENTS) {
        return ss_fail(e, SS_BAD_INPUT, "a strand has 1 to %d segments, not %d", MOST_SEGMENTS,
                       d->nsegments);
    }
    if (d->npieces < 0 || d->npieces > MOST_PIECES || (d->npieces > 0 && d->style == NULL)) {
        return ss_fail(e, SS_BAD_INPUT, "a strand's style has 0 to %d pieces, all given, not %d",
                       MOST_PIECES, d->npieces);
    }
    if (!all_finite(d->style, d->npieces) || !all_finite(d->unrest, d->npieces)) {
        return ss_fail(e, SS_BAD_INPUT, "a curvature of a strand's style or unrest is not finite");
    }
    return check_material(&d->material, e);
}

static const ss_strand_model *find_model(const char *name)
{
    int k = 0;
    while (ss_strand_models[k] != NULL && strcmp(ss_strand_models[k]->name, name) != 0) {
        k++;
    }
    return ss_strand_models[k];
}

static ss_status fail_model(const char *name, ss_error *e)
{
    char names[300] = "";
    for (int k = 0; ss_strand_models[k] != NULL; k++) {
        const size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, "%s%s", length > 0 ? ", " : "",
                 ss_strand_models[k]->name);
    }
    return ss_fail(e, SS_BAD_INPUT, "unknown strand model '%s'; there are %s", name, names);
}

static ss_status set_option(ss_model_choice *choice, char *option, ss_error *e)
{
    char *value = strchr(option, '=');
    if (value == NULL || value == option || value[1] == '\0') {
        return ss_fail(e, SS_BAD_INPUT, "'%s' of strand model '%s' is not key=value", option,
                       choice->spec);
    }
    *value++ = '\0';
    const ss_key *key = ss_keys_find(choice->model->keys, option);
    if (key == NULL) {
        char known[300];
        ss_keys_describe(choice->model->keys, known, sizeof known);
        return ss_fail(e, SS_BAD_INPUT, "strand model '%s' has no option '%s'; it has %s",
                       choice->model->name, option, known[0] != '\0' ? known : "none");
    }
    return ss_key_set(key, value, choice->settings, e);
}

// options: "key=value,..." or NULL for none.
static ss_status set_options(ss_model_choice *choice, char *options, ss_error *e)
{
    ss_status status = SS_OK;
    while (status == SS_OK && options != NULL) {
        char *option = options;
        options = strchr(option, ',');
        if (options != NULL) {
            *options++ = '\0';
        }
        status = set_option(choice, option, e);
    }
    return status;
}

static ss_status fill_choice(const char *spec, ss_model_choice *choice, ss_error *e)
{
    if (strlen(spec) >= sizeof choice->spec) {
        return ss_fail(e, SS_BAD_INPUT, "a strand model's spec has at most %zu characters",
                       sizeof choice->spec - 1);
    }
    strcpy(choice->spec, spec);
    char text[sizeof choice->spec];
    strcpy(text, spec);
    char *options = strchr(text, ':');
    if (options != NULL) {
        *options++ = '\0';
    }
    choice->model = find_model(text);
    if (choice->model == NULL) {
        return fail_model(text, e);
    }
    if (choice->model->settings_size > 0) {
        choice->settings = malloc(choice->model->settings_size);
        if (choice->settings == NULL) {
            return ss_fail_memory(e, "a strand model's settings");
        }
        memcpy(choice->settings, choice->model->defaults, choice->model->settings_size);
    }
    return set_options(choice, options, e);
}

ss_status ss_model_parse(const char *spec, ss_model_choice *choice, ss_error *e)
{
    *choice = (ss_model_choice){0};
    const ss_status status = fill_choice(spec, choice, e);
    if (status != SS_OK) {
        ss_model_choice_free(choice);
    }
    return status;
}

void ss_model_choice_free(ss_model_choice *choice)
{
    free(choice->settings);
    *choice = (ss_model_choice){0};
}
