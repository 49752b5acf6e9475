// harness/bench_specs.h -- a list of solver specs on one line.
//
// Blanks and ';' part specs. So does a ',', unless it belongs to the options of a spec: a ':' of
// that spec is open and the next piece is key=value ("mfb,enum:freeze=on,share=0.1,pac" are
// three). A piece with a ':' before its '=' begins a spec of its own.
#pragma once

#include "problems/status.h"

typedef struct ss_specs {
    int count;
    char **text; // [count] owned; each can be parsed, no two are the same
} ss_specs;

// SS_BAD_INPUT with a sentence where a spec is wrong or there is none.
ss_status ss_specs_split(const char *list, ss_specs *specs, ss_error *e);
void ss_specs_free(ss_specs *specs);
