// tests/measure/bench.h -- what the benchmarks share: the clock, tangles, and the way to fail.
#pragma once

#include <stdio.h>
#include <stdlib.h>

#include "problems/tangle/tangle.h"
#include "base/clock.h"

static inline void bench_check(ss_status status, const ss_error *error)
{
    if (status != SS_OK) {
        fprintf(stderr, "benchmark: %s\n", error->text);
        exit((int)status);
    }
}

static inline ss_problem *bench_tangle(int ncontacts, int ends_per_rod)
{
    ss_tangle_settings settings = ss_tangle_defaults();
    settings.ncontacts = ncontacts;
    settings.ends_per_rod = ends_per_rod;
    ss_error error;
    ss_problem *p = NULL;
    bench_check(ss_tangle_new(&settings, &p, &error), &error);
    return p;
}
