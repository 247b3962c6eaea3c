"""What a prompt shows of the public objects is for people."""

from __future__ import annotations

import numpy as np
import pytest

import relay
from tests.driver.programs import WEIGHT, layer, rows


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
    assert repr(executable).endswith(" MB of constants>")
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


def test_a_tensor_type_is_of_floats_unless_it_says_otherwise():
    assert relay.TensorType((2, 3)) == relay.TensorType((2, 3), "float32")
    np.testing.assert_equal(relay.TensorType((2, 3)).element_count, 6)
