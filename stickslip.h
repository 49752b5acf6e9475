// stickslip.h -- what the library libstickslip offers to a program.
//
// One-step problems with Coulomb friction, what it means to solve one and how far an answer is from
// it, their storage in FCLIB's HDF5 layout, and the solvers. A simulator links it to write the
// problems that it meets, to read them back, to solve them, and to have an answer judged
// (doc/program.c is such a program). Functions that can fail return an ss_status and write one
// sentence into an ss_error; nothing here exits or prints. There is no global state: separate
// objects may be used from separate threads, except for those of store.h, as libhdf5 behind it is
// rarely built for threads.
//
// What these headers declare is exported, and nothing else. They are C17 without extensions.
// Licence: GPL-3.0-or-later, which binds programs that link the library.
//
//     cc program.c $(pkg-config --cflags --libs stickslip)
//
// C++ includes this file, not those below it.
#pragma once

// The headers of libc that the others include, so that none is first met inside extern "C".
#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "base/field.h"
#include "base/keys.h"
#include "base/status.h"
#include "base/stop.h"
#include "problems/check.h"
#include "problems/coulomb.h"
#include "problems/matrix/sparse.h"
#include "problems/problem.h"
#include "problems/response.h"
#include "problems/store/store.h"

#include "solvers/contact.h"
#include "solvers/registry.h"
#include "solvers/solver.h"

#ifdef __cplusplus
}
#endif
