// tests/fuzz_file.c -- libFuzzer target: any bytes as a file, all the way to a verdict.
//
// Whatever the bytes are, every problem of the file loads or is refused as bad input. libhdf5 may
// die in the child that decodes, which is one of the refusals; sanitizers of that child must not
// report to the fuzzer.
#include <fcntl.h>
#include <pthread.h>
#include <sanitizer/common_interface_defs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "problems/store.h"

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

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
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

static void check_status(ss_status status, const ss_error *error)
{
    if (status != SS_OK && status != SS_BAD_INPUT) {
        fprintf(stderr, "%s\n", error->text);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    ss_reader *reader = NULL;
    ss_error error;
    write_file(bytes, size);
    check_status(ss_reader_open(path, &reader, &error), &error);
    for (int k = 0; reader != NULL && k < ss_reader_count(reader); k++) {
        ss_problem *problem = NULL;
        ss_report report = {0};
        check_status(ss_reader_load(reader, k, &problem, &report, &error), &error);
        ss_problem_free(problem);
        ss_report_free(&report);
    }
    ss_reader_close(reader);
    return 0;
}
