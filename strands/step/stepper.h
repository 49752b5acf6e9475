// strands/step/stepper.h -- a stepper from the inside, and the tools of schemes (internal).
//
// A try goes from `here`, where the world is, to `there`, with q and v of `trial`. The world
// changes only when a try is accepted. The touches that the reach test finds `there` are the
// contacts of the next step, so that a step searches once.
#pragma once

#include "strands/step/batch.h"
#include "strands/step/step.h"
#include "strands/buffer.h"
#include "strands/step/systems.h"

// The one-step problem, (1) of step.h. Strands without a contact are left out: they have no say in
// the contacts and would only cost the solvers. The dofs of the others follow each other in the
// order of the world.

// The arrays of the problem live in buffers that are kept from step to step.
typedef struct ss_step_problem {
    ss_problem problem; // its arrays are borrowed from the buffers: it is never freed as such
    int *row;           // [nstrands] where a strand's dofs begin in the problem; -1 without contact
    int *entry;         // [nstrands] where its entries of M begin
    double *scripted;   // [3 contacts] relative velocities that scripts alone give, without gaps
    ss_state guess;
    int widest;     // the most dofs of a strand
    char info[256]; // the problem's math_info
    ss_buffer rows, columns, entries_M, entries_H, contacts, dofs, parts;
} ss_step_problem;
void ss_step_problem_free(ss_step_problem *s);

// The point of segment `segment` of strand k at abscissa a.
ss_vec3 ss_segment_point(const ss_world *w, const ss_vec3 *x, int k, int segment, double a);
// The point where the material point x of `from` is at `to`, were it carried by the body.
ss_vec3 ss_carried(const ss_snapshot *from, const ss_snapshot *to, int body, ss_vec3 x);

// Measures of a strand where a try ends.
typedef struct ss_step_strand_end {
    ss_energy energy;
    double length;  // m
    double stretch; // share by which that is longer than its samples say
    double square;  // (m/s)^2: of the largest speed of its points, against the body of its root
} ss_step_strand_end;

struct ss_stepper {
    ss_world *world; // the caller's
    ss_step_options options;
    ss_step_solver solver;
    const ss_scheme *scheme;
    void *own; // the scheme's; owned
    char spec[160];
    double dt;
    int good, steps; // accepted ones: since dt was set, and in all

    // Where strands are stepped side by side, trial is all that is used of what follows.
    const ss_batch_model *batch; // NULL: strand by strand
    void *members;               // the batch's own; owned

    ss_snapshot here, there;
    ss_world_state trial; // q and v owned; those of the world where `placed`
    bool placed;          // here is where trial is
    ss_energy energy;     // here
    ss_systems systems;
    double way;               // the try moves q by way v + offset (system.h)
    const double *offset;     // [nv], the scheme's; NULL: 0
    double *mean;             // [nv] scratch: that velocity
    ss_step_strand_end *ends; // [nstrands]
    ss_vec3 *moved;           // [npoints] scratch: where a sweep ends

    ss_collider *collider;
    bool coplanar;         // the scheme's, for ss_polylines
    int *first;            // [nstrands + 1] for ss_polylines
    int *holder;           // [npoints] likewise
    int *branch;           // [npoints] likewise; NULL where no strand branches
    double speed;          // m/s, largest |u_N| of the last step
    ss_buffer found;       // ss_touch: pairs near each other here
    int nfound;            // -1: not looked for yet
    const ss_touch *after; // [nafter] the same there, the collider's; NULL where not looked for
    int nafter;

    ss_track *track;
    ss_buffer contacts, wanted, frames, answers, velocities;
    ss_touch *touches; // [ncontacts] of the problem, in contacts
    ss_mat3 *E;        // [ncontacts] in frames
    double *r, *u;     // [3 ncontacts] in answers, and u of the stored answer; u without gap terms
    double *v;         // [ndofs of the problem] in velocities
    int ncontacts;
    ss_step_problem formed;
};

// ---- Tools of schemes, in the order in which a try uses them

// Bodies `there`, and velocities of the held dofs, for a try of size h that moves q by way v +
// offset; offset [nv] is used until the try ends, or NULL.
void ss_step_begin(ss_stepper *s, double h, double way, const double *offset);

// M, f and factors of all strands about an iterate that is placed `at`. False where an M is not
// positive definite.
bool ss_step_form(ss_stepper *s, const ss_iterate *it, const ss_snapshot *at,
                  ss_step_report *report);

