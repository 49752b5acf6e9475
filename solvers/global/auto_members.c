// The members of the portfolio and their turns (auto_members.h).
#include "solvers/global/auto_members.h"

const ss_member ss_auto_members[COUNT] = {
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

#define SHAKEN "no member solved it: proximal Newton from other starts"
const ss_member ss_auto_shakes[SHAKES_COUNT] = {
    {"ppa:start=sweeps,sweeps=0", 150, 0.0, 0.0, 0.0, ANYWHERE, SHAKEN},
    {"ppa:start=sweeps,sweeps=10,rho=1000", 150, 0.0, 0.0, 0.0, ANYWHERE, SHAKEN},
    {"ppa:start=sweeps,rho=0.1", 150, 0.0, 0.0, 0.0, ANYWHERE, SHAKEN},
};
