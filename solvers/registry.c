// solvers/registry.c -- the lists of solvers, which meson makes from those in solvers/meson.build,
// and specs.
//
// A spec is "[GLOBAL/]LOCAL[+FAILSAFE][:key=value,...]". A bare local name means gs/ with it. An
// option goes to the first of global, local and fail-safe solver that knows its key;
// "enum.roots=gsl" names the one that is meant. "as=printed" stands for the options that the cards
// of global and local solver name; options beside it override these. "siconos/prox" is one name,
// with its slash.
#include "solvers/registry.h"

#include "base/assert.h"
#include "listed_global_solvers.h"
#include "listed_local_solvers.h"
#include "solvers/limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- The lists

const ss_local_solver *const ss_local_solvers[] = {SS_LISTED_LOCAL_SOLVERS, NULL};

const ss_global_solver *const ss_global_solvers[] = {SS_LISTED_GLOBAL_SOLVERS, NULL};

const ss_local_solver *ss_local_find(const char *name)
{
    for (int k = 0; name != NULL && ss_local_solvers[k] != NULL; k++) {
        if (strcmp(ss_local_solvers[k]->card.name, name) == 0) {
            return ss_local_solvers[k];
        }
    }
    return NULL;
}

const ss_global_solver *ss_global_find(const char *name)
{
    for (int k = 0; name != NULL && ss_global_solvers[k] != NULL; k++) {
        if (strcmp(ss_global_solvers[k]->card.name, name) == 0) {
            return ss_global_solvers[k];
        }
    }
    return NULL;
}

const char *ss_outcome_name(ss_outcome outcome)
{
    static const char *const NAMES[] = {
        [SS_UNSOLVED] = "unsolved",       [SS_CONVERGED] = "converged",
        [SS_STEPPED] = "stepped",         [SS_MAX_ITER] = "max_iter",
        [SS_TIME_LIMIT] = "time_limit",   [SS_STALLED] = "stalled",
        [SS_NO_SOLUTION] = "no_solution", [SS_NOT_COVERED] = "not_covered",
        [SS_INTERRUPTED] = "interrupted", [SS_CRASHED] = "crashed",
    };
    const size_t k = (size_t)outcome;
    return k < sizeof NAMES / sizeof NAMES[0] ? NAMES[k] : "unknown";
}

// ---- Names in a spec

// No spec has more keys: each takes four characters, as in "k=1,".
#define MOST_KEYS (sizeof((ss_method *)0)->spec / 4)

// The solvers of Siconos, which a build may be without.
static const char SICONOS[] = "siconos/";

// The pieces that a spec is cut into.
typedef struct pieces {
    char text[sizeof((ss_method *)0)->spec];
    char *global, *local, *failsafe, *options; // point into text; NULL where absent
} pieces;

static bool is_siconos(const char *name)
{
    return strncmp(name, SICONOS, strlen(SICONOS)) == 0;
}

static bool cut(const char *spec, pieces *p)
{
    if (strlen(spec) >= sizeof p->text) {
        return false;
    }
    *p = (pieces){0};
    char *names = strcpy(p->text, spec);
    p->options = strchr(names, ':');
    if (p->options != NULL) {
        *p->options++ = '\0';
    }
    char *slash = is_siconos(names) ? NULL : strchr(names, '/');
    p->global = slash != NULL ? names : NULL;
    if (slash != NULL) {
        *slash = '\0';
    }
    p->local = slash != NULL ? slash + 1 : names;
    p->failsafe = strchr(p->local, '+');
    if (p->failsafe != NULL) {
        *p->failsafe++ = '\0';
    }
    return true;
}

// Appends a word to a list with commas.
static void method_append(char *text, size_t room, const char *word)
{
    const size_t length = strlen(text);
    snprintf(text + length, room - length, "%s%s", length > 0 ? ", " : "", word);
}

static bool has_siconos(void)
{
    int k = 0;
    while (ss_global_solvers[k] != NULL && !is_siconos(ss_global_solvers[k]->card.name)) {
        k++;
    }
    return ss_global_solvers[k] != NULL;
}

