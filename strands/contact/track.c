// strands/contact/track.c -- the contacts of the step before, sorted as touches are, and
// looked up by bisection among those of their first strand.
#include "strands/contact/track.h"

#include <stdbool.h>

#include "strands/buffer.h"

// A contact that is remembered.
typedef struct known {
    ss_touch touch;
    ss_mat3 E;
    double force[3]; // N, in the frame E
} known;

// Contacts are recalled in so many parts if threads share them; few are one part.
#define PARTS          64
#define CONTACTS_LEAST 500

struct ss_track {
    ss_team *team;                   // the caller's
    ss_buffer lists, takens, begins; // where the next three live
    known *list;                     // [count]
    bool *taken;                     // [count] by a contact of this step
    // [nstrands + 1] where the contacts of each first strand begin, up to the last that has one
    int *begin;
    int count, nstrands;
};

ss_track *ss_track_new(ss_team *team)
{
    ss_track *t = calloc(1, sizeof *t);
    if (t != NULL) {
        t->team = team;
    }
    return t;
}

void ss_track_free(ss_track *t)
{
    if (t != NULL) {
        ss_buffer_free(&t->lists);
        ss_buffer_free(&t->takens);
        ss_buffer_free(&t->begins);
    }
    free(t);
}

static int sign(int a, int b)
{
    return (a > b) - (a < b);
}

int ss_touch_compare(const void *first, const void *second)
{
    const ss_touch *a = first, *b = second;
    int order = sign(a->strand_a, b->strand_a);
    order = order != 0 ? order : sign(a->segment_a, b->segment_a);
    order = order != 0 ? order : sign(a->strand_b, b->strand_b);
    return order != 0 ? order : sign(a->segment_b, b->segment_b);
}

// Contacts of one pair of segments follow each other in the list: first <= i < end.
typedef struct run {
    int first, end;
} run;

static run find(const ss_track *t, const ss_touch *pair)
{
    const int k = pair->strand_a;
    const known *at = NULL;
    if (k >= 0 && k < t->nstrands) { // a known begins with its touch
        at = bsearch(pair, t->list + t->begin[k], (size_t)(t->begin[k + 1] - t->begin[k]),
                     sizeof *t->list, ss_touch_compare);
    }
    if (at == NULL) {
        return (run){0, 0};
    }
    run r = {(int)(at - t->list), (int)(at - t->list) + 1};
    while (r.first > 0 && ss_touch_compare(&t->list[r.first - 1], pair) == 0) {
        r.first--;
    }
    while (r.end < t->count && ss_touch_compare(&t->list[r.end], pair) == 0) {
        r.end++;
    }
    return r;
}

// How far apart two contacts are along their strands, in segments; infinite where one coordinate
// moved by a segment or more.
static double slide(const ss_touch *from, const ss_touch *to)
{
    const double along_a = fabs(to->segment_a + to->a - from->segment_a - from->a);
    const double along_b = fabs(to->segment_b + to->b - from->segment_b - from->b);
    return along_a < 1.0 && along_b < 1.0 ? along_a + along_b : INFINITY;
}

// The nearest contact on a neighbouring pair of segments that is not taken yet, or -1.
static int find_neighbour(const ss_track *t, const ss_touch *touch)
{
    const int reach_b = touch->strand_b < 0 ? 0 : 1; // obstacles have no neighbours
    int best = -1;
    double shortest = INFINITY;
    for (int da = -1; da <= 1; da++) {
        for (int db = -reach_b; db <= reach_b; db++) {
            ss_touch pair = *touch;
            pair.segment_a += da;
            pair.segment_b += db;
            const run r = find(t, &pair);
            for (int at = r.first; at < r.end; at++) {
                if (!t->taken[at] && slide(&t->list[at].touch, touch) < shortest) {
                    shortest = slide(&t->list[at].touch, touch);
                    best = at;
                }
            }
        }
    }
    return best;
}

ss_mat3 ss_contact_frame(ss_vec3 n)
{
    const double x = fabs(n.x), y = fabs(n.y), z = fabs(n.z);
    ss_vec3 axis = {0.0, 0.0, 1.0};
    if (x <= y && x <= z) {
        axis = ss_vec(1.0, 0.0, 0.0);
    } else if (y <= z) {
        axis = ss_vec(0.0, 1.0, 0.0);
    }
    const ss_vec3 t1 = ss_unit(ss_cross(axis, n));
    return (ss_mat3){{n, t1, ss_cross(n, t1)}};
}

// E turned with its normal; made orthonormal again, so that rounding does not gather over steps.
static ss_mat3 carried_frame(const ss_mat3 *E, ss_vec3 n)
{
    const ss_vec3 moved = ss_transported(E->c[0], n, E->c[1]);
    const ss_vec3 t1 = ss_unit(ss_along(moved, -ss_dot(n, moved), n));
    return (ss_mat3){{n, t1, ss_cross(n, t1)}};
}

