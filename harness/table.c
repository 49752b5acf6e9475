// A cell arrives as text, as its format writes it, or as NULL, and is kept until its row is
// complete, or the table: text needs the widest first.
#include "harness/table.h"

#include "base/field.h"
#include "base/number.h"
#include "base/status.h"
#include "harness/cli.h"
#include "harness/quote.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

// ---- Text that fits a terminal
//
// A table as text: which columns fit, how wide they are, and the footnotes.

static inline const char *ss_heading_of(const ss_column *column)
{
    return column->heading != NULL ? column->heading : column->key;
}

// Returns what a cell shows; row 0 is the heading.
static inline const char *ss_shown(const ss_table *t, size_t row, size_t column)
{
    if (row == 0) {
        return ss_heading_of(&t->columns[column]);
    }
    const char *cell = t->cells[(row - 1) * t->ncolumns + column];
    return cell != NULL ? cell : "-";
}

static inline bool ss_shows_number(const ss_table *t, size_t column)
{
    return t->columns[column].kind != SS_COLUMN_TEXT;
}

static inline size_t ss_shown_count(const ss_table *t)
{
    return t->shown != NULL ? t->nshown : t->ncolumns;
}

// The column in place k of those that are shown.
static inline size_t ss_shown_at(const ss_table *t, size_t k)
{
    return t->shown != NULL ? t->shown[k] : k;
}

// The number of the footnote of the column in place k, 0 without one.
static inline int ss_mark_at(const ss_table *t, size_t k)
{
    int number = 0;
    for (size_t i = 0; i <= k; i++) {
        number += t->columns[ss_shown_at(t, i)].note != NULL;
    }
    return t->columns[ss_shown_at(t, k)].note != NULL ? number : 0;
}

// Characters a line of footnotes has.
#define NOTE_WIDTH 96

// Between two columns.
#define GAP 2

// A column of texts is not broken into lines that are shorter than this.
#define NARROWEST 24

// Characters, so that a name with accents does not push its row out of line.
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (const char *c = text; *c != '\0'; c++) {
        width += ((unsigned char)*c & 0xc0) != 0x80;
    }
    return width;
}

static void heading_text(const ss_table *t, size_t k, char text[80])
{
    const int number = ss_mark_at(t, k);
    snprintf(text, 80, number > 0 ? "%s [%d]" : "%s", ss_heading_of(&t->columns[ss_shown_at(t, k)]),
             number);
}

// 0 for a column that may be left out.
static size_t column_width(const ss_table *t, size_t k)
{
    const size_t c = ss_shown_at(t, k);
    char heading[80];
    heading_text(t, k, heading);
    size_t width = width_of(heading);
    bool empty = k > 0 && t->nrows > 0 && t->columns[c].heading == NULL;
    for (size_t row = 1; row <= t->nrows; row++) {
        const size_t w = width_of(ss_shown(t, row, c));
        width = w > width ? w : width;
        empty = empty && t->cells[(row - 1) * t->ncolumns + c] == NULL;
    }
    return empty ? 0 : width;
}

static void leave_out(ss_table *t, size_t *widths, size_t k)
{
    for (t->nshown--; k < t->nshown; k++) {
        t->shown[k] = t->shown[k + 1];
        widths[k] = widths[k + 1];
    }
}

static size_t line_width(const size_t *widths, size_t n)
{
    size_t sum = 0;
    for (size_t k = 0; k < n; k++) {
        sum += widths[k] + (k > 0 ? GAP : 0);
    }
    return sum;
}

// Worth of a column: what the table of fields says; without one all columns are worth the same.
static ss_rank rank_of(const ss_table *t, size_t c)
{
    ss_field field = {.rank = SS_RANK_KEY};
    if (t->fields != NULL) {
        ss_fields walk = ss_fields_of(t->fields);
        for (size_t k = 0; k <= c && ss_fields_next(&walk, &field); k++) {
        }
    }
    return field.rank;
}