// Says what is wrong with the name of a local solver. Where it stands alone, a global solver that
// takes no local one was possible, too.
static ss_status fail_local(const char *name, bool alone, ss_error *e)
{
    if (is_siconos(name) && !has_siconos()) {
        return ss_fail(
            e, SS_BAD_INPUT,
            "%s: this program was built without Siconos (Debian: libsiconos-numerics-dev)", name);
    }
    if (strchr(name, '=') != NULL) {
        return ss_fail(e, SS_BAD_INPUT,
                       "'%s' is an option without its solver; write it after one, as in "
                       "mfb:freeze=on",
                       name);
    }
    const ss_global_solver *global = ss_global_find(name);
    if (global != NULL) {
        return ss_fail(e, SS_BAD_INPUT, "'%s' is no local solver; write %s%s", name, name,
                       global->takes_local ? "/LOCAL, as in gs/mfb+enum" : " alone");
    }
    char names[480] = "";
    for (int k = 0; ss_local_solvers[k] != NULL; k++) {
        method_append(names, sizeof names, ss_local_solvers[k]->card.name);
    }
    for (int k = 0; alone && ss_global_solvers[k] != NULL; k++) {
        const ss_global_solver *one = ss_global_solvers[k];
        char written[80];
        snprintf(written, sizeof written, "%s%s", one->card.name, one->takes_local ? "/LOCAL" : "");
        method_append(names, sizeof names, written);
    }
    return ss_fail(e, SS_BAD_INPUT, "unknown %ssolver '%s'; there are %s", alone ? "" : "local ",
                   name, names);
}

static ss_status fail_global(const char *name, ss_error *e)
{
    char names[300] = "";
    for (int k = 0; ss_global_solvers[k] != NULL; k++) {
        if (ss_global_solvers[k]->takes_local) {
            method_append(names, sizeof names, ss_global_solvers[k]->card.name);
        }
    }
    return ss_fail(e, SS_BAD_INPUT, "unknown global solver '%s' before '/'; there are %s", name,
                   names);
}

static ss_status find_local(const char *name, bool alone, const ss_local_solver **found,
                            ss_error *e)
{
    *found = ss_local_find(name);
    return *found != NULL ? SS_OK : fail_local(name, alone, e);
}

// Checks the punctuation of a spec, whatever the names are; returns an error message or NULL.
static const char *find_misplaced(const pieces *p)
{
    if (p->global != NULL && p->global[0] == '\0') {
        return "'/' needs a global solver before it, as in gs/mfb";
    }
    if (p->global != NULL && p->local[0] == '\0') {
        return "'/' needs a local solver after it, as in gs/mfb";
    }
    if (p->global != NULL && !is_siconos(p->local) && strchr(p->local, '/') != NULL) {
        return "only one '/' is allowed: write GLOBAL/LOCAL, as in anderson/mfb";
    }
    if (p->local[0] == '\0') {
        return p->failsafe != NULL ? "'+' needs a local solver before it, as in mfb+enum"
                                   : "the solver is missing; write one, such as mfb+enum";
    }
    if (p->failsafe != NULL && p->failsafe[0] == '\0') {
        return "'+' needs a fail-safe after it, as in mfb+enum";
    }
    if (p->failsafe != NULL && strchr(p->failsafe, '+') != NULL) {
        return "only one '+' is allowed: write LOCAL+FAILSAFE, as in mfb+enum";
    }
    return NULL;
}

