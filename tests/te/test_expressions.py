"""What tensor expressions compute: against NumPy, unscheduled."""

from __future__ import annotations

import numpy as np
import pytest

from relay import te
from relay.arith.expr import Symbol
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType
from relay.tir.expr import IndexValue, Load, ValueVar
from relay.tir.interpretation.interpreter import interpret
from relay.tir.stmt import For, Store
from relay.tir.text.printer import print_primfunc
from tests.messages import check_message

SOURCE = np.random.default_rng(1)


def evaluate(outputs, inputs, *arrays, shapes=None, symbols=()):
    """The outputs for these arrays."""
    tensors = outputs if isinstance(outputs, tuple) else (outputs,)
    results = [
        np.zeros(shape, tensor.dtype.numpy)
        for tensor, shape in zip(tensors, shapes or [tensor.shape for tensor in tensors], strict=True)
    ]
    interpret(te.lower(tensors, inputs), [*arrays, *results], symbols)
    return results if isinstance(outputs, tuple) else results[0]


def test_any_rank_takes_star_indices():
    for shape in [(), (3,), (2, 3), (2, 1, 3)]:
        a = te.placeholder(shape, "float32", "a")
        x = SOURCE.normal(size=shape).astype("float32")
        result = evaluate(te.compute(shape, lambda *i, a=a: te.exp(a[i])), [a], x)
        np.testing.assert_allclose(result, np.exp(x), rtol=1e-6)


@pytest.mark.parametrize(
    ("function", "reference", "dtype"),
    [
        (te.sum, np.sum, "float32"),
        (te.prod, np.prod, "float32"),
        (te.max, np.max, "float32"),
        (te.min, np.min, "int8"),
        (te.max, np.max, "uint8"),
        (te.any, np.any, "bool"),
        (te.all, np.all, "bool"),
    ],
)
def test_reduction_over_two_axes(function, reference, dtype):
    a = te.placeholder((3, 4, 5), dtype, "a")
    k, m = te.reduce_axis(3, "k"), te.reduce_axis(5, "m")
    x = (SOURCE.normal(size=(3, 4, 5)) * 3).astype(dtype)
    found = evaluate(te.compute((4,), lambda i: function(a[k, i, m], axis=(k, m))), [a], x)
    np.testing.assert_allclose(found, reference(x, axis=(0, 2)), rtol=1e-5)


def test_reduction_with_condition_and_start():
    a = te.placeholder((8,), "float32", "a")
    k = te.reduce_axis(8, "k")
    x = SOURCE.normal(size=8).astype("float32")
    body = te.compute((), lambda: te.sum(a[k], axis=k, where=te.less(k, 5), initial=10.0))
    np.testing.assert_allclose(evaluate(body, [a], x), 10 + x[:5].sum(), rtol=1e-6)


def test_two_reductions_share_their_loops():
    a = te.placeholder((4, 6), "float32", "a")
    k = te.reduce_axis(6, "k")
    both = te.compute((4,), lambda i: (te.sum(a[i, k], axis=k), te.max(a[i, k], axis=k)), name="both")
    x = SOURCE.normal(size=(4, 6)).astype("float32")
    total, top = evaluate(both, [a], x)
    np.testing.assert_allclose(total, x.sum(1), rtol=1e-5)
    np.testing.assert_array_equal(top, x.max(1))
    loops = [both[0].operation.reduce_axes, both[1].operation.reduce_axes]
    assert loops[0] == loops[1] == (k,)


def test_one_component_of_a_tuple_reduction():
    a = te.placeholder((7,), "float32", "a")
    k = te.reduce_axis(7, "k")
    pick = te.reducer(
        lambda left, right: (
            te.select(te.greater(right[1], left[1]), right[0], left[0]),
            te.maximum(left[1], right[1]),
        ),
        lambda dtypes: (te.const(-1, dtypes[0]), te.const(te.lowest(dtypes[1]), dtypes[1])),
        arity=2,
        selects=True,
    )
    index = te.compute((), lambda: pick((te.index_value(k, "int64"), a[k]), axis=k)[0])
    x = SOURCE.normal(size=7).astype("float32")
    assert evaluate(index, [a], x) == x.argmax()


