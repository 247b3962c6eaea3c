"""Programs, their text, and running them: what the tests of tensor expressions share."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from relay import te
from relay.arith.expr import IntExpr, Symbol, evaluate, maximum, minimum
from relay.te.tensor import Tensor
from relay.tir.buffer import Scope
from relay.tir.expr import Load, Value
from relay.tir.hierarchy import PLAIN, Hierarchy, Queue, ThreadAxis
from relay.tir.interpretation.interpreter import interpret
from relay.tir.stmt import PrimFunc, Stmt, Store

GOLDEN = Path(__file__).parent.parent / "golden"


@dataclass(frozen=True)
class Program:
    """A tensor expression, and the extents at which it is run when they are symbols."""

    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    symbols: tuple[tuple[Symbol, int], ...] = ()

    def lower(self, steps: Sequence[te.Step] = (), hierarchy: Hierarchy = PLAIN) -> PrimFunc:
        return te.lower(self.outputs, self.inputs, steps, intrinsics=INTRINSICS, hierarchy=hierarchy)

    def run(self, func: PrimFunc, seed: int = 0) -> list[np.ndarray]:
        """The outputs of `func` on numbers that depend on nothing but this program."""
        source = np.random.default_rng(0)
        extents = dict(self.symbols)

        def shape(tensor: Tensor) -> tuple[int, ...]:
            return tuple(evaluate(extent, extents) for extent in tensor.shape)

        arrays = [_random(source, shape(tensor), tensor.dtype.numpy) for tensor in self.inputs]
        results = [np.zeros(shape(tensor), tensor.dtype.numpy) for tensor in self.outputs]
        interpret(func, [*arrays, *results], extents, seed=seed)
        return results

    def check(self, steps: Sequence[te.Step], hierarchy: Hierarchy = PLAIN, seed: int = 0) -> PrimFunc:
        """The scheduled function, which gives what the unscheduled one does."""
        func = self.lower(steps, hierarchy)
        for found, expected in zip(self.run(func, seed), self.run(self.lower()), strict=True):
            np.testing.assert_allclose(
                found.astype(np.float64), expected.astype(np.float64), rtol=1e-4, atol=1e-5, equal_nan=True
            )
        return func


def _random(source: np.random.Generator, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    if dtype.kind in "iu":
        return source.integers(0, 4, shape).astype(dtype)
    return source.uniform(-1, 1, shape).astype(dtype)


def elementwise(extent: int = 64) -> Program:
    a = te.placeholder((extent,), "float32", "a")
    b = te.compute((extent,), lambda i: a[i] * 2.0, name="b")
    return Program((a,), (te.compute((extent,), lambda i: b[i] + 1.0, name="c"),))


def rows(extent: IntExpr = 5) -> Program:
    """Two stages over rows, of which the call may know the number."""
    a = te.placeholder((extent, 4), "float32", "a")
    b = te.compute((extent, 4), lambda i, j: a[i, j] * 2.0, name="b")
    c = te.compute((extent, 4), lambda i, j: b[i, j] + 1.0, name="c")
    return Program((a,), (c,), ((extent, 5),) if isinstance(extent, Symbol) else ())


def row_sum(rows: int = 4, columns: int = 20) -> Program:
    a = te.placeholder((rows, columns), "float32", "a")
    k = te.reduce_axis(columns, "k")
    return Program((a,), (te.compute((rows,), lambda i: te.sum(a[i, k], axis=k), name="total"),))


def column_sum() -> Program:
    """Over a symbolic number of rows."""
    n = Symbol("n")
    a = te.placeholder((n, 4), "float32", "a")
    k = te.reduce_axis(n, "k")
    return Program((a,), (te.compute((4,), lambda i: te.sum(a[k, i], axis=k), name="total"),), ((n, 5),))


def statistics(rows: int = 4, columns: int = 20) -> Program:
    """The mean and the largest element of each row, and the distance of one from the other."""
    a = te.placeholder((rows, columns), "float32", "a")
    k, l = te.reduce_axis(columns, "k"), te.reduce_axis(columns, "l")  # noqa: E741
    total = te.compute((rows,), lambda i: te.sum(a[i, k], axis=k), name="total")
    mean = te.compute((rows,), lambda i: total[i] / columns, name="mean")
    top = te.compute((rows,), lambda r: te.max(a[r, l], axis=l), name="top")
    m = te.reduce_axis(columns, "m")
    spread = te.compute((rows,), lambda i: te.sum(te.abs(a[i, m] - mean[i]), axis=m), name="spread")
    return Program((a,), (mean, te.compute((rows,), lambda i: top[i] - mean[i], name="above"), spread))


def dense(m: int = 30, n: int = 64, k: int = 12, width: int = 32) -> Program:
    """A matrix times packed weights, with bias and relu."""
    a = te.placeholder((m, k), "float32", "a")
    w = te.placeholder((n // width, k, width), "float32", "w")
    bias = te.placeholder((n,), "float32", "bias")
    r = te.reduce_axis(k, "k")
    product = te.compute((m, n), lambda i, j: te.sum(a[i, r] * w[j // width, r, j % width], axis=r), name="dense")
    biased = te.compute((m, n), lambda i, j: product[i, j] + bias[j], name="biased")
    return Program((a, w, bias), (te.compute((m, n), lambda i, j: te.maximum(biased[i, j], 0.0), name="relu"),))


def matmul(m: int = 8, n: int = 8, k: int = 8) -> Program:
    a, b = te.placeholder((m, k), "float32", "a"), te.placeholder((k, n), "float32", "b")
    r = te.reduce_axis(k, "k")
    return Program((a, b), (te.compute((m, n), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="c"),))


def conv(size: int = 6, channels: int = 2, filters: int = 32, kernel: int = 3, stride: int = 1) -> Program:
    """A padded NHWC convolution with packed weights, bias, residual and relu."""
    pad, width = kernel // 2, 16
    out = (size + 2 * pad - kernel) // stride + 1
    x = te.placeholder((1, size, size, channels), "float32", "x")
    w = te.placeholder((filters // width, kernel, kernel, channels, width), "float32", "w")
    bias = te.placeholder((filters,), "float32", "bias")
    residual = te.placeholder((1, out, out, filters), "float32", "residual")
    shape = (1, out, out, filters)
    padded = te.compute(
        (1, size + 2 * pad, size + 2 * pad, channels),
        lambda n, h, w, c: te.select(
            te.all_of([te.within(h - pad, 0, size), te.within(w - pad, 0, size)]), x[n, h - pad, w - pad, c], 0.0
        ),
        name="padded",
    )
    kh, kw, ic = te.reduce_axis(kernel, "kh"), te.reduce_axis(kernel, "kw"), te.reduce_axis(channels, "ic")
    sums = te.compute(
        shape,
        lambda n, oh, ow, oc: te.sum(
            padded[n, oh * stride + kh, ow * stride + kw, ic] * w[oc // width, kh, kw, ic, oc % width],
            axis=(kh, kw, ic),
        ),
        name="conv",
    )
    biased = te.compute(shape, lambda n, oh, ow, oc: sums[n, oh, ow, oc] + bias[oc], name="biased")
    added = te.compute(shape, lambda n, oh, ow, oc: biased[n, oh, ow, oc] + residual[n, oh, ow, oc], name="added")
    relu = te.compute(shape, lambda n, oh, ow, oc: te.maximum(added[n, oh, ow, oc], 0.0), name="relu")
    return Program((x, w, bias, residual), (relu,))


def softmax(columns: int = 20) -> Program:
    """Over the last axis of a symbolic number of rows."""
    n = Symbol("n")
    x = te.placeholder((n, columns), "float32", "x")
    k, l = te.reduce_axis(columns, "k"), te.reduce_axis(columns, "k")  # noqa: E741
    top = te.compute((n,), lambda i: te.max(x[i, k], axis=k), name="top")
    raised = te.compute((n, columns), lambda i, j: te.exp(x[i, j] - top[i]), name="raised")
    total = te.compute((n,), lambda i: te.sum(raised[i, l], axis=l), name="total")
    return Program((x,), (te.compute((n, columns), lambda i, j: raised[i, j] / total[i], name="softmax"),), ((n, 5),))


def blur(size: int = 18) -> Program:
    """Two stencils, one after the other."""
    x = te.placeholder((size, size), "float32", "x")
    across = te.compute((size, size - 2), lambda i, j: x[i, j] + x[i, j + 1] + x[i, j + 2], name="across")
    down = te.compute(
        (size - 2, size - 2), lambda i, j: across[i, j] + across[i + 1, j] + across[i + 2, j], name="down"
    )
    return Program((x,), (down,))


def clamped(size: int = 10) -> Program:
    """Reads with clamped indices, and every second element."""
    x = te.placeholder((2 * size,), "float32", "x")
    halves = te.compute((2 * size,), lambda i: x[i] * 0.5, name="halves")
    shape = (size,)

    def body(i: te.Axis) -> Value:
        return halves[minimum(maximum(2 * i - 3, 0), 2 * size - 1)] + halves[2 * i + 1]

    return Program((x,), (te.compute(shape, body, name="picked"),))


def gather() -> Program:
    rows = te.placeholder((5,), "int64", "rows")
    table = te.placeholder((4, 12), "float32", "table")
    scaled = te.compute((4, 12), lambda i, j: table[i, j] * 3.0, name="scaled")
    return Program((rows, table), (te.compute((5, 12), lambda i, j: scaled[rows[i], j], name="taken"),))


def argmax() -> Program:
    x = te.placeholder((6, 12), "float32", "x")
    k = te.reduce_axis(12, "k")
    pick = te.reducer(
        lambda left, right: (
            te.select(_wins(right, left), right[0], left[0]),
            te.select(_wins(right, left), right[1], left[1]),
        ),
        lambda dtypes: (te.const(2**31 - 1, dtypes[0]), te.const(te.lowest(dtypes[1]), dtypes[1])),
        arity=2,
        name="argmax",
        selects=True,
    )
    outputs = te.compute((6,), lambda i: pick((te.index_value(k, "int32"), x[i, k]), axis=k), name="argmax")
    return Program((x,), tuple(outputs))


def _wins(new: tuple[Value, ...], old: tuple[Value, ...]) -> Value:
    """A larger value wins, and of equal ones the first."""
    earlier = te.logical_and(te.equal(new[1], old[1]), te.less(new[0], old[0]))
    return te.logical_or(te.greater(new[1], old[1]), earlier)


def recurrence() -> Program:
    """h[t] = tanh(h[t-1] w + x[t])."""
    x, w = te.placeholder((6, 4), "float32", "x"), te.placeholder((4, 4), "float32", "w")
    state = te.placeholder((6, 4), "float32", "state")
    k = te.reduce_axis(4, "k")
    first = te.compute((1, 4), lambda t, i: x[t, i], name="first")
    product = te.compute((6, 4), lambda t, i: te.sum(state[t - 1, k] * w[k, i], axis=k), name="product")
    update = te.compute((6, 4), lambda t, i: te.tanh(product[t, i] + x[t, i]), name="update")
    return Program((x, w), (te.scan(first, update, state, name="hidden"),))


def attention(queries: int = 4, keys: int = 12, block: int = 4, depth: int = 5, width: int = 8) -> Program:
    """Softmax of q k^T times v, block by block of keys: a running maximum, a running sum and a running output."""
    q, k = te.placeholder((queries, depth), "float32", "q"), te.placeholder((keys, depth), "float32", "k")
    v = te.placeholder((keys, width), "float32", "v")
    blocks, d = keys // block, te.reduce_axis(depth, "d")
    j, l, m = (te.reduce_axis(block, name) for name in ("j", "l", "m"))  # noqa: E741
    b = te.reduce_axis(blocks, "b")
    scores = te.compute((queries, keys), lambda i, t: te.sum(q[i, d] * k[t, d], axis=d), name="scores")
    top = te.compute((queries, blocks), lambda i, p: te.max(scores[i, p * block + j], axis=j), name="top")
    raised = te.compute((queries, keys), lambda i, t: te.exp(scores[i, t] - top[i, t // block]), name="raised")
    total = te.compute((queries, blocks), lambda i, p: te.sum(raised[i, p * block + l], axis=l), name="total")
    part = te.compute(
        (queries, blocks, width),
        lambda i, p, c: te.sum(raised[i, p * block + m] * v[p * block + m, c], axis=m),
        name="part",
    )
    running = te.reducer(
        _rescaled,
        lambda dtypes: (te.const(te.lowest(dtypes[0]), dtypes[0]), te.const(0, dtypes[1]), te.const(0, dtypes[2])),
        arity=3,
        name="running",
    )
    _, sums, sofar = te.compute(
        (queries, width),
        lambda i, c: running((top[i, b], total[i, b], part[i, b, c]), axis=b),
        name="running",
        ranks=(1, 1, 2),
    )
    return Program((q, k, v), (te.compute((queries, width), lambda i, c: sofar[i, c] / sums[i], name="attention"),))


def _rescaled(old: tuple[Value, ...], new: tuple[Value, ...]) -> tuple[Value, ...]:
    """(maximum, sum, output) of two blocks from those of each."""
    top = te.maximum(old[0], new[0])
    left, right = te.exp(old[0] - top), te.exp(new[0] - top)
    return top, old[1] * left + new[1] * right, old[2] * left + new[2] * right


def row_intrinsic() -> te.TensorIntrinsic:
    """output[0:8] += scalar * row[0:8], as one vector operation."""
    scalar, row = te.placeholder((), "float32", "scalar"), te.placeholder((8,), "float32", "row")
    once = te.reduce_axis(1, "once")
    result = te.compute((8,), lambda j: te.sum(scalar[()] * row[j], axis=once), name="row_times_scalar")

    def emit(inputs: tuple[te.View, ...], output: te.View) -> Stmt:
        lanes = output.vector(0, lanes=8)
        product = Load(inputs[1].buffer, inputs[1].vector(0, lanes=8)) * inputs[0].load()
        return Store(output.buffer, lanes, Load(output.buffer, lanes) + product)

    return te.TensorIntrinsic("fma8", result, (scalar, row), emit)


INTRINSICS = (row_intrinsic(),)

SHARED = Scope("shared", "block", capacity_bytes=4096, word_bytes=4)
GPU = Hierarchy(
    levels=("device", "block", "thread"),
    scopes=(SHARED,),
    threads=(
        ThreadAxis("threadIdx.x", "thread"),
        ThreadAxis("threadIdx.y", "thread"),
        ThreadAxis("blockIdx.x", "block"),
        ThreadAxis("blockIdx.y", "block"),
    ),
    barriers=("block",),
    queues=(Queue("copy"),),
)
SUBGROUPS = Hierarchy(
    levels=("device", "block", "subgroup", "thread"),
    scopes=(SHARED, Scope("lanes", "subgroup", capacity_bytes=512, word_bytes=4)),
    threads=(ThreadAxis("lane", "thread"), ThreadAxis("subgroup", "subgroup"), ThreadAxis("block", "block")),
    barriers=("block", "subgroup"),
)
SHUFFLES = replace(SUBGROUPS, scopes=(SHARED,), lanes=("lane",))
CORE = Hierarchy(
    levels=("device", "core"),
    scopes=(Scope("tiles", "core", capacity_bytes=1024), Scope("sums", "core", capacity_bytes=2048)),
    queues=(Queue("load", reads=("global",), writes=("tiles",)), Queue("gather", ordered=False), Queue("compute")),
)
HIERARCHIES = {"plain": PLAIN, "gpu": GPU, "subgroups": SUBGROUPS, "shuffles": SHUFFLES, "core": CORE}

PROGRAMS: dict[str, Callable[[], Program]] = {
    "elementwise": elementwise,
    "elementwise_50": lambda: elementwise(50),
    "row_sum": row_sum,
    "column_sum": column_sum,
    "statistics": statistics,
    "matmul": matmul,
    "dense": dense,
    "dense_small": lambda: dense(7, 8, 6, 4),
    "conv": conv,
    "conv_small": lambda: conv(size=3, channels=2, filters=16),
    "conv_stride_2": lambda: conv(stride=2),
    "softmax": softmax,
    "blur": blur,
    "clamped": clamped,
    "gather": gather,
    "argmax": argmax,
    "recurrence": recurrence,
    "attention": attention,
}


@pytest.fixture(scope="session")
def programs() -> dict[str, Callable[[], Program]]:
    return PROGRAMS


@pytest.fixture(scope="session")
def hierarchies() -> dict[str, Hierarchy]:
    return HIERARCHIES


@pytest.fixture(scope="session")
def golden() -> Callable[[Path, str], None]:
    """Compare with the text of a file, or rewrite the file when UPDATE_GOLDEN is set."""

    def check(path: Path, text: str) -> None:
        if os.environ.get("UPDATE_GOLDEN"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        assert path.read_text() == text

    return check
