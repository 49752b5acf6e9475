// tests/support/rod_errors.h -- how far rods of n edges rest from where they should, in lengths.
//
// For models that hold the first edge of a clamped rod, whose free length, ROD_LENGTH, begins in its middle.
#pragma once

#define ROD_LENGTH 0.1 // m

// The tip of a straight level rod from that of the heavy elastica: `drop` and `reach` in lengths.
double elastica_error(const char *spec, int n, double gamma, double drop, double reach);

// The tip of a natural helix of two turns that hangs from a level clamp, from Kirchhoff's.
double helix_error(const char *spec, int n);

// The middle of a flat rod, naturally bent and twisted, between two clamps that hold its ends elsewhere
// than is natural, from Kirchhoff's.
double between_clamps_error(const char *spec, int n);
