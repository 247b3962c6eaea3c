// Aligned memory.
//
// A block of memory stands behind a head of 64 bytes that holds its size. Blocks of some pages that are given back are
// kept for the next who asks for about as much: the system would take them back and clear their pages anew, which takes
// longer than many a kernel. A few are kept, none of them huge.

#include "memory.h"

int posix_memalign(void **memory, size_t alignment, size_t bytes);
void free(void *memory);

enum {
    ALIGNMENT_BYTES = 64,
    KEPT_LARGE_BLOCKS = 8,
    KEPT_BLOCKS = 64, // the large ones first
    SMALLEST_KEPT_BYTES = 4 << 10,
    SMALLEST_LARGE_BYTES = 1 << 20,
    LARGEST_KEPT_BYTES = 32 << 20,
};

struct block {
    uint64_t bytes; // behind the head
    uint8_t unused[ALIGNMENT_BYTES - sizeof(uint64_t)];
};
_Static_assert(sizeof(struct block) == ALIGNMENT_BYTES, "what stands behind the head is aligned as the head is");

static struct block *kept_blocks[KEPT_BLOCKS]; // NULL where none is kept
static uint64_t kept_bytes[KEPT_BLOCKS];       // about how large each is, to be looked at before it is taken
static uint64_t replaced;                      // how many made room for another

struct places {
    uint64_t first, end;
};

// Where blocks of that size are kept.
static struct places places_of(uint64_t bytes)
{
    if (bytes >= SMALLEST_LARGE_BYTES)
        return (struct places){0, KEPT_LARGE_BLOCKS};
    return (struct places){KEPT_LARGE_BLOCKS, KEPT_BLOCKS};
}

static _Bool is_kept(uint64_t bytes)
{
    return bytes >= SMALLEST_KEPT_BYTES && bytes <= LARGEST_KEPT_BYTES;
}

// Whether a block serves who asks for `wanted`: it has that, and at most twice as much.
static _Bool serves(uint64_t bytes, uint64_t wanted)
{
    return bytes >= wanted && bytes - wanted <= wanted;
}

// Put a block in an empty place; whether there was one. It is another's as soon as it is there: its size is known
// before.
static _Bool keep_at(uint64_t place, struct block *block, uint64_t bytes)
{
    struct block *empty = NULL;
    if (__atomic_load_n(&kept_blocks[place], __ATOMIC_RELAXED) != NULL)
        return 0; // looked at first: a place that is full is not written to
    if (!__atomic_compare_exchange_n(&kept_blocks[place], &empty, block, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        return 0;
    __atomic_store_n(&kept_bytes[place], bytes, __ATOMIC_RELAXED);
    return 1;
}

// Keep a block. Gives one to free: this, where it is of another size, or one that made room; else NULL.
static struct block *keep(struct block *block)
{
    uint64_t bytes = block->bytes;
    if (!is_kept(bytes))
        return block;
    struct places places = places_of(bytes);
    for (uint64_t place = places.first; place < places.end; place++)
        if (keep_at(place, block, bytes))
            return NULL;
    uint64_t number = __atomic_fetch_add(&replaced, 1, __ATOMIC_RELAXED);
    uint64_t place = places.first + number % (places.end - places.first);
    struct block *old = __atomic_exchange_n(&kept_blocks[place], block, __ATOMIC_ACQ_REL);
    __atomic_store_n(&kept_bytes[place], bytes, __ATOMIC_RELAXED);
    return old;
}

// Take the block at a place if it serves. Its noted size may be that of one before it: the block itself is asked again.
static struct block *take_at(uint64_t place, uint64_t bytes)
{
    if (!serves(__atomic_load_n(&kept_bytes[place], __ATOMIC_RELAXED), bytes))
        return NULL;
    struct block *block = __atomic_exchange_n(&kept_blocks[place], NULL, __ATOMIC_ACQUIRE);
    if (block == NULL || serves(block->bytes, bytes))
        return block;
    free(keep(block));
    return NULL;
}

static struct block *take(uint64_t bytes)
{
    struct block *block = NULL;
    struct places places = places_of(bytes);
    if (is_kept(bytes))
        for (uint64_t place = places.first; place < places.end && block == NULL; place++)
            block = take_at(place, bytes);
    return block;
}

static struct block *ask_system(uint64_t bytes)
{
    void *memory = NULL;
    if (posix_memalign(&memory, ALIGNMENT_BYTES, sizeof(struct block) + bytes) != 0)
        return NULL;
    struct block *block = memory;
    block->bytes = bytes;
    return block;
}

void *relay_alloc(uint64_t bytes)
{
    if (bytes > INT64_MAX - ALIGNMENT_BYTES) // with its head it is no size
        return NULL;
    uint64_t size = bytes < ALIGNMENT_BYTES ? ALIGNMENT_BYTES : bytes;
    struct block *block = take(size);
    if (block == NULL)
        block = ask_system(size);
    return block == NULL ? NULL : block + 1;
}

void relay_free(void *memory)
{
    if (memory != NULL)
        free(keep((struct block *)memory - 1));
}
