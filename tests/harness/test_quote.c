// Texts of others within the texts of interpreters: what comes out of the interpreter is the text, and
// nothing in it was obeyed.
#include "tests/support/support.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/quote.h"
#include "tests/support/program.h"

// Whoever obeys one of them makes the file PWNED, leaves its string, or ends its row.
static const char *const HOSTILE[] = {
    "mfb+enum",
    "",
    "x\n!touch PWNED\n#.json",
    "x'\n!touch PWNED\n'",
    "x\r!touch PWNED",
    "\n\n",
    "$(touch PWNED)",
    "`touch PWNED`",
    "'`touch PWNED`'",
    "\"$(touch PWNED)\"",
    "\\\"; system('touch PWNED') #",
    "'; system 'touch PWNED'; '",
    "''",
    "'",
    "\\",
    "\\'",
    "\\\\'`touch PWNED`",
    "@GPVAL_VERSION @a",
    "% %s %n $x ${x} {x} ~ ^ _ & #",
    "[2pt] *",
    "* [2pt]",
    "<script>alert(1)</script>",
    "</script><!--",
    "a\" onclick=\"alert(1)",
    "&lt;b&gt; &amp;",
    "|a|b|",
    "a,b;\"c\"",
    "=1+1",
    "[a](javascript:alert(1)) ![b](c) **d** __e__ ~~f~~ $g$ <https://h>",
    "\033[31mred\033]0;title\007",
    "csi \302\233 31m",
    "rule \342\200\256 left",
    "line \342\200\250 line",
    "latin \344\366\374 1",
    "utf \303\244\303\266\303\274 8 \342\202\254 \360\237\230\200",
    "overlong \300\257 surrogate \355\240\200 cut \342\202",
    "none \357\277\277",
};
#define NHOSTILE (sizeof HOSTILE / sizeof HOSTILE[0])

static char quoted[2000];

static const char *quote(ss_language language, const char *text)
{
    quoted[0] = '\0';
    FILE *out = fmemopen(quoted, sizeof quoted, "w");
    ss_quote(out, language, text);
    fclose(out);
    return quoted;
}

static const char *printable(const char *text)
{
    static char copy[400];
    snprintf(copy, sizeof copy, "%s", text);
    ss_make_printable(copy);
    return copy;
}

// What a command prints, in the scratch folder, where nobody may have made PWNED.
static const char *answer(const char *command)
{
    static char said[2000];
    char line[600];
    snprintf(line, sizeof line, "cd '%s' && %s", scratch_path(""), command);
    FILE *in = popen(line, "r");
    TEST_ASSERT_NOT_NULL(in);
    said[fread(said, 1, sizeof said - 1, in)] = '\0';
    pclose(in);
    TEST_ASSERT_TRUE_MESSAGE(access(scratch_path("PWNED"), F_OK) != 0, line);
    return said;
}

// ---- Characters

static void what_cannot_be_shown_is_a_question_mark(void)
{
    static const char *const PAIRS[][2] = {
        {"a\tb\nc\rd\177e\001f", "a?b?c?d?e?f"},
        {"\033[31m", "?[31m"},
        {"\302\200\302\237\302\240", "??\302\240"}, // C1, and the blank behind them
        {"\342\200\247\342\200\250\342\200\256\342\200\257", "\342\200\247??\342\200\257"},
        {"\342\201\245\342\201\246\342\201\251\342\201\252", "\342\201\245??\342\201\252"},
        {"\357\277\275\357\277\276\357\277\277", "\357\277\275??"},
        {"\303\244 \344 \342\202", "\303\244 ? ??"},
        {"\355\237\277\355\240\200", "\355\237\277???"},
        {"\360\237\230\200\364\220\200\200", "\360\237\230\200????"},
    };
    for (size_t k = 0; k < sizeof PAIRS / sizeof PAIRS[0]; k++) {
        TEST_ASSERT_EQUAL_STRING(PAIRS[k][1], printable(PAIRS[k][0]));
        TEST_ASSERT_EQUAL_STRING(PAIRS[k][1], quote(SS_PLAIN, PAIRS[k][0]));
        CHECK(!ss_is_printable(PAIRS[k][0]) && ss_is_printable(PAIRS[k][1]));
    }
    CHECK(ss_is_printable(""));
}

// ---- Programs that obey

static void a_shell_finds_one_word_with_the_same_bytes(void)
{
    for (size_t k = 0; k < NHOSTILE; k++) {
        char script[2400];
        snprintf(script, sizeof script, "printf '<%%s>' %s\n", quote(SS_SHELL, HOSTILE[k]));
        put_scratch("word.sh", script);
        char expected[400];
        snprintf(expected, sizeof expected, "<%s>", HOSTILE[k]);
        TEST_ASSERT_EQUAL_STRING(expected, answer("bash word.sh 2>&1"));
        TEST_ASSERT_NULL(strchr(quoted, '\n'));
        if (ss_is_printable(HOSTILE[k])) { // which every shell knows how to read
            TEST_ASSERT_EQUAL_STRING(expected, answer("sh word.sh 2>&1"));
        }
    }
    TEST_ASSERT_EQUAL_STRING("gs/mfb+enum:freeze=on,tol=1e-6",
                             quote(SS_SHELL, "gs/mfb+enum:freeze=on,tol=1e-6"));
}

