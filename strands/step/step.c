// strands/step/step.c -- the stepper: how it is made, and which tries of a step it takes.
#include "strands/step/step.h"

#include "base/clock.h"
#include "problems/problem.h"
#include "strands/contact/collide.h"
#include "strands/contact/track.h"
#include "strands/schemes/scheme.h"
#include "strands/schemes/schemes.h"
#include "strands/step/batch.h"

#include "strands/step/stepper.h"
#include "strands/system.h"
#include "strands/world.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool step_batch_exploded(const ss_world *w, const ss_step_options *o,
                                const ss_motion_state *from, const ss_motion_state *to,
                                const ss_batch_report *report);

// ---- Strands side by side
//
// one try of a step whose strands are stepped side by side.

// Whether a model's batch takes the strands of a world (batch.h).
static bool is_batch(const ss_world *w)
{
    const ss_strand *one = &w->strands[0];
    bool alike = w->nstrands > 1 && w->nwinds == 0 && one->model->batch != NULL;
    for (int k = 0; alike && k < w->nstrands; k++) {
        const ss_strand *s = &w->strands[k];
        alike = s->model == one->model && s->body == one->body &&
                ss_dot(s->pull_root, s->pull_root) == 0.0 &&
                ss_dot(s->pull_tip, s->pull_tip) == 0.0 &&
                one->model->batch->alike(one->self, s->self);
    }
    return alike;
}

ss_status ss_step_batch_new(ss_stepper *s, ss_error *e)
{
    s->batch = NULL;
    if (s->options.contacts || s->scheme != &ss_scheme_linear || !is_batch(s->world)) {
        return SS_OK;
    }
    const ss_batch_model *batch = s->world->strands[0].model->batch;
    const int threads = s->options.threads > 1 ? s->options.threads : 1;
    const ss_status status = batch->make(s->world, threads, &s->members, e);
    if (status == SS_OK) {
        s->batch = batch;
    }
    return status;
}

void ss_step_batch_try(ss_stepper *s, double h, ss_step_report *report, ss_step_reason *reason)
{
    const ss_world *w = s->world;
    const ss_motion *body = &w->bodies[w->strands[0].body];
    ss_motion_state from, to;
    ss_batch_report end;
    s->trial.time = w->now.time + h;
    ss_motion_at(body, w->now.time, &from);
    ss_motion_at(body, s->trial.time, &to);
    s->batch->step(s->members, w, &from, &to, h, &s->trial, &end);
    report->time = s->trial.time;
    report->dt = h;
    report->iterates = 1;
    report->energy = end.to.energy;
    report->before = end.from.energy;
    report->length = end.length;
    report->stretch = end.length / (w->nstrands * ss_step_made_length(w, &w->strands[0])) - 1.0;
    report->max_speed = end.speed;
    *reason =
        step_batch_exploded(w, &s->options, &from, &to, &end) ? SS_STEP_EXPLOSION : SS_STEP_DONE;
}

void ss_step_batch_accept(ss_stepper *s)
{
    const ss_world_state behind = s->world->now;
    s->world->now = s->trial;
    s->trial = behind;
}

// ---- Margins and rejections
//
// margins, pairs that went through each other, explosions.

// The margin where it follows the motion, in radii. Below, contacts are found too late for their
// step; above, most of what is found does not come to touch, and in hair that is many.
#define MARGIN_LEAST 0.2
#define MARGIN_MOST  1.0

// Kinetic energy at this speed is no explosion whatever it came from, m/s.
#define QUIET_SPEED 1e-2

double ss_step_margin(const ss_step_options *o, double radius, double h, double speed)
{
    if (o->margin > 0.0) {
        return o->margin;
    }
    const double wanted = h * speed;
    return wanted > MARGIN_LEAST * radius ? fmin(wanted, MARGIN_MOST * radius)
                                          : MARGIN_LEAST * radius;
}

// -- Pairs that went through each other

