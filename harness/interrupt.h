// harness/interrupt.h -- Ctrl-C ends a long verb at the next place where nothing is lost.
#pragma once

#include <signal.h>

// Set by the first SIGINT, SIGTERM or SIGHUP after ss_interrupt_catch. A handler has no other way to tell:
// the only state of the program that is not in a parameter.
extern volatile sig_atomic_t ss_interrupted;

// A second signal ends the program. What nohup or a shell script has set to be ignored stays so.
void ss_interrupt_catch(void);
