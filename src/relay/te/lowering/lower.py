"""From tensor expressions and a schedule to a function of the loop language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from relay.arith.expr import Comparison, Symbol, free_symbols
from relay.te.lowering.nests import Nests
from relay.te.lowering.placement import Placements, Storage, place_stages
from relay.te.lowering.trees import with_trees
from relay.te.operation import Placeholder, Scan, inputs_of
from relay.te.schedule.step import Step, apply
from relay.te.state import State
from relay.te.tensor import Tensor
from relay.te.tensorize import AnyIntrinsic
from relay.tir.buffer import Buffer
from relay.tir.expr import Holds
from relay.tir.hierarchy import PLAIN, Hierarchy
from relay.tir.passes.exchange_lanes import exchange_lanes
from relay.tir.passes.insert_awaits import insert_awaits
from relay.tir.passes.insert_barriers import insert_barriers
from relay.tir.passes.interleave_threads import interleave_threads
from relay.tir.stmt import For, If, PrimFunc, Stmt
from relay.tir.text.printer import print_statement
from relay.tir.traversal import statement_values, symbols_of_value, walk_statement


def lower(
    outputs: Tensor | Sequence[Tensor],
    inputs: Sequence[Tensor] | None = None,
    steps: Iterable[Step] = (),
    name: str = "kernel",
    intrinsics: Sequence[AnyIntrinsic] = (),
    hierarchy: Hierarchy = PLAIN,
    variants: Sequence[tuple[Comparison, Iterable[Step]]] = (),
) -> PrimFunc:
    """The function of `inputs` (all placeholders in the order in which the expressions speak of them, unless they are
    given) that fills `outputs`, scheduled by `steps`; by those of the first of `variants` whose condition holds, where
    one does. It prints as loops.

    Parameters are the inputs, then the outputs; symbols of shapes come last. `intrinsics` are those that `Tensorize`
    steps name, `hierarchy` says which threads and scopes there are. Raises `RelayError` for a step that is
    refused (`schedule-…`) or a tensor that is neither computed nor given (`te-missing-input`).

    >>> from relay import te
    >>> a = te.placeholder((4,), "float32", "a")
    >>> lower(te.compute((4,), lambda i: a[i] + 1.0, name="b"), [a]).parameters
    (a[4], b[4])
    >>> print(lower(te.compute((4,), lambda i: a[i] + 1.0, name="b")))
    primfunc kernel(a: float32[4]) -> (b: float32[4]) {
      serial i in 4 {
        b[i] = (a[i] + float32(1.0));
      }
    }
    """
    results = (outputs,) if isinstance(outputs, Tensor) else tuple(outputs)
    chosen = [(condition, apply(results, each, hierarchy)) for condition, each in variants]
    given = inputs_of(results) if inputs is None else inputs
    return lower_state(apply(results, steps, hierarchy), given, name, intrinsics, chosen)


def lower_state(
    state: State,
    inputs: Sequence[Tensor],
    name: str = "kernel",
    intrinsics: Sequence[AnyIntrinsic] = (),
    variants: Sequence[tuple[Comparison, State]] = (),
) -> PrimFunc:
    """The function of `inputs` that a scheduled state stands for, and others where their conditions hold."""
    given: dict[Buffer, Buffer] = {tensor: _plain(tensor) for tensor in inputs}
    results: dict[Buffer, Buffer] = {tensor: _result(tensor) for tensor in state.outputs}
    body = _loops(state, given, results, intrinsics)
    for condition, each in reversed(variants):
        body = If(Holds(condition), _loops(each, given, results, intrinsics), body)
    parameters = (*given.values(), *results.values())
    symbols = _symbols(parameters, body)
    written = PrimFunc(name, parameters, len(results), symbols, body, hierarchy=state.hierarchy)
    return insert_barriers(insert_awaits(exchange_lanes(interleave_threads(written))))


def print_loops(state: State, intrinsics: Sequence[AnyIntrinsic] = ()) -> str:
    """The loops of a scheduled state, as `lower` makes them: what a schedule has done so far.

    Raises `RelayError` for a state that cannot be lowered: a stage stands where not all of its consumers do, say.

    >>> from relay import te
    >>> a = te.placeholder((4,), "float32", "a")
    >>> print(print_loops(te.apply([te.compute((4,), lambda i: a[i] + 1.0, name="b")])))
    serial i in 4 {
      b[i] = (a[i] + float32(1.0));
    }
    """
    sources = dict.fromkeys(buffer for stage in state.stages for buffer in state.sources(stage))
    given = [each for each in sources if isinstance(each, Tensor) and isinstance(each.operation, Placeholder)]
    return print_statement(lower_state(state, given, intrinsics=intrinsics).body).removesuffix("\n")


def _loops(
    state: State, given: Mapping[Buffer, Buffer], results: Mapping[Buffer, Buffer], intrinsics: Sequence[AnyIntrinsic]
) -> Stmt:
    """What fills `results` from what is `given`."""
    state, placements = place_stages(with_trees(state), results)
    return Nests(state, placements, _storages(state, placements, given), intrinsics).program(set(results))


def _plain(buffer: Buffer) -> Buffer:
    return Buffer(buffer.name, buffer.shape, buffer.dtype)


def _result(tensor: Tensor) -> Buffer:
    shape = tensor.shape if tensor.gap is None else tensor.gap.around(tensor.shape)
    return Buffer(tensor.name, shape, tensor.dtype)


def _storages(state: State, placements: Placements, given: Mapping[Buffer, Buffer]) -> dict[Buffer, Storage]:
    found = {buffer: Storage(parameter, (0,) * len(buffer.shape)) for buffer, parameter in given.items()}
    for stage in state.stages:
        placed = placements[stage.name]
        found.update(zip(stage.outputs, placed.storage, strict=True))
        if isinstance(stage.operation, Scan):
            found.update(zip(stage.operation.state, placed.storage, strict=True))
    return found


def _symbols(parameters: Sequence[Buffer], body: Stmt) -> tuple[Symbol, ...]:
    """The symbols that are arguments: those of the shapes, then others that are free in the body, by appearance."""
    found: dict[Symbol, None] = {}
    bound: set[Symbol] = set()

    def note(symbols: Iterable[Symbol]) -> None:
        for symbol in sorted(symbols, key=lambda symbol: symbol.name):
            if symbol not in bound:
                found.setdefault(symbol)

    for buffer in parameters:
        for extent in buffer.shape:
            note(free_symbols(extent))
    for statement in walk_statement(body):
        if isinstance(statement, For):
            note(free_symbols(statement.extent))
            bound.add(statement.variable)
        for value in statement_values(statement):
            note(symbols_of_value(value))
    return tuple(found)
