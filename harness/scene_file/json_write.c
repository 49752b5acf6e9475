// JSON text (json_write.h).
#include "harness/scene_file/json_write.h"

#include <string.h>

#include "base/number.h"
#include "harness/quote.h"

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
