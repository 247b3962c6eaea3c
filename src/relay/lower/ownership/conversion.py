"""From one way of holding a value to another: tuples taken apart and made, scalars unboxed and boxed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from relay.lower.code.blocks import OpenBlock, OpenProcedure
from relay.lower.code.context import LoweringContext
from relay.lower.code.representation import (
    BOXED,
    Boxed,
    Convention,
    Representation,
    ScalarReplaced,
    Unboxed,
    kinds,
)
from relay.lower.program.place import Held, Register, Scalar, register_of
from relay.lower.program.procedure import (
    Box,
    CallProcedure,
    Field,
    NewCell,
    Procedure,
    Release,
    Retain,
    Return,
    TailCall,
    Unbox,
)
from relay.runtime.artefact.manifest import CellLabel, TensorLabel


def opened(block: OpenBlock, procedure: OpenProcedure, word: Register, wanted: Representation) -> Iterator[Held]:
    """What a value is held in of which `block` borrows the word; words among it are owned."""
    match wanted:
        case Boxed():
            block.add(Retain(word))
            yield word
        case Unboxed(dtype):
            result = procedure.scalar(dtype)
            block.add(Unbox(result, word))
            yield result
        case ScalarReplaced(parts):
            for index, part in enumerate(parts):
                field = procedure.register()
                block.add(Field(field, word, index, part.device if isinstance(part, Boxed) else None))
                yield from opened(block, procedure, field, part)
        case _:
            assert_never(wanted)


def packed(
    block: OpenBlock,
    procedure: OpenProcedure,
    context: LoweringContext,
    held: Iterator[Held],
    how: Representation,
) -> Register:
    """One word, owned, for a value that is held in what comes next."""
    if isinstance(how, ScalarReplaced):
        fields = tuple(packed(block, procedure, context, held, part) for part in how.parts)
        result = procedure.register()
        block.add(NewCell(result, context.label(CellLabel("tuple")), fields))
        return result
    match next(held):
        case Scalar() as scalar:
            result = procedure.register()
            block.add(Box(result, context.label(TensorLabel(scalar.dtype, 0)), scalar))
            return result
        case word:
            return register_of(word)


def boxed_procedure(
    name: str, callee: str, convention: Convention, context: LoweringContext, takes_closure: bool, hands_it_on: bool
) -> Procedure:
    """A procedure that takes and gives words only, and does what `callee` does. A closure, where it takes one, comes
    first: it hands it on, or drops it."""
    procedure = OpenProcedure(name)
    closure = procedure.register() if takes_closure else None
    given = [each if isinstance(each, Boxed) else BOXED for each in convention.parameters]
    words = tuple(word for each in given for word in procedure.held(each))
    procedure.parameters = words if closure is None else (closure, *words)
    block = procedure.block()
    arguments: list[Held] = []
    if closure is not None and hands_it_on:
        arguments.append(closure)
    elif closure is not None:
        block.add(Release(closure))
    for word, wanted in zip(words, convention.parameters, strict=True):
        if isinstance(wanted, Boxed):
            arguments.append(word)
        else:
            arguments.extend(opened(block, procedure, register_of(word), wanted))
            block.add(Release(register_of(word)))
    if isinstance(convention.result, Boxed):
        procedure.results = kinds(convention.result)
        block.close(TailCall(callee, tuple(arguments)))
        return procedure.closed()
    results = procedure.held(convention.result)
    block.add(CallProcedure(results, callee, tuple(arguments)))
    block.close(Return((packed(block, procedure, context, iter(results), convention.result),)))
    return procedure.closed()
