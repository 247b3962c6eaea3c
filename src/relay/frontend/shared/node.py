"""One node of a model, as a converter sees it, and the record that says how an operator is converted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeAlias, TypeVar, Union

import numpy as np

from relay.arith.expr import IntExpr
from relay.base.frozen import frozen
from relay.frontend.shared.value import Item, Structure, Value, is_symbolic
from relay.ir.expr import Expr
from relay.ir.types import TensorType
from relay.ops.framework.build import TupleWrapper

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Unsupported(Exception):
    """A node uses what cannot be imported; `reason` says what, without the node's name."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@frozen(eq=False)
class Node:
    """`inputs` has None where an optional input is left out; `output_count` counts the outputs that are asked for.

    What a converter asks for and the node does not have ends the conversion (`Unsupported`), as `unsupported` does.
    """

    operator: str
    name: str
    inputs: tuple[Item | None, ...]
    attributes: Mapping[str, object]
    output_count: int

    # Inputs

    def value(self, index: int) -> Value:
        value = self.optional_value(index)
        if value is None:
            self.unsupported(f"without its input {index}")
        return value

    def optional_value(self, index: int) -> Value | None:
        item = self.optional_item(index)
        if isinstance(item, Structure):
            self.unsupported(f"of a value of type {item.type}")
        return item

    def item(self, index: int) -> Item:
        """An input of any kind: a tensor, a list, an optional."""
        item = self.optional_item(index)
        if item is None:
            self.unsupported(f"without its input {index}")
        return item

    def optional_item(self, index: int) -> Item | None:
        return self.inputs[index] if index < len(self.inputs) else None

    def values(self) -> tuple[Value, ...]:
        """All inputs of a variadic operator."""
        return tuple(self.value(index) for index in range(len(self.inputs)))

    def expr(self, index: int = 0) -> Expr:
        return self.value(index).expr

    def numbers(self, index: int, what: str) -> NDArray[Any]:
        """The elements of an input that must be plain numbers, known now."""
        known = self.value(index).known
        if known is None:
            self.unsupported(f"with {what} computed from data")
        if is_symbolic(known):
            self.unsupported(f"with {what} that depends on a symbolic dimension")
        return known

    def integers(self, index: int, what: str) -> tuple[int, ...]:
        """The elements of a list of integers, known now."""
        array = self.numbers(index, what)
        if array.ndim > 1 or array.dtype.kind not in "iu":
            self.unsupported(f"with {what} that is not a list of integers")
        return tuple(int(item) for item in array.ravel())

    def extents(self, index: int, what: str) -> tuple[IntExpr, ...]:
        """The elements of a list of extents, which may be symbolic."""
        known = self.value(index).known
        if known is None:
            self.unsupported(f"with {what} computed from data")
        if known.ndim > 1 or known.dtype.kind not in "iuO":
            self.unsupported(f"with {what} that is not a list of integers")
        return tuple(item if known.dtype == object else int(item) for item in known.ravel().tolist())

    def scalar(self, index: int, what: str) -> bool | int | float:
        """The one element of an input, known now."""
        array = self.numbers(index, what)
        if array.size != 1:
            self.unsupported(f"with {what} of {array.size} elements")
        item = array.reshape(()).item()
        return item if isinstance(item, (bool, int, float)) else float(item)

    def known_scalar(self, index: int) -> float | None:
        """The one element of a numeric input if it is known; else None."""
        value = self.optional_value(index)
        if value is None or value.known is None or is_symbolic(value.known) or value.known.size != 1:
            return None
        return float(value.known.reshape(()).astype(np.float64))

    # Attributes

    def has(self, name: str) -> bool:
        return name in self.attributes

    def int(self, name: str, default: int | None = None) -> int:
        return int(self._attribute(name, int, default))

    def float(self, name: str, default: float | None = None) -> float:
        return float(self._attribute(name, (int, float), default))

    def text(self, name: str, default: str | None = None) -> str:
        return str(self._attribute(name, str, default))

    def ints(self, name: str, default: Sequence[int] | None = None) -> tuple[int, ...]:
        return tuple(self._attribute(name, tuple, default))

    def _attribute(self, name: str, kind: Any, default: Any) -> Any:
        value: Any = self.attributes.get(name, default)
        if value is None:
            self.unsupported(f"without the attribute `{name}`")
        if not isinstance(value, kind) and value is not default:
            self.unsupported(f"with an attribute `{name}` of another type")
        return value

    # What else converters need

    def axis(self, name: str = "axis", rank: int | None = None, default: int | None = None) -> int:
        """The attribute `name` as an axis counted from the front; `rank` is that of input 0 unless given."""
        return self.wrapped_axis(self.int(name, default), self.value(0).rank if rank is None else rank)

    def wrapped_axis(self, axis: int, rank: int) -> int:
        if not -rank <= axis < rank:
            self.unsupported(f"with axis {axis} of a tensor that has {rank}")
        return axis % rank

    def type_of(self, expr: Expr) -> TensorType:
        """The type of an expression that the converter built."""
        if not isinstance(expr.checked_type, TensorType):
            self.unsupported("with operands that have no shape before the program runs")
        return expr.checked_type

    def unsupported(self, reason: str) -> NoReturn:
        raise Unsupported(f"{self.operator} {reason}")


AnyNode = TypeVar("AnyNode", bound=Node, contravariant=True)

Output: TypeAlias = Union[Expr, Item, "NDArray[Any]"]
"""An expression, an input passed on or a structure made of such, or elements known now: numbers, or extents (dtype
object), which are int64."""
Result: TypeAlias = Union[Output, TupleWrapper, "tuple[Output | None, ...]"]
"""What a converter gives: one output, or one entry an output; None for an output that it does not compute."""


@frozen
class Converter(Generic[AnyNode]):
    """How one operator is imported.

    `attributes` are the attributes it honours: any other, unless it has its default value, is refused by name.
    `changes` are the later versions of the format at which the meaning changed, which `convert` must tell apart.
    """

    operator: str
    convert: Callable[[AnyNode], Result]
    attributes: frozenset[str] = frozenset()
    changes: tuple[int, ...] = ()


def converter(
    operator: str, convert: Callable[[AnyNode], Result], *attributes: str, changes: tuple[int, ...] = ()
) -> Converter[AnyNode]:
    """A record, with the attributes as arguments."""
    return Converter(operator, convert, frozenset(attributes), changes)


def results_of(result: Result) -> Sequence[Output | None]:
    """One entry an output."""
    if isinstance(result, TupleWrapper):
        return list(result)
    return result if isinstance(result, tuple) else (result,)
