"""Rewriting rules as data: a left side, a right side, a condition, and how exact the rule is.

    x = wildcard()
    rule("multiply-one", x * 1, x, domain=NUMBERS, floating_point=EXACT)

A rule fires where the left side matches an expression whose elements are in its domain, the condition holds, the right
side has the very type of the left, and nothing is dropped whose evaluation could be noticed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Flag, auto
from typing import TypeAlias, Union

from relay.analysis.effects import ModuleEffects
from relay.base.diagnostics import CompilerBug
from relay.base.dtypes import DType
from relay.base.floating_point import FloatingPointClass, level_that_allows
from relay.base.frozen import frozen
from relay.dataflow.effects import drops_nothing_noticed
from relay.dataflow.matching import Match, Matcher
from relay.dataflow.parts import parts_of, typed
from relay.dataflow.patterns import (
    AltPattern,
    AttrPattern,
    CallPattern,
    ConstantPattern,
    DataTypePattern,
    IfPattern,
    LiteralPattern,
    OpPattern,
    Pattern,
    PatternBase,
    ShapePattern,
    TupleGetItemPattern,
    TuplePattern,
    TypePattern,
)
from relay.dataflow.templates import instantiated
from relay.ir.expr import Call, Constant, Expr, If, Op, Tuple, TupleGetItem
from relay.ir.module import IRModule
from relay.ir.rewriting import Endless, Replacement, rewrite_to_fixpoint
from relay.ir.traversal import children
from relay.ir.type_traversal import has_unknown_dimension
from relay.ir.types import TensorType, Type


class Domain(Flag):
    """The element types that a rule is stated for: those of the left side's value."""

    INTEGERS = auto()
    FLOATS = auto()
    BOOLS = auto()
    SCALES = auto()
    NUMBERS = INTEGERS | FLOATS
    ANYTHING = INTEGERS | FLOATS | BOOLS | SCALES  # tuples and the like too

    def holds(self, type_: Type | None) -> bool:
        """Whether expressions of a type are in the domain."""
        if not isinstance(type_, TensorType):
            return self is Domain.ANYTHING
        return bool(self & domain_of(type_.dtype))


def domain_of(dtype: DType) -> Domain:
    """The smallest domain that an element type is in.

    >>> domain_of(DType.INT8)
    <Domain.INTEGERS: 1>
    """
    if dtype.is_bool:
        return Domain.BOOLS
    if dtype.is_scale:
        return Domain.SCALES
    return Domain.FLOATS if dtype.is_float else Domain.INTEGERS


RightSide: TypeAlias = Union[Pattern, Callable[[Match], "Expr | None"]]
"""A template made of parts of the left side, or a function that makes the expression (None: the rule does not fit)."""


@frozen(eq=False)
class Rule:
    """One rewriting rule. `floating_point` says how exact it is for floats; on other elements every rule is exact."""

    name: str
    left: Pattern
    right: RightSide
    domain: Domain
    floating_point: FloatingPointClass
    when: Callable[[Match], bool] | None = None

    @property
    def level(self) -> int:
        """The optimization level that allows it."""
        return level_that_allows(self.floating_point)

    def __str__(self) -> str:
        return f"{self.name} ({self.floating_point.name}, from -O{self.level})"


def rule(
    name: str,
    left: Pattern,
    right: RightSide | float,
    *,
    domain: Domain,
    floating_point: FloatingPointClass = FloatingPointClass.EXACT,
    when: Callable[[Match], bool] | None = None,
) -> Rule:
    """A rule; a number as its right side is that constant."""
    return Rule(name, left, LiteralPattern(right) if isinstance(right, (int, float)) else right, domain,
                floating_point, when)  # fmt: skip


