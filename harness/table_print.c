// The five formats of a table.
#include <stdlib.h>
#include <string.h>

#include "harness/table_parts.h"

// Characters a line of footnotes has on a terminal.
#define NOTE_WIDTH 96

// Between two columns of text.
#define GAP 2

// ---- What formats for people share

static const char *heading_of(const ss_column *column)
{
    return column->heading != NULL ? column->heading : column->key;
}

// What a cell shows; row 0 is the heading.
static const char *shown(const ss_table *t, size_t row, size_t column)
{
    if (row == 0) {
        return heading_of(&t->columns[column]);
    }
    const char *cell = t->cells[(row - 1) * t->ncolumns + column];
    return cell != NULL ? cell : "-";
}

static bool is_number(const ss_table *t, size_t column)
{
    return t->columns[column].kind != SS_COLUMN_TEXT;
}

// The number of a column's footnote, 0 without one.
static int mark(const ss_table *t, size_t column)
{
    int number = 0;
    for (size_t k = 0; k <= column; k++) {
        number += t->columns[k].note != NULL;
    }
    return t->columns[column].note != NULL ? number : 0;
}

// ---- Text

// Characters, so that a name with accents does not push its row out of line.
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (const char *c = text; *c != '\0'; c++) {
        width += ((unsigned char)*c & 0xc0) != 0x80;
    }
    return width;
}

static void heading_text(const ss_table *t, size_t column, char text[80])
{
    const int number = mark(t, column);
    snprintf(text, 80, number > 0 ? "%s [%d]" : "%s", heading_of(&t->columns[column]), number);
}

// 0 for a column that is left out.
static size_t column_width(const ss_table *t, size_t column)
{
    char heading[80];
    heading_text(t, column, heading);
    size_t width = width_of(heading);
    bool empty = column > 0 && t->nrows > 0 && t->columns[column].heading == NULL;
    for (size_t row = 1; row <= t->nrows; row++) {
        const size_t w = width_of(shown(t, row, column));
        width = w > width ? w : width;
        empty = empty && t->cells[(row - 1) * t->ncolumns + column] == NULL;
    }
    return empty ? 0 : width;
}

static void pad(FILE *out, size_t count)
{
    fprintf(out, "%*s", (int)count, "");
}

// Blanks are printed when something follows them, so no line ends in one.
static void print_line(const ss_table *t, const size_t *widths, size_t row)
{
    size_t blanks = 0;
    for (size_t c = 0; c < t->ncolumns; c++) {
        if (widths[c] == 0) {
            continue;
        }
        char heading[80];
        heading_text(t, c, heading);
        const char *cell = row == 0 ? heading : shown(t, row, c);
        const size_t slack = widths[c] - width_of(cell);
        pad(t->out, blanks + (is_number(t, c) ? slack : 0));
        fputs(cell, t->out);
        blanks = (is_number(t, c) ? 0 : slack) + GAP;
    }
    fputc('\n', t->out);
}

