// What made this program, and what it runs on.
#include <stdio.h>
#include <string.h>

#include "harness/verbs.h"
#include "version.h"

#ifdef __clang__
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

static void print_processor(void)
{
    char line[256] = "";
    FILE *file = fopen("/proc/cpuinfo", "r");
    const char *name = NULL;
    while (file != NULL && name == NULL && fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, "model name", strlen("model name")) == 0) {
            name = strchr(line, ':');
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    line[strcspn(line, "\n")] = '\0';
    printf("processor %s\n", name != NULL ? name + strspn(name, ": ") : "unknown");
}

void ss_version_print(void)
{
    printf("stickslip %s\n", SS_VERSION);
    printf("commit    %s\n", SS_COMMIT);
    printf("compiler  %s\n", COMPILER);
    printf("flags     %s\n", SS_FLAGS);
    print_processor();
}
