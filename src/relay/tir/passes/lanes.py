"""The iterations of one loop as the lanes of vectors: the rewriting behind `vectorize_loops`.

Each value becomes either a vector of all lanes or stays a scalar, if it is the same in all of them; scalars are
broadcast where they meet vectors.
"""

from __future__ import annotations

from typing import assert_never

from relay.arith.expr import (
    Comparison,
    FloorDiv,
    IntExpr,
    Node,
    add,
    free_symbols,
    linear_parts,
    linear_sum,
    maximum,
    minimum,
    multiply,
)
from relay.arith.simplify import Assumptions
from relay.base.dtypes import DType
from relay.base.frozen import frozen
from relay.tir.buffer import Buffer, Scope
from relay.tir.conditions import every_lane, facts_unless, facts_when
from relay.tir.dependence import conflicts
from relay.tir.expr import (
    Binary,
    BinaryOp,
    Broadcast,
    Call,
    Cast,
    Compare,
    CompareOp,
    Holds,
    Imm,
    Index,
    IndexValue,
    Load,
    Ramp,
    RampValue,
    Select,
    Unary,
    UnaryOp,
    Value,
    ValueVar,
    imm,
    same_lanes,
)
from relay.tir.intrinsics import EFFECT_FREE_HINTS, INTRINSICS
from relay.tir.semantics import integer_limits
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, PrimFunc, Sequence, Stmt, Store
from relay.tir.text.printer import print_index
from relay.tir.traversal import values_in_index, walk_value


class NotVectorizable(Exception):
    """A loop cannot be vectors as it stands; the message says why."""


@frozen
class Mask:
    """The lanes that are active: a vector of bools, and what is known of the lane symbol in those lanes."""

    value: Value
    known: Assumptions