// The place of the column that is the first to go; the first column stays.
static size_t find_dispensable(const ss_table *t)
{
    size_t found = 1;
    for (size_t k = 1; k < t->nshown; k++) {
        if (rank_of(t, t->shown[k]) >= rank_of(t, t->shown[found])) {
            found = k;
        }
    }
    return found;
}

// Leaves columns out until a line fits. A last column of texts takes what room is left to it.
static void fit(ss_table *t, size_t *widths)
{
    char names[600] = "";
    while (t->nshown > 1 && line_width(widths, t->nshown) > t->width) {
        const size_t last = t->nshown - 1, others = line_width(widths, last) + GAP;
        if (!ss_shows_number(t, t->shown[last]) && widths[last] > NARROWEST &&
            others + NARROWEST <= t->width) {
            widths[last] = t->width - others;
            break;
        }
        const size_t k = find_dispensable(t), used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", used > 0 ? ", " : "",
                 ss_heading_of(&t->columns[t->shown[k]]));
        leave_out(t, widths, k);
    }
    if (names[0] != '\0') {
        ss_table_note(t, "Hidden to fit the terminal: %s; --columns all shows them.", names);
    }
}

static void pad(FILE *out, size_t count)
{
    fprintf(out, "%*s", (int)count, "");
}

// Breaks a sentence that begins in column `indent` between words into lines of `width`; later lines
// begin below its begin.
static void print_words(FILE *out, const char *sentence, size_t indent, size_t width)
{
    size_t column = indent;
    for (const char *word = sentence; *word != '\0';) {
        const size_t length = strcspn(word, " ");
        if (column > indent && column + 1 + length > width) {
            fprintf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', out);
            column++;
        }
        fwrite(word, 1, length, out);
        column += length;
        word += length + strspn(word + length, " ");
    }
}

// Blanks are printed when something follows them, so no line ends in one.
static void print_line(const ss_table *t, const size_t *widths, size_t row)
{
    size_t blanks = 0;
    for (size_t k = 0; k < t->nshown; k++) {
        const size_t c = t->shown[k];
        char heading[80];
        heading_text(t, k, heading);
        const char *cell = row == 0 ? heading : ss_shown(t, row, c);
        const size_t width = width_of(cell), slack = width < widths[k] ? widths[k] - width : 0;
        pad(t->out, blanks + (ss_shows_number(t, c) ? slack : 0));
        if (width > widths[k]) { // the last one
            print_words(t->out, cell, line_width(widths, k) + (k > 0 ? GAP : 0), t->width);
        } else {
            fputs(cell, t->out);
        }
        blanks = (ss_shows_number(t, c) ? 0 : slack) + GAP;
    }
    fputc('\n', t->out);
}

static void print_text_notes(const ss_table *t)
{
    const size_t width = t->width > 0 && t->width < NOTE_WIDTH ? t->width : NOTE_WIDTH;
    bool any = t->nnotes > 0;
    for (size_t k = 0; k < t->nshown; k++) {
        any |= ss_mark_at(t, k) > 0;
    }
    fputs(any ? "\n" : "", t->out);
    for (size_t k = 0; k < t->nshown; k++) {
        const char *note = t->columns[t->shown[k]].note;
        if (note != NULL) {
            const int indent = fprintf(t->out, "[%d] ", ss_mark_at(t, k));
            print_words(t->out, note, (size_t)indent, width);
            fputc('\n', t->out);
        }
    }
    for (size_t k = 0; k < t->nnotes; k++) {
        print_words(t->out, t->notes[k], 0, width);
        fputc('\n', t->out);
    }
}

// The columns that are shown as a list that can be made shorter.
static bool list_shown(ss_table *t)
{
    if (t->shown != NULL) {
        return true;
    }
    t->shown = calloc(t->ncolumns, sizeof *t->shown);
    for (size_t c = 0; t->shown != NULL && c < t->ncolumns; c++) {
        t->shown[t->nshown++] = c;
    }
    return t->shown != NULL;
}

