// problems/tangle/tangle_plan.c -- the lattice of rods, and a frame and two places for each contact.
#include "problems/tangle/tangle_plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Contacts lie in this part of a rod: at the root, joints hardly move.
#define FIRST_SHARE 0.1
#define LAST_SHARE  1.0

// Two rods touch at arclengths that differ by up to this share of the length.
#define SLIP_SHARE 0.02

// Normals stray from the lattice's directions by up to some 20 degrees.
#define NORMAL_SPREAD 0.36

// Hyperstatic: this many contacts share a place up to 1 % of the length, and a normal up to 1 deg.
#define BUNCH         8
#define BUNCH_SHARE   0.01
#define BUNCH_NORMALS 0.017

static double share_to_arclength(double share)
{
    return SS_ROD_LENGTH * (FIRST_SHARE + (LAST_SHARE - FIRST_SHARE) * fmin(fmax(share, 0.0), 1.0));
}

static void draw_normal(ss_random *g, int dim, const double about[3], double spread,
                        double normal[3])
{
    double stray[3];
    ss_random_direction(g, dim, stray);
    for (int k = 0; k < 3; k++) {
        normal[k] = about[k] + spread * stray[k];
    }
    ss_normalise(normal);
}

// The first tangent is the rods' growth as far as it is perpendicular to the normal, or its
// opposite, so that the plane's frame turns right as well; the second is normal x first.
static void complete_frame(int dim, double frame[3][3])
{
    double growth[3];
    ss_rod_growth(dim, growth);
    const double *n = frame[0];
    const double along = n[0] * growth[0] + n[1] * growth[1] + n[2] * growth[2];
    const double sign = dim == 2 && n[0] < 0.0 ? -1.0 : 1.0;
    double *t = frame[1], *last = frame[2];
    for (int k = 0; k < 3; k++) {
        t[k] = sign * (growth[k] - along * n[k]);
    }
    ss_normalise(t);
    last[0] = n[1] * t[2] - n[2] * t[1];
    last[1] = n[2] * t[0] - n[0] * t[2];
    last[2] = n[0] * t[1] - n[1] * t[0];
}

// Contacts of one rod with one neighbour, or with the ground.
typedef struct patch {
    int rod, other;
    double normal[3]; // of the lattice
    bool bunched;
} patch;

// Where contact k of count lies on the first rod, as a share of the part that is touched: a place
// at random in the k-th of equal pieces, one for each contact or bunch.
static double draw_share(ss_random *g, int k, int count)
{
    return (k + ss_random_uniform(g)) / count;
}

// A rod touches itself at two places well apart; two rods touch at much the same height.
static double draw_other_share(ss_random *g, const patch *p, double share)
{
    if (p->rod != p->other) {
        return share + ss_random_between(g, -SLIP_SHARE, SLIP_SHARE);
    }
    const double apart = share + ss_random_between(g, 0.25, 0.75);
    return apart < 1.0 ? apart : apart - 1.0;
}

static ss_tangle_touch draw_touch(ss_random *g, int dim, const patch *p, double share)
{
    ss_tangle_touch t = {.rod = {p->rod, p->other}};
    t.arclength[0] = share_to_arclength(share);
    t.arclength[1] = share_to_arclength(draw_other_share(g, p, share));
    draw_normal(g, dim, p->normal, NORMAL_SPREAD, t.frame[0]);
    complete_frame(dim, t.frame);
    return t;
}

static ss_tangle_touch jittered(ss_random *g, int dim, const ss_tangle_touch *centre)
{
    ss_tangle_touch t = *centre;
    for (int end = 0; end < 2; end++) {
        const double jitter = 0.5 * BUNCH_SHARE * ss_random_between(g, -1.0, 1.0);
        t.arclength[end] = fmin(t.arclength[end] + jitter * SS_ROD_LENGTH, SS_ROD_LENGTH);
    }
    draw_normal(g, dim, centre->frame[0], BUNCH_NORMALS, t.frame[0]);
    complete_frame(dim, t.frame);
    return t;
}

static void draw_patch(ss_random *g, int dim, const patch *p, int count, ss_tangle_touch *touches)
{
    const int bunch = p->bunched ? BUNCH : 1;
    const int nbunches = (count + bunch - 1) / bunch;
    for (int k = 0; k < nbunches; k++) {
        const ss_tangle_touch centre = draw_touch(g, dim, p, draw_share(g, k, nbunches));
        for (int i = k * bunch; i < count && i < (k + 1) * bunch; i++) {
            touches[i] = p->bunched ? jittered(g, dim, &centre) : centre;
        }
    }
}

static int ground_contacts(const ss_tangle_settings *s)
{
    return (int)(s->ground_share * s->ncontacts + 0.5);
}

double ss_tangle_rods(const ss_tangle_settings *s)
{
    return ceil((2.0 * s->ncontacts - ground_contacts(s)) / s->ends_per_rod);
}

// Share k of `total` things dealt evenly to n.
static int dealt(int total, int k, int n)
{
    return (int)((long)total * (k + 1) / n - (long)total * k / n);
}

static int lattice_stride(int nrods)
{
    const int root = (int)sqrt((double)nrods);
    return root > 1 ? root : 1;
}

// Contacts of each rod: with its first and (in space) second neighbour, then with the ground.
static void draw_touches(ss_random *g, const ss_tangle_settings *s, ss_tangle_plan *plan)
{
    const int n = plan->nrods, neighbours = s->dim - 1;
    const int stride[2] = {1, lattice_stride(n)};
    const int on_ground = ground_contacts(s), between = s->ncontacts - on_ground;
    int done = 0;
    for (int rod = 0; rod < n; rod++) {
        for (int k = 0; k < neighbours; k++) {
            patch p = {.rod = rod, .other = (rod + stride[k]) % n, .bunched = s->hyperstatic};
            p.normal[k] = -1.0; // the neighbour lies along +e_k
            const int count = dealt(between, rod * neighbours + k, n * neighbours);
            draw_patch(g, s->dim, &p, count, plan->touches + done);
            done += count;
        }
        const patch ground = {rod, SS_GROUND, {1.0, 0.0, 0.0}, s->hyperstatic};
        const int count = dealt(on_ground, rod, n);
        draw_patch(g, s->dim, &ground, count, plan->touches + done);
        done += count;
    }
}

ss_status ss_tangle_plan_new(const ss_tangle_settings *s, ss_tangle_plan **out, ss_error *e)
{
    *out = NULL;
    ss_tangle_plan *plan = calloc(1, sizeof *plan);
    if (plan == NULL) {
        return ss_fail_memory(e, "a tangle");
    }
    plan->dim = s->dim;
    plan->nrods = (int)ss_tangle_rods(s);
    plan->ncontacts = s->ncontacts;
    plan->rods = malloc((size_t)plan->nrods * sizeof *plan->rods);
    plan->touches = malloc((size_t)plan->ncontacts * sizeof *plan->touches);
    if (plan->rods == NULL || plan->touches == NULL) {
        ss_tangle_plan_free(plan);
        return ss_fail_memory(e, "the rods of a tangle");
    }
    ss_random g = ss_random_seeded(s->seed);
    for (int i = 0; i < plan->nrods; i++) {
        plan->rods[i] = ss_rod_drawn(&g, s->dim);
    }
    draw_touches(&g, s, plan);
    *out = plan;
    return SS_OK;
}

void ss_tangle_plan_free(ss_tangle_plan *plan)
{
    if (plan != NULL) {
        free(plan->rods);
        free(plan->touches);
        free(plan);
    }
}
