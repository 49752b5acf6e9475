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
    {.name = "form",                                                                               \
     .kind = SS_KEY_CHOICE,                                                                        \
     .place = offsetof(ss_sweep_settings, form),                                                   \
     .choices = ss_form_names,                                                                     \
     .about = SS_FORM_ABOUT},                                                                      \
        {.name = "order",                                                                          \
         .kind = SS_KEY_CHOICE,                                                                    \
         .place = offsetof(ss_sweep_settings, order),                                              \
         .choices = ss_order_names,                                                                \
         .seed_place = offsetof(ss_sweep_settings, seed),                                          \
         .about = "of the contacts in a sweep; stripes is what --threads needs"},                  \
        {.name = "visit",                                                                          \
         .kind = SS_KEY_CHOICE,                                                                    \
         .place = offsetof(ss_sweep_settings, visit),                                              \
         .choices = ss_visit_names,                                                                \
         .about = "needed: passes over contacts that rest for sure"},                              \
    {                                                                                              \
        .name = "ltol", .kind = SS_KEY_REAL, .place = offsetof(ss_sweep_settings, ltol), .low = 0, \
        .high = 1, .about = "local tolerance over the velocity scale; 0: a tenth of --tol"         \
    }

// The option form= of methods without sweeps, of their settings.
#define SS_FORM_KEY(settings)                                                                      \
    {                                                                                              \
        .name = "form", .kind = SS_KEY_CHOICE, .place = offsetof(settings, form),                  \
        .choices = ss_form_names, .about = SS_FORM_ABOUT                                           \
    }
