#include "tests/support/kirchhoff.h"

#include <gsl/gsl_linalg.h>

#include "strands/geometry.h"
#include "tests/support/support.h"

#define STEPS 2000 // an even number

typedef struct section {
    ss_pose pose;
    ss_vec3 n, m;
} section;

typedef struct rates {
    ss_vec3 place, spin, n, m; // spin in the world
} rates;

static rates rates_at(const kirchhoff *k, const section *s)
{
    const ss_vec3 m = ss_turned_back(&s->pose.turn, s->m);
    const ss_vec3 u = ss_plus(k->natural, ss_vec(m.x / k->rigidity.twist, m.y / k->rigidity.bend1,
                                                 m.z / k->rigidity.bend2));
    const ss_vec3 t = s->pose.turn.c[0];
    return (rates){t, ss_turned(&s->pose.turn, u), ss_scaled(-1.0, k->weight), ss_cross(s->n, t)};
}

static section moved(const section *s, double h, const rates *r)
{
    const ss_mat3 turn = ss_rotation(ss_scaled(h, r->spin));
    return (section){{ss_mat3_product(&turn, &s->pose.turn), ss_along(s->pose.place, h, r->place)},
                     ss_along(s->n, h, r->n),
                     ss_along(s->m, h, r->m)};
}

static ss_vec3 mean(ss_vec3 a, ss_vec3 b, ss_vec3 c, ss_vec3 d)
{
    const ss_vec3 middle = ss_plus(b, c);
    return ss_scaled(1.0 / 6.0, ss_along(ss_plus(a, d), 2.0, middle));
}

// The rule of fourth order for rates; turns by the mean spin, which is of second order in the spins'
// changes of direction over a step: 2000 steps leave 1e-7.
static void go_on(const kirchhoff *k, double h, section *s)
{
    const rates a = rates_at(k, s);
    const section sa = moved(s, 0.5 * h, &a);
    const rates b = rates_at(k, &sa);
    const section sb = moved(s, 0.5 * h, &b);
    const rates c = rates_at(k, &sb);
    const section sc = moved(s, h, &c);
    const rates d = rates_at(k, &sc);
    const rates all = {mean(a.place, b.place, c.place, d.place),
                       mean(a.spin, b.spin, c.spin, d.spin), mean(a.n, b.n, c.n, d.n),
                       mean(a.m, b.m, c.m, d.m)};
    *s = moved(s, h, &all);
}

static section shoot(const kirchhoff *k, const double x[6], int steps)
{
    section s = {k->root, ss_vec(x[0], x[1], x[2]), ss_vec(x[3], x[4], x[5])};
    for (int i = 0; i < steps; i++) {
        go_on(k, k->length / STEPS, &s);
    }
    return s;
}

static void put(double *x, double scale, ss_vec3 a)
{
    x[0] = scale * a.x;
    x[1] = scale * a.y;
    x[2] = scale * a.z;
}

// R' S
static ss_mat3 relative(const ss_mat3 *R, const ss_mat3 *S)
{
    return (ss_mat3){
        {ss_turned_back(R, S->c[0]), ss_turned_back(R, S->c[1]), ss_turned_back(R, S->c[2])}};
}

// What must vanish at the tip, in lengths and radians or their forces.
static void misses(const kirchhoff *k, const double x[6], double miss[6])
{
    const section s = shoot(k, x, STEPS);
    const double EI = k->rigidity.bend1, L = k->length;
    if (k->held) {
        const ss_mat3 off = relative(&k->tip.turn, &s.pose.turn);
        put(miss, 1.0 / L, ss_minus(s.pose.place, k->tip.place));
        put(miss + 3, 1.0, ss_rotation_vector(&off));
    } else {
        put(miss, L * L / EI, s.n);
        put(miss + 3, L / EI, s.m);
    }
}

// One step of Newton's method; its size, in units of EI/L^2 and EI/L.
static double newton(const kirchhoff *k, double x[6])
{
    double J[36], miss[6], ahead[6], behind[6], size = 0.0;
    const double EI = k->rigidity.bend1, L = k->length;
    misses(k, x, miss);
    for (int j = 0; j < 6; j++) {
        const double was = x[j], h = 1e-5 * (j < 3 ? EI / (L * L) : EI / L);
        x[j] = was + h;
        misses(k, x, ahead);
        x[j] = was - h;
        misses(k, x, behind);
        x[j] = was;
        for (int i = 0; i < 6; i++) {
            J[6 * i + j] = (ahead[i] - behind[i]) / 2e-5;
        }
    }
    gsl_matrix_view A = gsl_matrix_view_array(J, 6, 6);
    gsl_vector_view b = gsl_vector_view_array(miss, 6);
    gsl_permutation *p = gsl_permutation_alloc(6);
    int sign;
    gsl_linalg_LU_decomp(&A.matrix, p, &sign);
    gsl_linalg_LU_svx(&A.matrix, p, &b.vector);
    gsl_permutation_free(p);
    for (int j = 0; j < 6; j++) {
        x[j] -= miss[j] * (j < 3 ? EI / (L * L) : EI / L);
        size = fmax(size, fabs(miss[j]));
    }
    return size;
}

ss_pose kirchhoff_at(const kirchhoff *k, double share, int stages)
{
    double x[6] = {0.0};
    kirchhoff now = *k;
    const ss_pose tip = kirchhoff_natural(k->natural, k->length, &k->root);
    const ss_mat3 way = relative(&tip.turn, &k->tip.turn);
    const ss_vec3 turn = k->held ? ss_rotation_vector(&way) : ss_vec(0.0, 0.0, 0.0);
    for (int i = 1; i <= stages; i++) {
        const double part = (double)i / stages;
        const ss_mat3 along = ss_rotation(ss_scaled(part, turn));
        now.weight = ss_scaled(part, k->weight);
        now.tip.turn = ss_mat3_product(&tip.turn, &along);
        now.tip.place = ss_along(tip.place, part, ss_minus(k->tip.place, tip.place));
        double size = INFINITY;
        for (int step = 0; step < 30 && !(size <= 1e-8); step++) {
            size = newton(&now, x);
        }
        CHECK_LE(size, 1e-8);
    }
    return shoot(&now, x, (int)(share * STEPS + 0.5)).pose;
}

ss_pose kirchhoff_natural(ss_vec3 natural, double length, const ss_pose *root)
{
    const kirchhoff k = {.length = length,
                         .rigidity = {.twist = 1.0, .bend1 = 1.0, .bend2 = 1.0},
                         .natural = natural,
                         .root = *root};
    const double x[6] = {0.0};
    return shoot(&k, x, STEPS).pose;
}

ss_pose kirchhoff_inverse(const ss_pose *p)
{
    const ss_mat3 *R = &p->turn;
    const ss_mat3 back = {{{R->c[0].x, R->c[1].x, R->c[2].x},
                           {R->c[0].y, R->c[1].y, R->c[2].y},
                           {R->c[0].z, R->c[1].z, R->c[2].z}}};
    return (ss_pose){back, ss_scaled(-1.0, ss_turned_back(R, p->place))};
}