static bool is_tip(const ss_world *w, int k, int segment, double a)
{
    const ss_strand_size *size = &w->strands[k].size;
    const bool first = segment == 0 || ss_is_branch(size, segment);
    const bool last = segment == size->npoints - 2 || ss_is_branch(size, segment + 2);
    return (first && a <= 0.0) || (last && a >= 1.0);
}

// Whether the two nearest points after the step were on the other side of each other before it. At
// the tip of a strand the normal has no side.
static bool crossed(const ss_world *w, const ss_vec3 *before, const ss_touch *t)
{
    if (t->strand_b < 0 || is_tip(w, t->strand_a, t->segment_a, t->a) ||
        is_tip(w, t->strand_b, t->segment_b, t->b)) {
        return false; // an obstacle's gap is negative inside: depth tells
    }
    const ss_vec3 a = ss_segment_point(w, before, t->strand_a, t->segment_a, t->a);
    const ss_vec3 b = ss_segment_point(w, before, t->strand_b, t->segment_b, t->b);
    return ss_dot(t->n, ss_minus(a, b)) < -w->radius;
}

// Whether the pair, or a pair of neighbouring segments, is in the sorted list.
static bool is_known(const ss_touch *list, int count, const ss_touch *t)
{
    const int reach_b = t->strand_b < 0 ? 0 : 1;
    for (int da = -1; da <= 1 && count > 0; da++) {
        for (int db = -reach_b; db <= reach_b; db++) {
            ss_touch pair = *t;
            pair.segment_a += da;
            pair.segment_b += db;
            if (bsearch(&pair, list, (size_t)count, sizeof *list, ss_touch_compare) != NULL) {
                return true;
            }
        }
    }
    return false;
}

bool ss_step_reached_too_far(const ss_world *w, const ss_step_options *o, const ss_snapshot *from,
                             const ss_touch *contacts, int ncontacts, const ss_touch *after)
{
    const bool far = after->gap < -o->reach * w->radius || crossed(w, from->x, after);
    return o->reach > 0.0 && far && !is_known(contacts, ncontacts, after);
}

// -- Explosions

// The energies of all strands, and the lengths of their polylines.
static ss_energy step_energy(const ss_world *w, const ss_world_state *state, const ss_snapshot *at)
{
    ss_energy sum = {0};
    for (int k = 0; k < w->nstrands; k++) {
        const ss_placed placed = ss_snapshot_strand(at, w, k);
        ss_energy one;
        ss_strand_energy(w, k, state, &placed, &one);
        sum.kinetic += one.kinetic;
        sum.elastic += one.elastic;
        sum.potential += one.potential;
    }
    return sum;
}

double ss_step_strand_length(const ss_world *w, int k, const ss_snapshot *at)
{
    const ss_strand *s = &w->strands[k];
    double length = 0.0;
    for (int i = 1; i < s->size.npoints; i++) {
        const ss_vec3 *x = at->x + s->point + i;
        length += ss_is_branch(&s->size, i) ? 0.0 : ss_length(ss_minus(x[0], x[-1]));
    }
    return length;
}

double ss_step_length(const ss_world *w, const ss_snapshot *at)
{
    double length = 0.0;
    for (int k = 0; k < w->nstrands; k++) {
        length += ss_step_strand_length(w, k, at);
    }
    return length;
}

double ss_step_made_length(const ss_world *w, const ss_strand *s)
{
    double length = 0.0;
    for (int p = 0; p < s->size.nsamples; p++) {
        length += w->length[s->sample + p];
    }
    return length;
}

static double mass_of(const ss_world *w, const ss_strand *s)
{
    double mass = 0.0;
    for (int p = 0; p < s->size.nsamples; p++) {
        mass += w->mass[s->sample + p];
    }
    return mass;
}

