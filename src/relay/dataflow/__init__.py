"""Patterns over the data flow of programs, and what is done where they match: rewriting, partitioning, rules."""

from relay.dataflow.builders import (
    dominates,
    has_attr,
    has_dtype,
    has_shape,
    has_type,
    is_constant,
    is_expr,
    is_function,
    is_if,
    is_let,
    is_literal,
    is_op,
    is_tuple,
    is_tuple_get_item,
    is_var,
    wildcard,
)
from relay.dataflow.matching import Match, Matcher
from relay.dataflow.partition import PatternMachinery, partition
from relay.dataflow.patterns import Pattern, PatternBase
from relay.dataflow.rewriting import DFPatternCallback, rewrite
from relay.dataflow.rules import Domain, Rule, RuleSet, rule

PatternBase.machinery = PatternMachinery()

__all__ = [
    "DFPatternCallback",
    "Domain",
    "Match",
    "Matcher",
    "Pattern",
    "Rule",
    "RuleSet",
    "dominates",
    "has_attr",
    "has_dtype",
    "has_shape",
    "has_type",
    "is_constant",
    "is_expr",
    "is_function",
    "is_if",
    "is_let",
    "is_literal",
    "is_op",
    "is_tuple",
    "is_tuple_get_item",
    "is_var",
    "partition",
    "rewrite",
    "rule",
    "wildcard",
]
