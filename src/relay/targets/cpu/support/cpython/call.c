// A call from Python: arrays are read where NumPy keeps them, compared with what the entry takes, and the entry is run
// without Python's lock. What does not fit is left to the caller, which can say why.

#include "cpython/array.h"

enum { CONSTANTS_LOST = -5, DOES_NOT_FIT = INT32_MIN };

// What the entry takes, made by `runtime/quick_call.py`.
struct wanted {
    int64_t array_count;
    int64_t items; // where a tuple has its items, in bytes from its start
    struct array_layout layout;
    int64_t symbol_count;
    int64_t arrays[]; // for each its element type, its rank, and its extents: a number, or -1-k for symbol k
};
_Static_assert(offsetof(struct wanted, layout) == 2 * 8, "words of `wanted`");
_Static_assert(offsetof(struct wanted, arrays) == 10 * 8, "words of `wanted`");

// What a running call works in.
struct frame {
    int32_t (*entry)(void **buffers, int64_t *symbols, void *workspace, const void *constants);
    const void *constants;
    void *workspace;
    const struct wanted *wanted;
    void *(*give_up_lock)(void);
    void (*take_lock)(void *thread);
    int64_t *symbols;
    void *buffers[];
};
_Static_assert(offsetof(struct frame, buffers) == 7 * 8, "words of frames");

// Whether constants are no longer what they were. Where that is noted stands before the frame.
static _Bool constants_are_lost(const struct frame *frame)
{
    const int64_t *lost = ((const int64_t *const *)frame)[-1];
    return __atomic_load_n(lost, __ATOMIC_ACQUIRE) != 0;
}

// Whether an extent is what is wanted. A symbol is what it is the first time.
static _Bool extent_fits(int64_t extent, int64_t wanted, int64_t *symbols)
{
    if (wanted >= 0)
        return extent == wanted;
    int64_t *symbol = &symbols[~wanted], known = *symbol;
    *symbol = extent;
    return known < 0 || known == extent;
}

static _Bool extents_fit(const int64_t *extents, const int64_t *wanted, int64_t rank, int64_t *symbols)
{
    for (int64_t axis = 0; axis < rank; axis++)
        if (!extent_fits(extents[axis], wanted[axis], symbols))
            return 0;
    return 1;
}

// Compare the arrays with what is wanted; their data become the entry's buffers, their extents its symbols.
static _Bool arrays_fit(const void *arrays, struct frame *frame)
{
    const struct wanted *wanted = frame->wanted;
    const struct array_layout *layout = &wanted->layout;
    const struct python_object *const *items = at(arrays, wanted->items);
    const int64_t *spec = wanted->arrays;
    __builtin_memset(frame->symbols, -1, wanted->symbol_count * sizeof(int64_t));
    for (int64_t i = 0; i < wanted->array_count; i++) {
        const struct python_object *array = items[i];
        int64_t rank = spec[1];
        if (!is_plain_array(array, layout, (const void *)spec[0], rank))
            return 0;
        if (!extents_fit(array_extents(array, layout), spec + 2, rank, frame->symbols))
            return 0;
        frame->buffers[i] = (void *)address_at(array, layout->data);
        spec += 2 + rank;
    }
    return 1;
}

// Gives the entry's status, DOES_NOT_FIT when an array does not fit, CONSTANTS_LOST when they were lost meanwhile.
int32_t relay_call(const void *arrays, struct frame *frame)
{
    if (!arrays_fit(arrays, frame))
        return DOES_NOT_FIT;
    void *thread = frame->give_up_lock();
    int32_t status = frame->entry(frame->buffers, frame->symbols, frame->workspace, frame->constants);
    frame->take_lock(thread);
    return constants_are_lost(frame) ? CONSTANTS_LOST : status;
}