// No point may move by more than its strand is long, against the body of its root. False for NaN.
static bool moved_sensibly(const ss_world *w, const ss_snapshot *from, const ss_snapshot *to)
{
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand *s = &w->strands[k];
        const double most = ss_step_made_length(w, s);
        for (int i = s->point; i < s->point + s->size.npoints; i++) {
            const ss_vec3 carried = ss_carried(from, to, s->body, from->x[i]);
            if (!(ss_length(ss_minus(to->x[i], carried)) <= most)) {
                return false;
            }
        }
    }
    return true;
}

// m/s: how fast a body may move the point x of a strand, were it carried.
static double carried_speed(const ss_motion_state *body, ss_vec3 x, double length)
{
    const ss_vec3 arm = ss_minus(x, body->pose.place);
    const double root = ss_length(ss_plus(body->velocity, ss_cross(body->spin, arm)));
    return root + ss_length(body->spin) * length;
}

// At least the kinetic energy of all strands, were they carried by their bodies without motion of
// their own, and a little more.
static double scripted_energy(const ss_world *w, const ss_snapshot *at)
{
    double sum = 0.0;
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand *s = &w->strands[k];
        const double length = ss_step_made_length(w, s);
        const ss_vec3 *x = at->x + s->point;
        double speed = carried_speed(&at->bodies[s->body], x[0], length) + QUIET_SPEED;
        if (s->tip_body != s->body) {
            speed += carried_speed(&at->bodies[s->tip_body], x[s->size.npoints - 1], length);
        }
        sum += 0.5 * mass_of(w, s) * speed * speed;
    }
    return sum;
}

// More than `scripts`, weight, elasticity and what they had before could have given the strands.
static bool is_too_fast(const ss_step_options *o, const ss_energy *before, const ss_energy *after,
                        double scripts)
{
    const double fallen = fmax(before->potential - after->potential, 0.0);
    const double released = fmax(before->elastic - after->elastic, 0.0);
    const double given = before->kinetic + released + fallen + scripts;
    return o->explosion > 0.0 && !(after->kinetic <= o->explosion * given);
}

bool ss_step_exploded(const ss_world *w, const ss_step_options *o, const ss_snapshot *from,
                      const ss_snapshot *to, const ss_energy *before, const ss_energy *after)
{
    if (!isfinite(after->kinetic + after->elastic) ||
        (o->explosion > 0.0 && !moved_sensibly(w, from, to))) {
        return true;
    }
    return is_too_fast(o, before, after, scripted_energy(w, from) + scripted_energy(w, to));
}

// scripted_energy, the speeds of the roots being summed already: sum (root + more)^2 m / 2.
static double batch_scripted_energy(const ss_world *w, const ss_motion_state *body,
                                    const ss_batch_end *at)
{
    const ss_strand *s = &w->strands[0];
    const double more = ss_length(body->spin) * ss_step_made_length(w, s) + QUIET_SPEED;
    const double squares =
        at->root_square + 2.0 * more * at->root_speed + w->nstrands * more * more;
    return 0.5 * mass_of(w, s) * squares;
}

// The same of strands that were stepped side by side.
static bool step_batch_exploded(const ss_world *w, const ss_step_options *o,
                                const ss_motion_state *from, const ss_motion_state *to,
                                const ss_batch_report *report)
{
    const ss_energy *before = &report->from.energy, *after = &report->to.energy;
    // A velocity that is not finite makes the kinetic energy so.
    if (!(report->moved <= ss_step_made_length(w, &w->strands[0])) ||
        !isfinite(after->kinetic + after->elastic)) {
        return true;
    }
    return is_too_fast(o, before, after,
                       batch_scripted_energy(w, from, &report->from) +
                           batch_scripted_energy(w, to, &report->to));
}

// ---- Steps

#define GOOD_STEPS 10  // before a reduced step grows
#define GROWTH     1.5 // of it

const char *const ss_step_reason_names[] = {"done",   "reach",    "explosion",  "solver",
                                            "matrix", "iterates", "integrator", NULL};

