#include "strands/models/super_helix/super_helix_row.h"

#include <stdbool.h>
#include <string.h>

#define LANES SS_HELIX_ROW
#include "strands/models/super_helix/super_helix_kernel.h"

static lane3 lane3_all(ss_vec3 a)
{
    return (lane3){lanes_all(a.x), lanes_all(a.y), lanes_all(a.z)};
}

static void store(lane3 a, double x[3][SS_HELIX_ROW])
{
    memcpy(x[0], &a.x, sizeof a.x);
    memcpy(x[1], &a.y, sizeof a.y);
    memcpy(x[2], &a.z, sizeof a.z);
}

// R a
static lane3 turned(const ss_mat3 *R, lane3 a)
{
    const ss_vec3 *c = R->c;
    return (lane3){a.x * c[0].x + a.y * c[1].x + a.z * c[2].x,
                   a.x * c[0].y + a.y * c[1].y + a.z * c[2].y,
                   a.x * c[0].z + a.y * c[1].z + a.z * c[2].z};
}

// Points that turn too far for the series are taken one by one.
static void replace_far_ones(lanes y, lane_terms *t)
{
    for (int l = 0; l < SS_HELIX_ROW; l++) {
        if (!(y[l] < SS_HELIX_SERIES_BELOW * SS_HELIX_SERIES_BELOW)) {
            const ss_helix_terms own = ss_helix_terms_at(y[l]);
            t->b[l] = own.b;
            t->c[l] = own.c;
            t->b1[l] = own.b1;
            t->c1[l] = own.c1;
            t->b2[l] = own.b2;
            t->c2[l] = own.c2;
        }
    }
}

// b2 and c2 are 0 where `all` is false.
static lane_terms terms_at(lanes y, bool all)
{
    const four *first = &FIRST[SERIES - 1];
    const two *second = &SECOND[SERIES - 1];
    lane_terms t = {.b = lanes_all((*first)[0]),
                    .c = lanes_all((*first)[1]),
                    .b1 = lanes_all((*first)[2]),
                    .c1 = lanes_all((*first)[3])};
    if (all) {
        t.b2 = lanes_all((*second)[0]);
        t.c2 = lanes_all((*second)[1]);
    }
    for (int k = SERIES - 2; k >= 0; k--) {
        t.b = t.b * y + FIRST[k][0];
        t.c = t.c * y + FIRST[k][1];
        t.b1 = t.b1 * y + FIRST[k][2];
        t.c1 = t.c1 * y + FIRST[k][3];
        if (all) {
            t.b2 = t.b2 * y + SECOND[k][0];
            t.c2 = t.c2 * y + SECOND[k][1];
        }
    }
    replace_far_ones(y, &t);
    return t;
}

void ss_helix_row_at(ss_vec3 q, const double sigma[SS_HELIX_ROW], const ss_mat3 *R, ss_vec3 r,
                     ss_helix_row *row)
{
    lanes s;
    memcpy(&s, sigma, sizeof s);
    const lane3 phi = lane3_scaled(s, lane3_all(q));
    const lane_terms t = terms_at(lane3_dot(phi, phi), false);
    const lane_arc arc = lane_arc_at(phi, s, &t);
    store(lane3_plus(lane3_all(r), turned(R, arc.p)), row->x);
    for (int i = 0; i < 3; i++) {
        store(turned(R, arc.dp[i]), row->own[i]);
    }
}

void ss_helix_row_carried(ss_vec3 q, ss_vec3 qdot, const double sigma[SS_HELIX_ROW],
                          const ss_mat3 *R, const ss_helix_carrier *c, ss_vec3 a[SS_HELIX_ROW])
{
    lanes s;
    memcpy(&s, sigma, sizeof s);
    const lane3 phi = lane3_scaled(s, lane3_all(q)), d = lane3_scaled(s, lane3_all(qdot));
    const lane_terms t = terms_at(lane3_dot(phi, phi), true);
    const lane_motion m = lane_motion_at(phi, d, s, &t);
    const lane_carrier by = {lane3_all(c->spin), lane3_all(c->spin_rate),
                             lane3_all(c->acceleration)};
    const lane3 all = turned(R, lane_carried(&by, &m));
    for (int l = 0; l < SS_HELIX_ROW; l++) {
        a[l] = ss_vec(all.x[l], all.y[l], all.z[l]);
    }
}
