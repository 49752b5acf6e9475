// solvers/sweep/sweep.h -- one pass over the contacts, each solved with the newest impulses of the
// others
// ([D11] Algorithm 1, with its sign and the place of its freezing test mended):
//
//     b_i' = u_i - W_ii r_i,     u_i = b_i + sum_j W_ij r_j                                  (1)
//     r_i <- local solution of   u = W_ii r + b_i',  (r, u) in C(mu_i)                       (2)
//
// |f_i| is what the judge bounds of a contact: the larger of |f(r^_i, u^_i)|_inf and
// |FB(s r_N, u_N)|/2.
//
// visit=needed passes over contacts that rest: those whose |f_i| was seen to be at most half the
// tolerance and cannot have grown beyond it since (solvers/sweep/resting.h). Under another law than
// Coulomb's the open contacts alone rest; with freezing none does.
//
// Freezing skips contacts that have little to gain:
//     on     for `skip` sweeps when s |dr_i| and |f_i| before (2) are below share e, e the last
//            sweep's largest |f_i| (share 1e-2)
//     paper  when |dr_i| < share max|r| or |r_i| < share max|r| ([D11] 6; the numbers are ours:
//            share 1e-3, skip 10). It can freeze all contacts at once.
//     absolute  when |dr_i| < eps or |r_i| < eps, in the 2-norm, from the first sweep on: [D11]
//            Algorithm 1 to the letter
// wake=neighbour ends the rest of a contact when an impulse it is coupled to moved by more than the
// rule lets pass. Of a frozen contact the tally knows its impulse alone; every full evaluation has
// all contacts.
//
// With rho, in kg, quantities are in the units of [D11]: its equations have rho = 1, lengths in cm and
// as unit of mass what makes the two agree. f, u and r of those are 100 f, 100 u and 100 r/rho of ours,
// and f is that of the one scale 1/rho in every contact: in `ltol`, in `eps`, and in Newton's methods,
// which then iterate in r/rho.
#pragma once

#include <math.h>
#include "base/team.h"
#include "solvers/contact.h"
#include "solvers/sweep/coupling.h"
#include "solvers/sweep/order.h"

// A velocity of [D11]'s units in m/s.
#define SS_D11_VELOCITY 0.01

// Work in visits. Passing over a contact that rests, which a sweep does with most, costs 0.04 of
// one.
static inline double ss_sweep_work(double visits, double contacts, int sweeps)
{
    return visits + 0.04 * contacts * sweeps;
}

// What is left to do until an estimate meets its goal, where it fell from `before` to `now` in so
// much work; infinity where it did not fall.
static inline double ss_sweep_work_left(double before, double now, double goal, double work)
{
    return now < before ? log(now / goal) / log(before / now) * work : INFINITY;
}

typedef enum ss_freeze {
    SS_FREEZE_OFF,
    SS_FREEZE_ON,
    SS_FREEZE_PAPER,
    SS_FREEZE_ABSOLUTE
} ss_freeze;
typedef enum ss_assembly { SS_ASSEMBLY_BLOCKS, SS_ASSEMBLY_NAIVE } ss_assembly;
typedef enum ss_wake { SS_WAKE_TIME, SS_WAKE_NEIGHBOUR } ss_wake;

typedef enum ss_visit { SS_VISIT_NEEDED, SS_VISIT_ALL } ss_visit;

typedef struct ss_sweep_settings {
    int form;      // ss_coupling_form
    int assembly;  // ss_assembly; naive implies the explicit form
    int order;     // ss_order_kind
    uint64_t seed; // of a random order
    int freeze;    // ss_freeze
    int skip;      // sweeps that a frozen contact rests
    double share;  // 0: the rule's own
    double eps;    // of freeze=absolute, in [D11]'s units
    int wake;      // ss_wake
    int visit;     // ss_visit
    double ltol;   // local tolerance over V, with rho in [D11]'s units; 0: max(tol / 10, 1e-14) V
    double rho;    // kg; 0: scales of our own
} ss_sweep_settings;

// What a sweep finds out about the contacts that it visits, and of those that are frozen `largest`.
// Of those that rest it knows that |f_i| is at most `rest` of the sweeper.
typedef struct ss_tally {
    double estimate;   // max of |f_i| just before (2), m/s; 0 where it is not wanted
    double largest;    // max |r_i|_inf
    double step, size; // sums of squares of dr and of r
    long moved;        // contacts whose impulse changed by more than rounding
    long frozen;       // contacts passed over because of that
    long visits;       // contacts neither frozen nor at rest for sure
    ss_local_counters counters;
} ss_tally;

typedef struct ss_sweeper {
    const ss_task *task;
    const ss_sweep_settings *settings;
    ss_ordered ordered;
    ss_coupling *coupling; // of ordered.view; its contacts are the visits
    ss_local_goal goal;
    bool estimates;   // tally.estimate is wanted
    bool exact;       // the law is Coulomb's: its residual says when a contact rests
    bool lazy;        // contacts rest
    double rest;      // |f_i| of those that may, m/s
    int sweeps;       // done so far
    int *rests_until; // [n] sweep from which the contact is visited again; NULL without freezing
    double freeze_step, freeze_residual, freeze_impulse; // below these a contact may freeze
    ss_team *team;                                       // NULL: one thread
    ss_tally *tallies;                                   // [stripes] of the present sweep
    ss_tally last;                                       // of the last sweep
    long frozen, visits;                                 // of all sweeps
    int *moved_at; // [n] the last sweep that moved the contact; NULL: not asked for; borrowed
    ss_local_counters counters;
} ss_sweeper;

// r [dim ncontacts] is the start. SS_OK and *made NULL where it is stopped.
ss_status ss_sweeper_new(const ss_task *task, const ss_sweep_settings *settings, const double *r,
                         const ss_stop *stop, ss_sweeper **made, ss_error *e);
void ss_sweeper_free(ss_sweeper *sweeper);

void ss_sweep(ss_sweeper *sweeper); // fills `last`
void ss_sweep_thaw(ss_sweeper *sweeper);
// With freezing, after the visit of contact i, whose impulse has become r by dr.
void ss_sweep_consider_freezing(ss_sweeper *sweeper, int i, double residual, const double dr[3],
                                const double r[3]);

// The impulses, in the problem's own order, [dim ncontacts].
void ss_sweep_get(const ss_sweeper *sweeper, double *r);
void ss_sweep_set(ss_sweeper *sweeper, const double *r);

// For methods that begin their settings with an ss_sweep_settings: as ss_global_solver's.
bool ss_sweep_takes_threads(const ss_method *method);
const char *ss_sweep_key_needs(const ss_method *method, const char *key);

// What has been done so far, into the counts of a result.
void ss_sweep_count(const ss_sweeper *sweeper, ss_result *result);
