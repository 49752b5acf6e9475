// problems/problem.h -- one time step with frictional contacts, as data.
//
//     global form    M v = H r + f,   u = H' v + w,   (r_i, u_i) in C(mu_i)                    (1)
//     local form     u = W r + b,                     (r_i, u_i) in C(mu_i)                    (2)
//
// M is symmetric positive definite, block diagonal by body; then (1) is (2) with W = H' M^-1 H and
// b = H' M^-1 f + w. W may be unsymmetric (gyroscopic terms) and singular. The law C(mu) is in
// coulomb.h. Contact i owns components d i .. d i + d - 1, its normal first; H has one column a
// component. A contact may join two bodies, a body and the ground, or two points of one body.
// Units: v in the units of its dofs, u b w in m/s, r in N s.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "problems/coulomb.h"
#include "problems/matrix/sparse.h"

#pragma GCC visibility push(default)

typedef enum ss_form { SS_LOCAL, SS_GLOBAL } ss_form;

// An answer or a guess. Each array is owned, or NULL where it is not known; all three are in a
// guess that a file holds and that cannot be used.
typedef struct ss_state {
    double *r; // [dim ncontacts]
    double *u; // [dim ncontacts]
    double *v; // [ndofs]
} ss_state;

// The words of a stored answer when it was written are a claim: the judge starts afresh.
typedef struct ss_claim {
    char solver[160];     // the solver's spec; "" where unknown
    double tolerance;     // NaN where unknown
    ss_measures measures; // NaN where unknown
    char date[32];        // ISO 8601, UTC
    char host[72];
} ss_claim;

// The origin of a problem. Not known is "", NaN, has_seed false, and step -1.
typedef struct ss_provenance {
    char scene[96];
    bool has_seed;
    uint64_t seed;
    int step;
    double time; // s
    double dt;   // s
    char units[32];
    char frame[64];
    char producer[64];
    char commit[48];
} ss_provenance;

typedef struct ss_problem {
    ss_form form;
    int dim;       // 2 or 3
    int ncontacts; // >= 1
    int ndofs;     // columns of M; 0 in local form
    double *mu;    // [ncontacts] owned, as is all that follows

    ss_sparse W; // local form: [dim ncontacts] square
    double *b;   // local form: [dim ncontacts]

    ss_sparse M; // global form: [ndofs] square
    ss_sparse H; // global form: ndofs x (dim ncontacts)
    double *f;   // global form: [ndofs]
    double *w;   // global form: [dim ncontacts]

    int nguesses;
    ss_state *guesses; // [nguesses]
    bool has_solution;
    ss_state solution; // where has_solution
    ss_claim claim;    // where has_solution

    ss_provenance provenance;
    char *title;       // NULL where unknown
    char *description; // NULL where unknown
    char *math_info;   // NULL where unknown
} ss_problem;

// Makes an empty problem: no arrays, provenance and claim unknown. NULL without memory.
ss_problem *ss_problem_new(void);
void ss_problem_free(ss_problem *p); // takes NULL and half-built problems

void ss_state_free(ss_state *s); // leaves an empty state; takes NULL
ss_provenance ss_provenance_unknown(void);
ss_claim ss_claim_unknown(void);
extern const ss_field ss_claim_fields[]; // the attributes of /solution

// Returns SS_BAD_INPUT unless p has a contact and all that its form needs: its arrays, and matrices
// of the right size. Indices are not looked at. Every function that takes a problem and can fail
// asks this first; p may be NULL.
ss_status ss_problem_check_sizes(const ss_problem *p, ss_error *e);

// Copies all of p, with arrays of its own.
ss_status ss_problem_copy(const ss_problem *p, ss_problem **copy, ss_error *e);

// Computes W and b: a copy in local form, with mu, guesses, solution (without v),
// provenance and strings. A problem in local form is copied as it is. SS_BAD_INPUT where W or b
// comes out as a number that is not finite.
ss_status ss_problem_to_local(const ss_problem *p, ss_problem **local, ss_error *e);

// Writes 64 hexadecimal digits over form, sizes and arrays in a fixed order; not over guesses,
// solution, provenance and strings, nor over the layout or compression of a file; "" if the sizes
// are wrong.
void ss_problem_sha256(const ss_problem *p, char hex[65]);

#pragma GCC visibility pop
