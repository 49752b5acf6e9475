// base/memory.h -- memory for large arrays (internal).
#pragma once

#include <stddef.h>

// Does what malloc does; the memory is freed by free. It begins with a cache line, as otherwise
// half of all vectors of a CPU lie in two lines. Above a few megabytes huge pages are asked for
// where the system offers them: otherwise an array that is written once, front to back, costs a
// page fault every 4 KiB, which for W is more than the arithmetic that fills it
// (problems/matrix/delassus.c).
void *ss_large_malloc(size_t size);

// Gives the whole pages from begin to end, which are in one block, back to the system; their
// content is lost.
void ss_large_forget(void *begin, void *end);

// Writes to `bytes` of memory, 32 MB at most, and frees them: malloc gives them again without page
// faults. From now on glibc keeps up to twice as much freed memory, and takes each larger block
// from the system.
void ss_memory_ready(size_t bytes);
