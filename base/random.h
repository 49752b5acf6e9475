// base/random.h -- random numbers with the same bits on every compiler and machine.
//
// xoshiro256++ seeded by splitmix64 (Blackman and Vigna 2018). Logarithm and exponential are
// computed here from + - * / alone: libm picks its kernels by CPU, so its bits may differ between
// machines, and a seed must name one problem everywhere.
#pragma once

#include <stdint.h>

typedef struct ss_random {
    uint64_t state[4];
} ss_random;

ss_random ss_random_seeded(uint64_t seed);
uint64_t ss_random_bits(ss_random *g);
double ss_random_uniform(ss_random *g);                               // [0, 1), 53 bits
double ss_random_between(ss_random *g, double low, double high);      // uniform
double ss_random_log_between(ss_random *g, double low, double high);  // log-uniform, 0 < low
double ss_random_normal(ss_random *g);                                // mean 0, variance 1
int ss_random_below(ss_random *g, int n);                             // 0 .. n - 1, n >= 1
void ss_random_direction(ss_random *g, int dim, double direction[3]); // unit vector

double ss_portable_log(double x); // x > 0, normal, finite
double ss_portable_exp(double x); // |x| <= 700
