"""Functions of NumPy as people call them: with lists, with extents that the program computes, with more arguments."""

# ruff: noqa: RUF005
from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relay
from relay.base.diagnostics import RelayError

from .running import agrees, fails

Vector = relay.Tensor[("n",)]
Matrix = relay.Tensor[("n", "m")]
Four = relay.Tensor[(4,)]
Whole = relay.Tensor[("n",), "int32"]
Square, Threes = relay.Tensor[("n", "n")], relay.Tensor[("n", 3)]
Other, OtherMatrix = relay.Tensor[("k",)], relay.Tensor[("m", "k")]
Heads = relay.Tensor[("b", "h", "t", 4)]
Pair, Column = relay.Tensor[(2,), "int32"], relay.Tensor[("n", 1), "int32"]
RANDOM = np.random.default_rng(1)


def random(*shape: int) -> np.ndarray[Any, Any]:
    return RANDOM.standard_normal(shape).astype(np.float32)


# -------------------------------------------------------------------------------------------- extents of the program


def test_unit_matrices_and_triangles():
    def made(n: int):
        return np.eye(n), np.identity(n), np.eye(n, 4, k=1), np.tri(n), np.eye(3) * n, np.eye(n, dtype=int)

    agrees(made, np.int32(3))


def test_a_unit_matrix_of_an_extent_meets_what_has_it():
    def shifted(x: Square):
        n = x.shape[0]
        return x + np.eye(n), x @ np.eye(n), np.eye(*x.shape), x - 2 * np.identity(len(x))

    agrees(shifted, random(3, 3))
    assert "dyn." not in str(relay.function(shifted).module)


@pytest.mark.parametrize("n", [1, 5])
def test_numbers_at_equal_distances(n):
    def spaced(n: int):
        halves = np.linspace(0, 1, n, endpoint=False), np.linspace(0, n, 5), np.geomspace(1.0, 100.0, 3) * n
        return *halves, np.linspace(-1.0, 2.0, num=n), np.logspace(0, 2, n), np.linspace(0, 9, 4, dtype=int) * n

    agrees(spaced, np.int32(n))


def test_arrays_by_computed_shapes():
    def made(n: int, d: int):
        filled = np.full(n, 0.5), np.full((n, d), 2), np.full(shape=(n,), fill_value=1.0)
        return *filled, np.zeros((n, d)), np.zeros([n, d]), np.ones(n, dtype=int), np.arange(n), np.empty(n).shape

    agrees(made, np.int32(4), np.int32(2))


def test_repetitions():
    def repeated(x: Vector, n: int):
        whole = np.tile(x, 2), np.tile(x, n), np.tile(x, (n, 1)), np.tile([1.0, 2.0], n)
        return *whole, np.repeat(x, 2), np.repeat(x, n), np.repeat(x, [1, 2, 0, 1]), np.repeat(x[0], n)

    agrees(repeated, random(4), np.int32(3))


@pytest.mark.parametrize("places", [2, -7])
def test_rolls(places):
    def rolled(x: Matrix, k: int):
        flat = np.roll(x, 1), np.roll(x, k)
        return *flat, np.roll(x, -1, axis=0), np.roll(x, k, axis=1), np.roll(x, (1, 2), axis=(0, 1))

    agrees(rolled, random(3, 4), np.int32(places))


def test_grids():
    def of_known(x: relay.Tensor[(3,)], y: relay.Tensor[(2,)]):
        a, b = np.meshgrid(x, y)
        c, d = np.meshgrid(x, y, indexing="ij")
        return a, b, c, d, np.sqrt(a**2 + b**2)

    def of_open(x: Vector, y: Other):
        a, b = np.meshgrid(x, y)
        return a, b, a + b

    agrees(of_known, random(3), random(2))
    agrees(of_open, random(3), random(2))


def test_diagonals():
    def of_known(x: relay.Tensor[(4, 4)], v: Four):
        return (
            np.diag(x),
            np.diag(v, 1),
            np.diag(v, -2),
            np.diag(x, 1),
            x.trace(),
            x.diagonal(-1),
            np.trace(x, offset=1),
        )

    def of_open(x: Matrix, v: Vector):
        return np.diag(x), np.diag(v), np.diag(v, 1), np.trace(x), np.diag(x, -1), np.diag(x, 2), np.diagonal(x)

    agrees(of_known, random(4, 4), random(4))
    agrees(of_open, random(4, 3), random(4))


