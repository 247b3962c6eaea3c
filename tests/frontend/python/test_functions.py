"""Python functions as programs: each construct gives what Python gives."""

from collections.abc import Callable

import numpy as np
import pytest

import relay
from tests.frontend.python.running import agrees, fails

Vector = relay.Tensor[(3,)]
X = np.array([1, -2, 3], np.float32)
M = np.arange(12, dtype=np.float32).reshape(4, 3)


def int32(value):
    return np.int32(value)


def test_while_and_augmented_assignment():
    def total(n: int):
        total = 0
        i = 0
        while i < n:
            total += i
            i += 1
        return total

    assert agrees(total, int32(5)) == 10


@pytest.mark.parametrize("n", range(5))
def test_early_returns(n):
    def early(x: Vector, n: int):
        if n > 3:
            return x
        y = x * 2
        if n > 1:
            if n == 2:
                return y + 1
            y = y - 1
        return y

    agrees(early, X, int32(n))


def test_break_and_continue():
    def odd_below(n: int):
        total = 0
        for i in range(100):
            if i == n:
                break
            if i % 2 == 0:
                continue
            total = total + i
        return total

    assert agrees(odd_below, int32(8)) == 16


@pytest.mark.parametrize("limit", [8, 800])
def test_return_inside_a_loop(limit):
    def first_square_above(limit: int):
        for i in range(10):
            if i * i > limit:
                return i
        return -1

    agrees(first_square_above, int32(limit))


def test_while_true():
    def root(n: int):
        i = 0
        while True:
            if i * i >= n:
                return i
            i += 1

    assert agrees(root, int32(50)) == 8


def test_loops_inside_loops_and_ranges_with_steps():
    def loops(x: Vector, n: int):
        for i in range(n, 0, -1):
            for _ in range(1, i, 2):
                x = x + 1.0
            x = x * 0.5
        return x

    agrees(loops, X, int32(5))


def test_nested_functions_see_names_as_they_are_when_called():
    def late(x: Vector, n: int):
        scale = 1.0

        def scaled(y):
            return y * scale

        twice = lambda y: scaled(scaled(y))  # noqa: E731
        for _ in range(n):
            scale = scale + 1.0
            x = twice(x)
        return x

    agrees(late, X, int32(2))


def test_a_nested_function_that_returns_early():
    def clip(x: Vector, n: int):
        def pick(k):
            if k > 1:
                return x
            return x * 2

        return pick(n) + pick(n + 1)

    agrees(clip, X, int32(1))


def test_a_nested_function_that_calls_itself():
    def factorial(n: int):
        def inner(k: int) -> int:
            if k <= 1:
                return 1
            return k * inner(k - 1)

        return inner(n)

    assert agrees(factorial, int32(5)) == 120


def test_functions_as_values():
    def thrice(x: Vector):
        def apply(f: Callable[[Vector], Vector], n: int) -> Vector:
            if n == 0:
                return x
            return f(apply(f, n - 1))

        return apply(lambda v: v + 1, 3)

    agrees(thrice, X)


def test_short_circuits_comparisons_and_choices():
    def choices(n: int, m: int):
        a = n > 1 and m > 2
        b = n > 10 or not a
        return a, b, 1 if a else 2, 0 < n <= 5

    agrees(choices, int32(2), int32(3))


@pytest.mark.parametrize("n", [7, -7])
def test_arithmetic_is_that_of_python(n):
    def arithmetic(n: int):
        return n / 2, n // 2, n % 3, -n, n**2, n * 0.5, abs(n), max(n, 2)

    agrees(arithmetic, int32(n))


def test_products():
    def products(x: Vector, w: relay.Tensor[(3, 3)]):
        return x @ w, w @ w, w @ x, x @ x

    agrees(products, X, np.eye(3, dtype=np.float32) * 2)


def test_indexing_and_methods():
    def parts(m: relay.Tensor[(4, 3)]):
        return (
            m[1],
            m[-1],
            m[-2, 0],
            m[1:3],
            m[:, 1],
            m[..., None],
            m[::2, 0],
            m[::-1],
            m.T,
            m.reshape(3, 4),
            m.sum(axis=1),
            m.shape[0],
        )

    agrees(parts, M)


def test_functions_of_numpy():
    def calls(x: Vector):
        return (
            np.tanh(x), np.concatenate([x, x]), np.where(x > 0, x, 0.0), np.maximum(x, 0), np.zeros((2, 2)) + x.sum(),
            x.mean(), np.stack([x, x * 2], axis=1), np.square(x), x.astype("int32"),
        )  # fmt: skip

    agrees(calls, X)


def test_rows_of_a_tensor_whose_extent_is_open():
    def total(m: relay.Tensor[(relay.symbol("n"), 3)]):
        s = m[0] * 0
        for row in m:
            s = s + row
        return s, len(m)

    agrees(total, M)


def test_lists():
    def lists(x: Vector, n: int):
        xs = [x, x * 2]
        for i in range(n):
            xs.append(x + i)
        last = xs.pop()
        first = xs.pop(0)
        return xs, last, first, len(xs), xs[1], [y * 2 for y in xs]

    agrees(lists, X, int32(3))


def test_comprehensions():
    def squares(n: int):
        return [i * i for i in range(n) if i % 2 == 0]

    agrees(squares, int32(7))


def test_patterns_of_lists():
    def front(x: Vector):
        xs = [x, x * 2, x * 3]
        match xs:
            case [a, b, *rest]:
                return a + b, len(rest)
            case _:
                return x, 0

    agrees(front, X)


def test_values_that_may_be_missing():
    def maybe(x: Vector, n: int):
        y: Vector | None = None
        if n > 0:
            y = x
        match y:
            case None:
                return x * 0
            case value:
                return value * 2

    agrees(maybe, X, int32(1))
    agrees(maybe, X, int32(0))


