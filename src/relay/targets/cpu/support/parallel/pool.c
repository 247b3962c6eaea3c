// The thread pool: parallel loops on Linux, by workers that spin for a while and then sleep on a futex.
//
// A *region* is one call of relay_parallel_for. Its caller takes the lock, publishes the loop, opens the gate and works
// itself. A worker that sees a new epoch enters through the gate if it is still open, takes chunks of iterations until
// there are none, and leaves. The caller, when there are no more chunks, shuts the gate and waits only for those
// inside: a worker that slept through a short region costs nothing.
//
// Every thread has a share of the iterations, the same in every region of the same loop: what a loop reads there again
// is still in that processor's own cache. Who is through with its share takes chunks of the others' shares (affinity
// scheduling: Markatos and LeBlanc, "Using Processor Affinity in Loop Scheduling on Shared-Memory Multiprocessors",
// 1992, section 2).
//
// Workers keep off the processor of the caller. The system likes to wake a thread where it was woken from: there it
// would wait for milliseconds while the caller does all the work itself.
//
// Who finds the lock taken (another thread's region, or one from inside a region) runs its loop alone. All state is in
// a page that the kernel wipes in a forked child, which therefore starts with no workers and no lock held.

#include "linkage.h"
#include "memory.h"
#include "parallel/parallel.h"
#include "parallel/placement.h"
#include "parallel/pool_state.h"
#include "parallel/target.h"
#include "stop/stop.h"
#include "system.h"

enum { CHUNKS_IN_A_SHARE = 4, TURNS_BEFORE_YIELD = 2000, CALLER = 0 };

static const uint32_t gate_open = (uint32_t)1 << 31;

// At most so many threads, as `relay_set_num_threads` was told; 0: as many as processors.
static int32_t asked_threads;

// What each thread allows loops that it starts, kept under a key that is made when it is first needed.
static int32_t limit_once;
static uint32_t limit_key;
static int32_t has_limit_key;

