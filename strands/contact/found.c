#include "strands/contact/found.h"

// One pass of a counting sort of what was found, by one of its keys in 0 .. nkeys - 1.
static void sort_by(int which, const ss_found *const *from, const ss_found **to, size_t n,
                    int *count, int nkeys)
{
    for (int k = 0; k <= nkeys; k++) {
        count[k] = 0;
    }
    for (size_t i = 0; i < n; i++) {
        count[from[i]->key[which] + 1]++;
    }
    for (int k = 0; k < nkeys; k++) {
        count[k + 1] += count[k];
    }
    for (size_t i = 0; i < n; i++) {
        to[count[from[i]->key[which]]++] = from[i];
    }
}

void ss_found_sort(const ss_found **order, size_t n, int nkeys, int *count)
{
    sort_by(1, order, order + n, n, count, nkeys);
    sort_by(0, order + n, order, n, count, nkeys);
}
