// strands/wind.c -- winds, wakes and turbulence.
//
//     steady       u = velocity [1 + gust sin(2 pi (t - start)/period)]
//     wake         u = strength V(t) exp(-d^2/(2 size^2)) g(s),   V of the body's place,
//                  g = exp(-s^2/(2 size^2)) ahead of it (s < 0), 1/(1 + (s/length)^2) behind it
//     turbulence   u_i = velocity_i sqrt(6/n) sum a_i cos(k.(x - drift t) - w t + phase)
//
// s is the way behind the body against V, d the distance from that line. All come up over `rise` by
// 10 x^3 - 15 x^4 + 6 x^5. The waves of turbulence have lengths from size to size/8, equally many
// an octave, amplitudes as |k|^(-1/3) and rates w as |k|^(2/3) of the largest eddies, which turn
// over in `period` (Kolmogorov's law of inertial eddies); a is across k, so that equal rms values
// give a field without sources.
#include "strands/wind.h"

#include "base/assert.h"
#include "base/random.h"
#include "strands/world.h"

#include <stdlib.h>

const char *const ss_wind_kinds[] = {"steady", "wake", "turbulence", NULL};

#define OCTAVES 3.0

ss_wind ss_wind_still(ss_wind_kind kind)
{
    return (ss_wind){.kind = kind,
                     .period = 1.0,
                     .size = 1.0,
                     .length = 1.0,
                     .strength = 1.0,
                     .seed = 1,
                     .along = 1.0,
                     .across = 1.0,
                     .root = 1.0,
                     .tip = 1.0};
}

// ---- Turbulence

static void make_waves(ss_wind *wind)
{
    ss_random g = ss_random_seeded((uint64_t)wind->seed);
    double power = 0.0;
    for (int n = 0; n < SS_WIND_WAVES; n++) {
        ss_wind_wave *wave = &wind->wave[n];
        double e[3], f[3];
        ss_random_direction(&g, 3, e);
        ss_random_direction(&g, 3, f);
        const double finer = pow(2.0, OCTAVES * (n + 0.5) / SS_WIND_WAVES);
        const ss_vec3 way = ss_vec(e[0], e[1], e[2]);
        const ss_vec3 across = ss_cross(way, ss_vec(f[0], f[1], f[2]));
        const double size = pow(finer, -1.0 / 3.0);
        wave->k = ss_scaled(2.0 * M_PI * finer / wind->size, way);
        wave->a = ss_scaled(size, ss_unit(across));
        wave->w = 2.0 * M_PI / wind->period * pow(finer, 2.0 / 3.0);
        wave->phase = ss_random_between(&g, 0.0, 2.0 * M_PI);
        power += size * size;
    }
    // A wave has a mean square of 1/2, shared by three axes.
    for (int n = 0; n < SS_WIND_WAVES; n++) {
        wind->wave[n].a = ss_scaled(sqrt(6.0 / power), wind->wave[n].a);
    }
}

static ss_vec3 turbulence(const ss_wind *wind, double t, ss_vec3 x)
{
    const ss_vec3 at = ss_along(x, -t, wind->drift);
    ss_vec3 u = {0.0, 0.0, 0.0};
    for (int n = 0; n < SS_WIND_WAVES; n++) {
        const ss_wind_wave *wave = &wind->wave[n];
        u = ss_along(u, cos(ss_dot(wave->k, at) - wave->w * t + wave->phase), wave->a);
    }
    return ss_vec(wind->velocity.x * u.x, wind->velocity.y * u.y, wind->velocity.z * u.z);
}

// ---- Wakes

