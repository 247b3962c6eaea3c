"""Gradients where differences say nothing, at zeros and ties, and of what has no case of its own, by PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import relay
from relay.ops.framework.build import as_expr
from relay.ops.vision.crop_and_resize import CropAndResizeAttributes
from relay.ops.vision.roi_align import MODES, RoiAlignAttributes
from tests.ops import region_oracles

GENERATOR = np.random.default_rng(2)
WITH_ZEROS = np.array([[0.5, 0.0, -2.0, 3.0], [0.0, 1.5, 0.0, 2.0], [1.0, 2.0, 3.0, 4.0]])
PLACES = np.array([[0, 2, 0, 1], [1, 1, 2, 0]])
IMAGE = GENERATOR.standard_normal((2, 3, 5, 7))
TIES = np.round(GENERATOR.uniform(0, 2, (2, 3, 5, 7)))

Pair = tuple[Callable[..., Any], Callable[..., Any], tuple[np.ndarray, ...]]


def _scatter(mode: str, theirs: str) -> Pair:
    places = relay.const(PLACES, "int64")
    return (
        lambda x, u: relay.scatter_elements(x, places, u, 0, mode),
        lambda x, u: x.scatter_reduce(0, torch.tensor(PLACES), u, theirs),
        (WITH_ZEROS, np.array([[2.0, 0.0, 3.0, -1.0], [0.5, 0.0, 0.0, 3.0]])),
    )


def _image(mine: Callable[..., Any], theirs: Callable[..., Any], data: np.ndarray = IMAGE) -> Pair:
    return mine, theirs, (data,)


def _interpolated(mode: str, **others: Any) -> Callable[..., Any]:
    return lambda x: torch.nn.functional.interpolate(x, (8, 4), mode=mode, **others)


def _read(method: str, padding: str, aligned: bool) -> Pair:
    """By the image and by the places."""
    return (
        lambda x, g: relay.image.grid_sample(x, g, method, "NCHW", padding, aligned),
        lambda x, g: torch.nn.functional.grid_sample(x, g.movedim(1, -1), method, padding, aligned),
        (IMAGE, GENERATOR.uniform(-1.6, 1.6, (2, 2, 4, 5))),
    )


def _pooled(mode: str, ratio: int, aligned: bool, layout: str = "NCHW") -> Pair:
    """By the image and by the corners of regions, none of which PyTorch's formula lets lie on an edge."""
    image = IMAGE if layout == "NCHW" else np.moveaxis(IMAGE, 1, -1).copy()
    rois = np.array(
        [[0, 0.3, 0.2, 5.1, 4.7], [1, 2.2, 1.6, 4.1, 7.3], [1, -3.1, -2.2, 3.3, 3.1], [0, 1.1, 2.3, 0.9, 2.1]]
    )
    attributes = RoiAlignAttributes((2, 3), 0.7, ratio, layout, mode, aligned)
    return (
        lambda x, r: relay.vision.roi_align(x, r, (2, 3), 0.7, ratio, layout, mode, aligned),
        region_oracles.roi_align(attributes),
        (image, rois),
    )


def _cropped(method: str, size: tuple[int, int], layout: str = "NCHW") -> Pair:
    image = IMAGE if layout == "NCHW" else np.moveaxis(IMAGE, 1, -1).copy()
    boxes, of = np.array([[0.05, 0.1, 0.93, 0.89], [0.8, 0.7, 0.1, 0.2], [-0.31, 0.2, 0.6, 1.37]]), np.array([0, 1, 1])
    attributes = CropAndResizeAttributes(size, layout, method, 1.5)
    return (
        lambda x, b: relay.image.crop_and_resize(x, b, relay.const(of), size, layout, method, 1.5),
        lambda x, b: region_oracles.crop_and_resize(attributes)(x, b, torch.from_numpy(of)) + 0 * b.sum(),
        (image, boxes),
    )


