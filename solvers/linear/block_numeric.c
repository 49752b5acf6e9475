// The numbers of block_lu in floats and doubles, for three kinds of CPU, chosen when it runs: a
// program that was built for any x86-64 is as fast as one for this machine.
#include <math.h>
#include <string.h>

#include "solvers/linear/block_front.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

// Multiplications between two questions whether to stop, some 2 ms, and how many of them a number
// is worth that is moved, to memory that the system may have yet to find.
#define ASK_EVERY 3e7
#define MOVING    100.0

#define LEAST_ROWS (2 * SS_TILE)

// Rows behind a panel that a thread takes at a time: few, so that nobody waits long for the last, and not so
// few that reading the panel again costs more than that.
static int shared_rows(int behind, int threads)
{
    const int each = ss_rounded(behind / (8 * threads) + 1, SS_TILE);
    return each > LEAST_ROWS ? each : LEAST_ROWS;
}

#define NUMBER_NS 0.05 // of a number of the factor, backward

// Pivots beyond are singular or not finite.
#define LEAST_FLOAT  1e-30
#define LEAST_DOUBLE 1e-300

#define TARGET
#define VECTORS       2
#define LESS(a, b, c) ((c) - (a) * (b))

#define REAL    float
#define LANES   4
#define LEAST   LEAST_FLOAT
#define NAME(x) x##_float
#include "solvers/linear/block_numeric.h"
#define REAL    double
#define LANES   2
#define LEAST   LEAST_DOUBLE
#define NAME(x) x##_double
#include "solvers/linear/block_numeric.h"
#undef TARGET
#undef LESS

#ifdef __x86_64__

#define TARGET __attribute__((target("avx2,fma")))

#define REAL          float
#define LANES         8
#define LEAST         LEAST_FLOAT
#define NAME(x)       x##_float_avx2
#define LESS(a, b, c) ((NAME(lanes))_mm256_fnmadd_ps((__m256)(a), (__m256)(b), (__m256)(c)))
#include "solvers/linear/block_numeric.h"
#undef LESS
#define REAL          double
#define LANES         4
#define LEAST         LEAST_DOUBLE
#define NAME(x)       x##_double_avx2
#define LESS(a, b, c) ((NAME(lanes))_mm256_fnmadd_pd((__m256d)(a), (__m256d)(b), (__m256d)(c)))
#include "solvers/linear/block_numeric.h"
#undef LESS
#undef TARGET

#define TARGET __attribute__((target("avx512f,avx2,fma")))

#define REAL          float
#define LANES         16
#define LEAST         LEAST_FLOAT
#define NAME(x)       x##_float_avx512
#define LESS(a, b, c) ((NAME(lanes))_mm512_fnmadd_ps((__m512)(a), (__m512)(b), (__m512)(c)))
#include "solvers/linear/block_numeric.h"
#undef LESS
#define REAL          double
#define LANES         8
#define LEAST         LEAST_DOUBLE
#define NAME(x)       x##_double_avx512
#define LESS(a, b, c) ((NAME(lanes))_mm512_fnmadd_pd((__m512d)(a), (__m512d)(b), (__m512d)(c)))
#include "solvers/linear/block_numeric.h"

#endif

static const ss_block_numeric ANY[2] = {{factor_double, solve_double}, {factor_float, solve_float}};

#ifdef __x86_64__
static const ss_block_numeric AVX2[2] = {{factor_double_avx2, solve_double_avx2},
                                         {factor_float_avx2, solve_float_avx2}};
static const ss_block_numeric AVX512[2] = {{factor_double_avx512, solve_double_avx512},
                                           {factor_float_avx512, solve_float_avx512}};
#endif

const ss_block_numeric *ss_block_numeric_kind(int kind, bool is_short)
{
#ifdef __x86_64__
    if (kind == 2) {
        return __builtin_cpu_supports("avx512f") ? &AVX512[is_short] : NULL;
    }
    if (kind == 1) {
        const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
        return has ? &AVX2[is_short] : NULL;
    }
#endif
    return kind == 0 ? &ANY[is_short] : NULL;
}

const ss_block_numeric *ss_block_numeric_of(bool is_short)
{
    int kind = SS_BLOCK_KINDS - 1;
    while (ss_block_numeric_kind(kind, is_short) == NULL) {
        kind--;
    }
    return ss_block_numeric_kind(kind, is_short);
}
