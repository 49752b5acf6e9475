// The figures of a record as curves.
#include "harness/results/figures.h"

#include "base/child.h"
#include "harness/cli.h"
#include "harness/quote.h"
#include "harness/results/trials.h"
#include "harness/table.h"
#include "base/save.h"
#include "solvers/registry.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- The script of a figure
//
// The gnuplot script of a figure: one style a solver, the same in every figure.
//
// Colours are those of Okabe and Ito, which people with any colour blindness tell apart. A pure
// local solver is dashed and its hybrid dotted in one colour; the solver of [D11], mfb+enum, is the
// only solid line, in red. Solvers that differ in their options alone get other dashes, and so do
// global solvers once the colours have been used up.

// The solver of [D11], the solid line.
#define SS_FIGURE_HERO "mfb+enum"

// Largest over smallest x up to which tics stand at 2 and 5 as well.
#define MIDDLE_TICS_RANGE 150.0

typedef struct style {
    const char *name; // of the local solver
    const char *colour;
} style;

static const style STYLES[] = {
    {"4sides", "#0072B2"}, {"duriez08", "#E69F00"}, {"duriez06", "#CC79A7"}, {"pac", "#56B4E9"},
    {"dac", "#009E73"},    {"mfb", "#D55E00"},      {"enum", "#000000"},     {"secular", "#7F7F7F"},
};

// For solvers without a place above, in turn.
static const char *const OTHERS[] = {"#0072B2", "#E69F00", "#009E73", "#CC79A7",
                                     "#56B4E9", "#000000", "#7F7F7F"};
#define NOTHERS (sizeof OTHERS / sizeof OTHERS[0])

// Kinds of line; a row of the table below serves one colour.
enum { SOLID, DASHED, DOTTED, MIXED };
#define DASHES 4

static const char *const LINES[][DASHES] = {
    [SOLID] = {"dt solid lw 1.7", "dt (20,2) lw 1.3", "dt (20,2,2,2) lw 1.3", "dt (12,2) lw 0.9"},
    [DASHED] = {"dt (8,4) lw 1.1", "dt (4,4) lw 1.1", "dt (14,5) lw 1.1", "dt (4,8) lw 1.1"},
    [DOTTED] = {"dt (2,2.5) lw 1.3", "dt (1,5) lw 1.8", "dt (2,2.5,2,7) lw 1.3",
                "dt (1,1.5) lw 0.9"},
    [MIXED] = {"dt (16,3) lw 1.2", "dt (2,2.5) lw 1.4", "dt (9,3,2,3) lw 1.2",
               "dt (4,3,1,3,1,3) lw 1.2"},
};

// The place of a solver's local solver in STYLES; NO_STYLE where it has none.
#define NO_STYLE (sizeof STYLES / sizeof STYLES[0])

static size_t style_of(const char *bare)
{
    const size_t length = strcspn(bare, "+");
    for (size_t k = 0; k < NO_STYLE; k++) {
        if (strlen(STYLES[k].name) == length && strncmp(STYLES[k].name, bare, length) == 0) {
            return k;
        }
    }
    return NO_STYLE;
}

// Curves of runs, of which every one counts.
static const char *const PLAIN[] = {"#0072B2", "#D55E00", "#009E73", "#E69F00",
                                    "#CC79A7", "#000000", "#56B4E9", "#B00020"};

// Widths of plain lines: the thinnest, and what the one below it has more.
#define PLAIN_WIDTH 0.7
#define NESTED_STEP 0.3

static void print_plain_style(FILE *out, const ss_figure *figure, size_t number)
{
    const double more =
        figure->nested ? NESTED_STEP * (double)(figure->ncurves - 1 - number) : NESTED_STEP;
    fputs("lc rgb ", out);
    ss_quote(out, SS_GNUPLOT, PLAIN[number % (sizeof PLAIN / sizeof PLAIN[0])]);
    fprintf(out, " dt solid lw %g", PLAIN_WIDTH + more);
}

static void print_solver_style(FILE *out, const ss_figure *figure, size_t number)
{
    const char *bare = figure->curves[number].bare;
    const size_t place = style_of(bare);
    size_t twins = 0, others = 0; // before it: of its name, and without a place in STYLES
    for (size_t k = 0; k < number; k++) {
        twins += strcmp(figure->curves[k].bare, bare) == 0;
        others += style_of(figure->curves[k].bare) == NO_STYLE;
    }
    const int line = strcmp(bare, SS_FIGURE_HERO) == 0 ? SOLID
                     : place == NO_STYLE               ? MIXED
                     : strchr(bare, '+') != NULL       ? DOTTED
                                                       : DASHED;
    const size_t dash = line == MIXED ? others / NOTHERS : twins;
    fputs("lc rgb ", out);
    ss_quote(out, SS_GNUPLOT, line == MIXED ? OTHERS[others % NOTHERS] : STYLES[place].colour);
    fputs(" ", out);
    fputs(LINES[line][dash % DASHES], out);
}

static void print_style(FILE *out, const ss_figure *figure, size_t number)
{
    if (figure->plain) {
        print_plain_style(out, figure, number);
    } else {
        print_solver_style(out, figure, number);
    }
}

// The entry of a curve in the key; one of a bundle has none. Further lines of a label stand below
// it, as entries without a line.
static void print_title(FILE *out, const char *label)
{
    char line[sizeof((ss_curve *)0)->label];
    if (label[0] == '\0') {
        fputs(" notitle", out);
        return;
    }
    for (bool first = true; *label != '\0'; first = false) {
        const size_t length = strcspn(label, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, label);
        fputs(first ? " title " : ", \\\n    keyentry with lines lc rgb '#FFFFFF' title ", out);
        ss_quote(out, SS_GNUPLOT, line);
        fputs(" noenhanced", out);
        label += length + (label[length] == '\n');
    }
}

