// A table as Markdown, LaTeX, CSV and JSON.
#include <stdlib.h>
#include <string.h>

#include "harness/quote.h"
#include "harness/table_parts.h"

// ---- Markdown

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

// ---- LaTeX

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

// ---- CSV

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

// ---- JSON

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
