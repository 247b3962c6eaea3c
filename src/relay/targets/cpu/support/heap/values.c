// Values for programs in C, owned by an arena: a list of blocks, freed together. Their counts never reach zero.

#include "heap/heap.h"
#include "linkage.h"
#include "memory.h"

typedef struct chunk relay_arena;

relay_arena *relay_arena_new(void)
{
    relay_arena *arena = relay_alloc(sizeof(struct chunk));
    if (arena != NULL)
        arena->next = NULL;
    return arena;
}

void relay_arena_free(relay_arena *arena)
{
    while (arena != NULL) {
        struct chunk *next = arena->next;
        relay_free(arena);
        arena = next;
    }
}

// `bytes` of the arena, or NULL.
RELAY_PART_OF_PROGRAM void *relay_arena_block(relay_arena *arena, uint64_t bytes)
{
    struct chunk *chunk = relay_alloc(sizeof(struct chunk) + bytes);
    if (chunk == NULL)
        return NULL;
    chunk->next = arena->next;
    arena->next = chunk;
    return chunk->memory;
}

// The arena takes over the chunks of a call's heap: the result lies in them.
RELAY_PART_OF_PROGRAM void relay_arena_take(relay_arena *arena, struct heap *heap)
{
    struct chunk *last = heap->chunks;
    if (last == NULL)
        return;
    while (last->next != NULL)
        last = last->next;
    last->next = arena->next;
    arena->next = heap->chunks;
}

// A value is handed in, by a caller who still holds it: no call may free it, nor write over what it holds. It may be
// given away more than once, where a call is begun again on a stack of its own.
RELAY_PART_OF_PROGRAM void relay_value_keep(word value)
{
    if (!is_immediate(value))
        object_of(value)->count = endless_count;
}

RELAY_HELPER struct object *new_object(relay_arena *arena, uint64_t bytes, uint32_t kind, uint32_t field_count)
{
    struct object *object = relay_arena_block(arena, bytes);
    if (object == NULL)
        return NULL;
    object->count = endless_count;
    object->label = kind;
    object->field_count = field_count;
    object->block_class = 0;
    return object;
}

struct tensor *relay_tensor(relay_arena *arena, uint32_t kind, void *data, uint32_t rank, const int64_t *extents)
{
    uint64_t extents_bytes = rank * sizeof(int64_t);
    struct tensor *tensor = (struct tensor *)new_object(arena, sizeof(struct tensor) + extents_bytes, kind, 1);
    if (tensor == NULL)
        return NULL;
    tensor->owner = ANOTHERS_DATA;
    tensor->data = data;
    __builtin_memcpy(tensor->extents, extents, extents_bytes);
    return tensor;
}

RELAY_HELPER _Bool all_set(const word *fields, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (fields[i] == 0)
            return 0;
    return 1;
}

word relay_cell(relay_arena *arena, uint32_t kind, uint32_t count, const word *fields)
{
    if (count == 0)
        return immediate(kind);
    if (!all_set(fields, count))
        return 0;
    uint64_t fields_bytes = count * sizeof(word);
    struct object *object = new_object(arena, sizeof(struct object) + fields_bytes, kind, count);
    if (object != NULL)
        __builtin_memcpy(object->fields, fields, fields_bytes);
    return (word)object;
}

uint32_t relay_kind(word value)
{
    return is_immediate(value) ? (uint32_t)(value >> 1) : object_of(value)->label;
}

word relay_field(const struct object *value, uint32_t position)
{
    return value->fields[position];
}

void *relay_data(const struct tensor *value)
{
    return value->data;
}

int64_t *relay_extents(struct tensor *value)
{
    return value->extents;
}
