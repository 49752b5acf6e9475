// harness/simulate/iterates.h -- a CSV row per iterate of the scheme thesis, for curves over its iterations.
#pragma once

#include "strands/step/step.h"

typedef struct ss_iterates ss_iterates;

// An existing file is emptied. NULL with a sentence.
ss_iterates *ss_iterates_open(const char *path, ss_error *e);
// The iterate that the report is of, of step `step`, with the measures of its answer.
void ss_iterates_add(ss_iterates *a, int step, const ss_step_report *report, int contacts,
                     const ss_step_answer *answer);
// Tells whether all of it was written, and frees; takes NULL.
ss_status ss_iterates_close(ss_iterates *a, ss_error *e);
