"""`x + y` on expressions. The operators themselves live above this folder, which hands them in once, when loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol

if TYPE_CHECKING:
    from relay.ir.expr import Call, Expr


class Arithmetic(Protocol):
    """Builds the call of a binary or unary operator of Relay by its name; Python numbers become constants."""

    def binary(self, name: str, left: Any, right: Any) -> Call: ...
    def unary(self, name: str, operand: Expr) -> Call: ...


class ExprSugar:
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

    def __lt__(self, other: object) -> Call:
        return _arithmetic().binary("less", self, other)

    def __le__(self, other: object) -> Call:
        return _arithmetic().binary("less_equal", self, other)

    def __gt__(self, other: object) -> Call:
        return _arithmetic().binary("greater", self, other)

    def __ge__(self, other: object) -> Call:
        return _arithmetic().binary("greater_equal", self, other)

    def __neg__(self) -> Call:
        return _arithmetic().unary("negative", self)  # type: ignore[arg-type]


def _arithmetic() -> Arithmetic:
    if ExprSugar.arithmetic is None:
        raise TypeError("arithmetic on expressions needs the operators: import relay.ops first")
    return ExprSugar.arithmetic
