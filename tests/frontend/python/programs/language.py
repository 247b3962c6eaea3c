"""Forms of the language: assignments, arguments, dicts, strings, closures, indices, functions of other libraries."""

# As people write it:
# ruff: noqa: B023, B905, C416, E501, E731, E741, F821

import functools
import itertools
import math
import operator

import numpy as np

import relay

from .inputs import runs

V = relay.Tensor[(4,)]
M = relay.Tensor[(3, 4)]
C = relay.Tensor[(2, 3, 4)]
I = relay.Tensor[(4,), "int32"]
VECTOR = np.array([1, -2, 3, 0.5], np.float32)
MATRIX = np.arange(12, dtype=np.float32).reshape(3, 4) - 4
CUBE = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
WHOLE = np.array([3, 1, 2, 0], np.int32)
SIZES = {"small": 2, "large": 8}
MODE = "fast"


@runs((5,), (50,))
def walrus(n: int):
    if (double := n * 2) > 20:
        return double
    ys = [y for x in range(n) if (y := x * x) > 4]
    while (n := n - 1) > 2:
        double += n
    return double + len(ys)


@runs(
    (1, 2, 3),
)
def variadic(a: int, b: int, c: int):
    def total(*args):
        result = 0
        for each in args:
            result += each
        return result

    def scaled(first, *rest, by=2):
        return first + by * sum(rest)

    xs = (a, b, c)
    return total(), total(a), total(a, b, c), total(*xs), scaled(*xs), scaled(a, b, by=5), max(*xs), len(xs)


@runs(
    (1, 2),
)
def keywords(a: int, b: int):
    def f(x, y=1, **options):
        return x * y + options.get("bias", 0) + len(options)

    settings = {"y": b, "bias": 10}
    return f(a), f(a, **settings), f(x=a, y=3)


@runs(
    ([1, 2, 3, 4],),
)
def starred(xs: list[int]):
    head, *tail = xs
    first, second, *_ = xs
    *init, last = xs
    a, *m, z = (1, 2, 3, 4, 5)
    return head, tail, first + second, init, last, m, [*xs, 9, *tail], a + z


@runs(
    (MATRIX,),
)
def starred_tensor(m: M):
    first, *others = m
    a, b, *_ = m[0]
    return first, len(others), others[1], a + b


@runs((2,), (7,))
def dicts(n: int):
    prices = {"apple": 3, "pear": n}
    prices["fig"] = prices["apple"] + 1
    total = 0
    for name, price in prices.items():
        if name != "fig":
            total += price
    return total, len(prices), sum(prices.values()), prices.get("kiwi", -1), "pear" in prices, SIZES["large"] * n


@runs(
    (2,),
)
def dict_comprehension(n: int):
    squares = {i: i * n for i in range(4)}
    merged = {**squares, 9: n}
    return squares[3], merged[9], [k for k in merged], max(merged.values())


@runs(
    (VECTOR,),
)
def strings(x: V):
    name = f"{MODE}-{len(x)}"
    layer = "layer" + str(1)
    if name == "fast-4" and layer.endswith("1"):
        return x * 2
    return x


@runs(
    (3,),
)
def messages(n: int):
    assert n > 0, f"{MODE}: n must be positive"
    return n


@runs(
    (10,),
)
def closures_see_the_last_value(n: int):
    fs = [lambda x: x + i for i in range(3)]
    gs = [lambda x, i=i: x + i for i in range(3)]
    hs = []
    for k in (1, 2, 3):
        hs.append(lambda x: x * k)
    return [f(n) for f in fs], [g(n) for g in gs], [h(n) for h in hs]


@runs(
    (10,),
)
def late_binding(n: int):
    def f():
        return n + m

    m = 1
    first = f()
    m = 5
    return first, f()


@runs(
    (4,),
)
def builtin_reductions(n: int):
    xs = [i - 2 for i in range(n)]
    return (
        any(x > 0 for x in xs), all(x > -5 for x in xs), sum(abs(x) for x in xs), max(xs, default=0), min(xs),
        max(abs(x) for x in xs), min(3, 1, n), sum(xs, 10),
    )  # fmt: skip


@runs(
    (4,),
)
def functools_and_operator(n: int):
    xs = list(range(1, n + 1))
    add = functools.partial(operator.add, 10)
    return functools.reduce(operator.mul, xs), functools.reduce(lambda a, b: a + b, xs, 5), add(n)


@runs(
    (3,),
)
def iteration_tools(n: int):
    total = 0
    for i, j in itertools.product(range(2), range(3)):
        total += i * j * n
    pairs = [(a, b) for a, b in itertools.combinations((1, 2, 3), 2)]
    return total, len(pairs), list(itertools.chain([n], [n + 1]))


@runs(
    (0.5, 3),
)
def math_functions(x: float, n: int):
    return (
        math.sqrt(x), math.exp(x), math.log(x), math.sin(x), math.cos(x), math.tanh(x), math.floor(x), math.ceil(x),
        math.pow(x, 2), math.fabs(-x), math.pi * x, math.log2(x), math.isnan(x), math.atan2(x, 1.0), math.hypot(x, 1.0),

    )  # fmt: skip


