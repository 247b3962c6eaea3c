"""Functions of `jax.numpy` and `torch` in programs: those that mean what NumPy's mean, held against the library."""

from __future__ import annotations

import functools
import inspect
import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional as F  # noqa: N812 - as users call it

import relay
from relay.base.diagnostics import RelayError
from relay.frontend.python.library.numpy_arrays import MORE_METHODS
from relay.frontend.python.library.other_libraries.layers import LAYERS
from relay.frontend.python.library.other_libraries.torch_functions import FUNCTIONS_OF_TORCH
from relay.frontend.python.library.spellings import DIFFERENT, TORCH, method_names, numpy_function

from .running import flat

Matrix = relay.Tensor[(2, 3)]
X = np.array([[1.0, 2.5, -3.5], [0.5, -5.0, 6.0]], np.float32)


class jnp:  # noqa: N801 - as users call it
    """Functions that say that they are of `jax.numpy`; none of them is called."""

    @staticmethod
    def of(name: str) -> Callable[..., Any]:
        def stated(*_: Any, **__: Any) -> None:
            raise AssertionError("a program is read, not run")

        stated.__module__, stated.__name__, stated.__qualname__ = "jax.numpy", name, name
        return stated


tanh, maximum, concatenate, zeros, take, fft = map(
    jnp.of, ("tanh", "maximum", "concatenate", "zeros", "take", "fft2")
)  # fmt: skip


def joined(x: Matrix):
    return torch.cat([x, torch.sum(x, dim=1, keepdim=True)], dim=1)


def elements(x: Matrix):
    return (
        torch.clamp(x, 0.0, 2.0),
        torch.pow(x, 2),
        torch.remainder(x, 2.0),
        torch.where(x > 0, x, 0.0),
        torch.round(x),
    )


def arranged(x: Matrix):
    turned = torch.permute(x, (1, 0))
    return (
        turned @ torch.transpose(x, 0, 1).T,
        torch.flip(x, dims=(0,)),
        torch.unsqueeze(turned, 1),
        torch.roll(x, 1, 1),
    )


def summed(x: Matrix):
    return torch.einsum("ij,kj->ik", x, x), torch.cumsum(x, dim=1), torch.mean(x, dim=0), torch.amax(x, dim=1)


def compared(x: Matrix):
    return (
        torch.eq(x, 0.5),
        torch.ge(x, 1.0),
        torch.argmax(x, dim=1),
        torch.logical_not(torch.isfinite(x)),
        torch.any(x > 6),
    )


def stacked(x: Matrix):
    wide = torch.hstack([x, x]), torch.vstack([x, x]), torch.stack([x, x], dim=1), torch.tile(x, (2, 2))
    return *wide, torch.concatenate([x, x], dim=0), torch.movedim(torch.stack([x, x]), 0, 2)


def multiplied(x: Matrix):
    row, other = x[0], x[1]
    products = torch.dot(row, other), torch.vdot(row, other), torch.inner(row, other), torch.outer(row, other)
    return *products, torch.kron(row, other), torch.cumprod(x, dim=0), torch.bmm(torch.stack([x]), torch.stack([x.T]))


def shaped(x: Matrix):
    wide = torch.broadcast_to(x[0], (2, 3)), torch.reshape(x, (3, 2)), torch.swapaxes(x, 0, 1), torch.diff(x, dim=0)
    return *wide, torch.full_like(x, 2.0), torch.arange(3) + x, torch.prod(x, dim=0), torch.argsort(x, dim=0)


def kept_alone(x: Matrix):
    y = torch.exp(x)
    y += 1
    return y


@pytest.mark.parametrize(
    "definition", [joined, elements, arranged, summed, compared, stacked, multiplied, shaped, kept_alone]
)
def test_torch_means_what_torch_computes(definition: Callable[[Any], Any]):
    found, expected = relay.function(definition)(X), definition(torch.from_numpy(X.copy()))
    single = not isinstance(expected, tuple)
    for each, wanted in zip((found,) if single else found, (expected,) if single else expected, strict=True):
        np.testing.assert_allclose(each, wanted.numpy(), rtol=1e-5, atol=1e-6)


