// Figures through gnuplot: how it is run, and the picture of a figure with its data and script beside.
#include "harness/results/figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/child.h"
#include "base/save.h"
#include "harness/quote.h"

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

// gnuplot does not notice a full disk: a picture without its last bytes is no picture.
static ss_status check_whole(const char *path, ss_error *e)
{
    const char *ending = strrchr(path, '.');
    const char *last = strcmp(ending, ".svg") == 0 ? "</svg>" : "%%EOF";
    if (strcmp(ending, ".png") == 0) {
        last = "IEND";
    }
    char tail[17] = "";
    struct stat file;
    FILE *in = fopen(path, "re");
    if (in != NULL && fseek(in, -16, SEEK_END) == 0) {
        (void)!fread(tail, 1, sizeof tail - 1, in);
    }
    if (in != NULL) {
        fclose(in);
    }
    if (memmem(tail, sizeof tail, last, strlen(last)) != NULL) {
        return SS_OK;
    }
    if (stat(path, &file) == 0 && S_ISREG(file.st_mode)) {
        unlink(path);
    }
    return ss_fail(e, SS_SYSTEM, "%s: gnuplot could not write all of it; is the disk full?", path);
}

ss_status ss_gnuplot(const char *path, const char *picture, ss_error *e)
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
    ss_status status = folder != NULL && script != NULL ? run_gnuplot(folder, script, e)
                                                        : ss_fail_memory(e, "a file name");
    free(folder);
    free(script);
    return status == SS_OK ? check_whole(picture, e) : status;
}

// ---- The picture, and data and script beside it

bool ss_figure_can_draw(const char *path)
{
    const char *ending = strrchr(path, '.');
    return ending != NULL && (strcmp(ending, ".svg") == 0 || strcmp(ending, ".png") == 0 ||
                              strcmp(ending, ".pdf") == 0);
}

// On one line.
static void print_label(const char *label, FILE *out)
{
    ss_quoted next;
    for (const char *at = label; *at != '\0';) {
        if (*at == '\n') {
            fputc(' ', out);
            at++;
        } else if (ss_quote_next(SS_PLAIN, &at, &next)) {
            fwrite(next.bytes, 1, next.count, out);
        }
    }
    fputc('\n', out);
}

// *blocks: curves that have been written.
static void write_panel(const ss_figure *figure, FILE *out, size_t *blocks)
{
    for (size_t k = 0; k < figure->ncurves; k++) {
        const ss_curve *curve = &figure->curves[k];
        if (curve->count == 0) {
            continue;
        }
        fputs((*blocks)++ == 0 ? "# " : "\n\n# ", out);
        print_label(curve->label, out);
        for (size_t i = 0; i < curve->count; i++) {
            fprintf(out, "%.9g %.9g\n", curve->x[i], curve->y[i]);
        }
    }
}

// A figure on its way into the files beside a picture.
typedef struct drawing {
    const ss_figure *figure;
    const char *path; // of the picture
} drawing;

static void print_data(FILE *out, const void *what)
{
    const drawing *d = what;
    size_t blocks = 0;
    for (const ss_figure *panel = d->figure; panel != NULL; panel = panel->below) {
        fputs("# ", out);
        ss_quote(out, SS_PLAIN, panel->x_label);
        fputs(", ", out);
        ss_quote(out, SS_PLAIN, panel->y_label);
        fputs(panel->plain ? "; a block a run\n" : "; a block a solver\n", out);
        write_panel(panel, out, &blocks);
    }
}

static void print_script(FILE *out, const void *what)
{
    const drawing *d = what;
    ss_figure_script(d->figure, file_name(d->path), out);
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
    const drawing d = {.figure = figure, .path = path};
    char *data = NULL, *script = NULL;
    ss_status status = check_panels(figure, e);
    if (status != SS_OK) {
        return status;
    }
    if (asprintf(&data, "%s.dat", path) < 0) {
        data = NULL;
    }
    if (asprintf(&script, "%s.gp", path) < 0) {
        script = NULL;
    }
    status = data != NULL && script != NULL ? ss_save_printed(data, print_data, &d, e)
                                            : ss_fail_memory(e, "a file name");
    if (status == SS_OK) {
        status = ss_save_printed(script, print_script, &d, e);
    }
    if (status == SS_OK) {
        status = ss_gnuplot(script, path, e);
    }
    free(data);
    free(script);
    return status;
}