static int count_panels(const ss_figure *figure)
{
    int count = 0;
    for (; figure != NULL; figure = figure->below) {
        count++;
    }
    return count;
}

// Over its width.
static double height_of_picture(int panels)
{
    return panels > 2 ? panels / 2.0 : 1.0;
}

// 8.5 cm wide, and as high up to two panels; a PNG has 300 dots an inch, an SVG 96 units an inch.
static void print_terminal(FILE *out, const char *name, int panels)
{
    const char *ending = strrchr(name, '.');
    const double height = height_of_picture(panels);
    if (strcmp(ending, ".png") == 0) {
        fprintf(out,
                "set terminal pngcairo size 1004,%.0f font 'DejaVu Sans,7' fontscale 3.125 "
                "pointscale 2.4 linewidth 3.1\n",
                1004.0 * height);
    } else if (strcmp(ending, ".pdf") == 0) {
        fprintf(out,
                "set terminal pdfcairo size 8.5cm,%.3gcm font 'DejaVu Sans,7' fontscale 0.75 "
                "linewidth 1.4\n",
                8.5 * height);
    } else {
        fprintf(out,
                "set terminal svg size 321,%.0f dynamic font 'DejaVu Sans,9' "
                "linewidth 1 background '#FFFFFF'\n",
                321.0 * height);
    }
}

// Within two decades, 1 and 10 alone say too little: 2 and 5 are added.
static void print_middle_tics(const ss_figure *figure, FILE *out)
{
    double low = INFINITY, high = 0.0;
    for (size_t k = 0; k < figure->ncurves; k++) {
        for (size_t i = 0; i < figure->curves[k].count; i++) {
            low = fmin(low, figure->curves[k].x[i]);
            high = fmax(high, figure->curves[k].x[i]);
        }
    }
    if (!figure->log_x || !(low > 0.0 && high < MIDDLE_TICS_RANGE * low)) {
        return;
    }
    for (double decade = pow(10.0, floor(log10(low))); decade < high; decade *= 10.0) {
        fprintf(out, "set xtics add (%g, %g)\n", 2.0 * decade, 5.0 * decade);
    }
}

// About five tics on a linear axis: more run into each other at this size.
#define TICS 5.0

static void print_few_tics(const ss_figure *figure, FILE *out)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t k = 0; k < figure->ncurves; k++) {
        for (size_t i = 0; i < figure->curves[k].count; i++) {
            low = fmin(low, figure->curves[k].x[i]);
            high = fmax(high, figure->curves[k].x[i]);
        }
    }
    if (!figure->log_x && high > low) {
        const double step = (high - low) / TICS, decade = pow(10.0, floor(log10(step)));
        const double digit = step / decade;
        fprintf(out, "set xtics %g\n", decade * (digit <= 2.0 ? 2.0 : digit <= 5.0 ? 5.0 : 10.0));
    }
}

// Bundles have long names.
static bool has_bundle(const ss_figure *figure)
{
    size_t k = 0;
    while (k < figure->ncurves && figure->curves[k].label[0] != '\0') {
        k++;
    }
    return k < figure->ncurves;
}

static void print_axes(const ss_figure *figure, int panels, FILE *out)
{
    if (figure->title[0] != '\0') {
        fputs("set label 1 ", out);
        ss_quote(out, SS_GNUPLOT, figure->title);
        fputs(" at graph 1,1 right offset 0,0.7 noenhanced tc rgb '#555555'\n", out);
        fputs(panels == 1 ? "set tmargin 2\n" : "", out);
    }
    fputs("set xlabel ", out);
    ss_quote(out, SS_GNUPLOT, figure->x_label);
    fputs("\nset ylabel ", out);
    ss_quote(out, SS_GNUPLOT, figure->y_label);
    fputs("\nset border 3 lw 0.6\nset tics nomirror scale 0.6\n", out);
    fputs("set grid lc rgb '#DDDDDD' lt 1 lw 0.5\n", out);
    fputs(figure->log_x ? "set logscale x\nset format x '%g'\nset autoscale xfix\n" : "", out);
    print_middle_tics(figure, out);
    print_few_tics(figure, out);
    fputs(figure->log_y ? "set logscale y\nset format y '10^{%T}'\n" : "", out);
    fputs(figure->percent ? "set yrange [0:101]\n" : "", out);
    fputs(figure->equal ? "set size ratio -1\n" : "", out);
    // The lower one of two panels explains both, and they stand in line. The blank title keeps the
    // key away from the label above it.
    fputs(figure->below != NULL ? "unset key\nset lmargin 10\nset xlabel ''\n"
          : has_bundle(figure)
              ? "set key below Left reverse maxcols 1 samplen 3 spacing 1.1 title ' '\n"
              : "set key below Left reverse maxcols 2 samplen 3 width 2 spacing 1.1 title ' '\n",
          out);
}

// Lines c x and c x^2 that end at the lowest of the last points, a factor below it.
#define GUIDE_GAP 3.0

static void print_guides(const ss_figure *figure, FILE *out)
{
    double x = 0.0, y = 0.0;
    for (size_t k = 0; k < figure->ncurves; k++) {
        const ss_curve *curve = &figure->curves[k];
        const size_t last = curve->count - 1;
        if (curve->count > 0 && (x == 0.0 || curve->y[last] < y)) {
            x = curve->x[last];
            y = curve->y[last];
        }
    }
    for (int power = 1; power <= 2 && x > 0.0; power++) {
        fprintf(out, ", \\\n    %.6g * (x / %.6g)**%d with lines lc rgb '#999999' lw 0.8 ",
                y / GUIDE_GAP, x, power);
        fputs(power == 1 ? "dt (10,4) title 'slope 1'" : "dt (2,3) title 'slope 2'", out);
    }
}

// Marks tell curves apart without colours: some on each, at places of their own.
#define MARKS 6
static const int MARK_KINDS[] = {6, 4, 8, 12, 10, 2, 1, 3, 7, 5, 9, 13, 11};
#define NMARKS (sizeof MARK_KINDS / sizeof MARK_KINDS[0])

