// base/lanes.h -- a vector of doubles as wide as one of the CPU: gcc keeps wider ones in memory.
#pragma once

#if defined(__AVX512F__)
#define SS_LANES 8
#elif defined(__AVX__)
#define SS_LANES 4
#else
#define SS_LANES 2
#endif
typedef double ss_lanes __attribute__((vector_size(8 * SS_LANES), aligned(8)));
