// thesis: [J20] Algorithms 2 and 3: Newton's iterations of backward Euler, with one pass of local
// impulses between two of them.
//
//     v^1 = M^-1 f about (q_n, v_n), without contacts
//     contacts by continuous detection on the way from x_n to x_n + h v^1;  r^1 = 0, or relax r of
//                                                                           the
//     step before
//     k = 1, 2, ..:   r from v^k, contact by contact
//                     I = H r
//                     v^{k+1} = M^-1 (f + I) about q_n (+) h v^k
//
// until |v^{k+1} - v^k| / dim, the mean over the strands, is below tol, [J20] (4.3), or as many
// systems were solved as are allowed. With fb=F > 0 the end is where max(fb, normal/2) of r and v
// is F at most, and the change at most F V or tol, as newton ends with a solver of this tolerance.
// r is that of the last I: M v = f + H r holds of the last system, which is the problem that the
// step leaves behind.
//
// newton=full takes M of the iterate, newton=quasi that of quasi.h. With search=on each strand's
// step is halved until its objective has fallen enough; the last iterate takes its whole step.
//
// doc/strands.md, "Thesis".
#include "base/clock.h"
#include "problems/coulomb.h"
#include "problems/split_impulse.h"
#include "strands/band.h"
#include "strands/schemes/quasi.h"
#include "strands/schemes/schemes.h"
#include "strands/step/stepper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- A pass of local impulses
//
// Each contact asks for an impulse from its own velocity.
//
// A contact lies between the vertices of one edge or two, with the weights 1 - a and a of the first
// strand and b - 1 and -b of the second; an obstacle is met by vertices alone. With J these
// weights,
//
//     u = E' J v + w,   I = J' E r,   1/m_loc = sum J_j^2 c_j / m_j,   c_j the contacts of vertex j
//
// over the vertices that are free, and problems/split_impulse.h gives r. Contacts count that were
// active in the pass before, r != 0 (of the laws that add increments: increment != 0); each counts
// one at least, and all count in the first pass. A contact whose increment was 0 gets no more of
// them.
//
// doc/strands.md, "Local impulses".

typedef enum ss_law { SS_LAW_PRINTED, SS_LAW_REPAIRED, SS_LAW_RIGID } ss_law;

typedef struct ss_local_pass ss_local_pass; // memory that is kept from step to step

enum { SS_THESIS_FULL, SS_THESIS_QUASI };

enum { SS_THESIS_ADVANCE, SS_THESIS_CUBIC };

typedef struct ss_thesis_settings {
    int law, newton, search, iterations;
    double tol; // m/s
    double fb;  // 0: no matter
    double relax;
    int stiffness;
    int detection;
} ss_thesis_settings;

typedef struct ss_thesis {
    ss_thesis_settings set;
    ss_local_pass *pass;
    ss_quasi quasi;
    ss_quasi_groups groups;
    double *about;               // [nv] v*
    double *impulses;            // [nv] I
    double *change;              // [nstrands] |v - v*| over positions
    double *search_q, *search_v; // [nq], [nv] tries of a line search
    double *share;               // [nstrands] of its step that a strand took in the last search
    // The next five belong to the iterate whose work strands share.
    ss_stepper *s;
    ss_iterate it;
    ss_world_state at; // q* and v*
    double scale;      // m/s: V, where fb matters
    bool searches;     // the present iterate does
    bool iterated;     // there was a second system
} ss_thesis;

static const char *const ss_law_names[] = {"printed", "repaired", "rigid", NULL};

// A vertex that moves, as a contact sees it.
typedef struct end {
    int dof;           // of the world: the first of three
    int vertex;        // among the samples of the world
    double weight;     // J
    double compliance; // J^2 / m
} end;

// An edge as a rigid rod, in the frame of the contact.
typedef struct rod {
    int vertex; // where it begins
    double K[9];
} rod;

typedef struct hit {
    end ends[4];
    int nends, nrods;
    bool active; // in the last pass
    bool left;   // gets no more increments
    rod rods[2];
} hit;

struct ss_local_pass {
    ss_law law;
    hit *hits; // [count] in the buffer
    ss_buffer room;
    int count;
    int *active;     // [nsamples + 1] contacts of each vertex
    int *rods;       // [nsamples + 1] contacts of the edge that begins there
    double *density; // [nstrands] kg/m
    double *column;  // [nv] scratch
    ss_scales scales;
};

static void local_pass_free(ss_local_pass *p)
{
    if (p != NULL) {
        ss_buffer_free(&p->room);
        free(p->active);
        free(p->density);
        free(p->column);
    }
    free(p);
}

