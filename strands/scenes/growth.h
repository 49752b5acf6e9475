// strands/scenes/growth.h -- one strand that grows edge by edge, and may branch.
#pragma once

#include "strands/scenes/scene.h"

#define SS_GROWTH_MOST 128 // vertices

typedef struct ss_growth {
    int n; // vertices
    bool branches;
    ss_vec3 x[SS_GROWTH_MOST];
    int parent[SS_GROWTH_MOST];
    ss_strand_part part[SS_GROWTH_MOST - 1]; // of the edge to the next vertex
} ss_growth;

// A vertex at `place`.
ss_growth ss_growth_seed(ss_vec3 place);
// An edge from vertex `from` along `way`. The number of the vertex at its end.
int ss_growth_add(ss_growth *g, int from, ss_vec3 way, ss_strand_part part);

// A round section, without a factor of its stretching.
ss_material ss_growth_material(double density, double radius, double young, double relaxation);
// The strand of the request's model, clamped to the body at vertex 0, or by the first edge where
// nothing branches; the world is settled then.
ss_status ss_growth_plant(const ss_growth *g, const ss_material *material,
                          const ss_scene_request *request, int body, ss_world *w, int *number,
                          ss_error *e);
