"""`x.at[i].set(v)`, `x.at[i].add(v)`: arrays that are as `x` but for a part, as `jax.numpy` has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, cast

from relay import op
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.base.span import Span
from relay.frontend.python.block import Block
from relay.frontend.python.library.arithmetic import combined, converted
from relay.frontend.python.library.indexing import changed, index_tensor, is_basic, size_of
from relay.frontend.python.library.list_arrays import as_array
from relay.frontend.python.syntax.source import refusal
from relay.ir.expr import Expr
from relay.ir.types import TensorType


@frozen(eq=False)
class Part:
    """`x.at`, and `x.at[index]`."""

    owner: Expr
    index: Any = None
    is_indexed: bool = False

    def at(self, index: Any) -> Part:
        return Part(self.owner, index, True)


def updated(block: Block, part: Part, name: str, value: Any, span: Span) -> Expr:
    """The array with another part. Places that an index names twice count twice, but for `set`."""
    type_ = cast("TensorType", block.type_of(part.owner))
    value = as_array(block, value, span)
    if name == "set":
        return changed(block, part.owner, part.index, value, span)
    number = converted(value, type_.dtype)
    if is_basic(block, part.index):
        before = block.bind("part", index_tensor(block, part.owner, type_, part.index, span), span)
        return changed(block, part.owner, part.index, combined(_OPERATORS[name], before, number, span), span)
    count = op.arange(
        *(converted(each, DType.INT32) for each in (0, size_of(block, part.owner, span), 1)), dtype="int32"
    )
    numbers = block.bind("places", op.reshape_like(count, part.owner), span)
    places = block.bind("places", index_tensor(block, numbers, _type(block, numbers), part.index, span), span)
    flat_update = op.reshape(op.broadcast_to_like(number, places), (-1,))
    flat = op.reshape(part.owner, (-1,))
    made = op.scatter_nd(flat, op.expand_dims(op.reshape(places, (-1,)), 0), flat_update, _MODES[name])
    return op.reshape_like(made, part.owner)


def _type(block: Block, value: Expr) -> TensorType:
    return cast("TensorType", block.type_of(value))


def read(block: Block, part: Part, span: Span) -> Expr:
    """`x.at[i].get()`"""
    return index_tensor(block, part.owner, _type(block, part.owner), part.index, span)


_OPERATORS: Mapping[str, str] = {
    "add": "add", "subtract": "subtract", "multiply": "multiply", "mul": "multiply",
    "divide": "divide", "min": "minimum", "max": "maximum", "power": "power",
}  # fmt: skip
_MODES: Mapping[str, str] = {"add": "add", "multiply": "mul", "mul": "mul", "min": "min", "max": "max"}
UPDATES: frozenset[str] = frozenset({"set", *_OPERATORS})


def method(block: Block, part: Part, name: str, span: Span) -> Callable[..., Any]:
    """A method of `x.at[i]`. Raises `RelayError` (rule `python-subset`)."""
    if not part.is_indexed:
        raise refusal(span, f"`.at.{name}`", "say what changes: x.at[i].set(v)")
    if name == "get":
        return lambda: read(block, part, span)
    if name in UPDATES and (name in _MODES or name == "set" or is_basic(block, part.index)):
        return lambda value: updated(block, part, name, value, span)
    raise refusal(span, f"`.at[…].{name}`", f"use one of set, get, {', '.join(_MODES)}")