static ss_local_pass *local_pass_new(const ss_world *w)
{
    const size_t n = (size_t)w->nsamples + 1;
    ss_local_pass *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return NULL;
    }
    p->active = malloc(2 * n * sizeof *p->active);
    p->density = malloc(((size_t)w->nstrands + 1) * sizeof *p->density);
    p->column = malloc(((size_t)w->nv + 1) * sizeof *p->column);
    if (p->active == NULL || p->density == NULL || p->column == NULL) {
        local_pass_free(p);
        return NULL;
    }
    p->rods = p->active + n;
    for (int k = 0; k < w->nstrands; k++) {
        p->density[k] = ss_material_rigidity(&w->strands[k].material).line_density;
    }
    return p;
}

// -- Contacts

static void add_end(const ss_stepper *s, int strand, int vertex, double weight, hit *h)
{
    const ss_strand *own = &s->world->strands[strand];
    const int dof = own->v + s->here.all.samples[own->sample + vertex].first;
    if (weight == 0.0 || s->systems.place[dof] < 0) {
        return;
    }
    const int at = own->sample + vertex;
    h->ends[h->nends++] = (end){dof, at, weight, weight * weight / s->world->mass[at]};
}

// The edge of strand k, where the contact is at abscissa a; one that is held does not answer.
static void add_rod(const ss_local_pass *p, const ss_stepper *s, int k, int segment, double a,
                    const ss_mat3 *E, hit *h)
{
    const ss_strand *own = &s->world->strands[k];
    const ss_vec3 *x = s->here.x + own->point + segment;
    const ss_strand_point *ends = s->here.all.samples + own->sample + segment;
    if (s->systems.place[own->v + ends[0].first] < 0 &&
        s->systems.place[own->v + ends[1].first] < 0) {
        return;
    }
    const ss_vec3 e = ss_minus(x[1], x[0]), t = ss_turned_back(E, ss_unit(e));
    const double direction[3] = {t.x, t.y, t.z};
    rod *r = &h->rods[h->nrods++];
    *r = (rod){.vertex = own->sample + segment};
    ss_impulse_add_rod(p->density[k] * ss_length(e), a, direction, r->K);
}

static hit hit_of(const ss_local_pass *p, const ss_stepper *s, int i)
{
    const ss_touch *t = &s->touches[i];
    hit h = {.active = true};
    add_end(s, t->strand_a, t->segment_a, 1.0 - t->a, &h);
    add_end(s, t->strand_a, t->segment_a + 1, t->a, &h);
    if (t->strand_b < 0) {
        return h;
    }
    add_end(s, t->strand_b, t->segment_b, t->b - 1.0, &h);
    add_end(s, t->strand_b, t->segment_b + 1, -t->b, &h);
    if (p->law == SS_LAW_RIGID) {
        add_rod(p, s, t->strand_a, t->segment_a, t->a, &s->E[i], &h);
        add_rod(p, s, t->strand_b, t->segment_b, t->b, &s->E[i], &h);
    }
    return h;
}

// The contacts of the stepper, of which the problem is formed; s->r are their impulses so far.
static ss_status local_pass_begin(ss_local_pass *p, const ss_stepper *s, ss_law law, ss_error *e)
{
    p->law = law;
    p->count = s->ncontacts;
    p->hits = ss_buffer_room(&p->room, (size_t)p->count * sizeof *p->hits);
    if (p->hits == NULL) {
        return ss_fail_memory(e, "the contacts of a step");
    }
    for (int i = 0; i < p->count; i++) {
        p->hits[i] = hit_of(p, s, i);
    }
    return SS_OK;
}

// -- A pass

static void count_active(ss_local_pass *p, int nsamples)
{
    memset(p->active, 0, 2 * ((size_t)nsamples + 1) * sizeof *p->active);
    for (int i = 0; i < p->count; i++) {
        const hit *h = &p->hits[i];
        for (int j = 0; h->active && j < h->nends; j++) {
            p->active[h->ends[j].vertex]++;
        }
        for (int j = 0; h->active && j < h->nrods; j++) {
            p->rods[h->rods[j].vertex]++;
        }
    }
}

static double at_least_one(int count)
{
    return count > 1 ? (double)count : 1.0;
}

// m_loc
static double mass_of(const ss_local_pass *p, const hit *h)
{
    double compliance = 0.0;
    for (int j = 0; j < h->nends; j++) {
        compliance += h->ends[j].compliance * at_least_one(p->active[h->ends[j].vertex]);
    }
    return 1.0 / compliance;
}

static void velocity_of(const hit *h, const ss_mat3 *E, const double *w, const double *v,
                        double u[3])
{
    ss_vec3 sum = {0.0, 0.0, 0.0};
    for (int j = 0; j < h->nends; j++) {
        const double *x = v + h->ends[j].dof;
        sum = ss_along(sum, h->ends[j].weight, ss_vec(x[0], x[1], x[2]));
    }
    sum = ss_turned_back(E, sum);
    u[0] = sum.x + w[0];
    u[1] = sum.y + w[1];
    u[2] = sum.z + w[2];
}

