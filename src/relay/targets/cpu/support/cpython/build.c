// Values of Python's as objects that programs read: instances of classes whose fields are in slots, lists, and arrays,
// are read where Python and NumPy keep them. What does not fit is left to the caller, which can say why.
//
// Plans, made by `runtime/quick_build.py`, say what objects are made of what is met. Objects whose fields still hold
// what Python has there wait in a list, so nothing is recursive. What is met twice is made once.

#include "cpython/array.h"
#include "heap/object.h"

struct cell;

// Room for the objects, and a table of what was met.
struct room {
    word *start;
    word *end;
    struct met *table;
    uint64_t mask; // its entries less one: a power of two
    struct array_layout layout;
};
_Static_assert(offsetof(struct room, layout) == 4 * 8, "words of the frame that Python makes");

struct met {
    const struct python_object *value; // NULL where the entry is free
    word object;
    const struct cell *cell;
    uint64_t unused;
};
_Static_assert(sizeof(struct met) == 4 * 8, "words of the table that Python makes");

// What is made of data: a cell for each class.
struct plan {
    int64_t class_count;
    struct known_class {
        const void *type;
        const struct cell *cell;
    } classes[];
};

// What is made of an array; its first word is negative.
struct tensor_plan {
    int64_t is_tensor;
    uint64_t head;
    const void *element_type;
    int64_t rank;
    int64_t extents[];
};

// What is made of an instance of a class; of a list where `count` is negative.
struct cell {
    uint64_t head;
    int64_t count;
    struct planned_field {
        int64_t offset; // where an instance has it, in bytes from its start
        const struct plan *plan;
    } fields[];
};

// What is made of a list: a chain of links.
struct list_cell {
    uint64_t head;
    int64_t is_list;
    word empty;
    int64_t length; // where lists have their length and the address of their items, in bytes from their start
    int64_t items;
    struct cell link; // its one planned field is the item
};
_Static_assert(offsetof(struct list_cell, link) == 5 * 8, "words of the plan that Python makes");

// An object whose fields are still Python's.
struct waiting {
    const struct cell *cell; // in place of the count
    uint64_t head;
    struct waiting *next; // in place of the class
    word fields[];
};
_Static_assert(offsetof(struct waiting, fields) == offsetof(struct object, fields), "it becomes the object");

struct builder {
    const struct room *room;
    word *cursor;
    struct waiting *list;
};

enum outcome { REFUSED = 0, FULL = -1, MADE = 1 };

static _Bool has_room(const struct builder *builder, uint64_t words)
{
    return words <= (uint64_t)(builder->room->end - builder->cursor);
}

static void put_in_list(struct builder *builder, struct waiting *object, const struct cell *cell, uint64_t head)
{
    object->cell = cell;
    object->head = head;
    object->next = builder->list;
    builder->list = object;
}

static enum outcome make_tensor(
    struct builder *builder, const struct python_object *array, const struct tensor_plan *plan, word *slot)
{
    const struct array_layout *layout = &builder->room->layout;
    if (!is_plain_array(array, layout, plan->element_type, plan->rank))
        return REFUSED;
    uint64_t words = sizeof(struct tensor) / sizeof(word) + (uint64_t)plan->rank;
    if (!has_room(builder, words))
        return FULL;
    struct tensor *tensor = (struct tensor *)builder->cursor;
    tensor->count = endless_count;
    tensor->head = plan->head;
    tensor->block_class = 0;
    tensor->owner = ANOTHERS_DATA;
    tensor->data = (void *)address_at(array, layout->data);
    const int64_t *extents = array_extents(array, layout);
    for (int64_t axis = 0; axis < plan->rank; axis++) {
        if (extents[axis] != plan->extents[axis])
            return REFUSED;
        tensor->extents[axis] = extents[axis];
    }
    builder->cursor += words;
    *slot = (word)tensor;
    return MADE;
}

