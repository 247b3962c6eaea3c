"""Results of tensors whose extents the inputs tell stand in arrays that are made before the call."""

from __future__ import annotations

import resource
from concurrent.futures import ThreadPoolExecutor

import ml_dtypes
import numpy as np
import pytest

import relay
from relay.runtime.executable import Executable
from tests.native.running import LIST, assert_same, check, module, watch

F = np.float32
ROWS = np.arange(6, dtype=F).reshape(3, 2)
SUM = """
def @sum(%l: List[Tensor[(2,), float32]]) -> Tensor[(2,), float32] {
  match (%l) { Cons(%h, %t) => add(%h, @sum(%t)), Nil => zeros(shape=[2]) }
}
"""
MADE = {
    "a tensor": "%x",
    "a tuple": "(%x, add(%x, 1f))",
    "tuples in tuples": "((%x, ()), ((%turns, (%x,)), add(%x, 1f)))",
    "nothing": "()",
    "a scalar": "add(%turns, 1)",
    "one tensor three times": "let %y = tanh(%x); (%y, %y, (%y, %turns))",
    "inputs, constants and views": "(%a, 2f, zeros(shape=[3]), reshape(%x, newshape=[-1]), %a)",
    "extents computed from symbols": "(concatenate((%x, %x, zeros(shape=[1, 2])), axis=0), sum(%x, axis=[0]))",
    "elements of every size": """
      (less(%x, 1f), cast(%x, dtype="bfloat16"), cast(%x, dtype="int64"), cast(%x, dtype="float64"),
       cast(%x, dtype="int8"), less(%turns, 1))""",
}
READ = {
    "extents of data": 'def @main(%n: int32) { arange(0, %n, 1, dtype="int32", start=0, step=1) }',
    "data": LIST + "def @main(%n: int32) -> List[int32] { Cons(%n, Nil) }",
    "a ref that is given": "def @main(%r: ref(int32)) -> int32 { let %u = (%r := add(%r^, 1)); %r^ }",
    "a function": "def @main(%n: int32) { fn (%m: int32) -> int32 { add(%n, %m) } }",
}


def looping(result: str) -> str:
    """A program that has a result after some turns of a loop."""
    return f"""
    def @loop(%x: Tensor[(n, 2), float32], %turns: int32) -> Tensor[(n, 2), float32] {{
      if (less(%turns, 1)) {{ %x }} else {{ @loop(tanh(%x), subtract(%turns, 1)) }}
    }}
    def @main(%a: Tensor[(n, 2), float32], %turns: int32) {{ let %x = @loop(%a, %turns); {result} }}"""


def compiled(result: str) -> Executable:
    return relay.build(module(looping(result)))


def tensors(result: object) -> list[np.ndarray]:
    return [leaf for each in result for leaf in tensors(each)] if isinstance(result, tuple) else [result]


@pytest.mark.parametrize("name", MADE)
def test_they_are_what_the_program_means(name: str) -> None:
    for rows in (ROWS, ROWS[:0]):
        check(looping(MADE[name]), rows, np.int32(2))


@pytest.mark.parametrize("name", MADE)
def test_they_are_arrays_that_nobody_else_has(name: str) -> None:
    executable = compiled(MADE[name])
    entry = executable.entry
    assert entry.copied is not None
    rows = ROWS.copy()
    results = tensors(executable(rows, np.int32(0)))
    kept = [each.copy() for each in results]
    assert [each.dtype for each in results] == [each.dtype.numpy for each in entry.outputs]
    for each in results:
        assert each.flags.owndata
        each.fill(7)
    np.testing.assert_array_equal(rows, ROWS)
    assert_same(tuple(tensors(executable(rows, np.int32(0)))), tuple(kept))


def test_bfloat16_is_a_dtype_of_its_own() -> None:
    assert compiled('cast(%x, dtype="bfloat16")')(ROWS, np.int32(1)).dtype == ml_dtypes.bfloat16


@pytest.mark.parametrize("name", READ)
def test_others_are_read_off_the_heap(name: str) -> None:
    entry = relay.build(module(READ[name])).entry
    assert entry.copied is None
    assert entry.outputs == ()


def test_of_values_that_python_makes() -> None:
    for result in ("1", "%l"):
        source = f"{LIST}{SUM}def @main(%l: List[Tensor[(2,), float32]]) {{ (@sum(%l), {result}) }}"
        executable = relay.build(module(source))
        assert (executable.entry.copied is None) is (result == "%l")
        alive = watch(executable)
        assert executable(list(ROWS))[0].tolist() == [6, 9]
        assert alive == [0]


