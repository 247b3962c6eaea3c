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


def same(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        for one, other in zip(found, expected, strict=True):
            same(one, other)
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["one kernel", "leaves of a tuple", "an input that is read before"])
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


def test_the_page_runs(tmp_path):
    run_page("update_in_place.md", tmp_path)
