"""Functions and refs between native programs and Python: those that programs give, and those that they are given."""

from __future__ import annotations

import gc
import threading
import traceback
import weakref

import numpy as np
import pytest

import relay
from relay.runtime.values.stored import NativeFunction
from relay.runtime.values.values import DataValue
from tests.lower.interpreting import run_as_text
from tests.messages import check_message
from tests.native.running import LIST, module, watch

ADDER = "def @main(%x: float32) { (fn (%y: float32) { add(%x, %y) }, %x) }"
COUNTER = "def @main(%x: int32) { let %r = ref(%x); (fn () { let %u = (%r := add(%r^, 1)); %r^ }, %r) }"
MAP = (
    LIST
    + """def @map[A, B](%f: fn (A) -> B, %l: List[A]) -> List[B] {
      match (%l) { Cons(%h, %t) => Cons(%f(%h), @map(%f, %t)), Nil => Nil }
    }
    def @main(%f: fn (int32) -> int32, %l: List[int32]) { @map(%f, %l) }"""
)


@pytest.fixture(params=["interpreter", "program", "native"])
def run(request):
    """Runs a program: by its meaning, by the interpreter of what it is lowered to, and natively on a heap that finds
    who uses what is freed. Nothing is left on either's heap."""
    alive: list[int] = []

    def made(source: str):
        program = module(source)
        if request.param == "interpreter":
            return relay.create_executor("interpreter", mod=program).evaluate()
        if request.param == "program":
            return run_as_text(program)
        executable = relay.build(program, "llvm -heap=checked")
        executable["main"].observe_heap(lambda use: alive.append(use.alive))
        return executable

    yield made
    assert not any(alive)


# ------------------------------------------------------------------------------------------------------------ results


def test_a_function_may_be_called_many_times(run):
    main = run(ADDER)
    (add_two, _), (add_five, _) = main(2.0), main(5.0)
    assert [float(add_two(y)) for y in (1.0, 10.0)] == [3, 12]
    assert float(add_five(add_two(0.0))) == 7
    assert float(add_two(0.5)) == 2.5


def test_functions_that_give_functions(run):
    main = run(
        """def @main(%x: Tensor[(n,), float32]) {
          fn (%y: Tensor[(n,), float32]) { fn (%z: Tensor[(m,), float32]) { (add(%x, %y), %z) } }
        }"""
    )
    whole, rest = main(np.ones(3, np.float32))(np.full(3, 2, np.float32))(np.zeros(5, np.float32))
    assert whole.tolist() == [3, 3, 3]
    assert rest.shape == (5,)


def test_functions_in_data(run):
    main = run(
        LIST
        + """type Op { Named(int32, fn (float32) -> float32) }
        def @main(%x: float32) {
          (Cons(fn (%y: float32) { add(%x, %y) }, Cons(fn (%y: float32) { multiply(%x, %y) }, Nil)),
           Named(7, fn (%y: float32) { negative(%y) }))
        }"""
    )
    functions, named = main(3.0)
    assert [float(f(2.0)) for f in functions] == [5, 6]
    assert int(named.fields[0]) == 7
    assert float(named.fields[1](2.0)) == -2


def test_a_function_holds_values_of_any_kind(run):
    main = run(
        LIST
        + """def @sum(%l: List[float32]) -> float32 { match (%l) { Nil => 0f, Cons(%h, %t) => add(%h, @sum(%t)) } }
        def @main(%l: List[float32], %p: (float32, Tensor[(2,), float32])) {
          let %twice = fn (%f: fn (float32) -> float32, %x: float32) { %f(%f(%x)) };
          let %r = ref(Cons(%p.0, Nil));
          fn (%x: float32) {
            let %u = (%r := Cons(%x, %r^));
            (%twice(fn (%y: float32) { add(%y, @sum(%l)) }, %x), %p.1, @sum(%r^))
          }
        }"""
    )
    f = main([1.0, 2.0], (np.float32(10), np.ones(2, np.float32)))
    first, pair, held = f(1.0)
    assert (float(first), pair.tolist(), float(held)) == (7, [1, 1], 11)
    assert float(f(5.0)[2]) == 16


def test_a_function_keeps_its_own_copy():
    program = "def @main(%x: Tensor[(3,), float32]) { (fn () { %x }, %x) }"
    executable = relay.build(module(program))
    x = np.ones(3, np.float32)
    f, same = executable(x)
    x[:] = same[:] = f()[:] = 9
    assert f().tolist() == [1, 1, 1]


