"""Calls: of values, of methods of values, of constructors, and of Python's own functions and NumPy's."""

from __future__ import annotations

import ast
import dataclasses
import inspect
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, cast

import numpy as np

from relay import op
from relay.base.arguments import described
from relay.base.diagnostics import RelayError
from relay.base.span import Span
from relay.frontend.python import dispatch
from relay.frontend.python.block import Block, is_expr
from relay.frontend.python.callables import Counted, Method, PythonFunction, Template, Together, ref
from relay.frontend.python.datatype import DataInstance, constructor_of, field_names
from relay.frontend.python.expressions.operators import combined
from relay.frontend.python.facts.ownership import Held
from relay.frontend.python.functions import transformed
from relay.frontend.python.functions.undecorated import as_nested, is_undecorated
from relay.frontend.python.library.applied import applied
from relay.frontend.python.library.arithmetic import there
from relay.frontend.python.library.builtin_functions import BUILTINS, OF_SEQUENCES
from relay.frontend.python.library.indexing import sizes
from relay.frontend.python.library.list_arrays import to_list
from relay.frontend.python.library.lists.searching import LIST_METHODS
from relay.frontend.python.library.lists.unpacking import spread
from relay.frontend.python.library.math_functions import MATH
from relay.frontend.python.library.numpy_arrays import ARRAYS_OF_NUMPY, MORE_METHODS
from relay.frontend.python.library.numpy_functions import NUMPY, SCALARS, VIEWS, rank_of
from relay.frontend.python.library.numpy_more import MORE_OF_NUMPY
from relay.frontend.python.library.other_libraries.remedies import instead, is_random, spoken
from relay.frontend.python.library.other_libraries.torch_functions import VIEWS_OF_TORCH
from relay.frontend.python.library.spellings import (
    MODULES,
    OWN,
    as_numpy,
    in_words_of_numpy,
    in_words_of_torch,
    is_of_torch,
    method_of,
)
from relay.frontend.python.models import as_python
from relay.frontend.python.notation import PLAIN
from relay.frontend.python.places.changes import change, changes
from relay.frontend.python.places.targets import is_tensor
from relay.frontend.python.records.fields import replaced
from relay.frontend.python.records.methods import constructed
from relay.frontend.python.syntax.arguments import Arguments
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.tuples import field_values, is_named_tuple
from relay.frontend.python.values import KNOWN, STATIC, as_expr, holds_expr, is_list, known_now
from relay.ir.expr import Call, Expr, RefCreate
from relay.ir.types import FuncType, TensorType
from relay.ops.framework.build import is_builder
from relay.ops.transformations import meant_by


def called(block: Block, node: ast.Call) -> Any:
    if changes(block, node):
        return change(block, node)
    callee, span = _callee(block, node.func), block.span(node)
    value = _passes(callee)
    positional = spread(block, node.args, value)
    named: dict[str, Any] = {}
    for each in node.keywords:
        worth = value(block, each.value)
        if each.arg is None and not isinstance(worth, dict):
            raise refusal(span, "`**` of what is no dict known now", "give the arguments by name")
        given = {each.arg: worth} if each.arg is not None else cast("dict[str, Any]", worth)
        if twice := given.keys() & named.keys():
            raise RelayError(rule="arity", message=f"the argument `{min(twice)}` is given twice", span=span)
        named |= given
    return dispatch.call(block, callee, Arguments(positional, named, span))


def _callee(block: Block, node: ast.expr) -> Any:
    """What is called; `x.size` is a number unless it is called, as in torch."""
    if isinstance(node, ast.Attribute) and node.attr == "size":
        owner = dispatch.operand(block, node.value)
        if is_tensor(block, owner) or isinstance(owner, np.ndarray):
            return Method(owner, node.attr)
    return dispatch.expr(block, node)


def _passes(callee: Any) -> Callable[[Block, ast.expr], Any]:
    """How what is called is given an argument: by what it keeps of it. Functions of the user's say that themselves."""
    if isinstance(callee, PythonFunction | Template) or is_undecorated(callee):
        return dispatch.given
    return dispatch.read if _only_reads(callee) else dispatch.expr


def _only_reads(callee: Any) -> bool:
    """Whether what is called keeps no array or list that it is given."""
    if isinstance(callee, Method):
        return True
    module = str(getattr(callee, "__module__", ""))
    return not any(callee is each for each in (ref, zip, enumerate, reversed)) and (
        (module.startswith("relay.") and inspect.isfunction(callee))
        or module in MODULES
        or module.split(".")[0] in ("numpy", "builtins")
    )


