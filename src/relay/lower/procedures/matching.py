"""Decision trees as blocks: switches on labels, parts loaded where they are first looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from relay.ir.expr import Match, Pattern, PatternTuple, PatternVar, Var
from relay.lower.code.blocks import OpenBlock, OpenProcedure
from relay.lower.code.context import LoweringContext, constructor_label
from relay.lower.ownership.value_locations import ValueLocations
from relay.lower.procedures.decision import Decision, Leaf, NoClause, Path, Test, decide
from relay.lower.program.device import Device
from relay.lower.program.place import Held, Register, Scalar
from relay.lower.program.procedure import Case, Fail, Field, Jump, Retain, Switch, Unbox


def roots(values: ValueLocations, matched: Var, path: Path = ()) -> Iterator[tuple[Path, Held]]:
    """What the parts of a matched value are held in before anything is loaded."""
    held = values.of[matched]
    if isinstance(held, tuple):
        for index, part in enumerate(held):
            yield from roots(values, part, (*path, index))
    else:
        yield path, held


def binds_tuple(values: ValueLocations, pattern: Pattern, matched: Var) -> bool:
    """Whether a pattern has a variable for a tuple that is held in parts."""
    held = values.of[matched]
    if not isinstance(held, tuple):
        return False
    if isinstance(pattern, PatternTuple):
        return any(binds_tuple(values, inner, part) for inner, part in zip(pattern.patterns, held, strict=True))
    return isinstance(pattern, PatternVar)


def lower_decisions(
    match: Match,
    held: Mapping[Path, Held],
    block: OpenBlock,
    clauses: Sequence[OpenBlock],
    variables: Sequence[Sequence[Var]],
    values: ValueLocations,
    context: LoweringContext,
) -> None:
    """Close `block` with what leads to the clauses of a match, whose blocks take their `variables`, words owned."""
    procedure = values.procedure
    scalars = {path: each for path, each in held.items() if isinstance(each, Scalar)}
    known = {path: each for path, each in held.items() if isinstance(each, Register)}
    work: list[tuple[OpenBlock, Decision, dict[Path, Register]]] = [(block, decide(match.clauses), known)]
    while work:
        block, decision, parts = work.pop()
        match decision:
            case NoClause():
                block.close(Fail(context.no_clause_failure(match)))
            case Leaf(clause, bound):
                paths = dict(bound)
                chosen: list[Held] = []
                for var in variables[clause]:
                    path, wanted = paths[var], values.of[var]
                    if path in scalars:
                        chosen.append(scalars[path])
                        continue
                    device = values.devices.get(wanted) if isinstance(wanted, Register) else None
                    part = _part(procedure, block, parts, path, device)
                    if isinstance(wanted, Scalar):
                        element = procedure.scalar(wanted.dtype)
                        block.add(Unbox(element, part))
                        chosen.append(element)
                    else:
                        block.add(Retain(part))
                        chosen.append(part)
                block.close(Jump(clauses[clause].number, tuple(chosen)))
            case Test(path, cases, otherwise):
                register = _part(procedure, block, parts, path)
                targets = [procedure.block() for _ in cases]
                rest = procedure.block()
                numbers = [context.label(constructor_label(constructor)) for constructor, _ in cases]
                table = tuple(map(Case, numbers, [target.number for target in targets]))
                block.close(Switch(register, table, rest.number))
                for target, (_, inner) in zip(targets, cases, strict=True):
                    work.append((target, inner, dict(parts)))
                work.append((rest, otherwise, dict(parts)))


def _part(
    procedure: OpenProcedure, block: OpenBlock, parts: dict[Path, Register], path: Path, device: Device | None = None
) -> Register:
    """The part at a path, borrowed, a tensor on `device` if there is one; `parts` holds those that are loaded
    already."""
    length = len(path)
    while path[:length] not in parts:
        length -= 1
    register = parts[path[:length]]
    for end in range(length, len(path)):
        whole, register = register, procedure.register()
        block.add(Field(register, whole, path[end], device if end + 1 == len(path) else None))
        parts[path[: end + 1]] = register
    return register
