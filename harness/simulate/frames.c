// Frames: the view, strands and obstacles as a gnuplot script, OBJ files, and their folder.
#include "harness/simulate/frames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/results/figures.h"
#include "problems/store/save.h"

// The eye is in front (+z), to the side and a little above.
#define EYE_X 0.62
#define EYE_Y 0.16
#define EYE_Z 0.77

// Of the window, added on each side: hair swings out of the frame it starts in.
#define ROOM 0.12

// Pieces that a segment of a strand is drawn with.
#define PIECES 4

// An obstacle that reaches less than this past a ray does not hide what is behind, m.
#define GRAZE 2e-4

// Up to so many are drawn thick.
#define FEW_STRANDS 4

#define PICTURE_PIXELS 900 // of the larger side

// ---- The view

static void include(ss_view *view, ss_vec3 x, double radius)
{
    const double at[2] = {ss_view_x(view, x), ss_view_y(view, x)};
    for (int k = 0; k < 2; k++) {
        view->low[k] = fmin(view->low[k], at[k] - radius);
        view->high[k] = fmax(view->high[k], at[k] + radius);
    }
}

static double reach_of(const ss_obstacle *o)
{
    const double wide = fmax(o->size.x, o->kind == SS_OBSTACLE_ELLIPSOID ? o->size.y : 0.0);
    switch (o->kind) {
    case SS_OBSTACLE_ELLIPSOID:
        return fmax(wide, o->size.z);
    case SS_OBSTACLE_CYLINDER:
        return hypot(o->size.x, o->size.z);
    case SS_OBSTACLE_CAPSULE:
        return o->size.x + o->size.z;
    case SS_OBSTACLE_SPHERE:
    case SS_OBSTACLE_PLANE:
        break;
    }
    return wide;
}

// A long cylinder would leave the strands a corner of the picture: obstacles count up to twice the
// size of the strands.
static void include_obstacles(ss_view *view, const ss_strands *s)
{
    const ss_view hair = *view;
    const double most = fmax(hair.high[0] - hair.low[0], hair.high[1] - hair.low[1]);
    for (int k = 0; k < s->world->nobstacles; k++) {
        const ss_obstacle *o = &s->world->obstacles[k];
        if (o->kind != SS_OBSTACLE_PLANE) {
            include(view, s->at.obstacles[k].place, fmin(reach_of(o), most));
        }
    }
}

ss_view ss_view_around(const ss_strands *s)
{
    ss_view view = {.towards = ss_unit(ss_vec(EYE_X, EYE_Y, EYE_Z)),
                    .low = {INFINITY, INFINITY},
                    .high = {-INFINITY, -INFINITY}};
    view.right = ss_unit(ss_cross(ss_vec(0.0, 1.0, 0.0), view.towards));
    view.up = ss_cross(view.towards, view.right);
    for (int i = 0; i < s->world->npoints; i++) {
        include(&view, s->at.x[i], 0.0);
    }
    include_obstacles(&view, s);
    view.size = fmax(view.high[0] - view.low[0], view.high[1] - view.low[1]);
    for (int k = 0; k < 2; k++) {
        view.low[k] -= ROOM * view.size;
        view.high[k] += ROOM * view.size;
    }
    view.size *= 1.0 + 2.0 * ROOM;
    return view;
}

bool ss_view_hides(const ss_view *view, const ss_strands *s, ss_vec3 x)
{
    const ss_vec3 eye = ss_along(x, 4.0 * view->size, view->towards);
    for (int k = 0; k < s->world->nobstacles; k++) {
        ss_obstacle_near near;
        if (ss_obstacle_within(&s->world->obstacles[k], &s->at.obstacles[k], x, eye, -GRAZE,
                               &near)) {
            return true;
        }
    }
    return false;
}

// ---- Strands

// The point at t in [0, 1] between b and c of a curve through a, b, c, d (Catmull and Rom).
static ss_vec3 between(ss_vec3 a, ss_vec3 b, ss_vec3 c, ss_vec3 d, double t)
{
    const double wa = t * (-1.0 + t * (2.0 - t)), wb = 2.0 + t * t * (-5.0 + 3.0 * t);
    const double wc = t * (1.0 + t * (4.0 - 3.0 * t)), wd = t * t * (t - 1.0);
    ss_vec3 sum = ss_scaled(0.5 * wa, a);
    sum = ss_along(sum, 0.5 * wb, b);
    sum = ss_along(sum, 0.5 * wc, c);
    return ss_along(sum, 0.5 * wd, d);
}

