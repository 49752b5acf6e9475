// harness/probe.h -- whether a library survives some bytes, found out in a child process.
//
// libhdf5 may crash or spin on a damaged file. What it is to be given is given to it in a child
// first; where that one dies, the file is at fault and this process has not been touched.
#pragma once

#include "problems/status.h"

// SS_OK where function(context) comes back in the child, whatever it made there. SS_BAD_INPUT where
// the child dies of it; `path` is for the sentence.
ss_status ss_probe(void (*function)(void *context), void *context, const char *path, ss_error *e);
