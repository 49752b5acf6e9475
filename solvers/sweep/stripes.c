#include "solvers/sweep/stripes.h"

#include <stdlib.h>
#include <string.h>

#include "problems/matrix/bodies.h"

// Which contacts a contact meets: those on its meeting places. A place is a body in global form, a
// contact's column of W in local form.
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

// The place that an entry of contact i's columns leads to.
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
            if (p->form == SS_LOCAL) { // its own place, though W_ii may be empty
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
    // Counted two places on, so that filling leaves every start in its own place.
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

// Breadth first from contact `first`; levels count on from *level. Every place is entered once.
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

// Levels of all contacts. From the contact that was found last the levels are many and thin, so the
// spreading is done twice. Parts that do not touch follow each other two levels apart.
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

// queue lists the contacts with ascending levels. Cuts whole levels into stripes: stripe_of by
// contact; returns their number.
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

// Visits: the even stripes, then the odd ones; in a stripe the contacts in their natural order.
static void order_visits(const int *stripe_of, int n, ss_stripes *s)
{
    int filled = 0, placed = 0;
    s->neven = (s->count + 1) / 2;
    for (int parity = 0; parity < 2; parity++) {
        for (int stripe = parity; stripe < s->count; stripe += 2) {
            s->start[placed++] = filled;
            for (int i = 0; i < n; i++) {
                if (stripe_of[i] == stripe) {
                    s->order[filled++] = i;
                }
            }
        }
    }
    s->start[placed] = filled;
}

static bool make_stripes(const meetings *m, ss_stripes *s)
{
    const size_t n = (size_t)m->ncontacts;
    bool *entered = malloc(((size_t)m->nplaces + 1) * sizeof *entered);
    int *level_of = malloc(n * sizeof *level_of), *queue = malloc(n * sizeof *queue);
    int *stripe_of = malloc(n * sizeof *stripe_of);
    s->order = malloc(n * sizeof *s->order);
    s->start = malloc((n + 1) * sizeof *s->start);
    const bool ok = entered != NULL && level_of != NULL && queue != NULL && stripe_of != NULL &&
                    s->order != NULL && s->start != NULL;
    if (ok) {
        find_levels(m, entered, level_of, queue);
        s->count = cut_levels(level_of, queue, m->ncontacts, stripe_of);
        order_visits(stripe_of, m->ncontacts, s);
    }
    free(entered);
    free(level_of);
    free(queue);
    free(stripe_of);
    return ok;
}

ss_status ss_stripes_find(const ss_problem *p, ss_stripes *stripes, ss_error *e)
{
    *stripes = (ss_stripes){0};
    ss_bodies bodies = {0};
    if (p->form == SS_GLOBAL) {
        const ss_status status = ss_bodies_find(p, &bodies, e);
        if (status != SS_OK) {
            return status;
        }
    }
    meetings m = {.ncontacts = p->ncontacts,
                  .nplaces = p->form == SS_GLOBAL ? bodies.nbodies : p->ncontacts};
    const bool ok = list_places(p, &bodies, &m) && list_guests(&m) && make_stripes(&m, stripes);
    free_meetings(&m);
    ss_bodies_free(&bodies);
    if (!ok) {
        ss_stripes_free(stripes);
        return ss_fail_memory(e, "the stripes of a sweep");
    }
    return SS_OK;
}

void ss_stripes_free(ss_stripes *stripes)
{
    free(stripes->order);
    free(stripes->start);
    *stripes = (ss_stripes){0};
}