// Hair reflects by the angle between its tangent and the light (Kajiya and Kay): diffuse
// sin(t, light), a highlight where the ray leaves towards the eye. Each strand has a tint.
static unsigned colour(const ss_view *view, ss_vec3 tangent, double tint)
{
    const ss_vec3 light =
        ss_unit(ss_plus(ss_scaled(1.4, view->up), ss_plus(view->towards, view->right)));
    const double tl = ss_dot(tangent, light), te = ss_dot(tangent, view->towards);
    const double sl = sqrt(fmax(0.0, 1.0 - tl * tl)), se = sqrt(fmax(0.0, 1.0 - te * te));
    const double highlight = pow(fmax(0.0, sl * se - tl * te), 40.0);
    const double shade = tint * (0.25 + 0.55 * sl), shine = 0.35 * highlight;
    const double rgb[3] = {0.40 * shade + 0.9 * shine, 0.26 * shade + 0.75 * shine,
                           0.17 * shade + 0.55 * shine};
    unsigned packed = 0;
    for (int k = 0; k < 3; k++) {
        packed = packed << 8 | (unsigned)lround(255.0 * fmin(1.0, rgb[k]));
    }
    return packed;
}

// In [0.7, 1.3], the same for a strand in every frame.
static double tint_of(int strand)
{
    return 0.7 + 0.6 * (double)((unsigned)strand * 2654435761u >> 16 & 0xffu) / 255.0;
}

typedef struct ordered {
    int strand;
    double depth; // towards the eye
} ordered;

static int farther(const void *a, const void *b)
{
    const ordered *p = a, *q = b;
    return p->depth != q->depth ? (p->depth > q->depth) - (p->depth < q->depth)
                                : p->strand - q->strand;
}

// The strands, those behind first. NULL without memory.
static ordered *order_strands(const ss_view *view, const ss_strands *s)
{
    const ss_world *w = s->world;
    ordered *order = calloc((size_t)w->nstrands + 1, sizeof *order);
    for (int k = 0; order != NULL && k < w->nstrands; k++) {
        const ss_strand *strand = &w->strands[k];
        order[k].strand = k;
        for (int i = 0; i < strand->size.npoints; i++) {
            order[k].depth +=
                ss_dot(view->towards, s->at.x[strand->point + i]) / strand->size.npoints;
        }
    }
    if (order != NULL) {
        qsort(order, (size_t)w->nstrands, sizeof *order, farther);
    }
    return order;
}

// "x y colour" lines; an empty line where the strand goes behind an obstacle.
static void write_line(const ss_view *view, const ss_strands *s, int k, const ss_vec3 *x, int last,
                       FILE *out)
{
    ss_vec3 before = x[0];
    for (int i = 0; i < last; i++) {
        const ss_vec3 a = i > 0 ? x[i - 1] : ss_along(ss_scaled(2.0, x[0]), -1.0, x[1]);
        const ss_vec3 d =
            i + 2 <= last ? x[i + 2] : ss_along(ss_scaled(2.0, x[last]), -1.0, x[last - 1]);
        for (int piece = i > 0; piece <= PIECES; piece++) {
            const ss_vec3 at = between(a, x[i], x[i + 1], d, (double)piece / PIECES);
            const ss_vec3 way = i + piece > 0 ? ss_minus(at, before) : ss_minus(x[1], x[0]);
            const double length = ss_length(way);
            before = at;
            if (ss_view_hides(view, s, at) || !(length > 0.0)) {
                fputs("\n", out);
            } else {
                fprintf(out, "%.6g %.6g %u\n", ss_view_x(view, at), ss_view_y(view, at),
                        colour(view, ss_scaled(1.0 / length, way), tint_of(k)));
            }
        }
    }
    fputs("\n", out);
}

static void write_strand(const ss_view *view, const ss_strands *s, int k, FILE *out)
{
    const ss_strand *strand = &s->world->strands[k];
    for (int from = 0; from < strand->size.npoints;) {
        const int end = ss_line_end(&strand->size, from);
        write_line(view, s, k, s->at.x + strand->point + from, end - from - 1, out);
        from = end;
    }
}

// ---- Wire frames of obstacles: rings and meridians on their surfaces, where they are seen
//
// A surface is x(u, v), u from top to bottom (along z), v around:
//     sphere, ellipsoid   size o (sin pi u cos 2 pi v, cos pi u, sin pi u sin 2 pi v), poles up
//     cylinder, capsule   a quarter of u for each end, flat or round, the rest for the side
//     plane               a square in its middle

#define RINGS     10
#define MERIDIANS 18
#define SAMPLES   72
#define END_SHARE 0.25 // of u, an end of a cylinder or capsule
#define LIFT      1e-4 // m above the surface

static ss_vec3 round_at(ss_vec3 size, double u, double v)
{
    const double sine = sin(M_PI * u);
    return ss_vec(size.x * sine * cos(2.0 * M_PI * v), size.y * cos(M_PI * u),
                  size.z * sine * sin(2.0 * M_PI * v));
}

