// solvers/sweep/coupling.c -- W in both forms, which contacts rest, and what rounding leaves
// unknown.
#include "solvers/sweep/coupling.h"

#include "base/assert.h"
#include "base/memory.h"
#include "solvers/contact.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- Which contacts rest

// If a contact has more than two ends, there are no bounds, and all contacts are visited.
static bool has_two_ends(const ss_whitened *white)
{
    for (int i = 0; i < white->ncontacts; i++) {
        if (white->end_start[i + 1] - white->end_start[i] > 2) {
            return false;
        }
    }
    return true;
}

static double norm(const double *x, int count)
{
    double sum = 0.0;
    for (int k = 0; k < count; k++) {
        sum += x[k] * x[k];
    }
    return sqrt(sum);
}

// Finds the norms of G of end s on a body with `room`: of its first row, and of all.
static void end_norms(const ss_whitened *white, int s, int room, double *normal, double *full)
{
    if (white->sparse != NULL) {
        const double *W = white->sparse->W + 9 * (size_t)s; // G G'
        *normal = sqrt(W[0]);
        *full = sqrt(W[0] + W[4] + W[8]);
        return;
    }
    const double *G = white->G + white->end_G[s];
    *normal = norm(G, room);
    *full = norm(G, white->dim * room);
}

static void take_ends(ss_resting *resting, const ss_whitened *white, const double *mu)
{
    for (int i = 0; i < resting->n; i++) {
        const int begin = white->end_start[i], count = white->end_start[i + 1] - begin;
        ss_resting_norms *g = &resting->norms[i];
        g->L = 2.0 * sqrt(1.0 + mu[i] * mu[i]);
        for (int k = 0; k < 2; k++) {
            const int body = k < count ? white->end_body[begin + k] : resting->nbodies;
            resting->contact[i].body[k] = body;
            resting->contact[i].reach[k] = 0.0;
            g->normal[k] = g->full[k] = 0.0;
            if (k < count) {
                end_norms(white, begin + k, ss_whitened_room(white, body), &g->normal[k],
                          &g->full[k]);
            }
        }
    }
}

static void resting_free(ss_resting *resting)
{
    if (resting != NULL) {
        free(resting->contact);
        free(resting->norms);
        free(resting->way);
        free(resting);
    }
}

// Makes every contact be visited: r or z was set from outside.
static void resting_forget(ss_resting *resting)
{
    for (int i = 0; i < resting->n; i++) {
        resting->contact[i].residual = INFINITY;
    }
    memset(resting->way, 0, ((size_t)resting->nbodies + 1) * sizeof *resting->way);
}

// `white` is not needed afterwards.
static ss_status resting_new(const ss_whitened *white, const double *mu, ss_resting **made,
                             ss_error *e)
{
    *made = NULL;
    if (!has_two_ends(white)) {
        return SS_OK;
    }
    ss_resting *resting = calloc(1, sizeof *resting);
    if (resting != NULL) {
        resting->n = white->ncontacts;
        resting->nbodies = white->nbodies;
        resting->contact = malloc(((size_t)resting->n + 1) * sizeof *resting->contact);
        resting->norms = malloc(((size_t)resting->n + 1) * sizeof *resting->norms);
        resting->way = malloc(((size_t)resting->nbodies + 1) * sizeof *resting->way);
    }
    if (resting == NULL || resting->contact == NULL || resting->norms == NULL ||
        resting->way == NULL) {
        resting_free(resting);
        return ss_fail_memory(e, "the rest of the contacts");
    }
    take_ends(resting, white, mu);
    resting_forget(resting);
    *made = resting;
    return SS_OK;
}

// Notes that z became z_new and r [4 n] r_new, not by moves: T follows z, and contacts whose
// impulse changed must be visited.
static void resting_leap(ss_resting *resting, const int *body_start, const double *z,
                         const double *z_new, const double *r, const double *r_new)
{
    for (int k = 0; k < resting->nbodies; k++) {
        double sum = 0.0;
        for (int j = body_start[k]; j < body_start[k + 1]; j++) {
            const double d = z_new[j] - z[j];
            sum += d * d;
        }
        resting->way[k] += sqrt(sum);
    }
    for (int i = 0; i < resting->n; i++, r += 4, r_new += 4) {
        if (r[0] != r_new[0] || r[1] != r_new[1] || r[2] != r_new[2]) {
            resting->contact[i].residual = INFINITY;
        }
    }
}

