// solvers/linear/block_numeric.h -- a factorisation of fronts and its solution, for one kind of
// number and of CPU (internal).
//
// A template: whoever includes it has defined
//
//     REAL                  float or double
//     LANES                 how many of them a vector of the CPU has
//     VECTORS               vectors in a row of a tile of products
//     TARGET                the attribute of functions for this CPU
//     LESS(a, b, c)         c - a b of vectors
//     NAME(x)               x with a suffix of its own
//     LEAST                 pivots below, and above 1 / LEAST, are singular
//
// It takes REAL, LANES, NAME and LEAST back, so that another may follow.
#define WIDE (VECTORS * LANES)

typedef REAL NAME(lanes) __attribute__((vector_size(LANES * sizeof(REAL)), aligned(sizeof(REAL))));
typedef REAL NAME(eight)
    __attribute__((vector_size(SS_TILE * sizeof(REAL)), aligned(sizeof(REAL))));

#include "solvers/linear/block_kernels.h"
#include "solvers/linear/block_fronts.h"
#include "solvers/linear/block_solution.h"

#undef WIDE
#undef REAL
#undef LANES
#undef LEAST
#undef NAME
