#include "harness/quote.h"

#include <stdint.h>
#include <string.h>

// ---- Characters

// Returns the number of bytes of the UTF-8 character at s, which a zero ends; 0 if there is none
// (Unicode 15, table 3-7).
static size_t utf8_length(const unsigned char *s)
{
    const size_t length = s[0] < 0x80                   ? 1
                          : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
                          : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                          : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                                        : 0;
    for (size_t k = 1; k < length; k++) {
        if ((s[k] & 0xc0) != 0x80) { // the end of the text, too
            return 0;
        }
    }
    const bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    const bool surrogate = s[0] == 0xed && s[1] >= 0xa0;
    const bool beyond = s[0] == 0xf4 && s[1] >= 0x90;
    return overlong || surrogate || beyond ? 0 : length;
}

static uint32_t code_of(const unsigned char *s, size_t length)
{
    static const unsigned char FIRST[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t code = s[0] & FIRST[length];
    for (size_t k = 1; k < length; k++) {
        code = code << 6 | (s[k] & 0x3fu);
    }
    return code;
}

static bool is_shown(uint32_t code)
{
    const bool control = code < 0x20 || (code >= 0x7f && code < 0xa0);
    const bool moves = (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
    return !control && !moves && code != 0xfffe && code != 0xffff;
}

typedef struct character {
    const char *bytes;
    size_t count; // 1 for a byte that is no character
    bool sound;   // UTF-8
    bool shown;
} character;

static character character_at(const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    const size_t length = utf8_length(s);
    return (character){.bytes = text,
                       .count = length > 0 ? length : 1,
                       .sound = length > 0,
                       .shown = length > 0 && is_shown(code_of(s, length))};
}

// ---- Languages

static void take(ss_quoted *to, const char *bytes, size_t count)
{
    memcpy(to->bytes, bytes, count);
    to->bytes[count] = '\0';
    to->count = count;
}

typedef struct replacement {
    char what; // 0 ends a list
    const char *by;
} replacement;

typedef struct rules {
    const char *escaped; // characters that a backslash before them makes plain; NULL: none
    replacement others[12];
} rules;

static const rules RULES[] = {
    [SS_PLAIN] = {NULL, {{0, NULL}}},
    [SS_GNUPLOT] = {NULL, {{'"', "\\042"}, {'\\', "\\134"}, {'`', "\\140"}, {'@', "\\100"}}},
    [SS_SHELL] = {NULL, {{'\'', "'\\''"}}}, // leaves the quotes and enters them again
    [SS_HTML] = {NULL,
                 {{'<', "&lt;"},
                  {'>', "&gt;"},
                  {'&', "&amp;"},
                  {'"', "&quot;"},
                  {'\'', "&#39;"},
                  {'\n', "\n"}}},
    [SS_MARKDOWN] = {"|*_<>[]`\\&~$#", {{0, NULL}}},
    // A bracket or a star after the end of a row would be an argument of it.
    [SS_LATEX] = {"%&#_{}$",
                  {{'\\', "\\textbackslash{}"},
                   {'~', "\\textasciitilde{}"},
                   {'^', "\\textasciicircum{}"},
                   {'<', "$<$"},
                   {'>', "$>$"},
                   {'|', "$|$"},
                   {'[', "{[}"},
                   {']', "{]}"},
                   {'*', "{*}"},
                   {'`', "{`}"}}},
    [SS_CSV] = {NULL, {{'"', "\"\""}}},
    [SS_JSON] = {"\"\\", {{'<', "\\u003c"}}}, // as a '<' can end a page's script
};

// Sets what replaces a character that the language would obey; false if the character stays.
static bool replace(ss_language language, char c, ss_quoted *by)
{
    const rules *r = &RULES[language];
    const replacement *other = r->others;
    if (r->escaped != NULL && strchr(r->escaped, c) != NULL) {
        take(by, (const char[]){'\\', c}, 2);
        return true;
    }
    while (other->what != '\0' && other->what != c) {
        other++;
    }
    if (other->what != '\0') {
        take(by, other->by, strlen(other->by));
    }
    return other->what != '\0';
}

// ---- Texts

static void take_or_hide(ss_language language, const character *c, ss_quoted *to)
{
    if (c->shown || language == SS_CSV) {
        take(to, c->bytes, c->count);
    } else if (language == SS_JSON && !c->sound) {
        take(to, "\\ufffd", 6);
    } else if (language == SS_JSON) {
        const uint32_t code = code_of((const unsigned char *)c->bytes, c->count);
        to->count = (size_t)snprintf(to->bytes, sizeof to->bytes, "\\u%04x", (unsigned)code);
    } else {
        take(to, "?", 1);
    }
}

bool ss_quote_next(ss_language language, const char **at, ss_quoted *next)
{
    if (**at == '\0') {
        return false;
    }
    const character c = character_at(*at);
    if (!replace(language, **at, next)) {
        take_or_hide(language, &c, next);
    }
    *at += c.count;
    return true;
}

static void put_each(FILE *out, ss_language language, const char *text)
{
    ss_quoted next;
    while (ss_quote_next(language, &text, &next)) {
        fwrite(next.bytes, 1, next.count, out);
    }
}

// Prints $'...', in which a backslash gives any byte: bash, zsh, ksh and POSIX of 2024 know it.
static void put_bytes(FILE *out, const char *text)
{
    fputs("$'", out);
    for (const char *at = text; *at != '\0';) {
        const character c = character_at(at);
        for (size_t k = 0; k < c.count; k++) {
            if (!c.shown) {
                fprintf(out, "\\%03o", (unsigned)(unsigned char)at[k]);
            } else {
                fputs(at[k] == '\'' || at[k] == '\\' ? "\\" : "", out);
                fputc(at[k], out);
            }
        }
        at += c.count;
    }
    fputc('\'', out);
}

static void put_word(FILE *out, const char *text)
{
    static const char SAFE[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                               "_@%+=:,./-";
    if (text[0] != '\0' && text[strspn(text, SAFE)] == '\0') {
        fputs(text, out);
    } else if (ss_is_printable(text)) {
        fputc('\'', out);
        put_each(out, SS_SHELL, text);
        fputc('\'', out);
    } else {
        put_bytes(out, text);
    }
}

void ss_quote(FILE *out, ss_language language, const char *text)
{
    if (language == SS_SHELL) {
        put_word(out, text);
        return;
    }
    const bool quoted = language == SS_GNUPLOT || language == SS_JSON ||
                        (language == SS_CSV && strpbrk(text, ",\"\r\n") != NULL);
    const char *quote = quoted ? "\"" : "";
    fputs(quote, out);
    put_each(out, language, text);
    fputs(quote, out);
}

void ss_make_printable(char *text)
{
    char *to = text;
    for (const char *at = text; *at != '\0';) {
        ss_quoted next;
        ss_quote_next(SS_PLAIN, &at, &next);
        memcpy(to, next.bytes, next.count);
        to += next.count;
    }
    *to = '\0';
}

bool ss_is_printable(const char *text)
{
    while (*text != '\0' && character_at(text).shown) {
        text += character_at(text).count;
    }
    return *text == '\0';
}
