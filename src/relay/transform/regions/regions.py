"""Regions: what another compiler takes of a program, as a function that is called where it stands.

    fn (%p0, %p1, Compiler="mine") { nn.relu(nn.dense(%p0, %p1)) }(%x, %w)

Other versions of Relay mark the borders of a region by operators `annotation.compiler_begin` and `compiler_end` around
each of its inputs and outputs. Here a region is a function from the start: what is inside is what stands inside, it has
its inputs as parameters and its outputs as result, and half a region cannot be written. Its parameters are tensors
(tuples are opened outside), and constants are inside.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from relay.base.frozen import mutable
from relay.base.graph import post_order as graph_post_order
from relay.infer.eager import typed_by_parts
from relay.ir.expr import Call, Constant, Expr, Function, Tuple, TupleGetItem, Var
from relay.ir.rewriting import rebuild_from, rebuild_typed, typed_as
from relay.ir.traversal import children
from relay.ir.types import TupleType
from relay.transform.framework.external import COMPOSITE
from relay.transform.functions.extents import copied

COMPILER = "Compiler"
_OPAQUE = (COMPILER, COMPOSITE, "Primitive")


def region_function(expr: Expr) -> Function | None:
    """The function of a call that is a region."""
    if isinstance(expr, Call) and isinstance(expr.op, Function) and COMPILER in expr.op.attrs:
        return expr.op
    return None


def outer_parts(expr: Expr) -> tuple[Expr, ...]:
    """The parts of a node, but for the bodies of regions, composites and kernels."""
    opaque = isinstance(expr, Function) and any(name in expr.attrs for name in _OPAQUE)
    return () if opaque else children(expr)


def outer_nodes(body: Expr) -> list[Expr]:
    """The nodes of a body, parts first; regions, composites and kernels are not looked into."""
    return graph_post_order((body,), outer_parts)


def with_outer_parts(node: Expr, new: Mapping[Expr, Expr]) -> Expr:
    """A node with what stands for its parts."""
    return rebuild_from(node, new, outer_parts)


def make_region(
    compiler: str, members: Sequence[Expr], outputs: Sequence[Expr], new: Mapping[Expr, Expr]
) -> dict[Expr, Expr]:
    """What stands for `outputs` when `members` (calls and fields of their results, parts first) are one region.

    Calls of regions are put in place, others stay. `new` is what stands for the nodes that are read.
    """
    body = _Body(new)
    for member in members:
        body.add(member)
    wanted = [part for each in outputs for part in (fields_of(each) if len(outputs) > 1 else [each])]
    inside = [body.operand(each) for each in wanted]
    result = inside[0] if len(outputs) == 1 else typed_by_parts(Tuple(tuple(inside)))
    function = typed_by_parts(Function(tuple(body.params), result, result.checked_type, attrs={COMPILER: compiler}))
    call = typed_by_parts(Call(function, tuple(body.arguments), span=outputs[-1].span))
    if len(outputs) == 1:
        return {outputs[0]: call}
    made = iter([get_field(call, index) for index in range(len(wanted))])
    found: dict[Expr, Expr] = {}
    for each in outputs:
        parts = [next(made) for _ in fields_of(each)]
        found[each] = typed_as(Tuple(tuple(parts)), each) if isinstance(each.checked_type, TupleType) else parts[0]
    return found


def fields_of(expr: Expr) -> list[Expr]:
    """The tensors of a value: its fields if it is a tuple, or itself."""
    type_ = expr.checked_type
    return [get_field(expr, index) for index in range(len(type_.fields))] if isinstance(type_, TupleType) else [expr]


def get_field(expr: Expr, index: int) -> Expr:
    if isinstance(expr, Tuple):
        return expr.fields[index]
    return typed_by_parts(TupleGetItem(expr, index, span=expr.span))


@mutable(eq=True)
class _Body:
    """The body of a region as it grows, and what it reads from outside."""

    new: Mapping[Expr, Expr]
    local: dict[Expr, Expr] = field(default_factory=dict)
    params: list[Var] = field(default_factory=list)
    arguments: list[Expr] = field(default_factory=list)
    _known: dict[Expr, Var] = field(default_factory=dict)  # the parameter of each argument
    _fields: dict[tuple[Expr, int], Expr] = field(default_factory=dict)
    _placed: set[Function] = field(default_factory=set)

    def add(self, member: Expr) -> None:
        inner = region_function(member)
        match member:
            case Call(args=args) if inner is not None:
                self.local[member] = self._in_place(inner, args)
            case Call(op, args, attrs):
                callee = copied(op) if isinstance(op, Function) else op  # its variables are bound nowhere else then
                made = Call(callee, tuple(map(self.operand, args)), attrs, member.given_type_args, span=member.span)
                self.local[member] = typed_as(made, member)
            case _:
                self.local[member] = rebuild_typed(member, [self.operand(part) for part in children(member)])

    def operand(self, expr: Expr) -> Expr:
        """What stands inside the region for a node that it reads."""
        known = self.local.get(expr)
        if known is not None:
            return known
        if isinstance(expr, TupleGetItem) and expr.tuple_value in self.local:
            return get_field(self.local[expr.tuple_value], expr.index)
        if isinstance(expr, Constant):
            return expr
        outside = self.new.get(expr, expr)
        if isinstance(expr.checked_type, TupleType):
            parts = tuple([self._parameter(each) for each in self._opened(expr, outside)])
            made: Expr = typed_by_parts(Tuple(parts))
        else:
            made = self._parameter(outside)
        self.local[expr] = made
        return made

    def _opened(self, expr: Expr, outside: Expr) -> list[Expr]:
        if isinstance(outside, Tuple):
            return list(outside.fields)
        count = len(expr.checked_type.fields) if isinstance(expr.checked_type, TupleType) else 0
        keys = [(outside, index) for index in range(count)]
        return [self._fields.setdefault(key, get_field(outside, key[1])) for key in keys]

    def _parameter(self, outside: Expr) -> Expr:
        if isinstance(outside, Constant):
            return outside
        param = self._known.get(outside)
        if param is None:
            param = self._known[outside] = typed_as(Var(f"p{len(self.params)}", outside.checked_type), outside)
            self.params.append(param)
            self.arguments.append(outside)
        return param

    def _in_place(self, function: Function, args: Sequence[Expr]) -> Expr:
        """The body of a region that is called, with the arguments for its parameters."""
        function = copied(function) if function in self._placed else function
        self._placed.add(function)
        inner = dict[Expr, Expr](zip(function.params, map(self.operand, args), strict=True))
        for node in graph_post_order((function.body,), outer_parts):
            if node not in inner:
                inner[node] = with_outer_parts(node, inner)
        return inner[function.body]
