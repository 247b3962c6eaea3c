"""Random ONNX graphs against ONNX's reference evaluator: `python -m tests.frontend.onnx_generated.campaign`.

Each graph is imported, run by the reference interpreter and compiled at one level, in turn. `[count] [--seed seed]
[--state file]` go on where a run with the same file was left. What comes of a graph:

- `agrees`: bit for bit, or as far apart as rounding moves the program (`relay.driver.verification.distance`);
- `onnxruntime agrees: OPERATOR`: nodes of it, alone, give what onnxruntime does, and the reference evaluator something
  else; all others give what that does;
- `undecided`: rounding alone changes the result by as much as there is of it;
- `refused: RULE`: by a `RelayError`;
- `the reference evaluator fails`: of a graph, all of whose nodes it has run.

Anything else ends the campaign, and leaves the model and its inputs in a folder (`.repro`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

import relay
from relay.base.diagnostics import RelayError
from relay.base.floating_point import FloatingPointClass
from relay.driver.verification.distance import Verdict, distances, judged
from relay.driver.verification.observed import Seen
from relay.frontend.onnx import from_onnx
from relay.interpret.evaluate import evaluate
from relay.interpret.machine import CallOperator, by_meaning
from tests.endurance import slices
from tests.frontend.onnx_generated.control import CONTROL
from tests.frontend.onnx_generated.draft import Array, Draft, Unfit, node_alone, run_reference
from tests.frontend.onnx_generated.elementwise import ELEMENTWISE
from tests.frontend.onnx_generated.networks import NETWORKS
from tests.frontend.onnx_generated.reducing import REDUCING
from tests.frontend.onnx_generated.shaping import SHAPING
from tests.frontend.running import run_onnxruntime

FAMILIES: tuple[tuple[Callable[[Draft], None], ...], ...] = (ELEMENTWISE, SHAPING, REDUCING, NETWORKS, CONTROL)
SHARES = (0.34, 0.28, 0.12, 0.2, 0.06)
"""How often a node is of each family."""
OPSETS = (8, 9, 11, 12, 13, 14, 16, 17, 18, 19, 20, 21, 22, 24)
MOST_NODES, MOST_TRIES = 9, 60
DTYPES = ("float32", "float32", "float32", "float64", "int64", "int32", "bool", "uint8")


@dataclass(frozen=True, eq=False)
class Generated:
    model: onnx.ModelProto
    feeds: dict[str, Array]
    expected: list[Array]
    is_frozen: bool


ROUNDS = FloatingPointClass.NONFINITE_MAY_SPREAD  # at level 3, convolutions may be minimal filters


class Disagreement(AssertionError):
    """Something else than the reference evaluator gives."""


def generated(random: np.random.Generator) -> Generated:
    """A graph, inputs, and what it means. Raises Unfit where the reference evaluator does not tell."""
    draft = Draft(random, int(random.choice(OPSETS)))
    draft.input(draft.array(draft.shape(draft.whole(1, 4))))
    for _ in range(draft.whole(0, 2)):
        draft.input(draft.array(draft.shape(draft.whole(0, 3)), draft.one_of(*DTYPES)))
    wanted = draft.whole(1, MOST_NODES)
    for _ in range(MOST_TRIES):
        family = FAMILIES[int(random.choice(len(FAMILIES), p=SHARES))]
        if len(draft.nodes) >= wanted:
            break
        try:
            draft.one_of(*family)(draft)
        except Unfit:
            continue
    model, feeds = draft.model(), draft.feeds()
    try:
        expected = run_reference(model, feeds)
    except Exception as error:  # of a graph, all of whose nodes it has run
        raise Unfit from error
    return Generated(model, feeds, list(map(np.asarray, expected)), draft.chance(0.5))


class _Imported:
    """A model as a program, and what the interpreter gives for it."""

    def __init__(self, model: onnx.ModelProto, feeds: Mapping[str, Array], is_frozen: bool = False) -> None:
        self.module, params = from_onnx(model, freeze_params=is_frozen)
        given = {**feeds, **params}
        self.arguments = {each.name_hint: given[each.name_hint] for each in self.module["main"].params}
        self.result = self._meaning()

    def _meaning(self, call: CallOperator = by_meaning) -> list[Seen]:
        return seen(evaluate(self.module, self.arguments, call_operator=call))

    def verdict(self, found: Sequence[Seen], meant: Sequence[Seen]) -> Verdict:
        """Whether two results are as near as rounding leaves them."""
        return judged(found, meant, ROUNDS, lambda by: [(self._moved(by), self.result)])

    def _moved(self, by: CallOperator) -> list[Seen]:
        """Nothing where a small change of numbers makes extents that no longer fit: `Unique` counts other elements."""
        try:
            return self._meaning(by)
        except RelayError:
            return []


def check(example: Generated, level: int) -> str:
    """What came of an example. Raises Disagreement."""
    try:
        imported = _Imported(example.model, example.feeds, example.is_frozen)
        native = seen(relay.build(imported.module, opt_level=level)(**imported.arguments))
    except RelayError as error:
        return f"refused: {error.rule}"
    compiled = imported.verdict(native, imported.result)
    if not compiled.is_right:
        raise Disagreement(_told(f"compiled at level {level}, in place of the interpreter's", compiled))
    meant = imported.verdict(imported.result, seen(tuple(example.expected)))
    if meant.is_right:
        return "undecided" if compiled.is_undecided or meant.is_undecided else "agrees"
    odd = nodes_apart(example)
    if not odd:
        raise Disagreement(_told("in place of ONNX's, though each node agrees,", meant))
    return f"onnxruntime agrees: {odd[0]}"


def nodes_apart(example: Generated) -> list[str]:
    """The operators whose nodes, alone, give what onnxruntime does, and not what the reference evaluator does. Raises
    Disagreement for a node that gives neither."""
    whole = onnx.ModelProto()
    whole.CopyFrom(example.model)
    names = [name for node in whole.graph.node for name in node.output if name]
    del whole.graph.output[:]
    whole.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names)
    values = {each.name: numpy_helper.to_array(each) for each in whole.graph.initializer} | example.feeds
    values |= dict(zip(names, map(np.asarray, run_reference(whole, example.feeds)), strict=True))
    odd: list[str] = []
    for node in whole.graph.node:
        if node.op_type == "Constant":
            continue
        model, feeds = node_alone(node, values, whole.opset_import[0].version)
        alone = _Imported(model, feeds)
        reference = seen(tuple(values[name] for name in node.output if name))
        if all(each.is_near for each in distances(alone.result, reference, ROUNDS)):
            continue
        try:
            other = seen(tuple(run_onnxruntime(model, feeds)))
        except Exception as error:  # it lacks operators, and refuses some nodes
            if alone.verdict(alone.result, reference).is_right:
                continue
            raise Disagreement(f"{node.op_type} does not give what ONNX's evaluator does") from error
        if alone.verdict(alone.result, other).is_right:
            odd.append(node.op_type)
        elif not (verdict := alone.verdict(alone.result, reference)).is_right:
            raise Disagreement(_told(f"{node.op_type}, alone, in place of ONNX's, and not onnxruntime's:", verdict))
    return odd


def seen(value: Any) -> list[Seen]:
    values = value if isinstance(value, tuple) else (value,)
    return [Seen(f"output {at}", np.asarray(each)) for at, each in enumerate(values)]


def _told(what: str, verdict: Verdict) -> str:
    distance = verdict.distance
    return f"{distance.place} {what}: {distance.what}, off by {distance.absolute:.3g}, allowed {verdict.allowed:.3g}"


def trial(random: np.random.Generator, folder: Path = Path(".repro")) -> str:
    """Raises what a graph that was kept in the folder raises."""
    level = int(random.integers(4))
    try:
        example = generated(random)
    except Unfit:
        return "the reference evaluator fails"
    try:
        return check(example, level)
    except Exception as error:
        folder.mkdir(exist_ok=True)
        onnx.save(example.model, folder / "drawn.onnx")
        np.savez(folder / "drawn.npz", **example.feeds)  # pyright: ignore[reportArgumentType]
        error.add_note(onnx.printer.to_text(example.model))
        raise


if __name__ == "__main__":
    slices.run("Compare random ONNX graphs with what ONNX's reference evaluator gives.", trial, 5_000)
