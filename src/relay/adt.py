"""`relay.adt`: algebraic data types and patterns, under the name by which users of Relay know them."""

from relay.ir.datatype import TypeData
from relay.ir.expr import (
    Clause,
    Constructor,
    Match,
    Pattern,
    PatternConstructor,
    PatternTuple,
    PatternVar,
    PatternWildcard,
)

__all__ = [
    "Clause", "Constructor", "Match", "Pattern", "PatternConstructor", "PatternTuple", "PatternVar", "PatternWildcard",
    "TypeData",
]  # fmt: skip
