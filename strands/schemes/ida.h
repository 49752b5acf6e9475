// strands/schemes/ida.h -- the differential equation of one strand, integrated by SUNDIALS IDA (internal).
//
// With y = (v, q) it is F(t, y, ydot) = 0,
//
//     M0 vdot - F(q, v, t) + C v - J(q)'push - held = 0,   qdot - rate(q, v) = 0
//
// where push and held are forces that do not change in an interval: those of contacts, at points, and others.
//
// doc/strands.md, "IDA".
#pragma once

#include "strands/system.h"

typedef enum ss_ida_jacobian {
    SS_IDA_OWN,   // M0, C and K of the strand as what preconditions GMRES
    SS_IDA_DENSE, // of all numbers of y, by differences, factored whole
} ss_ida_jacobian;

typedef struct ss_ida_settings {
    double rtol;
    int order;    // 1 .. 5, the most
    int jacobian; // ss_ida_jacobian
    int steps;    // of the integrator in one interval, the most
} ss_ida_settings;

// What an interval took.
typedef struct ss_ida_effort {
    int iterations, steps; // non-linear ones; steps of the formula
} ss_ida_effort;

// Numbers of the world's size, of which each strand uses its own.
typedef struct ss_ida_room {
    ss_world_state state;
    double *past; // [nv]
} ss_ida_room;

typedef struct ss_ida ss_ida;

// Whether the equations of strand k are of this kind: nothing held, coordinates that have rates. SS_BAD_INPUT
// with a sentence where they are not.
ss_status ss_ida_check(const ss_world *w, int k, ss_error *e);
// For strand k of a world, which it uses. NULL without memory.
ss_ida *ss_ida_new(const ss_world *w, int k, const ss_ida_settings *set, const ss_ida_room *room);
void ss_ida_free(ss_ida *ida); // takes NULL

// An interval: from the world's state with `gained` more velocity, at order 1, if it begins; else it goes on from
// where the last one ended, which must be that state.
typedef struct ss_ida_interval {
    double h; // s
    bool begins;
    const double *gained; // [nv]; NULL: 0
    const double *held;   // [nv] generalised forces; NULL: 0
    const ss_vec3 *push;  // [npoints] N, at the points of the polyline; NULL: 0
} ss_ida_interval;

// q and v of strand k at its end. False if IDA fails.
bool ss_ida_advance(ss_ida *ida, const ss_ida_interval *interval, ss_system_scratch *scratch,
                    double *q, double *v, ss_ida_effort *effort);
