// strands/step/step_tools.c -- one try of a step, from the systems to the test of where it
// ends.
#include "strands/step/stepper.h"

#include "base/clock.h"
#include "strands/buffer.h"
#include "strands/step/step.h"
#include "strands/step/systems.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

// ---- Dofs that move a contact

// What a contact has to do with a strand: the free dofs that move it, increasing, by their places
// among those of the strand, and their columns of J_A - J_B.
typedef struct ss_contact_part {
    int strand, count;
    // True if the dofs of each end of the segment follow each other; those of the second end begin
    // at `second`.
    bool ranges;
    int second;
    int *dof;     // [count]
    double *J[3]; // [count] each
} ss_contact_part;

// One or two, in the order of the strands.
typedef struct ss_contact_dofs {
    ss_contact_part of[2];
    int count;
} ss_contact_dofs;

// Parts of the problem: contacts with their frames, at `from` and h later at `to` (of which only
// bodies and obstacles are looked at).
typedef struct ss_step_parts {
    const ss_world *world;
    const ss_step_options *options;
    const ss_systems *systems;
    const ss_snapshot *from, *to;
    double h;
    const ss_touch *touches; // [count]
    const ss_mat3 *E;        // [count]
    int count;               // >= 1
    bool impacts;            // are found apart: w knows no restitution
} ss_step_parts;

// The points at the ends of a segment.
static inline const ss_strand_point *ss_segment_ends(const ss_step_parts *in, int k, int segment)
{
    return in->from->all.points + in->world->strands[k].point + segment;
}

// Room of one entry of a part.
#define PART_ENTRY (sizeof(double[3]) + sizeof(int))

// Bytes for strands of at most `widest` dofs; and without entries, in such room.
static size_t contact_room(int widest)
{
    return 2 * (size_t)(widest + 1) * PART_ENTRY;
}

static ss_contact_dofs contact_dofs_in(void *room, int widest)
{
    const int n = widest + 1;
    double *J = room;
    int *dof = (int *)(J + 6 * n);
    return (ss_contact_dofs){.of = {{.dof = dof, .J = {J, J + n, J + 2 * n}},
                                    {.dof = dof + n, .J = {J + 3 * n, J + 4 * n, J + 5 * n}}}};
}

// -- Dofs in ranges

// The free place of the first dof of a point, or -1 where its dofs are not some free ones that
// follow each other.
static int first_place(const int *place, const ss_strand_point *p)
{
    if (p->dofs != NULL || p->count == 0) {
        return -1;
    }
    const int first = place[p->first], last = place[p->first + p->count - 1];
    return first >= 0 && last - first == p->count - 1 ? first : -1;
}

// Most strands have such points: then what follows is needed for no other.
static bool find_ranges(const ss_step_parts *in, const ss_strand_point *end, ss_contact_part *p)
{
    const int *place = in->systems->place + in->world->strands[p->strand].v;
    const int first = first_place(place, &end[0]), second = first_place(place, &end[1]);
    p->ranges = first >= 0 && second >= first;
    if (!p->ranges) {
        return false;
    }
    p->second = second <= first + end[0].count ? second - first : end[0].count;
    const int last = p->second + end[1].count;
    p->count = last > end[0].count ? last : end[0].count;
    for (int j = 0; j < end[0].count; j++) {
        p->dof[j] = first + j;
    }
    for (int j = 0; j < end[1].count; j++) {
        p->dof[p->second + j] = second + j;
    }
    return true;
}

static void add_range(double weight, const ss_strand_point *point, int from, ss_contact_part *p)
{
    for (int c = 0; c < 3; c++) {
        const double *restrict x = point->J + c * point->count;
        double *restrict J = p->J[c] + from;
        for (int j = 0; j < point->count; j++) {
            J[j] += weight * x[j];
        }
    }
}

// -- Any dofs

// The free dofs of a point are merged into the part's.
static void add_dofs(const ss_step_parts *in, const ss_strand_point *point, ss_contact_part *p)
{
    const int *place = in->systems->place + in->world->strands[p->strand].v;
    int at = 0;
    for (int j = 0; j < point->count; j++) {
        const int dof = place[ss_point_dof(point, j)];
        while (at < p->count && p->dof[at] < dof) {
            at++;
        }
        if (dof < 0 || (at < p->count && p->dof[at] == dof)) {
            continue; // held: its part of u is in w
        }
        memmove(p->dof + at + 1, p->dof + at, (size_t)(p->count - at) * sizeof *p->dof);
        p->dof[at] = dof;
        p->count++;
    }
}

// J += weight x that of the point, whose dofs are among the part's.
static void add_point(const ss_step_parts *in, double weight, const ss_strand_point *point,
                      ss_contact_part *p)
{
    const int *place = in->systems->place + in->world->strands[p->strand].v;
    const double *x = point->J, *y = x + point->count, *z = y + point->count;
    int at = 0;
    for (int j = 0; j < point->count; j++) {
        const int dof = place[ss_point_dof(point, j)];
        if (dof < 0) {
            continue;
        }
        while (p->dof[at] < dof) {
            at++;
        }
        p->J[0][at] += weight * x[j];
        p->J[1][at] += weight * y[j];
        p->J[2][at] += weight * z[j];
    }
}

// -- A contact

static void add_segment(const ss_step_parts *in, const ss_strand_point *end, ss_contact_part *p)
{
    if (p->count == 0 && find_ranges(in, end, p)) {
        return;
    }
    p->ranges = false; // of two segments of one strand no range is known
    add_dofs(in, &end[0], p);
    add_dofs(in, &end[1], p);
}

// The dofs of a contact, J unset; and both.
static void contact_find(const ss_step_parts *in, const ss_touch *t, ss_contact_dofs *d)
{
    d->of[0].strand = t->strand_a;
    d->of[0].count = d->of[1].count = 0;
    d->count = t->strand_b < 0 || t->strand_b == t->strand_a ? 1 : 2;
    add_segment(in, ss_segment_ends(in, t->strand_a, t->segment_a), &d->of[0]);
    if (t->strand_b >= 0) {
        ss_contact_part *other = &d->of[d->count - 1];
        other->strand = t->strand_b;
        add_segment(in, ss_segment_ends(in, t->strand_b, t->segment_b), other);
    }
}

