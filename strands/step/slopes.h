// strands/step/slopes.h -- Newton's step of one strand with all slopes of its residual
// (internal).
//
// M of an iterate (system.h) is without the slopes of inertia and load with q and v, which are not
// symmetric. Where J changes and nothing touches the strand, the free dofs take the step of
//
//     g(v) = M v - f about q_n (+) h (way v + offset),   G dv = -g(v*),   v <- v* + dv
//
// with G by differences of g, or of the model's residual in linear time (model.h), in units in which the
// diagonal of M is 1.
#pragma once

#include "strands/step/systems.h"

typedef struct ss_slopes ss_slopes; // memory that is kept from step to step

// NULL without memory.
ss_slopes *ss_slopes_new(const ss_world *w);
void ss_slopes_free(ss_slopes *s); // takes NULL

// v [nv] of strand k, whose systems are formed about the iterate; it stays where G is singular.
// `systems` gives its scales, and its scratch is used.
void ss_slopes_step(ss_slopes *s, const ss_world *w, int k, const ss_iterate *it,
                    const ss_systems *systems, double *v);