static void print_mark(FILE *out, size_t number)
{
    fprintf(out, " pt %d ps 0.5", MARK_KINDS[number % NMARKS]);
}

static void print_marks(const ss_figure *figure, size_t number, size_t block, FILE *out)
{
    const size_t step = figure->curves[number].count / MARKS + 1;
    fprintf(out, ", \\\n    data index %zu every %zu::%zu using 1:2 with points ", block, step,
            number % step);
    print_style(out, figure, number);
    print_mark(out, number);
    fputs(" notitle", out);
}

// How high a curve lies: its mean over the length of the axis that it covers.
static double height_of(const ss_figure *figure, const ss_curve *curve)
{
    double sum = 0.0, length = 0.0;
    for (size_t i = 1; i < curve->count; i++) {
        const double y = figure->log_y ? log(curve->y[i - 1]) : curve->y[i - 1];
        const double width =
            figure->log_x ? log(curve->x[i] / curve->x[i - 1]) : curve->x[i] - curve->x[i - 1];
        sum += width * y;
        length += width;
    }
    return length > 0.0 ? sum / length : -INFINITY;
}

// The entries of the key, the highest curve first.
static void print_key(const ss_figure *figure, FILE *out)
{
    double last = INFINITY;
    for (size_t shown = 0; shown < figure->ncurves;) {
        double next = -INFINITY;
        for (size_t k = 0; k < figure->ncurves; k++) {
            const double height = height_of(figure, &figure->curves[k]);
            next = height < last ? fmax(next, height) : next;
        }
        for (size_t k = 0; k < figure->ncurves; k++) {
            const ss_curve *curve = &figure->curves[k];
            if (height_of(figure, curve) != next) {
                continue;
            }
            shown++;
            if (curve->count > 0 && curve->label[0] != '\0') {
                fputs(", \\\n    keyentry with linespoints ", out);
                print_style(out, figure, k);
                print_mark(out, k);
                print_title(out, curve->label);
            }
        }
        if (next == -INFINITY) {
            return;
        }
        last = next;
    }
}

// Prints a panel; *block is the place of its first curve in the data.
static void print_panel(const ss_figure *figure, int panels, size_t *block, FILE *out)
{
    print_axes(figure, panels, out);
    fputs("plot \\\n", out);
    bool first = true;
    const size_t begin = *block;
    // The solid line is drawn last, above the others.
    for (int pass = 0; pass < 2; pass++) {
        *block = begin;
        for (size_t k = 0; k < figure->ncurves; k++) {
            const ss_curve *curve = &figure->curves[k];
            if (curve->count == 0) {
                continue;
            }
            if ((strcmp(curve->bare, SS_FIGURE_HERO) == 0) == (pass == 1)) {
                fputs(first ? "" : ", \\\n", out);
                fprintf(out, "    data index %zu using 1:2 with ", *block);
                fputs(figure->steps    ? "steps "
                      : figure->points ? "linespoints pt 7 ps 0.35 "
                                       : "lines ",
                      out);
                print_style(out, figure, k);
                if (figure->plain) {
                    print_title(out, curve->label);
                } else {
                    fputs(" notitle", out);
                    print_marks(figure, k, *block, out);
                }
                first = false;
            }
            (*block)++;
        }
    }
    if (!figure->plain) {
        print_key(figure, out);
    }
    if (figure->guides) {
        print_guides(figure, out);
    }
    fputs("\n", out);
}

// Panels are equally high; the key is below the last, in two columns.
static void print_place(const ss_figure *panel, int number, int panels, FILE *out)
{
    const double unit = 1.0 / height_of_picture(panels), top = 1.0 - 0.07 * unit;
    const double rows = ceil((double)panel->ncurves / 2.0);
    const double key = (0.15 + 0.038 * rows) * unit, gap = 0.13 * unit;
    const double high = (top - key - (panels - 1) * gap) / panels;
    const double above = top - number * (high + gap);
    fprintf(out, "set tmargin at screen %.4f\nset bmargin at screen %.4f\n", above, above - high);
}

void ss_figure_script(const ss_figure *figure, const char *name, FILE *out)
{
    size_t block = 0;
    fputs("# Run gnuplot on this file in its own folder to draw the figure again.\n", out);
    print_terminal(out, name, count_panels(figure));
    // Gnuplot takes a file whose name begins with '|' or '<' for a command, hence "./".
    fputs("set encoding utf8\nname = './' . ", out);
    ss_quote(out, SS_GNUPLOT, name);
    fputs("\nset output name\ndata = name . '.dat'\n", out);
    const int panels = count_panels(figure);
    if (panels > 1) {
        fprintf(out, "set multiplot layout %d,1\n", panels);
    }
    int number = 0;
    for (const ss_figure *panel = figure; panel != NULL; panel = panel->below) {
        if (panels > 1) {
            print_place(panel, number++, panels, out);
        }
        print_panel(panel, panels, &block, out);
    }
    fputs(panels > 1 ? "unset multiplot\n" : "", out);
}

// ---- Gnuplot as a program
//
// Figures through gnuplot: how it is run, and the picture of a figure with its data and script
// beside.

// -- The program

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

// Reports what gnuplot said before it failed: its first line that is not empty, without leading
// blanks.
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

// -- The picture, and data and script beside it

bool ss_figure_can_draw(const char *path)
{
    const char *ending = strrchr(path, '.');
    return ending != NULL && (strcmp(ending, ".svg") == 0 || strcmp(ending, ".png") == 0 ||
                              strcmp(ending, ".pdf") == 0);
}

// Prints a label on one line.
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

// A figure is printed into the files beside its picture.
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

// ---- Figures of records

// A profile is drawn at least as far as this ratio, and no further than that one.
#define NEAR_RATIO 10.0
#define FAR_RATIO  1000.0

// -- Curves

