// base/random.c -- xoshiro256++, and a logarithm and an exponential of + - * / alone.
//
//     log x = k ln 2 + log m,    x = m 2^k, m in [sqrt(1/2), sqrt 2)
//     log m = 2 (q + q^3/3 + q^5/5 + ...),    q = (m - 1) / (m + 1), |q| < 0.172           (1)
//     exp x = 2^k exp t,    t = x - k ln 2, |t| <= ln(2)/2, exp t by its power series       (2)
//
// frexp and ldexp move exponents and are exact; sqrt is rounded correctly by IEEE 754.
#include "base/random.h"

#include "base/assert.h"

#include <math.h>

// ln 2 = LN2_HIGH + LN2_LOW. LN2_HIGH ends in 32 zero bits, so that k LN2_HIGH is exact.
#define LN2_HIGH 0x1.62e42feep-1
#define LN2_LOW  0x1.a39ef35793c76p-33

// Further terms of (1) and (2) are below half a bit.
#define LOG_TERMS  12
#define EXP_DEGREE 15

static uint64_t rotated(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

static uint64_t splitmix(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

ss_random ss_random_seeded(uint64_t seed)
{
    ss_random g;
    for (int k = 0; k < 4; k++) {
        g.state[k] = splitmix(&seed);
    }
    return g;
}

uint64_t ss_random_bits(ss_random *g)
{
    uint64_t *s = g->state;
    const uint64_t bits = rotated(s[0] + s[3], 23) + s[0];
    const uint64_t t = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rotated(s[3], 45);
    return bits;
}

double ss_random_uniform(ss_random *g)
{
    return (double)(ss_random_bits(g) >> 11) * 0x1p-53;
}

double ss_random_between(ss_random *g, double low, double high)
{
    return low + (high - low) * ss_random_uniform(g);
}

double ss_random_log_between(ss_random *g, double low, double high)
{
    const double logarithm = ss_random_between(g, ss_portable_log(low), ss_portable_log(high));
    return fmin(fmax(ss_portable_exp(logarithm), low), high);
}

// Draws by Marsaglia's polar method. Its second value is dropped: a generator holds its bits and
// nothing else.
double ss_random_normal(ss_random *g)
{
    double x, square;
    do {
        const double y = ss_random_between(g, -1.0, 1.0);
        x = ss_random_between(g, -1.0, 1.0);
        square = x * x + y * y;
    } while (square >= 1.0 || square == 0.0);
    return x * sqrt(-2.0 * ss_portable_log(square) / square);
}

// Returns the high half of a 64-bit product. Its bias, n / 2^32, is far too small to matter here.
int ss_random_below(ss_random *g, int n)
{
    ss_assert(n >= 1);
    return (int)(((ss_random_bits(g) >> 32) * (uint64_t)n) >> 32);
}

// Draws points of the cube until one is in the ball, clear of its centre.
void ss_random_direction(ss_random *g, int dim, double direction[3])
{
    double square;
    do {
        square = 0.0;
        for (int k = 0; k < 3; k++) {
            direction[k] = k < dim ? ss_random_between(g, -1.0, 1.0) : 0.0;
            square += direction[k] * direction[k];
        }
    } while (square > 1.0 || square < 1e-4);
    const double length = sqrt(square);
    for (int k = 0; k < 3; k++) {
        direction[k] /= length;
    }
}

double ss_portable_log(double x)
{
    ss_assert(x > 0.0 && isfinite(x));
    int exponent;
    double m = frexp(x, &exponent);
    if (m < 0x1.6a09e667f3bcdp-1) { // sqrt(1/2)
        m *= 2.0;
        exponent--;
    }
    const double q = (m - 1.0) / (m + 1.0);
    double series = 0.0;
    for (int k = LOG_TERMS; k >= 1; k--) {
        series = 1.0 / (2.0 * k + 1.0) + q * q * series;
    }
    const double log_m = 2.0 * q + 2.0 * q * (q * q * series);
    return exponent * LN2_HIGH + (log_m + exponent * LN2_LOW);
}

double ss_portable_exp(double x)
{
    ss_assert(fabs(x) <= 700.0);
    const double quotient = x / (LN2_HIGH + LN2_LOW);
    const int k = (int)(quotient < 0.0 ? quotient - 0.5 : quotient + 0.5);
    const double t = (x - k * LN2_HIGH) - k * LN2_LOW;
    double series = 1.0;
    for (int n = EXP_DEGREE; n >= 2; n--) {
        series = 1.0 + t * series / n;
    }
    return ldexp(1.0 + t * series, k);
}
