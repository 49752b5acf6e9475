// strands/schemes/phases.h -- contacts in two phases, as [H06] has them, repaired (internal).
//
// Before a step of h, with M and f of the step (system.h) and H, w of its contacts (step.h):
//
//     impacts   contacts that meet within the step, v_N < 0 and gap < -h v_N, get impulses p along
//               their normals by which v_N becomes at least -e v_N, e the restitution, or -gap/h
//               where e = 0;  f <- f + H p
//     forces    r = x_n n + x_t t of every contact, t = -unit(b_T), b = H'M^-1 f + w what it does
//               without r: x_n >= 0 complementary to u_N,   0 <= x_t <= mu x_n, a box, with u.t
//
// and with the forces of contacts those of goals and of the limits of joints. mu is that of the
// contact where it sticks, |v_T| <= stick after the impacts, and `sliding` times it (of an obstacle
// its own share too) where it slides: the problem of the step holds the one that was taken.
// Velocities at the end are accelerations times h here; the matrix of both phases is that of test
// impulses on M, so that forces know what stiff joints do within the step.
//
// doc/strands.md, "Phases".
#pragma once

#include "strands/buffer.h"
#include "strands/step/systems.h"
#include "strands/step/stepper.h"

// ---- rows

// a box law on rows of velocities, by projected over-relaxation [H06] (internal).
//
// A row is a combination of the velocities of one strand or two, and x an impulse along it:
//
//     u = H'v + b,   v = M^-1 H x   ->   u = K x + b,   K = H'M^-1 H        (1)
//     low <= x <= high complementary to u                                                       (2)
//
// that is u = 0 between the bounds, u >= 0 at low and u <= 0 at high. Of a row with a `normal`, low
// is 0 and high is mu times x of that row. K is found by a test impulse at each row: strand by
// strand, with the factors of M, as rows of different strands meet in rows of two strands alone.
// (2) is solved by `sweeps` sweeps of
//
//     x_i <- clip(x_i - omega (u_i + eps x_i)/(K_ii + eps)),   eps = its share of the largest K_ii
//                                                              + added_i
//
// doc/strands.md, "Contact by LCP".

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

// Memory that is kept from step to step: zeros to begin with.
typedef struct ss_rows {
    int count, nends;
    size_t ncoefficients;
    ss_buffer rows, ends, coefficients; // of ss_row, ss_row_end, double
    ss_buffer sizes, blocks, impulses;  // of each strand: its rows; K; x
    ss_buffer scratch;
} ss_rows;

static inline ss_row *ss_rows_at(const ss_rows *r, int i)
{
    return (ss_row *)r->rows.data + i;
}

// Factors (band.h) of the matrices of all strands: L [nstrands], and D [nv] likewise.
typedef struct ss_factors {
    const ss_band *L;
    const double *D;
} ss_factors;

typedef struct ss_phases_settings {
    int sweeps;
    double omega, eps;
    double stick;   // m/s
    double sliding; // mu of what slides, of mu
    double limit;   // rad, of every joint from its natural shape; 0: none
    int goal;       // ss_phases_goal: tips of strands that are posed follow their pose
    double kp, kd;  // 1/s^2, 1/s: of goals
} ss_phases_settings;
#define SS_PHASES_DEFAULTS                                                                         \
    {                                                                                              \
        .sweeps = 50, .omega = 1.0, .eps = 1e-6, .stick = 1e-4, .sliding = 1.0, .kp = 400.0,       \
        .kd = 40.0                                                                                 \
    }
extern const char *const ss_phases_goals[]; // off, tip, NULL