def test_a_ref_is_shared_by_who_holds_it(run):
    count, ref = run(COUNTER)(1)
    assert [int(count()) for _ in range(3)] == [2, 3, 4]
    assert int(ref.value) == 4
    ref.value = np.int32(40)
    assert int(count()) == 41
    assert int(ref.value) == 41


def test_a_ref_of_a_function_may_be_given_another(run):
    main = run(
        """def @main(%x: float32) {
          let %r = ref(fn (%y: float32) { add(%x, %y) });
          (%r, fn (%z: float32) { %r^(%z) }, fn (%f: fn (float32) -> float32) { %r := %f })
        }"""
    )
    ref, call, put = main(1.0)
    assert float(ref.value(1.0)) == float(call(1.0)) == 2
    put(call)
    put(main(10.0)[1])
    assert float(call(1.0)) == float(ref.value(1.0)) == 11
    ref.value = lambda y: y * np.float32(100)
    assert float(call(2.0)) == 200


def test_a_ref_that_holds_a_function_that_holds_it():
    executable = relay.build(
        module(
            """def @main(%n: int32) {
              let %r = ref(fn (%i: int32) { %i });
              let %f = fn (%i: int32) -> int32 {
                if (equal(%i, 0)) { %n } else { add(%r^(subtract(%i, 1)), 1) }
              };
              let %u = (%r := %f);
              %f
            }"""
        )
    )
    f = executable(np.int32(5))
    assert [int(f(i)) for i in (3, 0, 100)] == [8, 5, 105]
    held = weakref.ref(next(each for each in f.closure.fields if isinstance(each, np.ndarray)))
    assert held() is not None
    del f
    gc.collect()
    assert held() is None


def test_threads_may_call_a_function_at_once():
    executable = relay.build(module(ADDER))
    add_two, _ = executable(2.0)
    results: list[float] = []

    def run():
        results.extend(float(add_two(float(y))) for y in range(200))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results) == sorted([float(y + 2) for y in range(200)] * 4)


def test_what_a_function_holds_is_freed_with_it():
    executable = relay.build(module("def @main(%x: Tensor[(100,), float32]) { fn () { %x } }"))
    f = executable(np.ones(100, np.float32))
    held = weakref.ref(f.closure.fields[1])
    assert held() is not None
    del f
    assert held() is None


def test_a_function_lives_without_the_executable():
    executable = relay.build(module(ADDER))
    add_two, _ = executable(2.0)
    del executable
    gc.collect()
    assert float(add_two(1.0)) == 3


def test_a_deep_function():
    executable = relay.build(
        module(
            """def @sum(%n: int32) -> int32 { if (equal(%n, 0)) { 0 } else { add(@sum(subtract(%n, 1)), 1) } }
            def @main() { fn (%n: int32) { @sum(%n) } }"""
        )
    )
    assert executable()(1_000_000) == 1_000_000


def test_an_artefact_gives_and_takes_functions(tmp_path):
    relay.build(module(MAP)).save(tmp_path / "map.rlx")
    assert [int(y) for y in relay.load(tmp_path / "map.rlx")(lambda x: x + np.int32(1), [1, 2])] == [2, 3]
    relay.build(module(ADDER)).save(tmp_path / "add.rlx")
    assert float(relay.load(tmp_path / "add.rlx")(1.0)[0](2.0)) == 3


# ------------------------------------------------------------------------------------------------------------- inputs


def test_a_python_function(run):
    seen: list[int] = []

    def double(x):
        seen.append(int(x))
        return 2 * x

    assert [int(y) for y in run(MAP)(double, [3, 4, 5])] == [6, 8, 10]
    assert seen == [3, 4, 5]


def test_a_python_function_over_data(run):
    main = run(
        LIST
        + """type Option[A] { Some(A), None }
        def @main(%f: fn (List[int32], (float32, bool)) -> Option[(int32, float32)]) {
          match (%f(Cons(1, Cons(2, Nil)), (3f, True))) { Some(%p) => %p, None => (0, 0f) }
        }"""
    )
    whole, part = main(lambda items, pair: (np.int32(sum(items)), pair[0] if pair[1] else None))
    assert (int(whole), float(part)) == (3, 3)
    assert int(main(lambda items, pair: None)[0]) == 0