static void rigid_increment(const ss_local_pass *p, const hit *h, double mu, const double u[3],
                            double dr[3])
{
    double K[9] = {0.0};
    for (int j = 0; j < h->nrods; j++) {
        const double count = at_least_one(p->rods[h->rods[j].vertex]);
        for (int c = 0; c < 9; c++) {
            K[c] += count * h->rods[j].K[c];
        }
    }
    ss_impulse_rigid(mu, K, u, dr);
}

// r of one contact; how far it moved.
static double visit(const ss_local_pass *p, hit *h, double mu, const double u[3], double r[3])
{
    double dr[3];
    if (p->law == SS_LAW_REPAIRED) {
        const double before[3] = {r[0], r[1], r[2]};
        ss_impulse_repaired(mu, mass_of(p, h), u, r);
        h->active = r[0] > 0.0;
        for (int c = 0; c < 3; c++) {
            dr[c] = r[c] - before[c];
        }
        return sqrt(dr[0] * dr[0] + dr[1] * dr[1] + dr[2] * dr[2]);
    }
    if (h->left) {
        return 0.0;
    }
    if (h->nrods > 0) {
        rigid_increment(p, h, mu, u, dr);
    } else {
        ss_impulse_printed(mu, mass_of(p, h), u, dr);
    }
    for (int c = 0; c < 3; c++) {
        r[c] += dr[c];
    }
    h->active = dr[0] > 0.0;
    h->left = !h->active;
    return sqrt(dr[0] * dr[0] + dr[1] * dr[1] + dr[2] * dr[2]);
}

// Makes a pass over the contacts: s->r from the velocities v [nv]. Returns the mean over the
// contacts of |change of r_i|, N s, [J20] (4.4).
static double local_pass_run(ss_local_pass *p, ss_stepper *s, const double *v)
{
    const ss_problem *formed = &s->formed.problem;
    double sum = 0.0;
    count_active(p, s->world->nsamples);
    for (int i = 0; i < p->count; i++) {
        double u[3];
        velocity_of(&p->hits[i], &s->E[i], formed->w + 3 * i, v, u);
        sum += visit(p, &p->hits[i], formed->mu[i], u, s->r + 3 * i);
    }
    return sum / p->count;
}

// -- The error of an iterate

// Contacts that the compliance is a mean of.
#define SAMPLES 256

// tr(J M^-1 J') of strand k: three columns.
static double trace_of(const ss_local_pass *p, const ss_stepper *s, const hit *h, int k)
{
    const ss_strand *strand = &s->world->strands[k];
    const int *place = s->systems.place;
    const size_t n = (size_t)s->systems.M[k].n;
    double sum = 0.0;
    for (int c = 0; c < 3; c++) {
        bool any = false;
        memset(p->column, 0, n * sizeof *p->column);
        for (int j = 0; j < h->nends; j++) {
            const int dof = h->ends[j].dof;
            if (dof >= strand->v && dof < strand->v + strand->size.nv) {
                p->column[place[dof + c]] = h->ends[j].weight;
                any = true;
            }
        }
        if (!any) {
            return 0.0;
        }
        ss_band_solve(&s->systems.L[k], s->systems.D + strand->v, p->column);
        for (int j = 0; j < h->nends; j++) {
            const int dof = h->ends[j].dof;
            if (dof >= strand->v && dof < strand->v + strand->size.nv) {
                sum += h->ends[j].weight * p->column[place[dof + c]];
            }
        }
    }
    return sum;
}

// Finds the scales of local_pass_error, for a step whose contacts are begun: V from the velocities
// v [nv] without impulses, and s, the mean of tr(W_ii)/3 over 256 contacts at most, from the
// factors of s->systems (problems/coulomb.h). If there are more contacts, one in so many counts.
// Returns V, m/s.
static double local_pass_find_scales(ss_local_pass *p, const ss_stepper *s, const double *v)
{
    const int every = (p->count + SAMPLES - 1) / SAMPLES;
    double sum = 0.0, largest = 0.0;
    int count = 0;
    for (int i = 0; i < p->count; i++) {
        double u[3];
        velocity_of(&p->hits[i], &s->E[i], s->formed.problem.w + 3 * i, v, u);
        largest = fmax(largest, sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]));
        if (i % every == 0) {
            const ss_touch *t = &s->touches[i];
            sum += trace_of(p, s, &p->hits[i], t->strand_a) / 3.0;
            if (t->strand_b >= 0 && t->strand_b != t->strand_a) {
                sum += trace_of(p, s, &p->hits[i], t->strand_b) / 3.0;
            }
            count++;
        }
    }
    p->scales = (ss_scales){largest > 0.0 ? largest : 1.0, sum > 0.0 ? sum / count : 1.0};
    return p->scales.velocity;
}

