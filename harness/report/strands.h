// harness/report/strands.h -- a strands file (frames/trajectory.h) as the page's viewer takes it.
//
// head: a JSON object with file, scene, model, scheme, solver, units, seed (a text), radius,
// description, frames and every (of the file's frames: each `every`-th is here), vertices, length
// and strand of each polyline, strands, low [3] and step (m), time [frames], contacts [frames],
// impulse [2] (N s: what bytes 1 and 255 mean, by a logarithm), and kind, size of the obstacles.
//
// body, frame by frame; numbers of 16 bits have their low bytes first, then their high bytes:
//     x         3 vertices, 16 bits: (x - low) / step, of frame 0; then the difference from the
//               frame before, modulo 2^16
//     impulse   strands, a byte: the sum of |impulse| of the strand's contacts, 0 for none
//     contacts  as many as the head says: 24 bits, its segment's first vertex less that of the
//               contact before (modulo 2^24), in three runs of bytes, the lowest first; a byte,
//               where on the segment, 0..255; a byte, its status
//     obstacles 12 floats each, little-endian: place, and the three turned axes
// The file is read in a child process, so a damaged file cannot crash the program, as in
// problems/store/decode.h.
#pragma once

#include "problems/store/h5_read.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ss_page_strands {
    char *head; // [head_length] owned
    size_t head_length;
    void *body; // [body_length] owned
    size_t body_length;
} ss_page_strands;

// SS_BAD_INPUT with a sentence that names the file. deflate: whether the body is deflated.
ss_status ss_page_strands_read(const char *path, bool deflate, ss_page_strands *strands,
                               ss_error *e);
void ss_page_strands_free(ss_page_strands *strands);