// J += that of the points of a segment.
static void add_ends(const ss_step_parts *in, const ss_strand_point *end, double first,
                     double second, ss_contact_part *p)
{
    if (p->ranges) {
        add_range(first, &end[0], 0, p);
        add_range(second, &end[1], p->second, p);
    } else {
        add_point(in, first, &end[0], p);
        add_point(in, second, &end[1], p);
    }
}

static void contact_fill(const ss_step_parts *in, const ss_touch *t, ss_contact_dofs *d)
{
    contact_find(in, t, d);
    for (int k = 0; k < d->count; k++) {
        for (int c = 0; c < 3; c++) {
            memset(d->of[k].J[c], 0, (size_t)d->of[k].count * sizeof *d->of[k].J[c]);
        }
    }
    add_ends(in, ss_segment_ends(in, t->strand_a, t->segment_a), 1.0 - t->a, t->a, &d->of[0]);
    if (t->strand_b >= 0) {
        add_ends(in, ss_segment_ends(in, t->strand_b, t->segment_b), t->b - 1.0, -t->b,
                 &d->of[d->count - 1]);
    }
}

#define AHEAD_POINTS 8 // contacts
#define AHEAD_J      4

// Asks for what a contact some places behind contact i has to do with its second strand: the
// contacts of the first strand follow each other, but each is on another second one.
static void contact_ask(const ss_step_parts *in, int i)
{
    const ss_touch *t = in->touches;
    if (i + AHEAD_POINTS < in->count && t[i + AHEAD_POINTS].strand_b >= 0) {
        const ss_touch *far = &t[i + AHEAD_POINTS];
        const ss_strand_point *end = ss_segment_ends(in, far->strand_b, far->segment_b);
        __builtin_prefetch(&end[0]);
        __builtin_prefetch(&end[1].J);
    }
    if (i + AHEAD_J < in->count && t[i + AHEAD_J].strand_b >= 0) {
        const ss_touch *near = &t[i + AHEAD_J];
        const ss_strand_point *end = ss_segment_ends(in, near->strand_b, near->segment_b);
        for (int k = 0; k < 2; k++) {
            for (int j = 0; j < 3 * end[k].count; j += 8) {
                __builtin_prefetch(end[k].J + j);
            }
        }
    }
}

// ---- The one-step problem
//
// M, H, f, w and mu of the strands that touch something.

// The velocity that takes back a penetration is at most this, m/s: deep ones must not shoot apart.
#define EXIT_SPEED 0.1

// Strands and contacts are cut into so many parts if threads share them; few contacts are one part.
#define PARTS          64
#define CONTACTS_LEAST 200

ss_vec3 ss_segment_point(const ss_world *w, const ss_vec3 *x, int k, int segment, double a)
{
    const ss_vec3 *end = x + w->strands[k].point + segment;
    return ss_along(ss_scaled(1.0 - a, end[0]), a, end[1]);
}

ss_vec3 ss_carried(const ss_snapshot *from, const ss_snapshot *to, int body, ss_vec3 x)
{
    return ss_pose_point(&to->bodies[body].pose, ss_pose_back(&from->bodies[body].pose, x));
}

void ss_step_problem_free(ss_step_problem *s)
{
    ss_buffer_free(&s->rows);
    ss_buffer_free(&s->columns);
    ss_buffer_free(&s->entries_M);
    ss_buffer_free(&s->entries_H);
    ss_buffer_free(&s->contacts);
    ss_buffer_free(&s->dofs);
    ss_buffer_free(&s->parts);
    *s = (ss_step_problem){0};
}

// -- Sizes

typedef struct sizes {
    size_t entries_M, entries_H;
    int widest; // dofs of a strand
} sizes;

// Rows of M that column j of a full band of n rows has.
static int band_first(const ss_band *M, int j)
{
    return j > M->half ? j - M->half : 0;
}

static int band_end(const ss_band *M, int j)
{
    return j + M->half < M->n ? j + M->half + 1 : M->n;
}

static void mark_strands(ss_step_problem *s, const ss_step_parts *in)
{
    for (int k = 0; k < in->world->nstrands; k++) {
        s->row[k] = -1;
    }
    for (int i = 0; i < in->count; i++) {
        s->row[in->touches[i].strand_a] = 0;
        if (in->touches[i].strand_b >= 0) {
            s->row[in->touches[i].strand_b] = 0;
        }
    }
}

// Entries of H that a segment may have, at most.
static size_t most_entries(const ss_step_parts *in, int k, int segment)
{
    const ss_strand_point *end = ss_segment_ends(in, k, segment);
    return 3 * ((size_t)end[0].count + (size_t)end[1].count);
}

static sizes place_strands(ss_step_problem *s, const ss_step_parts *in)
{
    sizes total = {0};
    int at = 0;
    for (int k = 0; k < in->world->nstrands; k++) {
        const ss_band *M = &in->systems->M[k];
        total.widest = M->n > total.widest ? M->n : total.widest;
        if (s->row[k] < 0) {
            continue;
        }
        s->row[k] = at;
        s->entry[k] = (int)total.entries_M;
        at += M->n;
        for (int j = 0; j < M->n; j++) {
            total.entries_M += (size_t)(band_end(M, j) - band_first(M, j));
        }
    }
    s->problem.ndofs = at;
    for (int i = 0; i < in->count; i++) {
        const ss_touch *t = &in->touches[i];
        total.entries_H += most_entries(in, t->strand_a, t->segment_a);
        total.entries_H += t->strand_b < 0 ? 0 : most_entries(in, t->strand_b, t->segment_b);
    }
    return total;
}

// Bytes that a thread needs for the parts of a contact.
static size_t thread_room(const ss_step_problem *s)
{
    return contact_room(s->widest);
}

// Numbers, then rows, in one buffer.
static bool reserve_entries(ss_buffer *b, size_t count, ss_sparse *A)
{
    A->x = ss_buffer_room(b, (count + 1) * (sizeof *A->x + sizeof *A->row));
    A->row = A->x != NULL ? (int *)(A->x + count + 1) : NULL;
    return A->x != NULL;
}

