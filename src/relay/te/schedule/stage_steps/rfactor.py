"""RFactor: a reduction in two steps."""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from relay.arith.expr import (
    Comparison,
    IntExpr,
    Symbol,
    add,
    floor_divide,
    floor_modulo,
    multiply,
    substitute,
)  # fmt: skip
from relay.base.frozen import frozen
from relay.te.extents import loop_extents
from relay.te.initial_state import plain_stage
from relay.te.operation import Compute, Reduction, rewriting
from relay.te.schedule.stage_steps.rewriting import compute_of, with_producer_before
from relay.te.schedule.step import refused
from relay.te.state import FuseRelation, Loop, Relation, SplitRelation, Stage, State
from relay.te.tensor import Axis
from relay.te.values import all_of
from relay.tir.buffer import Buffer
from relay.tir.expr import Holds, Load, Value


@frozen
class RFactor:
    """Factor a reduction: a new stage `stage.rf` reduces over all loops except `loop`, which becomes its last axis, and
    `stage` reduces over this axis.

    Unlike the iterations of a plain reduction, the partial results can be computed in parallel or in vector lanes.
    Class: ROUNDING.

    >>> from relay import te
    >>> a, b = te.placeholder((8, 8), "float32", "a"), te.placeholder((8, 8), "float32", "b")
    >>> k = te.reduce_axis(8, "k")
    >>> c = te.compute((8, 8), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="c")
    >>> print(te.print_loops(te.apply([c])))  # before
    serial i in 8 {
      serial j in 8 {
        c[i, j] = float32(0.0);
        serial k in 8 {
          c[i, j] = (c[i, j] + (a[i, k] * b[k, j]));
        }
      }
    }
    >>> print(te.print_loops(te.apply([c], [te.Split("c", "k", factor=4), te.RFactor("c", "k.inner")])))  # after
    alloc c.rf: float32[8, 8, 4] {
      serial i in 8 {
        serial j in 8 {
          serial k.inner in 4 {
            c.rf[i, j, k.inner] = float32(0.0);
            serial k.outer in 2 {
              c.rf[i, j, k.inner] = (c.rf[i, j, k.inner] + (a[i, 4*k.outer + k.inner] * b[4*k.outer + k.inner, j]));
            }
          }
        }
      }
      serial i_1 in 8 {
        serial j_1 in 8 {
          c[i_1, j_1] = float32(0.0);
          serial k.inner_1 in 4 {
            c[i_1, j_1] = (c[i_1, j_1] + c.rf[i_1, j_1, k.inner_1]);
          }
        }
      }
    }
    """

    stage: str
    loop: str

    def apply(self, state: State) -> State:
        stage = state.stage(self.stage)
        operation = compute_of(stage, "factor")
        reduction = operation.body
        loop = stage.loop(self.loop)
        if not isinstance(reduction, Reduction) or not loop.is_reduction:
            raise refused(
                f"cannot factor loop `{loop.name}` of `{stage.name}`: it is not reduced over",
                expected="one of "
                + (", ".join(x.name for x in stage.loops if x.is_reduction) or "it has no such loop"),
                found=loop.name,
            )
        extents, values, conditions = _reduced_indices(stage)
        name = state.fresh_name(f"{stage.name}.rf")
        lane = Axis(loop.name, extents[loop.symbol])
        partial = _partial(name, operation, reduction, stage, lane, extents, values, conditions)
        buffers = tuple(Buffer(f"{x.name}.rf", (*x.shape, lane.extent), x.dtype) for x in stage.outputs)
        total = _total(operation, reduction, buffers, lane)
        return with_producer_before(state, plain_stage(name, partial, buffers), _rescheduled(stage, total, loop))


