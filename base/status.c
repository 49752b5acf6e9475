#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

ss_status ss_fail(ss_error *e, ss_status status, const char *format, ...)
{
    if (e != NULL) {
        e->status = status;
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(e->text, sizeof e->text, format, arguments);
        va_end(arguments);
    }
    return status;
}

ss_status ss_fail_memory(ss_error *e, const char *what)
{
    return ss_fail(e, SS_SYSTEM, "not enough memory for %s", what != NULL ? what : "this");
}