ONE = (
    "abs", "absolute", "acos", "acosh", "all", "amax", "amin", "any", "arccos", "arccosh", "arcsin", "arcsinh",
    "arctan", "arctanh", "argmax", "argmin", "argsort", "argwhere", "asin", "asinh", "atan", "atanh", "ceil",
    "clone", "cos", "cosh", "count_nonzero", "deg2rad", "diag", "diagonal", "diff", "exp", "exp2", "expm1",
    "fliplr", "flipud", "floor", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2", "logical_not",
    "mean", "neg", "negative", "ones_like", "positive", "prod", "rad2deg", "ravel", "reciprocal", "round", "sign",
    "sin", "sinh", "sqrt", "square", "squeeze", "sum", "tan", "tanh", "trace", "tril", "triu", "trunc", "unique",
    "zeros_like",
)  # fmt: skip
TWO = (
    "add", "allclose", "arctan2", "atan2", "copysign", "div", "divide", "eq", "floor_divide", "fmax", "fmin",
    "fmod", "ge", "greater", "greater_equal", "gt", "heaviside", "hypot", "isclose", "isin", "le", "less",
    "less_equal", "logaddexp", "logical_and", "logical_or", "logical_xor", "lt", "matmul", "maximum", "minimum",
    "mm", "mul", "multiply", "ne", "not_equal", "remainder", "sub", "subtract", "true_divide",
)  # fmt: skip


