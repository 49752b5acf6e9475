// Constraints on the accelerations of a tree of links (oriented_rows.h).
#include "tests/support/articulated.h"
#include "tests/support/oriented_rows.h"

#include <string.h>

// m/s^2: below it a contact without forces has no direction of motion.
#define LEAST_MOTION 1e-12

// ---- Points

static ss_vec3 arm_of(const ss_oriented *tree, int link, ss_vec3 at)
{
    return ss_turned(&tree->motion[link].turn, at);
}

static ss_vec3 velocity_of(const ss_oriented *tree, int link, ss_vec3 at)
{
    const ss_oriented_motion *m = &tree->motion[link];
    return ss_plus(m->velocity, ss_cross(m->spin, arm_of(tree, link, at)));
}

// Of the last articulated_motion or articulated_response, with what the motion adds where `moves`.
static ss_vec3 acceleration_of(const ss_oriented *tree, int link, ss_vec3 at, bool moves)
{
    const ss_oriented_sum *sum = &tree->sum[link];
    const ss_vec3 arm = arm_of(tree, link, at), w = tree->motion[link].spin;
    const ss_vec3 a = ss_plus(sum->force, ss_cross(sum->moment, arm));
    return moves ? ss_plus(a, ss_cross(w, ss_cross(w, arm))) : a;
}

// Accelerations of the links without rows: s->tree->sum, in a frame that falls with gravity.
static void move_freely(const ss_oriented_state *s, double *wdot)
{
    ss_oriented_base base = s->base;
    base.acceleration = ss_minus(base.acceleration, s->gravity);
    articulated_motion(s->tree, &base, s->q, s->w, s->load, wdot);
}

// ---- Rows

static ss_oriented_row point_row(int link, ss_vec3 at, ss_vec3 along)
{
    return (ss_oriented_row){
        .link = link, .at = at, .along = along, .high = INFINITY, .normal = -1};
}

int ss_oriented_goal(const ss_oriented_state *s, int link, ss_vec3 at, const ss_vec3 path[3],
                     double stiffness, double damping, ss_oriented_row *rows)
{
    ss_oriented_move(s->tree, &s->base, s->q, s->w, NULL);
    const ss_vec3 x = ss_plus(s->tree->motion[link].joint, arm_of(s->tree, link, at));
    const ss_vec3 behind = ss_minus(path[0], x);
    const ss_vec3 slower = ss_minus(path[1], velocity_of(s->tree, link, at));
    const ss_vec3 wanted = ss_along(ss_along(path[2], stiffness, behind), damping, slower);
    const double along[3] = {wanted.x, wanted.y, wanted.z};
    for (int k = 0; k < 3; k++) {
        rows[k] = point_row(link, at, ss_mat3_identity().c[k]);
        rows[k].wanted = along[k];
        rows[k].low = -INFINITY;
    }
    return 3;
}

// With the turn u |angle|, its rate u.w and the row along -u: in h it turns by angle + h rate - h^2 a.
int ss_oriented_limit(const ss_oriented_state *s, int link, double most, double h,
                      ss_oriented_row *rows)
{
    const double *q = s->q + ss_oriented_turn_at(s->tree, link);
    const double *w = s->w + ss_oriented_rate_at(s->tree, link);
    const ss_vec3 turn = ss_quat_log(ss_quat_unit(ss_quat_read(q)));
    const double angle = ss_length(turn);
    if (!(angle > 0.0)) {
        return 0;
    }
    const ss_vec3 u = ss_scaled(1.0 / angle, turn);
    const double rate = ss_dot(u, ss_vec(w[0], w[1], w[2]));
    if (angle + h * rate < most) {
        return 0;
    }
    rows[0] = (ss_oriented_row){.link = link,
                                .joint = true,
                                .along = ss_scaled(-1.0, u),
                                .wanted = (angle + h * rate - most) / (h * h),
                                .high = INFINITY,
                                .normal = -1};
    return 1;
}

// t = -unit(a_t + v_t/h), a_t^d = -(v_t.t)/h.
int ss_oriented_contact(const ss_oriented_state *s, int link, ss_vec3 at, ss_vec3 n, double depth,
                        double rate, double mu, double h, ss_vec3 before, int first,
                        ss_oriented_row *rows)
{
    const ss_vec3 v = velocity_of(s->tree, link, at);
    const ss_vec3 a = ss_plus(acceleration_of(s->tree, link, at, true), s->gravity);
    const ss_vec3 motion = ss_along(a, 1.0 / h, v);
    const ss_vec3 across = ss_along(motion, -ss_dot(motion, n), n);
    const double size = ss_length(across);
    const ss_vec3 t = size >= LEAST_MOTION ? ss_scaled(-1.0 / size, across) : before;
    rows[0] = point_row(link, at, n);
    rows[0].wanted = depth > 0.0 ? rate * depth / (h * h) : 0.0;
    rows[1] = point_row(link, at, t);
    rows[1].wanted = -ss_dot(v, t) / h;
    rows[1].normal = first;
    rows[1].mu = mu;
    return 2;
}

// ---- The matrix

