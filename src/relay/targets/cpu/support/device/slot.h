// What a program keeps of a device that it uses.

#ifndef RELAY_DEVICE_SLOT_H
#define RELAY_DEVICE_SLOT_H

#include "device/device.h"

enum {
    DEVICE_MISSING = -6,
    DEVICE_FAILED = -7,
    DEVICE_INTERRUPTED = -8,
};

// Whether a table has a function that it may do without.
#define DEVICE_HAS(device, function)                                                                                   \
    ((device)->table_bytes >= offsetof(struct relay_device, function) + sizeof (device)->function && (device)->function)

// A constant of the program, and its place among those of the device.
struct device_constant {
    uint64_t host_offset, device_offset, bytes;
};

// `table` is 0 until whoever loads the program has put it there. `interrupted`, if it is there, is asked while the device
// works: not 0 ends the call.
struct device_slot {
    const struct relay_device *table;
    int32_t (*interrupted)(void);
    struct relay_buffer arena, constants; // of the program; made when they are needed
    const struct device_constant *constant_list;
    uint64_t constant_count, constant_bytes;
    int32_t lock, has_constants; // 1 while a region runs; 1 when all constants are there
};
_Static_assert(offsetof(struct device_slot, interrupted) == 8, "layout of slots");
_Static_assert(sizeof(struct device_slot) == 80, "layout of slots");

#endif