ss_step_options ss_step_defaults(void)
{
    return (ss_step_options){.dt = 2e-3,
                             .dt_min = 1e-4,
                             .gap = SS_GAP_BAUMGARTE,
                             .beta = 0.2,
                             .reach = 1.0,
                             .explosion = 1e3,
                             .alone = 1500,
                             .contacts = true};
}

// -- Making one

ss_status ss_step_options_check(const ss_step_options *o, ss_error *e)
{
    if (!(o->dt_min > 0.0 && o->dt_min <= o->dt && isfinite(o->dt))) {
        return ss_fail(e, SS_BAD_INPUT,
                       "steps from %g to %g s are asked for; give 0 < dt_min <= dt", o->dt_min,
                       o->dt);
    }
    if (!(o->beta >= 0.0 && o->beta <= 1.0)) {
        return ss_fail(e, SS_BAD_INPUT, "beta is %g; give 0 .. 1", o->beta);
    }
    if (o->looks < 0) {
        return ss_fail(e, SS_BAD_INPUT, "looks is %d; give 0 or more", o->looks);
    }
    if (!(o->margin >= 0.0 && o->reach >= 0.0 && o->explosion >= 0.0 &&
          isfinite(o->margin + o->reach + o->explosion))) {
        return ss_fail(e, SS_BAD_INPUT,
                       "margin %g, reach %g or explosion %g is no finite number >= 0", o->margin,
                       o->reach, o->explosion);
    }
    return SS_OK;
}

static ss_status check_scheme(const ss_world *w, const ss_scheme *scheme, ss_error *e)
{
    for (int k = 0; !scheme->projects && k < w->nstrands; k++) {
        if (w->strands[k].model->project != NULL && w->strands[k].model->energy == NULL) {
            return ss_fail(
                e, SS_BAD_INPUT,
                "strands of the model %s keep their length by a method of their own, which "
                "the scheme %s has no place for: take linear",
                w->strands[k].model->name, scheme->name);
        }
    }
    return SS_OK;
}

// The branches of all strands, where one has any. False without memory.
static bool fill_branches(ss_stepper *s)
{
    const ss_world *w = s->world;
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand *strand = &w->strands[k];
        if (strand->size.branch != NULL && s->branch == NULL) {
            s->branch = malloc(((size_t)w->npoints + 1) * sizeof *s->branch);
            if (s->branch == NULL) {
                return false;
            }
            memset(s->branch, -1, (size_t)w->npoints * sizeof *s->branch);
        }
        for (int i = 0; strand->size.branch != NULL && i < strand->size.npoints; i++) {
            const int from = strand->size.branch[i];
            s->branch[strand->point + i] = from < 0 ? -1 : strand->point + from;
        }
    }
    return true;
}

static bool is_moved(const ss_stepper *s, const ss_strand *strand, const ss_strand_point *p)
{
    for (int j = 0; j < p->count; j++) {
        const bool free = s->systems.place[strand->v + ss_point_dof(p, j)] >= 0;
        for (int k = 0; free && k < 3; k++) {
            if (p->J[k * p->count + j] != 0.0) {
                return true;
            }
        }
    }
    return false;
}

// Finds the points that no free dof moves: those before the first that one does are held by the
// body of the root, others by that of the tip.
static void find_holders(ss_stepper *s)
{
    const ss_world *w = s->world;
    ss_snapshot_script(&s->here, w, w->now.time);
    ss_snapshot_place(&s->here, w, &w->now, s->systems.team);
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand *strand = &w->strands[k];
        int body = strand->body;
        for (int i = strand->point; i < strand->point + strand->size.npoints; i++) {
            const bool moves = is_moved(s, strand, &s->here.all.points[i]);
            body = moves ? strand->tip_body : body;
            s->holder[i] = moves ? -1 : body;
        }
    }
}