static void table_print_text(ss_table *t)
{
    const bool chosen = t->shown != NULL;
    size_t *widths = calloc(t->ncolumns, sizeof *widths);
    if (widths == NULL || !list_shown(t)) {
        free(widths);
        t->out_of_memory = true;
        return;
    }
    for (size_t k = 0; k < t->nshown; k++) {
        widths[k] = column_width(t, k);
    }
    for (size_t k = t->nshown; k-- > 0 && !chosen;) {
        if (widths[k] == 0) {
            leave_out(t, widths, k);
        }
    }
    if (t->width > 0) {
        fit(t, widths);
    }
    for (size_t row = 0; t->nrows > 0 && row <= t->nrows; row++) {
        print_line(t, widths, row);
    }
    free(widths);
    print_text_notes(t);
}

// ---- CSV, JSON, Markdown and LaTeX
//
// A table as Markdown, LaTeX, CSV and JSON.

// -- Markdown

static void print_markdown(const ss_table *t)
{
    FILE *out = t->out;
    const size_t n = ss_shown_count(t);
    for (size_t row = 0; row <= t->nrows; row++) {
        for (size_t k = 0; k < n; k++) {
            fputs(k == 0 ? "| " : " | ", out);
            ss_quote(out, SS_MARKDOWN, ss_shown(t, row, ss_shown_at(t, k)));
            if (row == 0 && ss_mark_at(t, k) > 0) {
                fprintf(out, "<sup>%d</sup>", ss_mark_at(t, k));
            }
        }
        fputs(" |\n", out);
        for (size_t k = 0; row == 0 && k < n; k++) {
            fprintf(out, "%s%s", ss_shows_number(t, ss_shown_at(t, k)) ? "|---:" : "|:---",
                    k + 1 == n ? "|\n" : "");
        }
    }
    for (size_t k = 0; k < n; k++) {
        if (ss_mark_at(t, k) > 0) {
            fprintf(out, "\n<sup>%d</sup> ", ss_mark_at(t, k));
            ss_quote(out, SS_MARKDOWN, t->columns[ss_shown_at(t, k)].note);
            fputc('\n', out);
        }
    }
    for (size_t k = 0; k < t->nnotes; k++) {
        fputc('\n', out);
        ss_quote(out, SS_MARKDOWN, t->notes[k]);
        fputc('\n', out);
    }
}

// -- LaTeX

static void latex_text(FILE *out, const char *text)
{
    ss_quoted next;
    for (const char *at = text; *at != '\0';) {
        if (at[0] == '<' && at[1] == '=') {
            fputs("$\\leq$", out);
            at += 2;
        } else if (ss_quote_next(SS_LATEX, &at, &next)) {
            fwrite(next.bytes, 1, next.count, out);
        }
    }
}

// "2.5e-6" as a power of ten.
static void latex_number(FILE *out, const char *text)
{
    const char *exponent = strchr(text, 'e');
    if (strcmp(text, "-") == 0) {
        fputs("--", out);
    } else if (exponent == NULL) {
        fprintf(out, "$%s$", text);
    } else if (strncmp(text, "1e", 2) == 0) {
        fprintf(out, "$10^{%d}$", atoi(exponent + 1));
    } else {
        fprintf(out, "$%.*s\\times10^{%d}$", (int)(exponent - text), text, atoi(exponent + 1));
    }
}

static void latex_notes(const ss_table *t)
{
    fputs("\n\\smallskip\n{\\footnotesize\\parindent=0pt\n", t->out);
    for (size_t k = 0; k < ss_shown_count(t); k++) {
        if (ss_mark_at(t, k) > 0) {
            fprintf(t->out, "\\textsuperscript{%d}~", ss_mark_at(t, k));
            latex_text(t->out, t->columns[ss_shown_at(t, k)].note);
            fputs("\\par\n", t->out);
        }
    }
    for (size_t k = 0; k < t->nnotes; k++) {
        latex_text(t->out, t->notes[k]);
        fputs("\\par\n", t->out);
    }
    fputs("}\n", t->out);
}

