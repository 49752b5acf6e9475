// Runs the program, keeps what it says, and reads just enough JSON to tell whether it is JSON.
#include "tests/support/program.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/support.h"

extern char **environ;

char standard_out[OUTPUT_CAPACITY];
char standard_error[OUTPUT_CAPACITY];

static void read_text(const char *path, char *text, size_t capacity)
{
    FILE *file = fopen(path, "r");
    TEST_ASSERT_NOT_NULL(file);
    text[fread(text, 1, capacity - 1, file)] = '\0';
    fclose(file);
}

int run_program(const char *to, const char *const *words)
{
    char out[512], err[512];
    snprintf(out, sizeof out, "%s", scratch_path("stdout"));
    snprintf(err, sizeof err, "%s", scratch_path("stderr"));
    const int create = O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, to != NULL ? to : out, create, 0600);
    posix_spawn_file_actions_addopen(&files, 2, err, create, 0600);
    char *arguments[64] = {NULL};
    int argc = 0;
    arguments[argc++] = strdup("stickslip");
    for (; words[argc - 1] != NULL; argc++) {
        arguments[argc] = strdup(words[argc - 1]);
    }
    pid_t child;
    const int failure = posix_spawn(&child, getenv("STICKSLIP"), &files, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    for (int k = 0; k < argc; k++) {
        free(arguments[k]);
    }
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, failure, "STICKSLIP is not a program");
    int status = 0;
    waitpid(child, &status, 0);
    if (to == NULL) {
        read_text(out, standard_out, sizeof standard_out);
    }
    read_text(err, standard_error, sizeof standard_error);
    TEST_ASSERT_TRUE_MESSAGE(WIFEXITED(status), "ended by a signal");
    return WEXITSTATUS(status);
}

void check_holds(const char *text, const char *part, int line)
{
    if (strstr(text, part) == NULL) {
        char message[2000];
        snprintf(message, sizeof message, "'%s' is not in: %.1500s", part, text);
        UNITY_TEST_FAIL(line, message);
    }
}

int count_lines(const char *text)
{
    int lines = 0;
    for (; *text != '\0'; text++) {
        lines += *text == '\n';
    }
    return lines;
}

// Whether one JSON value begins at *s; *s is then after it.
static bool json_value(const char **s);

static void skip_blanks(const char **s)
{
    *s += strspn(*s, " \n\t\r");
}

static bool json_string(const char **s)
{
    if (**s != '"') {
        return false;
    }
    for ((*s)++; **s != '"'; (*s)++) {
        if ((unsigned char)**s < 0x20 || (**s == '\\' && strchr("\"\\/bfnrtu", *++*s) == NULL)) {
            return false;
        }
    }
    (*s)++;
    return true;
}

static bool json_list(const char **s, char end, bool named)
{
    (*s)++;
    skip_blanks(s);
    bool good = true;
    while (good && **s != end) {
        if (named) {
            good = json_string(s) && *(*s)++ == ':';
        }
        good = good && json_value(s) && (**s == ',' || **s == end);
        if (good && **s == ',') {
            (*s)++;
            skip_blanks(s);
            good = **s != end;
        }
    }
    (*s)++;
    return good;
}

static bool json_value(const char **s)
{
    skip_blanks(s);
    bool good;
    if (**s == '[' || **s == '{') {
        good = json_list(s, **s == '[' ? ']' : '}', **s == '{');
    } else if (**s == '"') {
        good = json_string(s);
    } else if (strncmp(*s, "null", 4) == 0) {
        good = true;
        *s += 4;
    } else {
        char *end;
        good = strchr("-0123456789", **s) != NULL;
        strtod(*s, &end);
        *s = end;
    }
    skip_blanks(s);
    return good;
}

bool is_json(const char *text)
{
    return json_value(&text) && *text == '\0';
}

pid_t start_program(const char *out, const char *err, const char *const *words)
{
    posix_spawn_file_actions_t files;
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&files, 2, err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    char *arguments[64] = {NULL};
    int argc = 0;
    for (; words[argc] != NULL; argc++) {
        arguments[argc] = strdup(words[argc]);
    }
    pid_t child = -1;
    const int failure = posix_spawn(&child, getenv("STICKSLIP"), &files, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&files);
    for (int k = 0; k < argc; k++) {
        free(arguments[k]);
    }
    TEST_ASSERT_EQUAL_INT(0, failure);
    return child;
}

void wait_for_bytes(const char *path)
{
    struct stat status = {0};
    for (int k = 0; k < 6000 && (stat(path, &status) != 0 || status.st_size == 0); k++) {
        nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
    }
}

const char *file_text(const char *path)
{
    static char text[OUTPUT_CAPACITY];
    read_text(path, text, sizeof text);
    return text;
}

// ---- CSV

const char *csv_field(const char *csv, int row, const char *name)
{
    static char value[700];
    int column = 0;
    const char *header = csv, *end = strchr(csv, '\n');
    TEST_ASSERT_NOT_NULL(end);
    const size_t length = strlen(name);
    while (strncmp(header, name, length) != 0 || strchr(",\n", header[length]) == NULL) {
        header += strcspn(header, ",\n");
        TEST_ASSERT_TRUE_MESSAGE(*header == ',', name);
        header++;
        column++;
    }
    const char *line = csv;
    for (int k = 0; k < row; k++) {
        line = strchr(line, '\n');
        TEST_ASSERT_NOT_NULL(line);
        line++;
    }
    for (; column > 0; column--) {
        if (*line == '"') { // a comma inside quotes parts nothing
            line += 1 + strcspn(line + 1, "\"\n");
        }
        line += strcspn(line, ",\n");
        TEST_ASSERT_TRUE(*line == ',');
        line++;
    }
    snprintf(value, sizeof value, "%.*s", (int)strcspn(line, ",\n"), line);
    return value;
}

double csv_number(const char *csv, int row, const char *name)
{
    char *end;
    const char *text = csv_field(csv, row, name);
    const double x = strtod(text, &end);
    TEST_ASSERT_TRUE_MESSAGE(end != text && *end == '\0', text);
    return x;
}