@runs(
    (VECTOR, MATRIX, CUBE),
)
def indexing(x: V, m: M, c: C):
    return (
        x[-1], x[::2], x[::-1], x[-2:], m[..., 0], m[1:, ::-2], m[None].shape[0], m[:, np.newaxis, 1], c[..., -1, :],
        c[1, :, 2:], c[:, 0][1], x[1:3][0], m[-1, -1], m[::-1, ::2],
    )  # fmt: skip


@runs(
    (CUBE, np.array([1, 0], np.int32), np.array([2, 1], np.int32)),
)
def fancy_indexing(c: C, i: relay.Tensor[(2,), "int32"], j: relay.Tensor[(2,), "int32"]):
    return (
        c[i], c[:, j], c[i, j], c[i, j, 0], c[:, :, j], c[i, :, 1], c[i[:, None], j], c[0, j], c[..., j], c[:, i, j],
        c[[0, 1], [2, 2]], c[1][[0, -1]],
    )  # fmt: skip


@runs(
    (MATRIX, VECTOR, np.array([True, False, True])),
)
def boolean_indexing(m: M, x: V, b: relay.Tensor[(3,), "bool"]):
    return m[b], m[m > 0].sum(), x[(x > 0) & (x < 2)], m[b].mean(axis=0), m[:, x > 0], m[b, 1], x[~(x > 0)]


@runs(
    (MATRIX, VECTOR, 1),
)
def slice_assignment(m: M, x: V, i: int):
    y = np.zeros_like(m)
    y[0] = x
    y[i] = x * 2
    y[2, 1:3] = 7.0
    y[:, 0] = -1.0
    y[1:, 3] = y[1:, 2]
    y[y > 5] = 5.0
    z = m.copy()
    z[::2] *= 2
    z[-1] += x
    z[:, i] -= 1
    w = np.empty((2, 2))
    w[...] = 3.0
    w[0][1] = 4.0
    return y, z, w


@runs(
    (VECTOR, WHOLE),
)
def promotion(x: V, i: I):
    return (
        x + i, i / 2, i * 2.5, (x > 0) * x, (x > 0) + i, np.where(x > 0, x, 0), np.where(i > 1, i, 0.5), i // 2,
        np.maximum(x, i), np.concatenate([x, i]), x * True, np.mean(i), i.sum() / 2, i**2, 2**i, np.stack([x, i]),
        i + np.float32(0.5), (i > 1).sum(), np.dot(x, i), x.astype(int), np.sqrt(i), -(x > 0).astype(np.int32),
    )  # fmt: skip


@runs(
    (VECTOR, MATRIX),
)
def numpy_arrangements(x: V, m: M):
    return (
        np.linspace(0, 1, 5), np.eye(3), np.identity(2), np.diag(x), np.diag(m[:, :3]), np.tile(x, 2), np.repeat(x, 2),
        np.concatenate((x, x)), np.hstack((m, m)), np.array_split(x, 2), np.squeeze(m[None]), np.ravel(m), m.flatten(),
        np.atleast_2d(x), np.rot90(m), np.append(x, 1.0), np.cross(x[:3], x[1:]), np.kron(x[:2], x[:2]), m.T.shape,


    )  # fmt: skip


@runs(
    (VECTOR, MATRIX, WHOLE),
)
def numpy_reductions(x: V, m: M, i: I):
    return (
        np.sum(m), np.sum(m, axis=0), np.prod(x), np.mean(m, 1), np.amax(m), np.amin(m, axis=1), np.nansum(x), np.median(x),
        np.argmax(m), np.argmin(m, axis=0), np.cumsum(m, axis=1), np.cumprod(x), np.all(x > -3), np.any(m > 5, axis=0),
        np.var(x), np.std(m, axis=0, ddof=1), np.quantile(x, 0.5), np.percentile(x, 25), np.average(x, weights=np.abs(x)),
        np.linalg.norm(x, 1), np.count_nonzero(m > 0, axis=1), np.max(m, axis=(0, 1)),
        m.sum(1), m.sum(axis=(0, 1)), m.mean(), x.std(), x.argmax(), m.prod(axis=0), m.cumsum(), (m > 0).all(axis=1),
    )  # fmt: skip


@runs(
    (VECTOR, MATRIX, WHOLE),
)
def numpy_elements(x: V, m: M, i: I):
    return (
        np.abs(x), np.absolute(x), np.fabs(x), np.sign(x), np.square(x), np.sqrt(np.abs(x)), np.cbrt(np.abs(x)), np.exp2(x), np.expm1(x),
        np.log1p(np.abs(x)), np.log(np.abs(x)), np.sin(x), np.arctan2(x, x + 5), np.hypot(x, x), np.sinh(x), np.power(x, 2), np.float_power(np.abs(x), 0.5),
        np.reciprocal(x), np.clip(x, -1, 1), np.clip(x, 0, None), np.maximum(x, 0), np.fmax(x, 0), np.heaviside(x, 0.5), np.isfinite(x), np.isclose(x, 1.0),
        np.logical_and(x > 0, x < 2), np.invert(x > 0), np.mod(i, 3), np.fmod(x, 2.0), np.deg2rad(x), np.rad2deg(x), np.degrees(x),
        np.nan_to_num(x), np.negative(x), np.bitwise_and(i, 1), np.floor_divide(i, 2), np.copysign(x, -1.0), np.logaddexp(x, 0.0), np.trunc(x),
        np.divmod(i, 2)[1], np.select([x > 1, x < 0], [x, -x], 0.0),
    )  # fmt: skip


