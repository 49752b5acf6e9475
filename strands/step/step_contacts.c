// strands/step/step_contacts.c -- which contacts a step has: those that are looked for when it begins, and
// those that later looks add.
//
// A look moves all points straight to where v of the trial brings them, and finds the places where strands would
// overlap there (contact/overlap.h), or where two segments would pass each other. Each such place becomes a contact,
// unless the same two segments have a contact nearby that v does not satisfy yet: solving that one may be enough.
//
// doc/strands.md, "Looks".
#include "strands/step/stepper.h"

#include <string.h>

// Shares of the radius: a smaller overlap is none, and a contact that lacks more of its distance is not solved yet.
#define SLACK    0.05
#define UNSOLVED 0.025
// Radii: two places of one pair of segments that are nearer to each other are the same.
#define NEARBY 2.0

// ---- Finding contacts

// Finds touches. The members of `lines` that the caller leaves empty are filled from the world as it is `at` a time.
static ss_status search(ss_stepper *s, const ss_snapshot *at, ss_polylines lines, double margin,
                        const ss_touch **touches, int *count, ss_step_report *report, ss_error *e)
{
    const ss_world *w = s->world;
    const double start = ss_step_clock();
    lines.nstrands = w->nstrands;
    lines.first = s->first;
    lines.x = at->x;
    lines.radius = w->radius;
    lines.holder = s->holder;
    lines.branch = s->branch;
    lines.vertices = s->scheme->vertices;
    const ss_status status = ss_collide(s->collider, &lines, w->obstacles, at->obstacles,
                                        w->nobstacles, margin, touches, count, e);
    report->collide_seconds += ss_step_clock() - start;
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

// ---- Looks

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

// Whether a place needs a contact of its own. *unsolved counts places that wait for a contact nearby to be solved.
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
