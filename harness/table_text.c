// A table as text: which columns fit, how wide they are, and the footnotes.
#include <stdlib.h>
#include <string.h>

#include "harness/table_parts.h"

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

// Of a table of fields what it says; of another all columns are worth the same.
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

void ss_table_print_text(ss_table *t)
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
