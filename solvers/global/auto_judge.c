#include "solvers/global/auto_judge.h"

#include "problems/certificate.h"
#include "solvers/global/drive.h"

ss_status ss_auto_judge(const ss_problem *p, ss_mass **factor, const double *r, double *u,
                        ss_measures *m, ss_error *e)
{
    ss_response *response;
    const ss_status status = ss_response_with(p, factor, NULL, &response, e);
    if (status == SS_OK) {
        *m = ss_response_judge(response, r, u);
        ss_response_free(response);
    }
    return status;
}

ss_status ss_auto_at_floor(const ss_problem *p, ss_mass **factor, const double *r, double *u,
                           bool *at_floor, ss_error *e)
{
    ss_coupling *c = NULL;
    ss_measures m;
    ss_status status = ss_auto_judge(p, factor, r, u, &m, e);
    if (status == SS_OK) {
        status = ss_coupling_with(p, factor, NULL, SS_FORM_AUTO, false, NULL, &c, e);
    }
    if (status == SS_OK) {
        ss_coupling_put(c, r);
        *at_floor = ss_drive_at_floor(c, ss_measures_error(&m));
    }
    ss_coupling_free(c);
    return status;
}

bool ss_auto_is_refuted(const ss_problem *p)
{
    ss_certificate found = {.margin = -1.0};
    ss_error ignored;
    const bool refuted = ss_certificate_find(p, false, &found, &ignored) == SS_OK &&
                         found.verdict == SS_EXISTENCE_REFUTED;
    ss_certificate_free(&found);
    return refuted;
}