// ---- Velocities

void ss_coupling_see(const ss_coupling *c, int i, const double *z, double u[3])
{
    const ss_whitened *white = c->white;
    ss_assert(white != NULL && 0 <= i && i < c->n);
    if (white->sparse != NULL) {
        const double *w = white->w + (size_t)c->dim * (size_t)i;
        double all[4] = {w[0], w[1], c->dim == 3 ? w[2] : 0.0, 0.0};
        ss_sparse_ends_see(white, i, z, all);
        memcpy(u, all, 3 * sizeof *u);
    } else if (c->dim == 3) {
        ss_ends_see(white, 3, i, z, u);
    } else {
        ss_ends_see(white, 2, i, z, u);
    }
}

void ss_coupling_velocity(const ss_coupling *c, int i, double u[3])
{
    if (!c->is_explicit) {
        ss_coupling_see(c, i, c->z, u);
    } else {
        ss_coupling_row(c, i, c->r, u);
    }
}

void ss_coupling_row(const ss_coupling *c, int i, const double *r, double u[3])
{
    ss_assert(c->is_explicit && 0 <= i && i < c->n);
    if (c->dim == 3) {
        ss_row_see_3(c, i, r, u);
    } else {
        ss_row_see_2(c, i, r, u);
    }
}

static void push_sparse(const ss_whitened *white, int i, const double dr[3], double *z)
{
    for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
        ss_sparse_ends_push(white, s, dr, z + white->body_start[white->end_body[s]]);
    }
}

void ss_coupling_push(const ss_coupling *c, int i, const double dr[3], double *z)
{
    if (c->white->sparse != NULL) {
        push_sparse(c->white, i, dr, z);
    } else if (c->dim == 3) {
        ss_ends_push(c->white, 3, i, dr, z);
    } else {
        ss_ends_push(c->white, 2, i, dr, z);
    }
}

static bool is_pushing(const double r[3])
{
    return r[0] != 0.0 || r[1] != 0.0 || r[2] != 0.0;
}

static void push_body(const ss_coupling *c, int body, const double *r, double *z_all)
{
    const ss_whitened *white = c->white;
    for (int k = white->body_end_start[body]; k < white->body_end_start[body + 1]; k++) {
        const int s = white->body_end[k];
        const double *dr = r + 4 * (size_t)white->body_end_contact[k];
        if (is_pushing(dr)) {
            ss_end_push(white, c->dim, s, white->G + white->end_G[s], dr, z_all);
        }
    }
}

void ss_coupling_gather(const ss_coupling *c, int body, const double *r, double *z_all)
{
    const size_t from = (size_t)c->white->body_start[body];
    ss_assert(c->white->sparse == NULL);
    memcpy(z_all + from, c->white->z0 + from,
           (size_t)ss_whitened_room(c->white, body) * sizeof *z_all);
    push_body(c, body, r, z_all);
}

typedef struct motion {
    const ss_coupling *c;
    const double *r;
    double *z;
} motion;

static void push_bodies(void *of, int first, int end)
{
    const motion *m = of;
    for (int body = first; body < end; body++) {
        push_body(m->c, body, m->r, m->z);
    }
}

// A single thread goes contact by contact, which reads G from its first number to its last.
void ss_coupling_push_all(const ss_coupling *c, const double *r, double *z)
{
    const double whole = SS_COUPLING_NS * c->n;
    ss_assert(!c->is_explicit && c->white->sparse == NULL);
    if (ss_team_pays(c->team, whole)) {
        const int bodies = c->white->nbodies;
        motion m = {c, r, z};
        ss_team_divide(c->team, bodies, whole / bodies, push_bodies, &m);
        return;
    }
    for (int i = 0; i < c->n; i++) {
        const double *ri = r + 4 * (size_t)i;
        if (is_pushing(ri)) {
            ss_coupling_push(c, i, ri, z);
        }
    }
}

