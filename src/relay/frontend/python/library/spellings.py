"""Functions of `jax.numpy` and `torch`, by the names of those of NumPy that mean the same, and layers, which NumPy
lacks, by the operators that they are.

They are known by the module that they say they are of, so neither library is needed to read a program. What has another
meaning there is refused by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from relay import nn, op
from relay.frontend.python.arguments import Arguments
from relay.frontend.python.library.builtin_functions import BUILTINS
from relay.frontend.python.library.numpy_arrays import ARRAYS_OF_NUMPY
from relay.frontend.python.library.numpy_functions import NUMPY
from relay.frontend.python.library.numpy_more import MORE_OF_NUMPY
from relay.frontend.python.syntax.source import refusal

MODULES: Mapping[str, str] = {
    "jax.numpy": "jax.numpy", "jax.numpy.linalg": "jax.numpy", "jax._src.nn.functions": "jax.nn", "torch": "torch",
    "torch.functional": "torch", "torch.nn.functional": "torch.nn.functional", "torch._C._nn": "torch.nn.functional",
}  # fmt: skip
"""Which library a function is of, by its module."""

TORCH: Mapping[str, str] = {
    **{name: name for name in (
        "abs", "absolute", "add", "all", "allclose", "amax", "amin", "any", "arange", "arccos", "arccosh", "arcsin",
        "arcsinh", "arctan", "arctan2", "arctanh", "argmax", "argmin", "argsort", "argwhere", "bitwise_and",
        "bitwise_or", "bitwise_xor", "broadcast_to", "ceil", "clip", "concatenate", "copysign", "cos", "cosh",
        "count_nonzero", "cumprod", "cumsum", "deg2rad", "diag", "diagonal", "diff", "divide", "dot", "einsum", "exp",
        "exp2", "expm1", "flip", "fliplr", "flipud", "floor", "floor_divide", "fmax", "fmin", "fmod", "full_like",
        "greater", "greater_equal", "heaviside", "hstack", "hypot", "inner", "isclose", "isfinite", "isin", "isinf",
        "isnan", "kron", "less", "less_equal", "log", "log10", "log1p", "log2", "logaddexp", "logical_and",
        "logical_not", "logical_or", "logical_xor", "matmul", "maximum", "mean", "minimum", "moveaxis", "multiply",
        "negative", "not_equal", "ones_like", "outer", "positive", "prod", "rad2deg", "ravel", "reciprocal",
        "remainder", "reshape", "roll", "round", "searchsorted", "sign", "sin", "sinh", "sqrt", "square", "squeeze",
        "stack", "subtract", "sum", "swapaxes", "tan", "tanh", "tile", "trace", "tril", "triu", "true_divide", "trunc",
        "unique", "vdot", "vstack", "where", "zeros_like",
    )},
    "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan", "atan2": "arctan2",
    "atanh": "arctanh", "bmm": "matmul", "cat": "concatenate", "clamp": "clip", "clone": "copy",
    "concat": "concatenate", "div": "divide", "eq": "equal", "ge": "greater_equal", "gt": "greater",
    "le": "less_equal", "lt": "less", "mm": "matmul", "movedim": "moveaxis", "mul": "multiply", "ne": "not_equal",
    "neg": "negative", "permute": "transpose", "pow": "power", "sub": "subtract", "transpose": "swapaxes",
    "unsqueeze": "expand_dims",
}  # fmt: skip
"""The functions of NumPy that functions of torch are."""


def _linear(x: Any, weight: Any, bias: Any = None) -> Any:
    made = nn.dense(x, weight)
    return made if bias is None else op.add(made, bias)


def _gelu_by_tanh(x: Any, approximate: bool = True) -> Any:
    """As `jax.nn.gelu` is: by tanh where nothing else is asked for."""
    if not approximate:
        return nn.gelu(x)
    inner = (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)
    return (op.tanh(inner) + 1.0) * x * 0.5


LAYERS: Mapping[str, Mapping[str, Callable[..., Any]]] = {
    "torch": {
        "erf": op.erf, "log_softmax": nn.log_softmax, "relu": nn.relu, "rsqrt": op.rsqrt, "sigmoid": op.sigmoid,
        "softmax": nn.softmax,
    },
    "torch.nn.functional": {
        "gelu": nn.gelu, "linear": _linear, "log_softmax": nn.log_softmax, "relu": nn.relu,
        "sigmoid": op.sigmoid, "silu": nn.silu, "softmax": nn.softmax,
    },
    "jax.nn": {
        "gelu": _gelu_by_tanh, "log_softmax": nn.log_softmax, "relu": nn.relu, "sigmoid": op.sigmoid, "silu": nn.silu,
        "softmax": nn.softmax,
    },
}  # fmt: skip
"""The operators that functions of other libraries are which NumPy lacks."""

KEYWORDS: Mapping[str, str] = {"dim": "axis", "dims": "axis", "keepdim": "keepdims"}
"""What arguments of torch's are called in NumPy."""

