"""Regions whose code another compiler makes: the worked example, every way to run it, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import relay
from relay.arith.expr import Symbol
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.base.target import Target
from relay.driver.build import compile_stages
from relay.ir.expr import Function
from relay.ir.types import TensorType
from relay.targets.cpu.codegen import emit_object
from relay.transform import (
    AnnotateTarget,
    ExternalFunction,
    MergeCompilerRegions,
    PartitionGraph,
    Refused,
    Sequential,
    Supported,
    callee,
)
from tests.messages import check_message
from tests.pages import run_page

HEADER = '#[version = "0.0.5"]\n'


def test_the_page_runs(tmp_path, capsys):
    run_page("external_code.md", tmp_path)
    printed = capsys.readouterr().out
    assert 'Compiler="tiny", Primitive=1' in printed
    assert "@main, nn.softmax: tiny: it multiplies matrices, and nothing else" in printed
    assert "@tiny_main_0 is for the compiler `tiny`, which was not given" in printed


ADD = """
define void @{symbol}({arguments}) {{
entry:
  {count}
  br label %head
head:
  %i = phi i64 [0, %entry], [%next, %body]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %body, label %done
body:
  %pa = getelementptr float, ptr %a, i64 %i
  %pb = getelementptr float, ptr %b, i64 %i
  %pc = getelementptr float, ptr %c, i64 %i
  %va = load float, ptr %pa
  %vb = load float, ptr %pb
  %sum = fadd float %va, %vb
  store float %sum, ptr %pc
  %next = add i64 %i, 1
  br label %head
done:
  ret void
}}
"""
SEEN: list[ExternalFunction] = []


@frozen
class Compiler:
    """Takes what is called by these names, and makes code of it by a function."""

    compile: Callable[[Sequence[ExternalFunction], Target], Sequence[bytes]]
    names: tuple[str, ...] = ("add",)

    def supports(self, group: Function) -> Supported | Refused:
        return Supported() if callee(group) in self.names else Refused(f"it takes {', '.join(self.names)}")


def add_vectors(functions: Sequence[ExternalFunction], target: Target) -> list[bytes]:
    """Adds two vectors of one extent, written in LLVM's language."""
    texts = []
    for function in functions:
        (extent,) = function.outputs[0].shape
        count = f"%count = add i64 0, {extent}" if isinstance(extent, int) else "%count = add i64 0, %n"
        arguments = "ptr %a, ptr %b, ptr %c" + (", i64 %n" if function.extents else "")
        texts.append(ADD.format(symbol=function.symbol, arguments=arguments, count=count))
    SEEN.extend(functions)
    return [emit_object("\n".join(texts), target)]


ADDER = Compiler(add_vectors)
PASSES = Sequential((AnnotateTarget(["adder"]), MergeCompilerRegions, PartitionGraph))


def partitioned(body: relay.Expr, parameters: Sequence[relay.Var], compiler: Compiler = ADDER) -> relay.IRModule:
    with relay.PassContext(external_compilers={"adder": compiler}):
        return PASSES(relay.IRModule.from_expr(relay.Function(parameters, body)))


def built(program, compiler=ADDER, **how):
    with relay.PassContext(external_compilers={"adder": compiler}):
        return relay.build(program, **how)