void ss_coupling_move(ss_coupling *c, int i, const double r[3])
{
    double *old = c->r + 4 * (size_t)i;
    const double dr[3] = {r[0] - old[0], r[1] - old[1], r[2] - old[2]};
    if (!c->is_explicit && is_pushing(dr)) {
        ss_coupling_push(c, i, dr, c->z);
    }
    if (c->resting != NULL) {
        ss_resting_move(c->resting, i, sqrt(ss_dot3(dr, dr)));
    }
    memcpy(old, r, 3 * sizeof *old);
}

// ---- The whole state

void ss_coupling_leapt(ss_coupling *c, const double *r, const double *z)
{
    if (c->resting == NULL) {
        return;
    }
    if (r == NULL || z == NULL || c->is_explicit || c->white->sparse != NULL) {
        resting_forget(c->resting);
    } else {
        resting_leap(c->resting, c->white->body_start, z, c->z, r, c->r);
    }
}

void ss_coupling_refresh(ss_coupling *c)
{
    ss_coupling_leapt(c, NULL, NULL);
    if (c->is_explicit) {
        return;
    }
    if (c->white->sparse != NULL) {
        ss_sparse_ends_motion(c->white, c->r, 4, c->z);
        return;
    }
    memcpy(c->z, c->white->z0, (size_t)c->white->body_start[c->white->nbodies] * sizeof *c->z);
    ss_coupling_push_all(c, c->r, c->z);
}

void ss_coupling_put(ss_coupling *c, const double *r)
{
    for (int i = 0; i < c->n; i++) {
        for (int k = 0; k < c->dim; k++) {
            c->r[4 * (size_t)i + (size_t)k] = r[(size_t)c->dim * (size_t)i + (size_t)k];
        }
    }
}

// Marks the ends whose contacts have an impulse or approach: they will push.
static void want_responses(ss_coupling *c)
{
    const ss_whitened *white = c->white;
    for (int i = 0; i < c->n; i++) {
        const double *r = c->r + 4 * (size_t)i;
        double u[3];
        ss_coupling_see(c, i, c->z, u);
        const bool wanted = is_pushing(r) || u[0] < 0.0;
        for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
            white->sparse->wanted[s] = wanted;
        }
    }
}

void ss_coupling_set(ss_coupling *c, const double *r)
{
    ss_coupling_put(c, r);
    ss_coupling_refresh(c);
    if (!c->is_explicit && c->white->sparse != NULL) {
        want_responses(c);
    }
}

void ss_coupling_get(const ss_coupling *c, double *r)
{
    for (int i = 0; i < c->n; i++) {
        for (int k = 0; k < c->dim; k++) {
            r[(size_t)c->dim * (size_t)i + (size_t)k] = c->r[4 * (size_t)i + (size_t)k];
        }
    }
}

ss_measures ss_coupling_measure(ss_coupling *c)
{
    ss_coupling_refresh(c);
    return ss_coupling_measure_present(c);
}

static void find_velocities(void *of, int first, int end)
{
    const ss_coupling *c = of;
    for (int i = first; i < end; i++) {
        double u[3];
        ss_coupling_velocity(c, i, u);
        memcpy(c->u + (size_t)c->dim * (size_t)i, u, (size_t)c->dim * sizeof *u);
    }
}

ss_measures ss_coupling_measure_present(ss_coupling *c)
{
    ss_team_divide(c->team, c->n, SS_COUPLING_NS, find_velocities, c);
    ss_coupling_get(c, c->packed);
    return ss_measure_with(c->team, c->packed + c->dim * c->n, c->dim, c->n, c->compliance, c->b,
                           c->mu, c->packed, c->u, NULL);
}

// ---- Rounding

