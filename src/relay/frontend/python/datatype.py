"""`@relay.datatype`: a Python class as an algebraic data type.

    @relay.datatype
    class Tree:
        class Leaf: ...
        class Node:
            left: "Tree"
            value: relay.Tensor[(128,)]
            right: "Tree"

The classes inside are the constructors: dataclasses that inherit from the class around them, so `match` works in
Python and in programs alike. A class with fields of its own and no classes inside has one constructor, itself.
"""

from __future__ import annotations

import dataclasses
import inspect
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any, cast

from relay.base.arguments import CLASS, expect
from relay.base.diagnostics import RelayError
from relay.frontend.python.notation import as_type
from relay.frontend.python.syntax.source import names_around
from relay.frontend.python.tuples import Form, field_types, form_in, is_named_tuple
from relay.ir.datatype import TypeData, held_types
from relay.ir.expr import Call, Constructor, Expr
from relay.ir.type_traversal import instantiated
from relay.ir.types import GlobalTypeVar, Type, TypeCall, TypeVar
from relay.text.prelude import prelude_types


class DataTypes(dict[GlobalTypeVar, TypeData]):
    """Data types by their names; `classes` are those that they are in Python."""

    def __init__(self, known: Iterable[tuple[GlobalTypeVar, TypeData]] = ()) -> None:
        super().__init__(known)
        self.classes: dict[GlobalTypeVar, Any] = {}
        self._fields: dict[tuple[object, ...], tuple[Type, Mapping[str, tuple[Type, ...]]]] = {}
        self._have_forms: dict[tuple[object, ...], tuple[Type, bool]] = {}

    def fields(self, type_: TypeCall | GlobalTypeVar) -> Mapping[str, tuple[Type, ...]]:
        """The types of the fields of a data type, by constructor; the same ones for the same arguments."""
        header, arguments = (type_.func, type_.args) if isinstance(type_, TypeCall) else (type_, ())
        key = header, *map(id, arguments)  # types that differ in the names of their parts alone are equal
        if key not in self._fields:
            data = self[header]
            known = dict(zip(data.type_vars, arguments, strict=True))
            made = {
                each.name_hint: tuple(instantiated(part, known) for part in each.inputs) for each in data.constructors
            }
            self._fields[key] = type_, made
        return self._fields[key][1]

    def have_forms(self, type_: Type, counts: Callable[[Form], bool] = lambda _: True) -> bool:
        """Whether values of a type have parts with names, in forms that count, also inside data."""
        key = id(type_), counts
        if key not in self._have_forms:
            forms = (form_in(part) for part in held_types(type_, self))
            self._have_forms[key] = type_, any(form is not None and counts(form) for form in forms)
        return self._have_forms[key][1]


class DataInstance:
    """What values of data types inherit from. Their fields are in slots: native code can read them."""

    __slots__ = ()
    __relay_type__: typing.ClassVar[GlobalTypeVar]
    __relay_variants__: typing.ClassVar[Mapping[str, type]]
    __relay_variant__: typing.ClassVar[str] = ""
    __relay_names__: typing.ClassVar[Mapping[str, Any]]

    def to_expr(self, part: Callable[[Any, Type | None], Expr], known: DataTypes) -> Expr:
        """The call of the constructor that makes this value."""
        constructor = constructor_of(type(self), known)
        values = [getattr(self, each.name) for each in dataclasses.fields(cast("Any", self))]
        return Call(constructor, tuple(part(v, t) for v, t in zip(values, constructor.inputs, strict=True)))


