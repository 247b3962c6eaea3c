"""Passes as text: input `=====>` output, one file a pass, named after it. Reading them needs no Python.

For each case: the text is parsed and typed, the pass gives the text on the right, a second run changes nothing, and
both sides compute the same on random inputs. `UPDATE_GOLDEN=1` writes the right sides anew.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import relay
from relay.arith.expr import evaluate, free_symbols
from relay.ir.expr import Constant, Expr
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes
from relay.ir.types import ANY, TensorType
from relay.transform.simplify.fold_constant import FoldConstant
from tests.transform.passes import CONTEXT, PASSES

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "passes"
NEEDS_CONSTANTS = {
    "AccumulateInFloat32",
    "AccumulateInFloat32.few_rows",
    "BackwardFoldScaleAxis",
    "CombineParallelBatchMatmul",
    "CombineParallelConv2D",
    "CombineParallelDense",
    "CombineParallelDense.to_batch",
    "Conv2DToWinograd",
    "DecomposeConvTranspose",
    "FoldScaleAxis",
    "ForwardFoldScaleAxis",
    "PackDotProducts",
    "ToMixedPrecision",
}
TOLERANCE = {"AccumulateInFloat32": 2e-2, "AccumulateInFloat32.few_rows": 2e-2, "ToMixedPrecision": 2e-2}
HEADER = '#[version = "0.0.5"]\n'


@dataclass(frozen=True)
class Case:
    title: str
    source: str
    expected: str


def cases(name: str, folder: Path = FOLDER) -> list[Case]:
    found = []
    path = folder / f"{name}.relay"
    for block in (path.read_text() if path.exists() else "").split("# title: ")[1:]:
        title, _, rest = block.partition("\n")
        source, _, expected = rest.partition("=====>\n")
        found.append(Case(title, source.strip(), expected.strip()))
    return found


def shown(module: IRModule) -> str:
    return relay.astext(module, show_meta_data=False, show_types=False).removeprefix(HEADER).strip()


def random_arguments(module: IRModule) -> list[np.ndarray]:
    generator = np.random.default_rng(0)
    arguments = []
    for parameter in module["main"].params:
        assert isinstance(parameter.checked_type, TensorType)
        shape = [
            3 if extent is ANY else evaluate(extent, dict.fromkeys(free_symbols(extent), 3))
            for extent in parameter.checked_type.shape
        ]
        dtype = parameter.checked_type.dtype
        value = np.abs(generator.standard_normal(shape)) + 0.5 if dtype.is_float else np.full(shape, 3)
        arguments.append(value.astype(dtype.numpy))
    return arguments


def with_distinct_weights(module: IRModule) -> IRModule:
    """The module with every number of a floating-point constant changed a little, each in its own way."""
    generator = np.random.default_rng(1)

    def step(_: Expr, expr: Expr) -> Expr:
        if not isinstance(expr, Constant) or expr.data.size == 1 or not expr.dtype.is_float:
            return expr
        return relay.const(expr.data * generator.uniform(0.5, 1.5, expr.data.shape), expr.dtype)

    functions = {name: rewrite_nodes(function, step) for name, function in module.functions.items()}
    return module.with_functions(functions)


def leaves(value: object) -> list[np.ndarray]:
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, tuple) else [np.asarray(value)]


ALL = [(name, case) for name in PASSES for case in cases(name)]


def test_every_pass_has_cases() -> None:
    without = [name for name in PASSES if not cases(name)]
    assert not without, f"add tests/golden/passes/{without[0]}.relay: a title, a program, `=====>`, the result"
    left = {path.stem for path in FOLDER.glob("*.relay")} - set(PASSES)
    assert not left, f"of no pass: {', '.join(sorted(left))}"


def test_passes_with_options_are_tested_with_some() -> None:
    without = set(relay.transform.PASSES) - set(PASSES)
    assert not without, f"say in tests/transform/passes.py with which options to run {', '.join(sorted(without))}"


@pytest.mark.parametrize(("name", "case"), ALL, ids=[f"{name}: {case.title}" for name, case in ALL])
def test_pass(name: str, case: Case) -> None:
    before = relay.parse(HEADER + case.source)
    if name in NEEDS_CONSTANTS:  # text has scalar constants only
        before = with_distinct_weights(FoldConstant(before))
    with CONTEXT:
        after = PASSES[name](before)
        again = PASSES[name](after)
    if os.environ.get("UPDATE_GOLDEN"):
        rewrite_case(name, case, shown(after))
    else:
        assert shown(after) == case.expected
    assert shown(again) == shown(after), "a second run changes something"
    arguments = random_arguments(before)
    left = leaves(relay.create_executor("interpreter", before).evaluate()(*arguments))
    right = leaves(relay.create_executor("interpreter", after).evaluate()(*arguments))
    for one, other in zip(left, right, strict=True):
        np.testing.assert_allclose(one, other, rtol=TOLERANCE.get(name, 1e-4), atol=TOLERANCE.get(name, 1e-5))


def rewrite_case(name: str, case: Case, text: str, folder: Path = FOLDER) -> None:
    path = folder / f"{name}.relay"
    content = path.read_text()
    start = content.index(f"# title: {case.title}\n")
    arrow = content.index("=====>\n", start) + len("=====>\n")
    end = content.find("\n# title: ", arrow - 1)
    tail = "\n" + content[end + 1 :] if end >= 0 else ""
    path.write_text(content[:arrow] + text + "\n" + tail)


def test_unchanged_programs_are_the_same_object() -> None:
    source = "def @main(%x: Tensor[(2, 3), float32]) { nn.relu(%x) }"
    module = relay.parse(HEADER + source)
    with CONTEXT:
        unchanged = ("CanonicalizeCast", "CanonicalizeOps", "EliminateCommonSubexpr", "FastMath", "FoldConstant",
                     "FoldExplicitPadding", "RecognizeAttention", "SimplifyExpr")  # fmt: skip
        for name in (*NEEDS_CONSTANTS, *unchanged):
            assert PASSES[name](module) is module, name
