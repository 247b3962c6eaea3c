"""Programs over all instances at once: `relay.vmap`.

    before: def @main(%x: Tensor[(3,), float32], %w: Tensor[(4, 3), float32]) { sum(nn.dense(%x, %w)) }
    after:  def @main(%x: Tensor[(n, 3), float32], %w: Tensor[(4, 3), float32]) { sum(nn.dense(%x, %w), axis=[1]) }

By the batch rules of operators, as AutoBatch has them (`rules.py`); functions that are called are put in place before.
Floating point: ROUNDING (sums of a matrix product may be taken in another order).
"""

from __future__ import annotations

from collections.abc import Sequence

from relay.arith.expr import Symbol
from relay.base.diagnostics import RelayError
from relay.base.span import Span
from relay.infer.eager import typed_by_parts
from relay.infer.infer_type import infer_type
from relay.ir.expr import Expr, Function, Tuple, TupleGetItem, Var, record_type
from relay.ir.known_types import known_type
from relay.ir.module import IRModule
from relay.ir.types import TensorType, TupleType, Type
from relay.transform.batching.clause import batched_value
from relay.transform.batching.rows import Batched, Refusal, Rows, Shared, from_full, in_full, leaf_types, repeated
from relay.transform.functions.case_of_known_constructor import CaseOfKnownConstructor
from relay.transform.functions.inline import INLINE, Inline
from relay.transform.functions.normal_forms import ToGraphNormalForm
from relay.transform.functions.remove_unused_functions import MAIN


def over_instances(module: IRModule, places: Sequence[int]) -> IRModule:
    """The typed module whose `@main` takes, for the parameters at `places`, tensors with an axis in front that counts
    instances, and gives such tensors.

    Raises `RelayError` (rule `no-batch-rule`) for what has no batch rule: operators without one, choices, recursion.
    """
    main = _in_one(module)[MAIN]
    count = Symbol("n")
    params: list[Var] = []
    values: dict[Var, Batched] = {}
    for at, param in enumerate(main.params):
        type_ = known_type(param)
        is_row = at in places
        if leaf_types(type_) is None:
            raise _refused(f"takes %{param.name_hint}, of type {type_}", param.span)
        own = Var(param.name_hint, _stacked(type_, count) if is_row else type_, span=param.span)
        record_type(own, own.type_annotation or type_)
        params.append(own)
        values[param] = _given(own, type_, is_row)
    found = batched_value(MAIN, main.body, values)
    if isinstance(found, Refusal):
        raise _refused(found.reason.removesuffix(" inside a clause"), found.span or main.span)
    like = next((leaf for each in values.values() for leaf in _leaves(each) if isinstance(leaf, Rows)), None)
    body = found if like is None else _in_full(found, like)
    return infer_type(IRModule({MAIN: Function(tuple(params), _expression(body), span=main.span)}))


def _in_one(module: IRModule) -> IRModule:
    """The module with what `@main` calls put in place, without bindings."""
    marked = {name: each if name == MAIN else each.with_attr(INLINE, 1) for name, each in module.functions.items()}
    made = infer_type(module.with_functions(marked))
    for each in (Inline, CaseOfKnownConstructor, ToGraphNormalForm):
        made = each(made)
    return made


def _stacked(type_: Type, count: Symbol) -> Type:
    match type_:
        case TensorType(shape, dtype):
            return TensorType((count, *shape), dtype)
        case TupleType(fields):
            return TupleType(tuple(_stacked(each, count) for each in fields))
        case _:
            return type_


def _given(expr: Expr, type_: Type, is_row: bool) -> Batched:
    """A parameter, as tensors of all instances, or the same for all."""
    if isinstance(type_, TupleType):
        parts = ((typed_by_parts(TupleGetItem(expr, at)), each) for at, each in enumerate(type_.fields))
        return tuple(_given(part, each, is_row) for part, each in parts)
    assert isinstance(type_, TensorType)
    return from_full(expr, type_) if is_row else Shared(expr, type_)


def _leaves(value: Batched) -> list[Rows | Shared]:
    return [leaf for part in value for leaf in _leaves(part)] if isinstance(value, tuple) else [value]


def _in_full(value: Batched, like: Rows) -> Batched:
    """A value whose every tensor has the axis of instances."""
    if isinstance(value, tuple):
        return tuple(_in_full(part, like) for part in value)
    rows = repeated(value, like)
    return Shared(in_full(rows), rows.type)


def _expression(value: Batched) -> Expr:
    return Tuple(tuple(map(_expression, value))) if isinstance(value, tuple) else value.expr


def _refused(reason: str, span: Span | None) -> RelayError:
    return RelayError(
        rule="no-batch-rule", message="this cannot be computed for all instances at once", span=span,
        found=f"a function that {reason}", expected="operators with a batch rule, on tensors of known extents",
        remedy="docs/operators.md says which operators have one; map the function over a list, or loop, for others",
    )  # fmt: skip
