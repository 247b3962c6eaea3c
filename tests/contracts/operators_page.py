"""The page docs/operators.md: what the records say, and what of ONNX and of PyTorch comes in as which operator."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest
import torch

from relay import op
from relay.base.dtypes import DType
from relay.frontend import from_pytorch
from relay.frontend.onnx import CONVERTERS as ONNX
from relay.frontend.onnx import from_onnx
from relay.frontend.shared.building import ProgramBuilder
from relay.frontend.shared.node import results_of
from relay.frontend.torch.table import CONVERTERS as TORCH
from relay.infer.infer_type import infer_type
from relay.ir.expr import Call, Expr, ExprBase, Function, Op, Tuple, Var
from relay.ir.module import IRModule
from relay.ir.operator import Solved
from relay.ir.traversal import post_order
from relay.ir.types import TensorType, TupleType, Type
from relay.lower.kernels.group import make_group
from relay.ops.framework.batch_rule import NoBatchRule
from relay.ops.framework.record import NoCompute, NotDifferentiable, NotYetDifferentiable, OperatorRecord
from relay.ops.table import OPERATORS
from relay.te.definitions import print_definitions
from tests.frontend.onnx_computed_cases import REFERENCE_CASES
from tests.frontend.onnx_operator_cases import CASES as ONNX_CASES
from tests.frontend.torch.operator_families import FAMILIES, Operators
from tests.ops.test_operators import CASES, flat, type_of

HEAD = """# Operators

What each operator of Relay takes and computes, whether it has a gradient, how calls of it are batched, and which
operators of ONNX and of PyTorch are imported as it, alone or together with others. `help(relay.nn.conv2d)` has all
arguments.

- *Element types* are those that the first input may have.
- *Gradient*: yes; no, where the result is constant almost everywhere; or not yet, where nobody has written it.
- *Batch rule*: how `AutoBatch` and `relay.vmap` compute many calls as one.
- The *formula* is the tensor expression of one call, in shapes of an example: `i0 < 3` is an index with its bound,
  `sum[k < 7](…)` a sum over `k`.

