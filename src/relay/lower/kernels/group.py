"""From a fused group (a primitive function) to tensor expressions, and by a schedule to a kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias, Union

from relay.base.diagnostics import CompilerBug, RelayError
from relay.base.frozen import frozen
from relay.ir.expr import Call, Constant, Expr, Function, Op, Tuple, TupleGetItem, Var
from relay.ir.known_types import known_type
from relay.ir.traversal import post_order
from relay.ir.types import TensorType, TupleType, Type
from relay.lower.kernels.index_faults import tells_of_body
from relay.lower.kernels.updates import UPDATE
from relay.lower.kernels.value_extents import EXTENTS, value_extents
from relay.ops.framework.record import Compute, IndexFault, NoCompute, OperatorRecord
from relay.te.compute import compute, placeholder
from relay.te.tensor import Gap, Tensor
from relay.tir.expr import imm

GAP = "gap"
"""The attribute of a primitive function whose result is a part of something larger: `(axis, elements)` of a `Gap`."""

GroupValue: TypeAlias = Union[Tensor, "tuple[GroupValue, ...]"]


@frozen(eq=False)
class Group:
    """Tensor expressions of one kernel. `anchors` are the operator calls with what each computes, in order: a schedule
    looks there for the heavy one. Outputs of one shape are the components of one compute, so they share its loops."""

    name: str
    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    anchors: tuple[tuple[Call, GroupValue], ...]


def make_group(function: Function) -> Group:
    """The tensor expressions of a primitive function whose parameters are tensors; where it stands for the extents of
    its body (`value_extents`) or for an index that this refuses (`index_faults`), those of that."""
    values: dict[int, GroupValue] = {}
    inputs: list[Tensor] = []
    for parameter in function.params:
        tensor = _placeholder(parameter)
        inputs.append(tensor)
        values[id(parameter)] = tensor
    if tells_of_body(function):
        told = _extents(function, values) if EXTENTS in function.attrs else _fault(function, values)
        return Group(str(function.attrs["name"]), tuple(inputs), (told,), ())
    anchors: list[tuple[Call, GroupValue]] = []
    for expr in post_order(function.body):
        if id(expr) in values or isinstance(expr, Op):
            continue
        value = _computed(expr, values, UPDATE in function.attrs and expr is function.body)
        if expr is function.body and isinstance(value, Tensor):
            value = replace(value, gap=gap_of(function))
        values[id(expr)] = value
        if isinstance(expr, Call):
            anchors.append((expr, value))
    name = str(function.attrs.get("name", "kernel"))
    outputs = flat(values[id(function.body)])
    if isinstance(function.body, Tuple):
        outputs = _side_by_side(outputs)
    return Group(name, tuple(inputs), outputs, tuple(anchors))


def expect_loops(function: Function) -> None:
    """Raises `RelayError` (rule `unsupported-operator`) for the call of an operator that has no tensor expression: it
    stands alone in its function."""
    match function.body:
        case Call(op=Op(operator=OperatorRecord(name=name, compute=NoCompute(reason), formula=formula)), span=span):
            by_others = f"write it by others: transform.Legalize([{name!r}])"
            alone = "give its record a `compute`; the interpreter or another compiler may run it"
            raise RelayError(
                rule="unsupported-operator", message=f"no code can be made for {name}", span=span,
                expected="an operator with a tensor expression", found=f"none: {reason}",
                remedy=by_others if callable(formula) else alone,
            )  # fmt: skip
        case _:
            return


def with_gap(function: Function, gap: Gap | None) -> Function:
    """A primitive function of one result, which is to lie in something larger."""
    return function if gap is None else function.with_attr(GAP, (gap.axis, gap.elements))


def gap_of(function: Function) -> Gap | None:
    """What a primitive function leaves room for in what its result lies in."""
    match function.attrs.get(GAP):
        case (int(axis), int(elements)):
            return Gap(axis, elements)
        case _:
            return None


def _side_by_side(tensors: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    """Tensors of one shape as components of one compute; of several shapes, as they are."""
    if len(tensors) < 2 or len({tensor.shape for tensor in tensors}) > 1:
        return tensors
    return compute(tensors[0].shape, lambda *i: tuple(tensor[i] for tensor in tensors), name="outputs")


def _extents(function: Function, values: Mapping[int, GroupValue]) -> Tensor:
    extents = value_extents(function)
    if extents is None:
        raise CompilerBug("lower", "the extents of this group do not depend on values")
    return _told(extents.extents, function.body, values)


def _fault(function: Function, values: Mapping[int, GroupValue]) -> Tensor:
    match function.body:
        case Call(op=Op(operator=OperatorRecord(fault=IndexFault(fault=fault)))):
            return _told(fault, function.body, values)
        case _:
            raise CompilerBug("lower", "this group refuses no indices")


def _told(told: Compute, call: Expr, values: Mapping[int, GroupValue]) -> Tensor:
    """What an operator says of a call of it, as a tensor."""
    if not isinstance(call, Call):
        raise CompilerBug("lower", f"a {type(call).__name__} is no call of an operator")
    known = {**values, **{id(each): _computed(each, values) for each in call.args if isinstance(each, Constant)}}
    result: Tensor = told(call.attrs, tuple(known[id(each)] for each in call.args), known_type(call))
    return result


def flat(value: GroupValue) -> tuple[Tensor, ...]:
    """The tensors of a value, tuples opened."""
    if isinstance(value, Tensor):
        return (value,)
    return tuple(tensor for part in value for tensor in flat(part))


def _placeholder(parameter: Var) -> Tensor:
    type_ = parameter.checked_type or parameter.type_annotation
    if not isinstance(type_, TensorType):
        raise CompilerBug("lower", f"parameter %{parameter.name_hint} of a group is no tensor but {type_}")
    return placeholder(type_.shape, type_.dtype, parameter.name_hint)


def _computed(expr: Expr, values: Mapping[int, GroupValue], is_update: bool = False) -> GroupValue:
    match expr:
        case Call(op=Op(operator=OperatorRecord() as record), args=args, attrs=attrs):
            compute_ = record.update.compute if is_update and record.update is not None else record.compute
            if not callable(compute_):
                raise CompilerBug("lower", f"{record.name} has no tensor expression: {compute_.reason}")
            inputs = tuple(values[id(argument)] for argument in args)
            return compute_(attrs, inputs, known_type(expr))
        case Constant(data=data):
            if data.size > 1:
                raise CompilerBug("lower", f"a constant of {data.size} elements stands inside a group")
            value, dtype = data.item() if data.size else 0, expr.dtype
            return compute(data.shape, lambda *_: imm(value, dtype), name="constant")
        case Tuple(fields=fields):
            return tuple(values[id(field)] for field in fields)
        case TupleGetItem(tuple_value=whole, index=index):
            parts = values[id(whole)]
            if isinstance(parts, Tensor):
                raise CompilerBug("lower", "a field is taken of a tensor")
            return parts[index]
        case _:
            raise CompilerBug("lower", f"a {type(expr).__name__} stands inside a group")


def leaf_types(type_: Type) -> Sequence[TensorType]:
    """The tensors of a type, tuples opened. Raises `CompilerBug` for what is neither."""
    match type_:
        case TensorType():
            return (type_,)
        case TupleType(fields):
            return [leaf for field in fields for leaf in leaf_types(field)]
        case _:
            raise CompilerBug("lower", f"{type_} is neither a tensor nor a tuple of tensors")


def is_of_tensors(type_: Type | None) -> bool:
    """Whether a type is a tensor, or a tuple of such."""
    match type_:
        case TensorType():
            return True
        case TupleType(fields):
            return all(map(is_of_tensors, fields))
        case _:
            return False
