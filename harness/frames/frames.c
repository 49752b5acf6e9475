// Frames: the view, OBJ files, and their folder.
#include "harness/frames/frames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/save.h"
#include "harness/results/figures.h"

// Of the window, added on each side: hair swings out of the frame it starts in.
#define ROOM 0.12

// An obstacle that reaches less than this past a ray does not hide what is behind, m.
#define GRAZE 2e-4

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

// Where the strands may come to lie on plane k: below each of its points, and as far to the sides as
// the point is above the plane. A plane farther away than `most` is out of reach.
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
    ss_status status = out != NULL ? ss_picture_write(&f->view, f->strands, f->title, name, out, e)
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