def datatype(definition: type) -> type:
    """Make a class a data type of Relay.

    Raises `RelayError` (rule `bad-datatype`) for a class that declares no constructor.

    >>> from relay.frontend.python.notation import Tensor
    >>> @datatype
    ... class Shape:
    ...     class Dot: ...
    ...     class Line:
    ...         length: Tensor[()]
    >>> Shape.Line(2.0)
    Shape.Line(length=2.0)
    """
    expect(definition, CLASS, "what is read as a data type")
    inside = {name: each for name, each in vars(definition).items() if isinstance(each, type)}
    if not inside and not inspect.get_annotations(definition):
        raise RelayError(
            rule="bad-datatype",
            message=f"the class `{definition.__name__}` declares no constructor",
            expected="classes inside it, each with its fields; or fields of its own",
        )
    name = definition.__name__
    if name in _TAKEN:
        raise RelayError(
            rule="bad-datatype", message=f"`{name}` is what Python's {_TAKEN[name]} is in a program",
            remedy="give the class another name",
        )  # fmt: skip
    body = {key: each for key, each in vars(definition).items() if key not in inside and key not in _OF_EVERY_CLASS}
    bases = (DataInstance, *vars(definition).get("__orig_bases__", definition.__bases__))
    marks = {"__relay_type__": GlobalTypeVar(name), "__relay_names__": names_around(2), "__slots__": ()}
    base = _made(name, bases, {**body, **marks})
    variants: dict[str, type] = {}
    for variant, declared in inside.items() if inside else [(name, definition)]:
        constructor = f"{name}{variant}" if variant in _constructors_of_prelude() else variant
        members = {key: each for key, each in vars(declared).items() if key not in _OF_EVERY_CLASS}
        members |= {"__relay_variant__": constructor, "__qualname__": f"{name}.{variant}" if inside else name}
        whole = base if inside else _applied(base)
        variants[constructor] = dataclasses.dataclass(frozen=True, slots=True)(_made(variant, (whole,), members))
        if inside:
            setattr(base, variant, variants[constructor])
    base.__relay_variants__ = variants
    return base if inside else next(iter(variants.values()))


@cache
def _constructors_of_prelude() -> frozenset[str]:
    """Names that programs know already. What is called so in Python has the name of its data type before its own."""
    return frozenset(constructor.name_hint for data in prelude_types() for constructor in data.constructors)


def _applied(generic: Any) -> Any:
    """A class for its own parameters: what inherits from that is as generic as it is."""
    variables = getattr(generic, "__parameters__", ())
    return generic[variables] if variables else generic


def _made(name: str, bases: tuple[Any, ...], members: dict[str, Any]) -> type:
    return types.new_class(name, bases, exec_body=lambda namespace: namespace.update(members))


_TAKEN = {"List": "list", "Option": "None beside another type"}
_OF_EVERY_CLASS = ("__dict__", "__weakref__", "__orig_bases__", "__parameters__")


def constructor_of(variant: type, known: DataTypes) -> Constructor:
    """The constructor that a class stands for; its data type joins `known`."""
    data = define(variant, known)
    return next(each for each in data.constructors if each.name_hint == cast("Any", variant).__relay_variant__)


def field_names(variant: type) -> list[str]:
    """The fields of a constructor, in order."""
    return [each.name for each in dataclasses.fields(cast("Any", variant))]


def define(definition: Any, known: DataTypes) -> TypeData:
    """The data type of a class, among `known` with all those that its fields speak of."""
    header: GlobalTypeVar = definition.__relay_type__
    whole = next(each for each in definition.__mro__ if "__relay_variants__" in vars(each))
    if header in known:
        if known.classes[header] is not whole:
            raise RelayError(
                rule="bad-datatype", message=f"two data types of one program are named `{header}`",
                expected="a name of its own for each", found=" and ".join(map(_place, (known.classes[header], whole))),
                remedy="give one of the classes another name",
            )  # fmt: skip
        return known[header]
    variables: dict[Any, TypeVar] = {}
    fields: dict[str, tuple[Type, ...]] = {}
    mentioned: list[Any] = []
    for name, variant in definition.__relay_variants__.items():
        names = {**definition.__relay_names__, header.name: whole}
        hints = typing.get_type_hints(variant, localns=names)
        annotations = [hints[each.name] for each in dataclasses.fields(variant)]
        mentioned += annotations
        fields[name] = tuple(as_type(each, None, variables) for each in annotations)
    own = tuple(variables.values())
    constructors = tuple(Constructor(name, parts, header, tag) for tag, (name, parts) in enumerate(fields.items()))
    data = known[header] = TypeData(header, own, constructors)
    known.classes[header] = whole
    for each in mentioned:
        define_mentioned(each, known)
    return data


def _place(definition: Any) -> str:
    return f"{definition.__module__}.{definition.__qualname__}"


def define_mentioned(annotation: Any, known: DataTypes) -> None:
    """The data types that an annotation speaks of join `known`."""
    stack = [annotation]
    while stack:
        each = stack.pop()
        stack.extend(each if isinstance(each, list) else typing.get_args(each))
        if is_named_tuple(each):
            stack.extend(field_types(each).values())
        origin = typing.get_origin(each) or each
        if isinstance(getattr(origin, "__relay_type__", None), GlobalTypeVar):
            define(origin, known)
