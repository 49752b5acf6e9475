// strands/step/step_problem.c -- M, H, f, w and mu of the strands that touch something.
#include "strands/step/step_problem.h"

#include <limits.h>
#include <string.h>

#include "strands/step/contact_dofs.h"

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

// ---- Sizes

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
    return ss_contact_room(s->widest);
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

// ---- Entries

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
    return ss_contact_dofs_in((char *)s->parts.data + (size_t)thread * thread_room(s), s->widest);
}

// The columns of contact i, whose first entry is at `at`. Returned: behind their last.
static int fill_columns_of(ss_step_problem *s, const ss_step_parts *in, int i, int at,
                           ss_contact_dofs *d)
{
    ss_sparse *H = &s->problem.H;
    ss_contact_fill(in, &in->touches[i], d);
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

// ---- w and mu

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

// Of contact i, whose scripted normal velocity is known. Impacts on an obstacle by Newton's law: with the normal
// velocity u^- of the start, u_N >= -restitution u^- where it touches in this step, a little early for its gap.
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

// ---- Threads

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
        ss_contact_find(c->in, &c->in->touches[i], &d);
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
        ss_contact_ask(c->in, i);
        at = fill_columns_of(c->s, c->in, i, at, &d);
        fill_contact(c->s, c->in, i);
    }
    if (end == c->in->count) {
        c->s->problem.H.start[3 * end] = at;
    }
}

void ss_step_problem_refresh(ss_step_problem *s, const ss_step_parts *in)
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

ss_status ss_step_problem_form(ss_step_problem *s, const ss_step_parts *in, ss_error *e)
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
