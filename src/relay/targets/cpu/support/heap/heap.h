// The heap of one call: counted objects, freed when their count reaches zero and, all together, when the call's result
// has been taken.

#ifndef RELAY_HEAP_H
#define RELAY_HEAP_H

#include "heap/object.h"

enum {
    UNIT_BYTES = 64,
    SMALL_CLASSES = 16,   // blocks of class 1 to 16 have so many units; class 17 and up 2 KiB, 4 KiB, ...
    LARGEST_CLASS = 47,   // of what no machine has
    FIRST_CHUNK_BYTES = 256 << 10,
    CHUNK_HEAD_BYTES = 64,
    CHUNK_BYTES = (128 << 10) - CHUNK_HEAD_BYTES,
    LARGEST_SHARED_BYTES = 16 << 10, // of a block for which a new chunk is begun
};

// Memory that stays until the call's end.
struct chunk {
    struct chunk *next;
    uint8_t unused[CHUNK_HEAD_BYTES - sizeof(struct chunk *)];
    uint8_t memory[];
};
_Static_assert(offsetof(struct chunk, memory) == CHUNK_HEAD_BYTES, "memory of chunks is aligned as chunks are");

// Bytes that are to be at `to`, memory of the caller's. `from`: where they are; NULL until something is made there.
struct move {
    uint8_t *to;
    const uint8_t *from;
    uint64_t bytes;
};

struct heap {
    const uint8_t *constants;
    uint8_t *stack_end;
    uint64_t cursor, end; // addresses: the rest of a chunk
    struct chunk *chunks;
    int64_t alive; // objects
    int32_t status;
    word result;
    struct object *free_blocks[LARGEST_CLASS + 1]; // lists, by class
    uint8_t failure_target[504];                   // a jmp_buf
    struct move *outputs;                          // one a result, of callers who have room for those; else NULL
    int64_t only_once;                             // not 0 when the call must not be run again
    void *host;                                    // what calls functions of the caller's
    int64_t refused_index;                         // that ended the call,
    int64_t refused_extent;                        // and how many entries its axis has
    void *arena;                                   // of regions whose size the run computes,
    uint64_t arena_bytes;                          // 0 while there is none
    int64_t block_count;                           // blocks that objects and arenas have had so far
    void *on_devices;                              // a list of tensors, of programs that have such
    uint8_t first_chunk[]; // lies behind the heap itself, so that most calls ask for no memory
};
_Static_assert(offsetof(struct heap, stack_end) == 8, "layout of heaps");
_Static_assert(offsetof(struct heap, cursor) == 16, "layout of heaps");
_Static_assert(offsetof(struct heap, chunks) == 32, "layout of heaps");
_Static_assert(offsetof(struct heap, alive) == 40, "layout of heaps");
_Static_assert(offsetof(struct heap, status) == 48, "layout of heaps");
_Static_assert(offsetof(struct heap, result) == 56, "layout of heaps");
_Static_assert(offsetof(struct heap, free_blocks) == 64, "layout of heaps");
_Static_assert(offsetof(struct heap, failure_target) == 448, "layout of heaps");
_Static_assert(offsetof(struct heap, outputs) == 952, "layout of heaps");
_Static_assert(offsetof(struct heap, only_once) == 960, "layout of heaps");
_Static_assert(offsetof(struct heap, host) == 968, "layout of heaps");
_Static_assert(offsetof(struct heap, refused_index) == 976, "layout of heaps");
_Static_assert(offsetof(struct heap, refused_extent) == 984, "layout of heaps");
_Static_assert(offsetof(struct heap, arena_bytes) == 1000, "layout of heaps");
_Static_assert(offsetof(struct heap, block_count) == 1008, "layout of heaps");
_Static_assert(offsetof(struct heap, on_devices) == 1016, "layout of heaps");
_Static_assert(offsetof(struct heap, first_chunk) == 1024, "layout of heaps");

#endif
