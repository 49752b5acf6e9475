#include "base/memory.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define HUGE_PAGE  ((size_t)2 << 20) // bytes; x86-64 and most arm64 kernels
#define CACHE_LINE 64

void *ss_large_malloc(size_t size)
{
    void *memory = aligned_alloc(CACHE_LINE, (size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
    if (memory != NULL && size >= 2 * HUGE_PAGE) {
        // The whole pages inside the block; advice that the system does not take changes nothing.
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
