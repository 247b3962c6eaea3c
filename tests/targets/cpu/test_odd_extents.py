"""Products, moves, poolings and sums at extents that no vector divides, with values that are no numbers too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import pytest

import relay
from tests.targets.cpu.groups import SPECIAL

TARGETS = (
    "llvm -num-threads=2",
    "llvm -mattr=+avx,+avx2,+fma,-avx512f -num-threads=1",
    "llvm -mcpu=x86-64 -num-threads=1",
)
SMALL_CACHE = "llvm -num-threads=2 -l2-bytes=4096"
"""With it every second matrix is far away, and its panels are packed."""


def values(*shape: int, special: float = 0.01) -> np.ndarray:
    random = np.random.default_rng(sum(shape))
    result = random.standard_normal(shape, dtype=np.float32)
    chosen = random.random(shape) < special
    result[chosen] = random.choice(SPECIAL, int(chosen.sum()))
    return result


Formula: TypeAlias = tuple[Callable[..., relay.Expr], tuple[np.ndarray, ...], bool]
"""What is computed, of which arrays, and whether to the last bit."""


def check(
    make: Callable[..., relay.Expr], *arrays: np.ndarray, target: str, bits: bool = False, opt_level: int = 3
) -> None:
    """Native code against the interpreter, whose operators are NumPy's; `bits`: to the last one."""
    check_all([(make, arrays, bits)], target, opt_level)


def check_all(formulas: Sequence[Formula], target: str, opt_level: int = 3) -> None:
    """`check` of each formula; they are compiled together, each on inputs of its own."""
    inputs = [[relay.var(f"p{i}", shape=each.shape, dtype="float32") for each in arrays]
              for i, (_, arrays, _) in enumerate(formulas)]  # fmt: skip
    results = relay.Tuple([make(*own) for (make, _, _), own in zip(formulas, inputs, strict=True)])
    function = relay.Function([each for own in inputs for each in own], results)
    given = [each for _, arrays, _ in formulas for each in arrays]
    with np.errstate(all="ignore"):
        expected = relay.create_executor("interpreter", mod=function).evaluate()(*given)
    found = relay.build(function, target, opt_level=opt_level)(*given)
    for (_, _, bits), one, other in zip(formulas, found, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=0 if bits else 1e-4, atol=0 if bits else 1e-4)


@pytest.mark.parametrize("target", [SMALL_CACHE, *TARGETS])
@pytest.mark.parametrize(("m", "k", "n"), [(33, 65, 130), (64, 64, 128), (32, 1, 129), (47, 31, 67), (1, 96, 96)])
def test_product_of_two_unknown_matrices(m: int, k: int, n: int, target: str) -> None:
    check(lambda a, b: relay.nn.relu(relay.nn.matmul(a, b)), values(m, k, special=1e-3), values(k, n), target=target)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("shape", "n"), [((97, 96), 130), ((2, 301, 64), 50), ((1, 350, 93), 64), ((96, 101), 48)])
def test_product_in_parts_of_its_depth(shape: tuple[int, ...], n: int, threads: int) -> None:
    """Blocks of rows and of panels, cut unevenly; 101 is prime, and stays whole."""
    weight, bias = relay.const(values(n, shape[-1], special=0.0)), relay.const(values(n))
    check(
        lambda x, y: relay.nn.relu(relay.nn.dense(x, weight) + bias) + y,
        values(*shape, special=1e-4),
        values(*shape[:-1], n),
        target=f"llvm -num-threads={threads} -l2-bytes=65536",
    )


@pytest.mark.parametrize("shape", [(3, 40, 33, 70), (2, 33, 17, 129)])
def test_products_of_a_batch(shape: tuple[int, int, int, int]) -> None:
    b, m, k, n = shape
    check(
        lambda x, y: relay.nn.batch_matmul(x, y, transpose_b=False),
        values(b, m, k, special=1e-3),
        values(b, k, n),
        target=SMALL_CACHE,
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("axis", [0, 1, 2, 3])
def test_concatenate(axis: int, target: str) -> None:
    parts = [[2, 3, 5, 7] for _ in range(4)]
    for position, part in enumerate(parts):
        part[axis] = (1, 17, 3, 32)[position]
    check(lambda *x: relay.concatenate(x, axis), *(values(*part) for part in parts), target=target, bits=True)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", [(2, 3, 5, 7), (1, 2, 7, 7), (3, 1, 1, 17), (1, 4, 9, 31)])
def test_formula_over_axes_that_are_one(shape: tuple[int, ...], target: str) -> None:
    check(lambda x, y: relay.nn.relu(x) + y, values(*shape), values(*shape[1:]), target=target, bits=True)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", [(1, 5, 7, 7), (2, 3, 4, 4), (1, 3, 5, 13), (1, 2, 1, 3), (1, 2, 17, 31)])
def test_mean_over_maps(shape: tuple[int, ...], target: str) -> None:
    x = (values(*shape),)
    check_all(
        [(relay.nn.global_avg_pool2d, x, False), (lambda x: relay.max(x, axis=[2, 3]), x, True),
         (lambda x: relay.sum(x, axis=[1, 2, 3]), x, False)],
        target,
    )  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("before", "behind"), [(0, 4), (1, 1), (3, 0), (20, 33)])
