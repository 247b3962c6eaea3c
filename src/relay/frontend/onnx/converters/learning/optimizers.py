"""Steps of optimisers: Adagrad, Adam, Momentum. Inputs are the rate, how many steps there were, and for each tensor
itself, its gradient and what the optimiser keeps of it, kind by kind; the outputs are the tensors and what is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.formulas.normalizing import as_dtype
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.value import Value
from relay.ir.expr import Expr, const
from relay.ops.elementwise.comparison import greater, where
from relay.ops.elementwise.elementwise_binary import add, divide, multiply, power, subtract
from relay.ops.elementwise.elementwise_unary import sqrt
from relay.ops.manipulation.shape import reshape

_Step: TypeAlias = Callable[["_Inputs", Expr, Expr, Sequence[Expr]], Sequence[Expr]]
"""The rate and the count, a tensor, its gradient, and what is kept of it: the next tensor, and what is kept then."""


class _Inputs:
    """The rate and the count in the element type of one tensor, and numbers in it."""

    def __init__(self, node: OnnxNode, x: Value) -> None:
        self.node = node
        self.dtype = x.dtype
        self.rate = as_dtype(_scalar(node.value(0)), x.dtype)
        self.count = as_dtype(_scalar(node.value(1)), x.dtype)
        self.is_later = greater(_scalar(node.value(1)), const(0, node.value(1).dtype))

    def number(self, value: float) -> Expr:
        return const(value, self.dtype)

    def attribute(self, name: str) -> Expr:
        return self.number(self.node.float(name))


def _scalar(value: Value) -> Expr:
    return value.expr if value.rank == 0 else reshape(value.expr, ())


def _mixed(share: float, old: Expr, new: Expr, inputs: _Inputs) -> Expr:
    """share · old + (1 - share) · new"""
    return add(multiply(inputs.number(share), old), multiply(inputs.number(1 - share), new))


def _adagrad(inputs: _Inputs, x: Expr, gradient: Expr, kept: Sequence[Expr]) -> Sequence[Expr]:
    """Duchi, Hazan and Singer 2011, with a rate that decays."""
    (squares,) = kept
    decay = add(inputs.number(1), multiply(inputs.count, inputs.attribute("decay_factor")))
    squares = add(squares, multiply(gradient, gradient))
    step = divide(multiply(divide(inputs.rate, decay), gradient), add(sqrt(squares), inputs.attribute("epsilon")))
    return subtract(x, step), squares


def _adam(inputs: _Inputs, x: Expr, gradient: Expr, kept: Sequence[Expr]) -> Sequence[Expr]:
    """Kingma and Ba 2014, 1412.6980, algorithm 1, in the order of its section 2's last remark; before the first step
    nothing is corrected."""
    alpha, beta = inputs.node.float("alpha"), inputs.node.float("beta")
    mean, squares = (
        _mixed(alpha, kept[0], gradient, inputs),
        _mixed(beta, kept[1], multiply(gradient, gradient), inputs),
    )
    one = inputs.number(1)
    left, right = (subtract(one, power(inputs.number(share), inputs.count)) for share in (beta, alpha))
    rate = where(inputs.is_later, divide(multiply(inputs.rate, sqrt(left)), right), inputs.rate)
    step = multiply(rate, divide(mean, add(sqrt(squares), inputs.attribute("epsilon"))))
    shrunk = 1 - inputs.node.float("norm_coefficient_post")
    return multiply(inputs.number(shrunk), subtract(x, step)), mean, squares


def _momentum(inputs: _Inputs, x: Expr, gradient: Expr, kept: Sequence[Expr]) -> Sequence[Expr]:
    """Sutskever et al. 2013; the first gradient counts whole."""
    mode = inputs.node.text("mode")
    if mode not in ("standard", "nesterov"):
        inputs.node.unsupported(f"with mode {mode!r}")
    share = where(inputs.is_later, inputs.attribute("beta"), inputs.number(1))
    speed = add(multiply(inputs.attribute("alpha"), kept[0]), multiply(share, gradient))
    ahead = add(gradient, multiply(inputs.attribute("alpha"), speed)) if mode == "nesterov" else speed
    return subtract(x, multiply(inputs.rate, ahead)), speed


def _optimizer(step: _Step, kinds: int) -> Callable[[OnnxNode], Result]:
    """`kinds`: of tensors, the gradients among them."""

    def convert(node: OnnxNode) -> Result:
        values = [node.value(index) for index in range(2, len(node.inputs))]
        count, rest = divmod(len(values), kinds)
        if rest:
            node.unsupported(f"of {len(values)} tensors")
        made: list[Sequence[Expr]] = []
        for place in range(count):
            x, gradient, *kept = values[place::count]
            inputs = _Inputs(node, x)
            pulled = add(multiply(inputs.attribute("norm_coefficient"), x.expr), gradient.expr)
            made.append(step(inputs, x.expr, pulled, [each.expr for each in kept]))
        return tuple(each[kind] for kind in range(kinds - 1) for each in made)

    return convert


_DOMAIN = "ai.onnx.preview.training"

OPTIMIZERS: tuple[Converter, ...] = (
    converter(f"{_DOMAIN}.Adagrad", _optimizer(_adagrad, 3), "decay_factor", "epsilon", "norm_coefficient"),
    converter(
        f"{_DOMAIN}.Adam", _optimizer(_adam, 4), "alpha", "beta", "epsilon", "norm_coefficient", "norm_coefficient_post"
    ),
    converter(f"{_DOMAIN}.Momentum", _optimizer(_momentum, 3), "alpha", "beta", "mode", "norm_coefficient"),
)