@pytest.mark.parametrize("opt_level", [0, 3])
@pytest.mark.parametrize("result", ["@grow(%x)", "match? (Cons(@grow(%x), Nil)) { Cons(%h, _) => %h }"])
def test_extents_that_are_only_declared_are_checked_before_anything_is_copied(result: str, opt_level: int) -> None:
    source = f"""{LIST}
    def @grow(%x: Tensor[(?, 2), float32]) -> Tensor[(?, 2), float32] {{
      if (less(sum(%x), 5f)) {{ @grow(concatenate((%x, %x), axis=0)) }} else {{ %x }}
    }}
    def @main(%x: Tensor[(n, 2), float32]) -> Tensor[(n, 2), float32] {{ {result} }}"""
    executable = relay.build(module(source), opt_level=opt_level)
    assert executable.entry.copied == 0
    np.testing.assert_array_equal(executable(ROWS), ROWS)
    with pytest.raises(relay.RelayError, match=r"the result of a function has extent .*, declared n"):
        executable(ROWS / 100)


def test_a_run_that_needs_a_stack_of_its_own_fills_them_once_it_has_one() -> None:
    source = """
    def @count(%n: int32) -> int32 { if (less(%n, 1)) { 0 } else { add(1, @count(subtract(%n, 1))) } }
    def @main(%n: int32) { (@count(%n), %n) }"""
    executable = relay.build(module(source))
    assert executable.entry.copied is not None
    for count in (3, 300_000, 5):
        assert [int(each) for each in executable(np.int32(count))] == [count, count]


def test_a_large_result_has_memory_of_its_own_on_the_heap() -> None:
    executable = compiled("(%x, add(%x, 1f))")
    alive = watch(executable)
    same, more = executable(np.zeros((1 << 20, 2), F), np.int32(1))
    assert not same.any()
    assert (more == 1).all()
    assert alive == [0]


def test_a_run_that_fails_leaves_nothing() -> None:
    """Each takes 64 MiB before a match fails: 30 of them would be 2 GiB."""
    source = f"""{LIST}
    def @main(%x: Tensor[(n,), float32], %good: bool) {{
      let %y = tanh(%x);
      let %l = if (%good) {{ Cons(%y, Nil) }} else {{ Nil }};
      (match? (%l) {{ Cons(%h, _) => sum(%h) }}, %y)
    }}"""
    executable = relay.build(module(source), opt_level=0)
    assert executable.entry.copied is not None
    large = np.zeros(16 << 20, F)
    executable(large, np.bool_(True))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(30):
        with pytest.raises(relay.RelayError, match="no clause of a match fits"):
            executable(large, np.bool_(False))
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 512 << 10  # KiB
    total, copy = executable(np.ones(2, F), np.bool_(True))
    np.testing.assert_allclose(total, copy.sum())


def test_a_run_without_memory_says_so_and_the_program_lives_on() -> None:
    source = 'def @main(%s: Tensor[(2,), int64], %x: float32) { (sum(dyn.zeros(%s, dtype="float32")), tanh(%x)) }'
    executable = relay.build(module(source))
    assert executable.entry.copied is not None
    with pytest.raises(MemoryError):
        executable(np.asarray([2**31, 2**31]), F(1))
    assert executable(np.asarray([2, 2]), F(0)) == (0, 0)


def test_threads_have_arrays_of_their_own() -> None:
    executable = compiled("(%x, add(%x, 1f), %turns)")

    def run(value: int) -> bool:
        given = np.full((value, 2), value, F)
        results = [executable(given, np.int32(0)) for _ in range(300)]
        return all((x == value).all() and (y == value + 1).all() and turns == 0 for x, y, turns in results)

    with ThreadPoolExecutor(4) as threads:
        assert all(threads.map(run, range(1, 9)))


def test_calls_may_nest() -> None:
    """A program runs while another waits for what it gives."""
    inner = compiled("(%x, %turns)")
    outer = relay.build(module("def @main(%f: fn (int32) -> int32, %n: int32) -> int32 { add(%f(%n), %n) }"))
    results = []

    def host(count: np.ndarray) -> np.ndarray:
        results.append(inner(ROWS, count))
        return outer(lambda n: n, count) if count > 1 else count

    assert outer(host, np.int32(3)) == 9
    np.testing.assert_array_equal(results[0][1], 3)