static void latex_row(const ss_table *t, size_t row)
{
    for (size_t k = 0; k < ss_shown_count(t); k++) {
        const size_t c = ss_shown_at(t, k);
        fputs(k > 0 ? " & " : "", t->out);
        if (row > 0 && ss_shows_number(t, c)) {
            latex_number(t->out, ss_shown(t, row, c));
        } else {
            latex_text(t->out, ss_shown(t, row, c));
        }
        if (row == 0 && ss_mark_at(t, k) > 0) {
            fprintf(t->out, "\\textsuperscript{%d}", ss_mark_at(t, k));
        }
    }
    fputs(row == 0 ? " \\\\\n\\midrule\n" : " \\\\\n", t->out);
}

static void print_latex(const ss_table *t)
{
    fputs("% needs \\usepackage{booktabs}\n\\begin{tabular}{@{}", t->out);
    for (size_t k = 0; k < ss_shown_count(t); k++) {
        fputc(ss_shows_number(t, ss_shown_at(t, k)) ? 'r' : 'l', t->out);
    }
    fputs("@{}}\n\\toprule\n", t->out);
    for (size_t row = 0; row <= t->nrows; row++) {
        latex_row(t, row);
    }
    fputs("\\bottomrule\n\\end{tabular}\n", t->out);
    latex_notes(t);
}

// -- CSV

static void csv_header(const ss_table *t)
{
    for (size_t k = 0; k < ss_shown_count(t); k++) {
        fprintf(t->out, "%s%s", k > 0 ? "," : "", t->columns[ss_shown_at(t, k)].key);
    }
    fputc('\n', t->out);
}

static void csv_row(const ss_table *t, char *const *cells)
{
    for (size_t k = 0; k < ss_shown_count(t); k++) {
        const size_t c = ss_shown_at(t, k);
        fputs(k > 0 ? "," : "", t->out);
        if (cells[c] != NULL) {
            ss_quote(t->out, SS_CSV, cells[c]);
        } else {
            fputs(ss_shows_number(t, c) ? "nan" : "", t->out);
        }
    }
    fputc('\n', t->out);
}

// -- JSON

static void json_row(const ss_table *t, char *const *cells, size_t row)
{
    fputs(row > 1 ? ",\n {" : "\n {", t->out);
    for (size_t k = 0; k < ss_shown_count(t); k++) {
        const size_t c = ss_shown_at(t, k);
        fprintf(t->out, "%s\"%s\": ", k > 0 ? ", " : "", t->columns[c].key);
        if (cells[c] == NULL) {
            fputs("null", t->out);
        } else if (ss_shows_number(t, c)) {
            fputs(cells[c], t->out);
        } else {
            ss_quote(t->out, SS_JSON, cells[c]);
        }
    }
    fputc('}', t->out);
}

// -- All

static void print_begin(const ss_table *t)
{
    if (t->format == SS_FORMAT_CSV) {
        csv_header(t);
    } else {
        fputc('[', t->out);
    }
}

// The first row of `cells`, which is row number `row` of the table, from 1. Of formats for
// programs.
static void table_print_row(const ss_table *t, char *const *cells, size_t row)
{
    if (row == 1) {
        print_begin(t);
    }
    if (t->format == SS_FORMAT_CSV) {
        csv_row(t, cells);
    } else {
        json_row(t, cells, row);
    }
}

static void print_for_programs(const ss_table *t)
{
    for (size_t row = 1; row <= t->nrows && !t->at_once; row++) {
        table_print_row(t, t->cells + (row - 1) * t->ncolumns, row);
    }
    if (t->nrows == 0) {
        print_begin(t);
    }
    if (t->format == SS_FORMAT_JSON) {
        fputs(t->nrows > 0 ? "\n]\n" : "]\n", t->out);
    }
}

// Whatever is not printed yet, and of that the text.
static void table_print_rest(ss_table *t)
{
    switch (t->format) {
    case SS_FORMAT_TEXT:
        table_print_text(t);
        break;
    case SS_FORMAT_MARKDOWN:
        print_markdown(t);
        break;
    case SS_FORMAT_LATEX:
        print_latex(t);
        break;
    case SS_FORMAT_CSV:
    case SS_FORMAT_JSON:
        print_for_programs(t);
        break;
    }
}

