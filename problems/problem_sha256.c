// problems/problem_sha256.c -- the checksum that names a problem.
//
// SHA-256 over the text "stickslip problem 1\n" and then a row of words of eight bytes, least
// significant first:
//
//     form (0 local, 1 global), dim, ncontacts, ndofs, mu
//     local form:     W.start, W.row, W.x, b
//     global form:    M.start, M.row, M.x, H.start, H.row, H.x, f, w
//
// An integer is a word in two's complement, a number the bits of its IEEE 754 double as they are,
// so that 0 and -0 differ. Sizes come first and `start` tells how many entries follow, so two
// problems cannot give the same words. Neither the layout of a file nor the machine plays a part.
#include "problems/problem.h"

#include <stdio.h>
#include <string.h>

#include "base/sha256.h"

static void put_word(ss_sha256 *hash, uint64_t word)
{
    uint8_t bytes[8];
    for (int k = 0; k < 8; k++) {
        bytes[k] = (uint8_t)(word >> (8 * k));
    }
    ss_sha256_update(hash, bytes, sizeof bytes);
}

static void put_integer(ss_sha256 *hash, int value)
{
    put_word(hash, (uint64_t)(int64_t)value);
}

static void put_integers(ss_sha256 *hash, const int *values, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        put_integer(hash, values[k]);
    }
}

static void put_numbers(ss_sha256 *hash, const double *values, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        uint64_t bits;
        memcpy(&bits, &values[k], sizeof bits);
        put_word(hash, bits);
    }
}

static void put_matrix(ss_sha256 *hash, const ss_sparse *A)
{
    const size_t count = (size_t)ss_sparse_count(A);
    put_integers(hash, A->start, (size_t)A->ncols + 1);
    put_integers(hash, A->row, count);
    put_numbers(hash, A->x, count);
}

void ss_problem_sha256(const ss_problem *p, char hex[65])
{
    static const char HEADER[] = "stickslip problem 1\n";
    hex[0] = '\0';
    if (ss_problem_check_sizes(p, NULL) != SS_OK) {
        return;
    }
    const size_t contacts = (size_t)p->ncontacts;
    const size_t components = (size_t)p->dim * contacts;
    ss_sha256 hash;
    ss_sha256_init(&hash);
    ss_sha256_update(&hash, HEADER, strlen(HEADER));
    put_integer(&hash, p->form == SS_GLOBAL ? 1 : 0);
    put_integer(&hash, p->dim);
    put_integer(&hash, p->ncontacts);
    put_integer(&hash, p->ndofs);
    put_numbers(&hash, p->mu, contacts);
    if (p->form == SS_GLOBAL) {
        put_matrix(&hash, &p->M);
        put_matrix(&hash, &p->H);
        put_numbers(&hash, p->f, (size_t)p->ndofs);
        put_numbers(&hash, p->w, components);
    } else {
        put_matrix(&hash, &p->W);
        put_numbers(&hash, p->b, components);
    }
    ss_sha256_hex(&hash, SS_SHA256_BYTES, hex);
}
