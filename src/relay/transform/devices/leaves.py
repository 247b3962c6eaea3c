"""The tensors of a value, as far as its type tells them apart.

    (Tensor[(2,), float32], List[Tensor[(2,), float32]])        field 0; and the elements of the list in field 1

Each tensor in nested tuples is one by itself. Of data and refs there may be any number, one inside another: the tensors
that one field holds, of whatever constructor made it at whatever depth, are one leaf. Functions have what they take and
give for fields. So values of one type have the same leaves, whoever made them, and so have their parts.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import field
from typing import TypeAlias, TypeVar

from relay.base.frozen import frozen, mutable
from relay.ir.expr import Constructor
from relay.ir.module import IRModule
from relay.ir.type_traversal import instantiated, map_type, tuple_leaves
from relay.ir.types import FuncType, GlobalTypeVar, RefType, TensorType, Type, TypeCall

MOST_HOLDERS = 64
"""So many types of data, refs and functions are followed into one another: a data type may hold itself at ever larger
types."""


@frozen
class Slot:
    """The tensors at a `path` of nested tuples in a field of all data of one constructor; or in refs, or of functions
    (`""`). In the type `holder` all extents are 0: callers and callees name theirs differently."""

    holder: Type
    constructor: str
    field: int
    path: tuple[int, ...]


@frozen
class Leaf:
    """The tensor at a `path` of nested tuples; or in what holds others there, those of a slot."""

    path: tuple[int, ...] = ()
    slot: Slot | None = None
    is_scalar: bool = False

    def in_field(self, index: int) -> Leaf:
        """The leaf of a tuple that has this in a field."""
        return Leaf((index, *self.path), self.slot, self.is_scalar)


Of = TypeVar("Of")
Part: TypeAlias = Mapping[Leaf, Of]
"""What is known of each leaf of a value."""


@mutable
class Leaves:
    """The leaves of the types of a module."""

    module: IRModule
    _known: dict[Type, tuple[Leaf, ...]] = field(default_factory=dict)

    def of(self, type_: Type | None) -> tuple[Leaf, ...]:
        """The leaves of a type, in order; those of tuples one field after another."""
        if type_ is None:
            return ()
        shapeless = _shapeless(type_)
        if shapeless not in self._known:
            self._known[shapeless] = tuple(self._found(shapeless))
        return self._known[shapeless]

    def of_held(self, holder: Type | None, part: Part[Of], constructor: Constructor | None, index: int) -> Part[Of]:
        """What is known of a field of data, given what is of the data. Without a constructor, of what a ref holds, or a
        function takes, and behind that gives."""
        fields = self.field_types(holder, constructor)
        if holder is None or index >= len(fields):
            return {}
        whole, name = _shapeless(holder), "" if constructor is None else constructor.name_hint
        found = {leaf: _inside(leaf, whole, name, index) for leaf in self.of(fields[index])}
        return {leaf: part[inside] for leaf, inside in found.items() if inside in part}

    def field_types(self, holder: Type | None, constructor: Constructor | None) -> list[Type]:
        """The types of the fields of data, without extents; or of a ref, or a function."""
        if holder is None:
            return []
        name = "" if constructor is None else constructor.name_hint
        return [each for made, _, each in self._fields(_shapeless(holder)) if made == name]

    def _found(self, type_: Type) -> Iterator[Leaf]:
        for path, each in tuple_leaves(type_):
            if isinstance(each, TensorType):
                yield Leaf(path, None, not each.shape)
            else:
                yield from (Leaf(path, leaf.slot, leaf.is_scalar) for leaf in self._held(each))

    def _held(self, holder: Type) -> tuple[Leaf, ...]:
        """The leaves of data, refs and functions; none where one type leads to too many others."""
        found: dict[Leaf, None] = {}
        met = {holder: None}
        waiting = [holder]
        while waiting:
            whole = waiting.pop()
            for constructor, index, field_ in self._fields(whole):
                for path, each in tuple_leaves(field_):
                    if isinstance(each, TensorType):
                        found[_inside(Leaf(path, None, not each.shape), whole, constructor, index)] = None
                    elif each not in met:
                        met[each] = None
                        waiting.append(each)
            if len(met) > MOST_HOLDERS:
                return ()
        return tuple(found)

    def _fields(self, holder: Type) -> Iterator[tuple[str, int, Type]]:
        """The fields of each constructor; of a ref what it holds, of a function what it takes and gives."""
        match holder:
            case RefType(value):
                yield "", 0, value
            case FuncType(arg_types, ret_type, ()):
                for index, each in enumerate((*arg_types, ret_type)):
                    yield "", index, each
            case GlobalTypeVar() | TypeCall():
                name, args = (holder.func, holder.args) if isinstance(holder, TypeCall) else (holder, ())
                definition = self.module.type_definitions.get(name)
                for constructor in definition.constructors if definition else ():
                    given = dict(zip(definition.type_vars if definition else (), args, strict=False))
                    for index, each in enumerate(constructor.inputs):
                        yield constructor.name_hint, index, _shapeless(instantiated(each, given))
            case _:
                pass


def of_tuple(part: Part[Of], index: int) -> Part[Of]:
    """What is known of a field, given what is of the tuple."""
    return {
        Leaf(leaf.path[1:], leaf.slot, leaf.is_scalar): known
        for leaf, known in part.items()
        if leaf.path[:1] == (index,)
    }


def _inside(leaf: Leaf, holder: Type, constructor: str, index: int) -> Leaf:
    """A leaf of a field as one of the data that the field is of."""
    return Leaf((), leaf.slot or Slot(holder, constructor, index, leaf.path), leaf.is_scalar)


def _shapeless(type_: Type) -> Type:
    return map_type(type_, dimension=lambda _: 0)
