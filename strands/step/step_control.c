// strands/step/step_control.c -- margins, pairs that went through each other, explosions.
#include "strands/step/step_control.h"

#include <stdlib.h>

#include "strands/step/step_problem.h"

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

// ---- Pairs that went through each other

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

// ---- Explosions

ss_energy ss_step_energy(const ss_world *w, const ss_world_state *state, const ss_snapshot *at)
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

static double length_of(const ss_world *w, const ss_strand *s)
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
        const double most = length_of(w, s);
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
        const double length = length_of(w, s);
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
    const double more = ss_length(body->spin) * length_of(w, s) + QUIET_SPEED;
    const double squares =
        at->root_square + 2.0 * more * at->root_speed + w->nstrands * more * more;
    return 0.5 * mass_of(w, s) * squares;
}

bool ss_step_batch_exploded(const ss_world *w, const ss_step_options *o,
                            const ss_motion_state *from, const ss_motion_state *to,
                            const ss_batch_report *report)
{
    const ss_energy *before = &report->from.energy, *after = &report->to.energy;
    // A velocity that is not finite makes the kinetic energy so.
    if (!(report->moved <= length_of(w, &w->strands[0])) ||
        !isfinite(after->kinetic + after->elastic)) {
        return true;
    }
    return is_too_fast(o, before, after,
                       batch_scripted_energy(w, from, &report->from) +
                           batch_scripted_energy(w, to, &report->to));
}
