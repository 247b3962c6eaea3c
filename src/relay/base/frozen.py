"""Dataclasses with slots, frozen or not, made in a fraction of the time that `dataclasses` takes: the compiler has
hundreds.

For each class `dataclasses` writes and compiles the text of up to six functions, and searches each annotation for what
stands for something else. Here all classes share five functions. `__init__` is compiled when the first instance is
made, and fills slots of frozen classes by their descriptors, in half the time of `object.__setattr__`. `fields`,
`replace` and `match` take these classes for dataclasses; what derives from a frozen one is `@frozen` as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, Field, FrozenInstanceError, dataclass, field, fields, replace
from functools import cache
from inspect import get_annotations
from operator import attrgetter
from reprlib import recursive_repr
from types import CodeType, FunctionType, MappingProxyType
from typing import Any, NoReturn, TypeVar, cast, dataclass_transform, overload

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
        return _made(given, _FROZEN, eq=eq, repr=repr, kw_only=kw_only)

    return made if cls is None else made(cls)


@overload
@dataclass_transform(eq_default=False, field_specifiers=(field,))
def mutable(cls: Class, /) -> Class: ...
@overload
@dataclass_transform(eq_default=False, field_specifiers=(field,))
def mutable(*, eq: bool = False, repr: bool = True) -> Callable[[Class], Class]: ...
def mutable(cls: Any = None, /, *, eq: bool = False, repr: bool = True) -> Any:  # noqa: A002
    """The class as a dataclass whose instances change, so that by default each is equal to itself alone; those with
    `eq` have no hash. Options are those of `dataclass`.

    >>> @mutable
    ... class Counter:
    ...     count: int = 0
    >>> counter = Counter()
    >>> counter.count += 1
    >>> counter, counter == Counter(1)
    (Counter(count=1), False)
    """

    def made(given: type[Any]) -> type[Any]:
        return _made(given, {}, eq=eq, repr=repr, kw_only=False)

    return made if cls is None else made(cls)


def _made(given: type[Any], shared: Mapping[str, Any], *, eq: bool, repr: bool, kw_only: bool) -> type[Any]:  # noqa: A002
    """The class as a dataclass, with the functions that are `shared` besides those that all have."""
    own = {name: value for name, value in vars(given).items() if name not in _OF_ONE_CLASS}
    inherited = _inherited(given)
    new = {name: _field(name, type_, own, kw_only) for name, type_ in get_annotations(given).items() if _is_kept(type_)}
    known = {**inherited, **new}
    for name in known:
        own.pop(name, None)  # a default would hide the slot
    made: dict[str, Any] = {
        **shared,
        "__dataclass_fields__": known,
        "__dataclass_params__": _PARAMETERS,
        "__match_args__": tuple(each.name for each in known.values() if each.init and not each.kw_only),
        "__slots__": tuple(name for name in new if name not in inherited),
        "__replace__": replace,
    }
    if repr:
        made["__repr__"] = _repr
    if eq:
        made |= _equality(known.values()) if shared else {**_equality(known.values()), "__hash__": None}
    if own.get("__hash__", own) is None:
        del own["__hash__"]  # by `__eq__` alone
    metaclass: Any = type(given)
    result = metaclass(given.__name__, given.__bases__, made | own)
    if "__init__" not in own:
        result.__init__ = _first_init(result)
    return result


@dataclass(init=False, repr=False, eq=False)
class _Example:
    """What the functions of `dataclasses` ask a class and its fields for, beside what is public."""

    value: int


_PARAMETERS: Any = vars(_Example)["__dataclass_params__"]
_KIND: Any = cast("Any", fields(_Example)[0])._field_type  # noqa: SLF001
_OF_ONE_CLASS = frozenset(("__dict__", "__weakref__"))


def _inherited(given: type[Any]) -> dict[str, Field[Any]]:
    """The fields of all bases, those of the nearest last."""
    bases = (vars(base).get("__dataclass_fields__", {}) for base in reversed(given.__mro__[1:]))
    return {name: each for known in bases for name, each in known.items()}


def _is_kept(annotation: object) -> bool:
    """Whether instances have it, and not the class."""
    return not str(annotation).startswith(("ClassVar", "typing.ClassVar"))


def _field(name: str, annotation: Any, own: Mapping[str, Any], kw_only: bool) -> Field[Any]:
    default = own.get(name, MISSING)
    each: Any = default if isinstance(default, Field) else field(default=default)
    if each.default.__class__.__hash__ is None:
        raise ValueError(f"mutable default for the field {name!r}: all instances would share it")
    each.name, each.type, each._field_type = name, annotation, _KIND  # noqa: SLF001
    if each.kw_only is MISSING:
        each.kw_only = kw_only
    return each


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


_FROZEN: Mapping[str, Any] = MappingProxyType(
    {
        "__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete,
        "__getstate__": _state, "__setstate__": _set_state,
    }
)  # fmt: skip


@recursive_repr()
def _repr(self: Any) -> str:
    parts = [f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr]
    return f"{type(self).__qualname__}({', '.join(parts)})"


def _equality(known: Iterable[Field[Any]]) -> dict[str, Any]:
    """Equal are instances of one class with equal fields."""
    names = [each.name for each in known if each.compare]
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
    """Classes with as many fields of the same kinds share its code, but for the names in it."""
    given = [each for each in fields(cls) if each.init and not each.kw_only]
    by_name = [each for each in fields(cls) if each.init and each.kw_only]
    stands_for = {each.name: f"_{at}" for at, each in enumerate(fields(cls))}
    known: dict[str, Any] = {"_missing": MISSING}
    parameters = ["self", *(stands_for[each.name] for each in given)]
    if by_name:
        parameters += ["*", *(stands_for[each.name] for each in by_name)]
    body = [line for each in fields(cls) if (line := _setting(cls, each, stands_for[each.name], known))]
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    code = _compiled(f"def __init__({', '.join(parameters)}):\n " + "\n ".join(body or ["pass"]))
    real = {mark: name for name, mark in stands_for.items()}
    code = code.replace(
        co_varnames=tuple(real.get(each, each) for each in code.co_varnames),
        co_names=tuple(real.get(each, each) for each in code.co_names),
    )
    init = FunctionType(code, known, "__init__", tuple(each.default for each in given if _has_default(each)))
    init.__kwdefaults__ = {each.name: each.default for each in by_name if _has_default(each)}
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


@cache
def _compiled(text: str) -> CodeType:
    """The code of the one function of a text, compiled as part of this package: `caller_span` looks beyond it."""
    (function,) = (each for each in compile(text, __file__, "exec").co_consts if isinstance(each, CodeType))
    return function


def _has_default(each: Field[Any]) -> bool:
    """Where there is but a factory of one, `default` is `MISSING`, by which `__init__` knows that none was given."""
    return each.default is not MISSING or each.default_factory is not MISSING


def _setting(cls: Any, each: Field[Any], mark: str, known: dict[str, Any]) -> str:
    """The line that fills one slot, of the field that `mark` stands for; none for a field that only `__post_init__`
    fills."""
    value = mark
    if each.default_factory is not MISSING:
        known[f"_make{mark}"] = each.default_factory
        made = f"_make{mark}()"
        value = f"{made} if {mark} is _missing else {mark}" if each.init else made
    elif not each.init:
        if each.default is MISSING:
            return ""
        known[f"_default{mark}"] = each.default
        value = f"_default{mark}"
    if cls.__setattr__ is object.__setattr__:
        return f"self.{mark} = {value}"
    known[f"_set{mark}"] = getattr(cls, each.name).__set__
    return f"_set{mark}(self, {value})"
