"""The stages of a program before a step has changed them: every compute a loop nest of its own, as written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import assert_never

from relay.arith.expr import IntExpr, Symbol
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.graph import post_order
from relay.base.names.fresh_names import FreshNames
from relay.te.operation import Compute, Extern, Operation, Placeholder, Scan, input_tensors
from relay.te.state import At, Loop, Root, Stage, State
from relay.te.tensor import Tensor
from relay.tir.buffer import Buffer, Scope
from relay.tir.hierarchy import PLAIN, Hierarchy


def plain_stage(name: str, operation: Compute, outputs: tuple[Buffer, ...], scope: Scope = Scope.GLOBAL) -> Stage:
    """A compute as written: a loop for each axis, then one for each reduced axis.

    Axes that only some of its components have come last.
    """
    roots: list[Root] = []
    loops: list[Loop] = []
    shared, own = operation.axes[: operation.shared_rank], operation.axes[operation.shared_rank :]
    labels = FreshNames(separator="_", first=1)
    for axis in (*shared, *operation.reduce_axes, *own):
        label = labels.take(axis.name)
        symbol = Symbol(label)
        is_reduction = axis in operation.reduce_axes
        roots.append(Root(axis, symbol, is_reduction))
        loops.append(Loop(label, symbol, is_reduction))
    return Stage(name, operation, outputs, tuple(roots), tuple(loops), scope=scope)


def initial_state(outputs: Sequence[Tensor], hierarchy: Hierarchy = PLAIN) -> State:
    """The program that computes `outputs`, every compute at the root, for a target with the threads of `hierarchy`.

    Raises `RelayError` (`te-output`) for an output that is a placeholder or stands twice.
    """
    _check_outputs(outputs)
    operations = post_order([tensor.operation for tensor in outputs], _producers)
    buffers = _buffers_by_operation(outputs, operations)
    names = FreshNames(separator="_", first=1)
    stages: list[Stage] = []
    for operation in operations:
        if isinstance(operation, Placeholder):
            continue
        stages.append(_initial_stage(names.take(operation.name), operation, buffers[operation]))
    return _with_scans(State(tuple(stages), tuple(outputs), hierarchy))


def _producers(operation: Operation) -> list[Operation]:
    return [tensor.operation for tensor in input_tensors(operation)]


def _check_outputs(outputs: Sequence[Tensor]) -> None:
    for position, tensor in enumerate(outputs):
        if isinstance(tensor.operation, Placeholder) or tensor in outputs[:position]:
            raise RelayError(
                rule="te-output",
                message=f"output {position}, `{tensor.name}`, is not computed by this program",
                expected="outputs that are computed, each once",
                found="a placeholder" if isinstance(tensor.operation, Placeholder) else "an output given twice",
                remedy="copy it with a compute of its own",
            )


def _buffers_by_operation(
    outputs: Sequence[Tensor], operations: Sequence[Operation]
) -> dict[Operation, tuple[Buffer, ...]]:
    """The tensors that are known of each operation; components that nobody names get a buffer."""
    known: dict[tuple[Operation, int], Tensor] = {}
    for tensor in (*outputs, *(tensor for operation in operations for tensor in input_tensors(operation))):
        known.setdefault((tensor.operation, tensor.component), tensor)
    return {
        operation: tuple(
            known.get((operation, component)) or Buffer(f"{operation.name}.{component}", shape, dtype)
            for component, (shape, dtype) in enumerate(_components(operation))
        )
        for operation in operations
    }


def _components(operation: Operation) -> list[tuple[tuple[IntExpr, ...], DType]]:
    match operation:
        case Placeholder():
            return []
        case Compute(axes=axes, dtypes=dtypes):
            extents = tuple(axis.extent for axis in axes)
            return [(extents[: operation.rank(component)], dtype) for component, dtype in enumerate(dtypes)]
        case Scan(state=state):
            return [(tensor.shape, tensor.dtype) for tensor in state]
        case Extern(shapes=shapes, dtypes=dtypes):
            return list(zip(shapes, dtypes, strict=True))
        case _:
            assert_never(operation)


def _initial_stage(name: str, operation: Compute | Scan | Extern, outputs: tuple[Buffer, ...]) -> Stage:
    match operation:
        case Compute():
            return plain_stage(name, operation, outputs)
        case Scan():
            return Stage(name, operation, outputs, (), (Loop("time", Symbol("time"), False),))
        case Extern():
            return Stage(name, operation, outputs, (), ())
        case _:
            assert_never(operation)


def _with_scans(state: State) -> State:
    """What a scan's update needs of earlier rows is computed inside the scan's loop."""
    for stage in state.stages:
        scan = state.scan_around(stage)
        if scan is not None:
            state = state.with_stage(replace(stage, place=At(scan.name, "time")))
    for scan in state.stages:
        if isinstance(scan.operation, Scan):
            _check_updates(state, scan, scan.operation)
    return state


def _check_updates(state: State, scan: Stage, operation: Scan) -> None:
    """Updates are written straight into the scan's result, so nothing outside may want them."""
    inside = At(scan.name, "time")
    for tensor in operation.update:
        update = state.producer(tensor)
        outside = [x.name for x in state.consumers(update) if x is not scan and x.place != inside] if update else []
        if update is None or not isinstance(update.operation, Compute) or tensor in state.outputs or outside:
            raise RelayError(
                rule="scan-update",
                message=f"`{tensor.name}` is not an update of scan `{scan.name}` alone",
                expected="a compute that only the scan, and other parts of its update, read",
                found=f"read by {outside[0]} too" if outside else "an input or a result of the program",
                remedy="read the rows of the scan's result instead",
            )