// The contacts of the step: touches within the margin where it starts; with continuous detection
// also those on the way that the systems, as they are formed, move the points without contacts, or
// v of the trial where the scheme says so (scheme.h).
ss_status ss_step_find_contacts(ss_stepper *s, double h, ss_step_report *report, ss_error *e);

// Whether a dof that no clamp holds moves one of the two points of a touch.
bool ss_step_can_move(const ss_stepper *s, const ss_touch *t);

// A look at where v of the trial leads (step_tools.c). It adds contacts, with r = 0, that keep
// strands from overlapping there, and forms the problem anew from the present systems; r of the
// other contacts stays. If there are contacts, the problem must be the one that the last r answers.
typedef struct ss_step_look_result {
    int added; // contacts
    // Places that overlap but get no contact, as v does not satisfy the one nearby yet
    int unsolved;
} ss_step_look_result;
ss_status ss_step_look(ss_stepper *s, double h, ss_step_look_result *result, ss_step_report *report,
                       ss_error *e);
// How many a try may have.
int ss_step_looks(const ss_stepper *s);
// Pairs within the margin, or with `moved` that come within the sum of radii on the way there: the
// collider's, until the next search.
ss_status ss_step_collide(ss_stepper *s, const ss_snapshot *at, const ss_vec3 *moved, double h,
                          const ss_touch **touches, int *count, ss_step_report *report,
                          ss_error *e);
// way v + offset of strand k, by which it moves; v is its velocity at the end of the step.
void ss_step_mean_velocity(const ss_stepper *s, int k, const double *v, double *mean);

// ss_step_answer_first begins a try of h with its first iterate, about the start: it forms the
// systems, finds the contacts, and forms and solves the one-step problem, from the r of the step
// before. ss_step_answer_again solves the problem with M and f of systems that were formed anew,
// from the present r; H, w and mu stay. Without contacts nothing is solved. *reason is set if there
// is no answer.
ss_status ss_step_answer_first(ss_stepper *s, const ss_iterate *it, const double *offset, double h,
                               ss_step_report *report, ss_step_reason *reason, ss_error *e);
ss_status ss_step_answer_again(ss_stepper *s, const ss_iterate *it, ss_step_report *report,
                               ss_step_reason *reason, ss_error *e);

// What answer_first and answer_again do without the solver: the problem with r from the step
// before, and the same with M and f of other systems.
ss_status ss_step_form_problem(ss_stepper *s, double h, ss_step_report *report, ss_error *e);
// The first with s->E and s->r as they are, in this room for n contacts (false: no memory).
ss_status ss_step_form_more(ss_stepper *s, double h, ss_step_report *report, ss_error *e);
bool ss_step_answer_room(ss_stepper *s, size_t n);
void ss_step_refresh_problem(ss_stepper *s, ss_step_report *report);

// max |b_i| of the problem as it is formed, b = H' M^-1 f + w; 0 without contacts. To be asked for
// before the velocities.
double ss_step_velocity_scale(ss_stepper *s);

// v of the trial: M^-1 (f + H r), strand by strand, and of the held dofs.
void ss_step_find_velocities(ss_stepper *s);
// s->v, of the problem, from v [nv].
void ss_step_gather_velocities(ss_stepper *s, const double *v);
// s->r and s->v become the answer that the problem holds, with the spec of the scheme as its
// solver: for schemes that find r themselves.
void ss_step_keep_answer(ss_stepper *s);
// q of the trial: q_n (+) h (way v + offset). What the method of a model adds to v is added.
void ss_step_move(ss_stepper *s, double h);

// The trial state is placed `there` and judged: contacts, energies, explosion, reach.
ss_status ss_step_end(ss_stepper *s, double h, ss_step_report *report, ss_step_reason *reason,
                      ss_error *e);

// A whole try of one iterate, about the start: system, contacts, answer, end.
ss_status ss_step_once(ss_stepper *s, const ss_iterate *it, const double *offset, double h,
                       ss_step_report *report, ss_step_reason *reason, ss_error *e);

// ---- Strands side by side

// s->batch for a world that takes one. The same try by it, and the world moved to where it ended.
ss_status ss_step_batch_new(ss_stepper *s, ss_error *e);
void ss_step_batch_try(ss_stepper *s, double h, ss_step_report *report, ss_step_reason *reason);
void ss_step_batch_accept(ss_stepper *s);