def test_functions_that_came_out_go_in_again(run):
    main = run(
        """def @main(%f: fn (float32) -> float32, %x: float32) {
          (fn (%y: float32) -> float32 { add(%f(%y), %x) }, %f)
        }"""
    )
    f = lambda y: y * np.float32(10)  # noqa: E731
    once, same = main(f, 1.0)
    assert same is f
    twice, same = main(once, 2.0)
    assert [float(g(3.0)) for g in (once, twice, same)] == [31, 33, 31]


def test_functions_of_other_programs_go_in():
    double = relay.build(module("def @main(%x: int32) { multiply(%x, 2) }"))
    add_one = relay.build(module("def @main() { fn (%x: int32) { add(%x, 1) } }"))()
    interpreted = relay.create_executor(
        "interpreter", mod=module("def @main(%n: int32) { fn (%x: int32) { subtract(%x, %n) } }")
    ).evaluate()(3)
    executable = relay.build(module(MAP))
    for function, expected in ((double, [2, 4]), (add_one, [2, 3]), (interpreted, [-2, -1]), (square, [1, 4])):
        assert [int(y) for y in executable(function, [1, 2])] == expected


@relay.function
def square(x: int) -> int:
    return x * x


def test_a_ref_that_python_made(run):
    ref = relay.ref(3.0)
    main = run(
        """def @main(%r: ref(float32), %f: fn (float32) -> float32) {
          let %u = (%r := %f(%r^));
          fn (%y: float32) { let %v = (%r := add(%r^, %y)); %f(%r^) }
        }"""
    )
    g = main(ref, lambda x: x * np.float32(2))
    assert (float(ref.value), float(g(1.0)), float(ref.value)) == (6, 14, 7)


def test_python_sees_refs_while_it_is_called_and_may_write_them(run):
    ref, seen = relay.ref(np.float32(1)), []

    def look(x):
        seen.append(float(ref.value))
        ref.value = np.float32(100)
        return x

    main = run(
        """def @main(%r: ref(float32), %f: fn (float32) -> float32) {
          let %u = (%r := 5f);
          let %x = %f(%r^);
          let %v = (%r := add(%r^, %x));
          (%f(%r^), %r^)
        }"""
    )
    result, last = main(ref, look)
    assert seen == [5, 105]
    assert (float(result), float(last), float(ref.value)) == (105, 100, 100)


def test_calls_of_python_nest(run):
    main = run("def @main(%f: fn (int32) -> int32, %x: int32) { add(%f(%x), %f(1)) }")
    assert main(lambda x: main(lambda y: y * np.int32(2), x), 10) == 2 * 10 + 2 + 2 + 2


def test_what_python_gave_is_freed_when_nobody_needs_it():
    executable = relay.build(
        module(
            """def @loop(%f: fn (Tensor[(1000,), float32]) -> Tensor[(1000,), float32], %n: int32,
                         %x: Tensor[(1000,), float32]) -> Tensor[(1000,), float32] {
              if (equal(%n, 0)) { %x } else { @loop(%f, subtract(%n, 1), %f(%x)) }
            }
            def @main(%f: fn (Tensor[(1000,), float32]) -> Tensor[(1000,), float32], %x: Tensor[(1000,), float32]) {
              @loop(%f, 1000, %x)
            }"""
        )
    )
    alive = 0
    most = 0

    def gone():
        nonlocal alive
        alive -= 1

    def step(x):
        nonlocal alive, most
        result = x + np.float32(1)
        weakref.finalize(result, gone)
        alive += 1
        most = max(most, alive)
        return result

    assert executable(step, np.zeros(1000, np.float32))[0] == 1000
    assert most < 200


def test_deep_recursion_calls_python():
    values = executable_map()(lambda x: -x, list(range(20_000)))
    assert sum(int(each) for each in values) == -sum(range(20_000))


def executable_map():
    return relay.build(module(MAP))


class Refusal(Exception):
    pass


def test_an_exception_ends_the_run_and_reaches_the_caller():
    executable = relay.build(module(MAP), "llvm -heap=checked")
    alive = watch(executable)

    def fails(x):
        if x == 3:
            raise Refusal("not three")
        return x

    with pytest.raises(Refusal, match="not three") as caught:
        executable(fails, [1, 2, 3, 4])
    assert "fails" in [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)]
    assert [int(y) for y in executable(fails, [1, 2])] == [1, 2]
    assert alive == [0]