@pytest.mark.parametrize("opt_level", [0, 3])
def test_padding_around_an_axis_of_one(before: int, behind: int, target: str, opt_level: int) -> None:
    """All lanes read the one element, and only one of them counts."""
    check(lambda x: relay.nn.pad(x, [(0, 0), (before, behind)]), values(3, 1), target=target, bits=True)
    padding = (1, before, 1, behind)
    check(
        lambda x, w: relay.nn.conv2d(x, w, padding=padding, groups=2, channels=2, kernel_size=(1, 1)),
        values(1, 2, 2, 1, special=0.0),
        values(2, 1, 1, 1, special=0.0),
        target=target,
        opt_level=opt_level,
    )


@pytest.mark.parametrize("special", [0.0, 0.01])
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", [(33331,), (1, 30011), (333, 111), (1, 64, 1024)])
def test_one_number_of_everything(shape: tuple[int, ...], target: str, special: float) -> None:
    """Long enough to be shared out among threads, in stretches that need not be of one length."""
    x = (values(*shape, special=special),)
    check_all(
        [(relay.max, x, True), (lambda x: relay.argmax(relay.exp(x)), x, True), (lambda x: relay.mean(x * x), x, False),
         (relay.nn.softmax, x, False), (lambda x: x / relay.sum(relay.abs(x)), x, False)],
        target,
    )  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("width", [2, 3, 7, 16, 31, 33, 34, 57, 64])
def test_pooling_reads_every_second_element(width: int, target: str) -> None:
    x = (values(1, 3, 5, width),)
    check_all(
        [(lambda x: relay.nn.avg_pool2d(x, (2, 2), (2, 2)), x, False),
         (lambda x: relay.nn.max_pool2d(x, (3, 3), (2, 2), padding=(1, 1, 1, 1)), x, True)],
        target,
    )  # fmt: skip


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("shape", [(16, 16), (17, 33), (64, 70), (128, 64), (31, 256)])
def test_transpose(shape: tuple[int, int], target: str) -> None:
    check(relay.transpose, values(*shape), target=target, bits=True)


@pytest.mark.parametrize("target", ["llvm -num-threads=2 -l2-bytes=65536", "llvm -num-threads=1 -l2-bytes=16384"])
@pytest.mark.parametrize(
    ("channels", "rows", "columns", "window", "stride"), [(16, 28, 28, 3, 2), (35, 31, 23, 3, 1), (35, 31, 23, 5, 2)]
)
def test_depthwise_convolution_of_channels_in_front(
    channels: int, rows: int, columns: int, window: int, stride: int, target: str
) -> None:
    """Blocks of rows are turned, and convolved while they are in the cache."""
    weight = relay.const(values(channels, 1, window, window, special=0.0))
    padding = (window // 2, window // 2)
    check(
        lambda x: relay.nn.relu(relay.nn.conv2d(x, weight, strides=(stride, stride), padding=padding, groups=channels)),
        values(1, channels, rows, columns),
        target=target,
    )


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("width", [1, 3, 7, 8, 17, 31, 33])
def test_elements_read_several_times_in_a_row(width: int, target: str) -> None:
    """By repeats, and by images of several layouts, to the last bit."""

    def repeated(copies: int) -> Callable[[relay.Expr], relay.Expr]:
        return lambda x: relay.repeat(x, copies, 1) * relay.const(3.0)

    def resized(copies: int, layout: str) -> Callable[[relay.Expr], relay.Expr]:
        size, mode = (3 * copies, width * copies), "asymmetric"
        return lambda x: relay.image.resize2d(x, size, None, layout, "nearest_neighbor", mode)

    row, channels_first, channels_last = values(5, width), values(1, 2, 3, width), values(1, 3, width, 2)
    formulas: list[Formula] = []
    for copies in (2, 3, 4, 5):
        formulas.append((repeated(copies), (row,), True))
        formulas.append((resized(copies, "NCHW"), (channels_first,), True))
        formulas.append((resized(copies, "NHWC"), (channels_last,), True))
    check_all(formulas, target)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("shape", "axes"), [((5, 33), (1,)), ((2, 7, 17), (1,)), ((3, 1, 31), (1, 2)), ((15,), (0,))])
def test_vectors_of_length_one(shape: tuple[int, ...], axes: tuple[int, ...], target: str) -> None:
    x = (values(*shape),)
    check_all(
        [(lambda x: relay.nn.l2_normalize(x, 1e-5, axis=axes), x, False),
         (lambda x: x - relay.mean(x, axes, keepdims=True), x, False)],
        target,
    )  # fmt: skip
