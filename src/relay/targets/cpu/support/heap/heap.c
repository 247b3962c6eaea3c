// The heap of one call. This is compiled as part of every program that needs it, so that its small functions are
// inlined there.
//
// Blocks are cut from chunks. What becomes of the dead is told apart: programs that run use their blocks again; with
// RELAY_HEAP_CHECKED, for finding errors of the compiler (`-heap=checked`), they stay dead. Their memory is poisoned
// (odd words, wild addresses) and not used again before the call ends, and who counts or reads them is counted.

#include "heap/heap.h"
#include "linkage.h"
#include "memory.h"
#include "stop/stop.h"

_Noreturn void longjmp(void *target, int value);

enum { NO_MEMORY = -1, STACK_USED_UP = -2, MEMORY_USED_UP = -12 };

RELAY_HELPER uint64_t block_bytes(uint64_t block_class)
{
    return block_class <= SMALL_CLASSES ? block_class * UNIT_BYTES : (uint64_t)1 << (block_class - 6);
}

#ifdef RELAY_HEAP_CHECKED

enum { POISON = 0x5B };
static const int64_t dead_count = -((int64_t)1 << 60);
static int64_t relay_heap_misuse_count;

// An object is counted or read: it should be alive.
RELAY_OUTLINED void relay_heap_watch(struct object *object)
{
    if (object->count > 0)
        return;
    __atomic_fetch_add(&relay_heap_misuse_count, 1, __ATOMIC_ACQ_REL);
    object->count = endless_count; // it is counted once
}

RELAY_OUTLINED void relay_heap_give_back(struct heap *heap, struct object *dead)
{
    (void)heap;
    dead->count = dead_count;
    if (dead->block_class != 0) // else it is in memory of a caller's, who gave it away
        __builtin_memset(dead->fields, POISON, block_bytes(dead->block_class) - sizeof(struct object));
}

// How often the dead were used in this process.
int64_t relay_heap_misuses(void)
{
    return __atomic_load_n(&relay_heap_misuse_count, __ATOMIC_ACQUIRE);
}

#else

RELAY_HELPER void relay_heap_watch(struct object *object)
{
    (void)object;
}

RELAY_HELPER void relay_heap_give_back(struct heap *heap, struct object *dead)
{
    dead->next = heap->free_blocks[dead->block_class];
    heap->free_blocks[dead->block_class] = dead;
}

int64_t relay_heap_misuses(void)
{
    return 0;
}

#endif

// End the call with a status. What the heap holds is freed with it.
__attribute__((noinline, cold, noreturn)) RELAY_PART_OF_PROGRAM void relay_heap_fail(struct heap *heap, int32_t status)
{
    heap->status = status;
    longjmp(heap->failure_target, 1);
}

// Memory that stays until the call's end.
RELAY_OUTLINED void *relay_heap_chunk(struct heap *heap, uint64_t bytes)
{
    if (!relay_stop_allows(bytes))
        relay_heap_fail(heap, MEMORY_USED_UP);
    struct chunk *chunk = relay_alloc(sizeof(struct chunk) + bytes);
    if (chunk == NULL)
        relay_heap_fail(heap, NO_MEMORY);
    chunk->next = heap->chunks;
    heap->chunks = chunk;
    return chunk->memory;
}

// A block of a class of which none is free: of the chunk, or of a new one. One that does not fit, and is so large that
// much of a chunk might be left over for it, has its own.
RELAY_OUTLINED struct object *relay_heap_more(struct heap *heap, uint64_t block_class)
{
    uint64_t bytes = block_bytes(block_class);
    heap->block_count++;
    if (bytes > heap->end - heap->cursor) {
        if (block_class == LARGEST_CLASS)
            relay_heap_fail(heap, NO_MEMORY);
        if (bytes > LARGEST_SHARED_BYTES)
            return relay_heap_chunk(heap, bytes);
        heap->cursor = (uint64_t)relay_heap_chunk(heap, CHUNK_BYTES);
        heap->end = heap->cursor + CHUNK_BYTES;
    }
    struct object *block = (struct object *)heap->cursor;
    heap->cursor += bytes;
    return block;
}

RELAY_HELPER uint64_t class_of(uint64_t bytes)
{
    if (bytes <= SMALL_CLASSES * UNIT_BYTES)
        return (bytes + UNIT_BYTES - 1) / UNIT_BYTES;
    uint64_t block_class = 70 - (uint64_t)__builtin_clzll(bytes - 1); // the power of two that is not less
    return block_class < LARGEST_CLASS ? block_class : LARGEST_CLASS;
}

