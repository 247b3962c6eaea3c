"""Decision trees as blocks: switches on labels, parts loaded where they are first looked at."""

from __future__ import annotations

from collections.abc import Sequence

from relay.ir.expr import Match, Var
from relay.lower.blocks import OpenBlock, OpenProcedure
from relay.lower.decision import Decision, Leaf, NoClause, Path, Test, decide
from relay.lower.procedure import Fail, Field, Jump, Register, Retain, Switch
from relay.lower.surroundings import Surroundings, constructor_label


def lower_decisions(
    match: Match,
    matched: Register,
    block: OpenBlock,
    clauses: Sequence[OpenBlock],
    variables: Sequence[Sequence[Var]],
    procedure: OpenProcedure,
    around: Surroundings,
) -> None:
    """Close `block` with what leads to the clauses of a match, whose blocks take their `variables`, owned."""
    work: list[tuple[OpenBlock, Decision, dict[Path, Register]]] = [(block, decide(match.clauses), {(): matched})]
    while work:
        block, decision, parts = work.pop()
        match decision:
            case NoClause():
                block.close(Fail(around.no_clause_failure(match)))
            case Leaf(clause, bound):
                paths = dict(bound)
                chosen = tuple(_part(procedure, block, parts, paths[var]) for var in variables[clause])
                for register in chosen:
                    block.add(Retain(register))
                block.close(Jump(clauses[clause].number, chosen))
            case Test(path, cases, otherwise):
                register = _part(procedure, block, parts, path)
                targets = [procedure.block() for _ in cases]
                rest = procedure.block()
                numbers = [around.label(constructor_label(constructor)) for constructor, _ in cases]
                table = tuple(zip(numbers, [target.number for target in targets], strict=True))
                block.close(Switch(register, table, rest.number))
                for target, (_, inner) in zip(targets, cases, strict=True):
                    work.append((target, inner, dict(parts)))
                work.append((rest, otherwise, dict(parts)))


def _part(procedure: OpenProcedure, block: OpenBlock, parts: dict[Path, Register], path: Path) -> Register:
    """The part at a path, borrowed; `parts` holds those that are loaded already."""
    length = len(path)
    while path[:length] not in parts:
        length -= 1
    register = parts[path[:length]]
    for end in range(length, len(path)):
        whole, register = register, procedure.register()
        block.add(Field(register, whole, path[end]))
        parts[path[: end + 1]] = register
    return register
