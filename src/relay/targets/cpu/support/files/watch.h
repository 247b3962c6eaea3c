// Watching over files that native code reads as memory.

#ifndef RELAY_WATCH_H
#define RELAY_WATCH_H

#include <stddef.h>
#include <stdint.h>

// Watches over `bytes` of memory from `start`. Gives where it is noted that pages were lost (not 0 then); NULL when
// nobody watches, or too many are watched over already.
int64_t *relay_watch(uint64_t start, uint64_t bytes);

// Watches no longer over what `relay_watch` gave this for.
void relay_unwatch(int64_t *lost);

#endif
