"""ONNX's own backend suite: each case a model with inputs and the outputs that they must give.

python -m tests.frontend.onnx_suite               every case, compiled, and what became of each
python -m tests.frontend.onnx_suite --interpret   by the reference interpreter, which is faster to ask
python -m tests.frontend.onnx_suite --symbolic    with a symbol for each extent beyond 1 of each input
python -m tests.frontend.onnx_suite --state FILE  keeps what became of each case, and goes on behind the last one
python -m tests.frontend.onnx_suite --last-first  begins with the last case, so that runs cut short do not miss the same
python -m tests.frontend.onnx_suite gather cast   only cases whose names contain one of these
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

import relay
from relay.base.dtypes import DType, dtype_of
from relay.frontend.onnx import from_onnx
from relay.runtime.values.values import LIST, DataValue
from tests.frontend.running import run_relay

Array = NDArray[Any]
_NARROW_UNITS = 2
"""Units in the last place by which results in float16 and bfloat16 may differ. The suite grants 0.001, less than one of
bfloat16; its own values are rounded in other places of a formula than ours."""
KINDS = ("node", "simple", "pytorch-operator", "pytorch-converted")


@dataclass(frozen=True)
class SuiteCase:
    name: str
    model: onnx.ModelProto
    data: tuple[tuple[tuple[Any, ...], tuple[Any, ...]], ...]
    rtol: float
    atol: float


@dataclass(frozen=True)
class Outcome:
    """`kind`: passed, refused, wrong or crashed; `reason` says why."""

    kind: str
    reason: str = ""


def suite_cases(kinds: Sequence[str] = KINDS) -> Iterator[SuiteCase]:
    """The cases that come with the package; nothing is fetched."""
    for kind in kinds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the suite computes infinities and NaN on purpose
            found = load_model_tests(kind=kind)
        for case in found:
            if case.model is not None and case.data_sets is not None:
                data = tuple((tuple(map(_array, ins)), tuple(map(_array, outs))) for ins, outs in case.data_sets)
                yield SuiteCase(case.name, case.model, data, case.rtol, case.atol)
            elif case.model_dir is not None:
                folder = Path(case.model_dir)
                model = onnx.load(folder / "model.onnx")
                sets = tuple(_read_set(each, model) for each in sorted(folder.glob("test_data_set_*")))
                yield SuiteCase(case.name, model, sets, case.rtol, case.atol)


def _array(value: Any) -> Any:
    """Element types that NumPy does not have come as protocol buffers."""
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _read_set(folder: Path, model: onnx.ModelProto) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    def read(stem: str, infos: Sequence[onnx.ValueInfoProto]) -> tuple[Any, ...]:
        found: list[Any] = []
        for number, info in enumerate(infos[: len(list(folder.glob(f"{stem}_*.pb")))]):
            raw = (folder / f"{stem}_{number}.pb").read_bytes()
            is_tensor = info.type.WhichOneof("value") == "tensor_type"
            found.append(numpy_helper.to_array(onnx.TensorProto.FromString(raw)) if is_tensor else raw)
        return tuple(found)

    return read("input", model.graph.input), read("output", model.graph.output)


_ONE_AN_AXIS = frozenset(
    {
        "shape",
        "axes",
        "pads",
        "starts",
        "ends",
        "steps",
        "repeats",
        "split",
        "size",
        "sizes",
        "scales",
        "roi",
        "image_shape",
        "block_shape",
        "output_shape",
    }
)
"""Formal inputs whose length is a number of axes, or of outputs."""


def symbolic_shapes(case: SuiteCase) -> dict[str, tuple[int | str, ...]]:
    """The shapes of the inputs with a symbol in place of each extent beyond 1, one for all extents that are equal.
    Lists whose length is a number of axes keep it, and so do indices of several axes: every tensor has a rank."""
    kept = {weight.name for weight in case.model.graph.initializer} | _lists_of_an_axis(case.model)
    given = zip((each.name for each in case.model.graph.input), case.data[0][0], strict=False)
    depths = {(n.input[1], -1) for n in case.model.graph.node if n.op_type in ("GatherND", "ScatterND")}
    return {
        name: tuple(
            f"e{extent}" if extent > 1 and (name, axis - array.ndim) not in depths else extent
            for axis, extent in enumerate(array.shape)
        )
        for name, array in given
        if isinstance(array, np.ndarray) and name not in kept
    }


def shapes_of_elements(case: SuiteCase) -> dict[str, tuple[str, ...]]:
    """A symbol for each axis of the elements of lists of which the model does not say how many these have."""
    given = zip(case.model.graph.input, case.data[0][0], strict=False)
    return {
        info.name: tuple(f"{info.name}_{axis}" for axis in range(np.ndim(items[0])))
        for info, items in given
        if isinstance(items, list) and items and not info.type.sequence_type.elem_type.tensor_type.HasField("shape")
    }


def _lists_of_an_axis(model: onnx.ModelProto) -> set[str]:
    opsets = {entry.domain: entry.version for entry in model.opset_import}
    nodes = [node for node in model.graph.node if onnx.defs.has(node.op_type, node.domain)]
    schemas = [onnx.defs.get_schema(node.op_type, opsets.get(node.domain, 1), node.domain) for node in nodes]
    return {
        name
        for node, schema in zip(nodes, schemas, strict=True)
        for name, formal in zip(node.input, schema.inputs, strict=False)
        if formal.name in _ONE_AN_AXIS or schema.name == "ConstantOfShape"
    }


def run_case(case: SuiteCase, compiled: bool = True, symbolic: bool = False) -> Outcome:
    """What becomes of a case, as it is or with symbols for its extents."""
    try:
        shape = {**shapes_of_elements(case), **(symbolic_shapes(case) if symbolic else {})}
        module, params = from_onnx(case.model, shape=shape)
        names = [parameter.name_hint for parameter in module["main"].params]
        run = relay.build(module) if compiled else None
        for inputs, expected in case.data:
            given = dict(zip((each.name for each in case.model.graph.input), inputs, strict=False))
            feeds = {**{name: array for name, array in given.items() if name in names}, **params}
            result = run_relay(module, feeds) if run is None else run(**feeds)
            found = list(result) if isinstance(result, (tuple, list)) else [result]
            reason = difference(case, [_plain(each) for each in found], expected)
            if reason:
                return Outcome("wrong", reason)
    except relay.RelayError as error:
        return Outcome("refused", _told(error))
    except Exception as error:
        return Outcome("crashed", f"{type(error).__name__}: {str(error)[:200]}")
    return Outcome("passed")


def _plain(value: Any) -> Any:
    """Lists and optionals as Python has them."""
    if not isinstance(value, DataValue):
        return value
    if value.type_name == LIST:
        return [_plain(each) for each in value]
    return _plain(value.fields[0]) if value.fields else None


def difference(case: SuiteCase, found: Sequence[Any], expected: Sequence[Any]) -> str:
    """How outputs differ from those that a case wants; empty where they do not."""
    if len(found) != len(expected):
        return f"{len(found)} outputs instead of {len(expected)}"
    for position, (mine, theirs) in enumerate(zip(found, expected, strict=True)):
        if isinstance(mine, list) or mine is None:
            inside = difference(case, mine, theirs) if isinstance(mine, list) and isinstance(theirs, list) else ""
            if inside or isinstance(mine, list) != isinstance(theirs, list) or (mine is None) != (theirs is None):
                return f"output {position}: {inside or f'{mine} instead of {theirs}'}"
            continue
        wanted = np.asarray(theirs)
        if mine.shape != wanted.shape or mine.dtype != wanted.dtype:
            return f"output {position} is {mine.dtype}{mine.shape} instead of {wanted.dtype}{wanted.shape}"
        if draws(case.model):
            if reason := _drawn_apart(mine, wanted):
                return f"output {position}: {reason}"
            continue
        try:
            if wanted.dtype.kind in "biuO":
                np.testing.assert_array_equal(mine, wanted)
            else:
                rtol = max(case.rtol, _NARROW_UNITS * _unit(wanted.dtype))
                found_, wanted_ = mine.astype(np.float64), wanted.astype(np.float64)
                atol = max(case.atol, _rounding(wanted.dtype, wanted_))
                np.testing.assert_allclose(found_, wanted_, rtol=rtol, atol=atol)
        except AssertionError as error:
            return f"output {position}: " + " ".join(str(error).split())[:200]
    return ""


def draws(model: onnx.ModelProto) -> bool:
    """Whether a model draws random numbers: which, nothing says (`test_onnx_random.py` asks how they are spread)."""
    return any(
        node.op_type == "Bernoulli" or node.op_type.startswith("Random")
        or (node.op_type == "Dropout" and len(node.input) > 2)
        for node in model.graph.node
    )  # fmt: skip


def _drawn_apart(mine: Array, wanted: Array) -> str:
    """How draws differ beyond chance: all of the suite's decide only which elements are 0, so those that are not, here
    and there, are the same, and about as many are 0."""
    both = (mine != 0) & (wanted != 0)
    if not np.allclose(mine[both], wanted[both], rtol=1e-5):
        return f"{mine[both]} instead of {wanted[both]}"
    zeros, share = float(np.mean(mine == 0)), float(np.mean(wanted == 0))
    chance = np.sqrt(2 * share * (1 - share) / wanted.size)
    return "" if abs(zeros - share) <= 5 * chance else f"{zeros:.0%} are 0 instead of {share:.0%}"


def _rounding(dtype: np.dtype[Any], wanted: Array) -> float:
    """One rounding of the largest element: where large numbers cancel, the suite's own values are no closer to 0."""
    if not dtype_of(dtype).is_float:
        return 0.0
    largest = float(np.max(np.abs(wanted[np.isfinite(wanted)]), initial=0))
    return largest * float(ml_dtypes.finfo(dtype).eps)


