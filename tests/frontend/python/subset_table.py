"""The table of the page docs/python_front_end.md: what the reader's tables have."""

from __future__ import annotations

import ast
import builtins
import functools
import itertools
import math
import operator
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from relay.frontend.python.forms import FORMS
from relay.frontend.python.functions.calls import OPERATORS
from relay.frontend.python.library.builtin_functions import BUILTINS, OF_SEQUENCES
from relay.frontend.python.library.lists.searching import LIST_METHODS
from relay.frontend.python.library.math_functions import MATH
from relay.frontend.python.library.numpy_arrays import ARRAYS_OF_NUMPY, MORE_METHODS
from relay.frontend.python.library.numpy_functions import NUMPY, SCALARS
from relay.frontend.python.library.numpy_more import MORE_OF_NUMPY
from relay.frontend.python.library.other_libraries.layers import LAYERS
from relay.frontend.python.library.other_libraries.torch_functions import FUNCTIONS_OF_TORCH
from relay.frontend.python.library.other_libraries.updates import UPDATES
from relay.frontend.python.library.spellings import DIFFERENT, SIZES, TORCH, method_names
from relay.frontend.python.syntax.assigned import CHANGING_METHODS
from relay.frontend.python.syntax.subset import OUTSIDE

PAGE = Path(__file__).resolve().parents[3] / "docs" / "python_front_end.md"
BEGIN, END = "<!-- the tables of the reader -->\n", "<!-- end of the tables -->\n"
_MODULES = {
    "": builtins,
    "math.": math,
    "np.": np,
    "np.linalg.": np.linalg,
    "functools.": functools,
    "itertools.": itertools,
}


def table() -> str:
    """The table, as text of the page."""
    called = [*BUILTINS, *OF_SEQUENCES, *MATH, *MORE_OF_NUMPY, *ARRAYS_OF_NUMPY, *NUMPY, *SCALARS]
    names = {prefix: _names(prefix, module, called) for prefix, module in _MODULES.items()}
    rows = [
        ("expressions", _forms(FORMS.expressions)),
        ("statements", _forms(FORMS.statements)),
        ("functions of Python", [*names[""], *names["functools."], *names["itertools."]]),
        ("functions of `operator`", _names("operator.", operator, OPERATORS)),
        ("functions of `math`", names["math."]),
        ("functions of NumPy", [*names["np."], *names["np.linalg."]]),
        ("of `jax.numpy` all that NumPy has above, but for", _different("jax.numpy")),
        (
            "functions of `torch`",
            [f"torch.{each}" for each in sorted({*TORCH, *FUNCTIONS_OF_TORCH, *SIZES, *LAYERS["torch"]})],
        ),
        (
            "layers",
            [f"{of}.{each}" for of in ("torch.nn.functional", "jax.nn") for each in sorted(LAYERS[of])],
        ),
        ("of `torch` these differ", _different("torch")),
        ("methods of arrays", sorted({*MORE_METHODS, "dot", "tolist"})),
        ("more methods, of `torch`", sorted({*method_names(), "size"} - {*MORE_METHODS, "dot", "tolist"})),
        ("`x.at[i]` of `jax.numpy`", sorted({"get", *UPDATES})),
        ("methods of lists and dicts that change them", sorted({*CHANGING_METHODS} - {"fill"})),
        ("methods of lists that change nothing", sorted(LIST_METHODS)),
        ("outside the subset", sorted({what.strip("`") for what, _ in OUTSIDE.values()})),
    ]
    lines = [f"| {what} | {', '.join(f'`{each}`' for each in found)} |" for what, found in rows]
    return "\n".join(["| | |", "|---|---|", *lines, ""])


def _different(library: str) -> list[str]:
    """The functions of a library that have names of NumPy's, and other meanings."""
    return sorted(f"{of}.{name}" for of, name in DIFFERENT if of == library)


def _forms(forms: Iterable[type[ast.AST]]) -> list[str]:
    return sorted(each.__name__ for each in forms)


def _names(prefix: str, module: Any, functions: Iterable[Any]) -> list[str]:
    """The names under which a module has functions."""
    wanted = set(functions)
    found = [name for name, each in sorted(vars(module).items()) if _is_in(each, wanted) and not name.startswith("_")]
    return [f"{prefix}{name}" for name in found]


def _is_in(value: Any, wanted: set[Any]) -> bool:
    try:
        return value in wanted
    except TypeError:
        return False


def page_with(text: str) -> str:
    """The page with the table as it is now."""
    before, _, rest = text.partition(BEGIN)
    _, _, behind = rest.partition(END)
    return f"{before}{BEGIN}\n{table()}\n{END}{behind}"
