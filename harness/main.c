// The program stickslip.
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "harness/cli.h"

// A standard descriptor that the caller closed would be given to the next file that is opened, and
// what is printed would end up in that file. Held read-only, printing fails as it should.
static void hold_standard_descriptors(void)
{
    int descriptor;
    do {
        descriptor = open("/dev/null", O_RDONLY);
    } while (descriptor >= 0 && descriptor <= STDERR_FILENO);
    if (descriptor >= 0) {
        close(descriptor);
    }
}

int main(int argc, char **argv)
{
    hold_standard_descriptors();
    signal(SIGXFSZ, SIG_IGN); // a file that may not grow is reported like a full disk
    return ss_main(argc, argv);
}