@runs(
    (VECTOR, MATRIX, CUBE),
)
def numpy_products(x: V, m: M, c: C):
    return (
        m @ x, x @ m.T, np.dot(m, x), m.dot(x), np.inner(x, x), np.outer(x, x), np.einsum("ij,j->i", m, x),
        np.einsum("bij,kj->bik", c, m), np.matmul(c, x), c @ m.T, np.vdot(x, x), np.einsum("ij,ij->", m, m),
        np.trace(m), c.swapaxes(1, 2) @ c, np.linalg.norm(m, axis=1),
    )  # fmt: skip


@runs(
    (VECTOR, WHOLE),
)
def numpy_searches(x: V, i: I):
    return (
        np.sort(x), np.argsort(-x), np.sort(x)[::-1], np.unique(i), np.searchsorted(np.sort(x), 1.0), np.nonzero(x > 0)[0], np.where(x > 0)[0],
        np.argwhere(i > 1), np.isin(i, [1, 3]), np.flip(x), np.digitize(x, np.array([0.0, 1.0])), np.array_equal(x, x), np.extract(x > 0, x),
        x[np.argsort(x)], np.take_along_axis(x, np.argsort(x), 0),
    )  # fmt: skip


@runs(
    (VECTOR, 3),
)
def number_methods(x: V, n: int):
    a = x[0].item()
    b = float(x.sum())
    return (
        a + b,
        x.tolist(),
        len(x.tolist()),
        x.size,
        x.ndim,
        x.dtype == np.float32,
        x.max().item(),
        int(x[2]),
        abs(-n),
        pow(n, 2),
    )


@runs(
    (3, 4),
)
def conditions(a: int, b: int):
    x = a or b
    y = a and b
    z = not a
    w = (a < b) == True  # noqa: E712
    u = 0 < a <= 3 < b
    return (
        x,
        y,
        z,
        w,
        u,
        a == 3 != b,
        bool(a) ^ bool(b),
        a if a > b else b,
        (a, b) == (3, 4),
        (a, b) < (3, 5),
    )


@runs(
    (6,),
)
def loops_with_everything(n: int):
    out = []
    for i in range(n):
        if i == 1:
            continue
        for j in range(i, n, 2):
            if j > 4:
                break
            out.append(i * 10 + j)
        else:
            out.append(-i)
    while True:
        n -= 1
        if n < 3:
            break
    return out, n


@runs(
    (3,),
)
def nested_data(n: int):
    grid = [[i * j for j in range(n)] for i in range(n)]
    grid[1][2] = 50
    (a, b), [c, *_] = (n, n + 1), [7, 8]
    pairs = list(enumerate(["x", "y"]))
    swapped = [(y, x) for x, y in zip(grid[0], grid[1])]
    return grid, a + b + c, len(pairs), swapped


@runs(
    (5,),
)
def returns_functions(n: int):
    def adder(k):
        def add(x):
            return x + k

        return add

    plus, times = adder(3), lambda x: x * n
    apply = lambda f, *args: f(*args)
    table = {"plus": plus, "times": times}
    return plus(n), apply(times, 4), table["plus"](1), [f(2) for f in (plus, times)], (lambda: n)()


@runs(
    (4,),
)
def accumulates_by_nonlocal(n: int):
    total = 0

    def add(x):
        nonlocal total
        total += x

    for i in range(n):
        add(i)
    return total


@runs((VECTOR, WHOLE))
def rare_functions_of_numpy(x: V, i: I):
    return np.bincount(i, minlength=5), np.insert(x, 1, 9.0), np.convolve(x, x[:2], mode="valid")


@runs((VECTOR, MATRIX))
def functions_of_matrices(x: V, m: M):
    return np.linalg.matrix_power(m[:, :3], 2), np.cov(m)


@runs((0.5, 15), (2.675, 25), (-0.004, -25), (15.0, 12345), (1e6, 4), (2.345, 250))
def rounds_to_digits(x: float, n: int):
    return (
        round(x, 2),
        round(x, 0),
        round(x, -1),
        round(x, 5),
        round(n, -1),
        round(n, -2),
        round(n + 1, 1),
        round(x, None),
    )


@runs((3,))
def factorial_of_a_computed_number(n: int):
    return math.factorial(n)


@runs((3,))
def chooses_a_string(a: int):
    kind = "big" if a > 2 else "small"
    return 1 if kind == "big" else 2
