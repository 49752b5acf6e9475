// How the links of a tree move, and the residual of their motion: motions outwards, forces inwards (oriented.h).
//
// With d the arm from the parent p to link j (of the base: p is the base), c from its joint to its centre of
// mass, R its turn, all along the axes of the world:
//
//     R_j = R_p R(q_j),          x_j = x_p + d,           omega_j = omega_p + R_j w_j
//     alpha_j = alpha_p + R_j wdot_j + omega_p x R_j w_j
//     a_j = a_p + alpha_p x d + omega_p x (omega_p x d)
//     f_j = m [a_j + alpha_j x c + omega_j x (omega_j x c)] - load
//     n_j = I alpha_j + omega_j x I omega_j + c x f_j - load,   I = across 1 + (spin - across) y y'
//     F_j = f_j + sum over children F,   N_j = n_j + sum over children (N + d x F)
//     residual_j = R_j' N_j - Q_j + C_j w_j
//
// These are the v, a and rs of doc/strands.md, "Residual", written at the joints and along other axes.
#include "strands/models/oriented/oriented.h"

#include "strands/models/oriented/oriented_joint.h"

static ss_vec3 read(const double *x)
{
    return ss_vec(x[0], x[1], x[2]);
}

// R(q / |q|)
static ss_mat3 turn_of(const double q[4])
{
    const double s = 2.0 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const double w = s * q[0], x = s * q[1], y = s * q[2], z = s * q[3];
    const ss_mat3 R = {
        {ss_vec(1.0 - y * q[2] - z * q[3], x * q[2] + w * q[3], x * q[3] - w * q[2]),
         ss_vec(x * q[2] - w * q[3], 1.0 - x * q[1] - z * q[3], y * q[3] + w * q[1]),
         ss_vec(x * q[3] + w * q[2], y * q[3] - w * q[1], 1.0 - x * q[1] - y * q[2])}};
    return R;
}

void ss_oriented_place(const ss_oriented *s, const ss_pose *base, const double *q)
{
    const double *turn = q + ss_oriented_turn_at(s, 0);
    ss_oriented_motion *first = &s->motion[SS_ORIENTED_BASE];
    first->turn = base->turn;
    first->arm = s->floats ? ss_turned(&base->turn, read(q)) : ss_vec(0.0, 0.0, 0.0);
    first->joint = ss_plus(base->place, first->arm);
    for (int j = 0; j < s->n; j++) {
        const ss_oriented_link *l = &s->link[j];
        const ss_oriented_motion *up = &s->motion[l->parent];
        ss_oriented_motion *m = &s->motion[j];
        const ss_mat3 R = turn_of(turn + 4 * j);
        m->turn = ss_mat3_product(&up->turn, &R);
        m->arm = ss_turned(&up->turn, l->joint);
        m->joint = ss_plus(up->joint, m->arm);
        m->centre = ss_scaled(0.5 * l->length, m->turn.c[1]);
    }
}

// Of the base; of a tree that floats, of what carries its root joint: it turns as the base does, and moves
// against it.
static void move_base(const ss_oriented *s, const ss_oriented_base *base, const double *w,
                      const double *wdot)
{
    ss_oriented_motion *m = &s->motion[SS_ORIENTED_BASE];
    m->velocity = base->velocity;
    m->acceleration = base->acceleration;
    m->spin = base->spin;
    m->spin_rate = base->spin_rate;
    if (!s->floats) {
        return;
    }
    const ss_vec3 rate = ss_turned(&m->turn, read(w)), carried = ss_cross(m->spin, m->arm);
    const ss_vec3 about = ss_cross(m->spin, ss_along(carried, 2.0, rate));
    m->velocity = ss_plus(m->velocity, ss_plus(carried, rate));
    m->acceleration = ss_plus(m->acceleration, ss_plus(ss_cross(m->spin_rate, m->arm), about));
    if (wdot != NULL) {
        m->acceleration = ss_plus(m->acceleration, ss_turned(&m->turn, read(wdot)));
    }
}

