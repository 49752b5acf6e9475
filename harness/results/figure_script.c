// The gnuplot script of a figure: one style a solver, the same in every figure.
//
// Colours are those of Okabe and Ito, which people with any colour blindness tell apart. A pure
// local solver is dashed and its hybrid dotted in one colour; the solver of [D11], mfb+enum, is the
// only solid line, in red. Solvers that differ in their options alone get other dashes, and so do
// global solvers once the colours have been used up.
#include "harness/results/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/quote.h"

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

// What sets the kinds of line apart; a row serves one colour.
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

// The entry of a curve in the key; one of a bundle has none. Further lines of a label stand below it, as
// entries without a line.
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
    // Of two panels the lower one explains both, and they stand in line. The blank title keeps the
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

// One panel; *block is the place of its first curve in the data.
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
    // To gnuplot a file whose name begins with '|' or '<' is a command, hence "./".
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
