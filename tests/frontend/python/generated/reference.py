"""What CPython and NumPy make of a program, with what the documentation says of it: a tensor without axes is a Python
number. Programs that leave the range of int32, or whose choices hang on the rounding of floats, are not judged."""

from __future__ import annotations

import ast
import copy
import functools
import math
import warnings
from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

import relay
from tests.frontend.python.generated import library

_LIBRARY = Path(library.__file__).read_text(encoding="utf-8")
_LARGEST_FLOAT = 2.0**20
_MOST_TURNS = 2_000
_DECIDING = ("round", "int", "bool", "floor", "argmax", "argmin", "sign", "any", "all")
"""Functions that a small change of a float may change much."""


class NotJudged(Exception):
    """The program computes what the comparison says nothing of."""


class Raised:
    """Python raised this."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __repr__(self) -> str:
        return f"{type(self.error).__name__}: {self.error}"


def expected(text: str, arguments: tuple[Any, ...]) -> Any:
    """The value of `f` for arguments, or what it raises. Raises `NotJudged`."""
    names: dict[str, Any] = {
        "__name__": library.__name__, "_value": _value, "_decides": _decides, "_Items": _Items, "np": np,
        "math": math, "functools": functools, "NamedTuple": NamedTuple,
        "relay": SimpleNamespace(function=lambda definition: definition, datatype=relay.datatype, Tensor=relay.Tensor),
    }  # fmt: skip
    tree = ast.parse(_LIBRARY + text)
    tree.body = [each for each in tree.body if not isinstance(each, ast.Import | ast.ImportFrom)]
    exec(compile(ast.fix_missing_locations(_Instrument().visit(tree)), "<reference>", "exec"), names)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return names["f"](*copy.deepcopy(arguments))
        except NotJudged:
            raise
        except (RecursionError, MemoryError) as error:
            raise NotJudged from error
        except Exception as error:
            return Raised(error)


class _Instrument(ast.NodeTransformer):
    """Has every value that an operator or call gives looked at, and every float that decides something."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.FloorDiv | ast.Mod):
            node.left, node.right = _called("_decides", node.left), _called("_decides", node.right)
        return _called("_value", node)

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        self.generic_visit(node)
        if isinstance(node.op, ast.FloorDiv | ast.Mod):
            node.value = _called("_decides", node.value)
        if not isinstance(node.target, ast.Name):
            return [node]
        name = node.target.id
        looked_at = ast.Assign([ast.Name(name, ast.Store())], _called("_value", ast.Name(name, ast.Load())))
        return [node, ast.copy_location(looked_at, node)]

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        return _called("_value", node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        self.generic_visit(node)
        return _called("_value", node) if isinstance(node.ctx, ast.Load) else node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        self.generic_visit(node)
        node.left = _called("_decides", node.left)
        node.comparators = [_called("_decides", each) for each in node.comparators]
        return _called("_value", node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if _name(node.func) in _DECIDING:
            node.args = [_called("_decides", each) for each in node.args]
            if isinstance(node.func, ast.Attribute) and _name(node.func.value) != "np":
                node.func.value = _called("_decides", node.func.value)
        return _called("_value", node)

    def visit_For(self, node: ast.For) -> ast.For:
        self.generic_visit(node)
        node.iter = _called("_Items", node.iter)
        return node

    def visit_comprehension(self, node: ast.comprehension) -> ast.comprehension:
        self.generic_visit(node)
        node.iter = _called("_Items", node.iter)
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.body = [self.visit(each) if not isinstance(each, list) else each for each in node.body]
        node.body = [part for each in node.body for part in (each if isinstance(each, list) else [each])]
        node.args.defaults = [self.visit(each) for each in node.args.defaults]
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.ClassDef:
        return node

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        node.body = [part for each in node.body for part in _listed(self.visit(each))]
        return node


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _called(function: str, argument: ast.expr) -> ast.expr:
    return ast.copy_location(ast.Call(ast.Name(function, ast.Load()), [argument], []), argument)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _value(value: Any) -> Any:
    """A value that something gave: numbers are Python's, and within range."""
    if isinstance(value, np.generic):
        value = value.item()
    array = np.asarray(value) if isinstance(value, bool | int | float | np.ndarray) else None
    if array is None or not array.size:
        return value
    if array.dtype.kind in "iu" and (array.max() >= 2**31 or array.min() < -(2**31)):
        raise NotJudged
    if array.dtype == object:
        raise NotJudged  # an int of more than 64 bits
    if array.dtype.kind == "f" and np.abs(array[np.isfinite(array)]).max(initial=0) > _LARGEST_FLOAT:
        raise NotJudged
    return value


def _decides(value: Any) -> Any:
    """A value that decides something: floats among it are short, so float32 has them exactly."""
    array = np.asarray(value) if isinstance(value, float | np.ndarray) else None
    if array is not None and array.dtype.kind == "f":
        finite = array[np.isfinite(array)].astype(np.float64)
        if not np.array_equal(np.round(finite * 4096) / 4096, finite) or np.abs(finite).max(initial=0) > 2048:
            raise NotJudged
    return value


class _Items:
    """What a loop goes over: numbers are Python's, and there are not very many."""

    def __init__(self, items: Iterable[Any]) -> None:
        self.items = items

    def __iter__(self) -> Any:
        for count, item in enumerate(self.items):
            if count > _MOST_TURNS:
                raise NotJudged
            yield _value(item)