def call_value(block: Block, callee: Expr, arguments: Arguments) -> Any:
    """A function that is a value of the program."""
    type_, given, span = block.type_of(callee), arguments.positional, arguments.span
    if not isinstance(type_, FuncType):
        raise RelayError(rule="not-a-function", message=f"a value of type {type_} is called", span=span)
    if arguments.named or len(given) != len(type_.arg_types):
        raise RelayError(
            rule="arity", message="a function that is a value is called with other arguments than it has",
            span=span, expected=f"{len(type_.arg_types)}, by position", remedy="give all of them, in order",
            found=", ".join([f"{len(given)} by position", *arguments.named]),
        )  # fmt: skip
    pairs = zip(given, type_.arg_types, strict=True)
    return Call(callee, tuple(dispatch.as_argument(block, value, span, each) for value, each in pairs), span=span)


def call_method(block: Block, callee: Method, arguments: Arguments) -> Any:
    owner, name, span = callee.owner, f"`.{callee.name}`", arguments.span
    if callee.name in _IN_PLACE and not is_of_torch(block, callee.name, arguments):
        raise refusal(span, f"{name}, which changes an array, here", "make a new array, such as np.sort(x)")
    if not is_expr(owner):
        if callee.name == "item" and not isinstance(owner, np.ndarray):
            return owner
        own = getattr(owner, callee.name, None)
        if callable(own) and not holds_expr(arguments.values) and not is_of_torch(block, callee.name, arguments):
            return call_python(block, own, arguments)
        owner = as_expr(block, owner, span)
    type_ = block.type_of(owner)
    if callee.name in LIST_METHODS and is_list(type_):
        given = Arguments([block, span, owner, *arguments.positional], arguments.named, span)
        return block.ownership.own(applied(block, LIST_METHODS[callee.name], name, given))
    if is_list(type_):
        raise refusal(span, f"{name} of a list here", "change a variable; a list has index, count and copy")
    if callee.name == "tolist":
        return block.ownership.own(to_list(block, owner, span), Held.WITH_PARTS)  # they are all new
    if callee.name == "dot":
        return applied(block, BUILTINS[np.dot], name, Arguments([block, span, owner, *arguments.positional], {}, span))
    if callee.name == "size":
        return applied(
            block, sizes, name, Arguments([block, span, owner, *arguments.positional], arguments.named, span)
        )
    if callee.name == "item" and not cast("TensorType", type_).shape:
        return owner
    given = Arguments([owner, *arguments.positional], arguments.named, span)
    function = method_of(block, callee.name, given)
    if function is None or function is not MORE_METHODS.get(callee.name):
        return call_python(block, function, (in_words_of_torch if function in OWN else in_words_of_numpy)(given))
    return _made_of(block, callee.name in VIEWS, owner, applied(block, function, name, _there(block, given)), span)


_IN_PLACE = frozenset({"fill", "partition", "put", "resize", "setfield", "setflags", "sort"})
"""Methods that change an array: those that programs have are of variables (`places/changes.py`)."""


def call_class(block: Block, callee: type, arguments: Arguments) -> Any:
    """A constructor of a data type; or a class of Python's, which is a function like others."""
    if is_named_tuple(callee):
        return constructed(block, callee, arguments)
    if not issubclass(callee, DataInstance):
        return call_python(block, callee, arguments)
    constructor, span = constructor_of(callee, block.session.types), arguments.span
    order = field_names(callee)
    values = {**dict(zip(order, arguments.positional, strict=False)), **arguments.named}
    if len(arguments.values) != len(order) or values.keys() != set(order):
        raise RelayError(
            rule="arity", message=f"`{constructor.name_hint}` is given {len(arguments.values)} fields",
            span=span, expected=", ".join(order) or "none",
        )  # fmt: skip
    if not order:
        return callee()  # known now: what a generic one is applied to follows from where it stands
    fields = zip(order, constructor.inputs, strict=True)
    return Call(constructor, tuple(as_expr(block, values[name], span, type_) for name, type_ in fields), span=span)


