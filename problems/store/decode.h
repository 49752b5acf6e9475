// problems/store/decode.h -- the arrays of an HDF5 file, decoded by a child process.
//
// libhdf5 may crash, spin or corrupt its own memory on a damaged file, so it never runs in the
// process that uses the data afterwards. The child is forked, not executed, and keeps the file to
// decode. It is killed when it falls silent. Its death is reported as what it nearly always is, a
// damaged file, unless it was killed by somebody else or got no time to work. After a failure there
// is no child; it may be started again.
//
// The dialogue: the child sends the list of problems (an SS_ARRAY_GROUP each, path = name, "" if
// the file is one problem; or one SS_ARRAY_UNREADABLE with the reason). Then for each int32_t k
// that arrives it sends the arrays of problem k, or, for SS_DECODE_FOREIGN, an SS_ARRAY_GROUP for
// each object and attribute of the file that a writer would not write again, the first
// SS_DECODE_FOREIGN_MAX of them. It exits when the other side closes, and when memory runs out,
// which it says.
#pragma once

#include <stdint.h>

#include "base/child.h"
#include "problems/store/arrays.h"

enum { SS_DECODE_FOREIGN = -1, SS_DECODE_FOREIGN_MAX = 20 };

// All zero before its first start.
typedef struct ss_decoder {
    ss_child child;
    int fd;                    // the channel, where there is a child
    double cpu_before_silence; // s of CPU time, when it fell silent last
} ss_decoder;

// Opens a file for a child that reads it, after a first look without libhdf5.
ss_status ss_decoder_open_file(const char *path, int *file, ss_error *e);
// Starts a child on an open file, which stays the caller's, and receives its list, which must be
// empty. There must be no child yet. Sentences do not name the file.
ss_status ss_decoder_start(ss_decoder *decoder, int file, ss_arrays *list, ss_error *e);
// Receives the arrays of problem k of the list, or the answer to SS_DECODE_FOREIGN.
ss_status ss_decoder_request(ss_decoder *decoder, int32_t k, ss_arrays *arrays, ss_error *e);
void ss_decoder_stop(ss_decoder *decoder); // takes one that was never started
