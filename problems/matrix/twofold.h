// problems/matrix/twofold.h -- moved to problems/matrix/long_products.h; this file goes once all includes name that.
#pragma once
#include "problems/matrix/long_products.h"
