// strands/scenes/scenes.c -- the scenes by name, and what all of them are asked first.
#include "strands/scenes/scene.h"

#include "base/assert.h"
#include "strands/spec.h"

#include <stdlib.h>
#include <string.h>

const ss_scene *const ss_scenes[] = {SS_LISTED_SCENES, NULL};

const ss_scene *ss_scene_find(const char *name)
{
    for (int k = 0; ss_scenes[k] != NULL; k++) {
        if (strcmp(ss_scenes[k]->name, name) == 0) {
            return ss_scenes[k];
        }
    }
    return NULL;
}

static ss_entry scene_entry(int k)
{
    const ss_scene *s = ss_scenes[k];
    return s != NULL ? (ss_entry){s->name, s->keys, s->defaults, s->settings_size, s->key_needs}
                     : (ss_entry){0};
}

ss_status ss_scene_parse(const char *spec, ss_scene_choice *choice, ss_error *e)
{
    const ss_catalogue scenes = {"scene", scene_entry};
    int which;
    *choice = (ss_scene_choice){0};
    const ss_status status = ss_spec_parse(&scenes, spec, &which, &choice->settings, e);
    if (status == SS_OK) {
        choice->scene = ss_scenes[which];
        strcpy(choice->spec, spec);
    }
    return status;
}

void ss_scene_choice_free(ss_scene_choice *choice)
{
    free(choice->settings);
    *choice = (ss_scene_choice){0};
}

// ---- Building one

// The collision hash and 32-bit indices of the one-step problem end before this many strands do.
#define RODS_MAX 1000000

static ss_status check(const ss_scene *scene, const ss_scene_request *request, ss_error *e)
{
    if (scene->rods <= 2 && request->rods > 0 && request->rods != scene->rods) {
        return ss_fail(e, SS_BAD_INPUT, "%d rod%s: this scene has %s; leave the number out",
                       request->rods, request->rods == 1 ? "" : "s",
                       scene->rods == 1 ? "one" : "two");
    }
    if (request->rods < 0 || request->rods > RODS_MAX) {
        return ss_fail(e, SS_BAD_INPUT, "%d rods: a scene takes 1 to %d", request->rods, RODS_MAX);
    }
    if (!isnan(request->mu) && !(request->mu >= 0.0 && request->mu <= 100.0)) {
        return ss_fail(e, SS_BAD_INPUT, "a friction of %g: a scene takes 0 to 100", request->mu);
    }
    return SS_OK;
}

ss_status ss_scene_build(const ss_scene *scene, const ss_scene_request *request, ss_world *w,
                         ss_step_options *options, ss_error *e)
{
    ss_assert(request->model != NULL && w->nstrands == 0);
    ss_scene_request own = *request;
    const ss_status status = check(scene, request, e);
    if (status != SS_OK) {
        return status;
    }
    own.rods = request->rods > 0 ? request->rods : scene->rods;
    own.settings = request->settings != NULL ? request->settings : scene->defaults;
    own.mu_obstacle = scene->mu_obstacle;
    if (isnan(request->mu)) {
        own.mu = scene->mu;
    } else {
        own.mu_obstacle = request->mu * scene->mu_obstacle / scene->mu;
    }
    return scene->build(&own, w, options, e);
}
