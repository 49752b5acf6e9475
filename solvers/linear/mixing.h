// solvers/linear/mixing.h -- Anderson mixing of a fixed-point iteration (Anderson 1965; Walker and
// Ni 2011).
//
// For x <- g(x) with residual f = g - x, keep the last m differences dF, dG of f and g and take
//
//     x <- g - dG gamma,     gamma = argmin |f - dF gamma|                                   (1)
//
// by QR of dF: a new column is orthogonalised against the others, the oldest is taken out by plane
// rotations. A column that loses all but `cutoff` of its length in that is left out. The caller
// weights the norm by multiplying f with the roots of the weights. Quantities that depend on x
// affinely (`more`) are mixed with the same gamma.
#pragma once

#include <stddef.h>

typedef struct ss_mixing ss_mixing;

// Makes a mixing of `size` numbers in x and `more` that are mixed along; depth is m. Returns NULL
// without memory.
ss_mixing *ss_mixing_new(size_t size, size_t more, int depth, double cutoff);
void ss_mixing_free(ss_mixing *mixing);

// Replaces the plain iterates g [size] and h [more] by the mixed ones; f [size] is weighted. The
// first call, and the first after a `forget`, changes nothing.
void ss_mixing_step(ss_mixing *mixing, const double *f, double *g, double *h);
void ss_mixing_forget(ss_mixing *mixing); // empties the history
