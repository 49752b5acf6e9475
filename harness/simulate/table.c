// Table 1 of [D11]: what the one-step problems of a simulation are like and what its steps cost.
#include "harness/results/tables.h"

#include <math.h>
#include <string.h>

// The paper's frame.
#define FRAME_SECONDS (1.0 / 25.0)

static const ss_column COLUMNS[] = {
    {"scene", SS_COLUMN_TEXT, "Scene", 0, NULL},
    {"rods", SS_COLUMN_REAL, "Rods", 5, NULL},
    {"mu", SS_COLUMN_REAL, "mu", 3, NULL},
    {"mu_obstacle", SS_COLUMN_REAL, "mu obst.", 3, NULL},
    {"contacts_mean", SS_COLUMN_REAL, "Contacts", 5, "Mean over the steps."},
    {"contacts_max", SS_COLUMN_REAL, "max", 6, NULL},
    {"over_tol_percent", SS_COLUMN_REAL, "%>tol", 3,
     "Percentage of one-step problems whose answer is not within the tolerance."},
    {"max_error", SS_COLUMN_REAL, "max err", 2,
     "The largest residual of a step in the measure and the units of [D11]: fb_abs, cm/s."},
    {"mean_iterations", SS_COLUMN_REAL, "iters", 4, "Mean over the steps with contacts."},
    {"gs_seconds", SS_COLUMN_REAL, "T_GS (s)", 3,
     "Iterations alone; T_solv with their set-up, of which W is the most; T_dt the whole step; "
     "means over the steps (the first two over those with contacts)."},
    {"solve_seconds", SS_COLUMN_REAL, "T_solv (s)", 3, NULL},
    {"step_seconds", SS_COLUMN_REAL, "T_dt (s)", 3, NULL},
    {"minutes_a_frame", SS_COLUMN_REAL, "min/frame", 3, "Of 1/25 s of simulated time."},
    {"hours", SS_COLUMN_REAL, "total (h)", 3, NULL},
    {.key = NULL},
};

static void add_run(ss_table *table, const ss_stats *stats, ss_stats_totals *totals)
{
    const ss_stats_run *run = &stats->run;
    *totals = (ss_stats_totals){0};
    for (size_t k = 0; k < stats->count; k++) {
        ss_stats_total(totals, &stats->rows[k]);
    }
    const double steps = totals->steps, solved = totals->solved_steps; // x / 0.0: missing
    const double frames = totals->time / FRAME_SECONDS;
    const double values[] = {run->rods,
                             run->mu,
                             run->mu_obstacle,
                             totals->contacts / steps,
                             totals->contacts_max,
                             100.0 * totals->over / solved,
                             totals->fb_abs_max,
                             totals->iterations / solved,
                             totals->gs_seconds / solved,
                             totals->solve_seconds / solved,
                             totals->step_seconds / steps,
                             totals->step_seconds / 60.0 / frames,
                             totals->step_seconds / 3600.0};
    ss_table_text(table, run->scene);
    ss_table_reals(table, values, sizeof values / sizeof values[0]);
}

static void add_paper(ss_table *table, const char *scene)
{
    for (const ss_paper_scene *p = ss_paper_table1; p->scene != NULL; p++) {
        if (strcmp(p->scene, scene) == 0) {
            const double values[] = {p->rods,          p->mu,           p->mu_obstacle,
                                     p->contacts_mean, p->contacts_max, p->over_tol_percent,
                                     p->max_error,     p->iterations,   p->gs_seconds,
                                     p->solve_seconds, p->step_seconds, p->minutes_a_frame,
                                     p->hours};
            char name[64];
            snprintf(name, sizeof name, "[D11] %s", p->name);
            ss_table_text(table, name);
            ss_table_reals(table, values, sizeof values / sizeof values[0]);
        }
    }
}

// What one run was, in a sentence of its own.
static void note_run(ss_table *table, const ss_stats *stats, const ss_stats_totals *totals)
{
    char tol[32], time[32], step[32], overlap[32];
    ss_table_number(1e6 * totals->penetration_max, 3, overlap);
    ss_table_number(stats->run.tol, 3, tol);
    ss_table_number(totals->time, 3, time);
    ss_table_number(1e3 * totals->time / totals->steps, 3, step);
    ss_table_note(
        table,
        "%s: %d steps of %s ms on average (%s s), %d tries were rejected; %s, solver %s, "
        "tolerance %s; collision detection took %.1f %% of the time, %.1f %% of the contacts "
        "were known from the step before; the deepest overlap at the end of a step: %s um.",
        stats->run.scene, totals->steps, step, time, totals->rejected, stats->run.model,
        stats->run.solver, tol, 100.0 * totals->collide_seconds / totals->step_seconds,
        totals->contacts > 0.0 ? 100.0 * totals->hits / totals->contacts : 0.0, overlap);
}

static void note_paper(ss_table *table)
{
    ss_table_note(table,
                  "[D11]: Daviet, Bertails-Descoubes, Boissieux 2011, Table 1, on a quad core i7; "
                  "its tolerance 1e-6 is in its internal units and stands for a relative error of "
                  "1e-3 to 1e-4 (its footnote 4).");
}

ss_status ss_table_simulation(const ss_table_request *request, ss_table *table, ss_error *e)
{
    (void)e;
    const ss_results *all = request->results;
    ss_table_columns(table, COLUMNS);
    for (size_t k = 0; k < all->nruns; k++) {
        ss_stats_totals totals;
        add_run(table, &all->runs[k], &totals);
        note_run(table, &all->runs[k], &totals);
        if (request->paper) {
            add_paper(table, all->runs[k].run.scene);
        }
    }
    if (request->paper) {
        note_paper(table);
    }
    return SS_OK;
}
