// solvers/registry.h -- the two lists of solvers, in the order of the papers' tables, and specs.
#pragma once

#include "solvers/solver.h"

#pragma GCC visibility push(default)

extern const ss_local_solver *const ss_local_solvers[];   // NULL-terminated
extern const ss_global_solver *const ss_global_solvers[]; // NULL-terminated

// A name or a method that is NULL has nothing of what the functions here ask for.
const ss_local_solver *ss_local_find(const char *name);   // NULL if there is none
const ss_global_solver *ss_global_find(const char *name); // NULL if there is none

// Parses a spec. The sentence about an unknown solver, key or value names those that exist.
ss_status ss_method_parse(const char *spec, ss_method **method, ss_error *e);
void ss_method_free(ss_method *method); // takes NULL
// Returns whether both do the same, however they are spelled: "enum" and "gs/enum:freeze=off".
bool ss_method_same(const ss_method *one, const ss_method *other);
// Returns whether the spec asks for a rule of its own (ss_global_solver.own_rule).
bool ss_method_has_own_rule(const ss_method *method);
// Returns whether a task's threads have an effect.
bool ss_method_takes_threads(const ss_method *method);
// Returns the spec without a leading "gs/", as records name a solver.
const char *ss_spec_bare(const char *spec);

// Runs the method's global solver on the task. Returns SS_BAD_INPUT and leaves r alone if r is
// NULL, the task has no method, or the sizes of its problem are wrong (ss_problem_check_sizes).
// result may be NULL.
ss_status ss_solve(const ss_task *task, double *r, ss_result *result, ss_error *e);

#pragma GCC visibility pop
