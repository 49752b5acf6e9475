// harness/simulate/hold.h -- a file belongs to one simulation at a time: of what two write into it,
// neither is left whole.
#pragma once

#include <stdio.h>
#include "base/status.h"

// Takes the lock of an open file, which lasts until it is closed or its process ends. SS_SYSTEM if another
// program has it. Only regular files have one, on file systems that know locks.
ss_status ss_hold(int fd, const char *path, ss_error *e);

// Opens a file for writing and takes its lock; its content stays until ss_hold_empty.
ss_status ss_hold_open(const char *path, FILE **file, ss_error *e);
ss_status ss_hold_empty(FILE *file, const char *path, ss_error *e);
