// tests/support/group.c -- what Unity calls around each test.
#include "tests/support/group.h"

#include <stddef.h>

#include "tests/support/support.h"

const test_group *running_group;

void setUp(void)
{
    checks_are_about("");
    if (running_group != NULL && running_group->set_up != NULL) {
        running_group->set_up();
    }
}

void tearDown(void)
{
    if (running_group != NULL && running_group->tear_down != NULL) {
        running_group->tear_down();
    }
}