// Allocates what strands need that are stepped one by one.
static bool allocate(ss_stepper *s)
{
    const ss_world *w = s->world;
    const size_t n = (size_t)w->nstrands;
    const bool here = ss_snapshot_init(&s->here, w), there = ss_snapshot_init(&s->there, w);
    const bool shared = s->options.threads > 1 && w->nv >= s->options.alone;
    const bool systems = ss_systems_init(&s->systems, w, shared ? s->options.threads : 1);
    s->mean = malloc(((size_t)w->nv + 1) * sizeof *s->mean);
    s->first = malloc((n + 1) * sizeof *s->first);
    s->holder = malloc(((size_t)w->npoints + 1) * sizeof *s->holder);
    s->ends = malloc((n + 1) * sizeof *s->ends);
    s->moved = malloc(((size_t)w->npoints + 1) * sizeof *s->moved);
    s->collider = ss_collider_new(s->systems.team);
    s->track = ss_track_new(s->systems.team);
    if (!here || !there || !systems || s->mean == NULL || s->first == NULL || s->holder == NULL ||
        s->moved == NULL || s->ends == NULL || s->collider == NULL || s->track == NULL) {
        return false;
    }
    for (int k = 0; k < w->nstrands; k++) {
        s->first[k] = w->strands[k].point;
    }
    s->first[w->nstrands] = w->npoints;
    find_holders(s);
    return fill_branches(s);
}

static ss_status make_room(ss_stepper *s, ss_error *e)
{
    ss_status status = ss_world_state_init(&s->trial, s->world)
                           ? ss_step_batch_new(s, e)
                           : ss_fail_memory(e, "the steps of a world");
    if (status == SS_OK && s->batch == NULL && !allocate(s)) {
        status = ss_fail_memory(e, "the steps of a world");
    }
    return status;
}

// The scheme that was asked for, or that of the model of the first strand.
static ss_status make_scheme(ss_stepper *s, ss_error *e)
{
    const char *own = s->world->strands[0].model->scheme;
    ss_scheme_choice choice = {0};
    const ss_scheme_choice *asked = s->options.scheme;
    ss_status status = SS_OK;
    if (asked == NULL) {
        status = ss_scheme_parse(own != NULL ? own : "linear", &choice, e);
        asked = &choice;
    }
    if (status == SS_OK) {
        s->scheme = asked->scheme;
        strcpy(s->spec, asked->spec);
        s->options.continuous = s->options.continuous || s->scheme->continuous;
        status = check_scheme(s->world, s->scheme, e);
    }
    if (status == SS_OK && s->scheme->make != NULL) {
        status = s->scheme->make(s, asked->settings, &s->own, e);
    }
    ss_scheme_choice_free(&choice);
    s->options.scheme = NULL;
    return status;
}

ss_stepper *ss_stepper_new(ss_world *w, const ss_step_options *options, ss_step_solver solver,
                           ss_error *e)
{
    if (ss_step_options_check(options, e) != SS_OK) {
        return NULL;
    }
    if (w->nstrands == 0) {
        ss_fail(e, SS_BAD_INPUT, "the world has no strand to step; add one");
        return NULL;
    }
    ss_stepper *s = calloc(1, sizeof *s);
    if (s == NULL) {
        ss_fail_memory(e, "the steps of a world");
        return NULL;
    }
    s->world = w;
    s->options = *options;
    s->solver = solver;
    s->dt = options->dt;
    s->nfound = -1;
    if (make_scheme(s, e) != SS_OK || make_room(s, e) != SS_OK) {
        ss_stepper_free(s);
        return NULL;
    }
    return s;
}

void ss_stepper_free(ss_stepper *s)
{
    if (s == NULL) {
        return;
    }
    ss_snapshot_free(&s->here);
    ss_snapshot_free(&s->there);
    ss_systems_free(&s->systems);
    if (s->batch != NULL) {
        s->batch->free(s->members);
    }
    if (s->scheme != NULL && s->scheme->free != NULL) {
        s->scheme->free(s->own);
    }
    ss_world_state_free(&s->trial);
    free(s->branch);
    free(s->mean);
    free(s->first);
    free(s->holder);
    free(s->moved);
    free(s->ends);
    ss_collider_free(s->collider);
    ss_track_free(s->track);
    ss_buffer_free(&s->found);
    ss_buffer_free(&s->contacts);
    ss_buffer_free(&s->wanted);
    ss_buffer_free(&s->frames);
    ss_buffer_free(&s->answers);
    ss_buffer_free(&s->velocities);
    ss_step_problem_free(&s->formed);
    free(s);
}

