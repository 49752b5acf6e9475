// The linker's --wrap sends every malloc, calloc, realloc and strdup of libstickslip and of the
// test through here (GNU ld, "--wrap=symbol"), so that production code needs no hook.
#include <stdlib.h>

#include "tests/support.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *text);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *text);

static long failing, made;

void fail_allocation(long k)
{
    failing = k;
    made = 0;
}

long allocations_since(void)
{
    return made;
}

static bool fails(void)
{
    made++;
    return made == failing;
}

void *__wrap_malloc(size_t size)
{
    return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}