def _reduced_indices(
    stage: Stage,
) -> tuple[dict[Symbol, IntExpr], dict[Symbol, IntExpr], tuple[Comparison, ...]]:
    """Extents of the reducing loops, the reduced axes in terms of their symbols, and the guards of uneven splits."""
    extents: dict[Symbol, IntExpr] = {root.symbol: root.axis.extent for root in stage.roots if root.is_reduction}
    relations = [relation for relation in stage.relations if _parent_symbols(relation) <= _reduced_symbols(stage)]
    extents = loop_extents(relations, extents)
    values: dict[Symbol, IntExpr] = {loop.symbol: loop.symbol for loop in stage.loops if loop.is_reduction}
    conditions: list[Comparison] = []
    for relation in reversed(relations):
        match relation:
            case SplitRelation(parent, outer, inner):
                values[parent] = add(multiply(values[outer], extents[inner]), values[inner])
                if multiply(extents[outer], extents[inner]) != extents[parent]:
                    conditions.append(Comparison(values[parent], "<", extents[parent]))
            case FuseRelation(outer, inner, fused):
                values[outer] = floor_divide(values[fused], extents[inner])
                values[inner] = floor_modulo(values[fused], extents[inner])
            case _:
                assert_never(relation)
    axes: dict[Symbol, IntExpr] = {root.axis: values[root.symbol] for root in stage.roots if root.is_reduction}
    return extents, axes, tuple(conditions)


def _reduced_symbols(stage: Stage) -> set[Symbol]:
    symbols = {root.symbol for root in stage.roots if root.is_reduction}
    for relation in stage.relations:
        if _parent_symbols(relation) <= symbols:
            symbols |= {relation.outer, relation.inner} if isinstance(relation, SplitRelation) else {relation.fused}
    return symbols


def _parent_symbols(relation: Relation) -> set[Symbol]:
    return {relation.parent} if isinstance(relation, SplitRelation) else {relation.outer, relation.inner}


def _partial(
    name: str,
    operation: Compute,
    reduction: Reduction,
    stage: Stage,
    lane: Axis,
    extents: dict[Symbol, IntExpr],
    values: dict[Symbol, IntExpr],
    conditions: tuple[Comparison, ...],
) -> Compute:
    """The reduction over all reducing loops but the factored one."""
    fresh = tuple(Axis(axis.name, axis.extent) for axis in operation.axes)
    rest = {x.symbol: Axis(x.name, extents[x.symbol]) for x in stage.loops if x.is_reduction and x.name != lane.name}
    leaves: dict[Symbol, IntExpr] = {**rest, stage.loop(lane.name).symbol: lane}
    mapping: dict[Symbol, IntExpr] = {axis: substitute(value, leaves) for axis, value in values.items()}
    mapping.update(zip(operation.axes, fresh, strict=True))

    moved = rewriting(lambda index: substitute(index, mapping))
    wheres: list[Value] = [Holds(condition.substitute(leaves)) for condition in conditions]
    if reduction.where is not None:
        wheres.append(moved(reduction.where))
    body = Reduction(
        reduction.reducers,
        tuple(map(moved, reduction.sources)),
        tuple(rest.values()),
        all_of(wheres) if wheres else None,
    )
    return Compute(name, (*fresh, lane), body, operation.attributes)


def _total(operation: Compute, reduction: Reduction, buffers: tuple[Buffer, ...], lane: Axis) -> Compute:
    """What is left: the partial results combined."""
    over = Axis(lane.name, lane.extent)
    sources = tuple(Load(buffer, (*operation.axes, over)) for buffer in buffers)
    body = Reduction(reduction.reducers, sources, (over,), None, reduction.initial)
    return replace(operation, body=body)


def _rescheduled(stage: Stage, total: Compute, factored: Loop) -> Stage:
    """The loops over results stay as scheduled; of the reducing ones only the factored one is left."""
    plain = plain_stage(stage.name, total, stage.outputs, stage.scope)
    reduced = _reduced_symbols(stage)
    spatial_roots = tuple(root for root in stage.roots if not root.is_reduction)
    root = next(root for root in plain.roots if root.is_reduction)
    loops = tuple(loop for loop in stage.loops if not loop.is_reduction or loop is factored)
    kept = tuple(replace(loop, symbol=root.symbol) if loop is factored else loop for loop in loops)
    relations = tuple(relation for relation in stage.relations if not _parent_symbols(relation) <= reduced)
    return replace(plain, roots=(*spatial_roots, root), loops=kept, relations=relations, place=stage.place)
