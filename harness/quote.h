// harness/quote.h -- a text of others within the text of an interpreter: the only place that knows
// how.
//
// Names of files, problems, solvers and scenes come from outside and may hold anything. Whoever
// prints one into a script, a page, a table or onto a terminal prints it by ss_quote: its
// interpreter then finds a text there and nothing to obey. (SQL has none: values are bound.) The
// scripts of a page have the same functions in harness/report/quote.js.
//
// A character that cannot be shown is a control character (C0, DEL, C1), one that breaks or turns a
// line (U+2028 to U+202E, U+2066 to U+2069), or no character at all: U+FFFE, U+FFFF, and bytes that
// are no UTF-8. Where people read it is a '?'; a shell, CSV and JSON, which programs read, are
// given the same text.
#pragma once

#include <stdbool.h>
#include <stdio.h>

typedef enum ss_language {
    SS_PLAIN,    // a line on a terminal, or a comment of a data file
    SS_GNUPLOT,  // in double quotes; what draws it says noenhanced, or _ and ^ have a meaning
    SS_SHELL,    // a word; in quotes where it needs them
    SS_HTML,     // between tags, or in an attribute's quotes; lines stay
    SS_MARKDOWN, // of GitHub
    SS_LATEX,
    SS_CSV,  // a cell; in quotes where RFC 4180 asks for them
    SS_JSON, // in double quotes, and fit to stand in a page's script
} ss_language;

// Prints the text as the language writes it, with its quotes.
void ss_quote(FILE *out, ss_language language, const char *text);

// A quoted character, without the quotes around the whole text.
typedef struct ss_quoted {
    char bytes[24];
    size_t count;
} ss_quoted;
// Takes the character at *at and moves on to the next; returns false at the end of the text.
bool ss_quote_next(ss_language language, const char **at, ss_quoted *next);

// Makes of a text, in place, what SS_PLAIN shows of it.
void ss_make_printable(char *text);
// Returns whether that would change nothing.
bool ss_is_printable(const char *text);