// -- Stepping

static bool same(const double *a, const double *b, int count)
{
    return memcmp(a, b, (size_t)count * sizeof *a) == 0;
}

// `here` becomes where the world is, in case somebody else moved it.
static void look_around(ss_stepper *s)
{
    const ss_world *w = s->world;
    if (s->batch != NULL) {
        return; // it looks at the world itself
    }
    if (s->placed && w->now.time == s->trial.time && same(w->now.q, s->trial.q, w->nq) &&
        same(w->now.v, s->trial.v, w->nv)) {
        return;
    }
    ss_snapshot_script(&s->here, w, w->now.time);
    ss_snapshot_place(&s->here, w, &w->now, s->systems.team);
    s->energy = step_energy(w, &w->now, &s->here);
    s->nfound = -1;
}

static ss_status keep_found(ss_stepper *s, ss_error *e)
{
    s->nfound = -1;
    if (s->after == NULL || s->options.continuous) {
        return SS_OK; // the next step looks for itself
    }
    const size_t size = (size_t)s->nafter * sizeof *s->after;
    void *room = ss_buffer_room(&s->found, size + sizeof *s->after);
    if (room == NULL) {
        return ss_fail_memory(e, "the contacts of a step");
    }
    memcpy(room, s->after, size);
    s->nfound = s->nafter;
    return SS_OK;
}

static ss_status move_world(ss_stepper *s, double h, const ss_step_report *report, ss_error *e)
{
    if (s->scheme->accept != NULL) {
        s->scheme->accept(s, s->own);
    }
    ss_status status = ss_track_keep(s->track, s->touches, s->ncontacts, s->E, s->r, h, e);
    if (status == SS_OK) {
        status = keep_found(s, e);
    }
    if (status != SS_OK) {
        return status;
    }
    const ss_snapshot behind = s->here;
    s->here = s->there;
    s->there = behind;
    s->energy = report->energy;
    s->trial.time = s->world->now.time = report->time;
    memcpy(s->world->now.q, s->trial.q, (size_t)s->world->nq * sizeof *s->trial.q);
    memcpy(s->world->now.v, s->trial.v, (size_t)s->world->nv * sizeof *s->trial.v);
    s->placed = true;
    return SS_OK;
}

// The word on the answer of the try.
static ss_status judge(ss_stepper *s, ss_step_report *report, ss_error *e)
{
    return s->ncontacts > 0 && s->solver.judge != NULL
               ? s->solver.judge(s->solver.context, &s->formed.problem, s->r, &report->answer, e)
               : SS_OK;
}

// The world is moved to where the try ended.
static ss_status accept(ss_stepper *s, double h, ss_step_report *report, ss_error *e)
{
    const double start = ss_clock_now();
    const ss_status judged = judge(s, report, e);
    report->judge_seconds += ss_clock_now() - start;
    if (judged != SS_OK) {
        return judged;
    }
    if (s->batch != NULL) {
        ss_step_batch_accept(s);
    } else {
        const ss_status status = move_world(s, h, report, e);
        if (status != SS_OK) {
            return status;
        }
    }
    s->steps++;
    s->good++;
    if (s->good >= GOOD_STEPS && s->dt < s->options.dt) {
        s->dt = fmin(GROWTH * s->dt, s->options.dt);
        s->good = 0;
    }
    return SS_OK;
}

