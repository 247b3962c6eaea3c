"""Operators that work element by element, in the type that PyTorch gives the result.   x[..] (× y[..]) → [..]"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from relay.base.dtypes import DType
from relay.frontend.shared.formulas.rounding import round_to_even
from relay.frontend.shared.node import Result, converter
from relay.frontend.torch.node import Converter, TorchNode, converters
from relay.ir.expr import Expr, const
from relay.ops.elementwise import comparison
from relay.ops.elementwise import elementwise_binary as binary
from relay.ops.elementwise import elementwise_unary as unary

Unary = Callable[[Any], Expr]
Binary = Callable[[Any, Any], Expr]


def _unary(
    function: Unary, of_bools: Unary | None = None, of_integers: Unary | None = None
) -> Callable[[TorchNode], Result]:
    def convert(node: TorchNode) -> Result:
        chosen = of_bools if node.dtype.is_bool else of_integers if node.dtype.is_integer else function
        return (function if chosen is None else chosen)(node.operand())

    return convert


def _predicate(function: Unary) -> Callable[[TorchNode], Result]:
    return lambda node: function(node.expr())


def _binary(function: Binary, of_bools: Binary | None = None) -> Callable[[TorchNode], Result]:
    def convert(node: TorchNode) -> Result:
        chosen = of_bools if of_bools is not None and node.dtype.is_bool else function
        return chosen(node.operand(0), node.operand(1))

    return convert


def _sum(function: Binary, of_bools: Binary | None = None) -> Callable[[TorchNode], Result]:
    """x ± alpha · y"""

    def convert(node: TorchNode) -> Result:
        if node.dtype.is_bool and of_bools is not None:
            return of_bools(node.operand(0), node.operand(1))
        alpha = node.number(2, 1)
        right = node.operand(1)
        return function(node.operand(0), right if alpha == 1 else binary.multiply(right, const(alpha, node.dtype)))

    return convert


def _comparison(function: Binary) -> Callable[[TorchNode], Result]:
    def convert(node: TorchNode) -> Result:
        dtype = node.common_dtype()
        return function(node.operand(0, dtype), node.operand(1, dtype))

    return convert


def _logical(function: Binary) -> Callable[[TorchNode], Result]:
    return lambda node: function(node.operand(0, DType.BOOL), node.operand(1, DType.BOOL))


def _divide(node: TorchNode) -> Result:
    """True division, or rounded as `rounding_mode` says."""
    mode = node.text("rounding_mode") if node.has("rounding_mode") else ""
    functions: Mapping[str, Binary] = {
        "": binary.divide, "floor": binary.floor_divide, "trunc": binary.trunc_divide,
    }  # fmt: skip
    return functions[mode](node.operand(0), node.operand(1))


def _power(node: TorchNode) -> Result:
    """Small constant exponents need no logarithm."""
    x = node.operand(0)
    exponent = node.known_scalar(1) if node.value(1).rank == 0 else None
    if exponent == 1:
        return x
    if exponent == 2:
        return binary.multiply(x, x)
    if exponent == 3:
        return binary.multiply(binary.multiply(x, x), x)
    if exponent == 0.5 and node.dtype.is_float:
        return unary.sqrt(x)
    if exponent == -0.5 and node.dtype.is_float:
        return unary.rsqrt(x)
    if exponent == -1 and node.dtype.is_float:
        return _reciprocal(node)
    return binary.power(x, node.operand(1))


def _reciprocal(node: TorchNode) -> Result:
    return binary.divide(const(1.0, node.dtype), node.operand(0))


def _exp_minus_1(node: TorchNode) -> Result:
    return binary.subtract(unary.exp(node.operand()), const(1, node.dtype))


def _log_of_1_plus(node: TorchNode) -> Result:
    return unary.log(binary.add(node.operand(), const(1, node.dtype)))


def _round(node: TorchNode) -> Result:
    """To whole numbers, or to `decimals` places."""
    if not node.dtype.is_float:
        return node.value(0)
    scale = 10.0 ** node.int("decimals", 0)
    if scale == 1:
        return round_to_even(node.operand(), node.dtype)
    scaled = binary.multiply(node.operand(), const(scale, node.dtype))
    return binary.divide(round_to_even(scaled, node.dtype), const(scale, node.dtype))


def _clamp(node: TorchNode) -> Result:
    """Between bounds, of which one may be left out. Where they cross, the upper one is the result."""
    result = node.operand(0)
    if node.optional_value(1) is not None:
        result = binary.maximum(result, node.operand(1))
    return result if node.optional_value(2) is None else binary.minimum(result, node.operand(2))


def _where(node: TorchNode) -> Result:
    return comparison.where(node.operand(0, DType.BOOL), node.operand(1), node.operand(2))


def _masked_fill(node: TorchNode) -> Result:
    return comparison.where(node.expr(1), node.operand(2), node.operand(0))


def _added_product(function: Binary) -> Callable[[TorchNode], Result]:
    """x + value · (a · b), or a / b"""

    def convert(node: TorchNode) -> Result:
        product = function(node.operand(1), node.operand(2))
        value = node.number(3, 1)
        return binary.add(
            node.operand(0), product if value == 1 else binary.multiply(product, const(value, node.dtype))
        )

    return convert


def _as_it_is(node: TorchNode) -> Result:
    return node.value(0)


def _cast(node: TorchNode) -> Result:
    return node.operand()


_UNARY: Mapping[str, Unary] = {
    "exp": unary.exp, "log": unary.log, "log2": unary.log2, "log10": unary.log10, "sqrt": unary.sqrt,
    "rsqrt": unary.rsqrt, "tanh": unary.tanh, "sigmoid": unary.sigmoid, "erf": unary.erf, "sin": unary.sin,
    "cos": unary.cos, "tan": unary.tan, "asin": unary.asin, "acos": unary.acos, "atan": unary.atan,
    "sinh": unary.sinh, "cosh": unary.cosh, "asinh": unary.asinh, "acosh": unary.acosh, "atanh": unary.atanh,
    "abs": unary.abs, "neg": unary.negative, "sign": unary.sign,
}  # fmt: skip
_ROUNDINGS: Mapping[str, Unary] = {"floor": unary.floor, "ceil": unary.ceil, "trunc": unary.trunc}
_PREDICATES: Mapping[str, Unary] = {
    "isnan": comparison.isnan, "isinf": comparison.isinf, "isfinite": comparison.isfinite,
}  # fmt: skip
_TENSOR_OR_NUMBER = ("Tensor", "Scalar")
_EITHER_NUMBER = (*_TENSOR_OR_NUMBER, "Scalar_Tensor")
_SHIFTS = ("Tensor", "Tensor_Scalar", "Scalar_Tensor")
_BINARY: Mapping[str, tuple[Binary, Binary | None, Sequence[str]]] = {
    "mul": (binary.multiply, binary.logical_and, _TENSOR_OR_NUMBER),
    "minimum": (binary.minimum, binary.logical_and, ("default",)),
    "maximum": (binary.maximum, binary.logical_or, ("default",)),
    "floor_divide": (binary.floor_divide, None, ("default", "Scalar")),
    "remainder": (binary.floor_mod, None, _EITHER_NUMBER),
    "fmod": (binary.trunc_mod, None, _TENSOR_OR_NUMBER),
    "bitwise_and": (binary.bitwise_and, binary.logical_and, _EITHER_NUMBER),
    "bitwise_or": (binary.bitwise_or, binary.logical_or, _EITHER_NUMBER),
    "bitwise_xor": (binary.bitwise_xor, binary.logical_xor, _EITHER_NUMBER),
    "bitwise_left_shift": (binary.left_shift, None, _SHIFTS),
    "bitwise_right_shift": (binary.right_shift, None, _SHIFTS),
    "__lshift__": (binary.left_shift, None, _TENSOR_OR_NUMBER),
    "__rshift__": (binary.right_shift, None, _TENSOR_OR_NUMBER),
}
_COMPARISONS: Mapping[str, Binary] = {
    "eq": comparison.equal, "ne": comparison.not_equal, "lt": comparison.less, "le": comparison.less_equal,
    "gt": comparison.greater, "ge": comparison.greater_equal,
}  # fmt: skip
_LOGICAL: Mapping[str, Binary] = {
    "logical_and": binary.logical_and, "logical_or": binary.logical_or, "logical_xor": binary.logical_xor,
}  # fmt: skip

ELEMENTWISE: tuple[Converter, ...] = (
    *(record for name, function in _UNARY.items() for record in converters(name, _unary(function))),
    *(
        record
        for name, function in _ROUNDINGS.items()
        for record in converters(name, _unary(function, of_integers=lambda x: x))
    ),
    *(record for name, function in _PREDICATES.items() for record in converters(name, _predicate(function))),
    *(
        record
        for name, (function, of_bools, overloads) in _BINARY.items()
        for record in converters(name, _binary(function, of_bools), overloads=overloads)
    ),
    *(
        record
        for name, function in _COMPARISONS.items()
        for record in converters(name, _comparison(function), overloads=_TENSOR_OR_NUMBER)
    ),
    *(record for name, function in _LOGICAL.items() for record in converters(name, _logical(function))),
    *converters("logical_not", lambda node: unary.logical_not(node.operand(0, DType.BOOL))),
    *converters("bitwise_not", _unary(unary.bitwise_not, of_bools=unary.logical_not)),
    *converters("add", _sum(binary.add, binary.logical_or), overloads=_TENSOR_OR_NUMBER),
    *converters("sub", _sum(binary.subtract), overloads=_TENSOR_OR_NUMBER),
    *(record for name in ("div", "true_divide") for record in converters(name, _divide, overloads=_TENSOR_OR_NUMBER)),
    *converters("div", _divide, "rounding_mode", overloads=("Tensor_mode", "Scalar_mode")),
    *converters("pow", _power, overloads=("Tensor_Tensor", "Tensor_Scalar", "Scalar")),
    *converters("reciprocal", _reciprocal),
    *converters("expm1", _exp_minus_1),
    *converters("log1p", _log_of_1_plus),
    *converters("round", _round, "decimals", overloads=("default", "decimals")),
    *converters("exp2", lambda node: binary.power(const(2.0, node.dtype), node.operand())),
    *converters("clamp", _clamp, overloads=("default", "Tensor")),
    *converters("clamp_min", _clamp, overloads=("default", "Tensor")),
    *converters(
        "clamp_max", lambda node: binary.minimum(node.operand(0), node.operand(1)), overloads=("default", "Tensor")
    ),
    *converters("where", _where, overloads=("self", "ScalarSelf", "ScalarOther", "Scalar")),
    *converters("masked_fill", _masked_fill, overloads=_TENSOR_OR_NUMBER),
    *converters("addcmul", _added_product(binary.multiply)),
    *converters("addcdiv", _added_product(binary.divide)),
    *(
        record
        for name in ("clone", "alias", "detach", "lift_fresh_copy", "contiguous")
        for record in converters(name, _as_it_is)
    ),
    *converters("_to_copy", _cast, "dtype"),
    converter("prims.convert_element_type.default", _cast, "dtype"),
)
