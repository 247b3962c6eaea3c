"""Tensors that become results, made where callers have room for those.

    before: procedure @main(%x)                        after: procedure @main(%x)
              %1 = tensor #0 [4] 16 bytes                       %1 = tensor #0 [4] 16 bytes for output 0
              region ...                                        region ...
              return %1                                         return %1

Found from what an entry gives back to where that is made: through jumps, calls, tuples, views, and tensors over others.
It is no promise: a tensor gets memory of its own where another was made there before, and what is found elsewhere when
the call ends is copied. What comes from parameters and fields is not followed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias

from relay.base.frozen import frozen
from relay.lower.program.place import Register, register_of
from relay.lower.program.procedure import (
    CallProcedure,
    Jump,
    NewCell,
    NewTensor,
    NewView,
    Procedure,
    ProcedureInstruction,
    Return,
    TailCall,
)
from relay.lower.program.program import Entry
from relay.lower.program.registers import written
from relay.runtime.artefact.manifest import ResultSpec

_Source: TypeAlias = "ProcedureInstruction | tuple[Register, ...]"
"""What writes a register; or, of a block's parameter, what the jumps there hand it."""


@frozen
class _Given:
    """A register of a procedure whose value nests as `spec` says in what an entry gives."""

    procedure: str
    register: Register
    spec: ResultSpec


def made_in_outputs(procedures: Sequence[Procedure], entries: Iterable[Entry]) -> list[Procedure]:
    """The procedures, with the outputs that their tensors are for; one that may become several is for none."""
    by_name = {each.name: each for each in procedures}
    sources: dict[str, dict[Register, _Source]] = {}
    outputs: dict[tuple[str, Register], set[int]] = {}
    stack = [
        each
        for entry in entries
        if not entry.is_flat and entry.copied is not None
        for each in _results(by_name, entry.procedure, (entry.copied,))
    ]
    seen = set(stack)
    while stack:
        given = stack.pop()
        if given.procedure not in sources:
            sources[given.procedure] = _sources(by_name[given.procedure])
        source = sources[given.procedure].get(given.register)
        if isinstance(source, NewTensor) and source.device is None and isinstance(given.spec, int):
            outputs.setdefault((given.procedure, given.register), set()).add(given.spec)
        found = [each for each in _made_of(by_name, given, source) if each not in seen]
        seen.update(found)
        stack += found
    chosen = {where: numbers.pop() for where, numbers in outputs.items() if len(numbers) == 1}
    return [_marked(each, chosen) if each.name in sources else each for each in procedures]


def _results(procedures: dict[str, Procedure], name: str, specs: Sequence[ResultSpec | None]) -> Iterator[_Given]:
    """What the results of a procedure are in it, and in those that it ends with a call of."""
    waiting, met = [name], {name}
    while waiting:
        procedure = procedures[waiting.pop()]
        for block in procedure.blocks:
            match block.terminator:
                case Return(values):
                    for value, spec in zip(values, specs, strict=True):
                        if spec is not None:
                            yield _Given(procedure.name, register_of(value), spec)
                case TailCall(callee) if callee not in met:
                    met.add(callee)
                    waiting.append(callee)
                case _:
                    pass


def _made_of(procedures: dict[str, Procedure], given: _Given, source: _Source | None) -> Iterator[_Given]:
    """The registers whose tensors are those of another."""
    match source:
        case tuple():
            yield from (replace(given, register=each) for each in source)
        case NewTensor(over=Register() as base) | NewView(source=base):
            yield replace(given, register=base)
        case NewCell(fields=fields) if not isinstance(given.spec, int):
            for each, spec in zip(fields, given.spec.fields, strict=True):
                yield _Given(given.procedure, each, spec)
        case CallProcedure(results, callee):
            specs = [given.spec if register_of(each) == given.register else None for each in results]
            yield from _results(procedures, callee, specs)
        case _:
            pass


def _sources(procedure: Procedure) -> dict[Register, _Source]:
    handed: dict[Register, tuple[Register, ...]] = {}
    found: dict[Register, _Source] = {}
    for block in procedure.blocks:
        found.update((register_of(made), each) for each in block.instructions for made in written(each))
        if isinstance(block.terminator, Jump):
            parameters = procedure.blocks[block.terminator.block].parameters
            for parameter, argument in zip(parameters, block.terminator.arguments, strict=True):
                register = register_of(parameter)
                handed[register] = (*handed.get(register, ()), register_of(argument))
    return {**found, **handed}


def _marked(procedure: Procedure, chosen: dict[tuple[str, Register], int]) -> Procedure:
    blocks = tuple(
        replace(
            block,
            instructions=tuple(
                replace(each, output=chosen[procedure.name, each.result])
                if isinstance(each, NewTensor) and (procedure.name, each.result) in chosen
                else each
                for each in block.instructions
            ),
        )
        for block in procedure.blocks
    )
    return replace(procedure, blocks=blocks)
