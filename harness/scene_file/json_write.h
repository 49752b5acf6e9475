// harness/scene_file/json_write.h -- values and members of objects as JSON text, which json.h reads again.
//
// Numbers have the digits that give the same double again.
#pragma once

#include <stdio.h>

#include "strands/geometry.h"

void ss_json_write_real(FILE *out, double x);
void ss_json_write_numbers(FILE *out, const double *x, size_t count);
void ss_json_write_vector(FILE *out, ss_vec3 x);
void ss_json_write_vectors(FILE *out, const ss_vec3 *x, int count);

// A member of an object, after a comma.
void ss_json_put_real(FILE *out, const char *key, double x);
void ss_json_put_text(FILE *out, const char *key, const char *text);
void ss_json_put_vector(FILE *out, const char *key, ss_vec3 x);

// The same on a line of its own, for long arrays.
void ss_json_put_numbers(FILE *out, const char *key, const double *x, int count);
void ss_json_put_vectors(FILE *out, const char *key, const ss_vec3 *x, int count);
