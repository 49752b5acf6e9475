// strands/step/systems.h -- M v = f of all strands at once, and its factors (internal).
//
// Dofs that clamps hold are eliminated: with c those and f the free ones, M_ff v_f = f_f - M_fc
// v_c.
#pragma once

#include "base/team.h"
#include "strands/system.h"

// Scratch of a thread: M and f of a strand with held dofs, and what system.h needs.
typedef struct ss_systems_room {
    double *whole, *right;
    ss_system_scratch *scratch;
} ss_systems_room;

typedef struct ss_systems {
    ss_band *M, *L; // [nstrands] of the free dofs, into the arrays below; L is a factor (band.h)
    double *M_numbers, *L_numbers; // the bands of all strands
    double *D;                     // [nv] scales of the factors
    double *f;                     // [nv] of the free dofs: those of strand k begin at its v
    double *held;                  // [nv] velocities of the held dofs, 0 for the free ones
    int *free, *place;             // [nv] dof of the i-th free one; its i, or -1 where it is held
    double *end, *after;           // [nv] of models that project (model.h)
    double *residual;              // [nv] scratch
    ss_stiffness *kinds;           // [nstrands] of the K in M
    bool *definite;                // [nstrands] whether M has a factor
    double *lift;                  // [nstrands] share by which the diagonal of M is lifted
    bool particles;                // of the iterate that they were formed about
    int lifted;                    // strands whose M has a lifted diagonal
    int nrooms;
    ss_systems_room *rooms; // [nrooms]
    ss_team *team;          // of as many threads; NULL: one
} ss_systems;

// Work on strand k; `thread` has its room. No result may depend on the order.
typedef void ss_strand_work(void *context, int k, int thread);
void ss_systems_each(const ss_systems *s, int nstrands, ss_strand_work *work, void *context);

// Whether the method of the strand's model makes v of M and f (system.h).
static inline bool ss_systems_project(const ss_systems *s, const ss_strand *strand)
{
    return strand->model->project != NULL && (strand->model->energy == NULL || s->particles);
}

// Room for a world as it is now, threads >= 1. False without memory; free what it was given in
// every case.
bool ss_systems_init(ss_systems *s, const ss_world *w, int threads);
void ss_systems_free(ss_systems *s);

// The velocities `held` for a step h from the state `from`, at whose end the bodies are at `to`:
// they carry q to where the clamps are, way v + offset being what moves it; offset [nv] may be
// NULL.
void ss_systems_script(ss_systems *s, const ss_world *w, const ss_world_state *from,
                       const ss_snapshot *to, double h, double way, const double *offset);

// M, f and the factors about an iterate, where `at` is. K is of it->kind, or of the next kind that
// has a factor, strand by strand. False where an M is not positive definite with any.
bool ss_systems_form(ss_systems *s, const ss_world *w, const ss_iterate *it, const ss_snapshot *at);
// The same of strand k, in the room of `thread`.
bool ss_systems_form_strand(ss_systems *s, const ss_world *w, int k, const ss_iterate *it,
                            const ss_placed *at, int thread);
// After a solver has refused M: lifts the diagonal of strand k by the next share, and says so, if a
// pivot is nearly rounding and the last share is not reached. False if M has no factor then.
bool ss_systems_lift(ss_systems *s, const ss_world *w, int k, const ss_iterate *it, bool *lifted);
// The factor of M of strand k. False where it is not positive definite.
bool ss_systems_factor(ss_systems *s, const ss_world *w, int k);
// (v - from)' M (v - from) of strand k over its free dofs; both [nv of the strand].
double ss_systems_square(const ss_systems *s, const ss_world *w, int k, const double *v,
                         const double *from);
// The last kind of K that ss_systems_form took for a strand.
ss_stiffness ss_systems_kind(const ss_systems *s, const ss_world *w);

// The velocity [nv of the strand] of strand k at the end of a step in which nothing touches it.
void ss_systems_end(const ss_systems *s, const ss_world *w, int k, double *v);

// v = M^-1 right of strand k, `right` [its free dofs], and the held ones beside; refined once, so
// that every row holds to rounding.
void ss_systems_solve(const ss_systems *s, const ss_world *w, int k, const double *right,
                      double *v);
// The same of strands first .. first + count - 1, at most a few, the right sides side by side;
// NULL: what ss_systems_end gives. As many of one shape are solved at once.
#define SS_SYSTEMS_FEW 4
void ss_systems_solve_few(const ss_systems *s, const ss_world *w, int first, int count,
                          const double *const *right, double *const *v);

// ---- slopes

// Newton's step of one strand with all slopes of its residual (internal).
//
// M of an iterate (system.h) is without the slopes of inertia and load with q and v, which are not
// symmetric. Where J changes and nothing touches the strand, the free dofs take the step of
//
//     g(v) = M v - f about q_n (+) h (way v + offset),   G dv = -g(v*),   v <- v* + dv
//
// with G by differences of g, or of the model's residual in linear time (model.h), in units in
// which the diagonal of M is 1.

typedef struct ss_slopes ss_slopes; // memory that is kept from step to step

// NULL without memory.
ss_slopes *ss_slopes_new(const ss_world *w);
void ss_slopes_free(ss_slopes *s); // takes NULL

// v [nv] of strand k, whose systems are formed about the iterate; it stays where G is singular.
// `systems` gives its scales, and its scratch is used.
void ss_slopes_step(ss_slopes *s, const ss_world *w, int k, const ss_iterate *it,
                    const ss_systems *systems, double *v);
