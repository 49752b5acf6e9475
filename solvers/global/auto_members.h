// solvers/global/auto_members.h -- who plays in the portfolio, in which order (for auto.c alone).
#pragma once

// Where a member has a turn at all.
typedef enum auto_case {
    ANYWHERE,
    FALLS_STEADILY, // the first sweeps are slow, but mixing may help them
    CARRIES_SLOWLY, // they carry impulses too slowly
} auto_case;

// A member and its turn. Work is in visits of all contacts.
typedef struct member {
    const char *spec;
    int budget;      // iterations of the first round
    double patience; // work before the rate is looked at; 0: it is not
    double promised; // work that the rate may promise and go on; 0: ppa's price
    double friction; // the most that it is for; 0: any
    auto_case where;
    const char *why; // it has the turn
} member;

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

static const member MEMBERS[COUNT] = {
    [PLAIN] = {"gs/secular:focus=on", 100000, 50.0, 0.0, 0.0, ANYWHERE, "plain sweeps"},
    [MIXED] = {"anderson/secular", 4000, 20.0, 0.0, 0.0, FALLS_STEADILY,
               "sweeps are slow but steady: mixed sweeps"},
    [AFTER_MIXED] = {"gs/secular:focus=on", 100000, 50.0, 0.0, 0.0, FALLS_STEADILY,
                     "mixing was no gain: plain sweeps"},
    [ADMM] = {"admm:rho=1000", 2000, 30.0, 0.0, 0.0, CARRIES_SLOWLY,
              "sweeps carry impulses too slowly: alternating directions"},
    [AFTER_ADMM] = {"gs/secular:focus=on", 100000, 50.0, 0.0, 0.0, CARRIES_SLOWLY,
                    "alternating directions got stuck: plain sweeps"},
    [NEAR] = {"ppa:start=interior", 80, 0.0, 0.0, 0.5, ANYWHERE,
              "dense hair: proximal steps by interior points"},
    [DENSE] = {"ipm", 900, 0.0, 0.0, 0.0, ANYWHERE, "dense hair: interior points"},
    [AFTER_DENSE] = {"gs/secular:focus=on", 100000, 50.0, 0.0, 0.0, ANYWHERE,
                     "interior points got stuck: plain sweeps"},
    [PPA] = {"ppa:start=sweeps,sweeps=0", 1000, 0.0, 0.0, 0.0, ANYWHERE,
             "sweeps were too slow: proximal Newton"},
    [IPM] = {"ipm", 400, 0.0, 0.0, 0.0, ANYWHERE, "proximal Newton got stuck: interior points"},
    [ANDERSON] = {"anderson/secular", 4000, 600.0, 6000.0, 0.0, ANYWHERE,
                  "interior points got stuck: mixed sweeps"},
    [APGD] = {"apgd", 2000, 0.0, 0.0, 1.0, ANYWHERE, "mixed sweeps got stuck: projected gradient"},
    [PAPER] = {"gs/mfb+enum", 1000, 0.0, 0.0, 0.0, ANYWHERE,
               "projected gradient got stuck: plain sweeps"},
};

// Of other starts, at random.
#define SHAKEN       "no member solved it: proximal Newton from other starts"
#define SHAKES_COUNT 3
static const member SHAKES[SHAKES_COUNT] = {
    {"ppa:start=sweeps,sweeps=0", 150, 0.0, 0.0, 0.0, ANYWHERE, SHAKEN},
    {"ppa:start=sweeps,sweeps=10,rho=1000", 150, 0.0, 0.0, 0.0, ANYWHERE, SHAKEN},
    {"ppa:start=sweeps,rho=0.1", 150, 0.0, 0.0, 0.0, ANYWHERE, SHAKEN},
};
