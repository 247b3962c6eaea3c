// What a device offers to native code: a table of functions, of which nobody but the device knows what is behind them.
// `docs/devices.md` is the reference.
//
// Memory of a device, modules, recordings and events are told apart by handles; 0 is none. No address of the device's
// ever leaves it: a place in its memory is a buffer's handle and an offset. What gives an `int32_t` gives 0 when all went
// well. A function that fails leaves its reason in `last_error`.

#ifndef RELAY_DEVICE_H
#define RELAY_DEVICE_H

#include <stddef.h>
#include <stdint.h>

enum {
    RELAY_DEVICE_VERSION = 1,
    RELAY_DEVICE_AXES = 3, // of a grid, and of a group of threads
    RELAY_DEVICE_DONE = 0, // what `wait` gives, else negative
    RELAY_DEVICE_NOT_YET = 1,
    RELAY_ARGUMENT_BUFFER = 0,
    RELAY_ARGUMENT_SCALAR = 1,
    RELAY_ACCESS_READ = 1,
    RELAY_ACCESS_WRITE = 2,
};

typedef uint64_t relay_handle;

struct relay_buffer {
    relay_handle memory;
    uint64_t bytes;
};

// What an entry of a module is given: a place in a buffer, or a number. Both are told by positions: `buffer` among the
// buffers of a submission, `scalar` among its scalars, where the offset in bytes stands, or the number itself, which
// entries take as an integer of `scalar_bytes`.
struct relay_argument {
    uint32_t kind, access, buffer, scalar, scalar_bytes;
};

// A launch of an entry. Extents of the grid and of a group, and the bytes of memory that a group shares, are positions
// among the scalars of a submission. Nothing is launched where an extent of the grid is 0.
struct relay_command {
    relay_handle module;
    const char *entry;
    uint32_t grid[RELAY_DEVICE_AXES], group[RELAY_DEVICE_AXES], group_memory_bytes, argument_count;
    const struct relay_argument *arguments;
};
_Static_assert(offsetof(struct relay_command, arguments) == 48, "layout of commands");

struct relay_device {
    uint32_t version, table_bytes;
    void *context; // the first argument of every function

    relay_handle (*allocate)(void *context, uint64_t bytes);
    void (*release)(void *context, relay_handle any);
    int32_t (*upload)(void *context, relay_handle to, uint64_t offset_bytes, const void *from, uint64_t bytes);
    int32_t (*download)(void *context, void *to, relay_handle from, uint64_t offset_bytes, uint64_t bytes);
    int32_t (*copy)(
        void *context, relay_handle to, uint64_t to_offset_bytes, relay_handle from, uint64_t from_offset_bytes,
        uint64_t bytes);

    relay_handle (*load)(void *context, const char *format, const void *module, uint64_t bytes);

    // Commands run in their order, each after the one before has written what it writes. `record` keeps no pointer.
    relay_handle (*record)(void *context, const struct relay_command *commands, uint64_t count);

    // An event: when the recording has run with these buffers and scalars.
    relay_handle (*submit)(
        void *context, relay_handle recording, const struct relay_buffer *buffers, uint64_t buffer_count,
        const int64_t *scalars, uint64_t scalar_count);
    int32_t (*wait)(void *context, relay_handle event, uint64_t timeout_nanoseconds);
    int64_t (*nanoseconds_between)(void *context, relay_handle first, relay_handle second); // of events; negative: not known

    const char *(*last_error)(void *context); // of the calling thread, until its next call
    int32_t (*is_lost)(void *context);        // not 0: no call will ever succeed again

    // What a table may do without, from here on: it ends before, or has null.

    // From another device of this kind, whose context is `source`.
    int32_t (*copy_from)(
        void *context, relay_handle to, uint64_t to_offset_bytes, void *source, relay_handle from,
        uint64_t from_offset_bytes, uint64_t bytes);

    // What is asked of the device between these two is of the region of this name, for tools that watch it.
    void (*begin_region)(void *context, const char *name);
    void (*end_region)(void *context);
};
_Static_assert(offsetof(struct relay_device, allocate) == 16, "layout of the table");
_Static_assert(offsetof(struct relay_device, copy_from) == 112, "layout of the table");
_Static_assert(sizeof(struct relay_device) == 136, "layout of the table");

enum { RELAY_DEVICE_LEAST_BYTES = offsetof(struct relay_device, copy_from) };

#endif
