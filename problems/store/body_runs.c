// problems/store/body_runs.c -- see body_runs.h.
#include "problems/store/body_runs.h"

#include <stdlib.h>

#include "problems/matrix/bodies.h"

// Only the first dof of a body has a size.
static int collect_runs(int ndofs, const int *size, int limit, int *runs)
{
    int nruns = 0;
    for (int j = 0; j < ndofs; j++) {
        if (size[j] == 0) {
            continue;
        }
        if (nruns > 0 && runs[2 * nruns - 2] == size[j]) {
            runs[2 * nruns - 1]++;
        } else if (nruns == limit) {
            return 0;
        } else {
            runs[2 * nruns] = size[j];
            runs[2 * nruns + 1] = 1;
            nruns++;
        }
    }
    return nruns;
}

ss_status ss_body_runs(const ss_sparse *M, int limit, int *runs, int *nruns, ss_error *e)
{
    const size_t ndofs = (size_t)M->ncols;
    int *first = calloc(ndofs, sizeof *first);
    int *size = calloc(ndofs, sizeof *size);
    ss_status status = SS_OK;
    if (first != NULL && size != NULL) {
        ss_components(M, first);
        for (size_t j = 0; j < ndofs; j++) {
            size[first[j]]++;
        }
        *nruns = collect_runs(M->ncols, size, limit, runs);
    } else {
        status = ss_fail_memory(e, "the bodies of a problem");
    }
    free(first);
    free(size);
    return status;
}
