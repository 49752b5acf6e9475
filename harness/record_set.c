#include "harness/record_set.h"

#include <stdlib.h>
#include <string.h>

#include "solvers/registry.h"

#define FIRST_CAPACITY 64

void ss_record_set_free(ss_record_set *set)
{
    for (size_t k = 0; k < set->count; k++) {
        ss_record_row_free(set->rows[k]);
        free(set->rows[k]);
    }
    free(set->rows);
    free(set->spare);
    free(set->slots);
    *set = (ss_record_set){0};
}

// The slot of a row with this key, or the free one where it belongs.
static size_t find_slot(const ss_record_set *set, const ss_record_row *key)
{
    const size_t mask = set->nslots - 1;
    size_t slot = (size_t)ss_record_hash_key(key) & mask;
    while (set->slots[slot] != 0 && !ss_record_same_key(set->rows[set->slots[slot] - 1], key)) {
        slot = (slot + 1) & mask;
    }
    return slot;
}

const ss_record_row *ss_record_set_find(const ss_record_set *set, const ss_record_row *key)
{
    const size_t found = set->nslots > 0 ? set->slots[find_slot(set, key)] : 0;
    return found > 0 ? set->rows[found - 1] : NULL;
}

static void fill_slots(ss_record_set *set)
{
    memset(set->slots, 0, set->nslots * sizeof *set->slots);
    for (size_t k = 0; k < set->count; k++) {
        set->slots[find_slot(set, set->rows[k])] = k + 1;
    }
}

static ss_status grow(ss_record_set *set, ss_error *e)
{
    const size_t capacity = set->capacity > 0 ? 2 * set->capacity : FIRST_CAPACITY;
    ss_record_row **rows = realloc(set->rows, capacity * sizeof(ss_record_row *));
    set->rows = rows != NULL ? rows : set->rows;
    size_t *slots = calloc(2 * capacity, sizeof *slots);
    if (rows == NULL || slots == NULL) {
        free(slots);
        return ss_fail_memory(e, "the rows of the results");
    }
    free(set->slots);
    set->slots = slots;
    set->nslots = 2 * capacity;
    set->capacity = capacity;
    fill_slots(set);
    return SS_OK;
}

ss_status ss_record_set_reserve(ss_record_set *set, ss_error *e)
{
    if (set->spare == NULL) {
        set->spare = calloc(1, sizeof *set->spare);
    }
    if (set->spare == NULL) {
        return ss_fail_memory(e, "a row of results");
    }
    return set->count < set->capacity ? SS_OK : grow(set, e);
}

static void drop(ss_record_set *set, size_t k)
{
    ss_record_row_free(set->rows[k]);
    free(set->rows[k]);
    set->count--;
    memmove(set->rows + k, set->rows + k + 1, (set->count - k) * sizeof *set->rows);
    fill_slots(set);
}

// A problem that could be read has no use for the row that says it could not.
static void drop_stand_in(ss_record_set *set, const ss_record_row *row)
{
    ss_record_row key = *row;
    ss_record_stand_in(row->problem, key.problem_sha256);
    const size_t found = set->slots[find_slot(set, &key)];
    if (found > 0 && set->rows[found - 1] != row) {
        drop(set, found - 1);
    }
}

void ss_record_set_put(ss_record_set *set, ss_record_row *row)
{
    const char *bare = ss_spec_bare(row->solver);
    memmove(row->solver, bare, strlen(bare) + 1);
    size_t *slot = &set->slots[find_slot(set, row)];
    if (*slot == 0) {
        set->rows[set->count++] = set->spare;
        set->spare = NULL;
        *slot = set->count;
    }
    ss_record_row *place = set->rows[*slot - 1];
    ss_record_row_free(place);
    *place = *row;
    row->history = (ss_history){0};
    drop_stand_in(set, place);
}
