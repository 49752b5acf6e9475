// A cell arrives as text, as its format writes it, or as NULL, and is kept until its row is complete,
// or the table: text needs the widest first.
#include "harness/table_parts.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/number.h"
#include "harness/complain.h"
#include "harness/quote.h"

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

// ---- Columns

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

// ---- Which columns

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

// ---- Cells

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
        ss_table_print_row(t, t->cells, t->nrows);
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

// ---- Numbers

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

// ---- The end

ss_status ss_table_finish(ss_table *t, ss_error *e)
{
    if (t == NULL || t->out_of_memory) {
        ss_table_free(t);
        return ss_fail_memory(e, "the table");
    }
    assert(t->ncolumns > 0 && t->column == 0);
    ss_table_print_rest(t);
    const bool lost = t->out_of_memory; // while it was printed
    ss_table_free(t);
    return lost ? ss_fail_memory(e, "the table") : SS_OK;
}
