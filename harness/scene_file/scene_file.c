// Scenes from JSON files (scene_file.h). Every object is a table of its keys; what is absent has the default
// that stands in the struct.
#include "harness/scene_file/scene_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/scene_file/json.h"
#include "harness/scene_file/scene_parts.h"
#include "strands/spec.h"

#define LEAST_STEP 1e-9 // s, as of --dt
#define MOST_STEP  1.0
#define STEPS      1000
#define STEP       0.002 // s
#define MODEL      "der"

const char *const ss_scene_obstacles[] = {"sphere",   "ellipsoid", "plane",
                                          "cylinder", "capsule",   NULL};
const char *const ss_scene_clamps[] = {"root", "tip", "both", "none", NULL};
const char *const ss_scene_gaps[] = {"none", "positive", "baumgarte", NULL};
const char *const ss_scene_profiles[] = {"still", "oscillate", "move", "steady", NULL};

// ---- The whole file

typedef struct whole {
    const char *title, *model, *scheme, *gap;
    ss_vec3 gravity;
    double drag, mu, radius, dt, dt_min;
    int steps;
    double margin, beta, reach, explosion;
    bool contacts, continuous, settled;
    int looks;
    json_t *materials, *bodies, *obstacles, *strands, *winds;
} whole;

static const ss_json_field WHOLE[] = {
    FIELD(whole, "title", title, TEXT),
    FIELD(whole, "gravity", gravity, VECTOR),
    FIELD(whole, "drag", drag, NOT_NEGATIVE),
    FIELD(whole, "mu", mu, NOT_NEGATIVE),
    FIELD(whole, "radius", radius, POSITIVE),
    FIELD(whole, "dt", dt, POSITIVE),
    FIELD(whole, "dt_min", dt_min, POSITIVE),
    FIELD(whole, "steps", steps, COUNT),
    FIELD(whole, "model", model, TEXT),
    FIELD(whole, "scheme", scheme, TEXT),
    FIELD(whole, "materials", materials, VALUE),
    FIELD(whole, "bodies", bodies, VALUE),
    FIELD(whole, "obstacles", obstacles, VALUE),
    FIELD(whole, "winds", winds, VALUE),
    NEEDED(whole, "strands", strands, VALUE),
    FIELD(whole, "contacts", contacts, FLAG),
    FIELD(whole, "gap", gap, TEXT),
    FIELD(whole, "beta", beta, NOT_NEGATIVE),
    FIELD(whole, "margin", margin, NOT_NEGATIVE),
    FIELD(whole, "reach", reach, NOT_NEGATIVE),
    FIELD(whole, "explosion", explosion, NOT_NEGATIVE),
    FIELD(whole, "continuous", continuous, FLAG),
    FIELD(whole, "looks", looks, WHOLE),
    FIELD(whole, "settled", settled, FLAG),
    {.key = NULL},
};

// What a scene keeps of its file.
typedef struct content {
    json_t *root; // owned
    char path[1]; // as long as it is
} content;

// Of a world that is still empty; NULL: whatever they are.
static whole whole_defaults(const ss_world *w)
{
    const ss_step_options o = ss_step_defaults();
    whole all = {.title = "a scene of a file",
                 .model = MODEL,
                 .gap = ss_scene_gaps[o.gap],
                 .dt = STEP,
                 .dt_min = o.dt_min,
                 .steps = STEPS,
                 .margin = o.margin,
                 .beta = o.beta,
                 .reach = o.reach,
                 .explosion = o.explosion,
                 .contacts = o.contacts,
                 .continuous = o.continuous,
                 .looks = o.looks};
    if (w != NULL) {
        all.gravity = w->gravity;
        all.drag = w->drag;
        all.mu = w->mu;
        all.radius = w->radius;
    }
    return all;
}

bool ss_scene_word(const ss_json *at, const char *key, const char *const *words, const char *word,
                   int *place, ss_error *e)
{
    const ss_json member = ss_json_member(at, key);
    char all[200] = "";
    for (int k = 0; words[k] != NULL; k++) {
        if (strcmp(words[k], word) == 0) {
            *place = k;
            return true;
        }
        const size_t length = strlen(all);
        snprintf(all + length, sizeof all - length, "%s%s", k > 0 ? ", " : "", words[k]);
    }
    ss_json_fail(&member, e, "'%.60s' is none of %s", word, all);
    return false;
}

// ---- Building

// --mu takes the place of the strands' own, and obstacles keep their ratio to it.
static void change_friction(ss_world *w, double mu)
{
    for (int k = 0; k < w->nobstacles && mu != w->mu; k++) {
        w->obstacles[k].mu = w->mu > 0.0 ? mu * w->obstacles[k].mu / w->mu : w->obstacles[k].mu;
    }
    w->mu = mu;
}