static ss_status reserve(ss_step_problem *s, const sizes *total, int nthreads, ss_error *e)
{
    ss_problem *p = &s->problem;
    const size_t n = (size_t)p->ncontacts, ndofs = (size_t)p->ndofs;
    if (total->entries_H > INT_MAX || total->entries_M > INT_MAX) {
        return ss_fail(e, SS_BAD_INPUT, "a step has %d contacts, too many for one problem",
                       p->ncontacts);
    }
    double *contacts = ss_buffer_room(&s->contacts, 10 * n * sizeof *contacts);
    int *columns = ss_buffer_room(&s->columns, (ndofs + 3 * n + 2) * sizeof *columns);
    p->f = ss_buffer_room(&s->dofs, (ndofs + 1) * sizeof *p->f);
    s->widest = total->widest;
    if (contacts == NULL || columns == NULL || p->f == NULL ||
        ss_buffer_room(&s->parts, (size_t)nthreads * thread_room(s)) == NULL ||
        !reserve_entries(&s->entries_M, total->entries_M, &p->M) ||
        !reserve_entries(&s->entries_H, total->entries_H, &p->H)) {
        return ss_fail_memory(e, "the problem of a step");
    }
    p->mu = contacts;
    p->w = p->mu + n;
    s->scripted = p->w + 3 * n;
    s->guess = (ss_state){.r = s->scripted + 3 * n};
    p->guesses = &s->guess;
    p->nguesses = 1;
    p->M.start = columns;
    p->H.start = columns + ndofs + 1;
    p->M.nrows = p->M.ncols = p->H.nrows = p->ndofs;
    p->H.ncols = 3 * p->ncontacts;
    return SS_OK;
}

// -- Entries

// All places of the band, zeros too: the pattern tells the solvers that a strand is one body.
static void fill_mass_of(ss_step_problem *s, const ss_step_parts *in, int k)
{
    const ss_band *M = &in->systems->M[k];
    ss_sparse *A = &s->problem.M;
    const int row = s->row[k];
    int at = s->entry[k];
    for (int j = 0; j < M->n; j++) {
        A->start[row + j] = at;
        for (int i = band_first(M, j); i < band_end(M, j); i++, at++) {
            A->row[at] = row + i;
            A->x[at] = i >= j ? *ss_band_at(M, i, j) : *ss_band_at(M, j, i);
        }
    }
    memcpy(s->problem.f + row, in->systems->f + in->world->strands[k].v,
           (size_t)M->n * sizeof *s->problem.f);
}

static ss_contact_dofs room_of(const ss_step_problem *s, int thread)
{
    return contact_dofs_in((char *)s->parts.data + (size_t)thread * thread_room(s), s->widest);
}

// The columns of contact i, whose first entry is at `at`. Returned: behind their last.
static int fill_columns_of(ss_step_problem *s, const ss_step_parts *in, int i, int at,
                           ss_contact_dofs *d)
{
    ss_sparse *H = &s->problem.H;
    contact_fill(in, &in->touches[i], d);
    for (int c = 0; c < 3; c++) {
        const ss_vec3 axis = in->E[i].c[c];
        H->start[3 * i + c] = at;
        for (int k = 0; k < d->count; k++) {
            const ss_contact_part *own = &d->of[k];
            const int row = s->row[own->strand], *dof = own->dof;
            const double *restrict x = own->J[0], *restrict y = own->J[1], *restrict z = own->J[2];
            int *restrict rows = H->row + at;
            double *restrict numbers = H->x + at;
            for (int j = 0; j < own->count; j++) {
                rows[j] = row + dof[j];
                numbers[j] = axis.x * x[j] + axis.y * y[j] + axis.z * z[j];
            }
            at += own->count;
        }
    }
    return at;
}

// -- w and mu

static double gap_term(const ss_step_options *o, double gap, double h)
{
    if (o->gap == SS_GAP_NONE) {
        return 0.0;
    }
    if (gap >= 0.0 || o->gap == SS_GAP_POSITIVE) {
        return fmax(gap, 0.0) / h;
    }
    return -fmin(-o->beta * gap / h, EXIT_SPEED);
}

static ss_vec3 scripted_velocity(const ss_step_parts *in, int body, ss_vec3 x)
{
    return ss_scaled(1.0 / in->h, ss_minus(ss_carried(in->from, in->to, body, x), x));
}

// weight J_c v_c of a point, c the held dofs.
static ss_vec3 held_velocity(const ss_step_parts *in, const ss_strand *strand, double weight,
                             const ss_strand_point *p)
{
    const double *x = p->J, *y = x + p->count, *z = y + p->count;
    ss_vec3 sum = {0.0, 0.0, 0.0};
    for (int j = 0; j < p->count; j++) {
        const double v = in->systems->held[strand->v + ss_point_dof(p, j)]; // 0 for the free ones
        sum = ss_along(sum, weight * v, ss_vec(x[j], y[j], z[j]));
    }
    return sum;
}

static ss_vec3 strand_velocity(const ss_step_parts *in, int k, int segment, double a)
{
    const ss_strand *strand = &in->world->strands[k];
    const ss_strand_point *end = ss_segment_ends(in, k, segment);
    const ss_vec3 x = ss_segment_point(in->world, in->from->x, k, segment, a);
    const ss_vec3 carried = scripted_velocity(in, strand->carrier, x);
    if (strand->size.nheld == 0) {
        return carried;
    }
    return ss_plus(carried, ss_plus(held_velocity(in, strand, 1.0 - a, &end[0]),
                                    held_velocity(in, strand, a, &end[1])));
}

// Of the first point against the second.
static ss_vec3 scripted_difference(const ss_step_parts *in, const ss_touch *t)
{
    const ss_vec3 first = strand_velocity(in, t->strand_a, t->segment_a, t->a);
    if (t->strand_b < 0) {
        const int body = in->world->obstacles[t->segment_b].body;
        return ss_minus(first, scripted_velocity(in, body, t->y));
    }
    return ss_minus(first, strand_velocity(in, t->strand_b, t->segment_b, t->b));
}

// Of contact i, whose scripted normal velocity is known. Impacts on an obstacle by Newton's law:
// with the normal velocity u^- of the start, u_N >= -restitution u^- where it touches in this step,
// a little early for its gap.
static double normal_term(const ss_step_parts *in, int i, double scripted)
{
    const ss_touch *t = &in->touches[i];
    const double gap = t->ahead / in->h + gap_term(in->options, t->gap, in->h);
    const double share = t->strand_b < 0 ? in->world->obstacles[t->segment_b].restitution : 0.0;
    if (share == 0.0 || in->impacts) {
        return gap;
    }
    const ss_strand *strand = &in->world->strands[t->strand_a];
    const ss_strand_point *end = ss_segment_ends(in, t->strand_a, t->segment_a);
    const double *v = in->world->now.v + strand->v;
    const ss_vec3 own =
        ss_along(ss_scaled(1.0 - t->a, ss_point_rate(&end[0], v)), t->a, ss_point_rate(&end[1], v));
    const double before = ss_dot(in->E[i].c[0], own) + scripted;
    return t->gap < -in->h * before ? fmin(share * fmin(before, 0.0), fmin(gap, 0.0)) : gap;
}

