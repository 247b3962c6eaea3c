"""`relay.specialize`: what known arguments decide is computed before the run, and the result means the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest

import relay
from relay.base.diagnostics import RelayError
from relay.ir.expr import If, Match
from relay.ir.module import IRModule
from relay.ir.traversal import post_order
from relay.transform.functions.budgets import ASKED_FOR, operations_of


@relay.function
def power(x: float, n: int = 2) -> float:
    return 1.0 if n == 0 else x * power(x, n - 1)


@relay.function
def twice(f: Callable[[float], float], x: float) -> float:
    return f(f(x))


@relay.function
def scaled(x: relay.Tensor[(relay.symbol("n"), 4)], w: relay.Tensor[(4, relay.symbol("n"))], k: int = 2):
    return x @ w * k


def chooses(module: IRModule) -> bool:
    """Whether anything is left to choose at run time."""
    return any(isinstance(node, If | Match) for each in module.functions.values() for node in post_order(each))


# ------------------------------------------------------------------------------------------------ what is known goes


def test_a_power_is_its_products():
    fiftieth = relay.specialize(power, n=50)
    assert list(fiftieth.module.functions) == [relay.GlobalVar("main")]
    assert operations_of(fiftieth.module) == 51  # and the function
    assert fiftieth(1.01) == power(1.01, 50)


def test_an_interpreter_is_its_program():
    """The first projection of Futamura: what is left is what the program computes."""

    @relay.datatype
    class Code:
        class Number:
            value: float

        class Input: ...

        class Sum:
            left: Code
            right: Code

        class Product:
            left: Code
            right: Code

    @relay.function
    def run(code: Code, x: float) -> float:
        match code:
            case Code.Number(value):
                return value
            case Code.Input():
                return x
            case Code.Sum(left, right):
                return run(left, x) + run(right, x)
            case Code.Product(left, right):
                return run(left, x) * run(right, x)

    square = Code.Product(Code.Input(), Code.Input())
    compiled = relay.specialize(run, code=Code.Sum(square, Code.Number(1.0)))
    assert not chooses(compiled.module)
    assert len(compiled.module.functions) == 1
    assert compiled(3.0) == run(Code.Sum(square, Code.Number(1.0)), 3.0) == 10.0


def test_a_search_for_a_known_word_is_its_automaton():
    """Knuth, Morris and Pratt's: a function a state, no word and no table of failures at run time."""

    @relay.function
    def borders(word: list[int], k: int, length: int) -> bool:
        """Whether the first `k` letters end as the first `length` do."""
        return all(word[at] == word[k - length + at] for at in range(length))

    @relay.function
    def fallback(word: list[int], k: int, length: int) -> int:
        return length if borders(word, k, length) else fallback(word, k, length - 1)

    @relay.function
    def advance(word: list[int], k: int, letter: int, rest: list[int]) -> bool:
        if letter == word[k]:
            return search(word, k + 1, rest)
        if k == 0:
            return search(word, 0, rest)
        return advance(word, fallback(word, k, k - 1), letter, rest)

    @relay.function
    def search(word: list[int], k: int, text: list[int]) -> bool:
        if k == len(word):
            return True
        match text:
            case [letter, *rest]:
                return advance(word, k, letter, rest)
            case _:
                return False

    word = [1, 1, 2, 1]
    automaton = relay.specialize(search, word=word, k=0)
    texts = [[1, 1, 1, 2, 1], [1, 1, 2, 2, 1], [], [2, 1, 1, 2, 1, 2]]
    assert [bool(automaton(each)) for each in texts] == [True, False, False, True]
    states = [each for name, each in automaton.module.functions.items() if name.name_hint != "main"]
    assert len(states) == 2 * len(word) + 1  # before a letter, and with it
    assert "fallback" not in str(automaton)
    assert "borders" not in str(automaton)
    assert all(len(each.params) <= 2 for each in states)  # the letter and the rest: the word is in the code


def test_functions_may_be_known():
    assert relay.specialize(twice, f=relay.specialize(power, n=3))(2.0) == 512.0
    with pytest.raises(RelayError, match="of another type"):
        relay.specialize(twice, f=power)


def test_tuples_options_and_records_may_be_known():
    class Point(NamedTuple):
        x: float
        y: float

    @relay.function
    def moved(point: Point, by: float | None, n: int) -> Point:
        return point if by is None else Point(point.x + by * n, point.y)

    assert relay.specialize(moved, point=Point(1.0, 2.0), by=2.0)(3) == (7.0, 2.0)
    assert relay.specialize(moved, by=None, n=3)(Point(1.0, 2.0)) == Point(np.float32(1.0), np.float32(2.0))
    assert not chooses(relay.specialize(moved, by=None).module)


# ----------------------------------------------------------------------------------------------------- what is given


