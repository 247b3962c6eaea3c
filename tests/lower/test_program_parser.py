"""The text of a program is the program: what is printed is read back (every test's programs: see `verifying`), and
mistakes are told with their place."""

from __future__ import annotations

import numpy as np
import pytest

from relay.base.diagnostics import RelayError
from relay.driver.build import compile_stages
from relay.lower.program.parser import parse_program
from relay.lower.program.verification.program_verifier import verify_program
from tests.native.running import module

TEXT = """\
flat entry main(x: Tensor[(n, 4), float32]) [n] -> (output: Tensor[(n, 4), float32]) as 0 runs @main
  check 2*n - 1 <= 64 else fail 1

flat procedure @main(%0:address, %1:address) -> () [n]
  block0():
    region, arena 16*n + floormod(n, 4) bytes, shapes [n, 4]
      arena[0] 16*n bytes of tanh, calls 0 to 1
      arena[0] = tanh(*%0) [n]
      *%1 + 64 = add(arena[0], constant[64]) [n]
      *%1 = dense_relu(arena[0]) [n] on_device
      *%1 = copy(constant[0], 64 bytes)
    return

procedure @"odd name"(%0, %1:int32, borrowed %2) -> (word, int32)
  block0():
    if %1:int32 block1 else block2
  block1():
    switch %0 (label0: block2) else block2
  block2():
    return %0, %1:int32

device region @dense_relu(%0:address, %1:address) [n] on toy_gpu:1
  region, arena 32*n bytes
    arena[0] 16*n bytes of copy, calls 0 to 0
    arena[16*n] 16*n bytes of tanh, calls 0 to 0
    arena[0] = copy(*%0, 16*n bytes)
    arena[16*n] = tanh(arena[0]) [n]
    *%1 = copy(arena[16*n], 16*n bytes)

label0: data "List.Cons"
label1: tensor float32, 2 axes

failure 1: extents "needs \\"n\\" small"

data {"name": "List", "constructors": [["Cons", [{"parameter": 0}]]]}

constant[0]: Tensor[(16,), float32]
constant[64]: float32
constants 128 bytes

#[metadata]

primfunc fused_add(p0: int32[]) -> (add_0: int32[]) {
  add_0[] = (p0[] + int32(1));
}
"""
CONSTANTS = {0: np.zeros(16, np.float32), 64: np.ones((), np.float32)}


def test_everything_that_is_written_is_read_back():
    assert str(parse_program(TEXT, CONSTANTS)) == TEXT


def test_what_is_read_is_sound():
    stages = compile_stages(module("def @main(%x: Tensor[(n, 4), float32]) { nn.softmax(tanh(nn.softmax(%x))) }"))
    program = parse_program(str(stages.program), {})
    verify_program(program, {each.info.name: each.info.in_place for each in stages.kernels})


@pytest.mark.parametrize(("before", "after", "place", "message"), [
    ("*%0) [n]", "*%0 [n]", "8:27", "`)` is missing in `{outputs} = {kernel}({inputs}){ [extents?]}"),
    ("copy(constant[0], 64 bytes)", "copy(constant[0], 64)", "11:33", "`bytes` is missing in `{destination} = copy"),
    ("    return %0", "    2 give %0", "20:5", "nothing that may stand here begins like this"),
    ("(word, int32)", "(word, int33)", "14:60", "`int33` is not an element type"),
    ("of tanh, calls", "of tanh calls", "7:35", "`,` is missing in `arena[{offset_bytes}] {size_bytes} bytes of"),
    ("2*n - 1 <= 64", "2*n - 1 = 64", "2:17", "a comparison is missing"),
    ("failure 1", "failure 2", "33:9", "failures are numbered from 1 on"),
    ("failure 1: extents", "failure 1: extend", "33:12", "this is no kind of failure"),
    ("label0: data", "label0: date", "30:9", "this is no kind of object"),
    ('[{"parameter": 0}]', '[{"parameter": -1}]', "35:6", "this is not the JSON of a type"),
    ("constants 128 bytes", "constants", "41:1", "a whole number is missing"),
    ("128 bytes", "128 bytes more", "39:21", "this is no part of a program"),
])  # fmt: skip
def test_a_mistake_is_told_with_its_place(before: str, after: str, place: str, message: str):
    with pytest.raises(RelayError) as caught:
        parse_program(TEXT.replace(before, after, 1), CONSTANTS, "p.txt")
    assert message in str(caught.value)
    assert f"p.txt:{place}\n" in str(caught.value)


def test_a_mistake_in_a_scalar_kernel_is_told():
    with pytest.raises(RelayError, match="this is not how a loop program goes on"):
        parse_program(TEXT.replace("add_0[] = (", "add_1[] = ("), CONSTANTS)


def test_data_of_constants_are_beside_the_text():
    with pytest.raises(RelayError, match=r"the data of constant\[64\] are not given"):
        parse_program(TEXT, {0: CONSTANTS[0]})
    with pytest.raises(RelayError, match=r"found: *Tensor\[\(4,\), float32\]"):
        parse_program(TEXT, {**CONSTANTS, 64: np.zeros(4, np.float32)})
