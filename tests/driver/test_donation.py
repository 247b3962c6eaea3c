"""Inputs that callers give away: results are in their memory."""

from __future__ import annotations

import logging
import re
from typing import Any

import numpy as np
import pytest

import relay
from relay.driver.build import compile_stages
from relay.lower.program.region import CopyBytes
from relay.runtime.values.heap import HeapUse
from relay.runtime.values.values import DataValue
from tests.driver.test_export import compile_c, run_c
from tests.native.running import module
from tests.pages import run_page


def full(source: str) -> str:
    """A program in which T is the type of all its matrices."""
    return re.sub(r"\bT\b", "Tensor[(4, 8), float32]", source)


STEP = "def @main(%w: T, %g: T) -> T { subtract(%w, multiply(0.1f, %g)) }"
MOMENTUM = """
def @main(%p: (T, T), %g: T) -> (T, T) {
  let %m = add(multiply(0.9f, %p.1), %g);
  (subtract(%p.0, multiply(0.1f, nn.softmax(%m))), %m)
}"""
TOGETHER = """
def @main(%p: (T, T), %g: T) -> (T, T) {
  let %m = add(multiply(0.9f, %p.1), %g);
  (subtract(%p.0, multiply(%m, %p.0)), %m)
}"""
LOOP = """
def @loop(%r: ref(T), %g: T, %n: int32) -> () {
  if (equal(%n, 0)) { () } else {
    %r := subtract(%r^, multiply(0.1f, %g));
    @loop(%r, %g, subtract(%n, 1))
  }
}
def @main(%w: T, %g: T, %n: int32) -> T {
  let %r = ref(%w);
  @loop(%r, %g, %n);
  %r^
}"""
CHOICE = "def @main(%a: T, %b: T, %c: bool) -> (T, T) { if (%c) { (%b, %a) } else { (negative(%a), %b) } }"
DEEP = """
def @sum(%w: T, %n: int32) -> T {
  if (equal(%n, 0)) { %w } else { let %u = @sum(add(%w, 1f), subtract(%n, 1)); add(%u, 1f) }
}
def @main(%w: T, %n: int32) -> T { @sum(%w, %n) }"""


def arrays(count: int) -> list[np.ndarray]:
    random = np.random.default_rng(1)
    return [random.standard_normal((4, 8), dtype=np.float32) for _ in range(count)]


CASES: dict[str, tuple[str, int, tuple[Any, ...], tuple[str, ...], tuple[int | None, ...]]] = {
    "one kernel": (STEP, 2, (), ("w",), (0,)),
    "the other operand": (STEP, 2, (), ("g",), (1,)),
    "leaves of a tuple": (MOMENTUM, 3, (), ("p",), (0, 1)),
    "leaves of a tuple, written by one kernel": (TOGETHER, 3, (), ("p",), (0, 1)),
    "one leaf": (MOMENTUM, 3, (), ("p.1",), (None, 1)),
    "an input that is read before": (
        "def @main(%w: T) -> T { nn.softmax(transpose(nn.softmax(transpose(%w)))) }", 1, (), ("w",), (0,),
    ),
    "an input that is read until the end": (
        "def @main(%w: T) -> T { add(%w, reshape(nn.softmax(transpose(%w)), newshape=[4, 8])) }", 1, (), ("w",), (0,),
    ),
    "an input that its last kernel reads crosswise": ("def @main(%w: T) -> T { nn.softmax(%w) }", 1, (), ("w",), (0,)),
    "an input that is the result": ("def @main(%a: T, %b: T) -> (T, T) { (%b, %a) }", 2, (), ("a", "b"), (1, 0)),
    "a result that stands twice": (
        "def @main(%w: T) -> (T, T) { let %x = tanh(%w); (%x, %x) }", 1, (), ("w",), (0, None),
    ),
    "an input that is another result": (
        "def @main(%a: T, %b: T) -> (T, T) { (add(%a, %b), %a) }", 2, (), ("a", "b"), (1, 0),
    ),
    "a loop over a ref": (LOOP, 2, (np.int32(5),), ("w",), (0,)),
    "a loop that runs never": (LOOP, 2, (np.int32(0),), ("w",), (0,)),
    "results that change places": (CHOICE, 2, (np.bool_(True),), ("a", "b"), (0, 1)),
    "results that stay": (CHOICE, 2, (np.bool_(False),), ("a", "b"), (0, 1)),
    "a recursion that needs a stack of its own": (DEEP, 1, (np.int32(30_000),), ("w",), (0,)),
}  # fmt: skip