// Their keys, for a scheme whose `settings` have them as `member`.
#define SS_PHASES_KEYS(member)                                                                     \
    SS_INTEGER_KEY("sweeps", member.sweeps, 1, 1e6),                                               \
        SS_REAL_KEY("omega", member.omega, 0.01, 1.99), SS_REAL_KEY("eps", member.eps, 0.0, 1.0),  \
        SS_REAL_KEY("stick", member.stick, 0.0, 1e3),                                              \
        SS_REAL_KEY("sliding", member.sliding, 0.0, 1.0),                                          \
        SS_REAL_KEY("limit", member.limit, 0.0, 3.1),                                              \
        SS_CHOICE_KEY("goal", member.goal, ss_phases_goals),                                       \
        SS_REAL_KEY("kp", member.kp, 0.0, 1e9), SS_REAL_KEY("kd", member.kd, 0.0, 1e6)

// Returns the option without which one of these keys has no effect (base/keys.h); `contacts` is
// true if there are any.
const char *ss_phases_key_needs(const ss_phases_settings *set, bool contacts, const char *key);

typedef struct ss_phases ss_phases;

// For the world of a stepper, whose settings are checked. `inertia`: impacts meet M0 alone, if it
// has a factor, instead of M.
ss_status ss_phases_new(const ss_stepper *s, const ss_phases_settings *set, bool inertia,
                        ss_phases **phases, ss_error *e);
void ss_phases_free(ss_phases *p); // takes NULL

// Both phases of a try, whose systems are formed and whose contacts are found: r, the problem and
// the report of the stepper; f of its systems and problem gains the impulses that are not r.
ss_status ss_phases_answer(ss_phases *p, ss_stepper *s, double h, ss_step_report *report,
                           ss_error *e);

// Effect of the last answer on a strand.
typedef struct ss_phases_impulses {
    const double *gained;  // of its free dofs: velocities by the impacts
    const double *extra;   // likewise: impulses of goals and limits
    const ss_vec3 *pushes; // [npoints] N s, of contacts, at its points
} ss_phases_impulses;
// Whether that is anything.
bool ss_phases_act(const ss_phases *p, const ss_world *w, int k, ss_phases_impulses *impulses);

// ---- phases_parts

// what the two phases share (internal).
//
// Velocities of strands are those of their free dofs, [nv] with those of strand k from its v on.

struct ss_phases {
    ss_phases_settings set;
    ss_rows rows;             // of the present phase
    double *before, *free;    // [nv] velocities: at the start; M^-1 f
    double *gained, *end;     // [nv] velocities: what the impacts add; at the end
    double *impacts, *extra;  // [nv] impulses: of impacts; of goals and limits
    ss_vec3 *pushes;          // [npoints] N s, of contacts
    bool *pushed, *hit;       // [nstrands] whether anything acts on it; whether impacts do
    ss_band *M0;              // [nstrands] factors of the inertia of what is hit; NULL: M is used
    double *numbers, *scales; // the entries of M0; the scales of its factors
    double *around, *f0;      // [nv] scratch
    ss_joint_limit *limits;   // [nv] scratch
    ss_buffer velocities;     // of contacts:
    double *u0, *u1, *b;      // [3 ncontacts] at the start; after the impacts; without forces
};

// ---- For tests

void ss_rows_free(ss_rows *r);

// Adds a row, whose strands come next. False without memory.
bool ss_rows_add(ss_rows *r, const ss_row *row);
// A strand of the last row: its `count` coefficients, 0, which are good until the next is added.
// NULL without memory.
double *ss_rows_add_end(ss_rows *r, int strand, int count);

// H'v of row i, v [nv] having the free dofs of each strand where its velocities begin (systems.h).
double ss_rows_velocity(const ss_rows *r, const ss_world *w, int i, const double *v);
// v += H x of row i for a given x, v likewise.
void ss_rows_push(const ss_rows *r, const ss_world *w, int i, double x, double *v);

// K, from the factors of M of the strands that rows are on. `systems` shares the work. False
// without memory.
bool ss_rows_measure(ss_rows *r, const ss_world *w, const ss_systems *systems, ss_factors M);
// x of all rows; how many sweeps there were: fewer where one of them changes x by less than 1e-12
// of it.
int ss_rows_relax(ss_rows *r, int sweeps, double omega, double eps);
