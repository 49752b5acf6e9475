// The specs of a run (specs.h).
#include "harness/simulate/specs.h"

#include <stdio.h>
#include <string.h>

#include "harness/cli.h"
#include "harness/complain.h"
#include "strands/spec.h"

// Whether there is a scene of that name, whatever its options.
static bool has_scene(const char *verb, const char *spec)
{
    char name[SS_SPEC_ROOM];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(spec, ":"), spec);
    if (ss_scene_find(name) != NULL) {
        return true;
    }
    ss_suggestion nearest = {.word = name};
    for (int k = 0; ss_scenes[k] != NULL; k++) {
        ss_suggestion_offer(&nearest, ss_scenes[k]->name);
    }
    ss_complain(verb, "unknown scene '%s'%s", name,
                ss_suggestion_hint(&nearest, "", "; 'stickslip scenes' lists them").text);
    return false;
}

// The exit code of a spec that could not be parsed.
static int fail_spec(const char *verb, ss_status status, const char *option, const char *spec,
                     const ss_error *error)
{
    ss_complain(verb, "%s%s: %s", option, spec, error->text);
    return status == SS_BAD_INPUT ? SS_EXIT_USAGE : (int)status;
}

static int parse_scene(const char *verb, const char *scene, ss_simulate_specs *p)
{
    ss_error e;
    if (ss_scene_file_is(scene)) {
        const ss_status status = ss_scene_file_read(scene, &p->file, &e);
        p->scene = &p->file.choice;
        if (status != SS_OK) {
            ss_complain(verb, "%s", e.text);
        }
        return (int)status;
    }
    if (!has_scene(verb, scene)) {
        return SS_EXIT_USAGE;
    }
    const ss_status status = ss_scene_parse(scene, &p->named, &e);
    p->scene = &p->named;
    return status == SS_OK ? SS_EXIT_OK : fail_spec(verb, status, "", scene, &e);
}

int ss_simulate_parse(const char *verb, const char *scene, const ss_simulate_settings *s,
                      ss_simulate_specs *p)
{
    ss_error e;
    const int code = parse_scene(verb, scene, p);
    if (code != SS_EXIT_OK) {
        return code;
    }
    const char *model = s->model != NULL ? s->model : p->scene->scene->model;
    p->scheme_spec = s->scheme != NULL ? s->scheme : s->model == NULL ? p->file.scheme : NULL;
    ss_status status = ss_model_parse(model, &p->model, &e);
    if (status != SS_OK) {
        return fail_spec(verb, status, "--model ", model, &e);
    }
    if (p->scheme_spec != NULL) {
        status = ss_scheme_parse(p->scheme_spec, &p->scheme, &e);
        if (status != SS_OK) {
            return fail_spec(verb, status, "--scheme ", p->scheme_spec, &e);
        }
    }
    status = ss_method_parse(s->solver, &p->method, &e);
    return status == SS_OK ? SS_EXIT_OK : fail_spec(verb, status, "--solver ", s->solver, &e);
}

void ss_simulate_specs_free(ss_simulate_specs *p)
{
    ss_scene_choice_free(&p->named);
    ss_scene_file_free(&p->file);
    ss_model_choice_free(&p->model);
    ss_scheme_choice_free(&p->scheme);
    ss_method_free(p->method);
}
