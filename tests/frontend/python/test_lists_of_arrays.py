"""Arrays taken apart, and lists of arrays as what NumPy and Python make of them."""

from __future__ import annotations

import numpy as np
import pytest

import relay

from .running import agrees, fails

WEIGHTS = np.arange(6, dtype=np.float32).reshape(3, 2)
SCALES = np.array([1.5, 2.5, 3.5])


def rows(x: relay.Tensor[(2,)]):
    first, second, third = WEIGHTS
    return first + x, second * x, third


def rest_of_rows(x: relay.Tensor[(2,)]):
    (low, high), *others = WEIGHTS
    return low * x, high, others[0], len(others)


def numbers(x: relay.Tensor[(2,)]):
    first, *_, last = SCALES
    return first * x, last, max(*SCALES)


def in_a_loop(x: relay.Tensor[(2,)]):
    total = x
    for low, high in WEIGHTS:
        total = total * low + high
    return total, [low - high for low, high in WEIGHTS]


@pytest.mark.parametrize("definition", [rows, rest_of_rows, numbers, in_a_loop])
def test_arrays_that_are_known_now_are_taken_apart(definition):
    agrees(definition, np.array([1, 2], np.float32))


@relay.model
class Gates:
    def __init__(self):
        self.gates = WEIGHTS

    def __call__(self, x: relay.Tensor[(2,)]):
        first, *others = self.gates
        return first * x + others[1]


def test_parameters_of_models_are_taken_apart():
    model, x = Gates(), np.array([1, 2], np.float32)

    def around(x: relay.Tensor[(2,)]):
        return model(x)

    wanted = WEIGHTS[0] * x + WEIGHTS[2]
    np.testing.assert_allclose(model(x), wanted)
    np.testing.assert_allclose(relay.function(around)(x), wanted)


Vectors = list[relay.Tensor[(relay.symbol("n"),)]]


def sums(xs: Vectors):
    return sum(xs), sum(xs[1:]), sum(xs[:-1], xs[0]), sum(xs, 2.0), sum(xs) / len(xs)


def sums_of_generators(xs: Vectors):
    counts = sum(x > 2 for x in xs)
    return sum(k * x for k, x in enumerate(xs)), counts, sum((x for x in xs if x[0] > 1), np.zeros(3, np.float32))


def sums_that_broadcast(xs: Vectors):
    return sum(np.outer(x, x) for x in xs), sum(xs, np.zeros((2, 1), np.float32))


def sum_of_lists(xs: Vectors):
    return sum([[x[0], x[1]] for x in xs], [])  # noqa: RUF017


def statistics(xs: Vectors):
    return np.mean(xs, axis=0), np.max(xs), np.sum(xs[1:], 0), np.std(xs), np.median(xs, axis=0)


@pytest.mark.parametrize("definition", [sums, sums_of_generators, sums_that_broadcast, sum_of_lists, statistics])
def test_sums_of_lists_of_arrays(definition):
    agrees(definition, [np.arange(3, dtype=np.float32) + place for place in range(4)])


def test_the_sum_of_no_arrays():
    def normed(xs: Vectors):
        return sum(xs).max()

    def begun(xs: Vectors):
        return sum(xs, np.zeros(3, np.float32))

    fails(normed, AttributeError, "check-failed", [])  # 0, which is no array
    agrees(begun, [])


Matrix = relay.Tensor[(relay.symbol("h"), relay.symbol("w"))]


def windows_added(x: Matrix, weights: list[float]):
    return sum(weight * x[:, place : place + 2] for place, weight in enumerate(weights))


def windows_counted(x: Matrix, weights: list[float]):
    windows = [x[:, place : place + 2] for place in range(len(weights))]
    widths = [each.shape[1] for each in windows[1:]]
    return widths, [each.sum() for each in windows if len(each) > 1], list(map(np.max, windows)), len(windows[::-1])


def windows_joined(x: Matrix, weights: list[float]):
    rows = np.zeros((3, 4 + len(weights))) + x[0, 1]
    windows = [weight * rows[:, place : place + 2] for place, weight in enumerate(weights)]
    return np.array(windows), np.column_stack(windows), np.concatenate(windows), sum(windows), windows[1:]


@pytest.mark.parametrize("definition", [windows_added, windows_counted, windows_joined])
def test_lists_of_arrays_whose_extents_the_run_finds(definition):
    agrees(definition, np.arange(12, dtype=np.float32).reshape(3, 4), [1.0, 2.0, 3.0])


def entries(x: relay.Tensor[(relay.symbol("n"),)]):
    first, second, third = x
    (low, *_), *others = [x, x]
    return first * second - third, low, len(others)


def rows_and_rest(x: Matrix):
    first, *others, last = x
    return first, [each * 2 for each in others], last


def test_tensors_of_open_extents_are_taken_apart():
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    agrees(entries, x[:, 1].copy())
    agrees(rows_and_rest, x)
    fails(entries, ValueError, "check-failed", x[0])
    fails(rows_and_rest, ValueError, "check-failed", x[:1])


def vectors_joined(x: Matrix, count: int):
    columns = [x[:, place] for place in range(count)]
    return np.column_stack(columns), np.vstack(columns), np.hstack(columns), np.dstack(columns), np.stack(columns, -1)


def matrices_joined(x: Matrix, count: int):
    parts = [x * factor for factor in range(count)]
    along = np.concatenate(parts, 1), np.concatenate(parts, axis=-2), np.concatenate(parts, axis=None)
    return along, np.column_stack(parts), np.vstack(parts), np.hstack(parts), np.dstack(parts)


def numbers_joined(x: Matrix, count: int):
    numbers = [x[place, 0] for place in range(count)]
    return np.column_stack(numbers), np.vstack(numbers), np.hstack(numbers), np.dstack(numbers)


def known_joined(x: Matrix, count: int):
    return np.column_stack([x[:, 0], x]), np.column_stack([1.0, 2.0]), np.dstack([x, x]), np.hstack([count, x[0]])


@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("definition", [vectors_joined, matrices_joined, numbers_joined, known_joined])
def test_as_many_arrays_as_the_program_finds_are_joined(definition, count):
    agrees(definition, np.arange(12, dtype=np.float32).reshape(3, 4), count)


def test_no_arrays_are_not_joined():
    def joined(x: Matrix, count: int):
        return np.column_stack([x[:, place] for place in range(count)])

    fails(joined, ValueError, "check-failed", np.ones((2, 2), np.float32), 0)


def of_several_shapes(x: Matrix, count: int):
    return np.array([x[:place] for place in range(count)])


def test_arrays_of_several_shapes_are_none():
    fails(of_several_shapes, ValueError, "check-failed", np.ones((3, 2), np.float32), 3)