PAIRS: dict[str, Pair] = {
    **{
        f"regions in bins, {mode}, {ratio}, {aligned}": _pooled(mode, ratio, aligned)
        for mode in MODES
        for ratio in (2, 0)
        for aligned in (False, True)
    },
    "regions in bins, channels last": _pooled("avg", 2, False, "NHWC"),
    **{
        f"boxes in another size, {method}, {size}": _cropped(method, size)
        for method in ("bilinear", "nearest_neighbor")
        for size in ((3, 4), (1, 2))
    },
    "boxes in another size, channels last": _cropped("bilinear", (3, 4), "NHWC"),
    **{
        f"an image read at places, {method}, {padding}, {aligned}": _read(method, padding, aligned)
        for method in ("nearest", "bilinear", "bicubic")
        for padding in ("zeros", "border", "reflection")
        for aligned in (False, True)
    },
    "a volume read at places": (
        lambda x, g: relay.image.grid_sample(x, g, "bilinear", "NCDHW"),
        lambda x, g: torch.nn.functional.grid_sample(x, g.movedim(1, -1), align_corners=True),
        (GENERATOR.standard_normal((2, 2, 3, 4, 5)), GENERATOR.uniform(-1.2, 1.2, (2, 3, 2, 3, 2)))),
    "places that a map moves": (
        lambda x: relay.image.affine_grid(x, (4, 5), False),
        lambda x: torch.nn.functional.affine_grid(x, [3, 1, 4, 5], False).movedim(-1, 1),
        (GENERATOR.standard_normal((3, 2, 3)),)),
    "running products with zeros": (
        lambda x: relay.cumprod(x, 1), lambda x: x.cumprod(1), (WITH_ZEROS,)),
    "running products of nothing": (lambda x: relay.cumprod(x, 0), lambda x: x.cumprod(0), (np.zeros((0, 3)),)),
    "factors at places that repeat": _scatter("mul", "prod"),
    "a linear resize": _image(
        lambda x: relay.image.resize2d(x, (8, 4)), _interpolated("bilinear", align_corners=False)),
    "a cubic resize": _image(
        lambda x: relay.image.resize2d(
            x, (8, 4), method="cubic", coordinate_transformation_mode="align_corners", cubic_alpha=-0.75),
        _interpolated("bicubic", align_corners=True)),
    "a resize by nearest elements": _image(
        lambda x: relay.image.resize2d(
            x, (8, 4), method="nearest_neighbor", coordinate_transformation_mode="asymmetric", rounding_method="floor"),
        _interpolated("nearest")),
    "means of windows that overlap": _image(
        lambda x: relay.nn.adaptive_avg_pool2d(x, (3, 4)),
        lambda x: torch.nn.functional.adaptive_avg_pool2d(x, (3, 4))),
    "largest elements of windows that overlap": _image(
        lambda x: relay.nn.adaptive_max_pool2d(x, (3, 4)),
        lambda x: torch.nn.functional.adaptive_max_pool2d(x, (3, 4))),
}  # fmt: skip


@pytest.mark.parametrize("title", PAIRS)
def test_gradients_are_those_of_pytorch(title: str) -> None:
    mine, theirs, arrays = PAIRS[title]
    tensors = [torch.tensor(each, requires_grad=True) for each in arrays]
    result = theirs(*tensors)
    weights = np.random.default_rng(7).standard_normal(tuple(result.shape))
    wanted = torch.autograd.grad((result * torch.tensor(weights)).sum(), tensors)
    params = [relay.var(f"x{at}", shape=each.shape, dtype="float64") for at, each in enumerate(arrays)]
    loss = relay.sum(as_expr(mine(*params)) * relay.const(weights, "float64"))
    found = relay.build(relay.grad(relay.Function(params, loss)))(*arrays)
    for own, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(own, other.numpy(), rtol=1e-6, atol=1e-9)


def test_ties_in_a_window_share() -> None:
    """As all choices of a largest element do here; PyTorch takes the first."""
    x = relay.var("x", shape=(1, 1, 2, 3), dtype="float64")
    loss = relay.sum(relay.nn.adaptive_max_pool2d(x, (1, 1)))
    found = relay.build(relay.grad(relay.Function([x], loss), wrt=0))(np.array([[[[1.0, 2.0, 0.0], [2.0, 1.0, 0.0]]]]))
    assert found.ravel().tolist() == [0.0, 0.5, 0.0, 0.5, 0.0, 0.0]


@pytest.mark.parametrize("mode", ["min", "max"])
def test_extremes_at_places_that_repeat(mode: str) -> None:
    """One place with two updates of which one wins, one where the data stay, one where both share."""
    x = relay.var("x", shape=(3,), dtype="float64")
    u = relay.var("u", shape=(4,), dtype="float64")
    sign = 1.0 if mode == "max" else -1.0
    places = relay.const(np.array([0, 0, 1, 2]), "int64")
    loss = relay.sum(relay.scatter_elements(x, places, u, 0, mode) * relay.const(np.array([1.0, 2.0, 4.0]), "float64"))
    run = relay.build(relay.grad(relay.Function([x, u], loss)))
    by_x, by_u = run(sign * np.array([1.0, 5.0, 2.0]), sign * np.array([3.0, 2.0, 4.0, 2.0]))
    assert by_x.tolist() == [0.0, 2.0, 2.0]
    assert by_u.tolist() == [1.0, 0.0, 0.0, 2.0]