def test_the_same_kind_comes_back():
    x, y = relay.var("x", shape=()), relay.var("y", shape=())
    program = relay.Function([x, y], relay.exp(x) * y)
    for each in (program, IRModule.from_expr(program)):
        assert relay.build(relay.specialize(each, x=0.0))(3.0) == 3.0
    gradient = relay.specialize(relay.grad(relay.specialize(power, n=3).module), {})
    assert relay.build(gradient)(2.0)[0] == 12.0
    assert relay.specialize(relay.grad(power, wrt="x"), n=3)(2.0) == 12.0


def test_defaults_of_the_others_stay():
    x, w = np.ones((2, 4), np.float32), np.ones((4, 2), np.float32)
    assert relay.specialize(scaled, x=x)(w)[0, 0] == 8.0
    assert relay.specialize(scaled, {0: x}, k=3)(w)[0, 0] == 12.0


def test_extents_of_known_arrays_are_those_of_the_others():
    module = relay.specialize(scaled, x=np.ones((2, 4), np.float32)).module
    assert str(module["main"].params[0].type_annotation) == "Tensor[(4, 2), float32]"


def test_a_check_of_extents_that_no_type_tells_stays():
    source = '#[version = "0.0.5"] def @main(%x: Tensor[(n,), float32], %y: Tensor[(m,), float32]) { add(%x, %y) }'
    run = relay.build(relay.specialize(relay.parse(source), x=np.ones(3, "float32")))
    assert run(np.ones(3, "float32")).tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(RelayError, match="needs n == m"):
        run(np.ones(4, "float32"))


def test_arrays_are_copied():
    x = np.ones((2, 4), np.float32)
    known = relay.specialize(scaled, x=x)
    x[:] = 0
    assert known(np.ones((4, 2), np.float32))[0, 0] == 8.0


# ---------------------------------------------------------------------------------------------------------- it ends


def test_what_grows_without_end_stays_a_call():
    @relay.function
    def fan(n: int, x: float) -> float:
        return x if n == 0 else fan(n - 1, x * 2.0) + fan(n - 1, x + 1.0)

    wide = relay.specialize(fan, n=40).module
    assert operations_of(wide) <= 3 * operations_of(fan.module) + ASKED_FOR.max_growth_besides
    small = relay.specialize(fan, n=3)
    assert not chooses(small.module)
    assert small(1.0) == fan(3, 1.0)


def test_data_as_long_as_networks():
    @relay.function
    def polynomial(coefficients: list[float], x: float) -> float:
        value = 0.0
        for each in coefficients:
            value = value * x + each
        return value

    assert not chooses(relay.specialize(polynomial, coefficients=[1.0] * 1_000).module)


# ------------------------------------------------------------------------------------------------------------ errors


@pytest.mark.parametrize(
    ("places", "named", "rule", "found"),
    [
        ({}, {"z": 1}, "unknown-parameter", "'z'"),
        ({9: 1}, {}, "unknown-parameter", "9"),
        ({None: 1}, {}, "wrong-argument", "None"),
        ({2: 1}, {"k": 1}, "bad-input-name", ""),
        ({}, {"k": 2**40}, "input-value", "1099511627776"),
        ({}, {"x": np.ones((2, 5), np.float32)}, "input-shape", "(2, 5)"),
        ({}, {"x": np.ones((2, 4), np.float32), "w": np.ones((4, 3), np.float32)}, "input-shape", "(4, 3)"),
        ({}, {"x": np.ones((2, 4))}, "input-dtype", "float64"),
    ],
)
def test_what_does_not_fit_is_told(places: dict[int, object], named: dict[str, object], rule: str, found: str):
    with pytest.raises(RelayError) as caught:
        relay.specialize(scaled, places, **named)
    assert (caught.value.rule, caught.value.found) == (rule, found)


def test_a_function_of_python_is_told_how():
    with pytest.raises(RelayError) as caught:
        relay.specialize(twice, f=lambda x: x)
    assert caught.value.rule == "known-value"
    assert caught.value.expected == "fn (float32) -> float32"
    assert caught.value.remedy == "put @relay.function above its definition"


def test_a_specialized_function_is_differentiated():
    cube = relay.specialize(power, n=3)
    value, (slope,) = relay.value_and_grad(cube)(2.0)
    assert (float(value), float(slope)) == (8.0, 12.0)
    curve = relay.grad(relay.grad(cube, wrt="x"), wrt="x")
    assert isinstance(curve, type(cube))
    assert float(curve(2.0)) == 12.0


def test_a_program_is_no_function_of_another():
    cube = relay.specialize(power, n=3)

    @relay.function
    def caller(x: float):
        return cube(x)

    with pytest.raises(RelayError, match="the call of a CompiledProgram cannot become a Relay program"):
        caller(2.0)
