#include "harness/simulate/frames.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/results/gnuplot.h"
#include "harness/simulate/picture.h"
#include "problems/store/save.h"

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
    ss_status status = ss_picture_write(&f->view, f->strands, f->title, name, out, e);
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
