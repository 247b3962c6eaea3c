// Running a region of a program on a device: what it reads goes there, its kernels run, what it made comes back.

#include "device/slot.h"
#include "linkage.h"
#include "system.h"

enum { WAIT_NANOSECONDS = 100000000 }; // before asking again whether the device is lost, or the call is to end

struct device_module {
    relay_handle loaded;
    const char *format;
    const void *data;
    uint64_t bytes;
};

// Bytes that go from an argument of the region to a buffer, or back, or from one buffer to another. Offsets and numbers
// of bytes are positions among the scalars of the call.
struct device_transfer {
    uint32_t argument, buffer, offset, bytes;
};

struct device_copy {
    uint32_t to_buffer, to_offset, from_buffer, from_offset, bytes;
};

// `command_modules`: the positions of the modules that the commands are of. `source`: the device that copies read, where
// that is another one.
struct device_region {
    const char *name;
    struct device_slot *device;
    const struct device_slot *source;
    struct device_module *modules;
    struct relay_command *commands;
    const uint32_t *command_modules;
    const struct device_transfer *uploads, *downloads;
    const struct device_copy *copies;
    relay_handle recording;
    uint32_t module_count, command_count, upload_count, download_count, copy_count;
    uint32_t arena_bytes, scalar_count, buffer_count; // `arena_bytes`: a position among the scalars
};
_Static_assert(sizeof(struct device_region) == 112, "layout of regions");

// What a region is run with. `buffers` has room for the arena and the constants, then come those of its arguments.
struct device_call {
    void **arguments;
    struct relay_buffer *buffers;
    const int64_t *scalars;
};

