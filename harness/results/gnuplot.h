// harness/results/gnuplot.h -- gnuplot, called as a program.
#pragma once

#include "problems/status.h"

// Runs gnuplot on a script, in the script's own folder, so that the names in it are relative.
// An interrupt from the terminal does not reach it. SS_SYSTEM with what it says where it fails.
ss_status ss_gnuplot(const char *script, ss_error *e);
