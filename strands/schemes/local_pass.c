// Passes over contacts between vertices (local_pass.h).
#include "strands/schemes/local_pass.h"

#include <stdlib.h>
#include <string.h>

#include "problems/coulomb.h"
#include "problems/split_impulse.h"
#include "strands/band.h"

const char *const ss_law_names[] = {"printed", "repaired", "rigid", NULL};

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

ss_local_pass *ss_local_pass_new(const ss_world *w)
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
        ss_local_pass_free(p);
        return NULL;
    }
    p->rods = p->active + n;
    for (int k = 0; k < w->nstrands; k++) {
        p->density[k] = ss_material_rigidity(&w->strands[k].material).line_density;
    }
    return p;
}

void ss_local_pass_free(ss_local_pass *p)
{
    if (p != NULL) {
        ss_buffer_free(&p->room);
        free(p->active);
        free(p->density);
        free(p->column);
    }
    free(p);
}

// ---- Contacts

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

ss_status ss_local_pass_begin(ss_local_pass *p, const ss_stepper *s, ss_law law, ss_error *e)
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

// ---- A pass

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

double ss_local_pass_run(ss_local_pass *p, ss_stepper *s, const double *v)
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

// ---- The error of an iterate

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

double ss_local_pass_find_scales(ss_local_pass *p, const ss_stepper *s, const double *v)
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

double ss_local_pass_error(const ss_local_pass *p, const ss_stepper *s, const double *v)
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

void ss_local_pass_impulses(const ss_local_pass *p, const ss_stepper *s, double *impulses)
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
