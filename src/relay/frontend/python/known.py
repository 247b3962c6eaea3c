"""What Python computes while it reads a program, of values that are known now."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from relay.base.diagnostics import RelayError
from relay.base.span import Span
from relay.frontend.python.block import is_expr

STATIC: Mapping[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift, ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor,
    ast.MatMult: operator.matmul, ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt,
    ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.is_, ast.IsNot: operator.is_not,
    ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b,
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_, ast.Invert: operator.invert,
}  # fmt: skip


def holds_expr(values: Iterable[Any]) -> bool:
    """Whether some value is, or holds, an expression of the program."""
    stack = list(values)
    while stack:
        value = stack.pop()
        if is_expr(value):
            return True
        if isinstance(value, list | tuple):
            stack.extend(cast("Sequence[Any]", value))
    return False


def known_now(span: Span, function: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
    """What Python gives for values that are known now; numbers are Python's. Raises `RelayError` (rule `python-error`)
    as Python raises.
    """
    try:
        with np.errstate(all="ignore"):
            found = function(*arguments, **named)
    except RelayError:
        raise
    except Exception as error:
        raise RelayError(
            rule="python-error", message="Python cannot compute this while it reads the program", span=span,
            found=f"{type(error).__name__}: {error}",
            remedy="correct it, or take it out: what is known now is computed when the program is read, reached or not",
        ) from error  # fmt: skip
    return cast("np.generic", found).item() if isinstance(found, np.generic) else found
