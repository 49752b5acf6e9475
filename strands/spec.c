// strands/spec.c -- specs: a name among the entries of a table, and options by its keys.
#include "strands/spec.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int find_entry(const ss_catalogue *c, const char *name)
{
    int k = 0;
    while (c->entry(k).name != NULL && strcmp(c->entry(k).name, name) != 0) {
        k++;
    }
    return k;
}

static ss_status fail_unknown(const ss_catalogue *c, const char *name, ss_error *e)
{
    char names[300] = "";
    for (int k = 0; c->entry(k).name != NULL; k++) {
        const size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, "%s%s", length > 0 ? ", " : "",
                 c->entry(k).name);
    }
    return ss_fail(e, SS_BAD_INPUT, "unknown %s '%s'; there are %s", c->kind, name, names);
}

// A bit of `seen` for each key of the entry that the spec has set.
static ss_status set_option(const ss_catalogue *c, const ss_entry *entry, const char *spec,
                            char *option, uint64_t *seen, void *settings, ss_error *e)
{
    char *value = strchr(option, '=');
    if (option[0] == '\0') {
        return ss_fail(e, SS_BAD_INPUT,
                       "'%s' has an empty option; write key=value after each ':' and ','", spec);
    }
    if (value == NULL || value == option || value[1] == '\0') {
        return ss_fail(e, SS_BAD_INPUT, "'%s' of %s '%s' is not key=value", option, c->kind, spec);
    }
    *value++ = '\0';
    const ss_key *key = ss_keys_find(entry->keys, option);
    if (key == NULL) {
        char known[300];
        ss_keys_describe(entry->keys, known, sizeof known);
        return ss_fail(e, SS_BAD_INPUT, "%s '%s' has no option '%s'; it has %s", c->kind,
                       entry->name, option, known[0] != '\0' ? known : "none");
    }
    const uint64_t bit = UINT64_C(1) << (key - entry->keys);
    if ((*seen & bit) != 0) {
        return ss_fail(e, SS_BAD_INPUT, "%s is set twice in '%s'; leave one of them out", key->name,
                       spec);
    }
    *seen |= bit;
    return ss_key_set(key, value, settings, e);
}

// Whether a key has an effect is known once all of `seen` are set.
static ss_status check_effects(const ss_entry *entry, const char *spec, uint64_t seen,
                               const void *settings, ss_error *e)
{
    for (int k = 0; entry->key_needs != NULL && entry->keys[k].name != NULL; k++) {
        const char *name = entry->keys[k].name;
        const char *needed =
            (seen & UINT64_C(1) << k) != 0 ? entry->key_needs(settings, name) : NULL;
        if (needed != NULL) {
            return ss_fail(e, SS_BAD_INPUT, "%s does nothing in '%s' without %s; leave it out",
                           name, spec, needed);
        }
    }
    return SS_OK;
}

// options: "key=value,..." or NULL for none.
static ss_status set_options(const ss_catalogue *c, const ss_entry *entry, const char *spec,
                             char *options, void *settings, ss_error *e)
{
    ss_status status = SS_OK;
    uint64_t seen = 0;
    while (status == SS_OK && options != NULL) {
        char *option = options;
        options = strchr(option, ',');
        if (options != NULL) {
            *options++ = '\0';
        }
        status = set_option(c, entry, spec, option, &seen, settings, e);
    }
    return status == SS_OK ? check_effects(entry, spec, seen, settings, e) : status;
}

ss_status ss_spec_parse(const ss_catalogue *c, const char *spec, int *which, void **settings,
                        ss_error *e)
{
    char text[SS_SPEC_ROOM];
    *settings = NULL;
    if (strlen(spec) >= sizeof text) {
        return ss_fail(e, SS_BAD_INPUT, "a %s's spec has at most %zu characters", c->kind,
                       sizeof text - 1);
    }
    strcpy(text, spec);
    char *options = strchr(text, ':');
    if (options != NULL) {
        *options++ = '\0';
    }
    *which = find_entry(c, text);
    const ss_entry entry = c->entry(*which);
    if (entry.name == NULL) {
        return fail_unknown(c, text, e);
    }
    void *own = entry.settings_size > 0 ? malloc(entry.settings_size) : NULL;
    if (entry.settings_size > 0 && own == NULL) {
        return ss_fail_memory(e, "the settings of a spec");
    }
    if (own != NULL) {
        memcpy(own, entry.defaults, entry.settings_size);
    }
    const ss_status status = set_options(c, &entry, spec, options, own, e);
    if (status != SS_OK) {
        free(own);
        return status;
    }
    *settings = own;
    return SS_OK;
}
