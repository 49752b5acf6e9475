// harness/specs.h -- a list of solver specs on one line.
//
// Blanks and ';' separate specs, and so does a ',', unless it belongs to the options of a spec: a ':' of
// that spec is open and the next piece is key=value ("mfb,enum:freeze=on,share=0.1,pac" are
// three). A piece with a ':' before its '=' begins a spec of its own.
#pragma once

#include "solvers/registry.h"

typedef struct ss_specs {
    int count;
    char **text;        // [count] owned; without the "gs/" that a local solver's name goes without
    ss_method **method; // [count] owned; no two do the same
} ss_specs;

// Characters of the spec at the beginning of a list, and of what separates it from the next.
size_t ss_spec_length(const char *list);
size_t ss_spec_gap(const char *list);

// A solver that is spelled in two ways is one, under its first spelling, and a remark on stderr
// says so in the name of the verb. SS_BAD_INPUT with a sentence where a spec is wrong or there is
// none.
ss_status ss_specs_split(const char *verb, const char *list, ss_specs *specs, ss_error *e);
void ss_specs_free(ss_specs *specs);

// The value of --tol: numbers from 0 to 1 with commas or blanks between them, each once. Returns how
// many, 0 with a sentence on stderr in the name of the verb where one is wrong or there is none.
enum { SS_MOST_TOLERANCES = 16 };
int ss_tolerances_split(const char *verb, const char *list, double tolerances[SS_MOST_TOLERANCES]);
