// problems/tangle/rod.c -- kinematics and mass of an articulated chain.
//
//     K = sum over mass points of m J J'                                                      (1)
//     M = K + alpha I            where the condition of K exceeds the one asked for
//     M = |K| (K / |K|)^p, p > 1 where it does not                                            (2)
//
// with two Gauss points a link, which integrate the kinetic energy of a straight link exactly.
// alpha is dt^2 times the stiffness of a joint. K alone has a condition of 1.5e4 to 1.8e4 in space
// and of 1.8e5 to 2.8e5 in the plane; (2) stretches its spectrum about the highest eigenvalue and
// keeps its modes, as the finer links of a longer chain would do.
#include "problems/tangle/rod.h"

#include <math.h>
#include <string.h>

#include "base/spectrum.h"

// Each link moves the wander by this much and keeps this share of it. Their sum stays below 1, so
// that no link turns by a right angle and the first joint axis below always exists.
#define WANDER_STEP 0.2
#define WANDER_KEPT 0.8

#define POINTS_PER_LINK 2
static const double GAUSS_POINT[POINTS_PER_LINK] = {0.21132486540518713, 0.7886751345948129};

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross(const double a[3], const double b[3], double c[3])
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

void ss_normalise(double a[3])
{
    const double length = sqrt(dot(a, a));
    for (int k = 0; k < 3; k++) {
        a[k] /= length;
    }
}

static double link_length(const ss_rod *rod)
{
    return SS_ROD_LENGTH / rod->nlinks;
}

void ss_rod_growth(int dim, double direction[3])
{
    direction[0] = 0.0;
    direction[1] = dim == 2 ? 1.0 : 0.0;
    direction[2] = dim == 2 ? 0.0 : 1.0;
}

// e_z in the plane; in space e_x as far as it is perpendicular to the link, and the third axis.
static void set_joint_axes(ss_rod *rod, int link)
{
    if (rod->dim == 2) {
        memcpy(rod->axis[link], (const double[3]){0.0, 0.0, 1.0}, sizeof rod->axis[link]);
        return;
    }
    const double *along = rod->direction[link];
    double *first = rod->axis[2 * link];
    for (int k = 0; k < 3; k++) {
        first[k] = (k == 0 ? 1.0 : 0.0) - along[0] * along[k];
    }
    ss_normalise(first);
    cross(along, first, rod->axis[2 * link + 1]);
}

ss_rod ss_rod_drawn(ss_random *g, int dim)
{
    ss_rod rod = {.dim = dim, .nlinks = dim == 2 ? 16 : 8, .joint_axes = dim - 1};
    double growth[3], wander[3] = {0.0, 0.0, 0.0}, step[3];
    ss_rod_growth(dim, growth);
    for (int e = 0; e < rod.nlinks; e++) {
        ss_random_direction(g, dim, step);
        for (int k = 0; k < 3; k++) {
            wander[k] = WANDER_KEPT * wander[k] + WANDER_STEP * step[k];
            rod.direction[e][k] = growth[k] + wander[k];
        }
        ss_normalise(rod.direction[e]);
        set_joint_axes(&rod, e);
        for (int k = 0; k < 3 && e > 0; k++) {
            rod.joint[e][k] = rod.joint[e - 1][k] + link_length(&rod) * rod.direction[e - 1][k];
        }
    }
    return rod;
}

static int link_at(const ss_rod *rod, double s)
{
    const int link = (int)(s / link_length(rod));
    return link < rod->nlinks ? link : rod->nlinks - 1;
}

int ss_rod_reach(const ss_rod *rod, double s)
{
    return rod->joint_axes * (link_at(rod, s) + 1);
}

void ss_rod_point(const ss_rod *rod, double s, double x[3])
{
    const int link = link_at(rod, s);
    const double beyond = s - link * link_length(rod);
    for (int k = 0; k < 3; k++) {
        x[k] = rod->joint[link][k] + beyond * rod->direction[link][k];
    }
}

int ss_rod_jacobian(const ss_rod *rod, double s, double J[SS_ROD_DOFS][3])
{
    const int reach = ss_rod_reach(rod, s);
    double x[3], arm[3];
    ss_rod_point(rod, s, x);
    for (int j = 0; j < reach; j++) {
        for (int k = 0; k < 3; k++) {
            arm[k] = x[k] - rod->joint[j / rod->joint_axes][k];
        }
        cross(rod->axis[j], arm, J[j]);
    }
    return reach;
}

static int mass_points(const ss_rod *rod)
{
    return POINTS_PER_LINK * rod->nlinks;
}

static double point_mass(const ss_rod *rod)
{
    return SS_ROD_DENSITY * SS_ROD_LENGTH / mass_points(rod);
}

static double point_arclength(const ss_rod *rod, int point)
{
    return link_length(rod) * (point / POINTS_PER_LINK + GAUSS_POINT[point % POINTS_PER_LINK]);
}

static void add_kinetic_energy(const ss_rod *rod, double K[SS_ROD_DOFS][SS_ROD_DOFS])
{
    double J[SS_ROD_DOFS][3];
    for (int point = 0; point < mass_points(rod); point++) {
        const int reach = ss_rod_jacobian(rod, point_arclength(rod, point), J);
        for (int i = 0; i < reach; i++) {
            for (int j = 0; j <= i; j++) {
                K[i][j] += point_mass(rod) * dot(J[i], J[j]);
            }
        }
    }
    for (int i = 0; i < SS_ROD_DOFS; i++) {
        for (int j = 0; j < i; j++) {
            K[j][i] = K[i][j];
        }
    }
}

static void stretch(const ss_spectrum *K, double condition, double M[SS_ROD_DOFS][SS_ROD_DOFS])
{
    const double power = ss_portable_log(condition) / ss_portable_log(K->highest / K->lowest);
    double lambda[SS_ROD_DOFS];
    for (int k = 0; k < SS_ROD_DOFS; k++) {
        const double logarithm = ss_portable_log(K->lambda[k] / K->highest);
        lambda[k] = K->highest * ss_portable_exp(power * logarithm);
    }
    ss_spectrum_matrix(K, lambda, M[0]);
}

void ss_rod_mass(const ss_rod *rod, double condition, double M[SS_ROD_DOFS][SS_ROD_DOFS])
{
    memset(M, 0, SS_ROD_DOFS * sizeof M[0]);
    add_kinetic_energy(rod, M);
    const ss_spectrum K = ss_spectrum_of(SS_ROD_DOFS, M[0]);
    const double alpha = ss_spectrum_shift(&K, condition);
    if (alpha < 0.0) {
        stretch(&K, condition, M);
        return;
    }
    for (int i = 0; i < SS_ROD_DOFS; i++) {
        M[i][i] += alpha;
    }
}

void ss_rod_weight(const ss_rod *rod, const double a[3], double torque[SS_ROD_DOFS])
{
    memset(torque, 0, SS_ROD_DOFS * sizeof torque[0]);
    double J[SS_ROD_DOFS][3];
    for (int point = 0; point < mass_points(rod); point++) {
        const int reach = ss_rod_jacobian(rod, point_arclength(rod, point), J);
        for (int j = 0; j < reach; j++) {
            torque[j] += point_mass(rod) * dot(J[j], a);
        }
    }
}
