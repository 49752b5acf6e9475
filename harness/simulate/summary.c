#include "harness/simulate/summary.h"

#include <math.h>

const ss_column ss_summary_columns[] = {
    {.key = "scene", .kind = SS_COLUMN_TEXT},
    {.key = "model", .kind = SS_COLUMN_TEXT},
    {.key = "solver", .kind = SS_COLUMN_TEXT},
    {.key = "rods", .kind = SS_COLUMN_INTEGER},
    {.key = "mu", .kind = SS_COLUMN_REAL},
    {.key = "status", .kind = SS_COLUMN_TEXT},
    {.key = "steps", .kind = SS_COLUMN_INTEGER},
    {.key = "rejected", .kind = SS_COLUMN_INTEGER},
    {.key = "time", .kind = SS_COLUMN_REAL},
    {.key = "contacts_mean", .kind = SS_COLUMN_REAL},
    {.key = "contacts_max", .kind = SS_COLUMN_INTEGER},
    {.key = "over_tol_percent", .kind = SS_COLUMN_REAL},
    {.key = "max_fb", .kind = SS_COLUMN_REAL},
    {.key = "mean_iterations", .kind = SS_COLUMN_REAL},
    {.key = "gs_seconds", .kind = SS_COLUMN_REAL},
    {.key = "solve_seconds", .kind = SS_COLUMN_REAL},
    {.key = "step_seconds", .kind = SS_COLUMN_REAL},
    {.key = "hit_percent", .kind = SS_COLUMN_REAL},
    {.key = "collide_percent", .kind = SS_COLUMN_REAL},
    {.key = "penetration_max", .kind = SS_COLUMN_REAL},
    {.key = "gamma", .kind = SS_COLUMN_REAL},
    {.key = "bending_hz", .kind = SS_COLUMN_REAL},
    {.key = NULL},
};

// A share that is not known where there is no whole.
static double over(double part, double whole)
{
    return whole > 0.0 ? part / whole : NAN;
}

void ss_summary_row(ss_table *rows, const ss_simulation *a, const char *status)
{
    const ss_stats_totals *t = &a->totals;
    ss_table_text(rows, a->run.scene);
    ss_table_text(rows, a->run.model);
    ss_table_text(rows, a->run.solver);
    ss_table_integer(rows, a->run.rods);
    ss_table_real(rows, a->run.mu);
    ss_table_text(rows, status);
    ss_table_integer(rows, t->steps);
    ss_table_integer(rows, t->rejected);
    ss_table_real(rows, t->time);
    ss_table_real(rows, over(t->contacts, t->steps));
    ss_table_integer(rows, t->contacts_max);
    ss_table_real(rows, over(100.0 * t->over, t->solved_steps));
    ss_table_real(rows, t->solved_steps > 0 ? t->fb_max : NAN);
    ss_table_real(rows, over(t->iterations, t->solved_steps));
    ss_table_real(rows, over(t->gs_seconds, t->solved_steps));
    ss_table_real(rows, over(t->solve_seconds, t->solved_steps));
    ss_table_real(rows, over(t->step_seconds, t->steps));
    ss_table_real(rows, over(100.0 * t->hits, t->contacts));
    ss_table_real(rows, over(100.0 * t->collide_seconds, t->step_seconds));
    ss_table_real(rows, t->penetration_max);
    ss_table_real(rows, a->run.gamma);
    ss_table_real(rows, a->run.bending_hz);
}