def _unit(dtype: np.dtype[Any]) -> float:
    is_narrow = dtype_of(dtype) in (DType.FLOAT16, DType.BFLOAT16)
    return float(ml_dtypes.finfo(dtype).eps) if is_narrow else 0.0


def _told(error: relay.RelayError) -> str:
    return f"{error.rule}: " + ("; ".join(each.name for each in error.origins) or error.message)


class Outcomes:
    """What became of each case, in a file of lines if there is one, which the next run goes on with. A case that has
    begun is there as crashed, until more is known: one that ends the process is told by the next run."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self.found: dict[str, Outcome] = {}
        if path is not None and path.exists():
            for name, kind, reason in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
                self.found[name] = Outcome(kind, reason)

    def begin(self, name: str) -> None:
        self.add(name, Outcome("crashed", "the process ended"))

    def add(self, name: str, outcome: Outcome) -> None:
        self.found[name] = outcome
        if self._path is not None:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps([name, outcome.kind, outcome.reason]) + "\n")


def main() -> int:
    """Run cases, and list what is wrong or crashes first. The status is 1 if there is any."""
    parser = argparse.ArgumentParser(prog="python -m tests.frontend.onnx_suite", description="ONNX's backend suite.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts of the names of cases (default: all)")
    parser.add_argument("--interpret", action="store_true", help="by the reference interpreter")
    parser.add_argument("--symbolic", action="store_true", help="with a symbol for each extent beyond 1")
    parser.add_argument("--state", type=Path, help="a file of what became of cases, to go on from")
    parser.add_argument("--last-first", action="store_true", help="begin with the last case")
    parser.add_argument("--minutes", type=float, default=float("inf"), help="begin no case after so many")
    options = parser.parse_args()
    started = time.monotonic()
    outcomes = Outcomes(options.state)
    for case in reversed(list(suite_cases())) if options.last_first else suite_cases():
        if case.name in outcomes.found or (options.names and not any(each in case.name for each in options.names)):
            continue
        if time.monotonic() - started > 60 * options.minutes:
            break
        outcomes.begin(case.name)
        outcomes.add(case.name, run_case(case, not options.interpret, options.symbolic))
    found = outcomes.found
    for name, outcome in found.items():
        if outcome.kind in ("wrong", "crashed"):
            sys.stdout.write(f"{outcome.kind:8} {name}: {outcome.reason}\n")
    refusals = Counter(outcome.reason for outcome in found.values() if outcome.kind == "refused")
    for reason, count in refusals.most_common():
        sys.stdout.write(f"refused {count:4}  {reason}\n")
    counts = Counter(outcome.kind for outcome in found.values())
    sys.stdout.write(f"{len(found)} cases in {time.monotonic() - started:.0f} s: {dict(counts)}\n")
    return int(counts["wrong"] + counts["crashed"] > 0)


if __name__ == "__main__":
    sys.exit(main())