def test_what_was_written_before_an_exception_stays_written(run):
    main = run("def @main(%r: ref(int32), %f: fn () -> int32) { let %u = (%r := add(%r^, 1)); %f() }")
    ref = relay.ref(np.int32(1))
    with pytest.raises(ZeroDivisionError):
        main(ref, lambda: 1 // 0)
    assert int(ref.value) == 2


def test_python_and_native_code_that_call_each_other_without_end():
    executable = relay.build(module("def @main(%f: fn (int32) -> int32, %x: int32) { %f(%x) }"))

    def again(x):
        return executable(again, x)

    with pytest.raises(relay.RelayError) as caught:
        executable(again, 1)
    check_message("native", "nested-too-deep", caught.value)


# ------------------------------------------------------------------------------------------------------------- errors

GENERIC = {
    "generic-result": "def @main(%x: float32) { let %f = fn (%y) { %y }; (%f(%x), %f) }",
    "generic-global": "def @id[A](%x: A) -> A { %x }\ndef @main() { @id }",
    "generic-value": "def @main(%x) { fn (%y) { (%x, %y) } }",
    "generic-parameter": "def @main(%f: fn [A](A) -> A) { %f(1) }",
}


@pytest.mark.parametrize("name", GENERIC)
def test_generic_functions_are_refused(name):
    with pytest.raises(relay.RelayError) as caught:
        relay.build(module(GENERIC[name]))
    check_message("native", name, caught.value)


def adder(*arguments):
    add, _ = relay.build(module(ADDER))(2.0)
    return add(*arguments)


def over_vectors(f, n):
    source = """def @main(%f: fn (Tensor[(n,), float32]) -> Tensor[(2 * n,), float32], %x: Tensor[(n,), float32]) {
      %f(%x)
    }"""
    return relay.build(module(source))(f, np.zeros(n, np.float32))


def over_functions(f):
    source = "def @main(%f: fn (fn (int32) -> int32) -> int32) { %f(fn (%x: int32) { %x }) }"
    return relay.build(module(source))(f)


def two_programs():
    ref = relay.ref(np.float32(1))
    relay.build(module("def @main(%r: ref(float32)) { %r^ }"))(ref)
    ref.value = np.int32(1)
    return relay.build(module("def @main(%r: ref(int32)) { %r^ }"))(ref)


def rows(y):
    source = "def @main(%x: Tensor[(n,), float32]) { fn (%y: Tensor[(n,), float32]) { add(%x, %y) } }"
    return relay.build(module(source))(np.zeros(3, np.float32))(y)


BAD = {
    "function-arity": lambda: adder(1.0, 2.0),
    "function-dtype": lambda: adder(np.float64(1)),
    "function-extent": lambda: rows(np.zeros(4, np.float32)),
    "no-function": lambda: over_vectors(3, 2),
    "uncompiled-function": lambda: over_vectors(relay.Function([], relay.const(1)), 2),
    "result-extent": lambda: over_vectors(np.tanh, 2),
    "result-kind": lambda: over_vectors(lambda x: None, 2),
    "over-functions": lambda: over_functions(lambda f: 1),
    "no-ref": lambda: relay.build(module("def @main(%r: ref(float32)) { %r^ }"))(1.0),
    "ref-of-another-type": two_programs,
}


@pytest.mark.parametrize("name", BAD)
def test_what_does_not_fit_is_told(name):
    with pytest.raises(relay.RelayError) as caught:
        BAD[name]()
    check_message("values", name, caught.value)


def test_functions_over_functions_that_came_out_go_in_again(run):
    main = run(
        """type Maybe { Nothing, Just(fn (fn (int32) -> int32) -> int32) }
        def @main(%m: Maybe, %n: int32) {
          match (%m) {
            Nothing => (0, Just(fn (%f: fn (int32) -> int32) -> int32 { %f(%f(%n)) })),
            Just(%h) => (%h(fn (%x: int32) { multiply(%x, %n) }), %m)
          }
        }"""
    )
    _, twice = main(DataValue("Maybe", "Nothing"), 2)
    assert int(main(twice, 3)[0]) == 2 * 3 * 3


def test_functions_cannot_be_exported(tmp_path):
    with pytest.raises(relay.RelayError) as caught:
        relay.build(module(ADDER)).export(tmp_path / "add.so")
    check_message("native", "exported-function", caught.value)


def test_a_function_tells_its_type():
    f, _ = relay.build(module(ADDER))(1.0)
    assert isinstance(f, NativeFunction)
    assert repr(f) == "<relay function: fn (float32) -> float32>"