@pytest.mark.parametrize("target", ["llvm", "llvm -heap=checked"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_results_are_the_memory_of_donated_inputs(case: Any, target: str):
    source, count, rest, donate, places = case
    program = module(full(source))
    given = arrays(count)
    plain = relay.build(program, target)(*(each.copy() for each in given), *rest)
    executable = relay.build(program, target, donate=donate)
    kept = [each.copy() for each in given]
    same(executable.keeping()(*given, *rest), plain)
    for one, other in zip(given, kept, strict=True):
        np.testing.assert_array_equal(one, other)
    result = executable(*given, *rest)
    same(result, plain)
    found = result if isinstance(result, tuple) else (result,)
    for array, place in zip(found, places, strict=True):
        assert [i for i, each in enumerate(given) if np.shares_memory(each, array)] == (
            [] if place is None else [place]
        )
        assert place is None or array is given[place]


LISTS = "type List[A] { Cons(A, List[A]), Nil }\n"
PAIR = """
def @step(%ws: List[T], %g: T) -> List[T] {
  match (%ws) { Cons(%w, %rest) => Cons(tanh(%w), @step(%rest, %g)), Nil => Nil }
}
def @main(%p: (T, List[T]), %g: T) -> (T, List[T]) { (add(%p.0, %g), @step(%p.1, %g)) }"""
VALUES: dict[str, tuple[str, tuple[str, ...], Any, Any]] = {
    "the elements of a list": (
        """
def @step(%ws: List[T], %g: T) -> List[T] {
  match (%ws) { Cons(%w, %rest) => Cons(subtract(%w, %g), @step(%rest, %g)), Nil => Nil }
}
def @main(%ws: List[T], %g: T) -> List[T] { @step(%ws, %g) }""",
        ("ws",), lambda a, b, c, d: ([a, b, c], d), lambda a, b, c, d: [a, b, c],
    ),
    "the fields of a data type, and a tensor": (
        """
type Layer { Layer(T, T) }
def @main(%p: Layer, %m: T, %g: T) -> (Layer, T) {
  let %n = add(multiply(0.9f, %m), %g);
  match (%p) { Layer(%w, %b) => (Layer(subtract(%w, %n), subtract(%b, %n)), %n) }
}""",
        ("p", "m"), lambda a, b, c, d: (DataValue("Layer", "Layer", (a, b)), c, d),
        lambda a, b, c, d: [a, b, c],
    ),
    "a tuple with a list in it": (
        PAIR, ("p",), lambda a, b, c, d: ((a, [b, c]), d), lambda a, b, c, d: [a, b, c],
    ),
    "the tensor of a tuple with a list in it": (
        PAIR, ("p.0",), lambda a, b, c, d: ((a, [b, c]), d), lambda a, b, c, d: [a],
    ),
    "the list of a tuple with a tensor in it": (
        PAIR, ("p.1",), lambda a, b, c, d: ((a, [b, c]), d), lambda a, b, c, d: [b, c],
    ),
    "a leaf of a tuple in a tuple with a list": (
        """
def @main(%p: (List[T], (T, T)), %g: T) -> (List[T], (T, T)) {
  (%p.0, (subtract(%p.1.0, %g), multiply(%p.1.1, %g)))
}""",
        ("p.1.1",), lambda a, b, c, d: (([a], (b, c)), d), lambda a, b, c, d: [c],
    ),
    "a tensor beside a list that stays": (
        """
def @fold(%w: T, %gs: List[T]) -> T {
  match (%gs) { Cons(%g, %rest) => @fold(subtract(%w, %g), %rest), Nil => %w }
}
def @main(%w: T, %gs: List[T]) -> T { @fold(%w, %gs) }""",
        ("w",), lambda a, b, c, d: (a, [b, c, d]), lambda a, b, c, d: [a],
    ),
    "a tensor beside a list in the result": (
        """
def @main(%w: T, %g: T) -> List[T] { Cons(subtract(%w, %g), Cons(%g, Nil)) }""",
        ("w",), lambda a, b, c, d: (a, d), lambda a, b, c, d: [a],
    ),
}  # fmt: skip


def in_order(value: Any) -> list[np.ndarray]:
    """The arrays of a value."""
    if isinstance(value, np.ndarray):
        return [value]
    fields = value.fields if isinstance(value, DataValue) else value
    return [array for each in fields for array in in_order(each)]


@pytest.mark.parametrize("target", ["llvm", "llvm -heap=checked"])
@pytest.mark.parametrize("name", VALUES)
def test_tensors_in_values_are_donated(name: str, target: str):
    source, donate, arguments, places = VALUES[name]
    program = module(full(LISTS + source))
    given = arrays(4)
    kept = [each.copy() for each in given]
    expected = in_order(relay.build(program, target)(*arguments(*given)))
    executable = relay.build(program, target, donate=donate)
    same(tuple(in_order(executable.keeping()(*arguments(*given)))), tuple(expected))
    same(tuple(given), tuple(kept))
    uses: list[HeapUse] = []
    executable["main"].observe_heap(uses.append)
    result = in_order(executable(*arguments(*given)))
    same(tuple(result), tuple(expected))
    assert uses[0].alive == 0
    assert {id(each) for each in result if id(each) in map(id, given)} == set(map(id, places(*given)))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda w, g: ([w, frozen(g)], w.copy()), "donated-read-only.*input `ws` is donated"),
        (lambda w, g: ([w, w], g), "donated-twice.*`ws` is donated, .* shares memory with that of `ws`"),
        (lambda w, g: ([w], w), "donated-twice.*`ws` is donated, .* shares memory with that of `g`"),
        (lambda w, g: ([w, g[::-1]], w), "input-memory"),
    ],
)
def test_arrays_in_values_that_cannot_be_taken_are_refused(given: Any, message: str):
    source, donate, _, _ = VALUES["the elements of a list"]
    executable = relay.build(module(full(LISTS + source)), donate=donate)
    with pytest.raises(relay.RelayError, match=re.compile(message, re.DOTALL)):
        executable(*given(*arrays(2)))


