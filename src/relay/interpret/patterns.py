"""Whether a value fits a pattern."""

from __future__ import annotations

from relay.interpret.values import Value
from relay.ir.expr import Constructor, Pattern, PatternConstructor, PatternTuple, PatternVar, PatternWildcard
from relay.runtime.values.values import DataValue


def fits(pattern: Pattern, value: Value, bound: dict[object, Value | int]) -> bool:
    """Whether a value fits a pattern; fills in what its variables are."""
    stack: list[tuple[Pattern, Value]] = [(pattern, value)]
    while stack:
        inner, part = stack.pop()
        match inner:
            case PatternWildcard():
                pass
            case PatternVar(var):
                bound[var] = part
            case PatternConstructor(constructor, patterns):
                if not isinstance(part, DataValue) or not made_by(part, constructor):
                    return False
                if len(patterns) != len(part.fields):
                    return False
                stack.extend(zip(patterns, part.fields, strict=True))
            case PatternTuple(patterns):
                if not isinstance(part, tuple) or len(part) != len(patterns):
                    return False
                stack.extend(zip(patterns, part, strict=True))
    return True


def made_by(value: DataValue, constructor: Constructor) -> bool:
    return value.constructor == constructor.name_hint and value.type_name == constructor.belong_to.name
