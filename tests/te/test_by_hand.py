"""Tensor expressions and schedules as users write them: building, calling, looking and checking."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import relay
from relay import te
from relay.driver.build import compile_stages
from relay.operators import Effect, FusionKind, NoBatchRule, NotDifferentiable, OwnLayout, call, define
from relay.tir.stmt import Sequence, Store
from relay.tir.text.parser import parse_primfunc
from tests.pages import run_page


def doubled(extent=8):
    a = te.placeholder((extent,), "float32", "a")
    return te.compute((extent,), lambda i: a[i] * 2.0, name="b")


def product(rows=8, columns=16, depth=5):
    a, b = te.placeholder((rows, depth), "float32", "a"), te.placeholder((depth, columns), "float32", "b")
    k = te.reduce_axis(depth, "k")
    return te.compute((rows, columns), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="c")


def test_the_page(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("SIZE", "128")
    run_page("schedules_by_hand.md", tmp_path)
    assert capsys.readouterr().out.count(" GFLOP/s") == 7


def message_of(action, rule):
    """What a user reads when `action` is refused by `rule`."""
    with pytest.raises(relay.RelayError) as caught:
        action()
    assert caught.value.rule == rule, caught.value
    return str(caught.value)


# Calls


def test_inputs_by_position_by_name_and_in_an_order_of_ones_own():
    c, source = product(), np.random.default_rng(0)
    a, b = source.random((8, 5), np.float32), source.random((5, 16), np.float32)
    np.testing.assert_allclose(te.build(c)(a, b), a @ b, rtol=1e-5)
    np.testing.assert_allclose(te.build(c)(b=b, a=a), a @ b, rtol=1e-5)
    turned = te.build(c, inputs=te.Schedule(c).inputs[::-1], name="turned")
    np.testing.assert_allclose(turned(b, a), a @ b, rtol=1e-5)
    assert repr(turned) == "<kernel turned: (b: float32[5, 16], a: float32[8, 5]) -> (c: float32[8, 16])>"


def test_extents_are_those_of_the_arrays():
    n = relay.symbol("n")
    function = te.build(doubled(n), te.Schedule(doubled(n)).split("b", "i", factor=4).vectorize("b", "i.inner").steps)
    for extent in (0, 1, 4, 11):
        data = np.arange(extent, dtype=np.float32)
        np.testing.assert_array_equal(function(data), data * 2)


def test_several_results_and_what_a_call_works_in():
    n = relay.symbol("n")
    x, k = te.placeholder((n, 6), "float32", "x"), te.reduce_axis(6, "k")
    total = te.compute((n,), lambda i: te.sum(x[i, k], axis=k), name="total")
    share = te.compute((n, 6), lambda i, j: x[i, j] / total[i], name="share")
    again = te.compute((n, 6), lambda i, j: share[i, j] + 1.0, name="again")  # share is in memory of the call
    function = te.build((total, again))
    data = np.random.default_rng(0).random((70, 6), np.float32)
    room = np.empty(70, np.float32), np.empty((70, 6), np.float32)
    given = function(data, out=room)
    assert given[0] is room[0]
    np.testing.assert_allclose(room[0], data.sum(axis=1), rtol=1e-5)
    np.testing.assert_allclose(room[1], data / data.sum(axis=1, keepdims=True) + 1, rtol=1e-5)


def test_threads_may_call_at_once():
    n = relay.symbol("n")
    x = te.placeholder((n,), "float32", "x")
    first = te.compute((n,), lambda i: x[i] + 1.0, name="first")
    function = te.build(te.compute((n,), lambda i: first[i] * 2.0, name="second"))
    results: dict[int, np.ndarray] = {}

    def run(start: int) -> None:
        results[start] = function(np.full(50_000, start, np.float32))

    threads = [threading.Thread(target=run, args=(start,)) for start in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert all((results[start] == (start + 1) * 2).all() for start in range(8))


@pytest.mark.parametrize(
    ("out", "rule", "found"),
    [
        (np.empty(7, np.float32), "kernel-output", "(7,)"),
        ((np.empty(8, np.float32),) * 2, "kernel-output", "2 arrays"),
        (np.empty(8, np.int32), "input-dtype", "int32"),
        (np.empty(16, np.float32)[::2], "input-memory", "strides (8,)"),
    ],
)
def test_arrays_for_results_that_do_not_fit(out, rule, found):
    error = message_of(lambda: te.build(doubled())(np.ones(8, np.float32), out=out), rule)
    assert found in error


def test_results_are_in_memory_of_their_own():
    data = np.ones(16, np.float32)
    function = te.build(doubled())
    assert "one that overlaps with it" in message_of(lambda: function(data[:8], out=data[4:12]), "kernel-output")
    data.flags.writeable = False
    assert "a read-only one" in message_of(lambda: function(np.ones(8, np.float32), out=data[:8]), "kernel-output")


def test_what_does_not_fit_the_inputs_is_told():
    function = te.build(doubled())
    assert "(9,)" in message_of(lambda: function(np.ones(9, np.float32)), "input-shape")
    assert "`z` is no input" in message_of(lambda: function(z=np.ones(8, np.float32)), "bad-input-name")


# What is not built


def test_an_index_outside():
    a = te.placeholder((8,), "float32", "a")
    error = message_of(lambda: te.build(te.compute((8,), lambda i: a[i + 1], name="b")), "index-out-of-range")
    assert "axis 0 of `a`: `0 <= i + 1 < 8` does not hold" in error
    assert "te.within" in error


def test_an_index_that_data_decide():
    a, rows = te.placeholder((8,), "float32", "a"), te.placeholder((3,), "int64", "rows")
    message_of(lambda: te.build(te.compute((3,), lambda i: a[rows[i]], name="b")), "index-unproven")
    clamped = te.build(te.compute((3,), lambda i: a[te.clamp(rows[i], 0, 8)], name="b"))
    np.testing.assert_array_equal(clamped(rows=np.array([-5, 2, 90]), a=np.arange(8, dtype=np.float32)), [0, 2, 7])


def test_two_inputs_of_one_name():
    a, b = te.placeholder((8,), "float32", "a"), te.placeholder((8,), "float32", "a")
    both = te.compute((8,), lambda i: a[i] + b[i], name="both")
    assert "two inputs are called `a`" in message_of(lambda: te.build(both), "kernel-inputs")


def test_an_extent_that_no_input_tells():
    n = relay.symbol("n")
    ones = te.compute((n,), lambda i: te.const(1.0, "float32"), name="ones")
    assert "tells the extent n" in message_of(lambda: te.build(ones), "kernel-extents")


def test_an_input_that_is_not_given():
    c = product()
    message_of(lambda: te.build(c, inputs=te.Schedule(c).inputs[:1]), "te-missing-input")


def test_a_shape_and_a_body_are_what_they_are():
    assert "write (4,)" in message_of(lambda: te.compute(4, lambda i: te.const(1.0, "float32")), "wrong-argument")
    message_of(lambda: te.compute((4,), 1.0), "wrong-argument")


def test_lower_finds_its_inputs_and_prints_loops():
    c = product()
    assert str(te.lower(c)) == str(te.lower(c, te.Schedule(c).inputs))
    assert "serial i in 8 {" in str(te.lower(c))


# Schedules


def test_a_schedule_is_a_value():
    plain = te.Schedule(product())
    split = plain.split("c", "j", factor=4)
    assert plain.steps == ()
    assert str(split.parallel("c", "j.outer")) == 'split("c", "j", factor=4)\nparallel("c", "j.outer")'
    assert str(split.unroll("c", "j.inner")) == 'split("c", "j", factor=4)\nunroll("c", "j.inner")'
    assert split.then(*te.parse_steps('parallel("c", "i")')).steps[-1] == te.Parallel("c", "i")
    assert split.reorder("c", ["j.outer", "k", "i", "j.inner"]).steps[-1].loops == ("j.outer", "k", "i", "j.inner")


def test_every_step_of_the_language_is_a_method():
    schedule = te.Schedule(product())
    assert {te.step_name(kind) for kind in te.STEP_TYPES} <= set(dir(schedule))
    with pytest.raises(AttributeError, match=r"a schedule has no step `vectorise`\. did you mean `vectorize`\?"):
        schedule.vectorise("c", "j")


def test_a_step_with_other_arguments():
    schedule = te.Schedule(product())
    error = message_of(lambda: schedule.split("c"), "schedule-arguments")
    assert "split(stage, loop, factor, parts)" in error
    assert "factor: int | None" in message_of(lambda: schedule.split("c", "i", factor="4"), "schedule-arguments")


def test_the_picture_of_a_schedule():
    schedule = te.Schedule(product()).cache_write("c", "register").tile("c", "i", "j", 4, 8).unroll("c", "i.inner")
    schedule = schedule.compute_at("c.register", "c", "j.outer").parallel("c", "i.outer").vectorize("c", "j.inner")
    assert schedule.show().splitlines() == [
        "parallel i.outer in 2",
        "└─ serial j.outer in 2",
        "   ├─ c.register: float32[4, 8] in register",
        "   ├─ serial i in 4",
        "   │  └─ serial j in 8",
        "   │     ├─ c.register = …",
        "   │     └─ serial k in 5",
        "   │        └─ c.register = … c.register, a, b",
        "   └─ unrolled i.inner in 4",
        "      └─ vectorized j.inner in 8",
        "         └─ c = … c.register",
    ]


def test_loops_as_text():
    function = parse_primfunc(te.Schedule(product()).loops())
    assert [each.name for each in function.parameters] == ["a", "b", "c"]


def test_a_schedule_agrees_with_its_tensors():
    n = relay.symbol("n")
    schedule = te.Schedule(product(n, 16, 6)).tile("c", "i", "j", 4, 8)
    schedule = schedule.reorder("c", ("i.outer", "j.outer", "k", "i.inner", "j.inner"))
    schedule.parallel("c", "i.outer").vectorize("c", "j.inner").assert_equal()


def test_an_intrinsic_that_does_something_else():
    u, v, t = te.placeholder((4,), "float32", "u"), te.placeholder((4,), "float32", "v"), te.reduce_axis(4, "t")
    description = te.compute((1,), lambda _: te.sum(u[t] * v[t], axis=t), name="dot4")

    def first_only(inputs, output):
        return Sequence((Store(output.buffer, output.at(0), output.load(0) + inputs[0].load(0) * inputs[1].load(0)),))

    wrong = te.TensorIntrinsic("dot4", description, (u, v), first_only)
    e, f, k = te.placeholder((8, 12), "float32", "e"), te.placeholder((8, 12), "float32", "f"), te.reduce_axis(12, "k")
    dots = te.compute((8,), lambda i: te.sum(e[i, k] * f[i, k], axis=k), name="dots")
    schedule = te.Schedule(dots, intrinsics=(wrong,)).split("dots", "k", factor=4).tensorize("dots", "k.inner", "dot4")
    assert "another `dots` at [0]" in message_of(schedule.assert_equal, "schedule-differs")


def test_tensors_that_are_too_large_to_interpret():
    large = te.Schedule(product(1024, 1024, 1024))
    assert "schedule.steps" in message_of(large.assert_equal, "schedule-too-large")


def test_arrays_for_a_check():
    a, rows = te.placeholder((8,), "float32", "a"), te.placeholder((relay.symbol("n"),), "int64", "rows")
    taken = te.Schedule(te.compute(rows.shape, lambda i: a[te.clamp(rows[i], 0, 8)], name="b"))
    taken.assert_equal(rows=np.array([7, 100]))
    assert "a, rows" in message_of(lambda: taken.assert_equal(row=np.array([7])), "kernel-arguments").replace(
        "rows, a", "a, rows"
    )


# Operators of users


def scaling(factor, **more):
    return define(
        "mine.scaling", "The data, scaled.", inputs={"data": "[..]"}, type_rule=lambda run, _: run.tensor(0),
        meaning=lambda _, data: data * np.float32(factor),
        compute=lambda _, inputs, result: te.compute(result.shape, lambda *i: inputs[0][i] * factor, name="scaled"),
        effect=Effect.PURE, fusion=FusionKind.OPAQUE, layout=OwnLayout("none"),
        gradient=NotDifferentiable("nobody needs it"), batch=NoBatchRule("nobody has written one"),
        support_level=10, **more,
    )  # fmt: skip


def calling(record):
    x = relay.var("x", shape=(64,))
    return relay.Function([x], call(record, (x,)))


def test_an_operator_that_computes_something_else_now():
    """Kernels that are kept from one process to the next are known by what they compute."""
    data = np.ones(64, np.float32)
    for factor in (2.0, 3.0):
        np.testing.assert_array_equal(relay.build(calling(scaling(factor)))(data), data * factor)


def test_an_operator_with_a_schedule():
    def in_vectors(schedule):
        return schedule.split("scaled", schedule.state.stage("scaled").loops[0].name, factor=16)

    record = scaling(2.0, schedules={"llvm": in_vectors})
    compilation = compile_stages(calling(record))
    (kernel,) = compilation.kernels
    assert [te.step_name(type(step)) for step in kernel.schedule()] == ["split"]
    assert kernel.choice() is None
    np.testing.assert_array_equal(relay.build(calling(record))(np.ones(64, np.float32)), np.full(64, 2, np.float32))


def test_a_schedule_of_an_operator_that_is_refused_is_told_as_its_own():
    record = scaling(2.0, schedules={"llvm": lambda schedule: schedule.vectorize("scale", "i")})
    assert "there is no stage `scale`" in message_of(lambda: relay.build(calling(record)), "schedule-unknown-stage")
