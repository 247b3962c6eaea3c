"""Calls whose arrays fit take the short way; all others the long one, which says what is wrong."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import relay
from relay.runtime.cpython.array_layout import array_layout

LOOP = """#[version = "0.0.5"]
def @main(%x: Tensor[(n, 4), float32], %steps: int32) -> (Tensor[(n, 4), float32], int32) {
  if (equal(%steps, 0)) { (%x, %steps) } else { @main(add(%x, %x), subtract(%steps, 1)) }
}
"""
GROWING = """#[version = "0.0.5"]
def @main(%x: Tensor[(?, 4), float32], %steps: int32) -> (Tensor[(?, 4), float32], int32) {
  if (equal(%steps, 0)) { (%x, %steps) }
  else { @main(concatenate((add(%x, %x), %x), axis=0), subtract(%steps, 1)) }
}
"""
A = np.arange(16, dtype=np.float32)


@pytest.fixture(scope="module")
def executable():
    x, y = (relay.var(name, shape=(16,)) for name in "xy")
    return relay.build(relay.Function([x, y], relay.Tuple([relay.add(x, y), relay.multiply(x, y)])))


def refused(executable, *arrays):
    point = executable["main"]
    return point._quick(arrays, point._sizes) is None


def test_arrays_are_found_where_they_are_looked_for():
    assert array_layout() is not None


def test_arrays_that_fit(executable):
    frozen = A.copy()
    frozen.flags.writeable = False
    for other in (A, frozen, A.reshape(16), A[:]):
        assert not refused(executable, A, other)
    total, product = executable(A, A)
    np.testing.assert_array_equal(total, A + A)
    np.testing.assert_array_equal(product, A * A)


@pytest.mark.parametrize(
    ("other", "rule"),
    [
        (A.astype(np.float64), "input-dtype"),
        (A.astype(">f4"), "input-dtype"),
        (A[:15], "input-shape"),
        (A.reshape(4, 4), "input-rank"),
        (np.arange(32, dtype=np.float32)[::2], "input-memory"),
        (np.zeros(65, np.uint8)[1:].view(np.float32), "input-memory"),
        ([1.0], "input-kind"),
        (2.0, "input-rank"),
        (None, "input-kind"),
    ],
)
def test_arrays_that_do_not_fit(executable, other, rule):
    assert refused(executable, A, other)
    with pytest.raises(relay.RelayError) as caught:
        executable(A, other)
    assert caught.value.rule == rule


def test_what_fits_in_another_way_is_taken(executable):
    class Special(np.ndarray):
        pass

    special = A.view(Special)
    assert refused(executable, A, special)
    np.testing.assert_array_equal(executable(A, special)[0], A + A)
    np.testing.assert_array_equal(executable(A, y=A)[0], A + A)


@pytest.fixture
def scaled(monkeypatch):
    """Calls of `x * s` that may not take the long way once shapes were met."""
    n = relay.symbol("n")
    x, s = relay.var("x", shape=(n,)), relay.var("s", shape=())
    executable = relay.build(relay.Function([x, s], relay.multiply(x, s)))
    executable(A, np.float32(2))
    monkeypatch.setattr("relay.runtime.call.entry_point.bind_arguments", None)
    return executable


def test_arrays_by_name_are_taken_quickly(scaled):
    s = np.array(3, np.float32)
    for result in (scaled(x=A, s=s), scaled(s=s, x=A), scaled(A, s=s)):
        np.testing.assert_array_equal(result, A * 3)


@pytest.mark.parametrize("number", [3, 3.0, np.float32(3), np.array(3, np.float32)])
def test_numbers_are_taken_quickly(scaled, number):
    np.testing.assert_array_equal(scaled(A, number), A * 3)
    np.testing.assert_array_equal(scaled(s=number, x=A), A * 3)


@pytest.mark.parametrize(
    ("positional", "named", "rule"),
    [
        ((A,), {"y": 1.0}, "bad-input-name"),
        ((A,), {"x": 1.0}, "bad-input-name"),
        ((A, 1.0), {"s": 1.0}, "bad-input-name"),
        ((A,), {}, "missing-input"),
        ((), {"s": 1.0}, "missing-input"),
        ((A, 1.0, 2.0), {}, "too-many-inputs"),
        ((A, "3"), {}, "input-kind"),
        ((A, np.float64(3)), {}, "input-dtype"),
        ((A, A), {}, "input-rank"),
        ((3.0, 3.0), {}, "input-rank"),
    ],
)
def test_what_does_not_pair_up_is_refused(positional, named, rule):
    x, s = relay.var("x", shape=(16,)), relay.var("s", shape=())
    executable = relay.build(relay.Function([x, s], relay.multiply(x, s)))
    with pytest.raises(relay.RelayError) as caught:
        executable(*positional, **named)
    assert caught.value.rule == rule


def test_names_are_no_inputs_of_what_has_none():
    executable = relay.build(relay.Function([], relay.const(1.0)))
    with pytest.raises(relay.RelayError, match="is no input"):
        executable(x=A)


def test_threads_have_frames_of_their_own(executable):
    wrong = []

    def run(value):
        array = np.full(16, value, np.float32)
        wrong.extend(value for _ in range(500) if executable(array, A)[0][0] != value)

    threads = [threading.Thread(target=run, args=(value,)) for value in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_a_failing_check_is_told():
    n, m = relay.symbol("n"), relay.symbol("m")
    x, y = relay.var("x", shape=(n,)), relay.var("y", shape=(m,))
    open_extents = relay.build(relay.Function([x, y], relay.add(x, y)))
    with pytest.raises(relay.RelayError):
        open_extents(A, A[:3])


def test_shapes_that_were_met_are_taken_quickly():
    n = relay.symbol("n")
    x = relay.var("x", shape=(n, 4))
    executable = relay.build(relay.Function([x], relay.concatenate(relay.Tuple([x, relay.exp(x)]), axis=0)))
    point = executable["main"]
    for rows in (3, 0, 5, 3):
        array = np.full((rows, 4), rows, np.float32)
        result = executable(array)
        np.testing.assert_allclose(result, np.concatenate([array, np.exp(array)]), rtol=1e-6)
        np.testing.assert_array_equal(point._quick((array,), point._known[(array.shape,)]), result)
    for other in (A.reshape(4, 4).astype(np.float64), [A], A.reshape(2, 8)):
        with pytest.raises(relay.RelayError):
            executable(other)


def test_the_shapes_that_are_kept_are_few():
    x = relay.var("x", shape=(relay.symbol("n"),))
    executable = relay.build(relay.Function([x], relay.exp(x)))
    for extent in range(200):
        assert executable(np.zeros(extent, np.float32)).shape == (extent,)
    assert len(executable["main"]._known) <= 64


@pytest.mark.parametrize("is_observed", [False, True])
@pytest.mark.parametrize("source", [LOOP, GROWING])
def test_results_on_a_heap_are_taken_quickly(source, is_observed, monkeypatch):
    executable = relay.build(relay.parse(source))
    point = executable["main"]
    alive: list[int] = []
    if is_observed:
        point.observe_heap(lambda use: alive.append(use.alive))
    monkeypatch.setattr(point._heap, "run", None)  # the long way
    for rows in (2, 3):
        total, last = executable(np.ones((rows, 4), np.float32), np.array(3, np.int32))
        assert total[:rows].tolist() == [[8] * 4] * rows
        assert last == 0
    assert alive == ([0, 0] if is_observed else [])