static ss_vec3 wake(const ss_world *w, const ss_wind *wind, double t, ss_vec3 x)
{
    ss_motion_state body;
    ss_motion_at(&w->bodies[wind->body], t, &body);
    const ss_vec3 arm = ss_turned(&body.pose.turn, wind->place);
    const ss_vec3 V = ss_plus(body.velocity, ss_cross(body.spin, arm));
    const double speed = ss_length(V);
    if (speed == 0.0) {
        return V;
    }
    const ss_vec3 from = ss_minus(x, ss_plus(body.pose.place, arm));
    const double behind = -ss_dot(from, V) / speed;
    const ss_vec3 aside = ss_along(from, behind / speed, V);
    const double two = 2.0 * wind->size * wind->size, far = behind / wind->length;
    const double reach = behind < 0.0 ? exp(-behind * behind / two) : 1.0 / (1.0 + far * far);
    return ss_scaled(wind->strength * reach * exp(-ss_dot(aside, aside) / two), V);
}

// ---- All

static double risen(const ss_wind *wind, double t)
{
    const double x = t - wind->start;
    if (x <= 0.0 || x >= wind->rise) {
        return x < 0.0 ? 0.0 : 1.0;
    }
    const double s = x / wind->rise;
    return s * s * s * (10.0 + s * (6.0 * s - 15.0));
}

static ss_vec3 blows(const ss_world *w, const ss_wind *wind, double t, ss_vec3 x)
{
    const double wave = sin(2.0 * M_PI * (t - wind->start) / wind->period);
    switch (wind->kind) {
    case SS_WIND_STEADY:
        return ss_scaled(1.0 + wind->gust * wave, wind->velocity);
    case SS_WIND_WAKE:
        return wake(w, wind, t, x);
    case SS_WIND_TURBULENCE:
        return turbulence(wind, t, x);
    }
    return ss_vec(0.0, 0.0, 0.0);
}

ss_vec3 ss_wind_felt(const ss_world *w, double time, int sample, ss_vec3 x, ss_vec3 tangent)
{
    ss_assert(sample >= 0 && sample < w->nsamples);
    ss_vec3 sum = {0.0, 0.0, 0.0};
    for (int k = 0; k < w->nwinds; k++) {
        const ss_wind *wind = &w->winds[k];
        const double s = w->wind_places[sample].share, up = risen(wind, time);
        if (up == 0.0) {
            continue;
        }
        const ss_vec3 u =
            ss_scaled(up * (wind->root + (wind->tip - wind->root) * s), blows(w, wind, time, x));
        const double more = (wind->along - wind->across) * ss_dot(tangent, u);
        sum = ss_plus(sum, ss_along(ss_scaled(wind->across, u), more, tangent));
    }
    return sum;
}

// ---- Places of samples

// Finds the way from the root to every point. Returns the farthest.
static double find_ways(const ss_strand_size *size, const ss_strand_point *p, double *way)
{
    double most = 0.0;
    way[0] = 0.0;
    for (int i = 1; i < size->npoints; i++) {
        const int from = ss_is_branch(size, i) ? size->branch[i] : i - 1;
        way[i] = way[from] + ss_length(ss_minus(p[i].x, p[from].x));
        most = fmax(most, way[i]);
    }
    return most;
}

// Finds the segment that is nearest to x, and the way to its nearest point.
static ss_wind_place nearest(const ss_strand_size *size, const ss_strand_point *p,
                             const double *way, ss_vec3 x)
{
    ss_wind_place place = {0, 0.0};
    double least = INFINITY;
    for (int i = 0; i + 1 < size->npoints; i++) {
        const ss_vec3 edge = ss_minus(p[i + 1].x, p[i].x), arm = ss_minus(x, p[i].x);
        const double square = ss_dot(edge, edge);
        const double a = square > 0.0 ? fmin(fmax(ss_dot(arm, edge) / square, 0.0), 1.0) : 0.0;
        const ss_vec3 off = ss_along(arm, -a, edge);
        if (!ss_is_branch(size, i + 1) && ss_dot(off, off) < least) {
            least = ss_dot(off, off);
            place = (ss_wind_place){i, way[i] + a * (way[i + 1] - way[i])};
        }
    }
    return place;
}