This page is written by a test from the records and from what the importers make of the models that their tests have:
`UPDATE_GOLDEN=1 python -m pytest tests/contracts/test_operators_page.py`.
"""
_KINDS: tuple[tuple[str, Callable[[DType], bool]], ...] = (
    ("floats", lambda dtype: dtype.is_float),
    ("integers", lambda dtype: dtype.is_integer),
    ("bool", lambda dtype: dtype.is_bool),
)


def page() -> str:
    made: dict[str, set[str]] = defaultdict(set)
    with _watched(made):
        _import_onnx()
        _import_pytorch()
    sections = [line for _, record in sorted(OPERATORS.items()) for line in _section(record, made[record.name])]
    return "\n".join([
        HEAD,
        *sections,
        *_taken("ONNX", sorted(ONNX), "ONNX defines others by these; they are imported by that definition."),
        *_taken("PyTorch", sorted({_short(name) for name in TORCH}), "PyTorch decomposes others into these."),
    ])  # fmt: skip


def _section(record: OperatorRecord, names: set[str]) -> Iterator[str]:
    yield from (f"## {record.name}", "", record.description, "")
    for name, said in zip(record.inputs, record.argument_docs, strict=True):
        yield f"- `{name}`: {said}"
    yield f"- *Element types*: {_types(record) or 'as its attributes say'}"
    yield f"- *Gradient*: {_gradient(record)}"
    yield f"- *Batch rule*: {_batch(record)}"
    for source, found in (("ONNX", set(ONNX) & names), ("PyTorch", {_short(name) for name in names if name in TORCH})):
        if found:
            yield f"- *{source}*: {_list(sorted(found))}"
    yield from ("", *_formula(record), "")


def _taken(what: str, names: Sequence[str], more: str) -> list[str]:
    return [f"## What of {what} comes in", "", f"{len(names)} operators. {more}", "", _list(names), ""]


def _list(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _short(name: str) -> str:
    """An operator of PyTorch without its overload."""
    return name.removeprefix("aten.").partition(".")[0]


def _gradient(record: OperatorRecord) -> str:
    match record.gradient:
        case NotDifferentiable(reason):
            return f"no: {reason}"
        case NotYetDifferentiable(reason):
            return f"not yet: {reason}"
        case _:
            return "yes"


def _batch(record: OperatorRecord) -> str:
    return f"no: {record.batch.reason}" if isinstance(record.batch, NoBatchRule) else type(record.batch).__name__


# Formulas, of a case


def _formula(record: OperatorRecord) -> Iterator[str]:
    """What a call of the operator computes, in the shapes of its first test case that has elements, if there is one."""
    if isinstance(record.compute, NoCompute):
        yield f"It has no formula: {record.compute.reason}."
        return
    cases = [case for case in CASES if case.operator == record.name]
    case = next((case for case in cases if all(each.size for each in flat(case.inputs))), cases[0])
    parameters: list[Var] = []
    arguments = [
        _argument(name, type_of(value), parameters) for name, value in zip(record.inputs, case.inputs, strict=False)
    ]
    call = Call(op.get(record.name), tuple(arguments), case.attributes)
    function = Function(tuple(parameters), call, attrs={"Primitive": 1})
    main = infer_type(IRModule.from_expr(function))["main"]
    yield from ("```text", *print_definitions(make_group(main).outputs).splitlines(), "```")


def _argument(name: str, type_: Type, parameters: list[Var]) -> Expr:
    """A parameter of that type; for a tuple one for each field."""
    if isinstance(type_, TupleType):
        return Tuple(tuple(_argument(f"{name}{i}", field, parameters) for i, field in enumerate(type_.fields)))
    parameters.append(Var(name, type_))
    return parameters[-1]


# Types, by asking the relation


def _types(record: OperatorRecord) -> str:
    """The kinds of element types that the relation takes in the place of those of the first input of a test case."""
    taken = {dtype for case in CASES if case.operator == record.name for dtype in DType if _takes(record, case, dtype)}
    parts: list[str] = []
    for kind, holds in _KINDS:
        whole = {dtype for dtype in DType if holds(dtype)}
        some = taken & whole
        parts += [kind] if some == whole else sorted(each.value for each in some)
    return "any" if parts == [kind for kind, _ in _KINDS] else ", ".join(parts)


def _takes(record: OperatorRecord, case: Any, dtype: DType) -> bool:
    types = tuple(map(type_of, case.inputs))
    if not types:
        return False
    first = _first(types[0]).dtype
    attributes = case.attributes
    if getattr(attributes, "dtype", None) is first:
        attributes = replace(attributes, dtype=dtype)
    return isinstance(record.relation(tuple(_with(each, first, dtype) for each in types), attributes), Solved)


def _first(type_: Type) -> TensorType:
    while isinstance(type_, TupleType):
        type_ = type_.fields[0]
    assert isinstance(type_, TensorType)
    return type_


def _with(type_: Type, old: DType, new: DType) -> Type:
    """A type in which one element type is another."""
    if isinstance(type_, TupleType):
        return TupleType(tuple(_with(field, old, new) for field in type_.fields))
    return TensorType(type_.shape, new) if isinstance(type_, TensorType) and type_.dtype is old else type_


# What the importers make, by watching them


@contextmanager
def _watched(made: Mapping[str, set[str]]) -> Iterator[None]:
    """While it lasts, `made` notes of each operator of Relay which converters make calls of it."""
    converted = ProgramBuilder.converted

    def watching(self: ProgramBuilder, converter: Any, node: Any, names: Any, span: Any) -> Any:
        def noted(node: Any) -> Any:
            result = converter.convert(node)
            known = {value.expr for value in node.inputs if value is not None}
            roots = [each for each in results_of(result) if isinstance(each, ExprBase)]
            for name in _operators(roots, known):
                made[name].add(converter.operator)
            return result

        return converted(self, replace(converter, convert=noted), node, names, span)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ProgramBuilder, "converted", watching)
        yield


def _operators(roots: Sequence[Expr], known: set[Expr]) -> set[str]:
    """The operators of a node's own: what its inputs are made of is none of it."""
    inside = {node for root in known for node in post_order(root)}
    own = {node for root in roots for node in post_order(root)} - inside
    return {node.op.name for node in own if isinstance(node, Call) and isinstance(node.op, Op)}


def _import_onnx() -> None:
    for case in (*ONNX_CASES, *REFERENCE_CASES):
        from_onnx(case.model())


def _import_pytorch() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for function, inputs_of in FAMILIES.values():
            torch.manual_seed(0)
            from_pytorch(Operators(function).eval(), inputs_of())