static void gnuplot_finds_one_string(void)
{
    if (system("gnuplot --version >/dev/null 2>&1") != 0) {
        TEST_IGNORE_MESSAGE("gnuplot is not installed");
    }
    FILE *out = fopen(scratch_path("words.gp"), "w");
    fputs("set encoding utf8\nset macros\na = 'system(\"touch PWNED\")'\nset print '-'\n", out);
    char expected[4000] = "";
    for (size_t k = 0; k < NHOSTILE; k++) {
        const size_t used = strlen(expected);
        fputs("print '<' . ", out);
        ss_quote(out, SS_GNUPLOT, HOSTILE[k]);
        fputs(" . '>'\n", out);
        snprintf(expected + used, sizeof expected - used, "<%s>\n", printable(HOSTILE[k]));
    }
    fclose(out);
    TEST_ASSERT_EQUAL_STRING(expected, answer("gnuplot words.gp 2>&1"));
}

// ---- Languages of pages and tables, read by what their rules say of each character

static bool replace_front(const char **at, const char *written, char by, char **to)
{
    const bool found = strncmp(*at, written, strlen(written)) == 0;
    if (found) {
        *at += strlen(written);
        *(*to)++ = by;
    }
    return found;
}

// A text between tags or in quotes: no mark of HTML is left but those of five characters.
static const char *read_html(const char *at)
{
    static char text[2000];
    char *to = text;
    while (*at != '\0') {
        if (replace_front(&at, "&lt;", '<', &to) || replace_front(&at, "&gt;", '>', &to) ||
            replace_front(&at, "&amp;", '&', &to) || replace_front(&at, "&quot;", '"', &to) ||
            replace_front(&at, "&#39;", '\'', &to)) {
            continue;
        }
        TEST_ASSERT_NULL_MESSAGE(strchr("<>&\"'", *at), at);
        *to++ = *at++;
    }
    *to = '\0';
    return text;
}

// A backslash before each mark, and no mark without.
static const char *read_markdown(const char *at)
{
    static char text[2000];
    char *to = text;
    while (*at != '\0') {
        if (*at == '\\') {
            at++;
        } else {
            TEST_ASSERT_NULL_MESSAGE(strchr("|*_<>[]`&~$#\n", *at), at);
        }
        *to++ = *at++;
    }
    *to = '\0';
    return text;
}

static const char *read_latex(const char *at)
{
    static const struct {
        const char *written;
        char meant;
    } WORDS[] = {
        {"\\textbackslash{}", '\\'},
        {"\\textasciitilde{}", '~'},
        {"\\textasciicircum{}", '^'},
        {"$<$", '<'},
        {"$>$", '>'},
        {"$|$", '|'},
        {"{[}", '['},
        {"{]}", ']'},
        {"{*}", '*'},
        {"{`}", '`'},
        {"\\%", '%'},
        {"\\&", '&'},
        {"\\#", '#'},
        {"\\_", '_'},
        {"\\{", '{'},
        {"\\}", '}'},
        {"\\$", '$'},
    };
    static char text[2000];
    char *to = text;
    while (*at != '\0') {
        size_t k = 0;
        while (k < sizeof WORDS / sizeof WORDS[0] &&
               !replace_front(&at, WORDS[k].written, WORDS[k].meant, &to)) {
            k++;
        }
        if (k == sizeof WORDS / sizeof WORDS[0]) {
            TEST_ASSERT_NULL_MESSAGE(strchr("\\~^<>|[]*`%&#_{}$\n", *at), at);
            *to++ = *at++;
        }
    }
    *to = '\0';
    return text;
}

static void pages_and_tables_show_the_text(void)
{
    for (size_t k = 0; k < NHOSTILE; k++) {
        char lines[2000];
        TEST_ASSERT_EQUAL_STRING(printable(HOSTILE[k]),
                                 read_markdown(quote(SS_MARKDOWN, HOSTILE[k])));
        TEST_ASSERT_EQUAL_STRING(printable(HOSTILE[k]), read_latex(quote(SS_LATEX, HOSTILE[k])));
        snprintf(lines, sizeof lines, "%s", read_html(quote(SS_HTML, HOSTILE[k])));
        for (char *c = lines; *c != '\0'; c++) { // HTML has lines
            *c = *c == '\n' ? '?' : *c;
        }
        TEST_ASSERT_EQUAL_STRING(printable(HOSTILE[k]), lines);
    }
    TEST_ASSERT_EQUAL_STRING("mfb:steps=50", quote(SS_LATEX, "mfb:steps=50"));
    TEST_ASSERT_EQUAL_STRING("mfb:steps=50", quote(SS_MARKDOWN, "mfb:steps=50"));
}

static bool is_utf8(const char *text)
{
    json_t *value = json_string(text); // NULL for what is none
    json_decref(value);
    return value != NULL;
}

