// problems/strands/scenes/hair.c -- rows of wisps around a head; see the header.
#include "problems/strands/scenes/hair.h"

#include "problems/strands/bundle.h"
#include "problems/strands/scenes/head.h"

// A strand stands for its neighbours, too: a cylinder of 50 um would need a hundred segments to
// follow its arc, and as many contacts. More strands than ROOMY would leave no room between the
// wisps; they are thinner, then.
#define COLLISION_RADIUS 0.0005 // m
#define ROOMY            1920   // strands
#define SCALP            0.0015 // m from the head's ellipsoid to the lowest root
#define SPACING          2.3    // collision radii between neighbours in a wisp
#define JITTER           0.08
#define MARGIN           0.2 // collision radii
#define UNREST           2.0 // 1/m
#define GATHER           4.0
#define FLAT             4.0 // a straight wisp is so much wider than thick
#define HALVINGS         40  // of an angle, down to rounding
#define SEGMENTS         20  // at least, as straight hair bends, too
#define PIECES           5   // as many as the default model has elements

typedef struct row {
    int wisps;
    double polar;  // deg, of the roots
    double open;   // deg of azimuth without hair, about the face
    double length; // m
    int bent;      // straight hair: pieces of the arc
    double hang;   // m outside the equator where it hangs
    double lift;   // curly hair: deg off the way down the scalp
} row;

static const row STRAIGHT_ROWS[] = {
    {.wisps = 8, .polar = 45.0, .open = 40.0, .length = 0.26, .bent = 2, .hang = 0.036},
    {.wisps = 10, .polar = 65.0, .open = 80.0, .length = 0.25, .bent = 2, .hang = 0.022},
    {.wisps = 12, .polar = 85.0, .open = 110.0, .length = 0.21, .bent = 1, .hang = 0.008},
};

static const row CURLY_ROWS[] = {
    {.wisps = 8, .polar = 40.0, .open = 30.0, .length = 0.2, .lift = 15.0},
    {.wisps = 10, .polar = 65.0, .open = 70.0, .length = 0.2, .lift = 15.0},
    {.wisps = 12, .polar = 90.0, .open = 110.0, .length = 0.2, .lift = 15.0},
};

#define ROWS 3

#define CURL_RADIUS 0.006 // m, of the helix
#define CURL_PITCH  0.080 // m a turn

static double radians(double degrees)
{
    return degrees * M_PI / 180.0;
}

static int count_wisps(const row *rows)
{
    int wisps = 0;
    for (int k = 0; k < ROWS; k++) {
        wisps += rows[k].wisps;
    }
    return wisps;
}

// Wisp k of `row`: evenly over what the face leaves free.
static ss_scalp_place wisp_root(const row *r, int k)
{
    const double free = 360.0 - r->open;
    const double azimuth = 0.5 * r->open + ((double)k + 0.5) * free / r->wisps;
    return ss_head_scalp(radians(r->polar), radians(azimuth));
}

// The centre of a wisp's roots: so far off the scalp that they clear it, in the plane of n1 and n2
// of `turn`.
static ss_vec3 above_scalp(const ss_scalp_place *at, const ss_mat3 *turn, const ss_bundle *b)
{
    const double lowest = ss_bundle_reach(b, 1) * fabs(ss_dot(turn->c[1], at->normal)) +
                          ss_bundle_reach(b, 2) * fabs(ss_dot(turn->c[2], at->normal));
    return ss_along(at->x, SCALP + lowest, at->normal);
}

// Leaving the scalp at `angle` from the vertical, an arc of this length that ends vertically goes
// sideways by arc (1 - cos angle) / angle. What that falls short of the row's distance, in m.
static double short_of_row(const row *r, const ss_scalp_place *at, const ss_bundle *b, double arc,
                           double angle, ss_pose *root)
{
    root->turn = ss_head_falling(at, angle);
    root->place = above_scalp(at, &root->turn, b);
    const double out = arc * (1.0 - cos(angle)) / angle;
    return at->reach + r->hang - ss_dot(root->place, at->out) - out;
}