// max(fb, normal/2) of s->r with the velocities v.
static double local_pass_error(const ss_local_pass *p, const ss_stepper *s, const double *v)
{
    const double compliance = p->scales.compliance;
    double largest = 0.0;
    for (int i = 0; i < p->count; i++) {
        const double *r = s->r + 3 * i;
        double u[3], f[3];
        velocity_of(&p->hits[i], &s->E[i], s->formed.problem.w + 3 * i, v, u);
        ss_coulomb_residual(s->formed.problem.mu[i], compliance, r, u, f);
        const double x = compliance * r[0], normal = x + u[0] - hypot(x, u[0]);
        for (int c = 0; c < 3; c++) {
            largest = fabs(f[c]) <= largest ? largest : fabs(f[c]);
        }
        largest =
            SS_NORMAL_WEIGHT * fabs(normal) <= largest ? largest : SS_NORMAL_WEIGHT * fabs(normal);
    }
    return largest / p->scales.velocity;
}

// I [nv] = J' E r of all strands.
static void local_pass_impulses(const ss_local_pass *p, const ss_stepper *s, double *impulses)
{
    memset(impulses, 0, (size_t)s->world->nv * sizeof *impulses);
    for (int i = 0; i < p->count; i++) {
        const hit *h = &p->hits[i];
        const double *r = s->r + 3 * i;
        const ss_vec3 I = ss_turned(&s->E[i], ss_vec(r[0], r[1], r[2]));
        for (int j = 0; j < h->nends; j++) {
            double *at = impulses + h->ends[j].dof;
            at[0] += h->ends[j].weight * I.x;
            at[1] += h->ends[j].weight * I.y;
            at[2] += h->ends[j].weight * I.z;
        }
    }
}

// ---- Strands of an iterate
//
// What the scheme thesis does with each strand, and with those that go side by side (thesis.h).

// A strand that nothing touches rests when its velocity changes by less than this share of tol.
#define REST 0.01

// Armijo's condition: the objective falls by at least this share of what its slope promises; and
// how often a step is halved at most.
#define SUFFICIENT 0.03
#define HALVINGS   20
// Rounding of an objective, as a share of the sizes of its parts.
#define ROUNDING 1e-12

// |v - v*| over positions.
static double change_of(const ss_thesis *t, int k)
{
    const ss_strand *strand = &t->s->world->strands[k];
    const ss_strand_point *points = t->s->here.all.points + strand->point;
    const double *v = t->s->trial.v + strand->v, *about = t->about + strand->v;
    double sum = 0.0;
    for (int i = 0; i < strand->size.npoints; i++) {
        for (int c = 0; c < 3; c++) {
            const int j = points[i].first + c;
            sum += (v[j] - about[j]) * (v[j] - about[j]);
        }
    }
    return sqrt(sum);
}

// q moves on to where v leads, and v* to what that is.
static void commit(ss_thesis *t, int k)
{
    const ss_world *w = t->s->world;
    const ss_strand *strand = &w->strands[k];
    const double *v = t->s->trial.v + strand->v;
    double *q = t->s->trial.q + strand->q, *step = t->s->mean + strand->v;
    double *about = t->about + strand->v;
    for (int j = 0; j < strand->size.nv; j++) {
        step[j] = v[j] - about[j];
        about[j] = v[j];
    }
    strand->model->advance(strand->self, q, step, t->it.h, q);
    if (strand->model->difference != NULL) {
        strand->model->difference(strand->self, w->now.q + strand->q, q, t->it.h, about);
    }
}

static void solve(ss_thesis *t, int k)
{
    ss_stepper *s = t->s;
    const ss_strand *strand = &s->world->strands[k];
    const double *impulses = t->impulses + strand->v;
    double *v = s->trial.v + strand->v, *right = s->mean + strand->v;
    if (t->set.newton == SS_THESIS_QUASI) {
        ss_quasi_solve(&t->quasi, &s->systems, s->world, k, t->about + strand->v, impulses, v);
        return;
    }
    for (int i = 0; i < s->systems.M[k].n; i++) {
        right[i] = s->systems.f[strand->v + i] + impulses[s->systems.free[strand->v + i]];
    }
    ss_systems_solve(&s->systems, s->world, k, right, v);
}

// The objective of a step ([J20] 2.17, of which g - I is the gradient) at q, v, which are strand
// k's part of search_q and search_v.
static double objective(ss_thesis *t, int k, int thread, double *size)
{
    ss_stepper *s = t->s;
    const ss_world_state there = {.time = t->at.time, .q = t->search_q, .v = t->search_v};
    ss_placed at = ss_snapshot_strand(&s->there, s->world, k);
    ss_iterate it = t->it;
    it.at = &there;
    ss_strand_place(s->world, k, &there, &at);
    return ss_strand_objective(s->world, k, &it, &at, t->impulses + s->world->strands[k].v,
                               s->systems.rooms[thread].scratch, size);
}