static ss_vec3 tube_at(double radius, double half, bool round, double u, double v)
{
    const double end = fmin(1.0, fmin(u, 1.0 - u) / END_SHARE); // below 1 on an end
    const double side = fmax(-1.0, fmin(1.0, (0.5 - u) / (0.5 - END_SHARE)));
    const double r = radius * (round ? sin(0.5 * M_PI * end) : end);
    const double cap = round ? radius * cos(0.5 * M_PI * end) : 0.0;
    return ss_vec(r * cos(2.0 * M_PI * v), r * sin(2.0 * M_PI * v),
                  half * side + copysign(cap, side));
}

// In the obstacle's frame. span: m, the side of a plane's square.
static ss_vec3 surface_at(const ss_obstacle *o, double span, double u, double v)
{
    const double r = o->size.x;
    switch (o->kind) {
    case SS_OBSTACLE_ELLIPSOID:
        return round_at(o->size, u, v);
    case SS_OBSTACLE_CAPSULE:
        return tube_at(r, o->size.z, true, u, v);
    case SS_OBSTACLE_CYLINDER:
        return tube_at(r, o->size.z, false, u, v);
    case SS_OBSTACLE_PLANE:
        return ss_vec(span * (u - 0.5), span * (v - 0.5), 0.0);
    case SS_OBSTACLE_SPHERE:
        break;
    }
    return round_at(ss_vec(r, r, r), u, v);
}

typedef struct wiring {
    const ss_view *view;
    const ss_strands *strands;
    int number; // of the obstacle
    FILE *out;
} wiring;

static void write_point(const wiring *w, double u, double v)
{
    const ss_obstacle *o = &w->strands->world->obstacles[w->number];
    const ss_pose *pose = &w->strands->at.obstacles[w->number];
    ss_vec3 x = ss_pose_point(pose, surface_at(o, w->view->size, u, v));
    ss_obstacle_near near;
    ss_obstacle_nearest(o, pose, x, ss_along(x, LIFT, w->view->towards), &near);
    x = ss_along(near.y, LIFT, near.n);
    if (ss_view_hides(w->view, w->strands, x)) {
        fputs("\n", w->out);
    } else {
        fprintf(w->out, "%.6g %.6g\n", ss_view_x(w->view, x), ss_view_y(w->view, x));
    }
}

static void write_wires(const wiring *w, int count, bool rings)
{
    for (int k = 0; k < count; k++) {
        // Meridian 0 and the last would be one; rings at the poles would be points.
        const double level = rings ? (k + 0.5) / count : (double)k / count;
        for (int i = 0; i <= SAMPLES; i++) {
            const double t = (double)i / SAMPLES;
            write_point(w, rings ? level : t, rings ? t : level);
        }
        fputs("\n", w->out);
    }
}

static void write_obstacles(const ss_view *view, const ss_strands *strands, FILE *out)
{
    wiring w = {.view = view, .strands = strands, .out = out};
    for (w.number = 0; w.number < strands->world->nobstacles; w.number++) {
        write_wires(&w, RINGS, true);
        write_wires(&w, MERIDIANS, false);
    }
}

// ---- The script

static void write_settings(const ss_view *view, const ss_strands *s, const char *title,
                           const char *name, FILE *out)
{
    const double width = view->high[0] - view->low[0], height = view->high[1] - view->low[1];
    const double scale = PICTURE_PIXELS / fmax(width, height);
    fprintf(out,
            "# Run gnuplot on this file in its own folder to draw the frame again.\n"
            "set terminal pngcairo size %d,%d font 'DejaVu Sans,11'\n"
            "set output '%s'\n"
            "set size ratio -1\n"
            "unset border\nunset tics\nunset key\n"
            "set margins 0,0,0,0\n"
            "set xrange [%.6g:%.6g]\nset yrange [%.6g:%.6g]\n"
            "set label '%s, %.3f s' at graph 0.02,0.03 tc rgb '#555555'\n",
            (int)lround(fmax(scale * width, 200.0)), (int)lround(fmax(scale * height, 200.0)), name,
            view->low[0], view->high[0], view->low[1], view->high[1], title, s->time);
}

static ss_status write_picture(const ss_view *view, const ss_strands *s, const char *title,
                               const char *name, FILE *out, ss_error *e)
{
    const ss_world *w = s->world;
    ordered *order = order_strands(view, s);
    if (order == NULL) {
        return ss_fail_memory(e, "a picture");
    }
    write_settings(view, s, title, name, out);
    fputs("$obstacles << END\n", out);
    write_obstacles(view, s, out);
    fputs("END\n$strands << END\n", out);
    for (int k = 0; k < w->nstrands; k++) {
        write_strand(view, s, order[k].strand, out);
    }
    free(order);
    fprintf(out, "END\nplot %s$strands using 1:2:3 with lines lc rgb variable lw %g\n",
            w->nobstacles > 0 ? "$obstacles with lines lc rgb '#C9C4BC' lw 0.7, " : "",
            w->nstrands > FEW_STRANDS ? 1.0 : 2.5);
    return SS_OK;
}

