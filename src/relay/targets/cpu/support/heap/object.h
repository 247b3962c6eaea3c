// Values of programs, as they lie in memory.
//
// A word is the address of an object, or odd: `2 * label + 1` is an object without fields, and has no count.
// `runtime/heap.py` and the emitted code know the same layout.

#ifndef RELAY_OBJECT_H
#define RELAY_OBJECT_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t word;

static const int64_t endless_count = (int64_t)1 << 60; // of objects that nobody frees one by one

struct object {
    union {
        int64_t count;
        struct object *next; // of the dead
    };
    union {
        struct {
            uint32_t label;
            uint32_t field_count; // words
        };
        uint64_t head; // both
    };
    uint64_t block_class; // see heap.h
    word fields[];
};
_Static_assert(offsetof(struct object, label) == 8, "layout of objects");
_Static_assert(offsetof(struct object, field_count) == 12, "layout of objects");
_Static_assert(offsetof(struct object, block_class) == 16, "layout of objects");
_Static_assert(offsetof(struct object, fields) == 24, "layout of objects");

// An object with one field: the object that owns its data; or an odd word that says who does.
struct tensor {
    int64_t count;
    uint64_t head;
    uint64_t block_class;
    word owner;
    void *data;
    int64_t extents[];
};
_Static_assert(offsetof(struct tensor, owner) == offsetof(struct object, fields), "a tensor is an object");
_Static_assert(offsetof(struct tensor, data) == 32, "layout of tensors");
_Static_assert(offsetof(struct tensor, extents) == 40, "layout of tensors");

// What `data` of a tensor is that has no field: its data are elsewhere, and this gives them back.
struct elsewhere {
    void (*give_back)(struct elsewhere *itself);
};

enum { OWN_DATA = 1, ANOTHERS_DATA = 3 }; // the tensor itself; the caller, or the constants: nobody may write them

static inline _Bool is_immediate(word value)
{
    return value & 1;
}

static inline word immediate(uint32_t label)
{
    return 2 * (word)label + 1;
}

static inline struct object *object_of(word value)
{
    return (struct object *)value;
}

#endif