// search_q and search_v: so much of the way from v* to v.
static void go(ss_thesis *t, int k, double share)
{
    const ss_strand *strand = &t->s->world->strands[k];
    const double *about = t->about + strand->v, *v = t->s->trial.v + strand->v;
    double *at = t->search_v + strand->v, *step = t->s->mean + strand->v;
    for (int j = 0; j < strand->size.nv; j++) {
        step[j] = share * (v[j] - about[j]);
        at[j] = about[j] + step[j];
    }
    strand->model->advance(strand->self, t->s->trial.q + strand->q, step, t->it.h,
                           t->search_q + strand->q);
}

// [J20] Algorithm 1 with its loop put right: v is halved towards v* until the objective has fallen
// enough. Its slope is -(v - v*)' M (v - v*), as M (v - v*) = I - g.
static void search(ss_thesis *t, int k, int thread)
{
    ss_stepper *s = t->s;
    const ss_strand *strand = &s->world->strands[k];
    double *v = s->trial.v + strand->v, share = 1.0, size, most;
    go(t, k, 0.0);
    const double before = objective(t, k, thread, &size);
    const double slope = -ss_systems_square(&s->systems, s->world, k, v, t->about + strand->v);
    const double rounding = ROUNDING * size;
    for (int i = 0; i < HALVINGS; i++, share *= 0.5) {
        go(t, k, share);
        most = before + SUFFICIENT * share * slope + rounding;
        if (objective(t, k, thread, &size) <= most) {
            break;
        }
    }
    memcpy(v, t->search_v + strand->v, (size_t)strand->size.nv * sizeof *v);
    t->share[k] = share;
}

// Its system about q*, and v of that.
static void renew(ss_thesis *t, int k, int thread)
{
    ss_stepper *s = t->s;
    ss_placed at = ss_snapshot_strand(&s->there, s->world, k);
    ss_strand_place(s->world, k, t->it.at, &at);
    s->systems.definite[k] =
        t->set.newton == SS_THESIS_QUASI
            ? ss_quasi_renew(&t->quasi, &s->systems, s->world, k, &t->it, &at, thread)
            : ss_systems_form_strand(&s->systems, s->world, k, &t->it, &at, thread);
    solve(t, k);
    if (t->searches) {
        search(t, k, thread);
    }
    t->change[k] = change_of(t, k);
}

static ss_quasi_step group_step(ss_thesis *t, int thread)
{
    ss_stepper *s = t->s;
    return (ss_quasi_step){.world = s->world,
                           .systems = &s->systems,
                           .here = &s->here,
                           .quasi = &t->quasi,
                           .h = t->it.h,
                           .impulses = t->impulses,
                           .q = s->trial.q,
                           .v = s->trial.v,
                           .about = t->about,
                           .change = t->change,
                           .scratch = t->groups.scratch + (size_t)thread * t->groups.each};
}

static bool has_left(const ss_quasi_item *item, int i)
{
    return item->model == NULL || (item->left >> i & 1u) != 0;
}

// Nothing touches its strands, and they have stopped changing.
static bool rests(const ss_thesis *t, const ss_quasi_item *item)
{
    const ss_world *w = t->s->world;
    for (int i = 0; i < item->count; i++) {
        const int k = item->strand[i];
        const double dim = 3.0 * w->strands[k].size.npoints;
        if ((t->s->ncontacts > 0 && t->s->formed.row[k] >= 0) ||
            !(t->change[k] <= REST * t->set.tol * dim)) {
            return false;
        }
    }
    return true;
}

// Steps the strands of the group together; strands that have left it, or leave it now, are stepped
// one by one.
static void iterate_strands(void *context, int which, int thread)
{
    ss_thesis *t = context;
    ss_quasi_item *item = &t->groups.items[which];
    const ss_quasi_step step = group_step(t, thread);
    for (int i = 0; i < item->count; i++) {
        t->quasi.seconds[item->strand[i]] = 0.0;
    }
    if (rests(t, item)) {
        return;
    }
    for (int i = 0; i < item->count; i++) {
        if (has_left(item, i)) {
            commit(t, item->strand[i]);
            renew(t, item->strand[i], thread);
        }
    }
    const unsigned leave = item->model != NULL ? item->model->iterate(item->group, &step) : 0;
    for (int i = 0; i < item->count; i++) {
        if ((leave >> i & 1u) != 0) {
            item->model->end(item->group, &step, &t->s->systems, i);
            item->model->leave(item->group, i);
            renew(t, item->strand[i], thread);
        }
    }
    item->left |= leave;
}

