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

from relay.base.dtypes import DType
from relay.frontend import from_pytorch
from relay.frontend.onnx import CONVERTERS as ONNX
from relay.frontend.onnx import from_onnx
from relay.frontend.shared.building import ProgramBuilder
from relay.frontend.shared.node import results_of
from relay.frontend.torch.table import CONVERTERS as TORCH
from relay.ir.expr import Call, Expr, ExprBase, Op
from relay.ir.operator import Solved
from relay.ir.traversal import post_order
from relay.ir.types import TensorType, TupleType, Type
from relay.ops.framework.batch_rule import NoBatchRule
from relay.ops.framework.record import NotDifferentiable, NotYetDifferentiable, OperatorRecord
from relay.ops.table import OPERATORS
from tests.frontend.onnx_computed_cases import REFERENCE_CASES
from tests.frontend.onnx_operator_cases import CASES as ONNX_CASES
from tests.frontend.torch.operator_families import FAMILIES, Operators
from tests.ops.test_operators import CASES, type_of

HEAD = """# Operators

Every operator of Relay: what it takes, whether it has a gradient, how calls of it are batched, and what of ONNX and
of PyTorch comes in as it, alone or with others. The functions that make its calls tell its arguments
(`help(relay.nn.conv2d)`).

*types* are the element types that its first input may have. *gradient*: `yes`; `no`, for what is constant almost
everywhere; `not yet`, where nobody has written it. *batch*: how `AutoBatch` runs many calls as one.

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
    rows = [_row(record, made[record.name]) for _, record in sorted(OPERATORS.items())]
    return "\n".join([
        HEAD,
        "| operator | what it does | types | gradient | batch | ONNX | PyTorch |",
        "|---|---|---|---|---|---|---|",
        *rows,
        "",
        *_taken("ONNX", sorted(ONNX), "Others come in as ONNX defines them by these, where it does."),
        *_taken("PyTorch", sorted({_short(name) for name in TORCH}), "PyTorch takes others apart into these."),
    ])  # fmt: skip


def _row(record: OperatorRecord, names: set[str]) -> str:
    onnx = sorted(name for name in names if name in ONNX)
    aten = sorted({_short(name) for name in names if name in TORCH})
    facts = (record.description, _types(record), _gradient(record), _batch(record))
    return "| " + " | ".join((f"`{record.name}`", *facts, _list(onnx), _list(aten))) + " |"


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
