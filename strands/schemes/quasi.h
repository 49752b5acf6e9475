// strands/schemes/quasi.h -- systems of which the first iterate's stiffness is kept except for that of
// lengths (internal).
//
// Of iterate 0 the matrix without the stiffness of lengths is kept, and every later iterate q*, v* of
// backward Euler takes
//
//     M = M_0 - h^2 K_s(q_0) + h^2 K_s(q*)                M_0 that of iterate 0, K_s the lengths' part of K
//     M (v - v*) = I - g(q*, v*),   g = M0 (v* - v_n) - h F(q*, v*)           [J20] (3.6)
//     f = M v* - g
//
// so that where the iterates end, g = I, is where those of Newton end. A strand whose M has no factor takes
// all of its stiffness anew, and keeps that.
//
// doc/strands.md, "Thesis".
#pragma once

#include "strands/step/systems.h"

typedef struct ss_quasi {
    double *base;    // the bands of all strands, as systems->M_numbers
    double *g;       // [nv] at the last iterate
    double *seconds; // [nstrands] that the last factor of a strand took
} ss_quasi;

// False without memory; free what it was given in every case.
bool ss_quasi_init(ss_quasi *s, const ss_world *w);
void ss_quasi_free(ss_quasi *s);

// Strand k, of which the systems are formed about iterate 0.
void ss_quasi_keep(ss_quasi *s, ss_systems *systems, const ss_world *w, int k, const ss_iterate *it,
                   int thread);
// M of strand k, its factor and g, about an iterate of which it->at holds q* and v*. False where M is not
// positive definite.
bool ss_quasi_renew(ss_quasi *s, ss_systems *systems, const ss_world *w, int k,
                    const ss_iterate *it, const ss_placed *at, int thread);
// v [nv of the strand] = v* + M^-1 (I - g), I [nv of the strand].
void ss_quasi_solve(const ss_quasi *s, ss_systems *systems, const ss_world *w, int k,
                    const double *about, const double *impulses, double *v);
// f of strand k in the systems, of the last iterate v* [nv of the strand].
void ss_quasi_right(const ss_quasi *s, ss_systems *systems, const ss_world *w, int k,
                    const double *about);