// The first: v without contacts.
static void begin_strand(ss_thesis *t, int k, int thread)
{
    ss_stepper *s = t->s;
    if (t->set.newton == SS_THESIS_QUASI) {
        ss_quasi_keep(&t->quasi, &s->systems, s->world, k, &t->it, thread);
    }
    ss_systems_end(&s->systems, s->world, k, s->trial.v + s->world->strands[k].v);
    memcpy(t->about + s->world->strands[k].v, s->world->now.v + s->world->strands[k].v,
           (size_t)s->world->strands[k].size.nv * sizeof *t->about);
    t->change[k] = change_of(t, k);
}

static void begin_strands(void *context, int which, int thread)
{
    ss_thesis *t = context;
    ss_quasi_item *item = &t->groups.items[which];
    const ss_quasi_step step = group_step(t, thread);
    for (int i = 0; i < item->count; i++) {
        begin_strand(t, item->strand[i], thread);
    }
    item->left = 0;
    if (item->model != NULL) {
        item->model->begin(item->group, &step);
    }
}

static void leave_strands(void *context, int which, int thread)
{
    ss_thesis *t = context;
    ss_stepper *s = t->s;
    const ss_quasi_item *item = &t->groups.items[which];
    const ss_quasi_step step = group_step(t, thread);
    for (int i = 0; i < item->count; i++) {
        const int k = item->strand[i];
        const bool touches = s->ncontacts > 0 && s->formed.row[k] >= 0;
        if (t->set.newton == SS_THESIS_QUASI && t->iterated) {
            if (!has_left(item, i)) {
                item->model->end(item->group, &step, touches ? &s->systems : NULL, i);
            }
            if (touches) {
                ss_quasi_right(&t->quasi, &s->systems, s->world, k,
                               t->about + s->world->strands[k].v);
            }
        }
    }
}

static void commit_strands(void *context, int which, int thread)
{
    ss_thesis *t = context;
    const ss_quasi_item *item = &t->groups.items[which];
    (void)thread;
    for (int i = 0; i < item->count; i++) {
        commit(t, item->strand[i]);
    }
}

// ---- The scheme

typedef ss_thesis_settings settings;

typedef ss_thesis thesis;

static const settings DEFAULTS = {SS_LAW_PRINTED,   SS_THESIS_QUASI,  0, 50, 1e-8, 0.0, 0.0,
                                  SS_STIFFNESS_OWN, SS_THESIS_ADVANCE};
static const char *const NEWTONS[] = {"full", "quasi", NULL};
static const char *const SEARCHES[] = {"off", "on", NULL};
static const char *const DETECTIONS[] = {"advance", "cubic", NULL};
static const ss_key KEYS[] = {
    SS_CHOICE_KEY("law", law, ss_law_names),
    SS_CHOICE_KEY("newton", newton, NEWTONS),
    SS_CHOICE_KEY("search", search, SEARCHES),
    SS_INTEGER_KEY("iterations", iterations, 1, 100000),
    SS_REAL_KEY("tol", tol, 0.0, 1e3),
    SS_REAL_KEY("fb", fb, 0.0, 1.0),
    SS_REAL_KEY("relax", relax, 0.0, 1.0),
    SS_CHOICE_KEY("stiffness", stiffness, ss_stiffness_names),
    SS_CHOICE_KEY("detection", detection, DETECTIONS),
    {.name = NULL},
};

static void thesis_free(void *own)
{
    thesis *t = own;
    if (t != NULL) {
        local_pass_free(t->pass);
        ss_quasi_free(&t->quasi);
        ss_quasi_groups_free(&t->groups);
        free(t->about);
        free(t->search_q);
    }
    free(t);
}

// Vertices with masses of their own, and lengths apart.
static ss_status check_models(const ss_world *w, const settings *set, ss_error *e)
{
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand *s = &w->strands[k];
        if (!s->size.lumped || s->size.npoints != s->size.nsamples) {
            return ss_fail(e, SS_BAD_INPUT,
                           "strands of the model %s have no vertices with masses of their own, "
                           "which the scheme thesis gives impulses to: take der",
                           s->model->name);
        }
        if (set->newton == SS_THESIS_QUASI && s->model->lengths == NULL) {
            return ss_fail(e, SS_BAD_INPUT,
                           "strands of the model %s do not keep the stiffness of lengths apart: "
                           "take thesis:newton=full, or der",
                           s->model->name);
        }
    }
    return SS_OK;
}