// An object of `bytes` with count 1; the caller fills in the fields.
RELAY_INLINED struct object *relay_heap_new(struct heap *heap, uint64_t bytes, uint32_t label, uint32_t field_count)
{
    uint64_t block_class = class_of(bytes);
    struct object *object = heap->free_blocks[block_class];
    if (object == NULL)
        object = relay_heap_more(heap, block_class);
    else
        heap->free_blocks[block_class] = object->next;
    object->count = 1;
    object->label = label;
    object->field_count = field_count;
    object->block_class = block_class;
    heap->alive++;
    return object;
}

// An arena of `bytes` or more: the last one, if it is large enough, else one with room for the next power of two.
__attribute__((noinline)) RELAY_PART_OF_PROGRAM void *relay_heap_arena(struct heap *heap, uint64_t bytes)
{
    if (bytes > heap->arena_bytes) {
        uint64_t least = (2 * SMALL_CLASSES) * UNIT_BYTES;
        uint64_t block_class = class_of(bytes > least ? bytes : least);
        heap->arena = relay_heap_more(heap, block_class);
        heap->arena_bytes = block_bytes(block_class);
    }
    return heap->arena;
}

// A tensor with room for its data, aligned as far as that pays; the caller fills in the extents.
RELAY_INLINED struct tensor *relay_heap_tensor(struct heap *heap, uint64_t bytes, uint64_t rank, uint32_t label)
{
    uint64_t alignment = bytes < 64 ? 16 : 64;
    uint64_t offset = (sizeof(struct tensor) + rank * sizeof(int64_t) + alignment - 1) & -alignment;
    struct tensor *tensor = (struct tensor *)relay_heap_new(heap, offset + bytes, label, 1);
    tensor->owner = OWN_DATA;
    tensor->data = (uint8_t *)tensor + offset;
    return tensor;
}

// A tensor whose data are elsewhere. The caller makes a `struct elsewhere` of the `bytes`, and fills in the extents.
RELAY_INLINED struct tensor *relay_heap_tensor_elsewhere(
    struct heap *heap, uint64_t bytes, uint64_t rank, uint32_t label)
{
    struct tensor *tensor = relay_heap_tensor(heap, bytes, rank, label);
    ((struct object *)tensor)->field_count = 0;
    return tensor;
}

// A tensor whose data are in the caller's memory for a result, where that has this size and nothing was made there before.
RELAY_INLINED struct tensor *relay_heap_tensor_at(
    struct heap *heap, uint64_t bytes, uint64_t rank, uint32_t label, uint64_t output)
{
    struct move *move = &heap->outputs[output];
    if (heap->outputs == NULL || move->from != NULL || move->bytes != bytes)
        return relay_heap_tensor(heap, bytes, rank, label);
    uint64_t head_bytes = sizeof(struct tensor) + rank * sizeof(int64_t);
    struct tensor *tensor = (struct tensor *)relay_heap_new(heap, head_bytes, label, 1);
    tensor->owner = OWN_DATA;
    tensor->data = move->to;
    move->from = move->to;
    return tensor;
}

// Whether a tensor and its data have no users but so many, to whom both belong.
RELAY_HELPER _Bool is_held_by(const struct tensor *tensor, int64_t users)
{
    while (tensor->count == users && !is_immediate(tensor->owner)) {
        tensor = (const struct tensor *)tensor->owner;
        users = 1;
    }
    return tensor->count == users && tensor->owner == OWN_DATA;
}

// Whether nobody has a use for the data of `over` but who asks, and `cell` (if there is one), whose first field is
// overwritten next. Then it is a tensor of this label, and who asks is a user once more.
RELAY_HELPER _Bool is_taken_over(uint32_t label, word over, word cell)
{
    relay_heap_watch(object_of(over));
    int64_t users = 1 + (!is_immediate(cell) && object_of(cell)->fields[0] == over);
    if (!is_held_by((const struct tensor *)over, users))
        return 0;
    object_of(over)->count++;
    object_of(over)->label = label;
    return 1;
}

// A tensor over the data of `over`, which has as many bytes and axes or more, where that may be; else a new one.
RELAY_INLINED struct tensor *relay_heap_tensor_over(
    struct heap *heap, uint64_t bytes, uint64_t rank, uint32_t label, word over, word cell)
{
    return is_taken_over(label, over, cell) ? (struct tensor *)over : relay_heap_tensor(heap, bytes, rank, label);
}

