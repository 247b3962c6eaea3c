"""The arguments of a call, by the schema of its operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from relay.base.frozen import frozen
from relay.frontend.shared.node import Unsupported
from relay.frontend.torch.package import torch_package

if TYPE_CHECKING:
    from torch import fx

_WITHOUT_MEANING = frozenset({"device", "layout", "pin_memory", "memory_format", "non_blocking", "copy", "implicit"})
"""Where and how a tensor lies in memory, which its value does not depend on."""


@frozen(eq=False)
class Arguments:
    """`inputs` are tensors and numbers to compute with; `attributes` the rest, without those that are None."""

    inputs: Sequence[Any]
    attributes: Mapping[str, Any]


def bound(node: fx.Node, honoured: frozenset[str]) -> Arguments:
    """The arguments of a call. Raises `Unsupported` for one that is not `honoured` and is not its default."""
    target: Any = node.target
    if not hasattr(target, "_schema"):
        return _of_higher_order(node)
    inputs: list[Any] = []
    attributes: dict[str, Any] = {}
    for position, declared in enumerate(target._schema.arguments):  # noqa: SLF001 - the only place that tells it
        default = declared.default_value if declared.has_default_value() else None
        given = node.args[position] if position < len(node.args) else node.kwargs.get(declared.name, default)
        kind = str(declared.real_type)
        if "Tensor" in kind or "number" in kind:
            inputs += given if isinstance(given, (list, tuple)) else (given,)
            continue
        if declared.name not in honoured | _WITHOUT_MEANING and given != default:
            raise Unsupported(f"{target} with the argument `{declared.name}`")
        if given is not None:
            attributes[declared.name] = given
    return Arguments(inputs, attributes)


def _of_higher_order(node: fx.Node) -> Arguments:
    """Of an operator on functions: `graphs` are those, `lengths` how many operands each list of them has."""
    graphs = [each for each in node.args if _is_graph(each)]
    lists = [each if isinstance(each, (list, tuple)) else (each,) for each in node.args if not _is_graph(each)]
    operands = [operand for each in lists for operand in each]
    return Arguments(operands, {"graphs": graphs, "lengths": [len(each) for each in lists]})


def _is_graph(argument: Any) -> bool:
    return isinstance(argument, torch_package("torch.fx").Node) and argument.op == "get_attr"
