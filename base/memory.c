#include "base/memory.h"

#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE   ((size_t)2 << 20) // bytes; x86-64 and most arm64 kernels
#define CACHE_LINE  64
#define READY_BLOCK ((size_t)64 << 10) // bytes

void *ss_large_malloc(size_t size)
{
    void *memory = aligned_alloc(CACHE_LINE, (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
    if (memory != NULL && size >= 2 * HUGE_PAGE) {
        // Only whole pages can be advised; advice that the system does not take changes nothing.
        const size_t begin = ((size_t)memory + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
        const size_t end = ((size_t)memory + size) / HUGE_PAGE * HUGE_PAGE;
        madvise((void *)begin, end - begin, MADV_HUGEPAGE);
    }
    return memory;
}

void ss_large_forget(void *begin, void *end)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t from = ((size_t)begin + page - 1) / page * page, to = (size_t)end / page * page;
    if (from < to) {
        madvise((void *)from, to - from, MADV_DONTNEED); // as above
    }
}

void ss_memory_ready(size_t bytes)
{
    mallopt(M_MMAP_THRESHOLD, (int)bytes);
    mallopt(M_TRIM_THRESHOLD, (int)(2 * bytes));
    // Freed memory is in pieces, which one large block would pass over. Each block points to the
    // one before.
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void **last = NULL;
    for (size_t taken = 0; taken < bytes; taken += READY_BLOCK) {
        void **block = malloc(READY_BLOCK);
        if (block == NULL) {
            break;
        }
        for (size_t k = 0; k < READY_BLOCK; k += page) {
            ((volatile char *)block)[k] = 0;
        }
        block[0] = last;
        last = block;
    }
    while (last != NULL) {
        void **before = last[0];
        free(last);
        last = before;
    }
}
