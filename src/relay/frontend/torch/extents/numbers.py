"""Numbers that the run computes from extents and that are no integers, such as `1 / n` and `n ** 0.5`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from relay.base.dtypes import DType
from relay.frontend.shared.node import Unsupported
from relay.frontend.torch.package import torch_package
from relay.ir.expr import Expr, const
from relay.ops.elementwise import elementwise_binary as binary
from relay.ops.elementwise import elementwise_unary as unary
from relay.ops.elementwise.convert import cast
from relay.ops.framework.build import with_known_type

if TYPE_CHECKING:
    import torch
    from torch import fx

_FUNCTIONS: Mapping[str, Callable[..., Expr]] = {
    "add": binary.add, "sub": binary.subtract, "mul": binary.multiply, "truediv": binary.divide, "pow": binary.power,
    "neg": unary.negative, "_sym_sqrt": unary.sqrt, "sqrt": unary.sqrt, "sym_float": lambda x: x,
}  # fmt: skip
"""By the names of Python's and PyTorch's functions on numbers."""


def float_of(node: fx.Node, extent_of: Callable[[torch.SymInt], Expr]) -> Expr:
    """What a node of a graph computes of extents, as a float64 scalar; `extent_of` gives an extent as an integer.

    Raises `Unsupported`. Recursion is as deep as the arithmetic, which is short."""
    function = _FUNCTIONS.get(getattr(node.target, "__name__", ""))
    if node.op != "call_function" or function is None:
        raise Unsupported(f"the number {node.name}, which the importer does not compute")
    return function(*(_operand(each, extent_of) for each in node.args))


def _operand(argument: Any, extent_of: Callable[[torch.SymInt], Expr]) -> Expr:
    torch = torch_package()
    if isinstance(argument, (int, float)):
        return with_known_type(const(float(argument), DType.FLOAT64))
    value = argument.meta["val"]
    return cast(extent_of(value), DType.FLOAT64) if isinstance(value, torch.SymInt) else float_of(argument, extent_of)
