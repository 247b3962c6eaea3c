"""What a body of a compute may hold: a reduction only as the whole of it, and no axes but its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, Union

from relay.arith.expr import Node
from relay.base.arguments import described
from relay.base.diagnostics import RelayError
from relay.te.operation import Reduced, body_values
from relay.te.tensor import Axis, Tensor
from relay.tir.expr import Value, ValueBase
from relay.tir.traversal import symbols_of_value, value_children, value_indices, values_in_index

BodyPart: TypeAlias = Union[Value, Reduced]


def check_body(parts: Sequence[BodyPart], axes: tuple[Axis, ...], name: str) -> None:
    """Raises `RelayError`: `compute-body`, `compute-inside-reduction`, `compute-reduce-axis`."""
    if not parts:
        raise _no_value((), name, "give one value, or a tuple of them")
    for part in parts:
        _expect_value(part, name)
        is_whole = isinstance(part, Reduced)
        values = body_values(part.reduction) if is_whole else (part,)
        if any(_holds_reduction(value) for value in values):
            raise RelayError(
                rule="compute-inside-reduction",
                message=f"compute `{name}` goes on computing with a reduction",
                expected="a reduction as the whole of a body",
                remedy="give the reduction a compute of its own, and read its result: "
                "total = te.compute((4,), lambda i: te.sum(a[i, k], axis=k)); "
                "te.compute((4,), lambda i: total[i] / 32.0)",
            )
        own = {*axes, *part.reduction.axes} if is_whole else set(axes)
        used = {symbol for value in values for symbol in symbols_of_value(value) if isinstance(symbol, Axis)}
        if foreign := sorted(used - own, key=str):
            raise RelayError(
                rule="compute-reduce-axis",
                message=f"compute `{name}` reads along `{foreign[0]}`, over which it does not run",
                expected=f"its own axes ({', '.join(map(str, axes))}), or those of a reduction",
                found=", ".join(map(str, foreign)),
                remedy=f"reduce over it: te.sum(…, axis={foreign[0]})",
            )


def _holds_reduction(value: BodyPart) -> bool:
    stack: list[BodyPart] = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, Reduced):
            return True
        stack.extend(value_children(node))
        stack.extend(each for index in value_indices(node) for each in values_in_index(index))
    return False


def _expect_value(part: object, name: str) -> None:
    if not isinstance(part, ValueBase):
        raise _no_value(part, name, _remedy(part))


def _no_value(part: object, name: str, remedy: str) -> RelayError:
    return RelayError(
        rule="compute-body", message=f"the body of compute `{name}` gives no value",
        expected="a value made of elements of tensors, or a tuple of such values",
        found=str(part) if isinstance(part, Node) else described(part), remedy=remedy,
    )  # fmt: skip


def _remedy(part: object) -> str:
    match part:
        case bool():
            return f'say its element type: te.const({part}, "bool")'
        case Node() | int():
            return f'say its element type: te.index_value({part}, "int32")'
        case float():
            return f'say its element type: te.const({part}, "float32")'
        case Tensor():
            return f"read an element of it: {part.name}[{', '.join(['i', 'j', 'k', 'l'][: len(part.shape)]) or '()'}]"
        case list():
            return "give a tuple for several results"
        case None:
            return "give a value: a function of Python ends with return"
        case _:
            return ""