// A chain as long as the list, whose items are still Python's.
static enum outcome make_chain(
    struct builder *builder, const struct python_object *list, const struct list_cell *cell, word *slot)
{
    enum { ITEM, NEXT, FIELDS };
    const uint64_t link_words = sizeof(struct object) / sizeof(word) + FIELDS;
    uint64_t length = (uint64_t)word_at(list, cell->length);
    if (!has_room(builder, length * link_words))
        return FULL;
    const word *items = address_at(list, cell->items);
    for (uint64_t i = 0; i < length; i++) {
        struct waiting *link = (struct waiting *)builder->cursor;
        if (items[i] == 0)
            return REFUSED;
        put_in_list(builder, link, &cell->link, cell->head);
        link->fields[ITEM] = items[i];
        *slot = (word)link;
        slot = &link->fields[NEXT];
        builder->cursor += link_words;
    }
    *slot = cell->empty;
    return MADE;
}

// A cell whose fields are still Python's.
static enum outcome make_cell(
    struct builder *builder, const struct python_object *instance, const struct cell *cell, word *slot)
{
    uint64_t words = sizeof(struct object) / sizeof(word) + (uint64_t)cell->count;
    if (!has_room(builder, words))
        return FULL;
    struct waiting *object = (struct waiting *)builder->cursor;
    put_in_list(builder, object, cell, cell->head);
    for (int64_t i = 0; i < cell->count; i++) {
        object->fields[i] = (word)address_at(instance, cell->fields[i].offset);
        if (object->fields[i] == 0)
            return REFUSED; // it is not set
    }
    builder->cursor += words;
    *slot = (word)object;
    return MADE;
}

// The entry of a value in the table, or the free one where it belongs. There are more entries than values.
static struct met *find(const struct room *room, const struct python_object *value)
{
    uint64_t position = ((uint64_t)value >> 4) * 0x9E3779B97F4A7C15 >> 32; // Fibonacci hashing
    struct met *met = &room->table[position & room->mask];
    while (met->value != NULL && met->value != value)
        met = &room->table[++position & room->mask];
    return met;
}

// What was made of a value before, or what is made of it now.
static enum outcome make_once(
    struct builder *builder, const struct python_object *value, const struct cell *cell, word *slot)
{
    struct met *met = find(builder->room, value);
    if (met->value != NULL) {
        *slot = met->object;
        return met->cell == cell ? MADE : REFUSED;
    }
    enum outcome outcome = cell->count < 0 ? make_chain(builder, value, (const struct list_cell *)cell, slot)
                                           : make_cell(builder, value, cell, slot);
    *met = (struct met){value, *slot, cell, 0};
    return outcome;
}

static enum outcome make_data(
    struct builder *builder, const struct python_object *value, const struct cell *cell, word *slot)
{
    const struct list_cell *list = (const struct list_cell *)cell;
    if (cell->count < 0 && word_at(value, list->length) == 0) {
        *slot = list->empty;
        return MADE;
    }
    if (cell->count == 0) {
        *slot = immediate((uint32_t)cell->head);
        return MADE;
    }
    return make_once(builder, value, cell, slot);
}

// Replace the value of Python's in a slot by the word of what is made of it.
static enum outcome make(struct builder *builder, const struct plan *plan, word *slot)
{
    const struct python_object *value = (const struct python_object *)*slot;
    if (plan->class_count < 0)
        return make_tensor(builder, value, (const struct tensor_plan *)plan, slot);
    for (int64_t i = 0; i < plan->class_count; i++)
        if (plan->classes[i].type == value->type)
            return make_data(builder, value, plan->classes[i].cell, slot);
    return REFUSED;
}

static enum outcome make_fields(struct builder *builder, const struct cell *cell, word *fields)
{
    enum outcome outcome = MADE;
    for (int64_t i = 0; i < cell->count && outcome == MADE; i++)
        outcome = make(builder, cell->fields[i].plan, &fields[i]);
    return outcome;
}

static struct object *take_from_list(struct builder *builder)
{
    struct waiting *waiting = builder->list;
    builder->list = waiting->next;
    struct object *object = (struct object *)waiting;
    object->count = endless_count;
    object->block_class = 0;
    return object;
}

// Gives the value's word; REFUSED when something does not fit, FULL when there is no room.
int64_t relay_build(const struct python_object *root, const struct plan *plan, const struct room *room)
{
    struct builder builder = {room, room->start + 1, NULL};
    *room->start = (word)root;
    enum outcome outcome = make(&builder, plan, room->start);
    while (outcome == MADE && builder.list != NULL) {
        const struct cell *cell = builder.list->cell;
        outcome = make_fields(&builder, cell, take_from_list(&builder)->fields);
    }
    return outcome == MADE ? (int64_t)*room->start : outcome;
}
