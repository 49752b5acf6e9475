// base/number.h -- numbers as people write them, in options, specs and tables.
//
// A number is decimal and is the whole text: digits, with a sign, a point and an exponent where
// they may be. Blanks, hexadecimals, inf and nan are refused, and so is a number that a double
// cannot hold: 1e400, or 1e-400, which would be read as 0. Functions return false where the text is
// no number from low to high, and leave *value as it is.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool ss_number_real(const char *text, double low, double high, double *value); // -0 becomes 0
bool ss_number_whole(const char *text, long low, long high,
                     long *value);                      // without point or exponent
bool ss_number_seed(const char *text, uint64_t *value); // digits alone

// Writes the numbers that such a function takes, as an object of "takes": "a whole number from 1 to
// 50".
void ss_number_describe(bool whole, double low, double high, char *text, size_t room);

// Writes a number in the fewest digits, 15 to 17, that give the same double again; or "nan", "inf",
// "-inf".
void ss_number_print(double value, char text[32]);