# ----------------------------------------------------------------------------------------------------- lists as arrays


def test_lists_beside_arrays():
    def joined(x: Vector):
        ends = np.append(x, 1.0), np.append(x, [1.0, 2.0]), np.append(1.0, x), np.hstack((0.0, x))
        return *ends, np.concatenate([x, [1.0]]), np.concatenate((x, [1.0, 2.0])), np.concatenate(([0], np.cumsum(x)))

    agrees(joined, random(4))


def test_operators_take_lists_beside_arrays():
    def of_floats(x: relay.Tensor[(2,)]):
        return x + [1.0, 2.0], [1, 2] * x, x - (1.0, 2.0), x > [0.0, 0.0], x == [1.0, 2.0], [1.0, 2.0] @ x

    def of_ints(x: Pair):
        return x + [1, 2], x * [0.5, 2.0], x // [2, 2], x == [1, 3], x & [1, 1]

    agrees(of_floats, random(2))
    agrees(of_ints, np.array([1, 2], np.int32))


def test_lists_are_assigned_to_parts():
    def changed(x: relay.Tensor[(4, 3)]):
        y = x.copy()
        y[:, 2] = [1, 2, 3, 4]
        y[0] = (1.0, 2.0, 3.0)
        y[1, :2] = [y[0, 0], 5.0]
        y += [1.0, 2.0, 3.0]
        return y

    agrees(changed, random(4, 3))


def test_arrays_of_lists():
    def made(x: Vector):
        sums = np.array([x.sum(), x.mean()]), np.array([[x.max(), 0.0], [1.0, x.min()]])
        return *sums, np.stack([x * k for k in range(3)]), np.array([x[i] * i for i in range(len(x))])

    agrees(made, random(4))


def test_arrays_of_rows_of_an_open_extent():
    def made(x: Matrix):
        rows = [row * 2 for row in x]
        joined = np.concatenate(rows), np.vstack(rows), np.hstack(rows)
        return *joined, np.array(rows), np.stack(rows), np.stack(rows, axis=1), np.mean(rows), np.sum(rows, axis=0)

    agrees(made, random(4, 3))


def test_rows_whose_extents_the_program_finds():
    def made(x: Vector, width: int):
        return np.array([x[k : k + width] for k in range(1, len(x))])

    agrees(made, random(3), 1)
    fails(made, ValueError, "check-failed", random(3), 2)


def test_arrays_of_lists_of_lists():
    def made(x: Vector):
        return np.array([[a * b for a in x] for b in x]), np.array([[[a, b] for a in x] for b in x])

    def ragged(x: Vector):
        return np.array([[x[i] for i in range(n)] for n in range(len(x))])

    agrees(made, random(3))
    fails(ragged, ValueError, "check-failed", random(3))


def test_lists_of_an_array_are_new():
    def changed(x: Matrix):
        rows = x.tolist()
        rows[0][1] = 9.0
        rows[1].append(3.0)
        return rows, x

    x = random(2, 3)
    rows, same = relay.function(changed)(x)
    assert [list(map(float, row)) for row in rows] == changed(x)[0]
    np.testing.assert_array_equal(same, x)


def test_lists_of_the_program_are_places():
    def picked(x: Vector, n: int):
        places = [2 * i for i in range(n)]
        y = x * 1
        y[places] = 5.0
        y[places] += 1
        return x[places], np.take(x, [0, 1]), y

    agrees(picked, random(5), np.int32(3))


def test_functions_of_lists_of_the_program():
    def of_floats(xs: list[float]):
        numbers = np.sum(xs), np.mean(xs), np.max(xs), np.argmax(xs), np.std(xs), np.median(xs), np.dot(xs, xs)
        return *numbers, np.sort(xs), np.array(xs) * 2, np.cumsum(xs)

    def of_ints(xs: list[int]):
        return np.sum(xs), np.mean(xs), np.argsort(xs), np.bincount(xs), np.diff(xs), np.unique(xs)

    for definition, given in ((of_floats, [1.0, 3.0, 2.0]), (of_ints, [1, 3, 2])):
        found = relay.function(definition)(given)
        for each, wanted in zip(found, definition(given), strict=True):
            np.testing.assert_allclose(each, wanted, rtol=1e-6)


