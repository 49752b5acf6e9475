// base/assert.h -- promises that headers ask of callers: ascending, not NULL, in this order.
//
// A broken promise is a mistake in the program, never bad data (base/status.h is for that), and
// ends debug and sanitizer builds with its place. Release builds (NDEBUG) compile the condition
// without evaluating it.
#pragma once

#include <assert.h>

#ifdef NDEBUG
#define ss_assert(condition) ((void)sizeof((condition) ? 1 : 0))
#else
#define ss_assert(condition) assert(condition)
#endif