@pytest.mark.parametrize("name", ONE)
def test_a_function_of_one_tensor_is_torch_s(name: str):
    """On numbers in and out of what the function is defined on."""
    function = getattr(torch, name)
    x = np.array([[0.25, -0.75], [1.5, 2.5]], np.float32)

    def program(x: relay.Tensor[(2, 2)]):
        return function(x)

    expected = function(torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(relay.function(program)(x), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", TWO)
def test_a_function_of_two_tensors_is_torch_s(name: str):
    function = getattr(torch, name)
    x = np.array([[0.25, -0.75], [1.5, 0.0]], np.float32)
    y = np.array([[2.0, -0.75], [-0.5, 3.0]], np.float32)

    def program(x: relay.Tensor[(2, 2)], y: relay.Tensor[(2, 2)]):
        return function(x, y)

    expected = function(torch.from_numpy(x), torch.from_numpy(y))
    np.testing.assert_allclose(relay.function(program)(x, y), np.asarray(expected), rtol=1e-5, atol=1e-6)


def _takes_one(layer: Callable[..., Any]) -> bool:
    """Whether a layer takes one tensor of floats."""
    if "num_classes" in inspect.signature(layer).parameters:
        return False
    parameters = inspect.signature(layer).parameters.values()
    return sum(each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD for each in parameters) == 1


LAYERS_OF_ONE = [(of, name) for of in LAYERS for name in LAYERS[of] if _takes_one(LAYERS[of][name])]
BY_TORCH = {
    "gelu": functools.partial(F.gelu, approximate="tanh"), "swish": F.silu, "soft_sign": F.softsign,
    "log_sigmoid": F.logsigmoid, "softmax": functools.partial(F.softmax, dim=-1),
    "log_softmax": functools.partial(F.log_softmax, dim=-1),
    "logsumexp": functools.partial(torch.logsumexp, dim=(0, 1)),
}  # fmt: skip
"""Functions of `jax.nn`, where torch calls them otherwise."""


@pytest.mark.parametrize(("library", "name"), LAYERS_OF_ONE)
def test_layers(library: str, name: str):
    if library == "jax.nn":
        function, exact = jnp.of(name), BY_TORCH.get(name) or getattr(F, name)
        function.__module__ = "jax._src.nn.functions"  # as those of jax.nn say that they are of
    else:
        function = exact = getattr({"torch": torch}.get(library, F), name.replace("log_sigmoid", "logsigmoid"))
    x = np.concatenate([X, X[:, :1]], axis=1)
    if name == "dropout":

        def program(x: relay.Tensor[(2, 4)]):
            return function(x, training=False)

        exact = functools.partial(exact, training=False)
    elif name.endswith("softmax") and library != "jax.nn":

        def program(x: relay.Tensor[(2, 4)]):
            return function(x, dim=0)

        exact = functools.partial(exact, dim=0)
    else:

        def program(x: relay.Tensor[(2, 4)]):
            return function(x)

    wanted = exact(torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(relay.function(program)(x), wanted, rtol=1e-5, atol=1e-6)


def test_a_linear_layer():
    def program(x: Matrix, w: relay.Tensor[(4, 3)], b: relay.Tensor[(4,)]):
        return F.linear(x, w, b), F.linear(x, w)

    w, b = np.arange(12, dtype=np.float32).reshape(4, 3), np.ones(4, np.float32)
    wanted = program(*map(torch.from_numpy, (X, w, b)))
    for found, exact in zip(relay.function(program)(X, w, b), wanted, strict=True):
        np.testing.assert_allclose(found, exact.numpy(), rtol=1e-5, atol=1e-6)


def test_methods_of_tensors():
    def program(x: Matrix):
        y = x - x.mean(dim=1, keepdim=True)
        return y.unsqueeze(0), y.relu(), y.softmax(dim=0), x.sum(dim=0), x.amax(dim=1), y.clamp(-1.0, 1.0)

    wanted = program(torch.from_numpy(X))
    for found, exact in zip(relay.function(program)(X), wanted, strict=True):
        np.testing.assert_allclose(found, exact.numpy(), rtol=1e-5, atol=1e-6)


Batch, Open, Places = relay.Tensor[("b", "t", 8)], relay.Tensor[("n", "m")], relay.Tensor[(3,), "int64"]
Images = relay.Tensor[("b", 3, 8, 8)]
Cube, Six, Three = relay.Tensor[(2, 3, 4)], relay.Tensor[("n", 6)], relay.Tensor[(3,), "int32"]
Number = relay.Tensor[(), "int32"]
Random = np.random.default_rng(1)


def random(*shape: int) -> Any:
    return Random.standard_normal(shape).astype(np.float32)


def means_torch(definition: Callable[..., Any], *arguments: Any) -> None:
    """A program gives what torch gives, in the same order and shapes."""
    found = flat(relay.function(definition)(*arguments))
    wanted = flat(definition(*(torch.from_numpy(each.copy()) for each in arguments)))
    assert len(found) == len(wanted)
    for each, exact in zip(found, wanted, strict=True):
        assert np.shape(each) == np.shape(exact)
        np.testing.assert_allclose(each, exact, rtol=1e-4, atol=1e-5)


def test_tensors_that_are_made():
    def known(x: Matrix):
        sizes = (
            torch.zeros(2, 3),
            torch.ones(3),
            torch.zeros((2, 3)),
            torch.full((2, 3), 0.5),
            torch.zeros(x.size(0), 3),
        )
        typed = torch.zeros(3, dtype=torch.int32), torch.ones_like(x, dtype=torch.int32), torch.tensor([[1, 2], [3, 4]])
        return *sizes, *typed, torch.arange(0, 4, 2), torch.eye(3), torch.tensor(2.0) * x, torch.linspace(0, 1, 5)

    def by_extents(x: Open):
        n, d = x.shape
        return torch.zeros(n, d) + x, torch.ones(d), torch.full((n,), 2.0), torch.arange(n), torch.eye(n)

    means_torch(known, X)
    means_torch(by_extents, X)


def test_arrays_that_are_known_now_have_the_methods_of_torch():
    def known(x: Matrix):
        scale, places = torch.tensor([0.5, 0.25, 2.0]), torch.arange(6)
        views = scale.view(1, 3), scale.unsqueeze(-1), places.view(2, -1).t(), torch.eye(3)[1].repeat(2, 1)
        typed = places.float(), places.to(torch.float32), places.long(), torch.tensor([1, 2]).type_as(x)
        values, order = torch.tensor([3, 1, 2]).sort()
        found = scale.std(), scale.max(dim=0).values, values, order, torch.ones(2, 3).size(0), scale.clamp(min=1)
        return *views, *typed, *found, x * scale.view(1, 3), torch.tensor([2, 3]).prod().item(), places.numel()

    means_torch(known, X)


def test_words_of_numpy_and_devices_in_functions_of_torch():
    def program(x: Open):
        made = torch.zeros(x.shape[0], device=x.device), torch.cat([x, x], axis=0), x.to(x.device)
        return *made, x.sum(axis=0), x.max(axis=1).values, torch.mean(x, axis=1, keepdims=True), torch.max(x, other=-x)

    means_torch(program, random(3, 4))


def test_values_and_places():
    def extremes(x: Open):
        values, places = torch.max(x, dim=1)
        found = x.max(dim=0).values, torch.min(x, 1).indices, x.min(dim=1, keepdim=True).values
        return values, places, *found, torch.max(x), torch.max(x, 2 * x), x.max(1)[0]

    def ordered(x: relay.Tensor[(6,)]):
        values, places = torch.sort(x, descending=True)
        first = torch.topk(x, 2), torch.topk(x, 3, largest=False), x.sort()
        return values, places, *first, torch.argsort(x, descending=True), torch.median(x)

    def middle(x: Open):
        return torch.median(x, dim=1), x.median(dim=0, keepdim=True).indices, x.topk(2, dim=1).values

    means_torch(extremes, random(3, 4))
    means_torch(ordered, random(6))
    means_torch(middle, random(5, 4))


def test_spreads_divide_by_one_less():
    def spreads(x: Open):
        of_all = torch.std(x), x.var(), torch.std(x, False), torch.std_mean(x)
        return *of_all, torch.var(x, dim=0), x.std(dim=1, keepdim=True), torch.var(x, dim=1, correction=0)

    def by_the_names_of_arguments(x: Open):
        return x.std(dim=1), x.var(dim=0, unbiased=False)

    def beside_means(x: Open):
        by_dim = torch.var_mean(x, dim=1, keepdim=True, unbiased=False), torch.std_mean(x, (0, 1), True, True)
        of_all = torch.var_mean(x, False), torch.std_mean(x, unbiased=False)
        return *by_dim, *of_all, torch.var_mean(x, dim=1, correction=2), x.std(dim=0, correction=0)

    means_torch(spreads, random(3, 4))
    means_torch(beside_means, random(3, 4))
    means_torch(by_the_names_of_arguments, random(3, 4))


def test_reductions():
    def reduced(x: Open):
        kept = (
            x.sum(dim=1, keepdim=True),
            x.sum(-1, True),
            torch.sum(x, 1, True),
            torch.mean(x, dim=(0, 1), keepdim=True),
        )
        norms = x.norm(), torch.norm(x, dim=1), x.norm(p=1, dim=0), torch.linalg.norm(x, dim=1)
        return *kept, *norms, x.mean((0, 1)), (x > 0).any(dim=1), x.cumsum(dim=1), torch.logsumexp(x, dim=1)

    means_torch(reduced, random(3, 4))


def test_shapes():
    def of_known(x: Cube):
        views = x.view(2, 12), x.view(x.size(0), -1), x.permute(2, 0, 1), x.transpose(1, 2), x.flatten(1), x.mT
        typed = x.float(), x.long(), x.to(torch.int32), x.double(), x.bool(), x.type_as(x)
        repeated = x[0].repeat(2, 1), x.repeat_interleave(2, dim=0), x.expand(2, 3, 4), x[:, :1].expand(-1, 3, -1)
        return *views, *typed, *repeated, x.size(), x.numel(), x.dim(), x.squeeze(0), x[0].t(), torch.flatten(x, 0, 1)

    def of_open(x: Batch):
        b, t, d = x.size()
        return x.view(b, t * d), x.view(b, t, 2, d // 2).transpose(1, 2), x.flatten(0, 1), x.reshape(-1, d), x.numel()

    means_torch(of_known, random(2, 3, 4))
    means_torch(of_open, random(2, 3, 8))


def test_parts():
    def of_known(x: relay.Tensor[(4, 6)]):
        return x.chunk(2, dim=1), torch.split(x, 4, dim=1), x.split([1, 5], dim=1), x.unbind(0), x.narrow(1, 1, 2)

    def of_open(x: Six):
        i, f, g = x.chunk(3, 1)
        return torch.sigmoid(i) * f, g, x.split([1, 5], dim=1)

    means_torch(of_known, random(4, 6))
    means_torch(of_open, random(4, 6))


@pytest.mark.parametrize(("rows", "columns"), [(4, 6), (5, 7), (3, 2)])
def test_chunks_of_any_extent(rows: int, columns: int):
    def of_open(x: Open):
        first, second = x.chunk(2, dim=1)
        return x.chunk(2), first.relu(), torch.sigmoid(second), x.tensor_split(3, dim=1), torch.tensor_split(x, [1])

    means_torch(of_open, random(rows, columns))


def test_fewer_chunks_than_are_taken_end_the_run():
    @relay.function
    def of_open(x: Open):
        return torch.chunk(x, 4)

    with pytest.raises(RelayError) as caught:
        of_open(random(5, 1))  # torch gives three
    assert caught.value.rule == "check-failed"


def test_padding():
    def padded(x: Open, n: Number):
        by_zeros = F.pad(x, (n, 0)), F.pad(x, (0, n, 1, n), value=2.0), F.pad(x, (0, 0, 0, 6 - x.shape[0]))
        return (
            *by_zeros,
            F.pad(x, (n, 1), mode="circular"),
            F.pad(x, (1, n), mode="replicate"),
            F.pad(x, (1, n), "reflect"),
        )

    means_torch(padded, random(3, 4), np.array(2, np.int32))


def test_places():
    def picked(x: Open, i: Places):
        gathered = x.gather(1, i.unsqueeze(1)), torch.gather(x, 1, i[:, None]).squeeze(1), torch.index_select(x, 1, i)
        masked = x.masked_fill(x > 0, -1.0), torch.masked_select(x, x > 0), torch.nonzero(x > 0)
        return *gathered, *masked, x[torch.arange(3), i], F.one_hot(i, 4), F.embedding(i, x.t())

    means_torch(picked, random(3, 4), np.array([1, 0, 3]))


def test_a_place_outside_ends_the_run():
    @relay.function
    def picked(x: Open, i: Places):
        return x.gather(1, i.unsqueeze(1))

    with pytest.raises(RelayError, match="the index is out of range"):
        picked(random(3, 4), np.array([1, 0, 4]))


def test_arithmetic():
    def computed(x: Open, y: Open):
        divided = (
            torch.div(x, y, rounding_mode="floor"),
            torch.div(x, y, rounding_mode="trunc"),
            torch.add(x, y, alpha=2),
        )
        clamped = x.clamp(min=0), torch.clamp(x, max=0.5), torch.clamp(x, 0, 1), torch.lerp(x, y, 0.5)
        return *divided, *clamped, x.pow(2), torch.where(x > 0, 1.0, y), torch.cosine_similarity(x, y, dim=1)

    means_torch(computed, random(3, 4), random(3, 4))


def test_methods_are_called_on_what_they_choose_from():
    def chosen(x: Open):
        return x.where(x > 0, torch.zeros_like(x)), x.matmul(x.t()), x.diff(dim=1), x.tile((1, 2)), x.quantile(0.5)

    means_torch(chosen, random(3, 4))


def test_methods_of_numbers():
    def numbers(x: Open):
        return x.mean().exp(), x.sum().exp().clamp(max=5.0), torch.sqrt(x.var()), torch.tensor(3.0).sqrt() * x.sum()

    means_torch(numbers, random(3, 4))


def test_norms():
    def norms(x: Matrix, w: relay.Tensor[(3,)], b: relay.Tensor[(3,)]):
        plain = F.layer_norm(x, (3,)), F.layer_norm(x, x.shape[-1:], w, b), F.normalize(x, dim=1)
        return *plain, F.layer_norm(x, (x.size(-1),), weight=w, bias=b, eps=1e-6), F.leaky_relu(x, 0.2)

    means_torch(norms, X, random(3), random(3))


def test_losses():
    def of_classes(x: relay.Tensor[(3, 4)], y: Places):
        scores = F.cross_entropy(x, y), F.cross_entropy(x, y, reduction="sum"), F.cross_entropy(x, y, reduction="none")
        return *scores, F.nll_loss(F.log_softmax(x, dim=1), y), F.cross_entropy(x, F.softmax(x, dim=1))

    def of_numbers(x: Open, y: Open):
        shares = F.binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(y)), F.mse_loss(x, y), F.smooth_l1_loss(x, y)
        apart = F.kl_div(F.log_softmax(x, dim=1), F.softmax(y, dim=1), reduction="sum"), F.l1_loss(x, y)
        return *shares, *apart, F.binary_cross_entropy_with_logits(x, torch.sigmoid(y))

    means_torch(of_classes, random(3, 4), np.array([1, 0, 3]))
    means_torch(of_numbers, random(3, 4), random(3, 4))


def test_images():
    def network(x: Images, w: relay.Tensor[(4, 3, 3, 3)], b: relay.Tensor[(4,)]):
        y = F.max_pool2d(F.relu(F.conv2d(x, w, b, padding=1)), 2)
        means = F.avg_pool2d(y, 3, stride=1, padding=1), F.adaptive_avg_pool2d(y, 1).flatten(1), y.mean(dim=(2, 3))
        normal = F.batch_norm(x, b[:3], b[1:].abs(), b[:3], b[1:])
        return torch.flatten(y, 1), *means, F.conv2d(x, w, stride=2), F.pad(x, (1, 2, 0, 3)), normal

    def signal(x: relay.Tensor[(2, 3, 8)], w: relay.Tensor[(4, 3, 3)], b: relay.Tensor[(4,)]):
        return F.conv1d(x, w, b), F.conv1d(x, w, padding=1), F.conv1d(x, w, stride=2, dilation=2)

    means_torch(network, random(2, 3, 8, 8), random(4, 3, 3, 3), random(4))
    means_torch(signal, random(2, 3, 8), random(4, 3, 3), random(4))


def test_attention_of_several_heads():
    def attention(x: Batch, w: relay.Tensor[(8, 24)]):
        b, t, c = x.size()
        q, k, v = (x @ w).split(8, dim=2)
        q, k, v = (each.view(b, t, 2, 4).transpose(1, 2) for each in (q, k, v))
        scores = q @ k.transpose(-2, -1) / math.sqrt(k.size(-1))
        scores = scores.masked_fill(torch.tril(torch.ones(t, t)) == 0, float("-inf"))
        return (F.softmax(scores, dim=-1) @ v).transpose(1, 2).contiguous().view(b, t, c)

    means_torch(attention, random(2, 5, 8), random(8, 24))


Queries, Keys = relay.Tensor[("b", "h", "t", 4)], relay.Tensor[("b", "h", "s", 4)]
Seen, Added, Deep = relay.Tensor[("t", "s"), "bool"], relay.Tensor[("t", "s")], relay.Tensor[("b", "t", "d")]


def test_attention_with_masks():
    def masked(q: Queries, k: Keys, seen: Seen, added: Added):
        attention = F.scaled_dot_product_attention
        causal = attention(q, k, k, is_causal=True), attention(q, q, q, is_causal=True, scale=0.3)
        return *causal, attention(q, k, k, attn_mask=seen), attention(q, k, k, added), attention(q, k, k, seen[0][None])

    def of_any_depth(x: Deep):
        later = torch.ones(x.size(1), x.size(1)).triu(1).bool()
        causal = F.scaled_dot_product_attention(x, x, x, attn_mask=~later)
        return causal, F.scaled_dot_product_attention(x, x, x)

    seen = np.array([[1, 1, 0, 1, 0], [0, 0, 0, 0, 0], [0, 1, 1, 1, 1]], np.bool_)  # the second sees nothing
    added = np.where(seen, random(3, 5), -np.inf).astype(np.float32)
    means_torch(masked, random(2, 1, 3, 4), random(2, 1, 5, 4), seen, added)
    means_torch(of_any_depth, random(2, 3, 4))


def test_parts_of_arrays_of_jax_that_are_known_now():
    def program(x: Matrix):
        return x + np.array([1.0, 2.0, 3.0]).at[0].set(5.0)

    np.testing.assert_allclose(relay.function(program)(X), X + np.array([5.0, 2.0, 3.0]), rtol=1e-6)


def test_parts_of_arrays_of_jax():
    @relay.function
    def changed(x: relay.Tensor[(5,)], i: Three):
        kept = x.at[0].set(1.0), x.at[1:3].set(0.0), x.at[i].set(7.0), x.at[-1].add(2.0), x.at[i].get()
        return *kept, x.at[i].add(1.0), x.at[i].max(0.5), x.at[i].multiply(2.0), x.at[x > 0].set(0.0), x

    x, i = np.array([-1, 2, 3, -4, 5], np.float32), np.array([0, 2, 0], np.int32)
    wanted = [
        [1, 2, 3, -4, 5], [-1, 0, 0, -4, 5], [7, 2, 7, -4, 5], [-1, 2, 3, -4, 7], [-1, 3, -1],
        [1, 2, 4, -4, 5], [0.5, 2, 3, -4, 5], [-4, 2, 6, -4, 5], [-1, 0, 0, -4, 0], [-1, 2, 3, -4, 5],
    ]  # fmt: skip
    for found, exact in zip(changed(x, i), wanted, strict=True):
        np.testing.assert_array_equal(found, exact)


def test_a_softmax_of_torch_says_its_axis():
    def program(x: Matrix):
        return F.softmax(x)

    with pytest.raises(RelayError, match="say along which axis: dim=-1"):
        relay.function(program)(X)


def test_every_entry_is_a_function_of_both():
    assert [name for name in TORCH.values() if numpy_function(name) is None] == []
    assert [name for name in TORCH if not callable(operator.attrgetter(name)(torch))] == []
    assert [name for name in FUNCTIONS_OF_TORCH if not hasattr(torch, name) and not hasattr(torch.Tensor, name)] == []
    assert [name for name in method_names() - MORE_METHODS.keys() if not hasattr(torch.Tensor, name)] == []
    assert not {name for library, name in DIFFERENT if library == "torch"} & TORCH.keys()


def test_jax_numpy_means_numpy():
    def program(x: Matrix):
        larger = functools.reduce(maximum, [x, 2 * x, 1 - x])
        return concatenate([tanh(x), zeros((1, 3))], axis=0), larger

    joined, larger = relay.function(program)(X)
    np.testing.assert_allclose(joined, np.concatenate([np.tanh(X), np.zeros((1, 3))]), rtol=1e-5)
    np.testing.assert_array_equal(larger, np.maximum(np.maximum(X, 2 * X), 1 - X))


def refused(definition: Callable[..., object]) -> tuple[str, str]:
    with pytest.raises(RelayError) as caught:
        _ = relay.function(definition).module
    assert caught.value.rule == "python-subset"
    return caught.value.message, caught.value.remedy


def test_what_means_something_else_is_refused_by_name():
    def elements(x: Matrix):
        return torch.take(x, x)

    def row(x: Matrix):
        return take(x, 1, axis=0)

    def transformed(x: Matrix):
        return fft(x)

    def drawn(x: Matrix):
        return x + torch.randn(2, 3)

    def unknown(x: Matrix):
        return torch.linalg.svd(x)

    def changed(x: Matrix):
        return x.add_(1)

    def same(x: Matrix):
        y = torch.relu(x).float().cpu()
        y[0] = 1.0
        z = x.float()
        z[0] = 5.0
        return x, y

    def of_both(x: Matrix):
        return x.std() * np.sqrt(torch.sum(x))

    cannot = "cannot become a Relay program"
    assert refused(elements)[0] == f"the call of `torch.take` {cannot}"
    assert refused(row) == (
        f"the call of `jax.numpy.take` {cannot}", "what lies outside is NaN there: write x[i], or np.take",
    )  # fmt: skip
    assert refused(transformed)[0] == f"the call of `jnp.fft2` {cannot}"
    assert refused(drawn)[1] == "make random numbers outside of the program, and give it them"
    assert "docs/python_front_end.md" in refused(unknown)[1]
    assert refused(of_both) == (
        f"`.std` in a function that names NumPy and torch {cannot}", "say whose: np.std(x), or torch.std(x)",
    )  # fmt: skip
    assert "something else may hold too" in refused(same)[0]
    with pytest.raises(RelayError, match="has no `add_`") as caught:
        _ = relay.function(changed).module
    assert caught.value.remedy == "write x = x.add(...), which makes a new value"


def test_a_function_that_gives_a_method_its_dim_is_of_torch():
    @relay.function
    def both(x: Matrix):
        return x.transpose(0, 1), x.std(), x.sum(dim=1)

    for found, expected in zip(both(X), both.__wrapped__(torch.tensor(X)), strict=True):
        np.testing.assert_allclose(found, expected.numpy(), rtol=1e-6)


def test_torch_s_descending_orders_end_the_run_where_there_is_nan():
    def ordered(x: Matrix):
        return torch.sort(x, dim=1, descending=True)[0], torch.topk(x, 2, dim=1)[0]

    def places(x: Matrix):
        return torch.argsort(x, dim=1, descending=True)

    with_nan = np.where(X > 2, np.nan, X).astype(np.float32)
    for definition in (ordered, places):
        found, expected = flat(relay.function(definition)(X)), flat(definition(torch.tensor(X)))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)
        with pytest.raises(RelayError, match="with NaN, which torch puts first"):
            relay.function(definition)(with_nan)


def test_losses_of_open_extents():
    def losses(x: relay.Tensor[(relay.symbol("n"), 3)], k: int):
        one, other = x[:k], x[: k + 1][1:]
        rows = F.kl_div(F.log_softmax(x, dim=-1), F.softmax(x * 2, dim=-1), reduction="batchmean")
        return F.mse_loss(one, other), F.binary_cross_entropy_with_logits(one, other.sigmoid()), rows

    x = np.random.default_rng(3).standard_normal((4, 3)).astype(np.float32)
    found = relay.function(losses)(x, 2)
    wanted = losses(torch.from_numpy(x), 2)
    for each, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(each, other.numpy(), rtol=1e-5)
    with pytest.raises(relay.RelayError, match="two shapes"):
        relay.function(losses)(x, 4)
