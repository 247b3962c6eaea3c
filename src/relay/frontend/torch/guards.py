"""What an export takes for granted about extents, as checks of the run."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from relay.arith.expr import Comparison, IntExpr
from relay.arith.prove import Proof
from relay.base.diagnostics import RelayError
from relay.base.span import Source, Span
from relay.frontend.shared.building import ProgramBuilder
from relay.frontend.shared.node import Node, converter
from relay.frontend.shared.value import Value
from relay.frontend.torch.extents.symbols import Condition, Every, Extents, Not, Some, condition_of, parsed
from relay.frontend.torch.graph import Guard
from relay.ir.expr import Expr
from relay.ops.checked import checked
from relay.ops.elementwise import comparison
from relay.ops.elementwise.elementwise_binary import logical_and, logical_or
from relay.ops.elementwise.elementwise_unary import logical_not
from relay.ops.framework.dimensions import decide

if TYPE_CHECKING:
    from torch.export import ExportedProgram

_PATH = re.compile(r"\['?([^'\[\]]+)'?\]")
_INPUT = re.compile(r"L\['(\w+)'\]")
_EVERY_EXTENT = 2
"""PyTorch takes any extent where it says that one is at least this: its programs for 2 and more serve 0 and 1."""

_COMPARE = {"==": comparison.equal, "!=": comparison.not_equal, "<": comparison.less, "<=": comparison.less_equal}


def guards_of(
    program: ExportedProgram,
    statements: Sequence[str],
    inputs: Mapping[str, Value],
    numbers: Mapping[str, IntExpr],
    extents: Extents,
) -> list[Guard]:
    """The statements that an export found on its way, and the ranges of its symbols; `numbers` are inputs that are
    symbols themselves. Raises `Unsupported`."""
    leaf = partial(_extent_of_input, inputs, numbers)
    found = [Guard(condition_of(parsed(text), leaf), _readable(text)) for text in statements]
    ranges = {str(symbol): range_ for symbol, range_ in program.range_constraints.items()}
    for name, extent in extents.symbols.items():
        low, high = (None, None) if name not in ranges else (_bound(ranges[name].lower), _bound(ranges[name].upper))
        if low is not None and low > _EVERY_EXTENT:
            found.append(Guard(Comparison(low, "<=", extent), f"{extent} >= {low}"))
        if high is not None:
            found.append(Guard(Comparison(extent, "<=", high), f"{extent} <= {high}"))
    return found


def _bound(bound: Any) -> int | None:
    """An end of a range; None for one that is no number, or is larger than any extent."""
    return int(bound) if bound.is_Integer and abs(bound) < 2**62 else None


def _readable(text: str) -> str:
    """`L['x'].size()[0] == 3` as `x.size()[0] == 3`"""
    return _INPUT.sub(r"\1", text)


def _extent_of_input(inputs: Mapping[str, Value], numbers: Mapping[str, IntExpr], tree: ast.expr) -> IntExpr | None:
    """`L['k']['z'][0].size()[1]`: PyTorch calls that input `k_z_0`. Without `.size()[..]` it is a number."""
    match tree:
        case ast.Subscript(value=ast.Name(id="L") | ast.Subscript()):
            return numbers.get("_".join(_PATH.findall(ast.unparse(tree))))
        case ast.Subscript(
            value=ast.Call(func=ast.Attribute(value=path, attr="size"), args=[]), slice=ast.Constant(value=int(axis))
        ):
            name = "_".join(_PATH.findall(ast.unparse(path)))
            value = inputs.get(name)
            return None if value is None or axis >= value.rank else value.shape[axis]
        case _:
            return None


def checks_of(guards: Sequence[Guard], builder: ProgramBuilder) -> list[Expr]:
    """Bool scalars that end the run where a guard does not hold. Those that always hold are not checked.

    Raises `RelayError` (rule `check-failed`) for one that never does."""
    found: list[Expr] = []
    for guard in guards:
        match _proof(guard.condition):
            case Proof.YES:
                continue
            case Proof.NO:
                raise RelayError(rule="check-failed", message=_message(guard))
            case Proof.UNKNOWN:
                found.append(_check(guard, builder))
    return found


def _message(guard: Guard) -> str:
    return f"the model was exported for inputs where {guard.text}"


def _proof(condition: Condition) -> Proof:
    match condition:
        case Comparison():
            return decide(condition)
        case Every(parts):
            proofs = {_proof(each) for each in parts}
            return Proof.NO if Proof.NO in proofs else Proof.UNKNOWN if Proof.UNKNOWN in proofs else Proof.YES
        case Some(parts):
            proofs = {_proof(each) for each in parts}
            return Proof.YES if Proof.YES in proofs else Proof.UNKNOWN if Proof.UNKNOWN in proofs else Proof.NO
        case Not(part):
            return {Proof.YES: Proof.NO, Proof.NO: Proof.YES, Proof.UNKNOWN: Proof.UNKNOWN}[_proof(part)]


def _holds(condition: Condition, extent: Callable[[IntExpr], Expr]) -> Expr:
    """A condition as a bool scalar."""
    match condition:
        case Comparison(left, op, right):
            return _COMPARE[op](extent(left), extent(right))
        case Every(parts):
            return reduce(logical_and, (_holds(each, extent) for each in parts))
        case Some(parts):
            return reduce(logical_or, (_holds(each, extent) for each in parts))
        case Not(part):
            return logical_not(_holds(part, extent))


def _check(guard: Guard, builder: ProgramBuilder) -> Expr:
    span = Span(Source("guards of the export", guard.text), 1)

    def extent(of: IntExpr) -> Expr:
        return builder.known("extent", np.array(of, object), span).expr

    def convert(_: Node) -> Expr:
        holds = _holds(guard.condition, extent)
        return checked(holds, holds, _message(guard))

    (value,) = builder.convert(converter("guard", convert), Node("guard", guard.text, (), {}, 1), ["guard"], span)
    assert isinstance(value, Value)
    return value.expr
