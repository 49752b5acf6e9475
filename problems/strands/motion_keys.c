// Motions through given poses (motion.h).
//
// Between two keys a place is a cubic of time, and a turn is R_k exp [phi]x with phi a cubic of time from
// 0 to the rotation vector of R_k' R_{k+1}, on the shorter way. Both have at the keys the rates that keep a
// cubic between its ends (Fritsch and Carlson), coordinate by coordinate: with d0 and d1 the mean rates of
// the intervals before and after, h0 and h1 long,
//
//     0 where d0 d1 <= 0,   3 (h0 + h1) / ((h0 + 2 h1) / d0 + (2 h0 + h1) / d1) else
//
// and 0 at the first and the last key, before and after which the body rests. Velocity and spin are
// continuous, accelerations are finite. A body that rests between two keys moves neither before nor after.
//
// With T(phi) = I + b [phi]x + c [phi]x^2 (super_helix_kinematics.h) the spin is R_k T(phi) phi'.
#include "problems/strands/motion.h"

#include "problems/strands/models/super_helix_kinematics.h"

static double joined(double d0, double d1, double h0, double h1)
{
    return d0 * d1 > 0.0 ? 3.0 * (h0 + h1) / ((h0 + 2.0 * h1) / d0 + (2.0 * h0 + h1) / d1) : 0.0;
}

static ss_vec3 joined3(ss_vec3 d0, ss_vec3 d1, double h0, double h1)
{
    return ss_vec(joined(d0.x, d1.x, h0, h1), joined(d0.y, d1.y, h0, h1),
                  joined(d0.z, d1.z, h0, h1));
}

// The rotation vector from a key to the next, in the frame of the first.
static ss_vec3 way_between(const ss_motion_key *k)
{
    return ss_quat_log(ss_quat_product(ss_quat_conjugate(k[0].turn), k[1].turn));
}

void ss_motion_keys_join(int n, ss_motion_key *keys)
{
    ss_vec3 rate = {0.0, 0.0, 0.0}, turning = rate;
    double before = 0.0;
    for (int k = 0; k < n; k++) {
        ss_vec3 next = {0.0, 0.0, 0.0}, next_turning = next;
        double h = 0.0;
        if (k + 1 < n) {
            h = keys[k + 1].time - keys[k].time;
            next = ss_scaled(1.0 / h, ss_minus(keys[k + 1].place, keys[k].place));
            next_turning = ss_quat_turned(keys[k].turn, ss_scaled(1.0 / h, way_between(&keys[k])));
        }
        keys[k].velocity = joined3(rate, next, before, h);
        keys[k].spin = joined3(turning, next_turning, before, h);
        rate = next;
        turning = next_turning;
        before = h;
    }
}

// T(phi)^-1 x = x - phi x x / 2 + g phi x (phi x x), g = (1 - |phi|/2 cot |phi|/2) / |phi|^2.
static ss_vec3 unspun(ss_vec3 phi, ss_vec3 x)
{
    const double half = 0.5 * ss_length(phi);
    const double g = half > 1e-2 ? (1.0 - half * cos(half) / sin(half)) / (4.0 * half * half)
                                 : 1.0 / 12.0 + half * half / 180.0;
    const ss_vec3 once = ss_cross(phi, x);
    return ss_along(ss_along(x, -0.5, once), g, ss_cross(phi, once));
}

// The cubic from 0 to `way` over h with the rates begin and end, at the time t: value and derivatives.
static void cubic(ss_vec3 way, ss_vec3 begin, ss_vec3 end, double h, double t, ss_vec3 value[3])
{
    const double s = t / h;
    const ss_vec3 mean = ss_scaled(1.0 / h, way);
    // h begin s + c2 s^2 + c3 s^3
    const ss_vec3 c2 =
        ss_scaled(h, ss_along(ss_along(ss_scaled(3.0, mean), -2.0, begin), -1.0, end));
    const ss_vec3 c3 = ss_scaled(h, ss_along(ss_plus(begin, end), -2.0, mean));
    value[0] = ss_along(ss_along(ss_scaled(h * s, begin), s * s, c2), s * s * s, c3);
    value[1] = ss_along(ss_along(begin, 2.0 * s / h, c2), 3.0 * s * s / h, c3);
    value[2] = ss_along(ss_scaled(2.0 / (h * h), c2), 6.0 * s / (h * h), c3);
}

static void rest_at(const ss_motion_key *k, ss_motion_state *state)
{
    *state = (ss_motion_state){.pose = {ss_quat_matrix(k->turn), k->place}};
}

void ss_motion_keys_at(const ss_motion *m, double t, ss_motion_state *state)
{
    const ss_motion_key *k = m->keys, *last = m->keys + m->nkeys - 1;
    if (!(t > k->time) || t >= last->time) {
        rest_at(t >= last->time ? last : k, state);
        return;
    }
    while (k[1].time <= t) {
        k++;
    }
    const double h = k[1].time - k->time, since = t - k->time;
    const ss_mat3 R = ss_quat_matrix(k->turn);
    const ss_vec3 way = way_between(k);
    ss_vec3 place[3], phi[3], spin, rate, more, unused;
    cubic(ss_minus(k[1].place, k->place), k->velocity, k[1].velocity, h, since, place);
    cubic(way, ss_turned_back(&R, k->spin), unspun(way, ss_turned_back(&R, k[1].spin)), h, since,
          phi);
    ss_helix_spin_at(phi[0], phi[1], 1.0, &spin, &rate);
    ss_helix_spin_at(phi[0], phi[2], 1.0, &more, &unused);
    const ss_mat3 turned = ss_rotation(phi[0]);
    *state = (ss_motion_state){.pose = {ss_mat3_product(&R, &turned), ss_plus(k->place, place[0])},
                               .velocity = place[1],
                               .spin = ss_turned(&R, spin),
                               .acceleration = place[2],
                               .spin_rate = ss_turned(&R, ss_plus(rate, more))};
}
