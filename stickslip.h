// stickslip.h -- everything the library libstickslip offers.
//
// libstickslip holds what the program `stickslip` is made of: one-step problems with Coulomb
// friction, what it means to solve one and how far an answer is from it, their storage in FCLIB's
// HDF5 layout, the solvers, and scenes of strands that make such problems. A simulator links it to
// write the problems it meets, to read them back, and to have an answer judged. Functions that can
// fail return an ss_status and write one sentence into an ss_error; nothing here exits or prints.
// There is no global state: separate objects may be used from separate threads, but for those of
// store.h, as libhdf5 behind it is rarely built for threads.
//
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
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

#include "problems/certificate.h"
#include "problems/check.h"
#include "problems/coulomb.h"
#include "problems/delassus.h"
#include "problems/field.h"
#include "problems/keys.h"
#include "problems/tangle/locals.h"
#include "problems/mass.h"
#include "problems/problem.h"
#include "problems/tangle/random.h"
#include "problems/response.h"
#include "problems/sparse.h"
#include "problems/status.h"
#include "problems/stop.h"
#include "problems/store/store.h"
#include "problems/tangle/tangle.h"

#include "problems/strands/contact/collide.h"
#include "problems/strands/step/batch.h"
#include "problems/strands/geometry.h"
#include "problems/strands/material.h"
#include "problems/strands/model.h"
#include "problems/strands/motion.h"
#include "problems/strands/quaternion.h"
#include "problems/strands/contact/obstacle.h"
#include "problems/strands/scenes/scene.h"
#include "problems/strands/step/scheme.h"
#include "problems/strands/step/step.h"
#include "problems/strands/step/system.h"
#include "problems/strands/contact/track.h"
#include "problems/strands/world.h"

#include "solvers/contact.h"
#include "solvers/registry.h"
#include "solvers/solver.h"

#ifdef __cplusplus
}
#endif