static void add_sizes(int dim, int room, const double *G, const double *x, double *t)
{
    for (int k = 0; k < dim; k++) {
        for (int j = 0; j < room; j++) {
            t[k] += fabs(G[k * room + j]) * x[j];
        }
    }
}

// Does the same for an end that is sparse; x holds the sizes of z of its body.
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

// Adds to t [dim n] the sizes from the ends of one body: |G_i| (|z0| + sum |G_j|' |r_j|). Where
// ends are sparse, the same is done with their entries and responses.
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

// ---- Making one

// Compares the bytes that a visit reads: a row of blocks against the ends' G, read once for the
// velocity and once for the push.
static bool explicit_is_cheaper(const ss_whitened *white)
{
    double row_reads = 0.0, end_reads = 0.0;
    for (int s = 0; s < white->nends; s++) {
        const int body = white->end_body[s];
        row_reads += white->dim * white->dim *
                     (white->body_end_start[body + 1] - white->body_end_start[body]);
        end_reads += 2.0 * white->dim * ss_whitened_room(white, body);
    }
    return row_reads <= end_reads;
}

static ss_status couple_global(ss_coupling *c, const ss_problem *p, ss_mass **room,
                               ss_coupling_form form, bool resting, const ss_stop *stop,
                               ss_error *e)
{
    ss_status status = form == SS_FORM_SWEEPS
                           ? ss_whitened_sparse_until(stop, p, room, c->team, &c->white, e)
                           : ss_whitened_until(stop, p, room, c->team, &c->white, e);
    if (status != SS_OK || c->white == NULL) {
        return status;
    }
    c->b = c->white->b;
    c->white->b = NULL;
    c->is_explicit = form == SS_FORM_EXPLICIT || form == SS_FORM_NAIVE ||
                     ((form == SS_FORM_AUTO || form == SS_FORM_SWEEPS) &&
                      c->white->sparse == NULL && explicit_is_cheaper(c->white));
    status = resting ? resting_new(c->white, p->mu, &c->resting, e) : SS_OK;
    if (status != SS_OK) {
        return status;
    }
    if (c->is_explicit) {
        status = form == SS_FORM_NAIVE ? ss_blocks_assemble_naive(stop, p, c->white, &c->W, e)
                                       : ss_blocks_assemble_until(stop, c->white, NULL, &c->W, e);
        ss_whitened_free(c->white);
        c->white = NULL;
        return status;
    }
    const size_t numbers = (size_t)c->white->body_start[c->white->nbodies] + 1;
    c->z = ss_large_malloc(2 * numbers * sizeof *c->z);
    c->sizes = c->z + numbers;
    return c->z != NULL ? SS_OK : ss_fail_memory(e, "the matrix-free form");
}

static ss_status couple_local(ss_coupling *c, const ss_problem *p, ss_coupling_form form,
                              const ss_stop *stop, ss_error *e)
{
    if (form == SS_FORM_MATRIX_FREE) {
        return ss_fail(e, SS_BAD_INPUT,
                       "form=matrix-free needs a problem in global form: this one has no M and H");
    }
    c->is_explicit = true;
    c->b = malloc((size_t)(c->dim * c->n) * sizeof *c->b);
    if (c->b == NULL) {
        return ss_fail_memory(e, "the coupling of the contacts");
    }
    memcpy(c->b, p->b, (size_t)(c->dim * c->n) * sizeof *c->b);
    return ss_blocks_from_sparse_until(stop, &p->W, p->dim, &c->W, e);
}

// Adds G G' of one end, whose lower triangle is its upper one.
static void add_own_block(const double *G, int dim, int room, double W[9])
{
    for (int r = 0; r < dim; r++) {
        for (int k = r; k < dim; k++) {
            double sum = W[3 * r + k];
            for (int j = 0; j < room; j++) {
                sum += G[r * room + j] * G[k * room + j];
            }
            W[3 * r + k] = W[3 * k + r] = sum;
        }
    }
}

