"""Random numbers as functions of keys: threefry_generate, threefry_split, uniform, normal.

Every operator takes a key `uint64[10]` and gives the key to use instead; none has an effect. A key that is used twice
gives the same numbers twice. How keys and bits are made is told in `ops/creation/threefry.py`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from relay import te
from relay.arith.expr import IntExpr, ceil_divide
from relay.base.arguments import WHOLE_NUMBER, expect
from relay.base.diagnostics import RelayError
from relay.base.dtypes import DType, dtype_of
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.base.span import caller_span
from relay.ir.attributes import Attributes, NoAttributes
from relay.ir.expr import Call, Constant, Expr, const
from relay.ir.operator import Effect
from relay.ir.types import TensorType, TupleType, Type
from relay.ops.creation.threefry import BLOCK_WORDS, KEY_WORDS, draw, drawn_tensors, key_of, split, split_tensors
from relay.ops.elementwise.comparison import greater_equal
from relay.ops.elementwise.convert import cast
from relay.ops.elementwise.elementwise_binary import multiply
from relay.ops.framework.batch_rule import NoBatchRule
from relay.ops.framework.build import Argument, Shape, TupleWrapper, as_expr, dimensions, tuple_call, with_known_type
from relay.ops.framework.dimensions import product
from relay.ops.framework.layout_rule import OwnLayout
from relay.ops.framework.record import (
    FusionKind,
    Gradient,
    NotDifferentiable,
    OperatorRecord,
    define,
    gradient_above,
)
from relay.ops.framework.relating import RelationRun
from relay.ops.framework.rounding import Array, to_dtype, wide
from relay.ops.framework.scale_role import SCALES_NOTHING
from relay.ops.manipulation.shape import expand_dims
from relay.ops.manipulation.slice import strided_slice
from relay.ops.reduction.reduce import sum as sum_over
from relay.ops.reduction.scan import cumsum
from relay.tir.expr import Value

_KEY = TensorType((KEY_WORDS,), DType.UINT64)
_SEED_BITS = 256
_DIGITS = {DType.FLOAT16: 11, DType.BFLOAT16: 8, DType.FLOAT32: 24, DType.FLOAT64: 53}
"""The binary digits of a fraction that a floating-point type holds exactly."""


@frozen
class ThreefryGenerateAttributes(Attributes):
    out_shape: tuple[IntExpr, ...]


@frozen
class DistributionAttributes(Attributes):
    """Of `uniform` and `normal`."""

    out_shape: tuple[IntExpr, ...]
    out_dtype: DType = DType.FLOAT32


def _with_key(run: RelationRun, *others: Type) -> Type:
    key = run.tensor_like(0, _KEY.shape, _KEY.dtype, "make one with relay.random.threefry_key(seed)")
    return TupleType((key, *others))


def _distribution_rule(run: RelationRun, attributes: DistributionAttributes) -> Type:
    """key × two numbers → (key, [out_shape])"""
    dtype = attributes.out_dtype
    if dtype not in _DIGITS:
        run.conflict("wrong-dtype", "`out_dtype` must be a floating-point type that is computed with",
                     ", ".join(_DIGITS), str(dtype))  # fmt: skip
    for position in (1, 2):
        run.tensor_like(position, (), dtype)
    return _with_key(run, TensorType(attributes.out_shape, dtype))


# Meanings


def _shape_of(attributes: Any) -> tuple[int, ...]:
    return tuple(int(extent) for extent in attributes.out_shape)


def _generate_meaning(attributes: ThreefryGenerateAttributes, key: Array) -> tuple[Array, Array]:
    shape = _shape_of(attributes)
    following, words = draw(key, math.prod(shape))
    return following, words.reshape(shape)


def _fractions(words: Array, dtype: DType) -> Array:
    """Numbers from 0 to below 1, in the type that `dtype` is computed in."""
    digits = _DIGITS[dtype]
    numbers = np.right_shift(words, np.uint64(64 - digits)).astype(dtype.computation.numpy)
    return np.multiply(numbers, 2.0**-digits, dtype=numbers.dtype)


def _uniform_meaning(attributes: DistributionAttributes, key: Array, low: Array, high: Array) -> tuple[Array, Array]:
    shape, dtype = _shape_of(attributes), attributes.out_dtype
    following, words = draw(key, math.prod(shape))
    first, last = wide(low), wide(high)
    return following, to_dtype(first + (last - first) * _fractions(words.reshape(shape), dtype), dtype)


def _normal_meaning(attributes: DistributionAttributes, key: Array, mean: Array, scale: Array) -> tuple[Array, Array]:
    """Of two fractions u and v, √(-2 ln (1 - u)) cos 2πv is normally distributed (Box and Muller 1958)."""
    shape, dtype = _shape_of(attributes), attributes.out_dtype
    following, words = draw(key, 2 * math.prod(shape))
    u, v = np.moveaxis(_fractions(words.reshape(*shape, 2), dtype), -1, 0)
    circle = u.dtype.type(2 * math.pi)
    standard = np.sqrt(u.dtype.type(-2) * np.log(1 - u)) * np.cos(circle * v)
    return following, to_dtype(np.asarray(wide(mean) + wide(scale) * standard), dtype)


# Tensor expressions


def _drawn(key: te.Tensor, shape: tuple[IntExpr, ...], words_each: int, name: str) -> tuple[te.Tensor, Any]:
    """The next key, and `word(indices, number)`: the words of an element."""
    blocks = ceil_divide(product(shape) * words_each, BLOCK_WORDS)
    following, words = drawn_tensors(key, blocks, f"{name}_words")

    def word(indices: tuple[IntExpr, ...], number: int = 0) -> Value:
        place: IntExpr = 0
        for index, extent in zip(indices, shape, strict=True):
            place = place * extent + index
        place = place * words_each + number
        return words[place // BLOCK_WORDS, place % BLOCK_WORDS]

    return following, word


def _generate_compute(attributes: ThreefryGenerateAttributes, inputs: tuple[te.Tensor], _: Type) -> Any:
    following, word = _drawn(inputs[0], attributes.out_shape, 1, "generate")
    return following, te.compute(attributes.out_shape, lambda *i: word(i), name="generate")


def _fraction(word: Value, dtype: DType) -> Value:
    digits, computed = _DIGITS[dtype], dtype.computation
    return te.cast(te.right_shift(word, te.const(64 - digits, DType.UINT64)), computed) * te.const(
        2.0**-digits, computed
    )


def _uniform_compute(attributes: DistributionAttributes, inputs: tuple[te.Tensor, ...], _: Type) -> Any:
    key, low, high = inputs
    dtype = attributes.out_dtype
    following, word = _drawn(key, attributes.out_shape, 1, "uniform")

    def element(*indices: IntExpr) -> Value:
        first, last = (te.cast(bound[()], dtype.computation) for bound in (low, high))
        return te.cast(first + (last - first) * _fraction(word(indices), dtype), dtype)

    return following, te.compute(attributes.out_shape, element, name="uniform")


def _normal_compute(attributes: DistributionAttributes, inputs: tuple[te.Tensor, ...], _: Type) -> Any:
    key, mean, scale = inputs
    dtype = attributes.out_dtype
    following, word = _drawn(key, attributes.out_shape, 2, "normal")

    def element(*indices: IntExpr) -> Value:
        u, v = (_fraction(word(indices, number), dtype) for number in range(2))
        one, minus_two, circle = (te.const(number, dtype.computation) for number in (1.0, -2.0, 2 * math.pi))
        standard = te.sqrt(minus_two * te.log(one - u)) * te.cos(circle * v)
        centre, spread = (te.cast(number[()], dtype.computation) for number in (mean, scale))
        return te.cast(centre + spread * standard, dtype)

    return following, te.compute(attributes.out_shape, element, name="normal")


# Records

_BITS = NotDifferentiable("bits do not change little by little")


def _record(name: str, description: str, gradient: Gradient, others: dict[str, str], **fields: Any) -> OperatorRecord:
    return define(
        f"random.{name}", description, inputs={"key": "uint64[10]", **others}, gradient=gradient,
        effect=Effect.PURE, fusion=FusionKind.OPAQUE, layout=OwnLayout("it states a shape of its own"),
        batch=NoBatchRule("every instance would need a key of its own"), scale=SCALES_NOTHING, support_level=10,
        **fields,
    )  # fmt: skip


THREEFRY_GENERATE = _record(
    "threefry_generate", "The next key, and random words.", _BITS, {}, attributes=ThreefryGenerateAttributes,
    type_rule=lambda run, attributes: _with_key(run, TensorType(attributes.out_shape, DType.UINT64)),
    meaning=_generate_meaning, compute=_generate_compute,
)  # fmt: skip
THREEFRY_SPLIT = _record(
    "threefry_split", "Two keys that give numbers of their own.", _BITS, {}, attributes=NoAttributes,
    type_rule=lambda run, _: _with_key(run, _KEY), meaning=lambda _, key: split(key),
    compute=lambda _, inputs, __: split_tensors(inputs[0], "split"),
)  # fmt: skip
UNIFORM = _record(
    "uniform", "The next key, and numbers spread evenly from a low one to below a high one.",
    gradient_above("creation", "of_uniform"),
    {"low": "a number", "high": "a number"}, attributes=DistributionAttributes, type_rule=_distribution_rule,
    meaning=_uniform_meaning, compute=_uniform_compute, floating_point=FloatingPointClass.ROUNDING,
)  # fmt: skip
NORMAL = _record(
    "normal", "The next key, and normally distributed numbers.", gradient_above("creation", "of_normal"),
    {"mean": "a number", "scale": "a number: the standard deviation"}, attributes=DistributionAttributes,
    type_rule=_distribution_rule, meaning=_normal_meaning, compute=_normal_compute,
    floating_point=FloatingPointClass.ROUNDING,
)  # fmt: skip

RANDOM: tuple[OperatorRecord, ...] = (THREEFRY_GENERATE, THREEFRY_SPLIT, UNIFORM, NORMAL)


def threefry_key(seed: int) -> Constant:
    """The key uint64[10] that a seed of up to 256 bits starts from.

    Raises `RelayError`: `wrong-argument`, `bad-seed`.

    >>> print(threefry_key(7).checked_type)
    Tensor[(10,), uint64]
    """
    expect(seed, WHOLE_NUMBER, "the seed")
    if not 0 <= seed < 1 << _SEED_BITS:
        raise RelayError(
            rule="bad-seed", message="a seed is a whole number of up to 256 bits", expected="0 or more",
            found=str(seed), span=caller_span(),
        )  # fmt: skip
    return with_known_type(Constant(key_of(seed), span=caller_span()))


def threefry_generate(key: Argument, shape: Shape) -> TupleWrapper:
    """key → (the key to use next, uint64[shape]): random words.

    The same key gives the same words. Raises `RelayError`: `wrong-shape`, `dtypes-differ`.

    >>> key, words = threefry_generate(threefry_key(7), (2, 3))
    >>> print(words.checked_type)
    Tensor[(2, 3), uint64]
    """
    return tuple_call(THREEFRY_GENERATE, (key,), ThreefryGenerateAttributes(dimensions(shape)), 2)


def threefry_split(key: Argument) -> TupleWrapper:
    """key → (left, right): two keys that give numbers of their own, for two parts of a program. `key` is used up.

    Raises `RelayError`: `wrong-shape`, `dtypes-differ`.
    """
    return tuple_call(THREEFRY_SPLIT, (key,), NoAttributes(), 2)


def uniform(
    key: Argument, shape: Shape, dtype: str | DType = "float32", low: Argument = 0.0, high: Argument = 1.0
) -> TupleWrapper:
    """key → (the key to use next, [shape]): numbers spread evenly from `low` to below `high`.

    Rounding may give `high` itself where it is not 1. Raises `RelayError`: `wrong-dtype`, `wrong-shape`.

    >>> key, numbers = uniform(threefry_key(7), ("n", 3), low=-1.0)
    >>> print(numbers.checked_type)
    Tensor[(n, 3), float32]
    """
    return _distribution(UNIFORM, key, shape, dtype, low, high)


def normal(
    key: Argument, shape: Shape, dtype: str | DType = "float32", mean: Argument = 0.0, scale: Argument = 1.0
) -> TupleWrapper:
    """key → (the key to use next, [shape]): normally distributed numbers, `scale` their standard deviation.

    Raises `RelayError`: `wrong-dtype`, `wrong-shape`.
    """
    return _distribution(NORMAL, key, shape, dtype, mean, scale)


def _distribution(
    record: OperatorRecord, key: Argument, shape: Shape, dtype: str | DType, first: Argument, second: Argument
) -> TupleWrapper:
    element = dtype_of(dtype)
    numbers = (const(each, element) if isinstance(each, int | float) else each for each in (first, second))
    return tuple_call(record, (key, *numbers), DistributionAttributes(dimensions(shape), element), 2)


def multinomial(key: Argument, probs: Argument, num_samples: int) -> TupleWrapper:
    """key × probs[.., k] → (the key to use next, int32[.., num_samples]): places along the last axis, each drawn as
    often as its share of the sum of `probs`, with replacement.

    `probs` are of a floating-point type, at least 0, and some of each row above it. Their type must be known here.
    Raises `RelayError`: `unknown-type`, `wrong-dtype`.

    >>> from relay.ops.framework.build import var
    >>> key, places = multinomial(threefry_key(7), var("p", shape=("n", 4)), 5)
    >>> print(places.checked_type)
    Tensor[(n, 5), int32]
    """
    shares = as_expr(probs)
    type_ = shares.checked_type
    if not isinstance(type_, TensorType) or not type_.shape:
        raise RelayError(
            rule="unknown-type", message="`probs` must be a tensor whose type is known, with an axis at least",
            found=str(type_), remedy="annotate the variables that it is made of", span=caller_span(),
        )  # fmt: skip
    following, numbers = uniform(key, (*type_.shape[:-1], num_samples), type_.dtype)
    upto = cumsum(shares, axis=-1)
    total = _last(upto)
    # the place is how many sums a number has left behind: below all of them it is 0
    behind = greater_equal(expand_dims(multiply(numbers, total), axis=-1), expand_dims(upto, axis=-2))
    return TupleWrapper(as_expr((following, sum_over(cast(behind, "int32"), axis=-1))), 2)


def _last(data: Expr) -> Call:
    """data[.., k] → [.., 1]"""
    return strided_slice(data, (-1,), (np.iinfo(np.int64).max,), axes=(-1,))
