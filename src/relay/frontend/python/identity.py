"""What the program of a Python function depends on, told without reading it: its text and place, and what the names in
it that are not its own are worth. Functions of one identity have one program, in any process."""

from __future__ import annotations

import ast
import hashlib
import re
import symtable
import types
import typing
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias, cast

import numpy as np

from relay.arith.expr import Symbol
from relay.frontend.python.block import finder
from relay.frontend.python.callables import PythonFunction
from relay.frontend.python.functions.undecorated import is_undecorated
from relay.frontend.python.notation import Notation
from relay.frontend.python.syntax.source import Definition, definition_of

Told: TypeAlias = tuple[str, Sequence[Any]]
"""What a value is, and what else it is made of."""

_PLAIN = (type(None), bool, int, float, complex, str, bytes, types.EllipsisType)
_LIBRARIES = frozenset(
    {"builtins", "collections", "dataclasses", "functools", "itertools", "jax", "math", "numpy", "operator", "relay",
     "torch", "typing"}
)  # fmt: skip
"""Packages whose parts programs know by name."""
_STATEMENTS = ("body", "orelse", "handlers", "finalbody", "cases")
"""The fields of statements that have statements in them, or what has."""
_WORD = re.compile(r"[^\W\d]\w*")


def identity(function: PythonFunction) -> str | None:
    """A hash of all that the program of `function` depends on besides the libraries; None where that cannot be told, as
    of objects and classes of the user's. Raises `RelayError` (rule `no-source`)."""
    state, met = hashlib.sha256(), dict[int, int]()
    waiting: list[Any] = [function]
    while waiting:
        value = waiting.pop()
        if isinstance(value, PythonFunction) or is_undecorated(value):  # which of those that were met, where it was
            is_known = id(value) in met
            state.update(f"{met.setdefault(id(value), len(met))}\n".encode())
            if is_known:
                continue
        told = _told(value)
        if told is None:
            return None
        text, parts = told
        state.update(f"{len(text)} {text} {len(parts)}\n".encode())
        waiting.extend(reversed(parts))
    return state.hexdigest()


def _told(value: Any) -> Told | None:
    if isinstance(value, PythonFunction):
        return _function(value)
    if is_undecorated(value):
        return _function(PythonFunction(value))
    if isinstance(value, Notation):
        return f"annotation {value}", ()
    if type(value) in _PLAIN:
        return f"{type(value).__name__} {value!r}", ()
    if type(value) in (tuple, list):
        return type(value).__name__, list(value)
    if type(value) is dict:
        return "dict", [part for item in cast("dict[Any, Any]", value).items() for part in item]
    if isinstance(value, np.ndarray | np.generic):
        array: np.ndarray[Any, Any] = np.asarray(value)
        if array.dtype.hasobject:
            return None
        data = hashlib.sha256(array.tobytes()).hexdigest()
        return f"{type(value).__name__} {array.dtype} {array.shape} {data}", ()
    if isinstance(value, Symbol):  # extents of one name are one extent
        return f"extent {value}", ()
    if typing.get_origin(value) is not None:  # tuple[int, float], A | None
        return "annotation", [typing.get_origin(value), *typing.get_args(value)]
    return _of_library(value)


def _of_library(value: Any) -> Told | None:
    """A module, function or class of a library."""
    if isinstance(value, types.ModuleType):
        home, name = value.__name__, ""
    elif isinstance(value, np.ufunc | np.dtype):
        home, name = "numpy", str(value)
    elif isinstance(value, type | types.FunctionType | types.BuiltinFunctionType) and not _is_bound(value):
        home, name = str(value.__module__), value.__qualname__
    else:
        return None
    return (f"{home} {name}", ()) if home.partition(".")[0] in _LIBRARIES else None


def _is_bound(value: object) -> bool:
    return not isinstance(getattr(value, "__self__", None), types.ModuleType | None)


def _function(function: PythonFunction) -> Told:
    """The text of a function and where it stands, which its errors tell; and all that is read with it."""
    definition = function.definition
    source = definition_of(definition)
    find, worth = finder(definition, function.around), dict[str, Any]()
    for name in sorted(_names(source)):
        try:
            worth[name] = find(name)
        except KeyError:
            continue  # Python's own, or nobody's
    evaluated = {name: each for name, each in definition.__annotations__.items() if not isinstance(each, str)}
    told = f"{source.file}:{source.first_line}\n{source.text}"
    return told, [definition.__defaults__, definition.__kwdefaults__, evaluated, worth, dict(function.texts)]


def _names(source: Definition) -> set[str]:
    """The names in a definition that it does not bind itself, and those that annotations in it speak of."""
    found: set[str] = set()
    if source.tree is None:  # what cannot be read, as will be said
        return found
    for annotation in _annotations(source.tree):
        found.update(_words(annotation))
    tables = symtable.symtable(source.text, "<identity>", "exec").get_children()
    while tables:
        table = tables.pop()
        tables.extend(table.get_children())
        if isinstance(table, symtable.Function):
            found.update(table.get_globals(), table.get_frees())
        else:
            found.update(symbol.get_name() for symbol in table.get_symbols() if symbol.is_global() or symbol.is_free())
    return found


def _annotations(tree: ast.AST) -> Iterator[ast.expr]:
    """Of parameters, results and variables. They are parts of statements alone, which are a tenth of all nodes."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.FunctionDef(args=args, returns=returns) | ast.AsyncFunctionDef(args=args, returns=returns):
                params = (*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg)
                said = (returns, *(each.annotation for each in params if each is not None))
                yield from (each for each in said if each is not None)
            case ast.AnnAssign(annotation=annotation):
                yield annotation
            case _:
                pass
        for part in _STATEMENTS:
            waiting += getattr(node, part, ())


def _words(annotation: ast.expr) -> Iterator[str]:
    for node in ast.walk(annotation):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from _WORD.findall(node.value)
