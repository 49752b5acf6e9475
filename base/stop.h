// base/stop.h -- whether work that takes long may go on.
//
// Functions that take an ss_stop ask it some hundred times a second and, where it says so, end with
// SS_OK and nothing made. Once it has said so, it says so forever.
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct ss_stop {
    bool (*asked)(const void *of);
    const void *of;
} ss_stop;

// Returns whether to stop; never for NULL.
static inline bool ss_stop_asked(const ss_stop *stop)
{
    return stop != NULL && stop->asked(stop->of);
}

// Asks for item k of a loop whose items take some microseconds, at every 32nd.
static inline bool ss_stop_asked_at(const ss_stop *stop, int k)
{
    return k % 32 == 0 && ss_stop_asked(stop);
}
