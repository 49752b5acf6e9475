// A table in three formats. A cell arrives as printed text or as NULL, and each format places it.
#include "harness/rows.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "harness/complain.h"

// Between two columns of text.
#define GAP "  "

const char *const ss_format_names[] = {"text", "csv", "json", NULL};

struct ss_rows {
    FILE *out;
    ss_format format;
    const ss_column *columns; // borrowed, or own
    ss_column *own;           // NULL where they are borrowed
    const ss_field *fields;   // the table that they are from; NULL: none
    size_t ncolumns;
    size_t column; // of the next cell
    size_t nrows;  // begun
    char **cells;  // [capacity] text only: the cells so far, row by row; NULL where missing
    size_t ncells, capacity;
    bool out_of_memory;
};

ss_rows *ss_rows_new(FILE *out, ss_format format, const ss_column *columns)
{
    ss_rows *rows = calloc(1, sizeof *rows);
    if (rows == NULL) {
        return NULL;
    }
    rows->out = out;
    rows->format = format;
    rows->columns = columns;
    for (; columns[rows->ncolumns].name != NULL; rows->ncolumns++) {
        if (format == SS_FORMAT_CSV) {
            fprintf(out, "%s%s", rows->ncolumns > 0 ? "," : "", columns[rows->ncolumns].name);
        }
    }
    fputs(format == SS_FORMAT_CSV ? "\n" : format == SS_FORMAT_JSON ? "[" : "", out);
    return rows;
}

static size_t count_fields(const ss_field *table)
{
    size_t count = 0;
    ss_field field;
    for (ss_fields walk = ss_fields_of(table); ss_fields_next(&walk, &field);) {
        count++;
    }
    return count;
}

ss_rows *ss_rows_of_fields(FILE *out, ss_format format, const ss_field *table)
{
    ss_column *columns = calloc(count_fields(table) + 1, sizeof *columns);
    if (columns == NULL) {
        return NULL;
    }
    size_t k = 0;
    ss_field field;
    for (ss_fields walk = ss_fields_of(table); ss_fields_next(&walk, &field);) {
        const ss_column_kind kind = field.kind == SS_FIELD_REAL ? SS_REAL
                                    : field.kind == SS_FIELD_INTEGER || field.kind == SS_FIELD_SEED
                                        ? SS_INTEGER
                                        : SS_TEXT;
        columns[k++] = (ss_column){field.name, kind};
    }
    ss_rows *rows = ss_rows_new(out, format, columns);
    if (rows == NULL) {
        free(columns);
        return NULL;
    }
    rows->own = columns;
    rows->fields = table;
    return rows;
}

static void keep(ss_rows *rows, const char *value)
{
    if (rows->ncells == rows->capacity) {
        const size_t capacity = rows->capacity == 0 ? 64 : 2 * rows->capacity;
        char **cells = realloc(rows->cells, capacity * sizeof *cells);
        if (cells == NULL) {
            rows->out_of_memory = true;
            return;
        }
        rows->cells = cells;
        rows->capacity = capacity;
    }
    char *copy = NULL;
    if (value != NULL) {
        copy = strdup(value);
        rows->out_of_memory |= copy == NULL;
    }
    if (copy != NULL) {
        ss_make_printable(copy);
    }
    rows->cells[rows->ncells++] = copy;
}

static void print_csv(FILE *out, const char *value, bool quote)
{
    if (!quote) {
        fputs(value, out);
        return;
    }
    fputc('"', out);
    for (const char *c = value; *c != '\0'; c++) {
        fputs(*c == '"' ? "\"\"" : (const char[]){*c, '\0'}, out);
    }
    fputc('"', out);
}

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

static void print_json(FILE *out, const char *value)
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

static void csv_cell(ss_rows *rows, const char *value)
{
    const bool text = rows->columns[rows->column].kind == SS_TEXT;
    fputs(rows->column > 0 ? "," : "", rows->out);
    if (value == NULL) {
        fputs(text ? "" : "nan", rows->out);
    } else {
        print_csv(rows->out, value, strpbrk(value, ",\"\r\n") != NULL);
    }
    fputs(rows->column + 1 == rows->ncolumns ? "\n" : "", rows->out);
}

static void json_cell(ss_rows *rows, const char *value)
{
    const char *before = rows->column > 0 ? ", " : rows->nrows > 1 ? ",\n {" : "\n {";
    fprintf(rows->out, "%s\"%s\": ", before, rows->columns[rows->column].name);
    if (value == NULL) {
        fputs("null", rows->out);
    } else if (rows->columns[rows->column].kind == SS_TEXT) {
        print_json(rows->out, value);
    } else {
        fputs(value, rows->out);
    }
    fputs(rows->column + 1 == rows->ncolumns ? "}" : "", rows->out);
}

static void place(ss_rows *rows, const char *value)
{
    rows->nrows += rows->column == 0;
    switch (rows->format) {
    case SS_FORMAT_TEXT:
        keep(rows, value);
        break;
    case SS_FORMAT_CSV:
        csv_cell(rows, value);
        break;
    case SS_FORMAT_JSON:
        json_cell(rows, value);
        break;
    }
    rows->column = (rows->column + 1) % rows->ncolumns;
}

