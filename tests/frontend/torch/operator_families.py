"""Operators by family, each a line: what the models do not have, and the arguments that they do not give."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

Family = tuple[Callable[..., Sequence[Any]], Callable[[], tuple[Tensor, ...]]]
"""What is computed, and what makes its inputs."""


def activations(x: Tensor) -> Sequence[Any]:
    return (
        functional.leaky_relu(x, 0.3), functional.elu(x, 1.5), functional.celu(x, 0.7), functional.selu(x),
        functional.gelu(x, approximate="tanh"), functional.hardtanh(x, -0.3, 0.6), functional.softplus(x, 2.0, 1.0),
        functional.threshold(x, 0.1, 2.0), functional.hardshrink(x, 0.4), functional.softshrink(x, 0.3),
        functional.logsigmoid(x), functional.glu(x, 0), functional.softmin(x, 1), x.log_softmax(0), x.softmax(-1), x.sum().softmax(0),
        functional.prelu(x, torch.tensor([0.2])), functional.relu6(4 * x), x.sigmoid(), x.logit(0.1),
        functional.mish(x), functional.hardswish(x), functional.hardsigmoid(x), functional.softsign(x), x.tanh(),
    )  # fmt: skip


def elementwise(x: Tensor, k: Tensor) -> Sequence[Any]:
    b = k > 1
    return (
        torch.add(x, k, alpha=2), torch.sub(x, 1.5, alpha=3), torch.rsub(x, 2), x.div(2, rounding_mode="floor"),
        k.div(2, rounding_mode="trunc"), (-k).div(2, rounding_mode="floor"), torch.true_divide(k, k + 1), k.pow(2),
        (-k) // 2, k % -3, k.remainder(4), (-k).fmod(2), x.pow(3), x.abs().pow(-0.5), x.abs().sqrt(), x.square(),
        torch.minimum(x, -x), torch.maximum(x, k), b & ~b, b | (x > 0), b ^ (x > 0), k & 3, k | 4, k ^ 5, ~k, k << 1, k >> 1,
        torch.logical_and(x, k), torch.logical_or(b, k), torch.logical_xor(b, k), torch.logical_not(x), x.eq(k), x.ne(0),
        k.lt(2), k.le(1.5), x.gt(k), x.ge(0.1), x.clamp(-0.2, 0.3), x.clamp_min(0), x.clamp_max(0.1), k.clamp(max=2),
        torch.clamp(x, min=-x.abs() / 2, max=x.abs() / 3), torch.where(b, x, 1.0), torch.where(x > 0, 1, 0),
        x.masked_fill(x > 0, 3), torch.addcmul(x, x, x, value=0.5), torch.addcdiv(x, x, x.abs() + 1, value=2),
        x.lerp(2 * x, 0.3), x.exp2(), x.log1p().nan_to_num(), x.floor(), x.ceil(), x.round(), (10 * x).round(decimals=1),
        x.frac(), x.sign(), x.sgn(), x.abs(), -x, x.erf(), x.sin(), x.cos(), x.tan(), x.atan(), x.sinh(), x.cosh(),
        x.asinh(), torch.asin(x / 5), torch.acos(x / 5), torch.atanh(x / 5), torch.acosh(x.abs() + 1), x.reciprocal(),
        x.to(torch.int32), x.bool(), b.float(), k.double(), x.half().float(), b + b, b * b, k * True, x * 2, 3 - x, 2 / x,
        x.abs().pow(k), k.remainder(k + 1), torch.remainder(7, k + 1), k.fmod(k + 2), k.ne(x), k.lt(x), k.ge(x), k << k, k >> k,
        torch.bitwise_left_shift(k, 2), torch.bitwise_right_shift(k, 1), torch.bitwise_left_shift(1, k), torch.bitwise_and(3, k),
        torch.bitwise_or(3, k), torch.bitwise_xor(3, k), x.masked_fill(b, torch.tensor(2.0)), x.clamp_max(k), torch.floor_divide(k, 2),
        torch.isclose(x, x + 1e-9), torch.isfinite(1 / (k - k)), torch.isinf(x / 0), x.log2().isnan(), x.exp().log10(),
    )  # fmt: skip


def reductions(x: Tensor, k: Tensor) -> Sequence[Any]:
    return (
        x.sum(), x.sum((0, 2)), x.sum(1, keepdim=True, dtype=torch.float64), k.sum(), k.sum(0), x.mean(), x.mean((1, 2), True),
        k.prod(), x.prod(1), x.amax((0, 1)), x.amin(2, True), x.max(), x.min(), x.max(1).values, x.max(1).indices, *x.min(2),
        x.any(), (x > 0).any((0, 2)), (x > 0).all(1), (x > 0).any(1), (x > 0).all((0, 1)), k.all(), x.argmax(), x.argmax(1, True), k.argmin(), x.argmin(0),
        x.var(), x.var(1), x.var((0, 1), correction=0), x.var(2, correction=2), x.std(0), *torch.var_mean(x, 1), x.norm(),
        torch.linalg.vector_norm(x, 1, 1), torch.linalg.vector_norm(x, 3, (0, 1)), torch.linalg.vector_norm(x, float("inf")),
        x.logsumexp((0, 1)), x.cumsum(0), k.cumsum(0), x.cumprod(2), *x.topk(2, 1), *x.topk(2, 2, largest=False),
        *x.sort(), *x.sort(0, descending=True), x.argsort(1), x.median(1).values, x.count_nonzero(),
    )  # fmt: skip


def shapes(x: Tensor) -> Sequence[Any]:
    return (
        x.view(4, -1), x.reshape(-1), x.flatten(1), x.squeeze(), x[:, None].squeeze(1), x.unsqueeze(-1), x.expand(2, -1, -1, -1),
        x.permute(2, 0, 1), x.mT, x.swapaxes(0, 1), x.movedim(0, -1), x[1:, ::2, -2:], x[..., -1], x[:, [2, 0]], x[1],
        *x.split(2, 2), *x.split([1, 4], 2), *x.chunk(3, 1), *x.unbind(0), *x.tensor_split(2, 1), torch.cat([x, x[:1]]),
        torch.stack([x, -x], -1), torch.hstack([x, x]), x.repeat(2, 1, 3), x.tile(2), x.repeat_interleave(2, 0), x.flip(0, 2),
        x.roll((1, 2), (0, 1)), x.rot90(1, (1, 2)), functional.pad(x, (1, -1, 2, 0), value=1.5), functional.pad(x, (2, 1), "reflect"),
        functional.pad(x, (0, 3), "replicate"), functional.pad(x, (1, 1), "circular"), x.unfold(2, 3, 2), x.diagonal(1, 1, 2),
        x.narrow(2, 1, 3), x.tril(1), x.triu(-1), x.select(1, -1), torch.broadcast_to(x[0], (2, 3, 4, 5)[1:]) + 0,
        functional.pixel_shuffle(x.view(1, 12, 1, 5)[:, :, :, :4], 2), functional.pixel_unshuffle(x[:, :, :4].reshape(1, 3, 4, 4), 2),
        torch.meshgrid(x[0, 0], x[0, 1], indexing="ij")[0], x.T if x.dim() == 2 else x.transpose(0, 2), torch.einsum("abc,dbc->ad", x, x),
        torch.slice_scatter(x, x[:, :2], 1, 1, 3), torch.select_scatter(x, x[:, 0], 1, -2),
    )  # fmt: skip


def indices(x: Tensor, i: Tensor) -> Sequence[Any]:
    return (
        x[i], x[:, i], x[i, i], x[:, i, i], x[i, :, i], x[i[:, None], i], x.gather(1, i.view(1, -1, 1).expand(3, 3, 2)),
        x.index_select(2, i), torch.take_along_dim(x, i.view(1, -1, 1), 1), functional.embedding(i, x[:, :, 0]), x[-1, 1:][..., i],
        x.scatter(1, i.view(1, -1, 1).expand(3, 3, 2), x), x.scatter(0, i.view(-1, 1, 1), 2.0), x.scatter_add(2, i.expand(2, 2, 3), x),
        x.scatter_reduce(0, i.view(-1, 1, 1).expand(3, 3, 3), x, "amax"),
        *(
            x.scatter_reduce(0, i.view(-1, 1, 1).expand(3, 3, 3), x, reduction, include_self=False)
            for reduction in ("sum", "prod", "mean", "amax", "amin")
        ),
        x.scatter_reduce(0, i.view(-1, 1, 1).expand(3, 3, 3), x, "mean"), x.index_add(1, i, x, alpha=2), x.index_copy(2, i, -x),
        x.index_fill(0, i[:1], 5.0), x.index_fill(0, i[:1], torch.tensor(4.0)), x.scatter(1, i.view(1, -1, 1), 3.0, reduce="multiply"),
        x.scatter(1, i.view(1, -1, 1), x[:1, :, :1], reduce="add"), x.index_put((i, i), x[0]), x.index_put((i[:2],), torch.tensor(1.0), accumulate=True),
        torch.where(x > 0, x, 0).masked_fill_(x > 1, 9), x.clone().index_put_((x > 0,), torch.tensor(0.5)),
    )  # fmt: skip


def creation(x: Tensor) -> Sequence[Any]:
    return (
        torch.zeros(2, 3) + x[0, 0], torch.ones_like(x), torch.full_like(x, 2.5), x.new_zeros(2), x.new_full((2,), 3.0),
        torch.arange(5), torch.arange(1, 9, 3), torch.arange(0, 1, 0.25), torch.linspace(-1, 1, 7), torch.eye(3, 4),
        torch.tril(torch.ones(4, 4)), torch.triu(torch.ones(3, 5), 1), torch.tensor([1, 2]) * 2, torch.tensor(3.0) + x,
        torch.full((2,), 7), torch.zeros_like(x, dtype=torch.int64), torch.empty(3).fill_(2.0), x.clone().zero_(),
        torch.ones(3, dtype=torch.bool), x.clone().copy_(x[0]), torch.scalar_tensor(2.0) * x,
    )  # fmt: skip


def products(x: Tensor, y: Tensor, z: Tensor) -> Sequence[Any]:
    return (
        x @ y, x[0] @ y[:, 0], x[0] @ y, x @ y[:, 0], z @ y, z @ z.mT, z[:, None] @ z.mT[None], torch.addmm(y[0], x, y, beta=0.5, alpha=2),
        torch.baddbmm(z @ z.mT, z, z.mT, beta=2), torch.mv(x, x[0]), torch.dot(x[0], x[1]), torch.outer(x[0], x[1]),
        functional.linear(x, y.T, y[0]), functional.linear(x[0], y.T), torch.einsum("ij,jk->ki", x, y), torch.einsum("bij,bij->b", z, z),
        torch.inner(x, x), torch.tensordot(z, y, 1), torch.addmv(y[0], y.T, x[0]), torch.linalg.norm(x),
    )  # fmt: skip


def windows(x: Tensor, w: Tensor) -> Sequence[Any]:
    image = functional.conv2d(x, w, stride=2, padding=(1, 0), dilation=(1, 2))
    row = x[:, :, 0]
    return (
        image, functional.conv2d(x, w, padding="same"), functional.conv2d(x[0], w), functional.conv1d(row, w[:, :, 0], padding="valid"),
        functional.conv2d(x, w[:, :1], groups=2), functional.conv3d(x[:, :, None], w[:, :, None]),
        functional.conv_transpose2d(x, w.transpose(0, 1), stride=2, padding=1, output_padding=1),
        functional.conv_transpose1d(row, w[:, :, 0].transpose(0, 1)), functional.max_pool2d(x, 2), functional.max_pool2d(x, 3, 1, 1, 2),
        functional.max_pool2d(x, 3, 2, ceil_mode=True), functional.max_pool1d(row, 2), functional.avg_pool2d(x, 3, 2, 1),
        functional.avg_pool2d(x, 3, 2, 1, True, False), functional.avg_pool1d(row, 2), functional.adaptive_avg_pool2d(x, (3, 2)),
        functional.adaptive_avg_pool1d(row, 3), functional.adaptive_max_pool2d(x, 2), functional.adaptive_max_pool2d(x, 1), functional.adaptive_max_pool1d(row, 2), functional.adaptive_max_pool3d(x[:, :, None], 1),
        functional.adaptive_avg_pool3d(x[:, :, None], 1), functional.interpolate(row, 5, mode="nearest-exact"),
        functional.avg_pool3d(x[:, :, None], (1, 2, 2)), functional.interpolate(x, (9, 5)), functional.interpolate(x, scale_factor=1.5),
        functional.interpolate(x, (9, 5), mode="bilinear"), functional.interpolate(x, (3, 4), mode="bilinear", align_corners=True),
        functional.interpolate(x, (9, 5), mode="bicubic"), functional.interpolate(x, (9, 5), mode="nearest-exact"),
        functional.interpolate(row, 11, mode="linear"), functional.interpolate(row, 11), functional.lp_pool2d(x, 2, 2),
        functional.local_response_norm(x, 2), *functional.max_pool2d(x, 3, 2, 1, return_indices=True), *functional.max_pool2d(x[0], (2, 3), (1, 2), 0, (2, 1), True, return_indices=True),
        *functional.max_pool1d(row, 3, 2, 1, return_indices=True), *functional.max_pool3d(x[:, :, None], (1, 2, 2), return_indices=True), *(functional.interpolate(x, scale_factor=(1.3, 0.7), mode=mode) for mode in ("nearest", "nearest-exact", "bilinear", "bicubic")),
        functional.interpolate(row, scale_factor=2.3, mode="linear"), functional.interpolate(x, scale_factor=1.3, mode="bilinear", align_corners=True),
    )  # fmt: skip


def images(x: Tensor, theta: Tensor) -> Sequence[Any]:
    grid = functional.affine_grid(theta, (2, 2, 5, 6), align_corners=False)
    pooled, places = functional.max_pool2d(x, 2, return_indices=True)
    far, where = functional.max_pool2d(x, 3, 2, 1, 1, return_indices=True)
    row, row_places = functional.max_pool1d(x[:, :, 0], 2, return_indices=True)
    return (
        grid, functional.affine_grid(theta, (2, 2, 3, 1), align_corners=True), pooled, places, far, where, row, row_places,
        *(functional.grid_sample(x, 1.4 * grid, mode, padding, align_corners=aligned)
          for mode in ("bilinear", "nearest", "bicubic") for padding in ("zeros", "border", "reflection") for aligned in (True, False)),
        functional.grid_sample(x[:, :, None], torch.cat([grid, grid[..., :1]], -1)[:, None], align_corners=True),
        functional.max_unpool2d(pooled, places, 2), functional.fold(functional.unfold(x, 3), (8, 8), 3),
        functional.fold(functional.unfold(x, 2, 2, 1, 2), (8, 8), 2, 2, 1, 2),
    )  # fmt: skip


def norms(x: Tensor, v: Tensor) -> Sequence[Any]:
    return (
        functional.layer_norm(x, (6,)), functional.layer_norm(x, (4, 6), x[0, 0], x[0, 1], 1e-3), functional.layer_norm(x, (6,), v),
        functional.rms_norm(x, (6,), v), functional.rms_norm(x, (4, 6)), functional.group_norm(x, 2), functional.instance_norm(x),
        functional.batch_norm(x, torch.zeros(2), torch.ones(2) * 2), functional.normalize(x, dim=1), functional.normalize(x, 1, -1),
        functional.cosine_similarity(x, x + 1, 1), torch.nn.functional.pairwise_distance(x, x + 1),
    )  # fmt: skip


def attentions(q: Tensor, k: Tensor) -> Sequence[Any]:
    mask = torch.ones(5, 7).tril(2)
    attend = functional.scaled_dot_product_attention
    return (
        attend(q, k, k), attend(q, k, k, is_causal=True), attend(q, k, k, mask > 0), attend(q, k, k, mask * 3), attend(q, k, k, scale=0.3),
        attend(q[0], k[0], k[0], mask > 0), attend(q, k[:, :1], k[:, :1], enable_gqa=True), attend(q, k[:1], k[:1]),
    )  # fmt: skip


def encoders(x: Tensor, w: Tensor, v: Tensor) -> Sequence[Any]:
    """The operators that PyTorch's layers are in inference; masks are of queries and keys, of keys, of all."""
    row, padded = torch.ones(5, 5).triu(1), torch.arange(5)[None] > torch.tensor([[4], [2]])
    rest, all_heads = (w[:4, :4], v[:4]), (row > 0).expand(2, 2, 5, 5)
    wide = (w[:, :4], v, w[:4], v[:4])

    def layer(gelu: bool, first: bool, *mask: Any) -> Tensor:
        return torch._transformer_encoder_layer_fwd(
            x, 4, 2, w[:, :4], v, *rest, gelu, first, 1e-5, *(v[:4], v[4:8]) * 2, *wide, *mask
        )

    def several(y: Tensor, *rest_: Any) -> Any:
        return torch._native_multi_head_attention(x, y, y, 4, 2, w[:, :4], v, *rest, *rest_)

    return (
        layer(False, False), layer(True, True), layer(True, False, row, 0), layer(False, True, padded, 1), layer(True, True, all_heads, 2),
        *several(x), *several(x, row > 0, True, False, 0), several(x, padded, False, True, 1)[0],
    )  # fmt: skip


