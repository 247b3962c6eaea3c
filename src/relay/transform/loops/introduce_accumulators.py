"""Recursions whose last step is a sum, as loops that keep the sum so far (an accumulator): IntroduceAccumulators.

    before: def @f(%xs: List[int32]) -> int32 { match (%xs) { Cons(%x, %rest) => %x * %x + @f(%rest), Nil => 0 } }
    after:  def @f(%xs) { @f_loop(%xs, 0) }
            def @f_loop(%xs, %sum: int32) {
              match (%xs) { Cons(%x, %rest) => @f_loop(%rest, %sum + %x * %x), Nil => %sum + 0 }
            }

So for sums, products, the largest and the smallest, and what bits and truths give: what an operator gives that may take
its operands in any order. A function, global or bound by a let, is changed when in a branch the result is such an
operator on the function's own result and something else, and nothing with an effect stands between the two. Where the
something else comes after the call, it moves before it, so it must be without effect too. Several calls in a branch are
one jump less each. Lists that a recursion builds are left to lowering, which fills their cells as it goes.

Floating point: EXACT on integers and truths; sums and products of floats only under FAST_MATH, since their order
changes. Steps of different operators: the first that is found decides.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from math import prod
from types import MappingProxyType

import numpy as np
from ml_dtypes import iinfo

from relay.analysis.effects import Effects, ModuleEffects
from relay.base.dtypes import DType
from relay.base.floating_point import FloatingPointClass
from relay.base.frozen import frozen
from relay.infer.eager import typed_by_parts
from relay.ir.attributes import Attributes
from relay.ir.expr import Call, Constant, Expr, Function, If, Let, Match, Op, Var, record_type
from relay.ir.known_types import typed_var
from relay.ir.module import IRModule
from relay.ir.rewriting import rebuild_typed, rewrite_nodes, typed_as, with_body, with_lets
from relay.ir.traversal import LEAVES, body_nodes, children
from relay.ir.type_traversal import is_closed
from relay.ir.types import FuncType, TensorType, Type
from relay.transform.framework.context import PassContext
from relay.transform.framework.passes import module_pass
from relay.transform.functions.extents import copied
from relay.transform.loops.loops import LoopName, lets_and_end, self_calls, with_loops_split

LARGEST_UNIT_ELEMENTS = 1024
_WORDS = MappingProxyType({"add": "sum", "multiply": "product", "maximum": "largest", "minimum": "smallest"})


@module_pass(level=2)
def IntroduceAccumulators(module: IRModule, context: PassContext) -> IRModule:
    """Make loops of recursions whose last step is a sum."""
    floats = context.allows(FloatingPointClass.FAST_MATH)
    return with_loops_split(module, partial(_split, effects=ModuleEffects(module), floats=floats))


def _split(
    function: Function, name: LoopName, loop: LoopName, effects: ModuleEffects, floats: bool
) -> tuple[Function, Function] | None:
    """What starts with nothing, and the loop; None where no branch ends with an operator on the function's result."""
    type_ = function.checked_type
    if not isinstance(type_, FuncType) or not is_closed(type_) or not self_calls(function, name):
        return None
    tails = _Tails(function, name, effects.of_nodes(function.body))
    steps = [step for end in tails.ends if (step := tails.step(end)) is not None]
    unit = _unit(steps[0].op.name, type_.ret_type, floats) if steps else None
    if unit is None:
        return None
    so_far = typed_var(_WORDS.get(steps[0].op.name, "so_far"), type_.ret_type)
    body = _Turn(tails, {each.end: each for each in steps if each.op.name == steps[0].op.name}, loop, so_far, unit)
    whole = Function((*function.params, so_far), body.done(), type_.ret_type, span=function.span)
    start = typed_as(Call(loop, (*function.params, unit)), function.body)
    return with_body(function, start), copied(typed_by_parts(whole))


def _unit(operator: str, type_: Type, floats: bool) -> Constant | None:
    """What changes nothing when the operator combines it with a value of a type; None where there is none, or where
    the order of operands counts."""
    if not isinstance(type_, TensorType):
        return None
    dtype, shape = type_.dtype, [extent for extent in type_.shape if isinstance(extent, int)]
    number = _unit_number(operator, dtype)
    if number is None or (dtype.is_float and not floats) or prod(shape) > LARGEST_UNIT_ELEMENTS:
        return None
    return record_type(Constant(np.full(shape, number, dtype.numpy)), type_)