# ------------------------------------------------------------------------------------------------------------ products


def test_products():
    def products(a: Matrix, b: OtherMatrix):
        sums = np.einsum("ij,jk->ik", a, b), np.einsum("...j,jk->...k", a, b), np.einsum("ij->j", a)
        return *sums, np.kron(a, b), np.inner(a, a), np.tensordot(a, b, 1), np.outer(a, b), a.dot(b)

    agrees(products, random(2, 3), random(3, 2))


def test_products_over_pairs_of_axes():
    def products(a: relay.Tensor[(2, 3)], b: relay.Tensor[(3, 2)]):
        return np.tensordot(a, b, axes=([0], [1])), np.tensordot(a, a, 2), np.vdot(a, b.T), np.vecdot(a, a)

    agrees(products, random(2, 3), random(3, 2))


def test_cross_products():
    def crossed(a: Threes, b: Threes):
        return np.cross(a, b), np.cross(a[0], [1.0, 0.0, 0.0]), np.linalg.norm(np.cross(a, b), axis=1)

    agrees(crossed, random(5, 3), random(5, 3))


def test_norms():
    def norms(x: Matrix):
        of_rows = np.linalg.norm(x, axis=1, keepdims=True), np.linalg.norm(x, ord=1, axis=0)
        of_one = np.linalg.norm(x[0], 1), np.linalg.norm(x[0], np.inf), np.linalg.norm(x[0], 3)
        return *of_rows, *of_one, np.linalg.norm(x), np.linalg.norm(x, "fro"), np.linalg.matrix_power(x.T @ x, 3)

    agrees(norms, random(4, 3))


def test_batches_of_open_extents_are_multiplied():
    def heads(q: Heads, w: relay.Tensor[(4, 3)]):
        return q @ q.transpose(0, 1, 3, 2), q @ w, q[0] @ w

    agrees(heads, random(2, 2, 3, 4), random(4, 3))


# ---------------------------------------------------------------------------------------------------------- statistics


def test_quantiles():
    def of_all(x: Vector):
        several = np.percentile(x, [10, 50, 90]), np.quantile(x, [0.0, 1.0])
        return *several, np.percentile(x, 30), np.median(x), np.quantile(x, x.shape[0] / 10)

    def of_rows(x: Matrix):
        return np.percentile(x, 30, axis=0), np.median(x, axis=1, keepdims=True), np.quantile(x, 0.25, axis=-1)

    agrees(of_all, random(6))
    agrees(of_rows, random(4, 6))


def test_a_median_of_nan_is_nan():
    def medians(x: Matrix):
        return np.median(x), np.median(x, axis=1), np.percentile(x, 30, axis=1)

    agrees(medians, np.array([[np.nan, 2, 5], [4, 5, 6]], np.float32))


def test_what_is_not_nan():
    def of_the_rest(x: Matrix):
        totals = np.nansum(x, axis=0), np.nanprod(x), np.nanmean(x), np.nanmean(x, axis=0)
        return *totals, np.nanmax(x, axis=1), np.nanmin(x), np.nanstd(x), np.nanvar(x, axis=1)

    agrees(of_the_rest, np.array([[np.nan, 2, 5], [4, 5, 6]], np.float32))


def test_nan_and_infinities_as_numbers():
    def numbers(x: Vector):
        return np.nan_to_num(x), np.nan_to_num(x, posinf=1.0, neginf=-1.0), np.nan_to_num(x, nan=5.0)

    agrees(numbers, np.array([np.nan, np.inf, -np.inf, 1], np.float32))


def test_averages_and_spreads():
    def averages(x: Matrix):
        weighted = np.average(x, axis=0, weights=[1, 2, 3, 4]), np.average(x[0], weights=np.arange(6))
        several = x.max(axis=(0, 1)), x.sum(axis=(0, 1), keepdims=True), np.count_nonzero(x > 0, axis=1)
        return *weighted, *several, np.average(x, axis=1), np.ptp(x, axis=1), x.std(axis=1, keepdims=True)

    agrees(averages, random(4, 6))