// ---- Tables

// Numbers outside are shown with an exponent.
#define SMALLEST_FIXED 1e-3
#define LARGEST_FIXED  1e7

// Significant digits of a real where the column does not say.
#define DIGITS 4

const char *const ss_format_names[] = {"text", "csv", "json", "markdown", "latex", NULL};

bool ss_format_is_for_people(ss_format format)
{
    return format != SS_FORMAT_CSV && format != SS_FORMAT_JSON;
}

ss_table *ss_table_new(FILE *out, ss_format format)
{
    ss_table *t = calloc(1, sizeof *t);
    if (t != NULL) {
        t->out = out;
        t->format = format;
    }
    return t;
}

static void drop_cells(ss_table *t)
{
    for (size_t k = 0; k < t->ncells; k++) {
        free(t->cells[k]);
    }
    t->ncells = 0;
}

void ss_table_free(ss_table *t)
{
    if (t == NULL) {
        return;
    }
    drop_cells(t);
    for (size_t k = 0; k < t->nnotes; k++) {
        free(t->notes[k]);
    }
    free(t->columns);
    free(t->shown);
    free(t->cells);
    free(t->notes);
    free(t);
}

// Room for one more in an array; NULL without memory.
static void *grow(ss_table *t, void *array, size_t count, size_t *room, size_t size)
{
    if (count < *room) {
        return array;
    }
    const size_t more = *room == 0 ? 16 : 2 * *room;
    void *grown = realloc(array, more * size);
    if (grown == NULL) {
        t->out_of_memory = true;
        return NULL;
    }
    *room = more;
    return grown;
}

// -- Columns

void ss_table_column(ss_table *t, const ss_column *column)
{
    if (t == NULL) {
        return;
    }
    assert(t->nrows == 0);
    ss_column *columns = grow(t, t->columns, t->ncolumns, &t->columns_room, sizeof *columns);
    if (columns != NULL) {
        t->columns = columns;
        t->columns[t->ncolumns++] = *column;
    }
}

void ss_table_columns(ss_table *t, const ss_column *list)
{
    for (; list->key != NULL; list++) {
        ss_table_column(t, list);
    }
}

static ss_column_kind kind_of(const ss_field *field)
{
    switch (field->kind) {
    case SS_FIELD_REAL:
        return SS_COLUMN_REAL;
    case SS_FIELD_INTEGER:
    case SS_FIELD_SEED:
        return SS_COLUMN_INTEGER;
    case SS_FIELD_TEXT:
    case SS_FIELD_LINK:
    case SS_FIELD_PART:
        break;
    }
    return SS_COLUMN_TEXT;
}

void ss_table_fields(ss_table *t, const ss_field *fields)
{
    if (t == NULL) {
        return;
    }
    assert(t->ncolumns == 0);
    ss_field field;
    t->fields = fields;
    for (ss_fields walk = ss_fields_of(fields); ss_fields_next(&walk, &field);) {
        ss_table_column(t, &(ss_column){.key = field.name, .kind = kind_of(&field)});
    }
}

static ss_table *begin(FILE *out, ss_format format)
{
    ss_table *t = ss_table_new(out, format);
    if (t != NULL) {
        t->at_once = !ss_format_is_for_people(format);
    }
    return t;
}

ss_table *ss_table_of_columns(FILE *out, ss_format format, const ss_column *list)
{
    ss_table *t = begin(out, format);
    ss_table_columns(t, list);
    return t;
}

ss_table *ss_table_of_fields(FILE *out, ss_format format, const ss_field *fields)
{
    ss_table *t = begin(out, format);
    ss_table_fields(t, fields);
    return t;
}

// -- Which columns

static ss_status fail_unknown(const ss_table *t, const char *name, ss_error *e)
{
    ss_suggestion nearest = {.word = name};
    char known[400] = "; they are ";
    for (size_t c = 0; c < t->ncolumns; c++) {
        const size_t used = strlen(known);
        ss_suggestion_offer(&nearest, t->columns[c].key);
        snprintf(known + used, sizeof known - used, "%s%s", c > 0 ? ", " : "", t->columns[c].key);
    }
    return ss_fail(e, SS_BAD_INPUT, "--columns: there is no column '%s'%s", name,
                   ss_suggestion_hint(&nearest, "", known).text);
}