// The angle at which the arc ends at the row's distance, between nearly along the scalp and a right
// angle off it.
static void place_straight(const row *r, const ss_scalp_place *at, ss_bundle *b, ss_pose *root)
{
    const double arc = r->length * r->bent / PIECES;
    double low = at->fall + 0.05, high = at->fall + 0.5 * M_PI;
    for (int k = 0; k < HALVINGS; k++) {
        const double middle = 0.5 * (low + high);
        const bool farther = short_of_row(r, at, b, arc, middle, root) > 0.0;
        low = farther ? middle : low;
        high = farther ? high : middle;
    }
    b->bend = -high / arc;
    b->bent = r->bent;
    b->length = r->length;
}

// The helix' axis falls straight; the strand winds about it on the far side of the scalp first, so
// that n1, which points to the axis, points up.
static void place_curly(const row *r, const ss_scalp_place *at, ss_bundle *b, ss_pose *root)
{
    const double turn = 2.0 * M_PI * CURL_RADIUS;
    const double way = sqrt(CURL_PITCH * CURL_PITCH + turn * turn); // m a turn
    b->twist = 2.0 * M_PI * CURL_PITCH / (way * way);
    b->bend = 2.0 * M_PI * turn / (way * way);
    b->length = r->length;
    const ss_mat3 fall = ss_head_falling(at, at->fall + radians(r->lift));
    const double along = CURL_PITCH / way, across = turn / way; // of the tangent
    const ss_vec3 axis = fall.c[0], side = fall.c[2];
    root->turn = (ss_mat3){{ss_along(ss_scaled(along, axis), -across, side), fall.c[1],
                            ss_along(ss_scaled(across, axis), along, side)}};
    root->place = above_scalp(at, &fall, b);
}

static double collision_radius(int rods)
{
    return rods <= ROOMY ? COLLISION_RADIUS : COLLISION_RADIUS * sqrt((double)ROOMY / rods);
}

static ss_bundle wisp(const ss_hair *hair, int rods, double radius)
{
    return (ss_bundle){
        .rods = rods,
        .material = ss_material_hair(),
        .pieces = PIECES,
        .bent = PIECES,
        .flat = hair->curly ? 1.0 : FLAT,
        .spacing = SPACING * radius,
        .jitter = JITTER,
        .unrest = UNREST,
        .gather = hair->curly ? 0.0 : GATHER,
    };
}

static ss_status add_wisp(const ss_hair *hair, const row *r, int k, int rods, int body,
                          const ss_scene_request *request, ss_random *g, ss_world *w, ss_error *e)
{
    ss_bundle b = wisp(hair, rods, w->radius);
    ss_pose root;
    const ss_scalp_place at = wisp_root(r, k);
    if (hair->curly) {
        place_curly(r, &at, &b, &root);
    } else {
        place_straight(r, &at, &b, &root);
    }
    b.nsegments = ss_bundle_segments(b.length, b.bend, w->radius);
    b.nsegments = b.nsegments < SEGMENTS ? SEGMENTS : b.nsegments;
    return ss_bundle_add(w, request->model, &b, body, &root, g, e);
}

// Rods go to wisps as evenly as they can.
static ss_status add_wisps(const ss_hair *hair, const ss_scene_request *request, int body,
                           ss_world *w, ss_error *e)
{
    const row *rows = hair->curly ? CURLY_ROWS : STRAIGHT_ROWS;
    const int64_t rods = ss_request_rods(request, hair->rods), wisps = count_wisps(rows);
    ss_random g = ss_random_seeded(request->seed);
    ss_status status = SS_OK;
    int64_t number = 0;
    for (int j = 0; j < ROWS; j++) {
        for (int k = 0; k < rows[j].wisps && status == SS_OK; k++, number++) {
            const int64_t here = rods * (number + 1) / wisps - rods * number / wisps;
            status = add_wisp(hair, &rows[j], k, (int)here, body, request, &g, w, e);
        }
    }
    return status;
}

ss_status ss_hair_build(const ss_hair *hair, const ss_scene_request *request, ss_world *w,
                        ss_step_options *options, ss_error *e)
{
    int body;
    ss_status status = ss_request_check(request, e);
    if (status != SS_OK) {
        return status;
    }
    const ss_friction mu = ss_request_friction(request, hair->friction);
    w->radius = collision_radius(ss_request_rods(request, hair->rods));
    w->mu = mu.strand;
    w->drag = SS_HEAD_DRAG;
    options->margin = MARGIN * w->radius;
    status = ss_head_add(w, &hair->head, mu.obstacle, &body, e);
    if (status == SS_OK) {
        status = add_wisps(hair, request, body, w, e);
    }
    return status == SS_OK ? ss_world_settle(w, e) : status;
}
