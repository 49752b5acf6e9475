// problems/matrix/compliance.h -- tr(W_ii)/d of each contact, straight from M and H (internal).
//
//     W_cc = sum over bodies of |L_k^-1 H_kc|^2,     or of H_kc' Z_k H_kc                      (1)
//
// the second for a body that is a band, Z_k = M_k^-1 within it, where the dofs of the contact lie within the
// band.
#pragma once

#include "base/team.h"
#include "problems/matrix/mass.h"

// compliance [ncontacts]; p in global form. The team may be NULL. False without memory.
bool ss_compliance_find(const ss_problem *p, const ss_mass *mass, ss_team *team,
                        double *compliance);