// Finds W_ii of contact i, which is 0 before.
static void find_own_block(const ss_coupling *c, int i, double W[9])
{
    if (!c->is_explicit) {
        const ss_whitened *white = c->white;
        for (int s = white->end_start[i]; s < white->end_start[i + 1]; s++) {
            if (white->sparse != NULL) {
                for (int k = 0; k < 9; k++) {
                    W[k] += white->sparse->W[9 * (size_t)s + (size_t)k];
                }
                continue;
            }
            add_own_block(white->G + white->end_G[s], c->dim,
                          ss_whitened_room(white, white->end_body[s]), W);
        }
        return;
    }
    size_t k = c->W.start[i];
    while (c->W.col[k] != i) {
        k++;
    }
    const double *block = c->W.x + k * (size_t)(c->dim * c->dim);
    for (int r = 0; r < c->dim; r++) {
        memcpy(W + 3 * r, block + r * c->dim, (size_t)c->dim * sizeof *W);
    }
}

static void coupling_fill_contacts(ss_coupling *c, const ss_problem *p)
{
    for (int i = 0; i < c->n; i++) {
        ss_local *contact = &c->contact[i];
        contact->dim = c->dim;
        contact->mu = p->mu[i];
        find_own_block(c, i, contact->W);
        c->compliance[i] = (contact->W[0] + contact->W[4] + contact->W[8]) / c->dim;
        ss_local_embed(contact);
    }
    const ss_scales scales = ss_scales_find(c->dim, c->n, c->compliance, c->b);
    c->s = scales.compliance;
    c->V = scales.velocity;
}

static bool coupling_allocate(ss_coupling *c)
{
    const size_t n = (size_t)c->n, components = (size_t)c->dim * n;
    c->contact = calloc(n, sizeof *c->contact);
    c->r = calloc(4 * n, sizeof *c->r);
    c->u = malloc(components * sizeof *c->u);
    c->packed = malloc((components + (size_t)c->n) * sizeof *c->packed);
    c->compliance = malloc(n * sizeof *c->compliance);
    c->memo = calloc(n, sizeof *c->memo);
    return c->contact != NULL && c->r != NULL && c->u != NULL && c->packed != NULL &&
           c->compliance != NULL && c->memo != NULL;
}

ss_status ss_coupling_with(const ss_problem *p, ss_mass **room, ss_team *team,
                           ss_coupling_form form, bool resting, const ss_stop *stop,
                           ss_coupling **coupling, ss_error *e)
{
    *coupling = NULL;
    ss_coupling *c = calloc(1, sizeof *c);
    if (c == NULL) {
        return ss_fail_memory(e, "the coupling of the contacts");
    }
    c->dim = p->dim;
    c->n = p->ncontacts;
    c->team = team;
    c->mu = p->mu;
    ss_status status = p->form == SS_GLOBAL ? couple_global(c, p, room, form, resting, stop, e)
                                            : couple_local(c, p, form, stop, e);
    if (status == SS_OK && !coupling_allocate(c)) { // after W, whose making needs memory of its own
        status = ss_fail_memory(e, "the coupling of the contacts");
    }
    if (status != SS_OK || ss_stop_asked(stop)) {
        ss_coupling_free(c);
        return status;
    }
    coupling_fill_contacts(c, p);
    if (!c->is_explicit) { // as r is 0
        memcpy(c->z, c->white->z0, (size_t)c->white->body_start[c->white->nbodies] * sizeof *c->z);
    }
    *coupling = c;
    return SS_OK;
}

void ss_coupling_free(ss_coupling *c)
{
    if (c == NULL) {
        return;
    }
    free(c->contact);
    free(c->r);
    free(c->b);
    free(c->compliance);
    ss_blocks_free(&c->W);
    ss_whitened_free(c->white);
    resting_free(c->resting);
    free(c->z);
    free(c->u);
    free(c->packed);
    free(c->memo);
    free(c);
}

ss_status ss_coupling_new(const ss_problem *p, ss_coupling_form form, bool resting,
                          const ss_stop *stop, ss_coupling **coupling, ss_error *e)
{
    return ss_coupling_with(p, NULL, NULL, form, resting, stop, coupling, e);
}