static ss_status find_solvers(const pieces *p, ss_method *m, ss_error *e)
{
    const ss_global_solver *alone = p->global == NULL ? ss_global_find(p->local) : NULL;
    if (alone != NULL && alone->takes_local) {
        return ss_fail(e, SS_BAD_INPUT, "'%s' needs a local solver, as in %s/secular", p->local,
                       p->local);
    }
    if (alone != NULL) {
        m->global = alone;
        return p->failsafe == NULL
                   ? SS_OK
                   : ss_fail(e, SS_BAD_INPUT, "'%s' takes no fail-safe; write %s alone", p->local,
                             p->local);
    }
    m->global = ss_global_find(p->global != NULL ? p->global : "gs");
    if (m->global == NULL) {
        return fail_global(p->global, e);
    }
    if (!m->global->takes_local) {
        return ss_fail(e, SS_BAD_INPUT, "'%s' takes no local solver; write %s alone", p->global,
                       p->global);
    }
    ss_status status = find_local(p->local, p->global == NULL && p->failsafe == NULL, &m->local, e);
    if (status == SS_OK && p->failsafe != NULL) {
        status = find_local(p->failsafe, false, &m->failsafe, e);
    }
    if (status == SS_OK && m->failsafe == m->local) {
        status =
            ss_fail(e, SS_BAD_INPUT, "%s cannot be its own fail-safe; use %s", p->local, p->local);
    }
    return status;
}

// ---- Options

void ss_card_options(const ss_card *card, char *text, size_t room)
{
    if (card == NULL) {
        text[0] = '\0';
        return;
    }
    ss_keys_describe(card->keys, text, room);
    const size_t length = strlen(text);
    if (card->printed != NULL) {
        snprintf(text + length, room - length, "%sas=printed (%s)", length > 0 ? ", " : "",
                 card->printed);
    }
}

// Copies the defaults. Returns false without memory.
static bool copy_settings(const ss_card *card, void **settings)
{
    if (card->settings_size > 0) {
        *settings = malloc(card->settings_size);
        if (*settings == NULL) {
            return false;
        }
        memcpy(*settings, card->defaults, card->settings_size);
    }
    return true;
}

// The solvers of a method that have settings, in the order in which options look for their key.
typedef struct owner {
    const ss_card *card; // NULL where there is no such solver
    void *settings;
} owner;

static void list_owners(const ss_method *m, owner owners[3])
{
    owners[0] = (owner){&m->global->card, m->global_settings};
    owners[1] = (owner){m->local != NULL ? &m->local->card : NULL, m->local_settings};
    owners[2] = (owner){m->failsafe != NULL ? &m->failsafe->card : NULL, m->failsafe_settings};
}

static ss_status fail_key(const ss_method *m, const char *key, ss_error *e)
{
    char names[300] = "";
    owner owners[3];
    list_owners(m, owners);
    for (int k = 0; k < 3; k++) {
        const ss_key *keys = owners[k].card != NULL ? owners[k].card->keys : NULL;
        for (; keys != NULL && keys->name != NULL; keys++) {
            method_append(names, sizeof names, keys->name);
        }
    }
    return ss_fail(e, SS_BAD_INPUT, "'%s' has no option '%s'; it has %s", m->name, key,
                   names[0] != '\0' ? names : "none");
}

// The keys that a spec has set so far.
typedef struct key_list {
    const ss_key *key[MOST_KEYS];
    int owner[MOST_KEYS]; // as list_owners has them; 0 is the global solver
    int count;
} key_list;

// Notes that a key is set, and refuses a second value, which would silently replace the first.
// Where set is NULL, values may be replaced.
static ss_status note_key(const ss_method *m, int place, const ss_key *key, key_list *set,
                          ss_error *e)
{
    if (set == NULL) {
        return SS_OK;
    }
    for (int k = 0; k < set->count; k++) {
        if (set->owner[k] == place && strcmp(set->key[k]->name, key->name) == 0) {
            return ss_fail(e, SS_BAD_INPUT, "%s is set twice in '%s'; leave one of them out",
                           key->name, m->spec);
        }
    }
    ss_assert(set->count < (int)MOST_KEYS);
    set->owner[set->count] = place;
    set->key[set->count++] = key;
    return SS_OK;
}

