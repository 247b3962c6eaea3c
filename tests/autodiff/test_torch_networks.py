"""Derivatives of networks, losses and loops with parameters of their own are those of `torch.func`: gradients,
tangents, Hessian-vector products, and Jacobians and Hessians by `vmap`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch.nn import functional

import relay
from tests.autodiff.numerical import parsed

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script.*:DeprecationWarning")  # torch.func.jvp's own

LABELS = [2, 0, 1]
PLACES = [[0, 2], [1, 1], [3, 0]]
TURNS = 3


class Program(NamedTuple):
    """One function of float64 tensors in two notations. Beside its parameters, Relay's may mention `%labels` (3 of
    them, below 4) and `%places` (3 × 2, below 4)."""

    shapes: dict[str, tuple[int, ...]]
    body: str
    meaning: Callable[..., torch.Tensor]


PROGRAMS = {
    "perceptrons with a cross entropy": Program(
        {"x": (3, 5), "w": (6, 5), "b": (6,), "v": (4, 6)},
        "let %l = nn.log_softmax(nn.dense(tanh(nn.dense(%x, %w) + %b), %v)); "
        "negative(sum(gather(%l, reshape(%labels, newshape=[3, 1]), axis=1)))",
        lambda x, w, b, v: functional.cross_entropy(
            torch.tanh(x @ w.T + b) @ v.T, torch.tensor(LABELS), reduction="sum"
        ),
    ),
    "a convolutional network": Program(
        {"x": (2, 2, 6, 6), "w": (3, 2, 3, 3), "b": (3,), "v": (4, 12)},
        "let %h = nn.relu(nn.bias_add(nn.conv2d(%x, %w, strides=[1, 1]), %b)); "
        "nn.log_softmax(nn.dense(nn.batch_flatten(nn.max_pool2d(%h, pool_size=[2, 2], strides=[2, 2])), %v))",
        lambda x, w, b, v: functional.log_softmax(
            functional.max_pool2d(torch.relu(functional.conv2d(x, w, b)), 2).flatten(1) @ v.T, -1
        ),
    ),
    "a strided convolution of groups": Program(
        {"x": (1, 4, 6, 6), "w": (4, 2, 3, 3)},
        "nn.conv2d(%x, %w, strides=[2, 2], padding=[1, 1, 1, 1], groups=2)",
        lambda x, w: functional.conv2d(x, w, stride=2, padding=1, groups=2),
    ),
    "a dilated depthwise convolution": Program(
        {"x": (1, 3, 6, 6), "w": (3, 1, 2, 2)},
        "nn.conv2d(tanh(%x), %w, dilation=[2, 2], groups=3)",
        lambda x, w: functional.conv2d(torch.tanh(x), w, dilation=2, groups=3),
    ),
    "a convolution along one axis": Program(
        {"x": (2, 3, 7), "w": (4, 3, 3)},
        "nn.conv1d(%x, %w, padding=[1, 1])",
        lambda x, w: functional.conv1d(x, w, padding=1),
    ),
    "a convolution of volumes": Program(
        {"x": (1, 2, 3, 4, 4), "w": (2, 2, 2, 2, 2)},
        "nn.conv3d(%x, %w)",
        lambda x, w: functional.conv3d(x, w),
    ),
    "a transposed convolution": Program(
        {"x": (1, 2, 3, 3), "w": (2, 3, 2, 2)},
        "nn.conv2d_transpose(sin(%x), %w, strides=[2, 2])",
        lambda x, w: functional.conv_transpose2d(torch.sin(x), w, stride=2),
    ),
    "the mean of an image": Program(
        {"x": (2, 3, 4, 4), "w": (5, 3)},
        "nn.dense(nn.batch_flatten(nn.global_avg_pool2d(%x * %x)), %w)",
        lambda x, w: (x * x).mean((2, 3)) @ w.T,
    ),
    "an image in another size": Program(
        {"x": (1, 2, 3, 4)},
        'image.resize2d(%x * %x, size=[6, 8], method="linear", coordinate_transformation_mode="half_pixel")',
        lambda x: functional.interpolate(x * x, (6, 8), mode="bilinear", align_corners=False),
    ),
    "a norm of batches": Program(
        {"x": (4, 3), "g": (3,), "b": (3,)},
        "let %m = mean(%x, axis=[0]); let %d = %x - %m; let %v = mean(%d * %d, axis=[0]); "
        "nn.batch_norm(%x, %g, %b, %m, %v, epsilon=1e-5).0",
        lambda x, g, b: functional.batch_norm(x, None, None, g, b, training=True),
    ),
    "a norm of groups": Program(
        {"x": (2, 4, 3), "g": (4,), "b": (4,)},
        "nn.group_norm(%x, %g, %b, num_groups=2)",
        lambda x, g, b: functional.group_norm(x, 2, g, b),
    ),
    "a norm of instances": Program(
        {"x": (2, 3, 5), "g": (3,), "b": (3,)},
        "nn.instance_norm(%x, %g, %b)",
        lambda x, g, b: functional.instance_norm(x, weight=g, bias=b),
    ),
    "a root of mean squares": Program(
        {"x": (3, 4), "g": (4,)},
        "%x / sqrt(mean(%x * %x, axis=[1], keepdims=True) + 1e-6f64) * %g",
        lambda x, g: functional.rms_norm(x, (4,), g, 1e-6),
    ),
    "vectors divided by their length": Program(
        {"x": (3, 4)},
        "nn.l2_normalize(%x, eps=1e-12, axis=[1])",
        lambda x: functional.normalize(x),
    ),
    "attention": Program(
        {"q": (2, 3, 4), "k": (2, 5, 4), "v": (2, 5, 4)},
        "nn.batch_matmul(nn.softmax(nn.batch_matmul(%q, %k, transpose_b=True) / 2f64), %v)",
        lambda q, k, v: functional.scaled_dot_product_attention(q, k, v),
    ),
    "attention to what came before": Program(
        {"q": (2, 3, 4), "k": (2, 3, 4), "v": (2, 3, 4)},
        "let %r = arange(0, 3, 1, dtype=\"int32\"); "
        "let %s = nn.batch_matmul(%q, %k, transpose_b=True) / 2f64; "
        "let %m = where(reshape(%r, newshape=[1, 3, 1]) >= reshape(%r, newshape=[1, 1, 3]), %s, -1e30f64); "
        "nn.batch_matmul(nn.softmax(%m), %v)",
        lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True),
    ),
    "heads of attention": Program(
        {"x": (3, 4), "w": (12, 4)},
        "let %p = split(nn.dense(%x, %w), indices_or_sections=3, axis=1); "
        "let %q = transpose(reshape(%p.0, newshape=[3, 2, 2]), axes=[1, 0, 2]); "
        "let %k = transpose(reshape(%p.1, newshape=[3, 2, 2]), axes=[1, 0, 2]); "
        "let %v = transpose(reshape(%p.2, newshape=[3, 2, 2]), axes=[1, 0, 2]); "
        "nn.batch_matmul(nn.softmax(nn.batch_matmul(%q, %k, transpose_b=True)), %v)",
        lambda x, w: _heads(x, w),
    ),
    "a recurrence over steps": Program(
        {"xs": (5, 3), "h": (1, 4), "w": (4, 3), "u": (4, 4)},
        "@steps(0, %xs, %h, %w, %u)",
        lambda xs, h, w, u: _steps(xs, h, w, u),
    ),
    "a recurrence with gates": Program(
        {"xs": (3, 3), "h": (1, 2), "c": (1, 2), "w": (8, 3), "u": (8, 2)},
        "@gated(0, %xs, %h, %c, %w, %u)",
        lambda xs, h, c, w, u: _gated(xs, h, c, w, u),
    ),
    "a recurrence that data end": Program(
        {"x": (2, 3), "w": (3, 3)},
        "@until(%x, %w)",
        lambda x, w: _until(x, w),
    ),
    "a chain of products": Program(
        {"a": (2, 3), "b": (3, 4), "c": (4, 5), "d": (5, 2)},
        "nn.matmul(nn.matmul(%a, %b), nn.matmul(%c, %d))",
        lambda a, b, c, d: a @ b @ (c @ d),
    ),
    "a bilinear form": Program(
        {"x": (3, 4), "w": (5, 4), "y": (3, 5)},
        "sum(nn.dense(%x, %w) * %y, axis=[1])",
        lambda x, w, y: torch.einsum("bi,oi,bo->b", x, w, y),
    ),
    "a mean of squares": Program(
        {"x": (3, 4), "y": (3, 4)},
        "let %d = %x - %y; mean(%d * %d)",
        lambda x, y: functional.mse_loss(x, y),
    ),
    "squares near zero, absolute values beyond": Program(
        {"x": (3, 4), "y": (3, 4)},
        "let %d = abs(%x - %y); mean(where(%d < 1f64, %d * %d * 0.5f64, %d - 0.5f64))",
        lambda x, y: _huber(x - y),
    ),
    "a binary cross entropy of logits": Program(
        {"x": (3, 4), "y": (3, 4)},
        "let %t = sigmoid(%y); mean(nn.relu(%x) - %x * %t + log(1f64 + exp(negative(abs(%x)))))",
        lambda x, y: functional.binary_cross_entropy_with_logits(x, torch.sigmoid(y)),
    ),
    "a divergence of distributions": Program(
        {"x": (3, 4), "y": (3, 4)},
        "let %p = nn.softmax(%y); sum(%p * (log(%p) - nn.log_softmax(%x)))",
        lambda x, y: functional.kl_div(
            torch.log_softmax(x, -1), torch.log_softmax(y, -1), reduction="sum", log_target=True
        ),
    ),
    "a margin": Program(
        {"x": (3, 4), "y": (3, 4)},
        "mean(nn.relu(1f64 - tanh(%y) * %x))",
        lambda x, y: torch.relu(1 - torch.tanh(y) * x).mean(),
    ),
    "the logarithm of a sum of exponentials": Program(
        {"x": (3, 4)},
        "let %m = max(%x, axis=[1], keepdims=True); log(sum(exp(%x - %m), axis=[1], keepdims=True)) + %m",
        lambda x: torch.logsumexp(x, 1, keepdim=True),
    ),
    "a distance": Program(
        {"x": (3, 4), "y": (3, 4)},
        "let %d = %x - %y; sqrt(sum(%d * %d, axis=[1]))",
        lambda x, y: torch.linalg.vector_norm(x - y, dim=1),
    ),
    "rows of a table": Program(
        {"t": (4, 3), "w": (2, 3)},
        "nn.dense(take(%t, %places, axis=0), %w)",
        lambda t, w: functional.embedding(torch.tensor(PLACES), t) @ w.T,
    ),
    "elements of rows": Program(
        {"x": (3, 4)},
        "gather(%x * %x, %places, axis=1)",
        lambda x: torch.gather(x * x, 1, torch.tensor(PLACES)),
    ),
    "elements put to places": Program(
        {"x": (3, 4), "u": (3, 2)},
        'scatter_elements(%x * %x, %places, %u * %u, axis=1, reduction="add")',
        lambda x, u: (x * x).scatter_add(1, torch.tensor(PLACES), u * u),
    ),
    "rows in the order of their sums": Program(
        {"x": (4, 3)},
        "take(%x * %x, argsort(sum(%x, axis=[1]), axis=0, dtype=\"int32\"), axis=0)",
        lambda x: (x * x)[torch.argsort(x.sum(1))],
    ),
    "leaks": Program(
        {"x": (3, 4), "a": (4,)},
        "nn.leaky_relu(%x, alpha=0.2) * nn.prelu(%x, %a, axis=1)",
        lambda x, a: functional.leaky_relu(x, 0.2) * functional.prelu(x, a),
    ),
}  # fmt: skip

LIBRARY = """
def @steps(%i: int32, %xs: Tensor[(5, 3), float64], %h: Tensor[(1, 4), float64], %w: Tensor[(4, 3), float64],
           %u: Tensor[(4, 4), float64]) -> Tensor[(1, 4), float64] {
  if (%i == 5) { %h } else {
    let %x = take(%xs, reshape(%i, newshape=[1]), axis=0);
    @steps(%i + 1, %xs, tanh(nn.dense(%x, %w) + nn.dense(%h, %u)), %w, %u)
  }
}
def @gated(%i: int32, %xs: Tensor[(3, 3), float64], %h: Tensor[(1, 2), float64], %c: Tensor[(1, 2), float64],
           %w: Tensor[(8, 3), float64], %u: Tensor[(8, 2), float64]) -> Tensor[(1, 2), float64] {
  if (%i == 3) { %h } else {
    let %x = take(%xs, reshape(%i, newshape=[1]), axis=0);
    let %g = split(nn.dense(%x, %w) + nn.dense(%h, %u), indices_or_sections=4, axis=1);
    let %d = sigmoid(%g.1) * %c + sigmoid(%g.0) * tanh(%g.2);
    @gated(%i + 1, %xs, sigmoid(%g.3) * tanh(%d), %d, %w, %u)
  }
}
def @until(%x: Tensor[(2, 3), float64], %w: Tensor[(3, 3), float64]) -> Tensor[(2, 3), float64] {
  if (sum(%x * %x) < 1.5f64) { %x } else { @until(tanh(nn.dense(%x, %w)) * 0.7f64, %w) }
}
"""


def _huber(d: torch.Tensor) -> torch.Tensor:
    """`functional.huber_loss` has no second derivative along a direction."""
    return torch.where(d.abs() < 1, d * d / 2, d.abs() - 0.5).mean()


def _heads(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    q, k, v = ((x @ w.T)[:, 4 * at : 4 * at + 4].reshape(3, 2, 2).transpose(0, 1) for at in range(3))
    return torch.softmax(q @ k.transpose(1, 2), -1) @ v


def _steps(xs: torch.Tensor, h: torch.Tensor, w: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    for x in xs:
        h = torch.tanh(x[None] @ w.T + h @ u.T)
    return h


def _gated(xs: torch.Tensor, h: torch.Tensor, c: torch.Tensor, w: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    for x in xs:
        i, f, g, o = (x[None] @ w.T + h @ u.T).split(2, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
    return h


def _until(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    """PyTorch cannot decide by what is differentiated: the test tells how many turns the data take."""
    for _ in range(TURNS):
        x = torch.tanh(x @ w.T) * 0.7
    return x


@pytest.mark.parametrize("title", PROGRAMS)
def test_derivatives_are_those_of_pytorch(title: str):
    shapes, body, meaning = PROGRAMS[title]
    random = np.random.default_rng(8)
    at = [random.standard_normal(shape) for shape in shapes.values()]
    along = [random.standard_normal(shape) for shape in shapes.values()]
    types = {
        f"%{name}": f"Tensor[{shape if len(shape) > 1 else f'({shape[0]},)'}, float64]"
        for name, shape in shapes.items()
    }
    more: dict[str, Any] = {}
    for name, type_, value in (
        ("%labels", "Tensor[(3,), int64]", LABELS),
        ("%places", "Tensor[(3, 2), int64]", PLACES),
    ):
        if name in body:
            types[name], more[name] = type_, np.array(value)
    params = ", ".join(f"{name}: {type_}" for name, type_ in types.items())
    module = parsed(f"{LIBRARY} def @main({params}) {{ let %value = {{ {body} }}; sum(sin(%value)) }}")

    def loss(*given: torch.Tensor) -> torch.Tensor:
        return torch.sin(meaning(*given)).sum()

    mine, ways = (tuple(map(torch.from_numpy, each)) for each in (at, along))
    wanted, product = torch.func.jvp(torch.func.grad(loss, tuple(range(len(at)))), mine, ways)
    hessian = relay.jvp(relay.grad(module, wrt=list(shapes)), wrt=list(shapes))
    gradients, found = relay.build(hessian)(*at, *more.values(), *along)
    for own, other in zip((*gradients, *found), (*wanted, *product), strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-8, atol=1e-10)
    value, tangent = relay.build(relay.jvp(module, wrt=list(shapes)))(*at, *more.values(), *along)
    np.testing.assert_allclose(value, loss(*mine), rtol=1e-12)
    np.testing.assert_allclose(tangent, torch.func.jvp(loss, mine, ways)[1], rtol=1e-9, atol=1e-12)


_SUM_OF_SQUARES = {
    rank: f"""