// Why no step of any size is taken; the solver's own sentence stands.
static ss_status give_up(const ss_stepper *s, ss_step_reason reason, ss_status status, ss_error *e)
{
    const double t = s->world->now.time, h = s->options.dt_min;
    if (status != SS_OK) {
        return status;
    }
    if (reason == SS_STEP_SOLVER) {
        return ss_fail(e, SS_BAD_INPUT,
                       "the answer at t = %g s is not finite, down to a step of %g s; take another "
                       "solver",
                       t, h);
    }
    if (reason == SS_STEP_MATRIX) {
        return ss_fail(
            e, SS_BAD_INPUT,
            "M of a strand at t = %g s is not positive definite, down to a step of %g s; "
            "take a dt below that, or a stiffer material",
            t, h);
    }
    if (reason == SS_STEP_ITERATES) {
        return ss_fail(
            e, SS_BAD_INPUT,
            "the iterates of the scheme %s move apart at t = %g s, down to a step of %g s; "
            "take a dt below that, or the scheme linear",
            s->spec, t, h);
    }
    if (reason == SS_STEP_INTEGRATOR) {
        return ss_fail(
            e, SS_BAD_INPUT,
            "the scheme %s could not integrate the motion from t = %g s on, not even for "
            "%g s; take a larger rtol, more steps=, more damping or the scheme linear",
            s->spec, t, h);
    }
    return ss_fail(e, SS_BAD_INPUT,
                   "the motion explodes at t = %g s, down to a step of %g s; take a dt below that, "
                   "or a better solver",
                   t, h);
}

static ss_status try_step(ss_stepper *s, ss_step_report *report, ss_step_reason *reason,
                          ss_error *e)
{
    report->iterates = report->lifted = report->looks = 0;
    if (s->batch != NULL) {
        ss_step_batch_try(s, s->dt, report, reason);
        return SS_OK;
    }
    return s->scheme->step(s, s->own, s->dt, report, reason, e);
}

// Tries until one is good, or as good as the smallest step can be.
static ss_status find_step(ss_stepper *s, ss_step_report *report, ss_error *e)
{
    for (;;) {
        ss_step_reason reason = SS_STEP_DONE;
        const ss_status status = try_step(s, report, &reason, e);
        const bool smallest = s->dt <= s->options.dt_min;
        if (status != SS_OK && (status == SS_SYSTEM || reason != SS_STEP_SOLVER)) {
            return status;
        }
        if (reason != SS_STEP_DONE) {
            report->reason = reason;
        }
        if (reason == SS_STEP_DONE || (reason == SS_STEP_REACH && smallest)) {
            return accept(s, s->dt, report, e);
        }
        if (smallest) {
            return give_up(s, reason, status, e);
        }
        s->dt = fmax(0.5 * s->dt, s->options.dt_min);
        s->good = 0;
        report->rejected++;
    }
}

ss_status ss_stepper_step(ss_stepper *s, ss_step_report *report, ss_error *e)
{
    const double start = ss_clock_now();
    *report = (ss_step_report){.answer = {.status = ""}, .penetration = NAN};
    look_around(s);
    s->placed = false;
    s->ncontacts = 0;
    const ss_status status = find_step(s, report, e);
    s->ncontacts = status == SS_OK ? s->ncontacts : 0;
    report->seconds = ss_clock_now() - start;
    return status;
}

const char *ss_stepper_scheme(const ss_stepper *s)
{
    return s->spec;
}

bool ss_stepper_is_alone(const ss_stepper *s)
{
    return s->scheme->alone;
}

const ss_problem *ss_stepper_problem(const ss_stepper *s, const double **r, const double **v)
{
    *r = s->ncontacts > 0 ? s->r : NULL;
    *v = s->ncontacts > 0 ? s->v : NULL;
    return s->ncontacts > 0 ? &s->formed.problem : NULL;
}

const ss_vec3 *ss_stepper_points(const ss_stepper *s)
{
    return s->placed && s->batch == NULL ? s->here.x : NULL;
}

const ss_touch *ss_stepper_touches(const ss_stepper *s, int *count)
{
    *count = s->ncontacts;
    return s->touches;
}

const ss_mat3 *ss_stepper_frames(const ss_stepper *s)
{
    return s->E;
}
