// solvers/sweep/coupling.h -- W as a sweep sees it: what one contact's impulse does to all
// velocities.
//
// Two forms behind one interface (problems/matrix/delassus.h), chosen once:
//
//     explicit      u_i = b_i + sum_j W_ij r_j
//     matrix-free   u_i = w_i + sum_k G_ik z_k,   z_k += G_ik' dr_i
//
// A visit reads a row of blocks in the explicit form, and two ends in the matrix-free form, however
// many contacts a body has. Where all bodies are bands, those who only see and push get ends that are
// sparse (problems/matrix/sparse_ends.h): z is v then, and G is H' to see and (M^-1 H)' to push.
//
// Both keep r; the matrix-free form also keeps z = z0 + G' r, which drifts by rounding and is
// computed afresh now and then. Impulses are stored four numbers a contact, the unused ones zero.
#pragma once

#include "base/team.h"
#include "problems/matrix/sparse_ends.h"
#include "solvers/sweep/resting.h"

typedef enum ss_coupling_form {
    SS_FORM_AUTO,
    SS_FORM_EXPLICIT,
    SS_FORM_MATRIX_FREE,
    SS_FORM_NAIVE,  // explicit, assembled naively: only to measure what that costs
    SS_FORM_SWEEPS, // automatic, of those who see and push alone: ends may be sparse
} ss_coupling_form;

typedef struct ss_coupling {
    int dim, n;
    bool is_explicit;
    ss_local *contact;   // [n] W_ii, mu, embedded in space; b is the scratch of a visit
    double *r;           // [4 n]
    double *b;           // [dim n] velocity at r = 0
    double *memo;        // [n] ss_local_goal.memo of each contact
    double *compliance;  // [n] tr(W_ii)/dim
    double s, V;         // the judge's scales (problems/coulomb.h)
    ss_blocks W;         // explicit form
    ss_whitened *white;  // matrix-free form
    double *z;           // matrix-free form, as white->body_start places it
    ss_resting *resting; // which contacts rest; NULL if not wanted, or not known
    const double *mu;    // [n] the problem's
    double *u;           // [dim n] the velocities of the last ss_coupling_measure
    double *packed;      // [dim n + n] scratch
    double *sizes;       // scratch of ss_coupling_rounding, as long as z
    ss_team *team;       // who helps with all contacts at once; borrowed, NULL: nobody
} ss_coupling;

// A problem in local form has the explicit form only, and no such bounds. `resting` asks for it: it
// is for those who sweep, and costs something at each move. The problem outlives the coupling. SS_OK and
// *coupling NULL where it is stopped.
ss_status ss_coupling_new(const ss_problem *p, ss_coupling_form form, bool resting,
                          const ss_stop *stop, ss_coupling **coupling, ss_error *e);
// The same; room as in ss_mass_find. The team, or NULL, helps to make it, and becomes its own.
ss_status ss_coupling_with(const ss_problem *p, ss_mass **room, ss_team *team,
                           ss_coupling_form form, bool resting, const ss_stop *stop,
                           ss_coupling **coupling, ss_error *e);
void ss_coupling_free(ss_coupling *coupling);

// Sets r [dim n] and what follows from it.
void ss_coupling_set(ss_coupling *coupling, const double *r);
void ss_coupling_get(const ss_coupling *coupling, double *r);
// r alone, for ss_coupling_measure, or where it is only fetched again.
void ss_coupling_put(ss_coupling *coupling, const double *r);
// z afresh from r; nothing to do in explicit form.
void ss_coupling_refresh(ss_coupling *coupling);

// u of contact i at the present r, three components.
void ss_coupling_velocity(const ss_coupling *coupling, int i, double u[3]);
// Where ends are sparse: what a move of contact i reads is asked for, if it has an impulse.
static inline bool ss_coupling_fetches(const ss_coupling *coupling)
{
    return !coupling->is_explicit && coupling->white->sparse != NULL;
}
static inline void ss_coupling_fetch(const ss_coupling *coupling, int i)
{
    if (coupling->r[4 * (size_t)i] != 0.0) {
        ss_sparse_ends_fetch(coupling->white, i);
    }
}
// r_i becomes r.
void ss_coupling_move(ss_coupling *coupling, int i, const double r[3]);
// r and z are others than they were, by no move. They were r [4 n] and z; NULL where that is not
// known, z also in explicit form, which has none.
void ss_coupling_leapt(ss_coupling *coupling, const double *r, const double *z);

// The same for vectors of the caller. Explicit form: u = b_i + sum_j W_ij r_j with r [4 n].
// Matrix-free form: u = w_i + G_i z, and z += G_i' dr.
void ss_coupling_row(const ss_coupling *coupling, int i, const double *r, double u[3]);
void ss_coupling_see(const ss_coupling *coupling, int i, const double *z, double u[3]);
// z of one body alone: z0 + G' r, its contacts in order. Not where ends are sparse.
void ss_coupling_gather(const ss_coupling *coupling, int body, const double *r, double *z);
void ss_coupling_push(const ss_coupling *coupling, int i, const double dr[3], double *z);
// z += G' r of all contacts, r [4 n], with the team: a body's contacts in order. Not where ends are sparse.
void ss_coupling_push_all(const ss_coupling *coupling, const double *r, double *z);

// Nanoseconds for those who share a loop over contacts that sees or pushes, or reads a row, of each.
#define SS_COUPLING_NS 25.0

// All measures at the present r, every velocity computed afresh.
ss_measures ss_coupling_measure(ss_coupling *coupling);
// The same by z as it has become.
ss_measures ss_coupling_measure_present(ss_coupling *coupling);
// What rounding leaves unknown of f at the present r, in m/s: eps (max |s r_i| + max t_i), t_i the sum
// of the sizes of all products and terms in u_i, component by component.
double ss_coupling_rounding(const ss_coupling *coupling);