def test_cells():
    def cells(x: Vector):
        r = relay.ref(x)
        count = relay.ref(1)
        r.value = r.value * 2
        count.value += 1
        return r.value + count.value

    result = relay.function(cells)(X)
    np.testing.assert_array_equal(result, X * 2 + 2)


@relay.function
def greatest_common_divisor(a: int, b: int) -> int:
    if b == 0:
        return a
    return greatest_common_divisor(b, a % b)


@relay.function
def even(n: int) -> bool:
    if n == 0:
        return True
    return odd(n - 1)


@relay.function
def odd(n: int) -> bool:
    if n == 0:
        return False
    return even(n - 1)


def test_recursion():
    assert greatest_common_divisor(int32(12), int32(18)) == 6
    assert even(int32(10))
    assert not odd(int32(10))


def test_a_function_is_a_program():
    text = greatest_common_divisor.astext()
    assert relay.structural_equal(relay.parse(text), greatest_common_divisor.module)
    assert "def @greatest_common_divisor(%a: int32, %b: int32) -> int32" in text
    assert greatest_common_divisor.module["main"].span.source.name == __file__


@relay.function
def cell(x: relay.Tensor[(1, 4)], h: relay.Tensor[(1, 4)], w: relay.Tensor[(4, 4)]):
    h = np.tanh(x @ w + h)
    return relay.nn.softmax(h), h


@relay.function
def generate(x: relay.Tensor[(1, 4)], h: relay.Tensor[(1, 4)], w: relay.Tensor[(4, 4)], n: int):
    out = x
    for _ in range(n):
        out, h = cell(out, h, w)
    return out, h


def test_a_generative_loop():
    random = np.random.default_rng(0)
    x, h, w = (random.standard_normal(shape, np.float32) for shape in ((1, 4), (1, 4), (4, 4)))
    result = generate(x, h, w, int32(5))
    out = x
    for _ in range(5):
        h = np.tanh(out @ w + h)
        out = np.exp(h) / np.exp(h).sum()
    np.testing.assert_allclose(result[0], out, rtol=1e-5)
    np.testing.assert_allclose(result[1], h, rtol=1e-5)


def test_python_sequences_of_values_are_unrolled():
    def joined(x: Vector, y: Vector):
        total, last = x * 0, ()
        for position, (left, right) in enumerate(zip((x, y, x), (y, y, x), strict=True)):
            total = total + left * right * position
            last += (total,)
        for part in reversed(last):
            total = total * 2 + part
        return total, last[0:1] * 2

    agrees(joined, X, X + 1)


def test_a_tuple_of_the_program_is_looped_over():
    @relay.function
    def both(x: Vector):
        return x + 1, x * 2

    @relay.function
    def folded(x: Vector):
        total = x
        for position, part in enumerate(both(x)):
            total = total * part + position
        for part in both(total):
            total = total + part
        return total

    total = (X * (X + 1)) * (X * 2) + 1
    np.testing.assert_allclose(folded(X), total + (total + 1) + total * 2, rtol=1e-6)


def test_what_is_looped_over_is_evaluated_once():
    @relay.function
    def counted(n: int):
        calls = relay.ref(0)

        def rows(value: int) -> relay.Tensor[(2,), "int32"]:
            calls.value = calls.value + 1
            return relay.full(value, (2,), "int32")

        total = 0
        for row in rows(n):
            total = total + row
        return total, calls.value

    assert counted(int32(3)) == (6, 1)


def test_a_function_given_to_a_method_keeps_its_own_surroundings():
    """Names that the method's file and class do not know."""
    factor = 3.0

    @relay.model
    class Twice:
        def apply(self, step, x):
            return step(step(x))

        def __call__(self, x: Vector):
            def step(y):
                return y * factor

            return self.apply(step, x)

    np.testing.assert_allclose(Twice()(X), 9 * X)


def test_nothing_is_an_element_once():
    def listed(x: Vector):
        xs = [x, x + 1]
        ys = [1]
        ys.append(None)
        return xs[len(ys) - 1]

    agrees(listed, X)


def test_a_copy_of_a_list_is_a_list_of_ones_own():
    def copied(x: Vector, n: int):
        xs = [n, n + 1] if n > 0 else [n]
        ys = list(xs)
        ys.append(7)
        return len(xs), len(ys), ys

    agrees(copied, X, int32(3))


@relay.function
def refused(n: int):
    for k in range(n):
        if k > 2:
            raise ValueError("k is large")
    raise KeyError("n is small")


def test_functions_that_only_raise():
    def always(n: int):
        raise ValueError("never")

    def declared(n: int) -> int:
        if n > 3:
            raise ValueError("large")
        raise KeyError("small")

    def nested(n: int):
        def stop(k):
            raise KeyError("stop")

        return stop(n) if n > 3 else n + 1

    def as_statement(n: int):
        def stop(k):
            raise KeyError("stop")

        if n > 3:
            stop(n)
        return n + 1

    def elsewhere(n: int):
        if n > 3:
            refused(n)
        return n + 1

    for n, text in ((1, "KeyError: n is small"), (5, "ValueError: k is large")):
        with pytest.raises(relay.RelayError, match=text):
            refused(n)
    for definition in (always, declared):
        for n in (np.int32(2), np.int32(5)):
            fails(definition, (ValueError, KeyError), "check-failed", n)
    for definition in (nested, as_statement):
        agrees(definition, np.int32(2))
        fails(definition, KeyError, "check-failed", np.int32(5))
    assert relay.function(elsewhere)(2) == 3
    with pytest.raises(relay.RelayError, match="k is large"):
        relay.function(elsewhere)(5)
