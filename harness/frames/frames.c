// Frames: the view, OBJ files, and their folder.
#include "harness/frames/frames.h"

#include "base/number.h"
#include "harness/frames/trajectory.h"
#include "harness/quote.h"
#include "harness/results/figures.h"
#include "base/save.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- Pictures by gnuplot
//
// The picture of a frame: strands and obstacles as a gnuplot script.

// Pieces that a segment of a strand is drawn with.
#define PIECES 4

// Up to so many are drawn thick.
#define FEW_STRANDS 4

#define PICTURE_PIXELS 900 // of the larger side

// -- Strands

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

// The light comes from above, from the right and from the eye.
static ss_vec3 light_of(const ss_view *view)
{
    return ss_unit(ss_plus(ss_scaled(1.4, view->up), ss_plus(view->towards, view->right)));
}

// Hair reflects by the angle between its tangent and the light (Kajiya and Kay): diffuse
// sin(t, light), a highlight where the ray leaves towards the eye. Each strand has a tint.
static unsigned colour(const ss_view *view, ss_vec3 tangent, double tint)
{
    const ss_vec3 light = light_of(view);
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

// -- Obstacles: patches of their surfaces that face the eye, shaded
//
// A surface is x(u, v), u from top to bottom (along z), v around:
//     sphere, ellipsoid   size o (sin pi u cos 2 pi v, cos pi u, sin pi u sin 2 pi v), poles up
//     cylinder, capsule   a quarter of u for each end, flat or round, the rest for the side
//     plane               a square in its middle
// A patch is drawn if its middle is seen. Patches of one shade are one plot, as gnuplot fills in
// one colour; none covers another, so that their order does not matter.

#define DOWN      96 // patches along u
#define AROUND    160
#define SHADES    32
#define OVERLAP   0.4  // of a patch, on each side: no seams, and no gaps where surfaces meet
#define END_SHARE 0.25 // of u, an end of a cylinder or capsule
#define LIFT      1e-4 // m above the surface

typedef struct patches {
    const ss_view *view;
    const ss_strands *strands;
    signed char *shade; // [nobstacles DOWN AROUND] 0 .. SHADES - 1; -1: not seen
} patches;

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

// Returns the point (u, v) of the surface of obstacle k.
static ss_vec3 place_of(const patches *p, int k, double u, double v)
{
    return ss_pose_point(&p->strands->at.obstacles[k],
                         surface_at(&p->strands->world->obstacles[k], p->view->size, u, v));
}

// The shade of the patch around (u, v), -1 if it is not seen.
static signed char find_shade(const patches *p, int k, double u, double v)
{
    const ss_obstacle *o = &p->strands->world->obstacles[k];
    ss_vec3 x = place_of(p, k, u, v);
    ss_obstacle_near near;
    ss_obstacle_nearest(o, &p->strands->at.obstacles[k], x, ss_along(x, LIFT, p->view->towards),
                        &near);
    x = ss_along(near.y, LIFT, near.n);
    const double facing = ss_dot(near.n, p->view->towards);
    if (!(facing > 0.0) || ss_view_hides(p->view, p->strands, x)) {
        return -1;
    }
    // Lambert's law under the light of the hair, and a little light from the eye.
    const double lit = 0.75 * fmax(0.0, ss_dot(near.n, light_of(p->view))) + 0.25 * facing;
    return (signed char)lround((SHADES - 1) * fmin(1.0, lit));
}

static void find_shades(const patches *p)
{
    signed char *shade = p->shade;
    for (int k = 0; k < p->strands->world->nobstacles; k++) {
        for (int i = 0; i < DOWN; i++) {
            for (int j = 0; j < AROUND; j++) {
                *shade++ = find_shade(p, k, (i + 0.5) / DOWN, (j + 0.5) / AROUND);
            }
        }
    }
}

static void write_patch(const patches *p, int k, int i, int j, FILE *out)
{
    static const double CORNERS[5][2] = {{0, 0}, {0, 1}, {1, 1}, {1, 0}, {0, 0}};
    for (int c = 0; c < 5; c++) {
        const double du = CORNERS[c][0] * (1.0 + 2.0 * OVERLAP) - OVERLAP;
        const double dv = CORNERS[c][1] * (1.0 + 2.0 * OVERLAP) - OVERLAP;
        const double u = fmin(1.0, fmax(0.0, (i + du) / DOWN));
        const ss_vec3 x = place_of(p, k, u, (j + dv) / AROUND);
        fprintf(out, "%.5g %.5g\n", ss_view_x(p->view, x), ss_view_y(p->view, x));
    }
    fputs("\n", out);
}

// Whether there is any.
static bool write_shade(const patches *p, int shade, FILE *out)
{
    const signed char *at = p->shade;
    bool any = false;
    for (int k = 0; k < p->strands->world->nobstacles; k++) {
        for (int patch = 0; patch < DOWN * AROUND; patch++) {
            if (*at++ == shade) {
                if (!any) {
                    fprintf(out, "$shade%d << END\n", shade);
                }
                any = true;
                write_patch(p, k, patch / AROUND, patch % AROUND, out);
            }
        }
    }
    fputs(any ? "END\n" : "", out);
    return any;
}

// The data of all shades; which of them there are.
static ss_status write_obstacles(const ss_view *view, const ss_strands *s, bool drawn[SHADES],
                                 FILE *out, ss_error *e)
{
    const size_t count = (size_t)s->world->nobstacles * DOWN * AROUND;
    const patches p = {.view = view, .strands = s, .shade = malloc(count + 1)};
    if (p.shade == NULL) {
        return ss_fail_memory(e, "a picture");
    }
    find_shades(&p);
    for (int shade = 0; shade < SHADES; shade++) {
        drawn[shade] = write_shade(&p, shade, out);
    }
    free(p.shade);
    return SS_OK;
}

// Between the colours of clay in the dark and in the light.
static unsigned colour_of_shade(int shade)
{
    static const double DARK[3] = {0.58, 0.53, 0.49}, BRIGHT[3] = {0.97, 0.94, 0.90};
    unsigned packed = 0;
    for (int k = 0; k < 3; k++) {
        const double value = DARK[k] + (BRIGHT[k] - DARK[k]) * shade / (SHADES - 1);
        packed = packed << 8 | (unsigned)lround(255.0 * value);
    }
    return packed;
}

// -- The script

// Returns the size of a metre in the picture.
static double scale_of(const ss_view *view)
{
    return PICTURE_PIXELS / fmax(view->high[0] - view->low[0], view->high[1] - view->low[1]);
}

// Even, as films need them.
static int pixels(double length)
{
    return 2 * (int)lround(fmax(length, 200.0) / 2.0);
}

static void write_settings(const ss_view *view, const ss_strands *s, const char *title,
                           const char *name, FILE *out)
{
    const double width = view->high[0] - view->low[0], height = view->high[1] - view->low[1];
    const double scale = scale_of(view);
    fprintf(out,
            "# Run gnuplot on this file in its own folder to draw the frame again.\n"
            "set terminal pngcairo rounded size %d,%d font 'DejaVu Sans,11'\n"
            "set encoding utf8\n"
            "set size ratio -1\n"
            "unset border\nunset tics\nunset key\n"
            "set margins 0,0,0,0\n"
            "set xrange [%.6g:%.6g]\nset yrange [%.6g:%.6g]\n"
            "set output ",
            pixels(scale * width), pixels(scale * height), view->low[0], view->high[0],
            view->low[1], view->high[1]);
    ss_quote(out, SS_GNUPLOT, name);
    fputs("\nset label ", out);
    char label[300];
    snprintf(label, sizeof label, "%.200s, %.3f s", title, s->time);
    ss_quote(out, SS_GNUPLOT, label);
    fputs(" at graph 0.02,0.03 noenhanced tc rgb '#555555'\n", out);
}

// Strands are drawn as thick as they are, and no thinner than can be seen.
static double width_of(const ss_view *view, const ss_strands *s)
{
    const double least = s->world->nstrands > FEW_STRANDS ? 1.0 : 2.5;
    return fmax(least, 2.0 * s->world->radius * scale_of(view));
}

// The gnuplot script that draws the strands as they are into the PNG file `name`.
static ss_status picture_write(const ss_view *view, const ss_strands *s, const char *title,
                               const char *name, FILE *out, ss_error *e)
{
    const ss_world *w = s->world;
    bool drawn[SHADES];
    ordered *order = order_strands(view, s);
    if (order == NULL) {
        return ss_fail_memory(e, "a picture");
    }
    write_settings(view, s, title, name, out);
    const ss_status status = write_obstacles(view, s, drawn, out, e);
    fputs("$strands << END\n", out);
    for (int k = 0; k < w->nstrands; k++) {
        write_strand(view, s, order[k].strand, out);
    }
    free(order);
    fputs("END\nplot ", out);
    for (int shade = 0; status == SS_OK && shade < SHADES; shade++) {
        if (drawn[shade]) {
            fprintf(out, "$shade%d with filledcurves closed fs solid noborder lc rgb '#%06x', \\\n",
                    shade, colour_of_shade(shade));
        }
    }
    fprintf(out, "$strands using 1:2:3 with lines lc rgb variable lw %.3g\n", width_of(view, s));
    return status;
}

// ---- Frames

// Share of the window that is added on each side, since hair swings out of the frame it starts in.
#define ROOM 0.12

// An obstacle that reaches less than this past a ray does not hide what is behind, m.
#define GRAZE 2e-4

// -- The view

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

// Includes the part of plane k where the strands may come to lie: below each of their points, and
// as far to the sides as the point is above the plane. A plane farther away than `most` is out of
// reach.
static void include_plane(ss_view *view, const ss_strands *s, int k, double most)
{
    const ss_pose *pose = &s->at.obstacles[k];
    for (int i = 0; i < s->world->npoints; i++) {
        ss_vec3 x = ss_pose_back(pose, s->at.x[i]);
        const double above = x.z;
        x.z = 0.0;
        const ss_vec3 foot = ss_pose_point(pose, x);
        if (above > 0.0 && above <= most) {
            include(view, ss_along(foot, above, view->right), 0.0);
            include(view, ss_along(foot, -above, view->right), 0.0);
        }
    }
}

// A long cylinder would leave the strands a corner of the picture: obstacles count up to twice the
// size of the strands.
static void include_obstacles(ss_view *view, const ss_strands *s)
{
    const ss_view hair = *view;
    const double most = fmax(hair.high[0] - hair.low[0], hair.high[1] - hair.low[1]);
    for (int k = 0; k < s->world->nobstacles; k++) {
        const ss_obstacle *o = &s->world->obstacles[k];
        if (o->kind == SS_OBSTACLE_PLANE) {
            include_plane(view, s, k, most);
        } else {
            include(view, s->at.obstacles[k].place, fmin(reach_of(o), most));
        }
    }
}

ss_status ss_camera_parse(const char *text, ss_camera *camera, ss_error *e)
{
    double *const values[] = {&camera->azimuth, &camera->elevation, &camera->zoom};
    static const double LOW[] = {-360.0, -89.0, 0.01}, HIGH[] = {360.0, 89.0, 1000.0};
    char word[32];
    int read = 0;
    *camera = SS_CAMERA;
    for (const char *next = text; read < 3 && next != NULL; read++) {
        const size_t length = strcspn(next, ",");
        snprintf(word, sizeof word, "%.*s", (int)length, next);
        if (length >= sizeof word || !ss_number_real(word, LOW[read], HIGH[read], values[read])) {
            break;
        }
        next = next[length] == ',' ? next + length + 1 : NULL;
        if (next == NULL && read > 0) {
            return SS_OK;
        }
    }
    return ss_fail(e, SS_BAD_INPUT,
                   "--camera takes AZIMUTH,ELEVATION[,ZOOM], degrees from -360 to 360 and -89 to "
                   "89, and a number from 0.01 to 1000, not '%s'",
                   text);
}

// Closer by `zoom`, to the middle of the strands.
static void approach(ss_view *view, double zoom, const double middle[2])
{
    for (int k = 0; k < 2; k++) {
        view->low[k] = middle[k] + (view->low[k] - middle[k]) / zoom;
        view->high[k] = middle[k] + (view->high[k] - middle[k]) / zoom;
    }
    view->size /= zoom;
}

ss_view ss_view_around(const ss_strands *s, const ss_camera *camera)
{
    const double azimuth = camera->azimuth * M_PI / 180.0;
    const double elevation = camera->elevation * M_PI / 180.0;
    ss_view view = {.towards = ss_vec(sin(azimuth) * cos(elevation), sin(elevation),
                                      cos(azimuth) * cos(elevation)),
                    .low = {INFINITY, INFINITY},
                    .high = {-INFINITY, -INFINITY}};
    view.right = ss_unit(ss_cross(ss_vec(0.0, 1.0, 0.0), view.towards));
    view.up = ss_cross(view.towards, view.right);
    for (int i = 0; i < s->world->npoints; i++) {
        include(&view, s->at.x[i], 0.0);
    }
    const double middle[2] = {0.5 * (view.low[0] + view.high[0]),
                              0.5 * (view.low[1] + view.high[1])};
    include_obstacles(&view, s);
    view.size = fmax(view.high[0] - view.low[0], view.high[1] - view.low[1]);
    for (int k = 0; k < 2; k++) {
        view.low[k] -= ROOM * view.size;
        view.high[k] += ROOM * view.size;
    }
    view.size *= 1.0 + 2.0 * ROOM;
    approach(&view, camera->zoom, middle);
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

// -- Frames

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
                         const ss_strands *strands, const ss_camera *camera, ss_frames **frames,
                         ss_error *e)
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
                     .view = ss_view_around(strands, camera)};
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

