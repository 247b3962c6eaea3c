// Memory aligned to 64 bytes, for kernels, heaps and arenas.

#ifndef RELAY_MEMORY_H
#define RELAY_MEMORY_H

#include <stddef.h>
#include <stdint.h>

// Memory of `bytes`; NULL, and one failure more, when there is none.
void *relay_alloc(uint64_t bytes);

void relay_free(void *memory);

// How often memory could not be had in this process. A call during which it grew has no result to trust.
int64_t relay_allocation_failures(void);

#endif
