// harness/report/pack.c -- see pack.h.
#include "harness/report/pack.h"

#include <stdlib.h>
#include <zlib.h>

#define LEVEL 6 // 9 takes three times as long for 1 % on the histories of a record

ss_status ss_pack_deflate(const void *bytes, size_t count, void **packed, size_t *length,
                          ss_error *e)
{
    uLongf room = compressBound((uLong)count);
    *packed = malloc(room);
    *length = 0;
    if (*packed == NULL || compress2(*packed, &room, bytes, (uLong)count, LEVEL) != Z_OK) {
        free(*packed);
        *packed = NULL;
        return ss_fail_memory(e, "the data of the page");
    }
    *length = room;
    return SS_OK;
}

char *ss_pack_base64(const void *bytes, size_t count)
{
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = bytes;
    char *text = malloc((count + 2) / 3 * 4 + 1), *out = text;
    if (text == NULL) {
        return NULL;
    }
    for (size_t k = 0; k < count; k += 3) {
        const size_t left = count - k;
        const unsigned b = left > 1 ? in[k + 1] : 0u, c = left > 2 ? in[k + 2] : 0u;
        const unsigned word = (unsigned)in[k] << 16 | b << 8 | c;
        *out++ = DIGITS[word >> 18];
        *out++ = DIGITS[word >> 12 & 63];
        *out++ = left > 1 ? DIGITS[word >> 6 & 63] : '=';
        *out++ = left > 2 ? DIGITS[word & 63] : '=';
    }
    *out = '\0';
    return text;
}
