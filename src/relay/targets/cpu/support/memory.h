// Memory aligned to 64 bytes, for heaps, arenas and what threads work in.

#ifndef RELAY_MEMORY_H
#define RELAY_MEMORY_H

#include <stddef.h>
#include <stdint.h>

// Memory of `bytes`; NULL when there is none.
void *relay_alloc(uint64_t bytes);

void relay_free(void *memory);

#endif
