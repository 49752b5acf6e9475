// anderson: Gauss-Seidel under Anderson mixing (solvers/linear/mixing.h), in the norm
// sum_i tr(W_ii)/d |f_i|^2. No projection of x and no rejection of steps: a rejection rule made it
// up to 1.9 times slower and kept it busy for ever at the rounding floor.
#include "solvers/global/accelerated.h"
#include "solvers/global/global.h"
#include "solvers/sweep/sweep_keys.h"
#include "solvers/linear/mixing.h"

#define CUTOFF 1e-12

typedef struct settings {
    ss_sweep_settings sweep; // first: its keys are shared
    int depth;
} settings;

static const settings DEFAULTS = {.sweep = {.skip = 10}, .depth = 10};

static const ss_key KEYS[] = {
    SS_SWEEP_KEYS,
    SS_INTEGER_KEY("depth", depth, 1, 60, .about = "sweeps that are mixed"),
    {.name = NULL},
};

static void *anderson_make(const void *s, size_t size, size_t more)
{
    return ss_mixing_new(size, more, ((const settings *)s)->depth, CUTOFF);
}

static void anderson_release(void *rule)
{
    ss_mixing_free(rule);
}

static void anderson_step(void *rule, const double *f, double *g, double *h)
{
    ss_mixing_step(rule, f, g, h);
}

static void anderson_forget(void *rule)
{
    ss_mixing_forget(rule);
}

static const ss_rule RULE = {.make = anderson_make,
                             .free = anderson_release,
                             .step = anderson_step,
                             .forget = anderson_forget};

static const ss_steps STEPS = SS_ACCELERATED_STEPS(&RULE);

const ss_global_solver ss_anderson = {
    .card = {.name = "anderson",
             .law = SS_EXACT,
             .reference = "A65 WN11",
             .about = "Gauss-Seidel under Anderson mixing: the next start of a sweep is a "
                      "combination of the last sweeps that makes their residual small. It "
                      "helps where plain sweeps are slow but steady: stacks of rigid bodies, "
                      "high accuracy. Iterations are sweeps.",
             SS_OPTIONS(KEYS, DEFAULTS)},
    SS_DRIVEN(STEPS),
    .takes_local = true,
    .key_needs = ss_sweep_key_needs,
    .takes_threads = ss_sweep_takes_threads,
};
