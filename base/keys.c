#include "base/keys.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

static bool takes_number(const char *choice)
{
    return choice[strlen(choice) - 1] == ':';
}

static void describe_key(const ss_key *key, char *text, size_t room)
{
    const char *separator = text[0] != '\0' ? ", " : "";
    size_t length = strlen(text);
    if (key->kind != SS_KEY_CHOICE) {
        snprintf(text + length, room - length, "%s%s=%g..%g", separator, key->name, key->low,
                 key->high);
        return;
    }
    snprintf(text + length, room - length, "%s%s=", separator, key->name);
    for (int k = 0; key->choices[k] != NULL; k++) {
        length = strlen(text);
        snprintf(text + length, room - length, "%s%s%s", k > 0 ? "|" : "", key->choices[k],
                 takes_number(key->choices[k]) ? "SEED" : "");
    }
}

void ss_keys_describe(const ss_key *keys, char *text, size_t room)
{
    text[0] = '\0';
    for (const ss_key *key = keys; key != NULL && key->name != NULL; key++) {
        describe_key(key, text, room);
    }
}

void ss_key_describe(const ss_key *key, char *text, size_t room)
{
    text[0] = '\0';
    if (key != NULL) {
        describe_key(key, text, room);
    }
}

void ss_key_value(const ss_key *key, const void *settings, char *text, size_t room)
{
    text[0] = '\0';
    if (key == NULL || settings == NULL) {
        return;
    }
    const char *value = (const char *)settings + key->place;
    double real;
    int whole;
    if (key->kind == SS_KEY_REAL) {
        memcpy(&real, value, sizeof real);
        snprintf(text, room, "%g", real);
        return;
    }
    memcpy(&whole, value, sizeof whole);
    if (key->kind == SS_KEY_INTEGER) {
        snprintf(text, room, "%d", whole);
        return;
    }
    if (takes_number(key->choices[whole])) {
        uint64_t seed;
        memcpy(&seed, (const char *)settings + key->seed_place, sizeof seed);
        snprintf(text, room, "%s%llu", key->choices[whole], (unsigned long long)seed);
    } else {
        snprintf(text, room, "%s", key->choices[whole]);
    }
}

const ss_key *ss_keys_find(const ss_key *keys, const char *name)
{
    for (const ss_key *key = keys; name != NULL && key != NULL && key->name != NULL; key++) {
        if (strcmp(key->name, name) == 0) {
            return key;
        }
    }
    return NULL;
}

static void keys_append(char *text, size_t room, const char *word)
{
    const size_t length = strlen(text);
    snprintf(text + length, room - length, "%s%s", length > 0 ? ", " : "", word);
}

static ss_status fail_number(const ss_key *key, const char *value, ss_error *e)
{
    char takes[80];
    ss_number_describe(key->kind == SS_KEY_INTEGER, key->low, key->high, takes, sizeof takes);
    return ss_fail(e, SS_BAD_INPUT, "%s takes %s, not '%s'", key->name, takes, value);
}

static ss_status keys_set_integer(const ss_key *key, const char *value, void *settings, ss_error *e)
{
    long number;
    if (!ss_number_whole(value, (long)key->low, (long)key->high, &number)) {
        return fail_number(key, value, e);
    }
    memcpy((char *)settings + key->place, &(int){(int)number}, sizeof(int));
    return SS_OK;
}

static ss_status keys_set_real(const ss_key *key, const char *value, void *settings, ss_error *e)
{
    double number;
    if (!ss_number_real(value, key->low, key->high, &number)) {
        return fail_number(key, value, e);
    }
    memcpy((char *)settings + key->place, &number, sizeof number);
    return SS_OK;
}

// Sets choice k where value is its name, or its name and a number for one that ends in ':'.
static bool is_choice(const ss_key *key, const char *choice, const char *value, void *settings)
{
    const size_t length = strlen(choice);
    if (!takes_number(choice)) {
        return strcmp(choice, value) == 0;
    }
    uint64_t seed;
    if (strncmp(choice, value, length) != 0 || !ss_number_seed(value + length, &seed)) {
        return false;
    }
    memcpy((char *)settings + key->seed_place, &seed, sizeof seed);
    return true;
}

static ss_status keys_set_choice(const ss_key *key, const char *value, void *settings, ss_error *e)
{
    char names[200] = "";
    for (int k = 0; key->choices[k] != NULL; k++) {
        if (is_choice(key, key->choices[k], value, settings)) {
            memcpy((char *)settings + key->place, &k, sizeof k);
            return SS_OK;
        }
        char name[48];
        snprintf(name, sizeof name, "%s%s", key->choices[k],
                 takes_number(key->choices[k]) ? "SEED" : "");
        keys_append(names, sizeof names, name);
    }
    return ss_fail(e, SS_BAD_INPUT, "%s takes one of %s, not '%s'", key->name, names, value);
}

ss_status ss_key_set(const ss_key *key, const char *value, void *settings, ss_error *e)
{
    if (key == NULL || value == NULL || settings == NULL) {
        return ss_fail(e, SS_BAD_INPUT, "there is no %s to set",
                       key == NULL     ? "option"
                       : value == NULL ? "value of an option"
                                       : "place of an option");
    }
    switch (key->kind) {
    case SS_KEY_INTEGER:
        return keys_set_integer(key, value, settings, e);
    case SS_KEY_REAL:
        return keys_set_real(key, value, settings, e);
    case SS_KEY_CHOICE:
        break;
    }
    return keys_set_choice(key, value, settings, e);
}