static void fill_contact(ss_step_problem *s, const ss_step_parts *in, int i)
{
    const ss_touch *t = &in->touches[i];
    const ss_vec3 u = ss_turned_back(&in->E[i], scripted_difference(in, t));
    const double components[3] = {u.x, u.y, u.z};
    memcpy(s->scripted + 3 * i, components, sizeof components);
    memcpy(s->problem.w + 3 * i, components, sizeof components);
    s->problem.w[3 * i] += normal_term(in, i, u.x);
    s->problem.mu[i] = t->strand_b < 0 ? in->world->obstacles[t->segment_b].mu : in->world->mu;
}

// -- Threads

typedef struct filling {
    ss_step_problem *s;
    const ss_step_parts *in;
    int nparts;
    int entry[PARTS + 1]; // of H, where the contacts of a part begin
} filling;

static filling filling_of(ss_step_problem *s, const ss_step_parts *in)
{
    const bool shared = in->systems->team != NULL && in->count >= CONTACTS_LEAST;
    return (filling){.s = s, .in = in, .nparts = shared ? PARTS : 1};
}

static void fill_mass_part(void *context, int item, int thread)
{
    const filling *c = context;
    const int nstrands = c->in->world->nstrands, end = ss_team_cut(nstrands, item + 1, c->nparts);
    (void)thread;
    for (int k = ss_team_cut(nstrands, item, c->nparts); k < end; k++) {
        if (c->s->row[k] >= 0) {
            fill_mass_of(c->s, c->in, k);
        }
    }
}

static void count_part(void *context, int item, int thread)
{
    filling *c = context;
    const int end = ss_team_cut(c->in->count, item + 1, c->nparts);
    ss_contact_dofs d = room_of(c->s, thread);
    int entries = 0;
    for (int i = ss_team_cut(c->in->count, item, c->nparts); i < end; i++) {
        contact_find(c->in, &c->in->touches[i], &d);
        entries += 3 * (d.of[0].count + d.of[1].count);
    }
    c->entry[item + 1] = entries;
}

static void fill_contacts_part(void *context, int item, int thread)
{
    const filling *c = context;
    const int end = ss_team_cut(c->in->count, item + 1, c->nparts);
    ss_contact_dofs d = room_of(c->s, thread);
    int at = c->entry[item];
    for (int i = ss_team_cut(c->in->count, item, c->nparts); i < end; i++) {
        contact_ask(c->in, i);
        at = fill_columns_of(c->s, c->in, i, at, &d);
        fill_contact(c->s, c->in, i);
    }
    if (end == c->in->count) {
        c->s->problem.H.start[3 * end] = at;
    }
}

// M and f again, of the same parts with systems that were formed about another iterate.
static void step_problem_refresh(ss_step_problem *s, const ss_step_parts *in)
{
    filling c = filling_of(s, in);
    ss_team_run(in->systems->team, c.nparts, fill_mass_part, &c);
}

static void fill(ss_step_problem *s, const ss_step_parts *in)
{
    ss_team *team = in->systems->team;
    filling c = filling_of(s, in);
    ss_team_run(team, c.nparts, fill_mass_part, &c);
    if (c.nparts > 1) {
        ss_team_run(team, c.nparts, count_part, &c);
    }
    for (int k = 0; k < c.nparts; k++) {
        c.entry[k + 1] += c.entry[k];
    }
    ss_team_run(team, c.nparts, fill_contacts_part, &c);
}

// All but the guess and the provenance. SS_SYSTEM without memory.
static ss_status step_problem_form(ss_step_problem *s, const ss_step_parts *in, ss_error *e)
{
    const size_t nstrands = (size_t)in->world->nstrands;
    s->problem = (ss_problem){.form = SS_GLOBAL,
                              .dim = 3,
                              .ncontacts = in->count,
                              .claim = ss_claim_unknown(),
                              .provenance = ss_provenance_unknown()};
    s->row = ss_buffer_room(&s->rows, 2 * (nstrands + 1) * sizeof *s->row);
    if (s->row == NULL) {
        return ss_fail_memory(e, "the problem of a step");
    }
    s->entry = s->row + nstrands + 1;
    mark_strands(s, in);
    const sizes total = place_strands(s, in);
    const ss_status status = reserve(s, &total, in->systems->nrooms, e);
    if (status == SS_OK) {
        s->problem.M.start[s->problem.ndofs] = (int)total.entries_M;
        fill(s, in);
    }
    return status;
}

// ---- Contacts of a try
//
// which contacts a step has: those that are looked for when it begins, and those that later looks
// add.
//
// A look moves all points straight to where v of the trial brings them, and finds the places where
// strands would overlap there (contact/collide.h), or where two segments would pass each other.
// Each such place becomes a contact, unless the same two segments have a contact nearby that v does
// not satisfy yet: solving that one may be enough.
//
// doc/strands.md, "Looks".

// Shares of the radius: a smaller overlap is none, and a contact that lacks more of its distance is
// not solved yet.
#define SLACK    0.05
#define UNSOLVED 0.025
// Radii: two places of one pair of segments that are nearer to each other are the same.
#define NEARBY 2.0

// -- Finding contacts

// Finds touches. The members of `lines` that the caller leaves empty are filled from the world as
// it is `at` a time.
static ss_status search(ss_stepper *s, const ss_snapshot *at, ss_polylines lines, double margin,
                        const ss_touch **touches, int *count, ss_step_report *report, ss_error *e)
{
    const ss_world *w = s->world;
    const double start = ss_clock_now();
    lines.nstrands = w->nstrands;
    lines.first = s->first;
    lines.x = at->x;
    lines.radius = w->radius;
    lines.holder = s->holder;
    lines.branch = s->branch;
    lines.vertices = s->scheme->vertices;
    const ss_status status = ss_collide(s->collider, &lines, w->obstacles, at->obstacles,
                                        w->nobstacles, margin, touches, count, e);
    report->collide_seconds += ss_clock_now() - start;
    return status;
}

