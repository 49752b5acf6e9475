// The natural shape at which a rod with directors rests where it is, under a load (corde.h).
//
// From a free tip on: the force g of an edge, dV/de, is the load beyond it. Its part along the edge is a
// tension, which gives the natural length; its part across is -kappa_p l (d - c t)/|e| and says which
// direction d among the directors the edge is to have (aim). The torque that then misses at p_j is what joint
// j adds there, r0 m - rv x m, which is solved for its moment m = K (u - ubar):
//
//     m = r0 b + rv x b + rv (rv.b)/r0   solves   r0 m - rv x m = b
//
// and joint j adds -(r0 m + rv x m) at p_{j-1}. From a free root on, the same in the other order, which
// changes the signs of m and rv (`way`). Where both ends are held, what holds the tip is taken to pull at nothing.
//
// doc/strands.md, "CoRdE gradients and Hessians" (Balance).
#include <math.h>
#include <stdlib.h>

#include "strands/models/corde/corde.h"

// m/s^2: a free rod whose load accelerates it by less is at rest.
#define REST_ACCELERATION 1e-6

// The load on vertex i, and on p_j.
static ss_vec3 load_on(const double *load, int dof)
{
    return ss_vec(load[dof], load[dof + 1], load[dof + 2]);
}

// Natural length and aim of edge j, whose dV/de is g; its dV/dphi. False where there are none.
static bool set_edge(ss_corde *d, const double *q, int j, ss_vec3 g, ss_vec3 *torque)
{
    const ss_vec3 e = ss_minus(ss_corde_vertex(q, j + 1), ss_corde_vertex(q, j)), t = ss_unit(e);
    const ss_mat3 R = ss_quat_matrix(ss_corde_turn(q, j));
    const double tension = ss_dot(g, t), strain = tension / d->rigidity.stretch;
    const double edge = ss_length(e) / (1.0 + strain), stiff = d->parallel * edge;
    const ss_vec3 across = ss_scaled(-ss_length(e) / stiff, ss_along(g, -tension, t));
    const double cosine = sqrt(1.0 - ss_dot(across, across));
    const ss_vec3 aim = ss_turned_back(&R, ss_along(across, cosine, t));
    const ss_vec3 tau = ss_turned_back(&R, t);
    d->edge[j] = edge;
    d->aim[0][j] = aim.x;
    d->aim[1][j] = aim.y;
    d->aim[2][j] = aim.z;
    *torque = ss_scaled(-stiff, ss_cross(aim, tau));
    return strain > -1.0 && cosine > 0.0;
}

// m with r0 m - rv x m = b.
static ss_vec3 solve_joint(double r0, ss_vec3 rv, ss_vec3 b)
{
    return ss_along(ss_plus(ss_scaled(r0, b), ss_cross(rv, b)), ss_dot(rv, b) / r0, rv);
}

// From the tip on (from the root on): edges, and the moments m of joints.
static bool solve_all(ss_corde *d, const double *q, const double *load, bool from_root, ss_vec3 *m,
                      ss_vec3 *force, ss_vec3 *torque)
{
    ss_vec3 g = {0.0, 0.0, 0.0}, missing = g, own;
    const double way = from_root ? -1.0 : 1.0;
    bool sound = true;
    for (int k = 0; k < d->n; k++) {
        const int j = from_root ? k : d->n - 1 - k, joint = from_root ? j + 1 : j;
        g = ss_along(g, way, load_on(load, SS_CORDE_DOFS * (from_root ? j : j + 1)));
        sound = set_edge(d, q, j, g, &own) && sound;
        missing = ss_plus(missing, ss_minus(load_on(load, SS_CORDE_DOFS * j + 3), own));
        if (k == d->n - 1) {
            break;
        }
        const ss_quat rho = ss_corde_bend(q, joint);
        const ss_vec3 rv = ss_scaled(way, ss_quat_vector(rho));
        m[joint] = ss_scaled(way, solve_joint(rho.w, rv, missing));
        missing = ss_scaled(way, ss_plus(ss_scaled(rho.w, m[joint]), ss_cross(rv, m[joint])));
    }
    *force = ss_along(g, way, load_on(load, from_root ? SS_CORDE_DOFS * d->n : 0));
    *torque = missing;
    return sound;
}

static void set_strains(ss_corde *d, const double *q, const ss_vec3 *m)
{
    for (int j = 0; j < d->n; j++) {
        d->edge[j] += d->more[0][j];
        d->inverse_edge[j] = 1.0 / d->edge[j];
    }
    for (int j = 1; j < d->n; j++) {
        const double length = 0.5 * (d->edge[j - 1] + d->edge[j]);
        const ss_quat rho = ss_corde_bend(q, j);
        d->inverse_length[j] = 1.0 / length;
        d->strain[0][j] = 2.0 * rho.x - length * m[j].x / d->rigidity.bend1 + d->more[1][j];
        d->strain[1][j] = 2.0 * rho.y - length * m[j].y / d->rigidity.bend2 + d->more[2][j];
        d->strain[2][j] = 2.0 * rho.z - length * m[j].z / d->rigidity.twist + d->more[3][j];
    }
}

ss_status ss_corde_balance(void *strand, const double *q, const double *load, ss_error *e)
{
    ss_corde *d = strand;
    ss_vec3 *m = calloc((size_t)d->n + 1, sizeof *m), force, torque;
    if (m == NULL) {
        return ss_fail_memory(e, "the natural shape of a strand");
    }
    const bool sound = solve_all(d, q, load, d->clamp == SS_CLAMP_TIP, m, &force, &torque);
    set_strains(d, q, m);
    free(m);
    const double least = REST_ACCELERATION * d->rigidity.line_density * d->length;
    if (d->clamp == SS_CLAMP_NONE &&
        !(ss_length(force) <= least && ss_length(torque) <= least * d->length)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "a rod that nothing holds cannot rest under a load that moves it: clamp its "
                       "root, or let it begin unsettled");
    }
    return sound ? SS_OK
                 : ss_fail(e, SS_BAD_INPUT,
                           "no natural shape carries the load of a strand of the model corde: use "
                           "a stiffer material or let it begin unsettled");
}
