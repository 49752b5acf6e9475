// problems/store/decoder.h -- the child process that decodes a file, as its parent sees it.
//
// The child is forked, not executed, and keeps the file to decode. It is killed when it falls
// silent. Its death is reported as what it nearly always is, a damaged file, unless it was killed by
// somebody else or got no time to work. After a failure there is no child; it may be started again.
#pragma once

#include <stdint.h>

#include "base/child.h"
#include "problems/store/arrays.h"

typedef struct ss_decoder {
    ss_child child;
    int fd;                    // the channel, where there is a child
    double cpu_before_silence; // s of CPU time, when it fell silent last
} ss_decoder;

// Opens a file for a child that reads it, after a first look without libhdf5.
ss_status ss_decoder_open_file(const char *path, int *file, ss_error *e);
// Starts a child on an open file, which stays the caller's, and receives its list (decode.h).
// Sentences do not name the file.
ss_status ss_decoder_start(ss_decoder *decoder, int file, ss_arrays *list, ss_error *e);
// The arrays of problem k of the list.
ss_status ss_decoder_request(ss_decoder *decoder, int32_t k, ss_arrays *arrays, ss_error *e);
void ss_decoder_stop(ss_decoder *decoder); // takes one that was never started
