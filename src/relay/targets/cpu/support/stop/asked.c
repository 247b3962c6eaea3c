// Calls that end for Ctrl-C, because their time is up, or at a limit of steps or memory. A signal belongs to the process and its calls to one thread,
// a deadline to the thread that has it: what all look at says that somebody is asked, and a table whom.

#include "stop/stop.h"
#include "system.h"

enum {
    INTERRUPTED = -9,
    TIMED_OUT = -10,
    STEPS_USED_UP = -11,
    BY_SIGNAL = 1,   // of `relay_stop_asked`;
    BY_DEADLINE = 2, // counted in what is above, as limits are
    MOST_DEADLINES = 64,
    MOST_LIMITS = 64,
};

int32_t relay_stop_asked;

static uint64_t overdue[MOST_DEADLINES]; // threads whose time is up; 0 where there is none

// What a thread's calls have left. Others of its fields are written by who has the place.
struct limit {
    uint64_t thread; // 0 where there is none
    int64_t steps, bytes;
};
static struct limit limits[MOST_LIMITS];

static uint64_t interrupted_thread;      // whose calls Ctrl-C ends
static struct signal_action before_interrupt;
static int32_t owner_once, has_owner_key;
static uint32_t owner_key;

static void make_owner_key(void)
{
    int32_t is_made = pthread_key_create(&owner_key, NULL) == 0;
    __atomic_store_n(&has_owner_key, is_made, __ATOMIC_RELEASE);
}

uint64_t relay_stop_owner(void)
{
    uint64_t owner = 0;
    if (__atomic_load_n(&has_owner_key, __ATOMIC_ACQUIRE))
        owner = (uint64_t)pthread_getspecific(owner_key);
    return owner ? owner : pthread_self();
}

void relay_stop_act_for(uint64_t owner)
{
    pthread_once(&owner_once, make_owner_key);
    if (__atomic_load_n(&has_owner_key, __ATOMIC_ACQUIRE))
        pthread_setspecific(owner_key, (const void *)owner);
}

static _Bool is_overdue(uint64_t thread)
{
    for (uint32_t i = 0; i < MOST_DEADLINES; i++)
        if (__atomic_load_n(&overdue[i], __ATOMIC_ACQUIRE) == thread)
            return 1;
    return 0;
}

int32_t relay_stop_now(void)
{
    int32_t asked = __atomic_load_n(&relay_stop_asked, __ATOMIC_ACQUIRE);
    uint64_t thread = relay_stop_owner();
    if (asked & BY_SIGNAL && thread == interrupted_thread)
        return INTERRUPTED;
    return asked >= BY_DEADLINE && is_overdue(thread) ? TIMED_OUT : 0;
}

int32_t relay_stop_step(void)
{
    uint64_t thread = relay_stop_owner();
    for (uint32_t i = 0; i < MOST_LIMITS; i++)
        if (__atomic_load_n(&limits[i].thread, __ATOMIC_ACQUIRE) == thread && --limits[i].steps < 0)
            return STEPS_USED_UP;
    return relay_stop_now();
}

_Bool relay_stop_allows(uint64_t bytes)
{
    if (__atomic_load_n(&relay_stop_asked, __ATOMIC_ACQUIRE) < BY_DEADLINE)
        return 1;
    uint64_t thread = relay_stop_owner();
    for (uint32_t i = 0; i < MOST_LIMITS; i++)
        if (__atomic_load_n(&limits[i].thread, __ATOMIC_ACQUIRE) == thread && bytes > (uint64_t)limits[i].bytes)
            return 0;
    for (uint32_t i = 0; i < MOST_LIMITS; i++)
        if (__atomic_load_n(&limits[i].thread, __ATOMIC_ACQUIRE) == thread)
            limits[i].bytes -= (int64_t)bytes;
    return 1;
}

uint64_t relay_stop_limit(int64_t steps, int64_t bytes)
{
    for (uint64_t i = 0; i < MOST_LIMITS; i++) {
        uint64_t empty = 0;
        if (!__atomic_compare_exchange_n(&limits[i].thread, &empty, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            continue; // 1 is no thread
        limits[i].steps = steps;
        limits[i].bytes = bytes;
        __atomic_store_n(&limits[i].thread, relay_stop_owner(), __ATOMIC_RELEASE);
        __atomic_fetch_add(&relay_stop_asked, BY_DEADLINE, __ATOMIC_ACQ_REL);
        return i + 1;
    }
    return 0;
}

void relay_stop_unlimit(uint64_t place)
{
    __atomic_store_n(&limits[place - 1].thread, 0, __ATOMIC_RELEASE);
    __atomic_fetch_sub(&relay_stop_asked, BY_DEADLINE, __ATOMIC_ACQ_REL);
}

void relay_stop_begin(void)
{
    if (__atomic_load_n(&relay_stop_asked, __ATOMIC_ACQUIRE) & BY_SIGNAL && pthread_self() == interrupted_thread)
        __atomic_fetch_and(&relay_stop_asked, ~BY_SIGNAL, __ATOMIC_ACQ_REL);
}

static void on_interrupt(int signal, void *told, void *context)
{
    __atomic_fetch_or(&relay_stop_asked, BY_SIGNAL, __ATOMIC_ACQ_REL);
    before_interrupt.handler(signal, told, context);
}

void relay_stop_on_interrupt(uint64_t thread)
{
    struct signal_action now;
    if (sigaction(SIGINT, NULL, &now) || (uint64_t)now.handler < 2) // SIG_DFL, SIG_IGN
        return;
    if (interrupted_thread && now.handler != before_interrupt.handler)
        return; // it is ours, or of somebody who goes on with ours
    interrupted_thread = thread;
    before_interrupt = now;
    now.handler = on_interrupt;
    sigaction(SIGINT, &now, NULL);
}

void relay_stop_thread(uint64_t thread)
{
    for (uint32_t i = 0; i < MOST_DEADLINES; i++) {
        uint64_t empty = 0;
        if (!__atomic_compare_exchange_n(&overdue[i], &empty, thread, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            continue;
        __atomic_fetch_add(&relay_stop_asked, BY_DEADLINE, __ATOMIC_ACQ_REL);
        return;
    }
}

void relay_stop_forget(uint64_t thread)
{
    for (uint32_t i = 0; i < MOST_DEADLINES; i++) {
        uint64_t expected = thread;
        if (__atomic_compare_exchange_n(&overdue[i], &expected, 0, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            __atomic_fetch_sub(&relay_stop_asked, BY_DEADLINE, __ATOMIC_ACQ_REL);
    }
}
