// solvers/linear/mixing.h -- Anderson mixing of a fixed-point iteration (Anderson 1965; Walker and
// Ni 2011).
//
// For x <- g(x) with residual f = g - x, keep the last m differences dF, dG of f and g and take
//
//     x <- g - dG gamma,     gamma = argmin |f - dF gamma|                                   (1)
//
// by QR of dF: a new column is orthogonalised against the others, the oldest is taken out by plane
// rotations. A column that loses all but `cutoff` of its length in that is left out. The norm is
// weighted by the caller, who hands in f multiplied by the roots of his weights. Quantities that
// depend on x affinely (`more`) are mixed with the same gamma.
#pragma once

#include <stddef.h>

typedef struct ss_mixing ss_mixing;

// size numbers in x, more in what goes along; depth is m. NULL without memory.
ss_mixing *ss_mixing_new(size_t size, size_t more, int depth, double cutoff);
void ss_mixing_free(ss_mixing *mixing);

// f [size] weighted; g [size] and h [more]: in the plain iterates, out the mixed ones. The first
// call after a `forget` changes nothing.
void ss_mixing_step(ss_mixing *mixing, const double *f, double *g, double *h);
void ss_mixing_forget(ss_mixing *mixing); // an empty history
