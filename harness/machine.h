// harness/machine.h -- what a measurement should say of its circumstances.
#pragma once

#include <stddef.h>

// Each writes at most `room` characters, the terminating 0 among them.
void ss_machine_describe(char *text, size_t room); // "Intel(R) Xeon(R) ... , 2 cores"
void ss_machine_date(char *text, size_t room);     // now, ISO 8601, UTC
// "version commit flags"; where that is too long its end is replaced by '~' and part of its hash.
void ss_machine_build(char *text, size_t room);

double ss_machine_load(void); // average over the last minute; NaN where it is not known