// For the files that make curves (internal): a curve for each solver of the trials, and a point.
static ss_status figure_of_solvers(const ss_trials *trials, ss_figure *figure, ss_error *e)
{
    figure->curves = calloc(trials->nsolvers, sizeof *figure->curves);
    if (figure->curves == NULL) {
        return ss_fail_memory(e, "the figure");
    }
    figure->ncurves = trials->nsolvers;
    char tolerance[32];
    ss_table_number(trials->tolerance, 4, tolerance);
    snprintf(figure->title, sizeof figure->title, "%zu problem%s, tolerance %s", trials->nproblems,
             trials->nproblems == 1 ? "" : "s", tolerance);
    for (size_t k = 0; k < figure->ncurves; k++) {
        strcpy(figure->curves[k].label, trials->solvers[k].label);
        strcpy(figure->curves[k].bare, trials->solvers[k].bare);
    }
    return SS_OK;
}

static bool grow(ss_curve *curve)
{
    const size_t capacity = curve->capacity == 0 ? 64 : 2 * curve->capacity;
    double *x = realloc(curve->x, capacity * sizeof *x);
    if (x != NULL) {
        curve->x = x;
    }
    double *y = realloc(curve->y, capacity * sizeof *y);
    if (y != NULL) {
        curve->y = y;
    }
    if (x == NULL || y == NULL) {
        return false;
    }
    curve->capacity = capacity;
    return true;
}

static void figure_point(ss_figure *figure, size_t k, double x, double y)
{
    ss_curve *curve = &figure->curves[k];
    if (curve->count == curve->capacity && !grow(curve)) {
        figure->out_of_memory = true;
        return;
    }
    curve->x[curve->count] = x;
    curve->y[curve->count++] = y;
}

static ss_status figure_end(ss_figure *figure, ss_error *e)
{
    return figure->out_of_memory ? ss_fail_memory(e, "the figure") : SS_OK;
}

static bool figure_has_points(const ss_figure *figure)
{
    for (size_t k = 0; k < figure->ncurves; k++) {
        if (figure->curves[k].count > 0) {
            return true;
        }
    }
    return false;
}