def test_parts_of_values_are_kept_one_by_one():
    executable = relay.build(module(full(LISTS + PAIR)), donate=("p.0", "p.1"))
    a, b, c, d = arrays(4)
    expected = a.copy(), b.copy(), c.copy()
    executable.keeping("p")((a, [b, c]), d)
    same((a, b, c), expected)
    first, rest = executable.keeping("p.1")((a, [b, c]), d)
    assert first is a
    same((b, c), expected[1:])
    assert all(each is not b and each is not c for each in in_order(rest))
    with pytest.raises(relay.RelayError, match=r"`p.2` is donated, which is no tensor that `main` takes"):
        relay.build(module(full(LISTS + PAIR)), donate=("p.2",))


def test_an_input_and_a_part_of_it_are_one_donation():
    program = compile_stages(module(full(LISTS + PAIR)), donate=("p.1", "p", "p.0")).program
    assert " donating (0) " in str(program.entry("main"))
    program = compile_stages(module(full(LISTS + PAIR)), donate=("p.1",)).program
    assert " donating (0 field 1) " in str(program.entry("main"))


@pytest.mark.parametrize("name", ["the elements of a list", "the list of a tuple with a tensor in it"])
def test_donated_values_are_kept_in_files(name: str, tmp_path):
    source, donate, arguments, places = VALUES[name]
    executable = relay.build(module(full(LISTS + source)), donate=donate)
    executable.save(tmp_path / "step.rlx")
    executable.export(tmp_path / "step.so")
    assert "is written, and holds anything" not in (tmp_path / "step.h").read_text()
    for name in ("step.rlx", "step.so"):
        given = arrays(4)
        result = in_order(relay.load(tmp_path / name)(*arguments(*given)))
        assert {id(each) for each in result} & set(map(id, given)) == set(map(id, places(*given)))