// Finds the places of the samples of strand k.
static bool find_places(const ss_world *w, int k, ss_wind_place *places)
{
    const ss_strand *s = &w->strands[k];
    double *way = malloc((size_t)s->size.npoints * sizeof *way);
    ss_placed at;
    const bool ok = ss_placed_init(&at, &s->size) && way != NULL;
    if (ok) {
        ss_strand_place(w, k, &w->now, &at);
        const double most = find_ways(&s->size, at.points, way);
        for (int i = 0; i < s->size.nsamples; i++) {
            places[i] = nearest(&s->size, at.points, way, at.samples[i].x);
            places[i].share /= most > 0.0 ? most : 1.0;
        }
    }
    ss_placed_free(&at);
    free(way);
    return ok;
}

ss_status ss_wind_find_places(ss_world *w, int first, ss_error *e)
{
    ss_wind_place *places =
        realloc(w->wind_places, ((size_t)w->nsamples + 1) * sizeof *w->wind_places);
    bool ok = places != NULL;
    w->wind_places = ok ? places : w->wind_places;
    for (int k = first; ok && k < w->nstrands; k++) {
        ok = find_places(w, k, places + w->strands[k].sample);
    }
    return ok ? SS_OK : ss_fail_memory(e, "the winds of a world");
}

// ---- Adding one

static ss_status check(const ss_world *w, const ss_wind *a, ss_error *e)
{
    const double sum = ss_dot(a->velocity, a->velocity) + ss_dot(a->drift, a->drift) +
                       ss_dot(a->place, a->place) + fabs(a->gust) + fabs(a->start) +
                       fabs(a->strength) + fabs(a->along) + fabs(a->across) + fabs(a->root) +
                       fabs(a->tip);
    if (!isfinite(sum) || !(a->rise >= 0.0 && isfinite(a->rise))) {
        return ss_fail(e, SS_BAD_INPUT,
                       "wind %d has a velocity, a time or a weight that is no finite number, or a "
                       "rise below 0",
                       w->nwinds);
    }
    if (!(a->along >= 0.0 && a->across >= 0.0 && a->root >= 0.0 && a->tip >= 0.0 &&
          a->strength >= 0.0)) {
        return ss_fail(e, SS_BAD_INPUT,
                       "wind %d has the weights %g along, %g across, %g at the root and %g at the "
                       "tip and the strength %g; all are 0 or more",
                       w->nwinds, a->along, a->across, a->root, a->tip, a->strength);
    }
    if (!(a->period > 0.0 && a->size > 0.0 && a->length > 0.0 &&
          isfinite(a->period + a->size + a->length))) {
        return ss_fail(
            e, SS_BAD_INPUT,
            "wind %d has the period %g s, the size %g m and the length %g m; give finite "
            "ones above 0",
            w->nwinds, a->period, a->size, a->length);
    }
    if (!(w->drag > 0.0)) {
        return ss_fail(
            e, SS_BAD_INPUT,
            "wind %d pushes nothing, as strands have the drag %g kg/(m s); give the world "
            "one above 0",
            w->nwinds, w->drag);
    }
    if (a->body < 0 || a->body >= w->nbodies) {
        return ss_fail(e, SS_BAD_INPUT, "wind %d is the wake of body %d, which does not exist",
                       w->nwinds, a->body);
    }
    if (a->kind == SS_WIND_WAKE && a->body == 0) {
        return ss_fail(e, SS_BAD_INPUT,
                       "wind %d is the wake of the world, which never moves; give it a body",
                       w->nwinds);
    }
    return SS_OK;
}

ss_status ss_world_add_wind(ss_world *w, const ss_wind *wind, ss_error *e)
{
    const ss_status status = check(w, wind, e);
    if (status != SS_OK) {
        return status;
    }
    ss_wind *winds = realloc(w->winds, ((size_t)w->nwinds + 1) * sizeof *winds);
    if (winds == NULL) {
        return ss_fail_memory(e, "the winds of a world");
    }
    w->winds = winds;
    winds[w->nwinds] = *wind;
    make_waves(&winds[w->nwinds++]);
    return w->nwinds == 1 ? ss_wind_find_places(w, 0, e) : SS_OK;
}
