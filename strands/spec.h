// strands/spec.h -- "NAME[:key=value,...]" of the tables of strand models, schemes and
// scenes (internal).
#pragma once

#include "base/keys.h"

// Characters of a spec, with its end.
#define SS_SPEC_ROOM 160

// An entry of a table, as a spec sees it; name is NULL after the last.
typedef struct ss_entry {
    const char *name;     // [a-z0-9][a-z0-9-]*
    const ss_key *keys;   // NULL for none
    const void *defaults; // settings_size bytes; NULL for none
    size_t settings_size;
    ss_key_needs *key_needs; // NULL: every key has an effect
} ss_entry;

typedef struct ss_catalogue {
    const char *kind; // "strand model"
    ss_entry (*entry)(int k);
} ss_catalogue;

// Finds the entry, and copies its defaults with the options set; the copy is NULL if it has no
// settings, else the caller frees it. SS_BAD_INPUT with the names or options that there are, and if
// an option has no effect.
ss_status ss_spec_parse(const ss_catalogue *catalogue, const char *spec, int *which,
                        void **settings, ss_error *e);
