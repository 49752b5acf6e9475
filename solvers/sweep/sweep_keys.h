// solvers/sweep/sweep_keys.h -- the options of a sweep, for every global solver that sweeps.
//
// The settings of such a solver begin with an ss_sweep_settings.
#pragma once

#include "solvers/sweep/sweep.h"

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

// The option form= of methods without sweeps.
#define SS_FORM_KEY SS_CHOICE_KEY("form", form, ss_form_names, .about = SS_FORM_ABOUT)
