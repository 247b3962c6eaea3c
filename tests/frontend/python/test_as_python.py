"""What Python and NumPy give, where it is easy to give something else: kinds of numbers, indices, loops, defaults."""

# Programs as users write them:
# ruff: noqa: B007, C416, E501, F821, F841, RUF057, SIM222, SIM223

from typing import Generic, TypeVar

import numpy as np
import pytest

import relay
from tests.frontend.python.running import agrees, fails

Vector = relay.Tensor[(3,)]
Whole = relay.Tensor[(4,), "int32"]
Open = relay.Tensor[(relay.symbol("n"),)]
X = np.array([1, -2, 3], np.float32)
K = np.array([3, -1, 4, 2], np.int32)
Element = TypeVar("Element")


def test_comprehensions_filter_what_they_go_over():
    def filtered(n: int):
        return (
            [i * i - 1 for i in range(n) if i % 3 != 0],
            [i + n for i in range(2, n) if i % 2 == 0 if i != 4],
            [x * 2 for x in [n, n + 1, n + 2] if x % 2 == 0],
            [k * n for k in (1, 2, 3) if k != 2],
            [i for i in range(n - 9)],
        )

    agrees(filtered, np.int32(6))


def test_the_variable_of_a_loop_stays_behind_it():
    def stays(n: int, x: Vector):
        i = -1
        for i in range(n):
            if i == 3:
                break
        for j in range(5):
            n += j
        for k in (1, 2):
            n += k
        row = x[0]
        for row in x:
            n += 1
        return i, j, k, row, n

    for n in (0, 2, 9):
        agrees(stays, np.int32(n), X)


def test_kinds_of_reductions():
    def kinds(k: Whole, x: Vector):
        return (
            np.mean(k), k.mean(), np.var(k), (x > 0).sum(), np.sum(k > 0), k.max(), np.max(x > 2), np.any(k), np.all(k),
            np.std(x, ddof=1), np.var(x, ddof=1), k.std(), np.mean(x > 0), np.prod(k), np.argmax(k > 0), np.sqrt(k * k),
            np.round(x / 2), np.floor(k), np.abs(k), k + 0.5, k / 2, k + (x[0] > 0), np.full((2,), 3), np.where(k > 0, k, 0.5),
            np.clip(k, 0, 2), np.clip(x, 0, None), np.concatenate([k, x]), np.cumsum(k > 0),
        )  # fmt: skip

    agrees(kinds, K, X)


def test_kinds_of_numbers():
    def kinds(n: int, x: float, b: bool):
        return (
            round(x), round(x + 1), round(n), int(x), int(-x), float(n), bool(n), b + b, b * 3, -b, n + b, ~n, n ^ 5, n & 3,
            n | 8, b & (n > 0), b ^ b, n << 2, n >> 1, abs(b), n / 2, n // 2, n % 3, -n // 2, -n % 3, n**2, n**-1, 2**n, x**2,
            x // 2, x % 2, -x % 2, max(n, 3, 5), min(n, 3), sum([n, n, 1]), n // 2.0, True + n, max(b, n > 3),
        )  # fmt: skip

    agrees(kinds, np.int32(7), np.float32(2.5), np.bool_(True))


def test_round_is_half_to_even():
    def rounded(x: relay.Tensor[(8,)]):
        return np.round(x), round(x[0]), round(x[1]), round(x[2]), round(x[3]), x.round()

    agrees(rounded, np.array([0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997, 8388609, -2.7], np.float32))


@pytest.mark.parametrize("i", [-5, -4, -1, 0, 3, 4])
def test_computed_indices(i):
    def picked(k: Whole, m: relay.Tensor[("n", 2)], i: int):
        return k[i], m[i], m[i, -1], [1, 2, 3, 4][i]

    given = (K, np.arange(8, dtype=np.float32).reshape(4, 2), np.int32(i))
    if -4 <= i < 4:
        agrees(picked, *given)
    else:
        fails(picked, IndexError, "check-failed", *given)


def test_known_indices_of_open_extents():
    def ends(x: Open):
        return x[2], x[-1], x[1:], x[-2:], x[5:], x[:-1], x[::-1], x[::2]

    agrees(ends, X)
    fails(ends, IndexError, "extent-mismatch check-failed", X[:2])


def test_tensors_as_indices():
    def picked(x: Vector, m: relay.Tensor[(3, 2)], k: relay.Tensor[(2,), "int32"]):
        return x[np.array([2, 0])], x[[0, -1]], x[k], m[k, 1], m[1, np.array([1, 1, 0])], np.take(m, k, axis=0)

    m = np.arange(6, dtype=np.float32).reshape(3, 2)
    agrees(picked, X, m, np.array([-1, 1], np.int32))
    fails(picked, IndexError, "check-failed", X, m, np.array([0, 3], np.int32))


@pytest.mark.parametrize("name", ["floor", "remainder", "true", "float", "shift", "power", "whole", "chosen"])
def test_what_raises(name):
    def floor(a: int, b: int):
        return a // b

    def remainder(a: int, b: int):
        return a % b

    def true(a: int, b: int):
        return a / b

    def float_(a: int, b: int):
        return float(a) / float(b)

    def shift(a: int, b: int):
        return a << (b - 1)

    def power(a: int, b: int):
        return float(b) ** -a

    def whole(a: int, b: int):
        return int(np.divide(a, b))

    def chosen(a: int, b: int):
        if a > 100:
            return 0
        unused = a // b
        return a

    definition = {"float": float_, **locals()}[name]
    agrees(definition, np.int32(7), np.int32(2))
    with np.errstate(all="ignore"):
        fails(definition, Exception, "check-failed", np.int32(7), np.int32(0))


