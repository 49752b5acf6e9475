#include "solvers/sweep/coupling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "problems/matrix/sparse_ends.h"
#include "solvers/contact.h"
#include "solvers/small.h"
#include "solvers/sweep/see_push.h"

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
    ss_resting_free(c->resting);
    free(c->z);
    free(c->u);
    free(c->packed);
    free(c->memo);
    free(c);
}

// ---- Velocities

static void ends_see(const ss_coupling *c, int i, const double *z, double u[3])
{
    const ss_whitened *white = c->white;
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
        ends_see(c, i, c->z, u);
    } else {
        ss_coupling_row(c, i, c->r, u);
    }
}

void ss_coupling_row(const ss_coupling *c, int i, const double *r, double u[3])
{
    if (c->dim == 3) {
        ss_row_see_3(c, i, r, u);
    } else {
        ss_row_see_2(c, i, r, u);
    }
}

void ss_coupling_see(const ss_coupling *c, int i, const double *z, double u[3])
{
    ends_see(c, i, z, u);
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

// One thread pushes, which reads G from its first number to its last.
void ss_coupling_push_all(const ss_coupling *c, const double *r, double *z)
{
    const double whole = SS_COUPLING_NS * c->n;
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
    if (!c->is_explicit && (dr[0] != 0.0 || dr[1] != 0.0 || dr[2] != 0.0)) {
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
        ss_resting_forget(c->resting);
    } else {
        ss_resting_leap(c->resting, c->white->body_start, z, c->z, r, c->r);
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

// Those that have an impulse or approach will push.
static void want_responses(ss_coupling *c)
{
    const ss_whitened *white = c->white;
    for (int i = 0; i < c->n; i++) {
        const double *r = c->r + 4 * (size_t)i;
        double u[3];
        ends_see(c, i, c->z, u);
        const bool wanted = r[0] != 0.0 || r[1] != 0.0 || r[2] != 0.0 || u[0] < 0.0;
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
                           c->mu, c->packed, c->u);
}

// ---- Making one

// The bytes that a visit reads decide: a row of blocks against the ends' G, read once for the
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
    status = resting ? ss_resting_new(c->white, p->mu, &c->resting, e) : SS_OK;
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

// G G' of one end: its lower triangle is its upper one.
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

// W_ii of each contact.
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

ss_status ss_coupling_new(const ss_problem *p, ss_coupling_form form, bool resting,
                          const ss_stop *stop, ss_coupling **coupling, ss_error *e)
{
    return ss_coupling_with(p, NULL, NULL, form, resting, stop, coupling, e);
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
    if (status == SS_OK && !coupling_allocate(c)) { // where making W has left room
        status = ss_fail_memory(e, "the coupling of the contacts");
    }
    if (status != SS_OK || ss_stop_asked(stop)) {
        ss_coupling_free(c);
        return status;
    }
    coupling_fill_contacts(c, p);
    if (!c->is_explicit) { // r is 0
        memcpy(c->z, c->white->z0, (size_t)c->white->body_start[c->white->nbodies] * sizeof *c->z);
    }
    *coupling = c;
    return SS_OK;
}