ss_status ss_step_collide(ss_stepper *s, const ss_snapshot *at, const ss_vec3 *moved, double h,
                          const ss_touch **touches, int *count, ss_step_report *report, ss_error *e)
{
    const ss_polylines lines = {
        .moved = moved, .coplanar = s->coplanar, .exact = moved == NULL && s->options.looks > 0};
    const double margin = ss_step_margin(&s->options, s->world->radius, h, s->speed);
    return search(s, at, lines, margin, touches, count, report, e);
}

// Where v of the trial brings the points at the end of the step, moving straight, seen from the
// body of the first strand: obstacles of that body rest there, those of others are taken to rest.
static void sweep(ss_stepper *s, double h)
{
    const ss_world *w = s->world;
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand *strand = &w->strands[k];
        double *mean = s->mean + strand->v;
        ss_step_mean_velocity(s, k, s->trial.v + strand->v, mean);
        for (int i = strand->point; i < strand->point + strand->size.npoints; i++) {
            const ss_vec3 rate = ss_point_rate(&s->here.all.points[i], mean);
            const ss_vec3 x = ss_carried(&s->here, &s->there, strand->carrier, s->here.x[i]);
            s->moved[i] = ss_carried(&s->there, &s->here, w->strands[0].body, ss_along(x, h, rate));
        }
    }
}

// Whether something moves the point at abscissa a of a segment of strand k.
static bool point_moves(const ss_stepper *s, int k, int segment, double a)
{
    const int *holder = s->holder + s->first[k] + segment;
    return (a != 1.0 && holder[0] < 0) || (a != 0.0 && holder[1] < 0);
}

bool ss_step_can_move(const ss_stepper *s, const ss_touch *t)
{
    return point_moves(s, t->strand_a, t->segment_a, t->a) ||
           (t->strand_b >= 0 && point_moves(s, t->strand_b, t->segment_b, t->b));
}

// Contacts are pairs of which a point can move; without a gap term those that touch.
static bool is_contact(const ss_stepper *s, const ss_touch *t)
{
    return ss_step_can_move(s, t) && !(s->options.gap == SS_GAP_NONE && t->gap > 0.0);
}

// v of the trial without contacts.
static void end_freely(ss_stepper *s)
{
    for (int k = 0; k < s->world->nstrands; k++) {
        ss_systems_end(&s->systems, s->world, k, s->trial.v + s->world->strands[k].v);
    }
}

static ss_status find_pairs(ss_stepper *s, double h, const ss_touch **pairs, int *count,
                            ss_step_report *report, ss_error *e)
{
    if (s->options.continuous) {
        if (!s->scheme->continuous) {
            end_freely(s);
        }
        sweep(s, h);
        return ss_step_collide(s, &s->here, s->moved, h, pairs, count, report, e);
    }
    if (s->nfound < 0) {
        return ss_step_collide(s, &s->here, NULL, h, pairs, count, report, e);
    }
    *pairs = s->found.data;
    *count = s->nfound;
    return SS_OK;
}

ss_status ss_step_find_contacts(ss_stepper *s, double h, ss_step_report *report, ss_error *e)
{
    s->ncontacts = 0;
    if (!s->options.contacts) {
        return SS_OK;
    }
    const ss_touch *pairs = NULL;
    int count = 0;
    const ss_status status = find_pairs(s, h, &pairs, &count, report, e);
    if (status != SS_OK) {
        return status;
    }
    s->touches = ss_buffer_room(&s->contacts, ((size_t)count + 1) * sizeof *s->touches);
    if (s->touches == NULL) {
        return ss_fail_memory(e, "the contacts of a step");
    }
    for (int i = 0; i < count; i++) {
        if (is_contact(s, &pairs[i])) {
            s->touches[s->ncontacts++] = pairs[i];
        }
    }
    return SS_OK;
}

// -- Looks

// How far, in m along its normal, the contact is from what it asks for at the end of the step.
static double missing(const ss_stepper *s, int i, double h)
{
    return -h * s->u[3 * i];
}

static bool is_nearby(const ss_stepper *s, const ss_touch *t, const ss_touch *other)
{
    const double near = NEARBY * s->world->radius;
    const ss_vec3 *a = s->here.x + s->world->strands[t->strand_a].point + t->segment_a;
    if (fabs(t->a - other->a) * ss_length(ss_minus(a[1], a[0])) > near) {
        return false;
    }
    const ss_vec3 *b =
        t->strand_b < 0 ? a : s->here.x + s->world->strands[t->strand_b].point + t->segment_b;
    return t->strand_b < 0 || fabs(t->b - other->b) * ss_length(ss_minus(b[1], b[0])) <= near;
}

// Whether a place needs a contact of its own. *unsolved counts places that wait for a contact
// nearby to be solved.
static bool is_wanted(const ss_stepper *s, const ss_touch *t, double h, int *unsolved)
{
    const ss_touch *at = bsearch(t, s->touches, (size_t)s->ncontacts, sizeof *at, ss_touch_compare);
    int i = at != NULL ? (int)(at - s->touches) : s->ncontacts;
    while (i > 0 && at != NULL && ss_touch_compare(&s->touches[i - 1], t) == 0) {
        i--;
    }
    for (; i < s->ncontacts && ss_touch_compare(&s->touches[i], t) == 0; i++) {
        if (missing(s, i, h) > UNSOLVED * s->world->radius && is_nearby(s, t, &s->touches[i])) {
            ++*unsolved;
            return false;
        }
    }
    return is_contact(s, t);
}

// u of the contacts for v of the trial.
static void find_relative_velocities(ss_stepper *s)
{
    if (s->ncontacts > 0) {
        ss_step_gather_velocities(s, s->trial.v);
        memcpy(s->u, s->formed.problem.w, 3 * (size_t)s->ncontacts * sizeof *s->u);
        ss_sparse_add_transposed_product(&s->formed.problem.H, s->v, s->u);
    }
}

// The sorted places among the sorted contacts, each with a new frame and without an impulse.
static ss_status merge(ss_stepper *s, const ss_touch *more, int count, ss_error *e)
{
    const size_t n = (size_t)s->ncontacts + (size_t)count;
    s->touches = ss_buffer_room(&s->contacts, n * sizeof *s->touches);
    if (s->touches == NULL || !ss_step_answer_room(s, n)) {
        return ss_fail_memory(e, "the contacts of a step");
    }
    int from = s->ncontacts - 1, next = count - 1;
    for (int to = (int)n - 1; next >= 0; to--) {
        const bool old = from >= 0 && ss_touch_compare(&s->touches[from], &more[next]) > 0;
        s->touches[to] = old ? s->touches[from] : more[next];
        s->E[to] = old ? s->E[from] : ss_contact_frame(more[next].n);
        for (int c = 0; c < 3; c++) {
            s->r[3 * to + c] = old ? s->r[3 * from + c] : 0.0;
        }
        from -= old;
        next -= !old;
    }
    s->ncontacts = (int)n;
    return SS_OK;
}

