// solvers/sweep/order.c -- stripes, and problems in another order.
#include "solvers/sweep/order.h"

#include "base/assert.h"
#include "base/random.h"
#include "problems/matrix/mass.h"

#include <stdlib.h>
#include <string.h>

// ---- Stripes

// A contact meets the others on its meeting places. A place is a body in global form, a contact's
// column of W in local form.
typedef struct meetings {
    int ncontacts, nplaces;
    int *place_start, *place; // [ncontacts + 1], places of each contact
    int *guest_start, *guest; // [nplaces + 1], contacts at each place
} meetings;

static void free_meetings(meetings *m)
{
    free(m->place_start);
    free(m->place);
    free(m->guest_start);
    free(m->guest);
}

// Returns the place that an entry of a contact's columns leads to.
static int place_of_entry(const ss_problem *p, const ss_bodies *bodies, int row)
{
    return p->form == SS_GLOBAL ? bodies->body_of[row] : row / p->dim;
}

static bool list_places(const ss_problem *p, const ss_bodies *bodies, meetings *m)
{
    const ss_sparse *A = p->form == SS_GLOBAL ? &p->H : &p->W;
    int *seen = malloc(((size_t)m->nplaces + 1) * sizeof *seen);
    m->place_start = malloc(((size_t)m->ncontacts + 1) * sizeof *m->place_start);
    m->place = malloc(((size_t)ss_sparse_count(A) + (size_t)m->ncontacts) * sizeof *m->place);
    const bool ok = seen != NULL && m->place_start != NULL && m->place != NULL;
    int count = 0;
    if (ok) {
        memset(seen, -1, (size_t)m->nplaces * sizeof *seen);
        for (int i = 0; i < m->ncontacts; i++) {
            m->place_start[i] = count;
            if (p->form == SS_LOCAL) { // W_ii may be empty
                seen[i] = i;
                m->place[count++] = i;
            }
            const int columns = ss_alike_columns(A, p->dim * i, p->dim) ? 1 : p->dim;
            for (int k = A->start[p->dim * i]; k < A->start[p->dim * i + columns]; k++) {
                const int place = place_of_entry(p, bodies, A->row[k]);
                if (seen[place] != i) {
                    seen[place] = i;
                    m->place[count++] = place;
                }
            }
        }
        m->place_start[m->ncontacts] = count;
    }
    free(seen);
    return ok;
}

static bool list_guests(meetings *m)
{
    const int count = m->place_start[m->ncontacts];
    m->guest_start = calloc((size_t)m->nplaces + 2, sizeof *m->guest_start);
    m->guest = malloc(((size_t)count + 1) * sizeof *m->guest);
    if (m->guest_start == NULL || m->guest == NULL) {
        return false;
    }
    // Contacts are counted two places on, so that filling leaves every start in its own place.
    for (int k = 0; k < count; k++) {
        m->guest_start[m->place[k] + 2]++;
    }
    for (int k = 2; k <= m->nplaces; k++) {
        m->guest_start[k] += m->guest_start[k - 1];
    }
    for (int i = 0; i < m->ncontacts; i++) {
        for (int k = m->place_start[i]; k < m->place_start[i + 1]; k++) {
            m->guest[m->guest_start[m->place[k] + 1]++] = i;
        }
    }
    return true;
}

// Spreads breadth first from contact `first`, whose level is `level`. Every place is entered once.
// queue [ncontacts] keeps the contacts in the order of their discovery from *found on.
static void stripes_spread(const meetings *m, int first, bool *entered, int *level_of, int *queue,
                           int *found, int level)
{
    int head = *found;
    queue[(*found)++] = first;
    level_of[first] = level;
    for (; head < *found; head++) {
        const int i = queue[head];
        for (int k = m->place_start[i]; k < m->place_start[i + 1]; k++) {
            const int place = m->place[k];
            if (entered[place]) {
                continue;
            }
            entered[place] = true;
            for (int g = m->guest_start[place]; g < m->guest_start[place + 1]; g++) {
                const int other = m->guest[g];
                if (level_of[other] < 0) {
                    level_of[other] = level_of[i] + 1;
                    queue[(*found)++] = other;
                }
            }
        }
    }
}

// Finds the levels of all contacts. From the contact that was found last the levels are many and
// thin, so the spreading is done twice. Parts that do not touch follow each other two levels apart.
static void find_levels(const meetings *m, bool *entered, int *level_of, int *queue)
{
    int first = 0;
    for (int pass = 0; pass < 2; pass++) {
        int found = 0, level = 0;
        memset(entered, 0, (size_t)m->nplaces * sizeof *entered);
        memset(level_of, -1, (size_t)m->ncontacts * sizeof *level_of);
        stripes_spread(m, first, entered, level_of, queue, &found, level);
        const int last = queue[found - 1];
        for (int i = 0; i < m->ncontacts; i++) {
            if (level_of[i] < 0) {
                level = level_of[queue[found - 1]] + 2;
                stripes_spread(m, i, entered, level_of, queue, &found, level);
            }
        }
        first = last;
    }
}

