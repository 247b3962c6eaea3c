"""Tensors on devices in data, refs and closures: they stay there, and all memory of the device is given back."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import relay
from relay.base.diagnostics import RelayError
from tests.lower.interpreting import run_as_text
from tests.native.test_device_regions import KIND, Frame, FrameKernels, FrameKind, assert_alike, built

REFUSED = frozenset({"equal", "subtract", "sort"})
T = "Tensor[(2, 3), float32]"
X = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)

LIST = f"""
type Chain[a] {{ End, Link(a, Chain[a]) }}
def @chain(%i: int32, %x: {T}) -> Chain[{T}] {{
  if (%i == 0) {{ End }} else {{ Link(tanh(add(%x, %x)), @chain(%i - 1, tanh(%x))) }}
}}
def @total(%xs: Chain[{T}], %sum: {T}) -> {T} {{
  match (%xs) {{ End => {{ %sum }}, Link(%h, %t) => {{ @total(%t, multiply(add(%sum, %h), %h)) }} }}
}}
def @main(%n: int32, %x: {T}) {{ @total(@chain(%n, %x), %x) }}
"""

TREE = f"""
type Tree {{ Leaf({T}), Node((Tree, {T}), Tree) }}
def @grow(%i: int32, %x: {T}) -> Tree {{
  if (%i == 0) {{ Leaf(tanh(%x)) }}
  else {{ Node((@grow(%i - 1, tanh(%x)), multiply(%x, %x)), Leaf(add(%x, %x))) }}
}}
def @fold(%tree: Tree) -> {T} {{
  match (%tree) {{
    Leaf(%x) => {{ negative(%x) }},
    Node((%left, %x), %right) => {{ add(multiply(@fold(%left), %x), @fold(%right)) }}
  }}
}}
def @main(%n: int32, %x: {T}) {{ @fold(@grow(%n, %x)) }}
"""

STATE = f"""
type State {{ State(({T}, {T}), int32) }}
def @loop(%s: State, %x: {T}) -> State {{
  match (%s) {{
    State(%both, %i) => {{
      if (%i == 0) {{ %s }} else {{
        let %next = tanh(add(multiply(%both.1, %both.0), %x));
        @loop(State((%next, add(%both.1, %next)), %i - 1), %x)
      }}
    }}
  }}
}}
def @main(%n: int32, %x: {T}) {{
  let %s = @loop(State((%x, zeros_like(%x)), %n), %x);
  match (%s) {{ State((%h, %c), _) => {{ (multiply(%h, %c), sort(%h)) }} }}
}}
"""

REF = f"""
def @loop(%i: int32, %r: ref({T}), %x: {T}) -> () {{
  if (%i == 0) {{ () }} else {{
    %r := tanh(add(%r^, %x));
    @loop(%i - 1, %r, %x)
  }}
}}
def @main(%n: int32, %x: {T}) {{
  let %r = ref(multiply(%x, %x));
  let %done = @loop(%n, %r, %x);
  (negative(%r^), sort(%r^))
}}
"""

KNOT = f"""
type Knot {{ Loose, Tied({T}, ref(Knot)) }}
def @main(%n: int32, %x: {T}) {{
  let %r = ref(Loose);
  let %a = tanh(%x);
  let %b = sort(%a);
  %r := Tied(add(%a, %b), %r);
  match (%r^) {{ Loose => {{ %x }}, Tied(%t, _) => {{ negative(%t) }} }}
}}
"""

CLOSURE = f"""
def @times(%i: int32, %f: fn ({T}) -> {T}, %x: {T}) -> {T} {{
  if (%i == 0) {{ %x }} else {{ @times(%i - 1, %f, %f(%x)) }}
}}
def @twice(%x: {T}) -> {T} {{ negative(add(%x, %x)) }}
def @main(%n: int32, %x: {T}) {{
  let %a = tanh(%x);
  let %both = (multiply(%a, %x), sort(%a));
  let %f = if (%n == 3) {{ fn (%y: {T}) -> {T} {{ tanh(add(multiply(%y, %both.0), %both.1)) }} }} else {{ @twice }};
  @times(%n, %f, @times(2, fn (%y: {T}) -> {T} {{ sigmoid(multiply(%y, %a)) }}, %x))
}}
"""

CALLERS = f"""
type Chain[a] {{ End, Link(a, Chain[a]) }}
def @longer(%i: int32, %xs: Chain[{T}]) -> Chain[{T}] {{
  if (%i == 0) {{ %xs }} else {{
    match (%xs) {{ End => {{ %xs }}, Link(%h, _) => {{ @longer(%i - 1, Link(tanh(add(%h, %h)), %xs)) }} }}
  }}
}}
def @main(%n: int32, %x: {T}) -> Chain[{T}] {{ @longer(%n, Link(%x, End)) }}
"""

KEPT = {"list": LIST, "tree": TREE, "state": STATE, "ref": REF, "closure": CLOSURE}
ALL = KEPT | {"knot": KNOT, "callers": CALLERS}


def parsed(text: str) -> relay.IRModule:
    return relay.parse(f'#[version = "0.0.5"]\n{text}')


@pytest.fixture(autouse=True)
def _kind_is_forgotten() -> Iterator[None]:
    relay.register_target(FrameKind(FrameKernels()))
    yield
    relay.unregister_target(KIND)


@pytest.mark.parametrize("text", ALL.values(), ids=ALL)
@pytest.mark.parametrize("opt_level", [0, 3])
def test_what_holds_tensors_on_a_device_holds_the_same(text: str, opt_level: int):
    device = Frame()
    relay.register_device(KIND, lambda _: device, replace=True)
    relay.register_target(FrameKind(FrameKernels(REFUSED)), replace=True)
    run = relay.build(parsed(text), target=KIND, opt_level=opt_level)
    expected = relay.build(parsed(text))(np.int32(4), X)
    for _ in range(2):
        assert_alike(run(np.int32(4), X), expected)
    held = device.held
    run(np.int32(9), X)
    assert device.held == held, "all that a call made is given back"
    assert_alike(run_as_text(parsed(text), opt_level, KIND)(np.int32(4), X), expected)


@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
@pytest.mark.parametrize("opt_level", [0, 3])
def test_they_stay_there_however_many_there_are(text: str, opt_level: int):
    device = Frame()
    relay.register_device(KIND, lambda _: device, replace=True)
    relay.register_target(FrameKind(FrameKernels(REFUSED)), replace=True)
    run = relay.build(parsed(text), target=KIND, opt_level=opt_level)
    run(np.int32(1), X)
    copies: list[tuple[int, int]] = []
    for length in (4, 20):
        device.asked.clear()
        run(np.int32(length), X)
        assert device.asked.count("run") >= length
        copies.append((device.asked.count("upload"), device.asked.count("download")))
    assert copies[0] == copies[1]
    assert max(copies[0]) <= 3


@pytest.mark.parametrize("text", ALL.values(), ids=ALL)
@pytest.mark.parametrize("function", ["allocate", "run"])
def test_a_call_that_fails_in_the_middle_gives_all_back(text: str, function: str):
    device = Frame()
    run = built(parsed(text), FrameKernels(REFUSED), device)
    inputs = np.int32(5), X
    expected = run(*inputs)
    device.asked.clear()
    run(*inputs)
    held = device.held
    for good in range(device.asked.count(function)):
        device.fails_behind(function, good)
        with pytest.raises(RelayError, match="could not run its part on a device"):
            run(*inputs)
        assert device.held <= held
        device.fails = frozenset()
    assert_alike(run(*inputs), expected)
    assert device.held == held