def test_all_parameters_under_a_name_are_donated():
    x, y, g = (relay.var(name, shape=(4,)) for name in ("params.w", "params.b", "g"))
    body = relay.Tuple((relay.subtract(y, g), relay.subtract(x, g)))
    given = [np.full(4, number, np.float32) for number in (3, 2, 1)]
    result = relay.build(relay.Function([x, y, g], body), donate=("params",))(*given)
    assert {id(each) for each in result} == {id(each) for each in given[:2]}
    assert [each.tolist() for each in result] == [[1] * 4, [2] * 4]


def same(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        for one, other in zip(found, expected, strict=True):
            same(one, other)
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("extent", [1, 37, 4099, 300_007])
def test_results_that_one_kernel_writes_over_all_that_it_reads(extent: int):
    """Each is made of both, on two threads and where vectors end."""
    a, b = (relay.var(name, shape=("n",)) for name in "ab")
    body = relay.Tuple((relay.add(a, b), relay.subtract(a, relay.multiply(b, b))))
    executable = relay.build(relay.Function([a, b], body), "llvm -num-threads=2", opt_level=3, donate=("a", "b"))
    x, y = np.random.default_rng(1).standard_normal((2, extent), np.float32)
    expected = x + y, x - y * y
    total, difference = executable(x, y)
    assert {id(total), id(difference)} == {id(x), id(y)}
    np.testing.assert_array_equal(total, expected[0])
    np.testing.assert_allclose(difference, expected[1], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    "name",
    ["one kernel", "leaves of a tuple", "leaves of a tuple, written by one kernel", "an input that is read before"],
)
def test_nothing_is_copied_where_a_kernel_can_write_over_the_input(name: str):
    source, _, _, donate, _ = CASES[name]
    program = compile_stages(module(full(source)), donate=donate).program
    (region,) = (region for each in program.procedures for region in each.regions())
    assert not [each for each in region.instructions if isinstance(each, CopyBytes)]


def test_donation_is_kept_in_files(tmp_path):
    executable = relay.build(module(full(STEP)), donate=("w",))
    executable.save(tmp_path / "step.rlx")
    executable.export(tmp_path / "step.so")
    assert (
        "buffers[0] is written, and holds anything after a failure; give its address for 2 too"
        in (tmp_path / "step.h").read_text()
    )
    for name in ("step.rlx", "step.so"):
        w, g = arrays(2)
        expected = w - np.float32(0.1) * g
        result = relay.load(tmp_path / name)(w, g)
        assert result is w
        np.testing.assert_allclose(result, expected, rtol=1e-6)


STEP_IN_C = """
#include <stdio.h>
#include "step.h"

int main(void) {
    float w[32], g[32];
    for (int i = 0; i < 32; i++) w[i] = (float)i, g[i] = 10;
    void *buffers[STEP_INPUTS + STEP_OUTPUTS] = {w, g, w};
    int status = step_run(buffers, 0);
    printf("%g %g", w[0], w[31]);
    return status;
}
"""


def test_a_c_program_gives_an_array_away(tmp_path):
    relay.build(module(full(STEP)), donate=("w",)).export(tmp_path / "step.so")
    done = run_c(compile_c(STEP_IN_C, tmp_path / "step.so"), folder=tmp_path)
    assert (done.returncode, done.stdout) == (0, "-1 30")


def test_the_program_tells_what_is_donated():
    program = compile_stages(module(full(STEP)), donate=("w",)).program
    assert "donating (0 as 0)" in str(program.entry("main"))


REFUSED: dict[str, tuple[Any, str]] = {
    "an array that is read-only": (
        lambda w, g: (frozen(w), g),
        r"donated-read-only.*input `w` is donated, and the array for it may not be written.*executable.keeping\('w'\)",
    ),
    "one array twice": (lambda w, g: (w, w), r"donated-twice.*`w` is donated, .* shares memory with that of `g`"),
    "arrays that overlap": (lambda w, g: overlapping(), r"donated-twice.*shares memory with that of `g`"),
    "an array that is not contiguous": (lambda w, g: (np.asfortranarray(w), g), r"input-memory"),
}


def frozen(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def overlapping() -> tuple[np.ndarray, np.ndarray]:
    whole = np.zeros((5, 8), np.float32)
    return whole[1:], whole[:4]


@pytest.mark.parametrize(("given", "message"), REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize(
    "source", [STEP, LOOP.replace(", %n: int32) -> T", ") -> T").replace("@loop(%r, %g, %n)", "@loop(%r, %g, 3)")]
)
def test_arrays_that_cannot_be_taken_are_refused(given: Any, message: str, source: str):
    executable = relay.build(module(full(source)), donate=("w",))
    with pytest.raises(relay.RelayError, match=re.compile(message, re.DOTALL)):
        executable(*given(*arrays(2)))
    w, g = arrays(2)
    assert executable(w, g) is w  # the next call is well


def test_inputs_that_are_not_donated_may_share_memory():
    g, w = arrays(2)
    executable = relay.build(
        module(full("def @main(%w: T, %g: T, %h: T) -> T { add(%w, multiply(%g, %h)) }")), donate=("w",)
    )
    expected = w + g * g
    np.testing.assert_allclose(executable(w, g, g), expected, rtol=1e-6)


def test_names_that_no_input_has_are_refused():
    with pytest.raises(relay.RelayError, match=r"`weight` is donated, which is no tensor that `main` takes"):
        relay.build(module(full(STEP)), donate=("weight",))
    with pytest.raises(relay.RelayError, match=r"what is donated is not a tuple of names[^$]*donate=\('w',\)"):
        relay.build(module(full(STEP)), donate="w")
    with pytest.raises(relay.RelayError, match=r"`g` is donated, which is no tensor that `main` takes"):
        relay.build(module(full(STEP)), donate=("w",)).keeping("g")


def test_what_no_result_can_take_is_told(caplog):
    with caplog.at_level(logging.WARNING):
        executable = relay.build(module(full("def @main(%w: T) { sum(%w) }")), donate=("w",))
    assert "no result takes the memory of `w: Tensor[(4, 8), float32]`, which is donated" in caplog.text
    w = frozen(arrays(1)[0])
    executable(w)


def test_what_may_hold_any_array_is_no_place_for_donations(caplog):
    source = "def @main(%w: T, %r: ref(T)) -> T { %r := %w; subtract(%w, 1f) }"
    with caplog.at_level(logging.WARNING):
        executable = relay.build(module(full(source)), donate=("w",))
    assert "neither functions nor refs among inputs and results" in caplog.text
    w, other = arrays(2)
    held = relay.ref(other)
    result = executable(w, held)
    np.testing.assert_array_equal(held.value, w)
    np.testing.assert_array_equal(result, w - 1)


def test_the_page_runs(tmp_path):
    run_page("update_in_place.md", tmp_path)


@pytest.mark.parametrize("donate", [("a", "b", "a.c"), ("a.c", "b", "a"), ("b", "a")])
def test_results_of_one_type_are_paired_in_the_order_of_the_inputs(donate: tuple[str, ...]):
    """`a` names `a.c` too, which is no reason for it to take the result that `b` is for."""
    type_ = relay.TensorType((4,), "float32")
    inputs = [relay.Var(name, type_) for name in ("a", "b", "a.c")]
    step = relay.build(relay.Function(inputs, relay.Tuple([each * 2.0 for each in inputs])), donate=donate)
    given = [np.full(4, each, np.float32) for each in (1, 2, 3)]
    found = step(*given)
    for position, (result, array) in enumerate(zip(found, given, strict=True), 1):
        assert result is array
        assert (array == 2 * position).all()
