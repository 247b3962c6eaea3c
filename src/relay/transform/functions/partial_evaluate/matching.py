"""Patterns against values of which only a part is known."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import TypeAlias, assert_never

from relay.ir.expr import Pattern, PatternConstructor, PatternTuple, PatternVar, PatternWildcard, Var
from relay.transform.functions.partial_evaluate.values import KnownData, KnownTuple, PartialValue

Bindings: TypeAlias = dict[Var, PartialValue]


class Fit(Enum):
    YES = "fits whatever the rest is"
    NO = "never fits"
    OPEN = "only the run can tell"


def fit(pattern: Pattern, value: PartialValue, bound: Bindings) -> Fit:
    """Whether `pattern` fits; fills in the variables that stand for known places of `value`."""
    outcome = Fit.YES
    stack: list[tuple[Pattern, PartialValue]] = [(pattern, value)]
    while stack:
        inner, part = stack.pop()
        match inner:
            case PatternWildcard():
                pass
            case PatternVar(var):
                bound[var] = part
            case PatternConstructor(constructor, patterns):
                if not isinstance(part.static, KnownData):
                    outcome = Fit.OPEN
                elif part.static.constructor != constructor:
                    return Fit.NO
                else:
                    stack.extend(zip(patterns, part.static.fields, strict=True))
            case PatternTuple(patterns):
                if isinstance(part.static, KnownTuple):
                    stack.extend(zip(patterns, part.static.fields, strict=True))
                else:
                    outcome = Fit.OPEN
            case _:
                assert_never(inner)
    return outcome


def open_part(
    pattern: Pattern, value: PartialValue | None, bound: Bindings, fresh: Callable[[Var], PartialValue]
) -> Pattern:
    """What of a pattern is left to the run: variables for known places are bound here, the others to `fresh` values."""
    static = value.static if value is not None else None
    match pattern:
        case PatternWildcard():
            return pattern
        case PatternVar(var):
            bound[var] = fresh(var) if value is None else value
            atom = bound[var].atom
            return PatternVar(atom) if value is None and isinstance(atom, Var) else PatternWildcard()
        case PatternConstructor(constructor, patterns):
            fields = static.fields if isinstance(static, KnownData) else (None,) * len(patterns)
            left = tuple(open_part(each, part, bound, fresh) for each, part in zip(patterns, fields, strict=True))
            if isinstance(static, KnownData) and all(isinstance(each, PatternWildcard) for each in left):
                return PatternWildcard()
            return PatternConstructor(constructor, left)
        case PatternTuple(patterns):
            fields = static.fields if isinstance(static, KnownTuple) else (None,) * len(patterns)
            left = tuple(open_part(each, part, bound, fresh) for each, part in zip(patterns, fields, strict=True))
            return PatternWildcard() if all(isinstance(each, PatternWildcard) for each in left) else PatternTuple(left)
        case _:
            assert_never(pattern)


def narrowed(patterns: list[Pattern], data: PartialValue) -> tuple[list[Pattern], PartialValue]:
    """Open parts of patterns, and the one part of `data` that they ask about, where it is one."""
    while isinstance(data.static, KnownTuple | KnownData):
        inside = [each.patterns if isinstance(each, PatternConstructor | PatternTuple) else () for each in patterns]
        asked = {i for parts in inside for i, part in enumerate(parts) if not isinstance(part, PatternWildcard)}
        if len(asked) != 1:
            break
        (index,) = asked
        patterns = [parts[index] if parts else PatternWildcard() for parts in inside]
        data = data.static.fields[index]
    return patterns, data
