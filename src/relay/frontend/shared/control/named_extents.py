"""Compound extents of what a loop is given, such as `n // 4`, by symbols of their own.

A function knows the symbols of its parameters by the axes that have them. From `n // 4` none could tell `n`, and what
the steps of a loop compute has extents of that kind only: they are called `k`, in a function around the whole loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from relay.arith.expr import IntExpr, Node, Symbol, linear_parts
from relay.frontend.shared.control.loops import variables
from relay.frontend.shared.node import AnyNode, Result, results_of
from relay.frontend.shared.structures import typed
from relay.frontend.shared.value import Value
from relay.ir.expr import Call, ExprBase, Function, Tuple
from relay.ir.types import ANY, TensorType
from relay.ops.framework.build import TupleWrapper, with_known_type


def with_named_extents(convert: Callable[[AnyNode], Result]) -> Callable[[AnyNode], Result]:
    """The converter of a loop, whose results are expressions, where each compound extent of its inputs is a symbol."""

    def converted(node: AnyNode) -> Result:
        given = [each for each in node.inputs if isinstance(each, Value) and each.known is None]
        compound = dict.fromkeys(extent for value in given for extent in value.shape if _is_compound(extent))
        names = {extent: Symbol(f"k{number}") for number, extent in enumerate(compound)}
        if not names:
            return convert(node)
        types = [TensorType(tuple(names.get(e, e) for e in value.shape), value.dtype) for value in given]
        parameters = variables("given", types)
        inside = {
            value: Value(value.name, var, type_) for value, var, type_ in zip(given, parameters, types, strict=True)
        }
        inputs = tuple(inside.get(each, each) if isinstance(each, Value) else each for each in node.inputs)
        results = results_of(convert(replace(node, inputs=inputs)))
        fields = tuple(each for each in results if isinstance(each, ExprBase))
        function = Function(tuple(parameters), with_known_type(Tuple(fields)))
        return TupleWrapper(typed(Call(function, tuple(value.expr for value in given))), len(fields))

    return converted


def _is_compound(extent: IntExpr) -> bool:
    """Whether an extent is one from which no symbol can be told."""
    if not isinstance(extent, Node) or extent is ANY:
        return False
    _, terms = linear_parts(extent)
    return not (len(terms) == 1 and isinstance(terms[0][0], Symbol))
