// strands/models/lifted_curls/lifted_curls.h -- lifted-curls: vertices alone, with energies of lengths, of the
// angle of two edges and of the torsion of three [S23] (internal).
//
// q and v are those of the vertices x_0 .. x_n. Number j of an array is of edge j, from x_j to x_{j+1}, of
// the joint at x_j between the edges j - 1 and j, and of the torsion of the edges j - 2 .. j about edge
// j - 1: stencil j ends at x_{j+1}, and moves the 12 dofs from x_{j-2} on.
//
//     stretch  l mu_s/2 (|e|/l - 1)^2         mu_s = EA
//     bend     mu_b/2 (theta - theta0)^2      mu_b = EI / mean of both edges; theta = pi if straight
//     torsion  mu_t/2 wrap(tau - tau0)^2      mu_t = GJ / middle edge
//
// Sections are round; the radius goes evenly from that of the root to `taper` times it at the tip, and the mean
// section is the material's.
//
// Three vertices are held at a clamp; the joint at the last of them stands for the half edge beyond it, and
// there the free length begins.
//
// doc/strands.md, "Lifted Curls".
#pragma once

#include "strands/model.h"

#define SS_CURL_LANES 8 // stencils side by side

// What SS_STIFFNESS_FILTERED is of an energy; SS_STIFFNESS_EXACT and SS_STIFFNESS_GAUSS_NEWTON are what they
// are called, of all three.
typedef enum ss_curl_filter {
    SS_CURL_EXACT,
    SS_CURL_SPLIT, // clamped; the torsion's part within and across the middle edge's plane apart
    SS_CURL_TEXT,  // clamped; the torsion as the angle of two free vectors: [S23] as printed
    SS_CURL_GAUSS_NEWTON,
} ss_curl_filter;

typedef enum ss_curl_energy_kind {
    SS_CURL_STRETCHES,
    SS_CURL_BENDS,
    SS_CURL_TWISTS,
    SS_CURL_ENERGIES
} ss_curl_energy_kind;

// Numbers of the natural shape: [room] each, 0 after the last and where there is none.
typedef enum ss_curl_number {
    SS_CURL_INVERSE_EDGE, // 1/l
    SS_CURL_STRETCH,      // mu_s
    SS_CURL_BEND,         // mu_b
    SS_CURL_THETA,        // theta0
    SS_CURL_LEAST_SINE,   // of theta: below it the joint has no bending force
    SS_CURL_STRAIGHT,     // 1 if theta0 is pi, so that the joint has stiffness there
    SS_CURL_TORSION,      // mu_t
    SS_CURL_TAU,          // tau0
    SS_CURL_NUMBERS
} ss_curl_number;

typedef struct ss_curl {
    int n; // edges
    ss_curl_filter filter[SS_CURL_ENERGIES];
    ss_clamp clamp;
    double line_density;       // kg/m
    double relaxation, length; // s, m
    int nheld, nroot;          // of these at the root
    int held[18];
    int room; // n rounded up to whole lanes
    double *number[SS_CURL_NUMBERS];
    double *share;  // [n] of the length that the edge has
    double *load;   // [n] of the mass
    ss_vec3 *style; // [n + 1] in the frame of the root
    ss_vec3 *home;  // [n + 1] style in the world
    void *memory;   // of all arrays; owned
} ss_curl;

static inline ss_vec3 ss_curl_vertex(const double *q, int i)
{
    return ss_vec(q[3 * i], q[3 * i + 1], q[3 * i + 2]);
}

// ---- lifted_curls_kernel.c

// At q, by number: |e|, theta and its sine, tau; [room] each.
void ss_curl_strains(const ss_curl *c, const double *q, double *edge, double *theta, double *sine,
                     double *tau);
// Hooks of model.h.

double ss_curl_energy(const void *strand, const double *q);
void ss_curl_force(const void *strand, const double *q, const double *v, double *F);
bool ss_curl_stiffness(const void *strand, const double *q, ss_stiffness kind, double scale,
                       ss_band *A);
void ss_curl_damping(const void *strand, const double *q, double scale, ss_band *A);
