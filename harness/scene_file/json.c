// Values of a JSON file (json.h).
#include "harness/scene_file/json.h"

#include "base/number.h"
#include "base/status.h"
#include "harness/quote.h"
#include "strands/geometry.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- Writing

void ss_json_write_real(FILE *out, double x)
{
    char text[32];
    ss_number_print(x, text);
    fputs(strcmp(text, "-0") == 0 ? "-0.0" : text, out); // -0 alone is read as an integer
}

void ss_json_write_numbers(FILE *out, const double *x, size_t count)
{
    fputc('[', out);
    for (size_t i = 0; i < count; i++) {
        fputs(i > 0 ? ", " : "", out);
        ss_json_write_real(out, x[i]);
    }
    fputc(']', out);
}

void ss_json_write_vector(FILE *out, ss_vec3 x)
{
    const double numbers[3] = {x.x, x.y, x.z};
    ss_json_write_numbers(out, numbers, 3);
}

void ss_json_write_vectors(FILE *out, const ss_vec3 *x, int count)
{
    fputc('[', out);
    for (int i = 0; i < count; i++) {
        fputs(i > 0 ? ", " : "", out);
        ss_json_write_vector(out, x[i]);
    }
    fputc(']', out);
}

void ss_json_put_real(FILE *out, const char *key, double x)
{
    fprintf(out, ", \"%s\": ", key);
    ss_json_write_real(out, x);
}

void ss_json_put_text(FILE *out, const char *key, const char *text)
{
    fprintf(out, ", \"%s\": ", key);
    ss_quote(out, SS_JSON, text);
}

void ss_json_put_vector(FILE *out, const char *key, ss_vec3 x)
{
    fprintf(out, ", \"%s\": ", key);
    ss_json_write_vector(out, x);
}

void ss_json_put_numbers(FILE *out, const char *key, const double *x, int count)
{
    fprintf(out, ",\n    \"%s\": ", key);
    ss_json_write_numbers(out, x, (size_t)count);
}

void ss_json_put_vectors(FILE *out, const char *key, const ss_vec3 *x, int count)
{
    fprintf(out, ",\n    \"%s\": ", key);
    ss_json_write_vectors(out, x, count);
}

// ---- Reading

// A larger file is refused: it is no scene.
#define MOST_BYTES (1L << 30)

// Larger numbers are mistakes, and leave no room for their products.
#define MOST_NUMBER 1e50

#define BYTE_ORDER_MARK "\xEF\xBB\xBF" // which some editors put before all else

// -- Sentences

ss_json ss_json_item(const ss_json *array, size_t index)
{
    return (ss_json){array->file, array, NULL, index, json_array_get(array->value, index)};
}

ss_json ss_json_member(const ss_json *object, const char *key)
{
    return (ss_json){object->file, object, key, 0, json_object_get(object->value, key)};
}

// "strands[2].vertices[4]" into text.
static void write_path(const ss_json *at, char *text, size_t room)
{
    if (at->parent == NULL) {
        text[0] = '\0';
        return;
    }
    write_path(at->parent, text, room);
    const size_t length = strlen(text);
    if (at->key != NULL) {
        snprintf(text + length, room - length, "%s%s", length > 0 ? "." : "", at->key);
    } else {
        snprintf(text + length, room - length, "[%zu]", at->index);
    }
}

ss_status ss_json_prefix(const ss_json *at, ss_status status, ss_error *e)
{
    char path[200];
    const ss_error inner = *e;
    if (status == SS_OK) {
        return SS_OK;
    }
    write_path(at, path, sizeof path);
    return ss_fail(e, status, "%s: %s%s%s", at->file, path, path[0] != '\0' ? ": " : "",
                   inner.text);
}

