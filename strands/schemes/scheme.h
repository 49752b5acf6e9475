// strands/schemes/scheme.h -- how a try of a step goes; read this before writing a scheme.
//
// The stepper (step.h) owns the sizes: it asks the scheme for a try of size h, refuses it with a
// reason, asks again with half the size, and moves the world to where a good try ended. The scheme
// fills q and v of the trial state and the report; stepper.h has the tools it is made of: systems
// about an iterate, contacts, the one-step problem and its answer, the test of where it ends.
//
//     linear     one linearised step: M and f about the start, one problem. Where contacts are off,
//                equal strands go side by side through their model's batch (batch.h), which is a
//                detail of this scheme and changes no answer
//     newton     M and f about each iterate, a problem each, until the velocities rest
//     bdf2       the same of the two-step formula
//     projection explicit forces, and models that keep their length by `project` (model.h)
//     ida        the equations of motion by SUNDIALS IDA, with the impacts and forces of `phases`
//                between its steps; if the build has found it
//     thesis     M and f about each iterate, and one pass of local impulses over the contacts
//                between two of them: no solver
//     phases     one linearised step, whose contacts are impacts and then forces, by projected
//                over-relaxation: no solver
//
// Adding a scheme: one file that ends with its `const ss_scheme ss_scheme_yours`, and one line in
// the list of schemes in strands/meson.build.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include "base/keys.h"
#include "base/status.h"

typedef struct ss_stepper ss_stepper;         // step.h
typedef struct ss_step_report ss_step_report; // step.h

typedef enum ss_step_reason {
    SS_STEP_DONE,
    SS_STEP_REACH,      // a pair approached too fast for its step
    SS_STEP_EXPLOSION,  // energy or displacement
    SS_STEP_SOLVER,     // no finite answer
    SS_STEP_MATRIX,     // M not definite
    SS_STEP_ITERATES,   // of the scheme move apart
    SS_STEP_INTEGRATOR, // IDA failed
} ss_step_reason;
// Done, reach, explosion, solver, matrix, iterates, integrator, NULL
extern const char *const ss_step_reason_names[];

typedef struct ss_scheme {
    const char *name; // [a-z0-9][a-z0-9-]*
    const char *summary;
    const char *reference; // keys in REFERENCES.md
    const ss_key *keys;    // NULL for none
    const void *defaults;  // settings_size bytes; NULL for none
    size_t settings_size;
    ss_key_needs *key_needs; // NULL: every key has an effect
    bool projects;           // takes models that keep their length by `project` (model.h)
    // its contacts are those of continuous detection, whatever was asked for, on the way that v of
    // the trial moves the points
    bool continuous;
    bool vertices; // those with obstacles are at vertices
    bool impacts;  // are found apart from its problems, whose w knows no restitution
    bool alone;    // finds the impulses of its contacts itself: no solver is asked

    // Makes what the scheme keeps between tries, for the world of the stepper. May be NULL, as may
    // `free`.
    ss_status (*make)(ss_stepper *s, const void *settings, void **own, ss_error *e);
    void (*free)(void *own); // takes NULL
    // A try of size h from the world's state. *reason (ss_step_reason) says why it is no good; one
    // that reached too far is complete all the same. A status other than SS_OK: no step of any size
    // would help, or the solver's own failure with *reason SS_STEP_SOLVER.
    ss_status (*step)(ss_stepper *s, void *own, double h, ss_step_report *report,
                      ss_step_reason *reason, ss_error *e);
    // The try is good, and the world is about to move. NULL for none.
    void (*accept)(ss_stepper *s, void *own);
} ss_scheme;

// The registry, a NULL-terminated list that the build makes; and a spec "NAME[:key=value,...]".
extern const ss_scheme *const ss_schemes[];
typedef struct ss_scheme_choice {
    const ss_scheme *scheme;
    void *settings; // owned; NULL where the scheme has none
    char spec[160]; // as given
} ss_scheme_choice;
ss_status ss_scheme_parse(const char *spec, ss_scheme_choice *choice, ss_error *e);
void ss_scheme_choice_free(ss_scheme_choice *choice); // takes an empty one
