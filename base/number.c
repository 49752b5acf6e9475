#include "base/number.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool only(const char *text, const char *characters)
{
    return text[0] != '\0' && text[strspn(text, characters)] == '\0';
}

bool ss_number_real(const char *text, double low, double high, double *value)
{
    char *end;
    if (!only(text, "+-.0123456789eE")) { // what strtod takes beyond decimals
        return false;
    }
    errno = 0;
    const double x = strtod(text, &end);
    const bool vanished = x == 0.0 && errno == ERANGE;
    if (end == text || *end != '\0' || vanished || !isfinite(x) || !(x >= low && x <= high)) {
        return false;
    }
    *value = x + 0.0;
    return true;
}

bool ss_number_whole(const char *text, long low, long high, long *value)
{
    char *end;
    if (!only(text, "+-0123456789")) {
        return false;
    }
    errno = 0;
    const long x = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || x < low || x > high) {
        return false;
    }
    *value = x;
    return true;
}

bool ss_number_seed(const char *text, uint64_t *value)
{
    if (!only(text, "0123456789")) {
        return false;
    }
    errno = 0;
    const unsigned long long x = strtoull(text, NULL, 10);
    if (errno != 0) {
        return false;
    }
    *value = x;
    return true;
}

void ss_number_describe(bool whole, double low, double high, char *text, size_t room)
{
    snprintf(text, room, "a %snumber from %.15g to %.15g", whole ? "whole " : "", low, high);
}

// 15 digits survive the way to a double and back, so that a number of fewer digits is printed as it
// was written; %g drops the zeros behind it.
void ss_number_print(double value, char text[32])
{
    int digits = 15;
    do {
        snprintf(text, 32, "%.*g", digits, value);
    } while (digits++ < 17 && !isnan(value) && strtod(text, NULL) != value);
    if (isnan(value)) {
        strcpy(text, "nan"); // without its sign
    }
}