@frozen(eq=False)
class RuleSet:
    """Rules in order, found by what stands at the root of their left sides.

    >>> from relay.dataflow.builders import is_op, wildcard
    >>> from relay.ops.framework.build import var
    >>> x = wildcard()
    >>> ones = RuleSet([rule("multiply-one", x * 1, x, domain=Domain.NUMBERS)])
    >>> y = var("y", shape=(2,))
    >>> ones.apply(y * 1.0 * 1.0, level=0) is y
    True
    """

    rules: tuple[Rule, ...]
    _by_root: dict[object, tuple[tuple[Rule, Roots | None], ...]]

    def __init__(self, rules: Sequence[Rule]) -> None:
        by_root: dict[object, tuple[tuple[Rule, Roots | None], ...]] = {}
        for each in rules:
            roots = _roots(each.left)
            if roots is None:
                raise CompilerBug("rewriting rules", f"the left side of {each.name} may be rooted in anything")
            for root in roots:
                by_root[root] = (*by_root.get(root, ()), (each, _roots_of_a_part(each.left)))
        object.__setattr__(self, "rules", tuple(rules))
        object.__setattr__(self, "_by_root", by_root)

    def apply(self, expr: Expr, level: int) -> Expr:
        """`expr` with the rules that a level allows applied until none fits. The same object when none did.

        `expr` must be typed. A set that goes in circles is a `CompilerBug` that names the rules. Linear in the nodes.
        """
        matcher = Matcher()
        effects = ModuleEffects(IRModule())

        def step(before: Expr, after: Expr) -> Replacement | None:  # noqa: ARG001
            rules = self._by_root.get(_root(after), ())
            roots = [_root(part) for part in children(after)] if rules else []
            for each, wanted in rules:
                if wanted is not None and wanted.isdisjoint(roots):
                    continue
                if each.level <= level and each.domain.holds(after.checked_type):
                    new = _right(each, matcher, after)
                    if new is not None and drops_nothing_noticed(effects, after, new):
                        return Replacement(new, each.name)
            return None

        try:
            return rewrite_to_fixpoint(expr, step, parts_of)
        except Endless as endless:
            raise CompilerBug("rewriting rules", f"these go in circles: {', '.join(endless.names)}") from None


def _right(each: Rule, matcher: Matcher, expr: Expr) -> Expr | None:
    """The right side for an expression, if the rule fits and does not change the type."""
    match = matcher.match(each.left, expr)
    if match is None or (each.when is not None and not each.when(match)):
        return None
    new = instantiated(each.right, match, expr) if isinstance(each.right, PatternBase) else each.right(match)
    if new is None or new is expr:
        return None
    type_ = typed(new).checked_type
    same = type_ is not None and type_ == expr.checked_type and not has_unknown_dimension(type_)
    return new if same else None


def _root(expr: Expr) -> object:
    """What an expression is looked up by: the operator of a call, else its form."""
    return expr.op.name if isinstance(expr, Call) and isinstance(expr.op, Op) else type(expr)


Roots: TypeAlias = frozenset[object]
_FORMS: dict[type, type] = {
    TuplePattern: Tuple, TupleGetItemPattern: TupleGetItem, IfPattern: If, ConstantPattern: Constant,
    LiteralPattern: Constant,
}  # fmt: skip


def _roots(pattern: Pattern) -> Roots | None:
    """What may stand at the root of what a pattern matches; None for anything."""
    match pattern:
        case CallPattern(OpPattern(name)):
            return frozenset((name,))
        case CallPattern(AltPattern(left, right), args):
            return _either(_roots(CallPattern(left, args)), _roots(CallPattern(right, args)))
        case AltPattern(left, right):
            return _either(_roots(left), _roots(right))
        case AttrPattern(inner) | TypePattern(inner) | ShapePattern(inner) | DataTypePattern(inner):
            return _roots(inner)
        case _:
            return frozenset((_FORMS[type(pattern)],)) if type(pattern) in _FORMS else None


def _roots_of_a_part(pattern: Pattern) -> Roots | None:
    """What stands at the root of some part of whatever a pattern matches: one is enough to tell most expressions that
    do not match without a look at them. None where it may be anything."""
    match pattern:
        case CallPattern(_, args):
            found = (_roots(each) for each in args or ())
            return next((each for each in found if each is not None), None)
        case AltPattern(left, right):
            return _either(_roots_of_a_part(left), _roots_of_a_part(right))
        case AttrPattern(inner) | TypePattern(inner) | ShapePattern(inner) | DataTypePattern(inner):
            return _roots_of_a_part(inner)
        case _:
            return None


def _either(left: Roots | None, right: Roots | None) -> Roots | None:
    return None if left is None or right is None else left | right
