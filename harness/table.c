// A table is held as texts and numbers until it is printed, because every layout writes numbers in
// its own way and three of them need the widest cell first.
#include "harness/table_parts.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "harness/complain.h"

// Numbers outside are shown with an exponent.
#define SMALLEST_FIXED 1e-3
#define LARGEST_FIXED  1e7

const char *const ss_layout_names[] = {"text", "markdown", "latex", "csv", NULL};

ss_table *ss_table_new(void)
{
    return calloc(1, sizeof(ss_table));
}

void ss_table_free(ss_table *t)
{
    if (t == NULL) {
        return;
    }
    for (size_t k = 0; k < t->ncells; k++) {
        free(t->cells[k].text);
    }
    for (size_t k = 0; k < t->nnotes; k++) {
        free(t->notes[k]);
    }
    free(t->cells);
    free(t);
}

void ss_table_column_add(ss_table *t, const ss_table_column *column)
{
    if (t != NULL) {
        assert(t->ncolumns < MAX_COLUMNS && t->ncells == 0);
        t->columns[t->ncolumns++] = *column;
    }
}

static void add(ss_table *t, ss_table_cell c)
{
    if (t->ncells == t->capacity) {
        const size_t capacity = t->capacity == 0 ? 128 : 2 * t->capacity;
        ss_table_cell *cells = realloc(t->cells, capacity * sizeof *cells);
        if (cells == NULL) {
            t->out_of_memory = true;
            free(c.text);
            return;
        }
        t->cells = cells;
        t->capacity = capacity;
    }
    t->cells[t->ncells++] = c;
}

void ss_table_text(ss_table *t, const char *value)
{
    if (t == NULL) {
        return;
    }
    assert(t->out_of_memory || t->columns[t->ncells % t->ncolumns].digits == 0);
    char *copy = strdup(value);
    if (copy == NULL) {
        t->out_of_memory = true;
        return;
    }
    ss_make_printable(copy);
    add(t, (ss_table_cell){.text = copy, .number = NAN});
}

void ss_table_real(ss_table *t, double value)
{
    if (t != NULL) {
        assert(t->out_of_memory || t->columns[t->ncells % t->ncolumns].digits > 0);
        add(t, (ss_table_cell){.number = value});
    }
}

void ss_table_note(ss_table *t, const char *format, ...)
{
    if (t == NULL) {
        return;
    }
    assert(t->nnotes < MAX_NOTES);
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

// ---- Cells

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

// What a cell shows in the layouts for people; row 0 is the heading. buffer serves numbers.
const char *ss_table_shown(const ss_table *t, size_t row, size_t column, char buffer[32])
{
    if (row == 0) {
        return t->columns[column].heading;
    }
    const ss_table_cell *c = &t->cells[(row - 1) * t->ncolumns + column];
    if (c->text != NULL) {
        return c->text;
    }
    ss_table_number(c->number, t->columns[column].digits, buffer);
    return buffer;
}

// The number of a column's footnote, 0 without one.
int ss_table_mark(const ss_table *t, size_t column)
{
    int number = 0;
    for (size_t k = 0; k <= column; k++) {
        number += t->columns[k].note != NULL;
    }
    return t->columns[column].note != NULL ? number : 0;
}

size_t ss_table_rows(const ss_table *t)
{
    return t->ncells / t->ncolumns;
}

ss_status ss_table_print(const ss_table *t, FILE *out, ss_layout layout, ss_error *e)
{
    if (t == NULL || t->out_of_memory) {
        return ss_fail_memory(e, "the table");
    }
    assert(t->ncolumns > 0 && t->ncells % t->ncolumns == 0);
    switch (layout) {
    case SS_LAYOUT_TEXT:
        ss_table_print_text(t, out);
        break;
    case SS_LAYOUT_MARKDOWN:
        ss_table_print_markdown(t, out);
        break;
    case SS_LAYOUT_LATEX:
        ss_table_print_latex(t, out);
        break;
    case SS_LAYOUT_CSV:
        ss_table_print_csv(t, out);
        break;
    }
    return SS_OK;
}