int ss_step_looks(const ss_stepper *s)
{
    return s->options.contacts && s->options.gap != SS_GAP_NONE ? s->options.looks : 0;
}

ss_status ss_step_look(ss_stepper *s, double h, ss_step_look_result *result, ss_step_report *report,
                       ss_error *e)
{
    const ss_touch *places = NULL;
    int count = 0;
    *result = (ss_step_look_result){0};
    find_relative_velocities(s);
    sweep(s, h);
    const ss_polylines lines = {
        .moved = s->moved,
        .overlaps = true,
        .slack = {.overlap = SLACK * s->world->radius,
                  .taken_back = s->options.gap == SS_GAP_BAUMGARTE ? 0.5 * s->options.beta : 0.0}};
    ss_status status = search(s, &s->here, lines, 0.0, &places, &count, report, e);
    ss_touch *wanted = ss_buffer_room(&s->wanted, ((size_t)count + 1) * sizeof *wanted);
    if (status != SS_OK || wanted == NULL) {
        return status != SS_OK ? status : ss_fail_memory(e, "the contacts of a step");
    }
    for (int i = 0; i < count; i++) {
        if (is_wanted(s, &places[i], h, &result->unsolved)) {
            wanted[result->added++] = places[i];
        }
    }
    report->looks++;
    if (result->added == 0) {
        return SS_OK;
    }
    status = merge(s, wanted, result->added, e);
    return status == SS_OK ? ss_step_form_more(s, h, report, e) : status;
}

// ---- The parts of a try

// -- Systems

void ss_step_begin(ss_stepper *s, double h, double way, const double *offset)
{
    const ss_world *w = s->world;
    s->way = way;
    s->offset = offset;
    ss_snapshot_script(&s->there, w, w->now.time + h);
    ss_systems_script(&s->systems, w, &w->now, &s->there, h, way, offset);
}

bool ss_step_form(ss_stepper *s, const ss_iterate *it, const ss_snapshot *at,
                  ss_step_report *report)
{
    const double start = ss_clock_now();
    const bool definite = ss_systems_form(&s->systems, s->world, it, at);
    const double seconds = ss_clock_now() - start;
    report->assemble_seconds += seconds;
    *(report->iterates == 0 ? &report->prepare_seconds : &report->dynamic_seconds) += seconds;
    report->iterates++;
    report->lifted += s->systems.lifted;
    return definite;
}

// -- The problem and its answer

static void describe(ss_stepper *s, double h, int iterate)
{
    ss_step_problem *formed = &s->formed;
    snprintf(formed->info, sizeof formed->info, "scheme %s, iterate %d, K %s", s->spec, iterate,
             ss_stiffness_names[ss_systems_kind(&s->systems, s->world)]);
    formed->problem.math_info = formed->info;
    ss_provenance *from = &s->formed.problem.provenance;
    from->step = s->steps;
    from->time = s->world->now.time;
    from->dt = h;
    snprintf(from->units, sizeof from->units, "SI");
    snprintf(from->frame, sizeof from->frame, "normal first");
}

static ss_step_parts parts_of(const ss_stepper *s, double h)
{
    return (ss_step_parts){.world = s->world,
                           .options = &s->options,
                           .systems = &s->systems,
                           .from = &s->here,
                           .to = &s->there,
                           .h = h,
                           .touches = s->touches,
                           .E = s->E,
                           .count = s->ncontacts,
                           .impacts = s->scheme->impacts};
}

bool ss_step_answer_room(ss_stepper *s, size_t n)
{
    ss_mat3 *E = ss_buffer_room(&s->frames, n * sizeof *s->E);
    double *r = ss_buffer_room(&s->answers, 9 * n * sizeof *s->r);
    if (E == NULL || r == NULL) {
        return false;
    }
    s->E = E;
    s->r = r;
    s->u = r + 3 * n;
    return true;
}

static ss_status form_problem(ss_stepper *s, double h, ss_step_report *report, ss_error *e)
{
    const size_t n = (size_t)s->ncontacts;
    const ss_step_parts parts = parts_of(s, h);
    const ss_status status = step_problem_form(&s->formed, &parts, e);
    if (status != SS_OK) {
        return status;
    }
    memcpy(s->formed.guess.r, s->r, 3 * n * sizeof *s->r);
    s->v = ss_buffer_room(&s->velocities, (size_t)s->formed.problem.ndofs * sizeof *s->v);
    if (s->v == NULL) {
        return ss_fail_memory(e, "the velocities of a step");
    }
    describe(s, h, report->iterates);
    return SS_OK;
}

static bool all_finite(const double *x, int count)
{
    double sum = 0.0; // of x - x, 0 or NaN
    for (int j = 0; j < count; j++) {
        sum += x[j] - x[j];
    }
    return sum == 0.0;
}

ss_status ss_step_form_more(ss_stepper *s, double h, ss_step_report *report, ss_error *e)
{
    const double start = ss_clock_now();
    const ss_status status = form_problem(s, h, report, e);
    report->assemble_seconds += ss_clock_now() - start;
    return status;
}

ss_status ss_step_form_problem(ss_stepper *s, double h, ss_step_report *report, ss_error *e)
{
    report->answer = (ss_step_answer){.status = ""};
    report->hits = 0;
    if (s->ncontacts == 0) {
        return SS_OK;
    }
    if (!ss_step_answer_room(s, (size_t)s->ncontacts)) {
        return ss_fail_memory(e, "the contacts of a step");
    }
    const double start = ss_clock_now();
    report->hits = ss_track_recall(s->track, s->touches, s->ncontacts, h, s->E, s->r);
    report->assemble_seconds += ss_clock_now() - start;
    return ss_step_form_more(s, h, report, e);
}

void ss_step_refresh_problem(ss_stepper *s, ss_step_report *report)
{
    if (s->ncontacts == 0) {
        return;
    }
    const double start = ss_clock_now();
    const ss_step_parts parts = parts_of(s, s->formed.problem.provenance.dt);
    step_problem_refresh(&s->formed, &parts);
    describe(s, parts.h, report->iterates);
    report->assemble_seconds += ss_clock_now() - start;
}

