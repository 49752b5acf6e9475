// strands/step/step.h -- one time step of a world: contacts, the one-step problem, its answer.
//
//     M v = f + H r,   u = H' v + w,   (r_i, u_i) in C(mu_i)         (problems/problem.h)
//
// Row block k of M and f is strand k's (system.h). Column block i of H is J_A(s_i)' E_i of contact
// i on strand A minus J_B(s_i)' E_i on strand B, J at abscissa a of a segment being (1 - a) and a
// of those at its vertices. w_i is the relative velocity that scripts alone give, in the frame E_i,
// plus the gap term on its normal part:
//     none        nothing; contacts with gap > 0 are left out
//     positive    max(gap, 0) / h
//     baumgarte   positive + beta min(gap, 0) / h, beta |gap| / h at most 0.1 m/s (default)
// A swept contact (continuous detection) has the gap of its two points along its normal at the
// start of the step. A contact that a look has added (`looks`) keeps two points from ending deeper
// than the segments begin: w_N has its `ahead` / h, too (contact/collide.h). The script of a point
// is how far its body carries it in the step, over h. Strands without a contact are left out of the
// problem: they have no say in it, and move by their own M v = f. Contacts between points that no
// dof moves are left out, too.
//
// A step is rejected, and tried again with half the size, when its answer, its energy or its motion
// is no use (explosion), or when strands went through each other unseen (reach): a pair that was no
// contact is found after the step deeper than reach x radius, or on the other side of each other. A
// pair that passes through and is out of the margin again in one step is seen by continuous
// detection alone. At dt_min a step that reached too far is taken as it is; the others are errors.
// The solver is handed in: nothing here judges an answer.
#pragma once

#include "strands/step/batch.h"
#include "strands/world.h"
#include "problems/problem.h"
#include "strands/contact/collide.h"
#include "strands/system.h"
#include "strands/contact/track.h"
#include "strands/schemes/scheme.h"

#include <stdbool.h>

typedef enum ss_gap { SS_GAP_NONE, SS_GAP_POSITIVE, SS_GAP_BAUMGARTE } ss_gap;

// What the solver says of its answer.
typedef struct ss_step_answer {
    const char *status; // of a result row: "solved", "max_iter", ...
    bool solved;        // to its tolerance
    int iterations;
    double fb, fb_abs, natural, normal;
    double left; // error that the solver believes in (ss_result.own_error), at most its tolerance
    double seconds, setup_seconds, sweep_seconds;
} ss_step_answer;

// r [3 ncontacts]: in the start, out the answer, finite.
typedef struct ss_step_solver {
    ss_status (*solve)(void *context, const ss_problem *p, double *r, ss_step_answer *answer,
                       ss_error *e);
    void *context;
    // Judges r of the problem that was solved last and changes *answer, which `solve` has filled.
    // It is called once, when the step is taken. NULL: *answer stays as `solve` has filled it.
    ss_status (*judge)(void *context, const ss_problem *p, const double *r, ss_step_answer *answer,
                       ss_error *e);
    // Called with each iterate, from the second on, of a scheme that needs no solver (thesis): its
    // problem and r, and the report so far. NULL: not called.
    ss_status (*see)(void *context, const ss_problem *p, const double *r,
                     const ss_step_report *report, ss_error *e);
} ss_step_solver;

typedef struct ss_step_options {
    double dt;     // s, the largest step
    double dt_min; // s
    // Needed until the stepper is made; NULL: that of the model of the first strand
    const ss_scheme_choice *scheme;
    ss_gap gap;
    double beta; // share of a penetration that a step takes back
    // m: contacts are sought within it; 0: dt x largest |u_N| of the step before, without gap
    // terms, but 0.2 radius at least and 1 at most
    double margin;
    double reach; // in radii, see above; 0: no step is rejected for it
    // a step is rejected when its kinetic energy is more than this factor times what motion,
    // elasticity, weight and scripts could give, or when a point moves by more than its strand is
    // long; 0: only when it is not finite
    double explosion;
    bool continuous; // continuous collision detection
    // How often at most newton and thesis look where a step ends, to add contacts where strands
    // would
    int looks;
    // overlap; not with the gap term none
    bool contacts; // false: none at all; equal strands may then be stepped side by side
    int threads;   // that share the strands; the bits do not depend on it; 0: one
    int alone; // worlds with fewer dofs are one thread's: waking another takes longer than it saves
} ss_step_options;

// Returns 2 ms, 0.1 ms, NULL, baumgarte, 0.2, 0, 1, 1e3, false, 0, true, 0, 1500.
ss_step_options ss_step_defaults(void);

