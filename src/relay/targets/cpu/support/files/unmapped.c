// Where nobody watches over mapped files.

#include "files/watch.h"

int64_t *relay_watch(uint64_t start, uint64_t bytes)
{
    (void)start, (void)bytes;
    return NULL;
}

void relay_unwatch(int64_t *lost)
{
    (void)lost;
}