// ---- Frames

struct ss_frames {
    char *folder, *title;
    double every; // s
    int count;    // drawn so far
    const ss_strands *strands;
    ss_view view;
};

void ss_frames_free(ss_frames *f)
{
    if (f != NULL) {
        free(f->folder);
        free(f->title);
        free(f);
    }
}

ss_status ss_frames_open(const char *folder, double every, const char *title,
                         const ss_strands *strands, ss_frames **frames, ss_error *e)
{
    *frames = NULL;
    ss_error why;
    if (ss_save_folder(folder, &why) != SS_OK) {
        return ss_fail(e, why.status, "--frames %s", why.text);
    }
    if (access(folder, W_OK | X_OK) != 0) {
        return ss_fail(e, SS_SYSTEM, "%s: no files can be written there: %s", folder,
                       strerror(errno));
    }
    ss_frames *f = calloc(1, sizeof *f);
    if (f == NULL) {
        return ss_fail_memory(e, "the frames");
    }
    *f = (ss_frames){.folder = strdup(folder),
                     .title = strdup(title),
                     .every = every,
                     .strands = strands,
                     .view = ss_view_around(strands)};
    if (f->folder == NULL || f->title == NULL) {
        ss_frames_free(f);
        return ss_fail_memory(e, "the frames");
    }
    *frames = f;
    return SS_OK;
}

// Steps do not hit the times of frames to the last bit.
bool ss_frames_due(const ss_frames *f, double time)
{
    return time >= (f->count - 1e-6) * f->every;
}

int ss_frames_count(const ss_frames *f)
{
    return f->count;
}

static void write_lines(const ss_strands *s, FILE *out)
{
    const ss_world *w = s->world;
    fprintf(out, "# %d strands at %.9g s, m\n", w->nstrands, s->time);
    for (int i = 0; i < w->npoints; i++) {
        fprintf(out, "v %.9g %.9g %.9g\n", s->at.x[i].x, s->at.x[i].y, s->at.x[i].z);
    }
    for (int k = 0; k < w->nstrands; k++) {
        const ss_strand *strand = &w->strands[k];
        for (int i = 0; i < strand->size.npoints; i++) {
            fputs(i == 0 || ss_is_branch(&strand->size, i) ? "l" : "", out);
            fprintf(out, " %d", strand->point + i + 1); // OBJ counts from 1
            const bool last = i + 1 == strand->size.npoints || ss_is_branch(&strand->size, i + 1);
            fputs(last ? "\n" : "", out);
        }
    }
}

static ss_status save_lines(const ss_frames *f, const char *path, ss_error *e)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (out == NULL) {
        return ss_fail_memory(e, "a frame");
    }
    write_lines(f->strands, out);
    const bool complete = fclose(out) == 0;
    const ss_status status =
        complete ? ss_save(path, text, length, e) : ss_fail_memory(e, "a frame");
    free(text);
    return status;
}

static ss_status draw_picture(const ss_frames *f, const char *script, const char *name, ss_error *e)
{
    FILE *out = fopen(script, "we");
    if (out == NULL) {
        return ss_fail(e, SS_SYSTEM, "%s: cannot be written: %s", script, strerror(errno));
    }
    ss_status status = write_picture(&f->view, f->strands, f->title, name, out, e);
    const bool failed = ferror(out) != 0;
    if ((fclose(out) != 0 || failed) && status == SS_OK) {
        status = ss_fail(e, SS_SYSTEM, "%s: cannot be written: %s", script, strerror(errno));
    }
    return status == SS_OK ? ss_gnuplot(script, e) : status;
}

ss_status ss_frames_draw(ss_frames *f, ss_error *e)
{
    char name[32];
    char *lines = NULL, *script = NULL;
    snprintf(name, sizeof name, "frame_%05d.png", f->count);
    if (asprintf(&lines, "%s/frame_%05d.obj", f->folder, f->count) < 0) {
        lines = NULL;
    }
    if (asprintf(&script, "%s/frame.gp", f->folder) < 0) {
        script = NULL;
    }
    ss_status status = lines != NULL && script != NULL ? save_lines(f, lines, e)
                                                       : ss_fail_memory(e, "a file name");
    if (status == SS_OK) {
        status = draw_picture(f, script, name, e);
    }
    free(lines);
    free(script);
    f->count += status == SS_OK;
    return status;
}
