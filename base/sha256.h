// base/sha256.h -- the SHA-256 hash of FIPS 180-4, fed piece by piece.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define SS_SHA256_BYTES 32

typedef struct ss_sha256 {
    uint32_t state[8];
    uint64_t length;   // bytes taken so far
    uint8_t block[64]; // the first length % 64 bytes wait to be mixed in
} ss_sha256;

void ss_sha256_init(ss_sha256 *hash);
void ss_sha256_update(ss_sha256 *hash, const void *bytes, size_t count);
// Leaves the hash used up: init before it is fed again.
void ss_sha256_final(ss_sha256 *hash, uint8_t digest[SS_SHA256_BYTES]);
// Does so, and writes the first `count` bytes as hexadecimal digits, with a zero behind them.
void ss_sha256_hex(ss_sha256 *hash, int count, char *hex);
