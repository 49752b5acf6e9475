// base/save.h -- a file is replaced whole or not at all.
#pragma once

#include <stddef.h>
#include <stdio.h>

#include "base/status.h"

// Puts `count` bytes at `path`: into a new file beside it, made durable and then renamed over it.
// On failure, and when a signal ends the program meanwhile, the old file is as it was and nothing
// lies beside it. SIGKILL and a power cut leave the old file whole too. In the instant before it is
// replaced, or at any time on file systems without O_TMPFILE, they may leave the new one beside it,
// called like it (shortened if the name would be too long) with six hexadecimal digits after a
// dot. A symbolic link is followed, and one that leads nowhere is refused; a pipe or a device is
// written into. The permissions of an old file are kept. SS_SYSTEM with a sentence
// that names `path`.
ss_status ss_save(const char *path, const void *bytes, size_t count, ss_error *e);

// Puts the text that `print` prints of `what` at `path` in the same way. SS_SYSTEM without memory
// for it, too.
typedef void ss_save_printer(FILE *out, const void *what);
ss_status ss_save_printed(const char *path, ss_save_printer *print, const void *what, ss_error *e);

// Checks before there is anything to write that the folder exists and takes new files, and that
// `path` is no folder itself. SS_SYSTEM with a sentence that names `path`.
ss_status ss_save_try(const char *path, ss_error *e);

// Makes a folder unless it is there. SS_SYSTEM with a sentence that names `path`.
ss_status ss_save_folder(const char *path, ss_error *e);