static ss_status method_set_option(ss_method *m, char *option, key_list *set, ss_error *e)
{
    char *value = strchr(option, '=');
    if (option[0] == '\0') {
        return ss_fail(e, SS_BAD_INPUT,
                       "'%s' has an empty option; write key=value after each ':' and ','", m->spec);
    }
    if (value == NULL || value == option || value[1] == '\0') {
        return ss_fail(e, SS_BAD_INPUT, "'%s' is not key=value, as freeze=on is", option);
    }
    *value++ = '\0';
    char *dot = strchr(option, '.');
    const char *name = dot != NULL ? dot + 1 : option;
    owner owners[3];
    list_owners(m, owners);
    for (int k = 0; k < 3; k++) {
        const ss_card *card = owners[k].card;
        const bool meant =
            card != NULL &&
            (dot == NULL || (strncmp(card->name, option, (size_t)(dot - option)) == 0 &&
                             card->name[dot - option] == '\0'));
        const ss_key *key = meant ? ss_keys_find(card->keys, name) : NULL;
        if (key != NULL) {
            const ss_status status = note_key(m, k, key, set, e);
            return status == SS_OK ? ss_key_set(key, value, owners[k].settings, e) : status;
        }
    }
    return fail_key(m, option, e);
}

// Refuses keys without effect, which are known when all are set.
static ss_status check_effects(const ss_method *m, const key_list *set, ss_error *e)
{
    for (int k = 0; m->global->key_needs != NULL && k < set->count; k++) {
        const char *name = set->key[k]->name;
        const char *needed = set->owner[k] == 0 ? m->global->key_needs(m, name) : NULL;
        if (needed != NULL) {
            return ss_fail(e, SS_BAD_INPUT, "%s does nothing in '%s' without %s; leave it out",
                           name, m->name, needed);
        }
    }
    return SS_OK;
}

// Sets one option after the other, between commas; `options` is cut.
static ss_status method_set_each(ss_method *m, char *options, key_list *set, ss_error *e)
{
    ss_status status = SS_OK;
    while (status == SS_OK && options != NULL) {
        char *next = strchr(options, ',');
        if (next != NULL) {
            *next++ = '\0';
        }
        status = method_set_option(m, options, set, e);
        options = next;
    }
    return status;
}

static ss_status set_printed(ss_method *m, ss_error *e)
{
    owner owners[3];
    list_owners(m, owners);
    if (owners[0].card->printed == NULL) {
        return ss_fail(e, SS_BAD_INPUT, "as=printed applies to gs/LOCAL only, not to '%s'",
                       m->name);
    }
    ss_status status = SS_OK;
    for (int k = 0; k < 2 && status == SS_OK; k++) {
        char options[sizeof m->spec] = "";
        if (owners[k].card != NULL && owners[k].card->printed != NULL) {
            snprintf(options, sizeof options, "%s", owners[k].card->printed);
            status = method_set_each(m, options, NULL, e);
        }
    }
    return status;
}

// Takes "as=printed" out of the options, and sets the options that it stands for. *options becomes
// NULL if none are left.
static ss_status take_printed(ss_method *m, char **options, ss_error *e)
{
    char *found = *options;
    while (found != NULL && strncmp(found, "as=", 3) != 0) {
        found = strchr(found, ',');
        found = found != NULL ? found + 1 : NULL;
    }
    if (found == NULL) {
        return SS_OK;
    }
    const size_t length = strcspn(found, ",");
    if (length != strlen("as=printed") || strncmp(found, "as=printed", length) != 0) {
        return ss_fail(e, SS_BAD_INPUT, "as takes printed, not '%.*s'", (int)length - 3, found + 3);
    }
    if (found[length] == ',') {
        memmove(found, found + length + 1, strlen(found + length + 1) + 1);
    } else if (found > *options) {
        found[-1] = '\0';
    } else {
        *options = NULL;
    }
    return set_printed(m, e);
}

static ss_status method_set_options(ss_method *m, char *options, ss_error *e)
{
    key_list set = {.count = 0};
    ss_status status = take_printed(m, &options, e);
    if (status == SS_OK) {
        status = method_set_each(m, options, &set, e);
    }
    return status == SS_OK ? check_effects(m, &set, e) : status;
}