static ss_status thesis_make(ss_stepper *s, const void *set, void **own, ss_error *e)
{
    const ss_world *w = s->world;
    const size_t nv = (size_t)w->nv + 1;
    thesis *t = calloc(1, sizeof *t);
    *own = t;
    if (t == NULL) {
        return ss_fail_memory(e, "the scheme of a world");
    }
    t->set = *(const settings *)set;
    s->coplanar = t->set.detection == SS_THESIS_CUBIC;
    const ss_status status = check_models(w, &t->set, e);
    if (status != SS_OK) {
        return status;
    }
    t->pass = local_pass_new(w);
    t->about = malloc((2 * nv + 2 * (size_t)w->nstrands) * sizeof *t->about);
    t->search_q = malloc(((size_t)w->nq + nv) * sizeof *t->search_q);
    if (t->pass == NULL || t->about == NULL || t->search_q == NULL ||
        !ss_quasi_init(&t->quasi, w) ||
        !ss_quasi_groups_init(&t->groups, w, t->set.newton == SS_THESIS_QUASI && t->set.search == 0,
                              s->options.threads > 1 ? s->options.threads : 1)) {
        return ss_fail_memory(e, "the scheme of a world");
    }
    t->impulses = t->about + nv;
    t->change = t->impulses + nv;
    t->share = t->change + w->nstrands;
    t->search_v = t->search_q + w->nq;
    return SS_OK;
}

// -- All strands

static void each(thesis *t, ss_strand_work *work)
{
    ss_systems_each(&t->s->systems, t->groups.count, work, t);
}

static bool all_definite(const thesis *t)
{
    bool definite = true;
    for (int k = 0; k < t->s->world->nstrands; k++) {
        definite = definite && t->s->systems.definite[k];
    }
    return definite;
}

// [J20] (4.3): |v - v*| / dim, the mean over the strands; and the rms over all places.
static void measure_change(const thesis *t, ss_step_report *report)
{
    const ss_world *w = t->s->world;
    double sum = 0.0, squares = 0.0;
    for (int k = 0; k < w->nstrands; k++) {
        sum += t->change[k] / (3.0 * w->strands[k].size.npoints);
        squares += t->change[k] * t->change[k];
    }
    report->change = sum / w->nstrands;
    report->change_rms = sqrt(squares / (3.0 * w->npoints));
}

// Contacts, their problem without a solver, and r.
static ss_status find_contacts(thesis *t, double h, ss_step_report *report, ss_error *e)
{
    ss_stepper *s = t->s;
    ss_status status = ss_step_find_contacts(s, h, report, e);
    if (status == SS_OK) {
        status = ss_step_form_problem(s, h, report, e);
    }
    if (status != SS_OK || s->ncontacts == 0) {
        return status;
    }
    for (int j = 0; j < 3 * s->ncontacts; j++) {
        s->r[j] *= t->set.relax;
    }
    memcpy(s->formed.guess.r, s->r, 3 * (size_t)s->ncontacts * sizeof *s->r);
    status = local_pass_begin(t->pass, s, (ss_law)t->set.law, e);
    if (status == SS_OK && t->set.fb > 0.0) {
        t->scale = local_pass_find_scales(t->pass, s, s->trial.v);
    }
    return status;
}

static void count_solving(double start, ss_step_report *report)
{
    const double seconds = ss_clock_now() - start;
    report->solve_seconds += seconds;
    report->answer.seconds += seconds;
    report->answer.sweep_seconds += seconds;
}

static void pass_over_contacts(thesis *t, ss_step_report *report)
{
    const double start = ss_clock_now();
    if (t->s->ncontacts > 0) {
        report->impulse_change = local_pass_run(t->pass, t->s, t->s->trial.v);
        local_pass_impulses(t->pass, t->s, t->impulses);
        report->answer.iterations++;
        report->answer.status = "stopped"; // unless a judge says more
    }
    count_solving(start, report);
}

static void count_seconds(const thesis *t, double seconds, ss_step_report *report)
{
    report->assemble_seconds += seconds;
    report->dynamic_seconds += seconds;
    for (int k = 0; t->set.newton == SS_THESIS_QUASI && k < t->s->world->nstrands; k++) {
        report->factor_seconds += t->quasi.seconds[k];
    }
}

// The problem of the last system.
static void leave_problem(thesis *t, ss_step_report *report)
{
    ss_stepper *s = t->s;
    const double start = ss_clock_now(), before = report->assemble_seconds;
    t->iterated = report->iterates > 1;
    ss_step_gather_velocities(s, s->trial.v);
    each(t, leave_strands);
    ss_step_refresh_problem(s, report);
    ss_step_keep_answer(s);
    report->assemble_seconds = before;
    report->judge_seconds += ss_clock_now() - start;
}

static ss_status show(thesis *t, ss_step_report *report, ss_error *e)
{
    const ss_stepper *s = t->s;
    if (s->solver.see == NULL || s->ncontacts == 0) {
        return SS_OK;
    }
    leave_problem(t, report);
    return s->solver.see(s->solver.context, &s->formed.problem, s->r, report, e);
}

// Whether a strand took less than its step, so that v is not that of the system.
static bool took_shares(const thesis *t)
{
    bool any = false;
    for (int k = 0; t->searches && k < t->s->world->nstrands; k++) {
        any = any || t->share[k] < 1.0;
    }
    return any;
}

