// problems/response.h -- the velocities that impulses cause, straight from the problem's data.
//
// Global form: M v = f + H r, u = H' v + w through M, H as stored; local form: u = W r + b. No
// solver's copy of W or G takes part, so that the judge shares nothing with the solver it judges.
// Not even the rounding of a factor of M, which would cancel in a comparison of the two: v is
// refined with residuals in long double, or of two doubles where M needs them (response.c).
#pragma once

#include "problems/problem.h"

#pragma GCC visibility push(default)

typedef struct ss_response {
    const ss_problem *problem; // borrowed
    struct ss_mass *mass;      // global form; a share
    struct ss_team *team;      // who helps; borrowed, NULL: nobody
    double *b;                 // [dim ncontacts] velocity at r = 0, to 1e-11 of the largest; owned
    double fastest;            // max |b|; 0 before it is known
    double *compliance;        // [ncontacts] tr(W_ii)/dim; owned
    double *squares;           // [ncontacts] scratch of the measures; owned
    double *motion;            // [ndofs] v of the last u computed with v NULL, global form; owned
    double row_sum;            // max_c sum_j |W_cj|, local form
    double *scratch;           // [ndofs] scratch, global form; owned
    double *shares;            // [ndofs] of what is uncertain (response.c), global form; owned
    long double *exact;        // [ndofs] v before it is rounded, global form; owned
    long double *load;       // f + H r [ndofs], and what is left of it; local form: W r + b; owned
    struct ss_twofold *fine; // load and v with more digits, where they are needed; owned
    double *low;             // [dim ncontacts] the low parts of such a u; owned
    bool finely;             // M needs them at r = 0, and is taken to need them always
    bool in_order;           // the dofs of a body follow each other, and so do the bodies
} ss_response;

ss_status ss_response_new(const ss_problem *p, ss_response **response, ss_error *e);
void ss_response_free(ss_response *response); // takes NULL

// Writes u [dim ncontacts] and, where v is not NULL, v [ndofs] for impulses r. Writes nothing if
// response, r or u is NULL.
void ss_response_velocity(ss_response *response, const double *r, double *u, double *v);

// Returns ss_measure of r with u computed here, into u (scratch of the caller, [dim ncontacts]).
// Where rounding could matter residuals have the digits of two doubles: the error is right to a
// thousandth. Returns ss_measures_none if one of the three is NULL.
ss_measures ss_response_judge(ss_response *response, const double *r, double *u);

#pragma GCC visibility pop

// ss_response_new, internal, with the factor of M in *room, made and left there where it is empty
// (ss_mass_find): whose it is makes no difference to u, which is refined. The team, or NULL, helps
// as long as the response lives; it makes no difference either.
ss_status ss_response_with(const ss_problem *p, struct ss_mass **room, struct ss_team *team,
                           ss_response **response, ss_error *e);
