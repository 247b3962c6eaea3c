"""Calls with more arguments than registers: in tail position, between unlike functions, through closures."""

from __future__ import annotations

import numpy as np
import pytest

from tests.native.running import check

COUNTS = range(4, 10)


def _hop(name: str, following: str, count: int, arguments: int) -> str:
    """A function of `count` integers that hands as many as are wanted to the next, each with something added."""
    params = ", ".join(f"%p{i}: int32" for i in range(count))
    given = ", ".join(f"add(%p{i % count}, {i + 1})" for i in range(arguments))
    return f"def @{name}({params}) -> int32 {{ @{following}({given}) }}"


@pytest.mark.parametrize("first", COUNTS)
@pytest.mark.parametrize("second", COUNTS)
def test_tail_calls_hand_over_every_argument(first: int, second: int):
    total = "%p0"
    for i in range(1, second):
        total = f"add(multiply({total}, 3), %p{i})"
    params = ", ".join(f"%p{i}: int32" for i in range(second))
    main = _hop("main", "hop", 2, first)
    last = f"def @last({params}) -> int32 {{ {total} }}"
    check("\n".join((main, _hop("hop", "last", first, second), last)), np.int32(5), np.int32(-7), opt_level=0)


def test_mutual_recursion_with_many_arguments():
    names = [f"%p{i}" for i in range(8)]
    params = ", ".join(f"{name}: int32" for name in names)
    turned = ", ".join([*names[1:], f"add({names[0]}, 1)"])
    source = f"""
    def @left(%n: int32, {params}) -> int32 {{
      if (less(%n, 1)) {{ subtract(%p0, multiply(%p7, 5)) }} else {{ @right(subtract(%n, 1), {turned}, %n) }}
    }}
    def @right(%n: int32, {params}, %more: int32) -> int32 {{
      if (less(%n, 1)) {{ add(%more, %p3) }} else {{ @left(subtract(%n, 1), {turned}) }}
    }}
    def @main(%n: int32) -> int32 {{ @left(%n, 1, 2, 3, 4, 5, 6, 7, 8) }}"""
    for turns in (0, 1, 2, 1000, 1001):
        check(source, np.int32(turns), opt_level=0)


def test_closures_take_many_arguments():
    params = ", ".join(f"%p{i}: Tensor[(2), float32]" for i in range(9))
    source = f"""
    def @pick(%c: bool) -> fn ({", ".join(["Tensor[(2), float32]"] * 9)}) -> Tensor[(2), float32] {{
      if (%c) {{ fn ({params}) {{ subtract(%p8, %p0) }} }} else {{ fn ({params}) {{ add(%p7, %p5) }} }}
    }}
    def @main(%c: bool, {params}) -> Tensor[(2), float32] {{
      let %f = @pick(%c);
      %f({", ".join(f"%p{i}" for i in range(9))})
    }}"""
    arrays = [np.full(2, i, np.float32) for i in range(9)]
    for choice in (True, False):
        check(source, np.bool_(choice), *arrays, opt_level=0)
