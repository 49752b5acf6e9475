// strands/contact/track.h -- the identity of contacts from step to step.
//
// A contact is known by its pair of segments (a strand's next or previous segment where the point
// slid over a vertex) and, where a pair has several, by its place on them. Its frame E = [n, t1,
// t2] is carried along by the smallest rotation that turns the old normal into the new one, so that
// its impulse keeps its components.
//
// doc/strands.md, "Tracking".
#pragma once

#include "strands/contact/collide.h"

typedef struct ss_track ss_track;
// team: the caller's, whose threads share what is recalled; NULL: one thread. NULL without memory.
ss_track *ss_track_new(ss_team *team);
void ss_track_free(ss_track *t);

// E [count] frames (columns n, t1, t2) and r [3 count] the impulses over dt to start from, 0 for
// contacts that are new. Returns how many were known. One contact of the step before is recalled by
// one contact at most: by one of the same pair of segments, the nearest ones first, else by one of
// a neighbouring pair that is nearest along both strands, within the length of a segment.
int ss_track_recall(ss_track *t, const ss_touch *touches, int count, double dt, ss_mat3 *E,
                    double *r);
// Keeps what the next step recalls; r over dt in N s is kept as a force, so that a step of another
// size starts well.
ss_status ss_track_keep(ss_track *t, const ss_touch *touches, int count, const ss_mat3 *E,
                        const double *r, double dt, ss_error *e);

// Any frame with this normal, the same for the same normal.
ss_mat3 ss_contact_frame(ss_vec3 n);
// The order of touches (collide.h), for bsearch.
int ss_touch_compare(const void *first, const void *second);