RELAY_HELPER void lock(struct device_slot *device)
{
    while (__atomic_exchange_n(&device->lock, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

RELAY_HELPER void unlock(struct device_slot *device) { __atomic_store_n(&device->lock, 0, __ATOMIC_RELEASE); }

// Whatever still runs has the memory until it is done.
RELAY_HELPER void give_back(const struct relay_device *table, struct relay_buffer *buffer)
{
    if (buffer->memory)
        table->release(table->context, buffer->memory);
    *buffer = (struct relay_buffer){0, 0};
}

// Make a buffer at least so large; what it held is lost. Whether there is memory.
RELAY_HELPER _Bool make_room(const struct relay_device *table, struct relay_buffer *buffer, uint64_t bytes)
{
    if (buffer->bytes >= bytes)
        return 1;
    give_back(table, buffer);
    buffer->memory = table->allocate(table->context, bytes);
    buffer->bytes = buffer->memory ? bytes : 0;
    return buffer->memory != 0;
}

// Constants are brought to the device once, all of them.
RELAY_OUTLINED _Bool relay_device_bring_constants(struct device_slot *device, const uint8_t *constants)
{
    const struct relay_device *table = device->table;
    if (!make_room(table, &device->constants, device->constant_bytes))
        return 0;
    for (uint64_t i = 0; i < device->constant_count; i++) {
        const struct device_constant *each = &device->constant_list[i];
        relay_handle memory = device->constants.memory;
        const uint8_t *from = constants + each->host_offset;
        if (table->upload(table->context, memory, each->device_offset, from, each->bytes))
            return 0;
    }
    device->has_constants = 1;
    return 1;
}

RELAY_HELPER _Bool load_modules(const struct relay_device *table, struct device_region *region)
{
    for (uint32_t i = 0; i < region->module_count; i++) {
        struct device_module *module = &region->modules[i];
        if (!module->loaded)
            module->loaded = table->load(table->context, module->format, module->data, module->bytes);
        if (!module->loaded)
            return 0;
    }
    return 1;
}

// What is done once: modules are loaded, and the commands are recorded.
RELAY_OUTLINED _Bool relay_device_record(const struct relay_device *table, struct device_region *region)
{
    if (!load_modules(table, region))
        return 0;
    for (uint32_t i = 0; i < region->command_count; i++)
        region->commands[i].module = region->modules[region->command_modules[i]].loaded;
    region->recording = table->record(table->context, region->commands, region->command_count);
    return region->recording != 0;
}

RELAY_HELPER _Bool is_interrupted(const struct device_slot *device)
{
    return device->interrupted && device->interrupted();
}

// Wait until an event has come. Gives a status.
RELAY_HELPER int32_t wait_for(const struct device_slot *device, relay_handle event)
{
    const struct relay_device *table = device->table;
    int32_t status = 0, state;
    do {
        state = table->wait(table->context, event, WAIT_NANOSECONDS);
        if (state == RELAY_DEVICE_NOT_YET && is_interrupted(device))
            status = DEVICE_INTERRUPTED;
        else if (state == RELAY_DEVICE_NOT_YET && table->is_lost(table->context))
            status = DEVICE_FAILED;
    } while (state == RELAY_DEVICE_NOT_YET && !status);
    table->release(table->context, event);
    return state < 0 ? DEVICE_FAILED : status;
}

RELAY_HELPER _Bool upload(
    const struct relay_device *table, const struct device_region *region, const struct device_call *call)
{
    for (uint32_t i = 0; i < region->upload_count; i++) {
        const struct device_transfer *each = &region->uploads[i];
        uint64_t offset = (uint64_t)call->scalars[each->offset], bytes = (uint64_t)call->scalars[each->bytes];
        relay_handle to = call->buffers[each->buffer].memory;
        if (bytes && table->upload(table->context, to, offset, call->arguments[each->argument], bytes))
            return 0;
    }
    return 1;
}

// Where the device has no way of its own from another one, bytes go through memory of the host.
RELAY_OUTLINED _Bool relay_device_copy_through_host(
    const struct relay_device *table, relay_handle to, uint64_t to_offset, const struct relay_device *source,
    relay_handle from, uint64_t from_offset, uint64_t bytes)
{
    void *room = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (room == MAP_FAILED)
        return 0;
    _Bool done = !source->download(source->context, room, from, from_offset, bytes) &&
                 !table->upload(table->context, to, to_offset, room, bytes);
    munmap(room, bytes);
    return done;
}

RELAY_HELPER _Bool copy_between(
    const struct relay_device *table, relay_handle to, uint64_t to_offset, const struct relay_device *source,
    relay_handle from, uint64_t from_offset, uint64_t bytes)
{
    if (!DEVICE_HAS(table, copy_from))
        return relay_device_copy_through_host(table, to, to_offset, source, from, from_offset, bytes);
    return !table->copy_from(table->context, to, to_offset, source->context, from, from_offset, bytes);
}

RELAY_HELPER _Bool copy(
    const struct relay_device *table, const struct device_region *region, const struct device_call *call)
{
    const struct relay_device *source = region->source ? region->source->table : 0;
    for (uint32_t i = 0; i < region->copy_count; i++) {
        const struct device_copy *each = &region->copies[i];
        relay_handle to = call->buffers[each->to_buffer].memory, from = call->buffers[each->from_buffer].memory;
        uint64_t to_offset = (uint64_t)call->scalars[each->to_offset];
        uint64_t from_offset = (uint64_t)call->scalars[each->from_offset];
        uint64_t bytes = (uint64_t)call->scalars[each->bytes];
        if (bytes && source && !copy_between(table, to, to_offset, source, from, from_offset, bytes))
            return 0;
        if (bytes && !source && table->copy(table->context, to, to_offset, from, from_offset, bytes))
            return 0;
    }
    return 1;
}

RELAY_HELPER _Bool download(
    const struct relay_device *table, const struct device_region *region, const struct device_call *call)
{
    for (uint32_t i = 0; i < region->download_count; i++) {
        const struct device_transfer *each = &region->downloads[i];
        uint64_t offset = (uint64_t)call->scalars[each->offset], bytes = (uint64_t)call->scalars[each->bytes];
        relay_handle from = call->buffers[each->buffer].memory;
        if (bytes && table->download(table->context, call->arguments[each->argument], from, offset, bytes))
            return 0;
    }
    return 1;
}

// Run the commands, and wait for them. What has not come to its end may still write to the arena: it is given up.
RELAY_HELPER int32_t run_commands(
    struct device_slot *device, const struct device_region *region, const struct device_call *call)
{
    const struct relay_device *table = device->table;
    relay_handle event = table->submit(
        table->context, region->recording, call->buffers, region->buffer_count, call->scalars, region->scalar_count);
    int32_t status = event ? wait_for(device, event) : DEVICE_FAILED;
    if (status)
        give_back(table, &device->arena);
    return status;
}

RELAY_HELPER int32_t run(
    struct device_slot *device, struct device_region *region, const struct device_call *call, const uint8_t *constants)
{
    const struct relay_device *table = device->table;
    if (is_interrupted(device))
        return DEVICE_INTERRUPTED;
    if (!device->has_constants && !relay_device_bring_constants(device, constants))
        return DEVICE_FAILED;
    if (region->command_count && !region->recording && !relay_device_record(table, region))
        return DEVICE_FAILED;
    if (!make_room(table, &device->arena, (uint64_t)call->scalars[region->arena_bytes]))
        return DEVICE_FAILED;
    call->buffers[0] = device->arena;
    call->buffers[1] = device->constants;
    if (!upload(table, region, call))
        return DEVICE_FAILED;
    int32_t status = region->command_count ? run_commands(device, region, call) : 0;
    if (status)
        return status;
    return copy(table, region, call) && download(table, region, call) ? 0 : DEVICE_FAILED;
}

// Run a region. `constants` are those of the program. Gives 0, or the status that ends the call.
RELAY_PART_OF_PROGRAM int32_t relay_device_run(
    struct device_region *region, void **arguments, struct relay_buffer *buffers, const int64_t *scalars,
    const uint8_t *constants)
{
    const struct device_call call = {arguments, buffers, scalars};
    if (!region->device->table)
        return DEVICE_MISSING;
    const struct relay_device *table = region->device->table;
    lock(region->device);
    if (DEVICE_HAS(table, begin_region))
        table->begin_region(table->context, region->name);
    int32_t status = run(region->device, region, &call, constants);
    if (DEVICE_HAS(table, end_region))
        table->end_region(table->context);
    unlock(region->device);
    return status;
}

RELAY_HELPER void release(const struct relay_device *table, relay_handle *handle)
{
    if (*handle)
        table->release(table->context, *handle);
    *handle = 0;
}

// Give back what a program has of its devices, when it is unloaded. It is connected to none then.
RELAY_PART_OF_PROGRAM void relay_device_close(struct device_region **regions, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        struct device_region *region = regions[i];
        const struct relay_device *table = region->device->table;
        if (!table)
            continue;
        release(table, &region->recording);
        for (uint32_t module = 0; module < region->module_count; module++)
            release(table, &region->modules[module].loaded);
        give_back(table, &region->device->arena);
        give_back(table, &region->device->constants);
        region->device->has_constants = 0;
    }
    for (uint64_t i = 0; i < count; i++)
        regions[i]->device->table = 0;
}