// What happened in a step; the columns of --stats are made of these.
typedef struct ss_step_report {
    double time, dt;       // s, at its end
    int rejected;          // tries with larger steps
    ss_step_reason reason; // of the last rejection; DONE without
    int contacts;          // detected
    int contacts_obstacle; // of these against obstacles
    int active;            // r_N > 0
    int hits;              // known from the step before
    // Status "" where there was no contact; of several problems the last, with the sums of
    // iterations and seconds
    ss_step_answer answer;
    double change;     // m/s: what the last problem changed (schemes/newton.c); 0 of a linear step
    double change_rms; // m/s: of thesis, the same as an rms over all places
    double impulse_change; // N s: mean |change of r_i| in the last local pass (scheme thesis)
    int looks;             // at where the step ends, for more contacts
    int iterates;          // problems that the scheme solved, or would have with contacts
    // Of the scheme ida, else 0: non-linear iterations of the strands in this step, and steps of
    // the formula of all strands.
    int nonlinear_least, nonlinear_most, formula_steps;
    double nonlinear_mean;
    ss_stiffness stiffness; // the last kind of K that a strand needed (model.h)
    // Systems of a strand whose diagonal was lifted, for the step's factor or for the solver's
    int lifted;
    // Sum r.(H' v + scripted velocity), J: <= 0 up to the solver's error and the work of
    // baumgarte's pushing out
    double dissipation;
    ss_energy before; // energies of all strands, at its start
    ss_energy energy; // at its end
    double length;    // m, of all polylines at its end
    // Share by which a strand is longer at its end than its samples say, the most of any; of
    // strands side by side of all together.
    double stretch;
    // m: the deepest overlap of all vertices and edges at its end (ss_collider_depth); NaN without
    // contacts and of strands side by side
    double penetration;
    double max_speed; // m/s, of points against the body of their root
    double collide_seconds, assemble_seconds, solve_seconds, seconds;
    // Of a step by iterates, shares of the above: the systems of the first iterate; systems and
    // velocities of the later ones; of both the factors, where the scheme tells them (thesis).
    double prepare_seconds, dynamic_seconds, factor_seconds;
    // Time of the word on the answer; in a scheme without a solver also that of its problem.
    double judge_seconds;
} ss_step_report;

// Whether the numbers of options are those that a stepper takes.
ss_status ss_step_options_check(const ss_step_options *options, ss_error *e);
// Bodies, obstacles, strands and parameters of the world must not change while a stepper has it;
// q, v and time may, between two steps. q and v may be other arrays after a step.
ss_stepper *ss_stepper_new(ss_world *w, const ss_step_options *options, ss_step_solver solver,
                           ss_error *e); // NULL with a sentence; the world is the caller's
void ss_stepper_free(ss_stepper *s);

// One accepted step; dt is halved on rejection and grows by 1.5 after 10 good steps up to
// options.dt. Where no step of dt_min succeeds: SS_BAD_INPUT (or what the solver returned) with a
// sentence, and the world as it was before the step. Lacking memory: SS_SYSTEM.
ss_status ss_stepper_step(ss_stepper *s, ss_step_report *report, ss_error *e);

// The spec of the scheme that it steps by.
const char *ss_stepper_scheme(const ss_stepper *s);
// Whether it finds the impulses of contacts itself.
bool ss_stepper_is_alone(const ss_stepper *s);

// The problem of the last accepted step, with the impulses that it started from as its first guess
// and provenance as far as it is known here (step, counted from 0; time of its start; dt, units,
// frame; math_info says the scheme, the iterate and the kind of K in M). NULL where it had no
// contact. Owned by the stepper, until its next step. The answer r and the velocity v beside it; a
// scheme that finds r itself stores both in the problem, with its spec as their solver; touches are
// those of the problem, in its order.
const ss_problem *ss_stepper_problem(const ss_stepper *s, const double **r, const double **v);
const ss_touch *ss_stepper_touches(const ss_stepper *s, int *count);
// Where all points of the world are after that step; NULL of strands side by side. Valid as long as
// the problem is.
const ss_vec3 *ss_stepper_points(const ss_stepper *s); // [npoints] m
// The frames of these touches: r_i is the impulse E_i r_i on strand_a in the world.
const ss_mat3 *ss_stepper_frames(const ss_stepper *s);

// ---- Rejections, and where contacts are sought
//
// doc/strands.md, "Step control".

// The margin of detection for a step h after one with normal velocities up to `speed`.
double ss_step_margin(const ss_step_options *o, double radius, double h, double speed);

// Whether the pair `after` went too far without being among `contacts` (step.h).
bool ss_step_reached_too_far(const ss_world *w, const ss_step_options *o, const ss_snapshot *from,
                             const ss_touch *contacts, int ncontacts, const ss_touch *after);
double ss_step_length(const ss_world *w, const ss_snapshot *at);
double ss_step_strand_length(const ss_world *w, int k, const ss_snapshot *at);
// Returns the length that a strand was made with, m: that of its samples.
double ss_step_made_length(const ss_world *w, const ss_strand *strand);

// Whether the strands that were at `from` with energy `before` are somewhere and do something
// sensible at `to`.
bool ss_step_exploded(const ss_world *w, const ss_step_options *o, const ss_snapshot *from,
                      const ss_snapshot *to, const ss_energy *before, const ss_energy *after);