void ss_figure_free(ss_figure *figure)
{
    for (size_t k = 0; k < figure->ncurves; k++) {
        free(figure->curves[k].x);
        free(figure->curves[k].y);
    }
    free(figure->curves);
    if (figure->below != NULL) {
        ss_figure_free(figure->below);
        free(figure->below);
    }
    *figure = (ss_figure){0};
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// -- Distributions: the share of problems above or below x, as a staircase

// A staircase over sorted values: at each, the share of values at most as large, or larger.
static void add_staircase(ss_figure *figure, size_t curve, const double *sorted, size_t n,
                          bool above, double begin, double end)
{
    size_t below = 0;
    while (below < n && sorted[below] <= begin) {
        below++;
    }
    for (double x = begin;; x = sorted[below - 1]) {
        const double share = 100.0 * (double)below / (double)n;
        figure_point(figure, curve, x, above ? 100.0 - share : share);
        if (below == n || !(sorted[below] <= end)) {
            figure_point(figure, curve, end, above ? 100.0 - share : share);
            return;
        }
        const double next = sorted[below];
        while (below < n && sorted[below] <= next) {
            below++;
        }
    }
}

typedef double (*measure)(const ss_trials *t, const ss_solver_trials *solver, size_t p);

// Infinite where the tolerance was not reached, NaN where nothing was run.
static double iterations_of(const ss_trials *t, const ss_solver_trials *solver, size_t p)
{
    (void)t;
    const ss_trial *trial = &solver->trials[p];
    const bool done = solver->own_rule ? trial->met : trial->solved;
    return trial->row == NULL ? NAN : done ? trial->iterations : INFINITY;
}

// The largest finite value of all, within bounds, so that all curves end at one place.
static double common_end(const ss_trials *t, measure value, double low, double high)
{
    double end = low;
    for (size_t k = 0; k < t->nsolvers; k++) {
        for (size_t p = 0; p < t->nproblems; p++) {
            const double v = value(t, &t->solvers[k], p);
            end = isfinite(v) && v > end ? v : end;
        }
    }
    return fmin(1.1 * end, high);
}

// The power of ten below the smallest value of all; at least 1.
static double common_begin(const ss_trials *t, measure value)
{
    double smallest = INFINITY;
    for (size_t k = 0; k < t->nsolvers; k++) {
        for (size_t p = 0; p < t->nproblems; p++) {
            smallest = fmin(smallest, value(t, &t->solvers[k], p));
        }
    }
    return isfinite(smallest) && smallest > 1.0 ? pow(10.0, ceil(log10(smallest)) - 1.0) : 1.0;
}

static ss_status distribute(const ss_trials *t, measure value, bool above, double end,
                            ss_figure *figure, ss_error *e)
{
    const double begin = common_begin(t, value);
    double *values = calloc(t->nproblems, sizeof *values);
    if (values == NULL) {
        return ss_fail_memory(e, "the figure");
    }
    for (size_t k = 0; k < t->nsolvers; k++) {
        size_t n = 0;
        for (size_t p = 0; p < t->nproblems; p++) {
            const double v = value(t, &t->solvers[k], p);
            if (!isnan(v)) {
                values[n++] = v;
            }
        }
        qsort(values, n, sizeof *values, ascending);
        add_staircase(figure, k, values, n, above, begin, end);
    }
    free(values);
    return figure_end(figure, e);
}

// -- Bundles: curves that coincide have one entry in the key

// In percent of the problems; nearer curves can hardly be distinguished at the size of the figure.
// Of few problems one more is allowed, up to the larger.
#define BUNDLE_WIDTH      2.5
#define BUNDLE_MOST_WIDTH 5.0
#define BUNDLE_LINE       44 // characters in a line of the key

// Returns the height of a staircase at x, its points being sorted; before the first point, that of
// the first.
static double height_at(const ss_curve *curve, double x)
{
    size_t k = 0;
    while (k + 1 < curve->count && curve->x[k + 1] <= x) {
        k++;
    }
    return curve->y[k];
}

static bool coincide(const ss_curve *a, const ss_curve *b, double width)
{
    bool near = a->count > 0 && b->count > 0;
    for (size_t k = 0; near && k < a->count; k++) {
        near = fabs(a->y[k] - height_at(b, a->x[k])) <= width;
    }
    for (size_t k = 0; near && k < b->count; k++) {
        near = fabs(b->y[k] - height_at(a, b->x[k])) <= width;
    }
    return near;
}

static void add_to_bundle(ss_curve *first, ss_curve *other)
{
    const size_t used = strlen(first->label);
    const char *last = strrchr(first->label, '\n');
    const size_t line = last != NULL ? strlen(last + 1) : used;
    const char *separator = line + strlen(other->label) > BUNDLE_LINE ? ",\n" : ", ";
    snprintf(first->label + used, sizeof first->label - used, "%s%s", separator, other->label);
    other->label[0] = '\0';
}

// Each curve joins the first one that it coincides with; [D11]'s solver, which is drawn above the
// others, is the first of its bundle.
static void bundle(ss_figure *figure, size_t nproblems)
{
    const double one = 100.1 / (double)nproblems;
    const double width = fmin(fmax(one, BUNDLE_WIDTH), BUNDLE_MOST_WIDTH);
    size_t hero = 0;
    while (hero < figure->ncurves && strcmp(figure->curves[hero].bare, SS_FIGURE_HERO) != 0) {
        hero++;
    }
    for (size_t n = 0; n <= figure->ncurves; n++) {
        const size_t k = n == 0 ? hero : n - 1; // the hero first, and again in its turn
        ss_curve *first = k < figure->ncurves ? &figure->curves[k] : NULL;
        if (first == NULL || first->label[0] == '\0' || (n > 0 && k == hero)) {
            continue;
        }
        for (size_t j = n == 0 ? 0 : k + 1; j < figure->ncurves; j++) {
            ss_curve *other = &figure->curves[j];
            if (j != k && j != hero && other->label[0] != '\0' && coincide(first, other, width)) {
                add_to_bundle(first, other);
            }
        }
    }
}

static const char *figure_iterations_label(const ss_trials *t)
{
    return ss_trials_are_gauss_seidel(t) ? "Gauss-Seidel iterations" : "iterations";
}

static ss_status make_iterations(const ss_figure_request *request, ss_figure *figure, ss_error *e)
{
    const ss_trials *t = request->results->trials;
    *figure = (ss_figure){.x_label = figure_iterations_label(t),
                          .y_label = "% of problems that need more",
                          .log_x = true,
                          .percent = true,
                          .steps = true};
    const ss_status status = figure_of_solvers(t, figure, e);
    const double end = common_end(t, iterations_of, NEAR_RATIO, INFINITY);
    const ss_status done =
        status == SS_OK ? distribute(t, iterations_of, true, end, figure, e) : status;
    if (done == SS_OK) {
        bundle(figure, t->nproblems);
    }
    return done;
}

static ss_status make_profile(const ss_figure_request *request, ss_figure *figure, ss_error *e)
{
    const ss_trials *t = request->results->trials;
    *figure = (ss_figure){.x_label = "time over that of the fastest",
                          .y_label = "% of problems solved",
                          .log_x = true,
                          .percent = true,
                          .steps = true};
    const ss_status status = figure_of_solvers(t, figure, e);
    const double end = common_end(t, ss_profile_ratio, NEAR_RATIO, FAR_RATIO);
    return status == SS_OK ? distribute(t, ss_profile_ratio, false, end, figure, e) : status;
}

// -- Assembly: Figure 6 of [D11], what it costs to assemble W
//
// A solver of the explicit form spends its set-up on factoring M, whitening H and the blocks of W;
// with assembly=naive, on products over all dofs for every pair of contacts.

typedef struct point {
    double x, y;
} point;

static int by_contacts(const void *a, const void *b)
{
    const point *p = a, *q = b;
    return (p->x > q->x) - (p->x < q->x);
}

// The name of an option's value in a spec; "" where it is not given.
static void value_of(const char *spec, const char *option, char *value, size_t room)
{
    const char *found = strstr(spec, option);
    found = found != NULL ? found + strlen(option) : "";
    snprintf(value, room, "%.*s", (int)strcspn(found, ","), found);
}

// The curve is called after what sets it apart here: how W is made.
static void name_curve(const ss_solver_trials *solver, ss_curve *curve)
{
    char assembly[16], form[16];
    value_of(solver->spec, "assembly=", assembly, sizeof assembly);
    value_of(solver->spec, "form=", form, sizeof form);
    const char *way = strcmp(assembly, "naive") == 0                         ? "naive"
                      : strcmp(form, "matrix-free") == 0                     ? "matrix-free"
                      : strcmp(form, "explicit") == 0 || assembly[0] != '\0' ? "blocks"
                                                                             : NULL;
    if (way != NULL) {
        snprintf(curve->label, sizeof curve->label, "%s: %s", solver->bare, way);
    }
}

static ss_status make_assembly(const ss_figure_request *request, ss_figure *figure, ss_error *e)
{
    const ss_trials *t = request->results->trials;
    *figure = (ss_figure){.x_label = "contacts",
                          .y_label = "time until W is assembled (s)",
                          .log_x = true,
                          .log_y = true,
                          .points = true,
                          .plain = true,
                          .guides = true};
    const ss_status status = figure_of_solvers(t, figure, e);
    point *points = calloc(t->nproblems, sizeof *points);
    if (status != SS_OK || points == NULL) {
        free(points);
        return ss_fail_memory(e, "the figure");
    }
    for (size_t k = 0; k < t->nsolvers; k++) {
        size_t n = 0;
        name_curve(&t->solvers[k], &figure->curves[k]);
        for (size_t p = 0; p < t->nproblems; p++) {
            const ss_record_row *row = t->solvers[k].trials[p].row;
            if (row != NULL && row->setup_seconds > 0.0) {
                points[n++] = (point){row->contacts, row->setup_seconds};
            }
        }
        qsort(points, n, sizeof *points, by_contacts);
        for (size_t p = 0; p < n; p++) {
            figure_point(figure, k, points[p].x, points[p].y);
        }
    }
    free(points);
    if (!figure_has_points(figure) && !figure->out_of_memory) {
        return ss_fail(e, SS_BAD_INPUT, "the record holds no run that set anything up");
    }
    return figure_end(figure, e);
}

// -- The registry

// ---- Figures of histories
//
// The figures of a record that are made of histories: convergence and work-precision.

// Iterations at which a convergence curve has a point: all up to here, then 5 % apart.
#define DENSE_ITERATIONS 40
// Points of a convergence curve over time.
#define TIMES 150
// Residuals at which a work-precision curve has a point: four a decade, from 1 to 1e-14.
#define PER_DECADE 4
#define DECADES    14

// The best error (ss_measures_error) up to so many iterations. Infinite before the first entry.
static double error_after(const ss_history *history, int iterations)
{
    double error = INFINITY;
    for (int k = 0; k < history->count && history->iteration[k] <= iterations; k++) {
        error = fmin(error, ss_history_error(history, k));
    }
    return error;
}

// The same up to so many seconds.
static double error_at(const ss_record_row *row, double seconds)
{
    double error = INFINITY;
    for (int k = 0; k < row->history.count && ss_history_seconds(row, k) <= seconds; k++) {
        error = fmin(error, ss_history_error(&row->history, k));
    }
    return error;
}

static bool has_history(const ss_trial *trial)
{
    return trial->row != NULL && trial->row->history.count > 0;
}

// Whether trial p takes part; problem NULL: all do but those that reported nothing on the way, of
// which a line from the start to the answer would be a claim.
static bool takes_part(const ss_trials *t, const ss_solver_trials *solver, size_t p,
                       const char *problem)
{
    return has_history(&solver->trials[p]) &&
           ss_history_tells_course(&solver->trials[p].row->history) &&
           (problem == NULL || strcmp(t->problems[p]->problem, problem) == 0);
}

static int last_iteration(const ss_trials *t, const ss_solver_trials *solver, const char *problem)
{
    int last = -1;
    for (size_t p = 0; p < t->nproblems; p++) {
        if (takes_part(t, solver, p, problem)) {
            const ss_history *h = &solver->trials[p].row->history;
            const int end = (int)h->iteration[h->count - 1];
            last = end > last ? end : last;
        }
    }
    return last;
}

static void add_convergence(ss_figure *figure, const ss_trials *t, size_t k, const char *problem,
                            double *values)
{
    const ss_solver_trials *solver = &t->solvers[k];
    const int last = last_iteration(t, solver, problem);
    for (int i = 1; i <= last;) {
        size_t n = 0;
        for (size_t p = 0; p < t->nproblems; p++) {
            if (takes_part(t, solver, p, problem)) {
                values[n++] = error_after(&solver->trials[p].row->history, i);
            }
        }
        const double fb = ss_median(values, n);
        if (isfinite(fb) && fb > 0.0) { // 0 has no place on a logarithmic axis
            figure_point(figure, k, i, fb);
        }
        const int next = i < DENSE_ITERATIONS ? i + 1 : i + i / 20;
        i = i < last && next > last ? last : next;
    }
}

// Finds the time of the first entry of any history and of the last, in s with the set-up; false
// without histories.
static bool find_times(const ss_trials *t, const ss_solver_trials *solver, const char *problem,
                       double *first, double *last)
{
    *first = INFINITY;
    *last = 0.0;
    for (size_t p = 0; p < t->nproblems; p++) {
        if (takes_part(t, solver, p, problem)) {
            const ss_record_row *row = solver->trials[p].row;
            *first = fmin(*first, ss_history_seconds(row, 0));
            *last = fmax(*last, ss_history_seconds(row, row->history.count - 1));
        }
    }
    *first = fmax(*first, 1e-3 * *last);
    return *first > 0.0 && *first <= *last;
}

static void add_convergence_time(ss_figure *figure, const ss_trials *t, size_t k,
                                 const char *problem, double *values)
{
    const ss_solver_trials *solver = &t->solvers[k];
    double first, last;
    if (!find_times(t, solver, problem, &first, &last)) {
        return;
    }
    for (int i = 0; i <= TIMES; i++) {
        // The last is exact, as entries up to it count.
        const double s = i == TIMES ? last : first * pow(last / first, (double)i / TIMES);
        size_t n = 0;
        for (size_t p = 0; p < t->nproblems; p++) {
            if (takes_part(t, solver, p, problem)) {
                values[n++] = error_at(solver->trials[p].row, s);
            }
        }
        const double error = ss_median(values, n);
        if (isfinite(error) && error > 0.0) {
            figure_point(figure, k, 1000.0 * s, error);
        }
    }
}

typedef void add_curve(ss_figure *figure, const ss_trials *t, size_t k, const char *problem,
                       double *values);

static ss_status converge(const ss_figure_request *request, const char *x_label, add_curve *add,
                          ss_figure *figure, ss_error *e)
{
    const ss_trials *t = request->results->trials;
    const char *problem = request->problem;
    *figure =
        (ss_figure){.x_label = x_label,
                    .y_label = problem != NULL ? "best error so far" : "best error so far, median",
                    .log_x = true,
                    .log_y = true};
    const ss_status status = figure_of_solvers(t, figure, e);
    if (problem != NULL) {
        snprintf(figure->title, sizeof figure->title, "%.79s", problem);
    }
    double *values = calloc(t->nproblems, sizeof *values);
    if (status != SS_OK || values == NULL) {
        free(values);
        return ss_fail_memory(e, "the figure");
    }
    for (size_t k = 0; k < t->nsolvers; k++) {
        add(figure, t, k, problem, values);
    }
    free(values);
    if (!figure_has_points(figure) && !figure->out_of_memory) {
        return ss_fail(e, SS_BAD_INPUT, "the record holds no history of %s",
                       problem != NULL ? problem : "any problem");
    }
    return figure_end(figure, e);
}

static ss_status figure_convergence(const ss_figure_request *request, ss_figure *figure,
                                    ss_error *e)
{
    return converge(request, figure_iterations_label(request->results->trials), add_convergence,
                    figure, e);
}

static ss_status figure_convergence_time(const ss_figure_request *request, ss_figure *figure,
                                         ss_error *e)
{
    return converge(request, "time (ms)", add_convergence_time, figure, e);
}

// ms until the error is at most `level` first; infinite if the run never reached it.
static double time_to(const ss_trial *trial, double level)
{
    const ss_record_row *row = trial->row;
    const int first = ss_history_first(&row->history, level);
    return first < 0 ? INFINITY : 1000.0 * ss_history_seconds(row, first);
}

static ss_status figure_work_precision(const ss_figure_request *request, ss_figure *figure,
                                       ss_error *e)
{
    const ss_trials *t = request->results->trials;
    *figure = (ss_figure){.x_label = "median time (ms)",
                          .y_label = "tolerance reached",
                          .log_x = true,
                          .log_y = true};
    const ss_status status = figure_of_solvers(t, figure, e);
    double *times = calloc(t->nproblems, sizeof *times);
    if (status != SS_OK || times == NULL) {
        free(times);
        return ss_fail_memory(e, "the figure");
    }
    for (size_t k = 0; k < t->nsolvers; k++) {
        for (int step = 0; step <= PER_DECADE * DECADES; step++) {
            const double level = pow(10.0, -(double)step / PER_DECADE);
            if (level < 0.99 * t->tolerance) {
                break; // runs end there: who goes below does so by chance
            }
            size_t n = 0;
            for (size_t p = 0; p < t->nproblems; p++) {
                if (has_history(&t->solvers[k].trials[p])) {
                    times[n++] = time_to(&t->solvers[k].trials[p], level);
                }
            }
            const double median = ss_median(times, n);
            if (isfinite(median) && median > 0.0) {
                figure_point(figure, k, median, level);
            }
        }
    }
    free(times);
    if (!figure_has_points(figure) && !figure->out_of_memory) {
        return ss_fail(e, SS_BAD_INPUT, "the record holds no histories");
    }
    return figure_end(figure, e);
}

// ---- Figures of simulations
//
// The figures of simulations: orbits, trajectories, and what changes over time; a curve a run.

#define CM 100.0 // of a metre

// Properties in which the curves differ.
typedef struct differences {
    bool scene, model, solver, mu, seed, rods;
} differences;

static differences compare_all(const ss_stats *runs, size_t count)
{
    differences d = {0};
    for (size_t k = 1; k < count; k++) {
        const ss_stats_run *a = &runs[0].run, *b = &runs[k].run;
        d.scene |= strcmp(a->scene, b->scene) != 0;
        d.model |= strcmp(a->model, b->model) != 0;
        d.solver |= strcmp(a->solver, b->solver) != 0;
        d.mu |= a->mu != b->mu;
        d.seed |= a->seed != b->seed;
        d.rods |= a->rods != b->rods;
    }
    return d;
}

static void append(char *label, size_t room, const char *part)
{
    const size_t used = strlen(label);
    snprintf(label + used, room - used, "%s%s", used > 0 ? ", " : "", part);
}

// The solver where nothing differs: a curve must have a name.
static void name_run(const ss_stats_run *run, const differences *d, ss_curve *curve)
{
    char part[64];
    const char *solver = ss_spec_bare(run->solver);
    snprintf(curve->bare, sizeof curve->bare, "%.*s", (int)strcspn(solver, ":"), solver);
    if (d->scene) {
        append(curve->label, sizeof curve->label, run->scene);
    }
    if (d->model) {
        append(curve->label, sizeof curve->label, run->model);
    }
    if (d->mu) {
        snprintf(part, sizeof part, "mu %g", run->mu);
        append(curve->label, sizeof curve->label, part);
    }
    if (d->rods) {
        snprintf(part, sizeof part, "%d rod%s", run->rods, ss_plural(run->rods));
        append(curve->label, sizeof curve->label, part);
    }
    if (d->seed) {
        snprintf(part, sizeof part, "seed %llu", (unsigned long long)run->seed);
        append(curve->label, sizeof curve->label, part);
    }
    if (d->solver || curve->label[0] == '\0') {
        append(curve->label, sizeof curve->label, solver);
    }
}

static ss_status begin(const ss_stats *runs, size_t count, ss_figure *figure, ss_error *e)
{
    const differences d = compare_all(runs, count);
    figure->curves = calloc(count, sizeof *figure->curves);
    if (figure->curves == NULL) {
        return ss_fail_memory(e, "the figure");
    }
    figure->ncurves = count;
    for (size_t k = 0; k < count; k++) {
        name_run(&runs[k].run, &d, &figure->curves[k]);
    }
    return SS_OK;
}

static const char *const POSITIONS[] = {"tip x (cm)", "tip y (cm)", "tip z (cm)"};

// -- Orbits

// The first step of the second half of a run's time.
static size_t settled_step(const ss_stats *run)
{
    const double half = 0.5 * run->rows[run->count - 1].report.time;
    size_t k = 0;
    while (k + 1 < run->count && run->rows[k].report.time < half) {
        k++;
    }
    return k;
}

// How far the tip of a run moves along an axis, from step `first` on.
static double tip_range(const ss_stats *run, int axis, size_t first)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t k = first; k < run->count; k++) {
        low = fmin(low, run->rows[k].tip[axis]);
        high = fmax(high, run->rows[k].tip[axis]);
    }
    return high - low;
}

