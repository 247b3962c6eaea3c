"""What the operands of a body may be: indices and numbers of Python beside machine numbers, held against NumPy."""

import numpy as np
import pytest

from relay import te
from relay.base.diagnostics import RelayError
from tests.messages import check_message

INDEX = np.arange(5)
ARRAYS = {
    "x": np.linspace(-1, 1, 5, dtype=np.float32),
    "h": np.linspace(-1, 1, 5).astype(np.float16),
    "n": np.array([3, 0, 9, 2, -9], np.int32),
    "b": np.arange(5, dtype=np.int8),
}
X, H, N, B = (te.placeholder((5,), str(array.dtype), name) for name, array in ARRAYS.items())
K = te.reduce_axis(5, "k")
x, h, n, b = ARRAYS.values()


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (lambda i: X[i] * i, x * INDEX),
        (lambda i: i * X[i] - i, INDEX * x - INDEX),
        (lambda i: i / (X[i] + 3), INDEX / (x + 3)),
        (lambda i: X[i] / (2 * i + 1), x / (2 * INDEX + 1)),
        (lambda i: X[i] * np.float32(2) + np.float32(1) * X[i], x * 3),
        (lambda i: H[i] * i, h * INDEX.astype(np.float16)),
        (lambda i: N[i] // 2 + 7 // (N[i] + 10), n // 2 + 7 // (n + 10)),
        (lambda i: N[i] % 4 + i % 3, n % 4 + INDEX % 3),
        (lambda i: abs(X[i]) ** 2, np.abs(x) ** 2),
        (lambda i: te.select(te.less(i, N[i]), X[i], i), np.where(n > INDEX, x, INDEX)),
        (lambda i: te.select(te.greater(N[i], i), i, X[i]), np.where(n > INDEX, INDEX, x)),
        (lambda i: te.maximum(i - 2, X[i]), np.maximum(INDEX - 2, x)),
        (lambda i: X[te.minimum(i + 1, te.maximum(3, 4))], x[[1, 2, 3, 4, 4]]),
        (lambda i: X[te.floor_divide(i, 2) + te.floor_modulo(i, 2)], x[INDEX // 2 + INDEX % 2]),
        (lambda i: X[te.clamp(N[i] + i, 0, 5)], x[np.clip(n + INDEX, 0, 4)]),
        (lambda i: X[i * np.int64(1)], x),
        (lambda i: te.cast(i, "float32") * 0.5, INDEX * 0.5),
        (lambda i: te.exp(te.cast(i, "float32")), np.exp(INDEX)),
        (lambda i: te.cast(2.5, "float32") * i, 2.5 * INDEX),
        (lambda i: te.sum(X[K] * K * i, axis=K), (x * INDEX).sum() * INDEX),
        (lambda i: te.max(te.cast(K, "int32"), axis=K), np.full(5, 4)),
        (lambda i: te.sum(X[K], axis=K, initial=i), x.sum() + INDEX),
        (lambda i: te.select(te.all_of((True, te.less(i, 2))), X[i], 0), np.where(INDEX < 2, x, 0)),
    ],
)
def test_indices_and_numbers_take_the_element_type_beside_them(body, expected):
    result = te.compute((5,), body, name="result")
    arrays = {tensor.name: ARRAYS[tensor.name] for tensor in te.Schedule(result).inputs}
    np.testing.assert_allclose(te.build(result)(**arrays), expected, rtol=1e-6, atol=1e-6)


def test_indices_beside_narrow_floats_are_rounded_once_at_the_end():
    many = te.placeholder((4096,), "float16", "many")
    result = te.compute((4096,), lambda i: many[i] * i, name="result")
    got = te.build(result)(np.full(4096, 0.5, np.float16))
    np.testing.assert_array_equal(got, (np.arange(4096) * 0.5).astype(np.float16))


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("function_of_an_index", lambda i: te.exp(2 * i)),
        ("function_of_a_number", lambda i: te.exp(1.0)),
        ("function_of_indices", lambda i: te.power(i, 2)),
        ("sum_of_an_index", lambda i: te.sum(K, axis=K)),
        ("select_of_indices", lambda i: te.select(te.less(i, 3), i, 2)),
        ("index_beside_a_float", lambda i: 2.5 * i),
        ("fraction_of_an_index", lambda i: i / 2),
        ("fraction_with_an_index", lambda i: 2 / i),
        ("order_of_an_index", lambda i: te.select(i < 3, X[i], 0.0)),
        ("order_of_a_value", lambda i: te.select(X[i] > 0, X[i], 0.0)),
        ("index_beside_a_byte", lambda i: B[i] + i),
        ("number_beyond_a_byte", lambda i: B[i] + 300),
        ("fraction_beside_an_integer", lambda i: N[i] * 0.5),
        ("two_element_types", lambda i: X[i] + N[i]),
        ("operand_of_another_kind", lambda i: X[i] * X),
        ("index_as_condition", lambda i: te.select(i, X[i], 0.0)),
        ("number_as_condition", lambda i: te.sum(X[K], axis=K, where=N[K])),
        ("element_at_a_fraction", lambda i: X[X[i]]),
    ],
)
def test_what_does_not_go_together(name, body):
    with pytest.raises(RelayError) as caught:
        te.compute((5,), body, name="result")
    check_message("te", name, caught.value)
