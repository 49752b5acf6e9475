#include "harness/interrupt.h"

#include <stddef.h>

volatile sig_atomic_t ss_interrupted;

static void note(int signal_number)
{
    (void)signal_number;
    ss_interrupted = 1;
}

static void catch_signal(int signal_number, int flags)
{
    struct sigaction before;
    if (sigaction(signal_number, NULL, &before) == 0 && before.sa_handler != SIG_IGN) {
        struct sigaction action = {.sa_handler = note, .sa_flags = flags};
        sigemptyset(&action.sa_mask);
        sigaction(signal_number, &action, NULL);
    }
}

void ss_interrupt_catch(void)
{
    catch_signal(SIGINT, (int)SA_RESETHAND);
    catch_signal(SIGTERM, (int)SA_RESETHAND);
    catch_signal(SIGHUP, 0); // both the shell and the system may send one
}
