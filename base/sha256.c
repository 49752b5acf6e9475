// base/sha256.c -- SHA-256 after FIPS 180-4: sections 4.1.2 (functions), 4.2.2 (constants),
// 5.1.1 (padding), 5.3.3 (initial value) and 6.2 (the computation), in the symbols used there.
#include "base/sha256.h"

#include <stdio.h>
#include <string.h>

#define BLOCK_BYTES  64
#define LENGTH_PLACE 56 // place of the message's length in its last block

// 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate_right(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static uint32_t load_big_endian(const uint8_t bytes[4])
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

// 6.2.2 step 1: the message schedule.
static void expand_block(const uint8_t block[BLOCK_BYTES], uint32_t W[64])
{
    for (int t = 0; t < 16; t++) {
        W[t] = load_big_endian(block + 4 * t);
    }
    for (int t = 16; t < 64; t++) {
        const uint32_t x = W[t - 15], y = W[t - 2];
        const uint32_t sigma0 = rotate_right(x, 7) ^ rotate_right(x, 18) ^ x >> 3;
        const uint32_t sigma1 = rotate_right(y, 17) ^ rotate_right(y, 19) ^ y >> 10;
        W[t] = sigma1 + W[t - 7] + sigma0 + W[t - 16];
    }
}

// 6.2.2 steps 2 to 4.
static void mix_block(uint32_t H[8], const uint8_t block[BLOCK_BYTES])
{
    uint32_t W[64];
    expand_block(block, W);
    uint32_t a = H[0], b = H[1], c = H[2], d = H[3], e = H[4], f = H[5], g = H[6], h = H[7];
    for (int t = 0; t < 64; t++) {
        const uint32_t Sigma1 = rotate_right(e, 6) ^ rotate_right(e, 11) ^ rotate_right(e, 25);
        const uint32_t T1 = h + Sigma1 + ((e & f) ^ (~e & g)) + K[t] + W[t];
        const uint32_t Sigma0 = rotate_right(a, 2) ^ rotate_right(a, 13) ^ rotate_right(a, 22);
        const uint32_t T2 = Sigma0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g;
        g = f;
        f = e;
        e = d + T1;
        d = c;
        c = b;
        b = a;
        a = T1 + T2;
    }
    const uint32_t mixed[8] = {a, b, c, d, e, f, g, h};
    for (int k = 0; k < 8; k++) {
        H[k] += mixed[k];
    }
}

void ss_sha256_init(ss_sha256 *hash)
{
    *hash = (ss_sha256){.state = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
                                  0x9b05688c, 0x1f83d9ab, 0x5be0cd19}};
}

void ss_sha256_update(ss_sha256 *hash, const void *bytes, size_t count)
{
    const uint8_t *next = bytes;
    while (count > 0) {
        const size_t waiting = (size_t)(hash->length % BLOCK_BYTES);
        const size_t room = BLOCK_BYTES - waiting;
        const size_t taken = count < room ? count : room;
        memcpy(hash->block + waiting, next, taken);
        if (taken == room) {
            mix_block(hash->state, hash->block);
        }
        hash->length += taken;
        next += taken;
        count -= taken;
    }
}

void ss_sha256_final(ss_sha256 *hash, uint8_t digest[SS_SHA256_BYTES])
{
    static const uint8_t PADDING[BLOCK_BYTES] = {0x80};
    const uint64_t bits = 8 * hash->length;
    const size_t waiting = (size_t)(hash->length % BLOCK_BYTES);
    const size_t end = waiting < LENGTH_PLACE ? LENGTH_PLACE : LENGTH_PLACE + BLOCK_BYTES;
    ss_sha256_update(hash, PADDING, end - waiting);
    uint8_t length[8];
    for (int k = 0; k < 8; k++) {
        length[k] = (uint8_t)(bits >> (56 - 8 * k));
    }
    ss_sha256_update(hash, length, sizeof length);
    for (int k = 0; k < SS_SHA256_BYTES; k++) {
        digest[k] = (uint8_t)(hash->state[k / 4] >> (24 - 8 * (k % 4)));
    }
}

void ss_sha256_hex(ss_sha256 *hash, int count, char *hex)
{
    uint8_t digest[SS_SHA256_BYTES];
    ss_sha256_final(hash, digest);
    for (int k = 0; k < count; k++) {
        snprintf(hex + 2 * k, 3, "%02x", (unsigned)digest[k]);
    }
}
