#include "harness/stats.h"

#include <math.h>

// Writing: the columns in the order of the file.
const ss_column ss_stats_columns[] = {
    {"scene", SS_TEXT},
    {"model", SS_TEXT},
    {"solver", SS_TEXT},
    {"seed", SS_INTEGER},
    {"rods", SS_INTEGER},
    {"mu", SS_REAL},
    {"mu_obstacle", SS_REAL},
    {"step", SS_INTEGER},
    {"time", SS_REAL},
    {"dt", SS_REAL},
    {"rejected", SS_INTEGER},
    {"reason", SS_TEXT},
    {"contacts", SS_INTEGER},
    {"contacts_obstacle", SS_INTEGER},
    {"active", SS_INTEGER},
    {"hits", SS_INTEGER},
    {"iterations", SS_INTEGER},
    {"status", SS_TEXT},
    {"tol", SS_REAL},
    {"fb", SS_REAL},
    {"fb_abs", SS_REAL},
    {"natural", SS_REAL},
    {"gs_seconds", SS_REAL},
    {"solve_seconds", SS_REAL},
    {"collide_seconds", SS_REAL},
    {"assemble_seconds", SS_REAL},
    {"step_seconds", SS_REAL},
    {"kinetic", SS_REAL},
    {"elastic", SS_REAL},
    {"potential", SS_REAL},
    {"max_speed", SS_REAL},
    {"dispersion", SS_REAL},
    {"stretch_percent", SS_REAL},
    {"tip_x", SS_REAL},
    {"tip_y", SS_REAL},
    {"tip_z", SS_REAL},
    {"tip_vx", SS_REAL},
    {"tip_vy", SS_REAL},
    {"tip_vz", SS_REAL},
    {"dissipation", SS_REAL},
    {"gamma", SS_REAL},
    {"bending_hz", SS_REAL},
    {.name = NULL},
};

static void print_reals(ss_rows *rows, const double *values, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        ss_rows_real(rows, values[k]);
    }
}

void ss_stats_print(ss_rows *rows, const ss_stats_run *run, const ss_stats_row *row)
{
    const double measured[] = {run->tol,
                               row->fb,
                               row->fb_abs,
                               row->natural,
                               row->gs_seconds,
                               row->solve_seconds,
                               row->collide_seconds,
                               row->assemble_seconds,
                               row->step_seconds,
                               row->kinetic,
                               row->elastic,
                               row->potential,
                               row->max_speed,
                               row->dispersion,
                               row->stretch_percent};
    ss_rows_text(rows, run->scene);
    ss_rows_text(rows, run->model);
    ss_rows_text(rows, run->solver);
    ss_rows_unsigned(rows, run->seed);
    ss_rows_integer(rows, run->rods);
    ss_rows_real(rows, run->mu);
    ss_rows_real(rows, run->mu_obstacle);
    ss_rows_integer(rows, row->step);
    ss_rows_real(rows, row->time);
    ss_rows_real(rows, row->dt);
    ss_rows_integer(rows, row->rejected);
    ss_rows_text(rows, row->reason);
    ss_rows_integer(rows, row->contacts);
    ss_rows_integer(rows, row->contacts_obstacle);
    ss_rows_integer(rows, row->active);
    ss_rows_integer(rows, row->hits);
    ss_rows_integer(rows, row->iterations);
    ss_rows_text(rows, row->status);
    print_reals(rows, measured, sizeof measured / sizeof measured[0]);
    print_reals(rows, row->tip, 3);
    print_reals(rows, row->tip_velocity, 3);
    ss_rows_real(rows, row->dissipation);
    ss_rows_real(rows, run->gamma);
    ss_rows_real(rows, run->bending_hz);
}

static double larger(double a, double b)
{
    return b > a || isnan(a) ? b : a;
}

void ss_stats_total(ss_stats_totals *t, const ss_stats_run *run, const ss_stats_row *row)
{
    if (t->steps == 0) {
        t->fb_max = t->fb_abs_max = NAN;
    }
    t->steps++;
    t->rejected += row->rejected;
    t->time = row->time;
    t->contacts += row->contacts;
    t->hits += row->hits;
    t->contacts_max = row->contacts > t->contacts_max ? row->contacts : t->contacts_max;
    t->collide_seconds += row->collide_seconds;
    t->step_seconds += row->step_seconds;
    if (row->contacts == 0) {
        return;
    }
    t->solved_steps++;
    t->iterations += row->iterations;
    t->over += !(row->fb <= run->tol);
    t->fb_max = larger(t->fb_max, row->fb);
    t->fb_abs_max = larger(t->fb_abs_max, row->fb_abs);
    t->gs_seconds += row->gs_seconds;
    t->solve_seconds += row->solve_seconds;
}
