// The members of the portfolio and their turns (auto_members.h).
#include "solvers/global/auto_members.h"

const ss_auto_member ss_auto_members[SS_AUTO_MEMBERS] = {
    [SS_AUTO_PLAIN] = {"gs/secular:focus=on", 100000, 50.0, 0.0, 0.0, SS_AUTO_ANYWHERE,
                       "plain sweeps"},
    [SS_AUTO_MIXED] = {"anderson/secular", 4000, 20.0, 0.0, 0.0, SS_AUTO_FALLS_STEADILY,
                       "sweeps are slow but steady: mixed sweeps"},
    [SS_AUTO_AFTER_MIXED] = {"gs/secular:focus=on", 100000, 50.0, 0.0, 0.0, SS_AUTO_FALLS_STEADILY,
                             "mixing was no gain: plain sweeps"},
    [SS_AUTO_ADMM] = {"admm:rho=1000", 2000, 30.0, 0.0, 0.0, SS_AUTO_CARRIES_SLOWLY,
                      "sweeps carry impulses too slowly: alternating directions"},
    [SS_AUTO_INSIDE] = {"ipm", 40, 0.0, 0.0, 0.0, SS_AUTO_ANYWHERE,
                        "sweeps were too slow: interior points"},
    [SS_AUTO_AFTER_ADMM] = {"gs/secular:focus=on", 100000, 50.0, 0.0, 0.0, SS_AUTO_CARRIES_SLOWLY,
                            "alternating directions got stuck: plain sweeps"},
    [SS_AUTO_NEAR] = {"ppa:start=interior", 130, 0.0, 0.0, 0.5, SS_AUTO_ANYWHERE,
                      "dense hair: proximal steps by interior points"},
    [SS_AUTO_DENSE] = {"ipm", 900, 0.0, 0.0, 0.0, SS_AUTO_ANYWHERE, "dense hair: interior points"},
    [SS_AUTO_AFTER_DENSE] = {"gs/secular:focus=on", 100000, 50.0, 0.0, 0.0, SS_AUTO_ANYWHERE,
                             "interior points got stuck: plain sweeps"},
    [SS_AUTO_PPA] = {"ppa:start=sweeps,sweeps=0", 1000, 0.0, 0.0, 0.0, SS_AUTO_ANYWHERE,
                     "sweeps were too slow: proximal Newton"},
    [SS_AUTO_IPM] = {"ipm", 400, 0.0, 0.0, 0.0, SS_AUTO_ANYWHERE,
                     "proximal Newton got stuck: interior points"},
    [SS_AUTO_ANDERSON] = {"anderson/secular", 4000, 600.0, 6000.0, 0.0, SS_AUTO_ANYWHERE,
                          "interior points got stuck: mixed sweeps"},
    [SS_AUTO_APGD] = {"apgd", 2000, 0.0, 0.0, 1.0, SS_AUTO_ANYWHERE,
                      "mixed sweeps got stuck: projected gradient"},
    [SS_AUTO_PAPER] = {"gs/mfb+enum", 1000, 0.0, 0.0, 0.0, SS_AUTO_ANYWHERE,
                       "projected gradient got stuck: plain sweeps"},
};

#define SHAKEN "no member solved it: proximal Newton from other starts"
const ss_auto_member ss_auto_shakes[SS_AUTO_SHAKES] = {
    {"ppa:start=sweeps,sweeps=0", 150, 0.0, 0.0, 0.0, SS_AUTO_ANYWHERE, SHAKEN},
    {"ppa:start=sweeps,sweeps=10,rho=1000", 150, 0.0, 0.0, 0.0, SS_AUTO_ANYWHERE, SHAKEN},
    {"ppa:start=sweeps,rho=0.1", 150, 0.0, 0.0, 0.0, SS_AUTO_ANYWHERE, SHAKEN},
};
