"""Run one program natively and by its meaning, and compare; count what stays alive."""

from __future__ import annotations

from typing import Any

import numpy as np

import relay
from relay.runtime.executable import Executable
from relay.runtime.values.values import DataValue
from tests.lower.interpreting import run_as_text

LIST = "type List[A] { Cons(A, List[A]), Nil }\n"


def module(source: str) -> relay.IRModule:
    return relay.parse(f'#[version = "0.0.5"]\n{source}', "program.relay")


def check(source: str, *arguments: Any, leaks: int = 0, opt_level: int | None = None) -> Any:
    """The result of `@main`, natively; it agrees with its meaning, and nothing else is left alive. Again on a heap that
    reports who uses what is freed, and by the interpreter of what it is lowered to."""
    program = module(source)
    expected = relay.create_executor("interpreter", mod=program).evaluate()(*arguments)
    assert_same(run_as_text(program, opt_level)(*leaves(arguments)), expected)
    result = None
    for target in ("llvm", "llvm -heap=checked"):
        executable = relay.build(program, target, opt_level=opt_level)
        alive = watch(executable)
        result = executable(*leaves(arguments))
        assert_same(result, expected)
        assert alive == [leaks]
    return result


def watch(executable: Executable) -> list[int]:
    """The list to which each call adds how many objects it left alive."""
    alive: list[int] = []
    executable["main"].observe_heap(lambda use: alive.append(use.alive))
    return alive


def leaves(arguments: Any) -> list[Any]:
    """Arguments as an entry takes them: tuples opened."""
    return [leaf for each in arguments for leaf in (leaves(each) if isinstance(each, tuple) else [each])]


def assert_same(found: Any, expected: Any) -> None:
    """Equal values of any type; lists may be long, so without recursion."""
    stack = [(found, expected)]
    while stack:
        left, right = stack.pop()
        if isinstance(left, np.ndarray):
            assert left.dtype == right.dtype
            np.testing.assert_allclose(left, right, rtol=1e-5, atol=1e-6)
            continue
        if isinstance(left, DataValue):
            assert left.constructor == right.constructor
            left, right = left.fields, right.fields
        assert isinstance(left, tuple)
        assert len(left) == len(right)
        stack += zip(left, right, strict=True)
