"""Tensor expressions as text, for people: one line an operation that computes, producers first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import assert_never

from relay.base.graph import post_order
from relay.te.operation import Compute, Extern, Operation, Placeholder, Reduction, Scan, input_tensors
from relay.te.tensor import Axis, Tensor
from relay.tir.expr import Value
from relay.tir.text.printer import print_index, print_value


def print_definitions(outputs: Sequence[Tensor]) -> str:
    """What computes these tensors.

    >>> from relay import te
    >>> a, k = te.placeholder((4, 8), "float32", "a"), te.reduce_axis(8, "k")
    >>> total = te.compute((4,), lambda i: te.sum(a[i, k], axis=k), name="total")
    >>> print(print_definitions([te.compute((4,), lambda i: total[i] * 2.0, name="twice")]))
    total[i < 4] = sum[k < 8](a[i, k])
    twice[i < 4] = (total[i] * float32(2.0))
    """
    operations = post_order([tensor.operation for tensor in outputs], _producers)
    return "\n".join(_definition(each) for each in operations if not isinstance(each, Placeholder))


def _producers(operation: Operation) -> list[Operation]:
    return [tensor.operation for tensor in input_tensors(operation)]


def _definition(operation: Compute | Scan | Extern) -> str:
    match operation:
        case Compute(name=name, axes=axes, body=body):
            return f"{name}[{_axes(axes)}] = {_body(body)}"
        case Scan(name=name, init=init, update=update, state=state):
            return f"{name} = scan(init=({_names(init)}), update=({_names(update)}), state=({_names(state)}))"
        case Extern(name=name, inputs=inputs):
            return f"{name} = extern({_names(inputs)})"
        case _:
            assert_never(operation)


def _body(body: tuple[Value, ...] | Reduction) -> str:
    if isinstance(body, tuple):
        return ", ".join(map(print_value, body))
    reducers = "·".join(reducer.name for reducer in body.reducers)
    where = "" if body.where is None else f" where {print_value(body.where)}"
    initial = "" if body.initial is None else f" from {', '.join(map(print_value, body.initial))}"
    return f"{reducers}[{_axes(body.axes)}]({', '.join(map(print_value, body.sources))}{where}{initial})"


def _axes(axes: Iterable[Axis]) -> str:
    return ", ".join(f"{axis.name} < {print_index(axis.extent)}" for axis in axes)


def _names(tensors: Iterable[Tensor]) -> str:
    return ", ".join(tensor.name for tensor in tensors)
