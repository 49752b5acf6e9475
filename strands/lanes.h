// strands/lanes.h -- vectors of space whose components are LANEs: one number, or the same number of
// many things side by side (internal).
//
// A template: whoever includes it has defined LANE, which is double or a GNU vector of doubles. Every
// operation is done on each lane alone, so that its bits do not depend on its neighbours.
#pragma once

typedef struct lane3 {
    LANE x, y, z;
} lane3;

static inline lane3 lane3_plus(lane3 a, lane3 b)
{
    return (lane3){a.x + b.x, a.y + b.y, a.z + b.z};
}

static inline lane3 lane3_minus(lane3 a, lane3 b)
{
    return (lane3){a.x - b.x, a.y - b.y, a.z - b.z};
}

// a + k b
static inline lane3 lane3_along(lane3 a, LANE k, lane3 b)
{
    return (lane3){a.x + k * b.x, a.y + k * b.y, a.z + k * b.z};
}

static inline lane3 lane3_scaled(LANE k, lane3 a)
{
    return (lane3){k * a.x, k * a.y, k * a.z};
}

static inline LANE lane3_dot(lane3 a, lane3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline lane3 lane3_cross(lane3 a, lane3 b)
{
    return (lane3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
