// harness/record/machine.h -- what a measurement should say of its circumstances.
#pragma once

#include <stddef.h>

#include "base/field.h"

typedef struct ss_machine {
    char host[64];
    char machine[96]; // "Intel(R) Xeon(R) ... , 2 cores"
    char system[160]; // "Linux 6.1.0-18-amd64 x86_64"
    double memory_gb;
} ss_machine;

extern const ss_field ss_machine_fields[];

ss_machine ss_machine_describe(void);

// Each writes at most `room` characters, the terminating 0 among them.
void ss_machine_processor(char *text, size_t room); // its name; "" if it is not known
void ss_machine_date(char *text, size_t room);      // now, ISO 8601, UTC
// "version commit flags"; if that is too long its end is replaced by '~' and part of its hash.
void ss_machine_build(char *text, size_t room);

// The name of an instruction set that the program was compiled for (-march=native) and that this
// processor has not, so that a solver would die of SIGILL; NULL if there is none.
const char *ss_machine_lacks(void);

double ss_machine_load(void); // average over the last minute; NaN if it is not known
