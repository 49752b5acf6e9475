// solvers/linear/block_kernels.h -- a part of the template block_numeric.h: products of tiles, and the inverse
// of a panel's block (internal).

// c -= A B of eight rows: A by columns of eight, `inner` of them, the rows of B `stride` apart.
static inline TARGET __attribute__((always_inline)) void NAME(product)(int inner, const REAL *A,
                                                                       const REAL *B, size_t stride,
                                                                       NAME(lanes)
                                                                           c[SS_TILE][VECTORS])
{
    for (int k = 0; k < inner; k++) {
        NAME(lanes) b[VECTORS];
#pragma GCC unroll 2
        for (int j = 0; j < VECTORS; j++) {
            b[j] = *(const NAME(lanes) *)(B + (size_t)k * stride + (size_t)j * LANES);
        }
#pragma GCC unroll 8
        for (int i = 0; i < SS_TILE; i++) {
            const NAME(lanes) a = A[k * SS_TILE + i] - (NAME(lanes)){0};
#pragma GCC unroll 2
            for (int j = 0; j < VECTORS; j++) {
                c[i][j] = LESS(a, b[j], c[i][j]);
            }
        }
    }
}

// C -= L U: tiles of L, strips of U.
static TARGET void NAME(update)(int tiles, int strips, int inner, const REAL *L, const REAL *U,
                                REAL *C, size_t stride)
{
    for (int s = 0; s < strips; s++) {
        const REAL *B = U + (size_t)s * (size_t)inner * WIDE;
        for (int t = 0; t < tiles; t++) {
            const REAL *A = L + (size_t)t * (size_t)inner * SS_TILE;
            REAL *at = C + (size_t)t * SS_TILE * stride + (size_t)s * WIDE;
            const REAL *next = t + 1 < tiles ? at + SS_TILE * stride : C + (size_t)(s + 1) * WIDE;
            NAME(lanes) c[SS_TILE][VECTORS];
#pragma GCC unroll 8
            for (int i = 0; i < SS_TILE; i++) {
#pragma GCC unroll 2
                for (int j = 0; j < VECTORS; j++) {
                    c[i][j] = *(const NAME(lanes) *)(at + (size_t)i * stride + j * LANES);
                }
                __builtin_prefetch(next + (size_t)i * stride);
                __builtin_prefetch(next + (size_t)i * stride + WIDE - 1);
            }
            NAME(product)(inner, A, B, WIDE, c);
#pragma GCC unroll 8
            for (int i = 0; i < SS_TILE; i++) {
#pragma GCC unroll 2
                for (int j = 0; j < VECTORS; j++) {
                    *(NAME(lanes) *)(at + (size_t)i * stride + j * LANES) = c[i][j];
                }
            }
        }
    }
}

// Eight rows of F, b columns, by columns.
static inline TARGET void NAME(turn)(int b, const REAL *F, size_t stride, REAL *tile)
{
    for (int k = 0; k < b; k++) {
        for (int i = 0; i < SS_TILE; i++) {
            tile[k * SS_TILE + i] = F[(size_t)i * stride + (size_t)k];
        }
    }
}

// L = F X by tiles; X [b, wide] is -A_bb^-1.
static TARGET void NAME(scale)(int tiles, int b, const REAL *F, size_t stride, const REAL *X,
                               int wide, REAL *L)
{
    REAL in[SS_PANEL * SS_TILE], out[SS_TILE * SS_PANEL];
    for (int t = 0; t < tiles; t++) {
        NAME(turn)(b, F + (size_t)t * SS_TILE * stride, stride, in);
        for (int at = 0; at < b; at += WIDE) {
            NAME(lanes) c[SS_TILE][VECTORS];
            memset(c, 0, sizeof c);
            NAME(product)(b, in, X + at, (size_t)wide, c);
#pragma GCC unroll 8
            for (int i = 0; i < SS_TILE; i++) {
                memcpy(out + i * SS_PANEL + at, c[i], sizeof c[i]);
            }
        }
        NAME(turn)(b, out, SS_PANEL, L + (size_t)t * SS_TILE * (size_t)b);
    }
}

// A <- A^-1 by Gauss and Jordan with row pivoting, A [m, wide] with zeros behind the m-th column:
// after step k the first k columns hold those of the inverse, up to the order of the columns, which
// the swaps undo at the end. *negative changes where det A < 0.
static TARGET bool NAME(invert)(int m, int wide, REAL *A, bool *negative)
{
    int swaps[SS_PANEL];
    for (int k = 0; k < m; k++) {
        int pivot = k;
        double size = fabs((double)A[k * wide + k]);
        for (int i = k + 1; i < m; i++) {
            const double x = fabs((double)A[i * wide + k]);
            pivot = x > size ? i : pivot;
            size = x > size ? x : size;
        }
        REAL *row = A + k * wide, *other = A + pivot * wide;
        if (!(size > LEAST && size < 1.0 / LEAST)) {
            return false;
        }
        swaps[k] = pivot;
        *negative ^= (pivot != k) != (other[k] < (REAL)0.0);
        const REAL inverse = (REAL)1.0 / other[k];
        for (int j = 0; j < wide; j++) {
            const REAL x = other[j];
            other[j] = row[j];
            row[j] = x * inverse;
        }
        row[k] = inverse;
        for (int r = 0; r < m; r++) {
            REAL *target = A + r * wide;
            const REAL factor = target[k];
            for (int j = 0; r != k && j < wide; j += LANES) {
                NAME(lanes) *to = (NAME(lanes) *)(target + j);
                *to = LESS(factor - (NAME(lanes)){0}, *(const NAME(lanes) *)(row + j), *to);
            }
            target[k] = r != k ? -factor * inverse : inverse;
        }
    }
    for (int k = m - 1; k >= 0; k--) {
        for (int i = 0; swaps[k] != k && i < m; i++) {
            const REAL x = A[i * wide + k];
            A[i * wide + k] = A[i * wide + swaps[k]];
            A[i * wide + swaps[k]] = x;
        }
    }
    return true;
}
