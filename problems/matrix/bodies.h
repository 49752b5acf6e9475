// problems/matrix/bodies.h -- moved to problems/matrix/mass.h; this file goes once all includes name that.
#pragma once
#include "problems/matrix/mass.h"
