// newton-mfb, newton-pac, newton-dac: Newton's method on all contacts at once ([D11] 7.1, A.2).
//
// F is one of newton_functions.c, J as in newton.h; d solves J d = -F by sparse LU, g = J'F is the
// gradient of phi = |F|^2/2. From the start, until the judge's error is at most the tolerance:
//
//     newton-mfb   F of Fischer and Burmeister; X += d, or X -= a g where d.g > -sigma |d||g|
//     newton-pac   F of Alart and Curnier;      X += d
//     newton-dac   the same F;                  X += t d, or X -= t a g where d.g >= 0
//
// and X -= a g in each where J is singular. t is a step of Goldstein and Price on phi
// (solvers/goldstein_price.h). a = |g|^2/|J g|^2 is the least of the linear model along g: g has
// the right units, but a step of its full length ([D11]) is too long by |J|^2, which grows with the
// number of contacts that share a body.
//
// Where W is singular (hair, stacks) J may be so at every solution. J counts W_ii + shift s_i I for
// W_ii: other steps, the same solutions. The paper's methods are shift=0,sigma=1e-3, but for a;
// what the two bring, of 10 tangles of 5 to 50 contacts each and of four public FCLIB files solved
// to 1e-8 within 300 steps (2000 for the files):
//
//     shift, sigma            loose hair   tight hair   M to 1e6   FCLIB
//     mfb   0,    1e-3            10            1           2         1
//           0,    1e-9            10            8           9         1
//           1e-4, 1e-3            10            2           3         3
//           1e-4, 1e-9            10           10          10         4
//     pac   0                      6            2           -         1
//           1e-4                   7           10           8         4
//     dac   0                      9            2           2         2
//           1e-4                  10            4           5         4
//
// Tight hair by pac: 3 with shift 1e-6, 1 with 1e-2, which makes the last digits slow. The angle of
// a good step with the gradient shrinks with the condition of J: what is a sound sigma for one
// contact is none here.
//
// Forms: explicit, for both forms of problems, and matrix-free (newton.h (4)) for a problem in
// global form.
#include "solvers/global/global.h"
#include "solvers/linear/implicit.h"
#include "solvers/global/newton.h"
#include "solvers/sweep/sweep_keys.h"

typedef ss_newton_settings settings;

static const settings DEFAULTS = {.patience = 100,
                                  .sigma = 1e-9,
                                  .m1 = 0.1,
                                  .m2 = 0.9,
                                  .shift = 1e-4,
                                  .memory = SS_MEMORY_DEFAULT};

const ss_newton_kind ss_newton_kinds[3] = {
    {&ss_newton_fischer_burmeister, SS_NEWTON_ANGLE, false},
    {&ss_newton_alart_curnier, SS_NEWTON_FREE, false},
    {&ss_newton_alart_curnier, SS_NEWTON_SLOPE, true},
};

static const char *const VARIANTS[] = {"alart-curnier", "jean-moreau", NULL};

#define SHARED_KEYS                                                                                \
    SS_FORM_KEY,                                                                                   \
        SS_INTEGER_KEY("patience", patience, 1, 1e6,                                               \
                       .about = "steps without progress after which it ends as stalled"),          \
        SS_REAL_KEY("shift", shift, 0, 1,                                                          \
                    .about = "what is added to W_ii in the Jacobian, in s_i"),                     \
        SS_MEMORY_KEY

static const ss_key MFB_KEYS[] = {
    SHARED_KEYS,
    SS_REAL_KEY("sigma", sigma, 0, 1,
                .about = "least descent of a Newton step; else the gradient is taken"),
    {.name = NULL},
};
static const ss_key PAC_KEYS[] = {
    SHARED_KEYS,
    SS_CHOICE_KEY("variant", jean_moreau, VARIANTS, .about = "whose function"),
    {.name = NULL},
};
static const ss_key DAC_KEYS[] = {
    SHARED_KEYS,
    SS_CHOICE_KEY("variant", jean_moreau, VARIANTS, .about = "whose function"),
    SS_REAL_KEY("m1", m1, 0, 1,
                .about = "least share of the predicted descent that a step must bring"),
    SS_REAL_KEY("m2", m2, 0, 1, .about = "largest share; above it the step is lengthened"),
    {.name = NULL},
};

#define ENTRY(key, papers, table, kth, text)                                                       \
    {                                                                                              \
        .card = {.name = key,                                                                      \
                 .law = SS_EXACT,                                                                  \
                 .reference = papers,                                                              \
                 .about = text,                                                                    \
                 .keys = table,                                                                    \
                 .defaults = &DEFAULTS,                                                            \
                 .settings_size = sizeof(settings)},                                               \
        .steps = &ss_newton_steps[kth], .solve = ss_drive_solve                                    \
    }

const ss_global_solver ss_newton_mfb = ENTRY(
    "newton-mfb", "D11", MFB_KEYS, 0,
    "Newton's method on the Fischer-Burmeister functions of all contacts at once; UMFPACK solves "
    "the "
    "linear systems. If Newton's direction does not descend enough it takes the gradient. For some "
    "hundred contacts and good starts: from zero it may stall.");
const ss_global_solver ss_newton_pac = ENTRY(
    "newton-pac", "AC91 D11", PAC_KEYS, 1,
    "Newton's method with full steps on the Alart-Curnier functions of all contacts at once; "
    "UMFPACK "
    "solves the linear systems. If the Jacobian is singular it steps along the gradient. For some "
    "hundred contacts and good starts: from zero it may stall.");
const ss_global_solver ss_newton_dac = ENTRY(
    "newton-dac", "AC91 D11", DAC_KEYS, 2,
    "Newton's method on the Alart-Curnier functions of all contacts at once, damped by the line "
    "search of Goldstein and Price; UMFPACK solves the linear systems. If Newton's direction does "
    "not descend it takes the gradient. For some hundred contacts and good starts: from zero it "
    "may "
    "stall.");
