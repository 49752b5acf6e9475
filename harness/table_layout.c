// The four layouts of a table.
#include "harness/table_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Characters a line of footnotes has on a terminal.
#define NOTE_WIDTH 96

// ---- Text

static size_t width_of(const char *text)
{
    size_t width = 0;
    for (const char *c = text; *c != '\0'; c++) {
        width += ((unsigned char)*c & 0xc0) != 0x80;
    }
    return width;
}

static void heading_text(const ss_table *t, size_t column, char text[64])
{
    const int number = ss_table_mark(t, column);
    snprintf(text, 64, number > 0 ? "%s [%d]" : "%s", t->columns[column].heading, number);
}

static size_t column_width(const ss_table *t, size_t column)
{
    char heading[64], buffer[32];
    heading_text(t, column, heading);
    size_t width = width_of(heading);
    for (size_t row = 1; row <= ss_table_rows(t); row++) {
        const size_t w = width_of(ss_table_shown(t, row, column, buffer));
        width = w > width ? w : width;
    }
    return width;
}

static void print_padded(FILE *out, const char *text, size_t width, bool right, bool last)
{
    const int slack = (int)(width - width_of(text));
    if (right) {
        fprintf(out, "%*s%s", slack, "", text);
    } else {
        fprintf(out, "%s%*s", text, last ? 0 : slack, "");
    }
    fputs(last ? "\n" : "  ", out);
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

void ss_table_print_text(const ss_table *t, FILE *out)
{
    size_t widths[MAX_COLUMNS];
    char heading[64], buffer[32], label[16];
    for (size_t c = 0; c < t->ncolumns; c++) {
        widths[c] = column_width(t, c);
        heading_text(t, c, heading);
        print_padded(out, heading, widths[c], t->columns[c].digits > 0, c + 1 == t->ncolumns);
    }
    for (size_t row = 1; row <= ss_table_rows(t); row++) {
        for (size_t c = 0; c < t->ncolumns; c++) {
            print_padded(out, ss_table_shown(t, row, c, buffer), widths[c],
                         t->columns[c].digits > 0, c + 1 == t->ncolumns);
        }
    }
    fputs(t->nnotes > 0 ? "\n" : "", out);
    for (size_t c = 0; c < t->ncolumns; c++) {
        if (t->columns[c].note != NULL) {
            snprintf(label, sizeof label, "[%d] ", ss_table_mark(t, c));
            print_wrapped(out, label, t->columns[c].note);
        }
    }
    for (size_t k = 0; k < t->nnotes; k++) {
        print_wrapped(out, "", t->notes[k]);
    }
}

// ---- Markdown

static void markdown_text(FILE *out, const char *text)
{
    for (const char *c = text; *c != '\0'; c++) {
        fputs(strchr("|*_<>[]`\\", *c) != NULL ? "\\" : "", out);
        fputc(*c, out);
    }
}

void ss_table_print_markdown(const ss_table *t, FILE *out)
{
    char buffer[32];
    for (size_t row = 0; row <= ss_table_rows(t); row++) {
        for (size_t c = 0; c < t->ncolumns; c++) {
            fputs(c == 0 ? "| " : " | ", out);
            markdown_text(out, ss_table_shown(t, row, c, buffer));
            if (row == 0 && ss_table_mark(t, c) > 0) {
                fprintf(out, "<sup>%d</sup>", ss_table_mark(t, c));
            }
        }
        fputs(" |\n", out);
        for (size_t c = 0; row == 0 && c < t->ncolumns; c++) {
            fprintf(out, "%s%s", t->columns[c].digits > 0 ? "|---:" : "|:---",
                    c + 1 == t->ncolumns ? "|\n" : "");
        }
    }
    for (size_t c = 0; c < t->ncolumns; c++) {
        if (t->columns[c].note != NULL) {
            fprintf(out, "\n<sup>%d</sup> ", ss_table_mark(t, c));
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

static void latex_notes(const ss_table *t, FILE *out)
{
    fputs("\n\\smallskip\n{\\footnotesize\\parindent=0pt\n", out);
    for (size_t c = 0; c < t->ncolumns; c++) {
        if (t->columns[c].note != NULL) {
            fprintf(out, "\\textsuperscript{%d}~", ss_table_mark(t, c));
            latex_text(out, t->columns[c].note);
            fputs("\\par\n", out);
        }
    }
    for (size_t k = 0; k < t->nnotes; k++) {
        latex_text(out, t->notes[k]);
        fputs("\\par\n", out);
    }
    fputs("}\n", out);
}

void ss_table_print_latex(const ss_table *t, FILE *out)
{
    char buffer[32];
    fputs("% needs \\usepackage{booktabs}\n\\begin{tabular}{@{}", out);
    for (size_t c = 0; c < t->ncolumns; c++) {
        fputc(t->columns[c].digits > 0 ? 'r' : 'l', out);
    }
    fputs("@{}}\n\\toprule\n", out);
    for (size_t row = 0; row <= ss_table_rows(t); row++) {
        for (size_t c = 0; c < t->ncolumns; c++) {
            const char *text = ss_table_shown(t, row, c, buffer);
            fputs(c > 0 ? " & " : "", out);
            if (row > 0 && t->columns[c].digits > 0) {
                latex_number(out, text);
            } else {
                latex_text(out, text);
            }
            if (row == 0 && ss_table_mark(t, c) > 0) {
                fprintf(out, "\\textsuperscript{%d}", ss_table_mark(t, c));
            }
        }
        fputs(row == 0 ? " \\\\\n\\midrule\n" : " \\\\\n", out);
    }
    fputs("\\bottomrule\n\\end{tabular}\n", out);
    latex_notes(t, out);
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

void ss_table_print_csv(const ss_table *t, FILE *out)
{
    for (size_t c = 0; c < t->ncolumns; c++) {
        fprintf(out, "%s%s", c > 0 ? "," : "", t->columns[c].key);
    }
    for (size_t k = 0; k < t->ncells; k++) {
        fputs(k % t->ncolumns == 0 ? "\n" : ",", out);
        if (t->cells[k].text != NULL) {
            csv_text(out, t->cells[k].text);
        } else if (isnan(t->cells[k].number)) {
            fputs("nan", out);
        } else {
            fprintf(out, "%.17g", t->cells[k].number);
        }
    }
    fputc('\n', out);
}
