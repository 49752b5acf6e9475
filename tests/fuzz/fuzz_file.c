// tests/fuzz/fuzz_file.c -- libFuzzer target: any bytes as a file, through the program.
//
// Whatever the bytes are, `stickslip check` ends with 0 or 3. libhdf5 may die in the child that
// decodes, which is one way to 3; sanitizers of that child must not report to the fuzzer.
#include <fcntl.h>
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/cli.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static char path[64];

static void forget_fuzzer(void)
{
    __sanitizer_set_death_callback(NULL);
}

static void remove_file(void)
{
    unlink(path);
}

// The program's own output is dropped; the fuzzer keeps a copy of stderr.
static void drop_output(int *argc, char ***argv)
{
    static char option[] = "-close_fd_mask=3";
    char **longer = calloc((size_t)*argc + 2, sizeof *longer);
    if (longer == NULL) {
        abort();
    }
    memcpy(longer, *argv, (size_t)*argc * sizeof *longer);
    longer[(*argc)++] = option;
    *argv = longer;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    drop_output(argc, argv);
    const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(path, sizeof path, "%s/stickslip-fuzz-%d.h5", folder, (int)getpid());
    pthread_atfork(NULL, NULL, forget_fuzzer);
    return atexit(remove_file);
}

static void write_file(const uint8_t *bytes, size_t size)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd) != 0) {
        perror(path);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char program[] = "stickslip", verb[] = "check";
    write_file(bytes, size);
    const int code = ss_main(3, (char *[]){program, verb, path, NULL});
    if (code != SS_EXIT_OK && code != SS_EXIT_BAD_INPUT) {
        abort();
    }
    return 0;
}