// ---- A method

static void name_method(const pieces *p, ss_method *m)
{
    snprintf(m->name, sizeof m->name, "%s%s%s%s%s", p->global != NULL ? p->global : "",
             p->global != NULL ? "/" : "", p->local, p->failsafe != NULL ? "+" : "",
             p->failsafe != NULL ? p->failsafe : "");
}

static ss_status method_fill(ss_method *m, const char *spec, ss_error *e)
{
    pieces p;
    if (!cut(spec, &p)) {
        return ss_fail(e, SS_BAD_INPUT, "a solver spec has at most %zu characters",
                       sizeof m->spec - 1);
    }
    strcpy(m->spec, spec);
    name_method(&p, m);
    const char *misplaced = find_misplaced(&p);
    if (misplaced != NULL) {
        return ss_fail(e, SS_BAD_INPUT, "%s", misplaced);
    }
    const ss_status status = find_solvers(&p, m, e);
    if (status != SS_OK) {
        return status;
    }
    if (!copy_settings(&m->global->card, &m->global_settings) ||
        (m->local != NULL && !copy_settings(&m->local->card, &m->local_settings)) ||
        (m->failsafe != NULL && !copy_settings(&m->failsafe->card, &m->failsafe_settings))) {
        return ss_fail_memory(e, "a solver's settings");
    }
    return method_set_options(m, p.options, e);
}

ss_status ss_method_parse(const char *spec, ss_method **method, ss_error *e)
{
    *method = NULL;
    ss_method *m = calloc(1, sizeof *m);
    if (m == NULL) {
        return ss_fail_memory(e, "a solver's settings");
    }
    const ss_status status = method_fill(m, spec != NULL ? spec : "", e);
    if (status != SS_OK) {
        ss_method_free(m);
        return status;
    }
    *method = m;
    return SS_OK;
}

static bool same_owner(const owner *one, const owner *other)
{
    return one->card == other->card &&
           (one->card == NULL || one->card->settings_size == 0 ||
            memcmp(one->settings, other->settings, one->card->settings_size) == 0);
}

bool ss_method_same(const ss_method *one, const ss_method *other)
{
    owner mine[3], others[3];
    if (one == NULL || other == NULL || one->global == NULL || other->global == NULL) {
        return false;
    }
    list_owners(one, mine);
    list_owners(other, others);
    return same_owner(&mine[0], &others[0]) && same_owner(&mine[1], &others[1]) &&
           same_owner(&mine[2], &others[2]);
}

bool ss_method_has_own_rule(const ss_method *m)
{
    return m != NULL && m->global != NULL && m->global->own_rule != NULL && m->global->own_rule(m);
}

bool ss_method_takes_threads(const ss_method *m)
{
    return m != NULL && m->global != NULL && m->global->takes_threads != NULL &&
           m->global->takes_threads(m);
}

const char *ss_spec_bare(const char *spec)
{
    return spec == NULL ? "" : strncmp(spec, "gs/", 3) == 0 ? spec + 3 : spec;
}

void ss_method_free(ss_method *method)
{
    if (method != NULL) {
        free(method->global_settings);
        free(method->local_settings);
        free(method->failsafe_settings);
        free(method);
    }
}

ss_status ss_solve(const ss_task *task, double *r, ss_result *result, ss_error *e)
{
    ss_result own;
    result = result != NULL ? result : &own;
    *result = ss_result_unknown();
    if (task == NULL || task->method == NULL || task->method->global == NULL || r == NULL) {
        return ss_fail(e, SS_BAD_INPUT, "there is no %s",
                       task == NULL ? "task"
                       : r == NULL  ? "room for the impulses"
                                    : "solver");
    }
    const ss_status status = ss_problem_check_sizes(task->problem, e);
    return status != SS_OK ? status : task->method->global->solve(task, r, result, e);
}
