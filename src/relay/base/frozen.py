"""Frozen dataclasses with slots, made in a fraction of the time that `dataclasses` takes: the compiler has hundreds.

For each frozen class `dataclasses` writes and compiles the text of six functions. Here all classes share five of them.
`__init__` is compiled when the first instance is made, and fills slots by their descriptors, in half the time of
`object.__setattr__`. `fields`, `replace` and `match` take these classes for dataclasses; what derives from them is
`@frozen` as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, NoReturn, TypeVar, dataclass_transform, overload

Class = TypeVar("Class", bound=type[Any])


@overload
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: Class, /) -> Class: ...
@overload
@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(*, eq: bool = True, repr: bool = True, kw_only: bool = False) -> Callable[[Class], Class]: ...
def frozen(cls: Any = None, /, *, eq: bool = True, repr: bool = True, kw_only: bool = False) -> Any:  # noqa: A002
    """The class as a dataclass whose instances never change; options are those of `dataclass`.

    >>> @frozen
    ... class Point:
    ...     x: int
    ...     y: int = 0
    >>> Point(3), Point(3) == Point(3, 0)
    (Point(x=3, y=0), True)
    >>> Point(3).x = 4
    Traceback (most recent call last):
        ...
    dataclasses.FrozenInstanceError: cannot assign to field 'x'
    """

    def made(given: type[Any]) -> type[Any]:
        if given.__doc__ is None:
            given.__doc__ = given.__name__  # or `dataclass` would write one, and take its time
        own = {name for name, value in vars(given).items() if value is not None}  # `__eq__` alone makes `__hash__` None
        result: Any = dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)(given)
        shared: dict[str, Any] = {
            "__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete,
            "__getstate__": _state, "__setstate__": _set_state,
        }  # fmt: skip
        if "__init__" not in own:
            shared["__init__"] = _first_init(result)
        if repr:
            shared["__repr__"] = _repr
        if eq:
            shared |= _equality(result)
        for name, function in shared.items():
            if name not in own:
                setattr(result, name, function)
        return result

    return made if cls is None else made(cls)


def _refuse_to_set(self: object, name: str, value: object) -> NoReturn:  # noqa: ARG001
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> NoReturn:  # noqa: ARG001
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[object]:
    """What is pickled and copied."""
    return [getattr(self, each.name) for each in fields(self)]


def _set_state(self: Any, state: list[object]) -> None:
    for each, value in zip(fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


@recursive_repr()
def _repr(self: Any) -> str:
    parts = [f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr]
    return f"{type(self).__qualname__}({', '.join(parts)})"


def _equality(cls: Any) -> dict[str, Any]:
    """Equal are instances of one class with equal fields."""
    names = [each.name for each in fields(cls) if each.compare]
    values: Callable[[Any], Any] = attrgetter(*names) if len(names) > 1 else _tuple_of(*names)

    def __eq__(self: Any, other: object) -> bool:  # noqa: N807
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:  # noqa: N807
        return hash(values(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


def _tuple_of(name: str = "") -> Callable[[Any], tuple[Any, ...]]:
    """The tuple of one field, or of none."""
    if not name:
        return lambda _: ()
    value = attrgetter(name)
    return lambda self: (value(self),)


def _first_init(cls: Any) -> Callable[..., None]:
    """An `__init__` that puts the real one in its place."""

    def __init__(self: Any, *arguments: Any, **named: Any) -> None:  # noqa: N807
        init = cls.__init__ = _init(cls)
        init(self, *arguments, **named)

    return __init__


def _init(cls: Any) -> Callable[..., None]:
    known: dict[str, Any] = {}
    parameters = [_parameter(each, known) for each in fields(cls) if each.init and not each.kw_only]
    by_name = [_parameter(each, known) for each in fields(cls) if each.init and each.kw_only]
    if by_name:
        parameters += ["*", *by_name]
    body = [line for each in fields(cls) if (line := _setting(cls, each, known))]
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    text = f"def __init__({', '.join(['self', *parameters])}):\n " + "\n ".join(body or ["pass"])
    exec(compile(text, __file__, "exec"), known)  # a frame of the package, whose lines are not the user's
    init = known["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def _parameter(each: Field[Any], known: dict[str, Any]) -> str:
    if each.default is not MISSING:
        known[f"_default_{each.name}"] = each.default
        return f"{each.name}=_default_{each.name}"
    if each.default_factory is not MISSING:
        known["_missing"] = MISSING
        return f"{each.name}=_missing"
    return each.name


def _setting(cls: Any, each: Field[Any], known: dict[str, Any]) -> str:
    """The line that fills one slot; none for a field that only `__post_init__` fills."""
    value = each.name
    if each.default_factory is not MISSING:
        known[f"_make_{each.name}"] = each.default_factory
        made = f"_make_{each.name}()"
        value = f"{made} if {each.name} is _missing else {each.name}" if each.init else made
    elif not each.init:
        if each.default is MISSING:
            return ""
        known[f"_default_{each.name}"] = each.default
        value = f"_default_{each.name}"
    known[f"_set_{each.name}"] = getattr(cls, each.name).__set__
    return f"_set_{each.name}(self, {value})"
