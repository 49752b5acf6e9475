// harness/report/parts.h -- the page without its data, made by embed.py when the program is built.
//
// Style, script, the chart library and its licence are in it. Between the parts stand, in this
// order: the title, the text for browsers without scripts, and the elements of the data.
#pragma once

#include <stddef.h>

enum { SS_PAGE_PARTS = 4 };

typedef struct ss_page_part {
    const unsigned char *bytes;
    size_t length;
} ss_page_part;

extern const ss_page_part ss_page_parts[SS_PAGE_PARTS];