def @main(%x: Tensor[(4,), float64], %w: Tensor[{shape}, float64]) {{ let %v = @inner(%x, %w); sum(%v * %v) }}"""
    for rank, shape in ((1, "(4,)"), (2, "(3, 4)"))
}

JACOBIANS = {
    "a layer": (
        {"x": (4,), "w": (3, 4)},
        "def @main(%x: Tensor[(4,), float64], %w: Tensor[(3, 4), float64]) { tanh(sum(%w * %x, axis=[1])) }",
        lambda x, w: torch.tanh(w @ x),
    ),
    "a distribution": (
        {"x": (4,), "w": (4,)},
        "def @main(%x: Tensor[(4,), float64], %w: Tensor[(4,), float64]) { nn.softmax(%x * %w) }",
        lambda x, w: torch.softmax(x * w, 0),
    ),
    "steps": (
        {"x": (4,), "w": (4,)},
        """
        def @main(%x: Tensor[(4,), float64], %w: Tensor[(4,), float64]) {
          let %a = sin(%x * %w) + %x; let %b = sin(%a * %w) + %a; sin(%b * %w) + %b
        }""",
        lambda x, w: _sines(x, w),
    ),
}


def _sines(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
    for _ in range(3):
        x = torch.sin(x * w) + x
    return x


@pytest.mark.parametrize("title", JACOBIANS)
def test_jacobians_and_hessians_are_those_of_pytorch(title: str):
    shapes, text, meaning = JACOBIANS[title]
    random = np.random.default_rng(9)
    x, w = (random.standard_normal(shape) for shape in shapes.values())
    mine = torch.from_numpy(x), torch.from_numpy(w)
    module = parsed(text)
    wanted = torch.func.jacrev(meaning)(*mine)
    columns = relay.vmap(relay.jvp(module, wrt=["x"]), over=2)
    _, found = relay.build(columns)(x, w, np.eye(4))
    np.testing.assert_allclose(found.T, wanted, rtol=1e-10, atol=1e-12)
    rows = relay.vmap(relay.vjp(module, wrt=["x"]), over=2)
    _, (found,) = relay.build(rows)(x, w, np.eye(len(wanted)))
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)
    squares = parsed(text.replace("@main(", "@inner(", 1) + _SUM_OF_SQUARES[len(shapes["w"])])
    hessian = relay.vmap(relay.jvp(relay.grad(squares, wrt=["x"]), wrt=["x"]), over=2)
    _, (found,) = relay.build(hessian)(x, w, np.eye(4))
    wanted = torch.func.hessian(lambda x, w: meaning(x, w).square().sum())(*mine)
    np.testing.assert_allclose(found, wanted, rtol=1e-10, atol=1e-12)
