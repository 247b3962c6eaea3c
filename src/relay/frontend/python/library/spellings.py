"""Functions and methods of `jax.numpy` and `torch`, by the names of those of NumPy that mean the same, or by what they
are where NumPy has no such thing.

They are known by the module that they say they are of, so neither library is needed to read a program. What has another
meaning there is refused by name.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

import numpy as np

from relay.frontend.python.block import Block
from relay.frontend.python.library.builtin_functions import BUILTINS
from relay.frontend.python.library.numpy_arrays import ARRAYS_OF_NUMPY, MORE_METHODS
from relay.frontend.python.library.numpy_functions import NUMPY, SCALARS, element_type
from relay.frontend.python.library.numpy_more import MORE_OF_NUMPY
from relay.frontend.python.library.other_libraries.layers import LAYERS
from relay.frontend.python.library.other_libraries.torch_functions import FUNCTIONS_OF_TORCH, METHODS_OF_TORCH
from relay.frontend.python.syntax.arguments import Arguments
from relay.frontend.python.syntax.source import refusal

Function = Callable[..., Any]

MODULES: Mapping[str, str] = {
    "jax.numpy": "jax.numpy", "jax.numpy.linalg": "jax.numpy", "jax._src.nn.functions": "jax.nn",
    "jax._src.ops.special": "jax.nn", "torch": "torch", "torch.functional": "torch",
    "torch.nn.functional": "torch.nn.functional", "torch._C._nn": "torch.nn.functional", "torch._C._linalg": "torch",
}  # fmt: skip
"""Which library a function is of, by its module."""

TORCH: Mapping[str, str] = {
    **{name: name for name in (
        "abs", "absolute", "allclose", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh",
        "argwhere", "bincount", "bitwise_and", "bitwise_or", "bitwise_xor", "broadcast_to", "ceil", "clip",
        "column_stack", "concatenate", "copysign", "corrcoef", "cos", "cosh", "count_nonzero", "cov", "deg2rad",
        "diag", "diagonal", "diff", "dot", "dstack", "einsum", "exp", "exp2", "expm1", "eye", "flip", "fliplr",
        "flipud", "floor", "floor_divide", "fmax", "fmin", "fmod", "full", "full_like", "greater", "greater_equal",
        "heaviside", "hstack", "hypot", "inner", "isclose", "isfinite", "isin", "isinf", "isnan", "kron", "less",
        "less_equal", "log", "log10", "log1p", "log2", "logaddexp", "logical_and", "logical_not", "logical_or",
        "logical_xor", "matmul", "maximum", "minimum", "moveaxis", "multiply", "nan_to_num", "nansum", "negative",
        "not_equal", "outer", "positive", "quantile", "rad2deg", "ravel", "reciprocal", "remainder", "reshape",
        "roll", "rot90", "round", "searchsorted", "sign", "sin", "sinh", "sqrt", "square", "stack", "swapaxes", "tan",
        "tanh", "tile", "trace", "trapezoid", "tril", "triu", "true_divide", "trunc", "unique", "vdot",
        "vstack", "where",
    )},
    "acos": "arccos", "acosh": "arccosh", "as_tensor": "asarray", "asin": "arcsin", "asinh": "arcsinh",
    "atan": "arctan", "atan2": "arctan2", "atanh": "arctanh", "bmm": "matmul", "cat": "concatenate", "clamp": "clip",
    "clone": "copy", "concat": "concatenate", "eq": "equal", "equal": "array_equal", "from_numpy": "asarray",
    "ge": "greater_equal", "gt": "greater", "le": "less_equal", "linalg.norm": "linalg.norm", "lt": "less",
    "mm": "matmul", "movedim": "moveaxis", "mul": "multiply", "mv": "matmul", "nanmean": "nanmean", "ne": "not_equal",
    "neg": "negative", "permute": "transpose", "pow": "power", "tensor": "array", "transpose": "swapaxes",
    "unsqueeze": "expand_dims",
}  # fmt: skip
"""The functions of NumPy that functions of torch are."""

NO_METHODS: frozenset[str] = frozenset({
    "arange", "as_tensor", "cat", "column_stack", "concat", "concatenate", "conv1d", "conv2d", "cosine_similarity",
    "dstack", "einsum", "empty_like", "eye", "from_numpy", "full", "full_like", "hstack", "isin", "linalg.norm",
    "linspace", "meshgrid", "ones_like", "searchsorted", "selu", "stack", "std_mean", "tensor", "tensordot",
    "trapezoid", "var_mean", "vstack", "zeros_like",
})  # fmt: skip
"""Functions of torch that its tensors do not have as methods."""

SIZES: Mapping[str, str] = {"zeros": "zeros", "ones": "ones", "empty": "empty"}
"""Functions of torch that take the extents of what they make one by one."""

KEYWORDS: Mapping[str, str] = {
    "dim": "axis", "dims": "axis", "keepdim": "keepdims", "diagonal": "k", "shifts": "shift", "input": "x",
    "other": "y", "equation": "formula", "size": "shape",
}  # fmt: skip
"""What arguments of torch's are called in NumPy."""
WORDS_OF_TORCH: Mapping[str, str] = {"input": "x", "other": "y", "axis": "dim", "keepdims": "keepdim"}
"""What the same arguments are called where torch has a function of its own; it takes NumPy's words, too."""
_NO_PART = ("device", "requires_grad", "pin_memory", "memory_format")
"""Arguments that are no part of programs."""

