"""Optionals: `Option` of the prelude. Since opset 18 what is no optional counts as one that holds it."""

from __future__ import annotations

import numpy as np

from relay.frontend.onnx.node import Converter, OnnxNode
from relay.frontend.shared.node import Result, converter
from relay.frontend.shared.structures import OPTION, constructor, expr_of, optional_of, typed
from relay.frontend.shared.value import Structure
from relay.ir.expr import (
    Clause,
    Expr,
    Match,
    PatternConstructor,
    PatternVar,
    PatternWildcard,
    Var,
    const,
)
from relay.ops.framework.build import with_known_type


def _optional(node: OnnxNode) -> Result:
    """What an optional that holds nothing would hold, others tell that it joins."""
    return optional_of(node.optional_item(0))


def _matched(whole: Structure, some: Expr, held: PatternVar | PatternWildcard, none: Expr | None) -> Expr:
    clauses = [Clause(PatternConstructor(constructor("Some"), (held,)), some)]
    if none is not None:
        clauses.append(Clause(PatternConstructor(constructor("None"), ()), none))
    return typed(Match(expr_of(whole), tuple(clauses), none is not None))


def _has_element(node: OnnxNode) -> Result:
    item = node.optional_item(0)
    if not isinstance(item, Structure) or item.type.func != OPTION:
        return np.array(item is not None)
    if item.parts is not None:
        return np.array(bool(item.parts))
    return _matched(item, const(True), PatternWildcard(), const(False))


def _get_element(node: OnnxNode) -> Result:
    item = node.item(0)
    if not isinstance(item, Structure) or item.type.func != OPTION:
        return item
    if item.parts is not None:
        return item.parts[0] if item.parts else node.unsupported("of an optional that holds nothing")
    held = with_known_type(Var("held", item.type.args[0]))
    return _matched(item, held, PatternVar(held), None)


OPTIONALS: tuple[Converter, ...] = (
    converter("Optional", _optional, "type"),
    converter("OptionalHasElement", _has_element),
    converter("OptionalGetElement", _get_element),
)