def test_covariances():
    def covariances(x: Matrix):
        others = np.cov(x, rowvar=False), np.cov(x[0], x[1]), np.cov(x[0]), np.cov(x, ddof=0), np.cov(x, bias=True)
        return *others, np.cov(x), np.corrcoef(x), np.corrcoef(x[0], x[1])[0, 1]

    agrees(covariances, random(3, 8))


def test_counts_of_numbers():
    def counts(x: Whole):
        return np.bincount(x), np.bincount(x, minlength=6), np.bincount(x, weights=x * 0.5), np.bincount(x).argmax()

    agrees(counts, np.array([0, 3, 1, 1, 3, 3], np.int32))
    fails(counts, ValueError, "check-failed", np.array([0, -1], np.int32))


def test_convolutions():
    def of_open(x: Vector, k: relay.Tensor[(3,)]):
        return np.convolve(x, k), np.convolve(x, [0.25, 0.5, 0.25]), np.convolve(x, np.ones(3) / 3)

    def of_known(x: relay.Tensor[(7,)], k: relay.Tensor[(3,)], m: relay.Tensor[(4,)]):
        same = np.convolve(x, k, mode="same"), np.convolve(x, m, "same"), np.convolve(k, x, "same")
        return *same, np.convolve(x, k, "valid"), np.convolve(m, x, "valid"), np.convolve(k, x)

    agrees(of_open, random(7), random(3))
    agrees(of_known, random(7), random(3), random(4))


def test_interpolation():
    def between(x: Vector):
        places = np.arange(5)
        numbers = np.interp(0.5, places, x), np.interp(2.5, np.arange(len(x)), x), np.interp([0.5, 1.5], places, x)
        return *numbers, np.interp(x, places, x), np.interp(x, [0.0, 1.0, 2.0], [1.0, 3.0, 2.0])

    agrees(between, random(5))


def test_sums_between_neighbours():
    def areas(y: Vector, x: Vector):
        return (
            np.trapezoid(y),
            np.trapezoid(y, dx=0.5),
            np.trapezoid(y, np.sort(x)),
            np.diff(y, n=2),
            np.diff([1, 4, 9]),
        )

    agrees(areas, random(4), random(4))


def test_clips():
    def clipped(x: Vector):
        by_name = np.clip(x, a_min=0, a_max=1), x.clip(max=0.5), x.clip(min=-0.1, max=0.1)
        return *by_name, np.clip(x, 0, None), np.clip(x, None, 0.5), np.clip(x, -1, 1), x.clip(0)

    agrees(clipped, random(5))


# ----------------------------------------------------------------------------------------------- places and comparisons


def test_places_along_an_axis():
    def picked(x: Matrix):
        order = np.argsort(x, axis=1)
        return np.take_along_axis(x, order, axis=1), np.take_along_axis(x, x.argmax(axis=1)[:, None], axis=1)

    agrees(picked, random(4, 3))


def test_places_among_all_elements():
    def largest(x: Matrix):
        i, j = np.unravel_index(np.argmax(x), x.shape)
        return i, j, x[i, j], np.unravel_index(np.argmin(x), x.shape), np.size(x), np.sort(x, axis=0, kind="stable")

    agrees(largest, random(3, 4))


def test_a_place_outside_ends_the_run():
    def picked(x: Matrix, i: Column):
        return np.take_along_axis(x, i, axis=1)

    fails(picked, IndexError, "check-failed", random(2, 3), np.array([[0], [3]], np.int32))


def test_where_numbers_belong():
    def belong(x: Vector, places: Whole):
        found = np.searchsorted([1, 2, 3], x), np.digitize(x, [-1.0, 0.0, 1.0]), np.digitize(x, bins=np.array([0, 1]))
        return *found, np.isin(places, [1, 2]), np.isin(places, places[:1], invert=True), np.isin([1, 2], [2, 3])

    agrees(belong, random(3), np.array([3, 1, 2], np.int32))


def test_arrays_that_are_alike():
    def alike(x: Vector, y: Other):
        equal = np.array_equal(x, y), np.array_equal(x[:4], y), np.array_equal(x, x)
        return *equal, np.allclose(x, x + 1e-7, atol=1e-3), np.isclose(x, x + 1e-9)

    agrees(alike, random(5), random(4))


