// base/memory.h -- memory for large arrays (internal).
#pragma once

#include <stddef.h>

// Allocates as malloc does; free frees it. The memory begins with a cache line, since half of the
// vectors would lie in two lines otherwise. Above a few megabytes the memory is asked for in huge
// pages where the system offers them: an array that is written once, front to back, otherwise costs
// a page fault every 4 KiB, which for W is more than the arithmetic that fills it
// (problems/matrix/delassus.c).
void *ss_large_malloc(size_t size);

// The whole pages from begin to end, which are in one block, go back to the system; what they held
// is lost.
void ss_large_forget(void *begin, void *end);

// Writes to `bytes` of memory, 32 MB at most, and frees them: malloc gives them again without page
// faults. From now on glibc keeps up to twice as much freed memory, and takes each larger block
// from the system.
void ss_memory_ready(size_t bytes);
