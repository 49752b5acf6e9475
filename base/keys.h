// base/keys.h -- options of solvers and strand models, as a spec names them: "mfb:steps=50".
//
// A table of keys tells where each value goes in a struct of settings, so that reading, checking
// and listing them is done in one place.
#pragma once

#include <stddef.h>
#include "base/status.h"

#pragma GCC visibility push(default)

typedef enum ss_key_kind {
    SS_KEY_INTEGER, // int, low .. high
    SS_KEY_REAL,    // double, low .. high
    SS_KEY_CHOICE,  // int, the index in choices; "name:N" with seeded choices, see seed_place
} ss_key_kind;

typedef struct ss_key {
    const char *name; // [a-z][a-z0-9-]*; NULL ends a table
    ss_key_kind kind;
    size_t place; // offsetof its field in the settings
    double low, high;
    const char *const *choices; // NULL-terminated; one that ends in ':' takes a whole number
    size_t seed_place;          // offsetof a uint64_t for that number
    const char *about;          // says what it does, in a phrase; NULL for nothing
} ss_key;

// These make a line of such a table, in a file where `settings` is the type of its settings. A
// field of another type does not compile. `.about = "..."` may follow the last argument.
#define SS_KEY_PLACE(field, type)                                                                  \
    (offsetof(settings, field) + _Generic(((settings *)0)->field, type : 0))
#define SS_REAL_KEY(word, field, from, ...)                                                        \
    {                                                                                              \
        .name = word, .kind = SS_KEY_REAL, .place = SS_KEY_PLACE(field, double), .low = from,      \
        .high = __VA_ARGS__                                                                        \
    }
#define SS_INTEGER_KEY(word, field, from, ...)                                                     \
    {                                                                                              \
        .name = word, .kind = SS_KEY_INTEGER, .place = SS_KEY_PLACE(field, int), .low = from,      \
        .high = __VA_ARGS__                                                                        \
    }
#define SS_CHOICE_KEY(word, field, ...)                                                            \
    {                                                                                              \
        .name = word, .kind = SS_KEY_CHOICE, .place = SS_KEY_PLACE(field, int),                    \
        .choices = __VA_ARGS__                                                                     \
    }

// Writes "key=low..high, key=choice|choice", or "" without keys. text holds `room` characters.
void ss_keys_describe(const ss_key *keys, char *text, size_t room);
// Writes the same of one key, "key=low..high"; "" for NULL.
void ss_key_describe(const ss_key *key, char *text, size_t room);
// Writes its value in `settings`, as a spec gives it; "" if one of them is NULL.
void ss_key_value(const ss_key *key, const void *settings, char *text, size_t room);

// Returns the option without which a key has no effect, given these settings: "freeze=on"; NULL if
// it has an effect. A spec that sets a key without effect is refused.
typedef const char *ss_key_needs(const void *settings, const char *key);

const ss_key *ss_keys_find(const ss_key *keys, const char *name); // NULL for none; both may be NULL

// Sets the field of `settings` that the key names. SS_BAD_INPUT names the values that it takes, or
// says that one of the three is NULL.
ss_status ss_key_set(const ss_key *key, const char *value, void *settings, ss_error *e);

#pragma GCC visibility pop