def test_narrow_floats_are_summed_in_float32_and_rounded_once():
    a = te.placeholder((4096,), "bfloat16", "a")
    k = te.reduce_axis(4096, "k")
    total = te.compute((), lambda: te.sum(a[k], axis=k), name="total")
    assert total.dtype is DType.BFLOAT16
    assert evaluate(total, [a], np.ones(4096, DType.BFLOAT16.numpy)) == 4096  # NumPy gives 256


def test_formulas_of_narrow_floats_are_rounded_once():
    a = te.placeholder((64,), "float16", "a")
    cubes = te.compute((64,), lambda i: a[i] * a[i] * a[i] + 1.0)
    x = SOURCE.normal(size=64).astype("float16")
    wide = x.astype("float32")
    np.testing.assert_array_equal(evaluate(cubes, [a], x), (wide * wide * wide + 1).astype("float16"))


def test_maximum_of_narrow_floats_needs_no_wider_accumulator():
    a = te.placeholder((8,), "float16", "a")
    k = te.reduce_axis(8, "k")
    state = te.initial_state([te.compute((), lambda: te.max(a[k], axis=k), name="top")])
    assert [stage.name for stage in state.stages] == ["top"]


def test_attention_by_running_maximum_sum_and_output(programs):
    program = programs["attention"]()
    (found,) = program.run(program.lower())
    source = np.random.default_rng(0)
    q, k, v = (source.uniform(-1, 1, tensor.shape).astype("float32") for tensor in program.inputs)
    weights = np.exp(q @ k.T)
    np.testing.assert_allclose(found, weights / weights.sum(1, keepdims=True) @ v, rtol=1e-5)


def test_symbolic_extents_become_arguments():
    n, m = Symbol("n"), Symbol("m")
    a = te.placeholder((n, 2 * m), "float32", "a")
    k = te.reduce_axis(2 * m, "k")
    rows = te.compute((n,), lambda i: te.sum(a[i, k], axis=k), name="rows")
    assert te.lower(rows, [a]).symbols == (n, m)
    x = SOURCE.normal(size=(3, 8)).astype("float32")
    found = evaluate(rows, [a], x, shapes=[(3,)], symbols=[3, 4])
    np.testing.assert_allclose(found, x.sum(1), rtol=1e-5)


def test_gather_reads_at_machine_integers():
    table, rows = te.placeholder((9, 4), "float32", "table"), te.placeholder((3,), "int32", "rows")
    x, picks = SOURCE.normal(size=(9, 4)).astype("float32"), np.array([8, 0, 3], "int32")
    found = evaluate(te.compute((3, 4), lambda i, j: table[rows[i], j]), [table, rows], x, picks)
    np.testing.assert_array_equal(found, x[picks])


def test_lstm_like_scan_with_two_states():
    x = te.placeholder((5, 3), "float32", "x")
    cell, hidden = te.placeholder((5, 3), "float32", "cell"), te.placeholder((5, 3), "float32", "hidden")
    zero = te.compute((1, 3), lambda t, i: te.const(0.0, "float32"), name="zero")
    zeros = te.compute((1, 3), lambda t, i: te.const(0.0, "float32"), name="zeros")
    c = te.compute((5, 3), lambda t, i: te.sigmoid(hidden[t - 1, i]) * cell[t - 1, i] + x[t, i], name="c")
    h = te.compute((5, 3), lambda t, i: te.tanh(c[t, i]) * te.sigmoid(x[t, i]), name="h")
    cells, hiddens = te.scan([zero, zeros], [c, h], [cell, hidden], name="lstm")
    data = SOURCE.normal(size=(5, 3)).astype("float32")
    found = evaluate((cells, hiddens), [x], data)
    sigmoid = lambda value: 1 / (1 + np.exp(-value))  # noqa: E731
    c_now, h_now = np.zeros(3), np.zeros(3)
    for t in range(1, 5):
        c_now = sigmoid(h_now) * c_now + data[t]
        h_now = np.tanh(c_now) * sigmoid(data[t])
        np.testing.assert_allclose(found[0][t], c_now, rtol=1e-5)
        np.testing.assert_allclose(found[1][t], h_now, rtol=1e-5)


