"""Loops over several values allocate nothing in a turn, however the program says them."""

from __future__ import annotations

import numpy as np
import pytest

from relay.driver.build import compile_stages
from tests.native.running import check, module
from tests.native.test_registers import ALLOCATIONS

LOOPS = {
    "a tuple as parameter": """
    let %loop = fn (%s: (int32, float32)) -> float32 {
      if (%s.0 <= 0) { %s.1 } else { %loop((%s.0 - 1, tanh(%s.1))) }
    };
    %loop((%n, %x))""",
    "a tuple that is matched": """
    let %loop = fn (%s: (int32, float32)) -> float32 {
      match (%s) { (%i, %h) => if (%i <= 0) { %h } else { %loop((%i - 1, tanh(%h))) } }
    };
    %loop((%n, %x))""",
    "a tuple as result": """
    let %loop = fn (%s: (int32, float32)) -> (int32, float32) {
      if (%s.0 <= 0) { %s } else { %loop((%s.0 - 1, tanh(%s.1))) }
    };
    let %end = %loop((%n, %x));
    %end.1""",
    "a tuple as result of each turn": """
    let %loop = fn (%i: int32, %h: float32) -> (int32, float32) {
      if (%i <= 0) { (%i, %h) } else { let %p = %loop(%i - 1, tanh(%h)); (%p.0 + 1, %p.1 * %h) }
    };
    let %end = %loop(%n, %x);
    %end.1""",
    "an Option from a function": """
    let %step = fn (%i: int32, %h: float32) -> Option[(int32, float32)] {
      if (%i <= 0) { None } else { Some((%i - 1, tanh(%h))) }
    };
    let %loop = fn (%i: int32, %h: float32) -> float32 {
      match (%step(%i, %h)) { Some(%p) => %loop(%p.0, %p.1), None => %h }
    };
    %loop(%n, %x)""",
    "a function around the loop": """
    let %f = fn (%h: float32) -> float32 { tanh(%h * %x) };
    let %loop = fn (%i: int32, %h: float32) -> float32 {
      if (%i <= 0) { %h } else { %loop(%i - 1, %f(%f(%h))) }
    };
    %loop(%n, %x)""",
    "a function made in every turn": """
    let %loop = fn (%i: int32, %h: float32) -> float32 {
      let %f = fn (%a: float32) { tanh(%a) + %h };
      if (%i <= 0) { %h } else { %loop(%i - 1, %f(%f(%x))) }
    };
    %loop(%n, %x)""",
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_allocates_nothing(name: str) -> None:
    source = f"def @main(%n: int32, %x: float32) -> float32 {{ {LOOPS[name]} }}"
    check(source, np.int32(7), np.float32(0.5))
    assert _made(source) == {}


def test_a_step_that_is_a_function_of_the_module() -> None:
    source = """
    def @step(%i: int32, %h: float32) -> Option[(int32, float32)] {
      if (%i <= 0) { None } else { Some((%i - 1, tanh(%h))) }
    }
    def @loop(%i: int32, %h: float32) -> float32 {
      match (@step(%i, %h)) { Some(%p) => @loop(%p.0, %p.1), None => %h }
    }
    def @main(%n: int32, %x: float32) -> float32 { @loop(%n, %x) }"""
    check(source, np.int32(7), np.float32(0.5))
    assert _made(source).keys() == {"step"}  # for those who call it from outside


def test_a_loop_over_a_tensor_makes_the_tensor_only() -> None:
    source = """
    def @main(%n: int32, %x: Tensor[(4), float32]) -> Tensor[(4), float32] {
      let %loop = fn (%s: (int32, Tensor[(4), float32])) -> Tensor[(4), float32] {
        if (%s.0 <= 0) { %s.1 } else { %loop((%s.0 - 1, tanh(%s.1))) }
      };
      %loop((%n, %x))
    }"""
    check(source, np.int32(7), np.ones(4, np.float32))
    (made,) = _made(source)["main_loop"]
    assert "16 bytes" in made


def _made(source: str) -> dict[str, list[str]]:
    """What each procedure of a program at the default level allocates, but for what callers from outside need."""
    procedures = compile_stages(module(source)).program.procedures
    found = {
        each.name: [str(one) for one in each.instructions() if isinstance(one, ALLOCATIONS)]
        for each in procedures
        if not each.name.startswith("boxed_")
    }
    return {name: made for name, made in found.items() if made}


def test_a_tuple_without_fields_stands_beside_tensors_that_kernels_read() -> None:
    tensor = "Tensor[(2, 3), float32]"
    state = f"(({tensor}, ()), {tensor})"
    source = f"""
def @loop(%i: int32, %s: {state}) -> {state} {{
  if (%i == 0) {{ %s }} else {{ let %a = %s.0; @loop(%i - 1, ((tanh(%a.0), ()), add(%s.1, %a.0))) }}
}}
def @main(%n: int32, %x: {tensor}) {{ @loop(%n, ((%x, ()), %x)) }}"""
    check(source, np.int32(3), np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3))