static ss_status show(ss_table *t, const char *name, ss_error *e)
{
    size_t c = 0;
    while (c < t->ncolumns && strcmp(t->columns[c].key, name) != 0) {
        c++;
    }
    for (size_t k = 0; k < t->nshown; k++) {
        if (t->shown[k] == c) {
            return ss_fail(e, SS_BAD_INPUT, "--columns names '%s' twice", name);
        }
    }
    if (c == t->ncolumns) {
        return fail_unknown(t, name, e);
    }
    t->shown[t->nshown++] = c;
    return SS_OK;
}

static size_t terminal_width(FILE *out)
{
    struct winsize size;
    const int fd = fileno(out);
    return fd >= 0 && isatty(fd) == 1 && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

void ss_table_fit(ss_table *t, size_t width)
{
    if (t != NULL) {
        t->width = width;
    }
}

ss_status ss_table_choose(ss_table *t, const char *columns, ss_error *e)
{
    if (columns == NULL && t != NULL) {
        ss_table_fit(t, terminal_width(t->out));
    }
    if (t == NULL || columns == NULL || strcmp(columns, "all") == 0) {
        return SS_OK;
    }
    char *names = strdup(columns);
    t->shown = calloc(t->ncolumns, sizeof *t->shown);
    ss_status status = names != NULL && t->shown != NULL ? SS_OK : ss_fail_memory(e, "the table");
    char *rest = names;
    while (status == SS_OK && rest != NULL) {
        status = show(t, strsep(&rest, ","), e);
    }
    free(names);
    return status;
}

// -- Cells

static void keep(ss_table *t, const char *value)
{
    char **cells = grow(t, t->cells, t->ncells, &t->cells_room, sizeof *cells);
    if (cells == NULL) {
        return;
    }
    t->cells = cells;
    char *copy = NULL;
    if (value != NULL) {
        copy = strdup(value);
        t->out_of_memory |= copy == NULL;
    }
    if (copy != NULL && ss_format_is_for_people(t->format)) {
        ss_make_printable(copy);
    }
    t->cells[t->ncells++] = copy;
}

// Whether a cell can be taken; its kind must be the column's.
static bool takes(const ss_table *t, ss_column_kind kind)
{
    const bool taken = t != NULL && !t->out_of_memory;
    assert(!taken || t->columns[t->column].kind == kind);
    (void)kind;
    return taken;
}

static void place(ss_table *t, const char *value)
{
    if (t->column == 0) {
        t->nrows++;
    }
    keep(t, value);
    t->column = (t->column + 1) % t->ncolumns;
    if (t->column == 0 && t->at_once && !t->out_of_memory) {
        table_print_row(t, t->cells, t->nrows);
        drop_cells(t);
    }
}

void ss_table_missing(ss_table *t)
{
    if (t != NULL && !t->out_of_memory) {
        place(t, NULL);
    }
}

void ss_table_text(ss_table *t, const char *value)
{
    if (takes(t, SS_COLUMN_TEXT)) {
        place(t, value == NULL || value[0] == '\0' ? NULL : value);
    }
}

void ss_table_integer(ss_table *t, long long value)
{
    if (takes(t, SS_COLUMN_INTEGER)) {
        char printed[32];
        snprintf(printed, sizeof printed, "%lld", value);
        place(t, printed);
    }
}

void ss_table_unsigned(ss_table *t, unsigned long long value)
{
    if (takes(t, SS_COLUMN_INTEGER)) {
        char printed[32];
        snprintf(printed, sizeof printed, "%llu", value);
        place(t, printed);
    }
}

void ss_table_real(ss_table *t, double value)
{
    if (!takes(t, SS_COLUMN_REAL)) {
        return;
    }
    char printed[32];
    const int digits = t->columns[t->column].digits;
    if (ss_format_is_for_people(t->format)) {
        ss_table_number(value, digits > 0 ? digits : DIGITS, printed);
    } else {
        ss_number_print(value, printed);
    }
    const bool shown = t->format == SS_FORMAT_JSON ? isfinite(value) : !isnan(value);
    place(t, shown ? printed : NULL);
}

void ss_table_reals(ss_table *t, const double *values, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        ss_table_real(t, values[k]);
    }
}