static void take_options(const whole *all, int gap, ss_world *w, ss_step_options *options)
{
    w->gravity = all->gravity;
    w->drag = all->drag;
    w->mu = all->mu;
    w->radius = all->radius;
    options->dt_min = all->dt_min;
    options->gap = (ss_gap)gap;
    options->beta = all->beta;
    options->margin = all->margin;
    options->reach = all->reach;
    options->explosion = all->explosion;
    options->contacts = all->contacts;
    options->continuous = all->continuous;
    options->looks = all->looks;
}

static ss_status build(const ss_scene_request *request, ss_world *w, ss_step_options *options,
                       ss_error *e)
{
    const content *c = request->settings;
    const ss_json root = {.file = c->path, .value = c->root};
    whole all = whole_defaults(w);
    int gap = 0;
    if (request->rods > 0) {
        return ss_fail(e, SS_BAD_INPUT, "%s: has strands of its own: leave --rods out", c->path);
    }
    ss_status status = ss_json_object(&root, WHOLE, &all, e);
    if (status != SS_OK || !ss_scene_word(&root, "gap", ss_scene_gaps, all.gap, &gap, e)) {
        return SS_BAD_INPUT;
    }
    take_options(&all, gap, w, options);
    status = ss_scene_add_solids(&root, w, e);
    status = status == SS_OK ? ss_scene_add_winds(&root, w, e) : status;
    status = status == SS_OK ? ss_scene_add_strands(&root, request->model, w, e) : status;
    if (status == SS_OK && !isnan(request->mu)) {
        change_friction(w, request->mu);
    }
    return status == SS_OK && all.settled ? ss_json_prefix(&root, ss_world_settle(w, e), e)
                                          : status;
}

// ---- Reading

bool ss_scene_file_is(const char *spec)
{
    const size_t length = strlen(spec);
    return length > 5 && strcmp(spec + length - 5, ".json") == 0;
}

// Whether the file's specs are some.
static ss_status check_specs(const ss_json *root, const whole *all, ss_error *e)
{
    const ss_json model = ss_json_member(root, "model"), scheme = ss_json_member(root, "scheme");
    ss_model_choice m;
    ss_scheme_choice s;
    ss_status status = ss_json_prefix(&model, ss_model_parse(all->model, &m, e), e);
    ss_model_choice_free(&m);
    if (status == SS_OK && all->scheme != NULL) {
        status = ss_json_prefix(&scheme, ss_scheme_parse(all->scheme, &s, e), e);
        ss_scheme_choice_free(&s);
    }
    return status;
}

// The path as the rows of a run name it, or its end where it is too long.
static void name_choice(const char *path, ss_scene_choice *choice)
{
    const size_t room = sizeof choice->spec, length = strlen(path);
    snprintf(choice->spec, room, "%s", length < room ? path : path + length - room + 1);
}

ss_status ss_scene_file_read(const char *path, ss_scene_file *file, ss_error *e)
{
    content *c = malloc(sizeof *c + strlen(path));
    *file = (ss_scene_file){.content = c};
    if (c == NULL) {
        return ss_fail_memory(e, path);
    }
    strcpy(c->path, path);
    c->root = NULL;
    whole all = whole_defaults(NULL);
    ss_status status = ss_json_read(path, &c->root, e);
    const ss_json root = {.file = c->path, .value = c->root};
    status = status == SS_OK ? ss_json_object(&root, WHOLE, &all, e) : status;
    status = status == SS_OK ? check_specs(&root, &all, e) : status;
    const ss_json dt = ss_json_member(&root, "dt");
    if (status == SS_OK && !(all.dt >= LEAST_STEP && all.dt <= MOST_STEP)) {
        status =
            ss_json_fail(&dt, e, "must be from %g to %g, not %g", LEAST_STEP, MOST_STEP, all.dt);
    }
    const size_t strands = json_array_size(all.strands);
    if (status == SS_OK && strands == 0) {
        const ss_json list = ss_json_member(&root, "strands");
        status = ss_json_fail(&list, e, "must be an array of one strand or more");
    }
    if (status != SS_OK) {
        ss_scene_file_free(file);
        return status;
    }
    file->scheme = all.scheme;
    file->scene = (ss_scene){.name = "file",
                             .model = all.model,
                             .shows = all.title,
                             .reference = "",
                             .rods = (int)strands,
                             .steps = all.steps,
                             .dt = all.dt,
                             .build = build};
    file->choice.scene = &file->scene;
    file->choice.settings = c;
    name_choice(path, &file->choice);
    return SS_OK;
}

void ss_scene_file_free(ss_scene_file *file)
{
    content *c = file->content;
    if (c != NULL) {
        json_decref(c->root);
    }
    free(c);
    *file = (ss_scene_file){0};
}
