// Writes the data and the script of a figure beside it and runs gnuplot.
#include "harness/figure.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/gnuplot.h"

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
        ss_figure_script(figure, ss_file_name(path), out);
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
