// strands/scenes/growth.c -- see growth.h.
#include "strands/scenes/growth.h"

ss_growth ss_growth_seed(ss_vec3 place)
{
    ss_growth g = {.n = 1};
    g.x[0] = place;
    g.parent[0] = -1;
    return g;
}

int ss_growth_add(ss_growth *g, int from, ss_vec3 way, ss_strand_part part)
{
    g->x[g->n] = ss_plus(g->x[from], way);
    g->parent[g->n] = from;
    g->part[g->n - 1] = part;
    g->branches = g->branches || from != g->n - 1;
    return g->n++;
}

ss_material ss_growth_material(double density, double radius, double young, double relaxation)
{
    return (ss_material){.density = density,
                         .radius = radius,
                         .ellipticity = 1.0,
                         .young = young,
                         .poisson = 0.4,
                         .relaxation = relaxation,
                         .stretch = 1.0};
}

ss_status ss_growth_plant(const ss_growth *g, const ss_material *material,
                          const ss_scene_request *request, int body, ss_world *w, int *number,
                          ss_error *e)
{
    const ss_strand_design design = {.material = *material,
                                     .nvertices = g->n,
                                     .vertices = g->x,
                                     .parent = g->branches ? g->parent : NULL,
                                     .nparts = g->n - 1,
                                     .parts = g->part};
    const ss_pose root = ss_pose_identity();
    const ss_status status =
        ss_world_add_strand(w, request->model, &design, body, &root, number, e);
    return status == SS_OK ? ss_world_settle(w, e) : status;
}