// Whether the last iterate is good enough; the first has no impulses yet.
static bool is_done(const thesis *t, ss_step_report *report)
{
    const ss_stepper *s = t->s;
    if (report->iterates == 1 || took_shares(t)) {
        return false;
    }
    if (!(t->set.fb > 0.0) || s->ncontacts == 0) {
        return report->change < t->set.tol;
    }
    const double start = ss_clock_now();
    const bool small = report->change < fmax(t->set.tol, t->set.fb * t->scale) &&
                       local_pass_error(t->pass, s, s->trial.v) <= t->set.fb;
    count_solving(start, report);
    return small;
}

// Iterates until one is good enough, `most` at most.
static ss_status iterate_to(thesis *t, int most, ss_step_report *report, ss_step_reason *reason,
                            ss_error *e)
{
    ss_status status = SS_OK;
    while (status == SS_OK && !is_done(t, report) && report->iterates < most) {
        pass_over_contacts(t, report);
        t->searches = t->set.search != 0 && report->iterates + 1 < most;
        const double start = ss_clock_now();
        each(t, iterate_strands);
        measure_change(t, report);
        report->iterates++;
        count_seconds(t, ss_clock_now() - start, report);
        if (!all_definite(t)) {
            *reason = SS_STEP_MATRIX;
            break;
        }
        status = show(t, report, e);
    }
    return status;
}

// Contacts where v leads; *open says whether v is no end yet.
static ss_status look(thesis *t, bool *open, ss_step_report *report, ss_error *e)
{
    ss_stepper *s = t->s;
    ss_step_look_result result;
    const double start = ss_clock_now();
    ss_status status = ss_step_look(s, t->it.h, &result, report, e);
    *open = result.added + result.unsolved > 0;
    if (status == SS_OK && *open) {
        report->change = INFINITY;
        status = local_pass_begin(t->pass, s, (ss_law)t->set.law, e);
        if (status == SS_OK && t->set.fb > 0.0 && !(t->scale > 0.0)) {
            t->scale = local_pass_find_scales(t->pass, s, s->trial.v);
        }
    }
    report->prepare_seconds += ss_clock_now() - start;
    return status;
}

// Iterates 2, 3, ..., and again after each look that finds something.
static ss_status iterate(thesis *t, ss_step_report *report, ss_step_reason *reason, ss_error *e)
{
    ss_stepper *s = t->s;
    ss_status status = SS_OK;
    bool open = true;
    memset(t->impulses, 0, (size_t)s->world->nv * sizeof *t->impulses);
    t->searches = false;
    t->at = (ss_world_state){.time = s->world->now.time + t->it.h, .q = s->trial.q, .v = t->about};
    t->it.at = &t->at;
    t->it.ahead = t->about;
    for (int most = t->set.iterations; open; most = report->iterates + t->set.iterations) {
        status = iterate_to(t, most, report, reason, e);
        open = status == SS_OK && *reason == SS_STEP_DONE && report->looks < ss_step_looks(s);
        if (open) {
            status = look(t, &open, report, e);
        }
    }
    return status;
}

// The problem that is left behind, and where the strands are.
static ss_status finish(thesis *t, double h, ss_step_report *report, ss_step_reason *reason,
                        ss_error *e)
{
    leave_problem(t, report);
    each(t, commit_strands);
    return ss_step_end(t->s, h, report, reason, e);
}

static ss_status thesis_step(ss_stepper *s, void *own, double h, ss_step_report *report,
                             ss_step_reason *reason, ss_error *e)
{
    thesis *t = own;
    t->s = s;
    t->it = ss_iterate_first(&s->world->now, h);
    t->it.kind = (ss_stiffness)t->set.stiffness;
    ss_step_begin(s, h, 1.0, NULL);
    if (!ss_step_form(s, &t->it, &s->here, report)) {
        *reason = SS_STEP_MATRIX;
        return SS_OK;
    }
    const double start = ss_clock_now();
    each(t, begin_strands);
    measure_change(t, report);
    report->prepare_seconds += ss_clock_now() - start;
    ss_status status = find_contacts(t, h, report, e);
    if (status != SS_OK) {
        return status;
    }
    memcpy(s->trial.q, s->world->now.q, (size_t)s->world->nq * sizeof *s->trial.q);
    memset(t->about, 0, (size_t)s->world->nv * sizeof *t->about);
    status = iterate(t, report, reason, e);
    return status == SS_OK && *reason == SS_STEP_DONE ? finish(t, h, report, reason, e) : status;
}

const ss_scheme ss_scheme_thesis = {
    .name = "thesis",
    .summary = "a pass of local impulses between Newton's iterates, no solver",
    .reference = "J20",
    .keys = KEYS,
    .defaults = &DEFAULTS,
    .settings_size = sizeof(settings),
    .alone = true,
    .continuous = true,
    .vertices = true,
    .make = thesis_make,
    .free = thesis_free,
    .step = thesis_step,
};
