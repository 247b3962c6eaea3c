"""Loops as a picture of text: how they nest, how often they run, what they fill and from what."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from relay.base.frozen import frozen
from relay.te.operation import loads_of
from relay.tir.expr import Value
from relay.tir.stmt import Allocate, Evaluate, For, If, Issue, LetValue, LoopKind, Stmt, Store
from relay.tir.stmt import Sequence as Statements
from relay.tir.text.printer import print_index, print_value


@frozen(eq=False)
class _Part:
    """A line of the picture, and what stands inside it."""

    line: str
    inside: Sequence[_Part] = ()


def picture(statement: Stmt) -> str:
    """The loop nest of a statement: one line a loop, with its extent, and one for what is allocated or filled there.

    >>> from relay import te
    >>> a, k = te.placeholder((4, 8), "float32", "a"), te.reduce_axis(8, "k")
    >>> print(picture(te.lower(te.compute((4,), lambda i: te.sum(a[i, k], axis=k), name="total"), [a]).body))
    serial i in 4
    ├─ total = …
    └─ serial k in 8
       └─ total = … total, a
    """
    return "\n".join(line for part in _parts(statement) for line in (part.line, *_lines(part.inside)))


def _lines(parts: Sequence[_Part]) -> list[str]:
    found: list[str] = []
    for position, part in enumerate(parts):
        is_last = position == len(parts) - 1
        found.append(("└─ " if is_last else "├─ ") + part.line)
        found.extend(("   " if is_last else "│  ") + line for line in _lines(part.inside))
    return found


def _parts(statement: Stmt) -> list[_Part]:
    """What a statement is in the picture; values that are only named are where they are used."""
    match statement:
        case For(variable=variable, extent=extent, body=body, kind=kind):
            thread = f" as {statement.thread}" if kind is LoopKind.THREAD else ""
            return [_Part(f"{kind} {variable.name} in {print_index(extent)}{thread}", _parts(body))]
        case Statements(statements=statements):
            return [part for each in statements for part in _parts(each)]
        case Allocate(buffer=buffer, body=body):
            extents = ", ".join(map(print_index, buffer.shape))
            return [_Part(f"{buffer.name}: {buffer.dtype}[{extents}] in {buffer.scope}"), *_parts(body)]
        case LetValue(body=body):
            return _parts(body)
        case If(condition=condition, then=then, otherwise=otherwise):
            found = [_Part(f"if {print_value(condition)}", _parts(then))]
            return found if otherwise is None else [*found, _Part("else", _parts(otherwise))]
        case Store(buffer=buffer, value=value):
            return [_Part(f"{buffer.name} = {_sources(value)}")]
        case Evaluate(value=value):
            return [_Part(print_value(value))]
        case Issue(queue=queue, body=body):
            return [_Part(f"in queue {queue}", _parts(body))]
        case _:
            assert_never(statement)


def _sources(value: Value) -> str:
    """What a value is made of, without how."""
    read = dict.fromkeys(load.buffer.name for load in loads_of((value,)))
    return "… " + ", ".join(read) if read else "…"
