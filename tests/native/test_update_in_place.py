"""A value that nobody else has a use for belongs to the kernel that uses it last; updates in loops take no memory."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import relay
from relay.driver.build import compile_stages
from relay.lower.program.procedure import NewTensor
from relay.runtime.values.heap import HeapUse
from tests.native.running import LIST, assert_same, check, module


def full(source: str) -> str:
    """A program in which T is the type of all its matrices."""
    return re.sub(r"\bT\b", "Tensor[(4, 8), float32]", source)


LOOP = """
def @loop(%r: ref(T), %g: T, %n: int32) -> () {
  if (equal(%n, 0)) { () } else {
    BODY
    @loop(%r, %g, subtract(%n, 1))
  }
}
def @main(%w: T, %g: T, %n: int32) -> T {
  let %r = ref(%w);
  @loop(%r, %g, %n);
  %r^
}"""
STEP = "%r := subtract(%r^, multiply(0.1f, %g));"

IN_PLACE = {
    "a ref that is read and then written": LOOP.replace("BODY", STEP),
    "a ref that is written by way of names": LOOP.replace(
        "BODY", "let %old: T = %r^; let %new = tanh(%old); %r := %new;"
    ),
    "a chain of kernels, the first of which reads the ref last": LOOP.replace(
        "BODY", "%r := nn.softmax(transpose(nn.softmax(transpose(%r^))));"
    ),
    "a part of what a ref holds": LOOP.replace(
        "BODY",
        """let %row = reshape(sum(%g, axis=[0]), newshape=[1, 8]);
    %r := scatter_nd(%r^, reshape(floor_mod(%n, 4), newshape=[1, 1]), %row, mode="add");""",
    ),
    "a value that goes round": """
def @loop(%w: T, %g: T, %n: int32) -> T {
  if (equal(%n, 0)) { %w } else { @loop(subtract(%w, multiply(0.1f, %g)), %g, subtract(%n, 1)) }
}
def @main(%w: T, %g: T, %n: int32) -> T { @loop(%w, %g, %n) }""",
    "moments and weights, all read before any is written": """
def @loop(%w: ref(T), %m: ref(T), %g: T, %n: int32) -> () {
  if (equal(%n, 0)) { () } else {
    let %w0 = %w^;
    let %m0 = %m^;
    let %m1 = add(multiply(0.9f, %m0), %g);
    let %w1 = subtract(%w0, multiply(0.1f, %m1));
    %m := %m1;
    %w := %w1;
    @loop(%w, %m, %g, subtract(%n, 1))
  }
}
def @main(%x: T, %g: T, %n: int32) -> T {
  let %w = ref(%x);
  @loop(%w, ref(zeros_like(%x)), %g, %n);
  %w^
}""",
    "moments and weights of one kernel": """
def @loop(%w: T, %m: T, %g: T, %n: int32) -> (T, T) {
  if (equal(%n, 0)) { (%w, %m) } else {
    let %m1 = add(multiply(0.9f, %m), %g);
    @loop(subtract(%w, multiply(%m1, %w)), %m1, %g, subtract(%n, 1))
  }
}
def @main(%x: T, %g: T, %n: int32) -> (T, T) { @loop(tanh(%x), zeros_like(%x), %g, %n) }""",
}

SHARED = {
    "two refs hold one tensor": """
def @main(%w: T) -> (T, T) {
  let %x = tanh(%w);
  let %a = ref(%x);
  let %b = ref(%x);
  %a := add(%a^, 1f);
  %a := add(%a^, 1f);
  (%a^, %b^)
}""",
    "two names of one ref": """
def @update(%a: ref(T), %b: ref(T)) -> () {
  let %x = %a^;
  let %y = %b^;
  let %s = add(%x, 1f);
  let %t = add(transpose(reshape(transpose(%y), newshape=[8, 4])), 2f);
  %a := %s;
  %b := %t;
  ()
}
def @main(%w: T) -> (T, T) {
  let %a = ref(tanh(%w));
  @update(%a, %a);
  let %b = ref(tanh(%w));
  @update(%a, %b);
  (%a^, %b^)
}""",
    "a tuple and a ref hold one tensor": """
def @main(%w: T) -> (T, T, T) {
  let %x = tanh(%w);
  let %t = (%x, %w);
  let %r = ref(%x);
  %r := subtract(%r^, 1f);
  let %y = %t.0;
  %r := subtract(%r^, 1f);
  (%r^, %t.0, %y)
}""",
    "a closure has captured what is updated": """
def @main(%w: T) -> (T, T) {
  let %x = tanh(%w);
  let %f = fn (%z: T) -> T { add(%x, %z) };
  let %y = add(%x, 1f);
  let %r = ref(%x);
  %r := multiply(%r^, 2f);
  (%f(%y), %r^)
}""",
    "what is read stays what it was": """
def @main(%w: T) -> (T, T, T) {
  let %r = ref(tanh(%w));
  let %before = %r^;
  %r := add(%r^, 1f);
  let %between = %r^;
  %r := add(%r^, 1f);
  (%before, %between, %r^)
}""",
    "another ref is written between": """
