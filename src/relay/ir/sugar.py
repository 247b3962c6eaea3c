"""What users call on programs though it lives above this folder: `x + y`, `module.astext()`. The folders above hand
in the operators and the printer once, when they are loaded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from relay.base.diagnostics import RelayError
from relay.base.shown.printed import Printed
from relay.base.span import caller_span

if TYPE_CHECKING:
    from relay.ir.expr import Call, Expr


class Printer(Protocol):
    """Programs as text."""

    def __call__(self, program: Any, show_meta_data: bool = True, show_types: bool = True) -> str: ...


class Printable(Printed):
    """Of modules and expressions: both have a text."""

    __slots__ = ()
    printer: ClassVar[Printer | None] = None

    def astext(self, show_meta_data: bool = True, show_types: bool = True) -> str:
        """The program as Relay text; see `relay.text.printer.astext`."""
        if Printable.printer is None:
            raise TypeError("the text of a program needs the printer: import relay.text.printer first")
        return Printable.printer(self, show_meta_data, show_types)

    def __str__(self) -> str:
        return object.__repr__(self) if Printable.printer is None else self.astext(show_meta_data=False)


class Arithmetic(Protocol):
    """Builds the call of a binary or unary operator of Relay by its name; Python numbers become constants. `fields`
    are those of what is known to be a tuple."""

    def binary(self, name: str, left: Any, right: Any) -> Call: ...
    def unary(self, name: str, operand: Any) -> Call: ...
    def cast(self, data: Any, dtype: str) -> Call: ...
    def fields(self, value: Any) -> tuple[Expr, ...] | None: ...


class ExprSugar(Printable):
    """Python's operators, as Relay's."""

    __slots__ = ()
    arithmetic: ClassVar[Arithmetic | None] = None

    def __add__(self, other: object) -> Call:
        return _arithmetic().binary("add", self, other)

    def __radd__(self, other: object) -> Call:
        return _arithmetic().binary("add", other, self)

    def __sub__(self, other: object) -> Call:
        return _arithmetic().binary("subtract", self, other)

    def __rsub__(self, other: object) -> Call:
        return _arithmetic().binary("subtract", other, self)

    def __mul__(self, other: object) -> Call:
        return _arithmetic().binary("multiply", self, other)

    def __rmul__(self, other: object) -> Call:
        return _arithmetic().binary("multiply", other, self)

    def __truediv__(self, other: object) -> Call:
        return _arithmetic().binary("divide", self, other)

    def __rtruediv__(self, other: object) -> Call:
        return _arithmetic().binary("divide", other, self)

    def __floordiv__(self, other: object) -> Call:
        return _arithmetic().binary("floor_divide", self, other)

    def __rfloordiv__(self, other: object) -> Call:
        return _arithmetic().binary("floor_divide", other, self)

    def __mod__(self, other: object) -> Call:
        return _arithmetic().binary("floor_mod", self, other)

    def __rmod__(self, other: object) -> Call:
        return _arithmetic().binary("floor_mod", other, self)

    def __pow__(self, other: object) -> Call:
        return _arithmetic().binary("power", self, other)

    def __rpow__(self, other: object) -> Call:
        return _arithmetic().binary("power", other, self)

    def __lt__(self, other: object) -> Call:
        return _arithmetic().binary("less", self, other)

    def __le__(self, other: object) -> Call:
        return _arithmetic().binary("less_equal", self, other)

    def __gt__(self, other: object) -> Call:
        return _arithmetic().binary("greater", self, other)

    def __ge__(self, other: object) -> Call:
        return _arithmetic().binary("greater_equal", self, other)

    def known_value(self) -> Any:
        """The number, or list of numbers, that a constant is.

        Raises `RelayError` (rule `value-not-known`) for all other expressions: only the run knows what they are worth.
        """
        raise RelayError(
            rule="value-not-known",
            message="an expression stands where a number is needed: its value is only known at run time",
            expected="a number, or a constant",
            found=str(self),
            remedy="give the number itself; of what describes shapes, expressions are taken by reshape, broadcast_to, "
            "full, ones, zeros, strided_slice and arange",
            span=caller_span(),
        )

    def __int__(self) -> int:
        return int(self.known_value())

    def __index__(self) -> int:
        return int(self.known_value())

    def __float__(self) -> float:
        return float(self.known_value())

    def __iter__(self) -> Iterator[Any]:
        """The fields of a tuple, or the rows of a constant."""
        fields = _arithmetic().fields(self)
        return iter(self.known_value() if fields is None else fields)

    def __getitem__(self, index: int) -> Expr:
        """A field of a tuple, counted from the end where `index` is negative.

        Raises `RelayError` (rule `not-a-tuple`) for what is not known to be one, `IndexError` beyond its last field.
        """
        fields = _arithmetic().fields(self)
        if fields is None:
            raise RelayError(
                rule="not-a-tuple",
                message="an expression that is not known to be a tuple has no fields",
                expected="a tuple: an expression that is written as one, or whose type is known",
                found=str(self),
                remedy="of a tensor, relay.take and relay.strided_slice are parts; give a variable its type",
                span=caller_span(),
            )
        return fields[index]

    def astype(self, dtype: str) -> Call:
        """`relay.cast(self, dtype)`."""
        return _arithmetic().cast(self, dtype)

    def __neg__(self) -> Call:
        return _arithmetic().unary("negative", self)


def _arithmetic() -> Arithmetic:
    if ExprSugar.arithmetic is None:
        raise TypeError("arithmetic on expressions needs the operators: import relay.ops first")
    return ExprSugar.arithmetic
