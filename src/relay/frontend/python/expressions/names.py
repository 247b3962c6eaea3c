"""What is read: constants, names, attributes, and parts by index; and what `:=` names."""

from __future__ import annotations

import ast
import builtins
import operator
from typing import Any, cast

import numpy as np

from relay.base.diagnostics import RelayError
from relay.base.names.near_names import near_names
from relay.frontend.python import dispatch
from relay.frontend.python.block import Block, Unset, is_expr
from relay.frontend.python.callables import Method, Repeated
from relay.frontend.python.facts.ownership import changes_in_place
from relay.frontend.python.library.arithmetic import there
from relay.frontend.python.library.indexing import index_list, index_tensor, size_of, sizes
from relay.frontend.python.library.list_arrays import index_of_arrays, takes_copy
from relay.frontend.python.library.lists.sequences import sliced
from relay.frontend.python.library.numpy_functions import METHODS
from relay.frontend.python.library.other_libraries.updates import Part
from relay.frontend.python.library.other_libraries.updates import method as method_of_part
from relay.frontend.python.library.spellings import has_method, method_names
from relay.frontend.python.places.targets import assign
from relay.frontend.python.records.fields import field_of, record_of
from relay.frontend.python.records.methods import member
from relay.frontend.python.syntax.source import refusal
from relay.frontend.python.values import as_expr, holds_expr, is_list, is_number, items, known_now
from relay.ir.expr import RefRead, TupleGetItem
from relay.ir.types import RefType, TensorType, TupleType


def constant(block: Block, node: ast.Constant) -> Any:  # noqa: ARG001
    return node.value


def name(block: Block, node: ast.Name) -> Any:
    """What a variable is worth; or what stands outside the function under that name."""
    value = block.names[node.id] if node.id in block.names else _outside(block, node)
    if isinstance(value, Unset):
        as_expr(block, value, block.span(node))
    return value


def _outside(block: Block, node: ast.Name) -> Any:
    try:
        return block.definition.find(node.id)
    except KeyError:
        if hasattr(builtins, node.id):
            return getattr(builtins, node.id)
    raise RelayError(rule="unknown-name", message=f"the name `{node.id}` is not known here", span=block.span(node))


def attribute(block: Block, node: ast.Attribute) -> Any:
    owner, span = dispatch.operand(block, node.value), block.span(node)
    if isinstance(owner, Part):
        return method_of_part(block, owner, node.attr, span)
    if _has_method(owner, node.attr):
        return Method(owner, node.attr)
    if isinstance(owner, np.ndarray) and node.attr == "at":
        owner = as_expr(block, owner, span)
    if not is_expr(owner):
        found = member(block, owner, node.attr, span)
        if found is not None:
            return found
        part = known_now(span, getattr, owner, node.attr)
        return block.ownership.view(owner, part) if changes_in_place(part) or is_expr(part) else part
    owner = there(block, owner, span)
    type_ = block.type_of(owner)
    match type_, node.attr:
        case RefType(), "value":
            return RefRead(owner, span=span)
        case TensorType(), "shape":
            return sizes(block, span, owner)
        case TensorType(), "ndim":
            return len(type_.shape)
        case TensorType(), "size":
            return size_of(block, owner, span)
        case TensorType(), "dtype":
            return type_.dtype.numpy
        case TensorType(), "device":
            return "cpu"  # as NumPy says: devices are no part of programs
        case TensorType(), "T":
            return block.ownership.view(owner, block.bind("turned", METHODS["transpose"](owner), span))
        case TensorType(), "mT":
            return block.ownership.view(owner, block.bind("turned", METHODS["swapaxes"](owner, -1, -2), span))
        case TensorType(), "at":
            return Part(owner)
        case _ if record_of(block, type_) is not None:
            return field_of(block, owner, node.attr, span)
        case _ if node.attr in ("dot", "tolist") or has_method(node.attr) or is_list(type_):
            return Method(owner, node.attr)
        case _:
            raise RelayError(
                rule="unknown-attribute", message=f"a value of type {type_} has no `{node.attr}`", span=span,
                remedy=_similar(node) if isinstance(type_, TensorType) else _APART,
            )  # fmt: skip


def _has_method(value: Any, name: str) -> bool:
    """Whether an array, or a number that may be NumPy's, which is known now has a method of a name."""
    if isinstance(value, np.ndarray):
        return has_method(name) or callable(getattr(value, name, None))
    return isinstance(value, bool | int | float) and not hasattr(value, name) and has_method(name)


_APART = "call an operator of relay on it; take data apart with `match`"


def _similar(node: ast.Attribute) -> str:
    """What arrays have instead of an attribute that they do not have."""
    name = node.attr
    if name.endswith("_") and has_method(name[:-1]):
        changed = ast.unparse(node.value)
        return f"write {changed} = {changed}.{name[:-1]}(...), which makes a new value"
    return near_names(name, method_names()) or _APART


def named(block: Block, node: ast.NamedExpr) -> Any:
    """`name := value`, which is the value."""
    value = dispatch.expr(block, node.value)
    assign(block, node.target, value)
    return block.names[node.target.id]


def _as_table(value: Any) -> Any:
    """A tuple of numbers that are known now as a list, of which the program may ask for any."""
    parts = list(cast("tuple[Any, ...]", value)) if isinstance(value, tuple) else [None]
    return parts if all(isinstance(each, int | float) for each in parts) else value


def subscript(block: Block, node: ast.Subscript) -> Any:
    """`owner[index]` of a tensor, a list or a tuple. Raises `RelayError` (rule `bad-index`)."""
    owner, index, span = dispatch.operand(block, node.value), dispatch.index(block, node.slice), block.span(node)
    view = block.ownership.view
    if isinstance(owner, Part):
        return owner.at(index)
    if not is_expr(owner):
        if not holds_expr((index,)) and not isinstance(owner, Repeated):
            part = known_now(span, operator.getitem, owner, index)
            if isinstance(index, slice):  # another list with the same elements
                block.ownership.share_parts(part)
            return view(owner, part) if changes_in_place(part) or is_expr(part) else part
        if isinstance(owner, dict):
            raise refusal(span, "a dict that is asked for a key which the program computes",
                          "use a list, or compare with each key")  # fmt: skip
        owner = as_expr(block, owner if isinstance(index, slice) else _as_table(owner), span)
    owner, index = there(block, owner, span), there(block, index, span)
    type_ = block.type_of(owner)
    if isinstance(type_, TensorType):
        index = index_of_arrays(block, index, span)
        part = block.bind("part", index_tensor(block, owner, type_, index, span), span)
        if takes_copy(block, index):
            return block.ownership.own(part)
        return view(owner, part) if getattr(block.type_of(part), "shape", ()) else part
    if is_list(type_) and isinstance(index, slice):
        return block.ownership.own(block.bind_as("items", sliced(block, owner, index, span), type_, span))
    if is_list(type_):
        part = block.bind("part", index_list(block, owner, index, span), span)
        return part if is_number(block.type_of(part)) else view(owner, part)
    if isinstance(type_, TupleType) and isinstance(index, slice) and not holds_expr((index,)):
        return known_now(span, operator.getitem, tuple(items(block, owner, span) or ()), index)
    if isinstance(type_, TupleType) and type(index) is int and -len(type_.fields) <= index < len(type_.fields):
        return TupleGetItem(owner, index % len(type_.fields), span=span)
    raise RelayError(
        rule="bad-index", message=f"a value of type {type_} cannot be indexed so", span=span,
        expected="a tensor, a list, or a tuple at a place known now",
    )  # fmt: skip
