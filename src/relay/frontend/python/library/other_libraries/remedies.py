"""What to write instead of a call that cannot be part of a program."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from relay.base.names.near_names import near_names
from relay.frontend.python.library.numpy_arrays import ARRAYS_OF_NUMPY
from relay.frontend.python.library.numpy_functions import NUMPY
from relay.frontend.python.library.numpy_more import MORE_OF_NUMPY
from relay.frontend.python.library.other_libraries.layers import LAYERS
from relay.frontend.python.library.other_libraries.torch_functions import FUNCTIONS_OF_TORCH
from relay.frontend.python.library.spellings import MODULES, TORCH

_LOOP = "write a `for` or `while` loop"
_OUTSIDE = "compute it outside of the program, and give it the result"
_GIVEN = "make random numbers outside of the program, and give it them"
_REMEDIES: Mapping[str, str] = {
    "numpy.gradient": "write the differences: (x[2:] - x[:-2]) / 2, or relay.grad(f)(x) for the gradient of a function",
    "numpy.partition": "write np.sort(x), whose first k are the k smallest",
    "numpy.argpartition": "write np.argsort(x)[:k]",
    "numpy.histogram": "write np.bincount(np.searchsorted(edges, x, side='right'))",
    "numpy.lexsort": "write np.argsort, from the last key to the first",
    "numpy.vectorize": "write it with functions of arrays, or as a list: [f(each) for each in x]",
    "numpy.apply_along_axis": "write a list: np.array([f(row) for row in x])",
    "numpy.delete": "concatenate what stays: np.concatenate([x[:i], x[i + 1:]])",
    "numpy.insert": "concatenate the parts: np.concatenate([x[:i], [value], x[i:]])",
    "numpy.fromiter": "write np.array([f(each) for each in xs])",
    "numpy.block": "write np.concatenate of np.concatenate",
    "numpy.ix_": "write x[rows[:, None], columns]",
    "numpy.linalg.inv": "solve the equations outside of the program, or by loops",
    "numpy.linalg.solve": "solve the equations outside of the program, or by loops over rows (Gauss)",
    "jax.vmap": "write it for a batch: with an axis more, or as a list: [f(x) for x in xs]",
    "jax.jit": "leave it out: programs are compiled",
    "jax.grad": "write relay.grad(f)",
    "jax.lax.fori_loop": _LOOP, "jax.lax.while_loop": _LOOP, "jax.lax.scan": _LOOP, "jax.lax.map": _LOOP,
    "jax.lax.cond": "write `if`, or a if condition else b", "jax.lax.switch": "write `if` and `elif`",
    "jax.lax.select": "write jnp.where", "jax.lax.dynamic_slice": "write a slice: x[i : i + n]",
    "jax.lax.dynamic_update_slice": "write x.at[i : i + n].set(y)",
    "jax.lax.stop_gradient": "write relay.stop_gradient(x)",
    "torch.manual_seed": _GIVEN, "torch.no_grad": "leave it out: programs have gradients by relay.grad alone",
}  # fmt: skip
"""By the public name of a function."""
_OF_UFUNCS: Mapping[str, Mapping[str, str]] = {
    "reduce": {"add": "np.sum", "multiply": "np.prod", "maximum": "np.max", "minimum": "np.min",
               "logical_and": "np.all", "logical_or": "np.any"},
    "accumulate": {"add": "np.cumsum", "multiply": "np.cumprod"},
}  # fmt: skip
_RANDOM = ("numpy.random", "random", "jax.random", "secrets")


def is_random(callee: Any) -> bool:
    """Whether what is called gives something else each time: it is no part of programs, whose results follow from their
    arguments."""
    owner = type(getattr(callee, "__self__", None)).__module__
    homes = (str(getattr(callee, "__module__", "")), owner)
    name = str(getattr(callee, "__name__", ""))
    of_torch = homes[0] in MODULES and MODULES[homes[0]].startswith("torch") and (
        name.startswith(("rand", "normal", "bernoulli", "multinomial")))  # fmt: skip
    return of_torch or any(home == each or home.startswith(f"{each}.") for home in homes for each in _RANDOM)


def instead(callee: Any) -> str:
    """What to write for a call that is no part of programs."""
    owner = getattr(callee, "__self__", None)
    if is_random(callee):
        return _GIVEN
    if inspect.ismethod(callee) and not isinstance(owner, type):
        return f"put @relay.model above the class {type(owner).__name__}, or make it a @relay.function"
    name = str(getattr(callee, "__name__", ""))
    if isinstance(owner, np.ufunc):
        same = _OF_UFUNCS.get(name, {}).get(owner.__name__)
        return (
            f"write {same}"
            if same
            else "write x[:, None] and y[None, :], and an operator"
            if name == "outer"
            else _LOOP
        )
    library = library_of(callee)
    if library is None:
        return "call an operator of relay, or decorate the function with @relay.function"
    if f"{library}.{name}" in _REMEDIES:
        return _REMEDIES[f"{library}.{name}"]
    if library in ("numpy.linalg", "numpy.fft"):
        return _OUTSIDE
    near = near_names(name, _names(library))
    page = f"the functions of {library} that programs have are in docs/python_front_end.md"
    return f"{near} {page}" if near else f"{page}; or compute it outside of the program"


def library_of(callee: Any) -> str | None:
    """Which library a function is of, by its public name."""
    module = str(getattr(callee, "__module__", None) or type(callee).__module__)
    if module in MODULES:
        return MODULES[module]
    if module.startswith("jax._src.lax"):
        return "jax.lax"
    home = module.partition(".")[0]
    return {"jax": "jax", "jaxlib": "jax", "torch": "torch", "scipy": "scipy"}.get(
        home, module if home == "numpy" else None
    )


def spoken(callee: Any) -> str:
    """What users call a function.

    >>> spoken(np.linalg.inv), spoken(np.add.reduce), spoken(len)
    ('np.linalg.inv', 'np.add.reduce', 'len')
    """
    owner, library = getattr(callee, "__self__", None), library_of(callee)
    if isinstance(owner, np.ufunc):
        return f"np.{owner.__name__}.{callee.__name__}"
    if library is None or isinstance(owner, list | dict | np.ndarray):
        return callee.__name__
    return f"{library.replace('numpy', 'np')}.{callee.__name__}" if library != "jax.numpy" else f"jnp.{callee.__name__}"


def _names(library: str) -> Iterable[str]:
    if library in LAYERS and library != "torch":
        return LAYERS[library]
    if library == "torch":
        return {*TORCH, *FUNCTIONS_OF_TORCH, *LAYERS["torch"]}
    return [each.__name__ for table in (MORE_OF_NUMPY, ARRAYS_OF_NUMPY, NUMPY) for each in table]
