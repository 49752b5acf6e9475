// Sentences on stderr, and the guess at what a mistyped word was meant to be.
//
// The distance of two words is Damerau's and Levenshtein's in the form of optimal string
// alignment: the fewest insertions, deletions, replacements and swaps of neighbours, no letter
// edited twice. With a the word and b the candidate,
//
//     d(i,j) = min(d(i-1,j) + 1, d(i,j-1) + 1, d(i-1,j-1) + [a_i != b_j],
//                  d(i-2,j-2) + 1 where a_i a_(i-1) = b_(j-1) b_j)
#include "harness/complain.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "harness/quote.h"

// No word that is compared is longer; a longer one gets no suggestion.
#define LONGEST_WORD 63

void ss_complain(const char *verb, const char *format, ...)
{
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    ss_make_printable(sentence);
    fprintf(stderr, "stickslip%s%s: %s\n", verb[0] != '\0' ? " " : "", verb, sentence);
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int distance(const char *a, const char *b)
{
    const size_t na = strlen(a);
    const size_t nb = strlen(b);
    int d[LONGEST_WORD + 1][LONGEST_WORD + 1];
    for (size_t i = 0; i <= na; i++) {
        for (size_t j = 0; j <= nb; j++) {
            if (i == 0 || j == 0) {
                d[i][j] = (int)(i + j);
                continue;
            }
            const int edit = least(d[i - 1][j], d[i][j - 1]) + 1;
            d[i][j] = least(edit, d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
            }
        }
    }
    return d[na][nb];
}

void ss_suggestion_offer(ss_suggestion *s, const char *candidate)
{
    const size_t length = strlen(s->word);
    if (candidate[strspn(candidate, " ")] == '\0') { // as a file may name a problem
        return;
    }
    if (length > LONGEST_WORD || strlen(candidate) > LONGEST_WORD) {
        return;
    }
    // The beginning of a word counts as one slip of a key.
    const bool begins = length >= 2 && strncmp(s->word, candidate, length) == 0;
    const int d = begins ? 1 : distance(s->word, candidate);
    // A third of the letters wrong is still the same word; more is another one.
    const int limit = length < 3 ? 1 : (int)(length + 2) / 3;
    if (d <= limit && (s->best == NULL || d < s->distance)) {
        s->best = candidate;
        s->distance = d;
    }
}

ss_hint ss_suggestion_hint(const ss_suggestion *s, const char *dashes, const char *otherwise)
{
    ss_hint hint;
    if (s->best != NULL) {
        snprintf(hint.text, sizeof hint.text, "; did you mean '%s%s'?", dashes, s->best);
    } else {
        snprintf(hint.text, sizeof hint.text, "%s", otherwise);
    }
    return hint;
}