// Cuts whole levels into stripes, and returns their number; queue lists the contacts with ascending
// levels.
static int cut_levels(const int *level_of, const int *queue, int n, int *stripe_of)
{
    const int share = (n + SS_STRIPES_MAX - 1) / SS_STRIPES_MAX;
    int stripe = 0, size = 0;
    for (int k = 0; k < n; k++) {
        const bool new_level = k > 0 && level_of[queue[k]] != level_of[queue[k - 1]];
        if (new_level && size >= share) {
            stripe++;
            size = 0;
        }
        stripe_of[queue[k]] = stripe;
        size++;
    }
    return stripe + 1;
}

// Orders the visits: the even stripes, then the odd ones; in a stripe the contacts in their natural
// order.
static void order_visits(const int *stripe_of, int n, ss_stripes *s, int *order)
{
    int filled = 0, placed = 0;
    s->neven = (s->count + 1) / 2;
    for (int parity = 0; parity < 2; parity++) {
        for (int stripe = parity; stripe < s->count; stripe += 2) {
            s->start[placed++] = filled;
            for (int i = 0; i < n; i++) {
                if (stripe_of[i] == stripe) {
                    order[filled++] = i;
                }
            }
        }
    }
    s->start[placed] = filled;
}

static bool make_stripes(const meetings *m, ss_ordered *o)
{
    const size_t n = (size_t)m->ncontacts;
    bool *entered = malloc(((size_t)m->nplaces + 1) * sizeof *entered);
    int *level_of = malloc(n * sizeof *level_of), *queue = malloc(n * sizeof *queue);
    int *stripe_of = malloc(n * sizeof *stripe_of);
    o->order = malloc(n * sizeof *o->order);
    o->stripes.start = malloc((n + 1) * sizeof *o->stripes.start);
    const bool ok = entered != NULL && level_of != NULL && queue != NULL && stripe_of != NULL &&
                    o->order != NULL && o->stripes.start != NULL;
    if (ok) {
        find_levels(m, entered, level_of, queue);
        o->stripes.count = cut_levels(level_of, queue, m->ncontacts, stripe_of);
        order_visits(stripe_of, m->ncontacts, &o->stripes, o->order);
    }
    free(entered);
    free(level_of);
    free(queue);
    free(stripe_of);
    return ok;
}

static ss_status find_stripes(const ss_problem *p, ss_ordered *o, ss_error *e)
{
    ss_bodies bodies = {0};
    if (p->form == SS_GLOBAL) {
        const ss_status status = ss_bodies_find(p, &bodies, e);
        if (status != SS_OK) {
            return status;
        }
    }
    meetings m = {.ncontacts = p->ncontacts,
                  .nplaces = p->form == SS_GLOBAL ? bodies.nbodies : p->ncontacts};
    const bool ok = list_places(p, &bodies, &m) && list_guests(&m) && make_stripes(&m, o);
    free_meetings(&m);
    ss_bodies_free(&bodies);
    return ok ? SS_OK : ss_fail_memory(e, "the stripes of a sweep");
}

// ---- A problem in another order

void ss_ordered_take(const ss_ordered *ordered, int width, const double *problem, double *visits)
{
    ss_assert(problem != visits);
    const size_t bytes = (size_t)width * sizeof *visits;
    for (int k = 0; k < ordered->view.ncontacts; k++) {
        const int i = ordered->order != NULL ? ordered->order[k] : k;
        memcpy(visits + (size_t)k * (size_t)width, problem + (size_t)i * (size_t)width, bytes);
    }
}

void ss_ordered_give(const ss_ordered *ordered, int width, const double *visits, double *problem)
{
    ss_assert(problem != visits);
    const size_t bytes = (size_t)width * sizeof *visits;
    for (int k = 0; k < ordered->view.ncontacts; k++) {
        const int i = ordered->order != NULL ? ordered->order[k] : k;
        memcpy(problem + (size_t)i * (size_t)width, visits + (size_t)k * (size_t)width, bytes);
    }
}

// Returns a permutation; a random one exchanges each place with one before it (Fisher and Yates).
static int *draw_order(int n, ss_order_kind kind, uint64_t seed)
{
    int *order = malloc((size_t)n * sizeof *order);
    ss_random g = ss_random_seeded(seed);
    for (int k = 0; order != NULL && k < n; k++) {
        order[k] = kind == SS_REVERSE ? n - 1 - k : k;
    }
    for (int k = n - 1; order != NULL && kind == SS_RANDOM && k > 0; k--) {
        const int other = ss_random_below(&g, k + 1);
        const int here = order[k];
        order[k] = order[other];
        order[other] = here;
    }
    return order;
}