DIFFERENT: Mapping[tuple[str, str], str] = {
    ("jax.numpy", "take"): "what lies outside is NaN there: write x[i], or np.take",
    ("jax.numpy", "take_along_axis"): "what lies outside is NaN there: write np.take_along_axis",
    ("torch", "max"): "it gives places too: write np.max, or torch.amax",
    ("torch", "min"): "it gives places too: write np.min, or torch.amin",
    ("torch", "median"): "it gives the lower of two: write np.median, or np.sort",
    ("torch", "nonzero"): "it gives one matrix: write np.argwhere",
    ("torch", "sort"): "it gives places too: write np.sort and np.argsort",
    ("torch", "split"): "it takes the extents of parts: write np.split",
    ("torch", "std"): "it divides by n - 1: write np.std(x, ddof=1)",
    ("torch", "take"): "it counts elements of all axes: write np.take(x.ravel(), i)",
    ("torch", "var"): "it divides by n - 1: write np.var(x, ddof=1)",
    **{("torch", name): f"it takes extents one by one: write np.{name}" for name in ("zeros", "ones", "empty", "full")},
}
"""What has a name of NumPy's and another meaning, with what to write instead."""


def as_numpy(callee: Any, arguments: Arguments) -> tuple[Any, Arguments]:
    """The function of NumPy that a function of another library is, and what it is called with; anything else as it is.
    Raises `RelayError` (rule `python-subset`)."""
    module, name = str(getattr(callee, "__module__", "")), getattr(callee, "__name__", None)
    if module not in MODULES or not isinstance(name, str):
        return callee, arguments
    library = MODULES[module]
    if (library, name) in DIFFERENT:
        raise refusal(arguments.span, f"the call of `{library}.{name}`", DIFFERENT[library, name])
    if name in LAYERS.get(library, ()):
        named = in_words_of_numpy(arguments.named)
        if name.endswith("softmax") and library != "jax.nn" and len(arguments.positional) + len(named) < 2:
            raise refusal(arguments.span, f"the call of `{library}.{name}`", "say along which axis: dim=-1")
        return LAYERS[library][name], Arguments(arguments.positional, named, arguments.span)
    if library == "jax.numpy":
        same = numpy_function("linalg." * module.endswith(".linalg") + name)
        return (callee if same is None else same), arguments
    if library != "torch" or name not in TORCH:
        return callee, arguments
    return numpy_function(TORCH[name]), Arguments(
        arguments.positional, in_words_of_numpy(arguments.named), arguments.span
    )


def method_of_torch(name: str) -> Any:
    """What a method of torch's tensors is that arrays of NumPy do not have; None where programs have no such thing.

    >>> method_of_torch("unsqueeze") is np.expand_dims, method_of_torch("transpose"), method_of_torch("cuda")
    (True, None, None)
    """
    if hasattr(np.ndarray, name) or ("torch", name) in DIFFERENT:
        return None
    return LAYERS["torch"].get(name) or (numpy_function(TORCH[name]) if name in TORCH else None)


def in_words_of_numpy(named: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments by the names that NumPy has for them."""
    return {KEYWORDS.get(key, key): value for key, value in named.items()}


def numpy_function(name: str) -> Any:
    """The function of NumPy of a name, if programs have it; else None.

    >>> numpy_function("tanh"), numpy_function("fft"), numpy_function("linalg.norm") is np.linalg.norm
    (<ufunc 'tanh'>, None, True)
    """
    function = np.linalg.norm if name == "linalg.norm" else getattr(np, name, None)
    return function if any(function in table for table in _TABLES) else None


_TABLES = (MORE_OF_NUMPY, ARRAYS_OF_NUMPY, NUMPY, BUILTINS)
