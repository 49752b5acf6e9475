// solvers/global/auto_members.h -- the members of the portfolio, in the order of their turns (internal).
#pragma once

// When a member has a turn.
typedef enum ss_auto_case {
    SS_AUTO_ANYWHERE,
    SS_AUTO_FALLS_STEADILY, // the first sweeps are slow, but mixing may help them
    SS_AUTO_CARRIES_SLOWLY, // they carry impulses too slowly
} ss_auto_case;

// A member and its turn. Work is in visits of all contacts.
typedef struct ss_auto_member {
    const char *spec;
    int budget;      // iterations in the first round
    double patience; // work before its rate is first looked at; 0: it never is
    double
        promised; // it goes on while its rate promises no more work than this; 0: the price of ppa
    double friction; // it has a turn only if no mu is larger; 0: with any mu
    ss_auto_case where;
    const char *why; // it has the turn, for the trace
} ss_auto_member;

// In the order of their turns.
enum {
    SS_AUTO_PLAIN,
    SS_AUTO_MIXED,
    SS_AUTO_AFTER_MIXED,
    SS_AUTO_ADMM,
    SS_AUTO_INSIDE,
    SS_AUTO_AFTER_ADMM,
    SS_AUTO_NEAR,
    SS_AUTO_DENSE,
    SS_AUTO_AFTER_DENSE,
    SS_AUTO_PPA,
    SS_AUTO_IPM,
    SS_AUTO_ANDERSON,
    SS_AUTO_APGD,
    SS_AUTO_PAPER,
    SS_AUTO_MEMBERS
};

// The members, [SS_AUTO_MEMBERS], by the names above. From other starts a member of ss_auto_shakes,
// [SS_AUTO_SHAKES], has the turn, chosen at random.
#define SS_AUTO_SHAKES 3
extern const ss_auto_member ss_auto_members[], ss_auto_shakes[];