@pytest.mark.parametrize("opt_level", [0, 2, 4])
def test_symbolic_extents_and_constants(opt_level):
    SEEN.clear()
    x, y = relay.var("x", shape=("n",)), relay.var("y", shape=("n",))
    z = relay.var("z", shape=(4,))
    ramp = relay.const(np.arange(4, dtype="float32"))
    body = relay.Tuple((relay.exp(relay.add(relay.exp(x), y)), relay.add(z, ramp)))
    module = partitioned(body, (x, y, z))
    given = [np.random.default_rng(k).standard_normal(4 if k == 2 else 7).astype("float32") for k in range(3)]
    expected = relay.create_executor("interpreter", module).evaluate()(*given)
    found = built(module, opt_level=opt_level)(*given)
    for one, other in zip(expected, found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    first, second = SEEN
    assert first.prototype == "void adder_main_0(const float *in0, const float *in1, float *out0, int64_t n)"
    assert second.prototype == "void adder_main_1(const float *in0, const float *constant0, float *out0)"
    np.testing.assert_array_equal(second.constants[0].data, np.arange(4))


def test_extents_of_one_name_get_names_of_their_own():
    SEEN.clear()
    two = [relay.var(name, TensorType((Symbol("n"),), DType.FLOAT32)) for name in "xy"]
    parts = [relay.add(each, each) for each in two]
    looking = Compiler(lambda functions, _: SEEN.extend(functions), ("add", "concatenate"))
    module = partitioned(relay.concatenate(parts, axis=0), two, looking)
    with pytest.raises(RelayError):
        built(module, looking)
    assert SEEN[0].prototype.endswith(
        "(const float *in0, const float *in1, float *out0, int64_t extent0, int64_t extent1)"
    )
    assert str(SEEN[0].outputs[0].shape[0]) == "extent0 + extent1"


def test_in_recursive_functions_and_by_several_extents():
    module = relay.parse(
        HEADER + "def @main(%x: Tensor[(4), float32], %k: int32) -> Tensor[(4), float32] {\n"
        "  if (less(%k, 1)) { @twice(%x) } else { @main(@plus(%x, %x), subtract(%k, 1)) }\n}\n"
        "def @twice(%x: Tensor[(4), float32]) { concatenate((@plus(@half(%x), @half(%x)), @half(%x)), axis=0) }\n"
        "def @half(%x: Tensor[(4), float32]) { strided_slice(%x, begin=[0], end=[2], strides=[1]) }\n"
        "def @plus(%a: Tensor[(m), float32], %b: Tensor[(m), float32], "
        'Compiler="adder", Primitive=1, global_symbol="plus") -> Tensor[(m), float32] { add(%a, %b) }\n'
    )
    SEEN.clear()
    x = np.arange(4, dtype="float32")
    expected = relay.create_executor("interpreter", module).evaluate()(x, np.int32(3))
    np.testing.assert_array_equal(built(module)(x, np.int32(3)), expected)
    assert sorted(function.symbol for function in SEEN) == ["plus", "plus_2"]


def test_the_graph_executor_and_export(tmp_path):
    x, y = relay.var("x", shape=(5,)), relay.var("y", shape=(5,))
    module = partitioned(relay.tanh(relay.add(x, relay.exp(y))), (x, y))
    given = [np.full(5, 0.25, "float32"), np.arange(5, dtype="float32")]
    expected = relay.create_executor("interpreter", module).evaluate()(*given)
    with relay.PassContext(external_compilers={"adder": ADDER}):
        graph = relay.create_executor("graph", module).evaluate()
        np.testing.assert_allclose(graph(*given), expected, rtol=1e-6)
    executable = built(module)
    executable.save(tmp_path / "model.relay")
    executable.export(tmp_path / "model.so")
    for name in ("model.relay", "model.so"):
        np.testing.assert_allclose(relay.load(tmp_path / name)(*given), expected, rtol=1e-6)


def test_a_region_that_only_reshapes_is_run_by_its_compiler():
    module = relay.parse(
        HEADER + "def @main(%x: Tensor[(4), float32]) { exp(@r(%x)) }\n"
        'def @r(%a: Tensor[(4), float32], Compiler="adder", Primitive=1) { reshape(%a, newshape=[2, 2]) }\n'
    )

    def copier(functions: Sequence[ExternalFunction], target: Target) -> list[bytes]:
        text = f"define void @{functions[0].symbol}(ptr %a, ptr %b) {{\n store float 9.0, ptr %b\n ret void\n}}\n"
        return [emit_object(text, target)]

    np.testing.assert_allclose(built(module, Compiler(copier))(np.zeros(4, "float32"))[0, 0], np.exp(9), rtol=1e-6)


def raising(functions: Sequence[ExternalFunction], target: Target) -> list[bytes]:
    raise ValueError("no such instruction")


SIMPLE = "def @main(%x: Tensor[(4), float32]) { @r(%x, %x) }\n"
PLUS = 'def @r(%a: {0}, %b: {0}, Compiler="adder", Primitive=1, global_symbol="{1}") {{ add(%a, %b) }}\n'
REGION = PLUS.format("Tensor[(4), float32]", "r")


@pytest.mark.parametrize(("name", "source", "compilers"), [
    ("no-such-compiler", SIMPLE + REGION, {"other": ADDER}),
    ("external-fails", SIMPLE + REGION, {"adder": Compiler(raising)}),
    ("external-nothing", SIMPLE + REGION, {"adder": Compiler(lambda functions, target: ["text"])}),
    ("external-name", SIMPLE + PLUS.format("Tensor[(4), float32]", "not a name"), {"adder": ADDER}),
    ("external-value", "def @main(%x: Tensor[(4), float32], %c: bool) {\n  let %f = if (%c) { @r } else { @q };\n"
     "  %f(%x, %x)\n}\ndef @q(%a: Tensor[(4), float32], %b: Tensor[(4), float32]) { %a }\n" + REGION, {"adder": ADDER}),
    ("external-extents", "def @main(%x: Tensor[(n), float32]) { @r(%x, %x) }\n" + REGION, {"adder": ADDER}),
    ("external-type", 'def @main(%x: float32) { @r((%x, %x)) }\ndef @r(%t: (float32, float32), Compiler="adder", '
     'Primitive=1) { add(%t.0, %t.1) }', {"adder": ADDER}),
])  # fmt: skip
def test_what_is_refused(name, source, compilers):
    module = relay.parse(HEADER + source)
    with pytest.raises(RelayError) as caught, relay.PassContext(external_compilers=compilers):
        relay.build(module)
    check_message("driver", name, caught.value)


def test_looking_at_a_kernel_of_another_compiler_is_refused():
    with relay.PassContext(external_compilers={"adder": ADDER}):
        compilation = compile_stages(relay.parse(HEADER + SIMPLE + REGION))
        with pytest.raises(RelayError) as caught:
            compilation.kernel("r").group()
    check_message("driver", "external-kernel", caught.value)


@pytest.mark.parametrize("axis", [0, 1])
def test_parts_of_a_concatenation(axis):
    """Its code knows of no distances: what lies together is written to its place, and runs are copied there."""
    x = relay.var("x", shape=(8,))
    parts = [relay.reshape(relay.add(x, relay.exp(x)), (2, 4)), relay.reshape(relay.nn.softmax(x), (2, 4))]
    module = partitioned(relay.concatenate(parts, axis=axis), [x])
    given = np.random.default_rng(0).standard_normal(8).astype("float32")
    expected = relay.create_executor("interpreter", module).evaluate()(given)
    np.testing.assert_allclose(built(module)(given), expected, rtol=1e-5)