static inline int32_t min32(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static inline int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t divide_up(int64_t a, int64_t b)
{
    return (a + b - 1) / b;
}

RELAY_OUTLINED int32_t count_processors(void)
{
    struct set usable = {{0}};
    int32_t count = 0;
    sched_getaffinity(0, sizeof usable, &usable);
    for (int32_t i = 0; i < SET_WORDS; i++)
        count += __builtin_popcountll(usable.words[i]);
    return count == 0 ? 1 : count;
}

// How many processors the process may use, at least 1.
static int32_t processors_of(struct pool *pool)
{
    int32_t count = __atomic_load_n(&pool->processors, __ATOMIC_RELAXED);
    if (count == 0) {
        count = count_processors();
        __atomic_store_n(&pool->processors, count, __ATOMIC_RELAXED);
    }
    return count;
}

static _Bool limits_exist(void)
{
    return __atomic_load_n(&has_limit_key, __ATOMIC_ACQUIRE) != 0;
}

// The smaller of a number of threads and a limit, which is none if it is 0.
static int32_t limited(int32_t threads, int32_t limit)
{
    return limit > 0 ? min32(limit, threads) : threads;
}

// How many threads a loop uses that the calling thread starts.
static int32_t threads_of(struct pool *pool)
{
    int32_t threads = limited(processors_of(pool), __atomic_load_n(&asked_threads, __ATOMIC_RELAXED));
    return limits_exist() ? limited(threads, (int32_t)(intptr_t)pthread_getspecific(limit_key)) : threads;
}

static void make_limit_key(void)
{
    int32_t is_made = pthread_key_create(&limit_key, NULL) == 0;
    __atomic_store_n(&has_limit_key, is_made, __ATOMIC_RELEASE);
}

void relay_limit_threads(int32_t count)
{
    pthread_once(&limit_once, make_limit_key);
    if (limits_exist())
        pthread_setspecific(limit_key, (const void *)(uintptr_t)(uint32_t)count);
}

int32_t relay_num_threads(void)
{
    struct pool *pool = find_pool();
    return pool == NULL ? 1 : threads_of(pool);
}

void relay_set_num_threads(int32_t count)
{
    __atomic_store_n(&asked_threads, count, __ATOMIC_RELAXED);
    struct pool *pool = __atomic_load_n(&pool_pages, __ATOMIC_ACQUIRE);
    if (pool != NULL)
        __atomic_store_n(&pool->processors, 0, __ATOMIC_RELAXED);
}

void relay_set_pinning(int32_t on)
{
    __atomic_store_n(&relay_target_pinning, on, __ATOMIC_RELAXED);
}

// Take chunks of one share until there are none.
static void run_share(const struct pool *pool, struct share *share, loop_body *body, void *context, void *scratch)
{
    int64_t chunk = pool->chunk, end = share->end, mirror = share->mirror;
    while (__atomic_load_n(&share->next, __ATOMIC_RELAXED) < end) { // a share that is empty is not written to
        int64_t begin = __atomic_fetch_add(&share->next, chunk, __ATOMIC_RELAXED);
        if (begin >= end)
            return;
        int64_t stop = begin + min64(end - begin, chunk);
        if (mirror != 0)
            body(context, mirror - stop, mirror - begin, scratch);
        else
            body(context, begin, stop, scratch);
    }
}

// Take chunks of the published loop until there are none: of the share of this thread, then of those of the others.
static void run_chunks(struct pool *pool, int32_t own, void *scratch)
{
    loop_body *body = pool->body;
    void *context = pool->context;
    int32_t team = pool->team, whose = own;
    for (int32_t visited = 0; visited < team; visited++) {
        run_share(pool, &pool->shares[whose], body, context, scratch);
        whose = whose + 1 == team ? 0 : whose + 1;
    }
}

// Enter through the gate; whether it was open.
static _Bool enter(struct pool *pool)
{
    uint32_t state = __atomic_load_n(&pool->gate, __ATOMIC_RELAXED);
    while (state & gate_open)
        if (__atomic_compare_exchange_n(&pool->gate, &state, state + 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return 1;
    return 0;
}

static void leave(struct pool *pool)
{
    __atomic_fetch_sub(&pool->gate, 1, __ATOMIC_RELEASE);
}

// Sleep until the epoch is no longer what was seen; at once if it has changed.
static void sleep(struct pool *pool, uint32_t seen)
{
    __atomic_fetch_add(&pool->sleepers, 1, __ATOMIC_SEQ_CST);
    syscall(relay_target_futex_number, &pool->epoch, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
    __atomic_fetch_sub(&pool->sleepers, 1, __ATOMIC_SEQ_CST);
}

// Spin for a while, then sleep, until there is another region than the one that was seen. Gives its epoch.
static uint32_t wait_for_region(struct pool *pool, uint32_t seen)
{
    for (;;) {
        for (uint32_t turns = 0; turns < relay_target_spins_before_sleep; turns++) {
            uint32_t now = __atomic_load_n(&pool->epoch, __ATOMIC_ACQUIRE);
            if (now != seen)
                return now;
            relay_target_pause();
        }
        sleep(pool, seen);
    }
}

static void *work(void *argument)
{
    int32_t number = (int32_t)(intptr_t)argument;
    struct pool *pool = __atomic_load_n(&pool_pages, __ATOMIC_ACQUIRE);
    uint32_t seen = 0;
    for (;;) {
        seen = wait_for_region(pool, seen);
        if (number >= __atomic_load_n(&pool->wanted, __ATOMIC_RELAXED) || !enter(pool))
            continue;
        if (relay_stop_owner() != pool->owner)
            relay_stop_act_for(pool->owner);
        run_chunks(pool, number + 1, pool->shares[number + 1].scratch);
        leave(pool);
    }
}

// Start one worker; whether there is one more.
static _Bool start_worker(struct pool *pool, int32_t number)
{
    uint64_t thread;
    if (pthread_create(&thread, NULL, work, (void *)(intptr_t)number) != 0)
        return 0;
    pool->shares[number + 1].thread = thread;
    pthread_detach(thread);
    return 1;
}

// Start workers until there are `wanted`, as far as the system allows.
RELAY_OUTLINED void start_workers(struct pool *pool, int32_t wanted)
{
    // workers take no signals: those are the business of the program's own threads, but for what a thread does itself
    // (of SIGBUS see mapped.c)
    const uint64_t own = 1u << (SIGILL - 1) | 1u << (SIGTRAP - 1) | 1u << (SIGBUS - 1) | 1u << (SIGFPE - 1) |
                         1u << (SIGSEGV - 1);
    struct set all, before;
    __builtin_memset(&all, -1, sizeof all);
    all.words[0] = ~own;
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (pool->workers < wanted && start_worker(pool, pool->workers))
        pool->workers++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    place_off(pool, pool->workers, (uint32_t)sched_getcpu());
}

// Have `wanted` workers, and say how many there are of them. Called with the lock held.
static int32_t hire(struct pool *pool, int32_t wanted)
{
    if (pool->workers < wanted)
        start_workers(pool, wanted);
    return min32(pool->workers, wanted);
}

// Give each thread of the team its share of `count` iterations, all as equal as whole grains can be. A quarter of a
// share is taken at once: that evens out what runs unevenly.
static void share_out(struct pool *pool, int32_t team, int64_t count, int64_t grain, _Bool backwards)
{
    int64_t least = grain > 1 ? grain : 1, grains = divide_up(count, least), begin = 0;
    pool->team = team;
    pool->chunk = divide_up(grains, CHUNKS_IN_A_SHARE * (int64_t)team) * least;
    for (int64_t thread = 0; thread < team; thread++) {
        struct share *share = &pool->shares[thread];
        int64_t end = min64((thread + 1) * grains / team * least, count);
        __atomic_store_n(&share->next, begin, __ATOMIC_RELAXED);
        share->end = end;
        share->mirror = backwards ? begin + end : 0;
        begin = end;
    }
}

// Open the gate, and wake who sleeps.
static void open_region(struct pool *pool, int32_t workers)
{
    __atomic_store_n(&pool->gate, gate_open, __ATOMIC_RELEASE);
    __atomic_fetch_add(&pool->epoch, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&pool->sleepers, __ATOMIC_SEQ_CST) == 0)
        return;
    follow_caller(pool, workers);
    syscall(relay_target_futex_number, &pool->epoch, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

// Shut the gate, and wait for who is inside.
static void close_region(struct pool *pool)
{
    __atomic_fetch_and(&pool->gate, ~gate_open, __ATOMIC_ACQ_REL);
    for (uint32_t turns = 0; __atomic_load_n(&pool->gate, __ATOMIC_ACQUIRE) != 0; turns++) {
        relay_target_pause();
        if (turns > TURNS_BEFORE_YIELD)
            sched_yield();
    }
}

static _Bool take_lock(struct pool *pool)
{
    int32_t open = 0;
    return __atomic_compare_exchange_n(&pool->lock, &open, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void give_lock(struct pool *pool)
{
    __atomic_store_n(&pool->lock, 0, __ATOMIC_RELEASE);
}

// Whether a worker, which is not at work, has so much to work in. It keeps the largest that it was ever asked for.
static _Bool has_scratch(struct share *share, uint64_t bytes)
{
    if (share->scratch_bytes >= bytes)
        return 1;
    relay_free(share->scratch);
    share->scratch = relay_alloc(bytes);
    share->scratch_bytes = share->scratch == NULL ? 0 : bytes;
    return share->scratch != NULL;
}

// How many workers, the first of so many, have what they work in.
static int32_t equip(struct pool *pool, int32_t workers, uint64_t scratch_bytes)
{
    int32_t ready = 0;
    while (ready < workers && has_scratch(&pool->shares[ready + 1], scratch_bytes))
        ready++;
    return ready;
}

// The pool, its lock held, with as many workers as loops of this thread use; NULL when there are none to be had.
static struct pool *take_pool(int32_t *workers, uint64_t scratch_bytes, int32_t most)
{
    struct pool *pool = find_pool();
    int32_t wanted = pool == NULL ? 0 : limited(threads_of(pool), most) - 1;
    if (wanted <= 0 || !take_lock(pool))
        return NULL;
    *workers = equip(pool, hire(pool, wanted), scratch_bytes);
    if (*workers != 0)
        return pool;
    give_lock(pool);
    return NULL;
}

void relay_parallel_for(loop_body *body, void *context, int64_t count, int64_t grain, int64_t backwards, void *scratch,
                        uint64_t scratch_bytes, int32_t most)
{
    int32_t workers = 0;
    if (count <= 0)
        return;
    struct pool *pool = count > grain ? take_pool(&workers, scratch_bytes, most) : NULL;
    if (pool == NULL) {
        body(context, 0, count, scratch);
        return;
    }
    share_out(pool, workers + 1, count, grain, backwards != 0);
    pool->body = body;
    pool->context = context;
    pool->owner = relay_stop_owner();
    __atomic_store_n(&pool->wanted, workers, __ATOMIC_RELAXED);
    open_region(pool, workers);
    run_chunks(pool, CALLER, scratch);
    close_region(pool);
    give_lock(pool);
}
