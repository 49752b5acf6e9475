// problems/tangle/tangle_tower.h -- a tower of boxes in the place of a tangle's rods.
//
// Box k stands on box k - 1, the first on the ground; each is `tower` times as heavy as the one
// below it. Contacts are dealt evenly to the faces that touch and lie anywhere in them, all normals
// upright. The dofs of a box are the velocity of its centre and its rate of turn, and M is diagonal
// within a dense block. The step adds gravity and a push to the side of each box. Few contacts
// suffice to make Gauss and Seidel's method crawl: what holds the heavy box on top is found face
// after face, and the share of each contact of a face from next to nothing. SI units.
//
// With planks >= 2 a layer has so many equal flat blocks side by side, 15 : 3 : 1 and narrower where
// they are many, across those of the layer below, and `tower` is the ratio from layer to layer. Each
// stands flat (w = 0) on all planks below, with its contacts near the corners of the faces. Lifting
// each layer faster than the one below certifies an answer.
#pragma once

#include "problems/tangle/tangle.h"

int ss_tower_layers(const ss_tangle_settings *settings);
int ss_tower_boxes(const ss_tangle_settings *settings);
double
ss_tower_faces(const ss_tangle_settings *settings); // two of planks, or of one and the ground

// dim, ndofs, M, H, mu, f, w of the problem in global form. mass [boxes]: factors on the masses.
// r0: the weight of what is above, dealt evenly; owned by the caller, whatever comes back.
ss_status ss_tower_fill(const ss_tangle_settings *settings, const double *mass, ss_problem *p,
                        double **r0, ss_error *e);
