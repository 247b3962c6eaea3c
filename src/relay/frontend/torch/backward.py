"""Operators of the way back, as PyTorch captures it: each by the gradients of what its operator is forward.

    convolution_backward(g, x, w)  →  the pullback of nn.conv2d(x, w) at g

So their kernels are those that `relay.grad` has. What has no converter here PyTorch takes apart.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from relay.autodiff.pullback import pullback
from relay.frontend.shared.node import Result, converter, results_of
from relay.frontend.shared.structures import typed
from relay.frontend.shared.value import Value
from relay.frontend.torch.converters.attention import ATTENTION
from relay.frontend.torch.converters.convolution import CONVOLUTIONS
from relay.frontend.torch.converters.images import IMAGES
from relay.frontend.torch.converters.pooling import POOLINGS
from relay.frontend.torch.converters.shapes import SHAPES
from relay.frontend.torch.node import Converter, TorchNode, converters
from relay.frontend.torch.recurrent import RECURRENT
from relay.ir.expr import Call, Expr, ExprBase, Function, Let, Tuple, TupleGetItem, Var
from relay.ir.traversal import post_order
from relay.ir.types import TensorType
from relay.ops.creation.create import zeros
from relay.ops.framework.build import with_known_type
from relay.ops.reduction.reduce import sum as sum_over
from relay.ops.transformations import VJP, called

WHOLE: Mapping[str, int] = MappingProxyType(
    {
        "aten.scaled_dot_product_attention.default": 1,
        "aten.lstm.input": 3, "aten.gru.input": 2, "aten.rnn_tanh.input": 2, "aten.rnn_relu.input": 2,
        "aten.upsample_nearest1d.vec": 1, "aten.upsample_nearest2d.vec": 1, "aten._upsample_nearest_exact1d.vec": 1,
        "aten._upsample_nearest_exact2d.vec": 1, "aten.upsample_linear1d.vec": 1, "aten.upsample_bilinear2d.vec": 1,
        "aten.upsample_bicubic2d.vec": 1,
    }
)  # fmt: skip
"""Operators that PyTorch takes apart where gradients are asked for, and how many results they have. In graphs that are
captured for training they stand as operators of the namespace `relay`, and so do their gradients."""


def own_name(operator: str) -> str:
    """What an operator that stays whole is called in the namespace `relay`.

    >>> own_name("aten.lstm.input")
    'lstm'
    """
    return operator.split(".")[1]


_FORWARD = {
    record.operator: record
    for records in (CONVOLUTIONS, POOLINGS, IMAGES, SHAPES, ATTENTION, RECURRENT)
    for record in records
}


def _gradients(
    node: TorchNode, forward: str, inputs: Sequence[Value | None], types: Sequence[TensorType],
    cotangents: Sequence[Expr | None], known: Sequence[Expr] = (),
) -> tuple[Expr, ...]:  # fmt: skip
    """The cotangents of the float tensors among the inputs of the operator `forward`, which the arguments of `node` are
    given to. `types` and `cotangents` are those of its results, which may be `known` already."""
    given: dict[Var, Expr] = {}
    taken: list[Value | None] = []
    for place, value in enumerate(inputs):
        if value is not None and value.dtype.is_float and value.known is None:
            var = with_known_type(Var(f"input_{place}", value.type))
            given[var] = value.expr
            value = node.made(var, value.type)
        taken.append(value)
    through = replace(node, inputs=tuple(taken), types=tuple(types), output_count=len(types))
    made = results_of(_FORWARD[forward].convert(through))[: len(types)]
    results = [each.expr if isinstance(each, Value) else each for each in made]
    exprs = [each for each in results if isinstance(each, ExprBase)]
    if any(isinstance(each, Let) for each in post_order(Tuple(tuple(exprs)))):
        return _of_loops(given, exprs, types, cotangents)
    found = pullback(given, exprs, cotangents, known)
    return tuple(_zeros(var) if each is None else each for each, var in zip(found, given, strict=True))


def _of_loops(
    given: dict[Var, Expr], results: Sequence[Expr], types: Sequence[TensorType], cotangents: Sequence[Expr | None]
) -> tuple[Expr, ...]:
    """By the transformation of functions, which goes back through loops, after it has gone forward through them."""
    back = called(VJP, Function(tuple(given), Tuple(tuple(results))), None)
    known = zip(cotangents, types, strict=True)
    cotangent = Tuple(tuple(zeros(type_.shape, type_.dtype) if each is None else each for each, type_ in known))
    both = typed(Call(back, (*given.values(), cotangent)))
    return tuple(with_known_type(TupleGetItem(with_known_type(TupleGetItem(both, 1)), at)) for at in range(len(given)))


def _zeros(var: Var) -> Expr:
    type_ = var.checked_type
    assert isinstance(type_, TensorType)
    return zeros(type_.shape, type_.dtype)


def _back_through(forward: str, *inputs: int) -> Callable[[TorchNode], Result]:
    """Input 0 is the cotangent of the result; those at `inputs` are what the operator `forward` was given."""

    def convert(node: TorchNode) -> Result:
        given = [node.value(place) for place in inputs]
        return _gradients(node, forward, given, [node.value(0).type], [node.expr(0)])

    return convert


def _back_to_whole(forward: str) -> Callable[[TorchNode], Result]:
    """Of what takes a part of a tensor, of which only the shape is known, which is enough."""

    def convert(node: TorchNode) -> Result:
        type_ = TensorType(node.extents_of("input_sizes"), node.dtype)
        whole = Value("", zeros(type_.shape, type_.dtype), type_)
        return _gradients(node, forward, [whole], [node.value(0).type], [node.expr(0)])

    return convert


def _convolution(node: TorchNode) -> Result:
    """By the data, by the weights, and by the bias, which each result has added once."""
    given, others = node.value(0), [node.value(1), node.value(2), None]
    by_data, by_weight = _gradients(node, "aten.convolution.default", others, [given.type], [given.expr])
    channels = given.rank - node.value(2).rank + 1
    return by_data, by_weight, sum_over(given.expr, channels, exclude=True)


def _whole(forward: str, count: int) -> tuple[Converter, Converter]:
    """The records of an operator that stays whole in training, and of its way back, which is given the cotangents of
    the results and these before what the operator was given."""
    record, own = _FORWARD[forward], own_name(forward)

    def convert(node: TorchNode) -> Result:
        cotangents = [node.optional_value(place) for place in range(count)]
        results = [node.value(count + place) for place in range(count)]
        inputs = [node.optional_value(place) for place in range(2 * count, len(node.inputs))]
        return _gradients(
            node, forward, inputs, [each.type for each in results],
            [None if each is None else each.expr for each in cotangents], [each.expr for each in results],
        )  # fmt: skip

    return (
        converter(f"relay.{own}.default", record.convert, *record.attributes),
        converter(f"relay.{own}_backward.default", convert, *record.attributes),
    )


_WINDOW = ("kernel_size", "stride", "padding", "ceil_mode")

BACKWARD: tuple[Converter, ...] = (
    *converters(
        "convolution_backward", _convolution, "bias_sizes", "stride", "padding", "dilation", "transposed",
        "output_padding", "groups", "output_mask",
    ),
    *(record for rank in (2, 3) for record in (
        *converters(
            f"max_pool{rank}d_with_indices_backward", _back_through(f"aten.max_pool{rank}d.default", 1), *_WINDOW,
            "dilation",
        ),
        *converters(
            f"avg_pool{rank}d_backward", _back_through(f"aten.avg_pool{rank}d.default", 1), *_WINDOW,
            "count_include_pad", "divisor_override",
        ),
        *converters(
            f"_adaptive_avg_pool{rank}d_backward", _back_through(f"aten._adaptive_avg_pool{rank}d.default", 1)
        ),
        *converters(
            f"adaptive_max_pool{rank}d_backward", _back_through(f"aten.adaptive_max_pool{rank}d.default", 1)
        ),
        *converters(
            f"grid_sampler_{rank}d_backward", _back_through(f"aten.grid_sampler_{rank}d.default", 1, 2),
            "interpolation_mode", "padding_mode", "align_corners", "output_mask",
        ),
    )),
    *converters("slice_backward", _back_to_whole("aten.slice.Tensor"), "input_sizes", "dim", "start", "end", "step"),
    *converters("select_backward", _back_to_whole("aten.select.int"), "input_sizes", "dim", "index"),
    *converters(
        "diagonal_backward", _back_to_whole("aten.diagonal.default"), "input_sizes", "offset", "dim1", "dim2"
    ),
    *(record for forward, count in WHOLE.items() for record in _whole(forward, count)),
)  # fmt: skip