static void json_and_csv_keep_the_text(void)
{
    for (size_t k = 0; k < NHOSTILE; k++) {
        json_t *value = json_loads(quote(SS_JSON, HOSTILE[k]), JSON_DECODE_ANY, NULL);
        TEST_ASSERT_NOT_NULL_MESSAGE(value, quoted);
        if (is_utf8(HOSTILE[k])) {
            TEST_ASSERT_EQUAL_STRING(HOSTILE[k], json_string_value(value));
        } else {
            HOLDS(json_string_value(value), "\357\277\275");
        }
        json_decref(value);
        CHECK(strpbrk(quoted, "<\n\033") == NULL);

        const char *at = quote(SS_CSV, HOSTILE[k]);
        char text[400], *to = text;
        const bool inside = *at == '"';
        for (at += inside; *at != '\0' && !(at[0] == '"' && at[1] != '"'); at++) {
            at += *at == '"';
            *to++ = *at;
        }
        *to = '\0';
        TEST_ASSERT_EQUAL_STRING(inside ? "\"" : "", at);
        CHECK(inside == (strpbrk(HOSTILE[k], ",\"\r\n") != NULL));
        TEST_ASSERT_EQUAL_STRING(HOSTILE[k], text);
    }
}

// ---- Nothing else is printed into a script

// "" or a table of constants, WORDS[...].
static bool is_constant(const char *value, size_t length)
{
    size_t k = strspn(value, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
    return (length == 2 && strncmp(value, "\"\"", 2) == 0) ||
           (k > 0 && k < length && value[k] == '[' && value[length - 1] == ']');
}

// Such a value, or condition ? value : value ...
static bool is_made_of_constants(const char *text)
{
    for (const char *mark; (mark = strchr(text, '?')) != NULL;) {
        const char *colon = strchr(mark, ':');
        if (colon == NULL || !is_constant(mark + 1, (size_t)(colon - mark) - 1)) {
            return false;
        }
        text = colon + 1;
    }
    return is_constant(text, strlen(text));
}

// The first argument of a call without blanks, the content of its string literals left out. Returns whether
// they hold a %s.
static bool first_argument(const char *at, char *text, size_t room)
{
    size_t used = 0;
    bool inside = false, prints = false;
    for (int depth = 0; used + 1 < room && !(depth == 0 && !inside && (*at == ',' || *at == ')'));
         at++) {
        const bool quote = *at == '"';
        prints = prints || (inside && strncmp(at, "%s", 2) == 0) || strncmp(at, "%.*s", 4) == 0;
        depth += inside ? 0 : (*at == '(' || *at == '[') - (*at == ')' || *at == ']');
        inside ^= quote;
        if (quote || (!inside && strchr(" \n", *at) == NULL)) {
            text[used++] = *at;
        }
        at += inside && *at == '\\';
    }
    text[used] = '\0';
    return prints;
}

static void check_source(const char *path)
{
    size_t size;
    char *text = read_bytes(path, &size), argument[600], place[1500];
    const bool writes_script = strstr(text, "set terminal") != NULL;
    for (const char *at = text; writes_script && (at = strstr(at, "fputs(")) != NULL; at++) {
        first_argument(at + strlen("fputs("), argument, sizeof argument);
        for (char *c; (c = strstr(argument, "\"\"\"\"")) != NULL;) { // literals side by side
            memmove(c, c + 2, strlen(c + 2) + 1);
        }
        snprintf(place, sizeof place, "%s prints %s: by ss_quote?", path, argument);
        TEST_ASSERT_TRUE_MESSAGE(is_made_of_constants(argument), place);
    }
    for (const char *at = text; writes_script && (at = strstr(at, "fprintf(")) != NULL; at++) {
        snprintf(place, sizeof place, "%s prints by %%s: %.60s", path, at);
        const char *format = strchr(at, ',') + 1;
        TEST_ASSERT_FALSE_MESSAGE(first_argument(format, argument, sizeof argument), place);
    }
    free(text);
}

// A file that writes scripts of gnuplot prints constants and numbers, and all else by ss_quote.
static void scripts_are_made_of_constants_numbers_and_quoted_texts(void)
{
    char command[600], path[600];
    snprintf(command, sizeof command, "grep -rl 'set terminal' '%s/harness' --include=*.c",
             getenv("SOURCE"));
    FILE *list = popen(command, "r");
    int files = 0;
    for (; fgets(path, sizeof path, list) != NULL; files++) {
        path[strcspn(path, "\n")] = '\0';
        check_source(path);
    }
    pclose(list);
    CHECK(files >= 2);
}

static void run_tests(void)
{
    RUN_TEST(what_cannot_be_shown_is_a_question_mark);
    RUN_TEST(a_shell_finds_one_word_with_the_same_bytes);
    RUN_TEST(gnuplot_finds_one_string);
    RUN_TEST(pages_and_tables_show_the_text);
    RUN_TEST(json_and_csv_keep_the_text);
    RUN_TEST(scripts_are_made_of_constants_numbers_and_quoted_texts);
}

const test_group quote_tests = {.run = run_tests};