// The axis on which the tip of a run moves most.
static int liveliest_axis(const ss_stats *run)
{
    const size_t first = settled_step(run);
    int best = 0;
    for (int axis = 1; axis < 3; axis++) {
        best = tip_range(run, axis, first) > tip_range(run, best, first) ? axis : best;
    }
    return best;
}

static ss_status figure_orbit(const ss_figure_request *request, ss_figure *figure, ss_error *e)
{
    const ss_stats *runs = request->results->runs;
    const size_t count = request->results->nruns;
    static const char *const VELOCITIES[] = {"tip velocity along x (cm/s)",
                                             "tip velocity along y (cm/s)",
                                             "tip velocity along z (cm/s)"};
    const int axis = liveliest_axis(&runs[0]);
    *figure = (ss_figure){
        .x_label = POSITIONS[axis], .y_label = VELOCITIES[axis], .plain = true, .nested = true};
    const ss_status status = begin(runs, count, figure, e);
    if (status != SS_OK) {
        return status;
    }
    for (size_t k = 0; k < count; k++) {
        for (size_t i = settled_step(&runs[k]); i < runs[k].count; i++) {
            const ss_stats_row *row = &runs[k].rows[i];
            figure_point(figure, k, CM * row->tip[axis], CM * row->tip_velocity[axis]);
        }
    }
    return figure_end(figure, e);
}

