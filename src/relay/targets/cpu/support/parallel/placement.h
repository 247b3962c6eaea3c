// Which processors the workers of the pool may run on.

#ifndef RELAY_PLACEMENT_H
#define RELAY_PLACEMENT_H

#include "linkage.h"
#include "parallel/pool_state.h"
#include "parallel/target.h"
#include "system.h"

// The set of the first processor behind `last` that is in `all`; gives its number, SET_BITS when there is none.
static int32_t next_alone(const struct set *all, int32_t last, struct set *alone)
{
    for (int32_t i = last + 1; i < SET_BITS; i++) {
        uint64_t bit = (uint64_t)1 << i % 64;
        if (all->words[i / 64] & bit) {
            *alone = (struct set){{0}};
            alone->words[i / 64] = bit;
            return i;
        }
    }
    return SET_BITS;
}

// Let each worker run on one of the processors, a different one each, as far as they go.
static void place_apart(struct pool *pool, int32_t workers, const struct set *processors)
{
    struct set alone;
    int32_t last = -1;
    for (int32_t worker = 1; worker <= workers; worker++) {
        last = next_alone(processors, last, &alone);
        if (last == SET_BITS)
            return;
        pthread_setaffinity_np(pool->shares[worker].thread, sizeof alone, &alone);
    }
}

static void place_together(struct pool *pool, int32_t workers, const struct set *processors)
{
    for (int32_t worker = 1; worker <= workers; worker++)
        pthread_setaffinity_np(pool->shares[worker].thread, sizeof *processors, processors);
}

// Let the workers run on the processors that the process may use but for that of the caller.
RELAY_OUTLINED void place_off(struct pool *pool, int32_t workers, uint32_t processor)
{
    struct set others = {{0}};
    if (processor >= SET_BITS || sched_getaffinity(0, sizeof others, &others) != 0)
        return;
    pool->kept_free = (int32_t)processor;
    others.words[processor / 64] &= ~((uint64_t)1 << processor % 64);
    if (__atomic_load_n(&relay_target_pinning, __ATOMIC_RELAXED) != 0)
        place_apart(pool, workers, &others);
    else
        place_together(pool, workers, &others);
}

// Place the workers anew if the caller has moved since the last time. Called with the lock held.
static void follow_caller(struct pool *pool, int32_t workers)
{
    int32_t processor = sched_getcpu();
    if (processor != pool->kept_free)
        place_off(pool, workers, (uint32_t)processor);
}

#endif
