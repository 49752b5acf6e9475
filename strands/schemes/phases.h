// strands/schemes/phases.h -- contacts in two phases, as [H06] has them, repaired (internal).
//
// Before a step of h, with M and f of the step (system.h) and H, w of its contacts (step.h):
//
//     impacts   contacts that meet within the step, v_N < 0 and gap < -h v_N, get impulses p along their normals by
//               which v_N becomes at least -e v_N, e the restitution, or -gap/h where e = 0;  f <- f + H p
//     forces    r = x_n n + x_t t of every contact, t = -unit(b_T), b = H'M^-1 f + w what it does without r:
//               x_n >= 0 complementary to u_N,   0 <= x_t <= mu x_n, a box, with u.t
//
// and with the forces of contacts those of goals and of the limits of joints. mu is that of the contact where it
// sticks, |v_T| <= stick after the impacts, and `sliding` times it (of an obstacle its own share too) where it
// slides: the problem of the step holds the one that was taken. Velocities at the end are accelerations times h here;
// the matrix of both phases is that of test impulses on M (rows.h), so that forces know what stiff joints do within
// the step.
//
// doc/strands.md, "Phases".
#pragma once

#include "strands/step/stepper.h"

typedef enum ss_phases_goal { SS_GOAL_OFF, SS_GOAL_TIP } ss_phases_goal;

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

// What one of these keys has no effect without (base/keys.h). `contacts`: whether there are any.
const char *ss_phases_key_needs(const ss_phases_settings *set, bool contacts, const char *key);

// SS_BAD_INPUT with a sentence for limits without joints, goals without poses, and gains that are too high for steps
// of h.
ss_status ss_phases_check(const ss_world *w, const ss_phases_settings *set, double h, ss_error *e);

typedef struct ss_phases ss_phases;

// For the world of a stepper, whose settings are checked. `inertia`: impacts meet M0 alone, if it has a factor,
// instead of M.
ss_status ss_phases_new(const ss_stepper *s, const ss_phases_settings *set, bool inertia,
                        ss_phases **phases, ss_error *e);
void ss_phases_free(ss_phases *p); // takes NULL

// Both phases of a try, whose systems are formed and whose contacts are found: r, the problem and the report of
// the stepper; f of its systems and problem gains the impulses that are not r.
ss_status ss_phases_answer(ss_phases *p, ss_stepper *s, double h, ss_step_report *report,
                           ss_error *e);

// What the last answer does to a strand.
typedef struct ss_phases_impulses {
    const double *gained;  // of its free dofs: velocities by the impacts
    const double *extra;   // likewise: impulses of goals and limits
    const ss_vec3 *pushes; // [npoints] N s, of contacts, at its points
} ss_phases_impulses;
// Whether that is anything.
bool ss_phases_act(const ss_phases *p, const ss_world *w, int k, ss_phases_impulses *impulses);