static void place_field(ss_table *t, const ss_field *field, const void *object)
{
    uint64_t seed;
    switch (field->kind) {
    case SS_FIELD_TEXT:
    case SS_FIELD_LINK:
        ss_table_text(t, ss_field_text(field, object));
        return;
    case SS_FIELD_REAL:
        ss_table_real(t, ss_field_number(field, object));
        return;
    case SS_FIELD_SEED:
        memcpy(&seed, (const char *)object + field->offset, sizeof seed);
        ss_table_unsigned(t, seed);
        return;
    case SS_FIELD_INTEGER:
        break;
    case SS_FIELD_PART: // its fields come one by one
        return;
    }
    const long long value = ss_field_integer(field, object);
    if (value < 0) {
        ss_table_missing(t);
    } else {
        ss_table_integer(t, value);
    }
}

void ss_table_row(ss_table *t, const void *object)
{
    if (t == NULL) {
        return;
    }
    ss_field field;
    for (ss_fields walk = ss_fields_of(t->fields); ss_fields_next(&walk, &field);) {
        place_field(t, &field, object);
    }
}

void ss_table_note(ss_table *t, const char *format, ...)
{
    if (t == NULL) {
        return;
    }
    char **notes = grow(t, t->notes, t->nnotes, &t->notes_room, sizeof *notes);
    if (notes == NULL) {
        return;
    }
    t->notes = notes;
    va_list arguments;
    va_start(arguments, format);
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0) {
        t->out_of_memory = true;
    } else {
        ss_make_printable(text);
        t->notes[t->nnotes++] = text;
    }
    va_end(arguments);
}

// -- Numbers

// 50.00 is 50, 1.50 is 1.5.
static void trim_zeros(char *text)
{
    size_t end = strlen(text);
    while (text[end - 1] == '0') {
        end--;
    }
    text[text[end - 1] == '.' ? end - 1 : end] = '\0';
}

void ss_table_number(double value, int digits, char text[32])
{
    const double size = fabs(value);
    if (isnan(value)) {
        strcpy(text, "-");
    } else if (value == 0.0) {
        strcpy(text, "0");
    } else if (isinf(value)) {
        strcpy(text, value > 0.0 ? "inf" : "-inf");
    } else if (size >= SMALLEST_FIXED && size < LARGEST_FIXED) {
        const int decimals = digits - 1 - (int)floor(log10(size));
        snprintf(text, 32, "%.*f", decimals > 0 ? decimals : 0, value);
        if (strchr(text, '.') != NULL) {
            trim_zeros(text);
        }
    } else {
        char mantissa[32];
        snprintf(mantissa, sizeof mantissa, "%.*e", digits - 1, value);
        char *exponent = strchr(mantissa, 'e');
        const int power = atoi(exponent + 1); // without the zero in 1e-06
        *exponent = '\0';
        if (strchr(mantissa, '.') != NULL) {
            trim_zeros(mantissa);
        }
        snprintf(text, 32, "%.20se%d", mantissa, power);
    }
}

char *const *ss_table_notes(const ss_table *t, size_t *count)
{
    *count = t != NULL ? t->nnotes : 0;
    return t != NULL ? t->notes : NULL;
}

// -- The end

ss_status ss_table_finish(ss_table *t, ss_error *e)
{
    if (t == NULL || t->out_of_memory) {
        ss_table_free(t);
        return ss_fail_memory(e, "the table");
    }
    assert(t->ncolumns > 0 && t->column == 0);
    table_print_rest(t);
    const bool lost = t->out_of_memory; // while it was printed
    ss_table_free(t);
    return lost ? ss_fail_memory(e, "the table") : SS_OK;
}
