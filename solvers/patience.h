// solvers/patience.h -- moved to base/child.h; this file goes once all includes name that.
#pragma once
#include "base/child.h"