void ss_rows_missing(ss_rows *rows)
{
    place(rows, NULL);
}

void ss_rows_text(ss_rows *rows, const char *value)
{
    assert(rows->columns[rows->column].kind == SS_TEXT);
    place(rows, value == NULL || value[0] == '\0' ? NULL : value);
}

void ss_rows_integer(ss_rows *rows, long long value)
{
    assert(rows->columns[rows->column].kind == SS_INTEGER);
    char printed[32];
    snprintf(printed, sizeof printed, "%lld", value);
    place(rows, printed);
}

void ss_rows_unsigned(ss_rows *rows, unsigned long long value)
{
    assert(rows->columns[rows->column].kind == SS_INTEGER);
    char printed[32];
    snprintf(printed, sizeof printed, "%llu", value);
    place(rows, printed);
}

void ss_rows_real(ss_rows *rows, double value)
{
    assert(rows->columns[rows->column].kind == SS_REAL);
    const bool shown = rows->format == SS_FORMAT_JSON ? isfinite(value) : !isnan(value);
    char printed[40];
    if (rows->format == SS_FORMAT_TEXT) {
        snprintf(printed, sizeof printed, "%.4g", value);
    } else {
        snprintf(printed, sizeof printed, "%.17g", value);
    }
    place(rows, shown ? printed : NULL);
}

static void place_field(ss_rows *rows, const ss_field *field, const void *object)
{
    uint64_t seed;
    switch (field->kind) {
    case SS_FIELD_TEXT:
    case SS_FIELD_LINK:
        ss_rows_text(rows, ss_field_text(field, object));
        return;
    case SS_FIELD_REAL:
        ss_rows_real(rows, ss_field_number(field, object));
        return;
    case SS_FIELD_SEED:
        memcpy(&seed, (const char *)object + field->offset, sizeof seed);
        ss_rows_unsigned(rows, seed);
        return;
    case SS_FIELD_INTEGER:
        break;
    case SS_FIELD_PART: // its fields come one by one
        return;
    }
    const long long value = ss_field_integer(field, object);
    if (value < 0) {
        ss_rows_missing(rows);
    } else {
        ss_rows_integer(rows, value);
    }
}

void ss_rows_struct(ss_rows *rows, const void *object)
{
    ss_field field;
    for (ss_fields walk = ss_fields_of(rows->fields); ss_fields_next(&walk, &field);) {
        place_field(rows, &field, object);
    }
}

// Characters, so that a name with accents does not push its row out of line.
static size_t width_of(const char *text)
{
    size_t width = 0;
    for (const char *c = text; *c != '\0'; c++) {
        width += ((unsigned char)*c & 0xc0) != 0x80;
    }
    return width;
}

// 0 for a column that is left out.
static size_t column_width(const ss_rows *rows, size_t column)
{
    size_t width = width_of(rows->columns[column].name);
    bool empty = column > 0 && rows->nrows > 0;
    for (size_t k = column; k < rows->ncells; k += rows->ncolumns) {
        if (rows->cells[k] != NULL) {
            const size_t w = width_of(rows->cells[k]);
            width = w > width ? w : width;
            empty = false;
        }
    }
    return empty ? 0 : width;
}

static void pad(FILE *out, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        fputc(' ', out);
    }
}

// row 0 is the header. Blanks are printed when something follows them, so no line ends in one.
static void print_line(const ss_rows *rows, const size_t *widths, size_t row)
{
    size_t blanks = 0;
    for (size_t c = 0; c < rows->ncolumns; c++) {
        if (widths[c] == 0) {
            continue;
        }
        const char *cell =
            row == 0 ? rows->columns[c].name : rows->cells[(row - 1) * rows->ncolumns + c];
        const char *shown = cell != NULL ? cell : "-";
        const size_t slack = widths[c] - width_of(shown);
        const bool right = rows->columns[c].kind != SS_TEXT;
        pad(rows->out, blanks + (right ? slack : 0));
        fputs(shown, rows->out);
        blanks = (right ? 0 : slack) + strlen(GAP);
    }
    fputc('\n', rows->out);
}

static void print_table(ss_rows *rows)
{
    size_t *widths = calloc(rows->ncolumns, sizeof *widths);
    if (widths == NULL) {
        rows->out_of_memory = true;
        return;
    }
    for (size_t c = 0; c < rows->ncolumns; c++) {
        widths[c] = column_width(rows, c);
    }
    for (size_t row = 0; row <= rows->nrows; row++) {
        print_line(rows, widths, row);
    }
    free(widths);
}

ss_status ss_rows_finish(ss_rows *rows)
{
    if (rows == NULL) {
        return SS_SYSTEM;
    }
    assert(rows->column == 0);
    if (rows->format == SS_FORMAT_JSON) {
        fputs(rows->nrows > 0 ? "\n]\n" : "]\n", rows->out);
    }
    if (rows->format == SS_FORMAT_TEXT && !rows->out_of_memory) {
        print_table(rows);
    }
    const ss_status status = rows->out_of_memory ? SS_SYSTEM : SS_OK;
    for (size_t k = 0; k < rows->ncells; k++) {
        free(rows->cells[k]);
    }
    free(rows->cells);
    free(rows->own);
    free(rows);
    return status;
}
