// strands/schemes/rows.h -- a box law on rows of velocities, by projected over-relaxation [H06] (internal).
//
// A row is a combination of the velocities of one strand or two, and x an impulse along it:
//
//     u = H'v + b,   v = M^-1 H x   ->   u = K x + b,   K = H'M^-1 H                              (1)
//     low <= x <= high complementary to u                                                        (2)
//
// that is u = 0 between the bounds, u >= 0 at low and u <= 0 at high. Of a row with a `normal`, low is 0 and high
// is mu times x of that row. K is found by a test impulse at each row: strand by strand, with the factors of M, as
// rows of different strands meet in rows of two strands alone. (2) is solved by `sweeps` sweeps of
//
//     x_i <- clip(x_i - omega (u_i + eps x_i)/(K_ii + eps)),   eps = its share of the largest K_ii + added_i
//
// doc/strands.md, "Contact by LCP".
#pragma once

#include "strands/buffer.h"
#include "strands/step/systems.h"

typedef struct ss_row {
    double b;         // m/s, rad/s: u without the impulses of the rows
    double low, high; // N s, N m s
    int normal;       // the row whose impulse bounds it, or -1: low .. high do
    double mu;        // of such a row
    double added;     // 1/kg, 1/(kg m^2): to its K_ii, beside eps
    double x;         // N s, N m s: in the start, out the answer
    double diagonal;  // K_ii
    int end[2];       // of its strands among `ends`; -1: none
} ss_row;

// A row in one of its strands.
typedef struct ss_row_end {
    int strand, local; // its place among the rows of the strand
    size_t H;          // where its coefficients begin: one for each free dof of the strand
} ss_row_end;

// Memory that is kept from step to step: zeros to begin with.
typedef struct ss_rows {
    int count, nends;
    size_t ncoefficients;
    ss_buffer rows, ends, coefficients; // of ss_row, ss_row_end, double
    ss_buffer sizes, blocks, impulses;  // of each strand: its rows; K; x
    ss_buffer scratch;
} ss_rows;

void ss_rows_free(ss_rows *r);
void ss_rows_clear(ss_rows *r);

static inline ss_row *ss_rows_at(const ss_rows *r, int i)
{
    return (ss_row *)r->rows.data + i;
}

// One more, whose strands come next. False without memory.
bool ss_rows_add(ss_rows *r, const ss_row *row);
// A strand of the last row: its `count` coefficients, 0, which are good until the next is added. NULL without memory.
double *ss_rows_add_end(ss_rows *r, int strand, int count);

// H'v of row i, v [nv] having the free dofs of each strand where its velocities begin (systems.h).
double ss_rows_velocity(const ss_rows *r, const ss_world *w, int i, const double *v);
// v += H x of row i for a given x, v likewise.
void ss_rows_push(const ss_rows *r, const ss_world *w, int i, double x, double *v);

// Factors (band.h) of the matrices of all strands: L [nstrands], and D [nv] likewise.
typedef struct ss_factors {
    const ss_band *L;
    const double *D;
} ss_factors;

// K, from the factors of M of the strands that rows are on. `systems` shares the work. False without memory.
bool ss_rows_measure(ss_rows *r, const ss_world *w, const ss_systems *systems, ss_factors M);
// x of all rows; how many sweeps there were: fewer where one of them changes x by less than 1e-12 of it.
int ss_rows_relax(ss_rows *r, int sweeps, double omega, double eps);
