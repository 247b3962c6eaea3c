// The state of the thread pool, in pages that the system wipes in a forked child.

#ifndef RELAY_POOL_STATE_H
#define RELAY_POOL_STATE_H

#include "linkage.h"
#include "parallel/parallel.h"
#include "system.h"

enum { MOST_THREADS = 1024 };

// What belongs to one thread; each has a cache line of its own.
struct share {
    int64_t next;    // iteration that nobody has taken
    int64_t end;     // the first that is not of this share
    uint64_t thread; // a pthread_t; not of the caller
    int64_t mirror;  // first and end of the share together where it is taken from its end, else 0
    void *scratch;   // of a worker: what bodies of loops work in, of so many bytes
    uint64_t scratch_bytes;
    int64_t unused[2];
};
_Static_assert(sizeof(struct share) == 64, "a cache line");

struct pool {
    int32_t lock;       // 1 while a region runs
    int32_t workers;    // started
    int32_t processors; // that the process may use, 0 until asked
    int32_t unused_0[13];

    uint32_t epoch; // number of regions so far; what workers sleep on
    int32_t sleepers;
    int32_t unused_1[14];

    uint32_t gate; // open or not, and the number of workers inside
    int32_t unused_2[15];

    loop_body *body;
    void *context;
    int64_t chunk;        // iterations that are taken at once
    int32_t wanted;       // workers that may enter: those of smaller number
    int32_t team;         // threads that have a share
    int32_t kept_free;    // processor of the caller when workers were last placed
    int32_t unused_3;
    uint64_t owner;       // for whom the caller works, whose call may be told to end
    int32_t unused_4[4];

    struct share shares[MOST_THREADS]; // of the caller, then of each worker
};
_Static_assert(offsetof(struct pool, epoch) == 64, "what different threads write to is in different cache lines");
_Static_assert(offsetof(struct pool, gate) == 128, "what different threads write to is in different cache lines");
_Static_assert(offsetof(struct pool, body) == 192, "what different threads write to is in different cache lines");
_Static_assert(offsetof(struct pool, shares) == 256, "what different threads write to is in different cache lines");

static struct pool *pool_pages;

// Pages of zeros, also in a child that is forked; NULL when the system has no such pages.
static struct pool *map_pool(void)
{
    void *pages = mmap(NULL, sizeof(struct pool), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == (void *)-1)
        return NULL;
    if (madvise(pages, sizeof(struct pool), MADV_WIPEONFORK) == 0)
        return pages;
    munmap(pages, sizeof(struct pool));
    return NULL;
}

// The pool's state, made by the first who asks.
RELAY_OUTLINED struct pool *make_pool(void)
{
    struct pool *pages = map_pool(), *known = NULL;
    if (pages == NULL || __atomic_compare_exchange_n(&pool_pages, &known, pages, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return pages;
    munmap(pages, sizeof(struct pool));
    return known;
}

static struct pool *find_pool(void)
{
    struct pool *known = __atomic_load_n(&pool_pages, __ATOMIC_ACQUIRE);
    return known != NULL ? known : make_pool();
}

#endif