def call_python(block: Block, callee: Any, arguments: Arguments) -> Any:
    """A function that Python, NumPy (by the name of another library too) or relay has: computed now where all is known,
    else by what stands for it."""
    callee, arguments = as_numpy(callee, arguments)
    given, span, own = arguments.positional, arguments.span, block.ownership.own
    transformation = meant_by(callee)
    if transformation is not None:
        return transformed.transform(transformation, arguments)
    name = f"`{spoken(callee)}`" if hasattr(callee, "__name__") else described(callee)
    known = callee if _has_hash(callee) else None  # what has none is in no table
    if known in OF_SEQUENCES:
        return OF_SEQUENCES[known](block, callee, arguments)
    if callee is ref and len(given) == 1 and not arguments.named:
        return RefCreate(as_expr(block, given[0], span), span=span)
    if callee is dataclasses.replace and given and is_expr(given[0]):
        return replaced(block, given[0], arguments.named, span)
    if callee is dataclasses.replace and given and is_named_tuple(type(given[0])):
        fields = {**field_values(given[0]), **arguments.named}
        return dispatch.call(block, type(given[0]), Arguments([], fields, span))
    of = getattr(callee, "__self__", None)
    if isinstance(of, list) and callee.__name__ in LIST_METHODS and holds_expr((of, *given)):
        call = Arguments([block, span, cast("list[Any]", of), *given], arguments.named, span)
        return own(applied(block, LIST_METHODS[callee.__name__], name, call))
    if isinstance(of, list | dict):
        block.ownership.share_parts(of)
    if callee is dataclasses.replace or isinstance(of, tuple | dict | str):
        found = known_now(span, callee, *given, **arguments.named)  # of a value of Python, whose parts may be any
        return list(found) if isinstance(found, KNOWN) and not isinstance(found, tuple | dict | str) else found
    is_known = not holds_expr(arguments.values) and not any(isinstance(e, Counted | Together | Template) for e in given)
    if is_known and known not in OWN and not is_random(callee):
        return _computed_now(block, callee, arguments)
    with_block = BUILTINS.get(known) or MATH.get(known)
    if with_block is not None:
        made = applied(block, with_block, name, Arguments([block, span, *given], arguments.named, span))
        return _made_of(block, known is np.asarray, given[0], made, span) if is_expr(made) else own(made)
    if known in OPERATORS and len(given) == 2:
        left, right = given
        return own(combined(block, OPERATORS[known], left, right, span))
    if isinstance(callee, type) and callee is dict and len(given) == 1 and isinstance(given[0], dict):
        block.ownership.share_parts(given[0])
        return own({**cast("dict[Any, Any]", given[0]), **arguments.named})
    function = next((table[known] for table in TABLES if known in table), callee if known in OWN else None)
    if function is not None:
        made, owner = applied(block, function, name, _there(block, arguments)), given[0] if given else None
        is_view = callee in VIEWS_OF_TORCH or made is owner if callee in OWN else callee.__name__ in VIEWS
        return _made_of(block, is_view, owner, made, span)
    if is_builder(callee):
        return own(callee(*given, **arguments.named))
    if is_undecorated(callee):
        return dispatch.call(block, as_nested(block, callee), arguments)
    raise refusal(span, f"the call of {name}", instead(callee))


TABLES: Sequence[Mapping[Any, Callable[..., Any]]] = (MORE_OF_NUMPY, ARRAYS_OF_NUMPY, NUMPY, SCALARS)
OPERATORS: Mapping[Any, ast.operator] = {
    STATIC[kind]: kind()
    for kind in (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.BitAnd, ast.BitOr, ast.BitXor)
}
"""The functions of `operator` that are operators of two numbers."""


def _has_hash(value: object) -> bool:
    return isinstance(value, Hashable)


def _made_of(block: Block, is_view: bool, owner: Any, made: Any, span: Span) -> Any:
    """The result of a function on arrays: a new one, or a view of its first argument; or several."""
    if isinstance(made, list | tuple):
        parts = [_made_of(block, is_view, owner, each, span) for each in cast("Sequence[Any]", made)]
        if is_view:
            block.ownership.share(tuple(parts))  # the list, or the tuple, holds them
        if isinstance(made, list):
            return block.ownership.own(parts)
        return type(made)(*parts) if is_named_tuple(type(made)) else tuple(parts)
    if not is_expr(made):
        return made
    if is_view:
        return block.ownership.view(owner, block.bind("view", made, span))
    is_same = made is owner and is_tensor(block, made) and rank_of(made) > 0
    return block.ownership.own(op.copy(made) if is_same else made)


def _there(block: Block, arguments: Arguments) -> Arguments:
    """Arguments for what takes no None that the program finds."""
    span = arguments.span
    named = {name: there(block, each, span) for name, each in arguments.named.items()}
    return Arguments([there(block, each, span) for each in arguments.positional], named, span)


def _is_plain(value: Any) -> bool:
    """Whether a value is `int`, `float` or `bool`, which are 32-bit numbers in a program."""
    return isinstance(value, type) and value in PLAIN


def _computed_now(block: Block, callee: Any, arguments: Arguments) -> Any:
    """What Python gives; arrays that NumPy makes of 64-bit numbers unless it is told are of 32 bits in a program."""
    given = arguments.positional if callee is getattr else map(as_python, arguments.positional)  # a part's arrays
    result = known_now(arguments.span, callee, *given, **arguments.named)
    told = any(isinstance(each, type | np.dtype | str) for each in arguments.values if not _is_plain(each))
    of = getattr(callee, "__self__", None)
    if not isinstance(result, np.ndarray):
        return block.ownership.own(result)
    made = cast("np.ndarray[Any, Any]", result)
    if not told and (getattr(callee, "__module__", "") == "numpy" or isinstance(of, np.ndarray)):
        made = made.astype({"float64": np.float32, "int64": np.int32}.get(made.dtype.name, made.dtype))
    for each in (of, *arguments.values):
        if made is each:
            block.ownership.share(each)
            return made
        if isinstance(each, np.ndarray) and np.may_share_memory(each, result):
            return block.ownership.view(each, made)
    return block.ownership.own(made)
