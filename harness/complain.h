// harness/complain.h -- sentences for people, on stderr.
#pragma once

// "stickslip VERB: sentence", or "stickslip: sentence" where verb is "", printed as
// SS_PLAIN (harness/quote.h): names in it may be hostile.
void ss_complain(const char *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

// "s" for every count but one: "1 row", "0 rows".
static inline const char *ss_plural(double count)
{
    return count == 1.0 ? "" : "s";
}

// The candidate nearest to a mistyped word. Start with {.word = word}; best is NULL while nothing
// near enough was offered.
typedef struct ss_suggestion {
    const char *word;
    const char *best;
    int distance; // of best
} ss_suggestion;

void ss_suggestion_offer(ss_suggestion *s, const char *candidate);

typedef struct ss_hint {
    char text[400];
} ss_hint;

// "; did you mean 'inspect'?" with `dashes` before the word, or `otherwise` if nothing is near.
ss_hint ss_suggestion_hint(const ss_suggestion *s, const char *dashes, const char *otherwise);
