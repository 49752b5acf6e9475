#include "harness/gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

// The exit code of a child that found no gnuplot, as a shell has it.
#define NOT_FOUND 127

const char *ss_file_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

// In the child: gnuplot in the folder of its script, what it says into the pipe. In a group of its
// own, or Ctrl-C would end the picture that is being drawn.
static void become_gnuplot(const char *folder, const char *script, int pipe_end)
{
    setpgid(0, 0);
    if (chdir(folder) == 0 && dup2(pipe_end, STDERR_FILENO) >= 0 &&
        dup2(pipe_end, STDOUT_FILENO) >= 0) {
        execlp("gnuplot", "gnuplot", script, (char *)NULL);
    }
    _exit(NOT_FOUND);
}

// The first line that is not empty, without blanks before it, cut at the room.
static void first_line(const char *text, char *line, size_t room)
{
    text += strspn(text, " \t\r\n");
    snprintf(line, room, "%.*s", (int)strcspn(text, "\r\n"), text);
}

static ss_status wait_for(pid_t child, int pipe_end, ss_error *e)
{
    char said[2048], rest[512], line[300];
    size_t length = 0;
    ssize_t n;
    while ((n = read(pipe_end, said + length, sizeof said - 1 - length)) > 0) {
        length += (size_t)n;
    }
    said[length] = '\0';
    while (read(pipe_end, rest, sizeof rest) > 0) { // so that it never waits for a reader
    }
    int result = 0;
    while (waitpid(child, &result, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(result) && WEXITSTATUS(result) == 0) {
        return SS_OK;
    }
    if (WIFEXITED(result) && WEXITSTATUS(result) == NOT_FOUND) {
        return ss_fail(e, SS_SYSTEM,
                       "gnuplot could not be started; figures need it (Debian: gnuplot-nox)");
    }
    first_line(said, line, sizeof line);
    return ss_fail(e, SS_SYSTEM, "gnuplot failed%s%s", line[0] != '\0' ? ": " : "", line);
}

static ss_status run_gnuplot(const char *folder, const char *script, ss_error *e)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return ss_fail(e, SS_SYSTEM, "no pipe to gnuplot: %s", strerror(errno));
    }
    fflush(NULL); // or the child might print what is buffered once more
    const pid_t child = fork();
    if (child == 0) {
        become_gnuplot(folder, script, ends[1]);
    }
    close(ends[1]);
    const ss_status status =
        child > 0 ? wait_for(child, ends[0], e)
                  : ss_fail(e, SS_SYSTEM, "no process for gnuplot: %s", strerror(errno));
    close(ends[0]);
    return status;
}

ss_status ss_gnuplot(const char *path, ss_error *e)
{
    char *folder = NULL, *script = NULL;
    const int length = (int)(ss_file_name(path) - path);
    if (asprintf(&folder, "%.*s.", length, path) < 0) {
        folder = NULL;
    }
    // "./" keeps a name that starts with a dash from being an option.
    if (asprintf(&script, "./%s", ss_file_name(path)) < 0) {
        script = NULL;
    }
    const ss_status status = folder != NULL && script != NULL ? run_gnuplot(folder, script, e)
                                                              : ss_fail_memory(e, "a file name");
    free(folder);
    free(script);
    return status;
}
