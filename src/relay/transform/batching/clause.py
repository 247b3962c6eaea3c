"""The body of a clause, for all its instances at once."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import assert_never

from relay.infer.eager import typed_by_parts
from relay.ir.expr import (
    Call,
    Constant,
    Constructor,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    Match,
    Op,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
)
from relay.ir.operator import Effect
from relay.ir.rewriting import typed_as
from relay.ir.traversal import post_order
from relay.ir.types import TensorType, TupleType, Type
from relay.transform.batching.recursion import ClauseForm
from relay.transform.batching.rows import Batched, Refusal, Rows, Shared, leaves_of, repeated
from relay.transform.batching.rules import batched_call
from relay.transform.batching.shared import with_panels


def batched_body(
    name: GlobalVar,
    clause: ClauseForm,
    variables: Mapping[Var, Batched],
    results: Mapping[Call, Batched],
    blocks: tuple[int, ...],
) -> tuple[Rows, ...] | tuple[Shared, ...] | Refusal:
    """The tensors of a clause's result, as rows, or all shared when they depend on no instance.

    `variables` are the fields and the invariants, `results` those of the recursive calls, `blocks` the widths of panels
    that matrices are packed in."""
    result = batched_value(name, clause.body, variables, results, blocks)
    if isinstance(result, Refusal):
        return result
    leaves = leaves_of(result)
    shared = tuple(leaf for leaf in leaves if isinstance(leaf, Shared))
    if len(shared) == len(leaves):
        return shared
    like = next(leaf for leaf in leaves if isinstance(leaf, Rows))
    return tuple(repeated(leaf, like) for leaf in leaves)


def batched_value(
    name: GlobalVar,
    body: Expr,
    variables: Mapping[Var, Batched],
    results: Mapping[Call, Batched] = MappingProxyType({}),
    blocks: tuple[int, ...] = (),
) -> Batched | Refusal:
    """The value of a body for all instances; its variables, and calls in it, have the values that are given."""
    return _Body(name, variables, results, body, blocks).run()


class _Body:
    """The batched values of the nodes of one body. A node that has none has the reason instead, which counts only if
    the node is used."""

    def __init__(
        self,
        name: GlobalVar,
        variables: Mapping[Var, Batched],
        results: Mapping[Call, Batched],
        body: Expr,
        blocks: tuple[int, ...],
    ) -> None:
        self.name = name
        self.variables = variables
        self.results = results
        self.blocks = blocks
        self.order = post_order(body)
        self.bound = {node.var: node.value for node in self.order if isinstance(node, Let)}
        self.values: dict[Expr, Batched | Refusal] = {}

    def run(self) -> Batched | Refusal:
        for node in self.order:
            value = self._value(node)
            self.values[node] = Refusal(self.name, value, node.span) if isinstance(value, str) else value
        return self.values[self.order[-1]]

    def _value(self, node: Expr) -> Batched | Refusal | str:
        match node:
            case Var():
                return self._variable(node)
            case Constant():
                return Shared(node, TensorType(node.data.shape, node.dtype))
            case Call():
                return self._call(node)
            case Tuple(fields):
                return self._all(fields)
            case TupleGetItem(whole, index):
                value = self.values[whole]
                return value[index] if isinstance(value, tuple) else value
            case Let(_, value, body):
                done = self.values[value]
                return done if isinstance(done, Refusal) else self.values[body]
            case If():
                return "chooses by a value inside a clause"
            case Match():
                return "matches again inside a clause"
            case RefCreate() | RefRead() | RefWrite():
                return "uses refs"
            case Function() | Op() | GlobalVar() | Constructor():
                return "uses a function as a value inside a clause"
            case _:
                assert_never(node)

    def _variable(self, var: Var) -> Batched | Refusal | str:
        if var in self.bound:
            return self.values[self.bound[var]]
        if var in self.variables:
            return self.variables[var]
        return f"uses %{var.name_hint} otherwise than by calling itself on it"

    def _all(self, nodes: tuple[Expr, ...]) -> tuple[Batched, ...] | Refusal:
        found: list[Batched] = []
        for node in nodes:
            value = self.values[node]
            if isinstance(value, Refusal):
                return value
            found.append(value)
        return tuple(found)

    def _call(self, call: Call) -> Batched | Refusal | str:
        if call in self.results:
            return self.results[call]
        match call.op:
            case Op():
                pass
            case Constructor():
                return "makes a value of a data type inside a clause"
            case _:
                return "calls another function inside a clause"
        args = self._all(call.args)
        if isinstance(args, Refusal):
            return args
        if any(isinstance(leaf, Rows) for arg in args for leaf in leaves_of(arg)):
            return batched_call(*with_panels(call, args, self.blocks))
        if call.op.operator.effect is not Effect.PURE:
            return f"calls {call.op.name}, which has effects"
        again = typed_as(Call(call.op, tuple(map(_expr, args)), call.attrs, span=call.span), call)
        return _shared(again, call.checked_type)


def _shared(expr: Expr, type_: Type | None) -> Batched | str:
    match type_:
        case TensorType():
            return Shared(expr, type_)
        case TupleType(fields):
            each = [typed_by_parts(TupleGetItem(expr, position)) for position in range(len(fields))]
            parts = [_shared(part, field) for part, field in zip(each, fields, strict=True)]
            wrong = next((part for part in parts if isinstance(part, str)), None)
            return wrong or tuple(part for part in parts if not isinstance(part, str))
        case _:
            return f"computes a value of type {type_} inside a clause"


def _expr(value: Batched) -> Expr:
    match value:
        case Rows(expr) | Shared(expr):
            return expr
        case tuple():
            return typed_by_parts(Tuple(tuple(map(_expr, value))))
        case _:
            assert_never(value)
