// Giving an exported library its devices.

#include "device/slot.h"
#include "linkage.h"

enum {
    UNKNOWN_DEVICE = -1,
    OTHER_VERSION = -2,
};

struct named_device {
    const char *name; // "kind:0"
    struct device_slot *slot;
};

RELAY_HELPER _Bool is_same(const char *one, const char *other)
{
    while (*one && *one == *other)
        one++, other++;
    return *one == *other;
}

// Have the library use a device from now on. Gives 0, or why not.
RELAY_PART_OF_PROGRAM int32_t relay_device_connect(
    const struct named_device *devices, uint64_t count, const char *name, const struct relay_device *device)
{
    if (device->version != RELAY_DEVICE_VERSION || device->table_bytes < RELAY_DEVICE_LEAST_BYTES)
        return OTHER_VERSION;
    for (uint64_t i = 0; i < count; i++)
        if (is_same(devices[i].name, name)) {
            devices[i].slot->table = device;
            return 0;
        }
    return UNKNOWN_DEVICE;
}
