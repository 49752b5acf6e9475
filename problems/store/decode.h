// problems/store/decode.h -- from the bytes of an HDF5 file to arrays; runs in a child process
// only.
//
// libhdf5 may crash, spin or corrupt its own memory on a damaged file, so nothing here runs in the
// process that uses the data afterwards. The dialogue over fd: the child sends the list of problems
// (an SS_ARRAY_GROUP each, path = name, "" if the file is one problem; or one SS_ARRAY_UNREADABLE
// with the reason). Then for each int32_t k that arrives it sends the arrays of problem k, or, for
// SS_DECODE_FOREIGN, an SS_ARRAY_GROUP for each object and attribute of the file that a writer
// would not write again, the first SS_DECODE_FOREIGN_MAX of them. It exits when the other side
// closes, and when memory runs out, which it says.
#pragma once

#include <stdint.h>

enum { SS_DECODE_FOREIGN = -1, SS_DECODE_FOREIGN_MAX = 20 };

// `file` is open for reading. A path would be looked up again, which fails for /dev/stdin here,
// and may lead to another file than the one that was looked at.
_Noreturn void ss_decode_serve(int file, int fd);
