// harness/report/absent.c -- what `report` says if the program was built without it.
#include "harness/report/page.h"

ss_status ss_page_write(const ss_page_request *request, ss_page_findings *findings, ss_error *e)
{
    (void)request;
    *findings = (ss_page_findings){0};
    return ss_fail(e, SS_SYSTEM,
                   "this program was built without the chart library: install it with "
                   "'scripts/get-deps' (Debian: libjs-chart.js), then run 'meson setup "
                   "--reconfigure build && ninja -C build'");
}

void ss_page_findings_free(ss_page_findings *findings)
{
    (void)findings;
}