static double measure(const ss_oriented *tree, const ss_oriented_row *row, const double *wdot,
                      bool moves)
{
    if (!row->joint) {
        return ss_dot(row->along, acceleration_of(tree, row->link, row->at, moves));
    }
    const double *own = wdot + ss_oriented_rate_at(tree, row->link);
    return ss_dot(row->along, ss_vec(own[0], own[1], own[2]));
}

void ss_oriented_rows_apply(const ss_oriented *tree, int m, const ss_oriented_row *rows,
                            const double *f, ss_oriented_load *load)
{
    for (int i = 0; i < m; i++) {
        const ss_oriented_row *row = &rows[i];
        const ss_oriented_motion *own = &tree->motion[row->link];
        ss_oriented_load *on = &load[row->link];
        if (row->joint) {
            const ss_vec3 moment = ss_scaled(f[i], ss_turned(&own->turn, row->along));
            const int parent = tree->link[row->link].parent;
            on->moment = ss_plus(on->moment, moment);
            if (parent != SS_ORIENTED_BASE) {
                load[parent].moment = ss_minus(load[parent].moment, moment);
            }
        } else {
            const ss_vec3 force = ss_scaled(f[i], row->along);
            const ss_vec3 arm = ss_minus(arm_of(tree, row->link, row->at), own->centre);
            on->force = ss_plus(on->force, force);
            on->moment = ss_plus(on->moment, ss_cross(arm, force));
        }
    }
}

// The wdot that forces f bring about.
static void respond(const ss_oriented *tree, int m, const ss_oriented_row *rows, const double *f,
                    ss_oriented_load *load, double *wdot)
{
    memset(load, 0, (size_t)tree->n * sizeof *load);
    ss_oriented_rows_apply(tree, m, rows, f, load);
    articulated_response(tree, load, wdot);
}

void ss_oriented_rows_measure(const ss_oriented_state *s, int m, const ss_oriented_row *rows,
                              double *wdot, ss_oriented_load *load, double *a0, double *K)
{
    const double one = 1.0;
    move_freely(s, wdot);
    for (int i = 0; i < m; i++) {
        const double fall = rows[i].joint ? 0.0 : ss_dot(rows[i].along, s->gravity);
        a0[i] = measure(s->tree, &rows[i], wdot, true) + fall;
    }
    for (int j = 0; j < m; j++) {
        respond(s->tree, 1, &rows[j], &one, load, wdot);
        for (int i = 0; i < m; i++) {
            K[i * m + j] = measure(s->tree, &rows[i], wdot, false);
        }
    }
    move_freely(s, wdot);
}

// ---- Forces

void ss_oriented_rows_solve(int m, const ss_oriented_row *rows, const double *a0, const double *K,
                            int sweeps, double omega, double eps, double *f)
{
    double largest = 0.0;
    for (int i = 0; i < m; i++) {
        largest = fmax(largest, K[i * m + i]);
    }
    const double added = eps * largest;
    for (int sweep = 0; sweep < sweeps; sweep++) {
        for (int i = 0; i < m; i++) {
            double a = a0[i] - rows[i].wanted + added * f[i];
            for (int j = 0; j < m; j++) {
                a += K[i * m + j] * f[j];
            }
            const double diagonal = K[i * m + i] + added;
            const bool bound = rows[i].normal >= 0;
            const double most = bound ? rows[i].mu * f[rows[i].normal] : rows[i].high;
            const double least = bound ? 0.0 : rows[i].low;
            const double next = diagonal > 0.0 ? f[i] - omega * a / diagonal : f[i];
            f[i] = fmin(fmax(next, least), most);
        }
    }
}

static double row_velocity(const ss_oriented *tree, const ss_oriented_row *row, const double *w)
{
    if (!row->joint) {
        return ss_dot(row->along, velocity_of(tree, row->link, row->at));
    }
    const double *own = w + ss_oriented_rate_at(tree, row->link);
    return ss_dot(row->along, ss_vec(own[0], own[1], own[2]));
}

// Gauss and Seidel as above, of the rows that come nearer alone.
void ss_oriented_rows_impact(const ss_oriented_state *s, int m, const ss_oriented_row *rows,
                             const double *K, double restitution, int sweeps, double *p,
                             double *wdot, ss_oriented_load *load, double *w)
{
    double *v = p + m;
    for (int i = 0; i < m; i++) {
        const double near = row_velocity(s->tree, &rows[i], s->w);
        p[i] = 0.0;
        v[i] = rows[i].normal < 0 && rows[i].low >= 0.0 ? fmin(near, 0.0) : 0.0;
    }
    for (int sweep = 0; sweep < sweeps; sweep++) {
        for (int i = 0; i < m; i++) {
            double after = (1.0 + restitution) * v[i];
            for (int j = 0; j < m; j++) {
                after += K[i * m + j] * p[j];
            }
            p[i] = v[i] < 0.0 && K[i * m + i] > 0.0 ? fmax(p[i] - after / K[i * m + i], 0.0) : 0.0;
        }
    }
    respond(s->tree, m, rows, p, load, wdot);
    for (int k = 0; k < ss_oriented_nv(s->tree); k++) {
        w[k] += wdot[k];
    }
}