void ss_oriented_move(const ss_oriented *s, const ss_oriented_base *base, const double *q,
                      const double *w, const double *wdot)
{
    const double *rate = w + ss_oriented_rate_at(s, 0);
    const double *change = wdot != NULL ? wdot + ss_oriented_rate_at(s, 0) : NULL;
    ss_oriented_place(s, &base->pose, q);
    move_base(s, base, w, wdot);
    for (int j = 0; j < s->n; j++) {
        const ss_oriented_motion *up = &s->motion[s->link[j].parent];
        ss_oriented_motion *m = &s->motion[j];
        const ss_vec3 own = ss_turned(&m->turn, read(rate + 3 * j));
        const ss_vec3 moved = ss_cross(up->spin, m->arm);
        const ss_vec3 turning = ss_plus(ss_cross(up->spin_rate, m->arm), ss_cross(up->spin, moved));
        m->spin = ss_plus(up->spin, own);
        m->velocity = ss_plus(up->velocity, moved);
        m->acceleration = ss_plus(up->acceleration, turning);
        m->spin_rate = ss_plus(up->spin_rate, ss_cross(up->spin, own));
        if (change != NULL) {
            m->spin_rate = ss_plus(m->spin_rate, ss_turned(&m->turn, read(change + 3 * j)));
        }
    }
}

// f_j and n_j of a link.
static void add_own(const ss_oriented_link *l, const ss_oriented_motion *m,
                    const ss_oriented_load *load, ss_oriented_sum *sum)
{
    const ss_vec3 y = m->turn.c[1];
    const ss_vec3 about =
        ss_plus(ss_cross(m->spin_rate, m->centre), ss_cross(m->spin, ss_cross(m->spin, m->centre)));
    ss_vec3 f = ss_scaled(l->mass, ss_plus(m->acceleration, about));
    const ss_vec3 twist =
        ss_along(ss_scaled(ss_dot(y, m->spin_rate), y), ss_dot(y, m->spin), ss_cross(m->spin, y));
    ss_vec3 n = ss_along(ss_scaled(l->across, m->spin_rate), l->spin - l->across, twist);
    if (load != NULL) {
        f = ss_minus(f, load->force);
        n = ss_minus(n, load->moment);
    }
    sum->force = ss_plus(sum->force, f);
    sum->moment = ss_plus(sum->moment, ss_plus(n, ss_cross(m->centre, f)));
}

static void put(ss_vec3 x, double *to)
{
    to[0] = x.x;
    to[1] = x.y;
    to[2] = x.z;
}

static void clear_sums(const ss_oriented *s)
{
    for (int j = SS_ORIENTED_BASE; j < s->n; j++) {
        s->sum[j].force = s->sum[j].moment = ss_vec(0.0, 0.0, 0.0);
    }
}

void ss_oriented_residual(const ss_oriented *s, const ss_oriented_base *base, const double *q,
                          const double *w, const double *wdot, const ss_oriented_load *load,
                          double *rs)
{
    const double *turn = q + ss_oriented_turn_at(s, 0);
    const int first = ss_oriented_rate_at(s, 0);
    ss_oriented_move(s, base, q, w, wdot);
    clear_sums(s);
    for (int j = s->n - 1; j >= 0; j--) {
        const ss_oriented_link *l = &s->link[j];
        const ss_oriented_motion *m = &s->motion[j];
        ss_oriented_sum *sum = &s->sum[j], *up = &s->sum[l->parent];
        const double *rate = w + first + 3 * j;
        add_own(l, m, load != NULL ? &load[j] : NULL, sum);
        const ss_joint joint = ss_joint_at(l->rest, ss_quat_read(turn + 4 * j));
        const ss_vec3 Q = ss_joint_torque(&joint, l->spring);
        const ss_vec3 damped = ss_joint_damping(l->damping, rate);
        const ss_vec3 own = ss_turned_back(&m->turn, sum->moment);
        put(ss_plus(ss_minus(own, Q), damped), rs + first + 3 * j);
        up->force = ss_plus(up->force, sum->force);
        up->moment = ss_plus(up->moment, ss_plus(sum->moment, ss_cross(m->arm, sum->force)));
    }
    if (s->floats) {
        put(ss_turned_back(&base->pose.turn, s->sum[SS_ORIENTED_BASE].force), rs);
    }
}
