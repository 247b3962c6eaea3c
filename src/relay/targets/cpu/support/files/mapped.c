// Files that native code reads as memory. When one is cut short meanwhile the system has no pages to give, and sends a
// signal that ends the process. Here pages of zeros take their place, and it is noted that what was computed is worth
// nothing: the call ends in an error. Addresses that are nobody's are left to whoever took the signal before.

#include "files/watch.h"
#include "system.h"

enum { MOST_RANGES = 1024 };
enum { NOBODYS = 0, BEING_WRITTEN = 1 }; // no range starts there

struct range {
    uint64_t start;
    uint64_t bytes;
    int64_t lost; // whether pages were
};

static struct range ranges[MOST_RANGES];
static int32_t is_handling;
static struct signal_action before;

static _Bool contains(const struct range *range, uint64_t address)
{
    uint64_t start = __atomic_load_n(&range->start, __ATOMIC_ACQUIRE);
    return start > BEING_WRITTEN && address - start < range->bytes;
}

// The range that an address is in, or NULL.
static struct range *range_of(uint64_t address)
{
    for (uint64_t i = 0; i < MOST_RANGES; i++)
        if (contains(&ranges[i], address))
            return &ranges[i];
    return NULL;
}

// Put a page of zeros where an address is; whether that was possible.
static _Bool put_zeros(uint64_t address)
{
    int64_t page_bytes = getpagesize();
    void *page = (void *)(address & -(uint64_t)page_bytes);
    return mmap(page, page_bytes, PROT_READ, MAP_PRIVATE | MAP_FIXED | MAP_ANONYMOUS, -1, 0) != MAP_FAILED;
}

static void pass_on(int signal, void *told, void *context)
{
    _Bool is_plain = (uint64_t)before.handler < 2; // SIG_DFL, SIG_IGN: it comes again, and is not ours then
    if (is_plain)
        sigaction(SIGBUS, &before, NULL);
    else
        before.handler(signal, told, context);
}

static void handle(int signal, void *told, void *context)
{
    uint64_t address = ((const struct signal_information *)told)->address;
    struct range *range = range_of(address);
    if (range != NULL)
        __atomic_store_n(&range->lost, 1, __ATOMIC_RELEASE);
    if (range == NULL || !put_zeros(address))
        pass_on(signal, told, context);
}

static void handle_once(void)
{
    int32_t no = 0;
    if (!__atomic_compare_exchange_n(&is_handling, &no, 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return;
    struct signal_action action = {handle, {{0}}, SA_SIGINFO | SA_ONSTACK, NULL};
    sigaction(SIGBUS, &action, &before);
}

int64_t *relay_watch(uint64_t start, uint64_t bytes)
{
    handle_once();
    for (uint64_t i = 0; i < MOST_RANGES; i++) {
        struct range *range = &ranges[i];
        uint64_t empty = NOBODYS;
        if (!__atomic_compare_exchange_n(
                &range->start, &empty, BEING_WRITTEN, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            continue;
        range->bytes = bytes;
        range->lost = 0;
        __atomic_store_n(&range->start, start, __ATOMIC_RELEASE);
        return &range->lost;
    }
    return NULL;
}

void relay_unwatch(int64_t *lost)
{
    struct range *range = (struct range *)((uint8_t *)lost - offsetof(struct range, lost));
    __atomic_store_n(&range->start, NOBODYS, __ATOMIC_RELEASE);
}
