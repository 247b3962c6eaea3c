"""Layers and losses of `torch.nn.functional` and `jax.nn`, which NumPy lacks, by the operators that they are."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from relay import nn, op
from relay.base.dtypes import DType
from relay.base.span import caller_span
from relay.frontend.python.block import is_expr
from relay.frontend.python.library.arithmetic import combined, converted, equated
from relay.frontend.python.library.arrays.grids import counting
from relay.frontend.python.library.numpy_arrays import along_axis
from relay.frontend.python.library.numpy_functions import (
    REDUCTIONS,
    dtype_of_value,
    element_type,
    extent_along,
    floating,
    rank_of,
)
from relay.frontend.python.library.other_libraries.windows import CONVOLUTIONS, WINDOWS
from relay.frontend.python.syntax.source import refusal
from relay.ir.expr import Expr

Layer = Callable[..., Any]


# ----------------------------------------------------------------------------------------------- functions of elements


def _gelu(x: Any, approximate: Any = "none") -> Any:
    return _gelu_by_tanh(x) if approximate == "tanh" else nn.gelu(x)


def _gelu_by_tanh(x: Any, approximate: bool = True) -> Any:
    """As `jax.nn.gelu` is: by tanh where nothing else is asked for."""
    if not approximate:
        return nn.gelu(x)
    inner = (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)
    return (op.tanh(inner) + 1.0) * x * 0.5


def _softplus(x: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    """log(1 + exp(beta · x)) / beta; `x` where that is as much."""
    scaled = combined("multiply", floating(x), beta)
    made = combined("divide", _log_of_one_and_exp(scaled), beta)
    return op.where(equated("greater", scaled, threshold), floating(x), made)


def _log_of_one_and_exp(x: Expr) -> Expr:
    small = op.exp(op.negative(op.abs(x)))
    return op.add(combined("maximum", x, 0.0), op.log(combined("add", small, 1.0)))


def _log_sigmoid(x: Expr) -> Expr:
    return op.negative(_log_of_one_and_exp(op.negative(x)))


def _elu(x: Any, alpha: float = 1.0) -> Any:
    below = combined("multiply", combined("subtract", op.exp(combined("minimum", x, 0.0)), 1.0), alpha)
    return op.where(equated("greater", x, 0), x, below)


def _selu(x: Any) -> Any:
    return combined("multiply", _elu(x, 1.6732632423543772), 1.0507009873554805)


def _leaky_relu(x: Any, negative_slope: float = 0.01) -> Any:
    return nn.leaky_relu(x, negative_slope)


def _clipped(low: float, high: float) -> Layer:
    return lambda x: combined("minimum", combined("maximum", x, low), high)


def _glu(x: Any, dim: int = -1) -> Any:
    """One half times the sigmoid of the other."""
    first, second = op.split(x, 2, dim)
    return op.multiply(first, op.sigmoid(second))


def _of_axis(function: Layer, by_default: int | None = None) -> Layer:
    """A softmax, which says along which axis."""

    def of_axis(x: Any, dim: int | None = None, *, axis: int | None = None, dtype: Any = None) -> Any:
        along = next((each for each in (dim, axis, by_default) if each is not None), None)
        if along is None:
            raise refusal(caller_span(), "a softmax along no axis", "say along which axis: dim=-1")
        return function(floating(x) if dtype is None else converted(x, element_type(dtype)), along)

    return of_axis


# --------------------------------------------------------------------------------------------------- layers and norms


def _linear(x: Any, weight: Any, bias: Any = None) -> Any:
    made = nn.dense(x, weight)
    return made if bias is None else op.add(made, bias)


def _layer_norm(x: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    count = len(cast("Sequence[Any]", normalized_shape)) if isinstance(normalized_shape, tuple | list) else 1
    axes = tuple(range(rank_of(x) - count, rank_of(x)))
    apart = op.subtract(x, op.mean(x, axis=axes, keepdims=True))
    variance = op.mean(op.multiply(apart, apart), axis=axes, keepdims=True)
    made = op.divide(apart, op.sqrt(combined("add", variance, eps)))
    made = made if weight is None else op.multiply(made, weight)
    return made if bias is None else op.add(made, bias)


def _normalized(x: Any, p: float = 2.0, dim: int = 1, eps: float = 1e-12) -> Any:
    if p != 2:
        raise refusal(caller_span(), f"`normalize` by the norm {p}", "divide by the norm: x / x.abs().sum(...)")
    length = op.sqrt(op.sum(op.multiply(x, x), axis=dim, keepdims=True))
    return op.divide(x, combined("maximum", length, eps))


def _cosine(x: Any, y: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    lengths = [combined("maximum", op.sqrt(op.sum(op.multiply(each, each), axis=dim)), eps) for each in (x, y)]
    return op.divide(REDUCTIONS["sum"](combined("multiply", x, y), dim), op.multiply(*lengths))


def _dropout(x: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:  # noqa: ARG001
    if training and p:
        raise refusal(caller_span(), "`dropout` in training", "give it training=False, or multiply by a mask that the "
                      "program is given")  # fmt: skip
    return x


def _embedding(x: Expr, weight: Expr) -> Any:
    extent = extent_along(weight, 0)
    inside = op.logical_and(equated("less", x, extent), equated("greater_equal", x, 0))
    return op.take(weight, op.checked(x, op.all(inside), "the index is out of range"), axis=0)


def _one_hot(x: Expr, num_classes: Any, *, dtype: Any = "float32", axis: int = -1) -> Any:
    """A 1 at the place that each number tells; none, where that is outside."""
    if axis != -1:
        raise refusal(caller_span(), "`one_hot` along another axis than the last", "use np.moveaxis")
    return converted(
        op.equal(op.expand_dims(converted(x, DType.INT32), -1), counting(num_classes)), element_type(dtype)
    )


def _one_hot_within(x: Expr, num_classes: Any = -1) -> Any:
    """The same, of whole numbers; the run ends where a place is outside."""
    if not is_expr(num_classes) and num_classes < 0:
        raise refusal(caller_span(), "`one_hot` of as many classes as the numbers tell", "say how many: one_hot(x, 10)")
    inside = op.logical_and(equated("less", x, num_classes), equated("greater_equal", x, 0))
    return _one_hot(op.checked(x, op.all(inside), "a class is out of range"), num_classes, dtype="int32")


def _attention(
    q: Expr, k: Expr, v: Expr, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False, *,
    scale: Any = None,
) -> Any:  # fmt: skip
    """softmax(q @ kᵀ / √d + mask) @ v, of batches of matrices."""
    if dropout_p or (is_causal and attn_mask is not None):
        what = "with dropout" if dropout_p else "that is causal beside a mask"
        raise refusal(caller_span(), f"`scaled_dot_product_attention` {what}", "give it one mask, and no dropout")
    depth = extent_along(q, -1)
    if scale is None:
        scale = 1 / math.sqrt(max(depth, 1)) if isinstance(depth, int) else op.rsqrt(floating(depth))
    if is_expr(scale):
        q, scale = combined("multiply", q, scale), 1.0
    if is_causal:
        places = [counting(extent_along(each, -2)) for each in (q, k)]
        attn_mask = op.greater_equal(op.expand_dims(places[0], 1), op.expand_dims(places[1], 0))
    if attn_mask is None:
        return nn.attention(q, k, v, scale=scale)
    is_bool = dtype_of_value(attn_mask).is_bool
    mask = attn_mask if is_bool else converted(attn_mask, dtype_of_value(q))
    made = nn.attention(q, k, v, mask, scale)
    seen = mask if is_bool else equated("not_equal", mask, -math.inf)  # who sees nothing is 0, in torch
    return op.where(op.any(seen, axis=-1, keepdims=True), made, converted(0.0, dtype_of_value(made)))


# ------------------------------------------------------------------------------------------------------------- losses


def _over(losses: Expr, reduction: str) -> Expr:
    """What is told of the losses of many."""
    if reduction not in ("mean", "sum", "none"):
        raise refusal(caller_span(), f"the reduction {reduction!r}", "use mean, sum or none")
    return losses if reduction == "none" else REDUCTIONS[reduction](losses)


def _loss(function: Callable[[Any, Any], Expr]) -> Layer:
    """A loss of elements; the two tensors have one shape."""

    def loss(x: Any, y: Any, *, reduction: str = "mean") -> Expr:
        return _over(function(x, _of_shape_of(x, y)), reduction)

    return loss


def _of_shape_of(x: Any, y: Any) -> Any:
    """The second of two tensors of one shape. Where only the run knows the extents, it ends if they differ."""
    shapes = [getattr(getattr(each, "checked_type", None), "shape", ()) for each in (x, y)]
    differ = [pair for pair in zip(*shapes, strict=False) if pair[0] != pair[1]]
    if len(shapes[0]) != len(shapes[1]) or any(isinstance(a, int) and isinstance(b, int) for a, b in differ):
        raise refusal(caller_span(), f"a loss between the shapes {shapes[0]} and {shapes[1]}",
                      "give two tensors of one shape: x.squeeze(-1)")  # fmt: skip
    if not differ:
        return y
    for axis in range(len(shapes[0])):
        same = equated("equal", extent_along(x, axis), extent_along(y, axis))
        y = op.checked(y, same, "a loss is between tensors of two shapes") if is_expr(same) else y
    return op.reshape_like(y, x)


def _divergence_loss(x: Any, y: Any, *, reduction: str = "mean") -> Expr:
    """`kl_div`, whose mean may be that of the rows."""
    if reduction != "batchmean":
        return _loss(_divergence)(x, y, reduction=reduction)
    return combined("divide", _loss(_divergence)(x, y, reduction="sum"), extent_along(x, 0))


def _square(x: Any, y: Any) -> Expr:
    apart = combined("subtract", x, y)
    return op.multiply(apart, apart)


def _smooth(x: Any, y: Any) -> Expr:
    apart = op.abs(combined("subtract", x, y))
    near = combined("multiply", op.multiply(apart, apart), 0.5)
    return op.where(equated("less", apart, 1.0), near, combined("subtract", apart, 0.5))


def _cross_of_shares(x: Any, y: Any) -> Expr:
    """Of probabilities; logarithms are at least -100, as in torch."""
    logs = [combined("maximum", op.log(each), -100.0) for each in (x, combined("subtract", 1.0, x))]
    return op.negative(
        op.add(combined("multiply", logs[0], y), combined("multiply", logs[1], combined("subtract", 1.0, y)))
    )


def _cross_of_scores(x: Any, y: Any) -> Expr:
    return combined("subtract", _log_of_one_and_exp(x), combined("multiply", x, y))


def _divergence(x: Any, y: Any) -> Expr:
    """Of logarithms from shares; what has no share adds nothing."""
    logs = op.log(op.where(equated("greater", y, 0), y, op.ones_like(y)))
    return combined("multiply", y, combined("subtract", logs, x))


def _nll(x: Expr, y: Expr, *, reduction: str = "mean") -> Expr:
    """What stands at the class that is right, of logarithms."""
    if rank_of(x) - rank_of(y) != 1 or rank_of(x) > 2:
        raise refusal(caller_span(), "this loss of more axes than one of cases and one of classes",
                      "reshape the scores to (-1, classes), and the classes to (-1,)")  # fmt: skip
    extent = extent_along(x, -1)
    inside = op.logical_and(equated("less", y, extent), equated("greater_equal", y, 0))
    chosen = op.expand_dims(op.checked(y, op.all(inside), "a class is out of range"), -1)
    return _over(op.negative(op.squeeze(along_axis(x, chosen, -1), -1)), reduction)


def _cross_entropy(x: Expr, y: Expr, *, reduction: str = "mean") -> Expr:
    """Of scores: with the classes that are right, or with the share that each class has."""
    if not dtype_of_value(y).is_float:
        return _nll(nn.log_softmax(floating(x), -1), y, reduction=reduction)
    if rank_of(x) > 2:
        raise refusal(caller_span(), "this loss of more axes than two", "reshape the scores to (-1, classes)")
    return _over(op.negative(op.sum(op.multiply(nn.log_softmax(x, -1), y), axis=-1)), reduction)


# ------------------------------------------------------------------------------------------------------------- tables

_ELEMENTS: Mapping[str, Layer] = {
    "relu": nn.relu, "sigmoid": op.sigmoid, "silu": nn.silu, "elu": _elu, "selu": _selu, "softplus": _softplus,
    "leaky_relu": _leaky_relu, "relu6": _clipped(0.0, 6.0),
}  # fmt: skip
LAYERS: Mapping[str, Mapping[str, Layer]] = {
    "torch": {
        **CONVOLUTIONS, **{name: _ELEMENTS[name] for name in ("relu", "sigmoid", "selu")}, "erf": op.erf,
        "rsqrt": op.rsqrt, "cosine_similarity": _cosine, "softmax": _of_axis(nn.softmax),
        "log_softmax": _of_axis(nn.log_softmax),
    },
    "torch.nn.functional": {
        **WINDOWS, **_ELEMENTS, "gelu": _gelu, "linear": _linear, "softmax": _of_axis(nn.softmax), "tanh": op.tanh,
        "log_softmax": _of_axis(nn.log_softmax), "glu": _glu, "layer_norm": _layer_norm, "normalize": _normalized,
        "hardtanh": _clipped(-1.0, 1.0), "log_sigmoid": _log_sigmoid, "dropout": _dropout, "embedding": _embedding,
        "one_hot": _one_hot_within, "cosine_similarity": _cosine, "cross_entropy": _cross_entropy,
        "nll_loss": _nll, "mse_loss": _loss(_square), "smooth_l1_loss": _loss(_smooth),
        "l1_loss": _loss(lambda x, y: op.abs(combined("subtract", x, y))), "kl_div": _divergence_loss,
        "binary_cross_entropy": _loss(_cross_of_shares), "scaled_dot_product_attention": _attention,
        "binary_cross_entropy_with_logits": _loss(_cross_of_scores),
    },
    "jax.nn": {
        **{name: each for name, each in _ELEMENTS.items() if name != "softplus"}, "gelu": _gelu_by_tanh,
        "swish": nn.silu, "softplus": lambda x: _log_of_one_and_exp(floating(x)), "softmax": _of_axis(nn.softmax, -1),
        "log_softmax": _of_axis(nn.log_softmax, -1), "glu": lambda x, axis=-1: _glu(x, axis), "one_hot": _one_hot,
        "log_sigmoid": _log_sigmoid, "soft_sign": lambda x: op.divide(x, combined("add", op.abs(x), 1.0)),
        "logsumexp": lambda x, axis=None, *, keepdims=False: op.logsumexp(floating(x), axis, keepdims),
    },
}  # fmt: skip
"""What functions of other libraries are which NumPy lacks."""