class LaneBuilder:
    """Rewrites the body of `loop`, for `lanes` iterations, at a place where `known` holds.

    The inputs of `func` have defined contents everywhere, so lanes that are masked off may read them; registers have no
    addresses to mask, so they are read whole.
    """

    def __init__(self, loop: For, lanes: int, known: Assumptions, func: PrimFunc) -> None:
        self._func = func
        self._mask_at_allocation: dict[Buffer, Value | None] = {}
        self._loop = loop
        self._around = known
        self._lane = loop.variable
        self._lanes = lanes
        self._inside = known.with_loop(loop.variable, lanes)
        self._vectors: dict[ValueVar, ValueVar] = {}
        self._expanded: dict[Buffer, Buffer] = {}

    def build(self) -> Stmt:
        """The loop as vectors. Raises `NotVectorizable`."""
        result = self._statement(self._loop.body, None, self._inside)
        if not self.iterations_are_apart():
            raise NotVectorizable("an iteration may touch what another one writes")
        return result

    def iterations_are_apart(self) -> bool:
        """Whether no two iterations touch the same element, unless both read it: then they may run in lockstep."""
        return next(conflicts(self._loop, self._around, self._func.hierarchy), None) is None

    # --- statements -------------------------------------------------------------------------------------------------

    def _statement(self, statement: Stmt, mask: Mask | None, known: Assumptions) -> Stmt:
        match statement:
            case For(variable, extent, body, kind, annotations):
                if self._varies(extent):
                    raise NotVectorizable(f"the extent of the loop `{variable}` depends on the lane")
                inside = known.with_loop(variable, extent)
                inner_mask = None if mask is None else Mask(mask.value, mask.known.with_loop(variable, extent))
                return For(variable, extent, self._statement(body, inner_mask, inside), kind, annotations)
            case Sequence(statements):
                return Sequence(tuple([self._statement(part, mask, known) for part in statements]))
            case If():
                return self._if(statement, mask, known)
            case Store():
                return self._store(statement, mask, known)
            case LetValue(variable, value, body):
                new_value = self._value(value, mask, known)
                new_variable = variable
                if new_value.lanes > 1:
                    new_variable = ValueVar(variable.name, variable.dtype, self._lanes)
                    self._vectors[variable] = new_variable
                return LetValue(new_variable, new_value, self._statement(body, mask, known))
            case Allocate(buffer, body):
                if any(map(self._varies, buffer.shape)):
                    raise NotVectorizable(f"the shape of `{buffer.name}` depends on the lane")
                wide = Buffer(buffer.name, (*buffer.shape, self._lanes), buffer.dtype, buffer.scope)
                self._expanded[buffer] = wide
                self._mask_at_allocation[buffer] = None if mask is None else mask.value
                return Allocate(wide, self._statement(body, mask, known))
            case Evaluate(Call(name) as call) if name in EFFECT_FREE_HINTS and not self._value_varies(call):
                return statement
            case Evaluate() | Issue():
                raise NotVectorizable("a call is made, or something is issued, for its effect in each iteration")
            case _:
                assert_never(statement)

    def _if(self, statement: If, mask: Mask | None, known: Assumptions) -> Stmt:
        condition = self._value(statement.condition, mask, known)
        if condition.lanes > 1 and any(isinstance(node, Load) for node in walk_value(condition)):
            name = ValueVar("mask", DType.BOOL, self._lanes)  # the branches may write what the condition reads
            return LetValue(name, condition, self._branches(name, statement, mask, known))
        return self._branches(condition, statement, mask, known)

    def _branches(self, condition: Value, statement: If, mask: Mask | None, known: Assumptions) -> Stmt:
        holding = facts_when(statement.condition)
        if condition.lanes == 1:
            then_mask = None if mask is None else Mask(mask.value, mask.known.assuming(*holding))
            then = self._statement(statement.then, then_mask, known.assuming(*holding))
            if statement.otherwise is None:
                return If(condition, then)
            failing = facts_unless(statement.condition)
            else_mask = None if mask is None else Mask(mask.value, mask.known.assuming(*failing))
            return If(condition, then, self._statement(statement.otherwise, else_mask, known.assuming(*failing)))
        then = self._statement(statement.then, self._narrowed(mask, condition, statement.condition, known), known)
        if statement.otherwise is None:
            return then
        inverse = Unary(UnaryOp.NOT, condition)
        not_holding = Unary(UnaryOp.NOT, statement.condition)
        otherwise = self._statement(statement.otherwise, self._narrowed(mask, inverse, not_holding, known), known)
        return Sequence((then, otherwise))

    def _narrowed(self, mask: Mask | None, condition: Value, scalar: Value, known: Assumptions) -> Mask:
        """The mask of lanes that are active in `mask` and meet `condition`, the vector form of `scalar`."""
        facts = facts_when(scalar)
        if mask is None:
            return Mask(condition, known.assuming(*facts))
        return Mask(Binary(BinaryOp.AND, mask.value, condition), mask.known.assuming(*facts))

    def _store(self, store: Store, mask: Mask | None, known: Assumptions) -> Stmt:
        if store.mask is not None:
            condition = self._value(store.mask, mask, known)
            if condition.lanes == 1:
                return If(condition, self._store(Store(store.buffer, store.indices, store.value), mask, known))
            mask = self._narrowed(mask, condition, store.mask, known)
        value = self._value(store.value, mask, known)
        buffer, indices, ramps = self._place(store.buffer, store.indices)
        if ramps == 0:
            raise NotVectorizable(f"all lanes write the same element of `{store.buffer.name}`")
        condition = None if mask is None else mask.value
        if self._is_whole(store.buffer, condition) and self._in_bounds(store.buffer, store.indices, known):
            condition = None
        return Store(buffer, indices, same_lanes(value, self._lanes), condition)

    def _is_whole(self, buffer: Buffer, mask: Value | None) -> bool:
        """Whether a buffer belongs to the lanes and `mask` is the one under which they all began with it: then what
        masked-off lanes do with it does not matter."""
        return buffer in self._expanded and mask is self._mask_at_allocation[buffer]

    # --- indices ----------------------------------------------------------------------------------------------------

    def _varies(self, index: IntExpr) -> bool:
        """Whether an index is not the same in all lanes."""
        if isinstance(index, int):
            return False
        return self._lane in free_symbols(index) or any(map(self._value_varies, values_in_index(index)))

    def _value_varies(self, value: Value) -> bool:
        return any(
            node in self._vectors or (isinstance(node, Load) and node.buffer in self._expanded)
            for node in walk_value(value)
            if isinstance(node, (ValueVar, Load))
        ) or any(map(self._index_varies, walk_value(value)))

    def _index_varies(self, value: Value) -> bool:
        match value:
            case IndexValue(index=index) | RampValue(base=index):
                return self._lane in free_symbols(index)
            case Holds(condition=condition):
                return self._lane in free_symbols(condition.left) | free_symbols(condition.right)
            case Load(indices=indices):
                bases = (index.base if isinstance(index, Ramp) else index for index in indices)
                return any(self._lane in free_symbols(base) for base in bases)
            case _:
                return False

    def _linear(self, index: IntExpr) -> tuple[IntExpr, int]:
        """`(base, stride)` with `index == base + stride * lane`."""
        if isinstance(index, int) or not self._varies(index):
            return index, 0
        constant, terms = linear_parts(index)
        stride = 0
        rest: list[tuple[Node, int]] = []
        for term, coefficient in terms:
            if term is self._lane:
                stride = coefficient
            elif self._varies(term):
                raise NotVectorizable(f"the index `{print_index(index)}` is not linear in the lane `{self._lane}`")
            else:
                rest.append((term, coefficient))
        return linear_sum(constant, rest), stride

    def _place(self, buffer: Buffer, indices: tuple[Index, ...]) -> tuple[Buffer, tuple[Index, ...], int]:
        """Where an access goes: the buffer, its indices, and how many of them are vectors."""
        result: list[Index] = []
        ramps = 0
        for index in self._joined(buffer, indices):
            base, stride = self._linear(index)
            result.append(Ramp(base, stride, self._lanes) if stride else base)
            ramps += 1 if stride else 0
        wide = self._expanded.get(buffer)
        if wide is not None:
            result.append(Ramp(0, 1, self._lanes))
            ramps += 1
        if ramps > 1:
            raise NotVectorizable(f"the lane is in two indices of `{buffer.name}`")
        return buffer if wide is None else wide, tuple(result), ramps

    def _joined(self, buffer: Buffer, indices: tuple[Index, ...]) -> list[IntExpr]:
        """The indices; where several depend on the lane and name positions in row-major order (`x // 56`, `x % 56`),
        these are zeros and, at the last of them, the position that they name together."""
        plain = [index for index in indices if not isinstance(index, Ramp)]
        if len(plain) < len(indices):
            raise NotVectorizable(f"`{buffer.name}` is accessed by vectors already")
        varying = [axis for axis, index in enumerate(plain) if self._varies(index)]
        if len(varying) < 2 or buffer.scope is Scope.REGISTER:
            return plain
        first, last = varying[0], varying[-1]
        position: IntExpr = 0
        for index, extent in zip(plain[first : last + 1], buffer.shape[first : last + 1], strict=True):
            position = add(multiply(position, extent), index)
        zeros: list[IntExpr] = [0] * (last - first)
        return [*plain[:first], *zeros, self._inside.simplify(position), *plain[last + 1 :]]

    # --- values -----------------------------------------------------------------------------------------------------

    def _value(self, value: Value, mask: Mask | None, known: Assumptions) -> Value:
        """`value` in all lanes, or as the scalar that it is in each."""
        if value.lanes > 1:
            raise NotVectorizable("there are vectors in the loop already")
        match value:
            case Imm():
                return value
            case ValueVar():
                return self._vectors.get(value, value)
            case IndexValue(index, dtype):
                base, stride = self._linear(index)
                return RampValue(base, stride, dtype, self._lanes) if stride else value
            case RampValue():
                raise NotVectorizable("there are vectors in the loop already")
            case Holds(comparison):
                return self._holds(value, comparison)
            case Load():
                return self._load(value, mask, known)
            case Select(condition, then, otherwise):
                return self._select(condition, then, otherwise, mask, known)
            case Call(name, arguments, dtype):
                if not any(map(self._value_varies, arguments)):
                    return value
                if name not in INTRINSICS:
                    raise NotVectorizable(f"the call `{name}` does not work lane by lane")
                parts = [same_lanes(self._value(part, mask, known), self._lanes) for part in arguments]
                return Call(name, tuple(parts), dtype, self._lanes)
            case Unary(op, operand):
                return Unary(op, self._value(operand, mask, known))
            case Cast(operand, dtype):
                return Cast(self._value(operand, mask, known), dtype)
            case Binary(op, left, right):
                return Binary(op, *self._matched(left, right, mask, known))
            case Compare(op, left, right):
                return Compare(op, *self._matched(left, right, mask, known))
            case Broadcast():
                return self._value(value.operand, mask, known)
            case _:
                assert_never(value)

    def _matched(self, left: Value, right: Value, mask: Mask | None, known: Assumptions) -> tuple[Value, Value]:
        a, b = self._value(left, mask, known), self._value(right, mask, known)
        lanes = max(a.lanes, b.lanes)
        return same_lanes(a, lanes), same_lanes(b, lanes)

    def _holds(self, value: Value, comparison: Comparison) -> Value:
        """A comparison that depends on the lane, as a comparison of `stride * lane` with a scalar.

        The scalar is clamped to one beyond the lanes, which changes no answer and keeps numbers small.
        """
        base, stride = self._linear(comparison.left - comparison.right)
        if not stride:
            return value
        ends = (0, stride * (self._lanes - 1))
        limit = self._around.simplify(maximum(minimum(-base, max(ends) + 1), min(ends) - 1))
        fits = (abs(stride) + 1) * self._lanes <= integer_limits(DType.INT32)[1]
        dtype = DType.INT32 if fits else DType.INT64
        right = imm(limit, dtype) if isinstance(limit, int) else IndexValue(limit, dtype)
        return Compare(
            CompareOp(comparison.op), RampValue(0, stride, dtype, self._lanes), same_lanes(right, self._lanes)
        )

    def _load(self, load: Load, mask: Mask | None, known: Assumptions) -> Value:
        if load.mask is not None:
            raise NotVectorizable("a masked load depends on the lane")
        try:
            buffer, indices, ramps = self._place(load.buffer, load.indices)
        except NotVectorizable:
            repeated = self._repeated(load, mask, known)
            if repeated is None:
                raise
            return repeated
        if mask is None:
            return Load(buffer, indices)
        defined = load.buffer in (*self._func.inputs, *self._expanded) or load.buffer.scope is Scope.REGISTER
        if defined and self._in_bounds(load.buffer, load.indices, known):
            return Load(buffer, indices)
        if ramps:
            return Load(buffer, indices, mask.value)
        if not indices:
            return Load(buffer, indices)
        last = indices[-1]  # the same element for all lanes, read only if a lane is active
        assert not isinstance(last, Ramp)
        return Load(buffer, (*indices[:-1], Ramp(last, 0, self._lanes)), mask.value)

    def _repeated(self, load: Load, mask: Mask | None, known: Assumptions) -> Value | None:
        """A load along `lane // times` by nothing else: of fewer lanes, each of which is copied. None for others."""
        indices = [0 if isinstance(index, Ramp) else self._inside.simplify(index) for index in load.indices]
        varying = [axis for axis, index in enumerate(indices) if self._varies(index)]
        if len(varying) != 1 or load.buffer in self._expanded:
            return None
        constant, terms = linear_parts(indices[varying[0]])
        steps = [each for each in terms if self._varies(each[0])]
        part, stride = steps[0]
        times = part.right if isinstance(part, FloorDiv) and part.left is self._lane else 0
        if len(steps) > 1 or not isinstance(times, int) or times <= 0 or self._lanes % times != 0:
            return None
        whole = load.buffer in self._func.inputs and self._in_bounds(load.buffer, load.indices, known)
        few = None if mask is None or whole else every_lane(mask.value, times)
        if few is None and mask is not None and not whole:
            return None
        base = linear_sum(constant, [each for each in terms if each is not steps[0]])
        places: list[Index] = [*indices]
        places[varying[0]] = Ramp(base, stride, self._lanes // times)
        return Broadcast(Load(load.buffer, tuple(places), few), self._lanes)

    def _in_bounds(self, buffer: Buffer, indices: tuple[Index, ...], known: Assumptions) -> bool:
        """Whether an access is certain to be in bounds in every lane, whatever the mask."""
        for index, extent in zip(indices, buffer.shape, strict=True):
            assert not isinstance(index, Ramp)
            inside = (Comparison(0, "<=", index), Comparison(index, "<", extent))
            if not all(known.certain(comparison) for comparison in inside):
                return False
        return True

    def _select(self, condition: Value, then: Value, otherwise: Value, mask: Mask | None, known: Assumptions) -> Value:
        decided = self._value(condition, mask, known)
        facts = facts_when(condition)
        if decided.lanes == 1:
            then_mask = None if mask is None else Mask(mask.value, mask.known.assuming(*facts))
            sides = (self._value(then, then_mask, known.assuming(*facts)), self._value(otherwise, mask, known))
            lanes = max(side.lanes for side in sides)
            return Select(decided, same_lanes(sides[0], lanes), same_lanes(sides[1], lanes))
        holding = self._narrowed(mask, decided, condition, known)
        failing = self._narrowed(mask, Unary(UnaryOp.NOT, decided), Unary(UnaryOp.NOT, condition), known)
        first = same_lanes(self._value(then, holding, known), self._lanes)
        second = same_lanes(self._value(otherwise, failing, known), self._lanes)
        if isinstance(first, Load) and first.mask is decided and not first.is_uniform and _is_positive_zero(otherwise):
            return first  # lanes that are masked off are zero already
        return Select(decided, first, second)


def _is_positive_zero(value: Value) -> bool:
    return isinstance(value, Imm) and value.value == 0 and str(value.value)[0] != "-"