def test_extern_emits_its_own_loops():
    a = te.placeholder((4,), "float32", "a")
    doubled = te.compute((4,), lambda i: a[i] * 2.0, name="doubled")

    def reverse(inputs, outputs):
        i = Symbol("i")
        return For(i, 4, Store(outputs[0], (3 - i,), Load(inputs[0], (i,))))

    (flipped,) = te.extern([(4,)], ["float32"], [doubled], reverse, name="flipped")
    x = np.arange(4, dtype="float32")
    np.testing.assert_array_equal(evaluate(flipped, [a], x), 2 * x[::-1])


A = te.placeholder((4, 4), "float32", "a")
K = te.reduce_axis(4, "k")


STATE, WIDER = te.placeholder((4, 4), "float32", "state"), te.placeholder((4, 5), "float32", "state")
REFUSED = {
    "tensor `a` is indexed with 1 indices": lambda: A[1],
    "has 1 axes, and its body takes 2 indices": lambda: te.compute((4,), lambda i, j: A[i, j]),
    "gives reductions and plain values": lambda: te.compute((4,), lambda i: (A[i, i], te.sum(A[i, K], axis=K))),
    "over different axes": lambda: te.compute((4,), lambda i: (te.sum(A[i, K], K), te.sum(A[i, i], te.reduce_axis(2)))),
    "cannot have these ranks": lambda: te.compute((4, 4), lambda i, j: (A[i, j], A[i, j]), ranks=(1, 2)),
    "output 0, `a`, is not computed": lambda: te.lower(A, [A]),
    "`a` is read, but is neither computed nor given": lambda: te.lower(te.compute((4,), lambda i: A[i, i]), []),
    "the parts of scan `scan` do not fit": lambda: te.scan(A, A, WIDER),
    "is not an update of scan `scan` alone": lambda: te.lower(te.scan(A, A, STATE), [A]),
}


@pytest.mark.parametrize("message", REFUSED)
def test_wrong_expressions_are_refused(message):
    with pytest.raises(RelayError, match=message):
        REFUSED[message]()


@pytest.mark.parametrize(
    ("name", "body"),
    [
        ("quotient_of_a_reduction", lambda i: te.sum(A[i, K], axis=K) / 32.0),
        ("function_of_a_reduction", lambda i: te.maximum(te.exp(te.sum(A[i, K], axis=K)), 0.0)),
        ("reduction_of_a_reduction", lambda i: te.sum(te.sum(A[i, K], axis=K), axis=K)),
        ("reduce_axis_without_reduction", lambda i: A[i, K]),
        ("reduce_axis_of_another", lambda i: te.max(A[i, K], axis=te.reduce_axis(4, "j"))),
        ("an_index", lambda i: 2 * i + 1),
        ("a_number", lambda i: 1.0),
        ("a_truth", lambda i: True),
        ("a_tensor", lambda i: A),
        ("a_list", lambda i: [A[i, 0]]),
        ("nothing", lambda i: None),
        ("no_results", lambda i: ()),
        ("one_result_that_is_none", lambda i: (A[i, 0], i)),
    ],
)
def test_what_a_body_may_not_be_or_hold(name, body):
    with pytest.raises(RelayError) as caught:
        te.compute((4,), body, name="mean")
    check_message("te", name, caught.value)


def test_comparisons_of_indices_are_holds_and_of_numbers_compares():
    i = te.reduce_axis(4, "i")
    assert str(te.greater_equal(i, 2).condition) == "2 <= i"
    assert te.less(ValueVar("x", DType.INT32), 2).dtype is DType.BOOL
    assert te.less(i, ValueVar("x", DType.INT32)).left == IndexValue(i, DType.INT32)


def test_lowering_is_deterministic(programs):
    texts = {print_primfunc(programs["conv"]().lower()) for _ in range(3)}
    assert len(texts) == 1