def test_types_of_numbers_are_functions():
    def numbers(x: float, n: int, y: Vector):
        arrays = np.float32(y), y.astype(np.float32), y.astype(bool), np.float64(y), np.int32(y)
        return *arrays, np.float32(x), np.int32(x), np.float64(n), np.bool_(n), np.float32(n) / 2, np.uint8(n)

    agrees(numbers, np.float32(2.75), np.int32(3), random(3))


def test_element_types_that_are_asked_for():
    def typed(x: Whole):
        sums = np.sum(x, dtype=np.float32), np.mean(x, dtype=np.float32), np.cumsum(x, dtype=np.float32)
        return *sums, np.zeros_like(x, dtype=np.float32), np.full_like(x, fill_value=2)

    agrees(typed, np.array([3, 1, 2], np.int32))


def test_parts_and_layers():
    def arranged(x: relay.Tensor[(3, 4)]):
        a, b = np.split(x, 2, axis=1)
        d, e = np.hsplit(x, [1])
        (f,) = np.vsplit(x, 1)
        return a, b, d, e, f, np.dstack([x, x]), np.column_stack([x[:, 0], x[:, 1]]), np.moveaxis(x, 0, 1), np.rot90(x)

    agrees(arranged, random(3, 4))


# ------------------------------------------------------------------------------------------ what is held, and refusals


def test_a_copy_that_changes_nothing_is_a_copy():
    def changed(x: Matrix):
        y, z, w = np.array(x), x.astype(np.float32), np.positive(x)
        y[0], z[0], w[0] = 0, 1, 3
        return x, y, z, w

    agrees(changed, random(3, 4))


def refused(definition: Any) -> RelayError:
    with pytest.raises(RelayError) as caught:
        _ = relay.function(definition).module
    return caught.value


def test_what_shows_the_memory_of_another_does_not_change():
    def same(x: Vector):
        y = np.asarray(x)
        y[0] = 5
        return x

    def backwards(x: Vector):
        y = x * 1
        z = np.flip(y)
        y[0] = 9.0
        return z

    def copied(x: Vector):
        y = np.array(x)
        x[0] = 1
        return y

    def parts(x: relay.Tensor[(4, 2)]):
        y = x * 1
        halves = np.split(y, 2)
        y[0] = 9
        return halves[0]

    for definition in (same, backwards, copied, parts):
        assert "something else may hold too" in refused(definition).message


def test_calls_outside_of_programs_say_what_to_write():
    def gradient(x: Vector):
        return np.gradient(x)

    def reduced(x: Vector):
        return np.add.reduce(x)

    def into(x: Vector):
        return np.add(x, x, out=x)

    def drawn(x: Vector):
        return x + np.random.rand(3)

    def unknown(x: Vector):
        return np.argpartition(x, 2), np.linalg.svd(x)

    def near(x: Vector):
        return np.cumulative_sum(x)

    assert refused(gradient).remedy.startswith("write the differences: (x[2:] - x[:-2]) / 2")
    assert refused(reduced).message == "the call of `np.add.reduce` cannot become a Relay program"
    assert refused(reduced).remedy == "write np.sum"
    assert refused(into).remedy == "assign what it gives: y = ..."
    assert refused(drawn).remedy == "make random numbers outside of the program, and give it them"
    assert refused(unknown).remedy == "write np.argsort(x)[:k]"
    assert "docs/python_front_end.md" in refused(near).remedy


def test_the_sign_of_a_zero_is_copied():
    def signed(x: relay.Tensor[(4,)], y: relay.Tensor[(4,)]):
        return np.copysign(x, y)

    signs = np.array([0.0, -0.0, np.inf, -np.inf], np.float32)
    found = agrees(signed, np.array([0.0, 2.0, -3.0, 4.0], np.float32), signs)
    np.testing.assert_array_equal(np.signbit(found), [False, True, False, True])


def test_spreads_of_any_number_less():
    def spreads(x: relay.Tensor[(relay.symbol("n"), 3)], k: int):
        whole = np.var(x, axis=0, ddof=2), np.std(x, ddof=1.5), np.std(x, axis=(0, 1), ddof=3, keepdims=True)
        return *whole, np.var(x, correction=1), np.var(x, axis=1, ddof=k)

    agrees(spreads, np.random.default_rng(0).standard_normal((4, 3)).astype(np.float32), np.int32(2))


