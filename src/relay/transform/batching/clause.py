"""The body of a clause, for all its instances at once."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import assert_never

from relay.base.frozen import frozen
from relay.base.graph import post_order
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
from relay.ir.traversal import children
from relay.ir.types import TensorType, TupleType, Type, scalar_type
from relay.ops.indexing.index import take
from relay.ops.indexing.scatter import scatter_nd
from relay.ops.manipulation.shape import expand_dims
from relay.transform.batching.recursions.clause_form import ClauseForm
from relay.transform.batching.recursions.sums import Sum
from relay.transform.batching.rows import Batched, Refusal, Rows, Shared, leaves_of, repeated
from relay.transform.batching.rules import batched_call
from relay.transform.batching.shared import with_panels


@frozen(eq=False)
class Below:
    """What a clause has of what is below it, and of its own: the `results` of its calls, what its `sums` stand for, and
    of what is computed for the elements of a list (`elements`), which instance each of them is of (`owners`). `row`:
    what has a row for each instance."""

    results: Mapping[Call, Batched]
    sums: Mapping[Var, Sum]
    elements: Mapping[Expr, Var]
    owners: Mapping[Var, Expr]
    row: Rows | None


_NOTHING_BELOW = Below(MappingProxyType({}), MappingProxyType({}), MappingProxyType({}), MappingProxyType({}), None)


def batched_body(
    name: GlobalVar, clause: ClauseForm, variables: Mapping[Var, Batched], below: Below, blocks: tuple[int, ...]
) -> tuple[Rows, ...] | tuple[Shared, ...] | Refusal:
    """The tensors of a clause's result, as rows, or all shared when they depend on no instance.

    `variables` are the fields, the states and the invariants, `blocks` the widths of panels that matrices are packed
    in."""
    result = batched_value(name, clause.body, variables, below, blocks)
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
    below: Below = _NOTHING_BELOW,
    blocks: tuple[int, ...] = (),
) -> Batched | Refusal:
    """The value of a body for all instances; its variables, and calls in it, have the values that are given."""
    return _Body(name, variables, below, body, blocks).run()


def spread(value: Batched, owners: Expr) -> Batched:
    """What the instances have, for each element of their lists."""
    match value:
        case Rows(expr, type_):
            return Rows(take(expr, owners, axis=0), type_)
        case Shared():
            return value
        case tuple():
            return tuple(spread(part, owners) for part in value)
        case _:
            assert_never(value)


class _Body:
    """The batched values of the nodes of one body. A node that has none has the reason instead, which counts only if
    the node is used."""

    def __init__(
        self, name: GlobalVar, variables: Mapping[Var, Batched], below: Below, body: Expr, blocks: tuple[int, ...]
    ) -> None:
        self.name = name
        self.variables = variables
        self.below = below
        self.blocks = blocks
        self.order = post_order([body], self._parts)
        self.bound = {node.var: node.value for node in self.order if isinstance(node, Let)}
        self.values: dict[Expr, Batched | Refusal] = {}
        self.spreads: dict[tuple[Expr, Var], Batched] = {}

    def _parts(self, node: Expr) -> tuple[Expr, ...]:
        found = self.below.sums.get(node) if isinstance(node, Var) else None
        return children(node) if found is None else (found.start, found.term)

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
                return self._all(fields, self.below.elements.get(node))
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
        if var in self.below.sums:
            return self._sum(self.below.sums[var])
        return f"uses %{var.name_hint} otherwise than by calling itself on it"

    def _sum(self, of: Sum) -> Batched | Refusal | str:
        """The sums of the terms of each instance's elements."""
        owners, row = self.below.owners[of.element], self.below.row
        first, each = self._all((of.start,), None), self._all((of.term,), of.element)
        if isinstance(first, Refusal):
            return first
        if isinstance(each, Refusal):
            return each
        (start,), (term,) = first, each
        if isinstance(start, tuple) or isinstance(term, tuple) or row is None:
            return "adds up tuples inside a clause"
        terms = repeated(term, Rows(owners, scalar_type("int32")))
        added = scatter_nd(repeated(start, row).expr, expand_dims(owners, 0), terms.expr, of.mode)
        return Rows(added, start.type)

    def _all(self, nodes: tuple[Expr, ...], element: Var | None) -> tuple[Batched, ...] | Refusal:
        """The values of the parts of a node, which is computed for each of the elements if there is one."""
        found: list[Batched] = []
        for node in nodes:
            value = self.values[node]
            if isinstance(value, Refusal):
                return value
            if element is not None and node not in self.below.elements:
                value = self._spread(node, value, element)
            found.append(value)
        return tuple(found)

    def _spread(self, node: Expr, value: Batched, element: Var) -> Batched:
        if (node, element) not in self.spreads:
            self.spreads[node, element] = spread(value, self.below.owners[element])
        return self.spreads[node, element]

    def _call(self, call: Call) -> Batched | Refusal | str:
        if call in self.below.results:
            return self.below.results[call]
        match call.op:
            case Op():
                pass
            case Constructor():
                return "makes a value of a data type inside a clause"
            case _:
                return "calls another function inside a clause"
        args = self._all(call.args, self.below.elements.get(call))
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
