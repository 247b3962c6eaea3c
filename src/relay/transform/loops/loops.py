"""Functions that call themselves, split into what is done once and what is done in every turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, Union

from relay.base.names.fresh_names import FreshNames
from relay.ir.expr import Call, Expr, Function, GlobalVar, Let, Var, record_type
from relay.ir.module import IRModule
from relay.ir.rewriting import rewrite_nodes, typed_as
from relay.ir.sharing import let_chain
from relay.ir.traversal import body_nodes, children
from relay.normalize.basic_block_normal_form import to_basic_block_normal_form

LoopName: TypeAlias = Union[GlobalVar, Var]
Split: TypeAlias = Callable[[Function, LoopName, LoopName], Union[tuple[Function, Function], None]]
"""`split(function, name, loop)`: for a function in basic-block normal form that calls itself by `name`, what takes its
place, and a typed function to be called `loop`, which it calls; None for a function that stays."""


def with_loops_split(module: IRModule, split: Split) -> IRModule:
    """The module with its functions split where `split` does, those inside functions first: the same module where it
    does nothing."""
    functions = dict(module.functions)
    names = FreshNames(module.__contains__)
    for name, function in module.functions.items():
        if function.attrs or function.type_params or not _has_loop(name, function):
            continue
        normal = to_basic_block_normal_form(function)
        inner = _with_inner_split(normal, split)
        loop = GlobalVar(names.take(f"{name.name_hint}_loop"))
        parts = split(inner, name, loop)
        if parts is not None:
            functions[name], functions[loop] = parts
        elif inner is not normal:
            functions[name] = inner
    return module.with_functions(functions)


def _has_loop(name: GlobalVar, function: Function) -> bool:
    nodes = body_nodes(function)
    return name in nodes or any(isinstance(node, Let) and isinstance(node.value, Function) for node in nodes)


def _with_inner_split(function: Function, split: Split) -> Function:
    def step(_: Expr, rebuilt: Expr) -> Expr:
        if not isinstance(rebuilt, Let) or not isinstance(rebuilt.value, Function) or rebuilt.value.attrs:
            return rebuilt
        loop = Var(f"{rebuilt.var.name_hint}_loop")
        parts = split(rebuilt.value, rebuilt.var, loop)
        if parts is None or parts[1].checked_type is None:
            return rebuilt
        record_type(loop, parts[1].checked_type)
        whole = typed_as(Let(rebuilt.var, parts[0], rebuilt.body, span=rebuilt.span), rebuilt.body)
        return typed_as(Let(loop, parts[1], whole), rebuilt.body)

    return rewrite_nodes(function, step)


def lets_and_end(body: Expr) -> tuple[list[Let], Expr]:
    """The lets that a body begins with, and what it ends with: the last value where that is the last that is bound."""
    lets, end = let_chain(body)
    if lets and end is lets[-1].var:
        return lets[:-1], lets[-1].value
    return lets, end


def self_calls(function: Function, name: LoopName) -> list[Call]:
    """The calls by which a function calls itself; none where it is used as a value too."""
    calls: list[Call] = []
    for node in body_nodes(function):
        if isinstance(node, Call) and node.op == name:
            calls.append(node)
        parts = node.args if isinstance(node, Call) else children(node)
        if name in parts:
            return []
    return calls
