// Python's objects and NumPy's arrays, read where this interpreter and this NumPy keep them. Where that is, is found
// out by looking at an array (`runtime/array_layout.py`): nothing here is compiled against their headers. Nothing is
// changed.

#ifndef RELAY_CPYTHON_ARRAY_H
#define RELAY_CPYTHON_ARRAY_H

#include <stddef.h>
#include <stdint.h>

// How each object begins.
struct python_object {
    int64_t references;
    const void *type;
};

// What arrays are compared by: their type, where their parts are, in bytes from their start, and flags that must be
// set.
struct array_layout {
    const void *array_type;
    int64_t data;
    int64_t rank;
    int64_t extents;
    int64_t element_type;
    int64_t flags;
    uint64_t wanted_flags;
};
_Static_assert(sizeof(struct array_layout) == 7 * 8, "as `array_layout().words()` has it");

static inline const void *at(const void *object, int64_t offset)
{
    return (const uint8_t *)object + offset;
}

static inline int64_t word_at(const void *object, int64_t offset)
{
    return *(const int64_t *)at(object, offset);
}

static inline const void *address_at(const void *object, int64_t offset)
{
    return *(const void *const *)at(object, offset);
}

static inline int64_t array_rank(const struct python_object *array, const struct array_layout *layout)
{
    return *(const int32_t *)at(array, layout->rank);
}

static inline const int64_t *array_extents(const struct python_object *array, const struct array_layout *layout)
{
    return address_at(array, layout->extents);
}

// Whether an object is an array of this element type and rank that can be read as it is.
static inline _Bool is_plain_array(
    const struct python_object *object, const struct array_layout *layout, const void *element_type, int64_t rank)
{
    if (object->type != layout->array_type)
        return 0; // nothing is known of where it has its parts
    uint32_t wanted = (uint32_t)layout->wanted_flags, flags = *(const uint32_t *)at(object, layout->flags);
    return address_at(object, layout->element_type) == element_type && array_rank(object, layout) == rank &&
           (flags & wanted) == wanted;
}

#endif