ss_status ss_json_fail(const ss_json *at, ss_error *e, const char *format, ...)
{
    char sentence[sizeof e->text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    ss_fail(e, SS_BAD_INPUT, "%s", sentence);
    return ss_json_prefix(at, SS_BAD_INPUT, e);
}

// Says what a value is, for "must be ..., not %s".
static const char *what_is(const json_t *value, char text[64])
{
    static const char *const KINDS[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array", [JSON_STRING] = "a text",
        [JSON_INTEGER] = "a number", [JSON_REAL] = "a number",  [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",      [JSON_NULL] = "null",
    };
    if (value == NULL) {
        return "absent";
    }
    if (json_is_string(value)) {
        snprintf(text, 64, "\"%.60s\"", json_string_value(value));
        return text;
    }
    if (json_is_number(value)) {
        snprintf(text, 64, "%.10g", json_number_value(value));
        return text;
    }
    return KINDS[json_typeof(value)];
}

static ss_status fail_kind(const ss_json *at, const char *must, ss_error *e)
{
    char text[64];
    return ss_json_fail(at, e, "must be %s, not %s", must, what_is(at->value, text));
}

// -- The file

// All bytes but a byte-order mark, and a zero behind them.
static ss_status read_text(const char *path, char **text, size_t *length, ss_error *e)
{
    FILE *in = fopen(path, "re");
    *text = NULL;
    if (in == NULL && path[0] == '\0') {
        return ss_fail(e, SS_BAD_INPUT, "the name of a file is empty");
    }
    if (in == NULL) {
        return ss_fail(e, SS_BAD_INPUT, "%s: cannot be read: %s", path, strerror(errno));
    }
    ss_status status = SS_OK;
    size_t room = 1 << 16, count = 0, more = 1;
    *text = malloc(room + 1);
    while (*text != NULL && more > 0 && room < (size_t)MOST_BYTES) {
        more = fread(*text + count, 1, room - count, in);
        count += more;
        if (count == room) {
            char *larger = realloc(*text, 2 * room + 1);
            room *= 2;
            if (larger == NULL) {
                free(*text);
            }
            *text = larger;
        }
    }
    if (*text == NULL) {
        status = ss_fail_memory(e, path);
    } else if (ferror(in)) {
        status = ss_fail(e, SS_BAD_INPUT, "%s: cannot be read: %s", path, strerror(errno));
    } else if (more > 0) {
        status = ss_fail(e, SS_BAD_INPUT, "%s: has more than 1 GB: that is no scene", path);
    } else {
        (*text)[count] = '\0';
        if (strncmp(*text, BYTE_ORDER_MARK, strlen(BYTE_ORDER_MARK)) == 0) {
            count -= strlen(BYTE_ORDER_MARK);
            memmove(*text, *text + strlen(BYTE_ORDER_MARK), count + 1);
        }
    }
    fclose(in);
    *length = count;
    return status;
}

// The length of a word that other programs write for a number that is none, else 0.
static size_t no_number(const char *at)
{
    static const char *const WORDS[] = {"NaN",  "nan", "Infinity", "-Infinity",
                                        "-NaN", "inf", "-inf"};
    size_t longest = 0;
    for (size_t k = 0; k < sizeof WORDS / sizeof WORDS[0]; k++) {
        const size_t length = strlen(WORDS[k]);
        longest = strncmp(at, WORDS[k], length) == 0 && length > longest ? length : longest;
    }
    return longest;
}

// Such words, outside texts, become texts. Lines stay where they are. NULL without memory.
static char *quoted(const char *text, size_t length, size_t *count)
{
    char *to = malloc(2 * length + 1);
    bool inside = false;
    *count = 0;
    for (size_t i = 0; to != NULL && i < length;) {
        const size_t word = inside ? 0 : no_number(text + i);
        if (word > 0) {
            to[(*count)++] = '"';
            memcpy(to + *count, text + i, word);
            *count += word;
            to[(*count)++] = '"';
            i += word;
            continue;
        }
        if (inside && text[i] == '\\' && i + 1 < length) {
            to[(*count)++] = text[i++];
        } else if (text[i] == '"') {
            inside = !inside;
        }
        to[(*count)++] = text[i++];
    }
    return to;
}

ss_status ss_json_read(const char *path, json_t **root, ss_error *e)
{
    char *text;
    size_t length, count = 0;
    *root = NULL;
    ss_status status = read_text(path, &text, &length, e);
    if (status == SS_OK && length == 0) {
        free(text);
        return ss_fail(e, SS_BAD_INPUT, "%s: is an empty file", path);
    }
    char *changed = status == SS_OK ? quoted(text, length, &count) : NULL;
    if (status == SS_OK && changed == NULL) {
        status = ss_fail_memory(e, path);
    }
    if (status == SS_OK) {
        json_error_t error;
        *root = json_loadb(changed, count, JSON_REJECT_DUPLICATES, &error);
        if (*root == NULL) {
            status = ss_fail(e, SS_BAD_INPUT, "%s: line %d is not JSON: %s", path, error.line,
                             error.text);
        }
    }
    free(text);
    free(changed);
    return status;
}

// -- Values

static ss_status take_real(const ss_json *at, ss_json_kind kind, double *to, ss_error *e)
{
    const double x = json_number_value(at->value);
    if (!json_is_number(at->value) || !isfinite(x)) {
        return fail_kind(at, "a finite number", e);
    }
    if (!(fabs(x) <= MOST_NUMBER)) {
        return fail_kind(at, "from -1e50 to 1e50", e);
    }
    if (kind == SS_JSON_POSITIVE && !(x > 0.0)) {
        return fail_kind(at, "above 0", e);
    }
    if (kind == SS_JSON_NOT_NEGATIVE && !(x >= 0.0)) {
        return fail_kind(at, "0 or more", e);
    }
    *to = x;
    return SS_OK;
}

static ss_status take_numbers(const ss_json *at, size_t count, double *to, ss_error *e)
{
    if (!json_is_array(at->value) || json_array_size(at->value) != count) {
        char must[48], text[64];
        snprintf(must, sizeof must, "an array of %zu numbers", count);
        if (!json_is_array(at->value)) {
            return fail_kind(at, must, e);
        }
        snprintf(text, sizeof text, "%zu", json_array_size(at->value));
        return ss_json_fail(at, e, "must be %s, not of %s", must, text);
    }
    ss_status status = SS_OK;
    for (size_t i = 0; i < count && status == SS_OK; i++) {
        const ss_json item = ss_json_item(at, i);
        status = take_real(&item, SS_JSON_REAL, &to[i], e);
    }
    return status;
}

static ss_status take_matrix(const ss_json *at, ss_mat3 *to, ss_error *e)
{
    if (!json_is_array(at->value) || json_array_size(at->value) != 3) {
        return fail_kind(at, "an array of 3 columns", e);
    }
    ss_status status = SS_OK;
    for (size_t i = 0; i < 3 && status == SS_OK; i++) {
        const ss_json item = ss_json_item(at, i);
        double x[3];
        status = take_numbers(&item, 3, x, e);
        to->c[i] = status == SS_OK ? ss_vec(x[0], x[1], x[2]) : to->c[i];
    }
    return status;
}

static ss_status take_count(const ss_json *at, ss_json_kind kind, int *to, ss_error *e)
{
    const json_int_t n = json_integer_value(at->value), least = kind == SS_JSON_COUNT ? 1 : 0;
    if (!json_is_integer(at->value) || n < least || n > 1000000000) {
        return fail_kind(at, least > 0 ? "a whole number above 0" : "a whole number, 0 or more", e);
    }
    *to = (int)n;
    return SS_OK;
}

static ss_status take_text(const ss_json *at, const char **to, ss_error *e)
{
    if (!json_is_string(at->value) || json_string_length(at->value) == 0) {
        return fail_kind(at, "a text", e);
    }
    *to = json_string_value(at->value);
    return SS_OK;
}

static ss_status take(const ss_json *at, const ss_json_field *field, void *to, ss_error *e)
{
    void *place = (char *)to + field->place;
    double x[3];
    ss_status status = SS_OK;
    switch (field->kind) {
    case SS_JSON_REAL:
    case SS_JSON_POSITIVE:
    case SS_JSON_NOT_NEGATIVE:
        return take_real(at, field->kind, place, e);
    case SS_JSON_COUNT:
    case SS_JSON_WHOLE:
        return take_count(at, field->kind, place, e);
    case SS_JSON_FLAG:
        if (!json_is_boolean(at->value)) {
            return fail_kind(at, "true or false", e);
        }
        *(bool *)place = json_is_true(at->value);
        return SS_OK;
    case SS_JSON_TEXT:
        return take_text(at, place, e);
    case SS_JSON_VECTOR:
        status = take_numbers(at, 3, x, e);
        if (status == SS_OK) {
            *(ss_vec3 *)place = ss_vec(x[0], x[1], x[2]);
        }
        return status;
    case SS_JSON_QUATERNION:
        return take_numbers(at, 4, place, e);
    case SS_JSON_MATRIX:
        return take_matrix(at, place, e);
    case SS_JSON_VALUE:
        *(json_t **)place = at->value;
        return SS_OK;
    }
    return SS_OK;
}

static const ss_json_field *field_of(const ss_json_field *fields, const char *key)
{
    while (fields->key != NULL && strcmp(fields->key, key) != 0) {
        fields++;
    }
    return fields->key != NULL ? fields : NULL;
}

static ss_status fail_unknown(const ss_json *at, const ss_json_field *fields, const char *key,
                              ss_error *e)
{
    char known[300] = "";
    for (const ss_json_field *f = fields; f->key != NULL; f++) {
        const size_t length = strlen(known);
        snprintf(known + length, sizeof known - length, "%s%s", length > 0 ? ", " : "", f->key);
    }
    return ss_json_fail(at, e, "there is no key '%.60s'; the keys are %s", key, known);
}

ss_status ss_json_object(const ss_json *at, const ss_json_field *fields, void *to, ss_error *e)
{
    const char *key;
    json_t *value;
    ss_status status = SS_OK;
    if (!json_is_object(at->value)) {
        return fail_kind(at, "an object", e);
    }
    json_object_foreach(at->value, key, value)
    {
        const ss_json_field *field = field_of(fields, key);
        const ss_json member = {at->file, at, key, 0, value};
        status = field != NULL ? take(&member, field, to, e) : fail_unknown(at, fields, key, e);
        if (status != SS_OK) {
            return status;
        }
    }
    for (const ss_json_field *f = fields; f->key != NULL; f++) {
        if (f->required && json_object_get(at->value, f->key) == NULL) {
            return ss_json_fail(at, e, "'%s' is missing", f->key);
        }
    }
    return SS_OK;
}

// -- Rows of numbers

// The numbers of a line, separated by commas and blanks: how many; -1 if one is none, or too large.
static int line_numbers(char *line, double *to, int room)
{
    int count = 0;
    char *rest;
    for (char *word = strtok_r(line, ", \t\r\n", &rest); word != NULL;
         word = strtok_r(NULL, ", \t\r\n", &rest)) {
        double x;
        if (!ss_number_real(word, -MOST_NUMBER, MOST_NUMBER, &x)) {
            return -1;
        }
        if (count < room) {
            to[count] = x;
        }
        count++;
    }
    return count;
}

static bool is_names(const char *line)
{
    return strpbrk(line, "xyzXYZ") != NULL && strpbrk(line, "0123456789") == NULL;
}

// A row a line; a first line of names and empty lines are passed over.
static ss_status read_csv(const ss_json *at, const char *path, char *text, size_t width,
                          double *numbers, size_t *count, ss_error *e)
{
    int number = 0;
    *count = 0;
    for (char *line = text, *next; line != NULL && *line != '\0'; line = next) {
        next = strchr(line, '\n');
        if (next != NULL) {
            *next++ = '\0';
        }
        number++;
        if (line[strspn(line, " \t\r")] == '\0' || (number == 1 && is_names(line))) {
            continue;
        }
        const int found = line_numbers(line, numbers + *count * width, (int)width);
        if (found < 0) {
            return ss_json_fail(
                at, e, "%s: line %d has a word that is no number from -1e50 to 1e50", path, number);
        }
        if (found != (int)width) {
            return ss_json_fail(at, e, "%s: line %d has %d numbers instead of %zu", path, number,
                                found, width);
        }
        ++*count;
    }
    return SS_OK;
}

// The path beside the JSON file.
static char *beside(const char *file, const char *name)
{
    const char *slash = strrchr(file, '/');
    const int folder = slash != NULL && name[0] != '/' ? (int)(slash - file) + 1 : 0;
    char *path;
    return asprintf(&path, "%.*s%s", folder, file, name) >= 0 ? path : NULL;
}

static size_t count_lines(const char *text)
{
    size_t lines = 1;
    for (const char *at = text; (at = strchr(at, '\n')) != NULL; at++) {
        lines++;
    }
    return lines;
}

static ss_status rows_of_file(const ss_json *at, size_t width, double **numbers, size_t *count,
                              ss_error *e)
{
    char *path = beside(at->file, json_string_value(at->value)), *text = NULL;
    size_t length;
    if (path == NULL) {
        return ss_fail_memory(e, "the path of a file");
    }
    ss_status status = ss_json_prefix(at, read_text(path, &text, &length, e), e);
    if (status == SS_OK) {
        *numbers = malloc(count_lines(text) * width * sizeof **numbers);
        status = *numbers != NULL ? read_csv(at, path, text, width, *numbers, count, e)
                                  : ss_fail_memory(e, path);
    }
    free(path);
    free(text);
    return status;
}

ss_status ss_json_rows(const ss_json *at, size_t width, double **numbers, size_t *count,
                       ss_error *e)
{
    *numbers = NULL;
    *count = 0;
    ss_status status = SS_OK;
    if (width > 1 && json_is_string(at->value)) {
        status = rows_of_file(at, width, numbers, count, e);
    } else if (!json_is_array(at->value)) {
        status =
            fail_kind(at, width > 1 ? "an array of rows or the name of a CSV file" : "an array", e);
    } else {
        *count = json_array_size(at->value);
        *numbers = malloc((*count + 1) * width * sizeof **numbers);
        status = *numbers != NULL ? SS_OK : ss_fail_memory(e, at->file);
        for (size_t i = 0; i < *count && status == SS_OK; i++) {
            const ss_json item = ss_json_item(at, i);
            double *row = *numbers + i * width;
            status = width > 1 ? take_numbers(&item, width, row, e)
                               : take_real(&item, SS_JSON_REAL, row, e);
        }
    }
    if (status != SS_OK) {
        free(*numbers);
        *numbers = NULL;
    }
    return status;
}