def _unit_number(operator: str, dtype: DType) -> int | None:
    match operator:
        case "add" if not dtype.is_bool:
            return 0
        case "multiply" if not dtype.is_bool:
            return 1
        case "maximum" if dtype.is_integer and not dtype.is_bool:
            return int(iinfo(dtype.numpy).min)
        case "minimum" if dtype.is_integer and not dtype.is_bool:
            return int(iinfo(dtype.numpy).max)
        case "logical_or" | "bitwise_or" | "bitwise_xor":
            return 0
        case "logical_and":
            return 1
        case "bitwise_and":
            return 1 if dtype.is_bool else int(iinfo(dtype.numpy).max) if dtype.is_unsigned_integer else -1
        case _:
            return None


@frozen(eq=False)
class _Step:
    """The end of a branch, `op(other, result of call)` in either order; `bound` holds the call, if a let does."""

    end: Expr
    op: Op
    attrs: Attributes | None
    call: Call
    other: Expr
    bound: Let | None


class _Tails:
    """How the branches of a function end: the bindings in front of each end."""

    def __init__(self, function: Function, name: LoopName, effects: Mapping[Expr, Effects]) -> None:
        self.function = function
        self.name = name
        self.effects = effects
        self.uses = Counter(part for node in body_nodes(function) for part in children(node))
        self.chains: list[tuple[Expr, list[Let], Expr]] = []  # outer ones first: what it is, its bindings, its end
        stack = [function.body]
        while stack:
            whole = stack.pop()
            bindings, end = lets_and_end(whole)
            self.chains.append((whole, bindings, end))
            if isinstance(end, If | Match):
                stack.extend(children(end)[1:])
        self.ends = [end for _, _, end in self.chains if not isinstance(end, If | Match)]
        self._bindings = {end: bindings for _, bindings, end in self.chains}

    def step(self, end: Expr) -> _Step | None:
        """What an end does with the function's own result, if that is all that is done with it."""
        if not isinstance(end, Call) or not isinstance(end.op, Op) or len(end.args) != 2:
            return None
        for position in (1, 0):
            own, other = end.args[position], end.args[1 - position]
            call, bound, between = self._own_call(own, self._bindings[end])
            if call is None or own.checked_type != end.checked_type or self.uses[own] != 1:
                continue
            after = [let.value for let in between]
            if position == 0 or (bound is not None and not isinstance(other, LEAVES)):
                after.append(other)  # it is evaluated after the call
            if all(self._may_move(each) for each in after):
                return _Step(end, end.op, end.attrs, call, other, bound)
        return None

    def _own_call(self, expr: Expr, bindings: Sequence[Let]) -> tuple[Call | None, Let | None, Sequence[Let]]:
        """The function's own call that an expression is, the let that binds it, and the bindings after that."""
        if isinstance(expr, Call):
            return (expr if expr.op == self.name else None), None, ()
        for position, let in enumerate(bindings):
            if let.var is expr and isinstance(let.value, Call) and let.value.op == self.name:
                return let.value, let, bindings[position + 1 :]
        return None, None, ()

    def _may_move(self, expr: Expr) -> bool:
        effects = self.effects[expr]
        return effects.is_removable and effects.is_repeatable


@frozen(eq=False)
class _Turn:
    """The body of the loop: `so_far` is what the turns before it gave, together."""

    tails: _Tails
    steps: Mapping[Expr, _Step]
    loop: LoopName
    so_far: Var
    unit: Constant

    def done(self) -> Expr:
        name, function = self.tails.name, self.tails.function
        new: dict[Expr, Expr] = {}

        def step(node: Expr, rebuilt: Expr) -> Expr:
            if isinstance(rebuilt, Call) and rebuilt.op == name:
                rebuilt = typed_as(Call(self.loop, (*rebuilt.args, self.unit), span=rebuilt.span), node)
            new[node] = rebuilt
            return rebuilt

        rewrite_nodes(function, step)
        first = next(iter(self.steps.values()))
        done: dict[Expr, Expr] = {}
        for whole, bindings, end in reversed(self.tails.chains):
            found = self.steps.get(end)
            if isinstance(end, If | Match):
                data, *branches = children(end)
                result = rebuild_typed(end, [new[data], *(done[branch] for branch in branches)])
            elif found is not None:
                more = typed_as(Call(first.op, (self.so_far, new[found.other]), first.attrs, span=end.span), whole)
                arguments = (new[each] for each in found.call.args)
                result = Call(self.loop, (*arguments, more), span=found.call.span)
                bindings = [let for let in bindings if let is not found.bound]
            elif isinstance(end, Call) and end.op == name:
                result = Call(self.loop, (*(new[each] for each in end.args), self.so_far), span=end.span)
            else:
                result = Call(first.op, (self.so_far, new[end]), first.attrs, span=end.span)
            done[whole] = with_lets([(let.var, new[let.value]) for let in bindings], typed_as(result, whole))
        return done[function.body]
