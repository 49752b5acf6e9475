// tests/support/oriented_rows.h -- constraints on the accelerations of a tree of links [H06], by forces on M0: what
// the rows of the scheme phases are compared with.
//
// A row is a direction in which a force acts and the acceleration that it is to bring about: that of a point of
// a link along a fixed direction, or that of a joint about an axis of its link. With f the forces of all rows,
//
//     a = K f + a0,   K = J M0^-1 J'                                              (1)
//     low <= f <= high complementary to a - wanted                                 (2)
//
// K is found by a unit of force at each row, which costs one walk along the links. Of a friction row low is 0 and
// high is mu times the force of its normal. (2) is solved by projected over-relaxation. The same K serves
// impacts: impulses p by which row velocities become at least -restitution times what they were.
//
// doc/strands.md, "Contact by LCP".
#pragma once

#include "strands/models/oriented.h"

typedef struct ss_oriented_row {
    int link;
    bool joint;       // of its joint, about `along`; else of the point `at`, along `along`
    ss_vec3 at;       // m, in the frame of the link
    ss_vec3 along;    // unit: of a joint in the frame of the link, else in the world
    double wanted;    // m/s^2, rad/s^2
    double low, high; // N, N m
    int normal;       // the row before it whose force bounds it, or -1: low .. high do
    double mu;        // of such a row
} ss_oriented_row;

// How a tree moves, for its rows. The base accelerates as it does; weight is apart.
typedef struct ss_oriented_state {
    const ss_oriented *tree;
    ss_oriented_base base;
    ss_vec3 gravity; // m/s^2
    const double *q, *w;
    const ss_oriented_load *load; // [n] beside weight; NULL: none
} ss_oriented_state;

// ---- Rows: how many are added

// The point of a link follows a path: pddot + stiffness (p - x) + damping (pdot - xdot), in three rows without
// bounds. Motions of the state are looked at.
int ss_oriented_goal(const ss_oriented_state *s, int link, ss_vec3 at, const ss_vec3 path[3],
                     double stiffness, double damping, ss_oriented_row *rows);
// The joint turns by no more than `most` rad within h; none where it will not reach that.
int ss_oriented_limit(const ss_oriented_state *s, int link, double most, double h,
                      ss_oriented_row *rows);
// A point against a plane that rests, with the normal n, `depth` behind it: a normal row that is to take `rate`
// of the depth back in each h, and one of friction against the motion that there is without forces (`before`: the
// tangent where there is none).
int ss_oriented_contact(const ss_oriented_state *s, int link, ss_vec3 at, ss_vec3 n, double depth,
                        double rate, double mu, double h, ss_vec3 before, int first,
                        ss_oriented_row *rows);

// ---- Forces

// a0 [m], and K [m][m] row by row; wdot [nv] is scratch, and after it the motion without forces.
void ss_oriented_rows_measure(const ss_oriented_state *s, int m, const ss_oriented_row *rows,
                              double *wdot, ss_oriented_load *load, double *a0, double *K);
// f [m] of (2), from where it is: `sweeps` sweeps, eps of the largest diagonal added to each entry.
void ss_oriented_rows_solve(int m, const ss_oriented_row *rows, const double *a0, const double *K,
                            int sweeps, double omega, double eps, double *f);
// load [n] += the forces f of the rows, for the links where they are.
void ss_oriented_rows_apply(const ss_oriented *tree, int m, const ss_oriented_row *rows,
                            const double *f, ss_oriented_load *load);
// w [nv] += M0^-1 J' p. Rows that come nearer (J w < 0) get p >= 0 so that J w >= -restitution J w of before;
// friction rows have no part. p [2 m] is scratch. After ss_oriented_rows_measure of the same state.
void ss_oriented_rows_impact(const ss_oriented_state *s, int m, const ss_oriented_row *rows,
                             const double *K, double restitution, int sweeps, double *p,
                             double *wdot, ss_oriented_load *load, double *w);