// Breaks a sentence between words; later lines are indented as far as the first one's text.
static void print_wrapped(FILE *out, const char *label, const char *sentence)
{
    const size_t indent = strlen(label);
    size_t column = indent;
    fputs(label, out);
    for (const char *word = sentence; *word != '\0';) {
        const size_t length = strcspn(word, " ");
        if (column > indent && column + 1 + length > NOTE_WIDTH) {
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
    fputc('\n', out);
}

static void print_text_notes(const ss_table *t)
{
    char label[16];
    fputs(t->nnotes > 0 ? "\n" : "", t->out);
    for (size_t c = 0; c < t->ncolumns; c++) {
        if (t->columns[c].note != NULL) {
            snprintf(label, sizeof label, "[%d] ", mark(t, c));
            print_wrapped(t->out, label, t->columns[c].note);
        }
    }
    for (size_t k = 0; k < t->nnotes; k++) {
        print_wrapped(t->out, "", t->notes[k]);
    }
}

static void print_text_table(ss_table *t)
{
    size_t *widths = calloc(t->ncolumns, sizeof *widths);
    if (widths == NULL) {
        t->out_of_memory = true;
        return;
    }
    for (size_t c = 0; c < t->ncolumns; c++) {
        widths[c] = column_width(t, c);
    }
    for (size_t row = 0; row <= t->nrows; row++) {
        print_line(t, widths, row);
    }
    free(widths);
    print_text_notes(t);
}

// ---- Markdown

static void markdown_text(FILE *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        fputs(strchr("|*_<>[]`\\", *c) != NULL ? "\\" : "", out);
        fputc(*c, out);
    }
}

static void print_markdown(const ss_table *t)
{
    FILE *out = t->out;
    for (size_t row = 0; row <= t->nrows; row++) {
        for (size_t c = 0; c < t->ncolumns; c++) {
            fputs(c == 0 ? "| " : " | ", out);
            markdown_text(out, shown(t, row, c));
            if (row == 0 && mark(t, c) > 0) {
                fprintf(out, "<sup>%d</sup>", mark(t, c));
            }
        }
        fputs(" |\n", out);
        for (size_t c = 0; row == 0 && c < t->ncolumns; c++) {
            fprintf(out, "%s%s", is_number(t, c) ? "|---:" : "|:---",
                    c + 1 == t->ncolumns ? "|\n" : "");
        }
    }
    for (size_t c = 0; c < t->ncolumns; c++) {
        if (t->columns[c].note != NULL) {
            fprintf(out, "\n<sup>%d</sup> ", mark(t, c));
            markdown_text(out, t->columns[c].note);
            fputc('\n', out);
        }
    }
    for (size_t k = 0; k < t->nnotes; k++) {
        fputc('\n', out);
        markdown_text(out, t->notes[k]);
        fputc('\n', out);
    }
}

// ---- LaTeX

static const char *latex_escape(char c)
{
    switch (c) {
    case '\\':
        return "\\textbackslash{}";
    case '~':
        return "\\textasciitilde{}";
    case '^':
        return "\\textasciicircum{}";
    case '<':
        return "$<$";
    case '>':
        return "$>$";
    case '|':
        return "$|$";
    default:
        return NULL;
    }
}

static void latex_text(FILE *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        if (c[0] == '<' && c[1] == '=') {
            fputs("$\\leq$", out);
            c++;
        } else if (latex_escape(*c) != NULL) {
            fputs(latex_escape(*c), out);
        } else {
            fputs(strchr("%&#_{}$", *c) != NULL ? "\\" : "", out);
            fputc(*c, out);
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
    for (size_t c = 0; c < t->ncolumns; c++) {
        if (t->columns[c].note != NULL) {
            fprintf(t->out, "\\textsuperscript{%d}~", mark(t, c));
            latex_text(t->out, t->columns[c].note);
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
    for (size_t c = 0; c < t->ncolumns; c++) {
        fputs(c > 0 ? " & " : "", t->out);
        if (row > 0 && is_number(t, c)) {
            latex_number(t->out, shown(t, row, c));
        } else {
            latex_text(t->out, shown(t, row, c));
        }
        if (row == 0 && mark(t, c) > 0) {
            fprintf(t->out, "\\textsuperscript{%d}", mark(t, c));
        }
    }
    fputs(row == 0 ? " \\\\\n\\midrule\n" : " \\\\\n", t->out);
}

static void print_latex(const ss_table *t)
{
    fputs("% needs \\usepackage{booktabs}\n\\begin{tabular}{@{}", t->out);
    for (size_t c = 0; c < t->ncolumns; c++) {
        fputc(is_number(t, c) ? 'r' : 'l', t->out);
    }
    fputs("@{}}\n\\toprule\n", t->out);
    for (size_t row = 0; row <= t->nrows; row++) {
        latex_row(t, row);
    }
    fputs("\\bottomrule\n\\end{tabular}\n", t->out);
    latex_notes(t);
}

// ---- CSV

static void csv_text(FILE *out, const char *text)
{
    if (strpbrk(text, ",\"\r\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (const char *c = text; *c != '\0'; c++) {
        fputs(*c == '"' ? "\"" : "", out);
        fputc(*c, out);
    }
    fputc('"', out);
}

static void csv_header(const ss_table *t)
{
    for (size_t c = 0; c < t->ncolumns; c++) {
        fprintf(t->out, "%s%s", c > 0 ? "," : "", t->columns[c].key);
    }
    fputc('\n', t->out);
}

static void csv_cell(const ss_table *t, const char *value)
{
    fputs(t->column > 0 ? "," : "", t->out);
    if (value != NULL) {
        csv_text(t->out, value);
    } else {
        fputs(is_number(t, t->column) ? "nan" : "", t->out);
    }
    fputs(t->column + 1 == t->ncolumns ? "\n" : "", t->out);
}

// ---- JSON

// Bytes of the UTF-8 character at s, 0 where there is none (Unicode 15, table 3-7).
static int utf8_length(const unsigned char *s)
{
    const int length = s[0] < 0x80                   ? 1
                       : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                       : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                       : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                                     : 0;
    for (int k = 1; k < length; k++) {
        if ((s[k] & 0xc0) != 0x80) { // the end of the text, too
            return 0;
        }
    }
    const bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    const bool surrogate = s[0] == 0xed && s[1] >= 0xa0;
    const bool beyond = s[0] == 0xf4 && s[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : length;
}

static void json_text(FILE *out, const char *value)
{
    const unsigned char *s = (const unsigned char *)value;
    fputc('"', out);
    while (*s != '\0') {
        const int length = utf8_length(s);
        if (length == 0) {
            fputs("\\ufffd", out);
        } else if (*s == '"' || *s == '\\') {
            fprintf(out, "\\%c", *s);
        } else if (*s < 0x20 || *s == 0x7f) {
            fprintf(out, "\\u%04x", *s);
        } else {
            fwrite(s, 1, (size_t)length, out);
        }
        s += length == 0 ? 1 : length;
    }
    fputc('"', out);
}

static void json_cell(const ss_table *t, const char *value)
{
    const char *before = t->column > 0 ? ", " : t->nrows > 1 ? ",\n {" : "\n {";
    fprintf(t->out, "%s\"%s\": ", before, t->columns[t->column].key);
    if (value == NULL) {
        fputs("null", t->out);
    } else if (is_number(t, t->column)) {
        fputs(value, t->out);
    } else {
        json_text(t->out, value);
    }
    fputs(t->column + 1 == t->ncolumns ? "}" : "", t->out);
}

// ---- All

static void print_begin(const ss_table *t)
{
    if (t->format == SS_FORMAT_CSV) {
        csv_header(t);
    } else {
        fputc('[', t->out);
    }
}

void ss_table_print_cell(const ss_table *t, const char *value)
{
    if (t->nrows == 1 && t->column == 0) {
        print_begin(t);
    }
    if (t->format == SS_FORMAT_CSV) {
        csv_cell(t, value);
    } else {
        json_cell(t, value);
    }
}

void ss_table_print_rest(ss_table *t)
{
    switch (t->format) {
    case SS_FORMAT_TEXT:
        print_text_table(t);
        return;
    case SS_FORMAT_MARKDOWN:
        print_markdown(t);
        return;
    case SS_FORMAT_LATEX:
        print_latex(t);
        return;
    case SS_FORMAT_CSV:
    case SS_FORMAT_JSON:
        break;
    }
    if (t->nrows == 0) {
        print_begin(t);
    }
    if (t->format == SS_FORMAT_JSON) {
        fputs(t->nrows > 0 ? "\n]\n" : "]\n", t->out);
    }
}
