#include "problems/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

// Where the system has no close_range and sets no limit.
#define MOST_FILES 65536

pid_t ss_child_fork(void)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const pid_t pid = fork();
    if (pid != 0) {
        const int error = errno;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        errno = error;
    }
    return pid;
}

void ss_child_reset_signals(bool ignores_terminal)
{
    for (int k = 1; k < NSIG; k++) {
        signal(k, SIG_DFL);
    }
    if (ignores_terminal) {
        signal(SIGINT, SIG_IGN);
        signal(SIGQUIT, SIG_IGN);
        signal(SIGHUP, SIG_IGN);
    }
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, NULL);
}

void ss_child_silence(void)
{
    const int null = open("/dev/null", O_RDWR);
    for (int k = 0; k <= STDERR_FILENO; k++) {
        dup2(null, k);
    }
}

void ss_child_close_from(int first)
{
    if (close_range((unsigned)first, ~0U, 0) == 0) {
        return;
    }
    struct rlimit limit;
    const bool limited = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < MOST_FILES;
    const int end = limited ? (int)limit.rlim_cur : MOST_FILES;
    for (int k = first; k < end; k++) {
        close(k);
    }
}
