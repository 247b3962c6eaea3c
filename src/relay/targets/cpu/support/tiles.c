// Whether the process may use the tiles of AMX.

#include "linkage.h"
#include <stdint.h>

int64_t syscall(int64_t number, ...);

enum {
    ARCH_PRCTL = 158, // on x86-64
    ARCH_REQ_XCOMP_PERM = 0x1023,
    XFEATURE_XTILEDATA = 18,
};

// The process has to ask Linux for them, and may ask again.
RELAY_PART_OF_PROGRAM _Bool relay_ask_for_tiles(void)
{
    return syscall(ARCH_PRCTL, (int64_t)ARCH_REQ_XCOMP_PERM, (int64_t)XFEATURE_XTILEDATA) == 0;
}