// r from the solver. *reason is set where it is no answer.
static ss_status solve_problem(ss_stepper *s, ss_step_report *report, ss_step_reason *reason,
                               ss_error *e)
{
    const double start = ss_clock_now();
    const ss_status status =
        s->solver.solve(s->solver.context, &s->formed.problem, s->r, &report->answer, e);
    report->solve_seconds += ss_clock_now() - start;
    if (status != SS_OK || !all_finite(s->r, 3 * s->ncontacts)) {
        *reason = SS_STEP_SOLVER;
    }
    return status;
}

// Lifts M of the strands in the problem that a solver's factor may refuse; false if there is none
// left to lift.
static bool lift_problem(ss_stepper *s, const ss_iterate *it, ss_step_report *report)
{
    bool any = false, definite = true;
    for (int k = 0; k < s->world->nstrands; k++) {
        const bool before = s->systems.lift[k] > 0.0;
        bool lifted = false;
        if (s->formed.row[k] >= 0) {
            definite = ss_systems_lift(&s->systems, s->world, k, it, &lifted) && definite;
        }
        report->lifted += lifted && !before;
        any |= lifted;
    }
    return any && definite;
}

static ss_status solve_or_lift(ss_stepper *s, const ss_iterate *it, ss_step_report *report,
                               ss_step_reason *reason, ss_error *e)
{
    const ss_step_reason before = *reason;
    ss_status status = solve_problem(s, report, reason, e);
    while (status == SS_BAD_INPUT && lift_problem(s, it, report)) {
        *reason = before;
        ss_step_refresh_problem(s, report);
        status = solve_problem(s, report, reason, e);
    }
    return status;
}

ss_status ss_step_answer_first(ss_stepper *s, const ss_iterate *it, const double *offset, double h,
                               ss_step_report *report, ss_step_reason *reason, ss_error *e)
{
    ss_step_begin(s, h, it->way, offset);
    if (!ss_step_form(s, it, &s->here, report)) {
        *reason = SS_STEP_MATRIX;
        return SS_OK;
    }
    ss_status status = ss_step_find_contacts(s, h, report, e);
    status = status == SS_OK ? ss_step_form_problem(s, h, report, e) : status;
    return status == SS_OK && s->ncontacts > 0 ? solve_or_lift(s, it, report, reason, e) : status;
}

ss_status ss_step_answer_again(ss_stepper *s, const ss_iterate *it, ss_step_report *report,
                               ss_step_reason *reason, ss_error *e)
{
    if (s->ncontacts == 0) {
        return SS_OK;
    }
    const ss_step_answer before = report->answer;
    ss_step_refresh_problem(s, report);
    memcpy(s->formed.guess.r, s->r, 3 * (size_t)s->ncontacts * sizeof *s->r);
    const ss_status status = solve_or_lift(s, it, report, reason, e);
    report->answer.iterations += before.iterations;
    report->answer.seconds += before.seconds;
    report->answer.setup_seconds += before.setup_seconds;
    report->answer.sweep_seconds += before.sweep_seconds;
    return status;
}

void ss_step_gather_velocities(ss_stepper *s, const double *v)
{
    const ss_world *w = s->world;
    for (int k = 0; s->ncontacts > 0 && k < w->nstrands; k++) {
        const int row = s->formed.row[k], at = w->strands[k].v;
        for (int i = 0; row >= 0 && i < s->systems.M[k].n; i++) {
            s->v[row + i] = v[at + s->systems.free[at + i]];
        }
    }
}

double ss_step_velocity_scale(ss_stepper *s)
{
    const ss_world *w = s->world;
    const ss_problem *p = &s->formed.problem;
    double largest = 0.0;
    if (s->ncontacts == 0) {
        return 0.0;
    }
    for (int k = 0; k < w->nstrands; k++) {
        const int row = s->formed.row[k];
        if (row >= 0) {
            ss_systems_solve(&s->systems, w, k, p->f + row, s->mean + w->strands[k].v);
        }
    }
    ss_step_gather_velocities(s, s->mean);
    memcpy(s->u, p->w, 3 * (size_t)s->ncontacts * sizeof *s->u);
    ss_sparse_add_transposed_product(&p->H, s->v, s->u);
    for (int i = 0; i < s->ncontacts; i++) {
        const ss_vec3 b = ss_vec(s->u[3 * i], s->u[3 * i + 1], s->u[3 * i + 2]);
        largest = fmax(largest, ss_length(b));
    }
    return largest;
}

// Of a few strands.
static void find_velocities(void *context, int group, int thread)
{
    ss_stepper *s = context;
    const ss_world *w = s->world;
    const double *right[SS_SYSTEMS_FEW];
    double *v[SS_SYSTEMS_FEW];
    const int first = SS_SYSTEMS_FEW * group;
    int count = 0;
    (void)thread;
    for (int k = first; k < w->nstrands && count < SS_SYSTEMS_FEW; k++, count++) {
        const int row = s->ncontacts > 0 ? s->formed.row[k] : -1;
        right[count] = row >= 0 ? s->v + row : NULL;
        v[count] = s->trial.v + w->strands[k].v;
    }
    ss_systems_solve_few(&s->systems, w, first, count, right, v);
}

// v = M^-1 (f + H r), strand by strand.
void ss_step_find_velocities(ss_stepper *s)
{
    const ss_world *w = s->world;
    const bool touching = s->ncontacts > 0;
    if (touching) {
        memcpy(s->v, s->formed.problem.f, (size_t)s->formed.problem.ndofs * sizeof *s->v);
        ss_sparse_add_product(&s->formed.problem.H, s->r, s->v);
    }
    ss_systems_each(&s->systems, (w->nstrands + SS_SYSTEMS_FEW - 1) / SS_SYSTEMS_FEW,
                    find_velocities, s);
    ss_step_gather_velocities(s, s->trial.v);
}

void ss_step_keep_answer(ss_stepper *s)
{
    ss_problem *p = &s->formed.problem;
    if (s->ncontacts == 0) {
        return;
    }
    p->solution = (ss_state){.r = s->r, .u = s->u + 3 * s->ncontacts, .v = s->v};
    memcpy(p->solution.u, p->w, 3 * (size_t)s->ncontacts * sizeof *p->w);
    ss_sparse_add_transposed_product(&p->H, s->v, p->solution.u);
    p->has_solution = true;
    snprintf(p->claim.solver, sizeof p->claim.solver, "%s", s->spec);
}

