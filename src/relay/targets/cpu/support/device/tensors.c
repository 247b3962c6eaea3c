// Tensors on devices. On the heap of a call they are tensors like others, whose data are a `device_tensor`.
//
// What is released in the course of a call gives its memory back at once; what a call that fails leaves behind is found
// in a list.

#include "device/slot.h"
#include "heap/object.h"
#include "linkage.h"

struct device_tensor {
    struct relay_buffer buffer;
    const struct relay_device *table;
    struct device_tensor *next, **previous; // of the call's
};
_Static_assert(sizeof(struct device_tensor) == 40, "emitted code makes room for it");

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
    *tensor = (struct device_tensor){{memory, bytes}, table, *list, list};
    if (*list)
        (*list)->previous = &tensor->next;
    *list = tensor;
    return 0;
}

RELAY_HELPER void give_back(const struct device_tensor *tensor)
{
    if (tensor->buffer.memory)
        tensor->table->release(tensor->table->context, tensor->buffer.memory);
}

// A tensor, or a view of one, is released next: if that was the last use of its memory, give it back.
RELAY_PART_OF_PROGRAM void relay_device_drop(word value)
{
    const struct tensor *tensor = (const struct tensor *)value;
    while (tensor->count == 1 && !is_immediate(tensor->owner))
        tensor = (const struct tensor *)tensor->owner;
    if (tensor->count != 1)
        return;
    struct device_tensor *dead = tensor->data;
    give_back(dead);
    *dead->previous = dead->next;
    if (dead->next)
        dead->next->previous = dead->previous;
}

// Give back the memory of all tensors of a call.
RELAY_PART_OF_PROGRAM void relay_device_sweep(struct device_tensor **list)
{
    for (const struct device_tensor *each = *list; each; each = each->next)
        give_back(each);
    *list = 0;
}
