// Running a call on a stack of its own, since a recursive program may need more than its caller has. The stack is
// address space until it is touched.

#include "linkage.h"
#include <stddef.h>
#include <stdint.h>

struct thread_attributes {
    _Alignas(16) uint8_t of_the_c_library[128]; // a pthread_attr_t: the largest has 64 bytes
};

int pthread_attr_init(struct thread_attributes *attributes);
int pthread_attr_destroy(struct thread_attributes *attributes);
int pthread_attr_setstacksize(struct thread_attributes *attributes, size_t bytes);
int pthread_create(uint64_t *thread, const struct thread_attributes *how, void *(*entry)(void *), void *argument);
int pthread_join(uint64_t thread, void **result);

static const uint64_t most_bytes = 1 << 30, least_bytes = 1 << 20;

// What the emitted entry is called with, and how large the stack is that it runs on.
struct deep_call {
    void *buffers, *symbols, *workspace, *constants;
    uint64_t stack_bytes;
};
_Static_assert(offsetof(struct deep_call, stack_bytes) == 32, "emitted code reads it there");

// Start `entry(call)` on the largest stack that can be had; whether there is one.
RELAY_HELPER _Bool start(
    uint64_t *thread, struct thread_attributes *attributes, void *(*entry)(void *), struct deep_call *call)
{
    for (uint64_t bytes = most_bytes; bytes >= least_bytes; bytes /= 2) {
        pthread_attr_setstacksize(attributes, bytes);
        call->stack_bytes = bytes;
        if (pthread_create(thread, attributes, entry, call) == 0)
            return 1;
    }
    return 0;
}

// Run `entry(call)` on a thread with a large stack and wait for it. Gives its status, or -1 when there is no thread.
RELAY_PART_OF_PROGRAM int32_t relay_on_deep_stack(void *(*entry)(void *), struct deep_call *call)
{
    struct thread_attributes attributes;
    uint64_t thread;
    void *status;
    pthread_attr_init(&attributes);
    _Bool started = start(&thread, &attributes, entry, call);
    pthread_attr_destroy(&attributes);
    if (!started)
        return -1;
    pthread_join(thread, &status);
    return (int32_t)(intptr_t)status;
}