// Puts the columns of A into the order of the visits, dim columns a contact. They are copied as
// they are: their rows ascend already, and sorting triplets takes as long as all else that an order
// needs.
static ss_status permute_columns(const ss_ordered *o, const ss_sparse *A, ss_sparse *out,
                                 ss_error *e)
{
    const int dim = o->view.dim, count = ss_sparse_count(A);
    const size_t room = (size_t)count + 1;
    *out = (ss_sparse){.nrows = A->nrows, .ncols = A->ncols};
    out->start = malloc(((size_t)A->ncols + 1) * sizeof *out->start);
    out->row = malloc(room * sizeof *out->row);
    out->x = malloc(room * sizeof *out->x);
    if (out->start == NULL || out->row == NULL || out->x == NULL) {
        return ss_fail_memory(e, "a problem in another order");
    }
    int filled = 0;
    for (int k = 0; k < o->view.ncontacts; k++) {
        const int *start = A->start + dim * o->order[k], from = start[0];
        const size_t entries = (size_t)(start[dim] - from);
        for (int c = 0; c < dim; c++) {
            out->start[dim * k + c] = filled + start[c] - from;
        }
        memcpy(out->row + filled, A->row + from, entries * sizeof *out->row);
        memcpy(out->x + filled, A->x + from, entries * sizeof *out->x);
        filled += (int)entries;
    }
    out->start[A->ncols] = filled;
    return SS_OK;
}

// Permutes W, whose rows are contacts too: component c of contact i becomes that of i's visit. Two
// transpositions put them into ascending order again.
static ss_status permute_local(const ss_problem *p, ss_ordered *o, ss_error *e)
{
    const int dim = p->dim, size = dim * p->ncontacts;
    int *rows = malloc((size_t)size * sizeof *rows);
    ss_sparse renamed = {0}, transposed = {0};
    ss_status status = rows != NULL ? permute_columns(o, &p->W, &renamed, e)
                                    : ss_fail_memory(e, "a problem in another order");
    if (status == SS_OK) {
        for (int j = 0; j < size; j++) {
            rows[dim * o->order[j / dim] + j % dim] = j;
        }
        for (int k = 0; k < ss_sparse_count(&renamed); k++) {
            renamed.row[k] = rows[renamed.row[k]];
        }
        status = ss_sparse_transpose(&renamed, &transposed, e);
    }
    if (status == SS_OK) {
        status = ss_sparse_transpose(&transposed, &o->view.W, e);
    }
    ss_sparse_free(&renamed);
    ss_sparse_free(&transposed);
    free(rows);
    return status;
}

static double *order_take(const ss_ordered *o, int width, const double *x)
{
    double *taken = malloc((size_t)(width * o->view.ncontacts) * sizeof *taken);
    if (taken != NULL) {
        ss_ordered_take(o, width, x, taken);
    }
    return taken;
}

static ss_status permute(const ss_problem *p, ss_ordered *o, ss_error *e)
{
    const bool local = p->form == SS_LOCAL;
    double *load = order_take(o, p->dim, local ? p->b : p->w);
    o->view.b = local ? load : NULL;
    o->view.w = local ? NULL : load;
    o->view.mu = order_take(o, 1, p->mu);
    if (load == NULL || o->view.mu == NULL) {
        return ss_fail_memory(e, "a problem in another order");
    }
    return local ? permute_local(p, o, e) : permute_columns(o, &p->H, &o->view.H, e);
}

ss_status ss_ordered_new(const ss_problem *p, ss_order_kind kind, uint64_t seed,
                         ss_ordered *ordered, ss_error *e)
{
    *ordered = (ss_ordered){.view = *p};
    if (kind == SS_NATURAL) {
        return SS_OK;
    }
    ordered->owned = true;
    ordered->view.W = ordered->view.H = (ss_sparse){0};
    ordered->view.mu = ordered->view.b = ordered->view.w = NULL;
    ss_status status = SS_OK;
    if (kind == SS_STRIPED) {
        status = find_stripes(p, ordered, e);
    } else {
        ordered->order = draw_order(p->ncontacts, kind, seed);
        status = ordered->order != NULL ? SS_OK : ss_fail_memory(e, "an order of contacts");
    }
    if (status == SS_OK) {
        status = permute(p, ordered, e);
    }
    if (status != SS_OK) {
        ss_ordered_free(ordered);
    }
    return status;
}

void ss_ordered_free(ss_ordered *ordered)
{
    if (ordered->owned) {
        ss_sparse_free(&ordered->view.W);
        ss_sparse_free(&ordered->view.H);
        free(ordered->view.mu);
        free(ordered->view.b);
        free(ordered->view.w);
    }
    free(ordered->order);
    free(ordered->stripes.start);
    *ordered = (ss_ordered){0};
}