def test_random_numbers_change_with_what_they_are_spread_by() -> None:
    low, high = (relay.var(name, shape=(), dtype="float64") for name in ("low", "high"))
    _, numbers = relay.random.uniform(relay.random.threefry_key(3), (5,), "float64", low, high)
    function = relay.Function([low, high], relay.sum(numbers))
    by_low, by_high = relay.build(relay.grad(function))(1.0, 3.0)
    np.testing.assert_allclose(by_low + by_high, 5.0)
    np.testing.assert_allclose(by_low * 1.0 + by_high * 3.0, relay.build(function)(1.0, 3.0))


BATCHES: dict[str, tuple[Callable[..., Any], Callable[..., Any], tuple[int, ...]]] = {
    "a convolution": (
        lambda x, w: relay.nn.conv2d(x, w, strides=(2, 1), padding=(1, 2)),
        lambda x, w: torch.nn.functional.conv2d(x, w, stride=(2, 1), padding=(1, 2)), (4, 6, 3, 3)),
    "a convolution in groups": (
        lambda x, w: relay.nn.conv2d(x, w, padding=(1, 1), groups=3),
        lambda x, w: torch.nn.functional.conv2d(x, w, padding=1, groups=3), (6, 2, 3, 3)),
    "largest elements of windows": (
        lambda x, w: relay.nn.max_pool2d(x * w, (3, 3), (2, 2), padding=(1, 1)),
        lambda x, w: torch.nn.functional.max_pool2d(x * w, 3, 2, 1), (1, 6, 1, 1)),
    "means of windows": (
        lambda x, w: relay.nn.avg_pool2d(x * w, (3, 3), (2, 2), padding=(1, 1), count_include_pad=True),
        lambda x, w: torch.nn.functional.avg_pool2d(x * w, 3, 2, 1), (1, 6, 1, 1)),
    "means of images": (
        lambda x, w: relay.nn.global_avg_pool2d(x * w),
        lambda x, w: (x * w).mean((2, 3), keepdim=True), (1, 6, 1, 1)),
    "rows by computed places": (
        lambda x, w: relay.take(x * w, relay.const([1, 0, 1, -1], "int64"), axis=0, mode="wrap"),
        lambda x, w: (x * w)[[1, 0, 1, -1]], (1, 6, 1, 1)),
}  # fmt: skip


@pytest.mark.parametrize("title", BATCHES)
def test_gradients_over_batches_of_any_extent(title: str) -> None:
    """One program for all of them."""
    mine, theirs, shape = BATCHES[title]
    x = relay.var("x", shape=("n", 6, 5, 7), dtype="float64")
    w = relay.var("w", shape=shape, dtype="float64")
    y = as_expr(mine(x, w))
    run = relay.build(relay.grad(relay.Function([x, w], relay.sum(y * y))))
    for batch in (2, 3):
        arrays = [GENERATOR.standard_normal((batch, 6, 5, 7)), GENERATOR.standard_normal(shape)]
        tensors = [torch.tensor(each, requires_grad=True) for each in arrays]
        wanted = torch.autograd.grad((theirs(*tensors) ** 2).sum(), tensors)
        for own, other in zip(run(*arrays), wanted, strict=True):
            np.testing.assert_allclose(own, other.numpy(), rtol=1e-6, atol=1e-9)


def test_parts_put_where_only_the_run_knows() -> None:
    """As a loop fills a sequence; what of a part reaches beyond the end has no gradient."""
    x, part = relay.var("x", shape=(4, 2), dtype="float64"), relay.var("part", shape=(2, 2), dtype="float64")
    at = relay.var("at", shape=(1,), dtype="int64")
    y = relay.strided_set(x, part, at, relay.add(at, relay.const([2], "int64")), relay.const([1], "int64"))
    run = relay.build(relay.grad(relay.Function([x, part, at], relay.sum(y * y)), wrt=["x", "part"]))
    data, rows = np.arange(8.0).reshape(4, 2), np.array([[1.0, 2.0], [3.0, 4.0]])
    by_x, by_part = run(data, rows, np.array([1]))
    np.testing.assert_array_equal(by_x, 2 * data * [[1], [0], [0], [1]])
    np.testing.assert_array_equal(by_part, 2 * rows)
    by_x, by_part = run(data, rows, np.array([3]))
    np.testing.assert_array_equal(by_x, 2 * data * [[1], [1], [1], [0]])
    np.testing.assert_array_equal(by_part, 2 * rows * [[1], [0]])
