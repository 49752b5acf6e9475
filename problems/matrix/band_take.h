// problems/matrix/band_take.h -- moved to problems/matrix/banded.h; this file goes once all includes name that.
#pragma once
#include "problems/matrix/banded.h"
