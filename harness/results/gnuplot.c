// Figures through gnuplot: how it is run, and the picture of a figure with its data and script beside.
#include "harness/results/figures.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"

void ss_gnuplot_text(FILE *out, const char *text)
{
    fputc('\'', out);
    for (const char *c = text; *c != '\0'; c++) {
        fputs(*c == '\'' ? "''" : (const char[]){*c, '\0'}, out);
    }
    fputc('\'', out);
}

// ---- The program

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

// What it said before it failed: its first line that is not empty, without blanks before it.
static ss_status explain(const ss_child *child, ss_error *e)
{
    char line[300];
    if (child->ending == SS_ENDED_BY_CODE && child->number == SS_CHILD_NOT_STARTED) {
        return ss_fail(e, SS_SYSTEM,
                       "gnuplot could not be started; figures need it (Debian: gnuplot-nox)");
    }
    snprintf(line, sizeof line, "%.*s", (int)child->length, child->length > 0 ? child->said : "");
    const char *begin = line + strspn(line, " \t\r\n");
    return ss_fail(e, SS_SYSTEM, "gnuplot failed%s%.*s", *begin != '\0' ? ": " : "",
                   (int)strcspn(begin, "\r\n"), begin);
}

static ss_status run_gnuplot(const char *folder, char *script, ss_error *e)
{
    char name[] = "gnuplot";
    char *const words[] = {name, script, NULL};
    const ss_child_setup setup = {
        .program = name, .words = words, .folder = folder, .speech = SS_CHILD_ON_STREAMS};
    ss_child child;
    int ended;
    ss_status status = ss_child_start(&child, &setup, e);
    if (status == SS_OK) {
        status = ss_child_wait(&child, 1, INFINITY, NULL, &ended, e);
    }
    if (status == SS_OK && !(child.ending == SS_ENDED_BY_CODE && child.number == 0)) {
        status = explain(&child, e);
    }
    ss_child_clear(&child);
    return status;
}

ss_status ss_gnuplot(const char *path, ss_error *e)
{
    char *folder = NULL, *script = NULL;
    const int length = (int)(file_name(path) - path);
    if (asprintf(&folder, "%.*s.", length, path) < 0) {
        folder = NULL;
    }
    // "./" keeps a name that starts with a dash from being an option.
    if (asprintf(&script, "./%s", file_name(path)) < 0) {
        script = NULL;
    }
    const ss_status status = folder != NULL && script != NULL ? run_gnuplot(folder, script, e)
                                                              : ss_fail_memory(e, "a file name");
    free(folder);
    free(script);
    return status;
}

// ---- The picture, and data and script beside it

bool ss_figure_can_draw(const char *path)
{
    const char *ending = strrchr(path, '.');
    return ending != NULL && (strcmp(ending, ".svg") == 0 || strcmp(ending, ".png") == 0 ||
                              strcmp(ending, ".pdf") == 0);
}

// *blocks: curves that have been written.
static void write_panel(const ss_figure *figure, FILE *out, size_t *blocks)
{
    for (size_t k = 0; k < figure->ncurves; k++) {
        const ss_curve *curve = &figure->curves[k];
        if (curve->count == 0) {
            continue;
        }
        fprintf(out, "%s# %s\n", (*blocks)++ == 0 ? "" : "\n\n", curve->label);
        for (size_t i = 0; i < curve->count; i++) {
            fprintf(out, "%.9g %.9g\n", curve->x[i], curve->y[i]);
        }
    }
}

static void write_data(const ss_figure *figure, FILE *out)
{
    size_t blocks = 0;
    for (const ss_figure *panel = figure; panel != NULL; panel = panel->below) {
        fprintf(out, "# %s, %s; a block a %s\n", panel->x_label, panel->y_label,
                panel->plain ? "run" : "solver");
        write_panel(panel, out, &blocks);
    }
}

// Writes path + ending: the script where that is ".gp", else the data.
static ss_status write_beside(const ss_figure *figure, const char *path, const char *ending,
                              ss_error *e)
{
    char *name = NULL;
    if (asprintf(&name, "%s%s", path, ending) < 0) {
        return ss_fail_memory(e, "a file name");
    }
    ss_status status = SS_OK;
    FILE *out = fopen(name, "we");
    if (out != NULL && strcmp(ending, ".gp") == 0) {
        ss_figure_script(figure, file_name(path), out);
    } else if (out != NULL) {
        write_data(figure, out);
    }
    const bool failed = out == NULL || ferror(out) != 0;
    if ((out != NULL && fclose(out) != 0) || failed) {
        status = ss_fail(e, SS_SYSTEM, "%s: cannot be written: %s", name, strerror(errno));
    }
    free(name);
    return status;
}

// gnuplot does not notice a full disk: a picture without its last bytes is no picture.
static bool is_whole(const char *path)
{
    const char *ending = strrchr(path, '.');
    const char *last = strcmp(ending, ".svg") == 0 ? "</svg>" : "%%EOF";
    if (strcmp(ending, ".png") == 0) {
        last = "IEND";
    }
    char tail[17] = "";
    FILE *in = fopen(path, "re");
    if (in != NULL && fseek(in, -16, SEEK_END) == 0) {
        (void)!fread(tail, 1, sizeof tail - 1, in);
    }
    if (in != NULL) {
        fclose(in);
    }
    return memmem(tail, sizeof tail, last, strlen(last)) != NULL;
}

// gnuplot refuses a panel without a curve.
static ss_status check_panels(const ss_figure *figure, ss_error *e)
{
    for (const ss_figure *panel = figure; panel != NULL; panel = panel->below) {
        size_t points = 0;
        for (size_t k = 0; k < panel->ncurves; k++) {
            points += panel->curves[k].count;
        }
        if (points == 0) {
            return ss_fail(e, SS_BAD_INPUT, "there is nothing to draw: the runs hold no %s",
                           panel->y_label);
        }
    }
    return SS_OK;
}

ss_status ss_figure_draw(const ss_figure *figure, const char *path, ss_error *e)
{
    ss_status status = check_panels(figure, e);
    if (status != SS_OK) {
        return status;
    }
    status = write_beside(figure, path, ".dat", e);
    if (status == SS_OK) {
        status = write_beside(figure, path, ".gp", e);
    }
    if (status != SS_OK) {
        return status;
    }
    char *script = NULL;
    if (asprintf(&script, "%s.gp", path) < 0) {
        return ss_fail_memory(e, "a file name");
    }
    status = ss_gnuplot(script, e);
    free(script);
    if (status == SS_OK && !is_whole(path)) {
        return ss_fail(e, SS_SYSTEM, "%s: gnuplot could not write all of it; is the disk full?",
                       path);
    }
    return status;
}