// -- Trajectories

static int laziest_axis(const ss_stats *run)
{
    int best = 2;
    for (int axis = 1; axis >= 0; axis--) {
        best = tip_range(run, axis, 0) < tip_range(run, best, 0) ? axis : best;
    }
    return best;
}

static ss_status figure_trajectory(const ss_figure_request *request, ss_figure *figure, ss_error *e)
{
    const ss_stats *runs = request->results->runs;
    const size_t count = request->results->nruns;
    const int away = laziest_axis(&runs[0]), right = away == 0 ? 1 : 0, up = away == 2 ? 1 : 2;
    *figure = (ss_figure){.x_label = POSITIONS[right],
                          .y_label = POSITIONS[up],
                          .plain = true,
                          .nested = true,
                          .equal = true};
    const ss_status status = begin(runs, count, figure, e);
    if (status != SS_OK) {
        return status;
    }
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < runs[k].count; i++) {
            const double *tip = runs[k].rows[i].tip;
            figure_point(figure, k, CM * tip[right], CM * tip[up]);
        }
    }
    return figure_end(figure, e);
}

// -- Over time

static double dispersion_cm(const ss_stats_row *row)
{
    return CM * row->dispersion;
}

static double kinetic_uj(const ss_stats_row *row)
{
    return 1e6 * row->report.energy.kinetic;
}

