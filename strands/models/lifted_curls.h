// strands/models/lifted_curls.h -- a strand of the model lifted-curls (internal; lifted_curls.c
// says what it is).
#pragma once

#include "strands/model.h"

#define SS_CURL_LANES 8 // stencils side by side

// Meanings of SS_STIFFNESS_FILTERED for an energy; SS_STIFFNESS_EXACT and SS_STIFFNESS_GAUSS_NEWTON
// are what they are called, for all three.
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
