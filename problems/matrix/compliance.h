// problems/matrix/compliance.h -- moved to problems/matrix/delassus.h; this file goes once all includes name that.
#pragma once
#include "problems/matrix/delassus.h"