// The same; a new one is in the caller's memory for a result, where that may be.
RELAY_INLINED struct tensor *relay_heap_tensor_over_or_at(
    struct heap *heap, uint64_t bytes, uint64_t rank, uint32_t label, word over, word cell, uint64_t output)
{
    if (is_taken_over(label, over, cell))
        return (struct tensor *)over;
    return relay_heap_tensor_at(heap, bytes, rank, label, output);
}

// Count one user less; whether that was the last.
RELAY_HELPER _Bool is_last_release(struct object *object)
{
    relay_heap_watch(object);
    return --object->count == 0;
}

// Release what a dead object owns. Those that die of it join the list of the dead.
RELAY_HELPER struct object *release_fields(struct object *dead, struct object *list)
{
    uint64_t count = dead->field_count;
    if (count == 0) {
        struct elsewhere *data = ((struct tensor *)dead)->data;
        data->give_back(data);
    }
    for (uint64_t i = 0; i < count; i++) {
        word field = dead->fields[i];
        if (!is_immediate(field) && is_last_release(object_of(field))) {
            object_of(field)->next = list;
            list = object_of(field);
        }
    }
    return list;
}

// Free a dead object and what dies with it. The dead wait in a list through their counts, so depth costs no stack.
RELAY_OUTLINED void relay_heap_bury(struct heap *heap, struct object *object)
{
    object->next = NULL;
    while (object != NULL) {
        struct object *list = release_fields(object, object->next);
        relay_heap_give_back(heap, object);
        heap->alive--;
        object = list;
    }
}

RELAY_INLINED void relay_heap_retain(word value)
{
    if (is_immediate(value))
        return;
    relay_heap_watch(object_of(value));
    object_of(value)->count++;
}

RELAY_INLINED void relay_heap_release(struct heap *heap, word value)
{
    if (!is_immediate(value) && is_last_release(object_of(value)))
        relay_heap_bury(heap, object_of(value));
}

RELAY_INLINED uint32_t relay_heap_label(word value)
{
    if (is_immediate(value))
        return (uint32_t)(value >> 1);
    relay_heap_watch(object_of(value));
    return object_of(value)->label;
}

RELAY_INLINED void relay_heap_check_stack(struct heap *heap)
{
    if ((uint8_t *)__builtin_frame_address(0) < heap->stack_end)
        relay_heap_fail(heap, STACK_USED_UP);
}

// Make a heap of the memory of one, and of the first chunk behind it. Who calls says before whether it may run again.
RELAY_PART_OF_PROGRAM void relay_heap_open(struct heap *heap, const uint8_t *constants)
{
    __builtin_memset(heap, 0, offsetof(struct heap, failure_target));
    heap->constants = constants;
    heap->result = immediate(0);
    heap->cursor = (uint64_t)heap->first_chunk;
    heap->end = heap->cursor + FIRST_CHUNK_BYTES;
    heap->arena_bytes = 0;
    heap->block_count = 0;
}

// Release the result of a call. Gives how many objects are left: those of cycles through refs.
int64_t relay_heap_drop_result(struct heap *heap)
{
    word result = heap->result;
    heap->result = immediate(0);
    relay_heap_release(heap, result);
    return heap->alive;
}

// Whether what `move` copies is written over by one before it.
RELAY_HELPER _Bool is_written_before(const struct move *moves, const struct move *move)
{
    for (const struct move *each = moves; each < move; each++)
        if (each->to == move->from && each->to != each->from)
            return 1;
    return 0;
}

// Copy results to where callers have them, but for those that are there. Each lies alone, or begins where another is to
// be: then it is set aside. Gives a status.
__attribute__((noinline)) RELAY_PART_OF_PROGRAM int32_t relay_heap_move(
    struct heap *heap, struct move *moves, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        if (moves[i].to == moves[i].from || !is_written_before(moves, &moves[i]))
            continue;
        struct chunk *aside = relay_alloc(sizeof(struct chunk) + moves[i].bytes);
        if (aside == NULL)
            return NO_MEMORY;
        aside->next = heap->chunks;
        heap->chunks = aside;
        __builtin_memcpy(aside->memory, moves[i].from, moves[i].bytes);
        moves[i].from = aside->memory;
    }
    for (uint64_t i = 0; i < count; i++)
        if (moves[i].to != moves[i].from)
            __builtin_memcpy(moves[i].to, moves[i].from, moves[i].bytes);
    return 0;
}

// Free all memory of a call.
void relay_heap_close(struct heap *heap)
{
    struct chunk *chunk = heap->chunks;
    heap->chunks = NULL;
    while (chunk != NULL) {
        struct chunk *next = chunk->next;
        relay_free(chunk);
        chunk = next;
    }
}
