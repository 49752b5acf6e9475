// solvers/global/auto_members.h -- who plays in the portfolio, in which order (internal).
#pragma once

// Where a member has a turn at all.
typedef enum auto_case {
    ANYWHERE,
    FALLS_STEADILY, // the first sweeps are slow, but mixing may help them
    CARRIES_SLOWLY, // they carry impulses too slowly
} auto_case;

// A member and its turn. Work is in visits of all contacts.
typedef struct ss_member {
    const char *spec;
    int budget;      // iterations of the first round
    double patience; // work before the rate is looked at; 0: it is not
    double promised; // work that the rate may promise and go on; 0: ppa's price
    double friction; // the most that it is for; 0: any
    auto_case where;
    const char *why; // it has the turn
} ss_member;

// In the order of their turns.
enum {
    PLAIN,
    MIXED,
    AFTER_MIXED,
    ADMM,
    AFTER_ADMM,
    NEAR,
    DENSE,
    AFTER_DENSE,
    PPA,
    IPM,
    ANDERSON,
    APGD,
    PAPER,
    COUNT
};

// [COUNT], by the names above; and of other starts, one of which has the turn at random.
#define SHAKES_COUNT 3
extern const ss_member ss_auto_members[], ss_auto_shakes[];