static void measure_contacts(ss_stepper *s, ss_step_report *report)
{
    const int n = s->ncontacts;
    report->contacts = n;
    report->contacts_obstacle = report->active = 0;
    report->dissipation = 0.0;
    s->speed = 0.0;
    if (n > 0) {
        memcpy(s->u, s->formed.scripted, 3 * (size_t)n * sizeof *s->u);
        ss_sparse_add_transposed_product(&s->formed.problem.H, s->v, s->u);
    }
    for (int i = 0; i < n; i++) {
        const double *r = s->r + 3 * i, *u = s->u + 3 * i;
        report->contacts_obstacle += s->touches[i].strand_b < 0;
        report->active += r[0] > 0.0;
        report->dissipation += r[0] * u[0] + r[1] * u[1] + r[2] * u[2];
        s->speed = fmax(s->speed, fabs(u[0]));
    }
}

// -- Where it ends

void ss_step_mean_velocity(const ss_stepper *s, int k, const double *v, double *mean)
{
    const ss_strand *strand = &s->world->strands[k];
    for (int j = 0; j < strand->size.nv; j++) {
        mean[j] = s->way * v[j];
    }
    for (int j = 0; j < strand->size.nv && s->offset != NULL; j++) {
        mean[j] += s->offset[strand->v + j];
    }
}

// What the method of a model that projects does to the velocity when q has moved.
static void add_after(ss_stepper *s, const ss_strand *strand)
{
    for (int j = 0; ss_systems_project(&s->systems, strand) && j < strand->size.nv; j++) {
        s->trial.v[strand->v + j] += s->systems.after[strand->v + j];
    }
}

void ss_step_move(ss_stepper *s, double h)
{
    const ss_world *w = s->world;
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand *strand = &w->strands[k];
        double *mean = s->mean + strand->v;
        ss_step_mean_velocity(s, k, s->trial.v + strand->v, mean);
        strand->model->advance(strand->self, w->now.q + strand->q, mean, h, s->trial.q + strand->q);
        add_after(s, strand);
    }
}

// Against the body of the strand's root; of a strand that nothing clamps in the world.
static ss_vec3 own_velocity(const ss_stepper *s, const ss_strand *strand, int point)
{
    const ss_vec3 rate = ss_point_rate(&s->there.all.points[point], s->trial.v + strand->v);
    if (strand->carrier == strand->body || strand->clamp == SS_CLAMP_NONE) {
        return rate;
    }
    const ss_motion_state *body = &s->there.bodies[strand->body];
    const ss_vec3 arm = ss_minus(s->there.x[point], body->pose.place);
    return ss_minus(rate, ss_plus(body->velocity, ss_cross(body->spin, arm)));
}

// A strand is measured right after it has been placed, as long as caches hold its J.
static void end_strand(void *context, int k, int thread)
{
    ss_stepper *s = context;
    const ss_world *w = s->world;
    const ss_strand *strand = &w->strands[k];
    ss_step_strand_end *end = &s->ends[k];
    (void)thread;
    ss_snapshot_place_strand(&s->there, w, &s->trial, k);
    const ss_placed placed = ss_snapshot_strand(&s->there, w, k);
    ss_strand_energy(w, k, &s->trial, &placed, &end->energy);
    end->length = ss_step_strand_length(w, k, &s->there);
    end->stretch = end->length / ss_step_made_length(w, strand) - 1.0;
    end->square = 0.0;
    for (int i = strand->point; i < strand->point + strand->size.npoints; i++) {
        const ss_vec3 rate = own_velocity(s, strand, i);
        end->square = fmax(end->square, ss_dot(rate, rate));
    }
}

// The trial state is placed `there`, with its energies, length and largest speed.
static void place_end(ss_stepper *s, ss_step_report *report)
{
    double square = 0.0;
    report->energy = (ss_energy){0};
    report->before = s->energy;
    report->length = 0.0;
    report->stretch = -1.0;
    ss_team_run(s->systems.team, s->world->nstrands, end_strand, s);
    for (int k = 0; k < s->world->nstrands; k++) {
        const ss_step_strand_end *end = &s->ends[k];
        report->energy.kinetic += end->energy.kinetic;
        report->energy.elastic += end->energy.elastic;
        report->energy.potential += end->energy.potential;
        report->length += end->length;
        report->stretch = fmax(report->stretch, end->stretch);
        square = fmax(square, end->square);
    }
    report->max_speed = sqrt(square);
}

// True if a pair that is found where the try ends went too far. Pairs that scripts alone move go
// where these say.
static bool reached_too_far(const ss_stepper *s)
{
    for (int i = 0; i < s->nafter; i++) {
        const ss_touch *t = &s->after[i];
        if (ss_step_reached_too_far(s->world, &s->options, &s->here, s->touches, s->ncontacts, t) &&
            ss_step_can_move(s, t)) {
            return true;
        }
    }
    return false;
}

ss_status ss_step_end(ss_stepper *s, double h, ss_step_report *report, ss_step_reason *reason,
                      ss_error *e)
{
    const ss_world *w = s->world;
    s->trial.time = w->now.time + h;
    place_end(s, report);
    measure_contacts(s, report);
    report->time = s->trial.time;
    report->dt = h;
    report->stiffness = ss_systems_kind(&s->systems, w);
    s->after = NULL;
    if (!all_finite(s->trial.v, w->nv) ||
        ss_step_exploded(w, &s->options, &s->here, &s->there, &s->energy, &report->energy)) {
        *reason = SS_STEP_EXPLOSION;
        return SS_OK;
    }
    if (!s->options.contacts) {
        return SS_OK;
    }
    const ss_status status =
        ss_step_collide(s, &s->there, NULL, h, &s->after, &s->nafter, report, e);
    report->penetration = ss_collider_depth(s->collider);
    if (status == SS_OK && reached_too_far(s)) {
        *reason = SS_STEP_REACH;
    }
    return status;
}

ss_status ss_step_once(ss_stepper *s, const ss_iterate *it, const double *offset, double h,
                       ss_step_report *report, ss_step_reason *reason, ss_error *e)
{
    const ss_status status = ss_step_answer_first(s, it, offset, h, report, reason, e);
    if (status != SS_OK || *reason != SS_STEP_DONE) {
        return status;
    }
    ss_step_find_velocities(s);
    ss_step_move(s, h);
    return ss_step_end(s, h, report, reason, e);
}
