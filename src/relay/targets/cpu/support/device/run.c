// Running a region of a program on a device: what it reads goes there, its kernels run, what it made comes back.

#include "device/device.h"
#include "linkage.h"

enum {
    DEVICE_MISSING = -6,
    DEVICE_FAILED = -7,
    WAIT_NANOSECONDS = 1000000000, // before asking again whether the device is lost
};

int sched_yield(void);

// A device that a program uses. `table` is 0 until the program's loader has put it there.
struct device_slot {
    const struct relay_device *table;
    struct relay_buffer arena, constants; // of the program; made when they are needed
    int32_t lock, unused;                 // 1 while a region runs
};
_Static_assert(sizeof(struct device_slot) == 48, "layout of slots");

struct device_module {
    relay_handle loaded;
    const char *format;
    const void *data;
    uint64_t bytes;
};

// Bytes that go from an argument of the region to the arena, or back; or constants of the program. Numbers are positions
// among the scalars of the call.
struct device_transfer {
    uint32_t argument, offset, bytes;
};

struct device_constant {
    uint64_t host_offset, device_offset, bytes;
};

// `command_modules`: the positions of the modules that the commands are of.
struct device_region {
    struct device_slot *device;
    struct device_module *modules;
    struct relay_command *commands;
    const uint32_t *command_modules;
    const struct device_transfer *uploads, *downloads;
    const struct device_constant *constants;
    relay_handle recording;
    uint32_t module_count, command_count, upload_count, download_count, constant_count;
    uint32_t arena_bytes, scalar_count, unused; // `arena_bytes`: a position among the scalars
};
_Static_assert(sizeof(struct device_region) == 96, "layout of regions");

RELAY_HELPER void lock(struct device_slot *device)
{
    while (__atomic_exchange_n(&device->lock, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

RELAY_HELPER void unlock(struct device_slot *device) { __atomic_store_n(&device->lock, 0, __ATOMIC_RELEASE); }

// Make a buffer at least so large; what it held is lost. Whether there is memory.
RELAY_HELPER _Bool make_room(const struct relay_device *table, struct relay_buffer *buffer, uint64_t bytes)
{
    if (buffer->bytes >= bytes)
        return 1;
    if (buffer->memory)
        table->release(table->context, buffer->memory);
    buffer->memory = table->allocate(table->context, bytes);
    buffer->bytes = buffer->memory ? bytes : 0;
    return buffer->memory != 0;
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

// Constants of a region stay where they are: each has a place of its own in the buffer of the program.
RELAY_HELPER _Bool upload_constants(
    const struct relay_device *table, const struct device_region *region, const uint8_t *constants)
{
    for (uint32_t i = 0; i < region->constant_count; i++) {
        const struct device_constant *each = &region->constants[i];
        relay_handle memory = region->device->constants.memory;
        const uint8_t *from = constants + each->host_offset;
        if (table->upload(table->context, memory, each->device_offset, from, each->bytes))
            return 0;
    }
    return 1;
}

// What is done once: modules are loaded, constants are brought there, and the commands are recorded.
RELAY_OUTLINED _Bool relay_device_prepare(
    const struct relay_device *table, struct device_region *region, const uint8_t *constants, uint64_t constant_bytes)
{
    if (!load_modules(table, region) || !make_room(table, &region->device->constants, constant_bytes))
        return 0;
    if (!upload_constants(table, region, constants))
        return 0;
    for (uint32_t i = 0; i < region->command_count; i++)
        region->commands[i].module = region->modules[region->command_modules[i]].loaded;
    region->recording = table->record(table->context, region->commands, region->command_count);
    return region->recording != 0;
}

RELAY_HELPER _Bool finished(const struct relay_device *table, relay_handle event)
{
    int32_t state;
    do
        state = table->wait(table->context, event, WAIT_NANOSECONDS);
    while (state == RELAY_DEVICE_NOT_YET && !table->is_lost(table->context));
    table->release(table->context, event);
    return state == RELAY_DEVICE_DONE;
}

RELAY_HELPER _Bool run(
    const struct relay_device *table, struct device_region *region, void **arguments, const int64_t *scalars)
{
    struct device_slot *device = region->device;
    if (!make_room(table, &device->arena, (uint64_t)scalars[region->arena_bytes]))
        return 0;
    for (uint32_t i = 0; i < region->upload_count; i++) {
        const struct device_transfer *each = &region->uploads[i];
        uint64_t offset = (uint64_t)scalars[each->offset], bytes = (uint64_t)scalars[each->bytes];
        if (table->upload(table->context, device->arena.memory, offset, arguments[each->argument], bytes))
            return 0;
    }
    const struct relay_buffer buffers[] = {device->arena, device->constants};
    relay_handle event =
        table->submit(table->context, region->recording, buffers, 2, scalars, region->scalar_count);
    if (!event || !finished(table, event))
        return 0;
    for (uint32_t i = 0; i < region->download_count; i++) {
        const struct device_transfer *each = &region->downloads[i];
        uint64_t offset = (uint64_t)scalars[each->offset], bytes = (uint64_t)scalars[each->bytes];
        if (table->download(table->context, arguments[each->argument], device->arena.memory, offset, bytes))
            return 0;
    }
    return 1;
}

// Run a region. `arguments` are the addresses of what it reads and what it writes, `constants` those of the program,
// `constant_bytes` how many of them devices have. Gives 0, or the status that ends the call.
RELAY_PART_OF_PROGRAM int32_t relay_device_run(
    struct device_region *region, void **arguments, const int64_t *scalars, const uint8_t *constants,
    uint64_t constant_bytes)
{
    const struct relay_device *table = region->device->table;
    if (!table)
        return DEVICE_MISSING;
    lock(region->device);
    _Bool done = (region->recording || relay_device_prepare(table, region, constants, constant_bytes))
        && run(table, region, arguments, scalars);
    unlock(region->device);
    return done ? 0 : DEVICE_FAILED;
}

// Give back what a program has of a device, when it is unloaded.
RELAY_PART_OF_PROGRAM void relay_device_close(struct device_region **regions, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        struct device_region *region = regions[i];
        const struct relay_device *table = region->device->table;
        if (!table)
            continue;
        if (region->recording)
            table->release(table->context, region->recording);
        for (uint32_t module = 0; module < region->module_count; module++)
            if (region->modules[module].loaded)
                table->release(table->context, region->modules[module].loaded);
        struct relay_buffer *buffers[] = {&region->device->arena, &region->device->constants};
        for (uint32_t each = 0; each < 2; each++) {
            if (buffers[each]->memory)
                table->release(table->context, buffers[each]->memory);
            *buffers[each] = (struct relay_buffer){0, 0};
        }
    }
}