def bags(w: Tensor, i: Tensor, starts: Tensor) -> Sequence[Any]:
    bag, rows = functional.embedding_bag, i.view(4, 2)
    return (
        bag(i, w, starts), bag(i, w, starts, mode="sum"), bag(i, w, starts, mode="max"), bag(rows, w), bag(i, w, starts, mode="mean", padding_idx=1),
        bag(i, w, starts, mode="max", padding_idx=1), bag(rows, w, mode="sum", per_sample_weights=w[:4, :2]),
        bag(i, w, torch.cat([starts, torch.tensor([8])]), include_last_offset=True), functional.bilinear(w, w * 2, w[:2].repeat(2, 1).reshape(4, 3, 1).expand(4, 3, 3) * 1, w[0, :1].expand(4)),
    )  # fmt: skip


def _integers(*shape: int) -> Tensor:
    return torch.arange(torch.Size(shape).numel()).view(shape) % 4


FAMILIES: Mapping[str, Family] = {
    "activations": (activations, lambda: (torch.randn(4, 6),)),
    "elementwise": (elementwise, lambda: (torch.randn(3, 4), _integers(3, 4))),
    "reductions": (reductions, lambda: (torch.randn(3, 4, 5), _integers(7))),
    "shapes": (shapes, lambda: (torch.randn(3, 4, 5),)),
    "indices": (indices, lambda: (torch.randn(3, 3, 3), torch.tensor([2, 0, -1]).remainder(3))),
    "creation": (creation, lambda: (torch.randn(2, 3),)),
    "products": (products, lambda: (torch.randn(3, 3), torch.randn(3, 3), torch.randn(2, 3, 3))),
    "windows": (windows, lambda: (torch.randn(2, 2, 8, 8), torch.randn(4, 2, 3, 3))),
    "images": (images, lambda: (torch.randn(2, 2, 8, 8), torch.randn(2, 2, 3))),
    "norms": (norms, lambda: (torch.randn(2, 2, 4, 6), torch.randn(6))),
    "encoders": (encoders, lambda: (torch.randn(2, 5, 4), torch.randn(12, 12), torch.randn(12))),
    "bags": (bags, lambda: (torch.randn(4, 3), torch.tensor([0, 1, 3, 1, 2, 2, 1, 0]), torch.tensor([0, 2, 2, 5]))),
    "attentions": (attentions, lambda: (torch.randn(2, 2, 5, 4), torch.randn(2, 2, 7, 4))),
}


class Operators(nn.Module):
    """A family as a module."""

    def __init__(self, function: Callable[..., Sequence[Any]]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: Tensor) -> Sequence[Any]:
        return self.function(*inputs)
