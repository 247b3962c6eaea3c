// Tensors on devices. On the heap of a call they are tensors like others, whose data are a `device_tensor`.
//
// Memory is given back with the last use of a tensor, whoever held that; what a call leaves behind is found in a list.

#include "device/slot.h"
#include "heap/object.h"
#include "linkage.h"

struct device_tensor {
    struct elsewhere elsewhere;
    struct relay_buffer buffer;
    const struct relay_device *table;
    struct device_tensor *next, **previous; // of the call's
};
_Static_assert(offsetof(struct device_tensor, buffer) == 8, "emitted code reads it there");
_Static_assert(sizeof(struct device_tensor) == 48, "emitted code makes room for it");

RELAY_HELPER void release_memory(const struct device_tensor *tensor)
{
    if (tensor->buffer.memory)
        tensor->table->release(tensor->table->context, tensor->buffer.memory);
}

RELAY_OUTLINED void relay_device_give_back(struct elsewhere *dead)
{
    struct device_tensor *tensor = (struct device_tensor *)dead;
    release_memory(tensor);
    *tensor->previous = tensor->next;
    if (tensor->next)
        tensor->next->previous = tensor->previous;
}

// Give a tensor memory of the device, and put it on the list. Gives 0, or the status that ends the call.
RELAY_PART_OF_PROGRAM int32_t relay_device_tensor(
    struct device_tensor *tensor, struct device_tensor **list, const struct device_slot *device, uint64_t bytes)
{
    const struct relay_device *table = device->table;
    if (!table)
        return DEVICE_MISSING;
    relay_handle memory = bytes ? table->allocate(table->context, bytes) : 0;
    if (bytes && !memory)
        return DEVICE_FAILED;
    *tensor = (struct device_tensor){{relay_device_give_back}, {memory, bytes}, table, *list, list};
    if (*list)
        (*list)->previous = &tensor->next;
    *list = tensor;
    return 0;
}

// Give back the memory of all tensors that a call leaves: that failed, or whose refs are in cycles.
RELAY_PART_OF_PROGRAM void relay_device_sweep(struct device_tensor **list)
{
    for (const struct device_tensor *each = *list; each; each = each->next)
        release_memory(each);
    *list = 0;
}
