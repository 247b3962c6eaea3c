"""Passes as text: input `=====>` output, one file a pass. Reading them needs no Python.

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
from relay.ir.expr import Constant, Expr
from relay.ir.module import IRModule
from relay.ir.types import TensorType
from relay.transform.alter_op_layout import alter_op_layout
from relay.transform.auto_batch import auto_batch
from relay.transform.backward_fold_scale_axis import backward_fold_scale_axis
from relay.transform.canonicalize_cast import canonicalize_cast
from relay.transform.canonicalize_ops import canonicalize_ops
from relay.transform.combine_parallel_batch_matmul import combine_parallel_batch_matmul
from relay.transform.combine_parallel_conv2d import combine_parallel_conv2d
from relay.transform.combine_parallel_dense import combine_parallel_dense
from relay.transform.constant_arguments import constant_arguments
from relay.transform.context import LayoutPreferences, PassContext
from relay.transform.convert_layout import convert_layout
from relay.transform.dead_code_elimination import dead_code_elimination
from relay.transform.defunctionalize import defunctionalize
from relay.transform.eliminate_common_subexpr import eliminate_common_subexpr
from relay.transform.eta_expand import eta_expand
from relay.transform.fast_math import fast_math
from relay.transform.fold_constant import fold_constant
from relay.transform.fold_explicit_padding import fold_explicit_padding
from relay.transform.fold_scale_axis import fold_scale_axis
from relay.transform.forward_fold_scale_axis import forward_fold_scale_axis
from relay.transform.framework import Pass, Sequential
from relay.transform.fuse_ops import fuse_ops
from relay.transform.inline import inline
from relay.transform.lambda_lift import lambda_lift
from relay.transform.legalize import legalize
from relay.transform.monomorphize import monomorphize
from relay.transform.normal_forms import basic_block_normal_form, continuation_passing
from relay.transform.partial_evaluate import partial_evaluate
from relay.transform.pipelines import a_normal_form, graph_normal_form
from relay.transform.recognize_attention import recognize_attention
from relay.transform.remove_unused_functions import remove_unused_functions
from relay.transform.rewriting import Uses, rewrite_typed
from relay.transform.simplify_expr import simplify_expr
from relay.transform.simplify_inference import simplify_inference
from relay.transform.to_mixed_precision import to_mixed_precision

FOLDER = Path(__file__).resolve().parents[1] / "golden" / "passes"
PASSES: dict[str, Pass | Sequential] = {
    "alter_op_layout": alter_op_layout,
    "auto_batch": auto_batch,
    "backward_fold_scale_axis": backward_fold_scale_axis,
    "canonicalize_cast": canonicalize_cast,
    "canonicalize_ops": canonicalize_ops,
    "combine_parallel_batch_matmul": combine_parallel_batch_matmul(min_num_branches=2),
    "combine_parallel_conv2d": combine_parallel_conv2d(min_num_branches=2),
    "combine_parallel_dense": combine_parallel_dense(min_num_branches=2, to_batch=False),
    "combine_parallel_dense_to_batch": combine_parallel_dense(min_num_branches=2),
    "constant_arguments": constant_arguments,
    "convert_layout": convert_layout({"nn.conv2d": ("NCHW", "default")}),
    "dead_code_elimination": dead_code_elimination,
    "defunctionalization": defunctionalize,
    "eliminate_common_subexpr": eliminate_common_subexpr,
    "eta_expand": eta_expand(),
    "fast_math": fast_math,
    "fold_constant": fold_constant,
    "fold_explicit_padding": fold_explicit_padding,
    "fold_scale_axis": fold_scale_axis,
    "forward_fold_scale_axis": forward_fold_scale_axis,
    "fuse_ops": fuse_ops,
    "inline": inline,
    "lambda_lift": lambda_lift,
    "legalize": legalize(
        ("nn.bias_add", "nn.dense", "nn.leaky_relu", "nn.log_softmax", "nn.softmax", "rsqrt", "sigmoid")
    ),
    "monomorphize": monomorphize,
    "partial_evaluate": Sequential((partial_evaluate, dead_code_elimination, remove_unused_functions)),
    "recognize_attention": recognize_attention,
    "remove_unused_functions": remove_unused_functions,
    "simplify_expr": simplify_expr,
    "simplify_inference": simplify_inference,
    "to_a_normal_form": a_normal_form,
    "to_basic_block_normal_form": basic_block_normal_form,
    "to_cps": continuation_passing,
    "to_graph_normal_form": graph_normal_form,
    "to_mixed_precision": to_mixed_precision("bfloat16"),
}
NEEDS_CONSTANTS = {
    "backward_fold_scale_axis",
    "combine_parallel_batch_matmul",
    "combine_parallel_conv2d",
    "combine_parallel_dense",
    "combine_parallel_dense_to_batch",
    "fold_scale_axis",
    "forward_fold_scale_axis",
    "to_mixed_precision",
}
TOLERANCE = {"to_mixed_precision": 2e-2}
HEADER = '#[version = "0.0.5"]\n'
CONTEXT = PassContext(opt_level=4, layouts=LayoutPreferences("NHWC", 16, 16))


@dataclass(frozen=True)
class Case:
    title: str
    source: str
    expected: str


def cases(name: str) -> list[Case]:
    found = []
    for block in (FOLDER / f"{name}.relay").read_text().split("# title: ")[1:]:
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
        shape = [extent if isinstance(extent, int) else 3 for extent in parameter.checked_type.shape]
        dtype = parameter.checked_type.dtype
        value = np.abs(generator.standard_normal(shape)) + 0.5 if dtype.is_float else np.full(shape, 3)
        arguments.append(value.astype(dtype.numpy))
    return arguments


def with_distinct_weights(module: IRModule) -> IRModule:
    """The module with every number of a floating-point constant changed a little, each in its own way."""
    generator = np.random.default_rng(1)

    def step(expr: Expr, _: Uses) -> Expr:
        if not isinstance(expr, Constant) or expr.data.size == 1 or not expr.dtype.is_float:
            return expr
        return relay.const(expr.data * generator.uniform(0.5, 1.5, expr.data.shape), expr.dtype)

    functions = {name: rewrite_typed(function, step) for name, function in module.functions.items()}
    return module.with_functions(functions)


def leaves(value: object) -> list[np.ndarray]:
    return [leaf for part in value for leaf in leaves(part)] if isinstance(value, tuple) else [np.asarray(value)]


ALL = [(name, case) for name in PASSES for case in cases(name)]


@pytest.mark.parametrize(("name", "case"), ALL, ids=[f"{name}: {case.title}" for name, case in ALL])
def test_pass(name: str, case: Case) -> None:
    before = relay.parse(HEADER + case.source)
    if name in NEEDS_CONSTANTS:  # text has scalar constants only
        before = with_distinct_weights(fold_constant(before))
    with CONTEXT:
        after = PASSES[name](before)
        again = PASSES[name](after)
    if os.environ.get("UPDATE_GOLDEN"):
        _rewrite(name, case, shown(after))
    else:
        assert shown(after) == case.expected
    assert shown(again) == shown(after), "a second run changes something"
    arguments = random_arguments(before)
    left = leaves(relay.create_executor("interpreter", before).evaluate()(*arguments))
    right = leaves(relay.create_executor("interpreter", after).evaluate()(*arguments))
    for one, other in zip(left, right, strict=True):
        np.testing.assert_allclose(one, other, rtol=TOLERANCE.get(name, 1e-4), atol=TOLERANCE.get(name, 1e-5))


def _rewrite(name: str, case: Case, text: str) -> None:
    path = FOLDER / f"{name}.relay"
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
        unchanged = ("canonicalize_cast", "canonicalize_ops", "eliminate_common_subexpr", "fast_math", "fold_constant",
                     "fold_explicit_padding", "recognize_attention", "simplify_expr")  # fmt: skip
        for name in (*NEEDS_CONSTANTS, *unchanged):
            assert PASSES[name](module) is module, name