static void take(ss_track *t, int at, ss_vec3 n, double dt, ss_mat3 *E, double r[3])
{
    const known *k = &t->list[at];
    t->taken[at] = true;
    *E = carried_frame(&k->E, n);
    for (int c = 0; c < 3; c++) {
        r[c] = dt * k->force[c];
    }
}

static bool is_new(const ss_mat3 *E)
{
    return !(ss_dot(E->c[0], E->c[0]) > 0.0);
}

// The contacts of one pair of segments, now and before: the two that are nearest to each other
// first.
static int recall_pair(ss_track *t, const ss_touch *touches, int count, double dt, ss_mat3 *E,
                       double *r)
{
    const run before = find(t, &touches[0]);
    const int most = count < before.end - before.first ? count : before.end - before.first;
    for (int hits = 0; hits < most; hits++) {
        int best = -1, best_at = -1;
        double shortest = INFINITY;
        for (int i = 0; i < count; i++) {
            for (int at = before.first; is_new(&E[i]) && at < before.end; at++) {
                const double apart = slide(&t->list[at].touch, &touches[i]);
                if (!t->taken[at] && (best < 0 || apart < shortest)) {
                    shortest = apart;
                    best = i;
                    best_at = at;
                }
            }
        }
        take(t, best_at, touches[best].n, dt, &E[best], &r[3 * best]);
    }
    return most;
}

// Arguments and memory of ss_track_recall.
typedef struct recall {
    ss_track *track;
    const ss_touch *touches;
    int count, nparts;
    double dt;
    ss_mat3 *E;
    double *r;
    int hits[PARTS];
} recall;

// The contacts of part `item` begin at the first of their strand a. Parts have nothing to do with
// each other, for a contact and what it recalls have the same strand a.
static int begin_of(const recall *c, int item)
{
    int at = ss_team_cut(c->count, item, c->nparts);
    while (at > 0 && at < c->count && c->touches[at].strand_a == c->touches[at - 1].strand_a) {
        at++;
    }
    return at;
}

static void recall_part(void *context, int item, int thread)
{
    recall *c = context;
    const int begin = begin_of(c, item), stop = begin_of(c, item + 1);
    const ss_touch *touches = c->touches;
    int hits = 0;
    (void)thread;
    // The same pairs first, so that no neighbour takes what is another's own.
    for (int i = begin, end; i < stop; i = end) {
        for (end = i; end < stop && ss_touch_compare(&touches[i], &touches[end]) == 0; end++) {
            c->E[end].c[0] = ss_vec(0.0, 0.0, 0.0); // not known yet
        }
        hits += recall_pair(c->track, touches + i, end - i, c->dt, c->E + i, c->r + 3 * i);
    }
    for (int i = begin; i < stop; i++) {
        if (!is_new(&c->E[i])) {
            continue;
        }
        const int at = find_neighbour(c->track, &touches[i]);
        if (at >= 0) {
            take(c->track, at, touches[i].n, c->dt, &c->E[i], &c->r[3 * i]);
            hits++;
        } else {
            c->E[i] = ss_contact_frame(touches[i].n);
            c->r[3 * i] = c->r[3 * i + 1] = c->r[3 * i + 2] = 0.0;
        }
    }
    c->hits[item] = hits;
}

int ss_track_recall(ss_track *t, const ss_touch *touches, int count, double dt, ss_mat3 *E,
                    double *r)
{
    recall c = {.track = t,
                .touches = touches,
                .count = count,
                .nparts = t->team != NULL && count >= CONTACTS_LEAST ? PARTS : 1,
                .dt = dt,
                .E = E,
                .r = r};
    int hits = 0;
    for (int i = 0; i < t->count; i++) {
        t->taken[i] = false;
    }
    ss_team_run(t->team, c.nparts, recall_part, &c);
    for (int k = 0; k < c.nparts; k++) {
        hits += c.hits[k];
    }
    return hits;
}

ss_status ss_track_keep(ss_track *t, const ss_touch *touches, int count, const ss_mat3 *E,
                        const double *r, double dt, ss_error *e)
{
    const size_t n = (size_t)count + 1;
    known *list = ss_buffer_room(&t->lists, n * sizeof *list);
    bool *taken = ss_buffer_room(&t->takens, n * sizeof *taken);
    const int nstrands = count > 0 ? touches[count - 1].strand_a + 1 : 0;
    int *begin = ss_buffer_room(&t->begins, ((size_t)nstrands + 1) * sizeof *begin);
    t->list = list != NULL ? list : t->list;
    t->taken = taken != NULL ? taken : t->taken;
    t->begin = begin != NULL ? begin : t->begin;
    if (list == NULL || taken == NULL || begin == NULL) {
        return ss_fail_memory(e, "the contacts of a step");
    }
    for (int i = 0; i < count; i++) {
        t->list[i] =
            (known){touches[i], E[i], {r[3 * i] / dt, r[3 * i + 1] / dt, r[3 * i + 2] / dt}};
    }
    for (int k = 0, i = 0; k <= nstrands; k++) {
        while (i < count && touches[i].strand_a < k) {
            i++;
        }
        t->begin[k] = i;
    }
    t->count = count;
    t->nstrands = nstrands;
    return SS_OK;
}