def test_arrays_divide_as_numpy_does():
    def divided(k: Whole, n: int):
        return k // n, k % n

    with np.errstate(all="ignore"):
        agrees(divided, K, np.int32(0))


def test_a_part_that_is_not_reached_does_not_raise():
    def guarded(n: int):
        return n != 0 and 7 // n > 1, 7 // n if n != 0 else 0, 0 < n < 7 // max(n, 1)

    agrees(guarded, np.int32(0))
    agrees(guarded, np.int32(2))


@relay.function
def scaled(x: Vector, n: int = 3, *, by: float = 0.5):
    return x * n * by


def test_defaults():
    def called(x: Vector):
        def inner(y, n=2, *, k=1):
            return y * n + k

        n = 5
        late = lambda y, m=n: y * m  # noqa: E731
        n = 6
        return inner(x), inner(x, 3), inner(y=x, k=n), inner(x, n=4, k=2), late(x), late(x, n)

    agrees(called, X)

    def outside(x: Vector):
        return scaled(x), scaled(x, 2), scaled(n=2, x=x, by=2.0)

    found = relay.function(outside)(X)
    for each, factor in zip(found, (1.5, 1.0, 4.0), strict=True):
        np.testing.assert_array_equal(each, X * factor)
    np.testing.assert_array_equal(scaled(X), X * 1.5)
    np.testing.assert_array_equal(scaled(X, by=np.float32(2)), X * 6)


@relay.model
class Layers:
    def __init__(self, bias: bool):
        self.weights = [np.eye(3, dtype=np.float32) * 2, np.eye(3, dtype=np.float32)]
        self.bias = np.ones(3, np.float32) if bias else None

    def __call__(self, x: Vector, times: int = 2):
        for weight in self.weights:
            x = x @ weight * times
            if self.bias is not None:
                x = x + self.bias
        return x


@pytest.mark.parametrize("bias", [False, True])
def test_choices_made_now_in_unrolled_loops(bias):
    def chosen(x: Vector):
        for k in [1, 2, 3]:
            if k == 1:
                continue
            if k > 1:
                x = x * k
            if x[0] > 5.0:
                break
        return x

    agrees(chosen, X)
    model = Layers(bias)
    expected = Layers.__call__.__wrapped__(model, X)
    np.testing.assert_array_equal(model(X), expected)


@pytest.mark.parametrize("limit", [0, 3, 100])
def test_return_out_of_two_loops(limit):
    def first_pair(limit: int):
        for i in range(5):
            for j in range(5):
                if i * j > limit:
                    return i * 10 + j
            if i > 3 and limit > 50:
                return -2
        return -1

    def first_of_known(x: Vector, limit: int):
        for k in (1, 2, 3):
            for i in range(4):
                if k * i > limit:
                    return x * k
        return x

    agrees(first_pair, np.int32(limit))
    agrees(first_of_known, X, np.int32(limit))


@relay.datatype
class Tree(Generic[Element]):
    class Leaf: ...

    class Node:
        left: "Tree[Element]"
        value: Element
        right: "Tree[Element]"


@relay.function
def total(tree: Tree[Vector]) -> Vector:
    match tree:
        case Tree.Leaf():
            return np.zeros(3)
        case Tree.Node(left, value, right):
            return total(left) + value + total(right)


@relay.function
def total_of_three(x: Vector):
    leaf = Tree.Node(Tree.Leaf(), x, Tree.Leaf())
    return total(Tree.Node(leaf, value=x * 2, right=Tree.Leaf()))


def test_constructors_without_fields_of_generic_types():
    np.testing.assert_array_equal(total_of_three(X), X * 3)


def test_nested_functions_that_call_themselves_see_names_as_they_are_when_called():
    def late(n: int):
        k = 1

        def count(m: int) -> int:
            return 0 if m == 0 else count(m - 1) + k

        first = count(n)
        k = 10

        def steps(m: int, by: int = 2) -> int:
            return 0 if m <= 0 else 1 + steps(m - by, by)

        return first, count(n), count(m=n + 1), steps(7), steps(7, by=3)

    agrees(late, np.int32(3))


def test_and_and_or_give_their_operands():
    def given(x: Vector, n: int):
        fallback = None or x
        a, b = 0 or 5, "" and 7
        return fallback, a, n > 0 or n < -3, len(b)

    agrees(given, X, np.int32(1))


def test_what_one_name_holds_changes_in_place():
    def changed(x: Vector, n: int):
        y = x * 2
        y += x
        found = [y * 1]
        for i in range(n):
            y -= i
            if i > 1:
                y *= 2
            found.append(y + i)
        found += [x]
        last = found.pop()
        return y, found, last

    agrees(changed, X, np.int32(4))


def test_ordinary_loops_check_nothing():
    """The position of a loop is within what it goes over: no check is made, and none is paid for."""

    def walk(x: Open, k: Whole, n: int):
        total = 0.0
        for i in range(len(x)):
            total += x[i]
        for i in range(1, 4):
            total += float(k[i] * k[i - 1])
        for i in range(len(x) - 1):
            total += x[i + 1] * x[i]
        for i in range(3, -1, -1):
            total += float(k[i])
        squares = [x[i] * 2.0 for i in range(x.shape[0])]
        return total, squares, k[n % 4]

    assert "checked" not in relay.function(walk).astext()
    agrees(walk, X, K, np.int32(2))


def test_vectors_of_other_lengths_have_no_product():
    def products(x: Open, y: Vector):
        return x @ y, np.dot(x, y), np.inner(x, y), np.vdot(y, x)

    agrees(products, X, X[::-1].copy())
    for given in (X[:1], X[:2]):
        fails(products, ValueError, "extent-mismatch check-failed", given, X)
