// harness/report/pack.h -- bytes as a page holds them: deflated (zlib's format) and in base64.
#pragma once

#include "base/status.h"

#include <stddef.h>

// *packed [*length], which the caller frees: `bytes` deflated.
ss_status ss_pack_deflate(const void *bytes, size_t count, void **packed, size_t *length,
                          ss_error *e);
// The text of `bytes` in base64, ended by a zero, which the caller frees; NULL without memory.
char *ss_pack_base64(const void *bytes, size_t count);
