// tests/support/articulated.h -- forward dynamics of a tree of links by articulated bodies: a
// second algorithm, with which its residual and its mass matrix are compared.
#pragma once

#include "strands/models/oriented.h"

// Finds the wdot [nv] for which the residual is 0. Moves the links.
void articulated_motion(const ss_oriented *s, const ss_oriented_base *base, const double *q,
                        const double *w, const ss_oriented_load *load, double *wdot);
// Finds what `load` adds to the wdot of the last articulated_motion, in which no link has moved
// since: a test load, in linear time.
void articulated_response(const ss_oriented *s, const ss_oriented_load *load, double *wdot);
