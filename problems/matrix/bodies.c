#include "problems/matrix/bodies.h"

#include <stdlib.h>
#include <string.h>

static int find_root(int *parent, int j)
{
    while (parent[j] != j) {
        parent[j] = parent[parent[j]];
        j = parent[j];
    }
    return j;
}

// Union and find; the root of a tree is its smallest dof, so that one ascending pass at the end
// points every dof straight at it.
void ss_components(const ss_sparse *M, int *first)
{
    for (int j = 0; j < M->ncols; j++) {
        first[j] = j;
    }
    for (int j = 0; j < M->ncols; j++) {
        int root = find_root(first, j);
        for (int k = M->start[j]; k < M->start[j + 1]; k++) {
            if (first[M->row[k]] != root) {
                const int other = find_root(first, M->row[k]);
                const int smaller = other < root ? other : root;
                first[root] = first[other] = smaller;
                root = smaller;
            }
        }
    }
    for (int j = 0; j < M->ncols; j++) {
        first[j] = first[first[j]];
    }
}

// Dofs that M couples to no other are grouped by the set of contacts that touch them, by refining
// one class a contact at a time: members of a class that the contact touches move on to a new one.
// same[j] names the class of dof j. Classes are never more than entries of H plus one.
typedef struct classes {
    int count;
    int *made_by;  // contact that made the class, -1 for class 0
    int *split_by; // last contact that split the class
    int *moved_to; // where that contact moved members
} classes;

static void touch(classes *c, int contact, int *same)
{
    if (c->made_by[*same] == contact) {
        return; // another component of this contact has moved the dof already
    }
    if (c->split_by[*same] != contact) {
        c->split_by[*same] = contact;
        c->moved_to[*same] = c->count;
        c->made_by[c->count] = contact;
        c->split_by[c->count] = -1;
        c->count++;
    }
    *same = c->moved_to[*same];
}

static bool allocate_classes(classes *c, const ss_problem *p)
{
    const size_t room = (size_t)ss_sparse_count(&p->H) + 1;
    c->made_by = malloc(room * sizeof *c->made_by);
    c->split_by = malloc(room * sizeof *c->split_by);
    c->moved_to = malloc(room * sizeof *c->moved_to);
    if (c->made_by == NULL || c->split_by == NULL || c->moved_to == NULL) {
        return false;
    }
    c->count = 1;
    c->made_by[0] = c->split_by[0] = -1;
    return true;
}

static void free_classes(classes *c)
{
    free(c->made_by);
    free(c->split_by);
    free(c->moved_to);
}

// single[j]: dof j is a component of its own. Points the single dofs of one class at its smallest.
static bool join_alike_singles(const ss_problem *p, const bool *single, int *first)
{
    classes c = {0};
    int *same = calloc((size_t)p->ndofs + 1, sizeof *same);
    const bool ok = allocate_classes(&c, p) && same != NULL;
    for (int column = 0; ok && column < p->H.ncols; column++) {
        for (int k = p->H.start[column]; k < p->H.start[column + 1]; k++) {
            if (single[p->H.row[k]]) {
                touch(&c, column / p->dim, &same[p->H.row[k]]);
            }
        }
    }
    if (ok) {
        int *smallest = c.moved_to; // its work is done
        memset(smallest, -1, (size_t)c.count * sizeof *smallest);
        for (int j = 0; j < p->ndofs; j++) {
            // Stores are rare, so that the next dof seldom waits for one.
            if (single[j] && smallest[same[j]] < 0) {
                smallest[same[j]] = j;
            }
            first[j] = single[j] ? smallest[same[j]] : first[j];
        }
    }
    free_classes(&c);
    free(same);
    return ok;
}

// single[j] where no other dof has the same component. Whether there is one.
static bool find_singles(const int *first, int ndofs, bool *single)
{
    int others = 0;
    memset(single, 1, (size_t)ndofs * sizeof *single);
    for (int j = 0; j < ndofs; j++) {
        if (first[j] != j) {
            others += single[first[j]] + 1;
            single[first[j]] = single[j] = false;
        }
    }
    return others < ndofs;
}

// Numbers the bodies by their first dofs and lists the dofs of each in ascending order.
static bool number_bodies(const int *first, ss_bodies *b)
{
    for (int j = 0; j < b->ndofs; j++) {
        b->body_of[j] = first[j] == j ? b->nbodies++ : b->body_of[first[j]];
    }
    b->start = calloc((size_t)b->nbodies + 1, sizeof *b->start);
    if (b->start == NULL) {
        return false;
    }
    // Dofs of a body mostly follow each other: the number of those so far is at hand.
    int body = 0, count = 0;
    for (int j = 0; j < b->ndofs; j++) {
        if (b->body_of[j] != body) {
            body = b->body_of[j];
            count = b->start[body + 1];
        }
        b->place[j] = count++;
        b->start[body + 1] = count;
    }
    for (int k = 0; k < b->nbodies; k++) {
        b->start[k + 1] += b->start[k];
    }
    for (int j = 0; j < b->ndofs; j++) {
        b->dofs[b->start[b->body_of[j]] + b->place[j]] = j;
    }
    return true;
}

ss_status ss_bodies_find(const ss_problem *p, ss_bodies *bodies, ss_error *e)
{
    const size_t n = (size_t)p->ndofs;
    *bodies = (ss_bodies){.ndofs = p->ndofs,
                          .body_of = malloc(n * sizeof *bodies->body_of),
                          .place = malloc(n * sizeof *bodies->place),
                          .dofs = malloc(n * sizeof *bodies->dofs)};
    int *first = malloc(n * sizeof *first);
    bool *single = malloc(n * sizeof *single);
    bool ok = bodies->body_of != NULL && bodies->place != NULL && bodies->dofs != NULL &&
              first != NULL && single != NULL;
    if (ok) {
        ss_components(&p->M, first);
        const bool any = find_singles(first, p->ndofs, single);
        ok = (!any || join_alike_singles(p, single, first)) && number_bodies(first, bodies);
    }
    free(first);
    free(single);
    if (!ok) {
        ss_bodies_free(bodies);
        return ss_fail_memory(e, "the bodies of a problem");
    }
    return SS_OK;
}

void ss_bodies_free(ss_bodies *bodies)
{
    free(bodies->body_of);
    free(bodies->place);
    free(bodies->start);
    free(bodies->dofs);
    *bodies = (ss_bodies){0};
}