DIFFERENT: Mapping[tuple[str, str], str] = {
    ("jax.numpy", "take"): "what lies outside is NaN there: write x[i], or np.take",
    ("jax.numpy", "take_along_axis"): "what lies outside is NaN there: write np.take_along_axis",
    ("torch", "take"): "it counts elements of all axes: write np.take(x.ravel(), i)",
}
"""What has a name of NumPy's and another meaning, with what to write instead."""


def as_numpy(callee: Any, arguments: Arguments) -> tuple[Any, Arguments]:
    """The function of NumPy that a function of another library is, or what it is instead, and what it is called with;
    anything else as it is. Raises `RelayError` (rule `python-subset`)."""
    module, name = str(getattr(callee, "__module__", "")), getattr(callee, "__name__", None)
    if module not in MODULES or not isinstance(name, str):
        return callee, arguments
    library, name = MODULES[module], name.replace("linalg_", "linalg.")
    if (library, name) in DIFFERENT:
        raise refusal(arguments.span, f"the call of `{library}.{name}`", DIFFERENT[library, name])
    if library.startswith("torch"):
        arguments = _without(arguments)
    if name in LAYERS.get(library, ()):
        return LAYERS[library][name], arguments
    if library == "jax.numpy":
        same = numpy_function("linalg." * module.endswith(".linalg") + name)
        return (callee if same is None else same), arguments
    if library != "torch":
        return callee, arguments
    if name in FUNCTIONS_OF_TORCH:
        return FUNCTIONS_OF_TORCH[name], in_words_of_torch(arguments)
    if name in SIZES:
        return numpy_function(name), _sized(arguments)
    return (numpy_function(TORCH[name]), _named(arguments, KEYWORDS)) if name in TORCH else (callee, arguments)


def _without(arguments: Arguments) -> Arguments:
    """Arguments without those that are no part of programs, and with element types of NumPy."""
    kept = {key: value for key, value in arguments.named.items() if key not in _NO_PART}
    if kept.get("dtype") is not None:
        kept["dtype"] = element_type(kept["dtype"]).numpy
    return Arguments(arguments.positional, kept, arguments.span)


def _named(arguments: Arguments, words: Mapping[str, str]) -> Arguments:
    named = {words.get(key, key): value for key, value in arguments.named.items()}
    return Arguments(arguments.positional, named, arguments.span)


def _sized(arguments: Arguments) -> Arguments:
    """`torch.zeros(2, 3)`, in the words of NumPy."""
    given, named = arguments.positional, dict(arguments.named)
    shape = named.pop("size", given[0] if len(given) == 1 and isinstance(given[0], tuple | list) else tuple(given))
    return Arguments([shape], named, arguments.span)


