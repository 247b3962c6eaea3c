"""Does a schedule compute what its tensors say? The verifier tells for all extents, the interpreter for some."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from relay.arith.expr import IntExpr, Symbol, evaluate
from relay.base.diagnostics import RelayError
from relay.tir.buffer import Buffer
from relay.tir.interpretation.arguments import Array
from relay.tir.interpretation.interpreter import interpret
from relay.tir.stmt import Allocate, For, If, Issue, LetValue, PrimFunc, Stmt
from relay.tir.traversal import statement_children
from relay.tir.verification.verifier import verify

_EXTENTS = (1, 3, 8, 17)
"""What symbols stand for, one after another: less than most tiles, a tile, and more with a rest."""
_MOST_POINTS = 1 << 18
"""How often the interpreter may come to the innermost statements."""


def check_sound(func: PrimFunc) -> None:
    """Raises `RelayError`, of the rule and place of the first thing that is wrong: an index outside of a tensor, or one
    that nothing keeps inside; a race; a barrier that is missing."""
    for violation in verify(func):
        is_index = violation.rule.startswith("index-")
        raise RelayError(
            rule=violation.rule, message=violation.message, found=violation.place,
            remedy="read where it is inside: te.select(te.within(i, 0, n), x[i], 0.0), or x[te.clamp(i, 0, n)]"
            if is_index else "compute it with fewer steps, and see which one makes the difference",
        )  # fmt: skip


def check_agreement(plain: PrimFunc, scheduled: PrimFunc, given: Mapping[str, Array]) -> None:
    """Run both on the arrays `given`, by the names of inputs, and on random numbers for all others; where these do not
    tell an extent, for several.

    Raises `RelayError`: `schedule-differs` for results that are not the same (floats may differ by rounding), what
    `check_sound` and the interpreter raise, and `schedule-too-large` for more than it can run.
    """
    unknown = [name for name in given if name not in [each.name for each in plain.inputs]]
    if unknown:
        raise RelayError(
            rule="kernel-arguments", message=f"`{unknown[0]}` is no input of what is scheduled",
            expected=", ".join(each.name for each in plain.inputs),
        )  # fmt: skip
    check_sound(scheduled)
    told = _told(plain, given)
    for size in _EXTENTS if set(plain.symbols) - told.keys() else _EXTENTS[:1]:
        extents = {**dict.fromkeys(plain.symbols, size), **told}
        if _points(scheduled.body, extents) > _MOST_POINTS:
            raise RelayError(
                rule="schedule-too-large", message=f"`{scheduled.name}` takes too long to interpret",
                expected=f"at most {_MOST_POINTS} runs of its innermost statements",
                remedy="write its extents as symbols, or check the steps on smaller tensors: "
                "te.Schedule(smaller, schedule.steps).assert_equal()",
            )  # fmt: skip
        inputs = _inputs(plain, given, extents)
        expected, found = (_run(func, inputs, extents) for func in (plain, scheduled))
        for buffer, right, got in zip(plain.outputs, expected, found, strict=True):
            _check_same(buffer, right, got, extents)


def _told(func: PrimFunc, given: Mapping[str, Array]) -> dict[Symbol, int]:
    """The extents that the given arrays tell."""
    found: dict[Symbol, int] = {}
    for buffer in func.inputs:
        if buffer.name in given:
            shape = zip(buffer.shape, given[buffer.name].shape, strict=False)
            found.update((extent, size) for extent, size in shape if isinstance(extent, Symbol))
    return found


def _points(statement: Stmt, extents: Mapping[Symbol, int]) -> int:
    """How often innermost statements run, loops over extents that depend on other loops counted as one."""
    match statement:
        case For(extent=extent, body=body):
            return _size(extent, extents) * _points(body, extents)
        case Allocate(body=body) | LetValue(body=body) | Issue(body=body):
            return _points(body, extents)
        case If():
            return max(_points(each, extents) for each in statement_children(statement))
        case _:
            return sum(_points(each, extents) for each in statement_children(statement)) or 1


def _size(extent: IntExpr, extents: Mapping[Symbol, int]) -> int:
    try:
        return evaluate(extent, extents)
    except KeyError:
        return 1


def _inputs(func: PrimFunc, given: Mapping[str, Array], extents: Mapping[Symbol, int]) -> list[Array]:
    source = np.random.default_rng(0)
    return [given.get(each.name, _random(source, each, extents)) for each in func.inputs]


def _random(source: np.random.Generator, buffer: Buffer, extents: Mapping[Symbol, int]) -> Array:
    shape, dtype = tuple(evaluate(extent, extents) for extent in buffer.shape), buffer.dtype.numpy
    if buffer.dtype.is_float:
        return source.uniform(-1, 1, shape).astype(dtype)
    return source.integers(0, 2 if buffer.dtype.is_bool else 4, shape).astype(dtype)


def _run(func: PrimFunc, inputs: list[Array], extents: Mapping[Symbol, int]) -> list[Array]:
    shapes = [tuple(evaluate(extent, extents) for extent in each.shape) for each in func.outputs]
    outputs: list[Array] = [np.zeros(shape, each.dtype.numpy) for shape, each in zip(shapes, func.outputs, strict=True)]
    interpret(func, [*inputs, *outputs], extents)
    return outputs


def _check_same(buffer: Buffer, right: Array, got: Array, extents: Mapping[Symbol, int]) -> None:
    tolerance = 1e-4 if buffer.dtype.is_float else 0
    wide = [each.astype(np.float64) if buffer.dtype.is_float else each for each in (right, got)]
    same = np.isclose(wide[0], wide[1], rtol=tolerance, atol=tolerance / 10, equal_nan=buffer.dtype.is_float)
    if same.all():
        return
    place = tuple(map(int, np.argwhere(~same)[0]))
    where = ", ".join(f"{symbol.name} = {extents[symbol]}" for symbol in extents)
    raise RelayError(
        rule="schedule-differs",
        message=f"the schedule gives another `{buffer.name}` at {list(place)}" + (f", where {where}" if where else ""),
        expected=str(right[place]), found=str(got[place]),
        remedy="leave steps away until it agrees; what an intrinsic of yours does is what its description says",
    )  # fmt: skip
