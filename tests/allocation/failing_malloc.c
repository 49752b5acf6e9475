// The linker's --wrap sends every malloc, calloc, realloc and strdup of libstickslip and of the
// test through here (GNU ld, "--wrap=symbol"), so that production code needs no hook.
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/support.h"

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

void fail_each_allocation(const char *name, ss_status (*operation)(void), void (*prepare)(void),
                          ss_error *error)
{
    long k = 1;
    for (;; k++) {
        if (prepare != NULL) {
            prepare();
        }
        *error = (ss_error){0};
        fail_allocation(k);
        const ss_status status = operation();
        const long all = allocations_since();
        fail_allocation(0);
        if (status == SS_OK && all < k) {
            break;
        }
        if (status != SS_SYSTEM || error->text[0] == '\0') {
            char message[900];
            snprintf(message, sizeof message, "%s: allocation %ld of %ld: status %d, \"%s\"", name,
                     k, all, (int)status, error->text);
            TEST_FAIL_MESSAGE(message);
        }
    }
    CHECK(k > 1);
}
