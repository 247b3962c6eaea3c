"""Extents that depend on data, natively: arange, argwhere, unique, shapes that are tensors, concat that grows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relay
from relay.base.diagnostics import RelayError
from tests.native.running import check, module

F = np.float32
ARANGE = 'arange(0, %a, 1, dtype="int32", start=0, step=1)'
GROW = """
def @grow(%a: int32, %x: Tensor[(n, 4), float32]) -> Tensor[(?, 4), float32] {
  if (equal(%a, 0)) { zeros(shape=[0, 4]) } else { concatenate((@grow(subtract(%a, 1), %x), %x), axis=0) }
}
"""
BOTH = f"""{GROW}
def @both(%a: int32, %x: Tensor[(n, 4), float32]) -> (Tensor[(?, 4), float32], Tensor[(?, 4), float32]) {{
  (@grow(%a, %x), @grow(1, %x))
}}
"""


def ramp(*shape: int) -> np.ndarray:
    return np.arange(np.prod(shape), dtype=F).reshape(shape) - 3


def ints(*numbers: int) -> np.ndarray:
    return np.asarray(numbers, np.int64)


def main(signature: str, body: str, before: str = "") -> str:
    return f"{before}def @main({signature}) {{ {body} }}"


MATRIX = "%x: Tensor[(n, m), float32]"
VECTOR = "%x: Tensor[(n,), float32]"
SIZES = "%s: Tensor[(2,), int64]"
DISTANCES = "%b: int32, %e: int32, %s: int32"
HALVES = "%b: float32, %e: float32, %s: float32"
SLICE = f"{MATRIX}, %b: Tensor[(2,), int64], %e: Tensor[(2,), int64], %s: Tensor[(2,), int64]"
REPEATS = np.asarray([3, np.nan, -0.0, 3, 0, np.nan, -7], F)

PROGRAMS: dict[str, tuple[str, tuple[tuple[Any, ...], ...]]] = {
    "arange": (
        main(DISTANCES, 'arange(%b, %e, %s, dtype="int32")'),
        tuple(tuple(map(np.int32, each)) for each in ((0, 7, 2), (3, 3, 1), (0, 1, 1), (9, 0, -4), (0, -5, 1))),
    ),
    "arange-of-floats": (
        main(HALVES, 'arange(%b, %e, %s, dtype="float32")'),
        tuple(tuple(map(F, each)) for each in ((0, 2, 0.25), (1, -1, -0.3), (0, 1e-3, 1))),
    ),
    "functions-of-parts": (
        main(
            f"%a: int32, %c: bool, {VECTOR}",
            f"""
            let %whole = {ARANGE};
            let %part = strided_slice(%whole, begin=[1], end=[9], strides=[1], axes=[0]);
            let %rest = strided_slice(%x, begin=[1], end=[9], strides=[1], axes=[0]);
            let %f = fn (%i: int32) {{ (add(%part, %i), add(%rest, 1f)) }};
            let %g = fn (%i: int32) {{ let %inner = fn (%k: int32) {{ (add(%part, %k), %rest) }}; %inner(%i) }};
            let %h = if (%c) {{ %f }} else {{ %g }};
            %h(3)
            """,
        ),
        ((np.int32(4), np.bool_(True), ramp(3)), (np.int32(0), np.bool_(False), ramp(0))),
    ),
    "places": (main(MATRIX, "argwhere(greater(%x, 0f))"), ((ramp(3, 4),), (ramp(0, 4),), (ramp(1, 1),))),
    "unique": (
        main(VECTOR, "(unique(%x, return_counts=True), unique(%x, sorted=False))"),
        ((REPEATS,), (ramp(0),), (ramp(1),), (ramp(999) % 7,)),
    ),
    "full": (main(SIZES, "dyn.full(2.5f, %s)"), ((ints(2, 3),), (ints(0, 5),))),
    "zeros-and-ones": (
        main(SIZES, 'subtract(dyn.zeros(%s, dtype="int8"), dyn.ones(%s, dtype="int8"))'),
        ((ints(2, 3),), (ints(1, 1),)),
    ),
    "reshape": (
        main(f"{MATRIX}, {SIZES}", "exp(dyn.reshape(negative(%x), %s))"),
        ((ramp(2, 6), ints(3, 4)), (ramp(2, 6), ints(0, -1)), (ramp(0, 3), ints(-1, 3)), (ramp(3, 2), ints(6, 1))),
    ),
    "broadcast": (
        main("%x: Tensor[(n, 1), float32], %s: Tensor[(3,), int64]", "dyn.broadcast_to(%x, %s)"),
        ((ramp(3, 1), ints(2, 3, 4)), (ramp(1, 1), ints(2, 3, 1)), (ramp(3, 1), ints(0, 3, 4))),
    ),
    "slice": (
        main(SLICE, "dyn.strided_slice(%x, %b, %e, %s)"),
        (
            (ramp(5, 7), ints(1, 2), ints(4, -1), ints(2, 3)),
            (ramp(5, 7), ints(4, 6), ints(-100, 0), ints(-1, -2)),
            (ramp(5, 7), ints(2**62, 1), ints(2**63 - 1, 2), ints(1, 2**62)),
        ),
    ),
    "consumers": (
        main(
            f"{MATRIX}, %w: Tensor[(5, m), float32], %a: int32",
            f"let %r = take(%x, {ARANGE}, axis=0); (nn.softmax(nn.dense(%r, %w)), sum(%r, axis=[0]), add(%r, %r))",
        ),
        ((ramp(3, 4), ramp(5, 4), np.int32(9)), (ramp(3, 40), ramp(5, 40), np.int32(0))),
    ),
    "growing": (
        main("%a: int32, %x: Tensor[(n, 4), float32]", "let %g = @grow(%a, %x); add(%g, tanh(@grow(%a, %x)))", GROW),
        ((np.int32(5), ramp(2, 4)), (np.int32(0), ramp(2, 4)), (np.int32(1), ramp(0, 4))),
    ),
    "growing-in-a-loop": (
        main(
            "%a: int32, %x: Tensor[(n, 4), float32]",
            """let %loop = fn (%i: int32, %all: Tensor[(?, 4), float32]) -> Tensor[(?, 4), float32] {
                 if (equal(%i, 0)) { %all } else { %loop(subtract(%i, 1), concatenate((%all, %x), axis=0)) } };
               %loop(%a, %x)""",
        ),
        ((np.int32(5), ramp(2, 4)), (np.int32(0), ramp(2, 4))),
    ),
    "a-loop-at-other-extents": (
        main(
            f"%a: int32, {VECTOR}",
            """let %f = fn (%i: int32, %y: Tensor[(k,), float32]) -> Tensor[(k,), float32] {
                 if (equal(%i, 0)) { %y } else {
                   let %r = %f(subtract(%i, 1), concatenate((%y, %y), axis=0)); add(%y, slice_like(%r, %y)) } };
               %f(%a, %x)""",
        ),
        ((np.int32(2), ramp(3)), (np.int32(0), ramp(0))),
    ),
    "one-extent-for-each-call": (
        main(
            "%a: int32, %b: int32",
            "add(@triangle(%a), @triangle(%b))",
            f"def @triangle(%a: int32) -> int32 {{ sum({ARANGE}) }}\n",
        ),
        ((np.int32(5), np.int32(70)), (np.int32(0), np.int32(1))),
    ),
    "one-of-two": (
        main(f"%a: int32, {VECTOR}", f'let %y = if (less(%a, 3)) {{ cast({ARANGE}, dtype="float32") }} else {{ %x }}; '
                                     "multiply(%y, %y)"),
        ((np.int32(2), ramp(6)), (np.int32(3), ramp(6))),
    ),
    "calls-itself-at-other-extents": (
        main(
            f"%a: int32, {VECTOR}",
            "@f(%a, %x)",
            """def @f(%i: int32, %x: Tensor[(n,), float32]) -> Tensor[(2*n,), float32] {
                 let %twice = concatenate((%x, %x), axis=0);
                 if (equal(%i, 0)) { %twice }
                 else { let %r = @f(subtract(%i, 1), %twice); strided_slice(%r, begin=[0], end=[2*n]) } }
            """,
        ),
        ((np.int32(2), ramp(3)), (np.int32(0), ramp(0))),
    ),
    "annotations-that-name-extents": (
        main("%a: int32, %x: Tensor[(n, 4), float32]",
             "let %y: Tensor[(m, 4), float32] = @grow(%a, %x); let %z: Tensor[(m, 4), float32] = @grow(%a, %x);"
             "let %b: (Tensor[(k, 4), float32], Tensor[(k, 4), float32]) = @both(%a, %x);"
             "if (greater(%a, 9)) { (%y, %x) } else { (add(%y, %z), add(%b.0, %b.1)) }", BOTH),
        ((np.int32(1), ramp(3, 4)), (np.int32(1), ramp(1, 4))),
    ),
}  # fmt: skip


@pytest.mark.parametrize("level", [0, 3])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_agree_with_the_interpreter(name: str, level: int) -> None:
    source, inputs = PROGRAMS[name]
    program = module(source)
    executable = relay.build(program, "llvm -heap=checked", opt_level=level)
    interpreter = relay.create_executor("interpreter", mod=program).evaluate()
    alive: list[int] = []
    executable["main"].observe_heap(lambda use: alive.append(use.alive))
    for arguments in inputs:
        same(executable(*arguments), interpreter(*arguments))
    assert alive == [0] * len(inputs)


def same(found: Any, expected: Any) -> None:
    if isinstance(expected, tuple):
        for part, other in zip(found, expected, strict=True):
            same(part, other)
        return
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


REFUSED: dict[str, tuple[str, tuple[Any, ...], str]] = {
    "step": (PROGRAMS["arange"][0], (np.int32(0), np.int32(3), np.int32(0)), "`step` must not be 0"),
    "infinite": (PROGRAMS["arange-of-floats"][0], (F(0), F(np.inf), F(1)), "must be finite"),
    "negative": (PROGRAMS["full"][0], (ints(3, -1),), "must not be negative"),
    "size": (PROGRAMS["reshape"][0], (ramp(2, 6), ints(5, 2)), "number of elements"),
    "wrapped-size": (PROGRAMS["reshape"][0], (ramp(0, 6), ints(2**32, 2**32)), "number of elements"),
    "code": (PROGRAMS["reshape"][0], (ramp(2, 6), ints(-1, -1)), "-1 at most once"),
    "broadcast": (PROGRAMS["broadcast"][0], (ramp(3, 1), ints(2, 4, 4)), "only extents of 1 are repeated"),
    "stride": (PROGRAMS["slice"][0], (ramp(2, 6), ints(0, 0), ints(1, 1), ints(1, 0)), "must not be 0"),
    "operator": (
        main(f"%a: int32, {VECTOR}", f'add(cast({ARANGE}, dtype="float32"), %x)'),
        (np.int32(4), ramp(5)),
        "axis -1 of one input",
    ),
    "argument": (
        main("%a: int32", f"@f({ARANGE})", "def @f(%x: Tensor[(4,), int32]) -> int32 { sum(%x) }\n"),
        (np.int32(5),),
        "an argument of @f",
    ),
    "argument-in-a-branch": (
        main(
            "%c: bool, %x: Tensor[(n,), float32], %y: Tensor[(m,), float32]",
            "if (%c) { @f(%c, %x, %y) } else { %x }",
            """def @f(%c: bool, %x: Tensor[(n,), float32], %y: Tensor[(n,), float32]) -> Tensor[(n,), float32] {
                 if (%c) { add(%x, %y) } else { %x } }
            """,
        ),
        (np.bool_(True), ramp(50), ramp(6)),
        "an argument of @f",
    ),
    "result": (
        main("%a: int32", "@f(%a)", f"def @f(%a: int32) -> Tensor[(4,), int32] {{ {ARANGE} }}\n"),
        (np.int32(5),),
        "the result of a function",
    ),
    "annotation": (
        main("%a: int32", f"let %x: Tensor[(4,), int32] = {ARANGE}; add(%x, %x)"),
        (np.int32(5),),
        "the value of %x",
    ),
    "annotation-of-a-known-name": (
        main("%a: int32, %x: Tensor[(n, 4), float32]", "let %y: Tensor[(n, 4), float32] = @grow(%a, %x); add(%y, %x)",
             GROW),
        (np.int32(2), ramp(3, 4)),
        "the value of %y",
    ),
    "annotation-of-a-tuple": (
        main("%a: int32, %x: Tensor[(n, 4), float32]",
             "let %y: (Tensor[(m, 4), float32], Tensor[(m, 4), float32]) = @both(%a, %x); add(%y.0, %y.1)", BOTH),
        (np.int32(2), ramp(3, 4)),
        "the value of %y",
    ),
    "field": (
        main("%a: int32", f"match (Box({ARANGE})) {{ Box(%x) => add(%x, %x) }}",
             "type Boxed { Box(Tensor[(4,), int32]) }\n"),
        (np.int32(5),),
        "a field of Box",
    ),
    "ref": (
        main("%a: int32", f'let %r = ref(zeros(shape=[4], dtype="int32")); ref_write(%r, {ARANGE}); ref_read(%r)'),
        (np.int32(5),),
        "what a ref is given",
    ),
    "closure": (
        main(f"%a: int32, {VECTOR}", 'let %f = fn (%y: Tensor[(n,), float32]) { add(%x, %y) }; '
                                     f'%f(cast({ARANGE}, dtype="float32"))'),
        (np.int32(5), ramp(4)),
        "an argument of %f",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused_by_both(name: str) -> None:
    source, arguments, text = REFUSED[name]
    program = module(source)
    executable = relay.build(program, opt_level=3)
    with pytest.raises(RelayError, match=text):
        executable(*arguments)
    with pytest.raises(RelayError):
        relay.create_executor("interpreter", mod=program).evaluate()(*arguments)


@pytest.mark.parametrize("extents", [ints(2**40, 2**40), ints(2**62, 1), ints(2**32, 2**32)])
def test_more_than_memory_holds_is_said(extents: np.ndarray) -> None:
    with pytest.raises(MemoryError):
        relay.build(module(PROGRAMS["full"][0]))(extents)


def test_arrays_that_are_not_contiguous_are_refused() -> None:
    with pytest.raises(RelayError, match="contiguous"):
        relay.build(module(PROGRAMS["places"][0]))(ramp(3, 4)[::-1, ::2])


def test_an_extent_stands_for_the_shape_of_what_follows() -> None:
    count = relay.var("count", shape=(), dtype="int32")
    places = relay.arange(count, dtype="int32")
    filled = relay.full(1.5, (places.checked_type.shape[0], 2))
    program = relay.IRModule.from_expr(relay.Function([count], relay.Tuple([places, filled])))
    found = relay.build(program)(np.int32(3))
    np.testing.assert_array_equal(found[0], [0, 1, 2])
    np.testing.assert_array_equal(found[1], np.full((3, 2), 1.5, F))


def test_functions_of_static_operators_take_expressions() -> None:
    data, shape = relay.var("data", shape=(2, 6)), relay.var("shape", shape=(2,), dtype="int64")
    parts = (
        relay.reshape(data, shape), relay.broadcast_to(relay.const(F(1)), shape), relay.zeros(shape),
        relay.ones(shape, "int32"), relay.full(2.0, shape), relay.strided_slice(data, shape, [2, 6]),
        relay.reshape(data, relay.const(ints(3, 4))),
    )  # fmt: skip
    found = relay.build(relay.Function([data, shape], relay.Tuple(parts)))(ramp(2, 6), ints(1, 12))
    assert [part.shape for part in found] == [(1, 12)] * 5 + [(1, 0), (3, 4)]


def test_places_of_a_mask_select_rows() -> None:
    source = main(MATRIX, "take(%x, squeeze(argwhere(greater(sum(%x, axis=[1]), 0f)), axis=[1]), axis=0)")
    check(source, ramp(4, 3), opt_level=3)