def @main(%w: T) -> (T, T) {
  let %a = ref(tanh(%w));
  let %b = ref(%a^);
  let %x = %a^;
  %a := multiply(%x, 3f);
  %b := add(%x, %b^);
  (%a^, %b^)
}""",
    "a view of what is updated": """
def @main(%w: T) -> (Tensor[(32), float32], T) {
  let %x = tanh(%w);
  let %flat = reshape(%x, newshape=[-1]);
  let %y = add(%x, 1f);
  let %r = ref(%y);
  %r := add(%r^, %x);
  (%flat, %r^)
}""",
    "the elements of a list": LIST
    + """
def @map(%l: List[T]) -> List[T] {
  match (%l) { Cons(%h, %t) => Cons(add(%h, 1f), @map(%t)), Nil => Nil }
}
def @main(%w: T) -> (List[T], List[T]) {
  let %x = tanh(%w);
  let %l = Cons(%x, Cons(%w, Cons(%x, Nil)));
  (@map(%l), %l)
}""",
    "a constant": """
def @loop(%x: T, %n: int32) -> T {
  if (equal(%n, 0)) { %x } else { @loop(add(%x, 1f), subtract(%n, 1)) }
}
def @main(%w: T) -> (T, T) {
  let %c = zeros(shape=[4, 8], dtype="float32");
  (@loop(%c, 2), add(%c, %w))
}""",
    "a ref of refs": """
def @main(%w: T) -> (T, T) {
  let %inner = ref(tanh(%w));
  let %outer = ref(%inner);
  let %x = (%outer^)^;
  %inner := add(%x, 1f);
  let %again = %outer^;
  %again := add(%again^, %x);
  (%inner^, %x)
}""",
}


def arrays() -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(1)
    return random.standard_normal((2, 4, 8), dtype=np.float32)


def uses(source: str, *calls: tuple[Any, ...]) -> list[HeapUse]:
    """What calls of a program do with their heaps."""
    executable = relay.build(module(full(source)))
    found: list[HeapUse] = []
    executable["main"].observe_heap(found.append)
    for each in calls:
        executable(*each)
    return found


AS_REFS = relay.transform.PassContext(disabled_pass=("PromoteRefs",))
"""Refs of a program stay refs, as those stay that come from outside."""


@pytest.mark.parametrize("context", [relay.transform.PassContext(), AS_REFS], ids=["values", "refs"])
@pytest.mark.parametrize("source", IN_PLACE.values(), ids=IN_PLACE)
def test_an_update_takes_no_memory_after_its_first_iteration(source: str, context: relay.transform.PassContext):
    w, g = arrays()
    with context:
        check(full(source), w, g, np.int32(5))
        once, often = uses(source, (w, g, np.int32(1)), (w, g, np.int32(50)))
    assert once == often


def test_memory_of_equal_size_is_used_again_where_no_kernel_may_write_over_it():
    w, g = arrays()
    source = LOOP.replace("BODY", "%r := nn.softmax(add(%r^, transpose(reshape(%r^, newshape=[8, 4]))));")
    check(full(source), w, g, np.int32(5))
    twice, often = uses(source, (w, g, np.int32(2)), (w, g, np.int32(50)))
    assert twice == often


@pytest.mark.parametrize("source", SHARED.values(), ids=SHARED)
def test_an_update_is_not_seen_under_another_name(source: str):
    w, _ = arrays()
    kept = w.copy()
    check(full(source), w, opt_level=0)  # most of these refs are optimized away
    np.testing.assert_array_equal(w, kept)


@pytest.mark.parametrize(
    ("context", "whose"), [(relay.transform.PassContext(), "%0"), (AS_REFS, "%5 of %0")], ids=["value", "ref"]
)
def test_the_form_tells_whose_memory_is_taken(context: relay.transform.PassContext, whose: str):
    with context:
        program = compile_stages(module(full(IN_PLACE["a ref that is read and then written"]))).program
    found = [
        str(each)
        for procedure in program.procedures
        if procedure.name.startswith("loop_")
        for each in procedure.instructions()
        if isinstance(each, NewTensor) and " over " in str(each)
    ]
    assert found == [f"%6 = tensor label1 [4, 8] 128 bytes over {whose}"]


def test_a_ref_keeps_what_it_holds_when_an_index_is_refused():
    source = """
