#include "solvers/global/auto_starts.h"

#include <string.h>

#define SHAKE_FAR  2.0 // a of half of the starts
#define SHAKE_NEAR 0.3

int ss_luby(int k)
{
    int size = 1;
    while (2 * size - 1 < k) {
        size *= 2;
    }
    return k == 2 * size - 1 ? size : ss_luby(k - size + 1);
}

void ss_start_elsewhere(ss_random *g, int k, size_t size, double *r)
{
    if (k % 4 == 0) {
        memset(r, 0, size * sizeof *r);
        return;
    }
    const double a = ss_random_below(g, 2) == 0 ? SHAKE_FAR : SHAKE_NEAR;
    for (size_t c = 0; c < size; c++) {
        r[c] *= ss_portable_exp(a * ss_random_normal(g));
    }
}
