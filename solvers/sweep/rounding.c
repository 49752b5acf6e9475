// What rounding leaves unknown of f: ss_coupling_rounding of coupling.h.
#include <float.h>
#include <math.h>

#include "problems/matrix/sparse_ends.h"
#include "solvers/sweep/coupling.h"

static void add_sizes(int dim, int room, const double *G, const double *x, double *t)
{
    for (int k = 0; k < dim; k++) {
        for (int j = 0; j < room; j++) {
            t[k] += fabs(G[k * room + j]) * x[j];
        }
    }
}

// The same of an end that is sparse, x being the sizes of z of its body.
static void add_entry_sizes(const ss_coupling *c, int body, int s, const double *x, double *t)
{
    const ss_sparse_ends *ends = c->white->sparse;
    if (ends->own[s] >= 0) {
        for (int k = 0; k < c->dim; k++) {
            t[k] += x[ends->own[s] - c->white->body_start[body] + k] +
                    ends->still[(size_t)(c->dim * s + k)];
        }
        return;
    }
    for (int k = ends->start[s]; k < ends->start[s + 1]; k++) {
        for (int l = 0; l < c->dim; l++) {
            t[l] += fabs(ends->entry[k].H[l]) * x[ends->entry[k].dof];
        }
    }
}

static void add_response_sizes(const ss_coupling *c, int s, int room, const double *r)
{
    const ss_whitened *white = c->white;
    if (white->sparse != NULL) {
        ss_sparse_ends_add_sizes(white, s, r, c->sizes);
        return;
    }
    const double *G = white->G + white->end_G[s];
    for (int k = 0; k < c->dim; k++) {
        for (int j = 0; j < room; j++) {
            c->sizes[j] += fabs(G[k * room + j] * r[k]);
        }
    }
}

// t [dim n] from the ends of one body: |z0| + sum |G_j|' |r_j|, and |G_i| times that; the same with what is
// pushed and seen where ends are sparse.
static void add_body_sizes(const ss_coupling *c, int body, double *t)
{
    const ss_whitened *white = c->white;
    const int room = ss_whitened_room(white, body), d = c->dim;
    for (int j = 0; j < room; j++) {
        c->sizes[j] = fabs(white->z0[white->body_start[body] + j]);
    }
    for (int s = white->body_end_start[body]; s < white->body_end_start[body + 1]; s++) {
        add_response_sizes(c, white->body_end[s], room,
                           c->r + 4 * (size_t)white->body_end_contact[s]);
    }
    for (int s = white->body_end_start[body]; s < white->body_end_start[body + 1]; s++) {
        double *at = t + d * white->body_end_contact[s];
        if (white->sparse != NULL) {
            add_entry_sizes(c, body, white->body_end[s], c->sizes, at);
        } else {
            add_sizes(d, room, white->G + white->end_G[white->body_end[s]], c->sizes, at);
        }
    }
}

static void find_explicit_sizes(const ss_coupling *c, double *t)
{
    const int d = c->dim;
    for (int i = 0; i < c->n; i++) {
        for (size_t e = c->W.start[i]; e < c->W.start[i + 1]; e++) {
            const double *r = c->r + 4 * (size_t)c->W.col[e];
            const double sizes[3] = {fabs(r[0]), fabs(r[1]), fabs(r[2])};
            add_sizes(d, d, c->W.x + e * (size_t)(d * d), sizes, t + d * i);
        }
    }
}

double ss_coupling_rounding(const ss_coupling *c)
{
    const double *b = c->is_explicit ? c->b : c->white->w;
    double *t = c->packed, most = 0.0, largest = 0.0;
    for (int k = 0; k < c->dim * c->n; k++) {
        t[k] = fabs(b[k]);
    }
    if (c->is_explicit) {
        find_explicit_sizes(c, t);
    }
    for (int body = 0; !c->is_explicit && body < c->white->nbodies; body++) {
        add_body_sizes(c, body, t);
    }
    for (int k = 0; k < c->dim * c->n; k++) {
        most = fmax(most, t[k]);
        largest = fmax(largest, fabs(c->r[4 * (k / c->dim) + k % c->dim]));
    }
    return DBL_EPSILON * (c->s * largest + most);
}