static double stretch_percent(const ss_stats_row *row)
{
    return row->stretch_percent;
}

static ss_status curves_over_time(const ss_stats *runs, size_t count,
                                  double (*value)(const ss_stats_row *), ss_figure *figure,
                                  ss_error *e)
{
    const ss_status status = begin(runs, count, figure, e);
    if (status != SS_OK) {
        return status;
    }
    for (size_t k = 0; k < count; k++) {
        for (size_t i = 0; i < runs[k].count; i++) {
            const ss_stats_row *row = &runs[k].rows[i];
            if (isfinite(value(row))) {
                figure_point(figure, k, row->report.time, value(row));
            }
        }
    }
    return figure_end(figure, e);
}

static ss_status figure_dispersion(const ss_figure_request *request, ss_figure *figure, ss_error *e)
{
    const ss_stats *runs = request->results->runs;
    const size_t count = request->results->nruns;
    *figure = (ss_figure){.x_label = "time (s)",
                          .y_label = "mean distance of tips (cm)",
                          .plain = true,
                          .below = calloc(1, sizeof *figure)};
    if (figure->below == NULL) {
        return ss_fail_memory(e, "the figure");
    }
    *figure->below =
        (ss_figure){.x_label = "time (s)", .y_label = "kinetic energy (uJ)", .plain = true};
    const ss_status status = curves_over_time(runs, count, dispersion_cm, figure, e);
    return status == SS_OK ? curves_over_time(runs, count, kinetic_uj, figure->below, e) : status;
}

static ss_status figure_stretch(const ss_figure_request *request, ss_figure *figure, ss_error *e)
{
    const ss_stats *runs = request->results->runs;
    const size_t count = request->results->nruns;
    *figure = (ss_figure){.x_label = "time (s)", .y_label = "stretch (%)", .plain = true};
    return curves_over_time(runs, count, stretch_percent, figure, e);
}

// ---- The registry

const ss_figure_kind ss_figure_kinds[] = {
    {.name = "iterations", .needs = SS_NEEDS_TRIALS, .make = make_iterations},
    {.name = "profile", .needs = SS_NEEDS_TRIALS, .make = make_profile},
    {.name = "convergence",
     .needs = SS_NEEDS_TRIALS,
     .takes_problem = true,
     .make = figure_convergence},
    {.name = "convergence-time",
     .needs = SS_NEEDS_TRIALS,
     .takes_problem = true,
     .make = figure_convergence_time},
    {.name = "work-precision", .needs = SS_NEEDS_TRIALS, .make = figure_work_precision},
    {.name = "assembly", .needs = SS_NEEDS_TRIALS, .make = make_assembly},
    {.name = "orbit", .needs = SS_NEEDS_RUNS, .make = figure_orbit},
    {.name = "dispersion", .needs = SS_NEEDS_RUNS, .make = figure_dispersion},
    {.name = "stretch", .needs = SS_NEEDS_RUNS, .make = figure_stretch},
    {.name = "trajectory", .needs = SS_NEEDS_RUNS, .make = figure_trajectory},
    {.name = NULL},
};