@pytest.mark.parametrize("count", [1, 4])
def test_polynomials_of_any_number_of_coefficients(count: int):
    def values(p: Vector, x: Other, n: int, s: float):
        numbers = [2 * i for i in range(n)]
        of_vectors = np.polyval(p, x), np.polyval(p, s), np.polyval(p[:-1], x.reshape(1, -1))
        of_lists = np.polyval(numbers, x), np.polyval(numbers, n), np.polyval(numbers, [1.0, 2.0])
        return *of_vectors, *of_lists, np.polyval(np.array([1, 2, 3]), s), np.polyval([1.0, s], x)

    p, x = np.arange(count, dtype=np.float32) - 2, np.array([0.5, -1, 2], np.float32)
    agrees(values, p, x, np.int32(count - 1), np.float32(0.5))


@pytest.mark.parametrize(("first", "second"), [(5, 3), (3, 5), (1, 1), (4, 1), (2, 6), (4, 4)])
def test_convolutions_of_vectors_of_any_length(first: int, second: int):
    def sums(x: Vector, y: Other):
        of_open = np.convolve(x, y), np.convolve(x, y, mode="same"), np.convolve(x, y, "valid")
        beside_known = (
            np.convolve(x, [1.0, 2.0, 1.0]),
            np.convolve([1, 2, 3], y, "same"),
            np.convolve(x, [1, 2], "valid"),
        )
        return *of_open, *beside_known, np.convolve([1, 2, 3], [1, 2], "same"), np.convolve(x, [1.0, 2.0], "same")

    draws = np.random.default_rng(0)
    agrees(sums, *(draws.standard_normal(each).astype(np.float32) for each in (first, second)))


@pytest.mark.parametrize(("first", "second"), [(0, 2), (2, 0)])
def test_a_convolution_of_nothing_ends_the_run(first: int, second: int):
    def sums(x: Vector, y: Other):
        return np.convolve(x, y)

    fails(sums, ValueError, "check-failed", np.zeros(first, np.float32), np.zeros(second, np.float32))


@pytest.mark.parametrize("count", [0, 1, 3])
def test_arrays_are_padded_by_computed_widths(count: int):
    def padded(x: Matrix, v: Other, n: int):
        by_zeros = np.pad(x, n), np.pad(x, (n, 1)), np.pad(x, ((n, 0), (1, 2 * n))), np.pad(x > 0, ((0, n), (0, 0)))
        by_values = np.pad(v, n, constant_values=1.5), np.pad(v, (1, n), constant_values=(3.0, 4.0))
        again = [np.pad(v, (n, 9), mode="wrap"), np.pad(v, (9, n), mode="symmetric"), np.pad(v, n, mode="reflect")]
        rows = np.pad(x, ((0, n), (0, 0)))[:, 0].sum() + np.pad(v, (0, (-len(v)) % 4)).reshape(-1, 4).sum(axis=0)
        return *by_zeros, *by_values, *again, np.pad(v, (n, 1), mode="edge"), rows, np.pad(v, 2, mode="wrap")

    agrees(padded, random(3, 2), random(5), np.int32(count))


def test_an_empty_array_is_padded():
    def padded(v: Vector, n: int):
        return np.pad(v, n), np.pad(v, (1, 2))

    agrees(padded, random(0), np.int32(2))


def test_a_negative_width_ends_the_run():
    def padded(v: Vector, n: int):
        return np.pad(v, n)

    fails(padded, ValueError, "check-failed", random(3), np.int32(-1))


@pytest.mark.parametrize("rows", [0, 1, 4, 7])
def test_arrays_of_any_extent_are_split(rows: int):
    def split(x: Matrix, n: int):
        total = 0.0
        for part in np.array_split(x[x > 0], 3):
            for value in part:
                total += value
        of_open = np.array_split(x, 3), np.array_split(x, 2, axis=1), np.array_split(x, [1, 3])
        return *of_open, np.array_split(x, [n]), np.split(x, [n, n + 1]), np.split(x, np.array([1, 2])), total

    agrees(split, random(rows, 5), np.int32(2))
