"""What a prompt shows of the public objects is for people."""

from __future__ import annotations

import re

import numpy as np
import pytest

import relay
from tests.driver.programs import WEIGHT, layer, rows
from tests.report.test_report import checked


@pytest.fixture(scope="module")
def executable() -> relay.Executable:
    return relay.build(layer())


def test_a_module_and_its_parts_are_their_text():
    x = relay.var("x", shape=("n", 4))
    function = relay.Function([x], relay.nn.relu(x))
    text = "(%x: Tensor[(n, 4), float32]) {\n  nn.relu(%x) /* ty=Tensor[(n, 4), float32] */\n}"
    assert repr(function) == f"fn {text}"
    assert repr(relay.IRModule.from_expr(function)) == f"def @main{text}"
    assert repr(x) == "free_var %x: Tensor[(n, 4), float32];\n%x"


def test_a_long_program_is_cut():
    body = relay.var("x", shape=(2,))
    for _ in range(100):
        body = relay.exp(body)
    lines = repr(body).splitlines()
    assert len(lines) == 41
    assert lines[-1] == "… and 61 lines more: print(…) shows all"


def test_an_executable_tells_what_it_takes_and_how_large_it_is(executable):
    assert repr(executable).startswith(
        "<relay executable: (x: float32[n, 4], w: float32[3, 4]) -> (output: float32[n, 3]); "
    )
    assert repr(executable).endswith(" of constants>")
    assert repr(executable["main"]) == (
        "<relay function main: (x: float32[n, 4], w: float32[3, 4]) -> (output: float32[n, 3])>"
    )
    assert [each.name for each in executable.inputs] == ["x", "w"]
    assert [(str(each.dtype), each.shape[1]) for each in executable.outputs] == [("float32", 3)]


def test_a_value_on_the_heap_has_a_type_too():
    text = '#[version = "0.0.5"]\ndef @main(%n: int32) -> List[int32] { Cons(%n, Nil) }'
    assert ") -> (List[int32]); " in repr(relay.build(relay.parse(text)))


def test_a_profile_and_passes(executable):
    profile = executable.profile(rows(2), WEIGHT, runs=2)
    assert repr(profile).startswith(f"<relay profile of main: {len(profile.kernels)} kernels, ")
    assert repr(relay.transform.FoldConstant) == "<relay pass: FoldConstant (from -O2)  Evaluate what is constant.>"
    both = relay.transform.Sequential((relay.transform.FoldConstant, relay.transform.FuseOps))
    assert repr(both) == "<relay passes: FoldConstant, FuseOps>"


def test_a_kernel_is_its_loops():
    kernel = relay.driver.compile_stages(layer(), "llvm -mcpu=haswell").kernels[0]
    lines = repr(kernel.loops()).splitlines()
    assert lines[0].startswith("primfunc fused_transpose")
    assert lines[-1] in ("}", f"… and {len(str(kernel.loops()).splitlines()) - 40} lines more: print(…) shows all")


def test_a_notebook_shows_programs_in_colours_and_drawn():
    module = layer()
    for value in (module, module["main"], module["main"].body):
        html = value._repr_html_()
        checked(html)
        assert html.count("<svg") == (0 if value is module["main"].body else 1)
        assert '<span class="name">%w</span>: <span class="type">Tensor</span>[(' in html
    assert '<span class="keyword">def</span> <span class="name">@main</span>' in module._repr_html_()
    kernel = relay.driver.compile_stages(module).kernels[0].loops()
    assert '<span class="keyword">primfunc</span> fused_transpose' in kernel._repr_html_()


@relay.function
def twice(x: relay.Tensor[(2,)]):
    return x + x


def test_a_notebook_shows_a_function_of_python_as_its_program():
    assert twice._repr_html_() == twice.module._repr_html_()
    assert "<svg" in twice._repr_html_()


def test_a_notebook_shows_the_beginning_of_long_programs():
    body = relay.var("x", shape=(2,))
    for _ in range(700):
        body = relay.exp(body)
    html = relay.IRModule.from_expr(body)._repr_html_()
    checked(html)
    assert "lines more: print(…) shows all" in html
    assert "Data flow: 702 nodes; relay.draw(" in html
    assert "<svg" not in html


def test_a_notebook_shows_tables(executable):
    html = executable._repr_html_()
    checked(html)
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", html)
    assert cells == ["input", "x", "float32[n, 4]", "input", "w", "float32[3, 4]", "output", "output", "float32[n, 3]"]
    profile = executable.profile(rows(2), WEIGHT, runs=2)
    html = profile._repr_html_()
    checked(html)
    assert html.count("<tr>") == len(profile.kernels) + 3  # header, between kernels, total


def test_a_tensor_type_is_of_floats_unless_it_says_otherwise():
    assert relay.TensorType((2, 3)) == relay.TensorType((2, 3), "float32")
    np.testing.assert_equal(relay.TensorType((2, 3)).element_count, 6)
