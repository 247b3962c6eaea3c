"""What users hand to the public functions, held against what these take: one mechanism for every door.

A function names the kind of each argument (`@takes(path=PATH)`), a node of a program that of each of its parts
(`expect`). What does not fit is an error at the user's line that says what is expected, what was found, and what to
write instead.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, NoReturn, ParamSpec, TypeVar, cast

from relay.base.diagnostics import RelayError
from relay.base.frozen import frozen
from relay.base.span import caller_span

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

_LONGEST_SHOWN = 60


def _no_remedy(_: object) -> str:
    return ""


@frozen(eq=False)
class Kind:
    """What an argument may be: `types`, of which bool counts as no int, and the `name` by which errors know them.
    `remedy(value)` says what to write instead of a value that does not fit, where that can be told."""

    types: tuple[type, ...]
    name: str
    remedy: Callable[[object], str] = _no_remedy

    def admits(self, value: object) -> bool:
        return isinstance(value, self.types) and not (isinstance(value, bool) and int in self.types)


PATH = Kind((str, os.PathLike), "a path")
TEXT = Kind((str,), "a text", lambda value: "read it: path.read_text()" if isinstance(value, os.PathLike) else "")
WHOLE_NUMBER = Kind((int,), "a whole number")
MAPPING = Kind((Mapping,), "a mapping, as a dict is")
NUMBER = Kind((int, float), "a number")
FLAG = Kind((bool,), "True or False")
CALLABLE = Kind((cast("type", Callable),), "a function")
CLASS = Kind((type,), "a class")
BYTES = Kind((bytes, bytearray, memoryview), "bytes")


def expect(value: object, kind: Kind, what: str) -> None:
    """Raise `RelayError` (rule `wrong-argument`) unless `value` is of a kind; `what` says what it is given for.

    >>> expect(3, WHOLE_NUMBER, "the level")
    """
    if not kind.admits(value):
        refuse(value, kind, what)


def expect_each(values: Iterable[object], kind: Kind, what: str) -> None:
    """`expect` of each of some values."""
    for value in values:
        if not kind.admits(value):
            refuse(value, kind, what)


def refuse(value: object, kind: Kind, what: str) -> NoReturn:
    """Raise the error that `value` is not of a kind."""
    raise RelayError(
        rule="wrong-argument", message=f"{what} is not {kind.name}", expected=kind.name, found=described(value),
        remedy=kind.remedy(value), span=caller_span(),
    )  # fmt: skip


def described(value: object) -> str:
    """A value as an error shows it: its type, and itself where that is short.

    >>> described("abc"), described(None), described({})
    ("a str: 'abc'", 'None', 'a dict')
    """
    if value is None:
        return "None"
    name = type(value).__name__
    article = "an" if name[:1].lower() in tuple("aeiou") else "a"
    shown = f": {value!r}" if isinstance(value, (str, int, float, bool)) else ""
    return f"{article} {name}" + (shown if len(shown) <= _LONGEST_SHOWN else "")


def takes(**kinds: Kind) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """A function whose arguments of these names are of these kinds; those that have the default None may be None.

    >>> @takes(path=PATH)
    ... def size_of(path, unit=1):
    ...     return len(path) // unit
    >>> size_of("abc")
    3
    """

    def decorate(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        code, plain = function.__code__, (function.__defaults__ or ())
        names = code.co_varnames[: code.co_argcount]
        defaults: dict[str, Any] = dict(zip(names[len(names) - len(plain) :], plain, strict=True))
        defaults |= function.__kwdefaults__ or {}
        optional = {name for name in kinds if name in defaults and defaults[name] is None}
        positions = {name: names.index(name) if name in names else len(names) for name in kinds}

        @wraps(function)
        def checked(*args: Parameters.args, **named: Parameters.kwargs) -> Result:
            for name, kind in kinds.items():
                if name in named:
                    value: object = named[name]
                elif positions[name] < len(args):
                    value = args[positions[name]]
                else:
                    continue
                if not (value is None and name in optional) and not kind.admits(value):
                    refuse(value, kind, f"`{name}` of {function.__name__}")
            return function(*args, **named)

        return checked

    return decorate
