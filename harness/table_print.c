// A table as Markdown, LaTeX, CSV and JSON.
#include <stdlib.h>
#include <string.h>

#include "harness/table_parts.h"

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
    const size_t n = ss_shown_count(t);
    for (size_t row = 0; row <= t->nrows; row++) {
        for (size_t k = 0; k < n; k++) {
            fputs(k == 0 ? "| " : " | ", out);
            markdown_text(out, ss_shown(t, row, ss_shown_at(t, k)));
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
            markdown_text(out, t->columns[ss_shown_at(t, k)].note);
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
            csv_text(t->out, cells[c]);
        } else {
            fputs(ss_shows_number(t, c) ? "nan" : "", t->out);
        }
    }
    fputc('\n', t->out);
}

// ---- JSON

// Unicode 15, table 3-7.
int ss_utf8_length(const unsigned char *s)
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
        const int length = ss_utf8_length(s);
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
            json_text(t->out, cells[c]);
        }
    }
    fputc('}', t->out);
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

void ss_table_print_row(const ss_table *t, char *const *cells, size_t row)
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
        ss_table_print_row(t, t->cells + (row - 1) * t->ncolumns, row);
    }
    if (t->nrows == 0) {
        print_begin(t);
    }
    if (t->format == SS_FORMAT_JSON) {
        fputs(t->nrows > 0 ? "\n]\n" : "]\n", t->out);
    }
}

void ss_table_print_rest(ss_table *t)
{
    switch (t->format) {
    case SS_FORMAT_TEXT:
        ss_table_print_text(t);
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
