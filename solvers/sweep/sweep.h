// solvers/sweep/sweep.h -- one pass over the contacts, each solved with the newest impulses of the
// others ([D11] Algorithm 1, with its sign and the place of its freezing test mended):
//
//     b_i' = u_i - W_ii r_i,     u_i = b_i + sum_j W_ij r_j                                  (1)
//     r_i <- local solution of   u = W_ii r + b_i',  (r, u) in C(mu_i)                       (2)
//
// |f_i| is the error of a contact that the judge bounds: the larger of |f(r^_i, u^_i)|_inf and
// |FB(s r_N, u_N)|/2.
//
// visit=needed passes over contacts that rest: those whose |f_i| was seen to be at most half the
// tolerance and cannot have grown beyond it since (solvers/sweep/coupling.h). Under another law
// than Coulomb's the open contacts alone rest; with freezing none does.
//
// Freezing skips contacts that have little to gain:
//     on     for `skip` sweeps when s |dr_i| and |f_i| before (2) are below share e, e the last
//            sweep's largest |f_i| (share 1e-2)
//     paper  when |dr_i| < share max|r| or |r_i| < share max|r| ([D11] 6; the numbers are ours:
//            share 1e-3, skip 10). It can freeze all contacts at once.
//     absolute  when |dr_i| < eps or |r_i| < eps, in the 2-norm, from the first sweep on: [D11]
//            Algorithm 1 to the letter
// wake=neighbour ends the rest of a contact when an impulse that it is coupled to moved by more
// than the rule lets pass. For a frozen contact the tally knows its impulse alone; every full
// evaluation has all contacts.
//
// With rho, in kg, quantities are in the units of [D11]: its equations have rho = 1, lengths in cm
// and a unit of mass that makes the two agree. There f, u and r are 100 f, 100 u and 100 r/rho of
// ours, and f has the one scale 1/rho in every contact: in `ltol`, in `eps`, and in Newton's
// methods, which then iterate in r/rho.
#pragma once

#include "base/team.h"
#include "solvers/contact.h"
#include "solvers/sweep/coupling.h"
#include "solvers/sweep/order.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SS_D11_VELOCITY 0.01 // unit of velocity of [D11], m/s

// Returns work in visits. Passing over a contact that rests, which a sweep does with most, costs
// 0.04 of a visit.
static inline double ss_sweep_work(double visits, double contacts, int sweeps)
{
    return visits + 0.04 * contacts * sweeps;
}

// Returns the work that is left until an estimate meets its goal, where it fell from `before` to
// `now` in so much work; infinity where it did not fall.
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
    uint64_t seed; // seeds a random order
    int freeze;    // ss_freeze
    int skip;      // sweeps that a frozen contact rests
    double share;  // 0 means that of the rule
    double eps;    // threshold of freeze=absolute, in [D11]'s units
    int wake;      // ss_wake
    int visit;     // ss_visit
    double ltol;   // local tolerance over V, with rho in [D11]'s units; 0: max(tol / 10, 1e-14) V
    double rho;    // kg; 0 means scales of our own
} ss_sweep_settings;

// A sweep's findings about the contacts that it visits; `largest` includes frozen contacts.
// Contacts that rest have an |f_i| of at most `rest` of the sweeper.
typedef struct ss_tally {
    double estimate;   // max of |f_i| just before (2), m/s; 0 where it is not wanted
    double largest;    // max |r_i|_inf
    double step, size; // sums of squares of dr and of r
    long moved;        // number of contacts whose impulse changed by more than rounding
    long frozen;       // number of contacts passed over because they are frozen
    long visits;       // number of contacts neither frozen nor at rest for sure
    ss_local_counters counters;
} ss_tally;

typedef struct ss_sweeper {
    const ss_task *task;
    const ss_sweep_settings *settings;
    ss_ordered ordered;
    ss_coupling *coupling; // couples the visits, which are the contacts of ordered.view
    ss_local_goal goal;
    bool estimates;   // true if tally.estimate is wanted
    bool exact;       // true if the law is Coulomb's: its residual says when a contact rests
    bool lazy;        // true if contacts rest
    double rest;      // largest |f_i| of a contact that may rest, m/s
    int sweeps;       // number of sweeps done
    int *rests_until; // [n] sweep from which the contact is visited again; NULL without freezing
    double freeze_step, freeze_residual, freeze_impulse; // below these a contact may freeze
    ss_team *team;                                       // NULL for one thread
    ss_tally *tallies;                                   // [stripes] tallies of the present sweep
    ss_tally last;                                       // tally of the last sweep
    long frozen, visits;                                 // sums over all sweeps
    int *moved_at; // [n] last sweep that moved the contact; NULL if nobody asks; borrowed
    ss_local_counters counters;
} ss_sweeper;

// Makes a sweeper that starts from r [dim ncontacts]. Returns SS_OK with *made NULL where it is
// stopped.
ss_status ss_sweeper_new(const ss_task *task, const ss_sweep_settings *settings, const double *r,
                         const ss_stop *stop, ss_sweeper **made, ss_error *e);
void ss_sweeper_free(ss_sweeper *sweeper);

void ss_sweep(ss_sweeper *sweeper); // fills `last`
void ss_sweep_thaw(ss_sweeper *sweeper);
// Called with freezing, after a visit that changed the impulse of contact i by dr to r.
void ss_sweep_consider_freezing(ss_sweeper *sweeper, int i, double residual, const double dr[3],
                                const double r[3]);

// Get and set the impulses, in the problem's own order, [dim ncontacts].
void ss_sweep_get(const ss_sweeper *sweeper, double *r);
void ss_sweep_set(ss_sweeper *sweeper, const double *r);

// Writes the counts so far into a result.
void ss_sweep_count(const ss_sweeper *sweeper, ss_result *result);

// These serve as takes_threads and key_needs of an ss_global_solver whose settings begin with an
// ss_sweep_settings.
bool ss_sweep_takes_threads(const ss_method *method);
const char *ss_sweep_key_needs(const ss_method *method, const char *key);

// ---- Options of a sweep, for every global solver that sweeps
//
// The settings of such a solver begin with an ss_sweep_settings.

extern const char *const ss_form_names[];  // auto, explicit, matrix-free
extern const char *const ss_visit_names[]; // needed, all
extern const char *const ss_order_names[]; // natural, reverse, random:, stripes

#define SS_FORM_ABOUT "W by blocks, or H and the factor of M; auto: the cheaper one"

#define SS_SWEEP_KEYS                                                                              \
    SS_CHOICE_KEY("form", sweep.form, ss_form_names, .about = SS_FORM_ABOUT),                      \
        SS_CHOICE_KEY("order", sweep.order, ss_order_names,                                        \
                      .seed_place = offsetof(settings, sweep.seed),                                \
                      .about = "of the contacts in a sweep; stripes is what --threads needs"),     \
        SS_CHOICE_KEY("visit", sweep.visit, ss_visit_names,                                        \
                      .about = "needed: passes over contacts that rest for sure"),                 \
        SS_REAL_KEY("ltol", sweep.ltol, 0, 1,                                                      \
                    .about = "local tolerance over the velocity scale; 0: a tenth of --tol")

// The option form= of methods whose settings have it themselves.
#define SS_FORM_KEY SS_CHOICE_KEY("form", form, ss_form_names, .about = SS_FORM_ABOUT)