def method_of(block: Block, name: str, arguments: Arguments) -> Function | None:
    """What a method of an array is: NumPy's; or torch's, where its arguments are called as there, or the function that
    is read names torch. None where arrays have no such method."""
    plain, of_torch = MORE_METHODS.get(name), _method_of_torch(name)
    if plain is None or of_torch is None:
        return plain or of_torch
    return of_torch if not _takes(plain, arguments) or is_of_torch(block, name, arguments) else plain


def is_of_torch(block: Block, name: str, arguments: Arguments) -> bool:
    """Whether a method that arrays of NumPy have is torch's. Raises `RelayError` (rule `python-subset`) where nothing
    tells whose it is."""
    if _method_of_torch(name) is None:
        return False
    if _TORCH_WORDS & arguments.named.keys():
        return True
    libraries = libraries_named(block)
    if name in _OTHERWISE and libraries >= {"numpy", "torch"}:
        raise refusal(arguments.span, f"`.{name}` in a function that names NumPy and torch",
                      f"say whose: np.{name}(x), or torch.{name}(x)")  # fmt: skip
    return "torch" in libraries


def has_method(name: str) -> bool:
    """
    >>> has_method("unsqueeze"), has_method("mean"), has_method("tobytes")
    (True, True, False)
    """
    return name in MORE_METHODS or _method_of_torch(name) is not None


def method_names() -> set[str]:
    """The methods that arrays have."""
    return {*MORE_METHODS, *METHODS_OF_TORCH, *LAYERS["torch"], *TORCH, "dot", "tolist"} - NO_METHODS


_TORCH_WORDS = frozenset({"dim", "dims", "keepdim", "unbiased", "correction", "descending", "dim0", "start_dim"})
_OTHERWISE = ("nonzero", "repeat", "std", "transpose", "var")
"""The methods that give something else in torch, of the same arguments."""


def _method_of_torch(name: str) -> Function | None:
    if name in NO_METHODS:
        return None
    return METHODS_OF_TORCH.get(name) or LAYERS["torch"].get(name) or (
        numpy_function(TORCH[name]) if name in TORCH else None
    )  # fmt: skip


def _takes(function: Function, arguments: Arguments) -> bool:
    try:
        inspect.signature(function).bind(*arguments.positional, **arguments.named)
    except TypeError:
        return False
    return True


def libraries_named(block: Block) -> frozenset[str]:
    """The libraries that the function which is read names; torch also where a method is given its `dim`."""
    tree, known = block.definition.source.tree, block.session.libraries
    if tree not in known:
        known[tree] = frozenset(_libraries_named(tree, block.definition.find))
    return known[tree]


def _libraries_named(tree: ast.AST, find: Callable[[str], Any]) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr=name), keywords=keywords) if has_method(name):
                if any(each.arg in ("dim", "keepdim") for each in keywords):
                    found.add("torch")
            case _:
                pass
        if isinstance(node, ast.Name):
            try:
                value = find(node.id)
            except KeyError:
                continue
            home = value.__name__ if isinstance(value, ModuleType) else str(getattr(value, "__module__", ""))
            found.add(home.partition(".")[0])
    return found


def in_words_of_torch(arguments: Arguments) -> Arguments:
    """Arguments by the names that functions have for them which torch alone has."""
    return _named(arguments, WORDS_OF_TORCH)


def in_words_of_numpy(arguments: Arguments) -> Arguments:
    """Arguments by the names that NumPy has for them."""
    return _named(arguments, KEYWORDS)


def numpy_function(name: str) -> Any:
    """The function of NumPy of a name, if programs have it; else None.

    >>> numpy_function("tanh"), numpy_function("fft"), numpy_function("linalg.norm") is np.linalg.norm
    (<ufunc 'tanh'>, None, True)
    """
    home, _, last = name.rpartition(".")
    function = getattr(np.linalg if home else np, last, None)
    return function if any(function in table for table in _TABLES) else None


_TABLES = (MORE_OF_NUMPY, ARRAYS_OF_NUMPY, NUMPY, BUILTINS, SCALARS)

OWN: frozenset[Function] = frozenset({
    *FUNCTIONS_OF_TORCH.values(), *METHODS_OF_TORCH.values(), *(each for of in LAYERS.values() for each in of.values()),
})  # fmt: skip
"""What stands for functions that NumPy does not have."""
