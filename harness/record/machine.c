#include "harness/record/machine.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/sha256.h"
#include "harness/cli.h"
#include "version.h"

// Bytes of the hash that stand for the end of a long text.
#define HASH_BYTES 4

void ss_machine_processor(char *text, size_t room)
{
    static const char KEY[] = "model name";
    char line[256];
    text[0] = '\0';
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        const char *value = strchr(line, ':');
        if (strncmp(line, KEY, sizeof KEY - 1) == 0 && value != NULL) {
            value += strspn(value, ": \t");
            snprintf(text, room, "%.*s", (int)strcspn(value, "\n"), value);
            break;
        }
    }
    if (file != NULL) {
        fclose(file);
    }
}

// The name of the processor is cut, not the number of cores.
static void describe_processor(char *text, size_t room)
{
    char processor[72], cores[32];
    ss_machine_processor(processor, sizeof processor);
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    snprintf(cores, sizeof cores, ", %ld core%s", count, ss_plural((double)count));
    const int left = (int)room - (int)strlen(cores) - 1;
    snprintf(text, room, "%.*s%s", left > 0 ? left : 0,
             processor[0] != '\0' ? processor : "unknown processor", cores);
}

const ss_field ss_machine_fields[] = {
    SS_FIELD(ss_machine, host, SS_FIELD_TEXT, .unit = NULL),
    SS_FIELD(ss_machine, machine, SS_FIELD_TEXT, .unit = NULL),
    SS_FIELD(ss_machine, system, SS_FIELD_TEXT, .unit = NULL),
    SS_FIELD(ss_machine, memory_gb, SS_FIELD_REAL, .unit = "GB"),
    {.name = NULL},
};

ss_machine ss_machine_describe(void)
{
    ss_machine m = {.memory_gb = NAN};
    struct utsname system;
    describe_processor(m.machine, sizeof m.machine);
    if (uname(&system) == 0) {
        snprintf(m.host, sizeof m.host, "%.*s", (int)sizeof m.host - 1, system.nodename);
        snprintf(m.system, sizeof m.system, "%.48s %.48s %.48s", system.sysname, system.release,
                 system.machine);
    }
    const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    if (pages > 0 && bytes > 0) {
        m.memory_gb = round(1e-8 * (double)pages * (double)bytes) / 10.0;
    }
    return m;
}

void ss_machine_date(char *text, size_t room)
{
    const time_t now = time(NULL);
    struct tm utc;
    if (strftime(text, room, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &utc)) == 0) {
        text[0] = '\0';
    }
}

static void shorten(char *text, size_t room, const char *whole)
{
    ss_sha256 hash;
    char mark[2 * HASH_BYTES + 2] = "~";
    ss_sha256_init(&hash);
    ss_sha256_update(&hash, whole, strlen(whole));
    ss_sha256_hex(&hash, HASH_BYTES, mark + 1);
    if (room > sizeof mark) {
        snprintf(text, room, "%.*s%s", (int)(room - sizeof mark), whole, mark);
    }
}

void ss_machine_build(char *text, size_t room)
{
    static const char WHOLE[] = SS_VERSION " " SS_COMMIT " " SS_FLAGS;
    if (sizeof WHOLE <= room) {
        memcpy(text, WHOLE, sizeof WHOLE);
    } else {
        shorten(text, room, WHOLE);
    }
}

#define REQUIRE(set, name)                                                                         \
    if (!__builtin_cpu_supports(set)) {                                                            \
        return name;                                                                               \
    }

const char *ss_machine_lacks(void)
{
#ifdef __AVX__
    REQUIRE("avx", "AVX")
#endif
#ifdef __AVX2__
    REQUIRE("avx2", "AVX2")
#endif
#ifdef __FMA__
    REQUIRE("fma", "FMA")
#endif
#ifdef __BMI2__
    REQUIRE("bmi2", "BMI2")
#endif
#ifdef __AVX512F__
    REQUIRE("avx512f", "AVX-512 F")
#endif
#ifdef __AVX512VL__
    REQUIRE("avx512vl", "AVX-512 VL")
#endif
#ifdef __AVX512DQ__
    REQUIRE("avx512dq", "AVX-512 DQ")
#endif
#ifdef __AVX512BW__
    REQUIRE("avx512bw", "AVX-512 BW")
#endif
    return NULL;
}

double ss_machine_load(void)
{
    double load;
    return getloadavg(&load, 1) == 1 ? load : NAN;
}