def @main(%r: ref(T), %i: Tensor[(4), int32]) -> () {
  %r := add(%r^, 1f);
  let %old = %r^;
  let %new = add(%old, 1f);
  let %rows = take(%new, check_indices(%i, extents=[4], what="rows"), axis=0, mode="wrap");
  %r := add(%new, %rows);
  ()
}"""
    w, _ = arrays()
    executable = relay.build(module(full(source)), "llvm -heap=checked")
    held = relay.ref(w)
    with pytest.raises(relay.RelayError, match="rows: an index lies outside"):
        executable(held, np.array([0, 1, 2, 4], np.int32))
    np.testing.assert_array_equal(held.value, w + 1)


@st.composite
def updates_of_shared_values(draw: st.DrawFn) -> str:
    """A program that makes tensors, puts them in refs, tuples and closures, reads and writes these, and gives all."""
    tensors, refs, pairs, functions = ["%w", "%g"], [], [], []
    lines: list[str] = []

    def bind(value: str, names: list[str]) -> None:
        lines.append(f"let %v{len(lines)} = {value};")
        names.append(f"%v{len(lines) - 1}")

    def some(names: list[str]) -> str:
        return draw(st.sampled_from(names))

    for _ in range(draw(st.integers(3, 14))):
        match draw(st.integers(0, 10)):
            case 0:
                bind(f"add({some(tensors)}, {some(tensors)})", tensors)
            case 1:
                bind(f"nn.softmax(negative({some(tensors)}))", tensors)
            case 2:
                bind(f"reshape(transpose({some(tensors)}), newshape=[4, 8])", tensors)
            case 3:
                row = f"reshape(sum({some(tensors)}, axis=[0]), newshape=[1, 8])"
                bind(f"strided_set({some(tensors)}, {row}, %at, add(%at, %one), %one)", tensors)
            case 10:
                row = f"reshape(sum({some(tensors)}, axis=[0]), newshape=[1, 8])"
                bind(f'scatter_nd({some(tensors)}, reshape(%at, newshape=[1, 1]), {row}, mode="max")', tensors)
            case 4:
                bind(f"ref({some(tensors)})", refs)
            case 5:
                bind(f"({some(tensors)}, {some(tensors)})", pairs)
            case 6 if pairs:
                bind(f"{some(pairs)}.{draw(st.integers(0, 1))}", tensors)
            case 7:
                bind(f"fn (%x: T) -> T {{ subtract(%x, {some(tensors)}) }}", functions)
            case 8 if functions:
                bind(f"{some(functions)}({some(tensors)})", tensors)
            case _ if refs:
                ref = some(refs)
                if draw(st.booleans()):
                    bind(f"{ref}^", tensors)
                else:
                    what = draw(st.sampled_from(["tanh(?^)", "multiply(?^, 0.5f)", "add(?^, OTHER)", "OTHER"]))
                    lines.append(f"{ref} := {what.replace('?', ref).replace('OTHER', some(tensors))};")
            case _:
                bind(f"tanh({some(tensors)})", tensors)
    results = [*tensors, *(f"{each}^" for each in refs)]
    parameters = "%w: T, %g: T, %at: Tensor[(1), int64], %one: Tensor[(1), int64]"
    body = "\n  ".join([*lines, f"({', '.join(results)})"])
    return f"def @main({parameters}) {{\n  {body}\n}}"


@settings(max_examples=15, deadline=None)
@given(updates_of_shared_values(), st.sampled_from([(), ("w",), ("w", "g")]))
def test_no_update_is_seen_under_another_name(source: str, donate: tuple[str, ...]):
    program = module(full(source))
    w, g = arrays()
    at, one = np.full(1, 2, np.int64), np.ones(1, np.int64)
    expected = relay.create_executor("interpreter", mod=program).evaluate()(w, g, at, one)
    for level in (0, 2):
        executable = relay.build(program, "llvm -heap=checked", opt_level=level, donate=donate)
        assert_same(executable(w.copy(), g.copy(), at, one), expected)


def of_list(source: str) -> str:
    """The same program, given its tensors in a list."""
    listed = source.replace("def @main(%w: T, %g: T, ", "def @main(%l: List[T], ", 1)
    head, _, body = listed.partition("{\n")
    return f"{LIST}{head}{{\n  match? (%l) {{ Cons(%w, Cons(%g, Nil)) => {{\n{body} }} }}"


@settings(max_examples=10, deadline=None)
@given(updates_of_shared_values())
def test_no_update_of_an_element_is_seen_under_another_name(source: str):
    program = module(full(of_list(source)))
    w, g = arrays()
    at, one = np.full(1, 2, np.int64), np.ones(1, np.int64)
    expected = relay.create_executor("interpreter", mod=program).evaluate()([w, g], at, one)
    for level in (0, 2):
        executable = relay.build(program, "llvm -heap=checked", opt_level=level, donate=("l",))
        assert_same(executable.keeping()([w, g], at, one), expected)
        assert_same(executable([w.copy(), g.copy()], at, one), expected)


def test_a_ref_that_is_written_a_tuple_of_what_a_region_makes():
    program = relay.parse("""#[version = "0.0.5"]
def @main(%x: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] {
  let %r = ref((0, %x));
  let %v = add(%x, 1f);
  let %done = ref_write(%r, (0, %v));
  ref_read(%r).1
}
""")
    x = np.ones((2, 3), np.float32)
    for opt_level in range(3):
        np.testing.assert_array_equal(relay.build(program, opt_level=opt_level)(x), x + 1)