static void print_lines(FILE *out, const void *strands)
{
    const ss_strands *s = strands;
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

static ss_status draw_picture(const ss_frames *f, const char *script, const char *path,
                              const char *name, ss_error *e)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    ss_status status = out != NULL ? picture_write(&f->view, f->strands, f->title, name, out, e)
                                   : ss_fail_memory(e, "a frame");
    if (out != NULL && fclose(out) != 0 && status == SS_OK) {
        status = ss_fail_memory(e, "a frame");
    }
    if (status == SS_OK) {
        status = ss_save(script, text, length, e);
    }
    free(text);
    return status == SS_OK ? ss_gnuplot(script, path, e) : status;
}

ss_status ss_frames_draw(ss_frames *f, ss_error *e)
{
    char name[32];
    char *lines = NULL, *script = NULL, *picture = NULL;
    snprintf(name, sizeof name, "frame_%05d.png", f->count);
    if (asprintf(&lines, "%s/frame_%05d.obj", f->folder, f->count) < 0) {
        lines = NULL;
    }
    if (asprintf(&script, "%s/frame.gp", f->folder) < 0) {
        script = NULL;
    }
    if (asprintf(&picture, "%s/%s", f->folder, name) < 0) {
        picture = NULL;
    }
    ss_status status = lines != NULL && script != NULL && picture != NULL
                           ? ss_save_printed(lines, print_lines, f->strands, e)
                           : ss_fail_memory(e, "a file name");
    if (status == SS_OK) {
        status = draw_picture(f, script, picture, name, e);
    }
    free(lines);
    free(script);
    free(picture);
    f->count += status == SS_OK;
    return status;
}
